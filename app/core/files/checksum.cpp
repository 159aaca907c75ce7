#include "app/core/files/checksum.h"

#include "engine/base/error.h"

#include <xxhash.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <new>

namespace decoderscope::core::files {

Xxh64::Xxh64() : state_(XXH64_createState()) {
    if (state_ == nullptr) throw std::bad_alloc();
    XXH64_reset(state_.get(), 0);
}

void Xxh64::add(std::span<const std::byte> bytes) { XXH64_update(state_.get(), bytes.data(), bytes.size()); }

std::uint64_t Xxh64::digest() const { return XXH64_digest(state_.get()); }

void Xxh64::Free::operator()(XXH64_state_s* state) const { XXH64_freeState(state); }

std::string checksum_text(std::uint64_t digest) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string text = "xxh64:";
    for (int shift = 60; shift >= 0; shift -= 4) text += kDigits[(digest >> static_cast<unsigned>(shift)) & 15U];
    return text;
}

bool is_checksum(const std::string& text) {
    return text.size() == 22 && text.starts_with("xxh64:") &&
           text.find_first_not_of("0123456789abcdef", 6) == std::string::npos;
}

std::string checksum_of(std::span<const std::byte> bytes) {
    Xxh64 hash;
    hash.add(bytes);
    return checksum_text(hash.digest());
}

Resumable<std::string> checksum_of_files(std::vector<std::string> paths) {
    Xxh64 hash;
    std::vector<std::byte> piece(std::size_t{1} << 20);
    for (const std::string& path : paths) {
        std::ifstream file(std::filesystem::path(path), std::ios::binary);
        if (!file) throw Error("{path}: cannot be read: {reason}", {{"path", path}, {"reason", std::strerror(errno)}});
        while (file.read(reinterpret_cast<char*>(piece.data()), static_cast<std::streamsize>(piece.size())),
               file.gcount() > 0) {
            co_yield kPause;
            hash.add(std::span(piece).first(static_cast<std::size_t>(file.gcount())));
        }
        if (file.bad())
            throw Error("{path}: cannot be read: {reason}", {{"path", path}, {"reason", std::strerror(errno)}});
    }
    co_return checksum_text(hash.digest());
}

}  // namespace decoderscope::core::files
