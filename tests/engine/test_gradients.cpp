// The backward pass against PyTorch's autograd (tests/reference/make_gradients.py) and against central differences.
#include "engine/backward/gradient.h"
#include "engine/base/random.h"
#include "engine/files/safetensors.h"
#include "tests/catch.h"
#include "tests/engine/fixtures.h"
#include "tests/engine/largest_difference.h"
#include "tests/engine/messages.h"
#include "tests/sanitized.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <set>

using namespace decoderscope::testing;

namespace {

namespace fs = std::filesystem;

const fs::path kGradients = fs::path(DECODERSCOPE_TESTS_DIR) / "reference" / "gradients";

// The gradients of one fixture, as autograd computes them.
struct Expected {
    std::string fixture;
    std::map<std::string, Tensor> tensors;  // "TARGET: grad.NAME", "TARGET: error.NAME", "loss"

    [[nodiscard]] std::set<std::string> targets() const {
        std::set<std::string> found;
        for (const auto& [name, tensor] : tensors)
            if (const std::size_t colon = name.find(": "); colon != std::string::npos)
                found.insert(name.substr(0, colon));
        return found;
    }
};

std::vector<Expected> all_expected() {
    std::vector<Expected> all;
    for (const auto& entry : fs::directory_iterator(kGradients)) {
        const SafetensorsFile file(entry.path().string());
        Expected expected = {entry.path().stem().string(), {}};
        for (const auto& [name, data] : file.entries()) expected.tensors.emplace(name, file.floats(name));
        all.push_back(std::move(expected));
    }
    return all;
}

std::shared_ptr<const Run> run_back(const Fixture& fixture, const std::string& target) {
    PassRequest request = fixture.request();
    request.gradient_target = target;
    std::vector<std::string> asked = fixture.asked;
    for (const std::string& name : fixture.asked) asked.push_back("grad." + name);
    return execute(plan_decoder(request), {.asked = asked});
}

// The largest magnitude that is a number.
double largest(const Tensor& tensor) {
    double most = 0.0;
    for (const float value : tensor.values())
        if (!std::isnan(value)) most = std::max(most, static_cast<double>(std::abs(value)));
    return most;
}

// |a − b|; 0 for two NaN, infinity for one.
double difference(double a, double b) {
    if (std::isnan(a) || std::isnan(b))
        return std::isnan(a) && std::isnan(b) ? 0.0 : std::numeric_limits<double>::infinity();
    return std::abs(a - b);
}

// All cells of a small tensor, a dozen of a larger one.
std::vector<Cell> dozen_of(const Tensor& tensor) {
    const Index count = std::min<Index>(tensor.size(), 12);
    std::vector<Cell> cells;
    for (Index i = 0; i < count; ++i)
        cells.push_back(tensor.cell(i * (tensor.size() - 1) / std::max(Index{1}, count - 1)));
    return cells;
}

}  // namespace

TEST_CASE("every gradient of every target equals autograd's, by name") {
    std::size_t compared = 0;
    for (const Expected& expected : looked_at(all_expected(), 6)) {
        const Fixture fixture = load_fixture(expected.fixture);
        for (const std::string& target : expected.targets()) {
            INFO(expected.fixture << ", " << target);
            const std::shared_ptr<const Run> run = run_back(fixture, target);
            std::set<std::string> ours, theirs;
            for (const auto& [name, tensor] : recorded_tensors(*run))
                if (name.starts_with("grad.") && name != "grad.loss" && name != "grad.loss_per_token")
                    ours.insert(name);
            for (const auto& [name, tensor] : expected.tensors) {
                if (!name.starts_with(target + ": grad.")) continue;
                const std::string own = name.substr(target.size() + 2), of = own.substr(5);
                theirs.insert(own);
                INFO(own);
                REQUIRE(run->plan().find(own) != nullptr);
                const Tensor& found = run->value(own);
                REQUIRE(shape_text(found.axes()) == shape_text(tensor.axes()));
                const float measured = expected.tensors.at(target + ": error." + of).data()[0];
                const double error = std::isnan(measured) ? 0.0 : static_cast<double>(measured);
                CHECK(largest_difference(found, tensor) <= std::max(1e-4 * largest(tensor), 8.0 * error + 1e-9));
                ++compared;
            }
            for (const std::string& name : ours) {
                INFO(name);
                CHECK((theirs.contains(name) || name.ends_with(".dropout_mask")));  // that of a dropout mask is 0
            }
        }
    }
    CHECK(compared > (kSanitized ? 100 : 1000));
}

TEST_CASE("the loss is PyTorch's cross-entropy") {
    std::size_t compared = 0;
    for (const Expected& expected : all_expected()) {
        if (!expected.tensors.contains("loss")) continue;
        INFO(expected.fixture);
        const std::shared_ptr<const Run> run = run_back(load_fixture(expected.fixture), "loss");
        for (const std::string name : {"loss", "loss_per_token"})
            CHECK(largest_difference(run->value(name), expected.tensors.at(name)) <= 1e-5);
        ++compared;
    }
    CHECK(compared >= 8);
}

TEST_CASE("the terms of every gradient's explanation sum to its cell") {
    for (const Expected& expected : looked_at(all_expected(), 10)) {
        const Fixture fixture = load_fixture(expected.fixture);
        for (const std::string& target : expected.targets()) {
            const std::shared_ptr<const Run> run = run_back(fixture, target);
            for (const Step& step : run->plan().steps()) {
                if (!step.name.starts_with("grad.") && !step.name.starts_with("loss")) continue;
                const Tensor& values = run->value(step.id);
                const double allowed = 1e-5 * largest(values) + 1e-9;
                for (const Cell& cell : dozen_of(values)) {
                    INFO(expected.fixture << ", " << target << ", " << step.name);
                    const Explanation why = run->explain(step.id, cell);
                    REQUIRE_FALSE(why.lines.empty());
                    CHECK(difference(why.lines.back().value, static_cast<double>(values.at(cell))) <= allowed);
                    for (const Line& line : why.lines) {
                        double sum = 0.0;
                        for (const Term& term : line.terms) sum += term.value;
                        CHECK(difference(sum, line.value) <= 1e-9 + 1e-9 * (std::isnan(sum) ? 0.0 : std::abs(sum)));
                        for (const Term& term : line.terms)
                            for (const Factor& factor : term.factors) {
                                if (!factor.cell) continue;
                                REQUIRE(factor.cell->operand < step.operands.size());
                                const Tensor& there = run->value(step.operands[factor.cell->operand]);
                                REQUIRE(there.contains(factor.cell->cell));
                                if (factor.text.empty())
                                    CHECK(difference(factor.value, static_cast<double>(there.at(factor.cell->cell))) ==
                                          0.0);
                            }
                    }
                }
            }
        }
    }
}

// Moving a cell by h moves the target by its gradient times h: the definition, by an edit of the same engine's run.
TEST_CASE("a gradient is what a central difference measures") {
    const Fixture fixture = load_fixture("gpt2-like");
    const std::string target = "logits[0,2,3]";
    const std::shared_ptr<const Run> run = run_back(fixture, target);
    const auto target_with = [&](const std::string& tensor, const Cell& cell, float value) {
        PassRequest request = fixture.request();
        const std::vector<Edit> edits = {SetCell{tensor, cell, value}};
        const PassRequest edited = {request.config, request.weights, request.inputs, edits, std::nullopt};
        return static_cast<double>(execute(plan_decoder(edited))->value("logits").at(Cell{0, 2, 3}));
    };
    for (const std::string tensor : {"blocks.0.attn.attn_scores", "blocks.0.attn.pattern", "blocks.0.attn.v",
                                     "blocks.0.resid_mid", "blocks.0.mlp.pre", "blocks.1.ln1.scale", "blocks.1.attn.z",
                                     "embed", "layers.0.up_proj.weight", "layers.1.norm1.weight"}) {
        const Tensor& values = run->value(tensor);
        const Tensor& grad = run->value("grad." + tensor);
        for (const Cell& cell : dozen_of(values)) {
            INFO(tensor);
            constexpr float kStep = 5e-3F;
            const float before = values.at(cell);
            const double measured =
                (target_with(tensor, cell, before + kStep) - target_with(tensor, cell, before - kStep)) /
                (static_cast<double>(before + kStep) - static_cast<double>(before - kStep));
            CHECK(std::abs(measured - static_cast<double>(grad.at(cell))) <= 2e-3 * largest(grad) + 2e-4);
        }
    }
}

TEST_CASE("the gradient by the scores is 0 behind a mask, and each of its rows sums to 0") {
    for (const char* name : {"gpt2-like", "llama-like", "nothing-left-finite"}) {
        const Fixture fixture = load_fixture(name);
        const std::shared_ptr<const Run> run = run_back(fixture, "blocks.0.resid_post[0,2,1]");
        const Tensor& mask = run->value("blocks.0.attn.mask");
        const Tensor& grad = run->value("grad.blocks.0.attn.attn_scores");
        const Tensor& masked = run->value("grad.blocks.0.attn.masked_scores");
        for (Index i = 0; i < mask.size(); ++i)
            if (mask.data()[i] == 0.0F) CHECK(grad.data()[i] == 0.0F);
        const Index keys = masked.dim(3);
        for (Index row = 0; row < masked.size() / keys; ++row) {
            double sum = 0.0;
            for (Index k = 0; k < keys; ++k) sum += static_cast<double>(masked.data()[row * keys + k]);
            CHECK(std::abs(sum) <= 1e-6 * (1.0 + largest(masked)));
        }
    }
}

TEST_CASE("a target that isn't there is refused by a sentence that names it") {
    const Fixture fixture = load_fixture("gpt2-like");
    for (const auto& [target, part] : {std::pair{"blocks.9.attn.z[0,0,0,0]", "blocks.9.attn.z"},
                                       {"logits", "logits[0, 1, 2]"},
                                       {"logits[0]", "logits"},
                                       {"logits[0,0,1000000]", "logits"},
                                       {"logits[0,-1,0]", "logits"},
                                       {"logits[a]", "logits[a]"}})
        check_message(error_of([&, aim = target] { run_back(fixture, aim); }), {part});
    check_message(error_of([] { run_back(load_fixture("edits-result"), "loss"); }), {"lm_head"});
}
