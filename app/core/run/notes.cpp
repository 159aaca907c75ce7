#include "app/core/run/notes.h"

#include "engine/base/error.h"

#include <algorithm>
#include <utility>

namespace decoderscope::core {

namespace {

constexpr std::string_view kBetweenParts = "./";  // in names of ours, and of recordings

bool keeps_nothing(const Note& note) { return note.text.empty() && !note.watched; }

void check_text(const Note& note) {
    if (note.text.size() > kLongestNote)
        throw Error("the note on {place} has {size} bytes, expected at most {most}",
                    {{"place", place_text(note)}, {"size", note.text.size()}, {"most", kLongestNote}});
}

}  // namespace

bool is_in(std::string_view part, std::string_view step) {
    return step.starts_with(part) &&
           (step.size() == part.size() || kBetweenParts.find(step[part.size()]) != std::string_view::npos);
}

std::string_view part_around(std::string_view step) {
    const std::size_t end = step.find_last_of(kBetweenParts);
    return step.substr(0, end == std::string_view::npos ? 0 : end);
}

CellName step_or_cell(const std::string& place) {
    return place.find_first_of("[]") == std::string::npos ? CellName{place, {}} : parse_cell_name(place);
}

std::string place_text(const Note& note) { return note.cell.empty() ? note.step : cell_name(note.step, note.cell); }

Note note_at(const std::string& place, std::string text, bool watched) {
    if (place.empty())
        throw Error("a note's place is empty, expected a step or a cell such as blocks.0.attn.z[0, 1, 2, 3]");
    CellName name = step_or_cell(place);
    Note note{std::move(name.tensor), std::move(name.cell), std::move(text), watched};
    if (keeps_nothing(note)) throw Error("the note on {place} is empty, expected a text", {{"place", place}});
    check_text(note);
    return note;
}

Notes with_note(Notes notes, Note note) {
    check_text(note);
    const auto known = std::ranges::find_if(
        notes, [&](const Note& other) { return other.step == note.step && other.cell == note.cell; });
    const bool begins = note.watched && (known == notes.end() || !known->watched);
    if (begins && watched_among(notes).size() >= kMostWatched)
        throw Error("{count} numbers are watched already, and no more fit; stop watching one first",
                    {{"count", kMostWatched}});
    if (known != notes.end() && keeps_nothing(note)) {
        notes.erase(known);
    } else if (known != notes.end()) {
        *known = std::move(note);
    } else if (!keeps_nothing(note)) {
        if (notes.size() >= kMostNotes)
            throw Error("there are {count} notes already, and no more can be kept; remove one first",
                        {{"count", notes.size()}});
        notes.push_back(std::move(note));
    }
    return notes;
}

const Note* find_note(const Notes& notes, std::string_view step, const Cell& cell) {
    const auto found =
        std::ranges::find_if(notes, [&](const Note& note) { return note.step == step && note.cell == cell; });
    return found == notes.end() ? nullptr : &*found;
}

std::vector<const Note*> watched_among(const Notes& notes) {
    std::vector<const Note*> watched;
    for (const Note& note : notes)
        if (note.watched) watched.push_back(&note);
    return watched;
}

std::vector<const Note*> notes_of(const Notes& notes, std::string_view step) {
    std::vector<const Note*> found;
    for (const Note& note : notes)
        if (note.step == step && !note.text.empty()) found.push_back(&note);
    return found;
}

std::size_t count_notes(const Notes& notes, std::string_view step) {
    return static_cast<std::size_t>(
        std::ranges::count_if(notes, [&](const Note& note) { return !note.text.empty() && is_in(note.step, step); }));
}

std::vector<NotedCell> noted_cells(const Notes& notes, const Step& step, const Slice& slice) {
    std::vector<NotedCell> noted;
    for (const Note* note : notes_of(notes, step.name)) {
        Cell cell = note->cell;
        const bool row = cell.size() + 1 == step.axes.size() && !cell.empty();
        if (row) cell.push_back(0);
        if (const auto at = slice.find(cell); at && at->first < slice.rows() && at->second < slice.columns())
            noted.push_back({at->first, row ? std::nullopt : std::optional(at->second), note->text});
    }
    return noted;
}

}  // namespace decoderscope::core
