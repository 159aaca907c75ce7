// What docs/lessons.md, docs/teaching.md and assets/lessons/README.md list is what there is: the course, the questions
// of an exam, the items of the test, functions, steps and axes.
#include "app/core/lessons/evaluate.h"
#include "app/core/lessons/library.h"
#include "engine/base/file.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

using namespace decoderscope::testing;
using namespace decoderscope::core::lessons;

namespace {

std::string documented() {
    const std::string root = DECODERSCOPE_TESTS_DIR "/../";
    return read_text(root + "docs/lessons.md") + read_text(root + "docs/teaching.md") +
           read_text(root + "assets/lessons/README.md");
}

// The lines of a table whose heading begins like this.
std::vector<std::string> rows_below(const std::string& heading) {
    std::istringstream docs(documented());
    std::vector<std::string> rows;
    std::string line;
    while (std::getline(docs, line) && !line.starts_with(heading)) {
    }
    REQUIRE(docs.good());
    std::getline(docs, line);  // | --- | --- |
    while (std::getline(docs, line) && line.starts_with("|")) rows.push_back(line);
    return rows;
}

// What stands between backticks.
std::vector<std::string> names_in(const std::string& line) {
    std::vector<std::string> names;
    for (std::size_t at = line.find('`'); at != std::string::npos;) {
        const std::size_t end = line.find('`', at + 1);
        if (end == std::string::npos) break;
        names.push_back(line.substr(at + 1, end - at - 1));
        at = line.find('`', end + 1);
    }
    return names;
}

std::set<std::string> questions_in_course() {
    std::set<std::string> all;
    for (const LessonCard& card : lesson_cards()) {
        const std::shared_ptr<const Lesson> lesson = find_lesson(card.name);
        for (const lessons::Question* question : questions_of(*lesson)) all.insert(card.name + "." + question->id);
    }
    return all;
}

}  // namespace

TEST_CASE("the documented course is the one of the list") {
    std::vector<std::string> course;
    for (const LessonCard& card : lesson_cards())
        if (card.kind == LessonKind::lesson) course.push_back(card.name);
    std::vector<std::string> listed;
    for (const std::string& row : rows_below("| | lesson |")) listed.push_back(names_in(row).at(0));
    CHECK(listed == course);
}

TEST_CASE("the plan by weeks has every lesson in its order, and exercises that there are") {
    std::vector<std::string> course, planned;
    std::set<std::string> there;
    for (const LessonCard& card : lesson_cards()) {
        if (card.kind == LessonKind::lesson) course.push_back(card.name);
        there.insert(card.name);
    }
    for (const std::string& row : rows_below("| week |")) {
        const std::size_t lessons_end = row.find('|', row.find('|', 1) + 1), bugs_end = row.find('|', lessons_end + 1);
        for (const std::string& name : names_in(row.substr(0, bugs_end))) {
            INFO(row);
            CHECK(there.contains(name));
            if (!name.starts_with("gallery/")) planned.push_back(name);
        }
    }
    CHECK(planned == course);
}

TEST_CASE("of the thirty exam questions, the course answers all but a few") {
    const std::set<std::string> there = questions_in_course();
    const std::vector<std::string> rows = rows_below("| exam question |");
    CHECK(rows.size() == 30);
    std::size_t taught = 0;
    for (const std::string& row : rows) {
        const std::vector<std::string> named = names_in(row);
        INFO(row);
        taught += named.empty() ? 0 : 1;
        for (const std::string& one : named) CHECK(there.contains(one));
    }
    CHECK(taught >= 28);
}

TEST_CASE("each lesson of the second edition asks for a text of the learner's own") {
    for (const std::string name : {"text", "tokens", "positions", "values", "mlp", "loss", "choosing", "modern"}) {
        INFO(name);
        const std::shared_ptr<const Lesson> lesson = find_lesson(name);
        CHECK(std::ranges::any_of(questions_of(*lesson), [](const lessons::Question* question) {
            const auto* action = std::get_if<ByRun>(&question->answer);
            return action != nullptr && action->solution.target && action->solution.edits.empty();
        }));
    }
}

TEST_CASE("the items of the test are those of the table, ten of them transfer") {
    std::set<std::string> listed;
    std::size_t transfer = 0;
    for (const std::string& row : rows_below("| item |")) {
        for (std::string& name : names_in(row)) listed.insert(std::move(name));
        for (std::size_t at = row.find("(transfer)"); at != std::string::npos; at = row.find("(transfer)", at + 1))
            ++transfer;
    }
    std::set<std::string> asked;
    const std::shared_ptr<const Lesson> test = find_lesson("test");
    for (const lessons::Question* question : questions_of(*test)) asked.insert(question->id);
    CHECK(listed == asked);
    CHECK(listed.size() == 20);
    CHECK(transfer == 10);
}

TEST_CASE("each belief is asked twice, and has the thread where it cost time") {
    const std::shared_ptr<const Lesson> beliefs = find_lesson("beliefs");
    std::vector<std::string> listed, threads, asked;
    for (const std::string& row : rows_below("| belief |")) {
        const std::vector<std::string> items = names_in(row);
        INFO(row);
        REQUIRE(items.size() == 2);
        CHECK(items[1] == items[0] + "-new");
        listed.insert(listed.end(), items.begin(), items.end());
        const std::size_t at = row.find("](https://");
        REQUIRE(at != std::string::npos);
        threads.push_back(row.substr(at + 2, row.find(')', at) - at - 2));
    }
    for (const lessons::Question* question : questions_of(*beliefs))
        if (asked.empty() || asked.back() != question->id) asked.push_back(question->id);
    CHECK(listed == asked);
    CHECK(threads == beliefs->happened);
    CHECK(threads.size() == 15);
}

TEST_CASE("every function of expressions is documented") {
    const std::string docs = documented();
    std::istringstream source(read_text(DECODERSCOPE_TESTS_DIR "/../app/core/lessons/evaluate.cpp"));
    std::size_t functions = 0;
    for (std::string line; std::getline(source, line);) {
        const std::size_t begin = line.find("    {\"");
        if (begin != 0) continue;
        const std::string name = line.substr(6, line.find('"', 6) - 6);
        if (!is_function(name)) continue;
        ++functions;
        INFO(name);
        CHECK(std::ranges::any_of(std::string("( `"), [&](char end) { return docs.find(name + end) != docs.npos; }));
    }
    CHECK(functions > 25);
}

TEST_CASE("steps have the axes that are documented") {
    const std::vector<std::string> rows = rows_below("| step | axes |");
    const auto row_of = [&](const std::string& name) {
        const auto found = std::ranges::find_if(rows, [&](const std::string& row) {
            return std::ranges::any_of(names_in(row), [&](const std::string& one) {
                return one == name || (one.starts_with('.') && name.ends_with(one));
            });
        });
        INFO(name);
        REQUIRE(found != rows.end());
        return *found;
    };
    const Scenario scenario = scenario_of(load::make_bundled_model("verses"));
    const std::shared_ptr<const Run> run = execute(plan_of(scenario));
    for (const std::string name :
         {"embed", "pos_embed", "blocks.0.resid_pre", "blocks.0.resid_mid", "blocks.0.ln1.normalized",
          "blocks.0.ln1.scale", "blocks.0.attn.q", "blocks.0.attn.k", "blocks.0.attn.v", "blocks.0.attn.z",
          "blocks.0.attn.attn_scores", "blocks.0.attn.pattern", "blocks.0.mlp.pre", "blocks.0.mlp.post",
          "ln_final.normalized", "logits", "probs"}) {
        const Ref step = run->plan().find(name);
        REQUIRE(step != nullptr);
        std::string axes;
        for (const Axis& along : step->axes) axes += (axes.empty() ? "" : ", ") + std::string(along.name);
        const std::string row = row_of(name);
        INFO(name << ": " << axes << " | " << row);
        CHECK((row.find(axes) != std::string::npos || axes.ends_with(", 1")));
    }
}
