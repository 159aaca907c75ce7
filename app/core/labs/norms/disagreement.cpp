#include "app/core/labs/norms/disagreement.h"

#include "app/core/text/numbers.h"
#include "app/core/text/token_text.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

namespace decoderscope::core::norms {

namespace {

double distance_of(const PositionMove& move) {
    return std::isnan(move.largest) ? std::numeric_limits<double>::infinity() : move.largest;
}

Resumable<Disagreements> compare_answers(std::shared_ptr<const Run> left, std::shared_ptr<const Run> right,
                                         Tensor attention_mask) {
    co_return disagreements_of(co_await output_moves(std::move(left), std::move(right), std::move(attention_mask)));
}

}  // namespace

Disagreements disagreements_of(const OutputMoves& moves) {
    Disagreements found{.changed = static_cast<Index>(moves.changed.size()),
                        .all = moves.positions,
                        .both_nan = moves.stays_nan,
                        .predicts = moves.predicts};
    for (const PositionMove& move : moves.all)
        if (move.counts && move.largest != 0.0) found.positions.push_back(move);
    std::ranges::stable_sort(found.positions, [](const PositionMove& a, const PositionMove& b) {
        return std::make_tuple(!a.changes_prediction(), -distance_of(a)) <
               std::make_tuple(!b.changes_prediction(), -distance_of(b));
    });
    return found;
}

Value<Disagreements> shown_disagreements(Derived& derived, const BothNorms<Companion>& runs) {
    return derived.later<Disagreements>({runs.left.run, runs.right.run}, std::tuple<>(), [&] {
        return compare_answers(runs.left.run, runs.right.run, runs.left.scenario.inputs.attention_mask);
    });
}

Sentence disagreements_sentence(const Disagreements& disagreements) {
    if (!disagreements.predicts) return {};
    const Sentence differ = message_n("Their predictions differ at {changed} of {count} position.",
                                      "Their predictions differ at {changed} of {count} positions.", disagreements.all,
                                      {{"changed", disagreements.changed}});
    if (disagreements.both_nan == 0) return differ;
    const Sentence nan =
        message_n("Both are NaN at {count} of {all} positions.", "Both are NaN at {count} of {all} positions.",
                  disagreements.both_nan, {{"all", disagreements.all}});
    return disagreements.both_nan == disagreements.all ? nan
                                                       : message("{differ} {nan}", {{"differ", differ}, {"nan", nan}});
}

Sentence disagreement_sentence(const Scenario& scenario, const PositionMove& move) {
    const auto named = [&](const std::optional<Index>& token) {
        return token ? "“" + token_text(scenario.tokenizer(), *token) + "”" : std::string("NaN");
    };
    const Arguments arguments = {{"row", move.batch},
                                 {"position", move.position},
                                 {"left", named(move.before)},
                                 {"right", named(move.after)},
                                 {"largest", short_number_text(move.largest, 3)}};
    if (move.changes_prediction())
        return message("row {row}, position {position}: {left} → {right}; logits {largest} apart", arguments);
    if (!move.moved()) return message("row {row}, position {position}: NaN in both", arguments);
    return message("row {row}, position {position}: both {left}; logits {largest} apart", arguments);
}

}  // namespace decoderscope::core::norms
