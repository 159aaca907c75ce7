#pragma once

#include "engine/axes.h"

namespace decoderscope {

// The heads of an attention.
struct Heads {
    Index batch = 0, heads = 0, positions = 0, d_head = 0;
};

// Heads that lie beside each other, as a Linear's outputs, put one after another, as attention reads them.
//     beside [batch, pos, head·d_head] -> apart [batch, head, pos, d_head]
void part_heads(const Heads& heads, const float* beside, float* apart);
// The other way round.
//     apart [batch, head, pos, d_head] -> beside [batch, pos, head·d_head]
void join_heads(const Heads& heads, const float* apart, float* beside);

}  // namespace decoderscope
