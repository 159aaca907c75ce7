#include "engine/ops/positions.h"

#include "engine/base/error.h"
#include "engine/base/parallel.h"
#include "engine/base/translate.h"
#include "engine/tensor/row_math.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <memory>
#include <numbers>
#include <span>
#include <string>

namespace decoderscope::ops {

namespace {

bool is_row(float number, Index rows) {
    return number >= 0.0F && number < static_cast<float>(rows) && number == std::floor(number);
}

Index row_of(float token, Index rows) {
    if (!is_row(token, rows))
        throw Error("token {value}, expected an id from 0 to {highest}",
                    {{"value", short_number(static_cast<double>(token))}, {"highest", rows - 1}});
    return static_cast<Index>(token);
}

// A table's gradient: as large as the table, and 0 but for the rows of the tokens.
class TokenRows : public LazyValues {
public:
    TokenRows(Tensor tokens, Tensor grad, float factor)
        : tokens_(std::move(tokens)), grad_(std::move(grad)), factor_(factor) {}

    void make(std::span<float> values) const override {
        std::ranges::fill(values, 0.0F);
        const auto width = static_cast<std::size_t>(grad_.axes().back().size);
        const float* grad = grad_.data();
        for (const float token : tokens_.values())
            for (float& sum : values.subspan(static_cast<std::size_t>(token) * width, width)) sum += factor_ * *grad++;
    }

private:
    Tensor tokens_, grad_;
    float factor_;
};

// The sine and cosine of every position times every frequency.
struct Turns {
    std::vector<float> sines, cosines;  // [position, frequency]

    Turns(std::span<const float> positions, std::span<const float> frequencies) {
        std::vector<float> angles;
        angles.reserve(positions.size() * frequencies.size());
        for (const float position : positions)
            for (const float frequency : frequencies) angles.push_back(position * frequency);
        sines.resize(angles.size());
        cosines.resize(angles.size());
        row::sines_and_cosines(angles, sines, cosines);
    }
};

// The frequency of column pair (2i, 2i + 1), from the first of the two columns.
float frequency(Index even_column, Index d_model) {
    const float step = static_cast<float>(-std::log(10000.0) / static_cast<double>(d_model));
    return std::exp(static_cast<float>(even_column) * step);
}

Term scaled_term(Factor factor, double scale) {
    std::vector<Factor> factors = {std::move(factor)};
    if (scale != 1.0) factors.push_back(constant_factor(scale, "position_scale"));
    return term(std::move(factors));
}

}  // namespace

Tensor counted_by(const Tensor& attention_mask) {
    Tensor out(attention_mask.axes());
    float* to = out.writable().data();
    for (Index row = 0; row < out.dim(0); ++row) {
        float kept = 0.0F;
        for (const float mask : attention_mask.row({row, 0})) {
            if (mask != 0.0F) kept += 1.0F;
            *to++ = std::max(kept - 1.0F, 0.0F);
        }
    }
    return out;
}

Tensor counted_within(const Tensor& segments) {
    Tensor out(segments.axes());
    float* to = out.writable().data();
    for (Index row = 0; row < out.dim(0); ++row) {
        std::map<float, float> seen;  // how many positions of each document
        for (const float segment : segments.row({row, 0})) *to++ = seen[segment]++;
    }
    return out;
}

ByFormula Embed::formula() const {
    const double factor = static_cast<double>(scale) * static_cast<double>(multiplier);
    return {"embed", {"token", "E"}, {{"embedding_scale", factor, multiplier == 1.0F ? "√d_model" : ""}}};
}

Axes Embed::axes(const OperandAxes& in) const { return {in[0][0], in[0][1], {axis::d_model, in[1][1].size}}; }

Tensor Embed::compute(const Operands& in, const Axes& axes) const {
    const Tensor& tokens = in[0];  // [batch, pos]
    const Tensor& table = in[1];   // [vocab, d_model]
    Tensor out(axes);
    const Index width = table.dim(1);
    std::span<float> to = out.writable();
    for (const float token : tokens.values()) {
        const auto row = to.first(static_cast<std::size_t>(width));
        table.copy(row_of(token, table.dim(0)) * width, row);
        for (float& value : row) value = value * scale * multiplier;
        to = to.subspan(row.size());
    }
    return out;
}

Tensor Embed::pull_back(std::size_t, const Backward& b) const {
    return {b.in[1].axes(), std::make_shared<const TokenRows>(b.in[0], b.grad, scale * multiplier)};
}

Tensor SinusoidalPositions::compute(const Operands& in, const Axes& axes) const {
    std::vector<float> frequencies;
    for (Index d = 0; d < d_model; d += 2) frequencies.push_back(frequency(d, d_model));
    const Turns turns(places.numbers(in, 0, positions.size), frequencies);
    Tensor out(axes);
    float* to = out.writable().data();
    for (std::size_t row = 0; row < turns.sines.size(); row += frequencies.size())
        for (Index d = 0; d < d_model; ++d)
            *to++ = (d % 2 == 0 ? turns.sines : turns.cosines)[row + static_cast<std::size_t>(d / 2)] *
                    static_cast<float>(scale);
    return out;
}

Explanation SinusoidalPositions::explain(const Operands& in, const Tensor&, const Cell& cell) const {
    const Index column = cell.back(), position = cell[cell.size() - 2], row = places.given ? cell[0] : 0;
    const Index even = column - column % 2;
    const float number = places.number(in, 0, row, position);
    const auto angle = static_cast<double>(number * frequency(even, d_model));
    const double code = column % 2 == 0 ? std::sin(angle) : std::cos(angle);
    const std::string text = std::string(column % 2 == 0 ? "sin" : "cos") + "(" +
                             short_number(static_cast<double>(number)) + " / 10000^(" + std::to_string(even) + "/" +
                             std::to_string(d_model) + "))";
    return {{line("pos_embed", {scaled_term(places.factor(code, text, 0, row, position), scale)})}};
}

ByFormula LearnedPositions::formula() const {
    return {places.label("learned"),
            places.with_numbers({"P"}),
            {places.past(), {"pos", static_cast<double>(positions.size)}, {"position_scale", scale}}};
}

Tensor LearnedPositions::compute(const Operands& in, const Axes& axes) const {
    const Index d_model = in[0].dim(1), rows = in[0].dim(0);
    Tensor out(axes);
    float* to = out.writable().data();
    for (const float number : places.numbers(in, 1, positions.size)) {
        if (!is_row(number, rows))
            throw Error("position {value}, expected a row of the table of positions, 0 to {highest}",
                        {{"value", short_number(static_cast<double>(number))}, {"highest", rows - 1}});
        const float* from = in[0].data() + static_cast<Index>(number) * d_model;
        to = std::transform(from, from + d_model, to,
                            [factor = static_cast<float>(scale)](float x) { return x * factor; });
    }
    return out;
}

float RopeScaling::by_llama3(float frequency) const {
    const float slow = frequency / static_cast<float>(factor);
    // How many waves fit into the texts of the training before.
    const double wave = 2.0 * std::numbers::pi / static_cast<double>(frequency);
    const double waves = static_cast<double>(original_positions) / wave;
    const double fast = std::clamp((waves - low_freq_factor) / (high_freq_factor - low_freq_factor), 0.0, 1.0);
    return static_cast<float>((1.0 - fast) * static_cast<double>(slow) + fast * static_cast<double>(frequency));
}

float RopeScaling::divided_by_yarn(Index pair, double theta, Index columns) const {
    // The number of the pair, a fraction, that turns so often within the original positions.
    const auto pair_that_turns = [&](double times) {
        return static_cast<double>(columns) *
               std::log(static_cast<double>(original_positions) / (times * 2.0 * std::numbers::pi)) /
               (2.0 * std::log(theta));
    };
    double from = pair_that_turns(beta_fast), to = pair_that_turns(beta_slow);
    if (truncate) {
        from = std::floor(from);
        to = std::ceil(to);
    }
    from = std::max(from, 0.0);
    to = std::min(to, static_cast<double>(columns - 1));
    constexpr double kOneStep = 0.001;  // the blend's width if both ends are one pair
    const double width = from != to ? to - from : kOneStep;
    return std::clamp((static_cast<float>(pair) - static_cast<float>(from)) / static_cast<float>(width), 0.0F, 1.0F);
}

std::vector<float> RopeScaling::frequencies(double theta, Index columns) const {
    std::vector<float> found;
    for (Index pair = 0; pair < columns / 2; ++pair) {
        const float exponent = static_cast<float>(2 * pair) / static_cast<float>(columns);
        const float plain = 1.0F / std::pow(static_cast<float>(theta), exponent);
        const auto at = static_cast<std::size_t>(pair);
        switch (kind) {
            case RopeScalingKind::none:
                found.push_back(plain);
                break;
            case RopeScalingKind::linear:
                found.push_back(plain / static_cast<float>(factor));
                break;
            case RopeScalingKind::llama3:
                found.push_back(by_llama3(plain));
                break;
            case RopeScalingKind::yarn: {
                const float divided = divided_by_yarn(pair, theta, columns);
                found.push_back(plain / static_cast<float>(factor) * divided + plain * (1.0F - divided));
                break;
            }
            case RopeScalingKind::longrope:
                found.push_back(at < divisors.size() ? plain / static_cast<float>(divisors[at]) : plain);
                break;
        }
    }
    return found;
}

double RopeScaling::magnitude() const {
    const bool yarn = kind == RopeScalingKind::yarn, longrope = kind == RopeScalingKind::longrope;
    if (!yarn && !longrope) return 1.0;
    if (attention_factor > 0.0) return attention_factor;
    if (yarn) return 0.1 * std::log(factor) + 1.0;
    return std::sqrt(1.0 + std::log(factor) / std::log(static_cast<double>(original_positions)));
}

float Rope::angle_of(float position, Index pair) const {
    return position * scaling.frequencies(theta, columns)[static_cast<std::size_t>(pair)];
}

Tensor Rope::turned(const Tensor& x, const Operands& in, const Axes& axes, bool back) const {
    const Index positions = axes[2].size, d_head = axes[3].size, pairs = columns / 2;
    const std::vector<float> frequencies = scaling.frequencies(theta, columns);
    const auto magnitude = static_cast<float>(scaling.magnitude());
    Turns turns(places.numbers(in, 1, positions), frequencies);  // [pos, pair], or [batch, pos, pair]
    const Index rows_alike = axes[1].size * positions;           // of a batch row
    for (float& cosine : turns.cosines) cosine *= magnitude;
    for (float& sine : turns.sines) sine *= back ? -magnitude : magnitude;
    Tensor out(axes);
    const float* from = x.data();
    float* to = out.writable().data();
    for (Index row = 0; row < axes[0].size * axes[1].size * positions; ++row, from += d_head, to += d_head) {
        std::copy(from, from + begin, to);
        for (Index pair = 0; pair < pairs; ++pair) {
            const Index position = row % positions + (places.given ? row / rows_alike * positions : 0);
            const auto at = static_cast<std::size_t>(position * pairs + pair);
            const auto [one, other] = columns_of(pair);
            to[one] = from[one] * turns.cosines[at] - from[other] * turns.sines[at];
            to[other] = from[other] * turns.cosines[at] + from[one] * turns.sines[at];
        }
        std::copy(from + begin + columns, from + d_head, to + begin + columns);
    }
    return out;
}

Explanation Rope::explain(const Operands& in, const Tensor&, const Cell& cell) const {
    return explain_turn(in, cell, false, [&](const Cell& at) { return cell_factor(in[0], 0, at); });
}

Explanation Rope::explain_turn(const Operands& in, const Cell& cell, bool back,
                               const std::function<Factor(const Cell&)>& factor_of) const {
    const Index column = cell[3] - begin;
    if (column < 0 || column >= columns) return {{line(tr("not rotated"), {term({factor_of(cell)})})}};
    const Index pair = interleaved ? column / 2 : column % (columns / 2);
    const auto [x, y] = columns_of(pair);
    const float number = places.number(in, 1, cell[0], cell[2]);
    const auto angle = static_cast<double>(angle_of(number, pair));
    // A number that is read is seen in what follows from it.
    const std::string phi = places.given ? "(" + short_number(static_cast<double>(number)) + " · " +
                                               short_number(static_cast<double>(angle_of(1, pair))) + ")"
                                         : "(" + short_number(angle) + ")";
    Cell partner = cell;
    partner[3] = cell[3] == x ? y : x;
    const bool negative = (cell[3] == x) != back;
    const auto turned = [&](const Cell& at, double by, const std::string& text) {
        std::vector<Factor> factors = {factor_of(at), places.factor(by, text, 1, cell[0], cell[2])};
        if (scaling.magnitude() != 1.0)
            factors.push_back(constant_factor(scaling.magnitude(), "rope_attention_factor"));
        return term(std::move(factors));
    };
    return {
        {line(back ? tr("rotated back") : tr("rotated"),
              {turned(cell, std::cos(angle), "cos" + phi),
               turned(partner, negative ? -std::sin(angle) : std::sin(angle), (negative ? "−sin" : "sin") + phi)})}};
}

Explanation Rope::explain_pull_back(std::size_t, const Backward& b, const Cell& cell) const {
    return explain_turn(b.in, cell, true, [&](const Cell& at) { return b.grad_at(at); });
}

// In float32, as transformers' T5Attention._relative_position_bucket computes it.
Index relative_bucket(Index distance, Index rows, Index max_distance, bool both_ways) {
    Index first = 0;
    if (both_ways) {
        rows /= 2;
        if (distance > 0) first = rows;
        distance = std::abs(distance);
    } else {
        distance = std::max<Index>(-distance, 0);
    }
    const Index exact = rows / 2;
    if (distance < exact) return first + distance;
    const auto farthest = static_cast<float>(std::log(static_cast<double>(max_distance) / static_cast<double>(exact)));
    const float part = std::log(static_cast<float>(distance) / static_cast<float>(exact)) / farthest;
    return first + std::min(exact + static_cast<Index>(part * static_cast<float>(rows - exact)), rows - 1);
}

Index RelativeBias::row_of(Index query, Index key, Index rows) const {
    return relative_bucket(key - (first_query + query), rows, max_distance, both_ways);
}

Tensor RelativeBias::compute(const Operands& in, const Axes& axes) const {
    const Index heads = axes[1].size, queries = axes[2].size, keys = axes[3].size, rows = in[1].dim(0);
    Tensor out(axes);
    const float* scores = in[0].data();
    const float* table = in[1].data();
    float* to = out.writable().data();
    std::vector<Index> row(static_cast<std::size_t>(queries * keys));  // of the table, [query, key]
    for (Index q = 0; q < queries; ++q)
        for (Index k = 0; k < keys; ++k) row[static_cast<std::size_t>(q * keys + k)] = row_of(q, k, rows);
    each_in_parallel(axes[0].size * heads, queries * keys, [&](Index plane) {
        const Index head = plane % heads, begin = plane * queries * keys;
        for (Index i = 0; i < queries * keys; ++i)
            to[begin + i] = scores[begin + i] + table[row[static_cast<std::size_t>(i)] * heads + head];
    });
    return out;
}

// ---- the gradients: scores + table[bucket]

Tensor RelativeBias::pull_back(std::size_t operand, const Backward& b) const {
    if (operand == 0) return b.grad;
    const Tensor& table = b.in[1];
    const Index heads = b.grad.dim(1), queries = b.grad.dim(2), keys = b.grad.dim(3);
    std::vector<double> sums(static_cast<std::size_t>(table.size()));
    const float* grad = b.grad.data();
    for (Index plane = 0; plane < b.grad.dim(0) * heads; ++plane)
        for (Index q = 0; q < queries; ++q)
            for (Index k = 0; k < keys; ++k)
                sums[static_cast<std::size_t>(row_of(q, k, table.dim(0)) * heads + plane % heads)] +=
                    static_cast<double>(*grad++);
    Tensor out(table.axes());
    std::ranges::transform(sums, out.writable().begin(), [](double sum) { return static_cast<float>(sum); });
    return out;
}

}  // namespace decoderscope::ops
