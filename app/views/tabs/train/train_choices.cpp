#include "app/core/run/scenario.h"
#include "app/core/text/numbers.h"
#include "app/views/frame/curves_view.h"
#include "app/views/tabs/train/tab.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <type_traits>

namespace decoderscope::views::train {

namespace {

namespace bounds = core::bounds;

// Each list ends where a session's may.
constexpr std::array<Index, 4> kLayers = {1, 2, 6, bounds::kTrainedLayers.most};
constexpr std::array<Index, 3> kWidths = {16, 32, bounds::kTrainedWidth.most};
constexpr std::array<Index, 3> kRows = {16, 32, bounds::kTrainedRows.most};
constexpr std::array<Index, 4> kSteps = {100, 300, 1000, bounds::kTrainedSteps.most};
constexpr std::array<double, 7> kRates = {bounds::kLearningRate.most, 3e-2, 1e-2, 3e-3, 1e-3, 3e-4, 1e-4};
constexpr std::array<Index, 5> kWarmups = {0, 20, 50, 150, bounds::kWarmup.most};
constexpr std::array<double, 4> kClips = {0.0, 0.25, 1.0, bounds::kClip.most};

const char* title_of(std::string_view task) {
    if (task == "reversal") return tr("Reverse, decoder alone");
    if (task == "reverse") return tr("Reverse, with encoder");
    if (task == "dates") return tr("Dates");
    if (task == "induction") return tr("Induction");
    return tr("Your own text");
}

// How a value is written in its list.
template <class Value>
using TextOf = std::function<std::string(const Value&)>;

// The width of a combo box in which each of its values can be read whole.
template <class Value>
float list_width(const std::vector<Value>& values, const TextOf<Value>& text) {
    float widest = 0.0F;
    for (const Value& value : values) widest = std::max(widest, ImGui::CalcTextSize(text(value).c_str()).x);
    return std::ceil(widest + ImGui::GetStyle().FramePadding.x * 2.0F + ImGui::GetFrameHeight());
}

// A list of a few values in a combo box.
template <class Value>
void choose(const char* id, const char* tip, const std::vector<Value>& values, Value& now, const TextOf<Value>& text) {
    ImGui::SetNextItemWidth(list_width(values, text));
    if (begin_list(id, text(now).c_str(), ImGuiComboFlags_HeightLarge)) {
        for (const Value& value : values)
            if (press_row(text(value).c_str(), value == now)) now = value;
        ImGui::EndCombo();
    } else {
        tooltip(tip);
    }
}

// As above, in a row of controls.
template <class Value>
FlowItem list_item(float gap, const char* id, std::string tip, std::vector<Value> values, Value& now,
                   TextOf<Value> text) {
    const float width = list_width(values, text);
    return {width, gap, [id, tip = std::move(tip), values = std::move(values), &now, text = std::move(text)] {
                choose(id, tip.c_str(), values, now, text);
            }};
}

template <class Values>
auto as_vector(const Values& values) {
    return std::vector<std::decay_t<decltype(*std::begin(values))>>(std::begin(values), std::end(values));
}

std::string number_of(const Index& value) { return std::to_string(value); }

// ---- what all runs share

// A control with its name before it.
FlowItem labelled_item(const Ui& ui, const char* text, FlowItem item) {
    const float label = compat::text_size(ui.fonts.caption, text).x + ui.px(6);
    return {label + item.width, ui.px(12), [&ui, text = std::string(text), draw = std::move(item.draw)] {
                word_before(ui, text);
                draw();
            }};
}

std::vector<FlowItem> shared_items(const Ui& ui, core::train::TrainingPlan& plan, TrainTabState& train,
                                   Commands& commands) {
    const auto item = [&](const char* text, const char* id, const auto& values, Index& now, const char* tip) {
        return labelled_item(ui, text, list_item<Index>(0.0F, id, tip, as_vector(values), now, number_of));
    };
    std::vector<FlowItem> items;
    items.push_back({button_width(tr("Three runs: what warm-up is for")), 0.0F, [&train, &commands] {
                         if (button(tr("Three runs: what warm-up is for"), "three")) train_three_runs(train, commands);
                     }});
    std::vector<std::string> tasks;
    for (const auto& task : core::train::trainable_tasks()) tasks.emplace_back(task);
    items.push_back(
        labelled_item(ui, tr("task"),
                      list_item<std::string>(0.0F, "##task", tr(core::train::about_task(plan.task)), tasks, plan.task,
                                             [](const std::string& task) { return std::string(title_of(task)); })));
    items.push_back(item(tr("layers"), "##layers", kLayers, plan.layers, tr("How many layers each stack has")));
    items.push_back(item("d_model", "##width", kWidths, plan.d_model, tr("The width of the residual stream")));
    items.push_back(item(tr("batch"), "##rows", kRows, plan.rows, tr("How many examples a step has")));
    items.push_back(item(tr("steps"), "##steps", kSteps, plan.steps, tr("How many steps each run trains")));
    items.push_back(counter_item(ui, tr("seed"), static_cast<Index>(plan.seed),
                                 static_cast<Index>(bounds::kTrainingSeed.most) + 1, ui.px(12),
                                 [&plan](Index seed) { plan.seed = static_cast<std::uint64_t>(seed); }));
    return items;
}

// ---- what tells the runs apart

// The choices of one run, in as many lines as they need. `remove` is called when it is to be removed; nothing if it
// can't be.
std::vector<FlowItem> run_items(const Ui& ui, core::train::RunChoice& run, std::size_t number,
                                std::function<void()> remove) {
    std::vector<FlowItem> items;
    const auto add_item = [&](FlowItem item) {
        item.draw = [number, draw = std::move(item.draw)] {
            ImGui::PushID(static_cast<int>(number));
            draw();
            ImGui::PopID();
        };
        item.gap = items.empty() ? 0.0F : ui.px(4);
        items.push_back(std::move(item));
    };
    const auto add = [&](float width, std::function<void()> draw) { add_item({ui.px(width), 0.0F, std::move(draw)}); };
    add(32, [&ui, number] {
        const ImVec2 at = ImGui::GetCursorScreenPos();
        draw_line_sample(ui, {at.x, at.y + ImGui::GetFrameHeight() * 0.5F}, ui.px(28), color_of_run(number),
                         is_dashed(number));
        ImGui::Dummy({ui.px(32), ImGui::GetFrameHeight()});
    });
    std::vector<NormPlacement> places;
    for (const core::PlaceOfNorms& place : core::places_of_norms()) places.push_back(place.placement);
    add_item(list_item<NormPlacement>(
        0.0F, "##place", tr("Norm placement"), std::move(places), run.placement,
        [](const NormPlacement& place) { return std::string(tr(core::place_of_norms(place).title)); }));
    using decoderscope::train::OptimiserKind;
    add_item(list_item<OptimiserKind>(
        0.0F, "##optimiser", tr("The optimiser"), {OptimiserKind::adam, OptimiserKind::adamw, OptimiserKind::sgd},
        run.optimiser, [](const OptimiserKind& kind) { return std::string(tr(core::train::title_of(kind))); }));
    add_item(list_item<double>(0.0F, "##rate", tr("The learning rate"), as_vector(kRates), run.learning_rate,
                               [](const double& rate) {
                                   return tr("rate {rate}", {{"rate", core::short_number_text(rate, 2)}});
                               }));
    add_item(list_item<Index>(
        0.0F, "##warmup", tr("Steps in which the learning rate rises to its full size"), as_vector(kWarmups),
        run.warmup, [](const Index& steps) {
            return steps == 0 ? std::string(tr("no warm-up")) : tr("warm-up {steps}", {{"steps", steps}});
        }));
    add_item(list_item<double>(0.0F, "##clip", tr("The largest norm that all gradients together may have"),
                               as_vector(kClips), run.clip, [](const double& clip) {
                                   return clip == 0.0 ? std::string(tr("no clip"))
                                                      : tr("clip {norm}", {{"norm", core::short_number_text(clip, 2)}});
                               }));
    add_item(list_item<bool>(0.0F, "##init", tr("How the weights are initialised"), {true, false}, run.xavier,
                             [](const bool& xavier) { return std::string(xavier ? tr("Xavier") : tr("PyTorch")); }));
    if (remove)
        add(14, [&ui, remove = std::move(remove)] {
            if (link(ui, {ui.fonts.text, ui.theme.accent}, "×", 7)) remove();
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
        y += draw_flow(ui, run_items(ui, plan.runs[i], i, std::move(remove)), {{area.low.x, y}, area.high});
    }
    if (removed) plan.runs.erase(plan.runs.begin() + static_cast<std::ptrdiff_t>(*removed));
    if (plan.runs.size() < bounds::kRuns.most) {
        ImGui::SetCursorScreenPos({area.low.x, y});
        if (link(ui, {ui.fonts.caption, ui.theme.accent}, tr("+ another run"), 8)) {
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
    const char* tip = tr("One example per line; its characters are the vocabulary");
    focusable_field("##own", train.text.data(), tip, Lines::many);
    typed = ImGui::InputTextMultiline("##own", train.text.data(), train.text.size(), {area.width(), height});
    if (typed) plan.text = train.text.data();
    tooltip(tip);
    return height + ui.px(6);
}

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
    return text_block(ui, ui.body(), area, text);
}

}  // namespace

ImU32 color_of_run(std::size_t run) {
    static constexpr std::array meanings = {Meaning::query, Meaning::value, Meaning::mlp, Meaning::key};
    return color_of(meanings[run % meanings.size()]);
}

bool is_dashed(std::size_t run) { return run % 2 == 1; }

void train_three_runs(TrainTabState& train, Commands& commands) {
    train.three = true;
    commands.push_back(core::command::ChangeTraining{core::train::plan_of_warmup()});
    commands.push_back(core::command::StartTraining{});
}

float say_three_runs(const Ui& ui, const core::Session& session, const TrainTabState& train, Area area) {
    const core::train::TrainingPlan& plan = session.training_plan();
    if (!train.three || plan != core::train::plan_of_warmup()) return 0.0F;
    return text_block(
               ui, ui.note(), area,
               tr("The three runs have choices of their own: {layers} layers, d_model {width}, {rows} examples per "
                  "step, {steps} steps. Undo brings back yours.",
                  {{"layers", plan.layers}, {"width", plan.d_model}, {"rows", plan.rows}, {"steps", plan.steps}})) +
           ui.px(4);
}

float draw_train_choices(const Ui& ui, const core::Session& session, TrainTabState& train, Area area,
                         Commands& commands) {
    core::train::TrainingPlan plan = session.training_plan();
    train.three = train.three && plan == core::train::plan_of_warmup();
    bool typed = false;
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(ui.px(6), ui.px(3)));
    float height = draw_flow(ui, shared_items(ui, plan, train, commands), area) + ui.px(4);
    height += draw_own_text(ui, plan, train, {{area.low.x, area.low.y + height}, area.high}, typed);
    height += draw_runs(ui, plan, {{area.low.x, area.low.y + height}, area.high});
    ImGui::PopStyleVar();
    if (plan != session.training_plan()) commands.push_back(core::command::ChangeTraining{std::move(plan), typed});
    return height + ui.px(4);
}

float draw_train_controls(const Ui& ui, const core::Session& session, std::span<const core::train::SeenTraining> seen,
                          Area area, Commands& commands) {
    ImGui::SetCursorScreenPos(area.low);
    buttons(ui, session.training(), seen, commands);
    float y = area.low.y + ImGui::GetFrameHeight() + ui.px(6);
    const auto rest = [&] { return Area{{area.low.x, y}, area.high}; };
    if (const Sentence& error = session.training_error(); !error.empty())
        y += text_block(ui, {ui.fonts.text, ui.theme.error}, rest(), tr(error)) + ui.px(4);
    if (!seen.empty()) {
        y += results(ui, seen, rest()) + ui.px(2);
        y += text_block(ui, ui.note(), rest(), progress_text(seen)) + ui.px(4);
    }
    return y - area.low.y;
}

}  // namespace decoderscope::views::train
