#include "engine/formulas/reach.h"

#include "engine/formulas/vectors.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>

namespace decoderscope::formulas {

namespace {

constexpr Index kMostCombinations = 1'000'000;

double number_at(const Operand& operand, std::size_t at) {
    return std::visit(
        [at](const auto& numbers) {
            if constexpr (requires { numbers->values(); })
                return static_cast<double>(numbers->values()[at]);
            else
                return static_cast<double>(numbers[at]);
        },
        operand.numbers);
}

class Reaching {
public:
    Reaching(std::span<const CodedDefinition> parts, const Operands& numbers, std::size_t operand, const Box& cells)
        : parts_(parts), numbers_(numbers), operand_(operand), cells_(cells), reached_(parts.size()) {}

    Box all() {
        // A sub-result may be written before those that it reads: until nothing is added.
        for (bool more = true; more;) {
            more = false;
            for (std::size_t part = 0; part < parts_.size(); ++part) {
                const Box before = reached_[part];
                part_ = part;
                for (std::size_t i = 0; i < parts_[part].shape.size(); ++i) sizes_[i] = parts_[part].shape[i].size;
                visit(parts_[part].code);
                more = more || before != reached_[part];
            }
        }
        return reached_.back();
    }

private:
    using Places = std::array<Index, kMostPlaces>;

    void visit(const Code& code) {
        if (code.kind == Code::Kind::reduce) sizes_[code.which] = code.size;
        for (const Code& child : code.in) visit(child);
        if (code.kind == Code::Kind::operand && code.which == operand_) read(code, cells_);
        if (code.kind == Code::Kind::result && !is_empty(reached_[code.which])) read(code, reached_[code.which]);
    }

    // A place in the definition's body where cells are read: which of its own indices make it one of these.
    void read(const Code& code, const Box& cells) {
        std::vector<std::vector<Index>> along(kMostPlaces);  // by place; those that no index depends on stay free
        std::uint64_t bound = 0;
        for (std::size_t axis = 0; axis < code.in.size(); ++axis)
            if (!narrow(code.in[axis], cells[axis], along, bound)) return;
        Box box;
        for (std::size_t place = 0; place < parts_[part_].shape.size(); ++place) {
            if ((bound & bit(place)) == 0) {
                along[place].resize(static_cast<std::size_t>(sizes_[place]));
                std::iota(along[place].begin(), along[place].end(), Index{0});
            }
            box.push_back(std::move(along[place]));
        }
        if (parts_[part_].code.is_of_matrix())  // each of them depends on the whole matrix
            for (std::size_t place = box.size() - 2; place < box.size(); ++place) {
                box[place].resize(static_cast<std::size_t>(sizes_[place]));
                std::iota(box[place].begin(), box[place].end(), Index{0});
            }
        // A number without axes is reached by reaching it.
        reached_[part_] = box.empty() ? Box{{0}} : around(reached_[part_], box);
    }

    // Keeps the values of the places that the index depends on for which it is one of `wanted`. Returns whether any is
    // left.
    bool narrow(const Code& index, const std::vector<Index>& wanted, std::vector<std::vector<Index>>& along,
                std::uint64_t& bound) {
        std::vector<std::size_t> places;
        Index combinations = 1;
        for (std::size_t place = 0; place < kMostPlaces; ++place)
            if ((index.uses & bit(place)) != 0) {
                places.push_back(place);
                combinations *= sizes_[place];
            }
        if (combinations > kMostCombinations) return true;
        std::vector<std::vector<Index>> found(places.size());
        bool any = false;
        Places at{};
        for (Index i = 0; i < combinations; ++i) {
            Index rest = i;
            for (const std::size_t place : places) {
                at[place] = rest % sizes_[place];
                rest /= sizes_[place];
            }
            const std::optional<double> value = value_of_index(index, at);
            if (!value) return true;  // any cell may be read
            if (!std::ranges::binary_search(wanted, index_of(*value))) continue;
            any = true;
            for (std::size_t p = 0; p < places.size(); ++p) found[p].push_back(at[places[p]]);
        }
        for (std::size_t p = 0; p < places.size(); ++p) {
            std::ranges::sort(found[p]);
            found[p].erase(std::unique(found[p].begin(), found[p].end()), found[p].end());
            std::vector<Index>& kept = along[places[p]];
            if ((bound & bit(places[p])) == 0) {
                kept = std::move(found[p]);
            } else {
                std::vector<Index> both;
                std::ranges::set_intersection(kept, found[p], std::back_inserter(both));
                kept = std::move(both);
            }
            bound |= bit(places[p]);
            any = any && !kept.empty();
        }
        return any;
    }

    // What an expression of indices is worth; nothing if it adds up numbers.
    [[nodiscard]] std::optional<double> value_of_index(const Code& code, const Places& at) const {
        std::array<double, 3> in{};
        if (code.kind == Code::Kind::reduce || (code.kind == Code::Kind::apply && code.in.size() > in.size()))
            return std::nullopt;
        if (code.kind == Code::Kind::number) return code.value;
        if (code.kind == Code::Kind::index) return static_cast<double>(at[code.which]);
        if (code.kind != Code::Kind::apply) return value_of_cell(code, at);
        for (std::size_t i = 0; i < code.in.size(); ++i) {
            const std::optional<double> value = value_of_index(code.in[i], at);
            if (!value) return std::nullopt;
            in[i] = *value;
        }
        if (code.op == Op::choose) return in[0] != 0.0 ? in[1] : in[2];
        return value_of(code.op, in[0], in[1]);
    }
    [[nodiscard]] std::optional<double> value_of_cell(const Code& code, const Places& at) const {
        Places cell{};
        std::size_t offset = 0;
        for (std::size_t axis = 0; axis < code.in.size(); ++axis) {
            const std::optional<double> value = value_of_index(code.in[axis], at);
            if (!value) return std::nullopt;
            cell[axis] = index_of(*value);
            if (code.kind == Code::Kind::result) continue;
            const Index size = numbers_[code.which].shape[axis].size;
            if (cell[axis] < 0 || cell[axis] >= size) return kNaN;
            offset = offset * static_cast<std::size_t>(size) + static_cast<std::size_t>(cell[axis]);
        }
        return code.kind == Code::Kind::result ? value_of_index(parts_[code.which].code, cell)
                                               : number_at(numbers_[code.which], offset);
    }

    std::span<const CodedDefinition> parts_;
    const Operands& numbers_;
    std::size_t operand_;
    const Box& cells_;
    std::vector<Box> reached_;  // of each definition
    std::size_t part_ = 0;
    Places sizes_{};
};

}  // namespace

bool is_empty(const Box& box) {
    return box.empty() || std::ranges::any_of(box, [](const std::vector<Index>& along) { return along.empty(); });
}

Box box_of(std::span<const Index> cell) {
    Box box;
    for (const Index index : cell) box.push_back({index});
    return box;
}

Box around(const Box& a, const Box& b) {
    if (is_empty(a)) return b;
    if (is_empty(b)) return a;
    Box both(a.size());
    for (std::size_t axis = 0; axis < a.size(); ++axis)
        std::ranges::set_union(a[axis], b[axis], std::back_inserter(both[axis]));
    return both;
}

Box reached_from(std::span<const CodedDefinition> parts, const Operands& numbers, std::size_t operand,
                 const Box& cells) {
    return Reaching(parts, numbers, operand, cells).all();
}

}  // namespace decoderscope::formulas
