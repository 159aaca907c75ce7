#include "app/core/run/settings_that_fit.h"
#include "app/views/dialogs/dialogs.h"
#include "app/views/tabs/diff/tab.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace decoderscope::views::dialogs {

namespace {

using core::Setting;

constexpr float kKeyWidth = 230.0F, kValueWidth = 200.0F, kConfigurationWidth = 760.0F;

// A value as it is typed, until Enter.
struct Typing {
    std::string text;
    std::string of;  // the key's value when typing began
    std::string tried;
    Sentence error;        // of what was tried
    bool refused = false;  // Enter did nothing: the keyboard goes back to the field
};

struct ConfigurationState {
    core::Value<core::diff::Alternatives> listed;  // of this run; of the one before while it is tried out
    std::map<std::string, Typing> typing;          // by key
};

// What has been typed so far, and why it can't be, as long as it isn't what the key has.
Typing& typing_of(ConfigurationState& state, const core::Scenario& scenario, const std::string& key,
                  const std::string& value) {
    Typing& typing = state.typing.try_emplace(key, Typing{value, value, value, {}, false}).first->second;
    if (typing.of != value) typing = {value, value, value, {}, false};
    if (typing.text == typing.tried) return typing;
    typing.tried = typing.text;
    typing.error = typing.text == value ? Sentence() : core::why_not(scenario, key, typing.text);
    return typing;
}

void draw_list(const Setting& setting, const std::string& value, Commands& commands) {
    if (!begin_list("##value", value.c_str(), ImGuiComboFlags_HeightLarge)) return;
    std::vector<std::string> values = setting.others;
    if (std::ranges::find(values, value) == values.end()) values.insert(values.begin(), value);
    for (const std::string& other : values)
        if (press_row(other.c_str(), other == value) && other != value)
            commands.push_back(core::command::SetOption{setting.key, other});
    ImGui::EndCombo();
}

void draw_switch(const Ui& ui, const Setting& setting, const std::string& value, Commands& commands) {
    static constexpr std::array kValues = {"false", "true"};
    const int now = value == "true" ? 1 : 0;
    const int clicked = segmented(ui, "value", kValues, now);
    if (clicked >= 0 && clicked != now)
        commands.push_back(core::command::SetOption{setting.key, kValues[static_cast<std::size_t>(clicked)]});
}

// The mistake stands under the line while it is typed.
void draw_field(Typing& typing, const Setting& setting, Commands& commands) {
    if (std::exchange(typing.refused, false)) compat::take_keyboard();
    const bool entered = text_field("##value", typing.text, ImGuiInputTextFlags_EnterReturnsTrue);
    typing.refused = entered && !typing.error.empty();
    if (entered && typing.error.empty() && typing.text != typing.of)
        commands.push_back(core::command::SetOption{setting.key, typing.text});
}

// What the model has itself, a click away, and what the change does.
void draw_change(const Ui& ui, ViewState& state, const Setting& setting, float x, Commands& commands) {
    ImGui::SameLine();
    ImGui::SetCursorPosX(x);
    ImGui::AlignTextToFramePadding();
    if (link(ui, ui.fonts.caption, ui.theme.accent, tr("the model’s own: {value}", {{"value", setting.own}}), 1))
        commands.push_back(core::command::SetOption{setting.key, setting.own});
    ImGui::SameLine(0, ui.px(14));
    if (!link(ui, ui.fonts.caption, ui.theme.accent, tr("what it changes →"), 2)) return;
    auto& diff = state.part<diff::DiffTabState>();
    diff.against = diff::Against::configuration;
    diff.option = {setting.key, setting.own};
    state.tab = core::files::kDiffTab;
    close_dialog(state);
}

void draw_setting(const Ui& ui, const core::Session& session, ViewState& state, const Setting& setting,
                  const std::string& value, Commands& commands) {
    const float start = ImGui::GetCursorPosX();
    ImGui::PushID(setting.key.c_str());
    ImGui::AlignTextToFramePadding();
    const bool changed = value != setting.own;
    text_line(ui.fonts.mono_small, changed ? ui.theme.accent : ui.theme.text, setting.key);
    ImGui::SameLine();
    ImGui::SetCursorPosX(start + ui.px(kKeyWidth));
    ImGui::SetNextItemWidth(ui.px(kValueWidth));
    Sentence error;
    if (setting.is_switch()) {
        draw_switch(ui, setting, value, commands);
    } else if (!setting.has_others) {
        draw_list(setting, value, commands);
    } else {
        Typing& typing = typing_of(state.part<ConfigurationState>(), session.scenario(), setting.key, value);
        draw_field(typing, setting, commands);
        error = typing.error;
    }
    if (changed) draw_change(ui, state, setting, start + ui.px(kKeyWidth + kValueWidth + 14), commands);
    if (!error.empty()) paragraph(ui.fonts.caption, ui.theme.error, tr(error), ui.px(kConfigurationWidth));
    ImGui::PopID();
}

// Dropout's seed isn't a key of the configuration; without one, nothing is dropped.
void draw_seed(const Ui& ui, const core::Session& session, ViewState& state, Commands& commands) {
    const std::optional<std::uint64_t> seed = session.scenario().dropout_seed;
    const std::string now = seed ? std::to_string(*seed) : std::string();
    auto& typing =
        state.part<ConfigurationState>().typing.try_emplace("", Typing{now, now, now, {}, false}).first->second;
    if (typing.of != now) typing = {now, now, now, {}, false};
    const float start = ImGui::GetCursorPosX();
    ImGui::AlignTextToFramePadding();
    text_line(ui.fonts.text, seed ? ui.theme.accent : ui.theme.text, tr("seed of dropout"));
    ImGui::SameLine();
    ImGui::SetCursorPosX(start + ui.px(kKeyWidth));
    ImGui::SetNextItemWidth(ui.px(kValueWidth));
    const bool entered =
        text_field("##seed", typing.text, ImGuiInputTextFlags_EnterReturnsTrue, tr("empty: nothing is dropped"));
    std::uint64_t number = 0;
    const char* end = typing.text.data() + typing.text.size();
    const auto read = std::from_chars(typing.text.data(), end, number);
    const bool fits = typing.text.empty() || (read.ec == std::errc() && read.ptr == end);
    if (!fits)
        paragraph(ui.fonts.caption, ui.theme.error,
                  tr("seed: expected {expected}, found {found}",
                     {{"expected", message("an integer from 0")}, {"found", typing.text}}),
                  ui.px(kConfigurationWidth));
    if (entered && fits && typing.text != now)
        commands.push_back(
            core::command::SetDropout{typing.text.empty() ? std::nullopt : std::optional<std::uint64_t>(number)});
}

}  // namespace

void draw_configuration_dialog(const Ui& ui, const core::Session& session, ViewState& state, Commands& commands) {
    auto& configuration = state.part<ConfigurationState>();
    if (state.dialog_opens) configuration = {};
    const core::Snapshot& shown = session.shown();
    if (const auto now = core::diff::shown_alternatives(session.derived(), shown.scenario, shown.run))
        configuration.listed = now;
    text_line(ui.fonts.heading, ui.theme.text, tr("What if the whole model …"));
    ImGui::Dummy({ui.px(kConfigurationWidth), ui.px(2)});
    if (!configuration.listed || !session.scenario().computes()) {
        text_line(ui.fonts.caption, ui.theme.muted, tr("Being tried out …"));
    } else {
        const Overrides values = config_values(session.scenario().config());
        const std::vector<Setting>& settings = configuration.listed->settings;
        paragraph(
            ui.fonts.caption, ui.theme.muted,
            tr("{count} of the {all} keys of the configuration can be changed here: the others need other weights "
               "or change nothing in this model.",
               {{"count", settings.size()}, {"all", values.size()}}),
            ui.px(kConfigurationWidth));
        draw_seed(ui, session, state, commands);
        for (const Setting& setting : settings)
            draw_setting(ui, session, state, setting,
                         std::ranges::find(values, setting.key, &Overrides::value_type::first)->second, commands);
    }
    if (button(tr("Close"), "close") || (!state.dialog_opens && pressed(Key::escape))) close_dialog(state);
}

}  // namespace decoderscope::views::dialogs
