#include "app/core/report/written_explanation.h"

#include "app/core/labs/step/explanation_text.h"
#include "app/core/report/html_page.h"
#include "app/core/run/comparison.h"
#include "app/core/run/exhibit_step.h"
#include "app/core/run/labels.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <ostream>
#include <set>
#include <utility>

namespace decoderscope::core::report {

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
            step::read_explanation(scenario, run, step, at.second)};
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
        const std::vector<std::size_t> order = step::largest_first(line);
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

std::vector<WrittenTerm> written_terms(const step::ReadExplanation& read, std::size_t line) {
    std::vector<WrittenTerm> written;
    for (const step::TermPart& part : read.lines[line]) {
        WrittenTerm& term = written.emplace_back();
        term.name = part.name;
        term.value = part.value;
        if (!part.term) {
            term.name = tr_n("{name} ({count} term)", "{name} ({count} terms)", part.count, {{"name", part.name}});
            continue;
        }
        for (const Factor& factor : read.explanation.lines[line].terms[*part.term].factors) {
            term.factors += (term.factors.empty() ? "" : " · ") + step::factor_text(factor, term.factors.empty());
            if (factor.cell) term.operands.push_back(&*factor.cell);
        }
    }
    return written;
}

namespace {

std::string left_out_text(const ExplainedCells& explained) {
    return tr_n("{count} more operand of the largest terms was not followed.",
                "{count} more operands of the largest terms were not followed.", explained.left_out);
}

std::string line_heading(const Line& line) {
    return tr("{name} = {value}", {{"name", line.name}, {"value", short_number(line.value)}});
}

std::string given_text(const Factor& given) {
    return tr("because {condition} = {value}", {{"condition", given.text}, {"value", short_number(given.value)}});
}

std::string cell_heading(const ExplainedCell& one) {
    return tr("{name} = {value}", {{"name", one.name}, {"value", step::exact_number(one.value)}});
}

// ---- as text

void write_terms(std::ostream& out, const Scenario& scenario, const Run& run, const ExplainedCell& one,
                 std::size_t line) {
    const auto operand = [&](const OperandCell& at) {
        const NamedOperand named = named_operand(scenario, run, *one.step, at);
        out << "      " << named.name << (named.place.empty() ? "" : "  " + named.place) << '\n';
    };
    const Line& explained = one.read.explanation.lines[line];
    out << "\n  " << line_heading(explained) << '\n';
    for (const Factor& given : explained.given) {
        out << "    " << given_text(given) << '\n';
        if (given.cell) operand(*given.cell);
    }
    for (const WrittenTerm& term : written_terms(one.read, line)) {
        out << "    " << short_number(term.value);
        if (!term.factors.empty() && term.factors != short_number(term.value)) out << " = " << term.factors;
        if (!term.name.empty()) out << "  (" << term.name << ")";
        out << '\n';
        for (const OperandCell* at : term.operands) operand(*at);
    }
}

// ---- as HTML

// Where a cell is explained on the page: "cell-3"; empty if it isn't.
std::string anchor_of(const ExplainedCells& explained, const std::string& name) {
    const auto found = std::ranges::find(explained.cells, name, &ExplainedCell::name);
    return found == explained.cells.end() ? std::string() : "cell-" + std::to_string(found - explained.cells.begin());
}

Page::Table table_of(const Scenario& scenario, const Run& run, const ExplainedCells& explained,
                     const ExplainedCell& one, std::size_t line) {
    Page::Table table{line_heading(one.read.explanation.lines[line]),
                      {tr("Term"), tr("Value"), tr("Computed as"), tr("Operands")},
                      {}};
    for (const WrittenTerm& term : written_terms(one.read, line)) {
        std::vector<Page::Text> operands;
        for (const OperandCell* at : term.operands) {
            const NamedOperand named = named_operand(scenario, run, *one.step, *at);
            operands.push_back({named.name, anchor_of(explained, named.name)});
            if (!named.place.empty()) operands.push_back({named.place, ""});
        }
        table.rows.push_back({{{term.name.empty() ? tr("the only one") : term.name, ""}},
                              {{short_number(term.value), ""}},
                              {{term.factors, ""}},
                              std::move(operands)});
    }
    return table;
}

}  // namespace

void write_explanation(std::ostream& out, const Scenario& scenario, const Run& run, const ExplainedCells& explained) {
    for (const ExplainedCell& one : explained.cells) {
        if (&one != &explained.cells.front()) out << '\n';
        const OpDescription about = one.step->operation.about();
        out << cell_heading(one) << '\n';
        if (!one.place.empty()) out << "  " << one.place << '\n';
        out << "  " << about.name << ": " << about.formula << '\n';
        for (std::size_t line = 0; line < one.read.lines.size(); ++line) write_terms(out, scenario, run, one, line);
    }
    if (explained.left_out > 0) out << '\n' << left_out_text(explained) << '\n';
}

void write_explanation_page(std::ostream& out, const Scenario& scenario, const Run& run,
                            const ExplainedCells& explained) {
    Page page(out, explained.cells.front().name,
              tr("How {model} computed this number, as Decoderscope {version} explains it.",
                 {{"model", description_of(scenario)}, {"version", DECODERSCOPE_VERSION}}));
    for (const ExplainedCell& one : explained.cells) {
        const OpDescription about = one.step->operation.about();
        page.section(cell_heading(one), anchor_of(explained, one.name));
        if (!one.place.empty()) page.paragraph(one.place);
        page.paragraph(std::string(about.name) + ": " + std::string(about.formula));
        page.paragraph(std::string(about.teaches));
        for (std::size_t line = 0; line < one.read.lines.size(); ++line) {
            for (const Factor& given : one.read.explanation.lines[line].given) page.paragraph(given_text(given));
            page.table(table_of(scenario, run, explained, one, line));
        }
    }
    if (explained.left_out > 0) page.paragraph(left_out_text(explained));
}

}  // namespace decoderscope::core::report
