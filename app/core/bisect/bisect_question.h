#pragma once

#include <optional>
#include <string>
#include <vector>

namespace decoderscope {

// A match that the user changed: a recorded tensor, and the step that it is; an empty name: none of ours.
struct ChosenMatch {
    std::string theirs, ours;
    bool operator==(const ChosenMatch&) const = default;
};

// What is asked of a bisection: the tolerance and the matches that were changed.
struct BisectQuestion {
    std::optional<double> tolerance;  // nothing: by the trace's precision
    std::vector<ChosenMatch> chosen;
    bool operator==(const BisectQuestion&) const = default;
};

}  // namespace decoderscope
