#include "app/views/shell/workspace.h"

#include "app/core/run/labels.h"
#include "app/core/run/passes_of_text.h"
#include "app/core/session/paths_to_open.h"
#include "app/views/dialogs/saving.h"
#include "app/views/lessons/lessons_panel.h"
#include "app/views/widgets/imgui_compat.h"
#include "app/views/widgets/keyboard_focus.h"
#include "app/views/widgets/keys_and_mouse.h"
#include "engine/base/translate.h"
#include "engine/load/bundled_models.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace decoderscope::views::shell {

namespace {

core::Command recording_as_model(const core::Scenario& recording) {
    return core::command::OpenModel{recording.about().path, {}, {}, core::OpenAs::model};
}

// What the model runs on, in a few words.
std::string input_text(const core::Scenario& scenario) {
    if (const load::RecordedRun* recorded = scenario.recorded())
        return tr_n("{count} tensor, recorded elsewhere", "{count} tensors, recorded elsewhere",
                    recorded->plan->steps().size());
    const Inputs& in = scenario.inputs;
    const Arguments sizes = {{"batch", in.batch()}, {"pos", in.pos()}};
    const Index all = in.batch() * in.pos();
    Sentence own = in.tokens.empty() ? message_n("{batch} × {pos} vector", "{batch} × {pos} vectors", all, sizes)
                                     : message_n("{batch} × {pos} token", "{batch} × {pos} tokens", all, sizes);
    if (core::shown_pass(scenario) != nullptr)
        own = message("{input}, {pass}", {{"input", own}, {"pass", core::name_of_pass(scenario)}});
    if (!in.encoder_tokens.empty())
        return tr_n("{input}, source {count} token", "{input}, source {count} tokens", in.encoder_tokens.dim(1),
                    {{"input", own}});
    if (!in.memory.empty())
        return tr_n("{input}, memory {count} vector", "{input}, memory {count} vectors", in.memory.dim(1),
                    {{"input", own}});
    return tr(own);
}

bool can_be_opened_as_model(const core::Scenario& scenario) {
    return !scenario.computes() && scenario.recorded()->has_parameters;
}

void model_menu(const Ui& ui, const core::Session& session, ViewState& state, Commands& commands) {
    const std::string name = std::filesystem::path(session.scenario().about().name).filename().string();
    if (button(fitted(ui.fonts.text, name, ui.px(190)) + "  ▾", "model")) ImGui::OpenPopup("models");
    std::string about = tr("{name}: {input}", {{"name", name}, {"input", input_text(session.scenario())}});
    if (!session.scenario().about().description.english().empty())
        about += std::string("\n") + tr(session.scenario().about().description);
    for (const Sentence& remark : session.scenario().about().remarks) about += (about.empty() ? "" : "\n") + tr(remark);
    tooltip(about.c_str());
    ImGui::SetNextWindowPos({ImGui::GetItemRectMin().x, ImGui::GetItemRectMax().y + ui.px(4)});
    if (!ImGui::BeginPopup("models")) return;
    const auto open = [&](Dialog dialog) { state.show(dialog); };
    if (press_row(labelled(tr("Open a model or a session …   Ctrl+O"), "open").c_str())) open(Dialog::open_model);
    if (press_row(labelled(tr("Save the session   Ctrl+S"), "save").c_str()))
        dialogs::save_session(session, state, commands);
    if (press_row(labelled(tr("Save the session as …   Ctrl+Shift+S"), "save_as").c_str())) open(Dialog::save_session);
    if (press_row(labelled(tr("Copy a link to what is open"), "link").c_str()))
        dialogs::copy_link(session, state, commands);
    if (press_row(labelled(tr("Tint the map and timeline by numbers from a file …"), "overlay").c_str()))
        open(Dialog::open_model);
    if (session.overlay() &&
        press_row(labelled(tr("Colour the map and the timeline by meaning again"), "meaning").c_str()))
        commands.push_back(core::command::RemoveOverlay{});
    if (session.scenario().computes() && !state.withheld.configuration &&
        press_row(labelled(tr("What if the whole model …"), "configuration").c_str()))
        open(Dialog::configuration);
    if (was_asked(session) && press_row(labelled(tr("What was assumed about the model …"), "assumed").c_str()))
        commands.push_back(core::command::AskAgain{});
    if (can_be_opened_as_model(session.scenario()) &&
        press_row(labelled(tr("Open the recording as a model"), "as_model").c_str()))
        commands.push_back(recording_as_model(session.scenario()));
    if (!state.settings.recent.empty()) {
        ImGui::Dummy({1, ui.px(2)});
        text_line(ui.fonts.caption, ui.theme.muted, tr("Recently opened"));
        for (const std::string& path : state.settings.recent)
            if (press_row(fitted(ui.fonts.text, path, ui.px(500)).append("##").append(path).c_str(),
                          path == session.file() || path == session.scenario().about().name))
                commands.push_back(core::opening_command(path));
    }
    ImGui::Separator();
    const float wide = std::min(ui.px(720), ImGui::GetIO().DisplaySize.x - ui.px(48));
    for (const load::BundledModel& model : load::bundled_models()) {
        const bool chosen = model.name == session.scenario().about().name;
        if (press_row(model.name.c_str(), chosen, ImGuiSelectableFlags_None, {wide, 0}))
            commands.push_back(core::command::OpenModel{model.name, {}});
        tooltip(tr(model.description).c_str());
        ImGui::SameLine();
        ImGui::SetCursorPosX(ui.px(180));
        text_line(ui.fonts.caption, ui.theme.muted, fitted(ui.fonts.caption, tr(model.description), wide - ui.px(180)));
    }
    ImGui::EndPopup();
}

void move_norms(const core::PlaceOfNorms& place, Commands& commands) {
    if (place.placement == NormPlacement::pre || place.placement == NormPlacement::post)
        commands.push_back(
            core::command::SetOption{"norm_first", place.placement == NormPlacement::pre ? "true" : "false"});
    else
        commands.push_back(core::command::SetOption{"norm_placement", place.word});
}

// All four places, with what each means.
void places_menu(const Ui& ui, NormPlacement now, Commands& commands) {
    ImGui::SameLine(0, ui.px(2));
    if (focusable(ImGui::Button("▾##places"))) ImGui::OpenPopup("places");  // its tooltip names it
    tooltip(tr("Other norm placements: Peri-Norm (Gemma 2), reordered (OLMo 2)"));
    ImGui::SetNextWindowPos({ImGui::GetItemRectMin().x, ImGui::GetItemRectMax().y + ui.px(4)});
    if (!ImGui::BeginPopup("places")) return;
    for (const core::PlaceOfNorms& place : core::places_of_norms()) {
        const std::string label = std::string(tr(place.title)) + "   " + place.formula;
        if (press_row(labelled(label.c_str(), place.word).c_str(), place.placement == now) && place.placement != now)
            move_norms(place, commands);
        tooltip(tr("{meaning}\nNorms that the model lacks there get gain 1 and shift 0.", {{"meaning", place.meaning}})
                    .c_str());
    }
    ImGui::EndPopup();
}

// Pre-Norm and Post-Norm side by side, and the other places in a menu; one of those stands beside them while it is on.
void norm_switch(const Ui& ui, const core::Session& session, Commands& commands) {
    const NormPlacement now = session.scenario().config().placement();
    std::vector<const core::PlaceOfNorms*> shown;
    for (const core::PlaceOfNorms& place : core::places_of_norms())
        if (place.placement == NormPlacement::pre || place.placement == NormPlacement::post || place.placement == now)
            shown.push_back(&place);
    std::vector<const char*> labels;
    int chosen = 0;
    for (std::size_t i = 0; i < shown.size(); ++i) {
        labels.push_back(tr(shown[i]->title));
        if (shown[i]->placement == now) chosen = static_cast<int>(i);
    }
    const int clicked = segmented(ui, "norm", labels, chosen);
    if (clicked >= 0 && clicked != chosen) move_norms(*shown[static_cast<std::size_t>(clicked)], commands);
    places_menu(ui, now, commands);
}

// Calm, it is there only while it is on.
void dropout_switch(const Ui& ui, const core::Session& session, bool calm, Commands& commands) {
    const bool on = session.scenario().dropout_seed.has_value();
    const Config& config = session.scenario().config();
    if (config.dropout == 0.0 || (calm && !on)) return;
    if (toggle_button(ui, labelled(tr("Dropout"), "dropout").c_str(), on,
                      tr("Drop numbers as in training, with seed 0 (D)")))
        commands.push_back(core::command::SetDropout{on ? std::nullopt : std::optional<std::uint64_t>(0)});
    ImGui::SameLine();
}

// What a type of numbers is, in a sentence.
std::string about_arithmetic(Arithmetic type) {
    switch (type) {
        case Arithmetic::float32:
            break;
        case Arithmetic::bfloat16:
            return tr("8 binary digits, the range of float32: each result is rounded to 2 or 3 decimal digits");
        case Arithmetic::float16:
            return tr("11 binary digits, up to 65,504: larger results become ∞, those below 0.00000003 become 0");
    }
    return tr("24 binary digits: what the engine computes in");
}

// The type that weights and results are stored in. Calm, it is there only while it isn't float32.
void arithmetic_menu(const Ui& ui, const core::Session& session, bool calm, Commands& commands) {
    const Arithmetic now = session.scenario().config().arithmetic;
    if (calm && now == Arithmetic::float32) return;
    if (button(std::string(name_of(now)) + "  ▾", "arithmetic")) ImGui::OpenPopup("arithmetic");
    tooltip(tr("What weights and results are rounded to, each once, as PyTorch does it"));
    ImGui::SetNextWindowPos({ImGui::GetItemRectMin().x, ImGui::GetItemRectMax().y + ui.px(4)});
    if (ImGui::BeginPopup("arithmetic")) {
        for (const Arithmetic type : {Arithmetic::float32, Arithmetic::bfloat16, Arithmetic::float16}) {
            const std::string name(name_of(type));
            if (press_row((name + "##" + name).c_str(), type == now) && type != now)
                commands.push_back(core::command::SetOption{"arithmetic", name});
            tooltip(about_arithmetic(type).c_str());
        }
        ImGui::EndPopup();
    }
    ImGui::SameLine();
}

// Returns where the buttons begin.
float right_side(const Ui& ui, ViewState& state, Area area) {
    const auto dialog = [&](Dialog which) { state.show(which); };
    // The way to everything stands where a newcomer looks; the calm window is chosen in the settings.
    const bool calm = state.is_calm();
    const float everything =
        calm ? ImGui::CalcTextSize(tr("Full layout")).x + ImGui::GetStyle().FramePadding.x * 2 + ui.px(8) : 0.0F;
    const float width = everything + ui.px(8) * 4 + ImGui::CalcTextSize(tr("Lessons")).x +
                        ImGui::CalcTextSize(tr("Export …")).x + ImGui::CalcTextSize(tr("Settings")).x +
                        ImGui::CalcTextSize("?").x + ImGui::GetStyle().FramePadding.x * 8;
    ImGui::SetCursorScreenPos({area.high.x - width, ImGui::GetCursorScreenPos().y});
    if (calm) {
        if (button(tr("Full layout"), "everything")) state.show_everything(true);
        tooltip(
            tr("All tabs, the timeline, each step in the map, all rows of the batch (F8; F8 again returns to this)"));
        ImGui::SameLine();
    }
    if (button(tr("Lessons"), "lessons")) lesson_panel::open_lessons(state);
    tooltip(tr("Learn by predicting and finding out: a course of lessons, and bugs to find (F7)"));
    ImGui::SameLine();
    if (button(tr("Export …"), "export")) dialog(Dialog::export_file);
    tooltip(tr("Write the current view to a file, or copy it (Ctrl+E)"));
    ImGui::SameLine();
    if (button(tr("Settings"), "settings")) dialog(Dialog::settings);
    tooltip(tr("Theme, colour map, text size (Ctrl+,)"));
    ImGui::SameLine();
    if (focusable(ImGui::Button("?"))) dialog(Dialog::keys);
    tooltip(tr("Keys (F1)"));
    return area.high.x - width;
}

// Something about the model that can be changed with a click.
struct Offered {
    std::string text;
    const char* tip = "";
    core::Command command;
};
std::optional<Offered> offered(const core::Session& session) {
    if (was_asked(session))
        return Offered{
            tr("what was assumed"),
            tr("Shows what was assumed or asked because the model's files don't say it, and lets you change it"),
            core::command::AskAgain{}};
    if (can_be_opened_as_model(session.scenario()))
        return Offered{tr("open it as a model"),
                       tr("The recording contains parameters: as a model it can be recomputed, explained and edited"),
                       recording_as_model(session.scenario())};
    return std::nullopt;
}

// What is offered, as a link, and the size of the model's input. If there is no room, the model's menu and its tooltip
// say it.
void draw_input_text(const Ui& ui, const core::Session& session, Area area, Commands& commands) {
    ImFont* font = ui.fonts.caption;
    const float y = area.low.y + (area.height() - compat::font_size(font)) * 0.5F;
    float x = area.low.x;
    const std::optional<Offered> offer = offered(session);
    if (const float width = offer ? compat::text_size(font, offer->text).x : 0.0F; offer && x + width < area.high.x) {
        ImGui::SetCursorScreenPos({x, y});
        if (link(ui, font, ui.theme.accent, offer->text, 0)) commands.push_back(offer->command);
        tooltip(offer->tip);
        x += width + ui.px(16);
    }
    const std::string input = input_text(session.scenario());
    if (x + compat::text_size(font, input).x < area.high.x) draw_text(ui, font, {x, y}, ui.theme.muted, input);
}

}  // namespace

void draw_toolbar(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddRectFilled(area.low, area.high, ui.theme.panel);
    list.AddLine({area.low.x, area.high.y}, area.high, ui.theme.line);
    const float y = area.low.y + (area.height() - ImGui::GetFrameHeight()) * 0.5F;
    ImGui::SetCursorScreenPos({area.low.x + ui.px(8), y});
    model_menu(ui, session, state, commands);
    ImGui::SameLine(0, ui.px(16));
    if (!state.withheld.configuration) {
        if (session.scenario().computes()) {
            norm_switch(ui, session, commands);
            ImGui::SameLine(0, ui.px(16));
            dropout_switch(ui, session, state.is_calm(), commands);
            arithmetic_menu(ui, session, state.is_calm(), commands);
        }
    }
    if (icon_button(ui, "undo", Icon::undo, session.can_undo(), tr("Undo (Ctrl+Z)")))
        commands.push_back(core::command::Undo{});
    ImGui::SameLine(0, ui.px(2));
    if (icon_button(ui, "redo", Icon::redo, session.can_redo(), tr("Redo (Ctrl+Y)")))
        commands.push_back(core::command::Redo{});
    const float end = ImGui::GetItemRectMax().x;
    ImGui::SameLine();
    const float start = right_side(ui, state, area);
    draw_input_text(ui, session, {{end + ui.px(16), area.low.y}, {start - ui.px(16), area.high.y}}, commands);
    if (session.stale())
        list.AddRectFilled({area.low.x, area.high.y - ui.px(2)},
                           {area.low.x + area.width() * session.progress(), area.high.y}, ui.theme.accent);
}

}  // namespace decoderscope::views::shell
