#pragma once

#include "app/core/figure/export.h"
#include "app/core/files/saved_view.h"
#include "app/core/generate/sampling.h"
#include "app/core/run/cursor.h"
#include "app/core/run/edits.h"
#include "app/core/run/notes.h"
#include "app/core/run/open_model.h"
#include "app/core/run/scenario.h"
#include "app/core/run/slice.h"
#include "app/core/run/talk.h"
#include "app/core/run/typed_inputs.h"
#include "app/core/train/training_plan.h"
#include "engine/base/any_of.h"
#include "engine/base/message.h"
#include "engine/graph/edit.h"
#include "engine/load/model_folder.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace decoderscope::core {
struct ReferenceRun;
}

// What the user can ask for. Views return these; they take effect only in Session::apply.
namespace decoderscope::core::command {

// ---- what is run

// Opens a bundled model, a folder or a file, on its own example; or a trace, as it was recorded. It is read in the
// background.
struct OpenModel {
    std::string name;
    Overrides answers;                  // to what its files don't say
    load::names::Mapping mapping = {};  // of its tensors; empty: recognised by their names
    OpenAs as = OpenAs::whatever_it_is;
};
// Opens a scenario that is there already, as a place of a lesson does; undo brings back what was open. Then the cursor
// goes to `step`, or where the model's author suggests.
struct OpenScenario {
    std::shared_ptr<const Scenario> scenario;
    std::string step;
};
// Opens a session with all its contents. `recovered`: an autosave of a process that has ended; its work still counts as
// unsaved, whatever file it came from.
struct OpenSession {
    std::string path;
    bool recovered = false;
};
// Opens the session of a link, with all its contents.
struct OpenLink {
    std::string link;
};
// Writes the work to a session file. `view` is the window's part, which the session doesn't know.
struct SaveSession {
    std::string path;
    files::SavedView view;
};
// Deletes the offered autosave.
struct DiscardLeftover {};
// Cancels the model that is being read or has open questions, and clears a failed one.
struct StopOpening {};
// Shows what was assumed when the model was opened, so that it can be answered differently.
struct AskAgain {};

// Runs on the typed input. Edits that no longer fit are dropped, with a message. `continues` merges with the previous
// typing. If the input can't be run, the run stays as it was, and Session::input_error() says why.
struct TypeInput {
    TypedSequences typed;
    bool continues = false;
};
// Lets an encoder–decoder write its target: it arrives as if it had been typed.
struct WriteTarget {};
// Cancels that.
struct StopWriting {};
// Sets a configuration key, as --set does.
struct SetOption {
    std::string key, value;
};
// How much of a run is kept.
struct SetRecording {
    Recording recording = Recording::fit;
};
// Switches dropout on with this seed; without one, off.
struct SetDropout {
    std::optional<std::uint64_t> seed;
};
// Also computes the gradient of this with respect to everything: a cell as "logits[0, 1, 2]", or "loss"; empty: none
// (engine/backward/gradient.h).
struct SetGradients {
    std::string of;
};
// Several cells of a mask at once: a stroke of the brush, a row, a column, a sliding window. One change, or part of the
// previous one.
struct PaintMasks {
    MaskStroke stroke;
    bool continues = false;
    bool instead = false;  // replaces everything painted there before
};
// Undoes all painting on a mask in a batch row, for one head or all.
struct ResetMask {
    std::string attention;
    Index batch = 0;
    std::optional<Index> head;
};
// How many positions of a batch row are not padding. `source`: of the encoder's input or the memory.
struct SetKeptLength {
    bool source = false;
    Index batch = 0;
    Index length = 0;
    bool continues = false;
};
// One cell of a mask, for one head or all. `continues` merges with the previous change, so that a drag is undone as
// one.
struct PaintMask {
    std::string attention;
    Index batch = 0;
    std::optional<Index> head;
    Index query = 0, key = 0;
    bool keep = false;
    bool continues = false;
};
// Runs one pass of a text that is computed in several, of so many positions each (passes_of_text.h), and goes to a cell
// of it.
struct ShowPass {
    std::vector<Index> sizes;
    std::size_t pass = 0;
    Cursor goes_to = {};
};
// Runs the whole text in one pass again.
struct ShowWholeText {};
// Appends a token to a batch row, and others after it.
struct AppendToken {
    Index batch = 0;
    Index token = 0;
    std::vector<Index> then = {};
};
// Removes the last token of a batch row.
struct RemoveLastToken {
    Index batch = 0;
};
// How the next token is drawn.
struct SetSampling {
    generate::Sampling sampling;
};
// What is trained, and how. `typed`: the person's own text, where all typing in a row is one change.
struct ChangeTraining {
    train::TrainingPlan plan;
    bool typed = false;
};
// Scales a head's output by a factor: 0 is off, 1 is unchanged. `continues` merges with the previous change, as in a
// drag.
struct ScaleHeadTo {
    std::string attention;
    Index head = 0;
    float factor = 0.0F;
    bool continues = false;
};
// Switches off all other heads of an attention; without `solo`, resets all its heads.
struct SoloHead {
    std::string attention;
    Index head = 0;
    bool solo = true;
};
// Switches an expert off or sends positions to it alone; with `undone`, takes this edit back.
struct UseExpert {
    RouteExpert use;
    bool undone = false;
};
// Overwrites one cell of a tensor.
struct TypeOver {
    std::string tensor;
    Cell cell;
    float value = 0.0F;
};
// Makes this edit part of the work, in place of another or of one of the same thing: a formula, a row. Then goes to a
// step that is only there with it.
struct MakeEdit {
    Edit edit;
    Cursor goes_to = {};
    std::optional<Edit> in_place_of = std::nullopt;
};
// Makes a variation part of the work: its configuration keys, its edits (in place of all others, if it has none of
// them) and its seed of dropout, as one change. Nothing else of it can be kept.
struct KeepVariation {
    Variation variation;
};
// Removes edits by their numbers in the list, as one change.
struct RemoveEdits {
    std::vector<std::size_t> numbers;
};
struct ClearEdits {};
struct Undo {};
struct Redo {};
// Undoes all that was done since this was the scenario (Session::scenario_number); nothing if undo doesn't lead there.
struct UndoTo {
    std::uint64_t scenario = 0;
};

// ---- where the cursor is

struct GoTo {
    std::string step;
};
// Steps along the timeline.
struct Move {
    int by = 1;
};
// The same step in another block of the stack.
struct MoveLayer {
    int by = 1;
};
struct GoFirst {};
struct GoLast {};
struct ChooseBatch {
    Index batch = 0;
};
struct ChooseHead {
    Index head = 0;
};
// For a step that has rows for each position, or a matrix for each expert: chooses the one that is shown. Ignored by
// all other steps.
struct ChooseOuter {
    Index outer = 0;
};
// Explains a cell of the current step.
struct SelectCell {
    Cell cell;
};
// Goes to a cell that the selected one was computed from (or any other); GoBack returns.
struct Follow {
    std::string step;
    Cell cell;
};
struct GoBack {
    std::size_t steps = 1;
};
struct Deselect {};
// Pins a sentence to a step, or to its cell or row, in place of the one that is there; an empty one removes it.
struct PinNote {
    Note note;
};

// Shows these beside the person's own notes until others replace them: a lesson's, while its page is open. They are not
// part of the work.
struct LendNotes {
    Notes notes;
};
// Colours map and timeline by the numbers of a file (overlay.h).
struct OpenOverlay {
    std::string path;
};
// Shows a fitted lens beside the logit lens (load/lens.h); an empty path takes it away.
struct UseLens {
    std::string path;
};
// Colours the strip by meaning again.
struct RemoveOverlay {};
// Replaces the talk: a state was added, changed, moved or removed. `typed`: a sentence or a note, where all typing in a
// row is one change.
struct ChangeTalk {
    Talk talk;
    bool typed = false;
};

// ---- training, in the background, as the choices say

// Begins afresh.
struct StartTraining {};
struct PauseTraining {
    bool paused = true;
};
// Drops the trainings.
struct ClearTraining {};
// Shows the models after this step, or, without one, after the newest from now on.
struct LookAtTraining {
    std::optional<Index> step;
};

// Computes a companion run to the current one, under a name that a tab gives it; without a variation, drops it.
struct RequestAuxRun {
    std::string name;
    std::optional<Variation> variation;
};

// Keeps a run to compare later ones with: this one or, for nullptr, the current one.
struct Pin {
    std::shared_ptr<const ReferenceRun> run = nullptr;
};
// Compares with the tensors of a safetensors file; an empty path ends the comparison.
struct CompareWithFile {
    std::string path;
};

// ---- what leaves the program

// Exports what is shown in the background; the path's extension gives the format.
struct Export {
    std::string path;                        // with `each` a new folder
    std::shared_ptr<const Exhibit> exhibit;  // nullptr: the current step
    ExportOptions options;
    std::string each;  // extension, for one file per heatmap; empty: one file
};
// Cancels the export under way and leaves no file.
struct StopExport {};

// Writes a model's folder, and, if asked to, opens it.
struct SaveModel {
    std::shared_ptr<const load::ModelFolder> model;
    std::string path;
    bool open = false;
};

// Shows a sentence to the user; an empty one takes away what was said.
struct Tell {
    Sentence sentence;
    bool failed = true;
};

// All of the above.
struct All : Types<OpenModel, OpenScenario, OpenSession, OpenLink, SaveSession, DiscardLeftover, StopOpening, AskAgain,
                   TypeInput, WriteTarget, StopWriting, ShowPass, ShowWholeText, SetOption, SetRecording, SetDropout,
                   SetGradients, AppendToken, RemoveLastToken, SetSampling, PaintMask, ScaleHeadTo, SoloHead, UseExpert,
                   TypeOver, MakeEdit, KeepVariation, RemoveEdits, ClearEdits, Undo, Redo, UndoTo, GoTo, PaintMasks,
                   ResetMask, SetKeptLength, Move, MoveLayer, GoFirst, GoLast, ChooseBatch, ChooseHead, ChooseOuter,
                   PinNote, LendNotes, OpenOverlay, RemoveOverlay, UseLens, ChangeTalk, SelectCell, Follow, GoBack,
                   Deselect, RequestAuxRun, Pin, CompareWithFile, ChangeTraining, StartTraining, PauseTraining,
                   ClearTraining, LookAtTraining, Export, StopExport, SaveModel, Tell> {};

}  // namespace decoderscope::core::command

namespace decoderscope::core {

using Command = AnyOf<command::All>;

}  // namespace decoderscope::core
