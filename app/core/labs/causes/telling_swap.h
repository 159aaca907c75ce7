#pragma once

#include "app/core/derived/derived.h"
#include "app/core/jobs/resumable.h"
#include "app/core/labs/causes/causes_choice.h"
#include "engine/base/message.h"

#include <memory>
#include <optional>

// Which token of the input to replace, so that a comparison of two runs tells something: one that changes the answer.
namespace decoderscope::core::causes {

struct TellingSwap {
    std::optional<ChangedToken> swap;  // nothing for a model that reads no tokens
    bool changes_answer = false;       // the prediction at the number's position is another one
    double change = 0.0;               // of the number
    std::size_t tried = 0;             // how many swaps it was chosen from
};

// Tries other tokens in each place until one changes the prediction at the number's position; if none does, takes the
// one that moves the number most. Tries at most kMostSwaps.
inline constexpr std::size_t kMostSwaps = 96;
[[nodiscard]] Resumable<TellingSwap> find_telling_swap(Scenario scenario, std::shared_ptr<const Run> run,
                                                       ResolvedNumber number);

// Empty while it is being looked for.
[[nodiscard]] Value<TellingSwap> shown_telling_swap(Derived& derived, const Snapshot& shown,
                                                    const ResolvedNumber& number);

// The choice, with what it leaves open filled in from the swap.
[[nodiscard]] OtherChoice with_swap(OtherChoice choice, const TellingSwap& swap);
// Why the comparison with this run says little; empty if the swap changes the answer.
[[nodiscard]] Sentence swap_sentence(const TellingSwap& swap);

}  // namespace decoderscope::core::causes
