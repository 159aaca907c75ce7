// What the page loads first: a small program that unpacks all its other files while they arrive. They are packed as
// ".xz", a third smaller than what a browser unpacks by itself; a program was taken apart before (parted_wasm.h).
// app/window/browser/files.js calls it.
#include "app/browser/parted_wasm.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include <lzma.h>

using decoderscope::browser::Bytes;
using decoderscope::browser::PartedWasm;

namespace {

constexpr std::uint64_t kMostMemory = 256U << 20U;  // bytes of the packer's dictionary

// One file on its way.
struct Unpacker {
    Unpacker() : ok(lzma_stream_decoder(&stream, kMostMemory, 0) == LZMA_OK) {}
    Unpacker(const Unpacker&) = delete;
    Unpacker& operator=(const Unpacker&) = delete;
    ~Unpacker() { lzma_end(&stream); }

    lzma_stream stream = LZMA_STREAM_INIT;
    bool ok;
    bool ended = false;
    std::array<std::uint8_t, 1U << 16U> packed{};
    std::array<std::uint8_t, 1U << 18U> unpacked{};
    PartedWasm parted;
    bool is_first = true, is_parted = false;
    Bytes whole;  // of a program: what was put together last
};

// Unpacks as far as there is room: what lies in `unpacked` then, or nothing.
std::span<const std::uint8_t> unpack_more(Unpacker& unpacker) {
    auto& stream = unpacker.stream;
    stream.next_out = unpacker.unpacked.data();
    stream.avail_out = unpacker.unpacked.size();
    const auto result = lzma_code(&stream, LZMA_RUN);
    unpacker.ended = result == LZMA_STREAM_END;
    unpacker.ok = unpacker.ended || result == LZMA_OK || result == LZMA_BUF_ERROR;
    return std::span(unpacker.unpacked).first(unpacker.unpacked.size() - stream.avail_out);
}

}  // namespace

// The page's end of it.
extern "C" {

// An unpacker of one file, until it is dropped.
[[clang::export_name("make")]] Unpacker* unpacker_make() { return std::make_unique<Unpacker>().release(); }
[[clang::export_name("drop")]] void unpacker_drop(Unpacker* unpacker) {
    const std::unique_ptr<Unpacker> dropped{unpacker};
}

// Where the next packed bytes are put, and how many fit.
[[clang::export_name("packed")]] std::uint8_t* unpacker_packed(Unpacker* unpacker) { return unpacker->packed.data(); }
[[clang::export_name("packed_size")]] std::size_t unpacker_packed_size(const Unpacker* unpacker) {
    return unpacker->packed.size();
}

// `count` packed bytes are there.
[[clang::export_name("take")]] void unpacker_take(Unpacker* unpacker, std::size_t count) {
    unpacker->stream.next_in = unpacker->packed.data();
    unpacker->stream.avail_in = count;
}

// Continues to unpack, as far as there is room. Returns how many bytes lie at `unpacked` now: 0 once all that was taken
// is used, -1 if it isn't such a file.
[[clang::export_name("unpack")]] int unpacker_unpack(Unpacker* unpacker) {
    unpacker->whole.clear();
    while (unpacker->ok && !unpacker->ended) {
        const std::span<const std::uint8_t> more = unpack_more(*unpacker);
        if (more.empty()) break;
        if (std::exchange(unpacker->is_first, false)) unpacker->is_parted = PartedWasm::is_one(more);
        if (!unpacker->is_parted) return unpacker->ok ? static_cast<int>(more.size()) : -1;
        unpacker->ok = unpacker->ok && unpacker->parted.take(more, unpacker->whole);
        if (!unpacker->whole.empty()) break;
    }
    return unpacker->ok ? static_cast<int>(unpacker->whole.size()) : -1;
}
[[clang::export_name("unpacked")]] const std::uint8_t* unpacker_unpacked(const Unpacker* unpacker) {
    return unpacker->is_parted ? unpacker->whole.data() : unpacker->unpacked.data();
}

// Was that all of the file?
[[clang::export_name("ended")]] bool unpacker_ended(const Unpacker* unpacker) {
    return unpacker->ended && (!unpacker->is_parted || unpacker->parted.is_complete());
}
}
