#include "engine/trace/recorded_modules.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace decoderscope {

namespace {

constexpr std::string_view kWeight = ".weight";

// The steps that read each parameter.
std::map<std::string, std::vector<StepId>> readers_by_parameter(const Plan& plan) {
    std::map<std::string, std::vector<StepId>> readers;
    for (const Step& step : plan.steps()) {
        if (step.role == Role::on_demand || !step.lens.empty()) continue;
        for (const StepId operand : step.operands)
            if (plan[operand].role == Role::parameter) readers[plan[operand].name].push_back(step.id);
    }
    return readers;
}

// The path of the module that holds a parameter, and whether the parameter stands in it by a name of its own
// (in_proj_weight, W_Q): then the module does more than apply it.
std::pair<std::string, bool> module_of(const std::string& name) {
    static constexpr std::array<std::string_view, 8> usual = {"weight", "w",     "kernel", "gamma",
                                                              "a_2",    "alpha", "scale",  "g"};
    const std::size_t dot = name.rfind('.');
    const std::string_view last = std::string_view(name).substr(dot == std::string::npos ? 0 : dot + 1);
    const bool plain = std::ranges::find(usual, last) != usual.end();
    return {dot == std::string::npos ? std::string() : name.substr(0, dot), !plain};
}

}  // namespace

RecordedModules recorded_modules(const Plan& plan, const Mapping& mapping) {
    const auto readers = readers_by_parameter(plan);
    RecordedModules modules;
    const auto add = [&](const std::string& stored, const std::string& ours, How how, Index number) {
        RecordedModule module;
        for (const std::string& name : names_of(ours)) {
            const auto found = readers.find(name);
            if (!name.ends_with(kWeight) || found == readers.end()) return;
            const Ref parameter = plan.find(name);
            module.parts.push_back({name, parameter->axes[0].size, found->second});
        }
        const auto [path, bare] = module_of(stored);
        module.is_container = bare;
        module.is_mixed = how == How::by_head || how == How::by_group;
        module.head = how == How::head ? number : -1;
        // A module that stands for several of our parameters by turns (one table for both sides) is called once for
        // each.
        auto& known = modules[path];
        const bool by_turns =
            !known.empty() && module.parts.size() == 1 && known[0].parts.size() == 1 && !bare && how == How::as_stored;
        if (by_turns) {
            auto& all = known[0].parts[0].readers;
            all.insert(all.end(), module.parts[0].readers.begin(), module.parts[0].readers.end());
            std::ranges::sort(all);
        } else {
            known.push_back(std::move(module));
        }
    };
    for (const auto& [stored, targets] : mapping)
        for (const Target& target : targets) add(stored, target.name, target.how, target.number);
    for (const auto& [name, steps] : readers)
        if (name.ends_with(kWeight) && !modules.contains(name.substr(0, name.size() - kWeight.size())))
            add(name, name, How::as_stored, 0);
    return modules;
}

}  // namespace decoderscope
