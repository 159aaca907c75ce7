#pragma once

#include "engine/translate.h"

#include <cstddef>
#include <string_view>

namespace decoderscope {

// Which of a language's plural forms a count takes.
struct PluralRule {
    std::size_t forms = 1;
    Catalog::Plural choose;
};

// Reads the header of a .po file that says so: "nplurals=2; plural=n != 1;". The expression is C's, over the count n.
// Throws Error if it is none.
[[nodiscard]] PluralRule plural_rule(std::string_view header);

}  // namespace decoderscope
