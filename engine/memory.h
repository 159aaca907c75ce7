#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace decoderscope {

// The pieces of memory that were given back, until they are handed out again.
class KeptPieces;

struct GiveBack {
    std::shared_ptr<KeptPieces> to;  // every piece holds it, so that it outlives them all
    std::size_t bytes = 0;
    void operator()(float* piece) const;
};

// A piece of memory that is given back when nobody holds it any more.
using Floats = std::unique_ptr<float, GiveBack>;

// Room for so many floats, not yet written, aligned for vector instructions. Pieces are kept when they are given back
// and handed out again: a run's tensors then lie where the run's before it lay, on pages that are there already.
// (Asking the system for fresh pages costs about as much as computing what is written to them, and malloc takes longer
// over a small tensor than many an operation.)
[[nodiscard]] Floats floats(std::int64_t count);

// Gives back to the system what is kept and not in use.
void trim_memory();

}  // namespace decoderscope
