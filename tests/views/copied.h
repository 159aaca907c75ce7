#pragma once

#include "app/views/widgets/imgui_compat.h"

#include <string>

namespace decoderscope::testing {

using namespace decoderscope::views;

// A private clipboard.
class Copied : public compat::Clipboard {
public:
    const char* text() override { return text_.c_str(); }
    void set_text(const char* text) override { text_ = text; }

private:
    std::string text_;
};

}  // namespace decoderscope::testing
