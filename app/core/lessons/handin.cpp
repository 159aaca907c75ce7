#include "app/core/lessons/handin.h"

#include "app/core/files/saved_session.h"
#include "app/core/files/session_file.h"
#include "app/core/lessons/library.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/json_object.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <system_error>

namespace decoderscope::core::lessons {

namespace {

constexpr std::string_view kFormat = "decoderscope-handin";
constexpr std::uint64_t kVersion = 1;
constexpr std::size_t kMostHandinBytes = std::size_t{64} << 20;

// One answer of the file.
struct HandedIn {
    Answer answer;
    std::string run;
    int tries = 0;
    std::size_t hints = 0;
};

std::map<std::string, HandedIn> read_answers(JsonObject& file) {
    std::map<std::string, HandedIn> answers;
    for (const Json& json : file.list("answers")) {
        if (!json.is_object()) file.fail("answers", message("expected a list of objects"));
        JsonObject object(json, "answers.");
        const std::string question = object.text("question");
        HandedIn handed{.answer = answer_of(object.member("answer", message("an answer"))),
                        .run = object.member("run", message("a session")).dump(),
                        .tries = static_cast<int>(std::min<std::uint64_t>(object.whole("tries"), 1000000)),
                        .hints = static_cast<std::size_t>(std::min<std::uint64_t>(object.whole("hints"), kHints))};
        object.finish();
        answers.insert_or_assign(question, std::move(handed));
    }
    return answers;
}

// Whether it is the model that the place opens: a learner's own model proves nothing.
void check_model(const Scenario& opened, const Scenario& run) {
    const auto& ours = opened.model()->weights;
    const auto& theirs = run.model()->weights;
    const bool same =
        ours.size() == theirs.size() && std::ranges::equal(ours, theirs, [](const auto& a, const auto& b) {
            return a.first == b.first && a.second.axes() == b.second.axes() &&
                   std::ranges::equal(a.second.values(), b.second.values());
        });
    if (!same)
        throw Error("{model}: expected the model that the lesson opens, {opened}",
                    {{"model", run.about().name}, {"opened", opened.about().name}});
}

JudgedAnswer judged(const Lesson& lesson, const Question& question, const HandedIn& handed) {
    JudgedAnswer result{.question = question.id, .given = true, .tries = handed.tries, .hints = handed.hints};
    try {
        const Place* place = place_before(lesson, question.id);
        if (place == nullptr) throw Error("no place with a model comes before the question");
        const auto opened = std::make_shared<const Scenario>(scenario_of(*place, lesson.path));
        const files::SavedSession work = files::open_session(files::parse_session(handed.run, ""), "run");
        check_model(*opened, work.scenario);
        Scenario scenario = work.scenario;
        scenario.gradients_of = opened->gradients_of;
        Runs runs(std::move(scenario), nullptr, opened);
        const Verdict verdict = judge({lesson, question, runs, opened.get()}, handed.answer);
        result.right = verdict.right;
        if (!verdict.right && !verdict.replies.empty()) result.why = plain_text(verdict.replies.back());
    } catch (const Error& error) {
        result.why = error.what();
    }
    return result;
}

}  // namespace

std::string handin_text(const Lesson& lesson, const LessonProgress& progress) {
    nlohmann::ordered_json answers = nlohmann::ordered_json::array();
    for (const Question* question : questions_of(lesson)) {
        const auto found = progress.questions.find(question->id);
        if (found == progress.questions.end() || !found->second.answer) continue;
        answers.push_back({{"question", question->id},
                           {"answer", json_of(*found->second.answer)},
                           {"tries", found->second.tries},
                           {"hints", found->second.hints},
                           {"run", nlohmann::ordered_json::parse(found->second.run, nullptr, false)}});
    }
    const nlohmann::ordered_json file = {
        {"format", kFormat}, {"version", kVersion}, {"lesson", lesson.name}, {"answers", answers}};
    return file.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string handin_path(const std::string& folder, const Lesson& lesson, const std::string& text) {
    namespace fs = std::filesystem;
    const std::string name = "decoderscope-" + fs::path(lesson.name).stem().string();
    const auto is_this = [&](const fs::path& path) {
        try {
            return read_text(path.string(), kMostHandinBytes) == text;
        } catch (const Error&) {
            return false;
        }
    };
    for (int number = 1;; ++number) {
        const fs::path path = fs::path(folder) / (name + (number > 1 ? "-" + std::to_string(number) : "") + ".json");
        std::error_code unknown;
        if (!fs::exists(fs::symlink_status(path, unknown)) || is_this(path)) return path.string();
    }
}

std::size_t JudgedHandin::right() const {
    return static_cast<std::size_t>(std::ranges::count_if(answers, &JudgedAnswer::right));
}

JudgedHandin judge_handin(const std::string& path) {
    return naming(path, [&] {
        const Json json = parse_json(read_text(path, kMostHandinBytes), message("what \"Hand in\" wrote"));
        if (!json.is_object()) throw Error("expected what \"Hand in\" wrote");
        JsonObject file(json, "");
        static_cast<void>(file.word("format", std::array{kFormat}));
        if (file.whole("version") != kVersion)
            throw Error("version: expected {version}", {{"version", std::to_string(kVersion)}});
        const std::shared_ptr<const Lesson> lesson = find_lesson(file.text("lesson"));
        const std::map<std::string, HandedIn> answers = read_answers(file);
        file.finish();
        JudgedHandin all{.lesson = lesson->name, .title = plain_text(lesson->title)};
        for (const Question* question : questions_of(*lesson)) {
            const auto found = answers.find(question->id);
            all.answers.push_back(found == answers.end() ? JudgedAnswer{.question = question->id}
                                                         : judged(*lesson, *question, found->second));
        }
        return all;
    });
}

}  // namespace decoderscope::core::lessons
