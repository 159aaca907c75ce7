#include "app/core/diff/exhibit_diff.h"
#include "app/core/step/exhibit_step.h"
#include "engine/translate.h"

namespace decoderscope {

std::optional<Exhibit> difference_exhibit(const ShownRun& shown, const ReferenceRun& other, const Step& step,
                                          Place place, double tolerance) {
    const Tensor* there = other.find(step.name);
    const Tensor& here = shown.run->value(step.id);
    if (there == nullptr || here.empty() || there->empty() || there->rank() != here.rank()) return std::nullopt;
    for (std::size_t i = 0; i < here.rank(); ++i)
        if (there->dim(i) != here.dim(i)) return std::nullopt;
    DifferencePictures pictures =
        difference_pictures(shown.scenario, *shown.run, step, place, *there, other.run.get(), tolerance);
    Exhibit exhibit{.title = step.name, .subtitle = tr("A: this run; B: {label}; A − B", {{"label", other.label}})};
    exhibit.caption =
        tr("{caption} · compared with {label}",
           {{"caption", caption_of(shown.scenario, step.name, pictures.a.subtitle)}, {"label", other.label}});
    exhibit.columns = 3;
    const auto add = [&](const char* which, const char* text, Heatmap heatmap) {
        heatmap.subtitle += (heatmap.subtitle.empty() ? "" : ", ") + std::string(text);
        exhibit.panels.push_back(panel_of(step.name + which, std::move(heatmap)));
    };
    add(".a", "A", std::move(pictures.a));
    add(".b", "B", std::move(pictures.b));
    add(".difference", "A − B", std::move(pictures.difference));
    return exhibit;
}

}  // namespace decoderscope
