#include "app/core/generate/passes.h"

#include "app/core/generate/generator.h"
#include "app/core/generate/sampling.h"
#include "app/core/run/passes_of_text.h"
#include "engine/base/error.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace decoderscope::core::generate {

namespace {

void check_request(const Scenario& scenario, const PassesRequest& request) {
    if (const Sentence obstacle = generation_obstacle(scenario); !obstacle.empty()) throw Error(obstacle);
    if (request.count < 1) throw Error("{count} tokens: expected at least 1", {{"count", request.count}});
    const Index length = scenario.inputs.pos();
    const Index chunked = std::accumulate(request.chunks.begin(), request.chunks.end(), Index{0});
    const bool positive = std::ranges::all_of(request.chunks, [](Index chunk) { return chunk > 0; });
    if (!positive || chunked > length)
        throw Error(
            "chunks: {chunked} positions in {count} chunks, expected positive numbers up to the {length} of the text",
            {{"chunked", chunked}, {"count", request.chunks.size()}, {"length", length}});
}

// The most probable token after each row, from the logits of the pass that computed its last position.
std::vector<Index> next_tokens(const Inputs& inputs, std::span<const Pass> passes) {
    std::vector<Index> tokens;
    for (Index row = 0; row < inputs.batch(); ++row) {
        const Index last = row_length(inputs, row) - 1;
        auto pass = passes.rbegin();
        while (pass->part.first > last) ++pass;
        const Tensor& logits = pass->run->value("logits");  // [batch, pos, vocab]
        const std::optional<Index> token = greedy_token(logits.row({row, last - pass->part.first, 0}));
        if (!token)
            throw Error("logits: NaN or ∞ in batch row {row} at position {last}, expected numbers",
                        {{"row", row}, {"last", last}});
        tokens.push_back(*token);
    }
    return tokens;
}

}  // namespace

Resumable<Passes> passes_of(Scenario scenario, PassesRequest request) {
    check_request(scenario, request);
    Passes passes;
    decoder::Past past;
    std::size_t chunk = 0;
    for (Index added = 0; added < request.count;) {
        const Index length = scenario.inputs.pos();
        if (!decoder::can_continue(past, scenario.config(), length - past.positions)) past = {};
        const Index left = length - past.positions;
        Pass pass{{past.positions, chunk < request.chunks.size() ? request.chunks[chunk++] : left}, past, nullptr};
        const bool last_of_text = pass.part.first + pass.part.count == length;
        const std::shared_ptr<const Plan> plan =
            plan_of_part(scenario, pass.part, past.positions > 0 ? &past : nullptr);
        pass.run = co_await execute_in_slices(plan, {.asked = request.asked});
        past = decoder::past_of(*pass.run);
        passes.all.push_back(std::move(pass));
        if (!last_of_text) continue;
        scenario.inputs = with_tokens(scenario.inputs, next_tokens(scenario.inputs, passes.all));
        ++added;
    }
    passes.tokens = scenario.inputs.tokens;
    co_return passes;
}

NamedTensors tensors_of(const Passes& passes) {
    NamedTensors tensors;
    for (std::size_t i = 0; i < passes.all.size(); ++i) {
        const Pass& pass = passes.all[i];
        const std::string at = "pass." + std::to_string(i) + "/";
        for (const auto& [name, tensor] : recorded_tensors(*pass.run)) tensors.emplace_back(at + name, tensor);
        for (const auto& [attention, kept] : pass.before.attentions)
            for (const auto& [rows, tensor] : kept.named())
                tensors.emplace_back(at + "cache/" + attention + "." + std::string(rows), tensor);
    }
    tensors.emplace_back("tokens", passes.tokens);
    return tensors;
}

}  // namespace decoderscope::core::generate
