#include "app/core/export/exhibits.h"

#include <algorithm>
#include <filesystem>

namespace decoderscope {
namespace {

std::string settings_of(const Scenario& scenario) {
    std::string text;
    for (const auto& [key, value] : scenario.overrides()) text += ", " + key + " = " + value;
    if (scenario.dropout_seed) text += ", dropout with seed " + std::to_string(*scenario.dropout_seed);
    return text;
}

// All of them where they are few; a caption is no log.
std::string edits_of(const Scenario& scenario) {
    constexpr std::size_t most = 4;
    const std::vector<Edit>& edits = scenario.edits;
    if (edits.empty()) return "no edits";
    std::string text = std::to_string(edits.size()) + (edits.size() == 1 ? " edit: " : " edits: ");
    for (std::size_t i = 0; i < std::min(edits.size(), most); ++i) text += (i > 0 ? "; " : "") + describe(edits[i]);
    if (edits.size() > most) text += "; and " + std::to_string(edits.size() - most) + " more";
    return text;
}

}  // namespace

// A model of one's own is called by its folder, wherever that lies.
std::string caption_of(const Scenario& scenario, const std::string& what, const std::string& place) {
    std::filesystem::path path = scenario.model()->name;
    if (!path.has_filename()) path = path.parent_path();
    return path.filename().string() + settings_of(scenario) + " · " + what + (place.empty() ? "" : " · " + place) +
           " · " + edits_of(scenario);
}

}  // namespace decoderscope
