// What sweeps cost, in plain forward passes of GPT-2-small with random weights, and what a keystroke in a formula
// costs.
#include "app/core/ask/measure.h"
#include "app/core/sheet/draft.h"
#include "engine/decoder/initial_weights.h"
#include "engine/load/bundled_models.h"
#include "engine/tensor/tensor.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

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

// Formulas typed letter by letter on `reverse`: each letter reads the text anew, and computes what it can.
void time_keystrokes() {
    const Scenario scenario = scenario_of(load::make_bundled_model("reverse"));
    const auto run = execute(plan_of(scenario));
    const Snapshot shown{.scenario = scenario, .run = run, .unedited = run, .early = nullptr};
    std::vector<double> times;
    double slowest = 0.0;
    std::string slowest_text;
    for (const std::string formula :
         {"−Σ_k pattern[b, h, q, k] · log(pattern[b, h, q, k])", "softmax(q @ k.mT / sqrt(d_head), -1)",
          "(pattern - base.pattern).abs().sum(-1)", "y[b, p] = max_v softmax_v(logits[b, p, v])"})
        for (std::size_t letters = 1; letters <= formula.size(); ++letters) {
            const bool cuts_a_character = letters < formula.size() && (formula[letters] & 0xC0) == 0x80;
            if (cuts_a_character) continue;
            Derived derived;
            core::sheet::Draft draft = core::sheet::new_row(shown, *run->plan().find("blocks.1.attn.pattern"));
            draft.formula = formula.substr(0, letters);
            const double time =
                milliseconds([&] { static_cast<void>(core::sheet::outcome_of(derived, shown, draft)); });
            times.push_back(time);
            if (time > slowest) slowest_text = draft.formula;
            slowest = std::max(slowest, time);
        }
    std::ranges::sort(times);
    std::printf("a keystroke on reverse: median %.1f ms, slowest %.1f ms (%s)\n", times[times.size() / 2], slowest,
                slowest_text.c_str());
}

}  // namespace

int main(int count, char** values) {
    time_keystrokes();
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
            ask::Unswept unswept{scenario, run, {}};
            unswept.row = ask::row_from(row, run->plan());
            const ask::Points points = ask::points_of(what, unswept);
            const ask::SweepOptions options{.output =
                                                predictions ? ask::OfOutput::predictions : ask::OfOutput::nothing};
            const double time =
                milliseconds([&] { static_cast<void>(finished(ask::swept(unswept, points, options))); });
            std::printf("%-45s × %-55s %s: %4zu runs, %6.0f ms, %6.2f passes\n", what, row,
                        predictions ? "with predictions" : "value alone     ", points.count, time, time / pass);
            std::fflush(stdout);
        }
}
