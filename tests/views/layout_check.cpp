#include "tests/views/layout_check.h"

#include "tests/catch.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace decoderscope::testing {

namespace {

std::string described(const DrawnText& piece) {
    const auto at = [](ImVec2 p) { return std::to_string(std::lround(p.x)) + "," + std::to_string(std::lround(p.y)); };
    return "\"" + piece.text + "\" (" + at(piece.low) + " to " + at(piece.high) + ")";
}

}  // namespace

void check_layout(const Driver& driver, ImVec2 size) {
    const auto& pieces = driver.seen();
    const float ink = 2.0F * driver.fonts().scale;  // a descender beside an ascender
    for (std::size_t a = 0; a < pieces.size(); ++a) {
        const bool inside = pieces[a].high.x <= size.x && pieces[a].high.y <= size.y;
        if (inside)
            SUCCEED();
        else
            FAIL_CHECK(described(pieces[a]) << " leaves the window");
        for (std::size_t b = a + 1; b < pieces.size(); ++b) {
            const float wide =
                std::min(pieces[a].high.x, pieces[b].high.x) - std::max(pieces[a].low.x, pieces[b].low.x);
            const float high =
                std::min(pieces[a].high.y, pieces[b].high.y) - std::max(pieces[a].low.y, pieces[b].low.y);
            if (wide <= 1.0F || high <= ink) continue;
            FAIL_CHECK(described(pieces[a]) << " overlaps " << described(pieces[b]));
        }
    }
}

}  // namespace decoderscope::testing
