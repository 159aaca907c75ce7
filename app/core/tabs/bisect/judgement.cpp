#include "app/core/tabs/bisect/judgement.h"

#include "engine/base/translate.h"
#include "engine/graph/explanation.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace decoderscope::core::bisect {

namespace {

// Numbers of about the same size: their band is that of their binade, because two ways may agree in one
// number by chance.
constexpr int kBinades = 600, kLowest = -300;

std::size_t binade_of(double x) {
    const int exponent = x == 0.0 ? kLowest : std::ilogb(x);
    return static_cast<std::size_t>(std::clamp(exponent - kLowest, 0, kBinades - 1));
}

// One number in which the two sides may differ.
struct Compared {
    double ours, theirs;
    double noise;       // the standard deviation of rounding here
    double last_place;  // a unit of it
    Index row, column;  // of the tensor as a matrix
    Index head;         // −1 without heads

    [[nodiscard]] double rest() const { return theirs - ours; }
    [[nodiscard]] double z() const { return rest() / noise; }
};

// The mean of several numbers beside its standard error.
struct Mean {
    double sum = 0.0, squares = 0.0;
    Index count = 0;
    void add(double x) {
        sum += x;
        squares += x * x;
        ++count;
    }
    void merge(const Mean& other) {
        sum += other.sum;
        squares += other.squares;
        count += other.count;
    }
    [[nodiscard]] double mean() const { return count > 0 ? sum / static_cast<double>(count) : 0.0; }
    // How many standard errors from 0; the deviation counts as at least `least`.
    [[nodiscard]] double errors(double least) const {
        if (count < 2) return 0.0;
        const auto n = static_cast<double>(count);
        const double variance = std::max(0.0, (squares - sum * sum / n) / (n - 1.0));
        return mean() / (std::max(std::sqrt(variance), least) / std::sqrt(n));
    }
};

double ulp(double a, double b, Arithmetic type) { return ulp_at(std::max(std::abs(a), std::abs(b)), type); }

bool counts(const Beside& beside, std::size_t at) { return beside.kept.empty() || beside.kept.values()[at] != 0.0F; }

// What is added to a row of theirs: the median of the differences; 0 where that doesn't matter.
std::vector<double> shifts_of(const Beside& beside, const Tensor& ours) {
    const auto width = static_cast<std::size_t>(std::max<Index>(1, ours.axes().back().size));
    std::vector<double> shifts(ours.values().size() / width);
    if (!beside.shifted_by_row) return shifts;
    for (std::size_t row = 0; row < shifts.size(); ++row) {
        std::vector<double> differences;
        for (std::size_t at = row * width; at < (row + 1) * width; ++at) {
            const float a = ours.values()[at], b = beside.theirs.values()[at];
            if (counts(beside, at) && std::isfinite(a) && std::isfinite(b))
                differences.push_back(static_cast<double>(b) - static_cast<double>(a));
        }
        shifts[row] = median(differences);
    }
    return shifts;
}

// How far the ways are from the first of them, as the root of the mean square of the widest: among numbers of about the
// same size, and in each row. A binade with few numbers has the band of the larger ones, too: what all but cancels
// keeps the rounding of what it is a sum of.
struct Bands {
    std::vector<double> binades = std::vector<double>(kBinades), rows;
};
Bands bands_of(const Beside& beside) {
    constexpr Index kEnough = 24;
    Bands widest;
    const auto first = beside.ours.front().values();
    const auto width = static_cast<std::size_t>(beside.ours.front().axes().back().size);
    widest.rows.resize(first.size() / std::max<std::size_t>(1, width));
    for (const Tensor& other : beside.ours.subspan(1)) {
        std::vector<Mean> squares(kBinades), in_row(widest.rows.size());
        for (std::size_t i = 0; i < first.size(); ++i) {
            const auto a = static_cast<double>(first[i]), b = static_cast<double>(other.values()[i]);
            if (!counts(beside, i) || !std::isfinite(a) || !std::isfinite(b)) continue;
            squares[binade_of(a)].add((a - b) * (a - b));
            in_row[i / width].add((a - b) * (a - b));
        }
        Mean above;
        for (std::size_t i = squares.size(); i-- > 0;) {
            if (squares[i].count == 0) continue;
            if (squares[i].count < kEnough) squares[i].merge(above);
            above = squares[i];
            widest.binades[i] = std::max(widest.binades[i], std::sqrt(squares[i].mean()));
        }
        for (std::size_t row = 0; row < in_row.size(); ++row)
            widest.rows[row] = std::max(widest.rows[row], std::sqrt(in_row[row].mean()));
    }
    return widest;
}

Index rows_of(const Axes& axes) {
    Index rows = 1;
    for (std::size_t i = 0; i + 1 < axes.size(); ++i) rows *= axes[i].size;
    return rows;
}

// How many rows of the matrix a head has before the next begins, and how many heads there are; nothing without heads.
std::optional<std::pair<Index, Index>> heads_of(const Axes& axes) {
    Index rows = 1;
    for (std::size_t i = axes.size(); i-- > 0;) {
        if (axes[i].name == axis::head && i + 1 < axes.size()) return std::pair(rows, axes[i].size);
        if (i + 1 < axes.size()) rows *= axes[i].size;
    }
    return std::nullopt;
}

class Judge {
public:
    explicit Judge(const Beside& beside) : beside_(beside) {
        choose_way();
        compare();
    }

    [[nodiscard]] Judgement found() {
        judgement_.counted = static_cast<Index>(compared_.size());
        for (const auto test :
             {&Judge::by_size, &Judge::by_factor, &Judge::by_shift, &Judge::by_column, &Judge::by_head})
            if (!judgement_.differs) (this->*test)();
        return judgement_;
    }

private:
    // The way with the fewest numbers that are not theirs.
    void choose_way() {
        std::optional<double> least;
        for (std::size_t way = 0; way < beside_.ours.size(); ++way) {
            const Tensor& ours = beside_.ours[way];
            const std::vector<double> shifts = shifts_of(beside_, ours);
            const auto width = ours.values().size() / std::max<std::size_t>(1, shifts.size());
            double misfit = 0.0, ulps = 0.0;
            Index apart = 0;
            for (std::size_t i = 0; i < ours.values().size(); ++i) {
                const auto a = static_cast<double>(ours.values()[i]) + shifts[i / width];
                const auto b = static_cast<double>(beside_.theirs.values()[i]);
                if (!counts(beside_, i) || !std::isfinite(a) || !std::isfinite(b) || a == b) continue;
                const double distance = std::abs(a - b) / ulp(a, b, beside_.type);
                misfit += std::min(distance, 16.0);
                ulps = std::max(ulps, distance);
                apart += distance > kSame ? 1 : 0;
            }
            if (least && *least <= misfit) continue;
            least = misfit;
            judgement_.way = way;
            judgement_.apart = apart;
            judgement_.ulps = ulps;
        }
    }

    void compare() {
        const Tensor& ours = beside_.ours[judgement_.way];
        const std::vector<double> shifts = shifts_of(beside_, ours);
        const Bands bands = bands_of(beside_);
        const Index rows = rows_of(ours.axes()), width = ours.axes().back().size;
        const auto heads = heads_of(ours.axes());
        // In float32 nobody computes sines, roots and sums alike to the last bit.
        const double least = beside_.type == Arithmetic::float32 ? 4.0 : 0.3;
        for (std::size_t i = 0; i < ours.values().size(); ++i)
            if (counts(beside_, i) && std::isfinite(ours.values()[i]))
                scale_ = std::max(scale_, std::abs(static_cast<double>(ours.values()[i])));
        for (Index row = 0; row < rows; ++row)
            for (Index column = 0; column < width; ++column) {
                const auto i = static_cast<std::size_t>(row * width + column);
                const auto a = static_cast<double>(ours.values()[i]);
                const auto b = static_cast<double>(beside_.theirs.values()[i]);
                if (!counts(beside_, i) || !std::isfinite(a) || !std::isfinite(b)) continue;
                const double rounding = least * ulp(a, b, beside_.type), float32 = 2e-7 * scale_;
                const double band = std::max(bands.binades[binade_of(a)], bands.rows[static_cast<std::size_t>(row)]) *
                                    (beside_.type == Arithmetic::float32 ? 4.0 : 1.0);
                compared_.push_back({a + shifts[static_cast<std::size_t>(row)], b,
                                     std::sqrt(band * band + rounding * rounding + float32 * float32),
                                     std::max(rounding / least, 3.0 * float32), row, column,
                                     heads ? row / heads->first % heads->second : -1});
            }
    }

    void differ(Sentence why) {
        judgement_.differs = true;
        judgement_.why = std::move(why);
    }

    [[nodiscard]] double typical() const {
        Mean squares;
        for (const Compared& number : compared_) squares.add(number.z() * number.z());
        return std::sqrt(squares.mean());
    }

    void by_size() {
        constexpr double kSize = 4.0, kOne = 10.0;
        double most = 0.0;
        for (const Compared& number : compared_) most = std::max(most, std::abs(number.z()));
        const double size = typical();
        if (size > kSize || most > kOne)
            differ(message("it is {times} times as large as other orders of computation make it",
                           {{"times", short_number(std::max(size, size > kSize ? size : most))}}));
    }

    // A direction: up where ours is positive and down where it is negative (towards or away from 0), or up everywhere.
    // Numbers of one row may share the rounding of its norm or of its softmax's sum; so rows must agree, too.
    template <class Of>
    [[nodiscard]] bool has_direction(const Of& direction) const {
        constexpr double kNumbers = 4.5, kRows = 3.5;
        Mean numbers, rows;
        Mean row;
        Index at = -1;
        const auto end_row = [&] {
            if (row.count > 0 && row.sum != 0.0) rows.add(row.sum > 0.0 ? 1.0 : -1.0);
            row = {};
        };
        for (const Compared& number : compared_) {
            if (number.row != at) end_row();
            at = number.row;
            if (std::abs(number.rest()) <= kSame * ulp(number.ours, number.theirs, beside_.type)) continue;
            const double sign = direction(number);
            numbers.add(sign);
            row.add(sign);
        }
        end_row();
        const auto sure = [](const Mean& mean) {
            return std::abs(mean.sum) / std::sqrt(static_cast<double>(std::max<Index>(1, mean.count)));
        };
        return sure(numbers) > kNumbers && sure(rows) > kRows;
    }

    // How much a tensor is larger than another, as a factor, and how far it is shifted.
    struct Effect {
        double factor = 0.0, shift = 0.0;
    };
    [[nodiscard]] Effect effect_between(const Tensor& from, const Tensor& to) const {
        double product = 0.0, square = 0.0;
        Mean shift;
        for (std::size_t i = 0; i < from.values().size(); ++i) {
            const auto a = static_cast<double>(from.values()[i]), b = static_cast<double>(to.values()[i]);
            if (!counts(beside_, i) || !std::isfinite(a) || !std::isfinite(b)) continue;
            product += a * b;
            square += a * a;
            shift.add(b - a);
        }
        return {square > 0.0 ? product / square - 1.0 : 0.0, shift.mean()};
    }
    // Ways have a direction, too, if they round a constant; and kernels, of a hundredth of what they may be wrong by.
    [[nodiscard]] Effect least_effect() const {
        constexpr double kMore = 1.5;
        const double least = beside_.type == Arithmetic::float32 ? 1e-6 : 0.02 * ulp_at(1.0, beside_.type);
        Effect most = {least, least * scale_};
        for (const Tensor& way : beside_.ours) {
            const Effect effect = effect_between(beside_.ours[judgement_.way], way);
            most.factor = std::max(most.factor, kMore * std::abs(effect.factor));
            most.shift = std::max(most.shift, kMore * std::abs(effect.shift));
        }
        return most;
    }

    void by_factor() {
        const auto outwards = [](const Compared& n) { return (n.rest() > 0.0) == (n.ours > 0.0) ? 1.0 : -1.0; };
        if (beside_.shifted_by_row || !has_direction(outwards)) return;
        const double factor = effect_between(beside_.ours[judgement_.way], beside_.theirs).factor;
        if (std::abs(factor) < least_effect().factor) return;
        const std::string percent = short_number(std::abs(100.0 * factor));
        differ(factor > 0.0 ? message("theirs are larger by {percent} %, all alike", {{"percent", percent}})
                            : message("theirs are smaller by {percent} %, all alike", {{"percent", percent}}));
    }

    void by_shift() {
        if (beside_.shifted_by_row) return;
        if (!has_direction([](const Compared& n) { return n.rest() > 0.0 ? 1.0 : -1.0; })) return;
        const double shift = effect_between(beside_.ours[judgement_.way], beside_.theirs).shift;
        if (std::abs(shift) < least_effect().shift) return;
        differ(message("theirs are shifted by {shift}, all alike", {{"shift", short_number(shift)}}));
    }

    // Some of the numbers, by a place that they share, are larger or smaller than the others leave room for: those tell
    // how large the rounding is here.
    template <class Place>
    std::optional<Index> place_that_differs(const Place& place, Index most) const {
        constexpr double kErrors = 7.0, kMost = 8.0;
        constexpr Index kLeast = 6;
        std::vector<Mean> outwards(static_cast<std::size_t>(most)), up(static_cast<std::size_t>(most));
        Mean all;
        for (const Compared& number : compared_) {
            const auto at = static_cast<std::size_t>(place(number));
            const double ulps = std::clamp(number.rest() / number.last_place, -kMost, kMost);
            outwards[at].add(number.ours > 0.0 ? ulps : -ulps);
            up[at].add(ulps);
            all.add(ulps);
        }
        std::optional<Index> found;
        double best = kErrors;
        for (std::size_t at = 0; at < outwards.size(); ++at) {
            const Index others = all.count - up[at].count;
            if (up[at].count < kLeast || others < kLeast) continue;
            const double spread = std::sqrt((all.squares - up[at].squares) / static_cast<double>(others));
            for (const Mean& mean : {outwards[at], up[at]})
                if (const double errors = std::abs(mean.errors(std::max(spread, 0.3))); errors > best) {
                    best = errors;
                    found = static_cast<Index>(at);
                }
        }
        return found;
    }

    void by_column() {
        const Axes& axes = beside_.ours.front().axes();
        const Index width = axes.back().size;
        const auto heads = heads_of(axes);
        const auto place = [&](const Compared& n) { return std::max<Index>(n.head, 0) * width + n.column; };
        const auto found = place_that_differs(place, width * (heads ? heads->second : 1));
        if (!found) return;
        differ(heads ? message("column {column} of head {head} differs in every row",
                               {{"column", *found % width}, {"head", *found / width}})
                     : message("column {column} differs in every row", {{"column", *found}}));
    }

    void by_head() {
        const auto heads = heads_of(beside_.ours.front().axes());
        if (!heads) return;
        if (const auto head = place_that_differs([](const Compared& n) { return n.head; }, heads->second))
            differ(message("head {head} differs, the others don't", {{"head", *head}}));
    }

    static constexpr double kSame = 1e-3;  // of an ulp

    const Beside& beside_;
    std::vector<Compared> compared_;
    double scale_ = 0.0;  // the largest magnitude
    Judgement judgement_;
};

}  // namespace

Judgement judged(const Beside& beside) { return Judge(beside).found(); }

double median(std::vector<double>& values) {
    if (values.empty()) return 0.0;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::ranges::nth_element(values, middle);
    return *middle;
}

bool has_all_of(Arithmetic type, const Tensor& tensor) {
    if (type == Arithmetic::float32) return true;  // without a look at a large recording
    return std::ranges::all_of(tensor.values(), [type](float x) { return rounded(x, type) == x || std::isnan(x); });
}

}  // namespace decoderscope::core::bisect
