// What the model predicts at each position, against a search by hand and PyTorch's definition of softmax.
#include "app/core/generate/prediction.h"

#include "app/core/compare/effect_of_edits.h"
#include "app/core/generate/generator.h"
#include "app/core/session/session.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/core/session/apply.h"

#include <cmath>
#include <limits>

using namespace decoderscope::testing;
using namespace decoderscope::core::diff;
using namespace decoderscope::core::generate;

namespace {

Predictions read(const Session& session) {
    return finished(predictions_of(session.shown().run, session.shown().scenario.inputs));
}

}  // namespace

TEST_CASE("a prediction is the token of the largest logit, and its target is the next token of the row") {
    Session session(make_bundled_model("reverse"));
    const Inputs& inputs = session.shown().scenario.inputs;
    const Tensor& logits = session.shown().run->value("logits");
    const Predictions found = read(session);
    REQUIRE(found.batch == inputs.batch());
    REQUIRE(found.pos == inputs.pos());
    Index judged = 0, right = 0;
    for (Index row = 0; row < found.batch; ++row) {
        const Index length = row_length(inputs, row);
        for (Index pos = 0; pos < found.pos; ++pos) {
            const Prediction& at = found.row(row)[static_cast<std::size_t>(pos)];
            INFO("row " << row << ", position " << pos);
            CHECK(at.token.has_value() == (pos < length));
            CHECK(at.target.has_value() == (pos + 1 < length));
            if (!at.token) continue;
            for (Index id = 0; id < logits.dim(2); ++id)
                CHECK(logits.at(Cell{row, pos, *at.token}) >= logits.at(Cell{row, pos, id}));
            if (!at.target) continue;
            CHECK(*at.target == static_cast<Index>(inputs.tokens.at(Cell{row, pos + 1})));
            ++judged;
            right += *at.token == *at.target ? 1 : 0;
        }
    }
    CHECK(found.judged == judged);
    CHECK(found.right == right);
    CHECK(right == judged);  // the model hardly makes a mistake (its card)
}

TEST_CASE("the most probable answers have the run's own probabilities") {
    Session session(make_bundled_model("verses"));
    const Run& run = *session.shown().run;
    const Tensor& probs = run.value("probs");
    for (const Index pos : {Index{0}, probs.dim(1) - 1}) {
        const auto likely = likely_answers(run, 0, pos, 5);
        REQUIRE(likely.size() == 5);
        for (std::size_t i = 0; i < likely.size(); ++i) {
            CHECK(likely[i].probability == Approx(static_cast<double>(probs.at(Cell{0, pos, likely[i].token}))));
            if (i > 0) CHECK(likely[i].probability <= likely[i - 1].probability);
        }
        Index above = 0;
        for (Index id = 0; id < probs.dim(2); ++id)
            above += probs.at(Cell{0, pos, id}) > likely.back().probability + 1e-6;
        CHECK(above <= 4);
        CHECK(probability_of(run, 0, pos, 3) == Approx(static_cast<double>(probs.at(Cell{0, pos, 3}))));
    }
}

TEST_CASE("nothing is predicted where a logit is NaN, or by a model without a vocabulary") {
    Session session(make_bundled_model("verses"));
    apply(session, command::TypeOver{"logits", {0, 2, 7}, std::numeric_limits<float>::quiet_NaN()});
    const Predictions found = read(session);
    CHECK_FALSE(found.row(0)[2].token);
    CHECK(found.row(0)[1].token);
    // That is wrong: the score is of as many next tokens as before.
    const Predictions whole = finished(predictions_of(session.shown().unedited, session.shown().scenario.inputs));
    CHECK(found.judged == whole.judged);
    CHECK_FALSE(found.row(0)[2].is_right());
    CHECK(found.right == whole.right - (whole.row(0)[2].is_right() ? 1 : 0));
    CHECK(likely_answers(*session.shown().run, 0, 2, 3).empty());
    CHECK(predicts_tokens(session.scenario()));
    for (const char* name : {"causal-lm-as-meant", "simple-decoder", "pre-ln-encdec"})
        CHECK_FALSE(predicts_tokens(scenario_of(make_bundled_model(name))));
}

TEST_CASE("an edited logit is what is predicted from") {
    Session session(make_bundled_model("verses"));
    apply(session, command::TypeOver{"logits", {0, 2, 7}, 1000.0F});
    CHECK(read(session).row(0)[2].token == Index{7});
}

TEST_CASE("of equally probable tokens the first is predicted, wherever a prediction is shown") {
    Session session(make_bundled_model("verses"));
    for (const Index token : {Index{5}, Index{9}, Index{30}})
        apply(session, command::TypeOver{"logits", {0, 2, token}, 1000.0F});
    CHECK(read(session).row(0)[2].token == Index{5});
    const Run& run = *session.shown().run;
    std::vector<Index> likely;
    for (const Answer& answer : likely_answers(run, 0, 2, 3)) likely.push_back(answer.token);
    CHECK(likely == std::vector<Index>{5, 9, 30});
    const Tensor& logits = run.value("logits");
    CHECK(moves_of(logits, logits, {}, true).row(0)[2].before == Index{5});
    CHECK(moves_of(logits, logits, {}, true).row(0)[2].after == Index{5});
}
