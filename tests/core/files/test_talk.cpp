// A talk: states of the window in a session, shown again bit for bit, and written as a page and a PDF.
#include "app/core/files/link.h"
#include "app/core/files/saved_session.h"
#include "app/core/report/talk_page.h"
#include "app/core/run/exhibit_step.h"
#include "app/core/session/session.h"
#include "engine/base/error.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/engine/temporary_folder.h"

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

using namespace decoderscope::testing;

namespace {

SavedSession work_at(const std::string& model, std::vector<Edit> edits, const std::string& step, Index head) {
    SavedSession work{.scenario = scenario_of(make_bundled_model(model))};
    work.scenario.edits = std::move(edits);
    work.cursor = {step, {0, head, 0}, {}};
    work.view.tab = "heads";
    return work;
}

Talk talk_of_eight() {
    Talk talk;
    for (Index head = 0; head < 4; ++head)
        talk.push_back(talk_state(work_at("reverse", {}, "blocks.1.cross_attn.pattern", head),
                                  "Head " + std::to_string(head) + " <reads> \"backwards\""));
    for (const float factor : {0.0F, 0.5F, 2.0F})
        talk.push_back(
            talk_state(work_at("reverse", {ScaleHead{"blocks.0.attn", 1, factor}}, "blocks.0.attn.z", 1), "Scaled"));
    talk.push_back(talk_state(work_at("induction", {}, "blocks.1.attn.pattern", 0), "Another model"));
    talk[2].notes = "Wait for a question.";
    return talk;
}

// The state's step: what a tab shows is the window's (tests/views/shell/test_talk.cpp).
Exhibit step_of(const ShownState& shown) {
    const ShownRun run{shown.scenario, execute(plan_of(shown.scenario))};
    return step_exhibit(run, *run.run->plan().find(shown.cursor.step), shown.cursor.place);
}

}  // namespace

TEST_CASE("each state of a talk is shown again as it was, on the open model and on another") {
    const Talk talk = talk_of_eight();
    const Scenario open = scenario_of(make_bundled_model("reverse"));
    for (const TalkState& state : talk) {
        const ShownState shown = shown_state(state, open);
        const SessionFile kept = parse_session(state.work, {});
        CHECK(shown.cursor == kept.cursor);
        CHECK(shown.view == kept.view);
        CHECK(shown.scenario.edits == kept.run.edits);
        CHECK(shown.scenario.same_model(open) == (kept.run.model.name == "reverse"));
    }
    // The numbers of the second state are those of the run that it was made of.
    const ShownState scaled = shown_state(talk[4], open);
    const auto again = execute(plan_of(scaled.scenario)),
               before = execute(plan_of(work_at("reverse", {ScaleHead{"blocks.0.attn", 1, 0.0F}}, "", 0).scenario));
    CHECK(std::ranges::equal(again->value("logits").values(), before->value("logits").values()));
}

TEST_CASE("a session keeps its talk, with undo, and says what is unsaved") {
    const TemporaryFolder folder;
    SavedSession work = work_at("reverse", {}, "blocks.0.attn.pattern", 0);
    work.talk = talk_of_eight();
    write_session_file(folder.file("a.dscope"), session_file_of(work));
    CHECK(open_session(folder.file("a.dscope")).talk == work.talk);

    Session session(work.scenario, [] {});
    session.apply(command::ChangeTalk{work.talk});
    CHECK(session.unsaved_parts() == std::vector{WorkPart::talk});
    CHECK(session.work({}).talk == work.talk);
    session.apply(
        command::OpenScenario{std::make_shared<const Scenario>(scenario_of(make_bundled_model("induction"))), {}});
    CHECK(session.talk() == work.talk);  // it may show several models
    session.apply(command::Undo{});
    session.apply(command::Undo{});
    CHECK(session.talk().empty());
    session.apply(command::Redo{});
    CHECK(session.talk() == work.talk);
}

TEST_CASE("what is typed into a talk in a row is taken back at once, a state that is moved by itself") {
    Session session(scenario_of(make_bundled_model("reverse")), [] {});
    Talk talk = talk_of_eight();
    session.apply(command::ChangeTalk{talk});
    const Talk before = talk;
    for (const char letter : {'a', 'b', 'c'}) {
        talk.front().sentence += letter;
        session.apply(command::ChangeTalk{talk, true});
    }
    const Talk typed = talk;
    std::swap(talk[0], talk[1]);
    session.apply(command::ChangeTalk{talk});
    talk.front().notes += 'd';
    session.apply(command::ChangeTalk{talk, true});
    session.apply(command::Undo{});
    session.apply(command::Undo{});
    CHECK(session.talk() == typed);
    session.apply(command::Undo{});
    CHECK(session.talk() == before);
    session.apply(command::Undo{});
    CHECK(session.talk().empty());
}

TEST_CASE("a talk is read from a file with errors that say where") {
    SavedSession work = work_at("reverse", {}, "blocks.0.attn.pattern", 0);
    work.talk = {talk_state(work, "One")};
    const std::string text = session_text(session_file_of(work), {});
    const auto broken = [&](const std::string& from, const std::string& to) {
        std::string changed = text;
        const std::size_t at = changed.find(from, changed.find("\"talk\""));
        REQUIRE(at != std::string::npos);
        changed.replace(at, from.size(), to);
        try {
            static_cast<void>(parse_session(changed, {}));
        } catch (const Error& error) {
            return error.sentence().english();
        }
        return std::string("read");
    };
    CHECK(broken("\"say\"", "\"tell\"").find("talk[0]: \"say\" is missing") != std::string::npos);
    CHECK(broken("\"show\"", "\"shown\"").find("talk[0].show") != std::string::npos);
    CHECK(broken("decoderscope-session", "x").find("talk[0].show") != std::string::npos);
}

TEST_CASE("the audience gets a page with a picture, words and a link a state, or a PDF") {
    const Talk talk = talk_of_eight();
    const Scenario open = scenario_of(make_bundled_model("reverse"));
    std::ostringstream html;
    report::write_talk_page(html, talk, open, step_of, {"Lecture", "https://example.org/", true});
    const std::string page = html.str();
    const auto count = [&](const std::string& text) {
        std::size_t found = 0;
        for (std::size_t at = page.find(text); at != std::string::npos; at = page.find(text, at + 1)) ++found;
        return found;
    };
    CHECK(count("<svg ") == 8);
    CHECK(count("role=\"img\" aria-label=") == 8);
    CHECK(count("Head 0 &lt;reads&gt; &quot;backwards&quot;") == 1);
    CHECK(count("Wait for a question.") == 1);
    // Each link opens its state.
    std::size_t opened = 0;
    for (std::size_t at = page.find("https://example.org/#s1="); at != std::string::npos;
         at = page.find("https://example.org/#s1=", at + 1)) {
        const SessionFile file = session_of_link(page.substr(at, page.find('"', at) - at));
        CHECK(file.cursor == parse_session(talk[opened].work, {}).cursor);
        ++opened;
    }
    CHECK(opened == 8);
    std::ostringstream pdf;
    report::write_talk_pdf(pdf, talk, open, step_of);
    CHECK(pdf.str().starts_with("%PDF"));
    CHECK(pdf.str().find("/Count 8") != std::string::npos);

    const TemporaryFolder folder;
    CHECK_THROWS_AS(report::write_talk(folder.file("a.txt"), talk, open, step_of, {}), Error);
    CHECK_THROWS_AS(report::write_talk(folder.file("a.pdf"), {}, open, step_of, {}), Error);
    CHECK(folder.entries() == 0);
}
