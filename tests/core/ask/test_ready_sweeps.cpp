// Every ready sweep against the reference decoder in float64 (tests/reference/ready_sweeps.py), on three models.
#include "app/core/ask/question.h"
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/load/model.h"
#include "tests/catch.h"
#include "tests/sanitized.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

using namespace decoderscope::testing;
using namespace decoderscope::core::ask;

namespace {

// How many predictions change in each run, but for those in which two logits are too close.
void check_changes(const Sweep& sweep, const nlohmann::json& theirs) {
    REQUIRE(sweep.results.size() == theirs["runs"].get<std::size_t>());
    const auto unsure = theirs["unsure"].get<std::set<std::size_t>>();
    if (!sweep.predicts) CHECK(theirs["changed"].empty());  // only the row's own numbers vary
    for (std::size_t i = 0; i < sweep.results.size() && sweep.predicts; ++i) {
        INFO("run " << i << ": " << where_sentence(sweep, sweep.results[i]).english());
        REQUIRE(sweep.results[i].predictions_changed);
        if (unsure.contains(i)) continue;
        CHECK(*sweep.results[i].predictions_changed == theirs["changed"].value(std::to_string(i), Index{0}));
    }
}

// The row's numbers in all runs but those, one after the other, as two sums.
void check_row(const Sweep& sweep, const std::set<std::size_t>& but, const nlohmann::json& theirs) {
    double cosines = 0.0, sines = 0.0, at = 0.0;
    for (std::size_t i = 0; i < sweep.results.size(); ++i)
        for (const float number : but.contains(i) ? std::span<const float>() : sweep.results[i].value.values()) {
            at += 1.0;
            cosines += std::cos(at) * static_cast<double>(number);
            sines += std::sin(at) * static_cast<double>(number);
        }
    const double allowed = 1e-5 * theirs[3].get<double>() + 1e-6;
    CHECK(std::abs(cosines - theirs[1].get<double>()) <= allowed);
    CHECK(std::abs(sines - theirs[2].get<double>()) <= allowed);
}

// What is found is one of the numbers that there are; nothing is found only if there is none.
void check_found(const ShownSweep& answer, const std::vector<double>& theirs) {
    if (!answer.found) {
        INFO(answer.error.english());
        CHECK(theirs.empty());
        return;
    }
    const double found = answer.found->number.value();
    CHECK(std::ranges::any_of(theirs, [&](double one) { return std::abs(found - one) <= 1e-3 * one; }));
}

// A number for each tensor of weights, the largest first and named in the sentence.
void check_largest(const ShownSweep& answer, const std::map<std::string, double>& theirs) {
    CHECK(answer.sweep.results.size() == theirs.size());
    const auto largest = std::ranges::max_element(theirs, {}, [](const auto& one) { return one.second; });
    for (const Result& result : answer.sweep.results) {
        const std::string name = result.at[0].text.english();
        INFO(name);
        CHECK(number_of(result) == Approx(theirs.at(name)).epsilon(1e-4).margin(1e-7 * largest->second));
    }
    CHECK(answer.sweep.results[answer.order.front()].at[0].text.english() == largest->first);
    CHECK(summary_sentence(answer).english().find(largest->first) != std::string::npos);
}

}  // namespace

TEST_CASE("every ready sweep is what the reference decoder computes in float64, run by run", "[long]") {
    const nlohmann::json reference =
        nlohmann::json::parse(read_text(DECODERSCOPE_TESTS_DIR "/reference/ready_sweeps.json"));
    CHECK(reference.size() == ready_questions().size());
    for (const ReadyQuestion& one : ready_questions())  // a new one needs its own in ready_sweeps.py
        CHECK((reference.contains(one.title.english()) && !reference[one.title.english()].empty()));
    for (const std::string model : {"reverse", "verses", "experts"}) {
        Snapshot shown{.scenario = scenario_of(load::load_model(model)), .run = nullptr};
        shown.run = shown.unedited = execute(plan_of(shown.scenario));
        Derived derived;
        const auto training = training_of(derived, shown, {});
        std::set<std::string> answered_here, expected_here;
        for (const auto& [title, found] : reference.items())
            if (found.contains(model)) expected_here.insert(title);
        const Value<ReadyQuestions> ready = ready_questions(derived, shown, {"blocks.0.attn", {}}, training);
        for (const ReadyQuestion& one : ready->fitting) {
            const std::string title = one.title.english();
            INFO(model << ": " << title);
            answered_here.insert(title);
            const bool many = one.question.vary == "each neuron" || one.question.vary.starts_with("training");
            if (!reference[title].contains(model) || (testing::kSanitized && many)) continue;
            const nlohmann::json& theirs = reference[title][model];
            const ShownSweep answer = finished(answered(shown, one.question, nullptr, training));
            if (theirs.contains("found")) {
                check_found(answer, theirs["found"].get<std::vector<double>>());
                continue;
            }
            REQUIRE(answer.error.english() == "");
            if (theirs.contains("drawn")) {
                CHECK(answer.sweep.results.size() == theirs["drawn"].get<std::size_t>());
                continue;
            }
            if (theirs.contains("largest")) {
                check_largest(answer, theirs["largest"].get<std::map<std::string, double>>());
                continue;
            }
            check_changes(answer.sweep, theirs);
            const auto but = theirs["unsure"].get<std::set<std::size_t>>();
            if (theirs.contains("row")) check_row(answer.sweep, but, theirs["row"]);
        }
        INFO(model);
        CHECK(answered_here == expected_here);
    }
}
