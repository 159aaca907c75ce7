#include "app/core/run/exhibit_step.h"

#include "app/core/run/comparison.h"
#include "app/core/run/edit_groups.h"
#include "app/core/run/labels.h"
#include "app/core/run/passes_of_text.h"
#include "app/core/run/step_picture.h"
#include "app/core/run/typed_inputs.h"
#include "engine/base/error.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <filesystem>
#include <mutex>

namespace decoderscope::core {

namespace {

Index heads_of(const Step& step) {
    for (std::size_t i = 0; i + 2 < step.axes.size(); ++i)
        if (step.axes[i].name == axis::head) return step.axes[i].size;
    return 0;
}

// How a picture of the edited run differs from the unedited one; none if there are no edits, or that isn't told.
std::function<PictureChange(const Heatmap&)> change_of(const std::shared_ptr<const ShownRun>& shown, const Step& step,
                                                       Place place) {
    if (!is_edited(shown->scenario) || !shown->unedited) return {};
    return [shown, &step, slice = slice_of(step, place, shown->scenario.query_heads())](const Heatmap& now) {
        const std::shared_ptr<const Run> unedited = shown->unedited();
        const std::vector<std::uint8_t> changed = changed_cells(*shown->run, *unedited, step, slice, now);
        PictureChange change;
        double furthest = -1;
        for (std::size_t i = 0; i < changed.size(); ++i) {
            if (changed[i] == 0) continue;
            ++change.cells;
            const auto at = static_cast<Index>(i);
            const Index row = at / now.columns, column = at % now.columns;
            const ShownNumber number = number_at(*shown->run, step, slice, row, column);
            const float before = unedited->value(number.step->name).at(number.cell);
            const double distance = distance_between(before, now.values[i]);
            if (distance <= furthest) continue;
            furthest = distance;
            change = {change.cells, row, column, before, now.values[i]};
        }
        return change;
    };
}

// The panel of a step at a place; `make` makes its heatmap.
Panel panel_at(const std::shared_ptr<const ShownRun>& shown, const Step& step, Place place, const std::string& label,
               std::function<Heatmap()> make) {
    const Slice slice = slice_of(step, place, shown->scenario.query_heads());
    Panel panel{step.name,
                label,
                slice.rows(),
                picture_columns(*shown->run, step, slice),
                std::move(make),
                sink_beside(*shown->run, step) != nullptr,
                change_of(shown, step, place)};
    const std::size_t rank = step.axes.size();
    if (rank >= 2) panel.special_rows = special_along(shown->scenario, step, rank - 2, place.batch);
    if (rank >= 1 && !slice.joins_heads)
        panel.special_columns = special_along(shown->scenario, step, rank - 1, place.batch);
    return panel;
}

Panel lazy_panel(const std::shared_ptr<const ShownRun>& shown, const Step& step, Place place) {
    return panel_at(shown, step, place, "", [shown, &step, place] {
        Heatmap heatmap = picture_of(shown->scenario, *shown->run, step, place);
        heatmap.notes = noted_cells(shown->notes, step, slice_of(step, place, shown->scenario.query_heads()));
        return heatmap;
    });
}

// The steps to gather: this one, or its counterpart in every block of its stack.
std::vector<Ref> gathered_steps(const Run& run, const Step& step, bool all_layers) {
    if (!all_layers) return {&step};
    if (block_number(step) < 0)
        throw Error("{name}: isn't in a block, expected a tensor of a block such as blocks.0.attn.pattern",
                    {{"name", step.name}});
    std::vector<Ref> steps;
    for (Index block = 0;; ++block) {
        const Ref twin = run.plan().twin_in(step, block);
        if (twin == nullptr) return steps;
        if (run.value(twin->id).empty())
            throw Error("{name}: was not computed, expected a tensor that is recorded in every block",
                        {{"name", twin->name}});
        steps.push_back(twin);
    }
}

// What the slices of some steps share, computed once with the first of them.
class Common {
public:
    Common(std::shared_ptr<const ShownRun> shown, std::vector<Ref> steps, bool own_ranges)
        : shown_(std::move(shown)), steps_(std::move(steps)), own_ranges_(own_ranges) {}

    [[nodiscard]] Heatmap heatmap(const Step& step, Place place) {
        const std::lock_guard lock(mutex_);
        KnownOfHeatmap known;
        known.range = range();
        if (hidden_of_ == &step && hidden_batch_ == place.batch) known.hidden = hidden_;
        Heatmap heatmap = heatmap_of(shown_->scenario, *shown_->run, step, place, known);
        if (hidden_alike(shown_->run->plan(), step)) {
            hidden_of_ = &step;
            hidden_batch_ = place.batch;
            hidden_ = heatmap.hidden;
        }
        put_sink_beside(heatmap, *shown_->run, step, slice_of(step, place, shown_->scenario.query_heads()));
        if (own_ranges_) heatmap.range = range_of_seen(heatmap);
        return heatmap;
    }

private:
    // The range of all steps together.
    [[nodiscard]] Range range() {
        if (own_ranges_) return {};
        if (!range_)
            for (const Ref step : steps_) {
                const Range own = picture_range(*shown_->run, *step);
                range_ = range_ ? spanning(*range_, own) : own;
            }
        return *range_;
    }

    std::mutex mutex_;
    std::shared_ptr<const ShownRun> shown_;
    std::vector<Ref> steps_;
    bool own_ranges_;
    std::optional<Range> range_;
    Ref hidden_of_ = nullptr;
    Index hidden_batch_ = 0;
    std::vector<std::uint8_t> hidden_;
};

// "blocks.0.attn.pattern"; for all layers "blocks.*.attn.pattern".
std::string title_of(const Step& step, bool all_layers) {
    if (!all_layers) return step.name;
    return step.block.substr(0, step.block.rfind('.') + 1) + "*" + step.name.substr(step.block.size());
}

std::string subtitle_of(const Step& step, Place place, const Gathering& gathering, std::size_t layers) {
    std::string text;
    if (step.axes.size() > 2 && step.axes.front().name == axis::batch) text = "batch " + std::to_string(place.batch);
    const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
    if (gathering.all_layers) add(tr_n("its only layer", "all {count} layers", layers));
    if (gathering.all_heads)
        add(tr_n("its only head", "all {count} heads", heads_of(step)));
    else if (heads_of(step) > 0)
        add(tr("head {head}", {{"head", place.head}}));
    if (gathering.own_ranges) add(tr("colours over the values of each"));
    return text;
}

std::string settings_of(const Scenario& scenario) {
    std::string text;
    for (const auto& [key, value] : scenario.overrides()) text += ", " + key + " = " + value;
    if (scenario.dropout_seed) text += tr(", dropout with seed {seed}", {{"seed", *scenario.dropout_seed}});
    if (!scenario.gradient_target.empty())
        text += tr(", gradients of {target}", {{"target", scenario.gradient_target}});
    return text;
}

// All edits if they are few; a caption isn't a log.
std::string edits_of(const Scenario& scenario) {
    constexpr std::size_t most = 4;
    const std::vector<std::string> edits = texts_of_edits(scenario.edits);
    if (edits.empty()) return tr("no edits");
    return tr_n("{count} edit: {edits}", "{count} edits: {edits}", edits.size(),
                {{"edits", first_of_edits(edits, most)}});
}

}  // namespace

Exhibit step_exhibit(const ShownRun& shown, const Step& step, Place place, bool with_operands) {
    const auto held = std::make_shared<const ShownRun>(shown);
    const Slice slice = slice_of(step, place, shown.scenario.query_heads());
    Exhibit exhibit;
    std::string where;
    for (std::size_t i = 0; i + 2 < slice.axes.size(); ++i)
        where += (where.empty() ? "" : ", ") + std::string(slice.axes[i].name) + " " + std::to_string(slice.fixed[i]);
    exhibit.caption = caption_of(shown.scenario, step.name, where);
    if (with_operands) {
        const Plan& plan = shown.run->plan();
        for (const StepId id : step.operands) {
            const auto same = [&](const Panel& panel) { return panel.tensor == plan[id].name; };
            const bool there = std::any_of(exhibit.panels.begin(), exhibit.panels.end(), same);
            if (!there && !shown.run->value(id).empty()) exhibit.panels.push_back(lazy_panel(held, plan[id], place));
        }
        exhibit.title = step.name;
        exhibit.subtitle =
            tr("{operation}, after what it is computed from", {{"operation", step.operation.about().name}});
    }
    exhibit.panels.push_back(lazy_panel(held, step, place));
    return exhibit;
}

Exhibit head_exhibit(const ShownRun& shown, const std::string& attention, Place place) {
    const auto held = std::make_shared<const ShownRun>(shown);
    Exhibit exhibit{.title = attention};
    exhibit.subtitle = "batch " + std::to_string(place.batch) + ", head " + std::to_string(place.head);
    exhibit.caption = caption_of(shown.scenario, attention, exhibit.subtitle);
    for (const AttentionStep which :
         {AttentionStep::pattern, AttentionStep::query, AttentionStep::key, AttentionStep::value}) {
        const Ref step = held->run->plan().step_of(attention, which);
        if (step != nullptr && !held->run->value(step->id).empty())
            exhibit.panels.push_back(lazy_panel(held, *step, place));
    }
    return exhibit;
}

Exhibit gathered_exhibit(const ShownRun& shown, const Step& step, Place place, Gathering gathering) {
    const Index heads = heads_of(step), query_heads = shown.scenario.query_heads();
    if (gathering.all_heads && heads == 0)
        throw Error("{name}: has no heads, expected a tensor such as blocks.0.attn.pattern", {{"name", step.name}});
    const auto held = std::make_shared<const ShownRun>(shown);
    const std::vector<Ref> steps = gathered_steps(*held->run, step, gathering.all_layers);
    const auto common = std::make_shared<Common>(held, steps, gathering.own_ranges);
    Exhibit exhibit;
    exhibit.title = title_of(step, gathering.all_layers);
    exhibit.subtitle = subtitle_of(step, place, gathering, steps.size());
    exhibit.caption = caption_of(shown.scenario, exhibit.title, exhibit.subtitle);
    exhibit.alike = true;
    exhibit.own_ranges = gathering.own_ranges;
    for (const Ref twin : steps) {
        const std::string layer = "layer " + std::to_string(std::max<Index>(block_number(*twin), 0));
        if (gathering.all_heads && gathering.all_layers) exhibit.row_names.push_back(layer);
        for (Index head = 0; head < (gathering.all_heads ? heads : 1); ++head) {
            const Place at = {place.batch, gathering.all_heads ? head * (query_heads / heads) : place.head};
            exhibit.panels.push_back(panel_at(held, *twin, at,
                                              gathering.all_heads ? "head " + std::to_string(head) : layer,
                                              [common, twin, at] { return common->heatmap(*twin, at); }));
        }
    }
    // A single layer's heads fill two rows if there are many.
    const auto count = static_cast<Index>(exhibit.panels.size());
    const Index side_by_side = gathering.all_layers && gathering.all_heads ? heads
                               : count > 6 && count % 2 == 0               ? count / 2
                                                                           : count;
    exhibit.columns = static_cast<std::size_t>(std::min<Index>(side_by_side, 16));
    if (exhibit.panels.size() == 1) exhibit.alike = false;
    return exhibit;
}

std::string file_name_of_model(const Scenario& scenario) {
    std::filesystem::path path = scenario.about().name;
    if (!path.has_filename()) path = path.parent_path();
    return path.filename().string();
}

namespace {

// As a shell takes it for one word.
std::string quoted(const std::string& text) {
    std::string word = "'";
    for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return word + "'";
}

}  // namespace

std::optional<std::string> arguments_of_run(const Scenario& scenario, const std::string& file) {
    if (!file.empty()) return quoted(file);
    if (is_edited(scenario) || !scenario.computes() || scenario.passes || scenario.conversation ||
        !scenario.gradient_target.empty())
        return std::nullopt;
    const Inputs& inputs = scenario.inputs;
    for (const Tensor* other : {&inputs.x, &inputs.memory, &inputs.custom_mask, &inputs.positions, &inputs.segments})
        if (!other->empty()) return std::nullopt;
    std::string arguments = quoted(scenario.about().name);
    const auto add = [&](const char* option, const char* ids_option, const Typed& sequence) {
        arguments += std::string(" ") + (sequence.ids ? ids_option : option) + " " + quoted(sequence.text);
    };
    add("--text", "--tokens", typed_of(scenario.tokenizer(), rows_of(inputs.tokens, inputs.attention_mask)));
    if (!inputs.encoder_tokens.empty())
        add("--source", "--encoder-tokens",
            typed_of(scenario.encoder_tokenizer(), rows_of(inputs.encoder_tokens, inputs.encoder_attention_mask)));
    for (const auto& [key, value] : scenario.overrides()) arguments += " --set " + quoted(key + "=" + value);
    if (scenario.dropout_seed) arguments += " --dropout-seed " + std::to_string(*scenario.dropout_seed);
    return arguments;
}

std::string caption_of(const Scenario& scenario, const std::string& what, const std::string& place) {
    const std::string pass = shown_pass(scenario) == nullptr ? "" : ", " + tr(name_of_pass(scenario));
    return file_name_of_model(scenario) + settings_of(scenario) + pass + " · " + what +
           (place.empty() ? "" : " · " + place) + " · " + edits_of(scenario);
}

}  // namespace decoderscope::core
