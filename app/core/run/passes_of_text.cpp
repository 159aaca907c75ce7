#include "app/core/run/passes_of_text.h"

#include "app/core/run/edits.h"
#include "engine/base/error.h"
#include "engine/graph/mixture.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

namespace decoderscope::core {

namespace {

std::shared_ptr<const Plan> planned(const Scenario& scenario, const Inputs& inputs, const std::vector<Edit>& edits,
                                    const decoder::Past* past) {
    const Config& config = scenario.config();
    decoder::PassRequest request{config, &scenario.weights(), inputs, edits, scenario.dropout_seed};
    request.past = past;
    request.mutation = mutation_of(scenario);
    return decoder::plan_decoder(request);
}

// Where an edit's cells are in the tensors of a part's plan; nothing if they are not there.
struct Mover {
    const Plan& plan;
    const InputsPart& part;

    // An index along one axis. Rows of k and v, and keys, are counted from the first position; queries and all other
    // tensors have only the new positions, counted from the part's first.
    [[nodiscard]] std::optional<Index> moved(const Step& step, std::size_t axis, Index index) const {
        const Axis& along = step.axes[axis];
        const bool computed = step.role != Role::parameter && !step.in_encoder();
        const bool counts_new = along.name == axis::query || (along.name == axis::pos && along.size == part.count);
        if (along.name == axis::batch && part.row) {
            if (index != *part.row) return std::nullopt;
            index = 0;
        }
        if (computed && counts_new) index -= part.first;
        if (index < 0 || index >= along.size) return std::nullopt;
        return index;
    }

    // As above, for an index that may be "*".
    [[nodiscard]] bool move(const Step& step, std::size_t axis, std::optional<Index>& index) const {
        if (!index) return true;
        index = moved(step, axis, *index);
        return index.has_value();
    }

    std::optional<Edit> operator()(MaskEdit edit) const {
        const Ref mask = plan.step_of(edit.attention, AttentionStep::mask);
        const bool inside = mask != nullptr && move(*mask, 0, edit.batch) && move(*mask, 1, edit.head) &&
                            move(*mask, 2, edit.query) && move(*mask, 3, edit.key);
        return inside ? std::optional<Edit>(edit) : std::nullopt;
    }

    std::optional<Edit> operator()(const ScaleHead& edit) const {
        return plan.step_of(edit.attention, AttentionStep::z) != nullptr ? std::optional<Edit>(edit) : std::nullopt;
    }

    std::optional<Edit> operator()(RouteExpert edit) const {
        const std::optional<MixtureSteps> mixture = mixture_called(plan, edit.mlp);
        const bool inside = mixture && move(*mixture->scores, 0, edit.batch) && move(*mixture->scores, 1, edit.pos);
        return inside ? std::optional<Edit>(edit) : std::nullopt;
    }

    std::optional<Edit> operator()(const RewriteStep& edit) const { return edit; }
    // Nothing that is generated depends on a row.
    std::optional<Edit> operator()(const AddRow&) const { return std::nullopt; }

    std::optional<Edit> operator()(SetCell edit) const {
        const Ref step = plan.find(edit.tensor);
        if (step == nullptr || step->axes.size() != edit.index.size()) return std::nullopt;
        for (std::size_t axis = 0; axis < edit.index.size(); ++axis) {
            const std::optional<Index> index = moved(*step, axis, edit.index[axis]);
            if (!index) return std::nullopt;
            edit.index[axis] = *index;
        }
        return edit;
    }
};

// With and without edits, and in another setting, a few passes back.
constexpr std::size_t kMostKnown = 24;

bool same_inputs(const Inputs& a, const Inputs& b) {
    return std::ranges::all_of(input_slots(), [&](const InputSlot& slot) {
        const Tensor &one = a.*slot.member, &other = b.*slot.member;
        return one.empty() == other.empty() && (one.empty() || one.shares_values_with(other));
    });
}

// Whether the passes of both compute alike, but for their edits.
bool compute_alike(const Scenario& a, const Scenario& b) {
    return a.same_model(b) && a.dropout_seed == b.dropout_seed && a.mutation == b.mutation &&
           a.passes->sizes == b.passes->sizes && same_inputs(a.passes->text, b.passes->text);
}

// These edits, with those rows in place of their own.
std::vector<Edit> with_rows(std::vector<Edit> edits, const std::vector<Edit>& rows) {
    std::erase_if(edits, [](const Edit& edit) { return !changes_the_pass(edit); });
    replace_edits(edits, rows);
    return edits;
}

// The whole text's edits as each pass has them now, in place of those that it had of them before.
void distribute(Scenario& whole) {
    TextInPasses& passes = *whole.passes;
    Scenario before = whole;
    before.edits = passes.text_edits;
    Scenario one = whole;
    for (std::size_t i = 0; i < passes.sizes.size(); ++i) {
        one.passes->shown = i;
        const std::shared_ptr<const decoder::Past> past = past_of(one);
        const InputsPart part = part_of_pass(passes, i);
        const std::vector<Edit> gone = edits_of_part(before, part, past.get());
        std::vector<Edit>& edits = passes.edits[i];
        std::vector<Edit> all = edits_of_part(whole, part, past.get());
        std::erase_if(edits, [&](const Edit& edit) { return std::ranges::find(gone, edit) != gone.end(); });
        replace_edits(all, edits);
        edits = std::move(all);
        one.passes->edits[i] = edits;
    }
    passes.text_edits = whole.edits;
}

}  // namespace

std::vector<Edit> edits_of_part(const Scenario& scenario, const InputsPart& part, const decoder::Past* past) {
    if (scenario.edits.empty()) return {};
    const bool is_part = scenario.inputs.pos() == part.count && !part.row;
    const auto plan = planned(scenario, is_part ? scenario.inputs : part_of(scenario.inputs, part), {}, past);
    std::vector<Edit> edits;
    for (const Edit& edit : scenario.edits)
        if (std::optional<Edit> moved = std::visit(Mover{*plan, part}, edit)) edits.push_back(std::move(*moved));
    return edits;
}

std::shared_ptr<const Plan> plan_of_part(const Scenario& scenario, const InputsPart& part, const decoder::Past* past) {
    return planned(scenario, part_of(scenario.inputs, part), edits_of_part(scenario, part, past), past);
}

const TextInPasses* shown_pass(const Scenario& scenario) {
    return scenario.passes && scenario.passes->shown ? &*scenario.passes : nullptr;
}

InputsPart part_of_pass(const TextInPasses& passes, std::size_t pass) {
    const auto own = passes.sizes.begin() + static_cast<std::ptrdiff_t>(pass);
    return {std::accumulate(passes.sizes.begin(), own, Index{0}), *own};
}

const TextInPasses* passes_of(const Scenario& scenario) {
    const bool of_this_text = scenario.passes && same_inputs(scenario.passes->text, text_of(scenario));
    return of_this_text ? &*scenario.passes : nullptr;
}

const Inputs& text_of(const Scenario& scenario) {
    const TextInPasses* passes = shown_pass(scenario);
    return passes == nullptr ? scenario.inputs : passes->text;
}

Index first_position(const Scenario& scenario) {
    const TextInPasses* passes = shown_pass(scenario);
    return passes == nullptr ? 0 : part_of_pass(*passes, *passes->shown).first;
}

Sentence name_of_pass(const Scenario& scenario) {
    const TextInPasses& passes = *scenario.passes;
    const InputsPart part = part_of_pass(passes, *passes.shown);
    const Arguments where = {{"pass", *passes.shown}, {"first", part.first}, {"end", part.first + part.count - 1}};
    return part.count == 1 ? message("pass {pass}, position {first}", where)
                           : message("pass {pass}, positions {first} to {end}", where);
}

std::vector<Index> sizes_of_passes(std::vector<Index> sizes, Index length) {
    Index left = length;
    for (const Index size : sizes) left = size < 1 || size > left ? -1 : left - size;
    if (left < 0)
        throw Error("passes: expected positive numbers of positions, together at most the {length} of the text",
                    {{"length", length}});
    if (left > 0) sizes.push_back(left);
    return sizes;
}

Scenario with_pass(Scenario scenario, std::vector<Index> sizes, std::size_t pass) {
    scenario = with_whole_text(std::move(scenario));
    sizes = sizes_of_passes(std::move(sizes), scenario.inputs.pos());
    if (!scenario.config().causal)
        throw Error("causal is false: every position reads the later ones, expected true for passes one after another");
    if (pass >= sizes.size())
        throw Error("pass {pass}: expected 0 to {last}", {{"pass", pass}, {"last", sizes.size() - 1}});
    const std::vector<Edit> rows = rows_among(scenario.edits);
    if (!scenario.passes || scenario.passes->sizes != sizes || !same_inputs(scenario.passes->text, scenario.inputs)) {
        const std::size_t count = sizes.size();
        scenario.passes = TextInPasses{std::move(sizes),
                                       {},
                                       std::vector<std::vector<Edit>>(count),
                                       {},
                                       scenario.inputs,
                                       std::make_shared<KeptByPasses>()};
    }
    if (scenario.edits != scenario.passes->text_edits) distribute(scenario);
    TextInPasses& passes = *scenario.passes;
    passes.shown = pass;
    scenario.inputs = part_of(passes.text, part_of_pass(passes, pass));
    scenario.edits = with_rows(passes.edits[pass], rows);
    return without_lost_gradients(std::move(scenario));
}

Scenario with_whole_text(Scenario scenario) {
    if (shown_pass(scenario) == nullptr) return scenario;
    TextInPasses& passes = *scenario.passes;
    const std::vector<Edit> rows = rows_among(scenario.edits);
    passes.edits[*passes.shown] = std::move(scenario.edits);
    passes.shown.reset();
    scenario.inputs = passes.text;
    scenario.edits = with_rows(passes.text_edits, rows);
    return scenario;
}

std::optional<Written> written_before(const Scenario& scenario, const Plan& plan, const Step& step, const Cell& cell) {
    const TextInPasses* passes = shown_pass(scenario);
    const auto along = std::ranges::find(step.axes, axis::pos, &Axis::name);
    if (passes == nullptr || step.role != Role::input || along == step.axes.end()) return std::nullopt;
    const auto axis = static_cast<std::size_t>(along - step.axes.begin());
    // The step that puts the new rows after these.
    const auto all = std::ranges::find_if(plan.steps(), [&](const Step& reader) {
        if (reader.operands.size() != 2 || reader.operands.front() != step.id) return false;
        const Axes& added = plan[reader.operands.back()].axes;
        return added.size() == step.axes.size() && reader.axes.size() == step.axes.size() &&
               reader.axes[axis].size == along->size + added[axis].size;
    });
    if (all == plan.steps().end()) return std::nullopt;
    Written written{.position = cell[axis], .step = all->name, .cell = cell};
    for (Index end = passes->sizes[0]; end <= written.position; end += passes->sizes[written.pass]) ++written.pass;
    return written;
}

Sentence words_of(const Written& written) {
    return message("Written in pass {pass}, for position {position}",
                   {{"pass", written.pass}, {"position", written.position}});
}

bool is_edited(const Scenario& scenario) {
    if (change_the_pass(scenario.edits)) return true;
    const TextInPasses* passes = shown_pass(scenario);
    if (passes == nullptr) return false;
    const auto before = passes->edits.begin() + static_cast<std::ptrdiff_t>(*passes->shown);
    return std::any_of(passes->edits.begin(), before, change_the_pass);
}

Scenario without_edits(Scenario scenario) {
    scenario.edits = rows_among(std::move(scenario.edits));
    if (scenario.passes)
        for (std::vector<Edit>& edits : scenario.passes->edits) edits = rows_among(std::move(edits));
    return scenario;
}

std::shared_ptr<const decoder::Past> past_of(const Scenario& scenario) {
    return first_position(scenario) == 0 ? nullptr : scenario.passes->kept->before_shown(scenario);
}

std::shared_ptr<const decoder::Past> KeptByPasses::known_before(const Scenario& scenario, std::size_t pass) {
    if (pass == 0) return nullptr;
    const auto is_it = [&](const Known& one) {
        return one.edits.size() == pass && compute_alike(one.asked, scenario) &&
               std::equal(one.edits.begin(), one.edits.end(), scenario.passes->edits.begin());
    };
    const auto found = std::ranges::find_if(known_, is_it);
    if (found == known_.end()) return nullptr;
    std::rotate(found, found + 1, known_.end());
    return known_.back().past;
}

void KeptByPasses::remember(Scenario scenario, std::size_t pass, std::shared_ptr<const decoder::Past> past) {
    if (known_.size() == kMostKnown) known_.erase(known_.begin());
    const auto& edits = scenario.passes->edits;
    std::vector<std::vector<Edit>> before(edits.begin(), edits.begin() + static_cast<std::ptrdiff_t>(pass));
    scenario.passes->kept = nullptr;  // it would keep itself
    known_.push_back({std::move(scenario), std::move(before), std::move(past)});
}

void KeptByPasses::take(const Scenario& scenario, const Run& run) {
    const std::lock_guard lock(mutex_);
    Scenario left = scenario;
    const std::size_t pass = *left.passes->shown;
    left.passes->edits[pass] = left.edits;
    if (!known_before(left, pass + 1))
        remember(std::move(left), pass + 1, std::make_shared<const decoder::Past>(decoder::past_of(run)));
}

std::shared_ptr<const decoder::Past> KeptByPasses::before_shown(const Scenario& scenario) {
    const std::lock_guard lock(mutex_);
    std::size_t pass = *scenario.passes->shown;
    std::shared_ptr<const decoder::Past> past = known_before(scenario, pass);
    if (past) return past;
    while (pass > 0 && !(past = known_before(scenario, pass))) --pass;
    Scenario one = scenario;
    one.gradient_target.clear();
    for (; pass < *scenario.passes->shown; ++pass) {
        one.inputs = part_of(scenario.passes->text, part_of_pass(*scenario.passes, pass));
        one.edits = scenario.passes->edits[pass];
        past = std::make_shared<const decoder::Past>(decoder::past_of(*execute(plan_behind(one, past.get()))));
        remember(scenario, pass + 1, past);
    }
    return past;
}

Tensor joined(const Tensor& a, const Tensor& b) {
    Axes axes = a.axes();
    axes.resize(1, a.dim(1) + b.dim(1));
    Tensor both(axes);
    float* to = both.writable().data();
    const auto copy = [&](const Tensor& from, Index row) {
        const Index width = from.size() / from.dim(0);
        to = std::copy_n(from.data() + row * width, width, to);
    };
    for (Index row = 0; row < a.dim(0); ++row) copy(a, row), copy(b, row);
    return both;
}

Inputs inputs_of_shown(const Scenario& scenario) {
    Inputs inputs = scenario.inputs;
    const Index first = first_position(scenario), count = inputs.pos();
    for (Tensor* by_key : {&inputs.attention_mask, &inputs.positions, &inputs.segments}) {
        if (by_key->empty() || first == 0) continue;
        *by_key = part_of(*by_key, {0, first}, {by_key->axes()[0], {axis::pos, count}});
    }
    return inputs;
}

}  // namespace decoderscope::core
