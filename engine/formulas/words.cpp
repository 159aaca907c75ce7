#include "engine/formulas/words.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace decoderscope::formulas {
namespace {

constexpr std::array kSpellings{
    Spelling{Op::choose, "?", "?", level::choice},
    Spelling{Op::either, "or", "or", level::either},
    Spelling{Op::both, "and", "and", level::both},
    Spelling{Op::negation, "not", "not", level::negation},
    Spelling{Op::equal, "=", "=", level::comparison},
    Spelling{Op::not_equal, "≠", "!=", level::comparison},
    Spelling{Op::less, "<", "<", level::comparison},
    Spelling{Op::less_equal, "≤", "<=", level::comparison},
    Spelling{Op::greater, ">", ">", level::comparison},
    Spelling{Op::greater_equal, "≥", ">=", level::comparison},
    Spelling{Op::add, "+", "+", level::sum},
    Spelling{Op::subtract, "−", "-", level::sum},
    Spelling{Op::negate, "−", "-", level::sum},
    Spelling{Op::multiply, "·", "*", level::product},
    Spelling{Op::divide, "/", "/", level::product},
    Spelling{Op::quotient, "div", "div", level::product},
    Spelling{Op::remainder, "mod", "mod", level::product},
    Spelling{Op::power, "^", "^", level::power},
    Spelling{Op::root, "√", "sqrt", level::primary},
    Spelling{Op::bracket, "[", "[", level::primary},
    Spelling{Op::exp, "exp", "exp", kFunction},
    Spelling{Op::log, "log", "log", kFunction},
    Spelling{Op::sin, "sin", "sin", kFunction},
    Spelling{Op::cos, "cos", "cos", kFunction},
    Spelling{Op::atan, "atan", "atan", kFunction},
    Spelling{Op::tanh, "tanh", "tanh", kFunction},
    Spelling{Op::erf, "erf", "erf", kFunction},
    Spelling{Op::sigmoid, "σ", "sigmoid", kFunction},
    Spelling{Op::abs, "abs", "abs", kFunction},
    Spelling{Op::floor, "floor", "floor", kFunction},
    Spelling{Op::min, "min", "min", kFunction},
    Spelling{Op::max, "max", "max", kFunction},
    Spelling{Op::stop, "stop", "stop", kFunction},
    Spelling{Op::round, "round", "round", kFunction},
    Spelling{Op::stored, "stored", "stored", kFunction},
    Spelling{Op::singular, "singular", "singular", kFunction},
    Spelling{Op::eigen, "eigen", "eigen", kFunction},
    Spelling{Op::inverse, "inverse", "inverse", kFunction},
    Spelling{Op::pseudoinverse, "pseudoinverse", "pseudoinverse", kFunction},
    Spelling{Op::eliminated, "eliminated", "eliminated", kFunction},
    Spelling{Op::flow, "flow", "flow", kFunction},
};

struct FoldWord {
    Fold fold;
    std::string_view word;
};
constexpr std::array kFolds{FoldWord{Fold::sum, "Σ"},     FoldWord{Fold::mean, "mean"},     FoldWord{Fold::max, "max"},
                            FoldWord{Fold::min, "min"},   FoldWord{Fold::argmax, "argmax"}, FoldWord{Fold::sum, "sum"},
                            FoldWord{Fold::product, "Π"}, FoldWord{Fold::product, "prod"},  FoldWord{Fold::sum, "∑"},
                            FoldWord{Fold::product, "∏"}, FoldWord{Fold::mean, "E"}};  // E_k[…]

char small(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

// How many bytes must be inserted, deleted or replaced to make one of the other (Levenshtein, 1966); capital letters
// are as small ones.
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i + 1;
        for (std::size_t j = 0; j < b.size(); ++j) {
            const std::size_t replaced = diagonal + (small(a[i]) == small(b[j]) ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
        }
    }
    return row.back();
}

}  // namespace

std::span<const Spelling> spellings() { return kSpellings; }

const Spelling& spelling_of(Op op) { return *std::ranges::find(kSpellings, op, &Spelling::op); }

bool compares(const Expr& e) {
    const auto* a = e->as<Apply>();
    const int of = a == nullptr ? level::choice : spelling_of(a->op).level;
    return of >= level::either && of <= level::comparison;
}

std::optional<Op> function_named(std::string_view name) {
    for (const Spelling& s : kSpellings)
        if (s.level == kFunction && (s.unicode == name || s.ascii == name)) return s.op;
    return std::nullopt;
}

std::optional<Fold> fold_named(std::string_view word) {
    const auto* found = std::ranges::find(kFolds, word, &FoldWord::word);
    return found == kFolds.end() ? std::nullopt : std::optional(found->fold);
}

bool is_measure(std::string_view word) { return word == "norm" || word == "var" || word == "std" || word == "argmin"; }

std::string_view word_of(Fold fold) { return std::ranges::find(kFolds, fold, &FoldWord::fold)->word; }

Sentence with_nearest(Sentence sentence, std::string_view name, std::span<const std::string> known) {
    std::string nearest;
    // Further away nothing is meant.
    std::size_t least = std::min(std::max<std::size_t>(2, name.size() / 3) + 1, name.size());
    for (const std::string& other : known) {
        const std::string_view whole(other), last = whole.substr(whole.rfind('.') + 1);
        std::size_t far = distance(name.substr(0, 64), whole.substr(0, 64));
        // The last part of a name with dots may be what was written: "pattern" for "blocks.0.attn.pattern".
        if (last.size() < whole.size()) far = std::min(far, distance(name.substr(0, 64), last.substr(0, 64)) + 1);
        if (name.ends_with("." + other)) far = 0;
        if (far < least) {
            least = far;
            nearest = other;
        }
        const std::string_view below = name.starts_with(other + "_") ? name.substr(other.size() + 1) : "";
        if (below.size() > 1 && below.find_first_not_of("bdhijkpqv") == std::string_view::npos) {  // pattern_bhqk
            least = 0;
            nearest = other + "[" + below[0];
            for (const char index : below.substr(1)) nearest += std::string(", ") + index;
            nearest += ']';
        }
    }
    if (nearest.empty()) return sentence;
    return message("{sentence}; is “{nearest}” meant?", {{"sentence", std::move(sentence)}, {"nearest", nearest}});
}

}  // namespace decoderscope::formulas
