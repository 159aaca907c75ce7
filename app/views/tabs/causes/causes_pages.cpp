#include "app/core/run/labels.h"
#include "app/core/tabs/causes/causes_choice.h"
#include "app/core/text/token_text.h"
#include "app/views/frame/stale.h"
#include "app/views/tabs/causes/tab.h"
#include "app/views/widgets/heatmap_view.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string_view>
#include <tuple>

// What moves a number: its gradients, and beside them the measured effects of interventions.
namespace decoderscope::views::causes {

namespace {

constexpr std::size_t kMostScores = 8;

std::string doubted(const std::string& number, bool wrong) { return wrong ? "≠ " + number : number; }

// A table of numbers in the panel's flow: a name, and columns at the right of it.
class Table {
public:
    Table(const Ui& ui, float width, std::size_t columns)
        : ui_(ui), left_(ImGui::GetCursorScreenPos().x), width_(width), columns_(columns) {}

    void head(const std::vector<std::string>& titles) const {
        const ImVec2 at = ImGui::GetCursorScreenPos();
        for (std::size_t i = 0; i < titles.size(); ++i) right(i, at.y, ui_.fonts.caption, ui_.theme.muted, titles[i]);
        ImGui::Dummy({width_, row_height()});
    }

    // Returns whether the row was clicked.
    bool row(const std::string& name, const std::vector<std::string>& numbers, double bar, double most,
             const std::vector<bool>& doubtful, int id) const {
        const ImVec2 at = ImGui::GetCursorScreenPos();
        ImGui::PushID(id);
        const bool clicked = ImGui::InvisibleButton("row", {width_, row_height()});
        ImGui::PopID();
        if (ImGui::IsItemHovered())
            ImGui::GetWindowDrawList()->AddRectFilled(at, {at.x + width_, at.y + row_height()}, ui_.theme.raised);
        const float name_width = width_ - static_cast<float>(columns_) * column() - bar_width() - ui_.px(8);
        draw_text(ui_, ui_.fonts.mono_small, {at.x, at.y + ui_.px(2)}, ui_.theme.text,
                  fitted_in_middle(ui_.fonts.mono_small, name, name_width - ui_.px(4)), name_width);
        for (std::size_t i = 0; i < numbers.size(); ++i)
            right(i, at.y, ui_.fonts.mono_small, doubtful[i] ? ui_.theme.error : ui_.theme.text, numbers[i]);
        const float x = at.x + name_width;  // beside the name
        draw_signed_bar(ui_, {{x, at.y + ui_.px(5)}, {x + bar_width(), at.y + row_height() - ui_.px(5)}}, bar, most);
        return clicked;
    }

private:
    [[nodiscard]] float row_height() const { return compat::font_size(ui_.fonts.mono_small) + ui_.px(5); }
    // As wide as the longest number with its mark of doubt.
    [[nodiscard]] float column() const {
        return compat::text_size(ui_.fonts.mono_small, doubted("-1.23e-05", true)).x + ui_.px(6);
    }
    [[nodiscard]] float bar_width() const { return ui_.px(56); }

    void right(std::size_t number, float y, ImFont* font, ImU32 color, const std::string& text) const {
        const float end = left_ + width_ - static_cast<float>(columns_ - 1 - number) * column();
        const std::string shown = fitted(font, text, column() - ui_.px(4));
        draw_text(ui_, font, {end - compat::text_size(font, shown).x, y + ui_.px(2)}, color, shown);
    }

    const Ui& ui_;
    float left_, width_;
    std::size_t columns_;
};

void heading(const Ui& ui, std::string_view text, std::string_view note, float width) {
    text_line(ui.fonts.text, ui.theme.text, text);
    paragraph(ui.fonts.caption, ui.theme.muted, note, width);
}

// The key that tables are sorted by: NaN comes first.
double size_of(double number) { return std::isnan(number) ? INFINITY : std::abs(number); }

void list_heads(const Ui& ui, const Plan& plan, const core::causes::Moves& moves, float width, Commands& commands) {
    heading(ui, tr("Heads"),
            tr("Effect: the number as it is, minus the number without. ≠: the sign of the gradient is not that of the "
               "measured effect."),
            width);
    std::vector<core::causes::HeadMove> heads = moves.heads;
    std::ranges::stable_sort(heads, std::greater<>(),
                             [](const core::causes::HeadMove& move) { return size_of(move.switched_off); });
    double most = 0.0;
    for (const core::causes::HeadMove& move : heads)
        if (std::isfinite(move.switched_off)) most = std::max(most, std::abs(move.switched_off));
    const Table table(ui, width, 3);
    table.head({tr("gradient"), tr("8 steps"), tr("effect")});
    for (std::size_t i = 0; i < heads.size(); ++i) {
        const core::causes::HeadMove& move = heads[i];
        const bool slope = core::causes::has_wrong_sign(move.gradient_times_z, move.switched_off);
        const bool way = core::causes::has_wrong_sign(move.along_the_way, move.switched_off);
        const std::string name = tr(core::causes::short_name_of_head(move.attention, move.head));
        const bool clicked = table.row(name,
                                       {doubted(cause_text(move.gradient_times_z), slope),
                                        doubted(cause_text(move.along_the_way), way), cause_text(move.switched_off)},
                                       move.switched_off, most, {slope, way, false}, static_cast<int>(i));
        tooltip(tr("{name}: the gradient times the head's output; the mean of that from off to on (integrated "
                   "gradients); and the number as it is, minus the number with the head switched off",
                   {{"name", name}})
                    .c_str());
        if (clicked) {
            if (const Ref pattern = plan.step_of(move.attention, AttentionStep::pattern))
                commands.push_back(core::command::GoTo{pattern->name});
            commands.push_back(core::command::ChooseHead{move.head});
        }
    }
}

void list_tokens(const Ui& ui, const core::Scenario& scenario, const core::causes::Moves& moves, Index batch,
                 float width) {
    if (moves.tokens.empty()) return;
    ImGui::Dummy({1, ui.px(8)});
    heading(ui, tr("Input tokens"),
            tr_n("Swapped: the mean of |effect| with {count} other token in its place.",
                 "Swapped: the mean of |effect| with {count} other tokens in its place.", core::causes::kSwaps),
            width);
    double most = 0.0;
    for (const core::causes::InputMove& move : moves.tokens) most = std::max(most, std::abs(move.most));
    const Table table(ui, width, 3);
    table.head({tr("gradient"), tr("swapped"), tr("most")});
    for (std::size_t i = 0; i < moves.tokens.size(); ++i) {
        const core::causes::InputMove& move = moves.tokens[i];
        const Tensor& tokens = move.encoder ? scenario.inputs.encoder_tokens : scenario.inputs.tokens;
        const tokenizer::Tokenizer& tokenizer = move.encoder ? scenario.encoder_tokenizer() : scenario.tokenizer();
        const auto token = static_cast<Index>(tokens.at(Cell{batch, move.position}));
        const std::string name = std::string(move.encoder ? "src " : "pos ") + std::to_string(move.position) + " “" +
                                 core::token_text(tokenizer, token) + "”";
        static_cast<void>(
            table.row(name, {cause_text(move.gradient_times_z), cause_text(move.swapped), cause_text(move.most)},
                      move.most, most, {false, false, false}, 1000 + static_cast<int>(i)));
        tooltip(tr("The gradient times the embedding; the mean of |effect| with other tokens in its place; and the "
                   "largest effect: the number as it is, minus the number with “{token}” there",
                   {{"token", core::token_text(tokenizer, move.by)}})
                    .c_str());
    }
}

CausesQuestion question_of(const core::Snapshot& shown, const core::causes::ResolvedNumber& number) {
    return {shown, number, {}};
}

// From where an area of this width began to where the flow is now.
Area flow_since(ImVec2 start, float width) { return {start, {start.x + width, ImGui::GetCursorScreenPos().y}}; }

void list_moves(const Ui& ui, const CausesQuestion& of, const core::causes::ShownMoves& shown, float width,
                Commands& commands) {
    if (!shown.error.empty()) return paragraph(ui.fonts.caption, ui.theme.error, tr(shown.error), width);
    paragraph(ui.fonts.text, ui.theme.text, tr(core::causes::moves_sentence(shown.moves)), width);
    ImGui::Dummy({1, ui.px(4)});
    list_heads(ui, of.shown.run->plan(), shown.moves, width, commands);
    list_tokens(ui, of.shown.scenario, shown.moves, of.number.batch, width);
}

void draw_measured(const Ui& ui, const core::Session& session, CausesTabState& causes,
                   const core::causes::ResolvedNumber& number, float width, Commands& commands) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    if (causes.stopped == number.number) {
        if (button(tr("Measure"), "measure-moves")) causes.stopped.reset();
        return;
    }
    const core::Snapshot& shown = session.shown();
    causes.moves.take(load::about(shown.scenario.opened()),
                      core::causes::shown_moves(session.derived(), shown, number, causes.moving),
                      [&] { return question_of(shown, number); });
    draw_answer(
        ui, "coming-moves", causes.moves, {at, {at.x + width, at.y + ui.px(80)}}, commands,
        [&](Commands& heard) {
            list_moves(ui, causes.moves.question(), *causes.moves.answer(), width, heard);
            return flow_since(at, width);
        },
        [&](Area note) {
            if (draw_progress(ui, *causes.moving, note)) causes.stopped = number.number;
        });
}

// ---- the gradients

struct SlopePictures {
    core::Heatmap encoder, decoder;
};

void draw_stream(const Ui& ui, const core::Heatmap& heatmap, const char* title, std::uint64_t key,
                 std::uint64_t version, float width, Viewport& view) {
    if (heatmap.rows == 0) return;
    core::Heatmap titled = heatmap;
    titled.title = title;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float height = std::min(ui.px(70) + static_cast<float>(heatmap.rows) * ui.px(15), ui.px(330));
    static_cast<void>(draw_heatmap(ui,
                                   {.heatmap = titled,
                                    .key = key,
                                    .version = version,
                                    .color = color_of(Meaning::residual),
                                    .legend = Legend::bar,
                                    .scrolls_with = true},
                                   view, {at, {at.x + width, at.y + height}}));
    ImGui::SetCursorScreenPos({at.x, at.y + height + ui.px(8)});
}

// "0.193  1.attn head 3: 18 → 9", from the query's position to the key's.
std::string text_of_score(const Plan& plan, const core::causes::ScoreSlope& score) {
    const std::string& attention = plan.find(score.tensor)->attention;
    return tr("{slope}  {head}: {query} → {key}",
              {{"slope", cause_text(score.slope)},
               {"head", tr(core::causes::short_name_of_head(attention, score.cell[1]))},
               {"query", score.cell[2]},
               {"key", score.cell[3]}});
}

void list_scores(const Ui& ui, const Plan& plan, const core::causes::Slopes& slopes, float width, Commands& commands) {
    if (slopes.scores.empty()) return;
    const std::size_t listed = std::min(kMostScores, slopes.scores.size());
    heading(ui, tr("Scores that it depends on"),
            tr("The steepest {count} of {all}. If one is positive, more weight on that key would raise the number.",
               {{"count", listed}, {"all", slopes.all_scores}}),
            width);
    for (std::size_t i = 0; i < listed; ++i) {
        const core::causes::ScoreSlope& score = slopes.scores[i];
        if (link(ui, ui.fonts.mono_small, ui.theme.accent,
                 fitted(ui.fonts.mono_small, text_of_score(plan, score), width), 9000 + static_cast<int>(i)))
            commands.push_back(core::command::Follow{score.tensor, score.cell});
        tooltip(cell_name(score.tensor, score.cell).c_str());
    }
}

void show_slopes(const Ui& ui, const core::Session& session, ViewState& state, const CausesQuestion& of,
                 const core::Value<core::causes::ShownSlopes>& slopes, float width, Commands& commands) {
    if (!slopes->error.empty()) return paragraph(ui.fonts.caption, ui.theme.error, tr(slopes->error), width);
    const core::Snapshot& shown = of.shown;
    const core::Value<SlopePictures> pictures =
        session.derived().get<SlopePictures>({shown.run}, std::make_tuple(slopes.number()), [&] {
            const auto picture = [&](bool of_encoder) {
                return core::causes::gradients_heatmap(shown.scenario, *shown.run, slopes->slopes.stream, of_encoder,
                                                       of.number.batch);
            };
            return SlopePictures{picture(true), picture(false)};
        });
    heading(ui, tr("Gradient along the stream"),
            tr("Gradient times value, by step and position: a slope at this point, not the effect of removing it."),
            width);
    const std::uint64_t key = heatmap_key("causes");
    draw_stream(ui, pictures->encoder, tr("Encoder"), key, pictures.number(), width, state.viewports[key]);
    draw_stream(ui, pictures->decoder, tr("Decoder"), key + 1, pictures.number(), width, state.viewports[key + 1]);
    list_scores(ui, shown.run->plan(), slopes->slopes, width, commands);
}

void draw_slopes(const Ui& ui, const core::Session& session, ViewState& state,
                 const core::causes::ResolvedNumber& number, float width, Commands& commands) {
    CausesTabState& causes = state.part<CausesTabState>();
    const core::Snapshot& shown = session.shown();
    causes.slopes.take(load::about(shown.scenario.opened()),
                       core::causes::shown_slopes(session.derived(), shown, number),
                       [&] { return question_of(shown, number); });
    const ImVec2 at = ImGui::GetCursorScreenPos();
    draw_answer(
        ui, "coming-slopes", causes.slopes, {at, {at.x + width, at.y + ui.px(30)}}, commands,
        [&](Commands& heard) {
            show_slopes(ui, session, state, causes.slopes.question(), causes.slopes.answer(), width, heard);
            return flow_since(at, width);
        },
        [&](Area note) { text_block(ui, ui.fonts.text, ui.theme.muted, note, tr("Computing the gradients …")); });
}

struct PatchingPictures {
    core::Heatmap encoder, decoder;
    std::vector<std::string> encoder_steps, decoder_steps;
    std::uint64_t number = 0;
};

void say_cell(const Ui& ui, const core::Heatmap& heatmap, const HeatmapGesture& gesture, const std::string& step) {
    if (!begin_tooltip_beside(gesture.cell)) return;
    const auto [row, column] = *gesture.hovered;
    text_line(ui.fonts.mono_small, ui.theme.text, step);
    text_line(ui.fonts.caption, ui.theme.muted,
              tr("position {position} “{token}”",
                 {{"position", column}, {"token", heatmap.column_labels[static_cast<std::size_t>(column)]}}));
    text_line(ui.fonts.text, ui.theme.text,
              tr("{share} of the difference comes back",
                 {{"share", cause_text(static_cast<double>(heatmap.at(row, column)))}}));
    text_line(ui.fonts.caption, ui.theme.muted, tr("Click to go there"));
    ImGui::EndTooltip();
}

void draw_picture(const Ui& ui, ViewState& state, const core::Heatmap& heatmap, const std::vector<std::string>& steps,
                  std::uint64_t key, std::uint64_t version, Area area, Commands& commands) {
    const HeatmapGesture gesture = draw_heatmap(ui,
                                                {.heatmap = heatmap,
                                                 .key = key,
                                                 .version = version,
                                                 .color = color_of(Meaning::residual),
                                                 .legend = Legend::bar,
                                                 .grid = true},
                                                state.viewports[key], area);
    if (gesture.hovered) say_cell(ui, heatmap, gesture, steps[static_cast<std::size_t>(gesture.hovered->first)]);
    if (gesture.clicked)
        commands.push_back(core::command::GoTo{steps[static_cast<std::size_t>(gesture.clicked->first)]});
}

void show_patching(const Ui& ui, const core::Session& session, ViewState& state, const CausesQuestion& of,
                   const core::Value<core::causes::ShownPatching>& measured, Area area, Commands& commands) {
    const core::Snapshot& shown = of.shown;
    if (!measured->error.empty()) {
        text_block(ui, ui.fonts.text, ui.theme.muted, area, tr(measured->error));
        return;
    }
    area.low.y += text_block(ui, ui.fonts.text, ui.theme.text, area,
                             tr(core::causes::patching_sentence(measured->patching, of.number))) +
                  ui.px(8);
    if (!of.about_swap.empty())
        area.low.y += text_block(ui, ui.fonts.text, ui.theme.muted, area, tr(of.about_swap)) + ui.px(8);
    if (measured->patching.steps.empty()) return;
    const core::Value<PatchingPictures> pictures =
        session.derived().get<PatchingPictures>({shown.run}, std::make_tuple(measured.number()), [&] {
            const core::causes::Patching& patching = measured->patching;
            PatchingPictures made;
            made.encoder = core::causes::patching_heatmap(shown.scenario, *shown.run, patching, true, of.number.batch);
            made.decoder = core::causes::patching_heatmap(shown.scenario, *shown.run, patching, false, of.number.batch);
            made.encoder.title = tr("Encoder");
            made.decoder.title = tr("Decoder");
            made.encoder_steps = core::causes::patched_steps(*shown.run, patching, true);
            made.decoder_steps = core::causes::patched_steps(*shown.run, patching, false);
            return made;
        });
    const std::uint64_t key = heatmap_key("patching");
    if (pictures->encoder.rows == 0)
        return draw_picture(ui, state, pictures->decoder, pictures->decoder_steps, key, measured.number(), area,
                            commands);
    const float half = std::floor((area.width() - ui.px(16)) * 0.5F);
    draw_picture(ui, state, pictures->encoder, pictures->encoder_steps, key + 1, measured.number(),
                 {area.low, {area.low.x + half, area.high.y}}, commands);
    draw_picture(ui, state, pictures->decoder, pictures->decoder_steps, key, measured.number(),
                 {{area.high.x - half, area.low.y}, area.high}, commands);
}

}  // namespace

void draw_moves(const Ui& ui, const core::Session& session, ViewState& state,
                const core::causes::ResolvedNumber& number, Area area, Commands& commands) {
    CausesTabState& causes = state.part<CausesTabState>();
    ImGui::SetCursorScreenPos(area.low);
    compat::begin_child("moves", {area.width() + ui.px(8), std::max(area.height(), 1.0F)});
    const ImVec2 start = ImGui::GetCursorScreenPos();
    const float room = ImGui::GetContentRegionAvail().x - ui.px(12), gap = ui.px(24);
    const bool two = room > ui.px(640);
    const float left = two ? std::floor(room * 0.62F) : room;
    ImGui::BeginGroup();
    draw_measured(ui, session, causes, number, left, commands);
    ImGui::EndGroup();
    const float x = two ? start.x + left + gap : start.x;
    const float y = two ? start.y : ImGui::GetCursorScreenPos().y + ui.px(12);
    ImGui::SetCursorScreenPos({x, y});
    ImGui::BeginGroup();
    draw_slopes(ui, session, state, number, two ? room - left - gap : room, commands);
    ImGui::EndGroup();
    ImGui::EndChild();
}

// Activation patching: how much of a difference comes back with each row of another run.

void draw_patching(const Ui& ui, const core::Session& session, ViewState& state,
                   const core::causes::ResolvedNumber& number, Area area, Commands& commands) {
    CausesTabState& causes = state.part<CausesTabState>();
    const core::Snapshot& shown = session.shown();
    if (causes.stopped == number.number) {
        ImGui::SetCursorScreenPos(area.low);
        if (button(tr("Measure"), "measure-patching")) causes.stopped.reset();
        return;
    }
    Sentence about_swap;
    bool looking = false;
    causes.compared = causes.other;
    if (causes.other.kind == core::causes::OtherKind::token && !causes.other.position && !causes.other.token) {
        const core::Value<core::causes::TellingSwap> swap =
            core::causes::shown_telling_swap(session.derived(), shown, number);
        looking = !swap;
        if (swap) {
            causes.compared = core::causes::with_swap(causes.other, *swap);
            about_swap = core::causes::swap_sentence(*swap);
        }
    }
    const core::Value<core::causes::ShownPatching> measured =
        looking ? core::Value<core::causes::ShownPatching>()
                : core::causes::shown_patching(session.derived(), shown, number, causes.compared, causes.every_step,
                                               causes.patching);
    causes.patched.take(load::about(shown.scenario.opened()), measured, [&] {
        return CausesQuestion{shown, number, about_swap};
    });
    draw_answer(
        ui, "coming-patching", causes.patched, area, commands,
        [&](Commands& heard) {
            show_patching(ui, session, state, causes.patched.question(), causes.patched.answer(), area, heard);
            return area;
        },
        [&](Area note) {
            if (looking)
                text_block(ui, ui.fonts.text, ui.theme.muted, note,
                           tr("Looking for a token that changes the answer …"));
            else if (draw_progress(ui, *causes.patching, note))
                causes.stopped = number.number;
        });
}

// Direct logit attribution: what each head, each MLP and the embedding wrote into a logit.

void draw_writers(const Ui& ui, const core::Session& session, CausesTabState& causes,
                  const core::causes::ResolvedNumber& number, Area area, Commands& commands) {
    if (causes.number.kind == core::causes::NumberKind::cell) {
        text_block(ui, ui.fonts.text, ui.theme.muted, area, tr("Choose a logit, or the difference of two."));
        return;
    }
    const bool difference = causes.number.kind == core::causes::NumberKind::difference;
    const core::Value<core::causes::ShownAttribution> shown =
        core::causes::shown_attribution(session.derived(), session.shown(), number, difference);
    if (!shown->obstacle.empty()) {
        text_block(ui, ui.fonts.text, ui.theme.muted, area, tr(shown->obstacle));
        return;
    }
    const core::causes::Attribution& attribution = shown->attribution;
    area.low.y += text_block(ui, ui.fonts.text, ui.theme.text, area,
                             tr("{count} terms sum to {sum}; the run's logit is {logit}.",
                                {{"count", attribution.terms.size()},
                                 {"sum", cause_text(attribution.sum)},
                                 {"logit", cause_text(attribution.logit)}})) +
                  ui.px(8);
    // The largest first, so that they stand above the fold.
    std::vector<core::causes::Contribution> terms = attribution.terms;
    std::ranges::stable_sort(terms, std::greater<>(),
                             [](const core::causes::Contribution& term) { return size_of(term.logit); });
    double most = 0.0;
    for (const core::causes::Contribution& term : terms)
        if (std::isfinite(term.logit)) most = std::max(most, std::abs(term.logit));
    begin_part("writers", area);
    const float row = compat::font_size(ui.fonts.mono_small) + ui.px(5), width = ImGui::GetContentRegionAvail().x;
    const float names = std::min(ui.px(320), width * 0.5F), numbers = ui.px(70);
    for (std::size_t i = 0; i < terms.size(); ++i) {
        const core::causes::Contribution& term = terms[i];
        const ImVec2 at = ImGui::GetCursorScreenPos();
        ImGui::PushID(static_cast<int>(i));
        if (ImGui::InvisibleButton("term", {width, row})) {
            commands.push_back(core::command::GoTo{term.tensor});
            if (term.head) commands.push_back(core::command::ChooseHead{*term.head});
        }
        ImGui::PopID();
        if (ImGui::IsItemHovered())
            ImGui::GetWindowDrawList()->AddRectFilled(at, {at.x + width, at.y + row}, ui.theme.raised);
        draw_text(ui, ui.fonts.mono_small, {at.x, at.y + ui.px(2)}, ui.theme.text, tr(core::causes::name_of(term)),
                  names - ui.px(8));
        const std::string text = cause_text(term.logit);
        draw_text(ui, ui.fonts.mono_small,
                  {at.x + names + numbers - compat::text_size(ui.fonts.mono_small, text).x, at.y + ui.px(2)},
                  ui.theme.text, text);
        draw_signed_bar(ui,
                        {{at.x + names + numbers + ui.px(16), at.y + ui.px(4)}, {at.x + width, at.y + row - ui.px(4)}},
                        term.logit, most);
    }
    ImGui::EndChild();
}

}  // namespace decoderscope::views::causes
