#include "engine/ops/embed.h"

#include "engine/base/error.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

namespace decoderscope::ops {

namespace {

Index row_of(float token, Index rows) {
    const bool is_row = token >= 0.0F && token < static_cast<float>(rows) && token == std::floor(token);
    if (!is_row)
        throw Error("token {value}, expected an id from 0 to {highest}",
                    {{"value", short_number(static_cast<double>(token))}, {"highest", rows - 1}});
    return static_cast<Index>(token);
}

}  // namespace

OpDescription Embed::about() const {
    return {tr("look up"), "embed[b, p, d] = E[token[b, p], d] · scale",
            tr("Each token id picks one row of a table: the vector that stands for it wherever it occurs. Two places "
               "with the same token start out alike; only positions and attention make them differ. Some models (the "
               "original Transformer among them) multiply by √d_model so that the positional encoding doesn't drown "
               "the embedding.")};
}

Axes Embed::axes(const OperandAxes& in) const { return {in[0][0], in[0][1], {axis::d_model, in[1][1].size}}; }

Tensor Embed::compute(const Operands& in, const Axes& axes) const {
    const Tensor& tokens = in[0];  // [batch, pos]
    const Tensor& table = in[1];   // [vocab, d_model]
    Tensor out(axes);
    const Index width = table.dim(1);
    std::span<float> to = out.writable();
    for (const float token : tokens.values()) {
        const auto row = to.first(static_cast<std::size_t>(width));
        table.copy(row_of(token, table.dim(0)) * width, row);
        for (float& value : row) value = value * scale * multiplier;
        to = to.subspan(row.size());
    }
    return out;
}

void Embed::add_scales(std::vector<Factor>& factors) const {
    if (scale != 1.0F) factors.push_back(constant_factor(static_cast<double>(scale), "√d_model"));
    if (multiplier != 1.0F) factors.push_back(constant_factor(static_cast<double>(multiplier), "embedding_scale"));
}

Explanation Embed::explain(const Operands& in, const Tensor&, const Cell& cell) const {
    const Cell token_cell = {cell[0], cell[1]};
    const Index row = row_of(in[0].at(token_cell), in[1].dim(0));
    std::vector<Factor> factors = {cell_factor(in[1], 1, {row, cell[2]})};
    add_scales(factors);
    Line looked_up = line("embed", {term(std::move(factors))});
    looked_up.given.push_back(derived_factor(static_cast<double>(row), "token", 0, token_cell));
    return {{looked_up}};
}

OpDescription Embed::about_pull_back(std::size_t) const {
    return {tr("gradient w.r.t. the table"), "∂/∂E[t, d] = scale · Σ_{token[b, p] = t} g[b, p, d]",
            tr("A token's row sums the gradients from every position where the token occurs; the other rows of the "
               "table learn nothing from this text.")};
}

namespace {

// A table's gradient: as large as the table, and 0 but for the rows of the tokens.
class TokenRows : public LazyValues {
public:
    TokenRows(Tensor tokens, Tensor grad, float factor)
        : tokens_(std::move(tokens)), grad_(std::move(grad)), factor_(factor) {}

    void make(std::span<float> values) const override {
        std::ranges::fill(values, 0.0F);
        const auto width = static_cast<std::size_t>(grad_.axes().back().size);
        const float* grad = grad_.data();
        for (const float token : tokens_.values())
            for (float& sum : values.subspan(static_cast<std::size_t>(token) * width, width)) sum += factor_ * *grad++;
    }

private:
    Tensor tokens_, grad_;
    float factor_;
};

}  // namespace

Tensor Embed::pull_back(std::size_t, const Backward& b) const {
    return {b.in[1].axes(), std::make_shared<const TokenRows>(b.in[0], b.grad, scale * multiplier)};
}

Explanation Embed::explain_pull_back(std::size_t, const Backward& b, const Cell& cell) const {
    std::vector<Term> terms;
    for (Index batch = 0; batch < b.in[0].dim(0); ++batch) {
        for (Index pos = 0; pos < b.in[0].dim(1); ++pos) {
            if (static_cast<Index>(b.in[0].at(Cell{batch, pos})) != cell[0]) continue;
            std::vector<Factor> factors = {b.grad_at({batch, pos, cell[1]})};
            add_scales(factors);
            terms.push_back(term(std::move(factors)));
        }
    }
    return {{line("Σ g", std::move(terms))}};
}

}  // namespace decoderscope::ops
