#pragma once

#include "app/views/causes/causes_tab.h"
#include "app/views/shell/panels.h"
#include "app/views/widgets/prose.h"

#include <string>

// The pages of the Causes tab, one file each. All of them are about one number of this run.
namespace decoderscope {

// Which number, and for patching which other run. Returns the height used.
[[nodiscard]] float draw_causes_choices(const Ui& ui, const Session& session, CausesTabState& causes, Area area,
                                        Commands& commands);

void draw_moves(const Ui& ui, const Session& session, ViewState& state, const ResolvedNumber& number, Area area,
                Commands& commands);
void draw_patching(const Ui& ui, const Session& session, ViewState& state, const ResolvedNumber& number, Area area,
                   Commands& commands);
void draw_writers(const Ui& ui, const Session& session, CausesTabState& causes, const ResolvedNumber& number, Area area,
                  Commands& commands);

// The bar of a measurement under way, and its button. Returns whether it is to be cancelled.
[[nodiscard]] bool draw_causes_progress(const Ui& ui, const CausesProgress& progress, Area area);

// A bar from the middle of its area: to the right for positive values. `most` is as far as it goes.
void draw_signed_bar(const Ui& ui, Area area, double value, double most);
// A number as these pages write it.
[[nodiscard]] std::string cause_text(double value);

}  // namespace decoderscope
