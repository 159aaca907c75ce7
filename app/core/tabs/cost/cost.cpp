#include "app/core/tabs/cost/cost.h"

#include "engine/base/translate.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <tuple>
#include <utility>

namespace decoderscope::core::cost {

namespace {

using Clock = std::chrono::steady_clock;
using Times = std::vector<std::uint64_t>;  // of one step, a number a pass

std::uint64_t median(Times times) {
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::ranges::nth_element(times, middle);
    return *middle;
}

std::uint64_t bytes_of(std::uint64_t numbers) { return numbers * sizeof(float); }

std::uint64_t weight_bytes_of(const Plan& plan) {
    std::uint64_t numbers = 0;
    for (const Step& step : plan.steps())
        if (step.role == Role::parameter) numbers += static_cast<std::uint64_t>(step.source.size());
    return bytes_of(numbers);
}

// What a step's row is called. Steps of the backward pass have rows of their own.
std::string group_of(const Step& step, Grouping grouping) {
    if (grouping == Grouping::step) return step.name;
    const std::string block = step.block.empty() ? tr("outside the blocks") : step.block;
    const std::string name = grouping == Grouping::part ? tr(title_of(step.part)) : block;
    return step.backward ? tr("{name}, backward", {{"name", name}}) : name;
}

}  // namespace

Cost& Cost::operator+=(const Cost& other) {
    nanoseconds += other.nanoseconds;
    kept_bytes += other.kept_bytes;
    operations += other.operations;
    moved_bytes += other.moved_bytes;
    return *this;
}

Cost counted_cost(const Plan& plan, const Step& step, Recording recording) {
    OperandAxes operands;
    for (const StepId operand : step.operands) operands.push_back(plan[operand].axes);
    const Work work = step.operation.work(operands, step.axes);
    auto numbers = static_cast<std::uint64_t>(element_count(step.axes));
    for (const std::uint64_t reads : work.reads) numbers += reads;
    return {0, kept_bytes(step, recording), work.operations, bytes_of(numbers)};
}

Resumable<PassCost> measured(std::shared_ptr<const Plan> plan, Recording recording, Passes passes) {
    std::vector<Times> times(plan->steps().size());
    std::shared_ptr<const Run> run;
    const Clock::time_point until =
        Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(passes.seconds));
    const auto enough = [&](std::size_t made) {
        return made >= passes.most || (made >= passes.least && Clock::now() >= until);
    };
    std::size_t made = 0;
    for (bool counts = false; !counts || !enough(made); counts = true) {
        ExecuteOptions options;
        options.kept = kept_steps(recording);
        Execution execution(plan, options);
        bool done = false;
        for (StepId step = 0; !done; ++step) {
            const Clock::time_point began = Clock::now();
            done = execution.advance();
            const auto took = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - began).count();
            if (counts) times[step].push_back(static_cast<std::uint64_t>(took));
            co_yield kPause;
        }
        run = execution.run();
        if (counts) ++made;
    }
    PassCost pass{.passes = made, .weight_bytes = weight_bytes_of(*plan)};
    for (const Step& step : plan->steps()) {
        if (step.is_source() || run->value(step.id).empty()) continue;
        Cost cost = counted_cost(*plan, step, recording);
        cost.nanoseconds = median(std::move(times[step.id]));
        pass.steps.push_back({step.id, cost});
    }
    co_return pass;
}

Value<PassCost> shown_cost(Derived& derived, const Snapshot& shown) {
    return derived.later<PassCost>({shown.run}, std::tuple<>(), [&] {
        return measured(shown.run->shared_plan(), shown.scenario.recording, Passes{});
    });
}

std::uint64_t amount_of(const Cost& cost, SortedBy by) {
    switch (by) {
        case SortedBy::time:
            return cost.nanoseconds;
        case SortedBy::memory:
            return cost.kept_bytes;
        case SortedBy::operations:
            return cost.operations;
        case SortedBy::moved:
            return cost.moved_bytes;
        case SortedBy::computed:
            break;
    }
    return 0;
}

CostTable cost_table(const Plan& plan, const PassCost& pass, Grouping grouping, SortedBy sorted) {
    CostTable table{.grouping = grouping};
    std::map<std::string, std::size_t> places;
    std::vector<std::uint64_t> most;  // of a row's steps
    for (const auto& [id, cost] : pass.steps) {
        const Step& step = plan[id];
        const std::string name = group_of(step, grouping);
        const auto [found, is_new] = places.emplace(name, table.rows.size());
        if (is_new) {
            table.rows.push_back({.name = name, .step = step.name, .meaning = step.meaning});
            most.push_back(amount_of(cost, sorted));
            if (grouping == Grouping::step) {
                table.rows.back().part = tr(title_of(step.part));
                table.rows.back().block = step.block;
            }
        }
        CostRow& row = table.rows[found->second];
        if (amount_of(cost, sorted) > most[found->second]) {
            most[found->second] = amount_of(cost, sorted);
            row.step = step.name;
        }
        ++row.steps;
        row.cost += cost;
        table.total += cost;
    }
    if (sorted != SortedBy::computed)
        std::ranges::stable_sort(table.rows, std::greater<>(),
                                 [sorted](const CostRow& row) { return amount_of(row.cost, sorted); });
    return table;
}

Value<CostTable> shown_table(Derived& derived, const std::shared_ptr<const Plan>& plan, const Value<PassCost>& pass,
                             Grouping grouping, SortedBy sorted) {
    return derived.get<CostTable>({plan}, std::make_tuple(pass.number(), grouping, sorted),
                                  [&] { return cost_table(*plan, *pass, grouping, sorted); });
}

}  // namespace decoderscope::core::cost
