#include "engine/mutations/families.h"
#include "engine/mutations/sites.h"
#include "engine/ops/add.h"
#include "engine/ops/carry.h"

namespace decoderscope::mutations_of {

namespace {

// The sums of a sublayer pass on its update alone.
std::function<void(Plan&, const Config&)> forgotten(std::initializer_list<Part> parts) {
    return [parts = std::vector<Part>(parts)](Plan& plan, const Config&) {
        for (const Part part : parts)
            for (const StepId sum : sites::sums_of(plan, part)) plan.replace(sum, Carry{}, {plan[sum].operands[1]});
    };
}

// The norm's output that a sublayer's update was made from; the step itself if there is no norm before it.
std::optional<StepId> norm_before(const Plan& plan, StepId stream, StepId sum) {
    for (StepId id = sum; id-- > stream;)
        if (plan[id].operation.traits().norm && plan[id].operands[0] == stream) return id;
    return std::nullopt;
}

}  // namespace

void residual(std::vector<Mutation>& list) {
    list.push_back({.name = "no-residual-attention",
                    .cause = message("The residual connection around self-attention is missing: its output replaces "
                                     "the stream."),
                    .change = forgotten({Part::self_attention})});
    list.push_back({.name = "no-residual-cross-attention",
                    .cause = message("The residual connection around cross-attention is missing."),
                    .change = forgotten({Part::cross_attention})});
    list.push_back({.name = "no-residual-mlp",
                    .cause = message("The residual connection around the MLP is missing: its output replaces the "
                                     "stream."),
                    .change = forgotten({Part::mlp})});
    list.push_back({.name = "no-residual",
                    .cause = message("There are no residual connections."),
                    .change = forgotten({Part::self_attention, Part::cross_attention, Part::mlp})});
    list.push_back({.name = "residual-from-norm",
                    .cause = message("The residual connection begins behind the norm: the normalised stream is added, "
                                     "not the stream itself."),
                    .change = [](Plan& plan, const Config& config) {
                        for (const Part part : {Part::self_attention, Part::cross_attention, Part::mlp}) {
                            for (const StepId sum : sites::sums_of(plan, part)) {
                                const std::vector<StepId> read = plan[sum].operands;
                                if (const auto norm = norm_before(plan, read[0], sum))
                                    plan.replace(sum, Add{config.residual_scale}, {*norm, read[1]});
                            }
                        }
                    }});
    list.push_back({.name = "sublayers-in-parallel",
                    .cause = message("Attention and MLP read the same stream and are added in one sum, as in GPT-J."),
                    .configure = [](Config& config) {
                        if (config.placement() == NormPlacement::pre && !config.cross_attention)
                            config.parallel_residual = ParallelResidual::two_norms;
                    }});
    list.push_back({.name = "residual-not-scaled",
                    .cause = message("The stream is not multiplied by residual_scale."),
                    .configure = [](Config& config) { config.residual_scale = 1.0; }});
}

}  // namespace decoderscope::mutations_of
