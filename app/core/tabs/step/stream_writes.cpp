#include "app/core/tabs/step/stream_writes.h"

#include "engine/graph/mixture.h"

#include <algorithm>
#include <cmath>

namespace decoderscope::core::step {

namespace {

// The step with what each head adds to an attention's output; nullptr if its heads don't simply add up (dropout).
Ref results_of(const Plan& plan, const Step& origin) {
    const auto found =
        std::ranges::find_if(plan.steps(), [&](const Step& step) { return are_results_of(step, origin); });
    return found == plan.steps().end() ? nullptr : &*found;
}

// Each head, and what is left of the update: the bias, the shift of a norm of its own.
UpdateParts heads_of(const Run& run, const Step& results, const Step& origin, const Step& update, Index batch,
                     Index position) {
    Tensor rows = run.value(results.id);
    if (rows.empty()) rows = results.operation.compute(run.operands_of(results.id), results.axes);
    UpdateParts made;
    for (Index head = 0; head < rows.dim(1); ++head) {
        const std::span<const float> values = rows.row({batch, head, position, 0});
        made.parts.push_back({{Contributor::head, results.name, results.layer, head, std::nullopt},
                              results.id,
                              std::vector<double>(values.begin(), values.end())});
    }
    if (origin.operand(OperandRole::bias) || origin.id != update.id || !origin.patches.empty())
        made.rest = Writer{Contributor::attention_bias, update.name, update.layer, std::nullopt, std::nullopt};
    return made;
}

bool has_values(const Run& run, const MixtureSteps& mixture) {
    return !run.value(mixture.out->id).empty() && !run.value(mixture.weight->id).empty() &&
           !run.value(mixture.expert->id).empty();
}

// Each expert that the position went to, and what is left of the update: the shared MLP, edits, the shift of a norm of
// its own.
UpdateParts experts_of(const Run& run, const MixtureSteps& mixture, const Step& update, Index batch, Index position) {
    const Tensor& out = run.value(mixture.out->id);  // [batch, pos, slot, d_model]
    const Tensor& weight = run.value(mixture.weight->id);
    const Tensor& chosen = run.value(mixture.expert->id);
    UpdateParts made;
    for (Index slot = 0; slot < out.dim(2); ++slot) {
        const std::span<const float> values = out.row({batch, position, slot, 0});
        const auto by = static_cast<double>(weight.at(Cell{batch, position, slot}));
        std::vector<double> row(values.begin(), values.end());
        for (double& value : row) value *= by;
        const auto expert = static_cast<Index>(chosen.at(Cell{batch, position, slot}));
        made.parts.push_back({{Contributor::expert, mixture.out->name, update.layer, std::nullopt, expert},
                              mixture.mixed->id,
                              std::move(row)});
    }
    if (mixture.mixed->operand(OperandRole::update) || mixture.mixed->id != update.id || !update.patches.empty() ||
        !mixture.mixed->patches.empty())
        made.rest = Writer{Contributor::shared, update.name, update.layer, std::nullopt, std::nullopt};
    return made;
}

// Whether parts without a rest add up to what they are said to be the parts of: under another formula of the sum, as
// one of the gallery's mistakes has it, they don't.
bool add_up(const UpdateParts& made, const std::vector<double>& update) {
    std::vector<double> left = update;
    double size = 0.0;
    for (const WrittenPart& part : made.parts)
        for (std::size_t i = 0; i < left.size(); ++i) {
            left[i] -= part.row[i];
            size = std::max(size, std::abs(part.row[i]));
        }
    return std::ranges::all_of(left, [&](double value) { return std::abs(value) <= 1e-4 * size; });
}

// An update that has no parts.
UpdateParts whole(const Run& run, Contributor kind, const Step& update, Index batch, Index position) {
    UpdateParts made;
    made.parts.push_back({{kind, update.name, update.layer, std::nullopt, std::nullopt},
                          update.id,
                          row_at(run.value(update.id), batch, position)});
    return made;
}

}  // namespace

Sentence name_of(const Writer& writer) {
    switch (writer.kind) {
        case Contributor::embedding:
            return message("embedding");
        case Contributor::positions:
            return message("positions");
        case Contributor::head:
            return message("{tensor}, head {head}", {{"tensor", writer.tensor}, {"head", writer.head.value_or(0)}});
        case Contributor::expert:
            return message("{tensor}, expert {expert}",
                           {{"tensor", writer.tensor}, {"expert", writer.expert.value_or(0)}});
        case Contributor::shared:
            return message("{tensor}, the rest", {{"tensor", writer.tensor}});
        case Contributor::attention_bias:
            return message("{tensor}, its bias", {{"tensor", writer.tensor}});
        case Contributor::norm:
            return message("{tensor}, the norm", {{"tensor", writer.tensor}});
        case Contributor::norm_shift:
            return message("{tensor}, its shift", {{"tensor", writer.tensor}});
        case Contributor::scale:
            return message("{tensor}, the stream's factor", {{"tensor", writer.tensor}});
        case Contributor::edit:
            return message("{tensor}, edited", {{"tensor", writer.tensor}});
        case Contributor::attention:
        case Contributor::mlp:
        case Contributor::head_bias:
            break;
    }
    return Sentence::verbatim(writer.tensor);
}

std::vector<double> row_at(const Tensor& tensor, Index batch, Index position) {
    const std::size_t rank = tensor.rank();
    const Index width = tensor.axes().back().size;
    const Index row = rank == 1 ? 0 : rank == 2 ? position : batch * tensor.dim(1) + position;
    const auto values = tensor.values().subspan(static_cast<std::size_t>(row * width), static_cast<std::size_t>(width));
    return {values.begin(), values.end()};
}

std::vector<double> row_before_edits(const Run& run, const Step& step, Index batch, Index position) {
    return row_at(step.operation.compute(run.operands_of(step.id), step.axes), batch, position);
}

const Step& origin_of_update(const Plan& plan, const Step& update) {
    const Step* origin = &update;
    while (origin->operation.traits().norm) origin = &plan[*origin->operand(OperandRole::input)];
    return *origin;
}

UpdateParts parts_of_update(const Run& run, const Step& update, Index batch, Index position) {
    const Plan& plan = run.plan();
    const Step& origin = origin_of_update(plan, update);
    if (const auto mixture = mixture_of(plan, origin); mixture && has_values(run, *mixture)) {
        UpdateParts made = experts_of(run, *mixture, update, batch, position);
        if (made.rest || add_up(made, row_at(run.value(update.id), batch, position))) return made;
    }
    if (origin.part == Part::mlp) return whole(run, Contributor::mlp, update, batch, position);
    if (origin.attention.empty()) {
        const bool everywhere = update.axes.size() == 2;  // [pos, d_model]
        return whole(run, everywhere ? Contributor::positions : Contributor::embedding, update, batch, position);
    }
    if (const Ref results = results_of(plan, origin)) return heads_of(run, *results, origin, update, batch, position);
    return whole(run, Contributor::attention, update, batch, position);
}

}  // namespace decoderscope::core::step
