// What a person is about to press stays where it is: between two clicks no control and no picture moves, and when
// something is said, no text either, and the message covers none of them.
#include "app/views/frame/tab.h"
#include "app/views/widgets/frame_document.h"
#include "tests/catch.h"
#include "tests/sanitized.h"
#include "tests/views/driver.h"
#include "tests/views/layout_check.h"
#include "tests/views/shell/speaking.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string>
#include <tuple>
#include <vector>

using namespace decoderscope::testing;

namespace {

// A text or a picture, and where it is drawn.
using Thing = std::tuple<std::string, float, float>;

std::vector<Thing> things_on(const Driver& d) {
    std::vector<Thing> found;
    for (const DrawnText& piece : d.seen()) found.emplace_back(piece.text, piece.low.x, piece.low.y);
    for (const Area& picture : d.pictures()) found.emplace_back("a picture", picture.low.x, picture.low.y);
    std::ranges::sort(found);
    return found;
}

// Where the inspector's column begins.
float column_of(const Driver& d) { return ImGui::GetIO().DisplaySize.x - d.state.inspector.drawn * d.fonts().scale; }

// What is at the left of the inspector's column.
std::vector<Thing> beside_column(const Driver& d, std::vector<Thing> things) {
    std::erase_if(things, [&](const Thing& thing) { return std::get<1>(thing) >= column_of(d); });
    return things;
}

constexpr const char* kLong =
    "The highlighted cell is the largest weight of this attention: 0.98 of query 4 on key 7. On the right you see how "
    "the softmax computed it, and a path to a file: /home/a-person/models/of-the-summer/reverse/model.safetensors. The "
    "end.";

void say(Driver& d, const char* text, bool failed) { d.apply(command::Tell{Sentence::verbatim(text), failed}); }

// What can be clicked, and pictures with their cells, as the window has them for whoever doesn't see it.
std::vector<DocumentItem> controls_of(Driver& d) {
    d.state.document.collect();
    d.settle_one();
    std::vector<DocumentItem> controls;
    for (const DocumentItem& item : d.state.document.items())
        if (item.kind == DocumentItem::Kind::button || item.kind == DocumentItem::Kind::table) controls.push_back(item);
    return controls;
}

std::uint64_t name_of(const DocumentItem& control) {
    return control.kind == DocumentItem::Kind::table ? control.table.key : control.id;
}

std::string described(const DocumentItem& control) {
    return control.part + ": " + control.text + " (" + std::to_string(static_cast<int>(control.area.low.x)) + ", " +
           std::to_string(static_cast<int>(control.area.low.y)) + ")";
}

// What shows or folds a panel, or takes a row out of a list.
bool asks_for_another_layout(const DocumentItem& control) {
    constexpr std::array kThese = {"Learn", "Learn step by step", "×"};
    return std::ranges::find(kThese, control.text) != kThese.end();
}

// What the window is about; a click that changes it changes the contents of a part.
struct About {
    std::string tab, step;
    std::uint64_t changes;
    Index batch;
    bool operator==(const About&) const = default;
};

About about(const Driver& d) {
    return {d.state.tab, d.session.step().name, d.session.changes(), d.session.cursor().place.batch};
}

// Whether something is of the contents that a click changes: the inspector explains what was clicked, the strip follows
// the step, another tab, step, row or run has its own pictures, and another run predicts other tokens; chips are
// scrolled by their notes, a choice of the stage heads what lies below it, and where all tabs are in the row, one for
// which there is no room takes the place of the last.
bool is_content(const DocumentItem& was, const About& then, const About& now, const DocumentItem& clicked) {
    if (was.part == "inspector" || was.part == "messages") return true;
    if (was.part == "strip") return clicked.part == "strip" || !(then == now);
    if (was.part == "toolbar" && was.text.find("position") != std::string::npos) return !(then == now);
    if (was.part == "stage" && clicked.part == "stage" && was.area.low.y >= clicked.area.high.y) return true;
    if (was.part == "tabs" && was.text.starts_with("More")) return then.tab != now.tab;
    return was.part == "stage" && !(then == now);
}

// Whether it stands where it stood, or, in a list in another order, another of its kind does; a heading that is sorted
// by has a sign.
bool stands(const DocumentItem& was, const DocumentItem& is, const std::vector<DocumentItem>& after) {
    const auto at = [&](const DocumentItem& one) {
        return std::abs(one.area.low.x - was.area.low.x) + std::abs(one.area.low.y - was.area.low.y) < 3.0F;
    };
    if (at(is)) return true;
    const ImVec2 middle = {(was.area.low.x + was.area.high.x) * 0.5F, (was.area.low.y + was.area.high.y) * 0.5F};
    if (is.text != was.text && is.area.contains(middle)) return true;
    return std::ranges::any_of(after, [&](const DocumentItem& other) {
        return other.part == was.part && at(other) && std::abs(other.area.width() - was.area.width()) < 1.0F;
    });
}

void check_stands(const std::vector<DocumentItem>& before, const std::vector<DocumentItem>& after,
                  const DocumentItem& clicked, const About& then, const About& now) {
    for (const DocumentItem& was : before) {
        if (is_content(was, then, now, clicked)) continue;
        const auto is = std::ranges::find_if(after, [&](const DocumentItem& control) {
            return control.part == was.part && control.kind == was.kind && name_of(control) == name_of(was);
        });
        if (is != after.end() && !stands(was, *is, after))
            FAIL_CHECK("after a click on " << described(clicked) << ", " << described(was) << " is " << described(*is));
    }
}

// 36 blocks, of which Norms then measures the gradients again with each click: they look like 12.
bool takes_long(const DocumentItem& control) { return control.part == "stage" && control.text == "36"; }

// Whether clicks on a tab are followed by measurements of many runs. Such a tab is looked at in one layout at each
// size.
bool measures(const Tab& tab) { return tab.id == std::string_view("compare") || tab.id == std::string_view("ask"); }

// Beside a tab stand the same controls as beside any other. Each of them is clicked in every fourth tab: to click on
// all in each took most of the time.
constexpr std::size_t kBesideEvery = 4;

bool is_of_tab(const DocumentItem& control) { return control.part == "stage" || control.part == "inspector"; }

// Each control of a tab is clicked, one after the other, in the state that the last click left.
void click_all(Driver& d, const Tab& tab, std::size_t number, ImVec2 size) {
    const auto open = [&] {
        d.state.tab = tab.id;
        d.settle();
        return controls_of(d);
    };
    std::vector<DocumentItem> before = open();
    const std::vector<DocumentItem> all = before;
    for (const DocumentItem& control : all) {
        if (asks_for_another_layout(control) || takes_long(control)) continue;
        if (!is_of_tab(control) && number++ % kBesideEvery != 0) continue;
        if (d.state.tab != tab.id) before = open();
        const auto now = std::ranges::find_if(before, [&](const DocumentItem& one) {
            return one.part == control.part && name_of(one) == name_of(control);
        });
        if (now == before.end() || now->area.high.x > size.x || now->area.high.y > size.y) continue;
        const DocumentItem clicked = *now;
        const About then = about(d);
        d.forget();
        d.click({(clicked.area.low.x + clicked.area.high.x) * 0.5F, (clicked.area.low.y + clicked.area.high.y) * 0.5F});
        if (!d.commands.empty()) d.settle();  // what is computed then may ask for more
        std::vector<DocumentItem> after = controls_of(d);
        check_stands(before, after, clicked, then, about(d));
        if (d.state.dialog != Dialog::none || compat::open_popups() > 0) {
            while (d.state.dialog != Dialog::none || compat::open_popups() > 0) d.press(Key::escape);
            after = controls_of(d);
        }
        before = std::move(after);
    }
}

}  // namespace

TEST_CASE("between two clicks nothing moves, in any tab") {
    const std::vector<std::size_t> numbers = [] {
        std::vector<std::size_t> all(tabs().size());
        std::iota(all.begin(), all.end(), std::size_t{0});
        return testing::looked_at(all, 5);
    }();
    for (const ImVec2 size : testing::looked_at(std::vector{ImVec2{1280, 800}, ImVec2{1024, 700}}, 2))
        for (const std::size_t number : numbers) {
            const Tab& tab = tabs()[number];
            if (measures(tab) && size.x < 1200.0F) continue;
            DYNAMIC_SECTION(tab.id << ", " << size.x << " x " << size.y) {
                Driver d("reverse", 1.0F, size);
                d.state.settings.introduction_closed = false;
                click_all(d, tab, number, size);
            }
        }
}

TEST_CASE("a message moves nothing and covers nothing, in any tab") {
    for (const ImVec2 size : {ImVec2{1024, 768}, ImVec2{1280, 800}, ImVec2{1920, 1080}}) {
        Driver d("reverse", 1.0F, size);
        for (const Tab& tab : tabs()) {
            d.state.tab = tab.id;
            d.settle();
            d.settle();
            INFO(tab.id << ", " << size.x << " x " << size.y);
            REQUIRE(d.state.inspector.drawn > 0.0F);
            const std::vector<Thing> before = things_on(d);
            for (const bool failed : {false, true}) {
                say(d, failed ? kLong : "Something was said about a file", failed);
                CHECK(d.sees("Somethingwassaid") == !failed);
                CHECK(d.sees("Thehighlightedcell") == failed);
                CHECK(beside_column(d, before) == beside_column(d, things_on(d)));
                check_layout(d, size);
            }
            d.session.apply(command::ChooseBatch{0});  // what comes next clears it
            d.settle();
            CHECK(before == things_on(d));
        }
    }
}

TEST_CASE("a confirmation goes by itself once it could be read, and both it and an error can be sent away") {
    Driver d("reverse");
    const auto wait = [&](double seconds) {
        ImGui::GetIO().DeltaTime = 0.25F;
        for (double passed = 0.0; passed < seconds; passed += 0.25) d.settle_one();
        ImGui::GetIO().DeltaTime = 1.0F / 60.0F;
    };
    const auto said = [&] { return d.sees("Somethingwassaid"); };
    const auto say_it = [&](bool failed) { say(d, "Something was said about a file", failed); };
    say_it(false);
    wait(4);
    CHECK(said());
    wait(10);
    CHECK_FALSE(said());
    say_it(true);
    wait(60);
    CHECK(said());
    for (const bool failed : {false, true}) {
        say_it(failed);
        d.session.apply(command::SelectCell{{0, 3, 4, 1}});
        say_it(failed);
        d.press(Key::escape);  // it alone
        CHECK_FALSE(said());
        CHECK(d.session.cursor().cell);
        say_it(failed);
        const auto cross = std::find_if(d.seen().rbegin(), d.seen().rend(), [&](const DrawnText& piece) {
            return piece.text == "×" && piece.low.x > column_of(d) && piece.low.y > 600.0F;
        });
        REQUIRE(cross != d.seen().rend());
        d.click(cross->middle());
        CHECK_FALSE(said());
    }
    // Under the pointer it stays.
    say_it(false);
    d.point(find_text(d.seen(), "Somethingwassaid")->middle());
    wait(60);
    CHECK(said());
    d.point({1, 1});
    wait(15);
    CHECK_FALSE(said());
}

TEST_CASE("in the inspector's column nothing moves when a message comes at its foot") {
    Driver d("reverse");
    d.apply(command::SelectCell{{0, 3, 4, 1}});
    const std::vector<Thing> before = things_on(d);
    say(d, kLong, false);
    const std::vector<Thing> now = things_on(d);
    const auto begins = find_text(d.seen(), "Thehighlightedcell");
    REQUIRE(begins);
    int kept = 0;
    for (const Thing& thing : now) {
        if (std::get<1>(thing) < column_of(d) || std::get<2>(thing) >= begins->low.y) continue;
        INFO(std::get<0>(thing));
        // Only a line that is cut at the message's edge is seen in part.
        if (std::get<2>(thing) < begins->low.y - 40.0F) CHECK(std::ranges::binary_search(before, thing));
        ++kept;
    }
    CHECK(kept > 5);
}

TEST_CASE("a long message is said whole, in every language's script") {
    for (const float scale : {1.0F, 1.5F}) {
        Driver d("reverse", scale, {1280, 800});
        say(d, kLong, true);
        CHECK(d.sees("end."));
        check_layout(d, {1280, 800});
    }
    for (const std::string& code : translations()) {
        const Speaking speaking(code);
        if (!Speaking::can_be_drawn()) continue;
        for (const ImVec2 size : {ImVec2{1024, 768}, ImVec2{1280, 800}}) {
            Driver d("reverse", 1.0F, size);
            d.apply(command::Tell{
                message(
                    "The highlighted cell is the largest weight of this attention: {weight} of query {query} on key "
                    "{key}. On the right you see how the softmax computed it.",
                    {{"weight", "0.98"}, {"query", "4"}, {"key", "7"}}),
                true});
            check_layout(d, size);
        }
    }
}

TEST_CASE("a message is said where the inspector is folded, too, and moves nothing") {
    Driver d("reverse");
    d.state.settings.inspector_folded = true;
    d.settle();
    const std::vector<Thing> before = things_on(d);
    say(d, "Something was said about a file", false);
    CHECK(d.sees("Somethingwassaid"));
    const std::vector<Thing> now = things_on(d);
    for (const Thing& thing : before)
        if (std::get<2>(thing) < 600.0F) CHECK(std::ranges::binary_search(now, thing));
    // It covers no control beside the tabs' titles.
    const auto said = find_text(d.seen(), "Somethingwassaid"), brush = find_text(d.seen(), "block1▾");
    REQUIRE((said && brush));
    CHECK(said->low.y >= brush->high.y + 8.0F);
}
