// The first minute: what this model does, and three things to try.
#include "app/core/introduction/introduction.h"

#include "app/core/text/wrapping.h"
#include "app/views/lessons/lessons_panel.h"
#include "app/views/shell/lab.h"
#include "app/views/shell/panels.h"
#include "app/views/widgets/imgui_compat.h"
#include "app/views/widgets/prose.h"
#include "engine/model/bundled_texts.h"
#include "engine/translate.h"

#include <algorithm>
#include <filesystem>

namespace decoderscope {

namespace {

constexpr std::size_t kMost = 3;

Suggestion suggestion_of(const FittingTrial& fitting) {
    const Trial& trial = fitting.trial;
    Suggestion suggestion{
        .title = tr(example_text(trial.title)), .tab = trial.tab, .commands = commands_of(trial), .done = fitting.done};
    return suggestion;
}

// What the tabs offer with any model: the first two, and the last for contrast.
std::vector<Suggestion> suggestions_of_labs(const Session& session) {
    std::vector<Suggestion> all;
    for (const Lab& lab : labs())
        if (lab.suggest != nullptr && has_something(lab, session))
            if (std::optional<Suggestion> suggestion = lab.suggest(session)) {
                suggestion->tab = lab.id;
                all.push_back(std::move(*suggestion));
            }
    if (all.size() > kMost) all.erase(all.begin() + kMost - 1, all.end() - 1);
    return all;
}

// Where the offers' buttons begin, and how wide they are, row by row.
struct Flow {
    std::vector<ImVec2> at;
    float height = 0.0F;
};
Flow laid_out(const Ui& ui, const std::vector<float>& widths, ImVec2 from, float right) {
    const float gap = ui.px(8), row = ImGui::GetFrameHeight() + ui.px(6);
    Flow flow{.height = row};
    ImVec2 at = from;
    for (const float width : widths) {
        if (at.x > from.x && at.x + width > right) {
            at = {from.x, at.y + row};
            flow.height += row;
        }
        flow.at.push_back(at);
        at.x += width + gap;
    }
    return flow;
}

std::string name_of(const Session& session) {
    return std::filesystem::path(session.shown().scenario.model()->name).filename().string();
}

bool close_button(const Ui& ui, ImVec2 at, float side) {
    ImGui::SetCursorScreenPos(at);
    const bool clicked = ImGui::InvisibleButton("close", {side, side});
    const bool hovered = ImGui::IsItemHovered();
    ImDrawList& list = *ImGui::GetWindowDrawList();
    if (hovered) list.AddRectFilled(at, {at.x + side, at.y + side}, ui.theme.line, ui.px(4));
    const ImVec2 size = compat::text_size(ui.fonts.text, "×");
    draw_text(ui, ui.fonts.text, {at.x + (side - size.x) * 0.5F, at.y + (side - size.y) * 0.5F},
              hovered ? ui.theme.text : ui.theme.muted, "×");
    tooltip(tr("Close; F1 brings it back"));
    return clicked;
}

}  // namespace

std::vector<Suggestion> suggestions(const Session& session) {
    std::vector<Suggestion> all;
    for (const FittingTrial& fitting : shown_trials(session.derived(), session.shown())->all)
        all.push_back(suggestion_of(fitting));
    for (Suggestion& suggestion : suggestions_of_labs(session)) {
        if (all.size() >= kMost) break;
        all.push_back(std::move(suggestion));
    }
    if (all.size() > kMost) all.resize(kMost);
    return all;
}

void follow(const Suggestion& suggestion, ViewState& state, Commands& commands) {
    if (find_lab(suggestion.tab) != nullptr) state.tab = suggestion.tab;
    commands.insert(commands.end(), suggestion.commands.begin(), suggestion.commands.end());
}

float draw_introduction(const Ui& ui, const Session& session, ViewState& state, Area area, Commands& commands) {
    // What was not saved last time is decided first: two strips would leave little of the stage.
    const bool recovers = session.offer() != nullptr && !state.recovery_later;
    if (state.settings.introduction_closed || session.opening() || recovers || lessons_are_open(state)) return 0.0F;
    const float pad = ui.px(14), side = ImGui::GetFrameHeight();
    const float left = area.low.x + pad, right = area.high.x - pad - side;
    const std::string what =
        tr("{model}: {what}",
           {{"model", name_of(session)},
            {"what", description_of(*session.shown().scenario.model(), session.shown().scenario.config())}});
    // A low window has little room to give.
    ImFont* font = ImGui::GetIO().DisplaySize.y < ui.px(640) ? ui.fonts.caption : ui.fonts.text;
    const auto measure = [&](const std::string& line) { return compat::text_size(font, line).x; };
    const std::vector<std::string> lines = wrapped(what, right - left, measure);
    const float pitch = compat::font_size(font) + ui.px(4);
    const std::vector<Suggestion> offers = suggestions(session);
    std::vector<std::string> titles;
    std::vector<float> widths;
    for (const Suggestion& offer : offers) {
        titles.push_back((offer.done ? "✓ " : "") + offer.title);
        widths.push_back(ImGui::CalcTextSize(titles.back().c_str()).x + ImGui::GetStyle().FramePadding.x * 2);
    }
    // Behind what can be tried stands the way to the lessons.
    const std::string lessons = tr("Learn step by step");
    widths.push_back(ImGui::CalcTextSize(lessons.c_str()).x + ImGui::GetStyle().FramePadding.x * 2);
    const std::string lead = tr("Try:");
    const float lead_width = compat::text_size(ui.fonts.text, lead).x + ui.px(10);
    const float row_y = area.low.y + ui.px(8) + pitch * static_cast<float>(lines.size()) + ui.px(4);
    const Flow flow = laid_out(ui, widths, {left + lead_width, row_y}, area.high.x - pad);
    const float height = row_y + (offers.empty() ? ui.px(4) : flow.height + ui.px(4)) - area.low.y;

    const Area strip = {area.low, {area.high.x, area.low.y + height}};
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddRectFilled(strip.low, strip.high, ui.theme.raised);
    list.AddRectFilled(strip.low, {strip.low.x + ui.px(4), strip.high.y}, ui.theme.accent);
    float y = area.low.y + ui.px(8);
    for (const std::string& line : lines) {
        draw_text(ui, font, {left, y}, ui.theme.text, line);
        y += pitch;
    }
    ImGui::PushID("introduction");
    if (!offers.empty())
        draw_text(ui, ui.fonts.text, {left, row_y + (side - compat::font_size(ui.fonts.text)) * 0.5F}, ui.theme.muted,
                  lead);
    ImGui::PushStyleColor(ImGuiCol_Button, ui.theme.accent_soft);
    for (std::size_t i = 0; i < offers.size(); ++i) {
        ImGui::SetCursorScreenPos(flow.at[i]);
        if (button(titles[i], std::to_string(i))) follow(offers[i], state, commands);
    }
    ImGui::SetCursorScreenPos(flow.at.back());
    if (button(lessons, "lessons")) open_lessons(state);
    ImGui::PopStyleColor();
    if (close_button(ui, {area.high.x - ui.px(6) - side, area.low.y + ui.px(5)}, side))
        state.settings.introduction_closed = true;
    ImGui::PopID();
    return height;
}

}  // namespace decoderscope
