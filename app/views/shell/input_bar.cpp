#include "app/views/shell/input_bar.h"

#include "app/views/shell/panels.h"
#include "app/views/widgets/imgui_compat.h"
#include "app/views/widgets/token_chips.h"
#include "app/views/widgets/wide_characters.h"
#include "engine/error.h"
#include "engine/translate.h"

#include <algorithm>
#include <cmath>

namespace decoderscope {

namespace {

// How many lines are shown at once: fewer while idle, to leave the panels below more room.
constexpr Index kMostLines = 3, kMostIdleLines = 2;

// One of the two sequences: what the session runs it on, and the box that it is typed into.
struct Sequence {
    const char* label;
    const char* name;  // in messages; empty if there is only one
    const Tokenizer& tokenizer;
    const Tensor& tokens;  // [batch, length]
    const Tensor& mask;
    InputBox& box;
    bool source;
};

std::vector<Sequence> sequences(const Session& session, InputBarState& state) {
    const Inputs& in = session.scenario().inputs;
    const Model& model = *session.scenario().model();
    std::vector<Sequence> found;
    if (in.tokens.empty()) return found;
    const bool two = !in.encoder_tokens.empty();
    if (two)
        found.push_back({tr("Source"), "source", model.encoder_tokenizer, in.encoder_tokens, in.encoder_attention_mask,
                         state.source, true});
    found.push_back({two ? tr("Target") : tr("Input"), two ? "target" : "", model.tokenizer, in.tokens,
                     in.attention_mask, state.target, false});
    return found;
}

Typed typed_in(const Sequence& sequence) {
    return {.text = from_carriers(sequence.box.text), .ids = sequence.box.ids, .name = sequence.name};
}

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

// After a change other than typing (undo, another model, a generated token) the box shows what is run.
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

Index lines_in(const std::string& text) { return 1 + static_cast<Index>(std::count(text.begin(), text.end(), '\n')); }

Index lines_of(const Sequence& sequence) { return std::max(lines_in(sequence.box.text), sequence.tokens.dim(0)); }

// The number of lines that the bar shows.
Index lines_shown(const std::vector<Sequence>& all) {
    Index lines = 1, most = kMostIdleLines;
    for (const Sequence& sequence : all) {
        lines = std::max(lines, lines_of(sequence));
        if (sequence.box.active) most = kMostLines;
    }
    return std::min(lines, most);
}

float line_height(const Ui& ui) { return compat::font_size(ui.fonts.mono_small); }

float box_height(const Ui& ui, Index lines) {
    return static_cast<float>(lines) * line_height(ui) + ImGui::GetStyle().FramePadding.y * 2.0F;
}

// ---- the box

// Grows the string with the typed text, and removes what is left of a character that was partly deleted.
int on_edit(ImGuiInputTextCallbackData* data) {
    auto& text = *static_cast<std::string*>(data->UserData);
    if (data->EventFlag == ImGuiInputTextFlags_CallbackResize) {
        text.resize(static_cast<std::size_t>(data->BufTextLen));
        data->Buf = text.data();
        return 0;
    }
    const std::string_view typed(data->Buf, static_cast<std::size_t>(data->BufTextLen));
    for (const auto& [begin, length] : broken_carriers(typed))
        data->DeleteChars(static_cast<int>(begin), static_cast<int>(length));
    return 0;
}

// Draws the box; returns whether something was typed.
bool edit(const Ui& ui, InputBox& box, ImVec2 size) {
    const std::string before = box.text;
    const bool left = box.active && pressed(Key::escape);
    compat::push_font(ui.fonts.mono_small);
    ImGui::PushID(box.renewed);
    const bool changed = ImGui::InputTextMultiline(
        "##text", box.text.data(), box.text.capacity() + 1, size,
        ImGuiInputTextFlags_CallbackResize | ImGuiInputTextFlags_CallbackEdit, on_edit, &box.text);
    box.active = ImGui::IsItemActive();
    ImGui::PopID();
    ImGui::PopFont();
    if (!box.active) box.continues = false;
    if (!left) return changed;
    box.text = before;  // otherwise Esc would revert what was typed
    return false;
}

void ask_for(const std::vector<Sequence>& all, const Sequence& typed, InputBarState& state, Commands& commands) {
    command::TypeInput command{.continues = typed.box.continues};
    for (const Sequence& sequence : all)
        if (&sequence == &typed || sequence.box.pending)
            (sequence.source ? command.typed.source : command.typed.target) = typed_in(sequence);
    typed.box.continues = true;
    for (const Sequence& sequence : all)
        if (&sequence == &typed) sequence.box.pending = true;  // until the session has taken it over
    state.typed_source = typed.source;
    commands.push_back(std::move(command));
}

// ---- what is run

void scroll(const Sequence& sequence, Index shown) {
    const ImGuiIO& io = ImGui::GetIO();
    InputBox& box = sequence.box;
    const Index rows = sequence.tokens.dim(0), length = sequence.tokens.dim(1);
    const bool sideways = rows <= shown || io.KeyShift;
    const auto by = [](float wheel, float step) { return static_cast<Index>(std::lround(wheel * step)); };
    if (!sideways) box.first_row -= by(io.MouseWheel, 1.0F);
    box.first_chip -= by(io.MouseWheelH + (sideways ? io.MouseWheel : 0.0F), 5.0F);
    box.first_chip = std::clamp<Index>(box.first_chip, 0, length - 1);
}

void draw_rows(const Ui& ui, const Sequence& sequence, Area area, Index lines) {
    InputBox& box = sequence.box;
    const Index rows = sequence.tokens.dim(0), length = sequence.tokens.dim(1);
    if (area.contains(ImGui::GetIO().MousePos) && ImGui::IsWindowHovered()) scroll(sequence, lines);
    box.first_row = std::clamp<Index>(box.first_row, 0, std::max<Index>(rows - lines, 0));
    const float pad = ImGui::GetStyle().FramePadding.y;
    for (Index line = 0; line < std::min(lines, rows - box.first_row); ++line) {
        const Index row = box.first_row + line;
        const auto part = [&](const Tensor& tensor) {
            return tensor.empty() ? std::span<const float>()
                                  : tensor.values().subspan(static_cast<std::size_t>(row * length),
                                                            static_cast<std::size_t>(length));
        };
        const float y = area.low.y + pad + static_cast<float>(line) * line_height(ui);
        const Area at = {{area.low.x, y}, {area.high.x, y + line_height(ui) - ui.px(1)}};
        draw_chips(ui, sequence.tokenizer, {part(sequence.tokens), part(sequence.mask), box.first_chip, box.active},
                   at);
    }
}

void draw_error(const Ui& ui, const std::string& error, Area area) {
    const float y = area.low.y + ImGui::GetStyle().FramePadding.y;
    draw_text(ui, ui.fonts.caption, {area.low.x, y}, ui.theme.error, error, area.width());
    if (!area.contains(ImGui::GetIO().MousePos) || !ImGui::IsWindowHovered() || !compat::begin_tooltip()) return;
    ImGui::PushTextWrapPos(ui.px(420));
    ImGui::TextUnformatted(tr("{error}. The run still shows the previous input.", {{"error", error}}).c_str());
    ImGui::PopTextWrapPos();
    ImGui::EndTooltip();
}

void draw_label(const Ui& ui, const Sequence& sequence, ImVec2 at, Index lines) {
    const float pad = ImGui::GetStyle().FramePadding.y;
    draw_text(ui, ui.fonts.caption, {at.x, at.y + pad}, ui.theme.muted, sequence.label, ui.px(48));
    if (const Index rows = sequence.tokens.dim(0); rows > 1 && lines > 1)
        draw_text(ui, ui.fonts.caption, {at.x, at.y + pad + line_height(ui)}, ui.theme.muted,
                  tr_n("{count} line", "{count} lines", rows), ui.px(48));
}

const char* box_tip(const InputBox& box) {
    return box.ids ? tr("Token ids, such as 1 2 3: the vocabulary can't cut a text into tokens.\nEnter: another line, "
                        "which is another row of the batch.  Esc: done  (I)")
                   : tr("Type, and the model runs on it.\nEnter: another line, which is another row of the batch.  ↵ "
                        "within a line: a line break.  Esc: done  (I)");
}

}  // namespace

float input_bar_height(const Ui& ui, const Session& session, ViewState& state) {
    const std::vector<Sequence> all = sequences(session, state.input);
    for (const Sequence& sequence : all) keep_in_step(sequence);
    return all.empty() ? 0.0F : std::floor(box_height(ui, lines_shown(all)) + ui.px(10));
}

void draw_input_bar(const Ui& ui, const Session& session, ViewState& state, Area area, Commands& commands) {
    InputBarState& bar = state.input;
    const std::vector<Sequence> all = sequences(session, bar);
    if (all.empty()) return;
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddRectFilled(area.low, area.high, ui.theme.panel);
    list.AddLine({area.low.x, area.high.y}, area.high, ui.theme.line);
    const Index lines = lines_shown(all);
    const float width = (area.width() - ui.px(8)) / static_cast<float>(all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
        const Sequence& sequence = all[i];
        const ImVec2 low = {area.low.x + ui.px(12) + width * static_cast<float>(i), area.low.y + ui.px(4)};
        const float label = ui.px(54), box = std::min(ui.px(300), (width - label) * 0.42F);
        const Area chips = {{low.x + label + box + ui.px(10), low.y},
                            {low.x + width - ui.px(14), low.y + box_height(ui, lines)}};
        draw_label(ui, sequence, low, lines);
        ImGui::SetCursorScreenPos({low.x + label, low.y});
        ImGui::PushID(sequence.label);
        if (bar.focus && i == 0) {
            ImGui::SetKeyboardFocusHere();
            bar.focus = false;
        }
        note_glyphs(ui.fonts.mono, sequence.box.text);
        if (edit(ui, sequence.box, {box, box_height(ui, lines)})) ask_for(all, sequence, bar, commands);
        if (!sequence.box.active) tooltip(box_tip(sequence.box));
        ImGui::PopID();
        const bool refused = !session.input_error().empty() && bar.typed_source == sequence.source;
        if (refused)
            draw_error(ui, tr(session.input_error()), chips);
        else
            draw_rows(ui, sequence, chips, lines);
    }
}

}  // namespace decoderscope
