#pragma once

#include "app/core/derived/derived.h"
#include "app/core/figure/colormap.h"
#include "app/core/run/overlay.h"
#include "app/core/session/session.h"
#include "app/core/tabs/step/tiles.h"
#include "app/views/frame/commands.h"
#include "app/views/widgets/heatmap_view.h"
#include "app/views/widgets/theme.h"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace decoderscope::views {

// The colours of steps in map and timeline: of their meanings, or, while a file's numbers are shown, of those. Then a
// step without a number is grey.
class StepColors {
public:
    StepColors(const Ui& ui, const core::Session& session);

    // Whether a file's numbers are shown.
    [[nodiscard]] bool are_of_file() const { return coloring_.has_value(); }
    [[nodiscard]] ImU32 of(const Step& step) const;
    // The colour of a box that stands for several steps: that of the number of largest magnitude, or of what the box
    // means.
    [[nodiscard]] ImU32 of(std::span<const StepId> steps, Meaning meaning) const;
    // The colour of a block: that of the number that the file has for it, otherwise as above.
    [[nodiscard]] ImU32 of(const std::string& block, std::span<const StepId> steps, Meaning meaning) const;

private:
    // The colours by StepId; nothing if the file has none.
    struct Numbers {
        std::vector<std::optional<float>> all;
    };

    const core::Session& session_;
    ImU32 grey_;
    std::optional<core::Coloring> coloring_;
    core::Value<Numbers> numbers_;
};

// The marks of a file's numbers for single cells, in a picture of this slice.
[[nodiscard]] std::vector<ColoredCell> colored_cells(const Ui& ui, const core::Session& session, const Step& step,
                                                     const core::Slice& slice);

// The file's name, its range as a colour bar, and a link that removes it. It takes the height below.
void draw_overlay_legend(const Ui& ui, const core::Overlay& overlay, Area area, Commands& commands);
[[nodiscard]] float overlay_legend_height(const Ui& ui);

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
