// Which cell of a step belongs to a token.
#include "app/core/run/cursor.h"

#include "app/core/session/session.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"

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
