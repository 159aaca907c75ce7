#include "engine/formulas/tensor_reader.h"

#include <algorithm>
#include <array>

namespace decoderscope::formulas {

std::string type_called(std::string_view quoted) {
    if (quoted.starts_with("dtype ")) quoted.remove_prefix(6);
    const auto* found =
        std::ranges::find(kTypes, quoted, [](const auto& type) { return std::string_view(type.first); });
    return found == kTypes.end() ? "" : found->second;
}

Part TensorReader::number_of_condition(Arguments& a) {
    const Part& given = a_input(a);
    const Part x = given.cell || given.quoted.empty() ? tensor(given) : text_as_number(given);
    if (kind(x) != NumberKind::condition) return x;
    return applied_to(Op::choose, {x, number_part(1.0), number_part(0.0)}, a.at);
}

Part TensorReader::whole_number(Arguments& a) {
    const Part x = number_of_condition(a);
    return kind(x) == NumberKind::real ? called("", {.function = "trunc", .at = a.at, .all = {x}}) : x;
}

Part TensorReader::clamped(Arguments& a) {
    if (!a.by_name.contains("min") && !a.by_name.contains("max")) fail_without(a, "min");
    Part x = tensor(a_input(a));
    for (const auto& [bound, op] : {std::pair{"min", Op::max}, std::pair{"max", Op::min}})
        if (const auto found = a.by_name.find(bound); found != a.by_name.end())
            x = applied_to(op, {x, found->second}, a.at);
    return x;
}

Part TensorReader::count_of_numbers(Arguments& a) {
    const Part& x = a_input(a);
    if (x.chosen) {  // as many as are chosen
        const Arguments sum{
            .function = "sum", .at = a.at, .all = {{.axes = x.axes, .cell = number(1.0), .chosen = x.chosen}}};
        return called("", sum);
    }
    Index count = 1;
    for (const IndexedAxis& axis : tensor(x).axes) count *= axis.dim.size;
    return number_part(static_cast<double>(count));
}

Part TensorReader::count_of_axes(Arguments& a) {
    return number_part(static_cast<double>(tensor(a_input(a)).axes.size()));
}

Part TensorReader::length(Arguments& a) {
    if (is_row_of_chosen(a_input(a))) return count_of_numbers(a);
    if (!a_input(a).cell && a_input(a).quoted.empty()) return number_part(static_cast<double>(count_in(a_input(a))));
    const Part& x = tensor(a_input(a));
    return {.cell = size_of(x.axes[position(x, 0, a.at)])};
}

Part TensorReader::one_number(Arguments& a) {
    Part x = tensor(a_input(a));
    for (const IndexedAxis& axis : x.axes)
        if (axis.dim.size != 1)
            throw FormulaError(message("{function} needs a tensor of one number: {operand}",
                                       {{"function", a.function}, {"operand", shown(x)}}),
                               a.at);
    while (!x.axes.empty()) x = at_index(x, 0, number(0.0));
    return x;
}

Part TensorReader::spread_and_mean(Arguments& a) {
    const Part spread = called(a.module, {.function = a.function.substr(0, 3), .at = a.at, .by_name = a.by_name});
    a.by_name.erase("correction");
    return {.items = {spread, called(a.module, {.function = "mean", .at = a.at, .by_name = a.by_name})}};
}

Part TensorReader::no_dropout(Arguments& a) {
    if (a.by_name.at("training").quoted == "True" && known(tensor(a.by_name.at("p"))) != 0.0)
        throw FormulaError(message("{function}: no dropout is drawn here", {{"function", a.function}}), a.at);
    return tensor(a_input(a));
}

Part TensorReader::type_of(Arguments& a) {
    if (a.function == ".device") return {.quoted = "a device"};
    const NumberKind of = kind(tensor(a_input(a)));
    return {.quoted = of == NumberKind::condition ? "dtype bool"
                      : of == NumberKind::real    ? "dtype float"
                                                  : "dtype int"};
}

Part TensorReader::tensor_of(const Part& x, std::size_t at) {
    if (is_truth(x)) return {.cell = apply(Op::equal, {tensor(x).cell, number(1.0)}, at)};  // chooses, as a mask does
    if (x.cell || x.items.empty()) return tensor(x);
    Arguments a{.function = "stack", .at = at};
    Part& list = a.by_name["tensors"];
    for (const Part& item : x.items) list.items.push_back(tensor_of(item, at));
    for (const Part& item : list.items)
        for (std::size_t n = 0; n < std::max(item.axes.size(), list.items[0].axes.size()); ++n)
            if (item.axes.size() != list.items[0].axes.size() ||
                item.axes[n].dim.size != list.items[0].axes[n].dim.size)
                throw FormulaError(message("the parts of a list are of one shape"), at);
    a.by_name["dim"] = number_part(0.0);
    return stacked(a);
}

Part TensorReader::distribution(Arguments& a) {
    const bool has_logits = a.by_name.contains("logits");
    const Part x = tensor(a.by_name.at(has_logits ? "logits" : "probs"));
    return {.items = {said(has_logits ? "x.softmax(-1)" : "x / x.sum(-1, keepdim=True)", {{"x", x}}, a.at)},
            .quoted = std::string(kDistribution)};
}

Part TensorReader::zipped(Arguments& a) {
    Part list{.begin = a.at, .end = a.at};
    Index count = count_in(a.all[0]);
    for (const Part& x : a.all) count = std::min(count, count_in(x));
    for (Index i = 0; i < count; ++i) {
        Part& together = list.items.emplace_back();
        if (a.function == "enumerate") together.items.push_back(number_part(static_cast<double>(i)));
        for (const Part& x : a.all) together.items.push_back(part_in(x, i));
    }
    return list;
}

Part TensorReader::typed(Arguments& a) {
    const Part& type = a.by_name.at("dtype");
    if (type.quoted.empty()) throw FormulaError(message("a type is needed here, as torch.float32"), type.begin);
    if (const std::string kind = type_called(type.quoted); !kind.empty()) return as_type(a_input(a), kind, a.at);
    if (a.function == "astype") throw FormulaError(message("a type is needed here, as torch.float32"), type.begin);
    return tensor(a_input(a));  // a device
}

Part TensorReader::as_type(const Part& x, const std::string& type, std::size_t at) {
    return called("", {.function = type, .at = at, .all = {x}});
}

bool TensorReader::is_row_of_chosen(const Part& x) {
    return x.chosen &&
           std::ranges::all_of(x.axes, [&](const IndexedAxis& axis) { return x.chosen->indices.contains(axis.index); });
}

Part TensorReader::size(Arguments& a) {
    Part sizes;
    if (is_row_of_chosen(a_input(a))) {
        sizes.items.push_back(count_of_numbers(a));
        return a.by_name.contains("dim") ? sizes.items[0] : sizes;
    }
    const Part& x = tensor(a_input(a));
    for (const IndexedAxis& axis : x.axes) sizes.items.push_back({.cell = size_of(axis)});
    const auto dim = a.by_name.find("dim");
    return dim == a.by_name.end() ? sizes : sizes.items[position(x, whole(dim->second), a.at)];
}

Part TensorReader::values(Arguments& a) {
    constexpr std::array<std::string_view, 6> kFirst{".values", ".min", ".eigenvalues", ".solution", ".real", ".sign"};
    return item(a_input(a), number_part(std::ranges::find(kFirst, a.function) != kFirst.end() ? 0.0 : 1.0), a.at);
}

}  // namespace decoderscope::formulas
