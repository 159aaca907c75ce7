#pragma once

#include "app/core/run/recording.h"
#include "engine/chat/conversation.h"
#include "engine/decoder/decoder.h"
#include "engine/graph/plan.h"
#include "engine/graph/run.h"
#include "engine/load/recorded_run.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace decoderscope::sheet {
struct Beside;
}
namespace decoderscope::load {
struct FittedLens;
}

namespace decoderscope::core {

struct ReferenceRun;
class KeptByPasses;

// A text in several passes (passes_of_text.h), each of which reads what those before it have kept.
struct TextInPasses {
    std::vector<Index> sizes;              // how many positions each pass computes: together all of the text's
    std::optional<std::size_t> shown;      // the pass that the scenario runs; nothing: the whole text in one
    std::vector<std::vector<Edit>> edits;  // [pass]; those of the pass that is shown are the scenario's
    std::vector<Edit> text_edits;          // of the whole text, as the passes have them
    Inputs text;                           // whole; those of the pass that is shown are the scenario's
    std::shared_ptr<KeptByPasses> kept;
};

// Everything that one run depends on, as a value: undo restores the previous scenario.
class Scenario {
public:
    Scenario();
    Scenario(const Scenario& other);
    Scenario(Scenario&& other) noexcept;
    Scenario& operator=(const Scenario& other);
    Scenario& operator=(Scenario&& other) noexcept;
    ~Scenario();
    // Throws Error if the overrides don't fit the model's configuration, or if there is no model.
    explicit Scenario(load::Opened opened, Overrides overrides = {});

    [[nodiscard]] const load::Opened& opened() const { return opened_; }
    [[nodiscard]] const load::ModelInfo& about() const { return *load::about(opened_); }
    // The recording that stands in for a model: it can only show what it holds. nullptr for a model.
    [[nodiscard]] const load::RecordedRun* recorded() const { return load::recorded(opened_); }
    // Whether there is a model to compute with.
    [[nodiscard]] bool computes() const { return recorded() == nullptr; }

    // These belong to a model, and throw Error if there is none.
    [[nodiscard]] const std::shared_ptr<const load::Model>& model() const;
    [[nodiscard]] const Config& config() const;  // the model's own with the overrides
    // They also throw Error if model and overrides don't fit together, and then change nothing.
    void set_model(std::shared_ptr<const load::Model> model);
    void set_overrides(Overrides overrides);
    // A lens for this model (load/lens.h), beside the logit lens; nullptr: none.
    void set_lens(std::shared_ptr<const load::FittedLens> lens);
    [[nodiscard]] const std::shared_ptr<const load::FittedLens>& lens() const { return lens_; }
    // The model's weights, and the lens's maps. Norms that it lacks, because overrides move them to another place, have
    // gain 1 and shift 0.
    [[nodiscard]] const Weights& weights() const { return completed_ ? *completed_ : model()->weights; }
    [[nodiscard]] bool adds_norms() const { return adds_norms_; }

    // These belong to models and recordings alike; a recording holds no tokens, and its tokenizers are empty.
    [[nodiscard]] const Overrides& overrides() const { return overrides_; }
    [[nodiscard]] Index query_heads() const;
    [[nodiscard]] Index batch() const;
    [[nodiscard]] const tokenizer::Tokenizer& tokenizer() const;
    [[nodiscard]] const tokenizer::Tokenizer& encoder_tokenizer() const;
    [[nodiscard]] load::LookAt look_at() const;  // a recording suggests nothing
    // Whether both run the same model in the same configuration, or show the same recording.
    [[nodiscard]] bool same_model(const Scenario& other) const {
        return opened_ == other.opened_ && config_ == other.config_;
    }

    Inputs inputs;
    std::string inputs_path;  // the file that they originally came from; empty: the model's example, or typed
    std::vector<Edit> edits;
    std::optional<TextInPasses> passes;         // nothing: one pass, never cut
    std::optional<std::uint64_t> dropout_seed;  // dropout is off without one
    std::string gradient_target;  // a cell or "loss" (engine/backward/gradient.h); empty: no backward pass
    std::string mutation;         // a mistake to compute with, by name (engine/mutations/); empty: none
    Recording recording = Recording::fit;
    std::uint64_t memory = 0;  // bytes that the process may take, weights included; 0: what the machine has
    // What it is compared with, for rows that read "other.x"; nullptr: nothing. It doesn't belong to the work: undo and
    // files leave it as it is.
    std::shared_ptr<const ReferenceRun> other_run;
    // The generated tokens at the end of each batch row, by row; nothing is computed from this.
    std::map<Index, std::vector<Index>> generated;
    // The messages that the tokens and targets were made from; nothing is computed from them any more.
    std::optional<chat::Conversation> conversation;

private:
    void complete(const load::Model& model, const Config& config, const Overrides& overrides);

    load::Opened opened_;
    Overrides overrides_;
    Config config_;  // read once: each call of Model::config() parses JSON
    std::shared_ptr<const load::FittedLens> lens_;
    std::shared_ptr<const Weights> completed_;  // nullptr: the model's own are all that is needed
    bool adds_norms_ = false;
};

// The model on its own example, or the recording as it is.
[[nodiscard]] Scenario scenario_of(load::Opened opened);

// The scenario with configuration keys set, replacing overrides of the same keys. Throws Error if they don't fit
// together.
[[nodiscard]] Scenario with_overrides(Scenario scenario, const Overrides& overrides);
[[nodiscard]] Scenario with_override(Scenario scenario, const std::string& key, const std::string& value);

// The scenario without the gradients of a cell that it no longer has. Reads the configuration and the inputs, not the
// edits.
[[nodiscard]] Scenario without_lost_gradients(Scenario scenario);

// The scenario with the gradients of the loss if its rows read some and it has none.
[[nodiscard]] Scenario with_gradients_read(Scenario scenario);

// Whether what is said of the run of one holds for cells of the other's: the same model on inputs of the same shapes,
// the same pass of a text.
[[nodiscard]] bool fit_together(const Scenario& a, const Scenario& b);

// How a companion run differs from the current one: other configuration keys, no edits or more of them, another seed of
// dropout, another number of blocks, another gain and shift of the norms.
struct Variation {
    Overrides overrides;
    bool without_edits = false;
    bool without_dropout = false;
    std::optional<std::uint64_t> dropout_seed;  // in place of the current run's
    std::vector<Edit> more_edits;
    std::optional<Index> layers;  // blocks beyond the model's get fresh weights from a seed
    float gain_factor = 1.0F;     // multiplies the gains of all norms
    float shift_factor = 1.0F;    // multiplies their shifts
    bool logit_lens = false;      // also the final norm and the head after each block

    // Whether it needs weights that the model doesn't have.
    [[nodiscard]] bool changes_weights() const { return layers || gain_factor != 1.0F || shift_factor != 1.0F; }
    // Whether its tensors are those of the current run plus some more.
    [[nodiscard]] bool adds_to_the_run() const { return logit_lens; }
    bool operator==(const Variation&) const = default;
};
// Throws Error if the configuration doesn't fit. Keeps the model's own weights: others may take long to make, and
// with_weights_of() does that.
[[nodiscard]] Scenario varied(Scenario scenario, const Variation& variation);

// The weights that a deepened model lacks, initialised as in PyTorch; each is made once and kept. Thread-safe.
class FreshWeights {
public:
    [[nodiscard]] Tensor get(const Declared& parameter);

private:
    std::mutex mutex_;
    std::map<std::string, Tensor> made_;
};

// The model with this many decoder blocks: fewer, or more with fresh weights.
[[nodiscard]] std::shared_ptr<const load::Model> with_layers(const std::shared_ptr<const load::Model>& model,
                                                             const Overrides& overrides, Index layers,
                                                             FreshWeights& fresh);

// The model with the gains of all norms multiplied by one factor, and the shifts by another.
[[nodiscard]] std::shared_ptr<const load::Model> with_norms_scaled(const std::shared_ptr<const load::Model>& model,
                                                                   const Overrides& overrides, float gain, float shift);

// A scenario that varied() made, with the weights that the variation asks for.
[[nodiscard]] Scenario with_weights_of(const Variation& variation, Scenario scenario, FreshWeights& fresh);

// The mistake that it computes with; nullptr: none. Throws Error if there is none of that name.
[[nodiscard]] const mutations::Mutation* mutation_of(const Scenario& scenario);

// Throws Error if configuration, inputs and edits don't fit together, or if the run doesn't fit into memory.
[[nodiscard]] std::shared_ptr<const Plan> plan_of(const Scenario& scenario, bool logit_lens = false);
// As above, with what passes before it have kept; nullptr if nothing is.
[[nodiscard]] std::shared_ptr<const Plan> plan_behind(const Scenario& scenario, const decoder::Past* past,
                                                      bool logit_lens = false);

// What formulas may read besides the plan.
[[nodiscard]] decoderscope::sheet::Beside beside_plan(const Scenario& scenario);
// What its rows read of the other run although that lacks it, in one sentence; empty if nothing.
[[nodiscard]] Sentence lacking_of_other(const Scenario& scenario, const Plan& plan);

}  // namespace decoderscope::core
