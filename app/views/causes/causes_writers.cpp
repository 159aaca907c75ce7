// Direct logit attribution: what each head, each MLP and the embedding wrote into a logit.
#include "app/views/causes/causes_parts.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/translate.h"

#include <algorithm>
#include <cmath>

namespace decoderscope {

void draw_writers(const Ui& ui, const Session& session, CausesTabState& causes, const ResolvedNumber& number, Area area,
                  Commands& commands) {
    if (causes.number.kind == NumberKind::cell) {
        text_block(ui, ui.fonts.text, ui.theme.muted, area, tr("Choose a logit, or the difference of two."));
        return;
    }
    const bool difference = causes.number.kind == NumberKind::difference;
    const Value<ShownAttribution> shown = shown_attribution(session.derived(), session.shown(), number, difference);
    if (!shown->obstacle.empty()) {
        text_block(ui, ui.fonts.text, ui.theme.muted, area, tr(shown->obstacle));
        return;
    }
    const Attribution& attribution = shown->attribution;
    area.low.y +=
        text_block(ui, ui.fonts.text, ui.theme.text, area,
                   tr("{count} terms make {sum}; the run says {logit}.", {{"count", attribution.terms.size()},
                                                                          {"sum", cause_text(attribution.sum)},
                                                                          {"logit", cause_text(attribution.logit)}})) +
        ui.px(8);
    double most = 0.0;
    for (const Contribution& term : attribution.terms) most = std::max(most, std::abs(term.logit));
    ImGui::SetCursorScreenPos(area.low);
    compat::begin_child("writers", {area.width(), std::max(area.height(), 1.0F)});
    const float row = compat::font_size(ui.fonts.mono_small) + ui.px(5), width = ImGui::GetContentRegionAvail().x;
    const float names = std::min(ui.px(260), width * 0.45F), numbers = ui.px(70);
    for (std::size_t i = 0; i < attribution.terms.size(); ++i) {
        const Contribution& term = attribution.terms[i];
        const ImVec2 at = ImGui::GetCursorScreenPos();
        ImGui::PushID(static_cast<int>(i));
        if (ImGui::InvisibleButton("term", {width, row})) {
            commands.push_back(command::GoTo{term.tensor});
            if (term.head) commands.push_back(command::ChooseHead{*term.head});
        }
        ImGui::PopID();
        if (ImGui::IsItemHovered())
            ImGui::GetWindowDrawList()->AddRectFilled(at, {at.x + width, at.y + row}, ui.theme.raised);
        draw_text(ui, ui.fonts.mono_small, {at.x, at.y + ui.px(2)}, ui.theme.text, tr(name_of(term)), names - ui.px(8));
        const std::string text = cause_text(term.logit);
        draw_text(ui, ui.fonts.mono_small,
                  {at.x + names + numbers - compat::text_size(ui.fonts.mono_small, text).x, at.y + ui.px(2)},
                  ui.theme.text, text);
        draw_signed_bar(ui,
                        {{at.x + names + numbers + ui.px(16), at.y + ui.px(4)}, {at.x + width, at.y + row - ui.px(4)}},
                        term.logit, most);
    }
    ImGui::EndChild();
}

}  // namespace decoderscope
