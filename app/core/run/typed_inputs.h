#pragma once

#include "engine/chat/conversation.h"
#include "engine/load/model.h"

#include <optional>
#include <string>
#include <vector>

namespace decoderscope::core {

// Inputs typed by the user instead of read from a file.

// What was typed for one sequence: a text for the model's tokenizer, or ids such as "1 2 3". A line is a row of the
// batch; between ids, ';' also ends a row. Within a row "↵" stands for a line break, and "‖" begins another document,
// each of which is tokenized as it would be alone.
inline constexpr std::string_view kTypedLineBreak = "↵", kTypedDocument = "‖";
struct Typed {
    std::string text;
    bool ids = false;
    std::string name;  // what messages call it: "--text"; empty: nothing
    bool operator==(const Typed&) const = default;
};
struct TypedSequences {
    std::optional<Typed> target, source;
    std::optional<chat::Conversation> messages;  // make the target, and say what it is trained on
};

// Token ids, one list per batch row, without padding. In what was typed, kNextDocument stands between two documents of
// a row.
using TokenRows = std::vector<std::vector<Index>>;
inline constexpr Index kNextDocument = -1;

// Throws Error naming the word that is not an id, the text that the tokenizer can't encode, or the empty line or
// document. An empty last line or document is ignored, unless the tokenizer puts a token before every text.
[[nodiscard]] TokenRows rows_of(const tokenizer::Tokenizer& tokenizer, const Typed& typed);
// The rows of a batch [batch, length], without the masked positions at their ends. The mask may be absent.
[[nodiscard]] TokenRows rows_of(const Tensor& tokens, const Tensor& mask);
// As above, with the documents that `segments` tells apart; it may be absent.
[[nodiscard]] TokenRows rows_of(const Tensor& tokens, const Tensor& mask, const Tensor& segments);
// What to type for these rows: text if the tokenizer can encode text, otherwise ids.
[[nodiscard]] Typed typed_of(const tokenizer::Tokenizer& tokenizer, const TokenRows& rows);

// The rows as ids, one line each: "1 2 3".
[[nodiscard]] std::string ids_text(const TokenRows& rows);

// What to do when the sequence that was not typed has another number of batch rows than the typed one: cut its surplus
// rows, or make the two even. Even loses nothing: the sequence with fewer rows gets rows that hold only the beginning
// token, and loses them again when the other shrinks. Without a beginning token the numbers must match.
enum class OtherRows { cut, even };

// The inputs with these sequences replaced, shorter rows padded and masked. Other masks of a typed sequence are
// dropped. Throws Error if a sequence can't be read, or if the numbers of lines don't match as they must. Whether the
// result fits the model is checked when it is run.
[[nodiscard]] Inputs typed_inputs(const load::Model& model, const Inputs& inputs, const TypedSequences& typed,
                                  OtherRows other = OtherRows::cut);

}  // namespace decoderscope::core
