// From one step to the next a picture keeps its place: what was the result and is an operand now is drawn where it was.
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/views/driver.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

using namespace decoderscope;
using namespace decoderscope::load;
using namespace decoderscope::views;
using namespace decoderscope::testing;

namespace {

// The cells of each step's picture on the stage, all of them, seen or not.
std::map<StepId, Area> pictures_on_stage(const Driver& d) {
    std::map<StepId, Area> found;
    const Plan& plan = d.session.shown().run->plan();
    for (const DrawnPicture& picture : drawn_textures(*ImGui::GetDrawData(), *ImGui::GetIO().Fonts)) {
        if (!d.stage().contains(picture.seen.low)) continue;
        for (const auto& [key, texture] : d.textures.pictures())
            if (picture.texture == compat::texture_id(key + 1) && key >= 1 && key <= plan.steps().size())
                found[static_cast<StepId>(key - 1)] = picture.whole;
    }
    return found;
}

bool is_same(const Area& a, const Area& b) {
    return std::abs(a.low.x - b.low.x) < 1.0F && std::abs(a.low.y - b.low.y) < 1.0F &&
           std::abs(a.high.x - b.high.x) < 1.0F && std::abs(a.high.y - b.high.y) < 1.0F;
}

// Whether the middle of the smaller one is in the larger one.
bool are_near(const Area& a, const Area& b) {
    const auto middle = [](const Area& area) {
        return ImVec2{(area.low.x + area.high.x) * 0.5F, (area.low.y + area.high.y) * 0.5F};
    };
    return a.contains(middle(b)) || b.contains(middle(a));
}

struct Walk {
    int carried = 0, same = 0, near = 0;
};

// From step to step with the key, as a reader would.
Walk walk(Driver& d) {
    Walk walk;
    d.press(Key::home);
    std::map<StepId, Area> before = pictures_on_stage(d);
    StepId last = d.session.step().id;
    for (std::size_t i = 1; i < d.session.timeline().size(); ++i) {
        d.press(Key::right);
        const std::map<StepId, Area> now = pictures_on_stage(d);
        const Step& step = d.session.step();
        const bool is_carried = std::ranges::find(step.operands, last) != step.operands.end();
        if (is_carried && before.contains(last) && now.contains(last)) {
            const Area &was = before.at(last), &is = now.at(last);
            ++walk.carried;
            walk.same += is_same(was, is) ? 1 : 0;
            walk.near += are_near(was, is) ? 1 : 0;
            if (!are_near(was, is))
                UNSCOPED_INFO(step.name << ": " << d.session.shown().run->plan()[last].name << " was at " << was.low.x
                                        << ", " << was.low.y << " to " << was.high.x << ", " << was.high.y << ", is at "
                                        << is.low.x << ", " << is.low.y << " to " << is.high.x << ", " << is.high.y);
        }
        before = now;
        last = step.id;
    }
    return walk;
}

}  // namespace

TEST_CASE("from step to step of every bundled model the last result is drawn where it was") {
    for (const ImVec2 size : {ImVec2{1280, 800}, ImVec2{1920, 1080}}) {
        Walk all;
        for (const BundledModel& model : bundled_models()) {
            Driver d(model.name, 1.0F, size);
            const Walk one = walk(d);
            INFO(model.name << " at " << size.x << " x " << size.y << ": " << one.carried << " carried, " << one.same
                            << " in their place, " << one.near << " near it");
            CHECK(one.near * 100 >= one.carried * 95);
            all.carried += one.carried;
            all.same += one.same;
            all.near += one.near;
        }
        INFO(all.carried << " carried, " << all.same << " in their place, " << all.near << " near it");
        CHECK(all.carried > 200);
        CHECK(all.same * 100 >= all.carried * (size.x > 1800 ? 80 : 60));
    }
}

TEST_CASE(
    "back a step, what was an operand and is the result stays near its place, and forward again all is as before") {
    Driver d("reverse");
    d.session.apply(core::command::GoTo{"blocks.0.attn.masked_scores"});
    d.settle();
    d.press(Key::right);
    const std::map<StepId, Area> first = pictures_on_stage(d);
    REQUIRE(d.session.step().name == "blocks.0.attn.pattern");
    d.press(Key::left);
    d.press(Key::right);
    const std::map<StepId, Area> again = pictures_on_stage(d);
    REQUIRE(first.size() == again.size());
    for (const auto& [step, area] : first) CHECK(are_near(area, again.at(step)));
}
