#include "app/core/figure/cell_text.h"

#include "app/core/text/characters.h"
#include "app/core/text/numbers.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace decoderscope::core {

namespace {

constexpr int kMostDecimals = 4;
constexpr double kScientificFrom = 1e5, kTiny = 1e-3;

// In characters: every byte of UTF-8 but those that continue one.
std::size_t length(const std::string& text) {
    return static_cast<std::size_t>(
        std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

// "0.95" -> ".95", "−0.95" -> "−.95".
std::string without_leading_zero(std::string text) {
    const std::size_t zero = text.find('0');
    const bool leads = zero != std::string::npos && zero + 1 < text.size() && text[zero + 1] == '.' &&
                       text.find_first_of("123456789.") > zero;
    if (leads) text.erase(zero, 1);
    return text;
}

std::string if_it_fits(std::string text, std::size_t room) {
    if (length(text) <= room) return text;
    text = without_leading_zero(std::move(text));
    return length(text) <= room ? text : std::string();
}

std::string scientific_text(double value, std::size_t room) {
    for (int digits = 4; digits >= 1; --digits)
        if (std::string text = if_it_fits(short_number_text(value, digits), room); !text.empty()) return text;
    return {};
}

// With the most decimals that fit. A fraction keeps one, unless it is as good as 1: "−1" for −0.7 would be beyond the
// picture's scale, and "0" is for zero alone.
std::string decimal_text(double value, const CellFormat& format) {
    const double magnitude = std::fabs(value);
    const int least = magnitude >= 0.95 ? 0 : 1;
    for (int decimals = std::max(format.decimals, magnitude < 1.0 ? 1 : 0); decimals >= least; --decimals)
        if (std::string text = if_it_fits(fixed_text(value, decimals), format.room); !text.empty()) return text;
    return {};
}

bool is_whole(double value) { return std::fabs(value) < kScientificFrom && value == std::trunc(value); }

// ---- the choice of a format

// Characters before the decimal point, without the 0 of a fraction, which can be left out.
int digits_before_point(double magnitude) {
    int digits = 0;
    for (double power = 1.0; magnitude >= power && power <= kScientificFrom; power *= 10.0) ++digits;
    return digits;
}

// What the choice of a format depends on, from one pass over the cells.
struct Numbers {
    using Counts = std::array<std::size_t, kMostDecimals + 1>;
    // How many numbers fit with that many decimals, to at most four significant digits: written in full, or without the
    // 0 of a fraction.
    Counts in_full{}, without_zero{};
    std::size_t all = 0;
    double largest = 0.0;

    void add(double value, std::size_t room) {
        const double magnitude = std::fabs(value);
        const int before = digits_before_point(magnitude), sign = value < 0.0 ? 1 : 0;
        ++all;
        largest = std::max(largest, magnitude);
        for (int decimals = 0; decimals <= kMostDecimals; ++decimals) {
            const int point = decimals > 0 && !is_whole(value) ? 1 + decimals : 0;
            const bool precise = point == 0 || before + decimals <= 4;
            const auto fits = [&](int digits) { return precise && sign + digits + point <= static_cast<int>(room); };
            const auto at = static_cast<std::size_t>(decimals);
            if (fits(std::max(before, 1))) ++in_full[at];
            if (fits(point > 0 ? before : std::max(before, 1))) ++without_zero[at];
        }
    }

    // The most decimals, up to `most`, that three quarters of the numbers have room for.
    [[nodiscard]] int decimals(const Counts& fitting, int most) const {
        while (most > 0 && fitting[static_cast<std::size_t>(most)] * 4 < all * 3) --most;
        return most;
    }
};

// Masked cells hold the mask's fill, which is far from everything else: the other cells decide.
bool is_hidden(const Heatmap& heatmap, Index row, Index column) {
    return !heatmap.hidden.empty() &&
           hidden_by::masked(heatmap.hidden[static_cast<std::size_t>(row * heatmap.columns + column)]);
}

Numbers numbers_of(const Heatmap& heatmap, const CellRect& seen, std::size_t room) {
    Numbers numbers;
    for (Index row = seen.row; row < seen.row + seen.rows; ++row) {
        for (Index column = seen.column; column < seen.column + seen.columns; ++column) {
            const auto value = static_cast<double>(heatmap.at(row, column));
            if (!is_hidden(heatmap, row, column) && std::isfinite(value) && value != 0.0 &&
                std::fabs(value) < kScientificFrom)
                numbers.add(value, room);
        }
    }
    return numbers;
}

// Which cells have no room for their number in any form.
struct Holes {
    bool masked = false, others = false;
};

Holes holes(const Heatmap& heatmap, const CellRect& seen, const std::vector<std::string>& texts) {
    Holes found;
    for (std::size_t i = 0; i < texts.size(); ++i) {
        const auto at = static_cast<Index>(i);
        const Index row = seen.row + at / seen.columns, column = seen.column + at % seen.columns;
        if (texts[i].empty()) (is_hidden(heatmap, row, column) ? found.masked : found.others) = true;
    }
    return found;
}

void empty_masked(const Heatmap& heatmap, const CellRect& seen, std::vector<std::string>& texts) {
    for (std::size_t i = 0; i < texts.size(); ++i) {
        const auto at = static_cast<Index>(i);
        if (is_hidden(heatmap, seen.row + at / seen.columns, seen.column + at % seen.columns)) texts[i].clear();
    }
}

}  // namespace

CellFormat cell_format(const Heatmap& heatmap, const CellRect& seen, std::size_t room) {
    const Numbers numbers = numbers_of(heatmap, seen, room);
    // The 0 of a fraction is left out only for a second decimal.
    const int decimals =
        std::max(numbers.decimals(numbers.in_full, kMostDecimals), numbers.decimals(numbers.without_zero, 2));
    const bool all_round_to_0 = numbers.largest < std::max(kTiny, 0.5 * std::pow(10.0, -std::max(decimals, 1)));
    return {.room = room, .decimals = decimals, .scientific = numbers.all > 0 && all_round_to_0};
}

std::string cell_text(double value, const CellFormat& format) {
    if (!std::isfinite(value) || value == 0.0) return if_it_fits(short_number_text(value, 1), format.room);
    if (is_whole(value))
        if (std::string text = if_it_fits(fixed_text(value, 0), format.room); !text.empty()) return text;
    if (!format.scientific && std::fabs(value) < kScientificFrom)
        if (std::string text = decimal_text(value, format); !text.empty()) return text;
    return format.scientific || std::fabs(value) >= 1.0 ? scientific_text(value, format.room) : std::string();
}

std::vector<std::string> cell_texts(const Heatmap& heatmap, const CellRect& seen, std::size_t room, FillPlace said) {
    std::vector<std::string> texts;
    texts.reserve(static_cast<std::size_t>(seen.rows * seen.columns));
    if (!heatmap.texts.empty()) {  // tokens, where all of them have room
        for (Index row = seen.row; row < seen.row + seen.rows; ++row)
            for (Index column = seen.column; column < seen.column + seen.columns; ++column)
                texts.push_back(heatmap.texts[static_cast<std::size_t>(row * heatmap.columns + column)]);
        if (std::ranges::all_of(texts, [&](const std::string& text) { return characters(text).size() <= room; }))
            return texts;
        texts.clear();
    }
    const CellFormat format = cell_format(heatmap, seen, room);
    for (Index row = seen.row; row < seen.row + seen.rows; ++row)
        for (Index column = seen.column; column < seen.column + seen.columns; ++column)
            texts.push_back(cell_text(static_cast<double>(heatmap.at(row, column)), format));
    const Holes empty = holes(heatmap, seen, texts);
    const bool is_said = said == FillPlace::in_legend && fill_of(heatmap).has_value();
    if (empty.others || (empty.masked && !is_said))
        texts.clear();
    else if (empty.masked)
        empty_masked(heatmap, seen, texts);
    return texts;
}

std::optional<float> fill_of(const Heatmap& heatmap) {
    std::optional<float> fill;
    for (std::size_t i = 0; i < heatmap.hidden.size(); ++i) {
        if (!hidden_by::masked(heatmap.hidden[i])) continue;
        if (fill && *fill != heatmap.values[i]) return std::nullopt;
        fill = heatmap.values[i];
    }
    return fill;
}

std::string filled_text(std::uint8_t causes, std::optional<float> fill) {
    const std::string text = hidden_text(causes);
    return fill && *fill != 0.0F && hidden_by::masked(causes)
               ? text + ": " + short_number_text(static_cast<double>(*fill), 3)
               : text;
}

}  // namespace decoderscope::core
