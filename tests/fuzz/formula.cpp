// A formula in either notation, for a few small operands: what was read is printed and read back as the same value; it
// is elaborated, computed, explained and differentiated if that takes few steps, or refused.
#include "engine/base/limits.h"
#include "engine/formulas/book.h"
#include "engine/formulas/derive.h"
#include "engine/formulas/evaluate.h"
#include "engine/formulas/print.h"
#include "engine/formulas/whole_tensors.h"
#include "tests/fuzz/fuzz.h"

#include <algorithm>

using namespace decoderscope;
using namespace decoderscope::formulas;

namespace {

constexpr double kSteps = 50'000.0;

// Operands and numbers with the names of the corpus.
struct Small {
    std::vector<double> numbers = std::vector<double>(64, 0.5);
    std::vector<float> floats = std::vector<float>(256, 0.5F);
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
        // Large enough that the library multiplies them.
        for (const char* name : {"A", "B"})
            operands.push_back({name, {{"row", 16}, {"column", 16}}, std::span<const float>(floats)});
        known = known_of(operands, {{"eps", 1e-5}, {"limit", 2.0}, {"mask_value", -1e9}});
    }
};

// Computes all cells, in both precisions, and explains the first one.
std::vector<double> computed(const Formula& f, const Operands& operands, const Known& known) {
    if (steps_of(f) > kSteps) return {};
    Evaluator evaluator(f, operands, known);
    std::vector<double> values = evaluator.all();
    std::vector<float> rounded(values.size());
    evaluator.all(std::span(rounded));
    if (!values.empty())
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
        std::erase_if(operands, [&](const Operand& operand) { return operand.name == f.main.name; });  // not read
        operands.push_back({std::string(kGradient), shape_of(f.main), std::span<const double>(arriving)});
        operands.push_back({f.main.name, shape_of(f.main), std::span<const double>(value)});
        const Known known = known_to_derivative(f, small.known);
        for (const Operand& operand : small.operands)
            if (std::ranges::any_of(definitions(f), [&](const Definition* d) { return reads(d->body, operand.name); }))
                static_cast<void>(
                    computed(elaborate(derivative(f, operand.name, small.known), known), operands, known));
    });
    return 0;
}
