#pragma once

#include "engine/base/error.h"

#include <string>

namespace decoderscope::core {

// Runs `work`; an Error gets the file and the line in front.
template <class Work>
auto at_line(const std::string& path, int line, Work work) {
    return naming(path + ":" + std::to_string(line), work);
}

}  // namespace decoderscope::core
