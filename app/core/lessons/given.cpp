#include "app/core/lessons/given.h"

#include "app/core/files/saved_session.h"
#include "app/core/files/session_file.h"
#include "app/core/lessons/page.h"
#include "engine/base/error.h"
#include "engine/base/json.h"

#include <array>
#include <ctime>
#include <filesystem>

namespace decoderscope::core::lessons {

std::string utc_text(std::chrono::system_clock::time_point when) {
    const std::time_t seconds = std::chrono::system_clock::to_time_t(when);
    std::tm utc{};
    if (gmtime_r(&seconds, &utc) == nullptr) return {};
    std::array<char, 32> text{};
    return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &utc)};
}

std::string run_text(const Scenario& scenario) {
    const files::SavedSession work{.scenario = scenario};
    return nlohmann::json::parse(files::session_text(files::session_file_of(work), "")).dump();
}

Scenario scenario_of_run(const std::string& run, const Scenario& opened) {
    const files::SavedRun saved = files::parse_session(run, "").run;
    // A lesson's own model lies elsewhere on another machine, and keeps its name.
    const auto name = [](const std::string& path) { return std::filesystem::path(path).filename(); };
    if (name(saved.model.name) != name(opened.model()->name))
        throw Error("{model}: expected the model that the lesson opens, {opened}",
                    {{"model", saved.model.name}, {"opened", opened.model()->name}});
    Scenario scenario = files::scenario_on(opened.model(), saved);
    if (constexpr Index kMost = 2048; scenario.inputs.tokens.size() > kMost)
        throw Error("{count} tokens; expected {most} at most",
                    {{"count", scenario.inputs.tokens.size()}, {"most", kMost}});
    scenario.gradients_of = opened.gradients_of;
    return scenario;
}

std::shared_ptr<const Scenario> opened_for(const Lesson& lesson, const Question& question) {
    const Place* place = place_before(lesson, question.id);
    if (place == nullptr) throw Error("no place with a model comes before the question");
    return std::make_shared<const Scenario>(scenario_of(*place, lesson.path));
}

Said said_of(const Asked& asked) {
    const Scope scope = asked.scope();
    return {language_of(asked.lesson), shown(asked.question.ask, scope), shown(asked.question.learned, scope)};
}

}  // namespace decoderscope::core::lessons
