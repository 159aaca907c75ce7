#include "engine/model/tokenizer/byte_level_bpe.h"

#include "engine/error.h"
#include "engine/json.h"
#include "engine/model/tokenizer/pipeline.h"

#include <algorithm>
#include <array>

namespace decoderscope {

namespace {

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

}  // namespace decoderscope
