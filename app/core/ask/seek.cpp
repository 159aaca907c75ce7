#include "app/core/ask/seek.h"

#include "app/core/text/characters.h"
#include "app/core/text/numbers.h"
#include "engine/base/error.h"
#include "engine/formulas/print.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <utility>

namespace decoderscope::core::ask {

namespace {

constexpr int kScanned = 32;                                   // parts of a range
constexpr std::array kWidths = {1.0, 4.0, 16.0, 64.0, 256.0};  // of the ranges, in sizes of what the number is now
constexpr int kMostSteps = 60;                                 // between two values
// How near the row must come to what is wanted, relative to that: where the search may end, and what counts as reached
// if float32 leads no nearer.
constexpr double kPrecise = 1e-6, kReached = 1e-4;

std::string written(double number) { return formulas::written(number, formulas::Script::ascii); }

// A line of runs: one number decides which.
struct Way {
    std::string varied;
    bool is_number = true;  // of the model, or how far along a direction
    double now = 0.0;       // where the unswept run is
    double size = 1.0;      // by which ranges are measured
    bool positive = false;  // it must stay so
    std::optional<std::pair<double, double>> range;
    std::function<Point(double)> at;
};

// ---- ways

// What a name has now: a key, a cell, a head's factor (1), a number that only the row names (1).
double number_now(const Unswept& unswept, const std::string& name) {
    for (const auto& [key, value] : config_values(unswept.scenario.config()))
        if (key == name) return number_from(value).value_or(1.0);
    if (name.find('[') == std::string::npos) return 1.0;
    const CellName cell = parse_cell_name(name);
    const Ref step = unswept.run->plan().find(cell.tensor);
    const Tensor& values = unswept.run->value(step->id);
    return static_cast<double>(values.at(cell.cell));
}

Way way_of_number(const Unswept& unswept, std::string_view vary) {
    const std::size_t equals = vary.find('=');
    Way way{.varied = std::string(trimmed(vary.substr(0, equals)))};
    // Read as the ends of a sweep, so that a mistake has the same sentence.
    const std::string ends = equals == std::string_view::npos ? "" : std::string(vary.substr(equals + 1));
    const Points known = points_of(way.varied + "=" + (ends.empty() ? std::string("1") : ends + ":2"), unswept);
    if (!ends.empty()) {
        const auto end = [&](std::size_t i) { return i < known.count ? known.at(i).at[0].number : std::nullopt; };
        if (known.count != 2 || !end(0) || !end(1))
            throw Error("“{vary}”: values, expected a range to look in, such as attention_scale=0.1..2",
                        {{"vary", vary}});
        way.range = {*end(0), *end(1)};
    }
    way.now = number_now(unswept, way.varied);
    way.size = std::max(std::abs(way.now), 1.0);
    way.positive = way.now >= 0.0 && way.varied.find('[') == std::string::npos;
    way.at = [&unswept, name = way.varied](double number) {
        return points_of(name + "=" + written(number), unswept).at(0);
    };
    return way;
}

// The row's gradient with respect to a tensor.
Resumable<Tensor> gradient_of_row(const Unswept& unswept, std::string tensor) {
    Scenario scenario = unswept.scenario;
    if (unswept.row.added) scenario.edits.emplace_back(*unswept.row.added);
    const std::size_t rank = plan_of(scenario)->find(unswept.row.tensor)->axes.size();
    scenario.gradient_target = cell_name(unswept.row.tensor, Cell(rank, 0));
    const std::shared_ptr<const Plan> plan = plan_of(scenario);
    const Ref step = plan->find(tensor), gradient = step == nullptr ? nullptr : plan->gradient_wrt(*step);
    if (gradient == nullptr)
        throw Error("{tensor}: {row} doesn't depend on it", {{"tensor", tensor}, {"row", unswept.row.tensor}});
    const NeededSteps needed = needed_steps(*plan, [&](const Step& one) { return one.id == gradient->id; });
    const ExecuteOptions options{.previous = unswept.run.get(), .needed = &needed};
    const std::shared_ptr<const Run> run = co_await execute_in_slices(plan, options);
    co_return run->value(gradient->id);
}

Way way_along(const std::string& tensor, const Tensor& values, const Tensor& gradient, double length) {
    Way way{.varied = tensor, .is_number = false};
    way.size = std::max(euclidean_norm(values), 1e-3);
    way.at = [tensor, values, gradient, length](double distance) {
        Point point{.at = {{Sentence::verbatim(tensor), distance}}};
        for (Index i = 0; i < values.size(); ++i) {
            const auto n = static_cast<std::size_t>(i);
            const double change = distance * static_cast<double>(gradient.values()[n]) / length;
            if (change != 0.0)
                point.variation.more_edits.emplace_back(SetCell{
                    tensor, values.cell(i), static_cast<float>(static_cast<double>(values.values()[n]) + change)});
        }
        return point;
    };
    return way;
}

Resumable<Way> way_of_tensor(const Unswept& unswept, std::string tensor) {
    const Tensor values = unswept.run->value(unswept.run->plan().find(tensor)->id);
    if (values.size() > kMostChanged)
        throw Error("{tensor}: {numbers} numbers, expected at most {most} that change together",
                    {{"tensor", tensor}, {"numbers", grouped(values.size())}, {"most", grouped(kMostChanged)}});
    const Tensor gradient = co_await gradient_of_row(unswept, tensor);
    const double length = euclidean_norm(gradient);
    if (!std::isfinite(length) || length == 0.0)
        throw Error("{tensor}: the gradient of {row} with respect to it is {length}, which leads nowhere",
                    {{"tensor", tensor}, {"row", unswept.row.tensor}, {"length", short_number_text(length, 3)}});
    co_return way_along(tensor, values, gradient, length);
}

// ---- the row

// The row of a target: of "largest", how far a cell is above the others of its last axis.
Row row_towards(const Row& row, const Target& target, const Plan& plan) {
    if (target.kind != Target::Kind::largest) return row;
    const std::string text = row.added ? row.added->formula : row.tensor;
    const auto fail = [&]() -> CellName {
        throw Error("{row}: expected a cell, such as logits[0, 3, 5], that is to be the largest of its last axis",
                    {{"row", text}});
    };
    const CellName cell = text.find('[') == std::string::npos ? fail() : parse_cell_name(trimmed(text));
    const Ref step = plan.find(cell.tensor);
    if (step == nullptr) fail();
    check_cell(cell, step->axes);
    std::string others = cell.tensor + "[";
    for (std::size_t i = 0; i + 1 < cell.cell.size(); ++i) others += std::to_string(cell.cell[i]) + ", ";
    const std::string last = std::to_string(cell.cell.back());
    return row_from("above_the_others = " + cell_name(cell.tensor, cell.cell) + " - max_j (j = " + last +
                        " ? -1e30 : " + others + "j])",
                    plan);
}

// ---- the search

class Search {
public:
    Search(const Unswept& unswept, const Way& way, Target target, std::atomic<std::size_t>* done)
        : unswept_(unswept), way_(way), target_(target), done_(done) {}

    Resumable<Found> found() {
        Found found{.point = {}, .varied = way_.varied, .target = target_};
        found.before = co_await row_at(way_.now);
        if (must_hold() ? off(found.before) >= 0.0 : is_near(found.before))
            throw Error("{row} is {before} already",
                        {{"row", unswept_.row.tensor}, {"before", short_number_text(found.before, 6)}});
        for (const auto& [low, high] : ranges()) {
            std::optional<Between> reached;
            const std::vector<Between> around = co_await scanned(low, high);
            for (const Between& between : around) {
                const Between narrow = co_await narrowed(between);
                // A row that jumps across the wanted is never near it: an attention_scale of 0 stands for the default.
                if (must_hold() || is_near(narrow.row_there, kReached)) reached = narrow;
                if (reached) break;
            }
            if (!reached) continue;
            const Between& narrow = *reached;
            found.point = way_.at(narrow.there);
            if (way_.is_number)
                found.number = narrow.there;
            else
                found.length = std::abs(narrow.there);
            found.after = narrow.row_there;
            found.runs = runs_;
            co_return found;
        }
        fail();
    }

private:
    // Two values: the wanted is between their rows. `there` is the nearer one, or where the wanted holds.
    struct Between {
        double here = 0.0, there = 0.0, row_here = 0.0, row_there = 0.0;
    };

    // How far a row's number is from what is wanted; at least 0 where it holds.
    [[nodiscard]] double off(double row) const {
        return target_.kind == Target::Kind::below ? target_.number - row : row - target_.number;
    }
    [[nodiscard]] bool must_hold() const { return target_.kind != Target::Kind::equal; }

    [[nodiscard]] std::vector<std::pair<double, double>> ranges() const {
        if (way_.range) return {*way_.range};
        std::vector<std::pair<double, double>> ranges;
        for (const double width : kWidths) {
            const double high = way_.now + width * way_.size;
            ranges.emplace_back(way_.positive ? way_.now / (1.0 + width) : way_.now - width * way_.size, high);
        }
        return ranges;
    }

    Resumable<std::vector<double>> rows_at(std::vector<double> places) {
        Points points{{way_.varied}, places.size(), [this, places](std::size_t i) { return way_.at(places[i]); }};
        const SweepOptions options{.output = OfOutput::nothing, .unswept = false, .done = done_};
        Unswept unswept = unswept_;
        const Sweep sweep = co_await swept(std::move(unswept), std::move(points), options);
        std::vector<double> rows;
        for (const Result& result : sweep.results) {
            if (result.value.size() != 1)
                throw Error("{row}: {numbers} numbers, expected one that is to become what is sought",
                            {{"row", sweep.row}, {"numbers", grouped(result.value.size())}});
            rows.push_back(static_cast<double>(result.value.values()[0]));
        }
        runs_ += rows.size();
        co_return rows;
    }

    Resumable<double> row_at(double place) {
        std::vector<double> one(1, place);  // by name: GCC 12 destroys temporary arguments of what is awaited twice
        const std::vector<double> row = co_await rows_at(std::move(one));
        co_return row.front();
    }

    // The neighbours of a range between which the wanted lies, the nearest first.
    Resumable<std::vector<Between>> scanned(double low, double high) {
        std::vector<double> places;
        for (int i = 0; i <= kScanned; ++i) places.push_back(low + (high - low) * i / kScanned);
        if (way_.now > low && way_.now < high) places.push_back(way_.now);
        std::ranges::sort(places);
        const std::vector<double> rows = co_await rows_at(places);
        std::vector<Between> found;
        for (std::size_t i = 0; i + 1 < places.size(); ++i) {
            if (!std::isfinite(rows[i]) || !std::isfinite(rows[i + 1])) continue;
            if ((off(rows[i]) < 0.0) == (off(rows[i + 1]) < 0.0) && off(rows[i]) != 0.0 && off(rows[i + 1]) != 0.0)
                continue;
            const bool first_holds = off(rows[i]) >= 0.0;
            const std::size_t there = first_holds ? i : i + 1, here = first_holds ? i + 1 : i;
            found.push_back({places[here], places[there], rows[here], rows[there]});
        }
        std::ranges::stable_sort(found, {}, [&](const Between& b) { return std::abs(b.there - way_.now); });
        co_return found;
    }

    // Regula falsi (Illinois), which keeps the wanted between its two values; halves where something must hold.
    Resumable<Between> narrowed(Between between) {
        double weight_here = 1.0, weight_there = 1.0;
        for (int step = 0; step < kMostSteps && !is_precise(between); ++step) {
            const double a = off(between.row_here) * weight_here, b = off(between.row_there) * weight_there;
            const double middle = must_hold() || a == b ? 0.5 * (between.here + between.there)
                                                        : (between.here * b - between.there * a) / (b - a);
            if (middle == between.here || middle == between.there) break;
            const double row = co_await row_at(middle);
            if (!std::isfinite(row)) break;
            const bool holds = off(row) >= 0.0;
            (holds ? between.there : between.here) = middle;
            (holds ? between.row_there : between.row_here) = row;
            weight_here = holds ? weight_here * 0.5 : 1.0;
            weight_there = holds ? 1.0 : weight_there * 0.5;
        }
        if (!must_hold() && std::abs(off(between.row_here)) < std::abs(off(between.row_there))) {
            std::swap(between.here, between.there);
            std::swap(between.row_here, between.row_there);
        }
        co_return between;
    }

    [[nodiscard]] bool is_precise(const Between& between) const {
        if (must_hold())
            return std::abs(between.there - between.here) <= 1e-4 * std::max(std::abs(between.there), 1e-6);
        return is_near(between.row_here) || is_near(between.row_there);
    }
    [[nodiscard]] bool is_near(double row, double within = kPrecise) const {
        return std::abs(off(row)) <= within * std::max(std::abs(target_.number), 1e-3);
    }

    [[noreturn]] void fail() const {
        const auto [low, high] = ranges().back();
        const Arguments where = {{"row", unswept_.row.tensor},
                                 {"varied", way_.varied},
                                 {"low", short_number_text(low, 4)},
                                 {"high", short_number_text(high, 4)},
                                 {"runs", runs_}};
        if (way_.is_number)
            throw Error("no value of {varied} from {low} to {high} was found that does it, in {runs} runs", where);
        throw Error(
            "no change of {varied} along the gradient of {row}, up to a length of {high}, was found that does "
            "it, in {runs} runs",
            where);
    }

    const Unswept& unswept_;
    const Way& way_;
    Target target_;
    std::atomic<std::size_t>* done_;
    std::size_t runs_ = 0;
};

}  // namespace

Target target_from(std::string_view text) {
    const std::string_view all = trimmed(text);
    if (all == "largest") return {Target::Kind::largest, 0.0};
    const bool above = all.starts_with('>'), below = all.starts_with('<');
    const std::optional<double> number = number_from(trimmed(above || below ? all.substr(1) : all));
    if (!number)
        throw Error("“{text}” is nothing to seek, expected a number such as 0.25, “> 0”, “< 1” or “largest”",
                    {{"text", text}});
    return {above ? Target::Kind::above : below ? Target::Kind::below : Target::Kind::equal, *number};
}

Resumable<Found> sought(Unswept unswept, std::string vary, Target target, std::atomic<std::size_t>* done) {
    if (unswept.row.tensor.empty())
        throw Error("nothing is watched, expected a row of one number that is to become what is sought");
    unswept.row = row_towards(unswept.row, target, unswept.run->plan());
    const std::string name(trimmed(vary));
    const bool is_tensor = unswept.run->plan().find(name) != nullptr;
    Way way;
    if (is_tensor) {
        way = co_await way_of_tensor(unswept, name);
    } else {
        way = way_of_number(unswept, vary);
    }
    Search search(unswept, way, target, done);
    Found found = co_await search.found();
    co_return found;
}

Sentence found_sentence(const Found& found, const std::string& row) {
    const bool largest = found.target.kind == Target::Kind::largest;
    const Arguments numbers = {{"varied", found.varied},
                               {"number", short_number_text(found.number.value_or(0.0), 6)},
                               {"length", short_number_text(found.length, 4)}};
    const Sentence what = found.number
                              ? message("{varied} = {number}", numbers)
                              : message("A change of {varied} by {length} in all (L2), along the gradient,", numbers);
    const Sentence makes =
        largest ? message("{what} makes {row} the largest, by {after} (before: {before}), as a run confirms.",
                          {{"what", what},
                           {"row", row},
                           {"after", short_number_text(found.after, 3)},
                           {"before", short_number_text(found.before, 6)}})
                : message("{what} makes {row} {after} (before: {before}), as a run confirms.",
                          {{"what", what},
                           {"row", row},
                           {"after", short_number_text(found.after, 6)},
                           {"before", short_number_text(found.before, 6)}});
    return message("{makes} It was found in {runs} runs, and isn't proved to be the smallest change.",
                   {{"makes", makes}, {"runs", found.runs}});
}

}  // namespace decoderscope::core::ask
