#pragma once

#include "app/core/figure/exhibit.h"
#include "app/core/run/exhibit_step.h"
#include "app/core/tabs/cost/cost.h"
#include "engine/base/message.h"

#include <iosfwd>
#include <string>

// A table of costs in words, files and terminals.
namespace decoderscope::core::cost {

// "1.25 M", "13.2 k", "640": a count to three digits.
[[nodiscard]] std::string amount_text(std::uint64_t amount);
// "13.2 µs", "1.25 ms", "2.00 s".
[[nodiscard]] std::string time_text(std::uint64_t nanoseconds);
// "13.2 kB", "1.25 MB"; "0" if none.
[[nodiscard]] std::string byte_text(std::uint64_t bytes);
// As one of these, whichever the rows are sorted by.
[[nodiscard]] std::string cost_text(const Cost& cost, SortedBy what);

// What was measured, and on what; and what is counted.
[[nodiscard]] Sentence measured_sentence(const PassCost& pass);
[[nodiscard]] Sentence counted_sentence();
[[nodiscard]] Sentence weights_sentence(const PassCost& pass);

// A JSON object: "by", "passes", "products_by", "weight_bytes"; "rows", each with "name", of steps "part" and "block"
// (null outside the blocks), "steps", "milliseconds", "kept_bytes", "operations", "moved_bytes"; and "total", their
// sum.
void write_json(std::ostream& out, const CostTable& table, const PassCost& pass);
// CSV (RFC 4180, UTF-8): a header, then a line for each row with the same columns. It has no line for the total.
void write_csv(std::ostream& out, const CostTable& table);
// As above, in aligned columns for a terminal, with the total and the two sentences.
void write_text(std::ostream& out, const CostTable& table, const PassCost& pass);

// A row for each of the table's, a column for each number.
[[nodiscard]] Exhibit cost_exhibit(const ShownRun& shown, const CostTable& table, const PassCost& pass);

}  // namespace decoderscope::core::cost
