// The log for a report: what happened, without what models hold or a person typed.
#include "app/cli.h"
#include "app/core/session/session.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/core/session/apply.h"
#include "tests/engine/contains.h"
#include "tests/engine/temporary_folder.h"

#include <memory>
#include <sstream>

using namespace decoderscope;
using namespace decoderscope::core;
using namespace decoderscope::load;
using namespace decoderscope::testing;

TEST_CASE("a log names the program, what was opened, the commands, the runs' times and the failures, and no number") {
    const TemporaryFolder folder;
    const std::string path = folder.file("log.txt");
    {
        Session session(make_bundled_model("simple-decoder"));
        session.log_to(std::make_shared<Log>(path));
        apply(session, command::TypeOver{"blocks.0.attn.z", {0, 0, 0, 0}, 0.123456F});
        apply(session, command::SetOption{"nhead", "7"});
    }
    const std::string log = text_of_file(path);
    for (const char* part : {"Decoderscope " DECODERSCOPE_VERSION, "threads", "opened simple-decoder",
                             "command TypeOver", "command SetOption", "simple-decoder: computed ", " ms", "failed: "}) {
        CAPTURE(part, log);
        CHECK(contains(log, part));
    }
    CHECK_FALSE(contains(log, "0.123"));
}

TEST_CASE("the command line's log has the command, its options' names and how it ended") {
    const TemporaryFolder folder;
    const std::string path = folder.file("log.txt");
    std::ostringstream out, err;
    const std::vector<std::string> arguments = {"--log",  path,         "explain", "causal-lm",
                                                "--cell", "nowhere[0]", "--text",  "abc"};
    CHECK(app::run_cli(arguments, out, err).status == 1);
    const std::string log = text_of_file(path);
    CAPTURE(log);
    CHECK(contains(log, "explain with --"));
    CHECK(contains(log, "--text"));
    CHECK(contains(log, "of causal-lm"));
    CHECK(contains(log, "failed: "));
    CHECK(contains(log, "ended with status 1"));
    CHECK_FALSE(contains(log, "abc"));
    CHECK_THROWS_AS(Log(folder.file("nowhere/log.txt")), Error);
}
