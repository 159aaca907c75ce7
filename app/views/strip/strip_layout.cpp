#include "app/views/strip/strip.h"
#include "engine/base/translate.h"

#include <algorithm>

namespace decoderscope::views::strip {

namespace {

using core::step::OutlineBlock;
using core::step::OutlineBox;
using core::step::OutlinePart;

// Widths in pixels at 100 %, of each kind but the boxes, whose widths differ.
constexpr std::array kWidths = {0.0F, 20.0F, 6.0F, 84.0F, 56.0F, 64.0F};
constexpr float kSliver = 8;
constexpr float kGap = 18, kNarrowGap = 6, kSliverGap = 2;
// How far widths and gaps follow the window.
constexpr float kLeastScale = 0.62F, kMostScale = 1.6F;

float width_of(const Item& item) {
    if (item.is_sliver) return kSliver;
    if (item.kind != Item::Kind::box) return kWidths[static_cast<std::size_t>(item.kind)];
    if (item.meaning == Meaning::norm) return 46;
    return item.caption.size() == 1 ? 40 : 54;
}

float gap_between(const Item& a, const Item& b) {
    if (a.is_sliver && b.is_sliver) return kSliverGap;
    const auto projects = [](const Item& item) {
        return item.meaning == Meaning::query || item.meaning == Meaning::key || item.meaning == Meaning::value;
    };
    return projects(a) && projects(b) ? kNarrowGap : kGap;
}

bool computes_attention(const OutlinePart& part) {
    return part.part == Part::self_attention || part.part == Part::cross_attention;
}

Item item_of(std::size_t block, Item::Kind kind, std::string name, std::string caption, Meaning meaning,
             std::vector<StepId> steps, StepId shown) {
    return {kind, std::move(name), block, std::move(caption), meaning, std::move(steps), shown};
}

// The pattern of an attention that is folded; otherwise what comes last.
StepId shown_of(const Plan& plan, const OutlinePart& part) {
    const auto pattern = std::ranges::find_if(part.steps, [&](StepId id) { return plan[id].is_pattern; });
    return pattern != part.steps.end() ? *pattern : part.steps.back();
}

void add_part(const Plan& plan, std::size_t number, const OutlinePart& part, const std::string& name, bool folded,
              std::vector<Item>& items) {
    const bool is_joint = part.part == Part::residual_stream;
    if (part.part == Part::add || is_joint || folded) {
        items.push_back(item_of(number,
                                is_joint ? Item::Kind::joint
                                : folded ? Item::Kind::attention
                                         : Item::Kind::sum,
                                name, folded ? tr(part.title) : std::string(), part.meaning, part.steps,
                                shown_of(plan, part)));
        items.back().on_stream = !folded;
        items.back().begins = folded;
        return;
    }
    for (const OutlineBox& box : part.boxes) {
        items.push_back(item_of(number, Item::Kind::box, name + "." + box.caption.english(), tr(box.caption),
                                box.meaning, box.steps, box.shown));
        items.back().on_stream = part.on_stream;
        items.back().begins = part.reads.empty() && &box == &part.boxes.front();
    }
}

// A block, folded: the stream as it leaves it.
void add_folded(const Plan& plan, std::size_t number, const OutlineBlock& block, std::vector<Item>& items) {
    std::vector<StepId> steps;
    for (const OutlinePart& part : block.parts) steps.insert(steps.end(), part.steps.begin(), part.steps.end());
    StepId shown = steps.back();
    for (const StepId id : steps)
        if (plan[id].meaning == Meaning::residual && plan[id].role == Role::recorded) shown = id;
    const Index layer = plan[steps.back()].layer;
    const std::string caption = layer < 0 ? block.name : tr("block {number}", {{"number", layer}});
    items.push_back(
        item_of(number, Item::Kind::block, block.name, caption, Meaning::residual, std::move(steps), shown));
    items.back().on_stream = true;
}

void add_block(const Plan& plan, std::size_t number, const OutlineBlock& block, const Unfolded& unfolded,
               std::vector<Item>& items) {
    if (!block.name.empty() && block.name != unfolded.block) return add_folded(plan, number, block, items);
    const bool picks = std::ranges::count_if(block.parts, computes_attention) > 1;
    bool first = true;
    for (std::size_t i = 0; i < block.parts.size(); ++i) {
        const OutlinePart& part = block.parts[i];
        bool folded = picks && computes_attention(part);
        if (folded) {
            const std::string& attention = plan[part.steps.front()].attention;
            folded = unfolded.attention.empty() ? !first : attention != unfolded.attention;
            first = false;
        }
        add_part(plan, number, part, std::to_string(number) + "." + std::to_string(i), folded, items);
    }
}

// The other pass as one item.
Item item_of_pass(const Plan& plan, std::size_t number, bool is_back, std::vector<StepId> steps) {
    const StepId first = steps.front();
    Item item = item_of(number, Item::Kind::pass, is_back ? "backward" : "forward",
                        is_back ? tr("gradients") : tr("forward pass"), plan[first].meaning, std::move(steps), first);
    item.on_stream = true;
    return item;
}

float natural_width(const std::vector<Item>& items) {
    float width = 0.0F;
    for (std::size_t i = 0; i < items.size(); ++i)
        width += width_of(items[i]) + (i == 0 ? 0.0F : gap_between(items[i - 1], items[i]));
    return width;
}

// Folds pictures of blocks into slivers, the farthest first, until the rest fits.
void leave_room(std::vector<Item>& items, const std::string& unfolded, const std::vector<OutlineBlock>& outline,
                float room) {
    std::size_t here = 0;
    for (std::size_t i = 0; i < items.size(); ++i)
        if (outline[items[i].block].name == unfolded) here = i;
    const auto distance = [&](std::size_t i) { return i > here ? i - here : here - i; };
    while (natural_width(items) * kLeastScale > room) {
        std::optional<std::size_t> farthest;
        for (std::size_t i = 0; i < items.size(); ++i)
            if (items[i].kind == Item::Kind::block && !items[i].is_sliver &&
                (!farthest || distance(i) > distance(*farthest)))
                farthest = i;
        if (!farthest) return;
        items[*farthest].is_sliver = true;
    }
}

void place(std::vector<Item>& items, float from, float to, float scale) {
    const float natural = std::max(natural_width(items), 1.0F) * scale;
    const float fit = std::min((to - from) / natural, kMostScale) * scale;
    float x = from + std::max((to - from) - natural_width(items) * fit, 0.0F) * 0.5F;
    for (std::size_t i = 0; i < items.size(); ++i) {
        if (i > 0) x += gap_between(items[i - 1], items[i]) * fit;
        items[i].from = x;
        x += width_of(items[i]) * fit;
        items[i].to = x;
    }
}

}  // namespace

bool Item::holds(StepId step) const { return std::ranges::find(steps, step) != steps.end(); }

float Item::x_of(std::size_t number) const {
    return from + (to - from) * (static_cast<float>(number) + 0.5F) / static_cast<float>(steps.size());
}

std::optional<float> Line::x_of(StepId step) const {
    for (const Item& item : items)
        if (const auto found = std::ranges::find(item.steps, step); found != item.steps.end())
            return item.x_of(static_cast<std::size_t>(found - item.steps.begin()));
    return std::nullopt;
}

Unfolded unfolded_at(const Plan& plan, const Step& step, Unfolded before) {
    if (step.block.empty() && !before.block.empty()) return before;
    const std::string block = step.block.empty() && !plan.blocks(StackKind::decoder).empty()
                                  ? plan.blocks(StackKind::decoder).front()
                                  : step.block;
    if (block != before.block) before = {block, {}};
    if (!step.attention.empty()) before.attention = step.attention;
    return before;
}

std::vector<Line> lay_out(const Plan& plan, const std::vector<OutlineBlock>& outline, const Unfolded& unfolded,
                          bool back, float from, float to, float scale) {
    std::vector<Line> lines;
    std::vector<StepId> other;
    std::size_t other_block = 0;
    for (std::size_t i = 0; i < outline.size(); ++i) {
        const OutlineBlock& block = outline[i];
        if (block.is_back != back) {
            if (other.empty()) other_block = i;
            for (const OutlinePart& part : block.parts) other.insert(other.end(), part.steps.begin(), part.steps.end());
            continue;
        }
        auto line = std::ranges::find(lines, block.stack, &Line::stack);
        if (line == lines.end()) line = lines.insert(line, {block.stack, {}});
        add_block(plan, i, block, unfolded, line->items);
    }
    if (lines.empty()) return lines;
    // The encoder is above, also on the way back.
    std::ranges::stable_sort(lines, std::ranges::greater(),
                             [](const Line& line) { return line.stack == StackKind::encoder; });
    if (!other.empty()) {
        std::vector<Item>& items = lines.back().items;
        items.insert(back ? items.begin() : items.end(), item_of_pass(plan, other_block, !back, std::move(other)));
    }
    for (Line& line : lines) {
        leave_room(line.items, unfolded.block, outline, (to - from) / scale);
        if (back) std::ranges::reverse(line.items);
        place(line.items, from, to, scale);
    }
    return lines;
}

}  // namespace decoderscope::views::strip
