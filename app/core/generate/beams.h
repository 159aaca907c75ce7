#pragma once

#include "app/core/jobs/resumable.h"
#include "app/core/run/scenario.h"
#include "engine/base/message.h"

#include <cstddef>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace decoderscope::core::generate {

// Beam search: at each step, the texts with the largest sums of log-probabilities go on, so many at a time (Sutskever
// et al. 2014). As in Hugging Face's transformers, twice as many candidates are looked at; a text that has ended is set
// aside if it was among the first, and a score, the sum divided by (tokens added)^length_penalty, compares texts of
// different lengths (Wu et al. 2016 divide by another power).
struct BeamSearch {
    Index beams = 4;
    Index length = 12;            // tokens that are added at most
    double length_penalty = 1.0;  // 0: the sum itself, in which every token costs something
    bool operator==(const BeamSearch&) const = default;
};
inline constexpr Index kMostBeams = 64, kMostBeamTokens = 512;

// Throws Error naming the setting that is out of range.
void check_beam_search(const BeamSearch& search);

// A candidate: a token after one of the texts that went on.
struct BeamNode {
    std::optional<std::size_t> parent;  // nothing: it follows the given text
    Index token = 0;
    Index depth = 1;       // how many tokens were added, with this one
    double log_prob = 0;   // of the token after its text: a natural logarithm
    double sum = 0;        // of all that were added
    bool goes_on = false;  // it is among the beams
    bool ended = false;    // it ends its text, and was set aside
};

struct BeamTree {
    BeamSearch search;
    std::vector<BeamNode> nodes;        // step by step, the largest sum first
    std::vector<std::size_t> finished;  // the last nodes of the texts found, the best score first; at most `beams`

    [[nodiscard]] double score(std::size_t node) const;
    // The tokens that a node's text adds, from the first.
    [[nodiscard]] std::vector<Index> tokens(std::size_t node) const;
    // Whether the node lies on the way to this one, or is it.
    [[nodiscard]] bool is_on_the_way(std::size_t node, std::size_t to) const;
};

// Continues a batch row, each beam with a KV cache of its own. Stops early once the texts that have ended can't be
// overtaken; nothing follows a text that has ended. Throws Error if nothing can be generated, a setting is out of
// range, or a logit is NaN.
[[nodiscard]] Resumable<BeamTree> beam_tree(Scenario scenario, Index row, BeamSearch search, std::stop_token stop = {});

}  // namespace decoderscope::core::generate
