// An inputs file, for models that read tokens or rows, a memory or an encoder's tokens.
#include "engine/model/inputs.h"
#include "tests/fuzz/fuzz.h"

using namespace decoderscope;

namespace {

std::vector<Config> readers() {
    const std::string sizes = R"({"model_type": "decoderscope", "d_model": 4, "nhead": 2, "num_layers": 1, )";
    return {
        parse_config(sizes + R"("vocab_size": 5})"),
        parse_config(sizes + R"("max_positions": 6, "positional_encoding": "learned"})"),
        parse_config(sizes + R"("cross_attention": true})"),
        parse_config(sizes + R"("vocab_size": 5, "cross_attention": true, "encoder_layers": 1})"),
    };
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const std::vector<Config> configs = readers();
    static const fuzz::MemoryFile file;
    file.write(fuzz::text_of(data, size));
    for (const Config& config : configs) fuzz::read([&] { check_inputs(load_inputs(file.path(), config), config); });
    return 0;
}
