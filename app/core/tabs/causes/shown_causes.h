#pragma once

#include "app/core/derived/derived.h"
#include "app/core/figure/exhibit.h"
#include "app/core/figure/heatmap.h"
#include "app/core/jobs/progress.h"
#include "app/core/tabs/causes/attribution.h"
#include "app/core/tabs/causes/causes_choice.h"
#include "app/core/tabs/causes/moves.h"

#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

// What the Causes tab shows. All of it is measured in the background; empty until it is done.
namespace decoderscope::core::causes {

// The number that a choice means; there must not be an obstacle.
[[nodiscard]] Value<ResolvedNumber> shown_number(Derived& derived, const Snapshot& shown, Index batch,
                                                 const NumberChoice& choice);

// ---- what moves a number

// The number's gradients.
struct ShownSlopes {
    static constexpr std::size_t kKept = 4;
    Slopes slopes;
    Sentence error;
};
[[nodiscard]] Value<ShownSlopes> shown_slopes(Derived& derived, const Snapshot& shown, const ResolvedNumber& number);

// How many other tokens are put in each place.
inline constexpr Index kSwaps = 8;

struct ShownMoves {
    static constexpr std::size_t kKept = 4;
    static constexpr bool kGoesOn = true;
    Moves moves;
    Sentence error;
};
[[nodiscard]] Value<ShownMoves> shown_moves(Derived& derived, const Snapshot& shown, const ResolvedNumber& number,
                                            const SharedProgress& progress);

// For how many heads the gradient has the wrong sign. Heads that move nothing don't count, and those whose effect is
// not a number count by themselves.
struct WrongSigns {
    std::size_t heads = 0, by_gradient = 0, by_integrated_gradients = 0, without_number = 0;
};
[[nodiscard]] WrongSigns wrong_signs(const Moves& moves);
// Whether a prediction has the wrong sign compared with what happened, which must be more than a rounding error of the
// number.
[[nodiscard]] bool has_wrong_sign(double promised, double happened);
// "1.attn head 3": a head in a narrow column; the stack is named if there are two.
[[nodiscard]] Sentence short_name_of_head(const std::string& attention, Index head);
[[nodiscard]] Sentence moves_sentence(const Moves& moves);

// The gradients of the residual stream as a picture, [step, position]: gradient · value.
[[nodiscard]] Heatmap gradients_heatmap(const Scenario& scenario, const Run& run,
                                        std::span<const StreamGradients> slopes, bool of_encoder, Index batch);

// ---- patching

struct ShownPatching {
    static constexpr std::size_t kKept = 4;
    static constexpr bool kGoesOn = true;
    Patching patching;
    bool every_step = false;
    Sentence error;
};
// `every_step`: all steps that can be put in; otherwise the stream and what is added to it.
[[nodiscard]] Value<ShownPatching> shown_patching(Derived& derived, const Snapshot& shown, const ResolvedNumber& number,
                                                  const OtherChoice& other, bool every_step,
                                                  const SharedProgress& progress);
[[nodiscard]] Sentence patching_sentence(const Patching& patching, const ResolvedNumber& number);
// [step, position] of one stack; no rows if none of its steps was put in.
[[nodiscard]] Heatmap patching_heatmap(const Scenario& scenario, const Run& run, const Patching& patching,
                                       bool of_encoder, Index batch);
// The steps that are its rows.
[[nodiscard]] std::vector<std::string> patched_steps(const Run& run, const Patching& patching, bool of_encoder);

// ---- who wrote a logit

struct ShownAttribution {
    static constexpr std::size_t kKept = 8;
    Attribution attribution;
    Sentence obstacle;
};
// There must be logits. For a probability it is that of the logit.
[[nodiscard]] Value<ShownAttribution> shown_attribution(Derived& derived, const Snapshot& shown,
                                                        const ResolvedNumber& number, bool difference);
using step::name_of;

// ---- files

[[nodiscard]] Exhibit patching_exhibit(const Scenario& scenario, const Run& run, const Patching& patching,
                                       const ResolvedNumber& number);
[[nodiscard]] Exhibit attribution_exhibit(const Scenario& scenario, const Attribution& attribution,
                                          const ResolvedNumber& number);

}  // namespace decoderscope::core::causes
