#pragma once

#include "engine/json_object.h"
#include "engine/model/tokenizer/regular_expression.h"
#include "engine/model/tokenizer/stretch.h"
#include "engine/model/tokenizer/text_pattern.h"

#include <functional>
#include <string_view>
#include <vector>

namespace decoderscope {

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
[[nodiscard]] Stretches cut_at(const Stretch& stretch, const std::vector<Span>& matches, AtMatches behaviour,
                               bool invert = false);

// The characters for which a property holds, as matches of one character each.
[[nodiscard]] std::vector<Span> characters_with(std::string_view text, const std::function<bool(char32_t)>& property);

// The step "Split": cuts at a pattern.
struct SplitAtPattern {
    TextPattern pattern;
    AtMatches behaviour = AtMatches::isolated;
    bool invert = false;

    [[nodiscard]] static SplitAtPattern read(JsonObject& json);
    [[nodiscard]] Stretches operator()(const Stretch& stretch) const {
        return cut_at(stretch, pattern.matches(stretch.text), behaviour, invert);
    }
};

}  // namespace decoderscope
