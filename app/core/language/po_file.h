#pragma once

#include "engine/base/translate.h"

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

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

}  // namespace decoderscope::core::language
