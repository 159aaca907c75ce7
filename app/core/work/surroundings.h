#pragma once

namespace decoderscope {

// What the system around the window is set to, and what it has. A setting of the program's own comes first.
struct Surroundings {
    bool dark = true;
    bool reduced_motion = false;
    bool picks_files = false;   // it has a dialog of its own for choosing files
    bool shows_folders = true;  // it has a file manager; else what is written is downloaded
};

}  // namespace decoderscope
