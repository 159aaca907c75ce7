#include "engine/heads.h"

#include "engine/parallel.h"

#include <algorithm>

namespace decoderscope {

namespace {

// Rows of a matrix somewhere else. A head's row is short: calling for a copy would take longer than copying.
void copy_rows(Index rows, Index columns, const float* from, Index from_stride, float* to, Index to_stride) {
    constexpr Index kAtOnce = 8;
    for (Index r = 0; r < rows; ++r, from += from_stride, to += to_stride) {
        Index i = 0;
        for (; i + kAtOnce <= columns; i += kAtOnce) std::copy_n(from + i, kAtOnce, to + i);
        for (; i < columns; ++i) to[i] = from[i];
    }
}

// Calls visit(beside, apart) for each head: where its first row begins in both.
template <class Visit>
void each_head(const Heads& h, const Visit& visit) {
    const Index plane = h.positions * h.d_head;
    in_parallel(h.batch * h.heads, plane * kCopyCost, [&](Index begin, Index end) {
        for (Index i = begin; i < end; ++i)
            visit((i / h.heads * h.positions * h.heads + i % h.heads) * h.d_head, i * plane);
    });
}

}  // namespace

void part_heads(const Heads& h, const float* beside, float* apart) {
    each_head(h, [&](Index from, Index to) {
        copy_rows(h.positions, h.d_head, beside + from, h.heads * h.d_head, apart + to, h.d_head);
    });
}

void join_heads(const Heads& h, const float* apart, float* beside) {
    each_head(h, [&](Index to, Index from) {
        copy_rows(h.positions, h.d_head, apart + from, h.d_head, beside + to, h.heads * h.d_head);
    });
}

}  // namespace decoderscope
