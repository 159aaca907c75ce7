#pragma once

#include "engine/json_object.h"
#include "engine/model/tokenizer/metaspace.h"
#include "engine/model/tokenizer/replace_text.h"

#include <cstddef>
#include <string>
#include <vector>

namespace decoderscope {

// A token, or several, on the way back to a text.
struct DecodedToken {
    std::string text;
    bool literal = false;  // an added token: not written in the byte alphabet
};
using DecodedTokens = std::vector<DecodedToken>;

// Each step has two sides: what it makes of a row of tokens, and of a token that is shown by itself, as bytes.

// From the byte alphabet to bytes.
struct DecodeBytes {
    [[nodiscard]] DecodedTokens operator()(DecodedTokens tokens) const;
    [[nodiscard]] DecodedToken shown(DecodedToken token) const;
};

// "▁" back to " ", and the like.
struct DecodeReplaced {
    ReplaceText replace;

    [[nodiscard]] DecodedTokens operator()(DecodedTokens tokens) const;
    [[nodiscard]] DecodedToken shown(DecodedToken token) const;
};

// "<0x0A>" back to its byte.
struct DecodeByteTokens {
    [[nodiscard]] DecodedTokens operator()(DecodedTokens tokens) const;
    [[nodiscard]] DecodedToken shown(DecodedToken token) const;
};

// All tokens become one text.
struct DecodeFused {
    [[nodiscard]] DecodedTokens operator()(const DecodedTokens& tokens) const;
    [[nodiscard]] DecodedToken shown(DecodedToken token) const { return token; }
};

// Removes up to so many of a character at the ends: the space that was put before the text.
struct DecodeStripped {
    std::string content;  // one character
    std::size_t start = 0, stop = 0;

    [[nodiscard]] static DecodeStripped read(JsonObject& json);
    [[nodiscard]] DecodedTokens operator()(DecodedTokens tokens) const;
    [[nodiscard]] DecodedToken shown(DecodedToken token) const { return token; }
};

// "▁" back to " ", but none in the first token.
struct DecodeMetaspace {
    Metaspace metaspace;

    [[nodiscard]] DecodedTokens operator()(DecodedTokens tokens) const;
    [[nodiscard]] DecodedToken shown(DecodedToken token) const;
};

}  // namespace decoderscope
