// A talk of eight states given twice, edited in between, and a picture said in words.
#include "app/core/figure/said.h"
#include "app/views/dialogs/talk.h"
#include "tests/catch.h"
#include "tests/views/driver.h"
#include "tests/views/layout_check.h"

#include <string>
#include <utility>
#include <vector>

using namespace decoderscope;
using namespace decoderscope::views;
using decoderscope::testing::Driver;

TEST_CASE("a talk of eight states is given twice, with edits in between") {
    Driver d("reverse");
    std::vector<std::pair<std::string, Index>> shown;
    for (Index i = 0; i < 8; ++i) {
        d.session.apply(core::command::GoTo{i < 4 ? "blocks.0.attn.pattern" : "blocks.1.cross_attn.pattern"});
        d.session.apply(core::command::ChooseHead{i % 4});
        d.press(Key::f10);
        shown.emplace_back(d.session.step().name, d.session.cursor().place.head);
    }
    REQUIRE(d.session.talk().size() == 8);
    for (int time = 0; time < 2; ++time) {
        d.press(Key::f11);
        if (time == 1)
            for (int i = 0; i < 7; ++i) d.press(Key::page_up);
        for (std::size_t i = 0; i < 8; ++i) {
            d.settle();
            INFO(i);
            CHECK(d.session.step().name == shown[i].first);
            CHECK(d.session.cursor().place.head == shown[i].second);
            CHECK(d.session.scenario().edits.empty());
            CHECK(d.sees(std::to_string(i + 1) + "/8"));
            if (i == 3) {  // an edit, and a wrong turn
                d.session.apply(core::command::ScaleHeadTo{"blocks.0.attn", 0, 0.0F});
                d.session.apply(core::command::GoTo{"logits"});
                d.settle();
                d.press(Key::enter);
                d.settle();
                CHECK(d.session.scenario().edits.empty());
                CHECK(d.session.step().name == shown[i].first);
            }
            d.press(i % 2 == 0 ? Key::right : Key::page_down);
        }
        d.settle();
        CHECK(d.session.step().name == shown[7].first);  // the last one stays
        d.press(Key::escape);
        CHECK_FALSE(d.state.presenting);
    }
}

TEST_CASE("F9 says the picture, and what it says follows it") {
    Driver d("reverse");
    d.press(Key::f9);
    d.settle();
    const auto said = [&] {
        return d.session.step().name + ",batch0,head" + std::to_string(d.session.cursor().place.head);
    };
    CHECK(d.sees(said()));
    d.session.apply(core::command::ChooseHead{2});
    d.settle();
    CHECK(d.sees(said()));
    d.session.apply(core::command::GoTo{"logits"});
    d.settle();
    CHECK(d.sees("logits,batch0"));
    d.press(Key::f9);
    d.settle();
    CHECK_FALSE(d.sees("Thelargest"));
}
