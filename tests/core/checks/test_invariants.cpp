// The laws of every forward pass: they hold on the bundled models, with the numbers of a plain computation, and are
// broken by edits, at the edited cell.
#include "app/core/checks/invariants.h"
#include "app/core/session/session.h"
#include "engine/decoder/initial_weights.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/core/fixture_scenario.h"
#include "tests/core/session/apply.h"
#include "tests/engine/not_finite.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iostream>
#include <limits>

using namespace decoderscope::testing;
using namespace decoderscope::core::checks;
using namespace decoderscope::core::train;

namespace {

Scenario bundled(const std::string& name, std::vector<Edit> edits = {}) {
    Scenario scenario = scenario_of(make_bundled_model(name));
    scenario.edits = std::move(edits);
    return scenario;
}

Invariants measured(const Scenario& scenario) {
    const auto run = execute(plan_of(scenario));
    const auto found = measure_invariants(*run, scenario.config());
    REQUIRE(found);
    return *found;
}

Invariant measured(const Scenario& scenario, Law law) { return measured(scenario).of(law); }

// Visits every cell of a tensor.
template <class Visit>
void each(const Tensor& tensor, const Visit& visit) {
    for (Index i = 0; i < tensor.size(); ++i) visit(tensor.cell(i), tensor.values()[static_cast<std::size_t>(i)]);
}

// ---- the same numbers computed plainly

struct Plain {
    double value = 0.0;
    std::size_t count = 0;
    void add(double off) {
        value = std::max(value, off);
        ++count;
    }
};

bool is_pattern(const std::string& name) { return name.ends_with("attn.pattern"); }

Plain plain_row_sums(const Run& run) {
    Plain plain;
    for (const auto& [name, tensor] : recorded_tensors(run)) {
        if (!is_pattern(name)) continue;
        std::vector<long double> sums(static_cast<std::size_t>(tensor.size() / tensor.dim(3)));
        for (Index i = 0; i < tensor.size(); ++i)
            sums[static_cast<std::size_t>(i / tensor.dim(3))] +=
                static_cast<long double>(tensor.values()[static_cast<std::size_t>(i)]);
        for (const long double sum : sums) plain.add(static_cast<double>(std::abs(sum - 1.0L)));
    }
    return plain;
}

Plain plain_masked_weights(const Run& run) {
    Plain plain;
    for (const auto& [name, tensor] : recorded_tensors(run)) {
        if (!is_pattern(name)) continue;
        const Tensor mask = run.value(name.substr(0, name.size() - std::string("pattern").size()) + "mask");
        each(tensor, [&](const Cell& cell, float weight) {
            if (mask.at(cell) == 0.0F) plain.add(static_cast<double>(std::abs(weight)));
        });
    }
    return plain;
}

Plain plain_magnitudes(const Run& run) {
    Plain plain;
    for (const auto& [name, tensor] : recorded_tensors(run)) {
        if (name.ends_with("masked_scores") || name.ends_with("attn.mask")) continue;
        each(tensor, [&](const Cell&, float value) { plain.add(static_cast<double>(std::abs(value))); });
    }
    return plain;
}

// Mean and variance of every norm's output, with gain and shift removed; of an RMSNorm the mean square alone.
Plain plain_norms(const Run& run, double eps, bool centred) {
    Plain plain;
    for (const Step& step : run.plan().steps()) {
        if (!step.name.ends_with(".normalized")) continue;
        const Tensor &out = run.value(step.id), &scale = run.value(step.operands[1]),
                     &gain = run.value(step.operands[2]);
        const Tensor shift = step.operands.size() > 3 ? run.value(step.operands[3]) : Tensor();
        const double n = static_cast<double>(out.dim(2));
        for (Index b = 0; b < out.dim(0); ++b) {
            for (Index p = 0; p < out.dim(1); ++p) {
                double mean = 0.0, square = 0.0;
                for (Index d = 0; d < out.dim(2); ++d) {
                    const double less = shift.empty() ? 0.0 : static_cast<double>(shift.at(Cell{d}));
                    const double value =
                        (static_cast<double>(out.at(Cell{b, p, d})) - less) / static_cast<double>(gain.at(Cell{d}));
                    mean += value / n;
                    square += value * value / n;
                }
                if (!centred) mean = 0.0;
                const auto divided_by = static_cast<double>(scale.at(Cell{b, p, 0}));
                plain.add(
                    std::max(std::abs(mean), std::abs(square - mean * mean + eps / (divided_by * divided_by) - 1.0)));
            }
        }
    }
    return plain;
}

// The largest change of a position before `first` when every token from there on differs, by two independent runs of
// the executor.
double plain_future(const Scenario& scenario, const std::vector<Index>& first) {
    Scenario other = scenario;
    other.inputs.tokens = Tensor(scenario.inputs.tokens.axes(), scenario.inputs.tokens.values());
    const auto values = other.inputs.tokens.writable();
    const Index positions = scenario.inputs.pos();
    for (Index b = 0; b < scenario.batch(); ++b)
        for (Index p = first[static_cast<std::size_t>(b)]; p < positions; ++p) {
            float& token = values[static_cast<std::size_t>(b * positions + p)];
            token = token == 0.0F ? 1.0F : 0.0F;
        }
    const auto before = execute(plan_of(scenario)), after = execute(plan_of(other));
    double furthest = 0.0;
    for (const char* name : {"blocks.0.attn.z", "blocks.1.attn.pattern", "blocks.1.resid_post", "logits", "probs"}) {
        if (before->value(name).empty()) continue;
        each(before->value(name), [&](const Cell& cell, float value) {
            const Index position = cell[cell.size() == 4 ? 2 : 1];
            if (position >= first[static_cast<std::size_t>(cell[0])]) return;
            furthest = std::max(
                furthest, std::abs(static_cast<double>(value) - static_cast<double>(after->value(name).at(cell))));
        });
    }
    return furthest;
}

}  // namespace

// ---- laws that hold

TEST_CASE("rounding to a smaller type breaks no law, and what is more than rounding does") {
    for (const std::string type : {"bfloat16", "float16"})
        for (const std::string name : {"causal-lm-as-meant", "reverse", "verses"}) {
            Session session(make_bundled_model(name));
            apply(session, command::SetOption{"arithmetic", type});
            Scenario scenario = session.shown().scenario;
            REQUIRE(scenario.config().arithmetic != Arithmetic::float32);
            CAPTURE(type, name);
            CHECK(measured(scenario).count(Verdict::broken) == 0);
            const auto run = execute(plan_of(scenario));
            const std::string pattern = run->plan().attentions().front() + ".pattern";
            // Three per cent are no rounding.
            scenario.edits = {SetCell{pattern, {0, 0, 0, 0}, 0.97F}};
            CHECK(measured(scenario, Law::pattern_rows).verdict == Verdict::broken);
        }
}

TEST_CASE("a row of one's own that looks ahead breaks no law of the model") {
    const AddRow ahead{"ahead", "blocks.0.attn", "ahead[b, h, q] = max_k attn_scores[b, h, q, k]"};
    CHECK(measured(bundled("causal-lm-as-meant", {ahead})).count(Verdict::broken) == 0);
}

TEST_CASE("every bundled model keeps the laws, by as much as a plain computation says") {
    for (const BundledModel& model : bundled_models()) {
        INFO(model.name);
        const Scenario scenario = bundled(model.name);
        const auto run = execute(plan_of(scenario));
        const auto laws = measure_invariants(*run, scenario.config());
        REQUIRE(laws);
        for (const Invariant& law : laws->all) {
            INFO(title_of(law) << " | " << finding_text(law) << " | " << law.step);
            CHECK(law.verdict != Verdict::broken);
        }
        const Plain sums = plain_row_sums(*run), masked = plain_masked_weights(*run), all = plain_magnitudes(*run),
                    norms = plain_norms(*run, scenario.config().layer_norm_eps, is_centred(scenario.config().norm));
        CHECK(laws->of(Law::pattern_rows).verdict == Verdict::kept);
        CHECK(laws->of(Law::pattern_rows).measured == Approx(sums.value).margin(1e-14));
        CHECK(laws->of(Law::pattern_rows).checked == sums.count);
        CHECK(laws->of(Law::masked_weights).measured == masked.value);
        CHECK(laws->of(Law::masked_weights).checked == masked.count);
        CHECK(masked.value == 0.0);
        CHECK(laws->of(Law::finite).measured == all.value);
        CHECK(laws->of(Law::finite).verdict == Verdict::kept);
        CHECK(laws->of(Law::norms).measured == Approx(norms.value).margin(1e-9));
        CHECK(laws->of(Law::norms).checked == norms.count);
        CHECK(laws->of(Law::future).verdict == Verdict::kept);
        CHECK(laws->of(Law::future).measured == 0.0);
        CHECK(laws->of(Law::future).checked > 100);
    }
}

TEST_CASE("a law that holds reports where it comes closest to failing") {
    const Scenario scenario = bundled("verses");
    const auto run = execute(plan_of(scenario));
    const Invariants laws = *measure_invariants(*run, scenario.config());
    const Invariant& finite = laws.of(Law::finite);
    CHECK(std::abs(static_cast<double>(run->value(finite.step).at(finite.cell))) == finite.measured);
    const Invariant& rows = laws.of(Law::pattern_rows);
    double sum = 0.0;
    for (Index k = 0; k < run->value(rows.step).dim(3); ++k)
        sum += static_cast<double>(run->value(rows.step).at(Cell{rows.cell[0], rows.cell[1], rows.cell[2], k}));
    CHECK(std::abs(sum - 1.0) == Approx(rows.measured).margin(1e-15));
    CHECK(laws.count(Verdict::kept) == kLaws);
}

TEST_CASE("the past is tested against the middle of what each row holds, padding left out") {
    // causal-lm-as-meant: two rows of 4 tokens, the second one padded.
    const Scenario scenario = bundled("causal-lm-as-meant");
    const Tensor& mask = scenario.inputs.attention_mask;
    std::vector<Index> middles;
    for (Index b = 0; b < scenario.batch(); ++b) {
        Index kept = 0;
        for (Index p = 0; p < scenario.inputs.pos(); ++p) kept += mask.at(Cell{b, p}) != 0.0F ? 1 : 0;
        middles.push_back(kept / 2);
    }
    CHECK(plain_future(scenario, middles) == 0.0);
    const std::string finding = finding_text(measured(scenario, Law::future));
    INFO(finding);
    const auto [least, most] = std::ranges::minmax(middles);
    CHECK(finding.find("position " + std::to_string(least) + (least == most ? " on" : " to " + std::to_string(most))) !=
          std::string::npos);
}

TEST_CASE("what a law can't say anything of is left open, with the reason") {
    Scenario scenario = bundled("causal-lm-as-meant");
    const auto with = [&](const std::string& key, const std::string& value, Law law) {
        return measured(with_override(scenario, key, value), law);
    };
    const Invariant future = with("causal", "false", Law::future);
    CHECK(future.verdict == Verdict::open);
    CHECK(finding_text(future).find("Not causal") == 0);
    const Invariant masked = with("mask_value", "-1e9", Law::masked_weights);
    CHECK(masked.verdict == Verdict::open);
    CHECK(finding_text(masked).find("not −∞") != std::string::npos);
    CHECK(masked.measured == 0.0);
    CHECK(with("norm", "rmsnorm", Law::norms).verdict == Verdict::kept);
    scenario.inputs.tokens = Tensor({{axis::batch, 1}, {axis::pos, 1}}, {3.0F});
    scenario.inputs.attention_mask = Tensor();
    CHECK(measured(scenario, Law::future).verdict == Verdict::open);
}

TEST_CASE("dropout breaks no law of the pattern, and what it scales is not called a pattern") {
    Scenario scenario = bundled("causal-lm-as-meant");
    scenario.dropout_seed = 3;
    const Invariants laws = measured(scenario);
    CHECK(laws.count(Verdict::broken) == 0);
    CHECK(laws.of(Law::pattern_rows).verdict == Verdict::kept);
}

// ---- laws that are broken

TEST_CASE("a weight typed over breaks its row's sum, and is named") {
    const std::string pattern = "blocks.2.attn.pattern";
    const Cell cell = {1, 5, 1, 0};
    const Scenario scenario = bundled("causal-lm-as-meant", {SetCell{pattern, cell, 0.75F}});
    const auto run = execute(plan_of(scenario));
    const Invariant rows = measure_invariants(*run, scenario.config())->of(Law::pattern_rows);
    CHECK(rows.verdict == Verdict::broken);
    CHECK(rows.step == pattern);
    CHECK(rows.cell == cell);
    double sum = 0.0;
    for (Index k = 0; k < 4; ++k) sum += static_cast<double>(run->value(pattern).at(Cell{1, 5, 1, k}));
    CHECK(rows.measured == Approx(std::abs(sum - 1.0)).margin(1e-14));
    CHECK(finding_text(rows).find("1 of ") == 0);
}

TEST_CASE("a NaN in a pattern is no known one, and stands before every other deviation") {
    const std::string pattern = "blocks.1.attn.pattern";
    const Invariants laws =
        measured(bundled("causal-lm-as-meant",
                         {SetCell{"blocks.0.attn.pattern", {0, 0, 0, 0}, 9.0F}, SetCell{pattern, {0, 3, 2, 1}, kNan}}));
    const Invariant& rows = laws.of(Law::pattern_rows);
    CHECK(rows.verdict == Verdict::broken);
    CHECK(std::isnan(rows.measured));
    CHECK(rows.step == pattern);
    CHECK(rows.cell == Cell{0, 3, 2, 1});
    const Invariant& finite = laws.of(Law::finite);
    CHECK(finite.verdict == Verdict::broken);
    CHECK(finite.step == pattern);
    CHECK(finite.cell == Cell{0, 3, 2, 1});
}

TEST_CASE(
    "a pattern that leaves out its sinks breaks its rows' sum, at the weight that is furthest from what the scores "
    "give") {
    Scenario scenario = fixture_scenario("sinks");
    scenario.mutation = "no-sinks";
    const auto run = execute(plan_of(scenario));
    const Invariant rows = measure_invariants(*run, scenario.config())->of(Law::pattern_rows);
    CHECK(rows.verdict == Verdict::broken);
    // Each attention's softmax over the keys alone sums to 1: the row is off by the weight of its sink.
    const std::string attention = rows.step.substr(0, rows.step.rfind('.'));
    double most = 0.0;
    for (const Step& step : run->plan().steps())
        if (step.name.ends_with(".sink"))
            each(run->value(step.id),
                 [&](const Cell&, float weight) { most = std::max(most, static_cast<double>(weight)); });
    CHECK(rows.measured == Approx(most).epsilon(1e-6));
    const Cell& found = rows.cell;
    CHECK(static_cast<double>(run->value(attention + ".sink").at(Cell{found[0], found[1], found[2], 0})) ==
          Approx(most));
    // With s of it the sink's, a weight w of the keys should be w · (1 − s): the largest is furthest off.
    const Tensor pattern = run->value(rows.step);
    for (Index key = 0; key < pattern.dim(3); ++key)
        CHECK(pattern.at(Cell{found[0], found[1], found[2], key}) <= pattern.at(found));
}

TEST_CASE("a row with nothing left to attend to is NaN as it must be, and the first of all") {
    // The first query of head 2 could see only itself.
    const Invariants laws = measured(bundled("causal-lm-as-meant", {MaskEdit{"blocks.0.attn", 0, 2, 0, 0, false}}));
    CHECK(laws.of(Law::pattern_rows).verdict == Verdict::kept);
    CHECK(finding_text(laws.of(Law::pattern_rows)).find("must be: every key is masked") != std::string::npos);
    CHECK(laws.of(Law::masked_weights).verdict == Verdict::kept);
    const Invariant& finite = laws.of(Law::finite);
    CHECK(finite.verdict == Verdict::broken);
    CHECK(finite.step == "blocks.0.attn.pattern");
    CHECK(finite.cell == Cell{0, 2, 0, 0});
    CHECK(finding_text(finite).find("hides every key") != std::string::npos);
}

TEST_CASE("weight on a masked key breaks the mask, and lets the future move the past") {
    const std::string pattern = "blocks.0.attn.pattern";
    const Invariants laws = measured(bundled("causal-lm-as-meant", {SetCell{pattern, {0, 1, 1, 2}, 0.25F}}));
    const Invariant& masked = laws.of(Law::masked_weights);
    CHECK(masked.verdict == Verdict::broken);
    CHECK(masked.measured == 0.25);
    CHECK(masked.step == pattern);
    CHECK(masked.cell == Cell{0, 1, 1, 2});
    const Invariant& future = laws.of(Law::future);
    CHECK(future.verdict == Verdict::broken);
    CHECK(future.step == "blocks.0.attn.z");
    CHECK(std::vector(future.cell.begin(), future.cell.begin() + 3) == std::vector<Index>{0, 1, 1});
}

TEST_CASE("a mask painted open lets the future move the past, at the score that was opened") {
    // Neither in the middle nor at the last token: the check has to find it.
    const Scenario scenario = bundled("verses", {MaskEdit{"blocks.1.attn", 0, 1, 4, 6, true}});
    const Invariant future = measured(scenario, Law::future);
    CHECK(future.verdict == Verdict::broken);
    CHECK(future.step == "blocks.1.attn.attn_scores");
    CHECK(future.cell == Cell{0, 1, 4, 6});
    CHECK(future.measured > 0.0);
    std::vector<Index> first(static_cast<std::size_t>(scenario.batch()), scenario.inputs.pos());
    first[0] = 6;
    CHECK(plain_future(scenario, first) > 0.0);
}

TEST_CASE("where a row that hides all is filled with a finite number, its weight on the future is found") {
    Scenario scenario = bundled("causal-lm-as-meant", {MaskEdit{"blocks.0.attn", 0, 0, 0, 0, false}});
    const Invariant future = measured(with_override(scenario, "mask_value", "-1e9"), Law::future);
    CHECK(future.verdict == Verdict::broken);
    CHECK(future.step == "blocks.0.attn.z");
}

TEST_CASE("padding before a text breaks no law under the fill of Hugging Face's families, and its rows are left out") {
    for (const char* model : {"causal-lm-as-meant", "verses"}) {
        INFO(model);
        Scenario scenario = with_override(bundled(model), "mask_value", "-3.4028235e38");
        Tensor mask({{axis::batch, scenario.batch()}, {axis::pos, scenario.inputs.pos()}});
        std::ranges::fill(mask.writable(), 1.0F);
        for (Index position = 0; position < 2; ++position) mask.writable()[static_cast<std::size_t>(position)] = 0.0F;
        scenario.inputs.attention_mask = mask;
        const Invariants laws = measured(scenario);
        for (const Invariant& law : laws.all) {
            INFO(title_of(law) << ": " << finding_text(law));
            CHECK(law.verdict == Verdict::kept);
        }
        // Two rows of each head of each layer.
        const auto blind = static_cast<std::size_t>(2 * scenario.config().nhead * scenario.config().num_layers);
        CHECK(finding_text(laws.of(Law::masked_weights)).find(std::to_string(blind) + " rows are left out") !=
              std::string::npos);
    }
}

TEST_CASE("a norm's output typed over is named, and so is a scale") {
    const Invariant output =
        measured(bundled("causal-lm-as-meant", {SetCell{"blocks.1.ln2.normalized", {0, 2, 17}, 8.0F}}), Law::norms);
    CHECK(output.verdict == Verdict::broken);
    CHECK(output.step == "blocks.1.ln2.normalized");
    CHECK(output.cell == Cell{0, 2, 17});
    const Invariant scale =
        measured(bundled("causal-lm-as-meant", {SetCell{"blocks.0.ln1.scale", {1, 1, 0}, 0.5F}}), Law::norms);
    CHECK(scale.verdict == Verdict::broken);
    CHECK(scale.step == "blocks.0.ln1.scale");
    CHECK(scale.cell == Cell{1, 1, 0});
}

TEST_CASE("the law of the norms is as strict as it says: an error of 1e-4 breaks it, one of 1e-6 doesn't") {
    const Scenario scenario = bundled("causal-lm-as-meant");
    const auto run = execute(plan_of(scenario));
    const std::string out = "blocks.1.ln2.normalized", scale = "blocks.0.ln1.scale", gain = "layers.1.norm2.weight";
    const Cell cell = {0, 2, 17};
    const auto width = static_cast<double>(run->value(out).dim(2));
    const auto with = [&](const std::string& tensor, const Cell& at, double value) {
        return measured(bundled("causal-lm-as-meant", {SetCell{tensor, at, static_cast<float>(value)}}), Law::norms);
    };
    // The mean of a row moves by the change of one number, its gain undone, over the row's width.
    const double moves_mean = width * std::abs(static_cast<double>(run->value(gain).at(Cell{17})));
    const auto number = static_cast<double>(run->value(out).at(cell));
    CHECK(with(out, cell, number + 1e-4 * moves_mean).verdict == Verdict::broken);
    CHECK(with(out, cell, number + 1e-6 * moves_mean).verdict == Verdict::kept);
    // The relative error of a scale.
    const auto divided_by = static_cast<double>(run->value(scale).at(Cell{1, 1, 0}));
    CHECK(with(scale, {1, 1, 0}, divided_by * (1.0 + 1e-4)).verdict == Verdict::broken);
    CHECK(with(scale, {1, 1, 0}, divided_by * (1.0 + 1e-6)).verdict == Verdict::kept);
}

TEST_CASE("the first NaN is traced to the weight that it came from") {
    const Invariant weight =
        measured(bundled("causal-lm-as-meant",
                         {SetCell{"layers.1.self_attn.k_proj.weight", {3, 4}, std::numeric_limits<float>::infinity()}}),
                 Law::finite);
    CHECK(weight.verdict == Verdict::broken);
    CHECK(weight.step == "layers.1.self_attn.k_proj.weight");
    CHECK(weight.cell == Cell{3, 4});
    CHECK(finding_text(weight).find("∞") != std::string::npos);
}

// ---- rows that must hold

TEST_CASE("a row that must hold is one check over all its layers, broken at its first number that is 0 or NaN") {
    const AddRow sharp{"sharp", "blocks.*.attn", "pattern.max(-1).values < 0.9", true};
    const Scenario scenario = bundled("causal-lm-as-meant", {sharp, AddRow{"free", "", "logits < 0"}});
    const auto run = execute(plan_of(scenario));
    const Invariants found = *measure_invariants(*run, scenario.config());
    REQUIRE(found.all.size() == kLaws + 1);
    const Invariant& own = found.all[kLaws];
    CHECK(own.row == "blocks.*.attn.sharp");
    CHECK(title_of(own).find(own.row) != std::string::npos);
    // As a count over the patterns themselves.
    std::size_t rows = 0, peaked = 0;
    std::string first;
    Cell cell;
    for (const auto& [name, tensor] : recorded_tensors(*run)) {
        if (!is_pattern(name)) continue;
        for (Index row = 0; row < tensor.size() / tensor.dim(3); ++row, ++rows) {
            const auto weights = tensor.values().subspan(static_cast<std::size_t>(row * tensor.dim(3)),
                                                         static_cast<std::size_t>(tensor.dim(3)));
            if (std::ranges::max(weights) < 0.9F) continue;
            if (peaked++ > 0) continue;
            first = name.substr(0, name.size() - std::string("pattern").size()) + "sharp";
            cell = tensor.cell(row * tensor.dim(3));
            cell.pop_back();
        }
    }
    REQUIRE(peaked > 0);
    CHECK(own.verdict == Verdict::broken);
    CHECK(own.checked == rows);
    CHECK(own.step == first);
    CHECK(own.cell == cell);
    CHECK(own.measured == 0.0);
    CHECK(finding_text(own).starts_with(std::to_string(peaked) + " of "));
    CHECK(found.count(Verdict::broken) == 1);
}

TEST_CASE("NaN doesn't hold, any other number but 0 does, and less is never recorded of a check") {
    const auto verdict = [](const std::string& formula) {
        return measured(bundled("causal-lm-as-meant", {AddRow{"check", "", formula, true}})).all.at(kLaws).verdict;
    };
    CHECK(verdict("logits - logits + 2") == Verdict::kept);
    CHECK(verdict("-1 + 0 * logits") == Verdict::kept);
    CHECK(verdict("0 * logits") == Verdict::broken);
    CHECK(verdict("log(0 * logits - 1)") == Verdict::broken);
    Scenario less = bundled("causal-lm-as-meant", {AddRow{"check", "blocks.*.mlp", "post >= 0", true}});
    less.recording = Recording::patterns;
    const auto plan = plan_of(less);
    const auto run = execute(plan, {.kept = kept_of(*plan, less.recording, std::nullopt).in_a_run()});
    CHECK(measure_invariants(*run, less.config())->all.at(kLaws).verdict == Verdict::kept);
}

// ---- in the session

TEST_CASE("a session measures what it shows, again after each change, and only then") {
    Session session(make_bundled_model("causal-lm-as-meant"));
    CHECK(session.invariants() == nullptr);  // a window opens before they are measured
    session.finish();
    REQUIRE(session.invariants());
    CHECK(session.invariants()->invariants->count(Verdict::broken) == 0);
    apply(session, command::TypeOver{"blocks.0.attn.pattern", {0, 0, 1, 1}, 2.0F});
    REQUIRE(session.invariants());
    CHECK(session.invariants()->run == session.shown().run);
    CHECK(session.invariants()->invariants->of(Law::pattern_rows).cell == Cell{0, 0, 1, 1});
    session.apply(command::Undo{});
    session.update(std::chrono::milliseconds(10'000));
    CHECK(session.invariants() == nullptr);  // the measurements are of another run
    session.finish();
    REQUIRE(session.invariants());
    CHECK(session.invariants()->invariants->count(Verdict::broken) == 0);
    // The same numbers asked for in another way.
    apply(session, command::MakeEdit{AddRow{"row", "", "logits < 0"}, {"row"}});
    REQUIRE(session.invariants()->invariants->all.size() == kLaws);
    apply(session, command::MakeEdit{AddRow{"row", "", "logits < 0", true}, {"row"}});
    REQUIRE(session.invariants()->invariants->all.size() == kLaws + 1);
    CHECK(session.invariants()->invariants->count(Verdict::broken) == 1);
    apply(session, command::Undo{});
    CHECK(session.invariants()->invariants->all.size() == kLaws);
    // A companion changes nothing that is shown.
    session.apply(command::RequestAuxRun{"beside", Variation{.overrides = {{"norm_first", "true"}}}});
    while (session.shown().companion("beside") == nullptr) session.update(std::chrono::milliseconds(10'000));
    CHECK(session.invariants() != nullptr);
}

TEST_CASE("measuring computes no on-demand tensors") {
    const Scenario scenario = bundled("causal-lm-as-meant");
    const auto run = execute(plan_of(scenario));
    REQUIRE(run->value("blocks.0.attn.mask").lazy<LazyValues>() != nullptr);
    REQUIRE(measure_invariants(*run, scenario.config()));
    CHECK(run->value("blocks.0.attn.mask").lazy<LazyValues>() != nullptr);
    CHECK(run->value("blocks.0.attn.masked_scores").lazy<LazyValues>() != nullptr);
}

TEST_CASE("the laws don't ask for patterns that are too large to be there whole, and say so") {
    Model model{{.name = "long"}, R"({"model_type": "decoderscope", "d_model": 4, "nhead": 1, "num_layers": 1,
        "dim_feedforward": 4, "vocab_size": 5})"};
    model.weights = initial_weights(model.config(), 1);
    model.example.tokens = Tensor({{axis::batch, 1}, {axis::pos, 8100}}, std::vector<float>(8100, 1.0F));
    const Scenario scenario = scenario_of(std::make_shared<const Model>(std::move(model)));
    const auto plan = plan_of(scenario);
    const auto run = execute(plan, {.kept = kept_of(*plan, Recording::fit, 0).in_a_run()});
    const auto found = measure_invariants(*run, scenario.config());
    REQUIRE(found);
    CHECK(found->count(Verdict::open) == kLaws);
    CHECK(finding_text(found->of(Law::future)).find("blocks.0.attn.") == 0);
    CHECK_FALSE(run->value("blocks.0.attn.pattern").is_ready());
}

TEST_CASE("measuring can be stopped") {
    const Scenario scenario = bundled("causal-lm-as-meant");
    const auto run = execute(plan_of(scenario));
    std::stop_source stop;
    stop.request_stop();
    CHECK_FALSE(measure_invariants(*run, scenario.config(), stop.get_token()));
}

// Hidden: test_app_core "[bench]" prints it.
TEST_CASE("what measuring the laws costs", "[.][bench]") {
    Model model{{.name = "12x12"}, R"({"model_type": "decoderscope", "d_model": 768, "nhead": 12, "num_layers": 12,
        "norm_first": true, "final_norm": true, "vocab_size": 1000, "lm_head": true})"};
    model.weights = initial_weights(model.config(), 1);
    for (const Index positions : {64, 256, 1024}) {
        std::vector<float> tokens;
        for (Index i = 0; i < positions; ++i) tokens.push_back(static_cast<float>(i * 31 % 997));
        model.example.tokens = Tensor({{axis::batch, 1}, {axis::pos, positions}}, tokens);
        const Scenario scenario = scenario_of(std::make_shared<const Model>(model));
        using Clock = std::chrono::steady_clock;
        const auto start = Clock::now();
        const auto run = execute(plan_of(scenario));
        const auto computed = Clock::now();
        const auto laws = measure_invariants(*run, scenario.config());
        const auto done = Clock::now();
        const auto ms = [](auto span) { return std::chrono::duration<double, std::milli>(span).count(); };
        std::cout << positions << " tokens: computed in " << ms(computed - start) << " ms, measured in "
                  << ms(done - computed) << " ms\n";
        for (const Invariant& law : laws->all) std::cout << "    " << finding_text(law) << '\n';
        CHECK(laws->count(Verdict::kept) == kLaws);
    }
}

TEST_CASE("the norms' law holds for every kind and place of a norm, and tells a wrong scale of each") {
    for (const char* name : {"annotated-transformer-like", "reordered-encdec", "gemma-2-like", "peri-encdec",
                             "embedding-norm-vectors", "olmo-2-like", "bloom-like", "deepnorm"}) {
        INFO(name);
        const Scenario scenario = fixture_scenario(name);
        const Invariant norms = measured(scenario, Law::norms);
        CHECK(norms.verdict == Verdict::kept);
        CHECK(norms.checked > 0);
        for (const Law law : {Law::pattern_rows, Law::future, Law::masked_weights})
            CHECK(measured(scenario, law).verdict != Verdict::broken);
        const auto run = execute(plan_of(scenario));
        for (const Step& step : run->plan().steps()) {
            if (!step.operation.traits().scale) continue;
            Scenario wrong = scenario;
            wrong.edits = {SetCell{step.name, {0, 1, 0}, 1.1F * run->value(step.id).at(Cell{0, 1, 0})}};
            const Invariant broken = measured(wrong, Law::norms);
            INFO(step.name);
            CHECK(broken.verdict == Verdict::broken);
            CHECK(broken.step == step.name);
            break;
        }
    }
}
