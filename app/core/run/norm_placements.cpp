#include "app/core/run/norm_placements.h"

#include <algorithm>
#include <array>

namespace decoderscope::core {

std::span<const PlaceOfNorms> places_of_norms() {
    static constexpr std::array places = {
        PlaceOfNorms{NormPlacement::pre, "pre", message("Pre-Norm"), "x + f(norm(x))",
                     message("Each sublayer f reads a normalised copy. The stream x runs through untouched.")},
        PlaceOfNorms{
            NormPlacement::post, "post", message("Post-Norm"), "norm(x + f(x))",
            message("Each sublayer f reads x itself. Every sum is normalised before the next sublayer reads it.")},
        PlaceOfNorms{NormPlacement::peri, "peri", message("Peri-Norm"), "x+norm(f(norm(x)))",
                     message("Each sublayer f reads a normalised copy, and what it adds is normalised, too: no update "
                             "can outgrow the others (Gemma 2).")},
        PlaceOfNorms{NormPlacement::reordered, "reordered", message("Reordered"), "x + norm(f(x))",
                     message("Each sublayer f reads x itself. Only what it adds is normalised (OLMo 2).")}};
    return places;
}

const PlaceOfNorms& place_of_norms(NormPlacement placement) {
    const auto all = places_of_norms();
    return *std::ranges::find(all, placement, &PlaceOfNorms::placement);
}

Places first_places(const Config& config) {
    const NormPlacement own = config.placement();
    const bool another = own == NormPlacement::peri || own == NormPlacement::reordered;
    return another ? Places{own, NormPlacement::pre} : kPreAndPost;
}

}  // namespace decoderscope::core
