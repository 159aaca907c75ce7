#pragma once

#include "engine/json_object.h"
#include "engine/model/tokenizer/regular_expression.h"
#include "engine/model/tokenizer/vocabulary_ids.h"
#include "engine/tensor.h"

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace decoderscope {

// A token that is found in a text as it stands, before anything is cut: "<|endoftext|>".
struct AddedToken {
    std::string content;
    Index id = 0;
    bool normalized = false;                         // found in the normalized text, not in the one that was given
    bool single_word = false;                        // only between characters that belong to no word
    bool left_spaces = false, right_spaces = false;  // takes white space beside it with it
    bool special = false;                            // marks something, and is no text
};

// tokenizer.json's "added_tokens"; `ids` are those of the model. Throws Error naming the token.
[[nodiscard]] std::vector<AddedToken> read_added_tokens(const nlohmann::json& list, const TokenIds& ids);

// Finds added tokens in a text: the first from each place on, and the longest of several that begin there.
class AddedTokens {
public:
    explicit AddedTokens(const std::vector<AddedToken>& tokens);

    // A part of a text; without an id it is ordinary text.
    struct Part {
        Span span;
        std::optional<Index> id;
    };
    // The text in parts, from left to right; none is empty.
    [[nodiscard]] std::vector<Part> parts_of(std::string_view text) const;

private:
    struct Found {
        std::size_t at = 0;
        const AddedToken* token = nullptr;
    };
    [[nodiscard]] Found next(std::string_view text, std::size_t from) const;

    std::map<std::string, AddedToken, std::less<>> tokens_;
    std::set<std::size_t, std::greater<>> lengths_;
};

}  // namespace decoderscope
