#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace decoderscope {

// Freed pieces of memory, kept for reuse.
class KeptPieces;

struct GiveBack {
    std::shared_ptr<KeptPieces> to;  // every piece holds it, so that it outlives them all
    std::size_t bytes = 0;
    void operator()(float* piece) const;
};

// A piece of memory that is given back when its owner is destroyed.
using Floats = std::unique_ptr<float, GiveBack>;

// Uninitialised room for `count` floats, aligned for vector instructions. Pieces are kept when given back and reused,
// so a run's tensors take the place of the previous run's, on pages that are already mapped. (Getting fresh pages from
// the system costs about as much as computing what is written to them, and for a small tensor malloc takes longer than
// many operations.)
[[nodiscard]] Floats floats(std::int64_t count);

// The bytes of large pieces that are in use.
[[nodiscard]] std::size_t used_memory();

// The bytes of large pieces that are kept but not in use.
[[nodiscard]] std::size_t kept_memory();

// Returns memory that is kept but not in use to the system.
void trim_memory();

}  // namespace decoderscope
