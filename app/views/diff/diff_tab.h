#pragma once

#include "app/core/diff/reference_run.h"
#include "app/core/session/command.h"
#include "app/core/work/saved_view.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace decoderscope {

// A comparison as it is shown, made once for a snapshot, what it is compared with, and a tolerance.
struct ShownComparison {
    std::uint64_t version = 0;
    std::shared_ptr<const void> of;  // B's run or file
    ReferenceRun reference;
    std::optional<Comparing> under_way;  // while it takes longer than a frame
    Comparison comparison;
    std::vector<std::size_t> worst_first;
    std::uint64_t number = 0;  // another one for every comparison made
};

// The pictures of one step at one place of a comparison.
struct ShownDifference {
    std::uint64_t number = 0;  // the comparison's
    std::string step;
    Place place;
    DifferencePictures pictures;
    std::uint64_t version = 0;  // another number for other pictures
};

// What the Diff tab remembers from frame to frame.
struct DiffTabState {
    Against against = Against::unedited;
    std::pair<std::string, std::string> option;                // the other configuration: a key and its value
    std::optional<std::pair<std::string, std::string>> asked;  // the one that the session computes for us
    double tolerance = 0.0;
    bool in_order = false;                           // the list: else worst first
    std::array<char, 1024> typed{};                  // the path's field
    std::string listed_step;                         // that the list was last scrolled to
    std::optional<std::pair<Index, Index>> hovered;  // row and column under the mouse, as of the last frame

    ShownComparison shown;
    ShownDifference difference;
    std::uint64_t alternatives_of = 0;  // the snapshot that they are of
    Overrides alternatives;
};

// Compares with a file: what to ask the session for. A tolerance of 0 is raised, as another program's arithmetic never
// agrees to the last bit.
[[nodiscard]] Command compare_with_file(DiffTabState& diff, const std::string& path);

}  // namespace decoderscope
