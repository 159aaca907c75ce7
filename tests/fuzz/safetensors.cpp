// Any safetensors file: every tensor in the header is read, as floats and as integers. The files that `diff` compares
// with are read the same way.
#include "engine/files/safetensors.h"
#include "tests/fuzz/fuzz.h"

using namespace decoderscope;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const fuzz::MemoryFile file;
    [[maybe_unused]] static volatile float seen = 0.0F;  // so that nothing is optimised away
    file.write(fuzz::text_of(data, size));
    fuzz::read([&] {
        const SafetensorsFile opened(file.path());
        std::size_t bytes = 0;
        Tensor room;
        for (const std::string& name : opened.names_in_order()) {
            fuzz::read([&] { seen = fuzz::sum_of(opened.floats(name)); });
            fuzz::read([&] { seen = fuzz::sum_of(opened.integers(name)); });
            const auto count = [&](std::span<const float>, std::size_t more) { bytes += more; };
            fuzz::read([&] { seen = fuzz::sum_of(opened.floats(name, count, &room)); });
        }
        fuzz::require(bytes <= size, "no byte is read twice");
    });
    return 0;
}
