#pragma once

#include "app/core/bisect/shown_bisection.h"
#include "app/views/diff/diff_tab.h"

// The page of Diff that compares with a recording of another program and seeks the cause, one file a part.
namespace decoderscope {

void draw_bisect_page(const Ui& ui, const Session& session, ViewState& state, Area area, Commands& commands);

// Which tensor was taken for which step, in the order of computation, each to be changed; then those that are none.
void draw_bisect_table(const Ui& ui, const Session& session, BisectTabState& bisect, const Bisection& found, Area area,
                       Commands& commands);

// The first difference: computed here and there, its causes, and each block on their input.
void draw_bisect_causes(const Ui& ui, const Bisection& found, Area area);

}  // namespace decoderscope
