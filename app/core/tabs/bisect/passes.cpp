#include "app/core/tabs/bisect/passes.h"

#include "app/core/run/open_model.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace decoderscope::core::bisect {

namespace {

bool calls_model(const trace::TraceCall& call, const trace::TraceCall& first) {
    return call.function.empty() && call.module == first.module;
}

// "h.0.attn#2/softmax" as it is called in the first pass: "h.0.attn/softmax".
std::string first_name(const std::string& name) {
    const std::size_t number = name.find('#');
    const std::size_t end = name.find_first_not_of("0123456789", number == std::string::npos ? 0 : number + 1);
    if (number == std::string::npos) return name;
    return name.substr(0, number) + (end == std::string::npos ? "" : name.substr(end));
}

// The calls from one on, up to another, as a recording.
trace::Trace recording_of(const trace::Trace& trace, std::size_t begin, std::size_t end) {
    trace::Trace pass;
    pass.path = trace.path;
    pass.files = trace.files;
    pass.origin = trace.origin;
    pass.parameters = trace.parameters;
    pass.hyperparameters = trace.hyperparameters;
    std::map<std::string, std::string> names;  // of theirs, and here
    std::set<std::string> taken;
    for (std::size_t i = begin; i < end; ++i) {
        trace::TraceCall call = trace.calls[i];
        call.name = first_name(call.name);
        for (auto* side : {&call.in, &call.out})
            for (auto& [port, name] : *side) {
                auto known = names.find(name);
                if (known == names.end()) {
                    const trace::TraceTensor* found = trace.find(name);
                    const std::string plain = first_name(name);
                    const std::string here = taken.contains(plain) ? name : plain;
                    taken.insert(here);
                    known = names.emplace(name, here).first;
                    if (found != nullptr) {
                        pass.tensors.push_back(*found);
                        pass.tensors.back().name = here;
                    }
                }
                name = known->second;
            }
        pass.calls.push_back(std::move(call));
    }
    return pass;
}

// ---- the text so far

// The rows of one tensor [batch, …] followed by those of another.
Tensor joined(const Tensor& a, const Tensor& b) {
    Axes axes = a.axes();
    axes.resize(1, a.dim(1) + b.dim(1));
    Tensor both(axes);
    float* to = both.writable().data();
    const auto copy = [&](const Tensor& from, Index row) {
        const Index width = from.size() / from.dim(0);
        to = std::copy_n(from.data() + row * width, width, to);
    };
    for (Index row = 0; row < a.dim(0); ++row) copy(a, row), copy(b, row);
    return both;
}

// What a call is, as its attention tells beside the first call's, in which each of `first` queries sees as many keys.
enum class Behind { nothing, cache, unclear };
Behind behind(const trace::Trace& first_call, Index first, const trace::Trace& call, Index added) {
    bool same = false, more = false;  // keys than queries
    for (const trace::TraceTensor& tensor : call.tensors) {
        const std::vector<Index>& now = tensor.shape;
        const trace::TraceTensor* then = first_call.find(tensor.name);
        if (now.size() < 3 || then == nullptr || then->shape.size() != now.size() || now[now.size() - 2] != added)
            continue;
        if (then->shape.back() != first || then->shape[now.size() - 2] != first) continue;
        same = same || now.back() == added;
        more = more || now.back() > added;
    }
    // An axis that is as long as the first text by chance stays as long.
    if (more && (!same || added == first)) return Behind::cache;
    return same ? Behind::nothing : Behind::unclear;
}

}  // namespace

std::vector<trace::Trace> recorded_passes(const trace::Trace& trace) {
    std::vector<std::size_t> begins;
    for (std::size_t i = 0; i < trace.calls.size(); ++i)
        if (calls_model(trace.calls[i], trace.calls.front())) begins.push_back(i);
    if (begins.size() < 2) return {trace};
    begins.push_back(trace.calls.size());
    std::vector<trace::Trace> passes;
    for (std::size_t i = 0; i + 1 < begins.size(); ++i) passes.push_back(recording_of(trace, begins[i], begins[i + 1]));
    passes.front().remarks = trace.remarks;
    return passes;
}

std::optional<TextPart> continued(const TextPart& before, const trace::Trace& pass, const trace::Trace& first,
                                  Index prefilled, const Config& config) {
    const Inputs& text = before.text;
    const Index kept = text.pos();
    const Inputs given = inputs_of_trace(pass, config, kept);
    if (given.tokens.empty() || text.tokens.empty()) return std::nullopt;
    const Index added = given.pos();
    const Behind found = behind(first, prefilled, pass, added);
    if (found == Behind::nothing) return TextPart{inputs_of_trace(pass, config), {0, added}};
    if (found == Behind::unclear || given.batch() != text.batch()) return std::nullopt;
    // What was said of the text before must be said of what is new, too.
    if ((given.positions.empty() && !text.positions.empty()) || (given.segments.empty() && !text.segments.empty()))
        return std::nullopt;
    TextPart next{{.tokens = joined(text.tokens, given.tokens),
                   .memory = text.memory,
                   .encoder_tokens = text.encoder_tokens,
                   .attention_mask = given.attention_mask,
                   .encoder_attention_mask = text.encoder_attention_mask},
                  {kept, added}};
    Tensor& mask = next.text.attention_mask;  // of all keys, of the new ones, or absent
    const auto all_kept = [&](Index count) {
        Tensor ones({{axis::batch, text.batch()}, {axis::pos, count}});
        std::ranges::fill(ones.writable(), 1.0F);
        return ones;
    };
    if (mask.empty() && !text.attention_mask.empty())
        mask = joined(text.attention_mask, all_kept(added));
    else if (!mask.empty() && mask.dim(1) == added)
        mask = joined(text.attention_mask.empty() ? all_kept(kept) : text.attention_mask, mask);
    if (!given.positions.empty()) next.text.positions = joined(numbers_of_positions(text, config, 0), given.positions);
    if (!text.segments.empty()) next.text.segments = joined(text.segments, given.segments);
    return next;
}

// ---- mistakes

namespace {

Index kept(const CachedPass& pass) { return pass.past.positions; }

// Every self-attention's kept rows, by what makes others of them; `axis` is that of their positions.
void change_rows(CachedPass& pass, const std::function<Tensor(const Tensor&, std::size_t axis)>& change) {
    for (const std::string& attention : pass.attentions) {
        decoder::KeptRows& rows = pass.past.attentions[attention];
        for (auto [tensor, axis] : {std::pair{&rows.k, 2}, {&rows.v, 2}, {&rows.latent, 1}, {&rows.shared, 2}})
            if (!tensor->empty()) *tensor = change(*tensor, static_cast<std::size_t>(axis));
    }
}

Tensor stretch(const Tensor& tensor, std::size_t axis, Index first, Index count) {
    Axes axes = tensor.axes();
    Cell from(axes.size(), 0);
    from[axis] = first;
    axes.resize(axis, count);
    return part_of(tensor, from, axes);
}

// The numbers of all positions, those of the pass by `number`, from their place in it and their right number.
bool renumber(CachedPass& pass, const std::function<Index(Index place, Index right)>& number) {
    if (!pass.scenario.config().reads_positions()) return false;
    Inputs& inputs = pass.scenario.inputs;
    const Index before = kept(pass), added = inputs.pos();
    Tensor numbers = numbers_of_positions(inputs, pass.scenario.config(), before);
    const std::span<float> all = numbers.writable();
    for (Index row = 0; row < inputs.batch(); ++row)
        for (Index i = 0; i < added; ++i) {
            float& at = all[static_cast<std::size_t>(row * (before + added) + before + i)];
            at = static_cast<float>(number(i, static_cast<Index>(at)));
        }
    inputs.positions = std::move(numbers);
    return true;
}

// Leaves one kept row out, at the beginning or the end; all positions keep their numbers.
bool lose_row(CachedPass& pass, bool first) {
    if (kept(pass) < 2) return false;
    renumber(pass, [](Index, Index right) { return right; });
    const Index left = kept(pass) - 1, gone = first ? 0 : left;
    change_rows(pass, [&](const Tensor& rows, std::size_t axis) { return stretch(rows, axis, first ? 1 : 0, left); });
    pass.past.positions = left;
    Inputs& inputs = pass.scenario.inputs;
    for (Tensor* by_key : {&inputs.positions, &inputs.attention_mask, &inputs.segments}) {
        if (by_key->empty()) continue;
        Tensor shorter =
            gone == 0 ? stretch(*by_key, 1, 1, by_key->dim(1) - 1)
                      : joined(stretch(*by_key, 1, 0, gone), stretch(*by_key, 1, gone + 1, by_key->dim(1) - gone - 1));
        *by_key = std::move(shorter);
    }
    return true;
}

// Each layer reads what another one keeps.
bool shift_layers(CachedPass& pass, Index by) {
    const auto layers = static_cast<Index>(pass.attentions.size());
    if (layers < 2) return false;
    const auto right = pass.past.attentions;
    const auto name = [&](Index layer) { return pass.attentions[static_cast<std::size_t>(layer)]; };
    for (Index layer = 0; layer < layers; ++layer)
        pass.past.attentions[name(layer)] = right.at(name(std::clamp<Index>(layer + by, 0, layers - 1)));
    return true;
}

bool turn_batch(CachedPass& pass) {
    const Index batch = pass.scenario.inputs.batch();
    if (batch < 2) return false;
    change_rows(pass, [&](const Tensor& rows, std::size_t) {
        Tensor turned(rows.axes());
        const Index width = rows.size() / batch;
        for (Index row = 0; row < batch; ++row)
            std::copy_n(rows.data() + row * width, width, turned.writable().data() + (batch - 1 - row) * width);
        return turned;
    });
    return true;
}

// A causal mask that counts the new queries from the first key, as scaled_dot_product_attention's is_causal does.
bool align_top_left(CachedPass& pass) {
    Inputs& inputs = pass.scenario.inputs;
    const Index queries = inputs.pos(), keys = kept(pass) + queries;
    Tensor mask({{axis::query, queries}, {axis::key, keys}});
    float* to = mask.writable().data();
    for (Index query = 0; query < queries; ++query)
        for (Index key = 0; key < keys; ++key) *to++ = key <= query ? 1.0F : 0.0F;
    inputs.custom_mask = std::move(mask);
    return true;
}

bool drop_mask(CachedPass& pass) {
    if (pass.scenario.inputs.attention_mask.empty()) return false;
    // Positions that were counted by it stay as they are.
    renumber(pass, [](Index, Index right) { return right; });
    pass.scenario.inputs.attention_mask = {};
    return true;
}

bool drop_window(CachedPass& pass) {
    if (pass.scenario.config().sliding_window == 0) return false;
    pass.scenario = with_override(std::move(pass.scenario), "sliding_window", "0");
    return true;
}

}  // namespace

std::span<const PassMistake> pass_mistakes() {
    const auto numbered = [](auto number) {
        return [number](CachedPass& pass) {
            const auto of = [&](Index place, Index right) { return number(pass, place, right); };
            return renumber(pass, of);
        };
    };
    static const std::vector<PassMistake> all = {
        {"cached-positions-ahead", message("The new positions are numbered one too far."),
         numbered([](const CachedPass&, Index, Index right) { return right + 1; })},
        {"cached-positions-stuck",
         message("The number of the new position isn't advanced: it stays what it was after the first pass."),
         numbered([](const CachedPass& pass, Index, Index right) {
             return std::max<Index>(right - (kept(pass) - pass.prefilled), 0);
         })},
        {"cached-positions-behind", message("The new positions are numbered one too low, as the last kept one."),
         numbered([](const CachedPass&, Index, Index right) { return std::max<Index>(right - 1, 0); })},
        {"cached-positions-restart", message("The new positions are numbered from 0, as if nothing were kept."),
         numbered([](const CachedPass&, Index place, Index) { return place; })},
        {"cached-mask-top-left",
         message(
             "The causal mask counts the new queries from the first key: they see the beginning of the text alone."),
         align_top_left},
        {"cache-of-the-next-layer", message("Each layer reads the keys and values that the next one keeps."),
         [](CachedPass& pass) { return shift_layers(pass, 1); }},
        {"cache-of-the-layer-before", message("Each layer reads the keys and values that the one before it keeps."),
         [](CachedPass& pass) { return shift_layers(pass, -1); }},
        {"cache-one-short",
         message("The newest kept row is missing: it was counted before it was written, or cut off."),
         [](CachedPass& pass) { return lose_row(pass, false); }},
        {"cache-lost-the-first", message("The first kept row is missing: it was evicted or overwritten too early."),
         [](CachedPass& pass) { return lose_row(pass, true); }},
        {"cache-of-another-row", message("The rows of the batch read each other's keys and values."), turn_batch},
        {"cached-padding-kept", message("The padding mask is not applied to kept keys."), drop_mask},
        {"cached-window-missing", message("The sliding window is not applied behind a cache."), drop_window},
    };
    return all;
}

}  // namespace decoderscope::core::bisect
