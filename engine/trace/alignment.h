#pragma once

#include "engine/graph/plan.h"
#include "engine/load/names/mapping.h"
#include "engine/trace/layout.h"
#include "engine/trace/trace.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace decoderscope::trace {

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
    bool in_turn = false;       // its heads' columns are those of both halves in turn
};

// By the module's path: "h.0.attn.c_attn".
using RecordedModules = std::map<std::string, std::vector<RecordedModule>, std::less<>>;

// The modules whose parameters are known by a mapping; by our own names if it doesn't name them. Or what holds nothing
// but a weight, by the weight's name: functions that are given it.
[[nodiscard]] RecordedModules recorded_modules(const Plan& plan, const load::names::Mapping& mapping,
                                               bool by_parameter = false);

// What told that a recorded tensor is one of ours.
enum class Basis {
    name,      // it has our name, or one that means the same
    call,      // the module or function that it was given to, or that gave it
    returned,  // the recorded model returned it
    value,     // shape and numbers
    place,     // shape, and what comes before and after it
    chosen,    // the user said so
};

// How strictly two tensors of a match are compared.
enum class Strictness {
    exact,         // number by number
    as_softmax,    // scores as the softmax sees them: hidden is hidden, and a constant a row is nothing
    up_to_factor,  // what the scores are computed from: some divide the query, some the scores
};

// A recorded tensor that is a step's.
struct Match {
    StepId step = 0;
    std::size_t tensor = 0;  // in the trace
    Placed placed;
    Basis basis = Basis::name;
    Strictness strictness = Strictness::exact;
    std::optional<StepId> reader = std::nullopt;  // it was recorded where this step reads it, not where it was made
};

// Which recorded tensors are which steps, by the steps' order; a tensor may be several, and a step have several.
struct Alignment {
    std::vector<Match> matches;
    std::vector<std::size_t> unmatched;  // tensors that are none of ours
};

// What is known about names beforehand: what each stored parameter of theirs is of ours, and other names of our steps.
struct KnownNames {
    load::names::Mapping parameters;
    std::map<std::string, std::string, std::less<>> aliases;  // their name -> our step's
    bool keeps_all = true;                                    // a cache of theirs may hold no more than a window
};

// Aligns by names, then by calls: a module is known by its parameters, its input and output by the steps that read
// these, and functions by the attention that they are called in.
[[nodiscard]] Alignment align(const Plan& plan, const Trace& trace, const KnownNames& known);

// The step whose values another one only carries on: what leaves a block, for what enters the next.
[[nodiscard]] StepId origin_of(const Plan& plan, StepId id);

// Adds a match for each tensor that is left and that `equal` accepts for a step that has none yet; then those between
// two matches that are alone with their shape there.
using Equal = std::function<bool(const Match& candidate)>;
void align_by_values(Alignment& alignment, const Plan& plan, const Trace& trace, const Equal& equal);

}  // namespace decoderscope::trace
