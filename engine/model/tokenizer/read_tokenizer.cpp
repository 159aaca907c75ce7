#include "engine/model/tokenizer/read_tokenizer.h"

#include "engine/error.h"
#include "engine/model/folder_file.h"
#include "engine/model/tokenizer/byte_level_bpe.h"
#include "engine/model/tokenizer/character_vocabulary.h"
#include "engine/model/tokenizer/pieces.h"
#include "engine/model/tokenizer/special_ids.h"
#include "engine/model/tokenizer/tokenizer_json.h"

namespace decoderscope {

namespace {

namespace fs = std::filesystem;

// A tokenizer and the file that defines its tokens.
struct Found {
    Tokenizer tokenizer;
    std::string path;
    Sentence labels_alone_because;
};

// What `parse` makes of a file's text; an Error names the file.
template <class Parse>
auto parsed(const fs::path& path, Parse parse) {
    const std::string text = text_of_file(path);
    return naming(path.string(), [&] { return parse(text); });
}

Found read_characters(const fs::path& path) { return {parsed(path, parse_character_vocabulary), path.string(), {}}; }

Found read_tokenizer_json(const fs::path& path) {
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
                                                                          {"tokenizer.json", read_tokenizer_json},
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

}  // namespace

Tokenizers read_tokenizers(const fs::path& folder, const Config& config) {
    Tokenizers tokenizers;
    if (config.vocab_size == 0) return tokenizers;
    const Found target = read_target(folder);
    if (!target.labels_alone_because.empty())
        tokenizers.remarks.push_back(message("{path}: labels the tokens but can't cut a text into them: {reason}.",
                                             {{"path", target.path}, {"reason", target.labels_alone_because}}));
    if (!target.path.empty()) check_size(target, "vocab_size", config.vocab_size, tokenizers.remarks);
    const SpecialIds ids = read_special_ids(folder);
    const bool has_source = config.cross_attention && config.encoder_layers > 0;
    tokenizers.target =
        ids.end && *ids.end < target.tokenizer.size() ? target.tokenizer.ending_with(*ids.end) : target.tokenizer;
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

}  // namespace decoderscope
