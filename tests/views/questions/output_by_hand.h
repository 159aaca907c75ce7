#pragma once

#include "app/core/run/scenario.h"
#include "app/core/text/numbers.h"
#include "engine/graph/run.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace decoderscope::testing {

using namespace decoderscope::core;
using namespace decoderscope::tokenizer;

// What an edit does to the logits, by two runs of the engine and a comparison of every number.
struct OutputByHand {
    double largest = 0.0;
    int positions = 0, changed = 0, padding = 0;
    std::string before, after;  // the first changed prediction's tokens

    // As the window begins it, without spaces.
    [[nodiscard]] std::string sentence() const {
        std::string moved = "logitsmovedbyatmost" + short_number_text(largest, 3);
        if (padding > 0)
            moved +=
                "(notcounted:" + std::to_string(padding) + (padding == 1 ? "position" : "positions") + "ofpadding)";
        if (changed == 0) return moved + ";nopredictionchanged.";
        return moved + ";thepredictionchangedat" + std::to_string(changed) + "of" + std::to_string(positions) +
               "positions:";
    }
};

inline Index largest_logit(const Tensor& logits, Index row, Index position) {
    Index best = 0;
    for (Index id = 1; id < logits.dim(2); ++id)
        if (logits.at(Cell{row, position, id}) > logits.at(Cell{row, position, best})) best = id;
    return best;
}

inline OutputByHand output_by_hand(Scenario scenario, const Edit& edit) {
    scenario.edits = {};
    const auto plain = execute(plan_of(scenario));
    scenario.edits = {edit};
    const auto edited = execute(plan_of(scenario));
    const Tensor &before = plain->value("logits"), &after = edited->value("logits");  // [batch, pos, vocab]
    const Tensor& mask = scenario.inputs.attention_mask;
    const Tokenizer& tokenizer = scenario.tokenizer();
    OutputByHand found;
    for (Index row = 0; row < after.dim(0); ++row) {
        for (Index position = 0; position < after.dim(1); ++position) {
            const bool kept = mask.empty() || mask.at(Cell{row, position}) != 0.0F;
            ++(kept ? found.positions : found.padding);
            if (!kept) continue;
            for (Index id = 0; id < after.dim(2); ++id)
                found.largest =
                    std::max(found.largest, std::abs(static_cast<double>(after.at(Cell{row, position, id})) -
                                                     static_cast<double>(before.at(Cell{row, position, id}))));
            const Index was = largest_logit(before, row, position), is = largest_logit(after, row, position);
            if (was == is) continue;
            if (++found.changed > 1) continue;
            found.before = tokenizer.piece(was);
            found.after = tokenizer.piece(is);
        }
    }
    return found;
}

}  // namespace decoderscope::testing
