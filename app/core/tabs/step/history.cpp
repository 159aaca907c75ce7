#include "app/core/tabs/step/history.h"

#include "app/core/jobs/resumable.h"
#include "app/core/run/slice.h"
#include "app/core/text/columns.h"
#include "app/core/text/numbers.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <ostream>
#include <tuple>

namespace decoderscope::core::step {

namespace {

constexpr int kDigits = 6;

// The stream's steps up to this one, in order.
std::vector<Ref> stream_up_to(const Plan& plan, const Step& step) {
    std::vector<Ref> stream = {&step};
    while (const Ref before = stream_before(plan, *stream.back())) stream.push_back(before);
    std::ranges::reverse(stream);
    return stream;
}

// A head's weights for each key, and which masks hide it.
std::vector<GatheredKey> keys_of(const Run& run, const Writer& writer, Index batch, Index position) {
    const Ref results = run.plan().find(writer.tensor);
    const Ref pattern = results == nullptr ? nullptr : run.plan().step_of(results->attention, AttentionStep::pattern);
    if (!writer.head || pattern == nullptr || run.value(pattern->id).empty()) return {};
    std::vector<GatheredKey> keys;
    for (const float weight : run.value(pattern->id).row({batch, *writer.head, position, 0})) keys.push_back({weight});
    if (!pattern->masked_by) return keys;
    const std::vector<std::uint8_t> hidden =
        hidden_keys(run, run.plan()[*pattern->masked_by], batch, *writer.head, position);
    for (std::size_t key = 0; key < keys.size(); ++key) keys[key].hidden = hidden[key];
    return keys;
}

class Telling {
public:
    Telling(const Run& run, const Cell& cell)
        : run_(run),
          plan_(run.plan()),
          batch_(cell[0]),
          position_(cell[1]),
          column_(static_cast<std::size_t>(cell[2])) {}

    // From the beginning of the stream, one step after the other.
    void begin(const Step& first) { add_update(first, 1.0); }
    void go_on(const Step& before, const Step& now) {
        if (now.operation.traits().norm)
            add({Contributor::norm, now.name, now.layer, std::nullopt, std::nullopt}, now, made_by(now) - total_);
        else
            add_sum(before, now);
        if (now.patches.empty()) return;
        const double changed = value_of(now) - row_before_edits(run_, now, batch_, position_)[column_];
        if (changed != 0.0) add({Contributor::edit, now.name, now.layer, std::nullopt, std::nullopt}, now, changed);
    }
    History end(const Step& last) {
        made_.value = static_cast<float>(value_of(last));
        return std::move(made_);
    }

private:
    [[nodiscard]] double value_of(const Step& step) const {
        return row_at(run_.value(step.id), batch_, position_)[column_];
    }

    [[nodiscard]] Cell cell_of(const Step& step, const Writer& writer) const {
        const auto column = static_cast<Index>(column_);
        if (writer.head && step.axes.size() == 4) return {batch_, *writer.head, position_, column};
        if (step.axes.size() == 3) return {batch_, position_, column};
        return step.axes.size() == 2 ? Cell{position_, column} : Cell{};
    }

    void add(const Writer& writer, const Step& step, double write) {
        total_ += write;
        made_.rows.push_back(
            {writer, step.name, cell_of(step, writer), write, total_, keys_of(run_, writer, batch_, position_)});
    }

    // A part's row in the stream: through the norms that the update passes by itself, times the sum's factor.
    [[nodiscard]] double in_stream(const WrittenPart& part, const Step& update, double factor) const {
        DirectPath own;
        for (const Step* at = &update; at->operation.traits().norm; at = &plan_[*at->operand(OperandRole::input)])
            own.norms.insert(own.norms.begin(), at->id);
        if (own.norms.empty() || part.rows == update.id) return part.row[column_] * factor;
        return along_path(run_, own, batch_, position_, part.row)[column_] * factor;
    }

    void add_update(const Step& update, double factor) {
        const UpdateParts written = parts_of_update(run_, update, batch_, position_);
        double parts = 0.0;
        for (const WrittenPart& part : written.parts) {
            const double write = in_stream(part, update, factor);
            parts += write;
            add(part.writer, plan_[part.rows], write);
        }
        if (written.rest) add(*written.rest, update, value_of(update) * factor - parts);
    }

    void add_sum(const Step& before, const Step& now) {
        if (const double factor = factor_in_sum(run_, now, before.id); factor != 1.0)
            add({Contributor::scale, now.name, now.layer, std::nullopt, std::nullopt}, now, total_ * (factor - 1.0));
        for (const StepId update : now.operands_as(OperandRole::update))
            add_update(plan_[update], factor_in_sum(run_, now, update));
    }
    // What a norm made, before its edits.
    [[nodiscard]] double made_by(const Step& norm) const {
        return norm.patches.empty() ? value_of(norm) : row_before_edits(run_, norm, batch_, position_)[column_];
    }

    const Run& run_;
    const Plan& plan_;
    Index batch_, position_;
    std::size_t column_;
    double total_ = 0.0;
    History made_;
};

}  // namespace

bool is_stream(const Plan& plan, const Step& step) {
    const bool has_rows = step.axes.size() == 3 && step.axes[2].name == axis::d_model && !step.is_source();
    return has_rows && !step.backward && stream_before(plan, step) != nullptr;
}

Resumable<History> history_of(std::shared_ptr<const Run> run, StepId step, Cell cell) {
    const std::vector<Ref> stream = stream_up_to(run->plan(), run->plan()[step]);
    Telling telling(*run, cell);
    telling.begin(*stream.front());
    for (std::size_t i = 1; i < stream.size(); ++i) {
        co_yield kPause;
        telling.go_on(*stream[i - 1], *stream[i]);
    }
    co_return telling.end(*stream.back());
}

Value<History> shown_history(Derived& derived, const Snapshot& shown, const Step& step, const Cell& cell) {
    return derived.later<History>({shown.run}, std::tie(step.id, cell),
                                  [&] { return history_of(shown.run, step.id, cell); });
}

Sentence hidden_sentence(const HistoryRow& row) {
    std::string hidden;
    std::size_t count = 0;
    for (std::size_t key = 0; key < row.keys.size(); ++key)
        if (row.keys[key].hidden != hidden_by::nothing) {
            hidden += (hidden.empty() ? "" : ", ") + std::to_string(key);
            ++count;
        }
    if (count == 0) return {};
    return message("The mask hides {count} of {all} keys: {hidden}",
                   {{"count", count}, {"all", row.keys.size()}, {"hidden", hidden}});
}

void write_history(std::ostream& out, const Step& step, const Cell& cell, const History& history) {
    out << cell_name(step.name, cell) << " = " << number_text(static_cast<double>(history.value), kDigits) << '\n';
    std::vector<std::vector<std::string>> rows = {{tr("written by"), tr("write"), tr("total")}};
    for (const HistoryRow& row : history.rows)
        rows.push_back(
            {name_of(row.writer).english(), number_text(row.write, kDigits), number_text(row.total, kDigits)});
    write_columns(out, rows, 1);
    for (const HistoryRow& row : history.rows)
        if (const Sentence hidden = hidden_sentence(row); !hidden.empty())
            out << name_of(row.writer).english() << ": " << hidden.english() << '\n';
}

}  // namespace decoderscope::core::step
