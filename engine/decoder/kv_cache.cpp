#include "engine/decoder/kv_cache.h"

#include "engine/base/error.h"

namespace decoderscope::decoder {

namespace {

const KeptRows kNothing;

void check_rows(const std::string& name, const Tensor& rows, const Axes& expected) {
    if (rows.empty() || shape_text(rows.axes()) != shape_text(expected))
        throw Error("{name}: shape {shape} was cached, expected {expected}",
                    {{"name", name}, {"shape", shape_text(rows.axes())}, {"expected", shape_text(expected)}});
}

}  // namespace

std::vector<std::pair<std::string_view, Tensor>> KeptRows::named() const {
    std::vector<std::pair<std::string_view, Tensor>> found;
    const auto add = [&](std::string_view name, const Tensor& rows) {
        if (!rows.empty()) found.emplace_back(name, rows);
    };
    add("k", k);
    add("v", v);
    add("kv_latent", latent);
    add("k_shared", shared);
    return found;
}

const KeptRows& Past::of(std::string_view attention) const {
    const auto found = attentions.find(attention);
    return found == attentions.end() ? kNothing : found->second;
}

Index Past::numbers() const {
    Index numbers = 0;
    for (const auto& [name, rows] : attentions) numbers += rows.numbers();
    return numbers;
}

Past past_of(const Run& run) {
    Past past;
    for (const std::string& attention : run.plan().attentions()) {
        const Ref key = run.plan().step_of(attention, AttentionStep::key);
        if (key == nullptr || key->in_encoder()) continue;
        KeptRows& kept = past.attentions[attention];
        kept.latent = run.value(attention, AttentionStep::kv_latent);
        kept.shared = run.value(attention, AttentionStep::k_shared);
        if (kept.latent.empty()) {
            kept.k = run.value(key->id);
            kept.v = run.value(attention, AttentionStep::value);
        }
        if (key->part == Part::self_attention) past.positions = key->axes[2].size;
    }
    return past;
}

Past first_of(Past past, Index positions) {
    if (positions == past.positions) return past;
    if (positions <= 0) return {};
    for (auto& [name, kept] : past.attentions)
        for (Tensor* rows : {&kept.k, &kept.v, &kept.latent, &kept.shared})
            for (std::size_t axis = 0; axis < rows->rank(); ++axis) {
                if (rows->axes()[axis].name != axis::pos) continue;
                Axes axes = rows->axes();
                axes.resize(axis, positions);
                *rows = part_of(*rows, Cell(rows->rank(), 0), axes);
            }
    past.positions = positions;
    return past;
}

bool can_continue(const Past& past, const Config& config, Index added) {
    return config.rope_scaling != RopeScalingKind::longrope || past.positions == 0 ||
           past.positions > config.rope_original_positions || past.positions + added <= config.rope_original_positions;
}

void check_past(const Past& past, const Config& config, Index batch, Index added) {
    if (past.positions == 0) return;
    if (!config.causal)
        throw Error("causal is false: every position reads the later ones, expected true with a KV cache");
    if (!can_continue(past, config, added))
        throw Error(
            "rope_scaling is longrope: {count} positions are rotated differently from the {kept} that were cached",
            {{"count", past.positions + added}, {"kept", past.positions}});
    for (Index layer = 0; layer < config.num_layers; ++layer) {
        const std::string block = "blocks." + std::to_string(layer);
        for (const char* site : {".attn", ".cross_attn"}) {
            const bool cross = site == std::string_view(".cross_attn");
            if (cross && !config.cross_attention) continue;
            const KeptRows& kept = past.of(block + site);
            const bool latent = !cross && config.is_latent();
            const Axis first = {axis::batch, batch}, positions = {axis::pos, past.positions};
            if (latent) {
                check_rows(block + site + ".kv_latent", kept.latent,
                           {first, positions, {axis::rank, config.kv_lora_rank}});
                check_rows(block + site + ".k_shared", kept.shared,
                           {first, {axis::head, 1}, positions, {axis::d_head, config.qk_rope_head_dim}});
                continue;
            }
            Axes rows = {first, {axis::head, config.num_key_value_heads}, positions, {axis::d_head, config.d_head()}};
            if (cross && !kept.k.empty()) rows.replace(2, {axis::src, kept.k.dim(2)});
            check_rows(block + site + ".k", kept.k, rows);
            check_rows(block + site + ".v", kept.v, rows);
        }
    }
}

}  // namespace decoderscope::decoder
