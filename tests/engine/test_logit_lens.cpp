// The logit lens: the final norm and the head after each block.
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/files/safetensors.h"
#include "engine/load/lens.h"
#include "tests/catch.h"
#include "tests/engine/fixtures.h"
#include "tests/engine/same_bits.h"
#include "tests/engine/small_models.h"
#include "tests/engine/temporary_folder.h"

#include <cmath>

using namespace decoderscope::testing;

namespace {

std::shared_ptr<const Run> with_lens(PassRequest request, const Run* previous = nullptr) {
    request.logit_lens = true;
    return execute(plan_decoder(request), {.previous = previous});
}

}  // namespace

TEST_CASE("the logit lens of every block is what PyTorch computes from the stream that leaves it") {
    const auto reference =
        nlohmann::json::parse(read_text(DECODERSCOPE_TESTS_DIR "/reference/tabs_generate.json"))["lens"];
    REQUIRE(reference.size() == 4);
    for (const auto& [model, lenses] : reference.items()) {
        const Fixture fixture = load_fixture(model);
        const auto run = with_lens(fixture.request());
        CHECK(lenses.size() == static_cast<std::size_t>(fixture.config.num_layers) + 1);
        for (const auto& [at, rows] : lenses.items()) {
            INFO(model << ": " << at);
            const Tensor& logits = run->value("logit_lens." + at + ".logits");  // [batch, pos, vocab]
            REQUIRE(logits.rank() == 3);
            REQUIRE(rows.size() == static_cast<std::size_t>(logits.dim(1)));
            for (Index pos = 0; pos < logits.dim(1); ++pos)
                for (Index token = 0; token < logits.dim(2); ++token)
                    CHECK(logits.at(Cell{0, pos, token}) ==
                          Approx(rows[static_cast<std::size_t>(pos)][static_cast<std::size_t>(token)].get<float>())
                              .margin(2e-6));
        }
    }
}

TEST_CASE("after the last block the logit lens is the output, bit for bit, and the pass itself is as it was") {
    for (const char* model : {"gpt2-like", "llama-like", "encdec-tokens", "causal-lm", "post-ln-encdec"}) {
        INFO(model);
        const Fixture fixture = load_fixture(model);
        const auto plain = fixture.run();
        const auto run = with_lens(fixture.request(), plain.get());
        const std::string last = "logit_lens.blocks." + std::to_string(fixture.config.num_layers - 1);
        CHECK(same_bits(run->value(last + ".logits"), run->value("logits")));
        CHECK(same_bits(run->value(last + ".probs"), run->value("probs")));
        std::size_t lens = 0;
        for (const Step& step : run->plan().steps()) {
            if (step.name.starts_with("logit_lens.")) {
                ++lens;
                CHECK(plain->plan().find(step.name) == nullptr);
            } else {
                CHECK(run->value(step.id).shares_values_with(plain->value(step.name)));
            }
        }
        CHECK(run->computed_steps() == lens);  // nothing else was recomputed
    }
}

TEST_CASE(
    "a fitted lens is the head on what its map makes of the stream, and where it has none there is only the logit "
    "lens") {
    const Fixture fixture = load_fixture("gpt2-like");
    const Index width = fixture.config.d_model;
    Weights weights = fixture.weights;
    const TemporaryFolder folder;
    Tensor weight({{axis::out, width}, {axis::in, width}}), bias({{axis::out, width}});
    for (std::size_t i = 0; i < weight.values().size(); ++i) weight.writable()[i] = std::sin(static_cast<float>(3 * i));
    for (std::size_t i = 0; i < bias.values().size(); ++i) bias.writable()[i] = std::cos(static_cast<float>(i));
    write_safetensors(folder.file("lens.safetensors"), {{"blocks.0.weight", weight}, {"blocks.0.bias", bias}});
    for (const auto& [name, map] : load::read_lens(folder.file("lens.safetensors"), fixture.config).maps)
        weights.emplace(name, map);
    PassRequest request = fixture.request();
    request.weights = &weights;
    const auto run = with_lens(request);
    const Tensor &stream = run->value("blocks.0.resid_post"), &logits = run->value("fitted_lens.blocks.0.logits"),
                 &gain = fixture.weights.at("norm.weight"), &shift = fixture.weights.at("norm.bias"),
                 &head = fixture.weights.at("embed.weight");  // [vocab, d_model], tied
    const auto number = [](const Tensor& of, const Cell& cell) { return static_cast<double>(of.at(cell)); };
    for (Index pos = 0; pos < stream.dim(1); ++pos) {  // in double precision
        std::vector<double> x;
        double mean = 0.0, variance = 0.0;
        for (Index o = 0; o < width; ++o) {
            x.push_back(number(bias, {o}));
            for (Index i = 0; i < width; ++i) x.back() += number(weight, {o, i}) * number(stream, {0, pos, i});
            mean += x.back() / static_cast<double>(width);
        }
        for (const double one : x) variance += (one - mean) * (one - mean) / static_cast<double>(width);
        for (Index token = 0; token < logits.dim(2); ++token) {
            double logit = 0.0;
            for (Index i = 0; i < width; ++i)
                logit += number(head, {token, i}) *
                         ((x[static_cast<std::size_t>(i)] - mean) /
                              std::sqrt(variance + fixture.config.layer_norm_eps) * number(gain, {i}) +
                          number(shift, {i}));
            CHECK(number(logits, {0, pos, token}) == Approx(logit).margin(1e-5));
        }
    }
    CHECK(run->plan().find("fitted_lens.embed.logits") == nullptr);
    CHECK(run->plan().find("logit_lens.embed.logits") != nullptr);
}

TEST_CASE("a row that reads a lens brings it into the pass") {
    const Fixture fixture = load_fixture("gpt2-like");
    PassRequest request = fixture.request();
    const std::vector<Edit> edits = {AddRow{"last", "", "logit_lens.blocks.1.logits - logits"}};
    const PassRequest with_row{request.config, request.weights, request.inputs, edits, request.dropout_seed};
    const auto run = execute(plan_decoder(with_row));
    for (const float apart : run->value("last").values()) CHECK(apart == 0.0F);
}

TEST_CASE("without a head there is no logit lens") {
    const SmallModel model = small_model();
    const auto run = with_lens({model.config, &model.weights, model.inputs, model.edits, model.dropout_seed});
    for (const Step& step : run->plan().steps()) CHECK_FALSE(step.name.starts_with("logit_lens."));
}
