// An attention's sink in the window: a column beside the keys wherever its pattern is drawn.
#include "engine/load/model.h"
#include "tests/catch.h"
#include "tests/views/driver.h"
#include "tests/views/layout_check.h"

#include <algorithm>
#include <cmath>
#include <vector>

using namespace decoderscope;
using namespace decoderscope::core;
using namespace decoderscope::load;
using namespace decoderscope::views;
using decoderscope::testing::check_layout;
using decoderscope::testing::DrawnText;
using decoderscope::testing::Driver;

namespace {

std::shared_ptr<const Model> fixture() { return load_model(DECODERSCOPE_TESTS_DIR "/reference/fixtures/sinks"); }

// Where the column's label is drawn, which is cut in a narrow column: beside the pattern's other columns, not under
// "softmax with a …" on the arrow.
std::vector<ImVec2> sinks_on(Driver& d) {
    std::vector<ImVec2> at;
    for (const DrawnText& piece : d.seen()) {
        const bool under_arrow = std::ranges::any_of(d.seen(), [&](const DrawnText& other) {
            return other.text == "witha" && std::abs(other.middle().x - piece.middle().x) < 30.0F;
        });
        const bool is_label = (piece.text.ends_with("sink") && piece.text.find("nokey") == std::string::npos) ||
                              piece.text.ends_with("sin");
        if (is_label && d.on_stage(piece) && !under_arrow) at.push_back({piece.x.back(), piece.middle().y});
    }
    return at;
}

}  // namespace

TEST_CASE("Step, Heads and Masks draw the sink beside the keys") {
    const ImVec2 size = {1280, 1400};
    Driver d(fixture(), 1.0F, size);
    d.session.apply(command::GoTo{"blocks.0.attn.pattern"});
    d.settle();
    CHECK(sinks_on(d).size() == 1);
    check_layout(d, size);
    for (const Key key : {Key::m, Key::h}) {
        d.press(key);
        d.settle();
        if (key == Key::h) d.press(Key::enter);
        d.settle();
        INFO(d.state.tab);
        CHECK_FALSE(sinks_on(d).empty());
        check_layout(d, size);
    }
}

TEST_CASE("a click on the sink's column goes to the sink's tensor; a brush leaves it alone") {
    Driver d(fixture());
    d.session.apply(command::GoTo{"blocks.0.attn.pattern"});
    d.settle();
    const ImVec2 label = sinks_on(d).front(), cell = {label.x, label.y + 30.0F};
    d.click(cell, Button::right);
    CHECK(d.session.scenario().edits.empty());
    d.click(cell);
    CHECK(d.session.step().name == "blocks.0.attn.sink");
    REQUIRE(d.session.cursor().cell);
    CHECK(d.session.cursor().cell->size() == 4);
}
