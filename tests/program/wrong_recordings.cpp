#include "tests/engine/raw_safetensors.h"
#include "tests/program/wrong_files.h"

#include <cstdint>
#include <optional>
#include <utility>

namespace decoderscope::testing {

namespace {

Wrong opened(std::string says, const std::string& name, const std::string& bytes, Files files = {}) {
    files[name] = bytes;
    return {std::move(says), std::move(files), {"open", "HERE/" + name}};  // it is wrong before the window opens
}

// ---- NumPy's files

std::string npy(const std::string& dictionary, const std::string& data) {
    return "\x93NUMPY" + std::string("\1\0", 2) + raw<std::uint16_t>({static_cast<std::uint16_t>(dictionary.size())}) +
           dictionary + data;
}

// How a file lies in a zip.
struct Packed {
    std::string bytes;
    std::uint16_t method = 0;                    // stored
    std::uint64_t size = 0;                      // unpacked; 0: as many bytes as there are
    std::optional<std::uint32_t> checksum = {};  // of what is stored, if it isn't said
};

// CRC-32, bit by bit.
std::uint32_t checksum_of(const std::string& bytes) {
    std::uint32_t sum = ~0U;
    for (const char byte : bytes) {
        sum ^= static_cast<unsigned char>(byte);
        for (int bit = 0; bit < 8; ++bit) sum = (sum >> 1U) ^ ((sum & 1U) * 0xedb88320U);
    }
    return ~sum;
}

// A zip file as it is put together, which may list what it doesn't hold.
class Zip {
public:
    // `listed`: its name in the list, if it is another.
    Zip& file(const std::string& name, const Packed& file, const std::string& listed = {}) {
        const std::size_t at = bytes_.size();
        const std::string sizes = sizes_of(name, file);
        bytes_ += raw<std::uint32_t>({0x04034b50U}) + raw<std::uint16_t>({20, 0, file.method, 0, 0}) + sizes +
                  raw<std::uint16_t>({0}) + name + file.bytes;
        return list(listed.empty() ? name : listed, file, at);
    }
    // One more entry of its list, for what begins there.
    Zip& list(const std::string& name, const Packed& file, std::size_t at) {
        const bool huge = file.size > 0xfffffffeU;  // then the size stands behind the name
        const std::string extra = huge ? raw<std::uint16_t>({1, 8}) + raw<std::uint64_t>({file.size}) : "";
        list_ += raw<std::uint32_t>({0x02014b50U}) + raw<std::uint16_t>({20, 20, 0, file.method, 0, 0}) +
                 sizes_of(name, file) + raw<std::uint16_t>({static_cast<std::uint16_t>(extra.size()), 0, 0, 0}) +
                 raw<std::uint32_t>({0, static_cast<std::uint32_t>(at)}) + name + extra;
        ++entries_;
        return *this;
    }
    // `entries`: how many its end says, if it says another number.
    [[nodiscard]] std::string bytes(std::optional<std::uint16_t> entries = {}) const {
        const auto size = static_cast<std::uint32_t>(list_.size()), at = static_cast<std::uint32_t>(bytes_.size());
        return bytes_ + list_ + raw<std::uint32_t>({0x06054b50U}) +
               raw<std::uint16_t>({0, 0, entries.value_or(entries_), entries.value_or(entries_)}) +
               raw<std::uint32_t>({size, at}) + raw<std::uint16_t>({0});
    }

private:
    static std::string sizes_of(const std::string& name, const Packed& file) {
        const auto packed = static_cast<std::uint32_t>(file.bytes.size());
        const auto size = file.size > 0xfffffffeU ? 0xffffffffU
                          : file.size == 0        ? packed
                                                  : static_cast<std::uint32_t>(file.size);
        return raw<std::uint32_t>({file.checksum.value_or(checksum_of(file.bytes)), packed, size}) +
               raw<std::uint16_t>({static_cast<std::uint16_t>(name.size())});
    }

    std::string bytes_, list_;
    std::uint16_t entries_ = 0;
};

std::string zip(const std::string& name, const Packed& file) { return Zip().file(name, file).bytes(); }

Wrong array(std::string says, const std::string& dictionary, const std::string& data = std::string(16, '\0')) {
    return opened(std::move(says), "a.npz", zip("a.npy", {npy(dictionary, data)}));
}

// ---- the recorder's files

// A rank's file with one tensor, h.q/out.
std::string rank_file(int rank, const std::string& shape = "[2, 2]", std::size_t numbers = 4) {
    return with_header(R"({"__metadata__": {"format": "decoderscope-trace 1", "finished": "yes", "rank": ")" +
                           std::to_string(rank) + R"(", "world_size": "2"}, "h.q/out": {"dtype": "F32", "shape": )" +
                           shape + R"(, "data_offsets": [0, )" + std::to_string(4 * numbers) + "]}}",
                       std::string(4 * numbers, '\0'));
}

const std::string kManifest = R"({"format": "decoderscope-trace 1", "world_size": 2,
    "ranks": [{"rank": 0, "file": "0.safetensors"}, {"rank": 1, "file": "1.safetensors"}],
    "shards": [{"tensors": "*", "axis": 0}]})";

Wrong manifest(std::string says, const std::string& pointer, const std::string& value,
               const Files& files = {{"0.safetensors", rank_file(0)}, {"1.safetensors", rank_file(1)}}) {
    return opened(std::move(says), "m.json", with(kManifest, pointer, value), files);
}

Wrong recorder(std::string says, const std::string& metadata) {
    return opened(std::move(says), "a.safetensors",
                  with_header(R"({"__metadata__": {"format": "decoderscope-trace 1", )" + metadata + "}}"));
}

}  // namespace

std::vector<Wrong> wrong_recordings() {
    const std::string floats = R"({'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), })";
    const std::string array_of_four = npy(floats, std::string(16, '\0'));
    const std::string well = zip("a.npy", {array_of_four});
    const std::string list_at = raw<std::uint32_t>({0x02014b50U});
    std::string damaged = well;
    damaged.replace(damaged.find(list_at), 4, "oops");
    const std::string of_400_mb = Zip()
                                      .file("a", {std::string(210'000, 'x'), 8, 200U << 20U})
                                      .file("b", {std::string(210'000, 'x'), 8, 200U << 20U})
                                      .bytes();
    const std::string leaf =
        R"({"module_path": "M", "outputs": {"shape": "[2]", "value": "t.safetensors"}, "children": []})";
    return {
        opened(
            "HERE/a.pt: pickled by Python, and a pickle is a program, which isn't run here; expected safetensors, "
            "which a dictionary of tensors (nnsight's cache too) is saved as by safetensors.torch.save_file({{str(k): "
            "v.contiguous() for k, v in cache.items()}}, \"trace.safetensors\")",
            "a.pt", "\x80\x02."),
        opened("HERE/a.json: expected a recorder's manifest, the tree of Hugging Face's model debugger "
               "(…_FULL_TENSORS.json), Polygraphy's outputs or msProbe's dump.json",
               "a.json", "{}"),
        opened("HERE/a.json: data: missing; expected msProbe's calls by their names", "a.json",
               R"({"data_name": "x.npy"})"),
        opened("HERE/a.json: no .npy file of a forward call; expected them in dump_tensor_data/ (those that end in .pt "
               "are pickles, which are not read: numpy.save(name + \".npy\", torch.load(name + \".pt\").numpy()) "
               "converts one, and \"data_name\" says its name)",
               "a.json", R"({"data": {"Torch.matmul.0.forward": {"output": [{"data_name": "x.pt"}]}}})"),
        opened("HERE/a.safetensors: 3 bytes, expected a safetensors file: not one, or truncated within its header",
               "a.safetensors", "abc"),
        opened("HERE/a.safetensors: holds no tensor of a type that is read", "a.safetensors",
               with_header(R"({"a": {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]}})")),
        recorder("HERE/a.safetensors: calls: expected a list", R"("calls": "{}")"),
        {"HERE/0.safetensors: was recorded without parameters, so it is no model; expected a model, or a recording "
         "that "
         "has them",
         {{"0.safetensors", rank_file(0)}},
         {"trace", "HERE/0.safetensors", "--out", "HERE/out.safetensors"}},
        recorder("HERE/a.safetensors: holds no tensor: the recorded program ended before the recording did: this is "
                 "what was written until then",
                 R"("finished": "no")"),
        recorder("HERE/a.safetensors: it holds hashes in place of tensors, expected their numbers; python3 record.py "
                 "compares it with another recording, and says where the two part",
                 R"("finished": "yes", "hashed": "{}")"),
        manifest("HERE/m.json: format: expected \"decoderscope-trace 1\"", "/format", R"("another")"),
        manifest("HERE/m.json: ranks: 2 files for a world_size of 3", "/world_size", "3"),
        manifest("HERE/m.json: ranks: rank 0, expected each from 0 to 1 once", "/ranks/1/rank", "0"),
        manifest("HERE/m.json: ranks: ../1.safetensors: expected the name of a file in the same folder",
                 "/ranks/1/file", R"("../1.safetensors")"),
        manifest("HERE/m.json: shards: expected objects with tensors, a pattern, and axis, a number", "/shards/0/axis",
                 R"("first")"),
        manifest("HERE/m.json: h.q/out: shards along axis 5, but it has 2 axes", "/shards/0/axis", "5"),
        manifest("HERE/m.json: none of its 2 files is there", "/world_size", "2", {}),
        manifest("HERE/m.json: HERE/1.safetensors: says that it is rank 0 of 2, but the manifest has it as rank 1 of 2",
                 "/world_size", "2", {{"0.safetensors", rank_file(0)}, {"1.safetensors", rank_file(0)}}),
        manifest(
            "HERE/m.json: h.q/out: a rank has shape [2, 3], which is not a shard along axis 0 of the others' [2, 2]",
            "/shards/0/axis", "0", {{"0.safetensors", rank_file(0)}, {"1.safetensors", rank_file(1, "[2, 3]", 6)}}),
        opened("HERE/a.npz: truncated, or not an .npz", "a.npz", "abc"),
        opened("HERE/a.npz: truncated, or not an .npz: a zip's list of files is missing", "a.npz",
               std::string(100, 'x')),
        opened("HERE/a.npz: a zip's list of files is damaged", "a.npz", damaged),
        opened("HERE/a.npz: a zip's list of files is damaged", "a.npz", well.substr(40)),
        opened("HERE/a.npz: a: expected NumPy's .npy format", "a.npz", zip("a.npy", {"not NumPy's", 0, 0})),
        opened("HERE/a.npz: a: truncated within its .npy header", "a.npz",
               zip("a.npy", {npy(floats, "").substr(0, 20), 0, 0})),
        opened("HERE/a.npz: a: compressed by another method than numpy.savez_compressed's", "a.npz",
               zip("a.npy", {"abc", 12, 3})),
        opened("HERE/a.npz: a: its compressed data is damaged", "a.npz", zip("a.npy", {"abc", 8, 100})),
        opened("HERE/a.npz: a: its compressed data is too short for its size", "a.npz",
               zip("a.npy", {"abc", 8, 1000000})),
        opened("HERE/a.npz: a: its compressed data is too short for its size", "a.npz",
               zip("a.npy", {"abc", 8, ~std::uint64_t{0}})),
        opened("HERE/a.npz: b: unpacked, it and those before it take more than a hundred times the file's " +
                   std::to_string(of_400_mb.size()) + " bytes",
               "a.npz", of_400_mb),
        opened("HERE/a.npz: a: damaged: its checksum isn't the one that was stored with it", "a.npz",
               zip("a.npy", {array_of_four, 0, 0, 7U})),
        opened("HERE/a.npz: a: stored twice, expected once", "a.npz",
               Zip().file("a.npy", {array_of_four}).file("b.npy", {array_of_four}).file("a.npy", {""}).bytes()),
        opened("HERE/a.npz: a: stored twice, expected once", "a.npz",
               Zip().file("a.npy", {array_of_four}).file("a", {array_of_four}).bytes()),
        opened("HERE/a.npz: b: shares bytes with a, expected its own", "a.npz",
               Zip().file("a.npy", {array_of_four}).list("b.npy", {array_of_four}, 0).bytes()),
        opened("HERE/a.npz: b: has another name where it is stored", "a.npz",
               Zip().file("a.npy", {array_of_four}, "b.npy").bytes()),
        opened("HERE/a.npz: a zip's list of files is damaged", "a.npz",
               Zip().file("a.npy", {array_of_four}).file("b.npy", {array_of_four}).bytes(std::uint16_t{1})),
        opened("HERE/a.npz: a zip's list of files is damaged", "a.npz", zip("a.npy", {array_of_four, 0, 7})),
        array("HERE/a.npz: a: 'descr': missing in the .npy header", R"({'fortran_order': False, 'shape': (2, 2), })"),
        array("HERE/a.npz: a: 'shape': missing in the .npy header",
              R"({'descr': '<f4', 'fortran_order': False, }           )"),
        array("HERE/a.npz: a: the .npy header has an unknown key, ?[31mhidden \"shape\"",
              "{'\x1b[31mhidden \"shape\"': (2, 2)}"),
        array("HERE/a.npz: a: shape: given twice, expected once",
              R"({'descr': '<f4', 'shape': (4, 1), 'fortran_order': False, 'shape': (2, 2), })"),
        array("HERE/a.npz: a: the .npy header is {'descr': '<f4', 'fortran_order': 0, 'shape': (2, 2), }, expected a "
              "dictionary of descr, fortran_order and shape",
              R"({'descr': '<f4', 'fortran_order': 0, 'shape': (2, 2), })"),
        array("HERE/a.npz: a: the .npy header is {'descr': '<f4', 'fortran_order': False, 'shape': (2, 2)} + more, "
              "expected a dictionary of descr, fortran_order and shape",
              R"({'descr': '<f4', 'fortran_order': False, 'shape': (2, 2)} + more)"),
        array("HERE/a.npz: a: records of several fields; expected numbers of one type",
              R"({'descr': [('x', '<f4'), ('y', '<f4')], 'fortran_order': False, 'shape': (2, ), })"),
        opened("HERE/a.npz: a: version 9 of NumPy's .npy format, expected 1 to 3", "a.npz",
               zip("a.npy", {"\x93NUMPY\x09" + array_of_four.substr(7)})),
        array("HERE/a.npz: a: pickled objects, which are not read; expected numbers",
              R"({'descr': '|O', 'fortran_order': False, 'shape': (2, 2), })"),
        array("HERE/a.npz: a: descr '>f4' is not supported; expected little-endian floats or integers",
              R"({'descr': '>f4', 'fortran_order': False, 'shape': (2, 2), })"),
        array("HERE/a.npz: a: shape: expected a tuple", R"({'descr': '<f4', 'fortran_order': False, 'shape': 4, })"),
        array("HERE/a.npz: a: shape: expected at most 8 sizes",
              R"({'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 1, 1, 1, 1, 1, 2, 2), })"),
        array("HERE/a.npz: a: stored column by column (Fortran order); expected rows, as numpy.ascontiguousarray gives "
              "them",
              R"({'descr': '<f4', 'fortran_order': True, 'shape': (2, 2), })"),
        array("HERE/a.npz: a: 16 bytes of numbers, expected 24 for its shape",
              R"({'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), })"),
        opened("HERE/a.json: no outputs; expected what polygraphy run --save-outputs writes", "a.json",
               R"({"polygraphy": 1, "a": {}})"),
        opened("HERE/a.json: lst: expected [[runner, [results]]]", "a.json", R"({"polygraphy": 1, "lst": [[]]})"),
        opened("HERE/a.json: a: expected Base64", "a.json",
               R"({"polygraphy": 1, "outputs": {"a": {"values": {"array": "!!"}}}})"),
        opened("HERE/a.json: module_path: missing", "a.json", R"({"tree": {"module_path": "M"}})"),
        opened("HERE/a.json: no full tensors; expected a dump of model_addition_debugger_context(model, debug_path=…, "
               "do_prune_layers=False, use_repr=False), its _FULL_TENSORS.json",
               "a.json", R"({"module_path": "M"})"),
        opened("HERE/a.json: t.safetensors: 2 tensors, expected one", "a.json", leaf,
               {{"t.safetensors", zeros({{"a", {2}}, {"b", {2}}})}}),
    };
}

}  // namespace decoderscope::testing
