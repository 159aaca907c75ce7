#include "engine/tokenizer/normalize.h"

#include "engine/base/base64.h"
#include "engine/base/error.h"
#include "engine/base/limits.h"
#include "engine/tokenizer/regular_expression.h"
#include "engine/tokenizer/unicode.h"

#include <memory>
#include <string_view>

namespace decoderscope::tokenizer {

namespace {

// A grapheme of more bytes is never looked up as a whole.
constexpr std::size_t kLongestGrapheme = 5;

std::uint32_t little_endian(std::string_view bytes) {
    std::uint32_t number = 0;
    for (std::size_t i = 4; i-- > 0;) number = (number << 8U) | static_cast<unsigned char>(bytes[i]);
    return number;
}

// The parts of a unit, as in the library darts-clone.
bool has_leaf(std::uint32_t unit) { return ((unit >> 8U) & 1U) == 1U; }
std::uint32_t value(std::uint32_t unit) { return unit & 0x7FFFFFFFU; }
std::uint32_t label(std::uint32_t unit) { return unit & 0x800000FFU; }
std::uint32_t offset(std::uint32_t unit) { return (unit >> 10U) << ((unit & 0x200U) >> 6U); }

const RegularExpression& grapheme() {
    static const RegularExpression expression(R"(\X)");
    return expression;
}

std::string with(std::string_view text, const std::vector<Span>& matches, const std::string& content) {
    std::string written;
    std::size_t at = 0;
    for (const Span& match : matches) {
        append(written, text.substr(at, match.begin - at));
        append(written, content);
        at = match.end;
    }
    append(written, text.substr(at));
    return written;
}

NormalizerStep read_normalizer_step(const std::string& type, JsonObject& json) {
    if (const auto form = UnicodeForm::named(type)) return *form;
    if (type == "Precompiled") return PrecompiledMap::read(json);
    if (type == "Replace") return ReplaceText::read(json);
    if (type == "Prepend") return PrependText::read(json);
    if (type == "Strip") return StripSpaces::read(json);
    unknown_type(json, type);
}

}  // namespace

void Growth::check(std::size_t bytes) const {
    if (bytes > most_) throw Error("the tokenizer makes more than {most} bytes of the text", {{"most", most_}});
}

void append(std::string& text, std::string_view more) {
    constexpr std::size_t kMost = limits::kTextBytes;
    if (more.size() > kMost - text.size())
        throw Error("the tokenizer makes more than {most} bytes of the text", {{"most", kMost}});
    text += more;
}

std::optional<UnicodeForm> UnicodeForm::named(std::string_view name) {
    if (name == "NFC") return UnicodeForm{true, false};
    if (name == "NFD") return UnicodeForm{false, false};
    if (name == "NFKC") return UnicodeForm{true, true};
    if (name == "NFKD") return UnicodeForm{false, true};
    return std::nullopt;
}

void UnicodeForm::operator()(TextSpan& stretch) const { stretch.text = normalized(stretch.text, composed, compatible); }

PrecompiledMap PrecompiledMap::read(JsonObject& json) {
    const std::string text = json.text("precompiled_charsmap");
    return naming(json.where() + "precompiled_charsmap", [&] { return PrecompiledMap(read_base64(text)); });
}

PrecompiledMap::PrecompiledMap(std::string_view table) {
    const std::size_t bytes = table.size() < 4 ? 0 : little_endian(table);
    if (bytes == 0 || bytes % 4 != 0 || bytes > table.size() - 4)
        throw Error("expected the length of a table, the table, and texts");
    Table read;
    for (std::size_t at = 4; at < 4 + bytes; at += 4) read.units.push_back(little_endian(table.substr(at)));
    read.texts = table.substr(4 + bytes);
    table_ = std::make_shared<const Table>(std::move(read));
}

std::uint32_t PrecompiledMap::unit(std::size_t at) const {
    if (at >= table_->units.size()) throw Error("precompiled_charsmap points past its end");
    return table_->units[at];
}

std::optional<std::string_view> PrecompiledMap::replacement(std::string_view part) const {
    std::size_t node = offset(unit(0));
    for (const char c : part) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte == 0) return std::nullopt;
        node ^= byte;
        const std::uint32_t here = unit(node);
        if (label(here) != byte) return std::nullopt;
        node ^= offset(here);
        if (!has_leaf(here)) continue;
        const std::uint32_t at = value(unit(node));
        if (at > table_->texts.size()) throw Error("precompiled_charsmap points past its end");
        const std::string_view texts = std::string_view(table_->texts).substr(at);
        return texts.substr(0, texts.find('\0'));
    }
    return std::nullopt;
}

void PrecompiledMap::operator()(TextSpan& stretch) const {
    const std::string_view text = stretch.text;
    std::string written;
    for (const Span& span : grapheme().matches(text)) {
        std::string_view part = text.substr(span.begin, span.end - span.begin);
        if (const auto whole = part.size() <= kLongestGrapheme ? replacement(part) : std::nullopt) {
            append(written, *whole);
            continue;
        }
        while (!part.empty()) {
            const std::string_view character = part.substr(0, first_code_point(part).bytes);
            append(written, replacement(character).value_or(character));
            part.remove_prefix(character.size());
        }
    }
    stretch.text = std::move(written);
}

// A text that a step writes, once for each of its matches.
std::string short_text(JsonObject& json, const char* key) {
    std::string text = json.text(key);
    if (text.size() > limits::kNameBytes)
        json.fail(key, message("{count} bytes, expected at most {most}",
                               {{"count", text.size()}, {"most", limits::kNameBytes}}));
    return text;
}

ReplaceText ReplaceText::read(JsonObject& json) {
    return {TextPattern::read(json.object("pattern")), short_text(json, "content")};
}

PrependText PrependText::read(JsonObject& json) { return {short_text(json, "prepend")}; }

void ReplaceText::operator()(TextSpan& stretch) const {
    const std::vector<Span> matches = pattern.matches(stretch.text);
    if (content.empty() && !matches.empty() && matches.front().begin == 0) stretch.begins_text = false;
    stretch.text = with(stretch.text, matches, content);
}

std::string ReplaceText::replaced(std::string_view text) const { return with(text, pattern.matches(text), content); }

StripSpaces StripSpaces::read(JsonObject& json) { return {json.boolean("strip_left"), json.boolean("strip_right")}; }

void StripSpaces::operator()(TextSpan& stretch) const {
    std::string_view text = stretch.text;
    while (left && !text.empty() && is_white_space(first_code_point(text).code))
        text.remove_prefix(first_code_point(text).bytes);
    if (text.size() < stretch.text.size()) stretch.begins_text = false;
    while (right && !text.empty() &&
           is_white_space(first_code_point(text.substr(text.size() - bytes_of_last(text))).code))
        text.remove_suffix(bytes_of_last(text));
    stretch.text = std::string(text);
}

Normalizer read_normalizer(const nlohmann::json& json, const std::string& where) {
    return read_steps<NormalizerStep>(json, where, "normalizers", read_normalizer_step);
}

void normalize(const Normalizer& normalizer, TextSpan& stretch) {
    const Growth growth(stretch.text.size());
    for (const NormalizerStep& step : normalizer) {
        std::visit([&](const auto& one) { one(stretch); }, step);
        growth.check(stretch.text.size());
    }
}

}  // namespace decoderscope::tokenizer
