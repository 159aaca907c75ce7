#include "app/core/run/typed_inputs.h"

#include "app/core/run/conversations.h"
#include "engine/base/error.h"
#include "engine/model/inputs.h"

#include <algorithm>
#include <charconv>
#include <span>

namespace decoderscope::core {

namespace {

// Beyond this, ids are no longer distinct as floats; no vocabulary is that large.
constexpr Index kLargestId = Index{1} << 24;

constexpr std::string_view kLineBreak = "↵";

void replace_all(std::string& text, std::string_view from, std::string_view to) {
    for (std::size_t found = text.find(from); found != std::string::npos; found = text.find(from, found + to.size()))
        text.replace(found, from.size(), to);
}

Index parse_id(std::string_view word) {
    Index id = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), id);
    if (error != std::errc() || end != word.data() + word.size() || id < 0 || id > kLargestId)
        throw Error("\"{text}\", expected token ids such as \"1 2 3\"", {{"text", word.substr(0, 40)}});
    return id;
}

TokenRows rows_of_ids(std::string_view ids) {
    TokenRows rows(1);
    const auto separates = [](char c) { return c == ' ' || c == ',' || c == '\t' || c == '\r'; };
    for (std::size_t at = 0; at < ids.size();) {
        if (ids[at] == ';' || ids[at] == '\n') {
            if (!rows.back().empty()) rows.emplace_back();
            ++at;
        } else if (separates(ids[at])) {
            ++at;
        } else {
            const std::size_t end = std::min(ids.find_first_of(" ,;\t\r\n", at), ids.size());
            rows.back().push_back(parse_id(ids.substr(at, end - at)));
            at = end;
        }
    }
    if (rows.back().empty()) rows.pop_back();
    if (rows.empty()) throw Error("not a token id, expected ids such as \"1 2 3\"");
    return rows;
}

// The end token as it is written within a text, where it separates two parts; empty if there is none.
std::string separator_of(const tokenizer::Tokenizer& tokenizer) {
    const std::optional<Index> end = tokenizer.special().end;
    return end && tokenizer.has_piece(*end) ? tokenizer.piece(*end) : std::string();
}

// A line, of which the end token may separate parts: "abc<eos>cba".
TokenRows::value_type encoded(const tokenizer::Tokenizer& tokenizer, const std::string& line) {
    const std::string separator = separator_of(tokenizer);
    const std::size_t at = separator.empty() ? std::string::npos : line.find(separator);
    TokenRows::value_type row = tokenizer.encode(line.substr(0, at));
    if (at == std::string::npos) return row;
    row.push_back(*tokenizer.special().end);
    const TokenRows::value_type rest = encoded(tokenizer, line.substr(at + separator.size()));
    const bool begins = !rest.empty() && rest.front() == tokenizer.special().beginning;
    row.insert(row.end(), rest.begin() + (begins ? 1 : 0), rest.end());
    return row;
}

// The inverse. An end token with nothing after it ends the text, and isn't written.
std::string decoded(const tokenizer::Tokenizer& tokenizer, std::span<const Index> row) {
    const std::optional<Index> end = tokenizer.special().end;
    const auto at = end ? std::ranges::find(row, *end) : row.end();
    const auto before = static_cast<std::size_t>(at - row.begin());
    if (before + 1 >= row.size()) return tokenizer.decode(row);
    return tokenizer.decode(row.first(before)) + separator_of(tokenizer) + decoded(tokenizer, row.subspan(before + 1));
}

TokenRows rows_of_text(const tokenizer::Tokenizer& tokenizer, std::string_view text) {
    TokenRows rows;
    std::vector<std::string> unknown;  // of all lines
    for (bool more = true; more;) {
        const std::size_t end = text.find('\n');
        more = end != std::string_view::npos;
        std::string line(text.substr(0, end));
        text.remove_prefix(more ? end + 1 : text.size());
        if (line.ends_with('\r')) line.pop_back();
        replace_all(line, kLineBreak, "\n");
        try {
            rows.push_back(encoded(tokenizer, line));
        } catch (const tokenizer::NotInVocabulary& error) {
            for (const std::string& character : error.characters())
                if (std::ranges::find(unknown, character) == unknown.end()) unknown.push_back(character);
        }
    }
    if (!unknown.empty()) throw tokenizer::NotInVocabulary(std::move(unknown));
    if (rows.size() > 1 && rows.back().empty()) rows.pop_back();
    for (std::size_t line = 0; line < rows.size(); ++line)
        if (rows[line].empty())
            throw Error(rows.size() == 1 ? message("empty, expected at least one token")
                                         : message("line {line} is empty, expected at least one token per line",
                                                   {{"line", line + 1}}));
    return rows;
}

TokenBatch batch_of(const tokenizer::Tokenizer& tokenizer, const Typed& typed, std::string_view length_axis) {
    return padded_batch(rows_of(tokenizer, typed), length_axis, tokenizer.special().pad.value_or(0));
}

Inputs inputs_of(TokenBatch target) {
    Inputs inputs;
    inputs.tokens = std::move(target.tokens);
    inputs.attention_mask = std::move(target.mask);
    return inputs;
}

void check_same_batch(const Tensor& target, const Tensor& source) {
    if (target.dim(0) == source.dim(0)) return;
    throw Error(message_n("the source has {count} line, the target {target}; expected the same number",
                          "the source has {count} lines, the target {target}; expected the same number", source.dim(0),
                          {{"target", target.dim(0)}}));
}

// One sequence of the inputs.
struct Sequence {
    Tensor &tokens, &mask;
    const tokenizer::Tokenizer& tokenizer;

    [[nodiscard]] TokenRows rows() const { return rows_of(tokens, mask); }
    void set(const TokenRows& rows) const {
        TokenBatch batch = padded_batch(rows, tokens.axes()[1].name, tokenizer.special().pad.value_or(0));
        tokens = std::move(batch.tokens);
        mask = std::move(batch.mask);
    }
};

void make_even(const Sequence& typed, const Sequence& other) {
    const auto typed_beginning = typed.tokenizer.special().beginning,
               other_beginning = other.tokenizer.special().beginning;
    if (!typed_beginning || !other_beginning) return;
    const TokenRows::value_type begun = {*typed_beginning}, other_begun = {*other_beginning};
    TokenRows rows = typed.rows(), others = other.rows();
    if (rows.size() == others.size()) return;
    while (others.size() > rows.size() && others.back() == other_begun) others.pop_back();
    const std::size_t batch = std::max(rows.size(), others.size());
    rows.resize(batch, begun);
    others.resize(batch, other_begun);
    typed.set(rows);
    other.set(others);
}

}  // namespace

TokenRows rows_of(const tokenizer::Tokenizer& tokenizer, const Typed& typed) {
    const auto rows = [&] { return typed.ids ? rows_of_ids(typed.text) : rows_of_text(tokenizer, typed.text); };
    return typed.name.empty() ? rows() : naming(typed.name, rows);
}

TokenRows rows_of(const Tensor& tokens, const Tensor& mask) {
    TokenRows rows;
    if (tokens.empty()) return rows;
    const auto length = static_cast<std::size_t>(tokens.dim(1));
    for (std::size_t row = 0; row < static_cast<std::size_t>(tokens.dim(0)); ++row) {
        std::size_t kept = length;
        while (!mask.empty() && kept > 0 && mask.values()[row * length + kept - 1] == 0.0F) --kept;
        const std::span<const float> ids = tokens.values().subspan(row * length, kept);
        rows.emplace_back(ids.begin(), ids.end());
    }
    return rows;
}

std::string ids_text(const TokenRows& rows) {
    std::string text;
    for (std::size_t row = 0; row < rows.size(); ++row) {
        if (row > 0) text += '\n';
        for (std::size_t i = 0; i < rows[row].size(); ++i) text += (i > 0 ? " " : "") + std::to_string(rows[row][i]);
    }
    return text;
}

Typed typed_of(const tokenizer::Tokenizer& tokenizer, const TokenRows& rows) {
    if (!tokenizer.can_encode()) return {.text = ids_text(rows), .ids = true};
    Typed typed;
    for (std::size_t row = 0; row < rows.size(); ++row) {
        std::string text = decoded(tokenizer, rows[row]);
        replace_all(text, "\n", kLineBreak);
        typed.text += (row > 0 ? "\n" : "") + text;
    }
    return typed;
}

Inputs typed_inputs(const load::Model& model, const Inputs& inputs, const TypedSequences& typed, OtherRows other) {
    Inputs next = inputs;
    if (typed.target || typed.source) next.targets = {};  // they are of the text as it was
    const bool target_typed = typed.target || typed.messages;
    if (target_typed) {
        next = typed.messages ? chat::inputs_of(core::laid_out(*typed.messages, model.tokenizer), model.tokenizer)
                              : inputs_of(batch_of(model.tokenizer, *typed.target, axis::pos));
        next.memory = inputs.memory;
        next.encoder_tokens = inputs.encoder_tokens;
        next.encoder_attention_mask = inputs.encoder_attention_mask;
    }
    if (typed.source) {
        TokenBatch source = batch_of(model.encoder_tokenizer, *typed.source, axis::src);
        next.memory = {};
        next.encoder_tokens = std::move(source.tokens);
        next.encoder_attention_mask = std::move(source.mask);
    }
    const bool two = !next.tokens.empty() && !next.encoder_tokens.empty();
    const bool one_typed = target_typed != typed.source.has_value();
    if (two && one_typed && other == OtherRows::even) {
        const Sequence target = {next.tokens, next.attention_mask, model.tokenizer};
        const Sequence source = {next.encoder_tokens, next.encoder_attention_mask, model.encoder_tokenizer};
        make_even(target_typed ? target : source, target_typed ? source : target);
    }
    if (two && (!one_typed || other == OtherRows::even)) {
        check_same_batch(next.tokens, next.encoder_tokens);
    } else if (target_typed) {
        for (Tensor* kept : {&next.memory, &next.encoder_tokens, &next.encoder_attention_mask})
            *kept = first_of_batch(*kept, next.tokens.dim(0));
    } else if (typed.source) {
        for (Tensor* kept : {&next.tokens, &next.x, &next.attention_mask})
            *kept = first_of_batch(*kept, next.encoder_tokens.dim(0));
    }
    return next;
}

}  // namespace decoderscope::core
