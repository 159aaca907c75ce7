// The dialog that exports what a tab shows, and copying to the clipboard.
#include "app/core/figure/csv_and_json.h"
#include "app/core/figure/picture_files.h"
#include "app/views/dialogs/dialogs.h"
#include "app/views/tabs/compare/tab.h"
#include "app/views/tabs/generate/tab.h"
#include "app/views/tabs/heads/tab.h"
#include "engine/base/translate.h"
#include "tests/catch.h"
#include "tests/core/figure/figure_parts.h"
#include "tests/engine/contains.h"
#include "tests/engine/temporary_folder.h"
#include "tests/views/copied.h"
#include "tests/views/driver.h"
#include "tests/views/layout_check.h"
#include "tests/views/said.h"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <filesystem>
#include <sstream>
#include <thread>

using namespace decoderscope::testing;
using namespace decoderscope::views::dialogs;
using namespace decoderscope::views::generate;
using namespace decoderscope::views::heads;
using namespace decoderscope::views::compare;
using namespace decoderscope::views::request;

namespace {

void open_export_dialog(Driver& d) {
    d.press(Key::e, with_ctrl);
    REQUIRE(d.state.dialog == Dialog::export_file);
}

// Chooses from the dialog's list of formats.
void choose_format(Driver& d, const std::string& format) {
    const ExportDialogState& dialog = d.state.part<ExportDialogState>();
    const std::string now = dialog.path.substr(dialog.path.rfind('.') + 1);
    std::string label;
    for (const char c : now) label += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    REQUIRE(d.click_label(now == "safetensors" ? now : label));
    REQUIRE(d.click_label(format));
}

// Replaces what a field holds, or the words in an empty one.
void type_into(Driver& d, const char* shown, const std::string& text) {
    REQUIRE(d.click_label(shown));
    d.type_over(text);
    d.settle();
}

struct TabKey {
    Key key;
    const char* tab;
    const char* first;  // the first choice
};
const std::vector<TabKey> kTabKeys = {{Key::s, "step", "This step"},
                                      {Key::h, "heads", "All heads of all layers"},
                                      {Key::m, "masks", "Masks, scores, pattern and output"},
                                      {Key::n, "compare", "The curves by depth"},
                                      {Key::g, "generate", "The next token's probabilities"},
                                      {Key::c, "compare", "A, B and the difference"}};

}  // namespace

TEST_CASE("every tab exports what it shows first, and every choice it offers can be written") {
    const TemporaryFolder folder;
    Driver d;
    d.session.apply(command::ScaleHeadTo{"blocks.0.attn", 1, 0.0F});
    d.session.finish();
    for (const TabKey& tab : kTabKeys) {
        INFO(tab.first);
        d.press(tab.key);
        d.settle();
        REQUIRE(d.state.tab == tab.tab);
        open_export_dialog(d);
        const auto choices = d.state.part<ExportDialogState>().choices;
        REQUIRE_FALSE(choices.empty());
        CHECK(choices.front().label == tab.first);
        for (const ExportChoice& choice : choices) {
            INFO(choice.label);
            const Exhibit exhibit = choice.exhibit();
            CHECK(exhibit.panels.size() + exhibit.charts.size() > 0);
            CHECK_FALSE(exhibit.caption.empty());
            const std::string file = folder.file(std::to_string(folder.entries()) + choice.file_name);
            if (choice.each)
                export_each(exhibit, file, ".csv");
            else
                for (const char* ending : {".png", ".svg", ".pdf", ".csv", ".json", ".npz", ".safetensors"})
                    export_exhibit(exhibit, file + ending, {.scale = 1});
            CHECK((std::filesystem::exists(file + ".png") || choice.each));
        }
        d.press(Key::escape);
        CHECK(d.state.dialog == Dialog::none);
    }
}

TEST_CASE("what is still being computed is neither copied nor exported, and the dialog waits for it") {
    Driver d;
    d.settle();
    d.session.apply(command::GoTo{"blocks.0.attn.result"});
    REQUIRE(d.session.shown().run->value(d.session.step().id).empty());  // it is taken over with the next frame
    CHECK(export_choices(d.session, d.state).empty());
    CHECK(tr(copy_shown_as_csv(d.session, d.state)) == "blocks.0.attn.result is being computed: nothing was copied");
    Commands asked;
    copy_shown_as_picture(d.session, d.state, asked);
    CHECK(asked.empty());
    d.waits = false;
    d.hands.tap(Key::e, with_ctrl);
    for (int frame = 0; frame < 3; ++frame) d.settle_one();
    REQUIRE(d.state.dialog == Dialog::export_file);
    CHECK(d.state.part<ExportDialogState>().choices.empty());
    CHECK(d.sees("beingcomputed"));
    d.waits = true;
    d.session.finish();
    d.settle();
    REQUIRE_FALSE(d.state.part<ExportDialogState>().choices.empty());
    CHECK_FALSE(d.state.part<ExportDialogState>().choices.front().exhibit().panels.empty());
}

TEST_CASE("the pages of Generate and Compare export what they show") {
    Driver d;
    const auto first_choice = [&] {
        d.settle();
        d.settle();
        return export_choices(d.session, d.state).front().label;
    };
    d.state.tab = "generate";
    d.state.part<GenerateTabState>().page = GeneratePage::cache;
    CHECK(first_choice() == "k and v of this layer and head");
    d.state.part<GenerateTabState>().page = GeneratePage::lens;
    CHECK(first_choice() == "The logit lens");
    const Heatmap lens = export_choices(d.session, d.state).front().exhibit().panels.front().heatmap();
    CHECK(lens.rows == 1 + d.session.scenario().config().num_layers);
    CHECK(lens.texts.size() == lens.values.size());
    d.state.tab = "norms";
    d.state.part<CompareTabState>().norms.view = View::step;
    CHECK(first_choice() == "A, B and the difference");
    d.state.part<CompareTabState>().norms.view = View::row;
    CHECK(first_choice().starts_with("One row of blocks."));
    d.state.tab = "heads";
    d.state.part<HeadsTabState>().opened = true;
    CHECK(first_choice() == "This head: pattern, q, k and v");
}

TEST_CASE("a format renames the file, a typed ending chooses the format, and Enter exports") {
    const TemporaryFolder folder;
    Driver d;
    open_export_dialog(d);
    const ExportDialogState& dialog = d.state.part<ExportDialogState>();
    CHECK(dialog.path.ends_with(".png"));
    choose_format(d, "PDF");
    CHECK(dialog.path.ends_with(".pdf"));
    choose_format(d, "PNG");
    type_into(d, "192", "300");
    CHECK(dialog.options.scale == 300.0 / 96);
    type_into(d, "300", "9");
    CHECK(d.sees("expectedpixelsperinch"));
    CHECK(dialog.options.scale == 300.0 / 96);
    d.type_over("300");
    d.click_label("Format");
    d.press(Key::escape);
    open_export_dialog(d);
    CHECK(dialog.options.scale == 300.0 / 96);  // as chosen the last time
    d.type_over(folder.file("mine.npz"));
    CHECK(dialog.format == 7);
    d.press(Key::enter);
    REQUIRE(d.last<command::Export>());
    CHECK(d.last<command::Export>()->path == folder.file("mine.npz"));
    CHECK(d.state.dialog == Dialog::none);
    CHECK(read_bytes(folder.file("mine.npz")).starts_with("PK"));
    CHECK(d.sees("Writtento"));
}

TEST_CASE("the picture is drawn as it will be written, and changes with every choice") {
    Driver d("words");
    d.apply(command::GoTo{"blocks.1.attn.pattern"});
    open_export_dialog(d);
    const ExportDialogState& dialog = d.state.part<ExportDialogState>();
    REQUIRE(dialog.preview);
    const auto same_as_written = [&] {
        REQUIRE(dialog.preview->figure);
        const Exhibit exhibit = cropped(dialog.choices[dialog.chosen].in_english(), dialog.options.crop);
        std::ostringstream shown, written;
        write_svg(shown, *dialog.preview->figure);
        write_svg(written, exhibit_figure(exhibit, dialog.options.style));
        return shown.str() == written.str();
    };
    CHECK(same_as_written());
    CHECK(dialog.path.starts_with("words_blocks.1.attn.pattern"));
    const std::uint64_t before = dialog.preview->version;
    d.settle();
    CHECK(dialog.preview->version == before);  // nothing is drawn anew that didn't change
    REQUIRE(d.click_text("blues"));
    CHECK(dialog.options.style.map == ColorMap::blues);
    for (const char* part : {"Title", "Numbers", "Colourbar", "Caption", "Lines", "Lines", "Darkground"}) {
        INFO(part);
        const std::uint64_t version = dialog.preview->version;
        REQUIRE(d.click_label(part));
        CHECK(dialog.preview->version > version);
        CHECK(same_as_written());
    }
    type_into(d, "own", "8.5");
    CHECK(std::abs(dialog.preview->figure->width - 8.5 / 2.54 * 96) < 0.02);
    CHECK(same_as_written());
    REQUIRE(d.click_label("in"));
    CHECK(dialog.width == "3.35");
    CHECK(std::abs(dialog.options.style.width - 8.5 / 2.54 * 96) < 0.02);
    type_into(d, "3.35", "0.1");
    CHECK(d.sees("expectedawidth"));
    CHECK(std::abs(dialog.options.style.width - 8.5 / 2.54 * 96) < 0.02);  // as it was
}

TEST_CASE("a drag over the cells keeps them, over the words their rows or columns, and Escape takes it back") {
    Driver d("words");
    d.apply(command::GoTo{"blocks.1.attn.pattern"});
    open_export_dialog(d);
    ExportDialogState& dialog = d.state.part<ExportDialogState>();
    const Index tokens = dialog.preview->shown.rows;
    REQUIRE(tokens >= 5);
    // The middle of a cell on the screen; −1: of the labels beside it.
    const auto middle = [&](Index row, Index column) {
        const figure::CellGrid cells = all_of<figure::CellGrid>(*dialog.preview->figure).front();
        const double side = cells.box.width / static_cast<double>(cells.columns),
                     tall = cells.box.height / static_cast<double>(cells.rows);
        return dialog.placed.at(cells.box.x + side * (static_cast<double>(column) + 0.5),
                                cells.box.y + tall * (static_cast<double>(row) + 0.5));
    };
    const auto drag = [&](ImVec2 from, ImVec2 to) {
        d.point(from);
        d.hands.push(MouseButton{Button::left, true});
        d.settle();
        d.point(to);
        d.settle();
        d.hands.push(MouseButton{Button::left, false});
        d.settle();
    };
    drag(middle(1, 0), middle(3, 2));
    CHECK(dialog.options.crop == Crop{Extent{1, 4}, Extent{0, 3}});
    CHECK(dialog.preview->shown.rows == 3);
    CHECK(d.sees("[1:4,0:3]"));
    drag(middle(1, -1), middle(2, -1));  // within what is kept: the second and third row of three
    CHECK(dialog.options.crop == Crop{Extent{2, 4}, Extent{0, 3}});
    drag(middle(-1, 1), middle(-1, 2));
    CHECK(dialog.options.crop == Crop{Extent{2, 4}, Extent{1, 3}});
    d.press(Key::down);  // all heads of the layer: the same part of each
    CHECK(dialog.chosen == 1);
    CHECK(dialog.options.crop == Crop{Extent{2, 4}, Extent{1, 3}});
    d.press(Key::up);
    d.settle();
    d.click(middle(0, 0));  // a click keeps no single cell
    CHECK(dialog.options.crop == Crop{Extent{2, 4}, Extent{1, 3}});
    d.press(Key::escape);
    CHECK(dialog.options.crop.keeps_all());
    CHECK(d.state.dialog == Dialog::export_file);
    d.press(Key::escape);
    CHECK(d.state.dialog == Dialog::none);
}

TEST_CASE("the copied command writes the same file; edits have to be saved first") {
    const TemporaryFolder folder;
    Driver d("words");
    Copied clipboard;
    compat::set_clipboard(clipboard);
    d.apply(command::GoTo{"blocks.1.attn.pattern"});
    open_export_dialog(d);
    REQUIRE(d.click_text("blues"));
    d.click_label("Copy…");
    REQUIRE(d.click_text("Copythecommand"));
    CHECK(contains(clipboard.text(), "decoderscope export 'words' --text '"));
    CHECK(contains(clipboard.text(), "--tensor blocks.1.attn.pattern --head "));
    CHECK(contains(clipboard.text(), " --colors blues --out "));
    CHECK(d.sees("Copiedthecommand."));
    d.hands.tap(Key::escape);
    d.apply(command::ScaleHeadTo{"blocks.0.attn", 1, 0.0F});
    open_export_dialog(d);
    d.click_label("Copy…");
    REQUIRE(d.click_text("Copythecommand"));
    CHECK(d.sees("Saveyourworkfirst"));
}

TEST_CASE("the arrow keys choose what is exported, and the file is named after it") {
    Driver d;
    open_export_dialog(d);
    const ExportDialogState& dialog = d.state.part<ExportDialogState>();
    REQUIRE(dialog.choices.size() > 2);
    const std::string first = dialog.path;
    d.press(Key::down);
    d.press(Key::down);
    d.press(Key::up);
    CHECK(dialog.chosen == 1);
    CHECK(dialog.path == dialog.choices[1].file_name + ".png");
    CHECK(dialog.path != first);
    d.settle();
    CHECK(typing());
    d.press(Key::enter);
    REQUIRE(d.last<command::Export>());
    CHECK(d.last<command::Export>()->path == dialog.path);
    std::filesystem::remove(dialog.path);
    // A list that is open has the arrows.
    open_export_dialog(d);
    REQUIRE(d.click_label("PNG"));
    d.press(Key::down);
    CHECK(dialog.chosen == 0);
}

TEST_CASE("in the export dialog nothing moves when the format changes, or when a file is to be replaced") {
    const TemporaryFolder folder;
    Driver d;
    open_export_dialog(d);
    d.type_over(folder.file("mine.png"));
    const auto places = [&] {
        std::vector<std::pair<float, float>> found;
        for (const char* label : {"Picture", "Colours", "Show", "Format", "dpi", "File", "Copypicture", "Cancel"}) {
            const auto piece = std::ranges::find(d.seen(), label, &DrawnText::text);
            INFO(label);
            REQUIRE(piece != d.seen().end());
            found.emplace_back(piece->low.x, piece->low.y);
        }
        return found;
    };
    const auto before = places();
    for (const char* format : {"SVG", "PDF", "TXT", "CSV", "NPZ", "JSON", "PNG"}) {
        INFO(format);
        choose_format(d, format);
        CHECK(places() == before);
    }
    write_bytes(folder.file("mine.png"), "what was there");
    const auto button =
        std::find_if(d.seen().rbegin(), d.seen().rend(), [](const DrawnText& piece) { return piece.text == "Save"; });
    REQUIRE(button != d.seen().rend());
    d.click(button->middle());
    REQUIRE(d.sees("alreadyexists"));
    CHECK(places() == before);
}

TEST_CASE("a second export to the same file asks first, says in which folder, and can be followed there") {
    const TemporaryFolder folder;
    Driver d;
    Copied clipboard;
    compat::set_clipboard(clipboard);
    const std::string path = folder.file("mine.csv");
    const auto start_export = [&] {
        open_export_dialog(d);
        d.type_over(path);
        CHECK(d.sees("in" + folder.path()));
        d.press(Key::enter);
    };
    write_bytes(path, "what was there");
    start_export();
    CHECK(d.state.dialog == Dialog::export_file);
    CHECK(d.sees("alreadyexists.Replaceit?"));
    CHECK(d.last<command::Export>() == nullptr);
    d.press(Key::escape);
    CHECK(read_bytes(path) == "what was there");
    start_export();
    REQUIRE(d.click_label("Replace"));
    REQUIRE(d.last<command::Export>());
    CHECK(read_bytes(path) != "what was there");
    CHECK(said_beside(d).find("Writtento" + path) != std::string::npos);
    REQUIRE(d.click_text("Openthefolder"));
    REQUIRE(d.last<request::ShowFolder>());
    CHECK(d.last<request::ShowFolder>()->path == folder.path());
    REQUIRE(d.click_text("Copythepath"));
    CHECK(clipboard.text() == path);
}

TEST_CASE("the dialog stays on the screen and nothing of it overlaps") {
    for (const Screen& screen : kScreens) {
        Driver d("reverse", screen.scale, screen.size);
        open_export_dialog(d);
        for (const DrawnText& piece : d.seen()) {
            INFO(piece.text);
            CHECK((piece.high.x <= screen.size.x && piece.high.y <= screen.size.y));
        }
        // The dialog over the window is drawn last.
        const auto& seen = d.seen();
        const auto heading =
            std::find_if(seen.begin(), seen.end(), [](const DrawnText& piece) { return piece.text == "Export"; });
        REQUIRE(heading != seen.end());
    }
}

TEST_CASE("Ctrl+C copies what is shown as CSV") {
    Driver d;
    Copied clipboard;
    compat::set_clipboard(clipboard);
    d.press(Key::c, with_ctrl);
    std::ostringstream expected;
    write_csv(expected, export_choices(d.session, d.state).front().exhibit());
    CHECK(clipboard.text() == expected.str());
    CHECK(d.sees("CopiedasCSV."));
    d.press(Key::c, with_ctrl_shift);
    REQUIRE(d.last<request::CopyPicture>());
    CHECK(d.last<request::CopyPicture>()->exhibit->panels.size() == 1);
}

TEST_CASE("an export that takes longer shows how far it is, and can be cancelled there") {
    const TemporaryFolder folder;
    Driver d;
    d.waits = false;
    std::atomic<bool> go = false;
    Exhibit exhibit;
    for (int i = 0; i < 20; ++i)
        exhibit.panels.push_back({"t", "head " + std::to_string(i), 1, 1, [&go] {
                                      while (!go) std::this_thread::yield();
                                      return Heatmap{.row_labels = {"0"}, .column_labels = {"0"}, .values = {1.0F}};
                                  }});
    d.apply(command::Export{folder.file("heads"), std::make_shared<const Exhibit>(std::move(exhibit)), {}, ".csv"});
    CHECK(d.sees("of20"));
    CHECK(d.sees("Writing"));
    CHECK(d.click_text("Cancel"));
    REQUIRE(d.last<command::StopExport>());
    go = true;
    d.session.finish();
    d.settle();
    CHECK(said_beside(d).find("cancelled;nothingwaswritten") != std::string::npos);
    CHECK(folder.entries() == 0);
}
