#include "app/core/run/open_model.h"

#include "app/core/run/fitted.h"
#include "engine/base/error.h"

#include <algorithm>
#include <cctype>
#include <functional>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace decoderscope::core {

namespace {

std::shared_ptr<const load::Model> on_recorded_example(std::shared_ptr<const load::Model> model,
                                                       const std::string& path) {
    try {
        Inputs recorded = inputs_of_trace(trace::open_trace(path), model->config());
        if (recorded.tokens.empty() && recorded.x.empty()) return model;
        check_inputs(recorded, model->config());
        load::Model with = *model;
        with.example = std::move(recorded);
        return std::make_shared<const load::Model>(std::move(with));
    } catch (const Error&) {  // then it runs on an example as any model does
        return model;
    }
}

// An input of the recorded model, under the name of its argument.
struct RecordedInput {
    std::string port;  // lower-case
    const trace::TraceTensor* tensor = nullptr;
    std::string name;  // as it was recorded
};

bool has_any(std::string_view text, std::initializer_list<std::string_view> words) {
    return std::ranges::any_of(words, [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

std::string lower(std::string text) {
    std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

bool is_mask(const RecordedInput& given) {
    return given.tensor->dtype == "BOOL" || given.port == "am" || has_any(given.port, {"mask", "pad", "keep", "valid"});
}

bool is_whole(const trace::TraceTensor& tensor) { return tensor.dtype.starts_with("I") || tensor.dtype == "U8"; }

bool is_positions(const RecordedInput& given) {
    return is_whole(*given.tensor) && has_any(given.port, {"position", "pos_id"});
}

bool is_segments(const RecordedInput& given) {
    return is_whole(*given.tensor) && has_any(given.port, {"segment", "document", "doc_id", "seq_id"});
}

// What isn't tokens or vectors.
bool stands_beside(const RecordedInput& given) { return is_mask(given) || is_positions(given) || is_segments(given); }

// What a model is told to answer changes nothing that it computes.
bool is_target(const RecordedInput& given) { return has_any(given.port, {"label", "target_ids"}); }

bool is_source(const RecordedInput& given, bool others_are_targets) {
    if (has_any(given.port, {"tgt", "target", "dec", "trg"})) return false;
    return has_any(given.port, {"src", "source", "enc", "mem"}) || (others_are_targets && given.port == "input_ids");
}

// The inputs of the first call, which is the recorded module's; if names alone tell the calls, whole numbers and masks
// that none of them gave.
std::vector<RecordedInput> given_to(const trace::Trace& trace) {
    std::vector<RecordedInput> found;
    if (trace.calls.empty()) return found;
    if (trace.calls_by_names) {
        std::set<std::string_view> given;
        for (const trace::TraceCall& call : trace.calls) given.insert(call.name);
        for (const trace::TraceTensor& tensor : trace.tensors) {
            const RecordedInput input = {lower(tensor.name), &tensor, tensor.name};
            if (!given.contains(tensor.name) && (is_whole(tensor) || is_mask(input))) found.push_back(input);
        }
        return found;
    }
    for (const auto& [port, name] : trace.calls.front().in)
        if (const trace::TraceTensor* tensor = trace.find(name)) found.push_back({lower(port), tensor, port});
    return found;
}

Tensor named(const trace::TraceTensor& tensor, std::initializer_list<Axis> axes) {
    Axes wanted;
    std::size_t i = 0;
    for (const Axis& axis : axes) wanted.push_back({axis.name, tensor.shape[i++]});
    return tensor.values.with_axes(std::move(wanted));
}

// How many queries see how many keys in each attention that was recorded.
std::set<std::pair<Index, Index>> attentions_seen(const trace::Trace& trace) {
    const auto length = [&](const auto& port, std::size_t from_end) {
        const trace::TraceTensor* tensor = trace.find(port.second);
        return tensor != nullptr && tensor->shape.size() > 1 ? tensor->shape[tensor->shape.size() - from_end] : 0;
    };
    std::set<std::pair<Index, Index>> seen;
    for (const trace::TraceCall& call : trace.calls)
        if (call.function == "softmax" && call.out.size() == 1)
            seen.emplace(length(call.out.front(), 2), length(call.out.front(), 1));
        else if (call.function == "scaled_dot_product_attention" && call.in.size() > 1)  // keeps no scores
            seen.emplace(length(call.in[0], 2), length(call.in[1], 2));
    return seen;
}

// [batch, pos], or [pos] of one text; or [pos, batch], if that many positions see each other and no other attention
// says otherwise.
Tensor as_tokens(const trace::TraceTensor& tensor, std::string_view axis,
                 const std::set<std::pair<Index, Index>>& attentions) {
    if (tensor.shape.size() == 1) return tensor.values.with_axes({{axis::batch, 1}, {axis, tensor.shape[0]}});
    const Tensor stored = named(tensor, {{axis::batch, 0}, {axis, 0}});
    const Index rows = stored.dim(0), columns = stored.dim(1);
    if (!attentions.contains({rows, rows}) || attentions.contains({columns, columns})) return stored;
    Tensor turned({{axis::batch, columns}, {axis, rows}});
    for (Index i = 0; i < stored.size(); ++i)
        turned.writable()[static_cast<std::size_t>(i % columns * rows + i / columns)] = stored.data()[i];
    return turned;
}

// What is looked up of the tokens that a model is given: all, or, where it shifts its labels itself, all but the first
// or the last.
const trace::TraceTensor& read_of(const trace::TraceTensor& tokens, const trace::Trace& trace) {
    const trace::TraceTensor* part = &tokens;
    const auto is_part = [&](const trace::TraceTensor& of) {
        if (!is_whole(of) || tokens.shape.size() != 2 || of.shape.size() != 2 || of.shape[0] != tokens.shape[0] ||
            of.shape[1] + 1 != tokens.shape[1] || of.shape[1] < 2)
            return false;
        const auto begins_at = [&](Index first) {
            for (Index i = 0; i < of.values.size(); ++i)
                if (of.values.data()[i] != tokens.values.data()[i + i / of.shape[1] + first]) return false;
            return true;
        };
        return begins_at(0) || begins_at(1);
    };
    for (std::size_t at = 1; at < trace.calls.size(); ++at)
        for (const auto& [port, name] : trace.calls[at].in) {
            const trace::TraceTensor* given = trace.find(name);
            if (given == &tokens) return tokens;
            if (given != nullptr && part == &tokens && is_part(*given)) part = given;
        }
    return *part;
}

Tensor as_vectors(const trace::TraceTensor& tensor, std::string_view axis) {
    return named(tensor, {{axis::batch, 0}, {axis, 0}, {axis::d_model, 0}});
}

// As above; of [pos, batch, d_model] if the model was given tokens [batch, pos].
Tensor stream_of(const trace::TraceTensor& tensor, const std::vector<RecordedInput>& given) {
    const Tensor x = as_vectors(tensor, axis::pos);
    const Index rows = x.dim(1), length = x.dim(0), width = x.dim(2);
    const bool is_turned =
        rows != length && std::ranges::any_of(given, [&](const RecordedInput& one) {
            return !one.tensor->has_floats() && one.tensor->shape == std::vector<Index>{rows, length};
        });
    if (!is_turned) return x;
    Tensor turned({{axis::batch, rows}, {axis::pos, length}, {axis::d_model, width}});
    for (Index i = 0; i < x.size(); ++i)
        turned.writable()[static_cast<std::size_t>(i)] =
            x.data()[(i / width % length * rows + i / width / length) * width + i % width];
    return turned;
}

// Whether a mask's floats are added to the scores: 0, or so low that no score counts. A bias is neither.
bool is_added(const Tensor& mask) {
    constexpr float kLow = -1e3F;
    return std::ranges::all_of(mask.values(), [](float x) { return x == 0.0F || x <= kLow; });
}
bool is_zero_or_one(const Tensor& mask) {
    return std::ranges::all_of(mask.values(), [](float x) { return x == 0.0F || x == 1.0F; });
}

// The mask's numbers as 1 = keep, 0 = hide; empty if they don't tell. What true means differs between
// nn.MultiheadAttention and scaled_dot_product_attention: a query sees itself.
Tensor as_keep(const RecordedInput& mask, bool over_queries) {
    Tensor keep = mask.tensor->values;
    const bool floats = !is_whole(*mask.tensor) && mask.tensor->dtype != "BOOL", added = floats && is_added(keep);
    if (!added && !is_zero_or_one(keep)) return {};
    bool inverted = has_any(mask.port, {"pad"}) && (mask.tensor->dtype == "BOOL" || !has_any(mask.port, {"mask"}));
    if (over_queries && !added) {
        const std::vector<Index>& shape = mask.tensor->shape;
        const Index keys = shape.back(), queries = shape[shape.size() - 2];
        Index seen = 0, all = 0;
        for (Index row = 0; row < keep.size() / keys; ++row, ++all)
            seen += keep.data()[row * keys + row % queries + keys - queries] != 0.0F ? 1 : 0;
        inverted = 2 * seen < all;
        // Padding doesn't see itself; but then nobody sees what comes later.
        for (Index i = 0; i < keep.size() && seen != 0 && seen != all; ++i)
            if ((keep.data()[i] != 0.0F) != inverted && i % keys > i / keys % queries + keys - queries) return {};
    }
    for (float& value : keep.writable()) value = (added ? value == 0.0F : (value != 0.0F) != inverted) ? 1.0F : 0.0F;
    return keep;
}

// A padding mask as [batch, key], 1 = keep; empty if the tensor isn't a padding mask of that size.
Tensor as_padding(const RecordedInput& mask, Index batch, Index length, std::string_view axis) {
    std::vector<Index> shape = mask.tensor->shape;
    if (shape.size() == 4 && shape[1] == 1 && shape[2] == 1) shape = {shape[0], shape[3]};
    if (shape.size() == 3 && shape[1] == 1) shape = {shape[0], shape[2]};
    if (shape != std::vector<Index>{batch, length} || (batch == length && !has_any(mask.port, {"pad", "attention"})))
        return {};
    const Tensor keep = as_keep(mask, false);
    return keep.empty() ? keep : keep.with_axes({{axis::batch, batch}, {axis, length}});
}

// A mask over queries and keys, 1 = keep; empty if the tensor isn't one that broadcasts to all scores.
Tensor as_custom(const RecordedInput& mask, const Inputs& inputs, const Config& config) {
    const std::vector<Index>& shape = mask.tensor->shape;
    const std::vector<Index> wanted = {inputs.batch(), config.nhead, inputs.pos(), inputs.pos()};
    if (shape.size() < 2 || shape.size() > 4 || shape[shape.size() - 2] != wanted[2] || shape.back() != wanted[3])
        return {};
    // [query, key], [batch, query, key], [batch · head, query, key] as nn.MultiheadAttention has it, or
    // [batch, head, query, key].
    Index batch = 1, head = 1;
    if (shape.size() == 3) {
        batch = shape[0] == 1 ? 1 : wanted[0];
        head = shape[0] / batch;
    } else if (shape.size() == 4) {
        batch = shape[0];
        head = shape[1];
    }
    const bool fits = (batch == 1 || batch == wanted[0]) && (head == 1 || head == wanted[1]);
    if (!fits || batch * head * wanted[2] * wanted[3] != mask.tensor->values.size()) return {};
    const Tensor keep = as_keep(mask, true);
    if (keep.empty()) return {};
    return keep.with_axes({{axis::batch, batch}, {axis::head, head}, {axis::query, wanted[2]}, {axis::key, wanted[3]}});
}

// Whether a mask hides no more than the causal mask does.
bool says_causal(const Tensor& mask) {
    const Index queries = mask.dim(2), keys = mask.dim(3);
    for (Index i = 0; i < mask.size(); ++i)
        if (mask.data()[i] == 0.0F && i % keys <= i / keys % queries) return false;
    return true;
}

// A number for each position, given for all rows or for one; empty if the tensor is of another size.
Tensor by_position(const trace::TraceTensor& tensor, Index batch, Index length) {
    if (tensor.values.size() != length && tensor.values.size() != batch * length) return {};
    if (tensor.shape.empty() || tensor.shape.back() != length) return {};
    Tensor all({{axis::batch, batch}, {axis::pos, length}});
    float* to = all.writable().data();
    for (Index i = 0; i < all.size(); ++i) *to++ = tensor.values.data()[i % tensor.values.size()];
    return all;
}

struct Sides {
    std::vector<RecordedInput> targets, sources, others;  // others: masks, positions, documents
};

Sides sides_of(const std::vector<RecordedInput>& inputs, bool whole, bool has_source) {
    Sides sides;
    const bool named_target = std::ranges::any_of(inputs, [](const RecordedInput& given) {
        return has_any(given.port, {"tgt", "target", "dec"});
    });
    for (const RecordedInput& given : inputs) {
        if (is_target(given)) continue;
        if (stands_beside(given))
            sides.others.push_back(given);
        else if (whole == is_whole(*given.tensor) &&
                 (given.tensor->shape.size() == (whole ? 2U : 3U) || (whole && given.tensor->shape.size() == 1)))
            (has_source && is_source(given, named_target) ? sides.sources : sides.targets).push_back(given);
    }
    // If the names don't tell, the source comes first, as in torch.nn.Transformer.
    if (has_source && sides.sources.empty() && sides.targets.size() == 2) {
        sides.sources.push_back(sides.targets.front());
        sides.targets.erase(sides.targets.begin());
    }
    return sides;
}

// Adds a mask, positions or documents. Returns false if the inputs can't hold it. A padding mask may begin with `kept`
// positions that a cache holds.
bool add_other(const RecordedInput& given, const Config& config, Inputs& inputs, Index kept) {
    const auto put = [](Tensor& to, Tensor made) {
        if (made.empty() || !to.empty()) return false;
        to = std::move(made);
        return true;
    };
    const Index batch = inputs.batch(), pos = inputs.pos();
    if (is_positions(given)) return put(inputs.positions, by_position(*given.tensor, batch, pos));
    if (is_segments(given)) return put(inputs.segments, by_position(*given.tensor, batch, pos));
    const Tensor& source = inputs.encoder_tokens.empty() ? inputs.memory : inputs.encoder_tokens;
    const bool as_long_as_source = !source.empty() && source.dim(1) != pos &&
                                   given.tensor->shape == std::vector<Index>{source.dim(0), source.dim(1)};
    if (config.cross_attention && (is_source(given, false) || as_long_as_source))
        return !source.empty() &&
               put(inputs.encoder_attention_mask, as_padding(given, source.dim(0), source.dim(1), axis::src));
    for (const Index length : {pos, kept + pos})
        if (put(inputs.attention_mask, as_padding(given, batch, length, axis::pos))) return true;
    Tensor custom = as_custom(given, inputs, config);
    if (custom.empty()) return false;
    return (config.causal && says_causal(custom)) || put(inputs.custom_mask, std::move(custom));
}

bool are_vectors(const trace::TraceTensor& tensor, Index width) {
    return !is_whole(tensor) && tensor.shape.size() == 3 && tensor.shape.back() == width;
}

// Where the stream begins if not with what the model was given, but with what it made of that (a Linear of features,
// two tables' sum): what the first call with vectors of this width was given. nullptr: the model was given such
// vectors.
const trace::TraceTensor* recorded_stream(const trace::Trace& trace, Index width) {
    for (const RecordedInput& given : given_to(trace))
        if (!stands_beside(given) && are_vectors(*given.tensor, width)) return nullptr;
    for (const trace::TraceCall& call : trace.calls)
        for (const auto& [port, name] : call.in)
            if (const trace::TraceTensor* tensor = trace.find(name);
                call.parameters.empty() && tensor != nullptr && are_vectors(*tensor, width))
                return tensor;
    return nullptr;
}

// The positions that a model of Transformers, which counts padding unless it is told not to, gives its own modules if
// it isn't given any; nullptr for other models, in which a wrong count is a mistake.
const trace::TraceTensor* positions_within(const trace::Trace& trace, const Inputs& inputs) {
    static constexpr std::string_view table = "Embedding";  // not a message: PyTorch's name
    const bool is_known = trace.hyperparameters.contains("(config).model_type") ||
                          trace.hyperparameters.contains("(config).architectures");
    if (!is_known || inputs.tokens.empty() || trace.calls.empty()) return nullptr;
    for (const trace::TraceCall& call : trace.calls)
        for (const auto& [port, name] : call.in) {
            const trace::TraceTensor* tensor = trace.find(name);
            const bool is_given = std::ranges::any_of(
                trace.calls.front().in, [&, &name = name](const auto& given) { return given.second == name; });
            // What a table of tokens is given may be the tokens in another shape.
            const bool are_tokens =
                tensor != nullptr && std::ranges::equal(tensor->values.values(), inputs.tokens.values());
            if (tensor != nullptr && !is_given && !are_tokens && is_whole(*tensor) &&
                (port == "position_ids" || call.kind == table) &&
                !by_position(*tensor, inputs.batch(), inputs.pos()).empty())
                return tensor;
        }
    return nullptr;
}

// What a call was given as a mask, 1 = seen: over keys [batch, pos], or over queries and keys [batch, head, query,
// key], which the scores that a softmax was given tell, too. Empty if it is none of a text of this shape.
Tensor seen_by(const trace::TraceCall& call, const RecordedInput& given, const Inputs& text, const Config& config) {
    constexpr Index kMost = Index{1} << 24;  // a mask of more cells stays on disk
    if (given.tensor->values.size() > kMost) return {};
    if (call.function == "softmax" && given.tensor->has_floats()) {
        constexpr float kHidden = -1e3F;
        Tensor seen = given.tensor->values;
        for (float& score : seen.writable()) score = score > kHidden ? 1.0F : 0.0F;
        const trace::TraceTensor mask = {given.name, given.tensor->dtype, given.tensor->shape, std::move(seen)};
        return as_custom({"attn_mask", &mask, given.name}, text, config);
    }
    if (!is_mask(given)) return {};
    Tensor over_keys = as_padding(given, text.batch(), text.pos(), axis::pos);
    return over_keys.empty() ? as_custom(given, text, config) : over_keys;
}

// The token that is hidden wherever it stands, if every other token is seen; nothing if that isn't so: what else hides
// keys may be a mistake. In a causal text no other position sees the last one.
std::optional<float> hidden_token(const Tensor& seen, const Tensor& tokens, bool causal) {
    const Index length = tokens.dim(1), heads = seen.rank() == 4 ? seen.dim(1) : 1;
    const float* data = seen.data();
    const auto is_seen = [&](Index row, Index key) {
        if (seen.rank() == 2) return data[row * length + key] != 0.0F;
        for (Index head = 0; head < heads; ++head)
            for (Index query = length - 1; query >= 0; --query)
                if (query != key && data[((row * heads + head) * length + query) * length + key] != 0.0F) return true;
        return false;
    };
    std::vector<std::pair<float, bool>> keys;  // a token, and whether it is hidden
    for (Index row = 0; row < tokens.dim(0); ++row)
        for (Index key = 0; key < (causal && seen.rank() == 4 ? length - 1 : length); ++key)
            keys.emplace_back(tokens.at(Cell{row, key}), !is_seen(row, key));
    const auto first = std::ranges::find(keys, true, &std::pair<float, bool>::second);
    if (first == keys.end()) return std::nullopt;
    const bool is_one =
        std::ranges::all_of(keys, [&](const auto& key) { return key.second == (key.first == first->first); });
    return is_one ? std::optional(first->first) : std::nullopt;
}

// The padding that a model itself finds in its tokens, [batch, pos]. Padding that sees itself, so that no row is
// without a key, is a mask of the model's own.
struct PaddingWithin {
    float token = 0.0F;
    Tensor keep;       // [batch, pos], 1 = text
    Tensor seen = {};  // [batch, head, query, key], if padding sees itself
};

std::optional<PaddingWithin> padding_within(const trace::Trace& trace, const Tensor& tokens, const Config& config,
                                            bool causal) {
    Inputs text;
    text.tokens = tokens.with_axes({{axis::batch, tokens.dim(0)}, {axis::pos, tokens.dim(1)}});
    for (const trace::TraceCall& call : trace.calls)
        for (const auto& [port, name] : call.in) {
            const trace::TraceTensor* tensor = trace.find(name);
            if (tensor == nullptr || &call == &trace.calls.front()) continue;
            Tensor seen = seen_by(call, {lower(port), tensor, name}, text, config);
            if (seen.empty() || seen.dim(0) != text.batch()) continue;
            std::optional<float> padding = hidden_token(seen, text.tokens, causal);
            if (!padding && seen.rank() == 2) {  // what true means, its name doesn't say
                for (float& kept : seen.writable()) kept = 1.0F - kept;
                padding = hidden_token(seen, text.tokens, causal);
            }
            if (!padding && seen.rank() == 4 && config.encoder_layers == 0) return std::nullopt;  // the first tells
            if (!padding) continue;
            PaddingWithin within{*padding, text.tokens};
            bool sees_itself = false;
            for (Index i = 0; i < within.keep.size(); ++i) {
                const bool is_text = text.tokens.data()[i] != *padding;
                const Index at = i % text.pos();
                within.keep.writable()[static_cast<std::size_t>(i)] = is_text ? 1.0F : 0.0F;
                sees_itself |= !is_text && seen.rank() == 4 && seen.at(Cell{i / text.pos(), 0, at, at}) != 0.0F;
            }
            if (sees_itself) within.seen = std::move(seen);
            return within;
        }
    return std::nullopt;
}

// How many rows of the table that a call reads come before that of position 0.
float rows_before(const trace::Trace& trace, const trace::TraceCall& call, const Config& config) {
    for (const trace::TraceTensor& table : trace.parameters)
        if (config.max_positions > 0 && table.name.substr(0, table.name.rfind('.')) == call.module &&
            table.shape.size() == 2)
            return static_cast<float>(std::max<Index>(table.shape[0] - config.max_positions, 0));
    return 0.0F;
}

// The positions by which the model itself counts tokens that aren't padding; empty if it counts in another way, which
// may be a mistake.
Tensor counted_within(const trace::Trace& trace, const Inputs& inputs, const Config& config,
                      const std::function<bool(Index)>& is_token) {
    for (const trace::TraceCall& call : trace.calls)
        for (const auto& [port, name] : call.in) {
            const trace::TraceTensor* tensor = trace.find(name);
            if (tensor == nullptr || !is_whole(*tensor) || tensor->values.size() != inputs.tokens.size()) continue;
            Tensor positions = inputs.tokens;
            std::optional<float> first;
            float count = 0.0F;
            bool counts = true;
            for (Index i = 0; i < positions.size(); ++i) {
                if (i % inputs.pos() == 0) count = 0.0F;
                const bool is_text = is_token(i);
                const float position = tensor->values.data()[i];
                if (is_text && !first) first = position;
                if (is_text) counts &= position == *first + count++;
                positions.writable()[static_cast<std::size_t>(i)] = position;
            }
            if (!counts || !first) continue;
            const float before = std::min(rows_before(trace, call, config), *first);
            for (float& position : positions.writable()) position = std::max(position - before, 0.0F);
            return positions;
        }
    return {};
}

// As counted_within(), of a model that passes on what it made of the positions (RoPE's cosines and sines): numbers that
// are the same wherever as many tokens stand before, and others where it is one more.
Tensor counted_by_angles(const trace::Trace& trace, const Inputs& inputs) {
    constexpr Index kMost = Index{1} << 24;
    const Tensor counts = counts_of_tokens(inputs.attention_mask);
    const Index length = inputs.pos(), rows = inputs.batch();
    bool any_is_behind_padding = false;
    for (Index i = 0; i < counts.size(); ++i)
        any_is_behind_padding |=
            inputs.attention_mask.data()[i] != 0.0F && counts.data()[i] != static_cast<float>(i % length);
    if (!any_is_behind_padding) return {};
    for (const trace::TraceCall& call : trace.calls)
        for (const auto& [port, name] : call.in) {
            const trace::TraceTensor* tensor = trace.find(name);
            if (tensor == nullptr || !tensor->has_floats() || tensor->values.size() > kMost) continue;
            std::vector<Index> shape = tensor->shape;
            std::erase(shape, 1);
            if (length < 2 || rows < 2 || shape.size() != 3 || shape[0] != rows || shape[1] != length) continue;
            const auto numbers_at = [&](Index i) {
                return tensor->values.values().subspan(static_cast<std::size_t>(i * shape[2]),
                                                       static_cast<std::size_t>(shape[2]));
            };
            std::map<float, Index> first;  // where it is that many
            bool counts_them = true;
            for (Index i = 0; i < counts.size() && counts_them; ++i)
                if (inputs.attention_mask.data()[i] != 0.0F) {
                    const Index known = first.emplace(counts.data()[i], i).first->second;
                    counts_them = std::ranges::equal(numbers_at(known), numbers_at(i));
                }
            if (counts_them && first.size() > 1 &&
                !std::ranges::equal(numbers_at(first[0.0F]), numbers_at(first[1.0F])))
                return counts;
        }
    return {};
}

// What a model makes of its tokens before it computes: which are padding, and which positions the others have.
void add_padding_within(const trace::Trace& trace, Inputs& inputs, const Config& config) {
    if (!inputs.tokens.empty() && inputs.attention_mask.empty() && inputs.custom_mask.empty())
        if (auto within = padding_within(trace, inputs.tokens, config, config.causal)) {
            if (inputs.positions.empty())
                inputs.positions = counted_within(trace, inputs, config,
                                                  [&](Index i) { return inputs.tokens.data()[i] != within->token; });
            const bool own_mask = !within->seen.empty();
            (own_mask ? inputs.custom_mask : inputs.attention_mask) = std::move(own_mask ? within->seen : within->keep);
        }
    if (!inputs.encoder_tokens.empty() && inputs.encoder_attention_mask.empty())
        if (auto within = padding_within(trace, inputs.encoder_tokens, config, false))
            inputs.encoder_attention_mask = within->keep.with_axes(inputs.encoder_tokens.axes());
}

// Inputs under the names of the contract's inputs file.
void add_by_name(const trace::Trace& trace, Inputs& inputs) {
    for (const InputSlot& slot : input_slots()) {
        const trace::TraceTensor* tensor = trace.find(slot.name);
        if (tensor == nullptr || slot.member == &Inputs::targets) continue;
        if (tensor->shape.size() != slot.axes.size() && slot.member != &Inputs::custom_mask) continue;
        inputs.*slot.member =
            tensor->values.with_axes(named_from_last(unnamed(tensor->shape), {slot.axes.begin(), slot.axes.end()}));
    }
}

}  // namespace

bool opens_as_trace(const std::string& path, OpenAs as) {
    return as == OpenAs::trace || (as == OpenAs::whatever_it_is && load::is_recording(path));
}

load::Opened open_model(const std::string& name, OpenAs as, const Overrides& answers, LoadProgress* progress,
                        const load::names::Mapping& mapping) {
    if (opens_as_trace(name, as)) return load::run_of_trace(name);
    return load::is_recording(name) ? on_recorded_example(fitted_model(name, answers, progress, mapping), name)
                                    : load::load_model(name, answers, progress, mapping);
}

Tensor counts_of_tokens(const Tensor& keep) {
    Tensor counts = keep;
    float count = 0.0F;
    for (Index i = 0; i < counts.size(); ++i) {
        if (i % keep.dim(1) == 0) count = 0.0F;
        counts.writable()[static_cast<std::size_t>(i)] = count;
        count += keep.data()[i] != 0.0F ? 1.0F : 0.0F;
    }
    return counts;
}

Inputs inputs_of_trace(const trace::Trace& trace, const Config& config, Index kept) {
    Inputs inputs;
    add_by_name(trace, inputs);
    if (!inputs.tokens.empty() || !inputs.x.empty()) return inputs;
    const std::vector<RecordedInput> given = given_to(trace);
    const bool source_tokens = config.encoder_layers > 0 && config.encoder_vocab_size > 0;
    const bool tokens = config.vocab_size > 0;
    const Sides sides = sides_of(given, tokens, config.cross_attention && source_tokens == tokens);
    const trace::TraceTensor* begins = tokens ? nullptr : recorded_stream(trace, config.d_model);
    if (sides.targets.empty() && begins == nullptr) return {};
    const trace::TraceTensor& target = begins != nullptr ? *begins : *sides.targets.front().tensor;
    if (tokens)
        inputs.tokens = as_tokens(read_of(target, trace), axis::pos, attentions_seen(trace));
    else
        inputs.x = stream_of(target, given);
    if (config.cross_attention) {
        const Sides other = sides_of(given, source_tokens, true);
        const std::vector<RecordedInput>& sources = source_tokens == tokens ? sides.sources
                                                    : other.sources.empty() ? other.targets
                                                                            : other.sources;
        if (sources.empty()) return {};
        if (source_tokens)
            inputs.encoder_tokens = as_tokens(*sources.front().tensor, axis::src, attentions_seen(trace));
        else
            inputs.memory = as_vectors(*sources.front().tensor, axis::src);
    }
    for (const RecordedInput& other : sides.others) add_other(other, config, inputs, kept);
    if (const trace::TraceTensor* said = positions_within(trace, inputs); said != nullptr && inputs.positions.empty()) {
        inputs.positions = by_position(*said, inputs.batch(), inputs.pos());
        for (float& position : inputs.positions.writable()) position = std::max(position, 0.0F);  // of OPT's padding
    }
    const bool hides = std::ranges::find(inputs.attention_mask.values(), 0.0F) != inputs.attention_mask.values().end();
    if (kept == 0 && hides && inputs.positions.empty() && !inputs.tokens.empty()) {
        inputs.positions =
            counted_within(trace, inputs, config, [&](Index i) { return inputs.attention_mask.data()[i] != 0.0F; });
        if (inputs.positions.empty()) inputs.positions = counted_by_angles(trace, inputs);
    }
    if (kept == 0) add_padding_within(trace, inputs, config);
    return inputs;
}

std::vector<Sentence> taken_from_recording(const trace::Trace& trace, const Inputs& inputs) {
    std::vector<Sentence> sentences;
    std::string names;
    for (const RecordedInput& given : given_to(trace)) names += (names.empty() ? "" : ", ") + given.name;
    if (names.find(',') != std::string::npos)
        sentences.push_back(message("the run is given what was recorded: {names}", {{"names", names}}));
    if (const trace::TraceTensor* begins = inputs.x.empty() ? nullptr : recorded_stream(trace, inputs.x.dim(2)))
        sentences.push_back(
            message("the stream begins with the recorded {name}, since what makes it is no part of this model",
                    {{"name", begins->name}}));
    const bool is_given =
        trace.find("attention_mask") != nullptr || trace.find("custom_mask") != nullptr ||
        trace.find("encoder_attention_mask") != nullptr ||
        std::ranges::any_of(given_to(trace), [](const RecordedInput& given) { return is_mask(given); });
    if (!is_given &&
        !(inputs.attention_mask.empty() && inputs.custom_mask.empty() && inputs.encoder_attention_mask.empty()))
        sentences.push_back(message("the run hides as padding what the recorded model itself hides"));
    if (const trace::TraceTensor* said = inputs.positions.empty() ? nullptr : positions_within(trace, inputs))
        sentences.push_back(message("the positions are those of the recorded {name}", {{"name", said->name}}));
    // Behind a cache the mask is longer than the tokens.
    if (inputs.tokens.empty() || inputs.attention_mask.size() != inputs.tokens.size()) return sentences;
    std::set<float> hidden;
    for (Index i = 0; i < inputs.tokens.size(); ++i)
        if (inputs.attention_mask.data()[i] == 0.0F) hidden.insert(inputs.tokens.data()[i]);
    if (hidden.size() > 1)
        sentences.push_back(message("the recorded padding mask hides {count} different tokens; padding is one",
                                    {{"count", hidden.size()}}));
    return sentences;
}

std::vector<Sentence> not_compared(const trace::Trace& trace, const Inputs& inputs, const Config& config, Index kept) {
    std::vector<Sentence> sentences;
    if (trace.calls.empty()) return sentences;
    Inputs read = {
        .tokens = inputs.tokens, .x = inputs.x, .memory = inputs.memory, .encoder_tokens = inputs.encoder_tokens};
    for (const RecordedInput& given : given_to(trace)) {
        if (stands_beside(given) && !is_target(given) && !add_other(given, config, read, kept))
            sentences.push_back(
                message("{name} was given to the recorded model; it is not followed here", {{"name", given.name}}));
    }
    return sentences;
}

Scenario on_recorded_input(Scenario scenario, const trace::Trace& trace) {
    Inputs recorded = inputs_of_trace(trace, scenario.config());
    if (recorded.tokens.empty() && recorded.x.empty()) return scenario;
    naming(trace.path, [&] { check_inputs(recorded, scenario.config()); });
    scenario.inputs = std::move(recorded);
    return scenario;
}

}  // namespace decoderscope::core
