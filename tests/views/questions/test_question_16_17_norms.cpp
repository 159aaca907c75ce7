// How does the residual stream grow with depth, Pre-Norm against Post-Norm? Where do they first differ on this input?
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/views/driver.h"

#include <cmath>
#include <string>

using namespace decoderscope;
using namespace decoderscope::core::lessons;
using namespace decoderscope::core;
using namespace decoderscope::views;
using decoderscope::testing::DrawnText;
using decoderscope::testing::Driver;

namespace {

// All that is written on the stage, one piece after another.
std::string written(const Driver& d) {
    std::string all;
    for (const DrawnText& piece : d.seen())
        if (d.on_stage(piece)) all += piece.text;
    return all;
}

// The mean length of the rows [batch, pos] of a tensor [batch, pos, d_model] that are not padding.
double mean_length(const Tensor& tensor, const Tensor& mask) {
    double sum = 0.0, rows = 0.0;
    for (Index b = 0; b < tensor.dim(0); ++b)
        for (Index p = 0; p < tensor.dim(1); ++p) {
            if (!mask.empty() && mask.at(Cell{b, p}) == 0.0F) continue;
            double square = 0.0;
            for (Index i = 0; i < tensor.dim(2); ++i) {
                const auto x = static_cast<double>(tensor.at(Cell{b, p, i}));
                square += x * x;
            }
            sum += std::sqrt(square);
            ++rows;
        }
    return sum / rows;
}

// How the stream's length is written to have changed: "grows 3.1-fold", "keeps its length (1.0-fold)", "shrinks to 0.5
// of its length".
double read_growth(const std::string& text, const std::string& side) {
    const std::size_t at = text.find(side);
    REQUIRE(at != std::string::npos);
    const std::size_t number = text.find_first_of("0123456789", at);
    REQUIRE(number != std::string::npos);
    return std::stod(text.substr(number));
}

}  // namespace

TEST_CASE("question 16: N writes how far the stream grows under Pre-Norm and under Post-Norm") {
    Driver d("reverse");
    const Tensor mask = d.session.scenario().inputs.attention_mask;  // [batch, pos]
    d.hands.tap(Key::n);
    d.settle();
    const std::string text = written(d);
    const Index blocks = d.session.scenario().config().num_layers;
    REQUIRE(d.session.shown().companion("norms.left") != nullptr);
    REQUIRE(d.session.shown().companion("norms.right") != nullptr);
    const Run& pre = *d.session.shown().companion("norms.left")->run;
    const Run& post = *d.session.shown().companion("norms.right")->run;
    REQUIRE(post.plan().find("blocks." + std::to_string(blocks - 1) + ".ln3.normalized") != nullptr);
    const std::string last = "blocks." + std::to_string(blocks - 1);
    const double entering = mean_length(pre.value("blocks.0.resid_pre"), mask);
    CHECK(std::abs(read_growth(text, "Pre-Norm:thestream") /
                       (mean_length(pre.value(last + ".resid_post"), mask) / entering) -
                   1.0) < 0.06);
    // Post-Norm normalises the last sum before it leaves the block.
    const double left = mean_length(post.value(last + ".ln3.normalized"), mask);
    CHECK(std::abs(read_growth(text, "Post-Norm:it") / (left / mean_length(post.value("blocks.0.resid_pre"), mask)) -
                   1.0) < 0.06);
}

TEST_CASE("where numbers are not finite, the sentence says so and writes no NaN %") {
    Driver d("reverse");
    d.session.apply(command::PaintMask{"blocks.0.attn", 0, std::nullopt, 0, 0, false});
    d.hands.tap(Key::n);
    d.settle();
    const std::string text = written(d);
    CHECK(text.find("NaN%") == std::string::npos);
    CHECK(text.find("can'tbecompared") != std::string::npos);
}

TEST_CASE("question 17: two gestures lead to the first step in which Pre-Norm and Post-Norm differ") {
    Driver d("reverse");
    d.hands.tap(Key::c);
    d.settle();
    REQUIRE(d.click_text("Normchange?"));
    d.settle();
    // By comparing all recorded numbers here.
    const Run& a = *d.session.shown().run;
    const Run& b = *d.session.shown().companion("diff")->run;
    std::string first;
    for (const Step& step : a.plan().steps()) {
        if (step.is_source() || b.plan().find(step.name) == nullptr) continue;
        const auto here = a.value(step.id).values(), there = b.value(step.name).values();
        if (here.empty() || there.empty() || std::ranges::equal(here, there)) continue;
        first = step.name;
        break;
    }
    REQUIRE_FALSE(first.empty());
    CHECK(written(d).find("Thefirsttodifferis" + first) != std::string::npos);
}
