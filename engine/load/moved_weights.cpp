#include "engine/load/moved_weights.h"

#include <string>
#include <string_view>
#include <utility>

namespace decoderscope::load {

namespace {

bool is_of_experts(std::string_view name) { return name.find(".experts.") != std::string_view::npos; }

}  // namespace

Weights with_norms_anywhere(Weights weights) {
    constexpr std::string_view behind = "_post";
    Weights others;
    for (const auto& [name, weight] : weights) {
        const std::size_t norm = name.rfind(".norm"), end = name.rfind('.');
        if (norm == std::string::npos || norm == end) continue;
        std::string other = name;
        if (name.find(behind, norm) != std::string::npos)
            other.erase(end - behind.size(), behind.size());
        else
            other.insert(end, behind);
        others.emplace(std::move(other), weight);
    }
    weights.merge(others);
    return weights;
}

Index numbers_of_experts(const Weights& weights) {
    Index numbers = 0;
    for (const auto& [name, weight] : weights) numbers += is_of_experts(name) ? weight.size() : 0;
    return numbers;
}

Weights with_experts_moved(Weights weights, Index experts, Index on) {
    for (auto& [name, weight] : weights) {
        if (!is_of_experts(name) || weight.size() == 0) continue;
        Tensor moved(weight.axes());
        for (Index i = 0; i < moved.size(); ++i)
            moved.writable()[static_cast<std::size_t>(i)] =
                weight.data()[(i + on * (weight.size() / experts)) % weight.size()];
        weight = std::move(moved);
    }
    return weights;
}

}  // namespace decoderscope::load
