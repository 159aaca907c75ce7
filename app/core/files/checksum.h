#pragma once

#include "app/core/jobs/resumable.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace decoderscope {

// XXH64 with seed 0, by its published specification: detects accidental changes at the speed of memory, not forgery.
// `xxhsum -H64 FILE` prints the same digits.
class Xxh64 {
public:
    Xxh64();
    void add(std::span<const std::byte> bytes);
    [[nodiscard]] std::uint64_t digest() const;

private:
    static constexpr std::size_t kStripe = 32;
    void add_stripe(const std::byte* stripe);

    std::array<std::uint64_t, 4> lanes_;
    std::array<std::byte, kStripe> rest_{};  // what doesn't fill a stripe yet
    std::size_t rest_size_ = 0;
    std::uint64_t total_ = 0;
};

// "xxh64:44bc2cf5ad770999"
[[nodiscard]] std::string checksum_text(std::uint64_t digest);
[[nodiscard]] bool is_checksum(const std::string& text);

[[nodiscard]] std::string checksum_of(std::span<const std::byte> bytes);
// Of the bytes of these files in order, read a MB at a time. Throws Error naming the file that can't be read.
[[nodiscard]] Resumable<std::string> checksum_of_files(std::vector<std::string> paths);

}  // namespace decoderscope
