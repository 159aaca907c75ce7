// The page of Diff that bisects: a recording is dropped, its first difference and the cause are shown, and a match is
// changed.
#include "app/core/tabs/bisect/shown_bisection.h"
#include "app/views/dialogs/dialogs.h"
#include "app/views/frame/tab.h"
#include "app/views/tabs/compare/tab.h"
#include "engine/base/file.h"
#include "engine/load/model.h"
#include "tests/catch.h"
#include "tests/engine/recorded_traces.h"
#include "tests/engine/temporary_folder.h"
#include "tests/views/driver.h"
#include "tests/views/layout_check.h"
#include "tests/views/open_tab.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

using namespace decoderscope::testing;
using namespace decoderscope::core::bisect;
using namespace decoderscope::views::dialogs;
using namespace decoderscope::views::compare;

namespace {

// minGPT's way of writing, as it should be.
std::shared_ptr<const Model> gpt() {
    return load_model(kTraces + "gpt/model.safetensors",
                      {{"nhead", "2"}, {"norm_first", "true"}, {"activation", "gelu_tanh"}});
}

void drop_path(Driver& d, const std::string& path) {
    d.state.tab = "diff";
    d.settle();
    const auto taken = find_tab("diff")->take_file(d.session, d.state, path);
    REQUIRE(taken);
    d.apply(*taken);
}

void drop(Driver& d, const std::string& file) { drop_path(d, kTraces + file); }

}  // namespace

TEST_CASE("a dropped recording is bisected: the first difference, the cause, both explanations, each block") {
    for (const Screen& screen : kScreens) {
        Driver d(gpt(), screen.scale, screen.size);
        drop(d, "gpt/scale-by-d-model.safetensors");
        CHECK(d.state.part<CompareTabState>().against == Against::bisect);
        CHECK(d.sees("Firstdifference:blocks.0.attn.attn_scores"));
        check_layout(d, screen.size);
    }
    Driver d(gpt());
    drop(d, "gpt/scale-by-d-model.safetensors");
    const Value<ShownBisection> shown =
        shown_bisection(d.session.derived(), d.session.shown(), d.session.shown().trace_file->trace, {});
    REQUIRE(shown);
    REQUIRE(shown->found.causes.front().name == "scale-by-d-model");
    CHECK(d.sees("Withit,everythingagrees."));
    CHECK(d.sees("Here"));
    CHECK(d.sees("There,withthelikeliestcause"));
    CHECK(d.sees("blocks.0,runontherecordedinput:"));
    REQUIRE(d.click_text("attn_scores"));
}

TEST_CASE("a recording that was cut short is compared as far as it goes, and says so") {
    const TemporaryFolder folder;
    const std::string whole = decoderscope::testing::read_bytes(kTraces + "gpt/right-plain.safetensors");
    std::uint64_t header = 0;
    std::memcpy(&header, whole.data(), sizeof header);
    write_bytes(folder.file("cut.safetensors"), whole.substr(0, whole.size() - 2000));
    write_bytes(folder.file("empty.safetensors"), whole.substr(0, header + 10));
    Driver d(gpt());
    drop_path(d, folder.file("cut.safetensors"));
    CHECK(d.sees("tensorsagree:"));
    CHECK(d.sees("Note:thefileistruncated:"));
    drop_path(d, folder.file("empty.safetensors"));
    CHECK(d.sees("Theycan'tbecompared"));
    CHECK(d.sees("truncated:45tensors"));
    CHECK_FALSE(d.sees("Everythingthatwascompared"));
}

TEST_CASE("what agrees says so, with the tolerance, which can be changed") {
    Driver d(gpt());
    drop(d, "gpt/right-plain.safetensors");
    CHECK(d.sees("45tensorsagree"));
    REQUIRE(d.click_text("1e-6"));
    CHECK(d.state.part<CompareTabState>().bisect.question.tolerance == 1e-6);
    REQUIRE(d.click_text("auto"));
    CHECK_FALSE(d.state.part<CompareTabState>().bisect.question.tolerance);
}

TEST_CASE("a match is changed by a click, and asks again") {
    Driver d(gpt());
    drop(d, "gpt/right-plain.safetensors");
    const auto changes = d.find_on_stage("▾");
    REQUIRE(changes);
    d.click({(changes->low.x + changes->high.x) * 0.5F, (changes->low.y + changes->high.y) * 0.5F});
    REQUIRE(d.click_text("nomatch"));
    d.settle();
    REQUIRE(d.state.part<CompareTabState>().bisect.question.chosen.size() == 1);
    CHECK(d.state.part<CompareTabState>().bisect.question.chosen.front().ours.empty());
    CHECK(d.sees("44tensorsagree"));
}

TEST_CASE("a changed match and tolerance are saved with the session") {
    const TemporaryFolder folder;
    const std::string path = folder.file("bisected.dscope");
    Driver d(gpt());
    drop(d, "gpt/right-plain.safetensors");
    BisectInputs& asked = d.state.part<CompareTabState>().bisect.question;
    asked = {1e-3, {{"blocks.1.mlp.out", ""}, {"blocks.0.mlp.out", ""}}};
    d.settle();
    d.session.apply(command::SaveSession{path, saved_view(d.state)});
    d.session.finish();
    Driver later("reverse");
    later.apply(command::OpenSession{path});
    const CompareTabState& diff = later.state.part<CompareTabState>();
    CHECK(diff.against == Against::bisect);
    CHECK(diff.bisect.question.tolerance == 1e-3);
    CHECK(diff.bisect.question.chosen == std::vector<ChosenMatch>{{"blocks.0.mlp.out", ""}, {"blocks.1.mlp.out", ""}});
}

TEST_CASE("a bisection is cancelled and started again") {
    Driver d(gpt());
    drop(d, "gpt/scale-by-d-model.safetensors");
    d.state.part<CompareTabState>().bisect.cancelled = d.state.part<CompareTabState>().bisect.question;
    d.settle();
    CHECK(d.sees("Cancelled."));
    REQUIRE(d.click_text("Startagain"));
    d.settle();
    CHECK(d.sees("Firstdifference:"));
}

TEST_CASE("without a recording, and with one that is none of the model's, the page says what to do") {
    Driver d;
    d.state.tab = "diff";
    d.settle();
    REQUIRE(compare_with(d, "Bisect"));
    CHECK(d.sees("Bisectfindsthefirsttensor"));
    drop(d, "llama/right-plain.safetensors");
    d.settle();
    CHECK(d.sees("Theycan'tbecompared"));
}

TEST_CASE("without a recording Bisect offers an example: this model with a mistake, which it finds") {
    Driver d("reverse");
    d.press(Key::c);
    d.state.part<CompareTabState>().against = Against::bisect;
    d.settle();
    CHECK(d.sees("decoderscoperecorder"));
    REQUIRE(d.click_text("Tryitonanexample"));
    d.session.finish();
    d.settle();
    d.session.finish();
    d.settle();
    REQUIRE(d.session.shown().trace_file);
    const auto found = found_bisection(d.session, d.state.part<CompareTabState>().bisect);
    REQUIRE(found);
    CHECK(found->error.empty());
    REQUIRE_FALSE(found->found.causes.empty());
    CHECK(found->found.causes.front().explains);
}
