// Any GGUF file: its metadata, every number of every tensor, the configuration and the names that it means, and its
// tokenizer.
#include "engine/files/gguf.h"
#include "engine/load/gguf_model.h"
#include "engine/tokenizer/gguf.h"
#include "engine/tokenizer/read.h"
#include "tests/fuzz/fuzz.h"

using namespace decoderscope;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const fuzz::MemoryFile file;
    [[maybe_unused]] static volatile float seen = 0.0F;  // so that nothing is optimised away
    file.write(fuzz::text_of(data, size));
    fuzz::read([&] {
        const GgufFile opened(file.path());
        Tensor room;
        for (const std::string& name : opened.names_in_order())
            fuzz::read([&] {
                const Tensor tensor = opened.floats(name, {}, &room);
                seen = fuzz::sum_of(tensor);
                if (const auto stored = opened.stored_number(name, tensor.size() - 1)) seen = stored->value();
            });
        fuzz::read([&] { static_cast<void>(load::read_gguf_model(opened)); });
        fuzz::read([&] {
            const Json json = tokenizer::tokenizer_of_gguf(opened.metadata());
            if (!json.is_null()) static_cast<void>(tokenizer::read_tokenizer_json(json));
        });
    });
    return 0;
}
