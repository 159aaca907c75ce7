#include "engine/formulas/work.h"

#include <algorithm>
#include <array>
#include <unordered_map>

namespace decoderscope::formulas {

namespace {

// Whether it makes a number of others. A condition, a choice, a sign and a rounding don't count.
bool is_arithmetic(Op op) {
    constexpr std::array kFree = {Op::negate, Op::choose,     Op::bracket,  Op::equal, Op::not_equal,
                                  Op::less,   Op::less_equal, Op::greater,  Op::both,  Op::greater_equal,
                                  Op::either, Op::negation,   Op::quotient, Op::stop,  Op::stored,
                                  Op::abs,    Op::remainder};
    return std::ranges::find(kFree, op) == kFree.end();
}

bool adds_up(const Code& code) {
    return code.kind == Code::Kind::reduce && (code.fold == Fold::sum || code.fold == Fold::mean);
}

class Counting {
public:
    Counting(std::span<const CodedDefinition> parts, std::span<const Shape> operands)
        : parts_(parts), operands_(operands), known_(parts.size(), Known::not_yet) {
        made_.reads.resize(operands.size());
    }

    Work all() {
        for (const CodedDefinition& part : parts_) {
            sizes_.fill(1);
            for (std::size_t i = 0; i < part.shape.size(); ++i)
                sizes_[i] = static_cast<std::uint64_t>(std::max(part.shape[i].size, Index{0}));
            seen_.clear();
            count(part.code);
        }
        return made_;
    }

private:
    enum class Known : std::uint8_t { not_yet, no, yes };

    // How many combinations there are of the indices at these places.
    [[nodiscard]] std::uint64_t times(std::uint64_t places) const {
        std::uint64_t product = 1;
        for (std::size_t place = 0; place < kMostPlaces; ++place)
            if ((places & bit(place)) != 0) product *= sizes_[place];
        return product;
    }

    // Whether it depends on an operand's numbers.
    [[nodiscard]] bool reads_numbers(const Code& code) {
        if (code.kind == Code::Kind::operand) return true;
        if (code.kind == Code::Kind::result && of_part(code.which)) return true;
        return std::ranges::any_of(code.in, [&](const Code& child) { return reads_numbers(child); });
    }
    bool of_part(std::size_t part) {
        if (known_[part] == Known::not_yet) {
            known_[part] = Known::no;  // a recurrence reads itself
            known_[part] = reads_numbers(parts_[part].code) ? Known::yes : Known::no;
        }
        return known_[part] == Known::yes;
    }

    void add(const Code& code, std::uint64_t places) {
        if (reads_numbers(code)) made_.operations += times(places);
    }

    // The same expression twice is computed once.
    [[nodiscard]] bool was_counted(const Code& code) {
        std::vector<const Code*>& alike = seen_[code.hash];
        if (std::ranges::any_of(alike, [&](const Code* other) { return *other == code; })) return true;
        alike.push_back(&code);
        return false;
    }

    void count(const Code& code) {
        if (was_counted(code)) return;
        switch (code.kind) {
            case Code::Kind::number:
            case Code::Kind::index:
                return;
            case Code::Kind::operand:
            case Code::Kind::result:
                return count_cell(code);
            case Code::Kind::apply:
                for (const Code& child : code.in) count(child);
                if (is_arithmetic(code.op)) add(code, code.uses);
                return;
            case Code::Kind::reduce:
                return count_reduction(code);
        }
    }

    // Where a cell lies is no arithmetic on its numbers, but may be read itself: the number of a token.
    void count_cell(const Code& code) {
        for (const Code& child : code.in) count_places(child);
        if (code.kind != Code::Kind::operand) return;
        std::uint64_t size = 1;
        for (const Dim& dim : operands_[code.which]) size *= static_cast<std::uint64_t>(dim.size);
        std::uint64_t& reads = made_.reads[code.which];
        reads = std::min(size, std::max(reads, times(code.uses)));
    }
    void count_places(const Code& code) {
        if (code.kind == Code::Kind::operand || code.kind == Code::Kind::result) return count_cell(code);
        for (const Code& child : code.in) count_places(child);
    }

    void count_reduction(const Code& code) {
        const Code& body = code.in.front();
        sizes_[code.which] = static_cast<std::uint64_t>(code.size);
        const std::uint64_t each = code.uses | bit(code.which);
        if (adds_up(code))
            count_summand(body, code.which, code.uses);
        else
            count(body);
        // A sum of sums is one sum.
        if (!adds_up(code) || !adds_up(body)) add(code, each);
        if (code.fold == Fold::mean) add(code, code.uses);
    }

    static void factors_of(const Code& code, std::vector<const Code*>& factors) {
        if (!code.is(Op::multiply) && !code.is(Op::divide)) return factors.push_back(&code);
        for (const Code& child : code.in) factors_of(child, factors);
    }

    // A product's factors that are the same for all summands are multiplied with the sum.
    void count_summand(const Code& body, std::size_t place, std::uint64_t outside) {
        std::vector<const Code*> factors;
        factors_of(body, factors);
        const auto rest = std::stable_partition(
            factors.begin(), factors.end(), [place](const Code* factor) { return (factor->uses & bit(place)) != 0; });
        const std::span<const Code*> own(factors.begin(), rest), common(rest, factors.end());
        if (own.empty() || factors.size() < 2) return count(body);
        for (const Code* factor : factors) count(*factor);
        multiply(own, 0);
        if (!common.empty()) multiply(common, outside, 1);
    }
    // The operations that multiply these, and with so many other numbers that they are multiplied with.
    void multiply(std::span<const Code* const> factors, std::uint64_t places, std::uint64_t others = 0) {
        std::uint64_t numbers = others;
        bool constant = false;
        for (const Code* factor : factors) {
            places |= factor->uses;
            if (reads_numbers(*factor))
                ++numbers;
            else
                constant = true;
        }
        if (constant) ++numbers;
        if (numbers > 1) made_.operations += (numbers - 1) * times(places);
    }

    std::span<const CodedDefinition> parts_;
    std::span<const Shape> operands_;
    std::vector<Known> known_;
    std::array<std::uint64_t, kMostPlaces> sizes_{};
    std::unordered_map<std::size_t, std::vector<const Code*>> seen_;  // by their hash
    Work made_;
};

}  // namespace

Work work_of(std::span<const CodedDefinition> parts, std::span<const Shape> operands) {
    return Counting(parts, operands).all();
}

}  // namespace decoderscope::formulas
