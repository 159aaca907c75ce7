#include "app/views/shell/prediction_tip.h"

#include "app/core/text/numbers.h"
#include "app/core/text/token_text.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/translate.h"

#include <string>

namespace decoderscope {

namespace {

std::string percent(double probability) { return short_number_text(probability, 4); }

// "“r”  0.9987"
std::string answer_text(const Tokenizer& tokenizer, const Answer& answer) {
    return "“" + token_text(tokenizer, answer.token) + "”  " + percent(answer.probability);
}

std::string verdict(const Tokenizer& tokenizer, const Prediction& prediction, const ShownAnswer& answer) {
    if (!prediction.is_judged() || !answer.target) return tr("Nothing follows here to compare it with.");
    const Arguments target = {{"token", token_text(tokenizer, answer.target->token)},
                              {"probability", percent(answer.target->probability)}};
    return prediction.is_right() ? tr(message("✓ right: “{token}” follows", target))
                                 : tr(message("✗ wrong: “{token}” follows, with probability {probability}", target));
}

}  // namespace

void prediction_tooltip(const Ui& ui, const Session& session, std::span<const Prediction> row, Index batch,
                        Index position) {
    const Prediction& prediction = row[static_cast<std::size_t>(position)];
    const Snapshot& shown = session.shown();
    const Tokenizer& tokenizer = shown.scenario.model()->tokenizer;
    const Value<ShownAnswer> answer = shown_answer(session.derived(), shown.run, batch, position, prediction.target);
    if (!compat::begin_tooltip()) return;
    text_line(ui.fonts.caption, ui.theme.muted,
              tr("after position {position} the model predicts", {{"position", position}}));
    for (const Answer& likely : answer->likely)
        text_line(ui.fonts.mono_small, ui.theme.text, answer_text(tokenizer, likely));
    text_line(ui.fonts.caption, ui.theme.muted, verdict(tokenizer, prediction, *answer));
    if (shown.unedited != shown.run) {
        const Value<ShownAnswer> before =
            shown_answer(session.derived(), shown.unedited, batch, position, prediction.target);
        if (!before->likely.empty())
            text_line(ui.fonts.caption, ui.theme.muted,
                      tr("without edits {answer}", {{"answer", answer_text(tokenizer, before->likely.front())}}));
    }
    ImGui::EndTooltip();
}

}  // namespace decoderscope
