// Every number against PyTorch: tests/reference/ computes the same decoders independently.
#include "tests/catch.h"
#include "tests/engine/fixtures.h"

#include <algorithm>
#include <cmath>

using namespace decoderscope::testing;
using namespace decoderscope::load::names;

namespace {

// The largest difference of two tensors relative to the tensor's scale (its largest finite magnitude, at least 1; fills
// such as -1e20 must match exactly and don't count for the scale). Infinite if a NaN, an infinity or a fill doesn't
// match.
double difference(const Tensor& ours, const Tensor& theirs) {
    constexpr float kFill = 1e4F;
    double scale = 1.0, worst = 0.0;
    for (const float value : theirs.values())
        if (std::isfinite(value) && std::abs(value) < kFill)
            scale = std::max(scale, static_cast<double>(std::abs(value)));
    for (Index i = 0; i < ours.size(); ++i) {
        const float a = ours.data()[i], b = theirs.data()[i];
        if ((std::isnan(a) && std::isnan(b)) || a == b) continue;
        if (!std::isfinite(a) || !std::isfinite(b)) return std::numeric_limits<double>::infinity();
        const double allowed = std::abs(b) < kFill ? scale : static_cast<double>(std::abs(b));
        worst = std::max(worst, static_cast<double>(std::abs(a - b)) / allowed);
    }
    return worst;
}

std::vector<std::string> names_of(const std::vector<std::pair<std::string, Tensor>>& tensors) {
    std::vector<std::string> names;
    for (const auto& [name, tensor] : tensors) names.push_back(name);
    return names;
}

}  // namespace

TEST_CASE("every tensor of every fixture equals PyTorch's, by name and in order") {
    double worst = 0.0;
    std::string worst_at;
    std::size_t tensors = 0;
    REQUIRE(fixture_names().size() >= 40);
    for (const std::string& name : fixture_names()) {
        INFO(name);
        const Fixture fixture = load_fixture(name);
        const auto trace = trace_of(*fixture.run());
        REQUIRE(names_of(trace) == names_of(fixture.expected));
        for (std::size_t i = 0; i < trace.size(); ++i) {
            INFO(trace[i].first);
            REQUIRE(shape_text(trace[i].second.axes()) == shape_text(fixture.expected[i].second.axes()));
            const double off = difference(trace[i].second, fixture.expected[i].second);
            CHECK(off <= 1e-5);
            ++tensors;
            if (off > worst) {
                worst = off;
                worst_at = name + ": " + trace[i].first;
            }
        }
    }
    WARN(tensors << " tensors; the largest difference is " << worst << " of the scale, at " << worst_at);
}

TEST_CASE("the bundled models are what the fixtures say, bit for bit") {
    std::size_t bundled = 0;
    for (const std::string& name : fixture_names()) {
        const Fixture fixture = load_fixture(name);
        if (fixture.bundled.empty()) continue;
        INFO(name);
        ++bundled;
        const auto model = load_model(fixture.bundled);
        CHECK(model->config() == fixture.config);
        for (const auto& member : {&Inputs::tokens, &Inputs::x, &Inputs::memory, &Inputs::encoder_tokens,
                                   &Inputs::attention_mask, &Inputs::encoder_attention_mask, &Inputs::custom_mask}) {
            const Tensor& ours = model->example.*member;
            const Tensor& theirs = fixture.inputs.*member;
            REQUIRE(ours.empty() == theirs.empty());
            CHECK(std::ranges::equal(ours.values(), theirs.values()));
        }
    }
    CHECK(bundled >= 6);
}
