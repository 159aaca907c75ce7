#include "engine/model/state_dict.h"

#include "engine/error.h"
#include "engine/linalg.h"
#include "engine/model/state_dict_names.h"

#include <algorithm>
#include <array>
#include <utility>

namespace decoderscope {

namespace {

using Shape = std::vector<Index>;

constexpr std::array<const char*, 3> kProjections = {"q_proj", "k_proj", "v_proj"};

std::string text(const Shape& shape) { return shape_text(unnamed(shape)); }

// How many numbers a row holds.
Index row_size(const Shape& shape) {
    Index size = 1;
    for (std::size_t axis = 1; axis < shape.size(); ++axis) size *= shape[axis];
    return size;
}

// ---- names and shapes

// Whether GPT-2's weights are Conv1D's, [in, out]: shown by c_attn, which is three times as long along one axis.
bool has_conv1d(const Shapes& stored) {
    for (const auto& [name, shape] : stored)
        if (name.ends_with("c_attn.weight") && shape.size() == 2) return shape[1] == 3 * shape[0];
    return false;
}

bool is_conv1d(std::string_view name) {
    return name.ends_with("c_attn.weight") || name.ends_with("c_proj.weight") || name.ends_with("c_fc.weight");
}

class Reader {
public:
    explicit Reader(const Shapes& stored) { dict_.conv1d = has_conv1d(stored); }

    void add(const std::string& from, const Shape& stored) {
        const bool turned = dict_.conv1d && is_conv1d(from) && stored.size() == 2;
        const Shape shape = turned ? Shape{stored[1], stored[0]} : stored;
        const CanonicalName canonical = canonical_name(from);
        if (canonical.packing == CanonicalName::Packing::unclear) refuse_unclear(from);
        if (canonical.packing == CanonicalName::Packing::one_by_one)
            add_thirds(canonical.name, from, shape, turned);
        else if (canonical.head >= 0)
            add_head(canonical, from, shape);
        else
            add_rows(canonical.name, from, shape, turned, 0, shape.empty() ? 1 : shape[0]);
    }

    StateDict take() {
        for (const auto& [name, heads] : heads_) join_heads(name, heads);
        return std::move(dict_);
    }

private:
    struct Head {
        std::string from;
        Shape shape;
    };

    [[noreturn]] static void refuse_unclear(const std::string& from) {
        throw Error(
            "{from}: q, k and v in one matrix, in an order that this name doesn't settle (one after the other, or head "
            "by head); expected q_proj, k_proj and v_proj apart, or qkv with all of q's rows, then k's, then v's",
            {{"from", from}});
    }

    // Rows of a stored tensor that make up a whole parameter.
    void add_rows(const std::string& name, const std::string& from, Shape shape, bool turned, Index first, Index rows) {
        own(name, from);
        if (!shape.empty()) shape[0] = rows;
        dict_.shapes.emplace(name, std::move(shape));
        dict_.rows.push_back({from, turned, first, rows, name, 0});
    }

    void add_thirds(const std::string& name, const std::string& from, const Shape& shape, bool turned) {
        if (shape.empty() || shape[0] % 3 != 0 || (shape.size() == 2 && shape[0] != 3 * shape[1]))
            throw Error("{from}: shape {shape}, expected three projections of the same size, one after the other",
                        {{"from", from}, {"shape", text(turned ? Shape{shape[1], shape[0]} : shape)}});
        const std::size_t qkv = name.rfind("qkv.");
        for (Index i = 0; i < 3; ++i)
            add_rows(name.substr(0, qkv) + kProjections[static_cast<std::size_t>(i)] + name.substr(qkv + 3), from,
                     shape, turned, i * (shape[0] / 3), shape[0] / 3);
    }

    void add_head(const CanonicalName& canonical, const std::string& from, const Shape& shape) {
        if (shape.empty()) throw Error("{from}: a single number, expected a head's projection", {{"from", from}});
        const auto [at, added] = heads_[canonical.name].emplace(canonical.head, Head{from, shape});
        if (!added)
            throw Error("{from}: means the same as {other}, expected one of them",
                        {{"from", from}, {"other", at->second.from}});
    }

    // Head 0's rows, then head 1's, ….
    void join_heads(const std::string& name, const std::map<Index, Head>& heads) {
        const Head& first = heads.begin()->second;
        own(name, first.from);
        Shape shape = first.shape;
        shape[0] = 0;
        Index expected = 0;
        for (const auto& [number, head] : heads) {
            if (number != expected++)
                throw Error("{from}: head {head} is missing, expected all heads from 0",
                            {{"from", head.from}, {"head", expected - 1}});
            if (head.shape != first.shape)
                throw Error("{from}: shape {shape}, expected {expected} as head 0 has",
                            {{"from", head.from}, {"shape", text(head.shape)}, {"expected", text(first.shape)}});
            dict_.rows.push_back({head.from, false, 0, head.shape[0], name, shape[0]});
            shape[0] += head.shape[0];
        }
        if (name.ends_with("q_proj.weight")) dict_.heads = expected;
        dict_.shapes.emplace(name, std::move(shape));
    }

    void own(const std::string& name, const std::string& from) {
        const auto [at, added] = sources_.emplace(name, from);
        if (!added)
            throw Error("{from}: means the same as {other}, expected one of them",
                        {{"from", from}, {"other", at->second}});
    }

    StateDict dict_;
    std::map<std::string, std::string> sources_;  // which stored tensor a parameter comes from
    std::map<std::string, std::map<Index, Head>> heads_;
};

// ---- numbers

// Whether a weight is only read by products.
bool is_projection(std::string_view name) { return name.ends_with("_proj.weight") || name == "lm_head.weight"; }

// Rows first … first + rows of the transpose of `stored` [in, out]. Copied a square at a time, so that both sides stay
// in the cache.
void copy_turned(const Tensor& stored, Index first, Index rows, float* to) {
    constexpr Index kSquare = 32;
    const Index in = stored.dim(0), out = stored.dim(1);
    for (Index r0 = 0; r0 < rows; r0 += kSquare)
        for (Index c0 = 0; c0 < in; c0 += kSquare)
            for (Index r = r0; r < std::min(r0 + kSquare, rows); ++r)
                for (Index c = c0; c < std::min(c0 + kSquare, in); ++c)
                    to[r * in + c] = stored.data()[c * out + first + r];
}

}  // namespace

StateDict read_state_dict(const Shapes& stored) {
    Reader reader(stored);
    for (const auto& [name, shape] : stored)
        if (!is_buffer(name)) reader.add(name, shape);
    return reader.take();
}

Assembly::Assembly(StateDict state_dict) : state_dict_(std::move(state_dict)) {
    for (const StoredRows& rows : state_dict_.rows) parts_.emplace(rows.from, rows);
}

bool Assembly::keeps(const std::string& stored) const {
    if (parts_.count(stored) != 1) return false;
    const StoredRows& rows = parts_.find(stored)->second;
    const Shape& shape = state_dict_.shapes.find(rows.name)->second;
    return !rows.turned && (shape.empty() || rows.rows == shape[0]);
}

void Assembly::add(const std::string& stored, const Tensor& tensor) {
    const bool whole = keeps(stored);
    const auto [begin, end] = parts_.equal_range(stored);
    for (auto part = begin; part != end; ++part) {
        const StoredRows& rows = part->second;
        const Shape& shape = state_dict_.shapes.find(rows.name)->second;
        if (whole) {
            weights_.insert_or_assign(rows.name, tensor);
            continue;
        }
        Tensor& to = weights_[rows.name];
        if (to.empty()) to = Tensor(unnamed(shape));
        const Index size = row_size(shape);
        float* at = to.writable().data() + rows.at * size;
        if (rows.turned)
            copy_turned(tensor, rows.first, rows.rows, at);
        else
            std::copy_n(tensor.data() + rows.first * size, rows.rows * size, at);
    }
}

Weights Assembly::take() {
    for (const auto& [name, shape] : state_dict_.shapes) {
        const auto [at, added] = weights_.try_emplace(name);
        if (!added) continue;
        at->second = Tensor(unnamed(shape));
        std::ranges::fill(at->second.writable(), 0.0F);
    }
    for (auto& [name, tensor] : weights_)
        if (is_projection(name) && !tensor.is_in_file()) tensor = packed_for_products(tensor);
    return std::move(weights_);
}

Weights canonical_weights(const Weights& state_dict) {
    Shapes shapes;
    for (const auto& [name, tensor] : state_dict)
        for (std::vector<Index>& shape = shapes[name]; const Axis& axis : tensor.axes()) shape.push_back(axis.size);
    Assembly assembly(read_state_dict(shapes));
    for (const auto& [name, tensor] : state_dict) assembly.add(name, tensor);
    return assembly.take();
}

}  // namespace decoderscope
