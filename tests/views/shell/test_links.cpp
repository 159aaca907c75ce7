// Links in the window: copied, pasted, and the stage within another page.
#include "app/core/files/link.h"
#include "app/core/files/saved_session.h"
#include "app/views/dialogs/dialogs.h"
#include "app/views/lessons/lesson_page.h"
#include "app/views/lessons/lessons_panel.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/views/copied.h"
#include "tests/views/driver.h"
#include "tests/views/layout_check.h"

#include <string>

using namespace decoderscope::testing;
using namespace decoderscope::core::lessons;
using namespace decoderscope::views::dialogs;
using namespace decoderscope::views::lesson_panel;

// Texts on the screen are read without their spaces.
namespace {

void by_palette(Driver& d, const std::string& typed) {
    d.press(Key::p, with_ctrl);
    d.hands.type(typed);
    d.settle();
    d.press(Key::enter);
}

void paste(Driver& d, Copied& clipboard) {
    compat::set_clipboard(clipboard);
    d.press(Key::v, with_ctrl);
}

// All of the work; what of it is unsaved is no part of a link.
std::string work_text(const Driver& d) {
    SessionFile file = session_file_of(d.session.work(saved_view(d.state)));
    file.changed.clear();
    return session_text(file, "");
}

// A head is off, a cell is selected, another tab is open.
void change(Driver& d) {
    d.session.apply(command::ScaleHeadTo{"blocks.0.attn", 2, 0.0F});
    d.session.apply(command::GoTo{"blocks.1.attn.pattern"});
    d.session.apply(command::SelectCell{{0, 2, 1, 0}});
    d.state.tab = "heads";
    d.settle();
}

}  // namespace

TEST_CASE("a link that is copied in one window opens the same in another by Ctrl+V") {
    Copied clipboard;
    Driver d("causal-lm");
    compat::set_clipboard(clipboard);
    change(d);
    by_palette(d, "copy a link");
    const std::string link = clipboard.text();
    CHECK(link.find("#s1=") == 0);
    CHECK(d.sees("Copiedwithoutanaddress"));
    const std::string there = work_text(d);

    Driver other("pre-ln-layer");
    paste(other, clipboard);
    CHECK(other.session.scenario().about().name == "causal-lm");
    CHECK(other.state.tab == "heads");
    CHECK(other.session.cursor().cell == Cell{0, 2, 1, 0});
    CHECK_FALSE(other.session.unsaved());
    CHECK(work_text(other) == there);
}

TEST_CASE("Ctrl+V in a field is text, and a clipboard without a link is said") {
    Copied clipboard;
    Driver d("reverse");
    clipboard.set_text("abc");
    paste(d, clipboard);
    CHECK(d.last<command::OpenLink>() == nullptr);
    CHECK(d.sees("Thereisnolinkontheclipboard"));
    clipboard.set_text("#s1=abc");
    d.press(Key::i);
    paste(d, clipboard);
    CHECK(d.last<command::OpenLink>() == nullptr);
}

TEST_CASE("copied links lead to the address that is known, and HTML shows the stage there") {
    Copied clipboard;
    Driver d("causal-lm");
    compat::set_clipboard(clipboard);
    by_palette(d, "copy html");
    CHECK(std::string(clipboard.text()).empty());
    CHECK(d.sees("Notcopied:"));
    d.state.link_base = {"https://example.org/d/", true};
    by_palette(d, "copy html");
    const std::string html = clipboard.text();
    CHECK(html.find("<iframe src=\"https://example.org/d/?embed#s1=") == 0);
    CHECK(html.find("causal-lm") != std::string::npos);
    d.press(Key::e, with_ctrl);
    REQUIRE(d.click_label("Copy…"));
    REQUIRE(d.click_label("Copylink"));
    CHECK(d.state.dialog == Dialog::none);
    const std::string link = clipboard.text();
    CHECK(link.find("https://example.org/d/#s1=") == 0);
    CHECK(d.sees("Copiedasalink."));
    CHECK(open_link(link).scenario.about().name == "causal-lm");
}

TEST_CASE("where there can be no link, a session file is offered with the reason") {
    Copied clipboard;
    Driver d(load_model(DECODERSCOPE_TESTS_DIR "/reference/fixtures/gpt2-like"));
    compat::set_clipboard(clipboard);
    by_palette(d, "copy a link");
    CHECK(std::string(clipboard.text()).empty());
    CHECK(d.state.dialog == Dialog::save_session);
    CHECK(d.sees("afileofyourown"));
    d.press(Key::escape);
    CHECK(d.state.dialog == Dialog::none);
    d.press(Key::s, with_ctrl);  // asked for without a link: no reason
    CHECK(d.state.dialog == Dialog::save_session);
    CHECK_FALSE(d.sees("afileofyourown"));
}

TEST_CASE("a link brings its lesson, which leaves what the link opened") {
    Copied clipboard;
    Driver d("causal-lm");
    compat::set_clipboard(clipboard);
    d.press(Key::f7);
    REQUIRE(d.click_text("Aweightisacomparison"));
    d.settle();
    d.session.apply(command::OpenModel{"causal-lm", {}});
    d.session.finish();
    change(d);
    by_palette(d, "copy a link");

    Driver other("pre-ln-layer");
    paste(other, clipboard);
    const LessonsState& panel = other.state.part<LessonsState>();
    CHECK(panel.open);
    REQUIRE(panel.player);
    CHECK(panel.player->lesson()->name == lesson_beside(d.state));
    CHECK(other.session.scenario().about().name == "causal-lm");
    CHECK(other.session.scenario().edits.size() == 1);
    CHECK(other.session.cursor().step == "blocks.1.attn.pattern");
}

TEST_CASE("a lesson that this program does not have is said; no path is opened as one") {
    Driver d("causal-lm");
    for (const std::string name : {"of-tomorrow", "/etc/passwd", "../models/reverse"}) {
        SavedView view = saved_view(d.state);
        view.lesson = name;
        const Commands told = show_saved(d.state, view);
        REQUIRE(told.size() == 1);
        CHECK(as<command::Tell>(told.front())->sentence.english().find(name) != std::string::npos);
        CHECK_FALSE(d.state.part<LessonsState>().player);
    }
}

TEST_CASE("the settings ask for the browser version's address where the program does not know it") {
    Driver d("reverse");
    d.press(Key::comma, with_ctrl);
    CHECK_FALSE(d.sees("Browserversion"));
    d.press(Key::escape);
    d.state.link_base.from_settings = true;
    d.press(Key::comma, with_ctrl);
    CHECK(d.sees("Browserversion"));
    REQUIRE(d.click_text("https://"));
    d.hands.type(" https://example.org/d/#old");
    d.settle();
    CHECK(d.state.settings.browser_address == "https://example.org/d/");
}

TEST_CASE("within another page the stage is all there is; panels come by their keys alone") {
    for (const ImVec2 size : {ImVec2{800, 500}, ImVec2{1280, 800}}) {
        Driver d("reverse", 1.0F, size);
        d.state.settings.reduced_motion = true;
        d.state.embedded = true;
        d.settle();
        INFO(size.x);
        CHECK(d.state.stage.width() == size.x);
        CHECK(d.state.stage.height() >= size.y - 4);
        CHECK_FALSE(d.sees("Export"));
        CHECK(d.sees("blocks.1.cross_attn.pattern"));
        CHECK(d.state.text_size() == 1.0F);
        for (const ImVec2 at : {ImVec2{1, 250}, ImVec2{size.x - 1, 250}, ImVec2{400, 1}, ImVec2{400, size.y - 1}})
            d.point(at);
        CHECK_FALSE(d.sees("Export"));
        CHECK(d.state.presentation.visible == std::array<float, kSlidePanels>{});
        d.press(Key::f6);
        CHECK(d.sees("Export"));
        d.press(Key::escape);
        CHECK_FALSE(d.sees("Export"));
        d.press(Key::escape);
        CHECK(d.state.embedded);
        CHECK_FALSE(d.sees("Export"));
        d.apply(command::OpenLink{"#s1=damaged"});
        CHECK(d.sees("thelink:"));
    }
}

TEST_CASE("within another page no text overlaps") {
    const ImVec2 size = {800, 500};
    Driver d("reverse", 1.0F, size);
    d.state.embedded = true;
    for (const Key key : {Key::s, Key::h, Key::m, Key::n, Key::g, Key::c}) {
        d.press(key);
        INFO(d.state.tab);
        check_layout(d, size);
    }
}
