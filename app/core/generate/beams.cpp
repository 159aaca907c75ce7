#include "app/core/generate/beams.h"

#include "app/core/generate/generator.h"
#include "engine/base/error.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>

namespace decoderscope::core::generate {

namespace {

// A text that goes on.
struct Beam {
    std::optional<std::size_t> node;  // its last; nothing: the given text
    double sum = 0;
    CachedText text;
};

// The natural logarithms of the probabilities; throws Error if there are none.
std::vector<double> log_probabilities(std::span<const float> logits) {
    const double most = static_cast<double>(*std::ranges::max_element(logits));
    double sum = 0;
    for (const float logit : logits) sum += std::exp(static_cast<double>(logit) - most);
    if (!std::isfinite(sum) || !std::isfinite(most)) throw Error("logits: NaN or ∞, expected numbers to search by");
    std::vector<double> logs;
    for (const float logit : logits) logs.push_back(static_cast<double>(logit) - most - std::log(sum));
    return logs;
}

// The most probable tokens after a beam.
std::vector<BeamNode> continuations(const Beam& beam, std::span<const double> log_probs, std::size_t most) {
    std::vector<Index> tokens(log_probs.size());
    std::iota(tokens.begin(), tokens.end(), Index{0});
    const std::size_t count = std::min(most, tokens.size());
    std::partial_sort(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(count), tokens.end(),
                      [&](Index a, Index b) {
                          const double first = log_probs[static_cast<std::size_t>(a)],
                                       second = log_probs[static_cast<std::size_t>(b)];
                          return first > second || (first == second && a < b);
                      });
    std::vector<BeamNode> nodes;
    for (std::size_t i = 0; i < count; ++i) {
        const double log_prob = log_probs[static_cast<std::size_t>(tokens[i])];
        nodes.push_back({.parent = beam.node, .token = tokens[i], .log_prob = log_prob, .sum = beam.sum + log_prob});
    }
    return nodes;
}

class Search {
public:
    Search(Scenario scenario, Index row, const BeamSearch& search) : special_(scenario.tokenizer().special()) {
        tree_.search = search;
        beams_.push_back({std::nullopt, 0.0, CachedText(std::move(scenario), row)});
    }

    Resumable<BeamTree> run(std::stop_token stop) {
        if (beams_.front().text.ended()) co_return std::move(tree_);
        const auto looked_at = static_cast<std::size_t>(2 * tree_.search.beams);
        for (Index depth = 1; depth <= tree_.search.length && !beams_.empty(); ++depth) {
            if (!beams_.front().text.why_full().empty()) break;
            std::vector<std::pair<BeamNode, std::size_t>> candidates;  // and the number of its beam
            for (std::size_t i = 0; i < beams_.size(); ++i) {
                if (stop.stop_requested()) co_return std::move(tree_);
                const Tensor logits = beams_[i].text.next_logits();  // [1, 1, vocab]
                const std::vector<double> log_probs = log_probabilities(logits.values());
                for (BeamNode& node : continuations(beams_[i], log_probs, looked_at)) {
                    node.depth = depth;
                    candidates.emplace_back(node, i);
                }
                co_yield kPause;
            }
            std::ranges::stable_sort(candidates,
                                     [](const auto& a, const auto& b) { return a.first.sum > b.first.sum; });
            candidates.resize(std::min(candidates.size(), looked_at));
            go_on(candidates);
            if (can_not_be_overtaken()) break;
        }
        for (const Beam& beam : beams_)
            if (beam.node) tree_.finished.push_back(*beam.node);
        keep_best();
        co_return std::move(tree_);
    }

private:
    [[nodiscard]] std::size_t beams() const { return static_cast<std::size_t>(tree_.search.beams); }

    void go_on(std::span<const std::pair<BeamNode, std::size_t>> candidates) {
        std::vector<Beam> next;
        for (std::size_t rank = 0; rank < candidates.size(); ++rank) {
            const auto& [candidate, beam] = candidates[rank];
            const std::size_t number = tree_.nodes.size();
            BeamNode& node = tree_.nodes.emplace_back(candidate);
            if (special_.ends_at(node.token)) {
                node.ended = rank < beams();
                if (node.ended) tree_.finished.push_back(number);
            } else if (next.size() < beams()) {
                node.goes_on = true;
                next.push_back({number, node.sum, beams_[beam].text});
                next.back().text.append(node.token);
            }
        }
        beams_ = std::move(next);
        keep_best();
    }

    void keep_best() {
        std::ranges::stable_sort(tree_.finished,
                                 [&](std::size_t a, std::size_t b) { return tree_.score(a) > tree_.score(b); });
        tree_.finished.resize(std::min(tree_.finished.size(), beams()));
    }

    // Compared with what the best text that goes on scores now, as transformers' early_stopping=False does.
    [[nodiscard]] bool can_not_be_overtaken() const {
        if (tree_.finished.size() < beams() || beams_.empty()) return false;
        return tree_.score(tree_.finished.back()) >= tree_.score(*beams_.front().node);
    }

    tokenizer::SpecialTokens special_;
    BeamTree tree_;
    std::vector<Beam> beams_;  // the largest sum first
};

}  // namespace

void check_beam_search(const BeamSearch& search) {
    if (search.beams < 1 || search.beams > kMostBeams)
        throw Error("beams: {count}, expected 1 to {most}", {{"count", search.beams}, {"most", kMostBeams}});
    if (search.length < 1 || search.length > kMostBeamTokens)
        throw Error("length: {count} tokens, expected 1 to {most} of each beam",
                    {{"count", search.length}, {"most", kMostBeamTokens}});
    if (!std::isfinite(search.length_penalty)) throw Error("length penalty: expected a number");
}

double BeamTree::score(std::size_t node) const {
    return nodes[node].sum / std::pow(static_cast<double>(nodes[node].depth), search.length_penalty);
}

std::vector<Index> BeamTree::tokens(std::size_t node) const {
    std::vector<Index> tokens;
    for (std::optional<std::size_t> at = node; at; at = nodes[*at].parent) tokens.push_back(nodes[*at].token);
    std::ranges::reverse(tokens);
    return tokens;
}

bool BeamTree::is_on_the_way(std::size_t node, std::size_t to) const {
    for (std::optional<std::size_t> at = to; at; at = nodes[*at].parent)
        if (*at == node) return true;
    return false;
}

Resumable<BeamTree> beam_tree(Scenario scenario, Index row, BeamSearch search, std::stop_token stop) {
    check_beam_search(search);
    Search beams(std::move(scenario), row, search);
    BeamTree tree = co_await beams.run(std::move(stop));
    co_return tree;
}

}  // namespace decoderscope::core::generate
