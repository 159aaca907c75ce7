#pragma once

#include "app/core/session/scenario.h"
#include "app/core/work/session_file.h"
#include "engine/message.h"

#include <string>
#include <vector>

// A run's inputs, and their form in a session's file.
namespace decoderscope {

// The shortest form that reads back to the same numbers: a text if the tokenizer gives the same tokens for it, else
// ids; vectors by their source.
[[nodiscard]] SavedInput saved_input(const Scenario& scenario);

// Read back. Input from a file that has changed gets a remark. Throws Error naming the key.
struct RestoredInput {
    Inputs inputs;
    std::string inputs_path;  // the file that vectors come from; empty: none
    std::vector<Sentence> remarks;
};
[[nodiscard]] RestoredInput restored_input(const SavedInput& saved, const Model& model, const Config& config);

}  // namespace decoderscope
