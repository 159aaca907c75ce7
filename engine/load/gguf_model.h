#pragma once

#include "engine/files/gguf.h"
#include "engine/load/families/family.h"
#include "engine/load/names/mapping.h"

#include <string>

namespace decoderscope::load {

// What a GGUF file says about its model: the configuration that its metadata describes, and what each of its tensors
// is.
struct GgufModel {
    families::ModelFamily family;
    names::Mapping mapping;
};

// Throws Error if the architecture is not read, or naming the key or tensor that asks for what isn't computed or that
// the architecture isn't known to have.
[[nodiscard]] GgufModel read_gguf_model(const GgufFile& file);

}  // namespace decoderscope::load
