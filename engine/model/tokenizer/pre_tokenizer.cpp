#include "engine/model/tokenizer/pre_tokenizer.h"

#include "engine/model/tokenizer/steps.h"

#include <iterator>

namespace decoderscope {

namespace {

PreTokenizerStep read_pre_tokenizer_step(const std::string& type, JsonObject& json) {
    if (type == "ByteLevel") return ByteLevel::read(json);
    if (type == "Split") return SplitAtPattern::read(json);
    if (type == "Metaspace") return Metaspace::read(json);
    if (type == "WhitespaceSplit") return SplitAtSpaces();
    if (type == "Whitespace") return SplitWordsAndSigns();
    if (type == "Digits") return SplitNumbers::read(json);
    if (type == "Punctuation") return SplitPunctuation::read(json);
    unknown_type(json, type);
}

}  // namespace

PreTokenizer read_pre_tokenizer(const nlohmann::json& json, const std::string& where) {
    return read_steps<PreTokenizerStep>(json, where, "pretokenizers", read_pre_tokenizer_step);
}

Stretches pre_tokenized(const PreTokenizer& steps, Stretch stretch) {
    Stretches stretches = {std::move(stretch)};
    for (const PreTokenizerStep& step : steps) {
        Stretches next;
        for (const Stretch& one : stretches) {
            Stretches cut = std::visit([&](const auto& cutting) { return cutting(one); }, step);
            std::move(cut.begin(), cut.end(), std::back_inserter(next));
        }
        stretches = std::move(next);
    }
    return stretches;
}

}  // namespace decoderscope
