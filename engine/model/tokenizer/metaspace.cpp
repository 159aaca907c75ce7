#include "engine/model/tokenizer/metaspace.h"

#include "engine/model/tokenizer/replace_text.h"
#include "engine/model/tokenizer/split.h"
#include "engine/model/tokenizer/text_pattern.h"
#include "engine/model/tokenizer/unicode.h"

#include <array>

namespace decoderscope {

Metaspace Metaspace::read(JsonObject& json) {
    static constexpr std::array<std::string_view, 3> prefixes = {"always", "first", "never"};
    Metaspace step;
    step.replacement = json.text("replacement");
    if (step.replacement.empty() || first_code_point(step.replacement).bytes != step.replacement.size())
        json.fail("replacement", message("expected one character"));
    if (json.text("str_rep", step.replacement) != step.replacement)
        json.fail("str_rep", message("expected the same character as in \"replacement\""));
    if (json.find("prepend_scheme") != nullptr)
        step.prefix = static_cast<Prefix>(json.word("prepend_scheme", prefixes));
    // How older files say it. Without a scheme it means different things to different libraries.
    if (!json.boolean("add_prefix_space", true) && step.prefix != Prefix::never)
        json.fail("add_prefix_space", message("false, expected \"prepend_scheme\": \"never\" with it"));
    step.split = json.boolean("split", true);
    return step;
}

Stretches Metaspace::operator()(const Stretch& stretch) const {
    Stretch marked = stretch;
    ReplaceText{TextPattern(std::string(" ")), replacement}(marked);
    const bool wanted = prefix == Prefix::always || (prefix == Prefix::first && stretch.begins_text);
    if (wanted && !marked.text.starts_with(replacement)) marked.text.insert(0, replacement);
    if (!split) return {std::move(marked)};
    return cut_at(marked, TextPattern(replacement).matches(marked.text), AtMatches::merged_with_next);
}

}  // namespace decoderscope
