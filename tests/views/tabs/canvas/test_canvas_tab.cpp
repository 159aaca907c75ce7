// The canvas: from the whole model to one number and back, by mouse, keys and fingers.
#include "app/core/figure/cell_text.h"
#include "app/core/files/saved_session.h"
#include "app/views/dialogs/dialogs.h"
#include "app/views/tabs/canvas/tab.h"
#include "tests/catch.h"
#include "tests/views/driver.h"
#include "tests/views/layout_check.h"
#include "tests/views/open_tab.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

using namespace decoderscope::testing;
using namespace decoderscope::views::canvas;

namespace {

// The least window, laptops, and a projector's or a monitor's picture at twice the size.
const std::array kSizes = {Screen{1.0F, {1024, 700}}, Screen{1.0F, {1280, 800}}, Screen{1.0F, {1920, 1080}},
                           Screen{2.0F, {3840, 2160}}};

const std::string kPattern = "blocks.2.attn.pattern";

CanvasTabState& tab_of(Driver& d) { return d.state.part<CanvasTabState>(); }

// Opened without motion, so that each gesture ends in its frame.
void open_canvas(Driver& d) {
    d.state.settings.reduced_motion = true;
    open_tab(d, Key::z, kCanvasTab);
    d.settle();
}

Area sheet_area(const Driver& d) { return d.state.part<CanvasTabState>().area; }

Area picture(Driver& d, const std::string& step, Index head = 0) {
    const std::optional<Area> at = picture_on_canvas(d.session, tab_of(d), step, head);
    REQUIRE(at);
    return *at;
}

ImVec2 middle(Area area) { return {(area.low.x + area.high.x) * 0.5F, (area.low.y + area.high.y) * 0.5F}; }

ImVec2 cell_at(Area picture, Index rows, Index columns, Index row, Index column) {
    return {picture.low.x + (static_cast<float>(column) + 0.5F) * picture.width() / static_cast<float>(columns),
            picture.low.y + (static_cast<float>(row) + 0.5F) * picture.height() / static_cast<float>(rows)};
}

void double_click(Driver& d, ImVec2 at) {
    d.hands.click(at.x, at.y);
    d.click(at);
}

}  // namespace

TEST_CASE("Z shows the whole pass, at every size, and Z or Esc leads back") {
    for (const Screen& screen : kSizes) {
        Driver d("verses", screen.scale, screen.size);
        INFO(screen.size.x << " x " << screen.size.y);
        d.press(Key::h);
        open_canvas(d);
        for (const StepId id : d.session.timeline()) {
            const Area at = picture(d, d.session.shown().run->plan()[id].name);
            CHECK(sheet_area(d).contains(at.low));
            CHECK(sheet_area(d).contains({at.high.x - 1.0F, at.high.y - 1.0F}));
            CHECK(at.width() > 2.0F);
        }
        for (const char* name : {"block0", "block3"}) CHECK(d.find_on_stage(name));
        if (screen.size.x >= 1280.0F)
            for (const char* name : {"Self-attention", "MLP"}) CHECK(d.find_on_stage(name));
        check_layout(d, screen.size);
        d.press(Key::z);
        CHECK(d.state.tab == "heads");
        d.press(Key::z);
        d.press(Key::escape);
        CHECK(d.state.tab == "heads");
    }
}

TEST_CASE("from the whole to a number and back by wheel, and the number is the tensor's") {
    for (const Screen& screen : kSizes) {
        Driver d("verses", screen.scale, screen.size);
        INFO(screen.size.x << " x " << screen.size.y);
        open_canvas(d);
        // The pointer is on a whole pixel.
        const Area whole = picture(d, kPattern, 1);
        const ImVec2 aim = cell_at(whole, 18, 18, 9, 4), at = {std::floor(aim.x), std::floor(aim.y)};
        const ImVec2 part = {(at.x - whole.low.x) / whole.width(), (at.y - whole.low.y) / whole.height()};
        d.point(at);
        float before = whole.width();
        for (int notch = 0; notch < 24; ++notch) {
            d.hands.push(Wheel{0, 1});
            d.settle();
            // What is under the pointer stays there.
            const Area now = picture(d, kPattern, 1);
            CHECK(std::abs(now.low.x + part.x * now.width() - at.x) < 1.0F);
            CHECK(std::abs(now.low.y + part.y * now.height() - at.y) < 1.0F);
            CHECK(now.width() > before);
            before = now.width();
        }
        const Step& step = *d.session.shown().run->plan().find(kPattern);
        const Cell cell = {0, 1, static_cast<Index>(part.y * 18.0F), static_cast<Index>(part.x * 18.0F)};
        const float value = d.session.shown().run->value(step.id).at(cell);
        // Without the tooltip, which is at the pointer.
        const Area zoomed = picture(d, kPattern, 1);
        const ImVec2 number = cell_at(zoomed, 18, 18, cell[2], cell[3]);
        d.point({d.stage().low.x + 2.0F, d.stage().low.y + 2.0F});
        const auto shown = std::ranges::find_if(d.seen(), [&](const DrawnText& piece) {
            return piece.low.x <= number.x && number.x <= piece.high.x && piece.low.y <= number.y &&
                   number.y <= piece.high.y;
        });
        REQUIRE(shown != d.seen().end());
        // Numbers of a row are drawn side by side.
        const std::string text = cell_text(static_cast<double>(value), {.room = 6, .decimals = 4});
        INFO(shown->text << " has " << text);
        REQUIRE(shown->text.find(text) != std::string::npos);
        CHECK(std::abs(shown->middle_of(text).x - number.x) < 4.0F * screen.scale);
        d.click(at);
        CHECK(d.session.cursor().step == kPattern);
        REQUIRE(d.session.cursor().cell);
        CHECK(*d.session.cursor().cell == cell);
        for (int notch = 0; notch < 26; ++notch) d.hands.push(Wheel{0, -1});
        d.settle();
        CHECK(tab_of(d).is_whole);
        CHECK(sheet_area(d).contains(picture(d, "logits").low));
        CHECK(sheet_area(d).contains(picture(d, "blocks.0.resid_pre").low));
    }
}

TEST_CASE("fingers: two zoom, one pans, a tap chooses") {
    Driver d("verses", 1.0F, {1024, 700});
    open_canvas(d);
    const ImVec2 at = middle(picture(d, kPattern, 2));
    // As the page reports two fingers (app/window/browser/page.js).
    d.hands.push(MouseMove{at.x, at.y});
    for (int i = 0; i < 18; ++i) {
        d.hands.push(KeyEvent{Key::none, true, with_ctrl});
        d.hands.push(Wheel{0, 1});
        d.hands.push(KeyEvent{Key::none, false, {}});
    }
    d.settle();
    const Area zoomed = picture(d, kPattern, 2);
    CHECK(zoomed.contains(at));
    CHECK(zoomed.width() > 100.0F);
    d.hands.push(MouseButton{Button::left, true});
    for (int i = 1; i <= 5; ++i) d.hands.push(MouseMove{at.x + 10.0F * static_cast<float>(i), at.y});
    d.hands.push(MouseButton{Button::left, false});
    d.settle();
    CHECK(std::abs(picture(d, kPattern, 2).low.x - zoomed.low.x - 50.0F) < 5.0F);
    CHECK_FALSE(d.session.cursor().cell);  // a drag chooses nothing
    d.click(cell_at(picture(d, kPattern, 2), 18, 18, 10, 3));
    CHECK(d.session.cursor().cell == Cell{0, 2, 10, 3});
}

TEST_CASE("a double click fits a picture, again or beside it the whole") {
    Driver d("reverse");
    open_canvas(d);
    double_click(d, middle(picture(d, "encoder.blocks.0.attn.pattern")));
    const Area fitted = picture(d, "encoder.blocks.0.attn.pattern");
    CHECK(fitted.height() > sheet_area(d).height() * 0.2F);  // one head of several
    CHECK_FALSE(tab_of(d).is_whole);
    double_click(d, middle(fitted));
    CHECK(tab_of(d).is_whole);
    double_click(d, middle(picture(d, "blocks.0.attn.pattern")));
    d.press(Key::z, with_shift);
    CHECK(tab_of(d).is_whole);
}

TEST_CASE("keys zoom and pan, a step that is gone to comes into sight, and Enter opens it") {
    Driver d("verses");
    open_canvas(d);
    d.apply(command::GoTo{"embed"});
    const float whole = picture(d, "embed").width();
    // "+" on a key of its own, or printed above "=".
    for (int i = 0; i < 3; ++i) d.press(Key::plus);
    for (int i = 0; i < 3; ++i) d.press(Key::equal, with_shift);
    CHECK(d.state.dialog == Dialog::none);
    CHECK(picture(d, "embed").width() > 10.0F * whole);
    const Area before = picture(d, "embed");
    d.press(Key::right, with_shift);
    CHECK(std::abs(before.low.x - picture(d, "embed").low.x - sheet_area(d).width() * 0.1F) < 1.0F);
    d.apply(command::GoTo{kPattern});
    CHECK(sheet_area(d).contains(middle(picture(d, kPattern, 0))));
    d.press(Key::minus);
    d.press(Key::right);
    CHECK(d.session.step().name == "blocks.2.attn.z");
    d.press(Key::enter);
    CHECK(d.state.tab == core::files::kStepTab);
}

TEST_CASE("the canvas paints what is seen, and nothing anew that hasn't changed") {
    Driver d("verses");
    open_canvas(d);
    const auto uploads = [&] {
        int count = 0;
        for (const auto& [key, made] : d.textures.pictures()) count += made.uploads;
        return count;
    };
    for (int i = 0; i < 30; ++i) d.settle();
    const int once = uploads();
    d.settle();
    CHECK(uploads() == once);
    // An edit repaints what it reaches.
    d.session.apply(command::ScaleHeadTo{"blocks.3.attn", 1, 0.0F});
    d.session.finish();
    for (int i = 0; i < 5; ++i) d.settle();
    const int edited = uploads();
    CHECK(edited > once);
    CHECK(edited - once < 20);
    // Close to one picture, no other is painted.
    double_click(d, middle(picture(d, kPattern)));
    for (int i = 0; i < 5; ++i) d.settle();
    CHECK(uploads() - edited < 40);
}

TEST_CASE("weights stand beside the steps that read them, and a session keeps that") {
    Driver d("reverse");
    open_canvas(d);
    const auto on_canvas = [&](const std::string& name) {
        return picture_on_canvas(d.session, tab_of(d), name).has_value();
    };
    const Plan& plan = d.session.shown().run->plan();
    const Ref q = plan.find("blocks.0.attn.q");
    const Ref weight = &plan[q->operands_as(OperandRole::weight).front()];
    CHECK_FALSE(on_canvas(weight->name));
    REQUIRE(d.click_label("Weights"));
    CHECK(on_canvas(weight->name));
    const Tab* tab = find_tab(kCanvasTab);
    const Json saved = tab->save(d.state);
    CHECK_FALSE(saved.contains("look"));  // the whole
    tab_of(d) = {};
    JsonObject read(saved, "canvas");
    tab->restore(d.state, &read);
    CHECK(tab_of(d).weights);
}

TEST_CASE("a session keeps what the camera looks at, and another window shows the same") {
    Driver d("reverse");
    open_canvas(d);
    double_click(d, middle(picture(d, "blocks.1.cross_attn.pattern")));
    const Area before = picture(d, "blocks.1.cross_attn.pattern"), seen = sheet_area(d);
    CHECK(before.width() > seen.width() * 0.15F);  // one of four heads
    const Json saved = find_tab(kCanvasTab)->save(d.state);
    REQUIRE(saved.contains("look"));

    Driver other("reverse", 1.0F, {1920, 1080});
    open_canvas(other);
    CHECK(picture(other, "blocks.1.cross_attn.pattern").width() < 300.0F);
    JsonObject read(saved, "canvas");
    find_tab(kCanvasTab)->restore(other.state, &read);
    other.settle();
    const Area after = picture(other, "blocks.1.cross_attn.pattern"), room = sheet_area(other);
    CHECK(std::abs(after.width() / room.width() - before.width() / seen.width()) < 0.02F);
    // As far from the middle as it was, in its own widths.
    const auto off = [](Area picture, Area all) {
        return std::pair{(middle(picture).x - middle(all).x) / picture.width(),
                         (middle(picture).y - middle(all).y) / picture.height()};
    };
    CHECK(std::abs(off(after, room).first - off(before, seen).first) < 0.02F);
    CHECK(std::abs(off(after, room).second - off(before, seen).second) < 0.02F);

    // What is selected elsewhere doesn't draw a window that opens away from it.
    d.apply(command::GoTo{"encoder.blocks.0.ln1.scale"});
    double_click(d, middle(picture(d, "blocks.1.cross_attn.pattern")));
    const Json away = find_tab(kCanvasTab)->save(d.state);
    const files::SavedSession work = files::open_session(
        files::parse_session(
            files::session_text(files::session_file_of(d.session.work(dialogs::saved_view(d.state))), ""), ""),
        std::string("it"));
    Driver opened(work);
    static_cast<void>(dialogs::show_saved(opened.state, work.view));
    opened.settle();
    CHECK(find_tab(kCanvasTab)->save(opened.state) == away);
    // And back to the whole.
    const Json whole = {{"weights", false}};
    JsonObject of_whole(whole, "canvas");
    find_tab(kCanvasTab)->restore(other.state, &of_whole);
    other.settle();
    CHECK_FALSE(find_tab(kCanvasTab)->save(other.state).contains("look"));
}

TEST_CASE("a window that grows past the whole shows the whole, which is what its session says") {
    Driver d("reverse", 1.0F, {1024, 700});
    open_canvas(d);
    tab_of(d).asked.zoom = 1.1;
    d.settle();
    REQUIRE(find_tab(kCanvasTab)->save(d.state).contains("look"));
    ImGui::GetIO().DisplaySize = {1920, 1080};
    d.settle();
    CHECK_FALSE(find_tab(kCanvasTab)->save(d.state).contains("look"));
}

TEST_CASE("a look that no camera can have is refused by name") {
    Driver d("reverse");
    tab_of(d).weights = true;
    for (const Json& wrong : {Json{{"step", "logits"}, {"x", 0.5}, {"y", 0.5}, {"across", 0}},
                              Json{{"step", "logits"}, {"x", 1e9}, {"y", 0.5}, {"across", 1}},
                              Json{{"step", "logits"}, {"x", 0.5}, {"y", 0.5}}}) {
        const Json saved = {{"weights", false}, {"look", wrong}};
        JsonObject read(saved, "canvas");
        CHECK_THROWS_WITH(find_tab(kCanvasTab)->restore(d.state, &read), Catch::Matchers::ContainsSubstring("look"));
        CHECK(tab_of(d).weights);  // as it was
    }
}
