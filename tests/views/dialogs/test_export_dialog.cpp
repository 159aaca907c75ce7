// The dialog that exports what a tab shows, and copying to the clipboard.
#include "app/core/figure/csv_and_json.h"
#include "app/views/dialogs/dialogs.h"
#include "app/views/tabs/compare/tab.h"
#include "app/views/tabs/generate/tab.h"
#include "app/views/tabs/heads/tab.h"
#include "engine/base/translate.h"
#include "tests/catch.h"
#include "tests/engine/temporary_folder.h"
#include "tests/views/copied.h"
#include "tests/views/driver.h"
#include "tests/views/layout_check.h"
#include "tests/views/said.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <sstream>
#include <thread>

using namespace decoderscope;
using namespace decoderscope::core::files;
using namespace decoderscope::core::lessons;
using namespace decoderscope::core;
using namespace decoderscope::views::dialogs;
using namespace decoderscope::views::generate;
using namespace decoderscope::views::heads;
using namespace decoderscope::views::compare;
using namespace decoderscope::views::request;
using namespace decoderscope::views;
using namespace decoderscope::testing;

namespace {

void open_export_dialog(Driver& d) {
    d.hands.tap(Key::e, with_ctrl);
    d.settle();
    REQUIRE(d.state.dialog == Dialog::export_file);
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
        d.hands.tap(tab.key);
        d.settle();
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
        d.hands.tap(Key::escape);
        d.settle();
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
    CHECK(std::string(d.state.part<ExportDialogState>().path.data()).ends_with(".png"));
    CHECK(d.sees("Scale"));
    CHECK(d.click_text("PDF"));
    CHECK(std::string(d.state.part<ExportDialogState>().path.data()).ends_with(".pdf"));
    const double scale = d.state.part<ExportDialogState>().options.scale;
    CHECK(d.click_text("4×"));  // out of use
    CHECK(d.state.part<ExportDialogState>().options.scale == scale);
    CHECK(d.click_text("PNG"));
    CHECK(d.click_text("4×"));
    CHECK(d.state.part<ExportDialogState>().options.scale == 4);
    d.hands.tap(Key::escape);
    d.settle();
    open_export_dialog(d);
    CHECK(d.state.part<ExportDialogState>().options.scale == 4);  // as chosen the last time
    d.type_over(folder.file("mine.npz"));
    CHECK(d.state.part<ExportDialogState>().format == 7);
    d.hands.tap(Key::enter);
    d.settle();
    REQUIRE(d.last<command::Export>());
    CHECK(d.last<command::Export>()->path == folder.file("mine.npz"));
    CHECK(d.state.dialog == Dialog::none);
    CHECK(read_bytes(folder.file("mine.npz")).starts_with("PK"));
    CHECK(d.sees("Writtento"));
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
}

TEST_CASE("in the export dialog nothing moves when the format changes, or when a file is to be replaced") {
    const TemporaryFolder folder;
    Driver d;
    open_export_dialog(d);
    d.type_over(folder.file("mine.png"));
    const auto places = [&] {
        std::vector<std::pair<float, float>> found;
        for (const char* label :
             {"PNG", "safetensors", "Background", "Scale", "File", "CopyasCSV", "Copylink", "Cancel"}) {
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
        REQUIRE(d.click_label(format));
        CHECK(places() == before);
    }
    write_bytes(folder.file("mine.png"), "what was there");
    // Its heading says the same.
    const auto button =
        std::find_if(d.seen().rbegin(), d.seen().rend(), [](const DrawnText& piece) { return piece.text == "Export"; });
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
        d.hands.tap(Key::enter);
        d.settle();
    };
    write_bytes(path, "what was there");
    start_export();
    CHECK(d.state.dialog == Dialog::export_file);
    CHECK(d.sees("alreadyexists.Replaceit?"));
    CHECK(d.last<command::Export>() == nullptr);
    d.hands.tap(Key::escape);
    d.settle();
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
    d.hands.tap(Key::c, with_ctrl);
    d.settle();
    std::ostringstream expected;
    write_csv(expected, export_choices(d.session, d.state).front().exhibit());
    CHECK(clipboard.text() == expected.str());
    CHECK(d.sees("CopiedasCSV."));
    d.hands.tap(Key::c, with_ctrl_shift);
    d.settle();
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
    d.session.apply(
        command::Export{folder.file("heads"), std::make_shared<const Exhibit>(std::move(exhibit)), {}, ".csv"});
    d.settle();
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
