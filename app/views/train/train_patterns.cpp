#include "app/core/text/labels.h"
#include "app/views/norms/depth_chart.h"
#include "app/views/train/train_parts.h"
#include "app/views/widgets/focus.h"
#include "app/views/widgets/heatmap_view.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/translate.h"

#include <algorithm>
#include <cmath>

namespace decoderscope {

namespace {

constexpr std::uint64_t kKey = 0x7EA10000;

std::string path_of(const TrainTabState& train, const SeenTraining& seen) {
    std::string folder = train.folder.data();
    if (folder.empty()) folder = trained_models_folder();
    return folder + "/" + trained_model_name(*seen.recipe, seen.step);
}

void save_links(const Ui& ui, const TrainTabState& train, const SeenTraining& seen, Commands& commands) {
    const auto write = [&](bool open) {
        commands.push_back(command::SaveModel{folder_of(*seen.recipe, *seen.model), path_of(train, seen), open});
    };
    if (link(ui, ui.fonts.caption, ui.theme.accent, tr("open it in all tabs"), 1)) write(true);
    tooltip(tr("Writes it to {path} and opens it there. To compare two steps, pin the run in Diff and open the other.",
               {{"path", path_of(train, seen)}})
                .c_str());
    ImGui::SameLine(0, ui.px(12));
    if (link(ui, ui.fonts.caption, ui.theme.accent, tr("save it"), 2)) write(false);
    tooltip(tr("Writes it to {path}", {{"path", path_of(train, seen)}}).c_str());
}

void choose_attention(const Ui& ui, TrainTabState& train, const std::vector<std::string>& attentions) {
    ImGui::SetNextItemWidth(ui.px(190));
    if (!begin_list("##attention", train.attention.c_str(), ImGuiComboFlags_HeightLarge)) return;
    for (const std::string& attention : attentions)
        if (press_row(attention.c_str(), attention == train.attention)) train.attention = attention;
    ImGui::EndCombo();
}

void choose_folder(TrainTabState& train, float width) {
    ImGui::SetNextItemWidth(width);
    focusable_field("##folder");
    ImGui::InputTextWithHint("##folder", trained_models_folder().c_str(), train.folder.data(), train.folder.size());
    tooltip(tr("Where models are written"));
}

// One run: its title and step, what can be done with its model, and its heads side by side.
void draw_run(const Ui& ui, const Session& session, ViewState& state, const SeenTraining& seen, std::size_t number,
              Area area, Commands& commands) {
    const TrainTabState& train = state.lab<TrainTabState>();
    ImGui::PushID(static_cast<int>(number));
    draw_line_sample(ui, {area.low.x, area.low.y + ui.px(8)}, ui.px(24), color_of_run(number), is_dashed(number));
    draw_text(ui, ui.fonts.caption, {area.low.x + ui.px(30), area.low.y}, ui.theme.text,
              tr("{title}, step {step}", {{"title", seen.recipe->title}, {"step", seen.step}}),
              area.width() - ui.px(30));
    if (seen.model) {
        ImGui::SetCursorScreenPos({area.low.x + ui.px(30), area.low.y + ui.px(17)});
        save_links(ui, train, seen, commands);
    }
    ImGui::PopID();
    if (!seen.model) return;
    const Value<TrainedModelRun> run = trained_model_run(session.derived(), seen.model);
    if (!run) return;
    const Index heads = seen.recipe->config.nhead;
    const float gap = ui.px(6), top = area.low.y + ui.px(38);
    const float side =
        std::min((area.width() - gap * static_cast<float>(heads - 1)) / static_cast<float>(heads), area.high.y - top);
    for (Index head = 0; head < heads; ++head) {
        const Value<TrainedPattern> pattern = trained_pattern(session.derived(), *run, train.attention, head);
        if (pattern->heatmap.rows == 0 || side < ui.px(24)) continue;
        Heatmap small = pattern->heatmap;
        small.title = tr("head {head}", {{"head", head}});
        small.subtitle.clear();
        const float x = area.low.x + static_cast<float>(head) * (side + gap);
        const std::uint64_t key = kKey + number * 16 + static_cast<std::uint64_t>(head);
        static_cast<void>(draw_heatmap(ui,
                                       {.heatmap = small,
                                        .key = key,
                                        .version = pattern.number(),
                                        .color = color_of(Meaning::attention),
                                        .legend = Legend::none,
                                        .grid = true},
                                       state.viewports[key], {{x, top}, {x + side, top + side}}));
    }
}

}  // namespace

void draw_train_patterns(const Ui& ui, const Session& session, ViewState& state, std::span<const SeenTraining> seen,
                         Area area, Commands& commands) {
    TrainTabState& train = state.lab<TrainTabState>();
    if (seen.empty() || !seen.front().model) return;
    const Value<TrainedModelRun> first = trained_model_run(session.derived(), seen.front().model);
    if (first) {
        const std::vector<std::string> attentions = attentions_of(first->run->plan());
        if (std::ranges::find(attentions, train.attention) == attentions.end())
            train.attention = attentions.empty() ? "" : attentions.back();
        ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(ui.px(6), ui.px(2)));
        ImGui::SetCursorScreenPos(area.low);
        choose_attention(ui, train, attentions);
        ImGui::SameLine(0, ui.px(12));
        choose_folder(train, std::max(ui.px(100), area.width() - ui.px(210)));
        ImGui::PopStyleVar();
    }
    const float gap = ui.px(16), y = area.low.y + ui.px(30);
    const auto columns = static_cast<float>(std::min<std::size_t>(seen.size(), 2));
    const auto rows = std::ceil(static_cast<float>(seen.size()) / columns);
    const float width = (area.width() - gap * (columns - 1)) / columns, height = (area.high.y - y) / rows;
    for (std::size_t i = 0; i < seen.size(); ++i) {
        const auto column = static_cast<float>(i % static_cast<std::size_t>(columns));
        const auto row = static_cast<float>(i / static_cast<std::size_t>(columns));
        const ImVec2 low = {area.low.x + column * (width + gap), y + row * height};
        draw_run(ui, session, state, seen[i], i, {low, {low.x + width, low.y + height - ui.px(6)}}, commands);
    }
}

}  // namespace decoderscope
