#pragma once

#include "app/core/derived/derived.h"
#include "app/core/run/snapshot.h"
#include "app/core/session/command.h"
#include "engine/base/message.h"
#include "engine/load/model.h"

#include <vector>

// What the window says about a model in the first minute, and what it offers to try.
namespace decoderscope::core {

// What a model is, in a sentence or two: as its author describes it, otherwise read off its configuration.
[[nodiscard]] Sentence introduction_of(const Scenario& scenario);

// A model's suggestion as commands: it goes where it says, makes its changes, and says what to notice.
[[nodiscard]] std::vector<Command> commands_of(const load::Trial& trial);
// As above, in place of what the model's other suggestions have changed, so that they don't add up.
[[nodiscard]] std::vector<Command> commands_of(const load::Trial& trial, const Scenario& scenario);

// A suggestion that fits what is shown.
struct FittingTrial {
    load::Trial trial;
    bool done = false;  // its keys are set and its edits made
};
// The model's suggestions without those that this run can't follow: their step is gone, their edits don't fit.
[[nodiscard]] std::vector<FittingTrial> fitting_trials(const Scenario& scenario);

struct ShownTrials {
    std::vector<FittingTrial> all;
};
[[nodiscard]] Value<ShownTrials> shown_trials(Derived& derived, const Snapshot& shown);

}  // namespace decoderscope::core
