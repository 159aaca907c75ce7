#pragma once

#include "app/core/checks/leak.h"
#include "app/core/derived/derived.h"
#include "app/core/labs/masks/mask_analysis.h"
#include "app/core/run/exhibit_step.h"
#include "app/core/session/session.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

// Values derived from masks.
namespace decoderscope::core::masks {

// A picture of an attention: its step (nullptr for a mask by itself), and which cells carry a mark.
struct MaskPicture {
    Ref step = nullptr;
    Heatmap heatmap;
    std::vector<std::uint8_t> marked;  // [row, column]; empty if none is
    bool per_key = true;               // its columns are keys, so it can be painted
    bool overridden = false;           // what is marked is drawn manually, whatever this mask says
};

// One attention at one place: its masks, what they do to the scores, and what the fill does.
struct ShownMasks {
    MaskParts parts;
    MaskPicture raw, masked, pattern, output;
    FillConsequences fill;
    std::vector<std::string> tokens;  // [pos]: what the decoder's positions hold
};
[[nodiscard]] Value<ShownMasks> shown_masks(Derived& derived, const Snapshot& shown, const std::string& attention,
                                            Place place);

// Where NaN begins in a run, and how far it spreads.
struct NanTrail {
    static constexpr std::size_t kKept = 1;  // it keeps its run

    std::shared_ptr<const Run> run;  // a tensor that it shares with the next run, after an edit, isn't read again
    std::vector<NanStep> steps;
};
// Empty while a large run is being searched.
[[nodiscard]] Value<NanTrail> shown_nan_trail(Derived& derived, const std::shared_ptr<const Run>& run);

// What to compute alongside a run for the leak test of a position.
[[nodiscard]] Value<Variation> shown_leak_variation(Derived& derived, const Scenario& scenario,
                                                    const std::shared_ptr<const Run>& run, Index batch, Index position);
// What moved in that run, `changed`. Empty while the comparison is under way.
[[nodiscard]] Value<checks::Leak> shown_leak(Derived& derived, const std::shared_ptr<const Run>& run,
                                             const std::shared_ptr<const Run>& changed, Index batch, Index position);

// The masks of an attention, each by itself and combined, and what they do to scores, pattern and output.
[[nodiscard]] Exhibit masks_exhibit(const ShownRun& shown, const std::string& attention, Place place);

}  // namespace decoderscope::core::masks
