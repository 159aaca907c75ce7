// The layout of a chart, in pixels or in points.
#include "app/core/figure/chart.h"
#include "tests/catch.h"
#include "tests/engine/not_finite.h"

using namespace decoderscope::testing;

namespace {

DepthCurve curve(std::vector<double> values) {
    DepthCurve made;
    for (std::size_t i = 0; i < values.size(); ++i) made.points.push_back({static_cast<double>(i), values[i], ""});
    return made;
}

// 100 to 300 across, 50 to 150 down; 0 to 3 upwards.
ChartPlot plot_of(const DepthCurve& curve, Index blocks) {
    const DepthCurve* curves[] = {&curve};
    return {{100, 50, 200, 100}, axis_of_curves(curves, false), blocks};
}

}  // namespace

TEST_CASE("points lie in proportion to depth and value, from the bottom up") {
    const DepthCurve line = curve({0, 3, 1.5});
    const ChartPlot plot = plot_of(line, 2);
    CHECK(plot.axis.high == 3.0);
    const ChartStroke stroke = plot.stroke(line, 0.0, 14.0);
    REQUIRE(stroke.pieces.size() == 1);
    REQUIRE(stroke.pieces[0].size() == 3);
    CHECK(stroke.pieces[0][0].x == 100.0);
    CHECK(stroke.pieces[0][0].y == 150.0);
    CHECK(stroke.pieces[0][1].x == 200.0);
    CHECK(stroke.pieces[0][1].y == 50.0);
    CHECK(stroke.pieces[0][2].y == 100.0);
    const std::vector<ChartLabel> ticks = plot.ticks();
    REQUIRE(ticks.size() == 4);
    CHECK(ticks.front().text == "0");
    CHECK(ticks.front().at == 150.0);
    CHECK(ticks.back().text == "3");
    CHECK(ticks.back().at == Approx(50.0));
}

TEST_CASE("a number that isn't finite is a gap, and a point alone has a dot but no stroke") {
    const DepthCurve line = curve({1, 2, kNan, 3, kNan, 2, 1});
    const ChartStroke stroke = plot_of(line, 6).stroke(line, 0.0, 14.0);
    REQUIRE(stroke.pieces.size() == 2);
    CHECK(stroke.pieces[0].size() == 2);
    CHECK(stroke.pieces[1].size() == 2);
    CHECK(stroke.dots.size() == 5);
}

TEST_CASE("dots go where they crowd, and the same point twice is one where that is asked for") {
    const DepthCurve line = curve({1, 2, 3, 2, 1});
    CHECK(plot_of(line, 4).stroke(line, 0.0, 40.0).dots.size() == 5);
    CHECK(plot_of(line, 4).stroke(line, 0.0, 40.1).dots.empty());
    DepthCurve twice = line;
    twice.points.insert(twice.points.begin() + 1, twice.points.front());
    CHECK(plot_of(line, 4).stroke(twice, 0.0, 1.0).dots.size() == 6);
    CHECK(plot_of(line, 4).stroke(twice, 0.5, 1.0).dots.size() == 5);
}

TEST_CASE("block numbers are thinned until each has room") {
    const DepthCurve line = curve({0, 3});
    const auto texts = [&](double room) {
        std::vector<std::string> found;
        for (const ChartLabel& label : plot_of(line, 12).labels(room)) found.push_back(label.text);
        return found;
    };
    CHECK(texts(10).size() == 13);
    CHECK(texts(20) == std::vector<std::string>{"0", "2", "4", "6", "8", "10", "12"});
    CHECK(texts(90) == std::vector<std::string>{"0", "6", "12"});
    CHECK(plot_of(line, 12).labels(90)[1].at == 200.0);
}
