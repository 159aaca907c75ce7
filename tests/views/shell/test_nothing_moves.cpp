// What a person is about to press stays where it is when something is said: no button, no cell and no text moves when a
// message comes, and the message covers none of them.
#include "app/views/frame/tab.h"
#include "tests/catch.h"
#include "tests/sanitized.h"
#include "tests/views/driver.h"
#include "tests/views/layout_check.h"
#include "tests/views/shell/speaking.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

using namespace decoderscope;
using namespace decoderscope::core;
using namespace decoderscope::views;
using namespace decoderscope::testing;

namespace {

// A text or a picture, and where it is drawn.
using Thing = std::tuple<std::string, float, float>;

std::vector<Thing> things_on(const Driver& d) {
    std::vector<Thing> found;
    for (const DrawnText& piece : d.seen()) found.emplace_back(piece.text, piece.low.x, piece.low.y);
    for (const Area& picture : d.pictures()) found.emplace_back("a picture", picture.low.x, picture.low.y);
    std::ranges::sort(found);
    return found;
}

// Where the inspector's column begins.
float column_of(const Driver& d) { return ImGui::GetIO().DisplaySize.x - d.state.panels.inspector * d.fonts().scale; }

// What is at the left of the inspector's column.
std::vector<Thing> beside_column(const Driver& d, std::vector<Thing> things) {
    std::erase_if(things, [&](const Thing& thing) { return std::get<1>(thing) >= column_of(d); });
    return things;
}

constexpr const char* kLong =
    "The highlighted cell is the largest weight of this attention: 0.98 of query 4 on key 7. On the right you see how "
    "the softmax computed it, and a path to a file: /home/a-person/models/of-the-summer/reverse/model.safetensors. The "
    "end.";

void say(Driver& d, const char* text, bool failed) {
    d.session.apply(command::Tell{Sentence::verbatim(text), failed});
    d.settle();
}

}  // namespace

TEST_CASE("a message moves nothing and covers nothing, in any tab") {
    for (const bool calm : {true, false}) {
        if (testing::kSanitized && !calm) continue;
        for (const ImVec2 size : {ImVec2{1024, 768}, ImVec2{1280, 800}, ImVec2{1920, 1080}}) {
            Driver d("reverse", 1.0F, size);
            d.state.settings.calm = calm;
            for (const Tab& tab : tabs()) {
                d.state.tab = tab.id;
                d.settle();
                d.settle();
                INFO(tab.id << (calm ? ", calm, " : ", ") << size.x << " x " << size.y);
                REQUIRE(d.state.panels.inspector > 0.0F);
                const std::vector<Thing> before = things_on(d);
                for (const bool failed : {false, true}) {
                    say(d, failed ? kLong : "Something was said about a file", failed);
                    CHECK(d.sees("Somethingwassaid") == !failed);
                    CHECK(d.sees("Thehighlightedcell") == failed);
                    CHECK(beside_column(d, before) == beside_column(d, things_on(d)));
                    check_layout(d, size);
                }
                d.session.apply(command::ChooseBatch{0});  // what comes next clears it
                d.settle();
                CHECK(before == things_on(d));
            }
        }
    }
}

TEST_CASE("in the inspector's column nothing moves when a message comes at its foot") {
    Driver d("reverse");
    d.session.apply(command::SelectCell{{0, 3, 4, 1}});
    d.settle();
    const std::vector<Thing> before = things_on(d);
    say(d, kLong, false);
    const std::vector<Thing> now = things_on(d);
    const auto begins = find_text(d.seen(), "Thehighlightedcell");
    REQUIRE(begins);
    int kept = 0;
    for (const Thing& thing : now) {
        if (std::get<1>(thing) < column_of(d) || std::get<2>(thing) >= begins->low.y) continue;
        INFO(std::get<0>(thing));
        // Only a line that is cut at the message's edge is seen in part.
        if (std::get<2>(thing) < begins->low.y - 40.0F) CHECK(std::ranges::binary_search(before, thing));
        ++kept;
    }
    CHECK(kept > 5);
}

TEST_CASE("a long message is said whole, in every language's script") {
    for (const float scale : {1.0F, 1.5F}) {
        Driver d("reverse", scale, {1280, 800});
        say(d, kLong, true);
        CHECK(d.sees("end."));
        check_layout(d, {1280, 800});
    }
    for (const std::string& code : translations()) {
        const Speaking speaking(code);
        if (!Speaking::can_be_drawn()) continue;
        for (const ImVec2 size : {ImVec2{1024, 768}, ImVec2{1280, 800}}) {
            Driver d("reverse", 1.0F, size);
            d.session.apply(command::Tell{
                message(
                    "The highlighted cell is the largest weight of this attention: {weight} of query {query} on key "
                    "{key}. On the right you see how the softmax computed it.",
                    {{"weight", "0.98"}, {"query", "4"}, {"key", "7"}}),
                true});
            d.settle();
            check_layout(d, size);
        }
    }
}

TEST_CASE("a message is said where the inspector is folded, too, and moves nothing") {
    Driver d("reverse");
    d.state.settings.inspector_folded = true;
    d.settle();
    const std::vector<Thing> before = things_on(d);
    say(d, "Something was said about a file", false);
    CHECK(d.sees("Somethingwassaid"));
    const std::vector<Thing> now = things_on(d);
    for (const Thing& thing : before)
        if (std::get<2>(thing) < 600.0F) CHECK(std::ranges::binary_search(now, thing));
}
