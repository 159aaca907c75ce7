// A page's links lead to itself.
#include "app/link_base.h"

#include <emscripten/em_js.h>
#include <emscripten/em_macros.h>

#include <cstdlib>
#include <memory>

// clang-format off
EM_JS_DEPS(decoderscope_link_base, "$stringToNewUTF8");
EM_JS(char*, page_address, (), { return stringToNewUTF8(location.origin + location.pathname); });
// clang-format on

namespace decoderscope {

LinkBase link_base(const Settings&) {
    static const std::string address = [] {
        const std::unique_ptr<char, decltype(&std::free)> text(page_address(), std::free);
        return std::string(text.get());
    }();
    return {address, false};
}

}  // namespace decoderscope
