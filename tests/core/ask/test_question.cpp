// What Ask shows of many runs, against runs made by themselves.
#include "app/core/ask/question.h"
#include "app/core/figure/csv_and_json.h"
#include "app/core/run/output_moves.h"
#include "engine/base/error.h"
#include "engine/load/bundled_models.h"
#include "engine/load/model.h"
#include "tests/catch.h"
#include "tests/core/ask/unswept.h"
#include "tests/core/session/apply.h"
#include "tests/engine/contains.h"

#include <limits>
#include <sstream>

using namespace decoderscope::testing;
using namespace decoderscope::core::ask;

namespace {

Snapshot snapshot_of(const std::string& model) {
    Snapshot shown{.scenario = scenario_of(load::load_model(model)), .run = nullptr};
    shown.run = shown.unedited = execute(plan_of(shown.scenario));
    return shown;
}

ShownSweep answer_of(const Snapshot& shown, const SweepQuestion& question) {
    return finished(answered(shown, question, std::make_shared<WorkProgress>()));
}

// What its only part shows.
AnswerPart part_of(const Snapshot& shown, const ShownSweep& answer) {
    const Answer made = answer_of(shown.scenario, answer);
    REQUIRE(made.parts.size() == 1);
    return made.parts.front();
}

std::string answer_error(const Snapshot& shown, const SweepQuestion& question) {
    return answer_of(shown, question).error.english();
}

Index best(const Tensor& logits, Index row, Index position) {
    Index found = 0;
    for (Index id = 1; id < logits.dim(2); ++id)
        if (logits.at(Cell{row, position, id}) > logits.at(Cell{row, position, found})) found = id;
    return found;
}

}  // namespace

TEST_CASE("without a row, a sweep says of each run what its output does, as two runs compared by themselves") {
    const Snapshot shown = snapshot_of("reverse");
    const ShownSweep answer = answer_of(shown, {"each head", ""});
    REQUIRE(answer.error.empty());
    CHECK(answer.form == Form::table);
    REQUIRE(answer.sweep.results.size() == 24);
    for (std::size_t i = 0; i < answer.sweep.results.size(); ++i) {
        const auto alone = run_with(shown.scenario, kept_variation(answer, i));
        const OutputMoves moves = finished(output_moves(shown.run, alone, shown.scenario.inputs.attention_mask));
        const Result& result = answer.sweep.results[i];
        REQUIRE(result.effect);
        CHECK(result.effect->changed == static_cast<Index>(moves.changed.size()));
        CHECK(result.predictions_changed == result.effect->changed);
        CHECK(result.effect->largest == moves.largest);
        CHECK(result.effect->positions == moves.positions);
        CHECK(result.effect->said.english() == moves_sentence(shown.scenario, moves, Mood::would).english());
        CHECK(result.value.empty());
    }
    // Sorted by what changes most.
    for (std::size_t i = 1; i < answer.order.size(); ++i)
        CHECK(answer.sweep.results[answer.order[i - 1]].predictions_changed >=
              answer.sweep.results[answer.order[i]].predictions_changed);
}

TEST_CASE("what leaving out each head changes is what can be counted in the logits, and who can go is said") {
    const Snapshot shown = snapshot_of("reverse");
    const ShownSweep answer = answer_of(shown, {"each head", ""});
    const Tensor& before = shown.run->value("logits");
    std::size_t safe = 0;
    for (const Result& result : answer.sweep.results) {
        const auto without = run_with(shown.scenario, answer.points.at(result.point).variation);
        const Tensor& after = without->value("logits");
        Index changed = 0;
        for (Index row = 0; row < before.dim(0); ++row)
            for (Index position = 0; position < before.dim(1); ++position)
                if (shown.scenario.inputs.attention_mask.at(Cell{row, position}) != 0.0F)
                    changed += best(before, row, position) != best(after, row, position) ? 1 : 0;
        CHECK(result.effect->changed == changed);
        safe += changed == 0 ? 1 : 0;
    }
    CHECK(summary_sentence(answer).english() ==
          std::to_string(safe) + " of 24 can each be left out without changing a prediction.");
}

TEST_CASE("a head that is off already isn't left out again, and a run whose logits are NaN can't say who could go") {
    Snapshot shown = snapshot_of("reverse");
    shown.scenario.edits = {ScaleHead{"blocks.0.attn", 1, 0.0F}};
    shown.run = execute(plan_of(shown.scenario));
    const ShownSweep off = answer_of(shown, {"each head", ""});
    CHECK(off.sweep.results.size() == 23);
    for (const Result& result : off.sweep.results) CHECK(result.at[0].text.english() != "blocks.0.attn head 1");
    CHECK(contains(summary_sentence(off).english(), " of 23 can "));
    CHECK(summary_sentence(off).english().ends_with("1 more is off already."));

    shown.scenario.edits = {SetCell{"lm_head.weight", {0, 0}, std::numeric_limits<float>::quiet_NaN()}};
    shown.run = execute(plan_of(shown.scenario));
    CHECK(summary_sentence(answer_of(shown, {"each head", ""})).english() ==
          "In 24 runs, logits still has NaN, which can't be compared.");
}

TEST_CASE("a value that is a word is said with what has it") {
    const Snapshot shown = snapshot_of("induction");
    CHECK(summary_sentence(answer_of(shown, {"positional_encoding=none", ""})).english() ==
          "1 run; predictions change in 1 of them, positional_encoding = none.");
}

TEST_CASE("one number along a range is a curve with the row as it is, at the places of its values") {
    const Snapshot shown = snapshot_of("causal-lm");
    const ShownSweep answer = answer_of(shown, {"attention_scale=0.1..1.3:4", "logits[0, 3, 5]"});
    REQUIRE(answer.error.empty());
    CHECK(answer.form == Form::curves);
    const Chart chart = part_of(shown, answer).chart.value();
    CHECK(chart.names == std::vector<std::string>{"0.1", "0.5", "0.9", "1.3"});
    CHECK(chart.blocks == 3);
    REQUIRE(chart.curves.size() == 2);
    const std::vector<DepthPoint>& points = chart.curves[0].curve.points;
    REQUIRE(points.size() == 4);
    for (std::size_t i = 0; i < points.size(); ++i) {
        const auto alone = run_with(shown.scenario, {.overrides = {{"attention_scale", chart.names[i]}}});
        CHECK(points[i].value == static_cast<double>(alone->value("logits").at(Cell{0, 3, 5})));
    }
    CHECK(contains(summary_sentence(answer).english(), "4 runs; predictions change in "));
    CHECK(chart.curves[1].dashed);
    for (const DepthPoint& point : chart.curves[1].curve.points)
        CHECK(point.value == static_cast<double>(shown.run->value("logits").at(Cell{0, 3, 5})));
    std::ostringstream csv;
    write_csv(csv, sweep_exhibit(shown.scenario, answer));
    CHECK(contains(csv.str(), ",0.5,"));
}

TEST_CASE("several numbers are a picture with a row for each run, matrices a picture each, two things a grid") {
    const Snapshot shown = snapshot_of("causal-lm");
    const ShownSweep rows = answer_of(shown, {"each layer", "logits[0, 3]"});
    REQUIRE(rows.error.empty());
    CHECK(rows.form == Form::rows);
    const std::vector<Heatmap> row_pictures = part_of(shown, rows).pictures;
    REQUIRE(row_pictures.size() == 1);
    const auto skipped = run_with(shown.scenario, kept_variation(rows, 1));
    CHECK(row_pictures[0].at(1, 7) == skipped->value("logits").at(Cell{0, 3, 7}));
    CHECK(rows.result_at(0, 1, 7) == 1);
    CHECK(row_pictures[0].scale == Scale::diverging);

    const ShownSweep matrices = answer_of(shown, {"norm_first=true,false", "blocks.1.attn.pattern"});
    REQUIRE(matrices.error.empty());
    CHECK(matrices.form == Form::pictures);
    const Tensor& pattern = shown.run->value("blocks.1.attn.pattern");
    const auto each = static_cast<std::size_t>(pattern.dim(0) * pattern.dim(1));
    const std::vector<Heatmap> pictures = part_of(shown, matrices).pictures;
    REQUIRE(pictures.size() == 2 * each);
    const auto post = run_with(shown.scenario, {.overrides = {{"norm_first", "false"}}});
    CHECK(pictures[each + 1].at(3, 2) == post->value("blocks.1.attn.pattern").at(Cell{0, 1, 3, 2}));
    CHECK(matrices.result_at(each + 1, 3, 2) == 1);
    for (const Heatmap& picture : pictures) CHECK(picture.range == pictures[0].range);

    const ShownSweep grid = answer_of(shown, {"blocks.0.attn.head.1=0..1:3; attention_scale=0.2,0.4", ""});
    REQUIRE(grid.error.empty());
    CHECK(grid.form == Form::grid);
    const Heatmap picture = part_of(shown, grid).pictures.at(0);
    CHECK(picture.rows == 3);
    CHECK(picture.columns == 2);
    CHECK(grid.result_at(0, 2, 1) == 5);
    CHECK(picture.at(2, 1) == static_cast<float>(*grid.sweep.results[5].predictions_changed));
}

TEST_CASE("in a grid each cell is its own run's, and opens it, also where a value is there twice") {
    const Snapshot shown = snapshot_of("causal-lm");
    const std::vector<std::string> scales = {"0.1", "0.6", "0.1"}, epsilons = {"1e-2", "0.01", "1", "1e-2"};
    const ShownSweep grid =
        answer_of(shown, {"attention_scale=0.1,0.6,0.1; layer_norm_eps=1e-2,0.01,1,1e-2", "logits[0, 3, 5]"});
    REQUIRE(grid.error.empty());
    REQUIRE(grid.form == Form::grid);
    const Heatmap picture = part_of(shown, grid).pictures.at(0);
    CHECK(picture.row_labels == scales);
    CHECK(picture.column_labels == epsilons);
    REQUIRE(picture.values.size() == scales.size() * epsilons.size());
    for (std::size_t row = 0; row < scales.size(); ++row)
        for (std::size_t column = 0; column < epsilons.size(); ++column) {
            const Overrides set = {{"attention_scale", scales[row]}, {"layer_norm_eps", epsilons[column]}};
            const auto line = static_cast<Index>(row), across = static_cast<Index>(column);
            CHECK(picture.at(line, across) ==
                  run_with(shown.scenario, {.overrides = set})->value("logits").at(Cell{0, 3, 5}));
            CHECK(kept_variation(grid, grid.result_at(0, line, across)).overrides == set);
        }
}

TEST_CASE("a run of a sweep that is kept has the row that it had there, a free number written out") {
    const Snapshot shown = snapshot_of("reverse");
    const ShownSweep answer =
        answer_of(shown, {"temperature=0.5..2:4", "sure = max_v softmax_v(logits[0, 0, v] / temperature)"});
    REQUIRE(answer.error.empty());
    for (std::size_t i = 0; i < answer.sweep.results.size(); ++i)
        CHECK(numbers(run_with(shown.scenario, kept_variation(answer, i))->value("sure")) ==
              numbers(answer.sweep.results[i].value));
}

TEST_CASE("a sweep that can't be asked is one sentence") {
    const Snapshot shown = snapshot_of("causal-lm");
    CHECK(contains(answer_error(shown, {"each head; each layer; each token", ""}), "3 things that vary"));
    CHECK(contains(answer_error(shown, {"each source letter", ""}), "no source letter"));
    CHECK(contains(answer_error(shown, {"each haed", ""}), "each head"));
    CHECK(contains(answer_error(shown, {"each head", "softmax("}), "missing at the end"));
    CHECK(contains(answer_error(shown, {"", ""}), "expected what varies"));
    CHECK(contains(answer_error(shown, {"each head", "no.such.tensor"}), "there is no operand “no.such.tensor”"));
}

TEST_CASE("each ready question that fits a model has an answer, and says something of each run", "[long]") {
    int found = 0;
    for (const std::string model : {"reverse", "causal-lm", "verses"}) {
        const Snapshot shown = snapshot_of(model);
        Derived derived;
        const Value<ReadyQuestions> ready = ready_questions(derived, shown, {"blocks.0.attn", {}}, nullptr);
        REQUIRE(ready);
        CHECK(ready->fitting.size() >= 8);
        for (const ReadyQuestion& one : ready->fitting) {
            if (one.question.vary == "each neuron" && model != "reverse") continue;  // many runs
            INFO(model << ": " << one.question.vary << " " << one.question.row);
            const ShownSweep answer = answer_of(shown, one.question);
            if (!one.question.seek.empty()) {
                INFO(answer.error.english());
                CHECK(answer.found.has_value() != answer.error.english().starts_with("nothing"));
                found += answer.found ? 1 : 0;
                continue;
            }
            CHECK(answer.error.english() == "");
            CHECK_FALSE(answer.sweep.results.empty());
            const std::string& vary = one.question.vary;
            const bool compares =  // with a run of the same text
                !vary.starts_with("sample=") && !vary.starts_with("temperature=") && vary != "each parameter";
            for (const Result& result : answer.sweep.results) CHECK(result.effect.has_value() == compares);
            CHECK_FALSE(one.words.empty());
        }
    }
    CHECK(found >= 4);  // of what was sought
    CHECK(ready_questions().size() >= 12);
}

TEST_CASE("what was kept can be asked again: its row stands in place of the one that was kept") {
    Session session(load::make_bundled_model("verses"));
    const SweepQuestion seek = {"attention_scale", "most = max_k blocks.0.attn.pattern[0, 3, 1, k]", "0.9"};
    const ShownSweep first = answer_of(session.shown(), seek);
    REQUIRE(first.found);
    apply(session, command::KeepVariation{found_variation(first)});
    CHECK(session.shown().run->value("most").values()[0] == Approx(0.9F).epsilon(1e-3));
    CHECK(answer_of(session.shown(), seek).error.english().ends_with(" already"));
    const ShownSweep again = answer_of(session.shown(), {seek.vary, seek.row, "0.95"});
    INFO(again.error.english());
    REQUIRE(again.found);
    CHECK(again.found->before == Approx(0.9).epsilon(1e-3));
    CHECK(again.found->after == Approx(0.95).epsilon(1e-3));
    const ShownSweep swept = answer_of(session.shown(), {"attention_scale=0.1,0.2", seek.row});
    CHECK(swept.error.empty());
    CHECK(swept.sweep.results.size() == 2);
}

TEST_CASE("a model with a task's vocabulary has a pattern at each step of a training, and the answer says of which") {
    const Snapshot shown = snapshot_of("reverse");
    Derived derived;
    const auto training = training_of(derived, shown, {});
    REQUIRE(training);
    CHECK(training == training_of(derived, shown, {}));  // made once, not in each frame
    const Value<ReadyQuestions> ready = ready_questions(derived, shown, {"blocks.1.cross_attn", {1, 2}}, training);
    const auto about = std::ranges::find_if(
        ready->fitting, [](const ReadyQuestion& one) { return one.question.vary.starts_with("training_step"); });
    REQUIRE(about != ready->fitting.end());
    CHECK(about->question.row == "pattern[q, k] = blocks.1.cross_attn.pattern[1, 2, q, k]");
    const ShownSweep answer = finished(answered(shown, {"training_step=0,2", about->question.row}, nullptr, training));
    CHECK(answer.form == Form::pictures);
    CHECK(part_of(shown, answer).pictures.size() == 2);
    CHECK(contains(summary_sentence(answer).english(),
                   "The weights are those of a training from new ones: reverse, Adam, learning rate 0.01, seed 0."));
    Scenario untrained = shown.scenario;
    load::Model model = *shown.scenario.model();
    model.weights = core::train::first_trainer(*training).weights();
    untrained.set_model(std::make_shared<const load::Model>(std::move(model)));
    const auto run = execute(plan_of(untrained));
    const Tensor& pattern = run->value("blocks.1.cross_attn.pattern");
    for (Index query = 0; query < pattern.dim(2); ++query)
        for (Index key = 0; key < pattern.dim(3); ++key)
            CHECK(answer.sweep.results[0].value.at(Cell{query, key}) == pattern.at(Cell{1, 2, query, key}));
    CHECK(training_of(derived, snapshot_of("verses"), {}) == nullptr);
    CHECK(contains(obstacle_to_keeping(answer, 0).english(), "Train (F)"));  // its weights are not the work's
    const ShownSweep heads = finished(answered(shown, {"each head", {}}, nullptr, training));
    CHECK(obstacle_to_keeping(heads, 0).empty());
}

TEST_CASE("what is proposed can be asked") {
    const Snapshot shown = snapshot_of("reverse");
    Derived derived;
    const Value<Proposals> made = proposals(derived, shown, "", "blocks.0.attn.z", Cell{0, 1, 2, 3});
    CHECK(made->vary.size() > 8);
    CHECK(std::ranges::find(made->rows, "blocks.0.attn.z[0, 1, 2, 3]") != made->rows.end());
    for (const std::string& vary : made->vary) CHECK_NOTHROW(asked(shown, {vary, ""}));
    for (const std::string& row : made->rows) CHECK_NOTHROW(asked(shown, {"each layer", row}));
}
