#include "app/core/book/book_lines.h"

#include "app/core/run/scenario.h"
#include "engine/base/tables.h"
#include "engine/base/translate.h"
#include "engine/load/bundled_models.h"

#include <algorithm>
#include <cctype>
#include <functional>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

namespace decoderscope::core::book {

namespace {

std::string in_small_letters(std::string text) {
    std::ranges::transform(text, text.begin(),
                           [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); });
    return text;
}

// All that a line can be found by, in both spellings.
std::string texts_of(const formulas::BookLine& line) {
    std::string all = line.label + "\n" + line.source + "\n" + line.section + "\n" + tr(asset_text(line.section));
    if (line.formula)
        for (const formulas::Script script : {formulas::Script::unicode, formulas::Script::ascii})
            all += "\n" + text_of(*line.formula, script);
    return in_small_letters(std::move(all));
}

}  // namespace

std::vector<std::string> rows_of(const formulas::BookLine& line, formulas::Script script) {
    if (!line.formula) return {};
    formulas::Formula main = *line.formula;
    main.wheres.clear();
    std::vector<std::string> rows = {text_of(main, script)};
    for (const formulas::Definition& definition : line.formula->wheres)
        rows.push_back((rows.size() == 1 ? "    where " : "          ") + text_of(definition, script));
    return rows;
}

std::vector<const formulas::BookLine*> lines_matching(std::string_view typed) {
    std::vector<std::string> words;
    std::istringstream text(in_small_letters(std::string(typed)));
    for (std::string word; text >> word;) words.push_back(word);
    std::vector<const formulas::BookLine*> found;
    for (const formulas::BookLine& line : formulas::the_book().lines) {
        const std::string all = words.empty() ? std::string() : texts_of(line);
        if (std::ranges::all_of(words, [&](const std::string& word) { return all.find(word) != std::string::npos; }))
            found.push_back(&line);
    }
    return found;
}

const formulas::BookLine* line_of(const Step& step) { return formulas::the_book().find(step.operation.about().line); }

StepsByLine steps_by_line(const Plan& plan) {
    StepsByLine steps;
    for (const Step& step : plan.steps())
        if (const std::string_view label = step.operation.about().line; !label.empty()) steps[label].push_back(&step);
    return steps;
}

namespace {

using formulas::BookLine;

// The tensors that a line computes in any of some models, by their names within their blocks.
using Names = std::vector<std::string>;
using NamesByLine = std::map<std::string_view, Names, std::less<>>;

void add_names(NamesByLine& names, const Plan& plan) {
    for (const auto& [label, steps] : steps_by_line(plan))
        for (const Step* step : steps) {
            if (step->backward || (step->role != Role::recorded && step->role != Role::on_demand)) continue;
            std::string name = step->block.empty() ? step->name : step->name.substr(step->block.size() + 1);
            if (Names& known = names[label]; std::ranges::find(known, name) == known.end())
                known.push_back(std::move(name));
        }
}

NamesByLine names_in_bundled_models() {
    NamesByLine names;
    for (const load::BundledModel& model : load::bundled_models()) {
        Scenario scenario = scenario_of(load::make_bundled_model(model.name));
        if (!scenario.inputs.tokens.empty()) scenario.gradient_target = "loss";
        add_names(names, *plan_of(scenario));
    }
    return names;
}

// Calls `heading` with each section, and `line` with its lines.
void each_line(const std::function<void(const std::string&)>& heading,
               const std::function<void(const BookLine&, const Names&)>& line) {
    const NamesByLine names = names_in_bundled_models();
    std::string section;
    for (const BookLine& one : formulas::the_book().lines) {
        if (one.section != section) heading(section = one.section);
        const auto found = names.find(one.label);
        line(one, found == names.end() ? Names() : found->second);
    }
}

std::string joined(const Names& names, const std::string& quote) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ", ") + quote + name + quote;
    return text;
}

}  // namespace

void write_text(std::ostream& out, formulas::Script script) {
    const auto write = [&](const char* what, const std::string& text) {
        if (!text.empty()) out << "    " << what << ": " << text << '\n';
    };
    each_line([&](const std::string& section) { out << "---- " << section << "\n\n"; },
              [&](const BookLine& line, const Names& names) {
                  out << line.label << '\n';
                  for (const std::string& row : rows_of(line, script)) out << "    " << row << '\n';
                  write("from", line.source);
                  write("kernel", line.kernel);
                  write("computed as", line.computed_as);  // not a message: printed
                  write("by hand", line.why_not);          // not a message: printed
                  write("tensors", joined(names, ""));
                  out << '\n';
              });
}

void write_markdown(std::ostream& out, formulas::Script script) {
    const auto write = [&](const char* what, const std::string& text) {
        if (!text.empty()) out << ' ' << what << text << '.';
    };
    each_line([&](const std::string& section) { out << "### " << section << "\n\n"; },
              [&](const BookLine& line, const Names& names) {
                  out << "**`" << line.label << "`**: `" << line.source << "`.";
                  write("Kernel: ", line.kernel.empty() ? "" : "[" + line.kernel + "](../" + line.kernel + ")");
                  write("Computed as ", line.computed_as);  // not a message: in a document
                  write("Tensors: ", joined(names, "`"));
                  if (!line.why_not.empty()) out << " By hand: " << line.why_not;  // not a message: in a document
                  out << "\n\n";
                  for (const std::string& row : rows_of(line, script)) out << "    " << row << '\n';
                  if (line.formula) out << '\n';
              });
}

}  // namespace decoderscope::core::book
