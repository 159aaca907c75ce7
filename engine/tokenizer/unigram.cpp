#include "engine/tokenizer/unigram.h"

#include "engine/base/error.h"
#include "engine/tokenizer/unicode.h"
#include "engine/tokenizer/vocabulary.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace decoderscope::tokenizer {

namespace {

// How much less an unknown character scores than the worst piece, as in SentencePiece.
constexpr double kUnknownPenalty = 10.0;

constexpr std::size_t kUnreached = static_cast<std::size_t>(-1);

}  // namespace

// The best way to a place in the text: its last piece.
struct Unigram::Step {
    double score = 0.0;
    std::size_t begin = kUnreached;
    std::optional<Index> id;
};

Unigram::Unigram(std::vector<Piece> pieces, std::optional<Index> unknown, bool byte_fallback)
    : pieces_(std::move(pieces)), sorted_(pieces_.size()), unknown_(unknown), byte_fallback_(byte_fallback) {
    const auto piece = [&](Index id) -> const Piece& { return pieces_[static_cast<std::size_t>(id)]; };
    double lowest = std::numeric_limits<double>::infinity();
    for (const auto& [text, score] : pieces_) lowest = std::min(lowest, score);
    unknown_score_ = lowest - kUnknownPenalty;
    std::iota(sorted_.begin(), sorted_.end(), Index{0});
    std::sort(sorted_.begin(), sorted_.end(), [&](Index a, Index b) { return piece(a).first < piece(b).first; });
    for (std::size_t i = 0; i < sorted_.size(); ++i) {
        if (!std::isfinite(piece(sorted_[i]).second))
            throw Error("entry {number}, expected a finite score", {{"number", sorted_[i]}});
        if (i > 0 && piece(sorted_[i]).first == piece(sorted_[i - 1]).first)
            throw Error("entry {number}, expected a piece of its own and its score",
                        {{"number", std::max(sorted_[i], sorted_[i - 1])}});
    }
}

// Calls `visit` with each piece that the text begins with, the shortest first: with every byte, fewer of the sorted
// pieces are left.
template <class Visit>
void Unigram::each_beginning(std::string_view text, Visit visit) const {
    auto first = sorted_.begin(), last = sorted_.end();
    const auto piece = [&](Index id) -> std::string_view { return pieces_[static_cast<std::size_t>(id)].first; };
    const auto byte_at = [&](Index id, std::size_t at) {
        return at < piece(id).size() ? static_cast<int>(static_cast<unsigned char>(piece(id)[at])) : -1;
    };
    for (std::size_t at = 0; at < text.size(); ++at) {
        const int byte = static_cast<unsigned char>(text[at]);
        first = std::partition_point(first, last, [&](Index id) { return byte_at(id, at) < byte; });
        last = std::partition_point(first, last, [&](Index id) { return byte_at(id, at) <= byte; });
        if (first == last) return;
        if (piece(*first).size() == at + 1) visit(*first, at + 1);
    }
}

std::optional<Index> Unigram::id_of(std::string_view piece) const {
    std::optional<Index> found;
    each_beginning(piece, [&](Index id, std::size_t bytes) {
        if (bytes == piece.size()) found = id;
    });
    return found;
}

std::vector<Unigram::Step> Unigram::best_steps(std::string_view text) const {
    std::vector<Step> steps(text.size() + 1);
    const auto consider = [&](std::size_t begin, std::size_t bytes, std::optional<Index> id, double score) {
        Step& step = steps[begin + bytes];
        score += steps[begin].score;
        if (step.begin == kUnreached || score > step.score) step = {score, begin, id};
    };
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t character = first_code_point(text.substr(at)).bytes;
        bool known = false;
        each_beginning(text.substr(at), [&](Index id, std::size_t bytes) {
            consider(at, bytes, id, pieces_[static_cast<std::size_t>(id)].second);
            known = known || bytes == character;
        });
        if (!known) consider(at, character, unknown_, unknown_score_);
        at += character;
    }
    return steps;
}

// A piece, or neighbouring unknown characters.
void Unigram::add(std::string_view piece, std::vector<Index>& ids) const {
    if (const auto id = id_of(piece)) return ids.push_back(*id);
    std::vector<Index> bytes;
    for (const char byte : byte_fallback_ ? piece : std::string_view())
        if (const auto id = id_of(byte_token(static_cast<unsigned char>(byte)))) bytes.push_back(*id);
    if (bytes.size() == piece.size()) {
        ids.insert(ids.end(), bytes.begin(), bytes.end());
    } else if (unknown_) {
        ids.push_back(*unknown_);
    } else {
        throw Error("the vocabulary has no token for \"{character}\"", {{"character", piece}});
    }
}

void Unigram::encode(std::string_view text, std::vector<Index>& ids) const {
    const std::vector<Step> steps = best_steps(text);
    std::vector<Span> spans;  // from the end
    bool unknown = false;
    for (std::size_t end = text.size(); end > 0; end = steps[end].begin) {
        const bool unknown_too = steps[end].id == unknown_;
        if (unknown && unknown_too)
            spans.back().begin = steps[end].begin;
        else
            spans.push_back({steps[end].begin, end});
        unknown = unknown_too;
    }
    for (auto span = spans.rbegin(); span != spans.rend(); ++span)
        add(text.substr(span->begin, span->end - span->begin), ids);
}

}  // namespace decoderscope::tokenizer
