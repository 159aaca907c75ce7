#pragma once

#include "engine/plan.h"

#include <map>
#include <string>
#include <vector>

namespace decoderscope {

using Shapes = std::map<std::string, std::vector<Index>, std::less<>>;  // of tensors, by name

// Where rows of a canonical parameter come from: rows of a tensor of the checkpoint.
struct StoredRows {
    std::string from;     // as the checkpoint calls it
    bool turned = false;  // stored as [in, out]: its columns are the rows
    Index first = 0;      // the first row of them
    Index rows = 0;
    std::string name;  // the contract's
    Index at = 0;      // the first row of it that they become
};

// A checkpoint's parameters under the contract's canonical names, known from names and shapes alone, before any number
// is read.
struct StateDict {
    Shapes shapes;                 // by canonical name; one that no rows are stored of is zero
    std::vector<StoredRows> rows;  // what they are made from
    Index heads = 0;               // where there is a matrix a head: how many
    bool conv1d = false;           // GPT-2's weights are stored as [in, out]
};

// What a module's state_dict calls its parameters is recognised by its keys. Known are the canonical names themselves,
// the seeds' SimpleDecoder, Decoder, TransformerDecoderBlock, TransformerDecoder and DecoderLayer,
// torch.nn.TransformerDecoder, Hugging Face's GPT-2 and Llama, minGPT and nanoGPT, and modules made of the usual names.
//
// q, k and v may be three matrices, one (its rows q's, then k's, then v's: in_proj_weight, c_attn, qkv, Wqkv), or one
// of each a head (heads.0.key), which are put below one another. GPT-2's Conv1D weights are [in, out] (minGPT has the
// same names with [out, in]; c_attn's shape decides). Buffers that are no parameters (causal masks, rotary frequencies,
// positional codes) are left out. A name that nothing is known of stays as it is, so that whoever checks the names can
// tell it. Throws Error naming the tensor where two mean the same, a head is missing, a fused matrix has no three
// parts, or its name doesn't settle in which order they lie (query_key_value, qkv_proj, wqkv).
[[nodiscard]] StateDict read_state_dict(const Shapes& stored);

// Puts parameters together as the tensors of a checkpoint come in, one by one, in any order.
class Assembly {
public:
    explicit Assembly(StateDict state_dict);

    // Whether anything is made from this tensor: a buffer isn't.
    [[nodiscard]] bool wants(const std::string& stored) const { return parts_.contains(stored); }
    // Whether it becomes a parameter as it is, and must stay; else it is copied from, and may go.
    [[nodiscard]] bool keeps(const std::string& stored) const;
    void add(const std::string& stored, const Tensor& tensor);
    // All of them; what nothing was stored of is zero.
    [[nodiscard]] Weights take();

private:
    StateDict state_dict_;
    std::multimap<std::string, StoredRows> parts_;
    Weights weights_;
};

// The same for weights that are there already.
[[nodiscard]] Weights canonical_weights(const Weights& state_dict);

}  // namespace decoderscope
