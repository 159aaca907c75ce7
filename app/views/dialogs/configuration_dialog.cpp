#include "app/core/run/settings_that_fit.h"
#include "app/views/dialogs/dialogs.h"
#include "app/views/tabs/compare/tab.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <charconv>

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

// What has been typed so far, and why it can't be, as long as it isn't what the key has. `why_not` says of a text what
// is wrong with it.
template <class WhyNot>
Typing& typing_of(ViewState& state, const std::string& key, const std::string& value, const WhyNot& why_not) {
    auto& all = state.part<ConfigurationState>().typing;
    Typing& typing = all.try_emplace(key, Typing{value, value, value, {}, false}).first->second;
    if (typing.of != value) typing = {value, value, value, {}, false};
    if (typing.text == typing.tried) return typing;
    typing.tried = typing.text;
    typing.error = typing.text == value ? Sentence() : why_not(typing.text);
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

// Returns whether another value was entered. The mistake stands under the line while it is typed.
bool draw_field(Typing& typing, const char* hint = "") {
    if (std::exchange(typing.refused, false)) compat::take_keyboard();
    const bool entered = text_field("##value", typing.text, ImGuiInputTextFlags_EnterReturnsTrue, hint);
    typing.refused = entered && !typing.error.empty();
    return entered && typing.error.empty() && typing.text != typing.of;
}

// What the model has itself, a click away, and what the change does.
void draw_change(const Ui& ui, ViewState& state, const Setting& setting, float x, Commands& commands) {
    ImGui::SameLine();
    ImGui::SetCursorPosX(x);
    ImGui::AlignTextToFramePadding();
    if (link(ui, {ui.fonts.caption, ui.theme.accent}, tr("the model’s own: {value}", {{"value", setting.own}}), 1))
        commands.push_back(core::command::SetOption{setting.key, setting.own});
    ImGui::SameLine(0, ui.px(14));
    if (!link(ui, {ui.fonts.caption, ui.theme.accent}, tr("what it changes →"), 2)) return;
    auto& tab = state.part<compare::CompareTabState>();
    tab.against = compare::Against::configuration;
    tab.option = {setting.key, setting.own};
    state.tab = core::files::kDiffTab;
    close_dialog(state);
}

void draw_setting(const Ui& ui, const core::Session& session, ViewState& state, const Setting& setting,
                  const std::string& value, Commands& commands) {
    const float start = ImGui::GetCursorPosX();
    ImGui::PushID(setting.key.c_str());
    ImGui::AlignTextToFramePadding();
    const bool changed = value != setting.own;
    text_line(ui.number(), setting.key);
    ImGui::SameLine();
    ImGui::SetCursorPosX(start + ui.px(kKeyWidth));
    ImGui::SetNextItemWidth(ui.px(kValueWidth));
    Sentence error;
    if (setting.is_switch()) {
        draw_switch(ui, setting, value, commands);
    } else if (!setting.has_others) {
        draw_list(setting, value, commands);
    } else {
        const auto why_not = [&](const std::string& text) {
            return core::why_not(session.scenario(), setting.key, text);
        };
        Typing& typing = typing_of(state, setting.key, value, why_not);
        if (draw_field(typing)) commands.push_back(core::command::SetOption{setting.key, typing.text});
        error = typing.error;
    }
    if (changed) draw_change(ui, state, setting, start + ui.px(kKeyWidth + kValueWidth + 14), commands);
    if (!error.empty()) paragraph({ui.fonts.caption, ui.theme.error}, tr(error), ui.px(kConfigurationWidth));
    ImGui::PopID();
}

// The seed that a text is; without one, nothing is dropped. Nothing if it is no seed.
std::optional<std::optional<std::uint64_t>> seed_of(const std::string& text) {
    if (text.empty()) return std::optional<std::uint64_t>();
    std::uint64_t number = 0;
    const char* end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, number);
    if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
    return number;
}

Sentence why_no_seed(const std::string& text) {
    if (seed_of(text)) return {};
    return message("seed: expected {expected}, found {found}",
                   {{"expected", message("an integer from 0")}, {"found", text}});
}

// Dropout's seed isn't a key of the configuration.
void draw_seed(const Ui& ui, const core::Session& session, ViewState& state, Commands& commands) {
    const std::optional<std::uint64_t> seed = session.scenario().dropout_seed;
    Typing& typing = typing_of(state, "", seed ? std::to_string(*seed) : std::string(), why_no_seed);
    const float start = ImGui::GetCursorPosX();
    ImGui::PushID("seed");
    ImGui::AlignTextToFramePadding();
    text_line(ui.body(), tr("seed of dropout"));
    ImGui::SameLine();
    ImGui::SetCursorPosX(start + ui.px(kKeyWidth));
    ImGui::SetNextItemWidth(ui.px(kValueWidth));
    if (draw_field(typing, tr("empty: nothing is dropped")))
        commands.push_back(core::command::SetDropout{*seed_of(typing.text)});
    if (!typing.error.empty())
        paragraph({ui.fonts.caption, ui.theme.error}, tr(typing.error), ui.px(kConfigurationWidth));
    ImGui::PopID();
}

}  // namespace

void draw_configuration_dialog(const Ui& ui, const core::Session& session, ViewState& state, Commands& commands) {
    auto& configuration = state.part<ConfigurationState>();
    if (state.dialog_opens) configuration = {};
    const core::Snapshot& shown = session.shown();
    if (const auto now = core::diff::shown_alternatives(session.derived(), shown.scenario, shown.run))
        configuration.listed = now;
    text_line(ui.title(), tr("What if the whole model …"));
    ImGui::Dummy({ui.px(kConfigurationWidth), ui.px(2)});
    if (!configuration.listed || !session.scenario().computes()) {
        text_line(ui.note(), tr("Being tried out …"));
    } else {
        const Overrides values = config_values(session.scenario().config());
        const std::vector<Setting>& settings = configuration.listed->settings;
        paragraph(
            ui.note(),
            tr("{count} of the {all} keys of the configuration can be changed here: the others need other weights "
               "or change nothing in this model.",
               {{"count", settings.size()}, {"all", values.size()}}),
            ui.px(kConfigurationWidth));
        draw_seed(ui, session, state, commands);
        for (const Setting& setting : settings)
            draw_setting(ui, session, state, setting, core::value_of(values, setting.key), commands);
    }
    if (button(tr("Close"), "close") || (!state.dialog_opens && pressed(Key::escape))) close_dialog(state);
}

}  // namespace decoderscope::views::dialogs
