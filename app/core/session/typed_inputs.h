#pragma once

#include "engine/model/model.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace decoderscope {

// Inputs that a person typed, in place of a file.

// What was typed for one sequence: a text for the model's tokenizer, or ids such as "1 2 3". A line is a row of the
// batch; between ids ';' ends one, too. "↵" stands for a line break within a row.
struct Typed {
    std::string text;
    bool ids = false;
    std::string name;  // what messages call it: "--text"; empty: nothing
    bool operator==(const Typed&) const = default;
};
struct TypedSequences {
    std::optional<Typed> target, source;
};

// Token ids, a batch row each, without padding.
using TokenRows = std::vector<std::vector<Index>>;

// Throws Error naming the word that is no id, what the tokenizer can't write, or the line that is empty. An empty last
// line is none, unless the tokenizer puts a token before every text.
[[nodiscard]] TokenRows rows_of(const Tokenizer& tokenizer, const Typed& typed);
// The rows of a batch [batch, length], without what its mask hides at their ends. The mask may be absent.
[[nodiscard]] TokenRows rows_of(const Tensor& tokens, const Tensor& mask);
// What to type for these rows: text where the tokenizer can cut one, else ids.
[[nodiscard]] Typed typed_of(const Tokenizer& tokenizer, const TokenRows& rows);

// What becomes of a sequence that was not typed where it has other batch rows than the one that was: more than that are
// cut, or the two are made even. Then nothing is lost: the one with fewer rows gets more that have only begun, and goes
// without them again when the other does. Without a beginning token they must be as many.
enum class OtherRows { cut, even };

// The inputs with these sequences in place of what was there, shorter rows padded and masked. Other masks of a sequence
// that was typed are dropped. Throws Error where a sequence can't be read, or where the two have not as many lines as
// they must. Whether the result fits the model is checked when it is run.
[[nodiscard]] Inputs typed_inputs(const Model& model, const Inputs& inputs, const TypedSequences& typed,
                                  OtherRows other = OtherRows::cut);

}  // namespace decoderscope
