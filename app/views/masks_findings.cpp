#include "app/core/export/text.h"
#include "app/core/labels.h"
#include "app/views/imgui_compat.h"
#include "app/views/masks_sections.h"

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
        if (fill.leaks[query] > 0.0F) text += "Query " + std::to_string(query) + ": " + number(fill.leaks[query]) + ". ";
    return text;
}

std::string below_sentence(const FillConsequences& fill) {
    if (!std::isfinite(fill.fill)) return "No score can lie below −∞";
    if (std::isinf(fill.lowest_kept)) return "No score is kept";
    if (fill.below.empty()) return "Lowest kept score " + number(fill.lowest_kept) + ": above the fill " + number(fill.fill);
    const auto [query, key] = fill.below.front();
    return std::to_string(fill.below.size()) + " kept scores at or below the fill, first query " + std::to_string(query) +
           ", key " + std::to_string(key);
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
    for (const NanStep& nan : scene.shown().nan) {
        while (at < timeline.size() && timeline[at] != nan.id) ++at;
        if (at == timeline.size()) return;
        const float share = static_cast<float>(nan.count) / static_cast<float>(nan.size);
        const Area bar = {{x(at), area.high.y - std::max(share * area.height(), ui.px(2))},
                          {std::max(x(at + 1) - ui.px(1), x(at) + 1), area.high.y}};
        list.AddRectFilled(bar.low, bar.high, ui.theme.error);
        const Area column = {{x(at), area.low.y}, {x(at + 1), area.high.y}};
        area_tooltip(ui, column, {nan.name, std::to_string(nan.count) + " of " + std::to_string(nan.size) + " numbers are NaN"});
        if (ImGui::IsWindowHovered() && column.contains(ImGui::GetIO().MousePos) && ImGui::IsMouseClicked(ImGuiMouseButton_Left))
            scene.commands.push_back(command::Follow{nan.name, nan.first});
    }
}

// "then attn.z 8/96, …", for the steps behind the first; the first one's block is understood.
std::string nan_list(const std::vector<NanStep>& trail, const std::string& block, std::size_t most) {
    std::string text;
    for (std::size_t i = 1; i < std::min(trail.size(), most + 1); ++i) {
        const std::string& name = trail[i].name;
        text += (text.empty() ? "then " : ", ") + (name.starts_with(block + ".") ? name.substr(block.size() + 1) : name) + " " +
                std::to_string(trail[i].count) + "/" + std::to_string(trail[i].size);
    }
    if (trail.size() > most + 1) text += ", and " + std::to_string(trail.size() - most - 1) + " more steps";
    return text;
}

void draw_nan(const MasksScene& scene, Area area) {
    const Ui& ui = scene.ui;
    const auto& trail = scene.shown().nan;
    const float line = ui.px(18);
    if (trail.empty()) {
        draw_finding(scene, area.low, area.width(), good(ui), "No NaN in any of " + std::to_string(scene.shown().steps) + " steps",
                     "Every number of every computed step was looked at.");
        return;
    }
    const NanStep& first = trail.front();
    ImGui::GetWindowDrawList()->AddCircleFilled({area.low.x + ui.px(4), area.low.y + line * 0.4F}, ui.px(3), ui.theme.error, 12);
    const float label = draw_text(ui, ui.fonts.caption, {area.low.x + ui.px(14), area.low.y}, ui.theme.text, "first NaN ");
    ImGui::SetCursorScreenPos({area.low.x + ui.px(18) + label, area.low.y});
    const std::string name = fitted(ui.fonts.mono_small, cell_name(first.name, first.first), area.width() - label - ui.px(20));
    if (link(ui, ui.fonts.mono_small, ui.theme.accent, name, 1)) scene.commands.push_back(command::Follow{first.name, first.first});
    const float left = area.low.x + ui.px(14);
    const std::string list = nan_list(trail, scene.run().plan()[first.id].block, 3);
    const float y = draw_prose(ui, {left, area.low.y + line}, area.high.x - left, ui.theme.muted, list, 2);
    area_tooltip(ui, {{left, area.low.y + line}, {area.high.x, y}}, {"where NaN spreads", nan_list(trail, "", 12)});
    draw_nan_strip(scene, {{left, y + ui.px(2)}, {area.high.x, std::min(area.high.y, y + ui.px(22))}});
}

// ---- the leak test

const Companion* failed_companion(const Session& session) {
    const auto found = session.shown().companions.find("masks.leak");
    return found != session.shown().companions.end() && !found->second.error.empty() ? &found->second : nullptr;
}

std::vector<std::string> moved_lines(const Leak& leak, Index position, const std::string& token) {
    const Moved& moved = leak.moved[static_cast<std::size_t>(position)];
    std::vector<std::string> lines = {"position " + std::to_string(position) + (token.empty() ? "" : "  “" + token + "”")};
    if (position == leak.changed) lines.emplace_back("this one was changed");
    if (moved.first_in.empty()) {
        lines.emplace_back("did not move: largest change 0");
        return lines;
    }
    lines.push_back("moved by up to " + number(moved.largest) + " in " + moved.largest_in);
    lines.push_back("first in " + moved.first_in);
    if (position > leak.changed) lines.emplace_back("it stands behind the changed one, so it may");
    return lines;
}

// One box a position; a click changes that one.
void draw_positions(const MasksScene& scene, const Leak* leak, Area area) {
    const Ui& ui = scene.ui;
    MasksTabState& tab = scene.tab();
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const Index positions = scene.session.shown().scenario.inputs.pos();
    const float step = std::min(area.width() / static_cast<float>(positions), ui.px(56));
    const std::vector<std::string>& tokens = scene.shown().tokens;
    for (Index p = 0; p < positions; ++p) {
        const Area box = {{std::floor(area.low.x + step * static_cast<float>(p)), area.low.y},
                          {std::floor(area.low.x + step * static_cast<float>(p + 1)) - ui.px(step > ui.px(8) ? 2 : 0), area.high.y}};
        const bool changed = p == tab.leak_position;
        const Moved* moved = leak != nullptr && p < static_cast<Index>(leak->moved.size()) ? &leak->moved[static_cast<std::size_t>(p)] : nullptr;
        const bool leaked = p < tab.leak_position && moved != nullptr && !moved->first_in.empty();
        const ImU32 fill = changed ? ui.theme.accent_soft : leaked ? with_alpha(ui.theme.warning, 0.35F) : ui.theme.raised;
        list.AddRectFilled(box.low, box.high, p > tab.leak_position ? with_alpha(fill, 0.5F) : fill, ui.px(3));
        if (changed) compat::add_rect(list, box.low, box.high, ui.theme.accent, ui.px(3), ui.px(1));
        const std::string token = p < static_cast<Index>(tokens.size()) ? tokens[static_cast<std::size_t>(p)] : std::string();
        const auto centred = [&](ImFont* font, float y, ImU32 color, const std::string& text) {
            const float width = compat::text_size(font, text).x;
            if (width <= box.width() - ui.px(4)) draw_text(ui, font, {(box.low.x + box.high.x - width) * 0.5F, y}, color, text);
        };
        centred(ui.fonts.mono_small, box.low.y + ui.px(3), p > tab.leak_position ? ui.theme.muted : ui.theme.text, token);
        if (moved != nullptr)
            centred(ui.fonts.mono_small, box.low.y + ui.px(20), leaked ? ui.theme.text : ui.theme.muted,
                    changed ? "≠" : short_number_text(static_cast<double>(moved->largest), 2));
        ImGui::SetCursorScreenPos(box.low);
        ImGui::PushID(static_cast<int>(p));
        if (ImGui::InvisibleButton("position", {std::max(box.width(), 1.0F), box.height()})) {
            tab.leak_position = p;
            tab.leak_place = scene.place;
        }
        ImGui::PopID();
        if (leak != nullptr && moved != nullptr) area_tooltip(ui, box, moved_lines(*leak, p, token));
    }
}

std::string leak_sentence(const MasksScene& scene, const Leak& leak) {
    const bool tokens = !scene.session.shown().scenario.inputs.tokens.empty();
    const std::string what = std::string("Changed ") + (tokens ? "token " : "the x of position ") + std::to_string(leak.changed);
    const std::string over = " (measured over " + std::to_string(leak.tensors) + " tensors).";
    if (leak.changed == 0) return what + ": nothing stands before it. Click a later one.";
    const std::string blind = leak.earlier_blind == 0 ? "" : " " + std::to_string(leak.earlier_blind) + " of them hold NaN, where no change can be seen.";
    if (leak.earlier_moved == 0)
        return what + ": earlier positions moved by at most 0" + over + (blind.empty() ? " Nothing leaks back." : blind);
    return what + ": " + std::to_string(leak.earlier_moved) + " of " + std::to_string(leak.changed) +
           " earlier positions moved, by up to " + number(leak.earlier) + " in " + leak.worst_in + over + blind;
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
    finding(fill.empty_rows.empty(), empty_sentence(fill), "A row with nothing left: NaN under −∞, equal weights under a finite fill.");
    draw_nan(scene, {{area.low.x, y}, area.high});
    ImGui::PopID();
}

void draw_leak(const MasksScene& scene, Area area) {
    const Ui& ui = scene.ui;
    const LeakShown& shown = scene.tab().leak;
    const Leak* leak = shown.run && shown.current ? &shown.leak : nullptr;
    ImGui::GetWindowDrawList()->AddLine({area.low.x - ui.px(12), area.low.y}, {area.low.x - ui.px(12), area.high.y - ui.px(8)}, ui.theme.line, 1.0F);
    draw_text(ui, ui.fonts.caption, {area.low.x, area.low.y + ui.px(6)}, ui.theme.muted,
              "leak test: click a position to change it", area.width());
    ImGui::PushID("leak");
    draw_positions(scene, leak, {{area.low.x, area.low.y + ui.px(32)}, {area.high.x, area.low.y + ui.px(70)}});
    ImGui::PopID();
    const ImVec2 below = {area.low.x, area.low.y + ui.px(78)};
    if (const Companion* failed = failed_companion(scene.session); failed != nullptr)
        draw_prose(ui, below, area.width(), ui.theme.error, failed->error, 4);
    else if (leak == nullptr)
        draw_prose(ui, below, area.width(), ui.theme.muted, "computing …", 1);
    else
        draw_prose(ui, below, area.width(), leak->earlier_moved > 0 ? ui.theme.warning : ui.theme.text, leak_sentence(scene, *leak), 4);
}

}  // namespace decoderscope
