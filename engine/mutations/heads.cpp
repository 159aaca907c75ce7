#include "engine/base/translate.h"
#include "engine/graph/operation.h"
#include "engine/mutations/mutations.h"
#include "engine/mutations/sites.h"
#include "engine/ops/linear.h"

#include <algorithm>
#include <array>

namespace decoderscope::mutations {

namespace {

// The operands with the second one's heads repeated in turn, as many as the first has.
struct Repeated {
    Tensor few;  // [batch, head, key, d_head]
    Operands operands;

    explicit Repeated(const Operands& in) : few(repeated(in[1], in[0].dim(1))) {
        operands.add(in[0]);
        operands.add(few);
    }
    Repeated(const Repeated&) = delete;
    Repeated& operator=(const Repeated&) = delete;

private:
    static Tensor repeated(const Tensor& few, Index heads) {
        const Axes& axes = few.axes();
        Tensor out({axes[0], {axis::head, heads}, axes[2], axes[3]});
        const auto plane = static_cast<std::ptrdiff_t>(axes[2].size * axes[3].size);
        auto to = out.writable().begin();
        for (Index b = 0; b < axes[0].size; ++b)
            for (Index h = 0; h < heads; ++h)
                to = std::copy_n(few.data() + (b * axes[1].size + h % axes[1].size) * plane, plane, to);
        return out;
    }
};

Axes flat_axes(const Axes& heads) {
    return {heads[0], {axis::pos, heads[2].size}, {axis::d_model, heads[1].size * heads[3].size}};
}

// z as the view has it, under the Linear's axes.
Tensor viewed(const Tensor& z) { return z.with_axes(flat_axes(z.axes())); }

Operands linear_operands(const Operands& in, const Tensor& x) {
    Operands read;
    read.add(x);
    for (std::size_t i = 1; i < in.size(); ++i) read.add(in[i]);
    return read;
}

// Grouped queries whose keys or values are repeated as a whole, torch.repeat in place of repeat_interleave: query head
// h reads head h mod kv_heads, although h / (heads / kv_heads) is meant.
// {q or pattern [batch, head, query, …], k or v [batch, kv_head, key, d_head]} -> the output of `right`
struct TiledHeads {
    Operation right;

    [[nodiscard]] OpDescription about() const {
        return {
            tr("heads repeated in turn"), "query head h reads head h mod kv_heads",  // not a message: a formula
            tr("Keys and values of fewer heads, repeated as a whole: 0 1 0 1. A checkpoint with grouped queries means "
               "0 0 1 1: neighbouring query heads share one. If each key head has one query head, or there is only one "
               "key head, both are the same.")};
    }
    [[nodiscard]] Axes axes(const OperandAxes& in) const { return right.axes(in); }
    [[nodiscard]] OperandRole role_of(std::size_t operand) const { return right.role_of(operand); }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const {
        const Repeated repeated(in);
        return right.compute(repeated.operands, axes);
    }
    [[nodiscard]] Explanation explain(const Operands& in, const Tensor& out, const Cell& cell) const {
        const Repeated repeated(in);
        Explanation explanation = right.explain(repeated.operands, out, cell);
        const auto place = [&](Factor& factor) {
            if (factor.cell && factor.cell->operand == 1) factor.cell->cell[1] %= in[1].dim(1);
        };
        for (Line& line : explanation.lines) {
            for (Term& term : line.terms)
                for (Factor& factor : term.factors) place(factor);
            for (Factor& factor : line.given) place(factor);
        }
        return explanation;
    }
    bool operator==(const TiledHeads&) const = default;
};

// A projection whose output is split into heads the wrong way.
// {x [batch, pos, in], weight [head·d_head, in], bias [head·d_head]?} -> [batch, head, pos, d_head]
struct WrongHeads {
    enum class Kind {
        by_view,  // view(batch, head, pos, d_head) without the transpose: positions and heads are mixed
        strided,  // column c belongs to head c mod nhead, not c / d_head
    };
    Index heads = 1;
    Kind kind = Kind::by_view;

    [[nodiscard]] OpDescription about() const {
        if (kind == Kind::strided)
            return {tr("project to heads, columns dealt out in turn"),
                    "y[b, h, p, d] = Σ_i x[b, p, i] · W[d·heads + h, i] + bias",
                    tr("The projection's columns are dealt out to the heads in turn, although they are stored head by "
                       "head: each head gets a little of all of them.")};
        return {
            tr("project to heads by a view alone"),
            "y = (x · Wᵀ + bias).view(batch, head, pos, d_head)",  // not a message: a formula
            tr("The numbers of a row are stored head by head. A view to [batch, head, pos, d_head] without a transpose "
               "cuts up the text instead: the first head gets the first positions, and a causal mask no longer means "
               "what it says.")};
    }
    [[nodiscard]] Axes axes(const OperandAxes& in) const {
        return {in[0][0], {axis::head, heads}, in[0][1], {axis::d_head, in[1][0].size / heads}};
    }
    [[nodiscard]] static OperandRole role_of(std::size_t operand) {
        return role_in({OperandRole::input, OperandRole::weight, OperandRole::bias}, operand);
    }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const {
        const Tensor projected = ops::Linear{}.compute(in, flat_axes(axes));
        Tensor out(axes);
        const std::span<float> y = out.writable();
        for (Index i = 0; i < out.size(); ++i)
            y[static_cast<std::size_t>(i)] = projected.at(taken_from(out.cell(i), axes));
        return out;
    }
    [[nodiscard]] Explanation explain(const Operands& in, const Tensor& out, const Cell& cell) const {
        return Operation(ops::Linear{}).explain(in, out, taken_from(cell, out.axes()));
    }
    bool operator==(const WrongHeads&) const = default;

private:
    // The cell of the Linear's output [batch, pos, head·d_head] that a cell is taken from.
    [[nodiscard]] Cell taken_from(const Cell& cell, const Axes& axes) const {
        const Index positions = axes[2].size, d_head = axes[3].size;
        if (kind == Kind::strided) return {cell[0], cell[2], cell[3] * heads + cell[1]};
        const Index flat = (cell[1] * positions + cell[2]) * d_head + cell[3];
        return {cell[0], flat / (heads * d_head), flat % (heads * d_head)};
    }
};

// Heads joined by a view without the transpose back, then o_proj.
// {z [batch, head, query, d_head], weight [d_model, head·d_head], bias [d_model]?} -> [batch, pos, d_model]
struct JoinByView {
    [[nodiscard]] OpDescription about() const {
        return {
            tr("join heads by a view alone"),
            "y = z.view(batch, pos, d_model) · Wᵀ + bias",  // not a message: a formula
            tr("The heads' outputs are stored one after another. A view to [batch, pos, d_model] without the transpose "
               "back puts neighbouring positions of one head into a row, where all heads of one position belong.")};
    }
    [[nodiscard]] Axes axes(const OperandAxes& in) const {
        return {in[0][0], {axis::pos, in[0][2].size}, {axis::d_model, in[1][0].size}};
    }
    [[nodiscard]] static OperandRole role_of(std::size_t operand) {
        return role_in({OperandRole::input, OperandRole::weight, OperandRole::bias}, operand);
    }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const {
        const Tensor x = viewed(in[0]);
        return ops::Linear{}.compute(linear_operands(in, x), axes);
    }
    [[nodiscard]] Explanation explain(const Operands& in, const Tensor& out, const Cell& cell) const {
        const Tensor x = viewed(in[0]);
        Explanation explanation = Operation(ops::Linear{}).explain(linear_operands(in, x), out, cell);
        for (Term& term : explanation.lines.back().terms)
            for (Factor& factor : term.factors)
                if (factor.cell && factor.cell->operand == 0)
                    factor.cell->cell = in[0].cell(x.offset(factor.cell->cell));
        return explanation;
    }
    bool operator==(const JoinByView&) const = default;
};

}  // namespace

}  // namespace decoderscope::mutations

namespace decoderscope::mutations::lists {

namespace {

void split(Plan& plan, WrongHeads::Kind kind) {
    for (const char* name : {".q_proj.weight", ".k_proj.weight", ".v_proj.weight"}) {
        for (const StepId id : sites::readers(plan, name)) {
            const Index heads = plan[id].axes[1].size;
            if (heads > 1) plan.replace(id, WrongHeads{heads, kind}, plan[id].operands);
        }
    }
}

void join(Plan& plan, const Config& config) {
    if (config.nhead == 1) return;
    for (const std::string& attention : plan.attentions())
        if (const Ref out = plan.step_of(attention, AttentionStep::out)) {
            // If an edit of the heads' results makes it their sum, it is joined from what they are made from.
            const Ref results = plan.operand(*out, OperandRole::results);
            const Step& joined = results == nullptr ? *out : *results;
            std::vector<StepId> read = {*joined.operand(OperandRole::input), *joined.operand(OperandRole::weight)};
            if (const std::optional<StepId> bias = out->operand(OperandRole::bias)) read.push_back(*bias);
            plan.replace(out->id, JoinByView{}, read);
        }
}

// The steps that read a step as their second operand, with more heads than it has.
std::vector<StepId> readers_of(const Plan& plan, StepId few) {
    std::vector<StepId> found;
    for (const Step& step : plan.steps())
        if (step.operands.size() == 2 && step.operands[1] == few && step.axes[1].size > plan[few].axes[1].size)
            found.push_back(step.id);
    return found;
}

// What reads the keys and values of fewer heads reads them in turn.
void tile(Plan& plan, const Config& config) {
    if (config.num_key_value_heads == config.nhead) return;
    for (const std::string& attention : plan.attentions())
        for (const AttentionStep which : {AttentionStep::key, AttentionStep::value})
            if (const Ref few = plan.step_of(attention, which))
                for (const StepId reader : readers_of(plan, few->id))
                    plan.replace(reader, TiledHeads{plan[reader].operation}, plan[reader].operands);
}

}  // namespace

void heads(std::vector<Mutation>& list) {
    list.push_back({.name = "heads-by-view",
                    .cause = message("Heads are split by a reshape without the transpose: positions and heads are "
                                     "mixed."),
                    .change = [](Plan& plan, const Config&) { split(plan, WrongHeads::Kind::by_view); }});
    list.push_back({.name = "heads-by-view-both-ways",
                    .cause = message("Heads are split and joined by reshapes without the transpose: positions and "
                                     "heads are mixed."),
                    .change = [](Plan& plan, const Config& config) {
                        split(plan, WrongHeads::Kind::by_view);
                        join(plan, config);
                    }});
    list.push_back({.name = "heads-joined-by-view",
                    .cause = message("Heads are joined by a reshape without the transpose back."),
                    .change = join});
    list.push_back({.name = "key-heads-tiled",
                    .cause = message("Keys and values of fewer heads are repeated as a whole (0 1 0 1), although each "
                                     "is meant for neighbouring queries (0 0 1 1)."),
                    .change = tile});
    list.push_back({.name = "heads-strided",
                    .cause = message("The columns of query, key and value are dealt out to the heads in turn, not head "
                                     "by head."),
                    .change = [](Plan& plan, const Config&) { split(plan, WrongHeads::Kind::strided); }});
}

}  // namespace decoderscope::mutations::lists
