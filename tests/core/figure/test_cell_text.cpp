// The numbers in a matrix' cells: short enough for their room, and never misleading.
#include "app/core/figure/cell_text.h"
#include "tests/catch.h"
#include "tests/core/figure/read_number.h"
#include "tests/engine/not_finite.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

using namespace decoderscope::testing;

namespace {

Heatmap matrix(Index columns, std::vector<float> values) {
    Heatmap h;
    h.rows = static_cast<Index>(values.size()) / columns;
    h.columns = columns;
    h.values = std::move(values);
    return h;
}

CellRect whole_of(const Heatmap& h) { return {0, 0, h.rows, h.columns}; }

std::vector<std::string> texts(const Heatmap& h, std::size_t room) { return cell_texts(h, whole_of(h), room); }

std::size_t characters_in(const std::string& text) {
    return static_cast<std::size_t>(
        std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

// Both signs, from the least denormal to the largest float; whole numbers, and those next to where digits change.
std::vector<double> many_numbers() {
    std::vector<double> numbers = {0.0, static_cast<double>(std::numeric_limits<float>::denorm_min()),
                                   static_cast<double>(std::numeric_limits<float>::min()),
                                   static_cast<double>(std::numeric_limits<float>::max()),
                                   static_cast<double>(kInfinity)};
    std::mt19937 random(7);
    std::uniform_real_distribution<double> exponent(-46.0, 38.5), near(-6.0, 6.0);
    for (int i = 0; i < 300; ++i) numbers.push_back(std::pow(10.0, exponent(random)));
    for (int i = 0; i < 700; ++i) numbers.push_back(std::pow(10.0, near(random)));
    for (int i = 1; i < 130; ++i) numbers.push_back(i);
    for (const double at : {0.05, 0.5,   0.699,  0.95,    0.995, 0.9995, 0.99995, 1.0,  1.5, 9.5,       9.995,
                            99.5, 999.5, 9999.5, 99999.5, 1e5,   1e6,    1e-3,    1e-4, 1e9, 12345678.0})
        for (const double off : {-1e-6, 0.0, 1e-6}) numbers.push_back(at * (1.0 + off));
    std::vector<double> all = {std::nan("")};
    for (const double number : numbers)
        for (const double sign : {1.0, -1.0}) all.push_back(static_cast<double>(static_cast<float>(sign * number)));
    return all;
}

}  // namespace

TEST_CASE("a cell shows as many decimals as it has room for") {
    const auto text = [](double value, std::size_t room, int decimals) {
        return cell_text(value, {.room = room, .decimals = decimals});
    };
    CHECK(text(0.9512, 6, 4) == "0.9512");
    CHECK(text(0.9512, 4, 2) == "0.95");
    CHECK(text(0.9512, 3, 2) == ".95");
    CHECK(text(-0.9512, 4, 2) == "−.95");
    CHECK(text(0.996, 3, 2) == "1.0");  // rounds up; not a whole number
    CHECK(text(1.0, 6, 4) == "1");
    CHECK(text(-19.36, 6, 2) == "−19.36");
    CHECK(text(-19.36, 5, 2) == "−19.4");
    CHECK(text(-19.36, 3, 2) == "−19");
    CHECK(text(-19.36, 2, 2).empty());
    // Rounded to nothing, with its decimals: only zero itself is "0".
    CHECK(text(1e-12, 4, 2) == "0.00");
    CHECK(text(-1e-12, 3, 2) == ".00");
    CHECK(text(0.0, 4, 2) == "0");
    CHECK(text(-0.0, 4, 2) == "0");
    CHECK(text(-1e9, 4, 2) == "−1e9");
    CHECK(text(-1e9, 3, 2).empty());
    CHECK(text(1.26e9, 4, 2) == "1e9");
    CHECK(text(1.26e9, 5, 2) == "1.3e9");
    CHECK(text(-kInfinity, 2, 2) == "−∞");
    CHECK(text(std::nan(""), 3, 2) == "NaN");
    CHECK(text(std::nan(""), 2, 2).empty());
    CHECK(text(0.7, 1, 2).empty());  // neither "1" nor "0"
    CHECK(text(0.7, 2, 0) == ".7");
    CHECK(text(0.9998, 2, 2) == "1");
    CHECK(text(-0.9998, 2, 2) == "−1");
    // Neither "−1", which is beyond their scale, nor "0".
    CHECK(text(-0.7, 2, 2).empty());
    CHECK(text(-0.4, 2, 2).empty());
    CHECK(text(-0.4, 3, 2) == "−.4");
}

TEST_CASE("whatever the number and the room, the text fits and, read back, is the number at the digits that it has") {
    for (const double value : many_numbers()) {
        for (std::size_t room = 0; room <= 10; ++room) {
            for (int decimals = 0; decimals <= 4; ++decimals) {
                for (const bool scientific : {false, true}) {
                    const std::string text = cell_text(value, {room, decimals, scientific});
                    if (text.empty()) continue;
                    INFO(value << " in " << room << " characters, " << decimals << " decimals: " << text);
                    REQUIRE(characters_in(text) <= room);
                    REQUIRE(is_its_number(text, value));
                }
            }
        }
    }
}

TEST_CASE("a picture's texts are its numbers, and not all of them are rounded to 0") {
    std::mt19937 random(5);
    const std::vector<double> numbers = many_numbers();
    int with_digits = 0;
    for (int i = 0; i < 20'000; ++i) {
        // Of one magnitude, or of any.
        std::vector<float> values;
        const double factor = numbers[random() % numbers.size()];
        for (int cell = 0; cell < 12; ++cell)
            values.push_back(i % 3 == 0
                                 ? static_cast<float>(numbers[random() % numbers.size()])
                                 : static_cast<float>(factor * (static_cast<double>(random() % 4001) / 2000.0 - 1.0)));
        const auto room = static_cast<std::size_t>(i % 11);
        const std::vector<std::string> drawn = texts(matrix(4, values), room);
        if (drawn.empty()) continue;
        ++with_digits;
        bool says_a_digit = false;
        for (std::size_t cell = 0; cell < values.size(); ++cell) {
            INFO(values[cell] << " in " << room << " characters: " << drawn[cell]);
            REQUIRE(characters_in(drawn[cell]) <= room);
            REQUIRE(is_its_number(drawn[cell], static_cast<double>(values[cell])));
            says_a_digit = says_a_digit || drawn[cell].find_first_not_of("0.") != std::string::npos;
        }
        INFO(factor << " in " << room << " characters: " << drawn[0] << " " << drawn[1]);
        REQUIRE((says_a_digit || std::ranges::all_of(values, [](float value) { return value == 0.0F; })));
    }
    CHECK(with_digits > 8'000);
}

TEST_CASE("one long number shortens itself, and no other") {
    const std::vector<float> plain = {0.25F, 0.5F, 0.125F, 0.0625F, 0.75F, 0.3F, 0.95F, 0.05F, 0.6F};
    const std::vector<std::string> before = texts(matrix(3, plain), 4);
    REQUIRE(before == std::vector<std::string>{"0.25", "0.50", "0.12", "0.06", "0.75", "0.30", "0.95", "0.05", "0.60"});
    for (const auto& [value, text] :
         {std::pair{1e-12F, "0.00"}, std::pair{-1e9F, "−1e9"}, std::pair{-1.0F / 0.0F, "−∞"},
          std::pair{std::nanf(""), "NaN"}, std::pair{-19.36F, "−19"}}) {
        std::vector<float> values = plain;
        values[4] = value;
        std::vector<std::string> expected = before;
        expected[4] = text;
        CHECK(texts(matrix(3, values), 4) == expected);
    }
}

TEST_CASE("a matrix of tiny numbers shows their digits") {
    CHECK(texts(matrix(2, {3.1e-5F, -2.0e-7F}), 7) == std::vector<std::string>{"3.1e-5", "−2e-7"});
    // Next to large ones they are nearly nothing.
    CHECK(texts(matrix(2, {3.1e-5F, 0.9F}), 6) == std::vector<std::string>{"0.0000", "0.9000"});
}

TEST_CASE("where a number has no room in any form, none is shown") {
    CHECK(texts(matrix(3, {12.5F, 1.0F, 2.0F, 3.0F, 4.0F, 5.0F, 6.0F, 7.0F, 8.0F}), 1).empty());
    CHECK(texts(matrix(2, {12.5F, 1.0F, 2.0F, 3.0F}), 2) == std::vector<std::string>{"12", "1", "2", "3"});
    CHECK(texts(matrix(2, {std::nanf(""), 1.0F, 2.0F, 3.0F}), 1).empty());
    CHECK(texts(matrix(2, {-19.0F, -18.0F, -17.0F, 4.0F}), 1).empty());
    CHECK(texts(matrix(2, {1.0F, 0.0F, 0.0F, 1.0F}), 1) == std::vector<std::string>{"1", "0", "0", "1"});
    CHECK(texts(matrix(2, {1.0F, 0.0F, 0.0F, 1.0F}), 0).empty());
}

TEST_CASE("whatever the numbers and the room, all cells have their digits or none has") {
    std::mt19937 random(11);
    std::uniform_real_distribution<double> exponent(-6.0, 6.0);
    int with_digits = 0, without = 0;
    for (int i = 0; i < 3000; ++i) {
        std::vector<float> values;
        const double centre = exponent(random);
        for (int cell = 0; cell < 12; ++cell) {
            const double spread = i % 3 == 0 ? exponent(random) : centre + exponent(random) / 6.0;
            values.push_back(static_cast<float>((random() % 2 == 0 ? 1.0 : -1.0) * std::pow(10.0, spread)));
        }
        const std::vector<std::string> drawn = texts(matrix(4, values), static_cast<std::size_t>(i % 8));
        const auto written = std::ranges::count_if(drawn, [](const std::string& text) { return !text.empty(); });
        INFO("room " << i % 8);
        CHECK((drawn.empty() || written == 12));
        (drawn.empty() ? without : with_digits) += 1;
    }
    CHECK(with_digits > 500);
    CHECK(without > 100);
}

TEST_CASE("the fill of masked cells decides nothing") {
    Heatmap h = matrix(2, {-1e9F, -1e9F, -1e9F, 0.5F});
    h.hidden = {hidden_by::causal, hidden_by::causal, hidden_by::causal, hidden_by::nothing};
    CHECK(cell_texts(h, whole_of(h), 3, FillPlace::in_legend) == std::vector<std::string>{"", "", "", ".50"});
}

TEST_CASE(
    "masked cells without room for their number are holes, unless the legend says the one number of all of them") {
    Heatmap h = matrix(2, {-1e9F, -1e9F, 0.25F, 0.5F});
    h.hidden = {hidden_by::causal, hidden_by::padding, hidden_by::nothing, hidden_by::nothing};
    CHECK(fill_of(h) == -1e9F);
    CHECK(texts(h, 3).empty());
    CHECK(texts(h, 4).front() == "−1e9");
    CHECK(cell_texts(h, whole_of(h), 3, FillPlace::in_legend) == std::vector<std::string>{"", "", ".25", ".50"});
    CHECK(filled_text(hidden_by::causal, fill_of(h)) == "causal mask: −1e9");
    h.values[1] = -1e4F;
    CHECK_FALSE(fill_of(h));
    CHECK(cell_texts(h, whole_of(h), 3, FillPlace::in_legend).empty());
    h.values[1] = -1e9F;
    h.hidden[1] = hidden_by::hand;
    CHECK(cell_texts(h, whole_of(h), 3, FillPlace::in_legend) == std::vector<std::string>{"", "", ".25", ".50"});
    CHECK(filled_text(hidden_by::hand, fill_of(h)) == "masked manually: −1e9");
}
