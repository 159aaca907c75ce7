#include "app/core/generate/shown_passes.h"
#include "app/core/run/passes_of_text.h"
#include "app/core/text/numbers.h"
#include "app/core/text/token_text.h"
#include "app/views/frame/stale.h"
#include "app/views/tabs/generate/tab.h"
#include "app/views/widgets/imgui_compat.h"
#include "app/views/widgets/widgets.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

namespace decoderscope::views::generate {

namespace {

using core::generate::PassRow;
using core::generate::ShownPasses;

// How many positions the first pass computes, and each after it.
struct Cut {
    Index first = 1, each = 1;
};

Cut cut_of(const std::vector<Index>& sizes) { return {sizes.front(), sizes.size() > 1 ? sizes[1] : 1}; }

core::generate::PassesQuestion question_of(const core::Session& session) {
    core::Cursor number = session.cursor();
    number.place = {};
    return {core::generate::sizes_of(session.shown().scenario), session.cursor().place.batch, std::move(number)};
}

core::Value<ShownPasses> passes_of(const core::Session& session) {
    return core::generate::shown_passes(session.derived(), session.shown(), question_of(session));
}

void show_pass(const core::Session& session, std::size_t pass, Commands& commands) {
    commands.push_back(core::command::ShowPass{core::generate::sizes_of(session.fitting_scenario()), pass});
}

// Where the text is cut, and whether all of it is shown. Returns the height used.
float draw_cut(const Ui& ui, const core::Session& session, Area area, Commands& commands) {
    const Index length = core::text_of(session.fitting_scenario()).pos();
    const std::vector<Index> sizes = core::generate::sizes_of(session.fitting_scenario());
    const core::TextInPasses* shown = core::shown_pass(session.fitting_scenario());
    Cut cut = cut_of(sizes);
    const Cut before = cut;
    ImGui::SetCursorScreenPos(area.low);
    cut.first = std::clamp<Index>(cut.first + counter(ui, tr("first pass"), cut.first, length + 1), 1, length);
    ImGui::SameLine(0, ui.px(16));
    cut.each = std::clamp<Index>(cut.each + counter(ui, tr("each after it"), cut.each, length + 1), 1, length);
    if (cut.first != before.first || cut.each != before.each) {
        std::vector<Index> next = core::generate::even_sizes(cut.first, cut.each, length);
        const std::size_t pass = std::min(shown != nullptr ? *shown->shown : next.size() - 1, next.size() - 1);
        commands.push_back(core::command::ShowPass{std::move(next), pass});
    }
    if (shown == nullptr) return ImGui::GetFrameHeight() + ui.px(8);
    ImGui::SameLine(0, ui.px(16));
    if (button(tr("Show the whole text"), "whole")) commands.push_back(core::command::ShowWholeText{});
    return ImGui::GetFrameHeight() + ui.px(8);
}

// A column of the table: its heading, where it begins as a share of the width, and what a row says in it.
struct Column {
    std::string heading;
    float from = 0.0F;
};

std::string positions_text(const InputsPart& part) {
    return part.count == 1 ? std::to_string(part.first)
                           : tr("{first} to {last}", {{"first", part.first}, {"last", part.first + part.count - 1}});
}

std::string tokens_text(const core::Scenario& scenario, Index row, const InputsPart& part) {
    const Tensor& tokens = core::text_of(scenario).tokens;
    if (tokens.empty()) return {};
    std::string text;
    for (Index i = part.first; i < part.first + std::min<Index>(part.count, 48); ++i)
        text += (text.empty() || scenario.tokenizer().can_encode() ? "" : " ") +
                core::token_text(scenario.tokenizer(), static_cast<Index>(tokens.at(Cell{row, i})));
    return text;
}

std::string difference_of(const core::TensorDifference& worst) {
    return worst.same_bits ? std::string(tr("none")) : core::short_number_text(worst.largest, 2) + "  " + worst.name;
}

void draw_row(const Ui& ui, const core::Session& session, const PassRow& row, std::size_t number,
              const std::vector<Column>& columns, Area area, Commands& commands) {
    const core::Scenario& scenario = session.shown().scenario;
    const core::TextInPasses* shown = core::shown_pass(session.fitting_scenario());
    const bool lit = shown != nullptr && *shown->shown == number;
    if (press_at("pass", area, static_cast<std::int64_t>(number), tr("pass {pass}", {{"pass", number}})))
        show_pass(session, number, commands);
    if (lit || ImGui::IsItemHovered())
        ImGui::GetWindowDrawList()->AddRectFilled(area.low, area.high, lit ? ui.theme.accent_soft : ui.theme.raised,
                                                  ui.px(3));
    tooltip(tr("Click: this pass on the stage, with what it read from the cache"));
    std::string next;
    if (row.next)
        next = core::token_text(scenario.tokenizer(), *row.next) + "  " + core::short_number_text(row.probability, 2);
    const std::array<std::string, 7> texts = {
        std::to_string(number),
        positions_text(row.part),
        tokens_text(scenario, session.cursor().place.batch, row.part),
        std::to_string(row.part.first),
        next,
        difference_of(row.worst),
        row.number ? core::short_number_text(static_cast<double>(*row.number), 4) : std::string()};
    for (std::size_t i = 0; i < columns.size(); ++i) {
        const float end = i + 1 < columns.size() ? columns[i + 1].from : 1.0F;
        const float x = area.low.x + area.width() * columns[i].from + ui.px(4);
        const float room = area.width() * (end - columns[i].from) - ui.px(10);
        const bool far = i == 5 && !row.worst.same_bits && row.worst.relative() >= 1e-4;
        draw_text(ui, ui.fonts.mono_small, {x, area.low.y + ui.px(3)}, far ? ui.theme.warning : ui.theme.text,
                  fitted(ui.fonts.mono_small, texts[i], room), room);
    }
}

void draw_table(const Ui& ui, const core::Session& session, const ShownPasses& shown, Area area, Commands& commands) {
    const std::vector<Column> columns = {{tr("pass"), 0.0F},        {tr("positions"), 0.06F},
                                         {tr("tokens"), 0.17F},     {tr("reads"), 0.35F},
                                         {tr("predicts"), 0.42F},   {tr("difference from the whole"), 0.55F},
                                         {tr("chosen cell"), 0.85F}};
    const float scrollbar = ImGui::GetStyle().ScrollbarSize + ui.px(4), line = ui.px(22);
    const float width = area.width() - scrollbar;
    for (std::size_t i = 0; i < columns.size(); ++i) {
        const float end = i + 1 < columns.size() ? columns[i + 1].from : 1.0F, room = width * (end - columns[i].from);
        draw_text(ui, ui.fonts.caption, {area.low.x + width * columns[i].from + ui.px(4), area.low.y}, ui.theme.muted,
                  fitted(ui.fonts.caption, columns[i].heading, room - ui.px(8)), room - ui.px(8));
    }
    scrolled_rows(ui, "passes", {{area.low.x, area.low.y + ui.px(18)}, area.high}, line, shown.rows.size(),
                  [&](std::size_t i, Area row) { draw_row(ui, session, shown.rows[i], i, columns, row, commands); });
}

// The pass that is shown, beside the whole text.
void draw_compare(const core::Session& session, ViewState& state, const ShownPasses& shown, ImVec2 at,
                  Commands& commands) {
    const core::Snapshot& now = session.shown();
    if (core::shown_pass(now.scenario) == nullptr || !shown.whole || session.stale()) return;
    ImGui::SetCursorScreenPos(at);
    if (!button(tr("Compare this pass with the whole text"), "compare-whole")) return;
    commands.push_back(core::command::Pin{core::generate::whole_beside(now.scenario, *now.run, *shown.whole)});
    state.tab = core::files::kDiffTab;
}

}  // namespace

void draw_passes(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands) {
    area.low.y += draw_cut(ui, session, area, commands);
    const core::Value<ShownPasses> shown = passes_of(session);
    auto& passes = state.part<GenerateTabState>().passes;
    passes.take(load::about(session.shown().scenario.opened()), shown, [&] { return question_of(session); });
    draw_answer(
        ui, "coming-passes", passes, area, commands,
        [&](Commands& heard) {
            const ShownPasses& found = *passes.answer();
            if (!found.error.empty()) {
                text_block(ui, ui.fonts.text, ui.theme.error, area, tr(found.error));
                return area;
            }
            const float below = ImGui::GetFrameHeight() + ui.px(8);
            draw_table(ui, session, found, {area.low, {area.high.x, area.high.y - below}}, heard);
            draw_compare(session, state, found, {area.low.x, area.high.y - below + ui.px(4)}, heard);
            return area;
        },
        [&](Area note) { text_block(ui, ui.fonts.text, ui.theme.muted, note, tr("Computing …")); });
}

std::vector<Sentence> pass_sentences(const ViewState& state) {
    const auto& passes = state.part<GenerateTabState>().passes;
    if (!passes) return {};
    std::vector<Sentence> sentences = core::generate::sentences_of_passes(*passes.answer());
    if (!passes.answer()->number.empty())
        sentences.push_back(message("The last column is {number}. Choose another cell on the stage to follow it.",
                                    {{"number", passes.answer()->number}}));
    return sentences;
}

void go_to_pass(const core::Session& session, int by, Commands& commands) {
    const std::vector<Index> sizes = core::generate::sizes_of(session.fitting_scenario());
    const core::TextInPasses* shown = core::shown_pass(session.fitting_scenario());
    const auto last = static_cast<std::ptrdiff_t>(sizes.size()) - 1;
    // The whole text stands before the first pass.
    const std::ptrdiff_t now = shown != nullptr ? static_cast<std::ptrdiff_t>(*shown->shown) : -1;
    const std::ptrdiff_t next = now + by;
    if (next < 0)
        commands.push_back(core::command::ShowWholeText{});
    else if (next <= last)
        show_pass(session, static_cast<std::size_t>(next), commands);
}

}  // namespace decoderscope::views::generate
