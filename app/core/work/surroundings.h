#pragma once

namespace decoderscope {

// What the system around the window is set to; a setting of the program's own comes first.
struct Surroundings {
    bool dark = true;
    bool reduced_motion = false;
};

}  // namespace decoderscope
