// example.json, and batches of texts.
#include "engine/files/safetensors.h"
#include "engine/load/example_file.h"
#include "engine/model/inputs.h"
#include "engine/tokenizer/vocabulary.h"
#include "tests/catch.h"
#include "tests/engine/messages.h"
#include "tests/engine/small_models.h"
#include "tests/engine/temporary_folder.h"

using namespace decoderscope::testing;

namespace {

std::vector<float> numbers(const Tensor& tensor) { return {tensor.values().begin(), tensor.values().end()}; }

constexpr const char* kSevenTokens =
    R"({"tokens": ["a", "b", "<pad>", "<bos>", "c", "d", "e"], "pad": "<pad>", "beginning": "<bos>"})";

// A model of seven tokens in its own folder.
struct Folder {
    TemporaryFolder folder;

    Folder() {
        const SmallModel model = small_model({{"vocab_size", "7"}, {"lm_head", "true"}});
        write_bytes(folder.file("config.json"), config_to_json(model.config));
        write_safetensors(folder.file("model.safetensors"), {model.weights.begin(), model.weights.end()});
        write_bytes(folder.file("vocabulary.json"), kSevenTokens);
    }
    std::string error_with(const char* example) const {
        write_bytes(folder.file("example.json"), example);
        return error_of([&] { static_cast<void>(load_model(folder.path())); });
    }
};

}  // namespace

TEST_CASE("rows of ids are padded to the longest, and the mask says where") {
    const TokenBatch batch = padded_batch({{5}, {1, 2, 3}}, axis::src, 9);
    CHECK(shape_text(batch.tokens.axes()) == "[2, 3]");
    CHECK(batch.tokens.axes()[1].name == axis::src);
    CHECK(numbers(batch.tokens) == std::vector<float>{5, 9, 9, 1, 2, 3});
    CHECK(numbers(batch.mask) == std::vector<float>{1, 0, 0, 1, 1, 1});
    CHECK(padded_batch({{5, 6}, {7, 8}}, axis::pos).mask.empty());
}

TEST_CASE("a folder's example.json says what it is, what it runs on and where to look") {
    const Folder saved;
    write_bytes(saved.folder.file("example.json"),
                R"({"description": "Seven letters.", "target": ["ab", "e"],
                    "look_at": {"step": "blocks.0.attn.z", "head": 1}})");
    const auto model = load_model(saved.folder.path());
    CHECK(model->description.english() == "Seven letters.");
    CHECK(numbers(model->example.tokens) == std::vector<float>{3, 0, 1, 3, 6, 2});
    CHECK(numbers(model->example.attention_mask) == std::vector<float>{1, 1, 1, 1, 1, 0});
    CHECK(model->look_at.step == "blocks.0.attn.z");
    CHECK(model->look_at.head == 1);
    // Texts are optional: without them the example is the default for any model.
    write_bytes(saved.folder.file("example.json"), R"({"description": "Seven letters."})");
    CHECK(load_model(saved.folder.path())->example.tokens.dim(1) == 8);
}

TEST_CASE("an example.json may suggest what to try") {
    const Folder saved;
    write_bytes(saved.folder.file("example.json"),
                R"({"target": ["ab", "e"], "try": [
                    {"title": "See it", "look": "There.", "tab": "step", "step": "blocks.0.attn.pattern",
                     "cell": [1, 0, 2, 1]},
                    {"title": "Change it", "set": {"norm_first": "true"},
                     "edits": [{"edit": "scale_head", "attention": "blocks.0.attn", "head": 1, "factor": 0}]}]})");
    const auto model = load_model(saved.folder.path());
    REQUIRE(model->trials.size() == 2);
    CHECK(model->trials[0].title == "See it");
    CHECK(model->trials[0].look == "There.");
    CHECK(model->trials[0].tab == "step");
    CHECK(model->trials[0].step == "blocks.0.attn.pattern");
    CHECK(model->trials[0].cell == Cell{1, 0, 2, 1});
    CHECK(model->trials[1].set == Overrides{{"norm_first", "true"}});
    CHECK(model->trials[1].edits == std::vector<Edit>{ScaleHead{"blocks.0.attn", 1, 0.0F}});
    CHECK_FALSE(model->trials[1].cell);
}

TEST_CASE("an example.json that doesn't fit its model is named, with the key") {
    const Folder saved;
    const std::string path = saved.folder.file("example.json");
    const auto check = [&](const char* example, std::vector<std::string> says) {
        says.push_back(path);
        check_message(saved.error_with(example), says);
    };
    check("not JSON", {"JSON"});
    check("[]", {"object"});
    check(R"({"taget": ["a"]})", {"taget", "target"});
    check(R"({"target": "a"})", {"target", "list of texts"});
    check(R"({"target": []})", {"target", "list of texts"});
    check(R"({"target": ["ax"]})", {"target", "x", "vocabulary"});
    check(R"({"source": ["a"]})", {"tokens", "missing"});
    check(R"({"source": ["a"], "target": ["a"]})", {"encoder_tokens"});
    check(R"({"description": 3})", {"description", "text"});
    check(R"({"look_at": {"step": "blocks.7.attn.z"}})", {"look_at", "blocks.7.attn.z"});
    check(R"({"look_at": {"step": "blocks.0.attn.z", "head": 2}})", {"look_at", "head 2", "0 to 1"});
    check(R"({"look_at": {"step": "blocks.0.attn.z", "head": -1}})", {"head"});
    check(R"({"look_at": {"head": 1}})", {"look_at", "step"});
    check(R"({"try": {}})", {"try", "list"});
    check(R"({"try": [{"look": "There."}]})", {"try", "title"});
    check(R"({"try": [{"title": "a", "where": "b"}]})", {"try", "where", "title"});
    check(R"({"try": [{"title": "a", "step": "blocks.7.attn.z"}]})", {"try", "blocks.7.attn.z"});
    check(R"({"try": [{"title": "a", "cell": [0, 0]}]})", {"try", "cell", "step"});
    check(R"({"try": [{"title": "a", "step": "blocks.0.attn.z", "cell": [0, 9, 0, 0]}]})", {"try", "cell", "z"});
    check(R"({"try": [{"title": "a", "step": "blocks.0.attn.z", "cell": [0, -1]}]})", {"cell", "from 0"});
    check(R"({"try": [{"title": "a", "set": {"norm_frist": "true"}}]})", {"try", "norm_frist"});
    check(R"({"try": [{"title": "a", "edits": [{"edit": "scale_head", "attention": "x", "head": 0, "factor": 0}]}]})",
          {"try", "edit 0", "x"});
}
