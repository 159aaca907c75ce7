#include "app/core/compare/comparison_text.h"
#include "app/core/generate/generator.h"
#include "app/core/run/labels.h"
#include "app/core/run/passes_of_text.h"
#include "app/core/tabs/step/shown_step.h"
#include "app/core/text/numbers.h"
#include "app/core/text/token_text.h"
#include "app/views/frame/answer_view.h"
#include "app/views/frame/stale.h"
#include "app/views/tabs/generate/tab.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/base/translate.h"

#include <algorithm>
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

// The result of the proof in a sentence: the largest difference, and how large the numbers there are.
Sentence verdict(const core::generate::ShownProof& proof) {
    const core::Comparison& found = proof.comparison;
    if (found.same_bits)
        return message("Cached and full pass are equal bit for bit: {measured}.",
                       {{"measured", core::diff::measured_text(found)}});
    const core::TensorDifference& worst = found.tensors[proof.worst_first.front()];
    const Arguments what = {{"difference", core::diff::difference_text(found.largest)},
                            {"tensor", worst.name},
                            {"tensors", core::counted_tensors(found.in_both)},
                            {"numbers", core::grouped(found.numbers)}};
    return worst.relative() < 1e-4
               ? message(
                     "Largest difference between cached and full pass: {difference} in {tensor}: rounding "
                     "({tensors}, {numbers} numbers compared).",
                     what)
               : message(
                     "Largest difference between cached and full pass: {difference} in {tensor}: more than "
                     "rounding. An edit or a mask lets a position see what comes after it ({tensors}, {numbers} "
                     "numbers compared).",
                     what);
}

// The tensors of both passes, the furthest apart first.
core::Answer answer_of(const core::generate::ShownProof& proof, const Plan& plan) {
    using core::Unit;
    core::Table table{.about = "step",
                      .title = message("KV cache"),
                      .about_title = {},
                      .columns = {{"largest", message("largest difference"), Unit::difference},
                                  {"scale", message("largest number"), Unit::difference, 3, {}, true},
                                  {"relative", message("relative"), Unit::difference}},
                      .marks = true};
    for (const std::size_t at : proof.worst_first) {
        const core::TensorDifference& d = proof.comparison.tensors[at];
        const Ref step = plan.find(d.name);
        core::TableRow& row = table.rows.emplace_back();
        row.name = Sentence::verbatim(d.name);
        if (step != nullptr) row.step = d.name;
        if (step != nullptr) row.meaning = step->meaning;
        if (d.same_bits)
            row.entries = {core::Entry(), core::Entry(), Sentence(message("equal bit for bit"))};
        else
            row.entries = {d.largest, d.scale, d.relative()};
    }
    return {.said = {}, .parts = {{.name = "proof", .table = std::move(table)}}};
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

// The passes in rows: where each stands, what it reads and predicts, and how far it is from the whole text.
core::Answer answer_of(const core::Scenario& scenario, const ShownPasses& shown, Index batch) {
    using core::Unit;
    core::Table table{.about = "pass",
                      .title = message("Pass by pass"),
                      .about_title = message("pass"),
                      .columns = {{"positions", message("positions")},
                                  {"tokens", message("tokens")},
                                  {"reads", message("reads"), Unit::number},
                                  {"predicts", message("predicts")},
                                  {"difference", message("difference from the whole")},
                                  {"chosen", message("chosen cell"), Unit::number, 4}},
                      .notes = {message("Click: this pass on the stage, with what it read from the cache")}};
    for (const PassRow& pass : shown.rows) {
        core::TableRow& row = table.rows.emplace_back();
        row.name = Sentence::verbatim(std::to_string(table.rows.size() - 1));
        const std::string next = pass.next ? core::token_text(scenario.tokenizer(), *pass.next) + "  " +
                                                 core::short_number_text(pass.probability, 2)
                                           : std::string();
        const std::string apart = core::short_number_text(pass.worst.largest, 2) + "  " + pass.worst.name;
        row.entries = {Sentence::verbatim(positions_text(pass.part)),
                       Sentence::verbatim(tokens_text(scenario, batch, pass.part)),
                       static_cast<std::uint64_t>(pass.part.first),
                       Sentence::verbatim(next),
                       pass.worst.same_bits ? Sentence(message("none")) : Sentence::verbatim(apart),
                       pass.number ? core::Entry(static_cast<double>(*pass.number)) : core::Entry()};
        if (!pass.worst.same_bits && pass.worst.relative() >= 1e-4)
            row.doubted = {false, false, false, false, true, false};
    }
    return {.parts = {{.name = "passes", .table = std::move(table)}}};
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
    area.low.y += ImGui::GetFrameHeight() + ui.px(8);
    draw_answer(
        ui, "coming-proof", last, area, scene.commands,
        [&](const core::generate::ShownProof& shown, Commands& heard) {
            if (!shown.error.empty()) return say(ui.theme.warning, tr(shown.error));
            say(ui.theme.text, tr(verdict(shown)));
            const auto answer = scene.session.derived().get<core::Answer>(
                {scene.session.shown().run}, std::make_tuple(last.answer().number()),
                [&] { return answer_of(shown, scene.run().plan()); });
            static_cast<void>(draw_answer_parts(ui, "proof", *answer, answer.number(), area, scene.state, heard));
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
    const float proof = scene.tab().proving ? std::clamp(room * 0.5F, ui.px(130), ui.px(380)) : ui.px(32);
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
            const core::Scenario& scenario = session.shown().scenario;
            const auto answer = session.derived().get<core::Answer>(
                {session.shown().run}, std::make_tuple(passes.answer().number()),
                [&] { return answer_of(scenario, found, session.cursor().place.batch); });
            const core::TextInPasses* one = core::shown_pass(session.fitting_scenario());
            const AnswerGesture gesture = draw_answer_parts(ui, "passes", *answer, answer.number(),
                                                            {area.low, {area.high.x, area.high.y - below}}, state,
                                                            heard, one != nullptr ? one->shown : std::nullopt);
            if (gesture.clicked) show_pass(session, static_cast<std::size_t>(gesture.row), heard);
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
