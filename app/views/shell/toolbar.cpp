#include "app/views/frame/cards.h"
#include "app/views/shell/workspace.h"

#include "app/core/run/labels.h"
#include "app/core/run/passes_of_text.h"
#include "app/core/session/paths_to_open.h"
#include "app/views/dialogs/dialogs.h"
#include "app/views/input/input_bar.h"
#include "app/views/inspector/inspector.h"
#include "app/views/lessons/lessons_panel.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/base/translate.h"
#include "engine/load/bundled_models.h"

#include <algorithm>
#include <filesystem>

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

void move_norms(const core::PlaceOfNorms& place, Commands& commands) {
    if (place.placement == NormPlacement::pre || place.placement == NormPlacement::post)
        commands.push_back(
            core::command::SetOption{"norm_first", place.placement == NormPlacement::pre ? "true" : "false"});
    else
        commands.push_back(core::command::SetOption{"norm_placement", place.word});
}

// What a type of numbers is, in a sentence.
std::string about_arithmetic(Arithmetic type) {
    if (type == Arithmetic::bfloat16)
        return tr("8 binary digits, the range of float32: each result is rounded to 2 or 3 decimal digits");
    if (type == Arithmetic::float16)
        return tr("11 binary digits, up to 65,504: larger results become ∞, those below 0.00000003 become 0");
    return tr("24 binary digits: what the engine computes in");
}

// Where the norms stand.
void norm_places(const Ui& ui, const core::Session& session, float width, Commands& commands) {
    const NormPlacement now = session.scenario().config().placement();
    std::vector<const char*> labels;
    int chosen = 0;
    const std::span<const core::PlaceOfNorms> places = core::places_of_norms();
    for (std::size_t i = 0; i < places.size(); ++i) {
        labels.push_back(tr(places[i].title));
        if (places[i].placement == now) chosen = static_cast<int>(i);
    }
    const int clicked = segmented(ui, "norm", labels, chosen, width);
    if (clicked >= 0 && clicked != chosen) move_norms(places[static_cast<std::size_t>(clicked)], commands);
    const core::PlaceOfNorms& place = places[static_cast<std::size_t>(chosen)];
    text_line({ui.fonts.mono_small, ui.theme.muted}, place.formula);
}

// The type that weights and results are stored in.
void arithmetic_choice(const Ui& ui, const core::Session& session, float width, Commands& commands) {
    const Arithmetic now = session.scenario().config().arithmetic;
    constexpr std::array kTypes = {Arithmetic::float32, Arithmetic::bfloat16, Arithmetic::float16};
    std::vector<std::string> names;
    std::vector<const char*> labels;
    int chosen = 0;
    for (const Arithmetic type : kTypes) names.emplace_back(name_of(type));
    for (std::size_t i = 0; i < kTypes.size(); ++i) {
        labels.push_back(names[i].c_str());
        if (kTypes[i] == now) chosen = static_cast<int>(i);
    }
    const int clicked = segmented(ui, "arithmetic", labels, chosen, width);
    if (clicked >= 0 && clicked != chosen)
        commands.push_back(core::command::SetOption{"arithmetic", names[static_cast<std::size_t>(clicked)]});
    text_line(ui.note(), about_arithmetic(now));
}

// What of the computation can be changed as a whole.
void how_it_computes(const Ui& ui, const core::Session& session, ViewState& state, float width, Commands& commands) {
    if (state.withheld.configuration || !session.scenario().computes()) return;
    ImGui::Separator();
    text_line(ui.note(), tr("How it computes"));
    norm_places(ui, session, width, commands);
    arithmetic_choice(ui, session, width, commands);
    const bool on = session.scenario().dropout_seed.has_value();
    if (session.scenario().config().dropout != 0.0 && toggle_button(ui, labelled(tr("Dropout"), "dropout").c_str(), on,
                                                                    tr("Drop numbers as in training, with seed 0 (D)")))
        commands.push_back(core::command::SetDropout{on ? std::nullopt : std::optional<std::uint64_t>(0)});
    if (press_row(labelled(tr("What if the whole model …"), "configuration").c_str()))
        state.show(Dialog::configuration);
}

// Returns where its button ends.
float model_menu(const Ui& ui, const core::Session& session, ViewState& state, Commands& commands) {
    const std::string name = std::filesystem::path(session.scenario().about().name).filename().string();
    if (button(fitted(ui.fonts.text, name, ui.px(150)) + "  ▾", "model")) ImGui::OpenPopup("models");
    const float end = ImGui::GetItemRectMax().x;
    std::string about = tr("{name}: {input}", {{"name", name}, {"input", input_text(session.scenario())}});
    if (!session.scenario().about().description.english().empty())
        about += std::string("\n") + tr(session.scenario().about().description);
    for (const Sentence& remark : session.scenario().about().remarks) about += (about.empty() ? "" : "\n") + tr(remark);
    tooltip(about.c_str());
    ImGui::SetNextWindowPos({ImGui::GetItemRectMin().x, ImGui::GetItemRectMax().y + ui.px(4)});
    if (!ImGui::BeginPopup("models")) return end;
    const auto open = [&](Dialog dialog) { state.show(dialog); };
    if (press_row(labelled(tr("Open a model or a session …   Ctrl+O"), "open").c_str())) open(Dialog::open_model);
    if (press_row(labelled(tr("Save the session   Ctrl+S"), "save").c_str()))
        dialogs::save_session(session, state, commands);
    if (press_row(labelled(tr("Save the session as …   Ctrl+Shift+S"), "save_as").c_str())) open(Dialog::save_session);
    if (press_row(labelled(tr("Copy a link to what is open"), "link").c_str()))
        dialogs::copy_link(session, state, commands);
    if (!session.scenario().inputs.tokens.empty() &&
        press_row(labelled(tr("+ sequence: another row of the batch, a copy of this one"), "sequence").c_str()))
        input::add_sequence(session, state, commands);
    if (press_row(labelled(tr("Tint the strip by numbers from a file …"), "overlay").c_str())) open(Dialog::open_model);
    if (session.overlay() && press_row(labelled(tr("Colour the strip by meaning again"), "meaning").c_str()))
        commands.push_back(core::command::RemoveOverlay{});
    if (was_asked(session) && press_row(labelled(tr("What was assumed about the model …"), "assumed").c_str()))
        commands.push_back(core::command::AskAgain{});
    if (can_be_opened_as_model(session.scenario()) &&
        press_row(labelled(tr("Open the recording as a model"), "as_model").c_str()))
        commands.push_back(recording_as_model(session.scenario()));
    if (!state.settings.recent.empty()) {
        ImGui::Dummy({1, ui.px(2)});
        text_line(ui.note(), tr("Recently opened"));
        for (const std::string& path : state.settings.recent)
            if (press_row(fitted(ui.fonts.text, path, ui.px(500)).append("##").append(path).c_str(),
                          path == session.file() || path == session.scenario().about().name))
                commands.push_back(core::opening_command(path));
    }
    const float wide = std::min(ui.px(720), ImGui::GetIO().DisplaySize.x - ui.px(48));
    how_it_computes(ui, session, state, wide, commands);
    ImGui::Separator();
    for (const load::BundledModel& model : load::bundled_models()) {
        const bool chosen = model.name == session.scenario().about().name;
        if (press_row(model.name.c_str(), chosen, ImGuiSelectableFlags_None, {wide, 0}))
            commands.push_back(core::command::OpenModel{model.name, {}});
        tooltip(tr(model.description).c_str());
        ImGui::SameLine();
        ImGui::SetCursorPosX(ui.px(180));
        text_line(ui.note(), fitted(ui.fonts.caption, tr(model.description), wide - ui.px(180)));
    }
    ImGui::EndPopup();
    return end;
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

// What is offered, as a link. Returns where it begins; without room, the model's menu has it.
float draw_offer(const Ui& ui, const core::Session& session, Area area, Commands& commands) {
    const std::optional<Offered> offer = offered(session);
    const float width = offer ? compat::text_size(ui.fonts.caption, offer->text).x : 0.0F;
    if (!offer || width > area.width() * 0.4F) return area.high.x;
    const float x = area.high.x - width;
    ImGui::SetCursorScreenPos({x, (area.low.y + area.high.y - compat::font_size(ui.fonts.caption)) * 0.5F});
    if (link(ui, {ui.fonts.caption, ui.theme.accent}, offer->text, 0)) commands.push_back(offer->command);
    tooltip(offer->tip);
    return x - ui.px(16);
}

// The size of the input of a model that reads no tokens. Without room, the tooltip of the model's menu says it.
void draw_input_text(const Ui& ui, const core::Session& session, Area area) {
    const float y = (area.low.y + area.high.y - compat::font_size(ui.fonts.caption)) * 0.5F;
    const std::string input = input_text(session.scenario());
    draw_text(ui, ui.note(), {area.low.x, y}, input, area.width());
}

// What is worth trying with this model, and what it is.
void try_menu(const Ui& ui, const core::Session& session, ViewState& state, Commands& commands) {
    if (button(tr("Try") + std::string("  ▾"), "try")) ImGui::OpenPopup("try-menu");
    tooltip(tr("What is worth trying with this model"));
    ImGui::SetNextWindowPos({ImGui::GetItemRectMax().x, ImGui::GetItemRectMax().y + ui.px(4)}, ImGuiCond_Always,
                            {1.0F, 0.0F});
    if (!ImGui::BeginPopup("try-menu")) return;
    for (const Suggestion& offer : inspector::suggestions(session))
        if (press_row(((offer.done ? "✓ " : "") + offer.title).c_str())) inspector::follow(offer, state, commands);
    ImGui::Separator();
    if (shows_mask(session, session.step()) &&
        press_row(labelled(tr("Paint the mask   P"), "paint").c_str(), state.part<MaskBrush>().on))
        state.part<MaskBrush>().on = !state.part<MaskBrush>().on;
    if (press_row(labelled(tr("What you are looking at"), "introduction").c_str()))
        inspector::introduce_again(session, state, commands);
    ImGui::EndPopup();
}

// What is needed now and then.
void more_menu(const Ui& ui, ViewState& state) {
    if (button("…", "menu")) ImGui::OpenPopup("menu");  // not a message: a sign
    tooltip(tr("The whole model, training, settings, keys, the presentation"));
    ImGui::SetNextWindowPos({ImGui::GetItemRectMax().x, ImGui::GetItemRectMax().y + ui.px(4)}, ImGuiCond_Always,
                            {1.0F, 0.0F});
    if (!ImGui::BeginPopup("menu")) return;
    for (const Tab& tab : tabs()) {
        if (!tab.aside) continue;
        const std::string title = std::string(tr(tab.title)) + "   " + key_text(tab.key);
        if (press_row(labelled(title, tab.id).c_str(), state.tab == tab.id)) state.tab = tab.id;
        tooltip(tr(tab.question));
    }
    ImGui::Separator();
    if (press_row(labelled(tr("Settings   Ctrl+,"), "settings").c_str())) state.show(Dialog::settings);
    if (press_row(labelled(tr("Keys   F1"), "keys").c_str())) state.show(Dialog::keys);
    if (press_row(labelled(tr("All that can be done   Ctrl+P"), "palette").c_str())) state.show(Dialog::palette);
    if (press_row(labelled(tr("Present   F11"), "present").c_str())) state.presenting = true;
    if (press_row(labelled(tr("Talk   Shift+F10"), "talk").c_str())) state.show(Dialog::talk);
    ImGui::EndPopup();
}

float right_width(const Ui& ui) {
    float width = 2.0F * ImGui::GetFrameHeight() + ui.px(2 + 12);
    for (const std::string& text : {std::string(tr("Learn")), tr("Try") + std::string("  ▾"),
                                    std::string(tr("Export …")), std::string("…")})  // not a message: a sign
        width += button_width(text.c_str()) + ui.px(8);
    return width;
}

void right_side(const Ui& ui, const core::Session& session, ViewState& state, Commands& commands) {
    if (icon_button(ui, "undo", Icon::undo, session.can_undo(), tr("Undo (Ctrl+Z)")))
        commands.push_back(core::command::Undo{});
    ImGui::SameLine(0, ui.px(2));
    if (icon_button(ui, "redo", Icon::redo, session.can_redo(), tr("Redo (Ctrl+Y)")))
        commands.push_back(core::command::Redo{});
    ImGui::SameLine(0, ui.px(12));
    if (button(tr("Learn"), "lessons")) lesson_panel::open_lessons(state);
    tooltip(tr("Learn by predicting and finding out: a course of lessons, and bugs to find (F7)"));
    ImGui::SameLine();
    try_menu(ui, session, state, commands);
    ImGui::SameLine();
    if (button(tr("Export …"), "export")) state.show(Dialog::export_file);
    tooltip(tr("Write the current view to a file, or copy it (Ctrl+E)"));
    ImGui::SameLine();
    more_menu(ui, state);
}

}  // namespace

void draw_toolbar(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddRectFilled(area.low, area.high, ui.theme.panel);
    list.AddLine({area.low.x, area.high.y}, area.high, ui.theme.line);
    const float y = area.low.y + (area.height() - ImGui::GetFrameHeight()) * 0.5F;
    ImGui::SetCursorScreenPos({area.low.x + ui.px(8), y});
    const float begin = model_menu(ui, session, state, commands) + ui.px(8);
    float end = area.high.x - right_width(ui);
    ImGui::SetCursorScreenPos({end, y});
    right_side(ui, session, state, commands);
    end = draw_offer(ui, session, {{begin, area.low.y}, {end - ui.px(16), area.high.y}}, commands);
    if (input::reads_tokens(session))
        input::draw_input(ui, session, state, {{begin, area.low.y}, {end, area.high.y}}, commands);
    else
        draw_input_text(ui, session, {{begin, area.low.y}, {end, area.high.y}});
    if (session.stale())
        list.AddRectFilled({area.low.x, area.high.y - ui.px(2)},
                           {area.low.x + area.width() * static_cast<float>(session.progress().share()), area.high.y},
                           ui.theme.accent);
}

}  // namespace decoderscope::views::shell
