#pragma once

#include "app/core/files/session_file.h"
#include "app/core/jobs/resumable.h"
#include "app/core/run/comparison.h"
#include "app/core/run/scenario.h"
#include "app/core/run/talk.h"
#include "engine/base/message.h"
#include "engine/files/mapped_file.h"

#include <memory>
#include <string>
#include <vector>

// A run's inputs, and their form in a session's file.
namespace decoderscope::core::files {

// The shortest form that reads back to the same numbers: a text if the tokenizer gives the same tokens for it,
// otherwise ids; vectors by their source.
[[nodiscard]] SavedInput saved_input(const Scenario& scenario);

// Read back. Input from a file that has changed gets a remark. Throws Error naming the key.
struct RestoredInput {
    Inputs inputs;
    std::string inputs_path;  // the file that vectors come from; empty: none
    std::vector<Sentence> remarks;
};
[[nodiscard]] RestoredInput restored_input(const SavedInput& saved, const load::Model& model, const Config& config);

// The user's work, as read from a session's file and ready for the window: its model is loaded and can be run.

struct PinnedWork {
    std::string label;
    Scenario scenario;
};

struct SavedSession {
    Scenario scenario;
    Cursor cursor;  // no step: where the model's author suggests
    generate::Sampling sampling;
    SavedView view;
    train::TrainingPlan training;
    Notes notes;
    std::shared_ptr<const Overlay> overlay;  // nullptr: none
    Talk talk = {};
    std::vector<PinnedWork> pins;
    std::string saved_as;           // the file it was opened from or saved to; empty: none yet
    std::string saved_as_was;       // the checksum of that file then
    std::vector<WorkPart> changed;  // of unsaved work: what differs from what was opened or last saved
    std::vector<Sentence> remarks;  // what has changed since it was saved, a sentence each
};

// Reads a session and its models. A model whose files have changed is still opened, with a remark and without the edits
// that no longer fit. Throws Error naming the session's file and the missing key or model; LoadStopped if `progress`
// says to stop.
[[nodiscard]] SavedSession open_session(const std::string& path, LoadProgress* progress = nullptr);
// As above, with the file already read; messages name it `name`.
[[nodiscard]] SavedSession open_session(const SessionFile& file, const Sentence& name,
                                        LoadProgress* progress = nullptr);
[[nodiscard]] SavedSession open_session(const SessionFile& file, const std::string& name,
                                        LoadProgress* progress = nullptr);

// A saved run on a model that is open already, whatever its file says about the model. Throws Error naming the key that
// doesn't fit.
[[nodiscard]] Scenario scenario_on(load::Opened opened, const SavedRun& saved);

// Computes the work's pinned run; nullptr if none.
[[nodiscard]] Resumable<std::shared_ptr<const ReferenceRun>> pinned_run(const SavedSession& work);

// The checksums of a model's files: those of its weights (all files of them, by name, one after the other) and of its
// config.json. Empty for a model without files. `trace`: it was opened as one, and its files count as weights.
struct ModelChecksums {
    std::string weights, config;
};
[[nodiscard]] Resumable<ModelChecksums> checksums_of_model(std::string name, bool trace = false);

// The model of a run, without its files' checksums.
[[nodiscard]] SavedModel saved_model(const Scenario& scenario);
// The work as its file holds it, except for the models' checksums, which take longer to compute.
[[nodiscard]] SessionFile session_file_of(const SavedSession& work);

// What is open, as a state of a talk: all that a session's file holds of it, but the talk.
[[nodiscard]] TalkState talk_state(SavedSession work, std::string sentence);

// A state, to be shown: its run, on the model that is open if that is its own, and where the cursor stands.
struct ShownState {
    Scenario scenario;
    Cursor cursor;
    SavedView view;
};
// Throws Error if it is of another model that isn't a bundled one, or doesn't fit the model any more.
[[nodiscard]] ShownState shown_state(const TalkState& state, const Scenario& open);

// The fragment that opens a state in any Decoderscope (link_of). Throws Error as that does.
[[nodiscard]] std::string link_of(const TalkState& state);

}  // namespace decoderscope::core::files
