#include "engine/sheet/scope.h"

#include "engine/formulas/formula.h"
#include "engine/mutations/sites.h"

#include <algorithm>
#include <cctype>
#include <functional>
#include <set>

namespace decoderscope::sheet {

namespace {

constexpr std::string_view kUnedited = "base.", kExact = "exact.", kOther = "other.", kGradients = "grad.";

// Which of them a name begins with; empty if none.
std::string_view pass_of(std::string_view name) {
    for (const std::string_view pass : {kUnedited, kExact, kOther, kGradients})
        if (name.starts_with(pass)) return pass;
    return {};
}

bool is_number(std::string_view word) {
    return !word.empty() && std::ranges::all_of(word, [](unsigned char c) { return std::isdigit(c) != 0; });
}

// What a part lies in: "blocks.0" of "blocks.0.attn", nothing of "blocks.0".
std::string_view around(std::string_view part) {
    const std::string_view rest = part_of(part);
    return is_number(name_in_part(part)) ? part_of(rest) : rest;
}

// Whether each part between dots is the pattern's, or the pattern has "*" and it is a number.
bool matches(std::string_view name, std::string_view pattern) {
    while (!name.empty() && !pattern.empty()) {
        const std::string_view one = name.substr(0, name.find('.')), wanted = pattern.substr(0, pattern.find('.'));
        if (one != wanted && !(wanted == "*" && is_number(one))) return false;
        name.remove_prefix(std::min(name.size(), one.size() + 1));
        pattern.remove_prefix(std::min(pattern.size(), wanted.size() + 1));
    }
    return name.empty() && pattern.empty();
}

bool is_of_name(char c) {
    return c == '_' || c == '.' || static_cast<unsigned char>(c) >= 0x80 || std::isalnum(static_cast<unsigned char>(c));
}
bool is_name(std::string_view text) { return std::ranges::all_of(text, is_of_name); }

}  // namespace

std::string name_in_formula(std::string name) {
    std::ranges::replace(name, '/', '.');
    std::erase_if(name, std::not_fn(is_of_name));
    return name;
}

Scope::Scope(const Plan& plan, std::string of, StepId before, std::vector<std::pair<std::string, StepId>> own)
    : plan_(plan), of_(std::move(of)), before_(before), own_(std::move(own)) {
    for (const Step& step : plan_.steps())
        if (!is_name(step.name)) foreign_.emplace_back(name_in_formula(step.name), step.id);
}

Ref Scope::step_called(std::string_view name) const {
    if (const Ref step = plan_.find(name)) return step;
    const auto found = std::ranges::find(foreign_, name, &std::pair<std::string, StepId>::first);
    return found == foreign_.end() ? nullptr : &plan_[found->second];
}

Ref Scope::step_named(std::string_view name) const {
    const auto readable = [&](Ref step) { return step != nullptr && step->id < before_; };
    if (const auto own = std::ranges::find(own_, name, &std::pair<std::string, StepId>::first); own != own_.end())
        return &plan_[own->second];
    for (std::string_view part = of_; !part.empty(); part = around(part))
        if (const Ref step = step_called(std::string(part) + "." + std::string(name)); readable(step)) return step;
    if (const Ref step = step_called(name); readable(step)) return step;
    for (std::string_view part = of_; !part.empty(); part = around(part))
        if (const Ref step = mutations::sites::attention_step(plan_, part, name); readable(step)) return step;
    if (const std::vector<Ref> weights = nearest_weights(name); !weights.empty())
        return weights.size() == 1 ? weights[0] : nullptr;
    if (const Ref step = step_beside(name); readable(step)) return step;
    for (std::string_view part = of_;; part = around(part)) {
        const std::string prefix = part.empty() ? std::string() : std::string(part) + ".";
        if (const Ref weight = weight_of(prefix + std::string(part_of(name)), name_in_part(name)); readable(weight))
            return weight;
        if (part.empty()) break;
    }
    if (name == "lm_head.weight" || name == "unembed.weight")
        return weight_of("logits", "weight");       // the embedding's, if they are one
    if (name == "A") return step_named("pattern");  // papers' name of it
    // "blocks.1.attn.q_proj.weight", or in that block "attn.q_proj.weight": what that part reads, by the end of its
    // name.
    for (std::string_view outer = of_;; outer = around(outer)) {
        const std::string whole = outer.empty() ? std::string(name) : std::string(outer) + "." + std::string(name);
        for (std::size_t dot = whole.find('.', outer.size() + 1); dot != std::string::npos;
             dot = whole.find('.', dot + 1)) {
            const std::string beginning = whole.substr(0, dot + 1);
            if (std::ranges::none_of(plan_.steps(), [&](const Step& step) { return step.name.starts_with(beginning); }))
                break;
            for (std::string_view part = std::string_view(whole).substr(0, dot); !part.empty(); part = around(part))
                if (const auto weights = weights_read_in(part, whole.substr(dot + 1)); weights.size() == 1)
                    return weights[0];
        }
        if (outer.empty()) break;
    }
    return nullptr;
}

// "post" in an attention's row: that of its block's MLP, if no other part of the block has one.
Ref Scope::step_beside(std::string_view name) const {
    const std::string beginning = std::string(around(of_)) + ".", ending = "." + std::string(name);
    Ref found = nullptr;
    for (const Step& step : plan_.steps()) {
        if (!step.name.starts_with(beginning) || !step.name.ends_with(ending) || step.is_source()) continue;
        if (found != nullptr) return nullptr;
        found = &step;
    }
    return beginning == "." ? nullptr : found;
}

// "ln_final.weight": what the step, or the steps of the part, read under that last name, if it is one weight.
Ref Scope::weight_of(std::string_view step_or_part, std::string_view name) const {
    const std::string beginning = std::string(step_or_part) + ".";
    Ref found = nullptr;
    for (const Step& step : plan_.steps()) {
        if (step.name != step_or_part && !step.name.starts_with(beginning)) continue;
        for (const StepId operand : step.operands) {
            const Step& weight = plan_[operand];
            if (weight.role != Role::parameter || name_in_part(weight.name) != name || &weight == found) continue;
            if (found != nullptr) return nullptr;
            found = &weight;
        }
    }
    return found;
}

// A weight's own name may begin otherwise than its part's: "layers.0.down_proj.weight" is what blocks.0.mlp reads.
// An attention's are those of its output, too, which is a step of its block, and no other attention's.
std::vector<Ref> Scope::weights_read_in(std::string_view part, std::string_view name) const {
    const std::string ending = "." + std::string(name), beginning = std::string(part) + ".";
    const std::vector<std::string> attentions = plan_.attentions();
    const std::string_view own = std::ranges::find(attentions, part) != attentions.end() ? part : std::string_view(of_);
    const bool is_of_attention = std::ranges::find(attentions, own) != attentions.end();
    std::vector<Ref> found;
    for (const Step& step : plan_.steps()) {
        if (step.attention != part && !step.name.starts_with(beginning)) continue;
        if (is_of_attention && !step.attention.empty() && step.attention != own) continue;
        for (const StepId operand : step.operands)
            if (plan_[operand].role == Role::parameter && plan_[operand].name.ends_with(ending) && operand < before_ &&
                std::ranges::find(found, &plan_[operand]) == found.end())
                found.push_back(&plan_[operand]);
    }
    return found;
}

std::vector<Ref> Scope::nearest_weights(std::string_view name) const {
    for (std::string_view part = of_; !part.empty(); part = around(part))
        if (std::vector<Ref> weights = weights_read_in(part, name); !weights.empty()) return weights;
    return {};
}

std::vector<std::string> Scope::weights_called(std::string_view name) const {
    std::vector<std::string> names;
    for (const Ref weight : nearest_weights(name.substr(pass_of(name).size()))) names.push_back(weight->name);
    return names;
}

std::optional<Read> Scope::find(std::string_view name) const {
    const std::string_view pass = pass_of(name);
    if (const Ref step = pass.empty() || pass == kGradients ? step_named(name) : nullptr) return Read{step->id};
    if (pass.empty()) return std::nullopt;
    const Ref of = step_named(name.substr(pass.size()));
    if (pass != kGradients) {
        const RunOf run = pass == kOther ? RunOf::other : pass == kExact ? RunOf::exact : RunOf::unedited;
        return of == nullptr ? std::nullopt : std::optional(Read{of->id, run});
    }
    const Ref gradient = of == nullptr ? nullptr : plan_.gradient_wrt(*of);
    return gradient == nullptr ? std::nullopt : std::optional(Read{gradient->id});
}

bool Scope::names_other_pass(std::string_view name) { return !pass_of(name).empty(); }

void Scope::check_block(std::string_view name, std::size_t at) const {
    name.remove_prefix(pass_of(name).size());
    for (const StackKind stack : {StackKind::encoder, StackKind::decoder}) {
        const std::vector<std::string> blocks = plan_.blocks(stack);
        if (blocks.empty()) continue;
        const std::string_view all = part_of(blocks.front()),
                               number = name.substr(std::min(name.size(), all.size() + 1));
        const std::string_view own = number.substr(0, number.find('.'));
        if (!name.starts_with(std::string(all) + ".") || own.size() == number.size() || !is_number(own)) continue;
        const std::string block = std::string(all) + "." + std::string(own);
        if (std::ranges::find(blocks, block) == blocks.end())
            throw formulas::FormulaError(
                message("there is no {block}: this model has {first} to {last}",
                        {{"block", block}, {"first", blocks.front()}, {"last", blocks.back()}}),
                at);
    }
}

std::vector<std::string> Scope::names() const {
    std::vector<std::string> all;
    for (const auto& [name, step] : own_) all.push_back(name);
    std::set<StepId> seen;
    for (std::string_view part = of_;; part = around(part)) {
        const std::string prefix = part.empty() ? std::string() : std::string(part) + ".";
        for (const Step& step : plan_.steps())
            if (step.id < before_ && step.name.starts_with(prefix) && (seen.insert(step.id).second || prefix.empty()))
                all.push_back(name_in_formula(step.name.substr(prefix.size())));
        if (part.empty()) return all;
    }
}

std::vector<std::string> Scope::names_as(std::string_view written) const {
    std::vector<std::string> all = names();
    for (std::string& name : all) name.insert(0, pass_of(written));
    return all;
}

std::vector<std::string> Scope::names_from(std::string_view typed, std::size_t most) const {
    const std::string_view prefix = pass_of(typed), rest = typed.substr(prefix.size());
    std::vector<std::string> found;
    for (const std::string& name : names())
        if (found.size() < most && name.starts_with(rest) && name.size() > rest.size())
            found.push_back(std::string(prefix) + name);
    return found;
}

std::vector<std::string> matching(const Plan& plan, std::string_view pattern, bool parts) {
    std::vector<std::string> found;
    std::set<std::string, std::less<>> seen;
    for (const Step& step : plan.steps()) {
        const std::string whole = parts ? name_in_formula(step.name) : step.name;
        for (std::string_view name = parts ? part_of(whole) : whole; !name.empty(); name = part_of(name)) {
            if (matches(name, pattern) && seen.emplace(name).second) found.emplace_back(name);
            if (!parts) break;
        }
    }
    return found;
}

std::string_view part_of(std::string_view tensor) {
    const std::size_t dot = tensor.rfind('.');
    return dot == std::string_view::npos ? std::string_view() : tensor.substr(0, dot);
}

std::string_view name_in_part(std::string_view tensor) { return tensor.substr(tensor.rfind('.') + 1); }

std::string for_all_layers(std::string_view name) {
    std::string all;
    for (std::size_t begin = 0; begin <= name.size();) {
        const std::size_t end = std::min(name.find('.', begin), name.size());
        const std::string_view one = name.substr(begin, end - begin);
        all += all.ends_with("blocks.") && is_number(one) ? "*" : std::string(one);
        if (end < name.size()) all += '.';
        begin = end + 1;
    }
    return all;
}

}  // namespace decoderscope::sheet
