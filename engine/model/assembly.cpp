#include "engine/error.h"
#include "engine/linalg.h"
#include "engine/model/canonical_shapes.h"
#include "engine/model/names/recognise_names.h"
#include "engine/model/state_dict.h"

#include <algorithm>
#include <utility>

namespace decoderscope {

namespace {

Index size_of(const std::vector<Index>& shape) {
    Index size = 1;
    for (const Index axis : shape) size *= axis;
    return size;
}

// How long a row of the parameter is.
Index row_size(const std::vector<Index>& shape) {
    return shape.empty() || shape[0] == 0 ? 1 : size_of(shape) / shape[0];
}

// Copied a square at a time, so that both sides stay in the cache.
void copy_turned(const StoredRows& part, const float* from, float* to, Index to_stride) {
    constexpr Index kSquare = 32;
    for (Index r0 = 0; r0 < part.rows; r0 += kSquare)
        for (Index c0 = 0; c0 < part.columns; c0 += kSquare)
            for (Index r = r0; r < std::min(r0 + kSquare, part.rows); ++r)
                for (Index c = c0; c < std::min(c0 + kSquare, part.columns); ++c)
                    to[r * to_stride + c] = from[c * part.stride + part.first + r];
}

void copy_straight(const StoredRows& part, const float* from, float* to, Index to_stride) {
    for (Index r = 0; r < part.rows; ++r)
        std::copy_n(from + (part.first + r) * part.stride, part.columns, to + r * to_stride);
}

}  // namespace

Assembly::Assembly(StateDict state_dict) : state_dict_(std::move(state_dict)) {
    for (const StoredRows& rows : state_dict_.rows) parts_.emplace(rows.from, rows);
    for (const InterleavedRows& rows : state_dict_.interleaved)
        parts_.emplace(rows.from, StoredRows{.from = rows.from});
}

bool Assembly::keeps(const std::string& stored) const {
    const auto [begin, end] = parts_.equal_range(stored);
    return std::any_of(begin, end, [&](const auto& entry) { return is_whole(entry.second); });
}

bool Assembly::is_whole(const StoredRows& part) const {
    const auto found = state_dict_.shapes.find(part.name);
    return found != state_dict_.shapes.end() && !part.turned && part.offset == 0 && part.first == 0 &&
           part.stride == part.columns && part.at == 0 && part.column == 0 &&
           part.rows * part.columns == size_of(found->second);
}

void Assembly::add(const std::string& stored, const Tensor& tensor) {
    const auto [begin, end] = parts_.equal_range(stored);
    for (auto entry = begin; entry != end; ++entry) {
        const StoredRows& part = entry->second;
        const std::vector<Index>& shape = state_dict_.shapes.find(part.name)->second;
        if (is_whole(part)) {
            const bool all = tensor.size() == size_of(shape);
            weights_.insert_or_assign(part.name,
                                      all ? tensor.with_axes(unnamed(shape)) : tensor.beginning(unnamed(shape)));
            continue;
        }
        Tensor& to = weights_[part.name];
        if (to.empty()) {
            to = Tensor(unnamed(shape));
            std::ranges::fill(to.writable(), 0.0F);
        }
        const Index stride = row_size(shape);
        float* at = to.writable().data() + part.at * stride + part.column;
        (part.turned ? copy_turned : copy_straight)(part, tensor.data() + part.offset, at, stride);
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
    for (const auto& [name, tensor] : state_dict) shapes.emplace(name, sizes_of(tensor.axes()));
    const RecognisedNames names = recognise_names(shapes, {});
    for (const Question& question : names.questions)
        if (question.required) throw Error("{question}: {why}", {{"question", question.key}, {"why", question.why}});
    Assembly assembly(map_state_dict(names.mapping, shapes));
    for (const auto& [name, tensor] : state_dict) assembly.add(name, tensor);
    return assembly.take();
}

}  // namespace decoderscope
