// The texts of the bundled models' example.json once more, as messages, so that they are collected and translated. A
// test holds that none is forgotten: tests/engine/test_bundled_texts.cpp
#include "engine/model/bundled_texts.h"

#include <algorithm>
#include <array>

namespace decoderscope {

namespace {

constexpr auto kTexts = std::to_array<Phrase>({
    message("Writes a word backwards. Encoder and decoder of 2 Pre-Norm blocks each, trained on letters: "
            "cross-attention reads the word from its end."),
    message("See where the second letter comes from"),
    message("The lit row writes the second letter. The lit cell says where it looks: at the last letter but one of the "
            "word. On the right stands how that weight was made."),
    message("Switch off the head that reverses"),
    message("Head 3 of the last cross-attention is off. The list shows how far that reaches, step by step; undo "
            "(Ctrl+Z) switches it on again."),
    message("Flip Pre-Norm to Post-Norm"),
    message("The same weights as Post-Norm: the curves show what that does by depth. The model was trained as Pre-Norm "
            "and makes mistakes now; undo (Ctrl+Z) flips it back."),
    message("The same as reverse with Post-Norm, trained in the same way, so that the two can be compared."),
    message("Flip Post-Norm to Pre-Norm"),
    message("The same weights as Pre-Norm: the curves show what that does by depth. The model was trained as Post-Norm "
            "and makes mistakes now; undo (Ctrl+Z) flips it back."),
    message("Writes a date the way ISO 8601 does. Encoder and decoder of 2 Pre-Norm blocks each, trained on seven "
            "spellings: cross-attention goes to the year, the month and the day, wherever they stand."),
    message("See where the month comes from"),
    message("The lit row writes the 7 of the month. The lit cell says where it looks: into the word July."),
    message("See the same in another spelling"),
    message("The same digit of the same day, written 20.7.1969: now it looks at the 7."),
    message("Switch that head off"),
    message("Head 1 of the last cross-attention is off. The list shows how far that reaches, step by step; undo "
            "(Ctrl+Z) switches it on again."),
    message("Continues what it has seen before. 2 layers of attention alone, trained on strings of letters that come "
            "twice: an induction head looks one past where the letter stood before."),
    message("See the induction head look back"),
    message("The lit row is the g of the second “algorithm”. The lit cell says where it looks: at the letter that "
            "followed the first g, which is what comes next."),
    message("Switch off the heads that it relies on"),
    message("All heads of the first layer are off, and the stripe below the diagonal is gone: no key knows any more "
            "which letter comes before it. Undo (Ctrl+Z) brings them back."),
    message("See which letter comes next"),
    message("The bars are the model's probabilities. Next draws a letter and appends it."),
    message("Writes Bible verses, a character at a time. A GPT of 4 Pre-Norm blocks, trained on the King James Bible: "
            "it knows spelling, words and a little grammar."),
    message("See the head that looks one letter back"),
    message("Nearly all weight lies just below the diagonal: each letter looks at the one before it. Press ↓ for the "
            "same step in the next layer."),
    message("Let it write the next letter"),
    message("Head 3 of the first layer is off. The list shows how far that reaches, step by step; undo (Ctrl+Z) "
            "switches it on again."),
});

}  // namespace

Sentence example_text(std::string_view text) {
    const auto found =
        std::ranges::find(kTexts, text, [](const Phrase& phrase) { return std::string_view(phrase.english()); });
    return found == kTexts.end() ? Sentence::verbatim(text) : Sentence(*found);
}

}  // namespace decoderscope
