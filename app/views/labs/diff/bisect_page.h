#pragma once

#include "app/core/labs/bisect/shown_bisection.h"
#include "app/views/labs/diff/lab.h"

// The page of Diff that compares with a recording of another program and seeks the cause, one file per part.
namespace decoderscope::views::diff {

void draw_bisect_page(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands);

// Which tensor was matched to which step, in the order of computation, each to be changed; then those that match none.
void draw_bisect_table(const Ui& ui, const core::Session& session, BisectTabState& bisect,
                       const core::bisect::Bisection& found, Area area, Commands& commands);

// The worst cell, computed here and, with the likeliest cause, there, side by side. Returns the height.
float draw_side_by_side(const Ui& ui, const core::bisect::SideBySide& cell, Area area);

// What the inspector says beside the page, in its flow: the causes, and each block on their input.
void inspect_bisection(const Ui& ui, const core::Session& session, const BisectTabState& bisect);

// The result; empty while there is none.
[[nodiscard]] core::Value<core::bisect::ShownBisection> found_bisection(const core::Session& session,
                                                                        const BisectTabState& bisect);

}  // namespace decoderscope::views::diff
