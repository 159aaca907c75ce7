#include "engine/formulas/whole.h"

#include "engine/base/parallel.h"
#include "engine/formulas/product.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <unordered_map>

namespace decoderscope::formulas {
namespace {

// So many numbers of a row are computed together: what a formula has at once then fits into the nearest cache.
constexpr Index kBlock = 512;
// The axis of what has no row.
constexpr std::size_t kNoAxis = kMostPlaces;

std::uint64_t bit(std::size_t place) { return place < kMostPlaces ? std::uint64_t{1} << place : 0; }

// Numbers that are read, row by row; the reader's first indices may be left out: it has all that they choose.
struct Source {
    std::variant<std::span<const float>, std::span<const double>, std::span<const std::int64_t>> numbers;
    std::vector<Index> sizes;
    double outside = kNaN;
    std::size_t left_out = 0;
};

std::vector<Index> sizes_of(const Shape& shape, std::size_t from = 0) {
    std::vector<Index> sizes;
    for (std::size_t i = from; i < shape.size(); ++i) sizes.push_back(shape[i].size);
    return sizes;
}

Source source_of(const Operand& operand) {
    Source source{.numbers = {}, .sizes = sizes_of(operand.shape)};
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
    std::vector<std::size_t> switches;  // conditions that make a product 0, whatever its other factors are
};

class Program {
public:
    // Of a definition whose rows run along this axis.
    Program(const Code& code, std::size_t axis) { step_of(code, axis, false); }

    [[nodiscard]] const std::vector<Step>& steps() const { return steps_; }

private:
    std::size_t add(Step step) {
        steps_.push_back(std::move(step));
        return steps_.size() - 1;
    }

    std::size_t step_of(const Code& code, std::size_t axis, bool in_product) {
        const std::size_t key = code.hash * 131 + axis * 2 + (in_product ? 1 : 0);
        const auto [begin, end] = found_.equal_range(key);
        for (auto it = begin; it != end; ++it)
            if (const Step& s = steps_[it->second]; s.axis == axis && *s.code == code) return it->second;
        const std::size_t made = made_of(code, axis, in_product);
        found_.emplace(key, made);
        return made;
    }

    std::size_t made_of(const Code& code, std::size_t axis, bool in_product) {
        Step step{&code, code.op, axis, (code.uses & bit(axis)) != 0, {}, {}};
        const bool product = code.is(Op::multiply) || code.is(Op::divide);
        const bool across = code.kind == Code::Kind::reduce && !step.row;
        for (const Code& child : code.in) step.in.push_back(step_of(child, across ? code.which : axis, product));
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

    std::vector<Step> steps_;  // the definition's own last
    std::unordered_multimap<std::size_t, std::size_t> found_;
};

// ---- doing it

// Computes a program at places of its scope. What has been computed is computed anew only once a place that it depends
// on has moved.
class Runner {
public:
    Runner(const Program& program, const std::vector<Source>& operands, const std::vector<Source>& results)
        : steps_(program.steps()), operands_(operands), results_(results), slots_(steps_.size()) {}

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
            const Index count = std::min(kBlock, code.size - first);
            move(code.which, first, count);
            folded.take(code.fold, {row(step.in[0]), static_cast<std::size_t>(count)}, first);
        }
        return folded.result(code.fold, code.size);
    }

    const double* row(std::size_t i) {
        const Step& step = steps_[i];
        Slot& slot = slots_[i];
        const bool fresh = is_fresh(i);
        if (fresh && step.row) return slot.row.data();
        const auto count = static_cast<std::size_t>(counts_[step.axis]);
        if (slot.row.size() < count) slot.row.resize(count);
        if (step.row) {
            make_row(step, {slot.row.data(), count});
            slot.at = now_;
        } else if (const double value = number(i); slot.filled < count) {
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
            choose(step, out);
        } else if (!is_switched_off(step)) {
            const double* a = row(step.in[0]);
            apply(step.op, a, step.in.size() > 1 ? row(step.in[1]) : a, out);
            for (const std::size_t condition : step.switches)
                for (std::size_t i = 0; const double on : std::span(row(condition), out.size())) {
                    if (on == 0.0) out[i] = 0.0;
                    ++i;
                }
        } else {
            std::ranges::fill(out, 0.0);
        }
    }

    bool is_switched_off(const Step& step) {
        return std::ranges::any_of(
            step.switches, [&](std::size_t condition) { return !steps_[condition].row && number(condition) == 0.0; });
    }

    void choose(const Step& step, std::span<double> out) {
        if (!steps_[step.in[0]].row) {
            std::copy_n(row(step.in[number(step.in[0]) != 0.0 ? 1 : 2]), out.size(), out.begin());
            return;
        }
        const double *condition = row(step.in[0]), *a = row(step.in[1]), *b = row(step.in[2]);
        for (std::size_t i = 0; i < out.size(); ++i) out[i] = condition[i] != 0.0 ? a[i] : b[i];
    }

    // A reduction of which each number of the row has its own.
    void fold_rows(const Step& step, std::span<double> out) {
        const Code& code = *step.code;
        std::ranges::fill(out, Folded(code.fold).value);
        std::vector<double> where(code.fold == Fold::argmax ? out.size() : 0, 0.0);
        const bool sum = code.fold == Fold::sum || code.fold == Fold::mean;
        for (Index at = 0; at < code.size; ++at) {
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

    // An index as a number; outside of everything if it can't be one.
    static Index index_of(double at) { return std::abs(at) < 1e15 ? static_cast<Index>(std::floor(at)) : -1; }

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

    void read_row(const Source& source, const Step& step, std::span<double> out) {
        const auto begin = begin_of(source, step);
        if (!begin) {
            std::ranges::fill(out, source.outside);
            return;
        }
        std::vector<std::size_t> along;  // the indices that are not the same in all of the row
        std::vector<Index> strides(source.sizes.size(), 1);
        for (std::size_t i = source.sizes.size(); i-- > 0;) {
            if (i + 1 < source.sizes.size()) strides[i] = strides[i + 1] * source.sizes[i + 1];
            if (steps_[step.in[i + source.left_out]].row) along.push_back(i);
        }
        const auto read = [&](auto numbers) {
            if (along.size() == 1) {
                const Index stride = strides[along[0]];
                const Step& at = steps_[step.in[along[0] + source.left_out]];
                if (const auto shift = shift_of(at, step.axis)) {
                    const Index first = scope_[step.axis] + *shift, size = source.sizes[along[0]];
                    const Index inside = std::clamp<Index>(-first, 0, static_cast<Index>(out.size()));
                    const Index end = std::clamp<Index>(size - first, inside, static_cast<Index>(out.size()));
                    std::fill(out.begin(), out.begin() + inside, source.outside);
                    std::fill(out.begin() + end, out.end(), source.outside);
                    if (inside == end) return;
                    const auto* from = numbers.data() + *begin + (first + inside) * stride;
                    if (stride == 1)
                        std::copy_n(from, end - inside, out.begin() + inside);
                    else
                        for (Index i = 0; i < end - inside; ++i)
                            out[static_cast<std::size_t>(inside + i)] = static_cast<double>(from[i * stride]);
                    return;
                }
            }
            gather(source, step, {*begin, along, strides}, numbers, out);
        };
        std::visit(read, source.numbers);
    }

    struct Way {
        Index begin;
        std::span<const std::size_t> along;
        std::span<const Index> strides;
    };
    template <class Values>
    void gather(const Source& source, const Step& step, const Way& way, Values numbers, std::span<double> out) {
        std::vector<const double*> indices;
        for (const std::size_t axis : way.along) indices.push_back(row(step.in[axis + source.left_out]));
        for (std::size_t i = 0; i < out.size(); ++i) {
            Index at = way.begin;
            bool inside = true;
            for (std::size_t k = 0; k < indices.size(); ++k) {
                const Index index = index_of(indices[k][i]);
                inside = inside && index >= 0 && index < source.sizes[way.along[k]];
                at += inside ? index * way.strides[way.along[k]] : 0;
            }
            out[i] = inside ? static_cast<double>(numbers[static_cast<std::size_t>(at)]) : source.outside;
        }
    }

    const std::vector<Step>& steps_;
    const std::vector<Source>& operands_;
    const std::vector<Source>& results_;
    std::vector<Slot> slots_;
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

class Whole {
public:
    Whole(std::span<const Part> parts, const Operands& operands, const std::stop_token& stop)
        : parts_(parts), operands_read_(operands), stop_(stop), results_(parts.size()), kept_(parts.size()) {
        for (const Operand& operand : operands) operands_.push_back(source_of(operand));
        for (std::size_t i = 0; i < parts.size(); ++i)
            if (parts[i].known.data() != nullptr)
                results_[i] = {parts[i].known, sizes_of(parts[i].shape), parts[i].outside};
    }

    void compute(std::size_t part, Numbers to) {
        const Part& main = parts_[part];
        const std::size_t rank = main.shape.size(), lead = rank == 0 ? 0 : rank - 1;
        const std::vector<std::size_t> beside = lead == 0 ? std::vector<std::size_t>{} : read_beside(part, lead);
        const Code code = std::holds_alternative<std::span<float>>(to) ? multiplied(main) : main.code;
        for_each_code(code, [&](const Code& c) { make_whole(c, beside); });
        for (const std::size_t b : beside)
            for_each_code(parts_[b].code, [&](const Code& code) { make_whole(code, beside); });

        const Program program(code, rank == 0 ? kNoAxis : lead);
        std::vector<Program> programs;
        for (const std::size_t b : beside)
            programs.emplace_back(parts_[b].code, parts_[b].shape.size() > lead ? parts_[b].shape.size() - 1 : kNoAxis);

        const Index width = rank == 0 ? 1 : main.shape.back().size;
        const Index rows = width == 0 ? 0 : static_cast<Index>(count_of(main.shape)) / width;
        const Index blocks = beside.empty() ? (width + kBlock - 1) / kBlock : 1;
        double cost = cost_of(code) * static_cast<double>(beside.empty() ? std::min(width, kBlock) : width);
        for (const std::size_t b : beside) cost += cost_of(parts_[b].code) * static_cast<double>(width);
        in_parallel(rows * blocks, static_cast<Index>(std::min(cost, 1e12)), [&](Index begin, Index end) {
            Worker worker(*this, program, programs, beside, lead);
            for (Index unit = begin; unit < end; ++unit) {
                if (stop_.stop_requested()) throw Error("the formula was cancelled");
                worker.row(main.shape, unit / blocks);
                const Index first = unit % blocks * kBlock;
                worker.write(rank, first, beside.empty() ? std::min(kBlock, width - first) : width,
                             unit / blocks * width + first, to);
            }
        });
    }

private:
    // What one thread computes rows with.
    class Worker {
    public:
        Worker(const Whole& whole, const Program& program, const std::vector<Program>& programs,
               const std::vector<std::size_t>& beside, std::size_t lead)
            : whole_(whole),
              beside_(beside),
              lead_(lead),
              results_(whole.results_),
              main_(program, whole.operands_, results_),
              numbers_(beside.size()) {
            for (std::size_t i = 0; i < beside.size(); ++i) {
                const Shape& shape = whole.parts_[beside[i]].shape;
                std::vector<Index> sizes = sizes_of(shape, lead);
                Index count = 1;
                for (const Index size : sizes) count *= size;
                numbers_[i].resize(static_cast<std::size_t>(count));
                results_[beside[i]] = {std::span<const double>(numbers_[i]), std::move(sizes), kNaN, lead};
                runners_.emplace_back(programs[i], whole.operands_, results_);
            }
        }
        Worker(const Worker&) = delete;
        Worker& operator=(const Worker&) = delete;

        // Goes to a row, and computes what is read beside it.
        void row(const Shape& shape, Index row) {
            for (std::size_t i = lead_; i-- > 0; row /= shape[i].size) {
                main_.move(i, row % shape[i].size);
                for (Runner& runner : runners_) runner.move(i, row % shape[i].size);
            }
            for (std::size_t i = 0; i < runners_.size(); ++i) fill(runners_[i], results_[beside_[i]], numbers_[i]);
        }

        // Writes numbers of the row, from `first` on, at an offset.
        void write(std::size_t rank, Index first, Index count, Index offset, Numbers& to) {
            const auto copy = [&](auto out) {
                using Number = typename decltype(out)::value_type;
                if (rank == 0) {
                    out[0] = static_cast<Number>(main_.number());
                    return;
                }
                for (Index done = 0; done < count; done += kBlock) {
                    main_.move(lead_, first + done, std::min(kBlock, count - done));
                    std::ranges::transform(main_.row(), out.begin() + offset + done,
                                           [](double value) { return static_cast<Number>(value); });
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
            const std::size_t axis = lead_ + result.sizes.size() - 1;
            for (Index at = 0; at < static_cast<Index>(to.size()); at += width) {
                Index row = at / width;
                for (std::size_t i = result.sizes.size() - 1; i-- > 0; row /= result.sizes[i])
                    runner.move(lead_ + i, row % result.sizes[i]);
                for (Index first = 0; first < width; first += kBlock) {
                    runner.move(axis, first, std::min(kBlock, width - first));
                    std::ranges::copy(runner.row(), to.begin() + at + first);
                }
            }
        }

        const Whole& whole_;
        const std::vector<std::size_t>& beside_;
        std::size_t lead_;
        std::vector<Source> results_;
        Runner main_;
        std::vector<Runner> runners_;
        std::vector<std::vector<double>> numbers_;
    };

    // The definitions of which a row of this one reads only what has the row's own first indices, each after those that
    // it reads: they are computed beside it.
    [[nodiscard]] std::vector<std::size_t> read_beside(std::size_t part, std::size_t lead) const {
        std::vector<bool> fits(parts_.size());
        for (std::size_t i = 0; i < parts_.size(); ++i) {
            const Shape &own = parts_[i].shape, &shape = parts_[part].shape;
            fits[i] = i != part && parts_[i].known.data() == nullptr && own.size() >= lead &&
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

    // The definition with its products computed.
    Code multiplied(const Part& part) {
        Code code = with_products(part.code, part.shape, operands_read_, results_.size(), products_);
        for (const Product& product : products_) results_.push_back({product.values(), product.sizes});
        return code;
    }

    // Computes all of what a node reads, unless that was done or is computed beside it.
    void make_whole(const Code& code, const std::vector<std::size_t>& beside) {
        if (code.kind != Code::Kind::result || code.which >= parts_.size() ||
            std::ranges::find(beside, code.which) != beside.end())
            return;
        const Part& part = parts_[code.which];
        std::vector<double>& numbers = kept_[code.which];
        if (part.known.data() != nullptr || !numbers.empty()) return;
        results_[code.which] = {std::span<const double>(), sizes_of(part.shape)};
        std::vector<double> made(count_of(part.shape));
        if (made.empty()) return;
        compute(code.which, std::span<double>(made));
        numbers = std::move(made);
        results_[code.which] = {std::span<const double>(numbers), sizes_of(part.shape)};
    }

    std::span<const Part> parts_;
    const Operands& operands_read_;
    const std::stop_token& stop_;
    std::vector<Source> operands_;
    std::vector<Source> results_;
    std::vector<std::vector<double>> kept_;
    std::vector<Product> products_;
};

// ---- elementwise

// The node with each result that it reads in its place, if all that it reads has its shape and its own indices; its
// rows then needn't end where an axis does.
std::optional<Code> as_one_row(const Code& code, std::span<const Part> parts, const Operands& operands,
                               const Shape& shape) {
    Code flat = code;
    if (code.kind == Code::Kind::index || code.kind == Code::Kind::reduce) return std::nullopt;
    const bool reads = code.kind == Code::Kind::operand || code.kind == Code::Kind::result;
    if (reads) {
        const bool result = code.kind == Code::Kind::result;
        const Shape& read = result ? parts[code.which].shape : operands[code.which].shape;
        if (code.in.size() != shape.size() || !begins_with_own(code, shape.size()) ||
            !std::ranges::equal(read, shape, {}, &Dim::size, &Dim::size) ||
            (result && parts[code.which].known.data() != nullptr))
            return std::nullopt;
        if (result) return as_one_row(parts[code.which].code, parts, operands, shape);
        flat.in = {{.kind = Code::Kind::index, .uses = 1}};
        flat.uses = 1;
        return flat;
    }
    flat.uses = 0;
    for (Code& child : flat.in) {
        auto made = as_one_row(child, parts, operands, shape);
        if (!made) return std::nullopt;
        flat.uses |= made->uses;
        child = std::move(*made);
    }
    return flat;
}

}  // namespace

std::size_t count_of(const Shape& shape) {
    std::size_t count = 1;
    for (const Dim& dim : shape) count *= static_cast<std::size_t>(dim.size);
    return count;
}

void compute(std::span<const Part> parts, const Operands& operands, Numbers to, const std::stop_token& stop) {
    const Part& main = parts.back();
    if (count_of(main.shape) == 0) return;
    auto flat = main.shape.empty() ? std::nullopt : as_one_row(main.code, parts, operands, main.shape);
    if (!flat) return Whole(parts, operands, stop).compute(parts.size() - 1, to);
    const Shape row{{"", static_cast<Index>(count_of(main.shape))}};
    Operands flattened = operands;
    for (Operand& operand : flattened)
        if (std::ranges::equal(operand.shape, main.shape, {}, &Dim::size, &Dim::size)) operand.shape = row;
    const std::array one{Part{std::move(*flat), row}};
    Whole(one, flattened, stop).compute(0, to);
}

}  // namespace decoderscope::formulas
