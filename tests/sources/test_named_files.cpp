// Comments, pages and scripts name files and folders of the repository that exist.
#include "tests/catch.h"
#include "tests/engine/temporary_folder.h"
#include "tests/sources/prose.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace decoderscope::testing;

namespace {

constexpr std::size_t kNowhere = std::string_view::npos;

// Names that look like ours and are others' (or stand for any).
constexpr std::array<std::string_view, 6> kOthers = {"llama.cpp",
                                                     "docs/gguf.md" /* ggml's */,
                                                     "examples/gpt-2/main-backend.cpp" /* ggml's */,
                                                     "notebook/base/handlers.py" /* Jupyter's */,
                                                     "notebook/files/handlers.py" /* Jupyter's */,
                                                     "grad.h" /* a gradient of block h */};

bool is_name_character(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || std::string_view("_-./").find(c) != kNowhere;
}

// Whether a word is written like one of our files, or one of our folders.
bool is_like_a_file(std::string_view word) {
    const std::size_t dot = word.rfind('.');
    if (dot == kNowhere || dot == 0 || word[dot - 1] == '/') return false;
    static constexpr std::array<std::string_view, 7> kSources = {".cpp", ".h", ".cmake", ".sh", ".py", ".mjs", ".js"};
    static constexpr std::array<std::string_view, 5> kOthersEndings = {".md", ".json", ".po", ".pot", ".txt"};
    const std::string_view ending = word.substr(dot);
    return std::ranges::find(kSources, ending) != kSources.end() ||
           (word.find('/') != kNowhere && std::ranges::find(kOthersEndings, ending) != kOthersEndings.end());
}
bool is_like_a_folder(std::string_view word) {
    static constexpr std::array<std::string_view, 9> kFolders = {
        "engine/", "app/", "tests/", "assets/", "docs/", "scripts/", "packaging/", "notebook/", "third_party/"};
    return word.ends_with('/') && std::ranges::any_of(kFolders, [&](auto folder) { return word.starts_with(folder); });
}

// A name that stands for others: "x_windows.cpp", "NAME/golden.json"; or what a program makes.
bool stands_for_others(std::string_view word) {
    for (const std::string_view placeholder : {"NAME", "FILE", "LESSON", "magnitudes"})
        if (word.find(placeholder) != kNowhere) return true;
    for (const std::string_view start : {"build/", "_", "x.", "x_", "decoderscope/", "-", "/"})
        if (word.starts_with(start)) return true;
    return std::ranges::find(kOthers, word) != kOthers.end();
}

class Repository {
public:
    explicit Repository(std::set<std::string> files) : files_(std::move(files)) {
        for (const std::string& file : files_)
            for (std::size_t slash = file.find('/'); slash != kNowhere; slash = file.find('/', slash + 1))
                folders_.insert(file.substr(0, slash + 1));
    }
    [[nodiscard]] const std::set<std::string>& files() const { return files_; }

    // Whether a name in a file leads to one: from the root, from the file's folder, or as the end of a path.
    [[nodiscard]] bool has(std::string word, const std::string& in) const {
        const std::string beside = (std::filesystem::path(in).parent_path() / word).lexically_normal().generic_string();
        while (word.starts_with("./") || word.starts_with("../")) word.erase(0, word.find('/') + 1);
        const auto& all = word.ends_with('/') ? folders_ : files_;
        return all.contains(word) || all.contains(beside) || std::ranges::any_of(all, [&](const std::string& path) {
                   return path.size() > word.size() && path.ends_with(word) &&
                          path[path.size() - word.size() - 1] == '/';
               });
    }

private:
    std::set<std::string> files_, folders_;
};

// The words of a text that are written like files or folders, with their places.
std::vector<std::pair<std::size_t, std::string>> names_in(std::string_view text) {
    std::vector<std::pair<std::size_t, std::string>> found;
    for (std::size_t from = 0; from < text.size();) {
        if (!is_name_character(text[from])) {
            ++from;
            continue;
        }
        std::size_t to = from;
        while (to < text.size() && is_name_character(text[to])) ++to;
        // Part of an address, a pattern or a variable.
        const char before = from == 0 ? ' ' : text[from - 1], after = to == text.size() ? ' ' : text[to];
        const bool whole = std::string_view(":$}*<>{~@%\\=").find(before) == kNowhere &&
                           std::string_view("*{<>$(").find(after) == kNowhere;
        std::string word(text.substr(from, to - from));
        while (!word.empty() && (word.back() == '.' || word.back() == '-')) word.pop_back();
        if (whole && (is_like_a_file(word) || is_like_a_folder(word)) && !stands_for_others(word))
            found.emplace_back(from, word);
        from = to;
    }
    return found;
}

std::string missing_files(const Repository& repository, const std::string& path, std::string_view source) {
    std::string found;
    for (const Paragraph& paragraph : paragraphs_of(path, source))
        for (const auto& [at, word] : names_in(paragraph.text))
            if (!repository.has(word, path))
                found += path + ":" + std::to_string(paragraph.line_at(at)) + ": " + word + "\n";
    return found;
}

}  // namespace

TEST_CASE("a file that a comment or a page names exists") {
    const Repository repository(files_of_repository());
    const std::filesystem::path root = std::filesystem::path(DECODERSCOPE_TESTS_DIR).parent_path();
    std::string found;
    std::size_t files = 0;
    for (const std::string& path : repository.files()) {
        // What was, and lessons for learners.
        if (path == "CHANGELOG.md" || path.starts_with("assets/lessons/") || path.starts_with("tests/sources/test_"))
            continue;
        const std::string source = read_bytes((root / path).string());
        if (path.ends_with(".pot") || paragraphs_of(path, source).empty()) continue;
        ++files;
        found += missing_files(repository, path, source);
    }
    CHECK(found == "");
    CHECK(files > 1000);
}

TEST_CASE("a file that doesn't exist is found in comments and pages") {
    const Repository repository({"engine/base/json.cpp", "engine/base/json.h", "docs/limits.md", "app/core/a.h"});
    const auto missing = [&](const std::string& path, std::string_view text) {
        return missing_files(repository, path, text);
    };
    CHECK(missing("app/core/a.h", "int a;\n// In desk.h, and in\n// engine/base/jsn.cpp.\n") ==
          "app/core/a.h:2: desk.h\napp/core/a.h:3: engine/base/jsn.cpp\n");
    CHECK(missing("docs/limits.md", "See `app/core/tabs/` and (engine/platform/).\n") ==
          "docs/limits.md:1: app/core/tabs/\ndocs/limits.md:1: engine/platform/\n");
    CHECK(missing("docs/limits.md", "[limits](limits.md), `base/json.h`, engine/base/, ../app/core/a.h.").empty());
    CHECK(missing("a.cpp", "#include \"b.h\"\n// json.cpp, tokenizer.json, x_windows.cpp, *.cpp, {NAME}.h\n").empty());
}
