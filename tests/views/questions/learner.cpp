#include "tests/views/questions/learner.h"

#include "tests/catch.h"
#include "tests/views/questions/cells_on_stage.h"

#include <cmath>

namespace decoderscope::testing {

using namespace decoderscope::views;

float Learner::inspector_edge() const { return ImGui::GetIO().DisplaySize.x - d.state.settings.inspector_width; }

void Learner::click_in_map(const std::string& name, const std::string& heading) {
    const auto found = d.find_in_map(as_seen(name), as_seen(heading));
    INFO("in the map: " << name);
    REQUIRE(found);
    d.click(found->middle());
    ++gestures;
}

void Learner::click_cell(const std::string& tensor, Index row, Index column) {
    INFO(tensor << " " << row << ", " << column);
    REQUIRE(testing::click_cell(d, tensor, row, column));
    ++gestures;
}

void Learner::click_in_inspector(const std::string& part) {
    const std::string wanted = as_seen(part);
    INFO("in the inspector: " << part);
    for (const DrawnText& piece : d.seen()) {
        if (piece.low.x < inspector_edge() || piece.text.find(wanted) == std::string::npos) continue;
        const ImVec2 at = piece.middle_of(wanted);
        d.hands.click(at.x, at.y);
        d.settle();
        ++gestures;
        return;
    }
    FAIL("not there");
}

void Learner::press(Key key, Mods mods) {
    d.hands.tap(key, mods);
    d.settle();
    ++gestures;
}

std::string Learner::beside(const std::string& text) const {
    const std::string wanted = as_seen(text);
    for (const DrawnText& label : d.seen()) {
        if (label.low.x < inspector_edge() || label.text.find(wanted) == std::string::npos) continue;
        std::string found;
        for (const DrawnText& piece : d.seen())
            if (piece.low.x > label.high.x && std::abs(piece.middle().y - label.middle().y) < 6.0F) found += piece.text;
        return found;
    }
    return {};
}

// Lines are read one after the other, so that a sentence may be wrapped.
bool Learner::reads(const std::string& text) const {
    std::string all;
    for (const DrawnText& piece : d.seen())
        if (piece.low.x >= inspector_edge()) all += piece.text;
    return all.find(as_seen(text)) != std::string::npos;
}

}  // namespace decoderscope::testing
