#pragma once

#include "app/core/run/scenario.h"
#include "engine/base/message.h"
#include "engine/load/names/mapping.h"
#include "engine/trace/trace.h"

#include <optional>
#include <vector>

namespace decoderscope::core::bisect {

// How what a recorded model was given differs from what a scenario is, before anything is computed: tokens, and the
// weights that the recording holds, which `mapping` makes ours, with what theirs are to ours. A sentence each, empty if
// nothing does. Numbers are the same if they are in `type`.
[[nodiscard]] std::vector<Sentence> given_apart(const Scenario& scenario, const trace::Trace& trace,
                                                const load::names::Mapping& mapping, Arithmetic type);
// As above, of two recordings: the whole numbers and masks that each call of the recorded model was given; or those
// beside the tokens (positions, masks), as long as these are the same.
[[nodiscard]] std::vector<Sentence> given_apart(const trace::Trace& ours, const trace::Trace& theirs,
                                                bool beside_tokens = false);
// Of two recorded models with adapters: how one's is scaled, if otherwise than here.
[[nodiscard]] Sentence adapters_apart(const trace::Trace& ours, const trace::Trace& theirs);
// Of two recorded models that were given the same, where a run begins with the recorded stream: how that differs.
[[nodiscard]] Sentence stream_apart(const trace::Trace& ours, const trace::Trace& theirs, const Config& config,
                                    Arithmetic type);
// Of two recorded models that were given the same: how what they made of it, positions and padding, differs.
[[nodiscard]] std::optional<Sentence> made_of_given_apart(const Inputs& ours, const Inputs& theirs);
// Of two recorded models that were given the same: which numbers they returned, but for padding's, are apart by more
// than this part of the largest; empty if none are.
[[nodiscard]] Sentence returned_apart(const trace::Trace& ours, const trace::Trace& theirs, const Tensor& keep,
                                      double tolerance);

}  // namespace decoderscope::core::bisect
