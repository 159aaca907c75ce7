#include "app/core/step/exhibit_step.h"
#include "engine/translate.h"

#include <algorithm>
#include <filesystem>

namespace decoderscope {
namespace {

std::string settings_of(const Scenario& scenario) {
    std::string text;
    for (const auto& [key, value] : scenario.overrides()) text += ", " + key + " = " + value;
    if (scenario.dropout_seed) text += tr(", dropout with seed {seed}", {{"seed", *scenario.dropout_seed}});
    if (!scenario.gradients_of.empty()) text += tr(", gradients of {target}", {{"target", scenario.gradients_of}});
    return text;
}

// All edits if they are few; a caption is no log.
std::string edits_of(const Scenario& scenario) {
    constexpr std::size_t most = 4;
    const std::vector<Edit>& edits = scenario.edits;
    if (edits.empty()) return tr("no edits");
    std::string list;
    for (std::size_t i = 0; i < std::min(edits.size(), most); ++i) list += (i > 0 ? "; " : "") + describe(edits[i]);
    if (edits.size() > most) list += tr_n("; and {count} more", "; and {count} more", edits.size() - most);
    return tr_n("{count} edit: {edits}", "{count} edits: {edits}", edits.size(), {{"edits", list}});
}

}  // namespace

// A model loaded from a folder is named by that folder, without the path to it.
std::string caption_of(const Scenario& scenario, const std::string& what, const std::string& place) {
    std::filesystem::path path = scenario.model()->name;
    if (!path.has_filename()) path = path.parent_path();
    return path.filename().string() + settings_of(scenario) + " · " + what + (place.empty() ? "" : " · " + place) +
           " · " + edits_of(scenario);
}

}  // namespace decoderscope
