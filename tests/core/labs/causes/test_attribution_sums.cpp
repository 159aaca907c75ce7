// "Who wrote it" is a decomposition: whatever is edited, its parts sum to the logit. Checked by the law itself, on
// every bundled model, under random edits of every kind; the logit comes from the forward pass, the parts from the
// stream.
#include "app/core/labs/causes/attribution.h"
#include "app/core/run/scenario.h"
#include "engine/base/error.h"
#include "engine/load/bundled_models.h"
#include "engine/mutations/mutations.h"
#include "tests/catch.h"

#include <algorithm>
#include <cmath>
#include <random>

using namespace decoderscope;

namespace {

using Rng = std::mt19937;

Index below(Rng& rng, Index count) { return std::uniform_int_distribution<Index>(0, count - 1)(rng); }
float number(Rng& rng) { return std::uniform_real_distribution<float>(-2.0F, 2.0F)(rng); }

// A cell of any step: weights, masks, scores, patterns, each head's results, sums and norms of the stream, logits.
Edit random_cell(Rng& rng, const Plan& plan) {
    for (;;) {
        const Step& step = plan[static_cast<StepId>(below(rng, static_cast<Index>(plan.steps().size())))];
        const bool tokens = step.role == Role::input || step.axes.empty();
        if (tokens) continue;
        Cell cell;
        for (std::size_t i = 0; i < step.axes.size(); ++i) cell.push_back(below(rng, step.axes[i].size));
        const bool mask = step.operation.traits().values == Values::mask;
        return SetCell{step.name, cell, mask ? static_cast<float>(below(rng, 2)) : number(rng)};
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
Edit random_edit(Rng& rng, const Plan& plan) {
    const std::vector<std::string> attentions = attentions_in(plan);
    const std::string& attention =
        attentions[static_cast<std::size_t>(below(rng, static_cast<Index>(attentions.size())))];
    const Tensor none;
    const Axes& axes = plan.find(attention + ".pattern")->axes;  // [batch, head, query, key]
    switch (below(rng, 4)) {
        case 0:
            return ScaleHead{attention, below(rng, axes[1].size), number(rng)};
        case 1:
            return MaskEdit{attention,
                            below(rng, axes[0].size),
                            std::nullopt,
                            below(rng, axes[2].size),
                            below(rng, axes[3].size),
                            below(rng, 2) == 1};
        default:
            return random_cell(rng, plan);
    }
}

// An edit of each step that the stream is written by or passes, in turn: where sums could be lost.
std::vector<Edit> edits_of_the_stream(Rng& rng, const Plan& plan) {
    std::vector<Edit> edits;
    for (const Step& step : plan.steps()) {
        const bool rows = !step.is_source() && !step.axes.empty() && step.axes.back().name == axis::d_model;
        const bool around = step.part == Part::norm || step.part == Part::head;
        if (!rows && !around) continue;
        if (step.is_source() && step.role != Role::parameter) continue;
        Cell cell;
        for (std::size_t i = 0; i < step.axes.size(); ++i) cell.push_back(below(rng, step.axes[i].size));
        edits.push_back(SetCell{step.name, cell, number(rng)});
    }
    return edits;
}

// What is wrong with the sums of a scenario's run; how many sums were looked at.
struct Looked {
    std::size_t sums = 0, wrong = 0;
    double furthest = 0.0;
    std::string first;
};

void look(Looked& looked, Rng& rng, const Scenario& scenario, const std::string& what) {
    const std::shared_ptr<const Run> run = execute(plan_of(scenario));
    if (!attribution_obstacle(*run).empty()) return;
    const Tensor& logits = run->value("logits");  // [batch, pos, vocab]
    // The position whose row was edited, if one was, is as good as any other; the last one reads all the others.
    std::vector<Cell> places = {{below(rng, logits.dim(0)), logits.dim(1) - 1, below(rng, logits.dim(2))},
                                {below(rng, logits.dim(0)), below(rng, logits.dim(1)), below(rng, logits.dim(2))}};
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
            double size = 1.0;
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
        Rng rng(7);
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
            look(looked, rng, scenario, which);
            for (const Edit& edit : edits_of_the_stream(rng, *plan)) {
                if (below(rng, 4) != 0 && !overrides.empty()) continue;
                scenario.edits = {edit};
                look(looked, rng, scenario, which + ", " + described(scenario.edits));
            }
            for (int round = 0; round < 12; ++round) {
                scenario.edits.clear();
                for (Index edits = 1 + below(rng, 4); edits > 0; --edits)
                    scenario.edits.push_back(random_edit(rng, *plan));
                scenario.dropout_seed = round % 4 == 3 ? std::optional<std::uint64_t>(round) : std::nullopt;
                look(looked, rng, scenario, which + ", " + described(scenario.edits));
            }
        }
        INFO(looked.first);
        CHECK(looked.wrong == 0);
        CHECK(looked.furthest > 0.0);  // they are two ways of computing, not one
        CHECK(looked.sums > 500);
    }
    CHECK(decoders > 30);
}

TEST_CASE("the parts of a logit sum to it under every mistake of the gallery") {
    for (const BundledModel& bundled : bundled_models()) {
        INFO(bundled.name);
        Rng rng(11);
        Looked looked;
        const Scenario plain = scenario_of(make_bundled_model(bundled.name));
        for (const Mutation& mutation : mutations()) {
            Scenario scenario = plain;
            scenario.mutation = mutation.name;
            std::shared_ptr<const Plan> plan;
            try {
                plan = plan_of(scenario);
            } catch (const Error&) {
                continue;  // it doesn't fit this model
            }
            for (int round = 0; round < 3; ++round) {
                scenario.edits.clear();
                if (round > 0) scenario.edits.push_back(random_edit(rng, *plan));
                look(looked, rng, scenario, std::string(mutation.name) + ", " + described(scenario.edits));
            }
        }
        INFO(looked.first);
        CHECK(looked.wrong == 0);
        CHECK(looked.sums > 200);
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
