#pragma once

#include "app/core/ask/vary.h"
#include "app/core/jobs/resumable.h"
#include "app/core/run/snapshot.h"
#include "engine/base/message.h"
#include "engine/graph/run.h"

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace decoderscope::core::ask {

// A number of a run that a person asks about: a cell, or the difference of two cells of one tensor (such as two
// logits).
struct ChosenNumber {
    std::string tensor;  // "logits"
    Cell cell;
    std::optional<Cell> minus;

    // The number in a tensor of that name.
    [[nodiscard]] double in(const Tensor& values) const {
        const double value = static_cast<double>(values.at(cell));
        return minus ? value - static_cast<double>(values.at(*minus)) : value;
    }
    bool operator==(const ChosenNumber&) const = default;
};

// Throws Error naming the tensor or the cell if the run has no such number.
void check_number(const Run& run, const ChosenNumber& number);

// What a person asks about a number in Ask: about which number, and compared with which other run.

enum class NumberKind { cell, logit, probability, difference };
inline constexpr std::array<std::string_view, 4> kNumberKindNames = {"cell", "logit", "probability", "difference"};

// Which number. What is left open follows the run: the position in doubt, its most probable tokens.
struct NumberChoice {
    NumberKind kind = NumberKind::logit;
    std::string tensor;  // of a cell that was chosen
    Cell cell;           // the same
    std::optional<Index> position = {};
    std::optional<Index> token = {}, minus = {};  // `minus` is the other one of a difference
    bool operator==(const NumberChoice&) const = default;
};

// Why this run has no such number; empty if it has one.
[[nodiscard]] Sentence number_obstacle(const Scenario& scenario, const Run& run, const NumberChoice& choice);

// The position of a batch row whose answer is most in doubt: where the two largest logits are closest. Padding doesn't
// count, nor do positions where a logit is NaN. The last position if reading all logits would take long.
[[nodiscard]] Index position_in_doubt(const Inputs& inputs, const Tensor& logits, Index batch);

// A choice with nothing left open, and the number that it means. There must not be an obstacle.
struct ResolvedNumber {
    ChosenNumber number;
    Index batch = 0, position = 0;
    Index token = 0, minus = 0;  // of a logit, a probability or a difference
    Sentence name;               // "the logit of “a” at position 5"
};
[[nodiscard]] ResolvedNumber resolved(const Scenario& scenario, const Run& run, Index batch,
                                      const NumberChoice& choice);

enum class OtherKind { token, unedited, pinned, configuration };
inline constexpr std::array<std::string_view, 4> kOtherKindNames = {"token", "unedited", "pinned", "configuration"};

// The run from which rows are patched in.
struct OtherChoice {
    OtherKind kind = OtherKind::token;
    // Another token in one place of the input; what is left open: the first ordinary token, and the next one of the
    // vocabulary.
    std::optional<Index> position = {}, token = {};
    std::pair<std::string, std::string> option;  // the other configuration: a key and its value
    bool operator==(const OtherChoice&) const = default;
};

// The changed token, the source's if there is one; nothing for a model that reads no tokens.
[[nodiscard]] std::optional<ReplacedToken> changed_token(const Scenario& scenario, Index batch,
                                                         const OtherChoice& choice);

// Run B: a scenario to be run, or a run that is there already.
struct OtherRun {
    std::optional<Scenario> scenario;
    std::shared_ptr<const Run> run;  // nullptr: not computed yet
    Sentence obstacle;               // why there is none
};
[[nodiscard]] OtherRun other_run(const Snapshot& shown, Index batch, const OtherChoice& choice);

// Which token of the input to replace, so that a comparison of two runs tells something: one that changes the answer.
struct TellingSwap {
    std::optional<ReplacedToken> swap;  // nothing for a model that reads no tokens
    bool changes_answer = false;        // the prediction at the number's position is another one
    double change = 0.0;                // of the number
    std::size_t tried = 0;              // how many swaps it was chosen from
};

// Tries other tokens in each place until one changes the prediction at the number's position; if none does, takes the
// one that moves the number most. Tries at most kMostSwaps.
inline constexpr std::size_t kMostSwaps = 96;
[[nodiscard]] Resumable<TellingSwap> find_telling_swap(Scenario scenario, std::shared_ptr<const Run> run,
                                                       ResolvedNumber number);

// The choice, with what it leaves open filled in from the swap.
[[nodiscard]] OtherChoice with_swap(OtherChoice choice, const TellingSwap& swap);
// Why the comparison with this run says little; empty if the swap changes the answer.
[[nodiscard]] Sentence swap_sentence(const TellingSwap& swap);

}  // namespace decoderscope::core::ask
