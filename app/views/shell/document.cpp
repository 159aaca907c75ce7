#include "app/views/widgets/frame_document.h"

#include "app/views/frame/tab.h"
#include "app/views/shell/workspace.h"
#include "app/views/widgets/wide_characters.h"
#include "engine/base/json.h"
#include "engine/base/translate.h"

#include <array>
#include <string>
#include <string_view>
#include <utility>

// The window as a document, for a page's reader (app/window/browser/document.js).
namespace decoderscope::views::shell {

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

}  // namespace decoderscope::views::shell
