#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace decoderscope::chat {

enum class TokenKind { text, tag_begin, tag_end, print_begin, print_end, name, whole, real, string, sign, end };

struct Token {
    TokenKind kind = TokenKind::end;
    std::string text;  // of a string what stands between its quotes, with its escapes resolved
    int line = 1;
};

// Cuts a template into tokens; the last is the end. White space around tags goes as trim_blocks and lstrip_blocks say:
// a tag takes the line break after it and the blanks before it on its line, "-" takes all white space, and "+" none.
// Comments leave no token. Throws Error naming the line.
[[nodiscard]] std::vector<Token> tokens_of(std::string_view source);

}  // namespace decoderscope::chat
