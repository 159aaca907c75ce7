#include "app/core/run/mistakes_behind_cache.h"

#include "app/core/run/passes_of_text.h"

#include <algorithm>
#include <functional>
#include <map>
#include <span>
#include <string_view>
#include <utility>

namespace decoderscope::core {

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

// Nothing was kept: the new positions are a text of their own.
bool forget_all(CachedPass& pass) {
    Inputs& inputs = pass.scenario.inputs;
    const Index before = kept(pass);
    for (Tensor* by_key : {&inputs.positions, &inputs.attention_mask, &inputs.segments})
        if (!by_key->empty()) *by_key = stretch(*by_key, 1, before, by_key->dim(1) - before);
    pass.past = {};  // cross-attention's memory, too: the encoder is computed with the text
    return true;
}

// Values in place of the keys, and the other way round.
bool swap_keys_and_values(CachedPass& pass) {
    bool swapped = false;
    for (const std::string& attention : pass.attentions) {
        decoder::KeptRows& rows = pass.past.attentions[attention];
        if (rows.k.empty() || sizes_of(rows.k.axes()) != sizes_of(rows.v.axes())) continue;
        std::swap(rows.k, rows.v);
        swapped = true;
    }
    return swapped;
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

// Beams were chosen, but what is kept stays in its order; or its values alone.
bool forget_reorder(CachedPass& pass, bool keys_too) {
    bool changed = false;
    for (const std::string& attention : pass.attentions) {
        const decoder::KeptRows& before = pass.before_rows.of(attention);
        decoder::KeptRows& rows = pass.past.attentions[attention];
        const auto keep = [&](Tensor decoder::KeptRows::*which) {
            if ((before.*which).empty() || (before.*which).dim(0) != (rows.*which).dim(0)) return;
            changed = changed || !std::ranges::equal((before.*which).values(), (rows.*which).values());
            rows.*which = before.*which;
        };
        keep(&decoder::KeptRows::v);
        if (!keys_too) continue;
        keep(&decoder::KeptRows::k);
        keep(&decoder::KeptRows::latent);
        keep(&decoder::KeptRows::shared);
    }
    return changed;
}

// The memory's rows are another one's of the batch.
bool turn_memory(CachedPass& pass) {
    CachedPass turned = pass;
    turned.attentions.clear();
    for (const auto& [name, rows] : pass.past.attentions)
        if (std::ranges::find(pass.attentions, name) == pass.attentions.end()) turned.attentions.push_back(name);
    if (turned.attentions.empty() || !turn_batch(turned)) return false;
    pass.past = std::move(turned.past);
    return true;
}

// A causal mask that counts the new queries from another key: the first, as scaled_dot_product_attention's is_causal
// does, or the last that was kept, so that none sees itself.
bool count_mask_from(CachedPass& pass, Index first) {
    Inputs& inputs = pass.scenario.inputs;
    const Index queries = inputs.pos(), keys = kept(pass) + queries;
    Tensor mask({{axis::query, queries}, {axis::key, keys}});
    float* to = mask.writable().data();
    for (Index query = 0; query < queries; ++query)
        for (Index key = 0; key < keys; ++key) *to++ = key <= first + query ? 1.0F : 0.0F;
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

bool drop_padding_of_memory(CachedPass& pass) {
    return !std::exchange(pass.scenario.inputs.encoder_attention_mask, {}).empty();
}

bool drop_window(CachedPass& pass) {
    if (pass.scenario.config().sliding_window == 0) return false;
    // A window that holds all keys: the layers stay those with a window, which may have a RoPE base of their own.
    const Index keys = kept(pass) + pass.scenario.inputs.pos();
    pass.scenario = with_override(std::move(pass.scenario), "sliding_window", std::to_string(keys));
    return true;
}

using Make = std::function<bool(CachedPass&)>;

// Numbers the new positions, from their place in the pass and their right number.
Make numbered(std::function<Index(const CachedPass&, Index place, Index right)> number) {
    return [number = std::move(number)](CachedPass& pass) {
        return renumber(pass, [&](Index place, Index right) { return number(pass, place, right); });
    };
}

// What each mutation of a cached path does (assets/tables/mutations.json has their causes).
const std::map<std::string_view, Make>& makes() {
    static const std::map<std::string_view, Make> all = {
        {"cached-positions-ahead", numbered([](const CachedPass&, Index, Index right) { return right + 1; })},
        {"cached-positions-stuck", numbered([](const CachedPass& pass, Index, Index right) {
             return std::max<Index>(right - (kept(pass) - pass.prefilled), 0);
         })},
        {"cached-positions-behind",
         numbered([](const CachedPass&, Index, Index right) { return std::max<Index>(right - 1, 0); })},
        {"cached-positions-restart", numbered([](const CachedPass&, Index place, Index) { return place; })},
        {"cached-mask-top-left", [](CachedPass& pass) { return count_mask_from(pass, 0); }},
        {"cached-newest-hidden", [](CachedPass& pass) { return count_mask_from(pass, kept(pass) - 1); }},
        {"cache-of-the-next-layer", [](CachedPass& pass) { return shift_layers(pass, 1); }},
        {"cache-of-the-layer-before", [](CachedPass& pass) { return shift_layers(pass, -1); }},
        {"cache-forgotten", forget_all},
        {"cached-keys-and-values-swapped", swap_keys_and_values},
        {"cache-one-short", [](CachedPass& pass) { return lose_row(pass, false); }},
        {"cache-lost-the-first", [](CachedPass& pass) { return lose_row(pass, true); }},
        {"cache-not-reordered", [](CachedPass& pass) { return forget_reorder(pass, true); }},
        {"cached-values-not-reordered", [](CachedPass& pass) { return forget_reorder(pass, false); }},
        {"cache-of-another-row", turn_batch},
        {"cached-memory-of-another-row", turn_memory},
        {"cached-memory-padding-missing", drop_padding_of_memory},
        {"cached-padding-kept", drop_mask},
        {"cached-window-missing", drop_window},
    };
    return all;
}

}  // namespace

std::vector<std::string> self_attentions(const Plan& plan) {
    std::vector<std::string> found;
    for (const std::string& attention : plan.attentions())
        if (const Ref key = plan.step_of(attention, AttentionStep::key);
            key != nullptr && key->part == Part::self_attention && !key->in_encoder())
            found.push_back(attention);
    return found;
}

bool make_mistake(std::string_view name, CachedPass& pass) { return makes().at(name)(pass); }

}  // namespace decoderscope::core
