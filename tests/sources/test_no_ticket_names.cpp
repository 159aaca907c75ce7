// The tutorials are named by what they are: "seed 001" tells nothing to a person who never saw the list of them.
#include "tests/catch.h"
#include "tests/engine/temporary_folder.h"

#include <cstddef>
#include <filesystem>
#include <regex>
#include <string>

using namespace decoderscope::testing;
namespace fs = std::filesystem;

namespace {

bool is_text(const fs::path& path) {
    const std::string ending = path.extension().string();
    return ending == ".md" || ending == ".json" || ending == ".pot" || ending == ".py" || ending == ".1";
}

}  // namespace

TEST_CASE("no description, teaching text or document speaks of numbered seeds", "[messages]") {
    const std::regex numbered(R"([Ss]eeds? 0\d\d)");
    CHECK(std::regex_search(std::string("as in Seed 001"), numbered));
    const fs::path root = fs::path(DECODERSCOPE_TESTS_DIR).parent_path();
    std::size_t files = 0;
    for (const char* folder : {"assets", "docs", "packaging"}) {
        for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
            if (!entry.is_regular_file() || !is_text(entry.path())) continue;
            ++files;
            INFO(entry.path().lexically_relative(root).string());
            CHECK_FALSE(std::regex_search(read_bytes(entry.path().string()), numbered));
        }
    }
    CHECK_FALSE(std::regex_search(read_bytes((root / "README.md").string()), numbered));
    CHECK(files > 30);
}
