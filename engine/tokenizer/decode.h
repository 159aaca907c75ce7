#pragma once

#include "engine/base/json_object.h"
#include "engine/tokenizer/normalize.h"
#include "engine/tokenizer/split.h"

#include <cstddef>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace decoderscope::tokenizer {

// A token, or several, being decoded to a text.
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

// The last part of a tokenizer: from tokens back to a text.
using DecodeStep =
    std::variant<DecodeBytes, DecodeReplaced, DecodeByteTokens, DecodeFused, DecodeStripped, DecodeMetaspace>;

class TokenDecoder {
public:
    // Nothing if there is none: then tokens are words, with a space between them.
    explicit TokenDecoder(std::optional<std::vector<DecodeStep>> steps) : steps_(std::move(steps)) {}
    // tokenizer.json's "decoder". Throws Error naming the key, also of a kind that is unknown here.
    [[nodiscard]] static TokenDecoder read(const nlohmann::json& json, const std::string& where);

    [[nodiscard]] std::string text_of(DecodedTokens tokens) const;
    // The bytes of one token as they are shown.
    [[nodiscard]] std::string shown(DecodedToken token) const;

private:
    std::optional<std::vector<DecodeStep>> steps_;
};

}  // namespace decoderscope::tokenizer
