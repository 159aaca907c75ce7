#include "engine/ops/masks.h"

#include <array>

namespace decoderscope {

namespace {

// How far apart a broadcast mask's cells lie along [batch, head, query, key]; 0 along an axis that it lacks or where
// its one cell stands for all.
std::array<Index, 4> broadcast_strides(const Tensor& mask) {
    std::array<Index, 4> strides = {};
    Index step = 1;
    for (std::size_t i = mask.rank(); i-- > 0; step *= mask.dim(i))
        strides[4 - mask.rank() + i] = mask.dim(i) == 1 ? 0 : step;
    return strides;
}

}  // namespace

About CombineMasks::about() const {
    return {
        "combine masks", "mask[b, h, q, k] = causal[q, k] AND padding[b, k] AND custom[b, h, q, k]",
        "The causal mask is the lower triangle: a position may look at itself and what came before, so that training "
        "on "
        "all positions at once never lets one read its own answer. The padding mask hides the filler at the end of the "
        "shorter rows of a batch. Each can be told by its hatching; a cell may be hidden by several at once. Seed 002 "
        "writes 1 for padding, the others 1 for what is kept."};
}

Axes CombineMasks::axes(const OperandAxes&) const {
    return {{axis::batch, batch}, {axis::head, heads}, {axis::query, queries}, {axis::key, keys}};
}

// The broadcast rule of PyTorch: axes are matched from the last one, and an axis of length 1 stands for all.
Cell CombineMasks::custom_cell(const Tensor& custom, const Cell& cell) {
    Cell at(custom.rank());
    for (std::size_t i = 0; i < at.size(); ++i) {
        const Index index = cell[cell.size() - at.size() + i];
        at[i] = custom.dim(i) == 1 ? 0 : index;
    }
    return at;
}

CombineMasks::Verdict CombineMasks::verdict(const Operands& in, const Cell& cell) const {
    Verdict verdict;
    verdict.causal = !causal || cell[3] <= first_query + cell[2];
    if (padding) verdict.padding = in[0].at(padding_cell(cell)) != 0.0F;
    if (custom) verdict.custom = in[custom_operand()].at(custom_cell(in[custom_operand()], cell)) != 0.0F;
    return verdict;
}

Tensor CombineMasks::compute(const Operands& in, const Axes& axes) const {
    const float* padding_mask = padding ? in[0].data() : nullptr;
    const float* custom_mask = custom ? in[custom_operand()].data() : nullptr;
    const std::array<Index, 4> stride = custom ? broadcast_strides(in[custom_operand()]) : std::array<Index, 4>{};
    Tensor out(axes);
    float* to = out.writable().data();
    for (Index b = 0; b < batch; ++b) {
        for (Index h = 0; h < heads; ++h) {
            for (Index q = 0; q < queries; ++q) {
                for (Index k = 0; k < keys; ++k) {
                    bool kept = !causal || k <= first_query + q;
                    if (padding) kept = kept && padding_mask[b * keys + k] != 0.0F;
                    if (custom)
                        kept =
                            kept && custom_mask[b * stride[0] + h * stride[1] + q * stride[2] + k * stride[3]] != 0.0F;
                    *to++ = kept ? 1.0F : 0.0F;
                }
            }
        }
    }
    return out;
}

Explanation CombineMasks::explain(const Operands& in, const Tensor&, const Cell& cell) const {
    const Verdict says = verdict(in, cell);
    std::vector<Factor> factors;
    if (causal)
        factors.push_back(constant_factor(says.causal ? 1.0 : 0.0, "causal: key " + std::to_string(cell[3]) +
                                                                       (says.causal ? " ≤ " : " > ") + "query " +
                                                                       std::to_string(first_query + cell[2])));
    if (padding) factors.push_back(derived_factor(says.padding ? 1.0 : 0.0, "padding", 0, padding_cell(cell)));
    if (custom)
        factors.push_back(derived_factor(says.custom ? 1.0 : 0.0, "custom", custom_operand(),
                                         custom_cell(in[custom_operand()], cell)));
    if (factors.empty()) factors.push_back(constant_factor(1.0, "nothing hides it"));
    return {{line("kept", {term(std::move(factors))})}};
}

About FillMasked::about() const {
    return {
        "fill where masked", "masked[b, h, q, k] = mask[b, h, q, k] = 0 ? mask_value : scores[b, h, q, k]",
        "Hidden scores are replaced before the softmax, so that the rest share the whole weight. With −∞ a hidden key "
        "gets exactly 0, and a row with nothing left becomes NaN. A finite fill (seed 000: −1e20, seed 004: −1e9) "
        "never "
        "gives NaN: such a row spreads its weight evenly over what it must not see."};
}

Tensor FillMasked::compute(const Operands& in, const Axes& axes) const {
    Tensor out(axes);
    const float* scores = in[0].data();
    const float* mask = in[1].data();
    const std::span<float> to = out.writable();
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = mask[i] == 0.0F ? value : scores[i];
    return out;
}

Explanation FillMasked::explain(const Operands& in, const Tensor&, const Cell& cell) const {
    const bool hidden = in[1].at(cell) == 0.0F;
    Line chosen = line(
        "masked score",
        {term({hidden ? constant_factor(static_cast<double>(value), "mask_value") : cell_factor(in[0], 0, cell)})});
    chosen.given.push_back(derived_factor(static_cast<double>(in[1].at(cell)), "mask", 1, cell));
    return {{chosen}};
}

}  // namespace decoderscope
