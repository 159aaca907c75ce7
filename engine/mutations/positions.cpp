#include "engine/ops/positions.h"
#include "engine/base/translate.h"
#include "engine/graph/operation.h"
#include "engine/mutations/mutations.h"
#include "engine/mutations/sites.h"
#include "engine/ops/elementwise.h"

#include <algorithm>
#include <cmath>

namespace decoderscope::mutations {

namespace {

// Sines in the first half of the columns and cosines in the second, although they should alternate.
// {} -> [pos, d_model]
struct SinusoidInHalves {
    Axis positions;
    Index d_model = 0;
    double scale = 1.0;

    [[nodiscard]] OpDescription about() const {
        return {tr("sinusoidal positions in halves"), "pos_embed[p] = [sin(p · f₀), sin(p · f₁), …, cos(p · f₀), …]",
                tr("All sines, then all cosines. The encoding is as good as the alternating one for a model that is "
                   "trained with it, and wrong for one that was trained with the other.")};
    }
    [[nodiscard]] Axes axes(const OperandAxes&) const { return {positions, {axis::d_model, d_model}}; }
    [[nodiscard]] static OperandRole role_of(std::size_t) { return OperandRole::input; }
    [[nodiscard]] Tensor compute(const Operands&, const Axes& axes) const {
        Tensor out(axes);
        float* to = out.writable().data();
        for (Index p = 0; p < positions.size; ++p)
            for (Index d = 0; d < d_model; ++d) *to++ = code(p, d);
        return out;
    }
    [[nodiscard]] Explanation explain(const Operands&, const Tensor&, const Cell& cell) const {
        const bool sine = cell[1] < (d_model + 1) / 2;
        return {{line("pos_embed",
                      {term({constant_factor(static_cast<double>(code(cell[0], cell[1])),
                                             (sine ? "sin(" : "cos(") + std::to_string(cell[0]) + " · f)")})})}};
    }
    bool operator==(const SinusoidInHalves&) const = default;

private:
    [[nodiscard]] float code(Index position, Index column) const {
        const Index sines = (d_model + 1) / 2;
        const Index pair = column < sines ? column : column - sines;
        const auto frequency = static_cast<float>(
            std::exp(-std::log(10000.0) * static_cast<double>(2 * pair) / static_cast<double>(d_model)));
        const float angle = static_cast<float>(position) * frequency;
        return (column < sines ? std::sin(angle) : std::cos(angle)) * static_cast<float>(scale);
    }
};

// Each token gets the row of another position: of its batch row's number (the code is indexed by the batch on
// batch-first input), or counted over the tokens that aren't padding.
// {x [batch, pos, d_model], positions [pos, d_model], padding [batch, pos]?} -> [batch, pos, d_model]
struct AddOtherPositions {
    bool by_batch = false;  // otherwise counted by the padding mask

    [[nodiscard]] OpDescription about() const {
        if (by_batch)
            return {
                tr("add the batch row's encoding"), "y[b, p, d] = x[b, p, d] + pos_embed[b, d]",
                tr("The table of positions is indexed by the first axis, which is the batch here: every token of a row "
                   "carries the same encoding, and the model can't tell their order.")};
        return {tr("add positions counted without padding"),
                "y[b, p, d] = x[b, p, d] + pos_embed[Σ_{j≤p} padding[b, j] − 1, d]",
                tr("Positions are counted over the tokens that aren't padding, so that a text padded on the left still "
                   "begins at position 0.")};
    }
    [[nodiscard]] static OperandRole role_of(std::size_t operand) {
        return role_in({OperandRole::stream, OperandRole::update, OperandRole::padding_mask}, operand);
    }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const {
        Tensor out(axes);
        const std::span<float> y = out.writable();
        std::size_t at = 0;
        for (Index b = 0; b < axes[0].size; ++b)
            for (Index p = 0; p < axes[1].size; ++p) {
                const float* code = in[1].data() + row_for(in, b, p) * axes[2].size;
                for (Index d = 0; d < axes[2].size; ++d, ++at) y[at] = in[0].data()[at] + code[d];
            }
        return out;
    }
    [[nodiscard]] Explanation explain(const Operands& in, const Tensor&, const Cell& cell) const {
        return {{line(tr("sum"), {term({cell_factor(in[0], 0, cell)}),
                                  term({cell_factor(in[1], 1, {row_for(in, cell[0], cell[1]), cell[2]})})})}};
    }
    bool operator==(const AddOtherPositions&) const = default;

private:
    [[nodiscard]] Index row_for(const Operands& in, Index batch, Index pos) const {
        if (by_batch) return std::min(batch, in[1].dim(0) - 1);
        Index count = 0;
        for (Index p = 0; p <= pos; ++p) count += in[2].at(Cell{batch, p}) != 0.0F ? 1 : 0;
        return std::max(count - 1, Index{0});
    }
};

}  // namespace

}  // namespace decoderscope::mutations

namespace decoderscope::mutations::lists {

namespace {

// The step that adds the positions: the first that reads them.
Ref adding(const Plan& plan, const Step& code) {
    for (const Step& step : plan.steps())
        for (const StepId operand : step.operands)
            if (operand == code.id && step.operands.size() == 2) return &step;
    return nullptr;
}

// Both stacks' codes, each with the step that adds it.
template <class Change>
std::function<void(Plan&, const Config&)> each_code(Change change) {
    return [change](Plan& plan, const Config& config) {
        for (const char* name : {"pos_embed", "encoder.pos_embed"}) {
            const Ref code = plan.find(name);
            const Ref sum = code != nullptr ? adding(plan, *code) : nullptr;
            if (sum != nullptr) change(plan, config, *code, *sum);
        }
    };
}

std::function<void(Plan&, const Config&)> from(Index first) {
    return each_code([first](Plan& plan, const Config& config, const Step& code, const Step&) {
        const Axis positions = code.axes[0];
        if (config.positional_encoding == PositionalEncoding::sinusoidal)
            plan.replace(code.id, ops::SinusoidalPositions{positions, config.d_model, first, config.position_scale},
                         {});
        else if (positions.size + first <= config.max_positions)
            plan.replace(code.id, ops::LearnedPositions{positions, first, config.position_scale}, code.operands);
    });
}

}  // namespace

void positions(std::vector<Mutation>& list) {
    list.push_back({.name = "no-positions",
                    .cause = message("No positions are added to the embedding."),
                    .change = each_code([](Plan& plan, const Config&, const Step&, const Step& sum) {
                        plan.replace(sum.id, ops::Identity{}, {sum.operands[0]});
                    })});
    list.push_back(
        {.name = "positions-by-batch",
         .cause = message("The positions are indexed by the batch: every token of a row gets the same encoding."),
         .change = each_code([](Plan& plan, const Config&, const Step&, const Step& sum) {
             plan.replace(sum.id, AddOtherPositions{true}, sum.operands);
         })});
    list.push_back(
        {.name = "positions-from-1", .cause = message("The positions begin at 1 instead of 0."), .change = from(1)});
    list.push_back({.name = "positions-from-2",
                    .cause = message("The positions begin at 2, as in OPT's and BART's tables."),
                    .change = from(2)});
    list.push_back(
        {.name = "positions-by-mask",
         .cause = message("The positions are counted without padding, so that a text padded on the left "
                          "begins at 0."),
         .change = each_code([](Plan& plan, const Config&, const Step& code, const Step& sum) {
             const Ref mask = plan.find(code.in_encoder() ? "encoder_attention_mask" : "attention_mask");
             if (mask != nullptr)
                 plan.replace(sum.id, AddOtherPositions{false}, {sum.operands[0], sum.operands[1], mask->id});
         })});
    list.push_back(
        {.name = "sinusoid-in-halves",
         .cause =
             message("The sinusoidal encoding has all sines first and all cosines after them; they should alternate."),
         .change = each_code([](Plan& plan, const Config& config, const Step& code, const Step&) {
             if (config.positional_encoding == PositionalEncoding::sinusoidal)
                 plan.replace(code.id, SinusoidInHalves{code.axes[0], config.d_model, config.position_scale}, {});
         })});
    list.push_back({.name = "position-scale-forgotten",
                    .cause = message("The positions are not multiplied by position_scale."),
                    .configure = [](Config& config) { config.position_scale = 1.0; }});
    list.push_back({.name = "positions-scaled-too",
                    .cause = message("√d_model multiplies the positions, too, not the embedding alone."),
                    .configure = [](Config& config) {
                        if (config.scale_embedding)
                            config.position_scale *= std::sqrt(static_cast<double>(config.d_model));
                    }});
}

namespace {

bool rotates(const Config& config) { return config.positional_encoding == PositionalEncoding::rope; }

// Whether one rotation, by rope_theta alone, is that of all layers.
bool rotates_alike(const Config& config) {
    return rotates(config) && config.rope_scaling == RopeScalingKind::none && config.rope_local_theta == 0.0;
}

Mutation theta(std::string_view name, Phrase cause, double value) {
    return {.name = name, .cause = cause, .configure = [value](Config& config) {
                if (rotates(config)) config.rope_theta = value;
            }};
}

}  // namespace

void rope(std::vector<Mutation>& list) {
    list.push_back(
        {.name = "rope-other-pairs",
         .cause = message("RoPE rotates the wrong pairs of columns: neighbours instead of halves, or vice versa."),
         .configure = [](Config& config) {
             if (rotates(config)) config.rope_interleaved = !config.rope_interleaved;
         }});
    list.push_back({.name = "no-rope",
                    .cause = message("Queries and keys are not rotated by their position."),
                    .configure = [](Config& config) {
                        if (rotates(config)) config.positional_encoding = PositionalEncoding::none;
                    }});
    list.push_back(theta("rope-theta-10000", message("RoPE's theta is 10000."), 1e4));
    list.push_back(theta("rope-theta-500000", message("RoPE's theta is 500000, as in Llama 3."), 5e5));
    list.push_back(theta("rope-theta-1000000", message("RoPE's theta is 1000000, as in Qwen."), 1e6));
    list.push_back(theta("rope-theta-100000", message("RoPE's theta is 100000."), 1e5));
    list.push_back({.name = "rope-all-columns",
                    .cause = message("RoPE rotates all columns of a head, not only the first rotary_dim."),
                    .configure = [](Config& config) { config.rotary_dim = 0; }});
    list.push_back(
        {.name = "rope-on-values",
         .cause = message("The values are rotated by their position, too."),
         .change = [](Plan& plan, const Config& config) {
             if (!rotates(config)) return;
             const Operation turn = ops::Rope{config.rope_theta, config.rotary_columns(), config.rope_interleaved};
             for (const std::string& attention : sites::attentions(plan, Part::self_attention))
                 if (const Ref v = plan.step_of(attention, AttentionStep::value))
                     plan.replace(v->id, Then{v->operation, turn, v->operands.size()}, v->operands);
         }});
    list.push_back({.name = "rope-one-late",
                    .cause = message("RoPE counts positions from 1: only distances count, so nothing but the rotated "
                                     "queries and keys differs."),
                    .change =
                        [](Plan& plan, const Config& config) {
                            if (!rotates_alike(config)) return;
                            const Operation turn = ops::Rope{config.rope_theta, config.rotary_columns(),
                                                             config.rope_interleaved, ops::RopeScaling{}, 1};
                            for (const std::string& attention : plan.attentions())
                                for (const AttentionStep which : {AttentionStep::query, AttentionStep::key})
                                    if (const Ref rotated = plan.step_of(attention, which);
                                        rotated != nullptr && plan.find(rotated->name + "_unrotated") != nullptr)
                                        plan.replace(rotated->id, turn, rotated->operands);
                        },
                    .harmless = true});
    list.push_back({.name = "no-rope-scaling",
                    .cause = message("RoPE's frequencies are not lowered for long texts."),
                    .configure = [](Config& config) { config.rope_scaling = RopeScalingKind::none; }});
    list.push_back({.name = "no-query-key-norm",
                    .cause = message("Queries and keys are not normalised."),
                    .configure = [](Config& config) { config.qk_norm = false; }});
}

namespace {

// For models that rotate layer by layer.
Mutation by_layer(std::string_view name, Phrase cause, void (*configure)(Config&)) {
    return {.name = name, .cause = cause, .configure = [configure](Config& config) {
                if (rotates(config)) configure(config);
            }};
}

}  // namespace

void rope_by_layer(std::vector<Mutation>& list) {
    list.push_back(by_layer("rope-in-every-layer",
                            message("Queries and keys are rotated in every layer, also in those without RoPE."),
                            [](Config& config) { config.rope_layers.clear(); }));
    list.push_back(by_layer("rope-local-theta-ignored",
                            message("Layers with a window rotate with the base of the others."),
                            [](Config& config) { config.rope_local_theta = 0.0; }));
    list.push_back(by_layer("rope-local-theta-everywhere",
                            message("Layers without a window rotate with the base of those that have one."),
                            [](Config& config) {
                                if (config.rope_local_theta == 0.0) return;
                                config.rope_theta = config.rope_local_theta;
                                config.rope_local_theta = 0.0;
                                config.rope_scaling = RopeScalingKind::none;
                            }));
    list.push_back({.name = "window-in-every-layer",
                    .cause = message("Every layer has the sliding window, also those that should see all."),
                    .configure = [](Config& config) { config.sliding_window_layers.clear(); }});
    list.push_back(by_layer("rope-attention-factor-forgotten",
                            message("YaRN's or LongRoPE's factor doesn't multiply cos and sin."), [](Config& config) {
                                if (config.rope_scaling == RopeScalingKind::yarn ||
                                    config.rope_scaling == RopeScalingKind::longrope)
                                    config.rope_attention_factor = 1.0;
                            }));
    list.push_back(by_layer(
        "rope-truncation", message("YaRN's blend begins and ends at whole pairs although it shouldn't, or vice versa."),
        [](Config& config) {
            if (config.rope_scaling == RopeScalingKind::yarn) config.rope_truncate = !config.rope_truncate;
        }));
}

}  // namespace decoderscope::mutations::lists
