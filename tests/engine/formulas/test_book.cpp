// The book of formulas: how its text is read, and that it says of every line where it is from and what computes it, as
// the operations' sources have it.
#include "engine/base/tables.h"
#include "engine/formulas/book.h"
#include "tests/catch.h"
#include "tests/engine/messages.h"
#include "tests/engine/temporary_folder.h"

#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

using namespace decoderscope::testing;
using namespace decoderscope::formulas;
namespace fs = std::filesystem;

namespace {

const fs::path kRepository = fs::path(DECODERSCOPE_TESTS_DIR).parent_path();

// From one brace to the one that closes it.
std::string braces_from(const std::string& text, std::size_t open) {
    std::size_t depth = 0;
    for (std::size_t at = open; at < text.size(); ++at) {
        if (text[at] == '{') ++depth;
        if (text[at] == '}' && --depth == 0) return text.substr(open, at + 1 - open);
    }
    return {};
}

// The bodies of the functions that say which line of the book an operation is, without operands and numbers.
std::string naming_bodies(const std::string& text, const std::string& before) {
    const std::regex head(before + R"((formula|formula_for|label|about)\([^)]*\)( const)? \{)");
    std::string bodies;
    for (std::sregex_iterator at(text.begin(), text.end(), head), end; at != end; ++at)
        bodies += braces_from(text, static_cast<std::size_t>(at->position() + at->length() - 1));
    const std::regex operands(R"(([,{]\s*)\{[^{}]*\})");
    for (std::string less; (less = std::regex_replace(bodies, operands, "$1")) != bodies;) bodies = less;
    return bodies;
}

// The labels that are written there, whole or as a sum of a few.
std::set<std::string> labels_in(const std::string& code) {
    const std::regex literal("\"([^\"]*)\"");
    std::vector<std::string> literals = {""};
    for (std::sregex_iterator at(code.begin(), code.end(), literal), end; at != end; ++at) literals.push_back((*at)[1]);
    if (code.find("places.label") != std::string::npos) literals.emplace_back("_at");  // engine/ops/places.h
    std::set<std::string> labels;
    for (const std::string& one : literals)
        for (const std::string& other : literals)
            for (const std::string& last : literals)
                if (the_book().find(one + other + last) != nullptr) labels.insert(one + other + last);
    return labels;
}

struct Kernel {
    std::string file;
    bool has_formula = false;
};

// What computes each label by code of its own: the operations with a compute(), and the activations' table.
std::map<std::string, Kernel> kernels_in_sources() {
    std::map<std::string, Kernel> kernels;
    std::vector<fs::path> headers = {kRepository / "engine/backward/pull_back.h"};
    for (const auto& entry : fs::directory_iterator(kRepository / "engine/ops"))
        if (entry.path().extension() == ".h") headers.push_back(entry.path());
    const std::regex operation(R"(\nstruct (\w+)[^;{]*\{)"), activation(R"(Kernel\{ActivationKind::(\w+),)");
    for (const fs::path& path : headers) {
        const std::string header = read_bytes(path.string());
        const fs::path source = fs::path(path).replace_extension(".cpp");
        const std::string code = fs::exists(source) ? read_bytes(source.string()) : "";
        const std::string file = fs::relative(source, kRepository).generic_string();
        for (std::sregex_iterator at(header.begin(), header.end(), operation), end; at != end; ++at) {
            const std::string body = braces_from(header, static_cast<std::size_t>(at->position() + at->length() - 1));
            const bool computes = body.find(" Tensor compute(") != std::string::npos;
            const bool by_formula = body.find("{ return formula().compute(in, axes); }") != std::string::npos;
            if (!computes || by_formula || path.filename() == "formula.h") continue;
            for (const std::string& label :
                 labels_in(naming_bodies(body, "\\b") + naming_bodies(code, (*at)[1].str() + "::")))
                kernels[label] = {file, body.find("ByFormula formula") != std::string::npos};
        }
        for (std::sregex_iterator at(code.begin(), code.end(), activation), end; at != end; ++at)
            kernels[(*at)[1]] = {file, true};
    }
    return kernels;
}

}  // namespace

TEST_CASE("a book is read with its sections, sources, kernels and refusals") {
    const Book book = read_book(R"(# A comment.
# ---- First
fn twice(x) = 2 · x  # torch.mul; kernel: engine/a.cpp
# ---- Second
sums: y[i] = Σ_j x[i, j]
    · w where w = 3
    # A. Author 2020; someone's tutorial; as: twice, all
plain: y[i] = x[i]
! plain, hash: It can't be said.  # a paper
)");
    REQUIRE(book.lines.size() == 4);
    CHECK(book.lines[0].label == "twice");
    CHECK(book.lines[0].section == "First");
    CHECK(book.lines[0].source == "torch.mul");
    CHECK(book.lines[0].kernel == "engine/a.cpp");
    const BookLine* sums = book.find("sums");
    REQUIRE(sums != nullptr);
    CHECK(sums->section == "Second");
    CHECK(sums->source == "A. Author 2020; someone's tutorial");
    CHECK(sums->computed_as == "twice, all");
    CHECK(sums->kernel.empty());
    CHECK(sums->formula == parse("y[i] = Σ_j x[i, j] · w where w = 3"));
    CHECK(book.find("plain")->why_not == "It can't be said.");
    CHECK(book.find("plain")->source.empty());
    CHECK_FALSE(book.find("hash")->formula);
    CHECK(book.find("hash")->source == "a paper");
    CHECK(book.find("Second") == nullptr);
}

TEST_CASE("a mistake in a book is answered with its line") {
    check_message(error_of([] { static_cast<void>(read_book("# ---- A\n\na: y[i] = x[i]  # b\nc: y[i] = x[i\n")); }),
                  {"line 4", "missing at the end"});
    check_message(error_of([] { static_cast<void>(read_book("y[i] = x[i]\n")); }), {"line 1", "label"});
}

TEST_CASE("every line of the book says where it is from, and has a section and one label of its own") {
    std::set<std::string> labels;
    for (const BookLine& line : the_book().lines) {
        INFO(line.label);
        CHECK_FALSE(line.source.empty());
        CHECK_FALSE(line.section.empty());
        CHECK(labels.insert(line.label).second);
        CHECK((line.formula || !line.why_not.empty()));
        CHECK((line.kernel.empty() || line.computed_as.empty()));
        std::istringstream others(line.computed_as);
        for (std::string other; others >> other;) {
            if (other.ends_with(',')) other.pop_back();
            CHECK(the_book().find(other) != nullptr);
        }
        // What a person reads is translated.
        CHECK(std::string(asset_phrase(line.section).english()) == line.section);
        if (!line.why_not.empty()) CHECK(std::string(asset_phrase(line.why_not).english()) == line.why_not);
    }
    CHECK(labels.size() > 90);
}

TEST_CASE("the book names the kernel of each operation that has one, and what isn't made from its formula") {
    const std::map<std::string, Kernel> kernels = kernels_in_sources();
    CHECK(kernels.size() > 50);
    for (const BookLine& line : the_book().lines) {
        INFO(line.label << ", kernel: " << line.kernel);
        const auto found = kernels.find(line.label);
        CHECK(line.kernel == (found == kernels.end() ? "" : found->second.file));
        // An operation that is made from its formula may still say how it departs from it.
        if (found != kernels.end() && line.why_not.empty()) CHECK((line.formula && found->second.has_formula));
    }
}
