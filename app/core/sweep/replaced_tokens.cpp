#include "app/core/sweep/replaced_tokens.h"

#include "app/core/run/passes_of_text.h"
#include "engine/tensor/tensor.h"

#include <algorithm>
#include <string>

namespace decoderscope::core::sweep {

namespace {

const char* input_of(bool source) { return source ? "encoder_tokens" : "tokens"; }

// Up to `count` ordinary tokens other than this one.
std::vector<Index> others(const tokenizer::Tokenizer& tokenizer, Index token, Index vocabulary, Index count) {
    std::vector<Index> found;
    for (Index i = 0; i < count; ++i) {
        Index other = (token + 1 + i * std::max<Index>(1, vocabulary / count)) % vocabulary;
        for (Index step = 0; step < vocabulary && (other == token || !is_ordinary(tokenizer, other)); ++step)
            other = (other + 1) % vocabulary;
        if (other != token && std::ranges::find(found, other) == found.end()) found.push_back(other);
    }
    return found;
}

}  // namespace

bool is_ordinary(const tokenizer::Tokenizer& tokenizer, Index token) {
    const tokenizer::SpecialTokens special = tokenizer.special();
    return token != special.pad && token != special.beginning && !special.ends_at(token);
}

std::vector<ReplacedToken> replaced_tokens(const Scenario& scenario, const Run& run, TokenSequence sequence,
                                           Index each) {
    const bool source = sequence == TokenSequence::source;
    const Ref step = run.plan().find(input_of(source));
    if (step == nullptr || step->role != Role::input) return {};
    const tokenizer::Tokenizer& tokenizer = source ? scenario.encoder_tokenizer() : scenario.tokenizer();
    const Index vocabulary = source ? scenario.config().encoder_vocab_size : scenario.config().vocab_size;
    const Tensor mask = source ? scenario.inputs.encoder_attention_mask : padding_of(scenario);
    const Tensor& tokens = run.value(step->id);  // [batch, pos]
    std::vector<ReplacedToken> all;
    for (Index batch = 0; batch < tokens.dim(0); ++batch)
        for (Index position = 0; position < tokens.dim(1); ++position) {
            if (is_padding(mask, batch, position)) continue;
            const auto before = static_cast<Index>(tokens.at(Cell{batch, position}));
            for (const Index after : others(tokenizer, before, vocabulary, each))
                all.push_back({source, batch, position, before, after});
        }
    return all;
}

SetCell edit_of(const ReplacedToken& replaced) {
    return {input_of(replaced.in_source), {replaced.batch, replaced.position}, static_cast<float>(replaced.after)};
}

}  // namespace decoderscope::core::sweep
