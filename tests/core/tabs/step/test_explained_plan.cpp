// While a run is under way, what explains a number belongs to the plan that is shown.
#include "app/core/run/cursor.h"
#include "app/core/run/scenario.h"
#include "app/core/run/slice.h"
#include "app/core/session/session.h"
#include "app/core/tabs/step/row_reading.h"
#include "app/core/tabs/step/shown_step.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/core/tabs/step/shown_run.h"

#include <algorithm>
#include <cmath>

using namespace decoderscope::testing;
using namespace decoderscope::core::step;

namespace {

// Every cell that an explanation leads to is a cell of the shown step's operand.
void check_links(const Snapshot& shown, const Step& step, const Explanation& explanation) {
    const auto check = [&](const Factor& factor) {
        if (!factor.cell) return;
        REQUIRE(factor.cell->operand < step.operands.size());
        const Step& operand = shown.run->plan()[step.operands[factor.cell->operand]];
        CHECK(operand.axes.size() == factor.cell->cell.size());
        CHECK(shown.run->value(operand.id).contains(factor.cell->cell));
    };
    for (const Line& line : explanation.lines) {
        for (const Term& term : line.terms) std::ranges::for_each(term.factors, check);
        std::ranges::for_each(line.given, check);
    }
}

}  // namespace

TEST_CASE("an explanation is of the plan that is shown, though the next run has the step, computed in another way") {
    const Scenario plain = scenario_of(load::make_bundled_model("simple-decoder"));
    Scenario by_results = plain;
    by_results.edits = {SetCell{"blocks.0.attn.result", {0, 0, 0, 0}, 0.5F}};
    for (const auto& [now, next] : {std::pair(by_results, plain), std::pair(plain, by_results)}) {
        Snapshot shown{.scenario = now, .run = execute(plan_of(now))};
        shown.unedited = shown.run;
        shown.early = execute(plan_of(next));
        Derived derived;
        for (const Step& step : shown.run->plan().steps()) {
            if (step.is_source() || shown.run->value(step.id).empty()) continue;
            CAPTURE(step.name);
            const Cell cell(step.axes.size(), 0);
            check_links(shown, step, *shown_explanation(derived, shown, step, cell));
            const Value<ReadExplanation> read = shown_terms(derived, shown, step, cell);
            check_links(shown, step, read->explanation);
        }
    }
}

TEST_CASE("a step that both plans compute alike is shown from the run under way") {
    const Scenario plain = scenario_of(load::make_bundled_model("simple-decoder"));
    Scenario edited = plain;
    edited.edits = {ScaleHead{"blocks.0.attn", 0, 0.0F}};
    const Snapshot shown{
        .scenario = plain, .run = execute(plan_of(plain)), .unedited = nullptr, .early = execute(plan_of(edited))};
    CHECK(&shown.run_of(*shown.run->plan().find("blocks.0.attn_out")) == shown.early.get());
}

// The merge of the heads shows all of them side by side.

TEST_CASE("beside what joins them, all heads stand side by side with their names") {
    const ShownRun run = shown_run("reverse");
    const Plan& plan = run.run->plan();
    const Step &z = *plan.find("blocks.0.attn.z"), &out = *plan.find("blocks.0.attn_out");
    const Place place = place_beside(z, out, {1, 2});
    const Heatmap all = heatmap_of(run.scenario, *run.run, z, place);
    CHECK(all.rows == z.axes[2].size);
    CHECK(all.columns == 4 * 16);
    const Slice slice = slice_of(z, place, 4);
    const Tensor& values = run.run->value(z.id);
    for (Index head = 0; head < 4; ++head) {
        CHECK(all.column_labels[static_cast<std::size_t>(head * 16)] == "head " + std::to_string(head));
        for (Index d = 0; d < 16; ++d) {
            const Cell cell = {1, head, 3, d};
            CHECK(all.at(3, head * 16 + d) == values.at(cell));
            CHECK(slice.cell(3, head * 16 + d) == cell);
            CHECK(slice.find(cell) == std::pair<Index, Index>{3, head * 16 + d});
        }
    }
    CHECK_FALSE(slice.find({0, 1, 3, 2}));
    // Beside a result with heads of its own there is one: the one that made it.
    CHECK(place_beside(z, *plan.find("blocks.0.attn.result"), {1, 2}) == Place{1, 2});
    CHECK(place_beside(*plan.find("blocks.0.ln1.normalized"), out, {1, 2}) == Place{1, 2});
}

// Which cell of a step belongs to a token.

TEST_CASE("a position is a row of the target's steps, and a column where the source is read") {
    Session session(make_bundled_model("reverse"));
    const Run& run = *session.shown().run;
    const auto cell = [&](const char* name, TokenSequence sequence, Index position,
                          const std::optional<Cell>& selected = std::nullopt) {
        return cell_at_position(run, *run.plan().find(name), {sequence, 1, position}, {0, 3}, selected, 4);
    };
    const auto of_target = cell("blocks.1.cross_attn.pattern", TokenSequence::target, 2);
    REQUIRE(of_target);
    CHECK((*of_target)[0] == 1);
    CHECK((*of_target)[1] == 3);
    CHECK((*of_target)[2] == 2);
    // The largest weight of that row.
    const Tensor& pattern = run.value("blocks.1.cross_attn.pattern");
    for (Index key = 0; key < pattern.dim(3); ++key) CHECK(pattern.at(Cell{1, 3, 2, key}) <= pattern.at(*of_target));
    const auto of_source = cell("blocks.1.cross_attn.pattern", TokenSequence::source, 5);
    REQUIRE(of_source);
    CHECK((*of_source)[3] == 5);
    CHECK(cell("blocks.1.cross_attn.pattern", TokenSequence::source, 5, Cell{1, 3, 4, 0}) == Cell{1, 3, 4, 5});
    CHECK(cell("blocks.0.resid_post", TokenSequence::target, 4, Cell{0, 1, 9}) == Cell{1, 4, 9});
    CHECK_FALSE(cell("blocks.0.resid_post", TokenSequence::source, 4));
    CHECK(cell("encoder.blocks.0.resid_post", TokenSequence::source, 4));
    CHECK_FALSE(cell("encoder.blocks.0.attn.pattern", TokenSequence::target, 4));
    CHECK_FALSE(cell("lm_head.weight", TokenSequence::target, 1));
}

TEST_CASE("a selected cell lights its position in its own batch row") {
    Session session(make_bundled_model("reverse"));
    const Step& step = *session.shown().run->plan().find("blocks.1.cross_attn.pattern");
    CHECK(position_of(step, {1, 3, 2, 5}, TokenSequence::target, 1) == Index{2});
    CHECK(position_of(step, {1, 3, 2, 5}, TokenSequence::source, 1) == Index{5});
    CHECK_FALSE(position_of(step, {1, 3, 2, 5}, TokenSequence::target, 0));
}

TEST_CASE("a number that is a place along an axis is said as that place: a token, a source position, a neuron") {
    Session session(make_bundled_model("reverse"));
    for (const AddRow& row : {AddRow{"second", "", "y[b, p] = argmax_v (rank_v(logits[b, p, v]) = 1 ? 1 : 0)"},
                              AddRow{"aligned", "blocks.1.cross_attn", "pattern.argmax(-1)"},
                              AddRow{"neuron", "blocks.0.mlp", "y[b, p] = argmax_f post[b, p, f]"},
                              AddRow{"sum", "blocks.0.mlp", "post.sum(-1)"}})
        session.apply(command::MakeEdit{row});
    session.finish();
    const Run& run = *session.shown().run;
    const auto said = [&](const char* name, const Cell& cell) {
        return step::shown_place(session.derived(), session.shown(), *run.plan().find(name), cell)->value;
    };
    // The second largest logit, found by hand.
    const Tensor& logits = run.value("logits");
    std::vector<std::pair<float, Index>> sorted;
    for (Index v = 0; v < logits.dim(2); ++v) sorted.emplace_back(-logits.at(Cell{0, 1, v}), v);
    std::ranges::sort(sorted);
    const Scenario& scenario = session.shown().scenario;
    CHECK(said("second", {0, 1}) ==
          "vocab " + std::to_string(sorted[1].second) + " “" + scenario.tokenizer().piece(sorted[1].second) + "”");
    const Tensor& pattern = run.value("blocks.1.cross_attn.pattern");
    Index best = 0;
    for (Index key = 1; key < pattern.dim(3); ++key)
        if (pattern.at(Cell{0, 2, 1, key}) > pattern.at(Cell{0, 2, 1, best})) best = key;
    const Step& step = *run.plan().find("blocks.1.cross_attn.pattern");
    CHECK(said("blocks.1.cross_attn.aligned", {0, 2, 1}) == PlaceNames(scenario, step, {3}, 0).index(0, best));
    CHECK(said("blocks.0.mlp.neuron", {0, 1}).starts_with("d_ff "));
    CHECK(said("blocks.0.mlp.sum", {0, 1}).empty());
    CHECK(said("logits", {0, 1, 2}).empty());
}

// The weights behind a score: against the sum Σ x·W·k / √d that it is, written out here.

namespace {

Value<ShownScoreWeights> weights_of(Derived& derived, const Snapshot& shown, const ScoreCell& score) {
    Value<ShownScoreWeights> found = shown_score_weights(derived, shown, score);
    while (!found) {
        derived.finish();
        found = shown_score_weights(derived, shown, score);
    }
    return found;
}

}  // namespace

TEST_CASE("a score is made of its weights: the largest are the largest products with them, and all add up to it") {
    const Scenario scenario = scenario_of(make_bundled_model("reverse"));
    Snapshot shown{.scenario = scenario, .run = execute(plan_of(scenario))};
    shown.unedited = shown.run;
    const Run& run = *shown.run;
    constexpr Index kHead = 3, kQuery = 4, kKey = 3;
    const Step& pattern = *run.plan().find("blocks.1.cross_attn.pattern");
    const std::optional<ScoreCell> score = score_of(run.plan(), pattern, {0, kHead, kQuery, kKey});
    REQUIRE(score);
    CHECK(score->tensor == "blocks.1.cross_attn.attn_scores");
    Derived derived;
    const auto weights = weights_of(derived, shown, *score);
    CHECK(weights->error.empty());
    REQUIRE(weights->projections.size() == 2);
    const double value = static_cast<double>(run.value(score->tensor).at(score->cell));
    for (const ProjectionParts& parts : weights->projections) {
        INFO(parts.weight);
        CHECK(std::abs(parts.sum + parts.of_bias - value) <= 1e-4 * std::abs(value));
    }

    // q_proj's, by hand: x W k / √d.
    const ProjectionParts& of_q = weights->projections.front();
    CHECK(of_q.weight == "layers.1.cross_attn.q_proj.weight");
    const Step& q = *run.plan().find("blocks.1.cross_attn.q");
    const Tensor &x = run.value(q.operands.front()), &k = run.value("blocks.1.cross_attn.k"),
                 &w = run.value("layers.1.cross_attn.q_proj.weight");
    REQUIRE_FALSE(x.empty());
    const Index d_head = k.dim(3);
    Cell largest;
    double most = 0.0;
    for (Index i = 0; i < d_head; ++i) {
        for (Index j = 0; j < w.dim(1); ++j) {
            const double made =
                static_cast<double>(x.at(Cell{0, kQuery, j})) * static_cast<double>(w.at(Cell{kHead * d_head + i, j})) *
                static_cast<double>(k.at(Cell{0, kHead, kKey, i})) / std::sqrt(static_cast<double>(d_head));
            if (std::abs(made) <= std::abs(most)) continue;
            most = made;
            largest = {kHead * d_head + i, j};
        }
    }
    REQUIRE(of_q.largest.size() == kMostWeights);
    CHECK(of_q.largest.front().cell == largest);
    CHECK(std::abs(of_q.largest.front().value - most) <= 1e-4 * std::abs(most));
}

TEST_CASE("only a score has weights behind it") {
    const Scenario scenario = scenario_of(make_bundled_model("reverse"));
    const auto run = execute(plan_of(scenario));
    const Plan& plan = run->plan();
    CHECK_FALSE(score_of(plan, *plan.find("blocks.0.attn.z"), {0, 0, 0, 0}));
    CHECK_FALSE(score_of(plan, *plan.find("logits"), {0, 0, 0}));
    CHECK(score_of(plan, *plan.find("blocks.0.attn.masked_scores"), {0, 0, 0, 0}));
}
