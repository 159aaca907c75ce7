// A batch row computed alone is that row of the batch, with the edits that reach it.
#include "app/core/run/slice.h"
#include "app/core/session/session.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/core/session/apply.h"

#include <cmath>

using namespace decoderscope::testing;

namespace {

// Every recorded tensor of `one` is the row of `all`.
void check_row(const Run& all, const Run& one, Index row) {
    std::size_t compared = 0;
    for (const Step& step : one.plan().steps()) {
        const Tensor& alone = one.value(step.id);
        if (step.role != Role::recorded || alone.empty() || step.axes.empty() || step.axes[0].name != axis::batch)
            continue;
        const Tensor& batch = all.value(step.name);
        REQUIRE(batch.size() == alone.size() * batch.dim(0));
        double off = 0.0, scale = 1.0;
        for (Index i = 0; i < alone.size(); ++i) {
            const double here = alone.data()[i], there = batch.data()[row * alone.size() + i];
            if (std::isnan(here) && std::isnan(there)) continue;
            if (here == there) continue;  // −∞, too
            scale = std::max(scale, std::abs(there));
            off = std::max(off, std::abs(here - there));
        }
        INFO(step.name << ", row " << row);
        CHECK(off <= 1e-5 * scale);
        ++compared;
    }
    CHECK(compared > 15);
}

}  // namespace

TEST_CASE("a batch row alone has the numbers that it has in the batch, of every bundled model") {
    std::size_t rows = 0;
    for (const BundledModel& model : bundled_models()) {
        INFO(model.name);
        Scenario scenario = scenario_of(make_bundled_model(model.name));
        if (scenario.batch() == 1) {
            CHECK_FALSE(only_row(scenario, *plan_of(scenario), 0));
            continue;
        }
        const std::string attention = "blocks.0.attn";
        scenario.edits = {MaskEdit{attention, 1, 0, 3, 1, false}, MaskEdit{attention, std::nullopt, 1, 2, 0, false},
                          ScaleHead{attention, 0, 0.5F}, SetCell{attention + ".z", {1, 0, 2, 0}, 4.0F}};
        const auto all = execute(plan_of(scenario));
        for (Index row = 0; row < scenario.batch(); ++row) {
            const std::optional<Scenario> one = only_row(scenario, all->plan(), row);
            REQUIRE(one);
            CHECK(one->edits.size() == (row == 1 ? 4 : 2));
            check_row(*all, *execute(plan_of(*one)), row);
            ++rows;
        }
    }
    CHECK(rows > 6);
}

TEST_CASE("rows that may not be independent are not taken apart") {
    Scenario scenario = scenario_of(make_bundled_model("dates"));
    const auto alone = [&] { return only_row(scenario, *plan_of(scenario), 0); };
    REQUIRE(alone());
    scenario.dropout_seed = 1;
    CHECK_FALSE(alone());
    scenario.dropout_seed.reset();
    scenario.mutation = "no-scale";
    CHECK_FALSE(alone());
}

// The colours of a row of one's own follow from its numbers.

namespace {

Heatmap drawn(const std::string& formula) {
    Session session(load::make_bundled_model("reverse"));
    apply(session, command::MakeEdit{AddRow{"row", "", formula}, {"row"}});
    const Run& run = *session.shown().run;
    return heatmap_of(session.shown().scenario, run, *run.plan().find("row"), {});
}

}  // namespace

TEST_CASE("a row without negative numbers is coloured from 0, any other about 0") {
    const Heatmap conditions = drawn("logits > 0");
    CHECK(std::ranges::count(conditions.values, 1.0F) > 0);
    CHECK(std::ranges::count(conditions.values, 0.0F) > 0);
    CHECK(conditions.scale == Scale::sequential);
    CHECK(conditions.range == Range{0.0F, 1.0F});
    CHECK(drawn("logits > 1e9").range == Range{0.0F, 1.0F});  // all 0
    const Heatmap squares = drawn("logits * logits");
    CHECK(squares.scale == Scale::sequential);
    CHECK(squares.range.low == 0.0F);
    const Heatmap any = drawn("(logits > 0) - 0.25");
    CHECK(any.scale == Scale::diverging);
    CHECK(any.range == Range{-0.75F, 0.75F});
}
