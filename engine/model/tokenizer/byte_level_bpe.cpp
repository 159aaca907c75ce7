#include "engine/model/tokenizer/byte_level_bpe.h"

#include "engine/error.h"
#include "engine/json.h"
#include "engine/model/tokenizer/byte_alphabet.h"
#include "engine/model/tokenizer/byte_pairs.h"
#include "engine/model/tokenizer/gpt2_words.h"

#include <algorithm>
#include <array>
#include <set>
#include <unordered_map>

namespace decoderscope {

namespace {

// GPT-2's separator between texts, at which generation stops, and its names in other models.
constexpr std::array<std::string_view, 4> kEnds = {"<|endoftext|>", "<|end_of_text|>", "</s>", "<eos>"};

std::optional<Index> id_of(const TokenIds& ids, std::string_view token) {
    const auto found = ids.find(token);
    return found == ids.end() ? std::nullopt : std::optional(found->second);
}

std::array<Index, 256> byte_ids(const TokenIds& ids) {
    std::array<Index, 256> bytes{};
    for (unsigned byte = 0; byte < 256; ++byte)
        bytes[byte] = id_of(ids, written_byte(static_cast<unsigned char>(byte))).value_or(-1);
    return bytes;
}

std::vector<Merge> merge_ids(const ByteLevelTables& tables) {
    const auto id = [&](const std::string& token, const WrittenMerge& merge) {
        if (const auto found = id_of(tables.ids, token)) return *found;
        throw Error("merge \"{first} {second}\": \"{token}\" is not in the vocabulary",
                    {{"first", merge.first}, {"second", merge.second}, {"token", token}});
    };
    std::vector<Merge> merges;
    for (const WrittenMerge& merge : tables.merges)
        merges.push_back({id(merge.first, merge), id(merge.second, merge), id(merge.first + merge.second, merge)});
    return merges;
}

// Each id's bytes; a token not written in the byte alphabet is kept literally.
std::vector<std::string> pieces_of(const ByteLevelTables& tables) {
    TokenIds all = tables.ids;
    all.insert(tables.added.begin(), tables.added.end());
    std::vector<std::string> pieces = tokens_by_id(all);
    for (std::string& piece : pieces)
        if (!tables.added.contains(piece)) piece = bytes_written_as(piece).value_or(piece);
    return pieces;
}

SpecialTokens special_of(const ByteLevelTables& tables) {
    SpecialTokens special{.beginning = tables.beginning};
    for (const std::string_view name : kEnds) {
        if (!special.end) special.end = id_of(tables.added, name);
        if (!special.end) special.end = id_of(tables.ids, name);
    }
    return special;
}

// Finds added tokens in a text: the first one from a position on, and the longest if several begin there.
class AddedTokens {
public:
    explicit AddedTokens(TokenIds tokens) : tokens_(std::move(tokens)) {
        for (const auto& [token, id] : tokens_) lengths_.insert(token.size());
    }

    struct Found {
        std::size_t at = 0, length = 0;
        Index id = 0;
    };
    [[nodiscard]] std::optional<Found> next(std::string_view text, std::size_t from) const {
        if (tokens_.empty()) return std::nullopt;
        for (std::size_t at = from; at < text.size(); ++at) {
            const auto begins = tokens_.lower_bound(text.substr(at, 1));
            if (begins == tokens_.end() || begins->first[0] != text[at]) continue;
            for (const std::size_t length : lengths_)
                if (const auto id = id_of(tokens_, text.substr(at, length)); id && length <= text.size() - at)
                    return Found{at, length, *id};
        }
        return std::nullopt;
    }

private:
    TokenIds tokens_;
    std::set<std::size_t, std::greater<>> lengths_;
};

// What encode() works with.
class Encoder {
public:
    explicit Encoder(const ByteLevelTables& tables)
        : pairs_(byte_ids(tables.ids), merge_ids(tables)), added_(tables.added) {}

    [[nodiscard]] std::vector<Index> operator()(std::string_view text) const {
        std::vector<Index> ids;
        std::unordered_map<std::string_view, std::vector<Index>> known;
        std::size_t at = 0;
        while (const auto found = added_.next(text, at)) {
            add_words(text.substr(at, found->at - at), known, ids);
            ids.push_back(found->id);
            at = found->at + found->length;
        }
        add_words(text.substr(at), known, ids);
        return ids;
    }

private:
    // A repeated word is cut only once.
    void add_words(std::string_view text, std::unordered_map<std::string_view, std::vector<Index>>& known,
                   std::vector<Index>& ids) const {
        for (const std::string_view word : gpt2_words(text)) {
            const auto [cut, fresh] = known.try_emplace(word);
            if (fresh) pairs_.encode(word, cut->second);
            ids.insert(ids.end(), cut->second.begin(), cut->second.end());
        }
    }

    BytePairs pairs_;
    AddedTokens added_;
};

}  // namespace

Tokenizer byte_level_tokenizer(const ByteLevelTables& tables) {
    const SpecialTokens special = special_of(tables);
    const bool writes_end = std::any_of(tables.added.begin(), tables.added.end(),
                                        [&](const auto& added) { return added.second == special.end; });
    return {pieces_of(tables), special,
            [encoder = std::make_shared<const Encoder>(tables)](std::string_view text) { return (*encoder)(text); },
            writes_end};
}

Tokenizer byte_level_labels(const ByteLevelTables& tables) { return {pieces_of(tables), special_of(tables), nullptr}; }

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

}  // namespace decoderscope
