#include "app/core/work/saved_input.h"

#include "app/core/text/utf8.h"
#include "app/core/work/checksum.h"
#include "engine/error.h"
#include "engine/file.h"
#include "engine/model/safetensors.h"
#include "engine/model/token_batch.h"

#include <algorithm>
#include <cstring>

namespace decoderscope {

namespace {

// ---- out

bool same_numbers(const Tensor& a, const Tensor& b) {
    if (a.empty() || b.empty()) return a.empty() && b.empty();
    return a.axes() == b.axes() &&
           std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.size()) * sizeof(float)) == 0;
}

std::string checksum_of_numbers(const Tensor& tensor) { return checksum_of(std::as_bytes(tensor.values())); }

// Whether these are the first batch rows of `of`, as after typing fewer lines.
bool begins(const Tensor& tensor, const Tensor& of) {
    if (of.empty() || tensor.rank() != of.rank() || tensor.dim(0) > of.dim(0)) return false;
    for (std::size_t axis = 1; axis < of.rank(); ++axis)
        if (tensor.dim(axis) != of.dim(axis)) return false;
    return tensor.shares_values_with(of) ||
           std::memcmp(tensor.data(), of.data(), static_cast<std::size_t>(tensor.size()) * sizeof(float)) == 0;
}

std::optional<SavedTensor> saved_tensor(const Tensor& tensor, const Tensor& example, const std::string& file) {
    if (tensor.empty()) return std::nullopt;
    SavedTensor saved;
    if (begins(tensor, example))
        saved.of_example = true;
    else if (!file.empty())
        saved.file = absolute_path(file);
    else
        saved.numbers = tensor;
    if (saved.numbers.empty()) saved.checksum = checksum_of_numbers(tensor);
    return saved;
}

TokenRows whole_rows(const Tensor& tensor) { return rows_of(tensor, Tensor()); }

// The rows as texts, if the tokenizer encodes them to the same ids.
std::optional<std::vector<std::string>> as_texts(const TokenRows& rows, const Tokenizer& tokenizer) {
    if (!tokenizer.can_encode()) return std::nullopt;
    std::vector<std::string> texts;
    for (const std::vector<Index>& row : rows) {
        std::string text = tokenizer.decode(row);
        if (valid_utf8(text) != text) return std::nullopt;
        try {
            if (tokenizer.encode(text) != row) return std::nullopt;
        } catch (const Error&) {
            return std::nullopt;
        }
        texts.push_back(std::move(text));
    }
    return texts;
}

SavedSequence saved_sequence(const Tensor& tokens, const Tensor& mask, const Tokenizer& tokenizer) {
    SavedSequence saved;
    const TokenRows rows = rows_of(tokens, mask);
    if (!tokens.empty() && std::none_of(rows.begin(), rows.end(), [](const auto& row) { return row.empty(); })) {
        const TokenBatch padded = padded_batch(rows, tokens.axes()[1].name, tokenizer.special().pad.value_or(0));
        if (same_numbers(padded.tokens, tokens) && same_numbers(padded.mask, mask)) {
            saved.text = as_texts(rows, tokenizer);
            if (!saved.text) saved.tokens = rows;
            return saved;
        }
    }
    if (!tokens.empty()) saved.tokens = whole_rows(tokens);
    if (!mask.empty()) saved.mask = whole_rows(mask);
    return saved;
}

// ---- in

// Padding to a few long rows may need far more memory than the file's size, so this is checked before allocating.
void check_batch(const TokenRows& rows, const std::string& key) {
    constexpr std::size_t kMost = std::size_t{1} << 24;
    std::size_t longest = 1;
    for (const std::vector<Index>& row : rows) {
        if (row.empty()) throw Error("{key}: an empty batch row, expected at least one token", {{"key", key}});
        longest = std::max(longest, row.size());
    }
    if (rows.size() > kMost / longest)
        throw Error("{key}: more than {most} tokens once rows are padded; expected fewer",
                    {{"key", key}, {"most", kMost}});
}

Tensor mask_of(const TokenRows& rows, std::string_view length_axis, const std::string& key) {
    const bool even =
        std::all_of(rows.begin(), rows.end(), [&](const auto& row) { return row.size() == rows.front().size(); });
    if (!even) throw Error("{key}: rows of different lengths, expected as many numbers in each", {{"key", key}});
    check_batch(rows, key);
    return padded_batch(rows, length_axis).tokens;
}

std::optional<TokenRows> rows_of(const SavedSequence& saved, const Tokenizer& tokenizer, const std::string& before) {
    if (saved.tokens) return saved.tokens;
    if (!saved.text) return std::nullopt;
    if (!tokenizer.can_encode())
        throw Error("{before}text: the model has no vocabulary that cuts a text; expected {before}tokens",
                    {{"before", before}});
    return naming(before + "text", [&] {
        TokenRows rows;
        for (const std::string& text : *saved.text) rows.push_back(tokenizer.encode(text));
        return rows;
    });
}

// Restores a sequence of the session: its ids and its mask.
bool restore(const SavedSequence& saved, const Tokenizer& tokenizer, std::string_view length_axis,
             const std::string& before, Tensor& tokens, Tensor& mask) {
    const std::optional<TokenRows> rows = rows_of(saved, tokenizer, before);
    if (rows) {
        check_batch(*rows, before + (saved.text ? "text" : "tokens"));
        TokenBatch batch = padded_batch(*rows, length_axis, tokenizer.special().pad.value_or(0));
        tokens = std::move(batch.tokens);
        mask = std::move(batch.mask);
    }
    if (saved.mask) mask = mask_of(*saved.mask, length_axis, before + "attention_mask");
    return rows.has_value();
}

Tensor named(const Tensor& tensor, std::span<const std::string_view> names) {
    if (tensor.rank() > names.size())
        throw Error("{rank} axes, expected at most {names}", {{"rank", tensor.rank()}, {"names", names.size()}});
    return tensor.with_axes(named_from_last(tensor.axes(), names));
}

// Where a vector input is read from, and the names of its axes.
struct VectorInput {
    const char* key;
    const Tensor& example;
    bool integer;
    std::vector<std::string_view> axes;
};

// `batch`: how many of its rows to use; 0: all.
Tensor restored_tensor(const SavedTensor& saved, const VectorInput& input, Index batch, RestoredInput& restored) {
    return naming(input.key, [&] {
        Tensor tensor = saved.numbers;
        if (saved.of_example) {
            if (input.example.empty()) throw Error("the model's example has none; expected numbers or a file");
            tensor = input.example;
        } else if (!saved.file.empty()) {
            const SafetensorsFile file(saved.file);
            tensor = input.integer ? file.integers(input.key) : file.floats(input.key);
            restored.inputs_path = saved.file;
        }
        tensor = named(tensor, input.axes);
        if (batch > 0 && saved.numbers.empty()) tensor = first_of_batch(tensor, batch);
        if (!saved.checksum.empty() && checksum_of_numbers(tensor) != saved.checksum)
            restored.remarks.push_back(message(
                "{key}: {source} holds other numbers than when the session was saved",
                {{"key", input.key},
                 {"source", saved.of_example ? message("the model's example") : Sentence::verbatim(saved.file)}}));
        return tensor;
    });
}

}  // namespace

SavedInput saved_input(const Scenario& scenario) {
    const Inputs& in = scenario.inputs;
    const Model& model = *scenario.model();
    SavedInput saved;
    saved.target = saved_sequence(in.tokens, in.attention_mask, model.tokenizer);
    saved.source = saved_sequence(in.encoder_tokens, in.encoder_attention_mask, model.encoder_tokenizer);
    saved.x = saved_tensor(in.x, model.example.x, scenario.inputs_path);
    saved.memory = saved_tensor(in.memory, model.example.memory, scenario.inputs_path);
    saved.custom_mask = saved_tensor(in.custom_mask, model.example.custom_mask, scenario.inputs_path);
    return saved;
}

RestoredInput restored_input(const SavedInput& saved, const Model& model, const Config& config) {
    const Inputs& example = model.example;
    RestoredInput restored;
    Inputs& in = restored.inputs;
    bool target = restore(saved.target, model.tokenizer, axis::pos, "", in.tokens, in.attention_mask);
    if (saved.x) {
        in.x = restored_tensor(*saved.x, {"x", example.x, false, {axis::batch, axis::pos, axis::d_model}}, 0, restored);
        target = true;
    }
    if (!target) {
        in.tokens = example.tokens;
        in.x = example.x;
        if (!saved.target.mask) in.attention_mask = example.attention_mask;
        if (!saved.custom_mask) in.custom_mask = example.custom_mask;
    }
    const Tensor& rows = in.tokens.empty() ? in.x : in.tokens;  // of any rank so far: making the plan checks it
    const Index batch = rows.rank() == 0 ? 0 : in.batch();
    bool source = restore(saved.source, model.encoder_tokenizer, axis::src, "encoder_", in.encoder_tokens,
                          in.encoder_attention_mask);
    if (saved.memory) {
        in.memory = restored_tensor(
            *saved.memory, {"memory", example.memory, false, {axis::batch, axis::src, axis::d_model}}, batch, restored);
        source = true;
    }
    if (!source) {
        in.memory = first_of_batch(example.memory, batch);
        in.encoder_tokens = first_of_batch(example.encoder_tokens, batch);
        if (!saved.source.mask) in.encoder_attention_mask = first_of_batch(example.encoder_attention_mask, batch);
    }
    if (saved.custom_mask)
        in.custom_mask = restored_tensor(
            *saved.custom_mask,
            {"custom_mask", example.custom_mask, true, {axis::batch, axis::head, axis::query, axis::key}}, 0, restored);
    check_inputs(in, config);
    return restored;
}

}  // namespace decoderscope
