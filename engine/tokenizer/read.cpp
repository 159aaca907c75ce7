#include "engine/tokenizer/read.h"

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/base/json_object.h"
#include "engine/tokenizer/bpe.h"
#include "engine/tokenizer/gguf.h"
#include "engine/tokenizer/pipeline.h"
#include "engine/tokenizer/vocabulary.h"

namespace decoderscope::tokenizer {

namespace {

// The value of a key; null if absent.
const Json& at(const Json& object, const char* key) {
    static const Json none;
    if (!object.is_object()) return none;
    const auto found = object.find(key);
    return found == object.end() ? none : *found;
}

std::string text_at(const Json& object, const char* key) {
    const Json& text = at(object, key);
    return text.is_string() ? text.get<std::string>() : std::string();
}

// ---- the vocabulary

// BPE, WordPiece and WordLevel have an object; Unigram has a list of pieces and scores.
TokenIds read_ids(const Json& vocabulary) {
    if (!vocabulary.is_array()) return token_ids(vocabulary);
    TokenIds ids;
    for (const Json& entry : vocabulary) {
        const auto number = static_cast<Index>(ids.size());
        if (!entry.is_array() || entry.empty() || !entry[0].is_string() ||
            !ids.emplace(entry[0].get<std::string>(), number).second)
            throw Error("entry {number}, expected a piece of its own and its score", {{"number", number}});
        static_cast<void>(token_id(number, entry[0].get<std::string>()));  // not too many
    }
    return ids;
}

std::vector<WrittenMerge> read_merges(const Json& list) {
    if (!list.is_array()) throw Error("missing, expected a list such as [\"Ġ t\", …] or [[\"Ġ\", \"t\"], …]");
    std::vector<WrittenMerge> merges;
    for (const Json& entry : list) {
        const bool pair = entry.is_array() && entry.size() == 2 && entry[0].is_string() && entry[1].is_string();
        if (!pair && !entry.is_string())
            throw Error("entry {merges}, expected \"a b\" or [\"a\", \"b\"]", {{"merges", merges.size()}});
        merges.push_back(pair ? WrittenMerge{entry[0].get<std::string>(), entry[1].get<std::string>()}
                              : parse_merge(entry.get_ref<const std::string&>()));
    }
    return merges;
}

std::vector<Unigram::Piece> read_unigram_pieces(const Json& list) {
    std::vector<Unigram::Piece> pieces;
    for (const Json& entry : list) {
        if (entry.size() != 2 || !entry[1].is_number())
            throw Error("entry {number}, expected a piece of its own and its score", {{"number", pieces.size()}});
        pieces.emplace_back(entry[0].get<std::string>(), entry[1].get<double>());
    }
    return pieces;
}

// A vocabulary, all of which is in the file.
struct Vocabulary {
    TokenIds ids;
    std::vector<AddedToken> added;

    [[nodiscard]] std::optional<Index> id_of(std::string_view token) const {
        for (const AddedToken& one : added)
            if (one.content == token) return one.id;
        const auto found = ids.find(token);
        return found == ids.end() ? std::nullopt : std::optional(found->second);
    }
    [[nodiscard]] std::optional<Index> end() const {
        TokenIds contents;
        for (const AddedToken& one : added) contents.emplace(one.content, one.id);
        const std::optional<Index> marked = end_token(contents);
        return marked ? marked : end_token(ids);
    }
};

// ---- the model

BytePairs read_byte_pairs(JsonObject& json, const Json& model, const TokenIds& ids) {
    BytePairTables tables{.ids = ids};
    tables.merges = naming("model.merges", [&] { return read_merges(at(model, "merges")); });
    const std::string unknown = json.text("unk_token", "");
    if (!unknown.empty()) tables.unknown = unknown;
    tables.fuse_unknown = json.boolean("fuse_unk", false);
    tables.byte_fallback = json.boolean("byte_fallback", false);
    tables.ignore_merges = json.boolean("ignore_merges", false);
    tables.prefix = json.text("continuing_subword_prefix", "");
    tables.suffix = json.text("end_of_word_suffix", "");
    return naming("model.merges", [&] { return BytePairs(std::move(tables)); });
}

Unigram read_unigram(JsonObject& json, const Json& model) {
    const Json* unknown = json.find("unk_id");
    std::optional<Index> unknown_id;
    if (unknown != nullptr && !unknown->is_null()) unknown_id = json.index("unk_id");
    const Json& vocabulary = at(model, "vocab");
    if (unknown_id && *unknown_id >= static_cast<Index>(vocabulary.size()))
        json.fail("unk_id", message("{id}, expected an id of the vocabulary", {{"id", *unknown_id}}));
    const bool byte_fallback = json.boolean("byte_fallback", false);
    return naming("model.vocab", [&] { return Unigram(read_unigram_pieces(vocabulary), unknown_id, byte_fallback); });
}

// Files of the first years don't name the kind.
std::string kind_of(const Json& model) {
    if (at(model, "type").is_string()) return text_at(model, "type");
    if (at(model, "vocab").is_array()) return "Unigram";
    return at(model, "merges").is_array() ? "BPE" : "";
}

// Nothing if the kind is unknown here. Throws Error naming what is wrong with the vocabulary.
std::optional<TokenModel> read_model(const Json& model, const TokenIds& ids) {
    JsonObject json(model, "model.");
    const std::string kind = kind_of(model);
    const bool list = at(model, "vocab").is_array();
    if (kind == "Unigram" && list) return read_unigram(json, model);
    if (kind == "BPE" && !list) return read_byte_pairs(json, model, ids);
    if (kind == "WordLevel" && !list) return WordLevel(ids, json.text("unk_token", ""));
    return std::nullopt;
}

// Throws Error naming a key that would change ids in a way that is unknown here.
void check_model(const Json& model, bool known) {
    JsonObject json(model, "model.");
    if (!known) json.fail("type", message("\"{type}\" is unknown here", {{"type", kind_of(model)}}));
    if (const Json* dropout = json.find("dropout"); dropout != nullptr && !dropout->is_null() && *dropout != 0.0)
        json.fail("dropout", message("{value}, which leaves out merges at random", {{"value", dropout->dump()}}));
    for (const char* key : {"type", "vocab", "merges", "unk_token", "unk_id", "fuse_unk", "byte_fallback",
                            "ignore_merges", "continuing_subword_prefix", "end_of_word_suffix"})
        static_cast<void>(json.find(key));
    json.finish();
}

// ---- labels, where the rest is not understood

void replace_all(std::string& text, std::string_view from, std::string_view to) {
    for (std::size_t found = text.find(from); found != std::string::npos; found = text.find(from, found + to.size()))
        text.replace(found, from.size(), to);
}

// SentencePiece writes a space as "▁", and a byte without a piece as "<0x0A>".
std::string sentence_piece(std::string piece) {
    if (const auto byte = byte_of_token(piece)) return {static_cast<char>(*byte)};
    replace_all(piece, "▁", " ");
    return piece;
}

Tokenizer labels(const Json& file, const Vocabulary& vocabulary, const DecodedTokens& tokens) {
    const SpecialTokens special{.end = vocabulary.end()};
    std::vector<std::string> pieces;
    try {
        pieces = shown_pieces(tokens, TokenDecoder::read(at(file, "decoder"), "decoder"));
    } catch (const Error&) {
        for (const DecodedToken& token : tokens) pieces.push_back(token.text);
    }
    if (at(file, "decoder").is_null())
        for (std::string& piece : pieces) piece = sentence_piece(std::move(piece));
    return {std::move(pieces), special, nullptr};
}

void check_keys(const Json& file) {
    JsonObject keys(file, "");
    for (const char* key : {"version", "truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer",
                            "post_processor", "decoder", "model"})
        static_cast<void>(keys.find(key));
    keys.finish();
}

Tokenizer whole_tokenizer(const Json& file, const Vocabulary& vocabulary, const DecodedTokens& tokens,
                          std::optional<TokenModel> model) {
    check_keys(file);
    check_model(at(file, "model"), model.has_value());
    TextCutter cutter(vocabulary.added, read_normalizer(at(file, "normalizer"), "normalizer"),
                      read_pre_tokenizer(at(file, "pre_tokenizer"), "pre_tokenizer"), std::move(*model));
    TemplateTokens around = read_template(at(file, "post_processor"), "post_processor",
                                          [&](std::string_view token) { return vocabulary.id_of(token); });
    for (const std::vector<Index>* ids : {&around.before, &around.behind})
        for (const Index id : *ids)
            if (id >= static_cast<Index>(tokens.size()))
                throw Error("post_processor: id {id} is not in the vocabulary", {{"id", id}});
    const SpecialTokens special{.end = vocabulary.end()};
    return pipeline_tokenizer(tokens, std::move(cutter), std::move(around),
                              TokenDecoder::read(at(file, "decoder"), "decoder"), special);
}

// One id, or those in a list.
std::vector<Index> ids_at(const nlohmann::json& object, const char* key) {
    nlohmann::json stored = object.is_object() ? object.value(key, nlohmann::json()) : nlohmann::json();
    if (!stored.is_array()) stored = nlohmann::json::array({std::move(stored)});
    std::vector<Index> ids;
    for (const nlohmann::json& id : stored)
        if (id.is_number_unsigned()) ids.push_back(id.get<Index>());
    return ids;
}

nlohmann::json read(const std::filesystem::path& path) {
    try {
        return is_there(path) ? parse_json(text_of_file(path), message("an object")) : nlohmann::json();
    } catch (const Error&) {
        return {};
    }
}

namespace fs = std::filesystem;

// A tokenizer and the file that defines its tokens.
struct Found {
    Tokenizer tokenizer;
    std::string path;
    Sentence labels_alone_because;
};

// What `parse` returns for a file's text; an Error names the file.
template <class Parse>
auto parsed(const fs::path& path, Parse parse) {
    const std::string text = text_of_file(path);
    return naming(path.string(), [&] { return parse(text); });
}

Found read_characters(const fs::path& path) { return {parsed(path, parse_character_vocabulary), path.string(), {}}; }

Found read_hugging_face(const fs::path& path) {
    ReadTokenizer read = parsed(path, parse_tokenizer_json);
    return {std::move(read.tokenizer), path.string(), std::move(read.labels_alone_because)};
}

Found read_vocab_and_merges(const fs::path& vocabulary) {
    const fs::path merges = fs::path(vocabulary).replace_filename("merges.txt");
    if (!is_there(merges))
        throw Error("{merges}: missing, expected the merges of vocab.json beside it", {{"merges", merges.string()}});
    ByteLevelTables tables;
    tables.ids = parsed(vocabulary, parse_vocab_json);
    tables.merges = parsed(merges, parse_merges);
    return {naming(merges.string(), [&] { return byte_level_tokenizer(tables); }), vocabulary.string(), {}};
}

Found read_pieces(const fs::path& path) { return {parsed(path, parse_pieces), path.string(), {}}; }

Found read_target(const fs::path& folder) {
    const std::pair<const char*, Found (*)(const fs::path&)> readers[] = {{"vocabulary.json", read_characters},
                                                                          {"tokenizer.json", read_hugging_face},
                                                                          {"vocab.json", read_vocab_and_merges},
                                                                          {"pieces.json", read_pieces}};
    for (const auto& [name, read] : readers)
        if (is_there(folder / name)) return read(folder / name);
    return {};
}

// How many ids have a piece.
Index pieces_in(const Tokenizer& tokenizer) {
    Index count = 0;
    for (Index id = 0; id < tokenizer.size(); ++id)
        if (tokenizer.has_piece(id)) ++count;
    return count;
}

// Compares a tokenizer with the embedding that its ids index: too many tokens are an Error, ids without a piece a
// remark.
void check_size(const Found& found, const char* key, Index vocab_size, std::vector<Sentence>& remarks) {
    const Tokenizer& tokenizer = found.tokenizer;
    if (tokenizer.size() > vocab_size)
        throw Error("{path}: {count} tokens, expected at most {key} = {vocab_size}",
                    {{"path", found.path}, {"count", tokenizer.size()}, {"key", key}, {"vocab_size", vocab_size}});
    if (const Index pieces = pieces_in(tokenizer); pieces < vocab_size)
        remarks.push_back(message(
            "{path}: a piece for {pieces} of the {vocab_size} ids that {key} allows; the others are shown as numbers.",
            {{"path", found.path}, {"pieces", pieces}, {"vocab_size", vocab_size}, {"key", key}}));
}

// The decoder's tokens, with what was noticed.
Tokenizers of_target(const Found& target, const SpecialIds& ids, const Config& config) {
    Tokenizers tokenizers;
    if (!target.labels_alone_because.empty())
        tokenizers.remarks.push_back(message("{path}: labels the tokens but can't tokenize text: {reason}.",
                                             {{"path", target.path}, {"reason", target.labels_alone_because}}));
    if (!target.path.empty()) check_size(target, "vocab_size", config.vocab_size, tokenizers.remarks);
    std::vector<Index> ends = ids.ends;
    std::erase_if(ends, [&](Index end) { return end >= target.tokenizer.size(); });
    tokenizers.target = target.tokenizer.ending_with(std::move(ends));
    return tokenizers;
}

}  // namespace

ReadTokenizer parse_tokenizer_json(std::string_view json) {
    return read_tokenizer_json(parse_json(json, message("a tokenizer as Hugging Face writes it")));
}

Tokenizer parse_pieces(std::string_view json) {
    const Json list = parse_json(json, message("a list of pieces"));
    Tokenizer labels = labels_of(list);
    const Json metadata = metadata_of_pieces(list);
    return metadata.is_null() ? std::move(labels) : read_tokenizer_json(tokenizer_of_gguf(metadata)).tokenizer;
}

ReadTokenizer read_tokenizer_json(const Json& file) {
    const Json& model = at(file, "model");
    if (!model.is_object()) throw Error("model: missing, expected an object with a vocabulary");
    Vocabulary vocabulary;
    vocabulary.ids = naming("model.vocab", [&] { return read_ids(at(model, "vocab")); });
    vocabulary.added =
        naming("added_tokens", [&] { return read_added_tokens(at(file, "added_tokens"), vocabulary.ids); });
    std::optional<TokenModel> read = read_model(model, vocabulary.ids);
    const DecodedTokens tokens = naming("added_tokens", [&] { return tokens_of(vocabulary.ids, vocabulary.added); });
    try {
        return {whole_tokenizer(file, vocabulary, tokens, std::move(read)), {}};
    } catch (const Error& error) {
        return {labels(file, vocabulary, tokens), error.sentence()};
    }
}

SpecialIds read_special_ids(const std::filesystem::path& folder) {
    SpecialIds ids;
    for (const char* name : {"generation_config.json", "config.json"}) {
        const nlohmann::json file = read(folder / name);
        if (ids.ends.empty()) ids.ends = ids_at(file, "eos_token_id");
        const std::vector<Index> start = ids_at(file, "decoder_start_token_id");
        if (!ids.decoder_start && !start.empty()) ids.decoder_start = start.front();
    }
    return ids;
}

Tokenizers tokenizers_of(const Json& json, const std::string& path, const SpecialIds& ids, const Config& config) {
    if (json.is_null() || config.vocab_size == 0) return {};
    ReadTokenizer read = naming(path, [&] { return read_tokenizer_json(json); });
    return of_target({std::move(read.tokenizer), path, std::move(read.labels_alone_because)}, ids, config);
}

Tokenizers read_tokenizers(const fs::path& folder, const Config& config) {
    if (config.vocab_size == 0) return {};
    const Found target = read_target(folder);
    const SpecialIds ids = read_special_ids(folder);
    Tokenizers tokenizers = of_target(target, ids, config);
    const bool has_source = config.cross_attention && config.encoder_layers > 0;
    const fs::path own = folder / "encoder_vocabulary.json";
    if (has_source && is_there(own)) {
        const Found source = read_characters(own);
        check_size(source, "encoder_vocab_size", config.encoder_vocab_size, tokenizers.remarks);
        tokenizers.source = source.tokenizer;
    } else if (target.tokenizer.size() <= config.encoder_vocab_size || !has_source) {
        tokenizers.source = tokenizers.target;
    }
    if (has_source && ids.decoder_start && *ids.decoder_start < config.vocab_size)
        tokenizers.target = tokenizers.target.beginning_with(*ids.decoder_start);
    return tokenizers;
}

}  // namespace decoderscope::tokenizer
