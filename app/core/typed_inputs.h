#pragma once

#include "engine/model/model.h"

#include <string_view>

namespace decoderscope {

// Inputs that a person typed, in place of a file. Each takes the place of one tensor of `inputs`; masks that were made
// for another length are dropped, and what belongs to the other sequence is kept, cut to as many batch rows where there
// are more. Whether the result fits the model is checked when it is run.

// Token ids: "1 2 3"; ';' or a line break ends a row of the batch. Shorter rows are padded with id 0, and masked so.
// Throws Error naming the word that is no id.
[[nodiscard]] Inputs inputs_from_tokens(Inputs inputs, std::string_view ids);

// The same for the encoder.
[[nodiscard]] Inputs inputs_from_encoder_tokens(Inputs inputs, std::string_view ids);

// Text, cut into tokens as the model's tokenizer does; a line is a row of the batch. Throws Error where the model has
// no tokenizer or can't write the text.
[[nodiscard]] Inputs inputs_from_text(const Model& model, Inputs inputs, std::string_view text);

}  // namespace decoderscope
