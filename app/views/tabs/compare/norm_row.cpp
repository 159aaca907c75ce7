#include "app/core/figure/heatmap.h"
#include "app/core/run/labels.h"
#include "app/core/text/numbers.h"
#include "app/views/frame/place_choices.h"
#include "app/views/tabs/compare/tab.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <cmath>

namespace decoderscope::views::compare {

namespace {

// A row of numbers as a strip of upright bars from zero, with its mean as a line and its spread as a band.
struct NumberStrip {
    const char* id;
    const std::vector<float>& values;
    core::Range range;                                 // what the strip spans, from bottom to top
    double mean = 0.0, centre = 0.0, deviation = 0.0;  // the band is around the centre
    ImU32 color = 0;
};

// Draws the strip, one bar per number. If there are more numbers than pixels, each pixel shows the range of its
// numbers.
void draw_number_strip(const Ui& ui, const NumberStrip& strip, Area area) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const auto n = static_cast<float>(strip.values.size());
    const auto y = [&](double value) {
        const double place =
            (value - static_cast<double>(strip.range.low)) / static_cast<double>(strip.range.high - strip.range.low);
        return area.high.y - static_cast<float>(std::clamp(place, 0.0, 1.0)) * area.height();
    };
    if (strip.deviation > 0.0)
        list.AddRectFilled({area.low.x, y(strip.centre + strip.deviation)},
                           {area.high.x, y(strip.centre - strip.deviation)}, with_alpha(strip.color, 0.16F));
    const float bar = std::max(area.width() / n, 1.0F);
    const float space = bar >= 3.0F * ui.fonts.scale ? ui.px(1) : 0.0F;
    const auto bars = static_cast<std::size_t>(std::min(n, area.width()));
    for (std::size_t i = 0; i < bars; ++i) {
        const std::size_t first = i * strip.values.size() / bars,
                          last = std::max(first + 1, (i + 1) * strip.values.size() / bars);
        float least = 0.0F, most = 0.0F;
        for (std::size_t v = first; v < last; ++v) {
            least = std::min(least, strip.values[v]);
            most = std::max(most, strip.values[v]);
        }
        const float x = area.low.x + static_cast<float>(i) * bar;
        list.AddRectFilled(
            {x, y(static_cast<double>(most))},
            {x + bar - space, std::max(y(static_cast<double>(least)), y(static_cast<double>(most)) + 1.0F)},
            strip.color);
    }
    for (const double edge : {strip.centre - strip.deviation, strip.centre + strip.deviation})
        if (strip.deviation > 0.0)
            list.AddLine({area.low.x, y(edge)}, {area.high.x, y(edge)}, with_alpha(ui.theme.text, 0.35F));
    list.AddLine({area.low.x, y(0.0)}, {area.high.x, y(0.0)}, ui.theme.line);
    const float mean = std::floor(y(strip.mean)) + 0.5F;
    if (std::isfinite(strip.mean)) list.AddLine({area.low.x, mean}, {area.high.x, mean}, ui.theme.text, ui.px(1.25F));
    compat::add_rect(list, area.low, area.high, ui.theme.line);
}

// The number under the mouse, if any. `clicked` tells whether it was clicked.
std::optional<Index> column_under_mouse(const NumberStrip& strip, Area area, bool& clicked) {
    clicked = click_at(strip.id, area);
    if (!ImGui::IsItemHovered()) return std::nullopt;
    const auto n = static_cast<Index>(strip.values.size());
    const float part = (ImGui::GetIO().MousePos.x - area.low.x) / area.width();
    return std::clamp<Index>(static_cast<Index>(part * static_cast<float>(n)), 0, n - 1);
}

// ---- which norm, which row

std::string last_part(const std::string& name) { return name.substr(name.rfind('.') + 1); }

// To a norm's output, in the run that has it.
void go_to_norm(const core::Session& session, CompareTabState& tab, const Scene& scene, const std::string& norm,
                Commands& commands) {
    for (const core::Side* run : {&scene.runs.left, &scene.runs.right})
        if (const Ref step = run->run->plan().step_of(norm, NormStep::normalized))
            return go_to_step(session, tab, scene, step->name, commands);
}

void draw_choice_of_row(const Ui& ui, const core::Session& session, CompareTabState& tab, const Scene& scene,
                        const std::string& norm, Area area, Commands& commands) {
    ImGui::SetCursorScreenPos({area.low.x, area.low.y - ui.px(4)});
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(ui.px(6), ui.px(3)));
    ImGui::BeginGroup();
    for (const std::string& name : norms_here(scene)) {
        if (toggle_button(ui, last_part(name).c_str(), name == norm,
                          tr("{tensor}\nClick to go there", {{"tensor", name}}).c_str()))
            go_to_norm(session, tab, scene, name, commands);
        ImGui::SameLine(0, ui.px(2));
    }
    ImGui::SameLine(0, ui.px(10));
    choose_batch(ui, session, commands);
    ImGui::SameLine(0, ui.px(6));
    const auto in = [&](const core::Side& run) { return run.run->plan().step_of(norm, NormStep::normalized); };
    const Ref normalized = in(scene.runs.left) != nullptr ? in(scene.runs.left) : in(scene.runs.right);
    const Index rows = normalized == nullptr ? 0 : normalized->axes[1].size;
    tab.row += counter(ui, tr("row"), tab.row, rows);
    tab.row = std::clamp<Index>(tab.row, 0, std::max<Index>(rows - 1, 0));
    ImGui::EndGroup();
    ImGui::PopStyleVar();
}

// ---- the tooltip of a column

void column_tooltip(const Ui& ui, const core::norms::NormRow& row, Index column) {
    if (!compat::begin_tooltip()) return;
    const auto d = static_cast<std::size_t>(column);
    text_line(ui.note(), "d_model " + std::to_string(column));
    const auto number = [&](double value, const std::string& label) {
        text_line(ui.number(), short_number(value));
        ImGui::SameLine(ui.px(80));
        text_line(ui.note(), label);
    };
    number(static_cast<double>(row.before[d]), row.before_step);
    number(static_cast<double>(row.unit[d]), row.centred ? tr("(x − mean) ÷ scale") : tr("x ÷ scale"));
    if (!row.gain_parameter.empty())
        number(static_cast<double>(row.gain[d]), tr("gain, {parameter}", {{"parameter", row.gain_parameter}}));
    if (!row.shift.empty())
        number(static_cast<double>(row.shift[d]), tr("shift, {parameter}", {{"parameter", row.shift_parameter}}));
    number(static_cast<double>(row.after[d]), row.after_step);
    ImGui::EndTooltip();
}

// ---- the numbers

std::string span_text(const std::vector<float>& values) {
    if (values.empty()) return tr("none");
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    const std::string low = core::short_number_text(static_cast<double>(*least), 3),
                      high = core::short_number_text(static_cast<double>(*most), 3);
    return low == high ? tr("all {number}", {{"number", low}}) : low + " … " + high;
}

// The parameter that a click on a fact goes to.
enum class Leads { nowhere, gain, shift };

struct Fact {
    Phrase label;
    Phrase uncentred_label;  // under RMSNorm
    Phrase tip;
    std::string (*text)(const core::norms::NormRow&);
    Leads leads = Leads::nowhere;
};

std::string four(double value) { return core::short_number_text(value, 4); }

constexpr std::array kFacts = {
    Fact{message("mean"), message("mean"),
         message("The mean of the incoming row. LayerNorm subtracts it; RMSNorm doesn't."),
         [](const core::norms::NormRow& r) { return four(r.mean); }},
    Fact{message("variance"), message("mean square"),
         message("The mean square of the distance from the mean (RMSNorm: from zero), over n; over n − 1 under "
                 "layernorm_std"),
         [](const core::norms::NormRow& r) { return four(r.variance); }},
    Fact{message("scale"), message("scale"),
         message("What every number is divided by: √(variance + eps), or √variance + eps under layernorm_std"),
         [](const core::norms::NormRow& r) { return four(r.scale); }},
    Fact{message("gain"), message("gain"),
         message("Learned, one number per column: what the unit row is multiplied by. Click to go to its first cell "
                 "and overwrite it."),
         [](const core::norms::NormRow& r) { return span_text(r.gain); }, Leads::gain},
    Fact{message("shift"), message("shift"),
         message("Learned, one number per column: what is added last. RMSNorm has none. Click to go to its first cell "
                 "and overwrite it."),
         [](const core::norms::NormRow& r) { return span_text(r.shift); }, Leads::shift},
    Fact{message("mean after"), message("mean after"),
         message("The mean of the row that leaves the norm: 0 under LayerNorm without shift, up to rounding"),
         [](const core::norms::NormRow& r) { return four(r.after_mean); }},
    Fact{message("std after"), message("rms after"),
         message("The spread of the row that leaves the norm: 1 if the gain is 1 and eps is small"),
         [](const core::norms::NormRow& r) { return four(r.after_deviation); }},
    Fact{message("length"), message("length"), message("L2 norm of the row, before and after"),
         [](const core::norms::NormRow& r) {
             return core::short_number_text(r.length_before, 3) + " → " + core::short_number_text(r.length_after, 3);
         }},
};

void follow_parameter(const core::norms::NormRow& row, Leads leads, Commands& commands) {
    if (leads == Leads::gain && !row.gain_parameter.empty())
        commands.push_back(core::command::Follow{row.gain_parameter, {0}});
    if (leads == Leads::shift && !row.shift.empty())
        commands.push_back(core::command::Follow{row.shift_parameter, {0}});
}

bool centred(const std::array<const core::norms::NormRow*, 2>& rows) {
    return std::any_of(rows.begin(), rows.end(),
                       [](const core::norms::NormRow* row) { return row != nullptr && row->centred; });
}

struct Columns {
    Area labels;
    std::array<Area, 2> sides;
};

void draw_facts(const Ui& ui, const std::array<const core::norms::NormRow*, 2>& rows, const Columns& columns, float y,
                Commands& commands) {
    const float line = compat::font_size(ui.fonts.mono_small) + ui.px(4);
    for (const Fact& fact : kFacts) {
        draw_text(ui, ui.note(), {columns.labels.low.x, y}, tr(centred(rows) ? fact.label : fact.uncentred_label),
                  columns.labels.width());
        for (std::size_t side = 0; side < rows.size(); ++side) {
            if (rows[side] == nullptr) continue;
            const Area& area = columns.sides[side];
            const bool leads = fact.leads != Leads::nowhere;
            draw_text(ui, ui.number(), {area.low.x, y}, fact.text(*rows[side]), area.width());
            const bool clicked =
                press_at(fact.label.english(), {{area.low.x, y}, {area.high.x, y + line}}, static_cast<Index>(side));
            if (leads && ImGui::IsItemHovered()) ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
            tooltip(tr(fact.tip));
            if (clicked) follow_parameter(*rows[side], fact.leads, commands);
        }
        y += line;
    }
}

// ---- the strips

// One stage of the norm in both runs, over one range.
struct Stage {
    Phrase label;
    Phrase uncentred_label;  // under RMSNorm
    Phrase caption;
    const std::vector<float>& (*values)(const core::norms::NormRow&);
    double (*mean)(const core::norms::NormRow&);
    double (*deviation)(const core::norms::NormRow&);
    Meaning meaning;
};

constexpr std::array kStages = {
    Stage{message("the row x"), message("the row x"), message("as it comes"),
          [](const core::norms::NormRow& r) -> const std::vector<float>& { return r.before; },
          [](const core::norms::NormRow& r) { return r.mean; },
          [](const core::norms::NormRow& r) { return r.deviation; }, Meaning::residual},
    Stage{message("(x − mean)"), message("x"), message("÷ scale"),
          [](const core::norms::NormRow& r) -> const std::vector<float>& { return r.unit; },
          [](const core::norms::NormRow& r) { return r.unit_mean; },
          [](const core::norms::NormRow& r) { return r.unit_deviation; }, Meaning::norm},
    Stage{message("normalized"), message("normalized"), message("· gain + shift"),
          [](const core::norms::NormRow& r) -> const std::vector<float>& { return r.after; },
          [](const core::norms::NormRow& r) { return r.after_mean; },
          [](const core::norms::NormRow& r) { return r.after_deviation; }, Meaning::norm},
};

core::Range range_of_both(const std::array<const core::norms::NormRow*, 2>& rows, const Stage& stage) {
    std::vector<float> all;
    for (const core::norms::NormRow* row : rows)
        if (row != nullptr) all.insert(all.end(), stage.values(*row).begin(), stage.values(*row).end());
    return core::range_of(all, core::Scale::diverging);
}

void draw_stage_of_norm(const Ui& ui, const core::Session& session, const CompareTabState& tab,
                        const std::array<const core::norms::NormRow*, 2>& rows, const Stage& stage,
                        const Columns& columns, float y, float height, Commands& commands) {
    const float line = compat::font_size(ui.fonts.caption) + ui.px(2);
    const core::Range range = range_of_both(rows, stage);
    draw_text(ui, ui.caption(), {columns.labels.low.x, y}, tr(centred(rows) ? stage.label : stage.uncentred_label),
              columns.labels.width());
    draw_text(ui, ui.note(), {columns.labels.low.x, y + line}, tr(stage.caption), columns.labels.width());
    draw_text(ui, {ui.fonts.mono_small, ui.theme.muted}, {columns.labels.low.x, y + line * 2},
              "±" + core::short_number_text(static_cast<double>(range.high), 3), columns.labels.width());
    for (std::size_t side = 0; side < rows.size(); ++side) {
        if (rows[side] == nullptr) continue;
        const core::norms::NormRow& row = *rows[side];
        const Area area = {{columns.sides[side].low.x, y}, {columns.sides[side].high.x, y + height}};
        const NumberStrip strip{
            stage.label.english(), stage.values(row),      range, stage.mean(row), row.centred ? stage.mean(row) : 0.0,
            stage.deviation(row),  color_of(stage.meaning)};
        draw_number_strip(ui, strip, area);
        bool clicked = false;
        ImGui::PushID(static_cast<int>(side));
        const auto column = column_under_mouse(strip, area, clicked);
        ImGui::PopID();
        if (column) column_tooltip(ui, row, *column);
        if (!clicked || !column) continue;
        const std::string step = stage.meaning == Meaning::residual ? row.before_step : row.after_step;
        commands.push_back(core::command::Follow{step, {session.cursor().place.batch, tab.row, *column}});
    }
}

}  // namespace

core::Value<core::Both<std::optional<core::norms::NormRow>>> shown_rows(const core::Session& session,
                                                                        const CompareTabState& tab,
                                                                        const Scene& scene) {
    return core::norms::norm_rows(session.derived(), scene.runs, explained_norm(scene), session.cursor().place.batch,
                                  tab.row);
}

std::vector<std::string> norms_here(const Scene& scene) {
    std::vector<std::string> norms = core::norms::norms_of_block(scene.runs.left.run->plan(), scene.block, scene.stack);
    for (std::string& norm : core::norms::norms_of_block(scene.runs.right.run->plan(), scene.block, scene.stack))
        if (std::ranges::find(norms, norm) == norms.end()) norms.push_back(std::move(norm));
    return norms;
}

void go_to_step(const core::Session& session, CompareTabState& tab, const Scene& scene, const std::string& step,
                Commands& commands) {
    tab.chosen.reset();
    if (session.shown().run->plan().find(step) != nullptr) return commands.push_back(core::command::GoTo{step});
    for (const core::Both<core::Side>& runs = scene.runs; const core::Side* run : {&runs.left, &runs.right})
        if (const Ref there = run->run->plan().find(step); there != nullptr && !there->norm.empty())
            tab.chosen = {there->norm, scene.here.name};
}

std::string explained_norm(const Scene& scene) {
    const std::vector<std::string> norms = norms_here(scene);
    if (std::ranges::find(norms, scene.chosen) != norms.end()) return scene.chosen;
    if (std::ranges::find(norms, scene.here.norm) != norms.end()) return scene.here.norm;
    return norms.empty() ? std::string() : norms.front();
}

void draw_norm_row(const Ui& ui, const core::Session& session, CompareTabState& tab, const Scene& scene, Area area,
                   Commands& commands) {
    const std::string norm = explained_norm(scene);
    draw_choice_of_row(ui, session, tab, scene, norm, area, commands);
    const core::Value<core::Both<std::optional<core::norms::NormRow>>> shown = shown_rows(session, tab, scene);
    const core::Both<std::optional<core::norms::NormRow>>& both = *shown;
    const std::array<const core::norms::NormRow*, 2> rows = {both.left ? &*both.left : nullptr,
                                                             both.right ? &*both.right : nullptr};
    if (rows[0] == nullptr && rows[1] == nullptr) {
        text_block(ui, ui.hint(), {{area.low.x, area.low.y + ui.px(32)}, area.high}, tr("There is no norm here."));
        return;
    }
    const float labels = ui.px(92), gap = ui.px(16);
    const float width = (area.width() - labels - gap) * 0.5F;
    const Columns columns = {{area.low, {area.low.x + labels - ui.px(6), area.high.y}},
                             {Area{{area.low.x + labels, area.low.y}, {area.low.x + labels + width, area.high.y}},
                              Area{{area.high.x - width, area.low.y}, area.high}}};
    float y = area.low.y + ui.px(34);
    const std::string left = tr(scene.runs.left.name), right = tr(scene.runs.right.name);
    const std::array<const char*, 2> titles = {left.c_str(), right.c_str()};
    for (std::size_t side = 0; side < titles.size(); ++side) {
        draw_text(ui, ui.body(), {columns.sides[side].low.x, y}, titles[side], width);
        if (rows[side] == nullptr)
            draw_text(ui, ui.note(), {columns.sides[side].low.x, y + ui.px(22)}, tr("not there"), width);
        else
            draw_text(ui, {ui.fonts.mono_small, ui.theme.muted}, {columns.sides[side].low.x, y + ui.px(20)},
                      last_part(rows[side]->norm) + "(" + last_part(rows[side]->before_step) + ")", width);
    }
    y += ui.px(42);
    const float facts =
        (compat::font_size(ui.fonts.mono_small) + ui.px(4)) * static_cast<float>(kFacts.size()) + ui.px(22);
    const float pitch = std::min((area.high.y - y - facts) / static_cast<float>(kStages.size()), ui.px(160));
    for (const Stage& stage : kStages) {
        draw_stage_of_norm(ui, session, tab, rows, stage, columns, y, pitch - ui.px(12), commands);
        y += pitch;
    }
    draw_text(ui, ui.note(), {area.low.x, y - ui.px(8)},
              centred(rows) ? tr("line: mean   ·   band: ± 1 std   ·   click a bar to explain it")
                            : tr("line: mean   ·   band: ± rms   ·   click a bar to explain it"),
              area.width());
    draw_facts(ui, rows, columns, y + ui.px(14), commands);
}

}  // namespace decoderscope::views::compare
