// Where did the first NaN appear?
#include "app/core/run/labels.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/views/driver.h"

#include <cmath>

using namespace decoderscope;
using namespace decoderscope::core::lessons;
using namespace decoderscope::core;
using namespace decoderscope::views;
using decoderscope::testing::Driver;

TEST_CASE("question 23: one gesture names the first cell that is NaN and why, and a click goes there") {
    Driver d("reverse");
    // A query with nothing left to attend to.
    d.session.apply(command::PaintMask{"blocks.1.attn", 0, 2, 0, 0, false});
    d.session.finish();
    d.settle();
    d.hands.tap(Key::v);
    d.settle();
    // By looking at every number in the order of computation.
    const Run& run = *d.session.shown().run;
    std::string first;
    Cell cell;
    for (const Step& step : run.plan().steps()) {
        const Tensor& tensor = run.value(step.id);
        if (step.is_source() || tensor.empty()) continue;
        const auto values = tensor.values();
        const auto nan = std::find_if(values.begin(), values.end(), [](float x) { return std::isnan(x); });
        if (nan == values.end()) continue;
        first = step.name;
        cell = tensor.cell(nan - values.begin());
        break;
    }
    REQUIRE(first == "blocks.1.attn.pattern");
    std::string place = "→" + cell_name(first, cell);
    std::erase(place, ' ');
    CHECK(d.sees(place));
    CHECK(d.sees("ThefirstisNaN"));
    std::string all;  // a sentence may break into lines
    for (const auto& piece : d.seen()) all += piece.text;
    CHECK(all.find("Themaskhideseverykeyfromthatrow.") != std::string::npos);
    REQUIRE(d.click_text(place));
    CHECK(d.session.cursor().step == first);
    CHECK(d.session.cursor().cell == cell);
}
