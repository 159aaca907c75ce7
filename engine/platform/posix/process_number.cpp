#include "engine/platform/process.h"

#include <unistd.h>

namespace decoderscope::platform {

long process_number() { return ::getpid(); }

}  // namespace decoderscope::platform
