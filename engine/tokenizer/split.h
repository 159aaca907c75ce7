#pragma once

#include "engine/base/json_object.h"
#include "engine/tokenizer/normalize.h"
#include "engine/tokenizer/regular_expression.h"

#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace decoderscope::tokenizer {

// GPT-2's regular expression: a word is a contraction's ending; letters, digits or other characters with at most one
// space before them; or a run of remaining spaces. Every character is in one match.
//
// Letters and digits follow the Unicode version of this machine's PCRE2 (14 in Debian 12). Spaces are Unicode's
// White_Space, as in Python's and in Hugging Face's pattern.
[[nodiscard]] const RegularExpression& gpt2_pattern();

// A text cut into these words; joined, they give the text again. Throws Error if the text is not UTF-8.
[[nodiscard]] std::vector<std::string_view> gpt2_words(std::string_view text);

// The step "ByteLevel": cuts a text into GPT-2's words, unless an earlier step has cut it, and writes their bytes in
// the byte alphabet, in which the vocabulary is written.
struct ByteLevel {
    bool prefix_space = false;
    bool gpt2_words = true;

    [[nodiscard]] static ByteLevel read(JsonObject& json);
    [[nodiscard]] TextSpans operator()(const TextSpan& stretch) const;
};

// What becomes of the matches that a text is cut at.
enum class AtMatches {
    removed,               // they are left out
    isolated,              // each is a stretch of its own
    merged_with_previous,  // each ends the stretch before it
    merged_with_next,      // each begins the stretch behind it
    contiguous             // neighbouring ones are one stretch
};

// "MergedWithNext". Throws Error naming the key.
[[nodiscard]] AtMatches read_at_matches(JsonObject& json, const char* key);

// Cuts a stretch at matches, which are in order and don't overlap. With `invert` what lies between is the matches.
[[nodiscard]] TextSpans cut_at(const TextSpan& stretch, const std::vector<Span>& matches, AtMatches behaviour,
                               bool invert = false);

// The characters for which a property holds, as matches of one character each.
[[nodiscard]] std::vector<Span> characters_with(std::string_view text, const std::function<bool(char32_t)>& property);

// The step "Split": cuts at a pattern.
struct SplitAtPattern {
    TextPattern pattern;
    AtMatches behaviour = AtMatches::isolated;
    bool invert = false;

    [[nodiscard]] static SplitAtPattern read(JsonObject& json);
    [[nodiscard]] TextSpans operator()(const TextSpan& stretch) const {
        return cut_at(stretch, pattern.matches(stretch.text), behaviour, invert);
    }
};

// Steps that cut by what a character is.

// "WhitespaceSplit": what lies between white space.
struct SplitAtSpaces {
    [[nodiscard]] TextSpans operator()(const TextSpan& stretch) const;
};

// "Whitespace": words, and runs of signs; white space is left out.
struct SplitWordsAndSigns {
    [[nodiscard]] TextSpans operator()(const TextSpan& stretch) const;
};

// "Digits": numbers apart from the rest, whole or digit by digit.
struct SplitNumbers {
    bool each_digit = false;

    [[nodiscard]] static SplitNumbers read(JsonObject& json) { return {json.boolean("individual_digits", false)}; }
    [[nodiscard]] TextSpans operator()(const TextSpan& stretch) const;
};

// "Punctuation".
struct SplitPunctuation {
    AtMatches behaviour = AtMatches::isolated;

    [[nodiscard]] static SplitPunctuation read(JsonObject& json);
    [[nodiscard]] TextSpans operator()(const TextSpan& stretch) const;
};

// SentencePiece's way to write spaces: each is a visible character, "▁", and one comes before a text.
struct Metaspace {
    enum class Prefix { always, first, never };  // before each stretch, before the first, before none

    std::string replacement;  // one character
    Prefix prefix = Prefix::always;
    bool split = true;  // before each replacement

    // The same object describes the pre-tokenizer and the decoder.
    [[nodiscard]] static Metaspace read(JsonObject& json);
    [[nodiscard]] TextSpans operator()(const TextSpan& stretch) const;
};

// The second part of a tokenizer: steps that cut a text into stretches. No token crosses a cut.
using PreTokenizerStep = std::variant<ByteLevel, SplitAtPattern, Metaspace, SplitAtSpaces, SplitWordsAndSigns,
                                      SplitNumbers, SplitPunctuation>;
using PreTokenizer = std::vector<PreTokenizerStep>;

// tokenizer.json's "pre_tokenizer". Throws Error naming the key, also of a kind that is unknown here.
[[nodiscard]] PreTokenizer read_pre_tokenizer(const nlohmann::json& json, const std::string& where);

[[nodiscard]] TextSpans pre_tokenized(const PreTokenizer& steps, TextSpan stretch);

}  // namespace decoderscope::tokenizer
