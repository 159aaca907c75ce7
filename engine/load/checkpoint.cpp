#include "engine/load/checkpoint.h"

#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/base/message.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <cstdint>
#include <fstream>
#include <set>

namespace decoderscope::load {

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

// Text as a Python string in double quotes.
std::string python_string(const std::string& text) {
    std::string quoted = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') quoted += '\\';
        if (c == '\n')
            quoted += "\\n";
        else
            quoted += c;
    }
    return quoted + "\"";
}

std::string conversion(const fs::path& path) {
    fs::path to = path;
    to.replace_extension(".safetensors");
    return "import torch, safetensors.torch  # pip install safetensors\n"
           "state = torch.load(" +
           python_string(path.string()) +
           ", map_location=\"cpu\", weights_only=True); state = state.get(\"model\", state.get(\"state_dict\", "
           "state))\n"
           "safetensors.torch.save_file({k: v.clone().contiguous() for k, v in state.items() if torch.is_tensor(v)}, " +
           python_string(to.string()) + ")\n";
}

// The same as one shell command.
std::string as_command(std::string python) {
    for (std::size_t at = python.find("  #"); at != std::string::npos; at = python.find("  #"))
        python.erase(at, python.find('\n', at) - at);
    python.pop_back();  // the last newline
    for (std::size_t at = python.find('\n'); at != std::string::npos; at = python.find('\n', at))
        python.replace(at, 1, "; ");
    std::string quoted;
    for (const char c : python) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return "python3 -c '" + quoted + "'";
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
            {{"path", path}, {"command", as_command(conversion(path))}}),
      problem_(message("{path}: pickled by Python, expected safetensors", {{"path", path}})),
      python_(conversion(path)) {}

Checkpoint::Checkpoint(const fs::path& path)
    : is_folder_(leads_to_folder(path)), folder_(is_folder_ ? path : path.parent_path()) {
    if (is_pickled(path) && is_there(path)) throw NeedsConversion(path.string());
    const fs::path file = is_folder_ ? weights_in(path) : path;
    if (file.filename() == kWeightsIndex)
        open_index(file);
    else
        open(file);
}

void Checkpoint::open(const fs::path& file) {
    if (weights_path_.empty()) weights_path_ = file.string();
    SafetensorsFile& opened = files_.emplace_back(file.string());
    opened.only_under(kParameterPrefix);  // a recorded file holds a model's parameters among what it computed
    for (const auto& [name, entry] : opened.entries())
        if (!shapes_.emplace(name, entry.shape).second)
            throw Error("{file}: {name}: in another file, too; expected it once",
                        {{"file", file.string()}, {"name", name}});
}

void Checkpoint::open_index(const fs::path& index) {
    weights_path_ = index.string();
    const std::map<std::string, std::string> map = weight_map(index);
    std::set<std::string> files;
    for (const auto& [name, file] : map) files.insert(file);
    for (const std::string& file : files) open(index.parent_path() / file);
    for (const auto& [name, file] : map)
        if (!shapes_.contains(name))
            throw Error("{index}: {name}: is not in {file}, where the index has it",
                        {{"index", index.string()}, {"name", name}, {"file", file}});
}

std::vector<std::string> Checkpoint::files() const {
    std::vector<std::string> paths;
    for (const SafetensorsFile& file : files_) paths.push_back(file.path());
    return paths;
}

void Checkpoint::check_types(const Assembly& assembly) const {
    for (const SafetensorsFile& file : files_)
        for (const auto& [name, entry] : file.entries())
            if (assembly.wants(name)) file.check_floats(name);
}

Checkpoint::NonFinite Checkpoint::read(Assembly& assembly, LoadProgress& progress) const {
    NonFinite found;
    std::size_t total = 0;
    for (const SafetensorsFile& file : files_)
        for (const auto& [name, entry] : file.entries())
            if (assembly.wants(name)) total += entry.end - entry.begin;
    progress.bytes_total = total;
    Tensor room;  // for what is converted and then copied from
    for (const SafetensorsFile& file : files_) {
        for (const std::string& name : file.names_in_order()) {
            if (!assembly.wants(name)) continue;
            std::size_t numbers = 0;
            const auto watch = [&](std::span<const float> values, std::size_t bytes) {
                if (progress.stop.stop_requested()) throw LoadStopped();
                numbers += count_non_finite(values);
                progress.bytes_read += bytes;
            };
            assembly.add(name, file.floats(name, watch, assembly.keeps(name) ? nullptr : &room));
            if (numbers == 0) continue;
            if (found.numbers == 0) found.first = name;
            found.numbers += numbers;
            ++found.tensors;
        }
    }
    return found;
}

}  // namespace decoderscope::load
