#include "engine/base/error.h"

namespace decoderscope {

Error::Error(Sentence sentence)
    : std::runtime_error(sentence.english()), sentence_(std::make_shared<const Sentence>(std::move(sentence))) {}

Error::Error(Phrase phrase, Arguments arguments) : Error(Sentence(phrase, std::move(arguments))) {}

Sentence sentence_of(const std::exception& thrown) {
    const auto* error = dynamic_cast<const Error*>(&thrown);
    return error != nullptr ? error->sentence() : Sentence::verbatim(thrown.what());
}

}  // namespace decoderscope
