// Traces that other programs recorded: what they hold is read, what is wrong with them is said.
#include "engine/base/error.h"
#include "engine/files/safetensors.h"
#include "engine/trace/trace.h"
#include "tests/catch.h"
#include "tests/engine/contains.h"
#include "tests/engine/raw_safetensors.h"
#include "tests/engine/temporary_folder.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>

using namespace decoderscope::testing;
using namespace decoderscope::trace;

namespace {

std::string message_of(const std::string& path) {
    try {
        static_cast<void>(open_trace(path));
    } catch (const Error& error) {
        return error.what();
    }
    return {};
}

// A recorder's file of tensors of four F32 numbers each.
std::string recorders(const std::vector<std::string>& names, const std::string& more_metadata = "",
                      float begin_with = 1.0F) {
    std::string header =
        R"({"__metadata__": {"format": "decoderscope-trace 1", "finished": "yes")" + more_metadata + "}";
    std::string data;
    for (const std::string& name : names) {
        const std::string begin = std::to_string(data.size());
        data += raw<float>({begin_with, begin_with + 1.0F, begin_with + 2.0F, static_cast<float>(data.size())});
        header += ", \"" + name + R"(": {"dtype": "F32", "shape": [2, 2], "data_offsets": [)" + begin + ", " +
                  std::to_string(data.size()) + "]}";
    }
    header += "}";
    header.resize((header.size() + 7) / 8 * 8, ' ');
    return with_header(header, data);
}

std::string rank_metadata(int rank, int world) {
    return ", \"rank\": \"" + std::to_string(rank) + "\", \"world_size\": \"" + std::to_string(world) + "\"";
}

std::vector<std::string> names_of(const Trace& trace) {
    std::vector<std::string> names;
    for (const TraceTensor& tensor : trace.tensors) names.push_back(tensor.name);
    return names;
}

std::string remarks_of(const Trace& trace) {
    std::string all;
    for (const Sentence& remark : trace.remarks) all += remark.english() + "\n";
    return all;
}

const std::string kManifest = R"({"format": "decoderscope-trace 1", "world_size": 2, "ranks": [
  {"rank": 0, "file": "t.rank0-of-2.safetensors"}, {"rank": 1, "file": "t.rank1-of-2.safetensors"}],
  "shards": [{"tensors": "*.q/out", "axis": -1}]})";

}  // namespace

TEST_CASE("a trace lists its tensors in the order of recording, parameters apart") {
    const TemporaryFolder folder;
    write_bytes(folder.file("t.safetensors"), recorders({"param/h.0.q.weight", "z/out", "a/out"}));
    const Trace trace = open_trace(folder.file("t.safetensors"));
    CHECK(names_of(trace) == std::vector<std::string>{"z/out", "a/out"});
    REQUIRE(trace.parameters.size() == 1);
    CHECK(trace.parameters[0].name == "h.0.q.weight");
    CHECK(trace.find("a/out")->values.values()[3] == 32.0F);
    CHECK(trace.remarks.empty());
}

TEST_CASE("a call has its line of code, and a tensor its call; a line that is none is left out") {
    const TemporaryFolder folder;
    const std::string calls = R"json([
        {"name": "h", "module": "h", "class": "Decoder", "out": {"": "h.q/out"},
         "at": {"file": "model.py", "line": 57, "text": "x = self.h(x)"}},
        {"name": "h.q", "module": "h.q", "class": "Projection", "in": {"input": "h.q/in.input"}, "out": {"": "h.q/out"},
         "at": {"file": "model.py", "line": 12, "text": "return self.q(x)"}},
        {"name": "k", "at": {"file": "model.py", "line": -1}}, {"name": "v", "at": "model.py:3"}, {"name": "o"},
        {"name": "w", "at": {"file": "a\nb.py", "line": 3, "text": "x\u001b[31m"}}])json";
    std::string written;
    for (const char c : calls)
        written += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c == '\n' ? ' ' : c);
    write_bytes(folder.file("t.safetensors"),
                recorders({"h.q/in.input", "h.q/out", "v/out"},
                          ", \"calls\": \"" + written + "\", \"calls_in_other_threads\": \"2\""));
    const Trace trace = open_trace(folder.file("t.safetensors"));
    const auto line_of = [&](const char* tensor) {
        const TraceCall* call = trace.call_of(tensor);
        return call == nullptr ? std::string("no call") : text_of(call->at);
    };
    CHECK(line_of("h.q/out") == "model.py:12: return self.q(x)");  // not the line that calls what holds it
    CHECK(line_of("h.q/in.input") == "model.py:12: return self.q(x)");
    CHECK(side_of("h.q/out.0")->gave);
    CHECK_FALSE(side_of("h.q/in.input")->gave);
    CHECK_FALSE(side_of("blocks.0.hook_q"));
    CHECK_FALSE(side_of("h/outer"));
    CHECK(line_of("k/out").empty());
    CHECK(line_of("v/out").empty());
    CHECK(line_of("o/out").empty());
    CHECK(line_of("w/out") == "a b.py:3: x [31m");
    CHECK(line_of("z/out") == "no call");
    CHECK(contains(remarks_of(trace), "2 calls of the model in other threads were not recorded"));
}

TEST_CASE("a recorder's file that was cut short opens with what it holds") {
    const TemporaryFolder folder;
    const std::string whole = recorders({"a/out", "b/out", "c/out"});
    write_bytes(folder.file("t.safetensors"), whole.substr(0, whole.size() - 20));
    const Trace trace = open_trace(folder.file("t.safetensors"));
    CHECK(names_of(trace) == std::vector<std::string>{"a/out"});
    CHECK(contains(remarks_of(trace), "truncated: 2 tensors are missing, b/out"));
    // The parameters come first; while they are whole, the file is also a model's.
    const std::string dead = recorders({"param/w", "a/out"});
    write_bytes(folder.file("x.safetensors"), dead.substr(0, dead.size() - 4));
    SafetensorsFile model(folder.file("x.safetensors"));
    model.only_under(kParameterPrefix);
    CHECK(model.names_in_order() == std::vector<std::string>{"w"});
    CHECK(model.floats("w").values()[1] == 2.0F);
    write_bytes(folder.file("y.safetensors"), recorders({"param/v", "param/w"}).substr(0, dead.size() - 4));
    CHECK_THROWS_AS(SafetensorsFile(folder.file("y.safetensors")), Error);
    // What was written behind the last header is no tensor yet.
    write_bytes(folder.file("u.safetensors"), whole + "and more");
    CHECK(open_trace(folder.file("u.safetensors")).tensors.size() == 3);
    write_bytes(folder.file("v.safetensors"), whole.substr(0, 20));
    CHECK(contains(message_of(folder.file("v.safetensors")), "truncated within its header"));
    // Another program's file has no reason to be cut.
    const std::string other = raw_safetensors({{"a", "F32", "[2]", raw<float>({1.0F, 2.0F})}});
    write_bytes(folder.file("w.safetensors"), other.substr(0, other.size() - 4));
    CHECK(contains(message_of(folder.file("w.safetensors")), "truncated"));
}

TEST_CASE("half precision and whole numbers are read as they are") {
    const TemporaryFolder folder;
    write_bytes(folder.file("t.safetensors"),
                raw_safetensors({{"f16", "F16", "[2]", raw<std::uint16_t>({0x3c00, 0xfc00})},
                                 {"bf16", "BF16", "[2]", raw<std::uint16_t>({0x3f80, 0xc000})},
                                 {"f64", "F64", "[1]", raw<double>({0.5})},
                                 {"i64", "I64", "[2]", raw<std::int64_t>({7, -1})},
                                 {"bool", "BOOL", "[2]", raw<std::uint8_t>({0, 1})},
                                 {"f8", "F8_E5M2", "[1]", raw<std::uint8_t>({0x3c})},
                                 {"f8b", "F8_E4M3", "[1]", raw<std::uint8_t>({0x38})}}));
    const Trace trace = open_trace(folder.file("t.safetensors"));
    const auto values = [&](const char* name) {
        const auto all = trace.find(name)->values.values();
        return std::vector<float>(all.begin(), all.end());
    };
    CHECK(values("f16") == std::vector<float>{1.0F, -std::numeric_limits<float>::infinity()});
    CHECK(values("bf16") == std::vector<float>{1.0F, -2.0F});
    CHECK(values("f64") == std::vector<float>{0.5F});
    CHECK(values("i64") == std::vector<float>{7.0F, -1.0F});
    CHECK(values("bool") == std::vector<float>{0.0F, 1.0F});
    CHECK(values("f8") == std::vector<float>{1.0F});
    CHECK(values("f8b") == std::vector<float>{1.0F});
    CHECK(trace.precision() == "BF16");
}

TEST_CASE("ranks are merged, their parts along the axis that the manifest says") {
    const TemporaryFolder folder;
    write_bytes(folder.file("t.manifest.json"), kManifest);
    write_bytes(folder.file("t.rank0-of-2.safetensors"), recorders({"h.q/out", "h/out"}, rank_metadata(0, 2)));
    write_bytes(folder.file("t.rank1-of-2.safetensors"), recorders({"h.q/out", "only/out"}, rank_metadata(1, 2)));
    const Trace trace = open_trace(folder.file("t.manifest.json"));
    CHECK(names_of(trace) == std::vector<std::string>{"h.q/out", "h/out", "only/out"});
    CHECK(trace.tensors[0].shape == std::vector<Index>{2, 4});
    const auto joined = trace.tensors[0].values.values();
    CHECK(std::vector<float>(joined.begin(), joined.end()) == std::vector<float>{1, 2, 1, 2, 3, 0, 3, 0});
    CHECK(trace.tensors[1].shape == std::vector<Index>{2, 2});
}

TEST_CASE("parts are joined in the order of their ranks, as torch.cat joins them, whatever the manifest's order") {
    const TemporaryFolder folder;
    write_bytes(folder.file("t.rank0-of-2.safetensors"), recorders({"h.q/out"}, rank_metadata(0, 2), 10.0F));
    write_bytes(folder.file("t.rank1-of-2.safetensors"), recorders({"h.q/out"}, rank_metadata(1, 2), 20.0F));
    const auto joined = [&](const std::string& manifest) {
        write_bytes(folder.file("t.manifest.json"), manifest);
        const Trace trace = open_trace(folder.file("t.manifest.json"));
        const auto values = trace.tensors.at(0).values.values();
        return std::vector<float>(values.begin(), values.end());
    };
    const auto along = [&](const std::string& ranks, int axis) {
        return R"({"format": "decoderscope-trace 1", "world_size": 2, "ranks": [)" + ranks +
               R"(], "shards": [{"tensors": "*.q/out", "axis": )" + std::to_string(axis) + "}]}";
    };
    const std::string first = R"({"rank": 0, "file": "t.rank0-of-2.safetensors"})";
    const std::string second = R"({"rank": 1, "file": "t.rank1-of-2.safetensors"})";
    // torch.cat([[[10, 11], [12, 0]], [[20, 21], [22, 0]]], dim)
    for (const std::string& listed : {first + ", " + second, second + ", " + first}) {
        INFO(listed);
        CHECK(joined(along(listed, 1)) == std::vector<float>{10, 11, 20, 21, 12, 0, 22, 0});
        CHECK(joined(along(listed, 0)) == std::vector<float>{10, 11, 12, 0, 20, 21, 22, 0});
    }
}

TEST_CASE("a missing rank is named", "[posix]") {
    const TemporaryFolder folder;
    write_bytes(folder.file("t.manifest.json"), kManifest);
    write_bytes(folder.file("t.rank1-of-2.safetensors"), recorders({"h.q/out"}, rank_metadata(1, 2)));
    const Trace trace = open_trace(folder.file("t.manifest.json"));
    CHECK(trace.tensors[0].shape == std::vector<Index>{2, 2});
    CHECK(contains(remarks_of(trace), "missing ranks: 0"));
    std::filesystem::remove(folder.file("t.rank1-of-2.safetensors"));
    CHECK(contains(message_of(folder.file("t.manifest.json")), "none of its 2 files is there"));
}

TEST_CASE("a manifest that lies is refused") {
    const TemporaryFolder folder;
    const auto with = [&](const std::string& from, const std::string& to) {
        std::string text = kManifest;
        text.replace(text.find(from), from.size(), to);
        write_bytes(folder.file("t.manifest.json"), text);
        return message_of(folder.file("t.manifest.json"));
    };
    write_bytes(folder.file("t.rank0-of-2.safetensors"), recorders({"h.q/out"}, rank_metadata(0, 2)));
    write_bytes(folder.file("t.rank1-of-2.safetensors"), recorders({"h.q/out"}, rank_metadata(0, 2)));
    CHECK(contains(with("\"axis\": -1", "\"axis\": -1"),
                   "says that it is rank 0 of 2, but the manifest has it as rank 1"));
    write_bytes(folder.file("t.rank1-of-2.safetensors"), recorders({"h.q/out"}, rank_metadata(1, 2)));
    CHECK(contains(with("\"axis\": -1", "\"axis\": 5"), "along axis 5, but it has 2 axes"));
    CHECK(contains(with("\"world_size\": 2", "\"world_size\": 3"), "2 files for a world_size of 3"));
    CHECK(contains(with("t.rank1-of-2.safetensors", "../t.safetensors"), "in the same folder"));
    CHECK(contains(with("\"rank\": 1", "\"rank\": 0"), "each from 0 to 1 once"));
    // Parts that don't fit beside each other.
    std::string header =
        R"({"__metadata__": {"format": "decoderscope-trace 1", "finished": "yes", "rank": "1", "world_size": "2"}, )"
        R"("h.q/out": {"dtype": "F32", "shape": [1, 2], "data_offsets": [0, 8]}})";
    write_bytes(folder.file("t.rank1-of-2.safetensors"), with_header(header, raw<float>({1.0F, 2.0F})));
    CHECK(contains(with("\"axis\": -1", "\"axis\": -1"), "not a shard along axis -1"));
}

TEST_CASE("pickles are never read, and the refusal says how to save instead") {
    const TemporaryFolder folder;
    for (const char* name : {"cache.pt", "cache.pkl", "cache.bin"}) {
        write_bytes(folder.file(name), "whatever");
        CHECK(contains(message_of(folder.file(name)), "safetensors.torch.save_file"));
    }
}

TEST_CASE("an .npz of arrays is read without unpacking it") {
    const TemporaryFolder folder;
    const Trace trace = open_trace(DECODERSCOPE_TESTS_DIR "/reference/traces/cache.npz");
    CHECK(names_of(trace) == std::vector<std::string>{"hook_embed", "blocks.0.hook_resid_pre", "steps"});
    CHECK(trace.tensors[0].shape == std::vector<Index>{1, 2, 3});
    CHECK(trace.tensors[0].values.values()[4] == 4.0F);
    CHECK(trace.tensors[1].dtype == "F16");
    CHECK(trace.tensors[1].values.values()[1] == -0.5F);
    CHECK(trace.tensors[2].values.values()[0] == 12.0F);
    CHECK(contains(message_of(DECODERSCOPE_TESTS_DIR "/reference/traces/objects.npz"), "pickled objects"));
    const std::string whole = read_bytes(DECODERSCOPE_TESTS_DIR "/reference/traces/cache.npz");
    for (std::size_t size = 0; size < whole.size(); size += 7) {
        write_bytes(folder.file("cut.npz"), whole.substr(0, size));
        CHECK(!message_of(folder.file("cut.npz")).empty());
    }
}

TEST_CASE("a compressed .npz holds the same, and damage in it is said") {
    const TemporaryFolder folder;
    const Trace plain = open_trace(DECODERSCOPE_TESTS_DIR "/reference/traces/cache.npz");
    const Trace packed = open_trace(DECODERSCOPE_TESTS_DIR "/reference/traces/compressed.npz");
    REQUIRE(names_of(packed) == names_of(plain));
    for (std::size_t i = 0; i < plain.tensors.size(); ++i) {
        CHECK(packed.tensors[i].shape == plain.tensors[i].shape);
        CHECK(std::ranges::equal(packed.tensors[i].values.values(), plain.tensors[i].values.values()));
    }
    const std::string whole = read_bytes(DECODERSCOPE_TESTS_DIR "/reference/traces/compressed.npz");
    for (std::size_t size = 0; size < whole.size(); size += 7) {
        write_bytes(folder.file("cut.npz"), whole.substr(0, size));
        CHECK(!message_of(folder.file("cut.npz")).empty());
    }
    // The second half of the first array's data, and a size in the list of files that no data has.
    std::string damaged = whole;
    for (std::size_t i = 100; i < 120; ++i) damaged[i] = '\xff';
    write_bytes(folder.file("damaged.npz"), damaged);
    CHECK(contains(message_of(folder.file("damaged.npz")), "hook_embed"));
    std::string lying = whole;
    const std::size_t entry = lying.find("PK\x01\x02");
    REQUIRE(entry != std::string::npos);
    lying[entry + 27] = '\x7f';  // 2 GB
    write_bytes(folder.file("lying.npz"), lying);
    CHECK(contains(message_of(folder.file("lying.npz")), "too short for its size"));
}

TEST_CASE("Polygraphy's outputs are read") {
    const Trace trace = open_trace(DECODERSCOPE_TESTS_DIR "/reference/traces/polygraphy.json");
    CHECK(names_of(trace) == std::vector<std::string>{"logits", "hidden"});
    CHECK(trace.tensors[0].shape == std::vector<Index>{2, 2});
    CHECK(trace.tensors[0].values.values()[3] == 4.5F);
    CHECK(contains(remarks_of(trace), "no calls and no parameters"));
}

TEST_CASE("the tree of Hugging Face's model debugger is read with the tensors beside it") {
    const Trace trace = open_trace(DECODERSCOPE_TESTS_DIR "/reference/traces/Small_debug_tree_FULL_TENSORS.json");
    CHECK(names_of(trace) == std::vector<std::string>{"layers.0.q_proj/in.0", "layers.0.q_proj/out"});
    REQUIRE(trace.calls.size() == 3);
    CHECK(trace.calls[2].module == "layers.0.q_proj");
    CHECK(trace.find("layers.0.q_proj/out")->values.values()[1] == 2.0F);
    CHECK(contains(remarks_of(trace), "1 tensor was printed"));
}

TEST_CASE("a trace of 10 GB opens without being read", "[native]") {
    const TemporaryFolder folder;
    const std::string path = folder.file("large.safetensors");
    constexpr std::uint64_t kTensors = 160, kBytes = 64ULL << 20;
    std::string header = R"({"__metadata__": {"format": "decoderscope-trace 1", "finished": "yes"})";
    for (std::uint64_t i = 0; i < kTensors; ++i)
        header += ", \"h." + std::to_string(i) +
                  R"(/out": {"dtype": "F16", "shape": [1, 4096, 8192], "data_offsets": [)" +
                  std::to_string(i * kBytes) + ", " + std::to_string((i + 1) * kBytes) + "]}";
    header += "}";
    write_bytes(path, with_header(header));
    std::filesystem::resize_file(path, 8 + header.size() + kTensors * kBytes);  // a hole: nothing is on the disk
    const Trace trace = open_trace(path);
    REQUIRE(trace.tensors.size() == kTensors);
    CHECK(!trace.tensors.back().values.is_ready());
}
