#include "engine/mutations/masks.h"

#include "engine/base/translate.h"
#include "engine/mutations/mutations.h"
#include "engine/mutations/sites.h"

#include <algorithm>

namespace decoderscope::mutations {

OpDescription WrongMask::about() const {
    return {tr("wrong mask"), "mask[b, h, q, k] ∈ {0, 1}",
            tr("Not the mask that this decoder should have: a mistake that was planted. 1 = kept, 0 = hidden.")};
}

bool WrongMask::keeps(const Operands& in, const Cell& cell) const {
    const MaskVerdict verdict = right.verdict(in, cell);
    const Index query = cell[2], key = cell[3];
    switch (kind) {
        case Kind::inverted:
            return !verdict.kept();
        case Kind::shifted:
            return key <= query + shift && verdict.padding && verdict.custom && verdict.window;
        case Kind::future_only:
            return key >= query && verdict.padding && verdict.custom;
        case Kind::padded_queries:
            return verdict.causal && verdict.custom && verdict.window &&
                   right.verdict(in, {cell[0], cell[1], cell[2], query}).padding;
        case Kind::nothing:
            return true;
    }
    return true;
}

Tensor WrongMask::compute(const Operands& in, const Axes& axes) const {
    Tensor out(axes);
    const std::span<float> values = out.writable();
    for (Index i = 0; i < out.size(); ++i) values[static_cast<std::size_t>(i)] = keeps(in, out.cell(i)) ? 1.0F : 0.0F;
    return out;
}

Explanation WrongMask::explain(const Operands& in, const Tensor&, const Cell& cell) const {
    const bool kept = keeps(in, cell);
    return {{line(tr("mask"), {term({constant_factor(kept ? 1.0 : 0.0, kept ? tr("kept") : tr("hidden"))})})}};
}

}  // namespace decoderscope::mutations

namespace decoderscope::mutations::lists {

namespace {

bool concerns(const Step& mask, WrongMask::Kind kind) {
    const auto facts = mask.operation.traits().masks;
    if (!facts) return false;
    switch (kind) {
        case WrongMask::Kind::inverted:
        case WrongMask::Kind::nothing:
            return facts->causal || facts->padding || facts->custom || facts->window;
        case WrongMask::Kind::shifted:
        case WrongMask::Kind::future_only:
            return facts->causal;
        case WrongMask::Kind::padded_queries:
            return facts->padding && mask.axes[2].size == mask.axes[3].size;
    }
    return false;
}

// A change of the masks of the attentions of a part, or of all.
std::function<void(Plan&, const Config&)> wrong(WrongMask::Kind kind, Index shift = 0) {
    return [kind, shift](Plan& plan, const Config&) {
        for (const std::string& attention : plan.attentions()) {
            const Ref mask = plan.step_of(attention, AttentionStep::mask);
            if (mask == nullptr || !concerns(*mask, kind)) continue;
            plan.replace(mask->id, WrongMask{mask->operation, kind, shift}, mask->operands);
        }
    };
}

Tensor inverted(const Tensor& padding) {
    if (padding.empty()) return padding;
    Tensor other = padding;
    for (float& keep : other.writable()) keep = keep == 0.0F ? 1.0F : 0.0F;
    return other;
}

void target_padding_for_source(Plan& plan, const Config&) {
    const Ref target = plan.find("attention_mask"), source = plan.find("encoder_attention_mask");
    if (target == nullptr || source == nullptr || shape_text(target->axes) != shape_text(source->axes)) return;
    for (const std::string& attention : sites::attentions(plan, Part::cross_attention)) {
        const Ref mask = plan.step_of(attention, AttentionStep::mask);
        if (mask == nullptr) continue;
        std::vector<StepId> read = mask->operands;
        std::ranges::replace(read, source->id, target->id);
        plan.replace(mask->id, mask->operation, read);
    }
}

}  // namespace

void masks(std::vector<Mutation>& list) {
    using Kind = WrongMask::Kind;
    list.push_back({.name = "no-causal-mask",
                    .cause = message("There is no causal mask: every position sees the ones after it."),
                    .configure = [](Config& config) { config.causal = false; }});
    list.push_back({.name = "causal-mask",
                    .cause = message("There is a causal mask, although the model has none."),
                    .configure = [](Config& config) { config.causal = true; }});
    list.push_back({.name = "mask-inverted",
                    .cause = message("The mask is inverted: what should be kept is hidden, and vice versa."),
                    .change = wrong(Kind::inverted)});
    list.push_back({.name = "causal-one-too-far",
                    .cause = message("The causal mask is off by one: each position sees the next one."),
                    .change = wrong(Kind::shifted, 1)});
    list.push_back({.name = "causal-one-too-short",
                    .cause = message("The causal mask is off by one: no position sees itself."),
                    .change = wrong(Kind::shifted, -1)});
    list.push_back({.name = "causal-upper",
                    .cause = message("The causal mask is the other triangle: each position sees itself and what comes "
                                     "later."),
                    .change = wrong(Kind::future_only)});
    list.push_back({.name = "no-mask", .cause = message("No mask is applied at all."), .change = wrong(Kind::nothing)});
    list.push_back({.name = "target-padding-ignored",
                    .cause = message("The target's padding mask is not applied."),
                    .feed = [](Inputs& inputs, const Config&) { inputs.attention_mask = {}; }});
    list.push_back({.name = "source-padding-ignored",
                    .cause = message("The source's padding mask is not applied."),
                    .feed = [](Inputs& inputs, const Config&) { inputs.encoder_attention_mask = {}; }});
    list.push_back({.name = "padding-ignored",
                    .cause = message("The padding mask is not applied: padding is attended to."),
                    .feed = [](Inputs& inputs, const Config&) {
                        inputs.attention_mask = {};
                        inputs.encoder_attention_mask = {};
                    }});
    list.push_back({.name = "source-padding-inverted",
                    .cause = message("The source's padding mask is inverted."),
                    .feed = [](Inputs& inputs, const Config&) {
                        inputs.encoder_attention_mask = inverted(inputs.encoder_attention_mask);
                    }});
    list.push_back({.name = "padding-inverted",
                    .cause = message("The padding mask is inverted: padding is kept and the text is hidden."),
                    .feed = [](Inputs& inputs, const Config&) {
                        inputs.attention_mask = inverted(inputs.attention_mask);
                        inputs.encoder_attention_mask = inverted(inputs.encoder_attention_mask);
                    }});
    list.push_back({.name = "padding-on-queries",
                    .cause = message("The padding mask is on the wrong side: it hides queries instead of keys."),
                    .change = wrong(Kind::padded_queries)});
    list.push_back({.name = "target-padding-for-source",
                    .cause = message("Cross-attention uses the target's padding mask in place of the source's."),
                    .change = target_padding_for_source});
    list.push_back({.name = "cross-padding-ignored",
                    .cause = message("Cross-attention has no padding mask, though the encoder has one."),
                    .change = [](Plan& plan, const Config&) {
                        for (const std::string& attention : sites::attentions(plan, Part::cross_attention))
                            if (const Ref mask = plan.step_of(attention, AttentionStep::mask))
                                plan.replace(mask->id, WrongMask{mask->operation, Kind::nothing}, mask->operands);
                    }});
    list.push_back({.name = "causal-cross-attention",
                    .cause = message("Cross-attention has a causal mask; it should see the whole source."),
                    .change = [](Plan& plan, const Config&) {
                        for (const std::string& attention : sites::attentions(plan, Part::cross_attention))
                            if (const Ref mask = plan.step_of(attention, AttentionStep::mask))
                                plan.replace(mask->id, WrongMask{mask->operation, Kind::shifted, 0}, mask->operands);
                    }});
    list.push_back({.name = "window-one-longer",
                    .cause = message("The sliding window is one position too long."),
                    .configure = [](Config& config) { config.sliding_window += config.sliding_window > 0 ? 1 : 0; }});
    list.push_back({.name = "window-one-shorter",
                    .cause = message("The sliding window is one position too short."),
                    .configure = [](Config& config) { config.sliding_window -= config.sliding_window > 1 ? 1 : 0; }});
    list.push_back({.name = "no-window",
                    .cause = message("There is no sliding window: every earlier position is seen."),
                    .configure = [](Config& config) { config.sliding_window = 0; }});
}

}  // namespace decoderscope::mutations::lists
