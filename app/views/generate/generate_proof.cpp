#include "app/core/diff/comparison_text.h"
#include "app/core/text/counting.h"
#include "app/views/generate/generate_parts.h"
#include "app/views/masks/masks_sections.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/translate.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace decoderscope {

namespace {

void at_right(const Ui& ui, float right, float y, ImU32 color, const std::string& text, ImFont* font) {
    draw_text(ui, font, {right - compat::text_size(font, text).x, y}, color, text);
}

// How many of the columns of numbers there is room for beside the names.
std::size_t columns_in(const Ui& ui, Area area) { return area.width() < ui.px(620) ? 2 : 3; }

void draw_difference(const GenerateScene& scene, const TensorDifference& d, Area row) {
    const Ui& ui = scene.ui;
    const Ref step = scene.run().plan().find(d.name);
    const float y = row.low.y + ui.px(2);
    ImGui::GetWindowDrawList()->AddRectFilled({row.low.x + ui.px(2), y + ui.px(3)},
                                              {row.low.x + ui.px(10), y + ui.px(11)},
                                              step != nullptr ? color_of(step->meaning) : ui.theme.line, ui.px(2));
    draw_text(ui, ui.fonts.mono_small, {row.low.x + ui.px(18), y}, ui.theme.text, d.name,
              row.width() - ui.px(24.0F + 124.0F * static_cast<float>(columns_in(ui, row))));
    const std::array texts = {d.same_bits ? std::string(tr("equal bit for bit")) : difference_text(d.largest),
                              difference_text(d.scale), difference_text(d.relative())};
    for (std::size_t i = 0; i < columns_in(ui, row); ++i)
        if (i == 0 || !d.same_bits)
            at_right(ui, row.high.x - ui.px(124.0F * static_cast<float>(columns_in(ui, row) - 1 - i)), y,
                     i == 0 ? ui.theme.text : ui.theme.muted, texts[i], ui.fonts.mono_small);
}

void draw_differences(const GenerateScene& scene, const ShownProof& proof, Area area) {
    const Ui& ui = scene.ui;
    const float line = ui.px(18), scrollbar = ImGui::GetStyle().ScrollbarSize + ui.px(4);
    const std::array titles = {tr("largest difference"), tr("largest number"), tr("relative")};
    for (std::size_t i = 0; i < columns_in(ui, area); ++i)
        at_right(ui, area.high.x - scrollbar - ui.px(124.0F * static_cast<float>(columns_in(ui, area) - 1 - i)),
                 area.low.y, ui.theme.muted, titles[i], ui.fonts.caption);
    const float height = std::floor((area.height() - line) / line) * line;
    if (height < line) return;
    ImGui::SetCursorScreenPos({area.low.x, area.low.y + line});
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0, 0));
    compat::begin_child("proof-list", {area.width(), height});
    const ImVec2 start = ImGui::GetCursorScreenPos();
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(proof.worst_first.size()), line);
    while (clipper.Step())
        for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
            const float y = start.y + line * static_cast<float>(i);
            draw_difference(scene, proof.comparison.tensors[proof.worst_first[static_cast<std::size_t>(i)]],
                            {{area.low.x, y}, {area.high.x - scrollbar, y + line}});
        }
    ImGui::EndChild();
    ImGui::PopStyleVar();
}

// The result of the proof in a sentence: the largest difference, and how large the numbers there are.
std::string verdict(const ShownProof& proof) {
    const Comparison& found = proof.comparison;
    if (found.same_bits)
        return tr("Cached and full pass are equal bit for bit: {measured}.", {{"measured", measured_text(found)}});
    const TensorDifference& worst = found.tensors[proof.worst_first.front()];
    const Arguments what = {{"difference", difference_text(found.largest)},
                            {"tensor", worst.name},
                            {"tensors", counted_tensors(found.in_both)},
                            {"numbers", grouped(found.numbers)}};
    return tr(worst.relative() < 1e-4
                  ? message("Largest difference between cached and full pass: {difference} in {tensor}: rounding "
                            "({tensors}, {numbers} numbers compared).",
                            what)
                  : message("Largest difference between cached and full pass: {difference} in {tensor}: more than "
                            "rounding. An edit or a mask lets a position see what comes after it ({tensors}, {numbers} "
                            "numbers compared).",
                            what));
}

}  // namespace

void draw_cache_proof(const GenerateScene& scene, Area area) {
    const Ui& ui = scene.ui;
    ImGui::SetCursorScreenPos(area.low);
    if (toggle_button(ui, labelled(tr("Prove it"), "prove").c_str(), scene.tab().proving,
                      tr("Computes the newest token once by the cache and compares every tensor with the full pass")))
        scene.tab().proving = !scene.tab().proving;
    const ImVec2 beside = {ImGui::GetItemRectMax().x + ui.px(12), area.low.y + ui.px(6)};
    const auto say = [&](ImU32 color, const std::string& text) {
        draw_prose(ui, {beside.x, beside.y - ui.px(4)}, area.high.x - beside.x, color, text, 2);
    };
    if (!scene.tab().proving)
        return say(ui.theme.muted, tr("The newest token by the cache against the full pass, tensor by tensor."));
    const auto found = scene.session.shown().companions.find(kCacheRun);
    if (found == scene.session.shown().companions.end()) return say(ui.theme.muted, tr("Computing …"));
    const Companion& companion = found->second;
    if (!companion.error.empty()) return say(ui.theme.warning, tr(companion.error));
    const bool current =
        companion.run && companion.beside == scene.session.shown().run && companion.variation.cached_row == scene.row;
    const Value<ShownProof> proof =
        current ? shown_proof(scene.session.derived(), scene.scenario(), companion.beside, companion.run, scene.row)
                : Value<ShownProof>();
    if (!proof) return say(ui.theme.muted, tr("Computing …"));
    say(proof->comparison.largest == 0.0 ? ui.theme.muted : ui.theme.text, verdict(*proof));
    draw_differences(scene, *proof, {{area.low.x, area.low.y + ui.px(38)}, area.high});
}

}  // namespace decoderscope
