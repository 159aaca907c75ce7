#include "app/views/dialogs/dialogs.h"
#include "app/views/frame/books.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/base/translate.h"

#include <algorithm>

namespace decoderscope::views::dialogs {

namespace {

constexpr float kGlossaryWidth = 760.0F, kHeight = 460.0F, kList = 220.0F;

// The list of the terms found; what is typed and the arrow keys choose among them.
void draw_list(const Ui& ui, ViewState& state, float height) {
    GlossaryState& glossary = state.part<GlossaryState>();
    ImGui::SetNextItemWidth(ui.px(kList));
    if (state.dialog_opens) compat::take_keyboard();
    focusable_field("##search", glossary.search.data(), tr("Search"));
    const bool typed =
        ImGui::InputTextWithHint("##search", tr("Search"), glossary.search.data(), glossary.search.size());
    note_glyphs(ImGui::GetFont(), glossary.search.data());
    const std::vector<const core::glossary::GlossaryTerm*> found =
        core::glossary::terms_matching(glossary.search.data());
    auto here = std::ranges::find(found, std::string_view(glossary.term), &core::glossary::GlossaryTerm::id);
    if (!found.empty() && (typed || here == found.end())) here = found.begin();
    if (pressed(Key::down, {}, true) && here != found.end() && here + 1 != found.end()) ++here, glossary.scrolls = true;
    if (pressed(Key::up, {}, true) && here != found.begin() && here != found.end()) --here, glossary.scrolls = true;
    if (here != found.end()) glossary.term = std::string((*here)->id);
    compat::begin_child("terms", {ui.px(kList), height - ImGui::GetFrameHeightWithSpacing()});
    if (found.empty()) paragraph(ui.note(), tr("No matches"));
    for (const core::glossary::GlossaryTerm* term : found) {
        const bool chosen = term->id == glossary.term;
        if (press_row(labelled(tr(term->name), term->id).c_str(), chosen, ImGuiSelectableFlags_DontClosePopups))
            glossary.term = std::string(term->id);
        if (chosen && std::exchange(glossary.scrolls, false)) ImGui::SetScrollHereY();
    }
    ImGui::EndChild();
}

void draw_name_elsewhere(const Ui& ui, const char* where, std::string_view name) {
    if (name.empty()) return;
    text_line(ui.note(), where);
    paragraph(ui.number(), name);
    ImGui::Dummy({1, ui.px(4)});
}

// Links to where the term is in this run: its step, its tab.
void draw_places(const Ui& ui, const core::Session& session, ViewState& state, const core::glossary::GlossaryTerm& term,
                 Commands& commands) {
    const Ref step = core::glossary::example_of(term, session.shown().run->plan(), session.step());
    const std::vector<TabPage> ways = ways_in();
    // The last one: a page rather than its tab.
    const auto about =
        std::find_if(ways.rbegin(), ways.rend(), [&](const TabPage& way) { return way.term == term.id; });
    const TabPage* tab = about == ways.rend() ? nullptr : &*about;
    if (step == nullptr && tab == nullptr) return;
    text_line(ui.note(), tr("In this run"));
    if (step != nullptr) {
        const std::string text = tr("Go to {step} →", {{"step", step->name}});
        if (link(ui, {ui.fonts.caption, ui.theme.accent}, text, 1)) {
            state.tab = core::files::kStepTab;
            commands.push_back(core::command::GoTo{step->name});
            close_dialog(state);
        }
    }
    if (tab != nullptr &&
        link(ui, {ui.fonts.caption, ui.theme.accent}, tr("Open the tab {tab} →", {{"tab", tr(tab->title)}}), 2)) {
        state.tab = tab->id;
        close_dialog(state);
    }
}

void draw_entry(const Ui& ui, const core::Session& session, ViewState& state, ImVec2 size, Commands& commands) {
    const core::glossary::GlossaryTerm* term = core::glossary::find_term(state.part<GlossaryState>().term);
    compat::begin_child("entry", size);
    if (term != nullptr) {
        paragraph(ui.title(), tr(term->name));
        if (const std::string also = tr(term->spellings); !also.empty())
            paragraph(ui.note(), tr("also: {spellings}", {{"spellings", also}}));
        ImGui::Dummy({1, ui.px(4)});
        if (const core::glossary::GlossaryTerm* other = prose_with_terms(ui, state, ui.body(), tr(term->meaning));
            other != nullptr) {
            state.part<GlossaryState>().search.fill('\0');
            state.part<GlossaryState>().choose(*other);
        }
        ImGui::Dummy({1, ui.px(8)});
        draw_name_elsewhere(ui, tr("in PyTorch"), term->pytorch);
        draw_name_elsewhere(ui, tr("in TransformerLens"), term->transformer_lens);
        draw_places(ui, session, state, *term, commands);
    }
    ImGui::EndChild();
}

}  // namespace

void draw_glossary_dialog(const Ui& ui, const core::Session& session, ViewState& state, Commands& commands) {
    const ImVec2 screen = ImGui::GetIO().DisplaySize;
    const float width = std::min(ui.px(kGlossaryWidth), screen.x - ui.px(48));
    const float height = std::min(ui.px(kHeight), screen.y * 0.8F - ui.px(80));
    text_line(ui.title(), tr("Glossary"));
    ImGui::SameLine(0, ui.px(20));
    if (link(ui, {ui.fonts.caption, ui.theme.accent}, tr("Keys"), 3)) {
        close_dialog(state);
        state.show(Dialog::keys);
        return;
    }
    ImGui::SameLine(0, ui.px(16));
    const bool book = link(ui, {ui.fonts.caption, ui.theme.accent}, tr("Formulas"), 4);
    ImGui::Dummy({width, ui.px(2)});
    ImGui::BeginGroup();
    draw_list(ui, state, height);
    ImGui::EndGroup();
    ImGui::SameLine(0, ui.px(20));
    draw_entry(ui, session, state, {width - ui.px(kList + 20), height}, commands);
    if (state.dialog_opens) return;  // the press that opened it is still in this frame
    if (book || pressed(Key::f1)) {
        close_dialog(state);
        open_formulas(state);
    } else if (pressed(Key::escape)) {
        close_dialog(state);
    }
}

}  // namespace decoderscope::views::dialogs
