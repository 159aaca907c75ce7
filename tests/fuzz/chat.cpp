// Messages, or what Python laid out: a text of which each byte knows its origin, as tokens, or a refusal.
#include "engine/chat/laid_out.h"
#include "tests/fuzz/fuzz.h"

using namespace decoderscope;
using namespace decoderscope::chat;

namespace {

// Each byte is a token.
tokenizer::Tokenizer bytes() {
    std::vector<std::string> pieces;
    for (int byte = 0; byte < 256; ++byte) pieces.emplace_back(1, static_cast<char>(byte));
    return {pieces, {.beginning = 1, .end = 2}, [](std::string_view text) {
                std::vector<Index> ids;
                for (const char byte : text) ids.push_back(static_cast<unsigned char>(byte));
                return ids;
            }};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const tokenizer::Tokenizer tokenizer = bytes();
    const std::string text(reinterpret_cast<const char*>(data), size);
    for (const std::string& format : formats())
        fuzz::read([&] {
            const Conversation given = conversation_in(text, {.name = format, .generation_prompt = true});
            for (const LaidOutRow& row : laid_out(given, tokenizer).rows) {
                fuzz::require(row.text.origins.size() == row.text.bytes.size(), "each byte has an origin");
                fuzz::require(row.origins.size() == row.tokens.size() && row.trained.size() == row.tokens.size(),
                              "each token has an origin, and is trained or not");
                for (const Origin& origin : row.text.origins)
                    fuzz::require(origin.message >= (origin.content ? 0 : -1) &&
                                      origin.message < static_cast<std::int32_t>(row.roles.size()),
                                  "an origin is a message");
            }
        });
    return 0;
}
