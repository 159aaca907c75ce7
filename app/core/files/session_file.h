#pragma once

#include "app/core/files/saved_view.h"
#include "app/core/generate/sampling.h"
#include "app/core/run/comparison.h"
#include "app/core/run/cursor.h"
#include "app/core/run/notes.h"
#include "app/core/run/overlay.h"
#include "app/core/run/scenario.h"
#include "app/core/run/talk.h"
#include "app/core/run/typed_inputs.h"
#include "app/core/train/training_plan.h"
#include "engine/graph/edit.h"

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace decoderscope::core::files {

// The parts of the work that can differ from what was opened or last saved.
enum class WorkPart { edits, input, settings, sampling, pin, training, notes, overlay, talk };
inline constexpr std::array<std::string_view, 9> kWorkPartNames = {"edits",    "input", "settings", "sampling", "pin",
                                                                   "training", "notes", "overlay",  "talk"};

// The work at one moment, to compare the present one with.
struct WorkMark {
    Scenario scenario;
    generate::Sampling sampling;
    std::shared_ptr<const ReferenceRun> pinned;
    train::TrainingPlan training = {};
    Notes notes = {};
    std::shared_ptr<const Overlay> overlay = nullptr;
    Talk talk = {};
};

// What differs between the two; empty if saving would write the same.
[[nodiscard]] std::vector<WorkPart> changed_parts(const WorkMark& before, const WorkMark& now);

// A session as a file (.dscope) holds it: plain data, no model read yet. docs/sessions.md describes the format.

// Which model: a bundled one's name, or the path and checksums of its files.
struct SavedModel {
    std::string name;  // a bundled model's, or an absolute path
    bool bundled = false;
    Overrides answers;             // to what its files don't say
    load::names::Mapping mapping;  // of its tensors, if one was given
    bool trace = false;            // a trace, opened without its model
    std::string weights, config;   // checksums of its files; empty if not known
    bool operator==(const SavedModel&) const = default;
};

// Numbers of a vector input. Those of the model's example or an inputs file are too many for the session, which holds
// only their checksum. Others are in the session itself.
struct SavedTensor {
    bool of_example = false;
    std::string file;      // an absolute path
    std::string checksum;  // of the float32 numbers
    Tensor numbers;        // if they are neither the example's nor a file's
};

// What one sequence holds: texts or ids, one per batch row.
struct SavedSequence {
    std::optional<std::vector<std::string>> text;
    std::optional<TokenRows> tokens;  // shorter rows are padded
    std::optional<TokenRows> mask;    // 1 = keep; only if it differs from the padding
};

// Missing parts come from the model's own example.
struct SavedInput {
    SavedSequence target, source;
    std::map<std::string, SavedTensor, std::less<>> numbers;  // of inputs that aren't texts: x, memory, custom_mask, …
};

// A text that was cut into passes: TextInPasses, whose text is the input.
struct SavedPasses {
    std::vector<Index> sizes;
    std::optional<std::size_t> shown;
    std::vector<std::vector<Edit>> edits;  // [pass], none from the last edited one on
    std::vector<Edit> text_edits;
};

// All that one run depends on.
struct SavedRun {
    SavedModel model;
    Overrides set;  // configuration keys, as --set gives them
    SavedInput input;
    std::vector<Edit> edits;
    std::optional<SavedPasses> passes;
    std::optional<std::uint64_t> dropout_seed;
    std::string gradient_target;  // a cell or "loss"; empty: none
    std::string mutation;         // a mistake to compute with, by its name; empty: none
    std::string lens;             // the absolute path of a fitted lens's file; empty: none
    Recording recording = Recording::fit;
    std::map<Index, std::vector<Index>> generated;   // tokens at the end of a batch row, by row
    std::optional<chat::Conversation> conversation;  // what the tokens and targets were made from
};

struct SavedPin {
    std::string label;
    SavedRun run;
};

struct SessionFile {
    SavedRun run;
    Cursor cursor;  // no step: where the model's author suggests
    generate::Sampling sampling;
    SavedView view;
    Notes notes;
    std::shared_ptr<const Overlay> overlay;  // nullptr: none
    Talk talk = {};                          // paths in its states are absolute
    std::vector<SavedPin> pins;
    std::string saved_as;      // in an autosave: the file that this work was opened from or saved to; otherwise empty
    std::string saved_as_was;  // the checksum of that file then; of a file that was read and no autosave: its own
    std::vector<WorkPart> changed;  // in an autosave: what differs from what was opened or last saved
    bool linked = false;            // it came as a link, from anyone
};

inline constexpr std::string_view kSessionFormat = "decoderscope-session";
inline constexpr std::uint64_t kSessionVersion = 1;
inline constexpr std::string_view kSessionEnding = ".dscope";
// Where the object of Compare is, rather than under "labs" as those of all other tabs. The recording that is compared
// with is in it, as "file". In 0.2.0 it was Diff's, and that of Norms, now a part of it, stood beside it.
inline constexpr const char *kCompareKey = "compare", *kNormsKey = "norms";

// Whether only its tab's entry under "labs" says that a tab is open.
[[nodiscard]] bool needs_entry(std::string_view tab);
[[nodiscard]] bool is_session_path(std::string_view path);

// As JSON, laid out to be compared line by line. Paths below `folder` are written relative to it.
[[nodiscard]] std::string session_text(const SessionFile& file, const std::string& folder);
// Reads a session back. Throws Error naming the key and what was expected; for a file of a newer version the error says
// what to do.
[[nodiscard]] SessionFile parse_session(std::string_view text, const std::string& folder);

// Reads and writes a session's file, which is written completely or not at all. Errors name the file. Returns the
// checksum of what was written.
[[nodiscard]] SessionFile read_session_file(const std::string& path);
std::string write_session_file(const std::string& path, const SessionFile& file);
// Whether there is something else in that file now than what had this checksum; not if it is gone.
[[nodiscard]] bool has_changed(const std::string& path, const std::string& was);

}  // namespace decoderscope::core::files
