#include "app/core/labs/diff/effect_of_edits.h"

#include "app/core/text/numbers.h"
#include "app/core/text/token_text.h"
#include "engine/tensor/storage.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>

namespace decoderscope::core::diff {

namespace {

// The numbers of one position: [vocab] or [d_model].
std::span<const float> numbers_at(const Tensor& tensor, Index batch, Index position) {
    const auto size = static_cast<std::size_t>(tensor.dim(2));
    return tensor.values().subspan(static_cast<std::size_t>(batch * tensor.dim(1) + position) * size, size);
}

double difference(float before, float after) {
    if (std::isnan(before) && std::isnan(after)) return 0.0;
    if (before == after) return 0.0;  // covers equal infinities
    return static_cast<double>(after) - static_cast<double>(before);
}

Index largest_index(std::span<const float> numbers) {
    return std::max_element(numbers.begin(), numbers.end()) - numbers.begin();
}

PositionEffect effect_of(std::span<const float> before, std::span<const float> after) {
    PositionEffect effect;
    double squares = 0.0;
    for (std::size_t i = 0; i < before.size(); ++i) {
        const double d = std::abs(difference(before[i], after[i]));
        squares += d * d;
        // A NaN is kept, since no comparison with it is true.
        if (std::isnan(d) || d > effect.largest) effect.largest = d;
    }
    effect.norm = std::sqrt(squares);
    if (std::isnan(effect.norm)) effect.largest = effect.norm;
    effect.top_before = largest_index(before);
    effect.top_after = largest_index(after);
    return effect;
}

}  // namespace

Ref output_step(const Plan& plan) {
    if (const Ref logits = plan.find("logits")) return logits;
    Ref last = nullptr;
    for (const Step& step : plan.steps()) {
        const bool in_trace = step.role == Role::recorded && !step.in_encoder();
        const bool stream =
            step.axes.size() == 3 && step.axes[1].name == axis::pos && step.axes[2].name == axis::d_model;
        if (in_trace && stream) last = &step;
    }
    return last;
}

std::vector<PositionEffect> position_effects(const Tensor& before, const Tensor& after, Index batch) {
    std::vector<PositionEffect> effects;
    for (Index position = 0; position < before.dim(1); ++position)
        effects.push_back(effect_of(numbers_at(before, batch, position), numbers_at(after, batch, position)));
    return effects;
}

std::vector<ValueChange> largest_changes(const Tensor& before, const Tensor& after, Index batch, Index position,
                                         std::size_t most) {
    const auto was = numbers_at(before, batch, position), is = numbers_at(after, batch, position);
    const auto moved = [&](std::size_t i) { return std::abs(difference(was[i], is[i])); };
    std::vector<std::size_t> places(was.size());
    std::iota(places.begin(), places.end(), std::size_t{0});
    std::erase_if(places, [&](std::size_t i) { return moved(i) == 0.0; });
    std::stable_sort(places.begin(), places.end(), [&](std::size_t a, std::size_t b) {
        if (std::isnan(moved(a)) || std::isnan(moved(b))) return std::isnan(moved(a)) && !std::isnan(moved(b));
        return moved(a) > moved(b);
    });
    std::vector<ValueChange> changes;
    for (std::size_t i = 0; i < std::min(most, places.size()); ++i)
        changes.push_back({static_cast<Index>(places[i]), was[places[i]], is[places[i]]});
    return changes;
}

std::optional<std::size_t> furthest(const std::vector<PositionEffect>& effects) {
    std::optional<std::size_t> place;
    for (std::size_t i = 0; i < effects.size(); ++i) {
        const double moved = effects[i].largest;
        if (std::isnan(moved)) return i;
        if (moved > 0.0 && (!place || moved > effects[*place].largest)) place = i;
    }
    return place;
}

namespace {

// How many numbers a slice compares, and how many of a tensor are computed for a comparison alone.
constexpr Index kSlice = 1'000'000;

// A tensor's numbers, made if they are not there. What is computed on demand is not kept.
class ReadyNumbers {
public:
    explicit ReadyNumbers(Tensor tensor) : tensor_(std::move(tensor)) {
        if (const auto* lazy = tensor_.lazy<LazyValues>()) {
            made_.resize(static_cast<std::size_t>(tensor_.size()));
            lazy->make(made_);
        }
    }
    [[nodiscard]] std::span<const float> all() const { return made_.empty() ? tensor_.values() : std::span(made_); }

private:
    Tensor tensor_;
    std::vector<float> made_;
};

bool is_large_and_not_there(const Tensor& tensor) { return !tensor.is_ready() && tensor.size() > kSlice; }

// Whether two tensors of the same shape differ, bit for bit. `read` counts the numbers of this slice.
Resumable<bool> differ(Tensor before, Tensor after, Index& read) {
    const ReadyNumbers a(std::move(before)), b(std::move(after));
    const auto count = static_cast<Index>(a.all().size());
    for (Index from = 0; from < count; from += kSlice) {
        const Index some = std::min(kSlice, count - from);
        if (std::memcmp(a.all().data() + from, b.all().data() + from, static_cast<std::size_t>(some) * sizeof(float)) !=
            0)
            co_return true;
        if ((read += some) < kSlice) continue;
        read = 0;
        co_yield kPause;
    }
    co_return false;
}

// How far a number moved: not at all if it is NaN or the same infinity in both.
double distance(float before, float after) {
    if (before == after || (std::isnan(before) && std::isnan(after))) return 0.0;
    return std::abs(static_cast<double>(after) - static_cast<double>(before));
}

bool holds_nan(std::span<const float> numbers) {
    return std::any_of(numbers.begin(), numbers.end(), [](float x) { return std::isnan(x); });
}

// The output of one position, before and after.
void compare_position(std::span<const float> before, std::span<const float> after, Reach::Change at, Reach& reach) {
    ++reach.positions;
    const bool was_lost = holds_nan(before), is_lost = holds_nan(after);
    if (is_lost && !was_lost) ++reach.lost;
    for (std::size_t i = 0; i < before.size(); ++i)
        if (const double moved = distance(before[i], after[i]); moved > reach.largest) reach.largest = moved;
    if (!reach.predicts || was_lost || is_lost) return;
    at.before = std::max_element(before.begin(), before.end()) - before.begin();
    at.after = std::max_element(after.begin(), after.end()) - after.begin();
    if (at.before != at.after) reach.changes.push_back(at);
}

Resumable<Done> compare_output(const Tensor& before, const Tensor& after, const Tensor& mask, Reach& reach) {
    const auto width = static_cast<std::size_t>(after.dim(2));
    Index read = 0;
    for (Index batch = 0; batch < after.dim(0); ++batch) {
        for (Index position = 0; position < after.dim(1); ++position) {
            if (is_padding(mask, batch, position)) continue;
            const std::size_t from = static_cast<std::size_t>(batch * after.dim(1) + position) * width;
            compare_position(before.values().subspan(from, width), after.values().subspan(from, width),
                             {batch, position, 0, 0}, reach);
            if ((read += after.dim(2)) < kSlice) continue;
            read = 0;
            co_yield kPause;
        }
    }
    co_return Done{};
}

bool reads_changed(const Step& step, const Reach& reach) {
    return std::any_of(step.operands.begin(), step.operands.end(), [&](StepId id) { return reach.has(id); });
}

Sentence changed_prediction(const Scenario& scenario, const Reach::Change& change) {
    const tokenizer::Tokenizer& tokenizer = scenario.tokenizer();
    const Arguments arguments = {{"row", change.batch},
                                 {"position", change.position},
                                 {"before", token_text(tokenizer, change.before)},
                                 {"after", token_text(tokenizer, change.after)}};
    return scenario.batch() > 1 ? message("row {row}, position {position} “{before}” → “{after}”", arguments)
                                : message("position {position} “{before}” → “{after}”", arguments);
}

// The first few changed predictions.
Sentence changed_predictions(const Scenario& scenario, const Reach& reach) {
    constexpr std::size_t few = 3;
    Sentence all = changed_prediction(scenario, reach.changes.front());
    const std::size_t named = std::min(few, reach.changes.size());
    for (std::size_t i = 1; i < named; ++i)
        all = message("{first}, {next}", {{"first", all}, {"next", changed_prediction(scenario, reach.changes[i])}});
    if (named == reach.changes.size()) return all;
    return message_n("{these} and {count} more", "{these} and {count} more", reach.changes.size() - named,
                     {{"these", all}});
}

Sentence movement(const Reach& reach) {
    const Arguments arguments = {
        {"output", reach.output}, {"largest", short_number_text(reach.largest, 3)}, {"all", reach.positions}};
    if (reach.lost > 0)
        return message_n("{output}: NaN at {count} of {all} positions now",
                         "{output}: NaN at {count} of {all} positions now", reach.lost, arguments);
    return message("{output} moved by at most {largest}", arguments);
}

}  // namespace

Resumable<Reach> reach_of(std::shared_ptr<const Run> unedited, std::shared_ptr<const Run> run, Tensor attention_mask) {
    const Plan& plan = run->plan();
    Reach reach;
    Index read = 0;
    reach.changed.resize(plan.steps().size());
    for (const Step& step : plan.steps()) {
        const Ref before = unedited->plan().find(step.name);
        const Tensor then = before != nullptr ? unedited->value(before->id) : Tensor(), now = run->value(step.id);
        bool changed = reads_changed(step, reach);
        const bool comparable = !then.empty() && !now.empty() && then.axes() == now.axes();
        if (comparable && then.shares_values_with(now))
            changed = false;
        else if (comparable && !is_large_and_not_there(then) && !is_large_and_not_there(now))
            changed = co_await differ(then, now, read);
        else if (!step.patches.empty())
            changed = true;
        reach.changed[step.id] = changed ? 1 : 0;
        if (step.is_source()) continue;
        ++reach.steps;
        if (!changed) continue;
        ++reach.changed_steps;
        if (!reach.first) reach.first = step.id;
    }
    const Ref output = output_step(plan);
    if (output == nullptr) co_return reach;
    reach.output = output->name;
    reach.predicts = output->axes.back().name == axis::vocab;
    const Tensor now = run->value(output->id), then = unedited->value(output->name);
    reach.output_changed = reach.has(output->id);
    if (!now.is_ready() || !then.is_ready()) co_yield kPause;  // the first positions may still be computed
    if (now.rank() == 3 && now.axes() == then.axes()) co_await compare_output(then, now, attention_mask, reach);
    co_return reach;
}

Value<Reach> shown_reach(Derived& derived, const Snapshot& shown) {
    if (shown.run == shown.unedited || shown.scenario.edits.empty()) return {};
    return derived.later<Reach>({shown.run, shown.unedited}, std::tuple<>(), [&] {
        return reach_of(shown.unedited, shown.run, shown.scenario.inputs.attention_mask);
    });
}

Sentence reach_sentence(const Scenario& scenario, const Reach& reach) {
    if (reach.changed_steps == 0)
        return message_n("{count} edit changes no number of this run.", "{count} edits change no number of this run.",
                         scenario.edits.size());
    if (reach.output.empty()) return {};
    if (!reach.output_changed) return message("{output} stayed the same, bit for bit.", {{"output", reach.output}});
    if (!reach.predicts) return message("{movement}.", {{"movement", movement(reach)}});
    if (reach.changes.empty()) return message("{movement}; no prediction changed.", {{"movement", movement(reach)}});
    return message_n(
        "{movement}; {count} of {all} predictions changed: {changes}.",
        "{movement}; {count} of {all} predictions changed: {changes}.", reach.changes.size(),
        {{"movement", movement(reach)}, {"all", reach.positions}, {"changes", changed_predictions(scenario, reach)}});
}

}  // namespace decoderscope::core::diff
