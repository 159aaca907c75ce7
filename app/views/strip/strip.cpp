#include "app/views/strip/strip.h"

#include "app/core/compare/effect_of_edits.h"
#include "app/core/generate/prediction.h"
#include "app/core/run/notes.h"
#include "app/core/run/passes_of_text.h"
#include "app/core/text/numbers.h"
#include "app/core/text/token_text.h"
#include "app/views/frame/step_colors.h"
#include "app/views/frame/tab.h"
#include "app/views/widgets/imgui_compat.h"
#include "app/views/widgets/row_layout.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <cmath>

namespace decoderscope::views::strip {

namespace {

// Where a line has what, in pixels at 100 % from its top.
struct Shape {
    float caption = 0, top = 0, bottom = 0, stream = 0, height = 0;
    float name = 0;  // of the unfolded block; 0: none
};
constexpr Shape kWhole = {.caption = 8, .top = 28, .bottom = 60, .stream = 74, .height = 96, .name = 77};
constexpr Shape kLow = {.caption = 3, .top = 19, .bottom = 43, .stream = 52, .height = 62};
constexpr Shape kAbove = {.caption = 3, .top = 19, .bottom = 43, .stream = 51, .height = 58};  // the encoder's
constexpr float kFolded = 24, kMargin = 16;
// Of a node on the stream; of the mark of the current step.
constexpr float kNode = 8, kMark = 5;

// What the strip remembers from frame to frame.
struct StripState {
    Glide glide;
    StepTextures textures{"strip"};
    std::vector<std::pair<Item, Area>> drawn;  // where they were; empty while folded
};

// What is drawn in one frame.
struct Scene {
    const Ui& ui;
    const core::Session& session;
    ViewState& state;
    Commands& commands;
    StepId here;
    core::Value<core::diff::Reach> reach;  // of the edits; empty if there are none
    StepColors colors;
    core::Notes notes;

    [[nodiscard]] const Plan& plan() const { return session.shown().run->plan(); }
    [[nodiscard]] float px(float pixels) const { return ui.px(pixels); }
    [[nodiscard]] StripState& strip() const { return state.part<StripState>(); }
};

const Shape& shape_of(const Ui& ui, const Line& line, std::size_t lines) {
    if (lines > 1 && line.stack == StackKind::encoder) return kAbove;
    return is_low_window(ui) ? kLow : kWhole;
}

StepId current_step(const core::Session& session) {
    const Step& step = session.step();
    return step.is_source() ? session.timeline()[session.timeline_position()] : step.id;
}

bool is_back(const core::step::ShownOutline& outline, StepId here) {
    return std::ranges::any_of(outline.blocks, [&](const core::step::OutlineBlock& block) {
        return block.is_back && std::ranges::any_of(block.parts, [&](const core::step::OutlinePart& part) {
                   return std::ranges::binary_search(part.steps, here);
               });
    });
}

// ---- where a press leads

// Of what was pressed again, its next step; of another block, the same step there if it has one.
StepId goal_of(const Scene& s, const Item& item) {
    if (const auto now = std::ranges::find(item.steps, s.here); now != item.steps.end())
        return now + 1 == item.steps.end() ? item.steps.front() : *(now + 1);
    if (item.kind == Item::Kind::block)
        if (const Ref twin = s.plan().twin_in(s.session.step(), s.plan()[item.steps.front()].layer);
            twin != nullptr && item.holds(twin->id))
            return twin->id;
    return item.shown;
}

void go_to(const Scene& s, StepId id) {
    s.commands.push_back(core::command::GoTo{s.plan()[id].name});
    if (const Tab* open = find_tab(s.state.tab); open != nullptr && !open->about_steps)
        s.state.tab = core::files::kStepTab;
}

// One step is explained, several are named.
void item_tooltip(const Scene& s, const Item& item, Area box) {
    ImGui::SetNextWindowPos({box.low.x, box.high.y + s.px(6)}, ImGuiCond_Always);
    if (item.steps.size() == 1) return step_tooltip(s.ui, s.session, s.plan()[item.steps.front()]);
    if (!compat::begin_tooltip()) return;
    const std::string& caption = item.caption;
    text_line(s.ui.caption(), caption.empty() ? tr("Residual stream") : caption);
    constexpr std::size_t most = 12;
    for (std::size_t i = 0; i < std::min(item.steps.size(), most); ++i)
        text_line({s.ui.fonts.mono_small, item.steps[i] == s.here ? s.ui.theme.text : s.ui.theme.muted},
                  s.plan()[item.steps[i]].name);
    if (item.steps.size() > most) text_line(s.ui.note(), tr("{count} more", {{"count", item.steps.size() - most}}));
    if (item.holds(s.here)) text_line(s.ui.note(), tr("A click goes to the next of them."));
    ImGui::EndTooltip();
}

// ---- pictures

void draw_picture(const Scene& s, const Item& item, Area box) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const Step& step = s.plan()[item.shown];
    list.AddRectFilled(box.low, box.high, s.ui.theme.raised);
    const Run& run = s.session.shown().run_of(step);
    const Tensor& values = run.value(step.id);
    if (values.empty()) return;
    core::Place place = s.session.cursor().place;
    const bool is_pattern = is_over_keys(step.axes);
    if (!is_pattern) place.head = core::Place::kAllHeads;
    const core::Slice slice = core::slice_of(step, place, s.session.shown().scenario.query_heads());
    // What is over queries and keys keeps its form.
    if (is_pattern) {
        const float width = std::min(box.width(), box.height() * static_cast<float>(slice.columns()) /
                                                      static_cast<float>(std::max<Index>(slice.rows(), 1)));
        const float left = std::floor((box.low.x + box.high.x - width) * 0.5F);
        box = {{left, box.low.y}, {left + std::max(width, 2.0F), box.high.y}};
    }
    const auto side = [](float pixels, Index cells) { return std::clamp<Index>(stepped_pixels(pixels), 1, cells); };
    const StepTextures::Texture texture =
        s.strip().textures.texture_of(s.ui, s.session, step,
                                      {.each = {side(box.width(), slice.columns()), side(box.height(), slice.rows())},
                                       .place = place,
                                       .sequential = s.ui.theme.sequential,
                                       .dark = s.ui.theme.dark});
    if (texture.id != ImTextureID()) compat::add_pixels(list, texture.id, box.low, box.high);
    if (texture.is_old || s.session.stale())
        list.AddRectFilled(box.low, box.high, with_alpha(s.ui.theme.background, 0.45F));
}

// What the model says next, as bars: of a picture of thousands of tokens at so few pixels nothing could be read.
// Returns false if it isn't known.
bool draw_answers(const Scene& s, const Item& item, Area box) {
    constexpr std::size_t kMost = 4;
    const core::Snapshot& shown = s.session.shown();
    const Step& step = s.plan()[item.shown];
    if (step.backward || step.axes.empty() || step.axes.back().name != axis::vocab || s.session.stale()) return false;
    const auto next =
        core::generate::next_answer(s.session.derived(), shown.scenario, shown.run, s.session.cursor().place.batch);
    if (!next) return false;
    const std::vector<core::generate::Answer>& likely = next->shown->likely;
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddRectFilled(box.low, box.high, s.ui.theme.raised);
    const float pitch = box.height() / static_cast<float>(kMost);
    float y = box.low.y;
    for (std::size_t i = 0; i < std::min(likely.size(), kMost); ++i, y += pitch)
        list.AddRectFilled({box.low.x, y + s.px(1)},
                           {box.low.x + box.width() * static_cast<float>(likely[i].probability), y + pitch - s.px(1)},
                           color_of(Meaning::output));
    return true;
}

ImU32 color_of_item(const Scene& s, const Item& item) { return s.colors.of(item.steps, item.meaning); }

bool is_changed(const Scene& s, const Item& item) {
    return s.reach && std::ranges::any_of(item.steps, [&](StepId id) { return s.reach->has(id); });
}

void draw_marks(const Scene& s, const Item& item, Area box) {
    if (is_changed(s, item)) {
        const float size = std::min(s.px(9), box.width());
        ImGui::GetWindowDrawList()->AddTriangleFilled({box.high.x - size, box.low.y}, {box.high.x, box.low.y},
                                                      {box.high.x, box.low.y + size}, s.ui.theme.accent);
    }
    if (!s.notes.empty() &&
        std::ranges::any_of(item.steps, [&](StepId id) { return core::count_notes(s.notes, s.plan()[id].name) > 0; }))
        draw_note_mark(s.ui, box);
}

void draw_caption(const Scene& s, const Item& item, float y, float room) {
    ImFont* font = s.ui.fonts.caption;
    const bool is_here = item.holds(s.here);
    const std::string text = shortened(font, item.caption, room);
    const float width = compat::text_size(font, text).x, x = std::floor(item.middle() - width * 0.5F);
    const float height = compat::font_size(font);
    ImDrawList& list = *ImGui::GetWindowDrawList();
    if (is_here)
        list.AddRectFilled({std::min(x - s.px(4), item.from), y - s.px(2)},
                           {std::max(x + width + s.px(4), item.to), y + height + s.px(3)}, s.ui.theme.accent_soft,
                           s.px(3));
    draw_text(s.ui, {font, is_here ? s.ui.theme.text : ink_of(item.meaning, s.ui.theme)}, {x, y}, text, room);
}

void draw_node(const Scene& s, const Item& item, float y, ImU32 color) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const ImVec2 middle = {item.middle(), y};
    if (item.kind == Item::Kind::joint) {
        list.AddCircleFilled(middle, s.px(3), color, 12);
        return;
    }
    const float arm = s.px(4);
    list.AddCircleFilled(middle, s.px(kNode), s.ui.theme.panel, 20);
    list.AddCircle(middle, s.px(kNode), color, 20, s.px(1.5F));
    list.AddLine({middle.x - arm, y}, {middle.x + arm, y}, color, s.px(1.5F));
    list.AddLine({middle.x, y - arm}, {middle.x, y + arm}, color, s.px(1.5F));
}

// ---- a line

struct Drawn {
    const Scene& s;
    const Line& line;
    const Shape& shape;
    Area area;
    std::optional<float> mark = {};  // where the current step is
    bool is_done = false;            // its steps come before that

    [[nodiscard]] float y(float pixels) const { return area.low.y + s.px(pixels); }
    [[nodiscard]] Area picture(const Item& item) const {
        return {{item.from, y(shape.top)}, {item.to, y(shape.bottom)}};
    }
    [[nodiscard]] ImU32 lit(float x, bool back) const {
        return is_done || (mark && (back ? x >= *mark : x <= *mark)) ? s.ui.theme.accent : s.ui.theme.muted;
    }
};

// From the stream to the pictures beside it, from picture to picture, and back to the sum.
void draw_wires(const Drawn& d, bool back) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const std::vector<Item>& items = d.line.items;
    const float stream = d.y(d.shape.stream), middle = (d.y(d.shape.top) + d.y(d.shape.bottom)) * 0.5F;
    const float thin = d.s.px(1);
    for (std::size_t i = 0; i < items.size(); ++i) {
        const Item& item = items[i];
        if (item.kind == Item::Kind::sum || item.kind == Item::Kind::joint) continue;
        const ImU32 color = d.lit(item.middle(), back);
        if (item.on_stream || item.begins)
            list.AddLine({item.middle(), d.y(d.shape.bottom)}, {item.middle(), stream}, color, thin);
        const Item* next = i + 1 < items.size() ? &items[i + 1] : nullptr;
        if (item.on_stream || next == nullptr || back) continue;
        if (next->kind == Item::Kind::sum) {
            list.AddLine({item.to, middle}, {next->middle(), middle}, color, thin);
            list.AddLine({next->middle(), middle}, {next->middle(), stream}, color, thin);
        } else if (!next->begins && !next->on_stream) {
            list.AddLine({item.to, middle}, {next->from, middle}, color, thin);
        }
    }
    if (items.empty()) return;
    const float begin = items.front().middle(), end = items.back().middle(), thick = d.s.px(2);
    list.AddLine({begin, stream}, {end, stream}, d.is_done ? d.s.ui.theme.accent : d.s.ui.theme.muted, thick);
    if (d.mark) list.AddLine({back ? end : begin, stream}, {*d.mark, stream}, d.s.ui.theme.accent, thick);
}

// The frame of the unfolded block, and its name.
void draw_frame(const Drawn& d) {
    const std::string& unfolded = d.s.state.part<Unfolded>().block;
    float from = std::numeric_limits<float>::infinity(), to = -from;
    const Plan& plan = d.s.plan();
    Index layer = -1;
    for (const Item& item : d.line.items) {
        if (item.kind == Item::Kind::block || item.kind == Item::Kind::pass || plan[item.shown].block != unfolded ||
            unfolded.empty())
            continue;
        from = std::min(from, item.from);
        to = std::max(to, item.to);
        layer = plan[item.shown].layer;
    }
    if (!(from < to)) return;
    const Area box = {{from - d.s.px(7), d.y(2)}, {to + d.s.px(7), d.y(d.shape.height - 2)}};
    ImDrawList& list = *ImGui::GetWindowDrawList();
    compat::add_rect(list, box.low, box.high, d.s.ui.theme.line, d.s.px(4));
    if (d.shape.name > 0.0F)
        draw_text(d.s.ui, d.s.ui.note(), {box.low.x + d.s.px(8), d.y(d.shape.name)},
                  layer < 0 ? unfolded : tr("block {number}", {{"number", layer}}), box.width() - d.s.px(16));
}

// The caption has its own width and half of the gaps beside it.
float room_of(const std::vector<Item>& items, std::size_t i) {
    const float left = i == 0 ? items[i].from : (items[i - 1].to + items[i].from) * 0.5F,
                right = i + 1 == items.size() ? items[i].to : (items[i].to + items[i + 1].from) * 0.5F;
    return 2.0F * std::min(items[i].middle() - left, right - items[i].middle()) - 2.0F;
}

void draw_items(const Drawn& d, bool back) {
    const Scene& s = d.s;
    const std::vector<Item>& items = d.line.items;
    for (std::size_t i = 0; i < items.size(); ++i) {
        const Item& item = items[i];
        const bool is_node = item.kind == Item::Kind::sum || item.kind == Item::Kind::joint;
        const float node = s.px(item.kind == Item::Kind::joint ? 4 : kNode), stream = d.y(d.shape.stream);
        const Area box = is_node ? Area{{item.middle() - node, stream - node}, {item.middle() + node, stream + node}}
                                 : d.picture(item);
        s.strip().drawn.emplace_back(item, box);
        const bool pressed =
            press_at(item.name.c_str(), {{box.low.x, is_node ? box.low.y : d.y(d.shape.caption)}, box.high},
                     static_cast<std::int64_t>(item.shown), item.caption);
        if (pressed) go_to(s, goal_of(s, item));
        if (ImGui::IsItemHovered()) {
            ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
            item_tooltip(s, item, {box.low, {box.high.x, d.y(d.shape.height)}});
        }
        const bool is_here = item.holds(s.here);
        if (is_node) {
            draw_node(s, item, stream, is_here || is_changed(s, item) ? s.ui.theme.accent : d.lit(item.middle(), back));
            continue;
        }
        if (!draw_answers(s, item, box)) draw_picture(s, item, box);
        ImDrawList& list = *ImGui::GetWindowDrawList();
        const float stripe = s.px(s.colors.are_of_file() ? 5 : 2);
        list.AddRectFilled({box.low.x, box.low.y - s.px(2)}, {box.high.x, box.low.y - s.px(2) + stripe},
                           color_of_item(s, item));
        if (is_here)
            compat::add_rect(list, {box.low.x - 1, box.low.y - s.px(3)}, {box.high.x + 1, box.high.y + 1},
                             s.ui.theme.accent, s.px(1), s.px(2));
        draw_marks(s, item, box);
        if (!item.is_sliver) draw_caption(s, item, d.y(d.shape.caption), room_of(items, i));
    }
}

// The triangle below the current step.
void draw_mark(const Drawn& d) {
    if (!d.mark) return;
    const float y = d.y(d.shape.stream) + d.s.px(3), size = d.s.px(kMark);
    ImGui::GetWindowDrawList()->AddTriangleFilled({*d.mark, y}, {*d.mark - size, y + size * 1.7F},
                                                  {*d.mark + size, y + size * 1.7F}, d.s.ui.theme.text);
}

// Dragging along the stream goes to the steps that it passes. Nodes on it are pressed, too.
void scrub(const Drawn& d) {
    const float low = d.y(d.shape.bottom) + d.s.px(2);
    click_at(d.line.stack == StackKind::encoder ? "scrub-encoder" : "scrub",
             {{d.area.low.x, low}, {d.area.high.x, d.y(d.shape.height)}});
    if (!ImGui::IsItemActive() || d.line.items.empty()) return;
    const float x = ImGui::GetIO().MousePos.x;
    StepId nearest = d.s.here;
    float least = std::numeric_limits<float>::infinity();
    for (const Item& item : d.line.items) {
        for (std::size_t i = 0; i < item.steps.size(); ++i) {
            const float away = std::abs(item.x_of(i) - x);
            if (away >= least) continue;
            least = away;
            nearest = item.steps[i];
        }
    }
    if (nearest != d.s.here) go_to(d.s, nearest);
}

// What the gradients are of, on the way back, below the line and away from the mark at its ends.
void draw_target(const Scene& s, Area area) {
    ImFont* font = s.ui.fonts.caption;
    const std::string text =
        tr("Backward: gradients of {target}", {{"target", s.session.shown().scenario.gradient_target}});
    const float width = std::min(compat::text_size(font, text).x, area.width() * 0.4F);
    draw_text(s.ui, {font, s.ui.theme.text},
              {area.high.x - s.px(96) - width, area.high.y - compat::font_size(font) - s.px(3)}, text, width);
}

// From the encoder's end to what the unfolded cross-attention reads of it.
void draw_memory(const Scene& s, const Drawn& encoder, const Drawn& decoder) {
    if (encoder.line.items.empty()) return;
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const Item& last = encoder.line.items.back();
    const ImU32 color = with_alpha(color_of(Meaning::attention), 0.8F);
    const float y = decoder.y(0), head = s.px(4);
    bool any = false;
    float least = last.middle(), most = last.middle();
    for (const Item& item : decoder.line.items) {
        const Step& step = s.plan()[item.shown];
        const bool reads =
            step.part == Part::cross_attention &&
            (item.kind == Item::Kind::attention || item.meaning == Meaning::key || item.meaning == Meaning::value);
        if (!reads) continue;
        any = true;
        least = std::min(least, item.middle());
        most = std::max(most, item.middle());
        list.AddLine({item.middle(), y}, {item.middle(), y + s.px(3)}, color, s.px(1.5F));
        list.AddTriangleFilled({item.middle(), y + s.px(7)}, {item.middle() - head, y + s.px(3)},
                               {item.middle() + head, y + s.px(3)}, color);
    }
    if (!any) return;
    list.AddLine({least, y}, {most, y}, color, s.px(1.5F));
    list.AddLine({last.middle(), encoder.y(encoder.shape.stream)}, {last.middle(), y}, color, s.px(1.5F));
}

// Items that were there before come from where they were.
void glide(const Scene& s, std::vector<Line>& lines, bool back) {
    std::vector<std::vector<Area>> areas;
    std::vector<Glide::Placed> placed;
    for (const Line& line : lines) {
        areas.emplace_back();
        for (const Item& item : line.items) areas.back().push_back({{item.from, 0}, {item.to, 0}});
    }
    for (std::size_t l = 0; l < lines.size(); ++l)
        for (std::size_t i = 0; i < lines[l].items.size(); ++i) placed.push_back({lines[l].items[i].name, areas[l][i]});
    const Unfolded& unfolded = s.state.part<Unfolded>();
    if (s.strip().glide.advance(unfolded.block + " " + unfolded.attention + (back ? " back" : ""), std::move(placed),
                                !s.state.reduces_motion()))
        s.state.busy = true;
    for (std::size_t l = 0; l < lines.size(); ++l)
        for (std::size_t i = 0; i < lines[l].items.size(); ++i) {
            lines[l].items[i].from = areas[l][i].low.x;
            lines[l].items[i].to = areas[l][i].high.x;
        }
}

// The line alone, with a stroke for each item.
void draw_folded(const Scene& s, Area area, std::vector<Line>& lines, bool back) {
    constexpr Shape shape = {.caption = 2, .top = 2, .bottom = 2, .stream = 10, .height = kFolded};
    for (const Line& line : lines) {
        const std::optional<float> mark = line.x_of(s.here);
        if (!mark && &line != &lines.back()) continue;
        const Drawn d = {s, line, shape, area, mark, false};
        ImDrawList& list = *ImGui::GetWindowDrawList();
        for (const Item& item : line.items)
            list.AddRectFilled({item.from, d.y(4)}, {item.to, d.y(8)}, with_alpha(color_of_item(s, item), 0.8F));
        const float y = d.y(shape.stream);
        list.AddLine({line.items.front().from, y}, {line.items.back().to, y}, s.ui.theme.muted, s.px(2));
        if (mark)
            list.AddLine({back ? line.items.back().to : line.items.front().from, y}, {*mark, y}, s.ui.theme.accent,
                         s.px(2));
        draw_mark(d);
        scrub(d);
        return;
    }
}

// What a pass computes, as short as it can be said: its positions, and its token if it has only one.
std::string pass_text(const core::Scenario& scenario, const InputsPart& part, Index row) {
    const Tensor& tokens = core::text_of(scenario).tokens;
    if (part.count > 1) return std::to_string(part.first) + "–" + std::to_string(part.first + part.count - 1);
    if (tokens.empty() || row >= tokens.dim(0)) return std::to_string(part.first);
    return std::to_string(part.first) + " " +
           core::token_text(scenario.tokenizer(), static_cast<Index>(tokens.at(Cell{row, part.first})));
}

float passes_height(const Ui& ui, const core::Session& session) {
    return core::passes_of(session.fitting_scenario()) != nullptr ? ui.px(24) : 0.0F;
}

// A text that is computed in several passes: a line of boxes, one for each pass, and one for the whole text.
void draw_passes_line(const Ui& ui, const core::Session& session, Area area, Commands& commands) {
    const core::Scenario& scenario = session.fitting_scenario();
    const core::TextInPasses* cut = core::passes_of(scenario);
    if (cut == nullptr) return;
    const core::TextInPasses& passes = *cut;
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddRectFilled(area.low, area.high, ui.theme.panel);
    list.AddLine(area.low, {area.high.x, area.low.y}, ui.theme.line);
    const float inset = ui.px(3), y = area.low.y + inset, high = area.high.y - ui.px(1);
    const auto chip = [&](float from, float to, const std::string& text, bool lit, bool edited, std::int64_t number) {
        const Area box = {{from, y}, {to - ui.px(2), high}};
        const bool pressed = press_at("pass-chip", box, number, text);
        const bool hovered = ImGui::IsItemHovered();
        list.AddRectFilled(box.low, box.high, lit ? ui.theme.accent_soft : ui.theme.raised, ui.px(3));
        if (lit || hovered) compat::add_rect(list, box.low, box.high, lit ? ui.theme.accent : ui.theme.text, ui.px(3));
        if (edited) list.AddCircleFilled({box.high.x - ui.px(5), box.low.y + ui.px(5)}, ui.px(2.5F), ui.theme.accent);
        const float room = box.width() - ui.px(8);
        if (room > ui.px(10))
            draw_text(ui, {ui.fonts.caption, lit ? ui.theme.text : ui.theme.muted},
                      {box.low.x + ui.px(4), box.low.y + ui.px(2)}, fitted(ui.fonts.caption, text, room), room);
        return pressed;
    };
    const float begin = area.low.x + ui.px(8), whole = ui.px(110);
    if (chip(begin, begin + whole, tr("whole text"), !passes.shown,
             change_the_pass(passes.shown ? passes.text_edits : scenario.edits), -1))
        commands.push_back(core::command::ShowWholeText{});
    tooltip(tr("All positions in one pass ([ goes back, ] goes on)"));
    // What the pass that is shown computes, in words.
    const std::string name = passes.shown ? tr(core::name_of_pass(scenario)) : std::string();
    const float name_x = area.high.x - ui.px(12) - compat::text_size(ui.fonts.caption, name).x;
    if (passes.shown) draw_text(ui, ui.caption(), {name_x, y + ui.px(2)}, name);
    const float from = begin + whole + ui.px(8), end = name_x - ui.px(8);
    const float pitch = std::min((end - from) / static_cast<float>(passes.sizes.size()), ui.px(110));
    for (std::size_t i = 0; i < passes.sizes.size(); ++i) {
        const InputsPart part = core::part_of_pass(passes, i);
        const bool lit = passes.shown == i;
        const float x = from + pitch * static_cast<float>(i);
        if (chip(x, x + pitch, pass_text(scenario, part, session.cursor().place.batch), lit,
                 change_the_pass(lit ? scenario.edits : passes.edits[i]), static_cast<std::int64_t>(i)))
            commands.push_back(core::command::ShowPass{passes.sizes, i});
        tooltip(
            tr("Pass {pass}: computes {count} positions, and reads the {kept} that were kept ([ goes back, ] goes on)",
               {{"pass", i}, {"count", part.count}, {"kept", part.first}})
                .c_str());
    }
}

}  // namespace

std::optional<Area> place_on_strip(const ViewState& state, StepId step) {
    for (const auto& [item, area] : state.part<StripState>().drawn)
        if (item.holds(step)) return area;
    return std::nullopt;
}

float strip_height(const Ui& ui, const core::Session& session, const ViewState& state) {
    const float passes = passes_height(ui, session);
    if (state.settings.strip_folded) return passes + ui.px(kFolded);
    const auto outline = core::step::shown_outline(session.derived(), session.shown().run);
    const float legend = session.overlay() ? overlay_legend_height(ui) : 0.0F;
    const bool has_encoder =
        std::ranges::any_of(outline->blocks, [](const auto& block) { return block.stack == StackKind::encoder; });
    const float encoder = has_encoder ? ui.px(kAbove.height) : 0.0F;
    return passes + legend + encoder + ui.px((is_low_window(ui) ? kLow : kWhole).height);
}

void draw_strip(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands) {
    const Area whole = area;
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddRectFilled(area.low, area.high, ui.theme.panel);
    list.AddLine({area.low.x, area.high.y}, area.high, ui.theme.line);
    const float passes = passes_height(ui, session);
    draw_passes_line(ui, session, {area.low, {area.high.x, area.low.y + passes}}, commands);
    area.low.y += passes;
    if (session.overlay() && !state.settings.strip_folded) {
        draw_overlay_legend(
            ui, *session.overlay(),
            {{area.low.x + ui.px(kMargin), area.low.y + ui.px(4)}, {area.low.x + ui.px(kMargin + 260), area.high.y}},
            commands);
        area.low.y += overlay_legend_height(ui);
    }
    const Scene s = {ui,
                     session,
                     state,
                     commands,
                     current_step(session),
                     core::diff::shown_reach(session.derived(), session.shown()),
                     StepColors(ui, session),
                     session.seen_notes()};
    const auto outline = core::step::shown_outline(session.derived(), session.shown().run);
    const bool back = is_back(*outline, s.here);
    StripState& strip = s.strip();
    Unfolded& unfolded = state.part<Unfolded>();
    if (!state.playing) unfolded = unfolded_at(s.plan(), s.plan()[s.here], unfolded);
    strip.textures.begin_frame();
    strip.drawn.clear();
    std::vector<Line> lines = lay_out(s.plan(), outline->blocks, unfolded, back, area.low.x + ui.px(kMargin),
                                      area.high.x - ui.px(kMargin), ui.fonts.scale);
    glide(s, lines, back);
    if (state.settings.strip_folded) {
        draw_folded(s, area, lines, back);
    } else {
        std::vector<Drawn> drawn;
        const auto here = std::ranges::find_if(lines, [&](const Line& line) { return line.x_of(s.here).has_value(); });
        for (auto line = lines.begin(); line != lines.end(); ++line) {
            const Shape& shape = shape_of(ui, *line, lines.size());
            const bool is_done = here != lines.end() && (back ? line > here : line < here);
            drawn.push_back({s, *line, shape, area, line->x_of(s.here), is_done});
            area.low.y += ui.px(shape.height);
        }
        for (const Drawn& d : drawn) {
            draw_frame(d);
            draw_wires(d, back);
            draw_items(d, back);
            draw_mark(d);
            scrub(d);
        }
        if (drawn.size() > 1 && !back) draw_memory(s, drawn[0], drawn[1]);
        if (back && !is_low_window(ui)) draw_target(s, {area.low, whole.high});
    }
    if (strip.textures.wants_more()) state.busy = true;
    if (ImGui::GetIO().MouseWheel != 0.0F && ImGui::IsWindowHovered() && whole.contains(ImGui::GetIO().MousePos))
        commands.push_back(core::command::Move{ImGui::GetIO().MouseWheel < 0.0F ? 1 : -1});
}

}  // namespace decoderscope::views::strip
