#include "engine/ops/positions.h"
#include "engine/mutations/families.h"
#include "engine/mutations/wrong_positions.h"
#include "engine/ops/carry.h"

#include <cmath>

namespace decoderscope::mutations_of {

namespace {

// The step that adds the positions: the first that reads them.
Ref adding(const Plan& plan, const Step& code) {
    for (const Step& step : plan.steps())
        for (const StepId operand : step.operands)
            if (operand == code.id && step.operands.size() == 2) return &step;
    return nullptr;
}

// Both stacks' codes, each with the step that adds it.
template <class Change>
std::function<void(Plan&, const Config&)> each_code(Change change) {
    return [change](Plan& plan, const Config& config) {
        for (const char* name : {"pos_embed", "encoder.pos_embed"}) {
            const Ref code = plan.find(name);
            const Ref sum = code != nullptr ? adding(plan, *code) : nullptr;
            if (sum != nullptr) change(plan, config, *code, *sum);
        }
    };
}

std::function<void(Plan&, const Config&)> from(Index first) {
    return each_code([first](Plan& plan, const Config& config, const Step& code, const Step&) {
        const Axis positions = code.axes[0];
        if (config.positional_encoding == PositionalEncoding::sinusoidal)
            plan.replace(code.id, SinusoidalPositions{positions, config.d_model, first, config.position_scale}, {});
        else if (positions.size + first <= config.max_positions)
            plan.replace(code.id, LearnedPositions{positions, first, config.position_scale}, code.operands);
    });
}

}  // namespace

void positions(std::vector<Mutation>& list) {
    list.push_back({.name = "no-positions",
                    .cause = message("No positions are added to the embedding."),
                    .change = each_code([](Plan& plan, const Config&, const Step&, const Step& sum) {
                        plan.replace(sum.id, Carry{}, {sum.operands[0]});
                    })});
    list.push_back({.name = "positions-by-batch",
                    .cause = message("The positions are indexed by the batch: every token of a row gets the same "
                                     "code."),
                    .change = each_code([](Plan& plan, const Config&, const Step&, const Step& sum) {
                        plan.replace(sum.id, AddOtherPositions{true}, sum.operands);
                    })});
    list.push_back(
        {.name = "positions-from-1", .cause = message("The positions begin at 1 instead of 0."), .change = from(1)});
    list.push_back({.name = "positions-from-2",
                    .cause = message("The positions begin at 2, as in OPT's and BART's tables."),
                    .change = from(2)});
    list.push_back(
        {.name = "positions-by-mask",
         .cause = message("The positions are counted without padding, so that a text padded on the left "
                          "begins at 0."),
         .change = each_code([](Plan& plan, const Config&, const Step& code, const Step& sum) {
             const Ref mask = plan.find(code.in_encoder() ? "encoder_attention_mask" : "attention_mask");
             if (mask != nullptr)
                 plan.replace(sum.id, AddOtherPositions{false}, {sum.operands[0], sum.operands[1], mask->id});
         })});
    list.push_back(
        {.name = "sinusoid-in-halves",
         .cause = message("The sinusoidal code has all sines first and all cosines behind them; they "
                          "should alternate."),
         .change = each_code([](Plan& plan, const Config& config, const Step& code, const Step&) {
             if (config.positional_encoding == PositionalEncoding::sinusoidal)
                 plan.replace(code.id, SinusoidInHalves{code.axes[0], config.d_model, config.position_scale}, {});
         })});
    list.push_back({.name = "position-scale-forgotten",
                    .cause = message("The positions are not multiplied by position_scale."),
                    .configure = [](Config& config) { config.position_scale = 1.0; }});
    list.push_back({.name = "positions-scaled-too",
                    .cause = message("√d_model multiplies the positions, too, not the embedding alone."),
                    .configure = [](Config& config) {
                        if (config.scale_embedding)
                            config.position_scale *= std::sqrt(static_cast<double>(config.d_model));
                    }});
}

}  // namespace decoderscope::mutations_of
