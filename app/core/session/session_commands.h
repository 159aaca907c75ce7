#pragma once

#include "app/core/run/snapshot.h"
#include "app/core/session/command.h"

#include <optional>

// The scenario after an editing command; `shown` is the snapshot that the command refers to. Nothing if the command
// changes nothing. Throws Error if it doesn't fit.
namespace decoderscope::core {

[[nodiscard]] std::optional<Scenario> edited(Scenario scenario, const Snapshot& shown, const command::SetOption& c);
[[nodiscard]] std::optional<Scenario> edited(Scenario scenario, const Snapshot& shown, const command::SetRecording& c);
[[nodiscard]] std::optional<Scenario> edited(Scenario scenario, const Snapshot& shown, const command::SetDropout& c);
[[nodiscard]] std::optional<Scenario> edited(Scenario scenario, const Snapshot& shown, const command::SetGradients& c);
[[nodiscard]] std::optional<Scenario> edited(Scenario scenario, const Snapshot& shown, const command::PaintMask& c);
[[nodiscard]] std::optional<Scenario> edited(Scenario scenario, const Snapshot& shown, const command::PaintMasks& c);
[[nodiscard]] std::optional<Scenario> edited(Scenario scenario, const Snapshot& shown, const command::ResetMask& c);
[[nodiscard]] std::optional<Scenario> edited(Scenario scenario, const Snapshot& shown, const command::SetKeptLength& c);
[[nodiscard]] std::optional<Scenario> edited(Scenario scenario, const Snapshot& shown, const command::AppendToken& c);
[[nodiscard]] std::optional<Scenario> edited(Scenario scenario, const Snapshot& shown,
                                             const command::RemoveLastToken& c);
[[nodiscard]] std::optional<Scenario> edited(Scenario scenario, const Snapshot& shown, const command::ScaleHeadTo& c);
[[nodiscard]] std::optional<Scenario> edited(Scenario scenario, const Snapshot& shown, const command::SoloHead& c);
[[nodiscard]] std::optional<Scenario> edited(Scenario scenario, const Snapshot& shown, const command::UseExpert& c);
[[nodiscard]] std::optional<Scenario> edited(Scenario scenario, const Snapshot& shown, const command::TypeOver& c);
[[nodiscard]] std::optional<Scenario> edited(Scenario scenario, const Snapshot& shown, const command::KeepVariation& c);
[[nodiscard]] std::optional<Scenario> edited(Scenario scenario, const Snapshot& shown, const command::RemoveEdits& c);
[[nodiscard]] std::optional<Scenario> edited(Scenario scenario, const Snapshot& shown, const command::ClearEdits& c);

// Goes to where a note is pinned; nothing if the run has no such step, row or cell.
[[nodiscard]] std::optional<Command> command_to(const Note& note, const Run& run);

// A command that edits the scenario.
template <class C>
concept EditCommand = requires(const C& command, const Snapshot& shown, Scenario scenario) {
    edited(scenario, shown, command);
};

// Whether the command continues the previous change, as a drag does, so that both are undone together.
template <EditCommand C>
[[nodiscard]] bool continues(const C& command) {
    if constexpr (requires { command.continues; })
        return command.continues;
    else
        return false;
}

}  // namespace decoderscope::core
