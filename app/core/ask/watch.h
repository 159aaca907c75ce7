#pragma once

#include "engine/graph/edit.h"
#include "engine/graph/plan.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace decoderscope::core::ask {

// What a row's formula names and nothing else defines, and what is written in its place: "temperature", "(0.5)".
using Numbers = std::map<std::string, std::string, std::less<>>;

// What a sweep watches: a tensor of the run, or a row that it adds.
struct Row {
    std::string tensor;
    std::optional<AddRow> added;
    std::vector<AddRow> before = {};  // rows that only the varied runs have, as they name numbers; it may read them
};

// "NAME = FORMULA", a formula alone, or the name of a tensor that the plan, or a row before it, has. Throws Error if it
// is none of them.
[[nodiscard]] Row row_from(std::string_view text, const Plan& plan, std::vector<AddRow> before = {});

// The row as it was written: its name, or its formula if it has no name of its own.
[[nodiscard]] std::string text_of(const Row& row);
// The row of its operands that a formula reads if that is one row of each, as "logits[0, 5, 7]" and the difference of
// two such cells do; nothing otherwise.
[[nodiscard]] std::optional<Index> row_read_by(const AddRow& row, const Plan& plan);
// Whether a formula has this name.
[[nodiscard]] bool names(const AddRow& row, std::string_view name);
// Whether the row's formula, or one before it, names something that is no tensor of the plan.
[[nodiscard]] bool names_number(const Row& row, std::string_view name, const Plan& plan);
// The row with these written out in its formula.
[[nodiscard]] AddRow with_numbers(AddRow row, const Numbers& numbers);

}  // namespace decoderscope::core::ask
