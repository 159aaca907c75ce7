#include "app/core/tabs/step/what_if.h"

#include "app/core/run/labels.h"
#include "app/core/run/passes_of_text.h"
#include "app/core/run/settings_that_fit.h"
#include "engine/base/error.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <span>
#include <tuple>
#include <utility>

namespace decoderscope::core::step {

namespace {

// ---- where a cell is

// What a cell is about: a row of the batch, a query head, a query and a key.
struct Whereabouts {
    Index batch = 0, head = 0;
    std::optional<Index> query = std::nullopt, key = std::nullopt;
};

Whereabouts place_in(const Scenario& scenario, const Step& step, const Cell& cell, Place place) {
    Whereabouts at{place.batch, place.head};
    for (std::size_t i = 0; i < step.axes.size() && i < cell.size(); ++i) {
        const Axis& along = step.axes[i];
        if (along.name == axis::batch) at.batch = cell[i];
        // With fewer key heads than query heads a key head stands for the first query head that reads it, unless the
        // place says another.
        if (along.name == axis::head && place.head * along.size / scenario.query_heads() != cell[i])
            at.head = cell[i] * scenario.query_heads() / along.size;
        if (along.name == axis::query || along.name == axis::pos) at.query = cell[i];
        if (along.name == axis::key) at.key = cell[i];
    }
    return at;
}

// The pattern of an attention; nullptr if it has none.
Ref pattern_of(const Plan& plan, const std::string& attention) {
    const Ref pattern = plan.step_of(attention, AttentionStep::pattern);
    return pattern != nullptr && pattern->is_pattern ? pattern : nullptr;
}

// ---- what can be tried

// Collects offers; those that the model can't be run with are left out.
class Offers {
public:
    Offers(const Scenario& scenario, const Run& run, const Step& step, const Cell& cell, Place place)
        : scenario_(scenario),
          run_(run),
          step_(step),
          at_(place_in(scenario, step, cell, place)),
          pattern_(pattern_of(run.plan(), step.attention)) {}

    [[nodiscard]] std::vector<WhatIf> all() && {
        if (pattern_ != nullptr) {
            scale();
            if (is_over_keys(step_.axes)) masks();
            head();
            own_projections();
        }
        norm_place();
        return std::move(offers_);
    }

private:
    void offer(std::string id, Sentence label, Variation variation, bool is_fill = false) {
        offers_.push_back({std::move(id), std::move(label), std::move(variation), is_fill});
    }

    // Whether the model can be run with these keys set, and they change anything.
    [[nodiscard]] bool fits(const Overrides& overrides) const {
        try {
            return with_overrides(scenario_, overrides).config() != scenario_.config();
        } catch (const Error&) {
            return false;
        }
    }

    void scale() {
        const bool is_mask = step_.operation.traits().values == Values::mask;
        const bool in_product = step_.meaning == Meaning::query || step_.meaning == Meaning::key;
        const Overrides unscaled = {{"attention_scale", "1"}};
        if (is_mask || !(is_over_keys(step_.axes) || in_product) || !fits(unscaled)) return;
        offer("scale", message("without 1/√d_head"), {.overrides = unscaled});
    }

    void masks() {
        if (!pattern_->masked_by) return;
        const Tensor& mask = run_.value(*pattern_->masked_by);
        const std::string& attention = step_.attention;
        const bool seen = mask.at(Cell{at_.batch, at_.head, *at_.query, *at_.key}) != 0.0F;
        const Edit cell = MaskEdit{attention, at_.batch, at_.head, at_.query, at_.key, !seen};
        offer("cell", seen ? message("if the query did not see this key") : message("if the query saw this key"),
              {.more_edits = {cell}});
        const Slice slice = slice_of(run_.plan()[*pattern_->masked_by], {at_.batch, at_.head}, scenario_.query_heads());
        const auto cells = static_cast<std::size_t>(slice.rows() * slice.columns());
        const std::span<const float> kept =
            mask.values().subspan(static_cast<std::size_t>(mask.offset(slice.cell(0, 0))), cells);
        if (std::ranges::find(kept, 0.0F) != kept.end())
            offer("mask", message("without this mask"),
                  {.more_edits = {MaskEdit{attention, std::nullopt, std::nullopt, std::nullopt, std::nullopt, true}}});
        fills();
    }

    void fills() {
        struct Fill {
            const char *written, *shown;
        };
        static constexpr std::array kFills = {Fill{"-inf", "−∞"}, Fill{"-1e9", "−1e9"}, Fill{"-1e4", "−1e4"},
                                              Fill{"0", "0"}};
        for (const Fill& fill : kFills) {
            const Overrides set = {{"mask_value", fill.written}};
            if (fits(set))
                offer(std::string("fill ") + fill.written, message("fill {value}", {{"value", fill.shown}}),
                      {.overrides = set}, true);
        }
    }

    void head() {
        offer("head", message("without head {head}", {{"head", at_.head}}),
              {.more_edits = {ScaleHead{step_.attention, at_.head, 0.0F}}});
    }

    // If q, k and v share a projection, but the model has the others, too.
    void own_projections() {
        if (!scenario_.config().shared_qkv) return;
        const Variation own = {.overrides = {{"shared_qkv", "false"}}};
        try {
            static_cast<void>(plan_of(varied(scenario_, own)));
            offer("own-projections", message("with separate k and v projections"), own);
        } catch (const Error&) {  // the model has no weights for them
        }
    }

    void norm_place() {
        const bool concerned =
            step_.part == Part::norm || step_.part == Part::add || step_.part == Part::residual_stream;
        const bool first = scenario_.config().norm_first;
        const Overrides other = {flipped_norm(scenario_)};
        if (!concerned || !step_.lens.empty() || !fits(other)) return;
        offer("norm-place", first ? message("as Post-Norm") : message("as Pre-Norm"), {.overrides = other});
    }

    const Scenario& scenario_;
    const Run& run_;
    const Step& step_;
    Whereabouts at_;
    Ref pattern_;
    std::vector<WhatIf> offers_;
};

// ---- what it does

bool same(float a, float b) { return std::memcmp(&a, &b, sizeof a) == 0 || a == b; }

// A step's values in another run, if they are there in the same shape.
const Tensor* twin(const Run& other, const Step& step) {
    const Tensor& values = other.value(step.name);
    return values.empty() || values.axes() != step.axes ? nullptr : &values;
}

std::optional<NowAndIf> cell_effect(const Run& now, const Run& then, const Step& step, const Cell& cell) {
    const Tensor* other = twin(then, step);
    const Tensor& values = now.value(step.id);
    if (other == nullptr || values.empty() || !values.contains(cell)) return std::nullopt;
    return NowAndIf{values.at(cell), other->at(cell)};
}

std::optional<PatternRow> row_effect(const Scenario& scenario, const Run& now, const Run& then, const Ref pattern,
                                     const Whereabouts& at) {
    if (pattern == nullptr || !at.query) return std::nullopt;
    const Tensor& values = now.value(pattern->id);
    const Tensor* other = twin(then, *pattern);
    const Cell first = {at.batch, at.head, *at.query, 0};
    if (other == nullptr || values.empty() || !values.contains(first)) return std::nullopt;
    const std::span<const float> is = values.row(first), would_be = other->row(first);
    const PlaceNames names(scenario, *pattern, {3}, at.batch);
    PatternRow row;
    row.tensor = pattern->name;
    for (std::size_t key = 0; key < is.size(); ++key) {
        row.keys.push_back(names.index(0, static_cast<Index>(key)));
        row.weights.push_back({is[key], would_be[key]});
        if (!same(is[key], would_be[key])) row.moved.push_back(key);
    }
    const auto by = [&](std::size_t key) {
        const double far = std::abs(static_cast<double>(would_be[key]) - static_cast<double>(is[key]));
        return std::isnan(far) ? std::numeric_limits<double>::infinity() : far;
    };
    std::ranges::stable_sort(row.moved, std::greater<>(), by);
    return row;
}

// NaN for no token.
double probability_of(std::span<const float> logits, std::optional<Index> token) {
    if (!token) return std::numeric_limits<double>::quiet_NaN();
    const auto highest = static_cast<double>(*std::ranges::max_element(logits));
    double sum = 0.0;
    for (const float logit : logits) sum += std::exp(static_cast<double>(logit) - highest);
    return std::exp(static_cast<double>(logits[static_cast<std::size_t>(*token)]) - highest) / sum;
}

std::optional<float> of_every(const PatternRow& row, float NowAndIf::*side) {
    if (row.weights.empty()) return std::nullopt;
    const float first = row.weights.front().*side;
    const bool all = std::ranges::all_of(row.weights, [&](const NowAndIf& weight) {
        return same(weight.*side, first) || (std::isnan(weight.*side) && std::isnan(first));
    });
    return all ? std::optional(first) : std::nullopt;
}

}  // namespace

std::vector<WhatIf> what_ifs(const Scenario& scenario, const Run& run, const Step& step, const Cell& cell,
                             Place place) {
    if (!scenario.computes()) return {};
    return Offers(scenario, run, step, cell, place).all();
}

Value<ShownWhatIfs> shown_what_ifs(Derived& derived, const Snapshot& shown, const Step& step, const Cell& cell,
                                   Place place) {
    return derived.get<ShownWhatIfs>(Origins(shown.run), std::tie(step.id, cell, place), [&] {
        return ShownWhatIfs{what_ifs(shown.scenario, *shown.run, step, cell, place)};
    });
}

std::optional<Variation> blind_query(const Scenario& scenario, const Step& step, const Cell& cell, Place place) {
    const Whereabouts at = place_in(scenario, step, cell, place);
    if (step.attention.empty() || !at.query) return std::nullopt;
    return Variation{.more_edits = {MaskEdit{step.attention, at.batch, at.head, at.query, std::nullopt, false}}};
}

std::optional<float> PatternRow::of_every_key_now() const { return of_every(*this, &NowAndIf::now); }
std::optional<float> PatternRow::of_every_key_then() const { return of_every(*this, &NowAndIf::then); }

bool WhatIfEffect::nothing_changed() const {
    return (!cell || same(cell->now, cell->then)) && (!row || row->moved.empty()) && !moves.furthest &&
           moves.stays_nan == 0;
}

WhatIfEffect what_if_effect(const Scenario& scenario, const Run& now, const Run& then, const Step& step,
                            const Cell& cell, Place place) {
    const Whereabouts at = place_in(scenario, step, cell, place);
    WhatIfEffect effect;
    effect.cell = cell_effect(now, then, step, cell);
    effect.row = row_effect(scenario, now, then, pattern_of(now.plan(), attention_beside(now.plan(), step)), at);
    const Ref output = output_step(now.plan());
    const Tensor* other = output == nullptr ? nullptr : twin(then, *output);
    if (other == nullptr || !predicts_tokens(*output) || now.value(output->id).empty()) return effect;
    const Tensor& logits = now.value(output->id);  // [batch, pos, vocab]
    effect.moves = moves_of(logits, *other, padding_of(scenario), true);
    effect.moves.output = output->name;
    if (step.in_encoder() || !at.query || at.batch >= logits.dim(0) || *at.query >= logits.dim(1)) return effect;
    const PositionMove& here = effect.moves.row(at.batch)[static_cast<std::size_t>(*at.query)];
    const Cell first = {at.batch, *at.query, 0};
    effect.says = SaysNowAndIf{*at.query, here.before, here.after, probability_of(logits.row(first), here.before),
                               probability_of(other->row(first), here.after)};
    return effect;
}

Value<WhatIfEffect> shown_effect(Derived& derived, const Scenario& scenario, const std::shared_ptr<const Run>& now,
                                 const std::shared_ptr<const Run>& then, const Step& step, const Cell& cell,
                                 Place place) {
    return derived.get<WhatIfEffect>(Origins(now, then), std::tie(step.id, cell, place),
                                     [&] { return what_if_effect(scenario, *now, *then, step, cell, place); });
}

Sentence why_fill_changes_nothing() {
    return message(
        "Nothing changes here: every query sees a key, and beside a real score exp(fill − max) is 0 in float32 for any "
        "of these fills. They differ where a query sees no key.");
}

}  // namespace decoderscope::core::step
