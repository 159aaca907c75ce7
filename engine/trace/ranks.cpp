#include "engine/base/error.h"
#include "engine/base/json_object.h"
#include "engine/files/safetensors.h"
#include "engine/tensor/storage.h"
#include "engine/trace/recorded_file.h"

#include <algorithm>
#include <filesystem>
#include <span>
#include <utility>

namespace decoderscope::trace::sources {

namespace {

namespace fs = std::filesystem;

constexpr Index kMostRanks = 100'000;

// Whether a name matches a pattern with * and ?, as the recorder's shards are named.
bool matches(std::string_view pattern, std::string_view name) {
    std::size_t p = 0, n = 0, star = std::string_view::npos, from = 0;
    while (n < name.size()) {
        if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) {
            ++p;
            ++n;
        } else if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            from = n;
        } else if (star != std::string_view::npos) {
            p = star + 1;
            n = ++from;
        } else {
            return false;
        }
    }
    while (p < pattern.size() && pattern[p] == '*') ++p;
    return p == pattern.size();
}

struct Shards {
    std::string tensors;  // a pattern
    Index axis = 0;
};

struct Manifest {
    Index world_size = 1;
    std::vector<std::string> files;  // by rank
    std::vector<Shards> shards;
};

std::string file_name(const std::string& name) {
    if (name.empty() || name != fs::path(name).filename().string() || name == "." || name == "..")
        throw Error("ranks: {name}: expected the name of a file in the same folder", {{"name", name}});
    return name;
}

Manifest parse_manifest(const std::string& text) {
    const Json json = parse_json(text, message("a recorder's manifest"));
    JsonObject object(json, "");
    Manifest manifest;
    if (!object.text("format").starts_with("decoderscope-trace"))
        throw Error("format: expected \"decoderscope-trace 1\"");
    manifest.world_size = object.index("world_size");
    const Json& ranks = object.list("ranks");
    if (manifest.world_size < 1 || manifest.world_size > kMostRanks ||
        static_cast<Index>(ranks.size()) != manifest.world_size)
        throw Error("ranks: {count} files for a world_size of {size}",
                    {{"count", ranks.size()}, {"size", manifest.world_size}});
    manifest.files.resize(ranks.size());
    for (const Json& entry : ranks) {
        JsonObject rank(entry, "ranks: ");
        const Index number = rank.index("rank");
        if (number >= manifest.world_size || !manifest.files[static_cast<std::size_t>(number)].empty())
            throw Error("ranks: rank {rank}, expected each from 0 to {last} once",
                        {{"rank", number}, {"last", manifest.world_size - 1}});
        manifest.files[static_cast<std::size_t>(number)] = file_name(rank.text("file"));
        rank.finish();
    }
    if (const Json* shards = object.find("shards"); shards != nullptr && shards->is_array()) {
        for (const Json& entry : *shards) {
            if (!entry.is_object() || !entry.contains("tensors") || !entry["tensors"].is_string() ||
                !entry.contains("axis") || !entry["axis"].is_number_integer())
                throw Error("shards: expected objects with tensors, a pattern, and axis, a number");
            manifest.shards.push_back({entry["tensors"].get<std::string>(), entry["axis"].get<Index>()});
        }
    }
    object.finish();
    return manifest;
}

// Parts of a tensor along an axis, put together when they are first read.
class Joined : public LazyValues {
public:
    Joined(std::vector<Tensor> parts, std::size_t axis) : parts_(std::move(parts)), axis_(axis) {}

    void make(std::span<float> values) const override {
        Index inner = 1, outer = 1, all = 0;
        const Axes& axes = parts_.front().axes();
        for (std::size_t i = 0; i < axes.size(); ++i) {
            if (i < axis_) outer *= axes[i].size;
            if (i > axis_) inner *= axes[i].size;
        }
        for (const Tensor& part : parts_) all += part.dim(axis_) * inner;
        Index begin = 0;
        for (const Tensor& part : parts_) {
            const Index length = part.dim(axis_) * inner;
            for (Index row = 0; row < outer; ++row)
                std::copy_n(part.data() + row * length, length, values.begin() + row * all + begin);
            begin += length;
        }
    }

private:
    std::vector<Tensor> parts_;
    std::size_t axis_;
};

// The parts of all ranks as one tensor. Throws Error if they don't fit.
TraceTensor joined(const std::string& name, const std::vector<const TraceTensor*>& parts, Index axis) {
    const auto rank = static_cast<Index>(parts.front()->shape.size());
    if (axis < -rank || axis >= rank)
        throw Error("{name}: shards along axis {axis}, but it has {rank} axes",
                    {{"name", name}, {"axis", axis}, {"rank", rank}});
    const auto along = static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
    TraceTensor whole = *parts.front();
    whole.shape[along] = 0;
    std::vector<Tensor> values;
    for (const TraceTensor* part : parts) {
        std::vector<Index> expected = parts.front()->shape;
        if (part->shape.size() == expected.size()) expected[along] = part->shape[along];
        if (part->shape != expected)
            throw Error(
                "{name}: a rank has shape {shape}, which is not a shard along axis {axis} of the others' {expected}",
                {{"name", name},
                 {"shape", shape_text(part->shape)},
                 {"axis", axis},
                 {"expected", shape_text(parts.front()->shape)}});
        whole.shape[along] += part->shape[along];
        values.push_back(part->values);
    }
    whole.values = Tensor(unnamed(whole.shape), std::make_shared<const Joined>(std::move(values), along));
    return whole;
}

std::optional<Index> axis_of(const std::string& name, const Manifest& manifest, const RecordedFile& file) {
    if (const auto own = file.sharded.find(name); own != file.sharded.end()) return own->second;
    for (const Shards& shards : manifest.shards)
        if (matches(shards.tensors, name)) return shards.axis;
    return std::nullopt;
}

// One list of tensors of all ranks: parts are joined, the others are the first rank's that has them.
std::vector<TraceTensor> merged(const Manifest& manifest, const std::vector<RecordedFile>& files,
                                std::vector<TraceTensor> Trace::*which) {
    std::vector<TraceTensor> all;
    std::map<std::string, std::vector<const TraceTensor*>> by_name;
    for (const RecordedFile& file : files)
        for (const TraceTensor& tensor : file.trace.*which) by_name[tensor.name].push_back(&tensor);
    for (const RecordedFile& file : files) {
        for (const TraceTensor& tensor : file.trace.*which) {
            const auto found = by_name.find(tensor.name);
            if (found == by_name.end()) continue;  // taken already
            const std::string name =
                which == &Trace::parameters ? std::string(kParameterPrefix) + tensor.name : tensor.name;
            const auto axis = axis_of(name, manifest, file);
            all.push_back(axis && found->second.size() > 1 ? joined(tensor.name, found->second, *axis) : tensor);
            by_name.erase(found);
        }
    }
    return all;
}

}  // namespace

Trace ranks(const std::string& path, const std::string& text) {
    const Manifest manifest = parse_manifest(text);
    std::vector<RecordedFile> files;
    std::string missing;
    for (std::size_t rank = 0; rank < manifest.files.size(); ++rank) {
        const std::string file = (fs::path(path).parent_path() / manifest.files[rank]).string();
        std::error_code failed;
        if (!fs::exists(file, failed)) {
            missing += (missing.empty() ? "" : ", ") + std::to_string(rank);
            continue;
        }
        RecordedFile recorded = recorded_file(file);
        if (recorded.rank != static_cast<Index>(rank) || recorded.world_size != manifest.world_size)
            throw Error(
                "{file}: says that it is rank {rank} of {world}, but the manifest has it as rank {expected} of {size}",
                {{"file", file},
                 {"rank", recorded.rank},
                 {"world", recorded.world_size},
                 {"expected", rank},
                 {"size", manifest.world_size}});
        files.push_back(std::move(recorded));
    }
    if (files.empty()) throw Error("none of its {count} files is there", {{"count", manifest.files.size()}});
    Trace trace;
    trace.path = path;
    trace.files = {path};
    for (const RecordedFile& file : files) trace.files.push_back(file.trace.path);
    trace.origin = message_n("the recorder, {count} rank", "the recorder, {count} ranks", manifest.world_size);
    trace.tensors = merged(manifest, files, &Trace::tensors);
    trace.parameters = merged(manifest, files, &Trace::parameters);
    trace.calls = files.front().trace.calls;
    trace.hyperparameters = files.front().trace.hyperparameters;
    if (!missing.empty())
        trace.remarks.push_back(message("missing ranks: {ranks}; the tensors that they have shards of are incomplete",
                                        {{"ranks", missing}}));
    return trace;
}

}  // namespace decoderscope::trace::sources
