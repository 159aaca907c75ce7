// Bisect on traces of PyTorch modules (tests/reference/bugs): with one mistake each, and right but written differently.
#include "app/core/run/open_model.h"
#include "app/core/tabs/bisect/bisection.h"
#include "app/core/tabs/bisect/bisection_text.h"
#include "app/core/tabs/bisect/given.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/files/safetensors.h"
#include "engine/load/bundled_models.h"
#include "engine/load/model.h"
#include "tests/catch.h"
#include "tests/core/tabs/bisect/recorded_ways.h"
#include "tests/engine/temporary_folder.h"
#include "tests/sanitized.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

using namespace decoderscope::testing;
using namespace decoderscope::core::bisect;
using namespace decoderscope::mutations;
using namespace decoderscope::trace;

namespace {

using Json = nlohmann::json;

const std::string kBugs = DECODERSCOPE_TESTS_DIR "/reference/bugs/";

struct Case {
    std::string way, name, cause, first;  // the last two are empty where nothing is wrong
    [[nodiscard]] bool is_right() const { return cause.empty(); }
};

std::vector<Case> cases() {
    std::vector<Case> all;
    for (const Json& entry : Json::parse(read_text(kBugs + "cases.json")))
        all.push_back({entry["way"], entry["case"], entry["cause"].is_null() ? "" : std::string(entry["cause"]),
                       entry["first"].is_null() ? "" : std::string(entry["first"])});
    return all;
}

// Bisected once, whichever test asks first.
const Bisection& bisected(const Case& wanted) {
    static std::map<std::string, Bisection> known;
    const std::string path = kBugs + "traces/" + wanted.way + "/" + wanted.name + ".safetensors";
    if (const auto found = known.find(path); found != known.end()) return found->second;
    const Trace trace = open_trace(path);
    return known.emplace(path, core::bisect::bisect(scenario_for(wanted.way, trace), trace)).first->second;
}

std::string cause_of(const Bisection& bisection) {
    return bisection.causes.empty() || !bisection.causes.front().explains ? std::string()
                                                                          : bisection.causes.front().name;
}

// Whose cause is not named.
const std::set<std::string> kNotNamed = {};

}  // namespace

TEST_CASE("bisect names the first wrong tensor of every bug, and the cause of all but those listed here", "[long]") {
    std::size_t bugs = 0;
    std::set<std::string> not_named;
    for (const Case& wanted : cases()) {
        if (wanted.is_right()) continue;
        if (!is_looked_at(bugs++, 5)) continue;
        const Bisection& found = bisected(wanted);
        INFO(wanted.way << " " << wanted.name);
        CHECK(found.first);  // every bug raises an alarm
        CHECK(first_of(found) == wanted.first);
        if (cause_of(found).empty())
            not_named.insert(wanted.way + " " + wanted.name);
        else
            CHECK(cause_of(found) == wanted.cause);  // a wrong cause is worse than none
    }
    CHECK(bugs >= 24);
    if (!kSanitized) CHECK(not_named == kNotNamed);
}

TEST_CASE("what theirs were given, or read of what they were given, is said where no formula explains it", "[long]") {
    const std::string adapter = "the adapter (LoRA) of layers.0.attention.query is ";
    for (const auto& [way, name, words] : std::vector<std::tuple<std::string, std::string, std::string>>{
             {"adapted", "adapter-not-scaled", adapter + "scaled by 1 there and by 2 here"},
             {"adapted", "adapter-left-out", adapter + "left out there"},
             {"adapted", "positions-from-row-0", "rows 0, 1, 2, 3, … of embed_positions.weight are added"},
             {"adapted", "first-is-read", "theirs are read at position 0, and not at the last one, 4"},
             {"adapted", "next-expert", "each chosen expert is taken for the next one"},
             {"prompted", "types-left-out",
              "although both were given the same tokens: types.weight is not added there"},
             {"prompted", "prompt-behind", "the stream that enters the blocks differs"},
             {"halves", "lower", "the stream that enters the blocks differs"},
             {"normed", "near-is-far", "what theirs add to the scores for each head and distance is another number"},
         }) {
        INFO(name);
        const Trace trace = open_trace(kBugs + "traces/" + way + "/" + name + ".safetensors");
        const Bisection found = core::bisect::bisect(scenario_for(way, trace), trace);
        INFO(bisection_text(found));
        CHECK(found.verdict == Verdict::differs);
        CHECK_THAT(bisection_text(found), Catch::Matchers::ContainsSubstring(words));
    }
}

TEST_CASE("bisect finds bugs that nobody listed: a formula one node away computes all that was recorded", "[long]") {
    std::size_t bugs = 0;
    for (const Json& entry : Json::parse(read_text(kBugs + "unlisted.json"))) {
        if (!is_looked_at(bugs++, 5)) continue;
        const std::string way = entry["way"], name = entry["case"], first = entry["first"];
        INFO(way << " " << name);
        const Trace trace = open_trace(kBugs + "traces/" + way + "/" + name + ".safetensors");
        const Scenario scenario = scenario_for(way, trace);
        const Bisection found = core::bisect::bisect(scenario, trace);
        INFO(bisection_text(found));
        CHECK(first_of(found) == first);
        REQUIRE(!found.causes.empty());
        CHECK(found.causes.front().explains);
        CHECK(found.causes.front().all_agree);
        CHECK(found.causes.front().sentence.english().ends_with('.'));
        // Its name is enough to compute with it.
        Scenario wrong = scenario;
        wrong.mutation = found.causes.front().name;
        const Tensor there = execute(plan_of(wrong))->value(first), here = execute(plan_of(scenario))->value(first);
        CHECK(!std::ranges::equal(there.values(), here.values()));
    }
    CHECK(bugs >= 10);
}

TEST_CASE("a step that reads another tensor, or another module's parameters, is found and named") {
    const Scenario scenario = scenario_of(load_model("verses"));
    const std::shared_ptr<const Run> right = execute(plan_of(scenario));
    for (const std::string name : {
             "in all blocks blocks.0.ln1.normalized: layers.0.norm2 for layers.0.norm1",
             "in all blocks blocks.0.mlp.pre: blocks.0.resid_mid for blocks.0.ln2.normalized",
             "in all blocks blocks.0.ln2.normalized: blocks.0.resid_mid for itself",
             "in all blocks blocks.0.attn_out: layers.1.self_attn.o_proj for layers.0.self_attn.o_proj",
         }) {
        INFO(name);
        Scenario wrong = scenario;
        wrong.mutation = name;
        const std::shared_ptr<const Run> run = execute(plan_of(wrong));
        TemporaryFolder folder;
        const std::string path = folder.file("wrong.safetensors");
        write_safetensors(path, recorded_tensors(*run));
        const Bisection found = core::bisect::bisect(scenario, open_trace(path));
        INFO(bisection_text(found));
        REQUIRE(!found.causes.empty());
        CHECK(found.causes.front().name == name);
        CHECK(found.causes.front().all_agree);
        const std::string first = first_of(found);
        CHECK(!std::ranges::equal(run->value(first).values(), right->value(first).values()));
    }
    for (const std::string name : {"blocks.0.attn.attn_scores: blocks.0.resid_pre for blocks.0.attn.k",
                                   "blocks.0.attn.z: blocks.1.attn.v for blocks.0.attn.v", "nowhere: a for b"}) {
        INFO(name);
        Scenario none = scenario;
        none.mutation = name;
        CHECK_THROWS_AS(plan_of(none), Error);  // of another shape, computed later, not there
    }
}

TEST_CASE("a recording with padding that its model counts no positions for agrees with itself") {
    const std::string path = kBugs + "traces/fused/padded.safetensors";
    const Trace trace = open_trace(path);
    Scenario scenario = scenario_of(std::get<std::shared_ptr<const Model>>(open_model(path, OpenAs::model, {})));
    scenario.inputs = inputs_of_trace(trace, scenario.config());
    REQUIRE(!scenario.inputs.positions.empty());
    const Bisection found = core::bisect::bisect(scenario, trace);
    INFO(bisection_text(found));
    CHECK(!found.first);
    CHECK(found.agreed_before > 25);
}

TEST_CASE("what two recorded models returned for the same tokens is compared, whatever is computed here") {
    const auto trace = [](const char* which) { return open_trace(kBugs + "traces/pico/" + which + ".safetensors"); };
    const Trace model = trace("model");
    CHECK(returned_apart(model, trace("right-plain"), {}, 1e-6).empty());
    CHECK(!returned_apart(model, trace("not-clipped"), {}, 2e-2).empty());
    // Set up without a limit, the model has the numbers of the one that doesn't clip; it was recorded with one.
    const auto bisected = [&](const Overrides& set) {
        Scenario scenario =
            scenario_of(std::get<std::shared_ptr<const Model>>(open_model(model.path, OpenAs::model, {})));
        if (!set.empty()) scenario = with_overrides(scenario, set);
        return core::bisect::bisect(scenario, trace("not-clipped"));
    };
    CHECK(bisected({}).first);
    const Bisection meant = bisected({{"clip_qkv", "0"}});
    CHECK(!meant.first);
    CHECK(meant.apart.empty());
}

TEST_CASE("of a cache that is long from the start, a recording has what was written of it, in copies, too") {
    const Trace trace = open_trace(kBugs + "traces/fused/right-static-cache.safetensors");
    for (const auto& [call, keys] : {std::pair("", 3), std::pair("#2", 4), std::pair("#3", 5)})
        for (const auto& [port, axis] : {std::pair("/matmul/in.other", 1), std::pair("/matmul/out", 1),
                                         std::pair("/matmul#2/in.input", 1), std::pair("/matmul#2/in.other", 2)}) {
            INFO("blocks.0" << call << port);
            const TraceTensor* tensor = trace.find("blocks.0" + std::string(call) + port);
            REQUIRE(tensor != nullptr);
            CHECK(tensor->shape[tensor->shape.size() - static_cast<std::size_t>(axis)] == keys);
            CHECK(sizes_of(tensor->values.axes()) == tensor->shape);
        }
}

TEST_CASE("bisect raises no alarm where a decoder is only written otherwise") {
    std::size_t rights = 0;
    for (const Case& wanted : cases()) {
        if (!wanted.is_right() || !is_looked_at(rights++, 4)) continue;
        const Bisection& found = bisected(wanted);
        INFO(wanted.way << " " << wanted.name << "\n" << bisection_text(found));
        CHECK(!found.first);
        CHECK(found.agreed_before > 10);
    }
    CHECK(rights >= 20);
}

TEST_CASE("the gradients that autograd left are compared with ours, and one that differs is named") {
    for (const std::string way : {"gpt", "llama", "lecture"}) {
        INFO(way);
        Trace trace = open_trace(kBugs + "traces/" + way + "/gradients.safetensors");
        const Scenario scenario = scenario_for(way, trace);
        const Bisection right = core::bisect::bisect(scenario, trace);
        INFO(bisection_text(right));
        CHECK(!right.first);
        const auto gradients = [](const TensorCheck& check) { return check.ours.starts_with("grad."); };
        const auto parameters = [](const TensorCheck& check) { return check.ours.starts_with("grad.layers."); };
        CHECK(std::ranges::count_if(right.checks, gradients) > 20);
        CHECK(std::ranges::count_if(right.checks, parameters) > 2);
        // A gradient of a pattern that is twice as large.
        const auto wrong = std::ranges::find_if(trace.tensors, [](const TraceTensor& tensor) {
            return tensor.name.starts_with("grad.") && tensor.name.ends_with("/softmax/out");
        });
        REQUIRE(wrong != trace.tensors.end());
        Tensor doubled(wrong->values.axes(), wrong->values.values());
        for (float& value : doubled.writable()) value *= 2.0F;
        wrong->values = doubled;
        const Bisection found = core::bisect::bisect(scenario, trace, {.seek_causes = false});
        REQUIRE(found.first);
        CHECK(found.checks[*found.first].theirs == wrong->name);
        CHECK(std::ranges::count_if(found.checks, &TensorCheck::differs) == 1);
    }
}

namespace {

// The tables of results, as tests/reference/bugs/results.md has them.
std::string results_table() {
    std::string wrong =
        "| way of writing | mistake | first tensor that differs | cause named |\n| --- | --- | --- | --- |\n";
    std::string right = "| way of writing | written differently | tensors that agree |\n| --- | --- | --- |\n";
    for (const Case& wanted : cases()) {
        const Bisection& found = bisected(wanted);
        if (wanted.is_right())
            right += "| " + wanted.way + " | " + wanted.name.substr(6) + " | " +
                     (found.first ? "an alarm at " + first_of(found) : std::to_string(found.agreed_before)) + " |\n";
        else
            wrong += "| " + wanted.way + " | " + wanted.name + " | `" + first_of(found) + "` | " +
                     (cause_of(found).empty() ? "none" : cause_of(found)) + " |\n";
    }
    return wrong + "\n" + right;
}

// A trace's file with these tensors, in this order.
std::string written(const TemporaryFolder& folder, const std::vector<std::pair<std::string, Tensor>>& tensors) {
    const std::string path = folder.file("trace.safetensors");
    write_safetensors(path, tensors);
    return path;
}

Scenario simple() { return scenario_of(make_bundled_model("simple-decoder")); }

}  // namespace

TEST_CASE("tests/reference/bugs/results.md has the tables of results", "[long]") {
    const std::string page = read_text(DECODERSCOPE_TESTS_DIR "/reference/bugs/results.md");
    const std::string table = results_table();
    INFO(table);
    CHECK(page.find(table) != std::string::npos);
}

TEST_CASE("a trace of our own agrees to the last bit, and any changed tensor is found") {
    const TemporaryFolder folder;
    const Scenario scenario = simple();
    const auto tensors = recorded_tensors(*execute(plan_of(scenario)));
    const Bisection same = core::bisect::bisect(scenario, open_trace(written(folder, tensors)));
    CHECK(!same.first);
    CHECK(same.agreed_before == tensors.size());
    CHECK(same.largest == 0.0);
    CHECK(same.unmatched.empty());
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        auto changed = tensors;
        const Index middle = changed[i].second.size() / 2;
        float& value = changed[i].second.writable()[static_cast<std::size_t>(middle)];
        if (std::abs(value) > 1e10F) continue;  // a fill
        value += 1.0F;
        const Bisection found =
            core::bisect::bisect(scenario, open_trace(written(folder, changed)), {.seek_causes = false});
        INFO(tensors[i].first);
        REQUIRE(found.first);
        CHECK(found.checks[*found.first].ours == tensors[i].first);
        CHECK(found.checks[*found.first].cell == tensors[i].second.cell(middle));
        CHECK(found.agreed_before == i);
    }
}

TEST_CASE("tensors without telling names are aligned by shape, value and place") {
    const TemporaryFolder folder;
    const Scenario scenario = simple();
    const Scenario other = with_override(scenario, "attention_scale", "0.9");
    auto tensors = recorded_tensors(*execute(plan_of(other)));
    std::vector<std::string> ours;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        ours.push_back(tensors[i].first);
        tensors[i].first = "t" + std::to_string(i);
    }
    const Bisection found = core::bisect::bisect(scenario, open_trace(written(folder, tensors)));
    REQUIRE(found.first);
    CHECK(found.checks[*found.first].ours == "blocks.0.attn.attn_scores");
    for (const TensorCheck& check : found.checks)
        CHECK(check.ours == ours[static_cast<std::size_t>(std::stoul(check.theirs.substr(1)))]);
}

TEST_CASE("TransformerLens' names and layouts are known") {
    const TemporaryFolder folder;
    const Scenario scenario = scenario_of(make_bundled_model("verses"));
    const std::shared_ptr<const Run> run = execute(plan_of(scenario));
    const Tensor& q = run->value("blocks.0.attn.q");  // [batch, head, pos, d_head]
    Tensor turned({{"", q.dim(0)}, {"", q.dim(2)}, {"", q.dim(1)}, {"", q.dim(3)}});
    for (Index i = 0; i < turned.size(); ++i) {
        const Cell cell = turned.cell(i);
        turned.writable()[static_cast<std::size_t>(i)] = q.at(Cell{cell[0], cell[2], cell[1], cell[3]});
    }
    const bool rotated = run->plan().find("blocks.0.attn.q_unrotated") != nullptr;
    const std::string path =
        written(folder, {{"hook_embed", run->value("embed")},
                         {rotated ? "blocks.0.attn.hook_rot_q" : "blocks.0.attn.hook_q", turned},
                         {"blocks.0.attn.hook_attn_scores", run->value("blocks.0.attn.masked_scores")},
                         {"blocks.0.hook_resid_post", run->value("blocks.0.resid_post")}});
    const Bisection found = core::bisect::bisect(scenario, open_trace(path));
    CHECK(!found.first);
    CHECK(found.agreed_before == 4);
    CHECK(found.unmatched.empty());
}

TEST_CASE("the tolerance is relative to a tensor's magnitude, and wider for half precision") {
    const TemporaryFolder folder;
    const Scenario scenario = simple();
    auto tensors = recorded_tensors(*execute(plan_of(scenario)));
    float largest = 0.0F;
    for (const float value : tensors.back().second.values()) largest = std::max(largest, std::abs(value));
    tensors.back().second.writable()[0] += 5e-4F * largest;
    const Trace trace = open_trace(written(folder, tensors));
    CHECK(arithmetic_of(trace) == Arithmetic::float32);
    CHECK(core::bisect::bisect(scenario, trace, {.seek_causes = false}).first);
    CHECK(!core::bisect::bisect(scenario, trace, {.tolerance = 1e-3}).first);
    CHECK(arithmetic_of(open_trace(kBugs + "traces/gpt/right-bfloat16.safetensors")) == Arithmetic::bfloat16);
    CHECK(coarse_tolerance(Arithmetic::bfloat16) > coarse_tolerance(Arithmetic::float16));
}

TEST_CASE("every block is run on the input that they recorded for it") {
    const Case wanted = {"gpt", "no-residual-mlp", "no-residual-mlp", "blocks.0.resid_post"};
    const Bisection& found = bisected(wanted);
    REQUIRE(found.isolated.size() == 2);
    CHECK(found.isolated[0].differs == "blocks.0.resid_post");
    CHECK(found.isolated[1].differs == "blocks.1.resid_post");  // its own mistake, not the first block's
}

TEST_CASE("the cell is explained as it is computed here and there") {
    const Bisection found = bisected({"gpt", "scale-by-d-model", "", ""});
    REQUIRE(!found.cell.ours.empty());
    REQUIRE(!found.cell.theirs.empty());
    CHECK(found.cell.ours.back() != found.cell.theirs.back());
    CHECK(found.cell.made_from == std::vector<std::string>{"blocks.0.attn.q", "blocks.0.attn.k"});
}

TEST_CASE("a match that the user changes is compared as told") {
    const auto trace = open_trace(kBugs + "traces/gpt/right-plain.safetensors");
    const Scenario scenario = scenario_for("gpt", trace);
    const Bisection before = core::bisect::bisect(scenario, trace);
    REQUIRE(!before.first);
    const auto of = [](const Bisection& found, const std::string& theirs) {
        return std::ranges::find(found.checks, theirs, &TensorCheck::theirs);
    };
    const std::string theirs = before.checks[before.checks.size() / 2].theirs, ours = of(before, theirs)->ours;
    const Bisection none = core::bisect::bisect(scenario, trace, {.chosen = {{theirs, ""}}});
    CHECK(of(none, theirs) == none.checks.end());
    CHECK(std::ranges::find(none.unmatched, theirs) != none.unmatched.end());
    const auto plan = plan_of(scenario);
    const std::vector<std::string> possible = possible_steps(*plan, *trace.find(theirs));
    CHECK(std::ranges::find(possible, ours) != possible.end());
    const auto other = std::ranges::find_if(possible, [&](const std::string& name) { return name != ours; });
    REQUIRE(other != possible.end());
    const Bisection changed =
        core::bisect::bisect(scenario, trace, {.seek_causes = false, .chosen = {{theirs, *other}}});
    REQUIRE(of(changed, theirs) != changed.checks.end());
    CHECK(of(changed, theirs)->ours == *other);
    CHECK(of(changed, theirs)->match.basis == Basis::chosen);
    CHECK(changed.first);  // another step has other numbers
    const Bisection unfit =
        core::bisect::bisect(scenario, trace, {.chosen = {{theirs, "no.such.step"}, {"no.such.tensor", ours}}});
    CHECK(of(unfit, theirs)->ours == ours);
}

TEST_CASE("a bisection in slices finds the same, counts what it tries and may be dropped") {
    const auto trace = std::make_shared<const Trace>(open_trace(kBugs + "traces/gpt/scale-by-d-model.safetensors"));
    const Scenario scenario = scenario_for("gpt", *trace);
    const auto progress = std::make_shared<BisectProgress>();
    Resumable<Bisection> work = bisect_in_slices(scenario, trace, {}, progress);
    std::size_t slices = 1;
    while (!work.advance()) ++slices;
    CHECK(slices > mutations::mutations().size());
    CHECK(progress->all >= mutations::mutations().size());
    CHECK(progress->done == progress->all);
    CHECK(bisection_json(work.result()) == bisection_json(core::bisect::bisect(scenario, *trace)));
    Resumable<Bisection> dropped = bisect_in_slices(scenario, trace, {}, nullptr);
    for (int i = 0; i < 6; ++i) CHECK_FALSE(dropped.advance());
}

TEST_CASE("a trace with nothing of the model is refused") {
    const TemporaryFolder folder;
    const std::string path = written(folder, {{"unknown", Tensor({{"", 3}}, {7.0F, 8.0F, 9.0F})}});
    CHECK_THROWS_AS(core::bisect::bisect(simple(), open_trace(path)), Error);
}

TEST_CASE("the JSON has the contract's keys") {
    const Json wrong = Json::parse(bisection_json(bisected({"gpt", "no-scale", "", ""})));
    CHECK(wrong["first"] == "blocks.0.attn.attn_scores");
    CHECK(wrong["theirs"].is_string());
    CHECK(wrong["largest"].is_number());
    CHECK(wrong["cell"].size() == 4);
    CHECK(wrong["agreed_before"].is_number_unsigned());
    CHECK(wrong["unmatched"].is_array());
    CHECK(wrong["causes"][0]["name"] == "no-scale");
    const Json right = Json::parse(bisection_json(bisected({"gpt", "right-plain", "", ""})));
    CHECK(right["first"].is_null());
    CHECK(right["cell"].empty());
}
