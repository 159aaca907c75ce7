#include "tests/program/wrong_files.h"

#include <utility>

namespace decoderscope::testing {

namespace {

Wrong config(std::string says, const std::string& json) {
    return {std::move(says), model_with({{"config.json", json}}), trace()};
}

// Other weights than those of the small model.
Wrong weights(std::string says, const Parts& parts) {
    return {std::move(says), model_with({{"model.safetensors", parts.bytes()}}), trace()};
}

// The small model in shards.
Wrong sharded(std::string says, const std::string& index) {
    Files files = model_with({{"model.safetensors.index.json", index},
                              {"a.safetensors", zeros({{"x", {2}}})},
                              {"b.safetensors", zeros({{"x", {2}}, {"y", {2}}})}});
    files.erase("model/model.safetensors");
    return {std::move(says), std::move(files), trace()};
}

// A model of a family, with another config.json.
Wrong gpt2(std::string says, const std::string& pointer, const std::string& value) {
    return config(std::move(says), with(foreign("gpt2", "config.json"), pointer, value));
}

// A tensor of a family's file under another shape of as many numbers, or one more.
Wrong family(std::string says, const std::string& name, const std::string& tensor, const std::vector<int>& shape) {
    Parts parts = Parts::of(foreign(name, "model.safetensors"));
    if (parts.header.contains(tensor))
        parts.header[tensor]["shape"] = shape;
    else
        parts.add(tensor, shape);
    return {std::move(says),
            model_with({{"config.json", foreign(name, "config.json")}, {"model.safetensors", parts.bytes()}}), trace()};
}

Wrong written_to(std::string says, const std::string& folder, const Files& files) {
    Files all = files;
    all["tokens.safetensors"] = zeros({});
    return {std::move(says),
            std::move(all),
            {"train", "reverse", "--task", "reverse", "--steps", "1", "--lr", "0.1", "--out", folder}};
}

}  // namespace

std::vector<Wrong> wrong_models() {
    const Parts small = Parts::of(small_weights());
    Parts more = small, wide = small, tied = small, odd = small;
    more.add("layers.0.cross_attn.q_proj.weight", {8, 8});
    wide.header["layers.0.up_proj.weight"]["shape"] = {16, 16};
    tied.add("lm_head.weight", {20, 8});
    tied.data.back() = '\x40';
    odd.add("layers.0.frobnicate.weight", {3, 5});
    return {
        {"HERE/nothing: no such model; expected a folder with config.json and model.safetensors, or one of words, "
         "reverse, "
         "reverse-post-norm, dates, induction, verses, experts, causal-lm-as-meant, causal-lm, simple-decoder, "
         "pre-ln-encdec, "
         "pre-ln-layer, post-ln-encdec",
         {},
         trace_of("HERE/nothing")},
        {"reverse: a bundled model, expected no mapping of its names",
         {{"map.json", R"({"a": "embed.weight"})"}},
         trace_of("reverse", {"--map", "HERE/map.json"})},
        config("HERE/model/config.json: expected a JSON object of configuration keys, found a list", "[]"),
        config("HERE/model/config.json: d_model: expected a positive integer up to 16777216, found 0",
               with(kConfig, "/d_model", "0")),
        {"HERE/model/config.json: nothing: unknown key", model_with({}), trace({"--set", "nothing=1"})},
        config("HERE/model/config.json: norm_placement can't be \"post\" when norm_first is true",
               with(kConfig, "/norm_placement", "\"post\"")),
        config("HERE/model/model.safetensors: layers.1.norm1.weight: missing; expected a tensor of shape [8]",
               with(kConfig, "/num_layers", "2")),
        weights(
            "HERE/model/model.safetensors: layers.0.cross_attn.q_proj.weight: this configuration has no such tensor",
            more),
        weights("HERE/model/model.safetensors: layers.0.up_proj.weight: shape [16, 16], expected [32, 8]", wide),
        weights("HERE/model/model.safetensors: lm_head.weight: differs from embed.weight, expected the same when "
                "tie_word_embeddings is on",
                tied),
        weights(
            "HERE/model/model.safetensors: layers.0.frobnicate.weight: not recognised; expected a mapping (--map FILE) "
            "that says what it is, {\"layers.0.frobnicate.weight\": \"layers.0.up_proj.weight\"}, or \"\" to compute "
            "without it",
            odd),
        {"HERE/model/model.safetensors: qkv_order: layers.0.self_attn.qkv_proj.weight: q's rows, then k's, then v's, "
         "or head by head; its name doesn't show the order; expected --set qkv_order=…",
         model_with({{"model.safetensors", zeros({{"embed.weight", {20, 8}},
                                                  {"layers.0.self_attn.qkv_proj.weight", {24, 8}},
                                                  {"layers.0.self_attn.o_proj.weight", {8, 8}},
                                                  {"layers.0.up_proj.weight", {32, 8}},
                                                  {"layers.0.down_proj.weight", {8, 32}},
                                                  {"layers.0.norm1.weight", {8}},
                                                  {"layers.0.norm2.weight", {8}},
                                                  {"norm.weight", {8}}})}}),
         trace()},
        config("HERE/model/config.json: model_type: \"nothing\", expected one of decoderscope, apertus, arcee, "
               "bart, bloom, cohere, cohere2, deepseek_v2, deepseek_v3, ernie4_5, exaone4, falcon, gemma, "
               "gemma2, gemma3, gemma3_text, glm4, glm4_moe, gpt2, gpt_neo, gpt_neox, gpt_oss, gptj, granite, "
               "granitemoe, helium, hunyuan_v1_dense, kimi_k2, llama, marian, ministral, ministral3, mistral, "
               "mixtral, mpt, nemotron, olmo, olmo2, olmo3, olmoe, opt, phi, phi3, phimoe, qwen2, qwen2_moe, "
               "qwen3, qwen3_moe, seed_oss, smollm3, stablelm, starcoder2, t5",
               R"({"model_type": "nothing"})"),
        gpt2("HERE/model/config.json: hidden_size: 17, but n_embd is 16; expected the same", "/hidden_size", "17"),
        gpt2("HERE/model/config.json: n_head: expected a positive integer, found \"two\"", "/n_head", R"("two")"),
        gpt2("HERE/model/config.json: n_head: expected a positive integer, found no such key", "/n_head", ""),
        gpt2("HERE/model/config.json: scale_attn_weights: false, expected true: scores are always divided by √d_head",
             "/scale_attn_weights", "false"),
        gpt2("HERE/model/config.json: window: 3, a key that gpt2 isn't known to have; expected none that may change "
             "the numbers",
             "/window", "3"),
        family("HERE/model/model.safetensors: transformer.h.0.mlp.c_fc.weight: shape [64, 16], expected [in, out] as "
               "in files of gpt2",
               "gpt2", "transformer.h.0.mlp.c_fc.weight", {64, 16}),
        family("HERE/model/model.safetensors: model.layers.0.mlp.up_proj.weight: shape [16, 24], expected [out, in] as "
               "in files of llama",
               "llama", "model.layers.0.mlp.up_proj.weight", {16, 24}),
        family("HERE/model/model.safetensors: model.layers.0.self_attn.q_proj.bias, as layers.0.self_attn.q_proj.bias: "
               "this configuration has no such tensor",
               "llama", "model.layers.0.self_attn.q_proj.bias", {16}),
        family("HERE/model/model.safetensors: transformer.h.0.attn.attention.q_proj.bias, as "
               "layers.0.self_attn.q_proj.bias: this configuration has no such tensor",
               "gpt-neo", "transformer.h.0.attn.attention.q_proj.bias", {16}),
        sharded("HERE/model/model.safetensors.index.json: weight_map: missing; expected an object of tensor names and "
                "their files",
                "{}"),
        sharded(
            "HERE/model/model.safetensors.index.json: weight_map: x: expected the name of a file in the same folder",
            R"({"weight_map": {"x": "../a.safetensors"}})"),
        sharded("HERE/model/b.safetensors: x: in another file, too; expected it once",
                R"({"weight_map": {"x": "a.safetensors", "y": "b.safetensors"}})"),
        sharded("HERE/model/model.safetensors.index.json: z: is not in a.safetensors, although the index says so",
                R"({"weight_map": {"z": "a.safetensors"}})"),
        written_to("HERE/no/model: its folder HERE/no is missing", "HERE/no/model", {}),
        written_to("HERE/file: is a file, expected a folder or nothing", "HERE/file", {{"file", "text"}}),
        written_to("HERE/folder: holds letter.txt, expected nothing or only a model's files, which are replaced",
                   "HERE/folder", {{"folder/letter.txt", "text"}}),
        written_to(": cannot be written: File name too long", "HERE/" + std::string(300, 'a'), {}),
    };
}

}  // namespace decoderscope::testing
