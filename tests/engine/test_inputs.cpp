// What a run reads besides the weights: errors name inputs that don't fit, and say what would.
#include "engine/model/inputs.h"
#include "tests/catch.h"
#include "tests/engine/filled.h"
#include "tests/engine/messages.h"
#include "tests/engine/raw_safetensors.h"
#include "tests/engine/small_models.h"
#include "tests/engine/temporary_folder.h"

#include <functional>

using namespace decoderscope::testing;

namespace {

const Overrides kTokens = {{"vocab_size", "7"}, {"lm_head", "true"}, {"max_positions", "5"}};
const Overrides kCross = {{"cross_attention", "true"}};
const Overrides kEncoder = {{"cross_attention", "true"}, {"encoder_layers", "1"}, {"encoder_vocab_size", "9"}};

// The message about a model's inputs after `spoil` changed them.
std::string error_after(const Overrides& config, const std::function<void(Inputs&)>& spoil) {
    SmallModel model = small_model(config);
    spoil(model.inputs);
    return error_of([&] { static_cast<void>(model.plan()); });
}

// The message about an inputs file; it must name the file.
void check_file(const Overrides& config, const std::vector<RawTensor>& tensors, std::vector<std::string> says) {
    const TemporaryFolder folder;
    const std::string path = folder.file("inputs.safetensors");
    write_bytes(path, raw_safetensors(tensors));
    says.push_back(path);
    check_message(error_of([&] { static_cast<void>(load_inputs(path, small_config(config))); }), says);
}

RawTensor whole_numbers(const std::string& name, const std::string& shape, const std::vector<std::int64_t>& numbers) {
    return {name, "I64", shape, raw(numbers)};
}

}  // namespace

// ---- from a file

TEST_CASE("an inputs file is read with the names of its axes") {
    const TemporaryFolder folder;
    const std::string path = folder.file("inputs.safetensors");
    write_bytes(path, raw_safetensors({whole_numbers("tokens", "[2, 3]", {0, 1, 2, 3, 4, 6}),
                                       {"attention_mask", "BOOL", "[2, 3]", raw<std::uint8_t>({1, 1, 1, 1, 1, 0})},
                                       {"custom_mask", "U8", "[3, 1]", raw<std::uint8_t>({1, 1, 0})}}));
    const Inputs inputs = load_inputs(path, small_config(kTokens));
    CHECK(inputs.tokens.axes() == Axes{{axis::batch, 2}, {axis::pos, 3}});
    CHECK(inputs.tokens.at(Cell{1, 2}) == 6.0F);
    CHECK(inputs.attention_mask.at(Cell{1, 2}) == 0.0F);
    CHECK(inputs.custom_mask.axes() == Axes{{axis::query, 3}, {axis::key, 1}});
    CHECK(inputs.x.empty());
}

TEST_CASE("an inputs file that doesn't fit names the file, the tensor and what was expected") {
    check_file(kTokens, {whole_numbers("tokens", "[1, 3]", {0, 7, 2})}, {"tokens", "id 7 at [0, 1]", "0 to 6"});
    check_file(kTokens, {whole_numbers("tokens", "[1, 3]", {0, 6, -1})}, {"tokens", "id -1 at [0, 2]", "0 to 6"});
    check_file(kTokens, {whole_numbers("tokens", "[1, 1]", {std::int64_t{1} << 40})}, {"tokens", "1099511627776"});
    check_file(kTokens, {{"tokens", "F32", "[1, 1]", raw<float>({1.0F})}}, {"tokens", "F32", "I64"});
    check_file(kTokens, {whole_numbers("token", "[1, 1]", {0})}, {"token", "unknown input", "tokens, x, memory"});
    check_file(kTokens, {}, {"tokens", "missing", "vocab_size is 7"});
    check_file({}, {whole_numbers("x", "[1, 1, 12]", std::vector<std::int64_t>(12))}, {"x", "I64", "F32"});
    check_file({}, {{"x", "F32", "[1, 1, 8]", raw(std::vector<float>(8))}}, {"x", "[1, 1, 8]", "[batch, pos, 12]"});
    check_file(kTokens, {whole_numbers("tokens", "[1, 1]", {0}), whole_numbers("attention_mask", "[1, 1]", {2})},
               {"attention_mask", "2", "1 = keep or 0 = hide"});
}

TEST_CASE("an inputs file that is none is named") {
    const TemporaryFolder folder;
    check_message(error_of([&] { static_cast<void>(load_inputs(folder.file("absent"), small_config())); }),
                  {folder.file("absent")});
    write_bytes(folder.file("text"), "this is no tensor, but it is long enough");
    check_message(error_of([&] { static_cast<void>(load_inputs(folder.file("text"), small_config())); }),
                  {folder.file("text"), "header"});
}

// ---- one by one

TEST_CASE("what enters the decoder has to be what its configuration reads") {
    check_message(error_after(kTokens, [](Inputs& in) { in.tokens = Tensor(); }),
                  {"tokens", "missing", "vocab_size is 7"});
    check_message(error_after({}, [](Inputs& in) { in.x = Tensor(); }), {"x", "missing", "vocab_size is 0"});
    check_message(error_after(kTokens, [](Inputs& in) { in.x = filled({2, 3, 12}, 0.0F); }), {"x", "not read"});
    check_message(error_after({}, [](Inputs& in) { in.tokens = filled({2, 3}, 0.0F); }), {"tokens", "not read"});
    check_message(error_after(kTokens, [](Inputs& in) { in.tokens = filled({6}, 0.0F); }),
                  {"tokens", "[6]", "[batch, pos]"});
    check_message(error_after(kTokens, [](Inputs& in) { in.tokens = filled({}, 0.0F); }),
                  {"tokens", "[]", "[batch, pos]"});
    check_message(error_after(kTokens, [](Inputs& in) { in.tokens = filled({2, 0}, 0.0F); }), {"tokens", "[2, 0]"});
    check_message(error_after(kTokens,
                              [](Inputs& in) {
                                  in.tokens = filled({1, 6}, 0.0F);
                              }),
                  {"tokens", "6 positions", "at most 5 (max_positions)"});
    check_message(error_after({},
                              [](Inputs& in) {
                                  in.x = filled({2, 3, 11}, 0.0F);
                              }),
                  {"x", "[2, 3, 11]", "[batch, pos, 12]"});
}

TEST_CASE("what cross-attention reads has to fit the decoder's batch") {
    check_message(error_after(kCross, [](Inputs& in) { in.memory = Tensor(); }),
                  {"memory", "missing", "cross_attention is true"});
    check_message(error_after({}, [](Inputs& in) { in.memory = in.x; }),
                  {"memory", "not read", "cross_attention is false"});
    check_message(error_after(kCross,
                              [](Inputs& in) {
                                  in.memory = filled({3, 4, 12}, 0.0F);
                              }),
                  {"memory", "[3, 4, 12]", "[2, src, 12]"});
    check_message(error_after(kEncoder, [](Inputs& in) { in.encoder_tokens = Tensor(); }),
                  {"encoder_tokens", "missing", "encoder_layers 1"});
    check_message(error_after(kEncoder,
                              [](Inputs& in) {
                                  in.encoder_tokens = filled({1, 4}, 0.0F);
                              }),
                  {"encoder_tokens", "[1, 4]", "[2, src]"});
    check_message(error_after(kEncoder,
                              [](Inputs& in) {
                                  in.encoder_tokens = filled({2, 4}, 9.0F);
                              }),
                  {"encoder_tokens", "id 9 at [0, 0]", "0 to 8"});
}

TEST_CASE("a mask of the wrong shape says which one it should have") {
    check_message(error_after({},
                              [](Inputs& in) {
                                  in.attention_mask = filled({2, 4}, 1.0F);
                              }),
                  {"attention_mask", "[2, 4]", "[2, 3]"});
    check_message(error_after({}, [](Inputs& in) { in.attention_mask = filled({3}, 1.0F); }),
                  {"attention_mask", "[3]", "[2, 3]"});
    check_message(error_after({},
                              [](Inputs& in) {
                                  in.encoder_attention_mask = filled({2, 4}, 1.0F);
                              }),
                  {"encoder_attention_mask", "not read"});
    check_message(error_after(kCross,
                              [](Inputs& in) {
                                  in.encoder_attention_mask = filled({2, 3}, 1.0F);
                              }),
                  {"encoder_attention_mask", "[2, 3]", "[2, 4]"});
    for (const Tensor& mask : {filled({2}, 1.0F), filled({3, 2}, 1.0F), filled({3, 1, 3, 3}, 1.0F),
                               filled({1, 1, 1, 3, 3}, 1.0F), filled({3, 0}, 1.0F)})
        check_message(error_after({}, [&](Inputs& in) { in.custom_mask = mask; }),
                      {"custom_mask", shape_text(mask.axes()), "broadcasts to [2, 2, 3, 3]"});
    for (const Tensor& mask : {filled({}, 1.0F), filled({1}, 1.0F), filled({3}, 1.0F), filled({3, 1}, 1.0F),
                               filled({2, 1, 1}, 1.0F), filled({2, 1, 3, 3}, 1.0F)})
        CHECK(error_after({}, [&](Inputs& in) { in.custom_mask = mask; }) == "(no error)");
}

TEST_CASE("a mask holds 0 and 1 only") {
    check_message(error_after({},
                              [](Inputs& in) {
                                  in.attention_mask = filled({2, 3}, 0.5F);
                              }),
                  {"attention_mask", "0.5", "1 = keep or 0 = hide"});
    check_message(error_after({}, [](Inputs& in) { in.custom_mask = filled({3}, -1.0F); }),
                  {"custom_mask", "−1", "1 = keep or 0 = hide"});
}
