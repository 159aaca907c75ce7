// How far a picture is zoomed in belongs to the model that it is of.
#include "tests/catch.h"
#include "tests/views/driver.h"

#include <algorithm>

using namespace decoderscope;
using namespace decoderscope::testing;

TEST_CASE("another model's pictures are shown whole, though its steps have the same names and numbers") {
    Driver d("causal-lm-as-meant");
    d.settle();
    REQUIRE_FALSE(d.state.viewports.empty());
    for (auto& [key, view] : d.state.viewports) view.zoom = 3.0F;
    d.settle();
    CHECK(std::ranges::any_of(d.state.viewports, [](const auto& one) { return one.second.zoom == 3.0F; }));
    d.session.apply(command::OpenModel{"causal-lm", {}, {}});
    d.session.finish();
    d.settle();
    for (const auto& [key, view] : d.state.viewports) CHECK(view.zoom == 1.0F);
}
