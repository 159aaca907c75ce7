// The terms of an explanation by name, and in groups whose sums add up to the cell.
#include "app/core/report/html_page.h"
#include "app/core/run/labels.h"
#include "app/core/tabs/step/explanation_text.h"
#include "app/core/text/characters.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/core/tabs/step/shown_run.h"

#include <cmath>
#include <set>

using namespace decoderscope::testing;
using namespace decoderscope::core::report;
using namespace decoderscope::core::step;

namespace {

// The terms under some entries, each counted once; checks that every group is the sum of its parts.
double add_up(const Line& line, const std::vector<TermPart>& parts, std::multiset<std::size_t>& terms) {
    double sum = 0.0;
    for (const TermPart& part : parts) {
        if (part.term) {
            CHECK(part.parts.empty());
            CHECK(part.count == 1);
            CHECK(part.value == line.terms[*part.term].value);
            terms.insert(*part.term);
        } else {
            std::multiset<std::size_t> inside;
            CHECK(add_up(line, part.parts, inside) == Approx(part.value).margin(1e-9));
            CHECK(inside.size() == part.count);
            CHECK_FALSE(part.name.empty());
            terms.insert(inside.begin(), inside.end());
        }
        sum += part.value;
    }
    return sum;
}

std::string token_at(const ShownRun& run, const Tensor& tokens, Index position) {
    const Tokenizer& tokenizer =
        &tokens == &run.scenario.inputs.encoder_tokens ? run.scenario.encoder_tokenizer() : run.scenario.tokenizer();
    return "“" + printable(tokenizer.piece(static_cast<Index>(tokens.at(Cell{0, position})))) + "”";
}

}  // namespace

TEST_CASE("at every step, the entries of a line hold each of its terms once and add up to it") {
    for (const char* model : {"reverse", "reverse-post-norm", "verses", "causal-lm"}) {
        const ShownRun run = shown_run(model, {"*"});
        for (const Step& step : run.run->plan().steps()) {
            if (run.run->value(step.id).empty()) continue;
            Cell cell;  // somewhere inside
            for (const Axis& axis : step.axes) cell.push_back(axis.size / 3);
            INFO(model << ": " << step.name);
            const ReadExplanation read = read_explanation(run.scenario, *run.run, step, cell);
            REQUIRE(read.lines.size() == read.explanation.lines.size());
            for (std::size_t i = 0; i < read.lines.size(); ++i) {
                const Line& line = read.explanation.lines[i];
                std::multiset<std::size_t> terms;
                const double sum = add_up(line, read.lines[i], terms);
                if (std::isfinite(line.value)) CHECK(sum == Approx(line.value).margin(1e-9));
                CHECK(terms.size() == line.terms.size());
                CHECK(std::set<std::size_t>(terms.begin(), terms.end()).size() == line.terms.size());
                CHECK(read.lines[i].size() <= std::max<std::size_t>(kMostTerms + 10, 1));
            }
        }
    }
}

TEST_CASE("the terms of a weight name their keys with their tokens") {
    const ShownRun run = shown_run("reverse");
    const Step& pattern = *run.run->plan().find("blocks.0.cross_attn.pattern");
    const ReadExplanation read = read_explanation(run.scenario, *run.run, pattern, {0, 1, 2, 3});
    REQUIRE(read.lines.size() == 3);  // max, Σ exp, weight
    const Tensor& source = run.scenario.inputs.encoder_tokens;
    std::vector<const TermPart*> singles;
    for (const TermPart& part : read.lines[1])
        if (part.term) singles.push_back(&part);
    REQUIRE_FALSE(singles.empty());
    for (const TermPart* part : singles) {
        const Index key = read.explanation.lines[1].terms[*part->term].factors[0].cell->cell[3];
        CHECK(part->name == "key " + std::to_string(key) + " " + token_at(run, source, key));
    }
    // The highest score: of which key?
    const Index highest = read.explanation.lines[0].terms[0].factors[0].cell->cell[3];
    CHECK(read.lines[0].front().name == "key " + std::to_string(highest) + " " + token_at(run, source, highest));
    CHECK(read.lines[2].front().name == "key 3 " + token_at(run, source, 3));
}

TEST_CASE("what the heads add is grouped by head, and a head opens to its columns") {
    const ShownRun run = shown_run("reverse", {"*"});
    const Plan& plan = run.run->plan();
    const ReadExplanation read = read_explanation(run.scenario, *run.run, *plan.find("blocks.0.attn_out"), {0, 2, 5});
    REQUIRE(read.lines.size() == 1);
    double heads = 0.0;
    for (const TermPart& part : read.lines.front()) {
        if (part.term) {
            CHECK(part.name == "layers.0.self_attn.o_proj.bias");
            continue;
        }
        ++heads;
        CHECK(part.count == 16);
        // The same number, computed as the head's own tensor.
        const Index head = part.name.back() - '0';
        CHECK(part.name == "head " + std::to_string(head));
        CHECK(part.value == Approx(run.run->value("blocks.0.attn.result").at(Cell{0, head, 2, 5})).margin(1e-6));
        REQUIRE(part.parts.size() > kMostTerms);
        CHECK(part.parts.front().name.starts_with("d_head "));
    }
    CHECK(heads == 4);
}

TEST_CASE("beyond the ten largest, terms along columns are grouped by blocks of them") {
    const ShownRun run = shown_run("reverse");
    const ReadExplanation read =
        read_explanation(run.scenario, *run.run, *run.run->plan().find("blocks.0.mlp.pre"), {0, 2, 5});
    const std::vector<TermPart>& parts = read.lines.front();
    REQUIRE(parts.size() > kMostTerms);
    for (std::size_t i = 0; i < kMostTerms; ++i) {
        CHECK(parts[i].term);
        if (i > 0) CHECK(std::abs(parts[i].value) <= std::abs(parts[i - 1].value));
    }
    std::size_t grouped = 0;
    for (std::size_t i = kMostTerms; i < parts.size(); ++i) grouped += parts[i].count;
    CHECK(grouped == read.explanation.lines.front().terms.size() - kMostTerms);
    const auto block = std::ranges::find_if(parts, [](const TermPart& part) { return !part.term; });
    REQUIRE(block != parts.end());
    CHECK(block->name == "d_model 0 to 7");
}

TEST_CASE("a cell's place names its tokens, and leaves out axes of one") {
    const ShownRun run = shown_run("reverse");
    const Step& scores = *run.run->plan().find("blocks.1.cross_attn.attn_scores");
    CHECK(place_text(run.scenario, scores, {0, 3, 1, 2}) ==
          "batch 0, head 3, query 1 " + token_at(run, run.scenario.inputs.tokens, 1) + ", key 2 " +
              token_at(run, run.scenario.inputs.encoder_tokens, 2));
}

TEST_CASE("an explanation goes down along the largest terms, each cell once") {
    const ShownRun run = shown_run("reverse");
    const Step& pattern = *run.run->plan().find("blocks.0.cross_attn.pattern");
    const ExplainedCells one = explained_cells(run.scenario, *run.run, pattern, {0, 1, 2, 3}, 1);
    REQUIRE(one.cells.size() == 1);
    CHECK(one.cells.front().name == "blocks.0.cross_attn.pattern[0, 1, 2, 3]");
    const ExplainedCells three = explained_cells(run.scenario, *run.run, pattern, {0, 1, 2, 3}, 3);
    std::set<std::string> names, steps;
    for (const ExplainedCell& cell : three.cells) {
        CHECK(names.insert(cell.name).second);
        steps.insert(cell.step->name);
        CHECK_FALSE(cell.step->is_source());
    }
    CHECK(steps == std::set<std::string>{"blocks.0.cross_attn.pattern", "blocks.0.cross_attn.masked_scores",
                                         "blocks.0.cross_attn.attn_scores", "blocks.0.cross_attn.mask"});
}
