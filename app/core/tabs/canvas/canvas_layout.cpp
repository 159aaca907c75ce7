#include "app/core/tabs/canvas/canvas_layout.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string_view>

namespace decoderscope::core::canvas {

namespace {

// Between pictures of a line, the heads of a step, lines, parts, blocks, and columns of blocks; around what a frame
// holds; and left of what doesn't lie on the residual stream, which runs there.
constexpr double kGap = 0.2, kHeadsGap = 0.3, kBelowLine = 0.1, kAroundPart = 0.1, kBetweenParts = 0.12, kInBlock = 0.2,
                 kBetweenBlocks = 0.45, kGutter = 1.1, kStreamRoom = kStreamWidth - 0.1;
// The width of a picture beside its height, and of a weight's.
constexpr double kNarrowest = 0.22, kWidest = 3.0, kWeight = 0.62, kOneRow = 0.16, kOverKeys = 1.5;

struct Size {
    double width = 0.0, height = 0.0;
    Index heads = 1, across = 1;
    double densest = 1.0;  // the most cells along a unit
};

// A picture's form tells its shape, but less strongly: a matrix of 18 rows and 512 columns must not be 28 times as wide
// as high.
double form(Index rows, Index columns) {
    return std::clamp(std::sqrt(static_cast<double>(columns) / static_cast<double>(std::max<Index>(rows, 1))),
                      kNarrowest, kWidest);
}

Size shape_of(const Step& step) {
    const std::size_t rank = step.axes.size();
    const bool has_heads = rank == 4 && step.axes[1].name == axis::head;
    const Index rows = rank < 2 ? 1 : step.axes[rank - 2].size, columns = rank < 1 ? 1 : step.axes[rank - 1].size;
    if (is_over_keys(step.axes) && rows > 1) {
        Size size{.height = kOverKeys, .heads = has_heads ? step.axes[1].size : 1};
        const auto down = static_cast<Index>(std::sqrt(static_cast<double>(size.heads)));
        size.across = (size.heads + down - 1) / down;
        const Placed grid{.at = {0, 0, 1, kOverKeys}, .heads = size.heads, .across = size.across};
        const double height = grid.picture(0).height, gap = kHeadsGap / static_cast<double>(down);
        size.width = (height * form(rows, columns) + gap) * static_cast<double>(size.across) - gap;
        return size;
    }
    const Index all = columns * (has_heads ? step.axes[1].size : 1);
    const bool is_weight = step.role == Role::parameter;
    if (rows <= 1)
        return {.width = std::clamp(0.12 * std::sqrt(static_cast<double>(all)), 0.3, 1.4), .height = kOneRow};
    const double height = is_weight ? kWeight : 1.0;
    // What is computed only if it is looked at has little to show until then.
    const double widest = step.role == Role::on_demand ? 1.0 : kWidest;
    return {.width = std::min(height * form(rows, all), widest), .height = height};
}

Size size_of(const Step& step) {
    Size size = shape_of(step);
    Index cells = 1;
    for (const Axis& along : step.axes) cells = std::max(cells, along.size);
    const auto in_a_row = static_cast<double>(size.heads > 1 ? size.across : 1);
    size.densest = static_cast<double>(cells) * in_a_row / std::min(size.width, size.height);
    return size;
}

// A block while its pictures are placed, from its own upper left corner.
struct Draft {
    std::vector<Placed> pictures;
    std::vector<PlacedPart> parts;
    double width = 0.0, height = 0.0, densest = 1.0;
    std::optional<double> stream_from, stream_to;  // where the residual stream enters, and where it ends
};

class Drafting {
public:
    Drafting(const Plan& plan, const std::vector<step::OutlineBlock>& outline, std::size_t block, double wrap,
             std::set<StepId>* unread_weights)
        : plan_(plan), outline_(outline[block]), number_(block), wrap_(wrap), weights_(unread_weights) {
        y_ = outline_.name.empty() ? kInBlock : kBlockHeading;
    }

    Draft made() {
        for (std::size_t i = 0; i < outline_.parts.size(); ++i) add_part(i);
        draft_.width += kInBlock;
        draft_.height = bottom_ + kInBlock;
        if (!draft_.stream_to) draft_.stream_to = draft_.stream_from;
        return std::move(draft_);
    }

private:
    struct Item {
        StepId step;
        Size size;
        bool is_weight;
        Phrase caption = Phrase("");
    };

    std::vector<Item> items_of(const step::OutlinePart& part) {
        std::vector<Item> items;
        for (const StepId id : part.steps) {
            items.push_back({id, size_of(plan_[id]), false});
            for (const step::OutlineBox& box : part.boxes)
                if (box.shown == id && std::string_view(box.caption.english()) != part.title.english())
                    items.back().caption = box.caption;
            if (weights_ == nullptr) continue;
            for (const StepId operand : plan_[id].operands)
                if (plan_[operand].role == Role::parameter && weights_->insert(operand).second)
                    items.push_back({operand, size_of(plan_[operand]), true});
        }
        return items;
    }

    // A norm stands beside what it reads, and what lies on the stream beside what is before it on the stream.
    [[nodiscard]] bool goes_on_in_line(std::size_t i, double width) const {
        if (i == 0 || lines_ != 1 || x_ + kGap + width > wrap_) return false;
        const step::OutlinePart &part = outline_.parts[i], &before = outline_.parts[i - 1];
        return (part.part == Part::norm && (before.on_stream || before.part == Part::norm)) ||
               (part.on_stream && before.on_stream);
    }

    void add_part(std::size_t i) {
        const step::OutlinePart& part = outline_.parts[i];
        const std::vector<Item> items = items_of(part);
        double width = 0.0;
        for (const Item& item : items) width += item.size.width + kGap;
        const bool goes_on = goes_on_in_line(i, width);
        const bool heading = !goes_on && !part.on_stream && part.part != Part::norm;
        if (goes_on) {
            x_ += kGap;
        } else {
            y_ = i == 0 ? y_ : bottom_ + kBetweenParts;
            y_ += kStepName + (heading ? kPartHeading : 0.0);
            x_ = start_ = kInBlock + (part.on_stream ? 0.0 : kStreamRoom);
            line_ = 0.0;
            lines_ = 1;
        }
        PlacedPart placed{.block = number_, .part = i, .has_heading = heading};
        const double left = x_, top = y_ - kStepName - (heading ? kPartHeading : 0.0);
        if (part.on_stream && !draft_.stream_from) draft_.stream_from = y_;
        right_ = left;
        slot_.reset();
        over_keys_ = false;
        for (const Item& item : items) {
            // Queries, keys and values; what is over [query, key]; what comes of it: a line each.
            const bool over_keys = is_over_keys(plan_[item.step].axes);
            if (!item.is_weight && over_keys != over_keys_ && x_ > start_) begin_line();
            if (!item.is_weight) over_keys_ = over_keys;
            add(item);
        }
        bottom_ = std::max(goes_on ? bottom_ : 0.0, y_ + line_ + kBelowLine);
        if (part.on_stream) draft_.stream_to = y_ + line_;
        placed.at = {left - kAroundPart, top, right_ - left + 2.0 * kAroundPart, y_ + line_ + kBelowLine - top};
        draft_.width = std::max(draft_.width, right_ + kAroundPart);
        draft_.parts.push_back(placed);
        x_ = right_ + kGap;
    }

    void begin_line() {
        y_ += line_ + kBelowLine + kStepName;
        x_ = start_;
        line_ = 0.0;
        ++lines_;
        slot_.reset();
    }

    // Pictures of one row, and weights, stand below each other if they fit.
    struct Slot {
        double x, width, used;
    };

    void add(const Item& item) {
        const Size& size = item.size;
        Placed placed{.step = item.step,
                      .heads = size.heads,
                      .across = size.across,
                      .is_weight = item.is_weight,
                      .caption = item.caption};
        if (slot_ && size.height < 0.5 && slot_->used + kGap + size.height <= 1.0 + 1e-9) {
            placed.at = {slot_->x, y_ + slot_->used + kGap, size.width, size.height};
            slot_->used += kGap + size.height;
            slot_->width = std::max(slot_->width, size.width);
        } else {
            if (x_ > start_ && x_ + size.width > wrap_) begin_line();
            placed.at = {x_, y_, size.width, size.height};
            slot_ = Slot{x_, size.width, size.height};
        }
        line_ = std::max(line_, slot_->used);
        right_ = std::max(right_, slot_->x + slot_->width);
        x_ = slot_->x + slot_->width + kGap;
        if (slot_->used >= 1.0) slot_.reset(), x_ = std::max(x_, placed.at.right() + kGap);
        draft_.pictures.push_back(placed);
        draft_.densest = std::max(draft_.densest, size.densest);
    }

    const Plan& plan_;
    const step::OutlineBlock& outline_;
    std::size_t number_;
    double wrap_;
    std::set<StepId>* weights_;  // those that are placed; nullptr: none are
    Draft draft_;
    double x_ = 0.0, y_ = 0.0, start_ = 0.0, line_ = 0.0, right_ = 0.0, bottom_ = 0.0;
    std::optional<Slot> slot_;
    bool over_keys_ = false;  // the picture before
    int lines_ = 0;
};

// Blocks, one below the other: those from `first` to before `last`.
struct Column {
    std::size_t first, last;
    double width, height;
};

bool begins_column(const std::vector<step::OutlineBlock>& outline, std::size_t i) {
    return i == 0 || outline[i].stack != outline[i - 1].stack || outline[i].is_back != outline[i - 1].is_back;
}

// As few columns as no one is higher than this, if its blocks allow it.
std::vector<Column> columns_of(const std::vector<step::OutlineBlock>& outline, const std::vector<Draft>& drafts,
                               double highest) {
    std::vector<Column> columns;
    for (std::size_t i = 0; i < drafts.size(); ++i) {
        const double with_gap = drafts[i].height + kBetweenBlocks;
        if (begins_column(outline, i) || columns.back().height + with_gap > highest)
            columns.push_back({i, i + 1, drafts[i].width, drafts[i].height});
        else
            columns.back() = {columns.back().first, i + 1, std::max(columns.back().width, drafts[i].width),
                              columns.back().height + with_gap};
    }
    return columns;
}

Size size_of(const std::vector<Column>& columns) {
    Size size{.width = kGutter * static_cast<double>(columns.size() + 1)};
    for (const Column& column : columns) {
        size.width += column.width;
        size.height = std::max(size.height, column.height);
    }
    return size;
}

// The room below the columns, and above them: for what runs from one to the next, and for the names of several stacks.
constexpr double kBelow = 0.7;

double above(const std::vector<step::OutlineBlock>& outline) {
    return (outline.front().stack == outline.back().stack ? 0.0 : kStackHeading) + 0.8;
}

// How large a unit is in a window of height 1.
double scale_in(Size size, double above, double aspect) {
    return std::min(aspect / size.width, 1.0 / (size.height + above + kBelow));
}

std::vector<Column> best_columns(const std::vector<step::OutlineBlock>& outline, const std::vector<Draft>& drafts,
                                 double aspect) {
    double sum = 0.0, highest = 0.0;
    for (const Draft& draft : drafts) {
        sum += draft.height + kBetweenBlocks;
        highest = std::max(highest, draft.height);
    }
    std::vector<Column> best;
    constexpr int kMost = 24;
    for (int count = 1; count <= kMost; ++count)
        for (const double slack : {1.0, 1.1, 1.25, 1.45}) {
            const double limit = std::max(highest, sum / count * slack);
            std::vector<Column> tried = columns_of(outline, drafts, limit);
            if (best.empty() ||
                scale_in(size_of(tried), above(outline), aspect) > scale_in(size_of(best), above(outline), aspect))
                best = std::move(tried);
        }
    return best;
}

Box moved(Box box, Point by) { return {box.x + by.x, box.y + by.y, box.width, box.height}; }

// Puts drafts into columns.
class Placing {
public:
    Placing(const Plan& plan, const std::vector<step::OutlineBlock>& outline, std::vector<Draft> drafts,
            std::vector<Column> columns)
        : plan_(plan), outline_(outline), drafts_(std::move(drafts)), columns_(std::move(columns)) {}

    Layout made() {
        double x = kGutter;
        const Size size = size_of(columns_);
        layout_.width = size.width;
        layout_.height = size.height + above(outline_) + kBelow;
        for (const Column& column : columns_) {
            if (begins_column(outline_, column.first)) begin_stack(column);
            place(column, x);
            Box& stack = layout_.stacks.back().at;
            stack.width = x + column.width + kGutter * 0.45 - stack.x;
            x += column.width + kGutter;
        }
        end_stream();
        add_memory();
        return std::move(layout_);
    }

private:
    void begin_stack(const Column& column) {
        end_stream();
        const double left = layout_.stacks.empty() ? kGutter * 0.55 : layout_.stacks.back().at.right() + kGutter * 0.1;
        layout_.stacks.push_back(
            {outline_[column.first].stack, {left, 0.0, 0.0, layout_.height}, outline_[column.first].is_back});
    }

    void place(const Column& column, double x) {
        double y = above(outline_);
        for (std::size_t i = column.first; i < column.last; ++i) {
            const Draft& draft = drafts_[i];
            const Point at = {x, y};
            layout_.densest = std::max(layout_.densest, draft.densest);
            for (Placed picture : draft.pictures) {
                picture.at = moved(picture.at, at);
                layout_.pictures.push_back(picture);
            }
            for (PlacedPart part : draft.parts) {
                part.at = moved(part.at, at);
                layout_.parts.push_back(part);
            }
            layout_.blocks.push_back({i, {x, y, column.width, draft.height}});
            if (draft.stream_from) go_through(draft, at, i == column.first);
            y += draft.height + kBetweenBlocks;
        }
    }

    // The stream comes down through a block; from the foot of a column it goes to the top of the next.
    void go_through(const Draft& draft, Point at, bool is_first) {
        const double x = at.x + kInBlock + kStreamRoom * 0.5;
        if (!stream_.empty() && is_first) {
            const double gutter = at.x - kGutter * 0.3, foot = layout_.height - kBelow * 0.6,
                         top = above(outline_) - 0.35;
            const double from = stream_.back().x;
            stream_.insert(stream_.end(), {{from, foot}, {gutter, foot}, {gutter, top}, {x, top}});
        }
        stream_.push_back({x, at.y + *draft.stream_from});
        stream_.push_back({x, at.y + *draft.stream_to});
    }

    void end_stream() {
        if (stream_.size() > 1) layout_.wires.push_back({std::move(stream_), true});
        stream_.clear();
    }

    // From the encoder's last picture on its stream to each cross-attention.
    void add_memory() {
        const Placed* from = nullptr;
        for (const Placed& picture : layout_.pictures)
            if (plan_[picture.step].in_encoder() && plan_[picture.step].part != Part::own && !picture.is_weight &&
                !plan_[picture.step].backward)
                from = &picture;
        if (from == nullptr) return;
        const double out = from->at.right(), middle = from->at.y + from->at.height * 0.5;
        double trunk = 0.0;
        for (const PlacedStack& stack : layout_.stacks)
            if (stack.stack == StackKind::encoder && !stack.is_back) trunk = stack.at.right() + kGutter * 0.05;
        for (const PlacedPart& part : layout_.parts) {
            const step::OutlineBlock& block = outline_[part.block];
            if (block.stack != StackKind::decoder || block.is_back ||
                block.parts[part.part].part != Part::cross_attention)
                continue;
            const double into = part.at.y + kPartHeading * 0.5, channel = kStackHeading + 0.15;
            const double down = block_of(part.block).x - kGutter * 0.5;
            Wire wire{{{out, middle}, {trunk, middle}}, false};
            if (down > trunk + kGutter)
                wire.points.insert(wire.points.end(), {{trunk, channel}, {down, channel}, {down, into}});
            else
                wire.points.push_back({trunk, into});
            wire.points.push_back({part.at.x, into});
            layout_.wires.push_back(std::move(wire));
        }
    }

    [[nodiscard]] Box block_of(std::size_t number) const {
        return std::ranges::find(layout_.blocks, number, &PlacedBlock::block)->at;
    }

    const Plan& plan_;
    const std::vector<step::OutlineBlock>& outline_;
    std::vector<Draft> drafts_;
    std::vector<Column> columns_;
    Layout layout_;
    std::vector<Point> stream_;
};

}  // namespace

Place place_in(const Step& step, const Placed& placed, Index head, Place selected, Index query_heads) {
    if (placed.heads > 1)
        selected.head = head * query_heads / placed.heads;
    else if (!is_over_keys(step.axes) || step.axes[1].size > 1)
        selected.head = Place::kAllHeads;
    return selected;
}

Box Placed::picture(Index head) const {
    if (heads == 1) return at;
    const auto columns = static_cast<double>(across), rows = static_cast<double>(down());
    const double gap = kHeadsGap / rows, width = (at.width - gap * (columns - 1.0)) / columns,
                 height = (at.height - gap * (rows - 1.0)) / rows;
    return {at.x + static_cast<double>(head % across) * (width + gap),
            at.y + static_cast<double>(head / across) * (height + gap), width, height};
}

const Placed* Layout::find(StepId step) const {
    const auto found = std::ranges::find(pictures, step, &Placed::step);
    return found == pictures.end() ? nullptr : &*found;
}

Layout lay_out(const Plan& plan, const std::vector<step::OutlineBlock>& outline, bool weights, double aspect) {
    if (outline.empty()) return {};
    std::vector<Draft> best;
    std::vector<Column> columns;
    for (const double wrap : {6.0, 8.0, 10.0, 13.0, 17.0}) {
        std::vector<Draft> drafts;
        std::set<StepId> placed;
        for (std::size_t i = 0; i < outline.size(); ++i)
            drafts.push_back(Drafting(plan, outline, i, wrap, weights ? &placed : nullptr).made());
        std::vector<Column> tried = best_columns(outline, drafts, aspect);
        if (!columns.empty() &&
            scale_in(size_of(tried), above(outline), aspect) <= scale_in(size_of(columns), above(outline), aspect))
            continue;
        best = std::move(drafts);
        columns = std::move(tried);
    }
    return Placing(plan, outline, std::move(best), std::move(columns)).made();
}

Value<Layout> shown_layout(Derived& derived, const std::shared_ptr<const Run>& run, bool weights, double aspect) {
    return derived.get<Layout>({run->shared_plan()}, std::tie(weights, aspect), [&] {
        return lay_out(run->plan(), step::shown_outline(derived, run)->blocks, weights, aspect);
    });
}

std::vector<bool> downstream_of(const Plan& plan, StepId step) {
    std::vector<bool> reached(plan.steps().size(), false);
    reached[step] = true;
    for (const Step& later : plan.steps())
        reached[later.id] =
            reached[later.id] || std::ranges::any_of(later.operands, [&](StepId operand) { return reached[operand]; });
    return reached;
}

}  // namespace decoderscope::core::canvas
