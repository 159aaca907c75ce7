#include "engine/tokenizer/bpe.h"

#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/tokenizer/pipeline.h"
#include "engine/tokenizer/unicode.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <queue>

namespace decoderscope::tokenizer {

namespace {

// How much less an unknown character scores than the worst piece, as in SentencePiece.
constexpr double kUnknownPenalty = 10.0;

constexpr std::size_t kUnreached = static_cast<std::size_t>(-1);

std::uint64_t key(Index left, Index right) {
    return (static_cast<std::uint64_t>(left) << 32U) | static_cast<std::uint64_t>(right);
}

constexpr std::size_t kNoNeighbour = static_cast<std::size_t>(-1);

// One token of a word that is being merged, in a chain with its neighbours.
struct Link {
    Index id = 0;
    std::size_t before = kNoNeighbour, after = kNoNeighbour;
    bool gone = false;  // merged into the one before
};

// Two neighbours that can merge; outdated once either has merged with another.
struct Candidate {
    std::uint32_t rank = 0;
    std::size_t left = 0;
    Index left_id = 0, right_id = 0, result = 0;
    bool operator>(const Candidate& other) const { return rank != other.rank ? rank > other.rank : left > other.left; }
};
using Candidates = std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>>;

// GPT-2's separator between texts, at which generation stops, and its names in other models.
constexpr std::array<std::string_view, 4> kEnds = {"<|endoftext|>", "<|end_of_text|>", "</s>", "<eos>"};

std::optional<Index> id_of(const TokenIds& ids, std::string_view token) {
    const auto found = ids.find(token);
    return found == ids.end() ? std::nullopt : std::optional(found->second);
}

std::vector<AddedToken> added_of(const TokenIds& tokens) {
    std::vector<AddedToken> added;
    for (const auto& [content, id] : tokens) added.push_back({.content = content, .id = id});
    return added;
}

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

BytePairs::BytePairs(BytePairTables tables) : tables_(std::move(tables)) {
    const auto id = [&](const std::string& token, const WrittenMerge& merge) {
        if (const auto found = id_of(token)) return *found;
        throw Error("merge \"{first} {second}\": \"{token}\" is not in the vocabulary",
                    {{"first", merge.first}, {"second", merge.second}, {"token", token}});
    };
    std::uint32_t rank = 0;
    // A pair listed twice gets its later rank, as in GPT-2's own table.
    for (const WrittenMerge& merge : tables_.merges) {
        const bool marked = !tables_.prefix.empty() && merge.second.starts_with(tables_.prefix);
        const std::string result = merge.first + merge.second.substr(marked ? tables_.prefix.size() : 0);
        const Index left = id(merge.first, merge), right = id(merge.second, merge);
        merges_[key(left, right)] = {rank++, id(result, merge)};
    }
    tables_.merges = {};
    if (!tables_.unknown) return;
    unknown_ = id_of(*tables_.unknown);
    if (!unknown_) throw Error("unk_token: \"{token}\" is not in the vocabulary", {{"token", *tables_.unknown}});
}

std::optional<Index> BytePairs::id_of(std::string_view token) const {
    const auto found = tables_.ids.find(token);
    return found == tables_.ids.end() ? std::nullopt : std::optional(found->second);
}

void BytePairs::encode(std::string_view word, std::vector<Index>& ids) const {
    if (const auto whole = tables_.ignore_merges ? id_of(word) : std::nullopt)
        ids.push_back(*whole);
    else
        merge(characters(word), ids);
}

// The tokens of a character's bytes; nothing if one of them has none.
std::optional<std::vector<Index>> BytePairs::spelled(std::string_view character) const {
    std::vector<Index> ids;
    for (const char byte : character) {
        const auto id = id_of(byte_token(static_cast<unsigned char>(byte)));
        if (!id) return std::nullopt;
        ids.push_back(*id);
    }
    return ids;
}

std::vector<Index> BytePairs::characters(std::string_view word) const {
    std::vector<Index> ids;
    bool unknown = false;  // the character before was
    for (std::size_t at = 0; at < word.size();) {
        const std::string_view plain = word.substr(at, first_code_point(word.substr(at)).bytes);
        const std::string character = (at == 0 ? "" : tables_.prefix) + std::string(plain) +
                                      (at + plain.size() == word.size() ? tables_.suffix : "");
        at += plain.size();
        if (const auto id = id_of(character)) {
            ids.push_back(*id);
            unknown = false;
        } else if (const auto bytes = tables_.byte_fallback ? spelled(character) : std::nullopt) {
            ids.insert(ids.end(), bytes->begin(), bytes->end());
            unknown = false;
        } else if (!unknown_) {
            throw Error("the vocabulary has no token for \"{character}\"", {{"character", character}});
        } else {
            if (!unknown || !tables_.fuse_unknown) ids.push_back(*unknown_);
            unknown = true;
        }
    }
    return ids;
}

void BytePairs::merge(const std::vector<Index>& characters, std::vector<Index>& ids) const {
    std::vector<Link> chain(characters.size());
    for (std::size_t i = 0; i < chain.size(); ++i)
        chain[i] = {characters[i], i == 0 ? kNoNeighbour : i - 1, i + 1 == chain.size() ? kNoNeighbour : i + 1};
    Candidates candidates;
    const auto consider = [&](std::size_t left) {
        if (left == kNoNeighbour || chain[left].after == kNoNeighbour) return;
        const Index left_id = chain[left].id, right_id = chain[chain[left].after].id;
        const auto found = merges_.find(key(left_id, right_id));
        if (found != merges_.end())
            candidates.push({found->second.rank, left, left_id, right_id, found->second.result});
    };
    for (std::size_t i = 0; i < chain.size(); ++i) consider(i);
    while (!candidates.empty()) {
        const Candidate next = candidates.top();
        candidates.pop();
        Link& left = chain[next.left];
        if (left.gone || left.id != next.left_id || left.after == kNoNeighbour || chain[left.after].id != next.right_id)
            continue;
        Link& right = chain[left.after];
        left.id = next.result;
        left.after = right.after;
        right.gone = true;
        if (left.after != kNoNeighbour) chain[left.after].before = next.left;
        consider(left.before);
        consider(next.left);
    }
    for (const Link& link : chain)
        if (!link.gone) ids.push_back(link.id);
}

std::optional<Index> end_token(const TokenIds& ids) {
    for (const std::string_view name : kEnds)
        if (const auto id = id_of(ids, name)) return id;
    return std::nullopt;
}

Tokenizer byte_level_tokenizer(const ByteLevelTables& tables) {
    const std::vector<AddedToken> added = added_of(tables.added);
    const std::optional<Index> added_end = end_token(tables.added);
    const SpecialTokens special{.beginning = tables.beginning, .end = added_end ? added_end : end_token(tables.ids)};
    TextCutter cutter(added, {}, {ByteLevel{}}, BytePairs({.ids = tables.ids, .merges = tables.merges}));
    return pipeline_tokenizer(tokens_of(tables.ids, added), std::move(cutter), {},
                              TokenDecoder(std::vector<DecodeStep>{DecodeBytes()}), special);
}

TokenIds parse_vocab_json(std::string_view json) {
    return token_ids(parse_json(json, message("an object of tokens and their ids")));
}

std::vector<WrittenMerge> parse_merges(std::string_view text) {
    std::vector<WrittenMerge> merges;
    for (Index line = 1; !text.empty(); ++line) {
        std::string_view merge = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(merge.size() + 1, text.size()));
        if (merge.ends_with('\r')) merge.remove_suffix(1);
        if (merge.empty() || merge.starts_with("#version")) continue;
        merges.push_back(naming(message("line {line}", {{"line", line}}), [&] { return parse_merge(merge); }));
    }
    return merges;
}

WrittenMerge parse_merge(std::string_view line) {
    const std::size_t space = line.find(' ');
    if (space == 0 || space >= line.size() - 1 || line.find(' ', space + 1) != std::string_view::npos)
        throw Error("\"{text}\", expected two tokens with a space between them", {{"text", line.substr(0, 100)}});
    return {std::string(line.substr(0, space)), std::string(line.substr(space + 1))};
}

}  // namespace decoderscope::tokenizer
