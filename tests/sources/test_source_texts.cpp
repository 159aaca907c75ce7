// Every text that the user sees in the window is a message: CONTRIBUTING.md, "A text".
#include "tests/catch.h"
#include "tests/sources/source_texts.h"
#include "tests/sources/texts.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

using namespace decoderscope::testing;

namespace {

// Sources of texts outside the window: the command line, and files that machines read.
constexpr std::array<std::string_view, 15> kElsewhere = {
    "app/cli", "app/browser/main", "app/core/figure/csv_and_json.cpp", "app/core/figure/svg.cpp",
    "app/core/figure/cairo/figure_fonts.cpp", "app/core/figure/canvas/png.cpp", "app/core/lessons/page.cpp",
    "app/core/report/html_page.cpp",
    // The HTML that shows a stage in another page.
    "app/core/files/link.cpp",
    // A browser's names of keys.
    "app/window/browser/page_keys.cpp", "engine/load/checkpoint.cpp",
    // PyTorch's and NumPy's words.
    "engine/formulas/whole_tensors.cpp", "engine/formulas/tensor_",
    // The words that tokenizer.json is written in.
    "engine/tokenizer/", "engine/products/"};

// Folders whose texts are still to become messages. The list only gets shorter.
constexpr std::array<std::string_view, 0> kToDo = {};

bool begins_with_one_of(const std::string& path, const auto& beginnings) {
    return std::any_of(beginnings.begin(), beginnings.end(), [&](auto start) { return path.starts_with(start); });
}

// What a check finds in the program's sources, one line per finding.
template <class Check>
std::string found_in_sources(Check check) {
    std::string found;
    std::size_t files = 0;
    for (const auto& [path, text] : texts_in({"engine", "app"})) {
        if (begins_with_one_of(path, kElsewhere) || begins_with_one_of(path, kToDo)) continue;
        ++files;
        for (const Finding& finding : check(text))
            found += path + ":" + std::to_string(finding.line) + ": " + finding.what + "\n";
    }
    CHECK(files > 200);
    return found;
}

}  // namespace

TEST_CASE("every text of the window is a message", "[messages]") {
    CHECK(found_in_sources([](const std::string& text) { return prose_that_bypasses(text); }) == "");
}

TEST_CASE("every place of a message has its argument", "[messages]") {
    CHECK(found_in_sources([](const std::string& text) { return places_without_argument(text); }) == "");
}

TEST_CASE("prose is found where it bypasses the messages", "[messages]") {
    const auto lines = [](std::string_view source) {
        std::vector<std::size_t> found;
        for (const Finding& finding : prose_that_bypasses(source)) found.push_back(finding.line);
        return found;
    };
    CHECK(lines("draw(\"two words\");") == std::vector<std::size_t>{1});
    CHECK(lines("\n\ndraw(\"Label\");") == std::vector<std::size_t>{3});
    CHECK(lines("x = \"Add \" + n + \" of \"\n\"them all\";") == std::vector<std::size_t>{1});
    CHECK(lines("tr(\"{a} b\", {{\"a\", \"two words\"}})") == std::vector<std::size_t>{1});
    CHECK(lines("tr(f(\"two words\"))") == std::vector<std::size_t>{1});
    CHECK(lines("1'000; \"two words\"") == std::vector<std::size_t>{1});

    CHECK(lines("draw(tr(\"two words\"), \"##id of it\", \"blocks.0.attn\", \"d_model\")").empty());
    CHECK(lines("throw Error(\"two \" \"words\", {{\"path\", path}});").empty());
    CHECK(lines("tr_n(\"{count} step\", \"{count} steps\", n)").empty());
    CHECK(lines("// \"two words\"\n/* \"two words\" */ '\"'; f(R\"(two words)\");").empty());
    CHECK(lines("static_assert(x, \"two words\");").empty());
    CHECK(lines("f(\"two words\");  // not a message: a font's name").empty());
    CHECK(lines("f(\"y[b, p, d] = x[b, p, d] + w[d]\");").empty());
}

TEST_CASE("a place without its argument is found", "[messages]") {
    const auto found = [](std::string_view source) { return !places_without_argument(source).empty(); };
    CHECK(found("tr(\"{a} and {b}\", {{\"a\", x}})"));
    CHECK(found("tr_n(\"{count} of {all}\", \"{count} of {all}\", n, {{\"al\", x}})"));
    CHECK_FALSE(found("tr(\"{a} and {b}\", {{\"a\", x}, {\"b\", f(\"c\")}})"));
    CHECK_FALSE(found("tr_n(\"{count} step\", \"{count} steps\", n)"));
    CHECK_FALSE(found("Error(\"{a} and {b}\", arguments)"));
}
