#include "tests/recipes/magnitudes_tab/magnitudes_tab.h"

#include "app/views/widgets/imgui_compat.h"
#include "engine/graph/explanation.h"
#include "tests/recipes/magnitudes_tab/magnitudes.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace decoderscope {

using namespace decoderscope::core::files;
using namespace decoderscope::core;
using namespace decoderscope::views;

namespace {

float largest_of(const std::vector<Magnitude>& magnitudes) {
    float largest = 0.0F;
    for (const Magnitude& magnitude : magnitudes)
        if (std::isfinite(magnitude.largest)) largest = std::max(largest, magnitude.largest);
    return largest;
}

// The sort key: NaN comes first.
float sorted_as(const Magnitude& magnitude) {
    return std::isnan(magnitude.largest) ? std::numeric_limits<float>::infinity() : magnitude.largest;
}

// A step's name, a bar, and its number. Returns whether it was clicked.
bool draw_row(const Ui& ui, const Magnitude& magnitude, float largest, Area row) {
    ImGui::SetCursorScreenPos(row.low);
    const bool clicked = ImGui::InvisibleButton(magnitude.step.c_str(), {row.width(), row.height()});
    const float bars = row.low.x + row.width() * 0.5F, numbers = row.high.x - ui.px(80);
    const float share = largest > 0.0F && std::isfinite(magnitude.largest) ? magnitude.largest / largest : 0.0F;
    draw_text(ui, ui.number(), row.low, magnitude.step, bars - row.low.x - ui.px(8));
    ImGui::GetWindowDrawList()->AddRectFilled({bars, row.low.y + ui.px(4)},
                                              {bars + (numbers - ui.px(8) - bars) * share, row.high.y - ui.px(4)},
                                              ui.theme.accent);
    draw_text(ui, ui.number(), {numbers, row.low.y}, short_number(static_cast<double>(magnitude.largest)), ui.px(80));
    return clicked;
}

}  // namespace

void draw_magnitudes_tab(const Ui& ui, const Session& session, ViewState& state, Area area, Commands& commands) {
    MagnitudesTabState& tab = state.part<MagnitudesTabState>();
    state.hovered.reset();
    const float pad = ui.px(16), line = ui.px(20);
    ImGui::SetCursorScreenPos({area.low.x + pad, area.low.y + ui.px(8)});
    if (toggle_button(ui, "Largest first", tab.largest_first, "Else in the order of computation"))
        tab.largest_first = !tab.largest_first;
    std::vector<Magnitude> rows = shown_magnitudes(session.derived(), session.shown().run)->steps;
    if (tab.largest_first) std::ranges::stable_sort(rows, std::greater<>(), sorted_as);
    const float largest = largest_of(rows);
    float y = area.low.y + ui.px(44);
    for (const Magnitude& row : rows) {
        if (y + line > area.high.y) break;
        if (draw_row(ui, row, largest, {{area.low.x + pad, y}, {area.high.x - pad, y + line}})) {
            state.tab = kStepTab;
            commands.push_back(command::GoTo{row.step});
        }
        y += line;
    }
}

}  // namespace decoderscope
