#include "tests/core/lessons/right_answers.h"

#include "engine/load/bundled_models.h"
#include "tests/catch.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <numeric>
#include <set>
#include <string>

namespace decoderscope::testing {

using namespace decoderscope::testing;

std::vector<double> Stage::row(const std::string& name, Cell cell) const {
    std::vector<double> values;
    cell.push_back(0);
    for (Index& at = cell.back(); at < value(name).axes().back().size; ++at)
        values.push_back(static_cast<double>(value(name).at(cell)));
    return values;
}

Index Stage::letter(const std::string& wanted, int times_before) const {
    const Tensor& tokens = scenario.inputs.tokens;
    for (Index pos = 0; pos < tokens.dim(1); ++pos)
        if (scenario.tokenizer().piece(static_cast<Index>(tokens.at(Cell{0, pos}))) == wanted && times_before-- == 0)
            return pos;
    FAIL("no letter " << wanted);
    return 0;
}

namespace {

Index largest(const std::vector<double>& values) {
    return static_cast<Index>(std::ranges::max_element(values) - values.begin());
}

// e to the power of each over the sum of them.
std::vector<double> softmax(std::vector<double> scores) {
    double sum = 0.0;
    for (double& score : scores) sum += score = std::exp(score);
    for (double& score : scores) score /= sum;
    return scores;
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

// A number of the model itself.
double weight(const Stage& stage, const std::string& name, Cell cell) {
    return static_cast<double>(stage.scenario.weights().at(name).at(cell));
}

// How often two letters stand side by side in a text.
double times_in(const std::string& text, const std::string& pair) {
    double times = 0.0;
    for (std::size_t at = 0; (at = text.find(pair, at)) != std::string::npos; ++at) ++times;
    return times;
}

// Weight that row 4 of the first head gives to its future if −5 is filled in there.
double leaked_with_fill_of_5(const Stage& stage) {
    std::vector<double> scores = stage.row("blocks.0.attn.attn_scores", {0, 0, 4});
    std::fill(scores.begin() + 5, scores.end(), -5.0);
    const std::vector<double> weights = softmax(std::move(scores));
    return std::accumulate(weights.begin() + 5, weights.end(), 0.0);
}

// The head of block 0 that gives the most weight to the position before.
Pointed head_that_looks_back(const Stage& stage) {
    const std::string pattern = "blocks.0.attn.pattern";
    std::vector<double> back;
    for (Index head = 0; head < stage.value(pattern).dim(1); ++head) {
        back.push_back(0.0);
        for (Index query = 1; query < stage.value(pattern).dim(2); ++query)
            back.back() += static_cast<double>(stage.value(pattern).at(Cell{0, head, query, query - 1}));
    }
    return {pattern, {0, largest(back), 5, 4}};
}

// The largest of the scores that the mask hides from row 4.
Pointed largest_hidden_score(const Stage& stage) {
    std::vector<double> scores = stage.row("blocks.0.attn.attn_scores", {0, 0, 8});
    std::fill(scores.begin(), scores.begin() + 9, -1e6);
    return {"blocks.0.attn.attn_scores", {0, 0, 8, largest(scores)}};
}

Pointed largest_weight(const Stage& stage, const std::string& pattern, Index head, Index query) {
    return {pattern, {0, head, query, largest(stage.row(pattern, {0, head, query}))}};
}

// Where head 3 looks for the fourth letter in the model as it was trained, by its queries and keys.
Pointed as_trained(const Stage& stage) {
    Scenario trained = scenario_of(load_model("reverse"));
    trained.inputs = stage.scenario.inputs;
    const std::shared_ptr<const Run> run = execute(plan_of(trained));
    const Stage there{trained, *run};
    const std::string at = "blocks.1.cross_attn";
    const std::vector<double> q = there.row(at + ".q", {0, 3, 3});
    std::vector<double> products;
    for (Index key = 0; key < there.value(at + ".k").dim(2); ++key)
        products.push_back(dot(q, there.row(at + ".k", {0, 3, key})));
    return {at + ".pattern", {0, 3, 3, largest(products)}};
}

// The dot product of two sinusoidal codes: sin·sin + cos·cos of each frequency is the cosine of the difference.
double product_of_codes(Index d_model, double distance) {
    double sum = 0.0;
    for (Index i = 0; i < d_model; i += 2)
        sum += std::cos(distance * std::pow(10000.0, -static_cast<double>(i) / static_cast<double>(d_model)));
    return sum;
}

double gelu(double x) { return 0.5 * x * (1.0 + std::erf(x / std::sqrt(2.0))); }

// Where a neuron of block 0 is on the most, further down than position 12.
Pointed on_again(const Stage& stage, Index neuron) {
    std::vector<double> on(static_cast<std::size_t>(stage.positions()), 0.0);
    for (Index pos = 13; pos < stage.positions(); ++pos)
        on[static_cast<std::size_t>(pos)] =
            static_cast<double>(stage.value("blocks.0.mlp.post").at(Cell{0, pos, neuron}));
    return {"blocks.0.mlp.post", {0, largest(on), neuron}};
}

// How many parameters an attention has, and a block: four matrices, two more, their biases, and two norms.
double attention_matrices(const Config& config) { return 4.0 * std::pow(static_cast<double>(config.d_model), 2.0); }
double block_parameters(const Config& config) {
    const auto d = static_cast<double>(config.d_model), inside = static_cast<double>(config.dim_feedforward);
    return attention_matrices(config) + 4.0 * d + 2.0 * d * inside + inside + d + 2.0 * 2.0 * d;
}

// The second best score for experts of the position at which the third best lies closest to it.
Pointed undecided(const Stage& stage) {
    const std::string step = "blocks.0.mlp.router_scores";
    Index found = 0, second = 0;
    double least = 1.0;
    for (Index pos = 0; pos < stage.positions(); ++pos) {
        const std::vector<double> row = stage.row(step, {0, pos});
        std::vector<double> scores = row;
        std::ranges::sort(scores, std::ranges::greater());
        if (scores[1] - scores[2] >= least) continue;
        least = scores[1] - scores[2];
        found = pos;
        second = std::ranges::find(row, scores[1]) - row.begin();
    }
    return {step, {0, found, second}};
}

// How many different tokens are read by positions that have a target, or are seen by one.
double tokens_read(const Stage& stage) {
    const Tensor& tokens = stage.scenario.inputs.tokens;
    std::set<float> read;
    for (Index pos = 0; pos + 1 < tokens.dim(1); ++pos) read.insert(tokens.at(Cell{0, pos}));
    return static_cast<double>(read.size());
}

double vocabulary(const Stage& stage) { return static_cast<double>(stage.value("probs").dim(2)); }

// The logit of what comes after a position.
Pointed of_what_comes(const Stage& stage, Index pos) {
    return {"grad.logits", {0, pos, static_cast<Index>(stage.scenario.inputs.tokens.at(Cell{0, pos + 1}))}};
}

// The edits of a mask that hide, or keep, the keys from `begin` to before `end` in one row, for all heads.
std::string row_of_mask(const std::string& attention, Index query, Index begin, Index end, bool keep) {
    std::string edits = "[";
    for (Index key = begin; key < end; ++key)
        edits += std::string(key == begin ? "" : ", ") + R"({"edit": "mask", "attention": ")" + attention +
                 R"(", "batch": 0, "head": "*", "query": )" + std::to_string(query) + R"(, "key": )" +
                 std::to_string(key) + R"(, "keep": )" + (keep ? "true}" : "false}");
    return edits + "]";
}

// How many first choices stay when the norms stand after the sublayers: the number of the choice that says so.
std::size_t kept_as_post_norm(const Stage& stage) {
    const Scenario post = with_override(stage.scenario, "norm_first", "false");
    const std::shared_ptr<const Run> run = execute(plan_of(post));
    const Stage there{post, *run};
    Index kept = 0;
    for (Index pos = 0; pos < stage.positions(); ++pos)
        if (largest(stage.row("probs", {0, pos})) == largest(there.row("probs", {0, pos}))) ++kept;
    return kept == stage.positions() ? 0 : kept == 0 ? 1 : 2;
}

// How many of the likeliest are needed for a sum of at least p.
double kept_by_top_p(std::vector<double> probs, double p) {
    std::ranges::sort(probs, std::greater<>());
    double sum = 0.0, count = 0.0;
    for (const double prob : probs) {
        if (sum >= p) break;
        sum += prob;
        ++count;
    }
    return count;
}

// The neuron of the gated MLP that is on the most at position 5: its number times its gate, bent by silu.
double gated(const Stage& stage) {
    const auto neuron = static_cast<std::size_t>(largest(stage.row("blocks.0.mlp.post", {0, 5})));
    const double number = stage.row("blocks.0.mlp.pre", {0, 5})[neuron],
                 gate = stage.row("blocks.0.mlp.gate", {0, 5})[neuron];
    return number * gate / (1.0 + std::exp(-gate));
}

// MiB of keys and values in two bytes a number: 32 blocks, heads of 128 columns, 4,096 tokens.
double cache_mib(double heads) { return 2.0 * 2.0 * 32.0 * heads * 128.0 * 4096.0 / 1024.0 / 1024.0; }

}  // namespace

const std::map<std::string, std::function<Right(const Stage&)>>& right_answers() {
    using S = const Stage&;
    const auto choice = [](std::size_t number) { return [number](S) { return Right(number); }; };
    const auto change = [](std::string changes) { return [changes](S) { return Right(changes); }; };
    const auto number = [](double value) { return [value](S) { return Right(value); }; };
    static const std::map<std::string, std::function<Right(S)>> answers = {
        {"text/count", number(1 + std::size("Let there be light") - 1)},  // letters, and the beginning
        {"text/case", choice(2)},
        {"text/clueless",
         [](S s) {
             return 1.0 / static_cast<double>(s.row("probs", {0, 0}).size());
         }},
        {"text/first-choice",
         [](S s) {
             return Pointed{"probs", {0, s.positions() - 1, largest(s.row("probs", {0, s.positions() - 1}))}};
         }},
        {"text/shift", choice(1)},
        {"text/loop", choice(3)},
        {"text/passes", number(20.0)},
        {"text/own", change("target=and Jerusale")},
        {"tokens/first-pair",
         number(times_in("sea sea sea sea sea seal seal meal meal meal meal heal heal heal", "ea"))},
        {"tokens/second-pair", choice(3)},
        {"tokens/third-pair", choice(1)},
        {"tokens/seal", choice(1)},
        {"tokens/own", change("target=ideal")},
        {"tokens/table",
         [](S s) {
             return static_cast<double>(s.value("probs").axes().back().size * s.value("embed").axes().back().size);
         }},
        {"tokens/same-row",
         [](S s) {
             return Pointed{"embed", {0, s.letter("eal", 1), 0}};
         }},
        {"tokens/tied", choice(0)},
        {"tokens/saved", number(131.072)},
        {"weight/largest",
         [](S s) {
             return std::ranges::max(softmax(s.row("blocks.1.cross_attn.masked_scores", {0, 3, 2})));
         }},
        {"weight/product",
         [](S s) {
             const std::string at = "blocks.1.cross_attn";
             const Index best = largest(s.row(at + ".attn_scores", {0, 3, 2}));
             return dot(s.row(at + ".q", {0, 3, 2}), s.row(at + ".k", {0, 3, best}));
         }},
        {"weight/ratio", choice(1)},
        {"weight/move", change(R"([{"edit": "set_cell", "tensor": "blocks.1.cross_attn.attn_scores",
                                    "index": [0, 3, 2, 1], "value": 100}])")},
        {"weight/sharper", choice(3)},
        {"weight/looks", as_trained},
        {"weight/why", choice(2)},
        {"masks/kept", [](S s) { return static_cast<double>(s.positions() * (s.positions() + 1) / 2); }},
        {"masks/future", largest_hidden_score},
        {"masks/leak", choice(2)},
        {"masks/open", change(R"([{"edit": "mask", "attention": "blocks.0.attn", "batch": 0, "head": "*", "query": 4,
                                   "key": 9, "keep": true}])")},
        {"masks/both", choice(3)},
        {"masks/unhidden", choice(0)},
        {"masks/where", choice(1)},
        {"fill/large", choice(0)},
        {"fill/small", leaked_with_fill_of_5},
        {"fill/uniform", choice(2)},
        {"fill/first",
         [](S) {
             return Pointed{"blocks.0.attn.pattern", {}};
         }},
        {"fill/spread", [](S s) { return static_cast<double>(s.positions()); }},  // all of them see position 0
        {"fill/cure", change(R"([{"edit": "mask", "attention": "blocks.0.attn", "batch": 0, "head": 0, "query": 0,
                                  "key": 0, "keep": true},
                                 {"edit": "mask", "attention": "blocks.0.attn", "batch": 0, "head": 1, "query": 0,
                                  "key": 0, "keep": true},
                                 {"edit": "mask", "attention": "blocks.0.attn", "batch": 0, "head": 2, "query": 0,
                                  "key": 0, "keep": true},
                                 {"edit": "mask", "attention": "blocks.0.attn", "batch": 0, "head": 3, "query": 0,
                                  "key": 0, "keep": true}])")},
        {"fill/half", choice(0)},
        {"positions/swapped", choice(1)},
        {"positions/along", choice(2)},
        {"positions/why-set", choice(0)},
        {"positions/mask-breaks", choice(2)},
        {"positions/products", [](S s) { return product_of_codes(s.scenario.config().d_model, 7 - 4); }},
        {"positions/beyond", choice(1)},
        {"positions/angle", number(2.8)},
        {"positions/same-distance",
         [](S) {
             return Pointed{"blocks.0.attn.attn_scores", {0, 0, 8, 5}};
         }},
        {"positions/own", change("target=cococo")},
        {"positions/penalty",
         [](S s) {  // each step back costs as much as the first
             const std::vector<double> row = s.row("blocks.0.attn.attn_scores", {0, 0, 8});
             return row[8] + 4.0 * (row[7] - row[8]);
         }},
        {"values/mean",
         [](S s) {
             double mean = 0.0;
             for (Index key = 0; key <= 2; ++key)
                 mean += static_cast<double>(s.value("blocks.0.attn.pattern").at(Cell{0, 0, 2, key})) *
                         static_cast<double>(s.value("blocks.0.attn.v").at(Cell{0, 0, key, 3}));
             return mean;
         }},
        {"values/rest", choice(2)},
        {"values/type-over", choice(2)},
        {"values/redirect", change(R"([{"edit": "set_cell", "tensor": "blocks.1.attn.attn_scores",
                                        "index": [0, 3, 10, 5], "value": 80}])")},
        {"values/part",
         [](S s) {
             const Config& config = s.scenario.config();
             return static_cast<double>(config.d_model / config.nhead * config.d_model);
         }},
        {"values/written", choice(3)},
        {"values/own", change("target=planetplane")},
        {"heads/width",
         [](S s) { return static_cast<double>(s.scenario.config().d_model / s.scenario.config().nhead); }},
        {"heads/why-many", choice(3)},
        {"heads/previous", head_that_looks_back},
        {"heads/sum",  // what attention adds to the stream
         [](S s) {
             const Cell cell = {0, s.positions() - 1, 0};
             return static_cast<double>(s.value("blocks.0.resid_mid").at(cell)) -
                    static_cast<double>(s.value("blocks.0.resid_pre").at(cell));
         }},
        {"heads/idle", change(R"([{"edit": "scale_head", "attention": "blocks.0.attn", "head": 2, "factor": 0}])")},
        {"heads/needed", change(R"([{"edit": "scale_head", "attention": "blocks.0.attn", "head": 3, "factor": 0}])")},
        {"heads/proof", choice(1)},
        {"mlp/alone", choice(3)},
        {"mlp/low",
         [](S s) {
             return gelu(std::ranges::min(s.row("blocks.0.mlp.pre", {0, 4})));
         }},
        {"mlp/linear", choice(1)},
        {"mlp/key", choice(2)},
        {"mlp/again", [](S s) { return on_again(s, 47); }},
        {"mlp/value",
         [](S s) {
             return s.row("blocks.0.mlp.post", {0, 4})[47] * weight(s, "layers.0.down_proj.weight", {2, 47});
         }},
        {"mlp/own", change("target=and the man said to the king of the land")},
        {"mlp/attention", [](S s) { return attention_matrices(s.scenario.config()) / 1000.0; }},
        {"mlp/block", [](S s) { return block_parameters(s.scenario.config()) / 1000.0; }},
        {"stream/add",
         [](S s) {
             const Cell cell = {0, s.positions() - 1, 0};
             return static_cast<double>(s.value("blocks.0.resid_pre").at(cell)) +
                    static_cast<double>(s.value("blocks.0.attn_out").at(cell));
         }},
        {"stream/grows", choice(1)},
        {"stream/highway", choice(2)},
        {"stream/lens", choice(0)},
        {"stream/write",
         change(R"([{"edit": "set_cell", "tensor": "blocks.3.resid_pre", "index": [0, 28, 0], "value": -60}])")},
        {"norm/length", [](S s) { return std::sqrt(static_cast<double>(s.scenario.config().d_model)); }},
        {"norm/grow", choice(3)},
        {"norm/flip", change("norm_first=true")},
        {"norm/moved", [](S s) { return kept_as_post_norm(s); }},
        {"norm/back", choice(2)},
        {"norm/shares", choice(2)},
        {"norm/warmup", choice(2)},
        {"source/shape", choice(0)},
        {"source/month", [](S s) { return largest_weight(s, "blocks.1.cross_attn.pattern", 1, 6); }},
        {"source/memory", choice(2)},
        {"source/retype", change("source=5 May 2010")},
        {"source/hidden", [](S) { return 4.0; }},  // "transformer" has four letters more than "decoder"
        {"source/forgotten", choice(2)},
        {"source/which-mask", choice(1)},
        {"loss/one",
         [](S s) {
             const auto next = static_cast<std::size_t>(s.scenario.inputs.tokens.at(Cell{0, 8}));
             return -std::log(s.row("probs", {0, 7})[next]);
         }},
        {"loss/clueless",
         [](S s) {
             return std::log(static_cast<double>(s.row("probs", {0, 0}).size()));
         }},
        {"loss/logits", number(std::log(std::exp(2.0) + std::exp(1.0) + 1.0) - 1.0)},
        {"loss/perplexity",  // the root of the product of 1/p(B) and 1/p(A)
         number((std::exp(2.0) + std::exp(1.0) + 1.0) / std::sqrt(std::exp(1.0) * std::exp(2.0)))},
        {"loss/own", change("target=qxzjvk")},
        {"loss/how-many", [](S s) { return static_cast<double>(s.positions() - 1); }},
        {"loss/why-at-once", choice(1)},
        {"loss/teacher", choice(1)},
        {"loss/slip", choice(2)},
        {"loss/exposure", choice(3)},
        {"loss/floor", number(std::log(26.0))},  // a random letter
        {"one-token/first-time",
         [](S s) {
             return std::ranges::max(s.row("probs", {0, s.letter("g", 0)}));
         }},
        {"one-token/look", [](S s) { return largest_weight(s, "blocks.1.attn.pattern", 3, s.letter("g", 1)); }},
        {"one-token/two-steps", choice(0)},
        {"one-token/break", change(R"([{"edit": "scale_head", "attention": "blocks.1.attn", "head": 3, "factor": 0},
                                       {"edit": "scale_head", "attention": "blocks.1.attn", "head": 0, "factor": 0}])")},
        {"one-token/own", change("target=monkeymonke")},
        {"one-token/colder", choice(2)},
        {"one-token/same", choice(1)},
        {"one-token/which-kept", choice(1)},
        {"choosing/greedy", choice(2)},
        {"choosing/top-k",
         [](S s) {
             std::vector<double> probs = s.row("probs", {0, s.positions() - 1});
             std::ranges::sort(probs, std::greater<>());
             return probs[0] / (probs[0] + probs[1] + probs[2]);
         }},
        {"choosing/top-p", number(4.0)},  // 0.42 + 0.26 + 0.15 + 0.09 = 0.92
        {"choosing/kept",
         [](S s) {
             return kept_by_top_p(s.row("probs", {0, s.positions() - 1}), 0.9);
         }},
        {"choosing/own", change("target=the sons of A")},
        {"choosing/stop",
         [](S s) {
             return Pointed{"probs", {0, s.positions() - 1, 2}};  // <pad>, <bos>, <eos>
         }},
        {"choosing/rows", number(36.0)},  // the last letter that is written is no longer read
        {"choosing/phases", choice(1)},
        {"choosing/per-token",
         [](S s) {
             const Config& config = s.scenario.config();
             return static_cast<double>(config.num_layers * (config.d_model + config.d_model)) * sizeof(float);
         }},
        {"gradient/other",
         [](S) {
             return softmax({2.0, 1.0, 0.0})[0];
         }},
        {"gradient/sum", number(0.0)},
        {"gradient/raised", [](S s) { return of_what_comes(s, 7); }},
        {"gradient/nudge",
         [](S s) {
             return 0.1 * (s.row("probs", {0, 3})[static_cast<std::size_t>(of_what_comes(s, 3).cell[2])] - 1.0);
         }},
        // A logit that is log(2 + …) larger: the odds of 0.896 in place of 0.793.
        {"gradient/halve", change(R"([{"edit": "set_cell", "tensor": "logits", "index": [0, 3, 58], "value": 7.05}])")},
        {"gradient/score", number(0.3 * (2.0 - (0.6 + 0.6 - 0.1)))},
        {"gradient/hidden", choice(2)},
        {"gradient/saturated", choice(0)},
        {"gradient/stuck", number(0.99 * 0.01)},
        {"trained/table-rows", tokens_read},
        {"trained/head-rows", vocabulary},
        {"trained/no-pull", choice(3)},
        {"trained/own", change("target=zyxwvu")},
        {"trained/tied", vocabulary},
        {"trained/asked", number(static_cast<double>(std::string("algorithm").size()))},
        {"trained/still-trained", choice(2)},
        {"trained/stop", choice(1)},
        {"trained/lora", number((4096.0 * 8.0 + 8.0 * 4096.0) / 1000.0)},
        {"trained/first-step", choice(1)},
        {"trained/merged", number(std::round(1.003 * 128.0) / 128.0)},
        {"packed/waste", number(1.0 - (3.0 + 5.0 + 12.0 + 4.0) / (4.0 * 12.0))},
        {"packed/leak", choice(1)},
        {"packed/keys", number(12.0 - 9.0 + 1.0)},
        {"packed/hide", change(row_of_mask("blocks.1.attn", 15, 0, 9, false))},
        {"packed/restart-only", choice(0)},
        {"packed/mask-only", choice(0)},
        {"packed/rope", choice(2)},
        {"packed/target", [](S) { return Pointed{"loss_per_token", {0, 8}}; }},
        {"packed/pairs", number(4000.0 * 4000.0 / (4.0 * 1000.0 * 1000.0))},
        {"cache/prefix", number(5.0)},
        {"cache/first-block", choice(1)},
        {"cache/at-zero", choice(1)},
        {"cache/from-one", choice(0)},
        {"cache/corner", number(1.0)},
        {"cache/repair",
         change(row_of_mask("blocks.0.attn", 16, 0, 17, true) + " ; " + row_of_mask("blocks.1.attn", 16, 0, 17, true))},
        {"cache/prefill", [](S s) { return static_cast<double>(s.positions() - 1); }},
        {"cache/unnoticed", choice(3)},
        {"cache/window", number(6.0 - 1.0)},
        {"rounding/gap", number(16.0 / 128.0)},
        {"rounding/order", number(256.0)},
        {"rounding/single", choice(2)},
        {"rounding/verdict", choice(0)},
        {"rounding/hide", change("layer_norm_eps=3e-6")},
        {"rounding/shapes", choice(3)},
        {"rounding/begins", [](S) { return Pointed{"blocks.0.mlp.post", {}}; }},
        {"rounding/flip", choice(3)},
        {"rounding/where", undecided},
        {"rounding/greedy", choice(2)},
        {"causes/alone", choice(1)},
        {"causes/edge", change(row_of_mask("blocks.1.attn", 16, 8, 9, false))},
        {"causes/less", choice(3)},
        {"causes/indirect", choice(0)},
        {"causes/carries", [](S) { return Pointed{"blocks.0.resid_post", {0, 8, 5}}; }},
        {"causes/share", number(1.0)},  // B's letter reaches the end whole
        {"causes/later", choice(3)},
        {"causes/slope", choice(2)},
        {"write/writes", change("target=algorithmalgorit\\nabcabc")},
        {"modern/rms", number(5.0)},
        {"modern/moved", choice(2)},
        {"modern/gated", gated},
        {"modern/three-matrices", number(2048.0 / 1.5)},
        {"modern/partner", [](S) { return Pointed{"blocks.0.attn.k", {0, 1, 3, 2}}; }},
        {"modern/cache", number(cache_mib(8.0))},
        {"modern/saved", number(cache_mib(32.0) - cache_mib(8.0))},
        {"modern/outgrow", number(2048.0)},
        {"modern/double", choice(2)},
        {"modern/base", choice(1)},
        {"modern/drop", choice(2)},
        {"modern/own", change("target=numbers")},
        {"modern/experts", choice(3)},
    };
    return answers;
}

}  // namespace decoderscope::testing
