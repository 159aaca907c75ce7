// Weights that only rounding made 0 are told from those that a mask hides, and from those that are 0.
#include "app/core/figure/heatmap_image.h"
#include "app/core/figure/said.h"
#include "app/core/run/slice.h"
#include "app/core/session/session.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/core/session/apply.h"
#include "tests/engine/contains.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

using namespace decoderscope::testing;

namespace {

const std::string kWeights = "blocks.0.attn.pattern", kMaskedScores = "blocks.0.attn.masked_scores";

Heatmap picture_in(const Session& session, const std::string& step) {
    const Run& run = *session.shown().run;
    return heatmap_of(session.shown().scenario, run, *run.plan().find(step), {});
}

// A model whose scores are twenty times as large, which leaves most weights very small.
struct Sharp {
    Session session{load::make_bundled_model("verses")};

    explicit Sharp(const std::string& arithmetic) {
        apply(session, command::SetOption{"attention_scale", "5"});
        apply(session, command::SetOption{"arithmetic", arithmetic});
    }
};

// The softmax of a row of scores, in double. What is masked is −∞.
std::vector<double> softmax_of_row(const Heatmap& scores, Index row) {
    std::vector<double> weights;
    double sum = 0.0, largest = -INFINITY;
    for (Index key = 0; key < scores.columns; ++key)
        largest = std::max(largest, static_cast<double>(scores.at(row, key)));
    for (Index key = 0; key < scores.columns; ++key) {
        weights.push_back(std::exp(static_cast<double>(scores.at(row, key)) - largest));
        sum += weights.back();
    }
    for (double& weight : weights) weight /= sum;
    return weights;
}

}  // namespace

TEST_CASE("a weight below half of float16's smallest number has vanished, and is marked") {
    const Sharp sharp("float16");
    const Heatmap scores = picture_in(sharp.session, kMaskedScores), pattern = picture_in(sharp.session, kWeights);
    constexpr double kHalfOfSmallest = 1.0 / (1 << 25);  // 2⁻²⁴ is the smallest; of a tie, 0 is the even one
    Index vanished = 0;
    for (Index row = 0; row < pattern.rows; ++row) {
        const std::vector<double> exact = softmax_of_row(scores, row);
        for (Index key = 0; key < pattern.columns; ++key) {
            const auto at = static_cast<std::size_t>(row * pattern.columns + key);
            const double weight = exact[static_cast<std::size_t>(key)];
            // At the border, and where float32 has no normal numbers, which way it rounds isn't certain.
            if (std::abs(weight / kHalfOfSmallest - 1.0) < 1e-4 || (weight > 0.0 && weight < 1e-37)) continue;
            const bool expected = weight > 0.0 && weight < kHalfOfSmallest;
            INFO(row << ", " << key << ": " << weight);
            CHECK(pattern.has_vanished(at) == expected);
            if (expected) CHECK(pattern.values[at] == 0.0F);
            vanished += expected ? 1 : 0;
        }
    }
    REQUIRE(vanished > 3);
    CHECK(marks_in(pattern).marks == std::vector{Mark::vanished});
    CHECK(picture_in(Sharp("float32").session, kWeights).vanished.empty());
    std::string all;
    for (const Sentence& sentence : said({.title = kWeights, .panels = {panel_of("pattern", pattern)}}))
        all += tr(sentence) + std::string(" ");
    CHECK(contains(all, std::to_string(std::ranges::count(pattern.vanished, 1)) + " numbers were rounded to 0."));
}

TEST_CASE("a pixel of zeros of which one has vanished is marked; any other number hides it") {
    Heatmap heatmap{.rows = 1, .columns = 4, .values = {0.0F, 0.0F, 0.0F, 0.5F}, .scale = Scale::sequential};
    heatmap.vanished = {0, 1, 0, 0};
    const auto colors = [&](Index width) {
        return reduced_colors(heatmap, {0, 0, 1, 4}, 1, width, ColorMap::viridis, true);
    };
    const Rgba marked = mark_color(Mark::vanished, ColorMap::viridis, true);
    CHECK(colors(4)[1] == marked);
    CHECK(colors(4)[0] != marked);
    CHECK(colors(2)[0] == marked);
    CHECK(colors(2)[1] != marked);
    CHECK(colors(1)[0] == cell_color(heatmap, 0, 3, ColorMap::viridis, true));
    CHECK(cell_color(heatmap, 0, 1, ColorMap::viridis, true) == marked);
}

TEST_CASE("a number that an edit sets to 0 has not vanished") {
    Sharp sharp("float16");
    const Heatmap before = picture_in(sharp.session, kWeights);
    const auto row = std::span(before.values).subspan(static_cast<std::size_t>(5 * before.columns), 6);
    const auto key = std::ranges::max_element(row) - row.begin();
    apply(sharp.session, command::MakeEdit{SetCell{kWeights, {0, 0, 5, key}, 0.0F}});
    const Heatmap pattern = picture_in(sharp.session, kWeights);
    CHECK(pattern.at(5, key) == 0.0F);
    CHECK_FALSE(pattern.has_vanished(static_cast<std::size_t>(5 * pattern.columns + key)));
}
