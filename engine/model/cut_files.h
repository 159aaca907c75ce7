#pragma once

#include <memory>
#include <span>
#include <string>

namespace decoderscope {

// From now on, for as long as what is returned is there, touching bytes of this mapping that its file no longer has
// ends the program with one sentence on standard error that names the file, and status 1, instead of a bus error.
//
// A signal knows nobody, so what is watched is the one thing in the engine that belongs to no object.
[[nodiscard]] std::shared_ptr<const void> watch_for_cuts(const std::string& path, std::span<const char> mapping);

}  // namespace decoderscope
