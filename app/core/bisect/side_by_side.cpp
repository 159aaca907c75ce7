#include "app/core/bisect/side_by_side.h"

#include "app/core/text/labels.h"

#include <algorithm>
#include <cmath>

namespace decoderscope {

namespace {

constexpr std::size_t kTerms = 4;

std::string text_of(const Factor& factor, const Plan& plan, const Step& step) {
    const std::string number = factor.text.empty() ? short_number(factor.value) : factor.text;
    if (!factor.cell || factor.cell->operand >= step.operands.size()) return number;
    return cell_name(plan[step.operands[factor.cell->operand]].name, factor.cell->cell) + " " + number;
}

std::string text_of(const Term& term, const Plan& plan, const Step& step) {
    std::string text;
    for (const Factor& factor : term.factors) text += (text.empty() ? "" : " · ") + text_of(factor, plan, step);
    return text;
}

std::string text_of(const Line& line, const Plan& plan, const Step& step) {
    std::vector<const Term*> terms;
    for (const Term& term : line.terms) terms.push_back(&term);
    std::ranges::stable_sort(terms,
                             [](const Term* a, const Term* b) { return std::abs(a->value) > std::abs(b->value); });
    std::string text = line.name + " = " + short_number(line.value) + " = ";
    for (std::size_t i = 0; i < std::min(terms.size(), kTerms); ++i)
        text += (i == 0 ? "" : " + ") + text_of(*terms[i], plan, step);
    if (terms.size() > kTerms) text += " + … (" + std::to_string(terms.size()) + ")";
    return text;
}

}  // namespace

std::vector<std::string> explanation_lines(const Run& run, const std::string& name, const Cell& cell) {
    const Ref step = run.plan().find(name);
    if (step == nullptr || run.value(step->id).empty() || !run.value(step->id).contains(cell)) return {};
    std::vector<std::string> lines;
    for (const Line& line : run.explain(step->id, cell).lines) lines.push_back(text_of(line, run.plan(), *step));
    return lines;
}

std::vector<std::string> operand_names(const Plan& plan, const std::string& name) {
    std::vector<std::string> names;
    if (const Ref step = plan.find(name))
        for (const StepId operand : step->operands) names.push_back(plan[operand].name);
    return names;
}

}  // namespace decoderscope
