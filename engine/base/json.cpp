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
#include <type_traits>
#include <vector>

namespace decoderscope {

namespace {

// Makes a value of what the parser meets. No object may have a duplicate key. Nesting is limited, because code that
// reads the JSON may recurse and the stack is finite. The number of values is limited, because they can take many times
// the text's memory. It takes no longer for an object of many keys: nlohmann's own parser compares each key of an
// ordered object with all before it.
template <class Value>
class Reader final : public nlohmann::json_sax<Value> {
public:
    using typename nlohmann::json_sax<Value>::number_integer_t;
    using typename nlohmann::json_sax<Value>::number_unsigned_t;
    using typename nlohmann::json_sax<Value>::number_float_t;
    using typename nlohmann::json_sax<Value>::string_t;
    using typename nlohmann::json_sax<Value>::binary_t;

    Reader(std::string_view text, const Sentence& expected) : text_(text), expected_(expected) {}

    Value read() {
        // nlohmann's parser takes a NUL for the end, whatever follows.
        if (const std::size_t nul = text_.find('\0'); nul != std::string_view::npos) fail_at(nul);
        static_cast<void>(Value::sax_parse(text_.begin(), text_.end(), this));
        return std::move(whole_);
    }

    bool null() override { return put(nullptr); }
    bool boolean(bool flag) override { return put(flag); }
    bool number_integer(number_integer_t number) override { return put(number); }
    bool number_unsigned(number_unsigned_t number) override { return put(number); }
    bool number_float(number_float_t number, const string_t&) override { return put(number); }
    bool string(string_t& text) override { return put(std::move(text)); }
    bool binary(binary_t&) override { return false; }  // JSON has none

    bool start_array(std::size_t) override { return open(Value::array()); }
    bool end_array() override { return close(); }
    bool start_object(std::size_t) override { return open(Value::object()); }
    bool end_object() override {
        if constexpr (std::is_same_v<Value, OrderedJson>) {
            std::vector<std::string_view> keys;
            for (const auto& [key, value] : members()) keys.push_back(key);
            std::ranges::sort(keys);
            if (const auto twice = std::ranges::adjacent_find(keys); twice != keys.end()) fail_as_twice(*twice);
        }
        return close();
    }
    bool key(string_t& name) override {
        if constexpr (std::is_same_v<Value, OrderedJson>) {
            next_ = &static_cast<typename Members::Container&>(members()).emplace_back(std::move(name), nullptr).second;
        } else {
            const auto [member, is_new] = members().emplace(std::move(name), nullptr);
            if (!is_new) fail_as_twice(member->first);
            next_ = &member->second;
        }
        return true;
    }

    bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
        fail_at(position);
        return false;
    }

private:
    using Members = typename Value::object_t;

    [[noreturn]] void fail_at(std::size_t position) const {
        const auto read = static_cast<std::ptrdiff_t>(std::min(position, text_.size()));
        const auto line = 1 + std::count(text_.begin(), text_.begin() + read, '\n');
        throw Error("not valid JSON from line {line} on, expected {expected}",
                    {{"line", line}, {"expected", expected_}});
    }
    [[noreturn]] static void fail_as_twice(std::string_view name) {
        throw Error("{name}: given twice, expected once", {{"name", name}});
    }

    [[nodiscard]] Members& members() { return open_.back()->template get_ref<Members&>(); }

    // Puts a value where it belongs: at the end of a list, or behind the key that was read.
    Value& placed(Value value) {
        if (++values_ > limits::kJsonValues)
            throw Error("more than {most} values, expected {expected}",
                        {{"most", limits::kJsonValues}, {"expected", expected_}});
        if (!open_.empty() && open_.back()->is_array()) {
            open_.back()->push_back(std::move(value));
            return open_.back()->back();
        }
        return *next_ = std::move(value);
    }
    bool put(Value value) {
        placed(std::move(value));
        return true;
    }
    bool open(Value value) {
        if (open_.size() == limits::kJsonDepth)
            throw Error("JSON nested too deep, beyond {most} levels, expected {expected}",
                        {{"most", limits::kJsonDepth}, {"expected", expected_}});
        open_.push_back(&placed(std::move(value)));
        return true;
    }
    bool close() {
        open_.pop_back();
        return true;
    }

    std::string_view text_;
    const Sentence& expected_;
    std::size_t values_ = 0;
    Value whole_;
    Value* next_ = &whole_;     // where a value goes that is in no list
    std::vector<Value*> open_;  // lists and objects that are not closed yet
};

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
    return Reader<Json>(text, expected).read();
}

nlohmann::ordered_json parse_ordered_json(std::string_view text, const Sentence& expected) {
    return Reader<OrderedJson>(text, expected).read();
}

nlohmann::ordered_json json_or_text(const std::string& text) {
    try {
        return parse_ordered_json(text, message("a value"));
    } catch (const Error&) {
        return text;
    }
}

Sentence found_text(const Json& value) {
    if (value.is_array()) return message("a list");
    if (value.is_object()) return message("an object");
    const std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
    if (text.size() <= 60) return Sentence::verbatim(text);
    return message("a {type} of {size} bytes", {{"type", value.type_name()}, {"size", text.size()}});
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
