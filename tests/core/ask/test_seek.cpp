// What is sought is found: against closed forms in double precision and runs made by themselves.
#include "app/core/ask/seek.h"
#include "engine/base/error.h"
#include "engine/load/model.h"
#include "tests/catch.h"
#include "tests/core/ask/unswept.h"
#include "tests/engine/contains.h"
#include "tests/engine/messages.h"

#include <cmath>

using namespace decoderscope;
using namespace decoderscope::core;
using namespace decoderscope::core::ask;
using namespace decoderscope::testing;

namespace {

Found found_by(const Unswept& unswept, const std::string& vary, const std::string& target) {
    return finished(sought(unswept, vary, target_from(target)));
}

std::string seek_error(const Unswept& unswept, const std::string& vary, const std::string& target) {
    return error_of([&] { static_cast<void>(found_by(unswept, vary, target)); });
}

}  // namespace

TEST_CASE("the temperature that makes a probability what is wanted is that of the softmax in double precision") {
    const Unswept unswept = unswept_of("reverse", "sure = max_v softmax_v(logits[0, 1, v] / temperature)");
    const Found found = found_by(unswept, "temperature", "0.25");
    REQUIRE(found.number);
    const std::span<const float> logits = unswept.run->value("logits").row({0, 1, 0});
    double sum = 0.0;
    const double most = static_cast<double>(*std::ranges::max_element(logits));
    for (const float logit : logits) sum += std::exp((static_cast<double>(logit) - most) / *found.number);
    CHECK(1.0 / sum == Approx(0.25).epsilon(1e-5));
    CHECK(found.after == Approx(0.25).epsilon(1e-5));
}

TEST_CASE("a cell of what is added last moves its sum by as much, so that the sought value is known") {
    const Unswept unswept = unswept_of("causal-lm", "blocks.4.resid_post[0, 3, 5]");
    const Tensor& sum = unswept.run->value("blocks.4.resid_post");
    const Tensor& mlp = unswept.run->value("blocks.4.mlp_out");
    const double now = static_cast<double>(sum.at(Cell{0, 3, 5}));
    const Found found = found_by(unswept, "blocks.4.mlp_out[0, 3, 5]", "7.5");
    REQUIRE(found.number);
    CHECK(*found.number == Approx(static_cast<double>(mlp.at(Cell{0, 3, 5})) + 7.5 - now).epsilon(1e-5));
}

TEST_CASE("a prediction becomes another token, and a run by itself predicts it") {
    const Unswept unswept = unswept_of("causal-lm", "logits[0, 3, 5]");
    for (const std::string vary : {"blocks.4.resid_post", "blocks.0.attn.z"}) {
        const Found found = found_by(unswept, vary, "largest");
        CHECK(found.length > 0.0);
        CHECK(found.before < 0.0);
        CHECK(found.after > 0.0);
        const auto run = run_with(unswept.scenario, found.point.variation);
        const std::span<const float> logits = run->value("logits").row({0, 3, 0});
        CHECK(std::ranges::max_element(logits) - logits.begin() == 5);
        // The change is along one direction, and as long as is said.
        double length = 0.0;
        for (const Edit& edit : found.point.variation.more_edits) {
            const SetCell& cell = std::get<SetCell>(edit);
            const double change =
                static_cast<double>(cell.value) - static_cast<double>(unswept.run->value(cell.tensor).at(cell.index));
            length += change * change;
        }
        CHECK(std::sqrt(length) == Approx(found.length).epsilon(1e-3));
    }
}

TEST_CASE("what a linear row seeks along its gradient is the shortest change of all") {
    // The sum of one position's stream: its gradient is 1 everywhere, so the change is the same in each column.
    const Unswept unswept = unswept_of("causal-lm", "total = Σ_d blocks.4.resid_post[0, 3, d]");
    const Found found = found_by(unswept, "blocks.4.mlp_out", "100");
    const auto columns = static_cast<double>(unswept.scenario.config().d_model);
    CHECK(found.after == Approx(100.0).epsilon(1e-4));
    CHECK(found.length == Approx(std::abs(100.0 - found.before) / std::sqrt(columns)).epsilon(1e-3));
}

TEST_CASE("what can't be sought, or found, is one sentence") {
    const Unswept unswept = unswept_of("causal-lm", "logits[0, 3, 5]");
    CHECK_THROWS_WITH(target_from("much"), Catch::Matchers::ContainsSubstring("nothing to seek"));
    CHECK(contains(seek_error(unswept, "attention_scale=0.1..0.2", "1e9"),
                   "no value of attention_scale from 0.1 to 0.2"));
    CHECK(contains(seek_error(unswept, "attention_scal", "1"), "attention_scale"));
    CHECK(contains(seek_error(unswept, "norm_first=true", "1"), "expected a range"));
    CHECK(contains(seek_error(unswept, "attention_scale=0.1,0.5", "1"), "expected a range"));
    CHECK(contains(seek_error(unswept, "attention_scale", "> -1e9"), "already"));
    CHECK(contains(seek_error(unswept_of("causal-lm", "logits"), "attention_scale", "1"), "expected one"));
    CHECK(contains(seek_error(unswept, "attention_scale=0..1", "largest"), "attention_scale"));
    CHECK(contains(seek_error(unswept_of("causal-lm", "blocks.0.attn.z[0, 0, 0, 0]"), "blocks.4.resid_post", "1"),
                   "leads nowhere"));
}
