#pragma once

#include "app/core/session/recording.h"
#include "engine/decoder/decoder.h"
#include "engine/model/model.h"
#include "engine/run.h"

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace decoderscope {

// Everything that one run depends on, as a value: undo is the scenario before.
struct Scenario {
    std::shared_ptr<const Model> model;
    Overrides overrides;  // over the model's own configuration
    Inputs inputs;
    std::string inputs_path;  // the file that they came from at first; empty: the model's example, or typed
    std::vector<Edit> edits;
    std::optional<std::uint64_t> dropout_seed;  // dropout is off without one
    Recording recording = Recording::all;
    // The tokens at the end of a batch row that were generated, by row; nothing is computed from it.
    std::map<Index, std::vector<Index>> generated;

    [[nodiscard]] Config config() const { return model->config(overrides); }
};

// The model on its own example.
[[nodiscard]] Scenario scenario_of(std::shared_ptr<const Model> model);

// The scenario with one configuration key set; an override of the same key is replaced.
[[nodiscard]] Scenario with_override(Scenario scenario, const std::string& key, const std::string& value);

// How a companion run differs from the one that is looked at: other configuration keys, no edits or more of them,
// another number of blocks, norms of another gain and shift.
struct Variation {
    Overrides overrides;
    bool without_edits = false;
    std::vector<Edit> more_edits;
    std::optional<Index> layers;      // beyond the model's own, with fresh weights from a seed
    float gain_factor = 1.0F;         // what the gains of all norms are multiplied by
    float shift_factor = 1.0F;        // and their shifts
    bool logit_lens = false;          // with the final norm and the head after each block, too
    std::optional<Index> cached_row;  // the last token of this batch row alone, by the KV cache

    // Whether it needs weights that the model has not got.
    [[nodiscard]] bool changes_weights() const { return layers || gain_factor != 1.0F || shift_factor != 1.0F; }
    // Whether its tensors are those of the run that is looked at, and some more.
    [[nodiscard]] bool adds_to_the_run() const { return logit_lens; }
    bool operator==(const Variation&) const = default;
};
// With the model's own weights still: others may take long to make, and with_weights_of() does that.
[[nodiscard]] Scenario varied(Scenario scenario, const Variation& variation);

// The weights that a model lacks when it is made deeper, as PyTorch would initialise them; each is made once and kept.
// Safe to use from several threads.
class FreshWeights {
public:
    [[nodiscard]] Tensor get(const Declared& parameter);

private:
    std::mutex mutex_;
    std::map<std::string, Tensor> made_;
};

// The model with this many decoder blocks: fewer, or more with fresh weights.
[[nodiscard]] std::shared_ptr<const Model> with_layers(const std::shared_ptr<const Model>& model,
                                                       const Overrides& overrides, Index layers, FreshWeights& fresh);

// The model with the gains and shifts of all norms times a factor.
[[nodiscard]] std::shared_ptr<const Model> with_norms_scaled(const std::shared_ptr<const Model>& model,
                                                             const Overrides& overrides, float gain, float shift);

// A scenario that varied() made, with the weights that the variation asks for.
[[nodiscard]] Scenario with_weights_of(const Variation& variation, Scenario scenario, FreshWeights& fresh);

// Throws Error where the configuration, the inputs and the edits don't fit together, or the run not into memory.
[[nodiscard]] std::shared_ptr<const Plan> plan_of(const Scenario& scenario, bool logit_lens = false);

}  // namespace decoderscope
