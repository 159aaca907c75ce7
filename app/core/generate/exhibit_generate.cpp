#include "app/core/generate/exhibit_generate.h"
#include "app/core/generate/generation.h"
#include "app/core/generate/logit_lens.h"
#include "app/core/step/exhibit_step.h"
#include "app/core/text/numbers.h"
#include "app/core/text/token_text.h"
#include "engine/translate.h"

#include <algorithm>
#include <limits>

namespace decoderscope {
namespace {

constexpr std::size_t most_candidates = 24;

std::string piece_of(const Scenario& scenario, Index token) { return token_text(scenario.model()->tokenizer, token); }

// The tokens at the positions of a row.
std::vector<std::string> row_labels_of(const Scenario& scenario, Index row, Index length) {
    std::vector<std::string> labels;
    for (Index i = 0; i < length; ++i) {
        const Cell cell = {row, i};
        labels.push_back(piece_of(scenario, static_cast<Index>(scenario.inputs.tokens.at(cell))));
    }
    return labels;
}

}  // namespace

std::optional<Exhibit> next_token_exhibit(const ShownRun& shown, Index row, const Sampling& sampling) {
    const std::optional<NextToken> next = next_token(shown.scenario, *shown.run, row, sampling);
    if (!next) return std::nullopt;
    Heatmap heatmap{.title = tr("next token"), .subtitle = "batch " + std::to_string(row)};
    heatmap.row_axis = "token";
    heatmap.column_axis = "probability";
    heatmap.column_labels = {tr("model"), tr("drawn with")};
    heatmap.columns = 2;
    heatmap.scale = Scale::sequential;
    heatmap.range = {0.0F, 1.0F};
    for (const Candidate& candidate : next->candidates) {
        if (heatmap.row_labels.size() == most_candidates) break;
        heatmap.row_labels.push_back(piece_of(shown.scenario, candidate.token));
        heatmap.values.push_back(static_cast<float>(candidate.before));
        heatmap.values.push_back(static_cast<float>(candidate.after));
    }
    heatmap.rows = static_cast<Index>(heatmap.row_labels.size());
    Exhibit exhibit;
    exhibit.caption = caption_of(shown.scenario, tr("next token"), heatmap.subtitle) + " · " +
                      tr("temperature {temperature}", {{"temperature", short_number_text(sampling.temperature, 3)}});
    if (sampling.top_k > 0) exhibit.caption += ", top-k " + std::to_string(sampling.top_k);
    if (sampling.top_p < 1.0) exhibit.caption += ", top-p " + short_number_text(sampling.top_p, 3);
    exhibit.caption += ", " + tr("the {shown} most probable of {all} tokens",
                                 {{"shown", heatmap.rows}, {"all", next->candidates.size()}});
    exhibit.panels = {panel_of("next_token", std::move(heatmap))};
    return exhibit;
}

Exhibit cache_exhibit(const ShownRun& shown, Index layer, Place place) {
    const std::string attention = "blocks." + std::to_string(layer) + ".attn";
    Exhibit exhibit{.title = tr("{attention}: KV cache", {{"attention", attention}})};
    for (const char* name : {".k", ".v"}) {
        const Ref step = shown.run->plan().find(attention + name);
        if (step == nullptr || shown.run->value(step->id).empty()) continue;
        Heatmap heatmap = heatmap_of(shown.scenario, *shown.run, *step, place);
        exhibit.subtitle = heatmap.subtitle;
        exhibit.panels.push_back(panel_of(step->name, std::move(heatmap)));
    }
    exhibit.caption =
        caption_of(shown.scenario, tr("{attention}: k and v as the cache keeps them", {{"attention", attention}}),
                   exhibit.subtitle);
    return exhibit;
}

Exhibit lens_exhibit(const ShownRun& shown, const std::shared_ptr<const Run>& lens, Index row) {
    const Index length = row_length(shown.scenario.inputs, row);
    LensReading reading(lens, row, length);
    reading.advance(std::numeric_limits<Index>::max());
    Heatmap heatmap{.title = tr("logit lens"), .subtitle = "batch " + std::to_string(row)};
    heatmap.row_axis = "after";
    heatmap.column_axis = "pos";
    heatmap.column_labels = row_labels_of(shown.scenario, row, length);
    heatmap.columns = length;
    heatmap.scale = Scale::sequential;
    heatmap.range = {0.0F, 1.0F};
    for (const LensTable::Row& at : reading.table().rows) {
        heatmap.row_labels.push_back(at.at);
        for (const LensCell& cell : at.cells) {
            const bool known = !cell.top.empty();
            heatmap.values.push_back(known ? cell.top.front().second : std::numeric_limits<float>::quiet_NaN());
            heatmap.texts.push_back(known ? piece_of(shown.scenario, cell.top.front().first) : "NaN");
        }
    }
    heatmap.rows = static_cast<Index>(heatmap.row_labels.size());
    Exhibit exhibit;
    exhibit.caption = caption_of(shown.scenario, tr("logit lens"), heatmap.subtitle) + " · " +
                      tr("in each cell the token that the layer would say next, coloured by its probability");
    exhibit.panels = {panel_of("logit_lens", std::move(heatmap))};
    return exhibit;
}

}  // namespace decoderscope
