// Masks separated by kind, what the fill does, where NaN spreads, what leaks, and the brush's edits: on plain values.
#include "app/core/checks/invariants.h"
#include "app/core/checks/leak.h"
#include "app/core/figure/csv_and_json.h"
#include "app/core/figure/heatmap_image.h"
#include "app/core/run/edits.h"
#include "app/core/run/slice.h"
#include "app/core/session/session.h"
#include "app/core/tabs/masks/mask_words.h"
#include "app/core/tabs/masks/shown_masks.h"
#include "engine/base/error.h"
#include "engine/files/safetensors.h"
#include "engine/load/bundled_models.h"
#include "engine/load/model.h"
#include "tests/catch.h"
#include "tests/core/cli/outcome.h"
#include "tests/core/fixture_scenario.h"
#include "tests/core/tabs/step/shown_run.h"
#include "tests/engine/contains.h"
#include "tests/engine/same_bits.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

using namespace decoderscope::testing;
using namespace decoderscope::core::checks;
using namespace decoderscope::core::masks;
using core::masks::in_other_words;
using core::masks::MaskInWords;

namespace {

const std::string kAttention = "blocks.0.attn";

void apply(Session& session, const Command& command) {
    session.apply(command);
    session.finish();
    CHECK_FALSE((session.message() && session.message()->failed));
}

Tensor from_pytorch(const std::string& name, const std::string& tensor) {
    return SafetensorsFile(DECODERSCOPE_TESTS_DIR "/reference/fixtures/" + name + "/expected.safetensors")
        .floats(tensor);
}

FillConsequences consequences(const Session& session, Place place, const std::string& attention = kAttention) {
    const Config& config = session.shown().scenario.config();
    return fill_consequences(*session.shown().run, attention, place, config.nhead, config.mask_value);
}

// The leak test as the tab runs it.
Leak leak_of(Session& session, Index batch, Index position) {
    const Variation variation = leak_variation(session.shown().scenario, *session.shown().run, batch, position);
    apply(session, command::RequestAuxRun{"leak", variation});
    REQUIRE(session.shown().companion("leak"));
    return finished(leak_between(session.shown().run, session.shown().companion("leak")->run, batch, position));
}

}  // namespace

TEST_CASE("padding that a row begins with sees every key under a finite fill, and that is no leak") {
    Scenario scenario = with_override(scenario_of(load::load_model("verses")), "mask_value", "-1e9");
    const Axes axes = {{axis::batch, 1}, {axis::pos, 6}};
    scenario.inputs = {.tokens = Tensor(axes, std::vector<float>{0, 0, 5, 7, 3, 9}),
                       .attention_mask = Tensor(axes, std::vector<float>{0, 0, 1, 1, 1, 1})};
    const auto run = execute(plan_of(scenario));
    Scenario changed = scenario;
    for (const Edit& edit : leak_variation(scenario, *run, 0, 5).more_edits) changed.edits.push_back(edit);
    const auto other = execute(plan_of(changed));
    CHECK(run->value("logits").at(Cell{0, 0, 0}) != other->value("logits").at(Cell{0, 0, 0}));
    const Leak leak = finished(leak_between(run, other, 0, 5));
    CHECK(leak.earlier == 0.0F);
    CHECK(leak.earlier_moved == 0);
    CHECK(finished(measure_future(*run, scenario.config())).verdict == Verdict::kept);
}

TEST_CASE("a row of one's own may look ahead: that is no leak of the model") {
    Session session(make_bundled_model("causal-lm-as-meant"));
    apply(session,
          command::MakeEdit{AddRow{"ahead", kAttention, "ahead[b, h, q] = max_k attn_scores[b, h, q, k]"}, {}, {}});
    const Leak leak = leak_of(session, 0, 2);
    CHECK(leak.earlier == 0.0F);
    CHECK(leak.worst_in.empty());
    const std::string row = kAttention + ".ahead";
    CHECK_FALSE(decoderscope::testing::same_bits(session.shown().run->value(row),
                                                 session.shown().companion("leak")->run->value(row)));
}

// ---- masks separated by kind

TEST_CASE("causal, padding and drawn masks stand apart, and together are what was recorded") {
    Session session(make_bundled_model("causal-lm-as-meant"));
    apply(session, command::PaintMask{kAttention, 1, 0, 2, 0, false});  // hidden by an edit
    apply(session, command::PaintMask{kAttention, 1, 0, 0, 1, true});  // opened by an edit, where the causal mask hides
    const MaskParts parts = mask_parts(session.shown().scenario, *session.shown().run, kAttention, {1, 0});
    const Tensor& recorded = session.shown().run->value(kAttention + ".mask");
    const Tensor& padding = session.shown().scenario.inputs.attention_mask;
    Index hidden = 0;
    for (Index q = 0; q < 4; ++q) {
        for (Index k = 0; k < 4; ++k) {
            INFO(q << " " << k);
            const auto at = static_cast<std::size_t>(q * 4 + k);
            const bool by_hand = q == 2 && k == 0, opened = q == 0 && k == 1;
            CHECK((parts.of(hidden_by::causal).heatmap.at(q, k) == 1.0F) == (k <= q));
            CHECK(parts.of(hidden_by::padding).heatmap.at(q, k) == padding.at(Cell{1, k}));
            CHECK((parts.drawn().heatmap.at(q, k) == 0.0F) == by_hand);
            CHECK(parts.combined.at(q, k) == recorded.at(Cell{1, 0, q, k}));
            CHECK((parts.opened[at] != 0) == opened);
            CHECK((parts.painted[at] != 0) == (by_hand || opened));  // marked in every picture of a mask
            CHECK((parts.of(hidden_by::causal).heatmap.hidden[at] == hidden_by::causal) == (k > q));
            hidden += recorded.at(Cell{1, 0, q, k}) == 0.0F ? 1 : 0;
        }
    }
    CHECK(parts.drawn().heatmap.hidden[8] == hidden_by::hand);
    CHECK(parts.hidden == hidden);
    CHECK(parts.of(hidden_by::causal).is_there);
    CHECK(parts.of(hidden_by::padding).is_there);
    CHECK(parts.drawn().is_there);
}

TEST_CASE("a mask that is alone has no picture beside what all are combined") {
    const auto apart = [](const char* model) {
        const Session session(make_bundled_model(model));
        const MaskParts parts = mask_parts(session.shown().scenario, *session.shown().run, kAttention, {1, 0});
        std::vector<std::uint8_t> causes;
        for (const SingleMask* mask : parts.apart()) causes.push_back(mask->cause);
        return causes;
    };
    CHECK(apart("induction").empty());
    CHECK(apart("causal-lm-as-meant") == std::vector{hidden_by::causal, hidden_by::padding});
}

TEST_CASE("a custom mask of the input is the drawn one before anything is painted") {
    const Scenario scenario = fixture_scenario("custom-mask-all");
    const auto run = execute(plan_of(scenario));
    const MaskParts parts = mask_parts(scenario, *run, kAttention, {0, 1});
    const Tensor& custom = scenario.inputs.custom_mask;
    REQUIRE(custom.rank() == 4);
    for (Index q = 0; q < parts.drawn().heatmap.rows; ++q)
        for (Index k = 0; k < parts.drawn().heatmap.columns; ++k)
            CHECK(parts.drawn().heatmap.at(q, k) == custom.at(Cell{0, 1, q, k}));
}

TEST_CASE("cross-attention is not causal, and its padding is the source's") {
    Session session(make_bundled_model("post-ln-encdec"));
    const MaskParts parts = mask_parts(session.shown().scenario, *session.shown().run, "blocks.0.cross_attn", {1, 0});
    CHECK_FALSE(parts.of(hidden_by::causal).is_there);
    CHECK(std::count(parts.of(hidden_by::causal).heatmap.values.begin(),
                     parts.of(hidden_by::causal).heatmap.values.end(), 0.0F) == 0);
    for (Index q = 0; q < 7; ++q)
        for (Index k = 0; k < 7; ++k) CHECK((parts.of(hidden_by::padding).heatmap.at(q, k) == 0.0F) == (k >= 4));
}

// ---- the edits of the brush

TEST_CASE(
    "a sliding window hides what is further away than its width, in one change, and a wider one takes its place") {
    Session session(make_bundled_model("post-ln-encdec"));
    const auto band = [&](Index width) {
        apply(session, command::PaintMasks{{kAttention, 0, 2, cells_outside_band(7, 7, width), false}, false, true});
        const Tensor& mask = session.shown().run->value(kAttention + ".mask");
        for (Index q = 0; q < 7; ++q)
            for (Index k = 0; k < 7; ++k) {
                CHECK((mask.at(Cell{0, 2, q, k}) != 0.0F) == (k <= q && k > q - width));
                CHECK((mask.at(Cell{0, 1, q, k}) != 0.0F) == (k <= q));
            }
    };
    band(2);
    band(3);
    // Cells hidden by the causal mask need no edit: 4 + 3 + 2 + 1 cells are left.
    CHECK(session.scenario().edits.size() == 10);
    apply(session, command::Undo{});
    CHECK(session.scenario().edits.size() == 15);
    apply(session, command::Undo{});
    CHECK(session.scenario().edits.empty());
    CHECK_FALSE(session.can_undo());
}

TEST_CASE("a row is hidden, and restored without opening what other masks hide") {
    Session session(make_bundled_model("causal-lm-as-meant"));
    apply(session, command::PaintMasks{{kAttention, 0, 0, cells_of_row(1, 4), false}});
    const auto kept = [&](Index q, Index k, Index head = 0) {
        return session.shown().run->value(kAttention + ".mask").at(Cell{0, head, q, k}) != 0.0F;
    };
    CHECK_FALSE(kept(1, 0));
    CHECK_FALSE(kept(1, 1));
    CHECK(kept(2, 1));
    apply(session, command::PaintMasks{{kAttention, 0, 0, cells_of_row(1, 4), std::nullopt}});
    CHECK(session.scenario().edits.empty());
    CHECK(kept(1, 1));
    CHECK_FALSE(kept(1, 2));
}

TEST_CASE("one head is restored out of a stroke over all of them") {
    Session session(make_bundled_model("causal-lm-as-meant"));
    apply(session, command::PaintMasks{{kAttention, 0, std::nullopt, cells_of_column(0, 4), false}});
    const auto kept = [&](Index head, Index q) {
        return session.shown().run->value(kAttention + ".mask").at(Cell{0, head, q, 0}) != 0.0F;
    };
    for (Index head = 0; head < 8; ++head) CHECK_FALSE(kept(head, 3));
    apply(session, command::PaintMasks{{kAttention, 0, 5, {{3, 0}}, std::nullopt}});
    CHECK(kept(5, 3));
    CHECK_FALSE(kept(4, 3));
    apply(session, command::ResetMask{kAttention, 0, 4});
    for (Index q = 0; q < 4; ++q) CHECK(kept(4, q));
    CHECK_FALSE(kept(3, 2));
    apply(session, command::ResetMask{kAttention, 0, std::nullopt});
    CHECK(session.scenario().edits.empty());
    apply(session, command::Undo{});
    CHECK_FALSE(kept(3, 2));
}

TEST_CASE("a reset leaves other attentions, rows and edits alone") {
    const Tensor mask({{axis::batch, 2}, {axis::head, 2}, {axis::query, 1}, {axis::key, 1}}, {1, 1, 1, 1});
    const std::vector<Edit> edits = {MaskEdit{"a", std::nullopt, std::nullopt, 0, 0, false},
                                     MaskEdit{"b", 0, 0, 0, 0, false}, ScaleHead{"a", 0, 0.0F}};
    const std::vector<Edit> left = reset_masks(edits, "a", 0, 1, mask);
    const std::vector<Edit> expected = {MaskEdit{"a", 0, 0, 0, 0, false}, MaskEdit{"a", 1, 0, 0, 0, false},
                                        MaskEdit{"a", 1, 1, 0, 0, false}, MaskEdit{"b", 0, 0, 0, 0, false},
                                        ScaleHead{"a", 0, 0.0F}};
    CHECK(left == expected);
}

TEST_CASE("a stroke passes every cell between two frames") {
    CHECK(cells_between({0, 0}, {0, 0}).empty());
    CHECK(cells_between({0, 0}, {0, 3}) == std::vector<MaskCell>{{0, 1}, {0, 2}, {0, 3}});
    CHECK(cells_between({2, 2}, {0, 0}) == std::vector<MaskCell>{{1, 1}, {0, 0}});
}

TEST_CASE("a stroke over thousands of cells, and one head taken out of it") {
    const Tensor mask({{axis::batch, 1}, {axis::head, 2}, {axis::query, 64}, {axis::key, 64}},
                      std::vector<float>(2 * 64 * 64, 1.0F));
    const MaskStroke band = {"a", 0, std::nullopt, cells_outside_band(64, 64, 4), false};
    const std::vector<Edit> edits = paint_masks({}, band, mask);
    CHECK(edits.size() == 60 * 61);
    const std::vector<Edit> left = reset_masks(edits, "a", 0, 1, mask);
    CHECK(left.size() == 60 * 61);
    CHECK(std::all_of(left.begin(), left.end(),
                      [](const Edit& edit) { return std::get<MaskEdit>(edit).head == Index{0}; }));
    CHECK(paint_masks(edits, {"a", 0, std::nullopt, band.cells, std::nullopt}, mask).empty());
}

TEST_CASE("a dragged length pads the rest of the row, and one drag is one undo") {
    Session session(make_bundled_model("pre-ln-layer"));  // it has no padding mask itself
    CHECK(kept_length(session.scenario().inputs.attention_mask, 0, 6) == 6);
    apply(session, command::SetKeptLength{false, 0, 5});
    apply(session, command::SetKeptLength{false, 0, 4, true});
    CHECK(kept_length(session.scenario().inputs.attention_mask, 0, 6) == 4);
    const Tensor& mask = session.shown().run->value(kAttention + ".mask");
    CHECK(mask.at(Cell{0, 0, 5, 3}) == 1.0F);
    CHECK(mask.at(Cell{0, 0, 5, 4}) == 0.0F);
    apply(session, command::SetKeptLength{true, 0, 3});
    CHECK(session.shown().run->value("blocks.0.cross_attn.mask").at(Cell{0, 0, 0, 3}) == 0.0F);
    apply(session, command::Undo{});
    apply(session, command::Undo{});
    CHECK(session.scenario().inputs.attention_mask.empty());
    CHECK_FALSE(session.can_undo());
    CHECK_THROWS_AS(with_kept_length({}, {{axis::batch, 1}, {axis::pos, 4}}, 0, 5), Error);
    CHECK_THROWS_AS(with_kept_length({}, {{axis::batch, 1}, {axis::pos, 4}}, 1, 2), Error);
}

// ---- what the fill does

TEST_CASE("under the causal mask no weight leaks, whatever the fill, and rows say so by themselves") {
    Session session(make_bundled_model("causal-lm-as-meant"));
    for (const char* fill : {"-inf", "-1e4", "-1e9", "-1e20"}) {
        apply(session, command::SetOption{"mask_value", fill});
        const FillConsequences found = consequences(session, {0, 0});
        CHECK(found.cells == 16);
        CHECK(found.masked == 6);
        CHECK(found.largest_leak == 0.0F);
        CHECK(found.leakiest_query == -1);
        CHECK(found.below.empty());
        CHECK(found.empty_rows.empty());
    }
}

TEST_CASE("scores below a finite fill are found, and the weight that they lose is measured") {
    Session session(make_bundled_model("causal-lm-as-meant"));
    apply(session, command::SetOption{"mask_value", "-1e4"});
    apply(session, command::TypeOver{kAttention + ".attn_scores", {0, 0, 1, 0}, -10001.0F});
    apply(session, command::TypeOver{kAttention + ".attn_scores", {0, 0, 1, 1}, -10002.0F});
    const FillConsequences found = consequences(session, {0, 0});
    CHECK(found.below == std::vector<std::pair<Index, Index>>{{1, 0}, {1, 1}});
    CHECK(found.lowest_kept == -10002.0F);
    CHECK(found.leakiest_query == 1);
    // Two masked keys weigh 1 each, the kept ones e^-1 and e^-2.
    const double expected = 2.0 / (2.0 + std::exp(-1.0) + std::exp(-2.0));
    CHECK(std::abs(static_cast<double>(found.largest_leak) - expected) < 1e-6);
    CHECK(found.leaks[0] == 0.0F);
    apply(session, command::SetOption{"mask_value", "-inf"});
    CHECK(consequences(session, {0, 0}).largest_leak == 0.0F);
    CHECK(consequences(session, {0, 0}).below.empty());
}

TEST_CASE(
    "a row with nothing left is NaN under −∞: the first one is named, and every step's NaN counted as PyTorch's") {
    const Scenario scenario = fixture_scenario("nothing-left-inf");
    const auto run = execute(plan_of(scenario));
    const std::vector<NanStep> trail = nan_trail(*run);
    REQUIRE_FALSE(trail.empty());
    CHECK(trail.front().name == "blocks.0.attn.pattern");
    CHECK(std::isnan(run->value(trail.front().id).at(trail.front().first)));
    for (const NanStep& step : trail) {
        INFO(step.name);
        const Tensor expected = from_pytorch("nothing-left-inf", step.name);
        CHECK(step.size == expected.size());
        CHECK(step.count ==
              std::count_if(expected.values().begin(), expected.values().end(), [](float v) { return std::isnan(v); }));
    }
    Index rows = 0;
    for (Index batch = 0; batch < 2; ++batch)
        for (const EmptyRow& row :
             fill_consequences(*run, kAttention, {batch, 0}, 2, -std::numeric_limits<float>::infinity()).empty_rows) {
            CHECK(row.nan);
            ++rows;
        }
    CHECK(rows * 2 * 5 == trail.front().count);  // 2 heads, 5 keys
}

TEST_CASE("the weight that leaks under a soft fill is what PyTorch's pattern gives to masked keys") {
    const Scenario scenario = fixture_scenario("soft-mask");
    const auto run = execute(plan_of(scenario));
    const Tensor pattern = from_pytorch("soft-mask", kAttention + ".pattern");
    const Tensor mask = from_pytorch("soft-mask", kAttention + ".mask");
    const Tensor scores = from_pytorch("soft-mask", kAttention + ".attn_scores");
    const Config& config = scenario.config();
    bool leaks = false;
    for (Index batch = 0; batch < mask.dim(0); ++batch) {
        for (Index head = 0; head < mask.dim(1); ++head) {
            const FillConsequences found =
                fill_consequences(*run, kAttention, {batch, head}, config.nhead, config.mask_value);
            std::size_t below = 0;
            for (Index q = 0; q < mask.dim(2); ++q) {
                double leak = 0.0, kept = 0.0;
                for (Index k = 0; k < mask.dim(3); ++k) {
                    const Cell cell = {batch, head, q, k};
                    kept += static_cast<double>(mask.at(cell));
                    leak += static_cast<double>((1.0F - mask.at(cell)) * pattern.at(cell));
                    below += mask.at(cell) == 1.0F && scores.at(cell) <= -1.5F ? 1 : 0;
                }
                const double measured = static_cast<double>(found.leaks[static_cast<std::size_t>(q)]);
                CHECK(std::abs(measured - (kept > 0.0 ? leak : 0.0)) < 1e-5);
                leaks |= kept > 0.0 && leak > 0.0;
            }
            CHECK(found.below.size() == below);
        }
    }
    CHECK(leaks);
}

TEST_CASE("under a finite fill a row with nothing left is uniform, and nothing becomes NaN") {
    const Scenario scenario = fixture_scenario("nothing-left-finite");
    const auto run = execute(plan_of(scenario));
    CHECK(nan_trail(*run).empty());
    bool found = false;
    for (Index batch = 0; batch < scenario.batch(); ++batch)
        for (const EmptyRow& row : fill_consequences(*run, kAttention, {batch, 0}, 2, -1e9F).empty_rows) {
            found = true;
            CHECK_FALSE(row.nan);
            CHECK(std::abs(row.least - 0.2F) < 1e-6F);
            CHECK(row.least == row.most);
        }
    CHECK(found);
}

// ---- the leak test

TEST_CASE("with the causal mask intact nothing before a changed position moves, in any model") {
    for (const BundledModel& model : bundled_models()) {
        INFO(model.name);
        Session session(make_bundled_model(model.name));
        for (Index position = 1; position < session.shown().scenario.inputs.pos(); ++position) {
            const Leak leak = leak_of(session, 0, position);
            CHECK(leak.earlier == 0.0F);
            CHECK(leak.earlier_moved == 0);
            CHECK(leak.tensors > 10);
            CHECK_FALSE(leak.moved[static_cast<std::size_t>(position)].first_in.empty());
        }
    }
}

TEST_CASE("a hole in the mask moves the position that looks through it, by as much as its numbers differ") {
    Session session(make_bundled_model("causal-lm-as-meant"));
    apply(session, command::PaintMask{kAttention, 0, 3, 1, 3, true});
    const Leak leak = leak_of(session, 0, 3);
    CHECK(leak.moved[0].first_in.empty());
    CHECK(leak.moved[1].first_in == "blocks.0.attn.attn_scores");
    CHECK_FALSE(leak.moved[2].first_in.empty());  // it reads position 1 in the next block
    CHECK(leak.moved[2].first_in.starts_with("blocks.1."));
    CHECK(leak.earlier_moved == 2);
    // The same written differently: the largest difference over all recorded tensors that have positions.
    float largest = 0.0F;
    const Run& a = *session.shown().run;
    const Run& b = *session.shown().companion("leak")->run;
    for (const auto& [name, before] : recorded_tensors(a)) {
        for (Index i = 0; i < before.size(); ++i) {
            const Cell cell = before.cell(i);
            for (std::size_t d = 0; d < cell.size(); ++d) {
                const bool position = before.axes()[d].name == axis::pos || before.axes()[d].name == axis::query;
                if (!position || cell[d] >= 3 || cell[0] != 0) continue;
                const std::string mask =
                    name.ends_with(".attn_scores") ? name.substr(0, name.size() - 12) + ".mask" : "";
                if (!mask.empty() && a.value(mask).at(cell) == 0.0F) continue;
                const float before_value = before.data()[i], after = b.value(name).data()[i];
                if (before_value != after) largest = std::max(largest, std::abs(before_value - after));
            }
        }
    }
    CHECK(leak.earlier == largest);
    CHECK(largest > 0.0F);
}

TEST_CASE("where a row is NaN the leak test says that it sees nothing") {
    Session session(make_bundled_model("causal-lm-as-meant"));
    apply(session, command::PaintMasks{{kAttention, 0, 0, cells_of_row(1, 4), false}});
    const Leak leak = leak_of(session, 0, 3);
    CHECK(leak.earlier_moved == 0);
    CHECK(leak.moved[1].blind);
    // In the next block every position reads position 1, even the one before it: a weight of 0 times NaN is NaN.
    CHECK(leak.earlier_blind == 3);
    apply(session, command::SetOption{"mask_value", "-1e9"});
    // Equal weights on every key include later ones.
    const Leak uniform = leak_of(session, 0, 3);
    CHECK(uniform.earlier_blind == 0);
    CHECK(uniform.moved[1].first_in == kAttention + ".z");
}

TEST_CASE("a finite fill that a score undercuts leaks although the mask is intact") {
    Session session(make_bundled_model("causal-lm-as-meant"));
    apply(session, command::SetOption{"mask_value", "-1e4"});
    for (Index key = 0; key < 2; ++key)
        apply(session, command::TypeOver{kAttention + ".attn_scores", {0, 0, 1, key}, -2e4F});
    const Leak leak = leak_of(session, 0, 3);
    CHECK(leak.earlier > 0.0F);
    CHECK(leak.moved[1].first_in == kAttention + ".z");
}

TEST_CASE("the leak test changes a token to the next, and a row of x to its opposite") {
    const Session tokens(make_bundled_model("causal-lm-as-meant"));
    const Variation token = leak_variation(tokens.shown().scenario, *tokens.shown().run, 0, 2);
    REQUIRE(token.more_edits.size() == 1);
    const auto& edit = std::get<SetCell>(token.more_edits[0]);
    const auto before = static_cast<int>(tokens.shown().run->value("tokens").at(Cell{0, 2}));
    CHECK(static_cast<int>(edit.value) == (before + 1) % 12);
    const Session vectors(make_bundled_model("pre-ln-layer"));
    const Variation x = leak_variation(vectors.shown().scenario, *vectors.shown().run, 0, 5);
    REQUIRE(x.more_edits.size() == 64);
    CHECK(std::get<SetCell>(x.more_edits[7]).value == -vectors.shown().run->value("x").at(Cell{0, 5, 7}));
}

TEST_CASE("the NaN trail of an edited run is the same whether or not the trail before is known") {
    Session session(make_bundled_model("causal-lm-as-meant"));
    const auto before = session.shown().run;
    const std::vector<NanStep> known = nan_trail(*before);
    for (Index key = 0; key <= 2; ++key) session.apply(command::PaintMask{"blocks.3.attn", 0, 0, 2, key, false});
    session.finish();
    const auto first = session.shown().run;
    const std::vector<NanStep> all = nan_trail(*first), again = nan_trail(*first, *before, known);
    REQUIRE_FALSE(all.empty());
    REQUIRE(again.size() == all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
        CHECK(again[i].name == all[i].name);
        CHECK(again[i].count == all[i].count);
        CHECK(again[i].first == all[i].first);
    }
    session.apply(command::TypeOver{"logits", {0, 0, 0}, 1.0F});
    session.finish();
    CHECK(nan_trail(*session.shown().run, *first, all).size() == nan_trail(*session.shown().run).size());
}

// The law itself, in runs of its own: changing token j changes no logit before it.
TEST_CASE("a position leaks back if and only if changing its token changes earlier logits") {
    const auto leaking = [](const Scenario& scenario) {
        const auto before = execute(plan_of(scenario));
        std::vector<Index> from;
        for (Index j = 1; j < scenario.inputs.pos(); ++j) {
            Scenario changed = scenario;
            float& token = changed.inputs.tokens.writable()[static_cast<std::size_t>(j)];
            token = token == 3.0F ? 4.0F : 3.0F;
            const auto after = execute(plan_of(changed));
            const std::span<const float> a = before->value("logits").values(), b = after->value("logits").values();
            const auto earlier = static_cast<std::size_t>(j * before->value("logits").dim(2));
            if (!std::equal(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(earlier), b.begin())) from.push_back(j);
        }
        return from;
    };
    for (const char* model : {"verses", "induction", "causal-lm-as-meant"}) {
        const Scenario plain = scenario_of(make_bundled_model(model));
        const Index last = plain.inputs.pos() - 1;
        const std::vector<std::vector<Edit>> edits = {
            {},
            {MaskEdit{"blocks.0.attn", 0, 0, 0, last - 1, true}},
            {MaskEdit{"blocks.1.attn", 0, std::nullopt, 1, 2, true}, MaskEdit{"blocks.0.attn", 0, 1, 0, last, true}},
            // A hole that a head that is off can't see through.
            {MaskEdit{"blocks.0.attn", 0, 1, 0, last, true}, ScaleHead{"blocks.0.attn", 1, 0.0F}},
        };
        for (std::size_t i = 0; i < edits.size(); ++i) {
            INFO(model << ", edits " << i);
            Scenario scenario = plain;
            scenario.edits = edits[i];
            const LeaksBack found = finished(leaks_back(scenario, execute(plan_of(scenario)), 0));
            CHECK(found.complete);
            // A row is what that position's own test says.
            const std::shared_ptr<const Run> run = execute(plan_of(scenario));
            const Index positions = scenario.inputs.pos();
            for (const Index position : {Index{0}, last - 1, last}) {
                const auto changed = execute(plan_of(varied(scenario, leak_variation(scenario, *run, 0, position))));
                const Leak leak = finished(leak_between(run, changed, 0, position));
                for (Index other = 0; other < positions; ++other)
                    CHECK(found.moved[static_cast<std::size_t>(position * positions + other)] ==
                          leak.moved[static_cast<std::size_t>(other)].largest);
            }
            if (i == 3)  // what the switched-off head's pattern holds moves, and nothing behind it
                CHECK(leaking(scenario).empty());
            else
                CHECK(found.from == leaking(scenario));
        }
    }
}

// The mask in the words of other programs; that the code hides what it should, PyTorch says
// (tests/notebook/test_masks.py).

namespace {

MaskInWords words_of(const std::string& model, const std::string& attention, std::string_view api,
                     const std::vector<Edit>& edits = {}) {
    Scenario scenario = scenario_of(make_bundled_model(model));
    scenario.edits = edits;
    for (MaskInWords& one : in_other_words(scenario, *plan_of(scenario), attention))
        if (one.api == api) return one;
    FAIL("no such API");
    return {};
}

}  // namespace

TEST_CASE("nn.MultiheadAttention hides where SDPA keeps, and padding has an argument of its own") {
    const MaskInWords module = words_of("reverse", "blocks.0.attn", "torch.nn.MultiheadAttention");
    CHECK(module.kept == "False");
    CHECK(module.hidden == "True");
    CHECK(module.code ==
          std::vector<std::string>{"keep = torch.ones(L, S, dtype=torch.bool)", "keep = keep.tril()",
                                   "attention(x, x, x, key_padding_mask=padding == 0, attn_mask=~keep)"});
    const MaskInWords crossing = words_of("reverse", "blocks.0.cross_attn", "torch.nn.MultiheadAttention");
    CHECK(crossing.code == std::vector<std::string>{"attention(x, memory, memory, key_padding_mask=padding == 0)"});
    const MaskInWords function = words_of("verses", "blocks.0.attn", "F.scaled_dot_product_attention");
    CHECK(function.kept == "True");
    CHECK(function.code == std::vector<std::string>{"F.scaled_dot_product_attention(q, k, v, is_causal=True)"});
}

TEST_CASE("what was painted is the mask as it is on screen, in every API that takes one") {
    const std::vector<Edit> painted = {MaskEdit{"blocks.0.attn", 0, std::nullopt, 2, 1, false}};
    for (const char* api : {"torch.nn.MultiheadAttention", "F.scaled_dot_product_attention", "masked_fill",
                            "flex_attention", "jax.nn.dot_product_attention", "keras.layers.MultiHeadAttention"}) {
        INFO(api);
        const MaskInWords words = words_of("verses", "blocks.0.attn", api, painted);
        CHECK(contains(words.code.front(), "painted"));
        CHECK_FALSE(contains(words.code.back(), "causal"));
        CHECK(words.unsaid.empty());
    }
    CHECK(words_of("verses", "blocks.0.attn", "flash_attn", painted).unsaid.english() == "what was painted");
}

TEST_CASE("the command line says a mask in all words, in one API's, or what there is instead") {
    const Outcome all = run({"mask", "reverse"});
    CHECK(all.status == 0);
    for (const char* api : {"torch.nn.MultiheadAttention", "flash_attn", "keras.layers.MultiHeadAttention"})
        CHECK(contains(all.out, api));
    const Outcome one = run({"mask", "verses", "--attention", "blocks.1.attn", "--api", "flash_attn"});
    CHECK(one.status == 0);
    CHECK(contains(one.out, "flash_attn_func(q, k, v, causal=True)"));
    CHECK_FALSE(contains(one.out, "keras"));
    const Outcome unknown = run({"mask", "reverse", "--api", "tensorflow"});
    CHECK(unknown.status != 0);
    CHECK(is_one_line(unknown.err));
    CHECK(contains(unknown.err, "--api tensorflow: expected one of torch.nn.MultiheadAttention, "));
    const Outcome nowhere = run({"mask", "reverse", "--attention", "blocks.9.attn"});
    CHECK(contains(nowhere.err, "--attention blocks.9.attn: this model has no such attention"));
}

// The sliding window is a mask of its own: beside the others, in hatching, words and exports.

namespace {

constexpr Index kWindow = 3;

// Six positions, a window of three, padding at the end of the second row.
Scenario mistral_like() {
    const std::string folder = DECODERSCOPE_TESTS_DIR "/reference/fixtures/mistral-like";
    Scenario scenario = scenario_of(load_model(folder));
    scenario.inputs = load_inputs(folder + "/inputs.safetensors", scenario.config());
    return scenario;
}

}  // namespace

TEST_CASE("the window stands apart from the causal mask and the padding, and together they are what was recorded") {
    const Scenario scenario = mistral_like();
    const auto run = execute(plan_of(scenario));
    const MaskParts parts = mask_parts(scenario, *run, "blocks.1.attn", {1, 0});
    const Heatmap& window = parts.of(hidden_by::window).heatmap;
    CHECK(window.title == "sliding window");
    std::size_t hidden = 0;
    for (Index q = 0; q < 6; ++q) {
        for (Index k = 0; k < 6; ++k) {
            INFO(q << " " << k);
            const auto at = static_cast<std::size_t>(q * 6 + k);
            const bool near = q - k < kWindow;
            hidden += near ? 0 : 1;
            CHECK((window.at(q, k) == 1.0F) == near);
            CHECK((window.hidden[at] == hidden_by::window) == !near);
            CHECK((parts.of(hidden_by::causal).heatmap.at(q, k) == 1.0F) == (k <= q));
            CHECK((parts.of(hidden_by::padding).heatmap.at(q, k) == 1.0F) == (k < 4));
            CHECK((parts.combined.at(q, k) == 1.0F) == (near && k <= q && k < 4));
        }
    }
    CHECK(hidden == 6);
}

TEST_CASE("a cell that the window hides says so by its colour, its hatching, and in words") {
    const Scenario scenario = mistral_like();
    const auto run = execute(plan_of(scenario));
    const Step& masked = *run->plan().find("blocks.0.attn.masked_scores");
    const Heatmap heatmap = heatmap_of(scenario, *run, masked, {1, 0});
    const auto causes = [&](Index q, Index k) { return heatmap.hidden[static_cast<std::size_t>(q * 6 + k)]; };
    CHECK(causes(5, 0) == hidden_by::window);
    CHECK(causes(0, 1) == hidden_by::causal);
    CHECK(causes(5, 4) == hidden_by::padding);
    CHECK(causes(3, 2) == hidden_by::nothing);
    CHECK(hatch_of(causes(5, 0)) == Hatch::level);
    CHECK(hidden_text(causes(5, 0)) == "window mask");
    CHECK(mask_causes(causes(5, 0)) == std::vector<std::string_view>{"window"});
    const Step& mask = *run->plan().find("blocks.0.attn.mask");
    const Explanation why = run->explain(mask.id, {1, 0, 5, 0});
    const auto& factors = why.lines.front().terms.front().factors;
    CHECK(std::ranges::any_of(factors, [](const Factor& factor) {
        return factor.value == 0.0 && contains(factor.text, "window: 5 ≥ 3 positions back");
    }));
    CHECK(std::ranges::any_of(
        factors, [](const Factor& factor) { return factor.value == 1.0 && contains(factor.text, "causal"); }));
}

TEST_CASE("the window is exported beside the other masks, and only if there is a window") {
    const Scenario scenario = mistral_like();
    const auto names_in = [](const Scenario& of) {
        const Exhibit exhibit = masks_exhibit({of, execute(plan_of(of))}, "blocks.0.attn", {0, 0});
        std::vector<std::string> names;
        for (const Panel& panel : exhibit.panels) names.push_back(panel.tensor);
        return names;
    };
    const auto has = [](const std::vector<std::string>& names, const char* name) {
        return std::ranges::find(names, name) != names.end();
    };
    CHECK(has(names_in(scenario), "blocks.0.attn.mask.window"));
    CHECK_FALSE(has(names_in(with_override(scenario, "sliding_window", "0")), "blocks.0.attn.mask.window"));
    CHECK(has(names_in(with_override(scenario, "sliding_window", "0")), "blocks.0.attn.mask.causal"));
}
