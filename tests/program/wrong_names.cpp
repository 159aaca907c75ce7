#include "tests/program/wrong_files.h"

#include <utility>

namespace decoderscope::testing {

namespace {

using Shapes = std::vector<std::pair<std::string, std::vector<int>>>;

// Tensors alone, without a configuration, and a mapping that says what they are.
Wrong mapped(std::string says, const Shapes& tensors, const std::string& map) {
    return {std::move(says),
            {{"w.safetensors", zeros(tensors)}, {"map.json", map}},
            trace_of("HERE/w.safetensors", {"--map", "HERE/map.json"})};
}

// As above, without a mapping.
Wrong recognised(std::string says, std::string bytes, const Arguments& more = {}) {
    return {std::move(says), {{"w.safetensors", std::move(bytes)}}, trace_of("HERE/w.safetensors", more)};
}

constexpr const char* kQ = "layers.0.self_attn.q_proj.weight";

}  // namespace

std::vector<Wrong> wrong_names() {
    Parts with_sinks = Parts::of(small_weights());
    with_sinks.add("layers.0.self_attn.sinks", {2});
    Parts shared_twice = Parts::of(foreign("bart", "model.safetensors"));
    for (const char* copy :
         {"lm_head.weight", "model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight"})
        shared_twice.add(copy, {23, 12});
    Parts with_positions = Parts::of(small_weights());
    with_positions.add("pos_embed.weight", {8, 8});
    const Shapes one = {{"a", {4, 4}}};
    const std::string q = kQ, k = "layers.0.self_attn.k_proj.weight", v = "layers.0.self_attn.v_proj.weight";
    const auto heads = [&](const std::vector<std::pair<std::string, std::string>>& names) {
        nlohmann::json map;
        for (const auto& [theirs, ours] : names) map[theirs] = ours;
        return map.dump();
    };
    Shapes many;
    for (int i = 0; i < 4097; ++i) many.push_back({"a" + std::to_string(i) + ".weight", {1}});
    return {
        recognised("HERE/w.safetensors: 4097 modules beside a0.weight, expected at most 4096", zeros(many)),
        mapped("HERE/map.json: expected an object such as {\"emb.weight\": \"embed.weight\"}", one, "[]"),
        mapped("HERE/map.json: a: 3, expected the name of a parameter, or a list of names", one, R"({"a": 3})"),
        mapped("HERE/map.json: a: upside down: expected one of transposed, by head, by group, head N, a matrix per "
               "head, for every head, rows from N, repeated, halves swapped, halves in turn, expert N, of each expert, "
               "of each expert, transposed, of each expert, in turn, of each expert, in turn, transposed",
               one, R"({"a": "embed.weight, upside down"})"),
        mapped("HERE/map.json: b: embed.weight is already a, expected another name", {{"a", {4, 4}}, {"b", {4, 4}}},
               R"({"a": "embed.weight", "b": "embed.weight"})"),
        mapped("HERE/w.safetensors: b: in the mapping, but not in the file", one,
               R"({"a": "embed.weight", "b": "norm.weight"})"),
        {"HERE/w.safetensors: pos_embed.weight, as ln_final.weight: this configuration has no such tensor; expected "
         "one "
         "of embed.weight, norm.weight",
         {{"w.safetensors", with_positions.bytes()}, {"map.json", R"({"pos_embed.weight": "ln_final.weight"})"}},
         trace_of("HERE/w.safetensors", {"--map", "HERE/map.json", "--set", "nhead=2"})},
        mapped("HERE/w.safetensors: a: 4 rows, expected more than 9", one,
               R"({"a": "layers.0.self_attn.q_proj.weight, rows from 9"})"),
        mapped("HERE/w.safetensors: a: shape [2, 2, 2], expected a matrix", {{"a", {2, 2, 2}}},
               R"({"a": "embed.weight, transposed"})"),
        mapped("HERE/w.safetensors: a: shape [7, 4], expected three projections of the same size, one after the other",
               {{"a", {7, 4}}}, R"({"a": "layers.0.self_attn.{q_proj,k_proj,v_proj}.weight"})"),
        mapped("HERE/w.safetensors: a: shape [5, 4], expected 2 parts of the same size", {{"a", {5, 4}}},
               R"({"a": "layers.0.{gate_proj,up_proj}.weight"})"),
        mapped("HERE/w.safetensors: a: shape [2, 2, 2], expected a matrix or a vector", {{"a", {2, 2, 2}}},
               R"({"a": "layers.0.{gate_proj,up_proj}.weight"})"),
        recognised(
            "HERE/w.safetensors: layers.0.self_attn.sinks: its shape doesn't tell how it is computed; expected a "
            "config.json beside it",
            with_sinks.bytes()),
        recognised(
            "HERE/w.safetensors: model.shared.weight: differs from model.decoder.embed_tokens.weight, expected the "
            "same numbers",
            shared_twice.bytes(), {"--set", "positions_from=2", "--set", "nhead=3"}),
        recognised("HERE/w.safetensors: pos_embed.weight: differs from the sinusoidal encoding, expected the same when "
                   "positional_encoding is sinusoidal",
                   with_positions.bytes(), {"--set", "nhead=2", "--set", "positional_encoding=sinusoidal"}),
        mapped("HERE/w.safetensors: a: shape [2, 2, 2], expected one expert's matrix", {{"a", {2, 2, 2}}},
               R"({"a": "layers.0.experts.gate_proj.weight, expert 0"})"),
        mapped("HERE/w.safetensors: a: expert 0 is missing, expected all experts from 0", one,
               R"({"a": "layers.0.experts.gate_proj.weight, expert 1"})"),
        mapped(
            "HERE/w.safetensors: b: shape [4, 5], expected [4, 4] as expert 0 has", {{"a", {4, 4}}, {"b", {4, 5}}},
            R"({"a": "layers.0.experts.gate_proj.weight, expert 0", "b": "layers.0.experts.gate_proj.weight, expert 1"})"),
        mapped("HERE/w.safetensors: a: shape [4, 4], expected one tensor of all experts", one,
               R"({"a": "layers.0.experts.{gate,up}_proj.weight, of each expert"})"),
        mapped("HERE/w.safetensors: a: 4 rows, expected more than the 0 columns of the output projection", one,
               R"({"a": "layers.0.self_attn.{k_up_proj,v_up_proj}.weight"})"),
        mapped("HERE/w.safetensors: a: a single number, expected a head's projection", {{"a", {}}},
               R"({"a": "layers.0.self_attn.q_proj.weight, head 0"})"),
        mapped("HERE/w.safetensors: b: head 1 is missing, expected all heads from 0", {{"a", {2, 4}}, {"b", {2, 4}}},
               heads({{"a", q + ", head 0"}, {"b", q + ", head 2"}})),
        mapped("HERE/w.safetensors: b: shape [3, 4], expected [2, 4] as head 0 has", {{"a", {2, 4}}, {"b", {3, 4}}},
               heads({{"a", q + ", head 0"}, {"b", q + ", head 1"}})),
        mapped("HERE/w.safetensors: layers.0.self_attn.v_proj.weight: head 1 is missing, expected all heads from 0",
               {{"a", {2, 4}}, {"b", {2, 4}}, {"c", {2, 4}}, {"d", {2, 4}}, {"e", {2, 4}}},
               heads({{"a", q + ", head 0"},
                      {"b", q + ", head 1"},
                      {"c", k + ", head 0"},
                      {"d", k + ", head 1"},
                      {"e", v + ", head 0"}})),
        mapped("HERE/w.safetensors: a: shape [4, 4], expected a matrix per head", one,
               R"({"a": "layers.0.self_attn.q_proj.weight, a matrix per head"})"),
        mapped("HERE/w.safetensors: a: shape [4, 4], expected one number", one, R"({"a": "norm.weight, repeated"})"),
        mapped("HERE/w.safetensors: a: shape [3, 4], expected one head's columns along both axes", {{"a", {3, 4}}},
               R"({"a": "layers.0.self_attn.q_proj.weight, for every head"})"),
        mapped("HERE/w.safetensors: its tensors are not a decoder's: expected a query projection such as "
               "layers.0.self_attn.q_proj.weight [d_model, d_model], found a and the like",
               one, R"({"a": ""})"),
        recognised(
            "HERE/config.json (missing; derived from w.safetensors instead): nhead: not shown by the tensors, which "
            "look like a decoder; expected --set nhead=N with N one of 1, 2, 4, 8; also assumed unless --set says "
            "otherwise: norm=layernorm, layer_norm_eps=1e-05, norm_first=false, causal=true, positional_encoding=none, "
            "attention_scale=0 (1/√d_head)",
            zeros({{"layers.0.self_attn.q_proj.weight", {8, 8}}, {"model.layers.0.self_attn.q_proj.weight", {8, 8}}})),
        recognised("HERE/w.safetensors: its tensors are not a decoder's: expected a query projection such as "
                   "layers.0.self_attn.q_proj.weight [d_model, d_model], found h.0.frobnicate.weight and the like",
                   zeros({{"wte.weight", {20, 8}}, {"h.0.frobnicate.weight", {8, 8}}})),
        recognised(
            "HERE/config.json (missing; derived from w.safetensors instead): nhead: not shown by the tensors, which "
            "look like a decoder; expected --set nhead=N with N one of 1, 2, 4, 8; also assumed unless --set says "
            "otherwise: norm=layernorm, layer_norm_eps=1e-05, norm_first=true, activation=relu, causal=true, "
            "lm_head=false, scale_embedding=false, positional_encoding=sinusoidal, attention_scale=0 (1/√d_head)",
            small_weights()),
        recognised("HERE/config.json (missing; derived from w.safetensors instead): nhead: not shown by the tensors, "
                   "which look like Hugging Face GPT-2; expected --set nhead=N with N one of 1, 2, 4, 8, 16; also "
                   "assumed unless --set says otherwise: layer_norm_eps=1e-05, norm_first=true, activation=gelu_tanh, "
                   "causal=true, lm_head=true, scale_embedding=false",
                   foreign("gpt2", "model.safetensors")),
        recognised("HERE/w.safetensors: no table of positions is stored, and BART or Marian makes one; expected the "
                   "config.json beside it",
                   foreign("marian", "model.safetensors"), {"--set", "positions_from=0"}),
        recognised(
            "HERE/config.json (missing; derived from w.safetensors instead): rotary_dim: not shown by the tensors, "
            "which look like Phi; expected --set rotary_dim=NUMBER: how many columns of a head RoPE rotates; 0: all",
            foreign("phi", "model.safetensors"), {"--set", "nhead=2"}),
        recognised("HERE/config.json (missing; derived from w.safetensors instead): qkv_order: not shown by the "
                   "tensors, which look like GPT-NeoX; expected --set qkv_order=… with one of one_by_one, by_head, "
                   "by_group: gpt_neox.layers.0.attention.query_key_value.weight: q's rows, then k's, then v's, or "
                   "head by head; its name doesn't show the order",
                   foreign("pythia", "model.safetensors"), {"--set", "nhead=2"}),
        recognised("HERE/config.json (missing; derived from w.safetensors instead): qkv_order: not shown by the "
                   "tensors, which look like Hugging Face Llama; expected --set qkv_order=… with one of one_by_one, "
                   "by_head, by_group: model.layers.0.self_attn.qkv_proj.weight: q's rows, then k's, then v's, or head "
                   "by head; its name doesn't show the order",
                   foreign("phi3", "model.safetensors"), {"--set", "nhead=2"}),
        recognised("HERE/config.json (missing; derived from w.safetensors instead): nhead: 7, expected a divisor of "
                   "the queries' 24 rows",
                   foreign("gemma", "model.safetensors"), {"--set", "nhead=7", "--set", "norm=rmsnorm_plus_one"}),
        recognised("HERE/config.json (missing; derived from w.safetensors instead): nhead: not shown by the tensors, "
                   "which look like a decoder; expected --set nhead=N with N one of 1, 2, 4, 8",
                   small_weights(),
                   {"--set", "norm=layernorm", "--set", "layer_norm_eps=1e-05", "--set", "norm_first=true", "--set",
                    "activation=relu", "--set", "causal=true", "--set", "lm_head=false", "--set",
                    "scale_embedding=false", "--set", "positional_encoding=sinusoidal", "--set", "attention_scale=0"}),
        mapped("HERE/w.safetensors: b: means the same as a, expected one of them", {{"a", {4, 4}}, {"b", {2, 4}}},
               heads({{"a", q}, {"b", q + ", head 0"}})),
    };
}

}  // namespace decoderscope::testing
