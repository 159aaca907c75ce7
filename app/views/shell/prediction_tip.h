#pragma once

#include "app/core/generate/prediction.h"
#include "app/core/session/session.h"
#include "app/views/widgets/widgets.h"

#include <span>

namespace decoderscope {

// The tooltip of what the model predicts after a position: the most probable tokens, whether the first is right, and
// what it was without edits. `row` holds the predictions of that batch row.
void prediction_tooltip(const Ui& ui, const Session& session, std::span<const Prediction> row, Index batch,
                        Index position);

}  // namespace decoderscope
