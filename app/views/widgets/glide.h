#pragma once

#include "app/views/widgets/widgets.h"

#include <map>
#include <string>
#include <vector>

namespace decoderscope::views {

// Pictures that stay in sight when their arrangement changes: what was drawn before and is drawn again glides from its
// old place to its new one, so that the eye can follow it. Kept from frame to frame.
class Glide {
public:
    // A picture, by a name that it keeps in every arrangement, and where it belongs. Its place is changed to where it
    // is drawn in this frame.
    struct Placed {
        std::string name;
        Area& area;
    };

    // Moves what is under way, once a frame. `arrangement` names what decides the places: if it differs from the last
    // frame's, pictures set out from where they were drawn then. Without motion all are in their place at once. Returns
    // whether one is still under way, and another frame is wanted soon.
    bool advance(const std::string& arrangement, std::vector<Placed> pictures, bool motion);

private:
    std::string arrangement_;
    std::map<std::string, Area> drawn_, from_;  // by a picture's name
    float progress_ = 1.0F;                     // of the way; 1: all are in their place
};

}  // namespace decoderscope::views
