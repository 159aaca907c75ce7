#include "app/views/tabs/masks/tab.h"

#include "app/core/run/edits.h"
#include "app/core/run/labels.h"
#include "app/core/run/passes_of_text.h"
#include "app/core/tabs/masks/mask_words.h"
#include "app/core/tabs/step/tiles.h"
#include "app/views/frame/books.h"
#include "app/views/frame/place_choices.h"
#include "app/views/widgets/heatmap_layout.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/base/translate.h"

#include <cmath>

namespace decoderscope::views::masks {

namespace {

// The last position that was painted so that an earlier one sees it; nothing if there is none.
std::optional<Index> painted_position(const core::Snapshot& shown, Index batch) {
    const std::vector<Edit>& edits = shown.scenario.edits;
    for (auto edit = edits.rbegin(); edit != edits.rend(); ++edit) {
        const auto* painted = std::get_if<MaskEdit>(&*edit);
        if (painted == nullptr || !painted->keep || painted->batch.value_or(batch) != batch) continue;
        const Index key = painted->key.value_or(shown.scenario.inputs.pos() - 1);
        const auto kind = core::heads::kind_of_attention(shown.run->plan(), painted->attention);
        const bool ahead = kind == core::heads::AttentionKind::self && key > painted->query.value_or(0);
        if (ahead && key < shown.scenario.inputs.pos()) return key;
    }
    return std::nullopt;
}

// The mask's step, if it has more cells than can be read whole.
Ref mask_of_too_many(const core::Session& session, const std::string& attention) {
    const core::Snapshot& shown = session.shown();
    const Ref pattern = shown.run->plan().step_of(attention, AttentionStep::pattern);
    if (pattern == nullptr) return nullptr;
    const core::Slice slice = core::slice_of(*pattern, session.cursor().place, shown.scenario.query_heads());
    if (!core::step::comes_by_tiles(*shown.run, *pattern, slice)) return nullptr;
    return shown.run->plan().step_of(attention, AttentionStep::mask);
}

// The position that the leak test changes: the chosen one, otherwise as MasksTabState says.
Index leak_position(const core::Session& session, const MasksTabState& tab) {
    const Inputs& inputs = session.shown().scenario.inputs;
    const Index batch = session.cursor().place.batch;
    const bool chosen = tab.chosen_position && tab.chosen_batch == batch && *tab.chosen_position < inputs.pos();
    if (chosen) return *tab.chosen_position;
    if (const auto painted = painted_position(session.shown(), batch)) return *painted;
    const Index last = core::kept_length(core::padding_of(session.shown().scenario), batch, inputs.pos()) - 1;
    return std::min(std::max<Index>(last, 1), inputs.pos() - 1);
}

core::Value<core::Variation> leak_variation(const core::Session& session, const ViewState& state) {
    const core::Snapshot& shown = session.shown();
    return core::masks::shown_leak_variation(session.derived(), shown.scenario, shown.run, session.cursor().place.batch,
                                             leak_position(session, state.part<MasksTabState>()));
}

core::CompanionRuns companion_runs(const core::Session& session, const ViewState& state) {
    if (mask_of_too_many(session, shown_attention(session)) != nullptr) return {};
    return {{kLeakRun, *leak_variation(session, state)}};
}

// ---- the leak test

// The result of the leak test; empty while the companion still belongs to the previous run, or is being compared.
core::Value<core::checks::Leak> leak_found(const core::Session& session, const ViewState& state) {
    const core::Snapshot& shown = session.shown();
    const core::Companion* companion = shown.companion(kLeakRun);
    const bool current = companion != nullptr && companion->variation == *leak_variation(session, state);
    if (!current) return {};
    return core::masks::shown_leak(session.derived(), shown.run, companion->run, session.cursor().place.batch,
                                   state.part<MasksTabState>().leak_position);
}

core::Value<core::masks::LeakPicture> leak_picture_of(const core::Session& session, const ViewState& state) {
    const Index batch = session.cursor().place.batch;
    return core::masks::shown_leak_picture(session.derived(), session.shown(), batch,
                                           state.part<MasksTabState>().leak_position, leak_found(session, state),
                                           core::masks::shown_leaks_back(session.derived(), session.shown(), batch));
}

void add_exports(ExportScene& scene) {
    const std::string attention = shown_attention(scene.session);
    if (scene.shown.run->plan().step_of(attention, AttentionStep::mask) == nullptr) return;
    scene.add(tr("Masks, scores, pattern and output"), attention + ".masks",
              [shown = scene.shown, attention, place = scene.place] {
                  return core::masks::masks_exhibit(shown, attention, place);
              });
    scene.add(tr("Leak test: who notices if a position is changed"), "leak_test",
              [shown = scene.shown, picture = leak_picture_of(scene.session, scene.state), batch = scene.place.batch] {
                  return core::masks::leak_exhibit(shown, *picture, batch);
              });
}

// The heights of the tab's parts but for the pictures.
struct Heights {
    float tools, way, findings;
    bool side_by_side;  // the findings: the fill beside the leak test, otherwise above it

    [[nodiscard]] float sum() const { return tools + way + findings; }
};

Heights heights_of(const MasksScene& scene, float width) {
    const Ui& ui = scene.ui;
    const bool side_by_side = width >= ui.px(600);
    const float way = compat::font_size(ui.fonts.mono_small) + ui.px(8);
    return {mask_tools_height(scene, width) + ui.px(4), way, ui.px(side_by_side ? 168 : 340), side_by_side};
}

void draw_findings(const MasksScene& scene, const Heights& heights, Area area) {
    const float gap = scene.ui.px(12);
    const ImVec2 middle = {std::floor((area.low.x + area.high.x) * 0.5F),
                           std::floor((area.low.y + area.high.y) * 0.5F)};
    if (heights.side_by_side) {
        draw_fill(scene, {area.low, {middle.x - gap, area.high.y}});
        draw_leak(scene, {{middle.x + gap, area.low.y}, area.high});
    } else {
        const float half = area.low.y + scene.ui.px(200);
        draw_fill(scene, {area.low, {area.high.x, half}});
        draw_leak(scene, {{area.low.x, half}, area.high});
    }
}

// A scrolled part of the tab, whose scroll bar is in the margin; so is the sign before the first picture of a line.
// `draw` gets where its contents start, and returns where they end.
void scrolled_in_margins(const char* id, Area area, const std::function<float(ImVec2)>& draw) {
    const float margin = ImGui::GetStyle().ScrollbarSize;
    scrolled(id, {{area.low.x - margin, area.low.y}, {area.high.x + margin, area.high.y}}, [&](ImVec2 start) {
        return draw({start.x + margin, start.y});
    });
}

// Masks and chain from here on. Returns their bottom.
float draw_mask_pictures(const MasksScene& scene, ImVec2 start, ImVec2 size) {
    const MaskSlots slots =
        lay_out_masks(scene.ui, scene.shown(), {start, {start.x + size.x, start.y + size.y}}, !scene.keys_of_source());
    draw_mask_parts(scene, slots);
    if (scene.leak_picture) draw_leak_picture(scene, slots.leak);
    draw_mask_chain(scene, slots);
    return slots.bottom;
}

// Only the pictures scroll, so that what an edit does to the findings is seen while it is painted.
void draw_with_fixed_findings(const MasksScene& scene, const Heights& heights, Area inner) {
    Rows rows = {inner};
    draw_mask_tools(scene, rows.next(heights.tools));
    const Area pictures = rows.next(inner.height() - heights.sum());
    scrolled_in_margins(
        "mask-pictures", {pictures.low, {pictures.high.x, pictures.high.y - scene.ui.px(6)}}, [&](ImVec2 start) {
            return draw_mask_pictures(scene, start, {pictures.width(), pictures.height() - scene.ui.px(6)});
        });
    draw_way(scene, rows.next(heights.way));
    draw_findings(scene, heights, rows.next(heights.findings));
}

// In a low window everything scrolls, and what it begins with is whole.
void draw_scrolled(const MasksScene& scene, const Heights& heights, Area inner) {
    scrolled_in_margins("masks", inner, [&](ImVec2 start) {
        const float right = start.x + inner.width();
        draw_mask_tools(scene, {start, {right, start.y + heights.tools}});
        const float view = std::max(inner.height() - heights.tools - scene.ui.px(6), scene.ui.px(120));
        float y = draw_mask_pictures(scene, {start.x, start.y + heights.tools}, {inner.width(), view}) + scene.ui.px(6);
        draw_way(scene, {{start.x, y}, {right, y + heights.way}});
        y += heights.way;
        draw_findings(scene, heights, {{start.x, y}, {right, y + heights.findings}});
        return y + heights.findings;
    });
}

void say_part(const Ui& ui, const core::Heatmap& mask) {
    paragraph(ui.caption(),
              tr("{mask}: hides {count} of {all} cells", {{"mask", mask.title},
                                                          {"count", std::ranges::count(mask.values, 0.0F)},
                                                          {"all", mask.rows * mask.columns}}));
}

// ---- other programs' words for the mask

struct ShownWords {
    std::vector<core::masks::MaskInWords> apis;
};

core::Value<ShownWords> shown_words(const core::Session& session, const std::string& attention) {
    const core::Snapshot& shown = session.shown();
    return session.derived().get<ShownWords>({shown.run}, std::tie(attention), [&] {
        return ShownWords{core::masks::in_other_words(shown.scenario, shown.run->plan(), attention)};
    });
}

// The cell under the mouse, there and here.
void say_cell(const Ui& ui, const core::masks::MaskInWords& words, const core::masks::MaskParts& parts,
              const std::optional<core::CellRect>& hovered) {
    if (!hovered || words.kept.empty()) return;
    const auto at = static_cast<std::size_t>(hovered->row * parts.combined.columns + hovered->column);
    if (at >= parts.combined.values.size()) return;
    const bool kept = parts.combined.values[at] != 0.0F;
    const Arguments cell = {
        {"query", hovered->row}, {"key", hovered->column}, {"there", kept ? words.kept : words.hidden}};
    paragraph(ui.caption(), tr(kept ? message("Query {query}, key {key}: kept here, {there} there", cell)
                                    : message("Query {query}, key {key}: hidden here, {there} there", cell)));
}

void say_in_other_words(const Ui& ui, const core::Session& session, ViewState& state, const std::string& attention,
                        const core::masks::MaskParts& parts) {
    const core::Value<ShownWords> shown = shown_words(session, attention);
    MasksTabState& tab = state.part<MasksTabState>();
    if (tab.words_of >= shown->apis.size()) tab.words_of = 0;
    ImGui::Dummy({1, ui.px(6)});
    text_line(ui.title(), tr("In other words"));
    ImGui::SetNextItemWidth(ImGui::GetContentRegionAvail().x);
    if (begin_list("##words-of", shown->apis[tab.words_of].api.c_str(), ImGuiComboFlags_HeightLarge)) {
        for (std::size_t i = 0; i < shown->apis.size(); ++i)
            if (press_row(shown->apis[i].api.c_str(), i == tab.words_of)) tab.words_of = i;
        ImGui::EndCombo();
    }
    const core::masks::MaskInWords& words = shown->apis[tab.words_of];
    std::string text;
    for (const std::string& line : words.code) {
        paragraph(ui.number(), line);
        text += line + "\n";
    }
    if (link(ui, {ui.fonts.caption, ui.theme.accent}, tr("Copy"), 0)) ImGui::SetClipboardText(text.c_str());
    if (!words.kept.empty())
        paragraph(ui.caption(), tr("A key that is kept is {kept} there, a hidden one {hidden}.",
                                   {{"kept", words.kept}, {"hidden", words.hidden}}));
    say_cell(ui, words, parts, tab.hovered);
    if (!words.unsaid.empty())
        paragraph({ui.fonts.caption, ui.theme.warning}, tr("It does not say: {masks}.", {{"masks", words.unsaid}}));
    paragraph(ui.caption(), tr("A row that sees no key: {what}.", {{"what", words.empty_row}}));
    if (!words.caution.empty()) paragraph(ui.note(), tr(words.caution));
}

void draw_too_many(const Ui& ui, ViewState& state, const Step& mask, Area area, Commands& commands) {
    const ImVec2 next =
        draw_empty_page(ui, area, tr("Too many cells to paint"),
                        tr("This attention has {queries} × {keys} cells. The step of its mask shows them in blocks.",
                           {{"queries", mask.axes[2].size}, {"keys", mask.axes[3].size}}),
                        ui.theme.muted);
    ImGui::SetCursorScreenPos(next);
    if (!link(ui, {ui.fonts.text, ui.theme.accent}, tr("Show the mask →"), 7401)) return;
    state.tab = core::files::kStepTab;
    commands.push_back(core::command::GoTo{mask.name});
}

void draw_masks_tab(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands) {
    const std::string attention = shown_attention(session);
    const core::Place place = session.cursor().place;
    state.hovered.reset();
    MasksTabState& tab = state.part<MasksTabState>();
    tab.hovered = std::exchange(tab.hovered_next, std::nullopt);
    // Another batch row or a shorter input: what was chosen there is forgotten.
    if (tab.chosen_batch != session.cursor().place.batch ||
        tab.chosen_position >= session.shown().scenario.inputs.pos())
        tab.chosen_position.reset();
    tab.leak_position = leak_position(session, tab);

    const float pad = ui.px(16);
    const Area inner = {{area.low.x + pad, area.low.y + ui.px(8)}, {area.high.x - pad, area.high.y}};
    if (const Ref mask = mask_of_too_many(session, attention)) return draw_too_many(ui, state, *mask, inner, commands);
    const auto masks = core::masks::shown_masks(session.derived(), session.shown(), attention, place);
    if (!masks) {
        text_block(ui, ui.hint(), inner, tr("Reading the masks …"));
        return;
    }
    const MasksScene scene = {ui,
                              session,
                              state,
                              commands,
                              attention,
                              place,
                              inner.low.x,
                              control_lines(ui, inner.height()),
                              masks,
                              core::masks::shown_nan_trail(session.derived(), session.shown().run),
                              leak_found(session, state),
                              core::masks::shown_leaks_back(session.derived(), session.shown(), place.batch),
                              leak_picture_of(session, state)};
    const Heights heights = heights_of(scene, inner.width());
    const HeatmapNeeds needs = needs_of(ui, scene.shown().parts.combined, inner.width(), Legend::none);
    const float whole = height_in_view(ui, needs, wanted_height(ui, needs, inner.width()), 0.0F);
    if (inner.height() - heights.sum() >= std::max(whole + ui.px(6), ui.px(220)))
        draw_with_fixed_findings(scene, heights, inner);
    else
        draw_scrolled(scene, heights, inner);
}

// How many cells each mask hides.
void inspect_masks(const Ui& ui, const core::Session& session, ViewState& state, Commands&) {
    term_line(ui, state, ui.title(), tr("Masks"), core::glossary::find_term("mask"));
    const std::string attention = shown_attention(session);
    const Plan& plan = session.shown().run->plan();
    const Ref mask = plan.step_of(attention, AttentionStep::mask);
    if (mask == nullptr || session.shown().run->value(mask->id).empty() || mask_of_too_many(session, attention)) return;
    const core::Place place = session.cursor().place;
    paragraph({ui.fonts.mono, ui.theme.text},
              tr("{attention} head {head}", {{"attention", attention}, {"head", place.head}}));
    const auto shown = core::masks::shown_masks(session.derived(), session.shown(), attention, place);
    if (!shown) return;
    const core::masks::MaskParts& parts = shown->parts;
    for (const core::masks::SingleMask& one : parts.single)
        if (one.is_there) say_part(ui, one.heatmap);
    say_part(ui, parts.combined);
    paragraph(ui.note(), tr("A cell is hidden if any of the masks hides it. What you painted overrides them all."));
    say_in_other_words(ui, session, state, attention, parts);
}

}  // namespace

Tab masks_tab() {
    return {.id = "masks",
            .title = message("Masks"),
            .question = message("Which mask hides what, and what does the fill do?"),
            .key = Key::m,
            .words = R"(causal future hide padding leak)",
            .term = "mask",
            .draw = draw_masks_tab,
            .inspect = inspect_masks,
            .explains_cells = true,
            .companion_runs = companion_runs,
            .add_exports = add_exports,
            .selectors = place_selectors,
            .computes = true};
}

std::string shown_attention(const core::Session& session) {
    const Plan& plan = session.shown().run->plan();
    const std::string attention = session.attention();
    if (plan.step_of(attention, AttentionStep::mask) != nullptr) return attention;
    const std::vector<std::string> blocks = plan.blocks(StackKind::decoder);
    return blocks.empty() ? std::string() : plan.attention_in(blocks.front());
}

}  // namespace decoderscope::views::masks
