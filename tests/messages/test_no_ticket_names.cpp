// The tutorials are named by what they are: "seed 001" tells nothing to a person who never saw the list of them.
#include "tests/catch.h"

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>

namespace fs = std::filesystem;

namespace {

std::string text_of(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

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
            CHECK_FALSE(std::regex_search(text_of(entry.path()), numbered));
        }
    }
    CHECK_FALSE(std::regex_search(text_of(root / "README.md"), numbered));
    CHECK(files > 30);
}
