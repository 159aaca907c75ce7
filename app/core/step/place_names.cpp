#include "app/core/step/place_names.h"

#include "app/core/text/axis_words.h"
#include "app/core/text/labels.h"
#include "engine/translate.h"

#include <utility>

namespace decoderscope {

namespace {

// The labels of an axis; nothing if they are just its indices.
std::vector<std::string> tokens_along(const Scenario& scenario, const Step& step, std::size_t axis, Index batch) {
    std::vector<std::string> labels = axis_labels(scenario, step, axis, batch);
    for (std::size_t i = 0; i < labels.size(); ++i)
        if (labels[i] != std::to_string(i)) return labels;
    return {};
}

// The row of the batch that a cell is in.
Index batch_of(const Step& step, const Cell& cell) {
    for (std::size_t i = 0; i < step.axes.size(); ++i)
        if (step.axes[i].name == axis::batch) return cell[i];
    return 0;
}

}  // namespace

PlaceNames::PlaceNames(const Scenario& scenario, const Step& step, std::vector<std::size_t> axes, Index batch)
    : axes_(std::move(axes)) {
    for (const std::size_t axis : axes_) {
        names_.push_back(spoken_axis(step.axes[axis].name));
        tokens_.push_back(tokens_along(scenario, step, axis, batch));
    }
}

std::string PlaceNames::number(std::size_t rank, Index at) const {
    const auto i = static_cast<std::size_t>(at);
    return spoken_index(at, i < tokens_[rank].size() ? tokens_[rank][i] : std::string());
}

std::string PlaceNames::index(std::size_t rank, Index at) const {
    return tr("{axis} {index}", {{"axis", names_[rank]}, {"index", number(rank, at)}});
}

std::string PlaceNames::range(std::size_t rank, Index first, Index last) const {
    return tr("{axis} {first} to {last}",
              {{"axis", names_[rank]}, {"first", number(rank, first)}, {"last", number(rank, last)}});
}

std::string PlaceNames::place(const Cell& cell, std::size_t from) const {
    std::string text;
    for (std::size_t rank = from; rank < axes_.size(); ++rank) append_name(text, index(rank, cell[axes_[rank]]));
    return text;
}

std::string place_text(const Scenario& scenario, const Step& step, const Cell& cell) {
    std::vector<std::size_t> axes;
    for (std::size_t i = 0; i < step.axes.size(); ++i)
        if (step.axes[i].size > 1) axes.push_back(i);
    return PlaceNames(scenario, step, std::move(axes), batch_of(step, cell)).place(cell);
}

}  // namespace decoderscope
