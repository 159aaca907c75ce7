#include "app/core/session/first_minute.h"

#include "engine/graph/run.h"

#include <cmath>
#include <limits>

namespace decoderscope::core {

namespace {

// The last recorded step of a part, in a block or outside of them; nullptr if there is none.
Ref last_of(const Plan& plan, Part part, const std::string& block) {
    Ref last = nullptr;
    for (const Step& step : plan.steps())
        if (step.part == part && step.block == block && step.role == Role::recorded && !step.backward) last = &step;
    return last;
}

Ref first_of(const Plan& plan, Part part, StackKind stack) {
    for (const Step& step : plan.steps())
        if (step.part == part && step.stack == stack && step.role == Role::recorded) return &step;
    return nullptr;
}

}  // namespace

Cell strongest_weight(const Snapshot& shown, const Step& pattern, Place place) {
    const Tensor& weights = shown.run_of(pattern).value(pattern.id);
    if (weights.empty() || pattern.axes.size() != 4) return {};
    const Index batch = std::min(place.batch, weights.dim(0) - 1), head = std::min(place.head, weights.dim(1) - 1);
    const Tensor& mask = shown.scenario.inputs.attention_mask;
    Index query = weights.dim(2) - 1;
    while (query > 0 && !mask.empty() && query < mask.dim(1) && mask.at(Cell{batch, query}) == 0.0F) --query;
    Cell found;
    float most = -std::numeric_limits<float>::infinity();
    for (Index key = 0; key < weights.dim(3); ++key) {
        const Cell cell = {batch, head, query, key};
        const float weight = weights.at(cell);
        if (std::isnan(weight) || weight <= most) continue;
        most = weight;
        found = cell;
    }
    return found;
}

std::vector<MinuteStop> first_minute(const Snapshot& shown, const Step& here, Place place) {
    const Plan& plan = shown.run->plan();
    if (!shown.scenario.computes() || plan.attentions().empty()) return {};
    const std::string attention = here.attention.empty() ? plan.attentions().front() : here.attention;
    const auto of = [&](AttentionStep which) { return plan.step_of(attention, which); };
    const Ref pattern = of(AttentionStep::pattern);
    if (pattern == nullptr) return {};
    std::vector<MinuteStop> stops;
    const auto add = [&](Phrase sentence, Ref step, Ref then = nullptr, Cell cell = {}) {
        if (step != nullptr)
            stops.push_back({sentence, step->name, then == nullptr ? std::string() : then->name, std::move(cell)});
    };
    add(message(
            "Each row is a token, and its bright cells are the tokens that it looks at. Click the ringed cell: it says "
            "where its number comes from, term by term."),
        pattern, nullptr, strongest_weight(shown, *pattern, place));
    add(message("The text is cut into tokens, and each becomes a row of numbers: one row a token, one column a "
                "feature. From here on the model computes with these rows."),
        first_of(plan, Part::embedding, pattern->stack));
    add(message(
            "In attention each token asks, with its query, and offers something to be found by, its key. Where they "
            "fit, the score is high. Click the scores on the strip."),
        of(AttentionStep::query), of(AttentionStep::scores));
    add(message(
            "What may not be looked at is hidden by a mask: padding, and what comes after a token, so that the model "
            "can't copy the answer."),
        of(AttentionStep::masked_scores));
    add(message(
            "Softmax turns each row into shares that add up to 1: the picture at the beginning. With them the tokens' "
            "values are mixed and added to the residual stream, the line of the strip."),
        of(AttentionStep::out));
    add(message("The MLP works on each row by itself. Then the next block begins again, with the rows that are left."),
        last_of(plan, Part::mlp, pattern->block));
    add(message("At the end each row becomes a share for every token that may come next. Type into the text above: "
                "everything follows at once. Nothing can break: Ctrl+Z takes it back."),
        last_of(plan, Part::head, {}));
    return stops;
}

}  // namespace decoderscope::core
