// A formula in either notation, for a few small operands: what was read is printed and read back as the same value; it
// is elaborated, computed, explained and differentiated if that takes few steps, or refused.
#include "engine/base/limits.h"
#include "engine/formulas/book.h"
#include "engine/formulas/derive.h"
#include "engine/formulas/evaluate.h"
#include "engine/formulas/print.h"
#include "engine/formulas/whole_tensors.h"
#include "tests/fuzz/fuzz.h"

using namespace decoderscope;
using namespace decoderscope::formulas;

namespace {

constexpr double kSteps = 20'000.0;

// Operands and numbers with the names of the corpus.
struct Small {
    std::vector<double> numbers = std::vector<double>(64, 0.5);
    Operands operands;
    Known known;

    Small() {
        const auto add = [&](const std::string& name, const Shape& shape) {
            operands.push_back({name, shape, std::span<const double>(numbers)});
        };
        const Dim batch{"batch", 2}, pos{"pos", 3}, head{"head", 2}, d_head{"d_head", 2};
        for (const char* name : {"q", "k", "v"}) add(name, {batch, head, pos, d_head});
        add("mask", {batch, head, pos, pos});
        add("x", {batch, pos, d_head});
        add("w", {d_head});
        add("ids", {batch, pos});
        add("W", {{"out", 3}, {"in", 2}});
        add("s", {});
        known = known_of(operands, {{"eps", 1e-5}, {"limit", 2.0}, {"mask_value", -1e9}});
    }
};

double steps_in(const Expr& e) {
    double steps = 1.0;
    for (const Expr& child : e->children) steps += steps_in(child);
    return e->as<Reduce>() != nullptr ? steps * static_cast<double>(e->as<Reduce>()->dim->size) : steps;
}

// Computes all cells, and explains the first one.
std::vector<double> computed(const Formula& f, const Operands& operands, const Known& known) {
    double steps = 0.0;
    std::size_t cells = 1;
    for (const Definition* d : definitions(f)) {
        cells = 1;
        for (const LeftIndex& i : d->indices) cells *= static_cast<std::size_t>(std::min<Index>(i.dim->size, 1 << 20));
        steps += steps_in(d->body) * static_cast<double>(cells);
        if (steps > kSteps) return {};
    }
    Evaluator evaluator(f, operands, known);
    std::vector<double> values = evaluator.all();
    fuzz::require(values.size() == cells, "each cell has a value");
    if (cells > 0)
        fuzz::require(!explain(evaluator, Cell(f.main.indices.size(), 0)).lines.empty(), "a cell is explained");
    return values;
}

void print(const Formula& f) {
    for (const Script script : {Script::unicode, Script::ascii}) {
        const std::string text = text_of(f, script);
        if (text.size() > limits::kFormulaBytes) continue;
        fuzz::require(parse(text, the_book().functions) == f, "a formula is read as it is printed: " + text);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const Small small;
    fuzz::read([&] {
        const Formula formula = read(fuzz::text_of(data, size), small.known, the_book().functions);
        print(formula);
        const Formula f = elaborate(formula, small.known, the_book().functions);
        const std::vector<double> value = computed(f, small.operands, small.known);
        if (value.empty()) return;
        const std::vector<double> arriving(value.size(), 1.0);
        Operands operands = small.operands;
        operands.push_back({std::string(kGradient), shape_of(f.main), std::span<const double>(arriving)});
        operands.push_back({f.main.name, shape_of(f.main), std::span<const double>(value)});
        const Formula slope = derivative(f, "x", small.known);
        const Known known = known_to_derivative(f, small.known);
        static_cast<void>(computed(elaborate(slope, known), operands, known));
    });
    return 0;
}
