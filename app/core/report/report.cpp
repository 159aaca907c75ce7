#include "app/core/report/report.h"

#include "app/core/compare/depth.h"
#include "app/core/compare/effect_of_edits.h"
#include "app/core/compare/norm_rows.h"
#include "app/core/generate/prediction.h"
#include "app/core/run/comparison.h"
#include "app/core/run/edit_groups.h"
#include "app/core/run/labels.h"
#include "app/core/run/passes_of_text.h"
#include "app/core/run/watched.h"
#include "app/core/tabs/heads/head_scores.h"
#include "app/core/tabs/masks/shown_masks.h"
#include "app/core/text/numbers.h"
#include "app/core/text/token_text.h"
#include "engine/base/error.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <array>

namespace decoderscope::core::report {

namespace {

// ---- the run

// The configuration's keys that don't have their default values; the rest, which is long, is folded away.
void model_section(Page& page, const Scenario& scenario) {
    page.section(tr("Model"));
    if (!scenario.about().description.empty()) page.paragraph(tr(scenario.about().description));
    std::vector<std::pair<std::string, std::string>> own, by_default;
    const Overrides usual = config_values(Config{});
    for (const auto& [key, value] : config_values(scenario.config())) {
        const auto changed = [key = key](const auto& override) { return override.first == key; };
        const bool overridden = std::any_of(scenario.overrides().begin(), scenario.overrides().end(), changed);
        const bool as_usual = std::ranges::find(usual, std::pair(key, value)) != usual.end();
        (as_usual && !overridden ? by_default : own)
            .emplace_back(key, overridden ? tr("{value} (changed)", {{"value", value}}) : value);
    }
    if (scenario.dropout_seed) own.emplace_back(tr("dropout seed"), std::to_string(*scenario.dropout_seed));
    if (!scenario.gradient_target.empty()) own.emplace_back(tr("gradients of"), scenario.gradient_target);
    page.facts(own);
    page.folded_facts(tr_n("{count} more key, with its default value", "{count} more keys, with their default values",
                           by_default.size()),
                      by_default);
    for (const Sentence& remark : scenario.about().remarks) page.paragraph(tr(remark));
}

void token_rows(Page& page, const std::string& name, const Tensor& tokens, const Tensor& kept,
                const tokenizer::Tokenizer& tokenizer) {
    constexpr Index most = 64;
    if (tokens.empty()) return;
    for (Index row = 0; row < std::min(tokens.dim(0), most); ++row) {
        std::vector<std::string> pieces;
        for (Index at = 0; at < tokens.dim(1); ++at) {
            const Cell cell = {row, at};
            const bool padding = !kept.empty() && kept.at(cell) == 0.0F;
            pieces.push_back(padding ? "·" : token_text(tokenizer, static_cast<Index>(tokens.at(cell))));
        }
        page.tokens(name + " " + std::to_string(row), pieces);
    }
    if (tokens.dim(0) > most)
        page.paragraph(tr_n("… and {count} more row.", "… and {count} more rows.", tokens.dim(0) - most));
}

void input_section(Page& page, const Scenario& scenario) {
    const Inputs& inputs = scenario.inputs;
    page.section(tr("Input"));
    token_rows(page, "source", inputs.encoder_tokens, inputs.encoder_attention_mask, scenario.encoder_tokenizer());
    token_rows(page, "batch", inputs.tokens, inputs.attention_mask, scenario.tokenizer());
    const auto given = [&](const char* name, const Tensor& tensor) {
        if (!tensor.empty())
            page.paragraph(
                tr("{name}: numbers of shape {shape}", {{"name", name}, {"shape", shape_text(tensor.axes())}}));
    };
    given("x", inputs.x);
    given("memory", inputs.memory);
    given(tr("custom mask"), inputs.custom_mask);
    given(tr("positions"), inputs.positions);
    given(tr("segments"), inputs.segments);
    if (!inputs.attention_mask.empty() || !inputs.encoder_attention_mask.empty())
        page.paragraph(tr("A dot is padding: nothing attends to it."));
}

// The same run without the edits that change the pass, and with what the notes stand at; the run itself if there are
// none.
std::shared_ptr<const Run> unedited_run(const ShownRun& shown) {
    if (!shown.scenario.computes() || !is_edited(shown.scenario)) return shown.run;
    std::vector<std::string> noted;
    for (const Note& note : shown.notes) noted.push_back(note.step);
    return execute(plan_of(varied(shown.scenario, {.without_edits = true})), {.asked = noted});
}

// What the edits did to the output and to how many tensors.
void effect_paragraphs(Page& page, const ShownRun& shown, const std::shared_ptr<const Run>& unedited) {
    const diff::Reach reach = finished(diff::reach_of(unedited, shown.run, padding_of(shown.scenario)));
    page.paragraph(tr(diff::reach_sentence(shown.scenario, reach)));
    if (const Sentence tensors = diff::changed_tensors_sentence(*shown.run, reach); !tensors.empty())
        page.paragraph(tr("{what}.", {{"what", tensors}}));
}

// What the model predicts after each position, and how many next tokens are right.
void predictions_section(Page& page, const ShownRun& shown) {
    constexpr Index most = 64;
    if (!generate::predicts_tokens(shown.scenario)) return;
    const generate::Predictions made = finished(generate::predictions_of(shown.run, inputs_of_shown(shown.scenario)));
    if (made.all.empty()) return;
    page.section(tr("Predictions"));
    if (made.judged > 0)
        page.paragraph(
            tr("{right} of {all} next tokens are predicted right.", {{"right", made.right}, {"all", made.judged}}));
    const tokenizer::Tokenizer& tokenizer = shown.scenario.tokenizer();
    for (Index row = 0; row < std::min(made.batch, most); ++row) {
        std::vector<std::string> pieces;
        for (const generate::Prediction& at : made.row(row)) {
            if (at.is_padding) continue;
            const std::string mark = !at.is_judged() ? "" : at.is_right() ? "✓ " : "✗ ";
            pieces.push_back(mark + (at.token ? token_text(tokenizer, *at.token) : "NaN"));
        }
        page.tokens(tr("after each token of row {row}", {{"row", row}}), pieces);
    }
}

void edits_section(Page& page, const ShownRun& shown, const std::shared_ptr<const Run>& unedited) {
    std::vector<std::string> lines = texts_of_edits(shown.scenario.edits);
    constexpr std::size_t most = 400;
    page.section(tr("Edits"));
    if (lines.empty()) return page.paragraph(tr("None: this is the model as it is."));
    const std::size_t more = lines.size() - std::min(lines.size(), most);
    lines.resize(lines.size() - more);
    page.list(lines);
    if (more > 0) page.paragraph(tr_n("… and {count} more edit.", "… and {count} more edits.", more));
    effect_paragraphs(page, shown, unedited);
}

// A note with the number that it stands at, if it stands at one.
std::string line_of_note(const Note& note, const Run& run, const Run& unedited) {
    const WatchedNumber number = watched_number(note, run, unedited);
    const std::string place = place_text(note), said = tr(number_sentence(number, 6));
    if (note.text.empty()) return place + ": " + said;
    return place + ": " + note.text + (number.missing.empty() ? " (" + said + ")" : "");
}

void notes_section(Page& page, const ShownRun& shown, const Run& unedited) {
    if (shown.notes.empty()) return;
    page.section(tr("Notes"));
    std::vector<std::string> lines;
    for (const Note& note : shown.notes) lines.push_back(line_of_note(note, *shown.run, unedited));
    page.list(lines);
}

// ---- the results

void step_section(Page& page, const ReportOf& report) {
    const Ref step = report.shown.run->plan().find(report.step);
    if (step == nullptr || report.shown.run->value(step->id).empty()) return;
    page.section(tr("Where to look"));
    const OpDescription about = step->operation.about();
    page.paragraph(step->name + " = " + std::string(about.name) + ": " + std::string(about.formula));
    page.paragraph(std::string(about.teaches));
    page.figure(step_exhibit(report.shown, *step, report.place));
}

const char* kind_text(heads::AttentionKind kind) {
    static constexpr std::array<Phrase, 3> kTexts = {message("Self-attention"), message("Cross-attention"),
                                                     message("The encoder's self-attention")};
    return tr(kTexts[static_cast<std::size_t>(kind)]);
}

void attention_sections(Page& page, const ReportOf& report) {
    const Plan& plan = report.shown.run->plan();
    for (const heads::AttentionKind kind : heads::kAttentionKinds) {
        const std::vector<std::string> attentions = heads::attentions_of_kind(plan, kind);
        if (attentions.empty() || report.shown.run->value(attentions.front(), AttentionStep::pattern).empty()) continue;
        page.section(kind_text(kind));
        page.paragraph(tr_n("How much each query (row) attends to each key (column): {count} layer, batch row {row}.",
                            "How much each query (row) attends to each key (column): {count} layers, batch row {row}.",
                            attentions.size(), {{"row", report.place.batch}}));
        for (const std::string& attention : attentions) {
            if (report.shown.run->value(attention, AttentionStep::pattern).empty()) continue;
            page.subsection(attention);
            page.figure(gathered_exhibit(report.shown, *plan.step_of(attention, AttentionStep::pattern), report.place,
                                         {.all_heads = true}));
        }
    }
}

void masks_section(Page& page, const ReportOf& report) {
    const Plan& plan = report.shown.run->plan();
    page.section(tr("Masks"));
    page.paragraph(tr("What each mask hides, one by one and combined, and what that does to scores and weights."));
    const Ref looked_at = plan.find(report.step);
    const std::string own = looked_at == nullptr ? "" : looked_at->attention;
    for (const heads::AttentionKind kind : heads::kAttentionKinds) {
        const std::vector<std::string> attentions = heads::attentions_of_kind(plan, kind);
        if (attentions.empty()) continue;
        const bool here = std::find(attentions.begin(), attentions.end(), own) != attentions.end();
        const std::string& attention = here ? own : attentions.front();
        if (report.shown.run->value(attention, AttentionStep::mask).empty()) continue;
        page.subsection(attention);
        Exhibit masks = masks::masks_exhibit(report.shown, attention, report.place);
        masks.columns = 2;  // as many as can be read on a page
        page.figure(masks);
    }
}

norms::DepthCurves curves_with(const Scenario& scenario, const char* norm_first) {
    return norms::depth_curves(*execute(plan_of(with_override(scenario, "norm_first", norm_first)), {}),
                               StackKind::decoder);
}

void norms_section(Page& page, const ReportOf& report) {
    page.section(tr("Norms"));
    try {
        const norms::DepthCurves pre = curves_with(report.shown.scenario, "true"),
                                 post = curves_with(report.shown.scenario, "false");
        page.paragraph(norms::depth_sentence(pre, post));
        page.figure(norms::depth_exhibit(report.shown.scenario, pre, post));
    } catch (const Error& error) {
        page.paragraph(tr("The norm placement can't be changed here: {error}", {{"error", error.sentence()}}));
    }
}

// Every tensor with its shape and what it was computed from, as far as that was recorded.
Page::Table tensors_of(const Plan& plan, std::size_t most) {
    Page::Table table;
    table.caption = tr("In the order of recording");
    table.columns = {tr("tensor"), tr("shape"), tr("computed from")};
    for (const Step& step : plan.steps()) {
        if (table.rows.size() == most) break;
        std::vector<Page::Text> from;
        for (const StepId operand : step.operands) from.push_back({plan[operand].name, {}});
        table.rows.push_back({{{step.name, {}}}, {{shape_text(step.axes), {}}}, std::move(from)});
    }
    return table;
}

// The sections of a report on a trace that was opened without its model: what it is, and its tensors.
void write_recorded_sections(Page& page, const ReportOf& report) {
    constexpr std::size_t kMost = 500;
    const load::ModelInfo& about = report.shown.scenario.about();
    const Plan& plan = report.shown.run->plan();
    page.section(tr("Recording"));
    page.paragraph(tr(about.description));
    for (const Sentence& remark : about.remarks) page.paragraph(tr(remark));
    page.section(tr("Tensors"));
    page.table(tensors_of(plan, kMost));
    if (const std::size_t all = plan.steps().size(); all > kMost)
        page.paragraph(tr_n("… and {count} more tensor.", "… and {count} more tensors.", all - kMost));
}

}  // namespace

void write_report(std::ostream& out, const ReportOf& asked) {
    ReportOf report = asked;
    const std::shared_ptr<const Run> unedited = unedited_run(report.shown);
    report.shown.unedited = [unedited] { return unedited; };  // so that its pictures tell what the edits changed
    const Scenario& scenario = report.shown.scenario;
    const std::string name = report.title.empty() ? description_of(scenario) : report.title;
    const Arguments facts = {{"model", description_of(scenario)}, {"version", DECODERSCOPE_VERSION}};
    const Sentence computed = message("A forward pass of {model}, as Decoderscope {version} computed it.", facts);
    const Sentence recorded =
        message("A forward pass of {model}, recorded elsewhere, as Decoderscope {version} shows it.", facts);
    Page page(out, name, tr(scenario.computes() ? computed : recorded));
    if (!scenario.computes()) {
        notes_section(page, report.shown, *unedited);
        step_section(page, report);
        return write_recorded_sections(page, report);
    }
    // First what the model says and why, last what it is.
    input_section(page, scenario);
    predictions_section(page, report.shown);
    edits_section(page, report.shown, unedited);
    notes_section(page, report.shown, *unedited);
    step_section(page, report);
    attention_sections(page, report);
    masks_section(page, report);
    norms_section(page, report);
    model_section(page, scenario);
}

}  // namespace decoderscope::core::report
