#include "app/core/generate/generation.h"
#include "app/views/generate/generate_parts.h"
#include "app/views/shell/panels.h"
#include "app/views/widgets/focus.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/translate.h"

#include <algorithm>
#include <cmath>

namespace decoderscope {

namespace {

// Puts the next item on the same line if it fits, else on the next line.
void flow(const Ui& ui, float gap, float width, float right) {
    if (ImGui::GetItemRectMax().x + ui.px(gap) + width <= right) ImGui::SameLine(0, ui.px(gap));
}

void transport(const GenerateScene& scene) {
    const Ui& ui = scene.ui;
    GenerateTabState& tab = scene.tab();
    const std::string ended = why_text_ends(scene.scenario(), scene.row);
    const bool more = ended.empty() && scene.next->next.has_value();
    const char* stopped = ended.empty() ? tr("No token can be drawn") : ended.c_str();
    if (icon_button(ui, "back", Icon::back, scene.length > 1, tr("Step back: remove the last token (,)")))
        step_back(scene.session, scene.commands);
    ImGui::SameLine(0, ui.px(2));
    if (icon_button(ui, "one", Icon::forward, more, more ? tr("Generate one token (.)") : stopped))
        static_cast<void>(generate_token(scene.session, scene.commands));
    ImGui::SameLine(0, ui.px(2));
    if (icon_button(ui, "run", tab.running ? Icon::pause : Icon::last, more,
                    more ? tr("Generate until the end, or stop (R)") : stopped))
        tab.running = !tab.running;
}

// A slider that shows its value inside.
template <class Draw>
bool slider(const Ui& ui, const char* label, float width, float right, const char* tip, Draw draw) {
    flow(ui, 8, width, right);
    ImGui::SetNextItemWidth(width);
    focusable_field(label);
    for (const ImGuiCol grab : {ImGuiCol_SliderGrab, ImGuiCol_SliderGrabActive})  // keeps the value readable
        ImGui::PushStyleColor(grab, with_alpha(ui.theme.accent, 0.55F));
    const bool changed = draw();
    ImGui::PopStyleColor(2);
    if (!ImGui::IsItemActive()) tooltip(tip);
    return changed;
}

bool temperature_slider(const Ui& ui, double& temperature, float right) {
    auto value = static_cast<float>(temperature);
    const char* format = value == 0.0F ? tr("greedy") : tr("temperature %.2f");
    const bool changed = slider(
        ui, "##temperature", ui.px(142), right,
        tr("Divides the logits: below 1 the probable tokens win more often, above 1 less. 0 always takes the first."),
        [&] { return ImGui::SliderFloat("##temperature", &value, 0.0F, 2.0F, format); });
    if (changed) temperature = std::max(0.0, std::round(static_cast<double>(value) * 100.0) / 100.0);
    return changed;
}

bool top_k_slider(const Ui& ui, Index& top_k, Index vocab, float right) {
    const int most = static_cast<int>(std::min<Index>(vocab, 100));
    int value = static_cast<int>(std::min<Index>(top_k, 1 << 24));
    const bool changed = slider(
        ui, "##top-k", ui.px(96), right, tr("Keeps only this many of the most probable tokens; 0 keeps all."),
        [&] { return ImGui::SliderInt("##top-k", &value, 0, most, value == 0 ? tr("top-k off") : tr("top-k %d")); });
    if (changed) top_k = std::max(0, value);
    return changed;
}

bool top_p_slider(const Ui& ui, double& top_p, float right) {
    auto value = static_cast<float>(top_p);
    const bool changed =
        slider(ui, "##top-p", ui.px(104), right,
               tr("Keeps the most probable tokens that together reach this probability; 1 keeps all."), [&] {
                   return ImGui::SliderFloat("##top-p", &value, 0.01F, 1.0F,
                                             value >= 1.0F ? tr("top-p off") : tr("top-p %.2f"));
               });
    if (changed) top_p = std::clamp(std::round(static_cast<double>(value) * 100.0) / 100.0, 0.01, 1.0);
    return changed;
}

bool seed_field(const Ui& ui, std::uint64_t& seed, float right) {
    flow(ui, 12, ui.px(112), right);
    ImGui::AlignTextToFramePadding();
    text_line(ui.fonts.caption, ui.theme.muted, tr("seed"));
    ImGui::SameLine(0, ui.px(6));
    ImGui::SetNextItemWidth(ui.px(76));
    focusable_field("##seed");
    const bool changed = ImGui::InputScalar("##seed", ImGuiDataType_U64, &seed);
    tooltip(tr("The same seed draws the same tokens again, also after stepping back."));
    return changed;
}

}  // namespace

float draw_generate_controls(const GenerateScene& scene, Area area) {
    const Ui& ui = scene.ui;
    ImGui::SetCursorScreenPos(area.low);
    ImGui::BeginGroup();
    transport(scene);
    Sampling sampling = scene.session.sampling();
    bool changed = temperature_slider(ui, sampling.temperature, area.high.x);
    changed = top_k_slider(ui, sampling.top_k, scene.scenario().config().vocab_size, area.high.x) || changed;
    changed = top_p_slider(ui, sampling.top_p, area.high.x) || changed;
    changed = seed_field(ui, sampling.seed, area.high.x) || changed;
    ImGui::EndGroup();
    if (changed) scene.commands.push_back(command::SetSampling{sampling});
    return ImGui::GetItemRectSize().y;
}

namespace {

struct Chip {
    std::string text;
    float width = 0.0F;
    Index position = 0;  // equal to the row's length: the token sampled next
};

// Breaks the chips into lines of the given width; a chip is never wider than a line.
std::vector<std::vector<Chip>> lines_of(const Ui& ui, const std::vector<Chip>& chips, float width) {
    std::vector<std::vector<Chip>> lines(1);
    float x = 0.0F;
    for (const Chip& chip : chips) {
        if (x > 0.0F && x + chip.width > width) {
            lines.emplace_back();
            x = 0.0F;
        }
        lines.back().push_back(chip);
        x += chip.width + ui.px(3);
    }
    return lines;
}

std::vector<Chip> chips_of(const GenerateScene& scene, float most) {
    const Ui& ui = scene.ui;
    std::vector<Chip> chips;
    const auto add = [&](const std::string& piece, Index position) {
        const std::string text = fitted(ui.fonts.mono_small, piece.empty() ? "∅" : piece, most - ui.px(10));
        chips.push_back({text, compat::text_size(ui.fonts.mono_small, text).x + ui.px(10), position});
    };
    for (Index position = 0; position < scene.length; ++position) add(scene.piece(scene.token_at(position)), position);
    const ShownNextToken& shown = *scene.next;
    if (shown.next && why_text_ends(scene.scenario(), scene.row).empty())
        add(scene.piece(shown.next->candidates[shown.draw.rank].token), scene.length);
    return chips;
}

void chip_tooltip(const GenerateScene& scene, Index position, bool generated) {
    if (!compat::begin_tooltip()) return;
    const Ui& ui = scene.ui;
    if (position == scene.length) {
        text_line(ui.fonts.caption, ui.theme.text, tr("drawn next; not in the text yet"));
    } else {
        const Index token = scene.token_at(position);
        text_line(ui.fonts.mono_small, ui.theme.text,
                  tr("“{token}”  id {id}", {{"token", scene.piece(token)}, {"id", token}}));
        text_line(ui.fonts.caption, ui.theme.muted,
                  generated ? tr("position {position}, generated", {{"position", position}})
                            : tr("position {position}, given", {{"position", position}}));
    }
    ImGui::EndTooltip();
}

void draw_chip(const GenerateScene& scene, const Chip& chip, Area box, Index first_generated) {
    const Ui& ui = scene.ui;
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const bool next = chip.position == scene.length, generated = !next && chip.position >= first_generated;
    if (!next) list.AddRectFilled(box.low, box.high, generated ? ui.theme.accent_soft : ui.theme.raised, ui.px(4));
    if (next) compat::add_rect(list, box.low, box.high, ui.theme.line, ui.px(4), ui.px(1));
    if (generated)
        list.AddRectFilled({box.low.x + ui.px(3), box.high.y - ui.px(2)}, {box.high.x - ui.px(3), box.high.y},
                           ui.theme.accent);
    draw_text(ui, ui.fonts.mono_small, {box.low.x + ui.px(5), box.low.y + ui.px(4)},
              next ? ui.theme.muted : ui.theme.text, chip.text);
    if (ImGui::IsWindowHovered() && box.contains(ImGui::GetIO().MousePos))
        chip_tooltip(scene, chip.position, generated);
}

}  // namespace

float draw_generated_text(const GenerateScene& scene, Area area) {
    constexpr std::size_t kMostLines = 4;  // the newest ones
    const Ui& ui = scene.ui;
    const auto lines = lines_of(ui, chips_of(scene, area.width()), area.width());
    const Index first_generated = scene.length - generated_count(scene.scenario(), scene.row);
    const std::size_t first = lines.size() - std::min(lines.size(), kMostLines);
    const float line = compat::font_size(ui.fonts.mono_small) + ui.px(12);
    float y = area.low.y;
    for (std::size_t i = first; i < lines.size(); ++i, y += line) {
        float x = area.low.x;
        for (const Chip& chip : lines[i]) {
            draw_chip(scene, chip, {{x, y}, {x + chip.width, y + line - ui.px(4)}}, first_generated);
            x += chip.width + ui.px(3);
        }
    }
    const std::string ended = why_text_ends(scene.scenario(), scene.row);
    std::string note;
    if (first > 0)
        note = tr_n("… {count} token before these.", "… {count} tokens before these.", lines[first].front().position) +
               " ";
    note += ended;
    if (!note.empty()) {
        draw_text(ui, ui.fonts.caption, {area.low.x, y}, ui.theme.muted, note, area.width());
        y += compat::font_size(ui.fonts.caption) + ui.px(4);
    }
    return y - area.low.y;
}

}  // namespace decoderscope
