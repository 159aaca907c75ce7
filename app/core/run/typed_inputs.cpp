#include "app/core/run/typed_inputs.h"

#include "engine/base/error.h"
#include "engine/chat/laid_out.h"
#include "engine/model/inputs.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <span>

namespace decoderscope::core {

namespace {

// Beyond this, ids are no longer distinct as floats; no vocabulary is that large.
constexpr Index kLargestId = Index{1} << 24;

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
        } else if (ids.substr(at).starts_with(kTypedDocument)) {
            rows.back().push_back(kNextDocument);
            at += kTypedDocument.size();
        } else {
            const std::size_t end =
                std::min({ids.find_first_of(" ,;\t\r\n", at), ids.find(kTypedDocument, at), ids.size()});
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

// The parts of a list between these separators.
template <class List, class Separator>
std::vector<List> parts_of(const List& list, const Separator& separator) {
    std::vector<List> parts;
    for (auto begin = list.begin();;) {
        const auto end = std::search(begin, list.end(), separator.begin(), separator.end());
        parts.emplace_back(begin, end);
        if (end == list.end()) return parts;
        begin = end + std::ssize(separator);
    }
}

std::vector<TokenRows::value_type> documents_of(const TokenRows::value_type& row) {
    return parts_of(row, std::array{kNextDocument});
}

// A document, of which the end token may separate parts: "abc<eos>cba".
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

// A row in which kNextDocument stands between these.
TokenRows::value_type row_of_documents(const std::vector<TokenRows::value_type>& documents) {
    TokenRows::value_type row;
    for (const TokenRows::value_type& document : documents) {
        if (&document != &documents.front()) row.push_back(kNextDocument);
        row.insert(row.end(), document.begin(), document.end());
    }
    return row;
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
        replace_all(line, kTypedLineBreak, "\n");
        try {
            std::vector<TokenRows::value_type> documents;
            for (const std::string& document : parts_of(line, kTypedDocument))
                documents.push_back(encoded(tokenizer, document));
            rows.push_back(row_of_documents(documents));
        } catch (const tokenizer::NotInVocabulary& error) {
            for (const std::string& character : error.characters()) {
                const std::string shown = character == "\n" ? std::string(kTypedLineBreak) : character;
                if (std::ranges::find(unknown, shown) == unknown.end()) unknown.push_back(shown);
            }
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

// Throws Error if a document has no token; a last one without is about to be typed, and left out.
void check_documents(TokenRows& rows) {
    for (std::size_t line = 0; line < rows.size(); ++line) {
        if (rows[line].size() > 1 && rows[line].back() == kNextDocument) rows[line].pop_back();
        const auto documents = documents_of(rows[line]);
        for (std::size_t i = 0; documents.size() > 1 && i < documents.size(); ++i)
            if (documents[i].empty())
                throw Error("document {document} of line {line} is empty, expected at least one token",
                            {{"document", i + 1}, {"line", line + 1}});
    }
}

// A batch, and which document of its row each token is in; empty if no row has several.
struct TypedBatch {
    Tensor tokens, mask, segments;  // [batch, length]
};
TypedBatch batch_of(const TokenRows& typed, const tokenizer::Tokenizer& tokenizer, std::string_view length_axis) {
    TokenRows tokens(typed.size()), segments(typed.size());
    bool several = false;
    for (std::size_t row = 0; row < typed.size(); ++row) {
        Index document = 0;
        for (const Index token : typed[row]) {
            several = several || token == kNextDocument;
            if (token == kNextDocument) {
                ++document;
            } else {
                tokens[row].push_back(token);
                segments[row].push_back(document);
            }
        }
    }
    TokenBatch batch = padded_batch(tokens, length_axis, tokenizer.special().pad.value_or(0));
    return {std::move(batch.tokens), std::move(batch.mask),
            several ? padded_batch(segments, length_axis).tokens : Tensor()};
}

Inputs inputs_of(TypedBatch target) {
    Inputs inputs;
    inputs.tokens = std::move(target.tokens);
    inputs.attention_mask = std::move(target.mask);
    inputs.segments = std::move(target.segments);
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
    Tensor &tokens, &mask, &segments;
    const tokenizer::Tokenizer& tokenizer;

    [[nodiscard]] TokenRows rows() const { return rows_of(tokens, mask, segments); }
    void set(const TokenRows& rows) const {
        TypedBatch batch = batch_of(rows, tokenizer, tokens.axes()[1].name);
        tokens = std::move(batch.tokens);
        mask = std::move(batch.mask);
        segments = std::move(batch.segments);
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
    const auto checked = [&] {
        TokenRows read = rows();
        check_documents(read);
        return read;
    };
    return typed.name.empty() ? checked() : naming(typed.name, checked);
}

TokenRows rows_of(const Tensor& tokens, const Tensor& mask, const Tensor& segments) {
    TokenRows rows = rows_of(tokens, mask);
    if (segments.empty()) return rows;
    for (std::size_t row = 0; row < rows.size(); ++row) {
        const std::span<const float> of = segments.row({static_cast<Index>(row), 0});
        for (std::size_t at = rows[row].size(); at-- > 1;)
            if (of[at] != of[at - 1])
                rows[row].insert(rows[row].begin() + static_cast<std::ptrdiff_t>(at), kNextDocument);
    }
    return rows;
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
        for (std::size_t i = 0; i < rows[row].size(); ++i)
            text += (i > 0 ? " " : "") +
                    (rows[row][i] == kNextDocument ? std::string(kTypedDocument) : std::to_string(rows[row][i]));
    }
    return text;
}

Typed typed_of(const tokenizer::Tokenizer& tokenizer, const TokenRows& rows) {
    if (!tokenizer.can_encode()) return {.text = ids_text(rows), .ids = true};
    Typed typed;
    for (std::size_t row = 0; row < rows.size(); ++row) {
        std::string text;
        const auto documents = documents_of(rows[row]);
        for (const TokenRows::value_type& document : documents)
            text += (&document != &documents.front() ? std::string(kTypedDocument) : "") + decoded(tokenizer, document);
        replace_all(text, "\n", kTypedLineBreak);
        typed.text += (row > 0 ? "\n" : "") + text;
    }
    return typed;
}

Inputs typed_inputs(const load::Model& model, const Inputs& inputs, const TypedSequences& typed, OtherRows other) {
    Inputs next = inputs;
    if (typed.target || typed.source) next.targets = {};  // they are of the text as it was
    const bool target_typed = typed.target || typed.messages;
    if (target_typed) {
        next = typed.messages
                   ? chat::inputs_of(chat::laid_out(*typed.messages, model.tokenizer), model.tokenizer)
                   : inputs_of(batch_of(rows_of(model.tokenizer, *typed.target), model.tokenizer, axis::pos));
        next.memory = inputs.memory;
        next.encoder_tokens = inputs.encoder_tokens;
        next.encoder_attention_mask = inputs.encoder_attention_mask;
    }
    if (typed.source) {
        TypedBatch source =
            batch_of(rows_of(model.encoder_tokenizer, *typed.source), model.encoder_tokenizer, axis::src);
        if (!source.segments.empty())
            throw Error("the source has several documents in a row; expected one, as an encoder tells none apart");
        next.memory = {};
        next.encoder_tokens = std::move(source.tokens);
        next.encoder_attention_mask = std::move(source.mask);
    }
    const bool two = !next.tokens.empty() && !next.encoder_tokens.empty();
    const bool one_typed = target_typed != typed.source.has_value();
    if (two && one_typed && other == OtherRows::even) {
        Tensor one_document;
        const Sequence target = {next.tokens, next.attention_mask, next.segments, model.tokenizer};
        const Sequence source = {next.encoder_tokens, next.encoder_attention_mask, one_document,
                                 model.encoder_tokenizer};
        make_even(target_typed ? target : source, target_typed ? source : target);
    }
    if (two && (!one_typed || other == OtherRows::even)) {
        check_same_batch(next.tokens, next.encoder_tokens);
    } else if (target_typed) {
        for (Tensor* kept : {&next.memory, &next.encoder_tokens, &next.encoder_attention_mask})
            *kept = first_of_batch(*kept, next.tokens.dim(0));
    } else if (typed.source) {
        for (Tensor* kept : {&next.tokens, &next.x, &next.attention_mask, &next.segments})
            *kept = first_of_batch(*kept, next.encoder_tokens.dim(0));
    }
    return next;
}

}  // namespace decoderscope::core
