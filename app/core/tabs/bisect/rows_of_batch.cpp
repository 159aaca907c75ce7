#include "app/core/tabs/bisect/rows_of_batch.h"

#include "engine/tensor/row_math.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

namespace decoderscope::core::bisect {

namespace {

constexpr double kNoBeam = -1e9;  // of a copy that the first step doesn't choose from

Index count(const Rows& rows) { return static_cast<Index>(rows.size()); }

Rows numbers_in(const Tensor& tokens) {
    Rows found;
    for (const float token : tokens.values()) found.push_back(static_cast<Index>(token));
    return found;
}

// Of the last position of each row; empty if a token isn't one of the vocabulary.
std::vector<std::vector<double>> last_of(const Tensor& logits, const Tensor& tokens) {
    if (logits.rank() != 3 || tokens.rank() != 2 || tokens.dim(1) != 1) return {};
    const Index words = logits.dim(2);
    if (std::ranges::any_of(tokens.values(), [&](float token) { return token < 0.0F || token >= float(words); }))
        return {};
    std::vector<std::vector<double>> found;
    for (Index row = 0; row < logits.dim(0); ++row) {
        const std::span<const float> scores(logits.data() + ((row + 1) * logits.dim(1) - 1) * words,
                                            static_cast<std::size_t>(words));
        const double all = row::log_sum_exp(scores);
        std::vector<double>& by_token = found.emplace_back();
        for (const float score : scores) by_token.push_back(static_cast<double>(score) - all);
    }
    return found;
}

}  // namespace

Rows own_rows(Index before, Index now) {
    Rows rows;
    const Index each = now % before == 0 ? now / before : 1;
    for (Index row = 0; row < now; ++row) rows.push_back(std::min(row / each, before - 1));
    return rows;
}

Tensor with_rows(const Tensor& of, const Rows& rows) {
    if (of.empty() || rows == own_rows(of.dim(0), of.dim(0))) return of;
    Axes axes = of.axes();
    axes.resize(0, count(rows));
    Tensor made(axes);
    const Index width = of.size() / of.dim(0);
    float* to = made.writable().data();
    for (const Index row : rows) to = std::copy_n(of.data() + row * width, width, to);
    return made;
}

Inputs with_rows(Inputs inputs, const Rows& rows) {
    for (const InputSlot& slot : input_slots()) {
        Tensor& tensor = inputs.*slot.member;
        if (!tensor.empty() && tensor.axes()[0].name == axis::batch) tensor = with_rows(tensor, rows);
    }
    return inputs;
}

HowRowsWentOn::HowRowsWentOn(const Inputs& begins) {
    std::map<std::vector<float>, Index> known;
    for (Index row = 0; row < begins.batch(); ++row) {
        std::vector<float> text;
        for (const Tensor* tokens : {&begins.tokens, &begins.encoder_tokens}) {
            if (tokens->empty()) continue;
            const float* first = tokens->data() + row * tokens->dim(1);
            text.insert(text.end(), first, first + tokens->dim(1));
        }
        const auto [of, is_first] = known.emplace(std::move(text), row);
        scores_.push_back(is_first ? 0.0 : kNoBeam);
        texts_.push_back(of->second);
    }
    constexpr Index kMost = 64;
    for (Index size = 2; size <= kMost; ++size) beam_sizes_.insert(size);
}

std::optional<Rows> HowRowsWentOn::told(const Tensor& logits, const Tensor& tokens, const Rows& likely) const {
    const std::vector<ByToken> by_row = last_of(logits, tokens);
    if (by_row.empty()) return std::nullopt;
    if (by_likeliest_)
        if (auto rows = likeliest(by_row, numbers_in(tokens), likely)) return rows;
    for (const Index size : beam_sizes_)
        if (auto rows = beams(by_row, numbers_in(tokens), likely, size)) return rows;
    return std::nullopt;
}

// Each token is the likeliest of a row, and no two are the same row's.
std::optional<Rows> HowRowsWentOn::likeliest(const std::vector<ByToken>& by_row, const Rows& tokens,
                                             const Rows& likely) {
    constexpr double kTie = 1e-6;
    const auto is_likeliest = [&](Index row, std::size_t at) {
        const ByToken& of = by_row[static_cast<std::size_t>(row)];
        return of[static_cast<std::size_t>(tokens[at])] >= *std::ranges::max_element(of) - kTie;
    };
    Rows rows = likely;
    std::set<Index> used;
    std::vector<std::size_t> others;
    for (std::size_t at = 0; at < tokens.size(); ++at)
        if (!is_likeliest(likely[at], at))
            others.push_back(at);
        else if (!used.insert(likely[at]).second)
            return std::nullopt;
    for (const std::size_t at : others) {
        Index row = 0;
        while (row < static_cast<Index>(by_row.size()) && (used.contains(row) || !is_likeliest(row, at))) ++row;
        if (row == static_cast<Index>(by_row.size())) return std::nullopt;
        used.insert(rows[at] = row);
    }
    return rows;
}

// What a group's rows may go on with, the best first, but for some tokens.
std::vector<HowRowsWentOn::Beam> HowRowsWentOn::best(const std::vector<ByToken>& by_row, Index group, Index rows,
                                                     Index count, const std::set<Index>& left_out) const {
    std::vector<Beam> all;
    const auto first = scores_.begin() + group * rows;
    const bool are_copies = std::all_of(first, first + rows, [](double score) { return score == kNoBeam; });
    for (Index row = group * rows; row < (group + 1) * rows; ++row) {
        const ByToken& of = by_row[static_cast<std::size_t>(row)];
        const bool begins = are_copies && row == group * rows;  // a group that is to differ from the one before it
        for (std::size_t token = 0; token < of.size(); ++token)
            if (!left_out.contains(static_cast<Index>(token)))
                all.push_back({row, static_cast<Index>(token),
                               (begins ? 0.0 : scores_[static_cast<std::size_t>(row)]) + of[token]});
    }
    const auto end = all.begin() + std::min<std::ptrdiff_t>(count, static_cast<std::ptrdiff_t>(all.size()));
    std::partial_sort(all.begin(), end, all.end(), [](const Beam& a, const Beam& b) { return a.score > b.score; });
    all.erase(end, all.end());
    return all;
}

// Each group's tokens are those of its best beams; one that a group before it has taken may be penalised (diverse beam
// search).
std::optional<Rows> HowRowsWentOn::beams(const std::vector<ByToken>& by_row, const Rows& tokens, const Rows& likely,
                                         Index size) const {
    const Index now = count(tokens), before = static_cast<Index>(by_row.size());
    if (now % size != 0 || before % (now / size) != 0) return std::nullopt;
    const Index groups = now / size;
    Rows rows = likely;
    std::set<Index> taken;
    for (Index group = 0; group < groups; ++group) {
        std::set<Index> penalised = taken;
        for (Index at = group * size; at < (group + 1) * size; ++at) {
            taken.insert(tokens[static_cast<std::size_t>(at)]);
            penalised.erase(tokens[static_cast<std::size_t>(at)]);
        }
        std::vector<Beam> left = best(by_row, group, before / groups, size, {});
        const auto is_best = [&](Index at) {
            return std::ranges::find(left, tokens[static_cast<std::size_t>(at)], &Beam::token) != left.end();
        };
        for (Index at = group * size; at < (group + 1) * size; ++at)
            if (!is_best(at)) left = best(by_row, group, before / groups, size, penalised);
        std::vector<Index> others;
        const auto take = [&](Index at, bool from_likely) {
            const auto found = std::ranges::find_if(left, [&](const Beam& beam) {
                return beam.token == tokens[static_cast<std::size_t>(at)] &&
                       (!from_likely || beam.row == likely[static_cast<std::size_t>(at)]);
            });
            if (found == left.end()) return false;
            rows[static_cast<std::size_t>(at)] = found->row;
            left.erase(found);
            return true;
        };
        for (Index at = group * size; at < (group + 1) * size; ++at)
            if (!take(at, true)) others.push_back(at);
        for (const Index at : others)
            if (!take(at, false)) return std::nullopt;
    }
    return rows;
}

bool HowRowsWentOn::are_of_one_text(const Rows& rows) const {
    const Rows own = own_rows(static_cast<Index>(texts_.size()), count(rows));
    return std::ranges::equal(rows, own, [&](Index row, Index one) {
        return texts_[static_cast<std::size_t>(row)] == texts_[static_cast<std::size_t>(one)];
    });
}

void HowRowsWentOn::go_on(const Tensor& logits, const Tensor& tokens, const Rows& rows) {
    std::vector<Index> texts;
    for (const Index row : rows) texts.push_back(texts_[static_cast<std::size_t>(row)]);
    texts_ = std::move(texts);
    const std::vector<ByToken> by_row = last_of(logits, tokens);
    if (by_row.empty()) {
        by_likeliest_ = false;
        beam_sizes_.clear();
        return;
    }
    const Rows numbers = numbers_in(tokens);
    by_likeliest_ = by_likeliest_ && likeliest(by_row, numbers, rows) == rows;
    std::erase_if(beam_sizes_, [&](Index size) { return beams(by_row, numbers, rows, size) != rows; });
    std::vector<double> scores;
    for (std::size_t at = 0; at < rows.size(); ++at) {
        const auto row = static_cast<std::size_t>(rows[at]);
        scores.push_back(scores_[row] + by_row[row][static_cast<std::size_t>(numbers[at])]);
    }
    scores_ = std::move(scores);
}

}  // namespace decoderscope::core::bisect
