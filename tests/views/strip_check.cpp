#include "tests/views/strip_check.h"

#include "tests/catch.h"

#include <algorithm>
#include <vector>

namespace decoderscope::testing {

using namespace decoderscope::testing;

void check_strip(const Driver& driver, Area area) {
    std::vector<DrawnText> pieces;
    for (const DrawnText& piece : driver.seen())
        if (area.contains(piece.middle())) pieces.push_back(piece);
    CHECK_FALSE(pieces.empty());
    for (std::size_t a = 0; a < pieces.size(); ++a) {
        INFO(pieces[a].text);
        CHECK(pieces[a].low.x >= area.low.x);
        CHECK(pieces[a].high.x <= area.high.x);
        CHECK(pieces[a].low.y >= area.low.y - 1);
        CHECK(pieces[a].high.y <= area.high.y + 1);
        CHECK_FALSE(pieces[a].text.ends_with("…"));
        for (std::size_t b = a + 1; b < pieces.size(); ++b) {
            const float wide =
                std::min(pieces[a].high.x, pieces[b].high.x) - std::max(pieces[a].low.x, pieces[b].low.x);
            const float high =
                std::min(pieces[a].high.y, pieces[b].high.y) - std::max(pieces[a].low.y, pieces[b].low.y);
            if (wide > 1.0F && high > 2.0F)
                FAIL_CHECK("\"" << pieces[a].text << "\" overlaps \"" << pieces[b].text << "\"");
        }
    }
}

}  // namespace decoderscope::testing
