#include "app/views/widgets/row_layout.h"

#include "app/views/widgets/imgui_compat.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace decoderscope::views {

namespace {

float line_height(const Ui& ui) { return ImGui::GetFrameHeight() + ui.px(6); }

// Where each item starts, from the first one's place on.
std::vector<ImVec2> starts_of(const Ui& ui, std::span<const FlowItem> items, float width) {
    std::vector<ImVec2> starts;
    ImVec2 at = {0, 0};
    for (const FlowItem& item : items) {
        const bool first = at.x == 0.0F;
        if (!first && at.x + item.gap + item.width > width) at = {0, at.y + line_height(ui)};
        if (at.x > 0.0F) at.x += item.gap;
        starts.push_back(at);
        at.x += item.width;
    }
    return starts;
}

// A button, and what it opens: the controls that have no room beside it.
FlowItem more_controls(const Ui& ui, std::span<const FlowItem> items) {
    return {button_width(more_label().c_str()), ui.px(10), [&ui, items] {
                if (!begin_menu_below(ui, more_label(), "more-controls", nullptr)) return;
                const float width = ui.px(360), height = flow_height(ui, items, width);
                const ImVec2 low = ImGui::GetCursorScreenPos();
                draw_flow(ui, items, {low, {low.x + width, low.y + height}});
                ImGui::SetCursorScreenPos(low);
                ImGui::Dummy({width, height});
                ImGui::EndPopup();
            }};
}

// The items that have room in so many lines, and a button for the others.
std::vector<FlowItem> folded(const Ui& ui, std::span<const FlowItem> items, float width, std::size_t most_lines) {
    std::vector<FlowItem> shown(items.begin(), items.end());
    const float most = static_cast<float>(most_lines) * line_height(ui);
    for (std::size_t kept = items.size(); kept > 0 && starts_of(ui, shown, width).back().y + 1.0F >= most;) {
        shown.assign(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(--kept));
        shown.push_back(more_controls(ui, items.subspan(kept)));
    }
    return shown;
}

// Raises the lengths evenly towards their goals, as far as the room reaches. Returns what is left of it.
float raised(std::vector<float>& lengths, const std::vector<float>& goals, float room) {
    while (room > 0.5F) {
        const auto is_open = [&](std::size_t i) { return lengths[i] + 0.01F < goals[i]; };
        std::size_t open = 0;
        for (std::size_t i = 0; i < lengths.size(); ++i) open += is_open(i) ? 1 : 0;
        if (open == 0) return room;
        const float each = room / static_cast<float>(open);
        for (std::size_t i = 0; i < lengths.size(); ++i) {
            if (!is_open(i)) continue;
            const float more = std::min(each, goals[i] - lengths[i]);
            lengths[i] += more;
            room -= more;
        }
    }
    return room;
}

// The width of controls in one line.
float line_width(std::span<const FlowItem> items) {
    float width = items.empty() ? 0.0F : -items.front().gap;
    for (const FlowItem& item : items) width += item.gap + item.width;
    return width;
}

float title_width(const Ui& ui, const PageTitle& title) { return compat::text_size(ui.fonts.heading, title.title).x; }

// Whether a title and its choices share a line.
bool share_a_line(const Ui& ui, const PageTitle& title, std::span<const FlowItem> items, float width) {
    return title_width(ui, title) + ui.px(24) + line_width(items) <= width;
}

constexpr float kSeconds = 0.25F;

// Slow at both ends.
float eased(float progress) { return progress * progress * (3.0F - 2.0F * progress); }

Area between(const Area& from, const Area& to, float part) {
    const auto along = [&](ImVec2 a, ImVec2 b) { return ImVec2{a.x + (b.x - a.x) * part, a.y + (b.y - a.y) * part}; };
    return {along(from.low, to.low), along(from.high, to.high)};
}

}  // namespace

std::string more_label() { return std::string(tr("More")) + "  ▾"; }

std::size_t control_lines(const Ui& ui, float height) { return height < ui.px(340) ? 1 : kAnyLines; }

float flow_height(const Ui& ui, std::span<const FlowItem> items, float width, std::size_t most_lines) {
    return items.empty() ? 0.0F : starts_of(ui, folded(ui, items, width, most_lines), width).back().y + line_height(ui);
}

float draw_flow(const Ui& ui, std::span<const FlowItem> items, Area area, std::size_t most_lines) {
    const std::vector<FlowItem> shown = folded(ui, items, area.width(), most_lines);
    const std::vector<ImVec2> starts = starts_of(ui, shown, area.width());
    for (std::size_t i = 0; i < shown.size(); ++i) {
        ImGui::SetCursorScreenPos({area.low.x + starts[i].x, area.low.y + starts[i].y});
        ImGui::BeginGroup();
        shown[i].draw();
        ImGui::EndGroup();
    }
    return shown.empty() ? 0.0F : starts.back().y + line_height(ui);
}

float titled_height(const Ui& ui, const PageTitle& title, std::span<const FlowItem> items, float width,
                    std::size_t most_lines) {
    const bool shared = share_a_line(ui, title, items, width);
    return (shared || most_lines > 1 ? line_height(ui) : 0.0F) +
           (shared ? 0.0F : flow_height(ui, items, width, most_lines));
}

float draw_titled(const Ui& ui, const PageTitle& title, std::span<const FlowItem> items, Area area,
                  std::size_t most_lines) {
    const bool shared = share_a_line(ui, title, items, area.width());
    if (!shared && most_lines == 1) return draw_flow(ui, items, area, 1);
    const float height = ImGui::GetFrameHeight(), needed = title_width(ui, title),
                right = area.high.x - (shared ? line_width(items) + ui.px(24) : 0.0F), left = area.low.x;
    const auto y = [&](ImFont* font) { return area.low.y + (height - compat::font_size(font)) * 0.5F; };
    draw_text(ui, ui.title(), {left, y(ui.fonts.heading)}, title.title, right - left);
    const float note = left + needed + ui.px(16);
    if (note + compat::text_size(ui.fonts.caption, title.note).x < right)
        draw_text(ui, ui.note(), {note, y(ui.fonts.caption) + ui.px(2)}, title.note);
    if (shared) draw_flow(ui, items, {{area.high.x - line_width(items), area.low.y}, area.high}, 1);
    const float below = area.low.y + line_height(ui);
    return line_height(ui) + (shared ? 0.0F : draw_flow(ui, items, {{left, below}, area.high}, most_lines));
}

FlowItem toggle_item(const Ui& ui, std::string text, std::string id, bool on, std::string tip, float gap,
                     std::function<void()> act) {
    const float width = button_width(text.c_str());
    return {width, gap, [&ui, label = labelled(text, id), on, tip = std::move(tip), act = std::move(act)] {
                if (toggle_button(ui, label.c_str(), on, tip.c_str())) act();
            }};
}

FlowItem counter_item(const Ui& ui, std::string label, std::int64_t value, std::int64_t count, float gap,
                      std::function<void(std::int64_t)> move) {
    const float width = counter_width(ui, label.c_str(), value, count);
    return {width, gap, [&ui, label = std::move(label), value, count, move = std::move(move)] {
                if (const int by = counter(ui, label.c_str(), value, count); by != 0) move(value + by);
            }};
}

void draw_flow_on_top(const Ui& ui, std::span<const FlowItem> items, Area& area, float gap) {
    area.low.y += draw_flow(ui, items, area) + gap;
}

FlowItem word_item(const Ui& ui, std::string text, float gap, float most) {
    const float width = std::min(compat::text_size(ui.fonts.caption, text).x + ui.px(2), most);
    return {width, gap, [&ui, text = std::move(text), width] {
                ImGui::AlignTextToFramePadding();
                text_line(ui.note(), fitted(ui.fonts.caption, text, width));
            }};
}

FlowItem choice_item(const Ui& ui, std::string title, std::string id, std::vector<std::string> choices, int chosen,
                     std::string tip, std::function<void(std::size_t)> choose) {
    float width = title.empty() ? 0.0F : compat::text_size(ui.fonts.caption, title).x + ui.px(6);
    for (const std::string& choice : choices) width += button_width(choice.c_str()) + ui.px(2);
    return {width, ui.px(16),
            [&ui, title = std::move(title), id = std::move(id), choices = std::move(choices), chosen,
             tip = std::move(tip), choose = std::move(choose)] {
                if (!title.empty()) word_before(ui, title);
                ImGui::PushID(id.c_str());
                for (std::size_t i = 0; i < choices.size(); ++i) {
                    if (i > 0) ImGui::SameLine(0, ui.px(2));
                    if (toggle_button(ui, labelled(choices[i], std::to_string(i)).c_str(),
                                      chosen == static_cast<int>(i), tip.empty() ? nullptr : tip.c_str()))
                        choose(i);
                }
                ImGui::PopID();
            }};
}

Area Grid::cell(std::size_t number) const {
    const auto across = static_cast<float>(columns), down = static_cast<float>(rows);
    const float width = std::floor((area.width() - gap.x * (across - 1.0F)) / across),
                height = std::floor((area.height() - gap.y * (down - 1.0F)) / down);
    const ImVec2 low = {area.low.x + static_cast<float>(number % columns) * (width + gap.x),
                        area.low.y + static_cast<float>(number / columns) * (height + gap.y)};
    return {low, {low.x + width, low.y + height}};
}

float button_width(const char* text) { return ImGui::CalcTextSize(text).x + ImGui::GetStyle().FramePadding.x * 2.0F; }

SizeHint larger(const SizeHint& a, const SizeHint& b) {
    return {std::max(a.least, b.least), std::max(a.good, b.good), std::max(a.most, b.most)};
}

SizeHint sum(const SizeHint& a, const SizeHint& b) { return {a.least + b.least, a.good + b.good, a.most + b.most}; }

std::vector<float> shares(float room, std::span<const SizeHint> wants) {
    std::vector<float> lengths, good, most;
    for (const SizeHint& want : wants) {
        lengths.push_back(want.least);
        good.push_back(want.good);
        most.push_back(want.most);
        room -= want.least;
    }
    static_cast<void>(raised(lengths, most, raised(lengths, good, room)));
    return lengths;
}

bool Glide::advance(const std::string& arrangement, std::vector<Placed> pictures, bool motion) {
    if (arrangement != arrangement_) {
        // The frame before may be long ago: the way begins now.
        arrangement_ = arrangement;
        from_ = std::exchange(drawn_, {});
        progress_ = motion ? 0.0F : 1.0F;
    } else {
        progress_ = std::min(1.0F, progress_ + ImGui::GetIO().DeltaTime / kSeconds);
    }
    bool moves = false;
    drawn_.clear();
    for (Placed& picture : pictures) {
        const auto from = from_.find(picture.name);
        if (progress_ < 1.0F && from != from_.end()) {
            picture.area = between(from->second, picture.area, eased(progress_));
            moves = true;
        }
        drawn_.emplace(picture.name, picture.area);
    }
    return moves;
}

}  // namespace decoderscope::views
