#include "engine/model/tokenizer/text_pattern.h"

#include "engine/error.h"
#include "engine/model/tokenizer/oniguruma.h"

namespace decoderscope {

TextPattern TextPattern::read(JsonObject json) {
    if (json.find("String") != nullptr) {
        std::string text = json.text("String");
        if (text.empty()) json.fail("String", message("empty, expected a text to search for"));
        json.finish();
        return TextPattern(std::move(text));
    }
    const std::string expression = json.text("Regex");
    json.finish();
    return naming(json.where() + "Regex", [&] { return TextPattern(RegularExpression(pcre2_pattern(expression))); });
}

std::vector<Span> TextPattern::matches(std::string_view text) const {
    if (const auto* expression = std::get_if<RegularExpression>(&pattern_)) return expression->matches(text);
    const auto& wanted = std::get<std::string>(pattern_);
    std::vector<Span> spans;
    for (std::size_t at = text.find(wanted); at != std::string_view::npos; at = text.find(wanted, at + wanted.size()))
        spans.push_back({at, at + wanted.size()});
    return spans;
}

}  // namespace decoderscope
