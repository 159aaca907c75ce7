#pragma once

#include "engine/message.h"

#include <stdexcept>
#include <string>

namespace decoderscope {

// What the person gave cannot be used. The message is one sentence that names the file, the key or the tensor, and says
// what was expected. The command line prints it in English, what(); the window translates the sentence where it shows
// it, and keeps what it had.
class Error : public std::runtime_error {
public:
    explicit Error(Sentence sentence);
    explicit Error(Phrase phrase, Arguments arguments = {});

    [[nodiscard]] const Sentence& sentence() const { return *sentence_; }

private:
    std::shared_ptr<const Sentence> sentence_;  // a copy of an exception must not throw
};

// Runs `work`; an Error out of it gets the name of the file (or whatever else) that it is about put in front.
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

// What went wrong, whatever was thrown: a sentence of ours, or what a library said.
[[nodiscard]] Sentence sentence_of(const std::exception& thrown);

}  // namespace decoderscope
