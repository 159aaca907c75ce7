#pragma once

#include "app/core/lessons/block_lines.h"
#include "app/core/lessons/lesson.h"

#include <string>
#include <vector>

// The kinds of block that a lesson has of its own. All throw Error with path, line and what was expected.
namespace decoderscope::lessons {

struct BlockSource {
    std::vector<BlockLine> lines;
    const FormulaTable& formulas;
    const std::string& path;
    int line = 0;  // of the block
};

void read_head(const BlockSource& source, Lesson& lesson);
[[nodiscard]] Place read_place(const BlockSource& source);
[[nodiscard]] Question read_question(const BlockSource& source);
[[nodiscard]] Table read_table(const BlockSource& source);

// "STEP[EXPRESSION, …]" or "STEP".
[[nodiscard]] CellAnswer parse_cell_answer(const std::string& text);
// "NAME = EXPRESSION".
void add_let(Lets& lets, const std::string& text);

}  // namespace decoderscope::lessons
