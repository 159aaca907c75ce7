#include "app/core/lessons/progress.h"

#include "app/core/files/saved_session.h"
#include "app/core/files/session_file.h"
#include "app/core/files/settings.h"
#include "app/core/lessons/page.h"
#include "app/core/lessons/versions.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/json_object.h"
#include "engine/base/translate.h"
#include "engine/platform/process.h"
#include "engine/tensor/tensor.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <ostream>
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
    std::string operator()(const NumberAnswer& answer) const {
        const std::string number = shown_text(single(answer.number));
        return answer.typed.empty() ? number
                                    : tr("{number}, typed as “{text}”", {{"number", number}, {"text", answer.typed}});
    }
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
    std::string operator()(const FormulaAnswer& answer) const { return answer.formula; }
};

namespace fs = std::filesystem;
constexpr std::size_t kMostProgressBytes = std::size_t{64} << 20;
constexpr std::array kKinds = {"choice", "number", "point", "run", "bug", "formula"};

struct AsJson {
    nlohmann::ordered_json operator()(const ChosenAnswer& a) const {
        nlohmann::ordered_json json = {{"kind", "choice"}, {"choice", a.choice}};
        if (!a.says.empty()) json["says"] = a.says;
        return json;
    }
    nlohmann::ordered_json operator()(const NumberAnswer& a) const {
        nlohmann::ordered_json json = {{"kind", "number"}, {"number", a.number}};
        if (!a.typed.empty()) json["typed"] = a.typed;
        return json;
    }
    nlohmann::ordered_json operator()(const PointedAnswer& a) const {
        nlohmann::ordered_json json = {{"kind", "point"}, {"step", a.step}};
        if (a.cell) json["cell"] = *a.cell;
        return json;
    }
    nlohmann::ordered_json operator()(const RunAnswer&) const { return {{"kind", "run"}}; }
    nlohmann::ordered_json operator()(const BugAnswer& a) const {
        nlohmann::ordered_json json = {{"kind", "bug"}, {"step", a.step}, {"choice", a.choice}};
        if (!a.says.empty()) json["says"] = a.says;
        return json;
    }
    nlohmann::ordered_json operator()(const FormulaAnswer& a) const {
        return {{"kind", "formula"}, {"formula", a.formula}};
    }
};

// ---- every answer; a run is written once for those that follow one another on it

nlohmann::ordered_json json_of_given(const std::vector<GivenAnswer>& given) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    const std::string* last = nullptr;
    for (const GivenAnswer& one : given) {
        nlohmann::ordered_json& json = list.emplace_back();
        json["answer"] = json_of(one.answer);
        if (!one.time.empty()) json["time"] = one.time;
        if (last == nullptr || *last != one.run) json["run"] = nlohmann::ordered_json::parse(one.run, nullptr, false);
        last = &one.run;
    }
    return list;
}

std::vector<GivenAnswer> given_of(const Json& json) {
    if (!json.is_array()) throw Error("expected a list of answers");
    std::vector<GivenAnswer> all;
    for (const Json& one : json) {
        if (!one.is_object()) throw Error("expected a list of objects");
        JsonObject object(one, "given.");
        GivenAnswer given{answer_of(object.member("answer", message("an answer"))), "", object.text("time", "")};
        if (const Json* run = object.find("run"))
            given.run = run->dump();
        else if (!all.empty())
            given.run = all.back().run;
        all.push_back(std::move(given));
    }
    return all;
}

// ---- what was said

constexpr std::array kStyles = {"plain", "emphasis", "strong", "code"};  // by Span::Style

nlohmann::ordered_json json_of_shown(const Shown& text) {
    nlohmann::ordered_json spans = nlohmann::ordered_json::array();
    for (const ShownSpan& span : text) {
        nlohmann::ordered_json& json = spans.emplace_back();
        json["text"] = span.text;
        if (span.style != Span::Style::plain) json["style"] = kStyles[static_cast<std::size_t>(span.style)];
        if (!span.link.empty()) json["link"] = span.link;
        if (span.is_number) json["number"] = true;
        if (span.is_remark) json["remark"] = true;
    }
    return spans;
}

Shown shown_in(const Json& spans) {
    Shown text;
    for (const Json& json : spans) {
        if (!json.is_object()) throw Error("expected a list of objects");
        JsonObject object(json, "said.");
        ShownSpan span{.text = object.text("text"), .link = object.text("link", "")};
        if (object.find("style") != nullptr) span.style = static_cast<Span::Style>(object.word("style", kStyles));
        span.is_number = object.boolean("number", false);
        span.is_remark = object.boolean("remark", false);
        text.push_back(std::move(span));
    }
    return text;
}

Said said_in(const Json& json) {
    if (!json.is_object()) throw Error("expected what was said as an object");
    JsonObject object(json, "said.");
    return {object.text("language"), shown_in(object.list("ask")), shown_in(object.list("learned")),
            object.text("answer", "")};
}

QuestionProgress question_of(const Json& json) {
    JsonObject object(json, "");
    QuestionProgress question{.right = object.boolean("right"),
                              .tries = static_cast<int>(std::min<std::uint64_t>(object.whole("tries"), 1000000)),
                              .hints = std::min<std::size_t>(object.whole("hints"), kHints)};
    if (const Json* given = object.find("given")) question.given = given_of(*given);
    if (const Json* said = object.find("said")) question.said = said_in(*said);
    // Older files have the right answer only.
    if (const Json* answer = object.find("answer"))
        if (const Json* run = object.find("run")) question.given = {{answer_of(*answer), run->dump(), ""}};
    return question;
}

LessonProgress lesson_of(const Json& json) {
    LessonProgress progress;
    JsonObject object(json, "");
    progress.page = object.whole("page");
    if (object.find("round") != nullptr) progress.round = object.whole("round");
    const Json& questions = object.member("questions", message("an object"));
    for (const auto& [id, question] : questions.items()) progress.questions.emplace(id, question_of(question));
    return progress;
}

nlohmann::ordered_json json_of(const LessonProgress& lesson) {
    nlohmann::ordered_json questions = nlohmann::ordered_json::object();
    for (const auto& [id, question] : lesson.questions) {
        nlohmann::ordered_json& json =
            questions[id] = {{"right", question.right}, {"tries", question.tries}, {"hints", question.hints}};
        if (!question.given.empty()) json["given"] = json_of_given(question.given);
        if (question.said) {
            json["said"] = {{"language", question.said->language},
                            {"ask", json_of_shown(question.said->ask)},
                            {"learned", json_of_shown(question.said->learned)}};
            if (!question.said->answer.empty()) json["said"]["answer"] = question.said->answer;
        }
    }
    nlohmann::ordered_json json = {{"page", lesson.page}, {"questions", questions}};
    if (lesson.round > 0) json["round"] = lesson.round;
    return json;
}

// No question has this many choices, so anything larger is just as wrong.
std::size_t choice_of(JsonObject& object) {
    constexpr std::uint64_t kMost = 1000;
    return static_cast<std::size_t>(std::min(object.whole("choice"), kMost));
}

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
    return std::make_shared<const Scenario>(scenario_of(*place, lesson));
}

Said said_of(const Asked& asked, const Answer& answer) {
    const Scope scope = asked.scope();
    Said said{language_of(asked.lesson), shown(asked.question.ask, scope), near_enough(asked, answer)};
    for (ShownSpan& span : shown(asked.question.learned, scope)) said.learned.push_back(std::move(span));
    if (!std::holds_alternative<RunAnswer>(answer)) said.answer = answer_text(asked, answer, {.right = true});
    return said;
}

Answer with_words(const Question& question, Answer answer) {
    const std::vector<Choice>* choices = choices_of(question);
    const auto say = [&](auto& given) {
        if (choices != nullptr && given.choice < choices->size()) given.says = words_of((*choices)[given.choice]);
    };
    if (auto* chosen = std::get_if<ChosenAnswer>(&answer)) say(*chosen);
    if (auto* bug = std::get_if<BugAnswer>(&answer)) say(*bug);
    return answer;
}

std::string answer_text(const Asked& asked, const Answer& answer, const Verdict& verdict) {
    return std::visit(InWords{asked, verdict}, answer);
}

bool LessonProgress::solved(const std::string& question) const {
    const auto found = questions.find(question);
    return found != questions.end() && found->second.right;
}

std::size_t LessonProgress::solved_of(const Lesson& lesson) const {
    const auto all = questions_of(lesson);
    return static_cast<std::size_t>(
        std::ranges::count_if(all, [&](const Question* question) { return solved(question->id); }));
}

std::optional<std::size_t> answers_left(const Lesson& lesson, const Question& question,
                                        const LessonProgress& progress) {
    if (lesson.tries == 0 || std::holds_alternative<ByRun>(question.answer)) return std::nullopt;
    const auto found = progress.questions.find(question.id);
    const int given = found == progress.questions.end() ? 0 : found->second.tries;
    return static_cast<std::size_t>(std::max(lesson.tries - given, 0));
}

bool is_over(const Lesson& lesson, const Question& question, const LessonProgress& progress) {
    return progress.solved(question.id) || answers_left(lesson, question, progress) == std::size_t{0};
}

nlohmann::ordered_json json_of(const Answer& answer) { return std::visit(AsJson{}, answer); }

Answer answer_of(const nlohmann::json& json) {
    if (!json.is_object()) throw Error("expected an answer as an object");
    JsonObject object(json, "answer.");
    switch (object.word("kind", kKinds)) {
        case 0:
            return ChosenAnswer{choice_of(object), object.text("says", "")};
        case 1:
            return NumberAnswer{object.number("number"), object.text("typed", "")};
        case 2: {
            PointedAnswer answer{object.text("step"), std::nullopt};
            if (object.find("cell") != nullptr) answer.cell = object.indices("cell");
            return answer;
        }
        case 3:
            return RunAnswer{};
        case 4:
            return BugAnswer{object.text("step"), choice_of(object), object.text("says", "")};
        default:
            return FormulaAnswer{object.text("formula")};
    }
}

std::string progress_path() {
    const std::string settings = files::settings_path();
    return settings.empty() ? std::string() : (fs::path(settings).parent_path() / "lessons.json").string();
}

Progress read_progress(const std::string& path) {
    Progress progress;
    if (!is_there(path)) return progress;
    const std::string text = read_text(path, kMostProgressBytes);
    return naming(path, [&] {
        const Json json = parse_json(text, message("an object"));
        if (!json.is_object()) throw Error("expected an object");
        if (const auto learner = json.find("learner"); learner != json.end() && learner->is_object()) {
            JsonObject object(*learner, "learner.");
            progress.learner = {object.text("name", ""), object.find("seed") == nullptr ? 0 : object.whole("seed")};
        }
        if (const auto last = json.find("last"); last != json.end() && last->is_string()) progress.last = *last;
        // In older files the lessons are the whole file.
        const auto lessons = json.find("lessons");
        if (lessons != json.end() && !lessons->is_object()) throw Error("lessons: expected an object");
        for (const auto& [name, lesson] : (lessons == json.end() ? json : *lessons).items()) {
            try {
                progress.lessons.emplace(name, lesson_of(lesson));
            } catch (const Error&) {
                progress.others.emplace(name, lesson.dump());
            }
        }
        return progress;
    });
}

void save_progress(const std::string& path, const Progress& progress) {
    std::error_code failed;
    fs::create_directories(fs::path(path).parent_path(), failed);
    nlohmann::ordered_json json = {{"learner", {{"name", progress.learner.name}, {"seed", progress.learner.seed}}},
                                   {"lessons", nlohmann::ordered_json::object()}};
    if (!progress.last.empty()) json["last"] = progress.last;
    for (const auto& [name, lesson] : progress.others) json["lessons"][name] = nlohmann::ordered_json::parse(lesson);
    for (const auto& [name, lesson] : progress.lessons) json["lessons"][name] = json_of(lesson);
    const std::string text = json.dump(1, ' ', false, Json::error_handler_t::replace);
    write_whole(path, [&](std::ostream& out) { out << text << '\n'; });
}

}  // namespace decoderscope::core::lessons
