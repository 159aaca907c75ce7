#pragma once

#include "engine/model/config.h"

#include <string>
#include <string_view>
#include <vector>

namespace decoderscope::load::families {

// What a config.json says of a model: the contract's configuration and, for a Hugging Face family, what it implies
// about the file's tensors.
struct ModelFamily {
    std::string model_type;  // "gemma2"; empty for the contract's own configuration
    std::string config_json;
    Overrides names;                    // answers to the questions of names (names/recognise_names.h)
    std::vector<std::string> unbiased;  // parts without a bias although others have one: "q_proj", "lm_head", "norm1"
    bool in_out = false;                // matrices are Conv1D's, [in, out], not Linear's
    bool makes_positions = false;     // a table of positions that isn't stored is Marian's: all sines, then all cosines
    std::vector<std::string> unused;  // endings of tensors that its files may have and that nothing reads
    std::vector<std::string> unused_beginnings;  // of the names of tensors that belong to what isn't read: pictures
    std::vector<Question> questions;             // what it leaves open; the proposal is taken
};

// Reads a config.json: a Hugging Face family's as Hugging Face writes it, or the contract's own, returned as it is.
// Throws Error if the text is not JSON, if the family is not supported, and one naming the key if it asks for something
// that isn't computed or if the family isn't known to have it: it may change the numbers.
[[nodiscard]] ModelFamily read_family(std::string_view config_json);

// Every model_type that is read, in alphabetical order.
[[nodiscard]] std::vector<std::string_view> family_names();

}  // namespace decoderscope::load::families
