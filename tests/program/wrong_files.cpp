#include "tests/program/wrong_files.h"

#include "tests/engine/raw_safetensors.h"
#include "tests/engine/temporary_folder.h"

#include <cstdint>
#include <cstring>
#include <functional>
#include <numeric>

namespace decoderscope::testing {

std::string with(const std::string& json, const std::string& pointer, const std::string& value) {
    nlohmann::ordered_json whole = nlohmann::ordered_json::parse(json);
    const nlohmann::ordered_json::json_pointer at(pointer);
    if (value.empty())
        whole.at(at.parent_pointer()).erase(at.back());
    else
        whole[at] = nlohmann::ordered_json::parse(value);
    return whole.dump();
}

Parts Parts::of(const std::string& bytes) {
    std::uint64_t size = 0;
    std::memcpy(&size, bytes.data(), sizeof size);
    return {nlohmann::ordered_json::parse(bytes.substr(8, size)), bytes.substr(8 + size)};
}

void Parts::add(const std::string& name, const std::vector<int>& shape) {
    const std::size_t begin = data.size();
    data.append(4 * std::accumulate(shape.begin(), shape.end(), std::size_t{1},
                                    [](std::size_t size, int axis) { return size * static_cast<std::size_t>(axis); }),
                '\0');
    header[name] = {{"dtype", "F32"}, {"shape", shape}, {"data_offsets", {begin, data.size()}}};
}

std::string Parts::bytes() const { return with_header(header.dump(), data); }

std::string zeros(const std::vector<std::pair<std::string, std::vector<int>>>& tensors) {
    Parts parts;
    for (const auto& [name, shape] : tensors) parts.add(name, shape);
    return parts.bytes();
}

const char* const kConfig =
    R"({"model_type": "decoderscope", "d_model": 8, "nhead": 2, "num_layers": 1, "vocab_size": 20,
    "norm_first": true, "final_norm": true, "lm_head": true, "tie_word_embeddings": true, "bias": false})";

std::string small_weights() {
    return zeros({{"embed.weight", {20, 8}},
                  {"layers.0.self_attn.q_proj.weight", {8, 8}},
                  {"layers.0.self_attn.k_proj.weight", {8, 8}},
                  {"layers.0.self_attn.v_proj.weight", {8, 8}},
                  {"layers.0.self_attn.o_proj.weight", {8, 8}},
                  {"layers.0.up_proj.weight", {32, 8}},
                  {"layers.0.down_proj.weight", {8, 32}},
                  {"layers.0.norm1.weight", {8}},
                  {"layers.0.norm2.weight", {8}},
                  {"norm.weight", {8}}});
}

Files model_with(const Files& files) {
    Files folder = {{"model/config.json", kConfig}, {"model/model.safetensors", small_weights()}};
    for (const auto& [name, bytes] : files) folder["model/" + name] = bytes;
    return folder;
}

std::string foreign(const std::string& model, const std::string& file) {
    return read_bytes(DECODERSCOPE_TESTS_DIR "/reference/foreign/models/" + model + "/" + file);
}

std::string stored_model(const std::string& model) {
    return read_bytes(DECODERSCOPE_TESTS_DIR "/reference/stored/models/" + model + "/model.gguf");
}

Arguments trace_of(const std::string& model, const Arguments& more) {
    Arguments all = {"trace", model, "--out", "HERE/out.safetensors"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
}

Arguments trace(const Arguments& more) { return trace_of("HERE/model", more); }

}  // namespace decoderscope::testing
