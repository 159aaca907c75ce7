#include "tests/program/throw_sites.h"

#include "tests/engine/temporary_folder.h"

#include <algorithm>
#include <cctype>
#include <filesystem>

namespace decoderscope::testing {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kThrow = "throw Error(";

// The string literals from here on, joined as the compiler joins them.
std::string joined_literals(std::string_view source) {
    std::string text;
    for (;;) {
        source.remove_prefix(std::min(source.find_first_not_of(" \n"), source.size()));
        if (!source.starts_with('"')) return text;
        std::size_t at = 1;
        for (; source[at] != '"'; ++at) {
            if (source[at] == '\\') ++at;
            text += source[at];
        }
        source.remove_prefix(at + 1);
    }
}

void add_sites(const fs::path& file, const std::string& name, std::vector<ThrowSite>& sites) {
    const std::string source = read_bytes(file.string());
    for (std::size_t at = source.find(kThrow); at != std::string::npos; at = source.find(kThrow, at + 1)) {
        const auto line = 1 + std::count(source.begin(), source.begin() + static_cast<std::ptrdiff_t>(at), '\n');
        sites.push_back(
            {name + ":" + std::to_string(line), joined_literals(std::string_view(source).substr(at + kThrow.size()))});
    }
}

// How long the place is that a message begins with, "{step}"; 0 if it begins with none.
std::size_t place_at(std::string_view message) {
    if (!message.starts_with('{')) return 0;
    const std::size_t end = message.find('}');
    const auto in_name = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; };
    if (end == std::string_view::npos || end == 1 ||
        !std::all_of(message.begin() + 1, message.begin() + static_cast<std::ptrdiff_t>(end), in_name))
        return 0;
    return end + 1;
}

// What stands between a message's places, first and last of all: "", ": missing" of "{name}: missing".
std::vector<std::string> between_places(std::string_view message) {
    std::vector<std::string> parts(1);
    while (!message.empty()) {
        const std::size_t place = place_at(message);
        if (place > 0)
            parts.emplace_back();
        else
            parts.back() += message.front();
        message.remove_prefix(std::max<std::size_t>(place, 1));
    }
    return parts;
}

}  // namespace

std::vector<ThrowSite> throw_sites() {
    const fs::path root = fs::path(DECODERSCOPE_TESTS_DIR).parent_path();
    std::vector<ThrowSite> sites;
    for (const char* folder :
         {"engine/load", "engine/tokenizer", "engine/files", "engine/trace", "engine/model", "app/core/files"})
        for (const auto& entry : fs::recursive_directory_iterator(root / folder))
            if (entry.path().extension() == ".cpp" || entry.path().extension() == ".h")
                add_sites(entry.path(), fs::relative(entry.path(), root).string(), sites);
    std::ranges::sort(sites, {}, &ThrowSite::place);
    return sites;
}

bool says(std::string_view sentence, std::string_view message) {
    const std::vector<std::string> parts = between_places(message);
    std::size_t at = 0;
    for (const std::string& part : parts) {
        const bool last = &part == &parts.back();
        // A remark that quotes an error puts a full stop behind it.
        if (last && sentence.ends_with(part + ".")) sentence.remove_suffix(1);
        const std::size_t found =
            last && sentence.ends_with(part) ? sentence.size() - part.size() : sentence.find(part, at);
        if (found == std::string_view::npos || found < at || (last && found + part.size() != sentence.size()))
            return false;
        at = found + part.size();
    }
    return true;
}

}  // namespace decoderscope::testing
