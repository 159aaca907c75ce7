#include "app/core/run/open_model.h"

#include "engine/base/error.h"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>
#include <vector>

namespace decoderscope::core {

namespace {

std::shared_ptr<const load::Model> on_recorded_example(std::shared_ptr<const load::Model> model,
                                                       const std::string& path) {
    try {
        Inputs recorded = inputs_of_trace(trace::open_trace(path), model->config());
        if (recorded.tokens.empty() && recorded.x.empty()) return model;
        check_inputs(recorded, model->config());
        load::Model with = *model;
        with.example = std::move(recorded);
        return std::make_shared<const load::Model>(std::move(with));
    } catch (const Error&) {  // then it runs on an example as any model does
        return model;
    }
}

// An input of the recorded model, under the name of its argument.
struct RecordedInput {
    std::string port;  // lower-case
    const trace::TraceTensor* tensor = nullptr;
};

bool has_any(std::string_view text, std::initializer_list<std::string_view> words) {
    return std::ranges::any_of(words, [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

std::string lower(std::string text) {
    std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

bool is_mask(const RecordedInput& given) {
    return given.tensor->dtype == "BOOL" || has_any(given.port, {"mask", "pad"});
}

bool is_whole(const trace::TraceTensor& tensor) { return tensor.dtype.starts_with("I") || tensor.dtype == "U8"; }

bool is_source(const RecordedInput& given, bool others_are_targets) {
    if (has_any(given.port, {"tgt", "target", "dec", "trg"})) return false;
    return has_any(given.port, {"src", "source", "enc", "mem"}) || (others_are_targets && given.port == "input_ids");
}

// The inputs of the first call, which is the recorded module's.
std::vector<RecordedInput> given_to(const trace::Trace& trace) {
    std::vector<RecordedInput> found;
    if (trace.calls.empty()) return found;
    for (const auto& [port, name] : trace.calls.front().in)
        if (const trace::TraceTensor* tensor = trace.find(name)) found.push_back({lower(port), tensor});
    return found;
}

Tensor named(const trace::TraceTensor& tensor, std::initializer_list<Axis> axes) {
    Axes wanted;
    std::size_t i = 0;
    for (const Axis& axis : axes) wanted.push_back({axis.name, tensor.shape[i++]});
    return tensor.values.with_axes(std::move(wanted));
}

Tensor as_tokens(const trace::TraceTensor& tensor, std::string_view axis) {
    return named(tensor, {{axis::batch, 0}, {axis, 0}});
}
Tensor as_vectors(const trace::TraceTensor& tensor, std::string_view axis) {
    return named(tensor, {{axis::batch, 0}, {axis, 0}, {axis::d_model, 0}});
}

// A padding mask as [batch, key], 1 = keep; empty if the tensor isn't a padding mask of that size.
Tensor as_padding(const RecordedInput& mask, Index batch, Index length, std::string_view axis) {
    std::vector<Index> shape = mask.tensor->shape;
    if (shape.size() == 4 && shape[1] == 1 && shape[2] == 1) shape = {shape[0], shape[3]};
    if (shape.size() == 3 && shape[1] == 1) shape = {shape[0], shape[2]};
    if (shape != std::vector<Index>{batch, length}) return {};
    const Axes axes = {{axis::batch, batch}, {axis, length}};
    Tensor keep(axes, mask.tensor->values.values());
    if (has_any(mask.port, {"pad"}) && mask.tensor->dtype == "BOOL")
        for (float& value : keep.writable()) value = value == 0.0F ? 1.0F : 0.0F;
    return keep;
}

struct Sides {
    std::vector<RecordedInput> targets, sources, masks;
};

Sides sides_of(const std::vector<RecordedInput>& inputs, bool whole, bool has_source) {
    Sides sides;
    const bool named_target = std::ranges::any_of(inputs, [](const RecordedInput& given) {
        return has_any(given.port, {"tgt", "target", "dec"});
    });
    for (const RecordedInput& given : inputs) {
        if (is_mask(given))
            sides.masks.push_back(given);
        else if (whole == is_whole(*given.tensor) && given.tensor->shape.size() == (whole ? 2U : 3U))
            (has_source && is_source(given, named_target) ? sides.sources : sides.targets).push_back(given);
    }
    // If the names don't tell, the source comes first, as in torch.nn.Transformer.
    if (has_source && sides.sources.empty() && sides.targets.size() == 2) {
        sides.sources.push_back(sides.targets.front());
        sides.targets.erase(sides.targets.begin());
    }
    return sides;
}

void add_masks(const std::vector<RecordedInput>& masks, Inputs& inputs) {
    const Tensor& source = inputs.encoder_tokens.empty() ? inputs.memory : inputs.encoder_tokens;
    for (const RecordedInput& mask : masks) {
        const bool of_source = is_source(mask, false);
        if (of_source && !source.empty() && inputs.encoder_attention_mask.empty())
            inputs.encoder_attention_mask = as_padding(mask, source.dim(0), source.dim(1), axis::src);
        else if (!of_source && inputs.attention_mask.empty())
            inputs.attention_mask = as_padding(mask, inputs.batch(), inputs.pos(), axis::pos);
    }
}

// Inputs under the names of the contract's inputs file.
void add_by_name(const trace::Trace& trace, Inputs& inputs) {
    const auto take = [&](const char* name, std::size_t rank, Tensor& to, std::initializer_list<Axis> axes) {
        const trace::TraceTensor* tensor = trace.find(name);
        if (tensor != nullptr && tensor->shape.size() == rank) to = named(*tensor, axes);
    };
    take("tokens", 2, inputs.tokens, {{axis::batch, 0}, {axis::pos, 0}});
    take("x", 3, inputs.x, {{axis::batch, 0}, {axis::pos, 0}, {axis::d_model, 0}});
    take("memory", 3, inputs.memory, {{axis::batch, 0}, {axis::src, 0}, {axis::d_model, 0}});
    take("encoder_tokens", 2, inputs.encoder_tokens, {{axis::batch, 0}, {axis::src, 0}});
    take("attention_mask", 2, inputs.attention_mask, {{axis::batch, 0}, {axis::pos, 0}});
    take("encoder_attention_mask", 2, inputs.encoder_attention_mask, {{axis::batch, 0}, {axis::src, 0}});
}

}  // namespace

bool opens_as_trace(const std::string& path, OpenAs as) {
    return as == OpenAs::trace || (as == OpenAs::whatever_it_is && load::is_recording(path));
}

load::Opened open_model(const std::string& name, OpenAs as, const Overrides& answers, LoadProgress* progress,
                        const load::names::Mapping& mapping) {
    if (opens_as_trace(name, as)) return load::run_of_trace(name);
    std::shared_ptr<const load::Model> model = load::load_model(name, answers, progress, mapping);
    return load::is_recording(name) ? on_recorded_example(std::move(model), name) : model;
}

Inputs inputs_of_trace(const trace::Trace& trace, const Config& config) {
    Inputs inputs;
    add_by_name(trace, inputs);
    if (!inputs.tokens.empty() || !inputs.x.empty()) return inputs;
    const std::vector<RecordedInput> given = given_to(trace);
    const bool source_tokens = config.encoder_layers > 0 && config.encoder_vocab_size > 0;
    const bool tokens = config.vocab_size > 0;
    const Sides sides = sides_of(given, tokens, config.cross_attention && source_tokens == tokens);
    if (sides.targets.empty()) return {};
    const trace::TraceTensor& target = *sides.targets.front().tensor;
    if (tokens)
        inputs.tokens = as_tokens(target, axis::pos);
    else
        inputs.x = as_vectors(target, axis::pos);
    if (config.cross_attention) {
        const Sides other = sides_of(given, source_tokens, true);
        const std::vector<RecordedInput>& sources = source_tokens == tokens ? sides.sources
                                                    : other.sources.empty() ? other.targets
                                                                            : other.sources;
        if (sources.empty()) return {};
        if (source_tokens)
            inputs.encoder_tokens = as_tokens(*sources.front().tensor, axis::src);
        else
            inputs.memory = as_vectors(*sources.front().tensor, axis::src);
    }
    add_masks(sides.masks, inputs);
    return inputs;
}

Scenario on_recorded_input(Scenario scenario, const trace::Trace& trace) {
    Inputs recorded = inputs_of_trace(trace, scenario.config());
    if (recorded.tokens.empty() && recorded.x.empty()) return scenario;
    naming(trace.path, [&] { check_inputs(recorded, scenario.config()); });
    scenario.inputs = std::move(recorded);
    return scenario;
}

}  // namespace decoderscope::core
