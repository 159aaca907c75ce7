// Expressions over a run: what they come to, and what is said about a mistake.
#include "app/core/lessons/evaluate.h"
#include "app/core/run/scenario.h"
#include "engine/base/error.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"

#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace decoderscope::testing;
using namespace decoderscope::core::lessons;
using namespace decoderscope::load::names;

namespace {

Scenario letters() {
    return changed(decoderscope::core::scenario_of(make_bundled_model("induction")), parse_changes("target=abcab"));
}

// Expressions on one run.
struct Calculator {
    std::shared_ptr<const Scenario> opened = std::make_shared<const Scenario>(letters());
    Runs runs{*opened, nullptr, opened};

    lessons::Value value(const std::string& text) { return evaluate(*parse_expression(text), {runs, nullptr}); }
    double number(const std::string& text) { return number_of(value(text)); }
    std::string error(const std::string& text) {
        try {
            static_cast<void>(value(text));
        } catch (const Error& wrong) {
            return wrong.what();
        }
        return "";
    }
};

}  // namespace

TEST_CASE("arithmetic has the usual ranks") {
    Calculator c;
    CHECK(c.number("1 + 2 * 3 ^ 2") == 19.0);
    CHECK(c.number("-2 ^ 2") == -4.0);
    CHECK(c.number("(1 + 2) * 3 - 4 / 2") == 7.0);
    CHECK(c.number("2 - 3 - 4") == -5.0);
    CHECK(c.number("1 < 2 and not 3 <= 2 or 0") == 1.0);
    CHECK(c.number("-1e-3 * 2e3") == Approx(-2.0));
    CHECK(std::isinf(c.number("-inf")));
    CHECK(c.number("if(1 > 2, 5, 6)") == 6.0);
}

TEST_CASE("words that formulas keep for themselves may be names, and texts are as they are written") {
    Calculator c;
    const Lets lets = {
        {"mod", parse_expression("2")}, {"from", parse_expression("3")}, {"sum_k", parse_expression("4")}};
    const auto value = [&](const char* text) { return evaluate(*parse_expression(text), {c.runs, nullptr, &lets}); };
    CHECK(number_of(value("mod * from + sqrt(sum_k)")) == 8.0);
    CHECK(number_of(value("each(where, 3, where)[2] == 2")) == 1.0);
    CHECK(text_of(value("'a\n ; \tb [x] \"y\"'")) == "a\n ; \tb [x] \"y\"");
    CHECK(number_of(value("'or' == 'or' and 'or' != 'and'")) == 1.0);
}

TEST_CASE("NaN is the largest of nothing, and a prediction that it takes is a changed one") {
    const auto opened = std::make_shared<const Scenario>(letters());
    Scenario edited = *opened;
    edited.edits = {SetCell{"logits", {0, 2, 5}, std::nanf("")}};
    Runs runs(edited, nullptr, opened);
    const auto number = [&](const char* text) { return number_of(evaluate(*parse_expression(text), {runs, nullptr})); };
    CHECK(number("predictions_changed()") == 1.0);
    CHECK(std::isnan(number("argmax(logits[0, 2, :])")));
    CHECK(std::isnan(number("max(logits[0, 2, :])")));
    CHECK(number("argmax(logits[0, 1, :]) == before(argmax(logits[0, 1, :]))") == 1.0);
    Runs unedited(*opened, nullptr, opened);
    CHECK(number_of(evaluate(*parse_expression("predictions_changed()"), {unedited, nullptr})) == 0.0);
}

TEST_CASE("a name is a tensor of the run, and an index a part of it") {
    Calculator c;
    const Run& run = *c.runs.now().run;
    const Tensor& pattern = run.value("blocks.1.attn.pattern");
    const std::array<Index, 4> cell = {0, 3, 4, 2};
    CHECK(c.number("blocks.1.attn.pattern[0, 3, 4, 2]") == static_cast<double>(pattern.at(cell)));
    CHECK(c.number("blocks.1.attn.pattern[0, -1, 4, 2]") == c.number("blocks.1.attn.pattern[0, 3, 4, 2]"));
    CHECK(c.number("sum(blocks.1.attn.pattern[0, 3, 4, :])") == Approx(1.0).margin(1e-6));
    CHECK(c.number("size(blocks.1.attn.pattern[0, :, 4, :], 'head')") == 4.0);
    CHECK(c.number("size(blocks.1.attn.pattern)") == static_cast<double>(pattern.size()));
    CHECK(c.number("sum(blocks.0.attn.mask[0, 0, :, :])") == 21.0);  // six positions: 1 + … + 6
    // A row of it by hand: softmax of the masked scores.
    CHECK(c.number("max(abs(softmax(blocks.1.attn.masked_scores[0, 2, 4, :]) - blocks.1.attn.pattern[0, 2, 4, :]))") <
          1e-6);
    CHECK(c.number("probs[0, 5, 'c']") == c.number("probs[0, 5, id('c')]"));
    CHECK(c.number("embed.weight[id('a'), 3]") == c.number("embed[0, 1, 3]"));
}

TEST_CASE("functions of vectors agree with their definitions") {
    Calculator c;
    CHECK(c.number("norm(each(i, 2, 3 + i))") == 5.0);
    CHECK(c.number("argmax(each(i, 5, 0 - (i - 3) ^ 2))") == 3.0);
    CHECK(c.number("mean(each(i, 4, i))") == 1.5);
    CHECK(c.number("dot(each(i, 3, i), each(i, 3, 2))") == 6.0);
    CHECK(c.number("cosine(each(i, 2, i), each(i, 2, 1 - i))") == 0.0);
    CHECK(c.number("correlation(each(i, 4, i), each(i, 4, 7 - 2 * i))") == Approx(-1.0));
    CHECK(c.number("entropy(softmax(each(i, 8, 0)))") == Approx(std::log(8.0)));
    CHECK(c.number("count(each(i, 6, i > 3))") == 2.0);
    CHECK(c.number("any(each(i, 3, 0)) + all(each(i, 3, 1))") == 1.0);
    CHECK(c.number("size(diagonal(blocks.0.attn.mask[0, 0, :, :], -1))") == 5.0);
    CHECK(c.number("sum(diagonal(blocks.0.attn.mask[0, 0, :, :], 1))") == 0.0);
    CHECK(c.number("isnan(sqrt(-1))") == 1.0);
}

TEST_CASE("texts are those of the window") {
    Calculator c;
    CHECK(text_of(c.value("token(2)")) == "b");
    CHECK(text_of(c.value("word(id('q'))")) == "q");
    CHECK(c.number("find('a', 1)") == 4.0);
    CHECK(c.number("find('z')") == -1.0);
    CHECK(c.number("length()") == 6.0);
    CHECK(c.number("config('nhead')") == 4.0);
    CHECK(c.number("config('norm_first')") == 1.0);
    CHECK(c.number("token(1) == 'a'") == 1.0);
}

TEST_CASE("other runs: with changes, and before the learner's") {
    Calculator c;
    const std::string off =
        R"(with('[{"edit": "scale_head", "attention": "blocks.0.attn", "head": 1, "factor": 0}]', )";
    CHECK(c.number(off + "norm(blocks.0.attn.z[0, 1, :, :]))") == 0.0);
    CHECK(c.number("norm(blocks.0.attn.z[0, 1, :, :])") > 0.0);
    CHECK(c.number(off + "max(abs(probs - before(probs))))") > 0.0);
    CHECK(c.number("max(abs(probs - before(probs)))") == 0.0);
    CHECK(c.number("with('causal=false', sum(blocks.0.attn.mask[0, 0, :, :]))") == 36.0);
    CHECK(c.number("with('mutation=causal-one-too-far', blocks.0.attn.mask[0, 0, 0, 1])") == 1.0);
    CHECK(c.number("with('target=abcabc', length())") == 7.0);
    CHECK(c.number("with('gradients_of=loss', norm(grad.embed)) > 0") == 1.0);
    CHECK(c.number("max(abs(logit_lens.blocks.1.probs - probs))") < 1e-6);
    CHECK(c.number("edits()") == 0.0);

    Runs edited(changed(*c.opened, parse_changes(R"([{"edit": "scale_head", "attention": "blocks.0.attn", "head": 1,
                                                       "factor": 0}])")),
                nullptr, c.opened);
    const Scope scope{edited, nullptr};
    CHECK(number_of(evaluate(*parse_expression("edits()"), scope)) == 1.0);
    CHECK(number_of(evaluate(*parse_expression("norm(blocks.0.attn.z[0, 1, :, :])"), scope)) == 0.0);
    CHECK(number_of(evaluate(*parse_expression("before(norm(blocks.0.attn.z[0, 1, :, :]))"), scope)) > 0.0);
}

TEST_CASE("each change may be on a line of its own") {
    const Changes changes = parse_changes(
        "target=ab\n ; \t[{\"edit\": \"scale_head\", \"attention\": "
        "\"blocks.0.attn\", \"head\": 1, \"factor\": 0}]\n ; causal=false\n");
    CHECK(changes.target == "ab");
    CHECK(changes.edits.size() == 1);
    CHECK(changes.set == Overrides{{"causal", "false"}});
}

TEST_CASE("a mistake in an expression is named") {
    Calculator c;
    CHECK(c.error("1 +").find("a number or a name is missing at the end") != std::string::npos);
    CHECK(c.error("max(1").find("“)” is missing at the end") != std::string::npos);
    CHECK(c.error("blocks.9.attn.z").find("blocks.9.attn.z") != std::string::npos);
    CHECK(c.error("probs[0, 99, 0]").find("expected less than 6") != std::string::npos);
    CHECK(c.error("probs[0, 1]").find("[batch, pos, vocab]") != std::string::npos);
    CHECK(c.error("nearly(1)").find("nearly") != std::string::npos);
    CHECK(c.error("max(1, 2)").find("max") != std::string::npos);
    CHECK(c.error("'a' + 1").find("'a' is a text") != std::string::npos);
    CHECK(c.error("id('ü')").find("ü") != std::string::npos);
    CHECK(c.error("with('no_such_key=1', 1)").find("no_such_key") != std::string::npos);
    CHECK(c.error("each(i, 2, 1) + each(i, 3, 1)").find("same shape") != std::string::npos);
    CHECK_FALSE(c.error(std::string(5000, '(')).empty());
    for (const auto& [first, again] : std::vector<std::pair<std::string, std::string>>{{"1", " + 1"},
                                                                                       {"1", " * 1"},
                                                                                       {"1", " or 1"},
                                                                                       {"1", " and 1"},
                                                                                       {"1", " == 1"},
                                                                                       {"probs", "[0]"},
                                                                                       {"1", " ^ 1"},
                                                                                       {"", "- "},
                                                                                       {"", "not "},
                                                                                       {"", "("},
                                                                                       {"", "max("},
                                                                                       {"x", "[x"}}) {
        std::string text = first;
        for (int i = 0; i < 100'000; ++i) text += again;
        INFO(again);
        CHECK(c.error(text).find("the formula is too long") != std::string::npos);
    }
    Lets doubled = {{"a0", parse_expression("1")}};
    for (int i = 1; i < 35; ++i) {
        const std::string before = "a" + std::to_string(i - 1);
        doubled.emplace("a" + std::to_string(i), parse_expression(before + " + " + before));
    }
    CHECK(number_of(evaluate(*parse_expression("a10"), {c.runs, nullptr, &doubled})) == 1024.0);
    CHECK_THROWS_AS(static_cast<void>(evaluate(*parse_expression("a34"), {c.runs, nullptr, &doubled})), Error);
    CHECK(c.error("sum(each(i, 4000, sum(each(j, 4000, i * j))))").find("too long to compute") != std::string::npos);
    Lets circle = {{"a", parse_expression("b + 1")}, {"b", parse_expression("a + 1")}};
    CHECK_THROWS_AS(static_cast<void>(evaluate(*parse_expression("a"), {c.runs, nullptr, &circle})), Error);
}

TEST_CASE("numbers in a text have the format that was asked for") {
    CHECK(shown_text(single(0.123456), parse_format("2")) == "0.12");
    CHECK(shown_text(single(0.123456), parse_format("% 1")) == "12.3 %");
    CHECK(shown_text(single(2.0), parse_format("1 signed")) == "+2.0");
    CHECK(shown_text(single(42.0)) == "42");
    CHECK(shown_text(single(-0.5), parse_format("1")) == "−0.5");
    CHECK_THROWS_AS(static_cast<void>(parse_format("many")), Error);
}
