#include "engine/formulas/whole.h"

#include "engine/base/parallel.h"
#include "engine/formulas/plan.h"
#include "engine/formulas/product.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <utility>

namespace decoderscope::formulas {
namespace {

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

// Computes a program at places of its scope, its rows in this type of number. What has been computed is computed anew
// only once a place that it depends on has moved.
template <class Number>
class Runner {
public:
    Runner(const Program& program, const std::vector<Source>& operands, const std::vector<Source>& results,
           const std::stop_token& stop)
        : steps_(program.steps()),
          axis_(program.axis()),
          operands_(operands),
          results_(results),
          stop_(stop),
          slots_(steps_.size()) {}

    // An index has this value; along the axis it is the first of so many.
    void move(std::size_t place, Index first, Index count = 1) {
        if (scope_[place] == first && counts_[place] == count) return;
        scope_[place] = first;
        counts_[place] = count;
        moved_[place] = ++now_;
    }
    [[nodiscard]] double number() { return number(steps_.size() - 1); }
    // Writes as many as the axis was moved to.
    template <class To>
    void write(std::span<To> to) {
        const auto count = static_cast<std::size_t>(counts_[axis_]);
        if constexpr (std::is_same_v<Number, To>)
            if (steps_.back().row && steps_.back().code->kind == Code::Kind::apply)
                return make_row(steps_.back(), to.first(count));
        copy(row(steps_.size() - 1, count), to.first(count));
    }

private:
    // Reductions and gathered cells are computed in double only.
    static constexpr bool kInDouble = std::is_same_v<Number, double>;

    struct Slot {
        std::uint64_t at = 0;  // when it was computed
        double value = 0.0;
        std::size_t filled = 0;  // of its row with the value
        std::vector<Number> row;
        const Number* made = nullptr;  // where its row is: in `row`, or where it is read
    };

    [[nodiscard]] bool is_fresh(std::size_t i) const {
        const Slot& slot = slots_[i];
        if (slot.at == 0) return false;
        for (std::uint64_t uses = steps_[i].uses; uses != 0; uses &= uses - 1)
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
                if constexpr (kInDouble) return folded(step);
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
        const Step& body = steps_[step.in[0]];
        const bool of_products = body.op == Op::multiply && body.code->kind == Code::Kind::apply && body.row &&
                                 body.switches.empty() && is_sum(code.fold);
        Folded folded(code.fold);
        for (Index first = 0; first < code.size; first += kBlock) {
            stop_if_asked(stop_);
            const auto count = static_cast<std::size_t>(std::min(kBlock, code.size - first));
            move(code.which, first, static_cast<Index>(count));
            if (of_products)
                folded.take_products({row(body.in[0], count), count}, row(body.in[1], count));
            else
                folded.take(code.fold, {row(step.in[0], count), count}, first);
        }
        return folded.result(code.fold, code.size);
    }

    const Number* row(std::size_t i, std::size_t count) {
        const Step& step = steps_[i];
        Slot& slot = slots_[i];
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
            std::fill_n(slot.row.begin(), count, static_cast<Number>(value));
            slot.filled = count;
        }
        return slot.row.data();
    }

    void make_row(const Step& step, std::span<Number> out) {
        const Code& code = *step.code;
        if (code.kind == Code::Kind::index) {
            for (std::size_t i = 0; i < out.size(); ++i)
                out[i] = static_cast<Number>(scope_[code.which] + static_cast<Index>(i));
        } else if (code.kind == Code::Kind::reduce) {
            if constexpr (kInDouble) fold_rows(step, out);
        } else if (code.kind != Code::Kind::apply) {
            read_row(source(code), step, out);
        } else if (step.op == Op::choose) {
            choose_row(step, out);
        } else if (is_switched_off(step)) {
            std::ranges::fill(out, Number{0});
        } else {
            apply_row(step, out);
            for (const std::size_t condition : step.switches)
                choose(row(condition, out.size()), out.data(), zeros(out.size()), out);
        }
    }

    void apply_row(const Step& step, std::span<Number> out) {
        const Number* a = row(step.in[0], out.size());
        if (step.in.size() == 1)
            apply(step.op, a, a, out);
        else if (steps_[step.in[1]].row)
            apply(step.op, a, row(step.in[1], out.size()), out);
        else
            apply(step.op, a, static_cast<Number>(number(step.in[1])), out);
    }

    const Number* zeros(std::size_t count) {
        if (zeros_.size() < count) zeros_.resize(count);
        return zeros_.data();
    }

    bool is_switched_off(const Step& step) {
        return std::ranges::any_of(
            step.switches, [&](std::size_t condition) { return !steps_[condition].row && number(condition) == 0.0; });
    }

    void choose_row(const Step& step, std::span<Number> out) {
        const std::size_t count = out.size();
        if (!steps_[step.in[0]].row) return copy(row(step.in[number(step.in[0]) != 0.0 ? 1 : 2], count), out);
        choose(row(step.in[0], count), row(step.in[1], count), row(step.in[2], count), out);
    }

    // A reduction of which each number of the row has its own.
    void fold_rows(const Step& step, std::span<double> out) {
        const Code& code = *step.code;
        std::ranges::fill(out, Folded(code.fold).value);
        std::vector<double> where(code.fold == Fold::argmax ? out.size() : 0);
        const bool sum = is_sum(code.fold);
        for (Index at = 0; at < code.size; ++at) {
            stop_if_asked(stop_);
            move(code.which, at);
            if (sum && is_switched_off(steps_[step.in[0]])) continue;
            const double* x = row(step.in[0], out.size());
            if (sum || code.fold == Fold::product) {
                apply(sum ? Op::add : Op::multiply, out.data(), x, out);
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
            const Code& index = *steps_[of].code;
            const Index at = steps_[of].row                    ? 0
                             : index.kind == Code::Kind::index ? scope_[index.which]
                                                               : index_of(number(of));
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
        const Index first = step.whole ? 0 : scope_[step.axis] + *shift, stride = source.strides[axis];
        const Index inside = std::clamp<Index>(-first, 0, static_cast<Index>(count));
        const Index end = std::clamp<Index>(source.sizes[axis] - first, inside, static_cast<Index>(count));
        return Run{inside, end, begin + (first + inside) * stride, stride};
    }

    // The row where it is read, if it lies there as it is wanted; null otherwise.
    const Number* in_place(const Step& step, std::size_t count) {
        if (step.along.size() != 1) return nullptr;
        const Source& read = source(*step.code);
        const auto* numbers = std::get_if<std::span<const Number>>(&read.numbers);
        if (numbers == nullptr) return nullptr;
        const auto begin = begin_of(read, step);
        const auto run = begin ? run_of(read, step, *begin, count) : std::nullopt;
        const bool whole = run && run->stride == 1 && run->begin == 0 && run->end == static_cast<Index>(count);
        return whole ? numbers->data() + run->from : nullptr;
    }

    void read_row(const Source& source, const Step& step, std::span<Number> out) {
        const auto begin = begin_of(source, step);
        const auto outside = static_cast<Number>(source.outside);
        if (!begin) return std::ranges::fill(out, outside), void();
        const auto run = run_of(source, step, *begin, out.size());
        const auto read = [&](auto numbers) {
            if constexpr (kInDouble)
                if (!run) return gather(source, step, *begin, numbers, out);
            std::fill(out.begin(), out.begin() + run->begin, outside);
            std::fill(out.begin() + run->end, out.end(), outside);
            if (run->begin == run->end) return;
            const auto* from = numbers.data() + run->from;
            const auto to =
                out.subspan(static_cast<std::size_t>(run->begin), static_cast<std::size_t>(run->end - run->begin));
            if (run->stride == 1) return copy(from, to);
            for (std::size_t i = 0; i < to.size(); ++i)
                to[i] = static_cast<Number>(from[static_cast<Index>(i) * run->stride]);
        };
        std::visit(read, source.numbers);
    }

    template <class From, class To>
    static void copy(const From* from, std::span<To> to) {
        if constexpr (std::is_same_v<From, To> || std::is_integral_v<From>)
            std::copy_n(from, to.size(), to.begin());
        else
            convert(from, to);
    }

    template <class Values>
    void gather(const Source& source, const Step& step, Index begin, Values numbers, std::span<double> out) {
        std::vector<const double*> indices;
        for (const std::size_t i : step.along) indices.push_back(row(step.in[i], out.size()));
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
    std::size_t axis_;
    const std::vector<Source>& operands_;
    const std::vector<Source>& results_;
    const std::stop_token& stop_;
    std::vector<Slot> slots_;
    std::vector<Number> zeros_;
    std::array<Index, kMostPlaces + 1> scope_ = {}, counts_ = {};
    std::array<std::uint64_t, kMostPlaces + 1> moved_ = {};
    std::uint64_t now_ = 1;
};

// What one thread computes rows with.
template <class Number>
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
            for (auto& runner : runners_) runner.move(i, row % shape_[i].size);
        }
        for (std::size_t i = 0; i < runners_.size(); ++i) fill(i);
    }

    // Writes `count` numbers of the row, from `first` on, at an offset.
    template <class To>
    void write(Index first, Index count, Index offset, std::span<To> to) {
        const std::span<To> out = to.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(count));
        if (stage_.axis == kNoAxis)
            out[0] = static_cast<To>(main_.number());
        else
            write_row(main_, stage_.axis, first, out);
    }

private:
    // The row's numbers from `first` on, a block at a time.
    template <class Of, class To>
    static void write_row(Runner<Of>& runner, std::size_t axis, Index first, std::span<To> out) {
        for (std::size_t done = 0; done < out.size(); done += kBlock) {
            const std::size_t count = std::min<std::size_t>(kBlock, out.size() - done);
            runner.move(axis, first + static_cast<Index>(done), static_cast<Index>(count));
            runner.write(out.subspan(done, count));
        }
    }

    void fill(std::size_t i) {
        Runner<double>& runner = runners_[i];
        const std::span<double> to(numbers_[i]);
        const std::vector<Index>& sizes = results_[stage_.beside[i]].sizes;
        const std::size_t axis = stage_.programs[i].axis();
        const std::size_t width = axis == kNoAxis ? 1 : static_cast<std::size_t>(sizes.back());
        const std::size_t outer = sizes.size() - (axis == kNoAxis ? 0 : 1);
        for (std::size_t at = 0; at < to.size(); at += width) {
            Index row = static_cast<Index>(at / width);
            for (std::size_t k = outer; k-- > 0; row /= sizes[k]) runner.move(stage_.lead + k, row % sizes[k]);
            if (axis == kNoAxis)
                to[at] = runner.number();
            else
                write_row(runner, axis, 0, to.subspan(at, width));
        }
    }

    const Stage& stage_;
    const Shape& shape_;
    std::vector<Source> results_;
    Runner<Number> main_;
    std::vector<Runner<double>> runners_;
    std::vector<std::vector<double>> numbers_;
};

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

    template <class Number, class To>
    void compute(const Stage& stage, const Program& program, const std::vector<Source>& from,
                 const std::vector<Source>& results, std::span<To> to, const std::stop_token& stop) const {
        const Shape& shape = parts[stage.part].shape;
        const Index width = stage.axis == kNoAxis ? 1 : shape.back().size;
        const Index rows = static_cast<Index>(count_of(shape)) / std::max(width, Index{1});
        // Long rows that have nothing beside them are cut, into pieces of which several steps fit into the nearest
        // cache.
        const Index block = stage.beside.empty() && width > kBlock ? kBlock / 2 : std::max(width, Index{1}),
                    blocks = (width + block - 1) / block;
        const double cost = stage.cost * static_cast<double>(std::min(width, block));
        in_parallel(rows * blocks, static_cast<Index>(std::min(cost, 1e12)), [&](Index begin, Index end) {
            Worker<Number> worker(parts, stage, program, from, results, stop);
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
    flatten_elementwise(parts, operands);
    plan->parts = std::move(parts);
    plan->operands = std::move(operands);
    plan->stages = planned(plan->parts);
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
        plan_->compute<double>(stage, stage.program, from, results, std::span<double>(made[i]), stop);
        results[stage.part] = {std::span<const double>(made[i]), sizes_of(parts[stage.part].shape)};
    }
    const Stage& last = plan_->stages.back();
    const CodedDefinition& main = parts.back();
    if (const auto* doubles = std::get_if<std::span<double>>(&to))
        return plan_->compute<double>(last, last.program, from, results, *doubles, stop);
    const auto floats = std::get<std::span<float>>(to);
    if (last.axis != kNoAxis && is_rounded_once(main.code, operands))
        return plan_->compute<float>(last, last.program, from, results, floats, stop);
    if (!plan_->may_multiply) return plan_->compute<double>(last, last.program, from, results, floats, stop);
    std::vector<Product> products;
    const Code code = with_products(main.code, main.shape, operands, results.size(), products);
    for (const Product& product : products) results.push_back({product.values(), product.sizes});
    plan_->compute<double>(last, Program(code, main.shape, last.axis, last.inlined), from, results, floats, stop);
}

}  // namespace decoderscope::formulas
