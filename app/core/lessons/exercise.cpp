#include "app/core/lessons/exercise.h"

#include "app/core/run/labels.h"
#include "app/core/run/typed_inputs.h"
#include "app/core/text/numbers.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/translate.h"
#include "engine/graph/edit.h"
#include "engine/load/bundled_models.h"

#include <algorithm>
#include <filesystem>
#include <ostream>
#include <sstream>

namespace decoderscope::core::lessons {

namespace {

// A text in a lesson, in which some characters mean something else.
std::string escaped(const std::string& text) {
    std::string escaped;
    for (const char c : text) {
        if (std::string_view("\\`*_[]<{&").find(c) != std::string_view::npos) escaped += '\\';
        escaped += c;
    }
    return escaped;
}

// "key: value"; a value of several lines, such as the rows of a batch, has a line for each.
std::string line(const char* key, const std::string& value) {
    std::string lines;
    std::istringstream each(value);
    for (std::string one; std::getline(each, one);) lines += std::string(key) + ": " + one + "\n";
    return lines;
}

std::string one_line(std::string text) {
    std::ranges::replace(text, '\n', ' ');
    return text;
}

std::string typed(const char* key, const tokenizer::Tokenizer& tokenizer, const TokenRows& rows) {
    return rows.empty() ? std::string() : line(key, typed_of(tokenizer, rows).text);
}

// The next cell along the last axis that has several.
Cell another(const Step& step, Cell cell) {
    for (std::size_t i = cell.size(); i-- > 0;) {
        if (step.axes[i].size < 2) continue;
        cell[i] = (cell[i] + 1) % step.axes[i].size;
        return cell;
    }
    throw Error("a step of a single number leaves nothing to find");
}

}  // namespace

std::string exercise_about(const Scenario& scenario, const Plan& plan, const Step& step, const Cell& cell,
                           const std::string& says, std::string where, float value) {
    if (!scenario.computes()) throw Error("an exercise needs a model to compute with; a recording has none");
    if (step.is_source() || step.backward) throw Error("choose a cell that the forward pass computes");
    // Heads and blocks have numbers that say the same.
    if (step.layer >= 0) where = tr("block {number}", {{"number", step.layer}}) + ", " + where;
    const std::string answer = escaped(says), name = step.name, at = cell_name(name, cell);
    std::string right = "step == '" + name + "'";
    for (std::size_t i = 0; i < cell.size(); ++i)
        if (step.axes[i].size > 1) right += " and " + std::string(step.axes[i].name) + " == " + std::to_string(cell[i]);
    const Inputs& inputs = scenario.inputs;
    const load::ModelInfo& about = scenario.about();
    const auto& bundled = load::bundled_models();
    const bool is_bundled = std::ranges::find(bundled, about.name, &load::BundledModel::name) != bundled.end();
    std::string text = "# " + tr("Find the number: {what}", {{"what", answer}}) + "\n\n```lesson\n" +
                       line("minutes", "5") + line("summary", tr("Find where a number of the pass stands.")) +
                       "```\n\n## " + tr("Find it") + "\n\n" +
                       tr("The strip shows the steps in the order in which they are computed.") + "\n\n```place\n" +
                       line("title", tr("Open the model")) + line("model", is_bundled ? about.name : about.path);
    if (!inputs.tokens.empty())
        text += typed("target", scenario.tokenizer(), rows_of(inputs.tokens, inputs.attention_mask, inputs.segments));
    if (!inputs.encoder_tokens.empty())
        text += typed("source", scenario.encoder_tokenizer(),
                      rows_of(inputs.encoder_tokens, inputs.encoder_attention_mask));
    for (const auto& [key, set] : scenario.overrides()) text += line("set", key + "=" + set);
    if (!scenario.mutation.empty()) text += line("mutation", scenario.mutation);
    if (!scenario.edits.empty()) text += line("edits", one_line(edits_to_json(scenario.edits)));
    text +=
        line("tab", "step") + line("step", plan.steps().front().name) + "```\n\n```question\n" + line("id", "find") +
        line("kind", "point") +
        line("ask",
             tr("Which number says it: {what} ({where})? Click it.", {{"what", answer}, {"where", escaped(where)}})) +
        line("right", right) + line("solution", at) + line("wrong", cell_name(name, another(step, cell))) +
        line("reply", tr("That is the step. Is it that row and that column?")) + line("if", "step == '" + name + "'") +
        line("otherwise", tr("Look for the step first: which one computes such numbers?")) +
        line("hint", tr("Which part of the model computes it, and in which block?")) +
        line("hint", tr("It is a number of {step}.", {{"step", "`" + name + "`"}})) +
        line("hint", tr("It is {cell}.", {{"cell", "`" + at + "`"}})) +
        line("learned", tr("{what}: {number}.",
                           {{"what", answer}, {"number", short_number_text(static_cast<double>(value), 4)}})) +
        "```\n";
    return text;
}

std::string write_exercise(const std::string& text) {
    std::string path = absolute_path("exercise.md");
    for (int number = 2; std::filesystem::exists(path); ++number)
        path = absolute_path("exercise_" + std::to_string(number) + ".md");
    write_whole(path, [&](std::ostream& file) { file << text; });
    return path;
}

}  // namespace decoderscope::core::lessons
