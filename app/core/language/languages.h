#pragma once

#include "engine/base/message.h"
#include "engine/base/translate.h"

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace decoderscope::core::language {

// Which of a language's plural forms a count takes.
struct PluralRule {
    std::size_t forms = 1;
    Catalog::Plural choose;
};

// Reads the header of a .po file that says so: "nplurals=2; plural=n != 1;". The expression is C's, over the count n.
// Throws Error if it isn't one.
[[nodiscard]] PluralRule plural_rule(std::string_view header);

// What a .po file says about itself: "Language" → "zh_CN".
using PoHeader = std::map<std::string, std::string, std::less<>>;

// gettext's .po file of one language.
struct PoFile {
    PoHeader header;
    Catalog catalog;
};

// Reads a .po file, UTF-8. A message that is marked fuzzy or has no translation stays English. Throws Error, which
// names the line, if the text isn't a .po file.
[[nodiscard]] PoFile parse_po(std::string_view text);
// Reads only its header.
[[nodiscard]] PoHeader parse_po_header(std::string_view text);
// The value of a line of the header; empty if there is none.
[[nodiscard]] std::string header_line(const PoHeader& header, std::string_view name);

// A language of the window.
struct Language {
    std::string code;  // "zh_CN"
    std::string name;  // in itself: "简体中文"
    std::string file;  // of its translations; empty: English, which needs none
    bool operator==(const Language&) const = default;
};

inline constexpr std::string_view kEnglish = "en";
// A language's code as HTML writes it: "zh-CN".
[[nodiscard]] std::string html_code(std::string code);

// English, and every language with a .po file in a folder: by default the one that comes with the program. Its header
// says what the language calls itself: "X-Language-Name: 简体中文".
[[nodiscard]] std::vector<Language> languages();
[[nodiscard]] std::vector<Language> languages_in(const std::string& folder);

// A variable of the environment; nullptr if it isn't set.
using Environment = std::function<const char*(const char* name)>;

// The language that the environment asks for, as gettext reads it: the first of LANGUAGE that there is, otherwise that
// of LC_ALL, LC_MESSAGES or LANG. The language of another country is better than none: zh_SG and zh give zh_CN. English
// if there is none.
[[nodiscard]] std::string language_of(const Environment& environment, std::span<const Language> known);

// All characters beyond ASCII that a language's texts are written in.
[[nodiscard]] std::set<char32_t> alphabet_of(const Catalog& catalog);

// The language that the window speaks. It speaks English again when this object is gone.
class WindowLanguage {
public:
    WindowLanguage(std::vector<Language> known, Environment environment);
    ~WindowLanguage();
    WindowLanguage(const WindowLanguage&) = delete;
    WindowLanguage& operator=(const WindowLanguage&) = delete;

    [[nodiscard]] const std::vector<Language>& known() const { return known_; }
    // The code of what is spoken.
    [[nodiscard]] const std::string& spoken() const { return spoken_; }
    // Speaks the language of this code; the system's if it is empty. Returns what is wrong if it can't: then the window
    // speaks English. Cheap if nothing has changed.
    [[nodiscard]] Sentence follow(const std::string& code);
    // No installed font can draw the language that is spoken: speaks English. Returns what helps.
    [[nodiscard]] Sentence give_up(std::span<const char32_t> lacking);

private:
    std::vector<Language> known_;
    Environment environment_;
    std::string followed_;  // as asked for
    std::string spoken_{kEnglish};
    std::map<std::string, std::unique_ptr<const Catalog>> catalogs_;
};

}  // namespace decoderscope::core::language
