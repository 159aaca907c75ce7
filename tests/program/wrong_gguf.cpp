#include "tests/engine/raw_gguf.h"
#include "tests/engine/raw_safetensors.h"
#include "tests/program/wrong_files.h"

#include <cstdint>
#include <utility>

namespace decoderscope::testing {

namespace {

constexpr std::uint32_t kU32 = 4, kText = 8, kList = 9;

Wrong gguf(std::string says, const GgufBytes& file) {
    return {"HERE/model.gguf: " + std::move(says), {{"model.gguf", file.bytes()}}, trace_of("HERE/model.gguf")};
}

// A file of one tensor, "w".
GgufBytes one(const std::vector<std::uint64_t>& axes, std::uint32_t type, std::uint64_t at, std::size_t size) {
    return GgufBytes().head(1, 0).tensor("w", axes, type, at).data(size);
}

GgufBytes key(const std::string& name, std::uint32_t kind) { return GgufBytes().head(0, 1).text(name).number(kind); }

GgufBytes list(std::uint32_t kind, std::uint64_t count) { return key("k", kList).number(kind).number(count); }

// A file that says of itself what it is.
GgufBytes architecture(const std::string& name, std::uint64_t tensors) {
    return GgufBytes().head(tensors, 1).text("general.architecture").number(kText).text(name);
}

// The small Llama of the reference with some of its bytes replaced.
Wrong llama(std::string says, const std::vector<std::pair<std::string, std::string>>& replaced) {
    std::string bytes = stored_model("llama");
    for (const auto& [from, to] : replaced) bytes.replace(bytes.find(from), from.size(), to);
    return {"HERE/model.gguf: " + std::move(says), {{"model.gguf", bytes}}, trace_of("HERE/model.gguf")};
}

}  // namespace

std::vector<Wrong> wrong_gguf() {
    return {
        gguf("expected a GGUF file, which begins with these four letters", GgufBytes().number<std::uint64_t>(7)),
        gguf("version 1 of GGUF, expected 2 or 3", GgufBytes().head(1, 0, 1)),
        gguf("tensor 0: the file ends at byte 24, expected 8 more from byte 24 on", GgufBytes().head(1, 0)),
        gguf("65537 tensors, expected at most 65536", GgufBytes().head(65537, 0)),
        gguf("4097 keys of metadata, expected at most 4096", GgufBytes().head(0, 4097)),
        gguf("k: a value of type 13, expected a type from 0 to 12", key("k", 13)),
        gguf("k: a list of lists, expected a list of numbers or texts", list(kList, 1)),
        gguf("k: a list of 99 values, expected at most 0", list(kU32, 99)),
        gguf("metadata 0: a text of 1048576 bytes, expected at most 1024",
             GgufBytes().head(0, 1).number<std::uint64_t>(1 << 20)),
        gguf("metadata 1: duplicate or invalid key",
             GgufBytes().head(0, 2).text("k").number(kU32).number(kU32).text("k").number(kU32).number(kU32)),
        gguf("general.alignment: 24, expected a power of 2",
             key("general.alignment", kU32).number<std::uint32_t>(24).data(0)),
        gguf("w: type 7, expected one of F32, F16, BF16, Q4_0, Q8_0, Q4_K, Q5_K, Q6_K, MXFP4", one({32}, 7, 0, 128)),
        gguf("w: shape [33], expected rows of whole blocks of 32, as Q8_0 has them", one({33}, 8, 0, 128)),
        gguf("w: an axis of 0, expected a positive number, and at most 1099511627776 numbers in all",
             one({0}, 0, 0, 128)),
        gguf(
            "w: 128 bytes from byte 0 of the data on, expected them within its 127 bytes; the file is truncated or its "
            "header is wrong",
            one({32}, 0, 0, 127)),
        gguf("w: begins at byte 8 of the data, expected a multiple of 32", one({8}, 0, 8, 128)),
        gguf("tensor 1: duplicate or invalid name",
             GgufBytes().head(2, 0).tensor("w", {8}, 0, 0).tensor("w", {8}, 0, 32).data(64)),
        gguf("general.architecture: \"mamba\", expected one of gemma, gemma2, gemma3, gpt-oss, gpt2, llama, phi3, "
             "qwen2, "
             "qwen3, qwen3moe",
             architecture("mamba", 0).data(0)),
        gguf("token_embd.weight: missing, expected a matrix, [vocabulary, embedding]",
             architecture("llama", 0).data(0)),
        llama("blk.0.attn_x.weight: a tensor that llama isn't known to have; expected none that may change the numbers",
              {{"blk.0.attn_q.weight", "blk.0.attn_x.weight"}}),
        llama("tokenizer.ggml.tokens: expected a list of texts",
              {{"tokenizer.ggml.tokens", "tokenizer.ggml.tokenz"}, {"tokenizer.ggml.scores", "tokenizer.ggml.tokens"}}),
    };
}

std::vector<Wrong> wrong_stored() {
    const auto file = [](const std::string& name, const std::string& dtype, const std::string& shape,
                         std::size_t bytes) {
        return RawTensor{name, dtype, shape, std::string(bytes, '\0')};
    };
    // A model's file with a byte of a tensor's replaced by one that is no number's.
    const auto not_a_number = [](const std::string& model, const std::string& tensor, const std::string& bytes) {
        Parts parts = Parts::of(foreign(model, "model.safetensors"));
        const auto at = parts.header.at(tensor).at("data_offsets").at(0).get<std::size_t>();
        parts.data.replace(at, bytes.size(), bytes);
        return model_with({{"config.json", foreign(model, "config.json")}, {"model.safetensors", parts.bytes()}});
    };
    return {
        {"HERE/w.safetensors: a_scales: shape [1, 3], expected [1, 2] for a_blocks of [1, 2, 16]",
         {{"w.safetensors",
           raw_safetensors({file("a_blocks", "U8", "[1, 2, 16]", 32), file("a_scales", "U8", "[1, 3]", 3)})}},
         trace_of("HERE/w.safetensors")},
        {"HERE/w.safetensors: a_scales: dtype I8, expected U8 of numbers with scales",
         {{"w.safetensors",
           raw_safetensors({file("a_blocks", "U8", "[1, 2, 16]", 32), file("a_scales", "I8", "[1, 2]", 2)})}},
         trace_of("HERE/w.safetensors")},
        {"HERE/w.safetensors: a: dtype F8_E5M2, expected F8_E4M3 of numbers with scales",
         {{"w.safetensors",
           raw_safetensors({file("a", "F8_E5M2", "[2, 2]", 4), file("a_scale_inv", "F32", "[1, 1]", 4)})}},
         trace_of("HERE/w.safetensors")},
        {": scale 0 is NaN, expected a power of 2",
         not_a_number("gpt-oss-mxfp4", "model.layers.0.mlp.experts.down_proj_scales", "\xff"), trace()},
        {": the scale of block [0,0] is nan, expected a finite number",
         not_a_number("deepseek-v3-fp8", "model.layers.0.self_attn.o_proj.weight_scale_inv",
                      raw<std::uint32_t>({0x7fc00000})),
         trace()},
    };
}

}  // namespace decoderscope::testing
