#include "app/core/run/recording.h"
#include "app/core/text/numbers.h"
#include "app/views/labs/train/lab.h"
#include "app/views/widgets/depth_chart.h"
#include "app/views/widgets/imgui_compat.h"
#include "app/views/widgets/keyboard_focus.h"
#include "app/views/widgets/row_layout.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace decoderscope::views::train {

namespace {

constexpr std::array<Index, 4> kLayers = {1, 2, 6, 12};
constexpr std::array<Index, 3> kWidths = {16, 32, 64};
constexpr std::array<Index, 3> kRows = {16, 32, 64};
constexpr std::array<Index, 4> kSteps = {100, 300, 1000, 3000};
constexpr std::array<double, 7> kRates = {1e-1, 3e-2, 1e-2, 3e-3, 1e-3, 3e-4, 1e-4};
constexpr std::array<Index, 5> kWarmups = {0, 20, 50, 150, 500};
constexpr std::array<double, 4> kClips = {0.0, 0.25, 1.0, 5.0};

const char* title_of(std::string_view task) {
    if (task == "reversal") return tr("Reverse, decoder alone");
    if (task == "reverse") return tr("Reverse, with encoder");
    if (task == "dates") return tr("Dates");
    if (task == "induction") return tr("Induction");
    return tr("Your own text");
}

// A list of a few values in a combo box of this width.
template <class Value, class Values>
void choose(const Ui& ui, const char* id, float width, const char* tip, const Values& values, Value& now,
            const std::function<std::string(const Value&)>& text) {
    ImGui::SetNextItemWidth(ui.px(width));
    if (begin_list(id, text(now).c_str(), ImGuiComboFlags_HeightLarge)) {
        for (const Value& value : values)
            if (press_row(text(value).c_str(), value == now)) now = value;
        ImGui::EndCombo();
    } else {
        tooltip(tip);
    }
}

std::string number_of(const Index& value) { return std::to_string(value); }

// ---- what all runs share

FlowItem labelled_item(const Ui& ui, const char* text, float width, std::function<void()> draw) {
    const float label = compat::text_size(ui.fonts.caption, text).x + ui.px(6);
    return {label + ui.px(width), ui.px(12), [&ui, text = std::string(text), draw = std::move(draw)] {
                ImGui::AlignTextToFramePadding();
                text_line(ui.fonts.caption, ui.theme.muted, text);
                ImGui::SameLine(0, ui.px(6));
                draw();
            }};
}

std::vector<FlowItem> shared_items(const Ui& ui, core::train::TrainingPlan& plan, Commands& commands) {
    const auto item = [&](const char* text, const char* id, auto& values, Index& now, const char* tip) {
        return labelled_item(ui, text, 70,
                             [&ui, id, &values, &now, tip] { choose<Index>(ui, id, 70, tip, values, now, number_of); });
    };
    std::vector<FlowItem> items;
    items.push_back({button_width(tr("Three runs: what warm-up is for")), 0.0F, [&commands] {
                         if (button(tr("Three runs: what warm-up is for"), "three")) train_three_runs(commands);
                     }});
    items.push_back(labelled_item(ui, tr("task"), 180, [&ui, &plan] {
        choose<std::string>(ui, "##task", 180, tr(core::train::about_task(plan.task)), core::train::trainable_tasks(),
                            plan.task, [](const std::string& task) { return std::string(title_of(task)); });
    }));
    items.push_back(item(tr("layers"), "##layers", kLayers, plan.layers, tr("How many layers each stack has")));
    items.push_back(item("d_model", "##width", kWidths, plan.d_model, tr("The width of the residual stream")));
    items.push_back(item(tr("batch"), "##rows", kRows, plan.rows, tr("How many examples a step has")));
    items.push_back(item(tr("steps"), "##steps", kSteps, plan.steps, tr("How many steps each run trains")));
    items.push_back({counter_width(ui, tr("seed"), static_cast<Index>(plan.seed)), ui.px(12), [&ui, &plan] {
                         const auto now = static_cast<Index>(plan.seed);
                         if (const int moved = counter(ui, tr("seed"), now, 1000); moved != 0)
                             plan.seed = static_cast<std::uint64_t>(now + moved);
                     }});
    return items;
}

// ---- what tells the runs apart

// The choices of one run, in as many lines as they need. `remove` is called when it is to be removed; nothing if it
// can't be.
std::vector<FlowItem> run_items(const Ui& ui, core::train::RunChoice& run, std::size_t number,
                                std::function<void()> remove) {
    std::vector<FlowItem> items;
    const auto add = [&](float width, std::function<void()> draw) {
        items.push_back({ui.px(width), items.empty() ? 0.0F : ui.px(4), [number, draw = std::move(draw)] {
                             ImGui::PushID(static_cast<int>(number));
                             draw();
                             ImGui::PopID();
                         }});
    };
    add(32, [&ui, number] {
        const ImVec2 at = ImGui::GetCursorScreenPos();
        draw_line_sample(ui, {at.x, at.y + ImGui::GetFrameHeight() * 0.5F}, ui.px(28), color_of_run(number),
                         is_dashed(number));
        ImGui::Dummy({ui.px(32), ImGui::GetFrameHeight()});
    });
    add(104, [&ui, &run] {
        std::vector<NormPlacement> places;
        for (const core::PlaceOfNorms& place : core::places_of_norms()) places.push_back(place.placement);
        choose<NormPlacement>(
            ui, "##place", 104, tr("Norm placement"), places, run.placement,
            [](const NormPlacement& place) { return std::string(tr(core::place_of_norms(place).title)); });
    });
    add(80, [&ui, &run] {
        static constexpr std::array kKinds = {decoderscope::train::OptimiserKind::adam,
                                              decoderscope::train::OptimiserKind::adamw,
                                              decoderscope::train::OptimiserKind::sgd};
        choose<decoderscope::train::OptimiserKind>(ui, "##optimiser", 80, tr("The optimiser"), kKinds, run.optimiser,
                                                   [](const decoderscope::train::OptimiserKind& kind) {
                                                       return std::string(tr(core::train::title_of(kind)));
                                                   });
    });
    add(96, [&ui, &run] {
        choose<double>(ui, "##rate", 96, tr("The learning rate"), kRates, run.learning_rate, [](const double& rate) {
            return tr("rate {rate}", {{"rate", core::short_number_text(rate, 2)}});
        });
    });
    add(124, [&ui, &run] {
        choose<Index>(ui, "##warmup", 124, tr("Steps in which the learning rate rises to its full size"), kWarmups,
                      run.warmup, [](const Index& steps) {
                          return steps == 0 ? std::string(tr("no warm-up")) : tr("warm-up {steps}", {{"steps", steps}});
                      });
    });
    add(92, [&ui, &run] {
        choose<double>(ui, "##clip", 92, tr("The largest norm that all gradients together may have"), kClips, run.clip,
                       [](const double& clip) {
                           return clip == 0.0 ? std::string(tr("no clip"))
                                              : tr("clip {norm}", {{"norm", core::short_number_text(clip, 2)}});
                       });
    });
    add(88, [&ui, &run] {
        static constexpr std::array kInits = {true, false};
        choose<bool>(ui, "##init", 88, tr("How the weights are initialised"), kInits, run.xavier,
                     [](const bool& xavier) { return std::string(xavier ? tr("Xavier") : tr("PyTorch")); });
    });
    if (remove)
        add(14, [&ui, remove = std::move(remove)] {
            if (link(ui, ui.fonts.text, ui.theme.accent, "×", 7)) remove();
            tooltip(tr("Remove this run"));
        });
    return items;
}

float draw_runs(const Ui& ui, core::train::TrainingPlan& plan, Area area) {
    std::optional<std::size_t> removed;
    float y = area.low.y;
    for (std::size_t i = 0; i < plan.runs.size(); ++i) {
        std::function<void()> remove;
        if (plan.runs.size() > 1) remove = [&removed, i] { removed = i; };
        const std::vector<FlowItem> items = run_items(ui, plan.runs[i], i, std::move(remove));
        const float height = flow_height(ui, items, area.width());
        draw_flow(ui, items, {{area.low.x, y}, {area.high.x, y + height}});
        y += height;
    }
    if (removed) plan.runs.erase(plan.runs.begin() + static_cast<std::ptrdiff_t>(*removed));
    if (plan.runs.size() < core::train::kMostRuns) {
        ImGui::SetCursorScreenPos({area.low.x, y});
        if (link(ui, ui.fonts.caption, ui.theme.accent, tr("+ another run"), 8)) {
            core::train::RunChoice other = plan.runs.back();
            other.placement = other.placement == NormPlacement::pre ? NormPlacement::post : NormPlacement::pre;
            plan.runs.push_back(other);
        }
        y += compat::font_size(ui.fonts.caption) + ui.px(6);
    }
    return y - area.low.y;
}

// The field of the learner's own text. Sets `typed` where something was typed.
float draw_own_text(const Ui& ui, core::train::TrainingPlan& plan, TrainTabState& train, Area area, bool& typed) {
    if (plan.task != core::train::kOwnText) return 0.0F;
    // After a change other than typing (undo, a session that is opened) the field shows what the session has.
    const std::string_view kept = std::string_view(plan.text).substr(0, train.text.size() - 1);
    if (kept != train.text.data()) {
        train.text.fill('\0');
        std::ranges::copy(kept, train.text.begin());
    }
    ImGui::SetCursorScreenPos(area.low);
    const float height = ui.px(72);
    typed = ImGui::InputTextMultiline("##own", train.text.data(), train.text.size(), {area.width(), height});
    if (typed) plan.text = train.text.data();
    tooltip(tr("One example per line; its characters are the vocabulary"));
    return height + ui.px(6);
}

}  // namespace

ImU32 color_of_run(std::size_t run) {
    static constexpr std::array meanings = {Meaning::query, Meaning::value, Meaning::mlp, Meaning::key};
    return color_of(meanings[run % meanings.size()]);
}

bool is_dashed(std::size_t run) { return run % 2 == 1; }

void train_three_runs(Commands& commands) {
    commands.push_back(core::command::ChangeTraining{core::train::plan_of_warmup()});
    commands.push_back(core::command::StartTraining{});
}

float draw_train_choices(const Ui& ui, const core::Session& session, TrainTabState& train, Area area,
                         Commands& commands) {
    core::train::TrainingPlan plan = session.training_plan();
    bool typed = false;
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(ui.px(6), ui.px(3)));
    const std::vector<FlowItem> items = shared_items(ui, plan, commands);
    float height = flow_height(ui, items, area.width());
    draw_flow(ui, items, {area.low, {area.high.x, area.low.y + height}});
    height += ui.px(4);
    height += draw_own_text(ui, plan, train, {{area.low.x, area.low.y + height}, area.high}, typed);
    height += draw_runs(ui, plan, {{area.low.x, area.low.y + height}, area.high});
    ImGui::PopStyleVar();
    if (plan != session.training_plan()) commands.push_back(core::command::ChangeTraining{std::move(plan), typed});
    return height + ui.px(4);
}

namespace {

void buttons(const Ui& ui, const core::train::TrainingBoard& training, std::span<const core::train::SeenTraining> seen,
             Commands& commands) {
    if (button(seen.empty() ? tr("Train") : tr("Train again"), "begin"))
        commands.push_back(core::command::StartTraining{});
    if (seen.empty() || training.finished()) return;
    ImGui::SameLine(0, ui.px(6));
    if (training.paused()) {
        if (button(tr("Go on"), "go-on")) commands.push_back(core::command::PauseTraining{false});
    } else if (button(tr("Pause"), "pause")) {
        commands.push_back(core::command::PauseTraining{true});
    }
    ImGui::SameLine(0, ui.px(6));
    if (button(tr("Cancel"), "cancel")) commands.push_back(core::command::ClearTraining{});
}

// How far all are, and what is kept so that every step can be returned to.
std::string progress_text(std::span<const core::train::SeenTraining> seen) {
    Index done = 0, all = 0;
    std::size_t bytes = 0, kept = 0;
    for (const core::train::SeenTraining& one : seen) {
        done += static_cast<Index>(one.history->size());
        all += one.recipe->steps;
        bytes += one.kept_bytes;
        kept += one.kept_steps;
    }
    return tr("{done} of {all} steps; {kept} kept as checkpoints, {size}: the others are recomputed on demand.",
              {{"done", done}, {"all", all}, {"kept", kept}, {"size", core::bytes_text(bytes)}});
}

// "Post-Norm, no warm-up 3.07".
float results(const Ui& ui, std::span<const core::train::SeenTraining> seen, Area area) {
    std::string text;
    for (const core::train::SeenTraining& one : seen)
        if (const std::optional<double> loss = core::train::late_loss(*one.history))
            text +=
                (text.empty() ? "" : "   ") +
                tr("{title}: loss {loss}", {{"title", one.recipe->title}, {"loss", core::short_number_text(*loss, 3)}});
    if (text.empty()) return 0.0F;
    text += "   " + tr("chance: {loss}",
                       {{"loss", core::short_number_text(core::train::loss_of_chance(*seen.front().recipe), 3)}});
    return text_block(ui, ui.fonts.text, ui.theme.text, area, text);
}

}  // namespace

float draw_train_controls(const Ui& ui, const core::Session& session, std::span<const core::train::SeenTraining> seen,
                          Area area, Commands& commands) {
    ImGui::SetCursorScreenPos(area.low);
    buttons(ui, session.training(), seen, commands);
    float y = area.low.y + ImGui::GetFrameHeight() + ui.px(6);
    const auto rest = [&] { return Area{{area.low.x, y}, area.high}; };
    if (const Sentence& error = session.training_error(); !error.empty())
        y += text_block(ui, ui.fonts.text, ui.theme.error, rest(), tr(error)) + ui.px(4);
    if (!seen.empty()) {
        y += results(ui, seen, rest()) + ui.px(2);
        y += text_block(ui, ui.fonts.caption, ui.theme.muted, rest(), progress_text(seen)) + ui.px(4);
    }
    return y - area.low.y;
}

}  // namespace decoderscope::views::train
