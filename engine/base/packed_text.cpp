#include "engine/base/packed_text.h"

#include "engine/base/error.h"

#include <zlib.h>

#include <array>
#include <limits>
#include <memory>
#include <new>

namespace decoderscope {

namespace {

struct End {
    void operator()(z_stream* stream) const { ::inflateEnd(stream); }
};

}  // namespace

std::string packed_text(std::string_view text) {
    const auto length = static_cast<uLong>(text.size());
    uLongf size = ::compressBound(length);
    std::string packed(size, '\0');
    if (::compress2(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(text.data()), length,
                    Z_BEST_COMPRESSION) != Z_OK)
        throw std::bad_alloc();
    packed.resize(size);
    return packed;
}

std::string unpacked_text(std::string_view packed, std::size_t most) {
    if (packed.size() > std::numeric_limits<uInt>::max()) throw Error("damaged: no packed text is that long");
    z_stream stream = {};
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));  // zlib only reads it
    stream.avail_in = static_cast<uInt>(packed.size());
    if (::inflateInit(&stream) != Z_OK) throw std::bad_alloc();
    const std::unique_ptr<z_stream, End> ends(&stream);
    std::string text;
    std::array<char, 16384> piece{};
    int status = Z_OK;
    while (status == Z_OK) {
        stream.next_out = reinterpret_cast<Bytef*>(piece.data());
        stream.avail_out = static_cast<uInt>(piece.size());
        status = ::inflate(&stream, Z_NO_FLUSH);
        const std::size_t got = piece.size() - stream.avail_out;
        if (got > most - text.size()) throw Error("unpacks to more than {most} bytes", {{"most", most}});
        text.append(piece.data(), got);
    }
    if (status == Z_BUF_ERROR) throw Error("truncated: its end is missing");
    if (status != Z_STREAM_END || stream.avail_in > 0) throw Error("damaged: not a valid zlib stream");
    return text;
}

}  // namespace decoderscope
