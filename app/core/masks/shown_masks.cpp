#include "app/core/masks/shown_masks.h"

#include "app/core/step/shown_step.h"
#include "app/core/text/labels.h"

namespace decoderscope {

namespace {

// A run of more bytes is searched for NaN on a thread of its own.
constexpr std::size_t kSearchedAtOnce = 20'000'000;
// How many numbers the leak test compares in a frame.
constexpr std::size_t kComparedInAFrame = 1'000'000;

MaskPicture picture_of(Derived& derived, const Snapshot& shown, const std::string& name, const char* title,
                       Place place) {
    const Step& step = *shown.run->plan().find(name);
    const Value<ShownHeatmap> made = shown_heatmap(derived, shown, step, place);
    MaskPicture picture{&step, made->heatmap, made->changed, step.axes.back().name == axis::key};
    picture.heatmap.title = title;
    return picture;
}

}  // namespace

Value<ShownMasks> shown_masks(Derived& derived, const Snapshot& shown, const std::string& attention, Place place) {
    return derived.get<ShownMasks>({shown.run, shown.unedited, shown.early}, std::tie(attention, place), [&] {
        const Config config = shown.scenario.config();
        const Step& target = *shown.run->plan().find("blocks.0.attn.mask");
        ShownMasks made;
        made.parts = mask_parts(shown.scenario, *shown.run, attention, place);
        made.raw = picture_of(derived, shown, attention + ".attn_scores", "raw scores", place);
        made.masked = picture_of(derived, shown, attention + ".masked_scores", "masked scores", place);
        made.pattern = picture_of(derived, shown, attention + ".pattern", "pattern", place);
        made.output = picture_of(derived, shown, attention + ".z", "output z", place);
        made.tokens = axis_labels(shown.scenario, target, 2, place.batch);
        made.fill = fill_consequences(*shown.run, attention, place, config.nhead, config.mask_value);
        return made;
    });
}

Value<NanTrail> shown_nan_trail(Derived& derived, const std::shared_ptr<const Run>& run) {
    return derived.later<NanTrail>({run}, std::tuple<>(), [&] {
        const auto search = [run, known = derived.latest<NanTrail>(std::tuple<>())] {
            return NanTrail{run, known ? nan_trail(*run, *known->run, known->steps) : nan_trail(*run)};
        };
        return made_beside<NanTrail>(run->recorded_bytes() <= kSearchedAtOnce, search);
    });
}

Value<Variation> shown_leak_variation(Derived& derived, const Scenario& scenario, const std::shared_ptr<const Run>& run,
                                      Index batch, Index position) {
    return derived.get<Variation>({run}, std::tie(batch, position),
                                  [&] { return leak_variation(scenario, *run, batch, position); });
}

Value<Leak> shown_leak(Derived& derived, const std::shared_ptr<const Run>& run,
                       const std::shared_ptr<const Run>& changed, Index batch, Index position) {
    return derived.later<Leak>({run, changed}, std::tie(batch, position), [&] {
        return made_in_slices<Leak>(std::make_unique<LeakTest>(run, changed, batch, position), kComparedInAFrame,
                                    [](const LeakTest& test) { return test.leak(); });
    });
}

}  // namespace decoderscope
