// What a file dropped on the window does.
#include "app/application.h"
#include "engine/model/bundled.h"
#include "engine/model/safetensors.h"
#include "tests/catch.h"
#include "tests/engine/temporary_folder.h"

using namespace decoderscope;

TEST_CASE("a trace dropped on the Diff tab is compared with; elsewhere a dropped path is a model") {
    const decoderscope::testing::TemporaryFolder folder;
    const std::vector<std::string> trace = {folder.file("t.safetensors")};
    Application application(scenario_of(make_bundled_model("pre-ln-layer")));
    write_safetensors(trace.front(), recorded_tensors(*application.session().shown().run));
    application.dropped(trace);
    REQUIRE(application.session().message());
    CHECK(application.session().message()->failed);
    CHECK_FALSE(application.session().shown().trace_file);
    application.state().tab = Tab::diff;
    application.dropped(trace);
    REQUIRE(application.session().shown().trace_file);
    CHECK(application.session().shown().trace_file->label == "t.safetensors");
    CHECK(application.state().diff.against == Against::file);
    CHECK(application.state().diff.typed.data() == trace.front());
}
