#pragma once

#include "engine/graph/plan.h"
#include "engine/model/config.h"

#include <map>
#include <string>

namespace decoderscope::load {

// What a model's folder holds. Beside config.json and model.safetensors, small files by their names: vocabularies, an
// example.
struct ModelFolder {
    Config config;
    Weights weights;
    std::map<std::string, std::string> files;
};

// Throws Error naming the folder if a model can't be written there: its parent is missing or may not be written to, or
// the path is a file or a folder that holds anything but a model.
void check_model_folder(const std::string& path);

// Writes a model that load_model() opens. The folder appears whole or not at all, and replaces a model's folder of that
// name. Throws Error as above, and if the disk is full.
void write_model_folder(const std::string& path, const ModelFolder& model);

// The vocabularies in a model's folder, and the texts of its example, without what its author says about the original
// weights.
[[nodiscard]] std::map<std::string, std::string> files_to_keep(const std::string& folder);

}  // namespace decoderscope::load
