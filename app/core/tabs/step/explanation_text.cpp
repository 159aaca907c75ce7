#include "app/core/tabs/step/explanation_text.h"

#include "app/core/jobs/resumable.h"
#include "app/core/run/labels.h"
#include "app/core/text/numbers.h"
#include "engine/backward/gradient.h"
#include "engine/base/translate.h"
#include "engine/load/checkpoint.h"
#include "engine/load/model.h"

#include <fast_float/fast_float.h>
#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <ostream>
#include <tuple>
#include <utility>

namespace decoderscope::core::step {

namespace {

// What the file holds of a parameter's cell; nothing if the cell is no longer that: trained, or scaled.
std::optional<packed::StoredNumber> stored_at(const Scenario& scenario, const Step& parameter, const Cell& cell,
                                              double value) {
    const load::StoredParameters* all = scenario.computes() ? scenario.model()->stored.get() : nullptr;
    if (all == nullptr || parameter.role != Role::parameter || cell.size() != parameter.axes.size()) return {};
    Index number = 0;
    for (std::size_t axis = 0; axis < cell.size(); ++axis) number = number * parameter.axes[axis].size + cell[axis];
    const Index columns = cell.size() < 2 ? 1 : parameter.axes.back().size;
    const auto stored = all->at(parameter.name, number, columns);
    return stored && stored->value() == static_cast<float>(value) ? stored : std::nullopt;
}

std::string in_brackets(float number) {
    const std::string text = short_number(static_cast<double>(number));
    return number < 0.0F ? "(" + text + ")" : text;
}

using Numbers = std::vector<std::size_t>;  // of terms in a line

// The cell that a term is named by: that of its first factor that has one.
const OperandCell* leading_cell(const Term& term) {
    for (const Factor& factor : term.factors)
        if (factor.cell) return &*factor.cell;
    return nullptr;
}

// The axes along which the leading cells of an operand differ, over all lines.
std::map<std::size_t, Numbers> varying_axes(const Explanation& explanation) {
    std::map<std::size_t, Cell> first;
    std::map<std::size_t, std::vector<bool>> differs;
    for (const Line& line : explanation.lines) {
        for (const Term& term : line.terms) {
            const OperandCell* at = leading_cell(term);
            if (at == nullptr) continue;
            const Cell& seen = first.try_emplace(at->operand, at->cell).first->second;
            std::vector<bool>& axes = differs[at->operand];
            axes.resize(at->cell.size());
            for (std::size_t i = 0; i < axes.size(); ++i) axes[i] = axes[i] || at->cell[i] != seen[i];
        }
    }
    std::map<std::size_t, Numbers> varying;
    for (const auto& [operand, axes] : differs)
        for (std::size_t i = 0; i < axes.size(); ++i)
            if (axes[i]) varying[operand].push_back(i);
    return varying;
}

// The terms of a step's explanation by name.
class Names {
public:
    Names(const Scenario& scenario, const Run& run, const Step& step, const Explanation& explanation, Index batch) {
        std::map<std::size_t, Numbers> varying = varying_axes(explanation);
        for (std::size_t i = 0; i < step.operands.size(); ++i) {
            const Step& operand = run.plan()[step.operands[i]];
            tensors_.push_back(operand.name);
            places_.emplace_back(scenario, operand, std::move(varying[i]), batch);
        }
    }

    [[nodiscard]] const PlaceNames& places(std::size_t operand) const { return places_[operand]; }
    // A term's name where the first axes are known already.
    [[nodiscard]] std::string of(const Term& term, std::size_t known) const {
        const OperandCell* at = leading_cell(term);
        if (at == nullptr) return {};
        const std::string place = places_[at->operand].place(at->cell, known);
        return place.empty() ? tensors_[at->operand] : place;
    }

private:
    std::vector<std::string> tensors_;  // [operand]
    std::vector<PlaceNames> places_;    // [operand]
};

// The lists of one line's terms.
class Lists {
public:
    Lists(const Line& line, const Names& names) : line_(line), names_(names) {}

    // A list of terms, largest first. `known` axes of their leading operand are said already.
    [[nodiscard]] std::vector<TermPart> list(const Numbers& terms, std::size_t known) const {
        if (terms.size() <= kMostTerms + kFewMore) return singles(terms, known);
        const std::size_t operand = most_common_operand(terms);
        if (operand != kNoOperand && names_.places(operand).axes().size() > known + 1)
            return by_index(terms, operand, known);
        return largest_and_blocks(terms, operand, known);
    }

private:
    [[nodiscard]] TermPart single(std::size_t term, std::size_t known) const {
        return {names_.of(line_.terms[term], known), line_.terms[term].value, 1, term, {}};
    }

    [[nodiscard]] std::vector<TermPart> singles(const Numbers& terms, std::size_t known) const {
        std::vector<TermPart> parts;
        for (const std::size_t term : terms) parts.push_back(single(term, known));
        return parts;
    }

    [[nodiscard]] TermPart group(std::string name, const Numbers& terms, std::size_t known) const {
        double sum = 0.0;
        for (const std::size_t term : terms) sum += line_.terms[term].value;
        return {std::move(name), sum, terms.size(), std::nullopt, list(terms, known)};
    }

    // The operand that names most of these terms.
    [[nodiscard]] std::size_t most_common_operand(const Numbers& terms) const {
        std::map<std::size_t, std::size_t> counts;
        for (const std::size_t term : terms)
            if (const OperandCell* at = leading_cell(line_.terms[term])) ++counts[at->operand];
        const auto most = std::ranges::max_element(counts, {}, [](const auto& count) { return count.second; });
        return most == counts.end() ? kNoOperand : most->first;
    }

    // The index of a term along an axis of this operand; nothing if another operand names it.
    [[nodiscard]] std::optional<Index> index_of(std::size_t term, std::size_t operand, std::size_t rank) const {
        const OperandCell* at = leading_cell(line_.terms[term]);
        if (at == nullptr || at->operand != operand) return std::nullopt;
        return at->cell[names_.places(operand).axes()[rank]];
    }

    // One group for each index along an axis, the largest sum first.
    [[nodiscard]] std::vector<TermPart> by_index(const Numbers& terms, std::size_t operand, std::size_t rank) const {
        std::map<Index, Numbers> groups;
        std::vector<TermPart> parts;
        for (const std::size_t term : terms) {
            if (const auto index = index_of(term, operand, rank))
                groups[*index].push_back(term);
            else
                parts.push_back(single(term, 0));
        }
        for (const auto& [index, members] : groups)
            parts.push_back(group(names_.places(operand).index(rank, index), members, rank + 1));
        std::ranges::stable_sort(parts, std::greater<>(), [](const TermPart& part) { return magnitude(part.value); });
        return parts;
    }

    // The ten largest terms, and the others in blocks of neighbours.
    [[nodiscard]] std::vector<TermPart> largest_and_blocks(const Numbers& terms, std::size_t operand,
                                                           std::size_t rank) const {
        const auto tenth = terms.begin() + static_cast<std::ptrdiff_t>(kMostTerms);
        std::vector<TermPart> parts = singles({terms.begin(), tenth}, rank);
        if (operand == kNoOperand || names_.places(operand).axes().size() <= rank) {
            for (auto term = tenth; term != terms.end(); ++term) parts.push_back(single(*term, rank));
            return parts;
        }
        const Index width = block_width(terms, operand, rank);
        std::map<Index, Numbers> blocks;
        for (auto term = tenth; term != terms.end(); ++term) {
            if (const auto index = index_of(*term, operand, rank))
                blocks[*index / width].push_back(*term);
            else
                parts.push_back(single(*term, 0));
        }
        for (const auto& [block, members] : blocks)
            parts.push_back(members.size() == 1
                                ? single(members.front(), rank)
                                : group(block_name(operand, rank, block * width, width), members, rank));
        return parts;
    }

    // A power of two, so that at most eight blocks hold all terms.
    [[nodiscard]] Index block_width(const Numbers& terms, std::size_t operand, std::size_t rank) const {
        Index first = std::numeric_limits<Index>::max(), last = 0;
        for (const std::size_t term : terms) {
            if (const auto index = index_of(term, operand, rank)) {
                first = std::min(first, *index);
                last = std::max(last, *index);
            }
        }
        return static_cast<Index>(std::bit_ceil(static_cast<std::uint64_t>((last - first) / 8 + 1)));
    }

    // "d_model 16 to 31"; the last block ends where the terms do.
    [[nodiscard]] std::string block_name(std::size_t operand, std::size_t rank, Index first, Index width) const {
        Index last = 0;
        for (std::size_t term = 0; term < line_.terms.size(); ++term)
            last = std::max(last, index_of(term, operand, rank).value_or(0));
        return names_.places(operand).range(rank, first, std::min(last, first + width - 1));
    }

    static double magnitude(double value) {
        return std::isnan(value) ? std::numeric_limits<double>::infinity() : std::abs(value);
    }

    static constexpr auto kNoOperand = std::numeric_limits<std::size_t>::max();

    const Line& line_;
    const Names& names_;
};

}  // namespace

std::string stored_text(const packed::StoredNumber& stored) {
    std::string text = "(" + short_number(static_cast<double>(stored.scale)) + " · " + in_brackets(stored.number);
    if (stored.less != 0.0F) text += " − " + in_brackets(stored.less);
    return text + " = " + short_number(static_cast<double>(stored.value())) + ")";
}

void show_stored(const Scenario& scenario, const Plan& plan, const Step& step, const Cell& cell,
                 Explanation& explanation) {
    for (Line& line : explanation.lines)
        for (Term& term : line.terms)
            for (Factor& factor : term.factors) {
                if (!factor.cell || !factor.text.empty()) continue;
                const Step& operand = plan[step.operands[factor.cell->operand]];
                if (const auto stored = stored_at(scenario, operand, factor.cell->cell, factor.value))
                    factor.text = stored_text(*stored);
            }
    if (step.role != Role::parameter || step.source.empty()) return;
    const auto stored = stored_at(scenario, step, cell, static_cast<double>(step.source.at(cell)));
    if (!stored) return;
    std::vector<Term> terms = {term({constant_factor(static_cast<double>(stored->scale), ""),
                                     constant_factor(static_cast<double>(stored->number), "")})};
    if (stored->less != 0.0F) terms.push_back(term({constant_factor(static_cast<double>(-stored->less), "")}));
    explanation.lines = {line(tr("scale · stored number"), std::move(terms))};
}

std::string exact_number(float value) {
    if (!std::isfinite(value)) return short_number(static_cast<double>(value));
    char digits[48];
    const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
    std::string text(digits, end);
    for (std::size_t at = text.find('-'); at != std::string::npos; at = text.find('-', at)) text.replace(at, 1, "−");
    return text;
}

bool parse_number(std::string_view text, float& value) {
    std::string plain(text);
    for (const auto& [written, read] : {std::pair{"−", "-"}, {"∞", "inf"}}) {
        for (std::size_t at = plain.find(written); at != std::string::npos; at = plain.find(written, at))
            plain.replace(at, std::string_view(written).size(), read);
    }
    const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '+'; };
    while (!plain.empty() && blank(plain.front())) plain.erase(plain.begin());
    while (!plain.empty() && (plain.back() == ' ' || plain.back() == '\t')) plain.pop_back();
    const auto [end, error] = fast_float::from_chars(plain.data(), plain.data() + plain.size(), value);
    return error == std::errc() && end == plain.data() + plain.size() && !plain.empty();
}

std::vector<std::size_t> largest_first(const Line& line) {
    std::vector<std::size_t> order(line.terms.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto size = [&](std::size_t i) {
        const double value = std::abs(line.terms[i].value);
        return std::isnan(value) ? std::numeric_limits<double>::infinity() : value;
    };
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return size(a) > size(b); });
    return order;
}

std::string factor_text(const Factor& factor, bool first) {
    if (!factor.text.empty()) return factor.text;
    const std::string number = short_number(factor.value);
    return first || factor.value >= 0.0 || std::isnan(factor.value) ? number : "(" + number + ")";
}

std::string written_out(const Line& line, std::size_t most_terms) {
    std::string text;
    std::size_t written = 0;
    for (const std::size_t number : largest_first(line)) {
        if (written == most_terms) break;
        const Term& term = line.terms[number];
        std::string product;
        for (std::size_t i = 0; i < term.factors.size(); ++i)
            product += (i > 0 ? " · " : "") + factor_text(term.factors[i], written == 0 && i == 0);
        text += (written > 0 ? " + " : "") + product;
        ++written;
    }
    if (written < line.terms.size()) text += " + …";
    const std::string value = short_number(line.value), left = line.name.empty() ? "" : line.name + " = ";
    return left + (text.empty() || text == value ? value : text + " = " + value);
}

ReadExplanation read_explanation(const Scenario& scenario, const Run& run, const Step& step, const Cell& cell) {
    ReadExplanation read{run.explain(step.id, cell), {}};
    show_stored(scenario, run.plan(), step, cell, read.explanation);
    const bool has_batch = !step.axes.empty() && step.axes.front().name == axis::batch;
    const Names names(scenario, run, step, read.explanation, has_batch ? cell.front() : 0);
    for (const Line& line : read.explanation.lines)
        read.lines.push_back(Lists(line, names).list(largest_first(line), 0));
    return read;
}

namespace {

// "3", "0–15", "2+5": runs of indices that follow each other.
std::string indices_text(const std::vector<Index>& along) {
    std::string text;
    for (std::size_t i = 0; i < along.size();) {
        std::size_t end = i;
        while (end + 1 < along.size() && along[end + 1] == along[end] + 1) ++end;
        text += (text.empty() ? "" : "+") + std::to_string(along[i]);
        if (end > i) text += "–" + std::to_string(along[end]);
        i = end + 1;
    }
    return text;
}

}  // namespace

Value<ShownReaders> shown_readers(Derived& derived, const Snapshot& shown, const Step& step, const Cell& cell) {
    return derived.later<ShownReaders>({shown.run}, std::tie(step.id, cell), [&] {
        return in_one_slice([run = shown.run, id = step.id, cell] {
            return ShownReaders{decoderscope::sheet::readers_of(*run, run->plan()[id], cell)};
        });
    });
}

std::string reader_text(const Plan& plan, const decoderscope::sheet::Reader& reader) {
    std::string text;
    for (const std::vector<Index>& along : reader.cells) text += (text.empty() ? "" : ", ") + indices_text(along);
    return plan[reader.step].name + "[" + text + "]";
}

void write_readers(std::ostream& out, const Run& run, const Step& step, const Cell& cell) {
    const std::vector<decoderscope::sheet::Reader> readers = decoderscope::sheet::readers_of(run, step, cell);
    out << (readers.empty() ? tr("No step reads it.") : tr("Read by")) << '\n';
    for (const decoderscope::sheet::Reader& reader : readers)
        out << "  " << reader_text(run.plan(), reader) << "  " << tr(counted_numbers(reader.count)) << '\n';
}

namespace {

// The scores before a cap or a mask, from the step that they enter the softmax as.
Ref raw_scores(const Plan& plan, Ref scores) {
    for (Ref before = scores; before != nullptr && before->is_scores; before = plan.main_operand(*before))
        scores = before;
    return scores;
}

}  // namespace

std::optional<CellSlope> slope_at(const Run& run, const Step& step, const Cell& cell) {
    const Ref gradient = run.plan().gradient_wrt(step);
    if (gradient == nullptr) return std::nullopt;
    const Tensor& values = run.value(gradient->id);
    if (values.empty() || !values.contains(cell)) return std::nullopt;
    return CellSlope{gradient->name, values.at(cell)};
}

Ref scores_of_pattern(const Plan& plan, const Step& pattern) {
    const Ref scores = pattern.is_pattern ? plan.main_operand(pattern) : nullptr;
    return scores != nullptr && scores->is_scores ? raw_scores(plan, scores) : nullptr;
}

std::vector<Sentence> words_on_gradient(const Plan& plan, const Step& step, const std::string& target) {
    const Ref by = step.gradient_wrt ? &plan[*step.gradient_wrt] : nullptr;
    if (by == nullptr) return {};
    std::vector<Sentence> words = {
        message("If this cell of {step} grew a little, {target} would grow this many times as much. This is the slope "
                "at one point: switching something off is a large change, and often has another effect.",
                {{"step", by->name}, {"target", target}})};
    if (by->is_pattern)
        words.push_back(
            message("With respect to the pattern, masked cells have gradients like all others. They mean nothing, and "
                    "are hatched. The gradient with respect to the scores says which weight should grow: there masked "
                    "cells are exactly 0, and each row sums to 0."));
    else if (by->is_scores && by->mask_to_come)
        words.push_back(target == "loss"
                            ? message("Where this is negative, more weight on that key would lower the loss. Masked "
                                      "cells are exactly 0, and each row sums to 0.")
                            : message("Where this is positive, more weight on that key would raise {target}. Masked "
                                      "cells are exactly 0, and each row sums to 0.",
                                      {{"target", target}}));
    return words;
}

bool can_be_target(const Step& step) {
    return step.role != Role::input && step.operation.traits().values != Values::mask && !step.backward;
}

bool has_loss(const Run& run) { return !run.value("logits").empty() && !run.value("tokens").empty(); }

}  // namespace decoderscope::core::step
