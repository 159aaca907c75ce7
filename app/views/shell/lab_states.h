#pragma once

#include <map>
#include <memory>
#include <typeindex>

namespace decoderscope {

// What each lab remembers from frame to frame: a value whose type only the lab knows, made on first use.
class LabStates {
public:
    template <class State>
    [[nodiscard]] State& get() {
        return kept<State>();
    }
    template <class State>
    [[nodiscard]] const State& get() const {
        return kept<State>();
    }

private:
    template <class State>
    State& kept() const {
        std::shared_ptr<void>& kept = states_[typeid(State)];
        if (!kept) kept = std::make_shared<State>();
        return *static_cast<State*>(kept.get());
    }

    mutable std::map<std::type_index, std::shared_ptr<void>> states_;
};

}  // namespace decoderscope
