#pragma once

#include "app/core/figure/heatmap.h"
#include "engine/base/json.h"
#include "engine/base/message.h"
#include "engine/graph/plan.h"

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

// An answer in rows: a value, which the window, a terminal, files and pictures read. What asks makes it, and nothing
// more.
namespace decoderscope::core {

// How a column's entries read where people do. Files have the number itself.
enum class Unit { words, number, difference, count, milliseconds, bytes };

struct Column {
    std::string name;     // in files: "kept_bytes"
    Sentence title = {};  // over its entries, and to sort by: "memory"; empty: only files have it
    Unit unit = Unit::words;
    int digits = 3;        // of a plain number
    Sentence tip = {};     // what it is
    bool if_wide = false;  // left out where the rows' names need the room
};

// Nothing, words, or a number; a tensor's is written with the digits that tell it from all other floats.
using Entry = std::variant<std::monostate, Sentence, double, std::uint64_t, float>;

struct TableRow {
    Sentence name;                        // what the row is about: "blocks.0.attn.z"
    std::vector<Entry> entries;           // one a column
    std::string step = {};                // where the row leads; empty: nowhere
    std::optional<Index> head = {};       // of the step's
    Cell cell = {};                       // of the step, if it leads to one
    std::vector<bool> doubted = {};       // which entries another one contradicts; empty: none
    Meaning meaning = Meaning::residual;  // the colour of its bars, or of its mark
    bool muted = false;                   // there is nothing to see in it
};

struct Table {
    std::string about;     // what the rows are about, in files: "step"
    Sentence title;        // "cost of a forward pass"
    Sentence about_title;  // over the rows' names: "step"
    std::vector<Column> columns;
    std::vector<TableRow> rows;
    std::optional<TableRow> total = std::nullopt;
    std::vector<Sentence> notes = {};                       // how it came about
    std::vector<std::pair<std::string, Entry>> facts = {};  // the same in files: "passes", 9
    std::optional<std::size_t> sorted_by = std::nullopt;    // the column; nothing: as it came
    bool sortable = false;                                  // by whoever reads it
    std::optional<std::size_t> bars = std::nullopt;  // the column that has bars of its own, to both sides of zero
    bool marks = false;                              // each row has a mark; no number has a bar

    // The column with this title, in English; nothing if there is none.
    [[nodiscard]] std::optional<std::size_t> titled(std::string_view title) const;
};

// The largest magnitude of a column first, NaN before it; of equal ones as they were; what has no number comes last.
void sort_by(Table& table, std::size_t column);

// The number of an entry; NaN if it has none.
[[nodiscard]] double number_of(const Entry& entry);
// An entry as people read it, in the window's language: "13.2 µs", "1.25 MB", "0.500", "3.2e-7"; empty if it is
// nothing.
[[nodiscard]] std::string text_of(const Entry& entry, Unit unit, int digits = 3);

// ---- what files, terminals and pictures make of a table

// A JSON object: what the rows are about as "by", the facts; "rows", each with "name" and its entries by the columns'
// names, null where there is nothing; and "total", if there is one, with its numbers.
void write_json(std::ostream& out, const Table& table);
// CSV (RFC 4180, UTF-8): a header, then a line for each row with the same entries. It has no line for the total.
void write_csv(std::ostream& out, const Table& table);
// Aligned columns for a terminal, with the total and the notes.
void write_text(std::ostream& out, const Table& table);
// A row for each of the table's, a column for each that has numbers and a title; of one column, its numbers alone.
[[nodiscard]] Heatmap picture_of(const Table& table);

}  // namespace decoderscope::core
