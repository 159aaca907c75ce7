#pragma once

#include "app/core/diff/comparison.h"
#include "app/core/generate/logit_lens.h"
#include "app/core/generate/sampling.h"
#include "app/core/session/command.h"
#include "app/core/session/scenario.h"

#include <memory>
#include <optional>
#include <vector>

namespace decoderscope {

// What the Generate tab shows below the text.
enum class GeneratePage { next_token, cache, lens };

// The tokens that may come next, sorted once for a run, a row and a setting.
struct ShownNextToken {
    std::shared_ptr<const Run> run;
    Index row = -1;
    Sampling sampling;
    std::optional<NextToken> next;  // nothing where there is nothing to draw from
    double number = 0.0;            // that the draw is made with
    Draw draw;
};

// The cached pass against the full pass, compared once for a pair of runs.
struct ShownProof {
    std::shared_ptr<const Run> full, cached;
    std::optional<Comparing> under_way;  // while it takes longer than a frame
    Comparison comparison;
    std::vector<std::size_t> worst_first;
};

struct ShownLens {
    std::shared_ptr<const Run> run;
    Index row = -1;
    std::optional<LensReading> reading;
    bool complete = false;
};

// What the Generate tab remembers from frame to frame.
struct GenerateTabState {
    GeneratePage page = GeneratePage::next_token;
    bool running = false;                              // a token goes by now and then, until the end
    double next_token_at = 0.0;                        // seconds, ImGui's clock
    Index layer = 0;                                   // whose k and v are shown
    bool proving = false;                              // the cached pass is computed beside the run, and compared
    Index lens_back = 0;                               // how many columns the lens is scrolled back from the newest
    std::optional<Variation> asked_cache, asked_lens;  // the runs beside this one that were asked for
    ShownNextToken next;
    ShownProof proof;
    ShownLens lens;
};

}  // namespace decoderscope
