#include "engine/heads.h"

#include "engine/parallel.h"

#include <algorithm>

namespace decoderscope {

namespace {

// A head's numbers at one position are few: calling for a copy would take longer than copying.
void copy(const float* from, Index count, float* to) {
    constexpr Index kAtOnce = 8;
    Index i = 0;
    for (; i + kAtOnce <= count; i += kAtOnce) std::copy_n(from + i, kAtOnce, to + i);
    for (; i < count; ++i) to[i] = from[i];
}

// Calls visit(beside, apart) for each head of each position: where its numbers begin in both.
template <class Visit>
void each_head(const Heads& h, const Visit& visit) {
    const Index width = h.heads * h.d_head;
    in_parallel(h.batch * h.heads, h.positions * h.d_head * kCopyCost, [&](Index begin, Index end) {
        Index batch = begin / h.heads, head = begin % h.heads;
        const Index last = end * h.positions * h.d_head;
        for (Index apart = begin * h.positions * h.d_head; apart < last;) {
            Index beside = batch * h.positions * width + head * h.d_head;
            for (Index p = 0; p < h.positions; ++p, beside += width, apart += h.d_head) visit(beside, apart);
            if (++head < h.heads) continue;
            head = 0;
            ++batch;
        }
    });
}

}  // namespace

void part_heads(const Heads& heads, const float* beside, float* apart) {
    each_head(heads, [&](Index from, Index to) { copy(beside + from, heads.d_head, apart + to); });
}

void join_heads(const Heads& heads, const float* apart, float* beside) {
    each_head(heads, [&](Index to, Index from) { copy(apart + from, heads.d_head, beside + to); });
}

}  // namespace decoderscope
