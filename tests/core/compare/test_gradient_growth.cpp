// How gradients grow through stacks before training, against what was measured with PyTorch (Xiong et al. 2020, fig.
// 3).
#include "app/core/ask/measure.h"
#include "app/core/compare/growth.h"
#include "app/core/train/step_models.h"
#include "app/core/train/training_plan.h"
#include "tests/catch.h"

#include <chrono>
#include <cmath>
#include <cstdio>

using namespace decoderscope::testing;
using namespace decoderscope::core::norms;

namespace {

GradientGrowth measured(StackScheme scheme, Index layers, const GrowthSetting& setting) {
    return finished(gradient_growth({scheme}, {layers}, setting, {})).at(0);
}

}  // namespace

// Measured with PyTorch, 5 seeds: Post-Norm 4.8 at 6 + 6 layers and 56 at 12 + 12, Pre-Norm 0.75 and 0.63.
TEST_CASE("gradients of W2 grow towards Post-Norm's last layer, and shrink towards Pre-Norm's", "[long]") {
    const GrowthSetting setting;
    CHECK(measured(StackScheme::post, 6, setting).decoder.last_over_first.mean >= 2.5);
    const Spread pre = measured(StackScheme::pre, 6, setting).decoder.last_over_first;
    CHECK(pre.mean >= 0.4);
    CHECK(pre.mean <= 1.2);
    CHECK(pre.least <= pre.mean);
    CHECK(pre.mean <= pre.most);
}

#ifdef NDEBUG
// Seconds in an optimised build, minutes in others.
TEST_CASE("the deeper the stacks, the further Post-Norm's gradients are apart") {
    const GrowthSetting setting;
    CHECK(measured(StackScheme::post, 12, setting).decoder.last_over_first.mean >= 15.0);
    const double pre = measured(StackScheme::pre, 12, setting).decoder.last_over_first.mean;
    CHECK(pre >= 0.35);
    CHECK(pre <= 1.1);
    const auto last = [&](StackScheme scheme, Index layers) {
        return measured(scheme, layers, setting).decoder.by_layer.back().mean;
    };
    CHECK(last(StackScheme::post, 18) / last(StackScheme::post, 4) >= 0.7);
    CHECK(last(StackScheme::pre, 18) / last(StackScheme::pre, 4) <= 0.8);
}
#endif

TEST_CASE("without an encoder, or begun by PyTorch's rule, Post-Norm hides it") {
    GrowthSetting setting{.seeds = 3};
    setting.initialisation = Initialisation::pytorch;
    CHECK(measured(StackScheme::post, 6, setting).decoder.last_over_first.mean < 2.5);
    setting = {.encoder = false, .seeds = 3};
    const GradientGrowth alone = measured(StackScheme::post, 6, setting);
    CHECK(alone.decoder.last_over_first.mean < 2.5);
    CHECK(alone.encoder.by_layer.empty());
}

// Wang et al. 2022: what each layer gets is bounded, whatever the depth.
TEST_CASE("DeepNorm's scales keep the gradients of all layers alike") {
    const GradientGrowth growth = measured(StackScheme::deepnorm, 6, {.seeds = 2});
    CHECK(growth.decoder.last_over_first.mean == Approx(1.0).margin(0.2));
    CHECK(growth.encoder.last_over_first.mean == Approx(1.0).margin(0.2));
    CHECK(growth_config({}, StackScheme::deepnorm, 6).residual_scale == Approx(std::pow(18.0, 0.25)));
    const auto weights_of = [](StackScheme scheme) {
        return core::train::first_trainer(growth_recipe({}, scheme, 6, 1)).weights();
    };
    const Weights begun = weights_of(StackScheme::deepnorm), xavier = weights_of(StackScheme::post);
    const auto ratio = [&](const std::string& name) {
        return static_cast<double>(begun.at(name).data()[3]) / static_cast<double>(xavier.at(name).data()[3]);
    };
    CHECK(ratio("layers.2.self_attn.v_proj.weight") == Approx(std::pow(72.0, -0.25)));
    CHECK(ratio("encoder.layers.2.up_proj.weight") == Approx(0.87 * std::pow(6.0, -0.3125)));
    CHECK(ratio("layers.2.self_attn.q_proj.weight") == 1.0);
}

// The page's numbers are a sweep's: the seeds of a training before its first step, over the gradients of the loss.
TEST_CASE("a sweep over seeds of a training has the same gradients before its first step") {
    const GrowthSetting setting{.d_model = 16, .nhead = 2, .dim_feedforward = 32, .seeds = 1, .rows = 3, .longest = 5};
    const GradientGrowth growth = measured(StackScheme::post, 2, setting);
    const auto recipe = std::make_shared<const core::train::Recipe>(growth_recipe(setting, StackScheme::post, 2, 0));
    const auto model = core::train::model_of(*recipe, core::train::first_trainer(*recipe).weights(), 0);
    ask::Unswept unswept{.scenario = scenario_of(model)};
    unswept.scenario.inputs = core::train::batch_of(*recipe, 1);
    unswept.scenario.gradient_target = "loss";
    unswept.run = execute(plan_of(unswept.scenario));
    unswept.trained = core::train::models_by_step(recipe, model);
    for (const Index layer : {0, 1}) {
        const std::string weight = "grad.layers." + std::to_string(layer) + ".down_proj.weight";
        unswept.row = ask::row_from("sqrt((" + weight + " ** 2).sum())", unswept.run->plan());
        const std::vector<std::string> vary = {"training_seed=0,1", "training_step=0"};
        const ask::Sweep swept = finished(ask::swept(unswept, ask::points_of(vary, unswept)));
        REQUIRE(swept.results.size() == 2);
        const auto number = [&](std::size_t i) { return static_cast<double>(swept.results[i].value.values()[0]); };
        CHECK(number(0) == Approx(growth.decoder.by_layer[static_cast<std::size_t>(layer)].mean).epsilon(1e-5));
        CHECK(number(1) != Approx(number(0)).epsilon(1e-3));
    }
}

TEST_CASE("measuring counts its passes, and keeps what is complete when it is stopped") {
    const GrowthSetting setting{.d_model = 8, .nhead = 2, .dim_feedforward = 8, .seeds = 2, .rows = 2};
    const std::vector<StackScheme> schemes = {StackScheme::pre, StackScheme::peri};
    std::atomic<std::size_t> done = 0;
    const auto all = finished(gradient_growth(schemes, {1, 2}, setting, {}, &done));
    CHECK(done == schemes.size() * 2 * static_cast<std::size_t>(setting.seeds));
    REQUIRE(all.size() == 4);
    CHECK(all[2].scheme == StackScheme::peri);
    CHECK(all[3].layers == 2);
    CHECK(all[3].encoder.by_layer.size() == 2);
    // Wide enough that not all passes end in one slice.
    const GrowthSetting wider{.seeds = 2};
    std::stop_source stop;
    done = 0;
    auto work = gradient_growth(schemes, {1, 2}, wider, stop.get_token(), &done);
    while (done < 2) work.advance();
    stop.request_stop();
    while (!work.advance()) {
    }
    const std::vector<GradientGrowth> stopped = work.result();
    CHECK(stopped.size() < 4);
    CHECK(2 * stopped.size() <= done);
    for (const GradientGrowth& one : stopped) CHECK(one.encoder.last_over_first.least > 0.0);  // of both seeds
}

TEST_CASE("how long 6 + 6 layers take in four placements, 5 seeds", "[.][bench]") {
    const auto start = std::chrono::steady_clock::now();
    static_cast<void>(finished(gradient_growth(
        {StackScheme::pre, StackScheme::post, StackScheme::peri, StackScheme::reordered}, {6}, GrowthSetting(), {})));
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    std::printf("%.2f s\n", took.count());
}

// The page of gradients: what is measured, its curves and its sentences.

namespace {

GradientGrowth growth(StackScheme scheme, Index layers, double last) {
    GradientGrowth made{scheme, layers, {}, {}};
    for (Index layer = 0; layer < layers; ++layer)
        made.decoder.by_layer.push_back({1.0 + static_cast<double>(layer), 0.5, 9.0});
    made.decoder.last_over_first = {last, last / 2.0, last * 2.0};
    return made;
}

}  // namespace

TEST_CASE("the depths measured end with the chosen one, each once") {
    CHECK(growth_depths(6) == std::vector<Index>{1, 2, 4, 6});
    CHECK(growth_depths(7) == std::vector<Index>{1, 2, 4, 6, 7});
    CHECK(growth_depths(1) == std::vector<Index>{1});
}

TEST_CASE("a choice becomes stacks whose heads divide their width") {
    for (const Index width : {16, 32, 64, 128, 256}) {
        GrowthChoice choice;
        choice.d_model = width;
        const GrowthSetting setting = growth_setting(choice);
        CHECK(setting.d_model % setting.nhead == 0);
        CHECK(setting.dim_feedforward == 4 * width);
        CHECK(setting.initialisation == Initialisation::xavier);
    }
    GrowthChoice choice;
    choice.d_model = 65;
    CHECK_THROWS(growth_setting(choice));
}

TEST_CASE("curves go by layer, or by depth with the last layer of each") {
    const std::vector<GradientGrowth> all = {growth(StackScheme::pre, 2, 0.5), growth(StackScheme::pre, 4, 0.5),
                                             growth(StackScheme::post, 2, 3.0), growth(StackScheme::post, 4, 3.0)};
    const std::vector<Chart> by_layer = growth_by_layer(all, {}, SpreadShown::no);
    REQUIRE(by_layer.size() == 1);  // none of an encoder
    REQUIRE(by_layer[0].curves.size() == 4);
    const std::vector<DepthPoint>& second = by_layer[0].curves[1].curve.points;
    REQUIRE(second.size() == 4);
    CHECK(second[3].depth == 3.5);
    CHECK(second[3].value == 4.0);
    const std::vector<Chart> spread = growth_by_layer(all, {}, SpreadShown::yes);
    CHECK(spread[0].curves.size() == 12);
    CHECK(spread[0].curves[3].curve.points[3].value == 0.5);
    const Chart by_depth = growth_by_depth(all, {});
    REQUIRE(by_depth.curves.size() == 6);
    CHECK(by_depth.curves[5].run == "Post-Norm");
    REQUIRE(by_depth.curves[5].curve.points.size() == 2);
    CHECK(by_depth.curves[5].curve.points[1].depth == 4.0);
    CHECK(by_depth.curves[5].curve.points[1].value == 4.0);
}

TEST_CASE("the sentence has the ratios with their spread; the caveat says what hides them") {
    const std::vector<GradientGrowth> all = {growth(StackScheme::pre, 6, 0.75), growth(StackScheme::post, 6, 4.8)};
    const std::string text = growth_sentence(all, {}).english();
    CHECK(text.find("4.8 times (from 2.4 to 9.6)") != std::string::npos);
    CHECK(text.find("0.75 times") != std::string::npos);
    CHECK(growth_caveat({.xavier = false}).english().find("PyTorch's default initialisation hides it") == 0);
    CHECK(growth_caveat({.encoder = false}).english().find("Without an encoder") == 0);
    CHECK(growth_objections().size() == 2);
}
