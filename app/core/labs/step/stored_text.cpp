#include "app/core/labs/step/stored_text.h"

#include "engine/base/translate.h"
#include "engine/load/model.h"
#include "engine/load/stored_parameters.h"

#include <optional>
#include <utility>
#include <vector>

namespace decoderscope::core::step {

namespace {

// What the file holds of a parameter's cell; nothing if the cell is no longer that: trained, or scaled.
std::optional<packed::StoredNumber> stored_at(const Scenario& scenario, const Step& parameter, const Cell& cell,
                                              double value) {
    const load::StoredParameters* all = scenario.computes() ? scenario.model()->stored.get() : nullptr;
    if (all == nullptr || parameter.role != Role::parameter || cell.size() != parameter.axes.size()) return {};
    Index number = 0;
    for (std::size_t axis = 0; axis < cell.size(); ++axis) number = number * parameter.axes[axis].size + cell[axis];
    const Index columns = cell.size() < 2 ? 1 : parameter.axes.back().size;
    const auto stored = all->at(parameter.name, number, columns);
    return stored && stored->value() == static_cast<float>(value) ? stored : std::nullopt;
}

std::string in_brackets(float number) {
    const std::string text = short_number(static_cast<double>(number));
    return number < 0.0F ? "(" + text + ")" : text;
}

}  // namespace

std::string stored_text(const packed::StoredNumber& stored) {
    std::string text = "(" + short_number(static_cast<double>(stored.scale)) + " · " + in_brackets(stored.number);
    if (stored.less != 0.0F) text += " − " + in_brackets(stored.less);
    return text + " = " + short_number(static_cast<double>(stored.value())) + ")";
}

void show_stored(const Scenario& scenario, const Plan& plan, const Step& step, const Cell& cell,
                 Explanation& explanation) {
    for (Line& line : explanation.lines)
        for (Term& term : line.terms)
            for (Factor& factor : term.factors) {
                if (!factor.cell || !factor.text.empty()) continue;
                const Step& operand = plan[step.operands[factor.cell->operand]];
                if (const auto stored = stored_at(scenario, operand, factor.cell->cell, factor.value))
                    factor.text = stored_text(*stored);
            }
    if (step.role != Role::parameter || step.source.empty()) return;
    const auto stored = stored_at(scenario, step, cell, static_cast<double>(step.source.at(cell)));
    if (!stored) return;
    std::vector<Term> terms = {term({constant_factor(static_cast<double>(stored->scale), ""),
                                     constant_factor(static_cast<double>(stored->number), "")})};
    if (stored->less != 0.0F) terms.push_back(term({constant_factor(static_cast<double>(-stored->less), "")}));
    explanation.lines = {line(tr("scale · stored number"), std::move(terms))};
}

}  // namespace decoderscope::core::step
