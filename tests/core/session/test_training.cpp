// Training belongs to the session: its choices are undone, saved and sent as a link, and it goes on whatever is opened.
#include "app/core/files/link.h"
#include "app/core/session/session.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/core/session/apply.h"
#include "tests/engine/contains.h"
#include "tests/engine/temporary_folder.h"

#include <algorithm>

using namespace decoderscope::testing;
using namespace decoderscope::core::train;

namespace {

TrainingPlan brief(Index steps = 4) {
    TrainingPlan plan{.task = "reversal", .text = {}, .layers = 1, .d_model = 16, .rows = 2, .steps = steps, .seed = 3};
    plan.runs = {RunChoice{}, {.placement = NormPlacement::post, .warmup = 20}};
    return plan;
}

TrainingPlan of_own_text(const std::string& text) {
    TrainingPlan plan = brief();
    plan.task = kOwnText;
    plan.text = text;
    return plan;
}

void train_for(Session& session) {
    session.apply(command::StartTraining{});
    session.finish_training();
}

}  // namespace

TEST_CASE(
    "the choices of a training are undone and redone with the edits, and what is shown isn't run again for them") {
    Session session(make_bundled_model("simple-decoder"));
    apply(session, command::ScaleHeadTo{"blocks.0.attn", 0, 0.0F});
    const std::shared_ptr<const Run> run = session.shown().run;
    apply(session, command::ChangeTraining{brief(4)});
    apply(session, command::ChangeTraining{brief(9)});
    apply(session, command::ChangeTraining{brief(9)});  // no change
    CHECK(session.training_plan() == brief(9));
    apply(session, command::Undo{});
    CHECK(session.training_plan() == brief(4));
    apply(session, command::Undo{});
    CHECK(session.training_plan() == TrainingPlan());
    CHECK(session.scenario().edits.size() == 1);
    CHECK(session.shown().run == run);
    apply(session, command::Undo{});
    CHECK(session.scenario().edits.empty());
    CHECK(session.shown().run != run);
    CHECK_FALSE(session.can_undo());
    for (int times = 0; times < 3; ++times) apply(session, command::Redo{});
    CHECK(session.training_plan() == brief(9));
    CHECK(session.scenario().edits.size() == 1);
    CHECK_FALSE(session.can_redo());
}

TEST_CASE("one typing of the own text is one change") {
    Session session(make_bundled_model("simple-decoder"));
    session.apply(command::ChangeTraining{of_own_text("")});
    for (const char* text : {"t", "to", "to be"}) session.apply(command::ChangeTraining{of_own_text(text), true});
    session.apply(command::Undo{});
    CHECK(session.training_plan() == of_own_text(""));
}

TEST_CASE("a training that is saved comes back with its choices, and trains to the same bits") {
    const TemporaryFolder folder;
    const std::string path = folder.file("training.dscope");
    Session session(make_bundled_model("simple-decoder"));
    CHECK_FALSE(session.unsaved());
    apply(session, command::ChangeTraining{brief()});
    CHECK(session.unsaved_parts() == std::vector<WorkPart>{WorkPart::training});
    train_for(session);
    apply(session, command::SaveSession{path, {.tab = "train"}});
    CHECK_FALSE(session.unsaved());

    Session again(open_session(path));
    CHECK(again.training_plan() == brief());
    CHECK_FALSE(again.unsaved());
    CHECK(again.take_view()->tab == "train");
    train_for(again);
    const std::vector<SeenTraining> before = session.training().seen(), after = again.training().seen();
    REQUIRE(after.size() == 2);
    for (std::size_t run = 0; run < after.size(); ++run) {
        REQUIRE(after[run].history->size() == 4);
        for (std::size_t step = 0; step < 4; ++step)
            CHECK((*after[run].history)[step].step.loss == (*before[run].history)[step].step.loss);
    }

    // Opened over other work, undo leads back to that.
    Session other(make_bundled_model("induction"));
    apply(other, command::ChangeTraining{brief(7)});
    apply(other, command::OpenSession{path});
    CHECK(other.training_plan() == brief());
    apply(other, command::Undo{});
    CHECK(other.training_plan() == brief(7));
}

TEST_CASE("a session with the Train tab open and nothing chosen opens") {
    const TemporaryFolder folder;
    Session session(make_bundled_model("simple-decoder"));
    apply(session, command::SaveSession{folder.file("a.dscope"), {.tab = "train"}});
    CHECK(open_session(folder.file("a.dscope")).view.tab == "train");
}

TEST_CASE("a link holds the choices of a training; a damaged one names the key") {
    Session session(make_bundled_model("simple-decoder"));
    session.apply(command::ChangeTraining{of_own_text("ab\ncd")});
    const SavedSession linked = open_link(link_of(session_file_of(session.work({}))));
    CHECK(Session(linked).training_plan() == of_own_text("ab\ncd"));

    SessionFile damaged = session_file_of(linked);
    damaged.view.tabs["train"] = R"({"task": "reversal", "layers": 0})";
    const Session opened(open_session(damaged, "damaged"));
    CHECK(opened.training_plan() == TrainingPlan());
    REQUIRE(opened.message());
    CHECK(contains(opened.message()->text.english(), "labs.train.layers"));
}

TEST_CASE("choices that are in no file are autosaved, and are recovered") {
    const TemporaryFolder folder;
    {
        Session session(make_bundled_model("simple-decoder"));
        session.autosave_in(folder.path(), std::chrono::milliseconds(0));
        apply(session, command::ChangeTraining{brief()});
        session.keep({});
        while (session.autosaved_changes() < session.changes()) session.update(std::chrono::milliseconds(1));
        session.end(false);
    }
    Session next(make_bundled_model("simple-decoder"));
    next.autosave_in(folder.path());
    REQUIRE(next.offer() != nullptr);
    CHECK(contains(next.offer()->text.english(), "a changed training"));
    apply(next, command::OpenSession{next.offer()->leftover.path, true});
    CHECK(next.training_plan() == brief());
    CHECK(next.unsaved());
}

TEST_CASE("trainings pause, go on while another model is opened, and any of their steps is looked at") {
    Session session(make_bundled_model("simple-decoder"));
    session.apply(command::ChangeTraining{brief(6)});
    session.apply(command::StartTraining{});
    session.apply(command::PauseTraining{true});
    session.finish_training();
    CHECK(session.training().paused());
    apply(session, command::OpenModel{"induction"});
    session.apply(command::PauseTraining{false});
    session.finish_training();
    CHECK(session.training().finished());
    REQUIRE(session.training().seen().size() == 2);
    CHECK(session.training().seen().front().step == 6);
    session.apply(command::LookAtTraining{2});
    session.finish_training();
    CHECK(session.training_step() == 2);
    CHECK(session.training().seen().front().step == 2);
    session.apply(command::StartTraining{});
    CHECK_FALSE(session.training_step());
    session.apply(command::ClearTraining{});
    CHECK(session.training().seen().empty());
}

TEST_CASE("choices that can't be trained are refused in a sentence, until others are made") {
    Session session(make_bundled_model("simple-decoder"));
    session.apply(command::ChangeTraining{of_own_text("")});
    session.apply(command::StartTraining{});
    CHECK_FALSE(session.training_error().empty());
    CHECK(session.training().seen().empty());
    session.apply(command::ChangeTraining{brief()});
    CHECK(session.training_error().empty());
}
