#pragma once

#include "app/views/frame/actions.h"

namespace decoderscope::views::shell {

// Whether the model's files left something open that was assumed or asked; "What was assumed …" shows it.
[[nodiscard]] bool was_asked(const core::Session& session);

// Runs the actions whose keys went down in this frame.
void run_shortcuts(const core::Session& session, ViewState& state, Commands& commands);

}  // namespace decoderscope::views::shell
