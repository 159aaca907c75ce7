#pragma once

#include "engine/model/model.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace decoderscope {

// What can be said of a bundled model without making its weights.
struct BundledModel {
    std::string name;
    std::string description;  // one line; says where the tutorial's code does not do what its text says
};

// The bundled models, in the order in which they are offered.
[[nodiscard]] const std::vector<BundledModel>& bundled_models();

// The one that the window opens on.
inline constexpr std::string_view kDefaultModel = "causal-lm-as-meant";

// The bundled model of that name; nullptr where there is none.
[[nodiscard]] std::shared_ptr<const Model> make_bundled_model(std::string_view name);

// An example to run any decoder on: a few tokens or random rows, from a seed.
[[nodiscard]] Inputs example_inputs(const Config& config, std::uint64_t seed);

}  // namespace decoderscope
