// Checkpoints as their modules save them: the keys are recognised, and the output is the module's own.
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/decoder/decoder.h"
#include "engine/files/safetensors.h"
#include "engine/graph/run.h"
#include "engine/load/model.h"
#include "engine/load/state_dict.h"
#include "tests/catch.h"
#include "tests/engine/same_weights.h"
#include "tests/engine/small_models.h"
#include "tests/engine/state_dict_folder.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>

using namespace decoderscope::testing;
using namespace decoderscope::load::names;

namespace {

Overrides settings_of(const std::string& name) {
    Overrides overrides;
    const nlohmann::json settings = parse_json(read_text(state_dict_folder(name) + "/set.json"), message("settings"));
    for (const auto& [key, value] : settings.items())
        overrides.emplace_back(key, value.is_string() ? value.get<std::string>() : value.dump());
    return overrides;
}

// The decoder's output: probabilities, the final norm, or the last block's output.
Tensor output_of(const Run& run) {
    for (const char* name : {"probs", "ln_final.normalized"})
        if (run.plan().find(name) != nullptr) return run.value(name);
    const Step* last = nullptr;
    for (const Step& step : run.plan().steps())
        if (step.role == Role::recorded) last = &step;
    return run.value(last->id);
}

// A parameter under another name.
struct Renamed {
    std::string from, to;
};

std::string replaced(std::string text, const std::vector<Renamed>& names) {
    for (const Renamed& name : names)
        for (std::size_t at = text.find(name.from); at != std::string::npos;
             at = text.find(name.from, at + name.to.size()))
            text.replace(at, name.from.size(), name.to);
    return text;
}

// q, k and v stacked.
Tensor fused(const Weights& weights, const std::string& attention, const std::string& ending) {
    std::vector<float> values;
    Axes axes;
    for (const char* projection : {".q_proj.", ".k_proj.", ".v_proj."}) {
        const Tensor& tensor = weights.at(attention + projection + ending);
        axes = tensor.axes();
        values.insert(values.end(), tensor.values().begin(), tensor.values().end());
    }
    axes.resize(0, 3 * axes[0].size);
    return {axes, values};
}

Tensor turned(const Tensor& matrix) {
    Tensor out({matrix.axes()[1], matrix.axes()[0]});
    const std::span<float> to = out.writable();
    for (Index i = 0; i < matrix.size(); ++i) {
        const Cell at = matrix.cell(i);
        to[static_cast<std::size_t>(out.offset(Cell{at[1], at[0]}))] = matrix.data()[i];
    }
    return out;
}

}  // namespace

TEST_CASE("a state_dict of each module gives the module's own output") {
    for (const std::string name : {"simple-decoder", "decoder", "transformer-decoder-block", "transformer-decoder",
                                   "decoder-layer", "nn-transformer-decoder", "nn-transformer-decoder-pre", "gpt2",
                                   "nanogpt", "heads-gpt", "llama", "fused-qkv"}) {
        INFO(name);
        const Overrides overrides = settings_of(name);
        const auto model = load_model(state_dict_folder(name), overrides);
        const Config config = model->config(overrides);
        const Inputs inputs = load_inputs(state_dict_folder(name) + "/inputs.safetensors", config);
        const auto run = execute(plan_decoder({config, &model->weights, inputs, {}, std::nullopt}));
        const Tensor ours = output_of(*run);
        const Tensor theirs = SafetensorsFile(state_dict_folder(name) + "/expected.safetensors").floats("output");
        REQUIRE(shape_text(ours.axes()) == shape_text(theirs.axes()));
        for (Index i = 0; i < ours.size(); ++i) REQUIRE(std::abs(ours.data()[i] - theirs.data()[i]) < 1e-5F * 4);
    }
}

TEST_CASE("without a config.json the head count is asked for") {
    try {
        static_cast<void>(load_model(state_dict_folder("decoder")));
        FAIL("nothing was asked for");
    } catch (const Error& error) {
        INFO(error.what());
        CHECK(std::string(error.what()).find("nhead") != std::string::npos);
        CHECK(std::string(error.what()).find("config.json") != std::string::npos);
        CHECK(std::string(error.what()).find("1, 2, 4, 8, 16") != std::string::npos);
        CHECK(std::string(error.what()).find("norm_first=false") != std::string::npos);
    }
}

TEST_CASE("what a checkpoint is, is read off its names and shapes, and the rest is asked") {
    const auto question = [](const Recognised& recognised, const std::string& key) {
        for (const Question& asked : recognised.questions)
            if (asked.key == key) return asked;
        return Question{};
    };
    const auto fact = [](const Recognised& recognised, const std::string& key) {
        for (const auto& [known, value] : recognised.facts)
            if (known == key) return value;
        return std::string();
    };
    const Recognised gpt2 = recognise_model(state_dict_folder("gpt2")).value();
    CHECK(gpt2.module.english() == "Hugging Face GPT-2");
    CHECK(fact(gpt2, "d_model") == "16");
    CHECK(fact(gpt2, "num_layers") == "2");
    CHECK(fact(gpt2, "dim_feedforward") == "64");
    CHECK(fact(gpt2, "max_positions") == "9");
    CHECK(fact(gpt2, "norm") == "layernorm");
    CHECK(question(gpt2, "nhead").required);
    CHECK(question(gpt2, "nhead").choices == std::vector<std::string>{"1", "2", "4", "8", "16"});
    CHECK(question(gpt2, "activation").proposal == "gelu_tanh");
    CHECK(question(gpt2, "norm_first").proposal == "true");
    CHECK(question(gpt2, "lm_head").proposal == "true");
    CHECK(question(gpt2, "positional_encoding").key.empty());

    const Recognised heads = recognise_model(state_dict_folder("heads-gpt")).value();
    CHECK(fact(heads, "nhead") == "4");
    CHECK(question(heads, "nhead").key.empty());
    CHECK(question(heads, "lm_head").key.empty());

    const Recognised llama = recognise_model(state_dict_folder("llama")).value();
    CHECK(llama.module.english() == "Hugging Face Llama");
    CHECK(llama.queries_per_key == 2);
    CHECK(question(llama, "norm").proposal == "rmsnorm");
    CHECK(question(llama, "positional_encoding").proposal == "rope");
    CHECK(question(llama, "nhead").choices == std::vector<std::string>{"2", "4", "8"});  // in pairs, of even width

    const Recognised torch = recognise_model(state_dict_folder("nn-transformer-decoder")).value();
    CHECK(torch.module.english() == "torch.nn.TransformerDecoder");
    CHECK(fact(torch, "cross_attention") == "true");
    CHECK(fact(torch, "vocab_size") == "0");
    CHECK(recognise_model(state_dict_folder("decoder")).value().module.english() ==
          "Decoder, a stack of SimpleDecoder");
    CHECK_FALSE(recognise_model("causal-lm"));
}

TEST_CASE("answers and assumed values are reported") {
    const auto model = load_model(state_dict_folder("gpt2"), {{"nhead", "4"}, {"activation", "gelu"}});
    REQUIRE(model->remarks.size() == 1);
    CHECK(model->remarks[0].english().find("norm_first=true") != std::string::npos);
    CHECK(model->remarks[0].english().find("activation") == std::string::npos);
    CHECK(model->config().activation == ActivationKind::gelu);
    CHECK(model->config().nhead == 4);
    CHECK(model->name == state_dict_folder("gpt2"));
    CHECK(load_model(state_dict_folder("gpt2") + "/model.safetensors", {{"nhead", "4"}})->name ==
          state_dict_folder("gpt2") + "/model.safetensors");
}

TEST_CASE("q, k and v in one matrix are cut where its name settles their order, and refused where it doesn't") {
    const testing::SmallModel model = testing::small_model({});
    for (const std::string name : {"in_proj_", "qkv.", "Wqkv.", "to_qkv.", "in_proj.", "c_attn."}) {
        INFO(name);
        Weights theirs;
        for (const auto& [own, tensor] : model.weights)
            if (own.find("q_proj") == std::string::npos && own.find("k_proj") == std::string::npos &&
                own.find("v_proj") == std::string::npos)
                theirs.emplace(own, tensor);
        for (const char* ending : {"weight", "bias"})
            theirs.emplace("layers.0.self_attn." + name + ending, fused(model.weights, "layers.0.self_attn", ending));
        CHECK(same_weights(canonical_weights(theirs), model.weights));
    }
    for (const std::string name : {"query_key_value", "qkv_proj", "wqkv"}) {
        try {
            const std::string whole = "layers.0.self_attn." + name + ".weight";
            static_cast<void>(canonical_weights({{whole, fused(model.weights, "layers.0.self_attn", "weight")}}));
            FAIL_CHECK(name + " was taken");
        } catch (const Error& error) {
            CHECK(std::string(error.what()).find(name) != std::string::npos);
            CHECK(std::string(error.what()).find("order") != std::string::npos);
        }
    }
    const Tensor wide({{"", 4}, {"", 12}});  // not GPT-2's: nothing says which way round it is
    CHECK_THROWS_AS(canonical_weights({{"layers.0.self_attn.qkv.weight", wide}}), Error);
}

TEST_CASE("heads with matrices of their own are put below one another, all of them") {
    const Tensor one({{"", 1}, {"", 2}}, {1.0F, 2.0F}), two({{"", 1}, {"", 2}}, {3.0F, 4.0F});
    const Weights joined =
        canonical_weights({{"blocks.0.sa.heads.1.key.weight", two}, {"blocks.0.sa.heads.0.key.weight", one}});
    REQUIRE(joined.contains("layers.0.self_attn.k_proj.weight"));
    CHECK(std::ranges::equal(joined.at("layers.0.self_attn.k_proj.weight").values(),
                             std::vector{1.0F, 2.0F, 3.0F, 4.0F}));
    CHECK_THROWS_AS(canonical_weights({{"sa.heads.0.key.weight", one}, {"sa.heads.2.key.weight", two}}), Error);
    const Tensor taller({{"", 2}, {"", 2}}, {1, 2, 3, 4});
    CHECK_THROWS_AS(canonical_weights({{"sa.heads.0.key.weight", one}, {"sa.heads.1.key.weight", taller}}), Error);
    CHECK_THROWS_AS(canonical_weights({{"sa.heads.0.key.weight", one}, {"sa.k_proj.weight", one}}), Error);
}

TEST_CASE("tensors that are no decoder's are refused with a sentence") {
    for (const Shapes& shapes :
         {Shapes{}, Shapes{{"conv1.weight", {64, 3, 7, 7}}}, Shapes{{"blocks.0.attn.z", {1, 2, 3, 4}}},
          Shapes{{"layers.0.self_attn.q_proj.weight", {Index{1} << 62, 0}}},
          Shapes{{"layers.0.self_attn.q_proj.weight", {0, Index{1} << 62}}}}) {
        CHECK_THROWS_AS(recognise(shapes), Error);
    }
}

TEST_CASE("canonical names stay as they are") {
    const testing::SmallModel model =
        testing::small_model(keys_of("cross_attention=true encoder_layers=1 vocab_size=7 lm_head=true "
                                     "final_norm=true gated_mlp=true"));
    CHECK(same_weights(canonical_weights(model.weights), model.weights));
}

TEST_CASE("the canonical names of norms in use today stay as they are, also under any prefix and stack name") {
    const testing::SmallModel model =
        testing::small_model(keys_of("cross_attention=true encoder_layers=1 norm_placement=peri qk_norm=true "
                                     "embedding_norm=true"));
    REQUIRE(model.weights.contains("layers.0.norm3_post.weight"));
    CHECK(same_weights(canonical_weights(model.weights), model.weights));
    Weights theirs;
    for (const auto& [name, tensor] : model.weights)
        theirs.emplace("model." + replaced(name, {{"layers.", "blocks."}, {"self_attn", "attn"}}), tensor);
    CHECK(same_weights(canonical_weights(theirs), model.weights));
}

TEST_CASE("GPT-2's names are recognised, with Conv1D's weights and with minGPT's, and its buffers are left out") {
    const testing::SmallModel model =
        testing::small_model(keys_of("norm_first=true vocab_size=7 final_norm=true positional_encoding=learned "
                                     "max_positions=9 num_layers=2"));
    for (const bool conv1d : {true, false}) {
        for (const std::string prefix : {"transformer.", ""}) {
            Weights theirs;
            for (const auto& [name, tensor] : model.weights) {
                if (name.find("k_proj") != std::string::npos || name.find("v_proj") != std::string::npos) continue;
                const bool query = name.find("q_proj") != std::string::npos;
                const std::size_t layer = name.find(".q_proj");
                Tensor values = query ? fused(model.weights, name.substr(0, layer), name.substr(layer + 8)) : tensor;
                const bool linear = values.rank() == 2 && name.find("embed") == std::string::npos;
                if (linear && conv1d) values = turned(values);
                theirs.emplace(prefix + replaced(name, {{"layers.", "h."},
                                                        {"self_attn.q_proj", "attn.c_attn"},
                                                        {"self_attn.o_proj", "attn.c_proj"},
                                                        {"up_proj", "mlp.c_fc"},
                                                        {"down_proj", "mlp.c_proj"},
                                                        {"norm1", "ln_1"},
                                                        {"norm2", "ln_2"},
                                                        {"pos_embed", "wpe"},
                                                        {"embed", "wte"},
                                                        {"norm.", "ln_f."}}),
                               values);
            }
            theirs.emplace(prefix + "h.0.attn.bias", Tensor({{"", 1}, {"", 1}}, {1.0F}));
            CHECK(same_weights(canonical_weights(theirs), model.weights));
        }
    }
}

TEST_CASE("Llama's names are recognised") {
    const testing::SmallModel model =
        testing::small_model(keys_of("norm_first=true norm=rmsnorm vocab_size=7 final_norm=true bias=false "
                                     "gated_mlp=true num_layers=2 lm_head=true"));
    Weights theirs;
    for (const auto& [name, tensor] : model.weights) {
        const bool head = name.starts_with("lm_head");
        theirs.emplace((head ? "" : "model.") + replaced(name, {{"up_proj", "mlp.up_proj"},
                                                                {"down_proj", "mlp.down_proj"},
                                                                {"gate_proj", "mlp.gate_proj"},
                                                                {"norm1", "input_layernorm"},
                                                                {"norm2", "post_attention_layernorm"},
                                                                {"embed.", "embed_tokens."}}),
                       tensor);
    }
    theirs.emplace("model.layers.0.self_attn.rotary_emb.inv_freq", Tensor({{"", 1}}, {1.0F}));
    CHECK(same_weights(canonical_weights(theirs), model.weights));
}

TEST_CASE("two tensors with the same meaning are refused, and an unknown name is kept for the error") {
    const Tensor one({{"", 1}}, {1.0F});
    CHECK_THROWS_AS(canonical_weights({{"emb.weight", one}, {"wte.weight", one}}), Error);
    CHECK(canonical_weights({{"layers.0.strange.weight", one}}).contains("layers.0.strange.weight"));
    CHECK_THROWS_AS(canonical_weights({{"layers.0.self_attn.in_proj_weight", one}}), Error);
}

TEST_CASE("a real trained Llama continues a story as it should, token for token") {
    const std::string folder = DECODERSCOPE_TESTS_DIR "/../../shared/models/stories260K";
    if (!std::filesystem::exists(folder)) return;
    const auto model = load_model(folder);
    const Config config = model->config();
    const auto golden = parse_json(read_text(folder + "/golden.json"), message("the continuation"));
    auto tokens = golden["prompt_tokens"].get<std::vector<float>>();
    for (const float expected : golden["greedy_tokens"].get<std::vector<float>>()) {
        Inputs inputs;
        inputs.tokens = Tensor({{axis::batch, 1}, {axis::pos, static_cast<Index>(tokens.size())}}, tokens);
        const auto run = execute(plan_decoder({config, &model->weights, inputs, {}, std::nullopt}));
        const std::span<const float> last =
            run->value("logits").values().last(static_cast<std::size_t>(config.vocab_size));
        const auto best = static_cast<float>(std::distance(last.begin(), std::max_element(last.begin(), last.end())));
        REQUIRE(best == expected);
        tokens.push_back(best);
    }
    CHECK(model->tokenizer.size() == 512);
    CHECK(model->tokenizer.encode(golden["prompt"].get<std::string>()) ==
          golden["prompt_tokens"].get<std::vector<Index>>());
}
