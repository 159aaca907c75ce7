#include "app/views/input/input_bar.h"

#include "app/core/generate/generator.h"
#include "app/core/run/cursor.h"
#include "app/core/run/passes_of_text.h"
#include "app/core/text/characters.h"
#include "app/core/text/numbers.h"
#include "app/core/text/token_text.h"
#include "app/views/widgets/imgui_compat.h"
#include "app/views/widgets/wide_characters.h"
#include "engine/base/error.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <cmath>

namespace decoderscope::views::input {

namespace {

// ---- the box

// Where the text of a field is, and the colours of its tokens below it.
struct Field {
    Area frame, text, tokens;
};
Field field_in(const Ui& ui, Area frame) {
    const float inset = ImGui::GetStyle().FramePadding.x, colors = ui.px(8);
    const float line = compat::font_size(ui.fonts.mono), top = (frame.height() - colors - line) * 0.5F + ui.px(1);
    const float y = std::floor(frame.low.y + top);
    return {frame,
            {{frame.low.x, y}, {frame.high.x, y + line}},
            {{frame.low.x + inset, frame.high.y - colors}, {frame.high.x - inset, frame.high.y}}};
}

// Draws the box; returns whether something was typed. While nothing is, the line in sight is that of the batch row that
// the stage is about; while something is, that of the text cursor.
bool edit(const Ui& ui, InputBox& box, const Field& field) {
    const std::string before = box.text;
    const bool left = box.active && pressed(Key::escape);
    ImGui::GetWindowDrawList()->AddRectFilled(field.frame.low, field.frame.high, ImGui::GetColorU32(ImGuiCol_FrameBg),
                                              ImGui::GetStyle().FrameRounding);
    compat::push_font(ui.fonts.mono);
    ImGui::PushID(box.renewed);
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(ImGui::GetStyle().FramePadding.x, 0.0F));
    ImGui::SetCursorScreenPos(field.text.low);
    // A click on the frame, once it is over: the button that is held belongs to the window.
    const auto on_frame = [&](ImVec2 at) { return field.frame.contains(at) && at.y < field.text.low.y; };
    const ImGuiIO& io = ImGui::GetIO();
    if (ImGui::IsMouseReleased(ImGuiMouseButton_Left) && ImGui::IsWindowHovered() && on_frame(io.MousePos) &&
        on_frame(io.MouseClickedPos[0]))
        compat::take_keyboard();
    const bool changed =
        text_area("##text", box.text, {field.text.width(), field.text.height()}, tr("Input"),
                  {.with_shift = core::kTypedDocument, .with_alt = core::kTypedLineBreak, .ends = true});
    ImGui::PopStyleVar();
    box.active = ImGui::IsItemActive();
    const ImGuiID id = ImGui::GetID("##text");
    if (box.active)
        box.first_row = std::lround(compat::scroll_of_field(id) / field.text.height());
    else
        compat::scroll_field(id, static_cast<float>(box.first_row) * field.text.height());
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

// Whether what can't be run stands in the source's box: its sentence begins with its name, otherwise it was typed last.
bool refuses_source(const core::Session& session, const InputBarState& bar) {
    const std::string why = session.input_error().english();
    const auto is_about = [&](std::initializer_list<std::string_view> names) {
        return std::ranges::any_of(
            names, [&](std::string_view name) { return why.starts_with(name) && why.substr(name.size(), 1) == ":"; });
    };
    if (is_about({"source", "encoder_tokens"})) return true;
    return !is_about({"target", "tokens"}) && bar.typed_source;
}

void draw_error(const Ui& ui, const std::string& error, Area area) {
    const float y = area.low.y + (area.height() - compat::font_size(ui.fonts.caption)) * 0.5F;
    draw_text(ui, {ui.fonts.caption, ui.theme.error}, {area.low.x, y}, error, area.width());
    if (!area.contains(ImGui::GetIO().MousePos) || !ImGui::IsWindowHovered() || !compat::begin_tooltip()) return;
    prose_here(tr("{error}. The run still shows the previous input.", {{"error", error}}), ui.px(420));
    ImGui::EndTooltip();
}

std::string box_tip(const Sequence& sequence) {
    const Index rows = sequence.tokens.dim(0);
    const std::string name = rows > 1 ? tr("{name}, row {row} of {rows}",
                                           {{"name", sequence.label}, {"row", sequence.box.first_row}, {"rows", rows}})
                                      : std::string(sequence.label);
    return name + "\n" +
           (sequence.box.ids
                ? tr("Token ids, such as 1 2 3: the vocabulary can't tokenize text.\nEnter: done.  Shift+Enter, ‖: "
                     "another document of the row.  Lines that are pasted are rows of the batch  (I)")
                : tr("Type, and the model runs on it.\nEnter: done.  Shift+Enter, ‖: another document of the row, "
                     "which sees no other.  Alt+Enter, ↵: a line break within the row.\nLines that are pasted are "
                     "rows of the batch; + sequence in the model's menu adds one  (I)"));
}

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

// ---- the answer

// How many of the next tokens the model predicts right.
void count_tooltip(const Ui& ui, const core::generate::Predictions& made) {
    if (made.judged == 0) return;
    const auto line = [&](const std::string& text) { text_line(ui.note(), text); };
    line(tr("{right} of {all} next tokens are predicted right", {{"right", made.right}, {"all", made.judged}}));
    if (const Index open = made.made - made.judged; open > 0)
        line(tr_n("{count} of {made} predictions has no next token to compare it with: its row ends there.",
                  "{count} of {made} predictions have no next token to compare them with: their rows end there.", open,
                  {{"made", made.made}}));
}

// The token, its share as a bar, and as a number. Returns where it ends; nothing is drawn if there is no room.
std::optional<float> draw_answer(const Ui& ui, const tokenizer::Tokenizer& tokenizer,
                                 const core::generate::Answer& answer, Area area, float x, bool first) {
    ImFont* mono = first ? ui.fonts.mono : ui.fonts.mono_small;
    ImFont* font = first ? ui.fonts.text : ui.fonts.caption;
    const std::string token = shortened(mono, core::token_text(tokenizer, answer.token), ui.px(120)),
                      share = core::generate::percent_text(answer.probability);
    const float pad = ui.px(6), gap = ui.px(6), height = ui.px(first ? 24 : 20);
    const float box = compat::text_size(mono, token).x + 2.0F * pad;
    const float rest = x + box + 2.0F * gap + compat::text_size(font, share).x;
    const float widest = first ? std::clamp(area.high.x - rest, ui.px(24), ui.px(80)) : ui.px(36);
    const float bar = std::max(widest * static_cast<float>(answer.probability), ui.px(2)), end = rest + bar;
    if (end > area.high.x) return std::nullopt;
    const float middle = (area.low.y + area.high.y) * 0.5F;
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const ImU32 color = color_of(Meaning::output);
    list.AddRectFilled({x, middle - height * 0.5F}, {x + box, middle + height * 0.5F},
                       first ? with_alpha(color, 0.45F) : ui.theme.raised, ui.px(4));
    const auto at = [&](ImFont* of, float left) { return ImVec2{left, middle - compat::font_size(of) * 0.5F}; };
    draw_text(ui, {mono, ui.theme.text}, at(mono, x + pad), token);
    x += box + gap;
    list.AddRectFilled({x, middle - ui.px(5)}, {x + bar, middle + ui.px(5)}, color);
    draw_text(ui, {font, first ? ui.theme.text : ui.theme.muted}, at(font, x + bar + gap), share);
    return end;
}

// What the model says next, the most probable first; a click shows all of it. All but the first leave some width.
// Returns where they end.
float draw_answers(const Ui& ui, const core::Session& session, ViewState& state, const Sequence& sequence, Area area,
                   float kept) {
    if (!sequence.predictions) return area.low.x;
    const core::Snapshot& shown = session.shown();
    const std::optional<core::generate::NextAnswer> next =
        core::generate::next_answer(session.derived(), shown.scenario, shown.run, sequence.box.first_row);
    if (!next) return area.low.x;
    const std::vector<core::generate::Answer>& likely = next->shown->likely;
    const float middle = (area.low.y + area.high.y) * 0.5F;
    ImDrawList& list = *ImGui::GetWindowDrawList();
    float x = area.low.x + ui.px(28);
    if (x > area.high.x) return area.high.x;
    list.AddLine({area.low.x + ui.px(2), middle}, {x - ui.px(10), middle}, ui.theme.muted, ui.px(1.5F));
    list.AddTriangleFilled({x - ui.px(6), middle}, {x - ui.px(12), middle - ui.px(4)},
                           {x - ui.px(12), middle + ui.px(4)}, ui.theme.muted);
    if (likely.empty()) {
        return x + draw_text(ui, {ui.fonts.text, ui.theme.error}, {x, middle - compat::font_size(ui.fonts.text) * 0.5F},
                             "NaN", area.high.x - x);
    }
    constexpr std::size_t most = 3;
    for (std::size_t i = 0; i < std::min(most, likely.size()); ++i) {
        const std::optional<float> end = draw_answer(ui, sequence.tokenizer, likely[i], area, x, i == 0);
        if (!end) break;
        x = *end + ui.px(14);
        if (i == 0) area.high.x -= kept;
    }
    const Area all = {area.low, {x, area.high.y}};
    if (press_at("answer", all, 0, tr("What the model says next"))) state.tab = core::files::kGenerateTab;
    if (ImGui::IsItemHovered()) {
        ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
        prediction_tooltip(ui, session, sequence, next->row, next->position);
    }
    return x;
}

const char* writing_text(const core::Session& session) {
    return session.writing() ? tr("writing … stop") : tr("let the model write it");
}

// Lets the model write the target, at the right, if there is room.
void draw_writing(const Ui& ui, const core::Session& session, Area area, Commands& commands) {
    const bool writing = session.writing();
    const std::string text = writing_text(session);
    const float x = area.high.x - compat::text_size(ui.fonts.caption, text).x;
    if (x < area.low.x) return;
    ImGui::SetCursorScreenPos({x, (area.low.y + area.high.y - compat::font_size(ui.fonts.caption)) * 0.5F});
    if (link(ui, {ui.fonts.caption, ui.theme.accent}, text, 0))
        commands.push_back(writing ? core::Command(core::command::StopWriting{})
                                   : core::Command(core::command::WriteTarget{}));
    tooltip(writing ? tr("Stops the model; the target stays as it is.")
                    : tr("The target is replaced by the model's own answer to the source: always its most probable "
                         "token, up to the end token. Undo brings the old one back."));
}

// One row of a batch.
struct Row {
    std::span<const float> ids;
    std::span<const float> mask;  // 0 = padding; empty: no padding
    // What the model predicts at each position; empty: nothing.
    std::span<const core::generate::Prediction> predictions = {};
    std::optional<Index> lit = {};  // the position that is selected
    bool clickable = false;         // a click selects a position
    // What the run numbers the positions by, and the document of each; empty: each place counts, and all are one
    // document.
    std::span<const float> numbers = {}, segments = {};
    bool counts_on = false;  // a document's positions follow those of the one before it
};

bool is_padding(const Row& row, Index position) {
    return !row.mask.empty() && row.mask[static_cast<std::size_t>(position)] == 0.0F;
}

Index id_at(const Row& row, Index position) { return static_cast<Index>(row.ids[static_cast<std::size_t>(position)]); }

const core::generate::Prediction* prediction_at(const Row& row, Index position) {
    const auto at = static_cast<std::size_t>(position);
    return at < row.predictions.size() && !row.predictions[at].is_padding ? &row.predictions[at] : nullptr;
}

// "“m”, id 14, position 3"
Sentence named(const tokenizer::Tokenizer& tokenizer, const Row& row, Index position) {
    const Index id = id_at(row, position);
    if (!tokenizer.has_piece(id)) return message("id {id}, position {position}", {{"id", id}, {"position", position}});
    const std::string piece = tokenizer.piece(id);
    const bool bytes =
        core::valid_utf8(piece) != piece || std::any_of(piece.begin(), piece.end(), [](char c) { return c < ' '; });
    const Arguments arguments = {{"piece", core::token_text(piece)},
                                 {"id", id},
                                 {"position", position},
                                 {"bytes", core::hexadecimal(piece, " ")}};
    return bytes ? message("“{piece}”, bytes{bytes}, id {id}, position {position}", arguments)
                 : message("“{piece}”, id {id}, position {position}", arguments);
}

// The characters of a token that no font has, by their code points; empty if there are none.
std::string characters_without_a_font(const Ui& ui, const tokenizer::Tokenizer& tokenizer, Index id) {
    std::string unknown;
    for (const core::Utf8Character& character :
         core::characters(tokenizer.has_piece(id) ? tokenizer.piece(id) : std::string()))
        if (std::ranges::find(ui.fonts.missing, character.code) != ui.fonts.missing.end())
            unknown += (unknown.empty() ? "" : ", ") + core::code_point_text(character.code);
    return unknown;
}

// What is known of a token, before what is predicted after it.
void token_lines(const Ui& ui, const tokenizer::Tokenizer& tokenizer, const Row& row, Index position) {
    Sentence token = named(tokenizer, row, position);
    if (const std::string unknown = characters_without_a_font(ui, tokenizer, id_at(row, position)); !unknown.empty())
        token = message("{token}; no font has {characters}", {{"token", token}, {"characters", unknown}});
    text_line(ui.body(),
              is_padding(row, position) ? tr("{token}; padding, hidden by the mask", {{"token", token}}) : tr(token));
    const auto at = static_cast<std::size_t>(position);
    if (!row.numbers.empty())
        text_line(ui.note(), tr("Its position counts as {number}",
                                {{"number", short_number(static_cast<double>(row.numbers[at]))}}));
    if (!row.segments.empty())
        text_line(ui.note(), tr("Document {number} of this row", {{"number", static_cast<Index>(row.segments[at])}}));
    if (row.counts_on && position > 0 && !row.segments.empty() && row.segments[at] != row.segments[at - 1])
        text_line(ui.note(),
                  tr("Positions count on from the document before: positions = from_segments begins at 0 again"));
    if (row.clickable) text_line(ui.note(), tr("Click: select this position on the stage"));
}

std::string percent(double probability) { return core::short_number_text(probability, 4); }

// "“r”  0.9987"
std::string answer_text(const tokenizer::Tokenizer& tokenizer, const core::generate::Answer& answer) {
    return "“" + core::token_text(tokenizer, answer.token) + "”  " + percent(answer.probability);
}

std::string verdict(const tokenizer::Tokenizer& tokenizer, const core::generate::Prediction& prediction,
                    const core::generate::ShownAnswer& answer) {
    if (!prediction.token && prediction.is_judged()) return tr("✗ wrong: a logit is NaN, so nothing is predicted");
    if (!prediction.is_judged() || !answer.target) return tr("Nothing follows here to compare it with.");
    const Arguments target = {{"token", core::token_text(tokenizer, answer.target->token)},
                              {"probability", percent(answer.target->probability)}};
    return prediction.is_right() ? tr(message("✓ right: “{token}” follows", target))
                                 : tr(message("✗ wrong: “{token}” follows, with probability {probability}", target));
}

// One row's part of a tensor of the batch; empty if there is no such tensor.
std::span<const float> row_of(const Tensor& tensor, Index row) {
    const auto length = static_cast<std::size_t>(tensor.empty() ? 0 : tensor.dim(1));
    return tensor.empty() ? std::span<const float>()
                          : tensor.values().subspan(static_cast<std::size_t>(row) * length, length);
}

core::TokenSequence kind_of(const Sequence& sequence) {
    return sequence.source ? core::TokenSequence::source : core::TokenSequence::target;
}

// How many positions come before those that the step shows: none, but in a pass behind a cache.
Index before_step(const core::Session& session, core::TokenSequence sequence) {
    const Step& step = session.step();
    const std::optional<std::size_t> along = core::axis_over(step, sequence);
    return along ? core::positions_before(session.shown().scenario, step, *along) : 0;
}

Row shown_row(const core::Session& session, const Sequence& sequence, Index number) {
    Row row = {row_of(sequence.tokens, number), row_of(sequence.mask, number)};
    if (sequence.predictions && number < sequence.predictions->batch)
        row.predictions = sequence.predictions->row(number);
    row.numbers = row_of(sequence.positions, number);
    row.segments = row_of(sequence.segments, number);
    row.counts_on = session.shown().scenario.config().reads_positions() && row.numbers.empty();
    row.clickable = core::axis_over(session.step(), kind_of(sequence)).has_value();
    if (const std::optional<Cell>& cell = session.cursor().cell)
        if (const auto position = core::position_of(session.step(), *cell, kind_of(sequence), number))
            row.lit = before_step(session, kind_of(sequence)) + *position;
    return row;
}

// A click on a token selects its position on the stage.
void select(const core::Session& session, core::TokenPosition at, Commands& commands) {
    at.position -= before_step(session, at.sequence);
    const Step& step = session.step();
    const core::Cursor& cursor = session.cursor();
    const auto cell = core::cell_at_position(session.shown().run_of(step), step, at, cursor.place, cursor.cell,
                                             session.shown().scenario.query_heads());
    if (!cell) return;
    if (at.batch != cursor.place.batch) commands.push_back(core::command::ChooseBatch{at.batch});
    commands.push_back(core::command::SelectCell{*cell});
}

// Whether a token isn't in the text: <bos>, <pad>.
bool is_unwritten(const tokenizer::Tokenizer& tokenizer, Index id) {
    return tokenizer.has_piece(id) && tokenizer.can_encode() && tokenizer.decode(std::span(&id, 1)).empty();
}

// How wide each token is under its text; tokens that the text doesn't have, such as <bos>, are as wide as a character.
std::vector<float> widths_of(const Ui& ui, const Sequence& sequence, const Row& row) {
    const float one = compat::text_size(ui.fonts.mono, "0").x;
    std::vector<float> widths;
    for (Index at = 0; at < static_cast<Index>(row.ids.size()); ++at) {
        const Index id = id_at(row, at);
        const bool in_text = !is_padding(row, at) && !is_unwritten(sequence.tokenizer, id);
        const std::string text = sequence.box.ids ? std::to_string(id) + " " : core::token_text(sequence.tokenizer, id);
        widths.push_back(in_text ? std::max(compat::text_size(ui.fonts.mono, text).x, one * 0.5F) : one * 0.7F);
    }
    return widths;
}

// A colour for each token of the row that the field shows, below its text: its tooltip tells the token and what the
// model predicts after it, a click selects its position on the stage. What is predicted wrong has a red line.
void draw_token_colors(const Ui& ui, const core::Session& session, const Sequence& sequence, Area area,
                       Commands& commands) {
    const Index number = sequence.box.first_row;
    if (number >= sequence.tokens.dim(0)) return;
    const Row row = shown_row(session, sequence, number);
    std::vector<float> widths = widths_of(ui, sequence, row);
    // What comes before the text stands before it; a text that is longer than its field is drawn narrower.
    float x = area.low.x, all = 0.0F;
    for (const float width : widths) all += width;
    std::size_t before = 0;
    while (before < widths.size() && is_unwritten(sequence.tokenizer, id_at(row, static_cast<Index>(before)))) ++before;
    const float inset = ImGui::GetStyle().FramePadding.x;
    if (before > 0 && before < widths.size()) {
        const float room = (inset - ui.px(2)) / static_cast<float>(before);
        for (std::size_t i = 0; i < before; ++i) {
            all += room - widths[i];
            widths[i] = room;
        }
        x -= inset - ui.px(2);
    }
    const float fit = std::min((area.high.x - x) / std::max(all, 1.0F), 1.0F);
    ImDrawList& list = *ImGui::GetWindowDrawList();
    for (std::size_t i = 0; i < widths.size(); ++i) {
        const auto position = static_cast<Index>(i);
        const float end = x + widths[i] * fit;
        const Area box = {{x, area.low.y}, {std::max(end - 1.0F, x + 1.0F), area.high.y}};
        x = end;
        std::string name;  // for whoever doesn't see it
        if (noting_document() != nullptr) name = tr(named(sequence.tokenizer, row, position));
        const bool pressed = press_at("token", box, position, name);
        const bool hovered = ImGui::IsItemHovered();
        const float high = hovered || row.lit == position ? 6.0F : 4.0F;
        const ImU32 color =
            is_padding(row, position) ? ui.theme.line : chip_color(id_at(row, position), !ui.theme.dark);
        const float top = box.low.y + ui.px(1);
        list.AddRectFilled({box.low.x, top}, {box.high.x, top + ui.px(high)},
                           row.lit == position ? ui.theme.accent : color);
        const core::generate::Prediction* prediction = prediction_at(row, position);
        if (prediction != nullptr && prediction->is_judged() && !prediction->is_right())
            list.AddRectFilled({box.low.x, top + ui.px(high)}, {box.high.x, top + ui.px(high + 2)}, ui.theme.error);
        if (pressed && row.clickable) select(session, {kind_of(sequence), number, position}, commands);
        if (!hovered || !begin_tooltip_beside(box)) continue;
        token_lines(ui, sequence.tokenizer, row, position);
        if (prediction != nullptr) prediction_lines(ui, session, row.predictions, number, position);
        ImGui::EndTooltip();
    }
}

}  // namespace

void prediction_tooltip(const Ui& ui, const core::Session& session, const Sequence& sequence, Index row,
                        Index position) {
    if (!compat::begin_tooltip()) return;
    prediction_lines(ui, session, sequence.predictions->row(row), row, position);
    count_tooltip(ui, *sequence.predictions);
    ImGui::EndTooltip();
}

bool reads_tokens(const core::Session& session) { return !core::text_of(session.scenario()).tokens.empty(); }

void draw_input(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands) {
    InputBarState& bar = state.part<InputBarState>();
    const std::vector<Sequence> all = sequences(session, state);
    if (all.empty()) return;
    for (const Sequence& sequence : all) keep_in_step(sequence);
    const float height = ui.px(34), y = (area.low.y + area.high.y - height) * 0.5F;
    const bool two = all.size() > 1;
    const float width = std::min(ui.px(two ? 190 : 340), area.width() * (two ? 0.24F : 0.5F));
    float x = area.low.x;
    for (const Sequence& sequence : all) {
        ImGui::PushID(sequence.source ? "source" : "target");
        if (&sequence != &all.front()) {
            const std::string word = tr("to");
            draw_text(ui, ui.note(), {x, y + (height - compat::font_size(ui.fonts.caption)) * 0.5F}, word);
            x += compat::text_size(ui.fonts.caption, word).x + ui.px(8);
        }
        const Field field = field_in(ui, {{x, y}, {x + width, y + height}});
        if (bar.focus && &sequence == &all.front()) {
            ImGui::SetCursorScreenPos(field.text.low);
            compat::take_keyboard();
            bar.focus = false;
        }
        if (!sequence.box.active) sequence.box.first_row = session.cursor().place.batch;
        if (edit(ui, sequence.box, field)) ask_for(all, sequence, bar, commands);
        if (!session.input_error().empty() && refuses_source(session, bar) == sequence.source)
            compat::add_rect(*ImGui::GetWindowDrawList(), field.frame.low, field.frame.high, ui.theme.error, ui.px(4));
        if (!sequence.box.active) tooltip(box_tip(sequence).c_str());
        if (!sequence.box.pending) draw_token_colors(ui, session, sequence, field.tokens, commands);
        x = field.frame.high.x + ui.px(10);
        ImGui::PopID();
    }
    Area rest = {{x, area.low.y}, area.high};
    if (!session.input_error().empty()) return draw_error(ui, tr(session.input_error()), rest);
    const bool writable = all.back().writable;
    const float kept = writable ? compat::text_size(ui.fonts.caption, writing_text(session)).x + ui.px(12) : 0.0F;
    rest.low.x = draw_answers(ui, session, state, all.back(), rest, kept);
    if (writable) draw_writing(ui, session, rest, commands);
}

void add_sequence(const core::Session& session, ViewState& state, Commands& commands) {
    core::command::TypeInput asked;
    const Index row = session.cursor().place.batch;
    Index count = 0;
    for (const Sequence& sequence : sequences(session, state)) {
        core::TokenRows rows = core::rows_of(sequence.tokens, sequence.mask, sequence.documents);
        count = static_cast<Index>(rows.size());
        rows.push_back(rows[static_cast<std::size_t>(std::min(row, count - 1))]);
        // As ids: exactly these tokens, whatever text they make.
        (sequence.source ? asked.typed.source : asked.typed.target) =
            core::Typed{.text = core::ids_text(rows), .ids = true, .name = sequence.name};
    }
    commands.push_back(std::move(asked));
    commands.push_back(core::command::ChooseBatch{count});
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
    box.first_row = 0;
}

ImU32 chip_color(Index id, bool dark) {
    constexpr double golden = 0.6180339887498949;  // steps of this size round the circle stay well apart
    const double turns = static_cast<double>(id) * golden;
    float r = 0.0F, g = 0.0F, b = 0.0F;
    ImGui::ColorConvertHSVtoRGB(static_cast<float>(turns - std::floor(turns)), dark ? 0.60F : 0.28F,
                                dark ? 0.42F : 0.95F, r, g, b);
    return ImGui::ColorConvertFloat4ToU32({r, g, b, 1.0F});
}

void prediction_lines(const Ui& ui, const core::Session& session, std::span<const core::generate::Prediction> row,
                      Index batch, Index position) {
    const core::generate::Prediction& prediction = row[static_cast<std::size_t>(position)];
    const core::Snapshot& shown = session.shown();
    const tokenizer::Tokenizer& tokenizer = shown.scenario.tokenizer();
    const auto answer = core::generate::shown_answer(session.derived(), shown.run, batch, position, prediction.target);
    text_line(ui.note(), tr("after position {position} the model predicts", {{"position", position}}));
    for (const core::generate::Answer& likely : answer->likely) text_line(ui.number(), answer_text(tokenizer, likely));
    text_line(ui.note(), verdict(tokenizer, prediction, *answer));
    if (shown.unedited != shown.run) {
        const auto before =
            core::generate::shown_answer(session.derived(), shown.unedited, batch, position, prediction.target);
        if (!before->likely.empty())
            text_line(ui.note(),
                      tr("without edits {answer}", {{"answer", answer_text(tokenizer, before->likely.front())}}));
    }
}

}  // namespace decoderscope::views::input
