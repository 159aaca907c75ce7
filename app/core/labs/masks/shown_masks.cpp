#include "app/core/labs/masks/shown_masks.h"

#include "app/core/labs/masks/mask_analysis.h"
#include "app/core/labs/step/shown_step.h"
#include "app/core/run/exhibit_step.h"
#include "app/core/run/labels.h"
#include "app/core/run/step_picture.h"
#include "engine/base/translate.h"

#include <utility>
#include <vector>

namespace decoderscope::core::masks {

namespace {

// A run with more bytes than this is searched for NaN in the background.
constexpr std::size_t kSearchedAtOnce = 20'000'000;
// How many numbers the leak test compares in a slice.
constexpr std::size_t kSlice = 1'000'000;

MaskPicture picture_of(Derived& derived, const Snapshot& shown, const Step& step, const char* title, Place place) {
    const Value<step::ShownHeatmap> made = step::shown_heatmap(derived, shown, step, place);
    MaskPicture picture{&step, made->heatmap, made->changed, step.axes.back().name == axis::key};
    picture.heatmap.title = title;
    return picture;
}

Resumable<NanTrail> search(std::shared_ptr<const Run> run, Value<NanTrail> known) {
    if (run->recorded_bytes() > kSearchedAtOnce) co_yield kPause;
    NanTrail made;
    made.run = run;
    made.steps = known ? nan_trail(*run, *known->run, known->steps) : nan_trail(*run);
    co_return made;
}

Resumable<checks::Leak> tested(std::shared_ptr<const Run> run, std::shared_ptr<const Run> changed, Index batch,
                               Index position) {
    checks::LeakTest test(std::move(run), std::move(changed), batch, position);
    while (!test.advance(kSlice)) co_yield kPause;
    co_return test.leak();
}

}  // namespace

Value<ShownMasks> shown_masks(Derived& derived, const Snapshot& shown, const std::string& attention, Place place) {
    return derived.get<ShownMasks>({shown.run, shown.unedited, shown.early}, std::tie(attention, place), [&] {
        const Config& config = shown.scenario.config();
        const Plan& plan = shown.run->plan();
        const Step& target =
            *plan.step_of(plan.attention_in(plan.blocks(StackKind::decoder).front()), AttentionStep::mask);
        const auto picture = [&](AttentionStep which, const char* title) {
            return picture_of(derived, shown, *plan.step_of(attention, which), title, place);
        };
        ShownMasks made;
        made.parts = mask_parts(shown.scenario, *shown.run, attention, place);
        made.raw = picture(AttentionStep::scores, tr("raw scores"));
        made.masked = picture(AttentionStep::masked_scores, tr("masked scores"));
        made.pattern = picture(AttentionStep::pattern, tr("pattern"));
        made.output = picture(AttentionStep::z, tr("output z"));
        made.tokens = axis_labels(shown.scenario, target, 2, place.batch);
        made.fill = fill_consequences(*shown.run, attention, place, config.nhead, config.mask_value);
        return made;
    });
}

Value<NanTrail> shown_nan_trail(Derived& derived, const std::shared_ptr<const Run>& run) {
    return derived.later<NanTrail>({run}, std::tuple<>(),
                                   [&] { return search(run, derived.latest<NanTrail>(std::tuple<>())); });
}

Value<Variation> shown_leak_variation(Derived& derived, const Scenario& scenario, const std::shared_ptr<const Run>& run,
                                      Index batch, Index position) {
    return derived.get<Variation>({run}, std::tie(batch, position),
                                  [&] { return checks::leak_variation(scenario, *run, batch, position); });
}

Value<checks::Leak> shown_leak(Derived& derived, const std::shared_ptr<const Run>& run,
                               const std::shared_ptr<const Run>& changed, Index batch, Index position) {
    return derived.later<checks::Leak>({run, changed}, std::tie(batch, position),
                                       [&] { return tested(run, changed, batch, position); });
}

namespace {

std::string place_text(Place place) {
    return "batch " + std::to_string(place.batch) + ", head " + std::to_string(place.head);
}

}  // namespace

Exhibit masks_exhibit(const ShownRun& shown, const std::string& attention, Place place) {
    const std::string where = place_text(place);
    const Plan& plan = shown.run->plan();
    const Step& combined = *plan.step_of(attention, AttentionStep::mask);
    Exhibit exhibit{.title = combined.name, .subtitle = where};
    exhibit.caption = caption_of(shown.scenario, exhibit.title, where);
    const MaskParts parts = mask_parts(shown.scenario, *shown.run, attention, place);
    std::vector<std::pair<const char*, const Heatmap*>> masks = {
        {"causal", &parts.causal}, {"padding", &parts.padding}, {"drawn", &parts.drawn}, {"combined", &parts.combined}};
    if (parts.has_window) masks.insert(masks.begin() + 1, {"window", &parts.window});
    exhibit.columns = masks.size();
    for (const auto& [name, mask] : masks) {
        Heatmap heatmap = *mask;
        // The window's quiet range is not used in exports: kept is 1 and hidden is 0.
        heatmap.scale = Scale::sequential;
        heatmap.range = {0.0F, 1.0F};
        heatmap.subtitle = where;
        exhibit.panels.push_back(panel_of(combined.name + "." + name, std::move(heatmap)));
    }
    for (const AttentionStep which :
         {AttentionStep::scores, AttentionStep::masked_scores, AttentionStep::pattern, AttentionStep::z}) {
        const Ref step = plan.step_of(attention, which);
        if (step == nullptr || shown.run->value(step->id).empty()) continue;
        exhibit.panels.push_back(panel_of(step->name, picture_of(shown.scenario, *shown.run, *step, place)));
    }
    return exhibit;
}

}  // namespace decoderscope::core::masks
