#include "engine/ops/formula.h"

#include "engine/base/translate.h"
#include "engine/formulas/book.h"
#include "engine/formulas/derive.h"
#include "engine/formulas/evaluate.h"
#include "engine/formulas/whole.h"
#include "engine/formulas/work.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <mutex>
#include <stdexcept>

namespace decoderscope::ops {

namespace {

using formulas::Formula;
using formulas::Known;

struct NameWithRole {
    std::string_view name;
    OperandRole role;
};
constexpr std::array kRoles{
    NameWithRole{"x", OperandRole::input},        NameWithRole{"pre", OperandRole::input},
    NameWithRole{"gate", OperandRole::gate},      NameWithRole{"W", OperandRole::weight},
    NameWithRole{"bias", OperandRole::bias},      NameWithRole{"scale", OperandRole::scale},
    NameWithRole{"gain", OperandRole::gain},      NameWithRole{"weight", OperandRole::gain},
    NameWithRole{"shift", OperandRole::shift},    NameWithRole{"query", OperandRole::query},
    NameWithRole{"key", OperandRole::key},        NameWithRole{"v", OperandRole::value},
    NameWithRole{"z", OperandRole::input},        NameWithRole{"scores", OperandRole::scores},
    NameWithRole{"mask", OperandRole::mask},      NameWithRole{"pattern", OperandRole::pattern},
    NameWithRole{"result", OperandRole::results}, NameWithRole{"expert", OperandRole::expert},
    NameWithRole{"sink", OperandRole::sinks},     NameWithRole{"token", OperandRole::tokens},
    NameWithRole{"E", OperandRole::table},        NameWithRole{"P", OperandRole::table},
    NameWithRole{"own", OperandRole::input},      NameWithRole{"shared", OperandRole::added},
    NameWithRole{"logits", OperandRole::input},   NameWithRole{"loss_per_token", OperandRole::input},
    NameWithRole{"target", OperandRole::targets}};

// What the screen calls a formula's lines.
formulas::ShownNames shown_names(const ByFormula& by, const std::string& result) {
    formulas::ShownNames shown{
        {"g", "g"},     {"mean", tr("mean")}, {"variance", tr("variance")}, {"mean_square", tr("mean square")},
        {"top", "max"}, {"all", "Σ exp"},     {"average", tr("average")}};
    for (const NamedNumber& number : by.numbers)
        if (!number.shown.empty()) shown[std::string(number.name)] = number.shown;
    if (!by.line.empty()) shown[result] = by.line;
    return shown;
}

// A formula with the axes of a step's tensors.
struct Compiled {
    Known known;
    Formula formula;
    std::string result;                   // what the operation's own formula calls its output
    std::vector<std::string> names;       // of the operands
    std::vector<formulas::Shape> shapes;  // of the operands

    void compute(const formulas::Operands& operands, std::span<float> to) const {
        // A recurrence's steps wait for one another, and are no rows that are computed alone; nor is what is made of a
        // matrix.
        std::call_once(made_, [&] {
            std::vector<formulas::CodedDefinition> parts = coded();
            if (std::ranges::none_of(parts, [](const auto& part) { return part.start.has_value(); }))
                computation_.emplace(std::move(parts), shapes);
        });
        if (!computation_) return formulas::Evaluator(formula, operands, known).all(to);
        computation_->run(operands, to);
    }

    [[nodiscard]] std::vector<formulas::CodedDefinition> coded() const {
        return formulas::Coder(formula, names, known).parts();
    }
    [[nodiscard]] Work work() const { return formulas::work_of(coded(), shapes); }

private:
    mutable std::once_flag made_;
    mutable std::optional<formulas::Computation> computation_;
};

std::string axis_name(std::string_view operand, const Axis& axis) {
    return std::string(operand) + "_" + std::string(axis.name);
}

using Made = std::shared_ptr<Compiled>;

Made compiled(const ByFormula& by, const OperandAxes& in, const Axes& out) {
    const Formula f = by.written();
    auto kept = std::make_shared<Compiled>();
    Compiled& made = *kept;
    made.known.trusted = true;
    made.known.constants = by.numbers_for(in, out);
    for (std::size_t i = 0; i < in.size(); ++i) {
        const std::string_view name = by.name_of(i);
        formulas::Shape shape;
        for (const Axis& axis : in[i]) shape.push_back({axis_name(name, axis), axis.size});
        shape.resize(rank_in(f, name, shape.size()));
        made.known.operands[std::string(name)] = shape;
        made.names.emplace_back(name);
        made.shapes.push_back(std::move(shape));
    }
    made.formula = elaborate(f, made.known, formulas::the_book().functions);
    made.result = made.formula.main.name;
    return kept;
}

Made gradient_of(const ByFormula& by, std::size_t operand, const Made& forward) {
    const std::string name(by.name_of(operand));
    const auto& formulas_by_hand = formulas::the_book().formulas;
    const auto by_hand = formulas_by_hand.find(std::string(by.label()) + "." + name);
    Compiled& made = *forward;
    const Known known = known_to_derivative(made.formula, made.known);
    const formulas::Shape result = shape_of(made.formula.main);
    made.names.push_back(made.result);
    made.names.emplace_back(formulas::kGradient);
    made.shapes.insert(made.shapes.end(), 2, result);  // the output, and the gradient with respect to it
    made.formula =
        elaborate(by_hand != formulas_by_hand.end() ? by_hand->second : derivative(made.formula, name, made.known),
                  known, formulas::the_book().functions);
    made.known = known;
    return forward;
}

// Formulas that were put together already: many cells of a few steps are explained.
class Kept {
public:
    template <class Make>
    std::shared_ptr<const Compiled> find(const std::string& key, const Make& make) {
        const std::scoped_lock lock(mutex_);
        if (const auto found = kept_.find(key); found != kept_.end()) return found->second;
        if (kept_.size() >= kMost) kept_.clear();
        return kept_[key] = make();
    }

private:
    static constexpr std::size_t kMost = 512;
    std::mutex mutex_;
    std::map<std::string, std::shared_ptr<const Compiled>> kept_;
};

std::shared_ptr<const Compiled> compiled_once(const ByFormula& by, const Operands& in, const Axes& out,
                                              std::optional<std::size_t> operand) {
    // The label too: a gradient that the book writes by hand is found by it.
    std::string key = by.formula + ";" + std::string(by.label()) + (operand ? "/" + std::to_string(*operand) : "");
    const auto add = [&](const Axes& axes) {
        key += ';';
        for (const Axis& axis : axes) key += std::string(axis.name) + std::to_string(axis.size) + ',';
    };
    for (const OperandName& name : by.operands) key.append(";").append(name.name);
    for (const NamedNumber& number : by.numbers)  // all of its digits: an eps of 1e-8 is not one of 1e-12
        key.append(number.name).append(std::to_string(std::bit_cast<std::uint64_t>(number.value)));
    for (std::size_t i = 0; i < in.size(); ++i) add(in[i].axes());
    add(out);
    static Kept kept;
    return kept.find(key, [&] {
        OperandAxes axes;
        for (std::size_t i = 0; i < in.size(); ++i) axes.push_back(in[i].axes());
        const Made forward = compiled(by, axes, out);
        return operand ? gradient_of(by, *operand, forward) : forward;
    });
}

Explanation explained(const Compiled& by, const formulas::Operands& operands, Cell cell,
                      const formulas::ShownNames& shown) {
    cell.resize(by.formula.main.indices.size());
    formulas::Evaluator evaluator(by.formula, operands, by.known);
    Explanation explanation = formulas::explain(evaluator, cell, shown);
    const auto whole = [&](Factor& factor) {
        if (!factor.cell) return;
        const auto* tensor = std::get<const Tensor*>(operands[factor.cell->operand].numbers);
        factor.cell->cell.resize(tensor->rank());
    };
    for (Line& line : explanation.lines) {
        for (Factor& factor : line.given) whole(factor);
        for (Term& term : line.terms)
            for (Factor& factor : term.factors) whole(factor);
    }
    return explanation;
}

formulas::Operands named(const Operands& in, const Compiled& compiled) {
    formulas::Operands operands;
    for (std::size_t i = 0; i < in.size(); ++i) operands.push_back({compiled.names[i], compiled.shapes[i], &in[i]});
    return operands;
}

// A gradient reads the output, too, and the gradient with respect to it.
formulas::Operands named(const Backward& b, const Compiled& compiled) {
    formulas::Operands operands = named(b.in, compiled);
    for (const Tensor* also : {&b.out, &b.grad})
        operands.push_back({compiled.names[operands.size()], compiled.shapes[operands.size()], also});
    return operands;
}

Tensor rounded(const Compiled& by, const formulas::Operands& operands, const Axes& axes) {
    Tensor out(axes);
    by.compute(operands, out.writable());
    return out;
}

}  // namespace

std::size_t rank_in(const Formula& f, std::string_view name, std::size_t rank) {
    std::size_t found = rank;
    for (const formulas::Definition* d : definitions(f))
        for_each(d->body, [&](const formulas::Expr& e) {
            const auto* cell = e->as<formulas::CellOf>();
            const auto* number = e->as<formulas::Constant>();
            if (number != nullptr && number->name == name) found = 0;
            if (cell == nullptr || cell->name != name) return;
            if (e->children.empty() || (*e)[0]->as<formulas::Leading>() == nullptr) found = e->children.size();
        });
    return std::min(found, rank);
}

formulas::Formula ByFormula::written() const {
    const formulas::Book& book = formulas::the_book();
    const auto found = book.formulas.find(formula);
    return found != book.formulas.end() ? found->second : formulas::parse(formula, book.functions);
}

std::map<std::string, double, std::less<>> ByFormula::numbers_for(const OperandAxes& in, const Axes& out) const {
    std::map<std::string, double, std::less<>> all;
    for (const NamedNumber& number : numbers) all[std::string(number.name)] = number.value;
    const auto add = [&](const std::string& name, const Axis& axis) {
        all.try_emplace(name, static_cast<double>(axis.size));
    };
    for (const Axis& axis : out) add(std::string(axis.name), axis);
    for (std::size_t i = 0; i < in.size(); ++i)
        for (const Axis& axis : in[i]) {
            add(std::string(axis.name), axis);
            add(axis_name(name_of(i), axis), axis);
        }
    if (in.size() > 1 && in[1].size() == 4 && out.size() == 4 && in[1][1].size > 0)
        all["group"] = static_cast<double>(out[1].size / in[1][1].size);
    return all;
}

formulas::Formula ByFormula::fitted(const OperandAxes& in, const Axes& out) const {
    const Made compiled_now = compiled(*this, in, out);
    const Compiled& made = *compiled_now;
    const formulas::Shape shape = shape_of(made.formula.main);
    std::vector<Index> sizes, wanted;
    for (const formulas::Dim& dim : shape) sizes.push_back(dim.size);
    for (const Axis& axis : out) wanted.push_back(axis.size);
    // A norm's scale has a last axis of size 1, for which the formula has no index.
    while (wanted.size() > sizes.size() && wanted.back() == 1) wanted.pop_back();
    if (sizes != wanted)
        throw formulas::FormulaError(message("the formula's result is {shape}, and the step has other axes",
                                             {{"shape", formulas::shape_text(made.result, shape)}}),
                                     formulas::kNowhere);
    formulas::check_cost(made.formula);
    return made.formula;
}

Tensor ByFormula::compute(const Operands& in, const Axes& axes) const {
    const auto compiled = compiled_once(*this, in, axes, std::nullopt);
    return rounded(*compiled, named(in, *compiled), axes);
}

Tensor ByFormula::compute(const Operands& in, const Axes& axes, const formulas::Manner& manner,
                          std::uint64_t most) const {
    const auto compiled = compiled_once(*this, in, axes, std::nullopt);
    if (compiled->work().operations > most) return {};
    const formulas::Operands read = named(in, *compiled);
    formulas::Evaluator evaluator(compiled->formula, read, compiled->known, manner);
    Tensor out(axes);
    Cell cell;
    for (Index i = 0; i < out.size(); ++i) {
        cell = out.cell(i);
        cell.resize(compiled->formula.main.indices.size());
        out.writable()[static_cast<std::size_t>(i)] = static_cast<float>(evaluator.cell(cell));
    }
    return out;
}

Tensor ByFormula::pull_back(std::size_t operand, const Backward& b) const {
    const auto compiled = compiled_once(*this, b.in, b.out.axes(), operand);
    return rounded(*compiled, named(b, *compiled), b.in[operand].axes());
}

OperandRole ByFormula::role_of(std::size_t operand) const {
    const OperandName& named = operands[std::min(operand, operands.size() - 1)];
    if (named.role) return *named.role;
    const auto* found = std::ranges::find(kRoles, named.name, &NameWithRole::name);
    if (found == kRoles.end()) throw std::logic_error("an operand's name that says no role");
    return found->role;
}

Work ByFormula::work(const OperandAxes& in, const Axes& out) const { return compiled(*this, in, out)->work(); }

Work ByFormula::pull_back_work(std::size_t operand, const OperandAxes& in, const Axes& out) const {
    return gradient_of(*this, operand, compiled(*this, in, out))->work();
}

formulas::Box ByFormula::reached_from(std::size_t operand, const Cell& cell, const Operands& in,
                                      const Axes& out) const {
    const auto compiled = compiled_once(*this, in, out, std::nullopt);
    const Cell read(cell.begin(), cell.begin() + static_cast<std::ptrdiff_t>(compiled->shapes[operand].size()));
    formulas::Box box =
        formulas::reached_from(compiled->coded(), named(in, *compiled), operand, formulas::box_of(read));
    // A norm's scale has a last axis of size 1, for which the formula has no index.
    while (!formulas::is_empty(box) && box.size() < out.size()) box.push_back({0});
    return box;
}

Explanation ByFormula::explain(const Operands& in, const Tensor& out, const Cell& cell) const {
    const auto compiled = compiled_once(*this, in, out.axes(), std::nullopt);
    return explained(*compiled, named(in, *compiled), cell, shown_names(*this, compiled->result));
}

Explanation ByFormula::explain_pull_back(std::size_t operand, const Backward& b, const Cell& cell) const {
    const auto compiled = compiled_once(*this, b.in, b.out.axes(), operand);
    auto shown = shown_names(*this, "");
    shown.try_emplace(compiled->formula.main.name, formulas::kGradient);
    return explained(*compiled, named(b, *compiled), cell, shown);
}

}  // namespace decoderscope::ops
