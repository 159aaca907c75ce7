#include "engine/formulas/plan.h"

#include "engine/formulas/product.h"
#include "engine/formulas/whole.h"

#include <algorithm>
#include <bit>

namespace decoderscope::formulas {
namespace {

bool is_read(const Code& code) { return code.kind == Code::Kind::operand || code.kind == Code::Kind::result; }

void for_each_code(const Code& code, const auto& visit) {
    visit(code);
    for (const Code& child : code.in) for_each_code(child, visit);
}

void for_each_code_but_indices(const Code& code, const auto& visit) {
    visit(code);
    if (!is_read(code))
        for (const Code& child : code.in) for_each_code_but_indices(child, visit);
}

void flatten(Code& code) {
    if (is_read(code))
        code.in = {Code{.kind = Code::Kind::index, .uses = bit(0)}};
    else
        for (Code& child : code.in) flatten(child);
    code.uses = 0;
    for (const Code& child : code.in) code.uses |= child.uses;
}

// Whether the first indices of a read are the reader's own.
bool begins_with_own(const Code& read, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
        if (i >= read.in.size() || read.in[i].kind != Code::Kind::index || read.in[i].which != i) return false;
    return true;
}

bool begins_alike(const Shape& a, const Shape& b, std::size_t count) {
    return a.size() >= count && b.size() >= count &&
           std::ranges::equal(std::span(a).first(count), std::span(b).first(count), {}, &Dim::size, &Dim::size);
}

class Planner {
public:
    explicit Planner(std::vector<CodedDefinition>& parts)
        : parts_(parts), planned_(parts.size()), read_as_own_(parts.size()) {
        std::size_t places = 0;
        for (std::size_t part = 0; part < parts_.size(); ++part) {
            read_as_own_[part] = part + 1 < parts_.size() && !parts_[part].start && is_read_as_own(part);
            places = std::max(places, places_of(part));
        }
        for (std::size_t part = 0; part < parts_.size(); ++part)
            if (read_as_own_[part]) read_as_own_[part] = moved_to(part, places);
    }

    // Plans what a definition reads, then the definition.
    void plan(std::size_t part) {
        planned_[part] = true;
        const Code& code = parts_[part].code;
        const std::size_t rank = parts_[part].shape.size();
        // Matrices' products are made otherwise.
        const bool rows = has_rows(part) || (rank > 0 && part + 1 == parts_.size() && may_have_products(code));
        const std::size_t lead = rows ? rank - 1 : rank;
        std::vector<std::size_t> beside = read_beside(part, lead);
        // What all rows read, if there is nothing that chooses one, is computed once and for all.
        if (lead == 0)
            std::erase_if(beside, [&](std::size_t b) { return !read_as_own_[b] || parts_[b].shape.size() < rank; });
        for (const std::size_t b : beside) plan_what_is_read(parts_[b].code, beside);
        plan_what_is_read(code, beside);
        std::vector<const Code*> inlined(parts_.size());
        std::erase_if(beside, [&](std::size_t b) {
            if (read_as_own_[b]) inlined[b] = &parts_[b].code;
            return read_as_own_[b];
        });
        double cost = cost_of(code, inlined);
        std::vector<Program> programs;
        for (const std::size_t b : beside) {
            const std::size_t own = parts_[b].shape.size();
            const std::size_t along = own > lead && has_rows(b) ? own - 1 : kNoAxis;
            programs.emplace_back(parts_[b].code, parts_[b].shape, along, inlined);
            cost += cost_of(parts_[b].code, inlined);
        }
        const std::size_t axis = rows ? lead : kNoAxis;
        Program program(code, parts_[part].shape, axis, inlined);
        stages.push_back(
            {part, lead, axis, std::move(beside), std::move(inlined), std::move(program), std::move(programs), cost});
    }

    std::vector<Stage> stages;

private:
    // Whether each of its readers reads it at the reader's own indices, so that it can be a part of the reader.
    [[nodiscard]] bool is_read_as_own(std::size_t part) const {
        const Shape& shape = parts_[part].shape;
        bool own = true;
        for (const CodedDefinition& reader : parts_)
            for_each_code(reader.code, [&](const Code& code) {
                if (code.kind != Code::Kind::result || code.which != part) return;
                own = own && begins_with_own(code, shape.size()) && begins_alike(shape, reader.shape, shape.size());
            });
        return own;
    }

    [[nodiscard]] std::size_t places_of(std::size_t part) const {
        std::size_t places = parts_[part].shape.size();
        for_each_code(parts_[part].code, [&](const Code& code) {
            if (code.kind == Code::Kind::reduce) places = std::max(places, code.which + 1);
        });
        return places;
    }

    // Gives its reductions' indices places that no other definition has; false if there are none left.
    bool moved_to(std::size_t part, std::size_t& places) {
        const std::size_t own = parts_[part].shape.size(), reductions = places_of(part) - own;
        if (places + reductions > kMostPlaces) return false;
        if (reductions > 0) move(parts_[part].code, own, places - own);
        places += reductions;
        return true;
    }
    static void move(Code& code, std::size_t from, std::size_t by) {
        const std::uint64_t own = bit(from) - 1;
        code.uses = (code.uses & own) | ((code.uses & ~own) << by);
        if ((code.kind == Code::Kind::index || code.kind == Code::Kind::reduce) && code.which >= from) code.which += by;
        for (Code& child : code.in) move(child, from, by);
    }

    // All nodes of a definition and of those that are parts of it, each once.
    void for_each_part(const Code& code, const auto& visit) const {
        std::vector<bool> seen(parts_.size());
        const auto all = [&](const auto& self, const Code& in) -> void {
            for_each_code(in, [&](const Code& c) {
                visit(c);
                if (c.kind != Code::Kind::result || c.which >= parts_.size() || seen[c.which]) return;
                seen[c.which] = true;
                if (read_as_own_[c.which]) self(self, parts_[c.which].code);
            });
        };
        all(all, code);
    }

    // Whether something is read in a row along this axis, one number after the other.
    [[nodiscard]] bool reads_along(const Code& code, std::size_t axis) const {
        bool found = false;
        for_each_part(code, [&](const Code& c) {
            const bool part = c.kind == Code::Kind::result && read_as_own_[c.which];
            found = found || (is_read(c) && !part && !c.in.empty() && (c.in.back().uses & bit(axis)) != 0);
        });
        return found;
    }

    // Whether a definition has rows, along its last index. Not if each of their numbers has a reduction of its own that
    // reads along another: the mean of each position's numbers runs along these, not along the positions, which lie far
    // apart. One of a few numbers isn't worth it: to begin a row takes as long as to compute about this many.
    [[nodiscard]] bool has_rows(std::size_t part) const {
        constexpr Index kBegin = 64;
        const Shape& shape = parts_[part].shape;
        if (shape.empty()) return false;
        const std::size_t axis = shape.size() - 1;
        const Index worth_it = std::min(kBegin, shape.back().size);
        bool along_axis = false, along_own = false;
        for_each_part(parts_[part].code, [&](const Code& c) {
            if (c.kind != Code::Kind::reduce || (c.uses & bit(axis)) == 0) return;
            along_axis = along_axis || reads_along(c.in[0], axis);
            along_own = along_own || (c.size >= worth_it && reads_along(c.in[0], c.which));
        });
        return along_axis || !along_own;
    }

    [[nodiscard]] static double cost_of(const Code& code, const std::vector<const Code*>& inlined) {
        std::vector<std::optional<double>> known(inlined.size());
        const auto of = [&](const auto& self, const Code& c) -> double {
            if (c.kind == Code::Kind::result && c.which < inlined.size() && inlined[c.which] != nullptr) {
                if (!known[c.which]) known[c.which] = self(self, *inlined[c.which]);
                return *known[c.which];
            }
            double cost = 4.0;
            for (const Code& child : c.in) cost += self(self, child);
            return c.kind == Code::Kind::reduce ? cost * static_cast<double>(c.size) : cost;
        };
        return of(of, code);
    }

    // Each after those that it reads.
    [[nodiscard]] std::vector<std::size_t> read_beside(std::size_t part, std::size_t lead) const {
        std::vector<bool> fits(parts_.size());
        for (std::size_t i = 0; i < parts_.size(); ++i)
            fits[i] = i != part && !parts_[i].start && begins_alike(parts_[i].shape, parts_[part].shape, lead);
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

    std::vector<CodedDefinition>& parts_;
    std::vector<bool> planned_;
    std::vector<bool> read_as_own_;
};

// Whether a node only chooses among numbers of float32, so that its value is one.
bool only_chooses(const Code& code, const Operands& operands) {
    const auto chooses = [&](const Code& child) { return only_chooses(child, operands); };
    switch (code.kind) {
        case Code::Kind::number:
            return static_cast<double>(static_cast<float>(code.value)) == code.value;
        case Code::Kind::operand:
            return !std::holds_alternative<std::span<const double>>(operands[code.which].numbers) &&
                   !std::holds_alternative<std::span<const std::int64_t>>(operands[code.which].numbers) &&
                   std::ranges::all_of(code.in, [](const Code& i) { return i.kind == Code::Kind::index; }) &&
                   static_cast<std::size_t>(std::popcount(code.uses)) == code.in.size();
        case Code::Kind::apply:
            return std::ranges::all_of(code.in, chooses) &&
                   (only_chooses(code.op) ||
                    (code.op == Op::multiply &&
                     std::ranges::any_of(code.in, [](const Code& factor) { return factor.is(Op::bracket); })));
        case Code::Kind::index:
        case Code::Kind::result:
        case Code::Kind::reduce:
            break;
    }
    return false;
}

}  // namespace

Program::Program(const Code& code, const Shape& shape, std::size_t axis, const std::vector<const Code*>& inlined)
    : axis_(axis), inlined_(inlined) {
    if (axis != kNoAxis) sizes_[axis] = shape[axis].size;
    step_of(code, axis, false);
}

std::size_t Program::step_of(const Code& code, std::size_t axis, bool in_product) {
    if (code.kind == Code::Kind::result && code.which < inlined_.size() && inlined_[code.which] != nullptr)
        return step_of(*inlined_[code.which], axis, false);
    if ((code.uses & bit(axis)) == 0) axis = kNoAxis;
    const auto whole = whole_row(code, axis);
    if (whole)
        for (const auto& [other, step] : whole_rows_)
            if (other == *whole) return step;
    const std::size_t key = code.hash * 131 + axis * 2 + (in_product ? 1 : 0);
    for (const std::size_t found : found_[key])
        if (steps_[found].axis == axis && *steps_[found].code == code) return found;
    const std::size_t made = made_of(code, axis, in_product);
    if (whole) {
        steps_[made].whole = true;
        steps_[made].uses &= ~bit(axis);
        whole_rows_.emplace_back(*whole, made);
    } else {
        found_[key].push_back(made);
    }
    return made;
}

std::optional<Code> Program::whole_row(const Code& code, std::size_t axis) const {
    if (axis == kNoAxis || !is_read(code) || sizes_[axis] > kBlock) return std::nullopt;
    Code along = code;
    std::size_t moving = 0;
    for (Code& index : along.in) {
        if ((index.uses & bit(axis)) == 0) continue;
        if (index.kind != Code::Kind::index) return std::nullopt;
        index = {.kind = Code::Kind::index, .which = kNoAxis, .size = sizes_[axis]};
        ++moving;
    }
    along.uses = along.hash = 0;
    return moving == 1 ? std::optional(std::move(along)) : std::nullopt;
}

std::size_t Program::made_of(const Code& code, std::size_t axis, bool in_product) {
    Step step{&code, code.op, axis, axis != kNoAxis, code.uses};
    const bool product = code.is(Op::multiply) || code.is(Op::divide);
    const bool across = code.kind == Code::Kind::reduce && !step.row;
    if (across) sizes_[code.which] = code.size;
    for (const Code& child : code.in) step.in.push_back(step_of(child, across ? code.which : axis, product));
    if (is_read(code))
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

void Program::add_switches(const Code& code, std::size_t axis, std::vector<std::size_t>& switches) {
    if (code.is(Op::bracket)) return switches.push_back(step_of(code, axis, true));
    if (!code.is(Op::multiply) && !code.is(Op::divide)) return;
    add_switches(code.in[0], axis, switches);
    if (code.is(Op::multiply)) add_switches(code.in[1], axis, switches);
}

std::vector<Stage> planned(std::vector<CodedDefinition>& parts) {
    Planner planner(parts);
    planner.plan(parts.size() - 1);
    return std::move(planner.stages);
}

void flatten_elementwise(std::vector<CodedDefinition>& parts, std::vector<Shape>& operands) {
    const Shape shape = parts.back().shape;
    const auto has_shape = [&](const Shape& other) {
        return other.size() == shape.size() && begins_alike(other, shape, shape.size());
    };
    const auto is_elementwise = [&](const CodedDefinition& part) {
        bool elementwise = !part.start && has_shape(part.shape);
        for_each_code_but_indices(part.code, [&](const Code& code) {
            if (code.kind == Code::Kind::index || code.kind == Code::Kind::reduce) elementwise = false;
            if (is_read(code))
                elementwise =
                    elementwise && begins_with_own(code, shape.size()) &&
                    has_shape(code.kind == Code::Kind::result ? parts[code.which].shape : operands[code.which]);
        });
        return elementwise;
    };
    if (shape.empty() || !std::ranges::all_of(parts, is_elementwise)) return;
    const Shape row{{"", static_cast<Index>(count_of(shape))}};
    for (Shape& operand : operands)
        if (has_shape(operand)) operand = row;
    for (CodedDefinition& part : parts) {
        part.shape = row;
        flatten(part.code);
    }
}

bool is_rounded_once(const Code& code, const Operands& operands) {
    return only_chooses(code, operands) ||
           (code.kind == Code::Kind::apply && rounds_once(code.op) &&
            std::ranges::all_of(code.in, [&](const Code& child) { return only_chooses(child, operands); }));
}

}  // namespace decoderscope::formulas
