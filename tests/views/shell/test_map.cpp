// The map and the timeline: every row leads somewhere, is explained, and shows how far an edit reaches.
#include "app/core/tabs/diff/transformer_lens.h"
#include "tests/catch.h"
#include "tests/views/driver.h"
#include "tests/views/layout_check.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

using namespace decoderscope;
using namespace decoderscope::core::diff;
using namespace decoderscope::core::lessons;
using namespace decoderscope::core;
using namespace decoderscope::views;
using namespace decoderscope::testing;

namespace {

// The piece of text in the map that is exactly this.
std::optional<DrawnText> in_map(const Driver& d, std::string_view text, float scale = 1.0F) {
    for (const DrawnText& piece : d.seen())
        if (piece.text == text && piece.high.x < d.state.settings.map_width * scale) return piece;
    return std::nullopt;
}

// Whether a row of the map carries the mark of a change.
bool is_marked(const Driver& d, const DrawnText& row) {
    for (const DrawnText& piece : d.seen())
        if (piece.text.ends_with("Δ") && piece.high.x < d.state.settings.map_width &&
            std::abs(piece.middle().y - row.middle().y) < 8.0F)
            return true;
    return false;
}

}  // namespace

TEST_CASE("every step of the opened part is a click away, the first one, too") {
    Driver d;
    REQUIRE(d.session.cursor().step == "blocks.0.attn.pattern");
    for (const char* name : {"q", "k", "z", "q"}) {
        const auto row = in_map(d, name);
        REQUIRE(row);
        d.click(row->middle());
        CHECK(d.session.cursor().step == std::string("blocks.0.attn.") + name);
    }
}

TEST_CASE("a step's name in the map explains the step") {
    Driver d;
    const auto row = in_map(d, "z");
    REQUIRE(row);
    d.point(row->middle());
    const Plan& plan = d.session.shown().run->plan();
    const Step& step = *plan.find("blocks.0.attn.z");
    CHECK(d.sees("TransformerLens:" + transformer_lens_name(plan, step)));
    CHECK(d.sees(without_spaces(std::string(step.operation.about().formula.substr(0, 10)))));
    const std::string teaches(step.operation.about().teaches);
    CHECK(d.sees(without_spaces(teaches.substr(0, 12))));
    CHECK(d.sees(without_spaces(shape_text(step.axes))));
}

TEST_CASE("encoder and decoder have their names over their blocks, in the map and in the timeline") {
    Driver d("reverse");
    d.hands.tap(Key::home);
    d.settle();
    const auto encoder = in_map(d, "Encoder"), decoder = in_map(d, "Decoder");
    REQUIRE(encoder);
    REQUIRE(decoder);
    const auto first = in_map(d, "encoder.blocks.0"), last = in_map(d, "blocks.0");
    REQUIRE(first);
    REQUIRE(last);
    CHECK(encoder->high.y < first->low.y);
    CHECK(first->high.y < decoder->low.y);
    CHECK(decoder->high.y < last->low.y);
    int in_timeline = 0;
    for (const DrawnText& piece : d.seen())
        in_timeline += (piece.text == "Encoder" || piece.text == "Decoder") && piece.low.y > 700 ? 1 : 0;
    CHECK(in_timeline == 2);
    Driver alone;
    CHECK_FALSE(in_map(alone, "Decoder"));
}

TEST_CASE("an edit marks the steps that it reaches, and one line says what it did to the output") {
    Driver d("causal-lm-as-meant", 1.0F, {1920, 1080});
    CHECK_FALSE(d.sees("Δ"));
    CHECK_FALSE(d.sees("movedbyatmost"));
    d.hands.tap(Key::digit_3, with_shift);
    d.settle();
    for (const auto& [name, changed] : {std::pair("q", false), std::pair("pattern", false), std::pair("z", true)}) {
        const auto row = in_map(d, name);
        REQUIRE(row);
        INFO(name);
        CHECK(is_marked(d, *row) == changed);
    }
    for (const char* block : {"blocks.1", "blocks.4"}) {
        const auto row = in_map(d, block);
        REQUIRE(row);
        CHECK(is_marked(d, *row));
    }
    CHECK(d.sees("logitsmovedbyatmost"));
    CHECK(d.sees("tensorschanged,firstblocks.0.attn.z"));
    d.hands.tap(Key::z, with_ctrl);
    d.settle();
    CHECK_FALSE(d.sees("movedbyatmost"));
    CHECK_FALSE(d.sees("Δ"));
}

TEST_CASE("with the marks of an edit, map and timeline neither overlap nor leave the window") {
    for (const Screen& screen : kScreens) {
        for (const char* model : {"reverse", "verses", "simple-decoder"}) {
            Driver d(model, screen.scale, screen.size);
            d.session.apply(command::ScaleHeadTo{"blocks.0.attn", 0, 0.0F});
            d.session.finish();
            d.settle();
            INFO(model << " at scale " << screen.scale);
            check_layout(d, screen.size);
        }
    }
}

TEST_CASE("in a narrow map no two rows of a block read alike, and no name runs under a block's stripes") {
    Driver d("reverse", 1.0F, {1024, 768});
    d.session.apply(command::GoTo{"blocks.1.cross_attn.pattern"});
    d.settle();
    const Plan& plan = d.session.shown().run->plan();
    std::size_t rows = 0;
    for (const Step& step : plan.steps()) {
        if (step.attention != "blocks.1.cross_attn" || step.is_source()) continue;
        std::string name = step.name.substr(step.block.size() + 1);
        if (name.starts_with("cross_attn.")) name = name.substr(11);
        INFO(name);
        const auto count = std::ranges::count_if(d.seen(), [&](const DrawnText& piece) {
            return piece.text == name && piece.high.x < d.state.settings.map_width;
        });
        CHECK(count <= 1);
        rows += count == 1 ? 1 : 0;
    }
    CHECK(rows > 4);
    for (const char* block : {"encoder.blocks.0", "encoder.blocks.1"}) {
        d.session.apply(command::GoTo{"encoder.embed"});
        d.settle();
        CHECK(in_map(d, block));
    }
}
