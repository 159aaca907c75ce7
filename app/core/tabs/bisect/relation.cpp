#include "app/core/tabs/bisect/relation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <functional>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

namespace decoderscope::core::bisect {

namespace {

using Order = std::vector<Index>;  // the i-th is ours[order[i]]

// How far a relation may leave a number from theirs, relative to the tensor's largest: rounding, and no more.
double room(Arithmetic type) { return type == Arithmetic::float32 ? 2e-5 : 4.0 * ulp_at(1.0, type); }

double largest(const Tensor& tensor) {
    double most = 0.0;
    for (const float x : tensor.values())
        if (std::isfinite(x)) most = std::max(most, std::abs(static_cast<double>(x)));
    return most;
}

// With as many digits as the type leaves.
std::string factor_text(double factor, Arithmetic type) {
    const int digits = type == Arithmetic::float32 ? 6 : type == Arithmetic::float16 ? 4 : 3;
    char text[32];
    std::snprintf(text, sizeof text, "%.*g", digits, factor);
    return text;
}

// A tensor seen as [outer, along, inner], where `along` is one of its axes.
struct Along {
    Index outer, along, inner;
    Along(const Axes& axes, std::size_t axis) : outer(1), along(axes[axis].size), inner(1) {
        for (std::size_t i = 0; i < axes.size(); ++i)
            if (i != axis) (i < axis ? outer : inner) *= axes[i].size;
    }
    [[nodiscard]] std::size_t at(Index o, Index a, Index i) const {
        return static_cast<std::size_t>((o * along + a) * inner + i);
    }
};

class Relating {
public:
    Relating(const Tensor& ours, const Tensor& theirs, Arithmetic type, double magnitude)
        : ours_(ours),
          theirs_(theirs),
          type_(type),
          room_(room(type) * std::max({largest(ours), largest(theirs), magnitude})),
          least_(ulp_at(1.0, type) / 4.0) {}

    [[nodiscard]] Sentence found() const {
        if (theirs_.values().empty() || ours_.values().size() != theirs_.values().size() || room_ == 0.0) return {};
        for (const auto relation :
             {&Relating::sign, &Relating::transposed, &Relating::shifted, &Relating::part, &Relating::reordered,
              &Relating::viewed, &Relating::factor, &Relating::factor_by_row, &Relating::by_distance})
            if (Sentence sentence = (this->*relation)(); !sentence.empty()) return sentence;
        return {};
    }

private:
    using Number = std::function<float(std::size_t)>;

    // Whether theirs are these numbers.
    [[nodiscard]] bool are(const Number& number) const {
        for (std::size_t i = 0; i < theirs_.values().size(); ++i) {
            const auto a = static_cast<double>(number(i)), b = static_cast<double>(theirs_.values()[i]);
            if (a == b || (std::isnan(a) && std::isnan(b))) continue;
            if (!(std::abs(a - b) <= room_)) return false;
        }
        return true;
    }
    [[nodiscard]] float our(std::size_t i) const { return ours_.values()[i]; }

    [[nodiscard]] Sentence sign() const {
        return are([&](std::size_t i) { return -our(i); }) ? message("theirs have the other sign") : Sentence();
    }

    [[nodiscard]] Sentence transposed() const {
        const Axes& axes = ours_.axes();
        if (axes.size() < 2 || axes.back().size != axes[axes.size() - 2].size) return {};
        const auto n = static_cast<std::size_t>(axes.back().size);
        const auto turned = [&](std::size_t i) { return our(i / (n * n) * n * n + i % n * n + i / n % n); };
        return are(turned) ? message("theirs are transposed: their last two axes are swapped") : Sentence();
    }

    // Theirs at p are ours at p + by, wherever there is such a p.
    [[nodiscard]] bool shifted_along(std::size_t axis, Index by) const {
        const Along view(ours_.axes(), axis);
        if (view.along < 3) return false;
        return are([&](std::size_t i) {
            const Index place = static_cast<Index>(i) / view.inner % view.along;
            if (place + by < 0 || place + by >= view.along) return theirs_.values()[i];
            return our(static_cast<std::size_t>(static_cast<Index>(i) + by * view.inner));
        });
    }
    [[nodiscard]] Sentence shifted() const {
        for (std::size_t axis = 0; axis < ours_.axes().size(); ++axis)
            for (const Index by : {Index{1}, Index{-1}})
                if (shifted_along(axis, by))
                    return by > 0 ? message("theirs are ours of the next place along {axis}",
                                            {{"axis", std::string(ours_.axes()[axis].name)}})
                                  : message("theirs are ours of the place before along {axis}",
                                            {{"axis", std::string(ours_.axes()[axis].name)}});
        return {};
    }

    // Which slice of ours each of theirs is, along an axis, or kNone of zeros; nothing if one is neither.
    static constexpr Index kNone = -1;
    [[nodiscard]] std::optional<Order> order_along(std::size_t axis) const {
        constexpr Index kMost = 512;
        const Along view(ours_.axes(), axis);
        if (view.along < 2 || view.along > kMost || view.outer * view.inner < 2) return std::nullopt;
        const auto same = [&](Index theirs, Index ours) {
            for (Index o = 0; o < view.outer; ++o)
                for (Index i = 0; i < view.inner; ++i) {
                    const double a = ours == kNone ? 0.0 : static_cast<double>(our(view.at(o, ours, i)));
                    const auto b = static_cast<double>(theirs_.values()[view.at(o, theirs, i)]);
                    if (a != b && !(std::abs(a - b) <= room_)) return false;
                }
            return true;
        };
        Order order;
        for (Index theirs = 0; theirs < view.along; ++theirs) {
            // Its own place first, where several of ours are alike.
            Index which = theirs;
            if (!same(theirs, theirs)) {
                which = 0;
                while (which < view.along && !same(theirs, which)) ++which;
                if (which == view.along && !same(theirs, kNone)) return std::nullopt;
            }
            order.push_back(which == view.along ? kNone : which);
        }
        return order;
    }

    // [0, n/2, 1, n/2 + 1, …]: what is in two halves stands in pairs.
    [[nodiscard]] static Order interleaved(Index size) {
        Order order;
        for (Index i = 0; i < size; ++i) order.push_back(i / 2 + i % 2 * (size / 2));
        return order;
    }
    [[nodiscard]] static Order in_halves(Index size) {
        Order order(static_cast<std::size_t>(size));
        const Order pairs = interleaved(size);
        for (Index i = 0; i < size; ++i) order[static_cast<std::size_t>(pairs[static_cast<std::size_t>(i)])] = i;
        return order;
    }

    [[nodiscard]] Sentence reordered() const {
        for (std::size_t axis = 0; axis < ours_.axes().size(); ++axis) {
            const auto order = order_along(axis);
            Index place = 0;
            if (!order || largest(theirs_) == 0.0 ||
                std::ranges::all_of(*order, [&](Index which) { return which == place++; }))
                continue;
            const std::string name(ours_.axes()[axis].name);
            const auto size = static_cast<Index>(order->size());
            if (size % 2 == 0 && size > 2 && *order == interleaved(size))
                return message("theirs are ours along {axis} with the two halves interleaved in pairs",
                               {{"axis", name}});
            if (size % 2 == 0 && size > 2 && *order == in_halves(size))
                return message("theirs are ours along {axis} with the pairs taken apart into two halves",
                               {{"axis", name}});
            std::string first;
            for (Index i = 0; i < std::min<Index>(size, 8); ++i)
                first += (i == 0 ? "" : ", ") + ((*order)[static_cast<std::size_t>(i)] == kNone
                                                     ? std::string("−")
                                                     : std::to_string((*order)[static_cast<std::size_t>(i)]));
            if (size > 8) first += ", …";
            if (std::ranges::find(*order, kNone) != order->end())
                return message(
                    "theirs are ours in another order along {axis}: {order}; − is zeros, as where a cache is written "
                    "over",
                    {{"axis", name}, {"order", first}});
            return message("theirs are ours in another order along {axis}: {order}",
                           {{"axis", name}, {"order", first}});
        }
        return {};
    }

    // Theirs are ours laid out with their axes in one order, and read as if they were in another: a view instead of
    // a transpose. The batch stays outermost.
    [[nodiscard]] Sentence viewed() const {
        const Axes& axes = ours_.axes();
        if (axes.size() < 3 || axes.size() > 4) return {};
        using Laid = std::pair<std::string, std::vector<std::size_t>>;  // names in their order; the cell at each place
        std::vector<Laid> all;
        std::vector<std::size_t> order(axes.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        do {
            Laid& laid = all.emplace_back("", std::vector<std::size_t>{0});
            for (const std::size_t axis : order) {
                std::vector<std::size_t> cells;
                for (const std::size_t from : laid.second)
                    for (Index i = 0; i < axes[axis].size; ++i) cells.push_back(from + Along(axes, axis).at(0, i, 0));
                laid.second = std::move(cells);
                laid.first += (laid.first.empty() ? "" : ", ") + std::string(axes[axis].name);
            }
        } while (std::next_permutation(order.begin() + 1, order.end()));
        for (const auto& [laid, from] : all)
            for (const auto& [read, to] : all) {
                std::vector<std::size_t> cells(from.size());
                for (std::size_t i = 0; i < from.size(); ++i) cells[to[i]] = from[i];
                if (laid != read && are([&](std::size_t i) { return our(cells[i]); }))
                    return message(
                        "theirs are ours laid out as [{laid}] and read as [{read}]: reshaped instead of transposed, so "
                        "heads and positions or columns are mixed",
                        {{"laid", laid}, {"read", read}});
            }
        return {};
    }

    // Theirs hold one part of n along an axis, and 0 elsewhere.
    [[nodiscard]] Sentence part() const {
        for (std::size_t axis = 0; axis < ours_.axes().size(); ++axis) {
            const Along view(ours_.axes(), axis);
            for (const Index parts : {2, 4, 8}) {
                if (view.along < parts || view.along % parts != 0) continue;
                for (Index which = 0; which < parts; ++which) {
                    const auto only = [&](std::size_t i) {
                        const Index place = static_cast<Index>(i) / view.inner % view.along;
                        return place / (view.along / parts) == which ? our(i) : 0.0F;
                    };
                    if (largest(theirs_) > 0.0 && are(only))
                        return message(
                            "theirs hold part {which} of {parts} along {axis}, and 0 elsewhere",
                            {{"which", which + 1}, {"parts", parts}, {"axis", std::string(ours_.axes()[axis].name)}});
                }
            }
        }
        return {};
    }

    [[nodiscard]] double factor_of(std::size_t begin, std::size_t end) const {
        double product = 0.0, square = 0.0;
        for (std::size_t i = begin; i < end; ++i) {
            const auto a = static_cast<double>(our(i)), b = static_cast<double>(theirs_.values()[i]);
            if (!std::isfinite(a) || !std::isfinite(b)) continue;
            product += a * b;
            square += a * a;
        }
        return square > 0.0 ? product / square : 1.0;
    }

    [[nodiscard]] Sentence factor() const {
        const double factor = factor_of(0, ours_.values().size());
        const auto times = [&](std::size_t i) { return static_cast<float>(static_cast<double>(our(i)) * factor); };
        if (std::abs(factor - 1.0) < least_ || factor_text(factor, type_) == "1" || !are(times)) return {};
        return message("theirs are ours times {factor}", {{"factor", factor_text(factor, type_)}});
    }

    [[nodiscard]] Sentence factor_by_row() const {
        const auto width = static_cast<std::size_t>(ours_.axes().back().size);
        if (width < 4) return {};
        std::vector<double> factors;
        for (std::size_t row = 0; row < ours_.values().size(); row += width)
            factors.push_back(factor_of(row, row + width));
        const auto times = [&](std::size_t i) {
            return static_cast<float>(static_cast<double>(our(i)) * factors[i / width]);
        };
        const auto [least, most] = std::ranges::minmax(factors);
        if (most - least < least_ || factor_text(least, type_) == factor_text(most, type_) || !are(times)) return {};
        return message("theirs are ours times one factor for each row, from {least} to {most}",
                       {{"least", factor_text(least, type_)}, {"most", factor_text(most, type_)}});
    }

    // Of scores: a number for each head and distance was added that isn't added here, or less; beside one for a whole
    // row, which changes nothing.
    [[nodiscard]] Sentence by_distance() const {
        const Axes& axes = ours_.axes();
        if (axes.size() != 4 || axes[2].name != axis::query || axes[3].name != axis::key) return {};
        const Index heads = axes[1].size, queries = axes[2].size, keys = axes[3].size;
        std::vector<std::optional<double>> added(static_cast<std::size_t>(heads * (queries + keys)));
        bool any = false;
        const auto numbers_at = [&](Index i) {
            return std::pair(static_cast<double>(our(static_cast<std::size_t>(i))),
                             static_cast<double>(theirs_.values()[static_cast<std::size_t>(i)]));
        };
        for (Index i = 0; i < ours_.size() && keys >= queries; ++i) {
            const auto [own, there] = numbers_at(i);
            const auto [own_itself, there_itself] = numbers_at(i - i % keys + i / keys % queries + keys - queries);
            if (!std::isfinite(own) || !std::isfinite(there) || std::abs(there) > 1e3) continue;
            const Index key = i % keys, query = i / keys % queries, head = i / keys / queries % heads;
            auto& one = added[static_cast<std::size_t>(head * (queries + keys) + key - query + queries)];
            const double more = there - own - (there_itself - own_itself);
            if (!std::isfinite(more) || std::abs(there_itself) > 1e3) return {};  // a query that doesn't see itself
            if (!one) one = more;
            if (std::abs(*one - more) > room_) return {};
            any = any || std::abs(*one) > room_;
        }
        if (!any || queries < 4) return {};
        return message(
            "what theirs add to the scores for each head and distance is another number: ALiBi's slope or a relative "
            "bias, of another sign, row or scale");
    }

    const Tensor &ours_, &theirs_;
    Arithmetic type_;
    double room_;
    double least_;  // what a factor is no factor below
};

}  // namespace

Sentence relation_between(const Tensor& ours, const Tensor& theirs, Arithmetic type, double magnitude) {
    return Relating(ours, theirs, type, magnitude).found();
}

Sentence relation_of_rows(const Tensor& ours, const Tensor& theirs, Arithmetic type) {
    if (ours.rank() != 3 || theirs.size() >= ours.size() || theirs.size() % (ours.dim(0) * ours.dim(2)) != 0) return {};
    const Index count = theirs.size() / (ours.dim(0) * ours.dim(2)), row = ours.dim(2), last = ours.dim(1) - count;
    const double most = room(type) * largest(ours);
    const auto are_from = [&](Index first) {
        for (Index b = 0; b < ours.dim(0); ++b)
            for (Index i = 0; i < count * row; ++i) {
                const auto a = static_cast<double>(ours.data()[(b * ours.dim(1) + first) * row + i]);
                if (!(std::abs(a - static_cast<double>(theirs.data()[b * count * row + i])) <= most)) return false;
            }
        return true;
    };
    for (Index first = 0; first < last; ++first)
        if (are_from(first))
            return message("theirs are read at position {theirs}, and not at the last one, {last}",
                           {{"theirs", first}, {"last", last}});
    return {};
}

std::string rows_of_table(const Tensor& theirs, const Tensor& table, Index first, double magnitude, Arithmetic type) {
    constexpr Index kShown = 4;
    if (table.rank() < 2 || theirs.rank() < 2 || table.axes().back().size != theirs.axes().back().size) return {};
    const Index width = theirs.axes().back().size, rows = table.size() / width;
    const double most = room(type) * magnitude;
    std::string listed;
    bool differs = false, any = false;
    for (Index at = 0; at < theirs.dim(theirs.rank() - 2); ++at) {
        const auto is = [&](Index row) {
            for (Index i = 0; i < width; ++i)
                if (!(std::abs(static_cast<double>(theirs.data()[at * width + i]) -
                               static_cast<double>(table.data()[row * width + i])) <= most))
                    return false;
            return true;
        };
        const auto here =
            theirs.values().subspan(static_cast<std::size_t>(at * width), static_cast<std::size_t>(width));
        if (first < 0 && std::ranges::all_of(here, [](float x) { return x == 0.0F; })) continue;  // of no table
        Index found = 0;
        while (found < rows && !is(found)) ++found;
        if (found == rows) return {};
        any = true;
        differs |= found != first + at;
        if (at <= kShown) listed += (at == 0 ? "" : ", ") + (at < kShown ? std::to_string(found) : "…");
    }
    return differs && any ? listed : std::string();
}

Sentence relation_of_part(const Run& run, const Step& step, const Tensor& theirs, Arithmetic type) {
    const std::optional<StepId> main = step.main_operand();
    if (!main || step.operands_as(OperandRole::weight).empty()) return {};
    const Tensor& whole = run.value(*main);
    const Index width = whole.axes().back().size;
    for (const Index parts : {2, 4, 8})
        for (Index which = 0; which < parts && width >= parts && width % parts == 0; ++which) {
            Tensor part = whole;
            const std::span<float> numbers = part.writable();
            for (std::size_t i = 0; i < numbers.size(); ++i)
                if (static_cast<Index>(i) % width / (width / parts) != which) numbers[i] = 0.0F;
            Operands in;
            for (const StepId operand : step.operands) in.add(operand == *main ? part : run.value(operand));
            const Tensor sum = step.operation.compute(in, step.axes);
            const double most = room(type) * std::max(largest(sum), largest(theirs));
            const bool same = std::ranges::equal(sum.values(), theirs.values(), [&](float a, float b) {
                return std::abs(static_cast<double>(a) - static_cast<double>(b)) <= most;
            });
            if (same)
                return message(
                    "theirs are the sum over part {which} of {parts} of what is summed over, as one device has it",
                    {{"which", which + 1}, {"parts", parts}});
        }
    return {};
}

}  // namespace decoderscope::core::bisect
