#pragma once

#include "engine/model/names/recognise_names.h"

namespace decoderscope {

// Names as a given mapping says. It names every stored tensor that isn't a buffer, or only tensors that were not
// recognised. Throws Error naming a tensor that isn't stored, or that it leaves out.
[[nodiscard]] RecognisedNames with_mapping(RecognisedNames recognised, const Mapping& given, const Shapes& stored);

}  // namespace decoderscope
