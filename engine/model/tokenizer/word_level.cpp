#include "engine/model/tokenizer/word_level.h"

#include "engine/error.h"

namespace decoderscope {

void WordLevel::encode(std::string_view word, std::vector<Index>& ids) const {
    auto found = ids_.find(word);
    if (found == ids_.end()) found = ids_.find(unknown_);
    if (found == ids_.end()) throw Error("the vocabulary has no token for \"{character}\"", {{"character", word}});
    ids.push_back(found->second);
}

}  // namespace decoderscope
