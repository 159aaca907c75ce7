#include "tests/sources/names.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace decoderscope::testing {

namespace {

constexpr std::string_view kTypes = "struct class enum union using concept typename";
// Words before a name that make it no declaration.
constexpr std::string_view kNoTypes =
    "return co_return co_await co_yield throw if else case new delete not const static inline constexpr friend mutable "
    "operator";

bool is_upper(char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; }

bool is_constant(std::string_view name) { return name.size() > 1 && name[0] == 'k' && is_upper(name[1]); }

class NameReader {
public:
    explicit NameReader(const std::vector<Token>& tokens) : tokens_(tokens) {}

    Names read() {
        for (at_ = 0; at_ < tokens_.size(); ++at_) {
            if (tokens_[at_].kind == Kind::word) word();
            if (tokens_[at_].kind == Kind::sign) sign(tokens_[at_].text[0]);
        }
        return names_;
    }

private:
    // The token so many places further, nothing beyond the ends.
    [[nodiscard]] const Token& token(std::ptrdiff_t places) const {
        static const Token none{Kind::sign, " ", 0, true};
        const std::size_t index = at_ + static_cast<std::size_t>(places);
        return index < tokens_.size() ? tokens_[index] : none;
    }
    // Whether that is one of these, which stand between spaces.
    [[nodiscard]] bool is(std::ptrdiff_t places, std::string_view texts) const {
        const Token& there = token(places);
        const bool literal = there.kind == Kind::text || there.kind == Kind::raw;
        return !literal && (" " + std::string(texts) + " ").find(" " + there.text + " ") != std::string::npos;
    }
    [[nodiscard]] bool is_word(std::ptrdiff_t places) const { return token(places).kind == Kind::word; }

    void sign(char sign) {
        if (sign == '(') ++parentheses_;
        if (sign == ')') --parentheses_;
        if (sign == '{') scopes_.push_back(opens_namespace_);
        if (sign == '}' && !scopes_.empty()) scopes_.pop_back();
        if (sign == '{' || sign == ';') opens_namespace_ = false;
    }
    void word() {
        const std::string& name = tokens_[at_].text;
        if (is(0, "void bool char int float double auto")) return;
        if (name == "namespace") opens_namespace_ = !is(-1, "using");
        if (opens_namespace_ || is_declared()) {
            names_.declared.insert(name);
            if (is_offered()) names_.offered.insert(name);
        } else if (is_used()) {
            names_.used.insert(name);
        }
        if (is(-1, ":") && is(-2, ":") && (is(-3, "std") || (is(-3, "ranges") && is(-6, "std"))))
            names_.standard.insert(name);
    }

    [[nodiscard]] bool is_declared() const {
        if (is(-1, kTypes) || is_bound()) return true;
        if (is(1, ":") && is(2, ":")) return false;
        if (is(-1, "]") && is(-2, "]") && is(1, "{ : final")) return true;  // struct [[nodiscard]] Name {
        if (is(-1, ",") && is(1, "=")) return true;                         // int other = 1, name = 2
        if (is(-1, "*") && is(-2, "(") && is(1, ")")) return true;          // void (*name)()
        if (is(-1, ".") && is(-2, ".")) return true;                        // class... Name
        if (!is(1, "( = ; { , ) [ :")) return false;
        if (is_word(-1)) return !is(-1, kNoTypes) && token(-1).line == tokens_[at_].line;  // not behind #ifdef
        // T& name, T* name, T<U> name; but neither a && name nor -> Name
        const bool glued = tokens_[at_].spaced && !token(-1).spaced && is(-1, "& * >");
        return glued && !(is(-2, "& > -") && token(-2).spaced);
    }
    // By auto [name, name].
    [[nodiscard]] bool is_bound() const {
        std::ptrdiff_t before = -1;
        while (is(before, ",") && is_word(before - 1)) before -= 2;
        return is(before, "[") && (is(before - 1, "auto") || (is(before - 1, "&") && is(before - 2, "auto")));
    }
    [[nodiscard]] bool is_offered() const {
        if (is(0, "std")) return false;  // namespace std {
        if (parentheses_ != 0 || std::ranges::find(scopes_, false) != scopes_.end()) return false;
        if (opens_namespace_) return is(1, "{ =");
        if (is(-1, "using")) return is(1, "=");
        return is(-1, kTypes) ? is(1, "{ : final =") && !is(-2, "< ,") : true;
    }
    [[nodiscard]] bool has_capital() const { return std::ranges::any_of(tokens_[at_].text, is_upper); }
    [[nodiscard]] bool is_used() const {
        const std::string& name = tokens_[at_].text;
        // Module.page is JavaScript's.
        const bool capital = has_capital() && (is_constant(name) || !is(1, "."));
        const bool qualifies = is(1, ":") && is(2, ":");
        if (!capital && !qualifies && !is(1, "(")) return false;
        if (is(-1, ".") || (is(-1, ">") && is(-2, "-") && !tokens_[at_].spaced)) return false;
        if (!is(-1, ":") || !is(-2, ":")) return true;
        // Of a class, of the system (::name), of another library?
        std::ptrdiff_t root = -3;
        while (is(root - 1, ":") && is(root - 2, ":")) root -= 3;
        return is_word(root) && !is_upper(token(-3).text[0]) && !is(root, "std fs nlohmann");
    }

    const std::vector<Token>& tokens_;
    std::size_t at_ = 0;
    int parentheses_ = 0;
    bool opens_namespace_ = false;
    std::vector<bool> scopes_;  // of the open braces: whether they are a namespace's
    Names names_;
};

}  // namespace

Names names_in(const std::vector<Token>& tokens) { return NameReader(tokens).read(); }

}  // namespace decoderscope::testing
