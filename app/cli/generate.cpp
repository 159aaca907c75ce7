#include "app/cli/commands.h"
#include "app/core/generate/generator.h"
#include "app/core/text/characters.h"
#include "engine/base/error.h"
#include "engine/base/json.h"

#include <ostream>

namespace decoderscope::cli {

namespace {

struct GenerateOptions {
    int length = 32;
    core::generate::Sampling sampling = {.temperature = 0.0};
    bool full_passes = false, json = false;
};

std::string written(const core::Scenario& scenario, const std::vector<Index>& tokens) {
    if (scenario.tokenizer().size() > 0) return scenario.tokenizer().decode(tokens);
    std::string ids;
    for (const Index token : tokens) ids += (ids.empty() ? "" : " ") + std::to_string(token);
    return ids;
}

// Continues every row of the batch separately.
void generate(const RunOptions& options, const GenerateOptions& wanted, std::ostream& out) {
    const core::Scenario scenario = scenario_of(options);
    static_cast<void>(plan_naming_files(scenario, options));
    naming(options.model, [&] {
        if (const Sentence obstacle = core::generate::generation_obstacle(scenario); !obstacle.empty())
            throw Error(obstacle);
    });
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (Index row = 0; row < scenario.batch(); ++row) {
        core::generate::Generator generator(scenario, row, wanted.sampling, !wanted.full_passes);
        const std::vector<Index> prompt = generator.tokens();
        for (int i = 0; i < wanted.length && generator.next(); ++i) {
        }
        const std::vector<Index> tokens = generator.tokens();
        const std::string text = written(scenario, tokens);
        if (!wanted.json) {
            out << text << '\n';
            continue;
        }
        rows.push_back({{"prompt", prompt},
                        {"generated",
                         std::vector<Index>(tokens.begin() + static_cast<std::ptrdiff_t>(prompt.size()), tokens.end())},
                        {"text", core::valid_utf8(text)},
                        {"computed_positions", generator.computed_positions()}});
    }
    if (wanted.json) out << nlohmann::ordered_json{{"rows", rows}}.dump() << '\n';
}

}  // namespace

void add_generate(CLI::App& app, const Context& context) {
    const auto wanted = std::make_shared<GenerateOptions>();
    CLI::App& command = add_running(app, context, "generate", "Continue a text using the KV cache");
    command.add_option("--length", wanted->length, "how many tokens at most (32)")->check(CLI::Range(0, 1'000'000));
    command.add_option("--temperature", wanted->sampling.temperature,
                       "divides the logits; 0, the default, always takes the most probable token");
    command.add_option("--top-k", wanted->sampling.top_k, "keeps this many of the most probable tokens; 0: all");
    command.add_option("--top-p", wanted->sampling.top_p, "keeps the fewest tokens whose probabilities reach this sum");
    command.add_option("--seed", wanted->sampling.seed, "the same seed draws the same tokens again (0)");
    command.add_flag("--no-cache", wanted->full_passes, "recompute the whole text for every token");
    command.add_flag("--json", wanted->json, "print prompt, generated ids and text as JSON");
    command.callback(
        [context, wanted] { context.work = [context, wanted] { generate(context.run, *wanted, context.out); }; });
}

}  // namespace decoderscope::cli
