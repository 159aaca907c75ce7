#include "app/core/compare/comparison_text.h"
#include "app/core/compare/effect_of_edits.h"
#include "app/core/run/labels.h"
#include "app/core/run/passes_of_text.h"
#include "app/core/run/settings_that_fit.h"
#include "app/core/tabs/step/explanation_text.h"
#include "app/core/text/numbers.h"
#include "app/core/text/places.h"
#include "app/views/frame/answer_view.h"
#include "app/views/tabs/compare/tab.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <cmath>

namespace decoderscope::views::compare {

namespace {

// The scale on the left, hairlines through the strip, and a line at what is too small to count.
void draw_scale(const Ui& ui, const core::ChartedDifferences& charted, Area bars, double line_at, double most) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const float line = compat::font_size(ui.fonts.mono_small);
    const auto y_of = [&](double difference) {
        return bars.high.y - bars.height() * static_cast<float>(charted.height(difference, most));
    };
    for (double difference = most; difference > 10.0 * charted.least(); difference /= charted.floor ? 10.0 : 1000.0) {
        const float y = std::floor(y_of(difference));
        const std::string text = core::diff::difference_text(difference);
        list.AddLine({bars.low.x, y}, {bars.high.x, y}, with_alpha(ui.theme.line, 0.6F));
        draw_text(ui, {ui.fonts.mono_small, ui.theme.muted},
                  {bars.low.x - ui.px(6) - compat::text_size(ui.fonts.mono_small, text).x, y - line * 0.5F}, text);
    }
    list.AddLine({bars.low.x, bars.high.y}, {bars.high.x, bars.high.y}, ui.theme.line);
    if (line_at <= 0.0) return;
    const float y = std::floor(y_of(line_at));
    for (float x = bars.low.x; x < bars.high.x; x += ui.px(8))
        list.AddLine({x, y}, {std::min(x + ui.px(4), bars.high.x), y}, ui.theme.accent);
}

void draw_mark(const Ui& ui, const core::ChartedDifferences& charted, const core::TensorDifference& d, ImU32 color,
               float x, float width, Area bars, double most) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    if (d.presence != core::Presence::in_both) {  // a ring: there is nothing to measure
        const float r = std::clamp(width * 0.4F, ui.px(1.5F), ui.px(3));
        list.AddCircle({x + width * 0.5F, bars.high.y - r - ui.px(2)}, r, ui.theme.warning, 12, ui.px(1));
        return;
    }
    const float height = bars.height() * static_cast<float>(charted.height(charted.of(d), most));
    if (height <= 0.0F) {
        list.AddRectFilled({x, bars.high.y - ui.px(2)}, {x + width, bars.high.y}, with_alpha(color, 0.35F));
        return;
    }
    list.AddRectFilled({x, bars.high.y - height}, {x + width, bars.high.y},
                       d.over > 0 ? color : with_alpha(color, 0.45F), width > ui.px(5) ? ui.px(1.5F) : 0.0F);
    if (std::isinf(charted.of(d)))
        list.AddRectFilled({x, bars.low.y}, {x + width, bars.low.y + ui.px(4)}, ui.theme.error);
}

// Marks the current step.
void draw_here(const Ui& ui, Area column) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddRectFilled(column.low, column.high, ui.theme.accent_soft);
    const float middle = (column.low.x + column.high.x) * 0.5F, tip = column.low.y - ui.px(2);
    list.AddTriangleFilled({middle, tip}, {middle + ui.px(4), tip - ui.px(6)}, {middle - ui.px(4), tip - ui.px(6)},
                           ui.theme.text);
}

void draw_block_names(const Ui& ui, const Plan& plan, const core::Comparison& comparison, std::size_t count, Area bars,
                      float pitch, float bottom) {
    std::string block;
    std::size_t begin = 0;
    const auto name = [&](std::size_t end) {
        if (block.empty()) return;
        const float x = bars.low.x + pitch * static_cast<float>(begin);
        ImGui::GetWindowDrawList()->AddLine({std::floor(x), bars.low.y}, {std::floor(x), bottom}, ui.theme.line);
        // In full, or its number; nothing rather than a part of either.
        const std::array<std::string, 3> said = {block, block.substr(block.rfind('.') + 1), std::string()};
        const float room = pitch * static_cast<float>(end - begin) - ui.px(5);
        const auto fits = [&](const std::string& text) { return compat::text_size(ui.fonts.caption, text).x <= room; };
        draw_text(ui, ui.note(), {x + ui.px(4), bars.high.y + ui.px(2)}, *std::ranges::find_if(said, fits));
    };
    for (std::size_t i = 0; i <= count; ++i) {
        const Ref step = i < count ? plan.find(comparison.tensors[i].name) : nullptr;
        const std::string next = step != nullptr ? step->block : std::string();
        if (i < count && next == block) continue;
        name(i);
        block = next;
        begin = i;
    }
}

void mark_tooltip(const Ui& ui, const core::TensorDifference& d) {
    if (!compat::begin_tooltip()) return;
    text_line(ui.number(), d.name);
    const std::string text =
        d.presence != core::Presence::in_both ? core::diff::presence_text(d, "A", "B")
        : d.largest == 0.0
            ? core::diff::equality_text(d, true)
            : tr("max |A − B| {difference}   ·   {over} of {count} cells over",
                 {{"difference", core::diff::difference_text(d.largest)}, {"over", d.over}, {"count", d.count}});
    text_line(ui.note(), text);
    ImGui::EndTooltip();
}

// If B has other weights, these are listed, too.
void choose_part(const Ui& ui, CompareTabState& tab) {
    const bool weights = tab.part == core::diff::Listed::weights;
    ImGui::SameLine(0, ui.px(28));
    if (link(ui, {ui.fonts.caption, weights ? ui.theme.muted : ui.theme.text}, tr("steps"), 7103))
        tab.part = core::diff::Listed::steps;
    tooltip(tr("List what both runs computed"));
    ImGui::SameLine(0, ui.px(16));
    if (link(ui, {ui.fonts.caption, weights ? ui.theme.text : ui.theme.muted}, tr("weights"), 7104))
        tab.part = core::diff::Listed::weights;
    tooltip(tr("List how far each weight of A is from B's, relative to its scale"));
}

// In which order it is, and of what.
void choose_order(const Ui& ui, CompareTabState& tab, ImVec2 at) {
    ImGui::SetCursorScreenPos(at);
    const bool in_order = tab.in_order;
    if (link(ui, {ui.fonts.caption, in_order ? ui.theme.muted : ui.theme.text}, tr("worst first"), 7101))
        tab.in_order = false;
    tooltip(tr("List the steps by their largest difference"));
    ImGui::SameLine(0, ui.px(16));
    if (link(ui, {ui.fonts.caption, in_order ? ui.theme.text : ui.theme.muted}, tr("in order"), 7102))
        tab.in_order = true;
    tooltip(tr("List the steps in the order of computation"));
    if (tab.of_two_models()) choose_part(ui, tab);
    // The chosen one is underlined.
    const float first = compat::text_size(ui.fonts.caption, tr("worst first")).x,
                second = compat::text_size(ui.fonts.caption, tr("in order")).x;
    const float x = in_order ? at.x + first + ui.px(16) : at.x,
                line = at.y + compat::font_size(ui.fonts.caption) + ui.px(1);
    ImGui::GetWindowDrawList()->AddLine({x, line}, {x + (in_order ? second : first), line}, ui.theme.accent,
                                        ui.px(1.5F));
}

void row_tooltip(const Ui& ui, const core::TensorDifference& d, const Step* step) {
    if (!compat::begin_tooltip()) return;
    text_line(ui.number(), d.name);
    if (step != nullptr)
        text_line(ui.note(), std::string(step->operation.about().name) + "   " + axes_text(step->axes) + " " +
                                 shape_text(step->axes));
    if (d.presence != core::Presence::in_both) {
        text_line({ui.fonts.caption, ui.theme.warning}, core::diff::presence_text(d, "A", "B"));
    } else if (d.largest == 0.0) {
        text_line(ui.note(), core::diff::equality_text(d, true));
    } else {
        text_line(ui.note(), tr("largest at {cell}", {{"cell", cell_name("", d.cell)}}));
        text_line(ui.number(), "A      " + core::step::exact_number(d.a));
        text_line(ui.number(), "B      " + core::step::exact_number(d.b));
        text_line(ui.number(), "|A−B|  " + core::diff::difference_text(d.largest));
    }
    ImGui::EndTooltip();
}

// One mark per step, in order; its height is the logarithm of the step's largest difference.
void draw_strip(const Ui& ui, const core::Session& session, const CompareTabState& tab, Area area, Commands& commands) {
    const core::Comparison& comparison = tab.drawn.answer()->comparison;
    const core::ChartedDifferences charted = tab.charted();
    const Plan& plan = tab.drawn.question().run->plan();
    // The steps of the comparison that this run has. Only these are on the strip.
    const auto count = static_cast<std::size_t>(std::ranges::count_if(
        comparison.tensors, [](const auto& d) { return d.presence != core::Presence::only_in_b; }));
    const Area bars = {{area.low.x + ui.px(44), area.low.y + ui.px(8)}, {area.high.x, area.high.y - ui.px(18)}};
    const double most = charted.most(comparison);
    draw_scale(ui, charted, bars, charted.floor.value_or(comparison.tolerance), most);
    if (count == 0) return;
    const float pitch = bars.width() / static_cast<float>(count);
    const float gap = pitch > ui.px(4) ? ui.px(1) : 0.0F;
    draw_block_names(ui, plan, comparison, count, bars, pitch, area.high.y);
    for (std::size_t i = 0; i < count; ++i) {
        const core::TensorDifference& d = comparison.tensors[i];
        const Ref step = plan.find(d.name);
        const float x = bars.low.x + pitch * static_cast<float>(i);
        if (d.name == session.step().name) draw_here(ui, {{x, bars.low.y}, {x + pitch, bars.high.y}});
        draw_mark(ui, charted, d, step != nullptr ? color_of(step->meaning) : ui.theme.muted, x,
                  std::max(pitch - gap, 1.0F), bars, most);
    }
    click_at("diff-strip", {bars.low, {bars.high.x, area.high.y}});
    const float part = std::clamp((ImGui::GetIO().MousePos.x - bars.low.x) / bars.width(), 0.0F, 0.99999F);
    const core::TensorDifference& under =
        comparison.tensors[static_cast<std::size_t>(part * static_cast<float>(count))];
    if (ImGui::IsItemHovered() || ImGui::IsItemActive()) mark_tooltip(ui, under);
    const bool is_asked = ImGui::IsItemActive() && under.name != session.step().name;
    if (is_asked && session.shown().run->plan().find(under.name) != nullptr)  // not if only stacked here
        commands.push_back(core::command::GoTo{under.name});
}

// The steps with their measures, worst first or in order.
void draw_list(const Ui& ui, const core::Session& session, CompareTabState& tab, Area area, Commands& commands) {
    const core::diff::ShownComparison& shown = *tab.drawn.answer();
    const auto& tensors = shown.comparison.tensors;
    const Plan& plan = tab.drawn.question().run->plan();
    const auto table =
        core::diff::shown_list(session.derived(), tab.drawn.question().run, tab.drawn.answer(), tab.in_order);
    const std::string& here = session.step().name;
    const float line = table_line(ui);
    const auto tensor = [&](std::size_t row) -> const core::TensorDifference& {
        return tensors[tab.in_order ? row : shown.worst_first[row]];
    };
    const auto follow = [&](float height) {
        // In order, the list follows the current step; worst first, it stays at the worst.
        const std::string where = tab.in_order ? here : "worst " + std::to_string(tab.drawn.answer().number());
        if (where == tab.listed_step) return;
        tab.listed_step = where;
        if (!tab.in_order) return ImGui::SetScrollY(0.0F);
        const auto found = std::ranges::find(table->rows, here, &core::TableRow::step);
        const float top = static_cast<float>(found - table->rows.begin()) * line, scroll = ImGui::GetScrollY();
        if (found != table->rows.end() && (top < scroll || top + line > scroll + height))
            ImGui::SetScrollY(std::max(0.0F, top - height * 0.5F));
    };
    const TableUse use = {.here = here,
                          .tip = [&](std::size_t row) { row_tooltip(ui, tensor(row), plan.find(tensor(row).name)); },
                          .scroll = follow};
    const TableGesture gesture = draw_table(ui, "diff-list", *table, area, use);
    if (gesture.row) go_to_largest(session, tensor(*gesture.row), commands);
    choose_order(ui, tab, area.low);
}

// ---- if there is nothing to list

void draw_nothing_differs(const Ui& ui, const core::Session& session, ViewState& state, Area area) {
    CompareTabState& tab = state.part<CompareTabState>();
    const core::Comparison& comparison = tab.drawn.answer()->comparison;
    std::string text = tr("{measured}.", {{"measured", core::diff::measured_text(comparison)}});
    const bool no_edits = tab.against == Against::unedited && !core::is_edited(session.shown().scenario);
    if (no_edits)
        text += std::string("\n\n") + tr("There are no edits yet, so both runs are the same. Paint a mask cell, switch "
                                         "a head off or overwrite a number, and this page shows what it affects.");
    const ImVec2 next = draw_empty_page(ui, area, core::diff::verdict_of(comparison), text, ui.theme.muted);
    if (!no_edits || !session.shown().scenario.computes()) return;
    ImGui::SetCursorScreenPos(next);
    if (const Overrides& set = session.shown().scenario.overrides(); !set.empty()) {
        const auto& [key, value] = set.back();
        if (link(ui, {ui.fonts.text, ui.theme.accent},
                 tr("What did {key} = {value} change? →", {{"key", key}, {"value", value}}), 7002)) {
            tab.against = Against::configuration;
            tab.option = {key, core::own_value(session.shown().scenario, key)};
        }
        return;
    }
    const bool norm_first = session.shown().scenario.config().norm_first;
    if (link(ui, {ui.fonts.text, ui.theme.accent},
             norm_first ? tr("What would Post-Norm change? →") : tr("What would Pre-Norm change? →"), 7002)) {
        tab.against = Against::configuration;
        tab.option = core::flipped_norm(session.shown().scenario);
    }
}

// ---- the verdict

// What the strip's bars are; of another model's run, what the step to this one did to the predictions.
std::string diff_caption(const core::Session& session, const CompareTabState& tab) {
    const core::diff::ShownComparison& drawn = *tab.drawn.answer();
    if (const core::ChartedDifferences charted = tab.charted(); charted.floor)
        return tr("|A − B| of each step, relative to its largest number; dashed: one rounding to {type}, {floor}",
                  {{"type", name_of(charted.type)}, {"floor", core::diff::difference_text(*charted.floor)}});
    if (!tab.of_two_models()) return tr("largest |A − B| of each step");
    const core::Side& a = tab.drawn.question();
    const auto cost = core::diff::shown_output_moves(session.derived(), a.scenario, drawn.reference.run, a.run);
    return cost && !cost->output.empty()
               ? tr("from B to A: {moves}", {{"moves", core::moves_sentence(a.scenario, *cost, core::Mood::happened)}})
               : std::string(tab.part == core::diff::Listed::weights ? tr("largest |A − B| of each weight")
                                                                     : tr("largest |A − B| of each step"));
}

// The text of the link to the first step that differs; empty if none does.
std::string first_link(const core::Comparison& comparison) {
    const Sentence first = core::diff::first_difference(comparison);
    return first.empty() ? "" : tr(first) + std::string(" →");
}

constexpr float kVerdictLine = 21.0F;

// Whether the strip's caption has room beside that link.
bool is_beside(const Ui& ui, const std::string& link, const std::string& caption, float width) {
    return compat::text_size(ui.fonts.caption, link).x + ui.px(24) + compat::text_size(ui.fonts.caption, caption).x <=
           width;
}

float verdict_height(const Ui& ui, const core::Session& session, const CompareTabState& tab, float width) {
    const std::string first = first_link(tab.drawn.answer()->comparison);
    return ui.px(is_beside(ui, first, diff_caption(session, tab), width) ? kVerdictLine * 2 : kVerdictLine * 3);
}

void draw_verdict(const Ui& ui, const core::Session& session, const CompareTabState& tab, Area area,
                  Commands& commands) {
    const core::Comparison& comparison = tab.drawn.answer()->comparison;
    draw_text(ui, ui.body(), area.low, core::diff::verdict_of(comparison), area.width());
    const std::string first = first_link(comparison), caption = diff_caption(session, tab);
    const bool beside = is_beside(ui, first, caption, area.width());
    const float y = area.low.y + ui.px(kVerdictLine) + ui.px(3);
    draw_text(ui, ui.note(), {area.low.x, beside ? y : y + ui.px(kVerdictLine) - ui.px(2)},
              fitted(ui.fonts.caption, caption, area.width()));
    if (first.empty()) return;
    const std::string shown = fitted(ui.fonts.caption, first, area.width());
    ImGui::SetCursorScreenPos({beside ? area.high.x - compat::text_size(ui.fonts.caption, shown).x : area.low.x, y});
    if (link(ui, {ui.fonts.caption, ui.theme.accent}, shown, 7001))
        go_to_largest(session, comparison.tensors[*comparison.first], commands);
    tooltip(tr("Go to the first step that differs by more than the tolerance, where it differs most"));
}

// What the pictures of a step need with the lines above them, at a scale of 1.
constexpr float kLeastBelowList = 290.0F;

// The height of the list of steps: a share of the room, as the pictures are more important. 0 where it would leave them
// less than they need: then it is folded. Not for two models, because weights or steps are chosen in it.
float list_height(const Ui& ui, const CompareTabState& tab, float room) {
    const float height = std::clamp(room * 0.34F, ui.px(88), ui.px(320));
    return !tab.of_two_models() && room - height < ui.px(kLeastBelowList) ? 0.0F : height;
}

// Keys of the three textures and widgets; other views use a step's number.
const std::uint64_t kKeys = heatmap_key("diff");

// ---- the line above the pictures: the step, and which slice of it is shown

Index size_along(const Step& step, std::string_view name) {
    for (std::size_t i = 0; i + 2 < step.axes.size(); ++i)
        if (step.axes[i].name == name) return step.axes[i].size;
    return 1;
}

// Returns the right end of the room for the line's text.
float draw_steppers(const Ui& ui, const core::Session& session, bool of_norms, Area line, Commands& commands) {
    const Step& step = session.step();
    const core::Place place = session.cursor().place;
    float right = line.high.x;
    const auto moved = [&](const char* name, Index value, Index count) {
        if (count < 2) return 0;
        right -= counter_width(ui, name, value, count);
        ImGui::SetCursorScreenPos({right, line.low.y});
        const int by = counter(ui, name, value, count);
        right -= ui.px(12);
        return by;
    };
    const Index heads = size_along(step, axis::head) > 1 ? session.shown().scenario.query_heads() : 1;
    if (const int by = moved(tr("head"), place.head, heads); by != 0)
        commands.push_back(core::command::ChooseHead{place.head + by});
    if (const int by = moved(tr("batch"), place.batch, size_along(step, axis::batch)); by != 0)
        commands.push_back(core::command::ChooseBatch{place.batch + by});
    if (const Index block = core::block_number(step); of_norms && block >= 0) {
        const Config& config = session.shown().scenario.config();  // which a recording doesn't have
        const Index layers = step.stack == StackKind::decoder ? config.num_layers : config.encoder_layers;
        if (const int by = moved(tr("layer"), block, layers); by != 0) commands.push_back(core::command::MoveLayer{by});
    }
    return right;
}

// The list folded to a field of this width that opens it, without a label.
void choose_step(const Ui& ui, const core::Session& session, const CompareTabState& tab, float width,
                 Commands& commands) {
    ImGui::SetNextItemWidth(width);
    const std::string& here = session.step().name;
    if (!begin_list("##diff-step", fitted_in_middle(ImGui::GetFont(), here, width - ui.px(34)).c_str(),
                    ImGuiComboFlags_HeightLarge)) {
        tooltip(tr("All steps, starting with the one that differs most"));
        return;
    }
    const core::diff::ShownComparison& shown = *tab.drawn.answer();
    for (const std::size_t at : shown.worst_first) {
        const core::TensorDifference& d = shown.comparison.tensors[at];
        const std::string text = d.presence != core::Presence::in_both ? core::diff::presence_text(d, "A", "B")
                                 : d.largest == 0.0                    ? core::diff::equality_text(d, false)
                                                                       : core::diff::difference_text(d.largest);
        if (press_row(labelled(d.name + "   " + text, d.name).c_str(), d.name == here))
            go_to_largest(session, d, commands);
    }
    ImGui::EndCombo();
}

// The name that opens the list of all steps if that is folded. Returns where it ends.
float open_folded_list(const Ui& ui, const core::Session& session, const CompareTabState& tab, Area line, float right,
                       Commands& commands) {
    const float width = std::min(ui.px(280), right - line.low.x);
    ImGui::SetCursorScreenPos(line.low);
    choose_step(ui, session, tab, width, commands);
    return line.low.x + width;
}

// The step's name, which opens the list of all if that is folded. Returns where it ends.
float draw_step_name(const Ui& ui, const core::Session& session, const CompareTabState& tab, const std::string& name,
                     Area line, float right, bool folded, Commands& commands) {
    if (!folded) {
        const float y = line.low.y + (ImGui::GetFrameHeight() - compat::font_size(ui.fonts.mono_small)) * 0.5F;
        return line.low.x + draw_text(ui, ui.number(), {line.low.x, y}, name, right - line.low.x);
    }
    return open_folded_list(ui, session, tab, line, right, commands);
}

void draw_step_line(const Ui& ui, const core::Session& session, const CompareTabState& tab,
                    const core::TensorDifference& d, Area line, bool folded, Commands& commands) {
    const float right = draw_steppers(ui, session, tab.against == Against::norms, line, commands);
    const float y = line.low.y + (ImGui::GetFrameHeight() - compat::font_size(ui.fonts.mono_small)) * 0.5F;
    const float x = draw_step_name(ui, session, tab, d.name, line, right, folded, commands) + ui.px(16);
    if (d.presence != core::Presence::in_both) return;
    if (d.largest == 0.0) {
        draw_text(ui, ui.note(), {x, y}, core::diff::equality_text(d, true), right - x);
        return;
    }
    const std::string lead = tr("max {difference} at", {{"difference", core::diff::difference_text(d.largest)}}) + " ",
                      text = cell_name("", d.cell) + " →";
    const float lead_width = compat::text_size(ui.fonts.caption, lead).x;
    if (lead_width + compat::text_size(ui.fonts.caption, text).x > right - x) return;
    draw_text(ui, ui.note(), {x, y}, lead);
    ImGui::SetCursorScreenPos({x + lead_width, y});
    if (link(ui, {ui.fonts.caption, ui.theme.accent}, text, 7201))
        commands.push_back(core::command::Follow{d.name, d.cell});
    tooltip(tr("Go to the cell with the largest difference and what it was computed from"));
}

// ---- by position

void say_position(const Ui& ui, const core::diff::DifferenceByPosition::At& at, std::size_t position) {
    if (!compat::begin_tooltip()) return;
    text_line(ui.body(), tr("position {position} “{token}”", {{"position", position}, {"token", at.token}}));
    text_line(ui.note(), at.largest == 0.0 ? tr(at.both_nan ? message("NaN in A and B") : message("equal in A and B"))
                                           : tr("max |A − B| {difference} at {cell}",
                                                {{"difference", core::diff::difference_text(at.largest)},
                                                 {"cell", cell_name("", at.cell)}}));
    ImGui::EndTooltip();
}

// A bar per position of the step's sequence, as high as its largest difference, over its token; a click selects the
// cell where that is. Returns the height used: 0 if the step doesn't run over a sequence.
float draw_by_position(const Ui& ui, const core::Session& session, const CompareTabState& tab, Area area,
                       Commands& commands) {
    const core::Side& a = tab.drawn.question();
    const Step& step = *a.run->plan().find(session.step().name);
    const auto shown = core::diff::shown_by_position(session.derived(), a.scenario, tab.drawn.answer(), step,
                                                     session.cursor().place.batch);
    const auto& positions = shown->positions;
    if (positions.empty()) return 0.0F;
    const float line = compat::font_size(ui.fonts.caption), bars = ui.px(18), left = ui.px(88);
    const float pitch = std::min((area.width() - left) / static_cast<float>(positions.size()), ui.px(44));
    draw_text(ui, ui.note(), {area.low.x, area.low.y + bars - line}, tr("by position"), left - ui.px(6));
    ImDrawList& list = *ImGui::GetWindowDrawList();
    double top = 0.0;
    for (const core::diff::DifferenceByPosition::At& at : positions)
        if (std::isfinite(at.largest)) top = std::max(top, at.largest);
    for (std::size_t i = 0; i < positions.size(); ++i) {
        const core::diff::DifferenceByPosition::At& at = positions[i];
        const float x = area.low.x + left + pitch * static_cast<float>(i);
        const double share = !std::isfinite(at.largest) ? 1.0 : top > 0.0 ? at.largest / top : 0.0;
        const float height = std::max(bars * static_cast<float>(share), ui.px(1));
        const Area bar = {{x, area.low.y}, {x + pitch, area.low.y + bars + line + ui.px(2)}};
        const bool clicked = press_at("position", bar, static_cast<Index>(i));
        const bool hovered = ImGui::IsItemHovered();
        list.AddRectFilled({x, area.low.y + bars - height}, {x + std::max(pitch - ui.px(2), 1.0F), area.low.y + bars},
                           at.largest > 0.0 ? color_of(step.meaning)
                           : at.both_nan    ? ui.theme.error
                                            : ui.theme.line);
        if (pitch > ui.px(14))
            draw_text(ui, {ui.fonts.caption, hovered ? ui.theme.text : ui.theme.muted},
                      {x, area.low.y + bars + ui.px(1)}, at.token, pitch - ui.px(2));
        if (hovered) say_position(ui, at, i);
        if (clicked && !at.cell.empty()) {
            const core::Place now = session.cursor().place;
            const Index head = core::place_of(step, at.cell, now, a.scenario.query_heads()).head;
            if (head != now.head) commands.push_back(core::command::ChooseHead{head});
            commands.push_back(core::command::SelectCell{at.cell});
        }
    }
    return bars + line + ui.px(8);
}

// ---- the pictures

void cell_tooltip(const Ui& ui, const Step& step, const core::DifferencePictures& p, const Cell& cell, Spot spot) {
    if (!compat::begin_tooltip()) return;
    const auto value = [&](const core::Heatmap& h) { return h.at(spot.first, spot.second); };
    text_line({ui.fonts.mono_small, ui.theme.muted}, cell_name(step.name, cell));
    text_line(ui.number(), "A      " + core::step::exact_number(value(p.a)));
    text_line(ui.number(), "B      " + core::step::exact_number(value(p.b)));
    const auto at = static_cast<std::size_t>(spot.first * p.a.columns + spot.second);
    const bool over = p.over.empty() || p.over[at] != 0;
    text_line({ui.fonts.mono_small, over ? ui.theme.text : ui.theme.muted},
              "A − B  " + core::step::exact_number(value(p.difference)));
    const auto place = [&](const std::string& axis, const std::string& label, Index index) {
        if (axis.empty()) return;
        text_line(ui.note(), core::spoken_place(axis, index, label));
    };
    place(p.a.row_axis, p.a.row_labels[static_cast<std::size_t>(spot.first)], spot.first);
    place(p.a.column_axis, p.a.column_labels[static_cast<std::size_t>(spot.second)], spot.second);
    for (const auto& [side, h] : {std::pair{"A: ", &p.a}, std::pair{"B: ", &p.b}}) {
        if (!h->hidden.empty() && h->hidden[at] != core::hidden_by::nothing)
            text_line({ui.fonts.caption, ui.theme.warning}, side + core::hidden_text(h->hidden[at]));
    }
    ImGui::EndTooltip();
}

void draw_three(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands) {
    CompareTabState& tab = state.part<CompareTabState>();
    const core::Side& a = tab.drawn.question();
    const Step& step = *a.run->plan().find(session.step().name);
    const auto pictures =
        core::diff::shown_difference(session.derived(), a, tab.drawn.answer(), step, session.cursor().place);
    const core::Slice slice = core::slice_of(step, session.cursor().place, a.scenario.query_heads());
    const std::array<const core::Heatmap*, 3> heatmaps = {&pictures->a, &pictures->b, &pictures->difference};
    const Matrices matrices = {.heatmaps = heatmaps,
                               .key = kKeys,
                               .version = pictures.number(),
                               .color = color_of(step.meaning),
                               .stale = session.stale() && !tab.drawn.stale(),
                               .selected = session.cursor().cell ? slice.find(*session.cursor().cell) : std::nullopt,
                               .marked = &pictures->over};
    const MatricesGesture gesture =
        draw_matrices(ui, matrices, state, areas_of_three(ui, pictures->a, area), tab.hovered);
    if (gesture.clicked)
        commands.push_back(core::command::SelectCell{slice.cell(gesture.clicked->first, gesture.clicked->second)});
    if (const std::optional<Spot>& spot = tab.hovered) {
        const Cell cell = slice.cell(spot->first, spot->second);
        state.hovered = {step.name, cell};
        place_cell_tooltip(ui, gesture.pointed, 7, gesture.cells);
        cell_tooltip(ui, step, *pictures, cell, *spot);
    }
}

void draw_note(const Ui& ui, Area area, const std::string& text) {
    draw_text(ui, ui.note(), area.low, text, area.width());
}

// The current step, as A has it: where it differs by position, then A, B and A − B. `folded`: its name opens the list.
void draw_pictures(const Ui& ui, const core::Session& session, ViewState& state, Area area, bool folded,
                   Commands& commands) {
    const CompareTabState& tab = state.part<CompareTabState>();
    const std::string& name = session.step().name;
    const std::vector<core::TensorDifference>& all = tab.drawn.answer()->comparison.tensors;
    const auto found = std::ranges::find(all, name, &core::TensorDifference::name);
    const core::TensorDifference* d = found == all.end() ? nullptr : &*found;
    const Area line = {area.low, {area.high.x, area.low.y + ImGui::GetFrameHeight()}};
    Area below = {{area.low.x, line.high.y + ui.px(8)}, area.high};
    ImGui::GetWindowDrawList()->AddLine({area.low.x, area.low.y - ui.px(4)}, {area.high.x, area.low.y - ui.px(4)},
                                        ui.theme.line);
    if (d == nullptr) {
        if (folded) open_folded_list(ui, session, tab, line, line.high.x, commands);
        draw_note(ui, folded ? below : line,
                  tab.part == core::diff::Listed::weights
                      ? tr("Choose a weight above.")
                      : tr("{name} is not part of a trace. Choose a step above.", {{"name", name}}));
        return;
    }
    draw_step_line(ui, session, tab, *d, line, folded, commands);
    if (d->presence != core::Presence::in_both || tab.drawn.question().run->plan().find(name) == nullptr) {
        draw_note(ui, below,
                  tr("Nothing to subtract: {presence}.", {{"presence", core::diff::presence_text(*d, "A", "B")}}));
        return;
    }
    below.low.y += draw_by_position(ui, session, tab, below, commands);
    draw_three(ui, session, state, below, commands);
}

}  // namespace

void draw_comparison(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands) {
    CompareTabState& tab = state.part<CompareTabState>();
    const core::Comparison& comparison = tab.drawn.answer()->comparison;
    if (!comparison.differs() && comparison.largest == 0.0) return draw_nothing_differs(ui, session, state, area);
    Rows rows = {area};
    draw_verdict(ui, session, tab, rows.next(verdict_height(ui, session, tab, area.width())), commands);
    draw_strip(ui, session, tab, rows.next(std::max(ui.px(60), area.height() * 0.13F), ui.px(6)), commands);
    const float list = list_height(ui, tab, rows.rest.height());
    if (list > 0.0F) draw_list(ui, session, tab, rows.next(list, ui.px(10)), commands);
    draw_pictures(ui, session, state, rows.rest, list == 0.0F, commands);
}

}  // namespace decoderscope::views::compare
