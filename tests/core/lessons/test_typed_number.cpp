// Numbers as learners type them: read as the language writes them, the same in the window and on a lesson's page.
#include "app/core/lessons/typed_number.h"
#include "engine/base/file.h"
#include "tests/catch.h"
#include "tests/engine/temporary_folder.h"

#include <nlohmann/json.hpp>

#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

using namespace decoderscope::testing;
using namespace decoderscope::core::lessons;

namespace {

struct NumberExample {
    std::string text;
    std::optional<double> number;
    bool plain = false;
};

const std::vector<NumberExample>& examples() {
    static const std::vector<NumberExample> all = {
        {"0.84", 0.84, true},
        {"−3 ", -3.0, true},
        {"15.", 15.0, true},
        {"４０９６", 4096.0, true},
        // A comma before three digits groups them; otherwise it stands before a fraction.
        {"4,096", 4096.0},
        {"-4,096", -4096.0},
        {"1,234,567.5", 1234567.5},
        {"2,500", 2500.0},
        {"0,84", 0.84},
        {"0,125", 0.125},
        {"12,34", 12.34},
        {"4.096", 4.096, true},
        {"4 096", 4096.0},
        {"4\u202F096", 4096.0},
        {"4'096", 4096.0},
        {"4.096,5", 4096.5},
        {"1.234.567", 1234567.0},
        {"1/8", 0.125},
        {"3 / 4", 0.75},
        {"1,024/2", 512.0},
        {"84 %", 0.84},
        {"84％", 0.84},
        {"12.5 percent", 0.125},
        {"15 tokens", 15.0},
        {"4,096 tokens", 4096.0},
        {"15 个词元", 15.0},
        {"≈ 0.8", 0.8},
        {"1e3", 1000.0},
        {".5", 0.5},
        {"", {}},
        {"a", {}},
        {"1/", {}},
        {"1/0", {}},
        {"%", {}},
        {"1 2", {}},
        {"3 or 4", {}},
        {"5-6", {}},
        {"1/2/3", {}},
        {"2^12", {}},
        {"0x10", {}},
        {"nan", {}},
        {"inf", {}},
        {"1e999", {}},
    };
    return all;
}

// What a lesson's page reads, by its own script under node.
std::vector<nlohmann::json> read_by_page(const std::vector<NumberExample>& all) {
    const decoderscope::testing::TemporaryFolder folder;
    nlohmann::json texts = nlohmann::json::array();
    for (const NumberExample& one : all) texts.push_back(one.text);
    const std::string script = folder.file("page.js"), out = folder.file("out.json");
    std::ofstream(script) << "const document = { querySelectorAll: () => [] };\nconst rules = " << reading_rules()
                          << ";\n"
                          << read_text(DECODERSCOPE_TESTS_DIR "/../assets/pages/lesson.js")
                          << "console.log(JSON.stringify(" << texts.dump() << ".map(text => typed(text) ?? null)));\n";
    if (std::system(("node '" + script + "' > '" + out + "'").c_str()) != 0) return {};
    return nlohmann::json::parse(read_text(out)).get<std::vector<nlohmann::json>>();
}

}  // namespace

TEST_CASE("a number is typed as people write it") {
    for (const NumberExample& one : examples()) {
        INFO(one.text);
        const std::optional<TypedNumber> typed = typed_number(one.text);
        REQUIRE(typed.has_value() == one.number.has_value());
        if (!typed) continue;
        CHECK(typed->number == one.number);
        CHECK(typed->is_plain == one.plain);
        CHECK(std::stod(typed->read_as()) == one.number);
    }
    CHECK(typed_number("4,096")->read_as() == "4096");
    // A language that writes 1.234,5.
    constexpr NumberSigns kGerman{'.', ','};
    CHECK(typed_number("4.096", kGerman)->number == 4096.0);
    CHECK(typed_number("4,096", kGerman)->number == 4.096);
    CHECK_FALSE(typed_number(std::string(1000, '1')).has_value());
}

TEST_CASE("a lesson's page reads numbers as the window does") {
    if (std::system("node --version > /dev/null 2>&1") != 0) {
        WARN("node is not installed");
        return;
    }
    const std::vector<nlohmann::json> read = read_by_page(examples());
    REQUIRE(read.size() == examples().size());
    for (std::size_t i = 0; i < read.size(); ++i) {
        const NumberExample& one = examples()[i];
        INFO(one.text << " " << read[i].dump());
        REQUIRE(read[i].is_null() == !one.number.has_value());
        if (!one.number) continue;
        CHECK(read[i]["number"].get<double>() == *one.number);
        CHECK(read[i]["plain"].get<bool>() == one.plain);
    }
}
