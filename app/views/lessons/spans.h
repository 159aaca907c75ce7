#pragma once

#include "app/core/lessons/prose.h"
#include "app/views/widgets/widgets.h"

namespace decoderscope {

// A text of a lesson in as many lines as the width needs: words, emphasis, code and computed numbers. Draws it at `at`
// and returns its height; without `draws` it only measures.
float draw_spans(const Ui& ui, const lessons::Shown& text, ImVec2 at, float width, ImU32 color, bool draws = true);

// The same in the panel's flow, moved in by `indent`.
void spans_line(const Ui& ui, const lessons::Shown& text, ImU32 color, float indent = 0.0F);

}  // namespace decoderscope
