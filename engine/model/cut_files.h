#pragma once

#include <memory>
#include <span>
#include <string>

namespace decoderscope {

// As long as the returned pointer is held, touching bytes of this mapping that its file no longer has ends the program
// with one sentence on standard error that names the file, and status 1, instead of a bus error.
//
// A signal handler has no context, so the list of watched mappings is global.
[[nodiscard]] std::shared_ptr<const void> watch_for_cuts(const std::string& path, std::span<const char> mapping);

}  // namespace decoderscope
