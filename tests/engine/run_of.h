#pragma once

#include "engine/decoder/decoder.h"
#include "engine/graph/run.h"
#include "engine/load/model.h"

#include <memory>

namespace decoderscope::testing {

using namespace decoderscope::decoder;
using namespace decoderscope::load;

// A model's run on these inputs, after the positions of `past`, if there are any.
inline std::shared_ptr<const Run> run_of(const Model& model, const Inputs& inputs, const Past* past = nullptr) {
    return execute(plan_decoder({model.config(), &model.weights, inputs, {}, std::nullopt, past}));
}

}  // namespace decoderscope::testing
