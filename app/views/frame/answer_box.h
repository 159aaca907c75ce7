#pragma once

#include "app/core/generate/prediction.h"
#include "app/views/widgets/widgets.h"

#include <string_view>

namespace decoderscope::views {

// What a run says next in a row of its batch: the end of the text, the most probable token and how probable it is, in
// the panel's flow. `letter` stands before it, where two are compared. Nothing where the model predicts no tokens or a
// logit is NaN.
void answer_box(const Ui& ui, core::Derived& derived, const core::Scenario& scenario,
                const std::shared_ptr<const Run>& run, Index batch, std::string_view letter = {});

}  // namespace decoderscope::views
