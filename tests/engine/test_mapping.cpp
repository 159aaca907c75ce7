// A mapping from their names to ours: its notation, what it makes of the tensors, and what is refused.
#include "engine/base/error.h"
#include "engine/decoder/decoder.h"
#include "engine/files/safetensors.h"
#include "engine/graph/run.h"
#include "engine/load/model.h"
#include "engine/load/names/mapping.h"
#include "engine/load/names/recognise_names.h"
#include "engine/load/state_dict.h"
#include "tests/catch.h"
#include "tests/engine/contains.h"
#include "tests/engine/state_dict_folder.h"
#include "tests/engine/temporary_folder.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

using namespace decoderscope::testing;
using namespace decoderscope::load::names;

namespace {

// The values of a parameter that one stored tensor becomes.
std::vector<float> made(const Tensor& stored, const Target& target, const std::string& name, Index heads = 0) {
    StateDict dict = map_state_dict({{"theirs", {target}}}, {{"theirs", sizes_of(stored.axes())}});
    if (heads > 0) settle_heads(dict, heads, heads);
    Assembly assembly(std::move(dict));
    assembly.add("theirs", stored);
    const Weights weights = assembly.take();
    const std::span<const float> values = weights.at(name).values();
    return {values.begin(), values.end()};
}

Tensor counting(Axes axes) {
    Tensor tensor(std::move(axes));
    float next = 0;
    for (float& value : tensor.writable()) value = next++;
    return tensor;
}

// The tutorials' decoder under meaningless names.
struct WithoutMeaning {
    testing::TemporaryFolder folder;
    std::string path = folder.file("model.safetensors");
    Mapping mapping;

    WithoutMeaning() {
        const SafetensorsFile file(state_dict_folder("decoder") + "/model.safetensors");
        Shapes shapes;
        for (const auto& [name, entry] : file.entries()) shapes[name] = entry.shape;
        const Mapping known = recognise_names(shapes, {}).mapping;
        std::vector<std::pair<std::string, Tensor>> tensors;
        for (const std::string& name : file.names_in_order()) {
            const std::string odd = "t" + std::to_string(tensors.size());
            mapping[odd] = known.at(name);
            tensors.emplace_back(odd, file.floats(name));
        }
        write_safetensors(path, tensors);
    }

    [[nodiscard]] std::string refusal(const Mapping& wrong) const {
        try {
            static_cast<void>(load_model(path, {{"nhead", "4"}}, nullptr, wrong));
        } catch (const Error& error) {
            return error.what();
        }
        return "opened";
    }

    [[nodiscard]] std::string theirs(const std::string& ours) const {
        for (const auto& [name, targets] : mapping)
            if (targets.at(0).name == ours) return name;
        return {};
    }
};

}  // namespace

TEST_CASE("a mapping is read and written in the same words") {
    const std::string text =
        R"({"a": "layers.0.up_proj.weight, transposed", "b": ["embed.weight", "encoder.embed.weight"],
        "c": "layers.0.self_attn.{q,k,v}_proj.weight, by head", "d": "layers.0.self_attn.k_proj.weight, head 1",
        "e": "pos_embed.weight, rows from 2", "f": "layers.0.norm1.weight, repeated", "g": ""})";
    const Mapping mapping = parse_mapping(text);
    CHECK(mapping.at("a") == std::vector<Target>{{"layers.0.up_proj.weight", RowLayout::transposed}});
    CHECK(mapping.at("b").size() == 2);
    CHECK(mapping.at("d").at(0).number == 1);
    CHECK(mapping.at("g").empty());
    CHECK(names_of(mapping.at("c").at(0).name).at(2) == "layers.0.self_attn.v_proj.weight");
    CHECK(parse_mapping(mapping_to_json(mapping)) == mapping);
}

TEST_CASE("a mapping that can't be meant is refused with a sentence") {
    for (const auto& [text, word] : std::vector<std::pair<std::string, std::string>>{
             {"[]", "object"},
             {"{", "object"},
             {R"({"a": 1})", "a:"},
             {R"({"a": "norm.weight, upside down"})", "upside down"},
             {R"({"a": "norm.weight", "a": "norm.bias"})", "a"},
             {R"({"a": "norm.weight", "b": "norm.weight"})", "norm.weight is already a"},
             {R"({"a": "x.{q,k}_proj.weight", "b": "x.k_proj.weight"})", "x.k_proj.weight"}}) {
        INFO(text);
        try {
            static_cast<void>(parse_mapping(text));
            FAIL_CHECK("was taken");
        } catch (const Error& error) {
            CHECK(contains(error.what(), word));
        }
    }
}

TEST_CASE("each way of storing gives the parameter's own numbers") {
    const Tensor matrix = counting({{"", 2}, {"", 3}});
    CHECK(made(matrix, {"layers.0.up_proj.weight"}, "layers.0.up_proj.weight") == std::vector<float>{0, 1, 2, 3, 4, 5});
    CHECK(made(matrix, {"layers.0.up_proj.weight", RowLayout::transposed}, "layers.0.up_proj.weight") ==
          std::vector<float>{0, 3, 1, 4, 2, 5});
    CHECK(made(matrix, {"pos_embed.weight", RowLayout::rows_from, 1}, "pos_embed.weight") ==
          std::vector<float>{3, 4, 5});
    // [head 2, d_model 2, d_head 1]: head h's column is row h.
    const Tensor heads = counting({{"", 2}, {"", 2}, {"", 1}});
    const std::string q = "layers.0.self_attn.q_proj.weight", o = "layers.0.self_attn.o_proj.weight";
    CHECK(made(heads, {q, RowLayout::matrix_per_head}, q) == std::vector<float>{0, 1, 2, 3});
    const Tensor back = counting({{"", 2}, {"", 1}, {"", 2}});  // [head, d_head, d_model]
    CHECK(made(back, {o, RowLayout::matrix_per_head}, o) == std::vector<float>{0, 2, 1, 3});
    // Two heads: q of head 0, k, v, then of head 1.
    const Tensor fused = counting({{"", 6}, {"", 2}});
    const Target by_head = {"layers.0.self_attn.{q,k,v}_proj.weight", RowLayout::by_head};
    CHECK(made(fused, by_head, q, 2) == std::vector<float>{0, 1, 6, 7});
    CHECK(made(fused, by_head, "layers.0.self_attn.v_proj.weight", 2) == std::vector<float>{4, 5, 10, 11});
    // [1, pos, d_model] is [pos, d_model].
    const Tensor table = counting({{"", 1}, {"", 2}, {"", 2}});
    CHECK(made(table, {"pos_embed.weight"}, "pos_embed.weight") == std::vector<float>{0, 1, 2, 3});
}

TEST_CASE("one matrix shared by all heads is in each head's own columns") {
    const Tensor small = counting({{"", 2}, {"", 2}}), out = counting({{"", 4}, {"", 4}});
    const std::string q = "layers.0.self_attn.q_proj.weight", o = "layers.0.self_attn.o_proj.weight";
    StateDict dict =
        map_state_dict({{"q", {{q, RowLayout::for_every_head}}}, {"o", {{o}}}}, {{"q", {2, 2}}, {"o", {4, 4}}});
    CHECK(dict.heads == 2);
    Assembly assembly(std::move(dict));
    assembly.add("q", small);
    assembly.add("o", out);
    const Weights weights = assembly.take();
    CHECK(
        std::ranges::equal(weights.at(q).values(), std::vector<float>{0, 1, 0, 0, 2, 3, 0, 0, 0, 0, 0, 1, 0, 0, 2, 3}));
}

TEST_CASE("tensors under names that say nothing open by a mapping, with the same output") {
    const WithoutMeaning renamed;
    const auto ours = load_model(renamed.path, {{"nhead", "4"}}, nullptr, renamed.mapping);
    const auto theirs = load_model(state_dict_folder("decoder"), {{"nhead", "4"}});
    REQUIRE(ours->weights.size() == theirs->weights.size());
    for (const auto& [name, tensor] : theirs->weights) {
        INFO(name);
        CHECK(std::ranges::equal(ours->weights.at(name).values(), tensor.values()));
    }
    CHECK(ours->mapping == renamed.mapping);
    CHECK(contains(renamed.refusal({}), "t0"));  // without it
}

TEST_CASE("a mapping that leaves a tensor out, names two alike or turns one opens nothing") {
    const WithoutMeaning renamed;
    const std::string up = renamed.theirs("layers.0.up_proj.weight"), norm = renamed.theirs("layers.1.norm1.weight");
    Mapping without = renamed.mapping;
    without.erase(norm);
    CHECK(contains(renamed.refusal(without), norm + ": not recognised"));
    Mapping twice = renamed.mapping;
    twice[norm] = {{"layers.0.norm1.weight"}};
    CHECK(contains(renamed.refusal(twice), "means the same as"));
    Mapping turned = renamed.mapping;
    turned[up] = {{"layers.0.up_proj.weight", RowLayout::transposed}};
    CHECK(contains(renamed.refusal(turned), "layers.0.up_proj.weight"));
    CHECK(contains(renamed.refusal(turned), "shape"));
    Mapping swapped = renamed.mapping;
    std::swap(swapped[up], swapped[renamed.theirs("layers.0.down_proj.weight")]);
    CHECK(contains(renamed.refusal(swapped), "shape"));
    Mapping absent = renamed.mapping;
    absent["t999"] = {{"norm.weight"}};
    CHECK(contains(renamed.refusal(absent), "t999"));
    Mapping skipped = renamed.mapping;
    skipped[up] = {};
    CHECK(contains(renamed.refusal(skipped), "layers.0.up_proj"));
    Mapping unknown = renamed.mapping;
    unknown[up] = {{"layers.0.upward.weight"}};
    CHECK(contains(renamed.refusal(unknown), "layers.0.up"));
}

TEST_CASE("what a mapping doesn't name is what it is recognised as") {
    const testing::TemporaryFolder folder;
    const SafetensorsFile file(state_dict_folder("decoder") + "/model.safetensors");
    std::vector<std::pair<std::string, Tensor>> tensors;
    for (const std::string& name : file.names_in_order())
        tensors.emplace_back(name == "emb.weight" ? "mystery" : name, file.floats(name));
    const std::string path = folder.file("odd.safetensors");
    write_safetensors(path, tensors);
    CHECK_THROWS_AS(load_model(path, {{"nhead", "4"}}), Error);
    const Mapping one = {{"mystery", {{"embed.weight"}}}};
    CHECK(load_model(path, {{"nhead", "4"}}, nullptr, one)->config().vocab_size == 12);
    Mapping more = one;
    more["out.weight"] = {{"lm_head.weight"}};
    CHECK(load_model(path, {{"nhead", "4"}}, nullptr, more)->config().vocab_size == 12);
    more["out.weight"] = {{"embed.weight"}};
    CHECK_THROWS_AS(load_model(path, {{"nhead", "4"}}, nullptr, more), Error);
}

TEST_CASE("a matrix of several axes is taken for one, and an attention's may have the MLP's rows behind them") {
    // [d_model, head, d_head] of 3, 2 and 2: row (head, column) of the parameter is all of d_model.
    const Tensor split = counting({{"", 3}, {"", 2}, {"", 2}});
    const std::string q = "layers.0.self_attn.q_proj.weight", o = "layers.0.self_attn.o_proj.weight";
    CHECK(made(split, {q, RowLayout::transposed}, q) == std::vector<float>{0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11});
    // [head, d_head, d_model]: what joins them has d_model rows.
    const Tensor joined = counting({{"", 2}, {"", 2}, {"", 3}});
    CHECK(made(joined, {o, RowLayout::transposed}, o) == std::vector<float>{0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11});

    const Mapping mapping = {
        {"all", {{"layers.0.{self_attn.q_proj,self_attn.k_proj,self_attn.v_proj,gate_proj,up_proj}.weight"}}},
        {"out", {{o}}},
        {"back", {{"layers.0.down_proj.weight"}}}};
    const StateDict dict =
        map_state_dict(mapping, {{"all", {4 + 2 + 2 + 6 + 6, 4}}, {"out", {4, 4}}, {"back", {4, 6}}});
    const std::map<std::string, Index> rows = {
        {"self_attn.q_proj", 4}, {"self_attn.k_proj", 2}, {"self_attn.v_proj", 2}, {"gate_proj", 6}, {"up_proj", 6}};
    for (const auto& [part, count] : rows) {
        INFO(part);
        CHECK(dict.shapes.at("layers.0." + part + ".weight") == std::vector<Index>{count, 4});
    }
}
