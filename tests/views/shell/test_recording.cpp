// The window on a run that recorded only some tensors.
#include "app/views/shell/lab.h"
#include "tests/catch.h"
#include "tests/views/driver.h"

using namespace decoderscope;
using decoderscope::testing::Driver;

TEST_CASE("every tab and every step can be shown if only part of a run is recorded") {
    for (const char* model : {"causal-lm-as-meant", "post-ln-encdec", "reverse"}) {
        INFO(model);
        Driver d{std::string_view(model)};
        d.session.apply(command::SetRecording{Recording::patterns});
        d.session.finish();
        CHECK_FALSE(d.session.shown().run->value("blocks.0.mlp.pre").is_ready());
        for (const Lab& lab : labs()) {
            d.state.tab = lab.id;
            d.settle();
            CHECK_FALSE(d.seen().empty());
        }
        d.state.tab = kStepLab;
        d.settle();
        const std::vector<StepId> timeline = d.session.timeline();
        for (const StepId id : timeline) {
            const std::string name = d.session.shown().run->plan()[id].name;
            INFO(name);
            d.session.apply(command::GoTo{name});
            d.settle();
            CHECK_FALSE(d.session.shown().run->value(name).empty());
            CHECK(d.sees(name));
        }
    }
}
