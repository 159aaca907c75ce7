#include "engine/json_layout.h"

#include "engine/error.h"
#include "engine/json.h"

#include <algorithm>

namespace decoderscope {

namespace {

using OrderedJson = nlohmann::ordered_json;

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
