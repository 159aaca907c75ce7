#pragma once

#include "app/views/widgets/widgets.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace decoderscope::views {

// One of several controls in a row: its width, the gap before it, and how it is drawn at ImGui's cursor.
struct FlowItem {
    float width, gap;
    std::function<void()> draw;
};

inline constexpr std::size_t kAnyLines = 1000;

// In how many lines a page of this height has its controls: those of a low page leave the room to its pictures.
[[nodiscard]] std::size_t control_lines(const Ui& ui, float height);

// Controls one after the other, in as many lines as the width needs. An item wider than the width has its own line.
// Controls without room in `most_lines` are behind a button at the end.
[[nodiscard]] float flow_height(const Ui& ui, std::span<const FlowItem> items, float width,
                                std::size_t most_lines = kAnyLines);
// Draws them, and returns that height.
float draw_flow(const Ui& ui, std::span<const FlowItem> items, Area area, std::size_t most_lines = kAnyLines);

// A button that looks pressed while `on`, and a number out of `count`, as items: `act` is called when it is pressed,
// `move` with the number that the person wants instead.
[[nodiscard]] FlowItem toggle_item(const Ui& ui, std::string text, std::string id, bool on, std::string tip, float gap,
                                   std::function<void()> act);
[[nodiscard]] FlowItem counter_item(const Ui& ui, std::string label, std::int64_t value, std::int64_t count, float gap,
                                    std::function<void(std::int64_t)> move);
// What a button says that opens a list of more.
[[nodiscard]] std::string more_label();

// The width of a button with this text.
[[nodiscard]] float button_width(const char* text);

// What a page shows, in words, and beside that in small ones. Its choices are at its right; below it where there is no
// room for that: in a page of one line of them, in its place.
struct PageTitle {
    std::string title, note;
};
[[nodiscard]] float titled_height(const Ui& ui, const PageTitle& title, std::span<const FlowItem> items, float width,
                                  std::size_t most_lines = kAnyLines);
// Draws both, and returns that height.
float draw_titled(const Ui& ui, const PageTitle& title, std::span<const FlowItem> items, Area area,
                  std::size_t most_lines = kAnyLines);

// A flow at the top of an area, which is then what is left below, with a gap.
void draw_flow_on_top(const Ui& ui, std::span<const FlowItem> items, Area& area, float gap);
// Text in small grey letters as an item, cut with "…" where it is wider than `most`.
[[nodiscard]] FlowItem word_item(const Ui& ui, std::string text, float gap, float most);
// A word and some buttons, of which one is pressed: `choose` is called with the number of the one that is clicked.
[[nodiscard]] FlowItem choice_item(const Ui& ui, std::string title, std::string id, std::vector<std::string> choices,
                                   int chosen, std::string tip, std::function<void(std::size_t)> choose);

// What is cut off from the top of an area, one below the other.
struct Rows {
    Area rest;

    Area next(float height, float gap = 0.0F) {
        const Area row = {rest.low, {rest.high.x, rest.low.y + height}};
        rest.low.y = row.high.y + gap;
        return row;
    }
};

// Cells of one size side by side, in as many rows as it takes.
struct Grid {
    Area area;
    std::size_t columns = 1, rows = 1;
    ImVec2 gap = {0, 0};

    [[nodiscard]] Area cell(std::size_t number) const;
};

// What one of several pictures can use of a length: at least so much, enough to be read, and no more than this.
struct SizeHint {
    float least = 0.0F, good = 0.0F, most = 0.0F;
};

// What both need beside each other, and one above the other.
[[nodiscard]] SizeHint larger(const SizeHint& a, const SizeHint& b);
[[nodiscard]] SizeHint sum(const SizeHint& a, const SizeHint& b);

// A room shared out: each gets its least, then up to what is good, then up to the most. What is left stays free; if the
// room doesn't hold the least of all, the sum is larger than the room.
[[nodiscard]] std::vector<float> shares(float room, std::span<const SizeHint> wants);

// Pictures that stay in sight when their arrangement changes: what was drawn before and is drawn again glides from its
// old place to its new one, so that the eye can follow it. Kept from frame to frame.
class Glide {
public:
    // A picture, by a name that it keeps in every arrangement, and where it belongs. Its place is changed to where it
    // is drawn in this frame.
    struct Placed {
        std::string name;
        Area& area;
    };

    // Moves what is under way, once a frame. `arrangement` names what decides the places: if it differs from the last
    // frame's, pictures set out from where they were drawn then. Without motion all are in their place at once. Returns
    // whether one is still under way, and another frame is wanted soon.
    bool advance(const std::string& arrangement, std::vector<Placed> pictures, bool motion);

private:
    std::string arrangement_;
    std::map<std::string, Area> drawn_, from_;  // by a picture's name
    float progress_ = 1.0F;                     // of the way; 1: all are in their place
};

}  // namespace decoderscope::views
