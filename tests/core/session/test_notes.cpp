// Sentences pinned to cells, rows, steps and parts of the map.
#include "app/core/figure/exhibit.h"
#include "app/core/figure/export.h"
#include "app/core/files/link.h"
#include "app/core/files/saved_session.h"
#include "app/core/report/report.h"
#include "app/core/run/exhibit_step.h"
#include "app/core/run/notes.h"
#include "app/core/session/session.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/core/session/apply.h"
#include "tests/engine/contains.h"
#include "tests/engine/messages.h"
#include "tests/engine/temporary_folder.h"

#include <sstream>

using namespace decoderscope::testing;

namespace {

const std::string kModel = "causal-lm-as-meant", kPattern = "blocks.0.attn.pattern";

void pin_notes(Session& session) {
    for (const Note& note : Notes{{kPattern, {0, 1, 2, 0}, "looks at the beginning"},
                                  {kPattern, {0, 1, 3}, "this row sums to 1"},
                                  {kPattern, {}, "a step & <b>more</b>"},
                                  {"blocks.1.attn", {}, "a part of the model"}})
        apply(session, command::PinNote{note});
}

}  // namespace

TEST_CASE("a note is pinned, changed and removed, and undo takes each back; no number changes") {
    Session session(load::make_bundled_model(kModel));
    pin_notes(session);
    const std::shared_ptr<const Run> run = session.shown().run;
    REQUIRE(session.notes().size() == 4);
    const Notes before = session.notes();
    apply(session, command::PinNote{{kPattern, {0, 1, 2, 0}, "something else"}});
    CHECK(session.notes().size() == 4);
    CHECK(find_note(session.notes(), kPattern, {0, 1, 2, 0})->text == "something else");
    apply(session, command::PinNote{{kPattern, {}, ""}});
    CHECK(session.notes().size() == 3);
    CHECK(find_note(session.notes(), kPattern, {}) == nullptr);
    apply(session, command::Undo{});
    apply(session, command::Undo{});
    CHECK(session.notes() == before);
    apply(session, command::Redo{});
    CHECK(find_note(session.notes(), kPattern, {0, 1, 2, 0})->text == "something else");
    CHECK(session.shown().run == run);
    CHECK(session.unsaved_parts() == std::vector{files::WorkPart::notes});
}

TEST_CASE("notes are in the session's file and in a link, as they were") {
    Session session(load::make_bundled_model(kModel));
    pin_notes(session);
    const TemporaryFolder folder;
    const std::string path = folder.file("noted.dscope");
    const files::SavedSession work = session.work({});
    files::write_session_file(path, files::session_file_of(work));
    CHECK(files::open_session(path).notes == session.notes());
    CHECK(files::open_link(files::link_of(files::session_file_of(work))).notes == session.notes());
    Session again(files::open_session(path));
    again.finish();
    CHECK(again.notes() == session.notes());
    CHECK(again.unsaved_parts().empty());
    // In another model they are not.
    apply(again, command::OpenModel{"induction", {}});
    again.finish();
    CHECK(again.notes().empty());
}

TEST_CASE("a note that can't be read names its number and what was expected") {
    const auto read = [](const std::string& notes) {
        return files::parse_session(
            R"({"format": "decoderscope-session", "version": 1, "model": {"bundled": "reverse"}, "notes": )" + notes +
                "}",
            "");
    };
    const auto refused = [&](const std::string& notes, const std::string& part) {
        INFO(notes);
        testing::check_message(testing::error_of([&] { static_cast<void>(read(notes)); }), {part});
    };
    refused(R"([{"at": "logits"}])", "notes[0]: \"text\"");
    refused(R"([{"at": "logits", "text": ""}])", "empty");
    refused(R"([{"at": "logits", "text": "a"}, {"at": "logits[0, x]", "text": "b"}])", "notes[1]");
    refused(R"([{"at": "logits", "text": "a", "colour": 1}])", "colour");
    refused(R"([{"at": "logits", "text": ")" + std::string(kLongestNote + 1, 'a') + R"("}])", "at most 2000");
    refused(R"({})", "notes");
    CHECK(read(R"([{"at": "logits[0,1,2]", "text": "a"}])").notes == Notes{{"logits", {0, 1, 2}, "a"}});
}

TEST_CASE("a note leads to its cell, to its row's first cell, to its step, to its part's first step; else nowhere") {
    Session session(load::make_bundled_model(kModel));
    pin_notes(session);
    const Run& run = *session.shown().run;
    const auto goes = [&](const Note& note) { return command_to(note, run); };
    CHECK(goes({kPattern, {0, 1, 2, 0}, "a"})->get_if<command::Follow>()->cell == Cell{0, 1, 2, 0});
    CHECK(goes({kPattern, {0, 1, 3}, "a"})->get_if<command::Follow>()->cell == Cell{0, 1, 3, 0});
    CHECK(goes({kPattern, {}, "a"})->get_if<command::GoTo>()->step == kPattern);
    CHECK(goes({"blocks.1.attn", {}, "a"})->get_if<command::GoTo>()->step.starts_with("blocks.1.attn."));
    CHECK_FALSE(goes({kPattern, {0, 1, 2, 999}, "a"}));
    CHECK_FALSE(goes({"blocks.99", {}, "a"}));
    CHECK(count_notes(session.notes(), kPattern) == 3);
    CHECK(count_notes(session.notes(), "blocks.1.attn.q") == 1);
    CHECK(count_notes(session.notes(), "blocks.10.attn.q") == 0);
    CHECK(count_notes({{"blocks.1", {}, "a"}}, "blocks.10.attn.q") == 0);
}

TEST_CASE("an exported picture has the notes of its slice, numbered, and the report lists all of them") {
    Session session(load::make_bundled_model(kModel));
    pin_notes(session);
    const ShownRun shown{session.shown().scenario, session.shown().run, session.notes()};
    const Step& step = *shown.run->plan().find(kPattern);
    const TemporaryFolder folder;
    const auto exported = [&](Place place, const std::string& ending) {
        const std::string path = folder.file("noted." + ending);
        export_exhibit(step_exhibit(shown, step, place), path, {});
        return read_text(path);
    };
    const Json json = parse_json(exported({0, 1}, "json"), message("a picture"));
    const std::string text = json.dump();
    CHECK(contains(text, R"("text":"looks at the beginning")"));
    CHECK(contains(text, "this row sums to 1"));
    const std::string svg = exported({0, 1}, "svg");
    CHECK(contains(svg, "1 looks at the beginning"));
    CHECK(contains(svg, "2 this row sums to 1"));
    CHECK_FALSE(contains(exported({0, 0}, "svg"), "looks at the beginning"));
    std::ostringstream page;
    report::write_report(page, {shown, kPattern, {0, 1}, ""});
    CHECK(contains(page.str(), "blocks.0.attn.pattern[0, 1, 2, 0]: looks at the beginning"));
    CHECK(contains(page.str(), "a step &amp; &lt;b&gt;more"));
    CHECK_FALSE(contains(page.str(), "<b>more"));
}
