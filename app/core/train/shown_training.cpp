#include "app/core/train/shown_training.h"

#include "app/core/figure/colormap.h"
#include "app/core/jobs/resumable.h"
#include "app/core/run/slice.h"
#include "engine/base/translate.h"
#include "engine/platform/folders.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <tuple>

namespace decoderscope::core::train {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLateSteps = 10;

const TrainedStep* step_after(const SeenTraining& seen, Index step) {
    if (seen.history->empty()) return nullptr;
    const auto last = static_cast<Index>(seen.history->size()) - 1;
    return &(*seen.history)[static_cast<std::size_t>(std::clamp<Index>(step, 0, last))];
}

Resumable<TrainedModelRun> model_run(std::shared_ptr<const load::Model> model) {
    TrainedModelRun made{scenario_of(std::move(model)), nullptr};
    made.run = co_await execute_in_slices(plan_of(made.scenario));
    co_return made;
}

TrainingCurves curves_of(std::span<const TrainedStep> history) {
    TrainingCurves curves;
    for (const TrainedStep& step : history) {
        const auto at = static_cast<double>(step.step.step);
        curves.loss.points.push_back({at, step.step.loss, {}});
        const std::vector<double>& layers = step.decoder_gradients;
        if (layers.size() > 1) curves.growth.points.push_back({at, layers.back() / layers.front(), {}});
    }
    return curves;
}

}  // namespace

Value<TrainingCurves> training_curves(Derived& derived, const SeenTraining& seen) {
    return derived.get<TrainingCurves>({seen.history}, std::tuple<>(), [&] { return curves_of(*seen.history); });
}

DepthCurve gradients_at(const SeenTraining& seen, Index step) {
    DepthCurve curve;
    const TrainedStep* trained = step_after(seen, step);
    if (trained == nullptr) return curve;
    for (std::size_t layer = 0; layer < trained->decoder_gradients.size(); ++layer)
        curve.points.push_back({static_cast<double>(layer) + 0.5, trained->decoder_gradients[layer], {}});
    return curve;
}

std::optional<double> loss_at(const SeenTraining& seen, Index step) {
    const TrainedStep* trained = step_after(seen, step);
    return trained == nullptr ? std::nullopt : std::optional(trained->step.loss);
}

std::optional<Index> step_under_way(const SeenTraining& seen, const std::optional<Index>& wanted) {
    if (!wanted) return std::nullopt;
    const Index reached = std::min(*wanted, static_cast<Index>(seen.history->size()));
    return seen.model && seen.step == reached ? std::nullopt : std::optional(reached);
}

std::optional<double> late_loss(std::span<const TrainedStep> history) {
    if (history.empty()) return std::nullopt;
    const std::size_t count = std::min(kLateSteps, history.size());
    double sum = 0.0;
    for (const TrainedStep& step : history.last(count)) sum += step.step.loss;
    return sum / static_cast<double>(count);
}

double loss_of_chance(const Recipe& recipe) {
    std::size_t special = 0;
    for (const std::string& piece : recipe.task.vocabulary) special += piece == "<pad>" || piece == "<bos>" ? 1U : 0U;
    return std::log(static_cast<double>(recipe.task.vocabulary.size() - special));
}

Value<TrainedModelRun> trained_model_run(Derived& derived, const std::shared_ptr<const load::Model>& model) {
    return derived.later<TrainedModelRun>({model}, std::tuple<>(), [&] { return model_run(model); });
}

std::vector<std::string> attentions_of(const Plan& plan) {
    std::vector<std::string> attentions;
    for (const Step& step : plan.steps())
        if (!step.attention.empty() && step.is_pattern &&
            std::ranges::find(attentions, step.attention) == attentions.end())
            attentions.push_back(step.attention);
    return attentions;
}

Ref pattern_of(const Plan& plan, const std::string& attention) {
    return plan.step_of(attention, AttentionStep::pattern);
}

Value<TrainedPattern> trained_pattern(Derived& derived, const TrainedModelRun& of, const std::string& attention,
                                      Index head) {
    return derived.get<TrainedPattern>({of.run}, std::tie(attention, head), [&] {
        const Ref pattern = pattern_of(of.run->plan(), attention);
        if (pattern == nullptr) return TrainedPattern();
        TrainedPattern shown{heatmap_of(of.scenario, *of.run, *pattern, {0, head})};
        shown.heatmap.range = {0.0F, 1.0F};  // one colour means one weight at every step
        return shown;
    });
}

std::string trained_models_folder() {
    const std::string data = platform::data_folder();
    return data.empty() ? std::string() : (fs::path(data) / "decoderscope" / "trained").string();
}

std::string trained_model_name(const Recipe& recipe, Index step) {
    std::string name = recipe.task.name + "-" + recipe.title.english() + "-step-" + std::to_string(step);
    std::string plain;
    for (const char c : name) {
        if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.')
            plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        else if (!plain.empty() && plain.back() != '-')
            plain += '-';
    }
    return plain;
}

Exhibit training_exhibit(std::span<const SeenTraining> seen) {
    Exhibit exhibit{.title = tr("Training"), .subtitle = {}};
    static constexpr std::array kColors = {Meaning::query, Meaning::value, Meaning::mlp, Meaning::key};
    Index steps = 1;
    for (const SeenTraining& one : seen) steps = std::max(steps, one.recipe->steps);
    Chart loss{"loss", tr("Loss"), tr("cross-entropy of each step's batch"), steps, false, {}};
    Chart growth{"gradients", tr("Gradients"), tr("w.r.t. W2: last layer over first"), steps, true, {}};
    for (std::size_t i = 0; i < seen.size(); ++i) {
        TrainingCurves curves = curves_of(*seen[i].history);
        const Rgba color = meaning_color(kColors[i % kColors.size()]);
        const std::string title = tr(seen[i].recipe->title);
        exhibit.caption += (i == 0 ? "" : " · ") + title;
        loss.curves.push_back({title, std::move(curves.loss), color, i % 2 == 1});
        growth.curves.push_back({title, std::move(curves.growth), color, i % 2 == 1});
    }
    exhibit.charts = {std::move(loss), std::move(growth)};
    return exhibit;
}

}  // namespace decoderscope::core::train
