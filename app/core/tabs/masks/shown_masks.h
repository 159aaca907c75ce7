#pragma once

#include "app/core/checks/leak.h"
#include "app/core/derived/derived.h"
#include "app/core/run/exhibit_step.h"
#include "app/core/run/slice.h"
#include "app/core/session/session.h"
#include "app/core/text/numbers.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace decoderscope::core::masks {

// One of the masks by itself: 1 if a key may be seen and 0 if it may not, all ones if the attention has none of its
// kind.
struct SingleMask {
    std::uint8_t cause = hidden_by::nothing;  // what it hides by
    std::string name;                         // "causal", as exports call it
    bool is_there = false;                    // whether the attention has one of its kind
    Heatmap heatmap;

    [[nodiscard]] bool hides() const;
};

// The masks of one attention at a place, each by itself and all combined. `hidden` says by which mask. All are
// [query, key].
struct MaskParts {
    // Of each kind, those that few models have (window, documents) only if the attention has one. The last is what was
    // drawn: the input's custom_mask, and what was painted over it.
    std::vector<SingleMask> single;
    Heatmap combined;                   // kept by all of them, then what was painted: as recorded
    std::vector<std::uint8_t> opened;   // [query, key]: painted as kept where the other masks hide it: a hole
    std::vector<std::uint8_t> painted;  // [query, key]: painted, whatever the other masks say
    Index hidden = 0;                   // how many cells of `combined` are 0

    // The one of that cause, which the attention has.
    [[nodiscard]] const SingleMask& of(std::uint8_t cause) const;
    [[nodiscard]] const SingleMask& drawn() const { return single.back(); }
    // Those that hide something, but for what was drawn; none if there is one alone, which `combined` shows.
    [[nodiscard]] std::vector<const SingleMask*> apart() const;
};

// `attention` is one of the run's ("blocks.0.attn"), and its mask has values.
[[nodiscard]] MaskParts mask_parts(const Scenario& scenario, const Run& run, const std::string& attention, Place place);

// A query that sees no key at all, and the softmax of its row.
struct EmptyRow {
    Index query = 0;
    bool nan = false;                 // under −∞: 0/0
    float least = 0.0F, most = 0.0F;  // otherwise the range of its weights: all 1/keys if the fill is finite
    bool operator==(const EmptyRow&) const = default;
};

// What the fill does to one head of one batch row, measured on the recorded numbers.
struct FillConsequences {
    float fill = 0.0F;
    Index cells = 0, masked = 0;  // of [query, key]; includes rows with nothing left
    // Kept scores at or below a finite fill: masked keys weigh as much there, or more. None under −∞.
    std::vector<std::pair<Index, Index>> below;  // query, key
    float lowest_kept = 0.0F;                    // the lowest score that is kept; +∞ if none is
    // The weight on masked keys, summed over a row's masked cells, in rows that have something left.
    float largest_leak = 0.0F;
    Index leakiest_query = -1;  // -1 if no row leaks
    std::vector<float> leaks;   // [query]; 0 for rows with nothing left
    std::vector<EmptyRow> empty_rows;
};
// `attention` is one of the run's; its scores, mask and pattern have values.
[[nodiscard]] FillConsequences fill_consequences(const Run& run, const std::string& attention, Place place, Index nhead,
                                                 float fill);

// A computed step that holds NaN.
struct NanStep {
    StepId id = 0;
    std::string name;
    Index count = 0, size = 0;
    Cell first;  // in row-major order
};
// The steps with NaN in the order of computation: where it starts and how far it spreads. Empty if there is none.
[[nodiscard]] std::vector<NanStep> nan_trail(const Run& run);
// As above, given the trail of an earlier run: a tensor that both runs share is not read again.
[[nodiscard]] std::vector<NanStep> nan_trail(const Run& run, const Run& earlier, const std::vector<NanStep>& known);

// Values derived from masks.
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
};
// Empty while large ones are read.
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

// From which positions something leaks back. Empty while they are being changed in turn.
[[nodiscard]] Value<checks::LeaksBack> shown_leaks_back(Derived& derived, const Snapshot& shown, Index batch);

// Who notices, if one position is changed.
struct LeakPicture {
    Heatmap heatmap;                               // [changed, position]: how far each position moved
    std::vector<std::pair<Index, Index>> earlier;  // the cells before the changed position that moved
};
// Of all positions, or as long as these are being changed, or where that would take minutes, of `changed` alone.
[[nodiscard]] Value<LeakPicture> shown_leak_picture(Derived& derived, const Snapshot& shown, Index batch, Index changed,
                                                    const Value<checks::Leak>& leak,
                                                    const Value<checks::LeaksBack>& leaks_back);

// The masks of an attention, each by itself and combined, and what they do to scores, pattern and output.
[[nodiscard]] Exhibit masks_exhibit(const ShownRun& shown, const std::string& attention, Place place);
// Who notices, if each position is changed.
[[nodiscard]] Exhibit leak_exhibit(const ShownRun& shown, const LeakPicture& picture, Index batch);

// What the fill of a mask does, in sentences.

// A score or weight, as they write it.
[[nodiscard]] inline std::string measured_text(float value) { return short_number_text(static_cast<double>(value), 4); }

// How much weight masked cells get.
[[nodiscard]] std::string weight_sentence(const FillConsequences& fill);
// How much weight each row gives to masked keys, for rows that give any.
[[nodiscard]] std::string leaks_by_row(const FillConsequences& fill);
// Whether a kept score lies below the fill.
[[nodiscard]] std::string below_sentence(const FillConsequences& fill);
// Which queries see no key, and what they do instead.
[[nodiscard]] std::string empty_sentence(const FillConsequences& fill);

}  // namespace decoderscope::core::masks
