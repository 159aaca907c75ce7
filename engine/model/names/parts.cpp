#include "engine/model/names/parts.h"

#include <algorithm>
#include <utility>

namespace decoderscope::names {

std::string Context::ask(Question question) {
    const std::string key = question.key;
    const auto answered = std::ranges::find_if(answers, [&](const auto& answer) { return answer.first == key; });
    const std::string answer = answered != answers.end() ? answered->second : question.proposal;
    if (!is_asked(key)) questions.push_back(std::move(question));
    return answer;
}

bool Context::is_asked(std::string_view key) const {
    return std::ranges::any_of(questions, [&](const Question& question) { return question.key == key; });
}

bool names_norm(const Words& words) { return any_has(words, {"norm"}) || any_is(words, {"ln", "rms", "lnorm"}); }

bool names_attention(const Words& words) {
    return any_has(words, {"attn", "attention", "atten"}) || any_is(words, {"att", "sa", "ca", "mha", "mhsa", "mmha"});
}

bool names_encoder(const Words& words) {
    return any_is(words,
                  {"encoder", "enc", "src", "source", "cross", "mem", "memory", "encdec", "inter", "ca", "context"});
}

bool names_decoder(const Words& words) { return any_is(words, {"decoder", "dec", "tgt", "trg", "target"}); }

bool names_feed_forward(const Words& words) {
    return any_is(words, {"ff", "ffn", "mlp", "ffw", "ffwd", "fc", "feed", "forward", "feedforward"}) ||
           any_has(words, {"feedforward"});
}

}  // namespace decoderscope::names
