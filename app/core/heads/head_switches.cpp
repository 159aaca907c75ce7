#include "app/core/heads/head_switches.h"

namespace decoderscope {

float head_factor(const std::vector<Edit>& edits, const std::string& attention, Index head) {
    float factor = 1.0F;
    for (const Edit& edit : edits)
        if (const auto* scale = std::get_if<ScaleHead>(&edit);
            scale && scale->attention == attention && scale->head == head)
            factor *= scale->factor;
    return factor;
}

bool is_solo(const std::vector<Edit>& edits, const std::string& attention, Index head, Index heads) {
    for (Index other = 0; other < heads; ++other)
        if ((head_factor(edits, attention, other) == 0.0F) == (other == head)) return false;
    return heads > 1;
}

std::vector<Edit> without_factors(std::vector<Edit> edits, const std::string& attention) {
    std::erase_if(edits, [&](const Edit& edit) {
        const auto* scale = std::get_if<ScaleHead>(&edit);
        return scale != nullptr && scale->attention == attention;
    });
    return edits;
}

std::vector<Edit> with_solo(std::vector<Edit> edits, const std::string& attention, Index head, Index heads) {
    edits = without_factors(std::move(edits), attention);
    for (Index other = 0; other < heads; ++other)
        if (other != head) edits.push_back(ScaleHead{attention, other, 0.0F});
    return edits;
}

}  // namespace decoderscope
