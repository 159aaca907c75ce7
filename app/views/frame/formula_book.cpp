#include "app/views/frame/formula_book.h"

#include "app/core/session/session.h"
#include "app/views/frame/view_state.h"

namespace decoderscope::views {

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
