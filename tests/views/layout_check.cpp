#include "tests/views/layout_check.h"

#include "tests/catch.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>

namespace decoderscope::testing {

using namespace decoderscope::testing;

namespace {

std::string described(const DrawnText& piece) {
    const auto at = [](ImVec2 p) { return std::to_string(std::lround(p.x)) + "," + std::to_string(std::lround(p.y)); };
    return "\"" + piece.text + "\" (" + at(piece.low) + " to " + at(piece.high) + ")";
}

// `ink`: how far two lines may reach into each other, as a descender beside an ascender does.
void check_pieces(std::span<const DrawnText> pieces, ImVec2 size, float ink) {
    REQUIRE_FALSE(pieces.empty());  // an empty frame has no fault
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

float ink_of(const Driver& driver) { return 2.0F * driver.fonts().scale; }

}  // namespace

void check_layout(const Driver& driver, ImVec2 size) { check_pieces(driver.seen(), size, ink_of(driver)); }

void check_dialog(const Driver& driver, ImVec2 size, std::string_view heading) {
    std::string words(heading);
    std::erase(words, ' ');  // they are not drawn
    const std::vector<DrawnText>& seen = driver.seen();
    const auto last =
        std::find_if(seen.rbegin(), seen.rend(), [&](const DrawnText& piece) { return piece.text.starts_with(words); });
    REQUIRE(last != seen.rend());
    check_pieces({last.base() - 1, seen.end()}, size, ink_of(driver));
}

}  // namespace decoderscope::testing
