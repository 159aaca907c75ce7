// Traces as steps, without the model that made them.
#include "engine/base/error.h"
#include "engine/files/safetensors.h"
#include "engine/graph/run.h"
#include "engine/load/recorded_hints.h"
#include "engine/load/recorded_run.h"
#include "engine/trace/recorded_plan.h"
#include "tests/catch.h"
#include "tests/engine/raw_safetensors.h"
#include "tests/engine/recorded_traces.h"
#include "tests/engine/temporary_folder.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>

using namespace decoderscope::testing;
using namespace decoderscope::trace;

namespace {

std::vector<std::string> operands_of(const Plan& plan, const std::string& name) {
    std::vector<std::string> names;
    for (const StepId operand : plan.find(name)->operands) names.push_back(plan[operand].name);
    return names;
}

}  // namespace

TEST_CASE("every tensor of a trace is a step with its own numbers, in the order of recording") {
    for (const std::string file : {"gpt/right-plain", "llama/right-bfloat16", "annotated/right-plain"}) {
        const Trace trace = open_trace(kTraces + file + ".safetensors");
        const std::shared_ptr<const Run> run = execute(run_of_trace(trace.path)->plan);
        REQUIRE(run->plan().steps().size() == trace.tensors.size());
        for (std::size_t i = 0; i < trace.tensors.size(); ++i) {
            const Step& step = run->plan()[i];
            CHECK(step.name == trace.tensors[i].name);
            CHECK(step.operation.traits().recorded_elsewhere);
            CHECK(std::ranges::equal(run->value(i).values(), trace.tensors[i].values.values()));
        }
    }
}

TEST_CASE("a head that has the embedding's numbers and no gradient of its own is tied to it") {
    const auto stored = [](const std::string& name, float first) {
        return TraceTensor{name,
                           "F32",
                           {2, 2},
                           Tensor(unnamed(std::vector<Index>{2, 2}), std::vector<float>{first, 2.0F, 3.0F, 4.0F})};
    };
    const auto called = [](const std::string& module, const std::string& kind) {
        return TraceCall{.name = module, .module = module, .kind = kind, .function = {}, .in = {}, .out = {}};
    };
    Trace trace;
    trace.calls = {called("wte", "Embedding"), called("h.0.q", "Linear"), called("lm_head", "Linear")};
    trace.parameters = {stored("wte.weight", 1.0F), stored("h.0.q.weight", 1.0F), stored("lm_head.weight", 1.0F)};
    const Overrides tied = {{"tie_word_embeddings", "true"}};
    CHECK(hints_of_trace(trace) == tied);
    trace.tensors = {stored("grad.wte.weight", 5.0F)};
    CHECK(hints_of_trace(trace) == tied);
    trace.tensors.push_back(stored("grad.lm_head.weight", 5.0F));
    CHECK(hints_of_trace(trace).empty());
    trace.tensors.clear();
    trace.parameters.back() = stored("lm_head.weight", 1.5F);
    CHECK(hints_of_trace(trace).empty());
}

TEST_CASE("what autograd left is the backward pass: each tensor leads to its gradient") {
    const Trace trace = open_trace(kTraces + "gpt/gradients.safetensors");
    const auto plan = run_of_trace(trace.path)->plan;
    std::size_t pairs = 0;
    for (const Step& step : plan->steps()) {
        CHECK(step.backward == step.name.starts_with("grad."));
        const Ref gradient = plan->gradient_wrt(step);
        if (gradient == nullptr) continue;
        ++pairs;
        CHECK(gradient->name == "grad." + step.name);
        CHECK(gradient->gradient_wrt == step.id);
        CHECK(gradient->axes == step.axes);
        CHECK(gradient->layer == step.layer);
    }
    CHECK(pairs > 20);
    // One that is not of the shape of what it is named after is a tensor like any other.
    const TemporaryFolder folder;
    write_safetensors(folder.file("odd.safetensors"),
                      {{"a", Tensor({{"", 2}}, {1.0F, 2.0F})}, {"grad.a", Tensor({{"", 1}}, {3.0F})}});
    const auto odd = run_of_trace(folder.file("odd.safetensors"))->plan;
    CHECK(odd->gradient_wrt(*odd->find("a")) == nullptr);
}

TEST_CASE("arrows lead from what a call was given to what it gave") {
    const auto plan = run_of_trace(kTraces + "gpt/right-plain.safetensors")->plan;
    std::size_t arrows = 0;
    for (const Step& step : plan->steps())
        for (const StepId operand : step.operands) {
            CHECK(operand < step.id);
            ++arrows;
        }
    CHECK(arrows > plan->steps().size() / 2);
    const auto softmax =
        std::ranges::find_if(plan->steps(), [](const Step& step) { return step.name.ends_with("/softmax/out"); });
    REQUIRE(softmax != plan->steps().end());
    CHECK(softmax->axes.size() == 4);
    CHECK(softmax->axes[2].name == axis::query);
    CHECK(softmax->axes[3].name == axis::key);
    CHECK(softmax->operation.traits().values == Values::weights);
    CHECK(softmax->part == Part::self_attention);
    CHECK(softmax->layer == 0);
    CHECK(operands_of(*plan, softmax->name).size() == 1);
}

TEST_CASE("an encoder's blocks are told from a decoder's") {
    const auto plan = run_of_trace(kTraces + "annotated/right-plain.safetensors")->plan;
    const auto of = [&](StackKind stack) {
        return std::ranges::count_if(plan->steps(), [&](const Step& step) { return step.stack == stack; });
    };
    CHECK(of(StackKind::encoder) > 10);
    CHECK(of(StackKind::decoder) > 10);
}

TEST_CASE("a recorder's file is a recording, other safetensors only on request") {
    const TemporaryFolder folder;
    CHECK(is_recording(kTraces + "gpt/right-plain.safetensors"));
    CHECK_FALSE(is_recording(kTraces + "gpt/model.safetensors"));
    CHECK_FALSE(is_recording(folder.file("none.npz")));
    CHECK(run_of_trace(kTraces + "gpt/model.safetensors")->plan->steps().size() > 10);
    CHECK_THROWS_AS(run_of_trace(folder.file("none.npz")), Error);
    write_bytes(folder.file("empty.safetensors"), with_header("{}", ""));
    CHECK_THROWS_AS(run_of_trace(folder.file("empty.safetensors")), Error);
}

TEST_CASE("a trace of ten gigabytes is opened without reading it", "[native]") {
    const TemporaryFolder folder;
    const std::string path = folder.file("large.safetensors");
    constexpr std::size_t kTensors = 160, kBytes = 64 << 20;  // sparse: no block of the disk is written
    std::string header = R"({"__metadata__": {"format": "decoderscope-trace 1", "finished": "yes", "calls": "[]"})";
    for (std::size_t i = 0; i < kTensors; ++i)
        header += ", \"layers." + std::to_string(i) + R"(/out": {"dtype": "F32", "shape": [1, 4096, 4096], )" +
                  R"("data_offsets": [)" + std::to_string(i * kBytes) + ", " + std::to_string((i + 1) * kBytes) + "]}";
    header += "}";
    header.resize((header.size() + 7) / 8 * 8, ' ');
    write_bytes(path, with_header(header, ""));
    const std::size_t start = std::filesystem::file_size(path);
    std::filesystem::resize_file(path, start + kTensors * kBytes);
    {
        std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(static_cast<std::streamoff>(start + 159 * kBytes + 4 * 4097));
        const float seven = 7.0F;
        file.write(reinterpret_cast<const char*>(&seven), sizeof seven);
    }
    const std::shared_ptr<const Run> run = execute(run_of_trace(path)->plan);
    REQUIRE(run->plan().steps().size() == kTensors);
    const Tensor& last = run->value("layers.159/out");
    CHECK(last.is_in_file());
    std::array<float, 1> value = {};
    last.copy(4097, value);
    CHECK(value[0] == 7.0F);
}
