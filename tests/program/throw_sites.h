#pragma once

#include <string>
#include <string_view>
#include <vector>

// Where the program's readers throw an Error, read from their sources.
namespace decoderscope::testing {

struct ThrowSite {
    std::string place;    // "engine/load/model.cpp:30"
    std::string message;  // as it is written: "look_at: this model has no step {step}"
};

// All of engine/load, tokenizer, files, trace and model, and of app/core/files.
[[nodiscard]] std::vector<ThrowSite> throw_sites();

// Whether a sentence, whatever it begins with, ends as this message does with its places filled in.
[[nodiscard]] bool says(std::string_view sentence, std::string_view message);

}  // namespace decoderscope::testing
