#pragma once

#include "app/core/export/export.h"
#include "app/core/generate/sampling.h"
#include "app/core/masks/mask_edits.h"
#include "app/core/session/recording.h"
#include "app/core/session/typed_inputs.h"
#include "app/core/step/slice.h"
#include "app/core/work/saved_view.h"
#include "engine/edit.h"

#include <memory>
#include <optional>
#include <string>
#include <variant>

// What a person can ask for. Views return these; Session::apply is the one place where they take effect.
namespace decoderscope::command {

// ---- what is run

// Opens a bundled model, a folder or a file, on its own example; it is read while the window goes on.
struct OpenModel {
    std::string name;
    Overrides answers;  // to what its files don't say
};
// Opens a session with all that it holds. `recovered` is the autosave of a process that is gone: its work is not saved
// yet, whatever file it came from.
struct OpenSession {
    std::string path;
    bool recovered = false;
};
// Writes the work to a session file. The window's part of it comes along, as the session doesn't know it.
struct SaveSession {
    std::string path;
    SavedView view;
};
// The autosave that is offered is not wanted: it is removed for good.
struct DiscardLeftover {};
// No longer opens the model that is being read or asks, and lets go of what failed.
struct StopOpening {};

// Runs on what was typed. Edits that no longer fit are dropped, with a message. `continues` adds to the typing before.
// Where it can't be run, the run stays as it was, and Session::input_error() says why.
struct TypeInput {
    TypedSequences typed;
    bool continues = false;
};
// Sets a configuration key, as --set does.
struct SetOption {
    std::string key, value;
};
// How much of a run is kept.
struct SetRecording {
    Recording recording = Recording::all;
};
// Switches dropout on with this seed; without one, off.
struct SetDropout {
    std::optional<std::uint64_t> seed;
};
// Cells of a mask at once: a stroke of the brush, a row, a column, a band. One change, or part of the one before.
struct PaintMasks {
    MaskStroke stroke;
    bool continues = false;
    bool instead = false;  // in place of all that was painted there before
};
// Takes back what was painted on a mask in a batch row, for one head or all.
struct ResetMask {
    std::string attention;
    Index batch = 0;
    std::optional<Index> head;
};
// How many positions of a batch row are no padding; `source` means the encoder's or the memory's.
struct SetKeptLength {
    bool source = false;
    Index batch = 0;
    Index length = 0;
    bool continues = false;
};
// One cell of a mask, for one head or all. `continues` adds to the change before, so that one drag is undone at once.
struct PaintMask {
    std::string attention;
    Index batch = 0;
    std::optional<Index> head;
    Index query = 0, key = 0;
    bool keep = false;
    bool continues = false;
};
// Puts a token behind a batch row.
struct AppendToken {
    Index batch = 0;
    Index token = 0;
};
// Takes the last token of a batch row away.
struct RemoveLastToken {
    Index batch = 0;
};
// How the next token is drawn.
struct SetSampling {
    Sampling sampling;
};
// A head's output times a factor: 0 is off, 1 is as it was. `continues` adds to the change before, as one drag does.
struct ScaleHeadTo {
    std::string attention;
    Index head = 0;
    float factor = 0.0F;
    bool continues = false;
};
// Switches all the other heads of an attention off; without `solo` every head of it is as it was.
struct SoloHead {
    std::string attention;
    Index head = 0;
    bool solo = true;
};
// Types over one cell of a tensor.
struct TypeOver {
    std::string tensor;
    Cell cell;
    float value = 0.0F;
};
struct RemoveEdit {
    std::size_t number = 0;
};
struct ClearEdits {};
struct Undo {};
struct Redo {};

// ---- where we look

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
// Explains a cell of the step that we look at.
struct SelectCell {
    Cell cell;
};
// Goes to a cell that the selected one was made from (or any other), with a way back.
struct Follow {
    std::string step;
    Cell cell;
};
struct GoBack {
    std::size_t steps = 1;
};
struct Deselect {};

// Computes another run beside the one that we look at, under a name that a lab gives it; without a variation no longer.
struct Accompany {
    std::string name;
    std::optional<Variation> variation;
};

// Keeps the present run to compare later ones with.
struct Pin {};
// Compares with the tensors of a safetensors file; with none where the path is empty.
struct CompareWithFile {
    std::string path;
};

// ---- what leaves the program

// Writes what is shown, while the window goes on; the format is the path's ending.
struct Export {
    std::string path;                        // with `each` a new folder
    std::shared_ptr<const Exhibit> exhibit;  // nullptr: the step that we look at
    ExportOptions options;
    std::string each;  // the ending of a file for every heatmap of it; empty: one file
};
// No longer writes what is being written; nothing is left of it.
struct StopExport {};

// Shows a sentence to the person.
struct Tell {
    std::string sentence;
    bool failed = true;
};

}  // namespace decoderscope::command

namespace decoderscope {

using Command =
    std::variant<command::OpenModel, command::OpenSession, command::SaveSession, command::DiscardLeftover,
                 command::StopOpening, command::TypeInput, command::SetOption, command::SetRecording,
                 command::SetDropout, command::AppendToken, command::RemoveLastToken, command::SetSampling,
                 command::PaintMask, command::ScaleHeadTo, command::SoloHead, command::TypeOver, command::RemoveEdit,
                 command::ClearEdits, command::Undo, command::Redo, command::GoTo, command::PaintMasks,
                 command::ResetMask, command::SetKeptLength, command::Move, command::MoveLayer, command::GoFirst,
                 command::GoLast, command::ChooseBatch, command::ChooseHead, command::SelectCell, command::Follow,
                 command::GoBack, command::Deselect, command::Accompany, command::Pin, command::CompareWithFile,
                 command::Export, command::StopExport, command::Tell>;

}  // namespace decoderscope
