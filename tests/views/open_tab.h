#pragma once

#include "tests/catch.h"
#include "tests/views/driver.h"

#include <string_view>

namespace decoderscope::testing {

using namespace decoderscope::views;

// Opens a tab by its key.
inline void open_tab(Driver& d, Key key, std::string_view tab) {
    d.press(key);
    REQUIRE(d.state.tab == tab);
}

}  // namespace decoderscope::testing
