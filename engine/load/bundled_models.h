#pragma once

#include "engine/base/message.h"
#include "engine/load/model.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace decoderscope::load {

// What is known of a bundled model without creating its weights.
struct BundledModel {
    std::string name;
    Sentence description;  // one line
};

// The bundled models, in the order in which they are offered: those that the project trained, then the decoders of the
// tutorials with random weights.
[[nodiscard]] const std::vector<BundledModel>& bundled_models();

// The model that the window opens with.
inline constexpr std::string_view kDefaultModel = "words";

// The bundled model of that name; nullptr if none. Throws Error if a trained model's files are missing.
[[nodiscard]] std::shared_ptr<const Model> make_bundled_model(std::string_view name);

// An example to run any decoder on: a few tokens or random rows, from a seed.
[[nodiscard]] Inputs example_inputs(const Config& config, std::uint64_t seed);

}  // namespace decoderscope::load
