// While a run is under way, what explains a number belongs to the plan that is shown.
#include "app/core/tabs/step/shown_step.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"

using namespace decoderscope;
using namespace decoderscope::core;
using namespace decoderscope::core::step;

namespace {

// Every cell that an explanation leads to is a cell of the shown step's operand.
void check_links(const Snapshot& shown, const Step& step, const Explanation& explanation) {
    const auto check = [&](const Factor& factor) {
        if (!factor.cell) return;
        REQUIRE(factor.cell->operand < step.operands.size());
        const Step& operand = shown.run->plan()[step.operands[factor.cell->operand]];
        CHECK(operand.axes.size() == factor.cell->cell.size());
        CHECK(shown.run->value(operand.id).contains(factor.cell->cell));
    };
    for (const Line& line : explanation.lines) {
        for (const Term& term : line.terms) std::ranges::for_each(term.factors, check);
        std::ranges::for_each(line.given, check);
    }
}

}  // namespace

TEST_CASE("an explanation is of the plan that is shown, though the next run has the step, computed in another way") {
    const Scenario plain = scenario_of(load::make_bundled_model("simple-decoder"));
    Scenario by_results = plain;
    by_results.edits = {SetCell{"blocks.0.attn.result", {0, 0, 0, 0}, 0.5F}};
    for (const auto& [now, next] : {std::pair(by_results, plain), std::pair(plain, by_results)}) {
        Snapshot shown{.scenario = now, .run = execute(plan_of(now))};
        shown.unedited = shown.run;
        shown.early = execute(plan_of(next));
        Derived derived;
        for (const Step& step : shown.run->plan().steps()) {
            if (step.is_source() || shown.run->value(step.id).empty()) continue;
            CAPTURE(step.name);
            const Cell cell(step.axes.size(), 0);
            check_links(shown, step, *shown_explanation(derived, shown, step, cell));
            const Value<ReadExplanation> read = shown_terms(derived, shown, step, cell);
            check_links(shown, step, read->explanation);
        }
    }
}

TEST_CASE("a step that both plans compute alike is shown from the run under way") {
    const Scenario plain = scenario_of(load::make_bundled_model("simple-decoder"));
    Scenario edited = plain;
    edited.edits = {ScaleHead{"blocks.0.attn", 0, 0.0F}};
    const Snapshot shown{
        .scenario = plain, .run = execute(plan_of(plain)), .unedited = nullptr, .early = execute(plan_of(edited))};
    CHECK(&shown.run_of(*shown.run->plan().find("blocks.0.attn_out")) == shown.early.get());
}
