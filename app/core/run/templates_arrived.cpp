#include "app/core/run/conversations.h"

namespace decoderscope::core {

bool runs_templates() { return true; }

}  // namespace decoderscope::core
