#include "engine/mutations/mutations.h"

#include "engine/base/error.h"
#include "engine/base/tables.h"
#include "engine/formulas/book.h"
#include "engine/mutations/changes.h"
#include "engine/ops/elementwise.h"
#include "engine/ops/kinds.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace decoderscope::mutations {

void disguise(Plan& wrong, const Plan& right) {
    for (StepId id = 0; id < wrong.steps().size(); ++id) {
        const Step& step = wrong[id];
        const Ref meant = step.is_source() ? nullptr : right.find(step.name);
        if (meant == nullptr || meant->is_source() || meant->operation == step.operation) continue;
        const std::vector<StepId> operands = step.operands;
        wrong.replace(id, DescribedAs{step.operation, meant->operation}, operands);
    }
}

namespace {

// ---- reading the table

// A value as `--set` takes it. One that begins with "=" is computed, and an object has one for each word of the key's
// that it changes.
std::string value_text(const OrderedJson& value, const std::string& key, const Keys& keys) {
    if (value.is_object()) return value.value(keys.text(key), keys.text(key));
    if (!value.is_string()) return value.dump();
    const auto text = value.get<std::string>();
    if (!text.starts_with('=')) return text;
    const double number = keys.value(text.substr(1));
    if (keys.text(key) == "true" || keys.text(key) == "false") return number != 0.0 ? "true" : "false";
    return Json(number == std::floor(number) ? Json(static_cast<std::int64_t>(number)) : Json(number)).dump();
}

bool concerns(const OrderedJson& entry, const Keys& keys) {
    return !entry.contains("when") || keys.value(entry["when"].get<std::string>()) != 0.0;
}

void set(Config& config, const OrderedJson& entry) {
    const Keys keys(config);
    if (!concerns(entry, keys)) return;
    Overrides values;
    for (const auto& [key, value] : entry["set"].items()) values.emplace_back(key, value_text(value, key, keys));
    set_keys(config, values);
}

void change(Plan& plan, const Config& config, const OrderedJson& entry) {
    const Keys keys(config);
    if (!concerns(entry, keys)) return;
    for (const OrderedJson& one : entry["change"]) apply_change(plan, keys, one);
}

Tensor inverted(const Tensor& padding) {
    if (padding.empty()) return padding;
    Tensor other = padding;
    for (float& keep : other.writable()) keep = keep == 0.0F ? 1.0F : 0.0F;
    return other;
}

void feed_targets(Inputs& inputs, const OrderedJson& entry) {
    if (inputs.tokens.empty()) return;
    Inputs seen = inputs;
    if (entry.value("padding", false)) seen.attention_mask = {};  // padding counts, too
    if (entry.value("documents", false)) seen.segments = {};      // what follows may be another's
    const Tensor wrong = tokens_ahead(seen, entry["ahead"].get<Index>());
    // A text of two tokens has no token two ahead.
    const auto counts = [](float target) { return target != kIgnoredTarget; };
    if (std::ranges::any_of(wrong.values(), counts)) inputs.targets = wrong;
}

void feed_others(Inputs& inputs, const OrderedJson& entry) {
    for (const auto& [name, how] : entry.items()) {
        Tensor& input = inputs.*input_slot(name).member;
        input = how == "none" ? Tensor() : inverted(input);
    }
}

Mutation read(const std::string& name, const OrderedJson& entry) {
    Mutation mutation{.name = name,
                      .cause = asset_phrase(entry["cause"].get_ref<const std::string&>()),
                      .harmless = entry.value("harmless", false),
                      .behind_cache = entry.value("behind_cache", false)};
    if (entry.contains("set")) mutation.configure = [&entry](Config& config) { set(config, entry); };
    if (entry.contains("inputs"))
        mutation.feed = [&entry](Inputs& inputs, const Config&) { feed_others(inputs, entry["inputs"]); };
    if (entry.contains("targets"))
        mutation.feed = [&entry](Inputs& inputs, const Config&) { feed_targets(inputs, entry["targets"]); };
    if (entry.contains("change"))
        mutation.change = [&entry](Plan& plan, const Config& config) { change(plan, config, entry); };
    if (entry.contains("dropout_seed")) mutation.dropout_seed = entry["dropout_seed"].get<std::uint64_t>();
    return mutation;
}

std::vector<Mutation> all(bool behind_cache) {
    std::vector<Mutation> list;
    for (const auto& [name, entry] : asset_table("mutations").items())
        if (entry.value("behind_cache", false) == behind_cache) list.push_back(read(name, entry));
    return list;
}

// ---- comparing plans

bool same_values(const Tensor& a, const Tensor& b) {
    return a.shares_values_with(b) || (a.axes() == b.axes() && std::ranges::equal(a.values(), b.values()));
}

// Whether two steps of different plans read steps of the same names, none of them an input with other values.
bool same_operands(const Plan& a, const Step& one, const Plan& b, const Step& other) {
    return std::ranges::equal(one.operands, other.operands, [&](StepId left, StepId right) {
        const Step &l = a[left], &r = b[right];
        return l.name == r.name && (!l.is_source() || same_values(l.source, r.source));
    });
}

}  // namespace

std::span<const Mutation> mutations() {
    static const std::vector<Mutation> list = all(false);
    return list;
}

std::span<const Mutation> mutations_behind_cache() {
    static const std::vector<Mutation> list = all(true);
    return list;
}

namespace {

constexpr std::array<std::string_view, 3> kWhere = {"", "in all blocks ", "all like "};  // not a message: of a name

constexpr std::string_view kFor = " for ";  // not a message: of a name

std::optional<FormulaEdit> edit_named(std::string_view name) {
    const std::size_t colon = name.find(": ");
    if (colon == std::string_view::npos) return std::nullopt;
    FormulaEdit edit{.step = std::string(name.substr(0, colon)), .formula = std::string(name.substr(colon + 2))};
    for (std::size_t i = 1; i < kWhere.size(); ++i)
        if (edit.step.starts_with(kWhere[i])) {
            edit.step.erase(0, kWhere[i].size());
            edit.where = static_cast<FormulaEdit::Where>(i);
        }
    return edit;
}

// Whether both compute one formula with the same numbers.
bool compute_alike(const Step& a, const Step& b) {
    const auto one = ops::formula_of(a.operation), other = ops::formula_of(b.operation);
    return one && other && one->formula == other->formula &&
           std::ranges::equal(one->numbers, other->numbers,
                              [](const auto& x, const auto& y) { return x.name == y.name && x.value == y.value; });
}

// "attn.k" of "blocks.0.attn.k".
std::string_view tail(const Step& step) {
    return std::string_view(step.name).substr(step.block.empty() ? 0 : step.block.size() + 1);
}

// Whether a step is another's like in its own or another block of the stack.
bool is_twin(const Step& step, const Step& one) {
    return !one.block.empty() && !step.block.empty() && step.stack == one.stack && tail(step) == tail(one);
}

// The steps that an edit of one concerns.
std::vector<StepId> steps_of(const Plan& plan, const Step& one, FormulaEdit::Where where) {
    std::vector<StepId> found;
    for (const Step& step : plan.steps()) {
        const bool alike = where == FormulaEdit::Where::all_alike && !step.is_source() && compute_alike(step, one);
        const bool twin = where == FormulaEdit::Where::in_all_blocks && is_twin(step, one);
        if (step.id == one.id || alike || twin) found.push_back(step.id);
    }
    return found;
}

// Edits that were named: whoever asks for one keeps a pointer to it.
class NamedEdits {
public:
    const Mutation* find(std::string_view name) {
        const std::scoped_lock lock(mutex_);
        if (const auto known = all_.find(name); known != all_.end()) return &known->second;
        const std::optional<FormulaEdit> edit = edit_named(name);
        if (!edit) return nullptr;
        if (const auto list = mutations(); edit->where == FormulaEdit::Where::in_all_blocks)
            if (const auto known = std::ranges::find(list, edit->formula, &Mutation::name); known != list.end()) {
                std::optional<Mutation> here = confined(*known, edit->step);
                return here ? &all_.emplace(std::string(name), std::move(*here)).first->second : nullptr;
            }
        if (const std::size_t at = edit->formula.find(kFor);
            at != std::string::npos && edit->where != FormulaEdit::Where::all_alike) {
            const ReadingEdit reading{edit->where == FormulaEdit::Where::in_all_blocks, edit->step,
                                      edit->formula.substr(at + kFor.size()), edit->formula.substr(0, at)};
            const Sentence cause = message("{step} reads {other} instead of {own}.",
                                           {{"step", reading.step}, {"other", reading.other}, {"own", reading.own}});
            return &all_.emplace(std::string(name), mutation_of(reading, cause)).first->second;
        }
        try {
            const Sentence cause =
                message("{step} computes {formula}.", {{"step", edit->step}, {"formula", edit->formula}});
            return &all_.emplace(std::string(name), mutation_of(*edit, cause)).first->second;
        } catch (const formulas::FormulaError&) {
            return nullptr;
        }
    }

private:
    std::mutex mutex_;
    std::map<std::string, Mutation, std::less<>> all_;
};

}  // namespace

std::string FormulaEdit::name() const {
    return std::string(kWhere[static_cast<std::size_t>(where)]) + step + ": " + formula;
}

Mutation mutation_of(const FormulaEdit& edit, Sentence cause) {
    const formulas::Formula formula = formulas::parse(edit.formula, formulas::the_book().functions);
    return {
        .name = edit.name(), .cause = std::move(cause), .change = [edit, formula](Plan& plan, const Config& config) {
            const Keys keys(config);
            const Ref step = plan.find(edit.step);
            bool done = false;
            if (step != nullptr && !step->is_source())
                for (const StepId id : steps_of(plan, *step, edit.where))
                    if (auto made = rewritten(plan, plan[id], formula, keys.numbers())) {
                        done = done || id == step->id;
                        plan.replace(id, std::move(made->operation), std::move(made->operands));
                    }
            if (!done)
                throw Error("{step}: there is no such step that can be computed by {formula}",
                            {{"step", edit.step}, {"formula", edit.formula}});
        }};
}

std::string ReadingEdit::name() const {
    return FormulaEdit{in_all_blocks ? FormulaEdit::Where::in_all_blocks : FormulaEdit::Where::alone, step,
                       other + std::string(kFor) + own}
        .name();
}

std::optional<std::vector<StepId>> ReadingEdit::operands_of(const Plan& plan, const Step& of) const {
    // "blocks.1.attn.k" and "layers.1.norm1" for a step in block 1 that is like one in block 0.
    const auto number = [](std::string_view name) {
        const std::size_t at = name.find_first_of("0123456789");
        return at == std::string_view::npos ? std::string_view() : name.substr(at, name.find('.', at) - at);
    };
    const auto here = [&](std::string name) {
        const std::string_view from = number(step), to = number(of.name);
        if (!from.empty() && number(name) == from) name.replace(name.find_first_of("0123456789"), from.size(), to);
        return name;
    };
    const std::string mine = here(own), theirs = here(other);
    const auto fits = [&](const Ref found, const Axes& axes) {
        return found != nullptr && found->id != of.id && (found->id < of.id || found->is_source()) &&
               shape_text(found->axes) == shape_text(axes);
    };
    if (own == kItself) {
        const Ref found = plan.find(theirs);
        return fits(found, of.axes) ? std::optional(std::vector{found->id}) : std::nullopt;
    }
    std::vector<StepId> read = of.operands;
    if (other == kNothing) {
        std::erase_if(read, [&](StepId operand) { return plan[operand].name == mine; });
        return read.size() > 1 && read != of.operands ? std::optional(read) : std::nullopt;
    }
    for (StepId& operand : read) {
        const Step& before = plan[operand];
        const bool of_module = before.role == Role::parameter && before.name.starts_with(mine + ".");
        if (before.name != mine && !of_module) continue;
        const Ref found = plan.find(theirs + before.name.substr(mine.size()));
        if (!fits(found, before.axes)) return std::nullopt;
        operand = found->id;
    }
    return read != of.operands ? std::optional(read) : std::nullopt;
}

std::vector<StepId> steps_before_in_norm(const Plan& plan, StepId step) {
    std::vector<StepId> found;
    for (StepId id = 0; id < step; ++id)
        if (!plan[step].norm.empty() && plan[id].norm == plan[step].norm && !plan[id].is_source()) found.push_back(id);
    return found;
}

namespace {

// A step reads others; a parameter that is declared later stands in for its own.
void take_operands(Plan& plan, StepId id, std::vector<StepId> read) {
    const std::vector<StepId> own = plan[id].operands;
    for (std::size_t i = 0; i < read.size(); ++i)
        if (read[i] > id) {
            plan.stand_in(own[i], read[i]);
            read[i] = own[i];
        }
    if (read != own) plan.replace(id, plan[id].operation, std::move(read));
}

}  // namespace

Mutation mutation_of(const ReadingEdit& edit, Sentence cause) {
    return {.name = edit.name(), .cause = std::move(cause), .change = [edit](Plan& plan, const Config&) {
                const Ref step = plan.find(edit.step);
                bool done = false;
                if (step != nullptr && !step->is_source())
                    for (const StepId id :
                         steps_of(plan, *step,
                                  edit.in_all_blocks ? FormulaEdit::Where::in_all_blocks : FormulaEdit::Where::alone))
                        if (auto read = edit.operands_of(plan, plan[id])) {
                            done = done || id == step->id;
                            if (edit.own == ReadingEdit::kItself)
                                plan.replace(id, ops::Identity{}, std::move(*read));
                            else
                                take_operands(plan, id, std::move(*read));
                            for (const StepId other : steps_before_in_norm(plan, id))
                                if (auto also = edit.operands_of(plan, plan[other]))
                                    take_operands(plan, other, std::move(*also));
                        }
                if (!done)
                    throw Error("{step}: reads no {own} that {other} could stand for",
                                {{"step", edit.step}, {"own", edit.own}, {"other", edit.other}});
            }};
}

std::optional<Mutation> confined(const Mutation& mutation, const std::string& step) {
    if (mutation.feed || mutation.dropout_seed) return std::nullopt;
    Mutation here = mutation;
    here.only = step;
    here.name = FormulaEdit{FormulaEdit::Where::in_all_blocks, step, mutation.name}.name();
    here.cause = message("At {step} alone: {mistake}", {{"step", step}, {"mistake", mutation.cause}});
    return here;
}

void confine(Plan& right, const Plan& wrong, const std::string& step) {
    const Ref found = right.find(step);
    if (found == nullptr) throw Error("{step}: there is no such step", {{"step", step}});
    const Step one = *found;
    const auto part = [](const Step& of) { return tail(of).substr(0, tail(of).rfind('.')); };
    for (StepId id = 0; id < right.steps().size(); ++id) {
        const Step& here = right[id];
        const bool of_norm = one.part == Part::norm && here.part == Part::norm && here.stack == one.stack &&
                             here.block.empty() == one.block.empty() && part(here) == part(one);
        const Ref there = wrong.find(here.name);
        if (here.is_source() || there == nullptr || (id != one.id && !is_twin(here, one) && !of_norm)) continue;
        std::vector<StepId> operands;
        for (const StepId operand : there->operands)
            if (const Ref read = right.find(wrong[operand].name); read != nullptr && read->id < id)
                operands.push_back(read->id);
        if (operands.size() == there->operands.size() && there->axes == here.axes)
            right.replace(id, there->operation, std::move(operands));
    }
}

const Mutation* find_mutation(std::string_view name) {
    for (const std::span<const Mutation> list : {mutations(), mutations_behind_cache()})
        if (const auto found = std::ranges::find(list, name, &Mutation::name); found != list.end()) return &*found;
    static NamedEdits edits;
    return edits.find(name);
}

Ref first_changed(const Plan& right, const Plan& wrong) {
    for (const Step& step : right.steps()) {
        if (step.is_source() || step.role == Role::on_demand) continue;
        const Ref other = wrong.find(step.name);
        const bool same = other != nullptr && other->axes == step.axes && other->operation == step.operation &&
                          same_operands(right, step, wrong, *other);
        if (!same) return &step;
    }
    return nullptr;
}

}  // namespace decoderscope::mutations
