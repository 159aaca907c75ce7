#include "app/core/glossary/glossary.h"

#include "app/core/text/characters.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

namespace decoderscope::core::glossary {

namespace {

// The build makes it of assets/glossary.json (app/CMakeLists.txt).
constexpr auto kTerms = std::to_array<GlossaryTerm>({
#include "glossary_terms.inc"
});

char small(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

std::string in_small_letters(std::string_view text) {
    std::string lower(text);
    std::ranges::transform(lower, lower.begin(), small);
    return lower;
}

// Letters and digits of any alphabet; everything beyond ASCII is a letter here.
bool is_letter(char32_t code) {
    return code >= 0x80 || (code >= '0' && code <= '9') || (code >= 'a' && code <= 'z') ||
           (code >= 'A' && code <= 'Z') || code == '_';
}

// The word that a text begins with, or the one character that it begins with if that isn't a letter, or is Chinese or
// Japanese: there, any character may begin a word.
std::string_view first_word(std::string_view text) {
    std::size_t size = 0;
    while (size < text.size()) {
        const Utf8Character next = character_at(text, size);
        const bool alone = !is_letter(next.code) || is_unspaced(next.code);
        if (size == 0 && alone) return next.bytes;
        if (alone) break;
        size += next.bytes.size();
    }
    return text.substr(0, size);
}

bool is_han_at(std::string_view text, std::size_t at) {
    return at < text.size() && is_han(character_at(text, at).code);
}

// Whether a spelling that a text has at a place is a word there. Chinese and Japanese have no spaces between words; but
// a single character is a part of many other words.
bool is_word(std::string_view text, std::size_t at, const std::string& spelling) {
    const std::size_t end = at + spelling.size();
    const std::vector<Utf8Character> letters = characters(spelling);
    if (letters.size() == 1 && is_unspaced(letters.front().code)) {
        std::size_t before = at;
        while (before > 0 && (text[--before] & 0xC0) == 0x80) {
        }
        return !is_han_at(text, end) && (at == 0 || !is_han_at(text, before));
    }
    if (end == text.size() || is_unspaced(letters.back().code)) return true;
    const char32_t next = character_at(text, end).code;
    return !is_letter(next) || is_unspaced(next);
}

// The parts of a list separated by `separator`.
std::vector<std::string_view> parts_of(std::string_view list, std::string_view separator) {
    std::vector<std::string_view> parts;
    while (!list.empty()) {
        const std::size_t end = std::min(list.find(separator), list.size());
        if (end > 0) parts.push_back(list.substr(0, end));
        list.remove_prefix(std::min(end + separator.size(), list.size()));
    }
    return parts;
}

// The contract's name of a tensor within its block, attention or norm: "scale" of "blocks.0.ln1.scale".
std::string_view own_name(std::string_view tensor) { return tensor.substr(tensor.rfind('.') + 1); }

bool is_named(const GlossaryTerm& term, std::string_view tensor) {
    const std::vector<std::string_view> tensors = parts_of(term.tensors, "|");
    return std::ranges::find(tensors, own_name(tensor)) != tensors.end();
}

bool shows(const GlossaryTerm& term, const Step& step) { return is_named(term, step.name); }

const GlossaryTerm& known(std::string_view id) {
    const GlossaryTerm* term = find_term(id);
    return term != nullptr ? *term : glossary().front();
}

std::vector<std::string_view> spellings_of(const GlossaryTerm& term) {
    std::vector<std::string_view> all = parts_of(tr(term.spellings), ", ");
    all.insert(all.begin(), tr(term.name));
    return all;
}

// How well a term fits what was typed, in small letters: 0 = not at all.
int fit(const GlossaryTerm& term, const std::string& typed) {
    int best = 0;
    // In English, too: a reader may know the term from the field's papers.
    std::vector<std::string_view> spellings = spellings_of(term);
    spellings.insert(spellings.end(), {term.name.english(), term.spellings.english()});
    if (in_small_letters(term.transformer_lens) == typed) return 4;
    for (const std::string_view spelling : spellings) {
        const std::string text = in_small_letters(spelling);
        const std::size_t at = text.find(typed);
        if (at == std::string::npos) continue;
        best = std::max(best, text == typed ? 4 : at == 0 ? 3 : 2);
    }
    const bool meant = in_small_letters(tr(term.meaning)).find(typed) != std::string::npos ||
                       in_small_letters(term.pytorch).find(typed) != std::string::npos ||
                       in_small_letters(term.transformer_lens).find(typed) != std::string::npos;
    return best == 0 && meant ? 1 : best;
}

}  // namespace

std::span<const GlossaryTerm> glossary() { return kTerms; }

const GlossaryTerm* find_term(std::string_view id) {
    const auto found = std::ranges::find(glossary(), id, &GlossaryTerm::id);
    return found == glossary().end() ? nullptr : &*found;
}

const GlossaryTerm& term_of(Part part) {
    static constexpr std::array kIds = {
        "input",        "embedding", "residual-stream", "norm", "self-attention", "cross-attention", "mlp",
        "residual-sum", "memory",    "language-head",   "loss", "logit-lens",     "logit-lens",      "row"};
    static_assert(kIds.size() == kParts);
    return known(kIds[static_cast<std::size_t>(part)]);  // in the order of Part
}

const GlossaryTerm& term_of(Part part, const Phrase& title) {
    for (const GlossaryTerm& term : glossary())
        if (std::string_view(term.name.english()) == title.english()) return term;
    return term_of(part);
}

const GlossaryTerm* term_of(const Step& step) {
    for (const GlossaryTerm& term : glossary())
        if (shows(term, step)) return &term;
    return &term_of(step.part);
}

Ref example_of(const GlossaryTerm& term, const Plan& plan, const Step& here) {
    const auto nearness = [&](const Step& step) {
        if (step.stack != here.stack) return 1;
        if (step.block != here.block) return 2;
        return step.attention.empty() || step.attention != here.attention ? 3 : 4;
    };
    Ref best = nullptr;
    for (const Step& step : plan.steps())
        if (shows(term, step) && (best == nullptr || nearness(step) > nearness(*best))) best = &step;
    return best;
}

std::vector<const GlossaryTerm*> terms_matching(std::string_view typed) {
    const std::string wanted = in_small_letters(typed);
    std::vector<std::pair<int, const GlossaryTerm*>> found;
    for (const GlossaryTerm& term : glossary())
        if (const int how = wanted.empty() ? 1 : fit(term, wanted); how > 0) found.emplace_back(how, &term);
    std::ranges::stable_sort(found, [](const auto& a, const auto& b) {
        if (a.first != b.first) return a.first > b.first;
        return in_small_letters(tr(a.second->name)) < in_small_letters(tr(b.second->name));
    });
    std::vector<const GlossaryTerm*> terms;
    for (const auto& [how, term] : found) terms.push_back(term);
    return terms;
}

TermFinder::TermFinder() {
    for (const GlossaryTerm& term : glossary())
        for (const std::string_view spelling : spellings_of(term)) add(spelling, term);
}

void TermFinder::add(std::string_view spelling, const GlossaryTerm& term) {
    std::string text = in_small_letters(spelling);
    std::string first(first_word(text));
    by_first_word_.emplace(std::move(first), Spelling{std::move(text), &term});
}

std::vector<TermInText> TermFinder::find(std::string_view text) const {
    const std::string lower = in_small_letters(text);
    std::vector<TermInText> found;
    std::set<const GlossaryTerm*> seen;
    for (std::size_t at = 0; at < lower.size();) {
        const std::string_view rest = std::string_view(lower).substr(at);
        const std::string_view word = first_word(rest);
        const Spelling* longest = nullptr;
        const auto [begin, end] = by_first_word_.equal_range(word);
        for (auto i = begin; i != end; ++i) {
            const std::string& spelling = i->second.text;
            const bool whole = rest.starts_with(spelling) && is_word(lower, at, spelling);
            if (whole && (longest == nullptr || spelling.size() > longest->text.size())) longest = &i->second;
        }
        const std::size_t size = longest != nullptr ? longest->text.size() : word.size();
        if (longest != nullptr && seen.insert(longest->term).second) found.push_back({at, size, longest->term});
        at += size;
    }
    return found;
}

const GlossaryTerm* TermFinder::term_of_label(std::string_view label) const {
    for (const GlossaryTerm& term : glossary())
        if (is_named(term, label)) return &term;
    const std::vector<TermInText> found = find(label);
    return found.empty() ? nullptr : found.front().term;
}

}  // namespace decoderscope::core::glossary
