// "Who wrote it" is a decomposition: whatever is edited, its parts sum to the logit. Checked by the law itself, on
// every bundled model, under random edits of every kind; the logit comes from the forward pass, the parts from the
// stream.
#include "app/core/labs/causes/attribution.h"
#include "app/core/run/scenario.h"
#include "engine/base/error.h"
#include "engine/load/bundled_models.h"
#include "engine/mutations/mutations.h"
#include "tests/catch.h"
#include "tests/engine/dice.h"

#include <algorithm>
#include <cmath>

using namespace decoderscope;
using namespace decoderscope::testing;

namespace {

float number(Dice& dice) { return dice.number(); }

// A cell of any step: weights, masks, scores, patterns, each head's results, sums and norms of the stream, logits.
Edit random_cell(Dice& dice, const Plan& plan) {
    for (;;) {
        const Step& step = plan[static_cast<StepId>(dice.below(static_cast<Index>(plan.steps().size())))];
        const bool tokens = step.role == Role::input || step.axes.empty();
        if (tokens) continue;
        Cell cell;
        for (std::size_t i = 0; i < step.axes.size(); ++i) cell.push_back(dice.below(step.axes[i].size));
        const bool mask = step.operation.traits().values == Values::mask;
        return SetCell{step.name, cell, mask ? static_cast<float>(dice.below(2)) : number(dice)};
    }
}

std::vector<std::string> attentions_in(const Plan& plan) {
    std::vector<std::string> names;
    for (const Step& step : plan.steps())
        if (!step.attention.empty() && std::ranges::find(names, step.attention) == names.end())
            names.push_back(step.attention);
    return names;
}

// Each kind of edit that the contract has.
Edit random_edit(Dice& dice, const Plan& plan) {
    const std::vector<std::string> attentions = attentions_in(plan);
    const std::string& attention =
        attentions[static_cast<std::size_t>(dice.below(static_cast<Index>(attentions.size())))];
    const Axes& axes = plan.find(attention + ".pattern")->axes;  // [batch, head, query, key]
    switch (dice.below(4)) {
        case 0:
            return ScaleHead{attention, dice.below(axes[1].size), number(dice)};
        case 1:
            return MaskEdit{attention,
                            dice.below(axes[0].size),
                            std::nullopt,
                            dice.below(axes[2].size),
                            dice.below(axes[3].size),
                            dice.below(2) == 1};
        default:
            return random_cell(dice, plan);
    }
}

// An edit of each step that the stream is written by or passes, in turn: where sums could be lost.
std::vector<Edit> edits_of_the_stream(Dice& dice, const Plan& plan) {
    std::vector<Edit> edits;
    for (const Step& step : plan.steps()) {
        const bool rows = !step.is_source() && !step.axes.empty() && step.axes.back().name == axis::d_model;
        const bool around = step.part == Part::norm || step.part == Part::head;
        if (!rows && !around) continue;
        if (step.is_source() && step.role != Role::parameter) continue;
        Cell cell;
        for (std::size_t i = 0; i < step.axes.size(); ++i) cell.push_back(dice.below(step.axes[i].size));
        edits.push_back(SetCell{step.name, cell, number(dice)});
    }
    return edits;
}

// What is wrong with the sums of a scenario's run; how many sums were looked at.
struct Looked {
    std::size_t sums = 0, wrong = 0;
    double furthest = 0.0;
    std::string first;
};

// How large the numbers are that a logit is the sum of: a float's error grows with these, not with the sum.
double magnitude(const Run& run, const Cell& at) {
    double sum = 0.0;
    for (const Step& step : run.plan().steps()) {
        if (!step.operation.traits().is_linear || step.part != Part::head) continue;
        const Tensor& x = run.operand(step, OperandRole::input);        // [batch, pos, d_model]
        const Tensor& weight = run.operand(step, OperandRole::weight);  // [vocab, d_model]
        for (Index d = 0; d < weight.dim(1); ++d)
            for (const Index token : {at[2], Index{0}})
                sum += std::abs(static_cast<double>(x.at(Cell{at[0], at[1], d})) *
                                static_cast<double>(weight.at(Cell{token, d})));
    }
    return sum;
}

void look(Looked& looked, Dice& dice, const Scenario& scenario, const std::string& what) {
    const std::shared_ptr<const Run> run = execute(plan_of(scenario));
    if (!attribution_obstacle(*run).empty()) return;
    const Tensor& logits = run->value("logits");  // [batch, pos, vocab]
    // The position whose row was edited, if one was, is as good as any other; the last one reads all the others.
    std::vector<Cell> places = {{dice.below(logits.dim(0)), logits.dim(1) - 1, dice.below(logits.dim(2))},
                                {dice.below(logits.dim(0)), dice.below(logits.dim(1)), dice.below(logits.dim(2))}};
    for (const Edit& edit : scenario.edits) {
        const auto* cell = std::get_if<SetCell>(&edit);
        const Ref step = cell == nullptr ? nullptr : run->plan().find(cell->tensor);
        if (step == nullptr || step->axes.size() < 3 || step->axes[0].name != axis::batch || step->in_encoder())
            continue;
        const auto along = row_axis(step->axes);
        const Index token = step->axes.back().name == axis::vocab ? cell->index.back() : 1;
        if (along && cell->index[*along] < logits.dim(1))
            places.push_back({cell->index[0], cell->index[*along], token});
    }
    for (const Cell& at : places) {
        for (const std::optional<Index> minus : {std::optional<Index>(), std::optional<Index>(0)}) {
            const Attribution made = direct_attribution(*run, at[0], at[1], at[2], minus);
            if (!std::isfinite(made.logit)) continue;
            double size = 1.0 + magnitude(*run, at);
            for (const Contribution& term : made.terms) size += std::abs(term.logit);
            const double off = std::abs(made.sum - made.logit) / size;
            ++looked.sums;
            looked.furthest = std::max(looked.furthest, off);
            if (off <= 1e-5) continue;
            ++looked.wrong;
            if (looked.first.empty())
                looked.first = what + ": " + std::to_string(made.sum) + " instead of " + std::to_string(made.logit);
        }
    }
}

bool has_logits(const Scenario& scenario) { return plan_of(scenario)->find("logits") != nullptr; }

std::string described(const std::vector<Edit>& edits) {
    std::string text;
    for (const Edit& edit : edits) text += describe(edit) + "; ";
    return text;
}

const std::vector<Overrides> kOtherDecoders = {
    {},
    {{"norm_first", "true"}},
    {{"norm_first", "false"}},
    {{"norm_placement", "\"reordered\""}},
    {{"norm_placement", "\"peri\""}},
    {{"residual_scale", "1.5"}},
    {{"final_norm", "false"}},
    {{"norm", "\"rmsnorm\""}},
    {{"norm", "\"rmsnorm_plus_one\""}},
    {{"norm", "\"layernorm_std\""}},
    {{"logit_scale", "0.5"}},
    {{"logit_soft_cap", "20"}},
    {{"attention_soft_cap", "5"}},
    {{"parallel_residual", "\"one_norm\""}},
    {{"parallel_residual", "\"two_norms\""}},
    {{"activation", "\"silu\""}},
    {{"causal", "false"}},
    {{"sliding_window", "3"}},
    {{"positional_encoding", "\"none\""}},
    {{"positional_encoding", "\"sinusoidal\""}},
    {{"positional_encoding", "\"rope\""}},
};

}  // namespace

TEST_CASE("the parts of a logit sum to it after random edits of every kind, on every bundled model") {
    std::size_t decoders = 0;
    for (const BundledModel& bundled : bundled_models()) {
        INFO(bundled.name);
        Dice dice(7);
        Looked looked;
        const Scenario plain = scenario_of(make_bundled_model(bundled.name));
        for (const Overrides& overrides : kOtherDecoders) {
            Scenario scenario = plain;
            std::shared_ptr<const Plan> plan;
            try {
                scenario = with_overrides(plain, overrides);
                plan = plan_of(scenario);
            } catch (const Error&) {
                continue;  // this model has no weights for it
            }
            ++decoders;
            const std::string which =
                overrides.empty() ? "as it is" : overrides.begin()->first + " " + overrides.begin()->second;
            look(looked, dice, scenario, which);
            for (const Edit& edit : edits_of_the_stream(dice, *plan)) {
                if (dice.below(4) != 0 && !overrides.empty()) continue;
                scenario.edits = {edit};
                look(looked, dice, scenario, which + ", " + described(scenario.edits));
            }
            for (int round = 0; round < 8; ++round) {
                scenario.edits.clear();
                for (Index edits = 1 + dice.below(4); edits > 0; --edits)
                    scenario.edits.push_back(random_edit(dice, *plan));
                scenario.dropout_seed = round % 4 == 3 ? std::optional<std::uint64_t>(round) : std::nullopt;
                look(looked, dice, scenario, which + ", " + described(scenario.edits));
            }
        }
        INFO(looked.first);
        CHECK(looked.wrong == 0);
        if (!has_logits(plain)) continue;
        CHECK(looked.furthest > 0.0);  // they are two ways of computing, not one
        CHECK(looked.sums > 500);
    }
    CHECK(decoders > 30);
}

TEST_CASE("the parts of a logit sum to it under every mistake of the gallery") {
    for (const BundledModel& bundled : bundled_models()) {
        INFO(bundled.name);
        Dice dice(11);
        Looked looked;
        const Scenario plain = scenario_of(make_bundled_model(bundled.name));
        const std::shared_ptr<const Plan> plan = plan_of(plain);
        for (const Mutation& mutation : mutations()) {
            INFO(mutation.name);
            Scenario scenario = plain;
            scenario.mutation = mutation.name;
            for (int round = 0; round < 3; ++round) {
                scenario.edits.clear();
                if (round > 0) scenario.edits.push_back(random_edit(dice, *plan));
                try {
                    look(looked, dice, scenario, std::string(mutation.name) + ", " + described(scenario.edits));
                } catch (const Error&) {  // the mistake or the edit doesn't fit this model
                }
            }
        }
        INFO(looked.first);
        CHECK(looked.wrong == 0);
        CHECK((looked.sums > 200 || !has_logits(plain)));
    }
}

TEST_CASE("what an edit of the stream changed is a part of its own, and the output projection's bias is not lost") {
    Scenario scenario = scenario_of(make_bundled_model("reverse"));
    const auto part = [](const Run& run, Contributor kind, const std::string& tensor) {
        const Attribution made = direct_attribution(run, 0, 2, 9);
        const auto found = std::ranges::find_if(
            made.terms, [&](const Contribution& term) { return term.kind == kind && term.tensor == tensor; });
        return found == made.terms.end() ? std::nullopt : std::optional<double>(found->logit);
    };
    const std::shared_ptr<const Run> before = execute(plan_of(scenario));
    const std::optional<double> bias = part(*before, Contributor::attention_bias, "blocks.0.attn_out");
    REQUIRE(bias.has_value());
    CHECK_FALSE(part(*before, Contributor::edit, "blocks.0.resid_mid").has_value());
    // A result that is set to what it already is changes nothing but the way in which the output is computed.
    const Cell cell = {0, 0, 2, 5};
    const std::string asked[] = {"*"};
    const float value = execute(plan_of(scenario), {.asked = asked})->value("blocks.0.attn.result").at(cell);
    scenario.edits = {SetCell{"blocks.0.attn.result", cell, value}};
    const std::optional<double> kept =
        part(*execute(plan_of(scenario)), Contributor::attention_bias, "blocks.0.attn_out");
    REQUIRE(kept.has_value());
    CHECK(std::abs(*kept - *bias) <= 1e-4);
    scenario.edits = {SetCell{"blocks.0.resid_mid", {0, 2, 5}, 3.0F}};
    CHECK(part(*execute(plan_of(scenario)), Contributor::edit, "blocks.0.resid_mid").has_value());
}
