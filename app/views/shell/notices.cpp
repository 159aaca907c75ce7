#include "app/views/shell/workspace.h"

#include "app/core/session/introduction.h"
#include "app/core/text/characters.h"
#include "app/core/text/text_layout.h"
#include "app/views/dialogs/dialogs.h"
#include "app/views/lessons/lessons_panel.h"
#include "app/views/widgets/frame_document.h"
#include "app/views/widgets/imgui_compat.h"
#include "app/views/widgets/keyboard_focus.h"
#include "app/views/widgets/widgets.h"
#include "engine/base/tables.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <filesystem>

// The first minute: what this model does, and three things to try.
namespace decoderscope::views::shell {

namespace {

constexpr std::size_t kMost = 3;

Suggestion suggestion_of(const core::FittingTrial& fitting, const core::Scenario& scenario) {
    const load::Trial& trial = fitting.trial;
    const std::vector<core::Command> commands = core::commands_of(trial, scenario);
    return {.title = tr(asset_text(trial.title)),
            .tab = trial.tab,
            .commands = {commands.begin(), commands.end()},
            .done = fitting.done};
}

// What the tabs offer with any model: the first two, and the last for contrast.
std::vector<Suggestion> suggestions_of_tabs(const core::Session& session) {
    std::vector<Suggestion> all;
    for (const Tab& tab : tabs())
        if (tab.suggest != nullptr && has_something(tab, session))
            if (std::optional<Suggestion> suggestion = tab.suggest(session)) {
                suggestion->tab = tab.id;
                all.push_back(std::move(*suggestion));
            }
    if (all.size() > kMost) all.erase(all.begin() + kMost - 1, all.end() - 1);
    return all;
}

// The lines that a text was broken into, one below the other. Returns the y below them.
float draw_lines(const Ui& ui, ImFont* font, ImVec2 at, float pitch, std::string_view text,
                 const std::vector<std::string>& lines) {
    const NotedWhole noted(font, at, text);
    for (const std::string& line : lines) {
        draw_text(ui, font, at, ui.theme.text, line);
        at.y += pitch;
    }
    return at.y;
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

std::string name_of(const core::Session& session) {
    return std::filesystem::path(session.shown().scenario.about().name).filename().string();
}

bool close_button(const Ui& ui, ImVec2 at, float side) {
    ImGui::SetCursorScreenPos(at);
    const bool clicked = press_area("close", {side, side});
    const bool hovered = ImGui::IsItemHovered();
    ImDrawList& list = *ImGui::GetWindowDrawList();
    if (hovered) list.AddRectFilled(at, {at.x + side, at.y + side}, ui.theme.line, ui.px(4));
    const ImVec2 size = compat::text_size(ui.fonts.text, "×");
    draw_text(ui, ui.fonts.text, {at.x + (side - size.x) * 0.5F, at.y + (side - size.y) * 0.5F},
              hovered ? ui.theme.text : ui.theme.muted, "×");
    tooltip(tr("Close; F1 brings it back"));
    return clicked;
}

// An error or a confirmation as it lies in a column.
struct LaidOutMessage {
    std::vector<std::string> lines;
    float pitch = 0.0F, height = 0.0F;
    bool is_cut = false;
    bool has_file = false;  // which a line of links is about
};

// As much of a line's beginning as fits, up to a folder's end if there is one.
std::size_t fitting_part(ImFont* font, const std::string& line, float width) {
    std::size_t fits = 0, folder = 0, end = 0;
    for (const core::Utf8Character& character : core::characters(line)) {
        end += character.bytes.size();
        if (fits > 0 && compat::text_size(font, line.substr(0, end)).x > width) break;
        fits = end;
        if (character.code == '/' || character.code == '\\') folder = end;
    }
    return folder > fits / 2 ? folder : fits;
}

// Lines of a text; a path that is wider than a line takes several.
std::vector<std::string> broken(ImFont* font, const std::string& text, float width, std::size_t most) {
    const auto measure = [&](const std::string& line) { return compat::text_size(font, line).x; };
    std::vector<std::string> lines;
    for (std::string& line : core::wrapped(text, width, measure, most)) {
        while (lines.size() + 1 < most && measure(line) > width) {
            const std::size_t part = fitting_part(font, line, width);
            lines.push_back(line.substr(0, part));
            line.erase(0, part);
        }
        if (lines.size() < most) lines.push_back(std::move(line));
    }
    return lines;
}

LaidOutMessage laid_out(const Ui& ui, const core::Message& message, const ViewState& state, float width) {
    constexpr std::size_t kMostLines = 9;
    LaidOutMessage laid{.lines = broken(ui.fonts.caption, tr(message.text), width - ui.px(28), kMostLines),
                        .pitch = compat::font_size(ui.fonts.caption) + ui.px(4),
                        .has_file = !message.path.empty() && state.desktop.shows_folders};
    laid.is_cut = laid.lines.size() == kMostLines;
    laid.height = laid.pitch * static_cast<float>(laid.lines.size() + (laid.has_file ? 1 : 0)) + ui.px(16);
    return laid;
}

// What can be done with the file that the message is about.
void draw_file_actions(const Ui& ui, const core::Message& message, ImVec2 at, Commands& commands) {
    const std::string folder = tr("Open the folder"), copy = tr("Copy the path");
    ImGui::PushID("message");
    ImGui::SetCursorScreenPos(at);
    if (link(ui, ui.fonts.caption, ui.theme.accent, folder, 1))
        commands.push_back(request::ShowFolder{std::filesystem::path(message.path).parent_path().string()});
    ImGui::SetCursorScreenPos({at.x + compat::text_size(ui.fonts.caption, folder).x + ui.px(18), at.y});
    if (link(ui, ui.fonts.caption, ui.theme.accent, copy, 2)) ImGui::SetClipboardText(message.path.c_str());
    ImGui::PopID();
}

void draw_message(const Ui& ui, const core::Message& message, const LaidOutMessage& laid, Area area,
                  Commands& commands) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddRectFilled(area.low, area.high, ui.theme.raised);
    list.AddRectFilled(area.low, {area.low.x + ui.px(4), area.high.y},
                       message.failed ? ui.theme.error : ui.theme.accent);
    const float x = area.low.x + ui.px(14), room = area.width() - ui.px(28);
    float y = area.low.y + ui.px(8);
    ImGui::SetCursorScreenPos({x, y});
    ImGui::InvisibleButton("message", {std::max(1.0F, room), laid.pitch * static_cast<float>(laid.lines.size())});
    if (laid.is_cut) tooltip(tr(message.text).c_str());
    y = draw_lines(ui, ui.fonts.caption, {x, y}, laid.pitch, tr(message.text), laid.lines);
    if (laid.has_file) draw_file_actions(ui, message, {x, y}, commands);
}

}  // namespace

std::vector<Suggestion> suggestions(const core::Session& session) {
    std::vector<Suggestion> all;
    for (const core::FittingTrial& fitting : core::shown_trials(session.derived(), session.shown())->all)
        all.push_back(suggestion_of(fitting, session.shown().scenario));
    for (Suggestion& suggestion : suggestions_of_tabs(session)) {
        if (all.size() >= kMost) break;
        all.push_back(std::move(suggestion));
    }
    if (all.size() > kMost) all.resize(kMost);
    return all;
}

void follow(const Suggestion& suggestion, ViewState& state, Commands& commands) {
    if (find_tab(suggestion.tab) != nullptr) state.tab = suggestion.tab;
    commands.insert(commands.end(), suggestion.commands.begin(), suggestion.commands.end());
}

float draw_introduction(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands) {
    // What was not saved last time is decided first: two strips would leave little of the stage.
    const bool recovers = session.offer() != nullptr && !state.part<OffersState>().recovery_later;
    if (state.presenting || state.settings.introduction_closed || session.opening() || recovers ||
        lesson_panel::lessons_are_open(state))
        return 0.0F;
    const float pad = ui.px(14), side = ImGui::GetFrameHeight();
    const float left = area.low.x + pad, right = area.high.x - pad - side;
    const std::string what =
        tr("{model}: {what}", {{"model", name_of(session)}, {"what", core::introduction_of(session.shown().scenario)}});
    // A low window has little room to give.
    ImFont* font = ImGui::GetIO().DisplaySize.y < ui.px(640) ? ui.fonts.caption : ui.fonts.text;
    const auto measure = [&](const std::string& line) { return compat::text_size(font, line).x; };
    // What a model is is said until one of its suggestions is followed.
    std::string& used = state.part<OffersState>().used;
    const std::vector<std::string> lines =
        used == what ? std::vector<std::string>() : core::wrapped(what, right - left, measure);
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
    const float row_y =
        area.low.y + ui.px(4) + (lines.empty() ? 0.0F : ui.px(8) + pitch * static_cast<float>(lines.size()));
    const Flow flow = laid_out(ui, widths, {left + lead_width, row_y}, area.high.x - pad);
    const float height = row_y + (offers.empty() ? ui.px(4) : flow.height + ui.px(4)) - area.low.y;

    const Area strip = {area.low, {area.high.x, area.low.y + height}};
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddRectFilled(strip.low, strip.high, ui.theme.raised);
    list.AddRectFilled(strip.low, {strip.low.x + ui.px(4), strip.high.y}, ui.theme.accent);
    float y = area.low.y + ui.px(8);
    if (!lines.empty()) draw_lines(ui, font, {left, y}, pitch, what, lines);
    ImGui::PushID("introduction");
    if (!offers.empty())
        draw_text(ui, ui.fonts.text, {left, row_y + (side - compat::font_size(ui.fonts.text)) * 0.5F}, ui.theme.muted,
                  lead);
    ImGui::PushStyleColor(ImGuiCol_Button, ui.theme.accent_soft);
    for (std::size_t i = 0; i < offers.size(); ++i) {
        ImGui::SetCursorScreenPos(flow.at[i]);
        if (!button(titles[i], std::to_string(i))) continue;
        follow(offers[i], state, commands);
        used = what;
    }
    ImGui::SetCursorScreenPos(flow.at.back());
    if (button(lessons, "lessons")) lesson_panel::start_lessons(state);
    ImGui::PopStyleColor();
    if (close_button(ui, {area.high.x - ui.px(6) - side, area.low.y + ui.px(5)}, side))
        state.settings.introduction_closed = true;
    ImGui::PopID();
    return height;
}

// What is said beside the work.

float messages_height(const Ui& ui, const core::Session& session, const ViewState& state, float width) {
    const float progress = dialogs::export_progress_height(ui, session);
    return progress + (session.message() ? laid_out(ui, *session.message(), state, width).height : 0.0F);
}

void draw_messages(const Ui& ui, const core::Session& session, const ViewState& state, Area area, Commands& commands) {
    if (area.height() <= 0.0F) return;
    begin_part("messages", area, ImGuiWindowFlags_NoScrollbar);
    const float message_y = area.low.y + dialogs::export_progress_height(ui, session);
    dialogs::draw_export_progress(ui, session, {area.low, {area.high.x, message_y}}, commands);
    if (session.message())
        draw_message(ui, *session.message(), laid_out(ui, *session.message(), state, area.width()),
                     {{area.low.x, message_y}, area.high}, commands);
    ImGui::EndChild();
}

float draw_recovery_bar(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands) {
    const core::Offer* offer = session.offer();
    if (offer == nullptr || state.part<OffersState>().recovery_later || session.opening()) return 0.0F;
    const float buttons = ImGui::CalcTextSize(tr("Open it")).x + ImGui::CalcTextSize(tr("Discard")).x +
                          ImGui::CalcTextSize(tr("Later")).x + ImGui::GetStyle().FramePadding.x * 6 +
                          ImGui::GetStyle().ItemSpacing.x * 2 + ui.px(12);
    const std::string text = tr("Work that was not saved when the program last ended: {work}", {{"work", offer->text}});
    const float room = area.width() - buttons - ui.px(28), pitch = compat::font_size(ui.fonts.caption) + ui.px(4);
    const auto measure = [&](const std::string& line) { return compat::text_size(ui.fonts.caption, line).x; };
    const std::vector<std::string> lines = core::wrapped(text, room, measure);
    const float height = std::max(ui.px(40), pitch * static_cast<float>(lines.size()) + ui.px(14));
    const Area bar = {area.low, {area.high.x, area.low.y + height}};
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddRectFilled(bar.low, bar.high, ui.theme.raised);
    list.AddRectFilled(bar.low, {bar.low.x + ui.px(4), bar.high.y}, ui.theme.accent);
    const float top = bar.low.y + (height - pitch * static_cast<float>(lines.size())) * 0.5F;
    draw_lines(ui, ui.fonts.caption, {bar.low.x + ui.px(14), top}, pitch, text, lines);
    ImGui::SetCursorScreenPos({bar.high.x - buttons, bar.low.y + (height - ImGui::GetFrameHeight()) * 0.5F});
    ImGui::PushID("recovery");
    if (button(tr("Open it"), "open")) commands.push_back(core::command::OpenSession{offer->leftover.path, true});
    tooltip(tr("Your current work stays in the undo history"));
    ImGui::SameLine();
    if (button(tr("Discard"), "discard")) commands.push_back(core::command::DiscardLeftover{});
    tooltip(tr("It is deleted permanently"));
    ImGui::SameLine();
    if (button(tr("Later"), "later")) state.part<OffersState>().recovery_later = true;
    tooltip(tr("It is offered again at the next start"));
    ImGui::PopID();
    return height;
}

}  // namespace decoderscope::views::shell
