// Which cell of a step belongs to a token.
#include "app/core/tabs/step/shown_step.h"

#include "app/core/run/cursor.h"
#include "app/core/session/session.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"

#include <algorithm>

using namespace decoderscope;
using namespace decoderscope::core;
using namespace decoderscope::load;

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
