#include "app/views/widgets/shares.h"

#include <algorithm>
#include <cstddef>

namespace decoderscope {

namespace {

// Raises the lengths evenly towards their goals, as far as the room reaches. Returns what is left of it.
float raised(std::vector<float>& lengths, const std::vector<float>& goals, float room) {
    while (room > 0.5F) {
        const auto is_open = [&](std::size_t i) { return lengths[i] + 0.01F < goals[i]; };
        std::size_t open = 0;
        for (std::size_t i = 0; i < lengths.size(); ++i) open += is_open(i) ? 1 : 0;
        if (open == 0) return room;
        const float each = room / static_cast<float>(open);
        for (std::size_t i = 0; i < lengths.size(); ++i) {
            if (!is_open(i)) continue;
            const float more = std::min(each, goals[i] - lengths[i]);
            lengths[i] += more;
            room -= more;
        }
    }
    return room;
}

}  // namespace

Want larger(const Want& a, const Want& b) {
    return {std::max(a.least, b.least), std::max(a.good, b.good), std::max(a.most, b.most)};
}

Want sum(const Want& a, const Want& b) { return {a.least + b.least, a.good + b.good, a.most + b.most}; }

std::vector<float> shares(float room, std::span<const Want> wants) {
    std::vector<float> lengths, good, most;
    for (const Want& want : wants) {
        lengths.push_back(want.least);
        good.push_back(want.good);
        most.push_back(want.most);
        room -= want.least;
    }
    static_cast<void>(raised(lengths, most, raised(lengths, good, room)));
    return lengths;
}

}  // namespace decoderscope
