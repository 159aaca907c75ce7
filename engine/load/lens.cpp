#include "engine/load/lens.h"

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/files/safetensors.h"

#include <algorithm>
#include <cmath>

namespace decoderscope::load {

FittedLens read_lens(const std::string& path, const Config& config) {
    const SafetensorsFile file(path);
    FittedLens lens{absolute_path(path), {}};
    const auto take = [&](const std::string& name, const Axes& axes) {
        if (!file.contains(name)) return false;
        const Tensor stored = file.floats(name);
        if (!std::ranges::equal(stored.axes(), axes, {}, &Axis::size, &Axis::size))
            throw Error(
                "{path}: {name}: shape {shape}, expected {wanted}",
                {{"path", path}, {"name", name}, {"shape", shape_text(stored.axes())}, {"wanted", shape_text(axes)}});
        if (!std::ranges::all_of(stored.values(), [](float value) { return std::isfinite(value); }))
            throw Error("{path}: {name}: a value is NaN or infinite, expected finite numbers",
                        {{"path", path}, {"name", name}});
        lens.maps.emplace("fitted_lens." + name, stored.with_axes(axes));
        return true;
    };
    const Axis out = {axis::out, config.d_model}, in = {axis::in, config.d_model};
    for (Index layer = -1; layer < config.num_layers; ++layer) {
        const std::string at = layer < 0 ? "embed" : "blocks." + std::to_string(layer);
        if (take(at + ".weight", {out, in})) static_cast<void>(take(at + ".bias", {out}));
    }
    if (lens.maps.empty())
        throw Error("{path}: no tensor embed.weight or blocks.0.weight, …; expected a lens, one {shape} a layer",
                    {{"path", path}, {"shape", shape_text({out, in})}});
    for (const auto& [name, entry] : file.entries())
        if (!lens.maps.contains("fitted_lens." + name))
            throw Error(
                "{path}: {name}: expected embed or blocks.0 to blocks.{last}, with .weight or .weight and .bias",
                {{"path", path}, {"name", name}, {"last", config.num_layers - 1}});
    return lens;
}

}  // namespace decoderscope::load
