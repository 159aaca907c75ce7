#pragma once

#include "engine/json_object.h"
#include "engine/model/tokenizer/decode_steps.h"

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace decoderscope {

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

}  // namespace decoderscope
