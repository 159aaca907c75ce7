#include "app/core/report/explained.h"

#include "app/core/diff/reference_run.h"
#include "app/core/report/page.h"
#include "app/core/step/exhibit_step.h"
#include "app/core/step/explanation_text.h"
#include "engine/translate.h"

#include <algorithm>
#include <ostream>

namespace decoderscope {

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
    return tr("{name} = {value}", {{"name", one.name}, {"value", exact_number(one.value)}});
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
        const About about = one.step->operation.about();
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
        const About about = one.step->operation.about();
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

}  // namespace decoderscope
