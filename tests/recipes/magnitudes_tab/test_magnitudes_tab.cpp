// The recipe "A view" of CONTRIBUTING.md, carried out: a tab is a folder and a line in the list of tabs. This
// executable is linked with that longer list (written by recipes.cmake, next to this folder), and with no other changed
// file.
#include "app/core/figure/csv_and_json.h"
#include "app/core/figure/export.h"
#include "app/core/files/session_file.h"
#include "app/views/shell/workspace.h"
#include "tests/catch.h"
#include "tests/engine/temporary_folder.h"
#include "tests/recipes/magnitudes_tab/magnitudes.h"
#include "tests/recipes/magnitudes_tab/magnitudes_tab.h"
#include "tests/recipes/magnitudes_tab/tab.h"
#include "tests/views/driver.h"
#include "tests/views/layout_check.h"

#include <algorithm>
#include <cmath>

using namespace decoderscope::testing;
using namespace decoderscope::core::lessons;

namespace {

void press(Driver& d, Key key, Mods mods = {}) { d.press(key, mods); }

// Saves the work to a path, or opens it, using the dialog of that key.
void enter_path(Driver& d, Key key, const std::string& path) {
    press(d, key, with_ctrl);
    press(d, Key::a, with_ctrl);
    d.hands.type(path);
    d.settle();
    press(d, Key::enter);
}

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

float largest_in(const Tensor& tensor) {
    float largest = 0.0F;
    for (Index i = 0; i < tensor.size(); ++i) largest = std::max(largest, std::fabs(tensor.data()[i]));
    return largest;
}

}  // namespace

TEST_CASE("the magnitudes are those of the steps") {
    const Driver d("pre-ln-layer");
    const Run& run = *d.session.shown().run;
    const std::vector<Magnitude> magnitudes = magnitudes_of(run).steps;
    REQUIRE(magnitudes.size() > 10);
    for (const Magnitude& magnitude : magnitudes) {
        INFO(magnitude.step);
        CHECK(magnitude.largest == largest_in(run.value(magnitude.step)));
    }
}

TEST_CASE("a tab that is a folder and a line has its place, its key and its entries in the palette") {
    REQUIRE(tabs().size() == 10);
    CHECK(tabs().back().id == "magnitudes");
    Driver d("pre-ln-layer");
    REQUIRE(d.sees("Magnitudes"));
    press(d, Key::u);
    CHECK(d.state.tab == "magnitudes");
    CHECK(d.sees(magnitudes_of(*d.session.shown().run).steps.front().step));
    press(d, Key::s);
    CHECK(d.state.tab == kStepTab);
    REQUIRE(d.click_text("Magnitudes"));
    CHECK(d.state.tab == "magnitudes");
    press(d, Key::s);
    press(d, Key::p, with_ctrl);
    d.hands.type("how large do the");
    d.settle();
    press(d, Key::enter);
    CHECK(d.state.tab == "magnitudes");
    press(d, Key::s);
    press(d, Key::p, with_ctrl);
    d.hands.type("sort the magn");
    d.settle();
    press(d, Key::enter);
    CHECK(d.state.tab == "magnitudes");
    CHECK(d.state.part<MagnitudesTabState>().largest_first);
    press(d, Key::f1);
    CHECK(d.sees("Magnitudes:Howlargedothenumbersget?"));
}

TEST_CASE("a row leads to its step") {
    Driver d("pre-ln-layer");
    press(d, Key::u);
    REQUIRE(d.click_text("blocks.0.ln1.scale"));
    CHECK(d.state.tab == kStepTab);
    CHECK(d.session.cursor().step == "blocks.0.ln1.scale");
}

TEST_CASE("what the tab shows is exported first, and then the step as everywhere") {
    Driver d("pre-ln-layer");
    press(d, Key::u);
    const std::vector<ExportChoice> choices = export_choices(d.session, d.state);
    REQUIRE(choices.size() > 1);
    CHECK(choices.front().file_name == "pre-ln-layer_magnitudes");
    CHECK(choices[1].file_name == "pre-ln-layer_" + d.session.step().name + ".head0");
    const TemporaryFolder folder;
    export_exhibit(choices.front().exhibit(), folder.file("magnitudes.csv"), {});
    const std::string csv = read_bytes(folder.file("magnitudes.csv"));
    for (const Magnitude& magnitude : magnitudes_of(*d.session.shown().run).steps) CHECK(holds(csv, magnitude.step));
}

TEST_CASE("its view is saved with the work, read again, and refused by name where it is wrong") {
    const TemporaryFolder folder;
    const std::string path = folder.file("lesson.dscope");
    Driver d("pre-ln-layer");
    press(d, Key::u);
    d.state.part<MagnitudesTabState>().largest_first = true;
    d.session.apply(command::ScaleHeadTo{"blocks.0.attn", 0, 0.0F});
    enter_path(d, Key::s, path);
    std::string text = read_bytes(path);
    CHECK(holds(text, "\"tab\": \"magnitudes\""));
    CHECK(holds(text, "\"labs\": {"));
    CHECK(holds(text, "\"largest_first\": true"));
    CHECK(session_text(read_session_file(path), folder.path()) == text);
    Driver other("causal-lm");
    enter_path(other, Key::o, path);
    CHECK(other.state.tab == "magnitudes");
    CHECK(other.state.part<MagnitudesTabState>().largest_first);
    CHECK_FALSE(other.session.message());
    text.replace(text.find("true", text.find("largest_first")), 4, "7");
    write_bytes(path, text);
    Driver third("causal-lm");
    enter_path(third, Key::o, path);
    REQUIRE(third.session.message());
    CHECK(holds(third.session.message()->text.english(), "labs.magnitudes.largest_first"));
    CHECK(third.state.tab == "magnitudes");
}

TEST_CASE("its layout holds on every screen") {
    for (const Screen& screen : kScreens) {
        Driver d("causal-lm-as-meant", screen.scale, screen.size);
        press(d, Key::u);
        check_layout(d, screen.size);
    }
}
