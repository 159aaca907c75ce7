#include "app/core/text/labels.h"

#include "app/core/text/utf8.h"

namespace decoderscope {

namespace {

// The sequence that an axis runs over: the target's tokens, the source's, or neither.
enum class Sequence { none, target, source };

Sequence sequence_of(const Step& step, std::string_view axis) {
    if (axis == axis::src) return Sequence::source;
    if (axis == axis::pos || axis == axis::query) return step.in_encoder() ? Sequence::source : Sequence::target;
    if (axis == axis::key)
        return step.in_encoder() || step.part == Part::cross_attention ? Sequence::source : Sequence::target;
    return Sequence::none;
}

}  // namespace

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

std::vector<std::string> axis_labels(const Scenario& scenario, const Step& step, std::size_t axis, Index batch) {
    const Axis& along = step.axes[axis];
    const Sequence sequence = sequence_of(step, along.name);
    const Tensor& tokens = sequence == Sequence::source ? scenario.inputs.encoder_tokens : scenario.inputs.tokens;
    const Model& model = *scenario.model();
    const Tokenizer& tokenizer = sequence == Sequence::source ? model.encoder_tokenizer : model.tokenizer;
    // In [batch, pos] every row has its own tokens.
    const bool one_row = step.axes.size() != 2 || step.axes[0].name != axis::batch;
    const bool named = sequence != Sequence::none && one_row && !tokens.empty() && tokens.dim(1) == along.size &&
                       batch < tokens.dim(0);
    std::vector<std::string> labels;
    for (Index i = 0; i < along.size; ++i) {
        const Cell token = {batch, i};
        labels.push_back(named ? printable(tokenizer.piece(static_cast<Index>(tokens.at(token)))) : std::to_string(i));
    }
    return labels;
}

}  // namespace decoderscope
