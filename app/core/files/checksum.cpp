#include "app/core/files/checksum.h"

#include "engine/base/error.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <fstream>

namespace decoderscope {

namespace {

static_assert(std::endian::native == std::endian::little, "XXH64 reads little-endian words");

constexpr std::uint64_t kPrime1 = 0x9E3779B185EBCA87U, kPrime2 = 0xC2B2AE3D27D4EB4FU, kPrime3 = 0x165667B19E3779F9U,
                        kPrime4 = 0x85EBCA77C2B2AE63U, kPrime5 = 0x27D4EB2F165667C5U;

template <class Word>
std::uint64_t word_at(const std::byte* from) {
    Word word = 0;
    std::memcpy(&word, from, sizeof word);
    return word;
}

std::uint64_t lane_with(std::uint64_t lane, std::uint64_t word) {
    return std::rotl(lane + word * kPrime2, 31) * kPrime1;
}

std::uint64_t joined(std::uint64_t hash, std::uint64_t lane) { return (hash ^ lane_with(0, lane)) * kPrime1 + kPrime4; }

// Spreads every input bit over all output bits.
std::uint64_t avalanche(std::uint64_t hash) {
    hash = (hash ^ (hash >> 33U)) * kPrime2;
    hash = (hash ^ (hash >> 29U)) * kPrime3;
    return hash ^ (hash >> 32U);
}

}  // namespace

Xxh64::Xxh64() : lanes_{kPrime1 + kPrime2, kPrime2, 0, 0 - kPrime1} {}

void Xxh64::add_stripe(const std::byte* stripe) {
    for (std::size_t i = 0; i < lanes_.size(); ++i)
        lanes_[i] = lane_with(lanes_[i], word_at<std::uint64_t>(stripe + i * sizeof(std::uint64_t)));
}

void Xxh64::add(std::span<const std::byte> bytes) {
    total_ += bytes.size();
    if (rest_size_ > 0) {
        const std::size_t taken = std::min(kStripe - rest_size_, bytes.size());
        std::copy_n(bytes.begin(), taken, rest_.begin() + static_cast<std::ptrdiff_t>(rest_size_));
        rest_size_ += taken;
        bytes = bytes.subspan(taken);
        if (rest_size_ < kStripe) return;
        add_stripe(rest_.data());
    }
    for (; bytes.size() >= kStripe; bytes = bytes.subspan(kStripe)) add_stripe(bytes.data());
    std::copy(bytes.begin(), bytes.end(), rest_.begin());
    rest_size_ = bytes.size();
}

std::uint64_t Xxh64::digest() const {
    std::uint64_t hash = kPrime5;  // if no stripe was full
    if (total_ >= kStripe) {
        hash = std::rotl(lanes_[0], 1) + std::rotl(lanes_[1], 7) + std::rotl(lanes_[2], 12) + std::rotl(lanes_[3], 18);
        for (const std::uint64_t lane : lanes_) hash = joined(hash, lane);
    }
    hash += total_;
    const std::byte* at = rest_.data();
    std::size_t left = rest_size_;
    for (; left >= 8; at += 8, left -= 8)
        hash = std::rotl(hash ^ lane_with(0, word_at<std::uint64_t>(at)), 27) * kPrime1 + kPrime4;
    for (; left >= 4; at += 4, left -= 4)
        hash = std::rotl(hash ^ (word_at<std::uint32_t>(at) * kPrime1), 23) * kPrime2 + kPrime3;
    for (; left > 0; ++at, --left) hash = std::rotl(hash ^ (word_at<std::uint8_t>(at) * kPrime5), 11) * kPrime1;
    return avalanche(hash);
}

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
        std::ifstream file(path, std::ios::binary);
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

}  // namespace decoderscope
