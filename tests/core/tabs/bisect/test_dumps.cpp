// Dumps of other programs: the numbers of PyTorch's recordings (tests/reference/bugs) under the names that ONNX, Flax,
// ExecuTorch, Keras and msProbe give them; and ggml's nodes, by the recorder of llama.cpp.
#include "app/core/figure/numpy.h"
#include "app/core/tabs/bisect/bisection_text.h"
#include "assets/recorder/record_llama.h"
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/files/safetensors.h"
#include "engine/load/model.h"
#include "engine/load/recorded_run.h"
#include "tests/catch.h"
#include "tests/core/cli/outcome.h"
#include "tests/core/tabs/bisect/recorded_ways.h"
#include "tests/core/tabs/bisect/stand_in/ggml.h"
#include "tests/engine/contains.h"
#include "tests/engine/temporary_folder.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

using namespace decoderscope::testing;
using core::bisect::Bisection;

namespace {

using Names = std::vector<std::pair<std::string, std::string>>;  // the recorder's, and another program's; "{}" a layer

// As torch.onnx names the nodes' outputs: the containers that a module is called through are left out (h.0.c_fc), and a
// norm and a projection are several nodes.
const Names kOnnx = {{"wte/out", "/wte/Gather_output_0"},
                     {"h.{}.ln_1/in", "/h.{}/ln_1/Sub_output_0"},
                     {"h.{}.ln_1/out", "/h.{}/ln_1/Add_1_output_0"},
                     {"h.{}.attn.c_attn/out", "/h.{}/attn/c_attn/Add_output_0"},
                     {"h.{}.attn/matmul/out", "/h.{}/attn/MatMul_output_0"},
                     {"h.{}.attn/softmax/out", "/h.{}/attn/Softmax_output_0"},
                     {"h.{}.attn/matmul#2/out", "/h.{}/attn/MatMul_1_output_0"},
                     {"h.{}.attn.c_proj/out", "/h.{}/attn/c_proj/Add_output_0"},
                     {"h.{}.ln_2/out", "/h.{}/ln_2/Add_1_output_0"},
                     {"h.{}.mlp.c_fc/out", "/h.{}/c_fc/Add_output_0"},
                     {"h.{}.mlp.c_proj/out", "/h.{}/c_proj/Add_output_0"},
                     {"ln_f/out", "/ln_f/Add_1_output_0"},
                     {"lm_head/out", "/lm_head/MatMul_output_0"}};

const Names kFlax = {{"wte/out", "intermediates/wte/__call__/0"},
                     {"h.{}.ln_1/out", "intermediates/h_{}/ln_1/__call__/0"},
                     {"h.{}.attn.c_attn/out", "intermediates/h_{}/attn/c_attn/__call__/0"},
                     {"h.{}.attn.c_proj/out", "intermediates/h_{}/attn/c_proj/__call__/0"},
                     {"h.{}.mlp.c_fc/out", "intermediates/h_{}/mlp/c_fc/__call__/0"},
                     {"lm_head/out", "intermediates/lm_head/__call__/0"}};

const Names kExecuTorch = {{"h.{}.attn.c_attn/out", "h.{}.attn.c_attn/aten.addmm.default"},
                           {"h.{}.attn/softmax/out", "h.{}.attn/aten._softmax.default"},
                           {"h.{}.mlp.c_fc/out", "h.{}.mlp.c_fc/aten.addmm.default"},
                           {"lm_head/out", "lm_head/aten.mm.default"}};

const Names kKeras = {
    {"embed_tokens/out", "llama_backbone/token_embedding"},
    {"layers.{}.input_layernorm/out", "llama_backbone/transformer_layer_{}/self_attention_layernorm"},
    {"layers.{}.self_attn.q_proj/out", "llama_backbone/transformer_layer_{}/self_attention/query"},
    {"layers.{}.self_attn.k_proj/out", "llama_backbone/transformer_layer_{}/self_attention/key"},
    {"layers.{}.self_attn.o_proj/out", "llama_backbone/transformer_layer_{}/self_attention/attention_output"},
    {"layers.{}.mlp.gate_proj/out", "llama_backbone/transformer_layer_{}/feedforward_gate_dense"},
    {"layers.{}.mlp.down_proj/out", "llama_backbone/transformer_layer_{}/feedforward_output_dense"},
    {"norm/out", "llama_backbone/sequence_output_layernorm"}};

// The tensors of a recording that have names, in its order.
std::vector<std::pair<std::string, Tensor>> renamed(const trace::Trace& trace, const Names& names) {
    std::map<std::string, std::string> all;
    for (const auto& [ours, theirs] : names)
        for (const char layer : {'0', '1'}) {
            const auto with = [&](std::string text) {
                if (const std::size_t at = text.find("{}"); at != std::string::npos) text.replace(at, 2, 1, layer);
                return text;
            };
            all.emplace(with(ours), with(theirs));
        }
    std::vector<std::pair<std::string, Tensor>> tensors;
    for (const trace::TraceTensor& tensor : trace.tensors)
        if (const auto name = all.find(tensor.name); name != all.end())
            tensors.emplace_back(name->second, tensor.values);
    return tensors;
}

std::string recording(const std::string& way, const std::string& name) {
    return kTraces + way + "/" + name + ".safetensors";
}

// A recording bisected under other names.
Bisection bisected(const std::string& way, const std::string& name, const Names& names) {
    const TemporaryFolder folder;
    const trace::Trace recorded = trace::open_trace(recording(way, name));
    const std::string path = folder.file("dump.safetensors");
    write_safetensors(path, renamed(recorded, names));
    return core::bisect::bisect(scenario_for(way, recorded), trace::open_trace(path));
}

}  // namespace

TEST_CASE("dumps under the names that other programs give bisect as PyTorch's recordings do") {
    struct Dump {
        std::string program, way;
        Names names;
        std::size_t tensors;  // of two layers
        std::string mistake, first, cause;
    };
    const std::vector<Dump> dumps = {
        {"ONNX", "gpt", kOnnx, 21, "softmax-over-queries", "blocks.0.attn.pattern", "softmax-over-queries"},
        {"ONNX", "gpt", kOnnx, 21, "no-residual-mlp", "blocks.1.ln1.normalized", "no-residual-mlp"},
        {"Flax", "gpt", kFlax, 10, "eps-1e-2", "blocks.0.ln1.normalized", "eps-1e-2"},
        {"ExecuTorch", "gpt", kExecuTorch, 7, "no-causal-mask", "blocks.0.attn.pattern", "no-causal-mask"},
        {"Keras", "llama", kKeras, 14, "gain-plus-one", "blocks.0.ln1.normalized", "gain-plus-one"}};
    for (const Dump& dump : dumps) {
        INFO(dump.program);
        const Bisection right = bisected(dump.way, "right-plain", dump.names);
        INFO(bisection_text(right));
        CHECK(!right.first);
        CHECK(right.agreed_before >= dump.tensors);
        CHECK(std::ranges::any_of(right.remarks,
                                  [&](const Sentence& remark) { return contains(remark.english(), dump.program); }));
        const Bisection wrong = bisected(dump.way, dump.mistake, dump.names);
        INFO(bisection_text(wrong));
        CHECK(first_of(wrong) == dump.first);
        REQUIRE(!wrong.causes.empty());
        CHECK(wrong.causes.front().name == dump.cause);
    }
}

TEST_CASE("names that no program gives stay tensors of any names, and a long one matches no pattern") {
    const TemporaryFolder folder;
    const std::string path = folder.file("dump.safetensors");
    const Tensor two({{"", 2}});
    write_safetensors(
        path, {{"first", two}, {std::string(1000, '/'), two}, {"/a/b_output_0", two}, {"third", two}, {"4", two}});
    const trace::Trace trace = trace::open_trace(path);
    CHECK(trace.calls.empty());
    CHECK(!trace.calls_by_names);
}

TEST_CASE("msProbe's dump gives its calls, with what they were given; pickled tensors are counted, and refused alone") {
    const TemporaryFolder folder;
    std::filesystem::create_directory(folder.file("dump_tensor_data"));
    const trace::Trace recorded = trace::open_trace(recording("gpt", "scale-by-d-model"));
    OrderedJson data = OrderedJson::object();
    const auto file = [&](const std::string& name, const std::string& tensor) {
        std::ofstream out(folder.file("dump_tensor_data/" + name + ".npy"), std::ios::binary);
        const Tensor& values = recorded.find(tensor)->values;
        core::write_npy(out, {name, sizes_of(values.axes()), [&](const auto& piece) { piece(values.values()); }});
        return OrderedJson{{"type", "torch.Tensor"}, {"data_name", name + ".npy"}};
    };
    for (const std::string layer : {"0", "1"}) {
        const std::string module = "Module.h." + layer + ".attn.c_attn.Linear.forward.0",
                          product = "Torch.matmul." + layer + ".forward",
                          softmax = "Functional.softmax." + layer + ".forward", h = "h." + layer;
        data[module]["output"] = OrderedJson::array({file(module + ".output.0", h + ".attn.c_attn/out")});
        data[product]["input_args"] = OrderedJson::array({file(product + ".input.0", h + ".attn/matmul/in.input"),
                                                          file(product + ".input.1", h + ".attn/matmul/in.other")});
        data[product]["output"] = OrderedJson::array({file(product + ".output.0", h + ".attn/matmul/out")});
        data[softmax]["input_args"] = OrderedJson::array({file(softmax + ".input.0", h + ".attn/masked_fill/out")});
        data[softmax]["output"] = OrderedJson::array({file(softmax + ".output.0", h + ".attn/softmax/out")});
    }
    data["Module.lm_head.Linear.forward.0"]["output"] =
        OrderedJson::array({OrderedJson{{"data_name", "Module.lm_head.Linear.forward.0.output.0.pt"}}});
    const auto written = [&](const OrderedJson& calls) {
        std::ofstream(folder.file("dump.json"))
            << OrderedJson{{"task", "tensor"}, {"level", "mix"}, {"data", calls}}.dump();
        return trace::open_trace(folder.file("dump.json"));
    };
    const trace::Trace trace = written(data);
    CHECK(trace.tensors.size() == 12);
    CHECK(std::ranges::any_of(
        trace.remarks, [](const Sentence& remark) { return contains(remark.english(), "1 tensor is pickled"); }));
    const Bisection found = core::bisect::bisect(scenario_for("gpt", recorded), trace);
    CHECK(first_of(found) == "blocks.0.attn.masked_scores");  // scores may differ by a factor: some scale the query
    REQUIRE(!found.causes.empty());
    CHECK(found.causes.front().name == "scale-by-d-model");
    CHECK(load::run_of_trace(folder.file("dump.json"))->plan->find("Functional.softmax.0.forward.output.0") != nullptr);
    OrderedJson pickled;
    pickled["Module.lm_head.Linear.forward.0"] = data["Module.lm_head.Linear.forward.0"];
    CHECK_THROWS_WITH(written(pickled), Catch::Matchers::ContainsSubstring("numpy.save") &&
                                            Catch::Matchers::ContainsSubstring("dump.json"));
}

// ---- llama.cpp

namespace {

const std::string kLlama = DECODERSCOPE_TESTS_DIR "/reference/stored/models/llama/model.gguf";

// llama.cpp's graph of a pass: our numbers as its nodes hold them. Keys have room for `room` positions.
class Graph {
public:
    Graph(const Run& run, decoderscope_recorder& recorder, Index room) : run_(run), recorder_(recorder), room_(room) {}

    void pass() {
        const Tensor& tokens = run_.value(run_.plan().find("tokens")->id);
        positions_ = tokens.dim(1);
        ggml_tensor* ids = whole("inp_tokens", [&](Index i) { return tokens.data()[i]; });
        ggml_tensor* places = whole("inp_pos", [](Index i) { return static_cast<float>(i); });
        ggml_tensor* stream = node("embed", GGML_OP_GET_ROWS, "inp_embd", {weight("token_embd.weight"), ids});
        for (Index layer = 0; layer < 3; ++layer) stream = block(layer, stream, places);
        ggml_tensor* norm = node("", GGML_OP_RMS_NORM, "norm", {stream});
        norm = node("ln_final.normalized", GGML_OP_MUL, "result_norm", {norm, weight("output_norm.weight")});
        node("logits", GGML_OP_MUL_MAT, "result_output", {weight("output.weight"), norm});
    }

private:
    ggml_tensor* block(Index layer, ggml_tensor* stream, ggml_tensor* places) {
        const std::string ours = "blocks." + std::to_string(layer) + ".", at = "-" + std::to_string(layer),
                          blk = "blk." + std::to_string(layer) + ".";
        ggml_tensor* norm = node("", GGML_OP_RMS_NORM, "norm" + at, {stream});
        norm = node(ours + "ln1.normalized", GGML_OP_MUL, "attn_norm" + at, {norm, weight(blk + "attn_norm.weight")});
        const auto heads = [&](const std::string& letter, bool turned) {
            ggml_tensor* made =
                node(ours + "attn." + letter + (turned ? "_unrotated" : ""), GGML_OP_MUL_MAT, letter + "cur" + at,
                     {weight(blk + "attn_" + letter + ".weight"), norm}, true, turned);
            ggml_tensor* seen = view(made, GGML_OP_RESHAPE);
            return turned ? node(ours + "attn." + letter, GGML_OP_ROPE, letter + "cur" + at, {seen, places}, true, true)
                          : seen;
        };
        ggml_tensor *q = heads("q", true), *k = heads("k", true), *v = heads("v", false);
        ggml_tensor* scores = node(ours + "attn.attn_scores", GGML_OP_MUL_MAT, "kq" + at,
                                   {view(k, GGML_OP_PERMUTE), view(q, GGML_OP_PERMUTE)});
        ggml_tensor* pattern = node(ours + "attn.pattern", GGML_OP_SOFT_MAX, "kq_soft_max" + at, {scores});
        ggml_tensor* z = node(ours + "attn.z", GGML_OP_MUL_MAT, "kqv" + at, {view(v, GGML_OP_PERMUTE), pattern});
        ggml_tensor* out = node(ours + "attn_out", GGML_OP_MUL_MAT, "attn_out" + at,
                                {weight(blk + "attn_output.weight"), view(z, GGML_OP_CONT)});
        ggml_tensor* middle = node(ours + "resid_mid", GGML_OP_ADD, "ffn_inp" + at, {out, stream});
        ggml_tensor* second = node("", GGML_OP_RMS_NORM, "norm" + at, {middle});
        second = node(ours + "ln2.normalized", GGML_OP_MUL, "ffn_norm" + at, {second, weight(blk + "ffn_norm.weight")});
        ggml_tensor* gate =
            node(ours + "mlp.gate", GGML_OP_MUL_MAT, "ffn_gate" + at, {weight(blk + "ffn_gate.weight"), second});
        ggml_tensor* up =
            node(ours + "mlp.pre", GGML_OP_MUL_MAT, "ffn_up" + at, {weight(blk + "ffn_up.weight"), second});
        ggml_tensor* post = node(ours + "mlp.post", GGML_OP_GLU, "ffn_swiglu" + at, {gate, up});
        ggml_tensor* down =
            node(ours + "mlp_out", GGML_OP_MUL_MAT, "ffn_out" + at, {weight(blk + "ffn_down.weight"), post});
        return node(ours + "resid_post", GGML_OP_ADD, "l_out" + at, {down, middle});
    }

    ggml_tensor* named(const std::string& name) {
        tensors_.emplace_back();
        name.copy(tensors_.back().name, sizeof(ggml_tensor::name) - 1);
        return &tensors_.back();
    }
    ggml_tensor* weight(const std::string& name) { return named(name); }
    ggml_tensor* view(ggml_tensor* of, ggml_op op) {
        ggml_tensor* made = named("");
        *made = *of;
        made->op = op;
        made->src[0] = of;
        CHECK(!decoderscope_recorder::evaluated(made, true, &recorder_));
        return made;
    }
    ggml_tensor* whole(const std::string& name, const auto& number) {
        ggml_tensor* made = named(name);
        std::vector<std::int32_t>& numbers = whole_.emplace_back();
        for (Index i = 0; i < positions_; ++i) numbers.push_back(static_cast<std::int32_t>(number(i)));
        made->type = GGML_TYPE_I32;
        made->ne[0] = positions_;
        made->data = numbers.data();
        return made;
    }

    // A node with the numbers of one of our steps: of heads [head, pos, column] as [pos, head, column] if
    // `by_position`; of both halves' columns in turn, as RoPE of neighbours has them, if `in_turn`.
    ggml_tensor* node(const std::string& step, ggml_op op, const std::string& name,
                      const std::vector<ggml_tensor*>& from, bool by_position = false, bool in_turn = false) {
        ggml_tensor* made = named(name);
        made->op = op;
        std::copy(from.begin(), from.end(), made->src);
        std::vector<float>& numbers = numbers_.emplace_back();
        const Tensor value =
            step.empty() ? Tensor({{"", positions_}, {"", 1}}, std::vector<float>(static_cast<std::size_t>(positions_)))
                         : run_.value(run_.plan().find(step)->id);
        const Index columns = value.dim(value.rank() - 1), rows = value.size() / columns;
        const Index stored = value.axes().back().name == axis::key ? room_ : columns;
        numbers.assign(static_cast<std::size_t>(rows * stored), 0.0F);
        for (Index row = 0; row < rows; ++row)
            for (Index column = 0; column < columns; ++column) {
                const Index to = by_position ? row % positions_ * (rows / positions_) + row / positions_ : row;
                const Index at = !in_turn ? column : column < columns / 2 ? 2 * column : 2 * (column - columns / 2) + 1;
                numbers[static_cast<std::size_t>(to * stored + at)] = value.data()[row * columns + column];
            }
        made->data = numbers.data();
        made->ne[0] = by_position && op == GGML_OP_MUL_MAT ? rows / positions_ * stored : stored;
        made->ne[1] = value.rank() == 4 && !by_position   ? positions_
                      : by_position && op == GGML_OP_ROPE ? rows / positions_
                                                          : positions_;
        made->ne[2] = value.rank() == 4 && !by_position   ? rows / positions_
                      : by_position && op == GGML_OP_ROPE ? positions_
                                                          : 1;
        CHECK(decoderscope_recorder::evaluated(made, true, &recorder_));
        CHECK(decoderscope_recorder::evaluated(made, false, &recorder_));
        return made;
    }

    const Run& run_;
    decoderscope_recorder& recorder_;
    Index room_ = 0, positions_ = 0;
    std::deque<ggml_tensor> tensors_;
    std::deque<std::vector<float>> numbers_;
    std::deque<std::vector<std::int32_t>> whole_;
};

// What llama.cpp would leave of a run with a mistake in it, or without one.
std::string recorded_llama(const Scenario& scenario, const std::string& mutation, const TemporaryFolder& folder) {
    Scenario there = scenario;
    there.mutation = mutation;
    const std::shared_ptr<const Run> run = execute(plan_of(there));
    const std::string path = folder.file("llama.safetensors");
    decoderscope_recorder recorder(path);
    Graph(*run, recorder, 32).pass();
    return path;
}

}  // namespace

TEST_CASE("llama.cpp's nodes bisect: q and k with halves in turn, scores without the room that the cache keeps") {
    const TemporaryFolder folder;
    Scenario scenario = scenario_of(load::load_model(kLlama));
    scenario.inputs = {};
    scenario.inputs.tokens = Tensor({{axis::batch, 1}, {axis::pos, 6}}, std::vector<float>{3, 14, 15, 9, 26, 5});
    const trace::Trace right = trace::open_trace(recorded_llama(scenario, "", folder));
    CHECK(right.origin.english() == "the recorder, of llama.cpp");
    CHECK(right.find("blk.0.attn/kq_soft_max/out")->shape == std::vector<Index>{4, 6, 6});
    CHECK(right.find("blk.0.attn/qcur/out")->shape == std::vector<Index>{6, 32});
    CHECK(inputs_of_trace(right, scenario.config()).tokens.values()[2] == 15.0F);
    const Bisection agrees = core::bisect::bisect(scenario, right);
    INFO(bisection_text(agrees));
    CHECK(!agrees.first);
    CHECK(agrees.agreed_before >= 3 * 15);
    const std::vector<std::array<std::string, 3>> mistakes = {
        {"no-scale", "blocks.0.attn.pattern", "no-scale"},
        {"rope-other-pairs", "blocks.0.attn.q", "rope-other-pairs"},
        {"no-residual-attention", "blocks.0.resid_mid", "no-residual-attention"},
        // A mistake of the list at one place, and not at its others.
        {"in all blocks blocks.0.attn.k: rope-other-pairs", "blocks.0.attn.k",
         "in all blocks blocks.0.attn.k: rope-other-pairs"},
        {"in all blocks blocks.0.ln2.normalized: layernorm-for-rmsnorm", "blocks.0.ln2.normalized",
         "in all blocks blocks.0.ln2.normalized: layernorm-for-rmsnorm"}};
    for (const auto& [mutation, first, cause] : mistakes) {
        const Bisection wrong =
            core::bisect::bisect(scenario, trace::open_trace(recorded_llama(scenario, mutation, folder)));
        INFO(bisection_text(wrong));
        CHECK(first_of(wrong) == first);
        REQUIRE(!wrong.causes.empty());
        CHECK(wrong.causes.front().name == cause);
    }
}

TEST_CASE("the recorders are printed for the program that they record") {
    CHECK(contains(testing::run({"recorder"}).out, "import torch"));
    CHECK(contains(testing::run({"recorder", "--for", "llama.cpp"}).out, "#include \"ggml.h\""));
    const Outcome other = testing::run({"recorder", "--for", "caffe"});
    CHECK(other.status != 0);
    CHECK(contains(other.err, "llama.cpp"));
}
