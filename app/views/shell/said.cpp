// The picture on the stage in words, at the stage's foot: for whoever can't see it, and for whoever wants to quote it.
// And the window as a document, for a page's reader (app/window/browser/document.js).
#include "app/core/figure/said.h"
#include "app/views/dialogs/dialogs.h"
#include "app/views/shell/workspace.h"
#include "app/views/widgets/imgui_compat.h"
#include "app/views/widgets/wide_characters.h"
#include "engine/base/error.h"
#include "engine/base/translate.h"

#include <imgui.h>

#include <algorithm>
#include <array>
#include <variant>

namespace decoderscope::views::shell {

namespace {

constexpr float kSaidEdge = 16.0F, kSaidGap = 8.0F;

// What a text was made from. A tab's own choices aren't in it: the text is made again unless only the mouse has moved.
struct MadeFrom {
    std::shared_ptr<const Run> run, unedited;
    std::string tab, step;
    core::Place place;
    const Catalog* language = nullptr;
    bool operator==(const MadeFrom&) const = default;
};

struct SaidState {
    bool open = false;
    MadeFrom from;
    std::string text;
};

}  // namespace

std::string picture_in_words(const core::Session& session, const ViewState& state) {
    if (state.withheld.stage) return tr("Closed while the lesson's question is open");
    try {
        const std::vector<Sentence> words = dialogs::shown_in_words(session, state);
        return words.empty() ? tr("This picture is being computed.") : core::spoken_text(words);
    } catch (const Error& error) {
        return tr(error.sentence());
    }
}

namespace {

const std::string& said_text(const core::Session& session, ViewState& state) {
    SaidState& said = state.part<SaidState>();
    const core::Snapshot& shown = session.shown();
    const MadeFrom now{shown.run, shown.unedited, state.tab, session.step().name, session.cursor().place, &spoken()};
    const ImVec2 moved = ImGui::GetIO().MouseDelta;
    if ((moved.x == 0.0F && moved.y == 0.0F) || said.from != now) {
        said.from = now;
        said.text = picture_in_words(session, state);
    }
    return said.text;
}

}  // namespace

void flip_said(ViewState& state) {
    SaidState& said = state.part<SaidState>();
    said.open = !said.open;
}

void copy_said(const core::Session& session, ViewState& state, Commands& commands) {
    ImGui::SetClipboardText(picture_in_words(session, state).c_str());
    commands.push_back(core::command::Tell{message("Copied what the picture shows, in words."), false});
}

void speak_said(const core::Session& session, ViewState& state, Commands& commands) {
    commands.push_back(request::Speak{picture_in_words(session, state)});
}

float draw_said(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands) {
    if (!state.part<SaidState>().open) return 0.0F;
    const std::string& text = said_text(session, state);
    const float pad = ui.px(kSaidEdge), gap = ui.px(kSaidGap);
    const float copy = button_width(tr("Copy")), speak = button_width(tr("Speak"));
    const float width = std::max(area.width() - 2 * pad - copy - speak - 3 * gap, ui.px(120));
    std::string lines = in_lines(ui.fonts.text, text, width - 2 * gap);
    const float height = compat::text_size(ui.fonts.text, lines).y + 2 * gap;
    const float top = area.high.y - height - gap;
    ImGui::GetWindowDrawList()->AddLine({area.low.x, top - gap}, {area.high.x, top - gap}, ui.theme.line);
    ImGui::SetCursorScreenPos({area.low.x + pad, top});
    compat::push_font(ui.fonts.text);
    focusable_field("##said", lines, tr("In words"), Lines::many);
    ImGui::InputTextMultiline("##said", lines.data(), lines.size() + 1, {width, height}, ImGuiInputTextFlags_ReadOnly);
    note_glyphs(ui.fonts.text, lines);
    ImGui::PopFont();
    ImGui::SetCursorScreenPos({area.low.x + pad + width + gap, top});
    if (button(tr("Copy"), "copy-said")) copy_said(session, state, commands);
    ImGui::SameLine(0, gap);
    if (button(tr("Speak"), "speak-said")) speak_said(session, state, commands);
    return height + 2 * gap;
}

namespace {

// The parts of the window that have a heading in it, in the order in which they are read.
struct PartName {
    std::string_view part;
    Phrase name;
};
constexpr std::array<PartName, 13> kPartNames = {{{"messages", message("Messages")},
                                                  {"dialog", message("Dialog")},
                                                  {"toolbar", message("Toolbar")},
                                                  {"input", message("Input")},
                                                  {"recovery", message("Unsaved work")},
                                                  {"introduction", message("Things to try")},
                                                  {"tabs", message("Tabs")},
                                                  {"watches", message("Watched numbers")},
                                                  {"stage", Phrase("")},
                                                  {"said", message("In words")},
                                                  {"inspector", message("Inspector")},
                                                  {"strip", message("Strip")},
                                                  {"foot", message("Step by step")}}};

// The stage has the open tab's.
std::string name_of(const ViewState& state, const PartName& part) {
    const Tab* open = find_tab(state.tab);
    return std::string_view(part.name.english()).empty() && open != nullptr ? tr(open->title) : tr(part.name);
}

Json texts(const std::vector<std::string>& all) {
    Json json = Json::array();
    for (const std::string& text : all) json.push_back(from_carriers(text));
    return json;
}

Json json_of(const DocumentTable& table) {
    Json json = {{"key", std::to_string(table.key)},
                 {"axes", Json::array({table.row_axis, table.column_axis})},
                 {"rows", texts(table.rows)},
                 {"columns", texts(table.columns)},
                 {"cells", texts(table.cells)},
                 {"first", Json::array({table.first_row, table.first_column})},
                 {"all", Json::array({table.all_rows, table.all_columns})}};
    if (table.selected) json["selected"] = Json::array({table.selected->first, table.selected->second});
    return json;
}

Json json_of(const DocumentItem& item) {
    static constexpr std::array kKinds = {"heading", "text", "button", "field", "table"};
    Json json = {{"kind", kKinds[static_cast<std::size_t>(item.kind)]}, {"text", from_carriers(item.text)}};
    if (item.id != 0) json["id"] = item.id;
    if (!item.hint.empty()) json["hint"] = item.hint;
    if (item.on) json["on"] = *item.on;
    if (item.disabled) json["disabled"] = true;
    if (item.kind == DocumentItem::Kind::field)
        json["value"] = from_carriers(item.value), json["lines"] = item.many_lines;
    if (item.kind == DocumentItem::Kind::table) json["table"] = json_of(item.table);
    return json;
}

Json items_of(const ViewState& state, std::string_view part) {
    Json items = Json::array();
    for (const DocumentItem& item : state.document.items())
        if (item.part == part) items.push_back(json_of(item));
    return items;
}

}  // namespace

Json document_json(const core::Session& session, const ViewState& state) {
    Json parts = Json::array();
    for (const PartName& part : kPartNames)
        if (Json items = items_of(state, part.part); !items.empty())
            parts.push_back({{"part", part.part}, {"name", name_of(state, part)}, {"items", std::move(items)}});
    return {{"parts", std::move(parts)}, {"said", picture_in_words(session, state)}};
}

core::Exhibit stage_picture(const core::files::ShownState& shown) {
    core::Session session(core::files::SavedSession{.scenario = shown.scenario, .cursor = shown.cursor});
    ViewState state;
    Commands commands = dialogs::show_saved(state, shown.view);
    state.open_tab = state.tab;
    session.finish();
    keep_companions(session, state, commands);
    for (const Commands::value_type& asked : commands)
        if (const core::Command* command = std::get_if<core::Command>(&asked)) session.apply(*command);
    session.finish();
    // The first call orders what is derived from the runs; the second one has it.
    static_cast<void>(export_choices(session, state));
    session.finish();
    const std::vector<ExportChoice> choices = export_choices(session, state);
    if (choices.empty())
        throw Error("{step}: not computed in this run, expected a step that is recorded",
                    {{"step", session.step().name}});
    return choices.front().exhibit();
}

}  // namespace decoderscope::views::shell
