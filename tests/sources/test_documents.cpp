// The documents are right about the repository: each link leads somewhere, and each group of files that they name
// ("app/core/session/user_state.*") exists. test_named_files.cpp reads the names of single files.
#include "tests/catch.h"
#include "tests/engine/temporary_folder.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <filesystem>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

using namespace decoderscope::testing;
namespace fs = std::filesystem;

namespace {

const fs::path kRoot = fs::path(DECODERSCOPE_TESTS_DIR).parent_path();

// Every page but the lessons, whose links and names are their own. Its path is relative to the root.
std::vector<fs::path> documents() {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(kRoot))
        if (entry.path().extension() == ".md") found.push_back(entry.path().filename());
    for (const char* folder : {"assets/models", "docs", "notebook", "packaging", "tests", "third_party"})
        for (const auto& entry : fs::recursive_directory_iterator(kRoot / folder))
            if (entry.path().extension() == ".md") found.push_back(entry.path().lexically_relative(kRoot));
    return found;
}

std::string without_fences(const std::string& page) {
    std::istringstream lines(page);
    std::string text;
    bool fenced = false;
    for (std::string line; std::getline(lines, line);) {
        const bool fence = line.find_first_not_of(' ') != std::string::npos &&
                           line.compare(line.find_first_not_of(' '), 3, "```") == 0;
        if (fence) fenced = !fenced;
        if (!fence && !fenced) text += line + "\n";
    }
    return text;
}

// The part of a link behind its '#', as GitHub makes it of a heading: lower case, blanks as hyphens, no punctuation.
std::string anchor_of(std::string_view heading) {
    std::string anchor;
    for (const char c : heading) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == ' ') anchor += '-';
        if (std::isalnum(byte) != 0 || c == '-' || c == '_' || byte >= 128)
            anchor += static_cast<char>(std::tolower(byte));
    }
    return anchor;
}

std::set<std::string> anchors_of(const std::string& page) {
    std::set<std::string> anchors;
    std::istringstream lines(without_fences(page));
    for (std::string line; std::getline(lines, line);)
        if (const std::size_t text = line.find_first_not_of('#'); text != 0 && text != std::string::npos)
            anchors.insert(anchor_of(std::string_view(line).substr(text + 1)));
    return anchors;
}

std::vector<std::string> all_of(const std::string& text, const std::regex& wanted) {
    std::vector<std::string> found;
    for (std::sregex_iterator at(text.begin(), text.end(), wanted); at != std::sregex_iterator(); ++at)
        found.push_back((*at)[1]);
    return found;
}

// Whether one of them is there: "app/core/session/session*.cpp" is any with that beginning and that end.
bool exists(const std::string& path) {
    const std::size_t star = path.find('*');
    const fs::path beginning(path.substr(0, star));
    if (!fs::is_directory(kRoot / beginning.parent_path())) return false;
    const auto entries = fs::directory_iterator(kRoot / beginning.parent_path());
    return std::any_of(begin(entries), end(entries), [&](const auto& entry) {
        const std::string name = entry.path().filename().string();
        return name.starts_with(beginning.filename().string()) && name.ends_with(path.substr(star + 1));
    });
}

}  // namespace

TEST_CASE("each link of the documents leads somewhere", "[documents]") {
    const std::regex link(R"(\]\(([^)\s]+)\))");
    std::size_t links = 0;
    for (const fs::path& document : documents())
        for (const std::string& to : all_of(without_fences(read_bytes((kRoot / document).string())), link)) {
            if (to.find("://") != std::string::npos) continue;
            ++links;
            INFO(document.string() << " links to " << to);
            const std::size_t sign = to.find('#');
            const fs::path target =
                sign == 0 ? document : (document.parent_path() / to.substr(0, sign)).lexically_normal();
            CHECK(fs::exists(kRoot / target));
            if (sign == std::string::npos || !fs::is_regular_file(kRoot / target)) continue;
            CHECK(anchors_of(read_bytes((kRoot / target).string())).contains(to.substr(sign + 1)));
        }
    CHECK(links > 200);
}

TEST_CASE("each group of files that the documents name exists", "[documents]") {
    const std::regex path(
        "`((?:app|assets|docs|engine|notebook|packaging|scripts|tests|third_party)/[^`\\s:]*\\*[^`\\s:]*)`");
    std::size_t paths = 0;
    for (const fs::path& document : documents())
        for (const std::string& named : all_of(read_bytes((kRoot / document).string()), path)) {
            ++paths;
            INFO(document.string() << " names " << named);
            CHECK(exists(named));
        }
    CHECK(paths > 40);
}

TEST_CASE("the newest changes are those of this version", "[documents]") {
    const std::string changes = read_bytes((kRoot / "CHANGELOG.md").string());
    const std::vector<std::string> versions = all_of(changes, std::regex(R"(\n## (\d+\.\d+\.\d+)\n)"));
    REQUIRE_FALSE(versions.empty());
    CHECK(versions.front() == DECODERSCOPE_VERSION);
}

TEST_CASE("the README is short", "[documents]") {
    const std::string page = read_bytes((kRoot / "README.md").string());
    CHECK(std::ranges::count(page, '\n') <= 100);
}
