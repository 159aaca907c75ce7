#include "app/core/run/labels.h"
#include "app/core/run/settings_that_fit.h"
#include "app/views/frame/place_choices.h"
#include "app/views/tabs/masks/tab.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <cmath>

namespace decoderscope::views::masks {

namespace {

// A finding: a dot that tells whether all is well, and a text of one or two lines. Returns the y below it.
float draw_finding(const MasksScene& scene, ImVec2 at, float width, ImU32 dot, const std::string& text,
                   const char* tip) {
    const Ui& ui = scene.ui;
    const float line = compat::font_size(ui.fonts.caption), indent = ui.px(14);
    ImGui::GetWindowDrawList()->AddCircleFilled({at.x + ui.px(4), at.y + line * 0.5F + ui.px(1)}, ui.px(3), dot, 12);
    const float bottom = draw_prose(ui, {at.x + indent, at.y}, width - indent, ui.theme.text, text, 2);
    area_tooltip(ui, {at, {at.x + width, bottom}}, {text, tip});
    return bottom;
}

// ---- the fill

void choose_fill(const MasksScene& scene, ImVec2 at) {
    static constexpr std::array kUsual = {"-inf", "-1e4", "-1e9", "-1e20"};
    ImGui::SetCursorScreenPos(at);
    word_beside(scene.ui, tr("fill"));
    ImGui::SameLine(0, scene.ui.px(8));
    const core::Session& session = scene.session;
    const auto choices = core::number_choices(session.derived(), session.fitting_scenario(), "mask_value", kUsual);
    const bool is_lowest = static_cast<float>(choices->all.front().number) == std::numeric_limits<float>::lowest();
    choose_number(scene.ui, "mask_value", *choices, tr("What replaces a masked score"),
                  is_lowest
                      ? tr("What replaces a masked score in this model: the lowest float, as Hugging Face's eager "
                           "attention has it")
                      : tr("What replaces a masked score in this model"),
                  scene.commands);
}

// ---- where NaN spreads

// One mark per step of the timeline, as high as its share of NaN.
void draw_nan_strip(const MasksScene& scene, Area area) {
    const Ui& ui = scene.ui;
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const auto& timeline = scene.session.timeline();
    const float step = area.width() / static_cast<float>(timeline.size());
    list.AddLine({area.low.x, area.high.y}, {area.high.x, area.high.y}, ui.theme.line, 1.0F);
    const auto x = [&](std::size_t i) { return area.low.x + step * static_cast<float>(i); };
    std::size_t at = 0;
    for (const core::masks::NanStep& nan : scene.nan->steps) {
        while (at < timeline.size() && timeline[at] != nan.id) ++at;
        if (at == timeline.size()) return;
        const float share = static_cast<float>(nan.count) / static_cast<float>(nan.size);
        const Area bar = {{x(at), area.high.y - std::max(share * area.height(), ui.px(2))},
                          {std::max(x(at + 1) - ui.px(1), x(at) + 1), area.high.y}};
        list.AddRectFilled(bar.low, bar.high, ui.theme.error);
        const Area column = {{x(at), area.low.y}, {x(at + 1), area.high.y}};
        area_tooltip(ui, column,
                     {nan.name, tr("{count} of {size} numbers are NaN", {{"count", nan.count}, {"size", nan.size}})});
        if (ImGui::IsWindowHovered() && column.contains(ImGui::GetIO().MousePos) &&
            ImGui::IsMouseClicked(ImGuiMouseButton_Left))
            scene.commands.push_back(core::command::Follow{nan.name, nan.first});
    }
}

// "then attn.z 8/96, …", for the steps after the first; the first one's block is omitted.
std::string nan_list(const Plan& plan, const std::vector<core::masks::NanStep>& trail, const std::string& block,
                     std::size_t most) {
    std::string text;
    for (std::size_t i = 1; i < std::min(trail.size(), most + 1); ++i) {
        const std::string& name = trail[i].name;
        const bool in_block = !block.empty() && plan[trail[i].id].block == block;
        text += (text.empty() ? "" : ", ") +
                tr("{tensor} {count} of {size}", {{"tensor", in_block ? name.substr(block.size() + 1) : name},
                                                  {"count", trail[i].count},
                                                  {"size", trail[i].size}});
    }
    if (text.empty()) return text;
    if (trail.size() > most + 1)
        return tr_n("then {steps}, and {count} more step", "then {steps}, and {count} more steps",
                    trail.size() - most - 1, {{"steps", text}});
    return tr("then {steps}", {{"steps", text}});
}

void draw_nan(const MasksScene& scene, Area area) {
    const Ui& ui = scene.ui;
    const float line = ui.px(18);
    if (!scene.nan) {
        draw_text(ui, ui.note(), area.low, tr("Looking for NaN …"), area.width());
        return;
    }
    const auto& trail = scene.nan->steps;
    if (trail.empty()) {
        static_cast<void>(draw_finding(
            scene, area.low, area.width(), ui.theme.accent,
            tr_n("No NaN in the {count} step", "No NaN in any of {count} steps", scene.session.timeline().size()),
            tr("Every number of every computed step was checked.")));
        return;
    }
    const core::masks::NanStep& first = trail.front();
    ImGui::GetWindowDrawList()->AddCircleFilled({area.low.x + ui.px(4), area.low.y + line * 0.4F}, ui.px(3),
                                                ui.theme.error, 12);
    const float left = area.low.x + ui.px(14);
    ImGui::SetCursorScreenPos({left, area.low.y});
    const std::string name = fitted(ui.fonts.mono_small, cell_name(first.name, first.first), area.high.x - left);
    if (link(ui, {ui.fonts.mono_small, ui.theme.accent}, name, 1))
        scene.commands.push_back(core::command::Follow{first.name, first.first});
    const Plan& plan = scene.run().plan();
    const std::string list = nan_list(plan, trail, plan[first.id].block, 3);
    const std::string text = list.empty() ? tr("is the first NaN") : tr("is the first NaN, {then}", {{"then", list}});
    const float y = draw_prose(ui, {left, area.low.y + line}, area.high.x - left, ui.theme.muted, text, 2);
    area_tooltip(ui, {{left, area.low.y + line}, {area.high.x, y}},
                 {tr("where NaN spreads: how many numbers of each step. A weight of 0 times NaN is NaN, so a mask does "
                     "not stop it."),
                  nan_list(plan, trail, "", 12)});
    draw_nan_strip(scene, {{left, y + ui.px(2)}, {area.high.x, std::min(area.high.y, y + ui.px(22))}});
}

// What the other positions say, where the one that is changed moves nothing.
std::string from_elsewhere(const MasksScene& scene) {
    if (!scene.leaks_back) return tr("The others are being changed in turn …");
    const core::checks::LeaksBack& found = *scene.leaks_back;
    if (!found.complete) return tr("The others were not changed: that would take minutes.");
    if (found.from.empty()) return found.blind ? std::string() : tr("Nothing leaks back.");
    constexpr std::size_t kMost = 3;
    std::string some;
    for (std::size_t i = 0; i < std::min(found.from.size(), kMost); ++i)
        some += (i == 0 ? "" : ", ") + std::to_string(found.from[i]);
    if (found.from.size() > kMost) some += " …";
    return tr_n("But position {positions} leaks back: click it.", "But positions {positions} leak back: click one.",
                found.from.size(), {{"positions", some}});
}

std::string leak_sentence(const MasksScene& scene, const core::checks::Leak& leak) {
    const bool tokens = !scene.session.shown().scenario.inputs.tokens.empty();
    const Arguments place = {{"position", leak.changed}};
    const Sentence what =
        tokens ? message("Changed token {position}", place) : message("Changed the x of position {position}", place);
    if (leak.changed == 0) return tr("{what}: nothing comes before it. Click a later one.", {{"what", what}});
    const Sentence over = message_n("(measured over {count} tensor)", "(measured over {count} tensors)", leak.tensors);
    const std::string moved =
        leak.earlier_moved == 0
            ? tr("{what}: earlier positions moved by at most 0 {over}.", {{"what", what}, {"over", over}})
            : tr_n("{what}: {count} of {all} earlier positions moved, by up to {number} in {tensor} {over}.",
                   "{what}: {count} of {all} earlier positions moved, by up to {number} in {tensor} {over}.",
                   leak.earlier_moved,
                   {{"what", what},
                    {"all", leak.changed},
                    {"number", core::masks::measured_text(leak.earlier)},
                    {"tensor", leak.worst_in},
                    {"over", over}});
    if (leak.earlier_blind > 0)
        return moved + " " +
               tr_n("{count} of them holds NaN, where no change can be seen.",
                    "{count} of them hold NaN, where no change can be seen.", leak.earlier_blind);
    if (leak.earlier_moved == 0) return moved + " " + from_elsewhere(scene);
    if (!scene.leaks_back || !scene.leaks_back->complete) return moved;
    return moved + " " +
           tr_n("{count} position leaks back, each was changed in turn.",
                "{count} positions leak back, each was changed in turn.", scene.leaks_back->from.size());
}

// What is wrong first, on a ground of its own.
void draw_verdict(const Ui& ui, ImVec2 at, float width, const std::string& verdict, const std::string& sentence) {
    const float pad = ui.px(8), left = at.x + pad + ui.px(4);
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.ChannelsSplit(2);
    list.ChannelsSetCurrent(1);
    draw_text(ui, {ui.fonts.text, ui.theme.error}, {left, at.y + pad * 0.5F}, verdict);
    const float text = at.y + pad * 0.5F + compat::font_size(ui.fonts.text) + ui.px(4);
    const float end = draw_prose(ui, {left, text}, at.x + width - pad - left, ui.theme.text, sentence, 4);
    list.ChannelsSetCurrent(0);
    list.AddRectFilled(at, {at.x + width, end + pad * 0.5F}, with_alpha(ui.theme.error, 0.16F), ui.px(2));
    list.AddRectFilled(at, {at.x + ui.px(4), end + pad * 0.5F}, ui.theme.error, ui.px(2));
    list.ChannelsMerge();
}

bool leaks(const MasksScene& scene, const core::checks::Leak& leak) {
    return leak.earlier_moved > 0 || (scene.leaks_back && !scene.leaks_back->from.empty());
}

}  // namespace

void draw_fill(const MasksScene& scene, Area area) {
    const Ui& ui = scene.ui;
    const core::masks::FillConsequences& fill = scene.shown().fill;
    ImGui::PushID("fill");
    choose_fill(scene, area.low);
    float y = area.low.y + ui.px(34);
    const auto finding = [&](bool well, const std::string& text, const char* tip) {
        y = draw_finding(scene, {area.low.x, y}, area.width(), well ? ui.theme.accent : ui.theme.warning, text, tip) +
            ui.px(1);
    };
    finding(fill.leakiest_query < 0, core::masks::weight_sentence(fill), core::masks::leaks_by_row(fill).c_str());
    finding(fill.below.empty(), core::masks::below_sentence(fill),
            tr("A kept score below a finite fill loses to the masked ones."));
    finding(fill.empty_rows.empty(), core::masks::empty_sentence(fill),
            tr("A fully masked row is NaN under −∞. Under a finite fill it attends to every key equally, later ones "
               "and padding included."));
    draw_nan(scene, {{area.low.x, y}, area.high});
    ImGui::PopID();
}

void draw_leak(const MasksScene& scene, Area area) {
    const Ui& ui = scene.ui;
    const core::checks::Leak* leak = scene.leak ? &*scene.leak : nullptr;
    ImGui::GetWindowDrawList()->AddLine({area.low.x - ui.px(12), area.low.y},
                                        {area.low.x - ui.px(12), area.high.y - ui.px(8)}, ui.theme.line, 1.0F);
    const ImVec2 below = {area.low.x, area.low.y + ui.px(6)};
    const auto& companions = scene.session.shown().companions;
    if (const auto run = companions.find(kLeakRun); run != companions.end() && !run->second.error.empty())
        draw_prose(ui, below, area.width(), ui.theme.error, tr(run->second.error), 4);
    else if (leak == nullptr)
        draw_prose(ui, below, area.width(), ui.theme.muted, tr("Computing …"), 1);
    else if (leaks(scene, *leak))
        draw_verdict(ui, below, area.width(), tr("It leaks."), leak_sentence(scene, *leak));
    else
        draw_prose(ui, below, area.width(), ui.theme.text, leak_sentence(scene, *leak), 4);
}

}  // namespace decoderscope::views::masks
