#include "app/views/frame/number_choices.h"

#include <cstddef>

namespace decoderscope::views {

void choose_number(const Ui& ui, const std::string& key, const core::NumberChoices& choices, const char* tip,
                   const char* own_tip, Commands& commands) {
    for (std::size_t i = 0; i < choices.all.size(); ++i) {
        if (i > 0) ImGui::SameLine(0, ui.px(2));
        const core::NumberChoice& choice = choices.all[i];
        if (toggle_button(ui, labelled(choice.label, choice.written).c_str(), i == choices.now,
                          i == 0 ? own_tip : tip) &&
            i != choices.now)
            commands.push_back(core::command::SetOption{key, choice.written});
    }
}

}  // namespace decoderscope::views
