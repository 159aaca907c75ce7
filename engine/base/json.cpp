#include "engine/base/json.h"

#include "engine/base/error.h"
#include "engine/base/limits.h"

#include <fast_float/fast_float.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <vector>

namespace decoderscope {

namespace {

// A parser callback that keeps only what it needs for its checks. No object may have a duplicate key. Nesting is
// limited, because code that reads the JSON may recurse and the stack is finite. The number of values is limited,
// because they can take many times the text's memory.
class Checker final : public nlohmann::json_sax<Json> {
public:
    Checker(std::string_view text, const Sentence& expected) : text_(text), expected_(expected) {}

    bool null() override { return count(); }
    bool boolean(bool) override { return count(); }
    bool number_integer(number_integer_t) override { return count(); }
    bool number_unsigned(number_unsigned_t) override { return count(); }
    bool number_float(number_float_t, const string_t&) override { return count(); }
    bool string(string_t&) override { return count(); }
    bool binary(binary_t&) override { return count(); }

    bool start_array(std::size_t) override { return open(); }
    bool end_array() override { return close(); }
    bool start_object(std::size_t) override { return open(); }
    bool end_object() override { return close(); }
    bool key(string_t& name) override {
        if (!keys_.back().insert(name).second) throw Error("{name}: given twice, expected once", {{"name", name}});
        return true;
    }

    bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
        const auto read = static_cast<std::ptrdiff_t>(std::min(position, text_.size()));
        const auto line = 1 + std::count(text_.begin(), text_.begin() + read, '\n');
        throw Error("not valid JSON from line {line} on, expected {expected}",
                    {{"line", line}, {"expected", expected_}});
    }

private:
    bool count() {
        if (++values_ > limits::kJsonValues)
            throw Error("more than {most} values, expected {expected}",
                        {{"most", limits::kJsonValues}, {"expected", expected_}});
        return true;
    }
    bool open() {
        keys_.emplace_back();
        if (keys_.size() > limits::kJsonDepth)
            throw Error("JSON nested too deep, beyond {most} levels, expected {expected}",
                        {{"most", limits::kJsonDepth}, {"expected", expected_}});
        return count();
    }
    bool close() {
        keys_.pop_back();
        return true;
    }

    std::string_view text_;
    const Sentence& expected_;
    std::size_t values_ = 0;
    std::vector<std::set<std::string>> keys_;  // of each list (it has none) and object that is not closed yet
};

void check(std::string_view text, const Sentence& expected) {
    Checker checker(text, expected);
    static_cast<void>(Json::sax_parse(text.begin(), text.end(), &checker));
}

constexpr std::uint32_t kUsualNan = 0x7fc00000U;
constexpr std::string_view kNanWithBits = "nan(0x";

std::string nan_text(std::uint32_t bits) {
    if (bits == kUsualNan) return "nan";
    std::array<char, 8> digits;
    const auto [end, failed] = std::to_chars(digits.data(), digits.data() + digits.size(), bits, 16);
    return std::string(kNanWithBits) + std::string(digits.data(), end) + ")";
}

// A NaN written with its bits; nothing if the text is not one.
std::optional<float> nan_with_bits(std::string_view text) {
    if (!text.starts_with(kNanWithBits) || !text.ends_with(')')) return std::nullopt;
    text.remove_prefix(kNanWithBits.size());
    text.remove_suffix(1);
    std::uint32_t bits = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bits, 16);
    const auto value = std::bit_cast<float>(bits);
    if (error != std::errc() || end != text.data() + text.size() || !std::isnan(value)) return std::nullopt;
    return value;
}

std::optional<float> named_float(const std::string& text) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    if (text == "nan") return std::bit_cast<float>(kUsualNan);
    if (text == "inf") return kInfinity;
    if (text == "-inf") return -kInfinity;
    return nan_with_bits(text);
}

}  // namespace

nlohmann::json parse_json(std::string_view text, const Sentence& expected) {
    check(text, expected);
    return Json::parse(text.begin(), text.end());
}

nlohmann::ordered_json parse_ordered_json(std::string_view text, const Sentence& expected) {
    check(text, expected);
    return OrderedJson::parse(text.begin(), text.end());
}

nlohmann::ordered_json float_to_json(float value) {
    if (std::isnan(value)) return nan_text(std::bit_cast<std::uint32_t>(value));
    if (std::isinf(value)) return value > 0.0F ? "inf" : "-inf";
    std::array<char, 32> digits;
    const auto [end, failed] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
    double shortest = 0.0;
    fast_float::from_chars(static_cast<const char*>(digits.data()), static_cast<const char*>(end), shortest);
    // JSON's numbers are doubles. If these digits, read as a double, are equally near to another float, more digits are
    // written.
    return static_cast<float>(shortest) == value ? shortest : static_cast<double>(value);
}

std::optional<float> float_from_json(const nlohmann::json& json) {
    if (json.is_string()) return named_float(json.get<std::string>());
    if (!json.is_number()) return std::nullopt;
    const auto value = static_cast<float>(json.get<double>());
    return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

namespace {

constexpr std::size_t kShort = 100;

std::string scalar(const OrderedJson& json) {
    try {
        return json.dump();
    } catch (const nlohmann::json::exception&) {
        throw Error("a text that is not UTF-8 (a file's name?), which JSON cannot hold");
    }
}

bool is_container(const OrderedJson& json) { return json.is_object() || json.is_array(); }

// Whether a value holds containers that hold anything but numbers and texts. An edit does not, although its cell is a
// list.
bool is_deep(const OrderedJson& json) {
    const auto holds_container = [](const OrderedJson& inner) {
        return std::any_of(inner.begin(), inner.end(), is_container);
    };
    if (json.is_array()) return holds_container(json);
    return std::any_of(json.begin(), json.end(),
                       [&](const OrderedJson& inner) { return inner.is_object() || holds_container(inner); });
}

std::string on_one_line(const OrderedJson& json) {
    if (!is_container(json)) return scalar(json);
    std::string text;
    for (const auto& [key, value] : json.items()) {
        text += text.empty() ? "" : ", ";
        if (json.is_object()) text += scalar(key) + ": ";
        text += on_one_line(value);
    }
    return json.is_object() ? "{" + text + "}" : "[" + text + "]";
}

// `item`: an item of a list, which stays on one line however long it is.
void write(std::string& text, const OrderedJson& json, std::size_t indent, bool item) {
    const bool whole = indent == 0;
    if (!is_container(json) || json.empty() || (!whole && !is_deep(json))) {
        std::string line = on_one_line(json);
        const bool numbers = json.is_array() && std::all_of(json.begin(), json.end(),
                                                            [](const OrderedJson& inner) { return inner.is_number(); });
        if (!is_container(json) || item || numbers || line.size() <= kShort) {
            text += line;
            return;
        }
    }
    const std::string margin(indent + 2, ' ');
    text += json.is_object() ? "{" : "[";
    bool first = true;
    for (const auto& [key, value] : json.items()) {
        text += (first ? "\n" : ",\n") + margin;
        if (json.is_object()) text += scalar(key) + ": ";
        write(text, value, indent + 2, json.is_array());
        first = false;
    }
    text += "\n" + std::string(indent, ' ') + (json.is_object() ? "}" : "]");
}

}  // namespace

std::string laid_out(const OrderedJson& json) {
    std::string text;
    write(text, json, 0, false);
    return text + "\n";
}

}  // namespace decoderscope

namespace nlohmann {

template class detail::lexer<json, TextAdapter>;
template class detail::lexer<ordered_json, TextAdapter>;
template class detail::parser<json, TextAdapter>;
template class detail::parser<ordered_json, TextAdapter>;
template class detail::serializer<json>;
template class detail::serializer<ordered_json>;

}  // namespace nlohmann
