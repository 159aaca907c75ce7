#include "app/core/compare/comparison_text.h"
#include "app/core/generate/generator.h"
#include "app/core/run/labels.h"
#include "app/core/run/passes_of_text.h"
#include "app/core/tabs/step/shown_step.h"
#include "app/core/text/numbers.h"
#include "app/core/text/token_text.h"
#include "app/views/frame/stale.h"
#include "app/views/tabs/generate/tab.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace decoderscope::views::generate {

namespace {

// What the pass over the newest token found in the cache, and what it computed.
struct CacheRows {
    Index kept = 0, computed = 0;  // rows of k; the same number of v
    Index numbers_a_row = 0;       // of k and v together, in all layers
    Index memory = 0;              // rows that cross-attention keeps of the source; 0 without cross-attention
};

// The first pass is over the whole given text; after that, each token takes one pass.
CacheRows cache_rows(const GenerateScene& scene) {
    CacheRows rows;
    rows.computed = core::generate::generated_count(scene.scenario(), scene.row) == 0 ? scene.length : 1;
    rows.kept = scene.length - rows.computed;
    rows.numbers_a_row = core::generate::cache_size(scene.run().plan()).kept;
    for (const std::string& attention : scene.run().plan().attentions())
        if (const Ref key = scene.run().plan().step_of(attention, AttentionStep::key);
            key != nullptr && key->part == Part::cross_attention)
            rows.memory = key->axes[2].size;
    return rows;
}

std::string kept_text(const GenerateScene& scene, const CacheRows& rows, Index layers) {
    const core::generate::CacheSize size = core::generate::cache_size(scene.run().plan());
    if (size.is_latent()) return tr(core::generate::latent_cache_sentence(size, rows.kept, layers));
    // The keys of the first layer.   -> [batch, kv_head, pos, d_head]
    const Tensor& k = scene.run().value(core::generate::cached_attention(scene.run().plan(), 0), AttentionStep::key);
    return tr_n("Kept {count} row × 2 (k, v) × {heads} heads × {width} numbers × {layers} layers = {numbers} numbers",
                "Kept {count} rows × 2 (k, v) × {heads} heads × {width} numbers × {layers} layers = {numbers} numbers",
                rows.kept,
                {{"heads", k.dim(1)},
                 {"width", k.dim(3)},
                 {"layers", layers},
                 {"numbers", core::grouped(rows.kept * rows.numbers_a_row)}});
}

std::string summary_of(const GenerateScene& scene, const CacheRows& rows, Index layers) {
    const std::string kept = kept_text(scene, rows, layers);
    std::string text =
        tr_n("{kept}; computed {count} row: {numbers}.", "{kept}; computed {count} rows: {numbers}.", rows.computed,
             {{"kept", kept}, {"numbers", core::grouped(rows.computed * rows.numbers_a_row)}});
    if (rows.kept == 0)
        text += std::string(" ") + tr("The first pass processes the whole text and fills the cache: generate a token.");
    if (rows.memory > 0)
        text += " " + tr_n("Cross-attention caches the source's {count} row once and for all.",
                           "Cross-attention caches the source's {count} rows once and for all.", rows.memory);
    return text;
}

// One line per layer, one cell per position: what was kept and what is new. A click chooses the layer.
void draw_layers(const GenerateScene& scene, const CacheRows& rows, Index layers, Area area) {
    const Ui& ui = scene.ui;
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const float line = area.height() / static_cast<float>(layers), label = ui.px(58);
    const float cell = std::min((area.width() - label) / static_cast<float>(scene.length), ui.px(26));
    const float gap = cell > ui.px(5) ? ui.px(1) : 0.0F, inset = line > ui.px(8) ? ui.px(1) : 0.0F;
    const bool written = line >= compat::font_size(ui.fonts.caption);
    for (Index layer = 0; layer < layers; ++layer) {
        const Area row = {{area.low.x, area.low.y + line * static_cast<float>(layer)},
                          {area.high.x, area.low.y + line * static_cast<float>(layer + 1)}};
        const bool chosen = layer == scene.tab().layer;
        if (press_at("layer", row, layer)) scene.tab().layer = layer;
        tooltip(tr("Layer {layer}: click to see its k and v", {{"layer", layer}}).c_str());
        if (chosen) list.AddRectFilled(row.low, row.high, ui.theme.raised, ui.px(3));
        if (written || chosen)
            draw_text(ui, {ui.fonts.caption, chosen ? ui.theme.text : ui.theme.muted},
                      {row.low.x + ui.px(4), (row.low.y + row.high.y - compat::font_size(ui.fonts.caption)) * 0.5F},
                      tr("layer {layer}", {{"layer", layer}}));
        for (Index position = 0; position < scene.length; ++position) {
            const float x = area.low.x + label + cell * static_cast<float>(position);
            const ImU32 color = position < rows.kept ? with_alpha(ui.theme.muted, 0.45F) : ui.theme.accent;
            list.AddRectFilled({x, row.low.y + inset}, {std::max(x + cell - gap, x + 1), row.high.y - inset}, color);
        }
    }
}

void draw_key(const Ui& ui, ImVec2 at) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const float size = ui.px(10);
    for (const auto& [color, text] : {std::pair(with_alpha(ui.theme.muted, 0.45F), tr("cached: not recomputed")),
                                      std::pair(ui.theme.accent, tr("new in this pass"))}) {
        list.AddRectFilled({at.x, at.y + ui.px(3)}, {at.x + size, at.y + ui.px(3) + size}, color);
        at.x += size + ui.px(6);
        at.x += draw_text(ui, ui.note(), at, text) + ui.px(18);
    }
}

// k or v of the chosen layer; the row labels tell which rows are new.
void draw_rows(const GenerateScene& scene, const CacheRows& rows, AttentionStep which, std::uint64_t key, Area area) {
    const Plan& plan = scene.run().plan();
    const Ref step = plan.step_of(core::generate::cached_attention(plan, scene.tab().layer), which);
    if (step == nullptr || area.height() < scene.ui.px(60)) return;
    const core::Place place = {scene.row, scene.session.cursor().place.head};
    const auto shown = core::step::shown_heatmap(scene.session.derived(), scene.session.shown(), *step, place);
    const core::Slice slice = core::slice_of(*step, place, scene.scenario().query_heads());
    HeatmapDrawing drawing{.heatmap = shown->heatmap,
                           .key = key,
                           .version = shown.number(),
                           .color = color_of(step->meaning),
                           .lit = core::CellRect{rows.kept, 0, rows.computed, shown->heatmap.columns},
                           .legend = Legend::bar,
                           .scrolls_with = ImGui::GetScrollMaxY() > 0.0F};
    const HeatmapGesture gesture = draw_heatmap(scene.ui, drawing, scene.state.viewports[key], area);
    if (!gesture.hovered) return;
    const auto [row, column] = *gesture.hovered;
    const bool padding = row >= scene.length;
    area_tooltip(scene.ui, area,
                 {cell_name(step->name, slice.cell(row, column)) + " = " +
                      short_number(static_cast<double>(shown->heatmap.at(row, column))),
                  padding           ? tr("padding")
                  : row < rows.kept ? tr("cached by an earlier pass")
                                    : tr("computed in this pass"),
                  tr("click to explain it")});
    if (gesture.clicked) {
        scene.commands.push_back(core::command::Follow{step->name, slice.cell(row, column)});
        scene.state.tab = core::files::kStepTab;
    }
}

void at_right(const Ui& ui, float right, float y, ImU32 color, const std::string& text, ImFont* font) {
    draw_text(ui, {font, color}, {right - compat::text_size(font, text).x, y}, text);
}

// How many columns of numbers there is room for beside the names.
std::size_t columns_in(const Ui& ui, Area area) { return area.width() < ui.px(620) ? 2 : 3; }

void draw_difference(const GenerateScene& scene, const core::TensorDifference& d, Area row) {
    const Ui& ui = scene.ui;
    const Ref step = scene.run().plan().find(d.name);
    const float y = row.low.y + ui.px(2);
    ImGui::GetWindowDrawList()->AddRectFilled({row.low.x + ui.px(2), y + ui.px(3)},
                                              {row.low.x + ui.px(10), y + ui.px(11)},
                                              step != nullptr ? color_of(step->meaning) : ui.theme.line, ui.px(2));
    draw_text(ui, ui.number(), {row.low.x + ui.px(18), y}, d.name,
              row.width() - ui.px(24.0F + 124.0F * static_cast<float>(columns_in(ui, row))));
    const std::array texts = {
        d.same_bits ? std::string(tr("equal bit for bit")) : core::diff::difference_text(d.largest),
        core::diff::difference_text(d.scale), core::diff::difference_text(d.relative())};
    for (std::size_t i = 0; i < columns_in(ui, row); ++i)
        if (i == 0 || !d.same_bits)
            at_right(ui, row.high.x - ui.px(124.0F * static_cast<float>(columns_in(ui, row) - 1 - i)), y,
                     i == 0 ? ui.theme.text : ui.theme.muted, texts[i], ui.fonts.mono_small);
}

void draw_differences(const GenerateScene& scene, const core::generate::ShownProof& proof, Area area) {
    const Ui& ui = scene.ui;
    const float line = ui.px(18), scrollbar = ImGui::GetStyle().ScrollbarSize + ui.px(4);
    const std::array titles = {tr("largest difference"), tr("largest number"), tr("relative")};
    for (std::size_t i = 0; i < columns_in(ui, area); ++i)
        at_right(ui, area.high.x - scrollbar - ui.px(124.0F * static_cast<float>(columns_in(ui, area) - 1 - i)),
                 area.low.y, ui.theme.muted, titles[i], ui.fonts.caption);
    scrolled_rows(
        ui, "proof-list", {{area.low.x, area.low.y + line}, area.high}, line, proof.worst_first.size(),
        [&](std::size_t i, Area row) { draw_difference(scene, proof.comparison.tensors[proof.worst_first[i]], row); });
}

// The result of the proof in a sentence: the largest difference, and how large the numbers there are.
std::string verdict(const core::generate::ShownProof& proof) {
    const core::Comparison& found = proof.comparison;
    if (found.same_bits)
        return tr("Cached and full pass are equal bit for bit: {measured}.",
                  {{"measured", core::diff::measured_text(found)}});
    const core::TensorDifference& worst = found.tensors[proof.worst_first.front()];
    const Arguments what = {{"difference", core::diff::difference_text(found.largest)},
                            {"tensor", worst.name},
                            {"tensors", core::counted_tensors(found.in_both)},
                            {"numbers", core::grouped(found.numbers)}};
    return tr(worst.relative() < 1e-4
                  ? message("Largest difference between cached and full pass: {difference} in {tensor}: rounding "
                            "({tensors}, {numbers} numbers compared).",
                            what)
                  : message("Largest difference between cached and full pass: {difference} in {tensor}: more than "
                            "rounding. An edit or a mask lets a position see what comes after it ({tensors}, {numbers} "
                            "numbers compared).",
                            what));
}

using core::generate::PassRow;
using core::generate::ShownPasses;

// How many positions the first pass computes, and each after it.
struct Cut {
    Index first = 1, each = 1;
};

core::generate::PassesQuestion question_of(const core::Session& session) {
    core::Cursor number = session.cursor();
    number.place = {};
    return {core::generate::sizes_of(session.shown().scenario), session.cursor().place.batch, std::move(number)};
}

void show_pass(const core::Session& session, std::size_t pass, Commands& commands) {
    commands.push_back(core::command::ShowPass{core::generate::sizes_of(session.fitting_scenario()), pass});
}

// Where the text is cut, and whether all of it is shown. Returns the height used.
float draw_cut(const Ui& ui, const core::Session& session, Area area, Commands& commands) {
    const Index length = core::text_of(session.fitting_scenario()).pos();
    const std::vector<Index> sizes = core::generate::sizes_of(session.fitting_scenario());
    const core::TextInPasses* shown = core::shown_pass(session.fitting_scenario());
    Cut cut = {sizes.front(), sizes.size() > 1 ? sizes[1] : 1};
    const Cut before = cut;
    ImGui::SetCursorScreenPos(area.low);
    cut.first = std::clamp<Index>(cut.first + counter(ui, tr("first pass"), cut.first, length + 1), 1, length);
    ImGui::SameLine(0, ui.px(16));
    cut.each = std::clamp<Index>(cut.each + counter(ui, tr("each after it"), cut.each, length + 1), 1, length);
    if (cut.first != before.first || cut.each != before.each) {
        std::vector<Index> next = core::generate::even_sizes(cut.first, cut.each, length);
        const std::size_t pass = std::min(shown != nullptr ? *shown->shown : next.size() - 1, next.size() - 1);
        commands.push_back(core::command::ShowPass{std::move(next), pass});
    }
    if (shown == nullptr) return ImGui::GetFrameHeight() + ui.px(8);
    ImGui::SameLine(0, ui.px(16));
    if (button(tr("Show the whole text"), "whole")) commands.push_back(core::command::ShowWholeText{});
    return ImGui::GetFrameHeight() + ui.px(8);
}

// A column of the table: its heading, where it begins as a share of the width, and what a row says in it.
struct Column {
    std::string heading;
    float from = 0.0F;
};

std::string positions_text(const InputsPart& part) {
    return part.count == 1 ? std::to_string(part.first)
                           : tr("{first} to {last}", {{"first", part.first}, {"last", part.first + part.count - 1}});
}

std::string tokens_text(const core::Scenario& scenario, Index row, const InputsPart& part) {
    const Tensor& tokens = core::text_of(scenario).tokens;
    if (tokens.empty()) return {};
    std::string text;
    for (Index i = part.first; i < part.first + std::min<Index>(part.count, 48); ++i)
        text += (text.empty() || scenario.tokenizer().can_encode() ? "" : " ") +
                core::token_text(scenario.tokenizer(), static_cast<Index>(tokens.at(Cell{row, i})));
    return text;
}

void draw_row(const Ui& ui, const core::Session& session, const PassRow& row, std::size_t number,
              const std::vector<Column>& columns, Area area, Commands& commands) {
    const core::Scenario& scenario = session.shown().scenario;
    const core::TextInPasses* shown = core::shown_pass(session.fitting_scenario());
    const bool lit = shown != nullptr && *shown->shown == number;
    if (press_at("pass", area, static_cast<std::int64_t>(number), tr("pass {pass}", {{"pass", number}})))
        show_pass(session, number, commands);
    if (lit || ImGui::IsItemHovered())
        ImGui::GetWindowDrawList()->AddRectFilled(area.low, area.high, lit ? ui.theme.accent_soft : ui.theme.raised,
                                                  ui.px(3));
    tooltip(tr("Click: this pass on the stage, with what it read from the cache"));
    std::string next;
    if (row.next)
        next = core::token_text(scenario.tokenizer(), *row.next) + "  " + core::short_number_text(row.probability, 2);
    const std::array<std::string, 7> texts = {
        std::to_string(number),
        positions_text(row.part),
        tokens_text(scenario, session.cursor().place.batch, row.part),
        std::to_string(row.part.first),
        next,
        row.worst.same_bits ? std::string(tr("none"))
                            : core::short_number_text(row.worst.largest, 2) + "  " + row.worst.name,
        row.number ? core::short_number_text(static_cast<double>(*row.number), 4) : std::string()};
    for (std::size_t i = 0; i < columns.size(); ++i) {
        const float end = i + 1 < columns.size() ? columns[i + 1].from : 1.0F;
        const float x = area.low.x + area.width() * columns[i].from + ui.px(4);
        const float room = area.width() * (end - columns[i].from) - ui.px(10);
        const bool far = i == 5 && !row.worst.same_bits && row.worst.relative() >= 1e-4;
        draw_text(ui, {ui.fonts.mono_small, far ? ui.theme.warning : ui.theme.text}, {x, area.low.y + ui.px(3)},
                  fitted(ui.fonts.mono_small, texts[i], room), room);
    }
}

void draw_table(const Ui& ui, const core::Session& session, const ShownPasses& shown, Area area, Commands& commands) {
    const std::vector<Column> columns = {{tr("pass"), 0.0F},        {tr("positions"), 0.06F},
                                         {tr("tokens"), 0.17F},     {tr("reads"), 0.35F},
                                         {tr("predicts"), 0.42F},   {tr("difference from the whole"), 0.55F},
                                         {tr("chosen cell"), 0.85F}};
    const float scrollbar = ImGui::GetStyle().ScrollbarSize + ui.px(4), line = ui.px(22);
    const float width = area.width() - scrollbar;
    for (std::size_t i = 0; i < columns.size(); ++i) {
        const float end = i + 1 < columns.size() ? columns[i + 1].from : 1.0F, room = width * (end - columns[i].from);
        draw_text(ui, ui.note(), {area.low.x + width * columns[i].from + ui.px(4), area.low.y},
                  fitted(ui.fonts.caption, columns[i].heading, room - ui.px(8)), room - ui.px(8));
    }
    scrolled_rows(ui, "passes", {{area.low.x, area.low.y + ui.px(18)}, area.high}, line, shown.rows.size(),
                  [&](std::size_t i, Area row) { draw_row(ui, session, shown.rows[i], i, columns, row, commands); });
}

// The pass that is shown, beside the whole text.
void draw_compare(const core::Session& session, ViewState& state, const ShownPasses& shown, ImVec2 at,
                  Commands& commands) {
    const core::Snapshot& now = session.shown();
    if (core::shown_pass(now.scenario) == nullptr || !shown.whole || session.stale()) return;
    ImGui::SetCursorScreenPos(at);
    if (!button(tr("Compare this pass with the whole text"), "compare-whole")) return;
    commands.push_back(core::command::Pin{core::generate::whole_beside(now.scenario, *now.run, *shown.whole)});
    state.tab = core::files::kDiffTab;
}

// The button for the proof: compares the cached pass with the full pass, tensor by tensor.
void draw_cache_proof(const GenerateScene& scene, Area area) {
    const Ui& ui = scene.ui;
    ImGui::SetCursorScreenPos(area.low);
    if (toggle_button(ui, labelled(tr("Prove it"), "prove").c_str(), scene.tab().proving,
                      tr("Computes the newest token once with the cache and compares every tensor with the full pass")))
        scene.tab().proving = !scene.tab().proving;
    const ImVec2 beside = {ImGui::GetItemRectMax().x + ui.px(12), area.low.y + ui.px(6)};
    const auto say = [&](ImU32 color, const std::string& text) {
        draw_prose(ui, {beside.x, beside.y - ui.px(4)}, area.high.x - beside.x, color, text, 2);
    };
    if (!scene.tab().proving)
        return say(ui.theme.muted, tr("The newest token with the cache against the full pass, tensor by tensor."));
    const auto proof =
        core::generate::shown_proof(scene.session.derived(), scene.scenario(), scene.session.shown().run, scene.row);
    auto& last = scene.tab().proof;
    last.take(load::about(scene.scenario().opened()), proof, [&] { return scene.row; });
    Area room = {beside, area.high};
    if (last) room.low = {area.low.x, area.low.y + (last.answer()->error.empty() ? ui.px(38) : 0.0F)};
    draw_answer(
        ui, "coming-proof", last, room, scene.commands,
        [&](const core::generate::ShownProof& shown, Commands&) {
            if (!shown.error.empty()) return say(ui.theme.warning, tr(shown.error));
            say(shown.comparison.largest == 0.0 ? ui.theme.muted : ui.theme.text, verdict(shown));
            draw_differences(scene, shown, room);
        },
        computing(ui));
}

}  // namespace

void draw_cache(const GenerateScene& scene, Area area) {
    const Ui& ui = scene.ui;
    const Index layers = static_cast<Index>(scene.run().plan().blocks(StackKind::decoder).size());
    scene.tab().layer = std::clamp<Index>(scene.tab().layer, 0, layers - 1);
    const CacheRows rows = cache_rows(scene);
    const float gap = ui.px(8);
    float y = draw_prose(ui, area.low, area.width(), ui.theme.text, summary_of(scene, rows, layers), 3) + ui.px(4);
    const float strip = std::min(ui.px(18) * static_cast<float>(layers), ui.px(126));
    draw_layers(scene, rows, layers, {{area.low.x, y}, {area.high.x, y + strip}});
    y += strip + gap;
    draw_key(ui, {area.low.x, y});
    ImGui::SetCursorScreenPos({area.high.x - ui.px(108), y - ui.px(6)});
    const Index heads = scene.scenario().query_heads(), head = scene.session.cursor().place.head;
    if (const int moved = counter(ui, tr("head"), head, heads); moved != 0)
        scene.commands.push_back(core::command::ChooseHead{head + moved});
    y += ui.px(24);
    const float room = area.high.y - y - gap;
    const float proof = scene.tab().proving ? std::clamp(room * 0.42F, ui.px(96), ui.px(360)) : ui.px(32);
    const float middle = std::floor((area.low.x + area.high.x) * 0.5F), bottom = y + room - proof;
    draw_rows(scene, rows, AttentionStep::key, heatmap_key("kv_cache"), {{area.low.x, y}, {middle - gap, bottom}});
    draw_rows(scene, rows, AttentionStep::value, heatmap_key("kv_cache", 1),
              {{middle + gap, y}, {area.high.x, bottom}});
    draw_cache_proof(scene, {{area.low.x, bottom + gap}, area.high});
}

void draw_passes(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands) {
    area.low.y += draw_cut(ui, session, area, commands);
    const core::Value<ShownPasses> shown =
        core::generate::shown_passes(session.derived(), session.shown(), question_of(session));
    auto& passes = state.part<GenerateTabState>().passes;
    passes.take(load::about(session.shown().scenario.opened()), shown, [&] { return question_of(session); });
    draw_answer(
        ui, "coming-passes", passes, area, commands,
        [&](const ShownPasses& found, Commands& heard) {
            if (!found.error.empty()) {
                text_block(ui, {ui.fonts.text, ui.theme.error}, area, tr(found.error));
                return;
            }
            const float below = ImGui::GetFrameHeight() + ui.px(8);
            draw_table(ui, session, found, {area.low, {area.high.x, area.high.y - below}}, heard);
            draw_compare(session, state, found, {area.low.x, area.high.y - below + ui.px(4)}, heard);
        },
        computing(ui));
}

std::vector<Sentence> pass_sentences(const ViewState& state) {
    const auto& passes = state.part<GenerateTabState>().passes;
    if (!passes) return {};
    std::vector<Sentence> sentences = core::generate::sentences_of_passes(*passes.answer());
    if (!passes.answer()->number.empty())
        sentences.push_back(message("The last column is {number}. Choose another cell on the stage to follow it.",
                                    {{"number", passes.answer()->number}}));
    return sentences;
}

void go_to_pass(const core::Session& session, int by, Commands& commands) {
    const std::vector<Index> sizes = core::generate::sizes_of(session.fitting_scenario());
    const core::TextInPasses* shown = core::shown_pass(session.fitting_scenario());
    const auto last = static_cast<std::ptrdiff_t>(sizes.size()) - 1;
    // The whole text stands before the first pass.
    const std::ptrdiff_t now = shown != nullptr ? static_cast<std::ptrdiff_t>(*shown->shown) : -1;
    const std::ptrdiff_t next = now + by;
    if (next < 0)
        commands.push_back(core::command::ShowWholeText{});
    else if (next <= last)
        show_pass(session, static_cast<std::size_t>(next), commands);
}

}  // namespace decoderscope::views::generate
