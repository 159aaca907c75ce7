// The window as a document: what a page's reader hears is what others see.
#include "app/core/lessons/library.h"
#include "app/views/dialogs/dialogs.h"
#include "app/views/frame/tab.h"
#include "app/views/lessons/lesson_page.h"
#include "app/views/lessons/lessons_panel.h"
#include "app/views/widgets/frame_document.h"
#include "app/views/widgets/imgui_compat.h"
#include "tests/catch.h"
#include "tests/views/driver.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

using namespace decoderscope::testing;

namespace {

const std::vector<DocumentItem>& read(Driver& d) {
    d.state.document.collect();
    d.settle();
    return d.state.document.items();
}

// The words of all that is said.
std::set<std::string, std::less<>> words_of(const std::vector<DocumentItem>& items) {
    std::set<std::string, std::less<>> words;
    for (const DocumentItem& item : items) {
        std::string said = item.text + ' ' + item.value + ' ' + item.hint + ' ' + item.table.row_axis;
        for (const std::vector<std::string>* texts : {&item.table.rows, &item.table.columns, &item.table.cells})
            for (const std::string& text : *texts) said += ' ' + text;
        std::istringstream all(said);
        for (std::string word; all >> word;) {
            words.insert(word);
            // A token's name has it in quotes.
            if (const std::size_t end = word.rfind("”"); word.starts_with("“") && end != std::string::npos)
                words.insert(word.substr(std::string_view("“").size(), end - std::string_view("“").size()));
        }
    }
    return words;
}

// Whether a piece that was drawn, without its spaces, is a row of such words; where "…" cuts it off, the beginning or
// the end of one.
bool is_said(const std::set<std::string, std::less<>>& words, const std::string& piece) {
    constexpr std::string_view kCut = "…";
    std::vector<bool> reached(piece.size() + 1, false);
    reached[0] = true;
    for (std::size_t from = 0; from < piece.size(); ++from) {
        if (!reached[from]) continue;
        const std::string_view rest = std::string_view(piece).substr(from);
        if (rest.starts_with(kCut)) {
            // After a cut, the rest of a word.
            reached[from + kCut.size()] = true;
            for (const std::string& word : words)
                for (std::size_t end = 1; end <= std::min(word.size(), rest.size() - kCut.size()); ++end)
                    if (word.ends_with(rest.substr(kCut.size(), end))) reached[from + kCut.size() + end] = true;
        }
        const std::size_t cut = rest.find(kCut);
        for (const std::string& word : words) {
            if (rest.starts_with(word)) reached[from + word.size()] = true;
            if (cut != std::string_view::npos && cut > 0 && word.starts_with(rest.substr(0, cut)))
                reached[from + cut] = true;
        }
    }
    return reached[piece.size()];
}

bool is_in_table(const std::vector<DocumentItem>& items, const DrawnText& piece) {
    return std::ranges::any_of(items, [&](const DocumentItem& item) {
        return item.kind == DocumentItem::Kind::table && item.area.contains(piece.middle());
    });
}

// A line of which the edge of its box leaves less than a capital's height has lost its points and dashes.
bool is_cut_off(const DrawnText& piece) { return piece.high.y - piece.low.y < 8.5F; }

// Pieces of the screen that the document lacks. Icons, and the marks of lists that open, are no words.
std::vector<std::string> unsaid(Driver& d) {
    const std::vector<DocumentItem> items = read(d);
    const auto words = words_of(items);
    std::vector<std::string> missing;
    for (const DrawnText& piece : d.seen())
        if (piece.text != "▾" && piece.text != "?" && !is_cut_off(piece) && !is_in_table(items, piece) &&
            !is_said(words, piece.text))
            missing.push_back(piece.text);
    return missing;
}

const DocumentItem* find(const std::vector<DocumentItem>& items, DocumentItem::Kind kind, std::string_view text) {
    const auto found = std::ranges::find_if(items, [&](const DocumentItem& item) {
        return item.kind == kind && item.text.find(text) != std::string::npos;
    });
    return found == items.end() ? nullptr : &*found;
}

void press(Driver& d, std::string_view name) {
    const DocumentItem* button = find(read(d), DocumentItem::Kind::button, name);
    INFO("the button " << name);
    REQUIRE(button != nullptr);
    d.state.document.press(button->id);
    d.settle();
}

void check_names(const std::vector<DocumentItem>& items) {
    std::map<ImGuiID, Area> controls;
    for (const DocumentItem& item : items) {
        INFO(item.part << ", at " << item.area.low.x << ", " << item.area.low.y << ": " << item.text);
        if (item.id != 0) CHECK_FALSE(item.text.empty());
        // Two of one id would be pressed together; those that are scrolled out of sight are all in one place.
        if (item.id != 0) CHECK(controls.emplace(item.id, item.area).first->second.low.y == item.area.low.y);
        CHECK_FALSE(item.part.empty());
    }
}

}  // namespace

TEST_CASE("whatever is drawn in a tab is said in the document, and whatever can be pressed has a name", "[long]") {
    Driver d("reverse");
    d.session.apply(command::SelectCell{Cell(4, 0)});
    d.session.apply(command::ScaleHeadTo{"blocks.1.cross_attn", 1, 0.0F});
    for (const Tab& tab : tabs()) {
        if (!is_about(tab, d.session)) continue;
        d.state.tab = tab.id;
        d.settle();
        INFO(tab.id);
        CHECK(unsaid(d) == std::vector<std::string>{});
        check_names(d.state.document.items());
    }
}

TEST_CASE("whatever is drawn in a dialog is said, and nothing of what it covers", "[long]") {
    Driver d("reverse");
    for (const Dialog dialog :
         {Dialog::keys, Dialog::palette, Dialog::export_file, Dialog::open_model, Dialog::save_session,
          Dialog::settings, Dialog::checks, Dialog::glossary, Dialog::formulas}) {
        d.state.show(dialog);
        d.settle();
        INFO("dialog " << static_cast<int>(dialog));
        const std::vector<DocumentItem>& items = read(d);
        CHECK(items.size() > 3);
        CHECK(std::ranges::all_of(items, [](const DocumentItem& item) { return item.part == "dialog"; }));
        check_names(items);
        d.press(Key::escape);
    }
}

TEST_CASE("a lesson is read as it is written: paragraphs, tables, and choices that can be pressed") {
    Driver d("reverse");
    lesson_panel::open_lesson(d.state, lessons::find_lesson("weight"));
    d.settle();
    CHECK(unsaid(d) == std::vector<std::string>{});
    d.state.part<lesson_panel::LessonsState>().player->turn_to(1);  // behind what earlier lessons asked
    d.settle();
    CHECK(unsaid(d) == std::vector<std::string>{});
    const DocumentItem* ask =
        find(d.state.document.items(), DocumentItem::Kind::text, "How large is its largest weight?");
    REQUIRE(ask != nullptr);
    CHECK(ask->text.starts_with("The row of weights for the third letter"));
    press(d, "Skip");
    press(d, "Go on");
    CHECK(unsaid(d) == std::vector<std::string>{});
    check_names(d.state.document.items());
    const DocumentItem* compared = find(d.state.document.items(), DocumentItem::Kind::table, "compared with every key");
    REQUIRE(compared != nullptr);
    CHECK(compared->table.key == 0);
    CHECK(compared->table.columns == std::vector<std::string>{"letter", "score"});
    CHECK(compared->table.rows.size() * 2 == compared->table.cells.size());
    press(d, "Skip");
    press(d, "Go on");
    CHECK(find(read(d), DocumentItem::Kind::button, "the exponential function of the difference") != nullptr);
}

TEST_CASE("a picture's table has its labels, its numbers as the run has them, and what its marks say") {
    Driver d("reverse");
    d.session.apply(command::GoTo{"blocks.0.attn.pattern"});
    const std::vector<DocumentItem> items = read(d);
    const DocumentItem* found = find(items, DocumentItem::Kind::table, "blocks.0.attn.pattern");
    REQUIRE(found != nullptr);
    const DocumentTable& table = found->table;
    const Tensor& pattern = d.session.shown().run->value("blocks.0.attn.pattern");
    const Place at = d.session.cursor().place;
    const Index rows = pattern.dim(2), columns = pattern.dim(3);
    REQUIRE(table.rows.size() == static_cast<std::size_t>(rows));
    REQUIRE(table.cells.size() == static_cast<std::size_t>(rows * columns));
    Index masked = 0;
    for (Index row = 0; row < rows; ++row)
        for (Index column = 0; column < columns; ++column) {
            const std::string& cell = table.cells[static_cast<std::size_t>(row * columns + column)];
            INFO(row << ", " << column << ": " << cell);
            // A masked weight is 0, and no other weight is exactly that.
            const auto exact = static_cast<double>(pattern.at(Cell{at.batch, at.head, row, column}));
            CHECK((cell.find("masked") != std::string::npos) == (exact == 0.0));
            masked += exact == 0.0 ? 1 : 0;
            CHECK(std::abs(std::strtod(cell.c_str(), nullptr) - exact) <= 0.000051);
        }
    CHECK(masked > 0);
}

TEST_CASE("what is pressed in the document acts as a click does") {
    Driver d("reverse");
    press(d, "Undo (Ctrl+Z)");
    press(d, "Export …");
    CHECK(d.state.dialog == Dialog::export_file);
    d.press(Key::escape);
    d.session.apply(command::GoTo{"blocks.0.attn.pattern"});
    const DocumentItem* table = find(read(d), DocumentItem::Kind::table, "blocks.0.attn.pattern");
    REQUIRE(table != nullptr);
    d.state.document.press_cell(table->table.key, 3, 1);
    d.settle();
    const Place at = d.session.cursor().place;
    CHECK(d.session.cursor().cell == Cell{at.batch, at.head, 3, 1});
    const DocumentItem* again = find(read(d), DocumentItem::Kind::table, "blocks.0.attn.pattern");
    REQUIRE(again != nullptr);
    CHECK(again->table.selected == std::pair<Index, Index>{3, 1});
}

TEST_CASE("what is pressed in the document leaves the field that is typed into, as a click does: an export's format") {
    Driver d("reverse");
    d.state.show(Dialog::export_file);
    d.settle();
    const char* now = "PNG";
    for (const auto& [format, ending] : {std::pair{"SVG", ".svg"}, {"CSV", ".csv"}, {"PNG", ".png"}}) {
        press(d, now);  // the list
        press(d, format);
        CHECK(d.state.part<dialogs::ExportDialogState>().path.ends_with(ending));
        now = format;
    }
}

TEST_CASE("a row of a menu that is pressed in the document closes the menu, as a click does") {
    Driver d("reverse");
    press(d, "Try");
    press(d, "Switch off the heads that reverse");
    CHECK(d.session.scenario().edits.size() == 4);
    CHECK(compat::open_popups() == 0);
    d.press(Key::p, with_ctrl);
    CHECK(d.state.dialog == Dialog::palette);
}

TEST_CASE("a press that finds nothing does nothing, and isn't done later") {
    Driver d("reverse");
    const DocumentItem* settings = find(read(d), DocumentItem::Kind::button, "Export …");
    REQUIRE(settings != nullptr);
    const ImGuiID id = settings->id;
    d.state.show(Dialog::keys);
    d.settle();
    d.state.document.press(id);  // it is covered
    d.settle();
    CHECK(d.state.dialog == Dialog::keys);
    d.press(Key::escape);
    CHECK(d.state.dialog == Dialog::none);
    d.state.document.press_cell(12345, 1000, 1000);
    d.settle();
    CHECK(d.state.dialog == Dialog::none);
    // A cell of a picture that was larger when it was read.
    d.session.apply(command::GoTo{"blocks.0.attn.pattern"});
    const DocumentItem* table = find(read(d), DocumentItem::Kind::table, "blocks.0.attn.pattern");
    REQUIRE(table != nullptr);
    for (const auto& [row, column] :
         {std::pair<Index, Index>{table->table.all_rows, 0}, {0, table->table.all_columns}, {-1, 0}, {0, -1}}) {
        d.state.document.press_cell(table->table.key, row, column);
        d.settle();
        CHECK_FALSE(d.session.cursor().cell.has_value());
    }
}

TEST_CASE("a frame that nobody asked for is not noted") {
    Driver d("reverse");
    d.settle();
    CHECK(d.state.document.items().empty());
}
