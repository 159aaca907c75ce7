#include "app/core/run/edit_groups.h"

#include "app/core/text/numbers.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace decoderscope::core {

namespace {

using EditNumbers = std::vector<std::size_t>;

// What the cells of a stroke have in common, and the factor of heads that were switched together.
using Kind = std::tuple<std::size_t, std::string, std::optional<Index>, std::optional<Index>, float>;

// Edits of one kind may be one group; nothing for an edit that stands alone.
std::optional<Kind> kind_of(const Edit& edit) {
    if (const auto* mask = std::get_if<MaskEdit>(&edit)) {
        if (!mask->query || !mask->key) return std::nullopt;
        return Kind{edit.index(), mask->attention, mask->batch, mask->head, mask->keep ? 1.0F : 0.0F};
    }
    if (const auto* scale = std::get_if<ScaleHead>(&edit))
        return Kind{edit.index(), scale->attention, std::nullopt, std::nullopt, scale->factor};
    if (!std::holds_alternative<SetCell>(edit)) return std::nullopt;
    return Kind{edit.index(), std::get<SetCell>(edit).tensor, std::nullopt, std::nullopt, 0.0F};
}

EditGroup alone(const std::vector<Edit>& edits, std::size_t number) {
    return {Sentence::verbatim(describe(edits[number])), {number}};
}

void add_alone(const std::vector<Edit>& edits, const EditNumbers& numbers, std::vector<EditGroup>& groups) {
    for (const std::size_t number : numbers) groups.push_back(alone(edits, number));
}

// ---- cells of a mask

const MaskEdit& mask_at(const std::vector<Edit>& edits, std::size_t number) {
    return std::get<MaskEdit>(edits[number]);
}

Sentence place_of(const MaskEdit& edit) {
    const Sentence batch = edit.batch ? message("batch {index}", {{"index", *edit.batch}}) : message("every batch row");
    const Sentence head = edit.head ? message("head {index}", {{"index", *edit.head}}) : message("every head");
    return message("{batch}, {head}", {{"batch", batch}, {"head", head}});
}

// The cells with the same query, or the same key, in the order of the first of each.
std::vector<EditNumbers> lines(const std::vector<Edit>& edits, const EditNumbers& numbers,
                               std::optional<Index> MaskEdit::*along) {
    std::vector<EditNumbers> found;
    std::map<Index, std::size_t> line_of;
    for (const std::size_t number : numbers) {
        const auto [line, is_new] = line_of.emplace(*(mask_at(edits, number).*along), found.size());
        if (is_new) found.emplace_back();
        found[line->second].push_back(number);
    }
    return found;
}

EditGroup line_group(const std::vector<Edit>& edits, const EditNumbers& numbers, bool row) {
    if (numbers.size() == 1) return alone(edits, numbers.front());
    const MaskEdit& first = mask_at(edits, numbers.front());
    const Arguments arguments = {
        {"attention", first.attention}, {"index", row ? *first.query : *first.key}, {"place", place_of(first)}};
    const std::size_t cells = numbers.size();
    if (row)
        return {first.keep ? message_n("{attention}: row {index} opened, {count} cell ({place})",
                                       "{attention}: row {index} opened, {count} cells ({place})", cells, arguments)
                           : message_n("{attention}: row {index} masked, {count} cell ({place})",
                                       "{attention}: row {index} masked, {count} cells ({place})", cells, arguments),
                numbers};
    return {first.keep ? message_n("{attention}: column {index} opened, {count} cell ({place})",
                                   "{attention}: column {index} opened, {count} cells ({place})", cells, arguments)
                       : message_n("{attention}: column {index} masked, {count} cell ({place})",
                                   "{attention}: column {index} masked, {count} cells ({place})", cells, arguments),
            numbers};
}

EditGroup area_group(const std::vector<Edit>& edits, const EditNumbers& numbers) {
    Index top = *mask_at(edits, numbers.front()).query, bottom = top;
    for (const std::size_t number : numbers) {
        const Index query = *mask_at(edits, number).query;
        top = std::min(top, query);
        bottom = std::max(bottom, query);
    }
    const MaskEdit& first = mask_at(edits, numbers.front());
    const std::size_t count = numbers.size();
    const Arguments arguments = {{"attention", first.attention},
                                 {"cells", grouped(static_cast<Index>(count))},
                                 {"top", top},
                                 {"bottom", bottom},
                                 {"place", place_of(first)}};
    return {first.keep
                ? message_n("{attention}: {cells} cell opened in rows {top} to {bottom} ({place})",
                            "{attention}: {cells} cells opened in rows {top} to {bottom} ({place})", count, arguments)
                : message_n("{attention}: {cells} cell masked in rows {top} to {bottom} ({place})",
                            "{attention}: {cells} cells masked in rows {top} to {bottom} ({place})", count, arguments),
            numbers};
}

// Whole lines if there are few of them; otherwise all cells as one area, as for a sliding window.
void add_mask_groups(const std::vector<Edit>& edits, const EditNumbers& numbers, std::vector<EditGroup>& groups) {
    constexpr std::size_t kFewLines = 3;
    const std::vector<EditNumbers> rows = lines(edits, numbers, &MaskEdit::query),
                                   columns = lines(edits, numbers, &MaskEdit::key);
    const bool by_row = rows.size() <= columns.size();
    const std::vector<EditNumbers>& fewer = by_row ? rows : columns;
    if (fewer.size() <= kFewLines)
        for (const EditNumbers& line : fewer) groups.push_back(line_group(edits, line, by_row));
    else
        groups.push_back(area_group(edits, numbers));
}

// ---- heads and cells

void add_head_group(const std::vector<Edit>& edits, const EditNumbers& numbers, std::vector<EditGroup>& groups) {
    if (numbers.size() == 1) return add_alone(edits, numbers, groups);
    std::string heads;
    for (const std::size_t number : numbers)
        heads += (heads.empty() ? "" : ", ") + std::to_string(std::get<ScaleHead>(edits[number]).head);
    const auto& first = std::get<ScaleHead>(edits[numbers.front()]);
    const Arguments arguments = {
        {"attention", first.attention}, {"heads", heads}, {"factor", short_number(static_cast<double>(first.factor))}};
    groups.push_back({first.factor == 0.0F ? message("{attention}: heads {heads} off", arguments)
                                           : message("{attention}: heads {heads} × {factor}", arguments),
                      numbers});
}

void add_cell_group(const std::vector<Edit>& edits, const EditNumbers& numbers, std::vector<EditGroup>& groups) {
    constexpr std::size_t kFew = 3;
    if (numbers.size() <= kFew) return add_alone(edits, numbers, groups);
    groups.push_back({message_n("{tensor}: {count} number overwritten", "{tensor}: {count} numbers overwritten",
                                numbers.size(), {{"tensor", std::get<SetCell>(edits[numbers.front()]).tensor}}),
                      numbers});
}

// By what they do alone.
std::vector<EditGroup> groups_by_kind(const std::vector<Edit>& edits, const EditNumbers& some) {
    std::vector<EditNumbers> alike;
    std::map<Kind, std::size_t> seen;
    for (const std::size_t number : some) {
        const std::optional<Kind> kind = kind_of(edits[number]);
        const auto [place, is_new] = kind ? seen.emplace(*kind, alike.size()) : std::pair(seen.end(), true);
        if (is_new) alike.emplace_back();
        (is_new ? alike.back() : alike[place->second]).push_back(number);
    }
    std::vector<EditGroup> groups;
    for (const EditNumbers& numbers : alike) {
        const Edit& first = edits[numbers.front()];
        if (!kind_of(first))
            add_alone(edits, numbers, groups);
        else if (std::holds_alternative<MaskEdit>(first))
            add_mask_groups(edits, numbers, groups);
        else if (std::holds_alternative<ScaleHead>(first))
            add_head_group(edits, numbers, groups);
        else
            add_cell_group(edits, numbers, groups);
    }
    return groups;
}

// What one gesture made, though it is of several kinds.
EditGroup as_one(const std::vector<EditGroup>& groups, const EditNumbers& numbers) {
    constexpr std::size_t kNamed = 3;
    Sentence text = groups.front().text;
    for (std::size_t i = 1; i < std::min(kNamed, groups.size()); ++i)
        text = message("{first}; {next}", {{"first", text}, {"next", groups[i].text}});
    if (groups.size() > kNamed)
        text = message_n("{these}; and {count} more", "{these}; and {count} more", groups.size() - kNamed,
                         {{"these", text}});
    return {text, numbers};
}

std::map<std::uint32_t, EditNumbers> by_gesture(const std::vector<Edit>& edits) {
    std::map<std::uint32_t, EditNumbers> found;
    for (std::size_t number = 0; number < edits.size(); ++number)
        found[gesture_of(edits[number]).number].push_back(number);
    return found;
}

}  // namespace

std::vector<EditGroup> edit_groups(const std::vector<Edit>& edits) {
    std::vector<EditGroup> groups;
    for (const auto& [gesture, numbers] : by_gesture(edits)) {
        std::vector<EditGroup> kinds = groups_by_kind(edits, numbers);
        if (gesture == 0)
            groups = std::move(kinds);
        else
            groups.push_back(as_one(kinds, numbers));
    }
    std::ranges::stable_sort(groups, {}, [](const EditGroup& group) { return group.numbers.front(); });
    return groups;
}

std::size_t count_of_edits(const std::vector<Edit>& edits) {
    const std::map<std::uint32_t, EditNumbers> gestures = by_gesture(edits);
    const auto unknown = gestures.find(0);
    if (unknown == gestures.end()) return gestures.size();
    return gestures.size() - 1 + groups_by_kind(edits, unknown->second).size();
}

std::vector<std::string> texts_of_edits(const std::vector<Edit>& edits) {
    std::vector<std::string> texts;
    for (const EditGroup& group : edit_groups(edits)) texts.push_back(tr(group.text));
    return texts;
}

std::string first_of_edits(const std::vector<std::string>& texts, std::size_t most) {
    std::string list;
    for (std::size_t i = 0; i < std::min(texts.size(), most); ++i) list += (i > 0 ? "; " : "") + texts[i];
    if (texts.size() > most) list += tr_n("; and {count} more", "; and {count} more", texts.size() - most);
    return list;
}

void number_gesture(std::vector<Edit>& edits, std::uint32_t gesture) {
    for (Edit& edit : edits)
        if (gesture_of(edit).number == 0) gesture_of(edit).number = gesture;
}

std::uint32_t number_groups(std::vector<Edit>& edits) {
    std::uint32_t highest = 0;
    for (const Edit& edit : edits) highest = std::max(highest, gesture_of(edit).number);
    for (const EditGroup& group : edit_groups(edits)) {
        const bool is_new = gesture_of(edits[group.numbers.front()]).number == 0;
        if (is_new) ++highest;
        for (const std::size_t number : group.numbers)
            if (is_new) gesture_of(edits[number]).number = highest;
    }
    return highest;
}

}  // namespace decoderscope::core
