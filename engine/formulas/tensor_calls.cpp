#include "engine/formulas/tensor_reader.h"
#include "engine/formulas/words.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <map>

namespace decoderscope::formulas {

namespace {

// What a name does that isn't read.
constexpr std::string_view kDraws = "it draws", kCounts = "it counts", kMakes = "it makes a function",
                           kStates = "it is a statement";

// Parameters that are True or False.
bool is_choice(std::string_view parameter) {
    constexpr std::array<std::string_view, 15> kChoices{
        "reverse", "keepdim", "descending", "log_target", "is_causal",     "training", "compute_uv",   "return_inverse",
        "right",   "largest", "sorted",     "stable",     "full_matrices", "some",     "return_counts"};
    return std::ranges::find(kChoices, parameter) != kChoices.end();
}

}  // namespace

Expr without_defaults(Op op, const std::vector<Expr>& in, std::size_t at) {
    const auto second = in.size() > 1 ? literal(in[1]) : std::nullopt;
    const double infinite = std::numeric_limits<double>::infinity();
    if ((op == Op::add && second == 0.0) || (op == Op::multiply && second == 1.0) ||
        (op == Op::min && second == infinite) || (op == Op::max && second == -infinite))
        return in[0];
    return applied(op, in, at);
}

std::vector<std::string> split(std::string_view text, std::string_view between) {
    std::vector<std::string> words;
    for (std::size_t end = 0; end != std::string_view::npos; text.remove_prefix(end + between.size())) {
        end = text.find(between);
        words.emplace_back(text.substr(0, end));
        if (end == std::string_view::npos) break;
    }
    return words;
}

void TensorReader::fail_of_axes(const Arguments& a, const Part& x, std::size_t count) const {
    throw FormulaError(message_n("{function} needs tensors with {count} axis: {operand}",
                                 "{function} needs tensors with {count} axes: {operand}", count,
                                 {{"function", a.function}, {"operand", shown(x)}}),
                       x.begin);
}

void TensorReader::fail_of_rank(const Arguments& a, const Part& x, const Part& other) const {
    throw FormulaError(message("{function} needs tensors with as many axes as {operand}",
                               {{"function", a.function}, {"operand", shown(x)}}),
                       other.begin);
}

void TensorReader::fail_of_twice(const Arguments& a, const Part& x) const {
    throw FormulaError(
        message("{function} names each axis of {operand} once", {{"function", a.function}, {"operand", shown(x)}}),
        a.at);
}

void TensorReader::fail_of_places(const Arguments& a, const IndexedAxis& axis, Index count) {
    throw FormulaError(
        message("{function}: {axis} has {size} places, not {count}",
                {{"function", a.function}, {"axis", axis.dim.axis}, {"size", axis.dim.size}, {"count", count}}),
        a.at);
}

void TensorReader::fail_of_one_axis(const Arguments& a) {
    throw FormulaError(message("{function} needs one axis", {{"function", a.function}}), a.at);
}

void TensorReader::fail_without(const Arguments& a, std::string_view parameter) {
    if (parameter == "minlength" || parameter == "num_classes")
        throw FormulaError(message("{function} needs “{parameter}” here: without it, its numbers say how many places "
                                   "there are, which is no axis",
                                   {{"function", a.function}, {"parameter", parameter}}),
                           a.at);
    throw FormulaError(message("{function} needs “{parameter}”", {{"function", a.function}, {"parameter", parameter}}),
                       a.at);
}

void TensorReader::fail_without_tensor(const Arguments& a) {
    throw FormulaError(message("{function} makes no tensor", {{"function", a.function}}), a.at);
}

std::vector<Part> TensorReader::sizes_in(const Arguments& a, std::size_t from) {
    const bool is_list = a.all.size() == from + 1 && !a.all[from].cell;
    return is_list ? a.all[from].items : std::vector(a.all.begin() + static_cast<std::ptrdiff_t>(from), a.all.end());
}

IndexedAxis TensorReader::axis_as_given(const Part& size) {
    const Index count = whole(size);
    if (count < 0) throw FormulaError(message("an axis has 0 places or more"), size.begin);
    const auto* named = size.cell->as<Constant>();
    return axis_of_size(named != nullptr ? named->name : std::to_string(count), count);
}

std::optional<Row> TensorReader::row_named(const std::string& name) const {
    static const std::map<std::string, const Row*> known = [] {
        std::map<std::string, const Row*> by_name;
        for (const Row& row : rows())
            if (row.meant.empty())
                for (const std::string& one : split(row.names, " ")) by_name.emplace(one, &row);
        return by_name;
    }();
    if (const auto found = known.find(name); found != known.end()) return *found->second;
    const auto function = functions_.find(name);
    std::string parameters;
    if (function != functions_.end() && function->second.along.empty())
        for (const std::string& p : function->second.parameters) parameters += (parameters.empty() ? "" : ", ") + p;
    else if (function_named(name) && name != "min" && name != "max")
        parameters = "input";
    return parameters.empty() ? std::nullopt : std::optional(Row{name, parameters, name + "(" + parameters + ")"});
}

std::string TensorReader::known_as(const std::string& name) const {
    std::string small = name;  // ReLU(x), as papers call them; of two letters they call others so: LN
    std::ranges::transform(small, small.begin(),
                           [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    return name.size() < 3 || row_named(name) || !row_named(small) ? name : small;
}

void TensorReader::fail_without_row(const std::string& name, std::size_t at) const {
    std::vector<std::string> known;
    for (const Row& row : rows())
        if (row.meant.empty())
            for (const std::string& name_of_row : split(row.names, " ")) known.push_back(name_of_row);
    for (const auto& [book, function] : functions_)
        if (function.along.empty()) known.push_back(book);
    for (const Spelling& s : spellings())
        if (s.level == kFunction) known.emplace_back(s.ascii);
    if (known_.operands.contains(name))
        throw FormulaError(
            message("“{name}” is a tensor: its places stand in square brackets, as in {name}[0]", {{"name", name}}),
            at);
    fail_with_meant(message("there is no function “{name}”", {{"name", name}}), name, known, at);
}

void TensorReader::fail_with_meant(const Sentence& missing, const std::string& name,
                                   const std::vector<std::string>& known, std::size_t at) {
    const std::string last = name.substr(name.rfind('.') + 1);
    const auto row = std::ranges::find_if(rows(), [&](const Row& one) {
        return !one.meant.empty() && std::ranges::count(split(one.names, " "), last) > 0;
    });
    if (row == rows().end()) throw FormulaError(with_nearest(missing, name, known), at);
    if (row->meant == kDraws)
        throw FormulaError(message("“{name}” draws at random, which a formula doesn't", {{"name", name}}), at);
    if (row->meant == kMakes)
        throw FormulaError(
            message("“{name}” calls a function that is written there: write instead what it makes of the "
                    "whole tensor, as x ** 2",
                    {{"name", name}}),
            at);
    if (row->meant == kStates)
        throw FormulaError(message("“{name}” is of a program, and a formula is one expression: write only what it "
                                   "computes, as x.max(-1).values",
                                   {{"name", name}}),
                           at);
    if (row->meant == kCounts)
        throw FormulaError(message("“{name}” makes as many places as its numbers say, which is no axis: write "
                                   "where(condition, x, 0), or the condition's .sum() for how many",
                                   {{"name", name}}),
                           at);
    throw FormulaError(message("{sentence}; is “{nearest}” meant?", {{"sentence", missing}, {"nearest", row->meant}}),
                       at);
}

Part TensorReader::said(const std::string& words, Parts names, std::size_t at) {
    const auto elsewhere = [](Part& x, const auto& self) -> void {  // than in these words
        x.begin = x.end = 0;
        for (Part& item : x.items) self(item, self);
    };
    for (auto& [name, x] : names) elsewhere(x, elsewhere);
    const std::string_view outer_text = text_;
    std::vector<Token> outer_tokens = std::move(tokens_);
    const std::size_t outer_at = at_;
    Parts outer_names = std::exchange(names_, std::move(names));
    Part result;
    try {
        for (const std::string& statement : split(words, "; ")) {
            text_ = statement;
            tokens_ = tokens_of(statement, [](std::string_view) { return false; });
            const bool gives_name = tokens_[1].word == "=" && tokens_[1].end - tokens_[1].begin == 1;
            at_ = gives_name ? 2 : 0;
            result = expression();
            elsewhere(result, elsewhere);
            if (gives_name) names_[tokens_[0].word] = result;
        }
    } catch (const FormulaError& error) {
        throw FormulaError(error.sentence(), at);
    }
    text_ = outer_text;
    tokens_ = std::move(outer_tokens);
    at_ = outer_at;
    names_ = std::move(outer_names);
    return result;
}

Part TensorReader::called(const std::string& module, Arguments a) {
    if ((a.function == "max" || a.function == "min") && a.all.size() > 1 && !literal(a.all[1].cell))
        a.function += "imum";  // of two tensors
    if (a.function == "cos" && module.empty() && a.all.size() == 2 && a.all[1].cell) a.function = "cosine";
    a.module = module;
    if (!a.dtype.empty()) {
        const std::string type = std::exchange(a.dtype, "");
        constexpr std::array<std::string_view, 9> kMakers{"tensor", "array", "asarray", "as_tensor", "arange",
                                                          "zeros",  "ones",  "full",    "eye"};
        if (type != "float" && std::ranges::find(kMakers, a.function) == kMakers.end())
            throw FormulaError(
                message("{function} with whole numbers: write .long() before it", {{"function", a.function}}), a.at);
        const std::size_t at = a.at;
        return as_type(called(module, std::move(a)), type, at);
    }
    if (a.function == "repeat" && a.all.size() == 2 && !a.all[1].cell && !a.all[1].quoted.empty()) a.module = "einops";
    if (!a.all.empty() && a.all[0].quoted == kComplex && (a.function == "abs" || a.function == "absolute"))
        return said("(x[0] ** 2 + x[1] ** 2) ** 0.5", {{"x", a.all[0]}}, a.at);
    if (!a.all.empty() && a.all[0].quoted == kDistribution) {
        a.module = kDistribution;
        for (Part& of : a.all)
            if (of.quoted == kDistribution) of = Part(of.items[0]);
    }
    if (a.function == "transpose" && module.empty() && (a.all.size() > 3 || (a.all.size() == 2 && !a.all[1].cell)))
        a.function = "permute";    // an array's method
    if (a.function == "arange") {  // start, end and step by their names
        std::array<std::optional<Part>, 3> named;
        for (const auto& [name, place] : {std::pair{"start", 0U}, {"end", 1U}, {"stop", 1U}, {"step", 2U}})
            if (auto one = a.by_name.extract(name)) named.at(place) = std::move(one.mapped());
        if (named[0] || named[1] || named[2]) {
            const std::size_t first = a.all.size() == 1 && !named[1] ? 1 : 0;
            for (std::size_t i = 0; i < std::min(a.all.size(), 3 - first); ++i) named.at(first + i) = a.all[i];
            if (!named[1]) fail_without(a, "end");
            a.all = {named[0].value_or(number_part(0.0)), *named[1], named[2].value_or(number_part(1.0))};
        }
    }
    std::optional<Row> row = a.module.empty() ? std::nullopt : row_named(a.module + "." + a.function);
    if (!row) row = row_named(a.function);
    if (!row && a.function.ends_with('_')) row = row_named(a.function = a.function.substr(0, a.function.size() - 1));
    if (!row) fail_without_row(a.function, a.at);
    if (module == "np" && row->parameters.starts_with("input") && !a.all.empty() && !a.all[0].items.empty())
        a.all[0] = tensor_of(a.all[0], a.at);
    if (!a.all.empty() && is_row_of_chosen(a.all[0]) && (a.function == "median" || a.function == "quantile")) {
        const Part all{.axes = a.all[0].axes, .cell = a.all[0].cell}, kept{.axes = all.axes, .cell = a.all[0].chosen};
        a.all[0] = flat(said("where(kept, x, nan)", {{"kept", kept}, {"x", all}}, a.at));
        a.function.insert(0, "nan");
        return called(a.function == "nanmedian" ? module : "", std::move(a));
    }
    std::optional<Part> kept, initial;
    if (row->parameters.find("keepdim") != std::string::npos)
        for (auto [name, to] : {std::pair{"where", &kept}, std::pair{"initial", &initial}})
            if (auto given = a.by_name.extract(name)) *to = std::move(given.mapped());
    const std::vector<std::string> parameters = bind(*row, a);
    if (kept || initial) return reduced_from(std::move(a), std::move(kept), initial);
    if (module == "np" && a.nones.contains("dim") && a.by_name.contains("dim"))  // np.sort(x, axis=None)
        a.by_name[a.first] = flat(tensor(a_input(a)));
    if (row->code != nullptr && row->words.empty()) return (this->*row->code)(a);
    if (row->code != nullptr) static_cast<void>((this->*row->code)(a));
    if (row->words.empty()) return by_formula(*row, parameters, a);
    for (const std::string& name : parameters) a.by_name.try_emplace(name, Part{.quoted = "None"});
    return said(row->words, a.by_name, a.at);
}

std::vector<std::string> TensorReader::bind(const Row& row, Arguments& a) const {
    std::vector<std::string> parameters;
    std::map<std::string, std::string, std::less<>> defaults;
    std::size_t by_position = std::string::npos;
    const bool any_name = row.parameters.ends_with(", **");
    for (const std::string& word : split(row.parameters, ", ")) {
        if (word == "**") continue;
        // Between them NumPy has others: dtype and out.
        if (word == "*" || (a.module == "np" && word.starts_with("keepdim")))
            by_position = std::min(by_position, parameters.size());
        if (word == "*") continue;
        parameters.push_back(word.substr(0, word.find('=')));
        if (word.find('=') != std::string::npos) defaults[parameters.back()] = word.substr(word.find('=') + 1);
    }
    a.first = parameters.front();
    // As NumPy calls them, where no parameter of the row's own is called so.
    const std::array<std::pair<const char*, std::string>, 6> also{{{"a", a.first},
                                                                   {"x", a.first},
                                                                   {"x2", "other"},
                                                                   {"indices", "index"},
                                                                   {"num", "steps"},
                                                                   {"indices_or_sections", "split_size_or_sections"}}};
    const auto is_own = [&](std::string_view name) { return std::ranges::count(parameters, name) > 0; };
    for (const auto& [other, same] : also)
        if (a.module == "np" && !is_own(other) && is_own(same))
            if (auto given = a.by_name.extract(other)) a.by_name.emplace(same, std::move(given.mapped()));
    const bool any = parameters.back() == "…";  // as many as there are
    if (any) parameters.pop_back();
    for (const char* name : {"dims", "size", "repeats", "reps"})
        if (any && std::ranges::find(parameters.begin() + 1, parameters.end(), name) == parameters.end())
            if (const auto sizes = a.by_name.extract(name)) a.all.push_back(sizes.mapped());
    if (any && a.all.empty()) fail_without(a, parameters[0]);
    by_position = std::min(by_position, parameters.size());
    if (!any && a.all.size() > by_position)
        throw FormulaError(message_n("{function} takes {count} operand", "{function} takes {count} operands",
                                     by_position, {{"function", a.function}}),
                           a.at);
    for (std::size_t i = 0; i < std::min(a.all.size(), by_position); ++i) {
        if (is_none(a.all[i])) {
            a.has_none = true;
            a.nones.insert(parameters[i]);
            continue;
        }
        if (!a.by_name.emplace(parameters[i], a.all[i]).second)
            throw FormulaError(message("{function} is given “{parameter}” twice",
                                       {{"function", a.function}, {"parameter", parameters[i]}}),
                               a.at);
        // PyTorch's own position for it is unbiased's.
        if ((is_choice(parameters[i]) || parameters[i] == "correction") != is_truth(a.all[i]) && i > 0)
            fail_of_truth(parameters[i] == "correction" ? "unbiased" : parameters[i], is_truth(a.all[i]), a.all[i]);
    }
    for (const auto& [name, part] : a.by_name) {
        if (std::ranges::find(parameters, name) == parameters.end() && !any_name)
            throw FormulaError(with_nearest(message("{function} has no “{parameter}”",
                                                    {{"function", a.function}, {"parameter", name}}),
                                            name, parameters),
                               part.begin);
        if (is_choice(name) && !is_truth(part)) fail_of_truth(name, false, part);
    }
    for (const std::string& name : parameters) {
        const auto default_value = defaults.find(name);
        const bool is_word = default_value != defaults.end() && default_value->second.find('|') != std::string::npos;
        if (is_word) {
            const std::vector<std::string> words = split(default_value->second, "|");
            const auto given = a.by_name.find(name);
            const auto word = given == a.by_name.end() ? words.begin() : std::ranges::find(words, given->second.quoted);
            const bool is_none = a.nones.contains(name) && words.front() != "None";
            if (is_none || word == words.end() || (given != a.by_name.end() && given->second.cell))
                throw FormulaError(
                    message("“{parameter}” is one of {words}", {{"parameter", name}, {"words", default_value->second}}),
                    is_none ? a.at : given->second.begin);
            a.by_name[name] = number_part(static_cast<double>(word - words.begin()));
            continue;
        }
        if (a.by_name.contains(name)) continue;
        if (name == "dim" && a.nones.contains(name) && a.module != "np" && default_value != defaults.end() &&
            !default_value->second.empty())
            fail_of_one_axis(a);
        if (default_value == defaults.end()) fail_without(a, name);
        if (!default_value->second.empty())
            a.by_name[name] = {.cell = parse("d = " + default_value->second).main.body,
                               .quoted = !is_choice(name)               ? ""
                                         : default_value->second == "0" ? "False"
                                                                        : "True"};
    }
    return parameters;
}

void TensorReader::fail_of_truth(const std::string& parameter, bool is_truth, const Part& x) {
    if (is_truth)
        throw FormulaError(message("“{parameter}” can't be True or False", {{"parameter", parameter}}), x.begin);
    throw FormulaError(message("“{parameter}” is True or False", {{"parameter", parameter}}), x.begin);
}

Part TensorReader::by_formula(const Row& row, const std::vector<std::string>& parameters, const Arguments& a) {
    const Part& input = a_input(a);
    if (input.chosen) return of_chosen(row, parameters, a);
    const bool along = row.parameters.find("dim") != std::string::npos;
    const bool reduces = row.parameters.find("keepdim") != std::string::npos;
    const auto dim_given = a.by_name.find("dim");
    const bool all_axes = dim_given == a.by_name.end();
    const bool of_numbers = std::ranges::all_of(a.by_name, [](const auto& named) { return named.second.axes.empty(); });
    if (along && !a.by_name.contains("normalized_shape") && of_numbers && (all_axes || a.module != "np")) {
        Arguments wider = a;  // a number along an axis of length 1
        tensor(wider.by_name[a.first]);
        wider.by_name[a.first].axes = {axis_of_size("1", 1)};
        const Part y = by_formula(row, parameters, wider);
        return y.axes.empty() ? y : at_index(y, 0, number(0.0));
    }
    std::string head = along ? "f_k(" : "f(";
    std::vector<Part> parts;
    std::vector<std::string> of_parts;
    for (const std::string& p : parameters) {
        head += (head.back() == '(' ? "" : ", ") + p;
        const auto given = a.by_name.find(p);
        if (p == "normalized_shape") check_last_axis(given->second, a);
        if (given == a.by_name.end() || p == "dim" || p == "normalized_shape") continue;
        Part part = given->second;
        if (!part.cell && !part.quoted.empty()) part = text_as_number(part);
        parts.push_back(tensor(part));
        of_parts.push_back(p);
    }
    broadcast(parts, a.at);
    Part result{.axes = parts[0].axes};
    std::vector<std::size_t> dims;
    if (along) {
        const Part& dim = all_axes ? input : dim_given->second;
        const Part of{.begin = input.begin, .end = input.end, .axes = result.axes};
        const std::vector<Part> given = all_axes || dim.items.empty() ? std::vector{dim} : dim.items;
        if (all_axes)
            for (std::size_t i = 0; i < result.axes.size(); ++i) dims.push_back(i);
        else
            for (const Part& one : given) dims.push_back(position(of, whole(one), a.at));
        const bool is_product = a.function == "prod" && a.module != "np";
        if ((!dim.items.empty() && (a.function.starts_with("arg") || is_product)) || (is_product && a.has_none))
            fail_of_one_axis(a);
        std::ranges::sort(dims);
        if (std::ranges::adjacent_find(dims) != dims.end()) fail_of_twice(a, input);
    }
    std::vector<IndexedAxis> axes;
    for (const std::size_t dim : dims) axes.push_back(result.axes[dim]);
    std::map<std::string, Expr, std::less<>> cells;
    for (std::size_t i = 0; i < parts.size(); ++i) cells[of_parts[i]] = parts[i].cell;
    if (axes.size() == 1) cells["n"] = size_of(axes[0]);
    const Expr body = chosen_of(parse_function(head + ") = " + row.formula, functions_).main.body, cells);
    const bool has_calls =
        any_node(body, [](const Expr& e) { return e->as<Call>() != nullptr && e->as<Call>()->along; });
    const bool repeatable = reduces && !has_calls && !any_node(body, [](const Expr& e) { return e->is(Fold::argmax); });
    const bool keeps = reduces && a.by_name.at("keepdim").quoted == "True";
    if (along && dims.size() != 1 && !repeatable) {
        if (!reduces) fail_of_one_axis(a);
        Arguments flat = a;  // all of them as one axis
        flat.by_name[a.first] = joined_at_end(input, dims);
        flat.by_name["dim"] = number_part(-1.0);
        flat.by_name["keepdim"] = {.cell = number(0.0), .quoted = "False"};
        Part y = by_formula(row, parameters, flat);
        if (keeps)
            for (const std::size_t dim : dims)
                y.axes.insert(y.axes.begin() + static_cast<std::ptrdiff_t>(dim), axis_of_size("1", 1));
        return y;
    }
    if (const auto p = a.by_name.find("p"); p != a.by_name.end() && known(p->second).value_or(0.0) < 0.0)
        for (const IndexedAxis& axis : axes)
            if (axis.dim.size == 0)
                throw FormulaError(message("there is no largest or smallest number along {axis}: it has no places",
                                           {{"axis", axis.dim.axis}}),
                                   a.at);
    if (has_calls)
        for (std::size_t i = 0; i < parts.size(); ++i)
            if (!axes.empty() && !written_axis(axes[0]).empty() &&
                (i == 0 || parts[i].cell->indices.contains(axes[0].index)))
                cells[of_parts[i]] = sub_result(parts[i]).cell;
    result.cell = put(body, cells, axes, a.at);
    if (!reduces) return result;
    for (auto dim = dims.rbegin(); dim != dims.rend(); ++dim) {
        const auto at = result.axes.begin() + static_cast<std::ptrdiff_t>(*dim);
        if (keeps)
            *at = axis_of_size("1", 1);
        else
            result.axes.erase(at);
    }
    return result;
}

Part TensorReader::of_chosen(const Row& row, const std::vector<std::string>& parameters, Arguments a) {
    Part& x = a.by_name.at(a.first);
    const Part given = x;
    x.chosen = nullptr;
    const bool along = row.parameters.find("dim") != std::string::npos;
    const bool alone = std::ranges::all_of(a.by_name, [&](const auto& named) {
        return named.first == a.first || (named.second.axes.empty() && !named.second.chosen);
    });
    const auto with_choice = [&](Part y) {
        y.chosen = given.chosen;
        return y;
    };
    if (!along && alone) return with_choice(by_formula(row, parameters, a));
    // The axes that the condition has are one, along which it is as long as it chooses.
    const auto is_of_choice = [&](const IndexedAxis& axis) { return given.chosen->indices.contains(axis.index); };
    const auto first = std::ranges::find_if(x.axes, is_of_choice) - x.axes.begin();
    const Index merged = std::ranges::count_if(x.axes, is_of_choice);
    const auto dim = a.by_name.find("dim");
    Part dims = dim == a.by_name.end() ? Part{.quoted = "None"} : Part{};
    if (along && dim != a.by_name.end() && !dim->second.cell) tensor(given);
    if (along && dim != a.by_name.end()) {
        const Index place = from_front(whole(dim->second), std::ssize(x.axes) - merged + 1);
        if (place < 0 || place > std::ssize(x.axes) - merged) static_cast<void>(position(x, std::ssize(x.axes), a.at));
        if (place != first) {
            dim->second = number_part(static_cast<double>(place < first ? place : place + merged - 1));
            return with_choice(by_formula(row, parameters, a));
        }
        for (Index i = 0; i < merged; ++i) dims.items.push_back(number_part(static_cast<double>(first + i)));
    }
    if (a.by_name.contains("keepdim") && a.by_name.at("keepdim").quoted == "True") tensor(given);
    return of_kept(a, given, {.axes = x.axes, .cell = given.chosen}, dims);
}

Part TensorReader::of_kept(const Arguments& a, const Part& x, const Part& kept, const Part& dims) {
    struct Of {
        std::string_view function, words;
    };
    constexpr std::array kOf{
        Of{"sum", "where(kept, x, 0).sum(d)"},
        Of{"prod", "np.prod(where(kept, x, 1), d)"},
        Of{"mean", "where(kept, x, 0).sum(d) / kept.sum(d)"},
        Of{"amax", "where(kept.sum(d) > 0, where(kept, x, -inf).amax(d), 0 / 0)"},  // NaN if none is chosen
        Of{"amin", "where(kept.sum(d) > 0, where(kept, x, inf).amin(d), 0 / 0)"},
        Of{"any", "(kept & (x != 0)).sum(d) > 0"},
        Of{"all", "(kept & (x == 0)).sum(d) == 0"},
        Of{"count_nonzero", "(kept & (x != 0)).sum(d)"},
        Of{"norm", "where(kept, x ** 2, 0).sum(d) ** 0.5"},
        Of{"var",
           "m = where(kept, x, 0).sum(d, keepdim=True) / kept.sum(d, keepdim=True); "
           "where(kept, (x - m) ** 2, 0).sum(d) / (kept.sum(d) - c)"},
        Of{"std",
           "m = where(kept, x, 0).sum(d, keepdim=True) / kept.sum(d, keepdim=True); "
           "(where(kept, (x - m) ** 2, 0).sum(d) / (kept.sum(d) - c)) ** 0.5"}};
    const auto* found = std::ranges::find(kOf, a.function, &Of::function);
    const auto p = a.by_name.find("p"), correction = a.by_name.find("correction");
    if (found == kOf.end() || (p != a.by_name.end() && known(p->second) != 2.0)) {
        if (x.chosen) tensor(x);
        throw FormulaError(
            message("{function} has no “{parameter}”", {{"function", a.function}, {"parameter", "where"}}), a.at);
    }
    Part all = x;
    all.chosen = nullptr;
    return said(std::string(found->words),
                {{"kept", kept},
                 {"x", all},
                 {"d", dims},
                 {"c", {.cell = correction == a.by_name.end() ? nullptr : correction->second.cell}}},
                a.at);
}

Part TensorReader::reduced_from(Arguments a, std::optional<Part> kept, const std::optional<Part>& initial) {
    if (a.function == "max" || a.function == "min") a.function.insert(0, "a");
    const bool is_extreme = a.function == "amax" || a.function == "amin";
    const bool is_from = is_extreme || a.function == "sum" || a.function == "prod";
    if (initial && !is_from)
        throw FormulaError(
            message("{function} has no “{parameter}”", {{"function", a.function}, {"parameter", "initial"}}), a.at);
    if (kept && is_extreme && !initial) fail_without(a, "initial");
    const std::string folded = a.function == "amax"   ? "maximum(y, i)"
                               : a.function == "amin" ? "minimum(y, i)"
                               : a.function == "sum"  ? "y + i"
                                                      : "y * i";
    std::vector<Part> both{tensor(a_input(a)), kept ? tensor(*kept) : number_part(1.0)};
    if (kept && kind(*kept) != NumberKind::condition)
        throw FormulaError(message("“{parameter}” needs a comparison or a mask", {{"parameter", "where"}}),
                           kept->begin);
    broadcast(both, a.at);
    const auto dim = a.by_name.find("dim");
    const Part dims = dim == a.by_name.end() ? Part{.quoted = "None"} : dim->second;
    Part y;
    if (kept && !is_extreme) {
        y = of_kept(a, both[0], both[1], dims);
        std::set<std::size_t> places;
        for (const Part& one : dims.cell ? std::vector{dims} : dims.items)
            places.insert(position(both[0], whole(one), a.at));
        for (std::size_t n = 0; n < both[0].axes.size() && is_none(dims); ++n) places.insert(n);
        if (a.by_name.at("keepdim").quoted == "True")
            for (const std::size_t n : places)
                y.axes.insert(y.axes.begin() + static_cast<std::ptrdiff_t>(n), axis_of_size("1", 1));
    } else {
        Arguments rest{.function = a.function, .at = a.at, .by_name = a.by_name};
        if (kept)
            rest.by_name[a.first] = said("where(k, x, i)", {{"k", both[1]}, {"x", both[0]}, {"i", *initial}}, a.at);
        y = called("np", std::move(rest));
    }
    return initial ? said(folded, {{"y", y}, {"i", *initial}}, a.at) : y;
}

Part TensorReader::joined_at_end(Part x, const std::vector<std::size_t>& dims) {
    std::vector<IndexedAxis> first, last;
    for (std::size_t i = 0; i < x.axes.size(); ++i)
        (std::ranges::find(dims, i) == dims.end() ? first : last).push_back(x.axes[i]);
    Arguments a{.function = "reshape", .at = x.begin};
    Index size = 1;
    for (const IndexedAxis& axis : last) size *= axis.dim.size;
    for (const IndexedAxis& axis : first) a.all.push_back({.cell = size_of(axis)});
    a.all.push_back(number_part(static_cast<double>(size)));
    x.axes = first;
    x.axes.insert(x.axes.end(), last.begin(), last.end());
    a.all.insert(a.all.begin(), x);
    return reshaped(a);
}

void TensorReader::check_last_axis(const Part& shape, const Arguments& a) const {
    const Part& x = tensor(a_input(a));
    const Index last = x.axes[position(x, -1, a.at)].dim.size;
    if (shape.items.size() != 1 || whole(shape.items[0]) != last)
        throw FormulaError(message("{function} needs the size of the last axis of {operand} in parentheses, as in "
                                   "({size},)",
                                   {{"function", a.function}, {"operand", shown(x)}, {"size", last}}),
                           shape.begin);
    for (const char* name : {"weight", "bias"})
        if (const auto found = a.by_name.find(name); found != a.by_name.end() && !literal(found->second.cell)) {
            const Part& own = tensor(found->second);
            if (own.axes.size() != 1 || own.axes[0].dim.size != last)
                throw FormulaError(message("{operand} isn't of the size of the last axis of {other}",
                                           {{"operand", shown(own)}, {"other", shown(x)}}),
                                   own.begin);
        }
}

Expr TensorReader::chosen_of(const Expr& body, const std::map<std::string, Expr, std::less<>>& cells) const {
    if (!body->is(Op::choose)) return body;
    const Expr condition = rewrite((*body)[0], [&](const Expr& e) {
        const auto* c = e->as<Constant>();
        const auto found = c == nullptr ? cells.end() : cells.find(c->name);
        return found == cells.end() ? e : found->second;
    });
    const auto holds = known(condition);
    return holds ? chosen_of((*body)[*holds != 0.0 ? 1 : 2], cells) : body;
}

Expr TensorReader::put(const Expr& body, const std::map<std::string, Expr, std::less<>>& cells,
                       const std::vector<IndexedAxis>& axes, std::size_t at) const {
    std::set<std::string> taken;
    for (const IndexedAxis& axis : axes) taken.insert(axis.index);
    for (const auto& [name, cell] : cells) taken.insert(cell->indices.begin(), cell->indices.end());
    const auto rule = [&](const Expr& e) -> Expr {
        const auto* cell = e->as<CellOf>();
        const auto* c = e->as<Constant>();
        const auto found = cells.find(cell != nullptr ? cell->name : c != nullptr ? c->name : "");
        if (found != cells.end()) return found->second;
        if (const auto* reduce = e->as<Reduce>()) {
            Expr over = body_at(e, number(0.0));  // which reads the axes' own indices
            for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis)
                over = reduction(over, *axis, reduce->fold, at);
            return over;
        }
        if (const auto* operation = e->as<Apply>()) return without_defaults(operation->op, e->children, at);
        return node(e->what, e->children, at);
    };
    return rewrite(axes.size() == 1 ? substitute(body, {{"k", index(axes[0].index)}}) : body, rule, taken);
}

Part TensorReader::text_as_number(const Part& x) const {
    const bool minus = x.quoted.starts_with("-");
    const double infinite = std::numeric_limits<double>::infinity();
    std::string word = x.quoted.substr(minus ? 1 : 0);
    std::ranges::transform(word, word.begin(),
                           [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    if (word == "inf" || word == "+inf" || word == "infinity")
        return number_part(minus ? -infinite : infinite, x.begin, x.end);
    if (x.quoted == "fro") return number_part(2.0, x.begin, x.end);
    if (word == "nan") return no_number();
    return tensor(x);
}

// The table of names.txt.
const std::vector<Row>& TensorReader::rows() {
    using R = TensorReader;
    using Called = std::pair<std::string_view, Part (R::*)(Arguments&)>;
    static constexpr std::array kCodes{
        Called{"appended", &R::appended},
        Called{"arange", &R::arange},
        Called{"are_equal", &R::are_equal},
        Called{"as_it_is", &R::as_it_is},
        Called{"attention", &R::attention},
        Called{"clamped", &R::clamped},
        Called{"count_of_axes", &R::count_of_axes},
        Called{"count_of_numbers", &R::count_of_numbers},
        Called{"cross_entropy", &R::cross_entropy},
        Called{"cumulated", &R::cumulated},
        Called{"determinant", &R::determinant},
        Called{"diagonal", &R::diagonal},
        Called{"diagonal_or_matrix", &R::diagonal_or_matrix},
        Called{"difference", &R::difference},
        Called{"eigenvalues", &R::eigenvalues},
        Called{"distribution", &R::distribution},
        Called{"einsum", &R::einsum},
        Called{"expanded", &R::expanded},
        Called{"filled", &R::filled},
        Called{"flattened", &R::flattened},
        Called{"flip", &R::flip},
        Called{"fourier", &R::fourier},
        Called{"full", &R::full},
        Called{"full_like", &R::full_like},
        Called{"gathered", &R::gathered},
        Called{"identity", &R::identity},
        Called{"inverse", &R::inverse},
        Called{"joined", &R::joined},
        Called{"joined_rows", &R::joined_rows},
        Called{"kth", &R::kth},
        Called{"largest", &R::largest},
        Called{"length", &R::length},
        Called{"linear", &R::linear},
        Called{"lined_up", &R::lined_up},
        Called{"made_of_list", &R::made_of_list},
        Called{"matmul", &R::matmul},
        Called{"matrix_power", &R::matrix_power},
        Called{"matrix_transpose", &R::matrix_transpose},
        Called{"max_flow", &R::max_flow},
        Called{"median", &R::median},
        Called{"moved", &R::moved},
        Called{"narrowed", &R::narrowed},
        Called{"no_dropout", &R::no_dropout},
        Called{"norm", &R::norm},
        Called{"number_of_condition", &R::number_of_condition},
        Called{"of_one_shape", &R::of_one_shape},
        Called{"one_hot", &R::one_hot},
        Called{"one_number", &R::one_number},
        Called{"one_row", &R::one_row},
        Called{"outer", &R::outer},
        Called{"padded", &R::padded},
        Called{"permute", &R::permute},
        Called{"partitioned", &R::partitioned},
        Called{"pieces", &R::pieces},
        Called{"products", &R::products},
        Called{"pseudoinverse", &R::pseudoinverse},
        Called{"quantile", &R::quantile},
        Called{"rearranged", &R::rearranged},
        Called{"repeat_interleave", &R::repeat_interleave},
        Called{"repeated", &R::repeated},
        Called{"reshaped", &R::reshaped},
        Called{"reversed", &R::reversed},
        Called{"roll", &R::roll},
        Called{"scattered", &R::scattered},
        Called{"selected", &R::selected},
        Called{"singular_values", &R::singular_values},
        Called{"size", &R::size},
        Called{"sorted", &R::sorted},
        Called{"spread_and_mean", &R::spread_and_mean},
        Called{"squeeze", &R::squeeze},
        Called{"stacked", &R::stacked},
        Called{"stacked_along", &R::stacked_along},
        Called{"taken", &R::taken},
        Called{"tensordot", &R::tensordot},
        Called{"transpose", &R::transpose},
        Called{"triangle", &R::triangle},
        Called{"type_of", &R::type_of},
        Called{"typed", &R::typed},
        Called{"unbound", &R::unbound},
        Called{"unflattened", &R::unflattened},
        Called{"unsqueeze", &R::unsqueeze},
        Called{"values", &R::values},
        Called{"whole_number", &R::whole_number},
        Called{"zipped", &R::zipped},
    };
    static const std::vector<Row> all = [] {
        constexpr std::string_view kText =
#include "engine/formulas/names.txt"
            ;
        std::vector<Row> read;
        for (const std::string& line : split(kText, "\n")) {
            if (line.empty() || line.starts_with('#')) continue;
            const std::size_t open = line.find('('), close = line.find("): ");
            Row row{.names = line.substr(0, open), .parameters = line.substr(open + 1, close - open - 1)};
            std::string what = line.substr(close + 3);
            if (what.starts_with("= ")) {
                const auto same = std::ranges::find_if(read, [&](const Row& one) {
                    return std::ranges::count(split(one.names, " "), what.substr(2)) > 0;
                });
                what = same->formula;
            }
            if (what.starts_with('@')) {
                const std::string name = what.substr(1, what.find(' ') - 1);
                row.code = std::ranges::find(kCodes, name, &Called::first)->second;
                what = what.find(' ') == std::string::npos ? "" : what.substr(name.size() + 2);
            }
            const bool is_words = what.starts_with("> "), is_meant = what.starts_with("? ");
            (is_words ? row.words : is_meant ? row.meant : row.formula) = is_words || is_meant ? what.substr(2) : what;
            read.push_back(std::move(row));
        }
        return read;
    }();
    return all;
}

}  // namespace decoderscope::formulas
