#include "app/core/generate/prediction.h"
#include "app/core/tabs/diff/shown_comparison.h"
#include "app/core/text/token_text.h"
#include "app/views/tabs/causes/tab.h"
#include "app/views/widgets/imgui_compat.h"
#include "app/views/widgets/keyboard_focus.h"
#include "engine/base/translate.h"

#include <algorithm>

namespace decoderscope::views::causes {

namespace {

constexpr Index kMostListed = 400;  // of a vocabulary
constexpr float kLine = 32.0F;

constexpr std::array kKinds = {message("Cell"), message("Logit"), message("Probability"), message("Difference")};
constexpr std::array kKindTips = {message("The selected cell of the step: any number of this run"),
                                  message("The logit of a token"), message("The probability of a token"),
                                  message("The logit of one token minus that of another")};
constexpr std::array kOthers = {message("Another token"), message("Unedited"), message("Pinned"),
                                message("Configuration")};
constexpr std::array kOtherTips = {message("This run with one token of its input replaced"),
                                   message("The same run without its edits"),
                                   message("A run that was pinned before, of the same shape"),
                                   message("The same weights and input with one configuration key changed")};

// A list of likely tokens.
void choose_token(const Ui& ui, const char* id, const tokenizer::Tokenizer& tokenizer,
                  std::span<const core::generate::Answer> likely, Index now, std::optional<Index>& chosen) {
    ImGui::SetNextItemWidth(ui.px(96));
    if (!begin_list(id, core::token_text(tokenizer, now).c_str(), ImGuiComboFlags_HeightLarge)) return;
    for (const core::generate::Answer& answer : likely)
        if (press_row(labelled(core::token_text(tokenizer, answer.token), std::to_string(answer.token)).c_str(),
                      answer.token == now))
            chosen = answer.token;
    ImGui::EndCombo();
}

void choose_kind(const Ui& ui, const core::Session& session, core::causes::NumberChoice& choice) {
    for (std::size_t i = 0; i < kKinds.size(); ++i) {
        if (i > 0) ImGui::SameLine(0, ui.px(2));
        const auto kind = static_cast<core::causes::NumberKind>(i);
        if (!toggle_button(ui, labelled(tr(kKinds[i]), core::causes::kNumberKindNames[i]).c_str(), choice.kind == kind,
                           tr(kKindTips[i])))
            continue;
        choice.kind = kind;
        if (kind == core::causes::NumberKind::cell && session.cursor().cell) {
            choice.tensor = session.step().name;
            choice.cell = *session.cursor().cell;
        }
    }
}

void choose_number(const Ui& ui, const core::Session& session, CausesTabState& causes, float width) {
    core::causes::NumberChoice& choice = causes.number;
    word_before(ui, tr("number"));
    const float start = ImGui::GetCursorScreenPos().x;
    choose_kind(ui, session, choice);
    const core::Snapshot& shown = session.shown();
    if (choice.kind == core::causes::NumberKind::cell ||
        !core::causes::number_obstacle(shown.scenario, *shown.run, choice).empty())
        return;
    if (width < ui.px(620))
        ImGui::SetCursorScreenPos({start, ImGui::GetCursorScreenPos().y});
    else
        ImGui::SameLine(0, ui.px(12));
    const core::causes::ResolvedNumber now =
        *core::causes::shown_number(session.derived(), shown, session.cursor().place.batch, choice);
    const Index positions = shown.scenario.inputs.pos();
    if (const int moved = counter(ui, tr("position"), now.position, positions); moved != 0) {
        choice.position = now.position + moved;
        choice.token.reset();
        choice.minus.reset();
    }
    ImGui::SameLine(0, ui.px(8));
    const core::Value<core::generate::ShownAnswer> answer =
        core::generate::shown_answer(session.derived(), shown.run, now.batch, now.position, std::nullopt);
    const std::vector<core::generate::Answer>& likely = answer->likely;
    const tokenizer::Tokenizer& tokenizer = shown.scenario.tokenizer();
    choose_token(ui, "##token", tokenizer, likely, now.token, choice.token);
    if (choice.kind != core::causes::NumberKind::difference) return;
    ImGui::SameLine(0, ui.px(4));
    word_before(ui, "−");
    choose_token(ui, "##minus", tokenizer, likely, now.minus, choice.minus);
}

// ---- run B

void choose_changed_token(const Ui& ui, const core::Session& session, CausesTabState& causes) {
    const core::Scenario& scenario = session.shown().scenario;
    const auto now = core::causes::changed_token(scenario, session.cursor().place.batch, causes.compared);
    if (!now) return;
    const Inputs& inputs = scenario.inputs;
    const tokenizer::Tokenizer& tokenizer = now->in_source ? scenario.encoder_tokenizer() : scenario.tokenizer();
    const Index length = now->in_source ? inputs.encoder_tokens.dim(1) : inputs.tokens.dim(1);
    const char* place = now->in_source ? "src" : "pos";
    if (const int moved = counter(ui, place, now->position, length); moved != 0) {
        causes.other.position = now->position + moved;
        causes.other.token.reset();
    }
    ImGui::SameLine(0, ui.px(8));
    word_before(ui, tr("“{before}” becomes", {{"before", core::token_text(tokenizer, now->before)}}).c_str());
    ImGui::SetNextItemWidth(ui.px(96));
    if (!begin_list("##after", core::token_text(tokenizer, now->after).c_str(), ImGuiComboFlags_HeightLarge)) return;
    const Index vocabulary = now->in_source ? scenario.config().encoder_vocab_size : scenario.config().vocab_size;
    for (Index id = 0; id < std::min(vocabulary, kMostListed); ++id)
        if (press_row(labelled(core::token_text(tokenizer, id), std::to_string(id)).c_str(), id == now->after)) {
            causes.other.position = now->position;
            causes.other.token = id;
        }
    if (vocabulary > kMostListed)
        text_line(ui.fonts.caption, ui.theme.muted,
                  tr("the first {count} of {all} tokens", {{"count", kMostListed}, {"all", vocabulary}}));
    ImGui::EndCombo();
}

void choose_option(const Ui& ui, const core::Session& session, CausesTabState& causes) {
    auto& option = causes.other.option;
    const core::Snapshot& shown = session.shown();
    const core::Value<core::diff::Alternatives> others =
        core::diff::shown_alternatives(session.derived(), shown.scenario, shown.run);
    if (option.first.empty()) option = core::flipped_norm(shown.scenario);
    ImGui::SetNextItemWidth(ui.px(230));
    if (!begin_list("##option", (option.first + " = " + option.second).c_str(), ImGuiComboFlags_HeightLarge)) return;
    if (!others) text_line(ui.fonts.caption, ui.theme.muted, tr("Being tried out …"));
    for (const auto& other : others ? others->options : Overrides())
        if (press_row((other.first + " = " + other.second).c_str(), other == option)) option = other;
    ImGui::EndCombo();
}

void choose_details(const Ui& ui, const core::Session& session, CausesTabState& causes, Commands& commands) {
    switch (causes.other.kind) {
        case core::causes::OtherKind::token:
            return choose_changed_token(ui, session, causes);
        case core::causes::OtherKind::configuration:
            return choose_option(ui, session, causes);
        case core::causes::OtherKind::pinned:
            if (button(tr("Pin this run"), "pin")) commands.push_back(core::command::Pin{});
            return;
        case core::causes::OtherKind::unedited:
            return ImGui::Dummy({1, ImGui::GetFrameHeight()});
    }
}

void choose_other(const Ui& ui, CausesTabState& causes) {
    word_before(ui, tr("run B"));
    for (std::size_t i = 0; i < kOthers.size(); ++i) {
        if (i > 0) ImGui::SameLine(0, ui.px(2));
        const auto kind = static_cast<core::causes::OtherKind>(i);
        if (toggle_button(ui, labelled(tr(kOthers[i]), core::causes::kOtherKindNames[i]).c_str(),
                          causes.other.kind == kind, tr(kOtherTips[i])))
            causes.other.kind = kind;
    }
}

void choose_steps(const Ui& ui, CausesTabState& causes) {
    ImGui::SameLine(0, ui.px(14));
    if (toggle_button(ui, labelled(tr("every step"), "every").c_str(), causes.every_step,
                      tr("Every step that can be patched, not only the residual stream and what is added to it")))
        causes.every_step = !causes.every_step;
}

}  // namespace

float draw_causes_choices(const Ui& ui, const core::Session& session, CausesTabState& causes, Area area,
                          Commands& commands) {
    const float line = ui.px(kLine);
    const core::causes::NumberChoice before = causes.number;
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(ui.px(6), ui.px(3)));
    ImGui::SetCursorScreenPos(area.low);
    choose_number(ui, session, causes, area.width());
    float height =
        line * (area.width() < ui.px(620) && causes.number.kind != core::causes::NumberKind::cell ? 2.0F : 1.0F);
    if (causes.page == CausesPage::patching) {
        ImGui::SetCursorScreenPos({area.low.x, area.low.y + height});
        choose_other(ui, causes);
        ImGui::SetCursorScreenPos({area.low.x, area.low.y + height + line});
        choose_details(ui, session, causes, commands);
        choose_steps(ui, causes);
        height += 2.0F * line;
    }
    ImGui::PopStyleVar();
    if (before != causes.number) causes.stopped.reset();
    return height + ui.px(6);
}

}  // namespace decoderscope::views::causes
