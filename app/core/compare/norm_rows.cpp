#include "app/core/compare/norm_rows.h"

#include "app/core/run/passes_of_text.h"
#include "app/core/text/numbers.h"
#include "app/core/text/token_text.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

namespace decoderscope::core::norms {

namespace {

double distance_of(const PositionMove& move) {
    return std::isnan(move.largest) ? std::numeric_limits<double>::infinity() : move.largest;
}

Disagreements disagreements_of(const OutputMoves& moves) {
    Disagreements found{.changed = static_cast<Index>(moves.changed.size()),
                        .all = moves.positions,
                        .both_nan = moves.stays_nan,
                        .predicts = moves.predicts};
    for (const PositionMove& move : moves.all)
        if (move.counts && move.largest != 0.0) found.positions.push_back(move);
    std::ranges::stable_sort(found.positions, [](const PositionMove& a, const PositionMove& b) {
        return std::make_tuple(!a.changes_prediction(), -distance_of(a)) <
               std::make_tuple(!b.changes_prediction(), -distance_of(b));
    });
    return found;
}

Resumable<Disagreements> compare_answers(std::shared_ptr<const Run> left, std::shared_ptr<const Run> right,
                                         Tensor attention_mask) {
    co_return disagreements_of(co_await output_moves(std::move(left), std::move(right), std::move(attention_mask)));
}

std::vector<float> row_of(const Tensor& x, Index batch, Index pos) {
    const Index n = x.dim(2);
    const float* first = x.data() + (batch * x.dim(1) + pos) * n;
    return {first, first + n};
}

std::vector<float> all_of(const Tensor& x) { return {x.values().begin(), x.values().end()}; }

double mean_of(const std::vector<float>& row) {
    double sum = 0.0;
    for (const float x : row) sum += static_cast<double>(x);
    return sum / static_cast<double>(row.size());
}

double mean_square_about(const std::vector<float>& row, double centre) {
    double sum = 0.0;
    for (const float x : row) sum += (static_cast<double>(x) - centre) * (static_cast<double>(x) - centre);
    return sum / static_cast<double>(row.size());
}

double length(const std::vector<float>& row) {
    return std::sqrt(mean_square_about(row, 0.0) * static_cast<double>(row.size()));
}

void measure(NormRow& row) {
    const auto deviation = [&](const std::vector<float>& values, double mean) {
        return std::sqrt(mean_square_about(values, row.centred ? mean : 0.0));
    };
    row.mean = mean_of(row.before);
    row.centre = row.centred ? row.mean : 0.0;
    row.variance = mean_square_about(row.before, row.centre);
    const auto n = static_cast<double>(row.before.size());
    if (row.unbiased) row.variance *= n / (n - 1.0);
    row.deviation = std::sqrt(row.variance);
    for (const float x : row.before)
        row.unit.push_back(static_cast<float>((static_cast<double>(x) - row.centre) / row.scale));
    row.unit_mean = mean_of(row.unit);
    row.unit_deviation = deviation(row.unit, row.unit_mean);
    row.after_mean = mean_of(row.after);
    row.after_deviation = deviation(row.after, row.after_mean);
    row.length_before = length(row.before);
    row.length_after = length(row.after);
}

InspectedNorm inspect(const Run& run, const Step& step, const Cell& cell) {
    const Traits traits = step.operation.traits();
    if (!traits.norm && !traits.scale) return {};
    return step.lens.empty() ? InspectedNorm{norm_row(run, step.norm, cell[0], cell[1])} : InspectedNorm();
}

// "pre-norm": tells a run's pictures in names of files.
std::string file_word(std::string name) {
    for (char& c : name)
        c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? static_cast<char>(std::tolower(c)) : '-';
    return name;
}

// Names a heatmap by its run, to tell both runs apart.
Panel named(const std::string& tensor, const std::string& which, Heatmap heatmap) {
    heatmap.subtitle += (heatmap.subtitle.empty() ? "" : ", ") + which;
    return panel_of(tensor + "." + which, std::move(heatmap));
}

Heatmap strip_of(const std::string& title, const std::vector<float>& values) {
    Heatmap heatmap{.title = title, .row_axis = "", .column_axis = std::string(axis::d_model)};
    heatmap.rows = 1;
    heatmap.columns = static_cast<Index>(values.size());
    heatmap.row_labels = {""};
    for (Index i = 0; i < heatmap.columns; ++i) heatmap.column_labels.push_back(std::to_string(i));
    heatmap.values = values;
    heatmap.range = range_of(values, Scale::diverging);
    return heatmap;
}

}  // namespace

Value<Disagreements> shown_disagreements(Derived& derived, const Both<Side>& runs) {
    return derived.later<Disagreements>({runs.left.run, runs.right.run}, std::tuple<>(), [&] {
        return compare_answers(runs.left.run, runs.right.run, padding_of(runs.left.scenario));
    });
}

Sentence disagreements_sentence(const Disagreements& disagreements) {
    if (!disagreements.predicts) return {};
    const Sentence differ = message_n("Their predictions differ at {changed} of {count} position.",
                                      "Their predictions differ at {changed} of {count} positions.", disagreements.all,
                                      {{"changed", disagreements.changed}});
    if (disagreements.both_nan == 0) return differ;
    const Sentence nan =
        message_n("Both are NaN at {count} of {all} positions.", "Both are NaN at {count} of {all} positions.",
                  disagreements.both_nan, {{"all", disagreements.all}});
    return disagreements.both_nan == disagreements.all ? nan
                                                       : message("{differ} {nan}", {{"differ", differ}, {"nan", nan}});
}

Sentence disagreement_sentence(const Scenario& scenario, const PositionMove& move) {
    const auto named = [&](const std::optional<Index>& token) {
        return token ? "“" + token_text(scenario.tokenizer(), *token) + "”" : std::string("NaN");
    };
    const Arguments arguments = {{"row", move.batch},
                                 {"position", move.position},
                                 {"left", named(move.before)},
                                 {"right", named(move.after)},
                                 {"largest", short_number_text(move.largest, 3)}};
    if (move.changes_prediction())
        return message("row {row}, position {position}: {left} → {right}; logits {largest} apart", arguments);
    if (!move.moved()) return message("row {row}, position {position}: NaN in both", arguments);
    return message("row {row}, position {position}: both {left}; logits {largest} apart", arguments);
}

std::vector<std::string> norms_of_block(const Plan& plan, const std::string& block, StackKind stack) {
    std::vector<std::string> norms;
    for (const Step& step : plan.steps()) {
        const bool in_block = !step.block.empty() && step.block == block;
        const bool final_norm = step.block.empty() && step.lens.empty() && step.stack == stack;
        if (step.operation.traits().norm && (in_block || final_norm)) norms.push_back(step.norm);
    }
    return norms;
}

std::optional<NormRow> norm_row(const Run& run, const std::string& norm, Index batch, Index pos) {
    const Plan& plan = run.plan();
    const Ref normalized = plan.step_of(norm, NormStep::normalized), scale = plan.step_of(norm, NormStep::scale);
    if (normalized == nullptr || scale == nullptr) return std::nullopt;
    const Tensor& after = run.value(normalized->id);
    if (after.empty() || !after.contains(Cell{batch, pos, 0})) return std::nullopt;
    const std::optional<NormFacts> facts = normalized->operation.traits().norm;
    const std::optional<ScaleFacts> scaled = scale->operation.traits().scale;
    if (!facts || !scaled) return std::nullopt;
    const Ref before = plan.operand(*normalized, OperandRole::input);
    const Ref gain = plan.operand(*normalized, OperandRole::gain),
              shift = plan.operand(*normalized, OperandRole::shift);
    if (before == nullptr) return std::nullopt;
    NormRow row;
    row.norm = norm;
    row.centred = facts->centred;
    row.before_step = before->name;
    row.after_step = normalized->name;
    row.before = row_of(run.value(before->id), batch, pos);
    row.after = row_of(after, batch, pos);
    row.gain.assign(row.after.size(), 1.0F);  // norm_gain is off
    if (gain != nullptr) {
        row.gain = all_of(run.value(gain->id));
        for (float& value : row.gain) value += facts->gain_offset;
        row.gain_parameter = gain->name;
    }
    if (shift != nullptr) {
        row.shift = all_of(run.value(shift->id));
        row.shift_parameter = shift->name;
    }
    row.eps = scaled->eps;
    row.eps_outside = scaled->eps_outside;
    row.unbiased = scaled->unbiased;
    row.scale = static_cast<double>(run.value(scale->id).at(Cell{batch, pos, 0}));
    measure(row);
    return row;
}

std::string norm_row_sentence(const NormRow& row) {
    if (!std::isfinite(row.scale)) return tr("receives and propagates non-finite values.");
    const std::string divided = tr(row.eps > 0.1 * (row.eps_outside ? row.deviation : row.variance)
                                       ? message("divides by {scale} (length {before} → {after}; eps matters).")
                                       : message("divides by {scale} (length {before} → {after})."),
                                   {{"scale", number_text(row.scale, 3)},
                                    {"before", number_text(row.length_before, 3)},
                                    {"after", number_text(row.length_after, 3)}});
    if (!row.centred) return divided;
    return tr("subtracts the mean {mean} and {divides}", {{"mean", number_text(row.mean, 2)}, {"divides", divided}});
}

Value<InspectedNorm> inspected_norm(Derived& derived, const Snapshot& shown, const Step& step, const Cell& cell) {
    return derived.get<InspectedNorm>(Origins(shown.run), std::tie(step.id, cell),
                                      [&] { return inspect(*shown.run, step, cell); });
}

Value<Both<std::optional<NormRow>>> norm_rows(Derived& derived, const Both<Side>& runs, const std::string& norm,
                                              Index batch, Index pos) {
    using Rows = Both<std::optional<NormRow>>;
    return derived.get<Rows>({runs.left.run, runs.right.run}, std::tie(norm, batch, pos), [&] {
        return Rows{norm_row(*runs.left.run, norm, batch, pos), norm_row(*runs.right.run, norm, batch, pos)};
    });
}

std::optional<Exhibit> norm_row_exhibit(const Both<Side>& runs, const std::string& norm, Index batch, Index pos) {
    const std::string where = "batch " + std::to_string(batch) + ", pos " + std::to_string(pos);
    Exhibit exhibit{.title = norm, .subtitle = tr("{where}: a row before and after the norm", {{"where", where}})};
    exhibit.columns = 1;
    exhibit.caption = caption_of(runs.left.scenario, norm, where);
    for (const Side* side : {&runs.left, &runs.right}) {
        const std::optional<NormRow> row = norm_row(*side->run, norm, batch, pos);
        if (!row) continue;
        const std::string which = file_word(tr(side->name));
        exhibit.panels.push_back(named(norm + ".before", which, strip_of(row->before_step, row->before)));
        exhibit.panels.push_back(
            named(norm + ".unit", which, strip_of(row->centred ? "(x − mean) ÷ scale" : "x ÷ scale", row->unit)));
        exhibit.panels.push_back(named(row->after_step, which, strip_of(row->after_step, row->after)));
        exhibit.caption += " · " + which + ": " + norm_row_sentence(*row);
    }
    if (exhibit.panels.empty()) return std::nullopt;
    return exhibit;
}

}  // namespace decoderscope::core::norms
