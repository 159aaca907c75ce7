#include "app/core/tabs/step/step_pixels.h"

#include "app/core/figure/heatmap_image.h"
#include "app/core/jobs/resumable.h"
#include "app/core/tabs/step/tiles.h"

#include <algorithm>
#include <memory>

namespace decoderscope::core::step {

namespace {

// So many cells are read within a frame.
constexpr Index kAtOnce = 1 << 18;

// What is needed of a heatmap to paint it.
Heatmap bare_heatmap(const Run& run, const Step& step, const Tensor& values, const Slice& slice, Range range) {
    Heatmap heatmap{.rows = slice.rows(), .columns = slice.columns(), .range = range};
    heatmap.scale = scale_of(run, step);
    heatmap.values = values_in(values, slice);
    return heatmap;
}

Resumable<Pixels> paint(std::shared_ptr<const Run> run, StepId id, PixelsWanted wanted, Index query_heads) {
    const Step& step = run->plan()[id];
    if (run->value(id).size() > kAtOnce) co_yield kPause;
    // To read all of what isn't kept would take longer than to look at it.
    const bool by_tiles = comes_by_tiles(*run, step, slice_of(step, wanted.place, query_heads));
    const Tensor values = by_tiles ? Tensor() : run->value(id).for_one_use();
    const Range range = wanted.range ? *wanted.range : by_tiles ? Range{} : picture_range(*run, step);
    const Index width = wanted.each.width, height = wanted.each.height;
    Pixels made{.colors = {}, .width = width * wanted.across, .height = height * wanted.down()};
    made.colors.resize(static_cast<std::size_t>(made.width * made.height), Rgba{0, 0, 0, 0});
    const bool alike = hidden_alike(run->plan(), step);
    std::vector<std::uint8_t> hidden;
    for (Index head = 0; head < wanted.heads; ++head) {
        Place place = wanted.place;
        if (wanted.heads > 1) place.head = head * query_heads / wanted.heads;
        const Slice slice = slice_of(step, place, query_heads);
        Heatmap heatmap;
        if (by_tiles) {
            heatmap = co_await first_rows(run, id, slice);
            if (wanted.range) heatmap.range = range;
        } else {
            heatmap = bare_heatmap(*run, step, values, slice, range);
            if (head == 0 || !alike) hidden = hidden_cells(*run, step, slice);
            heatmap.hidden = hidden;
            put_sink_beside(heatmap, *run, step, slice);
        }
        const ColorMap map = heatmap.scale == Scale::sequential ? wanted.sequential : default_map(heatmap.scale);
        const std::vector<Rgba> colors =
            reduced_colors(heatmap, {0, 0, heatmap.rows, heatmap.columns}, height, width, map, wanted.dark);
        const Index first = (head / wanted.across * height) * made.width + head % wanted.across * width;
        for (Index row = 0; row < height; ++row)
            std::copy_n(colors.begin() + row * width, width, made.colors.begin() + first + row * made.width);
        if (heatmap.rows * heatmap.columns > kAtOnce) co_yield kPause;
    }
    co_return made;
}

Resumable<ShownHeatmap> read_numbers(Snapshot shown, StepId id, Place place) {
    if (shown.run->value(id).size() > kAtOnce) co_yield kPause;
    Derived own;  // the window's may be asked by its thread alone
    co_return *shown_heatmap(own, shown, shown.run->plan()[id], place);
}

}  // namespace

Value<Pixels> shown_pixels(Derived& derived, const Snapshot& shown, const Step& step, const PixelsWanted& wanted) {
    const std::shared_ptr<const Run>& run = &shown.run_of(step) == shown.early.get() ? shown.early : shown.run;
    const StepId id = step.id;
    const PictureSize each = wanted.each;
    const Range range = wanted.range.value_or(Range{0.0F, 0.0F});
    return derived.later<Pixels>({run},
                                 std::tuple(id, each.width, each.height, wanted.heads, wanted.across, wanted.place,
                                            wanted.sequential, wanted.dark, range.low, range.high),
                                 [&] { return paint(run, id, wanted, shown.scenario.query_heads()); });
}

Value<ShownHeatmap> shown_numbers(Derived& derived, const Snapshot& shown, const Step& step, Place place) {
    const Run& run = shown.run_of(step);
    if (comes_by_tiles(run, step, slice_of(step, place, shown.scenario.query_heads()))) return {};
    return derived.later<ShownHeatmap>({shown.run, shown.unedited, shown.early}, std::tie(step.id, place), [&] {
        Snapshot runs;
        runs.scenario = shown.scenario;
        runs.run = shown.run;
        runs.unedited = shown.unedited;
        runs.early = shown.early;
        return read_numbers(std::move(runs), step.id, place);
    });
}

Origins painted_from(const Run& run, const Step& step) {
    const Ref sink = sink_beside(run, step);
    return {run.value(step.id).identity(),
            step.masked_by ? run.value(*step.masked_by).identity() : std::shared_ptr<const void>(),
            sink != nullptr ? run.value(sink->id).identity() : std::shared_ptr<const void>()};
}

}  // namespace decoderscope::core::step
