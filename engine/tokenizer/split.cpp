#include "engine/tokenizer/split.h"

#include "engine/base/error.h"
#include "engine/tokenizer/normalize.h"
#include "engine/tokenizer/regular_expression.h"
#include "engine/tokenizer/unicode.h"
#include "engine/tokenizer/vocabulary.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>

namespace decoderscope::tokenizer {

namespace {

std::string written(std::string_view bytes) {
    std::string text;
    for (const char byte : bytes) text += written_byte(static_cast<unsigned char>(byte));
    return text;
}

struct Part {
    Span span;
    bool match = false;
};

// The whole text as matches and what lies between.
std::vector<Part> parts_of(std::string_view text, const std::vector<Span>& matches, bool invert) {
    std::vector<Part> parts;
    std::size_t at = 0;
    for (const Span& match : matches) {
        if (at < match.begin) parts.push_back({{at, match.begin}, invert});
        parts.push_back({match, !invert});
        at = match.end;
    }
    if (at < text.size()) parts.push_back({{at, text.size()}, invert});
    return parts;
}

std::vector<Span> merged_with_previous(const std::vector<Part>& parts) {
    std::vector<Span> spans;
    bool previous = false;
    for (const Part& part : parts) {
        if (part.match && !previous && !spans.empty())
            spans.back().end = part.span.end;
        else
            spans.push_back(part.span);
        previous = part.match;
    }
    return spans;
}

std::vector<Span> merged_with_next(const std::vector<Part>& parts) {
    std::vector<Span> spans;
    bool next = false;
    for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
        if (part->match && !next && !spans.empty())
            spans.back().begin = part->span.begin;
        else
            spans.push_back(part->span);
        next = part->match;
    }
    std::reverse(spans.begin(), spans.end());
    return spans;
}

std::vector<Span> contiguous(const std::vector<Part>& parts) {
    std::vector<Span> spans;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (i > 0 && parts[i].match == parts[i - 1].match)
            spans.back().end = parts[i].span.end;
        else
            spans.push_back(parts[i].span);
    }
    return spans;
}

std::vector<Span> cut(const std::vector<Part>& parts, AtMatches behaviour) {
    if (behaviour == AtMatches::merged_with_previous) return merged_with_previous(parts);
    if (behaviour == AtMatches::merged_with_next) return merged_with_next(parts);
    if (behaviour == AtMatches::contiguous) return contiguous(parts);
    std::vector<Span> spans;
    for (const Part& part : parts)
        if (!part.match || behaviour == AtMatches::isolated) spans.push_back(part.span);
    return spans;
}

bool is_sign(char32_t code) { return !is_white_space(code) && !is_word_character(code); }

PreTokenizerStep read_pre_tokenizer_step(const std::string& type, JsonObject& json) {
    if (type == "ByteLevel") return ByteLevel::read(json);
    if (type == "Split") return SplitAtPattern::read(json);
    if (type == "Metaspace") return Metaspace::read(json);
    if (type == "WhitespaceSplit") return SplitAtSpaces();
    if (type == "Whitespace") return SplitWordsAndSigns();
    if (type == "Digits") return SplitNumbers::read(json);
    if (type == "Punctuation") return SplitPunctuation::read(json);
    unknown_type(json, type);
}

}  // namespace

const RegularExpression& gpt2_pattern() {
    static const RegularExpression pattern(
        pcre2_pattern(R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)"));
    return pattern;
}

std::vector<std::string_view> gpt2_words(std::string_view text) {
    if (!is_utf8(text)) throw Error("the text is not UTF-8");
    std::vector<std::string_view> words;
    for (const Span& word : gpt2_pattern().matches(text))
        words.push_back(text.substr(word.begin, word.end - word.begin));
    return words;
}

ByteLevel ByteLevel::read(JsonObject& json) {
    static_cast<void>(json.find("trim_offsets"));  // changes no id
    return {json.boolean("add_prefix_space", true), json.boolean("use_regex", true)};
}

TextSpans ByteLevel::operator()(const TextSpan& stretch) const {
    const std::string text = (prefix_space && !stretch.text.starts_with(' ') ? " " : "") + stretch.text;
    if (!gpt2_words) return {{written(text), stretch.begins_text}};
    TextSpans words;
    for (const Span& word : gpt2_pattern().matches(text))
        words.push_back({written(std::string_view(text).substr(word.begin, word.end - word.begin)),
                         stretch.begins_text && word.begin == 0});
    return words;
}

AtMatches read_at_matches(JsonObject& json, const char* key) {
    static constexpr std::array<std::string_view, 5> words = {"Removed", "Isolated", "MergedWithPrevious",
                                                              "MergedWithNext", "Contiguous"};
    return static_cast<AtMatches>(json.word(key, words));
}

TextSpans cut_at(const TextSpan& stretch, const std::vector<Span>& matches, AtMatches behaviour, bool invert) {
    TextSpans stretches;
    for (const Span& span : cut(parts_of(stretch.text, matches, invert), behaviour))
        stretches.push_back(
            {stretch.text.substr(span.begin, span.end - span.begin), stretch.begins_text && span.begin == 0});
    return stretches;
}

std::vector<Span> characters_with(std::string_view text, const std::function<bool(char32_t)>& property) {
    std::vector<Span> spans;
    for (std::size_t at = 0; at < text.size();) {
        const CodePoint character = first_code_point(text.substr(at));
        if (property(character.code)) spans.push_back({at, at + character.bytes});
        at += character.bytes;
    }
    return spans;
}

SplitAtPattern SplitAtPattern::read(JsonObject& json) {
    return {TextPattern::read(json.object("pattern")), read_at_matches(json, "behavior"),
            json.boolean("invert", false)};
}

TextSpans SplitAtSpaces::operator()(const TextSpan& stretch) const {
    return cut_at(stretch, characters_with(stretch.text, is_white_space), AtMatches::removed);
}

TextSpans SplitWordsAndSigns::operator()(const TextSpan& stretch) const {
    TextSpans stretches;
    for (const TextSpan& word : SplitAtSpaces()(stretch))
        for (TextSpan& part : cut_at(word, characters_with(word.text, is_sign), AtMatches::contiguous))
            stretches.push_back(std::move(part));
    return stretches;
}

TextSpans SplitNumbers::operator()(const TextSpan& stretch) const {
    return cut_at(stretch, characters_with(stretch.text, is_numeric),
                  each_digit ? AtMatches::isolated : AtMatches::contiguous);
}

SplitPunctuation SplitPunctuation::read(JsonObject& json) {
    return {json.find("behavior") == nullptr ? AtMatches::isolated : read_at_matches(json, "behavior")};
}

TextSpans SplitPunctuation::operator()(const TextSpan& stretch) const {
    return cut_at(stretch, characters_with(stretch.text, is_punctuation), behaviour);
}

Metaspace Metaspace::read(JsonObject& json) {
    static constexpr std::array<std::string_view, 3> prefixes = {"always", "first", "never"};
    Metaspace step;
    step.replacement = json.text("replacement");
    if (step.replacement.empty() || first_code_point(step.replacement).bytes != step.replacement.size())
        json.fail("replacement", message("expected one character"));
    if (json.text("str_rep", step.replacement) != step.replacement)
        json.fail("str_rep", message("expected the same character as in \"replacement\""));
    if (json.find("prepend_scheme") != nullptr)
        step.prefix = static_cast<Prefix>(json.word("prepend_scheme", prefixes));
    // How older files say it. Without a scheme it means different things to different libraries.
    if (!json.boolean("add_prefix_space", true) && step.prefix != Prefix::never)
        json.fail("add_prefix_space", message("false, expected \"prepend_scheme\": \"never\" with it"));
    step.split = json.boolean("split", true);
    return step;
}

TextSpans Metaspace::operator()(const TextSpan& stretch) const {
    TextSpan marked = stretch;
    ReplaceText{TextPattern(std::string(" ")), replacement}(marked);
    const bool wanted = prefix == Prefix::always || (prefix == Prefix::first && stretch.begins_text);
    if (wanted && !marked.text.starts_with(replacement)) marked.text.insert(0, replacement);
    if (!split) return {std::move(marked)};
    return cut_at(marked, TextPattern(replacement).matches(marked.text), AtMatches::merged_with_next);
}

PreTokenizer read_pre_tokenizer(const nlohmann::json& json, const std::string& where) {
    return read_steps<PreTokenizerStep>(json, where, "pretokenizers", read_pre_tokenizer_step);
}

TextSpans pre_tokenized(const PreTokenizer& steps, TextSpan stretch) {
    const Growth growth(stretch.text.size());
    TextSpans stretches = {std::move(stretch)};
    for (const PreTokenizerStep& step : steps) {
        TextSpans next;
        std::size_t bytes = 0;
        for (const TextSpan& one : stretches) {
            TextSpans cut = std::visit([&](const auto& cutting) { return cutting(one); }, step);
            for (const TextSpan& part : cut) growth.check(bytes += part.text.size());
            std::move(cut.begin(), cut.end(), std::back_inserter(next));
        }
        stretches = std::move(next);
    }
    return stretches;
}

}  // namespace decoderscope::tokenizer
