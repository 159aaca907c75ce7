#include "app/views/input/input_bar.h"

#include "app/core/generate/generator.h"
#include "app/core/run/passes_of_text.h"
#include "app/views/frame/window_layout.h"
#include "app/views/widgets/imgui_compat.h"
#include "app/views/widgets/keyboard_focus.h"
#include "app/views/widgets/wide_characters.h"
#include "engine/base/error.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <cmath>

namespace decoderscope::views::input {

namespace {

float box_height(const Ui& ui, Index lines) {
    return static_cast<float>(lines) * line_height(ui) + ImGui::GetStyle().FramePadding.y * 2.0F;
}

// ---- the box

// Draws the box; returns whether something was typed.
bool edit(const Ui& ui, InputBox& box, ImVec2 size) {
    const std::string before = box.text;
    const bool left = box.active && pressed(Key::escape);
    compat::push_font(ui.fonts.mono_small);
    ImGui::PushID(box.renewed);
    const bool changed = text_area("##text", box.text, size, tr("Input"),
                                   {.with_shift = core::kTypedDocument, .with_alt = core::kTypedLineBreak});
    box.active = ImGui::IsItemActive();
    ImGui::PopID();
    ImGui::PopFont();
    if (!box.active) box.continues = false;
    if (!left) return changed;
    box.text = before;  // otherwise Esc would revert what was typed
    return false;
}

void ask_for(const std::vector<Sequence>& all, const Sequence& typed, InputBarState& state, Commands& commands) {
    core::command::TypeInput command{.continues = typed.box.continues};
    for (const Sequence& sequence : all)
        if (&sequence == &typed || sequence.box.pending)
            (sequence.source ? command.typed.source : command.typed.target) = typed_in(sequence);
    typed.box.continues = true;
    for (const Sequence& sequence : all)
        if (&sequence == &typed) sequence.box.pending = true;  // until the session has taken it over
    state.typed_source = typed.source;
    commands.push_back(std::move(command));
}

// ---- below the box

// Offers to let the model write the target, and says what stands below the tokens.
void draw_offer(const Ui& ui, const core::Session& session, const Sequence& sequence, Area area, Commands& commands) {
    float x = area.low.x;
    if (sequence.writable) {
        const bool writing = session.writing();
        const std::string text =
            fitted(ui.fonts.caption, writing ? tr("writing … stop") : tr("let the model write it"), area.width());
        ImGui::SetCursorScreenPos(area.low);
        if (link(ui, ui.fonts.caption, ui.theme.accent, text, 0))
            commands.push_back(writing ? core::Command(core::command::StopWriting{})
                                       : core::Command(core::command::WriteTarget{}));
        tooltip(writing ? tr("Stops the model; the target stays as it is.")
                        : tr("The target is replaced by the model's own answer to the source: always its most probable "
                             "token, up to the end token. Undo brings the old one back."));
        x += compat::text_size(ui.fonts.caption, text).x + ui.px(12);
    }
    if (!sequence.predicted) return;
    const std::string label = tr("predicts next");
    const float left = area.high.x - compat::text_size(ui.fonts.caption, label).x;
    if (left >= x) draw_text(ui, ui.fonts.caption, {left, area.low.y}, ui.theme.muted, label);
}

void draw_error(const Ui& ui, const std::string& error, Area area) {
    const float y = area.low.y + ImGui::GetStyle().FramePadding.y;
    draw_text(ui, ui.fonts.caption, {area.low.x, y}, ui.theme.error, error, area.width());
    if (!area.contains(ImGui::GetIO().MousePos) || !ImGui::IsWindowHovered() || !compat::begin_tooltip()) return;
    prose_here(tr("{error}. The run still shows the previous input.", {{"error", error}}), ui.px(420));
    ImGui::EndTooltip();
}

// The name of the sequence, its number of lines, and how many of its tokens the model predicts.
void draw_label(const Ui& ui, const Sequence& sequence, ImVec2 at, Index lines) {
    const float width = ui.px(50);
    float y = at.y + ImGui::GetStyle().FramePadding.y;
    const auto write = [&](ImU32 color, const std::string& text) {
        draw_text(ui, ui.fonts.caption, {at.x, y}, color, text, width);
        y += line_height(ui);
    };
    write(ui.theme.muted, sequence.label);
    if (const Index rows = sequence.tokens.dim(0); rows > 1 && lines > 1)
        write(ui.theme.muted, tr_n("{count} line", "{count} lines", rows));
    if (!sequence.predictions || sequence.predictions->judged == 0) return;
    const Arguments counts = {{"right", sequence.predictions->right}, {"all", sequence.predictions->judged}};
    write(ui.theme.text, tr(message("✓ {right}/{all}", counts)));
    const Area count = {{at.x, y - line_height(ui)}, {at.x + width, y}};
    if (!count.contains(ImGui::GetIO().MousePos) || !ImGui::IsWindowHovered() || !compat::begin_tooltip()) return;
    const auto line = [&](const std::string& text) { text_line(ui.fonts.text, ui.theme.text, text); };
    line(tr(message("{right} of {all} next tokens are predicted right", counts)));
    if (const Index open = sequence.predictions->made - sequence.predictions->judged; open > 0)
        line(tr_n("{count} of {made} predictions has no next token to compare it with: its row ends there.",
                  "{count} of {made} predictions have no next token to compare them with: their rows end there.", open,
                  {{"made", sequence.predictions->made}}));
    ImGui::EndTooltip();
}

const char* box_tip(const InputBox& box) {
    return box.ids ? tr("Token ids, such as 1 2 3: the vocabulary can't tokenize text.\nEnter: another line, which is "
                        "another row of the batch.  Shift+Enter, ‖: another document of the row.  Esc: done  (I)")
                   : tr("Type, and the model runs on it.\nEnter: another line, which is another row of the batch.\n"
                        "Shift+Enter, ‖: another document of the row, which sees no other.  Alt+Enter, ↵: a line break "
                        "within the row.  Esc: done  (I)");
}

// ---- side by side

// A sequence's part of the bar's width. Predictions make chips wider.
float share_of(const std::vector<Sequence>& all, const Sequence& sequence) {
    if (all.size() == 1) return 1.0F;
    const bool predicted = std::any_of(all.begin(), all.end(), [](const Sequence& s) { return s.predicted; });
    return !predicted ? 0.5F : sequence.predicted ? 0.56F : 0.44F;
}

// Where a sequence's label, box, offer and chips are.
struct Columns {
    ImVec2 label;
    Area box, offer, chips;
};

Columns columns_of(const Ui& ui, const std::vector<Sequence>& all, const Sequence& sequence, bool calm, ImVec2 low,
                   float width) {
    const float label = ui.px(54), gap = ui.px(sequence.predicted ? 18 : 10);
    const float box = std::min(ui.px(300), (width - label) * (all.size() > 1 ? 0.36F : 0.42F));
    const Area text = {{low.x + label, low.y}, {low.x + label + box, low.y + box_height(ui, lines_shown(all, calm))}};
    const float below = text.high.y + ui.px(1);
    return {low,
            text,
            {{text.low.x, below}, {text.high.x, below + line_height(ui)}},
            {{text.high.x + gap, low.y}, {low.x + width - ui.px(14), low.y + box_height(ui, lines_high(all, calm))}}};
}

void draw_sequence(const Ui& ui, const core::Session& session, InputBarState& bar, const std::vector<Sequence>& all,
                   const Sequence& sequence, bool calm, const Columns& columns, Commands& commands) {
    const Index lines = lines_shown(all, calm);
    if (calm && lines == 1) sequence.box.first_row = session.cursor().place.batch;
    draw_label(ui, sequence, columns.label, lines);
    ImGui::SetCursorScreenPos(columns.box.low);
    if (edit(ui, sequence.box, {columns.box.width(), columns.box.height()})) ask_for(all, sequence, bar, commands);
    if (!sequence.box.active) tooltip(box_tip(sequence.box));
    if (!session.input_error().empty() && bar.typed_source == sequence.source)
        draw_error(ui, tr(session.input_error()), columns.chips);
    else
        draw_token_rows(ui, session, sequence, columns.chips, lines, commands);
    draw_offer(ui, session, sequence, columns.offer, commands);
}

// How many lines are shown at once: fewer while idle, to leave the panels below more room, and in the simple layout, or
// in a low window, only the one of the batch row that the stage is about. A line of tokens whose next
// ones the model predicts has these in a second line below.
constexpr Index kMostLines = 3, kMostIdleLines = 2;

// Whether the run that is shown is of the tokens in the bar and of what is typed.
bool shows_tokens(const core::Session& session) {
    return session.input_error().empty() &&
           core::text_of(session.shown().scenario).tokens.shares_values_with(core::text_of(session.scenario()).tokens);
}

// The predictions of such a run.
core::Value<core::generate::Predictions> predictions_shown(const core::Session& session) {
    const core::Snapshot& shown = session.shown();
    if (!shows_tokens(session)) return {};
    return core::generate::shown_predictions(session.derived(), shown.scenario, shown.run);
}

// Whether a box's text is what the session runs. It may lack trailing rows that hold only the beginning token: they are
// added if the other sequence has more lines.
bool says(const Sequence& sequence, core::TokenRows rows) {
    try {
        const core::TokenRows typed = core::rows_of(sequence.tokenizer, typed_in(sequence));
        const auto beginning = sequence.tokenizer.special().beginning;
        while (rows.size() > typed.size() && beginning && rows.back() == core::TokenRows::value_type{*beginning})
            rows.pop_back();
        return typed == rows;
    } catch (const Error&) {
        return false;
    }
}

Index lines_in(const std::string& text) { return 1 + static_cast<Index>(std::count(text.begin(), text.end(), '\n')); }

Index lines_of(const Sequence& sequence) { return std::max(lines_in(sequence.box.text), sequence.tokens.dim(0)); }

}  // namespace

float input_bar_height(const Ui& ui, const core::Session& session, ViewState& state) {
    const std::vector<Sequence> all = sequences(session, state);
    for (const Sequence& sequence : all) keep_in_step(sequence);
    const bool calm = state.is_calm() || is_low_window(ui);
    return all.empty() ? 0.0F : std::floor(box_height(ui, lines_high(all, calm)) + ui.px(10));
}

void draw_input_bar(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands) {
    InputBarState& bar = state.part<InputBarState>();
    const std::vector<Sequence> all = sequences(session, state);
    if (all.empty()) return;
    const bool calm = state.is_calm() || is_low_window(ui);
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddRectFilled(area.low, area.high, ui.theme.panel);
    list.AddLine({area.low.x, area.high.y}, area.high, ui.theme.line);
    float x = area.low.x + ui.px(12);
    for (const Sequence& sequence : all) {
        const float width = (area.width() - ui.px(8)) * share_of(all, sequence);
        const Columns columns = columns_of(ui, all, sequence, calm, {x, area.low.y + ui.px(4)}, width);
        ImGui::PushID(sequence.source ? "source" : "target");
        if (bar.focus && &sequence == &all.front()) {
            ImGui::SetCursorScreenPos(columns.box.low);
            compat::take_keyboard();
            bar.focus = false;
        }
        draw_sequence(ui, session, bar, all, sequence, calm, columns, commands);
        ImGui::PopID();
        x += width;
    }
}

std::vector<Sequence> sequences(const core::Session& session, ViewState& state) {
    auto& bar = state.part<InputBarState>();
    const bool predicted = core::generate::predicts_tokens(session.scenario()) && !state.withheld.stage;
    const Inputs& in = core::text_of(session.scenario());
    std::vector<Sequence> found;
    if (in.tokens.empty()) return found;
    const bool two = !in.encoder_tokens.empty();
    if (two)
        found.push_back({.label = tr("Source"),
                         .name = "source",
                         .tokenizer = session.scenario().encoder_tokenizer(),
                         .tokens = in.encoder_tokens,
                         .mask = in.encoder_attention_mask,
                         .box = bar.source,
                         .source = true,
                         .predicted = false,
                         .writable = false,
                         .predictions = {}});
    found.push_back({.label = two ? tr("Target") : tr("Input"),
                     .name = two ? "target" : "",
                     .tokenizer = session.scenario().tokenizer(),
                     .tokens = in.tokens,
                     .mask = in.attention_mask,
                     .box = bar.target,
                     .source = false,
                     .predicted = predicted,
                     .writable = core::generate::writing_obstacle(session.scenario()).empty(),
                     .predictions = predicted ? predictions_shown(session) : decltype(predictions_shown(session)){},
                     .documents = in.segments});
    // A pass knows the numbers of no position after it.
    if (shows_tokens(session) && core::shown_pass(session.shown().scenario) == nullptr) {
        found.back().positions = session.shown().run->value("positions");
        found.back().segments = session.shown().run->value("segments");
    }
    return found;
}

core::Typed typed_in(const Sequence& sequence) {
    return {.text = from_carriers(sequence.box.text), .ids = sequence.box.ids, .name = sequence.name};
}

void keep_in_step(const Sequence& sequence) {
    InputBox& box = sequence.box;
    if (box.tokens.shares_values_with(sequence.tokens) && box.mask.shares_values_with(sequence.mask) &&
        box.documents.shares_values_with(sequence.documents))
        return;
    box.tokens = sequence.tokens;
    box.mask = sequence.mask;
    box.documents = sequence.documents;
    const core::TokenRows rows = core::rows_of(sequence.tokens, sequence.mask, sequence.documents);
    const bool ids = !sequence.tokenizer.can_encode();
    box.pending = false;
    if (box.ids == ids && says(sequence, rows)) return;
    box.ids = ids;
    box.text = to_carriers(core::typed_of(sequence.tokenizer, rows).text);
    ++box.renewed;
    box.first_row = box.first_chip = 0;
}

Index lines_shown(const std::vector<Sequence>& all, bool calm) {
    Index lines = 1, most = calm ? 1 : kMostIdleLines;
    for (const Sequence& sequence : all) {
        lines = std::max(lines, lines_of(sequence));
        if (sequence.box.active) most = kMostLines;
    }
    return std::min(lines, most);
}

Index lines_high(const std::vector<Sequence>& all, bool calm) {
    const Index lines = lines_shown(all, calm);
    const bool predicted = std::any_of(all.begin(), all.end(), [](const Sequence& s) { return s.predicted; });
    const bool writable = std::any_of(all.begin(), all.end(), [](const Sequence& s) { return s.writable; });
    return predicted ? 2 * lines : writable ? lines + 1 : lines;
}

float line_height(const Ui& ui) { return compat::font_size(ui.fonts.mono_small); }

}  // namespace decoderscope::views::input
