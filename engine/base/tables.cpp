#include "engine/base/tables.h"

#include <algorithm>
#include <array>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>

namespace decoderscope {

namespace {

// The build makes both of assets/ (engine/CMakeLists.txt).
constexpr auto kTables = std::to_array<std::pair<std::string_view, const char*>>({
#include "asset_tables.inc"
});
constexpr auto kTexts = std::to_array<Phrase>({
#include "asset_texts.inc"
});

const Phrase* find_text(std::string_view text) {
    const auto* const found =
        std::ranges::find(kTexts, text, [](const Phrase& phrase) { return std::string_view(phrase.english()); });
    return found == kTexts.end() ? nullptr : found;
}

}  // namespace

const OrderedJson& asset_table(std::string_view name) {
    static const auto tables = [] {
        std::map<std::string_view, OrderedJson> read;
        for (const auto& [table, json] : kTables) read.emplace(table, OrderedJson::parse(std::string(json)));
        return read;
    }();
    return tables.at(name);
}

Sentence asset_text(std::string_view text, const Arguments& arguments) {
    const Phrase* const found = find_text(text);
    return found == nullptr ? Sentence::verbatim(text) : Sentence(*found, arguments);
}

Phrase asset_phrase(std::string_view text) {
    const Phrase* const found = find_text(text);
    return found != nullptr ? *found : throw std::out_of_range(std::string(text));
}

}  // namespace decoderscope
