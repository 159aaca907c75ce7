#include "app/views/widgets/glide.h"

#include <algorithm>
#include <utility>

namespace decoderscope::views {

namespace {

constexpr float kSeconds = 0.25F;

// Slow at both ends.
float eased(float progress) { return progress * progress * (3.0F - 2.0F * progress); }

Area between(const Area& from, const Area& to, float part) {
    const auto along = [&](ImVec2 a, ImVec2 b) { return ImVec2{a.x + (b.x - a.x) * part, a.y + (b.y - a.y) * part}; };
    return {along(from.low, to.low), along(from.high, to.high)};
}

}  // namespace

bool Glide::advance(const std::string& arrangement, std::vector<Placed> pictures, bool motion) {
    if (arrangement != arrangement_) {
        // The frame before may be long ago: the way begins now.
        arrangement_ = arrangement;
        from_ = std::exchange(drawn_, {});
        progress_ = motion ? 0.0F : 1.0F;
    } else {
        progress_ = std::min(1.0F, progress_ + ImGui::GetIO().DeltaTime / kSeconds);
    }
    bool moves = false;
    drawn_.clear();
    for (Placed& picture : pictures) {
        const auto from = from_.find(picture.name);
        if (progress_ < 1.0F && from != from_.end()) {
            picture.area = between(from->second, picture.area, eased(progress_));
            moves = true;
        }
        drawn_.emplace(picture.name, picture.area);
    }
    return moves;
}

}  // namespace decoderscope::views
