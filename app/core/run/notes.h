#pragma once

#include "app/core/figure/heatmap.h"
#include "app/core/run/slice.h"
#include "engine/tensor/tensor.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace decoderscope::core {

// A sentence that a person pins to what a run shows. It changes no number.
struct Note {
    std::string step;  // by name, or the part of the model that it is in: "blocks.1", "blocks.1.attn"
    Cell cell;         // of the step; without its last index, a row; empty: all of the step
    std::string text;
    // Its number stays on the screen (watched.h). Only such a note may have no text.
    bool watched = false;
    bool operator==(const Note&) const = default;
};
using Notes = std::vector<Note>;

inline constexpr std::size_t kMostNotes = 1000, kLongestNote = 2000;  // notes; bytes
inline constexpr std::size_t kMostWatched = 12;

// "blocks.0.attn.z[0, 1, 2, 3]" is a cell, anything without brackets the name of a step or a part of the model. Throws
// Error quoting a malformed cell.
[[nodiscard]] CellName step_or_cell(const std::string& place);

// "blocks.0.attn.pattern[0, 1, 2, 3]", or the step's name alone. note_at reads it.
[[nodiscard]] std::string place_text(const Note& note);
// Throws Error if the place is neither a name nor a cell's name, the text is too long, or there is nothing to keep: no
// text, and it isn't watched.
[[nodiscard]] Note note_at(const std::string& place, std::string text, bool watched = false);

// The notes with this one in the place of another note on the same cell or step, or at the end; without it if it has no
// text and isn't watched. Throws Error if there would be too many notes or watched ones, or it is too long.
[[nodiscard]] Notes with_note(Notes notes, Note note);
// Null if there is none.
[[nodiscard]] const Note* find_note(const Notes& notes, std::string_view step, const Cell& cell);

// Whether a step is in a part of the model, or is that part: "blocks.1.attn.q" is in "blocks.1", and a recording's
// "h.1.attn/softmax/out" in "h.1.attn".
[[nodiscard]] bool is_in(std::string_view part, std::string_view step);
// The smallest part of the model that this step, or part, is in; empty if it is in none.
[[nodiscard]] std::string_view part_around(std::string_view step);

// Those that are watched, in their order.
[[nodiscard]] std::vector<const Note*> watched_among(const Notes& notes);

// What follows is about notes that have a text.

// The notes of a step, of its rows and of its cells, in their order.
[[nodiscard]] std::vector<const Note*> notes_of(const Notes& notes, std::string_view step);
// How many notes there are on a step, its cells, and the parts of the map that it is in.
[[nodiscard]] std::size_t count_notes(const Notes& notes, std::string_view step);

// Those that stand on a row or a cell of a picture of this slice.
[[nodiscard]] std::vector<NotedCell> noted_cells(const Notes& notes, const Step& step, const Slice& slice);

}  // namespace decoderscope::core
