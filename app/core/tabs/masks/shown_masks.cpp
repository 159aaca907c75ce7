#include "app/core/tabs/masks/shown_masks.h"

#include "app/core/run/labels.h"
#include "app/core/run/step_picture.h"
#include "app/core/tabs/step/shown_step.h"
#include "app/core/text/numbers.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

namespace decoderscope::core::masks {

namespace {

std::size_t offset_of(const Heatmap& heatmap, Index row, Index column) {
    return static_cast<std::size_t>(row * heatmap.columns + column);
}

// The kinds of masks, in the order in which they are shown.
struct Kind {
    std::uint8_t cause;
    const char* name;
    Phrase there, absent;
    bool rare = false;  // not worth a word if there is none
};
constexpr std::array<Kind, 5> kKinds = {
    {{hidden_by::causal, "causal", message("causal"), message("not causal")},
     {hidden_by::window, "window", message("sliding window"), message("no sliding window"), true},
     {hidden_by::segments, "segments", message("documents"), message("one document"), true},
     {hidden_by::padding, "padding", message("padding"), message("no padding")},
     {hidden_by::hand, "drawn", message("drawn"), message("none drawn")}}};

void hide(Heatmap& heatmap, std::size_t offset, int causes) {
    if (causes == hidden_by::nothing) return;
    heatmap.values[offset] = 0.0F;
    heatmap.hidden[offset] |= static_cast<std::uint8_t>(causes);
}

// The same axes and labels, with every cell kept.
Heatmap all_kept(const Heatmap& like, std::string title) {
    Heatmap heatmap = like;
    heatmap.title = std::move(title);
    std::fill(heatmap.values.begin(), heatmap.values.end(), 1.0F);
    std::fill(heatmap.hidden.begin(), heatmap.hidden.end(), hidden_by::nothing);
    return heatmap;
}

// In the language of the moment: a file is written in English.
void name_leaks(Heatmap& heatmap) {
    heatmap.title = tr("leak test");
    heatmap.row_axis = tr("changed");
    heatmap.column_axis = tr("position");
}

// One row of scores, mask and pattern: one number per key.
struct Row {
    std::span<const float> scores, mask, pattern;

    [[nodiscard]] bool masked(std::size_t key) const { return mask[key] == 0.0F; }
    [[nodiscard]] bool empty() const {
        return std::all_of(mask.begin(), mask.end(), [](float kept) { return kept == 0.0F; });
    }
};

std::span<const float> row_of(const Tensor& tensor, const Slice& slice, Index query) {
    return tensor.values().subspan(static_cast<std::size_t>(tensor.offset(slice.cell(query, 0))),
                                   static_cast<std::size_t>(slice.columns()));
}

EmptyRow empty_row(Index query, std::span<const float> weights) {
    const auto [least, most] = std::minmax_element(weights.begin(), weights.end());
    const bool nan = std::any_of(weights.begin(), weights.end(), [](float weight) { return std::isnan(weight); });
    return nan ? EmptyRow{query, true, 0.0F, 0.0F} : EmptyRow{query, false, *least, *most};
}

// The weight on a row's masked keys.
float leak_of(const Row& row) {
    double sum = 0.0;
    for (std::size_t key = 0; key < row.mask.size(); ++key)
        if (row.masked(key)) sum += static_cast<double>(row.pattern[key]);
    return static_cast<float>(sum);
}

void measure_kept(FillConsequences& found, Index query, const Row& row) {
    for (std::size_t key = 0; key < row.mask.size(); ++key) {
        if (row.masked(key)) continue;
        found.lowest_kept = std::min(found.lowest_kept, row.scores[key]);
        if (std::isfinite(found.fill) && row.scores[key] <= found.fill) found.below.emplace_back(query, key);
    }
}

// Many at a time: as an integer without its sign, a NaN is larger than ∞.
bool holds_nan(std::span<const float> values) {
    std::uint32_t largest = 0;
    for (const float value : values) largest = std::max(largest, std::bit_cast<std::uint32_t>(value) & 0x7fffffffU);
    return largest > 0x7f800000U;
}

NanStep nan_step(const Step& step, const Tensor& tensor, std::span<const float> values) {
    const auto is_nan = [](float value) { return std::isnan(value); };
    const Index count = std::count_if(values.begin(), values.end(), is_nan);
    const Index first = std::find_if(values.begin(), values.end(), is_nan) - values.begin();
    return {step.id, step.name, count, tensor.size(), tensor.cell(first)};
}

// Masks and masked scores that were not read yet hold NaN only where the scores do.
bool is_free_of_nan(const Step& step, const std::vector<NanStep>& trail, const Tensor& tensor) {
    if (tensor.is_ready() || !step.patches.empty()) return false;
    const Traits traits = step.operation.traits();
    if (traits.values == Values::mask) return true;
    return traits.fill &&
           std::ranges::none_of(trail, [&](const NanStep& one) { return one.id == step.operand(OperandRole::scores); });
}

// A run with more bytes than this is searched for NaN in the background.
constexpr std::size_t kSearchedAtOnce = 20'000'000;
MaskPicture picture_of(const Snapshot& shown, const Step& step, const char* title, Place place) {
    step::ShownHeatmap made = step::new_heatmap(shown, step, place);
    MaskPicture picture{&step, std::move(made.heatmap), std::move(made.changed), step.axes.back().name == axis::key};
    picture.heatmap.title = title;
    return picture;
}

// A mask of more cells than this is read in the background.
constexpr Index kReadAtOnce = 500'000;

Resumable<ShownMasks> masks_of(Snapshot shown, std::string attention, Place place) {
    const Plan& plan = shown.run->plan();
    const Axes& axes = plan.step_of(attention, AttentionStep::mask)->axes;
    if (axes[2].size * axes[3].size > kReadAtOnce) co_yield kPause;
    const auto picture = [&](AttentionStep which, const char* title) {
        return picture_of(shown, *plan.step_of(attention, which), title, place);
    };
    ShownMasks made;
    made.parts = mask_parts(shown.scenario, *shown.run, attention, place);
    made.raw = picture(AttentionStep::scores, tr("raw scores"));
    made.masked = picture(AttentionStep::masked_scores, tr("masked scores"));
    made.pattern = picture(AttentionStep::pattern, tr("pattern"));
    made.output = picture(AttentionStep::z, tr("output z"));
    const Config& config = shown.scenario.config();
    made.fill = fill_consequences(*shown.run, attention, place, config.nhead, config.mask_value);
    co_return made;
}

Resumable<NanTrail> search(std::shared_ptr<const Run> run, Value<NanTrail> known) {
    if (run->recorded_bytes() > kSearchedAtOnce) co_yield kPause;
    NanTrail made;
    made.run = run;
    made.steps = known ? nan_trail(*run, *known->run, known->steps) : nan_trail(*run);
    co_return made;
}

std::string place_text(Place place) {
    return "batch " + std::to_string(place.batch) + ", head " + std::to_string(place.head);
}

}  // namespace

MaskParts mask_parts(const Scenario& scenario, const Run& run, const std::string& attention, Place place) {
    const Step& mask = *run.plan().step_of(attention, AttentionStep::mask);
    const Masks acting = mask.operation.traits().masks.value_or(Masks{0});
    const Operands operands = run.operands_of(mask.id);
    const Slice slice = slice_of(mask, place, scenario.query_heads());
    MaskParts parts;
    parts.combined = heatmap_of(scenario, run, mask, place);
    // Kept cells are drawn quietly, so that what the mask hides stands out.
    parts.combined.scale = Scale::diverging;
    parts.combined.range = {-1e3F, 1e3F};
    for (const Kind& kind : kKinds) {
        const bool there = (acting & (kind.cause == hidden_by::hand ? hidden_by::custom : kind.cause)) != 0;
        if (there || !kind.rare)
            parts.single.push_back(
                {kind.cause, kind.name, there, all_kept(parts.combined, tr(there ? kind.there : kind.absent))});
    }
    parts.combined.title = tr("combined");
    const std::vector<std::uint8_t>& painted = parts.painted = painted_cells(mask, slice);
    parts.opened.assign(parts.combined.values.size(), 0);
    for (Index query = 0; query < slice.rows(); ++query) {
        for (Index key = 0; key < slice.columns(); ++key) {
            const std::size_t at = offset_of(parts.combined, query, key);
            const Masks hiding = mask.operation.hidden_by(operands, slice.cell(query, key));
            const bool kept = parts.combined.values[at] != 0.0F, by_hand = painted[at] != 0;
            for (SingleMask& single : parts.single) hide(single.heatmap, at, hiding & single.cause);
            Heatmap& drawn = parts.single.back().heatmap;
            if (!(by_hand && kept)) hide(drawn, at, hiding & hidden_by::custom);
            if (by_hand && !kept) hide(drawn, at, hidden_by::hand);
            parts.opened[at] = kept && hiding != 0 ? 1 : 0;
            parts.hidden += kept ? 0 : 1;
        }
    }
    // What was painted is there if it changes something here.
    SingleMask& drawn = parts.single.back();
    if (drawn.hides() || std::ranges::find(parts.opened, 1) != parts.opened.end()) {
        drawn.is_there = true;
        drawn.heatmap.title = tr(kKinds.back().there);
    }
    return parts;
}

bool SingleMask::hides() const { return std::ranges::find(heatmap.values, 0.0F) != heatmap.values.end(); }

const SingleMask& MaskParts::of(std::uint8_t cause) const {
    return *std::ranges::find(single, cause, &SingleMask::cause);
}

std::vector<const SingleMask*> MaskParts::apart() const {
    std::vector<const SingleMask*> hiding;
    for (const SingleMask& mask : single)
        if (&mask != &drawn() && mask.hides()) hiding.push_back(&mask);
    return hiding.size() == 1 ? std::vector<const SingleMask*>{} : hiding;
}

FillConsequences fill_consequences(const Run& run, const std::string& attention, Place place, Index nhead, float fill) {
    const Slice slice = slice_of(*run.plan().step_of(attention, AttentionStep::mask), place, nhead);
    const Step& filled = *run.plan().step_of(attention, AttentionStep::masked_scores);
    // Before the mask. A formula by hand doesn't say which of its operands they are.
    const Tensor& scores = filled.operand(OperandRole::scores) ? run.operand(filled, OperandRole::scores)
                                                               : run.value(attention, AttentionStep::scores);
    const Tensor& pattern = run.value(attention, AttentionStep::pattern);
    MaskRows mask(run.value(attention, AttentionStep::mask));
    FillConsequences found;
    found.fill = fill;
    found.cells = slice.rows() * slice.columns();
    found.lowest_kept = std::numeric_limits<float>::infinity();
    for (Index query = 0; query < slice.rows(); ++query) {
        const Row row = {row_of(scores, slice, query), mask.row(slice.fixed[0], slice.fixed[1], query),
                         row_of(pattern, slice, query)};
        found.masked += std::count(row.mask.begin(), row.mask.end(), 0.0F);
        found.leaks.push_back(0.0F);
        if (row.empty()) {
            found.empty_rows.push_back(empty_row(query, row.pattern));
            continue;
        }
        measure_kept(found, query, row);
        const float leak = leak_of(row);
        found.leaks.back() = leak;
        if (leak > found.largest_leak) {
            found.largest_leak = leak;
            found.leakiest_query = query;
        }
    }
    return found;
}

std::vector<NanStep> nan_trail(const Run& run) { return nan_trail(run, Run(run.shared_plan()), {}); }

std::vector<NanStep> nan_trail(const Run& run, const Run& earlier, const std::vector<NanStep>& known) {
    std::vector<NanStep> trail;
    Reader read;  // what was not read yet is computed temporarily, and not kept
    for (const Step& step : run.plan().steps()) {
        const Tensor& tensor = run.value(step.id);
        if (step.is_source() || tensor.empty()) continue;
        if (tensor.shares_values_with(earlier.value(step.name))) {
            const auto found =
                std::find_if(known.begin(), known.end(), [&](const NanStep& one) { return one.name == step.name; });
            if (found != known.end()) trail.push_back({step.id, step.name, found->count, found->size, found->first});
        } else if (!is_free_of_nan(step, trail, tensor)) {
            const std::span<const float> values = read(tensor);
            if (holds_nan(values)) trail.push_back(nan_step(step, tensor, values));
        }
    }
    return trail;
}

Value<ShownMasks> shown_masks(Derived& derived, const Snapshot& shown, const std::string& attention, Place place) {
    return derived.later<ShownMasks>({shown.run, shown.unedited, shown.early}, std::tie(attention, place),
                                     [&] { return masks_of(shown, attention, place); });
}

Value<NanTrail> shown_nan_trail(Derived& derived, const std::shared_ptr<const Run>& run) {
    return derived.later<NanTrail>({run}, std::tuple<>(),
                                   [&] { return search(run, derived.latest<NanTrail>(std::tuple<>())); });
}

Value<Variation> shown_leak_variation(Derived& derived, const Scenario& scenario, const std::shared_ptr<const Run>& run,
                                      Index batch, Index position) {
    return derived.get<Variation>({run}, std::tie(batch, position),
                                  [&] { return checks::leak_variation(scenario, *run, batch, position); });
}

Value<checks::Leak> shown_leak(Derived& derived, const std::shared_ptr<const Run>& run,
                               const std::shared_ptr<const Run>& changed, Index batch, Index position) {
    return derived.later<checks::Leak>({run, changed}, std::tie(batch, position),
                                       [&] { return checks::leak_between(run, changed, batch, position); });
}

Value<checks::LeaksBack> shown_leaks_back(Derived& derived, const Snapshot& shown, Index batch) {
    return derived.later<checks::LeaksBack>({shown.run}, std::tie(batch),
                                            [&] { return checks::leaks_back(shown.scenario, shown.run, batch); });
}

Value<LeakPicture> shown_leak_picture(Derived& derived, const Snapshot& shown, Index batch, Index changed,
                                      const Value<checks::Leak>& leak, const Value<checks::LeaksBack>& leaks_back) {
    const bool one = leak && leak->changed == changed, all = leaks_back && leaks_back->complete;
    return derived.get<LeakPicture>({shown.run}, std::tie(batch, changed, one, all), [&] {
        const Plan& plan = shown.run->plan();
        const Step& of_target =
            *plan.step_of(plan.attention_in(plan.blocks(StackKind::decoder).front()), AttentionStep::mask);
        LeakPicture picture;
        Heatmap& heatmap = picture.heatmap;
        name_leaks(heatmap);
        heatmap.rows = heatmap.columns = shown.scenario.inputs.pos();
        heatmap.row_labels = heatmap.column_labels = axis_labels(shown.scenario, of_target, 2, batch);
        heatmap.scale = Scale::sequential;
        const auto size = static_cast<std::size_t>(heatmap.rows * heatmap.columns);
        if (all)
            heatmap.values = leaks_back->moved;
        else
            heatmap.values.resize(size);
        if (!all) heatmap.texts.resize(size);  // what wasn't changed has no number
        if (one && !all)
            for (Index position = 0; position < std::min<Index>(heatmap.columns, std::ssize(leak->moved)); ++position) {
                const auto at = static_cast<std::size_t>(changed * heatmap.columns + position);
                heatmap.values[at] = leak->moved[static_cast<std::size_t>(position)].largest;
                heatmap.texts[at] = short_number_text(static_cast<double>(heatmap.values[at]), 2);
            }
        heatmap.range = range_of(heatmap.values, heatmap.scale);
        for (Index row = 0; row < heatmap.rows; ++row)
            for (Index column = 0; column < row; ++column)
                if (heatmap.at(row, column) != 0.0F) picture.earlier.emplace_back(row, column);
        return picture;
    });
}

Exhibit masks_exhibit(const ShownRun& shown, const std::string& attention, Place place) {
    const std::string where = place_text(place);
    const Plan& plan = shown.run->plan();
    const Step& combined = *plan.step_of(attention, AttentionStep::mask);
    Exhibit exhibit{.title = combined.name, .subtitle = where};
    exhibit.caption = caption_of(shown.scenario, exhibit.title, where);
    const MaskParts parts = mask_parts(shown.scenario, *shown.run, attention, place);
    exhibit.columns = parts.single.size() + 1;
    const auto add = [&](const std::string& name, Heatmap heatmap) {
        // The window's quiet range is not used in exports: kept is 1 and hidden is 0.
        heatmap.scale = Scale::sequential;
        heatmap.range = {0.0F, 1.0F};
        heatmap.subtitle = where;
        exhibit.panels.push_back(panel_of(combined.name + "." + name, std::move(heatmap)));
    };
    for (const SingleMask& mask : parts.single) add(mask.name, mask.heatmap);
    add("combined", parts.combined);
    for (const AttentionStep which :
         {AttentionStep::scores, AttentionStep::masked_scores, AttentionStep::pattern, AttentionStep::z}) {
        const Ref step = plan.step_of(attention, which);
        if (step == nullptr || shown.run->value(step->id).empty()) continue;
        exhibit.panels.push_back(panel_of(step->name, picture_of(shown.scenario, *shown.run, *step, place)));
    }
    return exhibit;
}

Exhibit leak_exhibit(const ShownRun& shown, const LeakPicture& picture, Index batch) {
    Heatmap heatmap = picture.heatmap;
    name_leaks(heatmap);
    heatmap.subtitle = "batch " + std::to_string(batch);
    Exhibit exhibit{.title = heatmap.title, .subtitle = heatmap.subtitle};
    exhibit.caption = caption_of(shown.scenario, exhibit.title, exhibit.subtitle);
    exhibit.panels.push_back(panel_of("leak_test", std::move(heatmap)));
    return exhibit;
}

std::string weight_sentence(const FillConsequences& fill) {
    if (fill.masked == 0) return tr("No cell is masked");
    const Arguments cells = {{"masked", fill.masked},
                             {"cells", fill.cells},
                             {"query", fill.leakiest_query},
                             {"weight", measured_text(fill.largest_leak)}};
    if (fill.leakiest_query >= 0)
        return tr(message("{masked} of {cells} cells masked; query {query} gives them {weight}", cells));
    return tr(fill.empty_rows.empty()
                  ? message("{masked} of {cells} cells masked; their weight is 0", cells)
                  : message("{masked} of {cells} cells masked; weight 0 in rows with a key left", cells));
}

std::string leaks_by_row(const FillConsequences& fill) {
    std::string text = tr("The weight on masked keys, summed over a row.");
    for (std::size_t query = 0; query < fill.leaks.size(); ++query)
        if (fill.leaks[query] > 0.0F)
            text +=
                " " + tr("Query {query}: {number}.", {{"query", query}, {"number", measured_text(fill.leaks[query])}});
    return text;
}

std::string below_sentence(const FillConsequences& fill) {
    if (!std::isfinite(fill.fill)) return tr("No score can be below −∞");
    if (std::isinf(fill.lowest_kept)) return tr("No score is kept");
    if (fill.below.empty())
        return tr("Lowest kept score {score}: above the fill {fill}",
                  {{"score", measured_text(fill.lowest_kept)}, {"fill", measured_text(fill.fill)}});
    const auto [query, key] = fill.below.front();
    return tr_n("{count} kept score at or below the fill: query {query}, key {key}",
                "{count} kept scores at or below the fill, first query {query}, key {key}", fill.below.size(),
                {{"query", query}, {"key", key}});
}

std::string empty_sentence(const FillConsequences& fill) {
    if (fill.empty_rows.empty()) return tr("Every query sees at least one key");
    const EmptyRow& row = fill.empty_rows.front();
    const std::size_t rows = fill.empty_rows.size();
    std::string some;
    for (std::size_t i = 0; i < std::min<std::size_t>(rows, 3); ++i)
        some += (i == 0 ? "" : ", ") + std::to_string(fill.empty_rows[i].query);
    if (rows > 3) some += " …";
    const Sentence weights = row.nan ? message("0/0 = NaN")
                             : row.least == row.most
                                 ? message("each weighs {weight}", {{"weight", measured_text(row.most)}})
                                 : message("keys weigh {least} to {most}",
                                           {{"least", measured_text(row.least)}, {"most", measured_text(row.most)}});
    return tr_n("Query {queries} sees no key: {weights}", "Queries {queries} see no key: {weights}", rows,
                {{"queries", some}, {"weights", weights}});
}

}  // namespace decoderscope::core::masks
