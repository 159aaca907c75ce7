#include "tests/messages/source_texts.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <regex>
#include <set>

namespace decoderscope::testing {

namespace {

enum class Kind { word, text, raw, sign };

struct Token {
    Kind kind;
    std::string text;  // of a literal: without its quotes, adjacent ones joined
    std::size_t line;
};

struct Source {
    std::vector<Token> tokens;
    std::set<std::size_t> exempt;  // lines
};

bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Reads the few parts of C++ that matter here.
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
        if (rest.starts_with("#include")) return skip(rest.find('\n'));
        if (rest.starts_with("R\"(")) return raw(rest);
        if (rest[0] == '"') return text(rest);
        if (rest[0] == '\'') return skip(end_of_literal(rest, '\''));
        if (in_word(rest[0])) return word(rest);
        if (std::isspace(static_cast<unsigned char>(rest[0])) == 0)
            read_.tokens.push_back({Kind::sign, std::string(1, rest[0]), line_});
        skip(1);
    }

    void skip(std::size_t count) {
        const std::string_view gone = source_.substr(at_, count);
        line_ += static_cast<std::size_t>(std::count(gone.begin(), gone.end(), '\n'));
        at_ += gone.size();
    }
    void comment(std::string_view text) {
        if (text.find("not a message: ") != std::string_view::npos) read_.exempt.insert(line_);
        skip(text.size());
    }
    void raw(std::string_view rest) {
        const std::size_t end = rest.find(")\"");
        read_.tokens.push_back({Kind::raw, std::string(rest.substr(3, end - 3)), line_});
        skip(end + 2);
    }
    void text(std::string_view rest) {
        const std::size_t end = end_of_literal(rest, '"');
        const std::string inside(rest.substr(1, end - 2));
        if (!read_.tokens.empty() && read_.tokens.back().kind == Kind::text)
            read_.tokens.back().text += inside;
        else
            read_.tokens.push_back({Kind::text, inside, line_});
        skip(end);
    }
    void word(std::string_view rest) {
        const auto end = static_cast<std::size_t>(std::find_if_not(rest.begin(), rest.end(), in_word) - rest.begin());
        // 1'000 is a number: its ' begins no character literal.
        if (std::isdigit(static_cast<unsigned char>(rest[0])) != 0 && end < rest.size() && rest[end] == '\'')
            return skip(end + 1);
        read_.tokens.push_back({Kind::word, std::string(rest.substr(0, end)), line_});
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

constexpr std::array<std::string_view, 7> kMessages = {"tr",        "tr_n",  "message", "message_n",
                                                       "message_c", "Error", "Sentence"};
// Only programmers read these, or they are the same in every language.
constexpr std::array<std::string_view, 4> kNoMessages = {"static_assert", "logic_error", "invalid_argument",
                                                         "verbatim"};

bool is_one_of(const auto& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_prose(const std::string& literal) {
    static const std::regex id("##.*"), escape(R"(\\x[0-9A-F]+|\\.)"), words(R"([A-Za-z]{2,},? [A-Za-z]{2,})"),
        label("[A-Z][a-z]+(…)?");
    const std::string text = std::regex_replace(std::regex_replace(literal, id, ""), escape, " ");
    return std::regex_search(text, words) || std::regex_match(text, label);
}

std::set<std::string> places_in(const std::string& text) {
    static const std::regex place(R"(\{([a-z0-9_]+)\})");
    std::set<std::string> places;
    for (std::sregex_iterator found(text.begin(), text.end(), place), end; found != end; ++found)
        places.insert((*found)[1]);
    return places;
}

bool is_sign(const Token& token, std::string_view signs) {
    return token.kind == Kind::sign && signs.find(token.text) != std::string_view::npos;
}

// The function's name before "(", else nothing.
std::string owner_of(const std::vector<Token>& tokens, std::size_t bracket) {
    const bool call = tokens[bracket].text == "(" && bracket > 0 && tokens[bracket - 1].kind == Kind::word;
    return call ? tokens[bracket - 1].text : "";
}

// A call of a message function while it is read.
struct Call {
    std::string function;
    std::size_t line = 0;
    std::set<std::string> places, named;
};

}  // namespace

std::vector<Finding> prose_that_bypasses(std::string_view code) {
    const Source source = Reader(code).read();
    std::vector<Finding> findings;
    std::vector<std::string> open;
    for (std::size_t i = 0; i < source.tokens.size(); ++i) {
        const Token& token = source.tokens[i];
        if (is_sign(token, "([{")) open.push_back(owner_of(source.tokens, i));
        if (is_sign(token, ")]}") && !open.empty()) open.pop_back();
        if (token.kind != Kind::text || !is_prose(token.text) || source.exempt.contains(token.line)) continue;
        const std::string function = open.empty() ? "" : open.back();
        if (!is_one_of(kMessages, function) && !is_one_of(kNoMessages, function))
            findings.push_back({token.line, token.text});
    }
    return findings;
}

std::vector<Finding> places_without_argument(std::string_view code) {
    const Source source = Reader(code).read();
    std::vector<Finding> findings;
    std::vector<Call> open;
    for (std::size_t i = 0; i < source.tokens.size(); ++i) {
        const Token& token = source.tokens[i];
        if (is_sign(token, "([{")) open.push_back({owner_of(source.tokens, i), token.line, {}, {}});
        if (token.kind == Kind::text && !open.empty()) {
            const bool phrase = is_one_of(kMessages, open.back().function);
            if (phrase)
                open.back().places.merge(places_in(token.text));
            else
                for (Call& call : open) call.named.insert(token.text);
        }
        if (!is_sign(token, ")]}") || open.empty()) continue;
        const Call call = std::move(open.back());
        open.pop_back();
        if (call.named.empty()) continue;  // no arguments, or they are held in a variable
        for (const std::string& place : call.places)
            if (!call.named.contains(place) && !(call.function.ends_with("_n") && place == "count"))
                findings.push_back({call.line, "{" + place + "}"});
    }
    return findings;
}

}  // namespace decoderscope::testing
