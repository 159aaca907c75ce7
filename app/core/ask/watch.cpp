#include "app/core/ask/watch.h"

#include "app/core/text/characters.h"
#include "engine/base/error.h"
#include "engine/formulas/print.h"
#include "engine/formulas/tokens.h"
#include "engine/sheet/scope.h"
#include "engine/sheet/sheet.h"
#include "engine/tensor/rows.h"
#include "engine/tensor/tensor.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace decoderscope::core::ask {

namespace {

using formulas::Kind;
using formulas::Token;

// What a row is called if its owner gives it no name.
constexpr const char* kUnnamed = "row";

std::vector<Token> tokens_of_formula(std::string_view text) {
    return formulas::tokens_of(text, [](std::string_view) { return true; });
}

// Whether "=" stands behind a name, which may have indices and a "*" for every layer: "blocks.*.attn.entropy[q] = ".
// "softmax(x, dim=-1)" has none.
bool names_itself(std::string_view text) {
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos || text.substr(equals + 1).starts_with('=')) return false;
    const std::string_view left = text.substr(0, equals);
    const auto is_of_name = [](char c) {
        const auto letter = static_cast<unsigned char>(c);
        return std::isalnum(letter) != 0 || letter >= 0x80 ||
               std::string_view("_.* ").find(c) != std::string_view::npos;
    };
    return std::all_of(left.begin(), left.begin() + static_cast<std::ptrdiff_t>(std::min(left.find('['), left.size())),
                       is_of_name);
}

}  // namespace

Row row_from(std::string_view text, const Plan& plan, std::vector<AddRow> before) {
    if (text.find_first_not_of(" \t\n") == std::string_view::npos)
        throw Error("there is no row, expected a formula or the name of a tensor");
    if (plan.find(text) != nullptr || std::ranges::find(before, text, row_name) != before.end())
        return {std::string(text), std::nullopt, std::move(before)};
    AddRow row =
        names_itself(text) ? sheet::row_of(text) : AddRow{.name = kUnnamed, .of = "", .formula = std::string(text)};
    std::string name = row_name(row);
    if (name.find('*') != std::string::npos)
        throw Error("{row}: a sweep watches one row, expected a layer's number in place of \"*\"", {{"row", name}});
    return {std::move(name), std::move(row), std::move(before)};
}

bool names(const AddRow& row, std::string_view name) {
    return std::ranges::any_of(tokens_of_formula(row.formula),
                               [&](const Token& token) { return token.kind == Kind::name && token.word == name; });
}

std::optional<Index> row_read_by(const AddRow& row, const Plan& plan) {
    std::optional<Index> read;
    for (std::size_t begin = 0; begin < row.formula.size();) {
        const std::size_t end = std::min(row.formula.find(" - ", begin), row.formula.size());
        const std::string_view part = trimmed(std::string_view(row.formula).substr(begin, end - begin));
        begin = end + 3;
        if (!part.ends_with(']') || std::ranges::count(part, '[') != 1) return std::nullopt;
        try {
            const CellName cell = parse_cell_name(part);
            const Ref step = plan.find(cell.tensor);
            const auto axis = step == nullptr ? std::nullopt : row_axis(step->axes);
            if (!axis || cell.cell.size() != step->axes.size()) return std::nullopt;
            const Index at = cell.cell[*axis];
            if (at < 0 || at >= row_count(step->axes) || (read && *read != at)) return std::nullopt;
            read = at;
        } catch (const Error&) {  // a formula
            return std::nullopt;
        }
    }
    return read;
}

std::string text_of(const Row& row) {
    return row.added && row.added->name == kUnnamed ? row.added->formula : row.tensor;
}

bool names_number(const Row& row, std::string_view name, const Plan& plan) {
    const auto is_named_by = [&](const AddRow& one) {
        return names(one, name) && !sheet::Scope(plan, one.of, plan.steps().size()).find(name);
    };
    return (row.added && is_named_by(*row.added)) || std::ranges::any_of(row.before, is_named_by);
}

AddRow with_numbers(AddRow row, const Numbers& numbers) {
    if (numbers.empty()) return row;
    std::string text;
    std::size_t copied = 0;
    for (const Token& token : tokens_of_formula(row.formula)) {
        const auto number = token.kind == Kind::name ? numbers.find(token.word) : numbers.end();
        if (number == numbers.end()) continue;
        text += row.formula.substr(copied, token.begin - copied) + number->second;
        copied = token.end;
    }
    row.formula = text + row.formula.substr(copied);
    return row;
}

}  // namespace decoderscope::core::ask
