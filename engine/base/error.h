#pragma once

#include "engine/base/message.h"

#include <exception>
#include <stdexcept>
#include <string>

namespace decoderscope {

// The user's input cannot be used. The message is one sentence that names the file, the key or the tensor, and says
// what was expected. The command line prints it in English, what(); the window translates the sentence when showing it,
// and keeps its current state.
class Error : public std::runtime_error {
public:
    explicit Error(Sentence sentence);
    explicit Error(Phrase phrase, Arguments arguments = {});

    [[nodiscard]] const Sentence& sentence() const { return *sentence_; }

private:
    std::shared_ptr<const Sentence> sentence_;  // a copy of an exception must not throw
};

// Runs `work`; prefixes any Error it throws with `where`, the name of the file (or other thing) concerned.
template <class Work>
auto naming(const Sentence& where, Work work) {
    try {
        return work();
    } catch (const Error& error) {
        throw Error("{where}: {error}", {{"where", where}, {"error", error.sentence()}});
    }
}
template <class Work>
auto naming(const std::string& where, Work work) {
    return naming(Sentence::verbatim(where), work);
}

// The message of any exception: our own sentence, or one that quotes a library's text.
[[nodiscard]] Sentence sentence_of(const std::exception& thrown);
// As above, of the exception that is being handled; call it in a catch block.
[[nodiscard]] Sentence sentence_of_current();

}  // namespace decoderscope
