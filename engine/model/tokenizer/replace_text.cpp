#include "engine/model/tokenizer/replace_text.h"

namespace decoderscope {

namespace {

std::string with(std::string_view text, const std::vector<Span>& matches, const std::string& content) {
    std::string written;
    std::size_t at = 0;
    for (const Span& match : matches) {
        written += text.substr(at, match.begin - at);
        written += content;
        at = match.end;
    }
    written += text.substr(at);
    return written;
}

}  // namespace

ReplaceText ReplaceText::read(JsonObject& json) {
    return {TextPattern::read(json.object("pattern")), json.text("content")};
}

void ReplaceText::operator()(Stretch& stretch) const {
    const std::vector<Span> matches = pattern.matches(stretch.text);
    if (content.empty() && !matches.empty() && matches.front().begin == 0) stretch.begins_text = false;
    stretch.text = with(stretch.text, matches, content);
}

std::string ReplaceText::replaced(std::string_view text) const { return with(text, pattern.matches(text), content); }

}  // namespace decoderscope
