// What a recording says of its model beyond names and shapes.
#include "engine/base/json.h"
#include "engine/load/model.h"
#include "engine/load/recorded_graph.h"
#include "engine/load/recorded_hints.h"
#include "engine/load/recorded_run.h"
#include "tests/catch.h"
#include "tests/engine/raw_safetensors.h"
#include "tests/engine/recorded_traces.h"
#include "tests/engine/temporary_folder.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

using namespace decoderscope::testing;

namespace {

std::string said(const Overrides& hints, const std::string& key) {
    const auto found = std::ranges::find(hints, key, &std::pair<std::string, std::string>::first);
    return found == hints.end() ? std::string() : found->second;
}

}  // namespace

TEST_CASE("a recording says how many heads there are, where the norms stand, eps and the activation") {
    const Overrides gpt = hints_of_file(kTraces + "gpt/right-plain.safetensors");
    CHECK(said(gpt, "nhead") == "2");
    CHECK(said(gpt, "norm_first") == "true");
    CHECK(said(gpt, "layer_norm_eps") == "1e-05");
    CHECK(said(gpt, "activation") == "gelu_tanh");  // it is written out: its numbers say so
    const Overrides layers = hints_of_file(kTraces + "torch-layers/right-plain.safetensors");
    CHECK(said(layers, "nhead") == "2");
    CHECK(said(layers, "norm_first") == "false");
    const Overrides llama = hints_of_file(kTraces + "llama/right-plain.safetensors");
    CHECK(said(llama, "nhead") == "4");
    CHECK(said(llama, "activation") == "silu");
    // Nothing is said where the recording doesn't agree with itself, or isn't one.
    CHECK(hints_of_file(kTraces + "gpt/model.safetensors").empty());
}

TEST_CASE(
    "a recorded model of a known family is read by its configuration; its class tells the family if that doesn't") {
    const TemporaryFolder folder;
    // RoPE's frequencies, as transformers multiplies them by the positions: 5000^(−2i/8).
    std::string data;
    for (int i = 0; i < 4; ++i) data += raw<float>({static_cast<float>(std::pow(5000.0, -i / 4.0))});
    const auto config_of = [&](const std::string& kind, const Json& config) {
        const std::string frequencies = "model.rotary_emb/matmul/in.input";
        const Json calls = {{{"name", "(model)"},
                             {"module", "(model)"},
                             {"class", kind},
                             {"in", Json::object()},
                             {"out", Json::object()}},
                            {{"name", "model.rotary_emb"},
                             {"module", "model.rotary_emb"},
                             {"class", "LlamaRotaryEmbedding"},
                             {"in", Json::object()},
                             {"out", Json::object()}},
                            {{"name", "model.rotary_emb/matmul"},
                             {"module", "model.rotary_emb"},
                             {"function", "matmul"},
                             {"in", {{"input", frequencies}}},
                             {"out", Json::object()}}};
        const Json header = {
            {"__metadata__",
             {{"format", "decoderscope-trace 1"},
              {"finished", "yes"},
              {"calls", calls.dump()},
              {"hyperparameters", Json{{"(config)", config}}.dump()}}},
            {frequencies, {{"dtype", "F32"}, {"shape", {1, 4, 1}}, {"data_offsets", {0, data.size()}}}}};
        write_bytes(folder.file("t.safetensors"), with_header(header.dump(), data));
        const std::string found = recorded_config(folder.file("t.safetensors"));
        return found.empty() ? Json() : Json::parse(found);
    };
    const Json made_in_code = {{"architectures", {"LlamaForCausalLM"}}, {"hidden_size", 32}};
    const Json llama = config_of("LlamaForCausalLM", made_in_code);
    REQUIRE(llama.is_object());
    CHECK(llama["model_type"] == "llama");
    CHECK(llama["hidden_size"] == 32);
    CHECK(llama["rope_parameters"] == Json{{"rope_type", "default"}, {"rope_theta", 5000.0}});
    CHECK(config_of("Gemma3ForCausalLM", made_in_code)["model_type"] == "gemma3_text");
    CHECK(config_of("Ernie4_5ForCausalLM", made_in_code)["model_type"] == "ernie4_5");
    CHECK(config_of("Anything", {{"model_type", "qwen3"}})["model_type"] == "qwen3");
    // Another family, or a person's own class of that name, is none that is known.
    CHECK(config_of("LlamaOfMyOwnForCausalLM", made_in_code).is_null());
    CHECK(config_of("LlamaForCausalLM", {{"hidden_size", 32}}).is_null());
}

TEST_CASE("a recording with parameters needs no answer that it gives itself") {
    const std::string path = kTraces + "gpt/right-apart.safetensors";
    const auto recognised = recognise_model(path);
    REQUIRE(recognised);
    const auto heads = std::ranges::find(recognised->questions, "nhead", &Question::key);
    REQUIRE(heads != recognised->questions.end());
    CHECK(heads->proposal == "2");
    CHECK_FALSE(heads->required);
    if (recognised->problem.empty()) {
        const Config config = load_model(path)->config();
        CHECK(config.nhead == 2);
        CHECK(config.norm_first);
        // What the user says counts more.
        CHECK(load_model(path, {{"nhead", "4"}})->config().nhead == 4);
    }
}

TEST_CASE("a recording that was cut short has all the layers that its parameters are of") {
    const TemporaryFolder folder;
    const std::string path = folder.file("cut.safetensors"),
                      whole = read_bytes(kTraces + "gpt/right-apart.safetensors");
    const Index layers =
        load_model(kTraces + "gpt/right-apart.safetensors", {{"activation", "gelu_tanh"}})->config().num_layers;
    const std::size_t header = 8 + *reinterpret_cast<const std::uint64_t*>(whole.data());
    const Json tensors = Json::parse(whole.substr(8, header - 8));
    for (const char* last : {"h.0.attn.key/out", "h.0.mlp.c_fc/out", "h.1.ln_1/out", "h.1.mlp.c_fc/out"}) {
        INFO(last);
        const auto end = tensors.at(last).at("data_offsets").at(1).get<std::size_t>();
        write_bytes(path, whole.substr(0, header + end));
        CHECK(load_model(path, {{"activation", "gelu_tanh"}, {"nhead", "2"}, {"norm_first", "true"}})
                  ->config()
                  .num_layers == layers);
    }
}

// ---- what numbers tell

namespace {

// Numbers that no two tensors have alike.
std::vector<float> numbers(std::size_t count, double seed) {
    std::vector<float> all(count);
    for (std::size_t i = 0; i < count; ++i)
        all[i] = static_cast<float>(std::sin(seed + 1.7 * static_cast<double>(i)) + 0.2);
    return all;
}

trace::TraceTensor tensor(const std::string& name, const std::vector<Index>& shape, const std::vector<float>& values) {
    return {name, "F32", shape, Tensor(unnamed(shape), values)};
}

// A block of a model of one's own, whose names tell nothing: a norm, a query of one head turned by its position, an
// MLP.
trace::Trace own(bool centred, double theta, bool interleaved, const std::string& function, double turn = 1.0) {
    constexpr std::size_t kWidth = 8, kRows = 3, kHidden = 12;
    const std::vector<float> x = numbers(kRows * kWidth, 1.0), gain = numbers(kWidth, 2.0),
                             q = numbers(kRows * kWidth, 3.0), a = numbers(kRows * kHidden, 4.0),
                             b = numbers(kRows * kHidden, 5.0);
    std::vector<float> normed(x.size()), turned(q.size()), post(a.size());
    for (std::size_t row = 0; row < kRows; ++row) {
        double mean = 0.0, square = 0.0;
        for (std::size_t i = 0; i < kWidth; ++i)
            mean += centred ? static_cast<double>(x[row * kWidth + i]) / kWidth : 0.0;
        for (std::size_t i = 0; i < kWidth; ++i)
            square += std::pow(static_cast<double>(x[row * kWidth + i]) - mean, 2.0) / kWidth;
        for (std::size_t i = 0; i < kWidth; ++i)
            normed[row * kWidth + i] =
                static_cast<float>((static_cast<double>(x[row * kWidth + i]) - mean) / std::sqrt(square + 1e-6)) *
                gain[i];
        for (std::size_t i = 0; i < kWidth / 2; ++i) {
            const std::size_t first = row * kWidth + (interleaved ? 2 * i : i),
                              second = row * kWidth + (interleaved ? 2 * i + 1 : i + kWidth / 2);
            const double angle =
                turn * static_cast<double>(row) * std::pow(theta, -2.0 * static_cast<double>(i) / kWidth);
            turned[first] = static_cast<float>(static_cast<double>(q[first]) * std::cos(angle) -
                                               static_cast<double>(q[second]) * std::sin(angle));
            turned[second] = static_cast<float>(static_cast<double>(q[first]) * std::sin(angle) +
                                                static_cast<double>(q[second]) * std::cos(angle));
        }
    }
    for (std::size_t i = 0; i < a.size(); ++i) {
        const double at = static_cast<double>(a[i]), sigmoid = 1.0 / (1.0 + std::exp(-at));
        post[i] = static_cast<float>(function == "relu" ? std::max(at, 0.0) : at * sigmoid * static_cast<double>(b[i]));
    }
    trace::Trace trace;
    trace.path = "own.safetensors";
    trace.parameters = {tensor("b.0.first.g", {8}, gain)};
    trace.tensors = {tensor("x", {1, 3, 8}, x),        tensor("y", {1, 3, 8}, normed),
                     tensor("q", {1, 3, 8}, q),        tensor("turned", {1, 1, 3, 8}, turned),
                     tensor("a", {1, 3, 12}, a),       tensor("b", {1, 3, 12}, b),
                     tensor("post", {1, 3, 12}, post), tensor("out", {1, 3, 8}, numbers(24, 6.0))};
    trace.calls = {{"b.0.first", "b.0.first", "Mine", "", {{"x", "x"}}, {{"", "y"}}},
                   {"b.0.to", "b.0.to", "Linear", "", {{"input", "y"}}, {{"", "q"}}},
                   {"b.0/matmul", "b.0", "", "matmul", {{"input", "turned"}}, {}},
                   {"b.0.u", "b.0.u", "Linear", "", {{"input", "y"}}, {{"", "b"}}},
                   {"b.0.v", "b.0.v", "Linear", "", {{"input", "y"}}, {{"", "a"}}},
                   {"b.0.w", "b.0.w", "Linear", "", {{"input", "post"}}, {{"", "out"}}}};
    return trace;
}

}  // namespace

TEST_CASE("a recording's numbers say what its modules' names don't: the norm, the activation and RoPE") {
    const Overrides rms = hints_of_trace(own(false, 5000.0, false, "silu"));
    CHECK(said(rms, "norm") == "rmsnorm");
    CHECK(said(rms, "activation") == "silu");
    CHECK(said(rms, "positional_encoding") == "rope");
    CHECK(said(rms, "rope_theta") == "5000");
    CHECK(said(rms, "rope_interleaved") == "false");
    const Overrides layer = hints_of_trace(own(true, 10000.0, true, "relu"));
    CHECK(said(layer, "norm") == "layernorm");
    CHECK(said(layer, "activation") == "relu");
    CHECK(said(layer, "rope_theta") == "10000");
    CHECK(said(layer, "rope_interleaved") == "true");
    trace::Trace other = own(false, 5000.0, false, "silu");
    other.tensors[1] = tensor(other.tensors[1].name, {1, 3, 8}, numbers(24, 9.0));
    other.tensors[3] = tensor(other.tensors[3].name, {1, 1, 3, 8}, numbers(24, 10.0));
    other.tensors[6] = tensor(other.tensors[6].name, {1, 3, 12}, numbers(36, 11.0));
    const Overrides nothing = hints_of_trace(other);
    for (const char* key : {"norm", "activation", "positional_encoding", "rope_theta"})
        CHECK(said(nothing, key).empty());
    // One more block, whose query isn't turned: no answer fits both.
    trace::Trace mixed = own(false, 5000.0, false, "silu");
    mixed.tensors.push_back(tensor("plain", {1, 1, 3, 8}, numbers(24, 3.0)));
    mixed.calls.push_back({"b.1.to", "b.1.to", "Linear", "", {{"input", "y"}}, {{"", "q"}}});
    mixed.calls.push_back({"b.1/matmul", "b.1", "", "matmul", {{"input", "plain"}}, {}});
    CHECK(said(hints_of_trace(mixed), "positional_encoding").empty());
}

TEST_CASE("a recording's RoPE may turn the other way, or positions that are divided by a number") {
    const Overrides back = hints_of_trace(own(false, 5000.0, false, "silu", -1.0));
    CHECK(said(back, "rope_theta") == "5000");
    CHECK(said(back, "rope_scaling").empty());
    const Overrides slow = hints_of_trace(own(false, 5000.0, true, "silu", 0.25));
    CHECK(said(slow, "rope_theta") == "5000");
    CHECK(said(slow, "rope_scaling") == "linear");
    CHECK(said(slow, "rope_factor") == "4");
}

TEST_CASE("norms of queries and keys are told from the stream's by their width, and may have another eps and kind") {
    trace::Trace trace = own(false, 5000.0, false, "silu");
    trace.parameters.push_back(tensor("b.0.ask.g", {4}, numbers(4, 12.0)));
    const std::vector<float> x = numbers(24, 13.0);
    std::vector<float> y(24);
    for (std::size_t row = 0; row < 6; ++row) {
        double mean = 0.0, square = 0.0;
        for (std::size_t i = 0; i < 4; ++i) mean += static_cast<double>(x[4 * row + i]) / 4.0;
        for (std::size_t i = 0; i < 4; ++i) square += std::pow(static_cast<double>(x[4 * row + i]) - mean, 2.0) / 4.0;
        for (std::size_t i = 0; i < 4; ++i)
            y[4 * row + i] =
                static_cast<float>((static_cast<double>(x[4 * row + i]) - mean) / std::sqrt(square + 1e-3)) *
                trace.parameters.back().values.data()[i];
    }
    trace.tensors.push_back(tensor("asked", {1, 2, 3, 4}, x));
    trace.tensors.push_back(tensor("ask", {1, 2, 3, 4}, y));
    trace.calls.push_back({"b.0.ask", "b.0.ask", "Mine", "", {{"x", "asked"}}, {{"", "ask"}}});
    const Overrides hints = hints_of_trace(trace);
    CHECK(said(hints, "norm") == "rmsnorm");
    CHECK(said(hints, "layer_norm_eps") == "1e-06");
    CHECK(said(hints, "qk_norm_centred") == "true");
    CHECK(said(hints, "qk_norm_eps") == "1e-03");
}

TEST_CASE("a layer's norms are numbered as its calls use them, whatever their names sort to") {
    trace::Trace trace;
    const auto call = [&](const std::string& module, const std::string& in, const std::string& out) {
        trace.calls.push_back({module, module, "Module", {}, {{"x", in}}, {{"", out}}});
    };
    call("l.n1", "stream", "a");
    call("l.q", "a", "b");
    call("l.nc", "stream2", "c");
    call("l.cross", "c", "d");
    call("l.n2", "stream3", "e");
    call("l.up", "e", "f");
    const std::string layer = "layers.0.";
    const names::Mapping by_names = {{"l.n1.weight", {{layer + "norm2.weight"}}},
                                     {"l.n2.weight", {{layer + "norm3.weight"}}},
                                     {"l.nc.weight", {{layer + "norm1.weight"}}},
                                     {"l.nc.bias", {{layer + "norm1.bias"}}},
                                     {"l.q.weight", {{layer + "self_attn.q_proj.weight"}}},
                                     {"l.cross.weight", {{layer + "cross_attn.q_proj.weight"}}},
                                     {"l.up.weight", {{layer + "up_proj.weight"}}}};
    const names::Mapping found = with_norms_by_calls(trace, by_names);
    CHECK(found.at("l.n1.weight").front().name == layer + "norm1.weight");
    CHECK(found.at("l.nc.weight").front().name == layer + "norm2.weight");
    CHECK(found.at("l.nc.bias").front().name == layer + "norm2.bias");
    CHECK(found.at("l.n2.weight").front().name == layer + "norm3.weight");
    CHECK(with_norms_by_calls(trace, found) == found);
}
