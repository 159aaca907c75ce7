#include "app/core/book/book_page.h"

#include "app/core/book/book_lines.h"
#include "app/core/run/scenario.h"
#include "engine/load/bundled_models.h"

#include <algorithm>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

namespace decoderscope::core::book {

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
