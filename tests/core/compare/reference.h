#pragma once

#include "engine/base/file.h"
#include "engine/base/json.h"

#include <algorithm>
#include <cmath>

// PyTorch's measures of the norms: tests/reference/tabs_norms.py.
namespace decoderscope::testing {

inline const nlohmann::json& reference() {
    // In a function of its own: in the initialiser of a static variable clang 14 loses track of a default argument.
    static const nlohmann::json measures = [] {
        return parse_json(read_text(DECODERSCOPE_TESTS_DIR "/reference/tabs_norms.json"), message("JSON"));
    }();
    return measures;
}

inline bool close(double a, double b, double relative = 1e-5) {
    return std::abs(a - b) <= relative * std::max(1e-3, std::abs(b));
}

}  // namespace decoderscope::testing
