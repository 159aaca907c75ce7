#include "app/cli/commands.h"
#include "app/core/generate/beams.h"
#include "app/core/generate/generator.h"
#include "app/core/generate/shown_generation.h"
#include "app/core/generate/speculative.h"
#include "app/core/run/typed_inputs.h"
#include "app/core/text/characters.h"
#include "app/core/text/numbers.h"
#include "engine/base/error.h"
#include "engine/base/json.h"

#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

namespace decoderscope::cli {

namespace {

struct GenerateOptions {
    Index length = 32;
    core::generate::Sampling sampling = {.temperature = 0.0};
    core::generate::BeamSearch beams = {.beams = 0};  // 0: no beam search
    RunOptions draft;                                 // a model that drafts; none if it has no name
    Index draft_blocks = 0;                           // the model's own first blocks draft; 0: they don't
    Index drafted = 4;
    bool full_passes = false, json = false;
};

std::string written(const core::Scenario& scenario, const std::vector<Index>& tokens) {
    if (scenario.tokenizer().size() > 0) return scenario.tokenizer().decode(tokens);
    std::string ids;
    for (const Index token : tokens) ids += (ids.empty() ? "" : " ") + std::to_string(token);
    return ids;
}

// A row from its beginning, with the sign between its documents that stands there where they are typed. What is added
// belongs to the last.
std::string written_row(const core::Scenario& scenario, Index row, const std::vector<Index>& tokens) {
    const Tensor& segments = scenario.inputs.segments;  // [batch, pos]
    const Index known = segments.empty() ? 0 : std::min(segments.dim(1), static_cast<Index>(tokens.size()));
    std::string text;
    auto begin = tokens.begin();
    for (Index i = 1; i < known; ++i) {
        if (segments.at(Cell{row, i}) == segments.at(Cell{row, i - 1})) continue;
        text += written(scenario, {begin, tokens.begin() + i}) + std::string(core::kTypedDocument);
        begin = tokens.begin() + i;
    }
    return text + written(scenario, {begin, tokens.end()});
}

OrderedJson json_of(const core::Scenario& scenario, const core::generate::BeamTree& tree, std::size_t node) {
    const std::vector<Index> tokens = tree.tokens(node);
    return {{"generated", tokens},
            {"text", core::valid_utf8(written(scenario, tokens))},
            {"score", tree.score(node)},
            {"sum", tree.nodes[node].sum},
            {"ended", tree.nodes[node].ended}};
}

OrderedJson json_of(const core::generate::BeamNode& node) {
    OrderedJson json = {{"token", node.token}, {"depth", node.depth},     {"log_prob", node.log_prob},
                        {"sum", node.sum},     {"goes_on", node.goes_on}, {"ended", node.ended}};
    json["parent"] = node.parent ? OrderedJson(*node.parent) : OrderedJson();
    return json;
}

// The texts that beam search finds for every row, the best first.
void search_beams(const core::Scenario& scenario, const GenerateOptions& wanted, std::ostream& out) {
    core::generate::BeamSearch search = wanted.beams;
    search.length = wanted.length;
    OrderedJson rows = OrderedJson::array();
    for (Index row = 0; row < scenario.batch(); ++row) {
        const core::generate::BeamTree tree = core::finished(core::generate::beam_tree(scenario, row, search));
        OrderedJson texts = OrderedJson::array(), nodes = OrderedJson::array();
        for (const std::size_t node : tree.finished) {
            if (!wanted.json)
                out << core::short_number_text(tree.score(node), 4) << '\t' << written(scenario, tree.tokens(node))
                    << '\n';
            texts.push_back(json_of(scenario, tree, node));
        }
        for (const core::generate::BeamNode& node : tree.nodes) nodes.push_back(json_of(node));
        rows.push_back(
            {{"prompt", core::generate::row_tokens(scenario.inputs, row)}, {"texts", texts}, {"nodes", nodes}});
    }
    if (wanted.json) out << OrderedJson{{"rows", rows}}.dump() << '\n';
}

OrderedJson json_of(const core::generate::SpeculatedRound& round) {
    OrderedJson json = {{"drafted", OrderedJson::array()}, {"accepted", round.accepted}};
    for (std::size_t i = 0; i < round.drafted.size(); ++i) {
        const core::generate::DraftedToken& one = round.drafted[i];
        OrderedJson token = {{"token", one.token}, {"q", one.of_draft}};
        if (i <= round.accepted) {
            token["p"] = one.of_model;
            token["number"] = one.number;
            token["accepted"] = one.accepted;
        }
        json["drafted"].push_back(std::move(token));
    }
    if (round.then) json["then"] = {{"token", *round.then}, {"p", round.of_model}};
    return json;
}

// What a draft proposes after every row, and what the model makes of it.
void speculate(const core::Scenario& scenario, const GenerateOptions& wanted, std::ostream& out) {
    const core::Scenario draft = wanted.draft_blocks > 0
                                     ? core::generate::with_first_blocks(scenario, wanted.draft_blocks)
                                     : scenario_of(wanted.draft);
    OrderedJson rows = OrderedJson::array();
    for (Index row = 0; row < scenario.batch(); ++row) {
        const core::generate::Speculated found = core::finished(
            core::generate::speculated(scenario, draft, row, {wanted.drafted, wanted.length, wanted.sampling}));
        const std::string text = written(scenario, found.tokens);
        if (!wanted.json) {
            out << text << "\n  " << core::generate::sentences_of_draft(found).front().english() << '\n';
            continue;
        }
        OrderedJson rounds = OrderedJson::array();
        for (const core::generate::SpeculatedRound& round : found.rounds) rounds.push_back(json_of(round));
        rows.push_back({{"prompt", core::generate::row_tokens(scenario.inputs, row)},
                        {"generated", found.tokens},
                        {"text", core::valid_utf8(text)},
                        {"passes", found.rounds.size()},
                        {"draft_passes", found.draft_passes},
                        {"drafted", found.drafted},
                        {"accepted", found.accepted},
                        {"rounds", std::move(rounds)}});
    }
    if (wanted.json) out << OrderedJson{{"rows", rows}}.dump() << '\n';
}

// Continues every row of the batch separately.
void generate(const RunOptions& options, const GenerateOptions& wanted, std::ostream& out) {
    const core::Scenario scenario = scenario_of(options);
    static_cast<void>(plan_naming_files(scenario, options));
    naming(options.model, [&] {
        if (const Sentence obstacle = core::generate::generation_obstacle(scenario); !obstacle.empty())
            throw Error(obstacle);
    });
    if (wanted.beams.beams > 0) return search_beams(scenario, wanted, out);
    if (wanted.draft_blocks > 0 || !wanted.draft.model.empty()) return speculate(scenario, wanted, out);
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (Index row = 0; row < scenario.batch(); ++row) {
        core::generate::Generator generator(scenario, row, wanted.sampling, !wanted.full_passes);
        const std::vector<Index> prompt = generator.tokens();
        for (Index i = 0; i < wanted.length && generator.next(); ++i) {
        }
        const std::vector<Index> tokens = generator.tokens();
        const std::string text = written_row(scenario, row, tokens);
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
    command.add_option("--length", wanted->length, "how many tokens at most (32)")
        ->transform(within(bounds::kGenerated));
    command
        .add_option("--temperature", wanted->sampling.temperature,
                    "divides the logits; 0, the default, always takes the most probable token")
        ->transform(within(bounds::kTemperature));
    command.add_option("--top-k", wanted->sampling.top_k, "keeps this many of the most probable tokens; 0: all")
        ->transform(within(bounds::kTopK));
    command.add_option("--top-p", wanted->sampling.top_p, "keeps the fewest tokens whose probabilities reach this sum")
        ->transform(within(bounds::kTopP));
    command.add_option("--seed", wanted->sampling.seed, "the same seed draws the same tokens again (0)");
    auto* beams =
        command.add_option("--beams", wanted->beams.beams,
                           "beam search: how many texts go on at each step; prints those found, with the score "
                           "of each");
    beams->transform(within(Bounds<Index>{1, core::generate::kMostBeams}));
    command
        .add_option("--length-penalty", wanted->beams.length_penalty,
                    "a text's score is its log-probability / (tokens added)^this (1)")
        ->transform(within(bounds::kLengthPenalty))
        ->needs(beams);
    for (const char* sampled : {"--temperature", "--top-k", "--top-p", "--seed"})
        beams->excludes(command.get_option(sampled));
    auto* draft = command.add_option("--draft", wanted->draft.model,
                                     "speculative decoding: this model drafts tokens, which MODEL accepts or replaces");
    auto* blocks = command.add_option("--draft-blocks", wanted->draft_blocks,
                                      "as --draft, with MODEL's own first blocks as the draft");
    command.add_option("--drafted", wanted->drafted, "how many tokens are drafted at a time (4)")
        ->transform(within(Bounds<Index>{1, core::generate::kMostDrafted}));
    draft->excludes(blocks)->excludes(beams);
    blocks->excludes(beams)->transform(within(bounds::kFrom1));
    auto* full = command.add_flag("--no-cache", wanted->full_passes, "recompute the whole text for every token");
    full->excludes(draft)->excludes(blocks);
    command.add_flag("--json", wanted->json, "print prompt, generated ids and text as JSON");
    command.callback(
        [context, wanted] { context.work = [context, wanted] { generate(context.run, *wanted, context.out); }; });
}

}  // namespace decoderscope::cli
