// Numbers that stay on the screen: chosen, kept, and read from the run that is shown and the one without edits.
#include "app/core/run/watched.h"

#include "app/core/files/link.h"
#include "app/core/files/saved_session.h"
#include "app/core/report/report.h"
#include "app/core/run/exhibit_step.h"
#include "app/core/session/session.h"
#include "app/core/text/numbers.h"
#include "engine/base/error.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/core/session/apply.h"
#include "tests/engine/contains.h"
#include "tests/engine/messages.h"
#include "tests/engine/temporary_folder.h"

#include <cmath>
#include <limits>
#include <sstream>

using namespace decoderscope::testing;

namespace {

const std::string kModel = "causal-lm-as-meant", kPattern = "blocks.0.attn.pattern", kLater = "blocks.1.attn.pattern";

Note watched(std::string step, Cell cell, std::string text = {}) {
    return {std::move(step), std::move(cell), std::move(text), true};
}

WatchedNumber shown(const Session& session, const Note& note) {
    const Value<WatchedNumber> number = shown_watched(session.derived(), session.shown(), note);
    REQUIRE(number);
    const WatchedNumber read = watched_number(note, *session.shown().run, *session.shown().unedited);
    CHECK(now_text(*number, 9) == now_text(read, 9));
    CHECK(number->change == read.change);
    return *number;
}

}  // namespace

TEST_CASE("a cell is watched with or without a text, and a text that goes leaves it watched") {
    Session session(load::make_bundled_model(kModel));
    const std::shared_ptr<const Run> run = session.shown().run;
    apply(session, command::PinNote{watched(kPattern, {0, 1, 2, 0})});
    REQUIRE(session.notes() == Notes{watched(kPattern, {0, 1, 2, 0})});
    CHECK(notes_of(session.notes(), kPattern).empty());
    CHECK(count_notes(session.notes(), kPattern) == 0);
    apply(session, command::PinNote{watched(kPattern, {0, 1, 2, 0}, "here")});
    CHECK(notes_of(session.notes(), kPattern).size() == 1);
    const Notes both = session.notes();
    apply(session, command::PinNote{watched(kPattern, {0, 1, 2, 0})});
    CHECK(watched_among(session.notes()).size() == 1);
    apply(session, command::PinNote{{kPattern, {0, 1, 2, 0}, ""}});
    CHECK(session.notes().empty());
    apply(session, command::Undo{});
    apply(session, command::Undo{});
    CHECK(session.notes() == both);
    CHECK(session.shown().run == run);  // no number was computed anew
}

TEST_CASE("twelve numbers are watched at most, and a thirteenth is refused in a sentence") {
    Session session(load::make_bundled_model(kModel));
    for (Index at = 0; at < 12; ++at) apply(session, command::PinNote{watched("logits", {0, 0, at})});
    CHECK(watched_among(session.notes()).size() == 12);
    apply(session, command::PinNote{watched("logits", {0, 0, 12})});
    CHECK(watched_among(session.notes()).size() == 12);
    REQUIRE(session.message());
    CHECK(contains(session.message()->text.english(), "12 numbers are watched already"));
    // What is watched can still be changed.
    apply(session, command::PinNote{watched("logits", {0, 0, 3}, "the third")});
    CHECK(find_note(session.notes(), "logits", {0, 0, 3})->text == "the third");
    apply(session, command::PinNote{{"logits", {0, 0, 3}, ""}});
    apply(session, command::PinNote{watched("logits", {0, 0, 12})});
    CHECK(find_note(session.notes(), "logits", {0, 0, 12}) != nullptr);
}

TEST_CASE("what is watched is in the session's file and in a link, and nonsense is refused") {
    Session session(load::make_bundled_model(kModel));
    apply(session, command::PinNote{watched(kPattern, {0, 1, 2, 0})});
    apply(session, command::PinNote{watched("logits", {0, 1}, "a row")});
    apply(session, command::PinNote{{"logits", {}, "no number"}});
    const TemporaryFolder folder;
    const std::string path = folder.file("watched.dscope");
    const files::SavedSession work = session.work({});
    files::write_session_file(path, files::session_file_of(work));
    CHECK(files::open_session(path).notes == session.notes());
    CHECK(files::open_link(files::link_of(files::session_file_of(work))).notes == session.notes());

    const auto read = [](const std::string& notes) {
        return files::parse_session(
                   R"({"format": "decoderscope-session", "version": 1, "model": {"bundled": "reverse"}, "notes": [)" +
                       notes + "]}",
                   "")
            .notes;
    };
    const auto refused = [&](const std::string& notes, const std::string& part) {
        INFO(notes);
        testing::check_message(testing::error_of([&] { static_cast<void>(read(notes)); }), {part});
    };
    CHECK(read(R"({"at": "logits[0,1,2]", "watched": true})") == Notes{watched("logits", {0, 1, 2})});
    refused(R"({"at": "logits[0,1,2]", "watched": false})", "\"text\"");
    refused(R"({"at": "logits[0,1,2]", "text": "a", "watched": "yes"})", "watched");
    std::string many;
    for (int i = 0; i < 13; ++i)
        many +=
            (i > 0 ? ", " : "") + std::string(R"({"at": "logits[0,0,)") + std::to_string(i) + R"(]", "watched": true})";
    refused(many, "12 numbers are watched already");
}

TEST_CASE("a watched number is the run's and the unedited run's, and follows an edit at once") {
    Session session(load::make_bundled_model(kModel));
    const Note note = watched(kLater, {0, 1, 3, 2});
    apply(session, command::PinNote{note});
    const float before = session.shown().run->value(kLater).at(note.cell);
    CHECK(shown(session, note).now == std::vector{before});
    CHECK(shown(session, note).before.empty());
    CHECK(shown(session, note).change == Change::no_edits);

    apply(session, command::ScaleHeadTo{"blocks.0.attn", 0, 0.0F});
    const float now = session.shown().run->value(kLater).at(note.cell);
    REQUIRE(now != before);
    CHECK(shown(session, note).now == std::vector{now});
    CHECK(shown(session, note).before == std::vector{before});
    CHECK(shown(session, note).change == (now > before ? Change::up : Change::down));
    // What comes before the edit is as it was.
    CHECK(shown(session, watched(kPattern, {0, 1, 3, 2})).change == Change::none);

    apply(session, command::Undo{});
    CHECK(shown(session, note).now == std::vector{before});
    CHECK(shown(session, note).change == Change::no_edits);
}

TEST_CASE("of a row the first numbers are shown, and one of the others that moved is told") {
    Session session(load::make_bundled_model(kModel));
    const Note row = watched("logits", {0, 2});
    const std::span<const float> values = session.shown().run->value("logits").row({0, 2, 0});
    CHECK(shown(session, row).now == std::vector(values.begin(), values.begin() + 3));
    CHECK(shown(session, row).goes_on);
    apply(session, command::TypeOver{"logits", {0, 2, 7}, 100.0F});
    CHECK(shown(session, row).now == shown(session, row).before);
    CHECK(shown(session, row).change == Change::differs);
    CHECK(shown(session, watched("logits", {0, 1})).change == Change::none);
}

TEST_CASE("a row of one's own is watched without a cell if it is one number; it is no edit of the pass") {
    Session session(load::make_bundled_model(kModel));
    apply(session, command::MakeEdit{AddRow{"most", "", "logits.max()"}, {"most"}});
    const Note note = watched("most", {});
    const float now = session.shown().run->value("most").values()[0];
    CHECK(shown(session, note).now == std::vector{now});
    CHECK(shown(session, note).change == Change::no_edits);
    apply(session, command::TypeOver{"logits", {0, 2, 7}, 100.0F});
    CHECK(shown(session, note).now == std::vector{100.0F});
    CHECK(shown(session, note).before == std::vector{now});
    CHECK(shown(session, note).change == Change::up);
    CHECK(contains(shown(session, watched("logits", {})).missing.english(), "more than one row"));
}

TEST_CASE("NaN is never unchanged, and a number that isn't there says why") {
    Session session(load::make_bundled_model(kModel));
    const float nan = std::numeric_limits<float>::quiet_NaN();
    apply(session, command::TypeOver{"logits", {0, 2, 7}, nan});
    CHECK(shown(session, watched("logits", {0, 2, 7})).change == Change::differs);
    const Run& with_nan = *session.shown().run;
    // As if the unedited run had it, too.
    Session other(load::make_bundled_model(kModel));
    apply(other, command::TypeOver{"logits", {0, 2, 7}, nan});
    const WatchedNumber number = watched_number(watched("logits", {0, 2, 7}), with_nan, *other.shown().run);
    CHECK(number.change == Change::unclear);
    CHECK(contains(number_sentence(number, 4).english(), "can't be compared"));

    CHECK(contains(shown(session, watched("blocks.99.attn.z", {0})).missing.english(), "no step blocks.99.attn.z"));
    CHECK(contains(shown(session, watched("logits", {0, 99, 0})).missing.english(), "no such cell"));
    CHECK(contains(shown(session, watched("logits", {0, 1, 1, 1})).missing.english(), "no such cell"));
}

TEST_CASE("a cell beyond a shorter input says so, and comes back with the longer one") {
    Session session(load::make_bundled_model("reverse"));
    const Tensor& logits = session.shown().run->value("logits");
    const Note note = watched("logits", {0, logits.dim(1) - 1, 0});
    const float before = logits.at(note.cell);
    apply(session, command::PinNote{note});
    apply(session, command::TypeInput{{.target = Typed{.text = "1 2", .ids = true}}});
    CHECK(contains(shown(session, note).missing.english(), "no such cell"));
    CHECK(session.notes() == Notes{note});
    apply(session, command::Undo{});
    CHECK(shown(session, note).now == std::vector{before});
}

TEST_CASE("an on-demand number that is watched is computed when its session is opened") {
    Session session(load::make_bundled_model(kModel));
    const Note note = watched("blocks.0.attn.result", {0, 1, 2, 3});
    CHECK(contains(shown(session, note).missing.english(), "is not computed"));
    apply(session, command::PinNote{note});
    const std::vector<float> now = shown(session, note).now;
    REQUIRE(now.size() == 1);
    Session again(session.work({}));
    again.finish();
    CHECK(shown(again, note).now == now);
}

TEST_CASE("the report has the number of each note that stands at one") {
    Session session(load::make_bundled_model(kModel));
    apply(session, command::PinNote{{kLater, {0, 1, 3, 2}, "look"}});
    apply(session, command::PinNote{watched(kPattern, {0, 1, 2, 0})});
    apply(session, command::PinNote{{"blocks.1", {}, "a part"}});
    apply(session, command::PinNote{watched("blocks.1.attn.result", {0, 1, 2, 3})});  // on demand
    apply(session, command::ScaleHeadTo{"blocks.0.attn", 0, 0.0F});
    std::ostringstream page;
    report::write_report(page,
                         {{session.shown().scenario, session.shown().run, session.notes()}, kPattern, {0, 0}, ""});
    const auto text = [](const std::shared_ptr<const Run>& run, const std::string& step, const Cell& cell) {
        return short_number_text(static_cast<double>(run->value(step).at(cell)), 6);
    };
    const Cell cell = {0, 1, 3, 2};
    const std::string now = text(session.shown().run, kLater, cell),
                      before = text(session.shown().unedited, kLater, cell);
    CHECK(contains(page.str(), "blocks.1.attn.pattern[0, 1, 3, 2]: look (" + now + " "));
    CHECK(contains(page.str(), " without edits " + before + ")"));
    CHECK(contains(page.str(), "blocks.0.attn.pattern[0, 1, 2, 0]: " +
                                   text(session.shown().run, kPattern, {0, 1, 2, 0}) + ", as without edits"));
    CHECK(contains(page.str(), "blocks.1: a part<"));
    const std::string result = "blocks.1.attn.result";
    CHECK(contains(page.str(), result + "[0, 1, 2, 3]: " + text(session.shown().run, result, {0, 1, 2, 3}) + " "));
    CHECK(contains(page.str(), " without edits " + text(session.shown().unedited, result, {0, 1, 2, 3}) + "<"));
}
