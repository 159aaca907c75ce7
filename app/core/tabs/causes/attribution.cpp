#include "app/core/tabs/causes/attribution.h"

#include "app/core/tabs/step/vector_reading.h"

#include "engine/graph/mixture.h"

#include <algorithm>
#include <functional>
#include <map>

namespace decoderscope::core::causes {

namespace {

using Row = std::vector<double>;

// One row of a tensor: [batch, pos, d_model], or [pos, d_model] and [d_model], which all batch rows and positions
// share.
Row row_of(const Tensor& tensor, Index batch, Index position) {
    const std::size_t rank = tensor.rank();
    const Index width = tensor.axes().back().size;
    const Index row = rank == 1 ? 0 : rank == 2 ? position : batch * tensor.dim(1) + position;
    const auto values = tensor.values().subspan(static_cast<std::size_t>(row * width), static_cast<std::size_t>(width));
    return {values.begin(), values.end()};
}

// Computes the terms of one position's logit.
class Attributing {
public:
    Attributing(const Run& run, Index batch, Index position, Index token, std::optional<Index> minus)
        : run_(run),
          plan_(run.plan()),
          paths_(step::direct_paths(run)),
          batch_(batch),
          position_(position),
          token_(token),
          minus_(minus) {}

    Attribution all() {
        // Sorted by the step that they come from, which is the order of computation.
        std::map<StepId, StepId> updates;
        for (const StepId id : paths_.added) updates.emplace(origin_of(id), id);
        for (const auto& [origin, id] : updates) add_update(plan_[origin], plan_[id]);
        for (const auto& [norm, path] : paths_.from)
            if (const Ref shift = plan_.operand(plan_[norm], OperandRole::shift))
                add({Contributor::norm_shift, plan_[norm].name}, path, run_.value(shift->id));
        for (const StepId id : paths_.edited) add_edit(plan_[id]);
        add_head_bias();
        add_edit_of_logits();
        for (const Contribution& term : made_.terms) made_.sum += term.logit;
        made_.logit = logit_in(run_.value(paths_.head->id));
        return std::move(made_);
    }

private:
    // An update before norms of its own (Peri-Norm).
    [[nodiscard]] StepId origin_of(StepId id) const {
        while (plan_[id].operation.traits().norm) id = *plan_[id].operand(OperandRole::input);
        return id;
    }

    [[nodiscard]] double towards(const step::DirectPath& path, const Row& row) const {
        const Row carried = step::along_path(run_, path, batch_, position_, row);
        const double logit = step::towards_token(run_, *paths_.head, carried, token_);
        return minus_ ? logit - step::towards_token(run_, *paths_.head, carried, *minus_) : logit;
    }

    double add(Contribution term, const step::DirectPath& path, const Tensor& rows) {
        term.logit = towards(path, row_of(rows, batch_, position_));
        made_.terms.push_back(term);
        return term.logit;
    }

    void add_update(const Step& origin, const Step& update) {
        const step::DirectPath& path = paths_.of.at(update.id);
        const Tensor& rows = run_.value(update.id);
        if (const auto mixture = mixture_of(plan_, origin); mixture && has_values(*mixture)) {
            add_experts(*mixture, update);
        } else if (origin.part == Part::mlp) {
            add({Contributor::mlp, update.name, update.layer}, path, rows);
        } else if (origin.attention.empty()) {
            const bool everywhere = rows.rank() == 2;  // [pos, d_model]
            add({everywhere ? Contributor::positions : Contributor::embedding, update.name, update.layer}, path, rows);
        } else if (const Ref results = results_of(origin)) {
            add_heads(*results, origin, update);
        } else {
            add({Contributor::attention, update.name, update.layer}, path, rows);
        }
    }

    // The step with what each head adds to an attention's output; nullptr if its heads don't simply add up (dropout).
    [[nodiscard]] Ref results_of(const Step& origin) const {
        const auto found =
            std::ranges::find_if(plan_.steps(), [&](const Step& step) { return step::are_results_of(step, origin); });
        return found == plan_.steps().end() ? nullptr : &*found;
    }

    // Each head, and what is left of the update: the bias, the shift of a norm of its own.
    void add_heads(const Step& results, const Step& origin, const Step& update) {
        Tensor rows = run_.value(results.id);
        if (rows.empty()) rows = results.operation.compute(run_.operands_of(results.id), results.axes);
        const step::DirectPath& path = paths_.of.at(results.id);
        double heads = 0.0;
        for (Index head = 0; head < rows.dim(1); ++head) {
            const std::span<const float> values = rows.row({batch_, head, position_, 0});
            Contribution term = {Contributor::head, results.name,
                                 results.layer,     head,
                                 std::nullopt,      towards(path, Row(values.begin(), values.end()))};
            heads += term.logit;
            made_.terms.push_back(term);
        }
        const bool has_rest = origin.operand(OperandRole::bias) || origin.id != update.id || !origin.patches.empty();
        if (has_rest) add_rest(Contributor::attention_bias, update, heads);
    }

    // What the parts of an update leave of it.
    void add_rest(Contributor kind, const Step& update, double parts) {
        const double whole = towards(paths_.of.at(update.id), row_of(run_.value(update.id), batch_, position_));
        made_.terms.push_back({kind, update.name, update.layer, std::nullopt, std::nullopt, whole - parts});
    }

    [[nodiscard]] bool has_values(const MixtureSteps& mixture) const {
        return !run_.value(mixture.out->id).empty() && !run_.value(mixture.weight->id).empty() &&
               !run_.value(mixture.expert->id).empty();
    }

    // Each expert that the position went to, and what is left of the update: the shared MLP, edits, the shift of a norm
    // of its own.
    void add_experts(const MixtureSteps& mixture, const Step& update) {
        const Tensor& out = run_.value(mixture.out->id);  // [batch, pos, slot, d_model]
        const Tensor& weight = run_.value(mixture.weight->id);
        const Tensor& chosen = run_.value(mixture.expert->id);
        const step::DirectPath& path = paths_.of.at(mixture.mixed->id);
        double experts = 0.0;
        for (Index slot = 0; slot < out.dim(2); ++slot) {
            const Index width = out.dim(3), at = out.offset(Cell{batch_, position_, slot, 0});
            const auto values = out.values().subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(width));
            const auto by = static_cast<double>(weight.at(Cell{batch_, position_, slot}));
            Row row(values.begin(), values.end());
            for (double& value : row) value *= by;
            Contribution term = {Contributor::expert, mixture.out->name, update.layer};
            term.expert = static_cast<Index>(chosen.at(Cell{batch_, position_, slot}));
            term.logit = towards(path, row);
            experts += term.logit;
            made_.terms.push_back(std::move(term));
        }
        const bool has_rest = mixture.mixed->operand(OperandRole::update) || mixture.mixed->id != update.id ||
                              !update.patches.empty() || !mixture.mixed->patches.empty();
        if (has_rest) add_rest(Contributor::shared, update, experts);
    }

    // What a step's operation made, before its edits.
    [[nodiscard]] Tensor before_edits(const Step& step) const {
        return step.operation.compute(run_.operands_of(step.id), step.axes);
    }

    // What edits of a sum or a norm on the stream changed in this position's row.
    void add_edit(const Step& step) {
        Row changed = row_of(run_.value(step.id), batch_, position_);
        const Row before = row_of(before_edits(step), batch_, position_);
        if (changed == before) return;
        std::ranges::transform(changed, before, changed.begin(), std::minus<>());
        made_.terms.push_back({Contributor::edit, step.name, step.layer, std::nullopt, std::nullopt,
                               towards(paths_.of.at(step.id), changed)});
    }

    void add_edit_of_logits() {
        const Step& head = *paths_.head;
        if (head.patches.empty()) return;
        const double changed = logit_in(run_.value(head.id)) - logit_in(before_edits(head));
        if (changed != 0.0)
            made_.terms.push_back({Contributor::edit, head.name, -1, std::nullopt, std::nullopt, changed});
    }

    // The token's logit, or its difference from the other token's, in [batch, pos, vocab].
    [[nodiscard]] double logit_in(const Tensor& logits) const {
        const auto logit = static_cast<double>(logits.at(Cell{batch_, position_, token_}));
        return minus_ ? logit - static_cast<double>(logits.at(Cell{batch_, position_, *minus_})) : logit;
    }

    void add_head_bias() {
        const Ref bias = plan_.operand(*paths_.head, OperandRole::bias);
        if (bias == nullptr) return;
        const Tensor& values = run_.value(bias->id);  // [vocab]
        double logit = static_cast<double>(values.at(Cell{token_}));
        if (minus_) logit -= static_cast<double>(values.at(Cell{*minus_}));
        made_.terms.push_back({Contributor::head_bias, bias->name, -1, std::nullopt, std::nullopt, logit});
    }

    const Run& run_;
    const Plan& plan_;
    step::DirectPaths paths_;
    Index batch_, position_, token_;
    std::optional<Index> minus_;
    Attribution made_;
};

}  // namespace

Sentence attribution_obstacle(const Run& run) {
    const step::DirectPaths paths = step::direct_paths(run);
    if (paths.head != nullptr && !run.value(paths.head->id).empty()) return {};
    if (!run.value("logits").empty())
        return message(
            "What this run calls logits is not the product of its stream with the vocabulary: they have no "
            "parts that sum to them.");
    return message("This model has no logits: nothing is read from its stream.");
}

Attribution direct_attribution(const Run& run, Index batch, Index position, Index token, std::optional<Index> minus) {
    return Attributing(run, batch, position, token, minus).all();
}

}  // namespace decoderscope::core::causes
