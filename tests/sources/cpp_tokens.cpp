#include "tests/sources/cpp_tokens.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace decoderscope::testing {

namespace {

bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

class Reader {
public:
    explicit Reader(std::string_view source) : source_(source) {}

    Source read() {
        while (at_ < source_.size()) step();
        return std::move(read_);
    }

private:
    void step() {
        const std::string_view rest = source_.substr(at_);
        if (rest.starts_with("//")) return comment(rest.substr(0, rest.find('\n')));
        if (rest.starts_with("/*")) return skip(rest.find("*/") + 2);
        if (rest.starts_with("#include")) return include(rest.substr(0, rest.find('\n')));
        if (rest.starts_with("R\"(")) return raw(rest);
        if (rest[0] == '"') return text(rest);
        if (rest[0] == '\'') return skip(end_of_literal(rest, '\''));
        if (in_word(rest[0])) return word(rest);
        if (std::isspace(static_cast<unsigned char>(rest[0])) == 0) add(Kind::sign, rest.substr(0, 1));
        skip(1);
    }

    void skip(std::size_t count) {
        const std::string_view gone = source_.substr(at_, count);
        line_ += static_cast<std::size_t>(std::count(gone.begin(), gone.end(), '\n'));
        at_ += gone.size();
    }
    void add(Kind kind, std::string_view text) {
        const bool spaced = at_ == 0 || std::isspace(static_cast<unsigned char>(source_[at_ - 1])) != 0;
        read_.tokens.push_back({kind, std::string(text), line_, spaced});
    }
    void include(std::string_view text) {
        const std::size_t from = text.find_first_of("<\"");
        if (from != std::string_view::npos)  // else by a macro's name
            read_.includes.emplace_back(text.substr(from, text.find_first_of(">\"", from + 1) + 1 - from));
        skip(text.size());
    }
    void comment(std::string_view text) {
        if (text.find("not a message: ") != std::string_view::npos) read_.exempt.insert(line_);
        skip(text.size());
    }
    void raw(std::string_view rest) {
        const std::size_t end = rest.find(")\"");
        add(Kind::raw, rest.substr(3, end - 3));
        skip(end + 2);
    }
    void text(std::string_view rest) {
        const std::size_t end = end_of_literal(rest, '"');
        const std::string inside(rest.substr(1, end - 2));
        if (!read_.tokens.empty() && read_.tokens.back().kind == Kind::text)
            read_.tokens.back().text += inside;
        else
            add(Kind::text, inside);
        skip(end);
    }
    void word(std::string_view rest) {
        const auto end = static_cast<std::size_t>(std::find_if_not(rest.begin(), rest.end(), in_word) - rest.begin());
        // 1'000 is a number: its ' begins no character literal.
        if (std::isdigit(static_cast<unsigned char>(rest[0])) != 0 && end < rest.size() && rest[end] == '\'')
            return skip(end + 1);
        add(Kind::word, rest.substr(0, end));
        skip(end);
    }
    static std::size_t end_of_literal(std::string_view rest, char quote) {
        std::size_t at = 1;
        while (at < rest.size() && rest[at] != quote) at += rest[at] == '\\' ? 2 : 1;
        return at + 1;
    }

    std::string_view source_;
    std::size_t at_ = 0, line_ = 1;
    Source read_;
};

}  // namespace

Source read_tokens(std::string_view source) { return Reader(source).read(); }

}  // namespace decoderscope::testing
