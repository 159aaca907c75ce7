#include "app/core/run/output_moves.h"

#include "app/core/run/comparison.h"
#include "app/core/text/numbers.h"
#include "app/core/text/token_text.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

namespace decoderscope::core {

namespace {

// How many numbers a slice compares.
constexpr Index kSlice = 1'000'000;

PositionMove move_of(std::span<const float> before, std::span<const float> after, bool predicts) {
    PositionMove move;
    double squares = 0.0;
    for (std::size_t i = 0; i < before.size(); ++i) {
        const bool was_nan = std::isnan(before[i]), is_nan = std::isnan(after[i]);
        move.lost = move.lost || (is_nan && !was_nan);
        move.regained = move.regained || (was_nan && !is_nan);
        move.stays_nan = move.stays_nan || (was_nan && is_nan);
        if (was_nan || is_nan) continue;
        const double moved = distance_between(before[i], after[i]);
        squares += moved * moved;
        move.largest = std::max(move.largest, moved);
    }
    move.norm = std::sqrt(squares);
    if (predicts) {
        move.before = predicted_token(before);
        move.after = predicted_token(after);
    }
    constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
    if (move.lost || move.regained || move.stays_nan) move.norm = kUnknown;
    if (move.lost || move.regained || (move.stays_nan && move.largest == 0.0)) move.largest = kUnknown;
    return move;
}

bool is_further(const PositionMove& move, const OutputMoves& moves) {
    if (!move.moved()) return false;
    if (!moves.furthest) return true;
    const double most = moves.all[*moves.furthest].largest;
    return !std::isnan(most) && (std::isnan(move.largest) || move.largest > most);
}

void add(PositionMove move, OutputMoves& moves) {
    const std::size_t at = moves.all.size();
    if (!move.counts) {
        ++moves.padding;
        moves.lost_in_padding += move.lost ? 1 : 0;
    } else {
        ++moves.positions;
        moves.lost += move.lost ? 1 : 0;
        moves.regained += move.regained ? 1 : 0;
        moves.stays_nan += move.stays_nan ? 1 : 0;
        if (move.largest > moves.largest) moves.largest = move.largest;
        if (is_further(move, moves)) moves.furthest = at;
        if (move.changes_prediction()) moves.changed.push_back(at);
    }
    moves.all.push_back(std::move(move));
}

void compare(const Tensor& before, const Tensor& after, const Tensor& mask, Index batch, Index position,
             OutputMoves& moves) {
    PositionMove move = move_of(before.row({batch, position, 0}), after.row({batch, position, 0}), moves.predicts);
    move.batch = batch;
    move.position = position;
    move.counts = !is_padding(mask, batch, position);
    add(std::move(move), moves);
}

OutputMoves begun(const Tensor& after, bool predicts) {
    OutputMoves moves;
    moves.predicts = predicts;
    moves.row_length = after.dim(1);
    return moves;
}

// ---- in words

Sentence prediction_text(const Scenario& scenario, std::optional<Index> token) {
    if (!token) return Sentence::verbatim("NaN");
    return message("“{token}”", {{"token", token_text(scenario.tokenizer(), *token)}});
}

Sentence place_of(const Scenario& scenario, const PositionMove& move) {
    const Arguments arguments = {{"row", move.batch}, {"position", move.position}};
    return scenario.batch() > 1 ? message("row {row}, position {position}", arguments)
                                : message("position {position}", arguments);
}

Sentence changed_prediction(const Scenario& scenario, const PositionMove& move) {
    return message("{place} {before} → {after}", {{"place", place_of(scenario, move)},
                                                  {"before", prediction_text(scenario, move.before)},
                                                  {"after", prediction_text(scenario, move.after)}});
}

Sentence movement(const OutputMoves& moves, Mood mood) {
    const Arguments arguments = {
        {"output", moves.output}, {"largest", short_number_text(moves.largest, 3)}, {"all", moves.positions}};
    const bool would = mood == Mood::would;
    if (moves.lost > 0 && would)
        return message_n("{output} would be NaN at {count} of {all} positions",
                         "{output} would be NaN at {count} of {all} positions", moves.lost, arguments);
    if (moves.lost > 0)
        return message_n("{output}: NaN at {count} of {all} positions now",
                         "{output}: NaN at {count} of {all} positions now", moves.lost, arguments);
    if (moves.regained > 0 && would)
        return message_n("{output} would no longer be NaN at {count} of {all} positions",
                         "{output} would no longer be NaN at {count} of {all} positions", moves.regained, arguments);
    if (moves.regained > 0)
        return message_n("{output}: no longer NaN at {count} of {all} positions",
                         "{output}: no longer NaN at {count} of {all} positions", moves.regained, arguments);
    return would ? message("{output} would move by at most {largest}", arguments)
                 : message("{output} moved by at most {largest}", arguments);
}

// With what it leaves out.
Sentence without_padding(const Sentence& movement, const OutputMoves& moves) {
    if (moves.padding == 0) return movement;
    const Arguments arguments = {{"movement", movement}, {"lost", moves.lost_in_padding}};
    if (moves.lost_in_padding > 0)
        return message_n("{movement} (not counted: {count} position of padding, NaN at {lost})",
                         "{movement} (not counted: {count} positions of padding, NaN at {lost})", moves.padding,
                         arguments);
    return message_n("{movement} (not counted: {count} position of padding)",
                     "{movement} (not counted: {count} positions of padding)", moves.padding, arguments);
}

// What can't be compared: NaN is not the same as NaN.
Sentence staying_nan(const OutputMoves& moves, Mood mood) {
    const Arguments arguments = {{"output", moves.output}, {"all", moves.positions}};
    return mood == Mood::would
               ? message_n("{output} would still be NaN at {count} of {all} positions",
                           "{output} would still be NaN at {count} of {all} positions", moves.stays_nan, arguments)
               : message_n("{output}: still NaN at {count} of {all} positions",
                           "{output}: still NaN at {count} of {all} positions", moves.stays_nan, arguments);
}

// The sentence about an output that moved nowhere.
Sentence unmoved(const OutputMoves& moves, Mood mood) {
    const bool would = mood == Mood::would;
    const Arguments output = {{"output", moves.output}};
    if (moves.stays_nan == 0) {
        const Sentence same =
            would ? message("{output} would stay the same", output) : message("{output} stayed the same", output);
        return message("{movement}.", {{"movement", without_padding(same, moves)}});
    }
    const Arguments arguments = {{"nan", without_padding(staying_nan(moves, mood), moves)}};
    if (moves.stays_nan == moves.positions) return message("{nan}.", arguments);
    return would ? message("{nan}; the others would stay the same.", arguments)
                 : message("{nan}; the others stayed the same.", arguments);
}

// The sentence about one that did.
Sentence moved_sentence(const Scenario& scenario, const OutputMoves& moves, Mood mood) {
    const bool would = mood == Mood::would;
    const Sentence moved = without_padding(movement(moves, mood), moves);
    if (!moves.predicts) return message("{movement}.", {{"movement", moved}});
    if (moves.changed.empty())
        return would ? message("{movement}; no prediction would change.", {{"movement", moved}})
                     : message("{movement}; no prediction changed.", {{"movement", moved}});
    const Arguments arguments = {
        {"movement", moved}, {"all", moves.positions}, {"changes", changes_sentence(scenario, moves)}};
    if (would)
        return message_n("{movement}; the prediction would change at {count} of {all} positions: {changes}.",
                         "{movement}; the prediction would change at {count} of {all} positions: {changes}.",
                         moves.changed.size(), arguments);
    return message_n("{movement}; the prediction changed at {count} of {all} positions: {changes}.",
                     "{movement}; the prediction changed at {count} of {all} positions: {changes}.",
                     moves.changed.size(), arguments);
}

}  // namespace

Ref output_step(const Plan& plan) {
    if (const Ref logits = plan.find("logits")) return logits;
    Ref last = nullptr;
    for (const Step& step : plan.steps()) {
        const bool in_trace = step.role == Role::recorded && !step.in_encoder();
        const bool stream =
            step.axes.size() == 3 && step.axes[1].name == axis::pos && step.axes[2].name == axis::d_model;
        if (in_trace && stream) last = &step;
    }
    return last;
}

bool predicts_tokens(const Step& output) { return output.axes.back().name == axis::vocab; }

std::optional<Index> predicted_token(std::span<const float> logits) {
    if (logits.empty()) return std::nullopt;
    std::size_t best = 0;
    for (std::size_t i = 0; i < logits.size(); ++i) {
        if (std::isnan(logits[i])) return std::nullopt;
        if (logits[i] > logits[best]) best = i;
    }
    return static_cast<Index>(best);
}

OutputMoves moves_of(const Tensor& before, const Tensor& after, const Tensor& attention_mask, bool predicts) {
    OutputMoves moves = begun(after, predicts);
    for (Index batch = 0; batch < after.dim(0); ++batch)
        for (Index position = 0; position < after.dim(1); ++position)
            compare(before, after, attention_mask, batch, position, moves);
    return moves;
}

Index count_of_changed_predictions(const Tensor& before, const Tensor& after, const Tensor& attention_mask) {
    Index count = 0;
    for (Index batch = 0; batch < after.dim(0); ++batch) {
        for (Index position = 0; position < after.dim(1); ++position) {
            const std::span<const float> was = before.row({batch, position, 0}), is = after.row({batch, position, 0});
            if (std::memcmp(was.data(), is.data(), was.size_bytes()) == 0) continue;  // most, if only a few rows moved
            const PositionMove move{.counts = !is_padding(attention_mask, batch, position),
                                    .before = predicted_token(was),
                                    .after = predicted_token(is)};
            count += move.changes_prediction() ? 1 : 0;
        }
    }
    return count;
}

Resumable<OutputMoves> output_moves(std::shared_ptr<const Run> before, std::shared_ptr<const Run> after,
                                    Tensor attention_mask) {
    const Ref output = output_step(after->plan());
    if (output == nullptr) co_return OutputMoves{};
    const Tensor then = before->value(output->name), now = after->value(output->id);
    if (now.rank() != 3 || now.axes() != then.axes()) co_return OutputMoves{};
    if (!now.is_ready() || !then.is_ready()) co_yield kPause;  // the first positions may still be computed
    OutputMoves moves = begun(now, predicts_tokens(*output));
    moves.output = output->name;
    Index read = 0;
    for (Index batch = 0; batch < now.dim(0); ++batch) {
        for (Index position = 0; position < now.dim(1); ++position) {
            compare(then, now, attention_mask, batch, position, moves);
            if ((read += now.dim(2)) < kSlice) continue;
            read = 0;
            co_yield kPause;
        }
    }
    co_return moves;
}

Sentence moves_sentence(const Scenario& scenario, const OutputMoves& moves, Mood mood) {
    if (moves.output.empty()) return {};
    if (!moves.furthest) return unmoved(moves, mood);
    const Sentence moved = moved_sentence(scenario, moves, mood);
    if (moves.stays_nan == 0) return moved;
    return message("{moved} {nan}.", {{"moved", moved}, {"nan", staying_nan(moves, mood)}});
}

Sentence changes_sentence(const Scenario& scenario, const OutputMoves& moves) {
    if (moves.changed.empty()) return {};
    constexpr std::size_t few = 3;
    const auto one = [&](std::size_t i) { return changed_prediction(scenario, moves.all[moves.changed[i]]); };
    Sentence all = one(0);
    const std::size_t named = std::min(few, moves.changed.size());
    for (std::size_t i = 1; i < named; ++i) all = message("{first}, {next}", {{"first", all}, {"next", one(i)}});
    if (named == moves.changed.size()) return all;
    return message_n("{these} and {count} more", "{these} and {count} more", moves.changed.size() - named,
                     {{"these", all}});
}

Sentence furthest_sentence(const Scenario& scenario, const OutputMoves& moves) {
    if (!moves.furthest) return {};
    return message("furthest at {place}", {{"place", place_of(scenario, moves.all[*moves.furthest])}});
}

Sentence against_unedited(const Scenario& scenario, const Sentence& effect) {
    const Sentence settings = changed_settings(scenario);
    if (settings.empty()) return message("Against the same run without edits: {effect}", {{"effect", effect}});
    return message("Against the same run ({settings}) without edits: {effect}",
                   {{"settings", settings}, {"effect", effect}});
}

}  // namespace decoderscope::core
