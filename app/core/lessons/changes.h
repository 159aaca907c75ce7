#pragma once

#include "app/core/session/command.h"
#include "app/core/session/scenario.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace decoderscope::lessons {

// What is changed of a scenario: what a place opens with, what `with(…)` asks about, and what a solution does.
struct Changes {
    std::optional<std::string> source, target;  // a line per batch row
    Overrides set;
    std::vector<Edit> edits;
    std::optional<std::string> mutation;  // empty: none
    std::optional<std::uint64_t> dropout_seed;
    std::optional<std::string> gradients_of;
};

// "attention_scale=1 ; [{"edit": …}]": parts separated by " ; ". Throws Error naming the part.
[[nodiscard]] Changes parse_changes(std::string_view text);

// The scenario with these changes on top. Throws Error where they don't fit.
[[nodiscard]] Scenario changed(Scenario scenario, const Changes& changes);

// The commands by which the window makes them. A change that the window has no command for is an Error.
[[nodiscard]] std::vector<Command> commands_of(const Changes& changes);

}  // namespace decoderscope::lessons
