#include "app/core/lessons/handin.h"

#include "app/core/files/checksum.h"
#include "app/core/lessons/library.h"
#include "app/core/lessons/typed_number.h"
#include "app/core/lessons/versions.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/json_object.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <exception>
#include <filesystem>
#include <span>
#include <system_error>
#include <utility>

namespace decoderscope::core::lessons {

namespace {

constexpr std::string_view kFormat = "decoderscope-handin";
constexpr std::uint64_t kVersion = 3;
constexpr std::uint64_t kReadsGroups = 3;  // from this version on, 4,096 is 4096
constexpr std::size_t kMostHandinBytes = std::size_t{64} << 20;

// For a lesson from elsewhere, only its file's name: its folder is the learner's own business.
std::string known_name(const Lesson& lesson) {
    return lesson.bundled ? lesson.name : std::filesystem::path(lesson.name).filename().string();
}

// The checksum of all that a hand-in says, however it is laid out. It reveals an edit by hand, but not one that
// computes the checksum anew.
std::string checksum_of_answers(Json file) {
    file.erase("checksum");
    const std::string text = file.dump(-1, ' ', false, Json::error_handler_t::replace);
    return files::checksum_of(std::as_bytes(std::span(text)));
}

// A learner's name as a part of a file's: letters, digits and other characters that every system allows; the rest
// become "-".
std::string in_file_name(const std::string& name) {
    std::string part;
    for (const char c : name) {
        const auto byte = static_cast<unsigned char>(c);
        const bool fine = byte >= 0x80 || std::isalnum(byte) != 0;
        if (fine || (!part.empty() && part.back() != '-')) part += fine ? c : '-';
    }
    while (!part.empty() && part.back() == '-') part.pop_back();
    return part;
}

std::size_t hints_in(JsonObject& object) {
    return static_cast<std::size_t>(std::min<std::uint64_t>(object.whole("hints"), kHints));
}

// Version 1 has the right answer only, with its run; of the others, how many there were.
Handin::Handed handed_in_version_1(JsonObject& object) {
    Handin::Handed handed{.hints = hints_in(object),
                          .tries = static_cast<int>(std::min<std::uint64_t>(object.whole("tries"), 1000000)),
                          .complete = false,
                          .old_numbers = true};
    handed.given.push_back({answer_of(object.member("answer", message("an answer"))),
                            object.member("run", message("a session")).dump(), ""});
    return handed;
}

Handin::Handed handed_in(JsonObject& object, const std::vector<std::string>& runs, bool old_numbers) {
    Handin::Handed handed{.hints = hints_in(object), .old_numbers = old_numbers};
    for (const Json& json : object.list("given")) {
        if (!json.is_object()) object.fail("given", message("expected a list of objects"));
        JsonObject one(json, "given.");
        const std::uint64_t run = one.whole("run");
        if (run >= runs.size())
            one.fail("run", message("{number}; expected less than {count}", {{"number", run}, {"count", runs.size()}}));
        handed.given.push_back({answer_of(one.member("answer", message("an answer"))), runs[run], one.text("time")});
        one.finish();
    }
    handed.tries = static_cast<int>(handed.given.size());
    return handed;
}

// A number that was read when a comma always stood before a fraction, as if it had stood between groups of
// digits: 4.096 was typed as 4,096. Nothing if it can't have been.
std::optional<GivenAnswer> with_groups(GivenAnswer given) {
    auto* answer = std::get_if<NumberAnswer>(&given.answer);
    if (answer == nullptr) return {};
    const std::string digits = TypedNumber{answer->number}.read_as();
    const std::size_t point = digits.find('.');
    if (point == std::string::npos || digits.size() != point + 4) return {};
    std::string typed = digits;
    typed[point] = ',';
    const std::optional<TypedNumber> read = typed_number(typed, {});
    if (!read) return {};
    *answer = {read->number, typed};
    return given;
}

Handin handin_in(JsonObject& file, std::string& checksum) {
    Handin handin;
    static_cast<void>(file.word("format", std::array{kFormat}));
    const std::uint64_t version = file.whole("version");
    if (version < 1 || version > kVersion)
        throw Error("version: {given}; expected 1 to {known}", {{"given", version}, {"known", kVersion}});
    std::vector<std::string> runs;
    if (version == 1) {
        handin.lesson = file.text("lesson");
    } else {
        handin.learner = file.text("learner");
        handin.time = file.text("time");
        handin.seed = file.whole("seed");
        if (file.find("round") != nullptr) handin.round = file.whole("round");
        JsonObject lesson = file.object("lesson");
        handin.lesson = lesson.text("name");
        handin.title = lesson.text("title");
        handin.digest = lesson.text("digest");
        lesson.finish();
        for (const Json& run : file.list("runs")) runs.push_back(run.dump());
        checksum = file.text("checksum");
    }
    for (const Json& json : file.list("answers")) {
        if (!json.is_object()) file.fail("answers", message("expected a list of objects"));
        JsonObject object(json, "answers.");
        const std::string question = object.text("question");
        handin.answers.insert_or_assign(
            question, version == 1 ? handed_in_version_1(object) : handed_in(object, runs, version < kReadsGroups));
        object.finish();
    }
    file.finish();
    return handin;
}

}  // namespace

std::string handin_text(const Lesson& lesson, const LessonProgress& progress, const Learner& learner) {
    std::vector<std::string> runs;  // each is written once
    const auto number_of_run = [&](const std::string& run) {
        const auto found = std::ranges::find(runs, run);
        const auto number = static_cast<std::size_t>(found - runs.begin());
        if (found == runs.end()) runs.push_back(run);
        return number;
    };
    nlohmann::ordered_json answers = nlohmann::ordered_json::array();
    for (const Question* question : questions_of(lesson)) {
        const auto found = progress.questions.find(question->id);
        if (found == progress.questions.end() || found->second.given.empty()) continue;
        nlohmann::ordered_json given = nlohmann::ordered_json::array();
        for (const GivenAnswer& one : found->second.given)
            given.push_back({{"answer", json_of(one.answer)}, {"time", one.time}, {"run", number_of_run(one.run)}});
        answers.push_back({{"question", question->id}, {"hints", found->second.hints}, {"given", given}});
    }
    nlohmann::ordered_json all_runs = nlohmann::ordered_json::array();
    for (const std::string& run : runs) all_runs.push_back(nlohmann::ordered_json::parse(run, nullptr, false));
    nlohmann::ordered_json file = {
        {"format", kFormat},
        {"version", kVersion},
        {"learner", learner.name},
        {"time", utc_text(std::chrono::system_clock::now())},
        {"seed", learner.seed},
        {"round", progress.round},
        {"lesson", {{"name", known_name(lesson)}, {"title", plain_text(lesson.title)}, {"digest", lesson.digest}}},
        {"answers", answers},
        {"runs", all_runs}};
    const auto text = [&] { return file.dump(1, ' ', false, Json::error_handler_t::replace); };
    file["checksum"] = checksum_of_answers(Json::parse(text()));
    return text() + "\n";
}

std::string handin_path(const std::string& folder, const Lesson& lesson, const std::string& learner,
                        const std::string& text) {
    namespace fs = std::filesystem;
    const std::string who = in_file_name(learner);
    const std::string name = "decoderscope-" + fs::path(lesson.name).stem().string() + (who.empty() ? "" : "-" + who);
    const auto is_this = [&](const fs::path& path) {
        return made_or(false, [&] { return read_text(path.string(), kMostHandinBytes) == text; });
    };
    for (int number = 1;; ++number) {
        const fs::path path = fs::path(folder) / (name + (number > 1 ? "-" + std::to_string(number) : "") + ".json");
        std::error_code unknown;
        if (!fs::exists(fs::symlink_status(path, unknown)) || is_this(path)) return path.string();
    }
}

Handin read_handin(const std::string& path) {
    return naming(path, [&] {
        const Json json = parse_json(read_text(path, kMostHandinBytes), message("what \"Hand in\" wrote"));
        if (!json.is_object()) throw Error("expected what \"Hand in\" wrote");
        JsonObject file(json, "");
        std::string checksum;
        Handin handin = handin_in(file, checksum);
        handin.is_edited = !checksum.empty() && checksum != checksum_of_answers(json);
        return handin;
    });
}

bool is_of(const Handin& handin, const Lesson& lesson) {
    if (!handin.digest.empty() && handin.digest == lesson.digest) return true;
    if (lesson.bundled) return handin.lesson == lesson.name;
    // Version 1 knows a lesson from elsewhere by its path.
    return handin.digest.empty() && std::filesystem::path(handin.lesson).filename() == known_name(lesson);
}

// ---- judging

// What the lesson has opened for a question, and the run that was judged last.
struct HandinJudge::Stage {
    std::shared_ptr<const Scenario> opened;
    std::unique_ptr<Runs> untouched;
    std::string untouched_text;
    std::unique_ptr<Runs> last;
    std::string last_text;

    [[nodiscard]] Runs& runs_of(const std::string& text) {
        if (text == untouched_text) {
            if (!untouched) untouched = std::make_unique<Runs>(*opened, nullptr, opened);
            return *untouched;
        }
        if (!last || text != last_text) {
            last = std::make_unique<Runs>(scenario_of_run(text, *opened), nullptr, opened);
            last_text = text;
        }
        return *last;
    }
};

HandinJudge::HandinJudge(std::shared_ptr<const Lesson> lesson) : lesson_(std::move(lesson)) {}
HandinJudge::~HandinJudge() = default;

HandinJudge::Stage& HandinJudge::stage_of(const Question& question) {
    std::unique_ptr<Stage>& stage = stages_[question.id];
    if (stage) return *stage;
    std::shared_ptr<const Scenario> opened = opened_for(*lesson_, question);
    std::string text = run_text(*opened);
    stage = std::make_unique<Stage>(Stage{std::move(opened), nullptr, std::move(text), nullptr, {}});
    return *stage;
}

JudgedTry HandinJudge::judged(const Question& question, const GivenAnswer& given) {
    const std::string key = question.id + '\n' + given.run + '\n' + json_of(given.answer).dump();
    if (const auto found = known_.find(key); found != known_.end()) return found->second;
    JudgedTry result;
    try {
        Stage& stage = stage_of(question);
        const Asked asked{*lesson_, question, stage.runs_of(given.run), stage.opened.get()};
        const Verdict verdict = lessons::judge(asked, given.answer);
        result.right = verdict.right;
        result.said = answer_text(asked, given.answer, verdict);
        if (!verdict.right && !verdict.replies.empty()) result.why = plain_text(verdict.replies.back());
    } catch (const std::exception& error) {
        result.why = error.what();
    }
    if (result.said.empty()) result.said = tr("an answer that can't be judged");
    return known_.emplace(key, std::move(result)).first->second;
}

JudgedAnswer HandinJudge::judged(const Question& question, const Handin::Handed& handed) {
    JudgedAnswer result{.question = question.id,
                        .given = !handed.given.empty(),
                        .tries = handed.tries,
                        .hints = handed.hints,
                        .complete = handed.complete};
    const bool limited = lesson_->tries > 0 && !std::holds_alternative<ByRun>(question.answer);
    const std::size_t most = limited ? static_cast<std::size_t>(lesson_->tries) : handed.given.size();
    for (std::size_t i = 0; i < std::min(most, handed.given.size()); ++i) {
        result.all.push_back(judged(question, handed.given[i]));
        if (!handed.old_numbers || result.all.back().right) continue;
        const std::optional<GivenAnswer> meant = with_groups(handed.given[i]);
        if (!meant) continue;
        if (JudgedTry again = judged(question, *meant); again.right) result.all.back() = std::move(again);
    }
    if (!result.given) return result;
    result.right = result.all.back().right;
    result.why = result.all.back().why;
    result.at_first = result.all.front().right && (handed.complete || handed.tries <= 1);
    return result;
}

JudgedHandin HandinJudge::judge(const Handin& handin) {
    if (const int version = version_for(*lesson_, handin.seed, handin.round); version != lesson_->version) {
        std::unique_ptr<HandinJudge>& judge = of_versions_[version];
        if (!judge) judge = std::make_unique<HandinJudge>(lesson_for(lesson_, handin.seed, handin.round));
        return judge->judge(handin);
    }
    JudgedHandin all{
        .lesson = lesson_->name, .title = plain_text(lesson_->title), .is_edited = handin.is_edited, .answers = {}};
    for (const Question* question : questions_of(*lesson_)) {
        const auto found = handin.answers.find(question->id);
        all.answers.push_back(found == handin.answers.end() ? JudgedAnswer{.question = question->id}
                                                            : judged(*question, found->second));
    }
    return all;
}

std::size_t JudgedHandin::right() const {
    return static_cast<std::size_t>(std::ranges::count_if(answers, &JudgedAnswer::right));
}

JudgedHandin judge_handin(const std::string& path) {
    const Handin handin = read_handin(path);
    return naming(path, [&] {
        const std::shared_ptr<const Lesson> lesson = find_lesson(handin.lesson);
        if (!is_of(handin, *lesson))
            throw Error("handed in for another edition of {lesson}; expected the one that is here",
                        {{"lesson", handin.lesson}});
        return HandinJudge(lesson).judge(handin);
    });
}

}  // namespace decoderscope::core::lessons
