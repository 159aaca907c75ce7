#include "app/core/lessons/evaluate.h"

#include "app/core/run/output_moves.h"
#include "app/core/run/passes_of_text.h"
#include "app/core/text/token_text.h"
#include "engine/base/error.h"
#include "engine/formulas/vectors.h"
#include "engine/formulas/words.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <variant>

namespace decoderscope::core::lessons {

namespace {

using Given = std::span<const Value>;

double as_number(bool truth) { return truth ? 1.0 : 0.0; }

const std::vector<double>& all_of(const Value& value) {
    const Numbers& numbers = numbers_of(value);
    if (numbers.values.empty()) throw Error("there are no numbers here; expected at least one");
    return numbers.values;
}

double sum(const std::vector<double>& v) { return std::accumulate(v.begin(), v.end(), 0.0); }
double mean(const std::vector<double>& v) { return sum(v) / static_cast<double>(v.size()); }
double norm(const std::vector<double>& v) { return std::sqrt(std::inner_product(v.begin(), v.end(), v.begin(), 0.0)); }

// In nats; a weight of 0 adds nothing.
double entropy(const std::vector<double>& v) {
    double total = 0.0;
    for (const double p : v)
        if (p > 0.0) total -= p * std::log(p);
    return total;
}

double count(const std::vector<double>& v) {
    return static_cast<double>(std::ranges::count_if(v, [](double x) { return x != 0.0; }));
}

template <double (*F)(const std::vector<double>&)>
Value over_all(Given a) {
    return single(F(all_of(a[0])));
}

// As in PyTorch, NaN wherever one is NaN.
bool has_nan(const std::vector<double>& v) {
    return std::ranges::any_of(v, [](double x) { return std::isnan(x); });
}
double unless_nan(const std::vector<double>& v, double number) {
    return has_nan(v) ? std::numeric_limits<double>::quiet_NaN() : number;
}

double largest(const std::vector<double>& v) { return unless_nan(v, *std::ranges::max_element(v)); }
double smallest(const std::vector<double>& v) { return unless_nan(v, *std::ranges::min_element(v)); }
double any(const std::vector<double>& v) { return count(v) > 0.0 ? 1.0 : 0.0; }
double every(const std::vector<double>& v) { return count(v) == static_cast<double>(v.size()) ? 1.0 : 0.0; }

double where(const std::vector<double>& v, std::vector<double>::const_iterator at) {
    return static_cast<double>(at - v.begin());
}
Value argmax(Given a) {
    const auto& v = all_of(a[0]);
    return single(unless_nan(v, where(v, std::ranges::max_element(v))));
}
Value argmin(Given a) {
    const auto& v = all_of(a[0]);
    return single(unless_nan(v, where(v, std::ranges::min_element(v))));
}

Value each_number(Given a, double (*function)(double)) {
    Numbers numbers = numbers_of(a[0]);
    for (double& value : numbers.values) value = function(value);
    return numbers;
}
// As above, with a function of formulas.
template <formulas::Op op>
Value each_as(Given a) {
    return each_number(a, [](double x) { return formulas::value_of(op, x, 0.0); });
}

Value softmax(Given a) {
    Numbers numbers = numbers_of(a[0]);
    const double most = largest(all_of(a[0]));
    double total = 0.0;
    for (double& value : numbers.values) total += value = std::exp(value - most);
    for (double& value : numbers.values) value /= total;
    return numbers;
}

double dot(const Value& a, const Value& b) {
    const auto &x = all_of(a), &y = all_of(b);
    if (x.size() != y.size())
        throw Error("{first} numbers and {second}; expected equally many", {{"first", x.size()}, {"second", y.size()}});
    return std::inner_product(x.begin(), x.end(), y.begin(), 0.0);
}
Value dot_product(Given a) { return single(dot(a[0], a[1])); }
Value cosine(Given a) { return single(dot(a[0], a[1]) / (norm(all_of(a[0])) * norm(all_of(a[1])))); }

Value correlation(Given a) {
    const auto centred = [](const Value& value) {
        std::vector<double> v = all_of(value);
        const double middle = mean(v);
        for (double& x : v) x -= middle;
        return Value(vector_of(std::move(v)));
    };
    const std::array<Value, 2> both = {centred(a[0]), centred(a[1])};
    return cosine(both);
}

// The diagonal of a matrix [row, column]: the numbers where column − row = k.
Value diagonal(Given a) {
    const Numbers& m = numbers_of(a[0]);
    if (m.axes.size() != 2)
        throw Error("diagonal of numbers of shape {shape}; expected two axes", {{"shape", shape_text(m.axes)}});
    const auto k = static_cast<Index>(number_of(a[1]));
    std::vector<double> found;
    for (Index row = 0; row < m.axes[0].size; ++row)
        if (const Index column = row + k; column >= 0 && column < m.axes[1].size)
            found.push_back(m.values[static_cast<std::size_t>(row * m.axes[1].size + column)]);
    return vector_of(std::move(found));
}

// One of the two sequences of a scenario.
struct Sequence {
    Tensor tokens;  // [batch, pos]
    Tensor mask;    // [batch, pos], may be absent
    const tokenizer::Tokenizer& tokenizer;
};
Sequence target(const Scenario& s) { return {s.inputs.tokens, padding_of(s), s.tokenizer()}; }
Sequence source(const Scenario& s) {
    return {s.inputs.encoder_tokens, s.inputs.encoder_attention_mask, s.encoder_tokenizer()};
}

Index index_in(const Value& value, Index size, Phrase what) {
    const double number = number_of(value);
    Index index = std::isfinite(number) ? static_cast<Index>(std::llround(number)) : size;
    if (index < 0) index += size;
    if (index < 0 || index >= size)
        throw Error("{what} {index}; expected less than {size}",
                    {{"what", Sentence(what)}, {"index", shown_text(single(number))}, {"size", size}});
    return index;
}

Index id_at(const Sequence& s, Index row, Index position) {
    const std::array<Index, 2> cell = {row, position};
    return static_cast<Index>(s.tokens.at(cell));
}

Value token_of(const Sequence& s, Given a) {
    if (s.tokens.empty()) throw Error("the run reads no tokens here");
    const Index row = a.size() == 2 ? index_in(a[0], s.tokens.dim(0), message("row")) : 0;
    return token_text(s.tokenizer, id_at(s, row, index_in(a.back(), s.tokens.dim(1), message("position"))));
}

Value found_in(const Sequence& s, Given a) {
    if (s.tokens.empty()) throw Error("the run reads no tokens here");
    const Index id = id_of(s.tokenizer, text_of(a[0]));
    double left = a.size() == 2 ? number_of(a[1]) : 0.0;
    for (Index i = 0; i < s.tokens.dim(1); ++i)
        if (id_at(s, 0, i) == id && left-- <= 0.0) return single(static_cast<double>(i));
    return single(-1.0);
}

Value length_of(const Sequence& s) {
    if (s.tokens.empty()) throw Error("the run reads no tokens here");
    if (s.mask.empty()) return single(static_cast<double>(s.tokens.dim(1)));
    const std::span<const float> row = s.mask.values().first(static_cast<std::size_t>(s.tokens.dim(1)));
    return single(static_cast<double>(std::ranges::count_if(row, [](float keep) { return keep != 0.0F; })));
}

// A key of the configuration: a number, true or false, or a text.
Value config_key(const Scenario& scenario, Given a) {
    const std::string& key = text_of(a[0]);
    for (const auto& [name, value] : config_values(scenario.config())) {
        if (name != key) continue;
        if (value == "true" || value == "false") return single(value == "true" ? 1.0 : 0.0);
        char* end = nullptr;
        const double number = std::strtod(value.c_str(), &end);
        if (end == value.c_str() + value.size() && !value.empty()) return single(number);
        return value;
    }
    throw Error("config: \"{key}\" is not a key of the configuration", {{"key", key}});
}

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

// A tensor of the run; of a name that is none, the nearest one that is known is named.
Tensor tensor_named(const std::string& name, const Scope& scope) {
    const Plan& plan = ran_of(scope).run->plan();
    try {
        return scope.runs.tensor(ran_of(scope), name);
    } catch (const Error& error) {
        if (plan.find(name) != nullptr) throw;
        std::vector<std::string> known;
        for (const Lets* lets : {scope.question, scope.lesson})
            if (lets != nullptr)
                for (const auto& [let, expression] : *lets) known.push_back(let);
        for (const auto& [variable, value] : scope.variables) known.push_back(variable);
        for (const Step& step : plan.steps()) known.push_back(step.name);
        throw Error(formulas::with_nearest(error.sentence(), name, known));
    }
}

Value value_named(const std::string& name, const Scope& scope) {
    if (const auto found = scope.variables.find(name); found != scope.variables.end()) return found->second;
    if (const ExpressionRef let = let_of(scope, name)) return evaluate(*let, deeper(scope));
    if (name == "true" || name == "false") return single(as_number(name == "true"));
    if (name == "pi") return single(std::acos(-1.0));
    if (name == ":") throw Error(": stands for a whole axis; expected it between brackets");
    return numbers_in(tensor_named(name, scope));
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
    if (e.children.size() - 1 != axes.size())
        throw Error("{count} indices; expected {wanted}, one per axis of {axes}",
                    {{"count", e.children.size() - 1}, {"wanted", axes.size()}, {"axes", axes_text(axes)}});
    // Axis by axis from the left: the offsets of what is left.
    std::vector<Index> offsets = {0};
    Axes left;
    for (std::size_t i = 0; i < axes.size(); ++i) {
        const Axis& along = axes[i];
        const Expression& at = *e.children[i + 1];
        std::vector<Index> next;
        if (const std::string* name = name_in(at); name != nullptr && *name == ":") {
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
    const Tensor tensor = tensor_named(name, scope);
    return part_of(tensor.axes(), tensor.values(), e, scope);
}

// A tensor's part is read without copying the whole.
Value evaluate_index(const Expression& e, const Scope& scope) {
    const Expression& base = *e.children[0];
    if (const std::string* name = name_in(base); name != nullptr && !scope.variables.contains(*name)) {
        const ExpressionRef let = let_of(scope, *name);
        if (!let) return index_of_tensor(*name, e, scope);
        if (const std::string* tensor = name_in(*let); tensor != nullptr && !let_of(scope, *tensor))
            return index_of_tensor(*tensor, e, scope);
    }
    const Value whole = evaluate(base, scope);
    const Numbers& numbers = numbers_of(whole);
    return part_of(numbers.axes, numbers.values, e, scope);
}

// ---- operators

// By its operator; a condition's second half is computed only if it matters.
Value evaluate_operator(formulas::Op op, const Expression& e, const Scope& scope) {
    using formulas::Op;
    const Value a = evaluate(*e.children[0], scope);
    if (op == Op::choose) return evaluate(*e.children[holds(a) ? 1 : 2], scope);
    if (op == Op::negation || op == Op::bracket) return single(as_number(holds(a) == (op == Op::bracket)));
    if (op == Op::both && !holds(a)) return single(0.0);
    if (op == Op::either && holds(a)) return single(1.0);
    if (e.children.size() == 1) {
        Numbers numbers = numbers_of(a);
        for (double& value : numbers.values) value = formulas::value_of(op, value, 0.0);
        return numbers;
    }
    const Value b = evaluate(*e.children[1], scope);
    if (op == Op::both || op == Op::either) return single(as_number(holds(b)));
    const auto *x = std::get_if<std::string>(&a), *y = std::get_if<std::string>(&b);
    if (x == nullptr || y == nullptr)
        return combined(numbers_of(a), numbers_of(b),
                        [op](double left, double right) { return formulas::value_of(op, left, right); });
    if (op != Op::equal && op != Op::not_equal) throw Error("texts can only be compared with == and !=");
    return single(as_number((*x == *y) == (op == Op::equal)));
}

// ---- functions that need the run, or don't compute all their arguments

// The vector of its third argument for the first = 0, 1, … below the second.
Value each(const Expression& e, const Scope& scope) {
    const std::string* name = name_in(*e.children[0]);
    if (name == nullptr) throw Error("each(NAME, COUNT, EXPRESSION): expected a name first");
    const double count = number_of(evaluate(*e.children[1], scope));
    if (!(count >= 0 && count <= kMostRepeats))
        throw Error("each: {count} times, expected from 0 to {most}",
                    {{"count", shown_text(single(count))}, {"most", shown_text(single(kMostRepeats))}});
    Scope inner = scope;
    std::vector<double> values;
    for (double i = 0; i < count; ++i) {
        inner.variables.insert_or_assign(*name, single(i));
        values.push_back(number_of(evaluate(*e.children[2], inner)));
    }
    return vector_of(std::move(values));
}

Value size_of(const Expression& e, const Scope& scope) {
    const Value value = evaluate(*e.children[0], scope);
    const Numbers& numbers = numbers_of(value);
    if (e.children.size() == 1) return single(static_cast<double>(numbers.values.size()));
    const std::string name = text_of(evaluate(*e.children[1], scope));
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
Value predictions_changed(const Expression&, const Scope& scope) {
    const Ran& now = ran_of(scope);
    const OutputMoves moves = finished(output_moves(scope.runs.before().run, now.run, padding_of(now.scenario)));
    return single(static_cast<double>(moves.changed.size()));
}

Value chosen_of(const Expression& e, const Scope& scope) {
    const double number = number_of(evaluate(*e.children[0], scope));
    const std::size_t count = e.children.size() - 1;
    if (!(number >= 0.0 && number < static_cast<double>(count)))
        throw Error("pick: {number}, expected a number from 0 to {last}",
                    {{"number", shown_text(single(number))}, {"last", count - 1}});
    return evaluate(*e.children[1 + static_cast<std::size_t>(number)], scope);
}

// The functions of expressions: those that need nothing but their arguments; those that ask about the text, the
// vocabulary and the configuration; and those that need the run, or don't compute all their arguments.
using OfNumbers = Value (*)(Given arguments);
using OfScenario = Value (*)(const Scenario& scenario, Given arguments);
using OfRun = Value (*)(const Expression& call, const Scope& scope);
struct Function {
    std::string_view name;
    std::size_t least, most;  // how many arguments
    std::variant<OfNumbers, OfScenario, OfRun> call;
};
constexpr std::array<Function, 43> kFunctions = {{
    {"sum", 1, 1, over_all<sum>},
    {"max", 1, 1, over_all<largest>},
    {"min", 1, 1, over_all<smallest>},
    {"mean", 1, 1, over_all<mean>},
    {"norm", 1, 1, over_all<norm>},
    {"entropy", 1, 1, over_all<entropy>},
    {"count", 1, 1, over_all<count>},
    {"any", 1, 1, over_all<any>},
    {"all", 1, 1, over_all<every>},
    {"argmax", 1, 1, argmax},
    {"argmin", 1, 1, argmin},
    {"abs", 1, 1, each_as<formulas::Op::abs>},
    {"sqrt", 1, 1, each_as<formulas::Op::root>},
    {"exp", 1, 1, each_as<formulas::Op::exp>},
    {"log", 1, 1, each_as<formulas::Op::log>},
    {"tanh", 1, 1, each_as<formulas::Op::tanh>},
    {"round", 1, 1, [](Given a) { return each_number(a, [](double x) { return std::round(x); }); }},
    {"isnan", 1, 1, [](Given a) { return each_number(a, [](double x) { return as_number(std::isnan(x)); }); }},
    {"isfinite", 1, 1, [](Given a) { return each_number(a, [](double x) { return as_number(std::isfinite(x)); }); }},
    {"softmax", 1, 1, softmax},
    {"dot", 2, 2, dot_product},
    {"cosine", 2, 2, cosine},
    {"correlation", 2, 2, correlation},
    {"diagonal", 2, 2, diagonal},
    {"token", 1, 2, [](const Scenario& s, Given a) { return token_of(target(s), a); }},
    {"source_token", 1, 2, [](const Scenario& s, Given a) { return token_of(source(s), a); }},
    {"find", 1, 2, [](const Scenario& s, Given a) { return found_in(target(s), a); }},
    {"source_find", 1, 2, [](const Scenario& s, Given a) { return found_in(source(s), a); }},
    {"length", 0, 0, [](const Scenario& s, Given) { return length_of(target(s)); }},
    {"source_length", 0, 0, [](const Scenario& s, Given) { return length_of(source(s)); }},
    {"word", 1, 1,
     [](const Scenario& s, Given a) {
         return Value(token_text(s.tokenizer(), static_cast<Index>(std::llround(number_of(a[0])))));
     }},
    {"id", 1, 1,
     [](const Scenario& s, Given a) {
         return Value(single(static_cast<double>(id_of(s.tokenizer(), text_of(a[0])))));
     }},
    {"source_id", 1, 1,
     [](const Scenario& s, Given a) {
         return Value(single(static_cast<double>(id_of(s.encoder_tokenizer(), text_of(a[0])))));
     }},
    {"config", 1, 1, config_key},
    {"if", 3, 3,
     [](const Expression& e, const Scope& scope) {
         return evaluate(holds(evaluate(*e.children[0], scope)) ? *e.children[1] : *e.children[2], scope);
     }},
    {"pick", 2, 17, chosen_of},
    {"each", 3, 3, each},
    {"size", 1, 2, size_of},
    {"before", 1, 1,
     [](const Expression& e, const Scope& scope) { return in_run(*e.children[0], scope, scope.runs.before()); }},
    {"with", 2, 2,
     [](const Expression& e, const Scope& scope) {
         const std::string changes = text_of(evaluate(*e.children[0], scope));
         return in_run(*e.children[1], scope, scope.runs.with(ran_of(scope), changes));
     }},
    {"exists", 1, 1,
     [](const Expression& e, const Scope& scope) {
         const std::string name = text_of(evaluate(*e.children[0], scope));
         return Value(single(as_number(ran_of(scope).run->plan().find(name) != nullptr)));
     }},
    {"edits", 0, 0,
     [](const Expression&, const Scope& scope) { return Value(single(static_cast<double>(scope.runs.edits()))); }},
    {"predictions_changed", 0, 0, predictions_changed},
}};

const Function* find_function(std::string_view name) {
    const auto found = std::ranges::find(kFunctions, name, &Function::name);
    return found != kFunctions.end() ? &*found : nullptr;
}

std::vector<std::string> function_names() {
    std::vector<std::string> names;
    for (const Function& function : kFunctions) names.emplace_back(function.name);
    return names;
}

Value evaluate_call(const std::string& name, const Expression& e, const Scope& scope) {
    if (name == "[]") return evaluate_index(e, scope);
    const Function* function = find_function(name);
    if (function == nullptr)
        throw Error(formulas::with_nearest(
            message("{name}: there is no such function; docs/lessons.md lists them", {{"name", name}}), name,
            function_names()));
    if (e.children.size() < function->least || e.children.size() > function->most)
        throw Error("{name}: {count} arguments, expected {least}",
                    {{"name", name}, {"count", e.children.size()}, {"least", function->least}});
    if (const auto* of_run = std::get_if<OfRun>(&function->call)) return (*of_run)(e, scope);
    std::vector<Value> arguments;
    for (const ExpressionRef& part : e.children) arguments.push_back(evaluate(*part, scope));
    if (const auto* of_scenario = std::get_if<OfScenario>(&function->call))
        return (*of_scenario)(ran_of(scope).scenario, arguments);
    return std::get<OfNumbers>(function->call)(arguments);
}

Value computed(const Expression& e, const Scope& scope) {
    if (const auto* number = std::get_if<formulas::Literal>(&e.what)) return single(number->value);
    if (const auto text = text_in(e)) return *text;
    if (const std::string* name = name_in(e)) return value_named(*name, scope);
    if (const std::string* function = function_in(e)) return evaluate_call(*function, e, scope);
    return evaluate_operator(std::get_if<formulas::Apply>(&e.what)->op, e, scope);
}

}  // namespace

bool is_function(std::string_view name) { return find_function(name) != nullptr; }

Numbers combined(const Numbers& a, const Numbers& b, const std::function<double(double, double)>& operation) {
    const Numbers& larger = a.is_single() && !b.is_single() ? b : a;
    if (a.values.size() != 1 && b.values.size() != 1 && a.values.size() != b.values.size())
        throw Error("numbers of shape {first} and numbers of shape {second}; expected the same shape, or one number",
                    {{"first", shape_text(a.axes)}, {"second", shape_text(b.axes)}});
    Numbers result{larger.axes, std::vector<double>(larger.values.size())};
    for (std::size_t i = 0; i < result.values.size(); ++i)
        result.values[i] = operation(a.values[a.values.size() == 1 ? 0 : i], b.values[b.values.size() == 1 ? 0 : i]);
    return result;
}

Index id_of(const tokenizer::Tokenizer& tokenizer, std::string_view text) {
    for (Index id = 0; id < tokenizer.size(); ++id)
        if (tokenizer.piece(id) == text || token_text(tokenizer, id) == text) return id;
    throw Error("the vocabulary has no token '{text}'", {{"text", text}});
}

// A name is computed where it stands, so that a few names of names, or loops in loops, would have no end.
Value evaluate(const Expression& e, const Scope& scope) {
    constexpr std::size_t kMost = std::size_t{1} << 26, kEach = 64;  // numbers; an operation takes as long as these
    std::size_t spent = 0;
    if (scope.spent == nullptr) {
        Scope whole = scope;
        whole.spent = &spent;
        return evaluate(e, whole);
    }
    Value value = computed(e, scope);
    const auto* numbers = std::get_if<Numbers>(&value);
    *scope.spent += kEach + (numbers != nullptr ? numbers->values.size() : 0);
    if (*scope.spent > kMost) throw Error("this takes too long to compute; expected fewer names of names, or loops");
    return value;
}

}  // namespace decoderscope::core::lessons
