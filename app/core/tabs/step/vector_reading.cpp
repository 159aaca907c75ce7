#include "app/core/tabs/step/vector_reading.h"

#include "app/core/run/output_moves.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <tuple>

namespace decoderscope::core::step {

namespace {

// The product of the last stream with the vocabulary: the head's first step that makes [batch, pos, vocab].
const Step* head_of(const Plan& plan) {
    for (const Step& step : plan.steps()) {
        const bool over_vocabulary = step.axes.size() == 3 && step.axes[2].name == axis::vocab;
        if (step.part == Part::head && over_vocabulary && step.operation.traits().is_linear) return &step;
    }
    return nullptr;
}

DirectPath through_norm(StepId norm, const DirectPath& after) {
    DirectPath path{after.factor, {norm}};
    path.norms.insert(path.norms.end(), after.norms.begin(), after.norms.end());
    return path;
}

// An update, and what becomes it in a norm of its own (Peri-Norm).
void add_update(DirectPaths& paths, const Plan& plan, StepId update, DirectPath path) {
    paths.added.push_back(update);
    paths.of[update] = path;
    while (plan[update].operation.traits().norm) {
        path = through_norm(update, path);
        update = *plan[update].operand(OperandRole::input);
        paths.of[update] = path;
    }
}

// Heads' results have the path of their attention's output.
void add_results(DirectPaths& paths, const Plan& plan) {
    for (const Step& step : plan.steps()) {
        for (const auto& [id, path] : paths.of) {
            if (!are_results_of(step, plan[id])) continue;
            const DirectPath same = path;
            paths.of[step.id] = same;
            break;
        }
    }
}

// A row through a norm whose scale is the recorded one, without its shift: the norm's own operation, on other operands.
std::vector<float> through_frozen_norm(const Run& run, const Step& norm, Index batch, Index pos,
                                       std::span<const float> row) {
    const Axes one_row = {{axis::batch, 1}, {axis::pos, 1}, {axis::d_model, static_cast<Index>(row.size())}};
    const Tensor x(one_row, row);
    const Tensor scale({{axis::batch, 1}, {axis::pos, 1}, {axis::one, 1}},
                       {run.operand(norm, OperandRole::scale).at(Cell{batch, pos, 0})});
    Operands operands;  // x, scale, gain if any
    operands.add(x);
    operands.add(scale);
    if (const Tensor& gain = run.operand(norm, OperandRole::gain); !gain.empty()) operands.add(gain);
    const Tensor normed = norm.operation.compute(operands, one_row);
    return {normed.values().begin(), normed.values().end()};
}

constexpr std::size_t kComponents = 5, kTokens = 3;
constexpr Index kSlice = 2'000'000;       // multiply-adds between two pauses
constexpr Index kAllTokens = 64'000'000;  // up to so many, the tokens of every row are found

using Row = std::vector<double>;

Row row_of(const Tensor& tensor, const Cell& first) {
    const std::span<const float> values = tensor.row(first);
    return {values.begin(), values.end()};
}

double dot(const Row& a, const Row& b) { return std::inner_product(a.begin(), a.end(), b.begin(), 0.0); }
double length(const Row& a) { return std::sqrt(dot(a, a)); }
double cosine(const Row& a, const Row& b) { return dot(a, b) / (length(a) * length(b)); }

std::vector<std::pair<Index, double>> largest_components(const Row& row) {
    std::vector<Index> order(row.size());
    std::iota(order.begin(), order.end(), Index{0});
    const auto magnitude = [&](Index i) {
        const double value = std::abs(row[static_cast<std::size_t>(i)]);
        return std::isnan(value) ? std::numeric_limits<double>::infinity() : value;
    };
    const auto most = order.begin() + static_cast<std::ptrdiff_t>(std::min(kComponents, order.size()));
    std::partial_sort(order.begin(), most, order.end(), [&](Index a, Index b) {
        return magnitude(a) > magnitude(b) || (magnitude(a) == magnitude(b) && a < b);
    });
    std::vector<std::pair<Index, double>> largest;
    for (auto i = order.begin(); i != most; ++i) largest.emplace_back(*i, row[static_cast<std::size_t>(*i)]);
    return largest;
}

// Keeps the few largest by `better`, best first.
template <class Better>
void keep_best(std::vector<TokenMove>& best, TokenMove move, Better better) {
    if (best.size() == kTokens && !better(move.logit, best.back().logit)) return;
    const auto place =
        std::ranges::find_if(best, [&](const TokenMove& other) { return better(move.logit, other.logit); });
    best.insert(place, move);
    if (best.size() > kTokens) best.pop_back();
}

// What is known of a run before any row is read.
class Reading {
public:
    Reading(const Run& run, const Step& step, Place place, Index nhead)
        : run_(run),
          step_(step),
          slice_(slice_of(step, place, nhead)),
          batch_(place.batch),
          stream_(stream_of(run.plan(), step)) {
        const bool in_decoder = !step.in_encoder() && step.axes.back().name == axis::d_model && step.lens.empty();
        if (!in_decoder) return;
        paths_ = direct_paths(run);
        if (paths_.head != nullptr && run.value(paths_.head->id).empty()) paths_.head = nullptr;
    }

    [[nodiscard]] std::string stream() const { return stream_ == nullptr ? std::string() : stream_->name; }
    [[nodiscard]] Index rows() const { return slice_.rows(); }
    // Multiply-adds for the tokens of one row; 0 if there are none to find.
    [[nodiscard]] Index cost_of_tokens() const {
        return path() == nullptr ? 0 : run_.operand(*paths_.head, OperandRole::weight).size();
    }

    [[nodiscard]] VectorReading read(Index at) const {
        const Row row = row_of(run_.value(step_.id), slice_.cell(at, 0));
        VectorReading reading{.row = at, .length = length(row), .largest = largest_components(row)};
        if (stream_ != nullptr) reading.along_stream = cosine(row, stream_row(at));
        if (paths_.head == nullptr || !is_position(at)) return reading;
        reading.predicted = predicted(at);
        if (!reading.predicted) return reading;  // a logit is NaN
        reading.along_logit = cosine(row, head_row(*reading.predicted));
        if (path() == nullptr) return reading;
        const Row carried = along_path(run_, *path(), batch_, at, row);
        reading.to_predicted = towards_token(run_, *paths_.head, carried, *reading.predicted);
        return reading;
    }

    Resumable<Done> find_tokens(VectorReading& reading) const {
        const Row row = row_of(run_.value(step_.id), slice_.cell(reading.row, 0));
        const Row carried = along_path(run_, *path(), batch_, reading.row, row);
        const Index vocab = run_.operand(*paths_.head, OperandRole::weight).dim(0);
        const Index pause = std::max<Index>(1, kSlice / static_cast<Index>(row.size()));
        for (Index token = 0; token < vocab; ++token) {
            const TokenMove move{token, towards_token(run_, *paths_.head, carried, token)};
            if (move.logit > 0.0) keep_best(reading.up, move, std::greater<>());
            if (move.logit < 0.0) keep_best(reading.down, move, std::less<>());
            if (token % pause == pause - 1) co_yield kPause;
        }
        co_return Done{};
    }

private:
    // nullptr if the rows don't reach the logits directly.
    [[nodiscard]] const DirectPath* path() const {
        const auto found = paths_.of.find(step_.id);
        return paths_.head == nullptr || found == paths_.of.end() ? nullptr : &found->second;
    }

    // Whether a row stands for one of the decoder's positions.
    [[nodiscard]] bool is_position(Index at) const {
        const Tensor& logits = run_.value(paths_.head->id);
        return batch_ < logits.dim(0) && at < logits.dim(1) && slice_.rows() == logits.dim(1);
    }

    [[nodiscard]] std::optional<Index> predicted(Index at) const {
        return predicted_token(run_.value(paths_.head->id).row({batch_, at, 0}));
    }

    [[nodiscard]] Row head_row(Index token) const {
        return row_of(run_.operand(*paths_.head, OperandRole::weight), {token, 0});
    }

    [[nodiscard]] Row stream_row(Index at) const {
        const Tensor& stream = run_.value(stream_->id);
        Cell first = {batch_, at, 0};
        first.erase(first.begin(), first.begin() + static_cast<std::ptrdiff_t>(first.size() - stream.rank()));
        return row_of(stream, first);
    }

    const Run& run_;
    const Step& step_;
    Slice slice_;
    Index batch_;
    const Step* stream_;
    DirectPaths paths_;
};

}  // namespace

Ref stream_before(const Plan& plan, const Step& step) {
    const Traits traits = step.operation.traits();
    if (traits.norm) return plan.operand(step, OperandRole::input);
    return traits.passes_through ? plan.operand(step, OperandRole::stream) : nullptr;
}

// The factor beside the operand's cell in the sum's explanation.
double factor_in_sum(const Run& run, const Step& sum, StepId operand) {
    const Explanation explanation =
        sum.operation.explain(run.operands_of(sum.id), run.value(sum.id), Cell(sum.axes.size(), 0));
    for (const Term& term : explanation.lines.back().terms) {
        double others = 1.0;
        bool found = false;
        for (const Factor& factor : term.factors) {
            const bool is_operand = factor.cell && sum.operands[factor.cell->operand] == operand && factor.text.empty();
            found = found || is_operand;
            if (!is_operand) others *= factor.value;
        }
        if (found) return others;
    }
    return 1.0;
}

DirectPaths direct_paths(const Run& run) {
    const Plan& plan = run.plan();
    DirectPaths paths;
    paths.head = head_of(plan);
    if (paths.head == nullptr) return paths;
    DirectPath path;
    Ref at = plan.operand(*paths.head, OperandRole::input);
    for (Ref before = nullptr;; at = before) {
        paths.of[at->id] = path;
        before = stream_before(plan, *at);
        if (before == nullptr) break;
        if (!at->patches.empty()) paths.edited.push_back(at->id);
        if (at->operation.traits().norm) {
            paths.from[at->id] = path;
            path = through_norm(at->id, path);
            continue;
        }
        for (const StepId update : at->operands_as(OperandRole::update)) {
            DirectPath added = path;
            added.factor *= factor_in_sum(run, *at, update);
            add_update(paths, plan, update, std::move(added));
        }
        path.factor *= factor_in_sum(run, *at, before->id);
    }
    paths.added.push_back(at->id);
    add_results(paths, plan);
    return paths;
}

// Both are made from the same heads' output, or one from the other.
bool are_results_of(const Step& results, const Step& whole) {
    const bool by_head =
        results.axes.size() == 4 && results.axes[1].name == axis::head && results.axes[3].name == axis::d_model;
    if (!by_head || results.attention.empty() || results.attention != whole.attention) return false;
    if (!whole.operation.traits().adds_heads) return false;
    return whole.operand(OperandRole::results) == results.id ||
           (whole.operand(OperandRole::input) &&
            whole.operand(OperandRole::input) == results.operand(OperandRole::input));
}

std::vector<double> along_path(const Run& run, const DirectPath& path, Index batch, Index pos,
                               std::span<const double> row) {
    std::vector<float> carried;
    for (const double value : row) carried.push_back(static_cast<float>(value * path.factor));
    for (const StepId id : path.norms) carried = through_frozen_norm(run, run.plan()[id], batch, pos, carried);
    return {carried.begin(), carried.end()};
}

double towards_token(const Run& run, const Step& head, std::span<const double> row, Index token) {
    const Tensor& weight = run.operand(head, OperandRole::weight);  // [vocab, d_model]
    const float* toward = weight.data() + token * weight.dim(1);
    double sum = 0.0;
    for (std::size_t d = 0; d < row.size(); ++d) sum += row[d] * static_cast<double>(toward[d]);
    return sum;
}

bool holds_vectors(const Step& step) {
    if (step.is_source() || step.axes.size() < 2) return false;
    return step.axes.back().name == axis::d_model || step.axes.back().name == axis::d_head;
}

const Step* stream_of(const Plan& plan, const Step& step) {
    if (step.axes.empty() || step.axes.back().name != axis::d_model) return nullptr;
    for (const Step& sum : plan.steps()) {
        if (!sum.operation.traits().passes_through) continue;
        for (const StepId update : sum.operands_as(OperandRole::update))
            if (update == step.id || are_results_of(step, plan[update])) return plan.operand(sum, OperandRole::stream);
    }
    return nullptr;
}

std::vector<Ref> vectors_beside(const Plan& plan, const Step& step) {
    const auto is_one = [](const Step& other) {
        const bool meant =
            other.meaning == Meaning::query || other.meaning == Meaning::key || other.meaning == Meaning::value;
        return meant && other.role == Role::recorded && !other.is_source() && other.axes.size() == 4 &&
               other.axes[3].name == axis::d_head;
    };
    if (step.attention.empty() || !is_one(step)) return {};
    std::vector<Ref> beside;
    for (const Step& other : plan.steps())
        if (other.attention == step.attention && is_one(other) && other.axes[2] == step.axes[2])
            beside.push_back(&other);
    return beside;
}

Resumable<VectorTable> read_vectors(std::shared_ptr<const Run> run, StepId step, Place place, Index nhead,
                                    Index chosen) {
    const Reading reading(*run, run->plan()[step], place, nhead);
    VectorTable table{reading.stream(), {}};
    const bool all_tokens = reading.cost_of_tokens() * reading.rows() <= kAllTokens;
    Index cost = 0;
    for (Index row = 0; row < reading.rows(); ++row) {
        table.rows.push_back(reading.read(row));
        if (table.rows.back().to_predicted && (all_tokens || row == chosen)) {
            co_await reading.find_tokens(table.rows.back());
            cost += reading.cost_of_tokens();
        }
        if (cost < kSlice) continue;
        cost = 0;
        co_yield kPause;
    }
    co_return table;
}

Value<VectorTable> shown_vectors(Derived& derived, const Snapshot& shown, const Step& step, Place place, Index chosen) {
    const Index nhead = shown.scenario.query_heads();
    return derived.later<VectorTable>(Origins(shown.run), std::tie(step.id, place, chosen),
                                      [&] { return read_vectors(shown.run, step.id, place, nhead, chosen); });
}

}  // namespace decoderscope::core::step
