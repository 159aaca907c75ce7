#include "app/views/causes/causes_tab.h"

#include "app/core/text/numbers.h"
#include "app/views/causes/causes_parts.h"
#include "app/views/shell/inspector_parts.h"
#include "app/views/widgets/imgui_compat.h"
#include "app/views/widgets/terms.h"
#include "engine/translate.h"

#include <algorithm>
#include <cmath>

namespace decoderscope {

namespace {

constexpr std::array kPages = {message("What moves it"), message("What comes back"), message("Who wrote it")};
constexpr std::array kPageTips = {
    message(
        "Its slope by scores, stream and input, beside what happens when heads are switched off and tokens swapped"),
    message("Activation patching: rows of another run are put into this one, one at a time"),
    message("Direct logit attribution: the logit as a sum of what each head and each MLP wrote into the stream")};

void choose_page(const Ui& ui, CausesTabState& causes) {
    for (std::size_t i = 0; i < kPages.size(); ++i) {
        if (i > 0) ImGui::SameLine(0, ui.px(2));
        const auto page = static_cast<CausesPage>(i);
        if (toggle_button(ui, labelled(tr(kPages[i]), kCausesPageNames[i]).c_str(), causes.page == page,
                          tr(kPageTips[i])))
            causes.page = page;
    }
}

void say(const Ui& ui, ViewState& state, const char* text) {
    if (const GlossaryTerm* term = prose_with_terms(ui, state, ui.fonts.caption, ui.theme.text, text))
        open_glossary(state, term->id);
    ImGui::Dummy({1, ui.px(4)});
}

void say_page(const Ui& ui, ViewState& state, CausesPage page) {
    switch (page) {
        case CausesPage::moves:
            say(ui, state,
                tr("A gradient is the slope at this one point: how much the number would change for a tiny change. It "
                   "says little about what happens when a head is switched off, which is a long way to go."));
            say(ui, state,
                tr("So beside each slope stands what really happens when it is done, and the mean of the slopes along "
                   "8 steps from off to on (integrated gradients), which is right again."));
            break;
        case CausesPage::patching:
            say(ui, state,
                tr("A is this run, B another one. One row of B, a step at a position, is put into A, and everything "
                   "after it is computed again. The picture says how much of the difference comes back."));
            say(ui, state,
                tr("1: what makes the difference passes through there. 0: nothing of it does. With B the clean run "
                   "and A the corrupted one this is causal tracing (Meng et al. 2022)."));
            break;
        case CausesPage::writers:
            say(ui, state,
                tr("The stream is a sum, so the logit is one, too: what each head, each MLP and the embedding wrote, "
                   "divided by the final norm's own scale and read by the language head."));
            say(ui, state,
                tr("Only the direct way counts here. What a head changes in later heads and MLPs is in their terms."));
            break;
    }
}

}  // namespace

std::string cause_text(double value) { return short_number_text(value, 3); }

void draw_signed_bar(const Ui& ui, Area area, double value, double most) {
    if (most <= 0.0 || !std::isfinite(value)) return;
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const float middle = std::floor((area.low.x + area.high.x) * 0.5F);
    const float length = static_cast<float>(std::clamp(value / most, -1.0, 1.0)) * area.width() * 0.5F;
    list.AddRectFilled({std::min(middle, middle + length), area.low.y},
                       {std::max(middle, middle + length), area.high.y},
                       value < 0.0 ? ui.theme.warning : ui.theme.accent);
    list.AddLine({middle, area.low.y - ui.px(2)}, {middle, area.high.y + ui.px(2)}, ui.theme.line);
}

bool draw_causes_progress(const Ui& ui, const CausesProgress& progress, Area area) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const Area bar = {{area.low.x, area.low.y + ui.px(24)}, {area.low.x + ui.px(240), area.low.y + ui.px(28)}};
    draw_text(ui, ui.fonts.text, area.low, ui.theme.muted,
              tr("Measuring: {done} of {all} runs", {{"done", progress.done.load()}, {"all", progress.all.load()}}),
              area.width());
    list.AddRectFilled(bar.low, bar.high, ui.theme.raised);
    list.AddRectFilled(bar.low, {bar.low.x + bar.width() * static_cast<float>(progress.share()), bar.high.y},
                       ui.theme.accent);
    ImGui::SetCursorScreenPos({area.low.x, bar.high.y + ui.px(8)});
    return button(tr("Cancel"), "cancel-causes");
}

void ask_what_moves(const Session& session, ViewState& state) {
    CausesTabState& causes = state.lab<CausesTabState>();
    state.tab = "causes";
    causes.page = CausesPage::moves;
    const std::optional<Cell>& cell = session.cursor().cell;
    if (!cell) return;
    causes.number = {.kind = NumberKind::cell, .tensor = session.step().name, .cell = *cell};
}

void draw_causes_tab(const Ui& ui, const Session& session, ViewState& state, Area area, Commands& commands) {
    CausesTabState& causes = state.lab<CausesTabState>();
    const float pad = ui.px(16);
    Area rest = {{area.low.x + pad, area.low.y + ui.px(10)}, {area.high.x - pad, area.high.y - ui.px(10)}};
    ImGui::SetCursorScreenPos(rest.low);
    choose_page(ui, causes);
    rest.low.y += ui.px(36);
    rest.low.y += draw_causes_choices(ui, session, causes, rest, commands);
    const Snapshot& shown = session.shown();
    const Sentence obstacle = number_obstacle(shown.scenario, *shown.run, causes.number);
    causes.shown.reset();
    if (!obstacle.empty()) {
        text_block(ui, ui.fonts.text, ui.theme.muted, rest, tr(obstacle));
        return;
    }
    causes.shown = *shown_number(session.derived(), shown, session.cursor().place.batch, causes.number);
    const ResolvedNumber number = *causes.shown;
    switch (causes.page) {
        case CausesPage::moves:
            return draw_moves(ui, session, state, number, rest, commands);
        case CausesPage::patching:
            return draw_patching(ui, session, state, number, rest, commands);
        case CausesPage::writers:
            return draw_writers(ui, session, causes, number, rest, commands);
    }
}

void inspect_causes(const Ui& ui, const Session& session, ViewState& state, Commands&) {
    const CausesTabState& causes = state.lab<CausesTabState>();
    if (causes.shown) {
        const Tensor& values = session.shown().run->value(causes.shown->number.tensor);
        paragraph(ui.fonts.text, ui.theme.text, tr(causes.shown->name));
        if (!values.empty() && values.contains(causes.shown->number.cell))
            text_line(ui.fonts.heading, ui.theme.text, cause_text(causes.shown->number.in(values)));
        inspector_line(ui);
    }
    say_page(ui, state, causes.page);
}

}  // namespace decoderscope
