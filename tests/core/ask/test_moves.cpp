// What causes what, against PyTorch (tests/reference/tabs_causes.py) and against the same things done as edits.
#include "app/core/ask/attribution.h"
#include "app/core/ask/moves.h"
#include "app/core/ask/number.h"
#include "app/core/run/output_moves.h"
#include "app/core/run/scenario.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/files/safetensors.h"
#include "engine/graph/mixture.h"
#include "engine/load/bundled_models.h"
#include "engine/mutations/mutations.h"
#include "tests/catch.h"
#include "tests/engine/dice.h"
#include "tests/engine/messages.h"
#include "tests/sanitized.h"

#include <algorithm>
#include <cmath>
#include <set>

using namespace decoderscope::testing;
using namespace decoderscope::core::ask;
using namespace decoderscope::mutations;

namespace {

const std::string kReference = DECODERSCOPE_TESTS_DIR "/reference/";

nlohmann::json expected() { return nlohmann::json::parse(read_text(kReference + "tabs_causes.json")); }

// A fixture's run, or the same with the next token in each place.
std::shared_ptr<const Run> run_of(const std::string& fixture, bool shifted) {
    const std::string folder = kReference + "fixtures/" + fixture;
    const Config config = parse_config(read_text(folder + "/config.json"));
    const SafetensorsFile file(folder + "/model.safetensors");
    Weights weights;
    for (const auto& [name, entry] : file.entries()) weights.emplace(name, file.floats(name));
    Inputs inputs = load_inputs(folder + "/inputs.safetensors", config);
    const auto shift = [](Tensor& tokens, Index vocabulary) {
        for (float& token : tokens.writable()) token = static_cast<float>((static_cast<Index>(token) + 1) % vocabulary);
    };
    if (shifted) shift(inputs.tokens, config.vocab_size);
    if (shifted && !inputs.encoder_tokens.empty()) shift(inputs.encoder_tokens, config.encoder_vocab_size);
    return execute(plan_decoder({config, &weights, inputs, {}, std::nullopt}));
}

PatchingInputs question_of(const std::string& fixture) {
    PatchingInputs question{run_of(fixture, false), run_of(fixture, true), {"logits", {}, Cell{}}, 0};
    const Index last = question.a->value("logits").dim(1) - 1;
    question.number.cell = {0, last, 2};
    question.number.minus = {0, last, 0};
    return question;
}

Scenario reverse_asking() {
    Scenario scenario = scenario_of(make_bundled_model("reverse"));
    scenario.gradient_target = "logits[0,2,9]";
    return scenario;
}

}  // namespace

TEST_CASE("how much of a number comes back with each row is what PyTorch measures") {
    const nlohmann::json all = expected();
    for (const auto& [fixture, wanted] : all.items()) {
        INFO(fixture);
        const PatchingInputs question = question_of(fixture);
        const std::vector<StepId> steps = patchable_steps(question);
        std::atomic<std::size_t> done = 0;
        const Patching patching = finished(patch_rows(question, steps, {}, &done));
        CHECK(patching.complete);
        CHECK(done == patched_rows(question, steps));
        CHECK(patching.in_a == Approx(wanted["patching"]["in_a"].get<double>()).epsilon(1e-5));
        CHECK(patching.in_b == Approx(wanted["patching"]["in_b"].get<double>()).epsilon(1e-5));
        std::set<std::string> measured;
        const nlohmann::json& back = wanted["patching"]["back"];
        for (const PatchedStep& step : patching.steps) {
            INFO(step.name);
            measured.insert(step.name);
            REQUIRE(back.contains(step.name));
            const auto theirs = back[step.name].get<std::vector<double>>();
            REQUIRE(step.back.size() == theirs.size());
            for (std::size_t row = 0; row < theirs.size(); ++row) {
                INFO("row " << row);
                CHECK(std::abs(step.back[row] - theirs[row]) <= 1e-4 * std::max(1.0, std::abs(theirs[row])));
            }
        }
        // What is not measured is nothing that the number depends on.
        for (const auto& [name, theirs] : back.items())
            if (!measured.contains(name)) CHECK(std::ranges::all_of(theirs, [](double share) { return share == 0.0; }));
        CHECK(measured.contains("blocks.0.resid_mid"));
    }
}

TEST_CASE("patching a run with itself measures nothing, and a stopped one keeps what it has") {
    PatchingInputs question = question_of("gpt2-like");
    const std::vector<StepId> steps = patchable_steps(question);
    std::stop_source stop;
    Resumable<Patching> work = patch_rows(question, steps, stop.get_token());
    for (int rows = 0; rows < 12; ++rows) work.advance();
    stop.request_stop();
    while (!work.advance()) {
    }
    const Patching part = work.result();
    CHECK_FALSE(part.complete);
    CHECK(part.steps.size() == 2);  // of 5 rows each; the third has only two
    question.b = question.a;
    const Patching same = finished(patch_rows(question, steps, {}));
    CHECK_FALSE(same.differs());
    CHECK(same.steps.empty());
    question.number.tensor = "nothing";
    check_message(error_of([&] { static_cast<void>(finished(patch_rows(question, steps, {}))); }), {"nothing"});
}

TEST_CASE("what heads and MLPs write towards a logit is what PyTorch measures, and it sums to the logit") {
    const nlohmann::json all = expected();
    for (const auto& [fixture, wanted] : all.items()) {
        if (!wanted.contains("attribution")) continue;
        INFO(fixture);
        const nlohmann::json& theirs = wanted["attribution"];
        const std::shared_ptr<const Run> run = run_of(fixture, false);
        const Attribution attribution = direct_attribution(*run, 1, 1, 3);
        CHECK(attribution.logit == Approx(theirs["logit"].get<double>()).epsilon(1e-5));
        CHECK(attribution.sum == Approx(attribution.logit).epsilon(1e-5));
        std::size_t heads = 0, mlps = 0;
        for (const Contribution& term : attribution.terms) {
            INFO(term.tensor);
            const std::string layer = std::to_string(term.layer);
            const bool is_head = term.kind == Contributor::head, is_mlp = term.kind == Contributor::mlp;
            if (!is_head && !is_mlp) continue;
            (is_head ? heads : mlps) += 1;
            const double value = is_head ? theirs["heads"][layer + "." + std::to_string(*term.head)].get<double>()
                                         : theirs["mlps"][layer].get<double>();
            CHECK(std::abs(term.logit - value) <= 2e-5);
        }
        CHECK(heads == theirs["heads"].size());
        CHECK(mlps == theirs["mlps"].size());
    }
}

TEST_CASE("the terms of a logit sum to it wherever the norms stand") {
    for (const char* fixture :
         {"gpt2-like", "llama-like", "gemma-2-like", "olmo-2-like", "encdec-tokens", "deepnorm", "gpt-j-like",
          "gpt-neox-like", "bloom-like", "scaled-embedding", "no-bias", "mixtral-like", "qwen-2-moe-like",
          "deepseek-v3-like", "gpt-oss-like", "experts-parallel", "experts-encdec", "experts-edits"}) {
        if (parse_config(read_text(kReference + "fixtures/" + fixture + "/config.json")).vocab_size == 0) continue;
        INFO(fixture);
        const std::shared_ptr<const Run> run = run_of(fixture, false);
        if (!attribution_obstacle(*run).empty()) continue;
        for (const std::optional<Index> minus : {std::optional<Index>(), std::optional<Index>(1)}) {
            const Attribution attribution = direct_attribution(*run, 0, 2, 3, minus);
            CHECK(std::abs(attribution.sum - attribution.logit) <= 2e-5 * std::max(1.0, std::abs(attribution.logit)));
        }
    }
    CHECK_FALSE(attribution_obstacle(*run_of("no-bias", false)).english().size() > 0);
}

TEST_CASE("each expert that a position went to is a term of its own") {
    for (const char* fixture : {"mixtral-like", "qwen-3-moe-like"}) {
        INFO(fixture);
        const std::shared_ptr<const Run> run = run_of(fixture, false);
        const Attribution attribution = direct_attribution(*run, 1, 2, 3);
        const Tensor& chosen = run->value("blocks.1.mlp.expert");  // [batch, pos, slot]
        std::vector<Contribution> experts;
        for (const Contribution& term : attribution.terms) {
            CHECK(term.kind != Contributor::mlp);
            CHECK(term.kind != Contributor::shared);
            if (term.kind == Contributor::expert && term.layer == 1) experts.push_back(term);
        }
        REQUIRE(experts.size() == static_cast<std::size_t>(chosen.dim(2)));
        // By hand: the output times its weight, through the final norm with the scale that the run recorded.
        const Tensor& out = run->value("blocks.1.mlp.expert_out");
        const Tensor &gain = run->value("norm.weight"), &head = run->value("lm_head.weight");
        const auto scale = static_cast<double>(run->value("ln_final.scale").at(Cell{1, 2, 0}));
        for (Index slot = 0; slot < chosen.dim(2); ++slot) {
            double logit = 0.0;
            for (Index d = 0; d < out.dim(3); ++d)
                logit += static_cast<double>(out.at(Cell{1, 2, slot, d})) * static_cast<double>(gain.at(Cell{d})) /
                         scale * static_cast<double>(head.at(Cell{3, d}));
            logit *= static_cast<double>(run->value("blocks.1.mlp.expert_weight").at(Cell{1, 2, slot}));
            const Contribution& term = experts[static_cast<std::size_t>(slot)];
            CHECK(term.expert == static_cast<Index>(chosen.at(Cell{1, 2, slot})));
            CHECK(term.logit == Approx(logit).margin(1e-6));
        }
    }
}

TEST_CASE("a head's move is what switching it off by an edit measures, and the slopes along the way promise it") {
    Scenario scenario = reverse_asking();
    scenario.edits = {ScaleHead{"blocks.1.cross_attn", 2, 0.5F}};  // its way leads from off to this
    const std::shared_ptr<const Run> run = execute(plan_of(scenario));
    const ChosenNumber number = {"logits", {0, 2, 9}, Cell{0, 2, 4}};
    std::atomic<std::size_t> done = 0;
    const Moves moves = finished(measure_moves(scenario, run, number, 0, 3, {}, &done));
    REQUIRE(moves.complete);
    CHECK(moves.heads.size() == 24);
    CHECK(done <= runs_of_moves(*run, 3));
    scenario.gradient_target.clear();
    double furthest = 0.0;
    for (const HeadMove& move : moves.heads) {
        INFO(move.attention << " head " << move.head);
        Scenario without = scenario;
        std::erase_if(without.edits, [&](const Edit& edit) {
            const auto& scaled = std::get<ScaleHead>(edit);
            return scaled.attention == move.attention && scaled.head == move.head;
        });
        without.edits.push_back(ScaleHead{move.attention, move.head, 0.0F});
        const double off = number.in(execute(plan_of(without))->value("logits"));
        CHECK(std::abs(move.switched_off - (moves.number - off)) <= 1e-4);
        CHECK(std::abs(move.along_the_way - move.switched_off) <= 0.03 * std::max(1.0, std::abs(move.switched_off)));
        furthest = std::max(furthest, std::abs(move.gradient_times_z - move.switched_off));
    }
    CHECK(furthest > 0.1);  // the slope at one point promises something else
    CHECK(std::ranges::any_of(moves.tokens, [](const InputMove& move) { return move.encoder; }));
    for (const InputMove& move : moves.tokens) {
        Scenario swapped = scenario;
        Tensor& tokens = move.encoder ? swapped.inputs.encoder_tokens : swapped.inputs.tokens;
        tokens.writable()[static_cast<std::size_t>(tokens.offset(Cell{0, move.position}))] =
            static_cast<float>(move.by);
        if (move.most == 0.0) continue;
        const double then = number.in(execute(plan_of(swapped))->value("logits"));
        CHECK(std::abs(moves.number - then - move.most) <= 1e-4);
        CHECK(move.swapped <= std::abs(move.most) + 1e-9);
    }
}

TEST_CASE("slopes are read off the gradients that are recorded") {
    const Scenario scenario = reverse_asking();
    const std::shared_ptr<const Run> run = execute(plan_of(scenario));
    const Slopes slopes = slopes_of(*run, nullptr, 0, 5);
    REQUIRE(slopes.scores.size() == 5);
    for (std::size_t i = 0; i < slopes.scores.size(); ++i) {
        const ScoreSlope& score = slopes.scores[i];
        CHECK(score.slope == static_cast<double>(run->value("grad." + score.tensor).at(score.cell)));
        CHECK(score.cell[0] == 0);
        if (i > 0) CHECK(std::abs(score.slope) <= std::abs(slopes.scores[i - 1].slope));
    }
    CHECK(slopes.input.size() == 2);  // the word and the answer
    REQUIRE_FALSE(slopes.stream.empty());
    for (const StreamGradients& stream : slopes.stream) {
        INFO(stream.tensor);
        const Tensor& gradient = run->value("grad." + stream.tensor);
        const Tensor& values = run->value(stream.tensor);
        REQUIRE(stream.by_value.size() == static_cast<std::size_t>(values.dim(1)));
        double product = 0.0;
        for (Index d = 0; d < values.dim(2); ++d) {
            const auto slope = static_cast<double>(gradient.at(Cell{0, 1, d}));
            product += slope * static_cast<double>(values.at(Cell{0, 1, d}));
        }
        CHECK(stream.by_value[1] == Approx(product).margin(1e-6));
    }
}

TEST_CASE("the slopes of a difference are those of its first cell less those of its second") {
    Scenario scenario = reverse_asking();
    const std::shared_ptr<const Run> first = execute(plan_of(scenario));
    scenario.gradient_target = "logits[0, 2, 1]";
    const std::shared_ptr<const Run> second = execute(plan_of(scenario));
    const Slopes slopes = slopes_of(*first, second.get(), 0, 3);
    const auto gradient = [&](const std::string& tensor, const Cell& cell) {
        return first->value("grad." + tensor).at(cell) - second->value("grad." + tensor).at(cell);
    };
    REQUIRE(slopes.scores.size() == 3);
    for (const ScoreSlope& score : slopes.scores)
        CHECK(score.slope == static_cast<double>(gradient(score.tensor, score.cell)));
    for (const StreamGradients& stream : slopes.stream) {
        INFO(stream.tensor);
        double product = 0.0;
        for (Index d = 0; d < first->value(stream.tensor).dim(2); ++d)
            product += static_cast<double>(gradient(stream.tensor, {0, 1, d})) *
                       static_cast<double>(first->value(stream.tensor).at(Cell{0, 1, d}));
        CHECK(stream.by_value[1] == Approx(product).margin(1e-6));
    }
}

// ---- who wrote a logit, under edits

// "Who wrote it" is a decomposition: whatever is edited, its parts sum to the logit. Checked by the law itself, on
// every bundled model, under random edits of every kind; the logit comes from the forward pass, the parts from the
// stream.
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
        for (const MixtureSteps& mixture : mixtures(plan))
            if (mixture.expert == &step)
                return SetCell{step.name, cell, static_cast<float>(dice.below(mixture.experts()))};
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
    if (const std::vector<MixtureSteps> all = mixtures(plan); !all.empty() && dice.below(3) == 0) {
        const MixtureSteps& mixture = all[static_cast<std::size_t>(dice.below(static_cast<Index>(all.size())))];
        RouteExpert route = {mixture.name, dice.below(mixture.experts())};
        if (dice.below(2) == 1) route.pos = dice.below(axes[2].size);
        route.alone = dice.below(2) == 1;
        return route;
    }
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

TEST_CASE("the parts of a logit sum to it after random edits of every kind, on every bundled model", "[long]") {
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
    for (const BundledModel& bundled : looked_at(bundled_models(), 9)) {
        INFO(bundled.name);
        Dice dice(11);
        Looked looked;
        const Scenario plain = scenario_of(make_bundled_model(bundled.name));
        const std::shared_ptr<const Plan> plan = plan_of(plain);
        for (const Mutation& mutation : mutations::mutations()) {
            if (kSanitized && dice.below(4) != 0) continue;
            INFO(mutation.name);
            Scenario scenario = plain;
            scenario.mutation = mutation.name;
            for (int round = 0; round < (kSanitized ? 1 : 3); ++round) {
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
        CHECK((looked.sums > (kSanitized ? 5 : 200) || !has_logits(plain)));
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

// The swap that a comparison begins with changes the answer, where one does.

namespace {

std::optional<Index> answer(const Tensor& logits, Index position) {
    const auto width = static_cast<std::size_t>(logits.dim(2));
    return predicted_token(
        logits.values().subspan(static_cast<std::size_t>(logits.offset(Cell{0, position, 0})), width));
}

}  // namespace

TEST_CASE("the swap that is proposed changes the prediction at the number's position, by another run") {
    for (const char* name : {"reverse", "induction", "verses"}) {
        INFO(name);
        const Scenario scenario = scenario_of(make_bundled_model(name));
        const auto run = execute(plan_of(scenario));
        const ResolvedNumber number = resolved(scenario, *run, 0, {});
        const TellingSwap found = finished(find_telling_swap(scenario, run, number));
        REQUIRE(found.swap);
        CHECK(found.changes_answer);
        CHECK(swap_sentence(found).empty());
        Scenario other = scenario;
        Tensor& tokens = found.swap->in_source ? other.inputs.encoder_tokens : other.inputs.tokens;
        CHECK(static_cast<Index>(tokens.at(Cell{0, found.swap->position})) == found.swap->before);
        tokens.writable()[static_cast<std::size_t>(found.swap->position)] = static_cast<float>(found.swap->after);
        const auto swapped = execute(plan_of(other));
        CHECK(answer(run->value("logits"), number.position) != answer(swapped->value("logits"), number.position));
    }
}

TEST_CASE("where no swap was found, that is said, and a choice that was made stays") {
    TellingSwap none{.swap = ReplacedToken{true, 0, 3, 1, 2}, .changes_answer = false, .change = 0.1, .tried = 44};
    CHECK(swap_sentence(none).english() ==
          "None of the 44 swaps that were tried changes the answer; this one moves the number most.");
    CHECK(with_swap({}, none).position == Index{3});
    CHECK(with_swap({.position = 5}, none).position == Index{5});
    CHECK_FALSE(with_swap({.position = 5}, none).token);
    CHECK(with_swap({.kind = OtherKind::pinned}, none) == OtherChoice{.kind = OtherKind::pinned});
}
