// Numbers in fewer bits: blocks of bytes against ggml's own floats, FP8 and MXFP4 by their definitions, GGUF files of
// whole models with their tokenizers (tests/reference/stored), and files that are wrong.
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/files/block_numbers.h"
#include "engine/files/gguf.h"
#include "engine/files/mapped_file.h"
#include "engine/files/packed_numbers.h"
#include "engine/files/safetensors.h"
#include "engine/graph/run.h"
#include "engine/load/checkpoint.h"
#include "engine/load/model.h"
#include "engine/model/inputs.h"
#include "tests/catch.h"
#include "tests/engine/messages.h"
#include "tests/engine/raw_gguf.h"
#include "tests/engine/run_of.h"
#include "tests/engine/same_bits.h"
#include "tests/engine/temporary_folder.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

using namespace decoderscope::testing;
using decoderscope::decoder::plan_decoder;
namespace fs = std::filesystem;

namespace {

const fs::path kStored = DECODERSCOPE_TESTS_DIR "/reference/stored";

bool is_same(float a, float b) { return std::isnan(a) ? std::isnan(b) : a == b; }

std::vector<fs::path> gguf_models() {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(kStored / "models")) found.push_back(entry.path());
    std::ranges::sort(found);
    return found;
}

double difference(std::span<const float> ours, std::span<const float> theirs) {
    REQUIRE(ours.size() == theirs.size());
    double largest = 0.0, scale = 0.0;
    for (std::size_t i = 0; i < ours.size(); ++i) {
        largest = std::max(largest, std::abs(static_cast<double>(ours[i]) - static_cast<double>(theirs[i])));
        scale = std::max(scale, std::abs(static_cast<double>(theirs[i])));
    }
    return scale > 0.0 ? largest / scale : largest;
}

std::string refusal_of(const GgufBytes& file) {
    try {
        static_cast<void>(parse_gguf_header(file.bytes()));
    } catch (const Error& error) {
        return error.what();
    }
    return "(no error)";
}

}  // namespace

TEST_CASE("blocks are the floats that ggml has for them, to the last bit") {
    const SafetensorsFile golden((kStored / "blocks.safetensors").string());
    std::size_t types = 0;
    for (std::uint32_t number = 0; number < 64; ++number) {
        const packed::BlockType* type = packed::block_type(number);
        if (type == nullptr || type->name == "F32") continue;
        const std::string name(type->name);
        INFO(name);
        const Tensor values = golden.floats(name + ".values");
        std::vector<float> expanded(values.values().size());
        packed::expand_blocks(*type, golden.bytes(name + ".blocks"), expanded);
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < expanded.size(); ++i) wrong += is_same(expanded[i], values.values()[i]) ? 0 : 1;
        CHECK(wrong == 0);
        ++types;
        if (type->stored == nullptr) continue;
        // The number and its scale make the same float.
        const std::span<const char> blocks = golden.bytes(name + ".blocks");
        std::size_t apart = 0;
        for (std::size_t i = 0; i < expanded.size(); ++i) {
            const auto at = static_cast<Index>(i);
            const packed::StoredNumber stored =
                type->stored(blocks.data() + at / type->numbers * type->bytes, static_cast<int>(at % type->numbers));
            apart += is_same(stored.value(), expanded[i]) ? 0 : 1;
        }
        CHECK(apart == 0);
    }
    CHECK(types == 8);
}

TEST_CASE("FP8 and MXFP4 decode to what their definitions say, scales included") {
    const SafetensorsFile golden((kStored / "floats.safetensors").string());
    for (const char* name : {"E4M3", "E5M2"}) {
        const Tensor read = golden.floats(name), expected = golden.floats(std::string(name) + ".values");
        for (Index i = 0; i < 256; ++i) CHECK(is_same(read.data()[i], expected.data()[i]));
    }
    Tensor weight = golden.floats("weight");
    packed::scale_blocks(weight.writable(), weight.dim(1), golden.floats("weight_scale_inv").values());
    CHECK(std::ranges::equal(weight.values(), golden.floats("weight.values").values(), is_same));
    const Tensor expected = golden.floats("mxfp4.values");
    std::vector<float> expanded(expected.values().size());
    packed::expand_mxfp4(golden.bytes("mxfp4_blocks"), golden.bytes("mxfp4_scales"), expanded);
    CHECK(std::ranges::equal(expanded, expected.values(), is_same));
    const std::vector<char> scales(6, static_cast<char>(255));
    CHECK_THROWS_AS(packed::expand_mxfp4(golden.bytes("mxfp4_blocks"), scales, expanded), Error);
    const float not_finite[] = {1.0F, 1.0F, std::nanf(""), 1.0F};
    CHECK_THROWS_AS(packed::scale_blocks(weight.writable(), weight.dim(1), not_finite), Error);
}

TEST_CASE("GGUF files of whole models give the numbers of their modules, by what they say of themselves") {
    for (const fs::path& folder : gguf_models()) {
        INFO(folder.filename().string());
        const auto model = load_model((folder / "model.gguf").string());
        CHECK(model->recognised.questions.empty());
        const auto run = run_of(*model, load_inputs((folder / "inputs.safetensors").string(), model->config()));
        const SafetensorsFile expected((folder / "expected.safetensors").string());
        for (const std::string& name : expected.names_in_order()) {
            INFO(name);
            CHECK(difference(run->value(name).values(), expected.floats(name).values()) < 1e-5);
        }
    }
}

TEST_CASE("each weight in fewer bits is the number that its file holds, times its scale") {
    std::vector<fs::path> files;
    for (const fs::path& folder : gguf_models()) files.push_back(folder / "model.gguf");
    for (const char* name : {"gpt-oss-mxfp4", "deepseek-v3-fp8"})
        files.push_back(fs::path(DECODERSCOPE_TESTS_DIR "/reference/foreign/models") / name);
    std::size_t checked = 0;
    for (const fs::path& file : files) {
        if (!fs::exists(file)) continue;
        INFO(file.string());
        const auto model = load_model(file.string());
        REQUIRE(model->stored != nullptr);
        std::size_t apart = 0, here = 0;
        for (const auto& [name, tensor] : model->weights) {
            const Index columns = tensor.rank() < 2 ? 1 : tensor.dim(tensor.rank() - 1);
            for (Index i = 0; i < tensor.size(); ++i)
                if (const auto stored = model->stored->at(name, i, columns)) {
                    ++here;
                    apart += is_same(stored->value(), tensor.data()[i]) ? 0 : 1;
                }
        }
        CHECK(here > 1000);
        CHECK(apart == 0);
        checked += here;
    }
    CHECK(checked > 100'000);
    CHECK(load_model(DECODERSCOPE_TESTS_DIR "/reference/foreign/models/llama")->stored == nullptr);
}

TEST_CASE("the tokenizer in a GGUF file gives the ids that its model was trained with") {
    std::size_t texts = 0;
    for (const fs::path& folder : gguf_models()) {
        INFO(folder.filename().string());
        const auto model = load_model((folder / "model.gguf").string());
        const nlohmann::json about = parse_json(read_text((folder / "about.json").string()), message("a model"));
        if (about["tokens"].empty()) continue;
        REQUIRE(model->tokenizer.can_encode());
        const auto before = static_cast<std::ptrdiff_t>(model->tokenizer.encode("").size());  // special tokens
        for (const nlohmann::json& one : about["tokens"]) {
            INFO(one["text"].dump());
            std::vector<Index> ids = model->tokenizer.encode(one["text"].get<std::string>());
            ids.erase(ids.begin(), ids.begin() + before);
            CHECK(ids == one["ids"].get<std::vector<Index>>());
            ++texts;
        }
    }
    CHECK(texts > 100);
}

TEST_CASE("a GGUF file that is wrong is refused in one sentence") {
    const auto refused = [](const GgufBytes& file, std::vector<std::string> says) {
        decoderscope::testing::check_message(refusal_of(file), says);
    };
    const auto one = [](std::vector<std::uint64_t> axes, std::uint32_t type, std::uint64_t at, std::size_t size) {
        return GgufBytes().head(1, 0).tensor("w", axes, type, at).data(size);
    };
    CHECK(refusal_of(one({32}, 0, 0, 128)) == "(no error)");
    CHECK(refusal_of(one({32}, 8, 0, 34)) == "(no error)");
    refused(GgufBytes().number<std::uint64_t>(7), {"GGUF"});
    refused(GgufBytes().head(1, 0, 1), {"version 1", "2 or 3"});
    refused(GgufBytes().head(1, 0), {"the file ends"});
    refused(GgufBytes().head(std::uint64_t{1} << 60, 0), {"tensors", "at most"});
    refused(GgufBytes().head(0, 1).text("k").number<std::uint32_t>(13), {"k", "type 13"});
    refused(GgufBytes().head(0, 1).text("k").number<std::uint32_t>(9).number<std::uint32_t>(9).number<std::uint64_t>(1),
            {"k", "a list of lists"});
    refused(
        GgufBytes().head(0, 1).text("k").number<std::uint32_t>(9).number<std::uint32_t>(4).number<std::uint64_t>(99),
        {"k", "99 values"});
    refused(GgufBytes().head(0, 1).text("k").number<std::uint32_t>(8).number<std::uint64_t>(1 << 20),
            {"k", "the file ends"});
    refused(GgufBytes().head(0, 1).text("general.alignment").number<std::uint32_t>(4).number<std::uint32_t>(24).data(0),
            {"general.alignment", "24", "power of 2"});
    refused(one({32}, 7, 0, 128), {"w", "type 7", "Q4_K"});
    refused(one({33}, 8, 0, 128), {"w", "[33]", "Q8_0", "32"});
    refused(one({0}, 0, 0, 128), {"w", "an axis of 0"});
    refused(one({std::uint64_t{1} << 40, std::uint64_t{1} << 40}, 0, 0, 128), {"w", "an axis"});
    refused(one({32}, 0, 0, 127), {"w", "128 bytes", "127"});
    refused(one({32}, 0, 64, 128), {"w", "byte 64", "128"});
    refused(one({8}, 0, 8, 128), {"w", "multiple of 32"});
    refused(GgufBytes().head(2, 0).tensor("w", {8}, 0, 0).tensor("w", {8}, 0, 32).data(64), {"tensor 1", "duplicate"});
}

TEST_CASE("a GGUF model of another architecture, or with what isn't known of it, is refused by the key's name") {
    const testing::TemporaryFolder folder;
    const auto error_of = [&](const std::function<void(std::string&)>& change) {
        std::string bytes = decoderscope::testing::read_bytes((kStored / "models/llama/model.gguf").string());
        change(bytes);
        testing::write_bytes(folder.file("model.gguf"), bytes);
        try {
            static_cast<void>(load_model(folder.file("model.gguf")));
        } catch (const Error& error) {
            return std::string(error.what());
        }
        return std::string("(no error)");
    };
    const auto replace = [](std::string& bytes, const std::string& from, const std::string& to) {
        REQUIRE(from.size() == to.size());
        REQUIRE(bytes.find(from) != std::string::npos);
        bytes.replace(bytes.find(from), from.size(), to);
    };
    CHECK(error_of([](std::string&) {}) == "(no error)");
    decoderscope::testing::check_message(
        error_of([&](std::string& bytes) { replace(bytes, "llama.rope.freq_base", "llama.rope.freq_bass"); }),
        {"llama.rope.freq_bass"});
    decoderscope::testing::check_message(
        error_of([&](std::string& bytes) { replace(bytes, "blk.0.attn_q.weight", "blk.0.attn_x.weight"); }),
        {"blk.0.attn_x.weight", "llama"});
}

namespace {

std::vector<std::string> models_in_fewer_bits() {
    std::vector<std::string> files;
    for (const fs::path& folder : gguf_models()) files.push_back((folder / "model.gguf").string());
    for (const char* name : {"gpt-oss-mxfp4", "deepseek-v3-fp8"})
        files.push_back(DECODERSCOPE_TESTS_DIR "/reference/foreign/models/" + std::string(name));
    return files;
}

}  // namespace

TEST_CASE(
    "weights in fewer bits stay in the file until they are read, and the numbers are those of expanding them first") {
    for (const std::string& file : models_in_fewer_bits()) {
        INFO(file);
        const auto later = load_model(file);
        std::size_t waiting = 0;
        for (const auto& [name, tensor] : later->weights) waiting += tensor.is_ready() ? 0 : 1;
        CHECK(waiting > 4);
        // The same numbers as plain tensors, which no product has read yet.
        const auto again = load_model(file);
        Model first = *again;
        for (auto& [name, tensor] : first.weights) tensor = Tensor(tensor.axes(), tensor.values());
        CHECK(testing::first_difference(*run_of(*later, later->example), *run_of(first, later->example)).empty());
        // A product keeps its own form of a matrix, and not its floats beside it.
        std::size_t unread = 0;
        for (const auto& [name, tensor] : later->weights) unread += tensor.is_ready() ? 0 : 1;
        CHECK(unread <= waiting);
    }
}

TEST_CASE("what doesn't fit into the memory that may be used is said before anything is computed") {
    for (const std::string& file : models_in_fewer_bits()) {
        INFO(file);
        LoadProgress little;
        little.memory = 1000;
        std::string said = "(no error)";
        try {
            static_cast<void>(load_model(file, {}, &little));
        } catch (const Error& error) {
            said = error.what();
        }
        decoderscope::testing::check_message(said, {"must be in memory at once", "at most 0 MB", "--memory"});
        LoadProgress enough;
        enough.memory = 100'000'000;
        CHECK(load_model(file, {}, &enough) != nullptr);
    }
}

namespace {

// The weights in fewer bits of a model that was just opened, with what each takes as floats.
std::map<std::string, std::uint64_t> packed_weights(const Model& model) {
    std::map<std::string, std::uint64_t> bytes;
    for (const auto& [name, tensor] : model.weights)
        if (!tensor.is_ready()) bytes[name] = static_cast<std::uint64_t>(tensor.size()) * sizeof(float);
    return bytes;
}

// A model with hardly more memory than it needs to open.
std::shared_ptr<const Model> with_little_memory(const std::string& file, std::uint64_t largest, LoadProgress& little) {
    for (little.memory = 2 * largest;; little.memory += largest / 8) {
        try {
            return load_model(file, {}, &little);
        } catch (const Error&) {
            REQUIRE(little.memory < 100 * largest);
        }
    }
}

}  // namespace

TEST_CASE("weights that don't fit into memory are dequantized by each step that reads them, with the same numbers") {
    std::size_t tight = 0;
    for (const std::string& file : models_in_fewer_bits()) {
        INFO(file);
        LoadProgress reading;
        const auto roomy = load_model(file, {}, &reading);
        const std::map<std::string, std::uint64_t> packed = packed_weights(*roomy);
        std::uint64_t all = 0, largest = 0;
        for (const auto& [name, bytes] : packed) {
            all += bytes;
            largest = std::max(largest, bytes);
        }
        CHECK(reading.bytes_read == reading.bytes_total);
        CHECK(8 * reading.bytes_total > all);  // in four bits or more
        LoadProgress little;
        const auto model = with_little_memory(file, largest, little);
        if (little.memory >= all) continue;  // one matrix is most of it
        ++tight;
        CHECK(std::ranges::any_of(model->remarks, [](const Sentence& remark) {
            return remark.english().find("each step that reads the others dequantizes them") != std::string::npos;
        }));
        const std::vector<std::string> last = {"logits"};
        const auto plan = plan_decoder({model->config(), &model->weights, model->example, {}, std::nullopt, nullptr});
        const auto run = execute(plan), again = execute(plan), by_row = execute(plan, {.last_row_first = last});
        std::uint64_t stay = 0;
        for (const auto& [name, bytes] : packed) {  // before anything else reads them
            INFO(name);
            const Tensor& weight = model->weights.at(name);
            if (weight.may_stay())
                stay += bytes;
            else
                CHECK_FALSE(weight.is_ready());
        }
        CHECK(stay < all);
        CHECK(stay + 2 * largest <= little.memory);
        const auto expected = run_of(*roomy, roomy->example);
        for (const auto& computed : {run, again, by_row})
            CHECK(testing::first_difference(*computed, *expected).empty());
    }
    CHECK(tight >= 3);
}

TEST_CASE("what operands make of a tensor that may not stay lives as long as they do") {
    struct Counted : LazyValues {
        explicit Counted(int& count) : made(count) {}
        void make(std::span<float> values) const override {
            ++made;
            std::ranges::fill(values, 3.0F);
        }
        [[nodiscard]] bool may_stay() const override { return false; }
        int& made;
    };
    int made = 0;
    const Tensor lazy({{"out", 2}}, std::make_shared<const Counted>(made));
    std::weak_ptr<const void> lent;
    for (const int times : {1, 2}) {
        Operands operands;
        operands.add(lazy);
        lent = operands[0].identity();
        CHECK(operands[0].at(Cell{1}) == 3.0F);
        CHECK(operands[0].at(Cell{0}) == 3.0F);
        CHECK(made == times);
        const Operands copy = operands;
        CHECK(copy[0].shares_values_with(operands[0]));
        CHECK(&copy.given(0) == &lazy);
    }
    CHECK(lent.expired());
    CHECK_FALSE(lazy.is_ready());
}

TEST_CASE("by its scales it is known how many numbers of a tensor are not finite") {
    const SafetensorsFile goldens((kStored / "blocks.safetensors").string());
    for (const char* name : {"Q8_0", "Q4_0", "Q4_K", "Q5_K", "Q6_K", "MXFP4"}) {
        INFO(name);
        const packed::BlockType* type = nullptr;
        for (std::uint32_t number = 0; number < 64; ++number)
            if (const packed::BlockType* one = packed::block_type(number); one != nullptr && one->name == name)
                type = one;
        REQUIRE(type != nullptr);
        const std::span<const char> stored = goldens.bytes(std::string(name) + ".blocks");
        std::vector<char> blocks(stored.begin(), stored.end());
        const auto counted = [&] {
            std::vector<float> values(blocks.size() / static_cast<std::size_t>(type->bytes) *
                                      static_cast<std::size_t>(type->numbers));
            packed::expand_blocks(*type, blocks, values);
            return std::ranges::count_if(values, [](float value) { return !std::isfinite(value); });
        };
        CHECK(counted() == 0);
        CHECK(packed::count_non_finite(*type, blocks) == 0);
        // Every byte of the second block at once: NaN or infinite scales, wherever they stand.
        for (const int byte : {0xff, 0xfe, 0xfd, 0x7c}) {
            INFO(byte);
            std::fill_n(blocks.begin() + type->bytes, type->bytes, static_cast<char>(byte));
            CHECK(static_cast<std::ptrdiff_t>(packed::count_non_finite(*type, blocks)) == counted());
        }
    }
}

TEST_CASE("a GGUF tokenizer without its merges or scores only labels tokens, and says so") {
    const testing::TemporaryFolder folder;
    for (const auto& [model, key, other] : {std::tuple{"qwen2", "tokenizer.ggml.merges", "tokenizer.ggml.mergez"},
                                            {"gemma", "tokenizer.ggml.scores", "tokenizer.ggml.scorez"}}) {
        INFO(model);
        std::string bytes = decoderscope::testing::read_bytes((kStored / "models" / model / "model.gguf").string());
        REQUIRE(bytes.find(key) != std::string::npos);
        bytes.replace(bytes.find(key), std::string(key).size(), other);
        testing::write_bytes(folder.file("model.gguf"), bytes);
        const auto loaded = load_model(folder.file("model.gguf"));
        CHECK_FALSE(loaded->tokenizer.can_encode());
        REQUIRE_FALSE(loaded->remarks.empty());
        CHECK(loaded->remarks.front().english().find(key) != std::string::npos);
    }
}
