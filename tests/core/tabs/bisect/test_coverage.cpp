// What a verdict covers: what the recorded model returned is compared with the logits whatever its numbers are, what
// the two were given is compared first, and modules are known by what they do where names don't tell.
#include "app/core/run/open_model.h"
#include "app/core/run/passes_of_text.h"
#include "app/core/tabs/bisect/bisection.h"
#include "app/core/tabs/bisect/bisection_text.h"
#include "app/core/tabs/bisect/given.h"
#include "app/core/tabs/bisect/passes.h"
#include "engine/load/model.h"
#include "engine/trace/modules_by_numbers.h"
#include "engine/trace/recorded_file.h"
#include "tests/catch.h"
#include "tests/core/tabs/bisect/recorded_ways.h"
#include "tests/engine/contains.h"

#include <cmath>
#include <map>
#include <string>
#include <vector>

using namespace decoderscope::testing;
using namespace decoderscope::core::bisect;

namespace {

Scenario verses() {
    Scenario scenario = scenario_of(load::load_model("verses"));
    const Axes axes = {{axis::batch, 2}, {axis::pos, 6}};
    scenario.inputs = {.tokens = Tensor(axes, std::vector<float>{3, 5, 7, 9, 4, 6, 8, 2, 9, 1, 3, 8})};
    return scenario;
}

void add(trace::Trace& trace, std::string name, const Tensor& values, const char* dtype = "F32") {
    trace.tensors.push_back({std::move(name), dtype, sizes_of(values.axes()), values});
}

// Heads side by side, as a projection gives them: [batch, head, pos, d_head] as [batch, pos, head · d_head].
Tensor merged(const Tensor& of) {
    if (of.rank() != 4) return of;
    Tensor side_by_side({{"", of.dim(0)}, {"", of.dim(2)}, {"", of.dim(1) * of.dim(3)}});
    float* to = side_by_side.writable().data();
    for (Index b = 0; b < of.dim(0); ++b)
        for (Index p = 0; p < of.dim(2); ++p)
            for (Index h = 0; h < of.dim(1); ++h)
                for (Index d = 0; d < of.dim(3); ++d) *to++ = of.at(Cell{b, h, p, d});
    return side_by_side;
}

// What a program would record that computes as we do, under a stranger's names: its modules, and what it returned.
trace::Trace recording(const Scenario& scenario, const Run& run, const std::string& returned) {
    trace::Trace trace;
    trace.path = "a recording";
    add(trace, "(model)/in.tokens", scenario.inputs.tokens, "I64");
    trace.calls.push_back({"(model)", "(model)", "Story", {}, {{"tokens", "(model)/in.tokens"}}, {{"", returned}}});
    std::map<std::string, std::string> theirs;  // by our step
    const auto name_of_step = [&](const Step& step) {
        if (step.role == Role::input) return std::string("(model)/in.tokens");
        const auto [known, is_new] = theirs.emplace(step.name, "value." + std::to_string(theirs.size()));
        if (is_new) add(trace, known->second, merged(run.value(step.id)));
        return known->second;
    };
    std::size_t number = 0;
    for (const Step& step : run.plan().steps())
        for (const StepId id : step.role == Role::on_demand ? std::vector<StepId>() : step.operands) {
            const Step& parameter = run.plan()[id];
            if (parameter.role != Role::parameter || !parameter.name.ends_with(".weight") || step.layer < 0) continue;
            const std::string module =
                "stack." + std::to_string(step.layer) + ".part" + std::to_string(number++ % 1000);
            const Step& of = run.plan()[*step.main_operand()];
            trace.calls.push_back({module, module, "Part", {}, {{"x", name_of_step(of)}}, {{"", name_of_step(step)}}});
        }
    return trace;
}

}  // namespace

TEST_CASE("what the recorded model returned is compared with the logits, whatever its numbers and its shape are") {
    const Scenario scenario = verses();
    const auto run = execute(plan_of(scenario));
    const Tensor& logits = run->value("logits");
    const auto found = [&](const Tensor& returned) {
        trace::Trace trace = recording(scenario, *run, "(model)/out");
        add(trace, "lm_head/out", logits);
        add(trace, "(model)/out", returned);
        return bisect::bisect(scenario, trace, {.seek_causes = false});
    };
    const auto times = [&](float factor) {
        Tensor scaled = logits;
        for (float& x : scaled.writable()) x *= factor;
        return scaled;
    };
    CHECK_FALSE(found(logits).first);
    CHECK(found(logits).not_compared.empty());
    for (const float factor : {1.0F / 0.7F, 0.0F}) CHECK(first_of(found(times(factor))) == "logits");
    const Bisection hidden = found(run->value("ln_final.normalized"));
    CHECK(first_of(hidden) == "logits");
    CHECK(hidden.checks[*hidden.first].other_shape);
    // The last position alone, as a generation needs it.
    const Index words = logits.dim(2);
    Tensor last({{"", 2}, {"", 1}, {"", words}});
    for (Index b = 0; b < 2; ++b)
        std::copy_n(logits.data() + (b * 6 + 5) * words, words, last.writable().data() + b * words);
    CHECK_FALSE(found(last).first);
    last.writable()[3] += 1.0F;
    const Bisection wrong = found(last);
    CHECK(first_of(wrong) == "logits");
    CHECK(wrong.checks[*wrong.first].cell == Cell{0, 5, 3});
}

TEST_CASE("a number that the recorded model returned is its loss, or is said not to be compared") {
    const Scenario scenario = verses();
    const auto run = execute(plan_of(scenario));
    const Tensor &logits = run->value("logits"), &tokens = scenario.inputs.tokens;
    // The mean of −log softmax of the token that stands `by` places on.
    const auto loss_at = [&](Index by) {
        double sum = 0.0;
        for (Index b = 0; b < 2; ++b)
            for (Index p = 0; p + by < 6; ++p) {
                double all = 0.0;
                for (Index w = 0; w < logits.dim(2); ++w)
                    all += std::exp(static_cast<double>(logits.at(Cell{b, p, w})));
                const auto next = static_cast<Index>(tokens.at(Cell{b, p + by}));
                sum += std::log(all) - static_cast<double>(logits.at(Cell{b, p, next}));
            }
        return Tensor({{"", 1}}, std::vector<float>{static_cast<float>(sum / static_cast<double>(2 * (6 - by)))});
    };
    Tensor next = tokens;  // of each; none of the last
    for (Index i = 0; i < 12; ++i)
        next.writable()[static_cast<std::size_t>(i)] = i % 6 == 5 ? -100.0F : tokens.data()[i + 1];
    Tensor some = tokens;
    some.writable()[0] = -100.0F;
    const auto found = [&](const Tensor* labels, const Tensor& returned, const Tensor* other = nullptr) {
        trace::Trace trace = recording(scenario, *run, "(model)/out");
        add(trace, "(model)/out", logits);
        add(trace, "(model)/out.1", returned);
        trace.calls.front().out.emplace_back("1", "(model)/out.1");
        if (labels != nullptr) {
            add(trace, "(model)/in.y", *labels, "I64");
            trace.calls.front().in.emplace_back("y", "(model)/in.y");
        }
        if (other != nullptr) {
            add(trace, "(model)/out.2", *other);
            trace.calls.front().out.emplace_back("2", "(model)/out.2");
        }
        return bisect::bisect(scenario, trace, {.seek_causes = false});
    };
    const auto is_right = [](const Bisection& of) { return !of.first && of.apart.empty() && of.not_compared.empty(); };
    CHECK(is_right(found(nullptr, loss_at(1))));
    CHECK(is_right(found(&next, loss_at(1))));
    CHECK(is_right(found(&tokens, loss_at(1))));
    CHECK(is_right(found(&some, loss_at(1))));
    REQUIRE(found(&next, loss_at(2)).apart.size() == 1);
    CHECK(contains(found(&next, loss_at(2)).apart[0].english(), "shifts labels that were shifted already"));
    REQUIRE(found(nullptr, loss_at(0)).apart.size() == 1);
    CHECK(contains(found(nullptr, loss_at(0)).apart[0].english(), "doesn't shift the labels"));
    // Another loss, and logits of another head, are nothing that is computed here.
    const Tensor auxiliary(Axes{{"", 1}}, std::vector<float>{0.25F});
    Tensor head = logits;
    for (float& x : head.writable()) x = 1.0F - x * x;
    for (const Bisection& other :
         {found(nullptr, loss_at(1), &auxiliary), found(nullptr, loss_at(1), &head), found(&next, auxiliary)}) {
        CHECK_FALSE(other.first);
        REQUIRE(other.not_compared.size() == 1);
        CHECK(contains(other.not_compared[0].english(), ", which the recorded model returned"));
    }
}

TEST_CASE("modules whose names say nothing are known by what they make of what they were given") {
    const Scenario scenario = verses();
    const auto run = execute(plan_of(scenario));
    const trace::Trace trace = recording(scenario, *run, "value.0");
    const load::names::Mapping found = trace::modules_by_numbers(*run, trace, {});
    CHECK(found.size() + 1 >= trace.calls.size());
    for (const trace::TraceCall& call : trace.calls) {
        if (call.module == "(model)") continue;
        INFO(call.module);
        REQUIRE(found.contains(call.module + ".weight"));
        const std::string& parameter = found.at(call.module + ".weight").front().name;
        CHECK(contains(parameter, "layers." + call.module.substr(6, call.module.find('.', 6) - 6)));
    }
}

TEST_CASE("a module that holds others is no step of ours, though it has its name") {
    trace::Trace trace = trace::open_trace(kTraces + "gpt/right-plain.safetensors");
    const Scenario scenario = scenario_for("gpt", trace);
    // A Sequential that looks tokens up and adds their positions: what it gave is the stream.
    trace.calls.insert(trace.calls.begin() + 1, {{"embed", "embed", "Sequential", {}, {}, {{"", "h.0/in.x"}}},
                                                 {"embed.0", "embed.0", "Embedding", {}, {}, {}}});
    CHECK(first_of(core::bisect::bisect(scenario, trace, {.seek_causes = false})).empty());
}

TEST_CASE("weights and tokens of the two sides are compared before anything that is computed from them") {
    const Scenario scenario = verses();
    const auto run = execute(plan_of(scenario));
    trace::Trace trace = recording(scenario, *run, "(model)/out");
    add(trace, "(model)/out", run->value("logits"));
    load::names::Mapping mapping;
    for (const auto& [name, weight] : scenario.weights()) {
        trace.parameters.push_back({name, "F32", sizes_of(weight.axes()),
                                    Tensor(unnamed(sizes_of(weight.axes())),
                                           std::vector<float>(weight.values().begin(), weight.values().end()))});
        mapping[name] = {{name}};
    }
    CHECK(given_apart(scenario, trace, mapping, Arithmetic::float32).empty());
    for (trace::TraceTensor& parameter : trace.parameters) {
        if (parameter.name != "layers.0.self_attn.o_proj.weight") continue;
        const Index width = parameter.shape[0];
        const Tensor before = parameter.values;
        for (Index i = 0; i < before.size(); ++i)
            parameter.values.writable()[static_cast<std::size_t>(i)] = before.data()[i % width * width + i / width];
    }
    const std::vector<Sentence> apart = given_apart(scenario, trace, mapping, Arithmetic::float32);
    REQUIRE(apart.size() == 1);
    CHECK(contains(apart[0].english(), "1 weight of "));
    CHECK(contains(apart[0].english(), "layers.0.self_attn.o_proj.weight, theirs are transposed"));

    trace::Trace other = trace;
    CHECK(given_apart(trace, other).empty());
    other.tensors[0].values.writable()[7] = 14.0F;
    REQUIRE(given_apart(trace, other).size() == 1);
    CHECK(given_apart(trace, other)[0].english() ==
          "call 1 of the model was given 14 there and 2 here, at tokens[1, 1]");
}

TEST_CASE("a recording that ends early agrees with nothing") {
    const Scenario scenario = verses();
    const auto run = execute(plan_of(scenario));
    trace::Trace trace = recording(scenario, *run, "(model)/out");
    trace.calls.front().out.clear();
    trace.remarks.push_back(message("the recorded program ended with {error}", {{"error", "KeyError: 3"}}));
    trace.hyperparameters.emplace(trace::kUnfinished, "yes");
    const Bisection found = bisect::bisect(scenario, trace, {.seek_causes = false});
    CHECK_FALSE(found.first);
    CHECK(bisection_head(found).front() == "Not whole: the recorded program ended with KeyError: 3.");
    CHECK_FALSE(found.not_compared.empty());
}

TEST_CASE("what stands before a text is not compared, and the text's positions may be counted from there") {
    Scenario scenario = with_overrides(verses(), {{"mask_value", "-1e9"}});
    scenario.inputs.attention_mask =
        Tensor({{axis::batch, 2}, {axis::pos, 6}}, std::vector<float>{1, 1, 1, 1, 1, 1, 0, 0, 1, 1, 1, 1});
    const auto run = execute(plan_of(scenario));
    trace::Trace trace;
    trace.path = "a recording";
    for (const auto& [name, tensor] : recorded_tensors(*run)) {
        if (name == "positions") continue;
        Tensor theirs = tensor;
        const bool rows = tensor.rank() == 3 && tensor.dim(1) == 6;
        if (rows) theirs.writable()[static_cast<std::size_t>(6 * tensor.dim(2) + 1)] += 1.0F;  // the first of row 1
        add(trace, name, theirs);
    }
    CHECK_FALSE(bisect::bisect(scenario, trace, {.seek_causes = false}).first);
}
