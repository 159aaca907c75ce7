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

// Runs `work`; an Error out of it gets the name of the file (or whatever else) that it is about put in front.
template <class Work>
auto naming(const std::string& what, Work work) {
    try {
        return work();
    } catch (const Error& error) {
        throw Error(what + ": " + error.what());
    }
}

}  // namespace decoderscope
