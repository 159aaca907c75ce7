#pragma once

#include <nlohmann/json.hpp>

#include <map>
#include <string>
#include <vector>

// Command lines on files that are wrong, each for one reason, and the sentence that each must end with.
namespace decoderscope::testing {

struct Wrong {
    std::string says;  // the whole sentence; HERE stands for the case's folder, a name that is alone on the machine
    std::map<std::string, std::string>
        files;                           // what the folder holds: bytes by name; a name that ends in / is a folder
    std::vector<std::string> arguments;  // of the program; HERE again
    bool is_judged = false;              // it was read, and the verdict is against it
};

// By what reads them.
[[nodiscard]] std::vector<Wrong> wrong_tokenizers();
[[nodiscard]] std::vector<Wrong> wrong_texts();  // a text that a good tokenizer can't cut
[[nodiscard]] std::vector<Wrong> wrong_safetensors();
[[nodiscard]] std::vector<Wrong> wrong_models();
[[nodiscard]] std::vector<Wrong> wrong_gguf();    // files of llama.cpp
[[nodiscard]] std::vector<Wrong> wrong_stored();  // numbers in fewer bits
[[nodiscard]] std::vector<Wrong> wrong_names();   // of tensors
[[nodiscard]] std::vector<Wrong> wrong_examples();
[[nodiscard]] std::vector<Wrong> wrong_inputs();
[[nodiscard]] std::vector<Wrong> wrong_recordings();
[[nodiscard]] std::vector<Wrong> wrong_sessions();
[[nodiscard]] std::vector<Wrong> wrong_trees();  // too deep, or too large, for any reader

// ---- what they are made of

using Files = std::map<std::string, std::string>;
using Arguments = std::vector<std::string>;

inline Files operator+(Files files, const Files& more) {
    for (const auto& [name, bytes] : more) files[name] = bytes;
    return files;
}

// JSON with the value at a JSON pointer replaced; "" removes it.
[[nodiscard]] std::string with(const std::string& json, const std::string& pointer, const std::string& value);

// A safetensors file's parts, to be changed and put together again.
struct Parts {
    nlohmann::ordered_json header;
    std::string data;

    [[nodiscard]] static Parts of(const std::string& bytes);
    void add(const std::string& name, const std::vector<int>& shape);  // of zeros
    [[nodiscard]] std::string bytes() const;
};
// A file of tensors that are all 0, by their names and shapes.
[[nodiscard]] std::string zeros(const std::vector<std::pair<std::string, std::vector<int>>>& tensors);

// A decoder of one block, d_model 8, two heads, 20 tokens: its config.json and its model.safetensors.
extern const char* const kConfig;
[[nodiscard]] std::string small_weights();
// Its folder, "model/", with these files besides or in place of its own.
[[nodiscard]] Files model_with(const Files& files);
// One of tests/reference/foreign/models/: a file of it.
[[nodiscard]] std::string foreign(const std::string& model, const std::string& file);

// One of tests/reference/stored/models/: its GGUF file.
[[nodiscard]] std::string stored_model(const std::string& model);

// Runs that model; `more`: other options.
[[nodiscard]] Arguments trace(const Arguments& more = {});
[[nodiscard]] Arguments trace_of(const std::string& model, const Arguments& more = {});

}  // namespace decoderscope::testing
