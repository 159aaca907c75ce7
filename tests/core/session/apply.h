#pragma once

#include "app/core/session/session.h"

namespace decoderscope::testing {

using namespace decoderscope::core;

// Applies a command and waits until all that follows from it is computed.
inline void apply(Session& session, const Command& command) {
    session.apply(command);
    session.finish();
}

}  // namespace decoderscope::testing
