// What a model's configuration could be instead, with the same weights and input.
#include "app/core/run/settings_that_fit.h"
#include "engine/graph/run.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"

#include <algorithm>
#include <array>
#include <memory>
#include <set>

using namespace decoderscope::testing;

namespace {

std::vector<Setting> settings_of(const Scenario& scenario) { return finished(settings_that_fit(scenario)); }

const Setting* find(const std::vector<Setting>& settings, std::string_view key) {
    const auto found = std::ranges::find(settings, key, &Setting::key);
    return found == settings.end() ? nullptr : &*found;
}

}  // namespace

TEST_CASE(
    "every configuration that is offered can be run and is another, and those that are compared keep the shapes") {
    for (const BundledModel& model : bundled_models()) {
        INFO(model.name);
        const Scenario scenario = scenario_of(make_bundled_model(model.name));
        const std::vector<Setting> settings = settings_of(scenario);
        const Overrides alike = alternatives_among(settings);
        CHECK(alike.size() >= 5);
        const auto now = plan_of(scenario);
        for (const Setting& setting : settings) {
            CHECK(setting.value == setting.own);
            for (const std::string& value : setting.others) {
                INFO(setting.key << " = " << value);
                CHECK(why_not(scenario, setting.key, value).empty());
                const Scenario other = with_override(scenario, setting.key, value);
                CHECK_FALSE(other.config() == scenario.config());
                const auto plan = plan_of(other);
                if (std::ranges::find(setting.alike, value) == setting.alike.end()) continue;
                for (const Step& step : now->steps())
                    if (const Ref twin = plan->find(step.name)) CHECK(twin->axes == step.axes);
            }
        }
    }
}

TEST_CASE("what needs other weights or changes nothing isn't offered, and what is said twice is offered once") {
    Scenario scenario = scenario_of(make_bundled_model("reverse"));
    const std::vector<Setting> settings = settings_of(scenario);
    for (const char* key : {"d_model", "vocab_size", "gated_mlp", "rope_theta", "logit_soft_capping", "norm_first"})
        CHECK(find(settings, key) == nullptr);
    for (const char* key : {"sliding_window", "attention_scale", "layer_norm_eps", "mask_value", "norm_placement",
                            "norm", "causal", "activation", "dropout"})
        CHECK(find(settings, key) != nullptr);
    CHECK(find(settings, "causal")->is_switch());
    CHECK_FALSE(why_not(scenario, "sliding_window", "many").empty());
    CHECK_FALSE(why_not(scenario, "d_model", "7").empty());
    // What was changed is offered back.
    scenario = with_override(scenario, "sliding_window", "3");
    const std::vector<Setting> changed = settings_of(scenario);
    const Setting* window = find(changed, "sliding_window");
    REQUIRE(window != nullptr);
    CHECK(window->is_changed());
    CHECK(window->value == "3");
    CHECK(window->own == "0");
    CHECK(std::ranges::find(window->others, "0") != window->others.end());
    CHECK(find(changed, "sliding_window_layers") != nullptr);  // without a window it would change nothing
    CHECK(find(settings, "sliding_window_layers") == nullptr);
}

TEST_CASE("a number that a key can be given is told from the others, and sets what it says; a model's own comes back") {
    static constexpr std::array kUsual = {"0.01", "1", "1e-5"};
    for (const char* own : {"1e-5", "9.99999974738e-06", "0.01", "9.999999747378752e-06", "0.010000000000000002"}) {
        load::Model model = *make_bundled_model("verses");
        model.config_json = config_to_json(parse_config(model.config_json, {{"layer_norm_eps", own}}));
        const auto opened = std::make_shared<const load::Model>(std::move(model));
        for (const char* now : {"1e-05", "9.99999974738e-06", "0.3", own}) {
            INFO(own << " -> " << now);
            const Scenario scenario = with_override(scenario_of(opened), "layer_norm_eps", now);
            Derived derived;
            const auto choices = number_choices(derived, scenario, "layer_norm_eps", kUsual);
            std::set<std::string> labels;
            std::set<double> numbers;
            for (const NumberChoice& choice : choices->all) {
                labels.insert(choice.label);
                const double set = with_override(scenario, "layer_norm_eps", choice.written).config().layer_norm_eps;
                CHECK(set == choice.number);
                numbers.insert(set);
            }
            CHECK(labels.size() == choices->all.size());
            CHECK(numbers.size() == choices->all.size());
            CHECK(choices->all.front().number == opened->config().layer_norm_eps);
            CHECK(choices->all[choices->now].number == scenario.config().layer_norm_eps);
        }
    }
}
