#include "tests/sources/source_texts.h"

#include "tests/sources/cpp_tokens.h"

#include <algorithm>
#include <array>
#include <regex>
#include <set>
#include <utility>

namespace decoderscope::testing {

namespace {

constexpr std::array<std::string_view, 7> kMessages = {"tr",        "tr_n",  "message", "message_n",
                                                       "message_c", "Error", "Sentence"};
// Only programmers read these, or they are the same in every language, or they are typed.
constexpr std::array<std::string_view, 5> kNoMessages = {"static_assert", "logic_error", "invalid_argument", "verbatim",
                                                         "found_by"};

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

// The function's name before "(", otherwise nothing.
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
    const Source source = read_tokens(code);
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
    const Source source = read_tokens(code);
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
