#pragma once

#include "engine/load/names/modules.h"

#include <string>
#include <vector>

namespace decoderscope::load::names {

// An attention of a block: where its modules are, and what each is.
struct FoundAttention {
    Path path;    // the module that holds it; empty if that is the block itself
    Words words;  // of what tells it from another attention of the block: "self", "attn", "1"
    bool cross = false;
    std::vector<Assigned> parts;  // "self_attn.q_proj", …
};

// Whether these modules of a would-be block have a query, a key and a value, or all three in one.
[[nodiscard]] bool has_attention(const Modules& modules);

// Takes the attentions out of a block's modules, self-attention first.
[[nodiscard]] std::vector<FoundAttention> take_attentions(Modules& modules, Context& context);

}  // namespace decoderscope::load::names
