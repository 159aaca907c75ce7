#pragma once

#include "engine/graph/plan.h"
#include "engine/load/names/mapping.h"
#include "engine/load/names/modules.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace decoderscope::load {

// Numbers of a canonical parameter that come from a stored tensor. Both are matrices here, [rows, columns]; a vector is
// one column.
struct StoredRows {
    std::string from;     // name in the checkpoint
    bool turned = false;  // stored as [in, out]: its columns are the rows
    Index offset = 0;     // where the stored matrix begins in its tensor
    Index stride = 0;     // from one of its rows to the next; 0: one number for all
    Index first = 0;      // the first row to take
    Index rows = 0, columns = 0;
    std::string name;          // name in the contract
    Index at = 0, column = 0;  // the first row and column of it that they fill
    Index step = 1;            // from one row that is taken to the next
};

// Rows of several parameters, in an order that depends on the number of heads.
struct InterleavedRows {
    std::string from;
    bool turned = false;
    names::RowLayout how = names::RowLayout::by_head;
    Index stride = 0, columns = 0;
    std::vector<std::string> names;  // of q, k, v
    std::vector<Index> rows;         // how many each has
};

// A checkpoint's parameters under the contract's canonical names, known from names and shapes alone, before any number
// is read.
struct StateDict {
    names::Shapes shapes;                      // by canonical name; one without stored rows is zero
    std::vector<StoredRows> rows;              // where their numbers come from
    std::vector<InterleavedRows> interleaved;  // until settle_heads() knows the heads
    Index heads = 0;                           // how many, if the shapes show it
    Index head_dim = 0;                        // how wide they are, if the shapes show it
};

[[nodiscard]] bool is_projection(std::string_view name);  // a weight that only products read

// The parameters that a mapping makes of the stored tensors; tensors that it doesn't name are left out. Throws Error
// naming the tensor if it isn't stored, doesn't have the form that the mapping says, two become the same parameter, or
// a head is missing.
[[nodiscard]] StateDict map_state_dict(const names::Mapping& mapping, const names::Shapes& stored);

// Resolves the order of rows that lie head by head or group by group. Throws Error naming the tensor if its rows are
// not those of that many heads.
void settle_heads(StateDict& state_dict, Index heads, Index key_value_heads);

// Assembles parameters as the tensors of a checkpoint arrive, one by one, in any order.
class Assembly {
public:
    explicit Assembly(StateDict state_dict);

    // Whether this tensor is used; buffers are not.
    [[nodiscard]] bool wants(const std::string& stored) const { return parts_.contains(stored); }
    // Whether it becomes a parameter unchanged and must stay in memory; if not, it is copied and may be freed.
    [[nodiscard]] bool keeps(const std::string& stored) const;
    void add(const std::string& stored, const Tensor& tensor);
    // All parameters; those without stored values are zero. Projections are kept in the form that products read, unless
    // they are wanted `as_they_are`.
    [[nodiscard]] Weights take(bool as_they_are = false);

private:
    [[nodiscard]] bool is_whole(const StoredRows& part) const;

    StateDict state_dict_;
    std::multimap<std::string, StoredRows> parts_;
    Weights weights_;
};

// The parameters in weights that are already in memory, recognised by their names and shapes. Throws Error if these
// leave something open.
[[nodiscard]] Weights canonical_weights(const Weights& state_dict);

}  // namespace decoderscope::load
