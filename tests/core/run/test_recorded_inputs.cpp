// What a recorded model was given: masks in the forms that PyTorch's functions take, positions, documents; and what is
// said if something of it is not followed.
#include "app/core/figure/cell_text.h"
#include "app/core/figure/heatmap_image.h"
#include "app/core/run/open_model.h"
#include "app/core/run/slice.h"
#include "app/core/tabs/step/shown_step.h"
#include "engine/files/safetensors.h"
#include "engine/load/recorded_run.h"
#include "engine/model/config.h"
#include "tests/catch.h"
#include "tests/engine/contains.h"
#include "tests/engine/temporary_folder.h"

#include <limits>
#include <string>
#include <utility>
#include <vector>

using namespace decoderscope::testing;

namespace {

constexpr Index kBatch = 2, kPos = 3;

trace::TraceTensor tensor(const std::string& name, const std::string& dtype, const std::vector<Index>& shape,
                          const std::vector<float>& values) {
    return {.name = name, .dtype = dtype, .shape = shape, .values = Tensor(unnamed(shape), values)};
}

// A recording whose model was given tokens and what else is listed, by its arguments' names.
trace::Trace recording(std::vector<std::pair<std::string, trace::TraceTensor>> given) {
    trace::Trace trace;
    given.emplace(given.begin(), "input_ids",
                  tensor("ids", "I64", {kBatch, kPos}, std::vector<float>{1, 2, 3, 4, 5, 6}));
    trace::TraceCall call{.name = "model", .module = "model", .kind = "MyDecoder", .function = {}, .in = {}, .out = {}};
    for (auto& [port, values] : given) {
        call.in.emplace_back(port, values.name);
        trace.tensors.push_back(values);
    }
    trace.calls.push_back(call);
    return trace;
}

Config a_decoder(bool causal = true) {
    return parse_config(
        std::string(
            R"({"model_type": "decoderscope", "d_model": 4, "nhead": 2, "num_layers": 1, "vocab_size": 9, "causal": )") +
        (causal ? "true}" : "false}"));
}

Inputs given(const std::string& port, const trace::TraceTensor& values, bool causal = true) {
    return inputs_of_trace(recording({{port, values}}), a_decoder(causal));
}

std::vector<float> numbers(const Tensor& tensor) { return {tensor.values().begin(), tensor.values().end()}; }

}  // namespace

TEST_CASE("recorded positions and documents are followed, by row or for all rows") {
    const std::vector<float> twice = {0, 1, 0, 0, 1, 0};
    CHECK(numbers(given("position_ids", tensor("p", "I64", {1, kPos}, {0, 1, 0})).positions) == twice);
    CHECK(numbers(given("positions", tensor("p", "I64", {kPos}, {0, 1, 0})).positions) == twice);
    CHECK(numbers(given("position_ids", tensor("p", "I64", {kBatch, kPos}, {0, 1, 0, 0, 0, 1})).positions) ==
          std::vector<float>{0, 1, 0, 0, 0, 1});
    CHECK(numbers(given("segment_ids", tensor("s", "I64", {1, kPos}, {0, 1, 0})).segments) == twice);
    CHECK(given("document_ids", tensor("s", "I64", {kBatch, kPos}, {0, 0, 1, 0, 0, 1})).tokens.size() == 6);
}

TEST_CASE("true in a mask over queries hides or keeps, as the query's own key tells") {
    const std::vector<float> keeps = {1, 0, 1, 0, 1, 1, 1, 0, 1}, hides = {0, 1, 0, 1, 0, 0, 0, 1, 0};
    const auto mask = [](const std::string& dtype, const std::vector<float>& values) {
        return numbers(given("attn_mask", tensor("m", dtype, {kPos, kPos}, values), false).custom_mask);
    };
    CHECK(mask("BOOL", keeps) == keeps);
    CHECK(mask("BOOL", hides) == keeps);
    CHECK(mask("I64", keeps) == keeps);
    const float low = -1e9F;
    CHECK(mask("F32", {0, low, 0, low, 0, 0, 0, low, 0}) == keeps);
    const trace::TraceTensor of_heads = tensor("m", "BOOL", {kBatch * 2, kPos, kPos},
                                               std::vector<float>(static_cast<std::size_t>(kBatch * 2 * 9), 1.0F));
    CHECK(given("attn_mask", of_heads, false).custom_mask.axes() ==
          Axes{{axis::batch, kBatch}, {axis::head, 2}, {axis::query, kPos}, {axis::key, kPos}});
}

TEST_CASE("floats of 0 and 1 keep as integers do, and a bias that is added to scores hides nothing") {
    const auto padding = [](const std::vector<float>& values) {
        return given("attention_mask", tensor("m", "F32", {kBatch, kPos}, values)).attention_mask;
    };
    CHECK(numbers(padding({1, 1, 1, 1, 1, 0})) == std::vector<float>{1, 1, 1, 1, 1, 0});
    CHECK(numbers(padding({0, 0, 0, 0, 0, -1e4F})) == std::vector<float>{1, 1, 1, 1, 1, 0});
    CHECK(padding({0, 0, 0, 0, 0, -2}).empty());
    const trace::TraceTensor bias = tensor("m", "F32", {kPos, kPos}, {0, 0, 0, -0.5F, 0, 0, -1, -0.5F, 0});
    CHECK(given("attn_mask", bias, false).custom_mask.empty());
    const trace::Trace trace = recording({{"attn_mask", bias}});
    CHECK(not_compared(trace, inputs_of_trace(trace, a_decoder()), a_decoder()).size() == 1);
}

TEST_CASE("a recorded mask that says what the causal mask says is none of its own") {
    const trace::TraceTensor causal = tensor("m", "BOOL", {kPos, kPos}, {1, 0, 0, 1, 1, 0, 1, 1, 1});
    CHECK(given("attn_mask", causal).custom_mask.empty());
    CHECK_FALSE(given("attn_mask", causal, false).custom_mask.empty());
    const trace::Trace trace = recording({{"attn_mask", causal}});
    CHECK(not_compared(trace, inputs_of_trace(trace, a_decoder()), a_decoder()).empty());
}

TEST_CASE("what was given and is not followed is said") {
    const auto said = [](const trace::Trace& trace) {
        std::string text;
        for (const Sentence& sentence : not_compared(trace, inputs_of_trace(trace, a_decoder()), a_decoder()))
            text += sentence.english() + "\n";
        return text;
    };
    // Half of the queries see themselves: nothing tells what true means.
    CHECK(contains(said(recording({{"attn_mask", tensor("m", "BOOL", {kPos, kPos}, {1, 0, 0, 1, 0, 1, 0, 0, 1})}})),
                   "attn_mask was given to the recorded model"));
    CHECK(contains(said(recording({{"position_ids", tensor("p", "I64", {5}, {0, 1, 2, 3, 4})}})), "position_ids"));
    CHECK(said(recording({{"position_ids", tensor("p", "I64", {kPos}, {0, 1, 2})}})).empty());
    CHECK(said(recording({{"labels", tensor("l", "I64", {kBatch, kPos}, {1, 2, 3, 4, 5, 6})}})).empty());
}

TEST_CASE("a padding mask that hides the text is said to be odd") {
    const auto said = [](const std::vector<float>& mask) {
        const trace::Trace trace = recording({{"attention_mask", tensor("m", "I64", {kBatch, kPos}, mask)}});
        std::string text;
        for (const Sentence& sentence : taken_from_recording(trace, inputs_of_trace(trace, a_decoder())))
            text += sentence.english() + "\n";
        return text;
    };
    CHECK(contains(said({1, 1, 1, 1, 1, 0}), "input_ids, attention_mask"));
    CHECK_FALSE(contains(said({1, 1, 1, 1, 1, 0}), "different tokens"));
    CHECK(contains(said({0, 0, 1, 0, 0, 1}), "hides 4 different tokens"));
}

// Recorded weights as torch.nn.MultiheadAttention computes them, [batch · head, query, key]: each of its matrices can
// be shown.

TEST_CASE("a cell of a recorded tensor of three axes is in the picture of its place, behind each first index") {
    const TemporaryFolder folder;
    const std::string path = folder.file("weights.safetensors");
    Tensor weights({{"", 8}, {"", 3}, {"", 4}});
    for (Index i = 0; i < weights.size(); ++i) weights.writable()[static_cast<std::size_t>(i)] = static_cast<float>(i);
    const Tensor stream({{"", 2}, {"", 3}, {"", 5}});  // of two texts
    write_safetensors(path, {{"embed/out", stream}, {"layers.0.self_attn/softmax/out", weights}});
    const Scenario scenario = scenario_of(load::run_of_trace(path));
    const auto run = execute(plan_of(scenario));
    const Step& step = *run->plan().find("layers.0.self_attn/softmax/out");
    const Axis* axis = outer_axis(step);
    REQUIRE(axis != nullptr);
    CHECK(axis->size == 8);
    CHECK(core::step::headline_of(run->plan(), step) == "Self-attention");  // rather than "The residual stream"
    for (Index head = 0; head < 8; ++head) {
        const Place place = place_of(step, {head, 2, 1}, {}, scenario.query_heads());
        const Slice slice = slice_of(step, place, scenario.query_heads());
        CHECK(slice.find({head, 2, 1}) == std::pair<Index, Index>{2, 1});
        CHECK(heatmap_of(scenario, *run, step, place).values[2 * 4 + 1] == static_cast<float>(head * 12 + 2 * 4 + 1));
        CHECK(slice_of(step, {.outer = head}, scenario.query_heads()).fixed == slice.fixed);
    }
}

// The picture of recorded scores that another program filled where they are hidden: its colours span what isn't filled.

TEST_CASE("recorded scores are coloured by what isn't filled, and the legend says what the others are") {
    for (const float fill : {std::numeric_limits<float>::lowest(), -1e9F}) {
        const TemporaryFolder folder;
        const std::string path = folder.file("scores.safetensors");
        // [batch, head, query, key]; the second head hides nothing.
        Tensor scores({{axis::batch, 1}, {axis::head, 2}, {axis::query, 3}, {axis::key, 3}});
        for (Index i = 0; i < scores.size(); ++i) {
            const bool hidden = i < 9 && i % 3 > i / 3;
            scores.writable()[static_cast<std::size_t>(i)] = hidden ? fill : 0.25F * static_cast<float>(i - 8);
        }
        write_safetensors(path, {{"h.0.attn/masked_fill/out", scores}});
        const Scenario scenario = scenario_of(load::run_of_trace(path));
        const auto run = execute(plan_of(scenario));
        const Step& step = run->plan()[0];
        const Heatmap first = heatmap_of(scenario, *run, step, {.head = 0});
        REQUIRE(first.hidden.size() == 9);
        for (Index i = 0; i < 9; ++i)
            CHECK((first.hidden[static_cast<std::size_t>(i)] == hidden_by::fill) == (i % 3 > i / 3));
        CHECK(first.range == Range{-2.25F, 2.25F});  // of both heads
        CHECK(filled_text(hidden_by::fill, fill).starts_with(hidden_text(hidden_by::fill)));
        const Heatmap second = heatmap_of(scenario, *run, step, {.head = 1});
        CHECK(second.hidden.empty());
        CHECK(second.range == first.range);
        // What Diff and exports ask for says the same.
        CHECK(range_of_step(*run, step) == first.range);
        CHECK(hidden_cells(*run, step, slice_of(step, {.head = 0}, scenario.query_heads())) == first.hidden);
    }
}
