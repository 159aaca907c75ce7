// How far edits reach, against a comparison of every number.
#include "app/core/compare/effect_of_edits.h"

#include "app/core/session/session.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/core/session/apply.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

using namespace decoderscope::testing;
using namespace decoderscope::core::diff;

namespace {

Reach measure(const Session& session) {
    const Snapshot& shown = session.shown();
    return finished(reach_of(shown.unedited, shown.run, shown.scenario.inputs.attention_mask));
}

std::string sentence(const Session& session) {
    return reach_sentence(session.shown().scenario, measure(session)).english();
}

bool differs(const Session& session, const Step& step) {
    const Tensor &before = session.shown().unedited->value(step.name), &after = session.shown().run->value(step.id);
    return !after.empty() && !std::ranges::equal(before.values(), after.values(), [](float a, float b) {
        return a == b || (std::isnan(a) && std::isnan(b));
    });
}

std::size_t best(const Tensor& logits, Index row, Index position) {
    std::size_t found = 0;
    for (Index id = 0; id < logits.dim(2); ++id)
        if (logits.at(Cell{row, position, id}) > logits.at(Cell{row, position, static_cast<Index>(found)}))
            found = static_cast<std::size_t>(id);
    return found;
}

// Every step's mark, the largest change of a logit and the changed predictions, by hand.
void check_by_hand(const Session& session) {
    const Reach reach = measure(session);
    Index changed = 0, steps = 0;
    for (const Step& step : session.shown().run->plan().steps()) {
        if (step.is_source() || step.role == Role::on_demand) continue;
        INFO(step.name);
        CHECK(reach.has(step.id) == differs(session, step));
        if (step.role != Role::recorded) continue;  // no trace has it
        changed += differs(session, step) ? 1 : 0;
        ++steps;
    }
    CHECK(reach.changed_tensors == changed);
    CHECK(reach.tensors == steps);
    const Tensor &before = session.shown().unedited->value("logits"), &after = session.shown().run->value("logits");
    double largest = 0.0;
    std::size_t flips = 0;
    for (Index row = 0; row < after.dim(0); ++row) {
        for (Index position = 0; position < after.dim(1); ++position) {
            const Tensor& mask = session.shown().scenario.inputs.attention_mask;
            if (!mask.empty() && mask.at(Cell{row, position}) == 0.0F) continue;
            for (Index id = 0; id < after.dim(2); ++id)
                largest = std::max(largest, std::abs(static_cast<double>(after.at(Cell{row, position, id})) -
                                                     static_cast<double>(before.at(Cell{row, position, id}))));
            flips += best(before, row, position) != best(after, row, position) ? 1 : 0;
        }
    }
    CHECK(reach.moves.largest == largest);
    CHECK(reach.moves.changed.size() == flips);
}

}  // namespace

TEST_CASE("a run without edits has no reach") {
    Session session(make_bundled_model("reverse"));
    CHECK_FALSE(shown_reach(session.derived(), session.shown()));
}

TEST_CASE("a head that is off changes what follows it, and the sentence says what that did") {
    for (const char* model : {"causal-lm-as-meant", "reverse", "verses"}) {
        INFO(model);
        Session session(make_bundled_model(model));
        apply(session, command::ScaleHeadTo{"blocks.0.attn", 3, 0.0F});
        check_by_hand(session);
        const Reach reach = measure(session);
        const Plan& plan = session.shown().run->plan();
        REQUIRE(reach.first);
        CHECK(plan[*reach.first].name == "blocks.0.attn.z");
        CHECK_FALSE(reach.has(plan.find("blocks.0.attn.pattern")->id));
        CHECK(reach.has(plan.find("blocks.1.attn.pattern")->id));
        CHECK(sentence(session).find("Against the same run without edits: logits moved by at most") == 0);
    }
}

TEST_CASE("an edit in a causal model leaves the steps before it alone, and names the predictions that it changed") {
    Session session(make_bundled_model("verses"));
    for (Index head = 0; head < 4; ++head) apply(session, command::ScaleHeadTo{"blocks.0.attn", head, 0.0F});
    check_by_hand(session);
    const Reach reach = measure(session);
    REQUIRE_FALSE(reach.moves.changed.empty());
    const PositionMove first = reach.moves.all[reach.moves.changed.front()];
    const Tokenizer& tokenizer = session.scenario().tokenizer();
    const Tensor& after = session.shown().run->value("logits");
    CHECK(static_cast<std::size_t>(*first.after) == best(after, first.batch, first.position));
    CHECK(sentence(session).find("of 18 positions: position " + std::to_string(first.position) + " “") !=
          std::string::npos);
    CHECK(tokenizer.has_piece(*first.before));
}

TEST_CASE("an edit without effect says so") {
    Session session(make_bundled_model("causal-lm-as-meant"));
    const float value = session.shown().run->value("blocks.0.attn.z").at(Cell{0, 0, 0, 0});
    apply(session, command::TypeOver{"blocks.0.attn.z", {0, 0, 0, 0}, value});
    CHECK(measure(session).changed_tensors == 0);
    CHECK(sentence(session) == "1 edit changes no number of this run.");
    // Probabilities are read by nothing.
    apply(session, command::TypeOver{"probs", {0, 0, 0}, 0.5F});
    CHECK(measure(session).changed_tensors == 1);
    CHECK(sentence(session).find("Against the same run without edits: logits stayed the same (not counted: ") == 0);
}

TEST_CASE("a model of vectors has no predictions, and a NaN is counted") {
    Session vectors(make_bundled_model("simple-decoder"));
    apply(vectors, command::ScaleHeadTo{"blocks.0.attn", 1, 0.0F});
    const Reach reach = measure(vectors);
    CHECK_FALSE(reach.moves.predicts);
    CHECK(reach.moves.largest > 0.0);
    CHECK(sentence(vectors).find("without edits: blocks.0.") != std::string::npos);
    CHECK(sentence(vectors).find("predict") == std::string::npos);
    Session lost(make_bundled_model("causal-lm-as-meant"));
    apply(lost, command::TypeOver{"logits", {0, 2, 0}, std::numeric_limits<float>::quiet_NaN()});
    CHECK(measure(lost).moves.lost == 1);
    INFO(sentence(lost));
    const Tensor& mask = lost.scenario().inputs.attention_mask;
    const std::string all = std::to_string(std::count(mask.values().begin(), mask.values().end(), 1.0F));
    CHECK(sentence(lost).find("NaN at 1 of " + all + " positions now") != std::string::npos);
    CHECK(sentence(lost).find("the prediction changed at 1 of " + all + " positions") != std::string::npos);
    CHECK(sentence(lost).find("→ NaN") != std::string::npos);
}

TEST_CASE("the changed positions of padding don't count") {
    Session session(make_bundled_model("reverse"));
    const Tensor& mask = session.shown().scenario.inputs.attention_mask;
    REQUIRE_FALSE(mask.empty());
    apply(session, command::ScaleHeadTo{"blocks.1.cross_attn", 3, 0.0F});
    CHECK(measure(session).moves.positions == std::count(mask.values().begin(), mask.values().end(), 1.0F));
}
