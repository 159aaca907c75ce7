#pragma once

#include "app/core/run/exhibit_step.h"
#include "app/core/session/session.h"
#include "app/views/frame/view_state.h"
#include "app/views/widgets/row_layout.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace decoderscope::views {

// What chooses the place that is looked at, where there is more than one: block, head (a dot before its name switches
// it off), row of the batch, whatever else a step has several of; and the brush for its mask.
[[nodiscard]] std::vector<FlowItem> place_selectors(const Ui& ui, const core::Session& session, ViewState& state,
                                                    Commands& commands);

// The counter of batch rows, and the same as an item of a row of controls.
void choose_batch(const Ui& ui, const core::Session& session, Commands& commands);
[[nodiscard]] FlowItem batch_item(const Ui& ui, const core::Session& session, float gap, Commands& commands);

struct ViewState;

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
