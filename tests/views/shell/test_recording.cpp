// A trace that was opened without its model: every panel shows what it holds, and says what it can't.
#include "app/core/report/report.h"
#include "app/core/session/session.h"
#include "app/views/frame/tab.h"
#include "engine/load/recorded_run.h"
#include "tests/catch.h"
#include "tests/engine/recorded_traces.h"
#include "tests/engine/temporary_folder.h"
#include "tests/views/driver.h"
#include "tests/views/layout_check.h"
#include "tests/views/open_tab.h"

#include <filesystem>
#include <sstream>

using namespace decoderscope::testing;
using namespace decoderscope::core::checks;
using namespace decoderscope::core::report;

namespace {

const std::string kTrace = kTraces + "gpt/right-plain.safetensors";

std::string softmax_of(const Session& session) {
    for (const Step& step : session.shown().run->plan().steps())
        if (step.name.ends_with("/softmax/out")) return step.name;
    return {};
}

}  // namespace

TEST_CASE("a trace is shown step by step, with its numbers, and says that nothing explains them") {
    Driver d(run_of_trace(kTrace));
    d.settle();
    CHECK(d.sees("recordedelsewhere"));
    const std::string pattern = softmax_of(d.session);
    d.session.apply(command::GoTo{pattern});
    d.apply(command::SelectCell{{0, 1, 3, 2}});
    CHECK(d.session.step().name == pattern);
    CHECK(d.sees("noweightstoexplain"));
    CHECK(d.heatmap(pattern).cells().width() > 40.0F);
    const std::size_t before = d.session.timeline_position();
    d.press(Key::right);
    CHECK(d.session.timeline_position() == before + 1);
}

TEST_CASE("every tab, dialog and size shows a trace without harm") {
    for (const std::string file :
         {"gpt/right-plain", "llama/right-bfloat16", "annotated/right-plain", "lecture/right-plain"})
        for (const ImVec2 size : {ImVec2{1280, 800}, ImVec2{1024, 768}}) {
            Driver d(run_of_trace(kTraces + file + ".safetensors"), 1.0F, size);
            d.settle();
            for (const Tab& tab : tabs()) {
                INFO(file << " " << tab.id);
                d.state.tab = tab.id;
                d.settle();
                check_layout(d, size);
                CHECK(d.sees("Thistabshowswhatamodelcomputes.") == tab.computes);
                CHECK_FALSE(export_choices(d.session, d.state).empty());
            }
            d.state.tab = kStepTab;
            for (const StepId id : d.session.timeline()) {
                const Step& step = d.session.shown().run->plan()[id];
                d.session.apply(command::GoTo{step.name});
                d.session.apply(command::SelectCell{Cell(step.axes.size())});
                d.settle_one();
                CHECK(d.session.step().name == step.name);
            }
        }
}

TEST_CASE("what would have to be computed is refused, and the trace stays") {
    Driver d(run_of_trace(kTrace));
    const auto run = d.session.shown().run;
    const std::string pattern = softmax_of(d.session);
    for (const Command& command : {Command(command::SetOption{"norm_first", "true"}), Command(command::SetDropout{0}),
                                   Command(command::TypeOver{pattern, {0, 0, 0, 0}, 1.0F})}) {
        d.apply(command);
        REQUIRE(d.session.message());
        CHECK(d.session.message()->failed);
        CHECK(d.session.message()->text.english().find("no weights") != std::string::npos);
        CHECK(d.session.shown().run == run);
    }
}

TEST_CASE("a row reads what was recorded, a check of one's own is counted, and a step stays as it was recorded") {
    Driver d(run_of_trace(kTrace));
    const std::string pattern = softmax_of(d.session);
    std::string name = pattern;
    std::ranges::replace(name, '/', '.');
    d.press(Key::r, with_shift);
    d.hands.type("abs(" + name + ".sum(-1) - 1) < 1e-5");
    d.settle();
    REQUIRE(d.click_text("Itmusthold"));
    REQUIRE(d.click_text("Addtherow"));
    REQUIRE(d.state.dialog == Dialog::none);
    REQUIRE(d.session.scenario().edits.size() == 1);
    const Step& row = d.session.step();
    CHECK(row.part == Part::own);
    const Tensor& holds = d.session.shown().run->value(row.id);
    CHECK(holds.rank() == 3);
    for (const float value : holds.values()) CHECK(value == 1.0F);
    d.session.finish();
    const auto& checks = d.session.invariants()->invariants;
    REQUIRE(checks->all.size() == kLaws + 1);
    CHECK(checks->all.back().verdict == core::checks::Verdict::kept);
    CHECK(checks->all.back().checked == holds.values().size());
    // Rows read rows, and are saved with the recording.
    d.apply(command::MakeEdit{AddRow{"most", "", name + ".max() + 0 * " + row.name + "[0, 0, 0]"}, {"most"}});
    const auto weights = d.session.shown().run->value(pattern).values();
    CHECK(d.session.shown().run->value("most").values()[0] == std::ranges::max(weights));
    const TemporaryFolder folder;
    const std::string path = folder.file("recorded.dscope");
    d.session.apply(command::SaveSession{path, {}});
    d.session.finish();
    CHECK(open_session(path).scenario.edits == d.session.scenario().edits);
    // All else is refused with a sentence.
    const auto run = d.session.shown().run;
    d.apply(command::MakeEdit{RewriteStep{pattern, "sigmoid(x)"}, {pattern}});
    REQUIRE(d.session.message());
    CHECK(d.session.message()->text.english().find("no weights") != std::string::npos);
    CHECK(d.session.shown().run == run);
    d.press(Key::z, with_ctrl);
    d.press(Key::z, with_ctrl);
    CHECK(d.session.scenario().edits.empty());
}

TEST_CASE("a recording has no configuration: no key, switch or comparison asks for one") {
    Driver d(run_of_trace(kTrace));
    CHECK_THROWS_AS(d.session.scenario().config(), Error);
    CHECK_THROWS_AS(d.session.scenario().model(), Error);
    CHECK(d.session.scenario().query_heads() ==
          d.session.shown().run->plan().find(softmax_of(d.session))->axes[1].size);
    d.press(Key::n, with_shift);
    d.settle();
    REQUIRE(d.session.message());
    CHECK(d.session.message()->failed);
    d.state.tab = "diff";
    d.settle();
    for (const char* against : {"Unedited", "Pinned", "File", "Bisect", "Configuration"})
        REQUIRE(testing::compare_with(d, against));
    CHECK(d.sees("withoutweightsnootherconfigurationcanbecomputed"));
}

TEST_CASE("the laws that need weights are open; that all numbers are finite is measured") {
    Driver d(run_of_trace(kTrace));
    d.session.finish();
    REQUIRE(d.session.invariants() != nullptr);
    const auto& found = d.session.invariants()->invariants;
    REQUIRE(found);
    CHECK(found->of(Law::future).verdict == core::checks::Verdict::open);
    CHECK(found->of(Law::norms).verdict == core::checks::Verdict::open);
    CHECK(found->of(Law::finite).verdict != core::checks::Verdict::open);
}

TEST_CASE("a trace is dropped, saved with a session, opened again and compared with another") {
    const TemporaryFolder folder;
    Driver d("pre-ln-layer");
    d.apply(command::OpenModel{kTrace, {}});
    REQUIRE_FALSE(d.session.scenario().computes());
    CHECK(d.session.scenario().about().path == std::filesystem::absolute(kTrace).string());
    const std::string pattern = softmax_of(d.session);
    d.session.apply(command::GoTo{pattern});
    d.session.apply(command::SaveSession{folder.file("t.dscope"), {}});
    d.session.finish();
    const SavedSession work = open_session(folder.file("t.dscope"));
    CHECK_FALSE(work.scenario.computes());
    CHECK(work.cursor.step == pattern);
    CHECK(work.remarks.empty());
    CHECK(work.scenario.recorded()->plan->steps().size() == d.session.shown().run->plan().steps().size());

    d.state.tab = "diff";
    d.apply(command::CompareWithFile{kTraces + "gpt/scale-by-d-model.safetensors"});
    REQUIRE(testing::compare_with(d, "File"));
    CHECK(d.sees("Thefirsttodifferis"));
}

TEST_CASE("a trace that holds parameters is offered as a model") {
    Driver d(run_of_trace(kTraces + "gpt/right-apart.safetensors"), 1.0F, {1600, 900});
    d.settle();
    REQUIRE(d.session.scenario().recorded()->has_parameters);
    REQUIRE(d.click_text("openitasamodel"));
    REQUIRE(d.last<command::OpenModel>());
    CHECK(d.last<command::OpenModel>()->as == OpenAs::model);
    d.session.finish();
    d.settle();
    // Names and shapes don't say all: it asks, as for any state_dict.
    REQUIRE(d.session.opening());
    CHECK(d.session.opening()->asks);
}

TEST_CASE("a report on a trace lists its tensors") {
    const Scenario scenario = scenario_of(run_of_trace(kTrace));
    const std::shared_ptr<const Run> run = execute(plan_of(scenario));
    std::ostringstream page;
    write_report(page, {{scenario, run}, run->plan()[0].name, {}, ""});
    CHECK(page.str().find("recorded elsewhere") != std::string::npos);
    for (const Step& step : run->plan().steps()) CHECK(page.str().find(step.name) != std::string::npos);
}
