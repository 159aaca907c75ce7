#pragma once

#include "engine/model/config.h"
#include "engine/model/inputs.h"
#include "engine/model/tokenizer/tokenizer.h"
#include "engine/plan.h"

#include <memory>
#include <string>

namespace decoderscope {

// A decoder with its weights and something to run it on.
struct Model {
    std::string name;         // "simple-decoder", or the folder it came from
    std::string description;  // one line
    std::string config_json;  // as parse_config reads it; overrides are put over it
    Weights weights;
    Inputs example;
    Tokenizer tokenizer;               // the decoder's tokens
    Tokenizer encoder_tokenizer;       // the source's
    std::vector<std::string> remarks;  // what was noticed while loading, a sentence each

    [[nodiscard]] Config config(const Overrides& overrides = {}) const { return parse_config(config_json, overrides); }
};

// A folder with config.json and model.safetensors as Hugging Face lays one out (GPT-2's and Llama's configurations are
// read, too), a state_dict saved as safetensors alone, or a bundled model's name. What a state_dict can't say of the
// configuration (nhead at least) the overrides must. Throws Error naming the file, the key or
// tensor, and what was expected: a missing, a surplus or a misshapen tensor is one.
[[nodiscard]] std::shared_ptr<const Model> load_model(const std::string& name_or_path, const Overrides& overrides = {});

}  // namespace decoderscope
