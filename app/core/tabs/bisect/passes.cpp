#include "app/core/tabs/bisect/passes.h"

#include "app/core/run/open_model.h"
#include "app/core/run/passes_of_text.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace decoderscope::core::bisect {

bool calls_model(const trace::TraceCall& call, const trace::Trace& trace) {
    return call.function.empty() && call.module == trace.calls.front().module;
}

namespace {

// "h.0.attn#2/softmax" as it is called in the first pass: "h.0.attn/softmax".
std::string first_name(const std::string& name) {
    const std::size_t number = name.find('#');
    const std::size_t end = name.find_first_not_of("0123456789", number == std::string::npos ? 0 : number + 1);
    if (number == std::string::npos) return name;
    return name.substr(0, number) + (end == std::string::npos ? "" : name.substr(end));
}

// The calls from one on, up to another, as a recording.
trace::Trace recording_of(const trace::Trace& trace, std::size_t begin, std::size_t end) {
    trace::Trace pass;
    pass.path = trace.path;
    pass.files = trace.files;
    pass.origin = trace.origin;
    pass.parameters = trace.parameters;
    pass.hyperparameters = trace.hyperparameters;
    pass.remarks = trace.remarks;
    std::map<std::string, std::string> names;  // of theirs, and here
    std::set<std::string> taken;
    for (std::size_t i = begin; i < end; ++i) {
        trace::TraceCall call = trace.calls[i];
        call.name = first_name(call.name);
        for (auto* side : {&call.in, &call.out})
            for (auto& [port, name] : *side) {
                auto known = names.find(name);
                if (known == names.end()) {
                    const trace::TraceTensor* found = trace.find(name);
                    const std::string plain = first_name(name);
                    const std::string here = taken.contains(plain) ? name : plain;
                    taken.insert(here);
                    known = names.emplace(name, here).first;
                    if (found != nullptr) {
                        pass.tensors.push_back(*found);
                        pass.tensors.back().name = here;
                    }
                }
                name = known->second;
            }
        pass.calls.push_back(std::move(call));
    }
    return pass;
}

// ---- the text so far

// What a call is, as its attention tells beside the first call's, in which each of `first` queries sees as many keys.
enum class Behind { nothing, cache, unclear };
Behind behind(const trace::Trace& first_call, Index first, const trace::Trace& call, Index added) {
    bool same = false, more = false;  // keys than queries
    for (const trace::TraceTensor& tensor : call.tensors) {
        const std::vector<Index>& now = tensor.shape;
        const trace::TraceTensor* then = first_call.find(tensor.name);
        if (now.size() < 3 || then == nullptr || then->shape.size() != now.size() || now[now.size() - 2] != added)
            continue;
        if (then->shape.back() != first || then->shape[now.size() - 2] != first) continue;
        same = same || now.back() == added;
        more = more || now.back() > added;
    }
    // An axis that is as long as the first text by chance stays as long.
    if (more && (!same || added == first)) return Behind::cache;
    return same ? Behind::nothing : Behind::unclear;
}

// Whether positions count the tokens that aren't padding.
bool counts_tokens(const Inputs& text) {
    if (text.attention_mask.empty() || text.attention_mask.size() != text.positions.size()) return false;
    const Tensor counts = counts_of_tokens(text.attention_mask);
    for (Index i = 0; i < counts.size(); ++i)
        if (text.attention_mask.data()[i] != 0.0F && text.positions.data()[i] != counts.data()[i]) return false;
    return true;
}

}  // namespace

std::vector<trace::Trace> recorded_passes(const trace::Trace& trace) {
    std::vector<std::size_t> begins;
    for (std::size_t i = 0; i < trace.calls.size(); ++i)
        if (calls_model(trace.calls[i], trace)) begins.push_back(i);
    if (begins.size() < 2) return {trace};
    begins.push_back(trace.calls.size());
    std::vector<trace::Trace> passes;
    for (std::size_t i = 0; i + 1 < begins.size(); ++i) passes.push_back(recording_of(trace, begins[i], begins[i + 1]));
    return passes;
}

std::optional<TextPart> continued(const TextPart& before, const trace::Trace& pass, const trace::Trace& first,
                                  Index prefilled, const Config& config, bool goes_on) {
    const Inputs& text = before.text;
    const Index kept = text.pos();
    const Inputs given = inputs_of_trace(pass, config, kept);
    if (given.tokens.empty() || text.tokens.empty()) return std::nullopt;
    const Index added = given.pos();
    const Behind found = behind(first, prefilled, pass, added);
    if (found == Behind::nothing && !(goes_on && added < kept))
        return TextPart{inputs_of_trace(pass, config), {0, added}};
    if (found == Behind::unclear || given.batch() != text.batch()) return std::nullopt;
    // What was said of the text before must be said of what is new, too, unless positions count the tokens.
    const bool go_on_counting = given.positions.empty() && !text.positions.empty() && counts_tokens(text);
    if ((given.positions.empty() && !text.positions.empty() && !go_on_counting) ||
        (given.segments.empty() && !text.segments.empty()))
        return std::nullopt;
    TextPart next{{.tokens = core::joined(text.tokens, given.tokens),
                   .memory = text.memory,
                   .encoder_tokens = text.encoder_tokens,
                   .attention_mask = given.attention_mask,
                   .encoder_attention_mask = text.encoder_attention_mask},
                  {kept, added}};
    Tensor& mask = next.text.attention_mask;  // of all keys, of the new ones, or absent
    const auto all_kept = [&](Index count) {
        Tensor ones({{axis::batch, text.batch()}, {axis::pos, count}});
        std::ranges::fill(ones.writable(), 1.0F);
        return ones;
    };
    if (mask.empty() && !text.attention_mask.empty())
        mask = core::joined(text.attention_mask, all_kept(added));
    else if (!mask.empty() && mask.dim(1) == added)
        mask = core::joined(text.attention_mask.empty() ? all_kept(kept) : text.attention_mask, mask);
    if (go_on_counting)
        next.text.positions = counts_of_tokens(mask);
    else if (!given.positions.empty())
        next.text.positions = core::joined(numbers_of_positions(text, config, 0), given.positions);
    if (!text.segments.empty()) next.text.segments = core::joined(text.segments, given.segments);
    return next;
}

}  // namespace decoderscope::core::bisect
