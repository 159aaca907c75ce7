#include "engine/trace/recorded_plan.h"

#include "engine/backward/gradient.h"
#include "engine/base/error.h"
#include "engine/load/names/modules.h"
#include "engine/ops/activation.h"
#include "engine/ops/elementwise.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace decoderscope::trace {

namespace {

using Words = std::initializer_list<std::string_view>;

std::string lower(std::string_view text) {
    std::string small(text);
    std::ranges::transform(small, small.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return small;
}

bool has_any(std::string_view text, Words words) {
    return std::ranges::any_of(words, [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

bool begins_with_any(std::string_view text, Words words) {
    return std::ranges::any_of(words, [&](std::string_view word) { return text.starts_with(word); });
}

bool is_discrete(const TraceTensor& tensor) {
    return tensor.dtype.starts_with('I') || tensor.dtype.starts_with('U') || tensor.dtype == "BOOL";
}

// Where a module stands: "encoder.layers.0.attn.q" is in the block "encoder.layers.0", whose number is 0.
struct Place {
    std::string block;
    Index layer = -1;
    StackKind stack = StackKind::decoder;
    std::string last;  // "q"
};

Place place_of(std::string_view path) {
    Place place;
    for (std::size_t from = 0; from <= path.size();) {
        const std::size_t dot = std::min(path.find('.', from), path.size());
        const std::string_view part = path.substr(from, dot - from);
        if (const Index number = load::names::number(part); place.layer < 0 && number >= 0 && from > 0) {
            place.block = path.substr(0, dot);
            place.layer = number;
        }
        if (place.layer < 0 && lower(part).find("encoder") != std::string::npos) place.stack = StackKind::encoder;
        place.last = lower(part);
        from = dot + 1;
    }
    return place;
}

// The module that a tensor's name begins with, for traces without calls: "h.0.attn/softmax/out" is of "h.0.attn".
std::string module_in(std::string_view name) {
    const std::size_t slash = name.find('/');
    if (slash != std::string_view::npos) return std::string(name.substr(0, slash));
    const std::size_t dot = name.rfind('.');
    return std::string(dot == std::string_view::npos ? std::string_view() : name.substr(0, dot));
}

class Writer {
public:
    explicit Writer(const Trace& trace) : trace_(trace), sizes_(sizes_of(trace)), plan_(nullptr) {
        for (const TraceCall& call : trace.calls) {
            calls_.emplace(call.name, &call);
            if (call.function == "softmax" || call.function == "scaled_dot_product_attention")
                attentions_.insert(call.module);
        }
        for (const TraceTensor& parameter : trace.parameters)
            gradients_.emplace(backward::gradient_name(parameter.name), std::string());
        for (const TraceTensor& tensor : trace.tensors)
            gradients_.emplace(backward::gradient_name(tensor.name), tensor.name);
    }

    Plan written() {
        const std::size_t back = backward_begins();
        for (std::size_t i = 0; i < trace_.tensors.size(); ++i) {
            const TraceTensor& tensor = trace_.tensors[i];
            if (i == back) plan_.begin_backward();
            if (!tensor.values.empty() && tensor.values.size() > 0 && plan_.find(tensor.name) == nullptr) add(tensor);
        }
        check_not_empty(trace_);
        if (plan_.steps().empty())
            throw Error("{path}: holds no tensor of a type that is read", {{"path", trace_.path}});
        return std::move(plan_);
    }

private:
    // What autograd left comes last. Which tensor it begins with; behind the last one if there is none.
    [[nodiscard]] std::size_t backward_begins() const {
        std::size_t begin = trace_.tensors.size();
        while (begin > 0 && gradients_.contains(trace_.tensors[begin - 1].name)) --begin;
        return begin;
    }

    // The step that a tensor is the gradient with respect to; nullptr if none.
    [[nodiscard]] Ref differentiated(const TraceTensor& tensor) const {
        const auto found = gradients_.find(tensor.name);
        const Ref by = found == gradients_.end() ? nullptr : plan_.find(found->second);
        return by != nullptr && decoderscope::sizes_of(by->axes) == tensor.shape ? by : nullptr;
    }

    // It stands where the tensor that it is the gradient with respect to stands.
    void add_gradient(const TraceTensor& tensor, const Step& by) {
        plan_.begin_stack(by.stack);
        plan_.begin_block(by.block.empty() ? std::string() : backward::gradient_name(by.block), by.layer);
        plan_.begin_part(by.part, by.meaning, by.title);
        const ops::Recorded operation = {tensor.values.with_axes(by.axes), Values::any};
        plan_.name_gradient(plan_.step(tensor.name, operation, {}, by.meaning)->id, by.id, true);
    }

    void add(const TraceTensor& tensor) {
        if (const Ref by = differentiated(tensor)) return add_gradient(tensor, *by);
        const std::optional<CallSide> side = side_of(tensor.name);
        // A call that a name tells is called as the tensor.
        const auto named = calls_.find(side ? side->call : std::string_view(tensor.name));
        const TraceCall* call = named == calls_.end() ? nullptr : named->second;
        const TraceCall* made = call != nullptr && (!side || side->gave) ? call : nullptr;
        const std::string module = call != nullptr ? call->module : module_in(tensor.name);
        const Place place = place_of(module);
        plan_.begin_stack(place.stack);
        const bool inside = !place.block.empty() &&
                            (tensor.name.starts_with(place.block + ".") || tensor.name.starts_with(place.block + "/"));
        plan_.begin_block(inside ? place.block : std::string(), inside ? place.layer : -1);
        const Part part = begin_part(tensor, call, module, place);
        const bool pattern = made != nullptr && made->function == "softmax";
        ops::Recorded operation = {tensor.values.with_axes(axes_of(tensor, call, part)), pattern ? Values::weights
                                                                                         : tensor.dtype == "BOOL"
                                                                                             ? Values::non_negative
                                                                                             : Values::any};
        if (made != nullptr) {
            operation.what = made->function.empty() ? made->kind : made->function;
            operation.code = text_of(made->at);
        }
        const std::vector<Ref> read = made == nullptr ? std::vector<Ref>() : given_to(*made, tensor.name);
        const std::vector<OperandRef> operands(read.begin(), read.end());
        plan_.step(tensor.name, operation, operands, meaning_of(part, place));
    }

    // The steps before it that the call was given.
    [[nodiscard]] std::vector<Ref> given_to(const TraceCall& call, const std::string& output) const {
        std::vector<Ref> operands;
        for (const auto& [port, tensor] : call.in)
            if (const Ref step = plan_.find(tensor);
                step != nullptr && tensor != output && std::ranges::find(operands, step) == operands.end())
                operands.push_back(step);
        return operands;
    }

    // The innermost attention that a module is or is a part of; empty if none.
    [[nodiscard]] std::string attention_with(std::string_view module) const {
        for (std::string path(module);;) {
            if (attentions_.contains(path) && !path.empty()) return path;
            const std::size_t dot = path.rfind('.');
            if (dot == std::string::npos) return {};
            path.resize(dot);
        }
    }

    Part begin_part(const TraceTensor& tensor, const TraceCall* call, const std::string& module, const Place& place) {
        const std::string kind = call != nullptr ? lower(call->kind) : std::string();
        const std::string function = call != nullptr ? call->function : std::string();
        const std::string path = lower(tensor.name);
        const std::string attention = attention_with(module);
        const auto begin = [&](Part part, Meaning meaning) {
            plan_.begin_part(part, meaning);
            return part;
        };
        if (has_any(function, {"norm"}) || has_any(kind, {"norm"}) ||
            (attention.empty() && (has_any(place.last, {"norm"}) || begins_with_any(place.last, {"ln"}))))
            return begin(Part::norm, Meaning::norm);
        if (!attention.empty() || has_any(path, {"attn", "attention"})) {
            const bool cross =
                has_any(lower(module), {"cross", "multihead_attn", "encoder_attn", "enc_attn", "src_attn"});
            return begin(cross ? Part::cross_attention : Part::self_attention, Meaning::attention);
        }
        if (has_any(kind, {"embedding"}) || has_any(path, {"embed"}) || begins_with_any(place.last, {"wte", "wpe"}))
            return begin(Part::embedding, Meaning::embedding);
        if (has_any(path, {"mlp", "ffn", "feed_forward", "feedforward", ".ff.", ".ff/", "linear1", "linear2"}) ||
            ops::activation_named("function", function))
            return begin(Part::mlp, Meaning::mlp);
        if (place.layer < 0 && has_any(place.last, {"head", "logits", "unembed", "generator"}))
            return begin(Part::head, Meaning::output);
        if (is_discrete(tensor)) return begin(Part::input, Meaning::residual);
        return begin(Part::residual_stream, Meaning::residual);
    }

    // What a projection inside an attention makes, by its name.
    [[nodiscard]] static std::optional<Meaning> meaning_of(Part part, const Place& place) {
        if (part != Part::self_attention && part != Part::cross_attention) return std::nullopt;
        if (has_any(place.last, {"quer"}) || place.last == "q" || begins_with_any(place.last, {"q_", "w_q", "wq"}))
            return Meaning::query;
        if (has_any(place.last, {"key"}) || place.last == "k" || begins_with_any(place.last, {"k_", "w_k", "wk"}))
            return Meaning::key;
        if (has_any(place.last, {"value"}) || place.last == "v" || begins_with_any(place.last, {"v_", "w_v", "wv"}))
            return Meaning::value;
        return std::nullopt;
    }

    // The axes' names, where shapes and calls tell; others stay unnamed.
    [[nodiscard]] Axes axes_of(const TraceTensor& tensor, const TraceCall* call, Part part) const {
        Axes axes = unnamed(tensor.shape);
        if (axes.size() == 2 || axes.size() == 3) {
            const bool turned =
                axes[0].size == sizes_.positions && axes[1].size == sizes_.batch && sizes_.positions != sizes_.batch;
            if (turned) {
                axes.rename(0, axis::pos);
                axes.rename(1, axis::batch);
            } else if (axes[0].size == sizes_.batch && axes[1].size == sizes_.positions) {
                axes.rename(0, axis::batch);
                axes.rename(1, axis::pos);
            } else if (axes.size() == 2 && axes[0].size == sizes_.positions) {
                axes.rename(0, axis::pos);
            }
            const bool rows_of_stream = axes[0].name == axis::batch && axes[1].name == axis::pos;
            if (axes.size() == 3 && rows_of_stream && axes[2].size == sizes_.width) axes.rename(2, axis::d_model);
        }
        const bool attention = part == Part::self_attention || part == Part::cross_attention;
        if (axes.size() == 4 && attention && axes[0].size == sizes_.batch) {
            static constexpr std::array<std::string_view, 6> of_scores = {"softmax", "masked_fill", "where",
                                                                          "dropout", "matmul",      "einsum"};
            const bool scores = call != nullptr && std::ranges::find(of_scores, call->function) != of_scores.end() &&
                                (call->function == "softmax" || axes[2].size == axes[3].size);
            const bool heads_behind = axes[1].size == sizes_.positions && axes[2].size == sizes_.heads;
            const std::array<std::string_view, 4> names =
                scores         ? std::array{axis::batch, axis::head, axis::query, axis::key}
                : heads_behind ? std::array{axis::batch, axis::pos, axis::head, axis::d_head}
                               : std::array{axis::batch, axis::head, axis::pos, axis::d_head};
            for (std::size_t i = 0; i < 4; ++i) axes.rename(i, names[i]);
        }
        return axes;
    }

    const Trace& trace_;
    RecordedSizes sizes_;
    std::map<std::string_view, const TraceCall*> calls_;  // by their names
    std::set<std::string, std::less<>> attentions_;       // modules that call a softmax
    // By a gradient's name, the tensor that it is with respect to; empty for a parameter, which isn't a step.
    std::map<std::string, std::string, std::less<>> gradients_;
    Plan plan_;
};

}  // namespace

RecordedSizes sizes_of(const Trace& trace) {
    RecordedSizes sizes;
    const auto first = [&](auto fits) {
        const auto at = std::ranges::find_if(trace.tensors, fits);
        return at == trace.tensors.end() ? nullptr : &*at;
    };
    const TraceTensor* stream = first([](const TraceTensor& t) { return t.shape.size() == 3 && !is_discrete(t); });
    const TraceTensor* tokens = first([](const TraceTensor& t) { return t.shape.size() == 2 && is_discrete(t); });
    const TraceTensor* whole = tokens != nullptr ? tokens : stream;
    if (whole != nullptr) {
        sizes.batch = std::max<Index>(whole->shape[0], 1);
        sizes.positions = std::max<Index>(whole->shape[1], 1);
    }
    if (stream != nullptr) sizes.width = stream->shape[2];
    for (const TraceCall& call : trace.calls) {
        if (call.function != "softmax" && call.function != "scaled_dot_product_attention") continue;
        for (const auto& [port, name] : call.in)
            if (const TraceTensor* tensor = trace.find(name); tensor != nullptr && tensor->shape.size() == 4)
                sizes.heads = std::max(sizes.heads, tensor->shape[1]);
    }
    return sizes;
}

Plan plan_of_trace(const Trace& trace) { return Writer(trace).written(); }

}  // namespace decoderscope::trace
