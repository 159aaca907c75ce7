#pragma once

#include "engine/base/json_object.h"
#include "engine/tokenizer/regular_expression.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace decoderscope::tokenizer {

// A part of a text on its way through a tokenizer.
struct TextSpan {
    std::string text;
    // It begins with the first character that was given: some tokenizers put a space before it, but not elsewhere.
    bool begins_text = false;
};

using TextSpans = std::vector<TextSpan>;

[[noreturn]] inline void unknown_type(const JsonObject& json, const std::string& type) {
    json.fail("type", message("\"{type}\" is unknown here", {{"type", type}}));
}

// The steps of a part of tokenizer.json: none (null), one, or those of a Sequence, whose list has a name of its own.
// `read` makes a step of a type and an object. Throws Error naming the key; unknown keys are errors.
template <class Step, class Read>
std::vector<Step> read_steps(const nlohmann::json& json, const std::string& where, const char* list, Read read) {
    if (json.is_null()) return {};
    JsonObject object(json, where + ".");
    const std::string type = object.text("type");
    std::vector<Step> steps;
    if (type != "Sequence") {  // not a message: a type
        steps.push_back(read(type, object));
        object.finish();
        return steps;
    }
    const nlohmann::json& members = object.list(list);
    object.finish();
    for (std::size_t i = 0; i < members.size(); ++i)
        for (Step& step : read_steps<Step>(members[i], where + "." + list + "[" + std::to_string(i) + "]", list, read))
            steps.push_back(std::move(step));
    constexpr std::size_t kMostSteps = 100;
    if (steps.size() > kMostSteps)
        object.fail(list,
                    message("{count} steps, expected at most {most}", {{"count", steps.size()}, {"most", kMostSteps}}));
    return steps;
}

// What a tokenizer may make of a text: a few steps that each double it would have no end. Throw Error if it is more.
class Growth {
public:
    explicit Growth(std::size_t bytes) : most_(kMostTimes * bytes + kAlways) {}
    void check(std::size_t bytes) const;

private:
    static constexpr std::size_t kMostTimes = 32, kAlways = 65'536;
    std::size_t most_;
};
// Appends to the text that one step makes.
void append(std::string& text, std::string_view more);

// Unicode's normalisation forms NFC, NFD, NFKC and NFKD: one way to write each accented letter, and, with K, each
// ligature, width or superscript.
struct UnicodeForm {
    bool composed = true, compatible = false;

    // "NFC"; nothing if the name is none of the four.
    [[nodiscard]] static std::optional<UnicodeForm> named(std::string_view name);
    void operator()(TextSpan& stretch) const;
};

// SentencePiece's table of replacements (precompiled_charsmap), as T5's tokenizer has it: a trie in an array of 32-bit
// units, whose leaves point into a list of texts that end with a zero byte. It is applied as Hugging Face does: to a
// whole grapheme of up to five bytes, of which the shortest beginning that the table has stands for all, otherwise to
// each character.
class PrecompiledMap {
public:
    // From Base64. Throws Error naming the key.
    [[nodiscard]] static PrecompiledMap read(JsonObject& json);
    // From the table's bytes. Throws Error if they are none.
    explicit PrecompiledMap(std::string_view table);

    void operator()(TextSpan& stretch) const;

private:
    [[nodiscard]] std::optional<std::string_view> replacement(std::string_view part) const;
    [[nodiscard]] std::uint32_t unit(std::size_t at) const;

    struct Table {
        std::vector<std::uint32_t> units;
        std::string texts;
    };
    std::shared_ptr<const Table> table_;
};

// Writes the same text in place of everything that a pattern matches: "▁" for " ", or the other way round in a decoder.
struct ReplaceText {
    TextPattern pattern;
    std::string content;

    [[nodiscard]] static ReplaceText read(JsonObject& json);
    void operator()(TextSpan& stretch) const;
    [[nodiscard]] std::string replaced(std::string_view text) const;
};

// Puts a text before each stretch: Llama 2's "▁".
struct PrependText {
    std::string text;

    [[nodiscard]] static PrependText read(JsonObject& json);
    void operator()(TextSpan& stretch) const {
        std::string all = stretch.text.empty() ? std::string() : text;
        append(all, stretch.text);
        stretch.text = std::move(all);
    }
};

// Removes white space at the ends of a stretch.
struct StripSpaces {
    bool left = false, right = false;

    [[nodiscard]] static StripSpaces read(JsonObject& json);
    void operator()(TextSpan& stretch) const;
};

// The first part of a tokenizer: steps that rewrite a text before it is cut.
using NormalizerStep = std::variant<UnicodeForm, PrecompiledMap, ReplaceText, PrependText, StripSpaces>;
using Normalizer = std::vector<NormalizerStep>;

// tokenizer.json's "normalizer". Throws Error naming the key, also of a kind that is unknown here.
[[nodiscard]] Normalizer read_normalizer(const nlohmann::json& json, const std::string& where);

void normalize(const Normalizer& normalizer, TextSpan& stretch);

}  // namespace decoderscope::tokenizer
