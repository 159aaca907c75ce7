#include "app/core/tabs/bisect/formula_check.h"

#include "app/core/run/comparison.h"
#include "app/core/tabs/bisect/bisection_text.h"
#include "app/core/tabs/bisect/formula_edits.h"
#include "app/core/tabs/bisect/relation.h"
#include "app/core/tabs/step/explanation_text.h"
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/base/translate.h"
#include "engine/formulas/book.h"
#include "engine/formulas/edits.h"
#include "engine/formulas/evaluate.h"
#include "engine/formulas/print.h"
#include "engine/formulas/whole_tensors.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <span>
#include <string_view>
#include <utility>

namespace decoderscope::core::bisect {

namespace {

using formulas::Definition;
using formulas::Formula;

constexpr std::size_t kMostFound = 20;    // causes
constexpr std::size_t kMostTold = 3;      // of them
constexpr std::size_t kMostOperands = 3;  // terms of an explanation

// The recorded tensors as a formula's operands. Their axes are named by their sizes, so that any fit that are as long.
formulas::Operands operands_of(const trace::Trace& trace, const std::string& got) {
    formulas::Operands operands;
    for (const trace::TraceTensor& tensor : trace.tensors) {
        if (tensor.name == got || tensor.values.empty() || trace::side_of(tensor.name)) continue;
        formulas::Shape shape;
        for (const Index size : tensor.shape) shape.push_back({std::to_string(size), size});
        operands.push_back({tensor.name, std::move(shape), tensor.values.values()});
    }
    return operands;
}

// The largest distance between numbers and where it is, relative to the largest magnitude of `expected`.
struct Apart {
    double largest = 0.0;
    std::size_t at = 0;
};
Apart apart(std::span<const float> expected, std::span<const float> got) {
    Apart found;
    double scale = 0.0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
        if (std::isfinite(expected[i])) scale = std::max(scale, std::abs(static_cast<double>(expected[i])));
        if (const double distance = distance_between(expected[i], got[i]); distance > found.largest)
            found = {distance, i};
    }
    if (found.largest > 0.0) found.largest /= scale;
    return found;
}

// Formulas over the recorded tensors, and what they compute.
class Formulas {
public:
    Formulas(const trace::Trace& trace, const Expectation& expectation)
        : operands_(operands_of(trace, expectation.got)),
          known_(formulas::known_of(operands_, expectation.constants)) {}

    // A formula as it is written, and what is meant by it.
    [[nodiscard]] std::pair<Formula, Formula> read(const std::string& text) const {
        try {
            const Formula written = formulas::read(text, known_, formulas::the_book().functions);
            return {written, elaborated(written)};
        } catch (const formulas::FormulaError& error) {
            throw Error("“{formula}”: {sentence}", {{"formula", text}, {"sentence", error.sentence()}});
        }
    }
    [[nodiscard]] Formula elaborated(const Formula& formula) const {
        return formulas::elaborate(formula, known_, formulas::the_book().functions);
    }
    [[nodiscard]] Tensor result(const Formula& formula) const {
        std::vector<Index> sizes;
        for (const formulas::Dim& dim : formulas::shape_of(formula.main)) sizes.push_back(dim.size);
        Tensor made(unnamed(sizes));
        evaluator(formula).all(made.writable());
        return made;
    }
    [[nodiscard]] std::vector<std::string> terms(const Formula& formula, const Cell& cell) const {
        formulas::Evaluator evaluator = this->evaluator(formula);
        const Explanation explanation = formulas::explain(evaluator, cell);
        std::vector<std::string> all;
        const Line& line = explanation.lines.back();
        for (const std::size_t term : step::largest_first(line))
            if (all.size() < kMostOperands) all.push_back(term_text(line.terms[term]));
        if (line.terms.size() > all.size())
            all.push_back(tr("and {count} more", {{"count", line.terms.size() - all.size()}}));
        return all;
    }
    [[nodiscard]] const formulas::Known& known() const { return known_; }

private:
    [[nodiscard]] formulas::Evaluator evaluator(const Formula& formula) const { return {formula, operands_, known_}; }

    // "x[0, 2, 5] 0.31 · W[3, 5] −1.2".
    [[nodiscard]] std::string term_text(const Term& term) const {
        std::string text;
        for (const Factor& factor : term.factors) {
            text += text.empty() ? "" : " · ";
            if (factor.cell) text += operands_[factor.cell->operand].name + shape_text(factor.cell->cell) + " ";
            const std::string own = step::factor_text(factor, factor.cell.has_value());
            text += own;
            if (own.find_first_of("0123456789") == std::string::npos) text += " " + short_number(factor.value);
        }
        return text;
    }

    formulas::Operands operands_;
    formulas::Known known_;
};

// What a formula's sub-result is worth, as a formula of its own.
Formula alone(const Formula& formula, const std::string& name) {
    Formula one = formula;
    const auto found = std::ranges::find(one.wheres, name, &Definition::name);
    if (found != one.wheres.end()) {
        one.main = *found;
        one.wheres.erase(found);
    }
    return one;
}

std::vector<float> sorted(std::span<const float> numbers) {
    std::vector<float> all(numbers.begin(), numbers.end());
    for (float& number : all)
        if (std::isnan(number)) number = std::numeric_limits<float>::infinity();
    std::ranges::sort(all);
    return all;
}

// Looks for the formulas that give what was recorded.
class Search {
public:
    Search(const trace::Trace& trace, const Expectation& expectation, const Formulas& formulas, const Formula& right,
           const Tensor& got)
        : trace_(trace), expectation_(expectation), formulas_(formulas), right_(right), got_(got) {}

    void given_mistakes() {
        for (const auto& [sentence, text] : expectation_.mistakes)
            attempt(formulas_.read(text).second, Sentence::verbatim(sentence), true);
    }
    void other_calls(const Formula& written) {
        for (const formulas::Edit& edit : formulas::call_edits(written, formulas::the_book().functions)) {
            try {
                attempt(formulas_.elaborated(edit.formula), edit.sentence);
            } catch (const formulas::FormulaError&) {  // that function doesn't fit there
            }
        }
    }
    void one_node_away() {
        const auto numbers = formulas::numbers_of(formulas_.known());
        std::vector<std::string> mistaken;
        for (const auto& [name, value] : expectation_.constants) mistaken.push_back(name);
        for (const formulas::Edit& edit : formulas::edits(right_, numbers, mistaken))
            attempt(edit.formula, edit.sentence);
    }

    [[nodiscard]] std::size_t tried() const { return tried_; }
    // The likeliest of those that were found.
    [[nodiscard]] std::vector<FormulaCause> causes() {
        std::ranges::stable_sort(found_, {}, &Found::has_new_number);
        std::vector<FormulaCause> causes;
        for (std::size_t i = 0; i < std::min(found_.size(), kMostTold); ++i)
            causes.push_back({formulas::text_of(found_[i].formula), found_[i].sentence, line_of(found_[i].formula)});
        return causes;
    }

private:
    [[nodiscard]] bool agrees(const Tensor& made) const {
        return made.size() == got_.size() && sizes_of(made.axes()) == sizes_of(got_.axes()) &&
               apart(made.values(), got_.values()).largest <= expectation_.tolerance;
    }

    void attempt(const Formula& formula, const Sentence& sentence, bool is_given = false) {
        if (found_.size() >= kMostFound || (steps_ += formulas::steps_of(formula)) > kMostSteps) return;
        ++tried_;
        if (agrees(formulas_.result(formula)))
            found_.push_back({formula, sentence, !is_given && has_new_number(formula)});
    }

    // A half or a tenth that stands nowhere in the right formula is likelier a coincidence than a d_model for a d_head.
    [[nodiscard]] bool has_new_number(const Formula& formula) const {
        const auto numbers_in = [](const Formula& f) {
            std::set<double> numbers;
            for (const Definition* definition : formulas::definitions(f))
                formulas::for_each(definition->body, [&](const formulas::Expr& e) {
                    if (const auto* literal = e->as<formulas::Literal>()) numbers.insert(literal->value);
                });
            return numbers;
        };
        return !std::ranges::includes(numbers_in(right_), numbers_in(formula));
    }

    // The line that made the sub-result that is another one under `wrong`; or the one that made the result.
    [[nodiscard]] trace::CodeLine line_of(const Formula& wrong) const {
        for (const Definition* definition : formulas::definitions(wrong)) {
            const Formula ours = alone(right_, definition->name), theirs = alone(wrong, definition->name);
            const bool is_result = definition == &wrong.main;
            if (ours.main.name == definition->name && ours.main == theirs.main && !is_result) continue;
            if (const trace::TraceCall* call = call_that_made(formulas_.result(theirs))) return call->at;
        }
        return {};
    }
    // In whichever order of axes.
    [[nodiscard]] const trace::TraceCall* call_that_made(const Tensor& numbers) const {
        const std::vector<float> wanted = sorted(numbers.values());
        for (const trace::TraceTensor& tensor : trace_.tensors) {
            const auto side = trace::side_of(tensor.name);
            if (!side || !side->gave || side->call == kModel || tensor.values.size() != numbers.size()) continue;
            if (apart(wanted, sorted(tensor.values.values())).largest <= expectation_.tolerance)
                if (const trace::TraceCall* call = trace_.call_of(tensor.name);
                    call != nullptr && !call->at.file.empty())
                    return call;
        }
        return nullptr;
    }

    const trace::Trace& trace_;
    const Expectation& expectation_;
    const Formulas& formulas_;
    const Formula& right_;
    const Tensor& got_;
    struct Found {
        Formula formula;
        Sentence sentence;
        bool has_new_number;
    };
    std::vector<Found> found_{};
    std::size_t tried_ = 0;
    double steps_ = 0.0;
};

}  // namespace

FormulaCheck check_formula(const trace::Trace& trace, const Expectation& expectation) {
    const trace::TraceTensor* recorded = trace.find(expectation.got);
    if (recorded == nullptr || recorded->values.empty())
        throw Error("{path}: there is no tensor {name}, expected what is to be checked",
                    {{"path", trace.path}, {"name", expectation.got}});
    const Formulas formulas(trace, expectation);
    const auto [written, right] = formulas.read(expectation.formula);
    const Tensor expected = formulas.result(right);
    FormulaCheck check;
    check.formula = expectation.formula;
    check.shape = recorded->shape;
    check.expected_shape = sizes_of(expected.axes());
    const Tensor got = recorded->values.with_axes(unnamed(recorded->shape));
    const bool same_shape = check.shape == check.expected_shape;
    if (same_shape) {
        const Apart found = apart(expected.values(), got.values());
        check.largest = found.largest;
        check.agrees = found.largest <= expectation.tolerance;
        if (found.largest > 0.0) {
            check.cell = expected.cell(static_cast<Index>(found.at));
            check.expected = static_cast<double>(expected.values()[found.at]);
            check.got = static_cast<double>(got.values()[found.at]);
            if (!check.agrees) check.terms = formulas.terms(right, check.cell);
        }
    }
    if (check.agrees) return check;
    Search search(trace, expectation, formulas, right, got);
    search.given_mistakes();
    search.other_calls(written);
    search.one_node_away();
    check.tried = search.tried();
    check.causes = search.causes();
    if (check.causes.empty() && same_shape && got.rank() > 0)
        check.relation = relation_between(expected, got, Arithmetic::float32);
    return check;
}

std::string formula_check_text(const FormulaCheck& check) {
    std::string text;
    const auto add = [&](const std::string& line) { text += line + "\n"; };
    const std::string formula = tr("Formula: {formula}", {{"formula", check.formula}});
    if (check.agrees) {
        add(tr("It is what the formula says."));
        add(formula);
        return text;
    }
    if (check.shape != check.expected_shape)
        add(tr("Its shape is {shape}, expected {expected}.",
               {{"shape", shape_text(check.shape)}, {"expected", shape_text(check.expected_shape)}}));
    else
        add(tr("Worst cell {cell}: {got}, expected {expected}.", {{"cell", shape_text(check.cell)},
                                                                  {"got", short_number(check.got)},
                                                                  {"expected", short_number(check.expected)}}));
    for (const std::string& term : check.terms) add("  " + term);
    for (const FormulaCause& cause : check.causes) {
        add(tr("Cause: {sentence}", {{"sentence", tr(cause.sentence)}}));
        if (!cause.line.file.empty()) add("  " + trace::text_of(cause.line));
    }
    if (!check.relation.empty())
        add(tr("Beside the formula's numbers, ours: {relation}.", {{"relation", tr(check.relation)}}));
    if (check.causes.empty())
        add(tr_n("No cause is known: {count} other formula was tried.",
                 "No cause is known: {count} other formulas were tried.", check.tried));
    add(formula);
    return text;
}

std::string formula_check_json(const FormulaCheck& check) {
    OrderedJson json = {{"agrees", check.agrees},
                        {"formula", check.formula},
                        {"shape", check.shape},
                        {"expected_shape", check.expected_shape},
                        {"largest", float_to_json(static_cast<float>(check.largest))},
                        {"cell", check.cell},
                        {"expected", float_to_json(static_cast<float>(check.expected))},
                        {"got", float_to_json(static_cast<float>(check.got))},
                        {"terms", check.terms},
                        {"tried", check.tried}};
    json["causes"] = OrderedJson::array();
    for (const FormulaCause& cause : check.causes) {
        OrderedJson one = {{"sentence", cause.sentence.english()}, {"formula", cause.formula}};
        one["line"] = json_of(cause.line);
        json["causes"].push_back(std::move(one));
    }
    json["relation"] = check.relation.empty() ? OrderedJson() : OrderedJson(check.relation.english());
    json["text"] = formula_check_text(check);
    return json.dump(1) + "\n";
}

}  // namespace decoderscope::core::bisect
