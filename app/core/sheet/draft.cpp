#include "app/core/sheet/draft.h"

#include "app/core/run/edits.h"
#include "engine/base/tables.h"
#include "engine/formulas/elaborate.h"
#include "engine/formulas/print.h"
#include "engine/sheet/sheet.h"

#include <algorithm>
#include <cctype>

namespace decoderscope::core::sheet {

namespace {

// A formula that takes longer than this many steps isn't computed while it is typed.
constexpr double kWhileTyping = 2e8;

using decoderscope::sheet::name_in_part;
using decoderscope::sheet::part_of;
using decoderscope::sheet::Written;

// The plan that an edit reads: that of the run, or, for a row that reads targets, their losses, gradients or a lens,
// one that has them.
std::shared_ptr<const Plan> plan_read_by(const Snapshot& shown, const std::string& formula, const Edit& edit) {
    const std::shared_ptr<const Plan>& plan = shown.run->shared_plan();
    const std::string_view missing = decoderscope::sheet::missing_target(*plan, formula);
    const bool lens = decoderscope::sheet::read_lens({edit}) && !decoderscope::sheet::read_lens(shown.scenario.edits);
    const bool gradients = decoderscope::sheet::reads_gradients(edit) && shown.scenario.gradient_target.empty();
    if (missing.empty() && !lens && !gradients) return plan;
    Scenario asked = shown.scenario;
    if (gradients) asked.gradient_target = "loss";
    if (!missing.empty()) asked.edits.push_back(AddRow{"row_of_targets", "", std::string(missing)});
    return plan_of(asked, lens);
}

double steps_of(const Plan& plan, const Written& written) {
    OperandAxes in;
    for (const decoderscope::sheet::Read& read : written.operands) in.push_back(plan[read.step].axes);
    return formulas::steps_of(written.operation.formula().fitted(in, written.operation.shape));
}

template <class Edited>
void try_edit(Outcome& outcome, const Snapshot& shown, const Edited& edit, const Step& from, const Scenario& scenario) {
    const std::shared_ptr<const Plan> now = plan_read_by(shown, edit.formula, edit);
    const Plan& plan = *now;
    const Written written = tried(plan, edit, beside_plan(scenario));
    const std::vector<std::string> places = decoderscope::sheet::places_of(plan, edit);
    outcome.reads = written.operation.text;
    outcome.places = places.size();
    if constexpr (std::is_same_v<Edited, AddRow>)
        outcome.step = row_beside(shown, from, edit);
    else
        outcome.step = from.name;
    outcome.scenario = scenario;
    if (steps_of(plan, written) > kWhileTyping) return;
    const std::shared_ptr<const Plan> next = plan_of(scenario);
    const Ref first = next->find(outcome.step);
    // Its picture also has what the mask hides, and an attention's sink.
    const NeededSteps needed = needed_steps(*next, [&](const Step& step) {
        return step.id == first->id || step.id == first->masked_by ||
               (!first->attention.empty() && step.attention == first->attention);
    });
    outcome.run = execute(next, {.previous = shown.run.get(), .needed = &needed});
}

Outcome made(const Snapshot& shown, const Draft& draft) {
    Outcome outcome;
    try {
        const Edit edit = draft.edit();
        const Ref at = shown.run->plan().find(draft.step);
        const Step& from = at != nullptr ? *at : shown.run->plan().steps().back();
        Scenario scenario = shown.scenario;
        put_edit(scenario.edits, edit, draft.in_place_of);
        scenario = with_gradients_read(std::move(scenario));
        if (const auto* row = std::get_if<AddRow>(&edit))
            try_edit(outcome, shown, *row, from, scenario);
        else
            try_edit(outcome, shown, std::get<RewriteStep>(edit), from, scenario);
    } catch (const formulas::FormulaError& error) {
        outcome.error = error.sentence();
        if (error.at() != formulas::kNowhere) outcome.at = error.at();
    } catch (const Error& error) {
        outcome.error = error.sentence();
    }
    return outcome;
}

// Where the name at the end of a text begins.
std::size_t word_begins(std::string_view text) {
    const auto is_part = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '*';
    };
    std::size_t begin = text.size();
    while (begin > 0 && is_part(text[begin - 1])) --begin;
    return begin;
}

}  // namespace

bool Draft::has_layers() const {
    return decoderscope::sheet::for_all_layers(is_row ? name : step).find('*') != std::string::npos;
}

Edit Draft::edit() const {
    const auto reaching = [&](const std::string& of) {
        return every_layer ? decoderscope::sheet::for_all_layers(of) : of;
    };
    if (!is_row) return RewriteStep{reaching(step), formula};
    return AddRow{std::string(name_in_part(name)), reaching(std::string(part_of(name))), formula, must_hold};
}

Draft draft_of(const Snapshot& shown, const Step& step) {
    Draft draft{.step = step.name};
    const std::string everywhere = decoderscope::sheet::for_all_layers(step.name);
    for (const Edit& edit : shown.scenario.edits) {
        if (const auto* row = std::get_if<AddRow>(&edit); row != nullptr && step.part == Part::own) {
            const std::string name = row_name(*row);
            if (name != step.name && name != everywhere) continue;
            return {.is_row = true,
                    .step = step.name,
                    .name = step.name,
                    .every_layer = name != step.name,
                    .must_hold = row->must_hold,
                    .in_place_of = edit,
                    .formula = row->formula};
        }
        const auto* written = std::get_if<RewriteStep>(&edit);
        if (written == nullptr || (written->step != step.name && written->step != everywhere)) continue;
        draft.every_layer = written->step != step.name;
        draft.formula = written->formula;
        draft.in_place_of = edit;
    }
    if (draft.formula.empty())
        if (const auto by = ops::formula_of(step.operation)) draft.formula = text_of(by->written());
    return draft;
}

Draft new_row(const Snapshot& shown, const Step& step, bool must_hold) {
    const std::string of(step.is_source() ? std::string_view() : part_of(step.name));
    const Plan& plan = shown.run->plan();
    const std::string first = must_hold ? "check" : "row";
    std::string name = first;
    for (int number = 2; plan.find((of.empty() ? "" : of + ".") + name) != nullptr; ++number)
        name = first + std::to_string(number);
    return {.is_row = true,
            .step = step.name,
            .name = (of.empty() ? "" : of + ".") + name,
            .every_layer = decoderscope::sheet::for_all_layers(of) != of,
            .must_hold = must_hold};
}

Value<Outcome> outcome_of(Derived& derived, const Snapshot& shown, const Draft& draft) {
    return derived.get<Outcome>(
        {shown.run, shown.scenario.other_run},
        std::make_tuple(edits_to_json({draft.edit()}), draft.in_place_of ? edits_to_json({*draft.in_place_of}) : ""),
        [&] { return made(shown, draft); });
}

std::vector<std::string> completions(const Snapshot& shown, const Draft& draft, std::string_view text,
                                     std::size_t most) {
    const std::string_view typed = text.substr(word_begins(text));
    if (typed.empty()) return {};
    const Plan& plan = shown.run->plan();
    const Ref step = plan.find(draft.step);
    const StepId before = draft.is_row || step == nullptr ? plan.steps().size() : step->id;
    const std::string part(part_of(draft.is_row ? draft.name : draft.step));
    return decoderscope::sheet::Scope(plan, part, before).names_from(typed, most);
}

std::string completed(std::string_view text, std::string_view name) {
    return std::string(text.substr(0, word_begins(text))).append(name);
}

// The formula of a model with so many blocks: {block} and {before} are a block's number and that of the one before it,
// {last} that of the last one; what it goes on with stands at {then}, or at the end.
std::string for_blocks(const ReadyRow& ready, std::size_t blocks) {
    const auto put = [](std::string text, std::string_view name, std::size_t number) {
        for (std::size_t at = 0; (at = text.find(name, at)) != std::string::npos;)
            text.replace(at, name.size(), std::to_string(number));
        return text;
    };
    std::string formula = put(ready.row.formula, "{last}", std::max<std::size_t>(blocks, 1) - 1), more;
    for (std::size_t block = 1; block < blocks; ++block)
        more += put(put(ready.then, "{block}", block), "{before}", block - 1);
    const std::size_t place = formula.find("{then}");
    return place == std::string::npos ? formula + more : formula.replace(place, 6, more);
}

const std::vector<ReadyRow>& ready_rows() {
    static const std::vector<ReadyRow> all = [] {
        std::vector<ReadyRow> rows;
        for (const OrderedJson& one : asset_table("rows")) {
            const auto text = [&](const char* key) { return one.value(key, std::string()); };
            const std::string name = text("row");
            rows.push_back({{std::string(name_in_part(name)), std::string(part_of(name)), text("formula")},
                            asset_phrase(one.at("title").get_ref<const std::string&>()),
                            text("words"),
                            text("then"),
                            one.value("anywhere", false)});
        }
        return rows;
    }();
    return all;
}

// The part that a row of a decoder's layers has beside a step: in its stack, of its attention.
std::string part_beside(const std::string& part, const Step* step) {
    constexpr std::string_view kLayers = "blocks.*", kAttention = "blocks.*.attn";
    if (step == nullptr || !part.starts_with(kLayers)) return part;
    if (part == kAttention && !step->attention.empty()) return decoderscope::sheet::for_all_layers(step->attention);
    return step->in_encoder() ? "encoder." + part : part;
}

std::vector<ReadyRow> ready_rows(const Snapshot& shown, const Step* beside) {
    std::vector<ReadyRow> fitting;
    const std::size_t blocks = shown.run->plan().blocks(StackKind::decoder).size();
    const auto fits = [&](const ReadyRow& ready) {
        try {
            static_cast<void>(
                tried(*plan_read_by(shown, ready.row.formula, ready.row), ready.row, beside_plan(shown.scenario)));
            return true;
        } catch (const Error&) {
            return false;  // this model hasn't what the row reads
        }
    };
    for (ReadyRow ready : ready_rows()) {
        if (ready.is_of_blocks()) ready.row.formula = for_blocks(ready, blocks);
        ReadyRow there = ready;
        if (ready.anywhere) there.row.of = part_beside(ready.row.of, beside);
        const bool is_listed = std::ranges::any_of(
            ready_rows(), [&](const ReadyRow& one) { return row_name(one.row) == row_name(there.row); });
        if (there.row.of != ready.row.of && !is_listed && fits(there))
            fitting.push_back(std::move(there));
        else if (fits(ready))
            fitting.push_back(std::move(ready));
    }
    return fitting;
}

std::optional<Phrase> question_of(const Snapshot& shown, const Step& step) {
    if (step.part != Part::own) return std::nullopt;
    for (const Edit& edit : shown.scenario.edits) {
        const auto* row = std::get_if<AddRow>(&edit);
        if (row == nullptr || decoderscope::sheet::for_all_layers(step.name) != row_name(*row)) continue;
        const auto begins_alike = [&](const ReadyRow& ready) {  // of some, each block adds to the formula
            return ready.row.name == row->name &&
                   row->formula.starts_with(ready.is_of_blocks() ? ready.row.name : ready.row.formula);
        };
        const auto ready = std::ranges::find_if(ready_rows(), begins_alike);
        if (ready != ready_rows().end()) return ready->question;
    }
    return std::nullopt;
}

std::string row_beside(const Snapshot& shown, const Step& step, const AddRow& row) {
    const std::vector<std::string> parts = decoderscope::sheet::places_of(shown.run->plan(), row);
    const auto here = std::ranges::find_if(parts, [&](const std::string& part) {
        return !step.block.empty() && (part == step.block || part.starts_with(step.block + "."));
    });
    const std::string& part = here != parts.end() ? *here : parts.front();
    return part.empty() ? row.name : part + "." + row.name;
}

}  // namespace decoderscope::core::sheet
