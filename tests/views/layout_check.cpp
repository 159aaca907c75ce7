#include "tests/views/layout_check.h"

#include "tests/catch.h"

#include <algorithm>

namespace decoderscope::testing {

void check_layout(const Driver& driver, ImVec2 size) {
    const auto& pieces = driver.seen();
    for (std::size_t a = 0; a < pieces.size(); ++a) {
        CHECK(pieces[a].high.x <= size.x);
        CHECK(pieces[a].high.y <= size.y);
        for (std::size_t b = a + 1; b < pieces.size(); ++b) {
            const float wide =
                std::min(pieces[a].high.x, pieces[b].high.x) - std::max(pieces[a].low.x, pieces[b].low.x);
            const float high =
                std::min(pieces[a].high.y, pieces[b].high.y) - std::max(pieces[a].low.y, pieces[b].low.y);
            if (wide <= 1.0F || high <= 2.0F) continue;
            FAIL_CHECK("\"" << pieces[a].text << "\" overlaps \"" << pieces[b].text << "\"");
        }
    }
}

}  // namespace decoderscope::testing
