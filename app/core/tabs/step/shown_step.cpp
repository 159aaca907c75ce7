#include "app/core/tabs/step/shown_step.h"

#include "app/core/glossary/glossary.h"
#include "app/core/run/step_picture.h"
#include "engine/backward/gradient.h"
#include "engine/base/translate.h"
#include "engine/sheet/sheet.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string>

namespace decoderscope::core::step {

namespace {

// Of an argmax's cell: what lies at the place that it is.
std::string place_that_is(const Snapshot& shown, const Step& step, const Cell& cell) {
    const Run& run = shown.run_of(step);
    const Tensor& values = run.value(step.id);
    if (values.empty() || !values.contains(cell)) return {};
    const float value = values.at(cell);
    if (!(value >= 0.0F) || value != std::floor(value)) return {};  // before the formula is read
    const auto along = decoderscope::sheet::places_in_values(run.plan(), step);
    if (!along) return {};
    const Step& operand = run.plan()[along->operand];
    if (value >= static_cast<float>(operand.axes[along->axis].size)) return {};
    const Index batch = batch_of(step, cell);
    return PlaceNames(shown.scenario, operand, {along->axis}, batch).index(0, static_cast<Index>(value));
}

// Of an argmax: the tokens that its numbers are the places of, in the picture's cells.
void put_tokens(Heatmap& heatmap, const Snapshot& shown, const Step& step, Place place) {
    const Plan& plan = shown.run_of(step).plan();
    const auto along = decoderscope::sheet::places_in_values(plan, step);
    if (!along) return;
    const std::vector<std::string> tokens = axis_labels(shown.scenario, plan[along->operand], along->axis, place.batch);
    const auto is_place = [&](float value) {
        return value >= 0.0F && value == std::floor(value) && value < static_cast<float>(tokens.size());
    };
    if (!std::ranges::all_of(heatmap.values, is_place)) return;
    for (const float value : heatmap.values) heatmap.texts.push_back(tokens[static_cast<std::size_t>(value)]);
}

// Whether `reader` continues `read` as the stream.
bool continues_stream(const Step& reader, const Step& read) {
    return reader.operation.traits().passes_through && reader.operand(OperandRole::stream) == read.id;
}

bool on_stream(const Plan& plan, const OutlinePart& part) {
    if (part.meaning == Meaning::residual || part.meaning == Meaning::embedding) return true;
    if (part.meaning != Meaning::norm) return part.meaning == Meaning::output;
    const Step& last = plan[part.steps.back()];
    bool read_in_block = false;
    for (const Step& step : plan.steps()) {
        if (std::find(step.operands.begin(), step.operands.end(), last.id) == step.operands.end()) continue;
        if (continues_stream(step, last)) return true;
        read_in_block = read_in_block || step.block == last.block;
    }
    return !read_in_block || last.block.empty();
}

// The index of the part that a step belongs to; the number of parts if it is in none of this block.
std::size_t part_with(const OutlineBlock& block, StepId id) {
    const auto holds = [&](const OutlinePart& part) { return std::ranges::binary_search(part.steps, id); };
    return static_cast<std::size_t>(std::ranges::find_if(block.parts, holds) - block.parts.begin());
}

void note_reads(const Plan& plan, OutlineBlock& block) {
    for (std::size_t i = 0; i < block.parts.size(); ++i) {
        std::set<std::size_t> reads;
        for (const StepId id : block.parts[i].steps)
            for (const StepId operand : plan[id].operands) reads.insert(part_with(block, operand));
        reads.erase(i);
        reads.erase(block.parts.size());
        block.parts[i].reads.assign(reads.begin(), reads.end());
    }
}

std::vector<std::uint8_t> changes(const Snapshot& shown, const Step& step, const Heatmap& heatmap, Place place) {
    const Run& run = shown.run_of(step);
    if (&run == shown.unedited.get()) return {};
    return changed_cells(run, *shown.unedited, step, slice_of(step, place, shown.scenario.query_heads()), heatmap);
}

// ---- the boxes of a part

// What a part's steps are about in a word, where it isn't an attention.
Phrase caption_of(Part part) {
    switch (part) {
        case Part::input:
        case Part::embedding:
            return message("embed");
        case Part::norm:
            return message("norm");
        case Part::mlp:
            return message("MLP");
        case Part::encoder_output:
            return message("memory");
        case Part::head:
            return message("words");
        case Part::loss:
            return message("loss");
        case Part::logit_lens:
        case Part::fitted_lens:
            return message("lens");
        case Part::own:
            return message("own rows");
        case Part::self_attention:  // of a recording, which doesn't say which step of it
            return message("Self-attention");
        case Part::cross_attention:
            return message("Cross-attention");
        case Part::residual_stream:
        case Part::add:
            break;
    }
    return Phrase("");
}

// Of an attention: from the projections to what the heads add to the stream.
Phrase caption_in_attention(const Plan& plan, const Step& step) {
    if (step.meaning == Meaning::query) return Phrase("q");
    if (step.meaning == Meaning::key) return Phrase("k");
    if (step.meaning == Meaning::value) return Phrase("v");
    if (!is_over_keys(step.axes))
        return step.axes.size() == 4 && step.axes.back().name == axis::d_head ? Phrase("z") : message("out");
    const Ref mask = plan.step_of(step.attention, AttentionStep::mask);
    if (step.is_scores && (mask == nullptr || step.id < mask->id)) return message("scores");
    return step.is_scores || (mask != nullptr && step.id == mask->id) ? message("mask") : Phrase("softmax");
}

// A gradient stands where the step does that it is the gradient with respect to.
Phrase caption_of(const Plan& plan, const Step& step) {
    const Step& forward = step.gradient_wrt ? plan[*step.gradient_wrt] : step;
    return forward.attention.empty() ? caption_of(forward.part) : caption_in_attention(plan, forward);
}

// Boxes stand for what the trace records rather than for what comes on the way there, and for the last of that.
void add_to_box(const Plan& plan, OutlinePart& part, const Step& step) {
    const Phrase caption = caption_of(plan, step);
    auto box = std::ranges::find_if(part.boxes, [&](const OutlineBox& one) {
        return std::string_view(one.caption.english()) == caption.english();
    });
    if (box == part.boxes.end()) box = part.boxes.insert(box, {caption, step.meaning, {}, step.id});
    box->steps.push_back(step.id);
    if (step.role == Role::recorded) box->shown = step.id;
}

// The runs that a snapshot shows: the run under way provides the steps that it has already.
Origins origins_of(const Snapshot& shown) { return {shown.run, shown.unedited, shown.early}; }

// Of an attention's number, who asks whom; otherwise what it is of which token.
std::string answer_at(const Scenario& scenario, const Step& step, const Cell& cell) {
    const Index batch = batch_of(step, cell);
    const auto token = [&](std::size_t along) {
        return tr("“{token}”",
                  {{"token", axis_labels(scenario, step, along, batch)[static_cast<std::size_t>(cell[along])]}});
    };
    std::optional<std::size_t> query, key, any;
    for (std::size_t i = 0; i < step.axes.size(); ++i) {
        if (sequence_along(step, i) == TokenSequence::none) continue;
        if (step.axes[i].name == axis::query) query = i;
        if (step.axes[i].name == axis::key) key = i;
        any = any.value_or(i);
    }
    if (!any) return title_of(step);
    if (!query || !key) return tr("{title} of {token}", {{"title", title_of(step)}, {"token", token(*any)}});
    if (step.is_pattern) return tr("{query} looks at {key}", {{"query", token(*query)}, {"key", token(*key)}});
    return tr("{title} of {query} for {key}",
              {{"title", title_of(step)}, {"query", token(*query)}, {"key", token(*key)}});
}

}  // namespace

const char* stack_name(StackKind stack) { return stack == StackKind::encoder ? tr("Encoder") : tr("Decoder"); }

std::vector<OutlineBlock> outline_of(const Plan& plan) {
    std::vector<OutlineBlock> outline;
    const StepId back = backward::backward_begins(plan).value_or(plan.steps().size());
    Ref before = nullptr;
    for (const Step& step : plan.steps()) {
        if (step.is_source()) continue;
        const bool is_back = step.id >= back;
        // The rows of all blocks stand together.
        const std::string block = step.part == Part::own ? std::string() : step.block;
        if (outline.empty() || outline.back().name != block || outline.back().stack != step.stack ||
            outline.back().is_back != is_back || (before->part == Part::own) != (step.part == Part::own))
            outline.push_back({block, step.stack, {}, is_back});
        std::vector<OutlinePart>& parts = outline.back().parts;
        if (parts.empty() || before->part != step.part)
            parts.push_back({step.part, step.title, step.meaning, {}, false});
        parts.back().steps.push_back(step.id);
        add_to_box(plan, parts.back(), step);
        // A part's colour is what most of it is about: attention, not the query that it begins with.
        parts.back().meaning = step.meaning;
        before = &step;
    }
    for (OutlineBlock& block : outline) {
        note_reads(plan, block);
        for (OutlinePart& part : block.parts) part.on_stream = on_stream(plan, part);
    }
    return outline;
}

ShownHeatmap new_heatmap(const Snapshot& shown, const Step& step, Place place) {
    ShownHeatmap made = {picture_of(shown.scenario, shown.run_of(step), step, place), {}};
    put_tokens(made.heatmap, shown, step, place);
    made.changed = changes(shown, step, made.heatmap, place);
    return made;
}

Value<ShownHeatmap> shown_heatmap(Derived& derived, const Snapshot& shown, const Step& step, Place place) {
    return derived.get<ShownHeatmap>(origins_of(shown), std::tie(step.id, place),
                                     [&] { return new_heatmap(shown, step, place); });
}

Value<ShownOutline> shown_outline(Derived& derived, const std::shared_ptr<const Run>& run) {
    return derived.get<ShownOutline>({run}, std::tuple<>(), [&] { return ShownOutline{outline_of(run->plan())}; });
}

Value<Explanation> shown_explanation(Derived& derived, const Snapshot& shown, const Step& step, const Cell& cell) {
    return derived.get<Explanation>(origins_of(shown), std::tie(step.id, cell),
                                    [&] { return shown.run_of(step).explain(step.id, cell); });
}

Value<ReadExplanation> shown_terms(Derived& derived, const Snapshot& shown, const Step& step, const Cell& cell) {
    return derived.get<ReadExplanation>(origins_of(shown), std::tie(step.id, cell), [&] {
        const Run& run = shown.run_of(step);
        return read_explanation(shown.scenario, run, run.plan()[step.id], cell);
    });
}

Value<PlaceNames> shown_row_names(Derived& derived, const Snapshot& shown, const Step& step, Index batch) {
    return derived.get<PlaceNames>(origins_of(shown), std::tie(step.id, batch),
                                   [&] { return PlaceNames(shown.scenario, step, {step.axes.size() - 2}, batch); });
}

Value<Extremes> shown_extremes(Derived& derived, const Snapshot& shown, const Step& step) {
    return derived.get<Extremes>(origins_of(shown), std::tie(step.id), [&] {
        const Tensor& values = shown.run_of(step).value(step.id);
        Extremes found;
        if (values.size() < 2 || decoderscope::sheet::places_in_values(shown.run_of(step).plan(), step)) return found;
        const std::span<const float> numbers = values.values();
        std::optional<std::size_t> largest, smallest;
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            if (std::isnan(numbers[i])) continue;
            if (!largest || numbers[i] > numbers[*largest]) largest = i;
            if (!smallest || numbers[i] < numbers[*smallest]) smallest = i;
        }
        if (!largest) return found;
        return Extremes{values.cell(static_cast<Index>(*largest)), values.cell(static_cast<Index>(*smallest))};
    });
}

std::string sentence_of(const Step& step) {
    constexpr std::string_view end = ". ", chinese = "。";
    const std::string_view text = step.operation.about().teaches;
    return std::string(text.substr(0, std::min(text.find(end), text.find(chinese))));
}

std::string title_of(const Step& step) {
    const glossary::GlossaryTerm* term = glossary::term_of(step);
    std::string title = term == nullptr ? std::string(step.operation.about().name) : std::string(tr(term->name));
    if (!title.empty() && title.front() >= 'a' && title.front() <= 'z')
        title.front() = static_cast<char>(title.front() - 'a' + 'A');
    return title;
}

std::string headline_of(const Plan& plan, const Step& step) {
    static constexpr std::array<std::pair<std::string_view, Phrase>, 16> kHeadlines = {{
        {"embed", message("What each token begins as")},
        {"norm", message("Each row at the same scale")},
        {"q", message("What each token looks for")},
        {"k", message("What each token offers")},
        {"v", message("What each token passes on")},
        {"scores", message("How well each query fits each key")},
        {"mask", message("Who may look at whom")},
        {"softmax", message("Where each token looks")},
        {"z", message("What each head gathers")},
        {"out", message("What attention adds")},
        {"MLP", message("What the MLP makes of each token")},
        {"memory", message("What the encoder hands over")},
        {"words", message("What comes next")},
        {"loss", message("How wrong the model is")},
        {"lens", message("What would come next, from here")},
        {"", message("The residual stream")},
    }};
    if (step.backward || step.is_source()) return title_of(step);
    if (step.is_scores && step.masked_by && *step.masked_by != step.id && !step.mask_to_come)
        return tr("Scores after the mask");
    const std::string_view caption = caption_of(plan, step).english();
    const auto found = std::ranges::find(kHeadlines, caption, &std::pair<std::string_view, Phrase>::first);
    return found == kHeadlines.end() ? title_of(step) : tr(found->second);
}

Value<ShownPlace> shown_place(Derived& derived, const Snapshot& shown, const Step& step, const Cell& cell) {
    return derived.get<ShownPlace>(origins_of(shown), std::tie(step.id, cell), [&] {
        return ShownPlace{answer_at(shown.scenario, step, cell), place_text(shown.scenario, step, cell),
                          place_that_is(shown, step, cell)};
    });
}

}  // namespace decoderscope::core::step
