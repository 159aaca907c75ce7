#include "app/core/lessons/text_functions.h"

#include "app/core/text/token_text.h"
#include "engine/error.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

namespace decoderscope::lessons {

namespace {

using Given = std::span<const Value>;

// One of the two sequences of a scenario.
struct Sequence {
    const Tensor& tokens;  // [batch, pos]
    const Tensor& mask;    // [batch, pos], may be absent
    const Tokenizer& tokenizer;
};
Sequence target(const Scenario& s) { return {s.inputs.tokens, s.inputs.attention_mask, s.model()->tokenizer}; }
Sequence source(const Scenario& s) {
    return {s.inputs.encoder_tokens, s.inputs.encoder_attention_mask, s.model()->encoder_tokenizer};
}

Index index_in(const Value& value, Index size, Phrase what) {
    const double number = number_of(value);
    Index index = std::isfinite(number) ? static_cast<Index>(std::llround(number)) : size;
    if (index < 0) index += size;
    if (index < 0 || index >= size)
        throw Error("{what} {index}; expected less than {size}",
                    {{"what", Sentence(what)}, {"index", shown_text(single(number))}, {"size", size}});
    return index;
}

Index id_at(const Sequence& s, Index row, Index position) {
    const std::array<Index, 2> cell = {row, position};
    return static_cast<Index>(s.tokens.at(cell));
}

Value token_of(const Sequence& s, Given a) {
    if (s.tokens.empty()) throw Error("the run reads no tokens here");
    const Index row = a.size() == 2 ? index_in(a[0], s.tokens.dim(0), message("row")) : 0;
    return token_text(s.tokenizer, id_at(s, row, index_in(a.back(), s.tokens.dim(1), message("position"))));
}

Value found_in(const Sequence& s, Given a) {
    if (s.tokens.empty()) throw Error("the run reads no tokens here");
    const Index id = id_of(s.tokenizer, text_of(a[0]));
    double left = a.size() == 2 ? number_of(a[1]) : 0.0;
    for (Index i = 0; i < s.tokens.dim(1); ++i)
        if (id_at(s, 0, i) == id && left-- <= 0.0) return single(static_cast<double>(i));
    return single(-1.0);
}

Value length_of(const Sequence& s) {
    if (s.tokens.empty()) throw Error("the run reads no tokens here");
    if (s.mask.empty()) return single(static_cast<double>(s.tokens.dim(1)));
    const std::span<const float> row = s.mask.values().first(static_cast<std::size_t>(s.tokens.dim(1)));
    return single(static_cast<double>(std::ranges::count_if(row, [](float keep) { return keep != 0.0F; })));
}

// A key of the configuration: a number, true or false, or a text.
Value config_key(const Scenario& scenario, Given a) {
    const std::string& key = text_of(a[0]);
    for (const auto& [name, value] : config_values(scenario.config())) {
        if (name != key) continue;
        if (value == "true" || value == "false") return single(value == "true" ? 1.0 : 0.0);
        char* end = nullptr;
        const double number = std::strtod(value.c_str(), &end);
        if (end == value.c_str() + value.size() && !value.empty()) return single(number);
        return value;
    }
    throw Error("config: \"{key}\" is no key of the configuration", {{"key", key}});
}

constexpr std::array<TextFunction, 10> kTextFunctions = {{
    {"token", 1, 2, [](const Scenario& s, Given a) { return token_of(target(s), a); }},
    {"source_token", 1, 2, [](const Scenario& s, Given a) { return token_of(source(s), a); }},
    {"find", 1, 2, [](const Scenario& s, Given a) { return found_in(target(s), a); }},
    {"source_find", 1, 2, [](const Scenario& s, Given a) { return found_in(source(s), a); }},
    {"length", 0, 0, [](const Scenario& s, Given) { return length_of(target(s)); }},
    {"source_length", 0, 0, [](const Scenario& s, Given) { return length_of(source(s)); }},
    {"word", 1, 1,
     [](const Scenario& s, Given a) {
         return Value(token_text(s.model()->tokenizer, static_cast<Index>(std::llround(number_of(a[0])))));
     }},
    {"id", 1, 1,
     [](const Scenario& s, Given a) {
         return Value(single(static_cast<double>(id_of(s.model()->tokenizer, text_of(a[0])))));
     }},
    {"source_id", 1, 1,
     [](const Scenario& s, Given a) {
         return Value(single(static_cast<double>(id_of(s.model()->encoder_tokenizer, text_of(a[0])))));
     }},
    {"config", 1, 1, config_key},
}};

}  // namespace

const TextFunction* find_text_function(std::string_view name) {
    const auto found = std::ranges::find(kTextFunctions, name, &TextFunction::name);
    return found != kTextFunctions.end() ? &*found : nullptr;
}

Index id_of(const Tokenizer& tokenizer, std::string_view text) {
    for (Index id = 0; id < tokenizer.size(); ++id)
        if (tokenizer.piece(id) == text || token_text(tokenizer, id) == text) return id;
    throw Error("the vocabulary has no token '{text}'", {{"text", text}});
}

}  // namespace decoderscope::lessons
