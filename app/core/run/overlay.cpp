#include "app/core/run/overlay.h"

#include "app/core/run/notes.h"
#include "app/core/text/characters.h"
#include "app/core/text/numbers.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <set>
#include <utility>

namespace decoderscope::core {

namespace {

constexpr std::string_view kBlanks = " \t\r", kByteOrderMark = "\xEF\xBB\xBF";

// One record of a CSV file (RFC 4180).
struct CsvRecord {
    std::vector<std::string> fields;  // without the blanks around them
    int line = 0;                     // where it begins, from 1
};

// Reads records one after another. A comma in brackets doesn't end a field, so that a cell's name needs no quotes.
class CsvReader {
public:
    CsvReader(std::string_view text, const std::string& path) : text_(text), path_(path) {
        if (text_.starts_with(kByteOrderMark)) at_ = kByteOrderMark.size();
    }

    [[nodiscard]] bool is_at_end() const { return at_ >= text_.size(); }

    CsvRecord record() {
        CsvRecord record{.line = line_};
        for (;;) {
            record.fields.push_back(field());
            if (is_at_end() || text_[at_] != ',') break;
            ++at_;
        }
        if (!is_at_end()) {
            ++at_;  // the end of the line
            ++line_;
        }
        return record;
    }

private:
    // Ends at a comma, at the end of the line or at the end of the text.
    std::string field() {
        skip_blanks();
        return !is_at_end() && text_[at_] == '"' ? quoted_field() : plain_field();
    }

    std::string plain_field() {
        const std::size_t begin = at_;
        for (int depth = 0; !is_at_end() && text_[at_] != '\n' && (depth > 0 || text_[at_] != ','); ++at_) {
            if (text_[at_] == '[') ++depth;
            if (text_[at_] == ']') --depth;
        }
        return std::string(trimmed(text_.substr(begin, at_ - begin), kBlanks));
    }

    // A quote in it is written twice.
    std::string quoted_field() {
        const int begin = line_;
        std::string field;
        for (++at_;; ++at_) {
            if (is_at_end()) fail(begin, message("a text in quotes doesn't end; expected another \" after it"));
            if (text_[at_] == '"' && (at_ + 1 >= text_.size() || text_[at_ + 1] != '"')) break;
            if (text_[at_] == '"') ++at_;
            if (text_[at_] == '\n') ++line_;
            field += text_[at_];
        }
        ++at_;
        skip_blanks();
        if (!is_at_end() && text_[at_] != ',' && text_[at_] != '\n')
            fail(line_, message("more text after a text in quotes; expected a comma, and each quote inside the text "
                                "written twice"));
        return field;
    }

    [[noreturn]] void fail(int line, const Sentence& why) const {
        throw Error("{path}:{line}: {why}", {{"path", path_}, {"line", line}, {"why", why}});
    }

    void skip_blanks() {
        while (!is_at_end() && kBlanks.find(text_[at_]) != std::string_view::npos) ++at_;
    }

    std::string_view text_;
    const std::string& path_;
    std::size_t at_ = 0;
    int line_ = 1;
};

constexpr std::size_t kMostBytes = std::size_t{16} << 20;

bool is_json(std::string_view path) { return path.ends_with(".json"); }

// A number, and the line of the file that it stands in.
struct Placed {
    OverlayValue value;
    int line = 0;
};

OverlayValue value_at(const std::string& place, float value, const std::string& text) {
    CellName name = step_or_cell(place);
    return {std::move(name.tensor), std::move(name.cell), value, valid_utf8(text)};
}

// A number as JSON writes it.
float number_in(const std::string& text) {
    const std::optional<float> number = float_from_json(Json::parse(text, nullptr, false));
    if (!number) throw Error("\"{given}\", expected a finite number", {{"given", text}});
    return *number;
}

bool is_header(const CsvRecord& record) {
    std::string first = record.fields.front();
    std::ranges::transform(first, first.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return first == "name";
}

std::vector<Placed> values_of_csv(std::string_view text, const std::string& path) {
    std::vector<Placed> values;
    for (CsvReader reader(text, path); !reader.is_at_end();) {
        const CsvRecord record = reader.record();
        if (record.fields.size() == 1 && record.fields.front().empty()) continue;
        if (record.line == 1 && is_header(record)) continue;
        at_line(path, record.line, [&] {
            if (values.size() > kMostOverlayValues)
                throw Error("too many lines, expected at most {most}", {{"most", kMostOverlayValues + 1}});
            const std::vector<std::string>& fields = record.fields;
            if (fields.size() != 2 && fields.size() != 3)
                throw Error("{count} fields, expected NAME, value, text; a text with a comma must be in quotes",
                            {{"count", fields.size()}});
            values.push_back({value_at(fields[0], number_in(fields[1]), fields.size() == 3 ? fields[2] : std::string()),
                              record.line});
        });
    }
    return values;
}

// The line in which each item of a JSON list begins.
std::vector<int> lines_of_items(std::string_view json) {
    std::vector<int> lines;
    int depth = 0, line = 1;
    bool in_text = false, awaited = false;
    for (std::size_t i = 0; i < json.size(); ++i) {
        const char c = json[i];
        if (c == '\n') ++line;
        if (in_text) {
            if (c == '\\') ++i;
            if (c == '"') in_text = false;
            continue;
        }
        if (awaited && c != ']' && std::isspace(static_cast<unsigned char>(c)) == 0) {
            lines.push_back(line);
            awaited = false;
        }
        if (c == '"') in_text = true;
        if (c == '[' || c == '{') awaited = ++depth == 1;
        if (c == ']' || c == '}') --depth;
        if (c == ',' && depth == 1) awaited = true;
    }
    return lines;
}

std::vector<Placed> values_of_json(std::string_view text, const std::string& path) {
    constexpr Phrase expected = message("a list of objects with \"name\", \"value\" and optionally \"text\"");
    const Json list = naming(path, [&] { return parse_json(text, expected); });
    if (!list.is_array()) throw Error("{path}:1: no list, expected {what}", {{"path", path}, {"what", expected}});
    const std::vector<int> lines = lines_of_items(text);
    std::vector<Placed> values;
    for (std::size_t i = 0; i < list.size(); ++i)
        at_line(path, lines[i], [&] { values.push_back({read_overlay_value(JsonObject(list[i], "")), lines[i]}); });
    return values;
}

// The names that a number may have: the steps, and the parts of the map that they are in.
std::set<std::string_view> known_names(const Plan& plan) {
    std::set<std::string_view> names;
    for (const Step& step : plan.steps())
        for (std::string_view name = step.name; !name.empty(); name = part_around(name)) names.insert(name);
    return names;
}

std::string_view some_name(const Plan& plan) {
    const auto computed = std::ranges::find_if(plan.steps(), [](const Step& step) { return !step.is_source(); });
    return computed == plan.steps().end() ? std::string_view("logits") : std::string_view(computed->name);
}

void check_place(const OverlayValue& value, const Plan& plan, const std::set<std::string_view>& known) {
    if (const Ref step = plan.find(value.step); step != nullptr && !value.cell.empty())
        return check_cell({value.step, value.cell}, step->axes);
    if (!value.cell.empty() || !known.contains(value.step))
        throw Error("this run has no step {step}; expected a step or a part of the model, such as {example}",
                    {{"step", value.step}, {"example", std::string(some_name(plan))}});
}

bool is_before(const OverlayValue& a, const OverlayValue& b) {
    return a.step != b.step ? a.step < b.step : a.cell < b.cell;
}

bool same_place(const OverlayValue& a, const OverlayValue& b) { return a.step == b.step && a.cell == b.cell; }

void check(const OverlayValue& value) {
    if (!std::isfinite(value.value))
        throw Error("the number of {place} isn't finite, expected a finite number", {{"place", place_text(value)}});
    if (value.text.size() > kLongestOverlayText)
        throw Error("the text of {place} has {size} bytes, expected at most {most}",
                    {{"place", place_text(value)}, {"size", value.text.size()}, {"most", kLongestOverlayText}});
}

Scale scale_of(const std::vector<OverlayValue>& values) {
    const bool negative = std::ranges::any_of(values, [](const OverlayValue& value) { return value.value < 0.0F; });
    return negative ? Scale::diverging : Scale::sequential;
}

Range range_of(const std::vector<OverlayValue>& values, Scale scale) {
    std::vector<float> numbers;
    numbers.reserve(values.size());
    for (const OverlayValue& value : values) numbers.push_back(value.value);
    return range_of(std::span<const float>(numbers), scale);
}

// If two belong to the same place, the error names the one that was given later.
void check_places(const std::vector<OverlayValue>& values, const std::vector<std::size_t>& order,
                  const std::function<std::string(std::size_t)>& where) {
    for (std::size_t i = 1; i < order.size(); ++i) {
        if (!same_place(values[order[i - 1]], values[order[i]])) continue;
        naming(where(order[i]), [&] {
            throw Error("{place} has a number before this one, expected one for each place",
                        {{"place", place_text(values[order[i]])}});
        });
    }
}

}  // namespace

bool is_overlay_path(const std::string& path) {
    if (path.ends_with(".csv")) return true;
    if (!is_json(path)) return false;
    // A list; configurations, tokenizers and recordings are objects.
    std::ifstream file(std::filesystem::path(path), std::ios::binary);
    char first = 0;
    file >> first;
    return first == '[';
}

OverlayValue read_overlay_value(JsonObject json) {
    const std::string place = json.text("name");
    const float value = json.real("value");
    const std::string text = json.text("text", "");
    json.finish();
    return value_at(place, value, text);
}

Overlay parse_overlay(std::string_view text, const std::string& path, const Plan& plan) {
    std::vector<Placed> placed = is_json(path) ? values_of_json(text, path) : values_of_csv(text, path);
    const std::set<std::string_view> known = known_names(plan);
    std::vector<OverlayValue> values;
    for (Placed& one : placed) {
        at_line(path, one.line, [&] { check_place(one.value, plan, known); });
        values.push_back(std::move(one.value));
    }
    if (values.empty()) throw Error("{name}: no numbers, expected NAME, value, text in each line", {{"name", path}});
    return make_overlay(valid_utf8(std::filesystem::path(path).filename().string()), std::move(values),
                        [&](std::size_t i) { return path + ":" + std::to_string(placed[i].line); });
}

Overlay read_overlay(const std::string& path, const Plan& plan) {
    return parse_overlay(read_text(path, kMostBytes), path, plan);
}

Overlay make_overlay(std::string name, std::vector<OverlayValue> values,
                     const std::function<std::string(std::size_t)>& where) {
    if (values.empty()) throw Error("{name}: no numbers, expected NAME, value, text in each line", {{"name", name}});
    for (std::size_t i = 0; i < values.size(); ++i)
        if (i >= kMostOverlayValues)
            throw Error("{where}: too many numbers, expected at most {most}",
                        {{"where", where(i)}, {"most", kMostOverlayValues}});
        else
            naming(where(i), [&] { check(values[i]); });
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return is_before(values[a], values[b]); });
    check_places(values, order, where);
    Overlay overlay{.name = std::move(name), .scale = scale_of(values)};
    overlay.range = range_of(values, overlay.scale);
    overlay.values.reserve(values.size());
    for (const std::size_t i : order) overlay.values.push_back(std::move(values[i]));
    return overlay;
}

bool same_overlay(const std::shared_ptr<const Overlay>& a, const std::shared_ptr<const Overlay>& b) {
    if (a == b || !a || !b) return a == b;
    return a->name == b->name && a->values == b->values;
}

std::string place_text(const OverlayValue& value) {
    return value.cell.empty() ? value.step : cell_name(value.step, value.cell);
}

std::span<const OverlayValue> values_of(const Overlay& overlay, std::string_view step) {
    const auto from = std::ranges::lower_bound(overlay.values, step, {}, &OverlayValue::step);
    const auto to = std::find_if(from, overlay.values.end(), [&](const OverlayValue& one) { return one.step != step; });
    return {from, to};
}

const OverlayValue* number_of(const Overlay& overlay, std::string_view step) {
    const std::span<const OverlayValue> own = values_of(overlay, step);
    if (!own.empty() && own.front().cell.empty()) return &own.front();
    if (!own.empty())
        return &*std::ranges::max_element(own, {}, [](const OverlayValue& one) { return std::fabs(one.value); });
    for (std::string_view part = part_around(step); !part.empty(); part = part_around(part))
        if (const auto its = values_of(overlay, part); !its.empty() && its.front().cell.empty()) return &its.front();
    return nullptr;
}

std::string overlay_sentence(const Overlay& overlay, std::string_view step, const OverlayValue& number) {
    const std::string value = short_number_text(static_cast<double>(number.value), 4);
    if (number.step != step)
        return tr("{file}: {value}, of {part}", {{"file", overlay.name}, {"value", value}, {"part", number.step}});
    if (number.cell.empty()) return tr("{file}: {value}", {{"file", overlay.name}, {"value", value}});
    return tr_n("{file}: {count} cell, {value}", "{file}: {count} cells, the largest {value}",
                values_of(overlay, step).size(), {{"file", overlay.name}, {"value", value}});
}

}  // namespace decoderscope::core
