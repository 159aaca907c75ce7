#include "app/views/frame/guarded.h"

#include "app/views/widgets/imgui_compat.h"
#include "engine/base/error.h"
#include "engine/base/translate.h"

namespace decoderscope::views {

namespace {

// What is shown: as long as it is the same, a part would throw again.
struct ShownThen {
    std::uint64_t version = 0;
    core::Cursor cursor;
    std::string tab;
    Dialog dialog = Dialog::none;
    bool operator==(const ShownThen&) const = default;
};

struct FailedPart {
    Sentence why;
    ShownThen shown;
};

// The ids of a part's controls are its own.
class IdsOfPart {
public:
    explicit IdsOfPart(const std::string& part) { ImGui::PushID(part.c_str()); }
    ~IdsOfPart() { ImGui::PopID(); }
    IdsOfPart(const IdsOfPart&) = delete;
    IdsOfPart& operator=(const IdsOfPart&) = delete;
};

// By the part's name.
struct FailedParts {
    std::map<std::string, FailedPart> all;
};

// The sentence about what was thrown; empty if nothing was.
Sentence why_not_drawn(Commands& commands, const std::function<void(Commands&)>& draw) {
    const compat::StackDepths before;
    Commands asked;
    try {
        draw(asked);
    } catch (...) {
        before.restore();
        const Sentence why = message("This part of the window can't be drawn; your work is as it was: {error}",
                                     {{"error", sentence_of_current()}});
        commands.push_back(core::command::Tell{why});
        return why;
    }
    commands.insert(commands.end(), asked.begin(), asked.end());
    return {};
}

// Says why. Returns whether it is to be tried again.
bool draw_failed(const Ui& ui, const std::string& part, Area area, const Sentence& why) {
    begin_part((part + "-failed").c_str(), area);
    const float pad = ui.px(10);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ImGui::SetCursorScreenPos({at.x + pad, at.y + ui.px(6)});
    ImGui::BeginGroup();
    const bool again = button(tr("Try again"), "try-again");
    paragraph({ui.fonts.caption, ui.theme.error}, tr(why), area.width() - 2 * pad - ImGui::GetStyle().ScrollbarSize);
    ImGui::EndGroup();
    ImGui::EndChild();
    return again;
}

}  // namespace

bool guarded(Commands& commands, const std::function<void(Commands&)>& draw) {
    return why_not_drawn(commands, draw).empty();
}

bool draw_guarded(const Ui& ui, const core::Session& session, ViewState& state, const std::string& part, Area area,
                  Commands& commands, const std::function<void(Commands&)>& draw) {
    const DocumentPart noted(part);
    const IdsOfPart ids(part);
    std::map<std::string, FailedPart>& failed = state.part<FailedParts>().all;
    const ShownThen now = {session.shown().version, session.cursor(), state.tab, state.dialog};
    const auto known = failed.find(part);
    if (known == failed.end() || known->second.shown != now) {
        const Sentence why = why_not_drawn(commands, draw);
        failed.erase(part);
        if (why.empty()) return true;
        failed[part] = {why, now};
    }
    if (draw_failed(ui, part, area, failed[part].why)) failed.erase(part);
    return false;
}

}  // namespace decoderscope::views
