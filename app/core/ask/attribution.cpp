#include "app/core/ask/attribution.h"

#include "app/core/tabs/step/vector_reading.h"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

namespace decoderscope::core::ask {

namespace {

using RowOfNumbers = std::vector<double>;

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
        for (const StepId id : paths_.added) updates.emplace(step::origin_of_update(plan_, plan_[id]).id, id);
        for (const auto& [origin, id] : updates) add_update(plan_[id]);
        for (const auto& [norm, path] : paths_.from)
            if (const Ref shift = plan_.operand(plan_[norm], OperandRole::shift))
                add({Contributor::norm_shift, plan_[norm].name},
                    towards(path, step::row_at(run_.value(shift->id), batch_, position_)));
        for (const StepId id : paths_.edited) add_edit(plan_[id]);
        add_head_bias();
        add_edit_of_logits();
        for (const Contribution& term : made_.terms) made_.sum += term.logit;
        made_.logit = logit_in(run_.value(paths_.head->id));
        return std::move(made_);
    }

private:
    [[nodiscard]] double towards(const step::DirectPath& path, const RowOfNumbers& row) const {
        const RowOfNumbers carried = step::along_path(run_, path, batch_, position_, row);
        const double logit = step::towards_token(run_, *paths_.head, carried, token_);
        return minus_ ? logit - step::towards_token(run_, *paths_.head, carried, *minus_) : logit;
    }

    void add(step::Writer writer, double logit) { made_.terms.push_back({{std::move(writer)}, logit}); }

    // The parts of an update, and what they leave of it.
    void add_update(const Step& update) {
        const step::UpdateParts written = step::parts_of_update(run_, update, batch_, position_);
        double parts = 0.0;
        for (const step::WrittenPart& part : written.parts) {
            const double logit = towards(paths_.of.at(part.rows), part.row);
            parts += logit;
            add(part.writer, logit);
        }
        if (!written.rest) return;
        const RowOfNumbers all = step::row_at(run_.value(update.id), batch_, position_);
        add(*written.rest, towards(paths_.of.at(update.id), all) - parts);
    }

    // What edits of a sum or a norm on the stream changed in this position's row.
    void add_edit(const Step& step) {
        RowOfNumbers changed = step::row_at(run_.value(step.id), batch_, position_);
        const RowOfNumbers before = step::row_before_edits(run_, step, batch_, position_);
        if (changed == before) return;
        std::ranges::transform(changed, before, changed.begin(), std::minus<>());
        add({Contributor::edit, step.name, step.layer}, towards(paths_.of.at(step.id), changed));
    }

    void add_edit_of_logits() {
        const Step& head = *paths_.head;
        if (head.patches.empty()) return;
        const Tensor before = head.operation.compute(run_.operands_of(head.id), head.axes);
        const double changed = logit_in(run_.value(head.id)) - logit_in(before);
        if (changed != 0.0) add({Contributor::edit, head.name}, changed);
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
        add({Contributor::head_bias, bias->name}, logit);
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

}  // namespace decoderscope::core::ask
