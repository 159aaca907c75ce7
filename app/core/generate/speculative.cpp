#include "app/core/generate/speculative.h"

#include "app/core/generate/generator.h"
#include "engine/base/error.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
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
        while (left() > 0 && can_go_on(model_) && !stop.stop_requested()) {
            SpeculatedRound round;
            std::vector<NextToken> of_draft;  // [drafted]
            while (std::ssize(of_draft) < std::min(asked_.drafted, left() - 1) && can_go_on(draft_) &&
                   can_go_on(model_)) {
                of_draft.push_back(next_in(draft_.last_logits(1), 0));
                const Index token = drawn(of_draft.back(), DrawnFor::token, draft_.length());
                draft_.append(token);
                model_.append(token);
                round.drafted.push_back({.token = token, .of_draft = probability_of(of_draft.back(), token)});
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

    // The tokens that may follow, after temperature and cuts, from one row of logits [1, count, vocab].
    [[nodiscard]] NextToken next_in(const Tensor& logits, Index at) const {
        std::optional<NextToken> next = next_token(logits.row({0, at, 0}), asked_.sampling);
        if (!next) throw Error("logits: NaN or ∞, expected numbers to draw from");
        return *std::move(next);
    }

    [[nodiscard]] static double probability_of(const NextToken& next, Index token) {
        return std::ranges::find(next.candidates, token, &Candidate::token)->after;
    }

    // What the model has above the draft, scaled to sum to 1.
    [[nodiscard]] static NextToken above(NextToken own, const NextToken& draft) {
        std::vector<double> of_draft(draft.candidates.size());  // [vocab]
        for (const Candidate& one : draft.candidates) of_draft[static_cast<std::size_t>(one.token)] = one.after;
        double sum = 0.0;
        for (Candidate& one : own.candidates)
            sum += one.after = std::max(0.0, one.after - of_draft[static_cast<std::size_t>(one.token)]);
        for (Candidate& one : own.candidates) one.after /= sum;
        return own;
    }

    [[nodiscard]] double number(DrawnFor what, Index position) const {
        constexpr std::uint64_t kApart = 0x9E3779B97F4A7C15;  // as far apart as 64 bits allow (Steele et al. 2014)
        return sampling_number(asked_.sampling.seed + kApart * static_cast<std::uint64_t>(what), row_, position);
    }

    [[nodiscard]] Index drawn(const NextToken& next, DrawnFor what, Index position) const {
        return next.candidates[draw(next, number(what, position)).rank].token;
    }

    // One pass over all that was drafted, and what follows from it.
    void judge(SpeculatedRound& round, std::span<const NextToken> of_draft) {
        const Index count = std::ssize(round.drafted), before = model_.length() - count;
        const Tensor logits = model_.last_logits(count + 1);  // [1, drafted + 1, vocab]
        NextToken own = next_in(logits, 0);
        for (DraftedToken& one : round.drafted) {
            one.of_model = probability_of(own, one.token);
            one.number = number(DrawnFor::acceptance, before + static_cast<Index>(round.accepted));
            one.accepted = one.number < one.accepted_below();
            if (!one.accepted) break;
            found_.tokens.push_back(one.token);
            own = next_in(logits, static_cast<Index>(++round.accepted));
        }
        const Index rejected = count - static_cast<Index>(round.accepted);
        found_.drafted += count;
        found_.accepted += static_cast<Index>(round.accepted);
        model_.take_back(rejected);
        draft_.take_back(rejected);
        if (!can_go_on(model_) || left() < 1) return;
        round.then = rejected > 0 ? drawn(above(own, of_draft[round.accepted]), DrawnFor::instead, model_.length())
                                  : drawn(own, DrawnFor::token, model_.length());
        round.of_model = probability_of(own, *round.then);
        found_.tokens.push_back(*round.then);
        model_.append(*round.then);
        // A draft that knows fewer positions drafts no more.
        if (can_go_on(draft_)) draft_.append(*round.then);
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
