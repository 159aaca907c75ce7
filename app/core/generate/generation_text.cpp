#include "app/core/generate/generation_text.h"

#include "app/core/text/counting.h"
#include "app/core/text/numbers.h"

#include <cmath>

namespace decoderscope {

namespace {

std::string probability(double p) { return short_number_text(p, 3); }

Sentence likeliest(const NextToken& next, const PieceOf& piece) {
    const Candidate& first = next.candidates.front();
    return message("The likeliest next token is “{token}”: logit {logit}, probability {probability}.",
                   {{"token", piece(first.token)},
                    {"logit", short_number_text(static_cast<double>(first.logit), 4)},
                    {"probability", probability(first.before)}});
}

// How far the first is ahead of the second, and what the softmax makes of that.
Sentence lead(const NextToken& next, const PieceOf& piece) {
    const double ahead = static_cast<double>(next.candidates[0].logit) - static_cast<double>(next.candidates[1].logit);
    return message(
        "Its logit is {ahead} above that of “{second}”; the softmax makes that {odds} times the probability.",
        {{"ahead", short_number_text(ahead, 4)},
         {"second", piece(next.candidates[1].token)},
         {"odds", short_number_text(std::exp(ahead), 3)}});
}

Sentence cuts(const ShownNextToken& shown) {
    const NextToken& next = *shown.next;
    const std::string all = grouped(static_cast<Index>(next.candidates.size()));
    const std::string temperature = short_number_text(shown.sampling.temperature, 3);
    if (next.kept == next.candidates.size())
        return message("At temperature {temperature} all {all} tokens may be drawn.",
                       {{"temperature", temperature}, {"all", all}});
    return message_n("At temperature {temperature}, top-k and top-p leave {count} token of {all}.",
                     "At temperature {temperature}, top-k and top-p leave {count} tokens of {all}.", next.kept,
                     {{"temperature", temperature}, {"all", all}});
}

Sentence drawn(const ShownNextToken& shown, const PieceOf& piece) {
    const Candidate& candidate = shown.next->candidates[shown.draw.rank];
    return message("Seed {seed} draws {number}, which falls on “{token}”: from {from} to {to}.",
                   {{"seed", shown.sampling.seed},
                    {"number", fixed_text(shown.number, 4)},
                    {"token", piece(candidate.token)},
                    {"from", fixed_text(shown.draw.from, 4)},
                    {"to", fixed_text(shown.draw.to, 4)}});
}

// "the embedding", "block 1".
Sentence place_of(const LensTable::Row& row) {
    if (row.at == "embed") return message("the embedding");
    return message("block {number}", {{"number", row.at.substr(row.at.rfind('.') + 1)}});
}

}  // namespace

std::vector<Sentence> next_token_sentences(const ShownNextToken& shown, const PieceOf& piece) {
    if (!shown.next || shown.next->candidates.empty()) return {};
    std::vector<Sentence> sentences = {likeliest(*shown.next, piece)};
    if (shown.next->candidates.size() > 1) sentences.push_back(lead(*shown.next, piece));
    if (shown.sampling.temperature == 0.0) {
        sentences.emplace_back(message("At temperature 0 the likeliest token is always taken."));
        return sentences;
    }
    sentences.push_back(cuts(shown));
    sentences.push_back(drawn(shown, piece));
    return sentences;
}

std::vector<Sentence> lens_sentences(const LensTable& table, Index position, const PieceOf& piece) {
    const auto at = static_cast<std::size_t>(position);
    std::vector<Sentence> sentences;
    for (const LensTable::Row& row : table.rows) {
        if (at >= row.cells.size()) continue;
        const LensCell& cell = row.cells[at];
        if (cell.top.empty())
            sentences.push_back(message("After {place} the probabilities are NaN.", {{"place", place_of(row)}}));
        else
            sentences.push_back(message("After {place} it would say “{token}”, with probability {probability}.",
                                        {{"place", place_of(row)},
                                         {"token", piece(cell.top.front().first)},
                                         {"probability", probability(static_cast<double>(cell.top.front().second))}}));
    }
    if (at < table.settled.size() && table.settled[at] < table.rows.size())
        sentences.push_back(message("From {place} on the final answer stays first.",
                                    {{"place", place_of(table.rows[table.settled[at]])}}));
    return sentences;
}

}  // namespace decoderscope
