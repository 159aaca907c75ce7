#include "tests/engine/raw_safetensors.h"
#include "tests/program/wrong_files.h"

#include <cstdint>

namespace decoderscope::testing {

namespace {

// What the small model is to be run on.
Wrong inputs(std::string says, std::string bytes) {
    return {std::move(says), model_with({{"in.safetensors", std::move(bytes)}}),
            trace({"--inputs", "HERE/model/in.safetensors"})};
}

Wrong header(std::string says, const std::string& text, const std::string& data = {}) {
    return inputs(std::move(says), with_header(text, data));
}

// A header of one tensor, "tokens", that is well but for these.
Wrong tensor(std::string says, const std::string& pointer, const std::string& value) {
    const std::string well = R"({"tokens": {"dtype": "I64", "shape": [1, 2], "data_offsets": [0, 16]}})";
    return header(std::move(says), with(well, pointer, value), std::string(16, '\0'));
}

std::string many_tensors() {
    std::string text = "{";
    for (int i = 0; i <= 65536; ++i)
        text += (i == 0 ? "\"" : ", \"") + std::to_string(i) +
                R"(": {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]})";
    return text + "}";
}

}  // namespace

std::vector<Wrong> wrong_safetensors() {
    const std::string two = R"({"a": {"dtype": "U8", "shape": [1], "data_offsets": [0, 1]},
                                "b": {"dtype": "U8", "shape": [1], "data_offsets": [2, 3]}})";
    return {
        {"HERE/nothing: cannot be read: No such file or directory", model_with({}),
         trace({"--inputs", "HERE/nothing"})},
        {"/dev/null: expected a safetensors file, found something that is not a file", model_with({}),
         trace({"--inputs", "/dev/null"})},
        inputs("HERE/model/in.safetensors: 5 bytes, expected a safetensors file of at least 8", "short"),
        inputs("HERE/model/in.safetensors: the header claims 1000 bytes, expected at most 2; not a safetensors file, "
               "or truncated",
               raw<std::uint64_t>({1000}) + "{}"),
        header("HERE/model/in.safetensors: the header: not a JSON object; expected a safetensors file's header", "[]"),
        header("HERE/model/in.safetensors: the header: 65537 tensors, expected at most 65536", many_tensors()),
        header("HERE/model/in.safetensors: "
               "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…: "
               "a name of 1025 bytes, expected at most 1024",
               R"({")" + std::string(1025, 'a') + R"(": {}})"),
        header(
            "HERE/model/in.safetensors: "
            "a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.…: "
            "a name of 65 parts, expected at most 64",
            R"({")" +
                [] {
                    std::string name = "a";
                    for (int i = 1; i < 65; ++i) name += ".a";
                    return name;
                }() +
                R"(": {}})"),
        header("HERE/model/in.safetensors: the header: not valid JSON from line 1 on, expected a safetensors file's "
               "header",
               std::string("{}\0{\"tokens\": 1}", 16)),
        tensor("HERE/model/in.safetensors: tokens: the header lacks dtype, shape or data_offsets", "/tokens/dtype", ""),
        tensor("HERE/model/in.safetensors: tokens: dtype: expected a string", "/tokens/dtype", "1"),
        tensor("HERE/model/in.safetensors: tokens: dtype I128 is not one that safetensors has", "/tokens/dtype",
               R"("I128")"),
        tensor("HERE/model/in.safetensors: tokens: shape: expected a list of at most 8 sizes", "/tokens/shape",
               "[1, 1, 1, 1, 1, 1, 1, 1, 2]"),
        tensor("HERE/model/in.safetensors: tokens: shape: expected sizes from 0", "/tokens/shape", "[1, -2]"),
        tensor("HERE/model/in.safetensors: tokens: shape: more elements than the file of 16 bytes can hold, or any "
               "tensor (1099511627776)",
               "/tokens/shape", "[1000, 1000]"),
        tensor("HERE/model/in.safetensors: tokens: data_offsets: expected [begin, end]", "/tokens/data_offsets", "[0]"),
        tensor("HERE/model/in.safetensors: tokens: data_offsets 0 to 17 lie outside the file's 16 bytes of data; the "
               "file is truncated or its header is wrong",
               "/tokens/data_offsets", "[0, 17]"),
        tensor("HERE/model/in.safetensors: tokens: 15 bytes, expected 16 for its shape and dtype",
               "/tokens/data_offsets", "[0, 15]"),
        header("HERE/model/in.safetensors: b: data_offsets begin at 2, expected 1, where the tensor before it ends",
               two, "123"),
        header("HERE/model/in.safetensors: the tensors end at byte 1 of the data, expected its end at 2",
               R"({"a": {"dtype": "U8", "shape": [1], "data_offsets": [0, 1]}})", "12"),
        inputs("HERE/model/in.safetensors: tokens: dtype F32, expected I64, I32, I16, I8, U8 or BOOL",
               raw_safetensors({{"tokens", "F32", "[1, 1]", raw<float>({1.0F})}})),
        inputs("HERE/model/in.safetensors: tokens: 33554432 is beyond what is read exactly, 2^24",
               raw_safetensors({{"tokens", "I64", "[1, 1]", raw<std::int64_t>({1 << 25})}})),
        {"HERE/model/x.safetensors: x: dtype I64, expected F32, F16, BF16, F64, F8_E4M3 or F8_E5M2",
         model_with({{"x.safetensors", raw_safetensors({{"x", "I64", "[1, 1, 1]", raw<std::int64_t>({1})}})}}),
         trace_of("simple-decoder", {"--inputs", "HERE/model/x.safetensors"})},
    };
}

}  // namespace decoderscope::testing
