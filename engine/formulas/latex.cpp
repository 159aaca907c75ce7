#include "engine/formulas/latex.h"

#include "engine/base/limits.h"
#include "engine/formulas/formula.h"
#include "engine/formulas/words.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

namespace decoderscope::formulas {
namespace {

// What commands are: a sign, or a name; how they look; nothing.
constexpr std::string_view kSigns =
    R"( cdot=* times=* odot=* circ=* le=<= leq=<= ge=>= geq=>= ne=!= neq=!= lt=< gt=> land=and lor=or |=‖ lVert=‖ rVert=‖ langle=⟨ rangle=⟩ )"
    R"( Vert=‖ lvert=| rvert=| vert=| lfloor=floor( rfloor=) lceil=ceil( rceil=) )";
constexpr std::string_view kNames = R"( sum=Σ prod=Π sigma=σ infty=inf ln=log epsilon=eps varepsilon=eps delta=δ )";
constexpr std::string_view kFonts =
    R"( operatorname= mathrm= text= textrm= mathbf= mathit= mathsf= bm= mathbb= mathcal= textbf= boldsymbol= textit= )";
constexpr std::string_view kNothing =
    R"( left= right= big= Big= bigl= bigr= Bigl= Bigr= bigg= Bigg= quad= qquad= limits= ,= ;= != := \= displaystyle= )";

// What a table has for a command.
std::optional<std::string_view> found_in(std::string_view table, std::string_view command) {
    const std::size_t at = table.find(" " + std::string(command) + "=");
    if (at == std::string_view::npos) return std::nullopt;
    const std::size_t begin = at + command.size() + 2;
    return table.substr(begin, table.find(' ', begin) - begin);
}

bool is_latin(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool is_decimal(char c) { return c >= '0' && c <= '9'; }
bool is_inside_character(char c) { return (static_cast<unsigned char>(c) & 0xc0U) == 0x80; }  // a character of UTF-8

class Latex {
public:
    Latex(std::string_view written, const RankOf& rank_of) : text_(written), rank_of_(rank_of) {
        for (std::size_t at = 0; (at = text_.find("\\_", at)) != std::string::npos;) text_.erase(at, 1);
        for (int depth = 0; const char& c : text_) {
            depth += c == '{' ? 1 : c == '}' ? -1 : 0;
            const auto at = static_cast<std::size_t>(&c - text_.data());
            if (c == '=' && depth == 0 && at > 0 &&
                std::string_view("<>!=").find(text_[at - 1]) == std::string_view::npos)
                equals_ = std::min(equals_, at);
        }
        if (equals_ == std::string_view::npos) equals_ = 0;
    }

    [[nodiscard]] std::string all() {
        std::string right = until("").text;
        const std::size_t equals = right.find('=');
        return equals_ > 0 && right.find('(') < equals ? right.substr(equals + 1) : right;  // Attention(Q, K, V) = …
    }

private:
    struct Factor {
        std::string text;
        bool is_matrix = false, is_whole = true;  // what isn't whole takes what is behind it: Σ_j, softmax
        bool is_plain = false;                    // a whole tensor by its name, or what softmax makes of one
        bool is_sign = false;                     // between factors, or a bracket of two alike
    };

    // Of commands that say how it looks, and spaces, nothing is left.
    void skip() {
        for (bool goes_on = true; goes_on;) {
            while (at_ < text_.size() && std::string_view(" \n\t$&").find(text_[at_]) != std::string_view::npos) ++at_;
            const std::size_t before = at_;
            const std::string_view word = is("\\") ? command() : "";
            goes_on = word == " " || (!word.empty() && found_in(kNothing, word));
            if (!goes_on) at_ = before;
        }
    }
    [[nodiscard]] bool is(std::string_view sign) const { return std::string_view(text_).substr(at_).starts_with(sign); }
    bool take(std::string_view sign) {
        skip();
        if (!is(sign)) return false;
        at_ += sign.size();
        return true;
    }
    std::string_view command() {
        const std::size_t begin = ++at_;
        while (at_ < text_.size() && is_latin(text_[at_])) ++at_;
        at_ = std::min(std::max(at_, begin + 1), text_.size());
        return std::string_view(text_).substr(begin, at_ - begin);
    }

    // What is between braces, or one sign, as it is written; of commands only signs are left. Below a name without
    // braces stand all letters: x_ij, d_head.
    std::string raw() {
        std::string inside;
        const auto add = [&] {
            if (is("\\")) {
                inside += found_in(kSigns, command()).value_or("");
            } else if (const char c = text_[at_++]; c != ' ' && c != '{' && c != '}') {
                inside += c;
            }
        };
        if (!take("{")) {
            std::size_t end = at_;
            while (end < text_.size() && (is_latin(text_[end]) || is_decimal(text_[end]))) ++end;
            if (end < text_.size() && text_[end] == '_') end = at_ + 1;  // x_ix_j
            if (is("\\")) return std::string(command());
            for (end = std::max(end, std::min(at_ + 1, text_.size()));
                 end < text_.size() && is_inside_character(text_[end]);)
                ++end;
            while (at_ < end) add();
            return inside;
        }
        for (int depth = 1; at_ < text_.size(); add()) {
            depth += is("{") ? 1 : is("}") ? -1 : 0;
            if (depth == 0) return ++at_, inside;
        }
        fail_without("}");
    }
    [[noreturn]] static void fail_without(std::string_view close) {
        throw FormulaError(message("“{word}” is missing at the end", {{"word", close}}), kNowhere);
    }

    std::string number() {
        std::string digits;
        while (at_ < text_.size() && (is_decimal(text_[at_]) || text_[at_] == '.')) digits += text_[at_++];
        return digits;
    }

    // A step by its name here, "blocks.1.attn.attn_scores", "attn_scores"; empty if there is none.
    std::string dotted_name() {
        std::size_t end = at_;
        while (end < text_.size() &&
               (is_latin(text_[end]) || is_decimal(text_[end]) || text_[end] == '_' || text_[end] == '.'))
            ++end;
        for (std::size_t last = end; last > at_; last = std::max(text_.rfind('_', last - 1), at_)) {
            const std::string known = text_.substr(at_, std::min(last, text_.size()) - at_);
            if (known.find('_') == std::string::npos) break;
            if (rank_of_(known) > 0) return at_ += known.size(), known;
        }
        const std::string_view name = std::string_view(text_).substr(at_, end - at_);
        const std::size_t dot = name.find('.');
        if (name.empty() || !is_latin(name.front()) || dot == std::string_view::npos || name.ends_with('.')) return {};
        at_ = end;
        return std::string(name);
    }

    Factor group() {
        if (take("{")) return until("}");
        skip();
        return at_ < text_.size() && is_decimal(text_[at_]) ? Factor{std::string(1, text_[at_++])}
                                                            : factor();  // \frac12
    }

    Factor until(std::string_view close) {
        Factor all, last{.is_sign = true};
        for (;;) {
            skip();
            if (at_ >= text_.size() && !close.empty()) fail_without(close);
            if (at_ >= text_.size() || (!close.empty() && take(close))) return all;
            Factor one = factor();
            one.is_plain = one.is_plain || (last.text.starts_with("softmax") && !last.is_whole);
            const bool are_matrices = last.is_matrix && one.is_matrix, are_plain = last.is_plain && one.is_plain;
            if (!one.is_sign && !last.is_sign && last.is_whole) {
                if (are_matrices && !are_plain)
                    throw FormulaError(message("“{first} {second}” may be a product of matrices, or number by number: "
                                               "write @ or \\odot between them",
                                               {{"first", last.text}, {"second", one.text}}),
                                       kNowhere);
                all.text += are_matrices ? " @ " : " * ";
            }
            all.text += one.is_sign ? " " + one.text + " " : one.text;
            all.is_matrix = all.is_matrix || one.is_matrix;
            last = std::move(one);
        }
    }

    Factor factor() {
        skip();
        if (at_ >= text_.size()) fail_without("}");
        if (depth_ > limits::kFormulaDepth)
            throw FormulaError(
                message("more than {count} levels inside each other", {{"count", limits::kFormulaDepth}}), kNowhere);
        ++depth_;
        Factor x = factor_here();
        --depth_;
        return x;
    }

    Factor factor_here() {
        const char c = text_[at_];
        Factor x;
        if (c == '\\') {
            const std::string_view word = command();
            if (const auto sign = found_in(kSigns, word))
                return {.text = std::string(*sign) + (*sign == "‖" ? raw_below() : ""), .is_sign = true};
            if (word == "{") {  // 1\{x > 0\}
                x = until("\\}");
                const bool compares = x.text.find_first_of("<>=") != std::string::npos;
                return {(compares ? "[" : "(") + x.text + (compares ? "]" : ")"), x.is_matrix};
            }
            if (word.ends_with("frac")) {
                const Factor above = group(), below = group();
                x = {"((" + above.text + ") / (" + below.text + "))", above.is_matrix};
            } else if (word == "sqrt") {
                const std::string root = take("[") ? until("]").text : "";
                const Factor of = group();
                x = root.empty() ? Factor{"√(" + of.text + ")", of.is_matrix}
                                 : Factor{"(" + of.text + ")^(1 / (" + root + "))", of.is_matrix};
            } else {
                if (word == "arg") return named(take("\\max") ? "argmax" : take("\\min") ? "argmin" : "arg");
                static_cast<void>(word == "operatorname" && take("*"));
                x = named(found_in(kFonts, word) ? raw() : std::string(found_in(kNames, word).value_or(word)));
            }
        } else if (take("Σ") || take("∑")) {
            x = named("Σ");
        } else if (take("√")) {
            const Factor of = factor();
            x = {"√(" + of.text + ")", of.is_matrix};
        } else if (take("(") || take("[") || take("{")) {
            x = until(c == '(' ? ")" : c == '[' ? "]" : "}");
            x.text = c == '[' ? "[" + x.text + "]" : "(" + x.text + ")";
        } else if (is_decimal(c)) {
            x.text = number();
        } else if (const std::string step = dotted_name(); !step.empty()) {
            x = named(step);
        } else if (is_latin(c)) {
            std::string word;
            for (std::size_t end = at_; end < text_.size() && is_latin(text_[end]); ++end) word += text_[end];
            const bool are_factors = tensor(word).empty() && std::ranges::all_of(word, [&](char one) {
                                         return !tensor(std::string(1, one)).empty();
                                     });
            if (are_factors) word.resize(1);  // QK
            at_ += word.size();
            x = named(word);
        } else {  // a sign of more bytes, whole
            do x.text += text_[at_++];
            while (at_ < text_.size() && is_inside_character(text_[at_]));
            x.is_sign = true;
            return x;
        }
        if (is("_")) x = {x.text + "[" + indices(raw_below().substr(1)) + "]"};
        while (x.is_whole) {
            if (take("ᵀ") || take("⊤") || take("^T") || take("^⊤") || take("^{T}") || take("^\\top") ||
                take("^{\\top}") || take("^\\intercal") || take("^\\mathsf{T}")) {
                x.text += "ᵀ";
            } else if (take("^")) {
                const std::string digits = number(), power = digits.empty() ? group().text : digits;
                if (x.is_plain && power.find("- 1") != std::string::npos)
                    throw FormulaError(
                        message("“{tensor}^{power}” may be the inverse of the matrix, or of each number: "
                                "write inv({tensor}) or 1 / {tensor}",
                                {{"tensor", x.text}, {"power", "-1"}}),
                        kNowhere);
                x = {x.text == "e" ? "exp(" + power + ")" : x.text + "^(" + power + ")", x.is_matrix};
            } else {
                break;
            }
        }
        return x;
    }

    // The tensor that is meant: papers write matrices in capitals.
    [[nodiscard]] std::string tensor(const std::string& word) const {
        return rank_of_(word) > 0 ? word : rank_of_(small(word)) > 0 ? small(word) : "";
    }
    static std::string small(std::string word) {
        std::ranges::transform(word, word.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
        return word;
    }

    std::string raw_below() { return take("_") ? "_" + raw() : ""; }

    // "ij" or "i, j": one after another.
    static std::string indices(const std::string& below) {
        if (below.find(',') != std::string::npos) return below;
        std::string all;
        for (const char c : below) all += (all.empty() ? "" : ", ") + std::string(1, c);
        return all;
    }

    Factor named(const std::string& word) {
        const std::string known = tensor(word), &name = known.empty() ? word : known;
        const bool is_left = at_ < equals_;
        const std::string below = is("_") ? raw_below() : "";
        const std::size_t rank = rank_of_(name + below);
        if (rank > 0) return {.text = name + below, .is_matrix = rank > 1, .is_plain = rank > 1};
        if (word == "δ" && !below.empty()) return {"δ[" + indices(below.substr(1)) + "]"};
        if (word + below == "d_k" || word + below == "d_h" || word == "dk") return {"d_head"};
        if (!below.empty() && (is_left || !known.empty())) {
            const std::string places = indices(below.substr(1));
            if (is_left || static_cast<std::size_t>(std::ranges::count(places, ',')) + 1 == rank_of_(name))
                return {name + "[" + places + "]"};
        }
        if (fold_named(name) || is_measure(name) || name == "softmax") {
            std::string over = below.empty() ? "" : "_{" + below.substr(1) + "}";
            if (const std::size_t from = over.find('='); from != std::string::npos && take("^")) {
                const std::string to = raw();  // Σ_{j=1}^{n} is over all
                over = std::ranges::all_of(to, is_decimal) ? over + "^{" + to + "}" : over.substr(0, from) + "}";
            }
            return {name + over + (over.empty() ? "" : " "), false, false};
        }
        skip();
        const bool ends =
            at_ >= text_.size() || std::string_view("^)]},+-=").find(text_[at_]) != std::string_view::npos;
        if (known.empty() && below.empty() && !is("(") && !ends && function_named(name)) {  // \log x
            Factor of = factor();
            std::string operand = of.text;
            for (; !of.is_whole; operand += of.text) of = factor();
            return {name + "(" + operand + ")", of.is_matrix};
        }
        if (!known.empty() || !is("(")) return {name + below};
        return {(name.size() > 1 ? small(name) : name) + below, false, false};  // ReLU(x)
    }

    std::string text_;
    const RankOf& rank_of_;
    std::size_t at_ = 0, depth_ = 0, equals_ = std::string_view::npos;
};

}  // namespace

std::string from_latex(std::string_view text, const RankOf& rank_of) { return Latex(text, rank_of).all(); }

}  // namespace decoderscope::formulas
