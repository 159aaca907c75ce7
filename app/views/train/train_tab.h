#pragma once

#include "app/core/train/shown_training.h"
#include "app/core/train/training_plan.h"
#include "app/views/shell/view_state.h"

#include <array>
#include <memory>
#include <optional>
#include <string>

namespace decoderscope {

// What the Train tab remembers from frame to frame. The trainings go on while other tabs are open.
struct TrainTabState {
    TrainingPlan plan;
    std::array<char, 8192> text{};  // the learner's own
    std::shared_ptr<TrainingBoard> board = std::make_shared<TrainingBoard>();
    std::optional<Index> at;          // the step that is looked at; nothing: the newest
    std::string attention;            // whose patterns are shown; empty: the first
    std::array<char, 1024> folder{};  // where models are written
    Sentence error;                   // why the plan can't be trained
};

void draw_train_tab(const Ui& ui, const Session& session, ViewState& state, Area area, Commands& commands);
void inspect_training(const Ui& ui, const Session& session, ViewState& state, Commands& commands);

}  // namespace decoderscope
