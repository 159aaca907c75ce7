#include "app/core/heads/pattern_measures.h"

#include "engine/translate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

namespace decoderscope {

namespace {

// A query's row of the pattern.
struct Row {
    Index query;
    std::span<const float> weights;
    Index seen;  // keys
};

Row row_of(const Pattern& pattern, Index query) {
    const auto keys = static_cast<std::size_t>(pattern.keys), row = static_cast<std::size_t>(query);
    return {query, pattern.weights.subspan(row * keys, keys), pattern.seen.empty() ? pattern.keys : pattern.seen[row]};
}

bool counts(const Pattern& pattern, const Row& row) {
    if (!pattern.padding.empty() && pattern.padding[static_cast<std::size_t>(row.query)] != 0) return false;
    return std::none_of(row.weights.begin(), row.weights.end(), [](float weight) { return std::isnan(weight); });
}

// ---- the measures of one row; nothing if the row has none

double entropy(const Row& row) {
    double sum = 0.0;
    for (const float weight : row.weights)
        if (weight > 0.0F) sum -= static_cast<double>(weight) * std::log2(static_cast<double>(weight));
    return sum;
}

std::optional<double> spread(const Row& row, double entropy_of_row) {
    if (row.seen < 2) return std::nullopt;
    return entropy_of_row / std::log2(static_cast<double>(row.seen));
}

double largest(const Row& row) {
    return static_cast<double>(*std::max_element(row.weights.begin(), row.weights.end()));
}

std::optional<double> weight_on(const Row& row, Index key) {
    if (key < 0 || key >= static_cast<Index>(row.weights.size())) return std::nullopt;
    return static_cast<double>(row.weights[static_cast<std::size_t>(key)]);
}

// Every measure of one row, in the order of kPatternMeasures.
using RowMeasures = std::array<std::optional<double>, kPatternMeasures.size()>;
RowMeasures measured_row(const Row& row) {
    const double bits = entropy(row);
    return {bits,
            spread(row, bits),
            largest(row),
            weight_on(row, row.query - 1),
            weight_on(row, 0),
            weight_on(row, row.query)};
}

// The mean of the rows that have a value.
class Mean {
public:
    void add(std::optional<double> value) {
        if (!value) return;
        sum_ += *value;
        ++count_;
    }
    [[nodiscard]] double value() const {
        return count_ == 0 ? std::numeric_limits<double>::quiet_NaN() : sum_ / count_;
    }

private:
    double sum_ = 0.0;
    int count_ = 0;
};

}  // namespace

double measured(const Pattern& pattern, PatternMeasure measure) {
    return measured(pattern)[static_cast<std::size_t>(measure)];
}

PatternMeasures measured(const Pattern& pattern) {
    std::array<Mean, kPatternMeasures.size()> means;
    for (Index query = 0; query < pattern.queries; ++query) {
        const Row row = row_of(pattern, query);
        if (!counts(pattern, row)) continue;
        const RowMeasures values = measured_row(row);
        for (std::size_t i = 0; i < means.size(); ++i) means[i].add(values[i]);
    }
    PatternMeasures values{};
    std::transform(means.begin(), means.end(), values.begin(), [](const Mean& mean) { return mean.value(); });
    return values;
}

double highest_possible(PatternMeasure measure, Index keys) {
    return measure == PatternMeasure::entropy ? std::log2(static_cast<double>(std::max<Index>(keys, 2))) : 1.0;
}

std::string_view measure_name(PatternMeasure measure) {
    switch (measure) {
        case PatternMeasure::entropy:
            return tr("Entropy");
        case PatternMeasure::spread:
            return tr("Spread");
        case PatternMeasure::largest:
            return tr("Largest");
        case PatternMeasure::previous:
            return tr("Previous");
        case PatternMeasure::first:
            return tr("First");
        case PatternMeasure::diagonal:
            return tr("Diagonal");
    }
    return {};
}

std::string_view measure_unit(PatternMeasure measure) { return measure == PatternMeasure::entropy ? "bits" : ""; }

std::string_view measure_sentence(PatternMeasure measure) {
    switch (measure) {
        case PatternMeasure::entropy:
            return tr("In bits: 0 = all weight on one key, 1 = as even over 2 keys, 2 = over 4.");
        case PatternMeasure::spread:
            return tr("Entropy over the most that is possible: 0 = one key, 1 = even over all visible keys.");
        case PatternMeasure::largest:
            return tr("The largest weight of a query: 1 = it attends to a single key.");
        case PatternMeasure::previous:
            return tr("The weight on the token just before: 1 = a head that attends one step back.");
        case PatternMeasure::first:
            return tr("The weight on the first token, where idle heads often attend.");
        case PatternMeasure::diagonal:
            return tr("The weight on the key at the query's own position: 1 = it attends to itself.");
    }
    return {};
}

}  // namespace decoderscope
