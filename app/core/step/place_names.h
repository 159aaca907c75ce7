#pragma once

#include "app/core/session/scenario.h"

#include <string>
#include <vector>

namespace decoderscope {

// Some axes of a step in words, with the tokens that they run over: "key 3 “a”", "head 2". A value: it holds the
// labels.
class PlaceNames {
public:
    PlaceNames() = default;
    // `axes` are the numbers of the axes to name; `batch` chooses the row of the batch that the tokens are from.
    PlaceNames(const Scenario& scenario, const Step& step, std::vector<std::size_t> axes, Index batch);

    // The numbers of the named axes, from the outermost.
    [[nodiscard]] const std::vector<std::size_t>& axes() const { return axes_; }
    // One index along the named axis of this rank, without the axis's name: "3 “a”", or "3" if it has no token.
    [[nodiscard]] std::string number(std::size_t rank, Index at) const;
    // The same with its name: "key 3 “a”".
    [[nodiscard]] std::string index(std::size_t rank, Index at) const;
    // Several: "key 8 “a” to 15 “h”".
    [[nodiscard]] std::string range(std::size_t rank, Index first, Index last) const;
    // A cell's place along the named axes from this rank on: "head 2, d_head 5".
    [[nodiscard]] std::string place(const Cell& cell, std::size_t from = 0) const;

private:
    std::vector<std::size_t> axes_;
    std::vector<std::string> names_;                // [axis]
    std::vector<std::vector<std::string>> tokens_;  // [axis, index]; empty for an axis without tokens
};

// The whole place of a cell: "batch 0, head 1, query 2 “r”, key 3 “a”". Axes of length 1 are left out.
[[nodiscard]] std::string place_text(const Scenario& scenario, const Step& step, const Cell& cell);

}  // namespace decoderscope
