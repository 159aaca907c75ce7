#pragma once

#include "tests/engine/dice.h"
#include "tests/engine/small_models.h"

namespace decoderscope::testing {

// Any decoder, with or without an encoder, that fits the eye: every key of the contract is thrown for.
[[nodiscard]] Overrides random_configuration(Dice& dice);

// A model of it with weights, and with inputs that may have masks of every kind.
[[nodiscard]] SmallModel random_model(Dice& dice, const Overrides& configuration);

// An edit that fits the model as it is: of any attention's mask, any head, or any cell of any tensor, weights and
// inputs included.
[[nodiscard]] Edit random_edit(Dice& dice, const SmallModel& model);

}  // namespace decoderscope::testing
