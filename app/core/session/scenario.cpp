#include "app/core/session/scenario.h"

#include "engine/model/initial_weights.h"

#include <algorithm>

namespace decoderscope {

Scenario scenario_of(std::shared_ptr<const Model> model) {
    Inputs example = model->example;
    return {.model = std::move(model), .inputs = std::move(example)};
}

Scenario with_override(Scenario scenario, const std::string& key, const std::string& value) {
    std::erase_if(scenario.overrides, [&](const auto& override) { return override.first == key; });
    scenario.overrides.emplace_back(key, value);
    return scenario;
}

Scenario varied(Scenario scenario, const Variation& variation) {
    for (const auto& [key, value] : variation.overrides) scenario = with_override(std::move(scenario), key, value);
    if (variation.without_edits) scenario.edits.clear();
    scenario.edits.insert(scenario.edits.end(), variation.more_edits.begin(), variation.more_edits.end());
    if (variation.layers)
        scenario = with_override(std::move(scenario), "num_layers", std::to_string(*variation.layers));
    return scenario;
}

Tensor FreshWeights::get(const Declared& parameter) {
    constexpr std::uint64_t kSeed = 0;
    const std::lock_guard lock(mutex_);
    Tensor& made = made_[parameter.name];
    if (made.axes() != parameter.axes) made = initial_weight(parameter, kSeed);
    return made;
}

std::shared_ptr<const Model> with_layers(const std::shared_ptr<const Model>& model, const Overrides& overrides,
                                         Index layers, FreshWeights& fresh) {
    Overrides deep = overrides;
    std::erase_if(deep, [](const auto& override) { return override.first == "num_layers"; });
    deep.emplace_back("num_layers", std::to_string(layers));
    Model deeper = *model;
    for (const Declared& parameter : declared_parameters(model->config(deep)))
        if (parameter.required && !deeper.weights.contains(parameter.name))
            deeper.weights.emplace(parameter.name, fresh.get(parameter));
    return std::make_shared<const Model>(std::move(deeper));
}

std::shared_ptr<const Model> with_norms_scaled(const std::shared_ptr<const Model>& model, const Overrides& overrides,
                                               float gain, float shift) {
    Model scaled = *model;
    for (const Declared& parameter : declared_parameters(model->config(overrides))) {
        const auto found = scaled.weights.find(parameter.name);
        const bool is_gain = parameter.init.kind == Init::Kind::gain,
                   is_shift = parameter.init.kind == Init::Kind::shift;
        if (found == scaled.weights.end() || (!is_gain && !is_shift)) continue;
        for (float& value : found->second.writable()) value *= is_gain ? gain : shift;
    }
    return std::make_shared<const Model>(std::move(scaled));
}

Scenario with_weights_of(const Variation& variation, Scenario scenario, FreshWeights& fresh) {
    if (variation.layers) scenario.model = with_layers(scenario.model, scenario.overrides, *variation.layers, fresh);
    if (variation.gain_factor != 1.0F || variation.shift_factor != 1.0F)
        scenario.model =
            with_norms_scaled(scenario.model, scenario.overrides, variation.gain_factor, variation.shift_factor);
    return scenario;
}

std::shared_ptr<const Plan> plan_of(const Scenario& scenario, bool logit_lens) {
    const Config config = scenario.config();
    PassRequest request{config, &scenario.model->weights, scenario.inputs, scenario.edits, scenario.dropout_seed};
    request.logit_lens = logit_lens;
    std::shared_ptr<const Plan> plan = plan_decoder(request);
    check_memory(*plan, scenario.recording);
    return plan;
}

}  // namespace decoderscope
