// The book of formulas as pages: what the command prints.
#include "app/core/book/book_lines.h"
#include "app/core/run/scenario.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/core/cli/outcome.h"

#include <algorithm>
#include <string>

using namespace decoderscope::testing;

namespace {

bool is_ascii(const std::string& text) {
    return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 128; });
}

}  // namespace

TEST_CASE("the formulas as Markdown have every line of the book, with its formula and a link to its kernel") {
    const Outcome markdown = run({"formulas", "--markdown"});
    CHECK(markdown.status == 0);
    for (const formulas::BookLine& line : formulas::the_book().lines) {
        INFO(line.label);
        CHECK(markdown.out.find("**`" + std::string(line.label) + "`**") != std::string::npos);
        for (const std::string& row : book::rows_of(line))
            CHECK(markdown.out.find("\n    " + row) != std::string::npos);
    }
    CHECK(markdown.out.find("[engine/ops/softmax.cpp](../engine/ops/softmax.cpp)") != std::string::npos);
}

TEST_CASE("the formulas are printed with sources, kernels and tensors, in ASCII if asked") {
    const std::string text = run({"formulas"}).out;
    CHECK(text.find("---- Attention\n") != std::string::npos);
    CHECK(text.find("softmax\n    weight[…, k] = softmax_k(x[…, k])\n    from: torch.softmax\n"
                    "    kernel: engine/ops/softmax.cpp\n    tensors: ") != std::string::npos);
    CHECK(text.find("tensors: attn.pattern") != std::string::npos);
    CHECK_FALSE(is_ascii(text));
    const std::string ascii = run({"formulas", "--ascii"}).out;
    CHECK(is_ascii(ascii));
    CHECK(ascii.find("sum_") != std::string::npos);
    CHECK(run({"formulas", "reverse"}).status == 2);
}

TEST_CASE("lines of the book are found by words of their label, formula, source and section") {
    const auto labels = [](std::string_view typed) {
        std::vector<std::string> found;
        for (const formulas::BookLine* line : book::lines_matching(typed)) found.push_back(line->label);
        return found;
    };
    CHECK(labels("").size() == formulas::the_book().lines.size());
    CHECK(labels("Misra") == std::vector<std::string>{"mish"});
    CHECK(labels("masked_fill") == std::vector<std::string>{"fill"});
    CHECK(labels("linear bias[o]? heads") == std::vector<std::string>{"linear", "join_heads", "sum_heads"});
    CHECK(labels("sum_k pattern") == std::vector<std::string>{"z"});
    CHECK(labels("nobody wrote this").empty());
}

TEST_CASE("every computed step of the bundled models has its line in the book, gradients included") {
    for (const char* name : {"reverse", "experts", "causal-lm"}) {
        Scenario scenario = scenario_of(load::make_bundled_model(name));
        if (!scenario.inputs.tokens.empty()) scenario.gradient_target = "loss";
        const std::shared_ptr<const Plan> plan = plan_of(scenario);
        for (const Step& step : plan->steps()) {
            if (step.is_source()) continue;
            INFO(name << ": " << step.name);
            CHECK(book::line_of(step) != nullptr);
        }
    }
}

TEST_CASE("a line leads to the steps that it computes, the first one first") {
    const std::shared_ptr<const Plan> plan = plan_of(scenario_of(load::make_bundled_model("reverse")));
    const book::StepsByLine steps = book::steps_by_line(*plan);
    CHECK(steps.at("layernorm_scale").front() == plan->find("encoder.blocks.0.ln1.scale"));
    CHECK(book::line_of(*steps.at("layernorm_scale").front())->label == "layernorm_scale");
    CHECK(steps.at("softmax").front() == plan->find("encoder.blocks.0.attn.pattern"));
    CHECK(steps.at("softmax").back() == plan->find("probs"));
    CHECK_FALSE(steps.contains("softmax_sink"));
    CHECK_FALSE(steps.contains(""));
}
