#include "engine/trace/inflate.h"

#include "engine/error.h"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <new>

namespace decoderscope {

namespace {

// zlib counts in 32 bits, so both sides are handed over a piece at a time.
constexpr std::size_t kPiece = std::numeric_limits<uInt>::max();

// Deflate can't pack more than about a thousand bytes into one, so a size beyond that is a lie.
constexpr std::size_t kMostRatio = 1032;

struct End {
    void operator()(z_stream* stream) const { ::inflateEnd(stream); }
};

}  // namespace

std::shared_ptr<const char> inflated(std::string_view packed, std::size_t size) {
    if (size / kMostRatio > packed.size()) throw Error("its compressed data is too short for its size");
    const std::shared_ptr<char[]> bytes = std::make_shared<char[]>(std::max<std::size_t>(size, 1));
    z_stream stream = {};
    if (::inflateInit2(&stream, -MAX_WBITS) != Z_OK) throw std::bad_alloc();
    const std::unique_ptr<z_stream, End> ends(&stream);
    std::size_t read = 0, written = 0;
    int status = Z_OK;
    while (status == Z_OK) {
        const std::size_t in = std::min(packed.size() - read, kPiece), out = std::min(size - written, kPiece);
        stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data() + read));  // zlib only reads it
        stream.avail_in = static_cast<uInt>(in);
        stream.next_out = reinterpret_cast<Bytef*>(bytes.get() + written);
        stream.avail_out = static_cast<uInt>(out);
        status = ::inflate(&stream, Z_NO_FLUSH);
        read += in - stream.avail_in;
        written += out - stream.avail_out;
        if (status == Z_OK && in == stream.avail_in && out == stream.avail_out) break;  // nothing goes on
    }
    if (status != Z_STREAM_END || written != size) throw Error("its compressed data is damaged");
    return {bytes, bytes.get()};
}

}  // namespace decoderscope
