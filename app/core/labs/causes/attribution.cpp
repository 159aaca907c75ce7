#include "app/core/labs/causes/attribution.h"

#include "app/core/labs/step/direct_path.h"

#include <map>

namespace decoderscope {

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
          paths_(direct_paths(run)),
          batch_(batch),
          position_(position),
          token_(token),
          minus_(minus) {}

    Attribution all() {
        // By the step that they come from, so that they come in the order of computation.
        std::map<StepId, StepId> updates;
        for (const StepId id : paths_.added) updates.emplace(origin_of(id), id);
        for (const auto& [origin, id] : updates) add_update(plan_[origin], plan_[id]);
        for (const auto& [norm, path] : paths_.from)
            if (plan_[norm].operands.size() > 3)
                add({Contributor::norm_shift, plan_[norm].name}, path, run_.value(plan_[norm].operands[3]));
        add_head_bias();
        for (const Contribution& term : made_.terms) made_.sum += term.logit;
        const Tensor& logits = run_.value(paths_.head->id);
        made_.logit = static_cast<double>(logits.at(Cell{batch_, position_, token_}));
        if (minus_) made_.logit -= static_cast<double>(logits.at(Cell{batch_, position_, *minus_}));
        return std::move(made_);
    }

private:
    // What an update is before norms of its own (Peri-Norm).
    [[nodiscard]] StepId origin_of(StepId id) const {
        while (plan_[id].operation.traits().norm) id = plan_[id].operands[0];
        return id;
    }

    [[nodiscard]] double towards(const DirectPath& path, const Row& row) const {
        const Row carried = along_path(run_, path, batch_, position_, row);
        const double logit = towards_token(run_, *paths_.head, carried, token_);
        return minus_ ? logit - towards_token(run_, *paths_.head, carried, *minus_) : logit;
    }

    double add(Contribution term, const DirectPath& path, const Tensor& rows) {
        term.logit = towards(path, row_of(rows, batch_, position_));
        made_.terms.push_back(term);
        return term.logit;
    }

    void add_update(const Step& origin, const Step& update) {
        const DirectPath& path = paths_.of.at(update.id);
        const Tensor& rows = run_.value(update.id);
        if (origin.part == Part::mlp) {
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
        for (const Step& step : plan_.steps()) {
            const bool by_head = step.axes.size() == 4 && step.axes[3].name == axis::d_model;
            if (by_head && step.attention == origin.attention && paths_.of.contains(step.id)) return &step;
        }
        return nullptr;
    }

    // Each head, and what is left of the update: the bias, the shift of a norm of its own.
    void add_heads(const Step& results, const Step& origin, const Step& update) {
        Tensor rows = run_.value(results.id);
        if (rows.empty()) rows = results.operation.compute(run_.operands_of(results.id), results.axes);
        const DirectPath& path = paths_.of.at(results.id);
        double heads = 0.0;
        for (Index head = 0; head < rows.dim(1); ++head) {
            const Index width = rows.dim(3), at = rows.offset(Cell{batch_, head, position_, 0});
            const auto values = rows.values().subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(width));
            Contribution term = {Contributor::head, results.name, results.layer, head,
                                 towards(path, Row(values.begin(), values.end()))};
            heads += term.logit;
            made_.terms.push_back(term);
        }
        const bool has_rest = origin.operands.size() > 2 || origin.id != update.id || !origin.patches.empty();
        if (!has_rest) return;
        const double whole = towards(paths_.of.at(update.id), row_of(run_.value(update.id), batch_, position_));
        made_.terms.push_back({Contributor::attention_bias, update.name, update.layer, std::nullopt, whole - heads});
    }

    void add_head_bias() {
        if (paths_.head->operands.size() < 3) return;
        const Tensor& bias = run_.value(paths_.head->operands[2]);
        double logit = static_cast<double>(bias.at(Cell{token_}));
        if (minus_) logit -= static_cast<double>(bias.at(Cell{*minus_}));
        made_.terms.push_back({Contributor::head_bias, plan_[paths_.head->operands[2]].name, -1, std::nullopt, logit});
    }

    const Run& run_;
    const Plan& plan_;
    DirectPaths paths_;
    Index batch_, position_, token_;
    std::optional<Index> minus_;
    Attribution made_;
};

}  // namespace

Sentence attribution_obstacle(const Run& run) {
    const DirectPaths paths = direct_paths(run);
    if (paths.head == nullptr || run.value(paths.head->id).empty())
        return message("This model has no logits: nothing is read from its stream.");
    return {};
}

Attribution direct_attribution(const Run& run, Index batch, Index position, Index token, std::optional<Index> minus) {
    return Attributing(run, batch, position, token, minus).all();
}

}  // namespace decoderscope
