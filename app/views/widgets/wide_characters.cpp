#include "app/views/widgets/wide_characters.h"

#include "app/core/text/characters.h"
#include "app/views/widgets/imgui_compat.h"

#include <algorithm>

namespace decoderscope::views {

namespace {

constexpr char32_t kFirst = 0xFDD0;
constexpr char32_t kWide = 0x10000;  // the first character that needs carriers
constexpr std::size_t kGroup = 4;
constexpr std::size_t kBytes = 3;  // of a carrier in UTF-8

bool is_carrier(char32_t code) { return code >= kFirst && code < kFirst + 32; }

std::string utf8(char32_t code) {
    const auto part = [&](unsigned shift, unsigned lead) {
        return static_cast<char>(lead | ((code >> shift) & 0x3FU));
    };
    if (code < kWide) return {static_cast<char>(0xE0U | (code >> 12U)), part(6, 0x80), part(0, 0x80)};
    return {static_cast<char>(0xF0U | (code >> 18U)), part(12, 0x80), part(6, 0x80), part(0, 0x80)};
}

// A run of carriers: where it begins, and how many there are.
struct Group {
    std::size_t begin = 0, count = 0;
    char32_t code = 0;
};

// Cuts a text into plain characters and groups of up to four carriers.
template <class Plain, class Grouped>
void each(std::string_view text, Plain plain, Grouped grouped) {
    Group group;
    const auto finish = [&] {
        if (group.count > 0) grouped(group);
        group = {};
    };
    std::size_t at = 0;
    for (const core::Utf8Character& character : core::characters(text)) {
        if (is_carrier(character.code)) {
            if (group.count == 0) group.begin = at;
            group.code = (group.code << 5U) | (character.code - kFirst);
            if (++group.count == kGroup) finish();
        } else {
            finish();
            plain(character);
        }
        at += character.bytes.size();
    }
    finish();
}

}  // namespace

std::u32string carriers_of(char32_t code) {
    std::u32string carriers;
    for (unsigned shift = 20; shift > 0; shift -= 5) carriers += kFirst + (((code - kWide) >> (shift - 5)) & 31U);
    return carriers;
}

std::string to_carriers(std::string_view text) {
    std::string carried;
    for (const core::Utf8Character& character : core::characters(text)) {
        if (character.code < kWide || character.code <= compat::kLastCharacter)
            carried += character.code == 0xFFFD ? std::string("\uFFFD") : std::string(character.bytes);
        else
            for (const char32_t carrier : carriers_of(character.code)) carried += utf8(carrier);
    }
    return carried;
}

std::string from_carriers(std::string_view text) {
    std::string meant;
    each(
        text, [&](const core::Utf8Character& character) { meant += character.bytes; },
        [&](const Group& group) {
            if (group.count == kGroup) meant += utf8(group.code + kWide);
        });
    return meant;
}

std::vector<std::pair<std::size_t, std::size_t>> broken_carriers(std::string_view text) {
    std::vector<std::pair<std::size_t, std::size_t>> broken;
    each(
        text, [](const core::Utf8Character&) {},
        [&](const Group& group) {
            if (group.count < kGroup) broken.emplace_back(group.begin, group.count * kBytes);
        });
    std::reverse(broken.begin(), broken.end());
    return broken;
}

}  // namespace decoderscope::views
