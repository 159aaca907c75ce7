// The lessons that come with the program, played as a learner plays them: every wrong answer first, then the right one,
// through the window's commands. What is right is written down or computed here, not taken from the lesson.
#include "app/core/lessons/check_lesson.h"
#include "app/core/lessons/handin.h"
#include "app/core/lessons/library.h"
#include "app/core/lessons/player.h"
#include "app/views/frame/lab.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "tests/catch.h"
#include "tests/engine/temporary_folder.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <variant>
#include <vector>

using namespace decoderscope;
using namespace decoderscope::core::checks;
using namespace decoderscope::core::lessons;
using namespace decoderscope::core;
using namespace decoderscope::load;
using namespace decoderscope::views;
using namespace decoderscope::core::lessons;
using decoderscope::testing::TemporaryFolder;

namespace {

void perform(Session& session, const std::vector<Command>& commands) {
    for (const Command& command : commands) {
        session.apply(command);
        INFO((session.message() && session.message()->failed ? session.message()->text.english() : std::string()));
        CHECK_FALSE((session.message() && session.message()->failed));
        session.finish();
    }
}

// What the window does in its frames until nothing is left to do.
void settle(Session& session, Player& player) {
    for (int frame = 0; frame < 6; ++frame) {
        session.finish();
        perform(session, player.advance(session).commands);
    }
}

// A cell to point at; a step alone if it has no index.
struct Place {
    std::string step;
    Cell cell;
};
// What a learner answers who understood: the number of a choice, a number, a place, or what to change.
using Right = std::variant<std::size_t, double, Place, std::string>;

// The run that a question is asked about, in a learner's own arithmetic: no expression of the lesson's language.
struct Stage {
    const Scenario& scenario;
    const Run& run;

    [[nodiscard]] const Tensor& value(const std::string& name) const { return run.value(name); }
    [[nodiscard]] Index positions() const { return value("probs").dim(1); }
    // One row of a tensor, as doubles.
    [[nodiscard]] std::vector<double> row(const std::string& name, Cell cell) const {
        std::vector<double> values;
        cell.push_back(0);
        for (Index& at = cell.back(); at < value(name).axes().back().size; ++at)
            values.push_back(static_cast<double>(value(name).at(cell)));
        return values;
    }
    // The position of a letter in the target: the first one, or that of the second time.
    [[nodiscard]] Index letter(const std::string& wanted, int times_before) const {
        const Tensor& tokens = scenario.inputs.tokens;
        for (Index pos = 0; pos < tokens.dim(1); ++pos)
            if (scenario.tokenizer().piece(static_cast<Index>(tokens.at(Cell{0, pos}))) == wanted &&
                times_before-- == 0)
                return pos;
        FAIL("no letter " << wanted);
        return 0;
    }
};

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
Place head_that_looks_back(const Stage& stage) {
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
Place largest_hidden_score(const Stage& stage) {
    std::vector<double> scores = stage.row("blocks.0.attn.attn_scores", {0, 0, 4});
    std::fill(scores.begin(), scores.begin() + 5, -1e6);
    return {"blocks.0.attn.attn_scores", {0, 0, 4, largest(scores)}};
}

Place largest_weight(const Stage& stage, const std::string& pattern, Index head, Index query) {
    return {pattern, {0, head, query, largest(stage.row(pattern, {0, head, query}))}};
}

// Where head 3 looks for the fourth letter in the model as it was trained, by its queries and keys.
Place as_trained(const Stage& stage) {
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
Place on_again(const Stage& stage, Index neuron) {
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

// The answers to all questions of the lessons but the gallery's.
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
             return Place{"probs", {0, s.positions() - 1, largest(s.row("probs", {0, s.positions() - 1}))}};
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
             return Place{"embed", {0, s.letter("eal", 1), 0}};
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
                                    "index": [0, 3, 2, 2], "value": 100}])")},
        {"weight/sharper", choice(3)},
        {"weight/looks", as_trained},
        {"weight/why", choice(2)},
        {"masks/kept", [](S s) { return static_cast<double>(s.positions() * (s.positions() + 1) / 2); }},
        {"masks/future", largest_hidden_score},
        {"masks/leak", choice(2)},
        {"masks/open", change(R"([{"edit": "mask", "attention": "blocks.0.attn", "batch": 0, "head": "*", "query": 2,
                                   "key": 9, "keep": true}])")},
        {"masks/both", choice(3)},
        {"masks/unhidden", choice(0)},
        {"masks/where", choice(1)},
        {"fill/large", choice(0)},
        {"fill/small", leaked_with_fill_of_5},
        {"fill/uniform", choice(2)},
        {"fill/first",
         [](S) {
             return Place{"blocks.0.attn.pattern", {}};
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
             return Place{"blocks.0.attn.attn_scores", {0, 0, 8, 5}};
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
         change(R"([{"edit": "set_cell", "tensor": "blocks.3.resid_pre", "index": [0, 28, 1], "value": -500}])")},
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
        {"loss/own", change("target=qqqqqqq")},
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
        {"one-token/break", change(R"([{"edit": "scale_head", "attention": "blocks.1.attn", "head": 0, "factor": 0},
                                       {"edit": "scale_head", "attention": "blocks.1.attn", "head": 1, "factor": 0},
                                       {"edit": "scale_head", "attention": "blocks.1.attn", "head": 2, "factor": 0},
                                       {"edit": "scale_head", "attention": "blocks.1.attn", "head": 3, "factor": 0}])")},
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
             return Place{"probs", {0, s.positions() - 1, 2}};  // <pad>, <bos>, <eos>
         }},
        {"choosing/rows", number(36.0)},  // the last letter that is written is read by nobody
        {"choosing/phases", choice(1)},
        {"choosing/per-token",
         [](S s) {
             const Config& config = s.scenario.config();
             return static_cast<double>(config.num_layers * (config.d_model + config.d_model)) * sizeof(float);
         }},
        {"modern/rms", number(5.0)},
        {"modern/moved", choice(2)},
        {"modern/gated", gated},
        {"modern/three-matrices", number(2048.0 / 1.5)},
        {"modern/partner",
         [](S) {
             return Place{"blocks.0.attn.k", {0, 1, 3, 2}};
         }},
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

// A learner at a session.
struct Learner {
    Session& session;
    Player& player;
    const lessons::Question& question;

    // The answer of this kind that is written down above.
    template <class T>
    [[nodiscard]] T right() const {
        const std::string name = player.lesson()->name + "/" + question.id;
        INFO(name);
        const auto found = right_answers().find(name);
        REQUIRE(found != right_answers().end());
        const Right answer = found->second({session.shown().scenario, *session.shown().run});
        REQUIRE(std::holds_alternative<T>(answer));
        return std::get<T>(answer);
    }
    [[nodiscard]] Runs runs() const { return Runs(session.shown().scenario, session.shown().run, player.opened()); }
    [[nodiscard]] lessons::Spot spot(const CellAnswer& answer) const {
        Runs here = runs();
        return spot_of(answer, {here, nullptr, &player.lesson()->lets, &question.lets});
    }
    bool say(const lessons::Answer& answer) const {
        INFO(question.id);
        return player.answer(session, question, answer).right;
    }

    void operator()(const ByChoice& by) const {
        const auto chosen = right<std::size_t>();
        for (std::size_t i = 0; i < by.choices.size(); ++i)
            if (i != chosen) CHECK_FALSE(say(ChosenAnswer{i}));
        CHECK(say(ChosenAnswer{chosen}));
    }
    void operator()(const ByNumber& by) const {
        Runs here = runs();
        const Scope scope{here, nullptr, &player.lesson()->lets, &question.lets};
        for (const WrongNumber& wrong : by.wrong)
            CHECK_FALSE(say(NumberAnswer{number_of(evaluate(*wrong.number, scope))}));
        CHECK(say(NumberAnswer{right<double>()}));
    }
    // As by clicking there: the cursor goes to the cell, and what the cursor shows is the answer.
    void go(const lessons::Spot& at) const {
        perform(session, {at.cell ? Command(command::Follow{at.step, *at.cell}) : Command(command::GoTo{at.step})});
    }
    bool point(const CellAnswer& answer) const {
        go(spot(answer));
        return say(PointedAnswer{session.step().name, session.cursor().cell});
    }
    void operator()(const ByPoint& by) const {
        for (const WrongCell& wrong : by.wrong) CHECK_FALSE(point(wrong.at));
        const auto [step, cell] = right<Place>();
        go({step, cell.empty() ? std::nullopt : std::optional(cell)});
        CHECK(say(PointedAnswer{session.step().name, session.cursor().cell}));
    }
    void operator()(const ByRun& by) const {
        CHECK_FALSE(player.watch(session).has_value());  // nothing was done yet
        for (const WrongChange& wrong : by.wrong) {
            const std::vector<Command> commands = commands_of(wrong.changes);
            perform(session, commands);
            const std::optional<lessons::Verdict> verdict = player.watch(session);
            INFO(question.id);
            CHECK((!verdict || !verdict->right));
            for (std::size_t i = 0; i < commands.size(); ++i) perform(session, {command::Undo{}});
        }
        perform(session, commands_of(parse_changes(right<std::string>())));
        const std::optional<lessons::Verdict> verdict = player.watch(session);
        INFO(question.id);
        REQUIRE(verdict.has_value());
        CHECK(verdict->right);
    }
    void operator()(const ByBug& by) const {
        Runs here = runs();
        const std::size_t right = right_choices({*player.lesson(), question, here, player.opened().get()}).at(0);
        for (std::size_t i = 0; i < by.choices.size(); ++i)
            if (i != right) CHECK_FALSE(say(BugAnswer{by.solution, i}));
        for (const WrongCell& wrong : by.wrong) CHECK_FALSE(say(BugAnswer{wrong.at.step, right}));
        if (!by.solution.empty()) go({by.solution, std::nullopt});
        CHECK(say(BugAnswer{by.solution.empty() ? "" : session.step().name, right}));
    }
};

void play(Session& session, Player& player) {
    for (std::size_t page = 0; page < player.lesson()->pages.size(); ++page) {
        player.turn_to(page);
        settle(session, player);
        while (const lessons::Question* question = player.open_question()) {
            const std::size_t shown = player.shown_blocks();
            std::visit(Learner{session, player, *question}, question->answer);
            INFO(question->id);
            REQUIRE(player.progress().solved(question->id));
            CHECK((player.shown_blocks() > shown || player.open_question() == nullptr));
            settle(session, player);
        }
        CHECK(player.shown_blocks() == player.shown_page().blocks.size());
    }
}

std::vector<std::string_view> tab_ids() {
    std::vector<std::string_view> ids;
    for (const Lab& lab : labs()) ids.push_back(lab.id);
    return ids;
}

}  // namespace

TEST_CASE("every lesson is read, and has what the list says of it") {
    const std::vector<LessonCard> cards = lesson_cards();
    REQUIRE_FALSE(cards.empty());
    for (const LessonCard& card : cards) {
        INFO(card.name << " " << card.error);
        CHECK(card.error.empty());
        CHECK_FALSE(card.title.empty());
        CHECK_FALSE(card.summary.empty());
        CHECK(card.questions > 0);
        CHECK((card.kind != LessonKind::lesson || (card.minutes >= 10 && card.minutes <= 15)));
    }
}

TEST_CASE("every solution passes, every wrong answer is refused, chance seldom helps, no place points at nothing") {
    for (const LessonCard& card : lesson_cards()) {
        const Lesson lesson = read_lesson(card.path);
        for (const Sentence& problem : check_lesson(lesson, tab_ids())) {
            INFO(problem.english());
            CHECK(false);
        }
    }
}

TEST_CASE("a translation has the same questions and numbers, and is played the same") {
    for (const LessonCard& card : lesson_cards())
        for (const std::string& language : translations_of(card.path)) {
            const std::string path = translation_of(card.path, language);
            for (const Sentence& problem : compare_translation(card.path, path)) {
                INFO(problem.english());
                CHECK(false);
            }
            for (const Sentence& problem : check_lesson(read_lesson(path), tab_ids())) {
                INFO(problem.english());
                CHECK(false);
            }
        }
}

TEST_CASE("each lesson can be played through the window's commands, and handed in") {
    const TemporaryFolder folder;
    for (const LessonCard& card : lesson_cards()) {
        if (card.kind != LessonKind::lesson) continue;  // the others are played above
        INFO(card.name);
        const std::shared_ptr<const Lesson> lesson = find_lesson(card.name);
        Session session(load_model("reverse"));
        Player player(lesson, {});
        play(session, player);
        CHECK(player.progress().solved_of(*lesson) == card.questions);
        const std::string path = folder.file(lesson->name + ".json");
        std::ofstream(path) << handin_text(*lesson, player.progress(), {"Ada", 7});
        const JudgedHandin judged = judge_handin(path);
        CHECK(judged.right() == card.questions);
        for (const JudgedAnswer& answer : judged.answers) {
            INFO(answer.question << ": " << answer.why);
            CHECK(answer.right);
        }
    }
}

TEST_CASE("a lesson is left and taken up where it was, and progress survives the program") {
    const TemporaryFolder folder;
    const std::string path = folder.file("config/lessons.json");
    const std::shared_ptr<const Lesson> lesson = find_lesson("weight");
    Session session(load_model("reverse"));
    Player player(lesson, {});
    settle(session, player);
    const lessons::Question& question = *player.open_question();
    player.ask_hint(question);
    std::visit(Learner{session, player, question}, question.answer);
    player.turn_to(2);
    const Progress kept = {.learner = {"Ada", 7}, .lessons = {{lesson->name, player.progress()}}};
    save_progress(path, kept);
    const Progress read = load_progress(path);
    REQUIRE(read.lessons.contains("weight"));
    CHECK(read == kept);

    Player again(lesson, read.lessons.at("weight"));
    CHECK(again.page() == 2);
    again.turn_to(0);
    CHECK(again.open_question() == nullptr);
    CHECK(load_progress(folder.file("none")).lessons.empty());
    again.begin_again();
    CHECK(again.page() == 0);
    CHECK(again.progress().questions.empty());
}

TEST_CASE("a lesson that is taken up where another model is open opens its own again") {
    const std::shared_ptr<const Lesson> lesson = find_lesson("weight");
    const auto taken_up = [&](Session& session) {
        Player player(lesson, LessonProgress{.page = 1, .round = 0, .questions = {}});
        settle(session, player);
        return session.scenario().about().name;
    };
    Session other(load_model("induction"));
    CHECK(taken_up(other) == "reverse");
    // The learner's own text on the same model stays.
    Session same(load_model("reverse"));
    perform(same, commands_of(parse_changes("source=garden ; target=nedrag")));
    CHECK(taken_up(same) == "reverse");
    CHECK(same.scenario().inputs.encoder_tokens.dim(1) == 7);  // the mark, and six letters
}

TEST_CASE("progress of an older version is read") {
    const TemporaryFolder folder;
    const std::shared_ptr<const Lesson> lesson = find_lesson("weight");
    const lessons::Question& question = *questions_of(*lesson).front();
    const std::string run = run_text(*opened_for(*lesson, question));
    std::ofstream(folder.file("lessons.json"))
        << R"({"weight": {"page": 1, "questions": {"largest": {"right": true, "tries": 3, "hints": 1,
               "answer": {"kind": "number", "number": 0.95}, "run": )"
        << run << "}}}}";
    const Progress read = load_progress(folder.file("lessons.json"));
    REQUIRE(read.lessons.contains("weight"));
    CHECK(read.learner == Pupil{});
    const QuestionProgress& kept = read.lessons.at("weight").questions.at("largest");
    CHECK(kept.right);
    CHECK(kept.tries == 3);
    REQUIRE(kept.given.size() == 1);
    CHECK(kept.given.front().answer == lessons::Answer(NumberAnswer{0.95}));
    // What was said then is computed again of the run that it was said of.
    Player player(lesson, read.lessons.at("weight"));
    player.turn_to(0);
    REQUIRE(player.said(question) != nullptr);
    CHECK(plain_text(player.said(question)->learned).find("0.95") != std::string::npos);
}

TEST_CASE("what is solved stays as it was said, of the run that it was said of") {
    const std::shared_ptr<const Lesson> lesson = find_lesson("fill");
    Session session(load_model("reverse"));
    Player player(lesson, {});
    play(session, player);
    // All of it was NaN when this was solved; the next question has cured it.
    const std::vector<const lessons::Question*> questions = questions_of(*lesson);
    const auto spread = *std::ranges::find(questions, std::string("spread"), &lessons::Question::id);
    Runs cured(session.shown().scenario, session.shown().run, player.opened());
    const std::string now = plain_text(shown(spread->learned, {cured, nullptr, &lesson->lets, &spread->lets}));
    REQUIRE(now.starts_with("0 of 17"));
    REQUIRE(player.said(*spread) != nullptr);
    CHECK(plain_text(player.said(*spread)->learned).starts_with("17 of 17"));
}

TEST_CASE("nothing in a hand-in is taken on trust") {
    const TemporaryFolder folder;
    const std::shared_ptr<const Lesson> lesson = find_lesson("weight");
    Session session(load_model("reverse"));
    Player player(lesson, {});
    settle(session, player);
    const lessons::Question& question = *player.open_question();
    std::visit(Learner{session, player, question}, question.answer);
    LessonProgress forged = player.progress();
    const auto judged = [&](const LessonProgress& progress) {
        const std::string path = folder.file("h.json");
        std::ofstream(path) << handin_text(*lesson, progress, {});
        return judge_handin(path);
    };
    CHECK(judged(forged).right() == 1);
    CHECK(judged(forged).answers.at(1).given == false);
    forged.questions.at(question.id).given.back().answer = NumberAnswer{0.0};  // still said to be right
    CHECK(judged(forged).right() == 0);
    forged = player.progress();
    std::string& run = forged.questions.at(question.id).given.back().run;
    const std::string model = "\"bundled\":\"reverse\"";
    REQUIRE(run.find(model) != std::string::npos);
    run.replace(run.find(model), model.size(), "\"bundled\":\"reverse-post-norm\"");
    CHECK(judged(forged).right() == 0);
    std::ofstream(folder.file("no.json")) << "{}";
    CHECK_THROWS_AS(static_cast<void>(judge_handin(folder.file("no.json"))), Error);
}

TEST_CASE("no hand-in replaces another file") {
    const TemporaryFolder folder;
    const auto name = [](const std::string& path) { return path.substr(path.rfind('/') + 1); };
    Lesson lesson;
    lesson.name = "gallery/no-scale";
    std::string learner;
    const auto hand_in = [&](const std::string& text) {
        const std::string path = handin_path(folder.path(), lesson, learner, text);
        std::ofstream(path) << text;
        return name(path);
    };
    CHECK(hand_in("first") == "decoderscope-no-scale.json");
    CHECK(hand_in("second") == "decoderscope-no-scale-2.json");
    CHECK(hand_in("third") == "decoderscope-no-scale-3.json");
    CHECK(hand_in("second") == "decoderscope-no-scale-2.json");  // the same again needs no other file
    CHECK(read_text(folder.file("decoderscope-no-scale.json")) == "first");
    lesson.name = "/home/learner/my-lesson.md";
    CHECK(hand_in("x") == "decoderscope-my-lesson.json");
    learner = "Ada L. / ../7";
    CHECK(hand_in("x") == "decoderscope-my-lesson-Ada-L-7.json");
    learner = "小明";
    CHECK(hand_in("x") == "decoderscope-my-lesson-小明.json");
}

TEST_CASE("what is open is the learner's own, and a question on another model says so") {
    const std::shared_ptr<const Lesson> lesson = find_lesson("weight");
    Session session(load_model("reverse"));
    Player player(lesson, {});
    settle(session, player);
    const lessons::Question& question = *player.open_question();
    // Their own word: the largest weight is another one, and is what the question asks for now.
    perform(session, commands_of(parse_changes("source=lamp ; target=pmal")));
    Runs runs(session.shown().scenario, session.shown().run, player.opened());
    const Scope scope{runs, nullptr, &lesson->lets, &question.lets};
    const double largest = number_of(evaluate(*parse_expression("max(row)"), scope));
    CHECK(player.answer(session, question, NumberAnswer{largest}).right);

    Player other(lesson, {});
    settle(session, other);
    perform(session, {command::OpenModel{"verses", {}}});
    const lessons::Verdict verdict = other.answer(session, question, NumberAnswer{0.9});
    CHECK_FALSE(verdict.right);
    REQUIRE(verdict.replies.size() == 1);
    CHECK_FALSE(other.progress().questions.contains(question.id));  // it was no answer
    // A page's first place opens its model again.
    other.open(0);
    settle(session, other);
    CHECK(session.shown().scenario.about().name == "reverse");
}
