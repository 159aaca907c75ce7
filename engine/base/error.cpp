#include "engine/base/error.h"

#include <new>

namespace decoderscope {

Error::Error(Sentence sentence)
    : std::runtime_error(sentence.english()), sentence_(std::make_shared<const Sentence>(std::move(sentence))) {}

Error::Error(Phrase phrase, Arguments arguments) : Error(Sentence(phrase, std::move(arguments))) {}

Sentence sentence_of(const std::exception& thrown) {
    const auto* error = dynamic_cast<const Error*>(&thrown);
    if (error != nullptr) return error->sentence();
    if (dynamic_cast<const std::bad_alloc*>(&thrown) != nullptr)
        return message("this does not fit into the machine's memory");
    return message("unexpected error: {what}", {{"what", thrown.what()}});
}

Sentence sentence_of_current() {
    try {
        throw;
    } catch (const std::exception& thrown) {
        return sentence_of(thrown);
    } catch (...) {
        return message("unexpected error");
    }
}

}  // namespace decoderscope
