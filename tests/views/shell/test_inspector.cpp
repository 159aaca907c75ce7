// The inspector: terms that say what they are and open, and a field that follows the run.
#include "app/core/tabs/step/explanation_text.h"
#include "app/views/inspector/inspector.h"
#include "app/views/widgets/frame_document.h"
#include "tests/catch.h"
#include "tests/views/driver.h"
#include "tests/views/layout_check.h"
#include "tests/views/questions/cells_on_stage.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <string>
#include <utility>

using namespace decoderscope::testing;
using namespace decoderscope::core::step;

namespace {

void look_at(Driver& d, const std::string& step, const Cell& cell) {
    d.session.apply(command::GoTo{step});
    d.session.finish();
    d.apply(command::SelectCell{cell});
}

void open_section(Driver& d, inspector::Section section) {
    d.state.part<inspector::InspectorState>().section = section;
    d.settle();
}

float value_at(const Driver& d, const std::string& step, const Cell& cell) {
    return d.session.shown().run->value(step).at(cell);
}

// What stands right of a text, in its line.
std::string right_of(const Driver& d, std::string_view text) {
    const auto label = find_text(d.seen(), text);
    REQUIRE(label);
    std::string found;
    for (const DrawnText& piece : d.seen())
        if (piece.low.x > label->high.x && std::abs(piece.middle().y - label->middle().y) < 6.0F) found += piece.text;
    return found;
}

// Clicks into the field that types over the cell.
void click_field(Driver& d) { d.click(d.behind("overwrite").middle()); }

}  // namespace

TEST_CASE("the field that types over a cell follows the run") {
    Driver d("causal-lm-as-meant", 1.0F, {1600, 1200});
    const std::string step = "blocks.0.attn.pattern";
    const Cell cell = {0, 0, 2, 1};
    look_at(d, step, cell);
    REQUIRE(d.click_label("Whatif"));
    const float before = value_at(d, step, cell);
    CHECK(right_of(d, "overwrite") == exact_number(before));
    d.apply(command::SetOption{"norm_first", "true"});
    const float after = value_at(d, step, cell);
    REQUIRE(after != before);
    CHECK(right_of(d, "overwrite") == exact_number(after));
    // While it is being edited it keeps what is typed.
    click_field(d);
    d.hands.tap(Key::a, with_ctrl);
    d.hands.type("0.25");
    d.settle();
    d.apply(command::SetOption{"norm_first", "false"});
    CHECK(right_of(d, "overwrite") == "0.25");
    d.press(Key::escape);
    CHECK(right_of(d, "overwrite") == exact_number(before));
}

TEST_CASE("what was typed over a number is undone by the field only while it still shows it") {
    Driver d("causal-lm-as-meant", 1.0F, {1600, 1200});
    look_at(d, "blocks.0.attn.pattern", {0, 0, 2, 1});
    REQUIRE(d.click_label("Whatif"));
    click_field(d);
    d.type_over("0.500000000000000000000000");
    d.hands.tap(Key::backspace);  // taken from behind all that the field shows later
    d.press(Key::enter);
    REQUIRE(right_of(d, "overwrite") == "0.5");
    click_field(d);
    for (int i = 0; i < 8; ++i) d.press(Key::z, with_ctrl);
    CHECK(right_of(d, "overwrite") == "0.5");
}

TEST_CASE("a refused value keeps the keyboard: what is typed next goes to the field, not to the heads") {
    Driver d("causal-lm-as-meant", 1.0F, {1600, 1200});
    look_at(d, "blocks.0.attn.pattern", {0, 0, 2, 1});
    REQUIRE(d.click_label("Whatif"));
    const auto correct = [&d](const char* digit, Key key) {
        d.hands.push(KeyEvent{key, true, {}});
        d.hands.type(digit);
        d.hands.push(KeyEvent{key, false, {}});
        d.settle();
    };
    click_field(d);
    d.hands.tap(Key::a, with_ctrl);
    d.hands.type("half");
    d.press(Key::enter);
    CHECK(d.sees("notanumber"));
    CHECK_FALSE(d.last<command::TypeOver>());
    correct("3", Key::digit_3);
    CHECK(d.session.cursor().place.head == 0);
    CHECK(right_of(d, "overwrite") == "3");  // what was refused is replaced
    d.press(Key::enter);
    REQUIRE(d.last<command::TypeOver>());
    CHECK(d.last<command::TypeOver>()->value == 3.0F);
    // The field is left: digits choose heads again.
    d.press(Key::digit_2);
    CHECK(d.session.cursor().place.head == 2);
}

TEST_CASE("a number that the run refuses comes back to be mended") {
    Driver d("reverse", 1.0F, {1600, 1200});
    const Index head = d.session.cursor().place.head;
    d.apply(command::Follow{"tokens", {0, 1}});
    REQUIRE(d.click_label("Whatif"));
    const std::string was = right_of(d, "overwrite");
    click_field(d);
    d.hands.tap(Key::a, with_ctrl);
    d.hands.type("99");
    d.press(Key::enter);
    REQUIRE(d.session.message());
    CHECK(d.session.message()->failed);
    CHECK(right_of(d, "overwrite") == "99");
    d.hands.push(KeyEvent{Key::digit_4, true, {}});
    d.hands.type("4");
    d.hands.push(KeyEvent{Key::digit_4, false, {}});
    d.settle();
    CHECK(d.session.cursor().place.head == head);
    CHECK(right_of(d, "overwrite") == "4");
    d.press(Key::escape);
    CHECK(right_of(d, "overwrite") == was);
}

TEST_CASE("what is pressed beside a number stays where it is while the number changes") {
    for (const ImVec2 size : {ImVec2{1280, 800}, ImVec2{1024, 700}}) {
        Driver d("reverse", 1.0F, size);
        look_at(d, "blocks.1.cross_attn.pattern", {0, 3, 9, 4});
        open_section(d, inspector::Section::what_if);
        using Places = std::map<std::string, std::pair<float, float>>;
        const auto places = [&] {
            d.state.document.collect();
            d.settle();
            Places found;
            for (const DocumentItem& item : d.state.document.items())
                if (item.part == "inspector" && item.area.low.x > 600.0F && item.area.high.y < size.y &&
                    (item.kind == DocumentItem::Kind::field || item.text == "What if" || item.text == "Why" ||
                     item.text == "without this mask" || item.text == "fill −1e9"))
                    found[item.kind == DocumentItem::Kind::field ? "field" : item.text] = {item.area.low.x,
                                                                                           item.area.low.y};
            return found;
        };
        const auto type = [&](const std::string& text) {
            const auto [x, y] = places().at("field");
            d.click({x + 30.0F, y + 10.0F});
            d.type_over(text);
        };
        const Places before = places();
        REQUIRE(before.size() == 5);
        for (const char* number : {"inf", "0", "-0.000012345679", "1e999"}) {
            INFO(number);
            type(number);
            d.press(Key::enter);
            CHECK(places() == before);
            CHECK(d.sees("withoutedits"));
        }
        type("abc");
        CHECK(d.sees("notanumber"));
        CHECK(places() == before);
        d.press(Key::escape);
        for (const char* section : {"Why", "More", "Whatif"}) REQUIRE(d.click_label(section));
        CHECK(places() == before);
        d.session.apply(command::SelectCell{{0, 3, 0, 7}});
        CHECK(places().at("field") == before.at("field"));
    }
}

TEST_CASE("terms name their keys, and the smaller ones open in groups with their sums") {
    Driver d("reverse", 1.0F, {1600, 1200});
    const std::string step = "blocks.0.mlp.pre";
    const Cell cell = {0, 2, 5};
    look_at(d, step, cell);
    const ReadExplanation read = read_explanation(d.session.shown().scenario, *d.session.shown().run,
                                                  *d.session.shown().run->plan().find(step), cell);
    const TermPart& first = read.lines.front().front();
    CHECK(d.sees(as_seen(first.name)));
    CHECK_FALSE(d.sees("smallerterms"));
    const auto group = std::ranges::find_if(read.lines.front(), [](const TermPart& part) { return part.count > 1; });
    REQUIRE(group != read.lines.front().end());
    const std::string heading = as_seen(group->name + " (" + std::to_string(group->count) + " terms)");
    CHECK(right_of(d, heading) == short_number(group->value));
    const std::string inside = "d_model";
    const auto listed = [&] {
        return std::ranges::count_if(d.seen(), [&](const DrawnText& piece) { return piece.text.starts_with(inside); });
    };
    const auto closed = listed();
    REQUIRE(d.click_text(heading));
    CHECK(listed() > closed);
    d.point({2, 2});  // without a tooltip
    check_layout(d, {1600, 1200});
    REQUIRE(d.click_text(heading));
    CHECK(listed() == closed);
}

TEST_CASE("the inspector's sections neither overlap nor leave it, at its least and its usual width") {
    for (const float width : {240.0F, 336.0F, 460.0F}) {
        Driver d("reverse", 1.0F, {1600, 1200});
        d.state.settings.inspector_width = width;
        for (const char* step : {"blocks.0.attn.pattern", "blocks.0.attn_out", "blocks.0.attn.q", "pos_embed",
                                 "blocks.1.mlp_out", "blocks.0.ln1.normalized", "blocks.0.cross_attn.k"}) {
            look_at(d, step, Cell(d.session.shown().run->plan().find(step)->axes.size(), 1));
            INFO(step << " at " << width);
            for (const auto section : {inspector::Section::terms, inspector::Section::why, inspector::Section::more,
                                       inspector::Section::what_if}) {
                open_section(d, section);
                check_layout(d, {1600, 1200});
                for (const char* what_if : {"fill−1e9", "without1/√d_head", "withouthead1", "asPost-Norm"})
                    if (d.click_text(what_if)) {
                        d.point({2, 2});  // without a tooltip
                        check_layout(d, {1600, 1200});
                    }
            }
            open_section(d, inspector::Section::terms);
        }
    }
}
