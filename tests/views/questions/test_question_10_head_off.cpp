// Question 10: what changes if head 3 is off? One gesture on the default screen.
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/views/driver.h"
#include "tests/views/questions/output_by_hand.h"

#include <string>
#include <string_view>
#include <vector>

using namespace decoderscope;
using namespace decoderscope::core::lessons;
using namespace decoderscope::load;
using namespace decoderscope::views;
using namespace decoderscope::testing;

TEST_CASE("question 10: head 3 is switched off by its key, and a line says what that does to the output") {
    for (const std::string_view model : {kDefaultModel, std::string_view("causal-lm-as-meant")}) {
        INFO(model);
        Driver d(model);
        const std::string attention = d.session.step().attention;
        d.hands.tap(Key::digit_3, with_shift);
        d.settle();
        const Edit edit = ScaleHead{attention, 3, 0.0F};
        REQUIRE(d.session.scenario().edits == std::vector<Edit>{edit});
        const OutputByHand answer = output_by_hand(d.session.scenario(), edit);
        CHECK(answer.largest > 0.0);
        INFO(answer.sentence());
        CHECK(d.sees(answer.sentence()));
    }
}

TEST_CASE("question 10: the predictions that change are the ones that the line names") {
    Driver d("induction");  // its head 3 is the induction head
    d.hands.tap(Key::digit_3, with_shift);
    d.settle();
    const OutputByHand answer = output_by_hand(d.session.scenario(), d.session.scenario().edits.front());
    REQUIRE(answer.changed > 0);
    CHECK(d.sees("“" + answer.before + "”→“" + answer.after + "”"));
}
