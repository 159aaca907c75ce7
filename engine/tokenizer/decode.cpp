#include "engine/tokenizer/decode.h"

#include "engine/tokenizer/normalize.h"
#include "engine/tokenizer/unicode.h"
#include "engine/tokenizer/vocabulary.h"

#include <string_view>

namespace decoderscope::tokenizer {

namespace {

template <class Step>
DecodedTokens each_shown(const Step& step, DecodedTokens tokens) {
    for (DecodedToken& token : tokens) token = step.shown(std::move(token));
    return tokens;
}

std::string with(const std::string& text, const std::string& wanted, const std::string& content) {
    return ReplaceText{TextPattern(wanted), content}.replaced(text);
}

std::size_t bytes_of(const DecodedTokens& tokens) {
    std::size_t bytes = 0;
    for (const DecodedToken& token : tokens) bytes += token.text.size();
    return bytes;
}

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

DecodedTokens DecodeBytes::operator()(DecodedTokens tokens) const {
    return DecodeFused()(each_shown(*this, std::move(tokens)));
}

DecodedToken DecodeBytes::shown(DecodedToken token) const {
    if (!token.literal) token.text = bytes_written_as(token.text).value_or(token.text);
    return token;
}

DecodedTokens DecodeReplaced::operator()(DecodedTokens tokens) const { return each_shown(*this, std::move(tokens)); }

DecodedToken DecodeReplaced::shown(DecodedToken token) const {
    token.text = replace.replaced(token.text);
    return token;
}

DecodedTokens DecodeByteTokens::operator()(DecodedTokens tokens) const { return each_shown(*this, std::move(tokens)); }

DecodedToken DecodeByteTokens::shown(DecodedToken token) const {
    if (const auto byte = byte_of_token(token.text)) token.text.assign(1, static_cast<char>(*byte));
    return token;
}

DecodedTokens DecodeFused::operator()(const DecodedTokens& tokens) const {
    DecodedToken all;
    for (const DecodedToken& token : tokens) all.text += token.text;
    return {all};
}

DecodeStripped DecodeStripped::read(JsonObject& json) {
    DecodeStripped step = {json.text("content"), static_cast<std::size_t>(json.index("start")),
                           static_cast<std::size_t>(json.index("stop"))};
    if (step.content.empty() || first_code_point(step.content).bytes != step.content.size())
        json.fail("content", message("expected one character"));
    return step;
}

DecodedTokens DecodeStripped::operator()(DecodedTokens tokens) const {
    for (DecodedToken& token : tokens) {
        std::string_view text = token.text;
        for (std::size_t i = 0; i < start && text.starts_with(content); ++i) text.remove_prefix(content.size());
        for (std::size_t i = 0; i < stop && text.ends_with(content); ++i) text.remove_suffix(content.size());
        token.text = std::string(text);
    }
    return tokens;
}

DecodedTokens DecodeMetaspace::operator()(DecodedTokens tokens) const {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        const bool without = i == 0 && metaspace.prefix != Metaspace::Prefix::never;
        tokens[i].text = with(tokens[i].text, metaspace.replacement, without ? "" : " ");
    }
    return tokens;
}

DecodedToken DecodeMetaspace::shown(DecodedToken token) const {
    token.text = with(token.text, metaspace.replacement, " ");
    return token;
}

TokenDecoder TokenDecoder::read(const nlohmann::json& json, const std::string& where) {
    if (json.is_null()) return TokenDecoder(std::nullopt);
    return TokenDecoder(read_steps<DecodeStep>(json, where, "decoders", read_decode_step));
}

std::string TokenDecoder::text_of(DecodedTokens tokens) const {
    const Growth growth(bytes_of(tokens));
    if (steps_)
        for (const DecodeStep& step : *steps_) {
            tokens = std::visit([&](const auto& one) { return one(std::move(tokens)); }, step);
            growth.check(bytes_of(tokens));
        }
    std::string text;
    for (const DecodedToken& token : tokens) {
        if (!steps_ && &token != tokens.data()) text += ' ';
        text += token.text;
    }
    return text;
}

std::string TokenDecoder::shown(DecodedToken token) const {
    const Growth growth(token.text.size());
    if (steps_)
        for (const DecodeStep& step : *steps_) {
            token = std::visit([&](const auto& one) { return one.shown(std::move(token)); }, step);
            growth.check(token.text.size());
        }
    return token.text;
}

}  // namespace decoderscope::tokenizer
