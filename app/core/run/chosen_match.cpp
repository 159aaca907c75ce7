#include "app/core/run/chosen_match.h"

#include <algorithm>
#include <array>

namespace decoderscope::core {

namespace {

// How a tensor may be laid out, beyond what the two shapes say; unchanged is first.
std::optional<trace::Placed> place_for(const Step& step, const trace::TraceTensor& tensor) {
    static const std::array<trace::Placed, 4> ways = {trace::Placed{}, trace::Placed{.turned = true},
                                                      trace::Placed{.broadcast = true},
                                                      trace::Placed{.first_of_batch = true}};
    for (const trace::Placed& way : ways)
        if (trace::can_be_laid_out(step.axes, tensor.values.axes(), way)) return way;
    return std::nullopt;
}

bool is_comparable(const Step& step) { return step.role != Role::parameter && step.role != Role::on_demand; }

}  // namespace

void apply_choices(std::vector<trace::Match>& matches, const std::vector<ChosenMatch>& choices, const Plan& plan,
                   const trace::Trace& trace) {
    for (const ChosenMatch& choice : choices) {
        const auto found = std::ranges::find(trace.tensors, choice.theirs, &trace::TraceTensor::name);
        if (found == trace.tensors.end()) continue;
        const auto tensor = static_cast<std::size_t>(found - trace.tensors.begin());
        const auto of_it = [&](const trace::Match& match) { return match.tensor == tensor; };
        if (choice.ours.empty()) {
            std::erase_if(matches, of_it);
            continue;
        }
        const Ref step = plan.find(choice.ours);
        if (step == nullptr) continue;
        const auto known = std::ranges::find_if(
            matches, [&](const trace::Match& match) { return of_it(match) && match.step == step->id; });
        const std::optional<trace::Placed> placed =
            known != matches.end() ? std::optional(known->placed) : place_for(*step, *found);
        if (!placed) continue;
        const trace::Strictness strictness = known != matches.end() ? known->strictness : trace::Strictness::exact;
        std::erase_if(matches, of_it);
        matches.push_back({step->id, tensor, *placed, trace::Basis::chosen, strictness});
    }
    std::ranges::stable_sort(matches, {}, &trace::Match::step);
}

std::vector<std::string> possible_steps(const Plan& plan, const trace::TraceTensor& tensor) {
    std::vector<std::string> names;
    for (const Step& step : plan.steps())
        if (is_comparable(step) && place_for(step, tensor)) names.push_back(step.name);
    return names;
}

}  // namespace decoderscope::core
