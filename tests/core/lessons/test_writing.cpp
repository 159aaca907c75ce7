// "Write it yourself": each step in both spellings, its known mistakes by their names, and a decoder of one's own rows.
#include "app/core/generate/generator.h"
#include "app/core/lessons/library.h"
#include "app/core/lessons/progress.h"
#include "app/core/lessons/writing.h"
#include "engine/base/error.h"
#include "tests/catch.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

using namespace decoderscope::testing;
using namespace decoderscope::core::lessons;

namespace {

// An exercise alone, as `lessons write` opens it.
struct Alone {
    std::shared_ptr<const Lesson> lesson;
    const lessons::Question* question = nullptr;
    std::shared_ptr<const Scenario> opened;
    std::unique_ptr<Runs> runs;

    explicit Alone(const std::string& name, const std::string& language = "")
        : lesson(find_lesson(name.substr(0, name.find('/')), language)) {
        for (const lessons::Question* one : questions_of(*lesson))
            if (one->id == name.substr(name.find('/') + 1)) question = one;
        REQUIRE(question != nullptr);
        opened = opened_for(*lesson, *question);
        runs = std::make_unique<Runs>(*opened, nullptr, opened);
    }
    [[nodiscard]] Asked asked() const { return {*lesson, *question, *runs, opened.get()}; }
    [[nodiscard]] const ByFormula& by() const { return std::get<ByFormula>(question->answer); }
    [[nodiscard]] lessons::Verdict judged(const std::string& formula) const {
        return judge(asked(), FormulaAnswer{formula});
    }
};

// The fourteen, and what the gallery calls their wrong forms, in the order of the lesson; empty: it has no name.
const std::map<std::string, std::vector<std::string>>& known_names() {
    static const std::map<std::string, std::vector<std::string>> all{
        {"write/scores", {"query-and-key-swapped", "shared-qkv", "scale-without-root", "scale-by-d-head", ""}},
        {"write/scale", {"no-scale", "scale-without-root", "scale-by-d-model", "scale-multiplied", ""}},
        {"write/mask",
         {"target-padding-ignored", "causal-one-too-short", "causal-one-too-far", "causal-upper", "padding-on-queries",
          "mask-inverted"}},
        {"write/fill", {"fill-zero", "mask-inverted", "mask-added-as-float", "fill-minus-one", "fill-plus"}},
        {"write/softmax",
         {"softmax-over-queries", "softmax-over-heads", "mask-after-softmax", "", "softmax-twice", ""}},
        {"write/z", {"", "value-by-key-projection", "", "", ""}},
        {"write/heads", {"no-output-bias", "heads-joined-by-view", "", "", ""}},
        {"write/residual", {"no-residual-attention", "residual-from-norm", "", "", ""}},
        {"write/norm", {"no-mean", "unbiased-std", "gain-not-applied", "shift-not-applied", "norm-over-positions", ""}},
        {"write-parts/rope", {"no-rope", "rope-other-pairs", "rope-other-direction", "", ""}},
        {"write-parts/expert", {"expert-weights-not-normalized", "", "", "", ""}},
        {"write-parts/sink", {"no-sinks", "", "", "", ""}},
        {"write-parts/loss", {"targets-not-shifted", "", "", "", ""}},
        {"write-parts/top-p", {"", "", "", "", ""}},
        {"write-parts/append", {"", "", "", "", ""}},
    };
    return all;
}

std::string said(const lessons::Verdict& verdict) {
    std::string all = verdict.mistake;
    for (const Shown& reply : verdict.replies) all += " | " + plain_text(reply);
    return all;
}

bool is_in_pytorch(const std::string& formula) { return formula.find("] = ") == std::string::npos; }

}  // namespace

TEST_CASE("each of the fourteen steps is right in both spellings, and wrong in five ways that are told apart",
          "[long]") {
    for (const auto& [name, mistakes] : known_names()) {
        INFO(name);
        const Alone exercise(name);
        std::vector<std::string> right{exercise.by().solution};
        right.insert(right.end(), exercise.by().also.begin(), exercise.by().also.end());
        CHECK(std::ranges::any_of(right, is_in_pytorch));
        CHECK_FALSE(std::ranges::all_of(right, is_in_pytorch));
        for (const std::string& formula : right) {
            INFO(formula << said(exercise.judged(formula)));
            CHECK(exercise.judged(formula).right);
        }
        REQUIRE(exercise.by().wrong.size() == mistakes.size());
        CHECK(mistakes.size() >= 5);
        for (std::size_t i = 0; i < mistakes.size(); ++i) {
            const lessons::Verdict verdict = exercise.judged(exercise.by().wrong[i].formula);
            INFO(exercise.by().wrong[i].formula << said(verdict));
            CHECK_FALSE(verdict.right);
            CHECK(verdict.counts);
            CHECK(verdict.wrong == i);
            CHECK(verdict.mistake == mistakes[i]);
            CHECK(verdict.replies.size() == (mistakes[i].empty() ? 2 : 3));
            CHECK((verdict.at.has_value() || said(verdict).find("With target=") != std::string::npos));
        }
    }
}

TEST_CASE("what can't be read, or reads the answer, is no answer: its place is said, and nothing counts") {
    const Alone scores("write/scores");
    const lessons::Verdict no_transpose = scores.judged("query @ key");
    CHECK_FALSE(no_transpose.right);
    CHECK_FALSE(no_transpose.counts);
    CHECK(said(no_transpose).find("Character 7: d_head (16) of query") != std::string::npos);
    CHECK(said(no_transpose).find("doesn't fit") != std::string::npos);
    CHECK_FALSE(scores.judged("quary @ key.mT").counts);
    CHECK(said(scores.judged("quary @ key.mT")).find("query") != std::string::npos);
    CHECK_FALSE(scores.judged("").counts);
    CHECK_FALSE(Alone("write/norm").judged("(x - x.mean(-1, keepdim=True)) / ln1.scale * gain + shift").counts);
    CHECK_FALSE(Alone("write-parts/loss").judged("loss_per_token").counts);
    CHECK_FALSE(Alone("write-parts/append").judged("k").counts);
}

TEST_CASE("what fits the open text alone is wrong: the other text is named, and its cell") {
    const Alone mask("write/mask");
    // The length of the second text of the lesson's own two.
    const lessons::Verdict verdict =
        mask.judged("mask[b: batch, h: head, q: query, k: key] = [k ≤ q] · [b = 0 or k < 4]");
    CHECK_FALSE(verdict.right);
    CHECK_FALSE(verdict.at.has_value());
    CHECK(said(verdict).find("With target=ab\\nalgorithm, you get 1.00 for blocks.0.attn.mask[0, 0, ") !=
          std::string::npos);
}

TEST_CASE("numbers from a program of one's own are judged by the same sentences as formulas") {
    const Alone scale("write/scale");
    std::vector<Tensor> right, wrong;
    for (const WritingTask& task : writing_tasks(scale.asked(), scale.by())) {
        REQUIRE(task.operands.size() == 2);
        const std::size_t query = task.operands[0].first == "query" ? 0 : 1;
        const Tensor &q = task.operands[query].second, &k = task.operands[1 - query].second;
        Tensor made(task.axes), other(task.axes);
        const auto to = made.writable(), also = other.writable();
        const Index positions = q.dim(2), columns = q.dim(3);
        for (Index row = 0; row < q.dim(0) * q.dim(1) * positions; ++row)
            for (Index key = 0; key < positions; ++key) {
                double sum = 0.0;
                for (Index d = 0; d < columns; ++d)
                    sum += static_cast<double>(q.data()[row * columns + d]) *
                           k.data()[(row / positions * positions + key) * columns + d];
                to[static_cast<std::size_t>(row * positions + key)] = static_cast<float>(sum / 4.0);  // √16
                also[static_cast<std::size_t>(row * positions + key)] = static_cast<float>(sum);
            }
        right.push_back(made);
        wrong.push_back(other);
    }
    INFO(said(judge_numbers(scale.asked(), scale.by(), right)));
    CHECK(judge_numbers(scale.asked(), scale.by(), right).right);
    CHECK(said(judge_numbers(scale.asked(), scale.by(), wrong)) == said(scale.judged("query @ key.mT")));
    CHECK_THROWS_AS(judge_numbers(scale.asked(), scale.by(), {right[0]}), Error);
    CHECK_THROWS_AS(judge_numbers(scale.asked(), scale.by(), {right[1], right[0], right[2]}), Error);
}

TEST_CASE("a decoder of one's own formulas computes every number by them, and writes what the model writes") {
    const std::shared_ptr<const Lesson> lesson = find_lesson("write");
    LessonProgress progress;
    for (const lessons::Question* question : questions_of(*lesson)) {
        const auto* by = std::get_if<ByFormula>(&question->answer);
        if (by == nullptr) continue;
        QuestionProgress& solved = progress.questions[question->id];
        solved.right = true;
        solved.given.push_back({FormulaAnswer{by->also.back()}, "", ""});  // in PyTorch's spelling
    }
    const lessons::Place* last = place_before(*lesson, "writes");
    REQUIRE(last != nullptr);
    lessons::Place plain = *last;
    plain.own_formulas = false;
    const Scenario own = scenario_of(*last, *lesson, &progress), model = scenario_of(plain, *lesson);
    REQUIRE(own.edits.size() > 14);
    // Every step that computes numbers is one of them, but for the scales that nothing reads any more.
    const std::shared_ptr<const Plan> plan = plan_of(own), before = plan_of(model);
    const NeededSteps needed = needed_steps(*plan, [](const Step& step) { return step.name == "probs"; });
    for (const StepId id : needed.order) {
        const Step& step = (*plan)[id];
        // An attention-only block passes its stream on under another name.
        const bool is_carried = step.name.ends_with(".resid_post") || step.name == "blocks.1.resid_pre";
        INFO(step.name);
        CHECK((step.is_source() || is_carried || !(step.operation == before->find(step.name)->operation)));
    }
    // As the Generate tab does it: each token is an input of a pass over the longer text.
    const auto written = [](Scenario scenario) {
        for (int i = 0; i < 6; ++i) {
            const auto next = generate::next_token(scenario, *execute(plan_of(scenario)), 0, {.temperature = 0.0});
            REQUIRE(next.has_value());
            scenario = generate::with_token(std::move(scenario), 0, next->candidates.front().token);
        }
        return generate::row_tokens(scenario.inputs, 0);
    };
    CHECK(written(own) == written(model));
    CHECK(written(model).size() == generate::row_tokens(model.inputs, 0).size() + 6);
}
