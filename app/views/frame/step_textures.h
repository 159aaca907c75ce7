#pragma once

#include "app/core/derived/derived.h"
#include "app/core/session/session.h"
#include "app/core/tabs/step/step_pixels.h"
#include "app/views/widgets/theme.h"

#include <chrono>
#include <cstdint>
#include <map>

namespace decoderscope::views {

// The small pictures of steps as textures, painted again when what they show changes. Kept from frame to frame.
class StepTextures {
public:
    // All pictures of a step, as one texture.
    struct Texture {
        ImTextureID id = ImTextureID();  // none: nothing was painted yet
        bool is_old = false;             // its numbers are older than those that are shown
    };

    // `what` tells those of one panel from those of another.
    explicit StepTextures(std::string_view what) : what_(what) {}

    // Painting takes no more than a few milliseconds of a frame: what doesn't fit keeps the pixels that it has.
    void begin_frame();
    // The step must have values.
    [[nodiscard]] Texture texture_of(const Ui& ui, const core::Session& session, const Step& step,
                                     const core::step::PixelsWanted& wanted);
    // Whether something is still to be painted, in the next frame.
    [[nodiscard]] bool wants_more() const { return wants_more_; }

private:
    struct Painted {
        core::HeldOrigins from;
        core::step::PixelsWanted as;
        std::uint64_t version = 0;
    };

    std::string_view what_;
    std::map<StepId, Painted> painted_;
    std::chrono::steady_clock::time_point until_;
    int count_ = 0;  // painted in this frame
    bool wants_more_ = false;
};

// The largest number of pixels that isn't more than this, of few: zooming in a little paints nothing anew.
[[nodiscard]] Index stepped_pixels(float pixels);

}  // namespace decoderscope::views
