#include "engine/chat/syntax.h"

#include "engine/base/error.h"
#include "engine/chat/tokens.h"

#include <fast_float/fast_float.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <initializer_list>
#include <utility>

namespace decoderscope::chat {

namespace {

constexpr int kDeepestPiece = 100;

class Parser {
public:
    explicit Parser(std::string_view source) : tokens_(tokens_of(source)) {}

    Node whole() {
        Node body = parse_body({});
        if (!at(TokenKind::end)) expected(message("the end of the template"));
        return body;
    }

private:
    // ---- tokens

    [[nodiscard]] const Token& token() const { return tokens_[next_]; }
    [[nodiscard]] const Token& ahead(std::size_t by) const { return tokens_[std::min(next_ + by, tokens_.size() - 1)]; }
    [[nodiscard]] bool at(TokenKind kind) const { return token().kind == kind; }
    [[nodiscard]] bool at_sign(std::string_view sign) const { return at(TokenKind::sign) && token().text == sign; }
    [[nodiscard]] bool at_word(std::string_view word) const { return at(TokenKind::name) && token().text == word; }
    [[nodiscard]] bool at_tag(std::string_view word) const {
        return at(TokenKind::tag_begin) && ahead(1).kind == TokenKind::name && ahead(1).text == word;
    }

    [[noreturn]] void expected(std::string_view what) const { expected(Sentence::verbatim(what)); }
    [[noreturn]] void expected(const Sentence& what) const {
        static constexpr std::array<std::string_view, 5> brackets = {"text", "{%", "%}", "{{", "}}"};
        const auto kind = static_cast<std::size_t>(token().kind);
        const Sentence found =
            at(TokenKind::end)
                ? message("the end")
                : Sentence::verbatim(kind < brackets.size() ? std::string(brackets[kind]) : quotable(token().text));
        fail(token().line, message("expected {expected}, found {found}", {{"expected", what}, {"found", found}}));
    }
    Token take() {
        Token taken = token();
        if (next_ + 1 < tokens_.size()) ++next_;
        return taken;
    }
    bool took_sign(std::string_view sign) {
        const bool here = at_sign(sign);
        if (here) take();
        return here;
    }
    bool took_word(std::string_view word) {
        const bool here = at_word(word);
        if (here) take();
        return here;
    }
    void want_sign(std::string_view sign) {
        if (!took_sign(sign)) expected(sign);
    }
    void want_word(std::string_view word) {
        if (!took_word(word)) expected(word);
    }
    std::string want_name() {
        if (!at(TokenKind::name)) expected(message("a name"));
        return take().text;
    }
    void end_tag() {
        if (!at(TokenKind::tag_end)) expected("%}");
        take();
    }
    void end_with(std::string_view word) {
        take();
        want_word(word);
        end_tag();
    }
    [[nodiscard]] Node node(NodeKind kind, std::string name = {}) const {
        return {.kind = kind, .line = token().line, .name = std::move(name)};
    }

    // Counts how deeply pieces stand in each other, so that no template exhausts the stack.
    struct Deeper {
        explicit Deeper(Parser& in) : parser(in) {
            if (++parser.depth_ > kDeepestPiece)
                fail(parser.token().line,
                     message("more than {count} pieces stand in each other", {{"count", kDeepestPiece}}));
        }
        Deeper(const Deeper&) = delete;
        Deeper& operator=(const Deeper&) = delete;
        ~Deeper() { --parser.depth_; }
        Parser& parser;
    };

    // ---- statements

    // Up to a tag that is one of these, which isn't taken.
    Node parse_body(std::initializer_list<std::string_view> until) {
        const Deeper deeper(*this);
        Node body = node(NodeKind::body);
        while (!at(TokenKind::end)) {
            if (std::ranges::any_of(until, [&](std::string_view word) { return at_tag(word); })) return body;
            body.parts.push_back(parse_piece());
        }
        if (until.size() > 0) expected("{% " + std::string(*(until.end() - 1)) + " %}");
        return body;
    }

    Node parse_piece() {
        if (at(TokenKind::text)) {
            Node text = node(NodeKind::text);
            text.value = Text(take().text);
            return text;
        }
        if (at(TokenKind::print_begin)) {
            Node print = node(NodeKind::print);
            take();
            print.parts.push_back(parse_items());
            if (!at(TokenKind::print_end)) expected("}}");
            take();
            return print;
        }
        take();  // {%
        const std::string tag = want_name();
        if (tag == "if") return parse_condition();
        if (tag == "for") return parse_loop();
        if (tag == "set") return parse_set();
        if (tag == "macro") return parse_macro();
        if (tag == "generation") return parse_generation();
        if (tag == "filter") return parse_filter_block();
        if (tag == "break" || tag == "continue") return parse_jump(tag);
        fail(token().line, message("the tag {tag} is unknown here", {{"tag", tag}}));
    }

    Node parse_condition() {
        Node condition = node(NodeKind::condition);
        condition.parts.push_back(parse_expression());
        end_tag();
        condition.parts.push_back(parse_body({"elif", "else", "endif"}));
        if (at_tag("elif")) {
            const Deeper deeper(*this);
            take();
            take();
            condition.parts.push_back(parse_condition());
            return condition;
        }
        condition.parts.push_back(parse_otherwise({"endif"}));
        end_with("endif");
        return condition;
    }

    // What follows {% else %}, if there is one.
    Node parse_otherwise(std::initializer_list<std::string_view> until) {
        if (!at_tag("else")) return node(NodeKind::body);
        take();
        take();
        end_tag();
        return parse_body(until);
    }

    Node parse_loop() {
        Node loop = node(NodeKind::loop);
        do {
            loop.names.push_back(want_name());
        } while (took_sign(","));
        want_word("in");
        loop.parts.push_back(parse_either());
        Node always = node(NodeKind::literal);
        always.value = true;
        loop.parts.push_back(took_word("if") ? parse_expression() : always);
        if (at_word("recursive")) fail(token().line, message("a recursive loop is unknown here"));
        end_tag();
        ++loops_;
        loop.parts.push_back(parse_body({"else", "endfor"}));
        --loops_;
        loop.parts.push_back(parse_otherwise({"endfor"}));
        end_with("endfor");
        return loop;
    }

    Node parse_jump(const std::string& tag) {
        const Node jump = node(tag == "break" ? NodeKind::leave : NodeKind::skip);
        if (loops_ == 0) fail(jump.line, message("the tag {tag} stands in no loop", {{"tag", tag}}));
        end_tag();
        return jump;
    }

    Node parse_set() {
        Node set = node(NodeKind::set);
        set.names.push_back(want_name());
        if (took_sign(".")) {
            set.names.push_back(want_name());
            set.name = "attribute";
        } else {
            while (took_sign(",")) set.names.push_back(want_name());
        }
        if (took_sign("=")) {
            set.parts.push_back(parse_items());
            end_tag();
            return set;
        }
        if (set.names.size() != 1) expected("=");
        set.kind = NodeKind::set_block;
        Node value = node(NodeKind::name);
        value = parse_filters(std::move(value));
        end_tag();
        set.parts.push_back(parse_body({"endset"}));
        set.parts.push_back(std::move(value));
        end_with("endset");
        return set;
    }

    Node parse_macro() {
        Node macro = node(NodeKind::macro);
        macro.names.push_back(want_name());
        want_sign("(");
        std::vector<Node> defaults;
        while (!at_sign(")")) {
            macro.names.push_back(want_name());
            if (took_sign("="))
                defaults.push_back(parse_expression());
            else if (!defaults.empty())
                expected("=");
            if (!at_sign(")")) want_sign(",");
        }
        take();
        end_tag();
        const int loops = std::exchange(loops_, 0);
        macro.parts.push_back(parse_body({"endmacro"}));
        loops_ = loops;
        for (Node& value : defaults) macro.parts.push_back(std::move(value));
        end_with("endmacro");
        return macro;
    }

    Node parse_generation() {
        Node generation = node(NodeKind::generation);
        end_tag();
        generation.parts.push_back(parse_body({"endgeneration"}));
        end_with("endgeneration");
        return generation;
    }

    Node parse_filter_block() {
        Node block = node(NodeKind::filter_block);
        Node input = node(NodeKind::name);
        Node filtered = parse_filters(parse_filter(std::move(input)));
        end_tag();
        block.parts.push_back(parse_body({"endfilter"}));
        block.parts.push_back(std::move(filtered));
        end_with("endfilter");
        return block;
    }

    // ---- expressions, from the weakest operator to the strongest

    // One expression, or several with commas, which are a list.
    Node parse_items() {
        Node first = parse_expression();
        if (!at_sign(",")) return first;
        Node list = node(NodeKind::list);
        list.parts.push_back(std::move(first));
        while (took_sign(","))
            if (!at(TokenKind::tag_end) && !at(TokenKind::print_end) && !at_sign(")"))
                list.parts.push_back(parse_expression());
        return list;
    }

    Node parse_expression() {
        const Deeper deeper(*this);
        Node value = parse_either();
        while (at_word("if")) {
            Node choice = node(NodeKind::choice);
            take();
            choice.parts.push_back(std::move(value));
            choice.parts.push_back(parse_either());
            if (took_word("else")) choice.parts.push_back(parse_expression());
            value = std::move(choice);
        }
        return value;
    }

    Node two(NodeKind kind, std::string name, Node left, Node right) const {
        Node both = node(kind, std::move(name));
        both.parts.push_back(std::move(left));
        both.parts.push_back(std::move(right));
        return both;
    }

    Node parse_either() {
        Node left = parse_both();
        while (took_word("or")) left = two(NodeKind::either, "", std::move(left), parse_both());
        return left;
    }

    Node parse_both() {
        Node left = parse_inverse();
        while (took_word("and")) left = two(NodeKind::both, "", std::move(left), parse_inverse());
        return left;
    }

    Node parse_inverse() {
        if (!at_word("not")) return parse_compare();
        const Deeper deeper(*this);
        Node inverse = node(NodeKind::inverse);
        take();
        inverse.parts.push_back(parse_inverse());
        return inverse;
    }

    // The operator that is next; empty if it compares nothing.
    std::string took_comparison() {
        if (at_word("in")) return take().text;
        if (at_word("not") && ahead(1).kind == TokenKind::name && ahead(1).text == "in") {
            take();
            take();
            return "not in";  // not a message: Jinja's operator
        }
        for (const std::string_view sign : {"==", "!=", "<=", ">=", "<", ">"})
            if (at_sign(sign)) return take().text;
        return {};
    }

    Node parse_compare() {
        Node first = parse_operators(0);
        Node compare = node(NodeKind::compare);
        for (std::string sign = took_comparison(); !sign.empty(); sign = took_comparison()) {
            if (compare.parts.empty()) compare.parts.push_back(std::move(first));
            compare.names.push_back(std::move(sign));
            compare.parts.push_back(parse_operators(0));
        }
        return compare.parts.empty() ? first : compare;
    }

    // + and −, then ~, then * / // %, then **.
    Node parse_operators(std::size_t level) {
        static const std::array<std::vector<std::string_view>, 4> levels = {
            {{"+", "-"}, {"~"}, {"*", "/", "//", "%"}, {"**"}}};
        if (level == levels.size()) return parse_sign();
        Node left = parse_operators(level + 1);
        while (std::ranges::any_of(levels[level], [&](std::string_view sign) { return at_sign(sign); })) {
            std::string sign = take().text;
            left = two(NodeKind::binary, std::move(sign), std::move(left), parse_operators(level + 1));
        }
        return left;
    }

    Node parse_sign(bool with_filters = true) {
        const Deeper deeper(*this);
        Node value;
        if (at_sign("-") || at_sign("+")) {
            Node negative = node(NodeKind::negative, token().text);
            take();
            negative.parts.push_back(parse_sign(false));
            value = std::move(negative);
        } else {
            value = parse_postfix(parse_primary());
        }
        return with_filters ? parse_filters(std::move(value)) : value;
    }

    Node parse_primary() {
        Node literal = node(NodeKind::literal);
        switch (token().kind) {
            case TokenKind::string: {
                std::string text;
                while (at(TokenKind::string)) text += take().text;
                literal.value = Text(std::move(text));
                return literal;
            }
            case TokenKind::whole:
                literal.value = whole_number();
                return literal;
            case TokenKind::real:
                literal.value = real_number();
                return literal;
            case TokenKind::name:
                return parse_name();
            default:
                return parse_brackets();
        }
    }

    Value whole_number() {
        const std::string digits = take().text;
        std::int64_t number = 0;
        if (std::from_chars(digits.data(), digits.data() + digits.size(), number).ec != std::errc())
            fail(token().line, message("{number} is too large", {{"number", quotable(digits)}}));
        return number;
    }

    Value real_number() {
        const std::string digits = take().text;
        double number = 0.0;
        fast_float::from_chars(digits.data(), digits.data() + digits.size(), number);
        return number;
    }

    Node parse_name() {
        Node name = node(NodeKind::name, take().text);
        const std::string& word = name.name;
        const bool yes = word == "true" || word == "True";   // not a message: Python's word
        const bool no = word == "false" || word == "False";  // not a message: Python's word
        const bool none = word == "none" || word == "None";  // not a message: Python's word
        if (!yes && !no && !none) return name;
        name.kind = NodeKind::literal;
        name.value = none ? Value(None()) : Value(yes);
        return name;
    }

    Node parse_brackets() {
        if (took_sign("(")) {
            Node value = node(NodeKind::list);
            if (!at_sign(")")) value = parse_items();
            want_sign(")");
            return value;
        }
        if (at_sign("[")) {
            Node list = node(NodeKind::list);
            take();
            while (!at_sign("]")) {
                list.parts.push_back(parse_expression());
                if (!at_sign("]")) want_sign(",");
            }
            take();
            return list;
        }
        if (!at_sign("{")) expected(message("a value"));
        Node dictionary = node(NodeKind::dictionary);
        take();
        while (!at_sign("}")) {
            dictionary.parts.push_back(parse_expression());
            want_sign(":");
            dictionary.parts.push_back(parse_expression());
            if (!at_sign("}")) want_sign(",");
        }
        take();
        return dictionary;
    }

    Node parse_postfix(Node value) {
        while (true) {
            if (at_sign("."))
                value = parse_attribute(std::move(value));
            else if (at_sign("["))
                value = parse_item(std::move(value));
            else if (at_sign("("))
                value = parse_call(std::move(value));
            else
                return value;
        }
    }

    Node parse_attribute(Node object) {
        take();
        Node attribute = node(NodeKind::attribute);
        if (at(TokenKind::whole)) {
            attribute.kind = NodeKind::item;
            Node key = node(NodeKind::literal);
            key.value = whole_number();
            attribute.parts.push_back(std::move(object));
            attribute.parts.push_back(std::move(key));
            return attribute;
        }
        attribute.name = want_name();
        attribute.parts.push_back(std::move(object));
        return attribute;
    }

    // [key], or [first:end:step].
    Node parse_item(Node object) {
        take();
        Node item = node(NodeKind::item);
        item.parts.push_back(std::move(object));
        const auto none = [&] {
            Node absent = node(NodeKind::literal);
            absent.value = None();
            return absent;
        };
        const auto part = [&] { return at_sign(":") || at_sign("]") ? none() : parse_expression(); };
        item.parts.push_back(part());
        if (at_sign(":")) {
            item.kind = NodeKind::slice;
            while (took_sign(":")) item.parts.push_back(part());
            if (item.parts.size() > 4) expected("]");
            while (item.parts.size() < 4) item.parts.push_back(none());
        }
        want_sign("]");
        return item;
    }

    Node parse_call(Node callee) {
        Node call = node(NodeKind::call);
        call.parts.push_back(std::move(callee));
        parse_arguments(call);
        return call;
    }

    void parse_arguments(Node& call) {
        want_sign("(");
        while (!at_sign(")")) {
            const bool named = at(TokenKind::name) && ahead(1).kind == TokenKind::sign && ahead(1).text == "=";
            call.names.push_back(named ? want_name() : "");
            if (named) take();
            call.parts.push_back(parse_expression());
            if (!at_sign(")")) want_sign(",");
        }
        take();
    }

    Node parse_filters(Node value) {
        while (true) {
            if (took_sign("|"))
                value = parse_filter(std::move(value));
            else if (took_word("is"))
                value = parse_test(std::move(value));
            else if (at_sign("("))
                value = parse_call(std::move(value));
            else
                return value;
        }
    }

    Node parse_filter(Node input) {
        Node filter = node(NodeKind::filter, want_name());
        filter.parts.push_back(std::move(input));
        if (at_sign("(")) parse_arguments(filter);
        return filter;
    }

    // An argument may follow a test without brackets: "is divisibleby 3".
    Node parse_test(Node input) {
        const bool inverted = took_word("not");
        Node test = node(NodeKind::test, want_name());
        test.parts.push_back(std::move(input));
        const bool value = at(TokenKind::string) || at(TokenKind::whole) || at(TokenKind::real) || at_sign("[") ||
                           (at(TokenKind::name) && !at_word("else") && !at_word("or") && !at_word("and") &&
                            !at_word("is") && !at_word("if") && !at_word("in") && !at_word("not"));
        if (at_sign("(")) {
            parse_arguments(test);
        } else if (value) {
            test.names.emplace_back();
            test.parts.push_back(parse_postfix(parse_primary()));
        }
        if (!inverted) return test;
        Node inverse = node(NodeKind::inverse);
        inverse.parts.push_back(std::move(test));
        return inverse;
    }

    std::vector<Token> tokens_;
    std::size_t next_ = 0;
    int depth_ = 0, loops_ = 0;
};

}  // namespace

void fail(int line, const Sentence& why) { throw Error("line {line}: {why}", {{"line", line}, {"why", why}}); }

Node parse_template(std::string_view source) { return Parser(source).whole(); }

}  // namespace decoderscope::chat
