#include "app/views/widgets/frame_document.h"

#include "app/views/widgets/fonts.h"
#include "app/views/widgets/imgui_compat.h"

#include <algorithm>

namespace decoderscope::views {

namespace {

// Whether a text begins on an area: of one in several lines, only that is known.
bool begins_on(const Area& area, const Area& text) {
    return area.contains({text.low.x + 1.0F, (text.low.y + text.high.y) * 0.5F});
}

bool is_text(const DocumentItem& item) {
    return item.kind == DocumentItem::Kind::text || item.kind == DocumentItem::Kind::heading;
}

float size_of(const Area& area) { return area.width() * area.height(); }

bool on_one_line(const Area& a, const Area& b) {
    const float middle = (b.low.y + b.high.y) * 0.5F;
    return middle > a.low.y && middle < a.high.y;
}

// Two texts that stand side by side.
void append(std::string& text, std::string_view next) {
    if (next.empty()) return;
    if (!text.empty()) text += ' ';
    text += next;
}

}  // namespace

FrameDocument* document_in_use() {
    const ContextData* shared = context_data();
    return shared == nullptr ? nullptr : shared->document;
}

FrameDocument* noting_document() {
    FrameDocument* document = document_in_use();
    return document != nullptr && document->collects() ? document : nullptr;
}

void FrameDocument::begin() {
    if (ContextData* shared = context_data()) shared->document = this;
    collects_ = std::exchange(asked_, false);
    silent_ = 0;
    parts_.clear();
    noted_.clear();
}

void FrameDocument::end() {
    if (ContextData* shared = context_data()) shared->document = nullptr;
    pressed_ = 0;  // what wasn't drawn can't be pressed
    pressed_cell_.reset();
    if (!std::exchange(collects_, false)) return;
    put_texts_on_buttons();
    name_fields();
    join_lines();
    items_.clear();
    for (Noted& noted : noted_)
        if (!noted.gone) items_.push_back(std::move(noted.item));
    noted_.clear();
}

bool FrameDocument::takes_press(ImGuiID id) {
    if (id == 0 || id != pressed_) return false;
    pressed_ = 0;
    return true;
}

std::optional<std::pair<Index, Index>> FrameDocument::takes_cell(std::uint64_t key) {
    if (!pressed_cell_ || pressed_cell_->first != key) return std::nullopt;
    return std::exchange(pressed_cell_, std::nullopt)->second;
}

// ---- what widgets note

// What a dialog covers can't be read past it, either.
void FrameDocument::add(DocumentItem item, const ImDrawList& list) {
    if (!collects() || !compat::in_front()) return;
    item.part = parts_.empty() ? std::string() : parts_.back();
    noted_.push_back({std::move(item), &list, {}, false});
}

void FrameDocument::note_text(const ImDrawList& list, ImFont* font, ImVec2 at, std::string_view text) {
    if (!collects() || text.empty()) return;
    const float height = compat::font_size(font);
    const bool heading = height > compat::font_size(ImGui::GetIO().FontDefault) * 1.1F;
    const float width = compat::text_size(font, text.substr(0, text.find('\n'))).x;
    add({.kind = heading ? DocumentItem::Kind::heading : DocumentItem::Kind::text,
         .text = std::string(text),
         .area = {at, {at.x + width, at.y + height}}},
        list);
}

void FrameDocument::note_button(std::string_view name, std::optional<bool> on) {
    const ImGuiID id = compat::last_item();
    if (!collects() || id == 0) return;
    add({.kind = DocumentItem::Kind::button,
         .text = std::string(name),
         .on = on,
         .disabled = compat::is_disabled(),
         .id = id,
         .area = {ImGui::GetItemRectMin(), ImGui::GetItemRectMax()}},
        *ImGui::GetWindowDrawList());
}

void FrameDocument::note_field(ImGuiID id, std::string_view hint, std::string_view value, bool many_lines) {
    if (!collects()) return;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    add({.kind = DocumentItem::Kind::field,
         .text = std::string(hint),
         .value = std::string(value),
         .many_lines = many_lines,
         .id = id,
         .area = {at, {at.x + ImGui::CalcItemWidth(), at.y + ImGui::GetFrameHeight()}}},
        *ImGui::GetWindowDrawList());
}

void FrameDocument::note_tooltip(std::string_view text) {
    if (!collects() || compat::last_item() == 0) return;
    const auto item = std::find_if(noted_.rbegin(), noted_.rend(),
                                   [](const Noted& noted) { return noted.item.id == compat::last_item(); });
    if (item != noted_.rend()) item->item.hint = text;
}

void FrameDocument::note_table(DocumentTable table, Area area) {
    std::string title = table.title;
    add({.kind = DocumentItem::Kind::table, .text = std::move(title), .area = area, .table = std::move(table)},
        *ImGui::GetWindowDrawList());
}

// ---- what the notes mean together

// A text belongs to the smallest button that it is drawn on.
void FrameDocument::put_texts_on_buttons() {
    std::vector<Noted*> buttons;
    for (Noted& noted : noted_)
        if (noted.item.kind == DocumentItem::Kind::button) buttons.push_back(&noted);
    for (std::size_t i = 0; i < noted_.size(); ++i) {
        Noted& text = noted_[i];
        if (!is_text(text.item)) continue;
        Noted* smallest = nullptr;
        for (Noted* button : buttons)
            if (button->list == text.list && begins_on(button->item.area, text.item.area) &&
                (smallest == nullptr || size_of(button->item.area) < size_of(smallest->item.area)))
                smallest = button;
        if (smallest == nullptr) continue;
        if (smallest->item.text.empty())
            smallest->on_it.push_back(i);
        else if (smallest->item.text.find(text.item.text) == std::string::npos)
            continue;
        text.gone = true;  // its name says it
    }
    for (Noted* button : buttons) {
        for (const std::size_t i : button->on_it) append(button->item.text, noted_[i].item.text);
        if (button->item.text.empty()) button->item.text = std::exchange(button->item.hint, {});
    }
}

// What has no name of its own has that of what stands before it in its line: a text, or the field that a list belongs
// to. A field's hint is then only that; without one, the text above it is its name.
void FrameDocument::name_fields() {
    for (std::size_t i = 1; i < noted_.size(); ++i) {
        DocumentItem& item = noted_[i].item;
        const bool is_field = item.kind == DocumentItem::Kind::field;
        if (!is_field && !(item.kind == DocumentItem::Kind::button && item.text.empty())) continue;
        const std::string* above = nullptr;
        for (std::size_t before = i; before-- > 0 && noted_[before].item.part == item.part;) {
            Noted& other = noted_[before];
            if (other.gone) continue;
            if (above == nullptr && is_text(other.item)) above = &other.item.text;
            if (other.list != noted_[i].list || !on_one_line(item.area, other.item.area)) continue;
            if (is_field && !is_text(other.item)) break;  // that is its name
            if (is_field) item.hint = item.text;
            item.text = other.item.text;
            other.gone = other.item.kind == DocumentItem::Kind::text;
            break;
        }
        if (item.text.empty() && above != nullptr) item.text = *above;
    }
}

// What stands side by side is read as one line.
void FrameDocument::join_lines() {
    Noted* line = nullptr;
    for (Noted& noted : noted_) {
        if (noted.gone) continue;
        const bool text = noted.item.kind == DocumentItem::Kind::text;
        const Area& area = noted.item.area;
        const bool joins = text && line != nullptr && line->list == noted.list && line->item.part == noted.item.part &&
                           area.low.x >= line->item.area.high.x - 1.0F && on_one_line(line->item.area, area);
        if (joins) {
            append(line->item.text, noted.item.text);
            line->item.area.high.x = area.high.x;
            noted.gone = true;
        } else {
            line = text ? &noted : nullptr;
        }
    }
}

Unsaid::Unsaid() : document_(document_in_use()) {
    if (document_ != nullptr) ++document_->silent_;
}

Unsaid::~Unsaid() {
    if (document_ != nullptr) --document_->silent_;
}

Unsaid NotedWhole::noted(ImFont* font, ImVec2 at, std::string_view text) {
    if (FrameDocument* document = document_in_use()) document->note_text(*ImGui::GetWindowDrawList(), font, at, text);
    return {};
}

DocumentPart::DocumentPart(std::string_view part) : document_(document_in_use()) {
    if (document_ != nullptr) document_->enter(part);
}

DocumentPart::~DocumentPart() {
    if (document_ != nullptr) document_->leave();
}

}  // namespace decoderscope::views
