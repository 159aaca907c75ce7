#pragma once

#include "engine/message.h"
#include "engine/model/config.h"
#include "engine/model/inputs.h"
#include "engine/model/load_progress.h"
#include "engine/model/recognised.h"
#include "engine/model/tokenizer/tokenizer.h"
#include "engine/plan.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace decoderscope {

// Where a model's maker says to look first; an empty step where nobody does.
struct LookAt {
    std::string step;  // "blocks.1.cross_attn.pattern"
    Index head = 0;
};

// A decoder with its weights and something to run it on.
struct Model {
    std::string name;         // "simple-decoder", or the folder it came from
    std::string path;         // what was opened, absolute: the folder or the file; empty for one made from a seed
    Sentence description;     // one line
    std::string config_json;  // as parse_config reads it; overrides are put over it
    Overrides answers;        // to what its files don't say; they are in config_json
    Weights weights;
    Inputs example;
    Tokenizer tokenizer;          // the decoder's tokens
    Tokenizer encoder_tokenizer;  // the source's
    LookAt look_at;
    std::vector<Sentence> remarks;  // what was noticed while loading, a sentence each

    [[nodiscard]] Config config(const Overrides& overrides = {}) const { return parse_config(config_json, overrides); }
};

// A folder with config.json and model.safetensors as Hugging Face lays one out (GPT-2's and Llama's configurations are
// read, too; what it runs on at first is said by example.json or inputs.safetensors; large weights may be split into
// several files with an index), a state_dict saved as safetensors alone, or a bundled model's name. What a state_dict
// can't say of the configuration (nhead at least) the overrides must; they become part of it. Names, shapes and types
// are checked before any number is read.
//
// Throws Error naming the file, the key or tensor, and what was expected: a missing, a surplus or a misshapen tensor is
// one. NeedsConversion (checkpoint.h), an Error, tells what to do with what Python pickled. LoadStopped where
// `progress` says to stop.
[[nodiscard]] std::shared_ptr<const Model> load_model(const std::string& name_or_path, const Overrides& overrides = {},
                                                      LoadProgress* progress = nullptr);

// What a model without a config.json is, read off its names and shapes, and what has to be asked; nothing for a model
// that says it itself. Throws the same Errors.
[[nodiscard]] std::optional<Recognised> recognise_model(const std::string& name_or_path);

}  // namespace decoderscope
