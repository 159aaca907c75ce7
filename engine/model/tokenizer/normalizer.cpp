#include "engine/model/tokenizer/normalizer.h"

#include "engine/model/tokenizer/steps.h"

namespace decoderscope {

namespace {

NormalizerStep read_normalizer_step(const std::string& type, JsonObject& json) {
    if (const auto form = UnicodeForm::named(type)) return *form;
    if (type == "Precompiled") return PrecompiledMap::read(json);
    if (type == "Replace") return ReplaceText::read(json);
    if (type == "Prepend") return PrependText::read(json);
    if (type == "Strip") return StripSpaces::read(json);
    unknown_type(json, type);
}

}  // namespace

Normalizer read_normalizer(const nlohmann::json& json, const std::string& where) {
    return read_steps<NormalizerStep>(json, where, "normalizers", read_normalizer_step);
}

void normalize(const Normalizer& normalizer, Stretch& stretch) {
    for (const NormalizerStep& step : normalizer) std::visit([&](const auto& one) { one(stretch); }, step);
}

}  // namespace decoderscope
