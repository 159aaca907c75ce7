#include "app/core/text/numbers.h"
#include "app/views/frame/stale.h"
#include "app/views/tabs/generate/tab.h"
#include "app/views/widgets/imgui_compat.h"
#include "app/views/widgets/widgets.h"
#include "engine/base/translate.h"

#include <algorithm>

namespace decoderscope::views::generate {

namespace {

using core::generate::DraftedToken;
using core::generate::Speculated;
using core::generate::SpeculatedRound;

constexpr Index kMostDraftedHere = 8, kMostDraftLength = 48;

Index layers_of(const GenerateScene& scene) { return scene.scenario().config().num_layers; }

core::generate::DraftQuestion draft_question(const GenerateScene& scene) {
    core::generate::DraftQuestion question = scene.tab().draft;
    question.blocks = std::clamp<Index>(question.blocks, 1, layers_of(scene));
    question.speculation.sampling = scene.session.sampling();
    return question;
}

// Returns the height used.
float draw_choices_of_draft(const GenerateScene& scene, Area area) {
    const Ui& ui = scene.ui;
    core::generate::DraftQuestion& asked = scene.tab().draft;
    asked = draft_question(scene);
    ImGui::SetCursorScreenPos(area.low);
    asked.blocks = std::clamp<Index>(
        asked.blocks + counter(ui, tr("blocks of the draft"), asked.blocks, layers_of(scene) + 1), 1, layers_of(scene));
    Index &drafted = asked.speculation.drafted, &length = asked.speculation.length;
    ImGui::SameLine(0, ui.px(16));
    drafted = std::clamp<Index>(drafted + counter(ui, tr("drafted at a time"), drafted, kMostDraftedHere + 1), 1,
                                kMostDraftedHere);
    ImGui::SameLine(0, ui.px(16));
    length = std::clamp<Index>(length + counter(ui, tr("tokens"), length, kMostDraftLength + 1), 1, kMostDraftLength);
    return ImGui::GetFrameHeight() + ui.px(8);
}

void token_tooltip(const GenerateScene& scene, const DraftedToken& one, bool judged) {
    if (!compat::begin_tooltip()) return;
    const Ui& ui = scene.ui;
    text_line(ui.fonts.mono_small, ui.theme.text, scene.piece(one.token));
    if (!judged) {
        text_line(ui.fonts.caption, ui.theme.muted, tr("After a token that was not accepted: thrown away."));
        return ImGui::EndTooltip();
    }
    const Arguments numbers = {{"q", core::short_number_text(one.of_draft, 3)},
                               {"p", core::short_number_text(one.of_model, 3)},
                               {"ratio", core::short_number_text(one.accepted_below(), 3)},
                               {"number", core::fixed_text(one.number, 4)}};
    text_line(
        ui.fonts.caption, ui.theme.text,
        tr(message("the draft gives it q = {q}, the model p = {p}: accepted below min(1, p / q) = {ratio}", numbers)));
    text_line(ui.fonts.caption, ui.theme.muted,
              one.accepted ? tr(message("{number} was drawn: accepted", numbers))
                           : tr(message("{number} was drawn: not accepted", numbers)));
    ImGui::EndTooltip();
}

// A token of a round. Returns its width.
float draw_token(const GenerateScene& scene, ImVec2 at, Index token, ImU32 ground, ImU32 ink, bool struck,
                 std::int64_t number) {
    const Ui& ui = scene.ui;
    ImFont* font = ui.fonts.mono_small;
    const std::string text = scene.piece(token);
    const float inset = ui.px(6), width = compat::text_size(font, text).x + 2.0F * inset, height = ui.px(20);
    const Area box = {at, {at.x + width, at.y + height}};
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddRectFilled(box.low, box.high, ground, ui.px(4));
    draw_text(ui, font, {at.x + inset, at.y + ui.px(3)}, ink, text);
    const float middle = (box.low.y + box.high.y) * 0.5F;
    if (struck) list.AddLine({box.low.x + ui.px(3), middle}, {box.high.x - ui.px(3), middle}, ink, ui.px(1.5F));
    ImGui::SetCursorScreenPos(box.low);
    ImGui::PushID(static_cast<int>(number));
    ImGui::InvisibleButton("drafted", {width, height});
    ImGui::PopID();
    return width;
}

void draw_round(const GenerateScene& scene, const SpeculatedRound& round, std::size_t number, Area row) {
    const Ui& ui = scene.ui;
    float x = row.low.x;
    const float y = row.low.y + ui.px(2);
    draw_text(ui, ui.fonts.caption, {x, y + ui.px(3)}, ui.theme.muted, tr("pass {pass}", {{"pass", number}}));
    x += ui.px(64);
    for (std::size_t i = 0; i < round.drafted.size() && x < row.high.x - ui.px(30); ++i) {
        const DraftedToken& one = round.drafted[i];
        const bool judged = i <= round.accepted;
        x += draw_token(scene, {x, y}, one.token, one.accepted ? ui.theme.accent_soft : ui.theme.raised,
                        one.accepted ? ui.theme.text
                        : judged     ? ui.theme.warning
                                     : ui.theme.muted,
                        !one.accepted, static_cast<std::int64_t>(number * kMostDraftedHere * 2 + i)) +
             ui.px(4);
        if (ImGui::IsItemHovered()) token_tooltip(scene, one, judged);
    }
    if (!round.then) return;
    x += ui.px(8);
    draw_text(ui, ui.fonts.caption, {x, y + ui.px(3)}, ui.theme.muted, "→");
    x += ui.px(18);
    draw_token(scene, {x, y}, *round.then, ui.theme.raised, ui.theme.text, false,
               static_cast<std::int64_t>(number * kMostDraftedHere * 2 + kMostDraftedHere));
    if (!ImGui::IsItemHovered() || !compat::begin_tooltip()) return;
    text_line(ui.fonts.caption, ui.theme.text,
              round.accepted < round.drafted.size()
                  ? tr("drawn in its place, from what the model has above the draft: p = {p}",
                       {{"p", core::short_number_text(round.of_model, 3)}})
                  : tr("drawn after all of them, from the model's own: p = {p}",
                       {{"p", core::short_number_text(round.of_model, 3)}}));
    ImGui::EndTooltip();
}

}  // namespace

void draw_draft(const GenerateScene& scene, Area area) {
    const Ui& ui = scene.ui;
    area.low.y += draw_choices_of_draft(scene, area);
    if (const std::string end = why_text_ends(scene.scenario(), scene.row); !end.empty()) {
        text_block(ui, ui.fonts.text, ui.theme.muted, area, end);
        return;
    }
    const core::Value<core::generate::ShownDraft> shown = core::generate::shown_draft(
        scene.session.derived(), scene.scenario(), scene.session.shown().run, scene.row, draft_question(scene));
    auto& drafted = scene.tab().speculated;
    drafted.take(load::about(scene.scenario().opened()), shown, [&] { return draft_question(scene); });
    draw_answer(
        ui, "coming-draft", drafted, area, scene.commands,
        [&](Commands& heard) {
            const core::generate::ShownDraft& found = *drafted.answer();
            if (!found.error.empty()) {
                text_block(ui, ui.fonts.text, ui.theme.error, area, tr(found.error));
                return area;
            }
            const float below = ImGui::GetFrameHeight() + ui.px(8);
            scrolled_rows(ui, "rounds", {area.low, {area.high.x, area.high.y - below}}, ui.px(26),
                          found.speculated.rounds.size(),
                          [&](std::size_t i, Area row) { draw_round(scene, found.speculated.rounds[i], i, row); });
            ImGui::SetCursorScreenPos({area.low.x, area.high.y - below + ui.px(4)});
            const std::vector<Index>& tokens = found.speculated.tokens;
            if (!tokens.empty() && button(tr("Take this text"), "take-draft") && !scene.session.stale())
                heard.push_back(
                    core::command::AppendToken{scene.row, tokens.front(), {tokens.begin() + 1, tokens.end()}});
            return area;
        },
        [&](Area note) { text_block(ui, ui.fonts.text, ui.theme.muted, note, tr("Computing …")); });
}

std::vector<Sentence> draft_sentences(const GenerateScene& scene) {
    const auto& drafted = scene.tab().speculated;
    if (!drafted || !drafted.answer()->error.empty()) return {};
    return core::generate::sentences_of_draft(drafted.answer()->speculated);
}

}  // namespace decoderscope::views::generate
