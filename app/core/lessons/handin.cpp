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

// A text from a file of another's, to be shown on one line: without control characters and marks of a text's direction,
// of at most `most` characters.
std::string readable(std::string_view text, std::size_t most = 200) {
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

// A name as a part of a file's: letters, digits and other characters that every system allows, at most forty; the rest
// become "-".
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

namespace {

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

// ---- judging

// Whether it was handed in for this lesson, or for another edition of it: one of the program's by its name, another one
// by its contents, or by its file's name and its title.
bool is_of(const Handin& handin, const Lesson& lesson) {
    if (!handin.digest.empty() && handin.digest == lesson.digest) return true;
    if (lesson.bundled) return handin.lesson == lesson.name;
    // Version 1 knows a lesson from elsewhere by its path.
    const bool same_file = std::filesystem::path(handin.lesson).filename() == known_name(lesson);
    return same_file && (handin.digest.empty() || handin.title == plain_text(lesson.title));
}

// One of the program's, or a file beside the hand-in or in the current folder: a hand-in opens no other file.
std::shared_ptr<const Lesson> lesson_of(const Handin& handin, const std::string& path) {
    namespace fs = std::filesystem;
    if (auto bundled = made_or(std::shared_ptr<const Lesson>(), [&] { return find_bundled_lesson(handin.lesson); }))
        return bundled;
    const fs::path name = fs::path(handin.lesson).filename();
    for (const fs::path& file : {fs::path(path).parent_path() / name, name}) {
        std::error_code unknown;
        if (!fs::is_regular_file(file, unknown)) continue;
        std::shared_ptr<const Lesson> lesson = find_lesson(file.string());
        if (is_of(handin, *lesson)) return lesson;
        throw Error("handed in for another edition of {lesson}; expected the one that is here",
                    {{"lesson", handin.lesson}});
    }
    throw Error(
        "handed in for {lesson}, which isn't one of the program's lessons; expected its file beside the hand-in, or "
        "named with --lesson",
        {{"lesson", handin.lesson}});
}

// Judges the answers of one hand-in.
class HandinJudge {
public:
    HandinJudge(JudgedHandin& of, int tries) : lesson_(*of.lesson), handin_(of.handin), of_(of), tries_(tries) {
        if (lesson_.tries > 0) tries_ = tries_ > 0 ? std::min(tries_, lesson_.tries) : lesson_.tries;
        is_this_edition_ = handin_.digest.empty() || handin_.digest == lesson_.digest;
    }

    void judge() {
        if (!is_this_edition_) remark(tr("handed in for another edition of the lesson, and judged by what it says"));
        const std::vector<const Question*> questions = questions_of(lesson_);
        for (const Question* question : questions) {
            const auto found = handin_.answers.find(question->id);
            JudgedAnswer answer = found == handin_.answers.end() ? JudgedAnswer{.question = question->id}
                                                                 : judged(*question, found->second);
            answer.ask = made_or(std::string(), [&] {
                Stage& stage = stage_of(*question);
                return plain_text(shown(question->ask, asked(*question, stage, stage.as_opened()).scope()));
            });
            of_.answers.push_back(std::move(answer));
        }
        for (const auto& [id, handed] : handin_.answers)
            if (std::ranges::find(questions, id, &Question::id) == questions.end())
                remark(tr("answers “{question}”, which the lesson doesn't ask", {{"question", id}}));
    }

private:
    // What the lesson has opened for a question, and the run that was judged last.
    struct Stage {
        std::shared_ptr<const Scenario> opened;
        std::string untouched_text = run_text(*opened);
        std::unique_ptr<Runs> untouched{};
        std::unique_ptr<Runs> last{};
        std::string last_text{};

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
    struct Chosen {
        Answer answer;
        std::string remark{};
        bool known = true;  // false: this edition has no such choice
    };

    void remark(std::string sentence) { of_.remarks.push_back(std::move(sentence)); }

    [[nodiscard]] Asked asked(const Question& question, const Stage& stage, Runs& runs) const {
        return {lesson_, question, runs, stage.opened.get()};
    }

    // Made for one question after the other, and once for all answers to it.
    [[nodiscard]] Stage& stage_of(const Question& question) {
        if (!stage_ || staged_ != &question) stage_ = Stage{opened_for(lesson_, question)};
        staged_ = &question;
        return *stage_;
    }

    [[nodiscard]] JudgedTry judged(const Question& question, const GivenAnswer& given) {
        JudgedTry result;
        try {
            Stage& stage = stage_of(question);
            const Asked here = asked(question, stage, stage.runs_of(given.run));
            const Verdict verdict = lessons::judge(here, given.answer);
            result.right = verdict.right;
            result.said = readable(answer_text(here, given.answer, verdict));
            if (!verdict.replies.empty())
                (verdict.right ? result.learned : result.why) = plain_text(verdict.replies.back());
        } catch (const std::exception& error) {
            result.why = readable(error.what(), 400);
            result.is_odd = true;
        }
        if (result.said.empty()) result.said = tr("an answer that can't be judged");
        return result;
    }

    // The choice with these words, here or in a translation; nothing if there is none.
    [[nodiscard]] std::optional<std::size_t> choice_that_says(const Question& question, const std::string& words) {
        const auto in = [&](const Lesson& lesson) -> std::optional<std::size_t> {
            for (const Question* one : questions_of(lesson)) {
                const std::vector<Choice>* choices = choices_of(*one);
                if (one->id != question.id || choices == nullptr) continue;
                const auto found = std::ranges::find(*choices, words, words_of);
                if (found != choices->end()) return static_cast<std::size_t>(found - choices->begin());
            }
            return {};
        };
        if (const std::optional<std::size_t> here = in(lesson_)) return here;
        if (!translations_) {
            translations_.emplace();
            for (const std::string& language : translations_of(lesson_.path)) {
                const auto translated = made_or(std::optional<Lesson>(), [&]() -> std::optional<Lesson> {
                    return in_version(read_lesson(translation_of(lesson_.path, language)), lesson_.version);
                });
                if (translated) translations_->push_back(*translated);
            }
        }
        for (const Lesson& translated : *translations_)
            if (const std::optional<std::size_t> there = in(translated)) return there;
        return {};
    }

    // A choice is the one that has its words; its number counts only if the words are missing, or nowhere here though
    // the edition is this one (it was read in a translation that this program doesn't have).
    [[nodiscard]] Chosen chosen(const Question& question, const Answer& answer) {
        Chosen result{answer};
        const auto by_words = [&](auto& given) {
            if (given.says.empty()) {
                if (!is_this_edition_)
                    result.remark = tr("its choices are known by numbers alone, which may mean others here");
                return;
            }
            const std::optional<std::size_t> found = choice_that_says(question, given.says);
            result.known = found || is_this_edition_;
            if (!result.known)
                result.remark = tr("{question}: no choice here says “{words}”",
                                   {{"question", question.id}, {"words", readable(given.says)}});
            if (found && *found != given.choice && is_this_edition_)
                result.remark =
                    tr("{question}: numbered as another choice than the one whose words it has, which is judged",
                       {{"question", question.id}});
            if (found) given.choice = *found;
        };
        if (auto* by = std::get_if<ChosenAnswer>(&result.answer)) by_words(*by);
        if (auto* by = std::get_if<BugAnswer>(&result.answer)) by_words(*by);
        return result;
    }

    [[nodiscard]] JudgedAnswer judged(const Question& question, const Handin::Handed& handed) {
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
                remark(tr("{question}: answers follow the right one, and don't count", {{"question", question.id}}));
                break;
            }
            GivenAnswer given = handed.given[i];
            Chosen meant = chosen(question, given.answer);
            given.answer = std::move(meant.answer);
            result.all.push_back(meant.known
                                     ? judged(question, given)
                                     : JudgedTry{.said = tr("an answer that can't be judged"), .why = meant.remark});
            if (meant.known && result.all.back().is_odd) meant.remark = question.id + ": " + result.all.back().why;
            if (!meant.remark.empty() && std::ranges::find(of_.remarks, meant.remark) == of_.remarks.end())
                remark(std::move(meant.remark));
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

    const Lesson& lesson_;
    const Handin& handin_;
    JudgedHandin& of_;
    int tries_ = 0;
    bool is_this_edition_ = true;
    std::optional<std::vector<Lesson>> translations_;  // once they are needed
    std::optional<Stage> stage_;
    const Question* staged_ = nullptr;
};

}  // namespace

std::size_t JudgedHandin::right() const {
    return static_cast<std::size_t>(std::ranges::count_if(answers, &JudgedAnswer::right));
}

JudgedHandin judge_handin(const std::string& path, std::shared_ptr<const Lesson> lesson, int tries) {
    JudgedHandin all{.handin = read_handin(path)};
    const Handin& handin = all.handin;
    all.remarks = handin.remarks;
    naming(path, [&] {
        if (!lesson) lesson = lesson_of(handin, path);
        all.lesson = lesson;
        if (!is_of(handin, *lesson)) {
            const std::string wanted = plain_text(lesson->title);
            const bool by_name = handin.title.empty() || handin.title == wanted;
            all.refused = tr("handed in for “{given}”, not for “{wanted}”",
                             {{"given", by_name ? handin.lesson : handin.title}, {"wanted", wanted}});
            return;
        }
        const int drawn = version_for(*lesson, handin.seed, handin.round);
        const int version = handin.version && *handin.version < lesson->versions ? *handin.version : drawn;
        if (version != drawn)
            all.remarks.push_back(tr("answers version {version} of the lesson; its seed gives version {drawn}",
                                     {{"version", version}, {"drawn", drawn}}));
        if (version != lesson->version) all.lesson = std::make_shared<const Lesson>(in_version(*lesson, version));
        HandinJudge(all, tries).judge();
    });
    return all;
}

}  // namespace decoderscope::core::lessons
