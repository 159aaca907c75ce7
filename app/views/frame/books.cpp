#include "app/views/frame/books.h"

#include "app/core/text/text_layout.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <cmath>

namespace decoderscope::views {

namespace {

// The places of a term's words, for the mouse.
struct Marked {
    const core::glossary::GlossaryTerm* term = nullptr;
    Area area;
};

void say_meaning(const Ui& ui, ViewState& state, const core::glossary::GlossaryTerm& term, Area beside,
                 std::string_view before) {
    state.part<GlossaryState>().pointed_at = std::string(term.id);
    if (!begin_tooltip_beside(beside)) return;
    if (!before.empty()) prose_here(before, ui.px(360));
    text_line(ui.body(), tr(term.name));
    prose_here(tr(term.meaning), ui.px(360));
    text_line(ui.note(), tr("F1: more in the glossary"));
    ImGui::EndTooltip();
}

// Draws the pieces of a text one after the other, breaking lines between them.
class Flow {
public:
    Flow(const Ui& ui, ImFont* font, ImU32 color)
        : ui_(ui),
          font_(font),
          color_(color),
          start_(ImGui::GetCursorScreenPos()),
          right_(start_.x + ImGui::GetContentRegionAvail().x),
          space_(compat::text_size(font, " ").x),
          pitch_(compat::font_size(font) + ui.px(3)),
          at_(start_) {}

    // A piece of `text`, with the terms in it marked. A line break if there is no room.
    void piece(std::string_view text, const core::TextPiece& piece, std::span<const core::glossary::TermInText> terms) {
        const std::string_view words = text.substr(piece.begin, piece.size);
        if (piece.new_line) new_line();
        if (at_.x > start_.x && piece.spaced) at_.x += space_;
        if (at_.x > start_.x && at_.x + compat::text_size(font_, words).x > right_) new_line();
        for (std::size_t at = piece.begin, end = piece.begin + piece.size; at < end;) {
            const auto next = std::ranges::find_if(
                terms, [&](const core::glossary::TermInText& t) { return at < t.begin + t.size && t.begin < end; });
            const bool inside = next != terms.end() && next->begin <= at;
            const std::size_t stop =
                next == terms.end() ? end : std::min(end, inside ? next->begin + next->size : next->begin);
            part(text.substr(at, stop - at), inside ? next->term : nullptr);
            at = stop;
        }
    }
    void new_line() { at_ = {start_.x, at_.y + pitch_}; }

    // Takes the room in the panel's flow. Returns the term under the mouse.
    const Marked* finish() {
        ImGui::SetCursorScreenPos(start_);
        ImGui::Dummy({right_ - start_.x, at_.y + pitch_ - start_.y});
        const ImVec2 mouse = ImGui::GetIO().MousePos;
        const auto under = std::ranges::find_if(marked_, [&](const Marked& m) { return m.area.contains(mouse); });
        return ImGui::IsItemHovered() && under != marked_.end() ? &*under : nullptr;
    }

private:
    void part(std::string_view text, const core::glossary::GlossaryTerm* term) {
        const float width = compat::text_size(font_, text).x;
        compat::add_text(*ImGui::GetWindowDrawList(), font_, {std::floor(at_.x), std::floor(at_.y)}, color_, text);
        if (term != nullptr) {
            const Area area = {at_, {at_.x + width, at_.y + pitch_}};
            dotted_line(ui_, {at_.x, at_.y + compat::font_size(font_) + ui_.px(1)}, width, ui_.theme.accent);
            marked_.push_back({term, area});
        }
        at_.x += width;
    }

    const Ui& ui_;
    ImFont* font_;
    ImU32 color_;
    ImVec2 start_;
    float right_, space_, pitch_;
    ImVec2 at_;
    std::vector<Marked> marked_;
};

}  // namespace

const core::glossary::TermFinder& GlossaryState::finder() {
    if (!finder_ || language_ != &spoken()) {
        finder_ = std::make_shared<const core::glossary::TermFinder>();
        language_ = &spoken();
    }
    return *finder_;
}

void GlossaryState::choose(const core::glossary::GlossaryTerm& chosen) {
    term = std::string(chosen.id);
    scrolls = true;
}

void open_glossary(ViewState& state, std::string_view term) {
    state.show(Dialog::glossary);
    GlossaryState& glossary = state.part<GlossaryState>();
    glossary.search.fill('\0');
    if (const core::glossary::GlossaryTerm* found = core::glossary::find_term(term)) glossary.choose(*found);
}

void dotted_line(const Ui& ui, ImVec2 at, float width, ImU32 color) {
    const float dot = std::max(1.0F, std::round(ui.px(1)));
    const float y = std::floor(at.y);
    for (float x = std::floor(at.x); x + dot <= at.x + width; x += 3 * dot)
        ImGui::GetWindowDrawList()->AddRectFilled({x, y}, {x + dot, y + dot}, color);
}

void explain_term(const Ui& ui, ViewState& state, const core::glossary::GlossaryTerm* term, std::string_view before) {
    if (term == nullptr || !is_asked_about()) return;
    say_meaning(ui, state, *term, {ImGui::GetItemRectMin(), ImGui::GetItemRectMax()}, before);
}

void term_line(const Ui& ui, ViewState& state, TextStyle style, std::string_view text,
               const core::glossary::GlossaryTerm* term) {
    const NotedWhole noted(style.font, ImGui::GetCursorScreenPos(), text);
    const core::glossary::TermInText whole = {0, text.size(), term};
    Flow flow(ui, style.font, style.color);
    for (const core::TextPiece& piece : core::pieces_of(text)) flow.piece(text, piece, {&whole, 1});
    if (const Marked* under = flow.finish()) say_meaning(ui, state, *under->term, under->area, {});
}

void say(const Ui& ui, ViewState& state, TextStyle style, std::string_view text) {
    if (const core::glossary::GlossaryTerm* term = prose_with_terms(ui, state, style, text))
        open_glossary(state, term->id);
}

const core::glossary::GlossaryTerm* prose_with_terms(const Ui& ui, ViewState& state, TextStyle style,
                                                     std::string_view text) {
    const NotedWhole noted(style.font, ImGui::GetCursorScreenPos(), text);
    const std::vector<core::glossary::TermInText> terms = state.part<GlossaryState>().finder().find(text);
    Flow flow(ui, style.font, style.color);
    for (const core::TextPiece& piece : core::pieces_of(text)) flow.piece(text, piece, terms);
    const Marked* under = flow.finish();
    if (under == nullptr) return nullptr;
    ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
    say_meaning(ui, state, *under->term, under->area, {});
    return ImGui::IsMouseClicked(ImGuiMouseButton_Left) ? under->term : nullptr;
}

void open_formulas(ViewState& state, std::string_view label) {
    auto& book = state.part<FormulaBookState>();
    state.show(Dialog::formulas);
    book.search.fill('\0');
    if (!label.empty()) book.label = label;
    book.scrolls = true;
}

namespace {

void open_editor(ViewState& state, core::sheet::Draft draft) {
    state.part<FormulaEditorState>().draft = std::move(draft);
    state.show(Dialog::formula);
}

}  // namespace

bool can_be_written(const core::Session& session) {
    return session.fitting_scenario().computes() || session.step().part == Part::own;
}

void write_formula(const core::Session& session, ViewState& state) {
    open_editor(state, core::sheet::draft_of(session.shown(), session.step()));
}

void write_row(const core::Session& session, ViewState& state) {
    open_editor(state, core::sheet::new_row(session.shown(), session.step()));
}

void write_check(const core::Session& session, ViewState& state) {
    open_editor(state, core::sheet::new_row(session.shown(), session.step(), true));
}

}  // namespace decoderscope::views
