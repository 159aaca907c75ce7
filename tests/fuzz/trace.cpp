// Traces that other programs recorded, as each kind of file: every tensor that one lists is read.
#include "engine/trace/recorded_file.h"
#include "tests/fuzz/fuzz.h"

using namespace decoderscope;
using namespace decoderscope::trace::sources;
using namespace decoderscope::trace;

namespace {

// Reads every number, so that none of them may be outside the file.
float sum_of(const Trace& trace) {
    float sum = 0.0F;
    for (const TraceTensor& tensor : trace.tensors)
        for (const float value : tensor.values.values()) sum += value;
    return sum;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const fuzz::MemoryFile file;
    [[maybe_unused]] static volatile float seen = 0.0F;  // so that nothing is optimised away
    const std::string text(fuzz::text_of(data, size));
    file.write(text);
    fuzz::read([&] { seen = sum_of(trace::sources::recorded_file(file.path()).trace); });
    fuzz::read([&] { seen = sum_of(trace::sources::npz(file.path())); });
    fuzz::read([&] { seen = sum_of(trace::sources::polygraphy(file.path(), text)); });
    fuzz::read([&] { seen = sum_of(trace::sources::debugger(file.path(), text)); });
    fuzz::read([&] { seen = sum_of(trace::sources::ranks(file.path(), text)); });
    return 0;
}
