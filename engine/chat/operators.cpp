// What operators, indices and loops do with values: Python's rules.
#include "engine/chat/builtins.h"

#include "engine/base/error.h"

#include <algorithm>
#include <cmath>

namespace decoderscope::chat {

namespace {

constexpr std::size_t kMostCharacters = 100'000;

[[noreturn]] void not_for(std::string_view sign, const Value& left, const Value& right) {
    throw Error("{sign} is not defined between {left} and {right}",
                {{"sign", sign}, {"left", type_of(left)}, {"right", type_of(right)}});
}

[[noreturn]] void too_large() { throw Error("a whole number is too large"); }

std::int64_t floor_divided(std::int64_t a, std::int64_t b) {
    if (b == -1 && a == INT64_MIN) too_large();
    return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

Value power(std::int64_t base, std::int64_t exponent) {
    if (exponent < 0) return std::pow(static_cast<double>(base), static_cast<double>(exponent));
    std::int64_t result = 1;
    if (base == 1 || exponent == 0) return result;
    if (base == 0) return std::int64_t{0};
    if (base == -1) return exponent % 2 == 0 ? std::int64_t{1} : std::int64_t{-1};
    for (; exponent > 0; --exponent)
        if (__builtin_mul_overflow(result, base, &result)) too_large();
    return result;
}

Value of_whole(std::string_view sign, std::int64_t a, std::int64_t b) {
    std::int64_t result = 0;
    bool large = false;
    if (sign == "+")
        large = __builtin_add_overflow(a, b, &result);
    else if (sign == "-")
        large = __builtin_sub_overflow(a, b, &result);
    else if (sign == "*")
        large = __builtin_mul_overflow(a, b, &result);
    else if (sign == "**")
        return power(a, b);
    else if (b == 0)
        throw Error("a number is divided by zero");
    else if (sign == "/")
        return static_cast<double>(a) / static_cast<double>(b);
    else if (sign == "//")
        result = floor_divided(a, b);
    else
        result = b == -1 ? 0 : a - floor_divided(a, b) * b;
    if (large) too_large();
    return result;
}

Value of_real(std::string_view sign, double a, double b) {
    if (sign == "+") return a + b;
    if (sign == "-") return a - b;
    if (sign == "*") return a * b;
    if (sign == "**") return std::pow(a, b);
    if (b == 0.0) throw Error("a number is divided by zero");
    if (sign == "/") return a / b;
    return sign == "//" ? std::floor(a / b) : a - std::floor(a / b) * b;
}

// True and False count as 1 and 0.
std::optional<std::int64_t> whole_of(const Value& value) {
    if (const bool* flag = value.as<bool>()) return *flag ? 1 : 0;
    const auto* whole = value.as<std::int64_t>();
    return whole != nullptr ? std::optional(*whole) : std::nullopt;
}

std::optional<double> real_of(const Value& value) {
    if (const double* real = value.as<double>()) return *real;
    const auto whole = whole_of(value);
    return whole ? std::optional(static_cast<double>(*whole)) : std::nullopt;
}

List joined(const List& left, const List& right) {
    List both = left;
    both.insert(both.end(), right.begin(), right.end());
    return both;
}

Value repeated(const Value& value, std::int64_t times, Allowance& allowance) {
    const auto count = static_cast<std::size_t>(std::max<std::int64_t>(times, 0));
    Text text;
    List list;
    for (std::size_t i = 0; i < count; ++i) {
        allowance.step();
        if (const Text* one = value.text()) {
            allowance.bytes(one->bytes().size());
            text.append(*one);
        } else {
            allowance.bytes(value.list()->size() * sizeof(Value));
            list.insert(list.end(), value.list()->begin(), value.list()->end());
        }
    }
    return value.text() != nullptr ? Value(std::move(text)) : value_of(std::move(list));
}

// Three ways: negative if less. Nothing if they have no order.
std::optional<int> order_of(const Value& left, const Value& right) {
    if (const auto a = real_of(left), b = real_of(right); a && b) return *a < *b ? -1 : *a > *b ? 1 : 0;
    if (left.text() != nullptr && right.text() != nullptr) {
        const int order = left.text()->bytes().compare(right.text()->bytes());
        return order < 0 ? -1 : order > 0 ? 1 : 0;
    }
    return std::nullopt;
}

bool contains(const Value& whole, const Value& part) {
    if (const Text* text = whole.text(); text != nullptr && part.text() != nullptr)
        return text->bytes().find(part.text()->bytes()) != std::string::npos;
    if (const List* list = whole.list())
        return std::ranges::any_of(*list, [&](const Value& item) { return equal(item, part); });
    if (const Dictionary* dictionary = whole.dictionary())
        return part.text() != nullptr && dictionary->find(part.text()->bytes()) != nullptr;
    if (whole.as<Undefined>() != nullptr) return false;
    not_for("in", part, whole);
}

std::optional<std::size_t> place_in(std::size_t size, std::int64_t index) {
    const std::int64_t place = index < 0 ? index + static_cast<std::int64_t>(size) : index;
    if (place < 0 || place >= static_cast<std::int64_t>(size)) return std::nullopt;
    return static_cast<std::size_t>(place);
}

// The places that Python's [first:end:step] chooses of so many.
std::vector<std::size_t> places_of(std::size_t count, const Value& first, const Value& end, const Value& step) {
    const auto size = static_cast<std::int64_t>(count);
    const auto bound = [](const Value& value) -> std::optional<std::int64_t> {
        if (value.as<None>() != nullptr) return std::nullopt;
        if (const auto whole = whole_of(value)) return whole;
        throw Error("a part of a list or a text begins and ends at whole numbers, not at {type}",
                    {{"type", type_of(value)}});
    };
    const std::int64_t by = bound(step).value_or(1);
    if (by == 0) throw Error("a part of a list or a text can't go on in steps of 0");
    const auto within = [&](std::int64_t at) {
        if (at < 0) at = std::max<std::int64_t>(at + size, by < 0 ? -1 : 0);
        return std::min(at, by < 0 ? size - 1 : size);
    };
    const auto from = bound(first), to = bound(end);
    const std::int64_t last = to ? within(*to) : (by < 0 ? -1 : size);
    std::vector<std::size_t> places;
    for (std::int64_t at = from ? within(*from) : (by < 0 ? size - 1 : 0); by < 0 ? at > last : at < last;) {
        places.push_back(static_cast<std::size_t>(at));
        if (__builtin_add_overflow(at, by, &at)) break;
    }
    return places;
}

}  // namespace

std::string_view type_of(const Value& value) {
    static constexpr std::string_view names[] = {"Undefined",  // not a message: Python's name
                                                 "NoneType",  "bool", "int",       "float",    "str",
                                                 "list",      "dict", "namespace", "function", "method"};
    return names[value.index()];
}

Value combined(std::string_view sign, const Value& left, const Value& right, Allowance& allowance) {
    if (sign == "~") {
        Text both = written(left);
        both.append(written(right));
        allowance.bytes(both.bytes().size());
        return both;
    }
    if (const auto a = whole_of(left), b = whole_of(right); a && b) return of_whole(sign, *a, *b);
    if (const auto a = real_of(left), b = real_of(right); a && b) return of_real(sign, *a, *b);
    if (sign == "+" && left.text() != nullptr && right.text() != nullptr) {
        Text both = *left.text();
        both.append(*right.text());
        allowance.bytes(both.bytes().size());
        return both;
    }
    if (sign == "+" && left.list() != nullptr && right.list() != nullptr) {
        allowance.bytes((left.list()->size() + right.list()->size()) * sizeof(Value));
        return value_of(joined(*left.list(), *right.list()));
    }
    const auto many = [](const Value& value) { return value.text() != nullptr || value.list() != nullptr; };
    if (sign == "*" && many(left) && whole_of(right)) return repeated(left, *whole_of(right), allowance);
    if (sign == "*" && many(right) && whole_of(left)) return repeated(right, *whole_of(left), allowance);
    not_for(sign, left, right);
}

bool compared(std::string_view sign, const Value& left, const Value& right) {
    if (sign == "==") return equal(left, right);
    if (sign == "!=") return !equal(left, right);
    if (sign == "in") return contains(right, left);
    if (sign == "not in") return !contains(right, left);  // not a message: Jinja's operator
    const auto order = order_of(left, right);
    if (!order) not_for(sign, left, right);
    if (sign == "<") return *order < 0;
    if (sign == "<=") return *order <= 0;
    return sign == ">" ? *order > 0 : *order >= 0;
}

Value member_of(const Value& object, const Value& key) {
    if (const auto* missing = object.as<Undefined>())
        throw Error("{name} is undefined, so that it has no {member}",
                    {{"name", missing->name}, {"member", quotable(written(key).bytes())}});
    const std::string name = key.text() != nullptr ? key.text()->bytes() : std::string();
    if (const Dictionary* dictionary = object.dictionary()) {
        const Value* found = key.text() != nullptr ? dictionary->find(name) : nullptr;
        return found != nullptr ? *found : Undefined{quotable(written(key).bytes())};
    }
    if (const auto* space = object.as<std::shared_ptr<Namespace>>()) {
        const auto found = (*space)->find(name);
        return found != (*space)->end() ? found->second : Undefined{quotable(name)};
    }
    const auto index = whole_of(key);
    if (!index) return Undefined{quotable(written(key).bytes())};
    if (const List* list = object.list()) {
        const auto place = place_in(list->size(), *index);
        return place ? (*list)[*place] : Undefined{std::to_string(*index)};
    }
    if (const Text* text = object.text()) {
        const std::vector<std::size_t> characters = text->boundaries();
        const auto place = place_in(characters.size() - 1, *index);
        return place ? Value(text->characters(characters, *place)) : Undefined{std::to_string(*index)};
    }
    return Undefined{std::to_string(*index)};
}

List items_of(const Value& value) {
    if (const List* list = value.list()) return *list;
    if (value.as<Undefined>() != nullptr) return {};
    List items;
    if (const Text* text = value.text()) {
        const std::vector<std::size_t> characters = text->boundaries();
        if (characters.size() > kMostCharacters) throw Error("the text is too long to go through it by characters");
        for (std::size_t i = 0; i + 1 < characters.size(); ++i) items.emplace_back(text->characters(characters, i));
        return items;
    }
    if (const Dictionary* dictionary = value.dictionary()) {
        for (const Member& member : dictionary->members) items.emplace_back(Text(member.key));
        return items;
    }
    throw Error("{type} is no list to go through", {{"type", type_of(value)}});
}

Value sliced(const Value& object, const Value& first, const Value& end, const Value& step) {
    if (const Text* text = object.text()) {
        const std::vector<std::size_t> characters = text->boundaries();
        const std::vector<std::size_t> places = places_of(characters.size() - 1, first, end, step);
        const bool whole = !places.empty() && places.back() - places.front() + 1 == places.size();
        if (whole) return text->characters(characters, places.front(), places.size());
        Text part;
        for (const std::size_t place : places) {
            const std::size_t at = characters[place], size = characters[place + 1] - at;
            part.append(std::string_view(text->bytes()).substr(at, size), text->origins()[at]);
        }
        return part;
    }
    if (const auto* missing = object.as<Undefined>())
        throw Error("{name} is undefined, so that it has no {member}", {{"name", missing->name}, {"member", "[:]"}});
    const List* list = object.list();
    if (list == nullptr) throw Error("{type} is no list to go through", {{"type", type_of(object)}});
    List part;
    for (const std::size_t place : places_of(list->size(), first, end, step)) part.push_back((*list)[place]);
    return value_of(std::move(part));
}

}  // namespace decoderscope::chat
