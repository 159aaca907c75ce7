// Bisect compares every call of a recorded model: each behind what a right decoder keeps of the calls before it.
// tests/reference/cached_paths.py asks the same of PyTorch's recordings.
#include "app/core/run/mistakes_behind_cache.h"
#include "app/core/run/open_model.h"
#include "app/core/run/passes_of_text.h"
#include "app/core/tabs/bisect/bisection.h"
#include "app/core/tabs/bisect/bisection_text.h"
#include "app/core/tabs/bisect/passes.h"
#include "app/core/tabs/bisect/rows_of_batch.h"
#include "engine/base/file.h"
#include "engine/load/model.h"
#include "engine/mutations/mutations.h"
#include "tests/catch.h"
#include "tests/engine/contains.h"
#include "tests/sanitized.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace decoderscope::testing;
using namespace decoderscope::core::bisect;

namespace {

const std::vector<Index> kCalls = {4, 2, 1, 1};  // how many positions each computes

// Two rows, the second padded on the left.
Scenario whole_text() {
    Scenario scenario = scenario_of(load::load_model("verses"));
    scenario = with_overrides(std::move(scenario),
                              {{"positions", "from_mask"}, {"mask_value", "-1e9"}, {"sliding_window", "5"}});
    const Axes axes = {{axis::batch, 2}, {axis::pos, 8}};
    scenario.inputs = {
        .tokens = Tensor(axes, std::vector<float>{3, 5, 7, 9, 4, 6, 8, 2, 0, 0, 3, 8, 2, 7, 5, 4}),
        .attention_mask = Tensor(axes, std::vector<float>{1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 1, 1, 1, 1, 1, 1})};
    return scenario;
}

void add(trace::Trace& trace, std::size_t call, const std::string& module, const std::string& port,
         const Tensor& values) {
    const std::string number = call == 0 ? "" : "#" + std::to_string(call + 1),
                      side = port.empty() ? "out" : "in." + port;
    trace::TraceTensor tensor{
        .name = module + number + "/" + side, .dtype = port.empty() ? "F32" : "I64", .shape = {}, .values = values};
    for (const Axis& axis : values.axes()) tensor.shape.push_back(axis.size);
    if (port.empty()) tensor.name = module + number;
    auto& calls = trace.calls;
    if (calls.empty() || calls.back().name != module + number)
        calls.push_back(
            {.name = module + number, .module = module, .kind = "Module", .function = {}, .in = {}, .out = {}});
    (port.empty() ? calls.back().out : calls.back().in).emplace_back(port, tensor.name);
    if (module == "logits") {  // which the model returns
        const auto model = std::ranges::find(calls.rbegin(), calls.rend(), "(model)", &trace::TraceCall::module);
        model->out.emplace_back("", tensor.name);
    }
    trace.tensors.push_back(std::move(tensor));
}

Tensor exchanged(const Tensor& of) { return of.empty() ? of : bisect::with_rows(of, {1, 0}); }

// Adds a call behind what was kept, with a mistake in it, and returns what it computed.
std::shared_ptr<const Run> add_call(trace::Trace& trace, std::size_t call, CachedPass pass,
                                    const std::string& mistake) {
    const Inputs given = pass.scenario.inputs;
    if (call > 0 && !mistake.empty()) static_cast<void>(make_mistake(mistake, pass));
    const Scenario& of = pass.scenario;
    const Config& config = of.config();
    decoder::PassRequest request{config, &of.weights(), of.inputs, of.edits, std::nullopt};
    request.past = call > 0 ? &pass.past : nullptr;
    auto run = execute(decoder::plan_decoder(request));
    add(trace, call, "(model)", "input_ids", given.tokens);
    add(trace, call, "(model)", "attention_mask", given.attention_mask);
    if (!given.encoder_tokens.empty()) {
        add(trace, call, "(model)", "src", given.encoder_tokens);
        add(trace, call, "(model)", "src_mask", given.encoder_attention_mask);
    }
    for (const auto& [name, tensor] : recorded_tensors(*run))
        if (name != "positions" && tensor.rank() > 2) add(trace, call, name, "", tensor);
    return run;
}

// What a decoder would record that computes its calls behind the first with a mistake.
trace::Trace recording(const std::string& mistake = {}, const Scenario& text = whole_text()) {
    trace::Trace trace;
    trace.path = "a recording";
    decoder::Past past;
    Index first = 0;
    for (std::size_t call = 0; call < kCalls.size(); ++call) {
        const InputsPart part = {first, kCalls[call]};
        CachedPass pass{text, past, kCalls.front(), self_attentions(*plan_of(text))};
        pass.scenario.inputs = part_of(text.inputs, part);
        add_call(trace, call, std::move(pass), mistake);
        past = decoder::past_of(*execute(plan_of_part(text, part, first > 0 ? &past : nullptr)));
        first += part.count;
    }
    return trace;
}

// The likeliest token of each row.
Tensor likeliest(const Tensor& logits) {
    Tensor tokens({{axis::batch, logits.dim(0)}, {axis::pos, 1}});
    const Index words = logits.dim(2);
    for (Index row = 0; row < logits.dim(0); ++row) {
        const float* last = logits.data() + ((row + 1) * logits.dim(1) - 1) * words;
        tokens.writable()[static_cast<std::size_t>(row)] =
            static_cast<float>(std::max_element(last, last + words) - last);
    }
    return tokens;
}

// What a search would record whose two rows change places before the third call: with what is kept of them, or with a
// mistake.
trace::Trace beams(const std::string& mistake = {}) {
    trace::Trace trace;
    trace.path = "a recording";
    CachedPass pass{whole_text(), {}, 4, {}};
    Inputs& inputs = pass.scenario.inputs;
    inputs = part_of(inputs, {0, 4});
    pass.attentions = self_attentions(*plan_of(pass.scenario));
    Tensor mask = inputs.attention_mask;
    for (std::size_t call = 0; call < 4; ++call) {
        const auto run = add_call(trace, call, pass, call == 2 ? mistake : std::string());
        if (call == 2 && !mistake.empty()) break;
        pass.before_rows = pass.past = decoder::past_of(*run);
        const bool exchange = call == 1;
        inputs.tokens = likeliest(run->value("logits"));
        if (exchange) {
            inputs.tokens = exchanged(inputs.tokens);
            mask = exchanged(mask);
            for (auto& [name, rows] : pass.past.attentions) rows.k = exchanged(rows.k), rows.v = exchanged(rows.v);
        }
        Tensor ones({{axis::batch, 2}, {axis::pos, 1}});
        std::ranges::fill(ones.writable(), 1.0F);
        inputs.attention_mask = mask = joined(mask, ones);
    }
    return trace;
}

Bisection bisected(const trace::Trace& trace, Scenario scenario = whole_text()) {
    scenario.inputs = inputs_of_trace(recorded_passes(trace).front(), scenario.config());
    return bisect::bisect(scenario, trace);
}

}  // namespace

TEST_CASE("every call of a right recording is compared") {
    const Bisection found = bisected(recording());
    CHECK_FALSE(found.first);
    CHECK(found.passes == kCalls.size());
    CHECK(found.not_compared.empty());
    CHECK(found.agreed_before > 4 * 30);
    CHECK(contains(bisection_text(found), "4 calls of the recorded model"));
}

TEST_CASE("calls with texts of their own are compared as such, though they have as many rows") {
    Scenario scenario = whole_text();
    trace::Trace trace;
    trace.path = "a recording";
    const InputsPart parts[] = {{0, 4}, {4, 4}, {2, 3}};  // of the text, each alone
    for (std::size_t call = 0; call < std::size(parts); ++call) {
        Scenario alone = scenario;
        const InputsPart& part = parts[call];
        const auto columns = [&](const Tensor& of) {
            return part_of(of, {0, part.first}, {{axis::batch, 2}, {axis::pos, part.count}});
        };
        alone.inputs = {.tokens = columns(scenario.inputs.tokens),
                        .attention_mask = columns(scenario.inputs.attention_mask)};
        add(trace, call, "(model)", "input_ids", alone.inputs.tokens);
        add(trace, call, "(model)", "attention_mask", alone.inputs.attention_mask);
        for (const auto& [name, tensor] : recorded_tensors(*execute(plan_of(alone))))
            if (name != "positions") add(trace, call, name, "", tensor);
    }
    const Bisection found = bisected(trace);
    CHECK_FALSE(found.first);
    CHECK(found.passes == std::size(parts));
    CHECK(found.not_compared.empty());
    CHECK(found.kept == 0);
}

TEST_CASE("what one call leaves out is said, though a later one leaves out nothing") {
    trace::Trace trace = recording();
    const std::string name = "(model)/in.position_ids";
    trace.tensors.push_back({name, "I64", {7}, Tensor(unnamed(std::vector<Index>{7}), std::vector<float>(7))});
    trace.calls.front().in.emplace_back("position_ids", name);
    const Bisection found = bisected(trace);
    CHECK_FALSE(found.first);
    CHECK(found.passes == kCalls.size());
    REQUIRE(found.not_compared.size() == 1);
    CHECK(contains(found.not_compared.front().english(), "position_ids"));
}

TEST_CASE("a mistake that only the cached path has is found in its pass, and named") {
    for (std::size_t number = 0; const mutations::Mutation& mistake : mutations::mutations_behind_cache()) {
        if (!is_looked_at(number++, 12) || mistake.name.ends_with("reordered") || mistake.name == "cache-forgotten" ||
            contains(mistake.name, "memory"))
            continue;
        INFO(mistake.name);
        const Bisection found = bisected(recording(mistake.name));
        REQUIRE(found.first);
        // What isn't advanced is right in the first cached pass.
        const bool later = mistake.name == "cached-positions-stuck";
        CHECK(found.pass == (later ? 2 : 1));
        REQUIRE_FALSE(found.causes.empty());
        CHECK(found.causes.front().name == mistake.name);
        const std::string text = bisection_text(found);
        CHECK(
            contains(text, later ? "Pass 3: 1 position behind 6 kept ones" : "Pass 2: 2 positions behind 4 kept ones"));
    }
}

TEST_CASE("rows of the batch may change places, with what is kept of them") {
    const Bisection right = bisected(beams());
    CHECK_FALSE(right.first);
    CHECK(right.passes == 4);
    CHECK(right.not_compared.empty());
    // That a call with one new token goes on with the text, though nothing was kept, is told by the token, too.
    for (const std::string mistake : {"cache-not-reordered", "cached-values-not-reordered", "cache-forgotten"}) {
        INFO(mistake);
        const Bisection found = bisected(beams(mistake));
        REQUIRE(found.first);
        CHECK(found.pass == 2);
        REQUIRE_FALSE(found.causes.empty());
        CHECK(found.causes.front().name == mistake);
    }
}

TEST_CASE("what cross-attention keeps of a memory is compared behind a cache") {
    Scenario scenario = scenario_of(load::load_model("reverse"));
    const Index words = scenario.config().encoder_vocab_size;
    REQUIRE(words > 8);
    const Axes text = {{axis::batch, 2}, {axis::pos, 8}}, source = {{axis::batch, 2}, {axis::src, 4}};
    scenario.inputs = {.tokens = Tensor(text, std::vector<float>{3, 5, 7, 3, 4, 6, 8, 2, 1, 2, 3, 8, 2, 7, 5, 4}),
                       .encoder_tokens = Tensor(source, std::vector<float>{3, 5, 7, 8, 6, 4, 2, 0}),
                       .attention_mask = Tensor(text, std::vector<float>(16, 1.0F)),
                       .encoder_attention_mask = Tensor(source, std::vector<float>{1, 1, 1, 1, 1, 1, 1, 0})};
    CHECK_FALSE(bisected(recording({}, scenario), scenario).first);
    for (const auto& [mistake, step] : {std::pair{"cached-memory-of-another-row", "blocks.0.cross_attn.attn_scores"},
                                        {"cached-memory-padding-missing", "blocks.0.cross_attn.mask"}}) {
        INFO(mistake);
        const Bisection found = bisected(recording(mistake, scenario), scenario);
        REQUIRE(found.first);
        CHECK(found.pass == 1);
        CHECK(found.checks[*found.first].ours == step);
        REQUIRE_FALSE(found.causes.empty());
        CHECK(found.causes.front().name == mistake);
    }
}

TEST_CASE("the manual names each mistake of a cached path") {
    const std::string manual = read_text(DECODERSCOPE_TESTS_DIR "/../docs/bisect.md");
    for (const mutations::Mutation& mistake : mutations::mutations_behind_cache())
        CHECK(contains(manual, "`" + mistake.name + "`"));
}

TEST_CASE("a call that doesn't go on with the text is said not to be compared") {
    trace::Trace trace = recording();
    for (trace::TraceTensor& tensor : trace.tensors)
        if (tensor.name == "(model)#3/in.input_ids")
            tensor.shape = {1, 1}, tensor.values = Tensor(unnamed(std::vector<Index>{1, 1}), {3.0F});
    const Bisection found = bisected(trace);
    CHECK_FALSE(found.first);
    CHECK(found.passes == 2);
    REQUIRE(found.not_compared.size() == 1);
    CHECK(contains(found.not_compared.front().english(), "calls 3 to 4"));
}
