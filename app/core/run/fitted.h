#pragma once

#include "engine/files/mapped_file.h"
#include "engine/load/model.h"
#include "engine/load/names/mapping.h"
#include "engine/model/config.h"

#include <memory>
#include <string>

namespace decoderscope::core {

// The model whose parameters lie in a recording. What its names and calls leave open, questions (load::Recognised) and
// numbers that no parameter tells, is tried: of all answers, one at a time, those with which a run on what was recorded
// has more of the recorded tensors, until it has what the recorded model returned. A number that a known mistake gives
// (scores that aren't scaled) is no answer. Throws as load_model() does without any of them.
[[nodiscard]] std::shared_ptr<const load::Model> fitted_model(const std::string& path, const Overrides& answers,
                                                              LoadProgress* progress,
                                                              const load::names::Mapping& mapping);

}  // namespace decoderscope::core
