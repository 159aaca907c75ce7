#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

namespace decoderscope::trace {

// The bytes that a zip's entry was deflated from, `size` of them. Throws Error if they are others or damaged.
[[nodiscard]] std::shared_ptr<const char> inflated(std::string_view packed, std::size_t size);

}  // namespace decoderscope::trace
