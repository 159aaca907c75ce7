#include "app/core/generate/speculative.h"

#include "app/core/generate/generator.h"
#include "engine/base/error.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace decoderscope::core::generate {

namespace {

// Numbers for the same position that have nothing to do with each other: what is drafted, whether it is accepted, and
// what is drawn in its place.
enum class DrawnFor : std::uint64_t { token, acceptance, instead };

class Speculating {
public:
    Speculating(const Scenario& model, Scenario draft, Index row, Speculation asked)
        : asked_(asked), row_(row), model_(model, row), draft_(reading(std::move(draft), model), row) {}

    Resumable<Speculated> run(std::stop_token stop) {
        while (left() > 0 && !model_.ended() && model_.why_full().empty() && !stop.stop_requested()) {
            SpeculatedRound round;
            std::vector<std::vector<double>> of_draft;  // [drafted, vocab]
            while (static_cast<Index>(of_draft.size()) < std::min(asked_.drafted, left() - 1) && can_go_on(draft_)) {
                of_draft.push_back(probabilities(last_row(draft_.last_logits(1))));
                const Index token = drawn(of_draft.back(), DrawnFor::token, draft_.length());
                draft_.append(token);
                const auto at = static_cast<std::size_t>(token);
                round.drafted.push_back({.token = token, .of_draft = of_draft.back()[at]});
                ++found_.draft_passes;
                co_yield kPause;
            }
            judge(round, of_draft);
            found_.rounds.push_back(std::move(round));
            co_yield kPause;
        }
        co_return std::move(found_);
    }

private:
    // The draft on the model's text.
    static Scenario reading(Scenario draft, const Scenario& model) {
        if (draft.config().vocab_size != model.config().vocab_size)
            throw Error("draft: a vocabulary of {size} tokens, expected the model's {expected}",
                        {{"size", draft.config().vocab_size}, {"expected", model.config().vocab_size}});
        if (draft.config().cross_attention && !model.config().cross_attention)
            throw Error("draft: it reads a source, and the model has none; expected a decoder without one");
        draft.inputs = model.inputs;
        return draft;
    }

    [[nodiscard]] Index left() const { return asked_.length - static_cast<Index>(found_.tokens.size()); }
    [[nodiscard]] static bool can_go_on(const CachedText& text) { return !text.ended() && text.why_full().empty(); }

    [[nodiscard]] static std::span<const float> last_row(const Tensor& logits) {
        return logits.row({0, logits.dim(1) - 1, 0});
    }

    // After temperature and cuts -> [vocab]
    [[nodiscard]] std::vector<double> probabilities(std::span<const float> logits) const {
        const std::optional<NextToken> next = next_token(logits, asked_.sampling);
        if (!next) throw Error("logits: NaN or ∞, expected numbers to draw from");
        std::vector<double> all(logits.size());
        for (const Candidate& one : next->candidates) all[static_cast<std::size_t>(one.token)] = one.after;
        return all;
    }

    [[nodiscard]] double number(DrawnFor what, Index position) const {
        constexpr std::uint64_t kApart = 0x9E3779B97F4A7C15;  // as far apart as 64 bits allow (Steele et al. 2014)
        return sampling_number(asked_.sampling.seed + kApart * static_cast<std::uint64_t>(what), row_, position);
    }

    [[nodiscard]] Index drawn(std::span<const double> weights, DrawnFor what, Index position) const {
        const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
        double rest = number(what, position) * sum;
        Index last = 0;
        for (std::size_t token = 0; token < weights.size(); ++token) {
            if (weights[token] <= 0.0) continue;
            last = static_cast<Index>(token);
            if (rest < weights[token]) break;
            rest -= weights[token];
        }
        return last;
    }

    // One pass over all that was drafted, and what follows from it.
    void judge(SpeculatedRound& round, std::span<const std::vector<double>> of_draft) {
        const Index before = model_.length(), count = static_cast<Index>(round.drafted.size());
        for (const DraftedToken& one : round.drafted) model_.append(one.token);
        const Tensor logits = model_.last_logits(count + 1);  // [1, drafted + 1, vocab]
        std::vector<double> then;
        for (std::size_t i = 0; i < round.drafted.size(); ++i) {
            DraftedToken& one = round.drafted[i];
            const Index position = before + static_cast<Index>(i);
            then = probabilities(logits.row({0, static_cast<Index>(i), 0}));
            one.of_model = then[static_cast<std::size_t>(one.token)];
            one.number = number(DrawnFor::acceptance, position);
            one.accepted = one.number < one.accepted_below();
            if (!one.accepted) break;
            ++round.accepted;
            found_.tokens.push_back(one.token);
        }
        found_.drafted += count;
        found_.accepted += static_cast<Index>(round.accepted);
        const Index rejected = count - static_cast<Index>(round.accepted);
        model_.take_back(rejected);
        draft_.take_back(rejected);
        if (model_.ended() || left() < 1) return;
        const bool instead = rejected > 0;
        if (!instead) then = probabilities(last_row(logits));
        const std::vector<double> own = then;
        if (instead)
            for (std::size_t token = 0; token < then.size(); ++token)
                then[token] = std::max(0.0, then[token] - of_draft[round.accepted][token]);
        const Index token = drawn(then, instead ? DrawnFor::instead : DrawnFor::token, model_.length());
        round.then = token;
        round.of_model = own[static_cast<std::size_t>(token)];
        found_.tokens.push_back(token);
        model_.append(token);
        draft_.append(token);
    }

    Speculation asked_;
    Index row_;
    CachedText model_, draft_;
    Speculated found_;
};

}  // namespace

void check_speculation(const Speculation& speculation) {
    check_sampling(speculation.sampling);
    if (speculation.drafted < 1 || speculation.drafted > kMostDrafted)
        throw Error("drafted: {count} tokens, expected 1 to {most}",
                    {{"count", speculation.drafted}, {"most", kMostDrafted}});
    if (speculation.length < 1 || speculation.length > kMostSpeculated)
        throw Error("length: {count} tokens, expected 1 to {most}",
                    {{"count", speculation.length}, {"most", kMostSpeculated}});
}

Scenario with_first_blocks(const Scenario& model, Index blocks) {
    const Index all = model.config().num_layers;
    if (blocks < 1 || blocks > all)
        throw Error("draft: {count} blocks, expected 1 to {all}", {{"count", blocks}, {"all", all}});
    Scenario draft = with_override(model, "num_layers", std::to_string(blocks));
    draft.edits.clear();
    draft.gradient_target.clear();
    return draft;
}

Resumable<Speculated> speculated(Scenario model, Scenario draft, Index row, Speculation speculation,
                                 std::stop_token stop) {
    check_speculation(speculation);
    Speculating speculating(model, std::move(draft), row, speculation);
    Speculated found = co_await speculating.run(std::move(stop));
    co_return found;
}

}  // namespace decoderscope::core::generate
