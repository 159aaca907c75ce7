// Edits: as JSON, in words, and in the numbers.
#include "tests/catch.h"
#include "tests/engine/fixtures.h"
#include "tests/engine/messages.h"
#include "tests/engine/same_bits.h"
#include "tests/engine/small_models.h"

#include <bit>
#include <cmath>
#include <cstdint>

using namespace decoderscope::testing;

namespace {

std::string parse_error(const std::string& json) {
    return error_of([&] { static_cast<void>(parse_edits(json)); });
}

std::string fit_error(const std::vector<Edit>& edits, const Overrides& config = {}) {
    SmallModel model = small_model(config);
    model.edits = edits;
    return error_of([&] { static_cast<void>(model.run()); });
}

SmallModel edited(SmallModel model, std::vector<Edit> edits) {
    model.edits = std::move(edits);
    return model;
}

}  // namespace

// ---- as JSON

TEST_CASE("the contract's edits are read as they stand there") {
    const auto edits = parse_edits(R"([
        {"edit": "mask", "attention": "blocks.0.attn", "batch": 0, "head": 1, "query": 2, "key": 3, "keep": false},
        {"edit": "mask", "attention": "blocks.1.cross_attn", "batch": "*", "head": "*", "query": "*", "key": 3, "keep": true},
        {"edit": "scale_head", "attention": "blocks.0.attn", "head": 3, "factor": 0.0},
        {"edit": "set_cell", "tensor": "blocks.0.attn.z", "index": [0, 1, 2, 3], "value": 0.5},
        {"value": -2, "index": [], "tensor": "t", "edit": "set_cell"}])");
    REQUIRE(edits.size() == 5);
    CHECK(edits[0] == Edit(MaskEdit{"blocks.0.attn", 0, 1, 2, 3, false}));
    CHECK(edits[1] == Edit(MaskEdit{"blocks.1.cross_attn", std::nullopt, std::nullopt, std::nullopt, 3, true}));
    CHECK(edits[2] == Edit(ScaleHead{"blocks.0.attn", 3, 0.0F}));
    CHECK(edits[3] == Edit(SetCell{"blocks.0.attn.z", {0, 1, 2, 3}, 0.5F}));
    CHECK(edits[4] == Edit(SetCell{"t", {}, -2.0F}));
    CHECK(parse_edits("[]").empty());
}

TEST_CASE("edits written out read back the same") {
    std::vector<Edit> edits = {MaskEdit{"größe \"a\"", std::nullopt, 0, std::nullopt, 3, true}, ScaleHead{"a", 7, 0.1F},
                               SetCell{"t", {0, 1'000'000'000}, -3.4028235e38F}, SetCell{"t", {}, 1e-45F}};
    for (const std::string& name : fixture_names()) {
        const auto more = load_fixture(name).edits;
        edits.insert(edits.end(), more.begin(), more.end());
    }
    CHECK(edits.size() > 20);
    CHECK(parse_edits(edits_to_json(edits)) == edits);
    CHECK(parse_edits(edits_to_json({})).empty());
}

TEST_CASE("JSON has numbers that are not finite as texts, which are read back bit for bit") {
    const auto json_of_value = [](std::uint32_t bits) {
        return edits_to_json({SetCell{"t", {}, std::bit_cast<float>(bits)}});
    };
    const auto says = [](const std::string& json, const std::string& value) {
        return json.find("\"value\": " + value + "\n") != std::string::npos;
    };
    CHECK(says(json_of_value(0x7fc00000U), "\"nan\""));
    CHECK(says(json_of_value(0xffc00000U), "\"nan(0xffc00000)\""));
    CHECK(says(json_of_value(0x7f800001U), "\"nan(0x7f800001)\""));
    CHECK(says(json_of_value(0x7f800000U), "\"inf\""));
    CHECK(says(json_of_value(0xff800000U), "\"-inf\""));
    CHECK(says(json_of_value(0x80000000U), "-0.0"));
    CHECK(says(json_of_value(std::bit_cast<std::uint32_t>(0.1F)), "0.1"));
    CHECK(says(json_of_value(std::bit_cast<std::uint32_t>(16777216.0F)), "16777216.0"));
    // Every exponent, both signs, and varied mantissas.
    for (std::uint32_t high = 0; high < 0x200U; ++high)
        for (std::uint32_t i = 0; i < 40; ++i) {
            const std::uint32_t bits = (high << 23U) | ((i * 0x9e3779b9U + high) & 0x7fffffU);
            const std::vector<Edit> edits = parse_edits(json_of_value(bits));
            REQUIRE(std::bit_cast<std::uint32_t>(std::get<SetCell>(edits.at(0)).value) == bits);
        }
}

TEST_CASE("what is no list of edits says so") {
    check_message(parse_error(""), {"not valid JSON", "a list of edits"});
    check_message(parse_error("[{]"), {"not valid JSON", "a list of edits"});
    check_message(parse_error("{}"), {"a list of edits"});
    check_message(parse_error(std::string(100'000, '[')), {"nested", "a list of edits"});
}

TEST_CASE("a bad edit is named by its number, with the key and what was expected") {
    const std::string good = R"([{"edit": "scale_head", "attention": "blocks.0.attn", "head": 0, "factor": 1}, )";
    const auto check = [&](const std::string& edit, std::vector<std::string> says) {
        says.push_back("edit 1: ");
        check_message(parse_error(good + edit + "]"), says);
    };
    check("3", {"an object"});
    check("{}", {"\"edit\" is missing", "a string"});
    check(R"({"edit": 3})", {"edit", "a string"});
    check(R"({"edit": "erase"})", {"unknown edit \"erase\"", "mask, scale_head, set_cell, expert, formula or row"});
    check(R"({"edit": "mask", "batch": 0})", {"\"attention\" is missing"});
    check(R"({"edit": "mask", "attention": "a", "batch": 0, "head": 0, "query": 0, "key": 0})",
          {"\"keep\" is missing", "true or false"});
    check(R"({"edit": "mask", "attention": "a", "batch": 0, "head": 0, "query": 0, "key": 0, "keep": 1})",
          {"keep", "true or false"});
    check(R"({"edit": "mask", "attention": "a", "batch": "all", "head": 0, "query": 0, "key": 0, "keep": true})",
          {"batch", "an index"});
    check(R"({"edit": "mask", "attention": "a", "batch": -1, "head": 0, "query": 0, "key": 0, "keep": true})",
          {"batch", "an index from 0"});
    check(R"({"edit": "scale_head", "attention": "a", "head": "*", "factor": 1})", {"head", "an index"});
    check(R"({"edit": "scale_head", "attention": "a", "head": 1.5, "factor": 1})", {"head", "an index"});
    check(R"({"edit": "scale_head", "attention": "a", "head": 1, "factor": "0"})", {"factor", "a number"});
    check(R"({"edit": "scale_head", "attention": "a", "head": 1, "factor": 1, "colour": 2})",
          {"unknown key \"colour\""});
    check(R"({"edit": "set_cell", "tensor": "t", "index": 3, "value": 1})", {"index", "a list of indices"});
    check(R"({"edit": "set_cell", "tensor": "t", "index": ["*"], "value": 1})", {"index", "an index from 0"});
    check(R"({"edit": "set_cell", "tensor": "t", "index": [18446744073709551615], "value": 1})",
          {"index", "an index from 0"});
    check(R"({"edit": "set_cell", "tensor": "t", "index": [0], "value": null})", {"value", "a number"});
    check(R"({"edit": "set_cell", "tensor": "t", "index": [0], "value": 1e39})", {"value", "32-bit float"});
    check(R"({"edit": "expert", "mlp": "blocks.0.mlp", "expert": 0, "batch": 0, "pos": 1, "use": "on"})",
          {"\"use\": \"on\"", "off or alone"});
    check(R"({"edit": "expert", "mlp": "blocks.0.mlp", "expert": "*", "batch": 0, "pos": 1, "use": "off"})",
          {"expert", "an index"});
    check(R"({"edit": "expert", "mlp": "blocks.0.mlp", "expert": 0, "batch": 0, "use": "off"})",
          {"\"pos\" is missing"});
    check(R"({"edit": "set_cell", "tensor": ["t"], "index": [0], "value": 1})", {"tensor", "a string"});
    check_message(parse_error(R"([{"edit": "set_cell", "value": 1, "value": 2}])"), {"value", "twice"});
    check_message(parse_error(R"([{"edit": "set_cell", "tensor": "t", "index": [0], "value": NaN}])"),
                  {"not valid JSON"});
}

// ---- in the plan

TEST_CASE("an edit that doesn't fit the model is named by its number, with the tensor and what was expected") {
    const Edit good = ScaleHead{"blocks.0.attn", 0, 1.0F};
    const auto check = [&](const Edit& edit, std::vector<std::string> says) {
        says.push_back("edit 2: ");
        check_message(fit_error({good, good, edit, good}), says);
    };
    check(MaskEdit{"blocks.1.attn", 0, 0, 0, 0, false}, {"blocks.1.attn", "no such attention", "blocks.0.attn"});
    check(MaskEdit{"blocks.0.cross_attn", 0, 0, 0, 0, false}, {"blocks.0.cross_attn", "no such attention"});
    check(MaskEdit{"", 0, 0, 0, 0, false}, {"no such attention"});
    check(MaskEdit{"blocks.0.attn", 2, 0, 0, 0, false}, {"blocks.0.attn.mask", "batch 2", "0 to 1"});
    check(MaskEdit{"blocks.0.attn", 0, 2, 0, 0, false}, {"blocks.0.attn.mask", "head 2", "0 to 1"});
    check(MaskEdit{"blocks.0.attn", std::nullopt, 0, 3, 0, false}, {"blocks.0.attn.mask", "query 3", "0 to 2"});
    check(MaskEdit{"blocks.0.attn", 0, 0, 0, 3, false}, {"blocks.0.attn.mask", "key 3", "0 to 2"});
    check(MaskEdit{"blocks.0.attn", 0, 0, 0, -1, false}, {"blocks.0.attn.mask", "key -1", "0 to 2"});
    check(ScaleHead{"blocks.0.attn", 2, 0.0F}, {"blocks.0.attn.z", "head 2", "0 to 1"});
    check(ScaleHead{"blocks.0.mlp", 0, 0.0F}, {"blocks.0.mlp", "no such attention"});
    check(RouteExpert{"blocks.0.mlp", 0}, {"blocks.0.mlp", "no such mixture of experts"});
    check(SetCell{"blocks.0.attn.w", {0}, 1.0F}, {"blocks.0.attn.w", "no such tensor"});
    check(SetCell{"blocks.0.attn.z", {0, 1, 2}, 1.0F},
          {"blocks.0.attn.z", "3 indices", "4", "[batch, head, query, d_head]"});
    check(SetCell{"blocks.0.attn.z", {}, 1.0F}, {"blocks.0.attn.z", "0 indices", "4"});
    check(SetCell{"blocks.0.attn.z", {0, 1, 2, 6}, 1.0F}, {"blocks.0.attn.z", "d_head 6", "0 to 5"});
    check(SetCell{"blocks.0.attn.z", {0, 1, 1'000'000'000'000, 0}, 1.0F}, {"query 1000000000000", "0 to 2"});
    check(SetCell{"layers.0.norm1.bias", {12}, 1.0F}, {"layers.0.norm1.bias", "d_model 12", "0 to 11"});
    check(SetCell{"x", {0, 3, 0}, 1.0F}, {"x", "pos 3", "0 to 2"});
    check(SetCell{"blocks.0.mlp_out.dropout_mask", {0, 0, 0}, 1.0F}, {"dropout_mask", "no such tensor"});
}

TEST_CASE("an edited token that isn't in the vocabulary is named by the lookup") {
    const Overrides tokens = {
        {"vocab_size", "7"}, {"cross_attention", "true"}, {"encoder_layers", "1"}, {"encoder_vocab_size", "9"}};
    for (const float id : {7.0F, -1.0F, 0.5F, 3e38F, -3e38F, std::numeric_limits<float>::quiet_NaN()})
        check_message(fit_error({SetCell{"tokens", {0, 1}, id}}, tokens), {"embed: token", "0 to 6"});
    check_message(fit_error({SetCell{"encoder_tokens", {0, 1}, 9.0F}}, tokens), {"encoder.embed: token 9", "0 to 8"});
}

// ---- in the numbers

TEST_CASE("a mask edit sets the cells that it names, and \"*\" all along an axis") {
    const auto masked = [](const MaskEdit& edit) {
        return edited(small_model({{"causal", "false"}}), {edit}).run()->value("blocks.0.attn.mask");
    };
    const auto hidden = [](const Tensor& mask) { return std::ranges::count(mask.values(), 0.0F); };
    const Tensor one = masked({"blocks.0.attn", 1, 0, 2, 1, false});
    CHECK(hidden(one) == 1);
    CHECK(one.at(Cell{1, 0, 2, 1}) == 0.0F);
    const Tensor key = masked({"blocks.0.attn", std::nullopt, 1, std::nullopt, 2, false});
    CHECK(hidden(key) == 2 * 3);
    for (const Index batch : {0, 1})
        for (const Index query : {0, 1, 2}) CHECK(key.at(Cell{batch, 1, query, 2}) == 0.0F);
    CHECK(hidden(masked({"blocks.0.attn", std::nullopt, std::nullopt, std::nullopt, std::nullopt, false})) ==
          one.size());
}

TEST_CASE("of two edits of a cell the later one counts") {
    const MaskEdit hide = {"blocks.0.attn", std::nullopt, std::nullopt, std::nullopt, std::nullopt, false};
    const MaskEdit show = {"blocks.0.attn", 0, 0, 0, 2, true};
    CHECK(std::ranges::count(edited(small_model(), {hide, show}).run()->value("blocks.0.attn.mask").values(), 1.0F) ==
          1);
    CHECK(std::ranges::count(edited(small_model(), {show, hide}).run()->value("blocks.0.attn.mask").values(), 1.0F) ==
          0);
}

TEST_CASE("a mask edit is the same as a mask from outside") {
    SmallModel from_outside = small_model();
    from_outside.inputs.custom_mask = Tensor({{axis::query, 3}, {axis::key, 3}}, {1, 1, 1, 0, 1, 1, 1, 1, 1});
    const MaskEdit by_hand = {"blocks.0.attn", std::nullopt, std::nullopt, 1, 0, false};
    CHECK(same_bits(edited(small_model(), {by_hand}).run()->value("blocks.0.resid_post"),
                    from_outside.run()->value("blocks.0.resid_post")));
}

TEST_CASE("a head scaled by 0 writes nothing, and only its own z changes") {
    SmallModel model = edited(small_model(), {ScaleHead{"blocks.0.attn", 1, 0.0F}});
    model.asked = {"*"};
    const auto run = model.run(), before = small_model().run();
    const Tensor &z = run->value("blocks.0.attn.z"), &was = before->value("blocks.0.attn.z");
    for (Index i = 0; i < z.size(); ++i) CHECK(z.data()[i] == (z.cell(i)[1] == 1 ? 0.0F : was.data()[i]));
    const Tensor& result = run->value("blocks.0.attn.result");
    for (Index i = 0; i < result.size(); ++i)
        if (result.cell(i)[1] == 1) CHECK(result.data()[i] == 0.0F);
    CHECK(same_bits(run->value("blocks.0.attn.pattern"), before->value("blocks.0.attn.pattern")));
}

TEST_CASE("an edited weight or input gives the same run as one loaded with that value") {
    SmallModel changed = small_model();
    changed.weights.find("layers.0.up_proj.weight")->second.writable()[3 * 12 + 4] = 2.5F;
    changed.inputs.x.writable()[1] = -1.5F;
    const auto by_hand =
        edited(small_model(), {SetCell{"layers.0.up_proj.weight", {3, 4}, 2.5F}, SetCell{"x", {0, 0, 1}, -1.5F}}).run();
    CHECK(first_difference(*by_hand, *changed.run()) == "");
}

TEST_CASE("an edit leaves the model's own weights and inputs alone") {
    const SmallModel model =
        edited(small_model(), {SetCell{"layers.0.up_proj.weight", {3, 4}, 2.5F}, SetCell{"x", {0, 0, 1}, -1.5F}});
    static_cast<void>(model.run());
    CHECK(same_bits(model.weights.find("layers.0.up_proj.weight")->second,
                    small_model().weights.find("layers.0.up_proj.weight")->second));
    CHECK(same_bits(model.inputs.x, small_model().inputs.x));
}

TEST_CASE("an edited head result enters attn_out, whether or not it is recorded") {
    SmallModel model = small_model();
    model.asked = {"blocks.0.attn.result"};
    const auto before = model.run();
    const float was = before->value("blocks.0.attn.result").at(Cell{1, 0, 2, 3});
    for (const bool asked : {true, false}) {
        if (!asked) model.asked.clear();
        const auto after = edited(model, {SetCell{"blocks.0.attn.result", {1, 0, 2, 3}, was + 2.0F}}).run();
        REQUIRE_FALSE(after->value("blocks.0.attn.result").empty());
        const Tensor &out = after->value("blocks.0.attn_out"), &out_before = before->value("blocks.0.attn_out");
        for (Index i = 0; i < out.size(); ++i) {
            const float added = out.cell(i) == Cell{1, 2, 3} ? 2.0F : 0.0F;
            CHECK(out.data()[i] == Approx(out_before.data()[i] + added).margin(1e-6));
        }
    }
}

TEST_CASE("a huge value makes what follows infinite or NaN, and nothing worse") {
    const SmallModel model = small_model({{"vocab_size", "7"}, {"lm_head", "true"}});
    for (const char* tensor :
         {"blocks.0.attn.q", "blocks.0.attn.v", "blocks.0.attn.masked_scores", "blocks.0.mlp.pre", "logits"}) {
        INFO(tensor);
        const auto plan = model.plan();
        const Cell first(plan->find(tensor)->axes.size());
        const auto run = edited(model, {SetCell{tensor, first, 3.4e38F}}).run();
        CHECK(run->value(tensor).at(first) == 3.4e38F);
        CHECK_FALSE(run->value("probs").empty());
    }
}

// ---- in words

TEST_CASE("an edit is described in a line") {
    CHECK(describe(MaskEdit{"blocks.0.attn", std::nullopt, 1, 2, 3, false}) ==
          "blocks.0.attn: query 2 does not see key 3 (every batch, head 1)");
    CHECK(describe(MaskEdit{"blocks.0.attn", 0, std::nullopt, std::nullopt, 3, true}) ==
          "blocks.0.attn: every query sees key 3 (batch 0, every head)");
    CHECK(describe(ScaleHead{"blocks.0.attn", 3, 0.0F}) == "blocks.0.attn: head 3 off");
    CHECK(describe(ScaleHead{"blocks.0.attn", 3, -0.5F}) == "blocks.0.attn: head 3 × −0.5");
    CHECK(describe(SetCell{"blocks.0.attn.z", {0, 1, 2, 3}, 0.5F}) == "blocks.0.attn.z[0, 1, 2, 3] = 0.5");
    CHECK(describe(RouteExpert{"blocks.0.mlp", 3}) == "blocks.0.mlp: expert 3 off (every batch)");
    CHECK(describe(RouteExpert{"blocks.0.mlp", 3, 1, 5}) == "blocks.0.mlp: expert 3 off at position 5 (batch 1)");
    CHECK(describe(RouteExpert{"blocks.0.mlp", 3, {}, {}, true}) ==
          "blocks.0.mlp: every position to expert 3 alone (every batch)");
    CHECK(describe(RouteExpert{"blocks.0.mlp", 3, 0, 5, true}) ==
          "blocks.0.mlp: position 5 to expert 3 alone (batch 0)");
}
