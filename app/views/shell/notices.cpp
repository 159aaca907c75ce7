#include "app/core/text/characters.h"
#include "app/core/text/text_layout.h"
#include "app/views/dialogs/dialogs.h"
#include "app/views/shell/workspace.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <filesystem>

// What is said beside the work, and what was left of earlier work.
namespace decoderscope::views::shell {

namespace {

// The lines that a text was broken into, one below the other. Returns the y below them.
float draw_lines(const Ui& ui, ImFont* font, ImVec2 at, float pitch, std::string_view text,
                 const std::vector<std::string>& lines) {
    const NotedWhole noted(font, at, text);
    for (const std::string& line : lines) {
        draw_text(ui, {font, ui.theme.text}, at, line);
        at.y += pitch;
    }
    return at.y;
}

bool close_button(const Ui& ui, ImVec2 at, float side, const char* tip) {
    const bool clicked = press_at("close", {at, {at.x + side, at.y + side}});
    const bool hovered = ImGui::IsItemHovered();
    ImDrawList& list = *ImGui::GetWindowDrawList();
    if (hovered) list.AddRectFilled(at, {at.x + side, at.y + side}, ui.theme.line, ui.px(4));
    const ImVec2 size = compat::text_size(ui.fonts.text, "×");
    draw_text(ui, {ui.fonts.text, hovered ? ui.theme.text : ui.theme.muted},
              {at.x + (side - size.x) * 0.5F, at.y + (side - size.y) * 0.5F}, "×");
    tooltip(tip);
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

// The side of the cross that sends it away.
constexpr float kCross = 20.0F;

LaidOutMessage laid_out(const Ui& ui, const core::Message& message, const ViewState& state, float width) {
    constexpr std::size_t kMostLines = 9;
    LaidOutMessage laid{.lines = broken(ui.fonts.caption, tr(message.text), width - ui.px(28 + kCross), kMostLines),
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
    if (link(ui, {ui.fonts.caption, ui.theme.accent}, folder, 1))
        commands.push_back(request::ShowFolder{std::filesystem::path(message.path).parent_path().string()});
    ImGui::SetCursorScreenPos({at.x + compat::text_size(ui.fonts.caption, folder).x + ui.px(18), at.y});
    if (link(ui, {ui.fonts.caption, ui.theme.accent}, copy, 2)) ImGui::SetClipboardText(message.path.c_str());
    ImGui::PopID();
}

void draw_message(const Ui& ui, const core::Message& message, const LaidOutMessage& laid, Area area,
                  Commands& commands) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddRectFilled(area.low, area.high, ui.theme.raised);
    list.AddRectFilled(area.low, {area.low.x + ui.px(4), area.high.y},
                       message.failed ? ui.theme.error : ui.theme.accent);
    const float x = area.low.x + ui.px(14), room = area.width() - ui.px(28 + kCross);
    float y = area.low.y + ui.px(8);
    click_at("message", {{x, y}, {x + room, y + laid.pitch * static_cast<float>(laid.lines.size())}});
    if (laid.is_cut) tooltip(tr(message.text).c_str());
    y = draw_lines(ui, ui.fonts.caption, {x, y}, laid.pitch, tr(message.text), laid.lines);
    if (laid.has_file) draw_file_actions(ui, message, {x, y}, commands);
    if (close_button(ui, {area.high.x - ui.px(6 + kCross), area.low.y + ui.px(5)}, ui.px(kCross), tr("Close (Esc)")))
        commands.push_back(core::command::Tell{});
}

// What is to be said beside the work: not what the open dialog says itself.
const core::Message* message_of(const core::Session& session, const ViewState& state) {
    const std::optional<core::Message>& message = session.message();
    return !message || (message->failed && state.dialog == Dialog::open_model) ? nullptr : &*message;
}

// The confirmation on the screen, and since when it has been there to be read.
struct ReadMessage {
    std::optional<std::size_t> number;
    double since = 0.0;  // seconds, ImGui's clock
    bool pointed = false;
};

}  // namespace

// What is said beside the work.

float messages_height(const Ui& ui, const core::Session& session, const ViewState& state, float width) {
    const core::Message* message = message_of(session, state);
    return dialogs::export_progress_height(ui, session) +
           (message != nullptr ? laid_out(ui, *message, state, width).height : 0.0F);
}

void let_message_go(const core::Session& session, ViewState& state, Commands& commands) {
    constexpr double kSeconds = 6.0, kPerCharacter = 0.06;
    ReadMessage& read = state.part<ReadMessage>();
    const std::optional<core::Message>& message = session.message();
    const bool pointed = std::exchange(read.pointed, false);
    if (!message || message->failed) return;
    if (read.number != message->number || pointed) read = {message->number, ImGui::GetTime()};
    state.paced = true;
    if (ImGui::GetTime() - read.since > kSeconds + kPerCharacter * static_cast<double>(tr(message->text).size()))
        commands.push_back(core::command::Tell{});
}

void draw_messages(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands) {
    if (area.height() <= 0.0F) return;
    begin_part("messages", area, ImGuiWindowFlags_NoScrollbar);
    state.part<ReadMessage>().pointed = ImGui::IsWindowHovered();
    const float message_y = area.low.y + dialogs::export_progress_height(ui, session);
    dialogs::draw_export_progress(ui, session, {area.low, {area.high.x, message_y}}, commands);
    if (const core::Message* message = message_of(session, state))
        draw_message(ui, *message, laid_out(ui, *message, state, area.width()), {{area.low.x, message_y}, area.high},
                     commands);
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
