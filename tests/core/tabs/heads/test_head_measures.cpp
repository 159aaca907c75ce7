// What the Heads tab measures on a pattern: on plain values and against PyTorch's numbers.
#include "app/core/session/session.h"
#include "app/core/tabs/heads/head_scores.h"
#include "app/core/tabs/heads/shown_heads.h"
#include "engine/base/json.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/engine/not_finite.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <vector>

using namespace decoderscope::testing;
using namespace decoderscope::core::heads;

namespace {

double value(const Pattern& pattern, PatternMeasure measure) { return measured(pattern, measure); }

HeadScore score(double entropy, Index layer, Index head) {
    HeadScore s{.attention = "blocks." + std::to_string(layer) + ".attn", .layer = layer, .head = head, .keys = 4};
    s.values[0] = entropy;
    return s;
}

// A single measure of one head, from the recorded weights and mask of batch row 1.
double one_by_one(const Inputs& inputs, const Run& run, AttentionKind kind, const HeadScore& score,
                  PatternMeasure measure) {
    const Tensor& weights = run.value(score.attention + ".pattern");
    const Tensor& mask = run.value(score.attention + ".mask");
    const Index queries = weights.dim(2), keys = weights.dim(3);
    std::vector<float> of_head;
    std::vector<Index> seen;
    for (Index query = 0; query < queries; ++query) {
        seen.push_back(0);
        for (Index key = 0; key < keys; ++key) {
            of_head.push_back(weights.at(Cell{1, score.head, query, key}));
            if (mask.at(Cell{1, score.head, query, key}) != 0.0F) ++seen.back();
        }
    }
    const std::vector<std::uint8_t> padded = padded_queries(inputs, kind, 1);
    return value({queries, keys, of_head, seen, padded}, measure);
}

}  // namespace

TEST_CASE("an even causal pattern has the entropy and the masses of the formula") {
    // Row i is uniform over its i + 1 visible keys.
    const std::vector<float> weights = {1,        0,        0,        0, 0.5F,  0.5F,  0,     0,
                                        1 / 3.0F, 1 / 3.0F, 1 / 3.0F, 0, 0.25F, 0.25F, 0.25F, 0.25F};
    const std::vector<Index> seen = {1, 2, 3, 4};
    const Pattern pattern{4, 4, weights, seen, {}};
    CHECK(value(pattern, PatternMeasure::entropy) == Approx((0 + 1 + std::log2(3.0) + 2) / 4));
    CHECK(value(pattern, PatternMeasure::spread) == Approx(1.0));  // row 0 sees only one key, and is left out
    CHECK(value(pattern, PatternMeasure::largest) == Approx((1 + 0.5 + 1 / 3.0 + 0.25) / 4));
    CHECK(value(pattern, PatternMeasure::previous) == Approx((0.5 + 1 / 3.0 + 0.25) / 3));  // row 0 has none before it
    CHECK(value(pattern, PatternMeasure::first) == Approx((1 + 0.5 + 1 / 3.0 + 0.25) / 4));
    CHECK(value(pattern, PatternMeasure::diagonal) == Approx((1 + 0.5 + 1 / 3.0 + 0.25) / 4));
}

TEST_CASE("a head that looks one step back has all its mass there, and no entropy") {
    const std::vector<float> weights = {1, 0, 0, 1, 0, 0, 0, 1, 0};
    const Pattern pattern{3, 3, weights, {}, {}};
    CHECK(value(pattern, PatternMeasure::previous) == 1.0);
    CHECK(value(pattern, PatternMeasure::entropy) == 0.0);
    CHECK(value(pattern, PatternMeasure::spread) == 0.0);
    CHECK(value(pattern, PatternMeasure::largest) == 1.0);
    CHECK(value(pattern, PatternMeasure::diagonal) == Approx(1 / 3.0));
    CHECK(value(pattern, PatternMeasure::first) == Approx(2 / 3.0));
}

TEST_CASE("rows that are padding or NaN count nowhere, and where no row counts there is no number") {
    const std::vector<float> weights = {1, 0, kNan, kNan, 0.5F, 0.5F};
    const std::vector<std::uint8_t> padding = {1, 0, 0};
    CHECK(value({3, 2, weights, {}, {}}, PatternMeasure::entropy) == 0.5);
    CHECK(value({3, 2, weights, {}, padding}, PatternMeasure::entropy) == 1.0);
    CHECK(value({3, 2, weights, {}, padding}, PatternMeasure::first) == 0.5);
    CHECK(value({3, 2, weights, {}, padding}, PatternMeasure::previous) == 0.5);       // query 2 on key 1
    CHECK(std::isnan(value({3, 2, weights, {}, padding}, PatternMeasure::diagonal)));  // query 2 has no key 2
    const std::vector<std::uint8_t> all = {1, 1, 1};
    for (const PatternMeasure measure : kPatternMeasures) CHECK(std::isnan(value({3, 2, weights, {}, all}, measure)));
}

TEST_CASE("all measures at once are the measures one by one, and none is beyond the highest possible") {
    const auto model = make_bundled_model("post-ln-encdec");
    const Scenario scenario = scenario_of(model);
    const auto run = execute(plan_of(scenario));
    for (const AttentionKind kind : kAttentionKinds) {
        const auto scores = finished(head_scores(scenario.inputs, run, kind, 1));
        REQUIRE(scores.size() == static_cast<std::size_t>(scenario.config().nhead * 2));
        for (const HeadScore& s : scores)
            for (const PatternMeasure measure : kPatternMeasures) {
                INFO(s.attention << " head " << s.head << " " << measure_name(measure));
                const double alone = one_by_one(scenario.inputs, *run, kind, s, measure);
                REQUIRE(std::isnan(s.value(measure)) == std::isnan(alone));
                if (std::isnan(alone)) continue;
                CHECK(s.value(measure) == Approx(alone).margin(1e-12));
                CHECK(s.value(measure) >= 0.0);
                CHECK(s.value(measure) <= highest_possible(measure, s.keys) + 1e-6);
            }
    }
}

TEST_CASE("the measures of the bundled models are PyTorch's") {
    std::ifstream file(DECODERSCOPE_TESTS_DIR "/reference/tabs_heads.json");
    const nlohmann::json expected = nlohmann::json::parse(file);
    REQUIRE(expected.size() == 4);
    for (const auto& [name, heads] : expected.items()) {
        const Scenario scenario = scenario_of(make_bundled_model(name));
        const auto run = execute(plan_of(scenario));
        std::size_t seen = 0;
        for (const AttentionKind kind : kAttentionKinds)
            for (Index batch = 0; batch < scenario.batch(); ++batch)
                for (const HeadScore& s : finished(head_scores(scenario.inputs, run, kind, batch))) {
                    const std::string head =
                        s.attention + "[" + std::to_string(batch) + ", " + std::to_string(s.head) + "]";
                    INFO(name << " " << head);
                    const auto& row = heads.at(head);
                    for (std::size_t i = 0; i < s.values.size(); ++i) {
                        INFO(measure_name(kPatternMeasures[i]));
                        if (row[i].is_null())
                            CHECK(std::isnan(s.values[i]));
                        else
                            CHECK(s.values[i] == Approx(row[i].get<double>()).margin(2e-5));
                    }
                    ++seen;
                }
        CHECK(seen == heads.size());
    }
}

TEST_CASE("the attentions of a model are listed by kind and layer") {
    const auto plan = [](const char* name) { return plan_of(scenario_of(make_bundled_model(name))); };
    const auto encdec = plan("post-ln-encdec"), decoder = plan("causal-lm-as-meant");
    CHECK(attentions_of_kind(*encdec, AttentionKind::self) ==
          std::vector<std::string>{"blocks.0.attn", "blocks.1.attn"});
    CHECK(attentions_of_kind(*encdec, AttentionKind::cross) ==
          std::vector<std::string>{"blocks.0.cross_attn", "blocks.1.cross_attn"});
    CHECK(attentions_of_kind(*encdec, AttentionKind::encoder) ==
          std::vector<std::string>{"encoder.blocks.0.attn", "encoder.blocks.1.attn"});
    CHECK(attentions_of_kind(*decoder, AttentionKind::self).size() == 5);
    CHECK(attentions_of_kind(*decoder, AttentionKind::cross).empty());
    for (const AttentionKind kind : kAttentionKinds)
        for (const std::string& attention : attentions_of_kind(*encdec, kind))
            CHECK(kind_of_attention(*encdec, attention) == kind);
}

TEST_CASE("queries that the attention mask leaves out are padding, in the sequence that the queries are of") {
    Inputs inputs;
    const Axis batch = {axis::batch, 2}, pos = {axis::pos, 3}, src = {axis::src, 2};
    inputs.attention_mask = Tensor({batch, pos}, {1, 1, 1, 0, 1, 1});
    inputs.encoder_attention_mask = Tensor({batch, src}, {1, 0, 1, 1});
    CHECK(padded_queries(inputs, AttentionKind::self, 0) == std::vector<std::uint8_t>{0, 0, 0});
    CHECK(padded_queries(inputs, AttentionKind::self, 1) == std::vector<std::uint8_t>{1, 0, 0});
    CHECK(padded_queries(inputs, AttentionKind::cross, 1) == std::vector<std::uint8_t>{1, 0, 0});
    CHECK(padded_queries(inputs, AttentionKind::encoder, 0) == std::vector<std::uint8_t>{0, 1});
    CHECK(padded_queries({}, AttentionKind::self, 0).empty());
}

TEST_CASE("heads are ordered over the whole grid, those without a number last") {
    const std::vector<HeadScore> scores = {score(1, 0, 0), score(kNan, 0, 1), score(3, 1, 0), score(1, 1, 1)};
    using Indices = std::vector<std::size_t>;
    CHECK(ordered(scores, PatternMeasure::entropy, HeadOrder::by_layer) == Indices{0, 1, 2, 3});
    CHECK(ordered(scores, PatternMeasure::entropy, HeadOrder::highest_first) == Indices{2, 0, 3, 1});
    CHECK(ordered(scores, PatternMeasure::entropy, HeadOrder::lowest_first) == Indices{0, 3, 2, 1});
}

TEST_CASE("a threshold keeps the heads from it up, or down from it") {
    const HeadScore low = score(0.5, 0, 0), high = score(1.5, 0, 1), none = score(kNan, 0, 2);
    const auto passing = [](const HeadScore& s, double threshold, bool at_most) {
        return passes(s, PatternMeasure::entropy, {threshold, at_most});
    };
    CHECK_FALSE(passing(low, 1.0, false));
    CHECK(passing(high, 1.0, false));
    CHECK(passing(low, 1.0, true));
    CHECK_FALSE(passing(high, 1.0, true));
    CHECK(passing(high, 1.5, false));
    CHECK(passing(high, 1.5, true));
    // Every number passes at the end of the scale; NaN passes nothing else.
    CHECK(passing(none, 0.0, false));
    CHECK_FALSE(passing(none, 0.1, false));
    CHECK(passing(none, 2.0, true));
    CHECK_FALSE(passing(none, 1.9, true));
}

TEST_CASE("measuring only what an edit reached gives what measuring all gives") {
    Session session(make_bundled_model("causal-lm-as-meant"));
    const auto before = session.shown().run;
    const auto known = finished(head_scores(session.scenario().inputs, before, AttentionKind::self, 0));
    session.apply(command::PaintMask{"blocks.2.attn", 0, 3, 2, 0, false});
    session.finish();
    const auto after = session.shown().run;
    const auto all = finished(head_scores(session.scenario().inputs, after, AttentionKind::self, 0));
    const auto again = finished(head_scores(session.scenario().inputs, after, AttentionKind::self, 0, before, known));
    REQUIRE(again.size() == all.size());
    bool changed = false;
    for (std::size_t i = 0; i < all.size(); ++i) {
        CHECK(again[i].attention == all[i].attention);
        CHECK(again[i].head == all[i].head);
        CHECK(again[i].values == all[i].values);
        CHECK(again[i].highest == all[i].highest);
        changed = changed || all[i].values != known[i].values;
    }
    CHECK(changed);
}

TEST_CASE("a head is named by the largest of three weights, if it is over 0.3 and the weights aren't all alike") {
    const auto named = [](double previous, double first, double diagonal, double spread) {
        HeadScore score;
        score.values[static_cast<std::size_t>(PatternMeasure::spread)] = spread;
        score.values[static_cast<std::size_t>(PatternMeasure::previous)] = previous;
        score.values[static_cast<std::size_t>(PatternMeasure::first)] = first;
        score.values[static_cast<std::size_t>(PatternMeasure::diagonal)] = diagonal;
        return habit_of(score);
    };
    const auto habit = [&](double previous, double first, double diagonal) {
        return named(previous, first, diagonal, 0.6).measure;
    };
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    CHECK(habit(0.31, 0.2, 0.3) == PatternMeasure::previous);
    CHECK(habit(0.4, 0.5, 0.1) == PatternMeasure::first);
    CHECK(habit(0.4, 0.5, 0.51) == PatternMeasure::diagonal);
    CHECK(habit(nan, 0.35, 0.1) == PatternMeasure::first);
    CHECK_FALSE(habit(0.3, 0.3, 0.3));
    CHECK_FALSE(habit(nan, nan, nan));
    CHECK(named(1.0, 0.0, 0.0, 0.0).words == "the token before");
    CHECK(named(0.2, 0.2, 0.2, 0.6).words == "mixed");
    // Six tokens, each of which looks at all before it alike: (1 + 1/2 + … + 1/6) / 6 on the first and on itself.
    CHECK_FALSE(named(0.29, 0.408, 0.408, 1.0).measure);
    CHECK(named(0.29, 0.408, 0.408, 1.0).words == "all alike");
}

// Which weights are drawn as lines, and which tokens have labels.

namespace {

// Each query gives most of its weight to the keys near to it: row i ~ exp(−|i − j| · slope).
Heatmap pattern_of(Index tokens, float slope) {
    Heatmap h;
    h.rows = h.columns = tokens;
    for (Index query = 0; query < tokens; ++query) {
        float sum = 0.0F;
        for (Index key = 0; key < tokens; ++key) sum += std::exp(-slope * std::abs(static_cast<float>(query - key)));
        for (Index key = 0; key < tokens; ++key)
            h.values.push_back(std::exp(-slope * std::abs(static_cast<float>(query - key))) / sum);
    }
    return h;
}

std::ptrdiff_t drawn(const Heatmap& h) {
    const PatternLines lines = pattern_lines(h);
    return std::ranges::count_if(h.values, [&](float weight) { return weight > lines.least; });
}

}  // namespace

TEST_CASE("a short pattern draws every weight from 0.02 up") {
    Heatmap h = pattern_of(12, 0.0F);
    h.values = std::vector<float>(144, 0.044F);
    h.values[0] = 0.9F;
    h.values[1] = 0.019F;
    CHECK(pattern_lines(h).least == 0.02F);
    CHECK(pattern_lines(h).largest == 0.9F);
    CHECK(pattern_lines(h).leaves_out);
    CHECK(drawn(h) == 143);
}

TEST_CASE("the least weight of a long pattern follows its length: about four lines a token") {
    const Heatmap h = pattern_of(128, 0.05F);
    const auto above = std::ranges::count_if(h.values, [](float weight) { return weight > 0.02F; });
    REQUIRE(above > 1000);  // a block of one colour
    CHECK(drawn(h) > 128);
    CHECK(drawn(h) <= 512);
    CHECK(pattern_lines(h).leaves_out);
    CHECK(drawn(pattern_of(128, 0.0F)) == 0);  // all alike: none stands out
    CHECK(drawn(pattern_of(20, 0.0F)) == 400);
}

TEST_CASE("lines found while rows go by are those of the whole pattern, the largest last") {
    const Index tokens = GENERATE(3, 60, 500);
    Heatmap h;
    h.rows = h.columns = tokens;
    for (Index i = 0; i < tokens * tokens; ++i)  // many are alike
        h.values.push_back(static_cast<float>(i * i % 1009 % 301) / 300.0F);
    h.values[static_cast<std::size_t>(tokens)] = std::nanf("");
    const PatternLines lines = pattern_lines(h);
    CHECK(lines.broken[1]);
    CHECK(std::ranges::count(lines.broken, true) == 1);
    CHECK(std::ssize(lines.lines) == drawn(h));
    CHECK(std::ranges::is_sorted(lines.lines, {}, &PatternLines::Line::weight));
    for (const auto& [query, key, weight] : lines.lines) CHECK(h.at(query, key) == weight);
    // Of those that are left out, as many are larger as are drawn, or it is too small to be seen.
    std::vector<float> sorted = h.values;
    std::erase_if(sorted, [](float weight) { return !(weight > 0.0F); });
    std::ranges::sort(sorted, std::greater<>());
    const auto most = static_cast<std::size_t>(std::max<Index>(400, 4 * tokens));
    CHECK(lines.least == std::max(0.02F, sorted.size() > most ? sorted[most] : 0.0F));
}

TEST_CASE("where labels crowd, those of the largest weights stay") {
    const std::vector<float> at = {0, 5, 10, 15, 20, 25};
    CHECK(labels_with_room(at, {0, 0, 0, 0.044F, 0, 0}, 9.0F) ==
          std::vector<bool>{true, false, false, true, false, true});
    CHECK(labels_with_room(at, {0, 0, 0, 0, 0, 0}, 9.0F) == std::vector<bool>{true, false, true, false, true, false});
    CHECK(labels_with_room(at, {0, 0, 0, 0, 0, 0}, 5.0F) == std::vector<bool>(6, true));
}
