#include "engine/load/names/shapes.h"

#include <algorithm>
#include <vector>

namespace decoderscope::load::names {

namespace {

std::string bias_of(const std::string& weight) {
    return weight.substr(0, weight.size() - std::string_view("weight").size()) + "bias";
}

// Whether any of these parameters has a bias.
bool has_bias(const Shapes& shapes, bool (*is)(std::string_view)) {
    return std::ranges::any_of(
        shapes, [&](const auto& entry) { return is(entry.first) && shapes.contains(bias_of(entry.first)); });
}

bool is_head_norm(std::string_view name) { return name.ends_with("q_norm.weight") || name.ends_with("k_norm.weight"); }

}  // namespace

Index rows_of(const Shapes& shapes, const std::string& name) {
    const auto found = shapes.find(name);
    return found != shapes.end() && !found->second.empty() ? found->second[0] : 0;
}

Index columns_of(const Shapes& shapes, const std::string& name) {
    const auto found = shapes.find(name);
    return found != shapes.end() && found->second.size() == 2 ? found->second[1] : 0;
}

Index count_layers(const Shapes& shapes, const std::string& prefix) {
    Index layers = 0;
    while (shapes.contains(prefix + "layers." + std::to_string(layers) + ".self_attn.q_proj.weight")) ++layers;
    return layers;
}

bool is_projection(std::string_view name) { return name.ends_with("_proj.weight") || name == "lm_head.weight"; }

bool is_norm(std::string_view name) {
    const std::size_t at = name.rfind("norm");
    return at != std::string_view::npos && name.ends_with(".weight") && name.find('.', at) + 7 == name.size();
}

bool any_norm_has_bias(const Shapes& shapes) { return has_bias(shapes, is_norm); }
bool any_projection_has_bias(const Shapes& shapes) { return has_bias(shapes, is_projection); }

void add_zero_biases(Shapes& shapes, bool norms) {
    Shapes zeros;
    for (const auto& [name, shape] : shapes)
        if ((is_projection(name) || (norms && is_norm(name) && !is_head_norm(name))) && !shape.empty() &&
            !shapes.contains(bias_of(name)))
            zeros.emplace(bias_of(name),
                          shape.size() > 2 ? std::vector<Index>{shape[0], shape[1]} : std::vector<Index>{shape[0]});
    shapes.merge(zeros);
}

}  // namespace decoderscope::load::names
