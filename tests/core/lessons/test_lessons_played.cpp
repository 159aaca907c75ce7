// The lessons that come with the program, played as a learner plays them: every wrong answer first, then the right one,
// through the window's commands. What is right is written down or computed here, not taken from the lesson.
#include "app/core/lessons/check_lesson.h"
#include "app/core/lessons/handin.h"
#include "app/core/lessons/library.h"
#include "app/core/lessons/player.h"
#include "app/views/frame/lab.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "tests/catch.h"
#include "tests/engine/temporary_folder.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <variant>
#include <vector>

using namespace decoderscope;
using namespace decoderscope::core::checks;
using namespace decoderscope::core::lessons;
using namespace decoderscope::core;
using namespace decoderscope::load;
using namespace decoderscope::views;
using namespace decoderscope::core::lessons;
using decoderscope::testing::TemporaryFolder;

namespace {

void perform(Session& session, const std::vector<Command>& commands) {
    for (const Command& command : commands) {
        session.apply(command);
        INFO((session.message() && session.message()->failed ? session.message()->text.english() : std::string()));
        CHECK_FALSE((session.message() && session.message()->failed));
        session.finish();
    }
}

// What the window does in its frames until nothing is left to do.
void settle(Session& session, Player& player) {
    for (int frame = 0; frame < 6; ++frame) {
        session.finish();
        perform(session, player.advance(session).commands);
    }
}

// A cell to point at; a step alone if it has no index.
struct Place {
    std::string step;
    Cell cell;
};
// What a learner answers who understood: the number of a choice, a number, a place, or what to change.
using Right = std::variant<std::size_t, double, Place, std::string>;

// The run that a question is asked about, in a learner's own arithmetic: no expression of the lesson's language.
struct Stage {
    const Scenario& scenario;
    const Run& run;

    [[nodiscard]] const Tensor& value(const std::string& name) const { return run.value(name); }
    [[nodiscard]] Index positions() const { return value("probs").dim(1); }
    // One row of a tensor, as doubles.
    [[nodiscard]] std::vector<double> row(const std::string& name, Cell cell) const {
        std::vector<double> values;
        cell.push_back(0);
        for (Index& at = cell.back(); at < value(name).axes().back().size; ++at)
            values.push_back(static_cast<double>(value(name).at(cell)));
        return values;
    }
    // The position of a letter in the target: the first one, or that of the second time.
    [[nodiscard]] Index letter(const std::string& wanted, int times_before) const {
        const Tensor& tokens = scenario.inputs.tokens;
        for (Index pos = 0; pos < tokens.dim(1); ++pos)
            if (scenario.model()->tokenizer.piece(static_cast<Index>(tokens.at(Cell{0, pos}))) == wanted &&
                times_before-- == 0)
                return pos;
        FAIL("no letter " << wanted);
        return 0;
    }
};

Index largest(const std::vector<double>& values) {
    return static_cast<Index>(std::ranges::max_element(values) - values.begin());
}

// e to the power of each over the sum of them.
std::vector<double> softmax(std::vector<double> scores) {
    double sum = 0.0;
    for (double& score : scores) sum += score = std::exp(score);
    for (double& score : scores) score /= sum;
    return scores;
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

// Weight that row 4 of the first head gives to its future if −5 is filled in there.
double leaked_with_fill_of_5(const Stage& stage) {
    std::vector<double> scores = stage.row("blocks.0.attn.attn_scores", {0, 0, 4});
    std::fill(scores.begin() + 5, scores.end(), -5.0);
    const std::vector<double> weights = softmax(std::move(scores));
    return std::accumulate(weights.begin() + 5, weights.end(), 0.0);
}

// The head of block 0 that gives the most weight to the position before.
Place head_that_looks_back(const Stage& stage) {
    const std::string pattern = "blocks.0.attn.pattern";
    std::vector<double> back;
    for (Index head = 0; head < stage.value(pattern).dim(1); ++head) {
        back.push_back(0.0);
        for (Index query = 1; query < stage.value(pattern).dim(2); ++query)
            back.back() += static_cast<double>(stage.value(pattern).at(Cell{0, head, query, query - 1}));
    }
    return {pattern, {0, largest(back), 5, 4}};
}

// The largest of the scores that the mask hides from row 4.
Place largest_hidden_score(const Stage& stage) {
    std::vector<double> scores = stage.row("blocks.0.attn.attn_scores", {0, 0, 4});
    std::fill(scores.begin(), scores.begin() + 5, -1e6);
    return {"blocks.0.attn.attn_scores", {0, 0, 4, largest(scores)}};
}

// Where q·k is largest for head 3 and the second letter.
Place largest_product(const Stage& stage) {
    const std::string at = "blocks.1.cross_attn";
    const std::vector<double> q = stage.row(at + ".q", {0, 3, 1});
    std::vector<double> products;
    for (Index key = 0; key < stage.value(at + ".k").dim(2); ++key)
        products.push_back(stage.value(at + ".mask").at(Cell{0, 3, 1, key}) == 0.0F
                               ? -1e6
                               : dot(q, stage.row(at + ".k", {0, 3, key})));
    return {at + ".pattern", {0, 3, 1, largest(products)}};
}

Place largest_weight(const Stage& stage, const std::string& pattern, Index head, Index query) {
    return {pattern, {0, head, query, largest(stage.row(pattern, {0, head, query}))}};
}

// The answers to all questions of the lessons but the gallery's.
const std::map<std::string, std::function<Right(const Stage&)>>& right_answers() {
    using S = const Stage&;
    const auto choice = [](std::size_t number) { return [number](S) { return Right(number); }; };
    const auto change = [](std::string changes) { return [changes](S) { return Right(changes); }; };
    static const std::map<std::string, std::function<Right(S)>> answers = {
        {"fill/large", choice(0)},
        {"fill/small", leaked_with_fill_of_5},
        {"fill/uniform", choice(1)},
        {"fill/first",
         [](S) {
             return Place{"blocks.0.attn.pattern", {}};
         }},
        {"fill/spread", [](S s) { return static_cast<double>(s.positions()); }},  // all of them see position 0
        {"fill/cure", change(R"([{"edit": "mask", "attention": "blocks.0.attn", "batch": 0, "head": "*", "query": 0,
                                  "key": 2, "keep": true}])")},
        {"fill/half", choice(1)},
        {"heads/width",
         [](S s) { return static_cast<double>(s.scenario.config().d_model / s.scenario.config().nhead); }},
        {"heads/why-many", choice(1)},
        {"heads/previous", head_that_looks_back},
        {"heads/sum",  // what attention adds to the stream
         [](S s) {
             const Cell cell = {0, s.positions() - 1, 0};
             return static_cast<double>(s.value("blocks.0.resid_mid").at(cell)) -
                    static_cast<double>(s.value("blocks.0.resid_pre").at(cell));
         }},
        {"heads/idle", change(R"([{"edit": "scale_head", "attention": "blocks.0.attn", "head": 2, "factor": 0}])")},
        {"heads/needed", change(R"([{"edit": "scale_head", "attention": "blocks.0.attn", "head": 3, "factor": 0}])")},
        {"heads/proof", choice(1)},
        {"masks/kept", [](S s) { return static_cast<double>(s.positions() * (s.positions() + 1) / 2); }},
        {"masks/future", largest_hidden_score},
        {"masks/leak", choice(1)},
        {"masks/open", change(R"([{"edit": "mask", "attention": "blocks.0.attn", "batch": 0, "head": "*", "query": 2,
                                   "key": 9, "keep": true}])")},
        {"masks/both", choice(2)},
        {"masks/unhidden", choice(1)},
        {"masks/where", choice(1)},
        {"norm/length", [](S s) { return std::sqrt(static_cast<double>(s.scenario.config().d_model)); }},
        {"norm/grow", choice(1)},
        {"norm/flip", change("norm_first=true")},
        {"norm/moved", choice(1)},
        {"norm/back", choice(1)},
        {"norm/shares", choice(1)},
        {"norm/warmup", choice(1)},
        {"one-token/first-time",
         [](S s) {
             return std::ranges::max(s.row("probs", {0, s.letter("g", 0)}));
         }},
        {"one-token/look", [](S s) { return largest_weight(s, "blocks.1.attn.pattern", 3, s.letter("g", 1)); }},
        {"one-token/two-steps", choice(1)},
        {"one-token/break", change(R"([{"edit": "scale_head", "attention": "blocks.1.attn", "head": 0, "factor": 0},
                                       {"edit": "scale_head", "attention": "blocks.1.attn", "head": 1, "factor": 0},
                                       {"edit": "scale_head", "attention": "blocks.1.attn", "head": 2, "factor": 0},
                                       {"edit": "scale_head", "attention": "blocks.1.attn", "head": 3, "factor": 0}])")},
        {"one-token/own", change("target=monkeymonke")},
        {"one-token/colder", choice(1)},
        {"one-token/same", choice(1)},
        {"one-token/which-kept", choice(1)},
        {"source/shape", choice(1)},
        {"source/month", [](S s) { return largest_weight(s, "blocks.1.cross_attn.pattern", 1, 6); }},
        {"source/memory", choice(0)},
        {"source/retype", change("source=5 May 2010")},
        {"source/hidden", [](S) { return 4.0; }},  // "transformer" has four letters more than "decoder"
        {"source/forgotten", choice(2)},
        {"source/which-mask", choice(1)},
        {"stream/add",
         [](S s) {
             const Cell cell = {0, s.positions() - 1, 0};
             return static_cast<double>(s.value("blocks.0.resid_pre").at(cell)) +
                    static_cast<double>(s.value("blocks.0.attn_out").at(cell));
         }},
        {"stream/grows", choice(2)},
        {"stream/highway", choice(1)},
        {"stream/lens", choice(1)},
        {"stream/write",
         change(R"([{"edit": "set_cell", "tensor": "blocks.3.resid_pre", "index": [0, 28, 1], "value": -500}])")},
        {"weight/largest",
         [](S s) {
             return std::ranges::max(softmax(s.row("blocks.1.cross_attn.masked_scores", {0, 3, 1})));
         }},
        {"weight/product",
         [](S s) {
             const std::string at = "blocks.1.cross_attn";
             const Index best = largest(s.row(at + ".attn_scores", {0, 3, 1}));
             return dot(s.row(at + ".q", {0, 3, 1}), s.row(at + ".k", {0, 3, best}));
         }},
        {"weight/ratio", choice(2)},
        {"weight/move", change(R"([{"edit": "set_cell", "tensor": "blocks.1.cross_attn.attn_scores",
                                    "index": [0, 3, 1, 2], "value": 100}])")},
        {"weight/sharper", choice(1)},
        {"weight/looks", largest_product},
        {"weight/why", choice(0)},
    };
    return answers;
}

// A learner at a session.
struct Learner {
    Session& session;
    Player& player;
    const lessons::Question& question;

    // The answer of this kind that is written down above.
    template <class T>
    [[nodiscard]] T right() const {
        const std::string name = player.lesson()->name + "/" + question.id;
        INFO(name);
        const auto found = right_answers().find(name);
        REQUIRE(found != right_answers().end());
        const Right answer = found->second({session.shown().scenario, *session.shown().run});
        REQUIRE(std::holds_alternative<T>(answer));
        return std::get<T>(answer);
    }
    [[nodiscard]] Runs runs() const { return Runs(session.shown().scenario, session.shown().run, player.opened()); }
    [[nodiscard]] lessons::Spot spot(const CellAnswer& answer) const {
        Runs here = runs();
        return spot_of(answer, {here, nullptr, &player.lesson()->lets, &question.lets});
    }
    bool say(const lessons::Answer& answer) const {
        INFO(question.id);
        return player.answer(session, question, answer).right;
    }

    void operator()(const ByChoice& by) const {
        const auto chosen = right<std::size_t>();
        for (std::size_t i = 0; i < by.choices.size(); ++i)
            if (i != chosen) CHECK_FALSE(say(ChosenAnswer{i}));
        CHECK(say(ChosenAnswer{chosen}));
    }
    void operator()(const ByNumber& by) const {
        Runs here = runs();
        const Scope scope{here, nullptr, &player.lesson()->lets, &question.lets};
        for (const WrongNumber& wrong : by.wrong)
            CHECK_FALSE(say(NumberAnswer{number_of(evaluate(*wrong.number, scope))}));
        CHECK(say(NumberAnswer{right<double>()}));
    }
    // As by clicking there: the cursor goes to the cell, and what the cursor shows is the answer.
    void go(const lessons::Spot& at) const {
        perform(session, {at.cell ? Command(command::Follow{at.step, *at.cell}) : Command(command::GoTo{at.step})});
    }
    bool point(const CellAnswer& answer) const {
        go(spot(answer));
        return say(PointedAnswer{session.step().name, session.cursor().cell});
    }
    void operator()(const ByPoint& by) const {
        for (const WrongCell& wrong : by.wrong) CHECK_FALSE(point(wrong.at));
        const auto [step, cell] = right<Place>();
        go({step, cell.empty() ? std::nullopt : std::optional(cell)});
        CHECK(say(PointedAnswer{session.step().name, session.cursor().cell}));
    }
    void operator()(const ByRun& by) const {
        CHECK_FALSE(player.watch(session).has_value());  // nothing was done yet
        for (const WrongChange& wrong : by.wrong) {
            const std::vector<Command> commands = commands_of(wrong.changes);
            perform(session, commands);
            const std::optional<lessons::Verdict> verdict = player.watch(session);
            INFO(question.id);
            CHECK((!verdict || !verdict->right));
            for (std::size_t i = 0; i < commands.size(); ++i) perform(session, {command::Undo{}});
        }
        perform(session, commands_of(parse_changes(right<std::string>())));
        const std::optional<lessons::Verdict> verdict = player.watch(session);
        INFO(question.id);
        REQUIRE(verdict.has_value());
        CHECK(verdict->right);
    }
    void operator()(const ByBug& by) const {
        Runs here = runs();
        const std::size_t right = right_choices({*player.lesson(), question, here, player.opened().get()}).at(0);
        for (std::size_t i = 0; i < by.choices.size(); ++i)
            if (i != right) CHECK_FALSE(say(BugAnswer{by.solution, i}));
        for (const WrongCell& wrong : by.wrong) CHECK_FALSE(say(BugAnswer{wrong.at.step, right}));
        if (!by.solution.empty()) go({by.solution, std::nullopt});
        CHECK(say(BugAnswer{by.solution.empty() ? "" : session.step().name, right}));
    }
};

void play(Session& session, Player& player) {
    for (std::size_t page = 0; page < player.lesson()->pages.size(); ++page) {
        player.turn_to(page);
        settle(session, player);
        while (const lessons::Question* question = player.open_question()) {
            const std::size_t shown = player.shown_blocks();
            std::visit(Learner{session, player, *question}, question->answer);
            INFO(question->id);
            REQUIRE(player.progress().solved(question->id));
            CHECK((player.shown_blocks() > shown || player.open_question() == nullptr));
            settle(session, player);
        }
        CHECK(player.shown_blocks() == player.shown_page().blocks.size());
    }
}

std::vector<std::string_view> tab_ids() {
    std::vector<std::string_view> ids;
    for (const Lab& lab : labs()) ids.push_back(lab.id);
    return ids;
}

}  // namespace

TEST_CASE("every lesson is read, and has what the list says of it") {
    const std::vector<LessonCard> cards = lesson_cards();
    REQUIRE_FALSE(cards.empty());
    for (const LessonCard& card : cards) {
        INFO(card.name << " " << card.error);
        CHECK(card.error.empty());
        CHECK_FALSE(card.title.empty());
        CHECK_FALSE(card.summary.empty());
        CHECK(card.questions > 0);
        CHECK((card.kind == LessonKind::bug || (card.minutes >= 10 && card.minutes <= 15)));
    }
}

TEST_CASE("every solution passes, every wrong answer is refused, chance seldom helps, no place points at nothing") {
    for (const LessonCard& card : lesson_cards()) {
        const Lesson lesson = read_lesson(card.path);
        for (const Sentence& problem : check_lesson(lesson, tab_ids())) {
            INFO(problem.english());
            CHECK(false);
        }
    }
}

TEST_CASE("a translation has the same questions and numbers, and is played the same") {
    for (const LessonCard& card : lesson_cards())
        for (const std::string& language : translations_of(card.path)) {
            const std::string path = translation_of(card.path, language);
            for (const Sentence& problem : compare_translation(card.path, path)) {
                INFO(problem.english());
                CHECK(false);
            }
            for (const Sentence& problem : check_lesson(read_lesson(path), tab_ids())) {
                INFO(problem.english());
                CHECK(false);
            }
        }
}

TEST_CASE("each lesson can be played through the window's commands, and handed in") {
    const TemporaryFolder folder;
    for (const LessonCard& card : lesson_cards()) {
        if (card.kind == LessonKind::bug) continue;  // there are many, and they are played above
        INFO(card.name);
        const std::shared_ptr<const Lesson> lesson = find_lesson(card.name);
        Session session(load_model("reverse"));
        Player player(lesson, {});
        play(session, player);
        CHECK(player.progress().solved_of(*lesson) == card.questions);
        const std::string path = folder.file(lesson->name + ".json");
        std::ofstream(path) << handin_text(*lesson, player.progress());
        const JudgedHandin judged = judge_handin(path);
        for (const JudgedAnswer& answer : judged.answers) {
            INFO(answer.question << ": " << answer.why);
            CHECK(answer.right);
        }
    }
}

TEST_CASE("a lesson is left and taken up where it was, and progress survives the program") {
    const TemporaryFolder folder;
    const std::string path = folder.file("config/lessons.json");
    const std::shared_ptr<const Lesson> lesson = find_lesson("weight");
    Session session(load_model("reverse"));
    Player player(lesson, {});
    settle(session, player);
    const lessons::Question& question = *player.open_question();
    player.ask_hint(question);
    std::visit(Learner{session, player, question}, question.answer);
    player.turn_to(2);
    save_progress(path, {{lesson->name, player.progress()}});
    const Progress read = load_progress(path);
    REQUIRE(read.contains("weight"));
    CHECK(read.at("weight") == player.progress());

    Player again(lesson, read.at("weight"));
    CHECK(again.page() == 2);
    again.turn_to(0);
    CHECK(again.open_question() == nullptr);
    CHECK(load_progress(folder.file("none")).empty());
}

TEST_CASE("nothing in a hand-in is taken on trust") {
    const TemporaryFolder folder;
    const std::shared_ptr<const Lesson> lesson = find_lesson("weight");
    Session session(load_model("reverse"));
    Player player(lesson, {});
    settle(session, player);
    const lessons::Question& question = *player.open_question();
    std::visit(Learner{session, player, question}, question.answer);
    LessonProgress forged = player.progress();
    const auto judged = [&](const LessonProgress& progress) {
        const std::string path = folder.file("h.json");
        std::ofstream(path) << handin_text(*lesson, progress);
        return judge_handin(path);
    };
    CHECK(judged(forged).right() == 1);
    CHECK(judged(forged).answers.at(1).given == false);
    forged.questions.at(question.id).answer = NumberAnswer{0.0};  // still said to be right
    CHECK(judged(forged).right() == 0);
    forged = player.progress();
    std::string& run = forged.questions.at(question.id).run;
    const std::string model = "\"bundled\":\"reverse\"";
    REQUIRE(run.find(model) != std::string::npos);
    run.replace(run.find(model), model.size(), "\"bundled\":\"reverse-post-norm\"");
    CHECK(judged(forged).right() == 0);
    std::ofstream(folder.file("no.json")) << "{}";
    CHECK_THROWS_AS(static_cast<void>(judge_handin(folder.file("no.json"))), Error);
}

TEST_CASE("no hand-in replaces another file") {
    const TemporaryFolder folder;
    const auto name = [](const std::string& path) { return path.substr(path.rfind('/') + 1); };
    Lesson lesson;
    lesson.name = "gallery/no-scale";
    const auto hand_in = [&](const std::string& text) {
        const std::string path = handin_path(folder.path(), lesson, text);
        std::ofstream(path) << text;
        return name(path);
    };
    CHECK(hand_in("first") == "decoderscope-no-scale.json");
    CHECK(hand_in("second") == "decoderscope-no-scale-2.json");
    CHECK(hand_in("third") == "decoderscope-no-scale-3.json");
    CHECK(hand_in("second") == "decoderscope-no-scale-2.json");  // the same again needs no other file
    CHECK(read_text(folder.file("decoderscope-no-scale.json")) == "first");
    lesson.name = "/home/learner/my-lesson.md";
    CHECK(hand_in("x") == "decoderscope-my-lesson.json");
}

TEST_CASE("what is open is the learner's own, and a question on another model says so") {
    const std::shared_ptr<const Lesson> lesson = find_lesson("weight");
    Session session(load_model("reverse"));
    Player player(lesson, {});
    settle(session, player);
    const lessons::Question& question = *player.open_question();
    // Their own word: the largest weight is another one, and is what the question asks for now.
    perform(session, commands_of(parse_changes("source=lamp ; target=pmal")));
    Runs runs(session.shown().scenario, session.shown().run, player.opened());
    const Scope scope{runs, nullptr, &lesson->lets, &question.lets};
    const double largest = number_of(evaluate(*parse_expression("max(row)"), scope));
    CHECK(player.answer(session, question, NumberAnswer{largest}).right);

    Player other(lesson, {});
    settle(session, other);
    perform(session, {command::OpenModel{"verses", {}}});
    const lessons::Verdict verdict = other.answer(session, question, NumberAnswer{0.9});
    CHECK_FALSE(verdict.right);
    REQUIRE(verdict.replies.size() == 1);
    CHECK(other.progress().questions.at(question.id).tries == 0);
    // A page's first place opens its model again.
    other.open(0);
    settle(session, other);
    CHECK(session.shown().scenario.model()->name == "reverse");
}
