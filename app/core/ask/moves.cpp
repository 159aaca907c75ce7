#include "app/core/ask/moves.h"

#include "app/core/ask/measure.h"
#include "app/core/ask/vary.h"
#include "engine/graph/plan.h"
#include "engine/graph/substitution.h"
#include "engine/tensor/rows.h"
#include "engine/tensor/tensor.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <span>
#include <utility>

namespace decoderscope::core::ask {

std::vector<StepId> patchable_steps(const PatchingInputs& question) {
    const Plan& plan = question.a->plan();
    const Ref asked = plan.find(question.number.tensor);
    if (asked == nullptr) return {};
    const Substitution substitution(*question.a, asked->id);
    std::vector<StepId> steps;
    for (StepId id = 0; id < asked->id; ++id) {
        const Step& step = plan[id];
        if (step.role != Role::recorded || !substitution.depends_on(id) || !row_axis(step.axes)) continue;
        const Tensor& other = question.b->value(step.name);
        if (!question.a->value(id).empty() && !other.empty() && other.axes() == step.axes) steps.push_back(id);
    }
    return steps;
}

std::size_t patched_rows(const PatchingInputs& question, const std::vector<StepId>& steps) {
    Index rows = 0;
    for (const StepId id : steps) rows += row_count(question.a->plan()[id].axes);
    return static_cast<std::size_t>(rows);
}

Resumable<Patching> patch_rows(PatchingInputs question, std::vector<StepId> steps, std::stop_token stop,
                               std::atomic<std::size_t>* done) {
    const Run &a = *question.a, &b = *question.b;
    check_number(a, question.number);
    check_number(b, question.number);
    const StepId asked = a.plan().find(question.number.tensor)->id;
    Patching patching{.in_a = question.number.in(a.value(asked)),
                      .in_b = question.number.in(b.value(question.number.tensor)),
                      .steps = {}};
    if (!patching.differs()) steps.clear();
    const Substitution substitution(a, asked);
    for (const StepId id : steps) {
        const Step& step = a.plan()[id];
        PatchedStep patched{step.name, {}};
        const Tensor &here = a.value(id), &there = b.value(step.name);
        for (Index row = 0; row < row_count(step.axes); ++row) {
            if (stop.stop_requested()) co_return patching;
            const Tensor asked_for = substitution.with(id, with_row_of(here, there, question.batch, row));
            patched.back.push_back((question.number.in(asked_for)-patching.in_a) / (patching.in_b - patching.in_a));
            if (done != nullptr) done->fetch_add(1, std::memory_order_relaxed);
            co_yield kPause;
        }
        patching.steps.push_back(std::move(patched));
    }
    patching.complete = true;
    co_return patching;
}

namespace {

// Empty if the run has none.
Tensor gradient_of(const Run& run, const Step& step) {
    const Ref gradient = run.plan().gradient_wrt(step);
    return gradient == nullptr ? Tensor() : run.value(gradient->id);
}

Tensor difference(Tensor a, const Tensor& b) {
    if (b.empty()) return a;
    if (a.empty()) {
        a = Tensor(b.axes());
        std::ranges::fill(a.writable(), 0.0F);
    }
    const std::span<float> result = a.writable();
    std::ranges::transform(result, b.values(), result.begin(), std::minus<>());
    return a;
}

double dot(std::span<const float> a, std::span<const float> b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0, std::plus<>(),
                              [](float x, float y) { return static_cast<double>(x) * static_cast<double>(y); });
}

// One index of a tensor's first axes, with all of the others.
std::span<const float> part_of(const Tensor& tensor, Index first, Index second) {
    const Index size = tensor.size() / (tensor.dim(0) * tensor.dim(1));
    return tensor.values().subspan(static_cast<std::size_t>((first * tensor.dim(1) + second) * size),
                                   static_cast<std::size_t>(size));
}

// The slopes of a tensor [batch, pos, d_model].
StreamGradients slopes_of_rows(const std::string& name, const Tensor& values, const Tensor& gradient, Index batch) {
    StreamGradients slopes{name, {}};
    for (Index position = 0; position < values.dim(1); ++position)
        slopes.by_value.push_back(dot(part_of(gradient, batch, position), part_of(values, batch, position)));
    return slopes;
}

bool is_stream(const Step& step) { return step.part == Part::add || step.part == Part::residual_stream; }

// The steps that tokens are looked up as.
bool is_looked_up(const Plan& plan, const Step& step) {
    const Ref tokens = plan.operand(step, OperandRole::tokens);
    return step.part == Part::embedding && tokens != nullptr && tokens->role == Role::input;
}

// The scores as they are computed, before a cap or a mask.
bool is_raw_scores(const Plan& plan, const Step& step) {
    const auto is_scores = [&](StepId operand) { return plan[operand].is_scores; };
    return step.is_scores && step.mask_to_come && std::ranges::none_of(step.operands, is_scores);
}

void add_scores(std::vector<ScoreSlope>& scores, const Step& step, const Tensor& gradient, Index batch) {
    const Index size = gradient.size() / gradient.dim(0);
    for (Index i = batch * size; i < (batch + 1) * size; ++i)
        if (const float slope = gradient.data()[i]; slope != 0.0F)
            scores.push_back({step.name, gradient.cell(i), static_cast<double>(slope)});
}

// ---- measured

struct HeadPlace {
    std::string attention;
    StepId z = 0;
    Index layer = 0, head = 0;
};

std::vector<HeadPlace> heads_of(const Plan& plan) {
    std::vector<HeadPlace> heads;
    for (const Step& step : plan.steps()) {
        if (plan.step_of(step.attention, AttentionStep::z) != &step) continue;
        for (Index head = 0; head < step.axes[1].size; ++head)
            heads.push_back({step.attention, step.id, step.layer, head});
    }
    return heads;
}

// As a formula.
std::string text_of(const ChosenNumber& number) {
    const std::string cell = cell_name(number.tensor, number.cell);
    return number.minus ? cell + " - " + cell_name(number.tensor, *number.minus) : cell;
}

// What the gradient promises of switching a head on, as a formula: gradient · z. Part of the way from off to on, z is
// that much smaller, too.
std::string promise_of(const Plan& plan, const HeadPlace& head, Index batch) {
    const std::string part =
        plan[head.z].name + "[" + std::to_string(batch) + ", " + std::to_string(head.head) + ", q, d]";
    return "sum_{q,d} grad." + part + " * " + part;
}

// The factor that an edit gives the head; 1 without one.
double factor_of(const HeadPlace& head, const std::vector<Edit>& edits) {
    double factor = 1.0;
    for (const Edit& edit : edits)
        if (const auto* scaled = std::get_if<ScaleHead>(&edit);
            scaled != nullptr && scaled->attention == head.attention && scaled->head == head.head)
            factor = static_cast<double>(scaled->factor);
    return factor;
}

// The runs in which a head is on by these parts: 0 is off, 1 as it is.
Points on_by(const std::vector<double>& parts, const HeadPlace& head, const std::vector<Edit>& edits) {
    const double factor = factor_of(head, edits);
    return {{head.attention + " head " + std::to_string(head.head)}, parts.size(), [=](std::size_t i) {
                const ScaleHead scaled = {head.attention, head.head, static_cast<float>(factor * parts[i])};
                return Point{.at = {{Sentence::verbatim(std::to_string(parts[i])), parts[i], true}},
                             .variation = {.more_edits = {scaled}}};
            }};
}

// The middles of kWaySteps steps from off to on.
std::vector<double> parts_of_the_way() {
    std::vector<double> parts;
    for (Index step = 0; step < kWaySteps; ++step)
        parts.push_back((static_cast<double>(step) + 0.5) / static_cast<double>(kWaySteps));
    return parts;
}

Points with_each(const std::vector<ReplacedToken>& replaced) {
    return {{"token"}, replaced.size(), [replaced](std::size_t i) {
                const Edit edit = edit_of(replaced[i]);
                return Point{.at = {{Sentence::verbatim(std::to_string(replaced[i].after))}},
                             .variation = {.more_edits = {edit}}};
            }};
}

double only_number(const Tensor& value) { return static_cast<double>(value.values()[0]); }

// One number of a run, and what moves it: sweeps that watch it.
class Measuring {
public:
    Measuring(Scenario scenario, std::shared_ptr<const Run> run, ChosenNumber number, Index batch, std::stop_token stop,
              std::atomic<std::size_t>* done)
        : scenario_(std::move(scenario)),
          run_(std::move(run)),
          number_(std::move(number)),
          batch_(batch),
          stop_(std::move(stop)),
          done_(done) {
        scenario_.gradient_target.clear();
    }

    [[nodiscard]] double before() const { return number_.in(run_->value(number_.tensor)); }
    [[nodiscard]] bool stopped() const { return stop_.stop_requested(); }

    Resumable<std::vector<HeadMove>> heads() {
        std::vector<HeadMove> moves;
        std::vector<Side> sides;
        co_yield kPause;  // planning a backward pass takes longer than a frame
        sides.push_back(side_of(number_.cell, 1.0));
        if (number_.minus) sides.push_back(side_of(*number_.minus, -1.0));
        for (const HeadPlace& place : heads_of(run_->plan())) {
            HeadMove move{.attention = place.attention, .layer = place.layer, .head = place.head};
            Points off_alone = on_by({0.0}, place, scenario_.edits);
            std::string row = text_of(number_);
            const Sweep off = co_await swept(scenario_, std::move(row), std::move(off_alone), done_);
            for (const Side& side : sides)
                if (!stopped()) co_await promise(move, place, side);
            if (stopped()) break;
            move.switched_off = before() - only_number(off.results[0].value);
            moves.push_back(move);
        }
        co_return moves;
    }

    Resumable<std::vector<InputMove>> inputs(Index swaps) {
        std::vector<InputMove> moves;
        const Slopes slopes = co_await slopes_of_number(scenario_, number_, batch_);
        for (const TokenSequence sequence : {TokenSequence::source, TokenSequence::target}) {
            std::vector<ReplacedToken> replaced = replaced_tokens(scenario_, *run_, sequence, swaps);
            std::erase_if(replaced, [&](const ReplacedToken& one) { return one.batch != batch_; });
            if (replaced.empty()) continue;
            Points points = with_each(replaced);
            std::string row = text_of(number_);
            const Sweep runs = co_await swept(scenario_, std::move(row), std::move(points), done_);
            add(moves, replaced, runs, slopes);
        }
        co_return moves;
    }

private:
    Resumable<Sweep> swept(Scenario scenario, std::string row, Points points, std::atomic<std::size_t>* done) const {
        Unswept unswept{std::move(scenario), run_, row_from(row, run_->plan())};
        const SweepOptions options{
            .output = OfOutput::nothing, .unswept = !unswept.scenario.gradient_target.empty(), .done = done};
        Sweep runs = co_await ask::swept(std::move(unswept), std::move(points), options, stop_);
        co_return runs;
    }

    // The number's cell or the one that is subtracted, with its gradients.
    struct Side {
        double sign;
        Scenario scenario;
        std::shared_ptr<const Plan> plan;
    };
    [[nodiscard]] Side side_of(const Cell& cell, double sign) const {
        Side side{sign, scenario_, nullptr};
        side.scenario.gradient_target = cell_name(number_.tensor, cell);
        side.plan = plan_of(side.scenario);
        return side;
    }

    // Adds what a side's gradients promise; nothing if it doesn't depend on the head.
    Resumable<Done> promise(HeadMove& move, const HeadPlace& place, const Side& side) const {
        if (side.plan->gradient_wrt(*side.plan->find(run_->plan()[place.z].name)) == nullptr) co_return Done{};
        Points on_the_way = on_by(parts_of_the_way(), place, scenario_.edits);
        std::string row = promise_of(run_->plan(), place, batch_);
        std::atomic<std::size_t>* done = side.sign > 0.0 ? done_ : nullptr;
        const Sweep way = co_await swept(side.scenario, std::move(row), std::move(on_the_way), done);
        if (way.unswept) move.gradient_times_z += side.sign * only_number(*way.unswept);
        for (const Result& result : way.results)
            move.along_the_way += side.sign * only_number(result.value) / *result.at[0].number / kWaySteps;
        co_return Done{};
    }

    // Each token's move, from the runs with others in its place; they stand position by position.
    void add(std::vector<InputMove>& moves, std::span<const ReplacedToken> replaced, const Sweep& runs,
             const Slopes& slopes) const {
        for (std::size_t first = 0, end = 0; first < runs.results.size(); first = end) {
            const ReplacedToken& token = replaced[first];
            InputMove& move = moves.emplace_back();
            move.encoder = token.in_source;
            move.position = token.position;
            for (const StreamGradients& input : slopes.input)
                if (run_->plan().find(input.tensor)->in_encoder() == token.in_source)
                    move.gradient_times_z = input.by_value[static_cast<std::size_t>(token.position)];
            while (end < runs.results.size() && replaced[end].position == token.position) ++end;
            for (std::size_t i = first; i < end; ++i) {
                const double change = before() - only_number(runs.results[i].value);
                move.swapped += std::abs(change) / static_cast<double>(end - first);
                if (std::abs(change) <= std::abs(move.most)) continue;
                move.most = change;
                move.by = replaced[i].after;
            }
        }
    }

    Scenario scenario_;
    std::shared_ptr<const Run> run_;
    ChosenNumber number_;
    Index batch_;
    std::stop_token stop_;
    std::atomic<std::size_t>* done_;
};

}  // namespace

Slopes slopes_of(const Run& run, const Run* minus, Index batch, std::size_t most_scores) {
    const Plan& plan = run.plan();
    Slopes slopes;
    for (const Step& step : plan.steps()) {
        const bool stream = is_stream(step), looked_up = is_looked_up(plan, step), scores = is_raw_scores(plan, step);
        if (step.role != Role::recorded || !(stream || looked_up || scores)) continue;
        const Tensor gradient =
            difference(gradient_of(run, step), minus == nullptr ? Tensor() : gradient_of(*minus, step));
        if (gradient.empty()) continue;
        if (stream) slopes.stream.push_back(slopes_of_rows(step.name, run.value(step.id), gradient, batch));
        if (looked_up) slopes.input.push_back(slopes_of_rows(step.name, run.value(step.id), gradient, batch));
        if (scores) add_scores(slopes.scores, step, gradient, batch);
    }
    slopes.all_scores = slopes.scores.size();
    const auto kept = slopes.scores.begin() + static_cast<std::ptrdiff_t>(std::min(most_scores, slopes.scores.size()));
    std::partial_sort(slopes.scores.begin(), kept, slopes.scores.end(),
                      [](const ScoreSlope& a, const ScoreSlope& b) { return std::abs(a.slope) > std::abs(b.slope); });
    slopes.scores.erase(kept, slopes.scores.end());
    return slopes;
}

Resumable<Slopes> slopes_of_number(Scenario scenario, ChosenNumber number, Index batch) {
    co_yield kPause;  // planning a backward pass takes longer than a frame
    scenario.gradient_target = cell_name(number.tensor, number.cell);
    const std::shared_ptr<const Run> run = co_await execute_in_slices(plan_of(scenario));
    std::shared_ptr<const Run> other;
    if (number.minus) {
        scenario.gradient_target = cell_name(number.tensor, *number.minus);
        other = co_await execute_in_slices(plan_of(scenario));
    }
    co_return slopes_of(*run, other.get(), batch);
}

std::size_t runs_of_moves(const Run& run, Index swaps) {
    std::size_t runs = heads_of(run.plan()).size() * static_cast<std::size_t>(1 + kWaySteps);
    for (const Step& step : run.plan().steps())
        if (is_looked_up(run.plan(), step)) runs += static_cast<std::size_t>(step.axes[1].size * swaps);
    return runs;
}

Resumable<Moves> measure_moves(Scenario scenario, std::shared_ptr<const Run> run, ChosenNumber number, Index batch,
                               Index swaps, std::stop_token stop, std::atomic<std::size_t>* done) {
    check_number(*run, number);
    Measuring measuring(std::move(scenario), std::move(run), std::move(number), batch, std::move(stop), done);
    Moves moves{.number = measuring.before(), .heads = {}, .tokens = {}};
    moves.heads = co_await measuring.heads();
    moves.tokens = co_await measuring.inputs(swaps);
    moves.complete = !measuring.stopped();
    co_return moves;
}

}  // namespace decoderscope::core::ask
