#pragma once

#include "app/core/run/exhibit_step.h"
#include "app/core/session/session.h"
#include "app/views/frame/view_state.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace decoderscope::views {

// Something that can be exported from the current tab and step.
struct ExportChoice {
    std::string label;      // "All heads of this layer"
    std::string file_name;  // without its extension
    bool each = false;      // one file per heatmap, in a folder
    std::function<core::Exhibit()> exhibit;
    std::string command = {};  // the options of `decoderscope export` that choose the same; empty: there are none

    // The exhibit with its texts in English, like all that is written to files.
    [[nodiscard]] core::Exhibit in_english() const;
};

// What the choices are made from, and those made so far. The tab adds what it shows; then the step is added.
struct ExportScene {
    const core::Session& session;
    const ViewState& state;
    core::ShownRun shown;
    const Step& step;
    core::Place place;
    std::vector<ExportChoice> choices = {};
    bool gathers_step = true;  // also offer the step's heads and its counterparts in other layers

    void add(std::string label, std::string file_name, std::function<core::Exhibit()> exhibit,
             std::string command = {});
    // Makes an exhibit now and adds it, if there is any.
    void add_if_any(std::string label, std::string file_name,
                    const std::function<std::optional<core::Exhibit>()>& make);
};

// Which collection of a step's heads is offered first.
enum class GatheredFirst { this_layer, all_layers };
// Adds collections of the step's heads and of its counterparts in other layers.
void add_gathered(ExportScene& scene, const Step& step, GatheredFirst first = GatheredFirst::this_layer);

// First what the tab shows, as it shows it; then more of the same kind, and the step itself. Empty while
// the step that is all there is to export is being computed.
[[nodiscard]] std::vector<ExportChoice> export_choices(const core::Session& session, const ViewState& state);

}  // namespace decoderscope::views
