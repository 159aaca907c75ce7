#pragma once

#include "app/core/jobs/resumable.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

struct XXH64_state_s;

namespace decoderscope::core::files {

// XXH64 with seed 0, by libxxhash: detects accidental changes at the speed of memory, not forgery. `xxhsum -H64 FILE`
// prints the same digits.
class Xxh64 {
public:
    Xxh64();
    void add(std::span<const std::byte> bytes);
    [[nodiscard]] std::uint64_t digest() const;

private:
    struct Free {
        void operator()(XXH64_state_s* state) const;
    };
    std::unique_ptr<XXH64_state_s, Free> state_;
};

// "xxh64:44bc2cf5ad770999"
[[nodiscard]] std::string checksum_text(std::uint64_t digest);
[[nodiscard]] bool is_checksum(const std::string& text);

[[nodiscard]] std::string checksum_of(std::span<const std::byte> bytes);
// The checksum of the bytes of these files in order, read a MB at a time. Throws Error naming the file that can't be
// read.
[[nodiscard]] Resumable<std::string> checksum_of_files(std::vector<std::string> paths);

}  // namespace decoderscope::core::files
