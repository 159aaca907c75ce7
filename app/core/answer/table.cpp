#include "app/core/answer/table.h"

#include "app/core/figure/csv_and_json.h"
#include "app/core/text/columns.h"
#include "app/core/text/numbers.h"
#include "engine/base/json.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <ostream>

namespace decoderscope::core {

namespace {

constexpr int kDigits = 3;

// "1.25 M", "13.2 k", "640".
std::string count_text(double count) {
    constexpr std::array kPrefixes = {"", " k", " M", " G", " T"};
    std::size_t prefix = 0;
    double number = count;
    for (; number >= 1000.0 && prefix + 1 < kPrefixes.size(); ++prefix) number /= 1000.0;
    return (prefix == 0 ? std::to_string(std::llround(count)) : number_text(number, kDigits)) + kPrefixes[prefix];
}

// "13.2 kB", "96 B"; "0" if none.
std::string byte_text(double bytes) {
    if (bytes == 0.0) return "0";
    return count_text(bytes) + (bytes < 1000.0 ? " B" : "B");
}

// "13.2 µs", "1.25 ms", "2.00 s".
std::string time_text(double milliseconds) {
    if (milliseconds >= 1e3) return number_text(milliseconds / 1e3, kDigits) + " s";
    if (milliseconds >= 1.0) return number_text(milliseconds, kDigits) + " ms";
    return number_text(milliseconds * 1e3, kDigits) + " µs";
}

OrderedJson json_of(const Entry& entry) {
    struct ToJson {
        OrderedJson operator()(std::monostate) const { return {}; }
        OrderedJson operator()(const Sentence& words) const { return words.english(); }
        OrderedJson operator()(double number) const { return number; }
        OrderedJson operator()(std::uint64_t number) const { return number; }
        OrderedJson operator()(float number) const { return float_to_json(number); }
    };
    return std::visit(ToJson{}, entry);
}

// In a file: words as they are, numbers as JSON has them.
std::string field_of(const Entry& entry) {
    if (const auto* words = std::get_if<Sentence>(&entry)) return csv_field(words->english());
    if (std::holds_alternative<std::monostate>(entry)) return {};
    const OrderedJson json = json_of(entry);
    return json.is_string() ? json.get<std::string>() : json.dump();
}

void add_entries(OrderedJson& json, const Table& table, const TableRow& row, bool numbers_alone) {
    for (std::size_t i = 0; i < table.columns.size(); ++i)
        if (!numbers_alone || !std::isnan(number_of(row.entries[i])))
            json[table.columns[i].name] = json_of(row.entries[i]);
}

}  // namespace

std::optional<std::size_t> Table::titled(std::string_view name) const {
    const auto found = std::ranges::find(columns, name, [](const Column& column) { return column.title.english(); });
    if (found == columns.end()) return std::nullopt;
    return static_cast<std::size_t>(found - columns.begin());
}

void sort_by(Table& table, std::size_t column) {
    table.sorted_by = column;
    const auto key = [column](const TableRow& row) {
        const Entry& entry = row.entries[column];
        const double number = number_of(entry);
        if (std::isnan(number)) return std::numeric_limits<double>::infinity() * (entry.index() < 2 ? 1.0 : -1.0);
        return -std::abs(number);
    };
    std::ranges::stable_sort(table.rows, {}, key);
}

double number_of(const Entry& entry) {
    if (const auto* number = std::get_if<double>(&entry)) return *number;
    if (const auto* count = std::get_if<std::uint64_t>(&entry)) return static_cast<double>(*count);
    if (const auto* one = std::get_if<float>(&entry)) return static_cast<double>(*one);
    return std::numeric_limits<double>::quiet_NaN();
}

std::string text_of(const Entry& entry, Unit unit, int digits) {
    if (const auto* words = std::get_if<Sentence>(&entry)) return tr(*words);
    if (std::holds_alternative<std::monostate>(entry)) return {};
    const double number = number_of(entry);
    switch (unit) {
        case Unit::count:
            return count_text(number);
        case Unit::milliseconds:
            return time_text(number);
        case Unit::bytes:
            return byte_text(number);
        case Unit::difference:
            return short_number_text(number, kDigits);
        case Unit::words:
        case Unit::number:
            break;
    }
    const auto* whole = std::get_if<std::uint64_t>(&entry);
    return whole != nullptr ? std::to_string(*whole) : number_text(number, digits);
}

void write_json(std::ostream& out, const Table& table) {
    OrderedJson json;
    json["by"] = table.about;
    for (const auto& [name, fact] : table.facts) json[name] = json_of(fact);
    json["rows"] = OrderedJson::array();
    for (const TableRow& row : table.rows) {
        OrderedJson& line = json["rows"].emplace_back(OrderedJson{{"name", row.name.english()}});
        add_entries(line, table, row, false);
    }
    if (table.total) add_entries(json["total"], table, *table.total, true);
    out << json.dump(2) << '\n';
}

void write_csv(std::ostream& out, const Table& table) {
    constexpr const char* kLineEnd = "\r\n";
    out << csv_field(table.about);
    for (const Column& column : table.columns) out << ',' << csv_field(column.name);
    out << kLineEnd;
    for (const TableRow& row : table.rows) {
        out << csv_field(row.name.english());
        for (const Entry& entry : row.entries) out << ',' << field_of(entry);
        out << kLineEnd;
    }
}

void write_text(std::ostream& out, const Table& table) {
    std::vector<std::vector<std::string>> lines = {{table.about_title.english()}};
    const auto add = [&](const TableRow& row) {
        lines.push_back({row.name.english()});
        for (std::size_t i = 0; i < table.columns.size(); ++i)
            if (const Column& column = table.columns[i]; !column.title.empty())
                lines.back().push_back(text_of(row.entries[i], column.unit, column.digits));
    };
    for (const Column& column : table.columns)
        if (!column.title.empty()) lines.front().push_back(column.title.english());
    for (const TableRow& row : table.rows) add(row);
    if (table.total) add(*table.total);
    std::size_t words = 1;  // of the first columns
    for (const Column& column : table.columns) words += column.unit == Unit::words && !column.title.empty() ? 1 : 0;
    write_columns(out, lines, words);
    for (const Sentence& note : table.notes) out << note.english() << '\n';
}

Heatmap picture_of(const Table& table) {
    Heatmap picture{.title = tr(table.title), .row_axis = table.about, .column_axis = "", .scale = Scale::sequential};
    picture.rows = static_cast<Index>(table.rows.size());
    for (const Column& column : table.columns)
        if (column.unit != Unit::words && !column.title.empty()) picture.column_labels.push_back(column.name);
    picture.columns = static_cast<Index>(picture.column_labels.size());
    for (const TableRow& row : table.rows) {
        picture.row_labels.push_back(tr(row.name));
        for (std::size_t i = 0; i < table.columns.size(); ++i) {
            const Column& column = table.columns[i];
            if (column.unit == Unit::words || column.title.empty()) continue;
            picture.values.push_back(static_cast<float>(number_of(row.entries[i])));
            if (column.unit != Unit::number) picture.texts.push_back(text_of(row.entries[i], column.unit));
        }
    }
    if (picture.columns == 1) picture.column_axis = std::exchange(picture.column_labels.front(), "");
    if (std::ranges::any_of(picture.values, [](float value) { return value < 0.0F; })) picture.scale = Scale::diverging;
    if (picture.texts.size() != picture.values.size()) picture.texts.clear();
    picture.range = range_of(picture.values, picture.scale);
    return picture;
}

}  // namespace decoderscope::core
