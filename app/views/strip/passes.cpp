#include "app/core/run/passes_of_text.h"
#include "app/core/text/numbers.h"
#include "app/core/text/token_text.h"
#include "app/views/strip/strip.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <string>

namespace decoderscope::views::strip {

namespace {

// What a pass computes, as short as it can be said: its positions, and its token if it has only one.
std::string pass_text(const core::Scenario& scenario, const InputsPart& part, Index row) {
    const Tensor& tokens = core::text_of(scenario).tokens;
    if (part.count > 1) return std::to_string(part.first) + "–" + std::to_string(part.first + part.count - 1);
    if (tokens.empty() || row >= tokens.dim(0)) return std::to_string(part.first);
    return std::to_string(part.first) + " " +
           core::token_text(scenario.tokenizer(), static_cast<Index>(tokens.at(Cell{row, part.first})));
}

}  // namespace

float passes_height(const Ui& ui, const core::Session& session) {
    return session.fitting_scenario().passes ? ui.px(24) : 0.0F;
}

void draw_passes_line(const Ui& ui, const core::Session& session, Area area, Commands& commands) {
    const core::Scenario& scenario = session.fitting_scenario();
    if (!scenario.passes) return;
    const core::TextInPasses& passes = *scenario.passes;
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddRectFilled(area.low, area.high, ui.theme.panel);
    list.AddLine(area.low, {area.high.x, area.low.y}, ui.theme.line);
    const float inset = ui.px(3), y = area.low.y + inset, high = area.high.y - ui.px(1);
    const auto chip = [&](float from, float to, const std::string& text, bool lit, bool edited, std::int64_t number) {
        const Area box = {{from, y}, {to - ui.px(2), high}};
        const bool pressed = press_at("pass-chip", box, number, text);
        const bool hovered = ImGui::IsItemHovered();
        list.AddRectFilled(box.low, box.high, lit ? ui.theme.accent_soft : ui.theme.raised, ui.px(3));
        if (lit || hovered) compat::add_rect(list, box.low, box.high, lit ? ui.theme.accent : ui.theme.text, ui.px(3));
        if (edited) list.AddCircleFilled({box.high.x - ui.px(5), box.low.y + ui.px(5)}, ui.px(2.5F), ui.theme.accent);
        const float room = box.width() - ui.px(8);
        if (room > ui.px(10))
            draw_text(ui, ui.fonts.caption, {box.low.x + ui.px(4), box.low.y + ui.px(2)},
                      lit ? ui.theme.text : ui.theme.muted, fitted(ui.fonts.caption, text, room), room);
        return pressed;
    };
    const float begin = area.low.x + ui.px(8), whole = ui.px(110);
    if (chip(begin, begin + whole, tr("whole text"), !passes.shown,
             change_the_pass(passes.shown ? passes.text_edits : scenario.edits), -1))
        commands.push_back(core::command::ShowWholeText{});
    tooltip(tr("All positions in one pass ([ goes back, ] goes on)"));
    // What the pass that is shown computes, in words.
    const std::string name = passes.shown ? tr(core::name_of_pass(scenario)) : std::string();
    const float name_x = area.high.x - ui.px(12) - compat::text_size(ui.fonts.caption, name).x;
    if (passes.shown) draw_text(ui, ui.fonts.caption, {name_x, y + ui.px(2)}, ui.theme.text, name);
    const float from = begin + whole + ui.px(8), end = name_x - ui.px(8);
    const float pitch = std::min((end - from) / static_cast<float>(passes.sizes.size()), ui.px(110));
    for (std::size_t i = 0; i < passes.sizes.size(); ++i) {
        const InputsPart part = core::part_of_pass(passes, i);
        const bool lit = passes.shown == i;
        const float x = from + pitch * static_cast<float>(i);
        if (chip(x, x + pitch, pass_text(scenario, part, session.cursor().place.batch), lit,
                 change_the_pass(lit ? scenario.edits : passes.edits[i]), static_cast<std::int64_t>(i)))
            commands.push_back(core::command::ShowPass{passes.sizes, i});
        tooltip(
            tr("Pass {pass}: computes {count} positions, and reads the {kept} that were kept ([ goes back, ] goes on)",
               {{"pass", i}, {"count", part.count}, {"kept", part.first}})
                .c_str());
    }
}

}  // namespace decoderscope::views::strip
