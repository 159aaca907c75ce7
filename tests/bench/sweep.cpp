// What sweeps cost, in plain forward passes of GPT-2-small with random weights.
#include "app/core/sweep/sweep.h"
#include "engine/decoder/initial_weights.h"
#include "engine/tensor/tensor.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

using namespace decoderscope;
using namespace decoderscope::core;

namespace {

Scenario gpt2_small(Index positions) {
    auto model = std::make_shared<load::Model>();
    model->config_json = R"({"model_type": "decoderscope", "d_model": 768, "nhead": 12, "num_layers": 12,
        "dim_feedforward": 3072, "norm_first": true, "final_norm": true, "activation": "gelu_tanh", "vocab_size": 50257,
        "positional_encoding": "learned", "max_positions": 1024, "lm_head": true, "tie_word_embeddings": true})";
    model->weights = decoder::initial_weights(model->config(), 0);
    Tensor tokens({{axis::batch, 1}, {axis::pos, positions}});
    Index next = 0;
    for (float& token : tokens.writable()) token = static_cast<float>(next++ * 389 % 50257);
    model->example.tokens = std::move(tokens);
    return scenario_of(std::shared_ptr<const load::Model>(std::move(model)));
}

template <class Work>
double milliseconds(const Work& work) {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point start = Clock::now();
    work();
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

}  // namespace

int main(int count, char** values) {
    const Scenario scenario = gpt2_small(count > 1 ? std::atoi(values[1]) : 128);
    std::shared_ptr<const Run> run = execute(plan_of(scenario));
    double pass = 1e9;
    for (int i = 0; i < 3; ++i) pass = std::min(pass, milliseconds([&] { run = execute(plan_of(scenario)); }));
    std::printf("a plain pass: %.0f ms\n", pass);
    struct Case {
        const char *what, *row;
    };
    const std::string last = std::to_string(scenario.inputs.tokens.dim(1) - 1);
    const std::string cell = "blocks.11.attn.z[0, 3, " + last + ", 5]=-1..1:100",
                      one = "exp(logits[0, " + last + ", 5] / temperature) / sum_v exp(logits[0, " + last +
                            ", v] / temperature)",
                      whole = "l[p] = log(sum_v exp(logits[0, p, v] / temperature))",
                      update = "mean(blocks.11.mlp_out ** 2)";
    for (const auto& [what, row] :
         {Case{cell.c_str(), update.c_str()}, Case{cell.c_str(), "logits[0, 5, 7]"},
          Case{"blocks.11.attn.head.3=0..2:100", update.c_str()},
          Case{"blocks.11.attn.head.3=0..2:100", "logits[0, 5, 7]"}, Case{"each head of blocks.11", update.c_str()},
          Case{"temperature=0.1..4.1:41", one.c_str()}, Case{"temperature=0.1..4.1:41", whole.c_str()}})
        for (const bool predictions : {false, true}) {
            sweep::Unswept unswept{scenario, run, {}};
            unswept.row = sweep::row_from(row, run->plan());
            const sweep::Points points = sweep::points_of(what, unswept);
            const double time =
                milliseconds([&] { static_cast<void>(finished(sweep::swept(unswept, points, {predictions}))); });
            std::printf("%-45s × %-55s %s: %4zu runs, %6.0f ms, %6.2f passes\n", what, row,
                        predictions ? "with predictions" : "value alone     ", points.count, time, time / pass);
            std::fflush(stdout);
        }
}
