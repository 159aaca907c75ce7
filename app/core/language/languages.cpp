#include "app/core/language/languages.h"

#include "app/core/language/po_file.h"
#include "app/core/text/characters.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/load/assets.h"
#include "engine/platform/folders.h"

#include <algorithm>
#include <filesystem>
#include <utility>

namespace decoderscope::core::language {

namespace {

namespace fs = std::filesystem;

// "zh" of "zh_CN".
std::string_view without_country(std::string_view code) { return code.substr(0, code.find('_')); }

// The language for a locale, "zh_CN.UTF-8"; empty if there is none.
std::string language_for(std::string_view locale, std::span<const Language> known) {
    const std::string_view code = locale.substr(0, locale.find_first_of(".@"));
    if (code == "C" || code == "POSIX") return std::string(kEnglish);
    const auto same = std::ranges::find(known, code, &Language::code);
    if (same != known.end()) return same->code;
    const auto near = std::ranges::find_if(
        known, [&](const Language& language) { return without_country(language.code) == without_country(code); });
    return near != known.end() ? near->code : std::string();
}

std::string value_of(const Environment& environment, const char* name) {
    const char* value = environment(name);
    return value == nullptr ? std::string() : std::string(value);
}

// What a language calls itself; its code if the file doesn't say or can't be read: choosing the language reports what
// is wrong with it.
std::string name_in(const fs::path& file) {
    std::string name;
    try {
        name = header_line(parse_po_header(read_text(file.string())), "X-Language-Name");
    } catch (const Error&) {
        name.clear();
    }
    return name.empty() ? file.stem().string() : name;
}

}  // namespace

std::vector<Language> languages() {
    try {
        return languages_in(load::asset_path("messages"));
    } catch (const Error&) {
        return {{std::string(kEnglish), "English", ""}};  // not a message: each language is named in itself
    }
}

std::vector<Language> languages_in(const std::string& folder) {
    std::vector<Language> found;
    std::error_code failed;
    for (const auto& entry : fs::directory_iterator(folder, failed))
        if (entry.path().extension() == ".po")
            found.push_back({entry.path().stem().string(), name_in(entry.path()), entry.path().string()});
    std::ranges::sort(found, {}, &Language::code);
    found.insert(found.begin(), {std::string(kEnglish), "English", ""});  // not a message: the same in each language
    return found;
}

std::string language_of(const Environment& environment, std::span<const Language> known) {
    std::string locale;
    for (const char* name : {"LC_ALL", "LC_MESSAGES", "LANG"})
        if (locale = value_of(environment, name); !locale.empty()) break;
    // As for gettext: this locale switches every language off.
    if (locale == "C" || locale == "POSIX") return std::string(kEnglish);
    std::string wanted = value_of(environment, "LANGUAGE");
    wanted += (wanted.empty() ? "" : ":") + locale;
    for (std::string_view rest = wanted; !rest.empty();) {
        const std::size_t end = std::min(rest.find(':'), rest.size());
        if (end > 0)
            if (std::string found = language_for(rest.substr(0, end), known); !found.empty()) return found;
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return std::string(kEnglish);
}

std::set<char32_t> alphabet_of(const Catalog& catalog) {
    std::set<char32_t> alphabet;
    catalog.each_text([&](std::string_view text) {
        for (const Utf8Character& character : characters(text))
            if (character.code >= 0x80) alphabet.insert(character.code);
    });
    return alphabet;
}

WindowLanguage::WindowLanguage(std::vector<Language> known, Environment environment)
    : known_(std::move(known)), environment_(std::move(environment)) {}

WindowLanguage::~WindowLanguage() { speak_english(); }

Sentence WindowLanguage::follow(const std::string& code) {
    const std::string wanted = code.empty() ? language_of(environment_, known_) : code;
    if (wanted == followed_) return {};
    followed_ = wanted;
    const auto language = std::ranges::find(known_, wanted, &Language::code);
    spoken_ = kEnglish;
    if (language == known_.end() || language->file.empty()) {
        speak_english();
        return {};
    }
    std::unique_ptr<const Catalog>& catalog = catalogs_[wanted];
    try {
        if (!catalog)
            catalog = std::make_unique<const Catalog>(
                naming(language->file, [&] { return parse_po(read_text(language->file)).catalog; }));
    } catch (const Error& error) {
        speak_english();
        return message("{error}. The window stays in English.", {{"error", error.sentence()}});
    }
    spoken_ = wanted;
    speak(*catalog);
    return {};
}

Sentence WindowLanguage::give_up(std::span<const char32_t> lacking) {
    speak_english();
    const std::string language = std::exchange(spoken_, std::string(kEnglish));
    if (std::ranges::none_of(lacking, is_east_asian))
        return message("No font that the window uses has the characters of {language}. The window stays in English.",
                       {{"language", language}});
    return message(
        "No installed font has the characters of {language}: install {package}, then start again. The window stays in "
        "English.",
        {{"language", language}, {"package", platform::east_asian_fonts()}});
}

}  // namespace decoderscope::core::language
