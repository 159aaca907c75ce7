#include "app/views/tabs/heads/tab.h"

#include "app/core/run/edits.h"
#include "app/core/run/labels.h"
#include "app/core/run/passes_of_text.h"
#include "app/core/text/numbers.h"
#include "app/core/text/token_text.h"
#include "app/views/frame/books.h"
#include "app/views/tabs/ask/tab.h"
#include "app/views/widgets/heatmap_layout.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <cmath>

namespace decoderscope::views::heads {

namespace {

// The companion run in which the open head is off.
constexpr const char* kHeadPreview = "heads.without";

// The stage shows patterns, so their heads and layers are collected, not those of the cursor's step.
void add_exports(ExportScene& scene) {
    const HeadsTabState& heads = scene.state.part<HeadsTabState>();
    const Plan& plan = scene.shown.run->plan();
    scene.gathers_step = false;
    const std::vector<std::string> attentions = core::heads::attentions_of_kind(plan, heads.kind);
    const Ref pattern =
        plan.step_of(heads.opened || attentions.empty() ? heads.attention : attentions.front(), AttentionStep::pattern);
    if (pattern == nullptr || scene.shown.run->value(pattern->id).empty()) return;
    if (heads.opened)
        scene.add(tr("This head: pattern, q, k and v"), pattern->name + ".head" + std::to_string(scene.place.head),
                  [shown = scene.shown, attention = heads.attention, place = scene.place] {
                      return core::head_exhibit(shown, attention, place);
                  });
    // The grid shows all of them.
    add_gathered(scene, *pattern, heads.opened ? GatheredFirst::this_layer : GatheredFirst::all_layers);
}

// The head with the strongest weight, switched off; on again if it is off.
std::optional<Suggestion> suggest(const core::Session& session) {
    const core::Snapshot& shown = session.shown();
    const Plan& plan = shown.run->plan();
    const Ref opening = plan.find(core::opening_cursor(shown.scenario, plan).step);
    if (opening == nullptr || opening->attention.empty()) return std::nullopt;
    const auto strongest =
        core::heads::shown_strongest_weight(session.derived(), shown, opening->attention, session.cursor().place.batch);
    const Ref pattern = plan.step_of(opening->attention, AttentionStep::pattern);
    if (!strongest->found || pattern == nullptr) return std::nullopt;
    const Index head = strongest->found->cell[1];
    const bool off = core::head_factor(shown.scenario.edits, opening->attention, head) == 0.0F;
    return Suggestion{.title = off ? tr("Switch head {head} on again", {{"head", head}})
                                   : tr("Switch off head {head}", {{"head", head}}),
                      .commands = {core::command::GoTo{pattern->name}, core::command::ChooseHead{head},
                                   core::command::ScaleHeadTo{opening->attention, head, off ? 1.0F : 0.0F}}};
}

// What the page of a head previews: the head off.
core::Variation without_head(const core::Session& session, const HeadsTabState& heads) {
    return {.more_edits = {ScaleHead{heads.attention, session.cursor().place.head, 0.0F}}};
}

// While nothing is edited, the page shows what the output would be without its head.
core::CompanionRuns companion_runs(const core::Session& session, const ViewState& state) {
    const HeadsTabState& heads = state.part<HeadsTabState>();
    if (!heads.opened || core::is_edited(session.fitting_scenario())) return {};
    return {{kHeadPreview, without_head(session, heads)}};
}

// Follows the cursor: the page shows the attention that the cursor is in, and the grid its kind.
void follow_cursor(const core::Session& session, HeadsTabState& heads) {
    const Plan& plan = session.shown().run->plan();
    const std::string attention = session.attention();
    if (plan.step_of(attention, AttentionStep::pattern) != nullptr && attention != heads.attention) {
        heads.attention = attention;
        heads.kind = core::heads::kind_of_attention(plan, attention);
    }
    if (plan.step_of(heads.attention, AttentionStep::pattern) == nullptr) {
        const std::vector<std::string> first = core::heads::attentions_of_kind(plan, core::heads::AttentionKind::self);
        if (!first.empty()) heads.attention = first.front();
    }
    if (heads.opened) heads.kind = core::heads::kind_of_attention(plan, heads.attention);
    if (core::heads::attentions_of_kind(plan, heads.kind).empty()) heads.kind = core::heads::AttentionKind::self;
}

std::string number(double value) { return core::short_number_text(value, 3); }

// Which two runs are compared.
struct Compared {
    std::shared_ptr<const Run> before, after;
    bool preview = false;  // no head is switched yet
};

// Only outputs of the same shape are compared.
bool comparable(const Run& before, const Run& after) {
    const Ref output = core::output_step(after.plan());
    return output != nullptr && before.value(output->name).axes() == after.value(output->id).axes();
}

Compared compared(const core::Session& session, const HeadsTabState& heads) {
    const core::Snapshot& shown = session.shown();
    const core::Companion* without = shown.companion(kHeadPreview);
    const bool wanted = heads.opened && shown.unedited == shown.run && without != nullptr;
    if (wanted && without_head(session, heads) == without->variation && comparable(*shown.run, *without->run))
        return {shown.run, without->run, true};
    return {comparable(*shown.unedited, *shown.run) ? shown.unedited : shown.run, shown.run, false};
}

// What the strip shows: the output's moves in one batch row, and the labels of its positions.
struct Shown {
    const core::Session& session;
    const Step& output;
    const Compared& runs;
    const core::OutputMoves& moves;
    std::vector<std::string> positions;
    Index batch;
    bool by_norm;

    [[nodiscard]] std::span<const core::PositionMove> row() const { return moves.row(batch); }
    // 0 at padding, which doesn't count.
    [[nodiscard]] double height(std::size_t at) const {
        const core::PositionMove& move = row()[at];
        return !move.counts ? 0.0 : by_norm ? move.norm : move.largest;
    }
    // The name of an index of the output: the token, or the index itself.
    [[nodiscard]] std::string name_of(std::optional<Index> index) const {
        if (!index) return "NaN";
        const tokenizer::Tokenizer& tokenizer = session.shown().scenario.tokenizer();
        return moves.predicts && *index < tokenizer.size() ? "“" + core::token_text(tokenizer, *index) + "”"
                                                           : std::to_string(*index);
    }
};

// "Against the same run without edits: logits moved by at most 1.62; no prediction changed. (furthest at row 0, …)"
std::string headline(const Shown& shown, bool opened) {
    const core::Scenario& scenario = shown.session.shown().scenario;
    const auto said = [&](core::Mood mood) {
        const Sentence moved = core::moves_sentence(scenario, shown.moves, mood);
        if (!shown.moves.furthest) return moved;
        return message("{moved} ({furthest})",
                       {{"moved", moved}, {"furthest", core::furthest_sentence(scenario, shown.moves)}});
    };
    if (shown.runs.preview) return tr("Without this head: {effect}", {{"effect", said(core::Mood::would)}});
    if (shown.runs.before != shown.runs.after) return tr(core::against_unedited(scenario, said(core::Mood::happened)));
    return opened ? tr("Computing the output without this head …")
                  : tr("Switch a head off by its dot, or open it: its effect on {what} appears here.",
                       {{"what", shown.moves.predicts ? tr("the logits") : shown.output.name}});
}

// "largest · norm": what the bars' height means.
void choose_height(const Ui& ui, HeadsTabState& heads, Area line) {
    const auto choice = [&](const char* text, float x, bool by_norm, const char* tip) {
        ImGui::SetCursorScreenPos({x, line.low.y});
        const ImU32 color = heads.by_norm == by_norm ? ui.theme.text : ui.theme.muted;
        if (link(ui, {ui.fonts.caption, color}, text, by_norm ? 7102 : 7101)) heads.by_norm = by_norm;
        tooltip(tip);
    };
    const auto width = [&](const char* text) { return compat::text_size(ui.fonts.caption, text).x; };
    const float norm = line.high.x - width(tr("L2 norm")), largest = norm - ui.px(12) - width(tr("largest"));
    choice(tr("largest"), largest, false, tr("A bar is the largest change of any number at the position."));
    choice(tr("L2 norm"), norm, true, tr("A bar is the length of the change: the root of the sum of its squares."));
}

void position_tooltip(const Ui& ui, const Shown& shown, std::size_t at) {
    if (!compat::begin_tooltip()) return;
    const core::PositionMove& move = shown.row()[at];
    text_line({ui.fonts.mono_small, ui.theme.muted},
              tr("{tensor}  position {position}  “{token}”",
                 {{"tensor", shown.output.name}, {"position", at}, {"token", shown.positions[at]}}));
    if (!move.counts) text_line(ui.note(), tr("padding: it doesn't count"));
    text_line(ui.number(), tr("largest change {largest}   L2 norm {norm}",
                              {{"largest", number(move.largest)}, {"norm", number(move.norm)}}));
    if (move.changes_prediction())
        text_line({ui.fonts.caption, ui.theme.warning},
                  tr("prediction: {before} → {after}",
                     {{"before", shown.name_of(move.before)}, {"after", shown.name_of(move.after)}}));
    else if (move.counts && shown.moves.predicts)
        text_line(ui.note(), move.after ? tr("prediction stays {token}", {{"token", shown.name_of(move.after)}})
                                        : tr("no prediction: NaN in both runs"));
    const auto value = [&](const std::shared_ptr<const Run>& run) -> const Tensor& {
        return run->value(shown.output.name);
    };
    constexpr std::size_t kListed = 5;
    const std::vector<core::diff::ValueChange> changes =
        core::diff::largest_changes(value(shown.runs.before), value(shown.runs.after), shown.batch,
                                    static_cast<Index>(at), std::numeric_limits<std::size_t>::max());
    if (changes.size() > kListed)
        text_line(ui.note(),
                  tr("the {count} of {all} that changed most:", {{"count", kListed}, {"all", changes.size()}}));
    for (const core::diff::ValueChange& change : std::span(changes).first(std::min(kListed, changes.size())))
        text_line(ui.number(), shown.name_of(change.index) + "  " + number(static_cast<double>(change.before)) + " → " +
                                   number(static_cast<double>(change.after)));
    ImGui::EndTooltip();
}

// One position: its bar, the number above it, its token below it.
void draw_position(const Ui& ui, const Shown& shown, std::size_t at, double top, Area box, bool labelled) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const float line = compat::font_size(ui.fonts.mono_small) + ui.px(2);
    const float floor = box.high.y - line;
    const bool numbered = floor - box.low.y > line + ui.px(14);  // otherwise the numbers are only in the tooltips
    const float room = floor - box.low.y - (numbered ? line : 0.0F);
    const double value = shown.height(at);
    const bool nan = std::isnan(value);
    const float part = nan ? 1.0F : top > 0.0 ? static_cast<float>(value / top) : 0.0F;
    const float middle = (box.low.x + box.high.x) * 0.5F, half = std::min(box.width() * 0.36F, ui.px(20));
    click_at("position", box, static_cast<Index>(at));
    const bool hovered = ImGui::IsItemHovered();
    const ImU32 color = nan                                    ? ui.theme.error
                        : shown.row()[at].changes_prediction() ? ui.theme.warning
                                                               : ui.theme.accent;
    const ImVec2 low = {middle - half, floor - std::max(room * part, value > 0.0 || nan ? ui.px(1.5F) : 0.0F)};
    if (value != 0.0)
        list.AddRectFilled(low, {middle + half, floor},
                           with_alpha(color, shown.runs.preview ? 0.2F
                                             : hovered          ? 1.0F
                                                                : 0.8F),
                           ui.px(1.5F));
    if (shown.runs.preview && value > 0.0)
        compat::add_rect(list, low, {middle + half, floor}, color, ui.px(1.5F), ui.px(1));
    if (hovered) position_tooltip(ui, shown, at);
    const auto centred = [&](const std::string& text, float y, ImU32 ink) {
        const std::string fits = fitted(ui.fonts.mono_small, text, box.width() - ui.px(4));
        draw_text(ui, {ui.fonts.mono_small, ink}, {middle - compat::text_size(ui.fonts.mono_small, fits).x * 0.5F, y},
                  fits);
    };
    if (labelled) centred(shown.positions[at], floor + ui.px(1), hovered ? ui.theme.text : ui.theme.muted);
    const std::string text = number(value);
    if (numbered && value != 0.0 && compat::text_size(ui.fonts.mono_small, text).x < box.width() - ui.px(4))
        centred(text, floor - room * part - line, ui.theme.text);
}

void draw_positions(const Ui& ui, const Shown& shown, Area area) {
    double top = 0.0;
    for (std::size_t i = 0; i < shown.row().size(); ++i)
        if (std::isfinite(shown.height(i))) top = std::max(top, shown.height(i));
    const float pitch = std::min(area.width() / static_cast<float>(shown.row().size()), ui.px(88));
    // If they crowd, only every n-th has a label, as wide as its neighbours allow.
    const auto every = static_cast<std::size_t>(std::ceil(ui.px(28) / pitch));
    const float floor = area.high.y - compat::font_size(ui.fonts.mono_small) - ui.px(2);
    ImGui::GetWindowDrawList()->AddLine(
        {area.low.x, floor}, {area.low.x + pitch * static_cast<float>(shown.row().size()), floor}, ui.theme.line);
    for (std::size_t i = 0; i < shown.row().size(); ++i) {
        const float x = area.low.x + pitch * static_cast<float>(i);
        draw_position(ui, shown, i, top, {{x, area.low.y}, {x + pitch, area.high.y}}, every <= 1);
        const float room = pitch * static_cast<float>(every);
        if (every > 1 && i % every == 0 && x + room <= area.high.x)
            draw_text(ui, {ui.fonts.mono_small, ui.theme.muted}, {x, floor + ui.px(1)}, shown.positions[i],
                      room - ui.px(4));
    }
}

// Nothing moves under the mouse: the list doesn't grow with the model.
constexpr std::size_t kMostListed = 12;

// "Entropy 1.32 bits": each measure of the cursor's head, with what it says in the tooltip.
void say_measures(const Ui& ui, const core::heads::HeadScore& score) {
    for (const core::heads::PatternMeasure measure : core::heads::kPatternMeasures) {
        const double value = score.value(measure);
        if (std::isnan(value)) continue;
        const std::string_view unit = core::heads::measure_unit(measure);
        paragraph(ui.caption(), tr("{measure}: {value} {unit}", {{"measure", core::heads::measure_name(measure)},
                                                                 {"value", core::short_number_text(value, 3)},
                                                                 {"unit", unit}}));
        tooltip(std::string(core::heads::measure_sentence(measure)).c_str());
    }
}

void say_head(const Ui& ui, const core::Session& session, const HeadsTabState& heads) {
    const core::Place place = session.cursor().place;
    paragraph({ui.fonts.mono, ui.theme.text},
              tr("{attention} head {head}", {{"attention", heads.attention}, {"head", place.head}}));
    const core::Value<core::heads::MeasuredHeads> measured = core::heads::measured_heads(
        session.derived(), session.shown().scenario, session.shown().run, heads.kind, place.batch);
    if (!measured) return text_line(ui.note(), tr("Measuring …"));
    for (const core::heads::HeadScore& score : measured->scores)
        if (score.attention == heads.attention && score.head == place.head) say_measures(ui, score);
}

// What the run would be without each head; those that change least.
void list_removals(const Ui& ui, const core::Session& session, ViewState& state, Commands& commands) {
    if (!session.shown().scenario.computes()) return;
    section_heading(ui, tr("Without a head"));
    const core::ask::SweepQuestion question = {core::ask::names_of_each().front(), ""};  // each head
    const auto shown = core::ask::shown_sweep(session.derived(), session.shown(), question, nullptr);
    if (!shown) return text_line(ui.note(), tr("Measuring …"));
    if (!shown->error.empty()) return;
    paragraph(ui.caption(), tr(core::ask::summary_sentence(*shown)));
    const std::size_t all = shown->order.size(), listed = std::min(kMostListed, all);
    if (link_in_lines(ui, {ui.fonts.caption, ui.theme.accent},
                      listed == all
                          ? tr("the least first; more in Ask")
                          : tr("{listed} of {all}, the least first; all in Ask", {{"listed", listed}, {"all", all}}),
                      299))
        ask::open_question(state, question);
    const Plan& plan = session.shown().run->plan();
    for (std::size_t i = 0; i < listed; ++i) {
        const core::ask::Result& result = shown->sweep.results[shown->order[all - 1 - i]];
        const core::Variation without = shown->points.at(result.point).variation;
        const ScaleHead& head = std::get<ScaleHead>(without.more_edits.front());
        if (link(ui, {ui.fonts.mono_small, ui.theme.accent},
                 fitted(ui.fonts.mono_small, tr(result.at[0].text), ImGui::GetContentRegionAvail().x),
                 300 + static_cast<int>(i))) {
            if (const Ref pattern = plan.step_of(head.attention, AttentionStep::pattern))
                commands.push_back(core::command::GoTo{pattern->name});
            commands.push_back(core::command::ChooseHead{head.head});
        }
        if (result.effect) paragraph(ui.note(), tr(result.effect->said));
    }
}

// The strip's height: the same with and without edits, so that nothing moves under the mouse; lower if there is
// little room for a head's page, and a line under the grid.
float effect_strip_height(const Ui& ui, const core::Session& session, const HeadsTabState& heads, float room) {
    constexpr float kHeadline = 26, kLow = 66, kHigh = 84;
    if (room < ui.px(300)) return ui.px(kHeadline);
    // The grid says of each head what the answer is without it.
    if (!heads.opened) return ui.px(kHeadline);
    const Plan& plan = session.shown().run->plan();
    // Its bars aren't there where they would cut a pattern off that is whole without them.
    const Ref pattern = plan.step_of(heads.attention, AttentionStep::pattern);
    const Index rows = pattern == nullptr ? 0 : pattern->axes[2].size;
    const float above = ui.px(control_lines(ui, room - ui.px(kLow + 8)) == 1 ? 85 : 170),
                cells = rows > kFew ? 0.0F : ui.px(kLeastHit) * static_cast<float>(rows);
    if (above + cells + ui.px(kLow) > room) return ui.px(kHeadline);
    return ui.px(room < ui.px(600) ? kLow : kHigh);
}

// What the edits do to the output, one bar per position: how far the logits (or the last residual) moved from the
// unedited run. Without edits, hollow bars show what switching the open head off would do.
void draw_effect_strip(const Ui& ui, const core::Session& session, ViewState& state, Area area) {
    ImGui::GetWindowDrawList()->AddLine(area.low, {area.high.x, area.low.y}, ui.theme.line);
    const float line = compat::font_size(ui.fonts.caption);
    const Area top = {{area.low.x, area.low.y + ui.px(7)}, {area.high.x, area.low.y + ui.px(7) + line}};
    const Compared runs = compared(session, state.part<HeadsTabState>());
    const Ref output = core::output_step(runs.after->plan());
    if (output == nullptr) return;
    const auto ready = [&](const std::shared_ptr<const Run>& run) { return run->value(output->name).is_ready(); };
    const auto moves =
        core::diff::shown_output_moves(session.derived(), session.shown().scenario, runs.before, runs.after);
    const Index batch = session.cursor().place.batch;
    if (!ready(runs.before) || !ready(runs.after) || !moves || moves->all.empty()) {  // they are computed last
        draw_text(ui, ui.note(), top.low, tr("Computing {output} …", {{"output", output->name}}), top.width());
        return;
    }
    const Shown shown = {session,
                         *output,
                         runs,
                         *moves,
                         core::axis_labels(session.shown().scenario, *output, 1, batch),
                         batch,
                         state.part<HeadsTabState>().by_norm};
    const float bars = area.high.y - top.high.y - ui.px(4);
    const bool has_bars = bars > 2.0F * line;  // for them and their tokens
    const float height_choice = has_bars ? ui.px(112) : 0.0F;
    if (has_bars) choose_height(ui, state.part<HeadsTabState>(), top);
    const std::string text = headline(shown, state.part<HeadsTabState>().opened) +
                             (session.stale() ? "  · " + std::string(tr("computing …")) : "");
    draw_text(ui, {ui.fonts.caption, moves->furthest ? ui.theme.text : ui.theme.muted}, top.low, text,
              top.width() - height_choice);
    area_tooltip(ui, {top.low, {top.high.x - height_choice, top.high.y}}, {text});
    if (has_bars) draw_positions(ui, shown, {{area.low.x, top.high.y + ui.px(4)}, area.high});
}

void draw_heads_tab(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands) {
    HeadsTabState& heads = state.part<HeadsTabState>();
    // Escape first deselects the cell, then leads back to the grid. Enter opens the head that is outlined there.
    const bool escape = state.dialog == Dialog::none && !typing() && pressed(Key::escape);
    if (escape && !session.cursor().cell) heads.opened = false;
    follow_cursor(session, heads);
    if (!heads.opened && state.dialog == Dialog::none && !typing() && pressed(Key::enter)) {
        heads.opened = true;
        if (const Ref pattern = session.shown().run->plan().step_of(heads.attention, AttentionStep::pattern))
            commands.push_back(core::command::GoTo{pattern->name});
    }
    const float pad = ui.px(16);
    const Area inner = {{area.low.x + pad, area.low.y + ui.px(10)}, {area.high.x - pad, area.high.y - ui.px(8)}};
    const float strip = effect_strip_height(ui, session, heads, inner.height());
    const Area upper = {inner.low, {inner.high.x, inner.high.y - strip - ui.px(8)}};
    if (heads.opened)
        draw_head_page(ui, session, state, upper, commands);
    else
        draw_heads_grid(ui, session, state, upper, commands);
    draw_effect_strip(ui, session, state, {{inner.low.x, inner.high.y - strip}, inner.high});
}

// The cursor's head in words and numbers, and which heads the run can do without.
void inspect_heads(const Ui& ui, const core::Session& session, ViewState& state, Commands& commands) {
    const HeadsTabState& heads = state.part<HeadsTabState>();
    term_line(ui, state, ui.title(), tr("Heads"), core::glossary::find_term("head"));
    if (!heads.attention.empty()) say_head(ui, session, heads);
    list_removals(ui, session, state, commands);
}

}  // namespace

Tab heads_tab() {
    return {.id = "heads",
            .title = message("Heads"),
            .question = message("What does each head look at?"),
            .key = Key::h,
            .term = "head",
            .draw = draw_heads_tab,
            .inspect = inspect_heads,
            .explains_cells = true,
            .suggest = suggest,
            .companion_runs = companion_runs,
            .add_exports = add_exports,
            .computes = true};
}

}  // namespace decoderscope::views::heads
