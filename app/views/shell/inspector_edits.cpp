#include "app/core/session/edit_groups.h"
#include "app/views/shell/inspector_parts.h"
#include "engine/translate.h"

#include <algorithm>
#include <tuple>

namespace decoderscope {

namespace {

// Too many lines can't be read: a band over a long input makes thousands of edits.
constexpr std::size_t kMostListed = 60;

struct GroupedEdits {
    std::vector<EditGroup> groups;
};

void line_of_edit(const Ui& ui, const std::string& text, std::vector<std::size_t> numbers, const char* tip, int id,
                  Commands& commands) {
    if (link(ui, ui.fonts.mono_small, ui.theme.accent, "×", id))
        commands.push_back(command::RemoveEdits{std::move(numbers)});
    tooltip(tip);
    ImGui::SameLine(0, ui.px(6));
    paragraph(ui.fonts.mono_small, ui.theme.text, text);
}

void and_more(const Ui& ui, std::size_t more) {
    text_line(ui.fonts.caption, ui.theme.muted, tr_n("… and {count} more", "… and {count} more", more));
}

// The edits of a group, where it is open.
void list_members(const Ui& ui, const std::vector<Edit>& edits, const EditGroup& group, Commands& commands) {
    ImGui::Indent(ui.px(14));
    for (std::size_t i = 0; i < std::min(group.numbers.size(), kMostListed); ++i)
        line_of_edit(ui, describe(edits[group.numbers[i]]), {group.numbers[i]}, tr("Undo this edit"),
                     static_cast<int>(i), commands);
    if (group.numbers.size() > kMostListed) and_more(ui, group.numbers.size() - kMostListed);
    ImGui::Unindent(ui.px(14));
}

void list_group(const Ui& ui, ViewState& state, const std::vector<Edit>& edits, const EditGroup& group, int id,
                Commands& commands) {
    if (group.numbers.size() == 1)
        return line_of_edit(ui, tr(group.text), group.numbers, tr("Undo this edit"), id, commands);
    const std::string name = group.text.english();
    const bool open = state.open_edits.contains(name);
    ImGui::PushID(id);
    if (link(ui, ui.fonts.mono_small, ui.theme.muted, open ? "▾" : "▸", -2)) {
        if (open)
            state.open_edits.erase(name);
        else
            state.open_edits.insert(name);
    }
    tooltip(open ? tr("Close the group") : tr("List its edits one by one"));
    ImGui::SameLine(0, ui.px(4));
    line_of_edit(ui, tr(group.text), group.numbers, tr("Undo all of these edits"), -3, commands);
    if (open) list_members(ui, edits, group, commands);
    ImGui::PopID();
}

}  // namespace

void list_edits(const Ui& ui, const Session& session, ViewState& state, Commands& commands) {
    const std::vector<Edit>& edits = session.scenario().edits;
    if (edits.empty()) return;
    inspector_line(ui);
    text_line(ui.fonts.caption, ui.theme.muted, tr_n("{count} edit", "{count} edits", edits.size()));
    ImGui::SameLine();
    if (link(ui, ui.fonts.caption, ui.theme.accent, tr("clear all"), -1)) commands.push_back(command::ClearEdits{});
    const Value<GroupedEdits> grouped = session.derived().get<GroupedEdits>(
        {session.shown().run}, std::make_tuple(session.changes()), [&] { return GroupedEdits{edit_groups(edits)}; });
    for (std::size_t i = 0; i < std::min(grouped->groups.size(), kMostListed); ++i)
        list_group(ui, state, edits, grouped->groups[i], static_cast<int>(i), commands);
    if (grouped->groups.size() > kMostListed) and_more(ui, grouped->groups.size() - kMostListed);
}

}  // namespace decoderscope
