#include "app/core/tabs/bisect/tensor_check.h"

#include "app/core/run/comparison.h"
#include "app/core/run/labels.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>

namespace decoderscope::core::bisect {

namespace {

// A score so low that it has no weight beside any other that is computed.
constexpr float kHidden = -1e3F;

double magnitude(float value) { return std::isfinite(value) ? std::abs(static_cast<double>(value)) : 0.0; }

// The largest finite magnitude of what counts.
double scale_of(const Tensor& ours, const Tensor& theirs, const Tensor& kept) {
    double scale = 0.0;
    for (std::size_t i = 0; i < ours.values().size(); ++i)
        if (kept.empty() || kept.values()[i] != 0.0F)
            scale = std::max({scale, magnitude(ours.values()[i]), magnitude(theirs.values()[i])});
    return scale;
}

void note(TensorCheck& check, const trace::LaidOut& both, std::size_t at, double distance) {
    if (distance <= check.largest) return;
    check.largest = distance;
    check.cell = both.ours.cell(static_cast<Index>(at));
    check.our_value = both.ours.values()[at];
    check.their_value = both.theirs.values()[at];
}

void judge(TensorCheck& check, double scale, double tolerance) {
    if (check.largest == 0.0) return;
    check.relative = std::isinf(check.largest) ? check.largest : check.largest / std::max(scale, 1e-30);
    check.differs = check.relative > tolerance;
}

// Number by number. Hidden scores are relative to the fill, because a fill of −1e9 would dwarf all others.
void check_exactly(TensorCheck& check, const trace::LaidOut& both, const Tensor& kept, double tolerance) {
    const double scale = scale_of(both.ours, both.theirs, kept);
    for (std::size_t i = 0; i < both.ours.values().size(); ++i) {
        const float ours = both.ours.values()[i], theirs = both.theirs.values()[i];
        const double distance = distance_between(ours, theirs);
        const bool hidden = !kept.empty() && kept.values()[i] == 0.0F;
        const double fill = std::max(magnitude(ours), magnitude(theirs));
        if (hidden && distance <= tolerance * fill) continue;
        note(check, both, i, distance);
    }
    judge(check, scale, tolerance);
}

// As the softmax sees them: what is hidden has no weight, whatever it was filled with, and a number that is added to a
// whole row makes no difference.
void check_as_softmax(TensorCheck& check, const trace::LaidOut& both, const Tensor& kept, double tolerance) {
    const auto ours = both.ours.values(), theirs = both.theirs.values();
    const auto width = static_cast<std::size_t>(both.ours.axes().back().size);
    const double scale = scale_of(both.ours, both.ours, kept);
    const auto hidden = [&](float value) { return value <= kHidden && static_cast<double>(value) < -10.0 * scale; };
    // Our number, not the mask, says whether a cell is hidden: a mistake may leave the mask unused.
    const auto is_kept = [&](std::size_t i) { return !hidden(ours[i]) && !std::isnan(ours[i]); };
    for (std::size_t row = 0; row < ours.size(); row += width) {
        std::vector<double> shifts;
        for (std::size_t i = row; i < row + width; ++i)
            if (is_kept(i) && !hidden(theirs[i])) shifts.push_back(static_cast<double>(theirs[i] - ours[i]));
        const double shift = median(shifts);
        for (std::size_t i = row; i < row + width; ++i) {
            const bool shown = !hidden(theirs[i]) && !std::isnan(theirs[i]);
            if (is_kept(i) != shown)
                note(check, both, i, std::numeric_limits<double>::infinity());
            else if (shown)
                note(check, both, i, std::abs(static_cast<double>(theirs[i] - ours[i]) - shift));
        }
    }
    judge(check, scale, tolerance);
}

void check_up_to_factor(TensorCheck& check, const trace::LaidOut& both, double tolerance) {
    check_exactly(check, both, {}, tolerance);
    const double factor = factor_between(both);
    if (!check.differs || !(factor > 0.0) || !std::isfinite(factor)) return;
    trace::LaidOut scaled = both;
    for (float& value : scaled.ours.writable()) value = static_cast<float>(static_cast<double>(value) * factor);
    TensorCheck again;
    check_exactly(again, scaled, {}, tolerance);
    if (again.differs) return;
    check.factor = factor;
    check.differs = false;
    check.largest = again.largest / factor;
    check.relative = again.relative;
}

constexpr std::size_t kTerms = 4;

std::string text_of(const Factor& factor, const Plan& plan, const Step& step) {
    const std::string number = factor.text.empty() ? short_number(factor.value) : factor.text;
    if (!factor.cell || factor.cell->operand >= step.operands.size()) return number;
    return cell_name(plan[step.operands[factor.cell->operand]].name, factor.cell->cell) + " " + number;
}

std::string text_of(const Term& term, const Plan& plan, const Step& step) {
    std::string text;
    for (const Factor& factor : term.factors) text += (text.empty() ? "" : " · ") + text_of(factor, plan, step);
    return text;
}

std::string text_of(const Line& line, const Plan& plan, const Step& step) {
    std::vector<const Term*> terms;
    for (const Term& term : line.terms) terms.push_back(&term);
    std::ranges::stable_sort(terms,
                             [](const Term* a, const Term* b) { return std::abs(a->value) > std::abs(b->value); });
    std::string text = line.name + " = " + short_number(line.value) + " = ";
    for (std::size_t i = 0; i < std::min(terms.size(), kTerms); ++i)
        text += (i == 0 ? "" : " + ") + text_of(*terms[i], plan, step);
    if (terms.size() > kTerms) text += " + … (" + std::to_string(terms.size()) + ")";
    return text;
}

}  // namespace

Tensor before_text(const Plan& plan, const Step& step) {
    const Ref padding = plan.find("attention_mask");
    const Axes& axes = step.axes;
    if (padding == nullptr || step.in_encoder() || step.backward || axes.size() < 3) return {};
    const std::size_t rows = axes.size() == 4 && axes[1].name == axis::head ? 2 : 1;
    const Index batch = axes[0].size, positions = axes[rows].size;
    const Tensor& mask = padding->source;
    if (mask.rank() != 2 || mask.dim(0) != batch || mask.dim(1) != positions) return {};
    std::vector<Index> first;  // position of the text, by batch
    for (Index b = 0; b < batch; ++b) {
        const auto row =
            mask.values().subspan(static_cast<std::size_t>(b * positions), static_cast<std::size_t>(positions));
        first.push_back(std::ranges::find_if(row, [](float kept) { return kept != 0.0F; }) - row.begin());
    }
    const auto is_one = [&](Index at) { return std::ranges::all_of(first, [=](Index one) { return one == at; }); };
    if (is_one(0) || is_one(positions)) return {};  // or there is no text
    Tensor before(axes);
    Index width = 1, at = 0;
    for (std::size_t i = rows + 1; i < axes.size(); ++i) width *= axes[i].size;
    const Index of_batch = before.size() / batch;
    for (float& flag : before.writable()) {
        flag = at / width % positions < first[static_cast<std::size_t>(at / of_batch)] ? 1.0F : 0.0F;
        ++at;
    }
    return before;
}

bool may_be_written_otherwise(const trace::Match& match, const Step& step) {
    const bool literally = match.basis == trace::Basis::name && match.strictness == trace::Strictness::exact;
    return !literally && !step.attention.empty() &&
           (step.meaning == Meaning::query || step.meaning == Meaning::key || step.is_scores);
}

double factor_between(const trace::LaidOut& both, const Tensor& counts) {
    double product = 0.0, square = 0.0;
    for (std::size_t i = 0; i < both.ours.values().size(); ++i) {
        if (!counts.empty() && counts.values()[i] == 0.0F) continue;
        const auto ours = static_cast<double>(both.ours.values()[i]);
        product += ours * static_cast<double>(both.theirs.values()[i]);
        square += ours * ours;
    }
    return square > 0.0 ? product / square : 1.0;
}

std::optional<StepId> mask_of_scores(const Step& step) {
    const bool masked = step.masked_by && *step.masked_by != step.id && step.is_scores;
    return masked ? step.masked_by : std::nullopt;
}

TensorCheck check_tensor(const Run& run, StepId step, const Tensor& ours, const trace::Match& match,
                         const trace::TraceTensor& theirs, double tolerance) {
    const std::optional<StepId> mask = mask_of_scores(run.plan()[step]);
    return check_tensor(run.plan(), run.plan()[step], ours, mask ? run.value(*mask) : Tensor(), match, theirs,
                        tolerance);
}

TensorCheck check_tensor(const Plan& plan, const Step& step, const Tensor& ours, const Tensor& mask,
                         const trace::Match& match, const trace::TraceTensor& theirs, double tolerance) {
    TensorCheck check = {.match = match, .ours = step.name, .theirs = theirs.name};
    if (ours.empty()) {
        check.is_computed = false;
        return check;
    }
    auto both = trace::laid_out(ours, theirs.values, match.placed);
    if (!both) {
        check.other_shape = check.differs = true;
        check.largest = check.relative = std::numeric_limits<double>::infinity();
        return check;
    }
    if (const Tensor before = before_text(plan, step); !before.empty()) {
        const Tensor flags = trace::laid_out(before, theirs.values, match.placed)->ours;
        const std::span<float> here = both->ours.writable(), there = both->theirs.writable();
        for (std::size_t i = 0; i < here.size(); ++i)
            if (flags.values()[i] != 0.0F) here[i] = there[i] = 0.0F;
    }
    const auto kept = mask.empty() ? std::nullopt : trace::laid_out(mask, theirs.values, match.placed);
    const Tensor keeps = kept ? kept->ours : Tensor();
    if (match.strictness == trace::Strictness::as_softmax)
        check_as_softmax(check, *both, keeps, tolerance);
    else if (match.strictness == trace::Strictness::up_to_factor)
        check_up_to_factor(check, *both, tolerance);
    else
        check_exactly(check, *both, keeps, tolerance);
    if (match.placed.head >= 0 && check.cell.size() == 4) check.cell[1] = match.placed.head;
    if (match.placed.last_rows && check.cell.size() == 3) check.cell[1] += ours.dim(1) - both->ours.dim(1);
    return check;
}

std::vector<std::string> explanation_lines(const Run& run, const std::string& name, const Cell& cell) {
    const Ref step = run.plan().find(name);
    if (step == nullptr || run.value(step->id).empty() || !run.value(step->id).contains(cell)) return {};
    std::vector<std::string> lines;
    for (const Line& line : run.explain(step->id, cell).lines) lines.push_back(text_of(line, run.plan(), *step));
    return lines;
}

std::vector<std::string> operand_names(const Plan& plan, const std::string& name) {
    std::vector<std::string> names;
    if (const Ref step = plan.find(name))
        for (const StepId operand : step->operands) names.push_back(plan[operand].name);
    return names;
}

}  // namespace decoderscope::core::bisect
