#pragma once

#include "engine/base/message.h"
#include "engine/graph/plan.h"

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace decoderscope::core::glossary {

// A term of the window in plain words: an entry of assets/glossary.json, whose keys stand in this order. A meaning is
// one or two sentences that a beginner can read without the others.
struct GlossaryTerm {
    std::string_view id;                     // "residual-stream"; never shown
    Phrase name = Phrase("");                // "residual stream"
    Phrase meaning = Phrase("");             // one or two sentences
    Phrase spellings = Phrase("");           // how texts write it besides its name, separated by ", "
    std::string_view pytorch = {};           // what PyTorch calls it; empty if it has no name there
    std::string_view transformer_lens = {};  // what TransformerLens calls it
    std::string_view tensors = {};           // last parts of the names of its tensors: "q|q_unrotated"
};

// All terms, by subject: the stream, attention, masks, norms, the MLP, the output, the window.
[[nodiscard]] std::span<const GlossaryTerm> glossary();
// nullptr if there is none with that id.
[[nodiscard]] const GlossaryTerm* find_term(std::string_view id);

// The term that a step's tensor is an example of; if its own name has none, the term of its part.
[[nodiscard]] const GlossaryTerm* term_of(const Step& step);
// The term of a part of the decoder: a box of the map.
[[nodiscard]] const GlossaryTerm& term_of(Part part);
// As above, for a box with a title of its own: "LayerNorm" and "RMSNorm" are both a norm.
[[nodiscard]] const GlossaryTerm& term_of(Part part, const Phrase& title);

// The step in which a term can be seen, as near to `here` as possible: in its attention, its block, its stack,
// otherwise the first one. nullptr if this run has none.
[[nodiscard]] Ref example_of(const GlossaryTerm& term, const Plan& plan, const Step& here);

// The terms whose name, spelling or meaning contains what was typed, best first; all of them by name if nothing was.
[[nodiscard]] std::vector<const GlossaryTerm*> terms_matching(std::string_view typed);

// A term in a text, in bytes.
struct TermInText {
    std::size_t begin = 0, size = 0;
    const GlossaryTerm* term = nullptr;
    bool operator==(const TermInText&) const = default;
};

// Finds terms in texts of the window's language, by their names and spellings as whole words.
class TermFinder {
public:
    // Finds the terms of the language spoken now.
    TermFinder();
    // From left to right, each term where it first occurs; the longest one where several begin.
    [[nodiscard]] std::vector<TermInText> find(std::string_view text) const;

    // The term that a label is about: a tensor's name by its last part, otherwise the first term in it. nullptr if none
    // is.
    [[nodiscard]] const GlossaryTerm* term_of_label(std::string_view label) const;

private:
    struct Spelling {
        std::string text;  // in small letters
        const GlossaryTerm* term;
    };
    void add(std::string_view spelling, const GlossaryTerm& term);

    std::multimap<std::string, Spelling, std::less<>> by_first_word_;
};

}  // namespace decoderscope::core::glossary
