// The gallery of bugs: each exercise's mistake is the one that it says, first where it says, with the symptom that it
// reports; what it calls a false alarm changes no prediction.
#include "app/core/run/passes_of_text.h"
#include "tests/catch.h"
#include "tests/core/gallery/exercises.h"
#include "tests/engine/same_bits.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

using namespace decoderscope::testing;
using namespace decoderscope::core::lessons;
using namespace decoderscope::mutations;

TEST_CASE("the gallery has at least 24 bugs and 4 false alarms, each with another cause") {
    std::size_t bugs = 0, alarms = 0;
    std::set<std::string> mistakes;
    for (const Exercise& one : exercises()) {
        INFO(one.name);
        (one.is_false_alarm() ? alarms : bugs) += 1;
        if (one.mutation() != nullptr) CHECK(mistakes.insert(one.mutant.mutation).second);
        CHECK((one.is_false_alarm() || !one.lesson->happened.empty()));
        for (const std::string& where : one.lesson->happened) CHECK(where.starts_with("https://"));
    }
    CHECK(bugs >= 24);
    CHECK(alarms >= 4);
}

TEST_CASE("every cause that an exercise offers is a mistake that can be made") {
    for (const Exercise& one : exercises()) {
        std::set<std::string> offered;
        std::size_t right = 0;
        for (const lessons::Choice& choice : one.bug.choices) {
            INFO(one.name << " " << choice.mutation);
            CHECK((choice.mutation == "nothing" || find_mutation(choice.mutation) != nullptr));
            CHECK(offered.insert(choice.mutation).second);
            const bool is_right =
                one.is_false_alarm() ? choice.mutation == "nothing" : choice.mutation == one.mutant.mutation;
            right += is_right ? 1 : 0;
            CHECK(is_right == choice.reply.empty());  // every wrong answer has a reply of its own
        }
        INFO(one.name);
        CHECK(right == 1);
        CHECK(offered.contains("nothing"));
    }
}

TEST_CASE("an exercise's solution is the first step whose numbers are wrong") {
    for (const Exercise& one : exercises()) {
        if (one.is_false_alarm()) continue;
        INFO(one.name);
        const std::shared_ptr<const Run> right = run_of(one.right), wrong = run_of(one.mutant);
        const Ref first = first_changed(right->plan(), wrong->plan());
        REQUIRE(first != nullptr);
        CHECK(first->name == one.bug.solution);
        for (const Step& step : right->plan().steps()) {
            if (step.is_source() || step.role == Role::on_demand || wrong->plan().find(step.name) == nullptr) continue;
            const double differs = difference(right->value(step.id), wrong->value(step.name));
            INFO(step.name);
            if (step.id < first->id) CHECK(differs == 0.0);
            if (step.id == first->id) CHECK(differs > 1e-2);
            if (step.id >= first->id) break;
        }
        for (const std::string& also : one.bug.also)
            if (const Ref step = right->plan().find(also)) {
                INFO(also);
                CHECK(difference(right->value(step->id), wrong->value(also)) > 1e-2);
            }
    }
}

namespace {

// What of its words the model still writes: how often the next token is the likeliest, before and after.
struct Worse {
    double at_least, at_most;  // hits, as parts of all
};

// Mistakes whose report is of wrong or unsure predictions.
const std::map<std::string, Worse> kWorse = {
    {"no-scale", {1.0, 0.8}},
    {"scale-by-d-model", {0.95, 0.8}},
    {"causal-upper", {0.95, 0.2}},
    {"mask-after-softmax", {0.95, 0.8}},
    {"fill-zero", {0.95, 0.7}},
    {"source-padding-ignored", {1.0, 0.7}},
    {"target-padding-for-source", {1.0, 0.25}},
    {"softmax-over-queries", {0.95, 0.7}},
    {"residual-from-norm", {0.95, 0.5}},
    {"no-residual-cross-attention", {1.0, 0.5}},
    {"norm-elsewhere", {1.0, 0.5}},
    {"shared-qkv", {1.0, 0.1}},
    {"positions-by-batch", {1.0, 0.2}},
    {"sinusoid-in-halves", {1.0, 0.5}},
    {"positions-from-1", {0.95, 0.9}},
    {"embedding-scaled", {1.0, 0.5}},
    {"relu", {0.95, 0.85}},
    {"causal-cross-attention", {1.0, 0.7}},
    {"one-norm-for-both", {0.97, 0.95}},
    {"dropout-left-on", {0.95, 0.92}},
};

// Of strings that come twice: the mean probability of the letters of the second half, from the second one on.
double of_the_repeat(const Reading& reading) { return reading.mean(10, 8); }

}  // namespace

TEST_CASE("the predictions are as bad as the report says") {
    for (const auto& [mutation, worse] : kWorse) {
        INFO(mutation);
        const Exercise& one = exercise_with(mutation);
        const Reading right = reading_of(one.right), wrong = reading_of(one.mutant);
        const auto part = [](const Reading& reading) {
            return static_cast<double>(reading.hits) / static_cast<double>(reading.probability.size());
        };
        INFO(part(right) << " " << part(wrong) << ", mean " << right.mean() << " " << wrong.mean());
        CHECK(part(right) >= worse.at_least);
        CHECK(part(wrong) <= worse.at_most);
        CHECK(wrong.mean() < right.mean());
        CHECK(wrong.nans == 0);
    }
}

TEST_CASE("what could be known of a repeated string is lost") {
    for (const char* mutation :
         {"norm-over-positions", "heads-by-view", "heads-joined-by-view", "rope-other-pairs", "key-heads-tiled"}) {
        INFO(mutation);
        const Exercise& one = exercise_with(mutation);
        const double right = of_the_repeat(reading_of(one.right)), wrong = of_the_repeat(reading_of(one.mutant));
        INFO(right << " " << wrong);
        CHECK(wrong < 0.9 * right);
        CHECK(right > 3.0 / 26.0);
    }
}

namespace {

// Mistakes of modern decoders, and where a text says what follows: in a string that comes twice, from its second letter
// on when it comes again; in a row of digits that are sums of the two before, from the third on.
struct Known {
    const char* mutation;
    std::size_t first, count;  // of the predictions
};
constexpr std::array kOfToday = {
    Known{"expert-weights-not-normalized", 2, 14},
    Known{"correction-as-weight", 2, 14},
    Known{"no-sinks", 11, 9},
    Known{"rope-local-theta-ignored", 11, 9},
    Known{"rope-in-every-layer", 10, 8},
    Known{"rope-theta-10000", 10, 8},
};

}  // namespace

TEST_CASE("what a current decoder knows of its text is lost") {
    for (const Known& known : kOfToday) {
        INFO(known.mutation);
        const Exercise& one = exercise_with(known.mutation);
        const Reading right = reading_of(one.right), wrong = reading_of(one.mutant);
        REQUIRE(right.probability.size() >= known.first + known.count);
        INFO(right.mean(known.first, known.count) << " " << wrong.mean(known.first, known.count));
        CHECK(right.mean(known.first, known.count) > 0.9);
        CHECK(wrong.mean(known.first, known.count) < 0.85 * right.mean(known.first, known.count));
        CHECK(wrong.hits < right.hits);
    }
}

namespace {

// Mistakes of a pass behind a cache: in the repeated half of a string, or of a text that the model knows.
constexpr std::array kBehindCache = {"cached-positions-behind", "cached-positions-restart", "cached-mask-top-left",
                                     "cache-of-the-layer-before", "cache-of-another-row"};

}  // namespace

TEST_CASE("what a pass could know of the passes before it is lost") {
    for (const char* mutation : kBehindCache) {
        INFO(mutation);
        const Exercise& one = exercise_with(mutation);
        const Reading right = reading_of(one.right), wrong = reading_of(one.mutant);
        REQUIRE(right.probability.size() >= 7);
        INFO(right.mean() << " " << wrong.mean());
        CHECK(wrong.mean() < 0.75 * right.mean());
        CHECK(wrong.hits < right.hits);
    }
}

TEST_CASE(
    "what hides within a tolerance for bfloat16 begins where rounding doesn't, and is as large at every position") {
    const Exercise& one = exercise_with("no-head-bias");
    CHECK(one.right.config().arithmetic == Arithmetic::bfloat16);
    const std::shared_ptr<const Run> right = run_of(one.right), wrong = run_of(one.mutant);
    const Tensor &a = right->value("logits"), &b = wrong->value("logits");  // [batch, pos, vocab]
    const double far = difference(a, b);
    CHECK(far < 0.08);
    // Several times as far as rounding, and yet no first choice is another.
    const std::shared_ptr<const Run> exact = run_of(with_override(one.right, "arithmetic", "float32"));
    CHECK(far > 4.0 * difference(exact->value("logits"), a));
    CHECK(reading_of(one.right).hits == reading_of(one.mutant).hits);
    CHECK(reading_of(one.mutant).mean() < reading_of(one.right).mean());
    for (Index token = 0; token < a.dim(2); ++token) {
        const auto lost = [&](Index pos) {
            return static_cast<double>(a.at(Cell{0, pos, token})) - static_cast<double>(b.at(Cell{0, pos, token}));
        };
        for (Index pos = 1; pos < a.dim(1); ++pos) CHECK(std::abs(lost(pos) - lost(0)) <= 0.125);
    }
}

TEST_CASE("what an exercise about rounding calls rounding moves less than rounding does, or changes an expert") {
    const auto is = [](const char* name) {
        const auto found = std::ranges::find(exercises(), std::string("gallery/") + name, &Exercise::name);
        REQUIRE(found != exercises().end());
        CHECK(found->is_false_alarm());
        return found->right;
    };
    const auto logits = [](const Scenario& scenario) { return run_of(scenario)->value("logits"); };
    const auto in_float32 = [](const Scenario& scenario) { return with_override(scenario, "arithmetic", "float32"); };
    const Scenario libraries = is("two-libraries"), sums = is("sums-of-weights"), half = is("half-a-digit");
    const double own = difference(logits(in_float32(libraries)), logits(libraries));
    CHECK(difference(logits(libraries), logits(with_override(libraries, "norm_cast", "after_gain"))) < 2.0 * own);
    CHECK(difference(logits(in_float32(half)), logits(half)) < 0.01);
    // Behind the cache as in one pass.
    const Scenario whole = with_whole_text(half);
    const Index first = first_position(half), count = half.inputs.pos();
    const Tensor of_whole = part_of(logits(whole), {0, first, 0},
                                    {{axis::batch, 1}, {axis::pos, count}, {axis::vocab, logits(whole).dim(2)}});
    CHECK(difference(of_whole, logits(half)) == 0.0);
    const Tensor pattern = run_of(sums)->value("blocks.0.attn.pattern");  // [batch, head, query, key]
    for (Index query = 0; query < pattern.dim(2); ++query) {
        double sum = 0.0;
        for (const float weight : pattern.row({0, 0, query, 0})) sum += static_cast<double>(weight);
        CHECK(std::abs(sum - 1.0) <= 1.0 / 256.0);
    }
    const Scenario experts = is("other-experts");
    const auto chosen = [](const Scenario& scenario) { return run_of(scenario)->value("blocks.0.mlp.expert"); };
    CHECK_FALSE(std::ranges::equal(chosen(experts).values(), chosen(in_float32(experts)).values()));
}

TEST_CASE("what only a pass behind a cache gets wrong is right in one pass, and short texts know nothing of a window") {
    for (const Exercise& one : exercises()) {
        if (one.mutation() == nullptr || !one.mutation()->behind_cache) continue;
        INFO(one.name);
        CHECK(difference(run_of(one.right)->value("logits"), run_of(one.mutant)->value("logits")) > 1e-2);
        // Without a cache it can't be made: the whole text is as it should be.
        Scenario whole = with_whole_text(one.mutant);
        const std::shared_ptr<const Run> made = run_of(whole);
        whole.mutation.clear();
        CHECK(difference(run_of(whole)->value("logits"), made->value("logits")) == 0.0);
    }
    const Exercise& window = exercise_with("cached-window-missing");
    const auto shorter = [&](const Scenario& scenario) {
        Scenario text = with_whole_text(scenario);
        text.inputs = part_of(text.inputs, {0, window.right.config().sliding_window});
        return run_of(with_pass(text, {3}, 1));
    };
    CHECK(difference(shorter(window.right)->value("logits"), shorter(window.mutant)->value("logits")) == 0.0);
}

TEST_CASE("what can't be known is known where the next letter leaks") {
    for (const char* mutation : {"causal-one-too-far", "mask-added-as-float"}) {
        INFO(mutation);
        const Exercise& one = exercise_with(mutation);
        CHECK(reading_of(one.right).mean(0, 8) < 0.15);
        CHECK(reading_of(one.mutant).mean(0, 8) > 0.5);
    }
}

TEST_CASE("a change of the last token moves earlier predictions where the report says so, and nowhere else") {
    const std::set<std::string> leaking = {
        "causal-upper", "causal-one-too-far",   "causal-one-too-short", "mask-after-softmax", "mask-added-as-float",
        "fill-zero",    "softmax-over-queries", "norm-over-positions",  "heads-by-view",      "heads-joined-by-view"};
    for (const Exercise& one : exercises()) {
        const Reading reading = reading_of(one.mutant);
        if (reading.nans > 0) continue;
        INFO(one.name);
        CHECK(leak_of(one.right) == 0.0);
        if (leaking.contains(one.mutant.mutation))
            CHECK(leak_of(one.mutant) > 0.05);
        else
            CHECK(leak_of(one.mutant) == 0.0);
    }
}

TEST_CASE("a first row with nothing left sees everything evenly, and no other row does") {
    const Exercise& one = exercise_with("causal-one-too-short");
    const std::shared_ptr<const Run> run = run_of(one.mutant);
    const Tensor& pattern = run->value("blocks.0.attn.pattern");  // [batch, head, query, key]
    for (Index key = 0; key < pattern.dim(3); ++key)
        CHECK(pattern.at(Cell{0, 0, 0, key}) == Approx(1.0 / static_cast<double>(pattern.dim(3))));
    for (Index query = 1; query < pattern.dim(2); ++query)
        for (Index key = query; key < pattern.dim(3); ++key) CHECK(pattern.at(Cell{0, 0, query, key}) == 0.0F);
}

TEST_CASE("without the final norm the likeliest tokens are hardly others, and the model is far too sure of them") {
    const Exercise& one = exercise_with("no-final-norm");
    const auto largest = [](const Scenario& scenario) {
        double most = 0.0;
        const std::shared_ptr<const Run> run = run_of(scenario);
        for (const float logit : run->value("logits").values())
            most = std::max(most, std::abs(static_cast<double>(logit)));
        return most;
    };
    const auto loss = [](const Reading& reading) {
        double sum = 0.0;
        for (const double probability : reading.probability) sum -= std::log(probability);
        return sum / static_cast<double>(reading.probability.size());
    };
    CHECK(largest(one.mutant) > 5.0 * largest(one.right));
    CHECK(loss(reading_of(one.mutant)) > loss(reading_of(one.right)) + 0.5);
    CHECK(of_the_repeat(reading_of(one.mutant)) > 0.9);
}

TEST_CASE("NaN stands where the report says") {
    CHECK(reading_of(exercise_with("mask-inverted").right).nans == 0);
    const Scenario& inverted = exercise_with("mask-inverted").mutant;
    CHECK(static_cast<Index>(reading_of(inverted).nans) == run_of(inverted)->value("logits").size());

    CHECK(reading_of(exercise_with("fill-overflows").right).nans == 0);
    CHECK(reading_of(exercise_with("fill-overflows").mutant).nans > 0);

    const Exercise& rows = exercise_with("padding-on-queries");
    CHECK(reading_of(rows.right).nans == 0);
    const std::shared_ptr<const Run> wrong = run_of(rows.mutant);
    const Tensor& logits = wrong->value("logits");
    for (Index i = 0; i < logits.size(); ++i) {
        const Cell cell = logits.cell(i);
        if (cell[0] == 1) CHECK(!std::isnan(logits.at(cell)));  // the longer word
    }
    CHECK(reading_of(rows.mutant).nans > 0);
}

TEST_CASE("a loss is what its report says") {
    const auto loss = [](const Scenario& scenario) {
        return static_cast<double>(run_of(scenario)->value("loss").at(Cell{0}));
    };
    const Exercise& floor = exercise_with("softmax-in-model");
    CHECK(loss(floor.right) < 0.01);
    const double vocabulary = static_cast<double>(floor.right.config().vocab_size);
    const double lowest = std::log(std::exp(1.0) + vocabulary - 1.0) - 1.0;
    CHECK(loss(floor.mutant) >= lowest);
    CHECK(loss(floor.mutant) < lowest + 0.1);
    CHECK(reading_of(floor.mutant).hits == reading_of(floor.mutant).probability.size());

    const Exercise& parrot = exercise_with("targets-not-shifted");
    CHECK(loss(parrot.mutant) < 0.01);
    CHECK(loss(parrot.right) > 3.0);
    const std::shared_ptr<const Run> run = run_of(parrot.mutant);
    const Tensor& logits = run->value("logits");
    for (Index pos = 0; pos < logits.dim(1); ++pos) {  // it says again what it has read
        const auto own = static_cast<Index>(parrot.mutant.inputs.tokens.at(Cell{0, pos}));
        for (Index token = 0; token < logits.dim(2); ++token)
            CHECK(logits.at(Cell{0, pos, token}) <= logits.at(Cell{0, pos, own}));
    }

    const Exercise& next = exercise_with("documents-in-loss");
    const std::shared_ptr<const Run> packed = run_of(next.mutant);
    const std::span<const float> each = packed->value("loss_per_token").row({0, 0});
    constexpr std::size_t kEnd = 17;  // of the first text
    CHECK(packed->value("segments").at(Cell{0, kEnd}) != packed->value("segments").at(Cell{0, kEnd + 1}));
    CHECK(each[kEnd] > 2.0F * std::ranges::max(each.first(kEnd)));
    CHECK(run_of(next.right)->value("loss_per_token").row({0, 0})[kEnd] == 0.0F);
    CHECK(loss(next.mutant) > loss(next.right) + 0.1);
    CHECK(same_bits(packed->value("logits"), run_of(next.right)->value("logits")));
}

TEST_CASE("every bug's symptom is tested") {
    std::set<std::string> tested = {
        "causal-one-too-short", "norm-over-positions", "heads-by-view",       "heads-joined-by-view",
        "rope-other-pairs",     "key-heads-tiled",     "no-final-norm",       "dropout-left-on",
        "causal-one-too-far",   "mask-added-as-float", "mask-inverted",       "fill-overflows",
        "padding-on-queries",   "softmax-in-model",    "targets-not-shifted", "documents-in-loss"};
    for (const auto& [mutation, worse] : kWorse) tested.insert(mutation);
    for (const Known& known : kOfToday) tested.insert(known.mutation);
    tested.insert(kBehindCache.begin(), kBehindCache.end());
    tested.insert({"cached-window-missing", "no-head-bias"});
    for (const Exercise& one : exercises()) {
        INFO(one.name);
        if (!one.is_false_alarm()) CHECK(tested.contains(one.mutant.mutation));
    }
}

TEST_CASE("a false alarm changes no prediction") {
    constexpr double kTolerance = 1e-3;  // of the largest logit
    for (const Exercise& one : exercises()) {
        if (!one.is_false_alarm()) continue;
        INFO(one.name);
        const Reading right = reading_of(one.right), other = reading_of(one.mutant);
        CHECK(right.hits == other.hits);
        CHECK(difference(run_of(one.right)->value("logits"), run_of(one.mutant)->value("logits")) < kTolerance);
        if (one.mutation() == nullptr) continue;
        // And yet something differs: the alarm has a reason.
        const std::shared_ptr<const Run> meant = run_of(one.right), seen = run_of(one.mutant);
        const Ref first = first_changed(meant->plan(), seen->plan());
        REQUIRE(first != nullptr);
        CHECK(difference(meant->value(first->id), seen->value(first->name)) > 1e-5);
    }
}
