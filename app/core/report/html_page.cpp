#include "app/core/report/html_page.h"

#include "app/core/figure/picture_files.h"
#include "app/core/run/comparison.h"
#include "app/core/run/exhibit_step.h"
#include "app/core/run/labels.h"
#include "app/core/text/numbers.h"
#include "app/core/text/places.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <ostream>
#include <set>
#include <string_view>

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

// An operand of a factor by name: "blocks.0.attn.q[0, 1, 2, 5]" and its place.
struct NamedOperand {
    std::string name, place;
};

NamedOperand named_operand(const Scenario& scenario, const Run& run, const Step& step, const OperandCell& at) {
    const Step& operand = run.plan()[step.operands[at.operand]];
    return {cell_name(operand.name, at.cell), place_text(scenario, operand, at.cell)};
}

// The entries of a list of terms as they are read out: groups are closed, a single term has its factors as one text.
struct WrittenTerm {
    std::string name;                          // "key 3 “a”", "head 0 (16 terms)"
    std::string factors;                       // "0.31 · (−1.2)"; empty for a group
    std::vector<const OperandCell*> operands;  // of its factors
    double value = 0.0;
};

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

// The build makes it of assets/pages/report.css (app/CMakeLists.txt).
constexpr std::string_view style =
#include "report.css.inc"
    ;

constexpr Index kMostCells = 1024;
constexpr Index kMostColumns = 64;

std::string caption_of(const Heatmap& heatmap, Index rows, Index columns) {
    const std::string name = heatmap.subtitle.empty()
                                 ? heatmap.title
                                 : tr("{tensor}, {place}", {{"tensor", heatmap.title}, {"place", heatmap.subtitle}});
    if (rows == heatmap.rows && columns == heatmap.columns) return name;
    return tr(
        "{name}: the first {rows} of {all_rows} rows and {columns} of {all_columns} columns; the rest is left "
        "out here, export it as CSV",
        {{"name", name},
         {"rows", rows},
         {"all_rows", heatmap.rows},
         {"columns", columns},
         {"all_columns", heatmap.columns}});
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

Page::Page(std::ostream& out, const std::string& title, const std::string& below, Frame frame)
    : out_(out), script_(std::move(frame.script)) {
    out_ << "<!DOCTYPE html>\n<html lang=\"" << frame.language << "\">\n<head>\n<meta charset=\"utf-8\">\n"
         << "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>" << xml_escaped(title)
         << "</title>\n<style>" << (frame.style.empty() ? style : frame.style)
         << "</style>\n</head>\n<body>\n<header>\n"
         << "<h1>" << xml_escaped(title) << "</h1>\n<p class=\"below\">" << xml_escaped(below)
         << "</p>\n</header>\n<main" << frame.main << ">\n";
}

Page::~Page() {
    if (in_section_) out_ << "</section>\n";
    out_ << "</main>\n";
    if (!script_.empty()) out_ << "<script>" << script_ << "</script>\n";
    out_ << "</body>\n</html>\n";
}

void Page::section(const std::string& heading, const std::string& anchor, const std::string& kind) {
    if (in_section_) out_ << "</section>\n";
    in_section_ = true;
    out_ << "<section" << (kind.empty() ? "" : " class=\"" + kind + "\"") << ">\n<h2"
         << (anchor.empty() ? "" : " id=\"" + xml_escaped(anchor) + "\"") << ">" << xml_escaped(heading) << "</h2>\n";
}

void Page::subsection(const std::string& heading) { out_ << "<h3>" << xml_escaped(heading) << "</h3>\n"; }

void Page::paragraph(const std::string& text) { out_ << "<p>" << xml_escaped(text) << "</p>\n"; }

void Page::link(const std::string& address, const std::string& text) {
    out_ << "<p><a href=\"" << xml_escaped(address) << "\">" << xml_escaped(text) << "</a></p>\n";
}

void Page::list(const std::vector<std::string>& items) {
    out_ << "<ol>\n";
    for (const std::string& item : items) out_ << "<li>" << xml_escaped(item) << "</li>\n";
    out_ << "</ol>\n";
}

void Page::facts(const std::vector<std::pair<std::string, std::string>>& facts) {
    out_ << "<dl>\n";
    for (const auto& [name, value] : facts)
        out_ << "<dt>" << xml_escaped(name) << "</dt><dd>" << xml_escaped(value) << "</dd>\n";
    out_ << "</dl>\n";
}

void Page::folded_facts(const std::string& summary, const std::vector<std::pair<std::string, std::string>>& all) {
    out_ << "<details>\n<summary>" << xml_escaped(summary) << "</summary>\n";
    facts(all);
    out_ << "</details>\n";
}

void Page::tokens(const std::string& name, const std::vector<std::string>& tokens) {
    out_ << "<div class=\"tokens\"><b>" << xml_escaped(name) << "</b>";
    for (const std::string& token : tokens) out_ << "<span>" << xml_escaped(token) << "</span>";
    out_ << "</div>\n";
}

void Page::table(const Table& table) {
    // What scrolls is reached by Tab, and named.
    out_ << "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"" << xml_escaped(table.caption)
         << "\">\n<table>\n<caption>" << xml_escaped(table.caption) << "</caption>\n<thead><tr>";
    for (const std::string& column : table.columns)
        if (column.empty())
            out_ << "<td></td>";  // a heading without a text is read as one
        else
            out_ << "<th scope=\"col\">" << xml_escaped(column) << "</th>";
    out_ << "</tr></thead>\n<tbody>\n";
    for (const auto& row : table.rows) {
        out_ << "<tr>";
        for (std::size_t i = 0; i < row.size(); ++i) {
            out_ << (i == 0 ? "<th scope=\"row\">" : "<td>");
            for (const Text& text : row[i]) write_text(text, row[i].size() > 1);
            out_ << (i == 0 ? "</th>" : "</td>");
        }
        out_ << "</tr>\n";
    }
    out_ << "</tbody>\n</table>\n</div>\n";
}

// Several texts of a cell are a line each.
void Page::write_text(const Text& text, bool one_of_several) {
    if (!text.anchor.empty())
        out_ << "<a href=\"#" << xml_escaped(text.anchor) << "\">" << xml_escaped(text.text) << "</a>";
    else if (one_of_several)
        out_ << "<span>" << xml_escaped(text.text) << "</span>";
    else
        out_ << xml_escaped(text.text);
}

// The caption is HTML text, not part of the drawing, so that it can be searched and wraps to the reader's width.
std::vector<Sentence> Page::figure(const Exhibit& exhibit) {
    Exhibit drawn = exhibit;
    drawn.caption.clear();
    out_ << "<figure>\n";
    const Figure figure = exhibit_figure(drawn, {});
    write_svg_element(out_, figure, SvgColors::of_page);
    if (!exhibit.caption.empty()) out_ << "<figcaption>" << xml_escaped(exhibit.caption) << "</figcaption>\n";
    out_ << "</figure>\n";
    if (exhibit.panels.empty()) return figure.said;
    out_ << "<details>\n<summary>" << xml_escaped(tr("These numbers as tables")) << "</summary>\n";
    for (const Panel& panel : exhibit.panels) table(table_of(panel.heatmap()));
    out_ << "</details>\n";
    return figure.said;
}

Page::Table table_of(const Heatmap& heatmap) {
    const Index columns = std::min(heatmap.columns, kMostColumns);
    const Index rows = std::min(heatmap.rows, std::max<Index>(1, kMostCells / std::max<Index>(1, columns)));
    Page::Table table{caption_of(heatmap, rows, columns), {heatmap.row_axis}, {}};
    for (Index column = 0; column < columns; ++column)
        table.columns.push_back(
            column < heatmap.own_columns()
                ? spoken_place(heatmap.column_axis, column, heatmap.column_labels[static_cast<std::size_t>(column)])
                : hidden_text(hidden_by::no_key));
    for (Index row = 0; row < rows; ++row) {
        std::vector<std::vector<Page::Text>>& cells = table.rows.emplace_back();
        cells.push_back({{spoken_place(heatmap.row_axis, row, heatmap.row_labels[static_cast<std::size_t>(row)]), ""}});
        for (Index column = 0; column < columns; ++column) {
            const auto at = static_cast<std::size_t>(row * heatmap.columns + column);
            const std::string number = heatmap.texts.empty()
                                           ? short_number_text(static_cast<double>(heatmap.values[at]), 4)
                                           : heatmap.texts[at];
            const bool hidden = !heatmap.hidden.empty() && hidden_by::masked(heatmap.hidden[at]);
            cells.push_back({{hidden ? tr("{number}, masked", {{"number", number}}) : number, ""}});
        }
    }
    return table;
}

}  // namespace decoderscope::core::report
