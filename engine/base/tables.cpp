#include "engine/base/tables.h"

#include <algorithm>
#include <array>
#include <mutex>
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
    struct Table {
        std::once_flag read;
        OrderedJson json;
    };
    static std::array<Table, kTables.size()> tables;  // each is read when it is first asked for
    const auto* const found = std::ranges::find(kTables, name, &std::pair<std::string_view, const char*>::first);
    if (found == kTables.end()) throw std::out_of_range(std::string(name));
    Table& table = tables[static_cast<std::size_t>(found - kTables.begin())];
    std::call_once(table.read, [&] { table.json = OrderedJson::parse(std::string(found->second)); });
    return table.json;
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
