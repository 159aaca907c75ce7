#include "engine/load/expanded.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace decoderscope::load {

namespace {

class ExpandedWhenRead : public LazyValues {
public:
    ExpandedWhenRead(std::shared_ptr<const Checkpoint> checkpoint, StateDict alone, std::string parameter)
        : checkpoint_(std::move(checkpoint)), alone_(std::move(alone)), parameter_(std::move(parameter)) {}

    void make(std::span<float> values) const override {
        const Tensor expanded = assembled(alone_, parameter_, *checkpoint_);
        std::ranges::copy(expanded.values(), values.begin());
    }

private:
    std::shared_ptr<const Checkpoint> checkpoint_;
    StateDict alone_;  // with this parameter and no other
    std::string parameter_;
};

// What a state dict says of one parameter.
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

Weights expanded_when_read(const StateDict& packed, const std::shared_ptr<const Checkpoint>& checkpoint) {
    Weights weights;
    for (const auto& [name, shape] : packed.shapes)
        weights.emplace(name, Tensor(unnamed(shape),
                                     std::make_shared<const ExpandedWhenRead>(checkpoint, of_one(packed, name), name)));
    return weights;
}

Tensor assembled(const StateDict& state_dict, const std::string& parameter, const Checkpoint& checkpoint) {
    const StateDict alone = of_one(state_dict, parameter);
    Assembly assembly(alone);
    for (const std::string& from : stored_tensors(alone)) assembly.add(from, checkpoint.tensor(from));
    return assembly.take(true).at(parameter);
}

}  // namespace decoderscope::load
