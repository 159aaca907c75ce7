#include "app/core/masks/shown_masks.h"

#include "app/core/step/shown_step.h"
#include "app/core/text/labels.h"
#include "engine/translate.h"

#include <utility>

namespace decoderscope {

namespace {

// A run of more bytes is searched for NaN beside the window.
constexpr std::size_t kSearchedAtOnce = 20'000'000;
// How many numbers the leak test compares in a slice.
constexpr std::size_t kSlice = 1'000'000;

MaskPicture picture_of(Derived& derived, const Snapshot& shown, const std::string& name, const char* title,
                       Place place) {
    const Step& step = *shown.run->plan().find(name);
    const Value<ShownHeatmap> made = shown_heatmap(derived, shown, step, place);
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

Resumable<Leak> tested(std::shared_ptr<const Run> run, std::shared_ptr<const Run> changed, Index batch,
                       Index position) {
    LeakTest test(std::move(run), std::move(changed), batch, position);
    while (!test.advance(kSlice)) co_yield kPause;
    co_return test.leak();
}

}  // namespace

Value<ShownMasks> shown_masks(Derived& derived, const Snapshot& shown, const std::string& attention, Place place) {
    return derived.get<ShownMasks>({shown.run, shown.unedited, shown.early}, std::tie(attention, place), [&] {
        const Config& config = shown.scenario.config();
        const Step& target = *shown.run->plan().find("blocks.0.attn.mask");
        ShownMasks made;
        made.parts = mask_parts(shown.scenario, *shown.run, attention, place);
        made.raw = picture_of(derived, shown, attention + ".attn_scores", tr("raw scores"), place);
        made.masked = picture_of(derived, shown, attention + ".masked_scores", tr("masked scores"), place);
        made.pattern = picture_of(derived, shown, attention + ".pattern", tr("pattern"), place);
        made.output = picture_of(derived, shown, attention + ".z", tr("output z"), place);
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
                                  [&] { return leak_variation(scenario, *run, batch, position); });
}

Value<Leak> shown_leak(Derived& derived, const std::shared_ptr<const Run>& run,
                       const std::shared_ptr<const Run>& changed, Index batch, Index position) {
    return derived.later<Leak>({run, changed}, std::tie(batch, position),
                               [&] { return tested(run, changed, batch, position); });
}

}  // namespace decoderscope
