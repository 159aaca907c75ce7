#include "engine/model/tokenizer/strip_spaces.h"

#include "engine/model/tokenizer/unicode.h"

#include <string_view>

namespace decoderscope {

StripSpaces StripSpaces::read(JsonObject& json) { return {json.boolean("strip_left"), json.boolean("strip_right")}; }

void StripSpaces::operator()(Stretch& stretch) const {
    std::string_view text = stretch.text;
    while (left && !text.empty() && is_white_space(first_code_point(text).code))
        text.remove_prefix(first_code_point(text).bytes);
    if (text.size() < stretch.text.size()) stretch.begins_text = false;
    while (right && !text.empty() &&
           is_white_space(first_code_point(text.substr(text.size() - bytes_of_last(text))).code))
        text.remove_suffix(bytes_of_last(text));
    stretch.text = std::string(text);
}

}  // namespace decoderscope
