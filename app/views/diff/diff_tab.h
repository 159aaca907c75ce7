#pragma once

#include "app/core/bisect/shown_bisection.h"
#include "app/core/diff/shown_comparison.h"
#include "app/core/session/command.h"
#include "app/core/work/saved_view.h"
#include "app/views/shell/view_state.h"

#include <array>
#include <optional>
#include <string>
#include <utility>

namespace decoderscope {

// What the page that bisects remembers.
struct BisectTabState {
    std::string path;                         // of the recording that it is about
    BisectQuestion question;                  // what is asked of it
    std::optional<BisectQuestion> cancelled;  // what is no longer wanted
    const Bisection* listed = nullptr;        // the result that the table was last scrolled for
};

// What the Diff tab remembers from frame to frame.
struct DiffTabState {
    Against against = Against::unedited;
    std::pair<std::string, std::string> option;                // what differs in B's configuration: a key and its value
    std::optional<std::pair<std::string, std::string>> asked;  // the one requested from the session
    double tolerance = 0.0;
    bool in_order = false;                           // order of the list; else worst first
    std::array<char, 1024> typed{};                  // the path's field
    std::string listed_step;                         // the step that the list was last scrolled to
    std::optional<std::pair<Index, Index>> hovered;  // row and column under the mouse, as of the last frame

    BisectTabState bisect;

    Value<ShownComparison> shown;  // as of the last frame; empty if there was none
};

// The command that compares with a file. Raises a tolerance of 0, as another program's arithmetic never agrees to the
// last bit.
[[nodiscard]] Command compare_with_file(DiffTabState& diff, const std::string& path);

// The command that bisects against a recording.
[[nodiscard]] Command bisect_with_file(DiffTabState& diff, const std::string& path);

void draw_diff_tab(const Ui& ui, const Session& session, ViewState& state, Area area, Commands& commands);

}  // namespace decoderscope
