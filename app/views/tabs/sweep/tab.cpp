#include "app/views/tabs/sweep/tab.h"

#include "app/core/tabs/diff/shown_comparison.h"
#include "app/core/text/numbers.h"
#include "app/views/frame/stale.h"
#include "app/views/frame/terms.h"
#include "app/views/widgets/depth_chart.h"
#include "app/views/widgets/heatmap_view.h"
#include "app/views/widgets/imgui_compat.h"
#include "app/views/widgets/keyboard_focus.h"
#include "engine/base/json.h"
#include "engine/base/json_object.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

namespace decoderscope::views::sweep {

namespace {

using core::sweep::Form;
using core::sweep::Result;
using core::sweep::ShownSweep;
using core::sweep::SweepQuestion;

constexpr std::string_view kId = "sweep";
constexpr int kDigits = 5;

// What is drawn in one frame.
struct Scene {
    const Ui& ui;
    const core::Session& session;
    ViewState& state;
    SweepTabState& sweep;
    Commands& commands;
};

std::shared_ptr<const core::train::Recipe> training_of(const core::Session& session) {
    return core::sweep::training_of(session.derived(), session.shown(), session.training().seen());
}

// ---- the question

// A line of text with a list of what it can be, which is made while it is open.
bool draw_field(const Scene& s, const char* word, const char* id, std::string& text, const std::string& hint,
                const std::function<std::vector<std::string>()>& proposals, float width) {
    const Ui& ui = s.ui;
    const float label = ui.px(56), list = ImGui::GetFrameHeight();
    const float left = ImGui::GetCursorScreenPos().x;
    word_beside(ui, word);
    ImGui::SameLine();
    ImGui::SetCursorScreenPos({left + label, ImGui::GetCursorScreenPos().y});
    ImGui::SetNextItemWidth(width - label - list - ui.px(4));
    bool asked = text_field(labelled("", id).c_str(), text, ImGuiInputTextFlags_EnterReturnsTrue, hint.c_str());
    ImGui::SameLine(0, ui.px(4));
    ImGui::SetNextItemWidth(list);
    if (!begin_list(labelled("", std::string(id) + "-list").c_str(), "", ImGuiComboFlags_NoPreview)) return asked;
    int number = 0;
    for (const std::string& proposal : proposals())
        if (press_row(labelled(proposal, std::to_string(number++)).c_str(), proposal == text)) {
            text = proposal;
            asked = true;
        }
    ImGui::EndCombo();
    return asked;
}

// The keys of the configuration with the values that they can have: "norm_first=true,false".
void add_settings(const Scene& s, std::vector<std::string>& vary) {
    const core::Snapshot& shown = s.session.shown();
    const core::Value<core::diff::Alternatives> others =
        core::diff::shown_alternatives(s.session.derived(), shown.scenario, shown.run);
    if (!others) return;
    for (const core::Setting& setting : others->settings) {
        if (setting.alike.empty() || setting.has_others) continue;
        std::string text = setting.key + "=" + setting.value;
        for (const std::string& other : setting.alike) text += "," + other;
        vary.push_back(std::move(text));
    }
}

void ask_typed(SweepTabState& sweep) {
    sweep.question = sweep.typed;
    sweep.stopped.reset();
    sweep.chosen.reset();
}

void choose_ready(const Scene& s) {
    ImGui::SetNextItemWidth(s.ui.px(220));
    if (!begin_list("##ready", tr("Ready questions"), ImGuiComboFlags_HeightLarge)) return;
    for (const core::sweep::ReadyQuestion& ready : questions_that_fit(s.session)->fitting)
        if (press_row(tr(ready.title), ready.question == s.sweep.question)) {
            s.sweep.typed = ready.question;
            ask_typed(s.sweep);
        }
    ImGui::EndCombo();
}

core::Value<core::sweep::Proposals> proposals(const Scene& s) {
    return core::sweep::proposals(s.session.derived(), s.session.shown(), s.sweep.typed.row, s.session.step().name,
                                  s.session.cursor().cell);
}

// Returns the height used.
float draw_question(const Scene& s, Area area) {
    const Ui& ui = s.ui;
    const auto vary = [&] {
        std::vector<std::string> all = proposals(s)->vary;
        add_settings(s, all);
        return all;
    };
    const auto rows = [&] { return proposals(s)->rows; };
    const auto targets = [] { return std::vector<std::string>{"0.5", "> 0", "largest"}; };
    const float line = ImGui::GetFrameHeight() + ui.px(4), width = std::min(area.width(), ui.px(760));
    ImGui::SetCursorScreenPos(area.low);
    bool asked = draw_field(s, tr("Vary"), "vary", s.sweep.typed.vary,
                            tr("each head, attention_scale=0.1..1:10, a cell=-1,0,1 …"), vary, width);
    ImGui::SetCursorScreenPos({area.low.x, area.low.y + line});
    asked = draw_field(s, tr("Watch"), "watch", s.sweep.typed.row,
                       tr("nothing more than the predictions, or a row: a tensor or a formula"), rows, width) ||
            asked;
    ImGui::SetCursorScreenPos({area.low.x, area.low.y + 2 * line});
    asked = draw_field(s, tr("Seek"), "seek", s.sweep.typed.seek,
                       tr("nothing, or what the watched number is to become: 0.25, > 0, largest"), targets, width) ||
            asked;
    ImGui::SetCursorScreenPos({area.low.x, area.low.y + 3 * line});
    asked = button(tr("Compute"), "compute") || asked;
    ImGui::SameLine(0, ui.px(8));
    if (asked) ask_typed(s.sweep);
    choose_ready(s);
    return 4 * line;
}

// ---- the answer

std::string number_text(double value) { return core::number_text(value, kDigits); }

// The row's number, or its first ones.
std::string number_text(const Result& result) {
    constexpr std::size_t few = 6;
    std::string text;
    for (const float value : result.value.values().first(std::min(few, result.value.values().size())))
        text += (text.empty() ? "" : ", ") + number_text(static_cast<double>(value));
    return text + (result.value.values().size() > few ? " …" : "");
}

std::string changed_text(const Result& result) {
    return result.predictions_changed ? std::to_string(*result.predictions_changed) : std::string();
}

void right_text(const Ui& ui, float end, float y, ImFont* font, ImU32 color, const std::string& text) {
    draw_text(ui, font, {end - compat::text_size(font, text).x, y}, color, text);
}

// Where the columns of the table end.
struct Columns {
    float name = 0.0F, value = 0.0F, changed = 0.0F, said = 0.0F;
};

Columns columns_of(const Scene& s, const ShownSweep& shown, Area area) {
    const Ui& ui = s.ui;
    const float name = std::max(ui.px(80), compat::text_size(ui.fonts.mono_small, shown.longest_name).x);
    Columns columns;
    columns.name = area.low.x + std::min(name, area.width() * 0.45F) + ui.px(12);
    columns.value = columns.name + (shown.sweep.row.empty() ? 0.0F : ui.px(90));
    columns.changed = columns.value + (shown.sweep.predicts ? ui.px(90) : 0.0F);
    columns.said = columns.changed + ui.px(16);
    return columns;
}

void draw_table(const Scene& s, const ShownSweep& shown, Area area) {
    const Ui& ui = s.ui;
    const Columns columns = columns_of(s, shown, area);
    ImFont* small = ui.fonts.caption;
    if (!shown.sweep.row.empty())
        right_text(ui, columns.value, area.low.y, small, ui.theme.muted,
                   fitted(small, shown.sweep.title, columns.value - columns.name));
    if (shown.sweep.predicts) right_text(ui, columns.changed, area.low.y, small, ui.theme.muted, tr("predictions"));
    const float line = compat::font_size(ui.fonts.mono_small) + ui.px(7);
    scrolled_rows(ui, "results", {{area.low.x, area.low.y + line}, area.high}, line, shown.order.size(),
                  [&](std::size_t number, Area row) {
                      const std::size_t i = shown.order[number];
                      const Result& result = shown.sweep.results[i];
                      if (press_at("result", row, static_cast<std::int64_t>(i))) s.sweep.chosen = i;
                      if (ImGui::IsItemHovered() || s.sweep.chosen == i)
                          ImGui::GetWindowDrawList()->AddRectFilled(row.low, row.high, ui.theme.raised);
                      const float y = row.low.y + ui.px(3);
                      ImFont* font = ui.fonts.mono_small;
                      const float name = columns.name - row.low.x - ui.px(8);
                      draw_text(ui, font, {row.low.x, y}, ui.theme.text,
                                fitted_in_middle(font, tr(core::sweep::where_sentence(shown.sweep, result)), name));
                      right_text(ui, columns.value, y, font, ui.theme.text, number_text(result));
                      right_text(ui, columns.changed, y, font,
                                 result.predictions_changed.value_or(0) > 0 ? ui.theme.warning : ui.theme.muted,
                                 changed_text(result));
                      if (result.effect)
                          draw_text(ui, small, {columns.said, y}, ui.theme.muted,
                                    tr(result.effect->changes.empty() ? result.effect->said : result.effect->changes),
                                    row.high.x - columns.said);
                  });
}

// Which curve is which, with its number in the chosen run.
void draw_legend(const Scene& s, const ShownSweep& shown, Area area) {
    const Ui& ui = s.ui;
    const float line = compat::font_size(ui.fonts.mono_small) + ui.px(5);
    float y = area.low.y + ui.px(36);
    for (const core::ChartCurve& curve : shown.chart.curves) {
        if (curve.dashed || y + line > area.high.y) continue;
        draw_line_sample(ui, {area.low.x, y + line * 0.4F}, ui.px(18), to_imgui(curve.color), false);
        std::string text = curve.run;
        if (s.sweep.chosen && *s.sweep.chosen < curve.curve.points.size())
            text = number_text(curve.curve.points[*s.sweep.chosen].value) + "  " + text;
        draw_text(ui, ui.fonts.mono_small, {area.low.x + ui.px(24), y}, ui.theme.text, text, area.width() - ui.px(24));
        y += line;
    }
}

void draw_curves(const Scene& s, const ShownSweep& shown, Area area) {
    if (shown.chart.curves.size() > 2) {
        const float legend = std::min(s.ui.px(210), area.width() * 0.35F);
        draw_legend(s, shown, {{area.high.x - legend + s.ui.px(12), area.low.y}, area.high});
        area.high.x -= legend;
    }
    DepthChart chart{.id = "sweep",
                     .title = shown.chart.title.c_str(),
                     .caption = shown.chart.caption.c_str(),
                     .lines = {},
                     .blocks = shown.chart.blocks,
                     .names = shown.chart.names};
    for (const core::ChartCurve& curve : shown.chart.curves)
        chart.lines.push_back({curve.curve, to_imgui(curve.color), curve.dashed});
    std::vector<double> marks;
    for (std::size_t i = 0; i < shown.sweep.results.size(); ++i)
        if (shown.sweep.results[i].predictions_changed.value_or(0) > 0) marks.push_back(static_cast<double>(i));
    chart.marks = marks;
    const std::optional<double> marked =
        s.sweep.chosen ? std::optional(static_cast<double>(*s.sweep.chosen)) : std::nullopt;
    const ChartGesture gesture = draw_depth_chart(s.ui, chart, marked, area);
    if (gesture.clicked && gesture.depth) s.sweep.chosen = static_cast<std::size_t>(std::lround(*gesture.depth));
}

void draw_picture(const Scene& s, const ShownSweep& shown, std::uint64_t version, std::size_t number, Area area) {
    const std::uint64_t key = heatmap_key(kId, number);
    const HeatmapGesture gesture = draw_heatmap(s.ui,
                                                {.heatmap = shown.pictures[number],
                                                 .key = key,
                                                 .version = version,
                                                 .color = color_of(Meaning::attention),
                                                 .legend = Legend::bar,
                                                 .grid = true},
                                                s.state.viewports[key], area);
    if (gesture.clicked) s.sweep.chosen = shown.result_at(number, gesture.clicked->first, gesture.clicked->second);
}

// Small multiples, in as many columns as keep each readable.
void draw_pictures(const Scene& s, const ShownSweep& shown, std::uint64_t version, Area area) {
    const std::size_t count = shown.pictures.size();
    const float least = s.ui.px(260), gap = s.ui.px(10);
    const auto most = static_cast<std::size_t>(std::max(1.0F, std::floor(area.width() / least)));
    const std::size_t columns = std::clamp<std::size_t>(count, 1, most), rows = (count + columns - 1) / columns;
    const float width = (area.width() - gap * static_cast<float>(columns - 1)) / static_cast<float>(columns);
    const float height = rows == 1 ? area.height() : std::max(least, area.height() / static_cast<float>(rows) - gap);
    begin_part("pictures", area);
    const ImVec2 start = ImGui::GetCursorScreenPos();
    for (std::size_t i = 0; i < count; ++i) {
        const ImVec2 low = {start.x + static_cast<float>(i % columns) * (width + gap),
                            start.y + static_cast<float>(i / columns) * (height + gap)};
        draw_picture(s, shown, version, i, {low, {low.x + width, low.y + height}});
    }
    ImGui::SetCursorScreenPos(start);
    ImGui::Dummy({1, static_cast<float>(rows) * (height + gap)});
    ImGui::EndChild();
}

// Makes a run the work.
void keep(core::Variation variation, const Sentence& where, Commands& commands) {
    commands.push_back(core::command::KeepVariation{std::move(variation)});
    commands.push_back(core::command::Tell{
        message("This run is now the work: {where}. Undo (Ctrl+Z) goes back.", {{"where", where}}), false});
}

// The chosen run, in a line or two, and what can be done with it. Returns the height used, from the bottom.
float draw_chosen(const Scene& s, const ShownSweep& shown, Area area, Commands& commands) {
    const Ui& ui = s.ui;
    if (!s.sweep.chosen || *s.sweep.chosen >= shown.sweep.results.size()) return 0.0F;
    const Result& result = shown.sweep.results[*s.sweep.chosen];
    const float height = ImGui::GetFrameHeight() + compat::font_size(ui.fonts.caption) + ui.px(12);
    const float y = area.high.y - height;
    ImGui::GetWindowDrawList()->AddLine({area.low.x, y}, {area.high.x, y}, ui.theme.line);
    ImGui::SetCursorScreenPos({area.low.x, y + ui.px(4)});
    if (const Sentence obstacle = core::sweep::obstacle_to_keeping(shown, *s.sweep.chosen); !obstacle.empty())
        word_beside(ui, tr(obstacle));
    else if (button(tr("Open this run"), "open-run"))
        keep(core::sweep::kept_variation(shown, *s.sweep.chosen), core::sweep::where_sentence(shown.sweep, result),
             commands);
    ImGui::SameLine(0, ui.px(10));
    const std::string value = number_text(result);
    const std::string where = tr(core::sweep::where_sentence(shown.sweep, result));
    word_beside(ui, value.empty() ? where : where + ": " + value);
    if (result.effect)
        draw_text(ui, ui.fonts.caption, {area.low.x, area.high.y - compat::font_size(ui.fonts.caption) - ui.px(2)},
                  ui.theme.text, tr(result.effect->said), area.width());
    return height + ui.px(4);
}

Area draw_form(const Scene& s, const ShownSweep& shown, std::uint64_t version, Area area, Commands& commands) {
    if (!shown.error.empty()) {
        text_block(s.ui, s.ui.fonts.text, s.ui.theme.error, area, tr(shown.error));
        return area;
    }
    Area rest = area;
    std::string summary = tr(core::sweep::summary_sentence(shown));
    if (shown.left_out > 0)
        summary += " " + tr_n("{count} picture more is in the export.", "{count} pictures more are in the export.",
                              shown.left_out);
    rest.low.y += text_block(s.ui, s.ui.fonts.text, s.ui.theme.text, rest, summary) + s.ui.px(8);
    if (shown.found) {
        ImGui::SetCursorScreenPos(rest.low);
        if (button(tr("Keep this change"), "keep-found"))
            keep(core::sweep::found_variation(shown), Sentence::verbatim(shown.found->varied), commands);
        return area;
    }
    rest.high.y -= draw_chosen(s, shown, rest, commands);
    switch (shown.form) {
        case Form::found:
            break;
        case Form::table:
            draw_table(s, shown, rest);
            break;
        case Form::curves:
            draw_curves(s, shown, rest);
            break;
        case Form::grid:
        case Form::rows:
        case Form::pictures:
            draw_pictures(s, shown, version, rest);
            break;
    }
    return area;
}

void draw_result(const Scene& s, Area area) {
    SweepTabState& sweep = s.sweep;
    if (sweep.question.vary.empty()) {
        text_block(s.ui, s.ui.fonts.text, s.ui.theme.muted, area,
                   tr("One thing is varied, and the model is run for each of its values: which predictions change, and "
                      "what becomes of a number that you watch? Choose a ready question, or what varies from the "
                      "list."));
        return;
    }
    if (sweep.stopped == sweep.question) {
        ImGui::SetCursorScreenPos(area.low);
        if (button(tr("Measure"), "measure-sweep")) sweep.stopped.reset();
        return;
    }
    const core::Snapshot& shown = s.session.shown();
    sweep.answer.take(
        load::about(shown.scenario.opened()),
        core::sweep::shown_sweep(s.session.derived(), shown, sweep.question, sweep.progress, training_of(s.session)),
        [&] { return sweep.question; });
    draw_answer(
        s.ui, "coming-sweep", sweep.answer, area, s.commands,
        [&](Commands& heard) {
            return draw_form(s, *sweep.answer.answer(), sweep.answer.answer().number(), area, heard);
        },
        [&](Area note) {
            if (draw_progress(s.ui, *sweep.progress, note)) sweep.stopped = sweep.question;
        });
}

// ---- the tab

void add_exports(ExportScene& scene) {
    const SweepTabState& sweep = scene.state.part<SweepTabState>();
    if (!sweep.answer || sweep.answer.stale()) return;
    const core::Value<ShownSweep> shown = sweep.answer.answer();
    if (!shown->error.empty() || shown->found) return;  // a sentence alone is no picture
    scene.add(tr("What the sweep shows"), "sweep", [scenario = scene.session.shown().scenario, shown] {
        return core::sweep::sweep_exhibit(scenario, *shown);
    });
}

Json save(const ViewState& state) {
    const SweepQuestion& question = state.part<SweepTabState>().question;
    return {{"vary", question.vary}, {"row", question.row}, {"seek", question.seek}};
}

void restore(ViewState& state, JsonObject* saved) {
    SweepTabState read;
    if (saved != nullptr) read.question = {saved->text("vary"), saved->text("row"), saved->text("seek")};
    read.typed = read.question;
    state.part<SweepTabState>() = std::move(read);
}

void leave(ViewState& state) {
    SweepTabState& sweep = state.part<SweepTabState>();
    sweep.progress->look_away();
    sweep.answer = {};
}

}  // namespace

Tab sweep_tab() {
    return {.id = kId,
            .title = message("Sweep"),
            .question = message("What if it were each of these?"),
            .key = Key::o,
            .term = "sweep",
            .draw = draw_sweep_tab,
            .least_height = [](float) { return 360.0F; },
            .inspect = inspect_sweep,
            .explains_cells = true,
            .leave = leave,
            .add_exports = add_exports,
            .save = save,
            .restore = restore,
            .computes = true};
}

core::Value<core::sweep::ReadyQuestions> questions_that_fit(const core::Session& session) {
    return core::sweep::ready_questions(session.derived(), session.shown(),
                                        {session.attention(), session.cursor().place}, training_of(session));
}

void ask(ViewState& state, SweepQuestion question) {
    SweepTabState& sweep = state.part<SweepTabState>();
    sweep.typed = std::move(question);
    ask_typed(sweep);
    state.tab = kId;
}

void draw_sweep_tab(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands) {
    const Scene scene = {ui, session, state, state.part<SweepTabState>(), commands};
    const float pad = ui.px(16);
    Area rest = {{area.low.x + pad, area.low.y + ui.px(10)}, {area.high.x - pad, area.high.y - ui.px(8)}};
    rest.low.y += draw_question(scene, rest) + ui.px(8);
    draw_result(scene, rest);
}

void inspect_sweep(const Ui& ui, const core::Session&, ViewState& state, Commands&) {
    term_line(ui, state, ui.fonts.heading, ui.theme.text, tr("Sweep"), core::glossary::find_term("sweep"));
    say(ui, state, ui.fonts.caption, ui.theme.text,
        tr("What varies: a number from A to B (attention_scale=0.1..1:10) or from a list, a cell, a head's factor "
           "(blocks.0.attn.head.3=0..1:5), dropout_seed, training_step, training_seed, or each head, layer, neuron, "
           "position or source letter, "
           "left out one at a time, or each replaced token; two of them with a “;” between."));
    say(ui, state, ui.fonts.caption, ui.theme.text,
        tr("What is watched: a tensor, a cell such as logits[0, 3, 5], or a formula. Runs with changed predictions are "
           "marked. A click chooses a run, and “Open this run” makes it the work."));
    say(ui, state, ui.fonts.caption, ui.theme.text,
        tr("What is sought: with a number under Watch that is to become 0.25, > 0, < 1 or, for a logit, largest, Vary "
           "is "
           "what may change: a number (attention_scale, or attention_scale=0.1..2) or a tensor with all of its numbers "
           "(blocks.0.attn.z), along the gradient."));
}

}  // namespace decoderscope::views::sweep
