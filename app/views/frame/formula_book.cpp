#include "app/views/frame/formula_book.h"

#include "app/views/frame/view_state.h"

namespace decoderscope::views {

void open_formulas(ViewState& state, std::string_view label) {
    auto& book = state.part<FormulaBookState>();
    state.show(Dialog::formulas);
    book.search.fill('\0');
    if (!label.empty()) book.label = label;
    book.scrolls = true;
}

}  // namespace decoderscope::views
