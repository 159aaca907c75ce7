#pragma once

#include "app/core/lessons/lesson.h"
#include "app/core/session/command.h"

#include <optional>
#include <string>
#include <vector>

// From a place in a lesson to what the window shows.
namespace decoderscope::lessons {

// The scenario that a place with a model opens; a path of a model is relative to the lesson's file. Throws Error.
[[nodiscard]] Scenario scenario_of(const Place& place, const std::string& lesson_path);

// The last place with a model before this question; nullptr if there is none.
[[nodiscard]] const Place* place_before(const Lesson& lesson, const std::string& question);

// A step and a cell of it, by its indices.
struct Spot {
    std::string step;
    std::optional<Cell> cell;
};
// Throws Error if the run has no such step or no such cell.
[[nodiscard]] Spot spot_of(const CellAnswer& answer, const Scope& scope);

// The commands that go where the place says, once its run is there. Throws Error if something isn't there.
[[nodiscard]] std::vector<Command> going_commands(const Place& place, const Scope& scope);

}  // namespace decoderscope::lessons
