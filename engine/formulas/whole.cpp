#include "engine/formulas/whole.h"

#include "engine/base/parallel.h"
#include "engine/formulas/product.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <unordered_map>
#include <utility>

namespace decoderscope::formulas {
namespace {

// So many numbers of a row are computed together: what a formula has at once then fits into a near cache, and a row of
// most models needs no second block, for which its gain would be read anew.
constexpr Index kBlock = 1024;
// The axis of what has no row.
constexpr std::size_t kNoAxis = kMostPlaces;

// Numbers that are read, row by row; the reader's first indices may be left out: it has all that they choose.
struct Source {
    std::variant<std::span<const float>, std::span<const double>, std::span<const std::int64_t>> numbers;
    std::vector<Index> sizes;
    double outside = kNaN;
    std::size_t left_out = 0;
    std::vector<Index> strides = strides_of(sizes);
};

Source source_of(const Operand& operand, const Shape& shape) {
    Source source{.numbers = {}, .sizes = sizes_of(shape)};
    const auto take = [&](const auto& numbers) {
        if constexpr (requires { numbers->values(); })
            source.numbers = numbers->values();
        else
            source.numbers = numbers;
    };
    std::visit(take, operand.numbers);
    return source;
}

// ---- what is to be done, each thing once

// One number, or a row of them along an axis: that of the definition's last index or, inside a reduction whose body is
// the same along it, the reduction's.
struct Step {
    const Code* code;
    Op op;
    std::size_t axis;
    bool row;
    std::vector<std::size_t> in;
    std::vector<std::size_t> along;     // the indices of a read that are not the same in all of the row
    std::vector<std::size_t> switches;  // conditions that make a product 0, whatever its other factors are
};

class Program {
public:
    // The definition's rows run along this axis.
    Program(const Code& code, std::size_t axis) { step_of(code, axis, false); }

    [[nodiscard]] const std::vector<Step>& steps() const { return steps_; }

private:
    std::size_t add(Step step) {
        steps_.push_back(std::move(step));
        return steps_.size() - 1;
    }

    std::size_t step_of(const Code& code, std::size_t axis, bool in_product) {
        const std::size_t key = code.hash * 131 + axis * 2 + (in_product ? 1 : 0);
        for (const std::size_t found : found_[key])
            if (steps_[found].axis == axis && *steps_[found].code == code) return found;
        const std::size_t made = made_of(code, axis, in_product);
        found_[key].push_back(made);
        return made;
    }

    std::size_t made_of(const Code& code, std::size_t axis, bool in_product) {
        Step step{&code, code.op, axis, (code.uses & bit(axis)) != 0, {}, {}, {}};
        const bool product = code.is(Op::multiply) || code.is(Op::divide);
        const bool across = code.kind == Code::Kind::reduce && !step.row;
        for (const Code& child : code.in) step.in.push_back(step_of(child, across ? code.which : axis, product));
        if (code.kind == Code::Kind::operand || code.kind == Code::Kind::result)
            for (std::size_t i = 0; i < step.in.size(); ++i)
                if (steps_[step.in[i]].row) step.along.push_back(i);
        if (product && !in_product) add_switches(code, axis, step.switches);
        if (const Code* power = code.is(Op::power) ? &code.in[1] : nullptr;
            power != nullptr && power->kind == Code::Kind::number &&
            (power->value == 2.0 || power->value == 3.0 || power->value == 4.0)) {
            step.op = Op::multiply;
            const std::size_t base = step.in[0];
            step.in = {base, base};
            for (double done = 2.0; done < power->value; ++done) step.in = {add(step), base};
        }
        return add(std::move(step));
    }

    void add_switches(const Code& code, std::size_t axis, std::vector<std::size_t>& switches) {
        if (code.is(Op::bracket)) return switches.push_back(step_of(code, axis, true));
        if (!code.is(Op::multiply) && !code.is(Op::divide)) return;
        add_switches(code.in[0], axis, switches);
        if (code.is(Op::multiply)) add_switches(code.in[1], axis, switches);
    }

    std::vector<Step> steps_;                                          // the definition's own last
    std::unordered_map<std::size_t, std::vector<std::size_t>> found_;  // steps by their hashes
};

// ---- doing it

// Computes a program at places of its scope. What has been computed is computed anew only once a place that it depends
// on has moved.
class Runner {
public:
    Runner(const Program& program, const std::vector<Source>& operands, const std::vector<Source>& results,
           const std::stop_token& stop)
        : steps_(program.steps()), operands_(operands), results_(results), stop_(stop), slots_(steps_.size()) {}

    // An index has this value; along the axis it is the first of so many.
    void move(std::size_t place, Index first, Index count = 1) {
        if (scope_[place] == first && counts_[place] == count) return;
        scope_[place] = first;
        counts_[place] = count;
        moved_[place] = ++now_;
    }
    [[nodiscard]] double number() { return number(steps_.size() - 1); }
    // As many as the axis was moved to.
    [[nodiscard]] std::span<const double> row() {
        return {row(steps_.size() - 1), static_cast<std::size_t>(counts_[steps_.back().axis])};
    }

private:
    struct Slot {
        std::uint64_t at = 0;  // when it was computed
        double value = 0.0;
        std::size_t filled = 0;  // of its row with the value
        std::vector<double> row;
        const double* made = nullptr;  // where its row is: in `row`, or where it is read
    };

    [[nodiscard]] bool is_fresh(std::size_t i) const {
        const Slot& slot = slots_[i];
        if (slot.at == 0) return false;
        for (std::uint64_t uses = steps_[i].code->uses; uses != 0; uses &= uses - 1)
            if (moved_[static_cast<std::size_t>(std::countr_zero(uses))] > slot.at) return false;
        return true;
    }

    double number(std::size_t i) {
        Slot& slot = slots_[i];
        if (is_fresh(i)) return slot.value;
        const double value = number_of(steps_[i]);
        if (std::bit_cast<std::uint64_t>(value) != std::bit_cast<std::uint64_t>(slot.value)) slot.filled = 0;
        slot.value = value;
        slot.at = now_;
        return value;
    }

    double number_of(const Step& step) {
        const Code& code = *step.code;
        switch (code.kind) {
            case Code::Kind::number:
                return code.value;
            case Code::Kind::index:
                return static_cast<double>(scope_[code.which]);
            case Code::Kind::operand:
            case Code::Kind::result:
                return cell(source(code), step);
            case Code::Kind::reduce:
                return folded(step);
            case Code::Kind::apply:
                break;
        }
        if (step.op == Op::choose) return number(step.in[number(step.in[0]) != 0.0 ? 1 : 2]);
        for (const std::size_t condition : step.switches)
            if (number(condition) == 0.0) return 0.0;
        const double a = number(step.in[0]);
        return value_of(step.op, a, step.in.size() > 1 ? number(step.in[1]) : 0.0);
    }

    double folded(const Step& step) {
        const Code& code = *step.code;
        Folded folded(code.fold);
        for (Index first = 0; first < code.size; first += kBlock) {
            stop_if_asked(stop_);
            const Index count = std::min(kBlock, code.size - first);
            move(code.which, first, count);
            folded.take(code.fold, {row(step.in[0]), static_cast<std::size_t>(count)}, first);
        }
        return folded.result(code.fold, code.size);
    }

    const double* row(std::size_t i) {
        const Step& step = steps_[i];
        Slot& slot = slots_[i];
        const auto count = static_cast<std::size_t>(counts_[step.axis]);
        if (step.row) {
            if (is_fresh(i)) return slot.made;
            slot.made = in_place(step, count);
            if (slot.made == nullptr) {
                if (slot.row.size() < count) slot.row.resize(count);
                make_row(step, {slot.row.data(), count});
                slot.made = slot.row.data();
            }
            slot.at = now_;
            return slot.made;
        }
        if (slot.row.size() < count) slot.row.resize(count);
        if (const double value = number(i); slot.filled < count) {
            std::fill_n(slot.row.begin(), count, value);
            slot.filled = count;
        }
        return slot.row.data();
    }

    void make_row(const Step& step, std::span<double> out) {
        const Code& code = *step.code;
        if (code.kind == Code::Kind::index) {
            for (std::size_t i = 0; i < out.size(); ++i)
                out[i] = static_cast<double>(scope_[code.which] + static_cast<Index>(i));
        } else if (code.kind == Code::Kind::reduce) {
            fold_rows(step, out);
        } else if (code.kind != Code::Kind::apply) {
            read_row(source(code), step, out);
        } else if (step.op == Op::choose) {
            choose_row(step, out);
        } else if (is_switched_off(step)) {
            std::ranges::fill(out, 0.0);
        } else {
            apply_row(step, out);
            for (const std::size_t condition : step.switches)
                choose(row(condition), out.data(), zeros(out.size()), out);
        }
    }

    void apply_row(const Step& step, std::span<double> out) {
        const double* a = row(step.in[0]);
        if (step.in.size() == 1)
            apply(step.op, a, a, out);
        else if (steps_[step.in[1]].row)
            apply(step.op, a, row(step.in[1]), out);
        else
            apply(step.op, a, number(step.in[1]), out);
    }

    const double* zeros(std::size_t count) {
        if (zeros_.size() < count) zeros_.resize(count);
        return zeros_.data();
    }

    bool is_switched_off(const Step& step) {
        return std::ranges::any_of(
            step.switches, [&](std::size_t condition) { return !steps_[condition].row && number(condition) == 0.0; });
    }

    void choose_row(const Step& step, std::span<double> out) {
        if (!steps_[step.in[0]].row) {
            std::copy_n(row(step.in[number(step.in[0]) != 0.0 ? 1 : 2]), out.size(), out.begin());
            return;
        }
        choose(row(step.in[0]), row(step.in[1]), row(step.in[2]), out);
    }

    // A reduction of which each number of the row has its own.
    void fold_rows(const Step& step, std::span<double> out) {
        const Code& code = *step.code;
        std::ranges::fill(out, Folded(code.fold).value);
        std::vector<double> where(code.fold == Fold::argmax ? out.size() : 0, 0.0);
        const bool sum = code.fold == Fold::sum || code.fold == Fold::mean;
        for (Index at = 0; at < code.size; ++at) {
            stop_if_asked(stop_);
            move(code.which, at);
            const double* x = row(step.in[0]);
            if (sum) {
                apply(Op::add, out.data(), x, out);
                continue;
            }
            for (std::size_t i = 0; i < out.size(); ++i) {
                if (!better(code.fold, x[i], out[i])) continue;
                out[i] = x[i];
                if (!where.empty()) where[i] = static_cast<double>(at);
            }
        }
        if (!where.empty()) std::ranges::copy(where, out.begin());
        if (code.fold == Fold::mean)
            for (double& value : out) value /= static_cast<double>(code.size);
    }

    // ---- reading

    [[nodiscard]] const Source& source(const Code& code) const {
        return code.kind == Code::Kind::operand ? operands_[code.which] : results_[code.which];
    }

    // Where the numbers begin that all indices but those of the row choose; nothing if that is outside.
    std::optional<Index> begin_of(const Source& source, const Step& step) {
        Index begin = 0;
        for (std::size_t i = 0; i < source.sizes.size(); ++i) {
            const std::size_t of = step.in[i + source.left_out];
            const Index at = steps_[of].row ? 0 : index_of(number(of));
            if (at < 0 || at >= source.sizes[i]) return std::nullopt;
            begin = begin * source.sizes[i] + at;
        }
        return begin;
    }

    double cell(const Source& source, const Step& step) {
        const auto begin = begin_of(source, step);
        if (!begin) return source.outside;
        return std::visit([&](auto numbers) { return static_cast<double>(numbers[static_cast<std::size_t>(*begin)]); },
                          source.numbers);
    }

    // The part of an index that is the same along the row, if the index is the axis' own and something added to it.
    std::optional<Index> shift_of(const Step& step, std::size_t axis) {
        const auto is_axis = [&](const Step& s) { return s.code->kind == Code::Kind::index && s.code->which == axis; };
        if (is_axis(step)) return 0;
        if (step.code->kind != Code::Kind::apply || (step.op != Op::add && step.op != Op::subtract))
            return std::nullopt;
        const std::size_t a = step.in[0], b = step.in[1];
        if (is_axis(steps_[a]) && !steps_[b].row) return index_of(step.op == Op::add ? number(b) : -number(b));
        if (step.op == Op::add && is_axis(steps_[b]) && !steps_[a].row) return index_of(number(a));
        return std::nullopt;
    }

    // The row's indices that are inside of what is read, if only one index moves along it, and by one at a time.
    struct Run {
        Index begin, end;  // of the row
        Index from;        // where the first of these is read
        Index stride;
    };
    std::optional<Run> run_of(const Source& source, const Step& step, Index begin, std::size_t count) {
        if (step.along.size() != 1) return std::nullopt;
        const auto shift = shift_of(steps_[step.in[step.along[0]]], step.axis);
        if (!shift) return std::nullopt;
        const std::size_t axis = step.along[0] - source.left_out;
        const Index first = scope_[step.axis] + *shift, stride = source.strides[axis];
        const Index inside = std::clamp<Index>(-first, 0, static_cast<Index>(count));
        const Index end = std::clamp<Index>(source.sizes[axis] - first, inside, static_cast<Index>(count));
        return Run{inside, end, begin + (first + inside) * stride, stride};
    }

    // The row where it is read, if it lies there as it is wanted; null otherwise.
    const double* in_place(const Step& step, std::size_t count) {
        if (step.along.size() != 1) return nullptr;
        const Source& read = source(*step.code);
        const auto* numbers = std::get_if<std::span<const double>>(&read.numbers);
        if (numbers == nullptr) return nullptr;
        const auto begin = begin_of(read, step);
        const auto run = begin ? run_of(read, step, *begin, count) : std::nullopt;
        const bool whole = run && run->stride == 1 && run->begin == 0 && run->end == static_cast<Index>(count);
        return whole ? numbers->data() + run->from : nullptr;
    }

    void read_row(const Source& source, const Step& step, std::span<double> out) {
        const auto begin = begin_of(source, step);
        if (!begin) {
            std::ranges::fill(out, source.outside);
            return;
        }
        const auto run = run_of(source, step, *begin, out.size());
        const auto read = [&](auto numbers) {
            if (!run) return gather(source, step, *begin, numbers, out);
            std::fill(out.begin(), out.begin() + run->begin, source.outside);
            std::fill(out.begin() + run->end, out.end(), source.outside);
            if (run->begin == run->end) return;
            const auto* from = numbers.data() + run->from;
            const auto to =
                out.subspan(static_cast<std::size_t>(run->begin), static_cast<std::size_t>(run->end - run->begin));
            if (run->stride == 1) return copy(from, to);
            for (std::size_t i = 0; i < to.size(); ++i)
                to[i] = static_cast<double>(from[static_cast<Index>(i) * run->stride]);
        };
        std::visit(read, source.numbers);
    }

    static void copy(const float* from, std::span<double> to) { convert(from, to); }
    template <class Number>
    static void copy(const Number* from, std::span<double> to) {
        std::copy_n(from, to.size(), to.begin());
    }

    template <class Values>
    void gather(const Source& source, const Step& step, Index begin, Values numbers, std::span<double> out) {
        std::vector<const double*> indices;
        for (const std::size_t i : step.along) indices.push_back(row(step.in[i]));
        for (std::size_t i = 0; i < out.size(); ++i) {
            Index at = begin;
            bool inside = true;
            for (std::size_t k = 0; k < indices.size(); ++k) {
                const std::size_t axis = step.along[k] - source.left_out;
                const Index index = index_of(indices[k][i]);
                inside = inside && index >= 0 && index < source.sizes[axis];
                at += inside ? index * source.strides[axis] : 0;
            }
            out[i] = inside ? static_cast<double>(numbers[static_cast<std::size_t>(at)]) : source.outside;
        }
    }

    const std::vector<Step>& steps_;
    const std::vector<Source>& operands_;
    const std::vector<Source>& results_;
    const std::stop_token& stop_;
    std::vector<Slot> slots_;
    std::vector<double> zeros_;
    std::array<Index, kMostPlaces + 1> scope_ = {}, counts_ = {};
    std::array<std::uint64_t, kMostPlaces + 1> moved_ = {};
    std::uint64_t now_ = 1;
};

// ---- all of a definition

void for_each_code(const Code& code, const auto& visit) {
    visit(code);
    for (const Code& child : code.in) for_each_code(child, visit);
}

// Whether the first indices of a read are the reader's own.
bool begins_with_own(const Code& read, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
        if (i >= read.in.size() || read.in[i].kind != Code::Kind::index || read.in[i].which != i) return false;
    return true;
}

double cost_of(const Code& code) {
    double cost = 4.0;
    for (const Code& child : code.in) cost += cost_of(child);
    return code.kind == Code::Kind::reduce ? cost * static_cast<double>(code.size) : cost;
}

// Whether something is read in a row along this axis, one number after the other.
bool reads_along(const Code& code, std::size_t axis) {
    bool found = false;
    for_each_code(code, [&](const Code& c) {
        const bool reads = c.kind == Code::Kind::operand || c.kind == Code::Kind::result;
        found = found || (reads && !c.in.empty() && (c.in.back().uses & bit(axis)) != 0);
    });
    return found;
}

// Whether some reduction reads along its index.
bool reduces_along(const Code& code) {
    bool found = false;
    for_each_code(
        code, [&](const Code& c) { found = found || (c.kind == Code::Kind::reduce && reads_along(c.in[0], c.which)); });
    return found;
}

// How a definition is computed: its rows, and beside each the definitions of which the row reads only what has the
// row's own first indices.
struct Stage {
    std::size_t part;
    std::size_t lead;  // so many indices choose a row; all of them if it is a number each
    std::size_t axis;  // of the row
    std::vector<std::size_t> beside;
    Program program;
    std::vector<Program> programs;
    double cost;  // of a number of its rows, in multiply-adds
};

class Planner {
public:
    explicit Planner(const std::vector<CodedDefinition>& parts) : parts_(parts), planned_(parts.size()) {}

    // Plans what a definition reads, then the definition.
    void plan(std::size_t part) {
        planned_[part] = true;
        const Code& code = parts_[part].code;
        // A mean over each position's numbers runs along these, not along the positions, which lie far apart; matrices'
        // products are made otherwise.
        const std::size_t rank = parts_[part].shape.size();
        const bool has_rows = rank > 0 && (reads_along(code, rank - 1) || !reduces_along(code) ||
                                           (part + 1 == parts_.size() && may_have_products(code)));
        const std::size_t lead = has_rows ? rank - 1 : rank;
        const std::vector<std::size_t> beside = lead == 0 ? std::vector<std::size_t>{} : read_beside(part, lead);
        double cost = cost_of(code);
        std::vector<Program> programs;
        plan_what_is_read(code, beside);
        for (const std::size_t b : beside) {
            plan_what_is_read(parts_[b].code, beside);
            const std::size_t own = parts_[b].shape.size();
            programs.emplace_back(parts_[b].code, own > lead ? own - 1 : kNoAxis);
            cost += cost_of(parts_[b].code);
        }
        const std::size_t axis = has_rows ? lead : kNoAxis;
        stages.push_back({part, lead, axis, beside, Program(code, axis), std::move(programs), cost});
    }

    std::vector<Stage> stages;

private:
    // Each after those that it reads.
    [[nodiscard]] std::vector<std::size_t> read_beside(std::size_t part, std::size_t lead) const {
        std::vector<bool> fits(parts_.size());
        for (std::size_t i = 0; i < parts_.size(); ++i) {
            const Shape &own = parts_[i].shape, &shape = parts_[part].shape;
            fits[i] = i != part && !parts_[i].start && own.size() >= lead &&
                      std::ranges::equal(std::span(own).first(lead), std::span(shape).first(lead), {}, &Dim::size,
                                         &Dim::size);
        }
        for (bool changed = true; changed;) {
            changed = false;
            for (std::size_t reader = 0; reader < parts_.size(); ++reader) {
                if (reader != part && !fits[reader]) continue;
                for_each_code(parts_[reader].code, [&](const Code& code) {
                    if (code.kind != Code::Kind::result || !fits[code.which] || begins_with_own(code, lead)) return;
                    fits[code.which] = false;
                    changed = true;
                });
            }
        }
        std::vector<std::size_t> order;
        add_read(parts_[part].code, fits, order);
        return order;
    }

    void add_read(const Code& code, std::vector<bool>& fits, std::vector<std::size_t>& order) const {
        for_each_code(code, [&](const Code& c) {
            if (c.kind != Code::Kind::result || !fits[c.which]) return;
            fits[c.which] = false;  // once
            add_read(parts_[c.which].code, fits, order);
            order.push_back(c.which);
        });
    }

    void plan_what_is_read(const Code& code, const std::vector<std::size_t>& beside) {
        for_each_code(code, [&](const Code& c) {
            if (c.kind != Code::Kind::result || parts_[c.which].start || planned_[c.which]) return;
            if (std::ranges::find(beside, c.which) == beside.end()) plan(c.which);
        });
    }

    const std::vector<CodedDefinition>& parts_;
    std::vector<bool> planned_;
};

// What one thread computes rows with.
class Worker {
public:
    Worker(const std::vector<CodedDefinition>& parts, const Stage& stage, const Program& program,
           const std::vector<Source>& operands, const std::vector<Source>& results, const std::stop_token& stop)
        : stage_(stage),
          shape_(parts[stage.part].shape),
          results_(results),
          main_(program, operands, results_, stop),
          numbers_(stage.beside.size()) {
        for (std::size_t i = 0; i < stage.beside.size(); ++i) {
            const std::size_t part = stage.beside[i];
            std::vector<Index> sizes = sizes_of(parts[part].shape, stage.lead);
            Index count = 1;
            for (const Index size : sizes) count *= size;
            numbers_[i].resize(static_cast<std::size_t>(count));
            results_[part] = {std::span<const double>(numbers_[i]), std::move(sizes), kNaN, stage.lead};
            runners_.emplace_back(stage.programs[i], operands, results_, stop);
        }
    }
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    // Goes to a row, and computes what is read beside it.
    void row(Index row) {
        for (std::size_t i = stage_.lead; i-- > 0; row /= shape_[i].size) {
            main_.move(i, row % shape_[i].size);
            for (Runner& runner : runners_) runner.move(i, row % shape_[i].size);
        }
        for (std::size_t i = 0; i < runners_.size(); ++i) fill(runners_[i], results_[stage_.beside[i]], numbers_[i]);
    }

    // Writes `count` numbers of the row, from `first` on, at an offset.
    void write(Index first, Index count, Index offset, Computation::Numbers& to) {
        const auto copy = [&](auto out) {
            using Number = typename decltype(out)::value_type;
            if (stage_.axis == kNoAxis) {
                out[static_cast<std::size_t>(offset)] = static_cast<Number>(main_.number());
                return;
            }
            for (Index done = 0; done < count; done += kBlock) {
                main_.move(stage_.lead, first + done, std::min(kBlock, count - done));
                const std::span<const double> row = main_.row();
                if constexpr (std::is_same_v<Number, float>)
                    convert(row.data(), out.subspan(static_cast<std::size_t>(offset + done), row.size()));
                else
                    std::ranges::copy(row, out.begin() + offset + done);
            }
        };
        std::visit(copy, to);
    }

private:
    void fill(Runner& runner, const Source& result, std::span<double> to) const {
        if (result.sizes.empty()) {
            to[0] = runner.number();
            return;
        }
        const Index width = result.sizes.back();
        const std::size_t axis = stage_.lead + result.sizes.size() - 1;
        for (Index at = 0; at < static_cast<Index>(to.size()); at += width) {
            Index row = at / width;
            for (std::size_t i = result.sizes.size() - 1; i-- > 0; row /= result.sizes[i])
                runner.move(stage_.lead + i, row % result.sizes[i]);
            for (Index first = 0; first < width; first += kBlock) {
                runner.move(axis, first, std::min(kBlock, width - first));
                std::ranges::copy(runner.row(), to.begin() + at + first);
            }
        }
    }

    const Stage& stage_;
    const Shape& shape_;
    std::vector<Source> results_;
    Runner main_;
    std::vector<Runner> runners_;
    std::vector<std::vector<double>> numbers_;
};

// ---- elementwise

// The node with each result that it reads in its place, if all that it reads has its shape and its own indices; its
// rows then needn't end where an axis does.
std::optional<Code> as_one_row(Code code, const std::vector<CodedDefinition>& parts, const std::vector<Shape>& operands,
                               const Shape& shape) {
    if (code.kind == Code::Kind::index || code.kind == Code::Kind::reduce) return std::nullopt;
    const bool reads = code.kind == Code::Kind::operand || code.kind == Code::Kind::result;
    if (reads) {
        const bool result = code.kind == Code::Kind::result;
        const Shape& read = result ? parts[code.which].shape : operands[code.which];
        if (code.in.size() != shape.size() || !begins_with_own(code, shape.size()) ||
            !std::ranges::equal(read, shape, {}, &Dim::size, &Dim::size) || (result && parts[code.which].start))
            return std::nullopt;
        if (result) return as_one_row(parts[code.which].code, parts, operands, shape);
        code.in = {Code{.kind = Code::Kind::index, .uses = 1}};
        code.uses = 1;
        return code;
    }
    code.uses = 0;
    for (Code& child : code.in) {
        auto made = as_one_row(std::move(child), parts, operands, shape);
        if (!made) return std::nullopt;
        code.uses |= made->uses;
        child = std::move(*made);
    }
    return code;
}

}  // namespace

std::size_t count_of(const Shape& shape) {
    std::size_t count = 1;
    for (const Dim& dim : shape) count *= static_cast<std::size_t>(dim.size);
    return count;
}

void stop_if_asked(const std::stop_token& stop) {
    if (stop.stop_requested()) throw Error("the formula was cancelled");
}

struct Computation::Plan {
    std::vector<CodedDefinition> parts;
    std::vector<Shape> operands;
    std::vector<Stage> stages;
    bool may_multiply = false;  // whether a product of matrices may be in the last definition

    void compute(const Stage& stage, const Program& program, const std::vector<Source>& from,
                 const std::vector<Source>& results, Numbers to, const std::stop_token& stop) const {
        const Shape& shape = parts[stage.part].shape;
        const Index width = stage.axis == kNoAxis ? 1 : shape.back().size;
        const Index rows = static_cast<Index>(count_of(shape)) / std::max(width, Index{1});
        // Rows that have nothing beside them may be cut.
        const Index block = stage.beside.empty() ? kBlock : std::max(width, Index{1}),
                    blocks = (width + block - 1) / block;
        const double cost = stage.cost * static_cast<double>(std::min(width, block));
        in_parallel(rows * blocks, static_cast<Index>(std::min(cost, 1e12)), [&](Index begin, Index end) {
            Worker worker(parts, stage, program, from, results, stop);
            for (Index unit = begin; unit < end; ++unit) {
                stop_if_asked(stop);
                const Index row = unit / blocks, first = unit % blocks * block;
                worker.row(row);
                worker.write(first, std::min(block, width - first), row * width + first, to);
            }
        });
    }
};

Computation::Computation(std::vector<CodedDefinition> parts, std::vector<Shape> operands) {
    auto plan = std::make_unique<Plan>();
    const CodedDefinition& main = parts.back();
    if (auto flat =
            main.shape.empty() || main.start ? std::nullopt : as_one_row(main.code, parts, operands, main.shape)) {
        const Shape row{{"", static_cast<Index>(count_of(main.shape))}};
        for (Shape& operand : operands)
            if (std::ranges::equal(operand, main.shape, {}, &Dim::size, &Dim::size)) operand = row;
        plan->parts.push_back({std::move(*flat), row, std::nullopt});
    } else {
        plan->parts = std::move(parts);
    }
    plan->operands = std::move(operands);
    Planner planner(plan->parts);
    planner.plan(plan->parts.size() - 1);
    plan->stages = std::move(planner.stages);
    plan->may_multiply = !plan->parts.back().shape.empty() && may_have_products(plan->parts.back().code);
    plan_ = std::move(plan);
}
Computation::~Computation() = default;
Computation::Computation(Computation&&) noexcept = default;
Computation& Computation::operator=(Computation&&) noexcept = default;

void Computation::run(const Operands& operands, Numbers to, const std::stop_token& stop,
                      std::span<const Recurrence> recurrences) const {
    const std::vector<CodedDefinition>& parts = plan_->parts;
    std::vector<Source> from, results(parts.size());
    for (std::size_t i = 0; i < operands.size(); ++i) from.push_back(source_of(operands[i], plan_->operands[i]));
    for (std::size_t i = 0; i < parts.size(); ++i)
        if (parts[i].start) results[i] = {recurrences[i].numbers, sizes_of(parts[i].shape), recurrences[i].outside};
    std::vector<std::vector<double>> made(plan_->stages.size() - 1);
    for (std::size_t i = 0; i < made.size(); ++i) {
        const Stage& stage = plan_->stages[i];
        made[i].resize(count_of(parts[stage.part].shape));
        plan_->compute(stage, stage.program, from, results, std::span<double>(made[i]), stop);
        results[stage.part] = {std::span<const double>(made[i]), sizes_of(parts[stage.part].shape)};
    }
    const Stage& last = plan_->stages.back();
    if (!plan_->may_multiply || !std::holds_alternative<std::span<float>>(to))
        return plan_->compute(last, last.program, from, results, to, stop);
    std::vector<Product> products;
    const Code code = with_products(parts.back().code, parts.back().shape, operands, results.size(), products);
    for (const Product& product : products) results.push_back({product.values(), product.sizes});
    plan_->compute(last, Program(code, last.axis), from, results, to, stop);
}

}  // namespace decoderscope::formulas
