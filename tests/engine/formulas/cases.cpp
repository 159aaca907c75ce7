#include "tests/engine/formulas/cases.h"

#include "engine/base/file.h"
#include "engine/base/random.h"
#include "engine/formulas/whole_tensors.h"

#include <cmath>

namespace decoderscope::testing {
namespace {

using namespace formulas;

const std::string kFolder = DECODERSCOPE_TESTS_DIR;

// As make_formulas.py makes it.
std::vector<double> operand_numbers(std::uint64_t seed, const std::string& name, std::size_t count,
                                    const std::string& what) {
    const RandomStream random(seed, name);
    std::vector<double> numbers(count);
    for (std::size_t i = 0; i < count; ++i) {
        const double uniform = random.uniform(i);
        if (what == "normal") numbers[i] = random.normal(i);
        if (what == "positive") numbers[i] = uniform + 0.5;
        if (what == "bits") numbers[i] = uniform < 0.7 ? 1.0 : 0.0;
        if (what.starts_with("ids") || what.starts_with("targets"))
            numbers[i] = std::floor(uniform * std::stod(what.substr(what.find(' '))));
    }
    if (what.starts_with("targets")) numbers.at(1) = numbers.at(5) = -100.0;
    return numbers;
}

}  // namespace

const Json& recorded_formulas() {
    static const Json all = Json::parse(read_text(kFolder + "/reference/formulas.json"));
    return all;
}

FormulaCase formula_case(const Json& json) {
    FormulaCase made;
    made.seed = json.at("seed");
    made.value = json.at("value");
    if (json.contains("gradients")) made.gradients = json.at("gradients").get<std::map<std::string, double>>();
    std::map<std::string, double, std::less<>> constants{{"a", 2.0}, {"b", 3.0}, {"c", 4.0}};
    if (json.contains("constants")) constants = json.at("constants");
    for (const auto& [name, operand] : json.at("operands").items()) {
        Operand o{.name = name};
        std::size_t count = 1;
        for (std::size_t i = 0; i < operand[0].size(); ++i) {
            o.shape.push_back({operand[0][i], operand[1][i]});
            count *= operand[1][i].get<std::size_t>();
        }
        made.numbers.push_back(operand_numbers(made.seed, name, count, operand[2]));
        o.numbers = std::span<const double>(made.numbers.back());
        made.operands.push_back(std::move(o));
    }
    made.known = known_of(made.operands, std::move(constants));
    for (const auto& [name, operand] : json.at("operands").items())
        if (const std::string what = operand[2]; what.starts_with("ids") || what.starts_with("targets"))
            made.known.kinds[name] = what.starts_with("ids") ? NumberKind::place : NumberKind::whole;
    made.name = json.value("label", json.value("formula", json.value("text", "")));
    const auto labelled = the_book().formulas.find(made.name);
    made.formula = labelled != the_book().formulas.end()
                       ? labelled->second
                       : read(json.value("formula", made.name), made.known, the_book().functions);
    return made;
}

std::vector<double> weights_of(std::uint64_t seed, const std::string& name, std::size_t count) {
    const RandomStream random(seed, name);
    std::vector<double> weights(count);
    for (std::size_t i = 0; i < count; ++i) weights[i] = random.normal(i);
    return weights;
}

double weighed(std::uint64_t seed, const std::string& name, const std::vector<double>& values) {
    const std::vector<double> weights = weights_of(seed, name, values.size());
    double sum = 0.0;
    for (std::size_t i = 0; i < values.size(); ++i) sum += weights[i] * values[i];
    return sum;
}

}  // namespace decoderscope::testing
