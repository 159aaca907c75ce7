#include "app/core/tabs/bisect/bisection.h"

#include "app/core/compare/transformer_lens.h"
#include "app/core/run/mistakes_behind_cache.h"
#include "app/core/run/open_model.h"
#include "app/core/run/output_moves.h"
#include "app/core/run/passes_of_text.h"
#include "app/core/tabs/bisect/formula_edits.h"
#include "app/core/tabs/bisect/given.h"
#include "app/core/tabs/bisect/in_step.h"
#include "app/core/tabs/bisect/judgement.h"
#include "app/core/tabs/bisect/passes.h"
#include "app/core/tabs/bisect/relation.h"
#include "app/core/tabs/bisect/rows_of_batch.h"
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/decoder/decoder.h"
#include "engine/load/moved_weights.h"
#include "engine/load/names/recognise_names.h"
#include "engine/load/recorded_run.h"
#include "engine/mutations/changes.h"
#include "engine/tensor/row_math.h"
#include "engine/trace/modules_by_numbers.h"
#include "engine/trace/recorded_file.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <iterator>
#include <limits>
#include <numeric>
#include <set>
#include <span>
#include <tuple>
#include <utility>

namespace decoderscope::core::bisect {

namespace {

using GivenTensors = std::map<std::string, Tensor, std::less<>>;

std::optional<std::size_t> first_difference(const std::vector<TensorCheck>& checks) {
    const auto found = std::ranges::find_if(checks, [](const TensorCheck& check) { return check.differs; });
    if (found == checks.end()) return std::nullopt;
    return static_cast<std::size_t>(found - checks.begin());
}

// What our plan computes, in step with the recording, compared with what was recorded.
struct Checked {
    std::shared_ptr<const InStep> in_step;
    std::vector<TensorCheck> checks;

    [[nodiscard]] const Run& run() const { return *in_step->run(); }

    [[nodiscard]] std::optional<std::size_t> first() const { return first_difference(checks); }
    [[nodiscard]] std::string first_name() const {
        const auto at = first();
        return at ? checks[*at].ours : std::string();
    }
};

mutations::Mutation both(const mutations::Mutation& a, const mutations::Mutation& b) {
    return {.name = b.name,
            .cause = b.cause,
            .configure =
                [a, b](Config& config) {
                    if (a.configure) a.configure(config);
                    if (b.configure) b.configure(config);
                },
            .feed =
                [a, b](Inputs& inputs, const Config& config) {
                    if (a.feed) a.feed(inputs, config);
                    if (b.feed) b.feed(inputs, config);
                },
            .change =
                [a, b](Plan& plan, const Config& config) {
                    if (a.change) a.change(plan, config);
                    if (b.change) b.change(plan, config);
                },
            .dropout_seed = b.dropout_seed ? b.dropout_seed : a.dropout_seed};
}

// The recorder's call of all that was recorded.
bool is_of_all(const trace::TraceCall& call) { return call.module == kModel && call.function.empty(); }

// Token numbers and masks are what a model is given, not what it computes.
bool is_computed(const trace::TraceTensor& tensor) { return tensor.has_floats(); }

// Scores and what they are computed from may be written differently (the scale in the query, positions counted from
// elsewhere) as long as the pattern is the same or, where a kernel keeps none, what the heads gather by it; and
// `gives_same` doesn't say of an attention that its queries and keys have other products.
template <class GivesSame>
void forgive(std::vector<TensorCheck>& checks, const Plan& plan, const GivesSame& gives_same) {
    std::map<std::string, bool> same_pattern;
    const auto take = [&](const auto& tells) {
        std::map<std::string, bool> found;
        for (const TensorCheck& check : checks)
            if (const Step& step = plan[check.match.step]; check.is_computed && tells(step, check))
                found.emplace(step.attention, true).first->second &= !check.differs;
        same_pattern.merge(found);
    };
    take([](const Step& step, const TensorCheck& check) {
        return step.is_pattern || check.match.strictness == trace::Strictness::as_softmax;
    });
    take([&](const Step& step, const TensorCheck&) {
        return !step.attention.empty() && plan.step_of(step.attention, AttentionStep::z) == &step;
    });
    for (TensorCheck& check : checks) {
        const Step& step = plan[check.match.step];
        if (!check.differs || check.other_shape || !may_be_written_otherwise(check.match, step)) continue;
        const auto known = same_pattern.find(step.attention);
        if (known == same_pattern.end() || !known->second) continue;
        if (!step.is_scores && !gives_same(step.attention)) continue;
        check.differs = false;
        check.harmless = true;
    }
}

// Where a tensor agrees where it was computed but differs where a step reads it, that step is at fault, as its
// own output shows.
void blame_readers(std::vector<TensorCheck>& checks) {
    const auto any = [&](StepId step, bool differs) {
        return std::ranges::any_of(checks, [&](const TensorCheck& check) {
            return check.match.step == step && !check.match.reader && check.is_computed && check.differs == differs;
        });
    };
    std::vector<std::size_t> excused;
    for (std::size_t i = 0; i < checks.size(); ++i)
        if (checks[i].differs && checks[i].match.reader && any(checks[i].match.step, false) &&
            any(*checks[i].match.reader, true))
            excused.push_back(i);
    for (const std::size_t i : excused) {
        checks[i].differs = false;
        checks[i].harmless = true;
    }
}

// A step that a mistake computes differently may have been recorded twice, the first time before the mistake happened
// (a projection before it is split into heads): it is enough that one agrees.
void excuse_changed(std::vector<TensorCheck>& checks, const Plan& right, const Plan& wrong) {
    std::set<std::size_t> excused;  // tensors
    for (const TensorCheck& check : checks) {
        const Ref before = right.find(check.ours), now = wrong.find(check.ours);
        if (!check.is_computed || check.differs || before == nullptr || now == nullptr) continue;
        if (before->operation == now->operation) continue;
        for (const TensorCheck& other : checks)
            if (other.ours == check.ours && other.differs) excused.insert(other.match.tensor);
    }
    // What such a step reads may be laid out differently where it reads it (heads joined in another way).
    for (const TensorCheck& check : checks) {
        if (!check.differs || !check.match.reader) continue;
        const Step& reader = wrong[*check.match.reader];
        const Ref before = right.find(reader.name);
        const bool changed = before != nullptr && !(before->operation == reader.operation);
        const bool agrees = std::ranges::any_of(
            checks, [&](const TensorCheck& other) { return other.ours == reader.name && !other.differs; });
        if (changed && agrees) excused.insert(check.match.tensor);
    }
    for (TensorCheck& check : checks)
        if (check.differs && excused.contains(check.match.tensor)) {
            check.differs = false;
            check.harmless = true;
        }
}

Comparing comparing(const Scenario& scenario, const trace::Trace& trace, std::optional<double> tolerance) {
    Comparing how{.trace = trace,
                  .weights = scenario.weights(),
                  .arithmetic = scenario.config().arithmetic,
                  .types = {},
                  .tolerance = tolerance};
    if (how.arithmetic == Arithmetic::float32) how.arithmetic = arithmetic_of(trace);
    for (const trace::TraceTensor& tensor : trace.tensors)
        how.types.push_back(has_all_of(how.arithmetic, tensor.values) ? how.arithmetic : Arithmetic::float32);
    how.coarse = coarse_tolerance(how.arithmetic);
    return how;
}

// Whether the trace goes on to the loss, as one of ours may.
bool holds_loss(const trace::Trace& trace) {
    return std::ranges::any_of(trace.tensors,
                               [](const trace::TraceTensor& tensor) { return tensor.name == "loss_per_token"; });
}
bool has_loss(const Scenario& scenario) { return scenario.config().lm_head && !scenario.inputs.tokens.empty(); }

// All that is worked with on one model and one trace.
class Bisecting {
public:
    Bisecting(const Scenario& scenario, const trace::Trace& trace, const BisectOptions& options,
              BisectProgress* progress)
        : scenario_(scenario),
          trace_(trace),
          past_(options.past),
          chosen_(options.chosen),
          progress_(progress),
          comparing_(comparing(scenario, trace, options.tolerance)),
          roughly_(comparing_),
          config_(scenario.config()),
          gradient_target_(holds_loss(trace) && has_loss(scenario) ? "loss" : scenario.gradient_target),
          norms_anywhere_(load::with_norms_anywhere(scenario.weights())) {}

    // The checks, and what they come to.
    Resumable<Bisection> compared(bool seek_causes) {
        config_.arithmetic = comparing_.arithmetic;
        roughly_.tolerance = comparing_.tolerance.value_or(comparing_.coarse);
        const std::shared_ptr<const Plan> plan = plan_with(nullptr, {});
        known_.parameters = names_of_theirs();
        known_.keeps_all = config_.sliding_window == 0;
        std::vector<Sentence> apart = given_apart(scenario_, trace_, known_.parameters, comparing_.arithmetic);
        for (const Step& step : plan->steps())
            if (const std::string other = diff::transformer_lens_name(*plan, step); !other.empty())
                known_.aliases.emplace(other, step.name);
        alone_ = execute(plan);
        co_yield kPause;
        known_.parameters.merge(trace::modules_by_numbers(*alone_, trace_, known_.parameters));
        matches_ = aligned();
        co_yield kPause;
        base_ = checked(plan, matches_, nullptr);
        co_yield kPause;
        // In float32 nearly all numbers are apart in the last place, and none by more.
        if (!base_.first() && !comparing_.tolerance && seek_causes && comparing_.arithmetic != Arithmetic::float32)
            co_await suspect(is_quick(*plan));
        Bisection result;
        result.tolerance = comparing_.tolerance.value_or(comparing_.coarse);
        result.by_tolerance = comparing_.tolerance.has_value();
        result.arithmetic = comparing_.arithmetic;
        result.checks = base_.checks;
        summarise(result);
        name_line(result, trace_);
        for (const std::size_t tensor : unmatched_by(matches_))
            if (is_computed(trace_.tensors[tensor])) result.unmatched.push_back(trace_.tensors[tensor].name);
        result.remarks = trace_.remarks;
        result.assumed = scenario_.about().remarks;
        if (!scenario_.about().fitted.empty()) result.remarks.push_back(scenario_.about().fitted);
        std::ranges::copy(not_told_apart_, std::back_inserter(result.remarks));
        if (trace_.hyperparameters.contains(trace::kUnfinished) && !trace_.remarks.empty())
            result.unfinished = trace_.remarks.front();
        result.apart = std::move(apart);
        for (Sentence& taken : taken_from_recording(trace_, scenario_.inputs))
            result.remarks.push_back(std::move(taken));
        result.kept = past_ != nullptr ? past_->positions : 0;
        result.not_compared = not_compared(trace_, scenario_.inputs, scenario_.config(), result.kept);
        const bool loss_is_right = judge_losses(result);
        cover(result, judge_head(result) || loss_is_right);
        judge(result);
        co_return result;
    }

    // As above, and where and why it differs.
    Resumable<Bisection> found(bool seek_causes) {
        Bisection result = co_await compared(seek_causes);
        if (!result.first) co_return result;
        isolate(result);
        co_yield kPause;
        if (seek_causes)
            co_await seek(result);
        else
            describe(result, {});
        co_return result;
    }

    // The right run, as it is without the recording; and in step with it.
    [[nodiscard]] const Run& right_run() const { return *alone_; }
    [[nodiscard]] const Run& run_in_step() const { return base_.run(); }

    // What theirs is to ours at the first difference; empty if nothing is found.
    Resumable<Sentence> relation() const {
        Sentence number = co_await solved();
        if (!number.empty()) co_return number;
        const TensorCheck& wrong = base_.checks[*base_.first()];
        for (const TensorCheck& other : base_.checks)
            if (wrong.other_shape && other.match.tensor == wrong.match.tensor && other.is_computed && !other.differs)
                co_return message("theirs are {step}", {{"step", other.ours}});
        const Step& step = base_.run().plan()[wrong.match.step];
        if (Sentence row = relation_of_rows(alone_->value(step.id), trace_.tensors[wrong.match.tensor].values,
                                            comparing_.arithmetic);
            !row.empty())
            co_return row;
        if (Sentence positions = relation_of_positions(wrong); !positions.empty()) co_return positions;
        if (Sentence experts = relation_of_experts(wrong); !experts.empty()) co_return experts;
        if (Sentence behind = relation_of_order(step, wrong); !behind.empty()) co_return behind;
        if (Sentence given = relation_of_given(step, wrong); !given.empty()) co_return given;
        if (!wrong.is_computed || wrong.other_shape) co_return uncalled(step);
        const auto both = both_of(step, wrong.match, base_.in_step->computed(step.id));
        if (!both) co_return uncalled(step);
        if (Sentence added = relation_of_update(step, wrong); !added.empty()) co_return added;
        if (Sentence cut = relation_of_columns(step, *both); !cut.empty()) co_return cut;
        Sentence found = relation_between(both->ours, both->theirs, comparing_.arithmetic);
        // What it was given may be no longer what was made before.
        for (const TensorCheck& read : base_.checks) {
            if (!found.empty() || read.match.reader != step.id || !read.harmless) continue;
            const Step& operand = base_.run().plan()[read.match.step];
            const auto given = both_of(operand, read.match, base_.run().value(operand.id));
            const Sentence how =
                given ? relation_between(given->ours, given->theirs, comparing_.arithmetic) : Sentence();
            if (!how.empty())
                found = message("of what it is given, {step}: {relation}", {{"step", operand.name}, {"relation", how}});
        }
        if (found.empty() && both->theirs.size() == base_.in_step->computed(wrong.match.step).size())
            found = relation_of_part(base_.run(), step, both->theirs, comparing_.arithmetic);
        co_return found.empty() ? uncalled(step) : found;
    }

private:
    // ---- runs

    [[nodiscard]] std::shared_ptr<const Plan> plan_with(const mutations::Mutation* mutation, const GivenTensors& given,
                                                        const Weights* weights = nullptr) const {
        decoder::PassRequest request{config_, weights != nullptr ? weights : &scenario_.weights(), scenario_.inputs,
                                     scenario_.edits, scenario_.dropout_seed};
        request.mutation = mutation;
        // A norm that stands elsewhere by mistake has the parameters of the one that is there; unless the mistake is
        // confined to a step, which its name says before a colon.
        const bool is_whole = mutation != nullptr && mutation->name.find(':') == std::string::npos;
        if (is_whole && mutation->configure) request.weights = &norms_anywhere_;
        request.past = past_;
        // With given inputs, only the forward pass is of interest.
        if (given.empty()) request.gradient_target = gradient_target_;
        request.given = given.empty() ? nullptr : &given;
        return decoder::plan_decoder(request);
    }

    // What each stored parameter of theirs is: as for the model's file or, if that has other names, recognised.
    [[nodiscard]] load::names::Mapping names_of_theirs() const {
        const load::Model& model = *scenario_.model();
        const load::names::Mapping& own = model.mapping.empty() ? model.recognised.names.mapping : model.mapping;
        load::names::Mapping known = own;
        if (std::ranges::any_of(trace_.parameters, [&](const auto& one) { return !own.contains(one.name); })) {
            load::names::Shapes shapes;
            for (const trace::TraceTensor& parameter : trace_.parameters)
                shapes.emplace(parameter.name, parameter.shape);
            try {
                known.merge(load::names::recognise_names(shapes, model.answers).mapping);
            } catch (const Error&) {  // what the names don't say, calls and values may
            }
        }
        return known;
    }

    // ---- checks

    [[nodiscard]] std::vector<trace::Match> aligned() {
        const Plan& plan = alone_->plan();
        trace::Alignment alignment = trace::align(plan, trace_, known_);
        trace::align_by_values(alignment, plan, trace_, [&](const trace::Match& match) {
            const TensorCheck check = check_tensor(*alone_, match.step, alone_->value(match.step), match,
                                                   trace_.tensors[match.tensor], comparing_.coarse);
            return check.is_computed && !check.differs && check.largest < std::numeric_limits<double>::infinity();
        });
        match_returned(alignment.matches);
        // It is one step: a number by which we multiply behind the head may have been multiplied by before it.
        if (const Ref last = output_step(plan); last != nullptr && plan.find("logits_unscaled") != nullptr)
            std::erase_if(alignment.matches, [&](const trace::Match& match) {
                const StepId at = match.reader.value_or(match.step);  // the head, or what it is given
                return at < last->id && plan[at].axes == last->axes &&
                       (match.reader ? std::ranges::any_of(alignment.matches,
                                                           [&](const trace::Match& other) {
                                                               return other.step == last->id &&
                                                                      other.basis != trace::Basis::name;
                                                           })
                                     : std::ranges::any_of(alignment.matches, [&](const trace::Match& other) {
                                           return other.tensor == match.tensor && other.step == last->id;
                                       }));
            });
        apply_choices(alignment.matches, chosen_, plan, trace_);
        for (const trace::Match& match : alignment.matches)
            if (match.basis == trace::Basis::returned || match.basis == trace::Basis::value ||
                match.basis == trace::Basis::place)
                by_numbers_.emplace_back(plan[match.step].name, match);
        trace::check_not_empty(trace_);
        // What was returned in another shape tells of no difference if it is all: it is another model's.
        const auto tells = [&](const trace::Match& match) {
            return match.basis != trace::Basis::returned ||
                   trace::can_be_laid_out(plan[match.step].axes, trace_.tensors[match.tensor].values.axes(),
                                          match.placed);
        };
        if (std::ranges::none_of(alignment.matches, tells))
            throw Error(
                "{path}: none of its {count} tensors matches one of the model's, by name, by module or by value",
                {{"path", trace_.path}, {"count", trace_.tensors.size()}});
        return alignment.matches;
    }

    // What the recorded model returned is our last step, whatever its numbers are: the first of those that fit or, if
    // none does, the first.
    void match_returned(std::vector<trace::Match>& matches) const {
        const Plan& plan = alone_->plan();
        const Ref last = output_step(plan);
        const std::vector<std::size_t> returned = returned_by_theirs();
        const auto is_known = [&](std::size_t tensor) {
            return std::ranges::any_of(matches, [&](const trace::Match& match) {
                return match.tensor == tensor && match.step >= last->id && !plan[match.step].backward;
            });
        };
        if (last == nullptr || returned.empty() || std::ranges::any_of(returned, is_known)) return;
        const trace::Placed placed = {.last_rows = true};
        const auto fits = [&](std::size_t tensor) {
            return trace::can_be_laid_out(last->axes, trace_.tensors[tensor].values.axes(), placed);
        };
        const auto found = std::ranges::find_if(returned, fits);
        // A model that was opened without its head returns more than our last step.
        if (found == returned.end() && !scenario_.config().lm_head) return;
        const std::size_t tensor = found == returned.end() ? returned.front() : *found;
        const trace::TraceCall* made = trace_.call_of(trace_.tensors[tensor].name);
        const bool logarithm = made != nullptr && made->function == "log_softmax";
        matches.push_back({last->id, tensor, placed, trace::Basis::returned,
                           logarithm ? trace::Strictness::as_softmax : trace::Strictness::exact});
        std::ranges::stable_sort(matches, {}, &trace::Match::step);
    }

    // The numbers, not one alone as a loss is, that the recorded model itself returned; none if the recording doesn't
    // list its calls.
    [[nodiscard]] std::vector<std::size_t> returned_by_theirs() const {
        std::vector<std::size_t> found;
        for (const trace::TraceCall& call : trace_.calls)
            if (is_of_all(call))
                for (const auto& [port, name] : call.out)
                    for (std::size_t i = 0; i < trace_.tensors.size(); ++i)
                        if (trace_.tensors[i].name == name && is_computed(trace_.tensors[i]) &&
                            trace_.tensors[i].values.size() > 1)
                            found.push_back(i);
        return found;
    }

    [[nodiscard]] std::vector<std::size_t> unmatched_by(const std::vector<trace::Match>& matches) const {
        std::set<std::size_t> matched;
        for (const trace::Match& match : matches) matched.insert(match.tensor);
        std::vector<std::size_t> unmatched;
        for (std::size_t i = 0; i < trace_.tensors.size(); ++i)
            if (!matched.contains(i)) unmatched.push_back(i);
        return unmatched;
    }

    [[nodiscard]] Checked checked(std::shared_ptr<const Plan> plan, const std::vector<trace::Match>& matches,
                                  const InStep* previous) const {
        Checked made;
        made.in_step = std::make_shared<const InStep>(plan, comparing_, matches, previous);
        made.checks = made.in_step->checks();
        forgive(made.checks, *plan, [&](const std::string& attention) { return gives_same_scores(made, attention); });
        blame_readers(made.checks);
        return made;
    }

    // Whether their queries and keys have the products of ours, in whatever order their columns are, but for a factor
    // and what all keys share; true if not both were recorded. As root of the mean square over what isn't masked.
    [[nodiscard]] bool gives_same_scores(const Checked& of, const std::string& attention) const {
        const Plan& plan = of.run().plan();
        const Ref q = plan.step_of(attention, AttentionStep::query), k = plan.step_of(attention, AttentionStep::key);
        const Ref mask = plan.step_of(attention, AttentionStep::mask);
        const auto both_of = [&](Ref step) {
            std::optional<trace::LaidOut> both;
            for (const TensorCheck& check : of.checks)
                if (step != nullptr && check.match.step == step->id && !check.other_shape && !check.match.reader)
                    both = trace::laid_out(of.in_step->computed(step->id), trace_.tensors[check.match.tensor].values,
                                           check.match.placed);
            return both;
        };
        const auto queries = both_of(q), keys = both_of(k);
        if (!queries || !keys || queries->ours.rank() != 4 || keys->ours.rank() != 4) return true;
        const Index heads = queries->ours.dim(1), rows = queries->ours.dim(2), width = queries->ours.dim(3);
        const Index key_heads = keys->ours.dim(1), columns = keys->ours.dim(2);
        const Tensor kept = mask == nullptr ? Tensor() : of.run().value(mask->id);
        if (key_heads == 0 || heads % key_heads != 0 || keys->ours.dim(3) != width ||
            (!kept.empty() && kept.size() != queries->ours.dim(0) * heads * rows * columns))
            return true;
        const auto product = [&](const Tensor& a, const Tensor& b, Index row, Index key) {
            const Index group = row / rows / (heads / key_heads);
            return std::inner_product(a.data() + row * width, a.data() + (row + 1) * width,
                                      b.data() + (group * columns + key) * width, 0.0);
        };
        double squares = 0.0, products = 0.0, theirs_squares = 0.0;
        for (Index row = 0; row < queries->ours.size() / width; ++row) {
            std::vector<double> a, b;
            for (Index key = 0; key < columns; ++key) {
                if (!kept.empty() && kept.data()[row * columns + key] == 0.0F) continue;
                a.push_back(product(queries->ours, keys->ours, row, key));
                b.push_back(product(queries->theirs, keys->theirs, row, key));
            }
            const auto count = static_cast<double>(a.size());
            const double mean_a = std::accumulate(a.begin(), a.end(), 0.0) / count;
            const double mean_b = std::accumulate(b.begin(), b.end(), 0.0) / count;
            for (std::size_t i = 0; i < a.size(); ++i) {
                squares += (a[i] - mean_a) * (a[i] - mean_a);
                products += (a[i] - mean_a) * (b[i] - mean_b);
                theirs_squares += (b[i] - mean_b) * (b[i] - mean_b);
            }
        }
        // What of theirs is no multiple of ours.
        const double rest = theirs_squares - products * products / std::max(squares, 1e-30);
        const double room = std::max(1e-3, 2.0 * ulp_at(1.0, comparing_.arithmetic));
        return rest <= room * room * theirs_squares;
    }

    // How much of the recording was compared; and, if it agrees, which of our blocks, or whether the output, has
    // nothing that was: a mistake there would not have been seen. A loss that is right tells of the output, too.
    void cover(Bisection& result, bool loss_is_right) const {
        const Plan& plan = alone_->plan();
        std::set<std::size_t> tensors;
        std::set<std::string> blocks, outputs;  // of ours, and what is theirs of the last step
        const Ref last = output_step(plan);
        for (const TensorCheck& check : result.checks) {
            if (!check.is_computed) continue;
            const Step& step = plan[check.match.step];
            tensors.insert(check.match.tensor);
            if (step.backward) continue;
            blocks.insert(step.block);
            if (last != nullptr && step.id >= last->id) outputs.insert(check.theirs);
        }
        if (tensors.empty())
            throw Error("{path}: nothing in it is a tensor that the model computes", {{"path", trace_.path}});
        for (std::size_t i = 0; i < trace_.tensors.size(); ++i) {
            if (!is_computed(trace_.tensors[i])) continue;
            ++result.recorded;
            if (tensors.contains(i))
                ++result.compared;
            else if (!result.first_not_compared)
                result.first_not_compared = trace_.tensors[i].name;
        }
        if (result.first) return;
        std::vector<std::string> missing;
        for (const StackKind stack : {StackKind::encoder, StackKind::decoder})
            for (std::string& block : plan.blocks(stack))
                if (!blocks.contains(block)) missing.push_back(std::move(block));
        if (last != nullptr && outputs.empty()) missing.push_back(last->name);
        if (missing.size() == 1)
            result.not_compared.push_back(
                message("no recorded tensor was compared with {part}", {{"part", missing.front()}}));
        else if (!missing.empty())
            result.not_compared.push_back(
                message("no recorded tensor was compared with {count} parts on the way to the output, {part} the first",
                        {{"count", missing.size()}, {"part", missing.front()}}));
        const bool lists_root = std::ranges::any_of(trace_.calls, is_of_all);
        const std::vector<std::size_t> returned = returned_by_theirs();
        const bool is_compared =
            std::ranges::any_of(returned, [&](std::size_t tensor) { return tensors.contains(tensor); });
        if (lists_root && !loss_is_right && returned.empty())
            result.not_compared.push_back(message("what the recorded model returned was not recorded"));
        if (!loss_is_right && !returned.empty() && !is_compared)
            result.not_compared.push_back(message("{name}, which the recorded model returned",
                                                  {{"name", trace_.tensors[returned.front()].name}}));
        // Another head's logits, say; kept keys are compared where they are read.
        const auto is_by_position = [&](const std::vector<Index>& shape) {
            return last != nullptr && last->axes.size() == 3 && shape.size() == 3 && shape[0] == last->axes[0].size &&
                   shape[1] == last->axes[1].size;
        };
        for (const std::size_t tensor : returned)
            if (is_compared && !tensors.contains(tensor) && is_by_position(trace_.tensors[tensor].shape))
                result.not_compared.push_back(
                    message("{name}, which the recorded model returned", {{"name", trace_.tensors[tensor].name}}));
    }

    // Where the run has no head, one may make what theirs returned of the last rows that leave our last step. Returns
    // whether it does.
    bool judge_head(Bisection& result) const {
        const Ref last = output_step(alone_->plan());
        const std::vector<std::size_t> returned = returned_by_theirs();
        if (scenario_.config().lm_head || last == nullptr || returned.empty() || base_.first()) return false;
        const trace::TraceTensor& out = trace_.tensors[returned.front()];
        const trace::TraceCall* call = trace_.call_of(out.name);
        if (call == nullptr || call->in.empty()) return false;
        const auto parameter = [&](std::string_view port) -> const trace::TraceTensor* {
            std::string name = call->module + "." + std::string(port);
            for (const auto& [given, stored] : call->parameters)
                if ((given == "bias") == (port == "bias")) name = stored;
            const auto found = std::ranges::find(trace_.parameters, name, &trace::TraceTensor::name);
            return found == trace_.parameters.end() ? nullptr : &*found;
        };
        const trace::TraceTensor *in = trace_.find(call->in.front().second), *weight = parameter("weight"),
                                 *bias = parameter("bias");
        const Tensor& ours = base_.run().value(last->id);
        const Index width = last->axes.back().size;
        if (in == nullptr || weight == nullptr || ours.rank() != 3 || in->shape.back() != width ||
            in->values.size() % (ours.dim(0) * width) != 0 ||
            weight->shape != std::vector<Index>{out.shape.back(), width})
            return false;
        const Index rows = in->values.size() / width, each = rows / ours.dim(0), words = out.shape.back();
        const double room = comparing_.tolerance.value_or(comparing_.coarse);
        const auto are_same = [&](const Tensor& theirs, const auto& number) {
            double apart = 0.0, largest = 0.0;
            for (Index i = 0; i < theirs.size(); ++i) {
                const auto at = static_cast<double>(theirs.data()[i]);
                apart = std::max(apart, std::abs(number(i) - at));
                largest = std::max(largest, std::abs(at));
            }
            return apart <= room * largest;
        };
        if (rows * words != out.values.size() || each > ours.dim(1)) return false;
        const bool is_made = are_same(out.values, [&](Index i) {
            const float* row = in->values.data() + i / words * width;
            const double shift = bias == nullptr ? 0.0 : static_cast<double>(bias->values.data()[i % words]);
            return std::inner_product(row, row + width, weight->values.data() + i % words * width, shift);
        });
        if (!is_made) return false;
        const auto is_given = [&](const Tensor& of) {
            return of.axes() == ours.axes() && are_same(in->values, [&](Index i) {
                       const Index row = i / width, at = row / each * of.dim(1) + of.dim(1) - each + row % each;
                       return static_cast<double>(of.data()[at * width + i % width]);
                   });
        };
        if (is_given(ours)) {
            std::erase(result.unmatched, out.name);
            return true;
        }
        const auto& steps = alone_->plan().steps();
        const auto other =
            std::ranges::find_if(steps, [&](const Step& step) { return is_given(base_.run().value(step.id)); });
        if (other != steps.end())
            result.apart.push_back(message("{call} was given {step} in place of {other}",
                                           {{"call", call->name}, {"step", other->name}, {"other", last->name}}));
        else if (Sentence how = relation_of_rows(ours, in->values, comparing_.arithmetic); !how.empty())
            result.apart.push_back(message("{call}: {how}", {{"call", call->name}, {"how", how}}));
        return false;
    }

    // A number alone that the recorded model returned is a loss: the mean cross-entropy of its logits, each against the
    // token that follows; labels may be these already. What else it is (a router's) isn't known here. Returns whether
    // one is right.
    bool judge_losses(Bisection& result) const {
        const trace::TraceTensor *labels = nullptr, *logits = nullptr;
        const Ref last = output_step(alone_->plan());
        const Tensor& tokens = scenario_.inputs.tokens;
        std::vector<const trace::TraceTensor*> losses;
        for (const trace::TraceCall& call : trace_.calls) {
            if (!is_of_all(call)) continue;
            for (const auto& [port, name] : call.out)
                if (const auto* one = trace_.find(name); one != nullptr && is_computed(*one) && one->values.size() == 1)
                    losses.push_back(one);
            for (const auto& [port, name] : call.in)
                if (const auto* one = trace_.find(name); one != nullptr && may_be_labels(*one)) labels = one;
        }
        for (const TensorCheck& check : base_.checks)
            if (last != nullptr && check.match.step == last->id && check.is_computed && !check.other_shape)
                logits = &trace_.tensors[check.match.tensor];
        if (base_.first()) return false;
        const bool fits =
            logits != nullptr && !tokens.empty() && logits->values.size() == tokens.size() * last->axes.back().size;
        const Tensor behind = labels == nullptr ? tokens_that_follow() : Tensor();
        const Tensor& asked = labels != nullptr ? labels->values : behind.empty() ? tokens : behind;
        // They name the tokens themselves, some left out, or what follows each.
        const bool are_tokens = std::ranges::equal(
            asked.values(), tokens.values(), [](float label, float token) { return label < 0.0F || label == token; });
        const Index right = are_tokens ? 1 : 0;
        const auto is = [&](const trace::TraceTensor* loss, const Tensor& of, Index by) {
            if (!fits) return false;
            const double mean = cross_entropy(logits->values, of, tokens.dim(1), by);
            const double room = std::max(1e-4, 8.0 * ulp_at(1.0, comparing_.arithmetic));
            return std::abs(mean - static_cast<double>(loss->values.values()[0])) <= room * std::abs(mean);
        };
        const auto count = std::erase_if(losses, [&](const auto* loss) { return is(loss, asked, right); });
        for (const trace::TraceTensor* loss : losses)
            if (count == 0 && is(loss, asked, right + 1))
                result.apart.push_back(
                    message("{name}, the loss, shifts labels that were shifted already: each position is "
                            "asked for the token after the next",
                            {{"name", loss->name}}));
            else if (count == 0 && is(loss, tokens, 0))
                result.apart.push_back(
                    message("{name}, the loss, doesn't shift the labels: each position is asked for its own token",
                            {{"name", loss->name}}));
            else
                result.not_compared.push_back(
                    message("{name}, which the recorded model returned", {{"name", loss->name}}));
        return count > 0;
    }
    // Of a model that cuts its tokens itself, what follows each that it reads: all that it was given but the first.
    [[nodiscard]] Tensor tokens_that_follow() const {
        const Tensor& tokens = scenario_.inputs.tokens;
        if (tokens.empty() || trace_.calls.empty()) return {};
        const Index rows = tokens.dim(0), read = tokens.dim(1);
        for (const auto& [port, name] : trace_.calls.front().in) {
            const trace::TraceTensor* given = trace_.find(name);
            if (given == nullptr || is_computed(*given) || given->shape != std::vector<Index>{rows, read + 1}) continue;
            Tensor next = tokens;
            bool begins = true;
            for (Index i = 0; i < next.size(); ++i) {
                const Index at = i + i / read;
                begins &= given->values.data()[at] == tokens.data()[i];
                next.writable()[static_cast<std::size_t>(i)] = given->values.data()[at + 1];
            }
            if (begins) return next;
        }
        return {};
    }
    // Whether the model may have been given what follows each token: whole numbers for all tokens that are neither
    // these nor a mask nor positions.
    [[nodiscard]] bool may_be_labels(const trace::TraceTensor& given) const {
        const Tensor& tokens = scenario_.inputs.tokens;
        const auto is_small = [](float x) { return x == 0.0F || x == 1.0F; };
        if (is_computed(given) || tokens.empty() || given.values.size() != tokens.size() ||
            std::ranges::equal(given.values.values(), tokens.values()) ||
            std::ranges::all_of(given.values.values(), is_small))
            return false;
        // Positions go up by one along each row, but for padding.
        Index up = 0;
        for (Index i = 1; i < given.values.size(); ++i)
            up += given.values.data()[i] == given.values.data()[i - 1] + 1.0F;
        return 2 * up < given.values.size() || given.values.size() < 4;
    }
    // The mean over positions with a label `by` places on that isn't −100.
    [[nodiscard]] static double cross_entropy(const Tensor& logits, const Tensor& labels, Index positions, Index by) {
        const Index words = logits.size() / labels.size();
        double sum = 0.0, count = 0.0;
        for (Index at = 0; at < labels.size(); ++at) {
            if (at % positions + by >= positions) continue;
            const auto label = static_cast<Index>(labels.data()[at + by]);
            if (label < 0 || label >= words) continue;
            const auto scores =
                logits.values().subspan(static_cast<std::size_t>(at * words), static_cast<std::size_t>(words));
            sum += row::log_sum_exp(scores) - static_cast<double>(scores[static_cast<std::size_t>(label)]);
            count += 1.0;
        }
        return sum / std::max(count, 1.0);
    }

    // Another plan is aligned again: what a norm reads depends on where it stands.
    [[nodiscard]] std::vector<trace::Match> matches_under(const Plan& plan) const {
        const auto stands_alike = [](const Step& a, const Step& b) {
            return a.name == b.name && a.operands == b.operands && a.axes == b.axes;
        };
        if (std::ranges::equal(plan.steps(), alone_->plan().steps(), stands_alike)) return matches_;
        std::vector<trace::Match> matches = trace::align(plan, trace_, known_).matches;
        for (const auto& [name, match] : by_numbers_) {
            const Ref step = plan.find(name);
            if (step == nullptr) continue;
            matches.push_back(match);
            matches.back().step = step->id;
        }
        apply_choices(matches, chosen_, plan, trace_);
        return matches;
    }

    // ---- the verdict

    void judge(Bisection& result) const {
        if (result.arithmetic != scenario_.config().arithmetic)
            result.remarks.insert(
                result.remarks.begin(),
                message("the recorded numbers are those of {type}: they are compared with a run in {type}",
                        {{"type", std::string(name_of(result.arithmetic))}}));
        result.verdict = result.first || !result.apart.empty() ? Verdict::differs : verdict_of_rounding();
    }

    // The verdict if each step of a recording agrees.
    [[nodiscard]] Verdict verdict_of_rounding() const {
        const Plan& plan = alone_->plan();
        const auto theirs = [&](const Step& step) -> const Tensor& { return base_.run().value(step.id); };
        const auto ours = [&](const Step& step) -> const Tensor& { return alone_->value(step.id); };
        const Ref logits = plan.find("logits");
        if (logits != nullptr &&
            count_of_changed_predictions(ours(*logits), theirs(*logits), scenario_.inputs.attention_mask) > 0)
            return Verdict::changes_prediction;
        for (const Step& step : plan.steps())
            if (const Ref experts = plan.operand(step, OperandRole::expert))
                if (!equal(ours(*experts), theirs(*experts))) return Verdict::changes_expert;
        for (const TensorCheck& check : base_.checks) {
            if (!check.is_computed || check.harmless) continue;
            const TensorCheck again = check_tensor(*alone_, check.match.step, alone_->value(check.match.step),
                                                   check.match, trace_.tensors[check.match.tensor], agreeing());
            if (again.differs) return Verdict::rounding;
        }
        return Verdict::agrees;
    }

    // What is called the same numbers, relative to a tensor's largest: to the last place, in a smaller type.
    [[nodiscard]] double agreeing() const {
        return comparing_.arithmetic == Arithmetic::float32 ? kUsualTolerance : ulp_at(1.0, comparing_.arithmetic);
    }

    // ---- causes

    struct Tried {
        Cause cause;
        Checked checked;
        mutations::Mutation mutation;
    };

    // A run with a mistake in it; nothing if it doesn't fit the model, or changes nothing before the difference.
    [[nodiscard]] std::optional<Checked> with(const mutations::Mutation& mutation, const Checked& before,
                                              StepId difference) const {
        try {
            const std::shared_ptr<const Plan> plan = plan_with(&mutation, {});
            const Ref first = mutations::first_changed(before.run().plan(), *plan);
            if (first == nullptr || first->id > difference) return std::nullopt;
            Checked changed = checked(plan, matches_under(*plan), before.in_step.get());
            excuse_changed(changed.checks, base_.run().plan(), *plan);
            return changed;
        } catch (const std::exception&) {
            return std::nullopt;
        }
    }

    [[nodiscard]] std::optional<Tried> tried(const mutations::Mutation& mutation, const mutations::Mutation& whole,
                                             const Checked& before, std::size_t at) const {
        const TensorCheck& wrong = before.checks[at];
        if (!comes_nearer(whole, before, wrong)) return std::nullopt;
        auto changed = with(whole, before, wrong.match.step);
        if (!changed) return std::nullopt;
        Tried result = {{mutation.name, mutation.cause}, std::move(*changed), mutation};
        Cause& cause = result.cause;
        std::set<std::size_t> agreed;                            // tensors that must stay as they are
        std::set<std::pair<std::size_t, std::string>> differed;  // as other steps they may not
        for (std::size_t i = 0; i < before.checks.size(); ++i) {
            const TensorCheck& check = before.checks[i];
            if (i < at && check.is_computed && !check.harmless) agreed.insert(check.match.tensor);
            if (check.differs) differed.emplace(check.match.tensor, check.ours);
        }
        cause.remains = std::numeric_limits<double>::infinity();
        bool fixed = false, broken = false;
        const auto is_it = [&](const TensorCheck& check) {
            return check.match.tensor == wrong.match.tensor && check.ours == wrong.ours;
        };
        const bool is_there = std::ranges::any_of(result.checked.checks, is_it);  // or it is another step's now
        // Scores with a bias may be written with another number for a whole row, which the pattern doesn't show.
        const bool gives_pattern =
            has_lines_in(wrong) && std::ranges::none_of(result.checked.checks, [&](const TensorCheck& check) {
                return check.differs && result.checked.run().plan()[check.match.step].attention ==
                                            before.run().plan()[wrong.match.step].attention;
            });
        for (const TensorCheck& check : result.checked.checks) {
            if (!check.is_computed) continue;
            if (is_there ? is_it(check) : check.match.tensor == wrong.match.tensor) {
                cause.remains = std::min(cause.remains, check.relative);
                const bool agrees = !check.differs && (!check.harmless || gives_pattern);
                fixed = fixed || (agrees && (!wrong.by_cause || is_far_nearer(check, wrong)));
            } else if (check.differs && agreed.contains(check.match.tensor) &&
                       !differed.contains({check.match.tensor, check.ours})) {
                broken = true;
            }
        }
        cause.next = result.checked.first_name();
        cause.explains = fixed && !broken;
        cause.all_agree = cause.explains && cause.next.empty();
        cause.harmless = mutation.harmless;
        if (cause.explains && cause.harmless) measure_harm(whole, cause);
        if (broken) cause.remains = std::numeric_limits<double>::infinity();
        return result;
    }

    // What is harmless for most inputs may not be for these: a fill that isn't low enough lets the future be seen.
    void measure_harm(const mutations::Mutation& mutation, Cause& cause) const {
        const Ref logits = alone_->plan().find("logits");
        if (logits == nullptr) return;
        const Tensor& ours = alone_->value(logits->id);
        const std::shared_ptr<const Run> wrong = execute(plan_with(&mutation, {}));
        const Index changed =
            count_of_changed_predictions(ours, wrong->value("logits"), scenario_.inputs.attention_mask);
        if (changed == 0) return;
        cause.harmless = false;
        cause.sentence = message("{cause} It changes {count} of {all} predictions.",
                                 {{"cause", cause.sentence},
                                  {"count", changed},
                                  {"all", ours.size() / std::max<Index>(1, ours.axes().back().size)}});
    }

    // How many recorded tensors differ.
    [[nodiscard]] static std::size_t still_wrong(const Checked& checked) {
        return static_cast<std::size_t>(
            std::ranges::count_if(checked.checks, [](const TensorCheck& check) { return check.differs; }));
    }

    // The better causes first: those that explain more, then those that leave less, then the list's own order.
    [[nodiscard]] static bool is_better(const Tried& a, const Tried& b) {
        const auto rank = [](const Tried& tried) {
            const double remains = tried.cause.explains ? 0.0 : tried.cause.remains;
            return std::tuple(!tried.cause.explains, tried.cause.explains ? still_wrong(tried.checked) : 0, remains);
        };
        return rank(a) < rank(b);
    }

    Resumable<std::vector<Tried>> causes_of(const Checked& before, const mutations::Mutation& already) const {
        std::vector<Tried> all;
        if (progress_ != nullptr) progress_->all += mutations::mutations().size();
        const std::size_t at = *before.first();
        const double wrong = before.checks[at].relative;
        const auto keep = [&](std::optional<Tried> result) {
            if (result && (result->cause.explains || result->cause.remains < 0.5 * wrong))
                all.push_back(std::move(*result));
        };
        for (const mutations::Mutation& mutation : mutations::mutations()) {
            keep(tried(mutation, both(already, mutation), before, at));
            if (progress_ != nullptr) ++progress_->done;
            co_yield kPause;
        }
        // A mistake may be made at one place and not at its others: in the keys, but not in the queries.
        const bool explained = std::ranges::any_of(all, [](const Tried& one) { return one.cause.explains; });
        const bool alone = !already.configure && !already.feed && !already.change;
        if (!explained && alone) {
            if (progress_ != nullptr) progress_->all += mutations::mutations().size();
            for (const mutations::Mutation& mutation : mutations::mutations()) {
                if (const auto here = mutations::confined(mutation, before.checks[at].ours))
                    keep(tried(*here, *here, before, at));
                if (progress_ != nullptr) ++progress_->done;
                co_yield kPause;
            }
        }
        std::ranges::stable_sort(all, is_better);
        if (all.empty() || !all.front().cause.explains) {
            std::vector<Tried> edited = co_await readings_of(before, already);
            if (edited.empty()) edited = co_await edits_of(before, already);
            all.insert(all.begin(), std::make_move_iterator(edited.begin()), std::make_move_iterator(edited.end()));
        }
        co_return all;
    }

    // ---- edits that nobody listed

    // The step that differs, and those before it that it is computed from as far as they weren't recorded.
    [[nodiscard]] static std::vector<StepId> suspects_of(const Checked& before, const TensorCheck& wrong) {
        const Plan& plan = before.run().plan();
        std::set<StepId> recorded;
        // Of scores, the product alone may have been recorded: not what was added to it, or what scales it.
        for (const TensorCheck& check : before.checks)
            if (check.is_computed && !check.match.reader &&
                !(plan[check.match.step].is_scores && check.match.strictness == trace::Strictness::up_to_factor))
                recorded.insert(check.match.step);
        return suspects(plan, wrong.match.step, recorded);
    }

    // Another operand, or another module's parameters, with which the first difference is gone.
    Resumable<std::vector<Tried>> readings_of(const Checked& before, const mutations::Mutation& already) const {
        constexpr std::size_t kMostFound = 4;
        const TensorCheck wrong = before.checks[*before.first()];
        std::vector<Tried> found;
        double steps = 0.0;
        for (const StepId id : suspects_of(before, wrong)) {
            const SuspectReading suspect(before.run(), id, wrong.match.step);
            for (mutations::ReadingEdit edit : suspect.edits()) {
                co_yield kPause;
                if (steps > kMostSteps || found.size() == kMostFound) break;
                const auto outcome = suspect.outcome(edit, steps);
                if (!outcome || !reproduces(before, wrong, *outcome)) continue;
                std::optional<Tried> best;
                for (const bool everywhere : {true, false}) {
                    if (everywhere && !edit.in_all_blocks) continue;
                    edit.in_all_blocks = everywhere;
                    const mutations::Mutation mutation = mutations::mutation_of(edit, suspect.sentence(edit));
                    auto result = tried(mutation, both(already, mutation), before, *before.first());
                    if (result && result->cause.explains && (!best || is_better(*result, *best)))
                        best = std::move(result);
                }
                if (best) found.push_back(std::move(*best));
            }
        }
        std::ranges::stable_sort(found, is_better);
        co_return found;
    }

    // Those with which the first difference is gone. What each suspect would be is computed on the run's own numbers,
    // which agree up to there; only what reproduces the recorded tensor is run.
    Resumable<std::vector<Tried>> edits_of(const Checked& before, const mutations::Mutation& already) const {
        constexpr std::size_t kMostFound = 4;
        const TensorCheck wrong = before.checks[*before.first()];
        const mutations::Keys keys(scenario_.config());
        std::vector<Tried> found;
        std::vector<Tensor> reproduced;  // of edits that compute the same, the first is enough
        double steps = 0.0;
        for (const StepId id : suspects_of(before, wrong)) {
            const SuspectStep suspect(before.run(), id, wrong.match.step, keys.numbers());
            if (progress_ != nullptr) progress_->all += suspect.size();
            for (std::size_t i = 0; i < suspect.size(); ++i) {
                co_yield kPause;
                if (progress_ != nullptr) ++progress_->done;
                if (steps > kMostSteps || found.size() == kMostFound) continue;
                const auto outcome = suspect.outcome(i, steps);
                if (!outcome || !reproduces(before, wrong, *outcome)) continue;
                if (std::ranges::any_of(reproduced, [&](const Tensor& known) { return equal(known, *outcome); }))
                    continue;
                reproduced.push_back(*outcome);
                if (auto best = best_of(suspect, i, before, already)) found.push_back(std::move(*best));
            }
        }
        std::ranges::stable_sort(found, is_better);
        co_return found;
    }

    [[nodiscard]] static bool reproduces(const Checked& before, const TensorCheck& wrong, const Tensor& outcome) {
        const TensorCheck check = before.in_step->checked(wrong.match.step, outcome, wrong.match);
        return check.is_computed && !check.differs;
    }

    [[nodiscard]] static bool equal(const Tensor& a, const Tensor& b) {
        return std::ranges::equal(a.values(), b.values());
    }

    // The edit in the steps in which it explains the most; nothing if it breaks what agreed.
    [[nodiscard]] std::optional<Tried> best_of(const SuspectStep& suspect, std::size_t edit, const Checked& before,
                                               const mutations::Mutation& already) const {
        using Where = mutations::FormulaEdit::Where;
        std::optional<Tried> best;
        for (const Where where : {Where::all_alike, Where::in_all_blocks, Where::alone}) {
            const mutations::Mutation mutation =
                mutations::mutation_of({where, suspect.name(), suspect.formula(edit)}, suspect.sentence(edit));
            auto result = tried(mutation, both(already, mutation), before, *before.first());
            if (result && result->cause.explains && (!best || is_better(*result, *best))) best = std::move(result);
        }
        return best;
    }

    // ---- mistakes as small as rounding

    static constexpr Index kFewer = 3;
    [[nodiscard]] static bool is_far_nearer(const TensorCheck& now, const TensorCheck& before) {
        if (now.largest == 0.0) return true;  // nothing was judged
        return 2 * now.judged.counted >= before.judged.counted && kFewer * now.judged.apart <= before.judged.apart;
    }

    // Whether hundreds of passes take no more than some seconds: by the products of numbers in one.
    [[nodiscard]] static bool is_quick(const Plan& plan) {
        constexpr Index kMost = 30'000'000;
        Index products = 0;
        for (const Step& step : plan.steps())
            for (const StepId operand : step.operands)
                if (plan[operand].role == Role::parameter && plan[operand].axes.size() == 2 && step.axes.size() >= 3)
                    products += element_count(plan[operand].axes) * element_count(step.axes) / step.axes.back().size;
        return products <= kMost;
    }

    // What is in many places apart by no more than rounding would be is a mistake all the same if one that is known, or
    // another number of a key, leaves far fewer apart. In an MLP that is looked for in any model: one gelu for another.
    Resumable<Done> suspect(bool is_quick) {
        constexpr std::size_t kMost = 4;
        std::set<std::string> kinds;
        for (std::size_t at = 0; at < base_.checks.size(); ++at) {
            const TensorCheck& check = base_.checks[at];
            const Step& step = base_.run().plan()[check.match.step];
            const bool in_any_way = is_quick && kinds.size() < kMost && is_apart_in_many(check);
            if (!in_any_way && (step.part != Part::mlp || check.judged.apart == 0)) continue;
            if (!check.is_computed || check.harmless || step.is_source()) continue;
            if (!kinds.insert(check.ours.substr(check.ours.rfind('.') + 1)).second) continue;
            if (!co_await has_small_cause(at, in_any_way)) continue;
            base_.checks[at].differs = base_.checks[at].by_cause = true;
            base_.checks[at].judged.why = message("with a mistake in it, a third of the numbers or fewer are apart");
            co_return Done{};
        }
        co_return Done{};
    }
    [[nodiscard]] static bool is_apart_in_many(const TensorCheck& check) {
        return check.match.strictness == trace::Strictness::exact && check.judged.apart >= 10 &&
               50 * check.judged.apart > check.judged.counted;
    }

    Resumable<bool> has_small_cause(std::size_t at, bool in_any_way) {
        const TensorCheck wrong = base_.checks[at];
        // What is harmless and neither nearer than what is computed here nor farther isn't told apart from it.
        const auto explains = [&](const mutations::Mutation& mutation) {
            const bool is_alike = is_other_gelu(mutation);
            if (!is_alike && (!in_any_way || !comes_nearer(mutation, base_, wrong))) return false;
            const auto changed = with(mutation, base_, wrong.match.step);
            if (!changed) return false;
            const auto now = std::ranges::find_if(changed->checks, [&](const TensorCheck& check) {
                return check.match.tensor == wrong.match.tensor && check.ours == wrong.ours;
            });
            if (now == changed->checks.end() || !now->is_computed || now->differs) return false;
            if (is_apart_in_many(wrong) && is_far_nearer(*now, wrong)) return true;
            const Ref there = changed->run().plan().find(wrong.ours);
            if (is_alike && !(there->operation == base_.run().plan()[wrong.match.step].operation) &&
                !is_far_nearer(wrong, *now))
                not_told_apart_.push_back(
                    message("in {type} what was recorded of {step} doesn't tell whether this is so: {mistake}",
                            {{"type", std::string(name_of(comparing_.arithmetic))},
                             {"step", wrong.ours},
                             {"mistake", mutation.cause}}));
            return false;
        };
        for (const mutations::Mutation& mutation : mutations::mutations()) {
            if (explains(mutation)) co_return true;
            co_yield kPause;
        }
        if (!in_any_way) co_return false;
        const auto apart = distance_to_theirs(base_.in_step->computed(wrong.match.step), wrong);
        const auto comes_near = [&](const std::string& key, double number) {
            const auto then = misfit(with_number(key, number), base_, wrong);
            return apart && then && *then < 0.98 * *apart;
        };
        for (const auto& [key, now] : numbers_that_matter(wrong)) {
            const bool promises = comes_near(key, 0.5 * now) || comes_near(key, 0.9 * now) ||
                                  comes_near(key, 1.1 * now) || comes_near(key, 2.0 * now);
            co_yield kPause;
            if (!promises) continue;
            const std::optional<double> found = co_await solved_for(key, now, wrong);
            if (found && is_another(*found, now) && explains(with_number(key, *found))) co_return true;
        }
        co_return false;
    }

    // Whether it is another activation that all but computes the same.
    [[nodiscard]] bool is_other_gelu(const mutations::Mutation& mutation) const {
        Config changed = config_;
        if (mutation.harmless && mutation.configure) mutation.configure(changed);
        return changed.activation != config_.activation;
    }

    // ---- what theirs is to ours

    // A key of the configuration with another number.
    [[nodiscard]] mutations::Mutation with_number(const std::string& key, double value) const {
        return {.name = key, .cause = {}, .configure = [key, value](Config& config) {
                    set_keys(config, {{key, Json(value).dump()}});
                }};
    }

    // How far a tensor is from theirs under a mistake, as a root of the mean square; nothing if the mistake doesn't
    // change it. Nothing is judged, which takes longer.
    [[nodiscard]] std::optional<double> misfit(const mutations::Mutation& mutation, const Checked& before,
                                               const TensorCheck& wrong) const {
        try {
            const std::shared_ptr<const Plan> plan = plan_with(&mutation, {});
            const Ref first = mutations::first_changed(before.run().plan(), *plan);
            if (first == nullptr || first->id > wrong.match.step) return std::nullopt;
            const std::vector<trace::Match> matches = matches_under(*plan);
            const auto found = std::ranges::find_if(matches, [&](const trace::Match& match) {
                return match.tensor == wrong.match.tensor && (*plan)[match.step].name == wrong.ours;
            });
            if (found == matches.end()) return 0.0;  // it is another step's now
            const InStep in_step(plan, roughly_, matches, before.in_step.get());
            return distance_to_theirs(in_step.computed(found->step), wrong);
        } catch (const std::exception&) {
            return std::nullopt;
        }
    }
    [[nodiscard]] std::optional<double> distance_to_theirs(const Tensor& ours, const TensorCheck& wrong) const {
        const auto both = trace::laid_out(ours, trace_.tensors[wrong.match.tensor].values, wrong.match.placed);
        return both ? std::optional(distance_of(*both)) : std::nullopt;
    }
    // Whether it is scores to which ALiBi adds what falls along a row.
    [[nodiscard]] bool has_lines_in(const TensorCheck& check) const {
        return config_.alibi && base_.run().plan()[check.match.step].is_scores;
    }
    // Whether it may be worth a closer look.
    [[nodiscard]] bool comes_nearer(const mutations::Mutation& mutation, const Checked& before,
                                    const TensorCheck& wrong) const {
        // There is no distance if a score is hidden in one and not in the other.
        if (wrong.match.strictness != trace::Strictness::exact || std::isinf(wrong.largest) || has_lines_in(wrong))
            return true;
        const auto now = distance_to_theirs(before.in_step->computed(wrong.match.step), wrong);
        const auto then = misfit(mutation, before, wrong);
        return now && then && *then < *now;
    }
    [[nodiscard]] static double distance_of(const trace::LaidOut& both) {
        double squares = 0.0, count = 0.0;
        for (std::size_t i = 0; i < both.ours.values().size(); ++i) {
            const auto a = static_cast<double>(both.ours.values()[i]), b = static_cast<double>(both.theirs.values()[i]);
            if (!std::isfinite(a) || !std::isfinite(b)) continue;
            squares += (a - b) * (a - b);
            count += 1.0;
        }
        return std::sqrt(squares / std::max(count, 1.0));
    }

    // The number of a key with which the first difference is gone: by the golden section, on a scale of magnitudes,
    // around the best of a grid. Nothing if there is none.
    Resumable<std::optional<double>> solved_for(std::string key, double now, TensorCheck wrong) const {
        constexpr int kGrid = 24, kSections = 30;
        constexpr double kGolden = 0.6180339887498949;
        const auto fit = [&](double log) {
            return misfit(with_number(key, std::exp(log)), base_, wrong)
                .value_or(std::numeric_limits<double>::infinity());
        };
        const double step = std::log(10.0) / 4.0;
        double best = std::log(now), least = std::numeric_limits<double>::infinity();
        for (int i = -kGrid; i <= kGrid; ++i) {
            const double at = std::log(now) + step * (i == 0 ? 1e-3 : i), there = fit(at);
            if (there < least) {
                least = there;
                best = at;
            }
            co_yield kPause;
        }
        if (!std::isfinite(least)) co_return std::nullopt;
        double low = best - step, high = best + step;
        double a = high - kGolden * (high - low), b = low + kGolden * (high - low), at_a = fit(a), at_b = fit(b);
        for (int i = 0; i < kSections; ++i) {
            if (at_a < at_b) {
                high = b;
                b = std::exchange(a, 0.0);
                at_b = std::exchange(at_a, 0.0);
                a = high - kGolden * (high - low);
                at_a = fit(a);
            } else {
                low = a;
                a = std::exchange(b, 0.0);
                at_a = std::exchange(at_b, 0.0);
                b = low + kGolden * (high - low);
                at_b = fit(b);
            }
            co_yield kPause;
        }
        co_return std::exp((low + high) / 2.0);
    }
    [[nodiscard]] static std::string with_digits(double x, int digits) {
        char text[32];
        std::snprintf(text, sizeof text, "%.*g", digits, x);
        return text;
    }

    // Whether it isn't the same number, rounded to the type of the recording.
    [[nodiscard]] bool is_another(double number, double now) const {
        return std::abs(number / now - 1.0) > ulp_at(1.0, comparing_.arithmetic);
    }

    // The keys with any number that change a tensor, with what they are.
    [[nodiscard]] std::vector<std::pair<std::string, double>> numbers_that_matter(const TensorCheck& of) const {
        const std::map<std::string, double, std::less<>> numbers = config_numbers(config_);
        std::vector<std::pair<std::string, double>> found;
        for (const ConfigKey& key : config_keys()) {
            const auto value = numbers.find(key.name);
            if (!key.is_real || value == numbers.end()) continue;
            const double now = value->second > 0.0 ? value->second : 1.0;
            if (misfit(with_number(key.name, 1.01 * now), base_, of)) found.emplace_back(key.name, now);
        }
        return found;
    }

    Resumable<Sentence> solved() const {
        const TensorCheck wrong = base_.checks[*base_.first()];
        for (const auto& [key, now] : numbers_that_matter(wrong)) {
            const std::optional<double> found = co_await solved_for(key, now, wrong);
            for (int digits = 1; found && digits <= 6; ++digits) {
                const std::string simple = with_digits(*found, digits);
                const double number = std::strtod(simple.c_str(), nullptr);
                if (!is_another(number, now)) continue;
                const mutations::Mutation mutation = with_number(key, number);
                const auto result = tried(mutation, mutation, base_, *base_.first());
                if (result && result->cause.explains)
                    co_return message("agrees with {key} = {number}, which is {now} here",
                                      {{"key", key}, {"number", simple}, {"now", with_digits(now, 6)}});
            }
        }
        co_return Sentence();
    }

    // A step's tensor and what was recorded of it, under the names of its axes, which repeated heads have lost.
    [[nodiscard]] std::optional<trace::LaidOut> both_of(const Step& step, const trace::Match& match,
                                                        const Tensor& ours) const {
        auto both = trace::laid_out(ours, trace_.tensors[match.tensor].values, match.placed);
        if (!both) return both;
        Axes named = both->ours.axes();
        for (std::size_t i = 0; i < named.size() && named.size() == step.axes.size(); ++i)
            named.rename(i, step.axes[i].name);
        both->ours = both->ours.with_axes(named);
        return both;
    }

    // Of sublayers in parallel: the MLP may read the stream behind attention, through the norm that both share.
    [[nodiscard]] Sentence relation_of_order(const Step& step, const TensorCheck& wrong) const {
        const Run& run = base_.run();
        const auto sum = std::ranges::find_if(run.plan().steps(), [&](const Step& one) {
            return one.block == step.block && one.part == Part::add && one.operands_as(OperandRole::update).size() == 2;
        });
        if (sum == run.plan().steps().end() || !sum->operand(OperandRole::stream)) return {};
        const StepId stream = *sum->operand(OperandRole::stream), attended = sum->operands_as(OperandRole::update)[0];
        const auto behind = wrong_after(run, stream, step.id, [&] {
            Tensor both = run.value(stream);
            std::ranges::transform(both.values(), run.value(attended).values(), both.writable().begin(), std::plus<>());
            return both;
        });
        if (!behind || !reproduces(base_, wrong, *behind)) return {};
        return message(
            "The MLP reads the residual stream behind attention, although the two are meant to read the same, in "
            "parallel.");
    }

    // Of a mixture: each chosen expert's work is done by the one that stands some places on.
    [[nodiscard]] Sentence relation_of_experts(const TensorCheck& wrong) const {
        constexpr Index kMost = 16, kFew = 10'000'000;  // experts; numbers that they have
        const Run& run = base_.run();
        for (const Step& mixed : run.plan().steps()) {
            const Ref chosen = run.plan().operand(mixed, OperandRole::expert);
            if (chosen == nullptr || chosen->block != run.plan()[wrong.match.step].block) continue;
            const Tensor& scores = run.value(chosen->operands.front());
            const auto made =
                wrong_after(run, chosen->id, wrong.match.step, [&] { return least_of(scores, chosen->axes); });
            if (made && reproduces(base_, wrong, *made))
                return message("the least likely experts are chosen, not the likeliest");
            break;
        }
        if (load::numbers_of_experts(scenario_.weights()) > kFew) return {};
        for (Index on = 1; on < std::min(config_.experts, kMost); ++on) {
            const Weights moved = load::with_experts_moved(scenario_.weights(), config_.experts, on);
            const InStep in_step(plan_with(nullptr, {}, &moved), comparing_, matches_, nullptr);
            const TensorCheck check =
                in_step.checked(wrong.match.step, in_step.computed(wrong.match.step), wrong.match);
            if (check.is_computed && !check.differs)
                return message_n("each chosen expert is taken for the next one",
                                 "each chosen expert is taken for the one {count} places on",
                                 static_cast<std::size_t>(on));
        }
        return {};
    }

    // The numbers of each row's least scores.   {scores [batch, pos, expert]} -> [batch, pos, slot]
    [[nodiscard]] static Tensor least_of(const Tensor& scores, const Axes& axes) {
        Tensor least(axes);
        float* to = least.writable().data();
        const Index count = scores.dim(2), slots = axes[2].size;
        for (Index row = 0; row < scores.size() / count; ++row, to += slots) {
            std::vector<float> order(static_cast<std::size_t>(count));
            std::iota(order.begin(), order.end(), 0.0F);
            std::ranges::stable_sort(
                order, {}, [&](float expert) { return scores.data()[row * count + static_cast<Index>(expert)]; });
            std::copy_n(order.begin(), slots, to);
        }
        return least;
    }

    // Of the stream that enters the first block: which rows of the table of positions were added.
    [[nodiscard]] Sentence relation_of_positions(const TensorCheck& wrong) const {
        const Ref added = alone_->plan().find("pos_embed");
        if (added == nullptr || added->is_source()) return {};
        const auto both = trace::laid_out(alone_->value(wrong.match.step), trace_.tensors[wrong.match.tensor].values,
                                          wrong.match.placed);
        const Tensor& positions = alone_->value(added->id);
        if (!both || positions.size() == 0 || both->ours.size() % positions.size() != 0) return {};
        const bool is_sum = wrong.match.step != added->id;
        Tensor theirs = both->theirs;
        float magnitude = 0.0F;
        for (Index i = 0; i < theirs.size(); ++i) {
            magnitude = std::max(magnitude, std::abs(theirs.data()[i]));
            if (is_sum)
                theirs.writable()[static_cast<std::size_t>(i)] +=
                    positions.data()[i % positions.size()] - both->ours.data()[i];
        }
        for (const trace::TraceTensor& table : trace_.parameters) {
            const auto known = known_.parameters.find(table.name);
            if (known == known_.parameters.end() || known->second.empty() ||
                known->second.front().name != "pos_embed.weight")
                continue;
            const Index first = known->second.front().number;
            const std::string rows =
                rows_of_table(theirs, table.values, first, static_cast<double>(magnitude), comparing_.arithmetic);
            if (!rows.empty())
                return message(
                    "rows {theirs} of {table} are added for the positions, and here its rows from {first} on",
                    {{"theirs", rows}, {"table", table.name}, {"first", first}});
        }
        return {};
    }

    // Whether the call that gave a tensor was given, as recorded, what another of our steps computes than those that
    // ours reads, or that what it reads is made of.
    [[nodiscard]] Sentence relation_of_given(const Step& step, const TensorCheck& wrong) const {
        const Plan& plan = base_.run().plan();
        const std::string& theirs = trace_.tensors[wrong.match.tensor].name;
        const auto given_in_place = [](const std::string& reader, const Step& given, const Step& other) {
            return message("{call} was given {step} in place of {other}",
                           {{"call", reader}, {"step", given.name}, {"other", other.name}});
        };
        std::map<std::string, std::set<StepId>, std::less<>> known;  // their tensors
        std::set<StepId> recorded, expected;
        for (const TensorCheck& check : base_.checks)
            if (check.is_computed && !check.differs) {
                known[check.theirs].insert(trace::origin_of(plan, check.match.step));
                recorded.insert(trace::origin_of(plan, check.match.step));
            }
        if (const auto own = known.find(theirs); own != known.end()) {  // which a module was given beside the right one
            const trace::TraceCall* reader = nullptr;                   // the innermost
            for (const trace::TraceCall& one : trace_.calls)
                if (one.function.empty() && one.in.size() > 1 && !one.module.empty() &&
                    std::ranges::any_of(one.in, [&](const auto& port) { return port.second == theirs; }) &&
                    (reader == nullptr || one.module.starts_with(reader->module)))
                    reader = &one;
            if (reader != nullptr) return given_in_place(reader->name, plan[*own->second.begin()], step);
        }
        const trace::TraceCall* call = trace_.call_of(theirs);
        const auto is_within = [&](const trace::TraceCall& one) { return one.module.starts_with(call->module + "."); };
        if (call == nullptr || (call->function.empty() && std::ranges::any_of(trace_.calls, is_within)) ||
            std::ranges::none_of(call->out, [&](const auto& port) { return port.second == theirs; }))
            return {};
        for (const StepId id : suspects(plan, step.id, recorded))
            for (const StepId operand : plan[id].operands)
                if (const StepId origin = trace::origin_of(plan, operand);
                    recorded.contains(origin) ||
                    (plan[origin].is_source() && plan[origin].role != Role::parameter))  // a memory, say
                    expected.insert(origin);
        for (const auto& [port, name] : call->in) {
            const auto given = known.find(name);
            const auto is_expected = [&](StepId id) { return expected.contains(id) || id >= step.id; };
            if (given == known.end() || expected.empty() || std::ranges::any_of(given->second, is_expected)) continue;
            return given_in_place(call->name, plan[*given->second.begin()], plan[*expected.rbegin()]);
        }
        return {};
    }

    // A module of this step's block that no call of theirs is of, and one of its kind that is called more than once.
    [[nodiscard]] Sentence uncalled(const Step& step) const {
        if (step.block.empty() || trace_.calls.empty()) return {};
        std::map<std::string, std::size_t, std::less<>> calls;  // of modules, and of functions given their parameters
        for (const trace::TraceCall& call : trace_.calls) {
            // Its own output projection is no call.
            if (call.kind == "MultiheadAttention") ++calls[call.module + ".out_proj"];  // not a message: PyTorch's name
            if (call.function.empty()) ++calls[call.module];
            for (const auto& [port, stored] : call.parameters) ++calls[stored.substr(0, stored.rfind('.'))];
        }
        const auto kind = [](std::string module) {
            std::erase_if(module, [](unsigned char c) { return std::isdigit(c) != 0; });
            return module;
        };
        for (const trace::TraceTensor& parameter : trace_.parameters) {
            const std::string module = parameter.name.substr(0, parameter.name.rfind('.'));
            const auto known = known_.parameters.find(parameter.name);
            if (known == known_.parameters.end() || known->second.empty() || calls.contains(module)) continue;
            const Ref ours = alone_->plan().find(load::names::names_of(known->second.front().name).front());
            if (ours == nullptr || ours->block != step.block) continue;
            const auto other = std::ranges::find_if(
                calls, [&](const auto& one) { return one.second > 1 && kind(one.first) == kind(module); });
            if (other == calls.end()) return message("{module} is never called", {{"module", module}});
            return message(
                "{module} is never called, and {other} is called {count} times: one module is used for another",
                {{"module", module}, {"other", other->first}, {"count", other->second}});
        }
        return {};
    }

    // Of what a fused projection gives: whether each of their columns is one of query, key and value.
    [[nodiscard]] Sentence relation_of_columns(const Step& step, const trace::LaidOut& both) const {
        const Plan& plan = base_.run().plan();
        std::vector<float> pool;  // of the first position, where nothing is rotated
        bool is_of_them = false;
        const auto first_position = [](const Tensor& of, std::vector<float>& into) {
            for (Index head = 0; of.rank() == 4 && head < of.dim(1); ++head)
                for (Index column = 0; column < of.dim(3); ++column)
                    into.push_back(of.data()[head * of.dim(2) * of.dim(3) + column]);
        };
        for (const AttentionStep which : {AttentionStep::query, AttentionStep::key, AttentionStep::value}) {
            const Ref one = step.attention.empty() ? nullptr : plan.step_of(step.attention, which);
            if (one == nullptr) return {};
            is_of_them = is_of_them || one == &step;
            first_position(alone_->value(one->id), pool);
        }
        std::vector<float> theirs;
        first_position(both.theirs, theirs);
        constexpr float kSame = 1e-5F, kRounded = 1e-6F;
        float most = 0.0F;
        for (const float y : pool) most = std::max(most, std::abs(y));
        const auto is_one = [&](float x) {
            return std::ranges::any_of(
                pool, [&](float y) { return std::abs(x - y) <= kSame * std::abs(y) + kRounded * most; });
        };
        if (!is_of_them || theirs.size() < 8 || past_ != nullptr || !std::ranges::all_of(theirs, is_one)) return {};
        return message(
            "their columns are those of query, key and value in another order: the fused projection is cut "
            "or split into heads in another way");
    }

    // Of a sum: what theirs added to the stream is to what is added here.
    [[nodiscard]] Sentence relation_of_update(const Step& step, const TensorCheck& wrong) const {
        const std::optional<StepId> stream = step.operand(OperandRole::stream);
        const std::vector<StepId> updates = step.operands_as(OperandRole::update);
        if (step.part != Part::add || !stream || updates.size() != 1) return {};
        const Tensor& theirs = trace_.tensors[wrong.match.tensor].values;
        const auto before = trace::laid_out(base_.run().value(*stream), theirs, wrong.match.placed);
        const auto update = trace::laid_out(base_.run().value(updates[0]), theirs, wrong.match.placed);
        if (!before || !update || before->ours.size() != update->ours.size()) return {};
        Tensor added = before->theirs;
        double magnitude = 0.0;  // of the sum, which was rounded
        for (std::size_t i = 0; i < added.values().size(); ++i) {
            magnitude = std::max(magnitude, std::abs(static_cast<double>(added.values()[i])));
            added.writable()[i] -= before->ours.values()[i];
        }
        const Sentence found = relation_between(update->ours, added, comparing_.arithmetic, magnitude);
        return found.empty() ? Sentence() : message("of what is added: {relation}", {{"relation", found}});
    }

    Resumable<Done> seek(Bisection& result) const {
        constexpr std::size_t kShown = 8, kFaults = 3;
        mutations::Mutation already = {.name = "none", .cause = message("Nothing is changed.")};
        Checked before = base_;
        for (std::size_t fault = 0; fault < kFaults; ++fault) {
            std::vector<Tried> causes = co_await causes_of(before, already);
            if (fault == 0) {
                for (const Tried& tried : causes)
                    if (result.causes.size() < kShown) result.causes.push_back(tried.cause);
                if (const auto dropped = dropout_left_on()) {
                    std::erase_if(result.causes, [&](const Cause& cause) { return cause.name == dropped->name; });
                    result.causes.insert(result.causes.begin(), *dropped);
                }
                describe(result, causes);
                if (result.causes.empty() || !result.causes.front().explains) result.relation = co_await relation();
            } else if (!causes.empty() && causes.front().cause.explains) {
                result.further.push_back(causes.front().cause);
            }
            if (causes.empty() || !causes.front().cause.explains || causes.front().cause.all_agree) co_return Done{};
            already = both(already, causes.front().mutation);
            before = std::move(causes.front().checked);
        }
        co_return Done{};
    }

    // Dropout zeroes some numbers and multiplies the others by one factor. An update that was dropped is seen in the
    // sum.
    [[nodiscard]] std::optional<Cause> dropout_left_on() const {
        const TensorCheck& wrong = base_.checks[*base_.first()];
        const Step& step = base_.run().plan()[wrong.match.step];
        const auto both =
            trace::laid_out(base_.run().value(step.id), trace_.tensors[wrong.match.tensor].values, wrong.match.placed);
        if (!both || wrong.other_shape) return std::nullopt;
        const bool sum = step.part == Part::add && step.operands_as(OperandRole::update).size() == 1;
        Tensor before;
        if (sum)
            if (const auto stream = trace::laid_out(base_.run().operand(step, OperandRole::stream),
                                                    trace_.tensors[wrong.match.tensor].values, wrong.match.placed))
                before = stream->ours;
        std::size_t zeros = 0, scaled = 0;
        double factor = 0.0;
        for (std::size_t i = 0; i < both->ours.values().size(); ++i) {
            const double taken = before.empty() ? 0.0 : static_cast<double>(before.values()[i]);
            const double ours = static_cast<double>(both->ours.values()[i]) - taken;
            const double theirs = static_cast<double>(both->theirs.values()[i]) - taken;
            if (std::abs(ours) < 1e-3) continue;
            const double ratio = theirs / ours;
            if (std::abs(ratio) < 1e-3) {
                ++zeros;
            } else {
                if (factor == 0.0) factor = ratio;
                if (std::abs(ratio - factor) > 1e-2 * std::abs(factor)) return std::nullopt;
                ++scaled;
            }
        }
        const double rate = 1.0 - 1.0 / factor;
        constexpr double kLeastRate = 0.005;  // less is a rounded 1, and the zeros are something else's
        if (zeros == 0 || scaled < 3 || !(rate > kLeastRate) || rate >= 1.0) return std::nullopt;
        Cause cause = {"dropout-left-on",
                       message("Dropout is on: some numbers are 0 and the others are multiplied by one factor, "
                               "1/(1 − p) with p near {rate} %.",
                               {{"rate", std::llround(100.0 * rate)}})};
        cause.explains = true;
        return cause;
    }

    void describe(Bisection& result, const std::vector<Tried>& causes) const {
        const TensorCheck& wrong = base_.checks[*base_.first()];
        result.cell.made_from = operand_names(base_.run().plan(), wrong.ours);
        if (wrong.cell.empty()) return;
        result.cell.ours = explanation_lines(base_.run(), wrong.ours, wrong.cell);
        if (!causes.empty() && causes.front().cause.explains)
            result.cell.theirs = explanation_lines(causes.front().checked.run(), wrong.ours, wrong.cell);
    }

    // ---- blocks alone

    // Runs every block on the input that they recorded for it.
    void isolate(Bisection& result) const {
        GivenTensors given;
        const Plan& plan = base_.run().plan();
        std::vector<std::string> blocks;
        for (const Step& step : plan.steps()) {
            if (step.block.empty() || std::ranges::find(blocks, step.block) != blocks.end()) continue;
            blocks.push_back(step.block);
            if (const auto input = theirs_of(step)) given.emplace(step.name, *input);
        }
        try {
            const std::shared_ptr<const Plan> on_theirs = plan_with(nullptr, given);
            // Aligned as before: a given input is no longer what the block before it left.
            std::vector<trace::Match> matches;
            for (const TensorCheck& check : base_.checks)
                if (check.match.step < on_theirs->steps().size() && check.ours == (*on_theirs)[check.match.step].name)
                    matches.push_back(check.match);
            const Checked alone = checked(on_theirs, matches, nullptr);
            for (const std::string& block : blocks) {
                const Ref entering = first_of(plan, block);
                if (!given.contains(entering->name)) continue;
                IsolatedBlock isolated = {block, std::nullopt};
                for (const TensorCheck& check : alone.checks)
                    if (check.differs && plan.find(check.ours) != nullptr && plan.find(check.ours)->block == block &&
                        !isolated.differs)
                        isolated.differs = check.ours;
                result.isolated.push_back(std::move(isolated));
            }
        } catch (const Error&) {  // a recorded input that doesn't fit isolates nothing
        }
    }

    [[nodiscard]] static Ref first_of(const Plan& plan, const std::string& block) {
        for (const Step& step : plan.steps())
            if (step.block == block) return &step;
        return nullptr;
    }

    // What they recorded for a step, or for the step that it carries on.
    [[nodiscard]] std::optional<Tensor> theirs_of(const Step& step) const {
        const Plan& plan = base_.run().plan();
        StepId origin = step.id;
        if (step.operands.size() == 1 && step.operation.traits().passes_through)
            origin = step.operand(OperandRole::stream).value_or(origin);
        for (const TensorCheck& check : base_.checks) {
            if (check.match.step != step.id && check.match.step != origin) continue;
            const auto both = trace::laid_out(base_.run().value(step.id), trace_.tensors[check.match.tensor].values,
                                              check.match.placed);
            if (both && shape_text(both->theirs.axes()) == shape_text(plan[step.id].axes)) return both->theirs;
        }
        return std::nullopt;
    }

    const Scenario& scenario_;
    const trace::Trace& trace_;
    const decoder::Past* past_;
    const std::vector<ChosenMatch>& chosen_;
    BisectProgress* progress_;
    Comparing comparing_, roughly_;  // the second judges nothing
    Config config_;                  // the scenario's, in the recording's arithmetic
    std::string gradient_target_;    // the loss, where it was recorded: its targets may be wrong
    Weights norms_anywhere_;         // the weights, with each norm before and behind its sublayer
    trace::KnownNames known_;
    std::shared_ptr<const Run> alone_;  // as it is without the recording
    Checked base_;
    std::vector<trace::Match> matches_;  // of the right plan
    std::vector<std::pair<std::string, trace::Match>> by_numbers_;
    std::vector<Sentence> not_told_apart_;
};

}  // namespace

Arithmetic arithmetic_of(const trace::Trace& trace) {
    constexpr std::ptrdiff_t kFew = 16;
    const auto tells = [](float x) { return std::isfinite(x) && x != std::trunc(x); };
    std::size_t all = 0, bfloat16 = 0, float16 = 0;
    for (const trace::TraceTensor& tensor : trace.tensors) {
        if (!is_computed(tensor)) continue;
        std::ptrdiff_t found = 0;
        if (std::ranges::none_of(tensor.values.values(), [&](float x) { return tells(x) && ++found == kFew; }))
            continue;
        ++all;
        if (has_all_of(Arithmetic::bfloat16, tensor.values))
            ++bfloat16;
        else if (has_all_of(Arithmetic::float16, tensor.values))
            ++float16;
    }
    if (2 * (bfloat16 + float16) <= all) return Arithmetic::float32;
    return float16 > bfloat16 ? Arithmetic::float16 : Arithmetic::bfloat16;
}

double coarse_tolerance(Arithmetic arithmetic) {
    return arithmetic == Arithmetic::bfloat16 ? 8e-2 : arithmetic == Arithmetic::float16 ? 1e-2 : kUsualTolerance;
}

void name_line(Bisection& bisection, const trace::Trace& trace) {
    if (!bisection.first) return;
    const std::string& theirs = bisection.checks[*bisection.first].theirs;
    const trace::TraceCall* call = trace.call_of(theirs);
    if (call == nullptr) return;
    bisection.line = call->at;
    bisection.made_by_line = trace::side_of(theirs)->gave;
}

void summarise(Bisection& bisection) {
    bisection.first = first_difference(bisection.checks);
    bisection.agreed_before = 0;
    bisection.largest = 0.0;
    const std::size_t end = bisection.first.value_or(bisection.checks.size());
    for (std::size_t i = 0; i < end; ++i) {
        if (!bisection.checks[i].is_computed) continue;
        ++bisection.agreed_before;
        if (!bisection.checks[i].harmless) bisection.largest = std::max(bisection.largest, bisection.checks[i].largest);
    }
}

namespace {

// The mistakes of cached paths with which a pass agrees, or agrees further than without them: those that leave the
// least first. `wrong`: the pass without a mistake.
Resumable<std::vector<Cause>> causes_of_pass(const CachedPass& right, const trace::Trace& pass, const Bisection& wrong,
                                             BisectOptions options) {
    std::vector<std::pair<std::size_t, Cause>> found;  // with how many tensors agree
    for (const mutations::Mutation& mistake : mutations::mutations_behind_cache()) {
        CachedPass with = right;
        try {
            if (!make_mistake(mistake.name, with)) continue;
            options.past = &with.past;
            Bisecting bisecting(with.scenario, pass, options, nullptr);
            const Bisection now = co_await bisecting.compared(false);
            if (now.first && now.agreed_before <= wrong.agreed_before) continue;
            found.emplace_back(now.agreed_before, Cause{.name = mistake.name,
                                                        .sentence = mistake.cause,
                                                        .explains = true,
                                                        .all_agree = !now.first,
                                                        .next = now.first ? now.checks[*now.first].ours : ""});
        } catch (const std::exception&) {  // it doesn't fit this pass
            continue;
        }
        co_yield kPause;
    }
    std::ranges::stable_sort(found, [](const auto& a, const auto& b) {
        return std::tuple(a.second.all_agree, a.first) > std::tuple(b.second.all_agree, b.first);
    });
    std::vector<Cause> causes;
    for (auto& [agreed, cause] : found) causes.push_back(std::move(cause));
    co_return causes;
}

// Rows of theirs in the shape of ours: the first of the heads that repeat one for a group of queries. Ours if they
// don't fit.
Tensor without_repeats(const Tensor& theirs, const Tensor& ours) {
    if (shape_text(theirs.axes()) == shape_text(ours.axes())) return theirs.with_axes(ours.axes());
    const bool fits = ours.rank() == 4 && theirs.rank() == 4 && theirs.dim(0) == ours.dim(0) &&
                      theirs.dim(2) == ours.dim(2) && theirs.dim(3) == ours.dim(3) && theirs.dim(1) % ours.dim(1) == 0;
    return fits ? trace::without_repeats(theirs, ours.axes()).with_axes(ours.axes()) : ours;
}

// What a pass leaves for the next one: their own numbers where they were recorded and agree, so that what rounding
// added up to in earlier passes isn't counted again.
decoder::Past left_by(const Run& run, const Bisection& found, const trace::Trace& pass) {
    decoder::Past past = decoder::past_of(run);
    const Plan& plan = run.plan();
    for (const TensorCheck& check : found.checks) {
        if (check.differs || check.match.strictness != trace::Strictness::exact) continue;
        const Step& step = plan[check.match.step];
        const auto kept = past.attentions.find(step.attention);
        if (kept == past.attentions.end()) continue;
        for (const auto& [which, rows] : {std::pair{AttentionStep::key, &kept->second.k},
                                          {AttentionStep::value, &kept->second.v},
                                          {AttentionStep::kv_latent, &kept->second.latent},
                                          {AttentionStep::k_shared, &kept->second.shared}}) {
            if (rows->empty() || plan.step_of(step.attention, which) != &step) continue;
            const auto both = trace::laid_out(*rows, pass.tensors[check.match.tensor].values, check.match.placed);
            if (both) *rows = without_repeats(both->theirs, *rows);
        }
    }
    return past;
}

// Adds what was found of earlier calls, which agree.
void add_earlier(Bisection& found, const Bisection& earlier) {
    found.agreed_before += earlier.agreed_before;
    found.compared += earlier.compared;
    found.recorded += earlier.recorded;
    if (earlier.first_not_compared) found.first_not_compared = earlier.first_not_compared;
    found.largest = std::max(found.largest, earlier.largest);
    found.verdict = std::max(found.verdict, earlier.verdict);
    if (found.apart.empty()) found.apart = earlier.apart;
    for (const Sentence& sentence : earlier.not_compared)
        if (std::ranges::find(found.not_compared, sentence) == found.not_compared.end())
            found.not_compared.push_back(sentence);
}

decoder::Past with_rows(decoder::Past past, const Rows& rows) {
    for (auto& [name, kept] : past.attentions)
        for (Tensor* of : {&kept.k, &kept.v, &kept.latent, &kept.shared}) *of = bisect::with_rows(*of, rows);
    return past;
}

// Which rows of what was kept a pass was given, as its recorded keys tell; nothing if they don't.
std::optional<Rows> rows_given(const Bisection& found, const Run& run, const decoder::Past& kept,
                               const trace::Trace& pass) {
    for (const TensorCheck& check : found.checks) {
        const Step& step = run.plan()[check.match.step];
        const Tensor& before = kept.of(step.attention).k;
        if (before.empty() || step.in_encoder() || run.plan().step_of(step.attention, AttentionStep::key) != &step ||
            step.part != Part::self_attention)
            continue;
        const Tensor& ours = run.value(step.id);
        const auto both = trace::laid_out(ours, pass.tensors[check.match.tensor].values, check.match.placed);
        const Tensor theirs = both ? without_repeats(both->theirs, ours) : Tensor();
        if (theirs.rank() != 4 || theirs.dim(1) != before.dim(1) || theirs.dim(2) < before.dim(2)) continue;
        const auto is_row = [&](Index at, Index row) {
            double apart = 0.0, largest = 0.0;
            for (Index head = 0; head < before.dim(1); ++head)
                for (Index i = 0; i < before.dim(2) * before.dim(3); ++i) {
                    const float one = theirs.data()[(at * theirs.dim(1) + head) * theirs.dim(2) * theirs.dim(3) + i];
                    const float other = before.data()[(row * before.dim(1) + head) * before.dim(2) * before.dim(3) + i];
                    apart = std::max(apart, std::abs(static_cast<double>(one - other)));
                    largest = std::max(largest, std::abs(static_cast<double>(other)));
                }
            return apart <= found.tolerance * largest;
        };
        Rows rows = own_rows(before.dim(0), theirs.dim(0));
        for (Index at = 0; at < theirs.dim(0); ++at) {
            Index& row = rows[static_cast<std::size_t>(at)];
            if (is_row(at, row)) continue;
            for (row = 0; row < before.dim(0) && !is_row(at, row);) ++row;
            if (row == before.dim(0)) return std::nullopt;
        }
        return rows;
    }
    return std::nullopt;
}

// Call after call, each behind what was kept of those before it, by the rows of the batch that it goes on with.
Resumable<Bisection> bisected_by_pass(Scenario scenario, const std::vector<trace::Trace>& passes, BisectOptions options,
                                      BisectProgress* progress) {
    TextPart at = {text_of(scenario), {first_position(scenario), scenario.inputs.pos()}};
    const TextInPasses* shown = shown_pass(scenario);
    CachedPass pass{scenario, {}, shown != nullptr ? shown->sizes.front() : at.part.count, {}, {}};
    if (const auto past = past_of(scenario)) {
        pass.past = *past;
        pass.attentions = self_attentions(*plan_behind(scenario, past.get()));
    }
    HowRowsWentOn history(at.text);
    Bisection result;
    TextPart before;  // this pass
    Tensor logits;    // of the pass before
    Rows rows;        // of the batch before
    for (std::size_t i = 0; i < passes.size(); ++i) {
        const bool cached = at.part.first > 0, later = i > 0;
        options.past = cached ? &pass.past : nullptr;
        std::optional<TextPart> next;
        Sentence obstacle = message("it isn't clear how it goes on with the text of those before it");
        const auto is_next = [&](const Rows& chosen, std::size_t number, bool goes_on) {
            TextPart chosen_text = before;
            chosen_text.text = bisect::with_rows(std::move(chosen_text.text), chosen);
            next = continued(chosen_text, passes[number], passes.front(), pass.prefilled, scenario.config(), goes_on);
            if (!next || next->part.first == 0) return;
            rows = chosen;
            pass.past = with_rows(pass.before_rows, rows);
        };
        try {
            auto bisecting = std::make_unique<Bisecting>(pass.scenario, passes[i], options, later ? nullptr : progress);
            Bisection found = co_await bisecting->found(options.seek_causes && !cached);
            // What was kept may have been reordered in a way that the tokens don't tell, but allow.
            const auto given = cached && found.first && !logits.empty()
                                   ? rows_given(found, bisecting->right_run(), pass.before_rows, passes[i])
                                   : std::nullopt;
            const Tensor tokens = pass.scenario.inputs.tokens;
            if (given && *given != rows &&
                (history.told(logits, tokens, *given) == given ||
                 (!history.told(logits, tokens, rows) && history.are_of_one_text(*given)))) {
                is_next(*given, i, true);
                at = *std::move(next);
                pass.scenario.inputs = part_of(at.text, at.part);
                bisecting = std::make_unique<Bisecting>(pass.scenario, passes[i], options, nullptr);
                found = co_await bisecting->found(false);
            }
            if (cached && found.first && options.seek_causes)
                found.causes = co_await causes_of_pass(pass, passes[i], found, options);
            if (cached && found.first && options.seek_causes && found.causes.empty())
                found.relation = co_await bisecting->relation();
            if (!logits.empty()) history.go_on(logits, tokens, rows);
            if (later) add_earlier(found, result);
            found.passes = i + 1;
            found.pass = i;
            found.computed = at.part.count;
            result = std::move(found);
            if (result.first || i + 1 == passes.size()) co_return result;
            before = at;
            pass.before_rows = left_by(bisecting->right_run(), result, passes[i]);
            pass.attentions = self_attentions(bisecting->right_run().plan());
            const Ref last = bisecting->run_in_step().plan().find("logits");
            logits = last == nullptr ? Tensor() : bisecting->run_in_step().value(last->id);
            const Tensor given_next = inputs_of_trace(passes[i + 1], scenario.config(), at.text.pos()).tokens;
            if (!given_next.empty() && !at.text.tokens.empty()) {
                const Rows own = own_rows(at.text.batch(), given_next.dim(0));
                const auto told = history.told(logits, given_next, own);
                if (told || own.size() >= static_cast<std::size_t>(at.text.batch()))
                    is_next(told.value_or(own), i + 1, told.has_value());
            }
            if (next && next->part.first == 0) {
                logits = {};
                history = HowRowsWentOn(next->text);
            }
        } catch (const Error& error) {
            if (!later) throw;
            next = std::nullopt;
            obstacle = error.sentence();
        }
        if (!next) {
            const std::size_t first = result.passes + 1;
            result.not_compared.insert(result.not_compared.begin(),
                                       message("calls {first} to {last} of the recorded model: {why}",
                                               {{"first", first}, {"last", passes.size()}, {"why", obstacle}}));
            co_return result;
        }
        at = *std::move(next);
        pass.scenario.inputs = part_of(at.text, at.part);
    }
    co_return result;
}

// If the model is a recording, too: what its calls were given besides tokens may be what differs. And what they
// returned may differ although all agrees with what is computed here of its weights, by settings that were assumed.
Bisection with_given(Bisection found, const Scenario& scenario, const trace::Trace& trace) {
    constexpr double kMoreThanRounding = 2e-2;
    if (!scenario.computes() || !load::is_recording(scenario.about().path)) return found;
    const trace::Trace own = trace::open_trace(scenario.about().path);
    if (Sentence adapters = adapters_apart(own, trace); !adapters.empty())
        found.apart.insert(found.apart.begin(), std::move(adapters));
    if (found.apart.empty()) found.apart = given_apart(own, trace, true);
    if (scenario.inputs.tokens.empty() && found.apart.empty() && given_apart(own, trace).empty())
        if (Sentence stream = stream_apart(own, trace, scenario.config(), found.arithmetic); !stream.empty())
            found.apart.push_back(std::move(stream));
    const bool as_opened = scenario.edits.empty() && scenario.overrides().empty();
    if (as_opened && found.apart.empty() && !found.first && given_apart(own, trace).empty())
        if (Sentence apart = returned_apart(own, trace, scenario.inputs.attention_mask,
                                            std::max(kMoreThanRounding, found.tolerance));
            !apart.empty()) {
            // What another type's rounding adds up to, or which experts it chooses, is no difference.
            if (arithmetic_of(own) != arithmetic_of(trace) || found.verdict == Verdict::changes_expert)
                found.remarks.push_back(std::move(apart));
            else
                found.apart = {made_of_given_apart(inputs_of_trace(own, scenario.config()),
                                                   inputs_of_trace(trace, scenario.config()))
                                   .value_or(std::move(apart))};
        }
    if (!found.apart.empty()) found.verdict = Verdict::differs;
    return found;
}

}  // namespace

Bisection bisect(const Scenario& scenario, const trace::Trace& trace, const BisectOptions& options) {
    const std::vector<trace::Trace> passes = recorded_passes(trace);
    return with_given(finished(bisected_by_pass(scenario, passes, options, nullptr)), scenario, trace);
}

Resumable<Bisection> bisect_in_slices(Scenario scenario, std::shared_ptr<const trace::Trace> trace,
                                      BisectOptions options, std::shared_ptr<BisectProgress> progress) {
    const std::vector<trace::Trace> passes = recorded_passes(*trace);
    co_return with_given(co_await bisected_by_pass(scenario, passes, options, progress.get()), scenario, *trace);
}

}  // namespace decoderscope::core::bisect
