#include "app/core/lessons/given.h"

#include "app/core/files/saved_session.h"
#include "app/core/files/session_file.h"
#include "app/core/lessons/page.h"
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/base/translate.h"
#include "engine/platform/process.h"
#include "engine/tensor/tensor.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <utility>

namespace decoderscope::core::lessons {

namespace {

Shown near_enough(const Asked& asked, const Answer& answer) {
    const auto* by = std::get_if<ByNumber>(&asked.question.answer);
    const auto* given = std::get_if<NumberAnswer>(&answer);
    if (by == nullptr || given == nullptr) return {};
    const double exact = number_of(evaluate(*by->answer, asked.scope()));
    if (std::abs(given->number - exact) <= 0.01 * std::max(std::abs(exact), 0.5)) return {};
    const std::string sentence = tr("Near enough: it is {number}.", {{"number", shown_text(single(exact))}});
    return {{Span::Style::plain, sentence + " ", "", false}};
}

struct InWords {
    const Asked& asked;
    const Verdict& verdict;

    [[nodiscard]] std::string choice(const std::vector<Choice>& choices, std::size_t number) const {
        return plain_text(shown_choice(choices.at(number), asked.scope()));
    }
    std::string operator()(const ChosenAnswer& answer) const {
        return choice(std::get<ByChoice>(asked.question.answer).choices, answer.choice);
    }
    std::string operator()(const NumberAnswer& answer) const { return shown_text(single(answer.number)); }
    std::string operator()(const PointedAnswer& answer) const {
        return answer.cell ? cell_name(answer.step, *answer.cell) : answer.step;
    }
    std::string operator()(const RunAnswer&) const {
        if (verdict.right) return tr("done");
        if (!verdict.wrong) return tr("not done");
        return tr("mistake {number} of the lesson", {{"number", *verdict.wrong + 1}});
    }
    std::string operator()(const BugAnswer& answer) const {
        return (answer.step.empty() ? std::string(tr("No step")) : answer.step) + ": " +
               choice(std::get<ByBug>(asked.question.answer).choices, answer.choice);
    }
};

}  // namespace

std::string utc_text(std::chrono::system_clock::time_point when) {
    const auto utc = platform::utc_time(std::chrono::system_clock::to_time_t(when));
    if (!utc) return {};
    std::array<char, 32> text{};
    return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &*utc)};
}

std::string run_text(const Scenario& scenario) {
    const files::SavedSession work{.scenario = scenario};
    return nlohmann::json::parse(files::session_text(files::session_file_of(work), "")).dump();
}

Scenario scenario_of_run(const std::string& run, const Scenario& opened) {
    const files::SavedRun saved = files::parse_session(run, "").run;
    // A lesson's own model lies elsewhere on another machine, and keeps its name.
    const auto name = [](const std::string& path) { return std::filesystem::path(path).filename(); };
    if (name(saved.model.name) != name(opened.about().name))
        throw Error("{model}: expected the model that the lesson opens, {opened}",
                    {{"model", saved.model.name}, {"opened", opened.about().name}});
    Scenario scenario = files::scenario_on(opened.model(), saved);
    if (constexpr Index kMost = 2048; scenario.inputs.tokens.size() > kMost)
        throw Error("{count} tokens; expected {most} at most",
                    {{"count", scenario.inputs.tokens.size()}, {"most", kMost}});
    scenario.gradient_target = opened.gradient_target;
    return scenario;
}

std::shared_ptr<const Scenario> opened_for(const Lesson& lesson, const Question& question) {
    const Place* place = place_before(lesson, question.id);
    if (place == nullptr) throw Error("no place with a model comes before the question");
    return std::make_shared<const Scenario>(scenario_of(*place, lesson.path));
}

Said said_of(const Asked& asked, const Answer& answer) {
    const Scope scope = asked.scope();
    Said said{language_of(asked.lesson), shown(asked.question.ask, scope), near_enough(asked, answer)};
    for (ShownSpan& span : shown(asked.question.learned, scope)) said.learned.push_back(std::move(span));
    return said;
}

std::string answer_text(const Asked& asked, const Answer& answer, const Verdict& verdict) {
    return std::visit(InWords{asked, verdict}, answer);
}

}  // namespace decoderscope::core::lessons
