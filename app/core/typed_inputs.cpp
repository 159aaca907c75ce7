#include "app/core/typed_inputs.h"

#include "engine/error.h"
#include "engine/model/token_batch.h"

#include <algorithm>
#include <charconv>
#include <vector>

namespace decoderscope {

namespace {

using Rows = std::vector<std::vector<Index>>;

// Beyond this an id is no float of its own, and no vocabulary is that large.
constexpr Index kLargestId = Index{1} << 24;

Index parse_id(std::string_view word, std::string_view what) {
    Index id = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), id);
    if (error != std::errc() || end != word.data() + word.size() || id < 0 || id > kLargestId)
        throw Error(std::string(what) + ": \"" + std::string(word.substr(0, 40)) +
                    "\", expected token ids such as \"1 2 3\"");
    return id;
}

Rows parse_rows(std::string_view ids, std::string_view what) {
    Rows rows(1);
    const auto separates = [](char c) { return c == ' ' || c == ',' || c == '\t' || c == '\r'; };
    for (std::size_t at = 0; at < ids.size();) {
        if (ids[at] == ';' || ids[at] == '\n') {
            if (!rows.back().empty()) rows.emplace_back();
            ++at;
        } else if (separates(ids[at])) {
            ++at;
        } else {
            const std::size_t end = std::min(ids.find_first_of(" ,;\t\r\n", at), ids.size());
            rows.back().push_back(parse_id(ids.substr(at, end - at), what));
            at = end;
        }
    }
    if (rows.back().empty()) rows.pop_back();
    if (rows.empty()) throw Error(std::string(what) + ": no token id, expected ids such as \"1 2 3\"");
    return rows;
}

// Each line of a text as a row of the batch.
Rows encoded_lines(const Tokenizer& tokenizer, std::string_view text) {
    Rows rows;
    while (!text.empty()) {
        const std::string_view line = text.substr(0, text.find('\n'));
        const std::vector<Index> ids = tokenizer.encode(line);
        if (!ids.empty()) rows.push_back(ids);
        text.remove_prefix(std::min(line.size() + 1, text.size()));
    }
    if (rows.empty()) throw Error("empty, expected at least one token");
    return rows;
}

// The first rows of a batch; the tensor itself where it has no more.
Tensor first_rows(const Tensor& tensor, Index batch) {
    if (tensor.empty() || tensor.dim(0) <= batch) return tensor;
    Axes axes = tensor.axes();
    axes[0].size = batch;
    return {axes, tensor.values().first(static_cast<std::size_t>(element_count(axes)))};
}

}  // namespace

Inputs inputs_from_tokens(Inputs inputs, std::string_view ids) {
    const TokenBatch typed = padded_batch(parse_rows(ids, "tokens"), axis::pos);
    const Index batch = typed.tokens.dim(0);
    return {.tokens = typed.tokens,
            .memory = first_rows(inputs.memory, batch),
            .encoder_tokens = first_rows(inputs.encoder_tokens, batch),
            .attention_mask = typed.mask,
            .encoder_attention_mask = first_rows(inputs.encoder_attention_mask, batch)};
}

Inputs inputs_from_encoder_tokens(Inputs inputs, std::string_view ids) {
    const TokenBatch typed = padded_batch(parse_rows(ids, "encoder_tokens"), axis::src);
    const Index batch = typed.tokens.dim(0);
    return {.tokens = first_rows(inputs.tokens, batch),
            .x = first_rows(inputs.x, batch),
            .encoder_tokens = typed.tokens,
            .attention_mask = first_rows(inputs.attention_mask, batch),
            .encoder_attention_mask = typed.mask,
            .custom_mask = inputs.custom_mask};
}

Inputs inputs_from_text(const Model& model, Inputs inputs, std::string_view text) {
    const Tokenizer& tokenizer = model.tokenizer;
    if (tokenizer.size() == 0)
        throw Error("--text: " + model.name + " has no vocabulary, expected --tokens with ids such as \"1 2 3\"");
    const TokenBatch typed = naming("--text", [&] { return padded_batch(encoded_lines(tokenizer, text), axis::pos); });
    const Index batch = typed.tokens.dim(0);
    return {.tokens = typed.tokens,
            .memory = first_rows(inputs.memory, batch),
            .encoder_tokens = first_rows(inputs.encoder_tokens, batch),
            .attention_mask = typed.mask,
            .encoder_attention_mask = first_rows(inputs.encoder_attention_mask, batch)};
}

}  // namespace decoderscope
