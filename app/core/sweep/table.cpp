#include "app/core/sweep/table.h"

#include "app/core/figure/csv_and_json.h"
#include "app/core/text/columns.h"
#include "app/core/text/numbers.h"
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

namespace decoderscope::core::sweep {

namespace {

// ---- JSON

OrderedJson at_json(const At& at) { return at.number ? OrderedJson(*at.number) : OrderedJson(at.text.english()); }

// The numbers from `next` on as lists within lists, by the axes from this one on.
OrderedJson nested(const Tensor& tensor, std::size_t axis, std::size_t& next) {
    if (axis == tensor.rank()) return float_to_json(tensor.values()[next++]);
    OrderedJson list = OrderedJson::array();
    for (Index i = 0; i < tensor.dim(axis); ++i) list.push_back(nested(tensor, axis + 1, next));
    return list;
}

OrderedJson value_json(const Tensor& tensor) {
    std::size_t next = 0;
    return nested(tensor, tensor.size() == 1 ? tensor.rank() : 0, next);
}

OrderedJson result_json(const Result& result, bool predicts) {
    OrderedJson json;
    if (result.at.size() == 1) {
        json["at"] = at_json(result.at[0]);
    } else {
        for (const At& at : result.at) json["at"].push_back(at_json(at));
    }
    if (!result.value.empty()) json["value"] = value_json(result.value);
    if (predicts)
        json["predictions_changed"] = result.predictions_changed ? OrderedJson(*result.predictions_changed) : nullptr;
    return json;
}

// ---- tables

// What each of a row's numbers is called.
std::vector<std::string> names_of_numbers(const Sweep& sweep) {
    if (sweep.row.empty()) return {};
    if (sweep.results.empty() || sweep.results.front().value.size() == 1) return {"value"};
    const Tensor& value = sweep.results.front().value;
    std::vector<std::string> names;
    for (Index i = 0; i < value.size(); ++i) names.push_back(cell_name(sweep.row, value.cell(i)));
    return names;
}

std::string changed_text(const Result& result) {
    return result.predictions_changed ? std::to_string(*result.predictions_changed) : "";
}

// A number as JSON has it, without quotes.
std::string exact_text(float value) {
    const OrderedJson json = float_to_json(value);
    return json.is_string() ? json.get<std::string>() : json.dump();
}

}  // namespace

void write_json(std::ostream& out, const Sweep& sweep) {
    out << "[";
    for (std::size_t i = 0; i < sweep.results.size(); ++i)
        out << (i == 0 ? "\n  " : ",\n  ") << result_json(sweep.results[i], sweep.predicts).dump();
    out << "\n]\n";
}

void write_csv(std::ostream& out, const Sweep& sweep) {
    check_alike(sweep);
    constexpr const char* kLineEnd = "\r\n";
    std::string header;
    for (const std::string& name : sweep.varied) header += csv_field(name) + ",";
    for (const std::string& name : names_of_numbers(sweep)) header += csv_field(name) + ",";
    header.pop_back();
    out << header << (sweep.predicts ? ",predictions_changed" : "") << kLineEnd;
    for (const Result& result : sweep.results) {
        std::string line;
        for (const At& at : result.at) line += csv_field(at.text.english()) + ",";
        for (const float value : result.value.values()) line += exact_text(value) + ",";
        line.pop_back();
        out << line << (sweep.predicts ? "," + changed_text(result) : "") << kLineEnd;
    }
}

void write_text(std::ostream& out, const Sweep& sweep) {
    check_alike(sweep);
    constexpr std::size_t kMostColumns = 8;
    constexpr int kDigits = 6;
    const std::vector<std::string> names = names_of_numbers(sweep);
    const std::size_t shown = std::min(names.size(), kMostColumns);
    std::vector<std::vector<std::string>> rows(1, sweep.varied);
    rows[0].insert(rows[0].end(), names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown));
    if (sweep.predicts) rows[0].emplace_back(tr("predictions changed"));
    const auto add_numbers = [&](const Tensor& value) {
        for (std::size_t i = 0; i < shown; ++i)
            rows.back().push_back(number_text(static_cast<double>(value.values()[i]), kDigits));
    };
    for (const Result& result : sweep.results) {
        rows.emplace_back();
        for (const At& at : result.at) rows.back().push_back(at.text.english());
        add_numbers(result.value);
        if (sweep.predicts) rows.back().push_back(changed_text(result));
    }
    if (sweep.unswept && sweep.unswept->axes() == sweep.results.front().value.axes()) {
        rows.emplace_back(sweep.varied.size()).front() = tr("(unswept)");
        add_numbers(*sweep.unswept);
        if (sweep.predicts) rows.back().emplace_back();
    }
    write_columns(out, rows, sweep.varied.size());
    if (shown < names.size())
        out << tr("The first {shown} of {all} numbers; files have all of them.",
                  {{"shown", shown}, {"all", names.size()}})
            << '\n';
}

}  // namespace decoderscope::core::sweep
