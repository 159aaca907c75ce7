#pragma once

#include "app/core/run/settings_that_fit.h"
#include "app/views/frame/commands.h"
#include "app/views/widgets/widgets.h"

#include <string>

namespace decoderscope::views {

// A button for each of the numbers that a key of the configuration can be given; the first is the model's own.
void choose_number(const Ui& ui, const std::string& key, const core::NumberChoices& choices, const char* tip,
                   const char* own_tip, Commands& commands);

}  // namespace decoderscope::views
