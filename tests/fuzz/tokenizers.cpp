// The files that say what tokens stand for. The input's first byte chooses the kind: j tokenizer.json, b vocab.json and
// merges.txt, c vocabulary.json, p pieces.json. A tokenizer that was read can show every id, and encodes texts into ids
// that it has.
#include "engine/tokenizer/bpe.h"
#include "engine/tokenizer/read.h"
#include "engine/tokenizer/vocabulary.h"
#include "tests/fuzz/fuzz.h"

#include <algorithm>

using namespace decoderscope;
using namespace decoderscope::tokenizer;

namespace {

Tokenizer read_tokenizer(char kind, std::string_view text) {
    if (kind == 'j') return parse_tokenizer_json(text).tokenizer;
    if (kind == 'c') return parse_character_vocabulary(text);
    if (kind == 'p') return parse_pieces(text);
    const auto parts = fuzz::parts_of(text);
    return byte_level_tokenizer(
        {.ids = parse_vocab_json(parts[0]), .merges = parse_merges(parts.size() > 1 ? parts[1] : std::string_view())});
}

void try_out(const Tokenizer& tokenizer) {
    std::vector<Index> all;
    for (Index id = -1; id <= tokenizer.size(); ++id) {
        fuzz::require(!tokenizer.piece(id).empty(), "every id can be shown");
        all.push_back(id);
    }
    static_cast<void>(tokenizer.decode(all));
    if (!tokenizer.can_encode()) return;
    for (const std::string_view text : {"abc", "It's 12  words,\n\tand a 文 <|endoftext|>", ""})
        fuzz::read([&] {
            const std::vector<Index> ids = tokenizer.encode(text);
            fuzz::require(std::ranges::all_of(ids, [&](Index id) { return tokenizer.has_piece(id); }),
                          "a text is cut into tokens that are there");
        });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::string_view text = fuzz::text_of(data, size);
    fuzz::read([&] { try_out(read_tokenizer(text[0], text.substr(1))); });
    return 0;
}
