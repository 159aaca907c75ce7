#pragma once

#include "tests/engine/dice.h"
#include "tests/engine/small_models.h"

namespace decoderscope::testing {

// A random small decoder, with or without an encoder: every key of the contract is random.
[[nodiscard]] Overrides random_configuration(Dice& dice);

// A model of this configuration with weights, and with inputs that may have masks of every kind.
[[nodiscard]] SmallModel random_model(Dice& dice, const Overrides& configuration);

// A random edit that fits the model: of any attention's mask, any head, or any cell of any tensor, weights and inputs
// included.
[[nodiscard]] Edit random_edit(Dice& dice, const SmallModel& model);

}  // namespace decoderscope::testing
