#pragma once

#include "engine/decoder/decoder.h"
#include "engine/graph/run.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace decoderscope::testing {

// A small decoder with its own initial weights and random inputs, to be modified and rerun.
struct SmallModel {
    Config config;
    Weights weights;
    Inputs inputs;
    std::vector<Edit> edits;
    std::optional<std::uint64_t> dropout_seed;
    std::vector<std::string> asked;  // on-demand tensors

    [[nodiscard]] std::shared_ptr<const Plan> plan() const;
    [[nodiscard]] std::shared_ptr<const Run> run(const Run* previous = nullptr) const;
};

// "norm_first=true num_layers=2": keys of a configuration and their values.
[[nodiscard]] Overrides keys_of(std::string_view text);

// Sizes all differ, so that no two axes can be confused: d_model 12, 2 heads, 1 layer, d_ff 10.
[[nodiscard]] Config small_config(const Overrides& overrides = {});

// batch 2, pos 3, src 4 unless said otherwise.
struct Sizes {
    Index batch = 2, pos = 3, src = 4;
};
[[nodiscard]] SmallModel small_model(const Overrides& overrides = {}, Sizes sizes = {});

}  // namespace decoderscope::testing
