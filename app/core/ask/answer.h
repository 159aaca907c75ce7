#pragma once

#include "app/core/ask/attribution.h"
#include "app/core/ask/cost.h"
#include "app/core/ask/moves.h"
#include "app/core/ask/number.h"
#include "app/core/ask/question.h"

#include <array>
#include <optional>
#include <string>
#include <string_view>

// Whatever is asked of a run: what is measured for it, and the answer.
namespace decoderscope::core::ask {

// Many runs that differ in one thing; what moves a number, what comes back of it from another run, who wrote it; what
// each step costs.
enum class AskPage { vary, moves, patching, writers, cost };
inline constexpr std::array<std::string_view, 5> kPageNames = {"vary", "moves", "patching", "writers", "cost"};
[[nodiscard]] constexpr bool is_about_number(AskPage page) { return page != AskPage::vary && page != AskPage::cost; }

struct Question {
    AskPage page = AskPage::vary;
    SweepQuestion sweep = {};      // to vary
    NumberChoice number = {};      // of a page about one
    OtherChoice other = {};        // to patch from
    bool every_step = false;       // all that can be put in; otherwise the stream and what is added to it
    Grouping by = Grouping::step;  // of costs
    std::string sort = "time";
    bool operator==(const Question&) const = default;
};

// A question about a run.
struct Asked {
    Question question;
    Snapshot shown;
    Index batch = 0;
    std::optional<ResolvedNumber> number = std::nullopt;      // that it is about; nothing: this run has none
    std::shared_ptr<const train::Recipe> training = nullptr;  // that can be varied
};
[[nodiscard]] Asked asked_about(Derived& derived, const Snapshot& shown, Index batch, const Question& question,
                                const std::shared_ptr<const train::Recipe>& training);
// Why nothing is measured, or what can be asked; empty if something is.
[[nodiscard]] Sentence why_not_measured(const Asked& asked);

// How many other tokens are put in each place.
inline constexpr Index kSwaps = 8;

// What was measured for a question, by its page.
struct Measured {
    static constexpr std::size_t kKept = 4;
    static constexpr bool kGoesOn = true;
    Sentence error = {};
    Value<ShownSweep> sweep = {};
    Moves moves = {};
    Slopes slopes = {};
    Patching patching = {};
    OtherChoice compared = {};  // with what was left open
    Sentence about_swap = {};   // why that comparison says little
    Value<PassCost> cost = {};
};
// In the background; empty until it is done.
[[nodiscard]] Value<Measured> measured(Derived& derived, const Asked& asked, const SharedProgress& progress);

// For how many heads the gradient has the wrong sign. Heads that move nothing don't count, and those whose effect is
// not a number count by themselves.
struct WrongSigns {
    std::size_t heads = 0, by_gradient = 0, by_integrated_gradients = 0, without_number = 0;
};
[[nodiscard]] WrongSigns wrong_signs(const Moves& moves);
// Whether a prediction has the wrong sign compared with what happened, which must be more than a rounding error of the
// number.
[[nodiscard]] bool has_wrong_sign(double promised, double happened);
[[nodiscard]] Sentence moves_sentence(const Moves& moves);
[[nodiscard]] Sentence patching_sentence(const Patching& patching, const ResolvedNumber& number);

// The answer, by its page: that of many runs (question.h); tables of heads and of input tokens, and aside pictures of
// the stream's gradients [step, position], one for each stack, and a table of scores; pictures of what comes back; a
// table of terms; a table of costs. As files have it: what has an order of its own isn't sorted.
[[nodiscard]] Answer answer_of(const Asked& asked, const Measured& measured);
[[nodiscard]] Exhibit exhibit_of(const Asked& asked, const Measured& measured);

}  // namespace decoderscope::core::ask
