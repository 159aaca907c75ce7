// Functions with odd arguments against PyTorch (tests/reference/make_functions.py): a value, and its explanation,
// is PyTorch's, or refused; what PyTorch refuses is refused.
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/formulas/book.h"
#include "engine/formulas/evaluate.h"
#include "engine/formulas/print.h"
#include "engine/formulas/whole_tensors.h"
#include "tests/catch.h"
#include "tests/sanitized.h"

#include <cmath>
#include <cstdlib>
#include <deque>
#include <iostream>
#include <limits>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

using namespace decoderscope::testing;
using namespace decoderscope::formulas;

namespace {

double number_in(const Json& json) {
    if (!json.is_string()) return json.get<double>();
    const std::string word = json;
    return word == "nan" ? std::numeric_limits<double>::quiet_NaN()
                         : (word == "inf" ? 1.0 : -1.0) * std::numeric_limits<double>::infinity();
}

bool are_near(double ours, double theirs) {
    if (std::isnan(ours) || std::isnan(theirs)) return std::isnan(ours) && std::isnan(theirs);
    return ours == theirs || std::abs(ours - theirs) <= 1e-9 * (1.0 + std::abs(theirs));
}

// The file's operands, and what may be said of them.
struct FunctionCases {
    explicit FunctionCases(const std::string& file) : json(Json::parse(read_text(file))) {
        for (const auto& [name, operand] : json.at("operands").items()) {
            Operand made{.name = name};
            for (std::size_t i = 0; i < operand[0].size(); ++i) made.shape.push_back({operand[0][i], operand[1][i]});
            for (const Json& number : operand[3]) numbers[name].push_back(number_in(number));
            made.numbers = std::span<const double>(numbers[name]);
            operands.push_back(std::move(made));
        }
        known = known_of(operands, json.at("constants").get<std::map<std::string, double, std::less<>>>());
        for (const auto& [name, operand] : json.at("operands").items())
            if (operand[2] != "")
                known.kinds[name] = operand[2] == "condition" ? NumberKind::condition : NumberKind::whole;
    }
    Json json;
    std::map<std::string, std::vector<double>> numbers;
    Operands operands;
    Known known;
};

Cell cell_at(const Shape& shape, std::size_t offset) {
    Cell cell(shape.size());
    for (std::size_t i = shape.size(); i-- > 0; offset /= static_cast<std::size_t>(shape[i].size))
        cell[i] = static_cast<Index>(offset % static_cast<std::size_t>(shape[i].size));
    return cell;
}

// Each number as it is computed alone, and as it is explained.
void check_explanations(Evaluator& evaluator, const Shape& shape, const std::vector<double>& values) {
    for (std::size_t i = 0; i < values.size(); ++i) {
        const Cell cell = cell_at(shape, i);
        CHECK(are_near(evaluator.cell(cell), values[i]));
        const Explanation explanation = explain(evaluator, cell);
        CHECK(are_near(explanation.lines.back().value, values[i]));
        for (const Line& line : explanation.lines) {
            double sum = 0.0;
            for (const Term& term : line.terms) {
                double product = 1.0;
                for (const Factor& factor : term.factors) product *= factor.value;
                sum += product;
            }
            CHECK(are_near(sum, line.value));
        }
    }
}

// Why it is refused; nothing if it was computed.
std::optional<std::string> check_case(const FunctionCases& all, const Json& json) {
    const std::string text = json[0];
    INFO(text);
    Formula read_as, formula;
    try {
        read_as = read(text, all.known, the_book().functions);
        formula = elaborate(read_as, all.known, the_book().functions);
    } catch (const FormulaError& error) {
        return error.what();
    }
    INFO(text_of(read_as));
    CHECK(json.size() > 1);  // PyTorch refuses it
    Evaluator evaluator(formula, all.operands, all.known);
    const std::vector<double> values = evaluator.all();
    const Shape shape = shape_of(formula.main);
    if (json.size() == 2 && !values.empty()) CHECK(std::ranges::any_of(values, [](double v) { return std::isnan(v); }));
    if (json.size() != 3) return std::nullopt;
    std::vector<Index> sizes;
    for (const Dim& dim : shape) sizes.push_back(dim.size);
    CHECK(sizes == json[1].get<std::vector<Index>>());
    if (values.size() != json[2].size()) return std::nullopt;
    for (std::size_t i = 0; i < values.size(); ++i) CHECK(are_near(values[i], number_in(json[2][i])));
    check_explanations(evaluator, shape, values);
    // What is printed, and kept in a session, is the same.
    const Formula printed = elaborate(parse(text_of(read_as), the_book().functions), all.known, the_book().functions);
    const std::vector<double> again = Evaluator(printed, all.operands, all.known).all();
    CHECK(std::ranges::equal(again, values, are_near));
    return std::nullopt;
}

// Every name in the table of functions.
std::set<std::string> names_of_functions() {
    const std::string source = read_text(DECODERSCOPE_TESTS_DIR "/../engine/formulas/names.txt");
    const std::regex row("\n([^#\n(][^(\n]*)\\([^)\n]*\\): [^?]");
    std::set<std::string> names;
    for (std::sregex_iterator at(source.begin(), source.end(), row), end; at != end; ++at) {
        std::istringstream words((*at)[1]);
        for (std::string word; words >> word;) names.insert(word.substr(word.rfind('.') + 1));
    }
    return names;
}

}  // namespace

TEST_CASE("functions have PyTorch's values with odd arguments, or refuse them, and explain them") {
    const FunctionCases all(DECODERSCOPE_TESTS_DIR "/reference/functions.json");
    std::size_t number = 0, computed = 0, given = 0;
    std::set<std::string> missing = names_of_functions();
    CHECK(missing.size() > 90);
    missing.erase("max_flow");  // which PyTorch hasn't: test_formulas.cpp tries all cuts
    for (const Json& json : all.json.at("cases")) {
        if (!is_looked_at(number++, 10)) continue;
        given += json.size() == 3 ? 1 : 0;
        if (check_case(all, json)) continue;
        ++computed;
        const std::string text = json[0];
        std::erase_if(missing, [&](const std::string& name) {
            return std::regex_search(text, std::regex("\\b" + name + "\\b"));
        });
    }
    // Most that PyTorch computes isn't refused, and no function is as a whole.
    CHECK(computed * 10 > given * 7);
    if (!kSanitized) CHECK(missing == std::set<std::string>{});
}

// A function's own formula has indices, too: none is taken for one of those that are written.
TEST_CASE("a function along an index is the same, whatever letters the indices are") {
    const FunctionCases all(DECODERSCOPE_TESTS_DIR "/reference/functions.json");
    const auto values = [&](const std::string& text) -> std::optional<std::vector<double>> {
        try {
            const Formula formula =
                elaborate(read(text, all.known, the_book().functions), all.known, the_book().functions);
            return Evaluator(formula, all.operands, all.known).all();
        } catch (const FormulaError&) {
            return std::nullopt;
        }
    };
    std::size_t compared = 0;
    for (const std::string& name : names_of_functions())
        for (const bool has_other : {false, true}) {
            // y[u, w], and of functions of two rows another.
            const auto with = [&](const std::string& u, const std::string& v, const std::string& w) {
                const std::string other = !has_other ? "" : ", y[" + v + ", " + w + "]";
                const std::string left = !has_other ? u : u + ", " + v;
                return values("r[" + left + "] = " + name + "_" + w + "(y[" + u + ", " + w + "]" + other + ")");
            };
            const auto expected = with("u", "v", "w");
            if (!expected) continue;
            ++compared;
            for (const auto& [u, v, w] :
                 {std::array{"j", "i", "k"}, std::array{"k", "j", "i"}, std::array{"i", "k", "j"},
                  std::array{"n", "d", "j"}, std::array{"d", "n", "k"}}) {
                INFO(name << " with " << u << v << w);
                const auto found = with(u, v, w);
                REQUIRE(found);
                CHECK(std::ranges::equal(*found, *expected, are_near));
            }
        }
    CHECK(compared > 20);
}

// The file is made by `make_functions.py SEED COUNT FILE`. What is refused is printed, with its sentence.
TEST_CASE("functions on demand", "[.]") {
    const char* file = std::getenv("DECODERSCOPE_FUNCTIONS");
    REQUIRE(file != nullptr);
    const FunctionCases all(file);
    for (const Json& json : all.json.at("cases"))
        if (const auto sentence = check_case(all, json))
            std::cout << json[0].get<std::string>() << ": " << *sentence << '\n';
}
