// The law of explanations: their terms add up to the recorded number, and every number that they link to is where the
// link points. Checked for every kind of step in every fixture.
#include "engine/formulas/evaluate.h"
#include "engine/ops/norm.h"
#include "tests/catch.h"
#include "tests/engine/fixtures.h"
#include "tests/engine/small_models.h"
#include "tests/sanitized.h"

#include <algorithm>
#include <cmath>
#include <optional>

using namespace decoderscope::testing;

namespace {

// The explanation sums in double, the engine in float.
constexpr double kTolerance = 1e-5;

bool near(double a, double b, double allowed) {
    return a == b || (std::isnan(a) && std::isnan(b)) || std::abs(a - b) <= allowed;
}

// The tolerance for a tensor's numbers: a fraction of its largest magnitude, without fills such as -1e20.
double allowed_in(const Tensor& tensor, double value) {
    constexpr double kFill = 1e4;
    if (std::abs(value) >= kFill) return kTolerance * std::abs(value);
    double scale = 0.0;
    for (const float x : tensor.values())
        if (std::abs(x) < static_cast<float>(kFill)) scale = std::max(scale, static_cast<double>(std::abs(x)));
    return kTolerance * scale;
}

// All cells of a small tensor; of a larger one only as many as are quick to check, including the first and the last.
std::vector<Cell> sample(const Tensor& tensor) {
    constexpr Index kAll = 64, kSome = 24;
    const Index count = tensor.size() <= kAll ? tensor.size() : kSome;
    std::vector<Cell> cells;
    for (Index i = 0; i < count; ++i)
        cells.push_back(tensor.cell(i * (tensor.size() - 1) / std::max(Index{1}, count - 1)));
    return cells;
}

// ---- faults in a part of an explanation; empty if none

// What a text such as "exp(0.31 − 2.1)" comes to; nothing if it isn't a formula of numbers.
std::optional<double> worth_of(std::string text) {
    for (const auto& [written, read] : {std::pair{"e−", "e-"}, std::pair{"e+", "e"}})
        for (std::size_t at = 0; (at = text.find(written, at)) != std::string::npos; ++at)
            if (at > 0 && text[at - 1] >= '0' && text[at - 1] <= '9')
                text.replace(at, std::string_view(written).size(), read);
    try {
        const formulas::Operands none;
        const formulas::Known known = formulas::known_of(none, {{"NaN", std::nan("")}});
        const formulas::Formula f = formulas::elaborate(formulas::parse("f = " + text), known);
        return formulas::Evaluator(f, none, known).cell({});
    } catch (const formulas::FormulaError&) {
        return std::nullopt;
    }
}

// A derived factor says how it was made from the number that it links to. Its text has four digits of each number.
std::string fault_of_text(const Factor& factor, double there) {
    if (factor.text.find_first_of(" (/²³√") == std::string::npos)  // a name: a condition, which is the number itself
        return near(factor.value, there, 0.0) ? "" : "“" + factor.text + "” isn't the number it links to";
    if (factor.text.find(short_number(std::abs(there))) == std::string::npos && !std::isinf(there))
        return "“" + factor.text + "” is nothing that was made from " + short_number(there);
    const std::optional<double> worth = worth_of(factor.text);
    if (!worth) return "“" + factor.text + "” is no formula";
    const double allowed = 1e-2 * std::max(1.0, std::max(std::abs(*worth), std::abs(there)));
    return near(factor.value, *worth, allowed) ? "" : "“" + factor.text + "” isn't " + short_number(factor.value);
}

std::string fault_of(const Factor& factor, const Operands& operands) {
    if (!factor.cell) return {};
    if (factor.cell->operand >= operands.size()) return "a link to an operand that the step doesn't have";
    const Tensor& operand = operands[factor.cell->operand];
    if (!operand.contains(factor.cell->cell)) return "a link to a cell outside its operand";
    const auto there = static_cast<double>(operand.at(factor.cell->cell));
    if (!factor.text.empty()) return fault_of_text(factor, there);
    return near(factor.value, there, 0.0) ? "" : "a number that isn't the one it links to";
}

// A sum that is named by a formula, such as "x · w" or "Σ heads", says what is in it: unless it adds or takes away
// something by name, all of its terms are products of cells of the same operands.
bool names_all(const Line& line) {
    const bool is_formula = line.name.find(" · ") != std::string::npos || line.name.starts_with("Σ ");
    if (!is_formula || line.name.find(" + ") != std::string::npos || line.name.find(" − ") != std::string::npos)
        return true;
    std::optional<std::vector<std::size_t>> all;
    for (const Term& term : line.terms) {
        std::vector<std::size_t> operands;
        for (const Factor& factor : term.factors)
            if (factor.cell && factor.text.empty()) operands.push_back(factor.cell->operand);
        if (!all) all = operands;
        if (*all != operands) return false;
    }
    return true;
}

std::string fault_of(const Line& line, const Operands& operands) {
    double sum = 0.0;
    for (const Term& term : line.terms) {
        double product = 1.0;
        for (const Factor& factor : term.factors) {
            product *= factor.value;
            if (const std::string fault = fault_of(factor, operands); !fault.empty()) return fault;
        }
        if (!near(term.value, product, 1e-12 * std::abs(product))) return "a term that isn't its factors' product";
        sum += term.value;
    }
    if (!names_all(line)) return "a term that the name of its sum leaves out";
    for (const Factor& condition : line.given)
        if (const std::string fault = fault_of(condition, operands); !fault.empty()) return fault;
    return near(line.value, sum, 1e-12 * std::abs(sum)) ? "" : "a line that isn't its terms' sum";
}

std::string fault_of(const Explanation& explanation, const Operands& operands, double recorded, double allowed) {
    if (explanation.lines.empty()) return "no line";
    for (const Line& line : explanation.lines)
        if (const std::string fault = fault_of(line, operands); !fault.empty()) return line.name + ": " + fault;
    if (near(explanation.lines.back().value, recorded, allowed)) return {};
    return "comes to " + std::to_string(explanation.lines.back().value) + ", recorded is " + std::to_string(recorded);
}

// The first cell of a step whose explanation breaks the law, and how.
std::string fault_of(const Run& run, const Step& step) {
    const Tensor& tensor = run.value(step.id);
    if (tensor.empty()) return {};
    for (const Cell& cell : sample(tensor)) {
        const auto recorded = static_cast<double>(tensor.at(cell));
        const std::string fault =
            fault_of(run.explain(step.id, cell), run.operands_of(step.id), recorded, allowed_in(tensor, recorded));
        if (fault.empty()) continue;
        std::string at;
        for (const Index index : cell) at.append(" ").append(std::to_string(index));
        return step.name + " at" + at + ": " + fault;
    }
    return {};
}

// ---- the trail from a number to its source

struct Place {
    StepId step;
    Cell cell;
};

// The operand's cell that a term leads to: a computed one rather than a weight, for a long trail.
const OperandCell* link_of(const Run& run, const Step& step, const std::vector<Factor>& factors) {
    const OperandCell* link = nullptr;
    for (const Factor& factor : factors) {
        if (!factor.cell) continue;
        if (!run.plan()[step.operands[factor.cell->operand]].is_source()) return &*factor.cell;
        if (link == nullptr) link = &*factor.cell;
    }
    return link;
}

// Where the largest term of the last line with links leads; nowhere at a source, or for a pure formula.
std::optional<Place> next_place(const Run& run, const Place& place) {
    const Step& step = run.plan()[place.step];
    const Explanation explanation = run.explain(place.step, place.cell);
    for (auto line = explanation.lines.rbegin(); line != explanation.lines.rend(); ++line) {
        const OperandCell* best = link_of(run, step, line->given);
        double largest = -1.0;
        for (const Term& term : line->terms) {
            const OperandCell* link = link_of(run, step, term.factors);
            if (link == nullptr || (largest >= 0.0 && !(std::abs(term.value) > largest))) continue;
            best = link;
            largest = std::isnan(term.value) ? 0.0 : std::abs(term.value);
        }
        if (best != nullptr) return Place{step.operands[best->operand], best->cell};
    }
    return std::nullopt;
}

// Follows the trail to its end. Each hop leads to an earlier step, so there are no more hops than steps.
const Step& end_of_trail(const Run& run, Place place) {
    while (const auto next = next_place(run, place)) {
        INFO(run.plan()[place.step].name << " leads to " << run.plan()[next->step].name);
        REQUIRE(next->step < place.step);
        place = *next;
    }
    return run.plan()[place.step];
}

// The ends of the trails from the last tensor of a run.
std::vector<const Step*> ends_of_trails(const Run& run) {
    const StepId last = run.plan().steps().back().id;
    std::vector<const Step*> ends;
    for (const Cell& cell : sample(run.value(last))) ends.push_back(&end_of_trail(run, {last, cell}));
    return ends;
}

}  // namespace

TEST_CASE("every explanation adds up to the recorded number, and links to the cells that it names") {
    std::size_t steps = 0;
    for (const std::string& name : looked_at(fixture_names(), 15)) {
        INFO(name);
        const auto run = load_fixture(name).run();
        for (const Step& step : run->plan().steps()) {
            CHECK(fault_of(*run, step) == "");
            ++steps;
        }
    }
    CHECK(steps > (kSanitized ? 100 : 2000));
}

TEST_CASE("a derived number that isn't made from the cell it links to breaks the law") {
    const Tensor row({{axis::d_model, 2}}, {0.5F, -2.0F});
    Operands operands;
    operands.add(row);
    const auto fault = [&](double value, const char* text, Index at) {
        return fault_of(derived_factor(value, text, 0, {at}), operands);
    };
    CHECK(fault(2.0, "1/0.5", 0) == "");
    CHECK(fault(std::exp(-2.5), "exp(−2 − 0.5)", 1) == "");
    CHECK(fault(2.0, "1/0.5", 1) != "");              // another cell
    CHECK(fault(2.5, "1/0.5", 0) != "");              // another value
    CHECK(fault(2.0, "twice what it was", 0) != "");  // no formula
}

TEST_CASE("from any output the trail ends in a parameter, an input or a formula without operands") {
    for (const std::string& name : looked_at(fixture_names(), 15)) {
        INFO(name);
        const auto run = load_fixture(name).run();
        for (const Step* end : ends_of_trails(*run)) {
            INFO(end->name);
            CHECK((end->is_source() || end->operands.empty()));
        }
    }
}

TEST_CASE("where every position is learned the trail ends in a parameter or an input") {
    for (const char* name :
         {"gpt2-like", "llama-like", "encdec-tokens", "pre-ln-encdec", "causal-lm", "attention-only-pre"}) {
        INFO(name);
        const auto run = load_fixture(name).run();
        for (const Step* end : ends_of_trails(*run)) {
            INFO(end->name);
            CHECK(end->is_source());
        }
    }
}

TEST_CASE("norms that differ in a small eps alone are each explained by their own") {
    const Tensor x({{axis::batch, 1}, {axis::pos, 1}, {axis::d_model, 2}}, {1e-4F, -1e-4F});
    Operands in;
    in.add(x);
    for (const double eps : {1e-8, 1e-12, 3e-7}) {
        const Operation norm = ops::NormScale{NormKind::rmsnorm, eps};
        const Tensor scale = norm.compute(in, norm.axes({x.axes()}));
        const double expected = std::sqrt(1e-8 + eps);
        INFO(eps);
        CHECK(std::abs(norm.explain(in, scale, {0, 0, 0}).lines.back().value - expected) < 1e-6 * expected);
    }
}

TEST_CASE("an edited cell is explained by its computed value, then by the edit") {
    SmallModel model = small_model();
    const auto before = model.run();
    const Cell cell = {1, 2, 3};
    model.edits = {SetCell{"blocks.0.mlp_out", cell, 0.25F}};
    const auto after = model.run();
    const Step& step = *after->plan().find("blocks.0.mlp_out");
    const auto lines = after->explain(step.id, cell).lines;
    REQUIRE(lines.size() == 2);
    CHECK(lines[0].value == before->explain(step.id, cell).lines.back().value);
    CHECK(lines[1].name == "set manually");
    CHECK(lines[1].value == 0.25);
    CHECK(after->explain(step.id, {1, 2, 4}).lines.size() == 1);
}

TEST_CASE("a scaled head is explained by its computed value times the factor, edit by edit") {
    SmallModel model = small_model();
    model.edits = {ScaleHead{"blocks.0.attn", 1, 0.5F}, SetCell{"blocks.0.attn.z", {0, 1, 2, 3}, 8.0F},
                   ScaleHead{"blocks.0.attn", 1, 0.25F}};
    const auto run = model.run();
    const Step& z = *run->plan().find("blocks.0.attn.z");
    const auto lines = run->explain(z.id, {0, 1, 2, 3}).lines;
    REQUIRE(lines.size() == 4);
    CHECK(lines[1].value == lines[0].value * 0.5);
    CHECK(lines[2].value == 8.0);
    CHECK(lines[3].value == 2.0);
    CHECK(run->value(z.id).at(Cell{0, 1, 2, 3}) == 2.0F);
    CHECK(run->explain(z.id, {0, 0, 2, 3}).lines.size() == 1);
}

TEST_CASE("an edited weight or input is explained by its given value, then by the edit") {
    SmallModel model = small_model();
    model.edits = {SetCell{"x", {0, 1, 2}, 3.0F}};
    const auto run = model.run();
    const Step& x = *run->plan().find("x");
    const auto lines = run->explain(x.id, {0, 1, 2}).lines;
    REQUIRE(lines.size() == 2);
    CHECK(lines[0].value == static_cast<double>(model.inputs.x.at(Cell{0, 1, 2})));
    CHECK(lines[1].value == 3.0);
    CHECK(fault_of(*run, x) == "");
}
