#pragma once

#include "app/core/run/settings_that_fit.h"
#include "app/core/session/session.h"
#include "app/views/frame/commands.h"
#include "app/views/frame/view_state.h"
#include "app/views/widgets/row_layout.h"
#include "app/views/widgets/widgets.h"

#include <functional>
#include <string>
#include <vector>

namespace decoderscope::views {

// What chooses the place that is looked at, where there is more than one: block, head (a dot before its name switches
// it off), row of the batch, whatever else a step has several of; and the brush for its mask.
[[nodiscard]] std::vector<FlowItem> place_selectors(const Ui& ui, const core::Session& session, ViewState& state,
                                                    Commands& commands);

// How many blocks have a step of this kind.
[[nodiscard]] Index blocks_in_stack(const core::Session& session, const Step& step);

// A list, as an item, that says what is chosen now and is about a term of the glossary, whose id it has; `rows` draws
// what it opens to.
[[nodiscard]] FlowItem list_item(const Ui& ui, ViewState& state, std::string now, const char* id,
                                 std::function<void()> rows);

// The counter of batch rows, and the same as an item of a row of controls.
void choose_batch(const Ui& ui, const core::Session& session, Commands& commands);
[[nodiscard]] FlowItem batch_item(const Ui& ui, const core::Session& session, float gap, Commands& commands);

// A button for each of the numbers that a key of the configuration can be given; the first is the model's own.
void choose_number(const Ui& ui, const std::string& key, const core::NumberChoices& choices, const char* tip,
                   const char* own_tip, Commands& commands);

}  // namespace decoderscope::views
