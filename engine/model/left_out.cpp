#include "engine/model/left_out.h"

#include "engine/decoder/decoder.h"
#include "engine/error.h"
#include "engine/model/check_weights.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string_view>

namespace decoderscope {

namespace {

// "up_proj" of "layers.0.up_proj.bias".
std::string_view part_of(std::string_view name) {
    const std::size_t ending = name.rfind('.');
    const std::size_t before = name.rfind('.', ending - 1);
    const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
    return name.substr(begin, ending - begin);
}

}  // namespace

std::vector<std::string> add_left_out(StateDict& state_dict, const Config& config, const ModelFamily& family) {
    std::vector<std::string> tables;
    for (const Declared& parameter : declared_parameters(config)) {
        const bool bias = parameter.name.ends_with(".bias");
        if (bias && std::ranges::find(family.unbiased, part_of(parameter.name)) != family.unbiased.end()) {
            if (state_dict.shapes.contains(parameter.name))
                throw Error("{name}: this configuration has no such tensor",
                            {{"name", both_names(state_dict, parameter.name)}});
            if (parameter.required) state_dict.shapes.emplace(parameter.name, sizes_of(parameter.axes));
        }
        const bool table = family.makes_positions && parameter.name.ends_with("pos_embed.weight");
        if (table && state_dict.shapes.emplace(parameter.name, sizes_of(parameter.axes)).second)
            tables.push_back(parameter.name);
    }
    return tables;
}

void make_positions(Weights& weights, const std::vector<std::string>& tables) {
    for (const std::string& name : tables) {
        Tensor& table = weights.at(name);
        const Index rows = table.axes()[0].size, columns = table.axes()[1].size, sines = (columns + 1) / 2;
        const std::span<float> numbers = table.writable();
        for (Index row = 0; row < rows; ++row)
            for (Index i = 0; i < columns; ++i) {
                const Index pair = i < sines ? i : i - sines;
                const double angle = static_cast<double>(row) *
                                     std::pow(10000.0, -2.0 * static_cast<double>(pair) / static_cast<double>(columns));
                numbers[static_cast<std::size_t>(row * columns + i)] =
                    static_cast<float>(i < sines ? std::sin(angle) : std::cos(angle));
            }
    }
}

}  // namespace decoderscope
