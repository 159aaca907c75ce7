// What the selected cell was computed from, where it goes next, and what made its coordinate of the stream.
#include "app/core/run/labels.h"
#include "app/core/tabs/step/explanation_text.h"
#include "app/core/tabs/step/history.h"
#include "app/core/tabs/step/shown_step.h"
#include "app/core/text/numbers.h"
#include "app/views/inspector/inspector.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <cmath>

namespace decoderscope::views::inspector {

namespace {

// What the terms of one line are drawn with.
struct TermScene {
    const Ui& ui;
    const core::Session& session;
    InspectorState& state;
    const Step& step;
    const Line& line;
    Commands& commands;
};

const Step& source_of(const TermScene& scene, const Factor& f) {
    return scene.session.shown().run->plan()[scene.step.operands[f.cell->operand]];
}

void follow_factor(const TermScene& scene, const Factor& f) {
    scene.commands.push_back(core::command::Follow{source_of(scene, f).name, f.cell->cell});
}

// One factor: a link if it leads somewhere.
void factor(const TermScene& scene, const Factor& f, bool first, int id) {
    const Ui& ui = scene.ui;
    const std::string text = core::step::factor_text(f, first);
    if (!f.cell) {
        const std::string shown = fitted(ui.fonts.mono_small, text, ImGui::GetContentRegionAvail().x);
        text_line(ui.number(), shown);
        if (shown != text) tooltip(text.c_str());
        return;
    }
    const Step& source = source_of(scene, f);
    if (link(ui, {ui.fonts.mono_small, ink_of(source.meaning, ui.theme)}, text, id)) follow_factor(scene, f);
    if (!ImGui::IsItemHovered()) return;
    const auto place = core::step::shown_place(scene.session.derived(), scene.session.shown(), source, f.cell->cell);
    tooltip((cell_name(source.name, f.cell->cell) + "\n" + place->text).c_str());
}

// Continues the line if a text of this width fits, otherwise begins another.
void same_line_if_fits(float width, float edge, float space) {
    ImGui::SameLine(0, space);
    if (ImGui::GetCursorPosX() + width > edge) ImGui::NewLine();
}

// "key 3 “a”   exp(2.5 − max)        0.082", "d_head 5   0.31 · 1.2        0.372". A number alone is its own value, and
// so is a line's only term.
void term_row(const TermScene& scene, const std::string& name, const Term& term) {
    const Ui& ui = scene.ui;
    const float edge = ImGui::GetCursorPosX() + ImGui::GetContentRegionAvail().x;
    if (!name.empty()) {
        const std::string shown = fitted(ui.fonts.caption, name, ImGui::GetContentRegionAvail().x);
        const auto leads = [](const Factor& f) { return f.cell.has_value(); };
        const auto led = std::ranges::find_if(term.factors, leads);
        // With one way to go, the name leads there, too.
        if (std::ranges::count_if(term.factors, leads) != 1)
            text_line(ui.note(), shown);
        else if (link(ui, ui.note(), shown, -1))
            follow_factor(scene, *led);
        if (shown != name) tooltip(name.c_str());
    }
    for (std::size_t i = 0; i < term.factors.size(); ++i) {
        const std::string text = (i > 0 ? " · " : "") + core::step::factor_text(term.factors[i], i == 0);
        if (i > 0 || !name.empty())
            same_line_if_fits(compat::text_size(ui.fonts.mono_small, text).x, edge, i == 0 ? ui.px(8) : 0.0F);
        if (i > 0) {
            text_line({ui.fonts.mono_small, ui.theme.muted}, " · ");
            ImGui::SameLine(0, 0);
        }
        factor(scene, term.factors[i], i == 0, static_cast<int>(i));
    }
    const bool only = scene.line.terms.size() == 1;
    if (term.factors.size() > 1 || (!only && !term.factors.front().text.empty()))
        at_right_edge(ui, {ui.fonts.mono_small, ui.theme.muted}, short_number(term.value));
}

void list_terms(const TermScene& scene, const std::vector<core::step::TermPart>& parts, const std::string& path);

// Behind a term, a bar as long as it is large beside the largest of the sum.
void draw_share(const Ui& ui, double value, double largest) {
    const double share = std::abs(value) / largest;
    if (!(share > 0.0) || !std::isfinite(share)) return;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = (ImGui::GetContentRegionAvail().x - ui.px(4)) * static_cast<float>(share);
    ImGui::GetWindowDrawList()->AddRectFilled(
        at, {at.x + std::max(width, ui.px(2)), at.y + compat::font_size(ui.fonts.caption) + ui.px(2)},
        ui.theme.accent_soft, ui.px(2));
}

// "▸ head 0 (16 terms)        0.42": a click opens it.
void group_row(const TermScene& scene, const core::step::TermPart& part, const std::string& path) {
    const Ui& ui = scene.ui;
    const std::string key = path + "/" + part.name;
    const bool open = scene.state.opened.contains(key);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float height = compat::font_size(ui.fonts.caption), r = ui.px(3.5F);
    const ImVec2 middle = {at.x + ui.px(5), at.y + height * 0.55F};
    ImDrawList& list = *ImGui::GetWindowDrawList();
    if (open)
        list.AddTriangleFilled({middle.x - r, middle.y - r * 0.6F}, {middle.x + r, middle.y - r * 0.6F},
                               {middle.x, middle.y + r}, ui.theme.accent);
    else
        list.AddTriangleFilled({middle.x - r * 0.6F, middle.y - r}, {middle.x - r * 0.6F, middle.y + r},
                               {middle.x + r, middle.y}, ui.theme.accent);
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() + ui.px(13));
    const std::string value = short_number(part.value);
    const float room = ImGui::GetContentRegionAvail().x - compat::text_size(ui.fonts.mono_small, value).x - ui.px(14);
    const std::string text = tr_n("{name} ({count} term)", "{name} ({count} terms)", part.count, {{"name", part.name}});
    if (link(ui, {ui.fonts.caption, ui.theme.accent}, fitted(ui.fonts.caption, text, room), 0) &&
        scene.state.opened.erase(key) == 0)
        scene.state.opened.insert(key);
    tooltip(open ? tr("Close this group of terms") : tr("Show the terms of this sum"));
    at_right_edge(ui, ui.number(), value);
    if (!open) return;
    ImGui::Indent(ui.px(10));
    list_terms(scene, part.parts, key);
    ImGui::Unindent(ui.px(10));
}

void list_terms(const TermScene& scene, const std::vector<core::step::TermPart>& parts, const std::string& path) {
    double largest = 0.0;
    for (const core::step::TermPart& part : parts) largest = std::max(largest, std::abs(part.value));
    for (std::size_t i = 0; i < parts.size(); ++i) {
        ImGui::PushID(static_cast<int>(i));
        if (parts.size() > 1) draw_share(scene.ui, parts[i].value, largest);
        if (parts[i].term)
            term_row(scene, parts[i].name, scene.line.terms[*parts[i].term]);
        else
            group_row(scene, parts[i], path);
        ImGui::PopID();
    }
}

void explained_line(const TermScene& scene, const std::vector<core::step::TermPart>& parts, int number) {
    const Ui& ui = scene.ui;
    ImGui::PushID(number);
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(ui.px(4), ui.px(2)));
    text_line(ui.number(), scene.line.name + " = " + short_number(scene.line.value));
    ImGui::Indent(ui.px(10));
    for (std::size_t i = 0; i < scene.line.given.size(); ++i) {
        text_line({ui.fonts.mono_small, ui.theme.muted},
                  tr("because {condition} =", {{"condition", scene.line.given[i].text}}) + " ");
        ImGui::SameLine(0, 0);
        Factor plain = scene.line.given[i];
        plain.text.clear();
        factor(scene, plain, true, 1000 + static_cast<int>(i));
    }
    list_terms(scene, parts, std::to_string(number));
    ImGui::Unindent(ui.px(10));
    ImGui::PopStyleVar();
    ImGui::PopID();
    ImGui::Dummy({1, ui.px(3)});
}

void follow_link(const Ui& ui, const std::string& text, const std::string& step, const Cell& cell, int id,
                 Commands& commands) {
    const float room = ImGui::GetContentRegionAvail().x;
    if (link(ui, {ui.fonts.mono_small, ui.theme.accent}, fitted(ui.fonts.mono_small, text, room), id))
        commands.push_back(core::command::Follow{step, cell});
}

void choose_target(const Ui& ui, const core::Session& session, const Cell& cell, Commands& commands) {
    const Step& step = session.step();
    if (!core::step::can_be_target(step)) return;
    const std::string target = cell_name(step.name, cell);
    const bool on = session.fitting_scenario().gradient_target == target;
    compat::push_font(ui.fonts.caption);
    if (toggle_button(ui, labelled(tr("Gradients"), "gradients").c_str(), on,
                      tr("Compute how much each number affects this one: the backward pass, behind the forward "
                         "pass on the strip (Shift+G)")))
        commands.push_back(core::command::SetGradients{on ? std::string() : target});
    ImGui::PopFont();
}

// In the backward pass: what the numbers say, and a link to what they are the gradient with respect to.
void say_gradient(const Ui& ui, const core::Session& session, const std::optional<Cell>& cell, Commands& commands) {
    const Plan& plan = session.shown().run->plan();
    const Ref by = session.step().gradient_wrt ? &plan[*session.step().gradient_wrt] : nullptr;
    if (by == nullptr) return;
    for (const Sentence& words :
         core::step::words_on_gradient(plan, session.step(), session.shown().scenario.gradient_target))
        paragraph(ui.caption(), tr(words));
    if (!cell) return;
    follow_link(ui, tr("w.r.t. {name}", {{"name", cell_name(by->name, *cell)}}), by->name, *cell, 8102, commands);
    const Ref scores = core::step::scores_of_pattern(plan, *by);
    const Ref by_scores = scores == nullptr ? nullptr : plan.gradient_wrt(*scores);
    if (by_scores != nullptr)
        follow_link(ui, tr("w.r.t. the score: {name}", {{"name", by_scores->name}}), by_scores->name, *cell, 8103,
                    commands);
}

constexpr std::size_t kMostReaders = 8;

// A step's name at the left, cut to what the number at the right leaves; returns whether it was clicked.
bool link_with_number(const Ui& ui, const std::string& name, const std::string& number, ImU32 color, int id) {
    const float room = ImGui::GetContentRegionAvail().x - compat::text_size(ui.fonts.mono_small, number).x - ui.px(8);
    return link(ui, {ui.fonts.mono_small, color}, fitted_in_middle(ui.fonts.mono_small, name, room), id);
}

void list_reader(const Ui& ui, const Plan& plan, const decoderscope::sheet::Reader& reader, int id,
                 Commands& commands) {
    const Step& step = plan[reader.step];
    const std::string name = core::step::reader_text(plan, reader),
                      count = core::grouped(static_cast<Index>(reader.count));
    if (link_with_number(ui, name, count, ink_of(step.meaning, ui.theme), id))
        commands.push_back(core::command::Follow{step.name, reader.nearest});
    tooltip((name + "\n" + tr(core::counted_numbers(reader.count)) + "\n" +
             tr("Go to {step}", {{"step", cell_name(step.name, reader.nearest)}}))
                .c_str());
    at_right_edge(ui, {ui.fonts.mono_small, ui.theme.muted}, count);
}

// A head's keys side by side: as wide as the line, filled by weight, hatched if a mask hides the key.
void draw_keys(const Ui& ui, const core::step::HistoryRow& row) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x, height = ui.px(8);
    ImGui::Dummy({width, height + ui.px(2)});
    const float each = width / static_cast<float>(row.keys.size());
    for (std::size_t i = 0; i < row.keys.size(); ++i) {
        const float left = at.x + each * static_cast<float>(i);
        const Area box = {{left, at.y}, {left + each - ui.px(1), at.y + height}};
        const core::step::GatheredKey& key = row.keys[i];
        ImGui::GetWindowDrawList()->AddRectFilled(box.low, box.high, ui.theme.raised);
        if (key.hidden != core::hidden_by::nothing)
            draw_hatch(ui, key.hidden, box, ui.px(4));
        else
            ImGui::GetWindowDrawList()->AddRectFilled(
                box.low, box.high, with_alpha(color_of(Meaning::attention), std::clamp(key.weight, 0.0F, 1.0F)));
    }
}

void list_row(const Ui& ui, const core::step::HistoryRow& row, Meaning meaning, int id, Commands& commands) {
    const std::string numbers = short_number(row.write) + "  " + short_number(row.total);
    const std::string name = tr(core::step::name_of(row.writer));
    if (link_with_number(ui, name, numbers, ink_of(meaning, ui.theme), id))
        commands.push_back(core::command::Follow{row.step, row.cell});
    const Sentence hidden = core::step::hidden_sentence(row);
    tooltip(
        (tr("{name} writes {write}; the stream then holds {total}.",
            {{"name", name}, {"write", core::number_text(row.write, 6)}, {"total", core::number_text(row.total, 6)}}) +
         (hidden.empty() ? std::string() : "\n" + std::string(tr(hidden))))
            .c_str());
    at_right_edge(ui, ui.number(), numbers);
    if (!row.keys.empty()) draw_keys(ui, row);
}

void list_history(const Ui& ui, const core::Session& session, const core::step::History& history, Commands& commands) {
    const Plan& plan = session.shown().run->plan();
    paragraph(ui.note(),
              tr("What each part wrote into this column at this position, and the sum so far. Under a head: how much "
                 "each key weighed; hatched, the keys that the mask hides."));
    for (std::size_t i = 0; i < history.rows.size(); ++i) {
        const Ref step = plan.find(history.rows[i].step);
        list_row(ui, history.rows[i], step == nullptr ? Meaning::residual : step->meaning, 8600 + static_cast<int>(i),
                 commands);
    }
}

}  // namespace

void explain_cell(const Ui& ui, const core::Session& session, ViewState& state, Commands& commands) {
    const Step& step = session.step();
    auto& inspector = state.part<InspectorState>();
    if (inspector.opened_in != step.name) {
        inspector.opened.clear();
        inspector.opened_in = step.name;
    }
    const auto explanation = core::step::shown_terms(session.derived(), session.shown(), step, *session.cursor().cell);
    // The number's own line first, then what it is made with.
    for (std::size_t rest = explanation->lines.size(); rest > 0; --rest) {
        const std::size_t i = rest - 1;
        explained_line({ui, session, inspector, step, explanation->explanation.lines[i], commands},
                       explanation->lines[i], static_cast<int>(i));
    }
}

void inspect_gradient(const Ui& ui, const core::Session& session, ViewState&, Commands& commands) {
    const Step& step = session.step();
    const Tensor& values = session.shown().run_of(step).value(step.id);
    std::optional<Cell> cell = session.cursor().cell;
    if (cell && (values.empty() || !values.contains(*cell))) cell.reset();
    if (step.operation.traits().recorded_elsewhere) return;  // nothing leads back from it
    if (step.backward) return say_gradient(ui, session, cell, commands);
    if (!cell) return;
    choose_target(ui, session, *cell, commands);
}

void inspect_slope(const Ui& ui, const core::Session& session, Commands& commands) {
    const Step& step = session.step();
    const std::optional<Cell> cell = session.cursor().cell;
    const Tensor& values = session.shown().run_of(step).value(step.id);
    if (!cell || step.backward || step.operation.traits().recorded_elsewhere) return;
    if (values.empty() || !values.contains(*cell)) return;
    const std::optional<core::step::CellSlope> slope = core::step::slope_at(*session.shown().run, step, *cell);
    if (!slope) return;
    follow_link(ui, tr("gradient {value} →", {{"value", core::step::exact_number(slope->value)}}), slope->tensor, *cell,
                8101, commands);
    tooltip(tr("The gradient of {target} with respect to this cell: how it is computed (B)",
               {{"target", session.shown().scenario.gradient_target}})
                .c_str());
}

void list_gradients(const Ui& ui, const core::Session& session, Commands& commands) {
    const std::string& target = session.fitting_scenario().gradient_target;
    if (target.empty()) return;
    section_line(ui);
    if (link(ui, {ui.fonts.mono_small, ui.theme.accent}, "×", 8100)) commands.push_back(core::command::SetGradients{});
    tooltip(tr("Switch the gradients off"));
    ImGui::SameLine(0, ui.px(6));
    paragraph(ui.caption(), tr("gradients of {target}", {{"target", target}}));
}

void inspect_history(const Ui& ui, const core::Session& session, Commands& commands) {
    const Step& step = session.step();
    if (!core::step::is_stream(session.shown().run->plan(), step)) return;
    section_line(ui);
    text_line(ui.note(), tr("History: who wrote this number?"));
    const auto history = core::step::shown_history(session.derived(), session.shown(), step, *session.cursor().cell);
    if (!history) return text_line(ui.note(), tr("Being computed …"));
    list_history(ui, session, *history, commands);
}

void inspect_readers(const Ui& ui, const core::Session& session, Commands& commands) {
    const auto shown =
        core::step::shown_readers(session.derived(), session.shown(), session.step(), *session.cursor().cell);
    section_line(ui);
    text_line(ui.note(), tr("Read by"));
    if (!shown) return text_line(ui.note(), tr("Being computed …"));
    if (shown->readers.empty()) return text_line(ui.note(), tr("No step reads it."));
    const std::size_t listed = std::min(shown->readers.size(), kMostReaders);
    for (std::size_t i = 0; i < listed; ++i)
        list_reader(ui, session.shown().run->plan(), shown->readers[i], 8400 + static_cast<int>(i), commands);
    if (listed < shown->readers.size())
        text_line(ui.note(), tr_n("… and {count} more", "… and {count} more", shown->readers.size() - listed));
}

}  // namespace decoderscope::views::inspector
