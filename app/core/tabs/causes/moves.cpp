#include "app/core/tabs/causes/moves.h"

#include "app/core/run/passes_of_text.h"
#include "engine/graph/plan.h"
#include "engine/graph/substitution.h"
#include "engine/tensor/rows.h"
#include "engine/tensor/tensor.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <span>

namespace decoderscope::core::causes {

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
        PatchedStep patched{id, step.name, {}};
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
    StreamGradients slopes{name, {}, {}};
    for (Index position = 0; position < values.dim(1); ++position) {
        const auto slope = part_of(gradient, batch, position);
        slopes.length.push_back(std::sqrt(dot(slope, slope)));
        slopes.by_value.push_back(dot(slope, part_of(values, batch, position)));
    }
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

Tensor without_head(Tensor z, Index batch, Index head) {
    const std::size_t size = part_of(z, batch, head).size();
    std::ranges::fill(z.writable().subspan(static_cast<std::size_t>(batch * z.dim(1) + head) * size, size), 0.0F);
    return z;
}

// The gradients of a number with respect to some steps of a scenario's run, by their names.
std::map<std::string, Tensor> gradients_by(Scenario scenario, const ChosenNumber& number,
                                           const std::vector<std::string>& by) {
    std::map<std::string, Tensor> gradients;
    const auto add = [&](const Cell& cell, float factor) {
        scenario.gradient_target = cell_name(number.tensor, cell);
        const std::shared_ptr<const Plan> plan = plan_of(scenario);
        std::map<std::string, StepId> wanted;
        for (const std::string& name : by)
            if (const Ref step = plan->find(name), gradient = step == nullptr ? nullptr : plan->gradient_wrt(*step);
                gradient != nullptr)
                wanted.emplace(name, gradient->id);
        const NeededSteps needed = needed_steps(*plan, [&](const Step& step) {
            return std::ranges::any_of(wanted, [&](const auto& one) { return one.second == step.id; });
        });
        const std::shared_ptr<const Run> run = execute(plan, {.needed = &needed});
        for (const auto& [name, id] : wanted) {
            auto [at, is_new] = gradients.try_emplace(name, run->value(id));
            if (is_new) continue;
            const float* more = run->value(id).data();
            for (float& value : at->second.writable()) value += factor * *more++;
        }
    };
    add(number.cell, 1.0F);
    if (number.minus) add(*number.minus, -1.0F);
    return gradients;
}

// An input of token ids, and the embedding that it is looked up as.
struct TokenInput {
    Ref tokens = nullptr, embedding = nullptr, table = nullptr;
};

std::vector<TokenInput> token_inputs(const Plan& plan) {
    std::vector<TokenInput> inputs;
    for (const Step& step : plan.steps())
        if (is_looked_up(plan, step))
            inputs.push_back({plan.operand(step, OperandRole::tokens), &step, plan.operand(step, OperandRole::table)});
    return inputs;
}

// Tokens other than this one, spread over the vocabulary.
std::vector<Index> others(Index token, Index vocabulary, Index count) {
    std::vector<Index> chosen;
    for (Index i = 0; i < std::min(count, vocabulary - 1); ++i) {
        const Index step = 1 + i * (vocabulary - 1) / std::min(count, vocabulary - 1);
        chosen.push_back((token + step) % vocabulary);
    }
    return chosen;
}

bool is_padding(const Scenario& scenario, const Step& tokens, Index batch, Index position) {
    const bool encoder = tokens.name == "encoder_tokens";
    const Tensor mask = encoder ? scenario.inputs.encoder_attention_mask : padding_of(scenario);
    return is_padding(mask, batch, position);
}

// Measures one number of a run.
class Measuring {
public:
    Measuring(Scenario scenario, std::shared_ptr<const Run> run, ChosenNumber number, Index batch, std::stop_token stop,
              std::atomic<std::size_t>* done)
        : scenario_(std::move(scenario)),
          run_(std::move(run)),
          number_(std::move(number)),
          batch_(batch),
          stop_(std::move(stop)),
          done_(done),
          asked_(run_->plan().find(number_.tensor)->id),
          substitution_(*run_, asked_) {}

    [[nodiscard]] double before() const { return number_.in(run_->value(asked_)); }
    [[nodiscard]] bool stopped() const { return stop_.stop_requested(); }

    Resumable<std::vector<HeadMove>> heads() {
        std::vector<HeadMove> moves;
        const std::vector<HeadPlace> places = heads_of(run_->plan());
        std::vector<std::string> names;
        for (const HeadPlace& place : places) names.push_back(run_->plan()[place.z].name);
        co_yield kPause;  // a backward pass takes longer than a frame
        const std::map<std::string, Tensor> here = gradients_by(scenario_, number_, names);
        for (const HeadPlace& place : places) {
            const Tensor& z = run_->value(place.z);
            HeadMove move{.attention = place.attention, .layer = place.layer, .head = place.head};
            move.switched_off = before() - number_.in(substitution_.with(place.z, without_head(z, batch_, place.head)));
            move.gradient_times_z = promised(here, place);
            count();
            for (Index step = 0; step < kWaySteps; ++step) {
                co_yield kPause;
                if (stopped()) co_return moves;
                move.along_the_way += promised_at(place, step) / static_cast<double>(kWaySteps);
                count();
            }
            moves.push_back(move);
        }
        co_return moves;
    }

    Resumable<std::vector<InputMove>> inputs(Index swaps) {
        std::vector<InputMove> moves;
        const std::vector<TokenInput> inputs = token_inputs(run_->plan());
        std::vector<std::string> names;
        for (const TokenInput& input : inputs) names.push_back(input.embedding->name);
        co_yield kPause;
        const std::map<std::string, Tensor> here = gradients_by(scenario_, number_, names);
        for (const TokenInput& input : inputs) {
            for (Index position = 0; position < input.tokens->axes[1].size; ++position) {
                if (stopped()) co_return moves;
                if (is_padding(scenario_, *input.tokens, batch_, position)) continue;
                InputMove move{.encoder = input.embedding->in_encoder(), .position = position};
                if (const auto gradient = here.find(input.embedding->name); gradient != here.end())
                    move.gradient_times_z = dot(part_of(gradient->second, batch_, position),
                                                part_of(run_->value(input.embedding->id), batch_, position));
                swap(move, input, swaps);
                moves.push_back(move);
                co_yield kPause;
            }
        }
        co_return moves;
    }

private:
    void count() const {
        if (done_ != nullptr) done_->fetch_add(1, std::memory_order_relaxed);
    }

    // The effect of switching a head on as the gradient with respect to its z predicts it.
    [[nodiscard]] double promised(const std::map<std::string, Tensor>& gradients, const HeadPlace& place) const {
        const auto gradient = gradients.find(run_->plan()[place.z].name);
        if (gradient == gradients.end()) return 0.0;
        return dot(part_of(gradient->second, batch_, place.head), part_of(run_->value(place.z), batch_, place.head));
    }

    // As above, in the middle of a step on the way from off to on.
    [[nodiscard]] double promised_at(const HeadPlace& place, Index step) const {
        const double on = (static_cast<double>(step) + 0.5) / static_cast<double>(kWaySteps);
        Scenario dimmed = scenario_;
        dimmed.edits.push_back(ScaleHead{place.attention, place.head, static_cast<float>(on)});
        return promised(gradients_by(dimmed, number_, {run_->plan()[place.z].name}), place);
    }

    // Puts other tokens in a token's place.
    void swap(InputMove& move, const TokenInput& input, Index swaps) const {
        const Tensor& tokens = run_->value(input.tokens->id);
        const auto at = static_cast<std::size_t>(tokens.offset(Cell{batch_, move.position}));
        const std::vector<Index> instead =
            others(static_cast<Index>(tokens.values()[at]), input.table->axes[0].size, swaps);
        for (const Index token : instead) {
            Tensor swapped = tokens;
            swapped.writable()[at] = static_cast<float>(token);
            const double change = before() - number_.in(substitution_.with(input.tokens->id, swapped));
            move.swapped += std::abs(change) / static_cast<double>(instead.size());
            if (std::abs(change) > std::abs(move.most)) {
                move.most = change;
                move.by = token;
            }
            count();
        }
    }

    Scenario scenario_;
    std::shared_ptr<const Run> run_;
    ChosenNumber number_;
    Index batch_;
    std::stop_token stop_;
    std::atomic<std::size_t>* done_;
    StepId asked_;
    Substitution substitution_;
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

std::size_t runs_of_moves(const Run& run, Index swaps) {
    std::size_t runs = heads_of(run.plan()).size() * static_cast<std::size_t>(1 + kWaySteps);
    for (const TokenInput& input : token_inputs(run.plan()))
        runs += static_cast<std::size_t>(input.tokens->axes[1].size * swaps);
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

}  // namespace decoderscope::core::causes
