#include "tests/engine/small_models.h"

#include "engine/base/random.h"
#include "engine/decoder/initial_weights.h"

#include <cmath>
#include <istream>
#include <sstream>

namespace decoderscope::testing {

using namespace decoderscope::decoder;

namespace {

constexpr std::uint64_t kSeed = 7;

Tensor random_rows(std::string_view name, Axes axes) {
    const RandomStream random(kSeed, name);
    Tensor tensor(std::move(axes));
    std::uint64_t i = 0;
    for (float& value : tensor.writable()) value = static_cast<float>(random.normal(i++));
    return tensor;
}

Tensor random_ids(std::string_view name, Axes axes, Index vocab_size) {
    const RandomStream random(kSeed, name);
    Tensor tensor(std::move(axes));
    std::uint64_t i = 0;
    for (float& value : tensor.writable())
        value = static_cast<float>(std::floor(random.uniform(i++) * static_cast<double>(vocab_size)));
    return tensor;
}

Inputs random_inputs(const Config& config, const Sizes& sizes) {
    const Axis batch = {axis::batch, sizes.batch}, pos = {axis::pos, sizes.pos}, src = {axis::src, sizes.src};
    const Axis d_model = {axis::d_model, config.d_model};
    Inputs inputs;
    if (config.vocab_size > 0)
        inputs.tokens = random_ids("tokens", {batch, pos}, config.vocab_size);
    else
        inputs.x = random_rows("x", {batch, pos, d_model});
    if (!config.cross_attention) return inputs;
    if (config.encoder_layers > 0 && config.encoder_vocab_size > 0)
        inputs.encoder_tokens = random_ids("encoder_tokens", {batch, src}, config.encoder_vocab_size);
    else
        inputs.memory = random_rows("memory", {batch, src, d_model});
    return inputs;
}

}  // namespace

std::shared_ptr<const Plan> SmallModel::plan() const {
    return plan_decoder({config, &weights, inputs, edits, dropout_seed});
}

std::shared_ptr<const Run> SmallModel::run(const Run* previous) const {
    return execute(plan(), {.previous = previous, .asked = asked});
}

Overrides keys_of(std::string_view text) {
    Overrides keys;
    std::istringstream words{std::string(text)};
    for (std::string key, value; std::getline(words >> std::ws, key, '=') && words >> value;)
        keys.emplace_back(key, value);
    return keys;
}

Config small_config(const Overrides& overrides) {
    return parse_config(R"({"model_type": "decoderscope", "d_model": 12, "nhead": 2, "num_layers": 1,
                            "dim_feedforward": 10})",
                        overrides);
}

SmallModel small_model(const Overrides& overrides, Sizes sizes) {
    SmallModel model{.config = small_config(overrides)};
    model.weights = initial_weights(model.config, kSeed);
    model.inputs = random_inputs(model.config, sizes);
    return model;
}

}  // namespace decoderscope::testing
