// Other projects' decoders (tests/reference/foreign): each of their tensors is taken for what its module says it is.
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/load/checkpoint.h"
#include "engine/load/model.h"
#include "engine/load/names/recognise_names.h"
#include "tests/catch.h"
#include "tests/engine/foreign_models.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

using namespace decoderscope::testing;
using namespace decoderscope::load::names;
namespace fs = std::filesystem;

namespace {

// Our parameters, each with the tensor that it comes from and how.
std::map<std::string, std::string> sources(const Mapping& mapping) {
    std::map<std::string, std::string> by_name;
    for (const auto& [theirs, targets] : mapping)
        for (const Target& target : targets) by_name[text_of(target)] = theirs;
    return by_name;
}

// MXFP4's matrices have names of their own, and lie with each output's row in one piece.
Mapping as_packed(Mapping mapping, const Shapes& stored) {
    Mapping packed;
    for (auto& [theirs, targets] : mapping) {
        const bool blocks = stored.contains(theirs + "_blocks");
        for (Target& target : targets)
            if (blocks)
                target.how =
                    target.how == RowLayout::of_experts_turned ? RowLayout::as_stored : RowLayout::of_experts_in_turn;
        packed[blocks ? theirs + "_blocks" : theirs] = targets;
    }
    return packed;
}

Shapes shapes_of(const nlohmann::json& tensors) {
    Shapes shapes;
    for (const auto& [name, shape] : tensors.items()) shapes[name] = shape.get<std::vector<Index>>();
    return shapes;
}

const Question* question(const RecognisedNames& names, const std::string& key) {
    const auto found = std::ranges::find(names.questions, key, &Question::key);
    return found != names.questions.end() ? &*found : nullptr;
}

// One block with a self-attention in a module of this name, and what is added.
Shapes block(const Shapes& more) {
    Shapes shapes = more;
    for (const char* name : {"q_proj", "k_proj", "v_proj", "out_proj"})
        shapes["layers.0.self_attn." + std::string(name) + ".weight"] = {8, 8};
    shapes["layers.0.fc1.weight"] = {32, 8};
    shapes["layers.0.fc2.weight"] = {8, 32};
    shapes["layers.0.norm1.weight"] = shapes["layers.0.norm2.weight"] = {8};
    return shapes;
}

}  // namespace

TEST_CASE("tutorials' tensors are taken for what they are, by names and shapes") {
    const std::string path = DECODERSCOPE_TESTS_DIR "/reference/names.json";
    const nlohmann::json tutorials = parse_json(read_text(path), message("names"));
    REQUIRE(tutorials.size() >= 12);
    for (const auto& [name, tutorial] : tutorials.items()) {
        INFO(name);
        Overrides answers;
        for (const auto& [key, value] : tutorial["answers"].items())
            answers.emplace_back(key, value.get<std::string>());
        const RecognisedNames names = recognise_names(shapes_of(tutorial["tensors"]), answers);
        CHECK(names.open.empty());
        CHECK(names.mapping == parse_mapping(tutorial["map"].dump()));
    }
}

TEST_CASE("a parameter of the block itself ends no reading, whatever it is called") {
    for (const char* own : {"beta", "weight", "gamma", "norm", "bias", "alpha", "c", "g"})
        for (const std::vector<Index>& shape : std::vector<std::vector<Index>>{{}, {1}, {8}, {8, 8}, {24, 8}}) {
            Shapes shapes = block({{std::string("layers.0.") + own, shape}});
            INFO(own << " of " << shape.size() << " axes");
            CHECK_NOTHROW(recognise_names(shapes, {}));
            shapes.erase("layers.0.norm1.weight"), shapes.erase("layers.0.norm2.weight");
            CHECK_NOTHROW(recognise_names(shapes, {}));
            for (const char* name : {"q_proj", "k_proj", "v_proj"})
                shapes.erase("layers.0.self_attn." + std::string(name) + ".weight");
            CHECK_NOTHROW(recognise_names(shapes, {}));
        }
}

TEST_CASE("what words and shapes don't settle is asked") {
    const RecognisedNames top = recognise_names(block({{"layer_norm.weight", {8}}}), {});
    REQUIRE(question(top, "embedding_norm") != nullptr);
    CHECK(question(top, "embedding_norm")->required);
    const auto target_of = [](const RecognisedNames& names, const std::string& theirs) {
        return names.mapping.at(theirs).at(0).name;
    };
    CHECK(target_of(recognise_names(block({{"layer_norm.weight", {8}}}), {{"embedding_norm", "true"}}),
                    "layer_norm.weight") == "embed_norm.weight");
    CHECK(target_of(recognise_names(block({{"layer_norm.weight", {8}}}), {{"embedding_norm", "false"}}),
                    "layer_norm.weight") == "norm.weight");

    const RecognisedNames gated = recognise_names(block({{"layers.0.fc3.weight", {32, 8}}}), {});
    REQUIRE(question(gated, "gate_proj") != nullptr);
    CHECK(target_of(gated, "layers.0.fc2.weight") == "layers.0.down_proj.weight");
    CHECK(target_of(gated, "layers.0.fc1.weight") == "layers.0.gate_proj.weight");
    const RecognisedNames other = recognise_names(block({{"layers.0.fc3.weight", {32, 8}}}), {{"gate_proj", "fc3"}});
    CHECK(target_of(other, "layers.0.fc3.weight") == "layers.0.gate_proj.weight");
    CHECK(question(recognise_names(block({}), {}), "gate_proj") == nullptr);

    const RecognisedNames fused =
        recognise_names({{"h.0.attn.qkv_proj.weight", {24, 8}}, {"h.0.attn.o.weight", {8, 8}}}, {});
    REQUIRE(question(fused, "qkv_order") != nullptr);
    CHECK(question(fused, "qkv_order")->required);
}

TEST_CASE("what nothing says is left open under its own name") {
    const RecognisedNames names =
        recognise_names(block({{"layers.0.mystery.weight", {5, 7}}, {"layers.0.shift", {3}}}), {});
    CHECK(std::ranges::find(names.open, "layers.0.mystery.weight") != names.open.end());
    CHECK(std::ranges::find(names.open, "layers.0.shift") != names.open.end());
    // Two norms without numbers or words have no order.
    Shapes norms = block({{"layers.0.alpha_norm.weight", {8}}, {"layers.0.omega_norm.weight", {8}}});
    norms.erase("layers.0.norm1.weight");
    norms.erase("layers.0.norm2.weight");
    CHECK(recognise_names(norms, {}).open.size() == 2);
}

TEST_CASE("each tensor of other projects' decoders is taken for what it is") {
    for (const fs::path& model : foreign_models()) {
        INFO(model.filename().string());
        const nlohmann::json said = about(model);
        const Checkpoint checkpoint(model);
        const auto expected = sources(as_packed(parse_mapping(said["map"].dump()), checkpoint.shapes()));
        const auto found = sources(mapping_of_model(model.string(), known_answers(said)));
        for (const auto& [ours, theirs] : expected) {
            INFO(ours << " <- " << theirs);
            const auto at = found.find(ours);
            CHECK((at != found.end() && at->second == theirs));
        }
        for (const auto& [ours, theirs] : found) {
            if (said.contains("skipped") && said["skipped"].contains(theirs)) continue;  // the head that is tied
            INFO(ours << " <- " << theirs << ", which it is not");
            CHECK(expected.contains(ours));
        }
    }
}

TEST_CASE("gains under a letter and a number are their sublayers' norms, and two under a letter alone are the sides'") {
    const bool called = GENERATE(false, true);  // nc, and the feed-forward's is n2
    const std::string of_cross = called ? "nc.weight" : "n2.weight", last = called ? "n2.weight" : "n3.weight";
    Shapes stored = {{"words.weight", {20, 8}}, {"nd.weight", {8}}, {"ne.weight", {8}}};
    const auto add = [&](const std::string& module, std::initializer_list<const char*> projections) {
        for (const char* one : projections) stored[module + "." + one + ".weight"] = {8, 8};
    };
    for (const std::string side : {"enc.0.", "dec.0."}) {
        const bool decoder = side == "dec.0.";
        add(side + "sa", {"q", "k", "v", "o"});
        if (decoder) add(side + "ca", {"q", "k", "v", "o"});
        stored[side + "wi.weight"] = {32, 8};
        stored[side + "wo.weight"] = {8, 32};
        stored[side + "n1.weight"] = stored[side + last] = {8};
        if (decoder) stored[side + of_cross] = {8};
    }
    const auto found = sources(recognise_names(stored, {}).mapping);
    const std::map<std::string, std::string> norms = {{"layers.0.norm1.weight", "dec.0.n1.weight"},
                                                      {"layers.0.norm2.weight", "dec.0." + of_cross},
                                                      {"layers.0.norm3.weight", "dec.0." + last},
                                                      {"encoder.layers.0.norm1.weight", "enc.0.n1.weight"},
                                                      {"encoder.layers.0.norm2.weight", "enc.0." + last},
                                                      {"norm.weight", "nd.weight"},
                                                      {"encoder.norm.weight", "ne.weight"}};
    for (const auto& [ours, theirs] : norms) {
        INFO(ours);
        REQUIRE(found.contains(ours));
        CHECK(found.at(ours) == theirs);
    }
}
