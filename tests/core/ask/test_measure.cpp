// Sweeps against single runs, laws and formulas in double precision.
#include "app/core/ask/measure.h"
#include "app/core/ask/seek.h"
#include "app/core/generate/generator.h"
#include "app/core/run/comparison.h"
#include "app/core/run/output_moves.h"
#include "app/core/run/passes_of_text.h"
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/load/model.h"
#include "tests/catch.h"
#include "tests/core/ask/unswept.h"
#include "tests/engine/contains.h"
#include "tests/engine/messages.h"

#include <cmath>
#include <limits>
#include <set>
#include <sstream>
#include <utility>

using namespace decoderscope::testing;
using namespace decoderscope::core::ask;

namespace {

Points all_of(const std::vector<std::string>& things, const Unswept& unswept) { return points_of(things, unswept); }

Sweep swept_at(const Unswept& unswept, const std::string& what) {
    return finished(swept(unswept, all_of({what}, unswept)));
}

// The row and the predictions are those of a run by itself.
void check_alone(const Unswept& unswept, const Result& result, const Variation& variation) {
    const auto alone = run_with(unswept.scenario, variation);
    const auto moves = finished(output_moves(unswept.run, alone, unswept.scenario.inputs.attention_mask));
    CHECK(numbers(result.value) == numbers(alone->value(unswept.row.tensor)));
    CHECK(result.predictions_changed == static_cast<Index>(moves.changed.size()));
}

std::string sweep_error_of(const std::string& what, const Unswept& unswept) {
    try {
        static_cast<void>(finished(swept(unswept, all_of({what}, unswept))));
    } catch (const Error& error) {
        return error.what();
    }
    return {};
}

}  // namespace

TEST_CASE("a sweep over each head is each head switched off by itself, bit for bit") {
    for (const std::string model : {"causal-lm", "reverse"}) {
        const Unswept unswept = unswept_of(model, "logits");
        const Sweep sweep = swept_at(unswept, "each head");
        std::size_t next = 0;
        for (const std::string& attention : unswept.run->plan().attentions())
            for (Index head = 0; head < unswept.scenario.config().nhead; ++head) {
                REQUIRE(next < sweep.results.size());
                const Result& result = sweep.results[next++];
                CHECK(result.at[0].text.english() == attention + " head " + std::to_string(head));
                check_alone(unswept, result, {.more_edits = {ScaleHead{attention, head, 0.0F}}});
            }
        CHECK(next == sweep.results.size());
        REQUIRE(sweep.unswept);
        CHECK(numbers(*sweep.unswept) == numbers(unswept.run->value("logits")));
    }
}

TEST_CASE("a sweep over a key, a cell, a head's factor or a seed is each run by itself, bit for bit") {
    Unswept unswept = unswept_of("causal-lm", "logits");
    const Sweep keys = swept_at(unswept, "attention_scale=0.1..1.3:4");
    const std::vector<std::string> scales = {"0.1", "0.5", "0.9", "1.3"};
    REQUIRE(keys.results.size() == scales.size());
    for (std::size_t i = 0; i < scales.size(); ++i) {
        CHECK(keys.results[i].at[0].text.english() == scales[i]);
        check_alone(unswept, keys.results[i], {.overrides = {{"attention_scale", scales[i]}}});
    }
    const Sweep words = swept_at(unswept, "norm_first = true, false");
    REQUIRE(words.results.size() == 2);
    CHECK_FALSE(words.results[0].at[0].number);
    check_alone(unswept, words.results[0], {.overrides = {{"norm_first", "true"}}});
    const Sweep cells = swept_at(unswept, "blocks.4.attn.z[1, 2, 3, 4]=-3,0,7.5");
    REQUIRE(cells.results.size() == 3);
    for (const Result& result : cells.results)
        check_alone(
            unswept, result,
            {.more_edits = {SetCell{"blocks.4.attn.z", {1, 2, 3, 4}, static_cast<float>(*result.at[0].number)}}});
    const Sweep tokens = swept_at(unswept, "tokens[0, 1]=1,2");
    check_alone(unswept, tokens.results.at(1), {.more_edits = {SetCell{"tokens", {0, 1}, 2.0F}}});
    const Sweep factors = swept_at(unswept, "blocks.0.attn.head.3=0..5:3");
    check_alone(unswept, factors.results.at(1), {.more_edits = {ScaleHead{"blocks.0.attn", 3, 2.5F}}});

    unswept = unswept_of("causal-lm-as-meant", "logits");
    const Sweep seeds = swept_at(unswept, "dropout_seed=1..3:3");
    REQUIRE(seeds.results.size() == 3);
    Scenario dropped = unswept.scenario;
    dropped.dropout_seed = 2;
    CHECK(numbers(seeds.results[1].value) == numbers(execute(plan_of(dropped))->value("logits")));
    CHECK(numbers(seeds.results[1].value) != numbers(seeds.results[2].value));
}

TEST_CASE("the mean of an encoder's head is over the source's positions that aren't padding") {
    Unswept unswept = unswept_of("reverse", "logits");
    const Index batch = unswept.scenario.inputs.encoder_tokens.dim(0);
    const Index length = unswept.scenario.inputs.encoder_tokens.dim(1);
    Tensor mask({{axis::batch, batch}, {axis::pos, length}});  // the last position of each row is padding
    for (Index i = 0; i < mask.size(); ++i)
        mask.writable()[static_cast<std::size_t>(i)] = i % length + 1 < length ? 1.0F : 0.0F;
    unswept.scenario.inputs.encoder_attention_mask = mask;
    unswept.run = execute(plan_of(unswept.scenario));
    const Sweep averaged = swept_at(unswept, "each averaged head of encoder.blocks.0");
    REQUIRE(!averaged.results.empty());
    const Tensor& z = unswept.run->value("encoder.blocks.0.attn.z");  // [batch, head, query, d_head]
    std::vector<Edit> edits;
    for (Index column = 0; column < z.dim(3); ++column) {
        double sum = 0.0;
        for (Index row = 0; row < batch; ++row)
            for (Index query = 0; query + 1 < length; ++query)
                sum += static_cast<double>(z.at(Cell{row, 0, query, column}));
        const auto mean = static_cast<float>(sum / static_cast<double>(batch * (length - 1)));
        for (Index row = 0; row < batch; ++row)
            for (Index query = 0; query < length; ++query)
                edits.emplace_back(SetCell{"encoder.blocks.0.attn.z", {row, 0, query, column}, mean});
    }
    check_alone(unswept, averaged.results[0], {.more_edits = edits});
}

TEST_CASE(
    "a sample's row is that of the text with what the generator draws with its seed, and equal ones are counted") {
    const Unswept unswept = unswept_of("verses", "logits");
    const std::vector<std::string> things = {"sample=0..5:6", "sample_length=4", "sample_temperature=0,1"};
    const Sweep sweep = finished(swept(unswept, all_of(things, unswept)));
    REQUIRE(sweep.results.size() == 12);
    std::set<std::string> different;
    for (std::size_t i = 0; i < sweep.results.size(); ++i) {
        generate::Generator generator(unswept.scenario, 0, {.temperature = i % 2 == 0 ? 0.0 : 1.0, .seed = i / 2});
        for (int drawn = 0; drawn < 4; ++drawn) generator.next();
        Scenario longer = unswept.scenario;
        const std::vector<Index> tokens = generator.tokens();
        const auto given = static_cast<std::size_t>(generate::row_length(unswept.scenario.inputs, 0));
        for (std::size_t n = given; n < tokens.size(); ++n)
            longer = generate::with_token(std::move(longer), 0, tokens[n]);
        const Result& result = sweep.results[i];
        CHECK(result.continuation ==
              unswept.scenario.tokenizer().decode({tokens.begin() + static_cast<std::ptrdiff_t>(given), tokens.end()}));
        CHECK(numbers(result.value) == numbers(execute(plan_of(longer))->value("logits")));
        CHECK_FALSE(result.predictions_changed);
        different.insert(result.continuation);
        if (i % 2 == 0) CHECK(result.continuation == sweep.results[0].continuation);  // greedy, whatever the seed
    }
    CHECK(different.size() > 1);
    const std::string said = continuations_sentence(sweep).english();
    CHECK(said.starts_with("12 continuations, " + std::to_string(different.size()) +
                           " of them different; most often “" + sweep.results[0].continuation + "”, "));
    CHECK(contains(sweep_error_of("sample_length=4", unswept), "sample=0..9:10"));
}

TEST_CASE("an inserted token makes the run of the text that has it there") {
    Unswept unswept = unswept_of("verses", "logits");
    const Points points = all_of({"each inserted token"}, unswept);
    const Tensor& tokens = unswept.scenario.inputs.tokens;
    REQUIRE(points.count % static_cast<std::size_t>(tokens.dim(1) + 1) == 0);
    const std::size_t i = points.count / 2, each = points.count / static_cast<std::size_t>(tokens.dim(1) + 1);
    const Inputs longer = points.at(i).inputs(unswept.scenario.inputs);
    REQUIRE(longer.pos() == tokens.dim(1) + 1);
    const auto place = static_cast<Index>(i / each);
    for (Index n = 0; n < longer.pos(); ++n)
        if (n != place) CHECK(longer.tokens.at(Cell{0, n}) == tokens.at(Cell{0, n < place ? n : n - 1}));
    Points one = points;
    one.count = 1;
    one.at = [&points, i](std::size_t) { return points.at(i); };
    const Sweep sweep = finished(swept(unswept, one));
    Scenario typed = unswept.scenario;
    typed.inputs.tokens = longer.tokens;
    typed.inputs.targets = {};
    CHECK(numbers(sweep.results.at(0).value) == numbers(execute(plan_of(typed))->value("logits")));
}

TEST_CASE("a head's mean in the other run is put in its place") {
    Unswept unswept = unswept_of("causal-lm", "logits");
    CHECK(contains(sweep_error_of("each head averaged as in other", unswept), "no other run"));
    Scenario other = unswept.scenario;
    other.edits.emplace_back(SetCell{"tokens", {0, 0}, 3.0F});
    const std::shared_ptr<const Run> run = execute(plan_of(other));
    unswept.scenario.other_run = pinnable("other", other, run);
    const Sweep sweep = swept_at(unswept, "each head averaged as in other of blocks.1");
    const Tensor& z = run->value("blocks.1.attn.z");  // [batch, head, query, d_head]
    const Tensor padding = padding_of(other);
    std::vector<Edit> edits;
    for (Index column = 0; column < z.dim(3); ++column) {
        double sum = 0.0, count = 0.0;
        for (Index row = 0; row < z.dim(0); ++row)
            for (Index query = 0; query < z.dim(2); ++query)
                if (!is_padding(padding, row, query))
                    sum += static_cast<double>(z.at(Cell{row, 2, query, column})), ++count;
        for (Index row = 0; row < z.dim(0); ++row)
            for (Index query = 0; query < z.dim(2); ++query)
                edits.emplace_back(
                    SetCell{"blocks.1.attn.z", {row, 2, query, column}, static_cast<float>(sum / count)});
    }
    check_alone(unswept, sweep.results.at(2), {.more_edits = edits});
}

TEST_CASE("each weight, each head times a factor and each other token are single cells and factors by themselves") {
    const Unswept unswept = unswept_of("reverse", "logits");
    const std::string name = "layers.0.norm1.weight";
    const Tensor& weight = unswept.run->value(name);
    const Sweep removed = swept_at(unswept, "each weight of " + name),
                halved = swept_at(unswept, "each weight of " + name + " times 0.5"),
                doubled = swept_at(unswept, "each head of blocks.1 times 2");
    REQUIRE(removed.results.size() == static_cast<std::size_t>(weight.size()));
    CHECK(removed.results[3].at[0].text.english() == name + "[3]");
    check_alone(unswept, removed.results[3], {.more_edits = {SetCell{name, {3}, 0.0F}}});
    check_alone(unswept, halved.results[5], {.more_edits = {SetCell{name, {5}, weight.at(Cell{5}) * 0.5F}}});
    check_alone(unswept, doubled.results[2], {.more_edits = {ScaleHead{"blocks.1.attn", 2, 2.0F}}});

    const Points others = all_of({"each other token"}, unswept);
    std::size_t meant = 0;  // in each place every ordinary token but the one that is there
    const Tensor& tokens = unswept.run->value("tokens");
    for (Index batch = 0; batch < tokens.dim(0); ++batch)
        for (Index pos = 0; pos < tokens.dim(1); ++pos)
            for (Index token = 0; token < unswept.scenario.config().vocab_size; ++token)
                if (!is_padding(padding_of(unswept.scenario), batch, pos) &&
                    token != static_cast<Index>(tokens.at(Cell{batch, pos})) &&
                    is_ordinary(unswept.scenario.tokenizer(), token))
                    ++meant;
    CHECK(others.count == meant);

    CHECK(contains(sweep_error_of("each weight", unswept), "of which tensor"));
    CHECK(contains(sweep_error_of("each weight of blocks.0.attn.z", unswept), "of which tensor"));
    CHECK(contains(sweep_error_of("each layer times 2", unswept), "times"));
    CHECK(contains(sweep_error_of("each head times x", unswept), "times"));
}

TEST_CASE("the same layers exchanged twice are as they were, and each two runs are as far apart as their rows") {
    const Unswept unswept = unswept_of("reverse", "logits");
    const Points points = all_of({"each exchanged layer of blocks"}, unswept);
    REQUIRE(points.count == 1);
    Scenario once = unswept.scenario;
    once.set_model(points.at(0).model());
    Unswept again{.scenario = once, .run = execute(plan_of(once)), .row = unswept.row};
    CHECK(numbers(again.run->value("logits")) != numbers(unswept.run->value("logits")));
    Scenario twice = once;
    twice.set_model(all_of({"each exchanged layer of blocks"}, again).at(0).model());
    CHECK(numbers(execute(plan_of(twice))->value("logits")) == numbers(unswept.run->value("logits")));

    const Sweep sweep = swept_at(unswept, "attention_scale=0.1,0.2,0.4");
    const Table pairs = pairs_of(sweep, 6);
    REQUIRE(pairs.rows.size() == 3);
    for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t j = 0; j < 3; ++j) {
            double apart = 0.0;
            const std::vector<float> a = numbers(sweep.results[i].value), b = numbers(sweep.results[j].value);
            for (std::size_t n = 0; n < a.size(); ++n)
                apart = std::max(apart, std::abs(static_cast<double>(a[n]) - static_cast<double>(b[n])));
            CHECK(std::get<double>(pairs.rows[i].entries[j]) == apart);
        }
}

TEST_CASE("a sweep over temperatures is the softmax of the logits divided by them") {
    const Unswept unswept = unswept_of("causal-lm", "p[v] = softmax_v(logits[0, 3, v] / temperature)");
    const Sweep sweep = swept_at(unswept, "temperature=0.1..4.1:41");
    REQUIRE(sweep.results.size() == 41);
    const std::span<const float> logits = unswept.run->value("logits").row({0, 3, 0});
    for (std::size_t i = 0; i < 41; ++i) {
        const double temperature = 0.1 * static_cast<double>(i + 1);
        CHECK(*sweep.results[i].at[0].number == Approx(temperature));
        double sum = 0.0;
        for (const float logit : logits) sum += std::exp(static_cast<double>(logit) / temperature);
        for (std::size_t v = 0; v < logits.size(); ++v)
            CHECK(static_cast<double>(sweep.results[i].value.values()[v]) ==
                  Approx(std::exp(static_cast<double>(logits[v]) / temperature) / sum).epsilon(1e-5));
    }
    CHECK_FALSE(sweep.unswept);   // there is no row without a temperature
    CHECK_FALSE(sweep.predicts);  // and the pass is the same
    CHECK(contains(sweep_error_of("temperature=1,2", unswept_of("causal-lm", "logits")), "the row doesn't name it"));
}

TEST_CASE("without a layer the stream leaves it as it came") {
    const Unswept unswept = unswept_of("reverse", "blocks.1.resid_post");
    const Sweep sweep = swept_at(unswept, "each layer of blocks");
    REQUIRE(sweep.results.size() == 2);  // the encoder's are encoder.blocks
    CHECK(sweep.results[1].at[0].text.english() == "blocks.1");
    CHECK(numbers(sweep.results[1].value) == numbers(unswept.run->value("blocks.1.resid_pre")));
    CHECK(swept_at(unswept, "each layer").results.size() == 4);
}

TEST_CASE("without a neuron its column of the next weight might as well be 0") {
    const Unswept unswept = unswept_of("reverse", "logits");
    const Sweep sweep = swept_at(unswept, "each neuron of blocks.1");
    const Config& config = unswept.scenario.config();
    const Plan& plan = unswept.run->plan();
    const std::string weight = plan.operand(*plan.find("blocks.1.mlp_out"), OperandRole::weight)->name;
    REQUIRE(sweep.results.size() == static_cast<std::size_t>(config.dim_feedforward));
    for (const Index neuron : {Index{0}, Index{7}, config.dim_feedforward - 1}) {
        Variation without;
        for (Index out = 0; out < config.d_model; ++out)
            without.more_edits.emplace_back(SetCell{weight, {out, neuron}, 0.0F});
        const auto alone = run_with(unswept.scenario, without);
        const std::vector<float> expected = numbers(alone->value("logits")),
                                 given = numbers(sweep.results[static_cast<std::size_t>(neuron)].value);
        REQUIRE(given.size() == expected.size());
        for (std::size_t i = 0; i < given.size(); ++i) CHECK(given[i] == Approx(expected[i]).margin(1e-4));
        CHECK(given != numbers(unswept.run->value("logits")));
    }
}

TEST_CASE("a hidden position is seen by nothing but itself") {
    const Unswept unswept = unswept_of("causal-lm", "blocks.1.attn.pattern");
    const Sweep sweep = swept_at(unswept, "each token");
    const Tensor& before = unswept.run->value("blocks.1.attn.pattern");  // [batch, head, query, key]
    const std::span<const float> kept = unswept.scenario.inputs.attention_mask.values();
    REQUIRE(sweep.results.size() == static_cast<std::size_t>(std::ranges::count(kept, 1.0F)));  // without padding
    REQUIRE(sweep.results.size() < kept.size());
    for (Index hidden = 0; hidden < before.dim(2); ++hidden) {
        const Result& result = sweep.results[static_cast<std::size_t>(hidden)];
        CHECK(contains(result.at[0].text.english(), "row 0, position " + std::to_string(hidden)));
        for (Index query = 0; query < before.dim(2); ++query) {
            const float weight = result.value.at(Cell{0, 1, query, hidden});
            CHECK((query == hidden ? weight > 0.0F : weight == 0.0F));
            if (query < hidden) CHECK(result.value.at(Cell{0, 1, query, 0}) == before.at(Cell{0, 1, query, 0}));
            CHECK(result.value.at(Cell{1, 1, query, 0}) == before.at(Cell{1, 1, query, 0}));
        }
    }
    const Unswept cross = unswept_of("reverse", "blocks.0.cross_attn.pattern");
    const Sweep letters = swept_at(cross, "each source letter");
    CHECK(letters.results.size() == swept_at(cross, "each source position").results.size());
    for (const Result& result : letters.results)  // of the first row, one after the other
        if (&result - letters.results.data() < 3)
            for (Index query = 0; query < result.value.dim(2); ++query)
                CHECK(result.value.at(Cell{0, 2, query, &result - letters.results.data()}) == 0.0F);
    CHECK(contains(sweep_error_of("each source letter", unswept), "no source letter"));
}

TEST_CASE("a replaced token is as if it had been typed, bit for bit, and padding is not replaced") {
    for (const auto& [model, what] :
         {std::pair("causal-lm", "each replaced token"), std::pair("reverse", "each replaced source token")}) {
        INFO(model);
        const Unswept unswept = unswept_of(model, "logits");
        const bool source = unswept.scenario.config().encoder_layers > 0;
        const Tensor& tokens = source ? unswept.scenario.inputs.encoder_tokens : unswept.scenario.inputs.tokens;
        const Tensor& mask =
            source ? unswept.scenario.inputs.encoder_attention_mask : unswept.scenario.inputs.attention_mask;
        const std::vector<ReplacedToken> replaced =
            replaced_tokens(unswept.scenario, *unswept.run, source ? TokenSequence::source : TokenSequence::target, 8);
        const Sweep sweep = swept_at(unswept, what);
        REQUIRE(sweep.results.size() == replaced.size());
        std::set<std::pair<Index, Index>> places;
        for (std::size_t i = 0; i < replaced.size(); ++i) {
            const ReplacedToken& one = replaced[i];
            CHECK(one.before == static_cast<Index>(tokens.at(Cell{one.batch, one.position})));
            CHECK(one.after != one.before);
            places.emplace(one.batch, one.position);
            if (i % 7 != 0) continue;
            Scenario typed = unswept.scenario;
            Tensor& other = source ? typed.inputs.encoder_tokens : typed.inputs.tokens;
            other.writable()[static_cast<std::size_t>(other.offset(Cell{one.batch, one.position}))] =
                static_cast<float>(one.after);
            CHECK(numbers(sweep.results[i].value) == numbers(execute(plan_of(typed))->value("logits")));
        }
        const auto kept = mask.empty() ? tokens.size() : std::ranges::count(mask.values(), 1.0F);
        CHECK(static_cast<Index>(places.size()) == kept);
    }
}

// Only that row is computed of what it is made of.
TEST_CASE("a row that is a cell, or a difference of two, has the same bits as in whole runs", "[long]") {
    for (const std::string model : {"causal-lm", "reverse", "verses", "experts", "induction"})
        for (const std::string row : {"logits[0, 3, 5]", "logits[0, 2, 4] - logits[0, 2, 1]",
                                      "blocks.1.resid_mid[0, 3, 2]", "blocks.0.attn.pattern[0, 1, 2, 1]"}) {
            INFO(model << ": " << row);
            const Unswept unswept = unswept_of(model, row);
            for (const std::string what : {"each head", "each layer", "each replaced token",
                                           "blocks.0.attn.z[0, 1, 2, 3]=-1,0.5", "attention_scale=0.1,0.7"}) {
                INFO(what);
                const Points points = all_of({what}, unswept);
                const Sweep sweep = finished(swept(unswept, points, {.output = OfOutput::nothing}));
                for (std::size_t i = 0; i < sweep.results.size(); i += 1 + sweep.results.size() / 20) {
                    Variation variation = points.at(i).variation;
                    variation.more_edits.emplace_back(*unswept.row.added);
                    const auto alone = run_with(unswept.scenario, variation);
                    CHECK(numbers(sweep.results[i].value) == numbers(alone->value(unswept.row.tensor)));
                }
            }
        }
}

TEST_CASE("seeds of a training need a training, and a step of it") {
    Unswept unswept = unswept_of("reverse", "logits");
    CHECK(contains(sweep_error_of("training_seed=0,1", unswept), "no training of this model is known"));
    unswept.trained = [&](core::train::TrainingPoint) -> Resumable<std::shared_ptr<const load::Model>> {
        co_return nullptr;
    };
    CHECK(contains(sweep_error_of("training_seed=0,1", unswept), "training_step=300"));
    CHECK(contains(sweep_error_of("training_seed=x", unswept), "no seed"));
    CHECK(contains(sweep_error_of("batch_seed=0,1", unswept), "batch_seed: after how many steps"));
    CHECK(contains(sweep_error_of("learning_rate=0.1", unswept), "training_step=300"));
    CHECK(contains(sweep_error_of("learning_rate=-1", unswept), "no learning rate"));
}

TEST_CASE("a sweep can be stopped between two runs, and counts them") {
    const Unswept unswept = unswept_of("causal-lm", "logits[0, 3, 5]");
    std::stop_source source;
    std::atomic<std::size_t> done = 0;
    Resumable<Sweep> work =
        swept(unswept, points_of("attention_scale=0.1..1:100", unswept), {.done = &done}, source.get_token());
    bool ended = false;
    while (!ended && done < 3) ended = work.advance();
    REQUIRE_FALSE(ended);
    source.request_stop();
    while (!work.advance()) {
    }
    const Sweep sweep = work.result();
    CHECK(sweep.results.size() == 3);
    CHECK_FALSE(sweep.unswept);
}

TEST_CASE("what can't be varied gets one sentence that says what can") {
    const Unswept unswept = unswept_of("causal-lm", "logits[0, 3, 5]");
    const std::vector<std::pair<std::string, std::string>> wrong = {
        {"", "expected what varies"},
        {"=", "expected what varies"},
        {"=1..2:3", "expected what varies"},
        {"a..b:0", "can't be varied"},
        {"attention_scale", "expected values behind"},
        {"attention_scale=", "expected values behind"},
        {"attention_scale=1,,2", "expected values behind"},
        {"attention_scale=a..b:0", "expected a range"},
        {"attention_scale=0..1", "expected a range"},
        {"attention_scale=..", "expected a range"},
        {"attention_scale=..:", "expected a range"},
        {"attention_scale=0..1:1", "expected a range"},
        {"attention_scale=0..1:-5", "expected a range"},
        {"attention_scale=0..1:1e9", "expected a range"},
        {"attention_scale=nan..1:3", "expected a range"},
        {"attention_scale=0..inf:3", "expected a range"},
        {"attention_scale=0..1:1000000000", "expected at most 10,000"},
        {"attention_scale=0..1:99999999999999999999", "expected a range"},
        {"attention_scale=1..0:5", "expected the smaller first"},
        {"attention_scale=1..1:5", "expected the smaller first"},
        {"attention_scale=NaN", "attention_scale = NaN: attention_scale: expected a number"},
        {"atention_scale=1,2", "is “attention_scale” meant?"},
        {"blocks.0.attn.z[0, 1, 2, 3]=NaN", "no finite number"},
        {"blocks.0.attn.z[0, 1, 2, 3]=1e39", "32-bit float"},
        {"blocks.0.attn.z[0, 1, 2, 99]=1", "not a cell"},
        {"blocks.0.attn.y[0]=1", "no such tensor"},
        {"blocks.0.attn.z[=1", "blocks.0.attn.z["},
        {"blocks.0.attn.head.99=1", "can't be varied"},
        {"blocks.9.attn.head.0=1", "is “blocks.0.attn.head.0” meant?"},
        {"blocks.0.attn.head.=1", "can't be varied"},
        {"tokens[0, 1]=99", "tokens[0, 1] = 99: token 99"},
        {"logits=1,2", "can't be varied"},
        {"dropout_seed=0.5", "no seed"},
        {"dropout_seed=-1", "no seed"},
        {"each", "can't be varied"},
        {"each ", "can't be varied"},
        {"each haed", "is “each head” meant?"},
        {"each head of nowhere", "such as blocks.0.attn"},
        {"each position of blocks.0", "expected nothing behind it"},
    };
    for (const auto& [what, why] : wrong) {
        const std::string error = sweep_error_of(what, unswept);
        INFO("“" << what << "”: " << error);
        CHECK(contains(error, why));
        CHECK(error.find('\n') == std::string::npos);
    }
    CHECK(contains(sweep_error_of("dropout_seed=1..3:3", unswept_of("verses", "logits")),
                   "the dropout of this model is 0"));
    const std::string many = "attention_scale=0.1..1:200";
    CHECK_THROWS_WITH(all_of({many, many}, unswept), Catch::Matchers::ContainsSubstring("40,000"));
}

TEST_CASE("a row is a formula, a name with a formula, or a tensor") {
    const Unswept unswept = unswept_of("causal-lm", "logits");
    const Plan& plan = unswept.run->plan();
    CHECK_FALSE(row_from("logits", plan).added);
    CHECK(row_from("softmax(logits, dim=-1)", plan).added->formula == "softmax(logits, dim=-1)");
    const Row named = row_from("blocks.0.attn.entropy[q] = sum_k pattern[0, 0, q, k] ** 2", plan);
    CHECK(named.tensor == "blocks.0.attn.entropy");
    CHECK(named.added->of == "blocks.0.attn");
    CHECK_THROWS_WITH(row_from("  ", plan), Catch::Matchers::ContainsSubstring("there is no row"));
    CHECK_THROWS_WITH(row_from("blocks.*.attn.a = mean(pattern)", plan), Catch::Matchers::ContainsSubstring("one row"));
    CHECK(contains(sweep_error_of("attention_scale=1,2", unswept_of("causal-lm", "mean(pattren)")), "pattren"));
    CHECK(contains(sweep_error_of("attention_scale=0.1..1:10000", unswept_of("verses", "logits")),
                   "expected at most 10,000,000"));
}

TEST_CASE("a sweep as JSON, CSV and text") {
    const Unswept unswept = unswept_of("causal-lm", "logits[0, 3, 5]");
    const Points points = all_of({"norm_first=true,false", "attention_scale=0.5,1"}, unswept);
    const Sweep sweep = finished(swept(unswept, points));
    REQUIRE(sweep.results.size() == 4);
    check_alone({unswept.scenario, unswept.run, {"logits", {}}},
                finished(swept({unswept.scenario, unswept.run, {"logits", {}}}, points)).results[1],
                {.overrides = {{"norm_first", "true"}, {"attention_scale", "1"}}});

    std::ostringstream json, csv, text;
    write_json(json, sweep);
    const Json list = parse_json(json.str(), message("a list"));
    REQUIRE(list.size() == 4);
    CHECK(list[1]["at"] == Json({"true", 1.0}));
    CHECK(list[2]["at"] == Json({"false", 0.5}));
    CHECK(list[3]["predictions_changed"] == *sweep.results[3].predictions_changed);
    for (std::size_t i = 0; i < 4; ++i) CHECK(float_from_json(list[i]["value"]) == sweep.results[i].value.values()[0]);

    write_csv(csv, sweep);
    CHECK(contains(csv.str(), "norm_first,attention_scale,value,predictions_changed\r\ntrue,0.5,"));
    write_text(text, sweep);
    CHECK(contains(text.str(), "norm_first  attention_scale"));
    CHECK(contains(text.str(), "(unswept)"));
    CHECK(std::ranges::count(text.str(), '\n') == 6);

    const Sweep by_value = sorted(sweep);
    for (std::size_t i = 1; i < 4; ++i)
        CHECK(by_value.results[i - 1].value.values()[0] >= by_value.results[i].value.values()[0]);
}

TEST_CASE("a tensor's numbers are nested lists by its axes, and a column each") {
    const Unswept unswept = unswept_of("causal-lm", "logits");
    const Sweep sweep = swept_at(unswept, "attention_scale=1,2");
    std::ostringstream json, csv, text;
    write_json(json, sweep);
    const Json list = parse_json(json.str(), message("a list"));
    for (std::size_t i = 0; i < 2; ++i)
        CHECK(float_from_json(list[i]["value"][1][2][3]) == sweep.results[i].value.at(Cell{1, 2, 3}));
    write_csv(csv, sweep);
    CHECK(contains(csv.str(), "\"logits[1, 2, 3]\""));
    write_text(text, sweep);
    CHECK(contains(text.str(), "The first 8 of " + std::to_string(sweep.results[0].value.size())));
    CHECK_THROWS_WITH(sorted(sweep), Catch::Matchers::ContainsSubstring("more than one number"));

    Sweep of_nan{.row = "r", .varied = {"x"}, .results = {}};
    for (const float value : {std::numeric_limits<float>::quiet_NaN(), -1.0F, std::numeric_limits<float>::infinity()})
        of_nan.results.push_back({.at = {{Sentence::verbatim("p")}}, .value = Tensor({{axis::one, 1}}, {value})});
    const Sweep ordered = sorted(of_nan);
    CHECK(std::isinf(ordered.results[0].value.values()[0]));
    CHECK(std::isnan(ordered.results[2].value.values()[0]));
    std::ostringstream nan;
    write_json(nan, ordered);
    CHECK(contains(nan.str(), R"({"at":"p","value":"inf"})"));
}

// What is sought is found: against closed forms in double precision and runs made by themselves.

namespace {

Found found_by(const Unswept& unswept, const std::string& vary, const std::string& target) {
    return finished(sought(unswept, vary, target_from(target)));
}

std::string seek_error(const Unswept& unswept, const std::string& vary, const std::string& target) {
    return error_of([&] { static_cast<void>(found_by(unswept, vary, target)); });
}

}  // namespace

TEST_CASE("the temperature that makes a probability what is wanted is that of the softmax in double precision") {
    const Unswept unswept = unswept_of("reverse", "sure = max_v softmax_v(logits[0, 1, v] / temperature)");
    const Found found = found_by(unswept, "temperature", "0.25");
    REQUIRE(found.number);
    const std::span<const float> logits = unswept.run->value("logits").row({0, 1, 0});
    double sum = 0.0;
    const double most = static_cast<double>(*std::ranges::max_element(logits));
    for (const float logit : logits) sum += std::exp((static_cast<double>(logit) - most) / *found.number);
    CHECK(1.0 / sum == Approx(0.25).epsilon(1e-5));
    CHECK(found.after == Approx(0.25).epsilon(1e-5));
}

TEST_CASE("a cell of what is added last moves its sum by as much, so that the sought value is known") {
    const Unswept unswept = unswept_of("causal-lm", "blocks.4.resid_post[0, 3, 5]");
    const Tensor& sum = unswept.run->value("blocks.4.resid_post");
    const Tensor& mlp = unswept.run->value("blocks.4.mlp_out");
    const double now = static_cast<double>(sum.at(Cell{0, 3, 5}));
    const Found found = found_by(unswept, "blocks.4.mlp_out[0, 3, 5]", "7.5");
    REQUIRE(found.number);
    CHECK(*found.number == Approx(static_cast<double>(mlp.at(Cell{0, 3, 5})) + 7.5 - now).epsilon(1e-5));
}

TEST_CASE("a prediction becomes another token, and a run by itself predicts it") {
    const Unswept unswept = unswept_of("causal-lm", "logits[0, 3, 5]");
    for (const std::string vary : {"blocks.4.resid_post", "blocks.0.attn.z"}) {
        const Found found = found_by(unswept, vary, "largest");
        CHECK(found.length > 0.0);
        CHECK(found.before < 0.0);
        CHECK(found.after > 0.0);
        const auto run = run_with(unswept.scenario, found.point.variation);
        const std::span<const float> logits = run->value("logits").row({0, 3, 0});
        CHECK(std::ranges::max_element(logits) - logits.begin() == 5);
        // The change is along one direction, and as long as is said.
        double length = 0.0;
        for (const Edit& edit : found.point.variation.more_edits) {
            const SetCell& cell = std::get<SetCell>(edit);
            const double change =
                static_cast<double>(cell.value) - static_cast<double>(unswept.run->value(cell.tensor).at(cell.index));
            length += change * change;
        }
        CHECK(std::sqrt(length) == Approx(found.length).epsilon(1e-3));
    }
}

TEST_CASE("what a linear row seeks along its gradient is the shortest change of all") {
    // The sum of one position's stream: its gradient is 1 everywhere, so the change is the same in each column.
    const Unswept unswept = unswept_of("causal-lm", "total = Σ_d blocks.4.resid_post[0, 3, d]");
    const Found found = found_by(unswept, "blocks.4.mlp_out", "100");
    const auto columns = static_cast<double>(unswept.scenario.config().d_model);
    CHECK(found.after == Approx(100.0).epsilon(1e-4));
    CHECK(found.length == Approx(std::abs(100.0 - found.before) / std::sqrt(columns)).epsilon(1e-3));
}

TEST_CASE("what can't be sought, or found, is one sentence") {
    const Unswept unswept = unswept_of("causal-lm", "logits[0, 3, 5]");
    CHECK_THROWS_WITH(target_from("much"), Catch::Matchers::ContainsSubstring("nothing to seek"));
    CHECK(contains(seek_error(unswept, "attention_scale=0.1..0.2", "1e9"),
                   "no value of attention_scale from 0.1 to 0.2"));
    CHECK(contains(seek_error(unswept, "attention_scal", "1"), "attention_scale"));
    CHECK(contains(seek_error(unswept, "norm_first=true", "1"), "expected a range"));
    CHECK(contains(seek_error(unswept, "attention_scale=0.1,0.5", "1"), "expected a range"));
    CHECK(contains(seek_error(unswept, "attention_scale", "> -1e9"), "already"));
    CHECK(contains(seek_error(unswept_of("causal-lm", "logits"), "attention_scale", "1"), "expected one"));
    CHECK(contains(seek_error(unswept, "attention_scale=0..1", "largest"), "attention_scale"));
    CHECK(contains(seek_error(unswept_of("causal-lm", "blocks.0.attn.z[0, 0, 0, 0]"), "blocks.4.resid_post", "1"),
                   "leads nowhere"));
}
