// What switching heads does to the output, and the commands that switch them.
#include "app/core/compare/effect_of_edits.h"
#include "app/core/figure/heatmap_image.h"
#include "app/core/run/edits.h"
#include "app/core/run/step_picture.h"
#include "app/core/session/session.h"
#include "app/core/tabs/heads/shown_heads.h"
#include "app/core/tabs/step/tiles.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/core/session/apply.h"
#include "tests/engine/not_finite.h"

#include <cmath>

using namespace decoderscope::testing;
using namespace decoderscope::core::diff;

namespace {

Tensor output(std::initializer_list<float> values) {
    return Tensor({{axis::batch, 1}, {axis::pos, 2}, {axis::vocab, 3}}, values);
}

Session open(std::string_view model = "causal-lm-as-meant") { return Session(make_bundled_model(model)); }

}  // namespace

TEST_CASE("the effect on a position is its largest change, the length of the change, and the prediction") {
    const Tensor before = output({1, 2, 3, 0, 0, 5}), after = output({1, 6, 0, 0, 0, 5});
    const OutputMoves moves = moves_of(before, after, {}, true);
    const auto effects = moves.row(0);
    REQUIRE(effects.size() == 2);
    CHECK(effects[0].largest == 4.0);
    CHECK(effects[0].norm == 5.0);
    CHECK(effects[0].before == Index{2});
    CHECK(effects[0].after == Index{1});
    CHECK(effects[1].largest == 0.0);
    CHECK(effects[1].norm == 0.0);
    CHECK(moves.furthest == std::size_t{0});
    CHECK(moves.changed == std::vector<std::size_t>{0});
    CHECK_FALSE(moves_of(before, before, {}, true).furthest);
    const auto changes = largest_changes(before, after, 0, 0, 5);
    REQUIRE(changes.size() == 2);
    CHECK(changes[0].index == 1);
    CHECK(changes[0].before == 2.0F);
    CHECK(changes[0].after == 6.0F);
    CHECK(changes[1].index == 2);
    CHECK(largest_changes(before, after, 0, 1, 5).empty());
}

TEST_CASE("a NaN that appears or disappears is a large change, one that stays is neither a change nor none") {
    const OutputMoves moves = moves_of(output({kNan, 2, 3, 0, 0, 5}), output({kNan, 2, 4, 0, kNan, 9}), {}, true);
    const auto effects = moves.row(0);
    CHECK(effects[0].largest == 1.0);
    CHECK(std::isnan(effects[0].norm));
    CHECK(std::isnan(effects[1].largest));
    CHECK(std::isnan(effects[1].norm));
    CHECK(moves.furthest == std::size_t{1});
    CHECK(moves.lost == 1);
    CHECK(moves.stays_nan == 1);
}

TEST_CASE("an output that is NaN in both runs is said to be so: it neither moved by 0 nor stayed the same") {
    const Scenario scenario = scenario_of(make_bundled_model("causal-lm-as-meant"));
    const auto said = [&](const Tensor& before, const Tensor& after, Mood mood) {
        OutputMoves moves = moves_of(before, after, {}, true);
        moves.output = "logits";
        return moves_sentence(scenario, moves, mood).english();
    };
    const Tensor all = output({kNan, kNan, kNan, kNan, kNan, kNan}), half = output({kNan, 2, 3, 0, 0, 5}),
                 moved = output({kNan, 2, 3, 0, 0, 7});
    CHECK(std::isnan(moves_of(all, all, {}, true).all[0].largest));
    CHECK(said(all, all, Mood::happened) == "logits: still NaN at 2 of 2 positions.");
    CHECK(said(all, all, Mood::would) == "logits would still be NaN at 2 of 2 positions.");
    CHECK(said(half, half, Mood::happened) == "logits: still NaN at 1 of 2 positions; the others stayed the same.");
    CHECK(said(half, moved, Mood::happened) ==
          "logits moved by at most 2; no prediction changed. logits: still NaN at 1 of 2 positions.");
    CHECK(said(moved, moved, Mood::happened).find("moved") == std::string::npos);
}

TEST_CASE("the output is the logits, else the last of the residual stream") {
    const auto name = [](const char* model) {
        return output_step(*plan_of(scenario_of(make_bundled_model(model))))->name;
    };
    CHECK(name("causal-lm-as-meant") == "logits");
    CHECK(name("post-ln-encdec") == "logits");
    CHECK(name("pre-ln-layer") == "blocks.0.resid_post");
    CHECK(name("simple-decoder") == "blocks.0.ln2.normalized");
}

TEST_CASE("a head off moves the output by what it wrote, through the last block alone") {
    // One Pre-Norm layer: without its MLP, resid_mid without a head differs by exactly that head's result.
    Session session = open("pre-ln-layer");
    const std::string attention = "blocks.0.attn";
    apply(session, command::GoTo{attention + ".result"});
    const Tensor result = session.shown().run->value(attention + ".result");
    REQUIRE_FALSE(result.empty());
    apply(session, command::ScaleHeadTo{attention, 1, 0.0F});
    const OutputMoves moves = moves_of(session.shown().unedited->value("blocks.0.resid_mid"),
                                       session.shown().run->value("blocks.0.resid_mid"), {}, false);
    const auto effects = moves.row(0);
    for (std::size_t position = 0; position < effects.size(); ++position) {
        double squares = 0.0;
        for (Index i = 0; i < result.dim(3); ++i)
            squares += std::pow(static_cast<double>(result.at(Cell{0, 1, static_cast<Index>(position), i})), 2);
        CHECK(effects[position].norm == Approx(std::sqrt(squares)).epsilon(1e-4));
    }
}

TEST_CASE("soloing a head switches the others off in one change, and back") {
    Session session = open();
    const std::string attention = "blocks.1.attn";
    apply(session, command::ScaleHeadTo{attention, 2, 0.0F});
    apply(session, command::ScaleHeadTo{"blocks.0.attn", 0, 0.5F});
    apply(session, command::SoloHead{attention, 2});
    const auto& edits = session.scenario().edits;
    CHECK(is_solo(edits, attention, 2, 8));
    CHECK_FALSE(is_solo(edits, attention, 1, 8));
    CHECK(head_factor(edits, attention, 2) == 1.0F);
    CHECK(head_factor(edits, attention, 0) == 0.0F);
    CHECK(head_factor(edits, "blocks.0.attn", 0) == 0.5F);
    const Tensor& z = session.shown().run->value(attention + ".z");
    for (Index i = 0; i < z.size(); ++i) CHECK((z.data()[i] == 0.0F) == (z.cell(i)[1] != 2));
    apply(session, command::Undo{});
    CHECK(head_factor(session.scenario().edits, attention, 2) == 0.0F);
    CHECK(head_factor(session.scenario().edits, attention, 0) == 1.0F);
    apply(session, command::Redo{});
    apply(session, command::SoloHead{attention, 2, false});
    CHECK(session.scenario().edits.size() == 1);
}

TEST_CASE("a drag of a head's factor is one change") {
    Session session = open();
    apply(session, command::ScaleHeadTo{"blocks.0.attn", 3, 0.9F});
    apply(session, command::ScaleHeadTo{"blocks.0.attn", 3, 0.5F, true});
    apply(session, command::ScaleHeadTo{"blocks.0.attn", 3, 0.1F, true});
    CHECK(head_factor(session.scenario().edits, "blocks.0.attn", 3) == 0.1F);
    apply(session, command::Undo{});
    CHECK(session.scenario().edits.empty());
    CHECK_FALSE(session.can_undo());
}

TEST_CASE("the pictures of all heads span the same weights, up to the largest of the batch row") {
    const Session session = open("pre-ln-encdec");
    const Run& run = *session.shown().run;
    const std::vector<std::string> attentions = {"blocks.0.cross_attn", "blocks.1.cross_attn", "blocks.2.cross_attn",
                                                 "blocks.3.cross_attn"};
    float largest = 0.0F;
    for (const std::string& attention : attentions) {
        const Tensor& pattern = run.value(attention + ".pattern");
        for (Index i = 0; i < pattern.size(); ++i)
            if (pattern.cell(i)[0] == 1) largest = std::max(largest, pattern.data()[i]);
    }
    const auto range_of_heads = [](const Session& of, heads::AttentionKind kind, Index batch) {
        return heads::measured_heads(of.derived(), of.scenario(), of.shown().run, kind, batch)->weights;
    };
    CHECK(range_of_heads(session, heads::AttentionKind::cross, 1).low == 0.0F);
    CHECK(range_of_heads(session, heads::AttentionKind::cross, 1).high == largest);
    CHECK(range_of_heads(open("causal-lm"), heads::AttentionKind::cross, 0) == Range{0.0F, 1.0F});
}

TEST_CASE("a layer's heads lie side by side in one picture, each as its own heatmap has it") {
    Session session = open();
    const Step& pattern = *session.shown().run->plan().find("blocks.0.attn.pattern");
    const PictureSize size = picture_size(*session.shown().run, pattern, {100, 2});
    CHECK(size.width == 4);
    CHECK(size.height == 2);
    // A mask painted for one head affects only that head.
    apply(session, command::PaintMask{"blocks.0.attn", 1, 5, 3, 1, false});
    const Step& painted = *session.shown().run->plan().find("blocks.0.attn.pattern");
    const step::PixelsWanted wanted{.each = {4, 4},
                                    .heads = 8,
                                    .across = 8,
                                    .place = {1},
                                    .sequential = ColorMap::cividis,
                                    .range = Range{0.0F, 0.8F}};
    const auto pixels = step::shown_pixels(session.derived(), session.shown(), painted, wanted)->colors;
    REQUIRE(pixels.size() == 8 * 16);
    for (Index head = 0; head < 8; ++head) {
        Heatmap heatmap = heatmap_of(session.shown().scenario, *session.shown().run,
                                     *session.shown().run->plan().find("blocks.0.attn.pattern"), {1, head});
        heatmap.range = {0.0F, 0.8F};
        for (Index row = 0; row < 4; ++row)
            for (Index column = 0; column < 4; ++column)
                CHECK(pixels[static_cast<std::size_t>((row * 8 + head) * 4 + column)] ==
                      cell_color(heatmap, row, column, ColorMap::cividis, true));
    }
}
