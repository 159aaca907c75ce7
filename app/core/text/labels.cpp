#include "app/core/text/labels.h"

#include "app/core/text/token_text.h"

namespace decoderscope {

std::string attention_beside(const Step& step) {
    return step.attention.empty() && !step.block.empty() ? step.block + ".attn" : step.attention;
}

Index block_number(const Step& step) { return step.is_source() ? -1 : step.layer; }

std::string name_in_block(const Step& step, Index block) {
    if (block_number(step) < 0) return {};
    return step.block.substr(0, step.block.rfind('.') + 1) + std::to_string(block) +
           step.name.substr(step.block.size());
}

std::string cell_name(const std::string& tensor, const Cell& cell) {
    std::string index;
    for (const Index i : cell) index += (index.empty() ? "" : ", ") + std::to_string(i);
    return tensor + "[" + index + "]";
}

TokenSequence sequence_along(const Step& step, std::size_t axis) {
    const std::string_view name = step.axes[axis].name;
    const TokenSequence own = step.in_encoder() ? TokenSequence::source : TokenSequence::target;
    if (name == axis::src) return TokenSequence::source;
    if (name == axis::pos || name == axis::query) return own;
    if (name == axis::key) return step.part == Part::cross_attention ? TokenSequence::source : own;
    return TokenSequence::none;
}

namespace {

std::vector<std::string> vocabulary_labels(const Tokenizer& tokenizer, Index size) {
    std::vector<std::string> labels;
    labels.reserve(static_cast<std::size_t>(size));
    for (Index id = 0; id < size; ++id) labels.push_back(token_text(tokenizer, id));
    return labels;
}

}  // namespace

std::vector<std::string> axis_labels(const Scenario& scenario, const Step& step, std::size_t axis, Index batch) {
    const Axis& along = step.axes[axis];
    const TokenSequence sequence = sequence_along(step, axis);
    const bool in_source = sequence == TokenSequence::source || (along.name == axis::vocab && step.in_encoder());
    const Tensor& tokens = sequence == TokenSequence::source ? scenario.inputs.encoder_tokens : scenario.inputs.tokens;
    const Model& model = *scenario.model();
    const Tokenizer& tokenizer = in_source ? model.encoder_tokenizer : model.tokenizer;
    if (along.name == axis::vocab) return vocabulary_labels(tokenizer, along.size);
    // In [batch, pos] every row has its own tokens.
    const bool one_row = step.axes.size() != 2 || step.axes[0].name != axis::batch;
    const bool named = sequence != TokenSequence::none && one_row && !tokens.empty() && tokens.dim(1) == along.size &&
                       batch < tokens.dim(0);
    std::vector<std::string> labels;
    for (Index i = 0; i < along.size; ++i) {
        const Cell token = {batch, i};
        labels.push_back(named ? token_text(tokenizer, static_cast<Index>(tokens.at(token))) : std::to_string(i));
    }
    return labels;
}

}  // namespace decoderscope
