#include "app/views/frame/answer_box.h"

#include "app/core/text/numbers.h"
#include "app/core/text/token_text.h"
#include "app/views/widgets/imgui_compat.h"

#include <span>
#include <string>
#include <vector>

namespace decoderscope::views {

void answer_box(const Ui& ui, core::Derived& derived, const core::Scenario& scenario,
                const std::shared_ptr<const Run>& run, Index batch, std::string_view letter) {
    const std::optional<core::generate::NextAnswer> found = core::generate::next_answer(derived, scenario, run, batch);
    if (!found || found->shown->likely.empty()) return;
    const core::generate::Answer& next = found->shown->likely.front();
    const tokenizer::Tokenizer& tokenizer = scenario.tokenizer();
    std::vector<Index> ids;
    for (Index at = 0; at <= found->position; ++at)
        ids.push_back(static_cast<Index>(scenario.inputs.tokens.at(Cell{found->row, at})));
    // With the space before it, if it has one there.
    const std::string before = tokenizer.decode(ids);
    std::vector<Index> with = ids;
    with.push_back(next.token);
    const std::string both = tokenizer.decode(with);
    const bool is_text =
        both.size() > before.size() && both.starts_with(before) &&
        both.find_first_not_of(" \n\t", before.size()) != std::string::npos;  // a space is drawn as a sign
    const std::string token = is_text ? both.substr(before.size()) : core::token_text(tokenizer, next.token);
    const std::string share = core::short_number_text(next.probability * 100.0, 2) + " %";
    const float width = ImGui::GetContentRegionAvail().x, pad = ui.px(12), height = ui.px(38);
    const float before_text = letter.empty() ? 0.0F : ui.px(24);
    const float own = compat::text_size(ui.fonts.mono, token).x, right = compat::text_size(ui.fonts.text, share).x;
    // The end of what was read is what the token follows.
    std::span<const Index> read = ids;
    std::string text = before;
    const float room = width - before_text - own - right - 3.0F * pad;
    while (!read.empty() && compat::text_size(ui.fonts.mono, text).x > room) {
        read = read.subspan(1);
        text = tokenizer.decode(read);
    }
    const ImVec2 low = ImGui::GetCursorScreenPos();
    ImGui::GetWindowDrawList()->AddRectFilled(low, {low.x + width, low.y + height}, ui.theme.background, ui.px(4));
    const float y = low.y + (height - compat::font_size(ui.fonts.mono)) * 0.5F;
    const float start = low.x + pad + before_text;
    if (!letter.empty()) draw_text(ui, ui.fonts.text, {low.x + pad, y}, ui.theme.muted, letter);
    const float x = start + draw_text(ui, ui.fonts.mono, {start, y}, ui.theme.text, text);
    draw_text(ui, ui.fonts.mono, {x, y}, ink_of(Meaning::output, ui.theme), token);
    draw_text(ui, ui.fonts.text,
              {low.x + width - pad - right, low.y + (height - compat::font_size(ui.fonts.text)) * 0.5F},
              ink_of(Meaning::output, ui.theme), share);
    ImGui::Dummy({width, height + ui.px(4)});
}

}  // namespace decoderscope::views
