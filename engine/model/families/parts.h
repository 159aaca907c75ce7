#pragma once

#include "engine/model/families/family.h"
#include "engine/model/families/keys.h"

#include <functional>

namespace decoderscope::families {

// A family while its config.json is read.
struct Reading {
    FamilyKeys& keys;
    ModelFamily& family;
    Json config = {{"model_type", "decoderscope"}};
    KeyNames names_of_heads = "nhead";  // what the family calls it

    [[nodiscard]] Index layers() const { return config.at("num_layers").get<Index>(); }
    // d_model, nhead, num_layers and vocab_size.
    void sizes(const KeyNames& width, const KeyNames& heads, const KeyNames& layers);
    // What all of these decoders have: tokens, a head that may be tied, Pre-Norm with a norm behind the last block.
    void causal_lm(bool tied);
};

// What has a bias.
struct Biases {
    bool qkv = false, out = false, mlp = false, head = false, norms = false;
};
void biases(Reading& reading, const Biases& biases);

struct RopeDefaults {
    double theta = 10000.0;
    double part = 1.0;  // of a head's columns
};
// rope_theta, rope_scaling or rope_parameters, partial_rotary_factor, max_position_embeddings; head_dim is read before.
void rope(Reading& reading, const RopeDefaults& defaults = {}, const KeyNames& theta = "rope_theta",
          const KeyNames& part = "partial_rotary_factor");

// head_dim, where it is not d_model / nhead; 0: that is the default.
void head_dim(Reading& reading, Index otherwise = 0);

// layer_types, or else the blocks that `slides` says, see so many positions; none sees a window of 0.
void sliding_window(Reading& reading, Index window, const std::function<bool(Index)>& slides);
// A family whose blocks all see everything may say so.
void no_sliding_window(Reading& reading);

}  // namespace decoderscope::families
