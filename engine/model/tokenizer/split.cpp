#include "engine/model/tokenizer/split.h"

#include "engine/model/tokenizer/unicode.h"

#include <algorithm>
#include <array>

namespace decoderscope {

namespace {

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
    switch (behaviour) {
        case AtMatches::merged_with_previous:
            return merged_with_previous(parts);
        case AtMatches::merged_with_next:
            return merged_with_next(parts);
        case AtMatches::contiguous:
            return contiguous(parts);
        default:
            break;
    }
    std::vector<Span> spans;
    for (const Part& part : parts)
        if (!part.match || behaviour == AtMatches::isolated) spans.push_back(part.span);
    return spans;
}

}  // namespace

AtMatches read_at_matches(JsonObject& json, const char* key) {
    static constexpr std::array<std::string_view, 5> words = {"Removed", "Isolated", "MergedWithPrevious",
                                                              "MergedWithNext", "Contiguous"};
    return static_cast<AtMatches>(json.word(key, words));
}

Stretches cut_at(const Stretch& stretch, const std::vector<Span>& matches, AtMatches behaviour, bool invert) {
    Stretches stretches;
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

}  // namespace decoderscope
