// Formulas one node away from another, and what they say of themselves.
#include "engine/formulas/book.h"
#include "engine/formulas/edits.h"
#include "engine/formulas/elaborate.h"
#include "engine/formulas/print.h"
#include "tests/catch.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

using namespace decoderscope::testing;
using namespace decoderscope::formulas;

namespace {

// Attention's scores, with axes.
Formula scores(Known& known) {
    known.operands["query"] = {{"batch", 2}, {"head", 4}, {"query", 5}, {"d_head", 3}};
    known.operands["key"] = {{"batch", 2}, {"key_head", 2}, {"key", 5}, {"d_head", 3}};
    known.constants = {{"group", 2.0}, {"d_model", 12.0}, {"d_head", 3.0}};
    return elaborate(the_book().formulas.at("scores"), known, the_book().functions);
}

const std::vector<std::string> kMistaken = {"d_model", "d_head"};

}  // namespace

TEST_CASE("edits of a formula say what the wrong program does") {
    Known known;
    const Formula formula = scores(known);
    std::set<std::string> said;
    for (const Edit& edit : edits(formula, known.constants, kMistaken)) said.insert(edit.sentence.english());
    for (const char* sentence :
         {"It divides by “√d_model”, not by “√d_head”.", "It does not divide by “√d_head”.",
          "It does not take the root of “d_head”.", "It multiplies by “√d_head” instead of dividing by it.",
          "It multiplies what is computed by 0.5.",
          "It multiplies by “key[b, h mod group, k, d]”, not by “key[b, h div group, k, d]”."}) {
        INFO(sentence);
        CHECK(said.contains(sentence));
    }
}

TEST_CASE("every edit of the book is another formula, and printed it is read as the same") {
    Known known;
    const Formula formula = scores(known);
    std::vector<Formula> all = {formula};
    for (const auto& [label, written] : the_book().formulas) all.push_back(written);
    std::size_t count = 0;
    for (const Formula& f : all)
        for (const Edit& edit : edits(f, known.constants, kMistaken)) {
            INFO(text_of(edit.formula));
            CHECK(!(edit.formula == f));
            CHECK(!edit.sentence.empty());
            if (++count % 7 == 0) CHECK(parse(text_of(edit.formula), the_book().functions) == edit.formula);
        }
    CHECK(count > 1000);
}

TEST_CASE("an expression of a formula is edited by its text, also inside a sum") {
    const Functions& functions = the_book().functions;
    const Formula formula = parse("y[b, q] = Σ_k x[b, q, k] · w[k] / √(mean_j x[b, q, j]² + eps)", functions);
    CHECK(text_of(edited(formula, "w[k]", "w[k + 1]", functions)) ==
          "y[b, q] = Σ_k x[b, q, k] · w[k + 1] / √(mean_j x[b, q, j]² + eps)");
    CHECK(edited(formula, "mean_i x[b, q, i]²", "Σ_k x[b, q, k]²", functions) ==
          parse("y[b, q] = Σ_k x[b, q, k] · w[k] / √((Σ_j x[b, q, j]²) + eps)", functions));
    CHECK(edited(formula, "w[q]", "w[k]", functions) == formula);
}

TEST_CASE("a formula of another's result reads it as a sub-result") {
    const Functions& functions = the_book().functions;
    const Formula twice =
        composed(parse("y[p, o] = Σ_i x[p, i] · W[o, i]"), parse("z[p, o] = relu(x[p, o])", functions), "x");
    CHECK(text_of(twice) == "z[p, o] = relu(made[p, o]) where made[p, o] = Σ_i x[p, i] · W[o, i]");
}
