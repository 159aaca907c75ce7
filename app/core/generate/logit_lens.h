#pragma once

#include "engine/graph/run.h"

#include <string>
#include <utility>
#include <vector>

namespace decoderscope::core::generate {

// The most probable tokens at one place of the logit lens, best first; empty if a probability is not a number.
struct LensCell {
    std::vector<std::pair<Index, float>> top;  // token and probability

    [[nodiscard]] bool agrees_with(const LensCell& other) const {
        return !top.empty() && !other.top.empty() && top.front().first == other.top.front().first;
    }
};

// One batch row of the logit lens: what enters the first block, then what leaves each block.
struct LensTable {
    struct Row {
        std::string at;               // "embed", "blocks.0"
        std::vector<LensCell> cells;  // [pos]
    };
    std::vector<Row> rows;             // the last one is the output
    std::vector<std::size_t> settled;  // [pos]: the row from which on the top token is the final one
};

// Reads the table from a run with the logit lens, in parts, so that a window can spread the work over frames.
class LensReading {
public:
    // `length` positions of a batch row.
    LensReading(std::shared_ptr<const Run> run, Index row, Index length);

    // Continues until about this many more numbers are read. Returns whether all are.
    bool advance(Index numbers);
    // Complete once advance() has returned true.
    [[nodiscard]] const LensTable& table() const { return table_; }

private:
    std::shared_ptr<const Run> run_;
    Index row_, length_;
    std::vector<const Step*> probabilities_;  // of the rows of the table
    Index next_ = 0;                          // counts cells, row by row
    LensTable table_;
};

}  // namespace decoderscope::core::generate
