#pragma once

#include "app/core/diff/reference_run.h"
#include "app/core/jobs/resumable.h"
#include "app/core/session/scenario.h"
#include "app/core/work/session_file.h"
#include "engine/model/load_progress.h"

#include <memory>
#include <string>
#include <vector>

// A person's work between a session's file and the session in the window: with its model read, ready to be run.
namespace decoderscope {

struct PinnedWork {
    std::string label;
    Scenario scenario;
};

struct SavedWork {
    Scenario scenario;
    Cursor cursor;  // no step: where the model's maker says to look
    Sampling sampling;
    SavedView view;
    std::vector<PinnedWork> pins;
    std::string saved_as;              // the file that it was opened from or saved to; empty: none yet
    std::vector<std::string> remarks;  // what is not as it was when it was saved, a sentence each
};

// Reads a session and its models. A model whose files are others than they were is opened all the same, with a remark,
// and without the edits that no longer fit it. Throws Error naming the session's file, and the key or the model that is
// missing; LoadStopped where `progress` says to stop.
[[nodiscard]] SavedWork open_session(const std::string& path, LoadProgress* progress = nullptr);
// The same with the file already read; messages name it `name`.
[[nodiscard]] SavedWork open_session(const SessionFile& file, const std::string& name,
                                     LoadProgress* progress = nullptr);

// The run that the work keeps to compare with, computed; nullptr where it keeps none.
[[nodiscard]] Resumable<std::shared_ptr<const ReferenceRun>> pinned_run(const SavedWork& work);

// The checksums of a model's files: of its weights (all files of them, by name, one after the other) and of its
// config.json. Empty for what has no files.
struct ModelChecksums {
    std::string weights, config;
};
[[nodiscard]] Resumable<ModelChecksums> checksums_of_model(std::string name);

// The work as its file holds it, but for the models' checksums, which take longer to make.
[[nodiscard]] SessionFile session_file_of(const SavedWork& work);

}  // namespace decoderscope
