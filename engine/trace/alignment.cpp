#include "engine/trace/alignment.h"

#include "engine/backward/gradient.h"
#include "engine/load/names/modules.h"
#include "engine/trace/einsum.h"
#include "engine/trace/named_calls.h"

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>

namespace decoderscope::trace {

namespace {

constexpr std::string_view kWeight = ".weight";

// The steps that read each parameter.
std::map<std::string, std::vector<StepId>> readers_by_parameter(const Plan& plan) {
    std::map<std::string, std::vector<StepId>> readers;
    for (const Step& step : plan.steps()) {
        if (step.role == Role::on_demand || !step.lens.empty()) continue;
        for (const StepId operand : step.operands)
            if (plan[operand].role == Role::parameter) readers[plan[operand].name].push_back(step.id);
    }
    return readers;
}

// The path of the module that holds a parameter, and whether the parameter stands in it by a name of its own
// (in_proj_weight, W_Q): then the module does more than apply it.
std::pair<std::string, bool> module_of(const std::string& name) {
    static constexpr std::array<std::string_view, 8> usual = {"weight", "w",     "kernel", "gamma",
                                                              "a_2",    "alpha", "scale",  "g"};
    const std::size_t dot = name.rfind('.');
    const std::string_view last = std::string_view(name).substr(dot == std::string::npos ? 0 : dot + 1);
    const bool plain = std::ranges::find(usual, last) != usual.end();
    return {dot == std::string::npos ? std::string() : name.substr(0, dot), !plain};
}

// What an attention kept is given to a pass, and compared with what theirs was given.
bool is_comparable(const Step& step) {
    const bool kept = step.role == Role::input && !step.attention.empty();
    return (!step.is_source() || kept) && step.role != Role::on_demand && step.lens.empty();
}

std::vector<std::string_view> words_of(std::string_view path) {
    std::vector<std::string_view> words;
    for (std::size_t from = 0; from <= path.size();) {
        const std::size_t end = std::min(path.find_first_of("._-:/~", from), path.size());
        if (end > from) words.push_back(path.substr(from, end - from));
        from = end + 1;
    }
    return words;
}

bool is_number(std::string_view word) { return load::names::number(word) >= 0; }

// Whether the words of the shorter path are the last ones of the other, which has no further number: "h.0.attn" and
// "model.h_0.attn".
bool ends_alike(std::string_view a, std::string_view b) {
    const auto words = words_of(a), others = words_of(b);
    const auto [at, other] = std::mismatch(words.rbegin(), words.rend(), others.rbegin(), others.rend());
    return !words.empty() && !others.empty() && (at == words.rend() || other == others.rend()) &&
           std::none_of(at, words.rend(), is_number) && std::none_of(other, others.rend(), is_number);
}

// Whether a module's path has all words of a name in their order and no other number, and the same last word.
bool has_words(std::string_view module, std::string_view name) {
    const auto words = words_of(module), wanted = words_of(name);
    if (words.empty() || wanted.empty() || words.back() != wanted.back()) return false;
    auto at = wanted.begin();
    for (const std::string_view word : words) {
        const bool next = at != wanted.end() && *at == word;
        if (next)
            ++at;
        else if (is_number(word))
            return false;
    }
    return at == wanted.end();
}

bool is_integer(const TraceTensor& tensor) { return tensor.dtype.starts_with("I") || tensor.dtype.starts_with("U"); }

// Finds the steps of one trace's tensors.
class Aligner {
public:
    Aligner(const Plan& plan, const Trace& trace, const KnownNames& known)
        : plan_(plan),
          trace_(trace),
          known_(known),
          modules_(recorded_modules(plan, known.parameters)),
          by_parameter_(recorded_modules(plan, known.parameters, true)),
          readers_(readers_by_parameter(plan)) {
        for (std::size_t i = 0; i < trace.tensors.size(); ++i) numbers_.emplace(trace.tensors[i].name, i);
        // A module of theirs with modules in it isn't what has one of our names, though it may be called the same.
        std::erase_if(modules_, [&](const auto& module) {
            return !module.second.front().is_container && !known.parameters.contains(module.first + ".weight") &&
                   std::ranges::any_of(trace.calls, [inside = module.first + "."](const TraceCall& call) {
                       return call.module.starts_with(inside);
                   });
        });
    }

    Alignment aligned() {
        by_names();
        if (trace_.calls_by_names)
            by_named_calls();
        else
            for (const TraceCall& call : trace_.calls) visit(call);
        if (trace_.calls.empty()) by_module_names();
        gradients();
        swap_halves();
        Alignment alignment;
        alignment.matches = std::move(matches_);
        std::ranges::stable_sort(alignment.matches, {}, &Match::step);
        std::set<std::size_t> matched;
        for (const Match& match : alignment.matches) matched.insert(match.tensor);
        for (std::size_t i = 0; i < trace_.tensors.size(); ++i)
            if (!matched.contains(i)) alignment.unmatched.push_back(i);
        return alignment;
    }

private:
    // ---- matches

    void add(StepId step, std::size_t tensor, Placed placed, Basis basis, Strictness strictness,
             std::optional<StepId> reader = std::nullopt) {
        const Step& ours = plan_[step];
        if (!is_comparable(ours)) return;
        // Its shape may still be another, which is a difference; but not that of something else. What is projected from
        // a memory has its length, whatever it is projected from.
        const bool fits = can_be_laid_out(ours.axes, trace_.tensors[tensor].values.axes(), placed);
        const bool of_memory = ours.part == Part::cross_attention && basis == Basis::call && placed == Placed{} &&
                               (ours.meaning == Meaning::key || ours.meaning == Meaning::value) &&
                               trace_.tensors[tensor].shape.size() == 3;
        if (!fits && basis != Basis::name && !of_memory &&
            !(basis == Basis::call && has_other_length(ours, tensor, placed)))
            return;
        for (Match& known : matches_) {
            if (known.step != step || known.tensor != tensor || !(known.placed == placed)) continue;
            if (known.strictness == Strictness::up_to_factor) known.strictness = strictness;
            if (!reader) known.reader.reset();
            return;
        }
        matches_.push_back({step, tensor, placed, basis, strictness, reader});
    }

    // Queries and keys of RoPE that turns the other way are ours with the halves swapped, until they meet.
    void swap_halves() {
        std::set<std::string_view> attentions;
        for (const auto& [stored, targets] : known_.parameters)
            for (const load::names::Target& target : targets)
                if (const auto found = readers_.find(target.name);
                    found != readers_.end() && target.how == load::names::RowLayout::halves_swapped)
                    for (const StepId reader : found->second) attentions.insert(plan_[reader].attention);
        for (Match& match : matches_) {
            const Step& step = plan_[match.step];
            match.placed.swapped = (step.meaning == Meaning::query || step.meaning == Meaning::key) &&
                                   step.axes.size() == 4 && attentions.contains(step.attention);
        }
    }

    // Whether keys or values that go on behind kept ones are as many as ours but for their positions: some were lost.
    [[nodiscard]] bool has_other_length(const Step& ours, std::size_t tensor, const Placed& placed) const {
        const bool behind = std::ranges::any_of(ours.operands, [&](StepId id) {
            return plan_[id].role == Role::input && plan_[id].attention == ours.attention;
        });
        const std::vector<Index>& shape = trace_.tensors[tensor].shape;
        if (!behind || !known_.keeps_all || ours.axes.size() != 4 || shape.size() != 4) return false;
        Axes axes = ours.axes;
        axes.resize(2, shape[placed.turned ? 3 : 2]);
        return can_be_laid_out(axes, trace_.tensors[tensor].values.axes(), placed);
    }

    void add(std::optional<StepId> step, const std::string& tensor, Placed placed = {},
             Strictness strictness = Strictness::exact, std::optional<StepId> reader = std::nullopt) {
        const auto number = numbers_.find(tensor);
        if (step && number != numbers_.end()) add(*step, number->second, placed, Basis::call, strictness, reader);
    }

    [[nodiscard]] std::optional<StepId> step_named(const std::string& name) const {
        const Ref step = plan_.find(name);
        return step == nullptr ? std::nullopt : std::optional(step->id);
    }

    // ---- by names

    void by_names() {
        for (const auto& [name, number] : numbers_) {
            const auto alias = known_.aliases.find(name);
            const Ref step = plan_.find(alias == known_.aliases.end() ? name : alias->second);
            if (step == nullptr) continue;
            const bool ours = alias == known_.aliases.end();
            const bool scores = step->masked_by && !step->mask_to_come && step->is_scores;
            add(step->id, number, {.first_of_batch = true}, Basis::name,
                !ours && scores ? Strictness::as_softmax : Strictness::exact);
        }
    }

    // What autograd left on a tensor or a parameter is the gradient with respect to the step that this is.
    void gradients() {
        const std::vector<Match> forward = matches_;
        for (const Match& match : forward) {
            const Ref gradient = plan_.gradient_wrt(plan_[match.step]);
            const auto number = numbers_.find(backward::gradient_name(trace_.tensors[match.tensor].name));
            if (gradient == nullptr || number == numbers_.end() || match.reader) continue;
            // Heads that were recorded repeated, or for all at once, have gradients of their own.
            const bool part = match.placed.columns > 0 || match.placed.head >= 0;
            if (!part && trace_.tensors[number->second].values.size() != element_count(gradient->axes)) continue;
            const bool scaled = match.strictness == Strictness::up_to_factor;
            add(gradient->id, number->second, match.placed, match.basis,
                scaled ? Strictness::up_to_factor : Strictness::exact);
        }
        for (const auto& [stored, targets] : known_.parameters) {
            const auto number = numbers_.find(backward::gradient_name(stored));
            if (number == numbers_.end() || targets.size() != 1 ||
                targets.front().how != load::names::RowLayout::as_stored)
                continue;
            const Ref parameter = plan_.find(targets.front().name);
            const Ref gradient = parameter == nullptr ? nullptr : plan_.gradient_wrt(*parameter);
            if (gradient != nullptr) add(gradient->id, number->second, {}, Basis::name, Strictness::exact);
        }
    }

    // Without a list of calls, a tensor may have the name of the module that gave it. One that has a step's own name is
    // matched already, though a module may be called the same ("embed").
    void by_module_names() {
        std::set<std::size_t> matched;
        for (const Match& match : matches_) matched.insert(match.tensor);
        for (std::size_t i = 0; i < trace_.tensors.size(); ++i) {
            if (matched.contains(i)) continue;
            const TraceTensor& tensor = trace_.tensors[i];
            const std::string name = module_called(tensor.name);
            visit({name, name, {}, {}, {}, {{"", tensor.name}}});
        }
    }

    // Calls that names tell. A module is known by its path, or by a part of it: "/h.0/c_fc" in ONNX is
    // "transformer.h.0.mlp.c_fc". The last of its tensors is its output; what it computes before is its own.
    void by_named_calls() {
        std::set<std::string, std::less<>> paths;
        for (const TraceCall& call : trace_.calls) paths.insert(call.module);
        const std::map<std::string, std::string> modules = modules_named(paths);
        for (std::size_t i = 0; i < trace_.calls.size(); ++i) {
            const TraceCall& call = trace_.calls[i];
            const auto module = modules.find(call.module);
            if (module == modules.end())
                visit(call);
            else if (i + 1 == trace_.calls.size() || trace_.calls[i + 1].module != call.module)
                visit({call.name, module->second, call.kind, {}, {}, call.out});
        }
    }

    // Which module each path means: the one of this path or, if there is none, the only one of whose path it has the
    // last words and others in their order. A module that has a path of its own isn't another's.
    [[nodiscard]] std::map<std::string, std::string> modules_named(
        const std::set<std::string, std::less<>>& paths) const {
        std::map<std::string, std::string> found;
        std::set<std::string> taken;
        for (const bool whole : {true, false})
            for (const std::string& path : paths) {
                if (found.contains(path)) continue;
                std::vector<std::string> fit;
                for (const auto& [module, parts] : modules_)
                    if (!taken.contains(module) && (whole ? ends_alike(module, path) : has_words(module, path)))
                        fit.push_back(module);
                if (fit.size() != 1) continue;
                found.emplace(path, fit.front());
                if (whole) taken.insert(fit.front());
            }
        return found;
    }

    // ---- by calls

    [[nodiscard]] static std::string only(const std::vector<std::pair<std::string, std::string>>& ports) {
        return ports.empty() ? std::string() : ports.front().second;
    }
    [[nodiscard]] static std::string port(const std::vector<std::pair<std::string, std::string>>& ports,
                                          std::string_view name) {
        for (const auto& [key, tensor] : ports)
            if (key == name) return tensor;
        return {};
    }

    void visit(const TraceCall& call) {
        if (!call.parameters.empty()) return visit_applied(call);
        if (!call.function.empty()) return visit_function(call, call.function);
        if (call.kind == "Softmax") visit_function(call, "softmax");  // not a message: PyTorch's name
        const auto found = modules_.find(call.module);
        if (found == modules_.end()) return;
        const std::size_t number = calls_[call.module]++;
        for (const RecordedModule& module : found->second) visit_module(call, module, number);
    }

    // Whether a step that reads a weight reads a bias, too, that was stored.
    [[nodiscard]] bool reads_bias(const RecordedModule& module) const {
        const auto is_stored = [&](const std::string& name) {
            return std::ranges::any_of(known_.parameters, [&](const auto& known) {
                return std::ranges::any_of(known.second, [&](const load::names::Target& target) {
                    return std::ranges::count(load::names::names_of(target.name), name) > 0;
                });
            });
        };
        return std::ranges::any_of(module.parts.front().readers, [&](StepId reader) {
            return std::ranges::any_of(plan_[reader].operands, [&](StepId operand) {
                return plan_[operand].role == Role::parameter && plan_[operand].name.ends_with(".bias") &&
                       is_stored(plan_[operand].name);
            });
        });
    }

    // A function that was given a parameter is what a module is that holds it. Its bias may be added by the next one,
    // and what a gain is multiplied by is normalised already.
    void visit_applied(const TraceCall& call) {
        for (const auto& [port, stored] : call.parameters) {
            const auto found = by_parameter_.find(stored);
            const auto targets = known_.parameters.find(stored);
            if (targets == known_.parameters.end()) continue;
            const std::size_t number = calls_[stored]++;
            TraceCall one = {call.name, stored, {}, {}, call.in, call.out};
            if (found != by_parameter_.end()) {
                const bool comes = call.function != "embedding" && call.function != "getitem" &&
                                   call.parameters.size() == 1 && reads_bias(found->second.front());
                if (call.function == "mul" || call.function == "add") one.in.clear();
                if (comes) one.out.clear(), to_come_ = only(call.out);
                for (const RecordedModule& module : found->second) visit_module(one, module, number);
            } else if (call.function == "add" && targets->second.size() == 1 && only(call.in) == to_come_) {  // a bias
                const auto readers = readers_.find(targets->second.front().name);
                if (readers != readers_.end() && number < readers->second.size())
                    add(readers->second[number], only(call.out));
            }
        }
    }

    void visit_module(const TraceCall& call, const RecordedModule& module, std::size_t number) {
        const std::string in = only(call.in), out = only(call.out);
        const auto input = numbers_.find(in);
        const bool of_tokens = input != numbers_.end() && is_integer(trace_.tensors[input->second]);
        Index column = 0;
        for (const RecordedPart& part : module.parts) {
            std::vector<StepId> readers = part.readers;
            if (readers.size() > 1 && input != numbers_.end())
                std::erase_if(readers, [&](StepId id) { return (plan_[id].part == Part::embedding) != of_tokens; });
            const Placed columns = {.first_column = column, .columns = module.parts.size() > 1 ? part.rows : 0};
            column += part.rows;
            if (number >= readers.size()) continue;
            const Step& step = plan_[readers[number]];
            // What the attention and the MLP read may be one matrix (PaLM): the attention's functions come next.
            if (&part == &module.parts.front() || !step.attention.empty()) enter(step, module.head);
            if (module.is_container) {
                container(call, step);
                continue;
            }
            Placed placed = columns;
            placed.head = module.head;
            placed.in_turn = module.in_turn;
            // A table's rows may be scaled behind the module.
            const Strictness strictness = of_tokens ? Strictness::up_to_factor : Strictness::exact;
            if (!module.is_mixed && !out.empty()) add(step.id, out, placed, strictness);
            if (step.meaning == Meaning::query || step.meaning == Meaning::key)
                projected_.insert_or_assign(out, Projected{step.attention, step.meaning, placed});
            else if (const auto before = projected_.find(in); before != projected_.end())  // its norm
                projected_.insert_or_assign(out, before->second);
            if (!step.operands.empty() && module.head < 0 && !of_tokens)
                add(origin_of(plan_, step.operands[0]), in, {}, Strictness::exact, step.id);
        }
    }

    // An attention that holds its projections itself (torch.nn.MultiheadAttention): what it is given and gives.
    // A block that holds all of its parameters is none.
    void container(const TraceCall& call, const Step& projection) {
        const std::string inside = call.module.empty() ? "" : call.module + ".";
        for (auto it = known_.parameters.lower_bound(inside);
             it != known_.parameters.end() && it->first.starts_with(inside); ++it)
            for (const load::names::Target& target : it->second)
                if (target.name.find("_attn.") == std::string::npos) return;
        const bool query = projection.meaning == Meaning::query;
        const std::string in = port(call.in, query ? "query" : projection.meaning == Meaning::key ? "key" : "value");
        add(origin_of(plan_, projection.operands[0]), in);
        if (query) add(step_named(projection.attention + "_out"), only(call.out));
    }

    // Which attention the calls that follow belong to.
    void enter(const Step& step, Index head) {
        const bool begins = step.meaning == Meaning::query || step.meaning == Meaning::key;
        if (begins && (step.attention != attention_ || head != head_ || weighed_)) {
            attention_ = step.attention;
            head_ = head;
            weighed_ = scored_ = false;
            scores_.clear();
        } else if (step.attention.empty() || (!begins && step.meaning != Meaning::value &&
                                              plan_.step_of(step.attention, AttentionStep::scores) != &step)) {
            attention_.clear();
        }
    }

    void visit_function(const TraceCall& call, const std::string& function) {
        if (function == "rope") return rotation(call);
        if (attention_.empty()) {
            if (function == "softmax") output_softmax(call);
            return;
        }
        const Placed placed = {.head = head_};
        if (function == "softmax" && !weighed_) {
            // One that scales and masks its scores itself (ggml's) isn't given the masked ones.
            if (port(call.in, "scores").empty())
                add(step_named(attention_ + ".masked_scores"), only(call.in), placed, Strictness::as_softmax);
            add(step_named(attention_ + ".pattern"), only(call.out), placed);
            weights_ = only(call.out);
            weighed_ = true;
        } else if (function == "masked_fill" && !weighed_) {
            fill(call);
        } else if (function == "matmul" || function == "bmm" || function == "baddbmm") {
            product(call, function);
        } else if (function == "einsum") {
            einsum(call);
        } else if (function == "scaled_dot_product_attention") {
            add(step_named(attention_ + ".q"), port(call.in, "query"), placed, Strictness::up_to_factor);
            add(step_named(attention_ + ".k"), port(call.in, "key"), placed, Strictness::up_to_factor);
            add(step_named(attention_ + ".v"), port(call.in, "value"), placed);
            add(step_named(attention_ + ".z"), only(call.out), placed);
            weighed_ = true;
        }
    }

    // A projection's heads, turned: of a query or a key by what was turned.
    void rotation(const TraceCall& call) {
        const auto found = projected_.find(port(call.in, "input"));
        if (found == projected_.end()) return;
        const auto& [attention, meaning, placed] = found->second;
        add(step_named(attention + (meaning == Meaning::query ? ".q" : ".k")), only(call.out), placed);
        projected_.insert_or_assign(only(call.out), Projected(found->second));
    }

    void fill(const TraceCall& call) {
        const auto capped = step_named(attention_ + ".capped_scores");
        const std::string filled = port(call.in, "input");
        const TraceTensor* of = trace_.find(filled);
        // nn.MultiheadAttention makes its mask so, from zeros.
        if (of != nullptr && of->values.size() > 1 &&
            std::ranges::all_of(of->values.values(), [&](float one) { return one == of->values.data()[0]; }))
            return;
        const auto softmax = std::find_if(trace_.calls.begin() + (&call - trace_.calls.data()), trace_.calls.end(),
                                          [](const TraceCall& one) { return one.function == "softmax"; });
        const bool scaled_behind =
            filled == scores_ && softmax != trace_.calls.end() && only(softmax->in) != only(call.out);
        if (!scored_)
            add(capped ? capped : step_named(attention_ + ".attn_scores"), filled, {.head = head_},
                scaled_behind ? Strictness::up_to_factor : Strictness::exact);
        scored_ = true;
    }

    // Of queries and keys, before a bias by distance is added.
    [[nodiscard]] std::optional<StepId> product_of_heads() const {
        const auto unbiased = step_named(attention_ + ".attn_scores_unbiased");
        return unbiased ? unbiased : step_named(attention_ + ".attn_scores");
    }

    void product(const TraceCall& call, const std::string& function) {
        const bool added = function == "baddbmm";
        const std::string left = port(call.in, added ? "batch1" : "input"),
                          right = port(call.in, added ? "batch2" : "other");
        const Placed placed = {.head = head_}, turned = {.turned = true, .head = head_};
        note_softmax_between(left, left);
        if (!weighed_) {
            scores_ = only(call.out);
            if (!projected_.contains(left)) add(step_named(attention_ + ".q"), left, placed, Strictness::up_to_factor);
            if (!projected_.contains(right))
                add(step_named(attention_ + ".k"), right, turned, Strictness::up_to_factor);
            if (!added) add(product_of_heads(), only(call.out), placed, Strictness::up_to_factor);
        } else {
            add(step_named(attention_ + ".pattern"), left, placed);
            add(step_named(attention_ + ".v"), right, placed);
            add(step_named(attention_ + ".z"), only(call.out), placed);
        }
    }

    // A softmax that a person wrote is no call: after the product that gave the scores, another one is given a tensor
    // of their shape. It is the pattern, whatever it holds, unless a query may have that shape, too.
    void note_softmax_between(const std::string& left, const std::string& right) {
        const TraceTensor* scores = scores_.empty() ? nullptr : trace_.find(scores_);
        if (weighed_ || scores == nullptr || scores->shape.size() < 2) return;
        const Ref query = plan_.step_of(attention_, AttentionStep::query);
        const bool tells = query != nullptr && !query->axes.empty() && query->axes.back().size != scores->shape.back();
        for (const std::string& name : {left, right})
            if (const TraceTensor* one = trace_.find(name); tells && one != nullptr && one->shape == scores->shape) {
                weights_ = name;
                weighed_ = true;
                return;
            }
    }

    // Scores have the query's and the key's letter last, z has what the weights are multiplied by.
    void einsum(const TraceCall& call) {
        const std::optional<Einsum> said = einsum_of(call);
        if (!said || said->operands.size() != 2 || said->out.size() < 2) return;
        const auto is_turned = [&](std::size_t operand, char row) {
            return from_last(said->operands[operand], row) == 0;
        };
        const auto tensor = [&](std::size_t operand) { return call.in[operand].second; };
        note_softmax_between(tensor(0), tensor(1));
        if (weighed_) {
            const std::size_t pattern = tensor(1) == weights_ ? 1 : 0;
            add(step_named(attention_ + ".pattern"), tensor(pattern), {.head = head_});
            add(step_named(attention_ + ".v"), tensor(1 - pattern), {.head = head_});
            return add(step_named(attention_ + ".z"), only(call.out), {.head = head_});
        }
        scores_ = only(call.out);
        const char query = said->out[said->out.size() - 2], key = said->out.back();
        const std::size_t of_query = from_last(said->operands[0], query) >= 0 ? 0 : 1;
        for (const std::size_t operand : {of_query, 1 - of_query}) {
            const bool is_query = operand == of_query;
            if (projected_.contains(tensor(operand))) continue;
            add(step_named(attention_ + (is_query ? ".q" : ".k")), tensor(operand),
                {.turned = is_turned(operand, is_query ? query : key), .head = head_}, Strictness::up_to_factor);
        }
        add(product_of_heads(), only(call.out), {.head = head_}, Strictness::up_to_factor);
    }

    void output_softmax(const TraceCall& call) {
        const auto logits = step_named("logits"), probs = step_named("probs");
        const auto number = numbers_.find(only(call.in));
        if (!logits || number == numbers_.end()) return;
        const auto& shape = trace_.tensors[number->second].shape;
        if (shape.empty() || shape.back() != plan_[*logits].axes.back().size) return;
        add(logits, only(call.in));
        add(probs, only(call.out));
    }

    const Plan& plan_;
    const Trace& trace_;
    const KnownNames& known_;
    RecordedModules modules_, by_parameter_;  // by their paths; by what they hold
    std::map<std::string, std::vector<StepId>> readers_;
    std::map<std::string, std::size_t, std::less<>> numbers_;  // of tensors, by name
    std::map<std::string, std::size_t> calls_;                 // of each module so far
    struct Projected {
        std::string attention;
        Meaning meaning;
        Placed placed;
    };
    std::map<std::string, Projected, std::less<>> projected_;  // queries and keys, by their tensors' names
    std::vector<Match> matches_;
    std::string attention_;  // that the calls are in; empty outside of all
    std::string weights_;    // what its softmax gave
    Index head_ = -1;
    bool weighed_ = false, scored_ = false;  // whether its softmax, its first fill were called
    std::string scores_;                     // what its first product gave
    std::string to_come_;                    // what the last product gave whose bias is added by itself
};

// A match of a tensor with a step that has none yet and that it equals.
std::optional<Match> by_value(const Plan& plan, const Trace& trace, std::size_t tensor, const std::set<StepId>& taken,
                              const Equal& equal) {
    for (const Step& step : plan.steps()) {
        if (!is_comparable(step) || taken.contains(step.id)) continue;
        Match match = {step.id, tensor, {}, Basis::value};
        if (can_be_laid_out(step.axes, trace.tensors[tensor].values.axes(), match.placed) && equal(match)) return match;
    }
    return std::nullopt;
}

// The steps between which a tensor stands by what was recorded before and behind it.
struct Gap {
    StepId after = 0, before = 0;
    bool operator==(const Gap&) const = default;
};

Gap gap_of(const std::map<std::size_t, StepId>& known, std::size_t tensor, std::size_t steps) {
    const auto behind = known.upper_bound(tensor);
    return {behind == known.begin() ? 0 : std::prev(behind)->second, behind == known.end() ? steps : behind->second};
}

std::string_view last_word(std::string_view name) {
    const std::size_t at = name.find_last_of("./");
    return at == std::string_view::npos ? name : name.substr(at + 1);
}

// Where as many tensors of one shape are left between two matches as steps of that shape, they are taken in turn; of
// steps and tensors whose names end alike (stack.0.attn.attn_scores), those alone.
void align_by_places(Alignment& alignment, const Plan& plan, const Trace& trace, std::set<StepId> taken) {
    std::map<std::size_t, StepId> known;
    for (const Match& match : alignment.matches) known.emplace(match.tensor, match.step);
    const std::vector<std::size_t> left = alignment.unmatched;
    for (const std::size_t tensor : left) {
        const auto& shape = trace.tensors[tensor].shape;
        const Gap gap = gap_of(known, tensor, plan.steps().size());
        std::vector<StepId> steps;
        for (StepId id = gap.after; id < gap.before; ++id)
            if (is_comparable(plan[id]) && !taken.contains(id) && decoderscope::sizes_of(plan[id].axes) == shape)
                steps.push_back(id);
        std::vector<std::size_t> tensors;
        for (const std::size_t other : alignment.unmatched)
            if (trace.tensors[other].shape == shape && gap_of(known, other, plan.steps().size()) == gap)
                tensors.push_back(other);
        const std::string_view word = last_word(trace.tensors[tensor].name);
        const auto other_word = [&](std::string_view name) { return last_word(name) != word; };
        if (!std::ranges::all_of(steps, [&](StepId id) { return other_word(plan[id].name); })) {
            std::erase_if(steps, [&](StepId id) { return other_word(plan[id].name); });
            std::erase_if(tensors, [&](std::size_t other) { return other_word(trace.tensors[other].name); });
        }
        const auto at = std::ranges::find(tensors, tensor);
        if (at == tensors.end() || steps.size() != tensors.size()) continue;
        for (std::size_t i = 0; i < tensors.size(); ++i) {
            taken.insert(steps[i]);
            known.emplace(tensors[i], steps[i]);
            alignment.matches.push_back({steps[i], tensors[i], {}, Basis::place});
            std::erase(alignment.unmatched, tensors[i]);
        }
    }
}

}  // namespace

StepId origin_of(const Plan& plan, StepId id) {
    while (!plan[id].is_source() && plan[id].operands.size() == 1 && plan[id].operation.traits().passes_through)
        id = plan[id].operands[0];
    return id;
}

RecordedModules recorded_modules(const Plan& plan, const load::names::Mapping& mapping, bool by_parameter) {
    const auto readers = readers_by_parameter(plan);
    RecordedModules modules;
    const auto add = [&](const std::string& stored, const std::string& ours, load::names::RowLayout how, Index number) {
        RecordedModule module;
        for (const std::string& name : load::names::names_of(ours)) {
            const auto found = readers.find(name);
            if (!name.ends_with(kWeight) || found == readers.end()) return;
            const Ref parameter = plan.find(name);
            module.parts.push_back({name, parameter->axes[0].size, found->second});
        }
        const auto [path, bare] = by_parameter ? std::pair(stored, false) : module_of(stored);
        module.is_container = bare;
        module.is_mixed = how == load::names::RowLayout::by_head || how == load::names::RowLayout::by_group;
        module.head = how == load::names::RowLayout::head ? number : -1;
        module.in_turn = how == load::names::RowLayout::halves_in_turn;
        // A module that stands for several of our parameters by turns (one table for both sides) is called once for
        // each.
        auto& known = modules[path];
        const bool by_turns = !known.empty() && module.parts.size() == known[0].parts.size() && !bare &&
                              (how == load::names::RowLayout::as_stored || module.parts.size() > 1);
        if (by_turns) {
            for (std::size_t part = 0; part < module.parts.size(); ++part) {
                auto& all = known[0].parts[part].readers;
                all.insert(all.end(), module.parts[part].readers.begin(), module.parts[part].readers.end());
                std::ranges::sort(all);
            }
        } else {
            known.push_back(std::move(module));
        }
    };
    for (const auto& [stored, targets] : mapping)
        for (const load::names::Target& target : targets) add(stored, target.name, target.how, target.number);
    for (const auto& [name, steps] : readers)
        if (!by_parameter && name.ends_with(kWeight) && !modules.contains(name.substr(0, name.size() - kWeight.size())))
            add(name, name, load::names::RowLayout::as_stored, 0);
    return modules;
}

Alignment align(const Plan& plan, const Trace& trace, const KnownNames& known) {
    return Aligner(plan, trace, known).aligned();
}

void align_by_values(Alignment& alignment, const Plan& plan, const Trace& trace, const Equal& equal) {
    std::set<StepId> taken;
    std::set<std::size_t> settled,
        matched;  // tensors that equal a step they were matched with; that were matched at all
    for (const Match& match : alignment.matches) {
        matched.insert(match.tensor);
        if (!equal(match)) continue;
        taken.insert(match.step);
        settled.insert(match.tensor);
    }
    // One that differs from the step that it was matched to may still be something else, besides.
    for (const std::size_t tensor : matched) {
        const auto match = settled.contains(tensor) ? std::nullopt : by_value(plan, trace, tensor, taken, equal);
        if (!match) continue;
        // Scores to which a bias is still to be added: the call gave the product.
        const auto before = std::ranges::find_if(alignment.matches, [&](const Match& known) {
            return known.tensor == tensor && known.strictness == Strictness::up_to_factor &&
                   plan[known.step].is_scores && plan[match->step].is_scores &&
                   std::ranges::count(plan[known.step].operands, match->step) > 0;
        });
        if (before == alignment.matches.end()) {
            alignment.matches.push_back(*match);
        } else {
            before->step = match->step;
            before->basis = match->basis;
        }
    }
    std::vector<std::size_t> left;
    for (const std::size_t tensor : alignment.unmatched) {
        const auto match = is_integer(trace.tensors[tensor]) || trace.tensors[tensor].dtype == "BOOL"
                               ? std::nullopt
                               : by_value(plan, trace, tensor, taken, equal);
        if (match) {
            taken.insert(match->step);
            alignment.matches.push_back(*match);
        } else {
            left.push_back(tensor);
        }
    }
    alignment.unmatched = left;
    // Only if no list of calls says what is what, and the recording has the order of the computation.
    if (trace.calls.empty()) align_by_places(alignment, plan, trace, taken);
    std::ranges::stable_sort(alignment.matches, {}, &Match::step);
}

}  // namespace decoderscope::trace
