#include "app/core/ask/vary.h"

#include "app/core/generate/generator.h"
#include "app/core/run/bounds.h"
#include "app/core/run/comparison.h"
#include "app/core/run/labels.h"
#include "app/core/run/passes_of_text.h"
#include "app/core/text/characters.h"
#include "app/core/text/numbers.h"
#include "app/core/text/token_text.h"
#include "engine/backward/gradient.h"
#include "engine/base/error.h"
#include "engine/formulas/print.h"
#include "engine/formulas/words.h"
#include "engine/tensor/tensor.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <memory>
#include <set>

namespace decoderscope::core::ask {

namespace {

// ==== tokens that are replaced

const char* input_of(bool source) { return source ? "encoder_tokens" : "tokens"; }

// Up to `count` ordinary tokens other than this one.
std::vector<Index> others(const tokenizer::Tokenizer& tokenizer, Index token, Index vocabulary, Index count) {
    std::vector<Index> found;
    for (Index i = 0; i < count; ++i) {
        Index other = (token + 1 + i * std::max<Index>(1, vocabulary / count)) % vocabulary;
        for (Index step = 0; step < vocabulary && (other == token || !is_ordinary(tokenizer, other)); ++step)
            other = (other + 1) % vocabulary;
        if (other != token && std::ranges::find(found, other) == found.end()) found.push_back(other);
    }
    return found;
}

}  // namespace

bool is_ordinary(const tokenizer::Tokenizer& tokenizer, Index token) {
    const tokenizer::SpecialTokens special = tokenizer.special();
    return token != special.pad && token != special.beginning && !special.ends_at(token);
}

std::vector<ReplacedToken> replaced_tokens(const Scenario& scenario, const Run& run, TokenSequence sequence,
                                           Index each) {
    const bool source = sequence == TokenSequence::source;
    const Ref step = run.plan().find(input_of(source));
    if (step == nullptr || step->role != Role::input) return {};
    const tokenizer::Tokenizer& tokenizer = source ? scenario.encoder_tokenizer() : scenario.tokenizer();
    const Index vocabulary = source ? scenario.config().encoder_vocab_size : scenario.config().vocab_size;
    const Tensor mask = source ? scenario.inputs.encoder_attention_mask : padding_of(scenario);
    const Tensor& tokens = run.value(step->id);  // [batch, pos]
    std::vector<ReplacedToken> all;
    for (Index batch = 0; batch < tokens.dim(0); ++batch)
        for (Index position = 0; position < tokens.dim(1); ++position) {
            if (is_padding(mask, batch, position)) continue;
            const auto before = static_cast<Index>(tokens.at(Cell{batch, position}));
            for (const Index after : others(tokenizer, before, vocabulary, each))
                all.push_back({source, batch, position, before, after});
        }
    return all;
}

SetCell edit_of(const ReplacedToken& replaced) {
    return {input_of(replaced.in_source), {replaced.batch, replaced.position}, static_cast<float>(replaced.after)};
}

namespace {

// ==== each of a kind, changed one at a time

constexpr std::string_view kEach = "each ", kOf = " of ", kTimes = " times ";

// One of a kind: what it is called, where it is, and what is changed.
struct Member {
    std::string part;  // "blocks.0.attn"; empty for what is of the whole run
    Sentence text;
    std::function<std::vector<Edit>()> edits;
    std::function<std::shared_ptr<const load::Model>()> model = {};
    std::function<Inputs(Inputs)> inputs = {};
    Numbers numbers = {};
};
struct Members : std::vector<Member> {
    std::string_view of;  // the part that is asked for; empty: all
    float factor = 0.0F;  // of a head or a weight
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

// Visits each attention's z [batch, head, query, d_head], head by head: edits(z, head) makes those of the run without
// it; nothing if it is to be left out.
template <class MakeEdits>
void add_each_head(Members& members, const Unswept& unswept, const MakeEdits& edits) {
    const Plan& plan = unswept.run->plan();
    for (const std::string& attention : plan.attentions()) {
        const Ref z = plan.step_of(attention, AttentionStep::z);
        for (Index head = 0; z != nullptr && head < z->axes[1].size; ++head)
            if (std::function<std::vector<Edit>()> made = edits(z, head))
                members.push_back({attention,
                                   message("{attention} head {head}", {{"attention", attention}, {"head", head}}),
                                   std::move(made)});
    }
}

void add_heads(Members& members, const Unswept& unswept) {
    add_each_head(members, unswept, [&](Ref z, Index head) -> std::function<std::vector<Edit>()> {
        if (is_off(unswept.run->value(z->id), head)) {
            ++members.off;
            return {};
        }
        return [attention = z->attention, head, factor = members.factor] {
            return std::vector<Edit>{ScaleHead{attention, head, factor}};
        };
    });
}

// A head's z [batch, head, query, d_head] with the mean over all queries of another, which aren't padding, in each of
// its places.
std::vector<Edit> averaged(const Step& z, Index head, const Tensor& from, const Tensor& padding) {
    std::vector<Edit> edits;
    for (Index column = 0; column < z.axes[3].size; ++column) {
        double sum = 0.0, count = 0.0;
        for (Index batch = 0; batch < from.dim(0); ++batch)
            for (Index query = 0; query < from.dim(2); ++query)
                if (!is_padding(padding, batch, query)) {
                    sum += static_cast<double>(from.at(Cell{batch, head, query, column}));
                    count += 1.0;
                }
        for (Index batch = 0; batch < z.axes[0].size; ++batch)
            for (Index query = 0; query < z.axes[2].size; ++query)
                edits.emplace_back(SetCell{z.name, {batch, head, query, column}, static_cast<float>(sum / count)});
    }
    return edits;
}

Tensor padding_for(const Step& z, const Scenario& scenario) {
    return z.in_encoder() ? scenario.inputs.encoder_attention_mask : padding_of(scenario);
}

void add_averaged_heads(Members& members, const Unswept& unswept) {
    add_each_head(members, unswept, [&](Ref z, Index head) -> std::function<std::vector<Edit>()> {
        return [run = unswept.run, z, head, padding = padding_for(*z, unswept.scenario)] {
            return averaged(*z, head, run->value(z->id), padding);
        };
    });
}

void add_heads_of_other(Members& members, const Unswept& unswept) {
    const std::shared_ptr<const ReferenceRun> other = unswept.scenario.other_run;
    if (other == nullptr)
        throw Error(
            "there is no other run to average, expected one that is pinned, or a file, in Compare; on the "
            "command line --other FILE");
    add_each_head(members, unswept, [&](Ref z, Index head) -> std::function<std::vector<Edit>()> {
        const Tensor* from = other->find(z->name);
        if (from == nullptr || from->rank() != 4 || from->dim(1) != z->axes[1].size || from->dim(3) != z->axes[3].size)
            throw Error("other.{tensor}: the other run has no such tensor of shape {shape}",
                        {{"tensor", z->name}, {"shape", shape_text(z->axes)}});
        const Tensor padding = other->scenario == nullptr ? Tensor() : padding_for(*z, *other->scenario);
        return [run = unswept.run, other, z, head, from, padding] { return averaged(*z, head, *from, padding); };
    });
}

// ---- weights

void add_weights(Members& members, const Unswept& unswept) {
    const Ref weight = unswept.run->plan().find(members.of);
    if (weight == nullptr || weight->role != Role::parameter)
        throw Error(
            "each weight: of which tensor is not said, expected one of the weights, as in each weight of {example}",
            {{"example", unswept.scenario.weights().begin()->first}});
    const Tensor& values = unswept.run->value(weight->id);
    if (values.size() > static_cast<Index>(kMostPoints))
        throw Error("{tensor}: {count} weights are too many, expected at most {most}",
                    {{"tensor", weight->name},
                     {"count", grouped(values.size())},
                     {"most", grouped(static_cast<Index>(kMostPoints))}});
    for (Index i = 0; i < values.size(); ++i) {
        const Cell cell = values.cell(i);
        const float now = members.factor == 0.0F ? 0.0F : members.factor * values.at(cell);
        std::string place;
        for (const Index index : cell) place += (place.empty() ? "" : ", ") + std::to_string(index);
        members.push_back(
            {weight->name, Sentence::verbatim(weight->name + "[" + place + "]"), [name = weight->name, cell, now] {
                 return std::vector<Edit>{SetCell{name, cell, now}};
             }});
    }
}

// Nothing is changed: the row reads one after the other.
void add_parameters(Members& members, const Unswept& unswept) {
    const Plan& plan = unswept.run->plan();
    const std::string one = "parameter", gradient = backward::gradient_name(one);
    if (!names_number(unswept.row, one, plan) && !names_number(unswept.row, gradient, plan))
        throw Error(
            "each parameter: the row doesn't name it, expected a formula that does, such as max(abs(grad.parameter))");
    for (const Step& step : plan.steps())
        if (step.role == Role::parameter)
            members.push_back({.part = step.name,
                               .text = Sentence::verbatim(step.name),
                               .edits = {},
                               .numbers = {{one, step.name}, {gradient, backward::gradient_name(step.name)}}});
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

// The model with the weights of two blocks exchanged.
std::shared_ptr<const load::Model> exchanged(const Unswept& unswept, const std::string& block, Index other) {
    const Plan& plan = unswept.run->plan();
    load::Model model = *unswept.scenario.model();
    std::set<std::string> done;
    for (const Step& step : plan.steps()) {
        const Ref twin = step.block == block && !step.backward ? plan.twin_in(step, other) : nullptr;
        for (std::size_t i = 0; twin != nullptr && i < std::min(step.operands.size(), twin->operands.size()); ++i) {
            const Step &a = plan[step.operands[i]], &b = plan[twin->operands[i]];
            if (a.role != Role::parameter || b.role != Role::parameter || a.name == b.name) continue;
            const auto x = model.weights.find(a.name), y = model.weights.find(b.name);
            if (x == model.weights.end() || y == model.weights.end() || !done.insert(a.name).second) continue;
            std::swap(x->second, y->second);
        }
    }
    return std::make_shared<const load::Model>(std::move(model));
}

void add_exchanged_layers(Members& members, const Unswept& unswept) {
    const Plan& plan = unswept.run->plan();
    for (const StackKind stack : {StackKind::encoder, StackKind::decoder}) {
        const std::vector<std::string> blocks = plan.blocks(stack);
        for (std::size_t i = 0; i + 1 < blocks.size(); ++i)
            members.push_back(
                {blocks[i],
                 message("{block} and {other}", {{"block", blocks[i]}, {"other", blocks[i + 1]}}),
                 {},
                 [unswept, block = blocks[i], i] { return exchanged(unswept, block, static_cast<Index>(i) + 1); }});
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

void add_replaced_of(Members& members, const Unswept& unswept, TokenSequence sequence, Index each) {
    const Scenario& scenario = unswept.scenario;
    const tokenizer::Tokenizer& tokenizer =
        sequence == TokenSequence::source ? scenario.encoder_tokenizer() : scenario.tokenizer();
    for (const ReplacedToken& one : replaced_tokens(scenario, *unswept.run, sequence, each)) {
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
    add_replaced_of(members, unswept, TokenSequence::target, kOthersEach);
}
void add_replaced_source(Members& members, const Unswept& unswept) {
    add_replaced_of(members, unswept, TokenSequence::source, kOthersEach);
}
void add_others(Members& members, const Unswept& unswept) {
    add_replaced_of(members, unswept, TokenSequence::target, unswept.scenario.config().vocab_size);
}
void add_source_others(Members& members, const Unswept& unswept) {
    add_replaced_of(members, unswept, TokenSequence::source, unswept.scenario.config().encoder_vocab_size);
}

// The one row with one more token before a position.
Inputs with_inserted(Inputs inputs, Index position, Index token) {
    const std::span<const float> before = inputs.tokens.values();
    std::vector<Index> tokens;
    for (const float id : before) tokens.push_back(static_cast<Index>(id));
    tokens.insert(tokens.begin() + position, token);
    inputs.tokens = padded_batch({std::move(tokens)}, axis::pos).tokens;
    inputs.targets = {};  // they are of the text as it was
    return inputs;
}

void add_inserted(Members& members, const Unswept& unswept) {
    const Scenario& scenario = unswept.scenario;
    const Inputs& inputs = scenario.inputs;
    if (inputs.tokens.empty() || shown_pass(scenario) != nullptr) return;
    if (inputs.batch() > 1 || !inputs.attention_mask.empty() || !inputs.custom_mask.empty() ||
        !inputs.positions.empty() || !inputs.segments.empty())
        throw Error("each inserted token: expected one row of tokens, without padding, masks or positions of its own");
    if (const Sentence full = generate::row_is_full(scenario, 0); !full.empty()) throw Error(full);
    const tokenizer::Tokenizer& tokenizer = scenario.tokenizer();
    const std::vector<Index> tokens = others(tokenizer, -1, scenario.config().vocab_size, kOthersEach);
    for (Index position = 0; position <= inputs.pos(); ++position)
        for (const Index token : tokens)
            members.push_back(
                {"",
                 message("“{token}” before position {position}",
                         {{"token", token_text(tokenizer, token)}, {"position", position}}),
                 [] { return std::vector<Edit>(); },
                 {},
                 [position, token](Inputs own) { return with_inserted(std::move(own), position, token); }});
}

// ---- the kinds

struct OneKind {
    std::string_view name;
    void (*add)(Members& members, const Unswept& unswept);
    bool leaves_out = true;  // else something else is there
    bool has_factor = false;
};
constexpr std::array kKinds = {
    OneKind{"head", add_heads, true, true},
    OneKind{"averaged head", add_averaged_heads, false},              // not a message: words of the grammar
    OneKind{"head averaged as in other", add_heads_of_other, false},  // not a message: the same
    OneKind{"layer", add_layers},
    OneKind{"exchanged layer", add_exchanged_layers, false},  // not a message: the same
    OneKind{"weight", add_weights, true, true},
    OneKind{"parameter", add_parameters, false},
    OneKind{"neuron", add_neurons},
    OneKind{"position", add_positions},
    OneKind{"token", add_positions},
    OneKind{"source position", add_source_positions},              // not a message: a word of the grammar
    OneKind{"source letter", add_source_positions},                // not a message: the same
    OneKind{"replaced token", add_replaced, false},                // not a message: the same
    OneKind{"replaced source token", add_replaced_source, false},  // not a message: the same
    OneKind{"other token", add_others, false},                     // not a message: the same
    OneKind{"other source token", add_source_others, false},       // not a message: the same
    OneKind{"inserted token", add_inserted, false}                 // not a message: the same
};

std::string list_of_each() {
    std::string all;
    for (const std::string& name : names_of_each()) all += (all.empty() ? "" : ", ") + name;
    return all;
}

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

// The points of "each head" or "each head of blocks.0.attn".
Points each_of(std::string_view asked, const Unswept& unswept) {
    const std::size_t times = std::min(asked.rfind(kTimes), asked.size());
    const std::string_view what = asked.substr(0, times);
    const std::size_t of = std::min(what.find(kOf), what.size());
    const std::string_view part = what.substr(std::min(of + kOf.size(), what.size()));
    const OneKind& kind = kind_of(what.substr(kEach.size(), of - kEach.size()));
    const auto members = std::make_shared<Members>();
    members->of = part;
    if (times < asked.size()) {
        const std::optional<double> factor = number_from(asked.substr(times + kTimes.size()));
        if (!factor || !kind.has_factor || !std::isfinite(static_cast<float>(*factor)))
            throw Error("“{what}”: expected a number behind “times”, of each head or each weight", {{"what", asked}});
        members->factor = static_cast<float>(*factor);
    }
    kind.add(*members, unswept);
    if (members->empty()) throw Error("“{what}”: this run has no {kind}", {{"what", what}, {"kind", kind.name}});
    if (!part.empty()) {
        const std::string example = members->front().part;
        std::erase_if(*members, [&](const Member& member) { return !lies_in(member.part, part); });
        if (members->empty() && example.empty())
            throw Error("“{what}”: a {kind} is of the whole run, expected nothing behind it",
                        {{"what", what}, {"kind", kind.name}});
        if (members->empty())
            throw Error("“{what}”: there is none, expected a part such as {example}",
                        {{"what", what}, {"example", example}});
    }
    return {.varied = {std::string(kind.name)},
            .count = members->size(),
            .at =
                [members](std::size_t i) {
                    const Member& member = (*members)[i];
                    return Point{.at = {{member.text}},
                                 .variation = {.more_edits = member.edits ? member.edits() : std::vector<Edit>()},
                                 .numbers = member.numbers,
                                 .model = member.model,
                                 .inputs = member.inputs};
                },
            .leave_out = kind.leaves_out && members->factor == 0.0F,
            .off = members->off};
}

// ==== a name and its values

constexpr std::string_view kHead = ".head.", kSeed = "dropout_seed", kTrainingStep = "training_step",
                           kTrainingSeed = "training_seed", kBatchSeed = "batch_seed", kRate = "learning_rate",
                           kTo = "..";
constexpr std::string_view kSample = "sample", kSampleLength = "sample_length",
                           kSampleTemperature = "sample_temperature";
constexpr std::array kOfTraining = {kTrainingStep, kTrainingSeed, kBatchSeed, kRate};

template <class Number>
std::optional<Number> whole_number(std::string_view text) {
    Number number{};
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
    return failed == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

// ---- the values

// A value as it is written, and as a number if it is one.
struct Written {
    std::string text;
    std::optional<double> number;
};

Written value_of(double number) { return {formulas::written(number, formulas::Script::ascii), number}; }

// The number next to it that has 15 digits: what is computed with is then what is shown, 0.3 and not
// 0.30000000000000004.
double rounded(double number) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.15g", number);
    return number_from(text.data()).value_or(number);
}

[[noreturn]] void fail(std::string_view what, const Sentence& why) {
    throw Error("“{what}”: {why}", {{"what", what}, {"why", why}});
}

void check_count(std::string_view what, std::size_t count) {
    if (count > kMostPoints)
        fail(what, message("a sweep of {count} runs, expected at most {most}",
                           {{"count", grouped(static_cast<Index>(count))}, {"most", grouped(kMostPoints)}}));
}

// "A..B:N"
std::vector<Written> range_of(std::string_view what, std::string_view text) {
    const std::size_t dots = text.find(kTo), colon = text.find(':', dots);
    const auto first = number_from(trimmed(text.substr(0, dots)));
    const auto last = number_from(trimmed(text.substr(dots + kTo.size(), colon - dots - kTo.size())));
    const std::uint64_t count =
        colon == std::string_view::npos ? 0 : whole_number<std::uint64_t>(trimmed(text.substr(colon + 1))).value_or(0);
    if (!first || !last || count < 2)
        fail(what, message("expected a range A..B:N of two numbers and how many to take, at least 2, such as 0..1:5"));
    if (*first >= *last)
        fail(what, message("a range from a number to one that is not larger, expected the smaller first"));
    check_count(what, count);
    std::vector<Written> values;
    for (std::size_t i = 0; i < count; ++i) {
        const double part = static_cast<double>(i) / static_cast<double>(count - 1);
        values.push_back(value_of(rounded(*first * (1.0 - part) + *last * part)));
    }
    return values;
}

// "x,y,z"
std::vector<Written> list_of(std::string_view what, std::string_view text) {
    std::vector<Written> values;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        const std::string_view one = trimmed(text.substr(begin, end - begin));
        if (one.empty()) fail(what, message("expected values behind “=”: A..B:N, or x,y,z"));
        values.push_back({std::string(one), number_from(one)});
        begin = end + 1;
    }
    check_count(what, values.size());
    return values;
}

std::vector<Written> values_in(std::string_view what, std::string_view text) {
    return text.find(kTo) == std::string_view::npos ? list_of(what, text) : range_of(what, text);
}

// ---- what they are values of

double need_number(std::string_view what, const Written& value) {
    if (!value.number) fail(what, message("“{value}” is no finite number", {{"value", value.text}}));
    return *value.number;
}

float need_float(std::string_view what, const Written& value) {
    const auto number = static_cast<float>(need_number(what, value));
    if (!std::isfinite(number))
        fail(what, message("“{value}” is beyond what a 32-bit float holds", {{"value", value.text}}));
    return number;
}

std::uint64_t need_seed(std::string_view what, const Written& value) {
    const auto seed = whole_number<std::uint64_t>(value.text);
    if (!seed) fail(what, message("“{value}” is no seed, expected a whole number from 0 on", {{"value", value.text}}));
    return *seed;
}

Index need_step(const Written& value) {
    const auto step = whole_number<Index>(value.text);
    if (!step || *step < 0)
        fail(kTrainingStep,
             message("“{value}” is no step of a training, expected a whole number from 0 on", {{"value", value.text}}));
    return *step;
}

// What one value changes. Throws Error if it can't be one.
using Change = std::function<void(Point&, const Written&)>;

// "blocks.0.attn.head.3"; nothing if it names no head of the model.
std::optional<ScaleHead> head_named(std::string_view name, const Plan& plan) {
    const std::size_t at = name.rfind(kHead);
    if (at == std::string_view::npos) return std::nullopt;
    const auto head = whole_number<Index>(name.substr(at + kHead.size()));
    const Ref z = plan.step_of(name.substr(0, at), AttentionStep::z);
    if (!head || z == nullptr || *head < 0 || *head >= z->axes[1].size) return std::nullopt;
    return ScaleHead{std::string(name.substr(0, at)), *head};
}

Change change_of_seed(const std::string& name, const Unswept&) {
    if (name != kSeed) return nullptr;
    return [](Point& point, const Written& value) { point.variation.dropout_seed = need_seed(kSeed, value); };
}

Change change_of_training(const std::string& name, const Unswept& unswept) {
    if (std::ranges::find(kOfTraining, name) == kOfTraining.end()) return nullptr;
    if (!unswept.trained)
        throw Error(
            "{name}: no training of this model is known, expected one in Train (F) or, on the command line, how: "
            "--task, --data or --lines, and --lr",
            {{"name", name}});
    if (name == kTrainingStep)
        return [](Point& point, const Written& value) { point.training_step = need_step(value); };
    if (name == kTrainingSeed)
        return [](Point& point, const Written& value) { point.training.seed = need_seed(kTrainingSeed, value); };
    if (name == kBatchSeed)
        return [](Point& point, const Written& value) { point.training.batch_seed = need_seed(kBatchSeed, value); };
    return [](Point& point, const Written& value) {
        const double rate = need_number(kRate, value);
        if (rate <= 0.0)
            fail(kRate, message("“{value}” is no learning rate, expected a number above 0", {{"value", value.text}}));
        point.training.learning_rate = rate;
    };
}

Change change_of_sample(const std::string& name, const Unswept& unswept) {
    if (name != kSample && name != kSampleLength && name != kSampleTemperature) return nullptr;
    if (const Sentence obstacle = generate::generation_obstacle(unswept.scenario); !obstacle.empty())
        throw Error(obstacle);
    if (name == kSample)
        return [](Point& point, const Written& value) { point.sample.seed = need_seed(kSample, value); };
    if (name == kSampleLength)
        return [](Point& point, const Written& value) {
            const double length = need_number(kSampleLength, value);
            if (length != std::floor(length) || length < 1.0 || length > static_cast<double>(bounds::kGenerated.most))
                fail(kSampleLength, message("“{value}” is no number of tokens", {{"value", value.text}}));
            point.sample.length = static_cast<Index>(length);
        };
    return [](Point& point, const Written& value) {
        point.sample.temperature = need_number(kSampleTemperature, value);
        if (point.sample.temperature < 0.0 || point.sample.temperature > bounds::kTemperature.most)
            fail(kSampleTemperature,
                 message("“{value}” is no temperature, expected a number from 0 on", {{"value", value.text}}));
    };
}

Change change_of_cell(const std::string& name, const Unswept& unswept) {
    if (name.find('[') == std::string::npos) return nullptr;
    const CellName cell = parse_cell_name(name);
    const Ref step = unswept.run->plan().find(cell.tensor);
    if (step == nullptr)
        throw Error("{tensor}: this run has no such tensor, expected a name of its trace, a weight or an input",
                    {{"tensor", cell.tensor}});
    check_cell(cell, step->axes);
    return [name, cell](Point& point, const Written& value) {
        point.variation.more_edits.emplace_back(SetCell{cell.tensor, cell.cell, need_float(name, value)});
    };
}

Change change_of_head(const std::string& name, const Unswept& unswept) {
    const std::optional<ScaleHead> head = head_named(name, unswept.run->plan());
    if (!head) return nullptr;
    return [name, scaled = *head](Point& point, const Written& value) {
        point.variation.more_edits.emplace_back(ScaleHead{scaled.attention, scaled.head, need_float(name, value)});
    };
}

Change change_of_key(const std::string& name, const Unswept& unswept) {
    const auto keys = config_values(unswept.scenario.config());
    if (std::ranges::find(keys, name, &Overrides::value_type::first) == keys.end()) return nullptr;
    return [name](Point& point, const Written& value) { point.variation.overrides.emplace_back(name, value.text); };
}

Change change_of_number(const std::string& name, const Unswept& unswept) {
    if (!names_number(unswept.row, name, unswept.run->plan())) return nullptr;
    return [name](Point& point, const Written& value) {
        point.numbers[name] = "(" + formulas::written(need_number(name, value), formulas::Script::ascii) + ")";
    };
}

// What has a name and values, by the kinds of names: the first that knows a name says what its values change.
constexpr std::array kNamedKinds = {change_of_seed, change_of_training, change_of_sample, change_of_cell,
                                    change_of_head, change_of_key,      change_of_number};

// Everything that a name may be, for whoever has mistyped one.
std::vector<std::string> known_names(const Unswept& unswept) {
    std::vector<std::string> known = names_of_each();
    known.insert(known.end(), {std::string(kSeed), std::string(kTemperature), std::string(kSample),
                               std::string(kSampleLength), std::string(kSampleTemperature)});
    for (const std::string_view name : kOfTraining) known.emplace_back(name);
    for (const auto& [key, value] : config_values(unswept.scenario.config())) known.push_back(key);
    const Plan& plan = unswept.run->plan();
    for (const std::string& attention : plan.attentions())
        if (const Ref z = plan.step_of(attention, AttentionStep::z))
            for (Index head = 0; head < z->axes[1].size; ++head)
                known.push_back(attention + std::string(kHead) + std::to_string(head));
    return known;
}

Change change_of(const std::string& name, const Unswept& unswept) {
    for (const auto change_of_kind : kNamedKinds)
        if (Change change = change_of_kind(name, unswept)) return change;
    if (name == kTemperature)
        throw Error(
            "temperature: the row doesn't name it, expected a formula that does, such as softmax(logits / temperature, "
            "dim=-1)");
    throw Error(formulas::with_nearest(
        message(
            "“{name}” can't be varied, expected a configuration key, dropout_seed, a cell (blocks.0.attn.z[0, 1, 2, "
            "3]), a head (blocks.0.attn.head.0), a number that the row's formula names, or {each}",
            {{"name", name}, {"each", list_of_each()}}),
        name, known_names(unswept)));
}

Points values_of(std::string_view what, const Unswept& unswept) {
    const std::size_t equals = what.find('=');
    const std::string name(trimmed(what.substr(0, equals)));
    if (name.empty())
        fail(what,
             message("expected what varies, as in attention_scale=0.1..1:10, norm_first=true,false or each head"));
    const Change change = change_of(name, unswept);
    if (equals == std::string_view::npos) fail(what, message("expected values behind “=”: A..B:N, or x,y,z"));
    std::vector<Written> values = values_in(what, what.substr(equals + 1));
    Points points{{name}, values.size(), [change, values](std::size_t i) {
                      Point point{.at = {{Sentence::verbatim(values[i].text), values[i].number, true}}};
                      change(point, values[i]);
                      return point;
                  }};
    for (std::size_t i = 0; i < points.count; ++i) static_cast<void>(points.at(i));  // each value can be one
    return points;
}

Points combined(Points a, Points b) {
    const std::size_t count = a.count * b.count, columns = b.count;
    std::vector<std::string> varied = a.varied;
    varied.insert(varied.end(), b.varied.begin(), b.varied.end());
    std::string names;
    for (const std::string& name : varied) names += (names.empty() ? "" : " × ") + name;
    check_count(names, count);
    return {std::move(varied), count,
            [a = std::move(a), b = std::move(b), columns](std::size_t i) {
                Point point = a.at(i / columns);
                Point more = b.at(i % columns);
                const auto append = [](auto& to, auto& from) {
                    to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
                };
                append(point.at, more.at);
                append(point.variation.overrides, more.variation.overrides);
                append(point.variation.more_edits, more.variation.more_edits);
                if (more.variation.dropout_seed) point.variation.dropout_seed = more.variation.dropout_seed;
                if (more.training_step) point.training_step = more.training_step;
                if (more.training.seed) point.training.seed = more.training.seed;
                if (more.training.batch_seed) point.training.batch_seed = more.training.batch_seed;
                if (more.training.learning_rate) point.training.learning_rate = more.training.learning_rate;
                if (more.model) point.model = more.model;
                if (more.inputs) point.inputs = more.inputs;
                const Sample one = point.sample, other = more.sample;
                point.sample = {
                    .seed = other.seed ? other.seed : one.seed,
                    .length = other.length != Sample().length ? other.length : one.length,
                    .temperature = other.temperature != Sample().temperature ? other.temperature : one.temperature};
                point.numbers.merge(more.numbers);
                return point;
            },
            columns};
}

}  // namespace

std::vector<std::string> names_of_each() {
    std::vector<std::string> names;
    for (const OneKind& kind : kKinds) names.push_back(std::string(kEach) + std::string(kind.name));
    return names;
}

Points points_of(std::string_view what, const Unswept& unswept) {
    what = trimmed(what);
    const bool is_each = what.starts_with(kEach) && what.find('=') == std::string_view::npos;
    Points points = is_each ? each_of(what, unswept) : values_of(what, unswept);
    check_count(what, points.count);
    return points;
}

Points points_of(std::span<const std::string> things, const Unswept& unswept) {
    Points points = points_of(things.front(), unswept);
    for (const std::string& thing : things.subspan(1)) points = combined(std::move(points), points_of(thing, unswept));
    const auto varies = [&](std::string_view name) {
        return std::ranges::find(points.varied, name) != points.varied.end();
    };
    if (varies(kSeed) && !varies("dropout") && unswept.scenario.config().dropout == 0.0)
        throw Error(
            "dropout_seed: the dropout of this model is 0, so that every seed gives the same run; expected a model "
            "with dropout, or dropout=0.1 varied with it");
    for (const std::string_view name : {kSampleLength, kSampleTemperature})
        if (varies(name) && !varies(kSample))
            throw Error(
                "{name}: drawn with which seeds is not said, expected sample varied with it, as in sample=0..9:10",
                {{"name", name}});
    for (const std::string_view name : kOfTraining)
        if (varies(name) && !varies(kTrainingStep))
            throw Error(
                "{name}: after how many steps is not said, expected training_step varied with it, as in "
                "training_step=300",
                {{"name", name}});
    return points;
}

}  // namespace decoderscope::core::ask
