#include "engine/load/checkpoint.h"

#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/base/message.h"
#include "engine/files/packed_numbers.h"
#include "engine/files/stored_numbers.h"
#include "engine/load/recorded_run.h"
#include "engine/platform/process.h"
#include "engine/trace/recorded_file.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <limits>
#include <utility>

namespace decoderscope::load {

StoredParameters::StoredParameters(std::shared_ptr<const Checkpoint> checkpoint, const std::vector<StoredRows>& rows)
    : checkpoint_(std::move(checkpoint)) {
    for (const StoredRows& part : rows)
        if (checkpoint_->is_packed(part.from)) rows_.emplace(part.name, part);
}

std::optional<packed::StoredNumber> StoredParameters::at(const std::string& parameter, Index number,
                                                         Index columns) const {
    const auto [begin, end] = rows_.equal_range(parameter);
    for (auto entry = begin; entry != end; ++entry) {
        const StoredRows& part = entry->second;
        // All experts' matrices, stored as they are, are a row each.
        const Index width = std::max(columns, part.columns);
        const Index row = number / width - part.at, column = number % width - part.column;
        if (row < 0 || row >= part.rows || column < 0 || column >= part.columns) continue;
        const Index stored_row = part.first + row * part.step;
        const Index stored =
            part.offset + (part.turned ? column * part.stride + stored_row : stored_row * part.stride + column);
        return checkpoint_->stored_number(part.from, stored);
    }
    return std::nullopt;
}

namespace {

namespace fs = std::filesystem;

// The files of a folder that pass a test, sorted by name.
template <class Passes>
std::vector<fs::path> files_of(const fs::path& folder, Passes passes) {
    std::error_code failed;
    std::vector<fs::path> found;
    constexpr int kMostEntries = 10'000;
    int entries = 0;
    for (fs::directory_iterator at(folder, failed), end; !failed && at != end && entries < kMostEntries;
         at.increment(failed), ++entries)
        if (passes(at->path()) && !leads_to_folder(at->path())) found.push_back(at->path());
    std::ranges::sort(found);
    return found;
}

// Text as a Python string, in quotes of either sort.
std::string python_string(const std::string& text, char quote) {
    std::string quoted(1, quote);
    for (const char c : text) {
        if (c == quote || c == '\\') quoted += '\\';
        if (c == '\n')
            quoted += "\\n";
        else
            quoted += c;
    }
    return quoted + quote;
}

std::string conversion(const fs::path& path, char quote = '"') {
    fs::path to = path;
    to.replace_extension(".safetensors");
    const auto quoted = [&](const std::string& text) { return python_string(text, quote); };
    return "import torch, safetensors.torch  # pip install safetensors\n"
           "state = torch.load(" +
           quoted(path.string()) + ", map_location=" + quoted("cpu") + ", weights_only=True); state = state.get(" +
           quoted("model") + ", state.get(" + quoted("state_dict") + ", state))\n" +
           "safetensors.torch.save_file({k: v.clone().contiguous() for k, v in state.items() if torch.is_tensor(v)}, " +
           quoted(to.string()) + ")\n";
}

// As above, as one shell command.
std::string command_to_convert(const fs::path& path) {
    const platform::PythonCommand shell = platform::python_command();
    std::string python = conversion(path, shell.quote_within);
    for (std::size_t at = python.find("  #"); at != std::string::npos; at = python.find("  #"))
        python.erase(at, python.find('\n', at) - at);
    python.pop_back();  // the last newline
    for (std::size_t at = python.find('\n'); at != std::string::npos; at = python.find('\n', at))
        python.replace(at, 1, "; ");
    std::string quoted;
    for (const char c : python) quoted += c == shell.quote ? std::string("'\\''") : std::string(1, c);
    return shell.begins + (shell.quote + quoted) + shell.quote;
}

// How many numbers are NaN or infinite: those whose exponent has every bit set.
std::size_t count_non_finite(std::span<const float> values) {
    constexpr std::uint32_t kExponent = 0x7f800000U;
    std::uint32_t count = 0;  // of one chunk, so it fits
    for (const float value : values) count += (std::bit_cast<std::uint32_t>(value) & kExponent) == kExponent ? 1U : 0U;
    return count;
}

// The file of a folder that holds the weights, or their index; the usual name if neither exists.
fs::path weights_in(const fs::path& folder) {
    for (const char* name : {kWeightsFile, kWeightsIndex})
        if (is_there(folder / name)) return folder / name;
    const std::vector<fs::path> weights = files_of(folder, [](const fs::path& file) {
        return file.extension() == ".safetensors" && file.filename() != "inputs.safetensors";
    });
    if (weights.size() == 1) return weights.front();
    const std::vector<fs::path> whole =
        files_of(folder, [](const fs::path& file) { return file.extension() == kGgufEnding; });
    if (weights.empty() && whole.size() == 1) return whole.front();
    const std::vector<fs::path> pickled = files_of(folder, is_pickled);
    if (weights.empty() && !pickled.empty()) throw NeedsConversion(pickled.front().string());
    return folder / kWeightsFile;
}

// Which file of an index holds each tensor.
std::map<std::string, std::string> weight_map(const fs::path& index) {
    const std::string text = text_of_file(index);
    return naming(index.string(), [&] {
        const nlohmann::json json = parse_json(text, message("an index of tensors"));
        if (!json.is_object() || !json.contains("weight_map") || !json["weight_map"].is_object())
            throw Error("weight_map: missing; expected an object of tensor names and their files");
        std::map<std::string, std::string> map;
        for (const auto& [name, file] : json["weight_map"].items()) {
            const std::string in = file.is_string() ? file.get<std::string>() : std::string();
            if (in.empty() || in != fs::path(in).filename().string() || in == "..")
                throw Error("weight_map: {name}: expected the name of a file in the same folder", {{"name", name}});
            map.emplace(name, in);
        }
        return map;
    });
}

}  // namespace

NeedsConversion::NeedsConversion(const std::string& path)
    : Error("{path}: pickled by Python, expected safetensors; this writes them: {command}",
            {{"path", path}, {"command", command_to_convert(path)}}),
      problem_(message("{path}: pickled by Python, expected safetensors", {{"path", path}})),
      python_(conversion(path)) {}

Checkpoint::Checkpoint(const fs::path& path)
    : is_folder_(leads_to_folder(path)), folder_(is_folder_ ? path : path.parent_path()) {
    if (is_pickled(path) && is_there(path)) throw NeedsConversion(path.string());
    const fs::path file = is_folder_ ? weights_in(path) : path;
    if (file.filename() == kWeightsIndex)
        open_index(file);
    else if (file.extension() == kGgufEnding)
        open_gguf(file);
    else
        open(file);
    find_scales();
}

const SafetensorsFile& Checkpoint::file_of(const std::string& name) const {
    return *std::ranges::find_if(files_, [&](const SafetensorsFile& file) { return file.contains(stored_as(name)); });
}

// gpt-oss' MXFP4, NAME_blocks U8 […, block, 16] and NAME_scales U8 […, block], and DeepSeek-V3's NAME F8_E4M3 with
// NAME_scale_inv.
void Checkpoint::find_scales() {
    constexpr std::string_view kBlocks = "_blocks", kScales = "_scales", kInverse = "_scale_inv";
    const names::Shapes stored = shapes_;
    const auto dtype_of = [&](const std::string& name) { return file_of(name).entries().find(name)->second.dtype; };
    for (const auto& [name, shape] : stored) {
        const bool packs = name.ends_with(kBlocks), scaled = stored.contains(name + std::string(kInverse));
        const std::string scales = packs    ? name.substr(0, name.size() - kBlocks.size()) + std::string(kScales)
                                   : scaled ? name + std::string(kInverse)
                                            : std::string();
        const auto found = stored.find(scales);
        if (found == stored.end()) continue;
        const auto expect = [&](const std::string& tensor, const std::string& dtype) {
            if (dtype_of(tensor) != dtype)
                throw Error(
                    "{file}: {tensor}: dtype {found}, expected {expected} of numbers with scales",
                    {{"file", weights_path_}, {"tensor", tensor}, {"found", dtype_of(tensor)}, {"expected", dtype}});
        };
        expect(name, packs ? "U8" : "F8_E4M3");
        if (packs) expect(scales, "U8");
        std::vector<Index> expected = shape, expanded = shape;
        bool fits = packs ? shape.size() > 1 && shape.back() == packed::kMxfp4Bytes : shape.size() == 2;
        if (fits && packs) {
            expected.pop_back();
            expanded.pop_back();
            expanded.back() *= packed::kMxfp4Numbers;
        }
        if (fits && !packs)
            for (Index& size : expected) size = (size + packed::kScaledBlock - 1) / packed::kScaledBlock;
        if (!fits || found->second != expected)
            throw Error("{file}: {scales}: shape {shape}, expected {expected} for {name} of {stored}",
                        {{"file", weights_path_},
                         {"scales", scales},
                         {"shape", shape_text(found->second)},
                         {"expected", shape_text(expected)},
                         {"name", name},
                         {"stored", shape_text(shape)}});
        shapes_[name] = expanded;
        shapes_.erase(scales);
        scales_.emplace(name, scales);
    }
}

Tensor Checkpoint::read_tensor(const SafetensorsFile& file, const std::string& name,
                               const SafetensorsFile::Watch& watch, Tensor* room) const {
    if (const auto one = adapters_.find(name); one != adapters_.end()) {
        const trace::Adapter& adapter = one->second;
        return trace::merged(file.floats(adapter.weight, watch, nullptr), file.floats(adapter.down, {}, nullptr),
                             file.floats(adapter.up, {}, nullptr), adapter.scale);
    }
    const auto scales = scales_.find(name);
    if (scales == scales_.end()) return file.floats(stored_as(name), watch, room);
    const SafetensorsFile& beside = file_of(scales->second);
    return naming(file.path() + ": " + scales->second, [&] {
        const std::vector<Index>& shape = shapes_.find(name)->second;
        if (!name.ends_with("_blocks")) {
            Tensor matrix = file.floats(name, watch, room);
            packed::scale_blocks(matrix.writable(), shape[1], beside.floats(scales->second).values());
            return matrix;
        }
        Tensor expanded(unnamed(shape));
        const std::span<const char> blocks = file.bytes(name);
        packed::expand_mxfp4(blocks, beside.bytes(scales->second), expanded.writable());
        if (watch) watch(expanded.values(), blocks.size());
        return expanded;
    });
}

Tensor Checkpoint::tensor(const std::string& name) const {
    return gguf_ ? gguf_->floats(name, {}, nullptr) : read_tensor(file_of(name), name, {}, nullptr);
}

bool Checkpoint::is_packed(const std::string& name) const {
    if (!gguf_) return scales_.contains(name);
    const auto found = gguf_->entries().find(name);
    return found != gguf_->entries().end() && found->second.type->stored != nullptr;
}

bool Checkpoint::has_packed() const {
    return std::ranges::any_of(shapes_, [&](const auto& entry) { return is_packed(entry.first); });
}

std::optional<packed::StoredNumber> Checkpoint::stored_number(const std::string& name, Index at) const {
    if (!is_packed(name)) return std::nullopt;
    if (gguf_) return gguf_->stored_number(name, at);
    const std::string& scales = scales_.find(name)->second;
    const SafetensorsFile& beside = file_of(scales);
    const std::span<const char> codes = file_of(name).bytes(name);
    if (name.ends_with("_blocks")) {
        const auto byte = static_cast<unsigned>(static_cast<unsigned char>(codes[static_cast<std::size_t>(at / 2)]));
        const auto scale = beside.bytes(scales)[static_cast<std::size_t>(at / packed::kMxfp4Numbers)];
        return packed::StoredNumber{packed::fp4(at % 2 == 0 ? byte & 15U : byte >> 4U),
                                    packed::power_of_two(static_cast<unsigned char>(scale))};
    }
    packed::StoredNumber stored;
    dtype_named("F8_E4M3")->convert(codes.data() + at, std::span(&stored.number, 1));
    const Index columns = shapes_.find(name)->second[1], side = packed::kScaledBlock;
    const Index across = (columns + side - 1) / side;
    stored.scale =
        beside.floats(scales).values()[static_cast<std::size_t>(at / columns / side * across + at % columns / side)];
    return stored;
}

void Checkpoint::open(const fs::path& file) {
    if (weights_path_.empty()) weights_path_ = file.string();
    SafetensorsFile& opened = files_.emplace_back(file.string());
    const bool is_recorded =
        opened.only_under(kParameterPrefix);  // a recorded file holds a model's parameters among what it computed
    for (const auto& [name, entry] : opened.entries())
        if (!shapes_.emplace(name, entry.shape).second)
            throw Error("{file}: {name}: in another file, too; expected it once",
                        {{"file", file.string()}, {"name", name}});
    if (file.extension() != ".safetensors" || !is_recording(file.string())) return;
    if (!is_recorded)
        throw Error(
            "{file}: was recorded without parameters, so it is no model; expected a model, or a recording that has "
            "them",
            {{"file", file.string()}});
    for (trace::Adapter& adapter : trace::adapters_of(trace::sources::recorded_file(file.string()).trace)) {
        for (const auto& [stored, last] : {std::pair(adapter.weight, ".weight"), {adapter.bias, ".bias"}})
            if (auto shape = shapes_.extract(stored); !shape.empty()) {
                shape.key() = adapter.module + last;
                stored_as_.emplace(shape.key(), stored);
                shapes_.insert(std::move(shape));
            }
        shapes_.erase(adapter.down);
        shapes_.erase(adapter.up);
        adapters_.emplace(adapter.module + ".weight", std::move(adapter));
    }
}

const std::string& Checkpoint::stored_as(const std::string& name) const {
    const auto found = stored_as_.find(name);
    return found == stored_as_.end() ? name : found->second;
}

void Checkpoint::open_index(const fs::path& index) {
    weights_path_ = index.string();
    const std::map<std::string, std::string> map = weight_map(index);
    std::set<std::string> files;
    for (const auto& [name, file] : map) files.insert(file);
    for (const std::string& file : files) open(index.parent_path() / file);
    for (const auto& [name, file] : map)
        if (!shapes_.contains(name))
            throw Error("{index}: {name}: is not in {file}, although the index says so",
                        {{"index", index.string()}, {"name", name}, {"file", file}});
}

void Checkpoint::open_gguf(const fs::path& file) {
    weights_path_ = file.string();
    gguf_.emplace(weights_path_);
    for (const auto& [name, tensor] : gguf_->entries()) shapes_.emplace(name, tensor.shape);
}

std::vector<std::string> Checkpoint::files() const {
    std::vector<std::string> paths;
    if (gguf_) paths.push_back(gguf_->path());
    for (const SafetensorsFile& file : files_) paths.push_back(file.path());
    return paths;
}

void Checkpoint::check_types(const Assembly& assembly) const {
    for (const SafetensorsFile& file : files_)
        for (const auto& [name, entry] : file.entries())
            if (assembly.wants(name) && !scales_.contains(name)) file.check_floats(name);
}

Arithmetic Checkpoint::arithmetic() const {
    std::array<Index, kArithmetics.size()> counts = {};  // of numbers, by type
    Index all = 0;
    for (const SafetensorsFile& file : files_)
        for (const auto& [name, entry] : file.entries()) {
            const Index count = element_count(unnamed(entry.shape));
            all += count;
            if (entry.dtype == "BF16") counts[static_cast<std::size_t>(Arithmetic::bfloat16)] += count;
            if (entry.dtype == "F16") counts[static_cast<std::size_t>(Arithmetic::float16)] += count;
        }
    for (const Arithmetic type : {Arithmetic::bfloat16, Arithmetic::float16})
        if (2 * counts[static_cast<std::size_t>(type)] > all) return type;
    return Arithmetic::float32;
}

std::uint64_t Checkpoint::bytes_as_floats(const Assembly& assembly) const {
    std::uint64_t bytes = 0;
    for (const auto& [name, shape] : shapes_) {
        if (!assembly.wants(name) || (!gguf_ && !scales_.contains(name))) continue;
        bytes += static_cast<std::uint64_t>(element_count(unnamed(shape))) * sizeof(float);
    }
    return bytes;
}

// A number becomes infinite or NaN through its scale or, in FP8, by itself.
std::size_t Checkpoint::count_non_finite_packed(const std::string& name) const {
    if (gguf_) return packed::count_non_finite(*gguf_->entries().find(name)->second.type, gguf_->blocks(name));
    const std::string& scales = scales_.find(name)->second;
    const SafetensorsFile& file = file_of(name);
    return naming(file.path() + ": " + scales, [&]() -> std::size_t {
        if (name.ends_with("_blocks")) {
            constexpr unsigned kMayOverflow = 253;  // 2^126 · 6 is infinite
            const std::span<const char> bytes = file_of(scales).bytes(scales);
            packed::check_mxfp4_scales(bytes);
            const bool ordinary =
                std::ranges::all_of(bytes, [](char byte) { return static_cast<unsigned char>(byte) < kMayOverflow; });
            return ordinary ? 0 : count_non_finite(tensor(name).values());
        }
        const Tensor by_block = file_of(scales).floats(scales);
        packed::check_block_scales(shapes_.find(name)->second[1], by_block.values());
        if (std::ranges::any_of(by_block.values(),
                                [](float scale) { return std::abs(scale) >= packed::kOrdinaryScale; }))
            return count_non_finite(tensor(name).values());
        constexpr unsigned kNanOfE4m3 = 0x7f;
        return static_cast<std::size_t>(std::ranges::count_if(
            file.bytes(name), [](char byte) { return (static_cast<unsigned char>(byte) & 0x7fU) == kNanOfE4m3; }));
    });
}

Checkpoint::NonFinite Checkpoint::read(Assembly& assembly, const std::set<std::string>& expanded_later,
                                       LoadProgress& progress) const {
    NonFinite found;
    const auto note = [&](const std::string& name, std::size_t numbers) {
        if (numbers == 0) return;
        if (found.numbers == 0) found.first = name;
        found.numbers += numbers;
        ++found.tensors;
    };
    std::map<std::string_view, std::size_t> sizes;  // of what is read, in bytes
    const auto add_sizes = [&](const auto& entries) {
        for (const auto& [name, entry] : entries)
            if (assembly.wants(name) || expanded_later.contains(name)) sizes[name] = entry.end - entry.begin;
    };
    if (gguf_) add_sizes(gguf_->entries());
    for (const SafetensorsFile& file : files_) add_sizes(file.entries());
    std::size_t total = 0;
    for (const auto& [name, bytes] : sizes) total += bytes;
    progress.bytes_total = total;
    for (const std::string& name : expanded_later) {
        if (progress.stop.stop_requested()) throw LoadStopped();
        note(name, count_non_finite_packed(name));
        progress.bytes_read += sizes[name];
    }
    Tensor room;  // for what is converted and then copied from
    // Reads one tensor as `floats` gives it, and counts what is not finite.
    const auto take = [&](const std::string& name, const auto& floats) {
        if (!assembly.wants(name)) return;
        std::size_t numbers = 0;
        const SafetensorsFile::Watch watch = [&](std::span<const float> values, std::size_t bytes) {
            if (progress.stop.stop_requested()) throw LoadStopped();
            numbers += count_non_finite(values);
            progress.bytes_read += bytes;
        };
        assembly.add(name, floats(watch, assembly.keeps(name) ? nullptr : &room));
        note(name, numbers);
    };
    if (gguf_)
        for (const std::string& name : gguf_->names_in_order())
            take(name, [&](const SafetensorsFile::Watch& watch, Tensor* to) { return gguf_->floats(name, watch, to); });
    for (const SafetensorsFile& file : files_)
        for (const std::string& stored : file.names_in_order()) {
            const auto other =
                std::ranges::find_if(stored_as_, [&](const auto& entry) { return entry.second == stored; });
            const std::string& name = other == stored_as_.end() ? stored : other->first;
            take(name,
                 [&](const SafetensorsFile::Watch& watch, Tensor* to) { return read_tensor(file, name, watch, to); });
        }
    return found;
}

}  // namespace decoderscope::load
