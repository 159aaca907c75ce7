#include "app/core/ask/cost.h"

#include "engine/base/message.h"
#include "engine/products/linalg.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <tuple>
#include <utility>

namespace decoderscope::core::ask {

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
Sentence group_of(const Step& step, Grouping grouping) {
    if (grouping == Grouping::step) return Sentence::verbatim(step.name);
    const Sentence block = step.block.empty() ? message("outside the blocks") : Sentence::verbatim(step.block);
    const Sentence name = grouping == Grouping::part ? title_of(step.part) : block;
    return step.backward ? message("{name}, backward", {{"name", name}}) : name;
}

// A column of numbers.
struct Amount {
    const char* name;
    Phrase title;
    Unit unit;
    std::uint64_t Cost::*of;
};
constexpr std::array kAmounts = {
    Amount{"milliseconds", message("time"), Unit::milliseconds, &Cost::nanoseconds},
    Amount{"kept_bytes", message_c("that is stored in", "memory"), Unit::bytes, &Cost::kept_bytes},
    Amount{"operations", message("operations"), Unit::count, &Cost::operations},
    Amount{"moved_bytes", message("moved"), Unit::bytes, &Cost::moved_bytes},
};

void add_numbers(TableRow& row, std::uint64_t steps, const Cost& cost) {
    row.entries.emplace_back(steps);
    for (const Amount& amount : kAmounts)
        row.entries.push_back(amount.unit == Unit::milliseconds ? Entry(static_cast<double>(cost.*amount.of) / 1e6)
                                                                : Entry(cost.*amount.of));
}

std::vector<Sentence> notes_on(const PassCost& pass) {
    return {message("Times are measured: the median of {passes} passes, with {products} for large matrices. What is "
                    "made when it is first read (a mask) is timed with its reader.",
                    {{"passes", pass.passes}, {"products", products::products_by()}}),
            message("The rest is counted from formulas and shapes, in floating-point operations: a multiply-add is 2, "
                    "exp is 1, what no tensor enters is 0. Memory is what stays after the pass; moved are the numbers "
                    "that a step reads and writes, each once, as float32."),
            message("The weights take {bytes} more as float32; they stay from pass to pass.",
                    {{"bytes", text_of(Entry(pass.weight_bytes), Unit::bytes)}})};
}

}  // namespace

Cost& Cost::operator+=(const Cost& other) {
    nanoseconds += other.nanoseconds;
    kept_bytes += other.kept_bytes;
    operations += other.operations;
    moved_bytes += other.moved_bytes;
    return *this;
}

Cost counted_cost(const Plan& plan, const Step& step, const KeptTensors& kept) {
    OperandAxes operands;
    for (const StepId operand : step.operands) operands.push_back(plan[operand].axes);
    const Work work = step.operation.work(operands, step.axes);
    auto numbers = static_cast<std::uint64_t>(element_count(step.axes));
    for (const std::uint64_t reads : work.reads) numbers += reads;
    return {0, kept_bytes(step, kept), work.operations, bytes_of(numbers)};
}

Resumable<PassCost> measured_cost(std::shared_ptr<const Plan> plan, KeptTensors kept, Passes passes) {
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
        options.kept = kept.in_a_run();
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
        Cost cost = counted_cost(*plan, step, kept);
        cost.nanoseconds = median(std::move(times[step.id]));
        pass.steps.push_back({step.id, cost});
    }
    co_return pass;
}

Value<PassCost> shown_cost(Derived& derived, const Snapshot& shown) {
    return derived.later<PassCost>({shown.run}, std::tuple<>(), [&] {
        const std::shared_ptr<const Plan>& plan = shown.run->shared_plan();
        return measured_cost(plan, kept_now(*plan, shown.scenario.recording, shown.scenario.memory), Passes{});
    });
}

Table cost_table(const Plan& plan, const PassCost& pass, Grouping grouping, std::string_view sort) {
    const auto sorted = std::ranges::find(
        kAmounts, sort, [](const Amount& amount) { return std::string_view(amount.title.english()); });
    const auto by = sorted == kAmounts.end() ? nullptr : sorted->of;
    struct Group {
        TableRow row;
        std::string block;
        Part part = Part::residual_stream;
        std::uint64_t steps = 0, most = 0;  // of what is sorted by, in one step
        Cost cost;
    };
    std::vector<Group> groups;
    std::map<std::string, std::size_t> places;
    Cost total;
    for (const auto& [id, cost] : pass.steps) {
        const Step& step = plan[id];
        const Sentence name = group_of(step, grouping);
        const auto [found, is_new] = places.emplace(name.english(), groups.size());
        if (is_new) groups.push_back({{.name = name, .meaning = step.meaning}, step.block, step.part});
        Group& group = groups[found->second];
        const std::uint64_t amount = by == nullptr ? 0 : cost.*by;
        if (is_new || amount > group.most) {
            group.most = amount;
            group.row.step = step.name;
        }
        ++group.steps;
        group.cost += cost;
        total += cost;
    }
    const bool of_steps = grouping == Grouping::step;
    const std::array<Phrase, 3> titles = {message("step"), message("part"), message("block")};
    Table table{.about = std::string(kGroupingNames[static_cast<std::size_t>(grouping)]),
                .title = message("cost of a forward pass"),
                .about_title = titles[static_cast<std::size_t>(grouping)],
                .notes = notes_on(pass),
                .facts = {{"passes", std::uint64_t{pass.passes}},
                          {"products_by", Sentence::verbatim(products::products_by())},
                          {"weight_bytes", pass.weight_bytes}}};
    table.sortable = true;
    if (of_steps) table.columns = {{"part"}, {"block"}};
    table.columns.push_back({"steps", of_steps ? Sentence() : message("steps"), Unit::count});
    for (const Amount& amount : kAmounts) table.columns.push_back({amount.name, amount.title, amount.unit});
    for (Group& group : groups) {
        if (of_steps)
            group.row.entries = {title_of(group.part), group.block.empty() ? Entry() : Sentence::verbatim(group.block)};
        add_numbers(group.row, group.steps, group.cost);
        table.rows.push_back(std::move(group.row));
    }
    table.total = {.name = message("total")};
    table.total->entries.resize(of_steps ? 2 : 0);
    add_numbers(*table.total, pass.steps.size(), total);
    if (const auto column = table.titled(sort)) sort_by(table, *column);
    return table;
}

}  // namespace decoderscope::core::ask
