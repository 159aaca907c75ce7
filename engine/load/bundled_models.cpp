#include "engine/load/bundled_models.h"

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/random.h"
#include "engine/base/tables.h"
#include "engine/decoder/initial_weights.h"
#include "engine/load/assets.h"
#include "engine/load/example_file.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace decoderscope::load {

namespace {

// ---- the trained ones

// Its description is stored with its weights; if they are missing, the description says so.
BundledModel card_of_trained(std::string_view name) {
    try {
        const std::string path = trained_model_folder(name) + "/example.json";
        const ExampleFile example = naming(path, [&] { return parse_example_file(read_text(path)); });
        return {std::string(name), asset_text(example.description)};
    } catch (const Error& missing) {
        return {std::string(name), missing.sentence()};
    }
}

std::shared_ptr<const Model> load_trained(std::string_view name) {
    Model model = *load_model(trained_model_folder(name));
    model.name = name;
    return std::make_shared<const Model>(std::move(model));
}

// ---- tensors of an example

// A tensor whose numbers are drawn one by one from the random stream of its name.
template <class Draw>
Tensor random_tensor(std::uint64_t seed, std::string_view name, Axes axes, Draw draw) {
    const RandomStream random(seed, name);
    Tensor tensor(std::move(axes));
    std::uint64_t i = 0;
    for (float& value : tensor.writable()) value = static_cast<float>(draw(random, i++));
    return tensor;
}

Tensor uniform(std::uint64_t seed, std::string_view name, Axes axes) {
    return random_tensor(seed, name, std::move(axes),
                         [](const RandomStream& random, std::uint64_t i) { return random.uniform(i); });
}

Tensor normal(std::uint64_t seed, std::string_view name, Axes axes) {
    return random_tensor(seed, name, std::move(axes),
                         [](const RandomStream& random, std::uint64_t i) { return random.normal(i); });
}

Tensor random_tokens(std::uint64_t seed, std::string_view name, Axes axes, Index vocab_size) {
    return random_tensor(seed, name, std::move(axes), [=](const RandomStream& random, std::uint64_t i) {
        return std::floor(random.uniform(i) * static_cast<double>(vocab_size));
    });
}

Axes target(Index batch, Index pos) { return {{axis::batch, batch}, {axis::pos, pos}}; }
Axes source(Index batch, Index src) { return {{axis::batch, batch}, {axis::src, src}}; }
Axes with_width(Axes axes, Index d_model) {
    axes.push_back({axis::d_model, d_model});
    return axes;
}

// ---- the tutorials' decoders, at their own sizes (assets/tables/tutorials.json)

// A tensor of the table, {"fill": its numbers, or how they are drawn, "axes": [size, …], "below": the most}, or null.
Tensor tensor_of(const OrderedJson& json, std::uint64_t seed, const InputSlot& slot) {
    Axes axes;
    for (std::size_t i = 0; i < slot.axes.size(); ++i) axes.push_back({slot.axes[i], json["axes"][i].get<Index>()});
    const OrderedJson& fill = json["fill"];
    if (fill.is_array()) return {std::move(axes), fill.get<std::vector<float>>()};
    if (fill == "tokens") return random_tokens(seed, slot.name, std::move(axes), json["below"].get<Index>());
    return fill == "uniform" ? uniform(seed, slot.name, std::move(axes)) : normal(seed, slot.name, std::move(axes));
}

Model make_tutorial(const OrderedJson& tutorial) {
    const auto seed = tutorial["seed"].get<std::uint64_t>();
    Model model{{.name = tutorial["id"], .description = asset_text(tutorial["description"].get<std::string>())},
                tutorial["config"].dump()};
    model.weights = decoder::initial_weights(model.config(), seed);
    for (const InputSlot& slot : input_slots())
        if (const auto given = tutorial["inputs"].find(slot.name); given != tutorial["inputs"].end())
            model.example.*slot.member = tensor_of(*given, seed, slot);
    return model;
}

}  // namespace

const std::vector<BundledModel>& bundled_models() {
    static const std::vector<BundledModel> cards = [] {
        std::vector<BundledModel> list;
        for (const std::string_view name : trained_models()) list.push_back(card_of_trained(name));
        for (const OrderedJson& tutorial : asset_table("tutorials"))
            list.push_back({tutorial["id"], asset_text(tutorial["description"].get<std::string>())});
        return list;
    }();
    return cards;
}

std::shared_ptr<const Model> make_bundled_model(std::string_view name) {
    if (std::ranges::find(trained_models(), name) != trained_models().end()) return load_trained(name);
    const OrderedJson& tutorials = asset_table("tutorials");
    const auto found = std::ranges::find_if(tutorials, [&](const OrderedJson& one) { return one["id"] == name; });
    return found == tutorials.end() ? nullptr : std::make_shared<const Model>(make_tutorial(*found));
}

Inputs example_inputs(const Config& config, std::uint64_t seed) {
    constexpr Index kLength = 8;
    const Index pos = config.max_positions > 0 ? std::min(kLength, config.max_positions) : kLength;
    Inputs inputs;
    if (config.vocab_size > 0)
        inputs.tokens = random_tokens(seed, "tokens", target(1, pos), config.vocab_size);
    else
        inputs.x = normal(seed, "x", with_width(target(1, pos), config.d_model));
    if (!config.cross_attention) return inputs;
    if (config.encoder_layers > 0 && config.encoder_vocab_size > 0)
        inputs.encoder_tokens = random_tokens(seed, "encoder_tokens", source(1, pos), config.encoder_vocab_size);
    else
        inputs.memory = normal(seed, "memory", with_width(source(1, pos), config.d_model));
    return inputs;
}

}  // namespace decoderscope::load
