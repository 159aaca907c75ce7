#include "app/core/tabs/bisect/in_step.h"

#include "app/core/tabs/bisect/judgement.h"
#include "engine/load/state_dict.h"
#include "engine/mutations/changes.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>

namespace decoderscope::core::bisect {

namespace {

using formulas::Manner;

constexpr std::uint64_t kMostOperations = 4'000'000;  // of a step in another manner: a second or so

// A recorded tensor, its shape and all, as one of ours; empty if only a part of ours was recorded.
Tensor as_ours(const Tensor& ours, const Tensor& theirs, const trace::Match& match) {
    if (match.strictness != trace::Strictness::exact || match.placed.columns > 0 || match.placed.head >= 0) return {};
    const auto both = trace::laid_out(ours, theirs, match.placed);
    if (!both) return {};
    const std::vector<Index> own = sizes_of(ours.axes()), found = sizes_of(both->theirs.axes());
    if (own == found) return both->theirs.with_axes(ours.axes());
    const bool repeated = own.size() == 4 && found.size() == 4 && own[0] == found[0] && own[2] == found[2] &&
                          own[3] == found[3] && found[1] % own[1] == 0;
    return repeated ? trace::without_repeats(both->theirs, ours.axes()).with_axes(ours.axes()) : Tensor();
}

// Nothing if the formula doesn't fit the step (a sum with what lacks an axis); empty if it would take too long.
std::optional<Tensor> in_manner(const ops::ByFormula& by, const Operands& in, const Axes& axes, const Manner& manner) {
    try {
        return by.compute(in, axes, manner, kMostOperations);
    } catch (const formulas::FormulaError&) {
        return std::nullopt;
    }
}

// What mixes the numbers of each row [batch, head, pos, column] by factors that no formula tells, as RoPE does with
// frequencies that are scaled: factors, products and sums rounded one by one. Empty for another operation.
Tensor mixed_one_by_one(const Operation& mixing, const Operands& in, const Axes& axes, Arithmetic type) {
    if (in.size() == 0 || in.size() > 2 || axes.size() != 4 || sizes_of(in[0].axes()) != sizes_of(axes)) return {};
    if (in.size() == 2 && !in[1].empty() && in[1].rank() != 2) return {};  // positions [batch, key]
    const bool by_batch = in.size() > 1 && !in[1].empty();
    Axes of_one_head = axes;
    of_one_head.resize(1, 1);
    if (!by_batch) of_one_head.resize(0, 1);
    const Index rows = axes[2].size, width = axes[3].size, all = axes[0].size * axes[1].size * rows;
    const auto zeros = [](const Axes& of) {
        return Tensor(of, std::vector<float>(static_cast<std::size_t>(element_count(of))));
    };
    Tensor exact = zeros(axes), made = zeros(axes);
    float *sum = made.writable().data(), *exact_sum = exact.writable().data();
    for (Index column = 0; column < width; ++column) {
        Tensor unit = zeros(of_one_head);
        for (Index at = column; at < unit.size(); at += width) unit.writable()[static_cast<std::size_t>(at)] = 1.0F;
        Operands of;
        of.add(unit);
        for (std::size_t i = 1; i < in.size(); ++i) of.add(in[i]);
        const Tensor factors = mixing.compute(of, of_one_head);
        for (Index row = 0; row < all; ++row) {
            const Index batch = by_batch ? row / (axes[1].size * rows) : 0;
            const float* factor = factors.data() + (batch * rows + row % rows) * width;
            const float x = in[0].data()[row * width + column];
            for (Index to = 0; to < width; ++to) {
                if (factor[to] == 0.0F) continue;
                const Index at = row * width + to;
                sum[at] = rounded(sum[at] + rounded(factor[to] * x, type), type);
                exact_sum[at] += factor[to] * x;
            }
        }
    }
    const Tensor whole = mixing.compute(in, axes);
    double largest = 0.0, apart = 0.0;
    for (std::size_t i = 0; i < whole.values().size(); ++i) {
        largest = std::max(largest, std::abs(static_cast<double>(whole.values()[i])));
        apart = std::max(apart, std::abs(static_cast<double>(whole.values()[i] - exact.values()[i])));
    }
    constexpr double kSame = 0.02;  // the factors are rounded
    return apart <= kSame * largest ? made : Tensor();
}

// As GPUs round the operands of a product: to the nearest with 10 bits behind the point.
Tensor as_tensor_float(const Tensor& of) {
    Tensor made(of.axes());
    std::ranges::transform(of.values(), made.writable().begin(), [](float x) {
        constexpr std::uint32_t kHalf = 0x1000U, kKept = 0xFFFFE000U;
        return std::isfinite(x) ? std::bit_cast<float>((std::bit_cast<std::uint32_t>(x) + kHalf) & kKept) : x;
    });
    return made;
}

}  // namespace

InStep::InStep(std::shared_ptr<const Plan> plan, const Comparing& comparing, const std::vector<trace::Match>& matches,
               const InStep* previous)
    : comparing_(comparing),
      run_(std::make_shared<const Run>(plan)),
      used_(plan->steps().size()),
      own_(used_.size()),
      recorded_(used_.size()),
      follows_difference_(used_.size()),
      unmeasured_(used_.size()),
      checks_(matches.size()) {
    std::multimap<StepId, std::size_t> of_step;
    for (std::size_t i = 0; i < matches.size(); ++i) of_step.emplace(matches[i].step, i);
    for (const Step& step : plan->steps()) {
        const auto [begin, end] = of_step.equal_range(step.id);
        if (step.role == Role::on_demand && begin == end) continue;
        const std::optional<StepId> before = previous == nullptr ? std::nullopt : same_in(*previous, step);
        if (before) own_[step.id] = previous->own_[*before];
        if (own_[step.id].empty()) own_[step.id] = computed(step, Way::as_configured);
        used_[step.id] = own_[step.id];
        for (const StepId operand : step.operands)
            if (follows_difference_[operand]) follows_difference_[step.id] = true;
        for (auto match = begin; match != end; ++match)
            if (!before || !take_over(*previous, *before, matches[match->second], checks_[match->second]))
                check(step, matches[match->second], checks_[match->second]);
    }
    run_ = std::make_shared<const Run>(std::move(plan), used_);
}

// The previous plan's step that is computed in the same way from the same numbers, and compared under the same mask.
std::optional<StepId> InStep::same_in(const InStep& previous, const Step& step) const {
    const Plan& before = previous.run_->plan();
    const Ref same = before.find(step.name);
    if (same == nullptr || !computed_alike(before, *same, run_->plan(), step) || same->patches != step.patches)
        return std::nullopt;
    if (step.is_source() && !same->source.shares_values_with(step.source)) return std::nullopt;
    for (std::size_t i = 0; i < step.operands.size(); ++i)
        if (!previous.used_[same->operands[i]].shares_values_with(used_[step.operands[i]])) return std::nullopt;
    if (!previous.kept_by_mask(*same).shares_values_with(kept_by_mask(step))) return std::nullopt;
    return same->id;
}

// Takes the previous check of the same two tensors; false if there is none.
bool InStep::take_over(const InStep& previous, StepId before, const trace::Match& match, TensorCheck& to) {
    const auto found = std::ranges::find_if(previous.checks_, [&](const TensorCheck& check) {
        return check.match.step == before && check.match.tensor == match.tensor && check.match.placed == match.placed &&
               check.match.strictness == match.strictness;
    });
    if (found == previous.checks_.end()) return false;
    to = *found;
    to.match = match;
    used_[match.step] = previous.used_[before];
    recorded_[match.step] = previous.recorded_[before];
    follows_difference_[match.step] = previous.follows_difference_[before];
    return true;
}

Tensor InStep::computed(const Step& step, Way way) {
    std::vector<Tensor> read;
    for (const StepId operand : step.operands) read.push_back(used(operand, way));
    Operands in;
    for (const Tensor& tensor : read) in.add(tensor);
    for (const StepId operand : step.operands)
        if (unmeasured_[operand] && !recorded_[operand]) unmeasured_[step.id] = true;
    Tensor made = step.is_source() ? step.source : computed(step, in, way);
    for (const Patch& patch : step.patches) patch.apply(made);
    return made;
}

// Whether a step is a product of two operands, neither of which is one number for many.
bool InStep::is_product(const Step& step) const {
    const auto is = [&](AttentionStep which) {
        return !step.attention.empty() && run_->plan().step_of(step.attention, which) == &step;
    };
    return is(AttentionStep::scores) || is(AttentionStep::z) || std::ranges::any_of(step.operands, [&](StepId id) {
               const Step& operand = run_->plan()[id];
               return operand.role == Role::parameter && load::is_projection(operand.name);
           });
}

Tensor InStep::computed(const Step& step, const Operands& in, Way way) {
    if (way == Way::tensor_float) {
        if (comparing_.arithmetic != Arithmetic::float32 || !is_product(step) || step.backward)
            return step.operation.compute(in, step.axes);
        std::vector<Tensor> read;
        for (std::size_t i = 0; i < in.size(); ++i)
            read.push_back(i < 2 && !in[i].empty() ? as_tensor_float(in[i]) : in[i]);
        Operands of;
        for (const Tensor& tensor : read) of.add(tensor);
        return step.operation.compute(of, step.axes);
    }
    if (way == Way::as_configured || step.backward) return step.operation.compute(in, step.axes);
    if (way == Way::float32_between || way == Way::float32_throughout)
        return step.operation.rounding_to(Arithmetic::float32).compute(in, step.axes);
    const bool is_norm = !step.norm.empty(), is_attention = step.is_scores || step.is_pattern;
    if (way == Way::fused_attention && is_attention)
        return step.operation.rounding_to(Arithmetic::float32).compute(in, step.axes);
    const bool rounds = step.operation.arithmetic() != Arithmetic::float32;
    const bool by_kernel =
        is_norm ? way != Way::norms_too && way != Way::all_written_out : step.is_pattern && way != Way::all_written_out;
    const bool is_written_out = way >= Way::written_out && way <= Way::all_written_out;
    Manner manner{.type = comparing_.arithmetic};
    manner.each = is_written_out && !by_kernel && (rounds || is_norm || manner.type == Arithmetic::float32);
    manner.constants = manner.each && (way == Way::constants_too || way == Way::all_written_out);
    if (way == Way::in_halves) manner.sums = Manner::Sums::in_halves;
    if (way == Way::one_by_one) manner.sums = Manner::Sums::one_by_one;
    const auto by = ops::formula_of(step.operation);
    const auto make = [&] {
        std::optional<Tensor> made = by ? in_manner(*by, in, step.axes, manner) : std::nullopt;
        if (!by && manner.each) made = mixed_one_by_one(step.operation, in, step.axes, manner.type);
        if (made && made->empty()) unmeasured_[step.id] = true;
        if (!made || made->empty()) return step.operation.compute(in, step.axes);
        return rounds || manner.each ? rounded(std::move(*made), comparing_.arithmetic) : *made;
    };
    // Several ways are one for most steps.
    for (const Made& known : made_[step.id])
        if (known.manner == manner && known.reads(in)) return known.made;
    made_[step.id].push_back({manner, {}, make()});
    for (std::size_t i = 0; i < in.size(); ++i) made_[step.id].back().read.push_back(in[i]);
    return made_[step.id].back().made;
}

// What a step reads of another.
Tensor InStep::used(StepId id, Way way) {
    const Step& step = run_->plan()[id];
    if (way == Way::float32_throughout && step.role == Role::parameter && step.patches.empty()) {
        const auto stored = comparing_.weights.find(step.name);
        const auto round = [&](float x) { return rounded(x, comparing_.arithmetic); };
        if (stored != comparing_.weights.end() &&  // and no mistake has put another in its place
            std::ranges::equal(step.source.values(), stored->second.values(), {}, {}, round))
            return stored->second.with_axes(step.axes);
    }
    return way == Way::as_configured || step.is_source() || recorded_[id] ? used_[id] : own(id, way);
}

const Tensor& InStep::own(StepId id, Way way) {
    if (way == Way::as_configured) return own_[id];
    Tensor& made = in_other_ways_[{way, id}];
    if (made.empty()) made = computed(run_->plan()[id], way);
    return made;
}

Tensor InStep::kept_by_mask(const Step& step) const {
    const std::optional<StepId> mask = mask_of_scores(step);
    return mask ? used_[*mask] : Tensor();
}

// What rounding leaves of a gradient's terms if they cancel: that of a key's bias is 0, as the softmax doesn't see a
// number that all scores of a row share. 0 for other steps.
double InStep::noise_of(const Step& step) const {
    if (!step.backward) return 0.0;
    double noise = 0.0;
    for (const StepId operand : step.operands) {
        if (!run_->plan()[operand].backward) continue;
        double largest = 0.0;
        for (const float number : used_[operand].values())
            largest = std::max(largest, std::fabs(static_cast<double>(number)));
        const double terms = static_cast<double>(used_[operand].size()) / static_cast<double>(own_[step.id].size());
        noise = std::max(noise, 4.0 * ulp_at(1.0, comparing_.arithmetic) * largest * std::sqrt(std::max(terms, 1.0)));
    }
    return noise;
}

// Whether scores to which a bias is added here (ALiBi) were recorded before it was, whatever scales them.
bool InStep::is_bare_product(const Step& step, const trace::Match& match, TensorCheck& to) const {
    const auto query = step.operand(OperandRole::query), key = step.operand(OperandRole::key);
    if (to.other_shape || !step.is_scores || match.strictness != trace::Strictness::up_to_factor || !query || !key)
        return false;
    const Tensor &q = used_[*query], &k = used_[*key];
    if (q.rank() != 4 || k.rank() != 4 || k.dim(1) == 0 || q.dim(1) % k.dim(1) != 0) return false;
    const Index group = q.dim(1) / k.dim(1), rows = q.dim(2), keys = k.dim(2), width = q.dim(3);
    Tensor scores(step.axes);
    float* to_cell = scores.writable().data();
    for (Index row = 0; row < q.size() / width; ++row)
        for (Index at = 0; at < keys; ++at)
            *to_cell++ = std::inner_product(q.data() + row * width, q.data() + (row + 1) * width,
                                            k.data() + (row / rows / group * keys + at) * width, 0.0F);
    TensorCheck bare =
        check_tensor(run_->plan(), step, scores, {}, match, comparing_.trace.tensors[match.tensor], tolerance());
    if (!bare.is_computed || bare.differs) return false;
    to = std::move(bare);
    return true;
}

// Whether scores differ by a number for each row alone, which the softmax doesn't see: ALiBi may count from the query
// or from the first key.
bool InStep::is_shifted_by_row(const Step& step, const trace::Match& match, TensorCheck& to) const {
    const Plan& plan = run_->plan();
    if (to.other_shape || !step.is_scores || plan.step_of(step.attention, AttentionStep::scores) != &step ||
        match.basis == trace::Basis::name || plan.step_of(step.attention, AttentionStep::sink) != nullptr ||
        plan.find(step.attention + ".capped_scores") != nullptr)
        return false;
    trace::Match shifted = match;
    shifted.strictness = trace::Strictness::as_softmax;
    TensorCheck again =
        check_tensor(plan, step, own_[step.id], {}, shifted, comparing_.trace.tensors[match.tensor], tolerance());
    if (!again.is_computed || again.differs) return false;
    again.match = match;
    to = std::move(again);
    return true;
}

// Compares a step with what was recorded of it; if that agrees, the steps that follow read what was recorded.
void InStep::check(const Step& step, const trace::Match& match, TensorCheck& to) {
    const trace::TraceTensor& theirs = comparing_.trace.tensors[match.tensor];
    to = check_tensor(run_->plan(), step, own_[step.id], kept_by_mask(step), match, theirs, tolerance());
    if (to.differs && (is_bare_product(step, match, to) || is_shifted_by_row(step, match, to))) return;
    if (is_rough(to)) judge(step, match, to, false);
    if (to.differs && is_tensor_float(step, match, to)) judge(step, match, to, true);
    if (!to.is_computed) return;
    if (to.differs && !comparing_.tolerance && to.largest <= noise_of(step)) to.differs = false;
    // Queries, keys and scores may be written differently as long as what comes of them is the same.
    if (to.differs && !may_be_written_otherwise(match, step)) follows_difference_[step.id] = true;
    if (to.differs) return;
    Tensor recorded = as_ours(own_[step.id], theirs.values, match);
    if (recorded.empty()) return;
    used_[step.id] = std::move(recorded);
    recorded_[step.id] = true;
    follows_difference_[step.id] = false;
}

// The ways to compute a step beside what was recorded of it.
class InStep::Side {
public:
    Side(const Plan& plan, const trace::Match& match, const Tensor& theirs, Arithmetic type, bool up_to_factor,
         const Tensor& kept)
        : match_(match), theirs_(theirs), up_to_factor_(up_to_factor) {
        beside_.type = type;
        beside_.shifted_by_row = match.strictness == trace::Strictness::as_softmax;
        const Tensor before = before_text(plan, plan[match.step]);
        if (kept.empty() && before.empty()) return;
        Tensor counts(plan[match.step].axes);
        const auto is_left_out = [](const Tensor& flags, std::size_t i, bool when) {
            return !flags.empty() && (flags.values()[i] != 0.0F) == when;
        };
        std::size_t at = 0;
        for (float& one : counts.writable()) {
            one = is_left_out(kept, at, false) || is_left_out(before, at, true) ? 0.0F : 1.0F;
            ++at;
        }
        if (auto both = trace::laid_out(counts, theirs, match.placed)) beside_.kept = std::move(both->ours);
    }

    void add(Tensor ours) {
        auto both = trace::laid_out(rounded(std::move(ours), beside_.type), theirs_, match_.placed);
        if (up_to_factor_) {
            const double factor = factor_between(*both, beside_.kept);
            for (float& number : both->ours.writable())
                number = static_cast<float>(static_cast<double>(number) * factor);
        }
        ways_.push_back(std::move(both->ours));
        beside_.theirs = std::move(both->theirs);
    }

    [[nodiscard]] Judgement judged() {
        beside_.ours = ways_;
        return bisect::judged(beside_);
    }

private:
    const trace::Match& match_;
    const Tensor& theirs_;
    bool up_to_factor_;
    std::vector<Tensor> ways_;
    Beside beside_;
};

// Whether a float32 tensor, apart by no more than TF32 leaves open, is what its products give in TF32, and not without.
bool InStep::is_tensor_float(const Step& step, const trace::Match& match, const TensorCheck& check) {
    constexpr double kMost = 5e-3, kNearer = 4.0;
    if (!check.is_computed || check.other_shape || check.largest == 0.0 || check.relative > kMost ||
        comparing_.tolerance || comparing_.arithmetic != Arithmetic::float32 || step.is_source() || step.backward ||
        follows_difference_[step.id])
        return false;
    const Tensor& ours = own(step.id, Way::tensor_float);
    if (ours.shares_values_with(own_[step.id])) return false;
    const TensorCheck again = check_tensor(run_->plan(), step, ours, kept_by_mask(step), match,
                                           comparing_.trace.tensors[match.tensor], kMost);
    return again.is_computed && !again.differs && kNearer * again.largest <= check.largest;
}

void InStep::judge(const Step& step, const trace::Match& match, TensorCheck& to, bool by_tensor_float) {
    Side side(run_->plan(), match, comparing_.trace.tensors[match.tensor].values, comparing_.types[match.tensor],
              to.factor != 1.0, kept_by_mask(step));
    // What was recorded in float32 was not rounded yet.
    const bool rounds = comparing_.types[match.tensor] == comparing_.arithmetic;
    side.add(own(step.id, rounds || step.is_source() ? Way::as_configured : Way::float32_throughout));
    Judgement found = side.judged();
    // What is computed from a difference differs, whatever the way.
    if (found.differs && !step.is_source() && !follows_difference_[step.id]) {
        // The quick ways come first; each makes the band wider, so that one that is wide enough ends it.
        std::vector<Tensor> known;
        for (std::size_t way = 0; way < kWays && found.differs; ++way) {
            if (!by_tensor_float && static_cast<Way>(way) == Way::tensor_float) continue;
            const Tensor& made = own(step.id, static_cast<Way>(way));
            if (std::ranges::any_of(known, [&](const Tensor& one) { return one.shares_values_with(made); })) continue;
            known.push_back(made);
            side.add(made);
            found = side.judged();
        }
        // Without the band only the coarse tolerance tells.
        if (unmeasured_[step.id]) found.differs = false;
    }
    to.differs = found.differs;
    to.judged = std::move(found);
}

TensorCheck InStep::checked(StepId step, const Tensor& ours, const trace::Match& match) const {
    const trace::TraceTensor& theirs = comparing_.trace.tensors[match.tensor];
    TensorCheck check = check_tensor(*run_, step, ours, match, theirs, tolerance());
    if (!is_rough(check)) return check;
    Side side(run_->plan(), match, theirs.values, comparing_.types[match.tensor], check.factor != 1.0,
              kept_by_mask(run_->plan()[step]));
    side.add(ours);
    check.judged = side.judged();
    check.differs = check.judged.differs;
    return check;
}

}  // namespace decoderscope::core::bisect
