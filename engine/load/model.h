#pragma once

#include "engine/base/message.h"
#include "engine/files/mapped_file.h"
#include "engine/graph/edit.h"
#include "engine/load/recognised.h"
#include "engine/model/config.h"
#include "engine/model/inputs.h"
#include "engine/tokenizer/tokenizer.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace decoderscope::load {

// What a model's author suggests looking at first; the step is empty if not given.
struct LookAt {
    std::string step;  // "blocks.1.cross_attn.pattern"
    Index head = 0;
};

// Something to try with a model, as its author suggests: where to look, and what to change. A member that is empty
// leaves things as they are.
struct Trial {
    std::string title;         // "Switch off the head that reverses"
    std::string look;          // what to notice there: a sentence
    std::string tab;           // the id of a tab of the window
    std::string step;          // the step to look at
    std::optional<Cell> cell;  // the cell of it to be explained; with its batch row and head
    Overrides set;             // configuration keys
    std::vector<Edit> edits;
};

// What anything that can be opened says about itself: a model, or a recording of one (engine/load/recorded_run.h).
struct ModelInfo {
    std::string name;               // "simple-decoder", or the folder or file it came from
    std::string path;               // absolute path of the opened folder or file; empty for weights from a seed
    Sentence description;           // one line
    std::vector<Sentence> remarks;  // what was noticed while loading, a sentence each
    Sentence fitted;                // the one that says what was chosen to fit a recording; empty if nothing was
};

class StoredParameters;

// A decoder with its weights and something to run it on.
struct Model : ModelInfo {
    std::string config_json;  // as parse_config reads it; overrides are applied to it
    Overrides answers;        // to what its files don't say; included in config_json
    names::Mapping mapping;   // given for its tensors; empty if they were recognised
    Recognised recognised;    // what its tensors were recognised as, and what was asked; config_json says the answers
    Weights weights;
    std::shared_ptr<const StoredParameters> stored;  // of weights that the file holds in fewer bits; may be nullptr
    Inputs example;
    tokenizer::Tokenizer tokenizer;          // the decoder's tokens
    tokenizer::Tokenizer encoder_tokenizer;  // the source's tokens
    LookAt look_at;
    std::vector<Trial> trials;

    [[nodiscard]] Config config(const Overrides& overrides = {}) const { return parse_config(config_json, overrides); }
};

// Loads one of: a folder with config.json and model.safetensors as Hugging Face lays it out (GPT-2's and Llama's
// configurations are read, too; example.json or inputs.safetensors hold the first inputs; large weights may be split
// into several files with an index), a state_dict saved as safetensors alone, or a bundled model by name. The overrides
// must supply what a state_dict can't say of the configuration (nhead at least); they become part of it. A mapping says
// what each tensor is, or each that isn't recognised. Names, shapes and types are checked before any number is read.
//
// Throws Error naming the file, the key or tensor, and what was expected: also for a missing, surplus or misshapen
// tensor. NeedsConversion (checkpoint.h), an Error, says how to convert what Python pickled. Throws LoadStopped if
// `progress` requests a stop.
[[nodiscard]] std::shared_ptr<const Model> load_model(const std::string& name_or_path, const Overrides& overrides = {},
                                                      LoadProgress* progress = nullptr,
                                                      const names::Mapping& mapping = {});

// What a model without a config.json is, inferred from names and shapes, and what has to be asked; nothing for a model
// with a config.json. If the tensors aren't a decoder as they were recognised, it says why, so that they can be mapped.
// Throws the same Errors.
[[nodiscard]] std::optional<Recognised> recognise_model(const std::string& name_or_path, const Overrides& answers = {},
                                                        const names::Mapping& mapping = {});

// What each of a model's tensors is recognised as, to be corrected and given back as a mapping.
[[nodiscard]] names::Mapping mapping_of_model(const std::string& name_or_path, const Overrides& answers = {});

}  // namespace decoderscope::load
