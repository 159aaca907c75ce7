#include "app/core/tabs/cost/cost_files.h"

#include "app/core/figure/csv_and_json.h"
#include "app/core/text/columns.h"
#include "app/core/text/numbers.h"
#include "engine/base/json.h"
#include "engine/base/translate.h"
#include "engine/products/linalg.h"

#include <array>
#include <ostream>
#include <vector>

namespace decoderscope::core::cost {

namespace {

constexpr int kDigits = 3;

double milliseconds(const Cost& cost) { return static_cast<double>(cost.nanoseconds) / 1e6; }

std::string grouping_name(Grouping grouping) { return std::string(kGroupingNames[static_cast<std::size_t>(grouping)]); }

void add_numbers(OrderedJson& json, const Cost& cost) {
    json["milliseconds"] = milliseconds(cost);
    json["kept_bytes"] = cost.kept_bytes;
    json["operations"] = cost.operations;
    json["moved_bytes"] = cost.moved_bytes;
}

OrderedJson row_json(const CostRow& row, Grouping grouping) {
    OrderedJson json;
    json["name"] = row.name;
    if (grouping == Grouping::step) {
        json["part"] = row.part;
        json["block"] = row.block.empty() ? OrderedJson() : OrderedJson(row.block);
    }
    json["steps"] = row.steps;
    add_numbers(json, row.cost);
    return json;
}

std::vector<std::string> text_row(const std::string& name, std::size_t steps, const Cost& cost) {
    std::vector<std::string> row = {name, std::to_string(steps)};
    for (const SortedBy what : kAmounts) row.push_back(cost_text(cost, what));
    return row;
}

}  // namespace

std::string amount_text(std::uint64_t amount) {
    constexpr std::array kPrefixes = {"", " k", " M", " G", " T"};
    auto number = static_cast<double>(amount);
    std::size_t prefix = 0;
    for (; number >= 1000.0 && prefix + 1 < kPrefixes.size(); ++prefix) number /= 1000.0;
    return (prefix == 0 ? std::to_string(amount) : number_text(number, kDigits)) + kPrefixes[prefix];
}

std::string time_text(std::uint64_t nanoseconds) {
    const auto number = static_cast<double>(nanoseconds);
    if (nanoseconds >= 1'000'000'000) return number_text(number / 1e9, kDigits) + " s";
    if (nanoseconds >= 1'000'000) return number_text(number / 1e6, kDigits) + " ms";
    return number_text(number / 1e3, kDigits) + " µs";
}

std::string byte_text(std::uint64_t bytes) {
    if (bytes == 0) return "0";
    const std::string amount = amount_text(bytes);
    return amount + (bytes < 1000 ? " B" : "B");
}

std::string cost_text(const Cost& cost, SortedBy what) {
    if (what == SortedBy::time) return time_text(cost.nanoseconds);
    const std::uint64_t amount = amount_of(cost, what);
    return what == SortedBy::operations ? amount_text(amount) : byte_text(amount);
}

Sentence measured_sentence(const PassCost& pass) {
    return message(
        "Times are measured: the median of {passes} passes, with {products} for large matrices. What is made when it "
        "is "
        "first read (a mask) is timed with its reader.",
        {{"passes", pass.passes}, {"products", products::products_by()}});
}

Sentence counted_sentence() {
    return message(
        "The rest is counted from formulas and shapes, in floating-point operations: a multiply-add is 2, exp is 1, "
        "what no "
        "tensor enters is 0. Memory is what stays after the pass; moved are the numbers that a step reads and writes, "
        "each once, as float32.");
}

Sentence weights_sentence(const PassCost& pass) {
    return message("The weights take {bytes} more as float32; they stay from pass to pass.",
                   {{"bytes", byte_text(pass.weight_bytes)}});
}

void write_json(std::ostream& out, const CostTable& table, const PassCost& pass) {
    OrderedJson json;
    json["by"] = grouping_name(table.grouping);
    json["passes"] = pass.passes;
    json["products_by"] = products::products_by();
    json["weight_bytes"] = pass.weight_bytes;
    json["rows"] = OrderedJson::array();
    for (const CostRow& row : table.rows) json["rows"].push_back(row_json(row, table.grouping));
    add_numbers(json["total"], table.total);
    out << json.dump(2) << '\n';
}

void write_csv(std::ostream& out, const CostTable& table) {
    const bool by_step = table.grouping == Grouping::step;
    out << grouping_name(table.grouping) << (by_step ? ",part,block" : ",steps")
        << ",milliseconds,kept_bytes,operations,moved_bytes\r\n";
    for (const CostRow& row : table.rows) {
        out << csv_field(row.name) << ',';
        if (by_step)
            out << csv_field(row.part) << ',' << csv_field(row.block);
        else
            out << row.steps;
        out << ',' << OrderedJson(milliseconds(row.cost)).dump() << ',' << row.cost.kept_bytes << ','
            << row.cost.operations << ',' << row.cost.moved_bytes << "\r\n";
    }
}

void write_text(std::ostream& out, const CostTable& table, const PassCost& pass) {
    std::vector<std::vector<std::string>> rows = {
        {grouping_name(table.grouping), "steps", "time", "kept", "operations", "moved"}};
    std::size_t steps = 0;
    for (const CostRow& row : table.rows) {
        rows.push_back(text_row(row.name, row.steps, row.cost));
        steps += row.steps;
    }
    rows.push_back(text_row(tr("total"), steps, table.total));
    write_columns(out, rows, 1);
    out << measured_sentence(pass).english() << '\n'
        << counted_sentence().english() << '\n'
        << weights_sentence(pass).english() << '\n';
}

Exhibit cost_exhibit(const ShownRun& shown, const CostTable& table, const PassCost& pass) {
    Heatmap heatmap{
        .title = tr("cost of a forward pass"), .row_axis = grouping_name(table.grouping), .column_axis = ""};
    heatmap.column_labels = {"milliseconds", "kept_bytes", "operations", "moved_bytes"};
    heatmap.columns = static_cast<Index>(heatmap.column_labels.size());
    heatmap.rows = static_cast<Index>(table.rows.size());
    heatmap.scale = Scale::sequential;
    for (const CostRow& row : table.rows) {
        heatmap.row_labels.push_back(row.name);
        heatmap.values.push_back(static_cast<float>(milliseconds(row.cost)));
        for (const std::uint64_t amount : {row.cost.kept_bytes, row.cost.operations, row.cost.moved_bytes})
            heatmap.values.push_back(static_cast<float>(amount));
        for (const SortedBy what : kAmounts) heatmap.texts.push_back(cost_text(row.cost, what));
    }
    heatmap.range = range_of(heatmap.values, heatmap.scale);
    Exhibit exhibit;
    exhibit.caption = caption_of(shown.scenario, tr("cost"), "") + " · " + tr(measured_sentence(pass));
    exhibit.panels = {panel_of("cost", std::move(heatmap))};
    return exhibit;
}

}  // namespace decoderscope::core::cost
