#include "engine/mutations/families.h"

#include <cmath>

namespace decoderscope::mutations_of {

namespace {

double right_scale(const Config& config) {
    return config.attention_scale > 0.0 ? config.attention_scale
                                        : 1.0 / std::sqrt(static_cast<double>(config.d_head()));
}

}  // namespace

void scale(std::vector<Mutation>& list) {
    list.push_back({.name = "no-scale",
                    .cause = message("The scores are not divided by √d_head."),
                    .configure = [](Config& config) { config.attention_scale = 1.0; }});
    list.push_back({.name = "scale-by-d-head",
                    .cause = message("The scores are multiplied by 1/√d_head."),
                    .configure = [](Config& config) { config.attention_scale = 0.0; }});
    list.push_back({.name = "scale-by-d-model",
                    .cause = message("The scores are divided by √d_model instead of √d_head."),
                    .configure = [](Config& config) {
                        config.attention_scale = 1.0 / std::sqrt(static_cast<double>(config.d_model));
                    }});
    list.push_back(
        {.name = "scale-without-root",
         .cause = message("The scores are divided by d_head instead of its root."),
         .configure = [](Config& config) { config.attention_scale = 1.0 / static_cast<double>(config.d_head()); }});
    list.push_back({.name = "scale-multiplied",
                    .cause = message("The scores are multiplied by √d_head instead of divided by it."),
                    .configure = [](Config& config) { config.attention_scale = 1.0 / right_scale(config); }});
    list.push_back({.name = "scaled-twice",
                    .cause = message("The scores are divided by √d_head twice: once in the query, once in the scores."),
                    .configure = [](Config& config) { config.attention_scale = std::pow(right_scale(config), 2); }});
}

}  // namespace decoderscope::mutations_of
