#include "app/core/sweep/each.h"

#include "app/core/run/labels.h"
#include "app/core/sweep/replaced_tokens.h"
#include "app/core/text/token_text.h"
#include "engine/base/error.h"
#include "engine/formulas/words.h"

#include <algorithm>
#include <array>
#include <memory>
#include <set>

namespace decoderscope::core::sweep {

namespace {

constexpr std::string_view kEach = "each ", kOf = " of ";

// One of a kind: what it is called, where it is, and what is changed.
struct Member {
    std::string part;  // "blocks.0.attn"; empty for what is of the whole run
    Sentence text;
    std::function<std::vector<Edit>()> edits;
};
struct Members : std::vector<Member> {
    std::size_t off = 0;  // that add nothing as it is
};

// ---- heads

// Whether a head of z [batch, head, query, d_head] adds nothing, because it is switched off.
bool is_off(const Tensor& z, Index head) {
    const auto size = static_cast<std::size_t>(z.dim(2) * z.dim(3));
    for (Index batch = 0; batch < z.dim(0); ++batch)
        if (!std::ranges::all_of(z.values().subspan(static_cast<std::size_t>(batch * z.dim(1) + head) * size, size),
                                 [](float value) { return value == 0.0F; }))
            return false;
    return true;
}

void add_heads(Members& members, const Unswept& unswept) {
    const Plan& plan = unswept.run->plan();
    for (const std::string& attention : plan.attentions()) {
        const Ref z = plan.step_of(attention, AttentionStep::z);
        if (z == nullptr) continue;
        for (Index head = 0; head < z->axes[1].size; ++head) {
            if (is_off(unswept.run->value(z->id), head)) {
                ++members.off;
                continue;
            }
            members.push_back({attention,
                               message("{attention} head {head}", {{"attention", attention}, {"head", head}}),
                               [attention, head] {
                                   return std::vector<Edit>{ScaleHead{attention, head, 0.0F}};
                               }});
        }
    }
}

// ---- layers

// The sums of a block that add its sublayers' updates to the stream.
std::vector<Edit> sums_without_updates(const Plan& plan, const std::string& block) {
    std::vector<Edit> edits;
    for (const Step& sum : plan.steps()) {
        const std::optional<StepId> stream = sum.operand(OperandRole::stream);
        if (sum.block == block && sum.part == Part::add && stream)
            edits.emplace_back(RewriteStep{sum.name, "residual_scale * " + plan[*stream].name});
    }
    return edits;
}

void add_layers(Members& members, const Unswept& unswept) {
    const Plan& plan = unswept.run->plan();
    for (const StackKind stack : {StackKind::encoder, StackKind::decoder})
        for (const std::string& block : plan.blocks(stack)) {
            const std::vector<Edit> edits = sums_without_updates(plan, block);
            if (!edits.empty()) members.push_back({block, Sentence::verbatim(block), [edits] { return edits; }});
        }
}

// ---- neurons

// The last tensor in a block's MLP that has a column for each neuron [batch, pos, d_ff]; nullptr if it has none, as in
// a mixture of experts.
Ref activation_in(const Plan& plan, const std::string& block) {
    Ref last = nullptr;
    for (const Step& step : plan.steps())
        if (step.block == block && step.part == Part::mlp && !step.is_source() && !step.backward &&
            step.axes.size() == 3 && step.axes[2].name == axis::d_ff)
            last = &step;
    return last;
}

void add_neurons(Members& members, const Unswept& unswept) {
    const Plan& plan = unswept.run->plan();
    for (const StackKind stack : {StackKind::encoder, StackKind::decoder})
        for (const std::string& block : plan.blocks(stack)) {
            const Ref step = activation_in(plan, block);
            for (Index neuron = 0; step != nullptr && neuron < step->axes[2].size; ++neuron)
                members.push_back({step->name, Sentence::verbatim(step->name + " neuron " + std::to_string(neuron)),
                                   [name = step->name, axes = step->axes, neuron] {
                                       std::vector<Edit> edits;
                                       for (Index batch = 0; batch < axes[0].size; ++batch)
                                           for (Index pos = 0; pos < axes[1].size; ++pos)
                                               edits.emplace_back(SetCell{name, {batch, pos, neuron}, 0.0F});
                                       return edits;
                                   }});
        }
}

// ---- positions

// The attentions whose keys are positions of a sequence.
std::vector<std::string> attentions_over(const Plan& plan, TokenSequence sequence) {
    std::vector<std::string> names;
    for (const std::string& attention : plan.attentions())
        if (const Ref mask = plan.step_of(attention, AttentionStep::mask);
            mask != nullptr && sequence_along(*mask, 3) == sequence)
            names.push_back(attention);
    return names;
}

// Hides a position from every query but its own, which sees itself as before: a query that sees nothing would become
// NaN, and with it all others.
std::vector<Edit> hidden_from_others(const Run& run, const std::vector<std::string>& attentions, Index batch,
                                     Index position) {
    std::vector<Edit> edits;
    for (const std::string& attention : attentions) {
        edits.emplace_back(MaskEdit{attention, batch, std::nullopt, std::nullopt, position, false});
        const Step& step = *run.plan().step_of(attention, AttentionStep::mask);
        if (sequence_along(step, 2) != sequence_along(step, 3)) continue;
        const Tensor& mask = run.value(step.id);  // [batch, head, query, key]
        for (Index head = 0; head < step.axes[1].size; ++head)
            if (mask.at(Cell{batch, head, position, position}) != 0.0F)
                edits.emplace_back(MaskEdit{attention, batch, head, position, position, true});
    }
    return edits;
}

void add_positions_of(Members& members, const Unswept& unswept, TokenSequence sequence) {
    const std::vector<std::string> attentions = attentions_over(unswept.run->plan(), sequence);
    if (attentions.empty()) return;
    const Step& mask = *unswept.run->plan().step_of(attentions.front(), AttentionStep::mask);
    const Inputs& inputs = unswept.scenario.inputs;
    const Tensor& padding = sequence == TokenSequence::source ? inputs.encoder_attention_mask : inputs.attention_mask;
    for (Index batch = 0; batch < mask.axes[0].size; ++batch) {
        const PlaceNames names(unswept.scenario, mask, {3}, batch);
        for (Index position = 0; position < mask.axes[3].size; ++position) {
            if (is_padding(padding, batch, position)) continue;
            const Arguments where = {{"batch", batch}, {"position", names.number(0, position)}};
            members.push_back({"",
                               mask.axes[0].size == 1 ? message("position {position}", where)
                                                      : message("row {batch}, position {position}", where),
                               [run = unswept.run, attentions, batch, position] {
                                   return hidden_from_others(*run, attentions, batch, position);
                               }});
        }
    }
}

void add_positions(Members& members, const Unswept& unswept) {
    add_positions_of(members, unswept, TokenSequence::target);
}
void add_source_positions(Members& members, const Unswept& unswept) {
    add_positions_of(members, unswept, TokenSequence::source);
}

// ---- tokens

constexpr Index kOthersEach = 8;  // how many are put in each place

void add_replaced_of(Members& members, const Unswept& unswept, TokenSequence sequence) {
    const Scenario& scenario = unswept.scenario;
    const tokenizer::Tokenizer& tokenizer =
        sequence == TokenSequence::source ? scenario.encoder_tokenizer() : scenario.tokenizer();
    for (const ReplacedToken& one : replaced_tokens(scenario, *unswept.run, sequence, kOthersEach)) {
        const SetCell edit = edit_of(one);
        const Index before = positions_before(scenario, *unswept.run->plan().find(edit.tensor), 1);
        const Arguments what = {{"batch", one.batch},
                                {"position", before + one.position},
                                {"before", token_text(tokenizer, one.before)},
                                {"after", token_text(tokenizer, one.after)}};
        members.push_back({"",
                           scenario.batch() == 1
                               ? message("position {position}, “{after}” in place of “{before}”", what)
                               : message("row {batch}, position {position}, “{after}” in place of “{before}”", what),
                           [edit] { return std::vector<Edit>{edit}; }});
    }
}

void add_replaced(Members& members, const Unswept& unswept) {
    add_replaced_of(members, unswept, TokenSequence::target);
}
void add_replaced_source(Members& members, const Unswept& unswept) {
    add_replaced_of(members, unswept, TokenSequence::source);
}

// ---- the kinds

struct OneKind {
    std::string_view of;  // "source", or empty
    std::string_view noun;
    void (*add)(Members& members, const Unswept& unswept);
    bool leaves_out = true;  // else something else is there

    [[nodiscard]] std::string name() const { return std::string(of) + (of.empty() ? "" : " ") + std::string(noun); }
};
constexpr std::array kKinds = {
    OneKind{"", "head", add_heads},
    OneKind{"", "layer", add_layers},
    OneKind{"", "neuron", add_neurons},
    OneKind{"", "position", add_positions},
    OneKind{"", "token", add_positions},
    OneKind{"source", "position", add_source_positions},
    OneKind{"source", "letter", add_source_positions},
    OneKind{"replaced", "token", add_replaced, false},
    OneKind{"replaced source", "token", add_replaced_source, false}};  // not a message: a word of the grammar

const OneKind& kind_of(std::string_view name) {
    const auto* kind = std::ranges::find(kKinds, name, &OneKind::name);
    if (kind != kKinds.end()) return *kind;
    const std::string asked = std::string(kEach) + std::string(name);
    throw Error(formulas::with_nearest(
        message("“{name}” can't be varied, expected one of {all}", {{"name", asked}, {"all", list_of_each()}}), asked,
        names_of_each()));
}

bool lies_in(const std::string& part, std::string_view whole) {
    return part == whole || part.starts_with(std::string(whole) + ".");
}

}  // namespace

std::vector<std::string> names_of_each() {
    std::vector<std::string> names;
    for (const OneKind& kind : kKinds) names.push_back(std::string(kEach) + kind.name());
    return names;
}

std::string list_of_each() {
    std::string all;
    for (const std::string& name : names_of_each()) all += (all.empty() ? "" : ", ") + name;
    return all;
}

bool is_each(std::string_view what) { return what.starts_with(kEach) && what.find('=') == std::string_view::npos; }

Points each_of(std::string_view what, const Unswept& unswept) {
    const std::size_t of = std::min(what.find(kOf), what.size());
    const std::string_view part = what.substr(std::min(of + kOf.size(), what.size()));
    const OneKind& kind = kind_of(what.substr(kEach.size(), of - kEach.size()));
    const auto members = std::make_shared<Members>();
    kind.add(*members, unswept);
    if (members->empty()) throw Error("“{what}”: this run has no {kind}", {{"what", what}, {"kind", kind.name()}});
    if (!part.empty()) {
        const std::string example = members->front().part;
        std::erase_if(*members, [&](const Member& member) { return !lies_in(member.part, part); });
        if (members->empty() && example.empty())
            throw Error("“{what}”: a {kind} is of the whole run, expected nothing behind it",
                        {{"what", what}, {"kind", kind.name()}});
        if (members->empty())
            throw Error("“{what}”: there is none, expected a part such as {example}",
                        {{"what", what}, {"example", example}});
    }
    return {.varied = {kind.name()},
            .count = members->size(),
            .at =
                [members](std::size_t i) {
                    const Member& member = (*members)[i];
                    return Point{.at = {{member.text}}, .variation = {.more_edits = member.edits()}};
                },
            .leave_out = kind.leaves_out,
            .off = members->off};
}

}  // namespace decoderscope::core::sweep
