#pragma once

#include "app/core/session/scenario.h"
#include "app/core/work/session_file.h"
#include "engine/message.h"

#include <string>
#include <vector>

// What a run reads, and how a session's file says it.
namespace decoderscope {

// In as few words as read back to the same numbers: a text where the tokenizer makes the same tokens of it, else ids;
// vectors by where they come from.
[[nodiscard]] SavedInput saved_input(const Scenario& scenario);

// Read back. What comes from a file that is not as it was gets a remark. Throws Error naming the key.
struct RestoredInput {
    Inputs inputs;
    std::string inputs_path;  // the file that vectors come from; empty: none
    std::vector<Sentence> remarks;
};
[[nodiscard]] RestoredInput restored_input(const SavedInput& saved, const Model& model, const Config& config);

}  // namespace decoderscope
