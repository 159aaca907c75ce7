#pragma once

#include "engine/model/mapping.h"
#include "engine/plan.h"

#include <map>
#include <string>
#include <vector>

namespace decoderscope {

// One of our parameters that a module of theirs holds, and the steps that read it.
struct RecordedPart {
    std::string parameter;        // "layers.0.self_attn.q_proj.weight"
    Index rows = 0;               // of its matrix: columns of the module's output
    std::vector<StepId> readers;  // in the order of computation
};

// A module of theirs, known by a weight that it holds. Several parts: its output is theirs side by side (q, k and v).
struct RecordedModule {
    std::vector<RecordedPart> parts;
    bool is_container = false;  // it does more than apply the weight: torch.nn.MultiheadAttention
    bool is_mixed = false;      // the parts' columns lie head by head or group by group
    Index head = -1;            // it makes one head alone
};

// By the module's path: "h.0.attn.c_attn".
using RecordedModules = std::map<std::string, std::vector<RecordedModule>, std::less<>>;

// The modules whose parameters are known by a mapping; by our own names where it says nothing.
[[nodiscard]] RecordedModules recorded_modules(const Plan& plan, const Mapping& mapping);

}  // namespace decoderscope
