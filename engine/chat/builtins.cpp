#include "engine/chat/builtins.h"

#include "engine/base/error.h"
#include "engine/tokenizer/unicode.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <span>

namespace decoderscope::chat {

namespace {

// One call: what it is applied to, and its arguments in the order of the function's parameters.
struct Call {
    const Value& input;
    std::vector<Value> given;
    Surroundings& around;

    [[nodiscard]] bool has(std::size_t i) const { return given[i].as<Undefined>() == nullptr; }
    [[nodiscard]] bool flag(std::size_t i) const { return has(i) && is_true(given[i]); }
    [[nodiscard]] Text text(std::size_t i) const {
        if (given[i].text() == nullptr)
            throw Error("argument {number} is {type}, expected str", {{"number", i + 1}, {"type", type_of(given[i])}});
        return *given[i].text();
    }
    [[nodiscard]] std::int64_t whole(std::size_t i, std::int64_t otherwise) const {
        if (!has(i) || given[i].as<None>() != nullptr) return otherwise;
        if (const auto* number = given[i].as<std::int64_t>()) return *number;
        throw Error("argument {number} is {type}, expected int", {{"number", i + 1}, {"type", type_of(given[i])}});
    }
    [[nodiscard]] Text self() const { return written(input); }
    Text counted(Text text) const {
        around.allowance.bytes(text.bytes().size());
        return text;
    }
};

struct Builtin {
    std::string_view name;
    std::vector<std::string_view> parameters;  // the first `needed` of them must be given
    std::size_t needed;
    Value (*run)(Call&);
};

Value run(const Builtin& builtin, const Value& input, Given given, Surroundings& around) {
    around.allowance.step();
    if (given.places.size() > builtin.parameters.size())
        throw Error("{name} is given too many arguments, expected {count} at most",
                    {{"name", builtin.name}, {"count", builtin.parameters.size()}});
    given.places.resize(builtin.parameters.size(), Undefined{});
    for (auto& [name, value] : given.named) {
        const auto found = std::ranges::find(builtin.parameters, name);
        if (found == builtin.parameters.end())
            throw Error("{name} has no argument {argument}", {{"name", builtin.name}, {"argument", name}});
        given.places[static_cast<std::size_t>(found - builtin.parameters.begin())] = std::move(value);
    }
    for (std::size_t i = 0; i < builtin.needed; ++i)
        if (given.places[i].as<Undefined>() != nullptr)
            throw Error("{name} needs the argument {argument}",
                        {{"name", builtin.name}, {"argument", builtin.parameters[i]}});
    Call call{input, std::move(given.places), around};
    return naming(std::string(builtin.name), [&] { return builtin.run(call); });
}

const Builtin* find(std::span<const Builtin> all, std::string_view name) {
    const auto found = std::ranges::find(all, name, &Builtin::name);
    return found != all.end() ? &*found : nullptr;
}

// ---- texts

bool strips(std::string_view character, const std::string& chosen) {
    if (!chosen.empty()) return chosen.find(character) != std::string::npos;
    return (character.front() >= '\x1c' && character.front() <= '\x1f') ||
           tokenizer::is_white_space(tokenizer::first_code_point(character).code);
}

Text stripped(const Text& text, const std::string& chosen, bool left, bool right) {
    const std::vector<std::size_t> at = text.boundaries();
    const auto goes = [&](std::size_t i) {
        return strips(std::string_view(text.bytes()).substr(at[i], at[i + 1] - at[i]), chosen);
    };
    std::size_t first = 0, end = at.size() - 1;
    while (left && first < end && goes(first)) ++first;
    while (right && first < end && goes(end - 1)) --end;
    return text.characters(at, first, end - first);
}

template <bool left, bool right>
Value strip(Call& call) {
    const bool all = !call.has(0) || call.given[0].as<None>() != nullptr;
    return stripped(call.self(), all ? "" : call.text(0).bytes(), left, right);
}

enum class Case { upper, lower, title, capitalized };

template <Case wanted>
Value in_case(Call& call) {
    const Text text = call.self();
    std::string bytes = text.bytes();
    bool begins = true;
    for (char& c : bytes) {
        if (static_cast<unsigned char>(c) >= 0x80U) throw Error("only the letters of ASCII can be changed here");
        const bool letter = std::isalpha(static_cast<unsigned char>(c)) != 0;
        const bool upper = wanted == Case::upper || (wanted != Case::lower && begins);
        if (letter) c = static_cast<char>(upper ? std::toupper(c) : std::tolower(c));
        begins = wanted == Case::title ? !letter : false;
    }
    return text.with_bytes(std::move(bytes));
}

// What a part of a text takes besides its bytes.
constexpr std::size_t kPartBytes = 64;

// Each part between these, at most so many times.
std::vector<Text> parts_between(const Text& text, const std::string& separator, std::int64_t most,
                                Allowance& allowance) {
    std::vector<Text> parts;
    std::size_t first = 0;
    while (most < 0 || static_cast<std::int64_t>(parts.size()) < most) {
        const std::size_t next = text.bytes().find(separator, first);
        if (next == std::string::npos) break;
        allowance.bytes(kPartBytes);
        parts.push_back(text.part(first, next - first));
        first = next + separator.size();
    }
    parts.push_back(text.part(first, text.bytes().size() - first));
    return parts;
}

std::vector<Text> words_of(const Text& text, Allowance& allowance) {
    const std::vector<std::size_t> at = text.boundaries();
    std::vector<Text> words;
    std::size_t first = 0;
    for (std::size_t i = 0; i < at.size(); ++i) {
        const bool ends =
            i + 1 == at.size() || strips(std::string_view(text.bytes()).substr(at[i], at[i + 1] - at[i]), "");
        if (!ends) continue;
        if (i > first) allowance.bytes(kPartBytes);
        if (i > first) words.push_back(text.characters(at, first, i - first));
        first = i + 1;
    }
    return words;
}

Value list_of(std::vector<Text> texts) {
    List list;
    for (Text& text : texts) list.emplace_back(std::move(text));
    return value_of(std::move(list));
}

Value split(Call& call) {
    const bool at_space = !call.has(0) || call.given[0].as<None>() != nullptr;
    if (at_space && call.has(1)) throw Error("a number of parts without a separator is unknown here");
    if (at_space) return list_of(words_of(call.self(), call.around.allowance));
    const Text separator = call.text(0);
    if (separator.empty()) throw Error("the separator is empty");
    return list_of(parts_between(call.self(), separator.bytes(), call.whole(1, -1), call.around.allowance));
}

Value split_lines(Call& call) {
    std::vector<Text> lines = parts_between(call.self(), "\n", -1, call.around.allowance);
    if (lines.back().empty()) lines.pop_back();
    return list_of(std::move(lines));
}

Value replace(Call& call) {
    const Text text = call.self(), old = call.text(0), with = call.text(1);
    if (old.empty()) throw Error("the text to be replaced is empty");
    Text all;
    bool first = true;
    for (const Text& part : parts_between(text, old.bytes(), call.whole(2, -1), call.around.allowance)) {
        if (!std::exchange(first, false)) all.append(with);
        all.append(part);
        call.around.allowance.bytes(part.bytes().size() + with.bytes().size());
    }
    return all;
}

template <bool start>
Value has_affix(Call& call) {
    const Text text = call.self();
    const auto has = [&](const Value& affix) {
        if (affix.text() == nullptr)
            throw Error("argument {number} is {type}, expected str", {{"number", 1}, {"type", type_of(affix)}});
        return start ? text.bytes().starts_with(affix.text()->bytes()) : text.bytes().ends_with(affix.text()->bytes());
    };
    const List* several = call.given[0].list();
    return several != nullptr ? std::ranges::any_of(*several, has) : has(call.given[0]);
}

template <bool start>
Value without_affix(Call& call) {
    const Text text = call.self();
    const std::string affix = call.text(0).bytes();
    const bool has = start ? text.bytes().starts_with(affix) : text.bytes().ends_with(affix);
    return has ? text.part(start ? affix.size() : 0, text.bytes().size() - affix.size()) : text;
}

Value find_text(Call& call) {
    const Text text = call.self();
    const std::size_t found = text.bytes().find(call.text(0).bytes());
    if (found == std::string::npos) return std::int64_t{-1};
    return static_cast<std::int64_t>(text.part(0, found).boundaries().size()) - 1;
}

Value count_text(Call& call) {
    const std::string part = call.text(0).bytes();
    if (part.empty()) throw Error("the text to be counted is empty");
    return static_cast<std::int64_t>(parts_between(call.self(), part, -1, call.around.allowance).size()) - 1;
}

template <bool digits>
Value consists_of(Call& call) {
    const std::string bytes = call.self().bytes();
    return !bytes.empty() && std::ranges::all_of(bytes, [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return digits ? std::isdigit(byte) != 0 : std::isalpha(byte) != 0;
    });
}

Value joined_by(const Text& between, const List& items, Call& call) {
    Text all;
    for (std::size_t i = 0; i < items.size(); ++i) {
        if (i > 0) all.append(between);
        const Text item = written(items[i]);
        call.around.allowance.bytes(item.bytes().size() + between.bytes().size());
        all.append(item);
    }
    return all;
}

Value method_join(Call& call) { return joined_by(call.self(), items_of(call.given[0]), call); }

Value indent(Call& call) {
    std::string blanks;
    if (call.given[0].text() != nullptr)
        blanks = call.text(0).bytes();
    else
        blanks.assign(static_cast<std::size_t>(std::clamp<std::int64_t>(call.whole(0, 4), 0, 1000)), ' ');
    Text all;
    const std::vector<Text> lines = parts_between(call.self(), "\n", -1, call.around.allowance);
    for (std::size_t i = 0; i < lines.size(); ++i) {
        if (i > 0) all.append("\n");
        if (i > 0 ? !lines[i].empty() || call.flag(2) : call.flag(1)) all.append(blanks);
        all.append(lines[i]);
    }
    return call.counted(std::move(all));
}

// ---- numbers

Value to_whole(Call& call) {
    if (const auto* whole = call.input.as<std::int64_t>()) return *whole;
    if (const bool* flag = call.input.as<bool>()) return std::int64_t{*flag ? 1 : 0};
    if (const double* real = call.input.as<double>(); real != nullptr && std::abs(*real) < 9e18)
        return static_cast<std::int64_t>(*real);
    std::int64_t number = 0;
    if (const Text* text = call.input.text()) {
        const std::string digits = stripped(*text, "", true, true).bytes();
        const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
        if (failed == std::errc() && end == digits.data() + digits.size()) return number;
    }
    return call.whole(0, 0);
}

Value absolute(Call& call) {
    if (const auto* whole = call.input.as<std::int64_t>())
        return *whole < 0 ? combined("*", *whole, std::int64_t{-1}, call.around.allowance) : Value(*whole);
    if (const double* real = call.input.as<double>()) return std::abs(*real);
    throw Error("{type} is no number", {{"type", type_of(call.input)}});
}

Value rounded(Call& call) {
    if (!call.input.is_number()) throw Error("{type} is no number", {{"type", type_of(call.input)}});
    const auto* whole = call.input.as<std::int64_t>();
    const double number = whole != nullptr ? static_cast<double>(*whole) : *call.input.as<double>();
    const double scale = std::pow(10.0, static_cast<double>(std::clamp<std::int64_t>(call.whole(0, 0), 0, 15)));
    return std::nearbyint(number * scale) / scale;
}

// ---- lists

Value length(Call& call) {
    if (const Text* text = call.input.text()) return static_cast<std::int64_t>(text->boundaries().size()) - 1;
    return static_cast<std::int64_t>(items_of(call.input).size());
}

template <bool last>
Value end_of(Call& call) {
    const List items = items_of(call.input);
    return items.empty() ? Undefined{last ? "last" : "first"} : last ? items.back() : items.front();
}

// A member of a member: "function.name".
Value member_by_path(Value value, const std::string& path, Allowance& allowance) {
    for (const Text& name : parts_between(Text(path), ".", -1, allowance)) {
        std::int64_t index = 0;
        const std::string& bytes = name.bytes();
        const auto [end, failed] = std::from_chars(bytes.data(), bytes.data() + bytes.size(), index);
        const bool whole = failed == std::errc() && end == bytes.data() + bytes.size();
        value = member_of(value, whole ? Value(index) : Value(name));
    }
    return value;
}

// By an attribute if argument `i` names one.
Value key_of(const Value& item, const Call& call, std::size_t i) {
    return call.has(i) && call.given[i].as<None>() == nullptr
               ? member_by_path(item, call.text(i).bytes(), call.around.allowance)
               : item;
}

Value filter_join(Call& call) {
    List items;
    for (const Value& item : items_of(call.input)) items.push_back(key_of(item, call, 1));
    return joined_by(call.has(0) ? written(call.given[0]) : Text(), items, call);
}

Value to_list(Call& call) { return value_of(items_of(call.input)); }

Value reversed(Call& call) {
    List items = items_of(call.input);
    std::ranges::reverse(items);
    if (call.input.text() == nullptr) return value_of(std::move(items));
    return joined_by(Text(), items, call);
}

bool less(const Value& a, const Value& b) { return compared("<", a, b); }

Value sorted(Call& call) {
    List items = items_of(call.input);
    for (std::size_t i = 1; i < items.size(); ++i)
        static_cast<void>(less(key_of(items[i], call, 2), key_of(items[0], call, 2)));
    std::ranges::stable_sort(items, [&](const Value& a, const Value& b) {
        call.around.allowance.step();
        return less(key_of(a, call, 2), key_of(b, call, 2));
    });
    if (call.flag(0)) std::ranges::reverse(items);
    return value_of(std::move(items));
}

Value sorted_members(Call& call) {
    const Dictionary* dictionary = call.input.dictionary();
    if (dictionary == nullptr) throw Error("{type} is no dict", {{"type", type_of(call.input)}});
    std::vector<Member> members = dictionary->members;
    std::ranges::stable_sort(members, {}, &Member::key);
    List pairs;
    for (Member& member : members) pairs.push_back(value_of(List{Text(member.key), std::move(member.value)}));
    return value_of(std::move(pairs));
}

Value members(Call& call) {
    const Dictionary* dictionary = call.input.dictionary();
    if (dictionary == nullptr && call.input.as<Undefined>() == nullptr)
        throw Error("{type} is no dict", {{"type", type_of(call.input)}});
    List pairs;
    if (dictionary != nullptr)
        for (const Member& member : dictionary->members)
            pairs.push_back(value_of(List{Text(member.key), member.value}));
    return value_of(std::move(pairs));
}

Value keys(Call& call) { return value_of(items_of(call.input)); }

Value member_values(Call& call) {
    List all;
    for (const Member& member : call.input.dictionary()->members) all.push_back(member.value);
    return value_of(std::move(all));
}

Value get(Call& call) {
    const Value found = member_of(call.input, call.given[0]);
    if (found.as<Undefined>() == nullptr) return found;
    return call.has(1) ? call.given[1] : Value(None());
}

Value unique(Call& call) {
    List once;
    for (const Value& item : items_of(call.input)) {
        call.around.allowance.step(1 + once.size() / 16);
        const auto is_same = [&](const Value& other) { return equal(key_of(item, call, 1), key_of(other, call, 1)); };
        if (!std::ranges::any_of(once, is_same)) once.push_back(item);
    }
    return value_of(std::move(once));
}

template <bool largest>
Value extreme(Call& call) {
    const List items = items_of(call.input);
    if (items.empty()) return Undefined{largest ? "max" : "min"};
    return largest ? *std::ranges::max_element(items, less) : *std::ranges::min_element(items, less);
}

Value sum(Call& call) {
    Value total = std::int64_t{0};
    for (const Value& item : items_of(call.input))
        total = combined("+", total, key_of(item, call, 0), call.around.allowance);
    return total;
}

Given rest_of(const Call& call, std::size_t from) {
    Given rest;
    for (std::size_t i = from; i < call.given.size() && call.has(i); ++i) rest.places.push_back(call.given[i]);
    return rest;
}

// map("filter", …), or map(attribute="name").
Value map(Call& call) {
    List all;
    for (const Value& item : items_of(call.input)) {
        call.around.allowance.step();
        if (call.has(3)) {
            const Value found = member_by_path(item, call.text(3).bytes(), call.around.allowance);
            all.push_back(found.as<Undefined>() != nullptr && call.has(4) ? call.given[4] : found);
        } else if (call.has(0)) {
            all.push_back(filtered(call.text(0).bytes(), item, rest_of(call, 1), call.around));
        } else {
            throw Error("expected a filter or an attribute");
        }
    }
    return value_of(std::move(all));
}

// select("test", …); by_attribute: selectattr("name", "test", …).
template <bool kept, bool by_attribute>
Value select(Call& call) {
    constexpr std::size_t test = by_attribute ? 1 : 0;
    List all;
    for (const Value& item : items_of(call.input)) {
        call.around.allowance.step();
        const Value asked = by_attribute ? key_of(item, call, 0) : item;
        const bool holds = call.has(test) ? tested(call.text(test).bytes(), asked, rest_of(call, test + 1), call.around)
                                          : is_true(asked);
        if (holds == kept) all.push_back(item);
    }
    return value_of(std::move(all));
}

Value place_of(Call& call) {
    const List items = items_of(call.input);
    for (std::size_t i = 0; i < items.size(); ++i)
        if (equal(items[i], call.given[0])) return static_cast<std::int64_t>(i);
    throw Error("the list does not have it");
}

// ---- anything

Value otherwise(Call& call) {
    const bool missing = call.input.as<Undefined>() != nullptr || (call.flag(1) && !is_true(call.input));
    return !missing ? call.input : call.has(0) ? call.given[0] : Value(Text());
}

Value to_text(Call& call) { return call.self(); }

// Python sorts the keys of each level.
Value with_sorted_keys(const Value& value) {
    if (const List* list = value.list()) {
        List sorted;
        for (const Value& item : *list) sorted.push_back(with_sorted_keys(item));
        return value_of(std::move(sorted));
    }
    const Dictionary* dictionary = value.dictionary();
    if (dictionary == nullptr) return value;
    Dictionary sorted = *dictionary;
    std::ranges::stable_sort(sorted.members, {}, &Member::key);
    for (Member& member : sorted.members) member.value = with_sorted_keys(member.value);
    return value_of(std::move(sorted));
}

Value to_json(Call& call) {
    if (call.flag(1)) throw Error("{argument} is unknown here", {{"argument", "ensure_ascii"}});
    if (call.has(2) && call.given[2].as<None>() == nullptr)
        throw Error("{argument} is unknown here", {{"argument", "separators"}});
    const Value value = call.flag(3) ? with_sorted_keys(call.input) : call.input;
    return call.counted(json_text(value, static_cast<int>(std::clamp<std::int64_t>(call.whole(0, -1), -1, 100))));
}

std::span<const Builtin> filters() {
    static const std::vector<Builtin> all = {
        {"trim", {"chars"}, 0, strip<true, true>},
        {"upper", {}, 0, in_case<Case::upper>},
        {"lower", {}, 0, in_case<Case::lower>},
        {"title", {}, 0, in_case<Case::title>},
        {"capitalize", {}, 0, in_case<Case::capitalized>},
        {"replace", {"old", "new", "count"}, 2, replace},
        {"indent", {"width", "first", "blank"}, 0, indent},
        {"string", {}, 0, to_text},
        {"safe", {}, 0, to_text},
        {"int", {"default"}, 0, to_whole},
        {"abs", {}, 0, absolute},
        {"round", {"precision"}, 0, rounded},
        {"length", {}, 0, length},
        {"count", {}, 0, length},
        {"first", {}, 0, end_of<false>},
        {"last", {}, 0, end_of<true>},
        {"join", {"d", "attribute"}, 0, filter_join},
        {"list", {}, 0, to_list},
        {"reverse", {}, 0, reversed},
        {"sort", {"reverse", "case_sensitive", "attribute"}, 0, sorted},
        {"dictsort", {}, 0, sorted_members},
        {"items", {}, 0, members},
        {"unique", {"case_sensitive", "attribute"}, 0, unique},
        {"min", {}, 0, extreme<false>},
        {"max", {}, 0, extreme<true>},
        {"sum", {"attribute"}, 0, sum},
        {"map", {"filter", "first", "second", "attribute", "default"}, 0, map},
        {"select", {"test", "first", "second"}, 0, select<true, false>},
        {"reject", {"test", "first", "second"}, 0, select<false, false>},
        {"selectattr", {"attribute", "test", "first", "second"}, 1, select<true, true>},
        {"rejectattr", {"attribute", "test", "first", "second"}, 1, select<false, true>},
        {"default", {"default_value", "boolean"}, 0, otherwise},
        {"d", {"default_value", "boolean"}, 0, otherwise},
        {"tojson", {"indent", "ensure_ascii", "separators", "sort_keys"}, 0, to_json},
    };
    return all;
}

std::span<const Builtin> text_methods() {
    static const std::vector<Builtin> all = {
        {"strip", {"chars"}, 0, strip<true, true>},
        {"lstrip", {"chars"}, 0, strip<true, false>},
        {"rstrip", {"chars"}, 0, strip<false, true>},
        {"upper", {}, 0, in_case<Case::upper>},
        {"lower", {}, 0, in_case<Case::lower>},
        {"title", {}, 0, in_case<Case::title>},
        {"capitalize", {}, 0, in_case<Case::capitalized>},
        {"split", {"sep", "maxsplit"}, 0, split},
        {"splitlines", {}, 0, split_lines},
        {"replace", {"old", "new", "count"}, 2, replace},
        {"startswith", {"prefix"}, 1, has_affix<true>},
        {"endswith", {"suffix"}, 1, has_affix<false>},
        {"removeprefix", {"prefix"}, 1, without_affix<true>},
        {"removesuffix", {"suffix"}, 1, without_affix<false>},
        {"find", {"sub"}, 1, find_text},
        {"count", {"sub"}, 1, count_text},
        {"join", {"iterable"}, 1, method_join},
        {"isdigit", {}, 0, consists_of<true>},
        {"isalpha", {}, 0, consists_of<false>},
    };
    return all;
}

std::span<const Builtin> dictionary_methods() {
    static const std::vector<Builtin> all = {
        {"items", {}, 0, members},
        {"keys", {}, 0, keys},
        {"values", {}, 0, member_values},
        {"get", {"key", "default"}, 1, get},
    };
    return all;
}

std::span<const Builtin> list_methods() {
    static const std::vector<Builtin> all = {{"index", {"value"}, 1, place_of}};
    return all;
}

std::span<const Builtin> methods_of(const Value& object) {
    if (object.text() != nullptr) return text_methods();
    if (object.dictionary() != nullptr) return dictionary_methods();
    if (object.list() != nullptr) return list_methods();
    return {};
}

// ---- functions

Value raise(Call& call) {
    throw Error("the template refuses these messages: {why}", {{"why", quotable(written(call.given[0]).bytes())}});
}

// A day at midnight. Throws Error if the text is no date.
std::tm day_of(const std::string& date) {
    std::array<int, 3> numbers = {};
    const bool written = std::sscanf(date.c_str(), "%4d-%2d-%2d", &numbers[0], &numbers[1], &numbers[2]) == 3;
    const std::chrono::year_month_day day{std::chrono::year{numbers[0]},
                                          std::chrono::month{static_cast<unsigned>(numbers[1])},
                                          std::chrono::day{static_cast<unsigned>(numbers[2])}};
    if (!written || !day.ok())
        throw Error("“{date}” is no date, expected one such as 2026-11-27", {{"date", quotable(date)}});
    const std::chrono::sys_days days(day);
    std::tm time = {};
    time.tm_year = numbers[0] - 1900;
    time.tm_mon = numbers[1] - 1;
    time.tm_mday = numbers[2];
    time.tm_wday = static_cast<int>(std::chrono::weekday(days).c_encoding());
    time.tm_yday = static_cast<int>((days - std::chrono::sys_days(day.year() / 1 / 1)).count());
    return time;
}

Value date(Call& call) {
    const std::string format = call.text(0).bytes();
    for (std::size_t i = 0; i < format.size(); ++i) {
        if (format[i] != '%') continue;
        const std::string_view known = "aAbBdHIjmMpSUwWyY%";
        if (++i == format.size() || known.find(format[i]) == std::string_view::npos)
            throw Error("{argument} is unknown here", {{"argument", format.substr(i - 1, 2)}});
    }
    call.around.asked_for_date = true;
    const std::tm day = day_of(call.around.date);
    std::string text(format.size() * 16 + 64, '\0');
    text.resize(std::strftime(text.data(), text.size(), format.c_str(), &day));
    return Text(std::move(text));
}

Value range(Call& call) {
    const std::int64_t first = call.has(1) ? call.whole(0, 0) : 0;
    const std::int64_t end = call.has(1) ? call.whole(1, 0) : call.whole(0, 0), step = call.whole(2, 1);
    if (step == 0) throw Error("a part of a list or a text can't go on in steps of 0");
    List all;
    for (std::int64_t i = first; step > 0 ? i < end : i > end;) {
        call.around.allowance.step();
        call.around.allowance.bytes(sizeof(Value));
        all.emplace_back(i);
        if (__builtin_add_overflow(i, step, &i)) break;
    }
    return value_of(std::move(all));
}

std::span<const Builtin> functions() {
    static const std::vector<Builtin> all = {
        {"raise_exception", {"message"}, 1, raise},
        {"strftime_now", {"format"}, 1, date},
        {"range", {"start", "stop", "step"}, 1, range},
    };
    return all;
}

// ---- tests

template <class Kind>
Value is_kind(Call& call) {
    return call.input.as<Kind>() != nullptr;
}
template <bool wanted>
Value is_flag(Call& call) {
    const bool* flag = call.input.as<bool>();
    return flag != nullptr && *flag == wanted;
}
template <bool odd>
Value has_parity(Call& call) {
    const auto* whole = call.input.as<std::int64_t>();
    return whole != nullptr && (*whole % 2 != 0) == odd;
}
Value is_divisible(Call& call) {
    return equal(combined("%", call.input, call.given[0], call.around.allowance), std::int64_t{0});
}
Value is_defined(Call& call) { return call.input.as<Undefined>() == nullptr; }
Value is_any_number(Call& call) { return call.input.is_number() || call.input.as<bool>() != nullptr; }
Value is_mapping(Call& call) { return call.input.dictionary() != nullptr; }
Value is_iterable(Call& call) {
    return call.input.text() != nullptr || call.input.list() != nullptr || call.input.dictionary() != nullptr ||
           call.input.as<Undefined>() != nullptr;
}
Value is_callable(Call& call) {
    return call.input.as<Function>() != nullptr || call.input.as<std::shared_ptr<const Method>>() != nullptr;
}
template <Case wanted>
Value is_in_case(Call& call) {
    bool cased = false;
    const Text text = call.self();
    for (const char c : text.bytes()) {
        const auto byte = static_cast<unsigned char>(c);
        if (wanted == Case::upper ? std::islower(byte) != 0 : std::isupper(byte) != 0) return false;
        cased = cased || std::isalpha(byte) != 0;
    }
    return cased;
}

// Tests that are an operator by another name.
std::string_view operator_of(std::string_view test) {
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 14> all = {{{"eq", "=="},
                                                                                           {"equalto", "=="},
                                                                                           {"==", "=="},
                                                                                           {"sameas", "=="},
                                                                                           {"ne", "!="},
                                                                                           {"in", "in"},
                                                                                           {"lt", "<"},
                                                                                           {"lessthan", "<"},
                                                                                           {"le", "<="},
                                                                                           {"gt", ">"},
                                                                                           {"greaterthan", ">"},
                                                                                           {"ge", ">="},
                                                                                           {"!=", "!="},
                                                                                           {">", ">"}}};
    const auto found = std::ranges::find(all, test, &std::pair<std::string_view, std::string_view>::first);
    return found != all.end() ? found->second : std::string_view();
}

std::span<const Builtin> tests() {
    static const std::vector<Builtin> all = {
        {"defined", {}, 0, is_defined},
        {"undefined", {}, 0, is_kind<Undefined>},
        {"none", {}, 0, is_kind<None>},
        {"string", {}, 0, is_kind<Text>},
        {"boolean", {}, 0, is_kind<bool>},
        {"integer", {}, 0, is_kind<std::int64_t>},
        {"float", {}, 0, is_kind<double>},
        {"number", {}, 0, is_any_number},
        {"true", {}, 0, is_flag<true>},
        {"false", {}, 0, is_flag<false>},
        {"mapping", {}, 0, is_mapping},
        {"sequence", {}, 0, is_iterable},
        {"iterable", {}, 0, is_iterable},
        {"callable", {}, 0, is_callable},
        {"odd", {}, 0, has_parity<true>},
        {"even", {}, 0, has_parity<false>},
        {"divisibleby", {"num"}, 1, is_divisible},
        {"upper", {}, 0, is_in_case<Case::upper>},
        {"lower", {}, 0, is_in_case<Case::lower>},
    };
    return all;
}

}  // namespace

void Allowance::step(std::size_t count) {
    if (count > steps_) throw Error("the template takes too many steps");
    steps_ -= count;
}

void Allowance::bytes(std::size_t count) {
    if (count > bytes_) throw Error("the template makes too long a text");
    bytes_ -= count;
}

Value filtered(std::string_view filter, const Value& input, Given given, Surroundings& around) {
    const Builtin* builtin = find(filters(), filter);
    if (builtin == nullptr) throw Error("the filter {name} is unknown here", {{"name", filter}});
    return run(*builtin, input, std::move(given), around);
}

bool tested(std::string_view test, const Value& input, Given given, Surroundings& around) {
    if (const std::string_view sign = operator_of(test); !sign.empty()) {
        if (given.places.size() != 1 || !given.named.empty())
            throw Error("{name} needs the argument {argument}", {{"name", test}, {"argument", "other"}});
        return compared(sign, input, given.places.front());
    }
    const Builtin* builtin = find(tests(), test);
    if (builtin == nullptr) throw Error("the test {name} is unknown here", {{"name", test}});
    return is_true(run(*builtin, input, std::move(given), around));
}

Value called_method(const Value& object, std::string_view method, Given given, Surroundings& around) {
    const Builtin* builtin = find(methods_of(object), method);
    if (builtin == nullptr)
        throw Error("{type} has no method {name} here", {{"type", type_of(object)}, {"name", method}});
    return run(*builtin, object, std::move(given), around);
}

Value called_function(std::string_view function, Given given, Surroundings& around) {
    if (function == "namespace" || function == "dict") {
        Dictionary dictionary;
        for (auto& [name, value] : given.named) dictionary.members.push_back({name, std::move(value)});
        if (!given.places.empty())
            throw Error("{name} is given too many arguments, expected {count} at most",
                        {{"name", function}, {"count", 0}});
        if (function == "dict") return value_of(std::move(dictionary));
        const auto space = std::make_shared<Namespace>();
        for (Member& member : dictionary.members) space->insert_or_assign(member.key, std::move(member.value));
        return space;
    }
    const Builtin* builtin = find(functions(), function);
    if (builtin == nullptr) throw Error("{name} is no function here", {{"name", function}});
    static const Value nothing;
    return run(*builtin, nothing, std::move(given), around);
}

bool is_filter(std::string_view name) { return find(filters(), name) != nullptr; }
bool is_test(std::string_view name) { return !operator_of(name).empty() || find(tests(), name) != nullptr; }
bool is_function(std::string_view name) {
    return name == "namespace" || name == "dict" || find(functions(), name) != nullptr;
}
bool is_method(const Value& object, std::string_view name) { return find(methods_of(object), name) != nullptr; }

}  // namespace decoderscope::chat
