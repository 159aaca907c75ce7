#include "app/core/text/numbers.h"
#include "app/views/masks/masks_sections.h"
#include "app/views/widgets/focus.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/translate.h"

#include <algorithm>
#include <cmath>

namespace decoderscope {

namespace {

const Companion* failed_companion(const Session& session) {
    const auto found = session.shown().companions.find(kLeakRun);
    return found != session.shown().companions.end() && !found->second.error.empty() ? &found->second : nullptr;
}

// A position of the decoder's input, as drawn in the strip.
struct PositionBox {
    Index position;
    Area area;
    std::string token;
    const Moved* moved;  // nullptr while it is being computed
    Index changed;       // the position that the test changes

    [[nodiscard]] bool is_changed() const { return position == changed; }
    [[nodiscard]] bool behind() const { return position > changed; }
    [[nodiscard]] bool leaked() const { return position < changed && moved != nullptr && !moved->first_in.empty(); }
};

std::vector<std::string> tooltip_lines(const PositionBox& box) {
    const Moved& moved = *box.moved;
    std::vector<std::string> lines = {
        tr("position {position}  “{token}”", {{"position", box.position}, {"token", box.token}})};
    if (box.is_changed()) lines.emplace_back(tr("this one was changed"));
    if (moved.blind) lines.emplace_back(tr("holds NaN before and after: no change can be seen there"));
    if (moved.first_in.empty()) {
        if (!moved.blind) lines.emplace_back(tr("did not move: largest change 0"));
        return lines;
    }
    lines.push_back(tr("moved by up to {number} in {tensor}",
                       {{"number", measured_text(moved.largest)}, {"tensor", moved.largest_in}}));
    lines.push_back(tr("first in {tensor}", {{"tensor", moved.first_in}}));
    if (box.behind()) lines.emplace_back(tr("it comes after the changed one, so it may move"));
    return lines;
}

std::string change_text(const PositionBox& box) {
    if (box.moved == nullptr) return {};
    if (box.is_changed()) return "≠";
    if (box.moved->blind && box.moved->first_in.empty()) return "NaN";
    return short_number_text(static_cast<double>(box.moved->largest), 2);
}

// A line of a box: the token above, how far the position moved below it.
void draw_line(const Ui& ui, const PositionBox& box, float y, ImU32 color, const std::string& text) {
    const float width = compat::text_size(ui.fonts.mono_small, text).x;
    if (width > box.area.width() - ui.px(4)) return;
    draw_text(ui, ui.fonts.mono_small, {(box.area.low.x + box.area.high.x - width) * 0.5F, box.area.low.y + y}, color,
              text);
}

void draw_token(const Ui& ui, const PositionBox& box) {
    draw_line(ui, box, ui.px(3), box.behind() ? ui.theme.muted : ui.theme.text,
              shortened(ui.fonts.mono_small, box.token, box.area.width() - ui.px(4)));
}

void draw_change(const Ui& ui, const PositionBox& box) {
    draw_line(ui, box, ui.px(20), box.leaked() ? ui.theme.text : ui.theme.muted, change_text(box));
}

void draw_box(const Ui& ui, const PositionBox& box) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const Area& at = box.area;
    ImU32 fill = box.is_changed() ? ui.theme.accent_soft : ui.theme.raised;
    if (box.leaked()) fill = with_alpha(ui.theme.warning, 0.35F);
    list.AddRectFilled(at.low, at.high, box.behind() ? with_alpha(fill, 0.5F) : fill, ui.px(3));
    if (box.is_changed()) compat::add_rect(list, at.low, at.high, ui.theme.accent, ui.px(3), ui.px(1));
}

// One box per position; a click chooses the position to change.
void draw_positions(const MasksScene& scene, const Leak* leak, Area area) {
    const Ui& ui = scene.ui;
    MasksTabState& tab = scene.tab();
    const std::vector<std::string>& tokens = scene.shown().tokens;
    const float step = std::min(area.width() / static_cast<float>(tokens.size()), ui.px(56));
    const float gap = ui.px(step > ui.px(8) ? 2 : 0);
    std::vector<PositionBox> boxes;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        const float left = std::floor(area.low.x + step * static_cast<float>(i));
        const float right = std::floor(area.low.x + step * static_cast<float>(i + 1)) - gap;
        const Moved* moved = leak != nullptr && i < leak->moved.size() ? &leak->moved[i] : nullptr;
        boxes.push_back({static_cast<Index>(i),
                         {{left, area.low.y}, {std::max(right, left + 1), area.high.y}},
                         tokens[i],
                         moved,
                         tab.leak_position});
    }
    for (const PositionBox& box : boxes) draw_box(ui, box);
    for (const PositionBox& box : boxes) draw_token(ui, box);
    for (const PositionBox& box : boxes) draw_change(ui, box);
    for (const PositionBox& box : boxes) {
        ImGui::SetCursorScreenPos(box.area.low);
        ImGui::PushID(static_cast<int>(box.position));
        if (press_area("position", {box.area.width(), std::max(box.area.height(), 1.0F)})) {
            tab.chosen_position = box.position;
            tab.chosen_batch = scene.place.batch;
        }
        ImGui::PopID();
        if (box.moved != nullptr && box.area.contains(ImGui::GetIO().MousePos))
            area_tooltip(ui, box.area, tooltip_lines(box));
    }
}

std::string leak_sentence(const MasksScene& scene, const Leak& leak) {
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
                    {"number", measured_text(leak.earlier)},
                    {"tensor", leak.worst_in},
                    {"over", over}});
    if (leak.earlier_blind > 0)
        return moved + " " +
               tr_n("{count} of them holds NaN, where no change can be seen.",
                    "{count} of them hold NaN, where no change can be seen.", leak.earlier_blind);
    return leak.earlier_moved == 0 ? moved + " " + tr("Nothing leaks back.") : moved;
}

}  // namespace

void draw_leak(const MasksScene& scene, Area area) {
    const Ui& ui = scene.ui;
    const Leak* leak = scene.leak ? &*scene.leak : nullptr;
    ImGui::GetWindowDrawList()->AddLine({area.low.x - ui.px(12), area.low.y},
                                        {area.low.x - ui.px(12), area.high.y - ui.px(8)}, ui.theme.line, 1.0F);
    draw_text(ui, ui.fonts.caption, {area.low.x, area.low.y + ui.px(6)}, ui.theme.muted,
              tr("leak test: click a position to change it"), area.width());
    ImGui::PushID("leak");
    draw_positions(scene, leak, {{area.low.x, area.low.y + ui.px(32)}, {area.high.x, area.low.y + ui.px(70)}});
    ImGui::PopID();
    const ImVec2 below = {area.low.x, area.low.y + ui.px(78)};
    if (const Companion* failed = failed_companion(scene.session); failed != nullptr)
        draw_prose(ui, below, area.width(), ui.theme.error, tr(failed->error), 4);
    else if (leak == nullptr)
        draw_prose(ui, below, area.width(), ui.theme.muted, tr("Computing …"), 1);
    else
        draw_prose(ui, below, area.width(), leak->earlier_moved > 0 ? ui.theme.warning : ui.theme.text,
                   leak_sentence(scene, *leak), 4);
}

}  // namespace decoderscope
