#include "app/core/text/labels.h"
#include "app/core/text/numbers.h"
#include "app/views/masks/masks_sections.h"
#include "app/views/widgets/imgui_compat.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace decoderscope {

namespace {

std::string number(float value) { return short_number_text(static_cast<double>(value), 4); }

ImU32 good(const Ui& ui) { return ui.theme.accent; }
ImU32 bad(const Ui& ui) { return ui.theme.warning; }

// ---- the fill

struct FillChoice {
    const char* label;
    const char* value;  // as mask_value is written
    float fill;
};
constexpr std::array kFills = {
    FillChoice{"−∞", "-inf", -std::numeric_limits<float>::infinity()},
    FillChoice{"−1e4", "-1e4", -1e4F},
    FillChoice{"−1e9", "-1e9", -1e9F},
    FillChoice{"−1e20", "-1e20", -1e20F},
};

void choose_fill(const MasksScene& scene, ImVec2 at) {
    ImGui::SetCursorScreenPos(at);
    ImGui::AlignTextToFramePadding();
    text_line(scene.ui.fonts.caption, scene.ui.theme.muted, "fill");
    const float now = scene.session.scenario().config().mask_value;
    for (const FillChoice& choice : kFills) {
        ImGui::SameLine(0, scene.ui.px(&choice == &kFills.front() ? 8 : 2));
        if (toggle_button(scene.ui, choice.label, choice.fill == now, "What stands in place of a masked score"))
            scene.commands.push_back(command::SetOption{"mask_value", choice.value});
    }
}

std::string weight_sentence(const FillConsequences& fill) {
    if (fill.masked == 0) return "No cell is masked";
    const std::string masked = std::to_string(fill.masked) + " of " + std::to_string(fill.cells) + " cells masked; ";
    if (fill.leakiest_query >= 0)
        return masked + "query " + std::to_string(fill.leakiest_query) + " gives them " + number(fill.largest_leak);
    return masked + (fill.empty_rows.empty() ? "their weight is 0" : "weight 0 where a key is left");
}

// How much weight each row gives to what is masked, where it gives any.
std::string leaks_by_row(const FillConsequences& fill) {
    std::string text = "The weight on masked keys, summed over a row. ";
    for (std::size_t query = 0; query < fill.leaks.size(); ++query)
        if (fill.leaks[query] > 0.0F)
            text += "Query " + std::to_string(query) + ": " + number(fill.leaks[query]) + ". ";
    return text;
}

std::string below_sentence(const FillConsequences& fill) {
    if (!std::isfinite(fill.fill)) return "No score can lie below −∞";
    if (std::isinf(fill.lowest_kept)) return "No score is kept";
    if (fill.below.empty())
        return "Lowest kept score " + number(fill.lowest_kept) + ": above the fill " + number(fill.fill);
    const auto [query, key] = fill.below.front();
    return std::to_string(fill.below.size()) + " kept scores at or below the fill, first query " +
           std::to_string(query) + ", key " + std::to_string(key);
}

std::string empty_sentence(const FillConsequences& fill) {
    if (fill.empty_rows.empty()) return "Every query sees at least one key";
    const EmptyRow& row = fill.empty_rows.front();
    const std::size_t rows = fill.empty_rows.size();
    std::string who = rows == 1 ? "Query " : "Queries ";
    for (std::size_t i = 0; i < std::min<std::size_t>(rows, 3); ++i)
        who += (i == 0 ? "" : ", ") + std::to_string(fill.empty_rows[i].query);
    who += rows > 3 ? " … see no key: " : rows == 1 ? " sees no key: " : " see no key: ";
    if (row.nan) return who + "0/0 = NaN";
    if (row.least == row.most) return who + "each weighs " + number(row.most);
    return who + "keys weigh " + number(row.least) + " to " + number(row.most);
}

// ---- where NaN spreads

// A mark a step of the timeline, as high as its share of NaN.
void draw_nan_strip(const MasksScene& scene, Area area) {
    const Ui& ui = scene.ui;
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const auto& timeline = scene.session.timeline();
    const float step = area.width() / static_cast<float>(timeline.size());
    list.AddLine({area.low.x, area.high.y}, {area.high.x, area.high.y}, ui.theme.line, 1.0F);
    const auto x = [&](std::size_t i) { return area.low.x + step * static_cast<float>(i); };
    std::size_t at = 0;
    for (const NanStep& nan : scene.nan->steps) {
        while (at < timeline.size() && timeline[at] != nan.id) ++at;
        if (at == timeline.size()) return;
        const float share = static_cast<float>(nan.count) / static_cast<float>(nan.size);
        const Area bar = {{x(at), area.high.y - std::max(share * area.height(), ui.px(2))},
                          {std::max(x(at + 1) - ui.px(1), x(at) + 1), area.high.y}};
        list.AddRectFilled(bar.low, bar.high, ui.theme.error);
        const Area column = {{x(at), area.low.y}, {x(at + 1), area.high.y}};
        area_tooltip(ui, column,
                     {nan.name, std::to_string(nan.count) + " of " + std::to_string(nan.size) + " numbers are NaN"});
        if (ImGui::IsWindowHovered() && column.contains(ImGui::GetIO().MousePos) &&
            ImGui::IsMouseClicked(ImGuiMouseButton_Left))
            scene.commands.push_back(command::Follow{nan.name, nan.first});
    }
}

// "then attn.z 8/96, …", for the steps behind the first; the first one's block is understood.
std::string nan_list(const Plan& plan, const std::vector<NanStep>& trail, const std::string& block, std::size_t most) {
    std::string text;
    for (std::size_t i = 1; i < std::min(trail.size(), most + 1); ++i) {
        const std::string& name = trail[i].name;
        const bool in_block = !block.empty() && plan[trail[i].id].block == block;
        text += (text.empty() ? "then " : ", ") + (in_block ? name.substr(block.size() + 1) : name) + " " +
                std::to_string(trail[i].count) + " of " + std::to_string(trail[i].size);
    }
    if (trail.size() > most + 1) text += ", and " + std::to_string(trail.size() - most - 1) + " more steps";
    return text;
}

void draw_nan(const MasksScene& scene, Area area) {
    const Ui& ui = scene.ui;
    const float line = ui.px(18);
    if (!scene.nan) {
        draw_text(ui, ui.fonts.caption, area.low, ui.theme.muted, "looking for NaN …", area.width());
        return;
    }
    const auto& trail = scene.nan->steps;
    if (trail.empty()) {
        draw_finding(scene, area.low, area.width(), good(ui),
                     "No NaN in any of " + std::to_string(scene.session.timeline().size()) + " steps",
                     "Every number of every computed step was checked.");
        return;
    }
    const NanStep& first = trail.front();
    ImGui::GetWindowDrawList()->AddCircleFilled({area.low.x + ui.px(4), area.low.y + line * 0.4F}, ui.px(3),
                                                ui.theme.error, 12);
    const float label =
        draw_text(ui, ui.fonts.caption, {area.low.x + ui.px(14), area.low.y}, ui.theme.text, "first NaN ");
    ImGui::SetCursorScreenPos({area.low.x + ui.px(18) + label, area.low.y});
    const std::string name =
        fitted(ui.fonts.mono_small, cell_name(first.name, first.first), area.width() - label - ui.px(20));
    if (link(ui, ui.fonts.mono_small, ui.theme.accent, name, 1))
        scene.commands.push_back(command::Follow{first.name, first.first});
    const float left = area.low.x + ui.px(14);
    const Plan& plan = scene.run().plan();
    const std::string list = nan_list(plan, trail, plan[first.id].block, 3);
    const float y = draw_prose(ui, {left, area.low.y + line}, area.high.x - left, ui.theme.muted, list, 2);
    area_tooltip(ui, {{left, area.low.y + line}, {area.high.x, y}},
                 {"where NaN spreads: how many numbers of each step. A weight of 0 times NaN is NaN, so a mask does "
                  "not stop it.",
                  nan_list(plan, trail, "", 12)});
    draw_nan_strip(scene, {{left, y + ui.px(2)}, {area.high.x, std::min(area.high.y, y + ui.px(22))}});
}

}  // namespace

void draw_fill(const MasksScene& scene, Area area) {
    const Ui& ui = scene.ui;
    const FillConsequences& fill = scene.shown().fill;
    ImGui::PushID("fill");
    choose_fill(scene, area.low);
    const float line = ui.px(18);
    float y = area.low.y + ui.px(34);
    const auto finding = [&](bool well, const std::string& text, const char* tip) {
        draw_finding(scene, {area.low.x, y}, area.width(), well ? good(ui) : bad(ui), text, tip);
        y += line;
    };
    finding(fill.leakiest_query < 0, weight_sentence(fill), leaks_by_row(fill).c_str());
    finding(fill.below.empty(), below_sentence(fill), "A kept score below a finite fill loses to the masked ones.");
    finding(fill.empty_rows.empty(), empty_sentence(fill),
            "A row with nothing left is NaN under −∞. Under a finite fill it looks at every key alike: at later ones "
            "and padding, too.");
    draw_nan(scene, {{area.low.x, y}, area.high});
    ImGui::PopID();
}

}  // namespace decoderscope
