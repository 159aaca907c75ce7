#include "engine/model/tokenizer/token_decoder.h"

#include "engine/model/tokenizer/steps.h"

namespace decoderscope {

namespace {

DecodeStep read_decode_step(const std::string& type, JsonObject& json) {
    if (type == "ByteLevel") {
        for (const char* key : {"add_prefix_space", "trim_offsets", "use_regex"}) static_cast<void>(json.find(key));
        return DecodeBytes();
    }
    if (type == "Replace") return DecodeReplaced{ReplaceText::read(json)};
    if (type == "ByteFallback") return DecodeByteTokens();
    if (type == "Fuse") return DecodeFused();
    if (type == "Strip") return DecodeStripped::read(json);
    if (type == "Metaspace") return DecodeMetaspace{Metaspace::read(json)};
    unknown_type(json, type);
}

}  // namespace

TokenDecoder TokenDecoder::read(const nlohmann::json& json, const std::string& where) {
    if (json.is_null()) return TokenDecoder(std::nullopt);
    return TokenDecoder(read_steps<DecodeStep>(json, where, "decoders", read_decode_step));
}

std::string TokenDecoder::text_of(DecodedTokens tokens) const {
    if (steps_)
        for (const DecodeStep& step : *steps_)
            tokens = std::visit([&](const auto& one) { return one(std::move(tokens)); }, step);
    std::string text;
    for (const DecodedToken& token : tokens) {
        if (!steps_ && &token != tokens.data()) text += ' ';
        text += token.text;
    }
    return text;
}

std::string TokenDecoder::shown(DecodedToken token) const {
    if (steps_)
        for (const DecodeStep& step : *steps_)
            token = std::visit([&](const auto& one) { return one.shown(std::move(token)); }, step);
    return token.text;
}

}  // namespace decoderscope
