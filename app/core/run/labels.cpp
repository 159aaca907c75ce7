#include "app/core/run/labels.h"

#include "app/core/run/passes_of_text.h"
#include "app/core/text/places.h"
#include "app/core/text/token_text.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <array>
#include <utility>

namespace decoderscope::core {

std::span<const PlaceOfNorms> places_of_norms() {
    static constexpr std::array places = {
        PlaceOfNorms{NormPlacement::pre, "pre", message("Pre-Norm"), "x + f(norm(x))",
                     message("Each sublayer f reads a normalised copy. The stream x runs through untouched.")},
        PlaceOfNorms{
            NormPlacement::post, "post", message("Post-Norm"), "norm(x + f(x))",
            message("Each sublayer f reads x itself. Every sum is normalised before the next sublayer reads it.")},
        PlaceOfNorms{NormPlacement::peri, "peri", message("Peri-Norm"), "x+norm(f(norm(x)))",
                     message("Each sublayer f reads a normalised copy, and what it adds is normalised, too: no update "
                             "can outgrow the others (Gemma 2).")},
        PlaceOfNorms{NormPlacement::reordered, "reordered", message("Reordered"), "x + norm(f(x))",
                     message("Each sublayer f reads x itself. Only what it adds is normalised (OLMo 2).")}};
    return places;
}

const PlaceOfNorms& place_of_norms(NormPlacement placement) {
    const auto all = places_of_norms();
    return *std::ranges::find(all, placement, &PlaceOfNorms::placement);
}

Places first_places(const Config& config) {
    const NormPlacement own = config.placement();
    const bool another = own == NormPlacement::peri || own == NormPlacement::reordered;
    return another ? Places{own, NormPlacement::pre} : kPreAndPost;
}

namespace {

std::vector<std::string> vocabulary_labels(const tokenizer::Tokenizer& tokenizer, Index size) {
    std::vector<std::string> labels;
    labels.reserve(static_cast<std::size_t>(size));
    for (Index id = 0; id < size; ++id) labels.push_back(token_text(tokenizer, id));
    return labels;
}

// The labels of an axis; nothing if they are just its indices.
std::vector<std::string> tokens_along(const Scenario& scenario, const Step& step, std::size_t axis, Index batch) {
    std::vector<std::string> labels = axis_labels(scenario, step, axis, batch);
    for (std::size_t i = 0; i < labels.size(); ++i)
        if (labels[i] != std::to_string(i)) return labels;
    return {};
}

}  // namespace

std::string attention_beside(const Plan& plan, const Step& step) {
    return step.attention.empty() ? plan.attention_in(step.block) : step.attention;
}

Index block_number(const Step& step) { return step.is_source() ? -1 : step.layer; }

TokenSequence sequence_along(const Step& step, std::size_t axis) {
    const std::string_view name = step.axes[axis].name;
    const TokenSequence own = step.in_encoder() ? TokenSequence::source : TokenSequence::target;
    if (name == axis::src) return TokenSequence::source;
    if (name == axis::pos || name == axis::query) return own;
    if (name == axis::key) return step.part == Part::cross_attention ? TokenSequence::source : own;
    return TokenSequence::none;
}

Index positions_before(const Scenario& scenario, const Step& step, std::size_t axis) {
    const bool own = sequence_along(step, axis) == TokenSequence::target && scenario.computes() &&
                     step.axes[axis].size == scenario.inputs.pos();
    return own ? first_position(scenario) : 0;
}

namespace {

// The tokenizer of an axis: the encoder's for the source.
const tokenizer::Tokenizer& tokenizer_of(const Scenario& scenario, const Step& step, std::size_t axis) {
    const bool in_source = sequence_along(step, axis) == TokenSequence::source ||
                           (step.axes[axis].name == axis::vocab && step.in_encoder());
    return in_source ? scenario.encoder_tokenizer() : scenario.tokenizer();
}

// The ids of the tokens that an axis runs over, in this row of the batch; empty if it runs over none that are known.
std::vector<Index> ids_along(const Scenario& scenario, const Step& step, std::size_t axis, Index batch) {
    const Axis& along = step.axes[axis];
    const TokenSequence sequence = sequence_along(step, axis);
    const Tensor& tokens =
        sequence == TokenSequence::source ? scenario.inputs.encoder_tokens : text_of(scenario).tokens;
    const Index before = positions_before(scenario, step, axis);
    // What a pass was given of the cache ends where its own positions begin.
    const bool kept = step.role == Role::input && sequence == TokenSequence::target;
    const Index first = first_position(scenario);
    const bool whole = tokens.empty() || sequence == TokenSequence::source || (kept && along.size == first);
    const Index end = whole ? along.size : first + scenario.inputs.pos();
    // In [batch, pos] every row has its own tokens.
    const bool one_row = step.axes.size() != 2 || step.axes[0].name != axis::batch || step.axes[0].size == 1;
    std::vector<Index> ids;
    if (sequence == TokenSequence::none || !one_row || tokens.empty() || before + along.size != end ||
        end > tokens.dim(1) || batch >= tokens.dim(0))
        return ids;
    for (Index i = 0; i < along.size; ++i) ids.push_back(static_cast<Index>(tokens.at(Cell{batch, before + i})));
    return ids;
}

}  // namespace

std::vector<std::string> axis_labels(const Scenario& scenario, const Step& step, std::size_t axis, Index batch) {
    const Axis& along = step.axes[axis];
    const tokenizer::Tokenizer& tokenizer = tokenizer_of(scenario, step, axis);
    if (along.name == axis::vocab) return vocabulary_labels(tokenizer, along.size);
    const std::vector<Index> ids = ids_along(scenario, step, axis, batch);
    std::vector<std::string> labels;
    for (Index i = 0; i < along.size; ++i)
        labels.push_back(ids.empty() ? std::to_string(i) : token_text(tokenizer, ids[static_cast<std::size_t>(i)]));
    return labels;
}

std::vector<std::uint8_t> special_along(const Scenario& scenario, const Step& step, std::size_t axis, Index batch) {
    const tokenizer::Tokenizer& tokenizer = tokenizer_of(scenario, step, axis);
    std::vector<std::uint8_t> special;
    for (const Index id : ids_along(scenario, step, axis, batch)) special.push_back(tokenizer.is_special(id) ? 1 : 0);
    return std::ranges::find(special, 1) == special.end() ? std::vector<std::uint8_t>() : special;
}

void append_name(std::string& names, const std::string& name) {
    if (!names.empty()) names += tr(message_c("between names of a list", ", "));
    names += name;
}

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

Index batch_of(const Step& step, const Cell& cell) {
    for (std::size_t i = 0; i < step.axes.size(); ++i)
        if (step.axes[i].name == axis::batch) return cell[i];
    return 0;
}

std::string place_text(const Scenario& scenario, const Step& step, const Cell& cell) {
    std::vector<std::size_t> axes;
    for (std::size_t i = 0; i < step.axes.size(); ++i)
        if (step.axes[i].size > 1) axes.push_back(i);
    return PlaceNames(scenario, step, std::move(axes), batch_of(step, cell)).place(cell);
}

}  // namespace decoderscope::core
