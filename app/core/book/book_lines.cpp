#include "app/core/book/book_lines.h"

#include "engine/base/tables.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <cctype>
#include <sstream>

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

}  // namespace decoderscope::core::book
