// What the Norms tab measures: against PyTorch's numbers, and against the formulas written differently.
#include "app/core/compare/depth.h"
#include "app/core/compare/norm_rows.h"
#include "app/core/figure/chart.h"
#include "app/core/run/comparison.h"
#include "app/core/session/session.h"
#include "engine/base/json.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/core/compare/reference.h"
#include "tests/core/compare/varied_run.h"
#include "tests/core/session/apply.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

using namespace decoderscope::testing;
using namespace decoderscope::core::norms;

namespace {

// The model stacked to this many blocks, with either norm placement, and its run.
Ran ran_with_norm_first(const std::string& model, bool norm_first, std::optional<Index> layers = std::nullopt,
                        const Overrides& more = {}) {
    Overrides overrides = {{"norm_first", norm_first ? "true" : "false"}};
    overrides.insert(overrides.end(), more.begin(), more.end());
    return ran(model, {.overrides = overrides, .layers = layers});
}

const DepthPoint* point_of(const std::vector<DepthPoint>& points, const std::string& step) {
    const auto found = std::find_if(points.begin(), points.end(), [&](const DepthPoint& p) { return p.step == step; });
    return found == points.end() ? nullptr : &*found;
}

const DepthPoint* point_of(const std::vector<DepthCurve>& curves, const std::string& step) {
    for (const DepthCurve& curve : curves)
        if (const DepthPoint* point = point_of(curve.points, step)) return point;
    return nullptr;
}

// The point that a key of the reference refers to, on any curve.
const DepthPoint* point_of(const DepthCurves& curves, const std::string& at, const std::string& key) {
    if (key == "cosine") return point_of(curves.cosines.points, at + "resid_pre");
    if (key.ends_with("/stream")) return point_of(curves.ratios, at + key.substr(0, key.find('/')));
    if (key.ends_with(".scale")) return point_of(curves.scales, at + key);
    if (key.starts_with("resid")) return point_of(curves.stream.points, at + key);
    return point_of(curves.updates, at + key);
}

}  // namespace

TEST_CASE("the curves by depth are PyTorch's, also of blocks with fresh weights") {
    for (const auto& expected : reference()["curves"]) {
        const auto layers = expected["layers"].get<Index>();
        const std::string model = expected["model"];
        INFO(model << ", norm_first " << expected["norm_first"] << ", " << layers << " blocks");
        const DepthCurves curves =
            depth_curves(*ran_with_norm_first(model, expected["norm_first"], layers).run, StackKind::decoder);
        REQUIRE(curves.blocks == layers);
        CHECK(close(curves.leaving, expected["leaving"]));
        CHECK(close(curves.growth(),
                    expected["leaving"].get<double>() / expected["blocks"][0]["resid_pre"].get<double>()));
        for (Index block = 0; block < layers; ++block) {
            const std::string at = "blocks." + std::to_string(block) + ".";
            for (const auto& [key, value] : expected["blocks"][static_cast<std::size_t>(block)].items()) {
                INFO(at << key);
                const DepthPoint* point = point_of(curves, at, key);
                REQUIRE(point != nullptr);
                CHECK(close(point->value, value));
                CHECK(point->depth >= static_cast<double>(block));
                CHECK(point->depth <= static_cast<double>(block + 1));
            }
        }
    }
}

TEST_CASE("a curve runs from left to right, and ends with what leaves the last block") {
    for (const bool norm_first : {true, false}) {
        const DepthCurves curves =
            depth_curves(*ran_with_norm_first("post-ln-encdec", norm_first).run, StackKind::decoder);
        const auto& points = curves.stream.points;
        for (std::size_t i = 1; i < points.size(); ++i) CHECK(points[i - 1].depth <= points[i].depth);
        CHECK(points.back().step == (norm_first ? "blocks.1.resid_post" : "blocks.1.ln3.normalized"));
        CHECK(points.back().depth == 2.0);
        CHECK(curves.updates.size() == 3);
        CHECK(curves.scales.size() == 3);
    }
}

TEST_CASE("the encoder is a separate stack, with its own padding") {
    const Ran r = ran_with_norm_first("post-ln-encdec", false);
    const DepthCurves curves = depth_curves(*r.run, StackKind::encoder);
    REQUIRE(curves.blocks == 2);
    CHECK(curves.updates.size() == 2);
    const Tensor& x = r.run->value("encoder.blocks.1.resid_pre");
    const Tensor& mask = r.run->value("encoder_attention_mask");
    double sum = 0.0, rows = 0.0;
    for (Index b = 0; b < x.dim(0); ++b) {
        for (Index p = 0; p < x.dim(1); ++p) {
            if (mask.at(Cell{b, p}) == 0.0F) continue;
            double squares = 0.0;
            for (Index d = 0; d < x.dim(2); ++d) squares += std::pow(static_cast<double>(x.at(Cell{b, p, d})), 2);
            sum += std::sqrt(squares);
            ++rows;
        }
    }
    CHECK(close(point_of(curves.stream.points, "encoder.blocks.1.resid_pre")->value, sum / rows));
}

TEST_CASE("with dropout it is the dropped update that counts, and no MLP means no MLP's curve") {
    Scenario scenario = scenario_of(make_bundled_model("post-ln-encdec"));
    scenario.dropout_seed = 3;
    const auto run = execute(plan_of(scenario));
    CHECK(point_of(depth_curves(*run, StackKind::decoder).updates, "blocks.0.attn_out.dropped") != nullptr);
    CHECK(point_of(depth_curves(*run, StackKind::decoder).updates, "blocks.0.attn_out") == nullptr);
}

TEST_CASE("the sentence says what was measured") {
    DepthCurves pre, post;
    CHECK(depth_sentence(pre, post).empty());
    pre.blocks = post.blocks = 12;
    pre.entering = 2.0;
    pre.leaving = 6.2;
    post.entering = 3.0;
    post.leaving = 3.0;
    pre.ratios = {{"mlp_out", Meaning::mlp, Part::mlp, {{11.5, 0.12, "blocks.11.mlp_out"}}}};
    post.ratios = {{"mlp_out", Meaning::mlp, Part::mlp, {{11.5, 0.613, "blocks.11.mlp_out"}}}};
    CHECK(depth_sentence(pre, post) ==
          "Pre-Norm: the stream grows 3.1-fold over 12 blocks. Post-Norm: it keeps its length (1.0-fold). The last "
          "update "
          "is 12 % of the stream under Pre-Norm, 61 % under Post-Norm.");
    post.leaving = 1.5;
    CHECK(depth_sentence(pre, post).find("shrinks to 0.50 of its length") != std::string::npos);
    post.leaving = std::nan("");
    CHECK(depth_sentence(pre, post).find("not finite") != std::string::npos);
    // No percentage of what has none.
    post.ratios[0].points[0].value = std::nan("");
    CHECK(depth_sentence(pre, post).find("NaN %") == std::string::npos);
    CHECK(depth_sentence(pre, post).find(
              "is 12 % of the stream under Pre-Norm; under Post-Norm it can't be compared") != std::string::npos);
    pre.ratios[0].points[0].value = std::numeric_limits<double>::infinity();
    CHECK(depth_sentence(pre, post).find("%") == std::string::npos);
}

TEST_CASE("a row of a norm is what torch's layer_norm makes of it") {
    for (const auto& expected : reference()["rows"]) {
        INFO(expected["norm"] << ", norm_first " << expected["norm_first"]);
        const Ran r = ran_with_norm_first(expected["model"], expected["norm_first"]);
        const auto row = norm_row(*r.run, expected["norm"], expected["batch"], expected["pos"]);
        REQUIRE(row);
        CHECK(row->centred);
        CHECK(close(row->mean, expected["mean"], 1e-4));
        CHECK(close(row->variance, expected["variance"]));
        CHECK(close(row->scale, expected["scale"]));
        CHECK(close(row->length_before, expected["length_before"]));
        CHECK(close(row->length_after, expected["length_after"]));
        REQUIRE(row->after.size() == expected["after"].size());
        for (std::size_t d = 0; d < row->after.size(); ++d)
            CHECK(std::abs(static_cast<double>(row->after[d]) - expected["after"][d].get<double>()) < 2e-5);
    }
}

TEST_CASE("a row's parts fit together: variance by the other formula, gain and shift give what is recorded") {
    for (const std::string kind : {"layernorm", "rmsnorm"}) {
        for (const bool norm_first : {true, false}) {
            Scenario scenario = varied(
                scenario_of(make_bundled_model("causal-lm-as-meant")),
                {.overrides = {
                     {"norm_first", norm_first ? "true" : "false"}, {"norm", kind}, {"layer_norm_eps", "0.25"}}});
            scenario.edits = {SetCell{"layers.2.norm1.weight", {5}, 3.0F}};
            if (kind == "layernorm") scenario.edits.emplace_back(SetCell{"layers.2.norm1.bias", {7}, -2.0F});
            const auto run = execute(plan_of(scenario));
            const auto row = norm_row(*run, "blocks.2.ln1", 1, 0);
            REQUIRE(row);
            INFO(kind << " " << norm_first);
            CHECK(row->centred == (kind == "layernorm"));
            CHECK(row->shift.empty() == (kind == "rmsnorm"));
            CHECK(row->gain_parameter == "layers.2.norm1.weight");
            CHECK(row->before_step == (norm_first ? "blocks.2.resid_pre" : "blocks.2.resid_mid"));
            CHECK(row->eps == 0.25);
            long double sum = 0, squares = 0;
            for (const float x : row->before) {
                sum += static_cast<long double>(x);
                squares += static_cast<long double>(x) * static_cast<long double>(x);
            }
            const auto n = static_cast<long double>(row->before.size());
            const auto variance = static_cast<double>(squares / n - (row->centred ? sum * sum / n / n : 0));
            CHECK(close(row->mean, static_cast<double>(sum / n), 1e-6));
            CHECK(close(row->variance, variance, 1e-6));
            CHECK(close(row->deviation, std::sqrt(variance), 1e-6));
            CHECK(close(row->scale, std::sqrt(variance + 0.25), 1e-6));
            for (std::size_t d = 0; d < row->before.size(); ++d) {
                const double shift = row->shift.empty() ? 0.0 : static_cast<double>(row->shift[d]);
                const double made = static_cast<double>(row->unit[d]) * static_cast<double>(row->gain[d]) + shift;
                CHECK(std::abs(made - static_cast<double>(row->after[d])) < 1e-5);
            }
            CHECK(row->gain[5] == 3.0F);
            CHECK(norm_row_sentence(*row).find(row->centred ? "subtracts the mean" : "divides by") == 0);
        }
    }
}

TEST_CASE("a block's norms are listed, and the one behind its stack") {
    const Ran r = ran_with_norm_first("post-ln-encdec", true);
    CHECK(norms_of_block(r.run->plan(), "blocks.1", StackKind::decoder) ==
          std::vector<std::string>{"blocks.1.ln1", "blocks.1.ln2", "blocks.1.ln3", "ln_final"});
    CHECK(norms_of_block(r.run->plan(), "encoder.blocks.0", StackKind::encoder) ==
          std::vector<std::string>{"encoder.blocks.0.ln1", "encoder.blocks.0.ln2", "encoder.ln_final"});
    CHECK(norms_of_block(ran_with_norm_first("simple-decoder", true).run->plan(), "blocks.0", StackKind::decoder)
              .size() == 2);
    CHECK_FALSE(norm_row(*r.run, "blocks.9.ln1", 0, 0));
    CHECK_FALSE(norm_row(*r.run, "blocks.0.ln1", 0, 99));
}

TEST_CASE("a step's difference between two runs is PyTorch's") {
    for (const auto& expected : reference()["pairs"]) {
        const std::string name = expected["step"];
        INFO(name);
        const Ran a = ran_with_norm_first(expected["model"], true), b = ran_with_norm_first(expected["model"], false);
        const Tensor &left = a.run->value(name), &right = b.run->value(name);
        const TensorDifference found = compare({{name, left}}, {{name, right}}, 0.0).tensors.front();
        CHECK(close(found.largest, expected["largest"], 1e-4));
        const double there = static_cast<double>(left.at(found.cell)) - static_cast<double>(right.at(found.cell));
        CHECK(close(std::abs(there), found.largest, 1e-5));
        // PyTorch's mean is over the cells that no mask hides; in both runs the others hold the same.
        const Step& step = *a.run->plan().find(name);
        double seen = 1.0;
        if (step.masked_by && *step.masked_by != step.id) {
            const std::span<const float> mask = a.run->value(*step.masked_by).values();
            seen = static_cast<double>(std::ranges::count(mask, 1.0F)) / static_cast<double>(mask.size());
        }
        CHECK(close(found.mean / seen, expected["mean"], 1e-4));
        const DifferencePictures pictures =
            difference_pictures(a.scenario, *a.run, step, {1, 0}, right, b.run.get(), 0.0);
        CHECK(pictures.a.range == pictures.b.range);
        CHECK(std::isfinite(pictures.difference.range.high));
    }
}

TEST_CASE("added blocks get the same fresh weights every time, made once, and the model keeps its own") {
    const auto model = make_bundled_model("causal-lm-as-meant");
    FreshWeights fresh;
    const auto six = with_layers(model, {}, 6, fresh), again = with_layers(model, {{"norm_first", "true"}}, 12, fresh);
    const std::string own = "layers.4.up_proj.weight", added = "layers.5.up_proj.weight";
    CHECK(six->weights.at(own).shares_values_with(model->weights.at(own)));
    CHECK(six->weights.at(added).shares_values_with(again->weights.at(added)));
    CHECK_FALSE(model->weights.contains(added));
    FreshWeights others;
    const Tensor anew = with_layers(model, {}, 6, others)->weights.at(added);
    CHECK(std::ranges::equal(anew.values(), six->weights.at(added).values()));
}

TEST_CASE("scaled gains scale what a norm hands over, and shifts go") {
    Scenario scenario = scenario_of(make_bundled_model("causal-lm-as-meant"));
    Model shifted = *scenario.model();
    shifted.weights.at("layers.0.norm1.bias").writable()[3] = 0.5F;
    scenario.set_model(std::make_shared<const Model>(shifted));
    FreshWeights fresh;
    const auto after = [&](const Variation& variation, Index d) {
        const Scenario other = with_weights_of(variation, varied(scenario, variation), fresh);
        return static_cast<double>(execute(plan_of(other))->value("blocks.0.ln1.normalized").at(Cell{0, 0, d}));
    };
    CHECK(close(after({.gain_factor = 2.0F}, 4), 2.0 * after({}, 4)));
    CHECK(close(after({.shift_factor = 0.0F}, 3), after({}, 3) - 0.5));
    CHECK(scenario.model()->weights.at("layers.0.norm1.weight").data()[4] == 1.0F);
}

TEST_CASE("a session stacks a companion deeper on its worker, and paints on") {
    Session session(make_bundled_model("causal-lm-as-meant"));
    apply(session, command::RequestAuxRun{"norms.pre", Variation{.overrides = {{"norm_first", "true"}}, .layers = 12}});
    const Companion* deep = session.shown().companion("norms.pre");
    REQUIRE(deep != nullptr);
    CHECK(deep->scenario.config().num_layers == 12);
    CHECK(deep->scenario.config().norm_first);
    CHECK(deep->run->plan().find("blocks.11.resid_post") != nullptr);
    CHECK(session.shown().scenario.config().num_layers == 5);
    const auto before = deep->run;
    apply(session, command::PaintMask{"blocks.0.attn", 0, 1, 2, 0, false});
    const Companion* painted = session.shown().companion("norms.pre");
    REQUIRE(painted != nullptr);
    CHECK(painted->run->value("blocks.0.attn.mask").at(Cell{0, 1, 2, 0}) == 0.0F);
    CHECK(painted->run->value("embed").shares_values_with(before->value("embed")));
}

TEST_CASE("a chart's axis has round ends that hold every value, and few round ticks") {
    struct Case {
        double least, most;
        bool may_be_logarithmic, logarithmic;
        std::vector<double> ticks;
    };
    for (const Case& c :
         {Case{0.94, 0.98, false, false, {0.0, 0.5, 1.0}}, Case{8.0, 20.7, true, false, {0.0, 10.0, 20.0, 30.0}},
          Case{-0.2, 1.0, false, false, {-0.5, 0.0, 0.5, 1.0}},
          Case{1.0, 900.0, true, true, {1.0, 10.0, 100.0, 1000.0}}, Case{0.0, 0.0, true, false, {0.0, 0.5, 1.0}},
          Case{3.0, 40.0, true, true, {2.0, 5.0, 10.0, 20.0, 50.0}}}) {
        INFO(c.least << " to " << c.most);
        const ChartAxis axis = chart_axis(c.least, c.most, c.may_be_logarithmic);
        CHECK(axis.logarithmic == c.logarithmic);
        CHECK(axis.place(c.least) >= -1e-9);
        CHECK(axis.place(c.most) <= 1.0 + 1e-9);
        CHECK(axis.place(axis.low) == 0.0);
        CHECK(close(axis.place(axis.high), 1.0));
        REQUIRE(axis.ticks.size() >= 2);
        CHECK(axis.ticks.size() <= 4);
        for (const double tick : axis.ticks)
            CHECK(std::any_of(c.ticks.begin(), c.ticks.end(), [&](double t) { return std::abs(t - tick) < 1e-9; }));
    }
}
