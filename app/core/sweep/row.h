#pragma once

#include "engine/graph/edit.h"
#include "engine/graph/plan.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace decoderscope::core::sweep {

// Numbers that a row's formula names and nothing else defines, by name: "temperature".
using Numbers = std::map<std::string, double, std::less<>>;

// What a sweep watches: a tensor of the run, or a row that it adds.
struct Row {
    std::string tensor;
    std::optional<AddRow> added;
};

// "NAME = FORMULA", a formula alone, or the name of a tensor that the plan has. Throws Error if it is none of them.
[[nodiscard]] Row row_from(std::string_view text, const Plan& plan);

// The row as it was written: its name, or its formula if it has no name of its own.
[[nodiscard]] std::string text_of(const Row& row);
// Whether the row's formula names something that is no tensor of the plan.
[[nodiscard]] bool names_number(const Row& row, std::string_view name, const Plan& plan);
// The row with its formula's numbers written out.
[[nodiscard]] AddRow with_numbers(AddRow row, const Numbers& numbers);

}  // namespace decoderscope::core::sweep
