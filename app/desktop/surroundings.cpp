#include "app/surroundings.h"

#include "app/core/work/desktop_motion.h"

namespace decoderscope {

Surroundings surroundings() { return {.reduced_motion = desktop_reduces_motion(config_folder())}; }

}  // namespace decoderscope
