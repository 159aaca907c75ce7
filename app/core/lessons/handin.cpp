#include "app/core/lessons/handin.h"

#include "app/core/files/checksum.h"
#include "app/core/lessons/library.h"
#include "app/core/lessons/typed_number.h"
#include "app/core/lessons/versions.h"
#include "app/core/text/characters.h"
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
constexpr std::uint64_t kVersion = 4;
constexpr std::uint64_t kReadsGroups = 3;  // from this version on, 4,096 is 4096
constexpr std::size_t kMostHandinBytes = std::size_t{16} << 20;
constexpr std::size_t kMostRuns = 400;  // in one file: each is computed
constexpr std::size_t kMostQuestions = 1000;

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
    const Json& all = object.list("given");
    for (const Json& json : all) {
        if (!json.is_object()) object.fail("given", message("expected a list of objects"));
        if (handed.given.size() > kMostGiven) continue;
        JsonObject one(json, "given.");
        const std::uint64_t run = one.whole("run");
        if (run >= runs.size())
            one.fail("run", message("{number}; expected less than {count}", {{"number", run}, {"count", runs.size()}}));
        handed.given.push_back({answer_of(one.member("answer", message("an answer"))), runs[run], one.text("time")});
        one.finish();
    }
    handed.tries = static_cast<int>(handed.given.size());
    handed.left_out = all.size() - handed.given.size();
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
        handin.lesson = readable(file.text("lesson"));
        handin.remarks.emplace_back(tr("no name: the file is of the program's first version"));
    } else {
        const std::string learner = file.text("learner");
        handin.learner = readable(learner, 100);
        if (handin.learner.empty())
            handin.remarks.emplace_back(tr("no name"));
        else if (handin.learner != learner)
            handin.remarks.emplace_back(tr("the name held characters that can't be shown, or was too long"));
        handin.time = readable(file.text("time"), 30);
        handin.seed = file.whole("seed");
        if (file.find("round") != nullptr) handin.round = file.whole("round");
        JsonObject lesson = file.object("lesson");
        handin.lesson = readable(lesson.text("name"));
        handin.title = readable(lesson.text("title"));
        handin.digest = readable(lesson.text("digest"));
        if (lesson.find("version") != nullptr)
            handin.version = static_cast<int>(std::min<std::uint64_t>(lesson.whole("version"), 1000));
        lesson.finish();
        const Json& all = file.list("runs");
        if (all.size() > kMostRuns)
            file.fail("runs",
                      message("{count} runs; expected {most} at most", {{"count", all.size()}, {"most", kMostRuns}}));
        for (const Json& run : all) runs.push_back(run.dump());
        checksum = file.text("checksum");
    }
    const Json& all = file.list("answers");
    if (all.size() > kMostQuestions)
        file.fail("answers", message("{count} questions; expected {most} at most",
                                     {{"count", all.size()}, {"most", kMostQuestions}}));
    for (const Json& json : all) {
        if (!json.is_object()) file.fail("answers", message("expected a list of objects"));
        JsonObject object(json, "answers.");
        const std::string question = readable(object.text("question"));
        Handin::Handed handed =
            version == 1 ? handed_in_version_1(object) : handed_in(object, runs, version < kReadsGroups);
        object.finish();
        if (handed.left_out > 0)
            handin.remarks.push_back(tr("{question}: {count} answers, of which the first {judged} are judged",
                                        {{"question", question},
                                         {"count", handed.given.size() + handed.left_out},
                                         {"judged", handed.given.size()}}));
        if (!handin.answers.emplace(question, std::move(handed)).second)
            handin.remarks.push_back(
                tr("{question}: answered in two places, of which the first one is judged", {{"question", question}}));
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
    nlohmann::ordered_json file = {{"format", kFormat},
                                   {"version", kVersion},
                                   {"learner", learner.name},
                                   {"time", utc_text(std::chrono::system_clock::now())},
                                   {"seed", learner.seed},
                                   {"round", progress.round},
                                   {"lesson",
                                    {{"name", known_name(lesson)},
                                     {"title", plain_text(lesson.title)},
                                     {"digest", lesson.digest},
                                     {"version", lesson.version}}},
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

std::string readable(std::string_view text, std::size_t most) {
    std::string clean;
    std::size_t count = 0;
    for (std::size_t at = 0; at < text.size();) {
        const Utf8Character character = character_at(text, at);
        at += character.bytes.size();
        const bool is_space = character.code == ' ' || character.code == '\n' || character.code == '\t';
        if (is_space ? clean.empty() || clean.back() == ' ' : is_unprintable(character.code)) continue;
        if (count++ == most) {
            clean += "…";
            break;
        }
        clean += is_space ? std::string(" ") : valid_utf8(character.bytes);
    }
    while (clean.ends_with(' ')) clean.pop_back();
    return clean;
}

std::string in_file_name(const std::string& name) {
    std::string part;
    for (const char c : readable(name, 40)) {
        const auto byte = static_cast<unsigned char>(c);
        const bool fine = byte >= 0x80 || std::isalnum(byte) != 0;
        if (fine || (!part.empty() && part.back() != '-')) part += fine ? c : '-';
    }
    while (!part.empty() && part.back() == '-') part.pop_back();
    return part;
}

Handin read_handin(const std::string& path) {
    return naming(path, [&] {
        std::error_code unknown;
        const std::filesystem::file_status status = std::filesystem::status(path, unknown);
        if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
            throw Error("a pipe or a device; expected a file");
        if (!in_small_letters(path).ends_with(".json"))
            throw Error("not a .json file; expected what \"Hand in\" wrote");
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
    const bool same_file = std::filesystem::path(handin.lesson).filename() == known_name(lesson);
    return same_file && (handin.digest.empty() || handin.title == plain_text(lesson.title));
}

// ---- judging

// What the lesson has opened for a question, and the run that was judged last.
struct HandinJudge::Stage {
    std::shared_ptr<const Scenario> opened;
    std::unique_ptr<Runs> untouched;
    std::string untouched_text;
    std::unique_ptr<Runs> last;
    std::string last_text;
    std::string ask;  // once it was needed

    [[nodiscard]] Runs& as_opened() {
        if (!untouched) untouched = std::make_unique<Runs>(*opened, nullptr, opened);
        return *untouched;
    }
    [[nodiscard]] Runs& runs_of(const std::string& text) {
        if (text == untouched_text) return as_opened();
        if (!last || text != last_text) {
            last = std::make_unique<Runs>(scenario_of_run(text, *opened), nullptr, opened);
            last_text = text;
        }
        return *last;
    }
};

// An answer as it is judged here, and what is odd about it.
struct HandinJudge::Chosen {
    Answer answer;
    std::string remark;
    bool known = true;  // false: this edition has no such choice
};

HandinJudge::HandinJudge(std::shared_ptr<const Lesson> lesson, int tries) : lesson_(std::move(lesson)), tries_(tries) {
    if (lesson_->tries > 0) tries_ = tries_ > 0 ? std::min(tries_, lesson_->tries) : lesson_->tries;
}
HandinJudge::~HandinJudge() = default;

HandinJudge::Stage& HandinJudge::stage_of(const Question& question) {
    std::unique_ptr<Stage>& stage = stages_[question.id];
    if (stage) return *stage;
    std::shared_ptr<const Scenario> opened = opened_for(*lesson_, question);
    std::string text = run_text(*opened);
    stage = std::make_unique<Stage>(Stage{std::move(opened), nullptr, std::move(text), nullptr, {}, {}});
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
        result.said = readable(answer_text(asked, given.answer, verdict));
        if (!verdict.replies.empty())
            (verdict.right ? result.learned : result.why) = plain_text(verdict.replies.back());
    } catch (const std::exception& error) {
        result.why = readable(error.what(), 400);
        result.is_odd = true;
    }
    if (result.said.empty()) result.said = tr("an answer that can't be judged");
    return known_.emplace(key, std::move(result)).first->second;
}

// The choice with these words, here or in a translation; nothing if there is none.
std::optional<std::size_t> HandinJudge::choice_that_says(const Question& question, const std::string& words) {
    const auto in = [&](const Lesson& lesson) -> std::optional<std::size_t> {
        for (const Question* one : questions_of(lesson)) {
            const std::vector<Choice>* choices = choices_of(*one);
            if (one->id != question.id || choices == nullptr) continue;
            const auto found = std::ranges::find(*choices, words, words_of);
            if (found != choices->end()) return static_cast<std::size_t>(found - choices->begin());
        }
        return {};
    };
    if (const std::optional<std::size_t> here = in(*lesson_)) return here;
    if (!translations_) {
        translations_.emplace();
        for (const std::string& language : translations_of(lesson_->path)) {
            const auto translated = made_or(std::optional<Lesson>(), [&]() -> std::optional<Lesson> {
                return in_version(read_lesson(translation_of(lesson_->path, language)), lesson_->version);
            });
            if (translated) translations_->push_back(*translated);
        }
    }
    for (const Lesson& translated : *translations_)
        if (const std::optional<std::size_t> there = in(translated)) return there;
    return {};
}

// A choice is the one that has its words; its number counts only if the words are missing, or nowhere here though the
// edition is this one (it was read in a translation that this program doesn't have).
HandinJudge::Chosen HandinJudge::chosen(const Question& question, const Answer& answer, bool is_this_edition) {
    Chosen result{answer, {}};
    const auto by_words = [&](auto& given) {
        if (given.says.empty()) {
            if (!is_this_edition)
                result.remark = tr("its choices are known by numbers alone, which may mean others here");
            return;
        }
        const std::optional<std::size_t> found = choice_that_says(question, given.says);
        result.known = found || is_this_edition;
        if (!result.known)
            result.remark = tr("{question}: no choice here says “{words}”",
                               {{"question", question.id}, {"words", readable(given.says)}});
        if (found && *found != given.choice && is_this_edition)
            result.remark =
                tr("{question}: numbered as another choice than the one whose words it has, which is judged",
                   {{"question", question.id}});
        if (found) given.choice = *found;
    };
    if (auto* by = std::get_if<ChosenAnswer>(&result.answer)) by_words(*by);
    if (auto* by = std::get_if<BugAnswer>(&result.answer)) by_words(*by);
    return result;
}

JudgedAnswer HandinJudge::judged(const Question& question, const Handin::Handed& handed, JudgedHandin& of) {
    JudgedAnswer result{.question = question.id,
                        .given = !handed.given.empty(),
                        .tries = handed.tries,
                        .hints = handed.hints,
                        .complete = handed.complete};
    const bool limited = tries_ > 0 && !std::holds_alternative<ByRun>(question.answer);
    const std::size_t most = limited ? static_cast<std::size_t>(tries_) : handed.given.size();
    for (std::size_t i = 0; i < std::min(most, handed.given.size()); ++i) {
        // A lesson takes no answer to a question that is solved.
        if (!result.all.empty() && result.all.back().right) {
            of.remarks.push_back(
                tr("{question}: answers follow the right one, and don't count", {{"question", question.id}}));
            break;
        }
        GivenAnswer given = handed.given[i];
        Chosen meant = chosen(question, given.answer, of.is_this_edition);
        given.answer = std::move(meant.answer);
        result.all.push_back(meant.known
                                 ? judged(question, given)
                                 : JudgedTry{.said = tr("an answer that can't be judged"), .why = meant.remark});
        if (meant.known && result.all.back().is_odd) meant.remark = question.id + ": " + result.all.back().why;
        if (!meant.remark.empty() && std::ranges::find(of.remarks, meant.remark) == of.remarks.end())
            of.remarks.push_back(std::move(meant.remark));
        if (!handed.old_numbers || result.all.back().right) continue;
        const std::optional<GivenAnswer> grouped = with_groups(given);
        if (!grouped) continue;
        if (JudgedTry again = judged(question, *grouped); again.right) result.all.back() = std::move(again);
    }
    if (!result.given) return result;
    result.right = result.all.back().right;
    result.why = result.all.back().why;
    result.at_first = result.all.front().right && (handed.complete || handed.tries <= 1);
    return result;
}

JudgedHandin HandinJudge::judge(const Handin& handin) {
    const int drawn = version_for(*lesson_, handin.seed, handin.round);
    const int version = handin.version && *handin.version < lesson_->versions ? *handin.version : drawn;
    if (version != lesson_->version) {
        std::unique_ptr<HandinJudge>& judge = of_versions_[version];
        if (!judge)
            judge =
                std::make_unique<HandinJudge>(std::make_shared<const Lesson>(in_version(*lesson_, version)), tries_);
        return judge->judge(handin);
    }
    JudgedHandin all{.lesson = lesson_->name,
                     .title = plain_text(lesson_->title),
                     .is_edited = handin.is_edited,
                     .is_this_edition = handin.digest.empty() || handin.digest == lesson_->digest,
                     .remarks = handin.remarks};
    if (!all.is_this_edition)
        all.remarks.emplace_back(tr("handed in for another edition of the lesson, and judged by what it says"));
    if (version != drawn)
        all.remarks.push_back(tr("answers version {version} of the lesson; its seed gives version {drawn}",
                                 {{"version", version}, {"drawn", drawn}}));
    const std::vector<const Question*> questions = questions_of(*lesson_);
    for (const Question* question : questions) {
        const auto found = handin.answers.find(question->id);
        JudgedAnswer answer = found == handin.answers.end() ? JudgedAnswer{.question = question->id}
                                                            : judged(*question, found->second, all);
        answer.ask = made_or(std::string(), [&] {
            Stage& stage = stage_of(*question);
            if (stage.ask.empty()) {
                const Asked asked{*lesson_, *question, stage.as_opened(), stage.opened.get()};
                stage.ask = plain_text(shown(question->ask, asked.scope()));
            }
            return stage.ask;
        });
        all.answers.push_back(std::move(answer));
    }
    for (const auto& [id, handed] : handin.answers)
        if (std::ranges::find(questions, id, &Question::id) == questions.end())
            all.remarks.push_back(tr("answers “{question}”, which the lesson doesn't ask", {{"question", id}}));
    return all;
}

std::size_t JudgedHandin::right() const {
    return static_cast<std::size_t>(std::ranges::count_if(answers, &JudgedAnswer::right));
}

namespace {

// One of the program's, or a file beside the hand-in or in the current folder: a hand-in opens no other file.
std::shared_ptr<const Lesson> lesson_of(const Handin& handin, const std::string& path) {
    namespace fs = std::filesystem;
    if (auto bundled = made_or(std::shared_ptr<const Lesson>(), [&] { return find_bundled_lesson(handin.lesson); }))
        return bundled;
    const fs::path file = fs::path(handin.lesson).filename(), beside = fs::path(path).parent_path() / file;
    std::error_code unknown;
    return find_lesson(fs::is_regular_file(beside, unknown) ? beside.string() : file.string());
}

}  // namespace

JudgedHandin judge_handin(const std::string& path) {
    const Handin handin = read_handin(path);
    return naming(path, [&] {
        const std::shared_ptr<const Lesson> lesson = lesson_of(handin, path);
        if (!is_of(handin, *lesson))
            throw Error("handed in for another edition of {lesson}; expected the one that is here",
                        {{"lesson", handin.lesson}});
        return HandinJudge(lesson).judge(handin);
    });
}

}  // namespace decoderscope::core::lessons
