#pragma once

#include "app/views/shell/panels.h"

#include <string>

// The parts of the Norms tab, a file each. All of them look at the same model twice: with the norms before the
// sublayers (Pre-Norm) and behind them (Post-Norm).
namespace decoderscope {

inline constexpr const char* kPreNormRun = "norms.pre";
inline constexpr const char* kPostNormRun = "norms.post";

// The two runs, and where we are in them.
struct NormsScene {
    const Companion& pre;
    const Companion& post;
    const Step& here;    // the computed step that we are at
    std::string prefix;  // of its stack: "" or "encoder."
    std::string block;   // its block, or the first of its stack
    std::string key;     // another text for other runs or another place in the model
};

// Both block diagrams side by side; a click on a part goes there.
void draw_norm_diagrams(const Ui& ui, const Session& session, ViewState& state, const NormsScene& scene, Area area,
                        Commands& commands);
// The curves by depth, and what their strokes and colours mean.
void draw_norms_by_depth(const Ui& ui, const Session& session, ViewState& state, const NormsScene& scene, Area area,
                         Commands& commands);
// The step that we are at in both runs, and the difference.
void draw_norms_step(const Ui& ui, const Session& session, ViewState& state, const NormsScene& scene, Area area,
                     Commands& commands);
// One row of one norm in both runs: before, normalised, after gain and shift, and its numbers.
void draw_norms_row(const Ui& ui, const Session& session, ViewState& state, const NormsScene& scene, Area area,
                    Commands& commands);

// What was measured for these views, made anew where the scene is another.
[[nodiscard]] const BothNorms<DepthCurves>& measured_curves(ViewState& state, const NormsScene& scene);
[[nodiscard]] const std::optional<StepPair>& measured_pair(const Session& session, ViewState& state,
                                                           const NormsScene& scene);
[[nodiscard]] const BothNorms<std::optional<NormRow>>& measured_rows(const Session& session, ViewState& state,
                                                                     const NormsScene& scene);
// The norm that is explained: the one that we are at, else the first of the block.
[[nodiscard]] std::string explained_norm(const NormsScene& scene);

// "row ◀ 2 ▶" in the flow of the panel. Returns by how much it was moved.
[[nodiscard]] int stepper(const Ui& ui, const char* label, Index value, Index count);

// Prose over several lines of an area, from its top. Returns how high it came out.
float text_block(const Ui& ui, ImFont* font, ImU32 color, Area area, const std::string& text);

}  // namespace decoderscope
