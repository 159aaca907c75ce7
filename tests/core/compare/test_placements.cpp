// The four places of the norms: on the same weights, against PyTorch's numbers and the placements' definitions.
#include "app/core/compare/depth.h"
#include "app/core/compare/norm_rows.h"
#include "app/core/run/labels.h"
#include "app/core/run/scenario.h"
#include "engine/base/json.h"
#include "engine/load/bundled_models.h"
#include "engine/model/inputs.h"
#include "tests/catch.h"
#include "tests/core/compare/reference.h"
#include "tests/core/compare/varied_run.h"
#include "tests/core/fixture_scenario.h"

#include <algorithm>
#include <cmath>

using namespace decoderscope::testing;
using namespace decoderscope::core::norms;

namespace {

Ran in_place(const std::string& model, const char* placement, std::optional<Index> layers = std::nullopt) {
    return ran(model, {.overrides = {{"norm_placement", placement}}, .layers = layers});
}

Ran fixture(const std::string& name) {
    const Scenario scenario = testing::fixture_scenario(name);
    return {scenario, execute(plan_of(scenario))};
}

const DepthCurve* named(const std::vector<DepthCurve>& curves, const std::string& name) {
    const auto found = std::ranges::find(curves, name, &DepthCurve::name);
    return found == curves.end() ? nullptr : &*found;
}

// The point of a curve that lies in a block.
double value_in(const DepthCurve& curve, Index block) {
    const auto inside = [&](const DepthPoint& point) {
        return point.step.starts_with("blocks." + std::to_string(block) + ".");
    };
    const auto found = std::ranges::find_if(curve.points, inside);
    REQUIRE(found != curve.points.end());
    return found->value;
}

}  // namespace

TEST_CASE("the curves of Peri-Norm and of reordered norms are PyTorch's; norms that the model lacks have gain 1") {
    for (const auto& expected : reference()["other_places"]) {
        const auto layers = expected["layers"].get<Index>();
        const std::string model = expected["model"], placement = expected["norm_placement"];
        INFO(model << ", " << placement << ", " << layers << " blocks");
        const Ran r = in_place(model, placement.c_str(), layers);
        const DepthCurves curves = depth_curves(*r.run, StackKind::decoder);
        REQUIRE(curves.blocks == layers);
        CHECK(close(curves.leaving, expected["leaving"]));
        for (Index block = 0; block < layers; ++block) {
            for (const auto& [key, value] : expected["blocks"][static_cast<std::size_t>(block)].items()) {
                INFO(block << ": " << key);
                if (key == "resid_pre") CHECK(close(value_in(curves.stream, block), value));
                if (key == "cosine") CHECK(close(value_in(curves.cosines, block), value));
                if (key.ends_with(".scale")) {
                    const DepthCurve* scale = named(curves.scales, key.substr(0, key.find('.')));
                    REQUIRE(scale != nullptr);
                    CHECK(close(value_in(*scale, block), value));
                }
                const bool ratio = key.ends_with("/stream");
                const std::string update = key.substr(0, key.find('/'));
                if (!update.ends_with("_out")) continue;
                const DepthCurve* curve = named(ratio ? curves.ratios : curves.updates, update);
                REQUIRE(curve != nullptr);
                CHECK(curve->part != Part::norm);  // drawn in the sublayer's colour, whatever stands behind it
                CHECK(close(value_in(*curve, block), value));
            }
        }
    }
}

TEST_CASE("a scenario takes over the norms it has, and says whether it had to add any") {
    const Scenario own = scenario_of(make_bundled_model("causal-lm-as-meant"));
    CHECK_FALSE(own.adds_norms());
    for (const char* there : {"pre", "post"}) CHECK_FALSE(with_override(own, "norm_placement", there).adds_norms());
    for (const char* lacking : {"peri", "reordered"}) {
        const Scenario moved = with_override(own, "norm_placement", lacking);
        CHECK(moved.adds_norms());
        const Tensor& gain = moved.weights().at("layers.0.norm1_post.weight");
        CHECK(std::ranges::all_of(gain.values(), [](float value) { return value == 1.0F; }));
        CHECK_FALSE(own.weights().contains("layers.0.norm1_post.weight"));
        // Back, by either key: the last one counts, and only it is kept.
        const Scenario back = with_override(moved, "norm_first", "true");
        CHECK(back.config().placement() == NormPlacement::pre);
        CHECK(back.overrides() == Overrides{{"norm_first", "true"}});
        CHECK_FALSE(back.adds_norms());
    }
}

TEST_CASE("gains and shifts of added norms are multiplied as the model's own") {
    const Ran r = ran("causal-lm-as-meant",
                      {.overrides = {{"norm_placement", "peri"}}, .gain_factor = 0.5F, .shift_factor = 0.0F});
    CHECK(r.run->value("layers.0.norm1_post.weight").data()[0] == 0.5F);
    const auto own = make_bundled_model("causal-lm-as-meant");
    CHECK(r.run->value("layers.0.norm1.weight").data()[0] == 0.5F * own->weights.at("layers.0.norm1.weight").data()[0]);
    const Ran raised = [] {
        const Variation variation = {.gain_factor = 0.5F};
        FreshWeights fresh;
        const Ran of = fixture("peri-edits");  // rmsnorm_plus_one
        const Scenario scaled = with_weights_of(variation, of.scenario, fresh);
        return Ran{scaled, execute(plan_of(scaled))};
    }();
    const Tensor before = fixture("peri-edits").run->value("layers.0.norm1.weight"),
                 after = raised.run->value("layers.0.norm1.weight");
    for (Index d = 0; d < before.size(); ++d)
        CHECK(1.0F + after.data()[d] == Approx(0.5F * (1.0F + before.data()[d])).margin(1e-6));
}

TEST_CASE("what is compared first: Pre-Norm and Post-Norm, or a model's own other place and Pre-Norm") {
    const auto places = [](const char* placement) {
        return first_places(in_place("causal-lm-as-meant", placement).scenario.config());
    };
    CHECK(places("pre") == kPreAndPost);
    CHECK(places("post") == kPreAndPost);
    CHECK(places("peri") == Places{NormPlacement::peri, NormPlacement::pre});
    CHECK(places("reordered") == Places{NormPlacement::reordered, NormPlacement::pre});
    for (const PlaceOfNorms& place : places_of_norms()) {
        CHECK(place_of_norms(place.placement).word == place.word);
        CHECK(in_place("causal-lm-as-meant", place.word).scenario.config().placement() == place.placement);
    }
}

TEST_CASE("the sentence names the places that are compared") {
    DepthCurves left, right;
    left.blocks = right.blocks = 2;
    left.entering = right.entering = 1.0;
    left.leaving = 3.0;
    right.leaving = 1.0;
    const std::string said = depth_sentence(left, right, titles_of({NormPlacement::peri, NormPlacement::reordered}));
    CHECK(said == "Peri-Norm: the stream grows 3.0-fold over 2 blocks. Reordered: it keeps its length (1.0-fold).");
}

TEST_CASE("one row of a norm by the unbiased standard deviation, and of one whose gain is 1 + weight") {
    const Ran by_std = fixture("annotated-transformer-like");
    const auto row = norm_row(*by_std.run, "blocks.0.ln1", 0, 1);
    REQUIRE(row);
    CHECK(row->eps_outside);
    double mean = 0.0, squares = 0.0;
    for (const float x : row->before) mean += static_cast<double>(x) / 8.0;
    for (const float x : row->before) squares += (static_cast<double>(x) - mean) * (static_cast<double>(x) - mean);
    CHECK(row->variance == Approx(squares / 7.0));
    CHECK(row->scale == Approx(std::sqrt(squares / 7.0) + 0.01));
    const Ran plus_one = fixture("embedding-norm-vectors");
    const auto raised = norm_row(*plus_one.run, "embed_norm", 1, 2);
    REQUIRE(raised);
    CHECK(raised->norm == "embed_norm");
    for (std::size_t d = 0; d < raised->after.size(); ++d) {
        const float weight = plus_one.run->value("embed_norm.weight").data()[d];
        CHECK(raised->gain[d] == 1.0F + weight);
        CHECK(raised->after[d] == Approx(raised->unit[d] * (1.0F + weight)).margin(1e-5));
    }
}
