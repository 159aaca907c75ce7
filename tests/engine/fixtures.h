#pragma once

#include "engine/decoder/decoder.h"
#include "engine/graph/run.h"
#include "engine/load/model.h"

#include <string>
#include <utility>
#include <vector>

namespace decoderscope::testing {

using namespace decoderscope::decoder;

// One of tests/reference/fixtures/: the model and input, and PyTorch's results.
struct Fixture {
    std::string name;
    Config config;
    Weights weights;
    Inputs inputs;
    std::vector<Edit> edits;
    std::optional<std::uint64_t> dropout_seed;
    std::vector<std::string> asked;  // on-demand tensors
    std::string bundled;             // the bundled model of the same configuration, weights and inputs; may be empty
    std::vector<std::pair<std::string, Tensor>> expected;  // in the order of computation

    [[nodiscard]] PassRequest request() const { return {config, &weights, inputs, edits, dropout_seed}; }
    [[nodiscard]] std::shared_ptr<const Run> run() const;
};

[[nodiscard]] std::vector<std::string> fixture_names();
[[nodiscard]] Fixture load_fixture(const std::string& name);
[[nodiscard]] std::string fixture_path(const std::string& relative);

// What a trace lists: the recorded steps that have values, in order.
[[nodiscard]] std::vector<std::pair<std::string, Tensor>> trace_of(const Run& run);

}  // namespace decoderscope::testing
