// What matters on a page is whole: in the smallest windows, too, what is looked at comes before what is set.
#include "app/core/tabs/heads/shown_heads.h"
#include "app/views/tabs/heads/tab.h"
#include "app/views/tabs/masks/tab.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/sanitized.h"
#include "tests/views/driver.h"
#include "tests/views/layout_check.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

using namespace decoderscope::testing;

namespace {

// A laptop, a small monitor, and a monitor of 192 dots per inch.
const std::array kSmallWindows = {Screen{1.0F, {1280, 800}}, Screen{1.0F, {1024, 700}}, Screen{2.0F, {1920, 1080}}};

// Nothing of it is cut off, by the stage's edge or by what it scrolls in.
bool is_whole(const Driver& d, const DrawnPicture& picture) {
    return picture.seen.low.x <= picture.whole.low.x && picture.seen.low.y <= picture.whole.low.y &&
           picture.seen.high.x >= picture.whole.high.x && picture.seen.high.y >= picture.whole.high.y &&
           d.stage().contains(picture.whole.low) && picture.whole.high.y <= d.stage().high.y;
}

std::vector<DrawnPicture> on_stage(const Driver& d) {
    std::vector<DrawnPicture> found = drawn_textures(*ImGui::GetDrawData(), *ImGui::GetIO().Fonts);
    std::erase_if(found, [&](const DrawnPicture& picture) { return !d.stage().contains(picture.seen.low); });
    return found;
}

// The picture under a title.
const DrawnPicture* under(const Driver& d, const std::vector<DrawnPicture>& pictures, std::string_view title) {
    const auto heading = d.find_on_stage(title);
    if (!heading) return nullptr;
    const DrawnPicture* nearest = nullptr;
    for (const DrawnPicture& picture : pictures)
        if (picture.seen.low.y >= heading->high.y && picture.whole.high.x > heading->low.x &&
            picture.whole.low.x < heading->high.x + 100.0F * d.fonts().scale &&
            (nearest == nullptr || picture.whole.low.y < nearest->whole.low.y))
            nearest = &picture;
    return nearest;
}

template <class Check>
void in_each_window(Check check) {
    for (const Screen& window : kSmallWindows) {
        for (const BundledModel& model : looked_at(bundled_models(), 4)) {
            INFO(model.name << " at " << window.size.x << " x " << window.size.y << ", scale " << window.scale);
            Driver d(model.name, window.scale, window.size);
            check(d, window.scale);
        }
    }
}

}  // namespace

TEST_CASE("on Heads whole patterns of heads are on the stage, and those of a head's page") {
    in_each_window([](Driver& d, float scale) {
        d.state.tab = "heads";
        d.settle();
        std::vector<DrawnPicture> pictures = on_stage(d);
        CHECK(std::ranges::any_of(pictures, [&](const DrawnPicture& picture) {
            return is_whole(d, picture) && picture.whole.height() >= 14.0F * scale;
        }));
        d.state.part<views::heads::HeadsTabState>().opened = true;
        d.settle();
        pictures = on_stage(d);
        const Step& pattern = *d.session.shown().run->plan().step_of(
            d.state.part<views::heads::HeadsTabState>().attention, AttentionStep::pattern);
        if (pattern.axes.back().size > 32) return;  // it is zoomed
        // It scrolls only where its cells could hardly be hit.
        const auto rows = static_cast<float>(pattern.axes[2].size);
        CHECK(std::ranges::any_of(pictures, [&](const DrawnPicture& picture) {
            return is_whole(d, picture) ||
                   (rows > 20.0F && picture.whole.height() / rows <= 11.1F * scale &&
                    picture.seen.height() < rows * 10.9F * scale && picture.seen.height() > d.stage().height() * 0.6F);
        }));
    });
}

TEST_CASE("on Masks the combined mask comes first, and whole") {
    in_each_window([](Driver& d, float scale) {
        d.state.tab = "masks";
        d.settle();
        const std::vector<DrawnPicture> pictures = on_stage(d);
        const DrawnPicture* combined = under(d, pictures, "combined");
        REQUIRE(combined != nullptr);
        const Tensor& mask = d.session.shown().run->value(views::masks::shown_attention(d.session) + ".mask");
        const auto rows = static_cast<float>(mask.dim(2));
        // It scrolls only where its cells could hardly be hit.
        INFO(rows << " rows, " << combined->whole.height() << " high, the stage " << d.stage().height());
        CHECK((is_whole(d, *combined) || (rows > 12.0F && combined->whole.height() / rows <= 11.1F * scale)));
        CHECK((rows > 32.0F || combined->whole.height() / rows >= 10.9F * scale));
        for (const DrawnPicture& other : pictures)
            CHECK(
                (other.whole.low.y > combined->whole.low.y - 1.0F && other.whole.low.x > combined->whole.low.x - 1.0F));
    });
}

TEST_CASE("a mask that hides nothing is a word, not a picture") {
    Driver d("reverse");
    d.press(Key::m);
    const std::vector<DrawnPicture> pictures = on_stage(d);
    // Cross-attention: padding alone hides, which is what all are combined.
    CHECK(d.find_on_stage("notcausal"));
    CHECK(d.find_on_stage("nonedrawn"));
    CHECK(under(d, pictures, "padding") == nullptr);
    CHECK(under(d, pictures, "combined") != nullptr);
    const std::string attention = views::masks::shown_attention(d.session);
    d.apply(core::command::PaintMask{attention, 0, d.session.cursor().place.head, 2, 3, false});
    CHECK_FALSE(d.sees("nonedrawn"));
    // It comes last, so that the first stroke moves nothing.
    d.point({d.stage().low.x + 40.0F, d.find_on_stage("combined")->high.y + 60.0F});
    for (int i = 0; i < 40 && under(d, on_stage(d), "drawn") == nullptr; ++i) {
        d.hands.push(Wheel{0, -1});
        d.settle();
    }
    CHECK(under(d, on_stage(d), "drawn") != nullptr);
}

TEST_CASE("the leak test says of each of 24 positions how far it moved") {
    Driver d("experts", 1.0F, {1280, 1100});
    d.press(Key::m);
    for (const int position : {0, 11, 23}) {
        d.point(d.heatmap("blocks.0.attn.mask", "leaktest").middle(11, position));
        CHECK(d.sees("movedbyupto"));
    }
}

TEST_CASE("on a slide no picture of any step is cut, however small the window") {
    for (const BundledModel& model : looked_at(bundled_models(), 4)) {
        Driver d(model.name, 1.0F, {1024, 700});
        d.state.settings.reduced_motion = true;
        d.state.largest_text = 1.25F;
        d.press(Key::f11);
        std::vector<std::string> steps;
        for (const StepId id : d.session.timeline()) steps.push_back(d.session.shown().run->plan()[id].name);
        for (const std::string& step : steps) {
            INFO(model.name << " " << step);
            d.apply(core::command::GoTo{step});
            for (const DrawnPicture& picture : on_stage(d)) CHECK(is_whole(d, picture));
        }
    }
}

TEST_CASE("each lens begins with what it shows, in words") {
    const auto begins = [](Driver& d, std::string_view title) {
        const auto found = d.find_on_stage(title);
        INFO(title);
        REQUIRE(found);
        CHECK(found->high.y - found->low.y > 13.0F);  // in large letters
        CHECK(found->low.y < d.stage().low.y + 40.0F);
    };
    Driver d("verses");
    begins(d, "Whereeachtokenlooks");
    for (const auto& [key, title] :
         {std::pair{Key::m, "Whomaylookatwhom"}, std::pair{Key::h, "Whateachheadlooksat"},
          std::pair{Key::n, "Pre-NormagainstPost-Norm"}, std::pair{Key::c, "Whattheeditschange"},
          std::pair{Key::o, "Whatifsomethingwereotherwise?"}}) {
        d.press(key);
        d.settle();
        begins(d, title);
    }
    // The title of a ready question is what it asks.
    REQUIRE(d.click_text("Withoutwhichheaddo"));
    d.settle();
    begins(d, "Withoutwhichheaddowhichpredictionschange?");
}
