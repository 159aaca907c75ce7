#include "app/core/step/explained_cells.h"

#include "app/core/step/explanation_text.h"
#include "app/core/step/place_names.h"
#include "app/core/text/labels.h"
#include "engine/translate.h"

#include <algorithm>
#include <set>
#include <utility>

namespace decoderscope {

namespace {

constexpr std::size_t kFollowedTerms = 3;  // of each line
constexpr std::size_t kMostInLevel = 12;

using CellOfStep = std::pair<StepId, Cell>;

ExplainedCell explained_cell(const Scenario& scenario, const Run& run, const CellOfStep& at) {
    const Step& step = run.plan()[at.first];
    return {&step,
            at.second,
            run.value(step.id).at(at.second),
            cell_name(step.name, at.second),
            place_text(scenario, step, at.second),
            read_explanation(scenario, run, step, at.second)};
}

// The operands of the largest terms of an explanation, and of its conditions, in the order of its lines.
std::vector<CellOfStep> followed(const Run& run, const ExplainedCell& from) {
    std::vector<CellOfStep> next;
    const auto follow = [&](const Factor& factor) {
        if (!factor.cell) return;
        const Step& operand = run.plan()[from.step->operands[factor.cell->operand]];
        if (!operand.is_source()) next.emplace_back(operand.id, factor.cell->cell);
    };
    for (const Line& line : from.read.explanation.lines) {
        const std::vector<std::size_t> order = largest_first(line);
        for (std::size_t i = 0; i < std::min(kFollowedTerms, order.size()); ++i)
            std::ranges::for_each(line.terms[order[i]].factors, follow);
        std::ranges::for_each(line.given, follow);
    }
    return next;
}

}  // namespace

ExplainedCells explained_cells(const Scenario& scenario, const Run& run, const Step& step, const Cell& cell,
                               int depth) {
    ExplainedCells all;
    std::set<CellOfStep> known = {{step.id, cell}};
    std::vector<CellOfStep> level = {{step.id, cell}};
    for (int number = 0; number < depth && !level.empty(); ++number) {
        std::vector<CellOfStep> next;
        for (const CellOfStep& at : level) {
            all.cells.push_back(explained_cell(scenario, run, at));
            if (number + 1 == depth) continue;
            for (CellOfStep& below : followed(run, all.cells.back()))
                if (known.insert(below).second) next.push_back(std::move(below));
        }
        if (next.size() > kMostInLevel) {
            all.left_out += next.size() - kMostInLevel;
            next.resize(kMostInLevel);
        }
        level = std::move(next);
    }
    return all;
}

NamedOperand named_operand(const Scenario& scenario, const Run& run, const Step& step, const OperandCell& at) {
    const Step& operand = run.plan()[step.operands[at.operand]];
    return {cell_name(operand.name, at.cell), place_text(scenario, operand, at.cell)};
}

std::vector<WrittenTerm> written_terms(const ReadExplanation& read, std::size_t line) {
    std::vector<WrittenTerm> written;
    for (const TermPart& part : read.lines[line]) {
        WrittenTerm& term = written.emplace_back();
        term.name = part.name;
        term.value = part.value;
        if (!part.term) {
            term.name = tr_n("{name} ({count} term)", "{name} ({count} terms)", part.count, {{"name", part.name}});
            continue;
        }
        for (const Factor& factor : read.explanation.lines[line].terms[*part.term].factors) {
            term.factors += (term.factors.empty() ? "" : " · ") + factor_text(factor, term.factors.empty());
            if (factor.cell) term.operands.push_back(&*factor.cell);
        }
    }
    return written;
}

}  // namespace decoderscope
