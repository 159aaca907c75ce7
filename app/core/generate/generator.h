#pragma once

#include "app/core/generate/sampling.h"
#include "app/core/session/scenario.h"
#include "engine/decoder/past.h"

#include <optional>
#include <vector>

namespace decoderscope {

// Continues one batch row of a scenario, token by token, using the KV cache: the first pass is over the whole text,
// each later one over the newest token alone. Without the cache, and with a mistake, every pass is over the whole text.
class Generator {
public:
    // Throws Error if nothing can be generated with the scenario's model, or a setting is out of range.
    Generator(Scenario scenario, Index row, Sampling sampling, bool cached = true);

    // The next token, appended to the text; nothing once the text has ended or all positions are taken. Throws Error if
    // a pass fails or there is nothing to draw from.
    std::optional<Index> next();

    // The row so far: what it began with and what was generated.
    [[nodiscard]] std::vector<Index> tokens() const;
    // How many positions have gone through the decoder, over all passes.
    [[nodiscard]] Index computed_positions() const { return computed_positions_; }

private:
    Scenario scenario_;  // the row alone
    Index row_;
    Sampling sampling_;
    bool cached_;
    Past past_;
    Index computed_positions_ = 0;
};

}  // namespace decoderscope
