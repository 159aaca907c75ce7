#include "app/core/tabs/norms/shown_norms.h"

#include "app/core/figure/colormap.h"
#include "app/core/figure/figure_canvas.h"
#include "app/core/run/comparison.h"
#include "app/core/run/labels.h"
#include "app/core/run/passes_of_text.h"
#include "app/core/text/numbers.h"
#include "app/core/text/token_text.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <tuple>
#include <utility>

namespace decoderscope::core::norms {

namespace {

// The length of a row of [batch, pos, d_model]; nothing if the tensor has no such row.
std::optional<double> length_at(const Tensor& rows, Index batch, Index position) {
    if (rows.rank() != 3 || batch >= rows.dim(0) || position >= rows.dim(1)) return std::nullopt;
    double squares = 0.0;
    for (const float x : rows.row({batch, position, 0})) squares += static_cast<double>(x) * static_cast<double>(x);
    return std::sqrt(squares);
}

bool is_stream(const Step& step, StackKind stack) {
    return step.stack == stack && !step.block.empty() && !step.backward &&
           (step.part == Part::residual_stream || step.part == Part::add);
}

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

// The mask whose zeros leave cells of this step out; an empty tensor if none applies.
const Tensor& mask_of(const Run& run, const Step& step) {
    static const Tensor none;
    const bool masked = step.masked_by && step.masked_by != step.id;
    return masked ? run.value(*step.masked_by) : none;
}

// Differences over the whole tensor; 0 where a mask hides the cell.
std::vector<float> differences(const Tensor& a, const Tensor& b, const Tensor& mask_a, const Tensor& mask_b) {
    std::vector<float> values(static_cast<std::size_t>(a.size()));
    for (Index i = 0; i < a.size(); ++i) {
        const bool hidden =
            (!mask_a.empty() && mask_a.data()[i] == 0.0F) || (!mask_b.empty() && mask_b.data()[i] == 0.0F);
        values[static_cast<std::size_t>(i)] = hidden ? 0.0F : signed_difference(a.data()[i], b.data()[i]);
    }
    return values;
}

void measure(StepPair& pair, const Tensor& differences, Index shown_cells) {
    double sum = 0.0;
    Index at = 0;
    for (Index i = 0; i < differences.size(); ++i) {
        const double size = std::abs(static_cast<double>(differences.data()[i]));
        sum += size;
        if (size > pair.largest || (std::isnan(size) && !std::isnan(pair.largest))) {
            pair.largest = size;
            at = i;
        }
    }
    pair.mean = shown_cells > 0 ? sum / static_cast<double>(shown_cells) : 0.0;
    pair.where = differences.cell(at);
}

Index cells_seen(Index all, const Tensor& mask_a, const Tensor& mask_b) {
    if (mask_a.empty() || mask_b.empty()) return all;
    Index seen = 0;
    for (Index i = 0; i < all; ++i) seen += mask_a.data()[i] != 0.0F && mask_b.data()[i] != 0.0F ? 1 : 0;
    return seen;
}

struct OwnNormEps {
    double eps = 0.0;
};

std::vector<step::OutlinePart> parts_of(const Companion& companion, const std::string& block) {
    for (step::OutlineBlock& outlined : step::outline_of(companion.run->plan()))
        if (outlined.name == block) return std::move(outlined.parts);
    return {};
}

std::optional<StepPair> compared(const BothNorms<Companion>& runs, const std::string& step, Place place) {
    auto pair = step_pair(runs.left.scenario, *runs.left.run, runs.right.scenario, *runs.right.run, step, place);
    if (!pair) return pair;
    const auto title = [](const Companion& run) {
        return std::string(tr(place_of_norms(run.scenario.config().placement()).title));
    };
    pair->a.title = title(runs.left);
    pair->b.title = title(runs.right);
    pair->difference.title = pair->a.title + " − " + pair->b.title;
    return pair;
}

// Mixed with grey by a share: the same hue, paler, on light and on dark ground.
Rgba paler(Rgba color, double share) {
    const auto mixed = [share](std::uint8_t c) { return static_cast<std::uint8_t>(c + share * (170.0 - c)); };
    return {mixed(color.r), mixed(color.g), mixed(color.b), 255};
}

Rgba color_of_curve(const DepthCurve& curve, std::size_t number) {
    if (curve.part == Part::residual_stream) return figure::inks(false).text;
    const Rgba color = meaning_color(curve.meaning);
    if (curve.meaning == Meaning::norm)
        return paler(color, 0.3 * static_cast<double>(std::min<std::size_t>(number, 2)));
    return curve.part == Part::cross_attention ? paler(color, 0.5) : color;
}

// The same measure of both runs: the first solid, the second dashed.
void add_curves(Chart& chart, std::span<const DepthCurve> left, std::span<const DepthCurve> right,
                const Places& places) {
    const std::string first = tr(place_of_norms(places.left).title), second = tr(place_of_norms(places.right).title);
    for (std::size_t i = 0; i < right.size(); ++i)
        chart.curves.push_back({second, right[i], color_of_curve(right[i], i), true});
    for (std::size_t i = 0; i < left.size(); ++i)
        chart.curves.push_back({first, left[i], color_of_curve(left[i], i), false});
}

const PlaceOfNorms& norms_place_of(const ShownRun& shown) {
    return place_of_norms(shown.scenario.config().placement());
}

// "pre-norm": tells a run's pictures in names of files.
std::string file_name_of(const ShownRun& shown) { return std::string(norms_place_of(shown).word) + "-norm"; }

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

std::vector<StreamLength> stream_lengths(const Run& run, StackKind stack, Index batch, Index position) {
    std::vector<StreamLength> lengths;
    for (const Step& step : run.plan().steps()) {
        if (!is_stream(step, stack) || run.value(step.id).empty()) continue;
        const std::optional<double> length = length_at(run.value(step.id), batch, position);
        if (!length) continue;
        if (lengths.empty()) lengths.push_back({step.name, "", *length});
        if (step.part != Part::add) continue;
        // The last sum of a block is what it leaves.
        if (lengths.back().block == step.block)
            lengths.back() = {step.name, step.block, *length};
        else
            lengths.push_back({step.name, step.block, *length});
    }
    return lengths;
}

Value<Disagreements> shown_disagreements(Derived& derived, const BothNorms<Companion>& runs) {
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

std::optional<StepPair> step_pair(const Scenario& a, const Run& run_a, const Scenario& b, const Run& run_b,
                                  const std::string& step, Place place) {
    const Ref in_a = run_a.plan().find(step), in_b = run_b.plan().find(step);
    if (in_a == nullptr || in_b == nullptr || in_a->axes != in_b->axes) return std::nullopt;
    const Tensor& values_a = run_a.value(in_a->id);
    const Tensor& values_b = run_b.value(in_b->id);
    if (values_a.empty() || values_b.empty()) return std::nullopt;
    StepPair pair{heatmap_of(a, run_a, *in_a, place), heatmap_of(b, run_b, *in_b, place), {}};
    pair.a.range = pair.b.range = spanning(pair.a.range, pair.b.range);

    const Slice slice = slice_of(*in_a, place, a.query_heads());
    const Tensor& mask_a = mask_of(run_a, *in_a);
    const Tensor& mask_b = mask_of(run_b, *in_b);
    const Tensor all(in_a->axes, differences(values_a, values_b, mask_a, mask_b));
    measure(pair, all, cells_seen(all.size(), mask_a, mask_b));
    pair.difference = pair.a;
    pair.difference.scale = Scale::diverging;
    pair.difference.range = range_of(all.values(), Scale::diverging);
    std::copy_n(all.data() + all.offset(slice.cell(0, 0)), pair.difference.values.size(),
                pair.difference.values.begin());
    for (std::size_t i = 0; i < pair.difference.hidden.size(); ++i) pair.difference.hidden[i] |= pair.b.hidden[i];
    return pair;
}

std::string pair_sentence(const StepPair& pair, const std::string& step) {
    if (pair.largest == 0.0) return tr("The same numbers in both: up to here the norm placement has changed nothing.");
    if (std::isnan(pair.largest))
        return tr("One or both are NaN, first at {cell}: that can't be compared.",
                  {{"cell", cell_name(step, pair.where)}});
    return tr("They differ by {largest} at most, at {cell}, and by {mean} on average.",
              {{"largest", number_text(pair.largest, 3)},
               {"cell", cell_name(step, pair.where)},
               {"mean", number_text(pair.mean, 3)}});
}

double own_norm_eps(Derived& derived, const Scenario& scenario) {
    const auto& model = scenario.model();
    return derived.get<OwnNormEps>({model}, std::tuple<>(), [&] { return OwnNormEps{model->config().layer_norm_eps}; })
        ->eps;
}

Value<BothNorms<DepthCurves>> norm_curves(Derived& derived, const BothNorms<Companion>& runs, StackKind stack) {
    using Curves = BothNorms<DepthCurves>;
    return derived.get<Curves>({runs.left.run, runs.right.run}, std::tie(stack), [&] {
        return Curves{depth_curves(*runs.left.run, stack), depth_curves(*runs.right.run, stack)};
    });
}

Value<BothNorms<std::vector<step::OutlinePart>>> norm_diagrams(Derived& derived, const BothNorms<Companion>& runs,
                                                               const std::string& block) {
    using Diagrams = BothNorms<std::vector<step::OutlinePart>>;
    return derived.get<Diagrams>({runs.left.run, runs.right.run}, std::tie(block), [&] {
        return Diagrams{parts_of(runs.left, block), parts_of(runs.right, block)};
    });
}

Value<std::optional<StepPair>> norm_step_pair(Derived& derived, const BothNorms<Companion>& runs,
                                              const std::string& step, Place place) {
    return derived.get<std::optional<StepPair>>({runs.left.run, runs.right.run}, std::tie(step, place),
                                                [&] { return compared(runs, step, place); });
}

Value<BothNorms<std::optional<NormRow>>> norm_rows(Derived& derived, const BothNorms<Companion>& runs,
                                                   const std::string& norm, Index batch, Index pos) {
    using Rows = BothNorms<std::optional<NormRow>>;
    return derived.get<Rows>({runs.left.run, runs.right.run}, std::tie(norm, batch, pos), [&] {
        return Rows{norm_row(*runs.left.run, norm, batch, pos), norm_row(*runs.right.run, norm, batch, pos)};
    });
}

Exhibit depth_exhibit(const Scenario& own, const DepthCurves& left, const DepthCurves& right, const Places& places) {
    const Index blocks = std::max(left.blocks, right.blocks);
    Exhibit exhibit{
        .title = tr("Norms by depth"),
        .subtitle = tr("{first} and {second} on the same weights and input",
                       {{"first", place_of_norms(places.left).title}, {"second", place_of_norms(places.right).title}})};
    exhibit.caption = caption_of(own, tr("the residual stream, its updates and its norms by block"), "");
    for (const DepthMeasure& measure : depth_measures()) {
        exhibit.charts.push_back(
            {measure.id, tr(measure.title), tr(measure.caption), blocks, measure.may_be_logarithmic, {}});
        add_curves(exhibit.charts.back(), measure.curves(left), measure.curves(right), places);
    }
    return exhibit;
}

std::optional<Exhibit> norms_step_exhibit(const ShownRun& left, const ShownRun& right, const std::string& step,
                                          Place place) {
    const std::optional<StepPair> pair = step_pair(left.scenario, *left.run, right.scenario, *right.run, step, place);
    if (!pair) return std::nullopt;
    Exhibit exhibit{.title = step,
                    .subtitle = tr("{first}, {second}, and the difference",
                                   {{"first", norms_place_of(left).title}, {"second", norms_place_of(right).title}})};
    exhibit.caption = caption_of(left.scenario, step, pair->a.subtitle) + " · " + pair_sentence(*pair, step);
    exhibit.panels = {named(step, file_name_of(left), pair->a), named(step, file_name_of(right), pair->b),
                      named(step, "difference", pair->difference)};
    exhibit.columns = 3;
    return exhibit;
}

std::optional<Exhibit> norm_row_exhibit(const ShownRun& left, const ShownRun& right, const std::string& norm,
                                        Index batch, Index pos) {
    const std::string where = "batch " + std::to_string(batch) + ", pos " + std::to_string(pos);
    Exhibit exhibit{.title = norm, .subtitle = tr("{where}: a row before and after the norm", {{"where", where}})};
    exhibit.columns = 1;
    exhibit.caption = caption_of(left.scenario, norm, where);
    for (const ShownRun* run : {&left, &right}) {
        const std::string which = file_name_of(*run);
        const std::optional<NormRow> row = norm_row(*run->run, norm, batch, pos);
        if (!row) continue;
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
