#pragma once

#include "app/core/export/exhibits.h"
#include "app/core/session/session.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace decoderscope {

struct ViewState;

// Something that can be exported from where we are.
struct ExportChoice {
    std::string label;      // "All heads of this layer"
    std::string file_name;  // without its ending
    bool each = false;      // a file for every heatmap, into a folder
    std::function<Exhibit()> exhibit;
};

// What the choices are made from, and those made so far. The tab adds what it shows, then the step is added.
struct ExportScene {
    const Session& session;
    const ViewState& state;
    ShownRun shown;
    const Step& step;
    Place place;
    std::vector<ExportChoice> choices = {};
    bool gathers_step = true;  // the step's heads and its twins in other layers are added, too

    void add(std::string label, std::string file_name, std::function<Exhibit()> exhibit);
    // One that is made already, if it could be.
    void add(std::string label, std::string file_name, const std::optional<Exhibit>& exhibit);
};

// Which of a step's gatherings is offered first.
enum class GatheredFirst { this_layer, all_layers };
// Adds a step's heads, and its twins in other layers, together.
void add_gathered(ExportScene& scene, const Step& step, GatheredFirst first = GatheredFirst::this_layer);

// What the tab shows, first as it shows it, then more of the same and the step itself. Never empty.
[[nodiscard]] std::vector<ExportChoice> export_choices(const Session& session, const ViewState& state);

}  // namespace decoderscope
