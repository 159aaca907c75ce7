#include "tests/views/questions/learner.h"

#include "tests/catch.h"
#include "tests/views/questions/cells_on_stage.h"

#include <cmath>

namespace decoderscope::testing {

using namespace decoderscope::testing;

float Learner::inspector_edge() const { return ImGui::GetIO().DisplaySize.x - d.state.settings.inspector_width; }

void Learner::click_on_strip(const std::string& step) { gestures += d.click_on_strip(step); }

void Learner::click_cell(const std::string& tensor, Index row, Index column) {
    INFO(tensor << " " << row << ", " << column);
    REQUIRE(testing::click_cell(d, tensor, row, column));
    ++gestures;
}

std::optional<DrawnText> Learner::in_inspector(const std::string& part) const {
    const std::string wanted = as_seen(part);
    for (const DrawnText& piece : d.seen())
        if (piece.low.x >= inspector_edge() && piece.text.find(wanted) != std::string::npos) return piece;
    return std::nullopt;
}

void Learner::look_behind_buttons(const std::function<bool()>& is_there, std::array<const char*, 3> buttons) {
    if (scroll_to(is_there)) return;
    for (const char* button : buttons) {
        if (d.click_label(button)) ++gestures;
        if (scroll_to(is_there)) return;
    }
}

bool Learner::scroll_to(const std::function<bool()>& is_there) {
    if (is_there()) return true;
    const ImVec2 size = ImGui::GetIO().DisplaySize;
    d.point({size.x - 60.0F, size.y * 0.5F});
    for (int notch = 0; notch < 12; ++notch) {
        d.hands.push(Wheel{0, -2});
        d.settle();
        if (is_there()) return true;
    }
    d.hands.push(Wheel{0, 100});
    d.settle();
    return false;
}

void Learner::click_in_inspector(const std::string& part) {
    INFO("in the inspector: " << part);
    look_behind_buttons([&] { return in_inspector(part).has_value(); }, {"Whatif", "Why", "More"});
    const std::optional<DrawnText> piece = in_inspector(part);
    REQUIRE(piece);
    const ImVec2 at = piece->middle_of(as_seen(part));
    d.click(at);
    ++gestures;
}

void Learner::press(Key key, Mods mods) {
    d.press(key, mods);
    ++gestures;
}

std::string Learner::beside(const std::string& text) {
    look_behind_buttons([&] { return in_inspector(text).has_value(); }, {"Why", "Whatif", "More"});
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
bool Learner::reads(const std::string& text) {
    const auto is_there = [&] {
        std::string all;
        for (const DrawnText& piece : d.seen())
            if (piece.low.x >= inspector_edge()) all += piece.text;
        return all.find(as_seen(text)) != std::string::npos;
    };
    look_behind_buttons(is_there, {"Why", "Whatif", "More"});
    return is_there();
}

}  // namespace decoderscope::testing
