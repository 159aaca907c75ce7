#pragma once

#include "engine/base/error.h"
#include "engine/tensor/tensor.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace decoderscope::tokenizer {

// Ids that represent no text; absent if the vocabulary has none.
struct SpecialTokens {
    std::optional<Index> pad;        // pads the shorter rows of a batch; 0 if absent
    std::optional<Index> beginning;  // put before every text, not shown
    std::optional<Index> end;        // generation stops at it
    std::vector<Index> other_ends;   // and at these

    // Whether generation stops at this token.
    [[nodiscard]] bool ends_at(Index token) const {
        return token == end || std::ranges::find(other_ends, token) != other_ends.end();
    }
    bool operator==(const SpecialTokens&) const = default;
};

// A text has characters that no token stands for: all of them, each once.
class NotInVocabulary : public Error {
public:
    explicit NotInVocabulary(std::vector<std::string> characters);

    [[nodiscard]] const std::vector<std::string>& characters() const { return *characters_; }

private:
    std::shared_ptr<const std::vector<std::string>> characters_;  // a copy of an exception must not throw
};

// How a text becomes ids, and ids a text.
struct TextCoding {
    // Cuts a text into ids. Throws Error naming the part of the text that has no token.
    std::function<std::vector<Index>(std::string_view text)> cut;
    // Joins ids to a text.
    std::function<std::string(std::span<const Index> ids)> join;
    std::vector<Index> before, behind;         // stand around the ids of every text
    std::function<bool(Index id)> recognises;  // whether `cut` finds this token in a text; none if it is not set
};

// What token ids stand for and, if known, how a text is cut into them. A value; copies share the vocabulary.
class Tokenizer {
public:
    // Cuts a text into ids, without the beginning token. Throws Error naming the part of the text that has no token.
    using Cut = std::function<std::vector<Index>(std::string_view text)>;

    // No vocabulary: ids are shown as numbers.
    Tokenizer() = default;
    // One piece per id; empty means none. Without `cut` the pieces are only labels and encode() throws.
    Tokenizer(std::vector<std::string> pieces, SpecialTokens special, Cut cut);
    // As above, with a way of its own from ids to a text.
    Tokenizer(std::vector<std::string> pieces, SpecialTokens special, TextCoding coding);

    // The same vocabulary, for texts that begin with this token and have none behind them: what a decoder with an
    // encoder reads.
    [[nodiscard]] Tokenizer beginning_with(Index token) const;
    // The same vocabulary with other tokens that end a text; the first is the one that a text is given.
    [[nodiscard]] Tokenizer ending_with(std::vector<Index> tokens) const;

    // One more than the largest id that has a piece.
    [[nodiscard]] Index size() const { return vocabulary_ ? static_cast<Index>(vocabulary_->pieces.size()) : 0; }
    [[nodiscard]] bool has_piece(Index id) const { return id >= 0 && id < size() && !stored(id).empty(); }
    // The bytes that an id stands for, "<bos>" for a special one; the id in digits if it has no piece.
    [[nodiscard]] std::string piece(Index id) const;
    [[nodiscard]] SpecialTokens special() const { return vocabulary_ ? vocabulary_->special : SpecialTokens(); }

    [[nodiscard]] bool can_encode() const { return vocabulary_ && vocabulary_->coding.cut != nullptr; }
    // The ids of a text, with the tokens that stand around every text, if any. Throws Error if the text can't be
    // encoded.
    [[nodiscard]] std::vector<Index> encode(std::string_view text) const;
    // As above, without the tokens around it.
    [[nodiscard]] std::vector<Index> cut(std::string_view text) const;
    // Whether a text can have this token by its name: "<|im_end|>" is one token, and not ten characters.
    [[nodiscard]] bool recognises(Index id) const {
        return vocabulary_ && vocabulary_->coding.recognises && vocabulary_->coding.recognises(id);
    }
    // Whether it pads, begins or ends a text, stands around every one, or is written by its name: "<|im_end|>".
    [[nodiscard]] bool is_special(Index id) const;
    // The text of ids, without special tokens that represent no text: the inverse of encode().
    [[nodiscard]] std::string decode(std::span<const Index> ids) const;

private:
    [[nodiscard]] const std::string& stored(Index id) const {
        return vocabulary_->pieces[static_cast<std::size_t>(id)];
    }

    struct Vocabulary {
        std::vector<std::string> pieces;
        SpecialTokens special;
        TextCoding coding;
    };
    std::shared_ptr<const Vocabulary> vocabulary_;
};

}  // namespace decoderscope::tokenizer
