// A chat template on a few messages: it writes a text of which each byte knows its origin, or refuses them.
#include "engine/base/json.h"
#include "engine/chat/template.h"
#include "tests/fuzz/fuzz.h"

using namespace decoderscope;
using namespace decoderscope::chat;

namespace {

const char* const kMessages = R"([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "é\n"},
    {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "f", "arguments": {"x": [1, 2.5, null]}}}]}])";

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const OrderedJson messages = OrderedJson::parse(kMessages);
    fuzz::read([&] {
        const ChatTemplate read(fuzz::text_of(data, size));
        const Text text = read.render(messages, {.special = {{"bos_token", "<s>"}}, .date = "2026-11-27"}).text;
        fuzz::require(text.origins().size() == text.bytes().size(), "each byte has an origin");
        for (const Origin& origin : text.origins())
            fuzz::require(origin.message >= (origin.content ? 0 : -1) && origin.message < 3, "an origin is a message");
    });
    return 0;
}
