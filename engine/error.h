#pragma once

#include <stdexcept>
#include <string>

namespace decoderscope {

// What the person gave cannot be used. The message is one sentence that names the file, the key or the tensor, and says
// what was expected; the command line prints it as it stands, the window shows it and keeps what it had. It is one
// line, and not a long one, whatever names and values from a file it quotes.
class Error : public std::runtime_error {
public:
    explicit Error(const std::string& message);
};

}  // namespace decoderscope
