// The colours of a row of one's own follow from its numbers.
#include "app/core/run/slice.h"
#include "app/core/session/session.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/core/session/apply.h"

using namespace decoderscope;
using namespace decoderscope::core;
using decoderscope::testing::apply;

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
