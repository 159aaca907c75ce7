#include "app/core/step/explanation_text.h"

#include "engine/translate.h"

#include <fast_float/fast_float.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

namespace decoderscope {

std::string exact_number(float value) {
    if (!std::isfinite(value)) return short_number(static_cast<double>(value));
    char digits[48];
    const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
    std::string text(digits, end);
    for (std::size_t at = text.find('-'); at != std::string::npos; at = text.find('-', at)) text.replace(at, 1, "−");
    return text;
}

bool parse_number(std::string_view text, float& value) {
    std::string plain(text);
    for (const auto& [written, read] : {std::pair{"−", "-"}, {"∞", "inf"}}) {
        for (std::size_t at = plain.find(written); at != std::string::npos; at = plain.find(written, at))
            plain.replace(at, std::string_view(written).size(), read);
    }
    const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '+'; };
    while (!plain.empty() && blank(plain.front())) plain.erase(plain.begin());
    while (!plain.empty() && (plain.back() == ' ' || plain.back() == '\t')) plain.pop_back();
    const auto [end, error] = fast_float::from_chars(plain.data(), plain.data() + plain.size(), value);
    return error == std::errc() && end == plain.data() + plain.size() && !plain.empty();
}

std::vector<std::size_t> largest_first(const Line& line) {
    std::vector<std::size_t> order(line.terms.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto size = [&](std::size_t i) {
        const double value = std::abs(line.terms[i].value);
        return std::isnan(value) ? std::numeric_limits<double>::infinity() : value;
    };
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return size(a) > size(b); });
    return order;
}

std::string factor_text(const Factor& factor, bool first) {
    if (!factor.text.empty()) return factor.text;
    const std::string number = short_number(factor.value);
    return first || factor.value >= 0.0 || std::isnan(factor.value) ? number : "(" + number + ")";
}

std::string line_text(const Line& line, std::size_t most) {
    const std::vector<std::size_t> order = largest_first(line);
    std::string text = line.name + " = ";
    double rest = 0.0;
    for (std::size_t i = 0; i < order.size(); ++i) {
        const Term& term = line.terms[order[i]];
        if (i >= most) {
            rest += term.value;
            continue;
        }
        if (i > 0) text += " + ";
        for (std::size_t f = 0; f < term.factors.size(); ++f)
            text += (f > 0 ? "·" : "") + factor_text(term.factors[f], f == 0 && i == 0);
    }
    if (order.size() > most)
        text += tr_n(" + {rest} ({count} more)", " + {rest} ({count} more)", order.size() - most,
                     {{"rest", short_number(rest)}});
    return text + " = " + short_number(line.value);
}

}  // namespace decoderscope
