#pragma once

#include "app/core/run/labels.h"
#include "app/core/run/scenario.h"
#include "engine/graph/edit.h"

#include <vector>

namespace decoderscope::core::sweep {

// A token of the input, and another one that is put in its place.
struct ReplacedToken {
    bool in_source = false;  // of the encoder's text
    Index batch = 0, position = 0, before = 0, after = 0;
};

// Whether a token is one that a text is made of, rather than a mark of its beginning, its end or padding.
[[nodiscard]] bool is_ordinary(const tokenizer::Tokenizer& tokenizer, Index token);

// Every token of a sequence that isn't padding, with up to `each` ordinary ones in its place that are spread over the
// vocabulary; position by position. None if the model reads no tokens of this sequence.
[[nodiscard]] std::vector<ReplacedToken> replaced_tokens(const Scenario& scenario, const Run& run,
                                                         TokenSequence sequence, Index each);

[[nodiscard]] SetCell edit_of(const ReplacedToken& replaced);

}  // namespace decoderscope::core::sweep
