// What the lines about edits say: against what they compare, what they leave out, how many edits there are.
#include "app/core/compare/effect_of_edits.h"
#include "app/core/run/edit_groups.h"
#include "app/core/run/edits.h"
#include "app/core/run/output_moves.h"
#include "app/core/session/introduction.h"
#include "app/core/session/session.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/core/session/apply.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

using namespace decoderscope::testing;
using namespace decoderscope::core::diff;

namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

std::string effect(const Session& session) {
    const Snapshot& shown = session.shown();
    const Reach reach = finished(reach_of(shown.unedited, shown.run, shown.scenario.inputs.attention_mask));
    return reach_sentence(shown.scenario, reach).english();
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

MaskStroke stroke_of(std::vector<MaskCell> cells) { return {"blocks.0.attn", 0, 1, std::move(cells), false}; }

std::size_t edits_of(const Session& session) { return count_of_edits(session.scenario().edits); }

}  // namespace

TEST_CASE("a sentence about the output says which positions it leaves out, and what became of them") {
    const Axes axes = {{axis::batch, 1}, {axis::pos, 4}, {axis::vocab, 2}};
    const Tensor before(axes, std::vector<float>(8, 1.0F)),
        mask({{axis::batch, 1}, {axis::pos, 4}}, std::vector<float>{1.0F, 1.0F, 0.0F, 0.0F});
    Tensor after = before;
    after.writable()[0] = 1.5F;
    Session session(make_bundled_model("causal-lm-as-meant"));
    const auto said = [&](const Tensor& hides) {
        OutputMoves moves = moves_of(before, after, hides, true);
        moves.output = "logits";
        return moves_sentence(session.scenario(), moves, Mood::happened).english();
    };
    CHECK(said({}) == "logits moved by at most 0.5; no prediction changed.");
    CHECK(said(mask) == "logits moved by at most 0.5 (not counted: 2 positions of padding); no prediction changed.");
    after.writable()[5] = kNaN;  // position 2
    CHECK(has(said(mask), "(not counted: 2 positions of padding, NaN at 1); no prediction changed."));
    after.writable()[0] = 1.0F;
    CHECK(said(mask) == "logits stayed the same (not counted: 2 positions of padding, NaN at 1).");
}

TEST_CASE("a window that leaves padded rows nothing is not called harmless") {
    Session session(make_bundled_model("reverse"));
    Scenario narrow = with_override(session.scenario(), "sliding_window", "2");
    const auto before = execute(plan_of(session.scenario())), after = execute(plan_of(narrow));
    const Tensor &mask = narrow.inputs.attention_mask, &logits = after->value("logits");
    Index lost = 0;
    for (Index row = 0; row < logits.dim(0); ++row)
        for (Index position = 0; position < logits.dim(1); ++position)
            lost += mask.at(Cell{row, position}) == 0.0F && std::isnan(logits.at(Cell{row, position, 0})) ? 1 : 0;
    const OutputMoves moves = finished(output_moves(before, after, mask));
    CHECK(moves.lost_in_padding == lost);
    if (lost > 0)
        CHECK(has(moves_sentence(narrow, moves, Mood::happened).english(), "NaN at " + std::to_string(lost) + ")"));
}

TEST_CASE("the line about edits says against what it compares") {
    Session session(make_bundled_model("causal-lm-as-meant"));
    apply(session, command::ScaleHeadTo{"blocks.0.attn", 1, 0.0F});
    CHECK(effect(session).starts_with("Against the same run without edits: logits moved"));
    apply(session, command::SetOption{"norm_first", session.scenario().config().norm_first ? "false" : "true"});
    const std::string norms = session.scenario().config().norm_first ? "Pre-Norm" : "Post-Norm";
    CHECK(effect(session).starts_with("Against the same run (" + norms + ") without edits: logits moved"));
    apply(session, command::SetDropout{7});
    CHECK(effect(session).starts_with("Against the same run (" + norms + ", dropout on) without edits: "));
}

TEST_CASE("one gesture is one edit, however many cells it sets, and two are two") {
    Session session(make_bundled_model("causal-lm-as-meant"));
    const Index length = session.scenario().inputs.pos();
    apply(session, command::PaintMasks{stroke_of(cells_outside_band(length, length, 2)), false, true});
    REQUIRE(session.scenario().edits.size() > 1);
    CHECK(edits_of(session) == 1);
    // A drag in two commands, and another stroke in the same mask.
    apply(session, command::PaintMasks{stroke_of({{2, 2}})});
    apply(session, command::PaintMasks{stroke_of({{2, 1}}), true});
    CHECK(edits_of(session) == 2);
    apply(session, command::PaintMasks{stroke_of({{3, 3}})});
    CHECK(edits_of(session) == 3);
    CHECK(edit_groups(session.scenario().edits).size() == 3);
    CHECK(texts_of_edits(session.scenario().edits).size() == 3);
    apply(session, command::Undo{});
    apply(session, command::Undo{});
    CHECK(edits_of(session) == 1);
    apply(session, command::Undo{});
    CHECK(session.scenario().edits.empty());
    // Heads switched off one by one, and by one press.
    apply(session, command::ScaleHeadTo{"blocks.0.attn", 0, 0.0F});
    apply(session, command::ScaleHeadTo{"blocks.0.attn", 2, 0.0F});
    CHECK(edits_of(session) == 2);
    apply(session, command::SoloHead{"blocks.1.attn", 0});
    REQUIRE(session.scenario().query_heads() > 2);
    CHECK(edits_of(session) == 3);
    // A slider that is dragged.
    apply(session, command::ScaleHeadTo{"blocks.0.attn", 0, 0.5F});
    apply(session, command::ScaleHeadTo{"blocks.0.attn", 0, 0.7F, true});
    CHECK(edits_of(session) == 3);
    // What is saved and opened again wasn't made by one gesture.
    Scenario opened = session.scenario();
    for (Edit& edit : opened.edits) gesture_of(edit) = {};
    CHECK(opened.edits == session.scenario().edits);
    apply(session, command::OpenScenario{std::make_shared<const Scenario>(opened), ""});
    CHECK(edits_of(session) > 1);
}

TEST_CASE("a suggestion is one change, which one undo takes back") {
    for (const BundledModel& bundled : bundled_models()) {
        Session session(make_bundled_model(bundled.name));
        for (const FittingTrial& trial : fitting_trials(session.scenario())) {
            if (trial.trial.set.empty() && trial.trial.edits.empty()) continue;
            INFO(bundled.name);
            const Scenario before = session.scenario();
            for (const Command& command : commands_of(trial.trial)) apply(session, command);
            if (session.scenario().edits != before.edits) CHECK(edits_of(session) == 1);
            apply(session, command::Undo{});
            CHECK(session.scenario().edits == before.edits);
            CHECK(session.scenario().overrides() == before.overrides());
        }
    }
}

TEST_CASE("all characters that the vocabulary lacks are named, once, of all lines") {
    Session session(make_bundled_model("reverse"));
    const std::size_t before = session.changes();
    apply(session, command::TypeInput{{.target = Typed{.text = "aXbYX\nZc"}}});
    CHECK(session.input_error().english() == "\"X\", \"Y\", \"Z\" are not in the vocabulary");
    CHECK(session.changes() == before);
    apply(session, command::TypeInput{{.target = Typed{.text = "aX"}}});
    CHECK(session.input_error().english() == "\"X\" is not in the vocabulary");
}

TEST_CASE("outside all blocks the attention that was looked at stays selected") {
    Session session(make_bundled_model("causal-lm-as-meant"));
    apply(session, command::GoTo{"blocks.1.attn.pattern"});
    CHECK(session.attention() == "blocks.1.attn");
    apply(session, command::GoTo{"probs"});
    CHECK(session.attention() == "blocks.1.attn");
    apply(session, command::GoTo{"blocks.0.mlp_out"});
    CHECK(session.attention() == "blocks.0.attn");
    apply(session, command::GoTo{"logits"});
    CHECK(session.attention() == "blocks.0.attn");
    // Within a block the one that was looked at stays, too: not always the first.
    Session crossing(make_bundled_model("reverse"));
    apply(crossing, command::GoTo{"blocks.1.cross_attn.z"});
    apply(crossing, command::GoTo{"blocks.1.mlp_out"});
    CHECK(crossing.attention() == "blocks.1.cross_attn");
    apply(crossing, command::GoTo{"probs"});
    CHECK(crossing.attention() == "blocks.1.cross_attn");
}

TEST_CASE("a companion is computed beside the run that is there: what was derived from it stays") {
    Session session(make_bundled_model("causal-lm-as-meant"));
    session.finish();
    const Run* before = session.shown().run.get();
    apply(session, command::RequestAuxRun{"other", Variation{.overrides = {{"norm_first", "true"}}}});
    REQUIRE(session.shown().companion("other") != nullptr);
    CHECK(session.shown().run.get() == before);
    CHECK(session.shown().companion("other")->beside.get() == before);
    apply(session, command::ScaleHeadTo{"blocks.0.attn", 1, 0.0F});
    const Run *edited = session.shown().run.get(), *unedited = session.shown().unedited.get();
    CHECK(edited != before);
    apply(session, command::RequestAuxRun{"more", Variation{.without_edits = true, .without_dropout = true}});
    REQUIRE(session.shown().companion("more") != nullptr);
    CHECK(session.shown().run.get() == edited);
    CHECK(session.shown().unedited.get() == unedited);
}
