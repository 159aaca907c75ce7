#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// How what is typed finds an action, a step, a model.
namespace decoderscope::core {

// What can be found by its name.
struct Findable {
    std::string_view name;
    std::string_view english = {};  // the name in English, which finds it, too; empty: there is no other
    std::string_view words = {};    // some of which find it, too
    bool first = true;              // listed before anything is typed
};

// How well a name fits what was typed: the name itself, then its beginning, then the beginning of one of its words,
// then any part of it, then its letters in order. Negative if it doesn't fit. Case doesn't matter.
[[nodiscard]] int match_score(std::string_view name, std::string_view typed);

// The entries that fit, best first; if nothing is typed, those that are listed first.
[[nodiscard]] std::vector<std::size_t> best_matches(std::span<const Findable> entries, std::string_view typed);

}  // namespace decoderscope::core
