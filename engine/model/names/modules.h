#pragma once

#include "engine/model/names/words.h"
#include "engine/model/shapes.h"

#include <optional>
#include <string>
#include <vector>

namespace decoderscope::names {

struct StoredTensor {
    std::string name;  // in the checkpoint
    std::vector<Index> shape;
};

// What belongs together: a Linear's weight and bias, a norm's gain and shift, a table. The endings may differ: gamma
// and beta, a_2 and b_2, scale and shift, W_Q and b_Q.
struct Module {
    Path path;  // without the ending: "layers", "0", "norm1"
    std::optional<StoredTensor> weight, bias;
    bool bare = false;  // no ending of its own: a parameter directly in its module (W_Q, pos_emb)

    [[nodiscard]] Words last_words() const { return path.empty() ? Words() : words_of(path.back()); }
    [[nodiscard]] std::size_t rank() const { return weight ? weight->shape.size() : 0; }
    // Of a matrix, as stored.
    [[nodiscard]] Index rows() const { return rank() == 2 ? weight->shape[0] : 0; }
    [[nodiscard]] Index columns() const { return rank() == 2 ? weight->shape[1] : 0; }
    [[nodiscard]] std::string name() const { return weight ? weight->name : bias ? bias->name : join(path); }
};

using Modules = std::vector<Module>;

// The modules of a checkpoint in the order of their names, numbers as numbers; buffers are left out.
[[nodiscard]] Modules modules_of(const Shapes& stored);

// Whether it isn't learned and never used here: masks, rotary frequencies, caches.
[[nodiscard]] bool is_buffer(std::string_view name, const std::vector<Index>& shape);

// The size that most tensors have along some axis: d_model. 0 if there is none.
[[nodiscard]] Index width_of(const Modules& modules);

}  // namespace decoderscope::names
