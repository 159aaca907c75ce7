// Which tokens does this position attend to, and how much? Read off the default screen.
#include "tests/catch.h"
#include "tests/views/driver.h"

#include <cmath>
#include <string>

using namespace decoderscope;
using namespace decoderscope::core;
using decoderscope::testing::DrawnHeatmap;
using decoderscope::testing::Driver;

namespace {

// A number as it is written in a cell, and how far off rounding may leave it.
std::pair<double, double> read(const std::string& text) {
    const std::size_t point = text.find('.');
    const int decimals = point == std::string::npos ? 0 : static_cast<int>(text.size() - point - 1);
    return {std::stod(text), 0.5 * std::pow(10.0, -decimals) + 1e-6};
}

}  // namespace

TEST_CASE("question 1: the default screen writes every weight of every position, without a gesture") {
    const Driver d("reverse", 1.0F, {1280, 880});
    REQUIRE(d.session.cursor().step == "blocks.1.cross_attn.pattern");
    const Tensor& pattern = d.session.shown().run->value("blocks.1.cross_attn.pattern");
    const DrawnHeatmap drawn = d.heatmap("blocks.1.cross_attn.pattern");
    const Place place = d.session.cursor().place;
    for (int query = 0; query < 12; ++query) {
        CHECK_FALSE(drawn.row_label(query).empty());
        for (int key = 0; key < 12; ++key) {
            const std::string text = drawn.number(query, key);
            const auto weight = static_cast<double>(pattern.at(Cell{place.batch, place.head, query, key}));
            INFO("query " << query << ", key " << key << ": " << weight << " is written " << text);
            CHECK((text == "0") == (weight == 0.0));
            REQUIRE_FALSE(text.empty());
            const auto [number, off] = read(text);
            CHECK(std::abs(number - weight) <= off);
        }
    }
    for (int key = 0; key < 12; ++key) CHECK_FALSE(drawn.column_label(key).empty());
    // The cells are square, and large enough to hit.
    CHECK(std::abs(drawn.cell_size().x - drawn.cell_size().y) < 1.5F);
    CHECK(drawn.cell_size().x >= 24.0F);
}
