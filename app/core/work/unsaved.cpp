#include "app/core/work/unsaved.h"

#include <algorithm>
#include <cstring>

namespace decoderscope {

namespace {

bool same(const Tensor& a, const Tensor& b) {
    if (a.empty() || b.empty()) return a.empty() && b.empty();
    if (a.axes() != b.axes()) return false;
    return a.shares_values_with(b) ||
           std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.size()) * sizeof(float)) == 0;
}

bool same(const Inputs& a, const Inputs& b) {
    return same(a.tokens, b.tokens) && same(a.x, b.x) && same(a.memory, b.memory) &&
           same(a.encoder_tokens, b.encoder_tokens) && same(a.attention_mask, b.attention_mask) &&
           same(a.encoder_attention_mask, b.encoder_attention_mask) && same(a.custom_mask, b.custom_mask);
}

bool same_settings(const Scenario& a, const Scenario& b) {
    return a.model() == b.model() && a.config() == b.config() && a.dropout_seed == b.dropout_seed &&
           a.gradients_of == b.gradients_of && a.mutation == b.mutation && a.recording == b.recording;
}

}  // namespace

std::vector<WorkPart> changed_parts(const WorkMark& before, const WorkMark& now) {
    std::vector<WorkPart> changed;
    const auto note = [&](WorkPart part, bool is_same) {
        if (!is_same) changed.push_back(part);
    };
    note(WorkPart::edits, before.scenario.edits == now.scenario.edits);
    note(WorkPart::input, same(before.scenario.inputs, now.scenario.inputs));
    note(WorkPart::settings, same_settings(before.scenario, now.scenario));
    note(WorkPart::sampling, before.sampling == now.sampling);
    note(WorkPart::pin, before.pinned == now.pinned);
    return changed;
}

}  // namespace decoderscope
