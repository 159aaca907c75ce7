#pragma once

#include "app/core/run/scenario.h"
#include "engine/base/message.h"
#include "engine/graph/plan.h"

#include <string>
#include <string_view>
#include <vector>

// An attention's mask as other programs have it: the same word means that a key is kept in one of them, and that it is
// hidden in the next.
namespace decoderscope::core::masks {

struct MaskInWords {
    std::string api;                // "torch.nn.MultiheadAttention"
    std::string kept, hidden;       // what a cell holds there: "False", "True"; empty if it takes no mask
    std::vector<std::string> code;  // makes this mask, and hands it over
    Sentence empty_row;             // what becomes of a row that sees no key
    Sentence caution;               // empty if there is nothing to mind
    Sentence unsaid;                // which masks of the attention it can't say; empty if it says all
    std::string source;             // its documentation
};

// In the words of each API (assets/tables/mask_words.json). `attention` has a mask. The code's names: B, H, L, S for
// the numbers of rows, heads, queries and keys; padding [batch, key], 1 = a token; documents [batch, position]; drawn
// and painted [batch, head, query, key], 1 = kept, as the inputs have custom_mask and as a trace has the mask.
[[nodiscard]] std::vector<MaskInWords> in_other_words(const Scenario& scenario, const Plan& plan,
                                                      std::string_view attention);

}  // namespace decoderscope::core::masks
