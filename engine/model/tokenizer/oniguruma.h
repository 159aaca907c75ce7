#pragma once

#include <string>
#include <string_view>

namespace decoderscope {

// tokenizer.json writes regular expressions in Oniguruma's notation, with Ruby's syntax. Here they are in PCRE2's, with
// the same meaning: \s is Unicode's White_Space, a property's name alone is a category or a script, $ stands before a
// line's end, (…) remembers nothing. Throws Error naming the part that has no translation here.
[[nodiscard]] std::string pcre2_pattern(std::string_view oniguruma);

}  // namespace decoderscope
