#include "app/core/run/recording.h"

#include "engine/base/error.h"
#include "engine/graph/on_demand.h"
#include "engine/platform/process.h"
#include "engine/tensor/memory.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>
#include <map>
#include <memory>

namespace decoderscope::core {

namespace {

// Runs of so many bytes are kept whole without asking for the memory that there is.
constexpr std::size_t kAlwaysThere = 64'000'000;
// A tensor that is larger, and takes fewer operations a byte, is computed in less time than its pages are written.
constexpr std::size_t kLarge = 32'000'000;
constexpr double kQuick = 64.0;

std::size_t bytes_of(const Step& step) { return static_cast<std::size_t>(element_count(step.axes)) * sizeof(float); }

// Whether a pass makes a step's tensor.
bool is_made(const Step& step, bool looked_at) {
    if (step.is_source() || step.role == Role::on_demand) return false;
    const Traits traits = step.operation.traits();
    return !traits.recorded_elsewhere && (looked_at || !traits.deferred);
}

bool is_left_out_of_patterns(const Step& step) {
    return step.is_scores || (!step.axes.empty() && step.axes.back().name == axis::d_ff);
}

// The stream, keys and values and norms' scales, from which the rest is computed a layer at a time; and what is no
// number of the pass's own.
bool is_always_kept(const Plan& plan, const Step& step) {
    if (step.gradient_wrt) return is_always_kept(plan, plan[*step.gradient_wrt]);
    const Traits traits = step.operation.traits();
    if (step.is_source() || traits.passes_through || traits.scale || traits.must_hold || traits.recorded_elsewhere)
        return true;
    using enum AttentionStep;
    return !step.attention.empty() && std::ranges::any_of(std::array{key, value, kv_latent, k_shared}, [&](auto which) {
        return plan.step_of(step.attention, which) == &step;
    });
}

// What is made beside what is kept: a tensor whole or, of scores and of what is huge and read once (Executor in
// engine/graph/run.cpp), some rows of it.
std::size_t made_for_a_moment(const Step& step, std::size_t readers) {
    constexpr auto kRows = static_cast<std::size_t>(Blocks{}.bytes);
    constexpr auto kWhole = static_cast<std::size_t>(Blocks{}.huge_bytes());
    if (!step.operation.by_row() || (readers > 1 && !is_over_keys(step.axes))) return bytes_of(step);
    return std::min(bytes_of(step), is_over_keys(step.axes) ? kRows : kWhole);
}

// What a run keeps while one tensor after another is left out.
class Keeping {
public:
    explicit Keeping(const Plan& plan)
        : plan_(plan),
          readers_(readers_of(plan)),
          bytes_(bytes_of_all(plan)),
          has_gradients_(std::ranges::any_of(plan.steps(), &Step::backward)) {
        kept_.steps.assign(plan.steps().size(), true);
        for (const Step& step : plan.steps())  // a tensor under another name is there already
            if (step.operation.traits().passes_through && step.operands.size() == 1 && step.patches.empty())
                bytes_ -= kept_bytes(step, kept_);
    }

    void leave_out(const Step& step) {
        bytes_ -= kept_bytes(step, kept_);
        kept_.steps[step.id] = false;
        most_ = std::max(most_, made_for_a_moment(step, readers_[step.id]));
        if (has_gradients_ && !step.backward && !step.operation.traits().deferred)
            largest_block_ = std::max(largest_block_, by_block_[step.block] += bytes_of(step));
    }
    [[nodiscard]] std::size_t bytes() const { return bytes_ + 2 * most_ + largest_block_; }
    [[nodiscard]] KeptTensors kept() const {
        if (std::ranges::count(kept_.steps, false) == 0) return {{}, bytes()};
        return {kept_.steps, bytes()};
    }
    [[nodiscard]] const Plan& plan() const { return plan_; }

private:
    const Plan& plan_;
    std::vector<std::size_t> readers_;
    std::size_t bytes_, most_ = 0;
    bool has_gradients_;
    // What is made again for the gradients of a block.
    std::map<std::string, std::size_t> by_block_;
    std::size_t largest_block_ = 0;
    KeptTensors kept_;
};

// Operations for each byte of a step's tensor.
double operations_a_byte(const Plan& plan, const Step& step) {
    OperandAxes operands;
    for (const StepId operand : step.operands) operands.push_back(plan[operand].axes);
    return static_cast<double>(step.operation.work(operands, step.axes).operations) /
           static_cast<double>(std::max<std::size_t>(bytes_of(step), 1));
}

void leave_out_what_is_quick_or_has_no_room(Keeping& keeping, std::optional<std::size_t> room) {
    struct Candidate {
        StepId id;
        double worth;  // operations a byte
    };
    std::vector<Candidate> candidates;
    for (const Step& step : keeping.plan().steps()) {
        const bool small = bytes_of(step) < static_cast<std::size_t>(Blocks{}.from_bytes);
        if (small || step.role == Role::on_demand || is_always_kept(keeping.plan(), step)) continue;
        const bool deferred = step.operation.traits().deferred;
        if (deferred && !step.operation.by_row()) continue;  // a mask's rules, which take no room
        const double worth = deferred ? 0.0 : operations_a_byte(keeping.plan(), step);
        if (bytes_of(step) >= kLarge && worth < kQuick)
            keeping.leave_out(step);
        else
            candidates.push_back({step.id, worth});
    }
    std::ranges::stable_sort(candidates, {}, &Candidate::worth);
    for (auto next = candidates.begin(); room && keeping.bytes() > *room && next != candidates.end(); ++next)
        keeping.leave_out(keeping.plan()[next->id]);
}

}  // namespace

std::function<bool(const Step&)> KeptTensors::in_a_run() const {
    if (steps.empty()) return {};
    return [of = std::make_shared<const std::vector<bool>>(steps)](const Step& step) { return (*of)[step.id]; };
}

KeptTensors kept_of(const Plan& plan, Recording recording, std::optional<std::size_t> room) {
    const std::size_t all = bytes_of_all(plan);
    const bool is_small = all <= std::min(kAlwaysThere, room.value_or(all));
    if (recording == Recording::all || (recording == Recording::fit && is_small)) return {{}, all};
    Keeping keeping(plan);
    if (recording == Recording::fit) leave_out_what_is_quick_or_has_no_room(keeping, room);
    for (const Step& step : plan.steps())
        if (recording == Recording::patterns && is_left_out_of_patterns(step) && !step.operation.traits().must_hold)
            keeping.leave_out(step);
    return keeping.kept();
}

KeptTensors kept_now(const Plan& plan, Recording recording, std::uint64_t memory) {
    return kept_of(plan, recording, room_for_tensors(plan, memory));
}

std::size_t kept_bytes(const Step& step, const KeptTensors& kept, bool looked_at) {
    return is_made(step, looked_at) && kept(step) ? bytes_of(step) : 0;
}

std::size_t bytes_of_all(const Plan& plan, bool looked_at) {
    std::size_t bytes = 0;
    for (const Step& step : plan.steps()) bytes += kept_bytes(step, {}, looked_at);
    return bytes;
}

std::optional<std::size_t> room_for_tensors(const Plan& plan, std::uint64_t memory) {
    if (memory == 0 && bytes_of_all(plan) <= kAlwaysThere) return std::nullopt;
    std::uint64_t weights = 0;
    for (const Step& step : plan.steps())
        if (step.role == Role::parameter && step.source.may_stay()) weights += bytes_of(step);
    const std::uint64_t used = used_memory(), to_come = weights > used ? weights - used : 0;
    const auto without = [](std::uint64_t all, std::uint64_t part) { return all > part ? all - part : 0; };
    std::optional<std::uint64_t> room;
    if (const auto free = platform::free_bytes_of_memory()) room = without(*free + kept_memory(), to_come);
    if (memory > 0)
        room = std::min(room.value_or(std::numeric_limits<std::uint64_t>::max()), without(memory, used + to_come));
    if (!room) return std::nullopt;
    return static_cast<std::size_t>(std::min<std::uint64_t>(*room, std::numeric_limits<std::size_t>::max() / 2));
}

void check_memory(const Plan& plan, Recording recording, std::uint64_t memory) {
    if (memory > 0 || bytes_of_all(plan) > kAlwaysThere) check_room(plan, recording, room_for_tensors(plan, memory));
}

void check_room(const Plan& plan, Recording recording, std::optional<std::size_t> room) {
    if (!room) return;
    const std::size_t needed = kept_of(plan, recording, room).bytes;
    if (needed <= *room) return;
    const std::size_t less = kept_of(plan, Recording::fit, 0).bytes;
    const Arguments sizes = {{"needed", bytes_text(needed)}, {"free", bytes_text(*room)}, {"less", bytes_text(less)}};
    if (recording != Recording::fit && less < needed)
        throw Error(
            "this run needs {needed} for its tensors, but only {free} of memory is free: shorten the text, or record "
            "what fits (--record fit, or the palette in the window), which needs {less}",
            sizes);
    throw Error("this run needs {needed} for its tensors, but only {free} of memory is free: shorten the text", sizes);
}

Sentence what_was_left_out(const Run& run) {
    std::size_t kept = 0, left_out = 0;
    for (const Step& step : run.plan().steps()) {
        const Tensor& value = run.value(step.id);
        if (step.is_source() || value.empty()) continue;
        if (value.by_rows() != nullptr && !step.operation.traits().masks) left_out += bytes_of(step);
        if (value.is_ready()) kept += bytes_of(step);
    }
    if (left_out == 0) return {};
    return message("{left_out} of this run's tensors are not kept, and computed again when they are read; {kept} are",
                   {{"left_out", bytes_text(left_out)}, {"kept", bytes_text(kept)}});
}

std::string bytes_text(std::size_t bytes) {
    const auto number = static_cast<double>(bytes);
    std::array<char, 32> text{};
    if (number >= 1e9)
        std::snprintf(text.data(), text.size(), "%.1f GB", number / 1e9);
    else
        std::snprintf(text.data(), text.size(), "%.1f MB", number / 1e6);
    return text.data();
}

}  // namespace decoderscope::core
