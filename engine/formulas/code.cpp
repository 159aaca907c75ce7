#include "engine/formulas/code.h"

#include <algorithm>
#include <numbers>

namespace decoderscope::formulas {

std::vector<Index> sizes_of(const Shape& shape, std::size_t from) {
    std::vector<Index> sizes;
    for (std::size_t i = from; i < shape.size(); ++i) sizes.push_back(shape[i].size);
    return sizes;
}

std::vector<Index> strides_of(const std::vector<Index>& sizes) {
    std::vector<Index> strides(sizes.size(), 1);
    for (std::size_t i = sizes.size(); i-- > 1;) strides[i - 1] = strides[i] * sizes[i];
    return strides;
}

Coder::Coder(const Formula& elaborated, std::vector<std::string> operands, const Known& known)
    : formula_(elaborated), operands_(std::move(operands)), numbers_(numbers_of(known)) {
    numbers_.try_emplace("pi", std::numbers::pi);
    for (const Definition* d : definitions(formula_))
        for (const LeftIndex& i : d->indices) numbers_.try_emplace(i.dim->axis, static_cast<double>(i.dim->size));
}

std::vector<CodedDefinition> Coder::parts() {
    std::vector<CodedDefinition> parts;
    for (const Definition* d : definitions(formula_)) {
        CodedDefinition part{code_of(d->body, *d, d->indices.size()), shape_of(*d), std::nullopt};
        if (d->start) part.start = code_of(d->start, *d, d->indices.size());
        if (d->body->is_of_matrix()) part.start = Code{.value = kNaN};
        parts.push_back(std::move(part));
    }
    return parts;
}

Code Coder::code_of(const Expr& e, const Definition& d, std::size_t places) {
    Code code;
    const auto* reduce = e->as<Reduce>();
    for (const Expr& child : e->children) {
        code.in.push_back(code_of(child, d, places + (reduce != nullptr ? 1 : 0)));
        code.uses |= code.in.back().uses;
        code.hash = mixed(code.hash, code.in.back().hash);
    }
    if (const auto* n = e->as<Literal>()) {
        code.value = n->value;
    } else if (const auto* c = e->as<Constant>()) {
        code.value = numbers_.at(c->name);
    } else if (const auto* i = e->as<FreeIndex>()) {
        code.kind = Code::Kind::index;
        code.which =
            static_cast<std::size_t>(std::ranges::find(d.indices, i->name, &LeftIndex::name) - d.indices.begin());
    } else if (const auto* b = e->as<BoundIndex>()) {
        code.kind = Code::Kind::index;
        code.which = places - 1 - b->level;
    } else if (const auto* cell = e->as<CellOf>()) {
        const auto result = definition_named(cell->name), operand = operand_named(cell->name);
        if (!result && !operand)
            throw FormulaError(message("there is no operand “{name}”", {{"name", cell->name}}), e->at);
        code.kind = result ? Code::Kind::result : Code::Kind::operand;
        code.which = result ? *result : *operand;
    } else if (const auto* apply = e->as<Apply>()) {
        code.kind = Code::Kind::apply;
        code.op = apply->op;
    } else if (reduce != nullptr) {
        code.kind = Code::Kind::reduce;
        code.fold = reduce->fold;
        code.size = reduce->dim->size;
        code.which = places;
    }
    if (code.kind == Code::Kind::index) code.uses = bit(code.which);
    if (code.kind == Code::Kind::reduce) code.uses &= ~bit(code.which);
    code.hash = mixed(mixed(code.hash, std::hash<double>()(code.value)),
                      code.which * 512 + static_cast<std::size_t>(code.op) * 8 + static_cast<std::size_t>(code.kind));
    return code;
}

// Where a name is read: an operand, or one of the definitions.
std::optional<std::size_t> Coder::operand_named(const std::string& name) const {
    const auto found = std::ranges::find(operands_, name);
    if (found == operands_.end()) return std::nullopt;
    return static_cast<std::size_t>(found - operands_.begin());
}

std::optional<std::size_t> Coder::definition_named(const std::string& name) const {
    const auto all = definitions(formula_);
    const auto found = std::ranges::find(all, name, &Definition::name);
    if (found == all.end()) return std::nullopt;
    return static_cast<std::size_t>(found - all.begin());
}

}  // namespace decoderscope::formulas
