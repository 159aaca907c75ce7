#pragma once

#include <span>
#include <vector>

namespace decoderscope {

// What one of several pictures can use of a length: at least so much, enough to be read, and no more than this.
struct Want {
    float least = 0.0F, good = 0.0F, most = 0.0F;
};

// What both need beside each other, and one above the other.
[[nodiscard]] Want larger(const Want& a, const Want& b);
[[nodiscard]] Want sum(const Want& a, const Want& b);

// A room shared out: each gets its least, then up to what is good, then up to the most. What is left stays free; if the
// room doesn't hold the least of all, the sum is larger than the room.
[[nodiscard]] std::vector<float> shares(float room, std::span<const Want> wants);

}  // namespace decoderscope
