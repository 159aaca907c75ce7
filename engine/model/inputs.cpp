#include "engine/model/inputs.h"

#include "engine/base/error.h"
#include "engine/base/limits.h"
#include "engine/files/safetensors.h"
#include "engine/graph/explanation.h"
#include "engine/ops/positions.h"

#include <algorithm>
#include <optional>

namespace decoderscope {

namespace {

// Whether each document of a row is counted from 0.
bool counts_documents(const Inputs& inputs, const Config& config) {
    return config.positions == PositionRule::from_segments && inputs.positions.empty() && !inputs.segments.empty();
}

// A required size, or any size (then the name is used in the message).
struct ExpectedSize {
    std::string_view name;
    std::optional<Index> size = std::nullopt;
};

std::string wanted_text(const std::vector<ExpectedSize>& wanted) {
    std::string text;
    for (const ExpectedSize& want : wanted)
        text += (text.empty() ? "" : ", ") + (want.size ? std::to_string(*want.size) : std::string(want.name));
    return "[" + text + "]";
}

void check_shape(const std::string& name, const Tensor& tensor, const std::vector<ExpectedSize>& wanted) {
    bool fits = tensor.rank() == wanted.size();
    for (std::size_t i = 0; fits && i < wanted.size(); ++i)
        fits = tensor.dim(i) > 0 && (!wanted[i].size || *wanted[i].size == tensor.dim(i));
    if (!fits)
        throw Error("{name}: shape {shape}, expected {wanted}",
                    {{"name", name}, {"shape", shape_text(tensor.axes())}, {"wanted", wanted_text(wanted)}});
}

void check_presence(const std::string& name, const Tensor& tensor, bool expected, const Sentence& reason) {
    if (expected && tensor.empty())
        throw Error("{name}: missing; expected because {reason}", {{"name", name}, {"reason", reason}});
    if (!expected && !tensor.empty())
        throw Error("{name}: not read by this model, because {reason}", {{"name", name}, {"reason", reason}});
}

void check_ids(const std::string& name, const Tensor& tokens, Index vocab_size) {
    for (Index i = 0; i < tokens.size(); ++i) {
        const float id = tokens.data()[i];
        if (id >= 0.0F && id < static_cast<float>(vocab_size)) continue;
        const Cell at = tokens.cell(i);
        throw Error("{name}: id {id} at [{row}, {position}], expected 0 to {highest}", {{"name", name},
                                                                                        {"id", static_cast<Index>(id)},
                                                                                        {"row", at[0]},
                                                                                        {"position", at[1]},
                                                                                        {"highest", vocab_size - 1}});
    }
}

void check_mask_values(const std::string& name, const Tensor& mask) {
    for (const float keep : mask.values())
        if (keep != 0.0F && keep != 1.0F)
            throw Error("{name}: value {value}, expected 1 = keep or 0 = hide",
                        {{"name", name}, {"value", short_number(static_cast<double>(keep))}});
}

void check_most(const std::string& name, Index count, const Sentence& what, Index most) {
    if (count > most)
        throw Error("{name}: {count} {what}, expected at most {most}",
                    {{"name", name}, {"count", count}, {"what", what}, {"most", most}});
}

void check_length(const std::string& name, Index length, const Config& config) {
    check_most(name, length, message("positions"), limits::kPositions);
    if (config.max_positions > 0 && length > config.max_positions)
        throw Error("{name}: {length} positions, and this model reads at most {max_positions} (max_positions)",
                    {{"name", name}, {"length", length}, {"max_positions", config.max_positions}});
}

void check_target(const Inputs& inputs, const Config& config, Index past) {
    const bool has_tokens = config.vocab_size > 0;
    const Sentence reason = message("vocab_size is {vocab_size}", {{"vocab_size", config.vocab_size}});
    check_presence("tokens", inputs.tokens, has_tokens, reason);
    check_presence("x", inputs.x, !has_tokens, reason);
    if (has_tokens) {
        check_shape("tokens", inputs.tokens, {{axis::batch}, {axis::pos}});
        check_ids("tokens", inputs.tokens, config.vocab_size);
    } else {
        check_shape("x", inputs.x, {{axis::batch}, {axis::pos}, {axis::d_model, config.d_model}});
    }
    const char* name = has_tokens ? "tokens" : "x";
    check_most(name, inputs.batch(), message("batch rows"), limits::kBatch);
    if (inputs.positions.empty() && !counts_documents(inputs, config))
        check_length(name, past + inputs.pos(), config);
    else  // documents in a row may begin anew: their numbers are checked, not their count
        check_most(name, past + inputs.pos(), message("positions"), limits::kPositions);
}

// Checks what cross-attention reads, or what the encoder computes it from. Returns its length.
Index check_source(const Inputs& inputs, const Config& config) {
    const bool has_tokens = config.cross_attention && config.encoder_layers > 0 && config.encoder_vocab_size > 0;
    const bool has_memory = config.cross_attention && !has_tokens;
    const Sentence reason =
        message("cross_attention is {cross_attention}, encoder_layers {layers}, encoder_vocab_size {vocab_size}",
                {{"cross_attention", config.cross_attention ? "true" : "false"},
                 {"layers", config.encoder_layers},
                 {"vocab_size", config.encoder_vocab_size}});
    check_presence("encoder_tokens", inputs.encoder_tokens, has_tokens, reason);
    check_presence("memory", inputs.memory, has_memory, reason);
    if (has_tokens) {
        check_shape("encoder_tokens", inputs.encoder_tokens, {{axis::batch, inputs.batch()}, {axis::src}});
        check_ids("encoder_tokens", inputs.encoder_tokens, config.encoder_vocab_size);
        check_length("encoder_tokens", inputs.encoder_tokens.dim(1), config);
        return inputs.encoder_tokens.dim(1);
    }
    if (!has_memory) return 0;
    check_shape("memory", inputs.memory, {{axis::batch, inputs.batch()}, {axis::src}, {axis::d_model, config.d_model}});
    const Index src = inputs.memory.dim(1);
    check_most("memory", src, message("positions"), limits::kPositions);
    if (config.encoder_layers > 0) check_length("memory", src, config);
    return src;
}

// Checks that the largest tensors of the run stay within the limit on numbers.
void check_sizes(const Inputs& inputs, const Config& config, Index src, Index past) {
    const Index batch = inputs.batch(), pos = inputs.pos(), heads = config.nhead;
    const auto check = [](const Sentence& what, const Axes& axes) {
        std::optional<Index> count = 1;
        for (const Axis& axis : axes)
            if (count) count = limits::count_of({*count, axis.size});
        if (!count)
            throw Error(
                "{what} of shape {shape} would hold more than {most} numbers, expected fewer batch rows or positions",
                {{"what", what}, {"shape", shape_text(axes)}, {"most", limits::kNumbers}});
    };
    const auto check_attention = [&](const Sentence& what, Index queries, Index keys) {
        check(what, {{axis::batch, batch}, {axis::head, heads}, {axis::query, queries}, {axis::key, keys}});
    };
    check_attention(message("attention scores"), pos, past + pos);
    check_attention(message("cross-attention scores"), pos, src);
    if (config.encoder_layers > 0) check_attention(message("the encoder's attention scores"), src, src);
    for (const Index length : {pos, src})
        for (const Index width : {config.d_model, config.dim_feedforward, config.vocab_size})
            check(message("a tensor"), {{axis::batch, batch}, {axis::pos, length}, {axis::d_model, width}});
    // attn.result, which is computed on demand
    check(
        message("what each head adds"),
        {{axis::batch, batch}, {axis::head, heads}, {axis::pos, std::max(pos, src)}, {axis::d_model, config.d_model}});
}

// PyTorch's broadcast rule: axes are matched from the last, and each is 1 or as long.
void check_custom_mask(const Tensor& mask, const Axes& target) {
    bool fits = mask.rank() <= target.size();
    for (std::size_t i = 0; fits && i < mask.rank(); ++i) {
        const Index size = mask.dim(mask.rank() - 1 - i);
        fits = size == 1 || size == target[target.size() - 1 - i].size;
    }
    if (!fits)
        throw Error("custom_mask: shape {shape}, expected one that broadcasts to {expected}",
                    {{"shape", shape_text(mask.axes())}, {"expected", shape_text(target)}});
}

void check_masks(const Inputs& inputs, const Config& config, Index src, Index past) {
    const Index batch = inputs.batch(), pos = inputs.pos(), keys = past + pos;
    if (!inputs.attention_mask.empty()) {
        check_shape("attention_mask", inputs.attention_mask, {{axis::batch, batch}, {axis::pos, keys}});
        check_mask_values("attention_mask", inputs.attention_mask);
    }
    if (!inputs.encoder_attention_mask.empty()) {
        check_presence("encoder_attention_mask", inputs.encoder_attention_mask, config.cross_attention,
                       message("cross_attention is false"));
        check_shape("encoder_attention_mask", inputs.encoder_attention_mask, {{axis::batch, batch}, {axis::src, src}});
        check_mask_values("encoder_attention_mask", inputs.encoder_attention_mask);
    }
    if (!inputs.custom_mask.empty()) {
        check_custom_mask(inputs.custom_mask,
                          {{axis::batch, batch}, {axis::head, config.nhead}, {axis::query, pos}, {axis::key, keys}});
        check_mask_values("custom_mask", inputs.custom_mask);
    }
}

// Checks what numbers the positions and their documents: whole numbers, and rows of the table of positions.
void check_places(const Inputs& inputs, const Config& config, Index past) {
    const Index most = config.max_positions > 0 ? config.max_positions : limits::kPositions;
    const auto check = [&](const char* name, const Tensor& numbers, Index below) {
        if (numbers.empty()) return;
        check_shape(name, numbers, {{axis::batch, inputs.batch()}, {axis::pos, past + inputs.pos()}});
        for (const float number : numbers.values())
            if (number < 0.0F || number >= static_cast<float>(below))
                throw Error("{name}: {value}, expected a whole number from 0 to {highest}",
                            {{"name", name}, {"value", static_cast<Index>(number)}, {"highest", below - 1}});
    };
    check("positions", inputs.positions, most);
    check("segments", inputs.segments, limits::kPositions);
    if (counts_documents(inputs, config)) check("positions", numbers_of_positions(inputs, config, past), most);
}

void check_targets(const Inputs& inputs, const Config& config) {
    if (inputs.targets.empty()) return;
    check_presence("targets", inputs.targets, config.lm_head, message("lm_head is false"));
    check_shape("targets", inputs.targets, {{axis::batch, inputs.batch()}, {axis::pos, inputs.pos()}});
    for (const float target : inputs.targets.values()) {
        if (target == kIgnoredTarget || (target >= 0.0F && target < static_cast<float>(config.vocab_size))) continue;
        throw Error("targets: {target}, expected an id from 0 to {highest}, or −100 for one that is ignored",
                    {{"target", static_cast<Index>(target)}, {"highest", config.vocab_size - 1}});
    }
}

// ---- from a file

Tensor stored(const SafetensorsFile& file, const InputSlot& slot) {
    return slot.integer ? file.integers(slot.name) : file.floats(slot.name);
}

Inputs read(const SafetensorsFile& file) {
    Inputs inputs;
    for (const auto& [name, entry] : file.entries()) {
        const InputSlot& slot = input_slot(name);
        const Tensor values = stored(file, slot);
        inputs.*slot.member = values.with_axes(named_from_last(values.axes(), slot.axes));
    }
    return inputs;
}

// One of the tensors in each step: its first axis is the steps.
void add_to(std::vector<Inputs>& batches, const SafetensorsFile& file, const InputSlot& slot) {
    const Tensor all = stored(file, slot);
    if (all.rank() < 2 || all.dim(0) == 0)
        throw Error("{name}: shape {shape}, expected steps as its first axis and at least one step",
                    {{"name", slot.name}, {"shape", shape_text(all.axes())}});
    if (batches.empty()) batches.resize(static_cast<std::size_t>(all.dim(0)));
    if (static_cast<Index>(batches.size()) != all.dim(0))
        throw Error("{name}: shape {shape}, expected {steps} steps as its first axis, as the other tensors have",
                    {{"name", slot.name}, {"shape", shape_text(all.axes())}, {"steps", batches.size()}});
    Axes axes;
    for (std::size_t axis = 1; axis < all.rank(); ++axis) axes.push_back(all.axes()[axis]);
    axes = named_from_last(std::move(axes), slot.axes);
    const auto size = static_cast<std::size_t>(all.size() / all.dim(0));
    for (std::size_t step = 0; step < batches.size(); ++step)
        batches[step].*slot.member = Tensor(axes, all.values().subspan(step * size, size));
}

std::vector<Inputs> read_batches(const SafetensorsFile& file, const Config& config) {
    std::vector<Inputs> batches;
    for (const auto& [name, entry] : file.entries()) add_to(batches, file, input_slot(name));
    if (batches.empty()) throw Error("no tensors, expected those of the batches, tokens for instance");
    for (std::size_t step = 0; step < batches.size(); ++step)
        naming(message("step {step}", {{"step", step + 1}}), [&] { check_inputs(batches[step], config); });
    return batches;
}

// Prefixes errors with the file, unless they name it already.
template <class Work>
auto naming_once(const std::string& path, const Work& work) {
    try {
        return work();
    } catch (const Error& error) {
        if (std::string_view(error.what()).starts_with(path)) throw;
        throw Error("{path}: {error}", {{"path", path}, {"error", error.sentence()}});
    }
}

// A stretch of one axis.
struct Stretch {
    Index first, count;
};

// An axis with a single broadcast cell (in a mask) keeps it.
Tensor cut(const Tensor& tensor, std::size_t axis, Stretch stretch, bool broadcasts = false) {
    if (tensor.empty() || (broadcasts && tensor.dim(axis) == 1)) return tensor;
    Cell first(tensor.rank(), 0);
    Axes axes = tensor.axes();
    first[axis] = stretch.first;
    axes.resize(axis, stretch.count);
    return part_of(tensor, first, axes);
}

// custom_mask's axes are matched from the last: … batch, head, query, key.
Tensor cut_custom_mask(Tensor mask, Stretch rows, Stretch queries, Stretch keys) {
    const std::size_t rank = mask.rank();
    if (rank >= 1) mask = cut(mask, rank - 1, keys, true);
    if (rank >= 2) mask = cut(mask, rank - 2, queries, true);
    if (rank >= 4) mask = cut(mask, rank - 4, rows, true);
    return mask;
}

}  // namespace

const std::vector<InputSlot>& input_slots() {
    static const std::vector<InputSlot> table = {
        {"tokens", &Inputs::tokens, true, {axis::batch, axis::pos}},
        {"x", &Inputs::x, false, {axis::batch, axis::pos, axis::d_model}, true},
        {"memory", &Inputs::memory, false, {axis::batch, axis::src, axis::d_model}, true},
        {"encoder_tokens", &Inputs::encoder_tokens, true, {axis::batch, axis::src}},
        {"attention_mask", &Inputs::attention_mask, true, {axis::batch, axis::pos}},
        {"positions", &Inputs::positions, true, {axis::batch, axis::pos}, true},
        {"segments", &Inputs::segments, true, {axis::batch, axis::pos}, true},
        {"encoder_attention_mask", &Inputs::encoder_attention_mask, true, {axis::batch, axis::src}},
        {"custom_mask", &Inputs::custom_mask, true, {axis::batch, axis::head, axis::query, axis::key}, true},
        {"targets", &Inputs::targets, true, {axis::batch, axis::pos}, true},
    };
    return table;
}

const InputSlot& input_slot(std::string_view name) {
    const auto found = std::ranges::find(input_slots(), name, &InputSlot::name);
    if (found == input_slots().end())
        throw Error(
            "{name}: unknown input; expected tokens, x, memory, encoder_tokens, attention_mask, "
            "encoder_attention_mask, custom_mask, positions, segments or targets",
            {{"name", name}});
    return *found;
}

void check_inputs(const Inputs& inputs, const Config& config, Index past) {
    check_target(inputs, config, past);
    const Index src = check_source(inputs, config);
    check_sizes(inputs, config, src, past);
    check_masks(inputs, config, src, past);
    check_places(inputs, config, past);
    check_targets(inputs, config);
}

Tensor numbers_of_positions(const Inputs& inputs, const Config& config, Index past) {
    if (!inputs.positions.empty()) return inputs.positions;
    if (config.positions == PositionRule::from_mask && !inputs.attention_mask.empty())
        return ops::counted_by(inputs.attention_mask);
    if (counts_documents(inputs, config)) return ops::counted_within(inputs.segments);
    const Index places = past + inputs.pos();
    Tensor counted({{axis::batch, inputs.batch()}, {axis::pos, places}});
    float* to = counted.writable().data();
    for (Index i = 0; i < counted.size(); ++i) *to++ = static_cast<float>(i % places);
    return counted;
}

Index text_length(const Inputs& inputs, const Config& config, Index past) {
    return static_cast<Index>(std::ranges::max(numbers_of_positions(inputs, config, past).values())) + 1;
}

Inputs load_inputs(const std::string& path, const Config& config) {
    return naming_once(path, [&] {
        Inputs inputs = read(SafetensorsFile(path));
        check_inputs(inputs, config);
        return inputs;
    });
}

std::vector<Inputs> load_batches(const std::string& path, const Config& config) {
    return naming_once(path, [&] { return read_batches(SafetensorsFile(path), config); });
}

Inputs part_of(const Inputs& inputs, const InputsPart& part) {
    const Stretch positions = {part.first, part.count}, keys = {0, part.first + part.count};
    const Stretch rows = part.row ? Stretch{*part.row, 1} : Stretch{0, inputs.batch()};
    Inputs cut_out;
    cut_out.tokens = cut(cut(inputs.tokens, 0, rows), 1, positions);
    cut_out.x = cut(cut(inputs.x, 0, rows), 1, positions);
    cut_out.memory = cut(inputs.memory, 0, rows);
    cut_out.encoder_tokens = cut(inputs.encoder_tokens, 0, rows);
    cut_out.attention_mask = cut(cut(inputs.attention_mask, 0, rows), 1, keys);
    cut_out.encoder_attention_mask = cut(inputs.encoder_attention_mask, 0, rows);
    cut_out.custom_mask = cut_custom_mask(inputs.custom_mask, rows, positions, keys);
    cut_out.positions = cut(cut(inputs.positions, 0, rows), 1, keys);
    cut_out.segments = cut(cut(inputs.segments, 0, rows), 1, keys);
    return cut_out;
}

bool is_padding(const Tensor& mask, Index row, Index position) {
    return !mask.empty() && mask.at(Cell{row, position}) == 0.0F;
}

std::optional<Index> token_ahead(const Inputs& inputs, Index row, Index position, Index ahead) {
    const Index next = position + ahead, count = inputs.pos();
    if (next >= count) return std::nullopt;
    // What is said of keys may begin before these positions.
    const auto said = [&](const Tensor& of_keys, Index at) {
        return of_keys.at(Cell{row, of_keys.dim(1) - count + at});
    };
    for (const Index at : {position, next})
        if (!inputs.attention_mask.empty() && said(inputs.attention_mask, at) == 0.0F) return std::nullopt;
    if (!inputs.segments.empty() && said(inputs.segments, position) != said(inputs.segments, next)) return std::nullopt;
    return static_cast<Index>(inputs.tokens.at(Cell{row, next}));
}

Tensor tokens_ahead(const Inputs& inputs, Index ahead) {
    Tensor tokens(inputs.tokens.axes());
    float* to = tokens.writable().data();
    for (Index row = 0; row < tokens.dim(0); ++row)
        for (Index position = 0; position < tokens.dim(1); ++position) {
            const std::optional<Index> token = token_ahead(inputs, row, position, ahead);
            *to++ = token ? static_cast<float>(*token) : kIgnoredTarget;
        }
    return tokens;
}

TokenBatch padded_batch(const std::vector<std::vector<Index>>& rows, std::string_view length_axis, Index pad) {
    const auto shorter = [](const auto& a, const auto& b) { return a.size() < b.size(); };
    const auto [shortest, longest] = std::minmax_element(rows.begin(), rows.end(), shorter);
    const Axes axes = {{axis::batch, static_cast<Index>(rows.size())},
                       {length_axis, static_cast<Index>(longest->size())}};
    std::vector<float> tokens, mask;
    for (const std::vector<Index>& row : rows) {
        for (std::size_t i = 0; i < longest->size(); ++i) {
            tokens.push_back(static_cast<float>(i < row.size() ? row[i] : pad));
            mask.push_back(i < row.size() ? 1.0F : 0.0F);
        }
    }
    return {Tensor(axes, tokens), shortest->size() < longest->size() ? Tensor(axes, mask) : Tensor()};
}

}  // namespace decoderscope
