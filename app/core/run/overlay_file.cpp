#include "app/core/run/overlay_file.h"

#include "app/core/run/notes.h"
#include "app/core/text/at_line.h"
#include "app/core/text/characters.h"
#include "app/core/text/csv_reader.h"
#include "engine/base/error.h"
#include "engine/base/file.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <set>
#include <utility>
#include <vector>

namespace decoderscope::core {

namespace {

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
    for (const CsvRecord& record : read_csv(text, path, kMostOverlayValues + 1)) {
        if (record.line == 1 && is_header(record)) continue;
        at_line(path, record.line, [&] {
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
        throw Error("this run has no step {step}; expected a step or a part of the map, such as {example}",
                    {{"step", value.step}, {"example", std::string(some_name(plan))}});
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

}  // namespace decoderscope::core
