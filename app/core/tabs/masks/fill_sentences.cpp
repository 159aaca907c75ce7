#include "app/core/tabs/masks/fill_sentences.h"

#include "engine/base/translate.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace decoderscope::core::masks {

std::string weight_sentence(const FillConsequences& fill) {
    if (fill.masked == 0) return tr("No cell is masked");
    const Arguments cells = {{"masked", fill.masked},
                             {"cells", fill.cells},
                             {"query", fill.leakiest_query},
                             {"weight", measured_text(fill.largest_leak)}};
    if (fill.leakiest_query >= 0)
        return tr(message("{masked} of {cells} cells masked; query {query} gives them {weight}", cells));
    return tr(fill.empty_rows.empty()
                  ? message("{masked} of {cells} cells masked; their weight is 0", cells)
                  : message("{masked} of {cells} cells masked; weight 0 in rows with a key left", cells));
}

std::string leaks_by_row(const FillConsequences& fill) {
    std::string text = tr("The weight on masked keys, summed over a row.");
    for (std::size_t query = 0; query < fill.leaks.size(); ++query)
        if (fill.leaks[query] > 0.0F)
            text +=
                " " + tr("Query {query}: {number}.", {{"query", query}, {"number", measured_text(fill.leaks[query])}});
    return text;
}

std::string below_sentence(const FillConsequences& fill) {
    if (!std::isfinite(fill.fill)) return tr("No score can be below −∞");
    if (std::isinf(fill.lowest_kept)) return tr("No score is kept");
    if (fill.below.empty())
        return tr("Lowest kept score {score}: above the fill {fill}",
                  {{"score", measured_text(fill.lowest_kept)}, {"fill", measured_text(fill.fill)}});
    const auto [query, key] = fill.below.front();
    return tr_n("{count} kept score at or below the fill: query {query}, key {key}",
                "{count} kept scores at or below the fill, first query {query}, key {key}", fill.below.size(),
                {{"query", query}, {"key", key}});
}

std::string empty_sentence(const FillConsequences& fill) {
    if (fill.empty_rows.empty()) return tr("Every query sees at least one key");
    const EmptyRow& row = fill.empty_rows.front();
    const std::size_t rows = fill.empty_rows.size();
    std::string some;
    for (std::size_t i = 0; i < std::min<std::size_t>(rows, 3); ++i)
        some += (i == 0 ? "" : ", ") + std::to_string(fill.empty_rows[i].query);
    if (rows > 3) some += " …";
    const Sentence weights = row.nan ? message("0/0 = NaN")
                             : row.least == row.most
                                 ? message("each weighs {weight}", {{"weight", measured_text(row.most)}})
                                 : message("keys weigh {least} to {most}",
                                           {{"least", measured_text(row.least)}, {"most", measured_text(row.most)}});
    return tr_n("Query {queries} sees no key: {weights}", "Queries {queries} see no key: {weights}", rows,
                {{"queries", some}, {"weights", weights}});
}

}  // namespace decoderscope::core::masks
