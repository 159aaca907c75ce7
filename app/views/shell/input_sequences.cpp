#include "app/views/shell/input_sequences.h"

#include "app/core/generate/target_writer.h"
#include "app/views/widgets/imgui_compat.h"
#include "app/views/widgets/wide_characters.h"
#include "engine/error.h"
#include "engine/translate.h"

#include <algorithm>
#include <string>

namespace decoderscope {

namespace {

// How many lines are shown at once: fewer while idle, to leave the panels below more room. A line of tokens whose next
// ones the model predicts has these in a second line below.
constexpr Index kMostLines = 3, kMostIdleLines = 2;

// The predictions of the run that is shown, if it is of the tokens in the bar.
Value<Predictions> predictions_shown(const Session& session) {
    const Snapshot& shown = session.shown();
    if (!shown.scenario.inputs.tokens.shares_values_with(session.scenario().inputs.tokens)) return {};
    return shown_predictions(session.derived(), shown.scenario, shown.run);
}

}  // namespace

std::vector<Sequence> sequences(const Session& session, InputBarState& state) {
    const Inputs& in = session.scenario().inputs;
    const Model& model = *session.scenario().model();
    std::vector<Sequence> found;
    if (in.tokens.empty()) return found;
    const bool two = !in.encoder_tokens.empty();
    if (two)
        found.push_back({.label = tr("Source"),
                         .name = "source",
                         .tokenizer = model.encoder_tokenizer,
                         .tokens = in.encoder_tokens,
                         .mask = in.encoder_attention_mask,
                         .box = state.source,
                         .source = true,
                         .predicted = false,
                         .writable = false,
                         .predictions = {}});
    found.push_back({.label = two ? tr("Target") : tr("Input"),
                     .name = two ? "target" : "",
                     .tokenizer = model.tokenizer,
                     .tokens = in.tokens,
                     .mask = in.attention_mask,
                     .box = state.target,
                     .source = false,
                     .predicted = predicts_tokens(session.scenario()),
                     .writable = writing_obstacle(session.scenario()).empty(),
                     .predictions = predictions_shown(session)});
    return found;
}

Typed typed_in(const Sequence& sequence) {
    return {.text = from_carriers(sequence.box.text), .ids = sequence.box.ids, .name = sequence.name};
}

namespace {

// Whether a box's text is what the session runs. It may lack trailing rows that hold only the beginning token: they are
// added if the other sequence has more lines.
bool says(const Sequence& sequence, TokenRows rows) {
    try {
        const TokenRows typed = rows_of(sequence.tokenizer, typed_in(sequence));
        const auto beginning = sequence.tokenizer.special().beginning;
        while (rows.size() > typed.size() && beginning && rows.back() == TokenRows::value_type{*beginning})
            rows.pop_back();
        return typed == rows;
    } catch (const Error&) {
        return false;
    }
}

}  // namespace

void keep_in_step(const Sequence& sequence) {
    InputBox& box = sequence.box;
    if (box.tokens.shares_values_with(sequence.tokens) && box.mask.shares_values_with(sequence.mask)) return;
    box.tokens = sequence.tokens;
    box.mask = sequence.mask;
    const TokenRows rows = rows_of(sequence.tokens, sequence.mask);
    const bool ids = !sequence.tokenizer.can_encode();
    box.pending = false;
    if (box.ids == ids && says(sequence, rows)) return;
    box.ids = ids;
    box.text = to_carriers(typed_of(sequence.tokenizer, rows).text);
    ++box.renewed;
    box.first_row = box.first_chip = 0;
}

namespace {

Index lines_in(const std::string& text) { return 1 + static_cast<Index>(std::count(text.begin(), text.end(), '\n')); }

Index lines_of(const Sequence& sequence) { return std::max(lines_in(sequence.box.text), sequence.tokens.dim(0)); }

}  // namespace

Index lines_shown(const std::vector<Sequence>& all) {
    Index lines = 1, most = kMostIdleLines;
    for (const Sequence& sequence : all) {
        lines = std::max(lines, lines_of(sequence));
        if (sequence.box.active) most = kMostLines;
    }
    return std::min(lines, most);
}

Index lines_high(const std::vector<Sequence>& all) {
    const Index lines = lines_shown(all);
    const bool predicted = std::any_of(all.begin(), all.end(), [](const Sequence& s) { return s.predicted; });
    const bool writable = std::any_of(all.begin(), all.end(), [](const Sequence& s) { return s.writable; });
    return predicted ? 2 * lines : writable ? lines + 1 : lines;
}

float line_height(const Ui& ui) { return compat::font_size(ui.fonts.mono_small); }

}  // namespace decoderscope
