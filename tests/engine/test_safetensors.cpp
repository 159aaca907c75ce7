// Reading safetensors files: every type, any alignment, and headers that lie.
#include "engine/files/safetensors.h"
#include "tests/catch.h"
#include "tests/engine/messages.h"
#include "tests/engine/not_finite.h"
#include "tests/engine/raw_safetensors.h"
#include "tests/engine/same_bits.h"
#include "tests/engine/temporary_folder.h"

#include <sys/stat.h>
#if __has_include(<sys/mman.h>)
#include <sys/mman.h>
#endif

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <limits>

using namespace decoderscope::testing;

namespace {

// A file of these bytes, opened.
class FileWith {
public:
    explicit FileWith(const std::string& bytes) { write_bytes(path_, bytes); }
    [[nodiscard]] SafetensorsFile file() const { return SafetensorsFile(path_); }

private:
    TemporaryFolder folder_;
    std::string path_ = folder_.file("t.safetensors");
};

std::vector<float> floats_of(const std::string& dtype, const std::string& shape, const std::string& bytes) {
    const Tensor tensor = FileWith(raw_safetensors({{"t", dtype, shape, bytes}})).file().floats("t");
    return {tensor.values().begin(), tensor.values().end()};
}

std::vector<float> integers_of(const std::string& dtype, const std::string& shape, const std::string& bytes) {
    const Tensor tensor = FileWith(raw_safetensors({{"t", dtype, shape, bytes}})).file().integers("t");
    return {tensor.values().begin(), tensor.values().end()};
}

// Reads everything that a file holds, as floats or as integers. Returns the first message, if any.
std::string read_all(const std::string& path) {
    return error_of([&] {
        const SafetensorsFile file(path);
        for (const auto& [name, entry] : file.entries()) {
            const bool whole = entry.dtype[0] != 'F' && entry.dtype[0] != 'B';
            const Tensor tensor = whole || entry.dtype == "BOOL" ? file.integers(name) : file.floats(name);
            float sum = 0.0F;
            for (const float value : tensor.values()) sum += value;  // so that a sanitizer sees every byte read
            CHECK((sum == sum || std::isnan(sum)));
        }
    });
}

// The message for a file with this header and 16 bytes of data; it must be an Error that names the file.
void check_header(const std::string& header, std::vector<std::string> says) {
    const TemporaryFolder folder;
    write_bytes(folder.file("t.safetensors"), with_header(header, std::string(16, '\0')));
    says.push_back("t.safetensors");
    INFO(header.substr(0, 200));
    check_message(read_all(folder.file("t.safetensors")), says);
}

std::string entry(const std::string& dtype, const std::string& shape, const std::string& offsets) {
    return R"({"weight": {"dtype": ")" + dtype + R"(", "shape": )" + shape + R"(, "data_offsets": )" + offsets + "}}";
}

}  // namespace

// ---- valid files

TEST_CASE("what is written reads back bit for bit, in the order written") {
    const TemporaryFolder folder;
    const std::string path = folder.file("t.safetensors");
    const std::vector<std::pair<std::string, Tensor>> tensors = {
        {"z", Tensor({{axis::batch, 2}, {axis::pos, 3}}, {1.5F, -0.0F, 1e-42F, kInfinity, -kInfinity, 3.4e38F})},
        {"größe \"a\"", Tensor({{axis::pos, 1}}, {0.1F})},
        {"nothing", Tensor(Axes{{axis::pos, 0}})},
        {"scalar", Tensor(Axes{}, {7.0F})},
        {"nan", Tensor({{axis::pos, 2}}, {kNan, 1.0F})}};
    write_safetensors(path, tensors);
    const SafetensorsFile file(path);
    CHECK(file.entries().size() == tensors.size());
    std::size_t end = 0;
    for (const auto& [name, tensor] : tensors) {
        INFO(name);
        const Tensor read = file.floats(name);
        CHECK(shape_text(read.axes()) == shape_text(tensor.axes()));
        CHECK(std::ranges::equal(raw(std::vector<float>(read.values().begin(), read.values().end())),
                                 raw(std::vector<float>(tensor.values().begin(), tensor.values().end()))));
        CHECK(file.entries().find(name)->second.begin == end);
        end = file.entries().find(name)->second.end;
    }
    CHECK(folder.entries() == 1);
}

TEST_CASE("a tensor outlives the file that it was read from, and can be written to without touching it") {
    const TemporaryFolder folder;
    const std::string path = folder.file("t.safetensors");
    write_safetensors(path, {{"a", Tensor({{axis::pos, 2}}, {1.0F, 2.0F})}});
    Tensor tensor = SafetensorsFile(path).floats("a");
    tensor.writable()[0] = 5.0F;
    CHECK(tensor.at(Cell{1}) == 2.0F);
    CHECK(SafetensorsFile(path).floats("a").at(Cell{0}) == 1.0F);
}

TEST_CASE("every floating type is read as float") {
    CHECK(floats_of("F64", "[2]", raw<double>({0.1, -1e300})) == std::vector{0.1F, -kInfinity});
    CHECK(floats_of("F32", "[1, 2]", raw<float>({0.1F, -kInfinity})) == std::vector{0.1F, -kInfinity});
    // 1, -2, 65504 (the largest), the smallest normal, the smallest of all, 1/3 as nearly as can be, -0
    const auto halves = raw<std::uint16_t>({0x3c00, 0xc000, 0x7bff, 0x0400, 0x0001, 0x3555, 0x8000, 0x7c00, 0xfc00});
    CHECK(floats_of("F16", "[9]", halves) ==
          std::vector{1.0F, -2.0F, 65504.0F, 0x1p-14F, 0x1p-24F, 0.333251953125F, -0.0F, kInfinity, -kInfinity});
    CHECK(std::isnan(floats_of("F16", "[]", raw<std::uint16_t>({0x7e00}))[0]));
    const auto brains = raw<std::uint16_t>({0x3f80, 0xc000, 0x3eab, 0x0001, 0xff80});
    CHECK(floats_of("BF16", "[5]", brains) == std::vector{1.0F, -2.0F, 0.333984375F, 0x1p-133F, -kInfinity});
    CHECK(std::isnan(floats_of("BF16", "[]", raw<std::uint16_t>({0x7fc0}))[0]));
}

TEST_CASE("every half-precision number becomes the same float") {
    std::vector<std::uint16_t> all(65536);
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::uint16_t>(i);
    const std::vector<float> halves = floats_of("F16", "[65536]", raw(all)),
                             brains = floats_of("BF16", "[65536]", raw(all));
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto bits = static_cast<std::uint32_t>(i);
        INFO(bits);
        const std::uint32_t exponent = bits >> 10 & 31U, fraction = bits & 1023U, sign = bits >> 15;
        // From the format's definition: (−1)^s · 2^(e − 15) · 1.f, and 2^−14 · 0.f where e is 0.
        const float size = exponent == 0
                               ? std::ldexp(static_cast<float>(fraction), -24)
                               : std::ldexp(static_cast<float>(1024U + fraction), static_cast<int>(exponent) - 25);
        const float expected = exponent == 31 ? std::bit_cast<float>(0x7f800000U | fraction << 13 | sign << 31)
                                              : std::copysign(size, sign != 0 ? -1.0F : 1.0F);
        if (std::bit_cast<std::uint32_t>(halves[i]) != std::bit_cast<std::uint32_t>(expected)) FAIL_CHECK("F16");
        if (std::bit_cast<std::uint32_t>(brains[i]) != bits << 16) FAIL_CHECK("BF16");
    }
}

TEST_CASE("every integer type is read as the float that holds it exactly") {
    CHECK(integers_of("I64", "[3]", raw<std::int64_t>({0, 16777216, -5})) == std::vector{0.0F, 16777216.0F, -5.0F});
    CHECK(integers_of("I32", "[2, 1]", raw<std::int32_t>({7, -16777216})) == std::vector{7.0F, -16777216.0F});
    CHECK(integers_of("I16", "[1]", raw<std::int16_t>({-32768})) == std::vector{-32768.0F});
    CHECK(integers_of("I8", "[2]", raw<std::int8_t>({-128, 127})) == std::vector{-128.0F, 127.0F});
    CHECK(integers_of("U8", "[2]", raw<std::uint8_t>({0, 255})) == std::vector{0.0F, 255.0F});
    CHECK(integers_of("BOOL", "[3]", raw<std::uint8_t>({1, 0, 1})) == std::vector{1.0F, 0.0F, 1.0F});
}

TEST_CASE("an integer that a float doesn't hold is an error") {
    for (const std::int64_t value :
         {std::int64_t{16777217}, std::int64_t{-16777217}, std::numeric_limits<std::int64_t>::max(),
          std::numeric_limits<std::int64_t>::min()})
        check_message(error_of([&] { integers_of("I64", "[1]", raw<std::int64_t>({value})); }),
                      {"t.safetensors", "t:", std::to_string(value), "2^24"});
}

TEST_CASE("a tensor of another kind, or none at all, is named") {
    const FileWith opened(raw_safetensors({{"whole", "I64", "[1]", raw<std::int64_t>({1})},
                                           {"real", "F32", "[1]", raw<float>({1.0F})},
                                           {"unsigned", "U32", "[1]", raw<std::uint32_t>({1})}}));
    const SafetensorsFile file = opened.file();
    check_message(error_of([&] { static_cast<void>(file.floats("whole")); }), {"t.safetensors", "whole", "I64", "F32"});
    check_message(error_of([&] { static_cast<void>(file.integers("real")); }), {"real", "F32", "I64"});
    check_message(error_of([&] { static_cast<void>(file.integers("unsigned")); }), {"unsigned", "U32", "I64"});
    check_message(error_of([&] { static_cast<void>(file.floats("wait")); }), {"t.safetensors", "wait", "missing"});
}

TEST_CASE("numbers that are not aligned in the file are read all the same") {
    // A header of an odd length, and a single byte before the floats.
    for (const char* space : {"", " ", "  ", "   ", "    "}) {
        const auto floats = raw<float>({1.0F, 2.0F, 3.0F});
        const std::string header =
            std::string(space) + R"({"byte": {"dtype": "U8", "shape": [1], "data_offsets": [0, 1]},
            "t": {"dtype": "F32", "shape": [3], "data_offsets": [1, 13]}})";
        const Tensor tensor = FileWith(with_header(header, "x" + floats)).file().floats("t");
        CHECK(std::ranges::equal(tensor.values(), std::vector{1.0F, 2.0F, 3.0F}));
    }
}

TEST_CASE("metadata is passed over") {
    const FileWith opened(with_header(
        R"({"__metadata__": {"format": "pt"}, "t": {"dtype": "U8", "shape": [], "data_offsets": [0, 1]}})", "\x05"));
    CHECK(opened.file().entries().size() == 1);
    CHECK(opened.file().integers("t").at(Cell{}) == 5.0F);
}

// ---- refused files

TEST_CASE("no part of a file is taken for the whole") {
    const TemporaryFolder folder;
    const std::string path = folder.file("t.safetensors");
    write_safetensors(path, {{"a", Tensor({{axis::pos, 3}}, {1, 2, 3})}, {"b", Tensor({{axis::pos, 1}}, {4})}});
    const std::string whole = read_bytes(path);
    for (std::size_t length = 0; length < whole.size(); ++length) {
        INFO(length << " bytes of " << whole.size());
        write_bytes(path, whole.substr(0, length));
        check_message(read_all(path), {"t.safetensors"});
    }
    write_bytes(path, whole);
    CHECK(read_all(path) == "(no error)");
}

TEST_CASE("a file with any byte changed is read or refused, and nothing worse") {
    const TemporaryFolder folder;
    const std::string path = folder.file("t.safetensors");
    const std::string whole =
        raw_safetensors({{"a", "F32", "[3]", raw<float>({1, 2, 3})}, {"b", "I64", "[1]", raw<std::int64_t>({4})}});
    for (std::size_t at = 0; at < whole.size(); ++at) {
        for (const char other : {'\0', '\xff', '"', '9', '-', '{', ']'}) {
            std::string bytes = whole;
            bytes[at] = other;
            write_bytes(path, bytes);
            const std::string message = read_all(path);
            if (message != "(no error)") check_message(message, {"t.safetensors"});
        }
    }
}

TEST_CASE("a file that was cut short after it was opened is refused", "[posix]") {
    const TemporaryFolder folder;
    const std::string path = folder.file("t.safetensors");
    write_safetensors(path, {{"weight", Tensor({{axis::pos, 100'000}}, std::vector<float>(100'000))}});
    const SafetensorsFile file(path);
    std::filesystem::resize_file(path, 20'000);
    check_message(error_of([&] { static_cast<void>(file.floats("weight")); }), {"t.safetensors", "truncated", "400"});
    check_message(error_of([&] { static_cast<void>(file.integers("weight")); }), {"t.safetensors", "truncated"});
    // A file that grew does no harm.
    std::filesystem::resize_file(path, 500'000);
    CHECK(file.floats("weight").at(Cell{0}) == 0.0F);
}

#ifdef MADV_POPULATE_READ
TEST_CASE("a file that is cut short while it is read is refused") {
    const TemporaryFolder folder;
    const std::string path = folder.file("t.safetensors");
    write_safetensors(path, {{"weight", Tensor({{axis::pos, 600'000}}, std::vector<float>(600'000))}});
    const SafetensorsFile file(path);
    const auto cut = [&](std::span<const float>, std::size_t) { std::filesystem::resize_file(path, 20'000); };
    check_message(error_of([&] { static_cast<void>(file.floats("weight", cut)); }),
                  {"t.safetensors", "weight", "to its end"});
}
#endif

TEST_CASE("a header of a wrong length is refused") {
    for (const std::uint64_t size :
         {std::uint64_t{17}, std::uint64_t{1} << 20, std::uint64_t{1} << 40, ~std::uint64_t{0}, ~std::uint64_t{7}}) {
        const TemporaryFolder folder;
        write_bytes(folder.file("t.safetensors"), raw<std::uint64_t>({size}) + std::string(16, ' '));
        check_message(read_all(folder.file("t.safetensors")), {"t.safetensors", std::to_string(size), "at most 16"});
    }
}

TEST_CASE("offsets that lead out of the file or don't fit the shape are refused") {
    check_header(entry("F32", "[4]", "[0, 20]"), {"weight", "0 to 20", "16 bytes"});
    check_header(entry("F32", "[4]", "[16, 32]"), {"weight", "16 to 32", "16 bytes"});
    check_header(entry("F32", "[4]", "[8, 4]"), {"weight", "8 to 4"});
    check_header(entry("F32", "[4]", "[18446744073709551612, 12]"), {"weight", "18446744073709551612"});
    check_header(entry("F32", "[4]", "[0, 18446744073709551615]"), {"weight", "18446744073709551615"});
    check_header(entry("F32", "[4]", "[0, 12]"), {"weight", "12 bytes", "expected 16"});
    check_header(entry("F32", "[]", "[0, 8]"), {"weight", "8 bytes", "expected 4"});
    check_header(entry("F32", "[4]", "[-4, 12]"), {"weight", "data_offsets", "[begin, end]"});
    check_header(entry("F32", "[4]", "[0, 16.0]"), {"weight", "data_offsets"});
    check_header(entry("F32", "[4]", "[0]"), {"weight", "data_offsets"});
    check_header(entry("F32", "[4]", "16"), {"weight", "data_offsets"});
}

TEST_CASE("tensors that overlap or leave a gap are refused") {
    const auto two = [](const std::string& first, const std::string& second, const std::string& shape) {
        return R"({"a": {"dtype": "U8", "shape": [)" + shape + R"(], "data_offsets": )" + first +
               R"(}, "weight": {"dtype": "U8", "shape": [8], "data_offsets": )" + second + "}}";
    };
    check_header(two("[0, 8]", "[4, 12]", "8"), {"weight", "begin at 4", "expected 8"});
    check_header(two("[0, 8]", "[0, 8]", "8"), {"weight", "begin at 0", "expected 8"});
    check_header(two("[0, 4]", "[8, 16]", "4"), {"weight", "begin at 8", "expected 4"});
    check_header(two("[1, 8]", "[8, 16]", "7"), {"a:", "begin at 1", "expected 0"});
    check_header(two("[0, 4]", "[4, 12]", "4"), {"end at byte 12", "16"});
    check_header("{}", {"end at byte 0", "16"});
}

TEST_CASE("a shape larger than the file is refused before anything is allocated") {
    check_header(entry("F32", "[2684354560]", "[0, 16]"), {"weight", "shape", "16 bytes"});  // 10 GB
    check_header(entry("F32", "[4611686018427387904, 4611686018427387904]", "[0, 16]"), {"weight", "shape"});
    check_header(entry("F64", "[4294967296, 4294967296]", "[0, 0]"), {"weight", "shape"});
    check_header(entry("F32", "[18446744073709551615]", "[0, 16]"), {"weight", "shape"});
    check_header(entry("F32", "[18446744073709551616]", "[0, 16]"), {"weight", "shape"});
    check_header(entry("F32", "[0, 18446744073709551615]", "[0, 0]"), {"weight", "shape"});
    check_header(entry("F32", "[-4]", "[0, 16]"), {"weight", "shape", "from 0"});
    check_header(entry("F32", "[-2, -2]", "[0, 16]"), {"weight", "shape", "from 0"});
    check_header(entry("F32", "[4.0]", "[0, 16]"), {"weight", "shape"});
    check_header(entry("F32", "[[4]]", "[0, 16]"), {"weight", "shape"});
    check_header(entry("F32", "4", "[0, 16]"), {"weight", "shape", "a list"});
    check_header(entry("F32", "[1, 1, 1, 1, 1, 1, 1, 1, 4]", "[0, 16]"), {"weight", "shape", "at most 8"});
}

TEST_CASE("a header that is none is refused") {
    check_header("", {"header", "not valid JSON"});
    check_header("weights", {"header", "not valid JSON"});
    check_header("[1, 2]", {"header", "JSON object"});
    check_header(R"({"weight": 1})", {"weight", "dtype"});
    check_header(R"({"weight": {"dtype": "F32", "shape": [4]}})", {"weight", "data_offsets"});
    check_header(R"({"weight": {"dtype": 32, "shape": [4], "data_offsets": [0, 16]}})", {"weight", "dtype"});
    check_header(entry("F31", "[4]", "[0, 16]"), {"weight", "F31"});
    check_header(entry("", "[4]", "[0, 16]"), {"weight", "dtype"});
    check_header(std::string(100'000, '['), {"header", "nested"});
    check_header(R"({"w": {"dtype": "U8", "shape": [1], "data_offsets": [0, 1]},
                     "w": {"dtype": "U8", "shape": [1], "data_offsets": [1, 2]}})",
                 {"w", "twice"});
    check_header(R"({"two\nlines": 1})", {"two lines"});
}

TEST_CASE("a header of very many names is read in no time") {
    std::string header = "{";
    for (int i = 0; i < 50'000; ++i)
        header +=
            (i ? ", \"" : "\"") + std::to_string(i) + R"(": {"dtype": "U8", "shape": [0], "data_offsets": [0, 0]})";
    CHECK(FileWith(with_header(header + "}")).file().entries().size() == 50'000);
}

TEST_CASE("what is no file is refused, and a pipe isn't waited for", "[posix]") {
    const TemporaryFolder folder;
    check_message(read_all(folder.path()), {folder.path(), "safetensors file"});
    check_message(read_all(folder.file("absent")), {"absent", "No such file"});
    const std::string pipe = folder.file("pipe");
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    check_message(read_all(pipe), {"pipe", "safetensors file"});
}
