#include "tests/engine/raw_safetensors.h"
#include "tests/program/wrong_files.h"

#include <cmath>
#include <cstdint>
#include <utility>

namespace decoderscope::testing {

namespace {

RawTensor ids(const std::string& name, const std::string& shape, const std::vector<std::int64_t>& numbers) {
    return {name, "I64", shape, raw(numbers)};
}
RawTensor floats(const std::string& name, const std::string& shape, std::size_t count) {
    return {name, "F32", shape, std::string(4 * count, '\0')};
}

// A model on these tensors; `causal-lm-as-meant` has 12 tokens.
Wrong on(std::string says, const std::string& model, const std::vector<RawTensor>& tensors,
         const Arguments& more = {}) {
    Arguments arguments = {"--inputs", "HERE/in.safetensors"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return {std::move(says), {{"in.safetensors", raw_safetensors(tensors)}}, trace_of(model, arguments)};
}
Wrong tokens(std::string says, const std::vector<RawTensor>& tensors) {
    return on(std::move(says), "causal-lm-as-meant", tensors);
}

// The batches of a training.
Wrong batches(std::string says, const std::vector<RawTensor>& tensors) {
    return {std::move(says),
            {{"in.safetensors", raw_safetensors(tensors)}},
            {"train", "causal-lm-as-meant", "--data", "HERE/in.safetensors", "--steps", "1", "--lr", "0.1"}};
}

// Messages, on a model that reads no text: the file is looked at first.
Wrong chat(std::string says, const std::string& messages) {
    return {std::move(says), {{"m.json", messages}}, {"chat", "causal-lm-as-meant", "--messages", "HERE/m.json"}};
}

// A lens of a model of 5 blocks and 64 columns.
Wrong lens(std::string says, const std::vector<RawTensor>& tensors) {
    return {std::move(says),
            {{"in.safetensors", raw_safetensors(tensors)}},
            trace_of("causal-lm-as-meant", {"--lens", "HERE/in.safetensors"})};
}

}  // namespace

std::vector<Wrong> wrong_inputs() {
    const RawTensor three = ids("tokens", "[1, 3]", {1, 2, 3});
    return {
        tokens("HERE/in.safetensors: words: unknown input; expected tokens, x, memory, encoder_tokens, attention_mask, "
               "encoder_attention_mask, custom_mask, positions, segments or targets",
               {ids("words", "[1, 1]", {1})}),
        chat("HERE/m.json: not valid JSON from line 1 on, expected a list of messages, or one conversation per line",
             "{"),
        chat("HERE/m.json: conversation 1: expected a list of messages, or an object with \"messages\"", "{}"),
        chat("HERE/m.json: conversation 1, message 2: expected an object with \"role\", a text, and \"content\"",
             R"([{"role": "user"}, {"content": "Hi"}])"),
        chat("HERE/m.json: conversation 1: spans: [0,9,0], expected [begin, end, message], characters of the text from "
             "0 to 2, and the number of a message",
             R"({"conversations": [{"text": "Hi", "roles": ["user"], "spans": [[0, 9, 0]]}]})"),
        tokens("HERE/in.safetensors: tokens: missing; expected because vocab_size is 12", {}),
        tokens("HERE/in.safetensors: tokens: shape [3], expected [batch, pos]", {ids("tokens", "[3]", {1, 2, 3})}),
        tokens("HERE/in.safetensors: tokens: id 12 at [0, 0], expected 0 to 11", {ids("tokens", "[1, 1]", {12})}),
        tokens("HERE/in.safetensors: memory: not read by this model, because cross_attention is false, encoder_layers "
               "0, encoder_vocab_size 12",
               {three, floats("memory", "[1, 1, 1]", 1)}),
        tokens("HERE/in.safetensors: attention_mask: value 2, expected 1 = keep or 0 = hide",
               {three, ids("attention_mask", "[1, 3]", {1, 2, 1})}),
        tokens("HERE/in.safetensors: custom_mask: shape [1, 2], expected one that broadcasts to [1, 8, 3, 3]",
               {three, ids("custom_mask", "[1, 2]", {1, 1})}),
        tokens("HERE/in.safetensors: targets: 12, expected an id from 0 to 11, or −100 for one that is ignored",
               {three, ids("targets", "[1, 3]", {1, 2, 12})}),
        tokens("HERE/in.safetensors: tokens: 65537 batch rows, expected at most 65536",
               {{"tokens", "U8", "[65537, 1]", std::string(65537, '\1')}}),
        tokens("HERE/in.safetensors: attention scores of shape [1, 8, 1000000, 1000000] would hold more than "
               "1099511627776 numbers, expected fewer batch rows or positions",
               {{"tokens", "U8", "[1, 1000000]", std::string(1000000, '\1')}}),
        on("HERE/in.safetensors: tokens: 5000 positions, and this model reads at most 128 (max_positions)", "verses",
           {{"tokens", "U8", "[1, 5000]", std::string(5000, '\1')}}),
        on("HERE/in.safetensors: x: shape [1, 1, 3], expected [batch, pos, 64]", "simple-decoder",
           {floats("x", "[1, 1, 3]", 3)}),
        batches("HERE/in.safetensors: no tensors, expected those of the batches, tokens for instance", {}),
        batches("HERE/in.safetensors: tokens: shape [3], expected steps as its first axis and at least one step",
                {ids("tokens", "[3]", {1, 2, 3})}),
        batches("HERE/in.safetensors: tokens: shape [1, 1, 3], expected 2 steps as its first axis, as the other "
                "tensors have",
                {ids("tokens", "[1, 1, 3]", {1, 2, 3}), ids("attention_mask", "[2, 1, 3]", {1, 1, 1, 1, 1, 1})}),
        lens("HERE/in.safetensors: blocks.0.weight: shape [64, 32], expected [64, 64]",
             {floats("blocks.0.weight", "[64, 32]", 64 * 32)}),
        lens("HERE/in.safetensors: blocks.1.bias: shape [1], expected [64]",
             {floats("blocks.1.weight", "[64, 64]", 64 * 64), floats("blocks.1.bias", "[1]", 1)}),
        lens("HERE/in.safetensors: embed.weight: a value is NaN or infinite, expected finite numbers",
             {{"embed.weight", "F32", "[64, 64]", raw(std::vector<float>(64 * 64, INFINITY))}}),
        lens("HERE/in.safetensors: no tensor embed.weight or blocks.0.weight, …; expected a lens, one [64, 64] a layer",
             {floats("blocks.0.bias", "[64]", 64)}),
        lens(
            "HERE/in.safetensors: blocks.5.weight: expected embed or blocks.0 to blocks.4, with .weight or .weight and "
            ".bias",
            {floats("blocks.0.weight", "[64, 64]", 64 * 64), floats("blocks.5.weight", "[64, 64]", 64 * 64)}),
    };
}

}  // namespace decoderscope::testing
