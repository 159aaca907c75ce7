#pragma once

#include "engine/tensor.h"

#include <map>
#include <string>
#include <vector>

namespace decoderscope {

using Shapes = std::map<std::string, std::vector<Index>, std::less<>>;  // of tensors, by name

}  // namespace decoderscope
