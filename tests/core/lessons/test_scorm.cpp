// A lesson as a SCORM 1.2 package: what is in it, and what its page reports to a platform, played under node.
#include "app/core/lessons/library.h"
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "tests/catch.h"
#include "tests/core/cli/outcome.h"
#include "tests/engine/temporary_folder.h"

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

using namespace decoderscope;
using Catch::Matchers::ContainsSubstring;
using decoderscope::testing::TemporaryFolder;

namespace {

std::string package_of(const std::vector<std::string>& options) {
    const TemporaryFolder folder;
    std::vector<std::string> command = {"lessons", "export"};
    command.insert(command.end(), options.begin(), options.end());
    command.insert(command.end(), {"--out", folder.file("lesson.zip")});
    const auto done = testing::run(command);
    INFO(done.err);
    REQUIRE(done.status == 0);
    return read_text(folder.file("lesson.zip"), std::size_t{1} << 24);
}

// The package isn't compressed, so that its files stand in it as they are.
std::string part(const std::string& zip, const std::string& begin, const std::string& end) {
    const std::size_t at = zip.find(begin);
    REQUIRE(at != std::string::npos);
    return zip.substr(at, zip.find(end, at) + end.size() - at);
}

}  // namespace

TEST_CASE("a SCORM package has a manifest and the page, and the same bytes each time") {
    const std::string zip = package_of({"weight"});
    CHECK(zip.starts_with("PK"));
    CHECK_THAT(zip, ContainsSubstring("imsmanifest.xml"));
    const std::string manifest = part(zip, "<?xml", "</manifest>");
    CHECK_THAT(manifest, ContainsSubstring("<schemaversion>1.2</schemaversion>"));
    CHECK_THAT(manifest, ContainsSubstring("<title>A weight is a comparison</title>"));
    CHECK_THAT(manifest, ContainsSubstring("adlcp:scormtype=\"sco\" href=\"index.html\""));
    CHECK(zip == package_of({"weight"}));
    CHECK_THAT(package_of({"weight", "--tries", "3"}),
               ContainsSubstring("The first 3 answers to each question count."));
    CHECK_THAT(package_of({"weight", "--language", "zh_CN"}), ContainsSubstring("<html lang=\"zh-CN\">"));
}

TEST_CASE("a SCORM package reports score and status to the platform that plays it") {
    if (std::system("node --version > /dev/null 2>&1") != 0) {
        WARN("node is not installed");
        return;
    }
    const std::string html = part(package_of({"weight"}), "<!DOCTYPE html>", "</html>");
    const std::string begin = "<script>", script = part(html, begin, "</script>").substr(begin.size());
    const TemporaryFolder folder;
    std::ofstream(folder.file("play.js"))
        << "const html = " << Json(html).dump() << ";\nconst visit = (window, document, FormData, CustomEvent) => {\n"
        << script.substr(0, script.size() - std::string("</script>").size()) << "};\n"
        << read_text(DECODERSCOPE_TESTS_DIR "/core/lessons/player_for_scorm.js");
    const std::string out = folder.file("out.json");
    REQUIRE(std::system(("node '" + folder.file("play.js") + "' > '" + out + "'").c_str()) == 0);
    const Json said = Json::parse(read_text(out));
    INFO(said.dump(1));
    CHECK(said["refused"].empty());  // every value is one that SCORM 1.2 allows
    CHECK(said["calls"] == Json::parse(R"(["Initialize", "Commit", "Commit", "Commit", "Commit", "Finish"])"));
    const auto count = said["count"].get<std::size_t>();
    REQUIRE(count > 2);
    CHECK(said["begun"] == "incomplete");
    const Json& halfway = said["halfway"];
    CHECK(std::stod(halfway["cmi.core.score.raw"].get<std::string>()) ==
          Approx(100.0 / static_cast<double>(count)).margin(0.005));
    CHECK(halfway["cmi.core.score.min"] == "0");
    CHECK(halfway["cmi.core.score.max"] == "100");
    CHECK(halfway["cmi.core.lesson_status"] == "incomplete");
    CHECK(halfway["cmi.interactions.0.result"] == "correct");
    CHECK(halfway["cmi.interactions.1.result"] == "wrong");
    CHECK(halfway["cmi.interactions._count"] == "2");
    // All but the second are right at the first answer.
    const Json& kept = said["kept"];
    CHECK(std::stod(kept["cmi.core.score.raw"].get<std::string>()) ==
          Approx(100.0 * static_cast<double>(count - 1) / static_cast<double>(count)).margin(0.005));
    CHECK(kept["cmi.core.lesson_status"] == "completed");
    CHECK(kept["cmi.core.exit"] == "");
    CHECK_THAT(said["resumed"].get<std::string>(), ContainsSubstring("Right: 1 of " + std::to_string(count)));
    CHECK_THAT(said["alone"].get<std::string>(), ContainsSubstring("nothing is reported"));
}
