// The sliding window is a mask of its own: beside the others, in hatching, words and exports.
#include "app/core/figure/csv_and_json.h"
#include "app/core/figure/heatmap_image.h"
#include "app/core/run/slice.h"
#include "app/core/tabs/masks/shown_masks.h"
#include "tests/catch.h"
#include "tests/engine/contains.h"

#include <algorithm>

using namespace decoderscope;
using namespace decoderscope::core::masks;
using namespace decoderscope::core;
using namespace decoderscope::load;
using decoderscope::testing::contains;

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
