#pragma once

#include "app/core/derived/derived.h"
#include "app/core/run/snapshot.h"
#include "engine/sheet/readers.h"

#include <iosfwd>
#include <string>
#include <vector>

// What reads a cell next, as inspector and terminal show it.
namespace decoderscope::core::step {

// The readers of a cell of the shown run; empty while they are being found.
struct ShownReaders {
    std::vector<decoderscope::sheet::Reader> readers;
};
[[nodiscard]] Value<ShownReaders> shown_readers(Derived& derived, const Snapshot& shown, const Step& step,
                                                const Cell& cell);

// "blocks.0.attn.z[0, 1, 3–5, 0–15]": the cells of a reader.
[[nodiscard]] std::string reader_text(const Plan& plan, const decoderscope::sheet::Reader& reader);

// A line for each reader, for a terminal.
void write_readers(std::ostream& out, const Run& run, const Step& step, const Cell& cell);

}  // namespace decoderscope::core::step
