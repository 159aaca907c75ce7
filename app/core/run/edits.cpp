#include "app/core/run/edits.h"

#include "engine/base/error.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

namespace decoderscope::core {

namespace {

bool touches(const std::optional<Index>& along, Index index) { return !along || *along == index; }

// The edit if it is one of this attention's mask; otherwise nullptr.
const MaskEdit* mask_edit(const Edit& edit, const std::string& attention) {
    const auto* mask = std::get_if<MaskEdit>(&edit);
    return mask != nullptr && mask->attention == attention ? mask : nullptr;
}

// Whether painting the stroke replaces this edit of one cell completely.
bool covered(const MaskEdit& edit, const MaskStroke& stroke, const std::set<MaskCell>& cells) {
    return edit.query && edit.key && edit.batch == stroke.batch && (!stroke.head || edit.head == stroke.head) &&
           cells.contains({*edit.query, *edit.key});
}

// The cells that the remaining edits set. Edits of single cells are kept apart from those of rows and columns, so that
// each cell is looked up once.
struct Beneath {
    std::set<MaskCell> cells;
    std::vector<MaskEdit> lines;

    [[nodiscard]] bool touch(MaskCell cell) const {
        return cells.contains(cell) || std::any_of(lines.begin(), lines.end(), [&](const MaskEdit& edit) {
                   return touches(edit.query, cell.first) && touches(edit.key, cell.second);
               });
    }
};

Beneath edits_beneath(const std::vector<Edit>& edits, const MaskStroke& stroke) {
    Beneath beneath;
    for (const Edit& edit : edits) {
        const MaskEdit* mask = mask_edit(edit, stroke.attention);
        if (mask == nullptr || !touches(mask->batch, stroke.batch)) continue;
        if (stroke.head && !touches(mask->head, *stroke.head)) continue;
        if (mask->query && mask->key)
            beneath.cells.insert({*mask->query, *mask->key});
        else
            beneath.lines.push_back(*mask);
    }
    return beneath;
}

// The mask's value at a cell without edits, for one head; nothing if it isn't known.
std::optional<bool> unedited_at(const Tensor& unedited, const MaskStroke& stroke, MaskCell cell, Index head) {
    const Cell at = {stroke.batch, head, cell.first, cell.second};
    if (unedited.rank() != 4 || !unedited.contains(at)) return std::nullopt;
    return unedited.at(at) != 0.0F;
}

// The heads that a stroke is for.
std::vector<Index> heads_of(const MaskStroke& stroke, const Tensor& unedited) {
    if (stroke.head) return {*stroke.head};
    std::vector<Index> heads;
    for (Index head = 0; unedited.rank() == 4 && head < unedited.dim(1); ++head) heads.push_back(head);
    return heads;
}

// Paints one cell as the stroke says; adds an edit only if the cell is not like that without one.
void paint_cell(std::vector<Edit>& edits, const MaskStroke& stroke, const Tensor& unedited, MaskCell cell,
                bool beneath) {
    const std::vector<Index> heads = heads_of(stroke, unedited);
    const auto edit = [&](std::optional<Index> head, bool keep) {
        edits.emplace_back(MaskEdit{stroke.attention, stroke.batch, head, cell.first, cell.second, keep});
    };
    if (!stroke.keep) {
        for (const Index head : heads)
            if (const auto before = unedited_at(unedited, stroke, cell, head); beneath && before) edit(head, *before);
        return;
    }
    const bool as_before = !heads.empty() && std::all_of(heads.begin(), heads.end(), [&](Index head) {
        return unedited_at(unedited, stroke, cell, head) == stroke.keep;
    });
    if (beneath || !as_before) edit(stroke.head, *stroke.keep);
}

// Splits an edit of everything along an axis into one edit per index.
std::vector<MaskEdit> spread(const std::vector<MaskEdit>& edits, std::optional<Index> MaskEdit::*along, Index size) {
    std::vector<MaskEdit> each;
    for (const MaskEdit& edit : edits) {
        if (edit.*along) each.push_back(edit);
        for (Index i = 0; !(edit.*along) && i < size; ++i) {
            each.push_back(edit);
            each.back().*along = i;
        }
    }
    return each;
}

}  // namespace

bool is_same_thing(const Edit& a, const Edit& b) {
    if (a.index() != b.index()) return false;
    if (const auto* formula = std::get_if<RewriteStep>(&a)) return formula->step == std::get<RewriteStep>(b).step;
    if (const auto* row = std::get_if<AddRow>(&a)) return row_name(*row) == row_name(std::get<AddRow>(b));
    if (const auto* mask = std::get_if<MaskEdit>(&a)) {
        const auto& other = std::get<MaskEdit>(b);
        return mask->attention == other.attention && mask->batch == other.batch && mask->head == other.head &&
               mask->query == other.query && mask->key == other.key;
    }
    if (const auto* scale = std::get_if<ScaleHead>(&a)) {
        const auto& other = std::get<ScaleHead>(b);
        return scale->attention == other.attention && scale->head == other.head;
    }
    if (const auto* route = std::get_if<RouteExpert>(&a)) {
        // A position goes to one expert alone, but any of them may be off.
        const auto& other = std::get<RouteExpert>(b);
        return route->mlp == other.mlp && route->batch == other.batch && route->pos == other.pos &&
               route->alone == other.alone && (route->alone || route->expert == other.expert);
    }
    const auto& cell = std::get<SetCell>(a);
    const auto& other = std::get<SetCell>(b);
    return cell.tensor == other.tensor && cell.index == other.index;
}

void put_edit(std::vector<Edit>& edits, const Edit& edit, const std::optional<Edit>& in_place_of) {
    auto at = in_place_of ? std::ranges::find(edits, *in_place_of) : edits.end();
    const auto is_same = [&](const Edit& other) { return is_same_thing(edit, other); };
    if (at == edits.end()) at = std::ranges::find_if(edits, is_same);
    if (at == edits.end()) return edits.push_back(edit);
    const auto place = static_cast<std::size_t>(at - edits.begin());
    std::vector<Edit> left;
    for (std::size_t i = 0; i < edits.size(); ++i) {
        if (i == place)
            left.push_back(edit);
        else if (!is_same(edits[i]))
            left.push_back(std::move(edits[i]));
    }
    edits = std::move(left);
}

void remove_target(std::vector<Edit>& edits, const Edit& edit) {
    std::erase_if(edits, [&](const Edit& other) { return is_same_thing(edit, other); });
}

void replace_edit(std::vector<Edit>& edits, Edit edit) {
    remove_target(edits, edit);
    edits.push_back(std::move(edit));
}

void replace_edits(std::vector<Edit>& edits, std::span<const Edit> more) {
    for (const Edit& edit : more) {
        if (edits.empty()) break;
        remove_target(edits, edit);
    }
    edits.insert(edits.end(), more.begin(), more.end());
}

std::vector<Edit> fitting_edits(Scenario scenario, const std::vector<Edit>& edits) {
    static_cast<void>(plan_of(scenario));
    const auto fit = [&](std::vector<Edit> some) {
        scenario.edits = std::move(some);
        try {
            static_cast<void>(plan_of(scenario));
            return true;
        } catch (const Error&) {
            return false;
        }
    };
    if (fit(edits)) return edits;
    // One by one, each with those before it: a row may read another.
    std::vector<Edit> fitting;
    for (const Edit& edit : edits) {
        fitting.push_back(edit);
        if (!fit(fitting)) fitting.pop_back();
    }
    return fitting;
}

float head_factor(const std::vector<Edit>& edits, const std::string& attention, Index head) {
    float factor = 1.0F;
    for (const Edit& edit : edits)
        if (const auto* scale = std::get_if<ScaleHead>(&edit);
            scale && scale->attention == attention && scale->head == head)
            factor *= scale->factor;
    return factor;
}

bool is_solo(const std::vector<Edit>& edits, const std::string& attention, Index head, Index heads) {
    for (Index other = 0; other < heads; ++other)
        if ((head_factor(edits, attention, other) == 0.0F) == (other == head)) return false;
    return heads > 1;
}

std::vector<Edit> without_factors(std::vector<Edit> edits, const std::string& attention) {
    std::erase_if(edits, [&](const Edit& edit) {
        const auto* scale = std::get_if<ScaleHead>(&edit);
        return scale != nullptr && scale->attention == attention;
    });
    return edits;
}

std::vector<Edit> with_solo(std::vector<Edit> edits, const std::string& attention, Index head, Index heads) {
    edits = without_factors(std::move(edits), attention);
    for (Index other = 0; other < heads; ++other)
        if (other != head) edits.push_back(ScaleHead{attention, other, 0.0F});
    return edits;
}

std::vector<Edit> paint_masks(std::vector<Edit> edits, const MaskStroke& stroke, const Tensor& unedited) {
    const std::set<MaskCell> cells(stroke.cells.begin(), stroke.cells.end());
    std::erase_if(edits, [&](const Edit& edit) {
        const MaskEdit* mask = mask_edit(edit, stroke.attention);
        return mask != nullptr && covered(*mask, stroke, cells);
    });
    const Beneath beneath = edits_beneath(edits, stroke);
    for (const MaskCell& cell : cells) paint_cell(edits, stroke, unedited, cell, beneath.touch(cell));
    return edits;
}

std::vector<Edit> reset_masks(const std::vector<Edit>& edits, const std::string& attention, Index batch,
                              std::optional<Index> head, const Tensor& unedited) {
    std::vector<Edit> left;
    for (const Edit& edit : edits) {
        const MaskEdit* mask = mask_edit(edit, attention);
        const bool meant = mask != nullptr && touches(mask->batch, batch) && (!head || touches(mask->head, *head));
        if (!meant) {
            left.push_back(edit);
            continue;
        }
        if (unedited.rank() != 4) continue;
        std::vector<MaskEdit> each = spread({*mask}, &MaskEdit::batch, unedited.dim(0));
        if (head) each = spread(each, &MaskEdit::head, unedited.dim(1));
        for (const MaskEdit& one : each)
            if (one.batch != batch || (head && one.head != head)) left.emplace_back(one);
    }
    return left;
}

std::vector<MaskCell> cells_between(MaskCell from, MaskCell to) {
    const Index down = to.first - from.first, right = to.second - from.second;
    const Index steps = std::max(std::abs(down), std::abs(right));
    std::vector<MaskCell> cells;
    for (Index i = 1; i <= steps; ++i) {
        const double part = static_cast<double>(i) / static_cast<double>(steps);
        cells.emplace_back(from.first + std::llround(part * static_cast<double>(down)),
                           from.second + std::llround(part * static_cast<double>(right)));
    }
    return cells;
}

std::vector<MaskCell> cells_outside_band(Index queries, Index keys, Index width) {
    std::vector<MaskCell> cells;
    for (Index query = 0; query < queries; ++query)
        for (Index key = 0; key < keys; ++key)
            if (std::abs(query - key) >= width) cells.emplace_back(query, key);
    return cells;
}

std::vector<MaskCell> cells_of_row(Index query, Index keys) {
    std::vector<MaskCell> cells;
    for (Index key = 0; key < keys; ++key) cells.emplace_back(query, key);
    return cells;
}

std::vector<MaskCell> cells_of_column(Index key, Index queries) {
    std::vector<MaskCell> cells;
    for (Index query = 0; query < queries; ++query) cells.emplace_back(query, key);
    return cells;
}

Tensor with_kept_length(const Tensor& mask, Axes axes, Index batch, Index kept) {
    if (batch < 0 || batch >= axes[0].size)
        throw Error("padding of batch row {batch}: expected 0 to {highest}",
                    {{"batch", batch}, {"highest", axes[0].size - 1}});
    const Index length = axes[1].size;
    if (kept < 0 || kept > length)
        throw Error("padding: {kept} positions kept, expected 0 to {length}", {{"kept", kept}, {"length", length}});
    Tensor changed = mask;
    if (changed.empty()) {
        const std::vector<float> ones(static_cast<std::size_t>(element_count(axes)), 1.0F);
        changed = Tensor(std::move(axes), ones);
    }
    const std::span<float> values = changed.writable();
    for (Index i = 0; i < length; ++i) values[static_cast<std::size_t>(batch * length + i)] = i < kept ? 1.0F : 0.0F;
    return changed;
}

Index kept_length(const Tensor& mask, Index batch, Index length) {
    if (mask.empty()) return length;
    const std::span<const float> keep = mask.row({batch, 0}).first(static_cast<std::size_t>(length));
    const auto last = std::find_if(keep.rbegin(), keep.rend(), [](float kept) { return kept != 0.0F; });
    return static_cast<Index>(keep.rend() - last);
}

}  // namespace decoderscope::core
