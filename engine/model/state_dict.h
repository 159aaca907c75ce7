#pragma once

#include "engine/plan.h"

#include <map>
#include <string>
#include <vector>

namespace decoderscope {

using Shapes = std::map<std::string, std::vector<Index>, std::less<>>;  // of tensors, by name

// Where rows of a canonical parameter come from: rows of a checkpoint tensor.
struct StoredRows {
    std::string from;     // name in the checkpoint
    bool turned = false;  // stored as [in, out]: its columns are the rows
    Index first = 0;      // the first row to take
    Index rows = 0;
    std::string name;  // name in the contract
    Index at = 0;      // the first row of it that they fill
};

// A checkpoint's parameters under the contract's canonical names, known from names and shapes alone, before any number
// is read.
struct StateDict {
    Shapes shapes;                 // by canonical name; one without stored rows is zero
    std::vector<StoredRows> rows;  // where their rows come from
    Index heads = 0;               // how many, if each head has its own matrix
    bool conv1d = false;           // GPT-2's weights are stored as [in, out]
};

// Recognises the parameters of a module's state_dict by their names. Known are the canonical names, the tutorials'
// SimpleDecoder, Decoder, TransformerDecoderBlock, TransformerDecoder and DecoderLayer, torch.nn.TransformerDecoder,
// Hugging Face's GPT-2 and Llama, minGPT and nanoGPT, and modules that use the common names.
//
// q, k and v may be three matrices, one (q's rows, then k's, then v's: in_proj_weight, c_attn, qkv, Wqkv), or one of
// each per head (heads.0.key), which are stacked. GPT-2's Conv1D weights are [in, out] (minGPT has the same names with
// [out, in]; c_attn's shape decides). Buffers that are not parameters (causal masks, rotary frequencies, positional
// codes) are left out. An unknown name is kept, so that the later check of names can report it. Throws Error naming the
// tensor if two mean the same, a head is missing, a fused matrix doesn't have three parts, or its name leaves their
// order unclear (query_key_value, qkv_proj, wqkv).
[[nodiscard]] StateDict read_state_dict(const Shapes& stored);

// Assembles parameters as the tensors of a checkpoint arrive, one by one, in any order.
class Assembly {
public:
    explicit Assembly(StateDict state_dict);

    // Whether this tensor is used; buffers are not.
    [[nodiscard]] bool wants(const std::string& stored) const { return parts_.contains(stored); }
    // Whether it becomes a parameter unchanged and must stay in memory; if not, it is copied and may be freed.
    [[nodiscard]] bool keeps(const std::string& stored) const;
    void add(const std::string& stored, const Tensor& tensor);
    // All parameters; those without stored values are zero.
    [[nodiscard]] Weights take();

private:
    StateDict state_dict_;
    std::multimap<std::string, StoredRows> parts_;
    Weights weights_;
};

// The same for weights already in memory.
[[nodiscard]] Weights canonical_weights(const Weights& state_dict);

}  // namespace decoderscope
