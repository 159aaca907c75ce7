#include "engine/load/expanded.h"

#include "engine/base/error.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <map>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

namespace decoderscope::load {

namespace {

// Memory that parameters of a model share.
class Room {
public:
    explicit Room(std::uint64_t bytes) : left_(bytes) {}

    // Whether there is room for this many bytes; if so, they are reserved.
    bool take(std::uint64_t bytes) {
        std::uint64_t left = left_.load();
        while (left >= bytes)
            if (left_.compare_exchange_weak(left, left - bytes)) return true;
        return false;
    }

private:
    std::atomic<std::uint64_t> left_;
};

std::uint64_t bytes_of(const std::vector<Index>& shape) {
    return static_cast<std::uint64_t>(element_count(unnamed(shape))) * sizeof(float);
}

class ExpandedWhenRead : public LazyValues {
public:
    ExpandedWhenRead(std::shared_ptr<const Checkpoint> checkpoint, StateDict alone, std::string parameter,
                     std::shared_ptr<Room> room)
        : checkpoint_(std::move(checkpoint)),
          alone_(std::move(alone)),
          parameter_(std::move(parameter)),
          room_(std::move(room)) {}

    // Asked for when the numbers are about to be read: the first to ask get the room.
    [[nodiscard]] bool may_stay() const override {
        std::call_once(asked_, [&] { stays_ = room_->take(bytes_of(alone_.shapes.begin()->second)); });
        return stays_;
    }

    void make(std::span<float> values) const override {
        const Tensor expanded = assembled(alone_, parameter_, *checkpoint_);
        std::ranges::copy(expanded.values(), values.begin());
    }

private:
    std::shared_ptr<const Checkpoint> checkpoint_;
    StateDict alone_;  // with this parameter and no other
    std::string parameter_;
    std::shared_ptr<Room> room_;
    mutable std::once_flag asked_;
    mutable bool stays_ = false;
};

// What a state dict says about one parameter.
StateDict of_one(const StateDict& state_dict, const std::string& parameter) {
    StateDict alone;
    alone.shapes.emplace(parameter, state_dict.shapes.find(parameter)->second);
    std::ranges::copy_if(state_dict.rows, std::back_inserter(alone.rows),
                         [&](const StoredRows& rows) { return rows.name == parameter; });
    return alone;
}

}  // namespace

StateDict take_packed(StateDict& state_dict, const Checkpoint& checkpoint) {
    std::map<std::string, bool> all_packed;  // by parameter
    for (const StoredRows& rows : state_dict.rows) {
        const auto entry = all_packed.try_emplace(rows.name, true).first;
        entry->second = entry->second && checkpoint.is_packed(rows.from);
    }
    for (const InterleavedRows& rows : state_dict.interleaved)
        for (const std::string& name : rows.names) all_packed[name] = false;
    const auto is_taken = [&](const std::string& name) {
        const auto found = all_packed.find(name);
        return found != all_packed.end() && found->second;
    };
    StateDict packed;
    for (const auto& [name, shape] : state_dict.shapes)
        if (is_taken(name)) packed.shapes.emplace(name, shape);
    for (const StoredRows& rows : state_dict.rows)
        if (is_taken(rows.name)) packed.rows.push_back(rows);
    std::erase_if(state_dict.shapes, [&](const auto& entry) { return is_taken(entry.first); });
    std::erase_if(state_dict.rows, [&](const StoredRows& rows) { return is_taken(rows.name); });
    return packed;
}

std::set<std::string> stored_tensors(const StateDict& state_dict) {
    std::set<std::string> names;
    for (const StoredRows& rows : state_dict.rows) names.insert(rows.from);
    return names;
}

ExpandedBytes expanded_bytes(const StateDict& packed) {
    ExpandedBytes bytes;
    for (const auto& [name, shape] : packed.shapes) {
        bytes.all += bytes_of(shape);
        bytes.largest = std::max(bytes.largest, bytes_of(shape));
    }
    return bytes;
}

std::uint64_t room_to_stay(const ExpandedBytes& bytes, std::uint64_t others, std::uint64_t most,
                           const std::string& file) {
    if (others + bytes.all <= most) return bytes.all;
    constexpr std::uint64_t kMega = 1'000'000;
    const std::uint64_t needed = others + 2 * bytes.largest;
    if (needed > most)
        throw Error(
            "{file}: {needed} MB of its weights must be in memory at once as floats, expected at most {most} MB: "
            "three quarters of what --memory sets, or of this machine's memory",
            {{"file", file}, {"needed", (needed + kMega - 1) / kMega}, {"most", most / kMega}});
    return most - needed;
}

Weights expanded_when_read(const StateDict& packed, const std::shared_ptr<const Checkpoint>& checkpoint,
                           std::uint64_t room) {
    const auto shared = std::make_shared<Room>(room);
    Weights weights;
    for (const auto& [name, shape] : packed.shapes)
        weights.emplace(name, Tensor(unnamed(shape), std::make_shared<const ExpandedWhenRead>(
                                                         checkpoint, of_one(packed, name), name, shared)));
    return weights;
}

Tensor assembled(const StateDict& state_dict, const std::string& parameter, const Checkpoint& checkpoint) {
    const StateDict alone = of_one(state_dict, parameter);
    Assembly assembly(alone);
    for (const std::string& from : stored_tensors(alone)) assembly.add(from, checkpoint.tensor(from));
    return assembly.take(true).at(parameter);
}

}  // namespace decoderscope::load
