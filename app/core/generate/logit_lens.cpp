#include "app/core/generate/logit_lens.h"

#include <algorithm>
#include <cmath>

namespace decoderscope::core::generate {

namespace {

constexpr std::size_t kShown = 5;

LensCell most_probable(std::span<const float> probabilities) {
    LensCell cell;
    for (std::size_t i = 0; i < probabilities.size(); ++i) {
        const float p = probabilities[i];
        if (std::isnan(p)) return {};
        if (cell.top.size() == kShown && p <= cell.top.back().second) continue;
        const auto place = std::find_if(cell.top.begin(), cell.top.end(), [&](const auto& t) { return p > t.second; });
        cell.top.emplace(place, static_cast<Index>(i), p);
        if (cell.top.size() > kShown) cell.top.pop_back();
    }
    return cell;
}

std::size_t settled_at(const LensTable& table, std::size_t position) {
    const LensCell& final_cell = table.rows.back().cells[position];
    std::size_t row = table.rows.size() - 1;
    while (row > 0 && table.rows[row - 1].cells[position].agrees_with(final_cell)) --row;
    return row;
}

}  // namespace

LensReading::LensReading(std::shared_ptr<const Run> run, Index row, Index length)
    : run_(std::move(run)), row_(row), length_(length) {
    for (const Step& step : run_->plan().steps()) {
        if (step.lens.empty() || !step.operation.traits().sums_to_one) continue;
        probabilities_.push_back(&step);
        table_.rows.push_back({step.lens, {}});
    }
}

bool LensReading::advance(Index numbers) {
    const Index cells = static_cast<Index>(probabilities_.size()) * length_;
    for (Index read = 0; next_ < cells && read < numbers; ++next_) {
        const auto at = static_cast<std::size_t>(next_ / length_);
        const Tensor& probs = run_->value(probabilities_[at]->id);  // [batch, pos, vocab]
        table_.rows[at].cells.push_back(most_probable(probs.row({row_, next_ % length_, 0})));
        read += probs.dim(2);
    }
    if (next_ < cells) return false;
    if (table_.settled.empty() && !table_.rows.empty())
        for (Index position = 0; position < length_; ++position)
            table_.settled.push_back(settled_at(table_, static_cast<std::size_t>(position)));
    return true;
}

}  // namespace decoderscope::core::generate
