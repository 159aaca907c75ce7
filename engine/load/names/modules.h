#pragma once

#include "engine/load/names/mapping.h"
#include "engine/model/config.h"
#include "engine/tensor/tensor.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace decoderscope::load::names {

using Shapes = std::map<std::string, std::vector<Index>, std::less<>>;  // of tensors, by name

[[nodiscard]] bool any_name_holds(const Shapes& shapes, std::string_view part);

// A parameter's name is a path of components, "layers", "0", "self_attn", "W_query"; a component is made of words.
using Path = std::vector<std::string>;
using Words = std::vector<std::string>;  // lower-case

[[nodiscard]] Path split(std::string_view name);
[[nodiscard]] std::string join(const Path& path);
[[nodiscard]] bool begins_with(const Path& path, const Path& prefix);
// Without its first or last components.
[[nodiscard]] Path without_first(const Path& path, std::size_t count);
[[nodiscard]] Path parent(const Path& path);

// The words of a component: split at underscores, at capitals (selfAttention) and where digits begin or end (fc1).
[[nodiscard]] Words words_of(std::string_view component);
// The words of all components, in order.
[[nodiscard]] Words words_of(const Path& path);

// "c_attn" of its words.
[[nodiscard]] std::string joined(const Words& words);

// Whether words name such a thing. assets/tables/names.json lists under "words" what names it: a word ("q"), a part of
// one ("~quer"), or all words together ("=in_proj").
[[nodiscard]] bool says(const Words& words, std::string_view thing);

// A number as a ModuleList writes it; -1 if it is not one.
[[nodiscard]] Index number(std::string_view text);
// The last number among the words, or -1.
[[nodiscard]] Index last_number(const Words& words);

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
    [[nodiscard]] bool says(std::string_view thing) const { return names::says(words_of(path), thing); }
    [[nodiscard]] std::size_t rank() const { return weight ? weight->shape.size() : 0; }
    // The rows of a matrix, as stored.
    [[nodiscard]] Index rows() const { return rank() == 2 ? weight->shape[0] : 0; }
    [[nodiscard]] Index columns() const { return rank() == 2 ? weight->shape[1] : 0; }
    [[nodiscard]] bool is_square() const { return rows() == columns(); }
    // A gain that is one number for all columns.
    [[nodiscard]] bool is_one_number() const {
        return weight && (weight->shape.empty() || weight->shape == std::vector<Index>{1});
    }
    [[nodiscard]] std::string name() const { return weight ? weight->name : bias ? bias->name : join(path); }
};

using Modules = std::vector<Module>;

// The modules of a checkpoint in the order of their names, numbers as numbers; buffers are left out.
[[nodiscard]] Modules modules_of(const Shapes& stored);

// Whether a tensor isn't learned and is never used here: masks, rotary frequencies, caches.
[[nodiscard]] bool is_buffer(std::string_view name, const std::vector<Index>& shape);

// The size that most tensors have along some axis: d_model. 0 if there is none.
[[nodiscard]] Index width_of(const Modules& modules);

// A module whose place in a block is known: "self_attn.q_proj", "norm1".
struct Assigned {
    Module module;
    std::string name;  // in the contract, without .weight and .bias
    RowLayout how = RowLayout::as_stored;
    Index number = 0;      // of a head, of an expert
    bool settled = false;  // its name alone says which way round its matrix is stored
};

// What a question depends on.
struct Asking {
    std::string proposal;   // if it isn't the usual one
    bool required = false;  // the proposal is a guess
    std::string other;      // another choice
    Arguments named;        // in why it is asked
};

// The question that assets/tables/questions.json has under this name, its key and perhaps whose:
// "logit_scale:granite". A proposal that isn't among its choices becomes the first of them.
[[nodiscard]] Question question_named(const std::string& name, const Asking& asking = {});

// What recognition knows and asks while it works on a model.
struct Context {
    Index width = 0;                 // d_model
    Overrides answers;               // to the questions below, by key
    bool norm_at_embedding = false;  // jadore801120's: a layer_norm beside the blocks comes before them
    bool one_by_one = false;         // gpt-fast's: wqkv is q, then k, then v
    bool turns_back = false;         // nanochat's: RoPE turns q and k the other way
    std::vector<Question> questions;
    std::vector<std::pair<std::string, std::string>> copies;  // a stored tensor, and the one that it is once more

    // The answer to a question (question_named), which is asked once for the whole model.
    std::string ask(const std::string& name, const Asking& asking = {});
};

// Takes the modules that `chosen` accepts out of a list.
template <class Chosen>
Modules take(Modules& from, Chosen chosen) {
    Modules taken;
    std::erase_if(from, [&](const Module& module) {
        if (!chosen(module)) return false;
        taken.push_back(module);
        return true;
    });
    return taken;
}
inline void drop(Modules& from, const Module& one) {
    std::erase_if(from, [&](const Module& module) { return module.name() == one.name(); });
}

}  // namespace decoderscope::load::names
