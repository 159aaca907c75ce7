// The page of gradients: what is measured, its curves and its sentences.
#include "app/core/compare/growth.h"
#include "tests/catch.h"

using namespace decoderscope;
using namespace decoderscope::core::norms;
using namespace decoderscope::decoder;

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
