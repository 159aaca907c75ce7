#include "engine/sheet/written.h"

#include "engine/formulas/book.h"
#include "engine/formulas/elaborate.h"
#include "engine/formulas/latex.h"
#include "engine/formulas/print.h"
#include "engine/formulas/tokens.h"
#include "engine/formulas/whole_tensors.h"
#include "engine/formulas/words.h"
#include "engine/model/inputs.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

namespace decoderscope::sheet {

namespace {

using formulas::Expr;
using formulas::Formula;
using formulas::FormulaError;
using formulas::Known;

// Whether the text says what it computes: "y = …", "y[q, k] = …".
bool has_left(std::string_view text) {
    const auto tokens = formulas::tokens_of(text, [](std::string_view) { return true; });
    std::size_t next = 1;
    if (tokens[0].kind != formulas::Kind::name) return false;
    if (tokens[1].word == "[" && tokens[1].kind == formulas::Kind::symbol)
        next = static_cast<std::size_t>(std::ranges::find(tokens, "]", &formulas::Token::word) - tokens.begin()) + 1;
    if (next >= tokens.size()) return false;
    const formulas::Token& sign = tokens[next];
    return sign.kind == formulas::Kind::symbol && sign.word == "=" && sign.end - sign.begin == 1;
}

// Which tensors the names in a text are, by name: "q.mT" may name q.
std::map<std::string, Read, std::less<>> reads_in(std::string_view text, const Scope& scope) {
    std::map<std::string, Read, std::less<>> reads;
    const auto tokens = formulas::tokens_of(text, [](std::string_view) { return true; });
    const bool has_methods = !has_left(text) || tokens[1].word != "[";  // index notation has none
    for (const formulas::Token& token : tokens) {
        if (token.kind != formulas::Kind::name) continue;
        bool found = false;
        for (std::size_t end = token.word.size(); end != std::string::npos && end != 0;
             end = token.word.rfind('.', end - 1)) {
            const std::string name = token.word.substr(0, end);
            const std::optional<Read> read = scope.find(name);
            if (read) reads.emplace(name, *read);
            found = found || read;
        }
        const bool is_one_name = Scope::names_other_pass(token.word) || !has_methods;
        const std::vector<std::string> several = found || token.word.find('.') == std::string::npos
                                                     ? std::vector<std::string>{}
                                                     : scope.weights_called(token.word);
        if (several.size() > 1)
            throw FormulaError(message("“{name}” is {first} or {second} here: write so much of the name that it is one",
                                       {{"name", token.word}, {"first", several[0]}, {"second", several[1]}}),
                               token.begin);
        if (!found) scope.check_block(token.word, token.begin);
        if (!found && is_one_name && token.word.find('.') != std::string::npos)
            throw FormulaError(formulas::with_nearest(message("there is no operand “{name}”", {{"name", token.word}}),
                                                      token.word, scope.names_as(token.word)),
                               token.begin);
    }
    return reads;
}

// The names that stand where an index should, and are no numbers, in their order.
std::vector<std::string> loose_indices(const Formula& formula, const Known& known,
                                       const formulas::Functions& functions) {
    const std::map<std::string, double, std::less<>> numbers = numbers_of(known);
    std::vector<std::string> loose;
    // Those that functions leave, as softmax_k does.
    const auto left_in = [&](const Expr& e, const auto& self) -> std::set<std::string> {
        if (const auto* index = e->as<formulas::FreeIndex>()) return {index->name};
        std::set<std::string> all;
        for (const Expr& child : e->children) all.merge(self(child, self));
        const auto* call = e->as<formulas::Call>();
        const auto* along = call != nullptr && call->along ? (*e)[0]->as<formulas::FreeIndex>() : nullptr;
        if (along == nullptr) return all;  // a reduction's own index is free nowhere
        const Formula& function = functions.find(call->function)->second;
        if (!function.main.body->indices.contains(function.along)) all.erase(along->name);
        return all;
    };
    std::set<std::string> along = left_in(formula.main.body, left_in);
    for (const formulas::LeftIndex& index : formula.main.indices) along.erase(index.name);
    // q may be a tensor, too; in place of an index it is one.
    const auto is_loose = [&](const std::string& name) {
        return !numbers.contains(name) && (name.size() == 1 || !known.operands.contains(name)) &&
               std::ranges::find(loose, name) == loose.end();
    };
    for (const formulas::Definition* d : definitions(formula))
        for_each(d->body, [&](const Expr& e) {
            if (e->as<formulas::CellOf>() == nullptr) return;
            for (const Expr& at : e->children)
                for_each(at, [&](const Expr& part) {
                    const auto* c = part->as<formulas::Constant>();
                    if (c != nullptr && is_loose(c->name)) loose.push_back(c->name);
                    const auto* index = part->as<formulas::FreeIndex>();
                    if (index != nullptr && along.contains(index->name) && is_loose(index->name))
                        loose.push_back(index->name);
                });
        });
    return loose;
}

// A mistake in a text that was read behind so many bytes of another.
FormulaError behind(const FormulaError& error, std::size_t bytes) {
    const std::size_t at = error.at();
    return {error.sentence(), at == formulas::kNowhere ? at : at < bytes ? 0 : at - bytes};
}

// A formula, and how much of the text that it was read from the person didn't write.
struct Text {
    Formula formula;
    std::size_t bytes = 0;
};

Text read_behind(const std::string& left, std::string_view text, const Known& known,
                 const formulas::Functions& functions) {
    try {
        return {formulas::read(left + std::string(text), known, functions), left.size()};
    } catch (const FormulaError& error) {
        throw behind(error, left.size());
    }
}

// "x[b, p] + 1" has no sign of either notation: PyTorch's first, then, if it doesn't know what b is, index notation.
Text read_without_left(const std::string& left, std::string_view text, const Known& known,
                       const formulas::Functions& functions) {
    try {
        return read_behind(left, text, known, functions);
    } catch (const FormulaError& first) {
        try {
            Formula formula = formulas::read_indexed(left + std::string(text), known, functions);
            if (!loose_indices(formula, known, functions).empty()) return {std::move(formula), left.size()};
        } catch (const FormulaError& second) {  // neither; one letter in brackets is an index
            const std::string_view before = text.substr(0, std::min(first.at(), text.size()));
            const std::size_t sign = before.find_last_not_of(' ');
            const std::string_view after = text.substr(before.size());
            const bool is_letter = after.size() > 1 && std::isalpha(static_cast<unsigned char>(after[0])) != 0 &&
                                   (after[1] == ',' || after[1] == ']' || after[1] == ' ');
            if (is_letter && sign != std::string_view::npos && (before[sign] == '[' || before[sign] == ','))
                throw behind(second, left.size());
        }
        throw;
    }
}

Text read_right(std::string_view text, const std::string& name, const Known& known,
                const formulas::Functions& functions) {
    Text read = read_without_left(name + " = ", text, known, functions);
    const std::vector<std::string> loose = loose_indices(read.formula, known, functions);
    if (loose.empty()) return read;
    std::string left;
    for (const std::string& index : loose) left += (left.empty() ? "" : ", ") + index;
    // What stands there has a left side now, and so is in index notation.
    return read_behind(name + "[" + left + "] = ", text, known, functions);
}

Text read_named(std::string_view text, const std::string& name, const Known& known,
                const formulas::Functions& functions) {
    if (!has_left(text)) return read_right(text, name, known, functions);
    const std::size_t equals = text.find('=');
    if (text.find('[') > equals) try {  // "y = x[b, p] + 1"
            const std::string right = std::string(equals + 1, ' ') + std::string(text.substr(equals + 1));
            if (Text read = read_right(right, name, known, functions); read.bytes > name.size() + 3) return read;
        } catch (const FormulaError&) {
            // What is said is about the whole of it.
        }
    Formula formula = formulas::read(text, known, functions);
    if (formula.main.name == name) return {std::move(formula)};
    const std::string before = std::exchange(formula.main.name, name);
    // A recurrence reads itself.
    return {with_bodies(std::move(formula), [&](const Expr& body) {
        return rewrite(body, [&](const Expr& e) {
            const auto* cell = e->as<formulas::CellOf>();
            return cell != nullptr && cell->name == before ? node(formulas::CellOf{name}, e->children, e->at) : e;
        });
    })};
}

// The axis' name as the program has it; names are literals. An axis that a person made up is an "out".
std::string_view literal_axis(const std::string& name, const Plan& plan, const std::vector<Read>& operands) {
    for (const Read& read : operands)
        for (const Axis& axis : plan[read.step].axes)
            if (axis.name == name) return axis.name;
    constexpr std::array kNames{axis::batch,   axis::pos,    axis::src,  axis::head,  axis::query, axis::key,
                                axis::d_model, axis::d_head, axis::d_ff, axis::vocab, axis::one};
    const auto* found = std::ranges::find(kNames, name);
    return found == kNames.end() ? axis::out : *found;
}

// The operation's own formula may read an operand that has fewer axes than usual: positions without the batch's.
Formula broadcast(Formula formula, const Scope& scope, const Known& known) {
    return with_bodies(std::move(formula), [&](const Expr& body) {
        return rewrite(body, [&](const Expr& e) {
            const auto* cell = e->as<formulas::CellOf>();
            if (cell == nullptr || !scope.is_own(cell->name)) return e;
            const formulas::Shape& shape = known.operands.at(cell->name);
            std::vector<Expr> indices = e->children;
            if (shape.empty() || indices.size() <= shape.size() || indices[0]->as<formulas::Leading>() != nullptr)
                return e;
            indices.erase(indices.begin(), indices.end() - static_cast<std::ptrdiff_t>(shape.size()));
            return with_children(e, std::move(indices));
        });
    });
}

bool is_whole_numbers(const Step& step) {
    return std::ranges::any_of(input_slots(),
                               [&](const InputSlot& slot) { return slot.integer && slot.name == step.name; });
}

// What the numbers of steps may be: the inputs say it, and of what is computed the formula.
class Kinds {
public:
    explicit Kinds(const Plan& plan) : plan_(plan) {
        for (const Step& step : plan.steps())
            for (std::size_t i = 0; i < step.operands.size(); ++i)
                if (step.operation.role_of(i) == OperandRole::expert)
                    known_[step.operands[i]] = formulas::NumberKind::place;
    }

    formulas::NumberKind of(StepId id) {
        const auto [known, is_new] = known_.try_emplace(id, formulas::NumberKind::real);
        if (is_new) known_[id] = found(plan_[id]);
        return known_.at(id);
    }

private:
    formulas::NumberKind found(const Step& step) {
        using formulas::NumberKind;
        const bool is_whole = is_whole_numbers(step);
        if (values_of(plan_, step) == Values::mask || (is_whole && step.name.ends_with("mask")))
            return NumberKind::condition;
        if (is_whole) return step.name == "targets" ? NumberKind::whole : NumberKind::place;
        const auto by = ops::formula_of(step.operation);
        if (!by) return NumberKind::real;
        const Formula formula = by->written();
        const std::function<NumberKind(const std::string&)> of_name = [&](const std::string& name) {
            for (const formulas::Definition& where : formula.wheres)
                if (where.name == name) return kind_of(where.body, of_name);
            for (std::size_t i = 0; i < step.operands.size(); ++i)
                if (by->name_of(i) == name) return of(step.operands[i]);
            for (const ops::NamedNumber& number : by->numbers)
                if (number.name == name) return kind_of(formulas::number(number.value), of_name);
            return NumberKind::place;  // the size of an axis
        };
        return kind_of(formula.main.body, of_name);
    }

    const Plan& plan_;
    std::map<StepId, formulas::NumberKind> known_;
};

// The numbers that a formula names, as constants or as axes.
std::vector<std::pair<std::string, double>> numbers_in(const Formula& formula,
                                                       const std::map<std::string, double, std::less<>>& numbers) {
    std::set<std::string> named;
    for (const formulas::Definition* d : definitions(formula)) {
        for (const formulas::LeftIndex& i : d->indices) named.insert(i.axis);
        for_each(d->body, [&](const Expr& e) {
            if (const auto* constant = e->as<formulas::Constant>()) named.insert(constant->name);
            if (const auto* reduce = e->as<formulas::Reduce>()) named.insert(reduce->axis);
        });
    }
    std::vector<std::pair<std::string, double>> found;
    for (const std::string& name : named)
        if (const auto number = numbers.find(name); number != numbers.end()) found.emplace_back(name, number->second);
    return found;
}

// As a tensor with indices or, if it is a single number, without them: "query" alone is the size of that axis.
bool is_read(const Formula& formula, const std::string& operand, const formulas::Shape& shape) {
    const auto is_it = [&](const Expr& e) {
        const auto* cell = e->as<formulas::CellOf>();
        const auto* constant = e->as<formulas::Constant>();
        return (cell != nullptr && cell->name == operand) ||
               (constant != nullptr && constant->name == operand && shape.empty());
    };
    return std::ranges::any_of(definitions(formula),
                               [&](const formulas::Definition* d) { return any_node(d->body, is_it); });
}

Written written(std::string_view text, const std::string& name, const Scope& scope, Known known,
                const std::map<std::string, Read, std::less<>>& reads) {
    const formulas::Functions& functions = formulas::the_book().functions;
    Text read_text = read_named(text, name, known, functions);
    const Formula formula = broadcast(std::move(read_text.formula), scope, known);
    Written made;
    const Plan& plan = scope.plan();
    for (const auto& [operand, read] : reads) {
        const Step& step = plan[read.step];
        formulas::Shape& shape = known.operands[operand];
        const std::size_t rank = ops::rank_in(formula, operand, shape.size());
        if (std::all_of(shape.begin() + static_cast<std::ptrdiff_t>(rank), shape.end(),
                        [](const formulas::Dim& dim) { return dim.size == 1; }))
            shape.resize(rank);  // a norm's scale has a last axis of size 1, which needn't be written
        if (!is_read(formula, operand, shape)) continue;
        const bool passes = !is_whole_numbers(step) && values_of(plan, step) != Values::mask;
        made.operation.operands.push_back({operand, OperandRole::input, passes});
        made.operands.push_back(read);
    }
    const Formula elaborated = [&] {
        try {
            return elaborate(formula, known, functions);
        } catch (const FormulaError& error) {
            throw behind(error, read_text.bytes);
        }
    }();
    for (const formulas::Dim& dim : shape_of(elaborated.main))
        made.operation.shape.push_back({literal_axis(dim.axis, plan, made.operands), dim.size});
    if (made.operation.shape.empty()) made.operation.shape.push_back({axis::one, 1});
    made.operation.text = text_of(formula);
    made.operation.numbers = numbers_in(formula, numbers_of(known));
    return made;
}

}  // namespace

formulas::Shape shape_of(const Axes& axes) {
    formulas::Shape shape;
    for (const Axis& axis : axes) shape.push_back({std::string(axis.name), axis.size});
    return shape;
}

namespace {

Written read_plain(std::string_view text, const std::string& name, const Scope& scope,
                   const std::map<std::string, double, std::less<>>& numbers) {
    const std::map<std::string, Read, std::less<>> reads = reads_in(text, scope);
    Known known;
    known.constants = numbers;
    Kinds kinds(scope.plan());
    const auto add = [&](const std::string& operand, const Read& read) {
        known.operands[operand] = shape_of(scope.plan()[read.step].axes);
        if (const auto kind = kinds.of(read.step); kind != formulas::NumberKind::real) known.kinds[operand] = kind;
    };
    for (const auto& [operand, read] : reads) add(operand, read);
    try {
        return written(text, name, scope, known, reads);
    } catch (const FormulaError&) {
        // Again with every name, so that the sentence can say which one is meant.
        for (const std::string& other : scope.names())
            if (const std::optional<Read> read = scope.find(other); read && !known.operands.contains(other))
                add(other, *read);
        return written(text, name, scope, known, reads);
    }
}

}  // namespace

namespace {

// Whether a tensor has as many letters below it as it has axes: q_bhid.
bool has_indices_below(std::string_view text, const Scope& scope) {
    const auto tokens = formulas::tokens_of(text, [](std::string_view) { return true; });
    return std::ranges::any_of(tokens, [&](const formulas::Token& token) {
        const auto [head, below] = formulas::parted(token.word);
        if (token.kind != formulas::Kind::name || below.empty()) return false;
        std::string tensor(head);
        std::optional<Read> read = scope.find(tensor);
        std::ranges::transform(tensor, tensor.begin(),
                               [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
        if (!read) read = scope.find(tensor);
        return read && scope.plan()[read->step].axes.size() == below.size();
    });
}

}  // namespace

Written read_formula(std::string_view text, const std::string& name, const Scope& scope,
                     const std::map<std::string, double, std::less<>>& numbers) {
    const auto has = [&](std::string_view sign) { return text.find(sign) != std::string_view::npos; };
    const bool is_latex = has("\\");
    constexpr std::size_t kShown = 200;  // bytes, of what LaTeX was read as
    std::string plain;
    try {
        if (!is_latex) return read_plain(text, name, scope, numbers);
    } catch (const FormulaError&) {
        // softmax(QKᵀ/√d_k)V is a paper's, too, as is Σ_d q_bhid k_{bhjd}.
        if (!has("ᵀ") && !has("⊤") && !has("^T") && !has("_{") && !has("^{") && !has_indices_below(text, scope)) throw;
        try {
            return read_formula("\\," + std::string(text), name, scope, numbers);
        } catch (const FormulaError&) {
            // What is said is about what is written, unless only LaTeX is written so.
            if (!has("[") && (has("_{") || has("^{"))) throw;
        }
        throw;
    }
    try {
        plain = formulas::from_latex(text, [&](const std::string& tensor) {
            const std::optional<Read> read = scope.find(tensor);
            return read ? scope.plan()[read->step].axes.size() : 0;
        });
        return read_plain(plain, name, scope, numbers);
    } catch (const FormulaError& error) {  // whose place is one of other words
        if (plain.empty() || plain.size() > kShown) throw FormulaError(error.sentence(), formulas::kNowhere);
        throw FormulaError(
            message("{sentence} (read as {formula})", {{"sentence", error.sentence()}, {"formula", plain}}),
            formulas::kNowhere);
    }
}

}  // namespace decoderscope::sheet
