// Bisect on traces of PyTorch modules (tests/reference/bugs): with one mistake each, and right but written otherwise.
#include "app/core/bisect/bisection.h"
#include "app/core/bisect/bisection_text.h"
#include "app/core/bisect/trace_inputs.h"
#include "engine/error.h"
#include "engine/file.h"
#include "engine/json.h"
#include "engine/model/bundled.h"
#include "engine/model/model.h"
#include "engine/model/safetensors.h"
#include "tests/catch.h"
#include "tests/engine/temporary_folder.h"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>

using namespace decoderscope;
using namespace decoderscope::testing;

namespace {

using Json = nlohmann::json;

const std::string kBugs = DECODERSCOPE_TESTS_DIR "/reference/bugs/";

struct Case {
    std::string way, name, cause, first;  // the last two are empty where nothing is wrong
    [[nodiscard]] bool is_right() const { return cause.empty(); }
};

std::vector<Case> cases() {
    std::vector<Case> all;
    for (const Json& entry : Json::parse(read_text(kBugs + "cases.json")))
        all.push_back({entry["way"], entry["case"], entry["cause"].is_null() ? "" : std::string(entry["cause"]),
                       entry["first"].is_null() ? "" : std::string(entry["first"])});
    return all;
}

Overrides settings_of(const std::string& way) {
    Overrides settings;
    for (const auto& [key, value] : Json::parse(read_text(kBugs + "traces/" + way + "/set.json")).items())
        settings.emplace_back(key, value.is_string() ? value.get<std::string>() : value.dump());
    return settings;
}

// The way's model, written as it should be, on what the recorded one was given.
Scenario scenario_for(const std::string& way, const Trace& trace) {
    static std::map<std::string, std::shared_ptr<const Model>> models;
    auto& model = models[way];
    if (!model) model = load_model(kBugs + "traces/" + way + "/model.safetensors", settings_of(way));
    Scenario scenario = scenario_of(model);
    scenario.inputs = inputs_of_trace(trace, scenario.config());
    check_inputs(scenario.inputs, scenario.config());
    return scenario;
}

Bisection bisected(const Case& wanted) {
    const Trace trace = open_trace(kBugs + "traces/" + wanted.way + "/" + wanted.name + ".safetensors");
    return bisect(scenario_for(wanted.way, trace), trace);
}

std::string first_of(const Bisection& bisection) {
    return bisection.first ? bisection.checks[*bisection.first].ours : std::string();
}

std::string cause_of(const Bisection& bisection) {
    return bisection.causes.empty() || !bisection.causes.front().explains ? std::string()
                                                                          : bisection.causes.front().name;
}

std::string short_measure(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.0e", value);
    return text;
}

}  // namespace

TEST_CASE("bisect names the first wrong tensor and the cause of nine bugs in ten") {
    std::size_t bugs = 0, named = 0;
    std::string missed;
    for (const Case& wanted : cases()) {
        if (wanted.is_right()) continue;
        ++bugs;
        const Bisection found = bisected(wanted);
        INFO(wanted.way << " " << wanted.name);
        CHECK(found.first);  // every bug raises an alarm
        const bool right = first_of(found) == wanted.first && cause_of(found) == wanted.cause;
        named += right ? 1 : 0;
        if (!right)
            missed += wanted.way + " " + wanted.name + ": " + first_of(found) + ", " + cause_of(found) + "; expected " +
                      wanted.first + ", " + wanted.cause + "\n";
    }
    INFO(missed);
    CHECK(bugs >= 24);
    CHECK(10 * named >= 9 * bugs);
    if (!missed.empty()) std::cout << missed;
}

TEST_CASE("bisect raises no alarm where a decoder is only written otherwise") {
    std::size_t rights = 0;
    for (const Case& wanted : cases()) {
        if (!wanted.is_right()) continue;
        ++rights;
        const Bisection found = bisected(wanted);
        INFO(wanted.way << " " << wanted.name << "\n" << bisection_text(found));
        CHECK(!found.first);
        CHECK(found.agreed_before > 10);
    }
    CHECK(rights >= 20);
}
