#include "app/core/lessons/evaluate.h"

#include "app/core/lessons/functions.h"
#include "app/core/run/output_moves.h"
#include "engine/base/error.h"

#include <cmath>

namespace decoderscope::core::lessons {

namespace {

constexpr int kDeepestNames = 40;
constexpr double kMostRepeats = 4096;

Numbers numbers_in(const Tensor& tensor) {
    const std::span<const float> values = tensor.values();
    return {tensor.axes(), {values.begin(), values.end()}};
}

// What a name stands for among the question's and the lesson's names; nullptr if for nothing.
ExpressionRef let_of(const Scope& scope, std::string_view name) {
    for (const Lets* lets : {scope.question, scope.lesson})
        if (lets != nullptr)
            if (const auto found = lets->find(name); found != lets->end()) return found->second;
    return nullptr;
}

const Ran& ran_of(const Scope& scope) { return scope.ran != nullptr ? *scope.ran : scope.runs.now(); }

Scope deeper(const Scope& scope) {
    Scope inner = scope;
    if (++inner.depth > kDeepestNames) throw Error("the names refer to each other in a circle");
    return inner;
}

Value evaluate_name(const Expression& e, const Scope& scope) {
    if (const auto found = scope.variables.find(e.text); found != scope.variables.end()) return found->second;
    if (const ExpressionRef let = let_of(scope, e.text)) return evaluate(*let, deeper(scope));
    return numbers_in(scope.runs.tensor(ran_of(scope), e.text));
}

// ---- a part of a tensor

// An index along one axis as a number; a text is a token of the vocabulary.
Index index_along(const Expression& e, const Axis& along, const Scope& scope) {
    const Value value = evaluate(e, scope);
    double number = 0.0;
    if (const auto* text = std::get_if<std::string>(&value))
        number = static_cast<double>(id_of(ran_of(scope).scenario.tokenizer(), *text));
    else
        number = number_of(value);
    auto index = static_cast<Index>(std::llround(number));
    if (index < 0) index += along.size;
    if (!std::isfinite(number) || index < 0 || index >= along.size)
        throw Error("index {index} along {axis}; expected less than {size}",
                    {{"index", shown_text(single(number))}, {"axis", along.name}, {"size", along.size}});
    return index;
}

// `values` are the numbers of all of these axes.
template <class Values>
Value part_of(const Axes& axes, const Values& values, const Expression& e, const Scope& scope) {
    if (e.parts.size() - 1 != axes.size())
        throw Error("{count} indices; expected {wanted}, one per axis of {axes}",
                    {{"count", e.parts.size() - 1}, {"wanted", axes.size()}, {"axes", axes_text(axes)}});
    // Axis by axis from the left: the offsets of what is left.
    std::vector<Index> offsets = {0};
    Axes left;
    for (std::size_t i = 0; i < axes.size(); ++i) {
        const Axis& along = axes[i];
        const Expression& at = *e.parts[i + 1];
        std::vector<Index> next;
        if (at.kind == Expression::Kind::whole) {
            left.push_back(along);
            for (const Index offset : offsets)
                for (Index k = 0; k < along.size; ++k) next.push_back(offset * along.size + k);
        } else {
            const Index k = index_along(at, along, scope);
            for (const Index offset : offsets) next.push_back(offset * along.size + k);
        }
        offsets = std::move(next);
    }
    Numbers part{left, {}};
    for (const Index offset : offsets) part.values.push_back(values[static_cast<std::size_t>(offset)]);
    return part;
}

Value index_of_tensor(const std::string& name, const Expression& e, const Scope& scope) {
    const Tensor tensor = scope.runs.tensor(ran_of(scope), name);
    return part_of(tensor.axes(), tensor.values(), e, scope);
}

// A tensor's part is read without copying the whole.
Value evaluate_index(const Expression& e, const Scope& scope) {
    const Expression& base = *e.parts[0];
    if (base.kind == Expression::Kind::name && !scope.variables.contains(base.text)) {
        if (const ExpressionRef let = let_of(scope, base.text)) {
            if (let->kind == Expression::Kind::name && !let_of(scope, let->text))
                return index_of_tensor(let->text, e, scope);
        } else {
            return index_of_tensor(base.text, e, scope);
        }
    }
    const Value whole = evaluate(base, scope);
    const Numbers& numbers = numbers_of(whole);
    return part_of(numbers.axes, numbers.values, e, scope);
}

// ---- operators

double as_number(bool truth) { return truth ? 1.0 : 0.0; }

Value compared_texts(const std::string& sign, const std::string& a, const std::string& b) {
    if (sign == "==") return single(as_number(a == b));
    if (sign == "!=") return single(as_number(a != b));
    throw Error("texts can only be compared with == and !=");
}

Value evaluate_binary(const Expression& e, const Scope& scope) {
    const std::string& sign = e.text;
    if (sign == "and")
        return single(as_number(holds(evaluate(*e.parts[0], scope)) && holds(evaluate(*e.parts[1], scope))));
    if (sign == "or")
        return single(as_number(holds(evaluate(*e.parts[0], scope)) || holds(evaluate(*e.parts[1], scope))));
    const Value a = evaluate(*e.parts[0], scope), b = evaluate(*e.parts[1], scope);
    if (const auto* x = std::get_if<std::string>(&a), *y = std::get_if<std::string>(&b); x != nullptr && y != nullptr)
        return compared_texts(sign, *x, *y);
    struct Operator {
        std::string_view sign;
        double (*apply)(double, double);
    };
    static constexpr Operator kOperators[] = {
        {"+", [](double x, double y) { return x + y; }},
        {"-", [](double x, double y) { return x - y; }},
        {"*", [](double x, double y) { return x * y; }},
        {"/", [](double x, double y) { return x / y; }},
        {"^", [](double x, double y) { return std::pow(x, y); }},
        {"==", [](double x, double y) { return as_number(x == y); }},
        {"!=", [](double x, double y) { return as_number(x != y); }},
        {"<=", [](double x, double y) { return as_number(x <= y); }},
        {">=", [](double x, double y) { return as_number(x >= y); }},
        {"<", [](double x, double y) { return as_number(x < y); }},
        {">", [](double x, double y) { return as_number(x > y); }},
    };
    for (const Operator& known : kOperators)
        if (known.sign == sign) return combined(numbers_of(a), numbers_of(b), known.apply);
    throw Error("{sign}: expected an operator", {{"sign", sign}});
}

Value evaluate_unary(const Expression& e, const Scope& scope) {
    if (e.text == "not") return single(as_number(!holds(evaluate(*e.parts[0], scope))));
    Numbers numbers = numbers_of(evaluate(*e.parts[0], scope));
    for (double& value : numbers.values) value = -value;
    return numbers;
}

// ---- functions that need the run, or don't compute all their arguments

// The vector of parts[2] for parts[0] = 0, 1, … below parts[1].
Value each(const Expression& e, const Scope& scope) {
    if (e.parts[0]->kind != Expression::Kind::name) throw Error("each(NAME, COUNT, EXPRESSION): expected a name first");
    const double count = number_of(evaluate(*e.parts[1], scope));
    if (!(count >= 0 && count <= kMostRepeats))
        throw Error("each: {count} times, expected from 0 to {most}",
                    {{"count", shown_text(single(count))}, {"most", shown_text(single(kMostRepeats))}});
    Scope inner = scope;
    std::vector<double> values;
    for (double i = 0; i < count; ++i) {
        inner.variables.insert_or_assign(e.parts[0]->text, single(i));
        values.push_back(number_of(evaluate(*e.parts[2], inner)));
    }
    return vector_of(std::move(values));
}

Value size_of(const Expression& e, const Scope& scope) {
    const Value value = evaluate(*e.parts[0], scope);
    const Numbers& numbers = numbers_of(value);
    if (e.parts.size() == 1) return single(static_cast<double>(numbers.values.size()));
    const std::string name = text_of(evaluate(*e.parts[1], scope));
    for (const Axis& along : numbers.axes)
        if (along.name == name) return single(static_cast<double>(along.size));
    throw Error("size: no axis '{name}'; expected one of {axes}", {{"name", name}, {"axes", axes_text(numbers.axes)}});
}

Value in_run(const Expression& e, const Scope& scope, const Ran& ran) {
    Scope inner = scope;
    inner.ran = &ran;
    return evaluate(e, inner);
}

// In the run that is asked about, since the place opened.
Value predictions_changed(const Scope& scope) {
    const Ran& now = ran_of(scope);
    const OutputMoves moves =
        finished(output_moves(scope.runs.before().run, now.run, now.scenario.inputs.attention_mask));
    return single(static_cast<double>(moves.changed.size()));
}

void need_arguments(const Expression& e, std::size_t least, std::size_t most) {
    if (e.parts.size() >= least && e.parts.size() <= most) return;
    throw Error("{name}: {count} arguments, expected {least}",
                {{"name", e.text}, {"count", e.parts.size()}, {"least", least}});
}

Value evaluate_call(const Expression& e, const Scope& scope) {
    const std::string& name = e.text;
    if (name == "if") {
        need_arguments(e, 3, 3);
        return evaluate(holds(evaluate(*e.parts[0], scope)) ? *e.parts[1] : *e.parts[2], scope);
    }
    if (name == "pick") {
        need_arguments(e, 2, 17);
        const double number = number_of(evaluate(*e.parts[0], scope));
        const std::size_t count = e.parts.size() - 1;
        if (!(number >= 0.0 && number < static_cast<double>(count)))
            throw Error("pick: {number}, expected a number from 0 to {last}",
                        {{"number", shown_text(single(number))}, {"last", count - 1}});
        return evaluate(*e.parts[1 + static_cast<std::size_t>(number)], scope);
    }
    if (name == "each") {
        need_arguments(e, 3, 3);
        return each(e, scope);
    }
    if (name == "size") {
        need_arguments(e, 1, 2);
        return size_of(e, scope);
    }
    if (name == "before") {
        need_arguments(e, 1, 1);
        return in_run(*e.parts[0], scope, scope.runs.before());
    }
    if (name == "with") {
        need_arguments(e, 2, 2);
        const std::string changes = text_of(evaluate(*e.parts[0], scope));
        return in_run(*e.parts[1], scope, scope.runs.with(ran_of(scope), changes));
    }
    if (name == "exists") {
        need_arguments(e, 1, 1);
        return single(as_number(ran_of(scope).run->plan().find(text_of(evaluate(*e.parts[0], scope))) != nullptr));
    }
    if (name == "edits") {
        need_arguments(e, 0, 0);
        return single(static_cast<double>(scope.runs.edits()));
    }
    if (name == "predictions_changed") {
        need_arguments(e, 0, 0);
        return predictions_changed(scope);
    }
    std::vector<Value> arguments;
    for (const ExpressionRef& part : e.parts) arguments.push_back(evaluate(*part, scope));
    if (const NamedFunction* function = find_function(name)) {
        need_arguments(e, function->arguments, function->arguments);
        return function->call(arguments);
    }
    if (const TextFunction* function = find_text_function(name)) {
        need_arguments(e, function->least, function->most);
        return function->call(ran_of(scope).scenario, arguments);
    }
    throw Error("{name}: there is no such function; docs/lessons.md lists them", {{"name", name}});
}

}  // namespace

Value evaluate(const Expression& e, const Scope& scope) {
    switch (e.kind) {
        case Expression::Kind::number:
            return single(e.number);
        case Expression::Kind::text:
            return e.text;
        case Expression::Kind::name:
            return evaluate_name(e, scope);
        case Expression::Kind::index:
            return evaluate_index(e, scope);
        case Expression::Kind::unary:
            return evaluate_unary(e, scope);
        case Expression::Kind::binary:
            return evaluate_binary(e, scope);
        case Expression::Kind::call:
            return evaluate_call(e, scope);
        case Expression::Kind::whole:
            break;
    }
    throw Error(": stands for a whole axis; expected it between brackets");
}

}  // namespace decoderscope::core::lessons
