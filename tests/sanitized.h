#pragma once

#include <cstddef>
#include <vector>

namespace decoderscope::testing {

// Whether every access to memory is checked, which takes five to ten times as long. What is looped over to see many
// pictures or numbers of one kind is looped over less often then: the same code runs, and the release's tests see all.
#ifdef DECODERSCOPE_SANITIZED
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

// Whether the one of this number among many of its kind is looked at: under the sanitizers each `every`th.
constexpr bool is_looked_at(std::size_t number, std::size_t every) { return !kSanitized || number % every == 0; }

// All of them, or under the sanitizers each `every`th.
template <class Range>
auto looked_at(const Range& all, std::size_t every) {
    std::vector<typename Range::value_type> looked;
    std::size_t number = 0;
    for (const auto& one : all)
        if (is_looked_at(number++, every)) looked.push_back(one);
    return looked;
}

}  // namespace decoderscope::testing
