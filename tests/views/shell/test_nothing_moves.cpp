// What a person is about to press stays where it is when something is said: no button, no cell and no text of a tab
// moves when a message comes, and the message covers none of them.
#include "app/views/frame/lab.h"
#include "tests/catch.h"
#include "tests/views/driver.h"

#include <algorithm>
#include <map>
#include <string>

using namespace decoderscope;
using namespace decoderscope::core;
using namespace decoderscope::views;
using namespace decoderscope::testing;

namespace {

constexpr float kToolbar = 44.0F;

// All that is drawn below the toolbar, by what it says and where.
std::multimap<std::string, ImVec2> below_toolbar(const Driver& d) {
    std::multimap<std::string, ImVec2> found;
    for (const DrawnText& piece : d.seen())
        if (piece.low.y >= kToolbar) found.emplace(piece.text, piece.low);
    for (const Area& picture : d.pictures()) found.emplace("a picture", picture.low);
    return found;
}

bool are_same(const std::multimap<std::string, ImVec2>& a, const std::multimap<std::string, ImVec2>& b) {
    return std::ranges::equal(a, b, [](const auto& one, const auto& other) {
        return one.first == other.first && one.second.x == other.second.x && one.second.y == other.second.y;
    });
}

}  // namespace

TEST_CASE("a message moves and covers nothing of any tab, and no button of the toolbar") {
    for (const bool calm : {true, false}) {
        for (const ImVec2 size : {ImVec2{1024, 768}, ImVec2{1280, 800}, ImVec2{1920, 1080}}) {
            Driver d("reverse", 1.0F, size);
            d.state.settings.calm = calm;
            for (const Lab& lab : labs()) {
                d.state.tab = lab.id;
                d.settle();
                d.settle();
                INFO(lab.id << (calm ? ", calm, " : ", ") << size.x << " x " << size.y);
                const auto before = below_toolbar(d);
                const bool had_undo = find_text(d.seen(), "Export").has_value();
                const ImVec2 button = had_undo ? find_text(d.seen(), "Export")->low : ImVec2{};
                for (const bool failed : {false, true}) {
                    d.session.apply(command::Tell{Sentence::verbatim("Something was said about a file"), failed});
                    d.settle();
                    CHECK(d.sees("Somethingwassaid"));
                    CHECK(are_same(before, below_toolbar(d)));
                    CHECK(find_text(d.seen(), "Export")->low.x == button.x);
                }
                d.session.apply(command::ChooseBatch{0});  // what comes next clears it
                d.settle();
            }
        }
    }
}

TEST_CASE("a long message is said whole, over the input, and the stage below doesn't move") {
    Driver d("reverse");
    d.settle();
    const Area stage = d.stage();
    std::string words;
    for (int i = 0; i < 12; ++i) words += "word" + std::to_string(i) + " and another ";
    d.session.apply(command::Tell{Sentence::verbatim(words + "end."), true});
    d.settle();
    CHECK(d.sees("word0"));
    CHECK(d.sees("end."));
    CHECK(d.stage().low.y == stage.low.y);
    for (const DrawnText& piece : d.seen())
        if (piece.text.find("word") != std::string::npos) CHECK(piece.high.y < stage.low.y - 40.0F);
}
