#pragma once

#include "app/core/work/path_list.h"

#include <array>
#include <map>
#include <string>

namespace decoderscope {

// What the dialog that opens a model remembers from frame to frame.
struct OpenDialogState {
    std::array<char, 4096> path{};
    std::string listed_for;  // what `list` goes with
    PathList list;
    bool listed = false;
    bool awaited = false;                        // a model is on its way: the dialog closes when it is there
    bool refocus = false;                        // it failed: the path is to be typed again
    std::string asked_about;                     // the model that the answers are about
    std::map<std::string, std::string> answers;  // by configuration key
    bool copied = false;                         // the lines of Python are in the clipboard
};

}  // namespace decoderscope
