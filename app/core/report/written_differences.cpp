#include "app/core/report/written_differences.h"

#include "app/core/labs/bisect/bisection_text.h"
#include "app/core/report/html_page.h"
#include "app/core/run/comparison.h"
#include "engine/base/translate.h"
#include "engine/graph/explanation.h"

#include <algorithm>
#include <ostream>
#include <string_view>
#include <utility>

namespace decoderscope::core::report {

namespace {

using bisect::TensorCheck;

std::string first_of(const RunDifferences& differences) {
    return differences.found.first ? differences.found.checks[*differences.found.first].ours : std::string();
}

std::string largest_of(const RunDifferences& differences) {
    return differences.furthest ? bisect::difference_of(differences.found.checks[*differences.furthest])
                                : std::string();
}

std::size_t differing(const RunDifferences& differences) {
    return static_cast<std::size_t>(std::ranges::count_if(differences.found.checks, &TensorCheck::differs));
}

// What was found, in a few sentences.
std::vector<std::string> findings(const RunDifferences& of) {
    std::vector<std::string> lines = {tr("Here: {here}; there: {there}.", {{"here", of.here}, {"there", of.there}})};
    for (std::string& line : bisect::bisection_head(of.found)) lines.push_back(std::move(line));
    if (!of.moved.empty())
        lines.push_back(
            tr("From {here} to {there}: {moved}", {{"here", of.here}, {"there", of.there}, {"moved", of.moved}}));
    for (std::string& line : bisect::bisection_notes(of.found)) lines.push_back(std::move(line));
    return lines;
}

std::string overview_of(const ComparedRuns& all) {
    return tr_n("{count} run beside {first}", "{count} runs beside {first}", all.differences.size(),
                {{"first", all.runs.front().label}});
}

std::vector<std::string> overview_columns() {
    return {tr("run"), tr("what was found"), tr("first difference"), tr("largest, of the magnitude")};
}

// ---- HTML

void facts(Page& page, const ComparedRuns& all) {
    std::vector<std::pair<std::string, std::string>> about;
    for (const ComparedRun& run : all.runs)
        about.emplace_back(run.label, run.trace != nullptr ? tr(run.shown.scenario.about().description)
                                                           : description_of(run.shown.scenario));
    page.facts(about);
}

void overview(Page& page, const ComparedRuns& all) {
    Page::Table table{overview_of(all), overview_columns(), {}};
    for (std::size_t i = 0; i < all.differences.size(); ++i) {
        const RunDifferences& of = all.differences[i];
        table.rows.push_back({{{all.runs[i + 1].label, "run" + std::to_string(i + 1)}},
                              {{verdict_of(of), ""}},
                              {{first_of(of), ""}},
                              {{largest_of(of), ""}}});
    }
    page.table(table);
}

// Every step that was compared, in the order of computation.
void steps(Page& page, const RunDifferences& of) {
    Page::Table table{tr("Steps in the order of computation"),
                      {tr("step"), tr("largest, of the magnitude"), "", tr("where"), of.here, of.there},
                      {}};
    for (const TensorCheck& check : of.found.checks) {
        const std::string name = check.ours == check.theirs
                                     ? check.ours
                                     : tr("{ours}, theirs {theirs}", {{"ours", check.ours}, {"theirs", check.theirs}});
        const auto number = [&](float value) {
            return check.cell.empty() ? std::string() : short_number(static_cast<double>(value));
        };
        table.rows.push_back({{{name, ""}},
                              {{bisect::difference_of(check), ""}},
                              {{check.differs ? std::string(tr("differs")) : std::string(), ""}},
                              {{check.cell.empty() ? std::string() : cell_name("", check.cell), ""}},
                              {{number(check.our_value), ""}},
                              {{number(check.their_value), ""}}});
    }
    page.table(table);
}

void pair(Page& page, const ComparedRuns& all, std::size_t i) {
    const RunDifferences& of = all.differences[i];
    page.section(tr("{run} beside {first}", {{"run", all.runs[i + 1].label}, {"first", all.runs.front().label}}),
                 "run" + std::to_string(i + 1));
    for (const std::string& line : findings(of)) page.paragraph(line);
    if (!of.causes.empty()) {
        page.subsection(tr("Why"));
        page.list(of.causes);
    }
    if (!of.missing.empty()) {
        page.subsection(tr("Not in both"));
        page.list(of.missing);
    }
    for (const Exhibit& picture : of.pictures) page.figure(picture);
    steps(page, of);
}

// ---- Markdown

// A name or a sentence as text: nothing in it is markup, and it ends no cell of a table.
std::string plain(std::string_view text) {
    constexpr std::string_view kMarks = "\\`*<>|~";  // an underscore within a word marks nothing
    std::string written;
    for (const char c : text) {
        const bool link = c == '(' && written.ends_with(']');
        if (link || kMarks.find(c) != std::string_view::npos) written += '\\';
        written += c == '\n' ? ' ' : c;
    }
    return written;
}

std::string row_of(const std::vector<std::string>& cells) {
    std::string row = "|";
    for (const std::string& cell : cells) row += " " + plain(cell) + " |";
    return row + "\n";
}

std::string bullets(const std::vector<std::string>& lines, std::size_t most) {
    std::string text;
    for (std::size_t i = 0; i < std::min(lines.size(), most); ++i) text += "- " + plain(lines[i]) + "\n";
    if (lines.size() > most)
        text += "- " + plain(tr_n("… and {count} more", "… and {count} more", lines.size() - most)) + "\n";
    return text;
}

}  // namespace

bool ComparedRuns::differ() const { return std::ranges::any_of(differences, &RunDifferences::differs); }

ComparedRuns compared(std::vector<ComparedRun> runs, std::optional<double> tolerance) {
    ComparedRuns all;
    all.runs = std::move(runs);
    for (std::size_t i = 1; i < all.runs.size(); ++i)
        all.differences.push_back(differences_between(all.runs.front(), all.runs[i], tolerance));
    return all;
}

std::string verdict_of(const RunDifferences& of) {
    std::string verdict = of.found.first ? tr_n("{count} of {all} steps differs, first {step}.",
                                                "{count} of {all} steps differ, first {step}.", differing(of),
                                                {{"all", of.found.checks.size()}, {"step", first_of(of)}})
                                         : tr_n("{count} step agrees.", "{count} steps agree.", of.found.agreed_before);
    if (!of.missing.empty())
        verdict += " " + tr_n("{count} is not in both.", "{count} are not in both.", of.missing.size());
    return verdict;
}

void write_differences(std::ostream& out, const ComparedRuns& all) {
    Page page(out, overview_of(all),
              tr("How runs differ, as Decoderscope {version} found it.", {{"version", DECODERSCOPE_VERSION}}));
    facts(page, all);
    overview(page, all);
    for (std::size_t i = 0; i < all.differences.size(); ++i) pair(page, all, i);
}

std::string differences_markdown(const ComparedRuns& all) {
    constexpr std::size_t kMostLines = 8;
    std::string text =
        "**" + plain(overview_of(all)) + "**\n\n" + row_of(overview_columns()) + "| --- | --- | --- | --- |\n";
    for (std::size_t i = 0; i < all.differences.size(); ++i) {
        const RunDifferences& of = all.differences[i];
        text += row_of({all.runs[i + 1].label, verdict_of(of), first_of(of), largest_of(of)});
    }
    for (const RunDifferences& of : all.differences) {
        if (!of.differs()) continue;
        text += "\n" + bullets(findings(of), kMostLines);
        if (!of.causes.empty()) text += "\n" + plain(tr("Why")) + ":\n\n" + bullets(of.causes, kMostLines);
        if (!of.missing.empty()) text += "\n" + plain(tr("Not in both")) + ":\n\n" + bullets(of.missing, kMostLines);
    }
    return text;
}

}  // namespace decoderscope::core::report
