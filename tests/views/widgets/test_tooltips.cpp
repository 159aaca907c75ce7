// A tooltip never covers what it explains, and stays inside the window.
#include "app/views/frame/tab.h"
#include "tests/catch.h"
#include "tests/views/driver.h"

#include <algorithm>

using namespace decoderscope::testing;

namespace {

// The text that is drawn while the mouse rests there and not otherwise.
std::vector<DrawnText> tooltip_at(Driver& d, ImVec2 at) {
    d.point({1.0F, ImGui::GetIO().DisplaySize.y - 1.0F});
    const std::vector<DrawnText> before = d.seen();
    d.point(at);
    std::vector<DrawnText> added;
    for (const DrawnText& piece : d.seen()) {
        const bool was_there = std::ranges::any_of(before, [&](const DrawnText& other) {
            return other.text == piece.text && other.low.x == piece.low.x && other.low.y == piece.low.y;
        });
        if (!was_there) added.push_back(piece);
    }
    return added;
}

void check_beside(const std::vector<DrawnText>& tooltip, const DrawnText& item, ImVec2 size) {
    CHECK_FALSE(tooltip.empty());
    for (const DrawnText& piece : tooltip) {
        INFO(piece.text);
        const bool apart = piece.low.x >= item.high.x || piece.high.x <= item.low.x || piece.low.y >= item.high.y ||
                           piece.high.y <= item.low.y;
        CHECK(apart);
        CHECK(piece.low.x >= 0.0F);
        CHECK(piece.low.y >= 0.0F);
        CHECK(piece.high.x <= size.x);
        CHECK(piece.high.y <= size.y);
    }
}

}  // namespace

TEST_CASE("the tooltips of tabs, toolbar, steps and links lie beside them, wherever they stand") {
    for (const ImVec2 size : {ImVec2{1280, 800}, ImVec2{1024, 768}}) {
        Driver d("reverse", 1.0F, size);
        std::vector<std::string> items = {"blocks.1.cross_attn.pattern", "Learn"};
        std::size_t drawn = 0;
        for (const Tab& tab : tabs()) {
            items.emplace_back(tab.title.english());
            drawn += is_about(tab, d.session) && !tab.in_between ? 1U : 0U;
        }
        std::size_t shown = 0;
        std::string without;
        for (const std::string& item : items) {
            INFO(item);
            // All pieces with exactly this text: on the map, the stage, the toolbar, the inspector.
            std::vector<DrawnText> places;
            for (const DrawnText& piece : d.seen()) {
                // In the narrow window the tabs stand as close as words.
                const bool is_tabs = piece.text.rfind(tabs()[0].title.english(), 0) == 0;
                const std::size_t at = is_tabs ? piece.text.find(item) : piece.text == item ? 0 : std::string::npos;
                if (at == std::string::npos) continue;
                places.push_back(piece);
                places.back().low.x = piece.x[at];
                places.back().high.x = piece.x[at + item.size() - 1];
            }
            for (const DrawnText& place : places) {
                const auto tooltip = tooltip_at(d, place.middle());
                if (tooltip.empty()) {
                    without += " " + item;
                    continue;
                }
                ++shown;
                check_beside(tooltip, place, size);
            }
        }
        INFO("without a tooltip:" << without);
        // In the narrow window the step's name is cut short on the stage, and the last tabs are behind "More".
        CHECK(shown >= (size.x > 1200.0F ? drawn + 1 : drawn - 2));
    }
}

TEST_CASE("the tooltip of a token lies below the text that it is in") {
    Driver d("reverse");
    const auto text = find_text(d.seen(), "redoced");
    REQUIRE(text);
    check_beside(tooltip_at(d, d.token_in_field(3)), *text, {1280, 800});
}

TEST_CASE("the tooltip of a cell is at its corner, over neither its row nor its column") {
    for (const auto& [tab, title] : {std::pair{Key::s, ""}, std::pair{Key::m, "combined"}}) {
        for (const ImVec2 size : {ImVec2{1280, 800}, ImVec2{1024, 700}}) {
            Driver d("reverse", 1.0F, size);
            d.press(tab);
            const DrawnHeatmap drawn =
                d.heatmap(tab == Key::m ? "blocks.1.cross_attn.mask" : "blocks.1.cross_attn.pattern", title);
            for (const auto& [row, column] : {std::pair{0, 0}, std::pair{1, 10}, std::pair{7, 2}, std::pair{7, 11}}) {
                INFO(title << " " << row << ", " << column << " at " << size.x << " wide");
                const Area cell = drawn.cell(row, column);
                const ImVec2 middle = {(cell.low.x + cell.high.x) * 0.5F, (cell.low.y + cell.high.y) * 0.5F};
                // Its first line names the cell, its last ones the row and the column.
                const auto lines = tooltip_at(d, middle);
                const auto name = std::ranges::find_if(lines, [](const DrawnText& piece) {
                    return piece.text.ends_with("]") || piece.text.ends_with("mask");
                });
                REQUIRE(name != lines.end());
                CHECK(std::max(name->low.x - cell.high.x, cell.low.x - name->high.x) < 40.0F);
                CHECK((name->low.y > cell.high.y - 1.0F || name->high.y < cell.low.y + 1.0F));
                CHECK((name->low.x > cell.high.x - 1.0F || name->high.x < cell.low.x + 1.0F));
                CHECK(std::max(name->low.y - cell.high.y, cell.low.y - name->high.y) < 120.0F);
                CHECK(name->high.x <= size.x);
                CHECK((name->low.y >= 0.0F && name->high.y <= size.y));
            }
        }
    }
}
