#include "engine/chat/value.h"

#include "engine/base/error.h"
#include "engine/base/json.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace decoderscope::chat {

namespace {

bool continues_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; }

// Python's repr(): 1.0, 0.1, 1e+16, inf.
std::string number_text(double value) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
    std::array<char, 64> buffer = {};
    const double size = std::abs(value);
    const bool plain = size == 0.0 || (size >= 1e-4 && size < 1e16);
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                   plain ? std::chars_format::fixed : std::chars_format::scientific)
                         .ptr;
    std::string text(buffer.data(), end);
    if (plain && text.find('.') == std::string::npos) text += ".0";
    return text;
}

// Python's repr() of a text: in single quotes unless it has these and no double ones.
Text quoted(const Text& text) {
    const bool has_single = text.bytes().find('\'') != std::string::npos;
    const char quote = has_single && text.bytes().find('"') == std::string::npos ? '"' : '\'';
    Text all(std::string(1, quote));
    for (std::size_t i = 0; i < text.bytes().size(); ++i) {
        const char c = text.bytes()[i];
        const Origin origin = text.origins()[i];
        if (c == '\n')
            all.append("\\n", origin);
        else if (c == '\r')
            all.append("\\r", origin);
        else if (c == '\t')
            all.append("\\t", origin);
        else if (c == '\\' || c == quote)
            all.append(std::string{'\\', c}, origin);
        else
            all.append(std::string_view(&c, 1), origin);
    }
    all.append(std::string_view(&quote, 1));
    return all;
}

Text shown_inside(const Value& value) { return value.text() != nullptr ? quoted(*value.text()) : written(value); }

Text listed(const List& list) {
    Text all("[");
    for (std::size_t i = 0; i < list.size(); ++i) {
        if (i > 0) all.append(", ");
        all.append(shown_inside(list[i]));
    }
    all.append("]");
    return all;
}

Text listed(const std::vector<Member>& members) {
    Text all("{");
    for (std::size_t i = 0; i < members.size(); ++i) {
        if (i > 0) all.append(", ");
        all.append(quoted(Text(members[i].key)));
        all.append(": ");
        all.append(shown_inside(members[i].value));
    }
    all.append("}");
    return all;
}

// ---- JSON

Text json_string(const Text& text) {
    Text all("\"");
    for (std::size_t i = 0; i < text.bytes().size(); ++i) {
        const char c = text.bytes()[i];
        std::string escaped(1, c);
        if (c == '"' || c == '\\')
            escaped = std::string{'\\', c};
        else if (const std::size_t known = std::string_view("\n\r\t\b\f").find(c); known != std::string_view::npos)
            escaped = std::string{'\\', "nrtbf"[known]};
        else if (static_cast<unsigned char>(c) < 0x20U)
            escaped = std::string("\\u00") + "0123456789abcdef"[c >> 4] + "0123456789abcdef"[c & 15];
        all.append(escaped, text.origins()[i]);
    }
    all.append("\"");
    return all;
}

void start_line(Text& out, int indent, int level) {
    if (indent >= 0) out.append("\n" + std::string(static_cast<std::size_t>(indent * level), ' '));
}

void put_json(Text& out, const Value& value, int indent, int level);

// The items of a list or an object between its brackets.
template <class Items, class Put>
void put_items(Text& out, const Items& items, std::string_view brackets, int indent, int level, Put put) {
    out.append(brackets.substr(0, 1));
    for (std::size_t i = 0; i < items.size(); ++i) {
        if (i > 0) out.append(indent >= 0 ? "," : ", ");
        start_line(out, indent, level + 1);
        put(items[i]);
    }
    if (!items.empty()) start_line(out, indent, level);
    out.append(brackets.substr(1));
}

void put_json(Text& out, const Value& value, int indent, int level) {
    if (const Text* text = value.text()) return out.append(json_string(*text));
    if (const bool* flag = value.as<bool>()) return out.append(*flag ? "true" : "false");
    if (value.as<None>() != nullptr) return out.append("null");
    if (value.is_number()) return out.append(written(value));
    if (const List* list = value.list())
        return put_items(out, *list, "[]", indent, level,
                         [&](const Value& item) { put_json(out, item, indent, level + 1); });
    if (const Dictionary* dictionary = value.dictionary())
        return put_items(out, dictionary->members, "{}", indent, level, [&](const Member& member) {
            out.append(json_string(Text(member.key)));
            out.append(": ");
            put_json(out, member.value, indent, level + 1);
        });
    throw Error("tojson: this value can't be written as JSON");
}

}  // namespace

Text::Text(std::string bytes, Origin origin) : shared_(std::make_shared<Bytes>()) {
    shared_->origins.assign(bytes.size(), origin);
    shared_->bytes = std::move(bytes);
}

Text::Bytes& Text::own() {
    if (shared_.use_count() > 1) shared_ = std::make_shared<Bytes>(*shared_);
    return *shared_;
}

void Text::append(const Text& other) {
    const std::shared_ptr<const Bytes> more = other.shared_;  // it may be this text itself
    Bytes& all = own();
    all.bytes += more->bytes;
    all.origins.insert(all.origins.end(), more->origins.begin(), more->origins.end());
}

void Text::append(std::string_view bytes, Origin origin) {
    Bytes& all = own();
    all.bytes += bytes;
    all.origins.insert(all.origins.end(), bytes.size(), origin);
}

Text Text::part(std::size_t first, std::size_t count) const {
    Text some(bytes().substr(first, count));
    const auto from = origins().begin() + static_cast<std::ptrdiff_t>(first);
    some.shared_->origins.assign(from, from + static_cast<std::ptrdiff_t>(some.bytes().size()));
    return some;
}

std::vector<std::size_t> Text::boundaries() const {
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < bytes().size(); ++i)
        if (i == 0 || !continues_character(bytes()[i])) all.push_back(i);
    all.push_back(bytes().size());
    return all;
}

Text Text::with_bytes(std::string bytes) const {
    Text changed = *this;
    changed.own().bytes = std::move(bytes);
    return changed;
}

const Value* Dictionary::find(std::string_view key) const {
    for (const Member& member : members)
        if (member.key == key) return &member.value;
    return nullptr;
}

const List* Value::list() const {
    const auto* shared = as<std::shared_ptr<const MeasuredList>>();
    return shared != nullptr ? &(*shared)->items : nullptr;
}

const Dictionary* Value::dictionary() const {
    const auto* shared = as<std::shared_ptr<const Dictionary>>();
    return shared != nullptr ? shared->get() : nullptr;
}

std::string quotable(std::string_view text) {
    constexpr std::size_t kMost = 200;
    std::size_t end = std::min(kMost, text.size());
    while (end < text.size() && end > 0 && continues_character(text[end])) --end;
    return std::string(text.substr(0, end)) + (end < text.size() ? "…" : "");
}

namespace {

void add(Extent& extent, const Value& held) {
    constexpr std::size_t kMostValues = 1'000'000;
    constexpr int kDeepestList = 100;
    if (held.as<std::shared_ptr<Namespace>>() != nullptr) throw Error("a list or a dict can't hold a namespace");
    Extent of_held;
    if (const auto* list = held.as<std::shared_ptr<const MeasuredList>>()) of_held = (*list)->extent;
    if (const Dictionary* dictionary = held.dictionary()) of_held = dictionary->extent;
    extent.values += of_held.values;
    extent.depth = std::max(extent.depth, of_held.depth + 1);
    if (extent.values > kMostValues || extent.depth > kDeepestList)
        throw Error("a list or a dict holds more than {values} values, or is deeper than {depth}",
                    {{"values", kMostValues}, {"depth", kDeepestList}});
}

}  // namespace

Value value_of(List list) {
    Extent extent;
    for (const Value& item : list) add(extent, item);
    return std::make_shared<const MeasuredList>(MeasuredList{std::move(list), extent});
}

Value value_of(Dictionary dictionary) {
    dictionary.extent = {};
    for (const Member& member : dictionary.members) add(dictionary.extent, member.value);
    return std::make_shared<const Dictionary>(std::move(dictionary));
}

Value value_of(const nlohmann::ordered_json& json, Origin origin) {
    if (json.is_null()) return None();
    if (json.is_boolean()) return json.get<bool>();
    if (json.is_number_unsigned() && json.get<std::uint64_t>() > INT64_MAX)
        throw Error("{number} is too large", {{"number", json.dump()}});
    if (json.is_number_integer()) return json.get<std::int64_t>();
    if (json.is_number()) return json.get<double>();
    if (json.is_string()) return Text(json.get<std::string>(), origin);
    if (json.is_array()) {
        List list;
        for (const auto& item : json) list.push_back(value_of(item, origin));
        return value_of(std::move(list));
    }
    Dictionary dictionary;
    for (const auto& [key, item] : json.items()) dictionary.members.push_back({key, value_of(item, origin)});
    return value_of(std::move(dictionary));
}

bool is_true(const Value& value) {
    if (value.as<Undefined>() != nullptr || value.as<None>() != nullptr) return false;
    if (const bool* flag = value.as<bool>()) return *flag;
    if (const auto* whole = value.as<std::int64_t>()) return *whole != 0;
    if (const double* real = value.as<double>()) return *real != 0.0;
    if (const Text* text = value.text()) return !text->empty();
    if (const List* list = value.list()) return !list->empty();
    if (const Dictionary* dictionary = value.dictionary()) return !dictionary->members.empty();
    return true;
}

namespace {

bool equal_lists(const List& a, const List& b) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i)
        if (!equal(a[i], b[i])) return false;
    return true;
}

bool equal_dictionaries(const Dictionary& a, const Dictionary& b) {
    if (a.members.size() != b.members.size()) return false;
    for (const Member& member : a.members) {
        const Value* other = b.find(member.key);
        if (other == nullptr || !equal(member.value, *other)) return false;
    }
    return true;
}

// True counts as 1, as in Python.
std::optional<double> as_number(const Value& value) {
    if (const bool* flag = value.as<bool>()) return *flag ? 1.0 : 0.0;
    if (const auto* whole = value.as<std::int64_t>()) return static_cast<double>(*whole);
    if (const double* real = value.as<double>()) return *real;
    return std::nullopt;
}

}  // namespace

bool equal(const Value& a, const Value& b) {
    if (const auto first = as_number(a), second = as_number(b); first && second) return *first == *second;
    if (a.index() != b.index()) return false;
    if (const Text* text = a.text()) return text->bytes() == b.text()->bytes();
    if (const List* list = a.list()) return equal_lists(*list, *b.list());
    if (const Dictionary* dictionary = a.dictionary()) return equal_dictionaries(*dictionary, *b.dictionary());
    return a.as<None>() != nullptr || a.as<Undefined>() != nullptr;
}

Text written(const Value& value) {
    if (const Text* text = value.text()) return *text;
    if (value.as<Undefined>() != nullptr) return Text();
    if (value.as<None>() != nullptr) return Text("None");                            // not a message: Python's word
    if (const bool* flag = value.as<bool>()) return Text(*flag ? "True" : "False");  // not a message: Python's words
    if (const auto* whole = value.as<std::int64_t>()) return Text(std::to_string(*whole));
    if (const double* real = value.as<double>()) return Text(number_text(*real));
    if (const List* list = value.list()) return listed(*list);
    if (const Dictionary* dictionary = value.dictionary()) return listed(dictionary->members);
    throw Error("a function or a namespace can't be written");
}

Text json_text(const Value& value, int indent) {
    Text out;
    put_json(out, value, indent, 0);
    return out;
}

}  // namespace decoderscope::chat
