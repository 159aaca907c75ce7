#pragma once

#include <string>

namespace decoderscope::testing {

// The folder of one of tests/reference/state_dicts/: a checkpoint as its module saved it.
inline std::string state_dict_folder(const std::string& name) {
    return DECODERSCOPE_TESTS_DIR "/reference/state_dicts/" + name;
}

}  // namespace decoderscope::testing
