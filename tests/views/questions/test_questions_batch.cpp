// Questions about a whole batch or a whole depth: which heads can go, which temperature gives a token a probability,
// how long the stream is block by block, where two norm placements disagree about the answer.
#include "app/core/run/scenario.h"
#include "app/core/text/numbers.h"
#include "tests/catch.h"
#include "tests/views/questions/learner.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

using namespace decoderscope::testing;

namespace {

std::string said(double number, int digits = 3) { return short_number_text(number, digits); }

Index best(const Tensor& logits, Index row, Index position) {
    Index found = 0;
    for (Index id = 1; id < logits.dim(2); ++id)
        if (logits.at(Cell{row, position, id}) > logits.at(Cell{row, position, found})) found = id;
    return found;
}

// Of two runs of the same inputs: at how many positions that aren't padding the predictions differ.
int predictions_apart(const Scenario& scenario, const Run& a, const Run& b) {
    const Tensor &first = a.value("logits"), &second = b.value("logits");
    int apart = 0;
    for (Index row = 0; row < first.dim(0); ++row)
        for (Index position = 0; position < first.dim(1); ++position)
            if (scenario.inputs.attention_mask.at(Cell{row, position}) == 1.0F)
                apart += best(first, row, position) != best(second, row, position) ? 1 : 0;
    return apart;
}

double row_length(const Tensor& rows, Index position) {
    double squares = 0.0;
    for (Index i = 0; i < rows.dim(2); ++i)
        squares += std::pow(static_cast<double>(rows.at(Cell{0, position, i})), 2.0);
    return std::sqrt(squares);
}

}  // namespace

TEST_CASE("question 28: which head is safe to remove without changing a prediction?") {
    Learner learner;
    learner.press(Key::h);
    learner.d.settle();
    const Scenario& scenario = learner.d.session.scenario();
    int safe = 0;
    for (const char* attention : {"encoder.blocks.0.attn", "encoder.blocks.1.attn", "blocks.0.attn",
                                  "blocks.0.cross_attn", "blocks.1.attn", "blocks.1.cross_attn"}) {
        for (Index head = 0; head < 4; ++head) {
            Scenario off = scenario;
            off.edits = {ScaleHead{attention, head, 0.0F}};
            safe += predictions_apart(scenario, learner.run(), *execute(plan_of(off))) == 0 ? 1 : 0;
        }
    }
    CHECK(learner.reads(std::to_string(safe) + " of 24 can each be left out without changing a prediction."));
    CHECK(learner.reads("no prediction would change"));
    CHECK(learner.gestures == 1);
}

TEST_CASE("question 29: at which temperature does the second token reach 25 %?") {
    Learner learner("verses");
    learner.press(Key::g);
    const Tensor& logits = learner.run().value("logits");
    std::vector<double> row;
    for (Index id = 0; id < logits.dim(2); ++id)
        row.push_back(static_cast<double>(logits.at(Cell{0, logits.dim(1) - 1, id})));
    std::ranges::sort(row, std::greater<>());
    const auto second_at = [&](double temperature) {
        double sum = 0.0;
        for (const double logit : row) sum += std::exp((logit - row[1]) / temperature);
        return 1.0 / sum;
    };
    double highest = 0.0, highest_at = 0.0;
    for (double t = 0.01; t < 100.0; t *= 1.002)
        if (second_at(t) > highest) highest = second_at(t), highest_at = t;
    if (highest < 0.25) {
        CHECK(learner.reads("can't reach 0.25: it gets at most " + said(highest, 2).substr(0, 3)));
    } else {
        double low = 0.01, high = highest_at;
        for (int i = 0; i < 100; ++i) (second_at((low + high) / 2.0) < 0.25 ? low : high) = (low + high) / 2.0;
        CHECK(learner.reads("reaches 0.25 at temperature " + said(low)));
    }
    CHECK(learner.gestures == 1);
}

TEST_CASE("question 30: how long is the stream at this position, block by block?") {
    Learner learner;
    learner.click_cell("blocks.1.cross_attn.pattern", 4, 3);
    learner.press(Key::n);
    learner.d.settle();
    CHECK(learner.reads("Length of the stream at position 4"));
    const auto length = [&](const char* step) { return said(row_length(learner.run().value(step), 4), 4); };
    CHECK(learner.reads(length("blocks.0.resid_pre")));
    CHECK(learner.reads(length("blocks.0.resid_post")));
    CHECK(learner.reads(length("blocks.1.resid_post")));
    CHECK(learner.gestures == 2);
}

TEST_CASE("question 31: where do Pre-Norm and Post-Norm disagree most about the answer?") {
    Learner learner;
    learner.press(Key::n);
    learner.d.settle();
    const Scenario& scenario = learner.d.session.scenario();
    const auto flipped = execute(plan_of(with_override(scenario, "norm_first", "false")));
    CHECK(learner.reads("Their predictions differ at " +
                        std::to_string(predictions_apart(scenario, learner.run(), *flipped)) + " of 20 positions."));
    const Tensor &a = learner.run().value("logits"), &b = flipped->value("logits");
    double most = 0.0;
    std::string place;
    for (Index row = 0; row < a.dim(0); ++row) {
        for (Index position = 0; position < a.dim(1); ++position) {
            if (scenario.inputs.attention_mask.at(Cell{row, position}) == 0.0F) continue;
            if (best(a, row, position) == best(b, row, position)) continue;
            for (Index id = 0; id < a.dim(2); ++id) {
                const double apart = std::abs(static_cast<double>(a.at(Cell{row, position, id})) -
                                              static_cast<double>(b.at(Cell{row, position, id})));
                if (apart <= most) continue;
                most = apart;
                place = "row " + std::to_string(row) + ", position " + std::to_string(position) + ": ";
            }
        }
    }
    CHECK(learner.reads(place));
    CHECK(learner.gestures == 1);
}
