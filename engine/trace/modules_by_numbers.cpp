#include "engine/trace/modules_by_numbers.h"

#include "engine/trace/alignment.h"
#include "engine/trace/layout.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace decoderscope::trace {

namespace {

constexpr std::string_view kEnding = ".weight";
constexpr double kSame = 0.05;  // of the largest number: another matrix of the same shape is apart by far more

// A step that applies a parameter to one other tensor; a norm does so with a scale of that tensor.
struct Applying {
    Ref step = nullptr, of = nullptr;
    std::string parameter;
};

std::vector<Applying> steps_applying(const Plan& plan) {
    std::vector<Applying> found;
    for (const Step& step : plan.steps()) {
        if (step.is_source() || step.backward || !step.lens.empty() || step.role == Role::on_demand) continue;
        Applying one{&step};
        bool alone = true;
        for (const StepId id : step.operands) {
            const Step& operand = plan[id];
            if (operand.role == Role::parameter) {
                if (operand.name.ends_with(kEnding)) one.parameter = operand.name;
            } else if (one.of == nullptr) {
                one.of = &operand;
            } else {
                alone = alone && std::ranges::all_of(operand.operands, [&](StepId of) { return of == one.of->id; });
            }
        }
        if (alone && one.of != nullptr && !one.parameter.empty()) found.push_back(std::move(one));
    }
    return found;
}

// What the step makes of another tensor than its own; empty if that doesn't fit.
Tensor made_of(const Run& run, const Applying& applying, const Tensor& given) {
    const auto both = laid_out(run.value(applying.of->id), given, {});
    if (!both || both->theirs.size() != run.value(applying.of->id).size()) return {};
    const Tensor input = both->theirs.with_axes(applying.of->axes);
    std::vector<Tensor> read;
    for (const StepId id : applying.step->operands) {
        const Step& operand = run.plan()[id];
        if (id == applying.of->id) {
            read.push_back(input);
        } else if (operand.role == Role::parameter) {
            read.push_back(run.value(id));
        } else {
            Operands in;
            for (std::size_t i = 0; i < operand.operands.size(); ++i) in.add(input);
            read.push_back(operand.operation.compute(in, operand.axes));
        }
    }
    Operands in;
    for (const Tensor& tensor : read) in.add(tensor);
    return applying.step->operation.compute(in, applying.step->axes);
}

bool is_same(const Tensor& ours, const Tensor& theirs, const Placed& placed) {
    const auto both = laid_out(ours, theirs, placed);
    if (!both) return false;
    double largest = 0.0, apart = 0.0;
    for (std::size_t i = 0; i < both->ours.values().size(); ++i) {
        const auto a = static_cast<double>(both->ours.values()[i]), b = static_cast<double>(both->theirs.values()[i]);
        if (!std::isfinite(a) || !std::isfinite(b)) return false;
        largest = std::max({largest, std::abs(a), std::abs(b)});
        apart = std::max(apart, std::abs(a - b));
    }
    return largest > 0.0 && apart <= kSame * largest;
}

// "layers.0.self_attn.{q,k,v}_proj.weight" of three parameters, which begin and end alike.
std::string joined(const std::vector<std::string>& names) {
    if (names.size() == 1) return names.front();
    std::size_t begin = names.front().size(), end = begin;
    for (const std::string& name : names) {
        const std::string& first = names.front();
        begin = std::min(begin, static_cast<std::size_t>(std::ranges::mismatch(first, name).in1 - first.begin()));
        end = std::min(
            end, static_cast<std::size_t>(
                     std::mismatch(first.rbegin(), first.rend(), name.rbegin(), name.rend()).first - first.rbegin()));
    }
    std::string parts;
    for (const std::string& name : names)
        parts +=
            (parts.empty() ? "" : ",") + name.substr(begin, name.size() - begin - std::min(end, name.size() - begin));
    return names.front().substr(0, begin) + "{" + parts + "}" + names.front().substr(names.front().size() - end);
}

// A name with its first number apart: "stack.", 0, ".ask".
struct Numbered {
    std::string before, after;
    Index number = -1;
};
Numbered numbered(const std::string& name) {
    const auto is_digit = [](unsigned char c) { return std::isdigit(c) != 0; };
    const auto begin = std::ranges::find_if(name, is_digit);
    const auto end = std::find_if_not(begin, name.end(), is_digit);
    if (begin == end || end - begin > 6) return {name, {}, -1};
    return {std::string(name.begin(), begin), std::string(end, name.end()), std::stol(std::string(begin, end))};
}

class Finder {
public:
    Finder(const Run& run, const Trace& trace, const load::names::Mapping& known)
        : run_(run), trace_(trace), known_(recorded_modules(run.plan(), known)), steps_(steps_applying(run.plan())) {}

    load::names::Mapping found() {
        for (const TraceCall& call : trace_.calls) {
            if (!call.function.empty() || !modules_.emplace(call.module).second) continue;
            if (const auto known = known_.find(call.module); known != known_.end())
                pass(known->second);
            else if (const std::vector<std::string> parameters = applied_by(call); !parameters.empty())
                found_[call.module] = joined(parameters);
        }
        for (const auto& [module, parts] : known_) modules_.erase(module);
        twins();
        load::names::Mapping mapping;
        for (const auto& [module, parameters] : found_)
            mapping.emplace(module + std::string(kEnding),
                            std::vector{load::names::Target{parameters, load::names::RowLayout::as_stored, 0}});
        return mapping;
    }

private:
    [[nodiscard]] const TraceTensor* only(const std::vector<std::pair<std::string, std::string>>& ports) const {
        const TraceTensor* found = ports.size() == 1 ? trace_.find(ports.front().second) : nullptr;
        return found != nullptr && found->values.size() > 0 && found->shape.size() >= 2 ? found : nullptr;
    }

    // What modules whose names tell apply is no other's.
    void pass(const std::vector<RecordedModule>& modules) {
        for (const RecordedModule& module : modules)
            for (const RecordedPart& part : module.parts)
                for (std::size_t i = 0; i < steps_.size(); ++i)
                    if (steps_[i].parameter == part.parameter) {
                        taken_.insert(i);
                        next_ = i + 1;
                    }
    }
    // Whether it calls others, which do what it does: the recorded model does.
    [[nodiscard]] bool is_container(const std::string& module) const {
        const std::string within = module + ".";
        return module == trace_.calls.front().module || std::ranges::any_of(trace_.calls, [&](const TraceCall& call) {
                   return call.module.starts_with(within);
               });
    }

    // The parameters whose steps, side by side, are what a call gave for what it was given.
    [[nodiscard]] std::vector<std::string> applied_by(const TraceCall& call) {
        const TraceTensor *in = only(call.in), *out = only(call.out);
        if (in == nullptr || out == nullptr || in == out || is_container(call.module) || !out->has_floats()) return {};
        const bool of_tokens = in->dtype.starts_with("I") || in->dtype.starts_with("U");
        const Index width = out->shape.back();
        std::vector<std::string> parameters;
        Index column = 0;
        while (column < width) {
            bool found = false;
            // From the step behind the last that was found on: modules are called in about our order.
            for (std::size_t i = 0; i < steps_.size() && !found; ++i) {
                const std::size_t at = (next_ + i) % steps_.size();
                const Applying& one = steps_[at];
                if (of_tokens != (one.step->part == Part::embedding) || taken_.contains(at)) continue;
                const Ref parameter = run_.plan().find(one.parameter);
                const Index rows = of_tokens ? parameter->axes.back().size : parameter->axes[0].size;
                const Placed placed{.first_column = column, .columns = rows == width ? 0 : rows};
                if (column + rows > width || !can_be_laid_out(one.step->axes, out->values.axes(), placed)) continue;
                const Tensor made = made_of(run_, one, in->values);
                if (made.empty() || !is_same(made, out->values, placed)) continue;
                parameters.push_back(one.parameter);
                column += rows;
                next_ = at + 1;
                taken_.insert(at);
                found = true;
            }
            if (!found) return {};
        }
        return parameters;
    }

    // Modules that no step was found for, by what those of the same name in other layers apply.
    void twins() {
        const auto all = found_;
        for (const std::string& module : modules_) {
            const Numbered own = numbered(module);
            if (all.contains(module) || own.number < 0) continue;
            for (const auto& [other, parameters] : all) {
                const Numbered twin = numbered(other), ours = numbered(parameters);
                if (twin.before != own.before || twin.after != own.after || ours.number < 0) continue;
                const std::string wanted =
                    ours.before + std::to_string(ours.number + own.number - twin.number) + ours.after;
                const std::vector<std::string> names = load::names::names_of(wanted);
                const bool exist = std::ranges::all_of(
                    names, [&](const std::string& name) { return run_.plan().find(name) != nullptr; });
                const bool taken = std::ranges::any_of(
                    found_, [&](const auto& entry) { return entry.second == wanted && entry.first != module; });
                if (exist && !taken) found_[module] = wanted;
                break;
            }
        }
    }

    const Run& run_;
    const Trace& trace_;
    const RecordedModules known_;
    const std::vector<Applying> steps_;
    std::set<std::string> modules_;             // of theirs that were looked at
    std::map<std::string, std::string> found_;  // parameters, by module
    std::set<std::size_t> taken_;               // steps
    std::size_t next_ = 0;
};

}  // namespace

load::names::Mapping modules_by_numbers(const Run& run, const Trace& trace, const load::names::Mapping& known) {
    return Finder(run, trace, known).found();
}

}  // namespace decoderscope::trace
