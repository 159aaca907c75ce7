#include "engine/mutations/families.h"
#include "engine/mutations/sites.h"

#include <string_view>
#include <utility>

namespace decoderscope::mutations_of {

namespace {

// The operands of a projection, with the parameters of another one of the same attention.
std::vector<StepId> with_parameters_of(const Plan& plan, const Step& step, std::string_view own,
                                       std::string_view other) {
    std::vector<StepId> read = step.operands;
    for (StepId& operand : read) {
        std::string name = plan[operand].name;
        const std::size_t at = name.find(own);
        if (plan[operand].role != Role::parameter || at == std::string::npos) continue;
        name.replace(at, own.size(), other);
        const Ref parameter = plan.find(name);
        if (parameter != nullptr && parameter->id < step.id && parameter->axes == plan[operand].axes)
            operand = parameter->id;
    }
    return read;
}

// Each projection of the first name uses the parameters of the second.
void use(Plan& plan, std::string_view own, std::string_view other) {
    for (const StepId id : sites::readers(plan, std::string(own) + ".weight"))
        plan.replace(id, plan[id].operation, with_parameters_of(plan, plan[id], own, other));
}

std::function<void(Plan&, const Config&)> uses(std::string_view own, std::string_view other) {
    return [own, other](Plan& plan, const Config&) { use(plan, own, other); };
}

// A parameter is declared when it is asked for, so the value's stands behind q's and k's steps. Only what is there
// before a step can be read by it.
std::function<void(Plan&, const Config&)> swapped(std::string_view one, std::string_view other) {
    return [one, other](Plan& plan, const Config&) {
        const auto first = sites::readers(plan, std::string(one) + ".weight");
        const auto second = sites::readers(plan, std::string(other) + ".weight");
        std::vector<std::pair<StepId, std::vector<StepId>>> changes;
        for (const StepId id : first) changes.emplace_back(id, with_parameters_of(plan, plan[id], one, other));
        for (const StepId id : second) changes.emplace_back(id, with_parameters_of(plan, plan[id], other, one));
        for (auto& [id, read] : changes) plan.replace(id, plan[id].operation, std::move(read));
    };
}

// Linears without their bias.
std::function<void(Plan&, const Config&)> without_bias(std::vector<std::string_view> names) {
    return [names = std::move(names)](Plan& plan, const Config&) {
        for (const std::string_view name : names)
            for (const StepId id : sites::readers(plan, std::string(name) + ".bias"))
                plan.replace(id, plan[id].operation, {plan[id].operands[0], plan[id].operands[1]});
    };
}

}  // namespace

void projections(std::vector<Mutation>& list) {
    list.push_back({.name = "shared-qkv",
                    .cause = message("One projection, q's, makes query, key and value."),
                    .change = [](Plan& plan, const Config&) {
                        use(plan, ".k_proj", ".q_proj");
                        use(plan, ".v_proj", ".q_proj");
                    }});
    list.push_back({.name = "qkv-apart",
                    .cause = message("Query, key and value have projections of their own, where one is meant for all."),
                    .configure = [](Config& config) { config.shared_qkv = false; }});
    list.push_back({.name = "key-by-query-projection",
                    .cause = message("The key is made by the query's projection."),
                    .change = uses(".k_proj", ".q_proj")});
    list.push_back({.name = "value-by-key-projection",
                    .cause = message("The value is made by the key's projection."),
                    .change = uses(".v_proj", ".k_proj")});
    list.push_back({.name = "value-by-query-projection",
                    .cause = message("The value is made by the query's projection."),
                    .change = uses(".v_proj", ".q_proj")});
    list.push_back({.name = "query-and-key-swapped",
                    .cause = message("Query and key are swapped."),
                    .change = swapped(".q_proj", ".k_proj")});
    list.push_back({.name = "key-and-value-swapped",
                    .cause = message("Key and value are swapped."),
                    .change = swapped(".k_proj", ".v_proj")});
    list.push_back({.name = "query-and-value-swapped",
                    .cause = message("Query and value are swapped."),
                    .change = swapped(".q_proj", ".v_proj")});
    list.push_back({.name = "no-attention-bias",
                    .cause = message("The biases of query, key and value are not added."),
                    .change = without_bias({".q_proj", ".k_proj", ".v_proj"})});
    list.push_back({.name = "no-key-bias",
                    .cause = message("The key's bias is not added: it adds the same number to every score of a row, "
                                     "which the softmax takes away again."),
                    .change =
                        [](Plan& plan, const Config& config) {
                            // A rotated or normalised key's bias differs from key to key.
                            if (config.positional_encoding != PositionalEncoding::rope && !config.qk_norm)
                                without_bias({".k_proj"})(plan, config);
                        },
                    .harmless = true});
    list.push_back({.name = "no-output-bias",
                    .cause = message("The bias of the attention's output projection is not added."),
                    .change = without_bias({".o_proj"})});
}

}  // namespace decoderscope::mutations_of
