// From a number down to what it is made of: the weights behind a score, the heads behind an attention's output, the
// position behind what is added to a token.
#include "tests/catch.h"
#include "tests/views/questions/cells_on_stage.h"
#include "tests/views/questions/learner.h"

#include <cmath>

using namespace decoderscope::testing;

TEST_CASE("question 33: which weight of q_proj matters most for this score?") {
    Learner learner;
    learner.click_cell("blocks.1.cross_attn.pattern", 4, 3);
    CHECK(learner.reads("Which weights make this score?"));
    learner.d.session.finish();
    learner.d.settle();
    CHECK(learner.gestures == 2);  // the cell, Why
    const Run& run = learner.run();
    const Step& q = *run.plan().find("blocks.1.cross_attn.q");
    const Tensor &x = run.value(q.operands[0]), &w = run.value("layers.1.cross_attn.q_proj.weight"),
                 &k = run.value("blocks.1.cross_attn.k");
    Index out = 0, in = 0;
    double most = 0.0;
    for (Index i = 0; i < 16; ++i) {
        for (Index j = 0; j < 64; ++j) {
            const double made = static_cast<double>(x.at(Cell{0, 4, j})) * static_cast<double>(w.at(Cell{48 + i, j})) *
                                static_cast<double>(k.at(Cell{0, 3, 3, i})) / 4.0;
            if (std::abs(made) <= std::abs(most)) continue;
            most = made;
            out = 48 + i;
            in = j;
        }
    }
    const std::string name = "q_proj[" + std::to_string(out) + ", " + std::to_string(in) + "]";
    CHECK(learner.beside(name) == as_seen(short_number(most)));
    CHECK(learner.reads("k_proj: its weights make"));
    learner.click_in_inspector(name);
    CHECK(learner.d.session.step().name == "layers.1.cross_attn.q_proj.weight");
    CHECK(learner.d.session.cursor().cell == Cell{out, in});
}

TEST_CASE("question 34: which head makes most of this number of the attention's output?") {
    Learner learner;
    learner.click_on_strip("blocks.1.cross_attn_out");
    learner.click_cell("blocks.1.cross_attn_out", 3, 4);
    CHECK(learner.gestures == 2);
    const Tensor &z = learner.run().value("blocks.1.cross_attn.z"),
                 &w = learner.run().value("layers.1.cross_attn.o_proj.weight");
    for (Index head = 0; head < 4; ++head) {
        double made = 0.0;
        for (Index i = 0; i < 16; ++i)
            made += static_cast<double>(z.at(Cell{0, head, 3, i})) * static_cast<double>(w.at(Cell{4, head * 16 + i}));
        INFO("head " << head);
        CHECK(learner.beside("head " + std::to_string(head) + " (16 terms)") == as_seen(short_number(made)));
    }
}

TEST_CASE("question 35: what does the position add to this token?") {
    Learner learner;
    learner.click_on_strip("pos_embed");
    learner.click_cell("pos_embed", 3, 4);
    CHECK(learner.gestures <= 3);
    CHECK(learner.reads("sin(3 / 10000^(4/64))"));
    CHECK(learner.reads(short_number(std::sin(3.0 / std::pow(10000.0, 4.0 / 64.0)))));
}
