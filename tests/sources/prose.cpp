#include "tests/sources/prose.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

namespace decoderscope::testing {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kNone = std::string_view::npos;

std::string_view without_blanks(std::string_view text) {
    const std::size_t from = text.find_first_not_of(" \t");
    if (from == kNone) return {};
    return text.substr(from, text.find_last_not_of(" \t\r") + 1 - from);
}

// Collects the lines of paragraphs.
class Gathering {
public:
    void add(std::size_t line, std::string_view text) {
        if (open_.offsets.empty())
            open_.first_line = line;
        else
            open_.text += ' ';
        open_.offsets.push_back(open_.text.size());
        open_.text += text;
    }
    void end() {
        if (!open_.offsets.empty()) done_.push_back(std::exchange(open_, {}));
    }
    void message(std::size_t line, std::string_view text) {
        end();
        add(line, text);
        open_.is_message = true;
        end();
    }
    std::vector<Paragraph> take() {
        end();
        return std::move(done_);
    }

private:
    Paragraph open_;
    std::vector<Paragraph> done_;
};

template <class Each>
void each_line(std::string_view text, Each each) {
    for (std::size_t line = 1; !text.empty(); ++line) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        each(line, text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
}

// Lines that are comments, and comments behind code.
std::vector<Paragraph> comments(std::string_view text, std::string_view sign) {
    Gathering found;
    each_line(text, [&](std::size_t number, std::string_view line) {
        const std::string_view bare = without_blanks(line);
        if (bare.starts_with(sign)) {
            found.add(number, without_blanks(bare.substr(sign.size())));
            return;
        }
        found.end();
        const std::size_t at = line.rfind("  " + std::string(sign) + " ");
        if (at == kNone || std::ranges::count(line.substr(0, at), '"') % 2 != 0) return;
        found.add(number, without_blanks(line.substr(at + 2 + sign.size())));
        found.end();
    });
    return found.take();
}

std::vector<Paragraph> page(std::string_view text) {
    Gathering found;
    bool in_code = false;
    each_line(text, [&](std::size_t number, std::string_view line) {
        const std::string_view bare = without_blanks(line);
        const bool fence = bare.starts_with("```");
        if (fence) in_code = !in_code;
        if (fence || in_code || bare.empty() || line.starts_with("    ")) return found.end();
        if (bare.starts_with('|') || bare.starts_with('#') || bare.starts_with("- ")) found.end();
        found.add(number, bare);
        if (bare.starts_with('|') || bare.starts_with('#')) found.end();
    });
    return found.take();
}

std::vector<Paragraph> messages(std::string_view text) {
    Gathering found;
    each_line(text, [&](std::size_t number, std::string_view line) {
        for (const std::string_view key : {"msgid \"", "msgid_plural \""})
            if (line.starts_with(key) && line.size() > key.size() + 1)
                found.message(number, line.substr(key.size(), line.size() - key.size() - 1));
    });
    return found.take();
}

template <std::size_t count>
bool ends_with_one_of(std::string_view path, const std::array<std::string_view, count>& endings) {
    return std::ranges::any_of(endings, [&](std::string_view ending) { return path.ends_with(ending); });
}

}  // namespace

std::size_t Paragraph::line_at(std::size_t offset) const {
    const auto after = std::ranges::upper_bound(offsets, offset);
    return first_line + static_cast<std::size_t>(after - offsets.begin()) - 1;
}

std::vector<Paragraph> paragraphs_of(std::string_view path, std::string_view text) {
    static constexpr std::array<std::string_view, 4> kSlashes = {".cpp", ".h", ".mjs", ".js"};
    static constexpr std::array<std::string_view, 4> kHashes = {".cmake", "CMakeLists.txt", ".sh", ".py"};
    if (ends_with_one_of(path, kSlashes)) return comments(text, "//");
    if (ends_with_one_of(path, kHashes)) return comments(text, "#");
    if (path.ends_with(".pot")) return messages(text);
    if (path.ends_with(".md") && path.find(".zh_CN.") == kNone) return page(text);
    return {};
}

std::set<std::string> files_of_repository() {
    const fs::path root = fs::path(DECODERSCOPE_TESTS_DIR).parent_path();
    std::set<std::string> files;
    for (auto entry = fs::recursive_directory_iterator(root); entry != fs::recursive_directory_iterator(); ++entry) {
        const std::string name = entry->path().filename().string();
        const bool built = name == "build" || name == "__pycache__" || name == "node_modules" || name == ".git";
        if (entry->is_directory() && built) entry.disable_recursion_pending();
        if (entry->is_regular_file()) files.insert(entry->path().lexically_relative(root).generic_string());
    }
    return files;
}

}  // namespace decoderscope::testing
