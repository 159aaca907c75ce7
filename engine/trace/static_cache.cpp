#include "engine/trace/static_cache.h"

#include "engine/trace/einsum.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace decoderscope::trace {

namespace {

// An attention's calls, from the product that makes its scores to the one that weighs its values; both are one of a
// kernel that does it all.
struct Attention {
    std::size_t begin = 0, end = 0;
    const TraceTensor* seen = nullptr;  // [..., query, key]: its pattern, or the mask that a kernel was given
    Index queries = 0, keys = 0;
};

class Caches {
public:
    explicit Caches(Trace& trace) : trace_(trace) {
        for (std::size_t i = 0; i < trace.tensors.size(); ++i) places_.emplace(trace.tensors[i].name, i);
    }

    void leave_out() {
        Index length = 0, written = 0, queries = 0;
        for (std::size_t at = 0; at < trace_.calls.size(); ++at) {
            const bool is_model =
                trace_.calls[at].function.empty() && trace_.calls[at].module == trace_.calls.front().module;
            if (is_model) queries = 0;
            const auto attention = attention_at(at);
            if (!attention) continue;
            if (length == 0) {  // the first tells
                if (attention->keys <= attention->queries || used(*attention) != attention->queries) return;
                length = attention->keys;
            }
            if (attention->keys != length) continue;
            if (queries == 0) {
                queries = attention->queries;
                const bool anew = queries > 1 && used(*attention) == queries;  // another text
                written = anew ? queries : written + queries;
            }
            if (written <= length) cut(*attention, written);
        }
    }

private:
    [[nodiscard]] TraceTensor* tensor(const std::string& name) const {
        const auto found = places_.find(name);
        return found == places_.end() ? nullptr : &trace_.tensors[found->second];
    }

    [[nodiscard]] std::optional<Attention> attention_at(std::size_t at) const {
        const TraceCall& call = trace_.calls[at];
        if (call.function == "scaled_dot_product_attention") {
            Attention found{at, at};
            for (const auto& [port, name] : call.in) {
                const TraceTensor* given = tensor(name);
                if (given == nullptr || given->shape.size() < 2) continue;
                const Index rows = given->shape[given->shape.size() - 2];
                if (port == "query") found.queries = rows;
                if (port == "key") found.keys = rows;
                if (port == "attn_mask") found.seen = given;
            }
            return found.queries > 0 && found.seen != nullptr ? std::optional(found) : std::nullopt;
        }
        if (call.function != "softmax" || call.out.size() != 1) return std::nullopt;
        const TraceTensor* pattern = tensor(call.out.front().second);
        if (pattern == nullptr || pattern->shape.size() < 3) return std::nullopt;
        const Index keys = pattern->shape.back(), queries = pattern->shape[pattern->shape.size() - 2];
        Attention found{at, at, pattern, queries, keys};
        const auto makes_scores = [&](const TraceCall& one) {
            const TraceTensor* made = one.out.size() == 1 ? tensor(one.out.front().second) : nullptr;
            return is_product(one) && made != nullptr && !made->shape.empty() && made->shape.back() == keys;
        };
        while (found.begin > 0 && !makes_scores(trace_.calls[found.begin])) --found.begin;
        while (found.end < trace_.calls.size() && !is_product(trace_.calls[found.end])) ++found.end;
        return found.begin > 0 && found.end < trace_.calls.size() ? std::optional(found) : std::nullopt;
    }

    // The keys up to the last that any query sees.
    [[nodiscard]] static Index used(const Attention& attention) {
        constexpr float kHidden = -1e3F;
        const bool kept = attention.seen->dtype == "BOOL" || attention.begin != attention.end;  // 0 = hidden
        Index most = 0, at = 0;
        for (const float value : attention.seen->values.values()) {
            if (kept ? value != 0.0F : value > kHidden) most = std::max(most, at % attention.keys + 1);
            ++at;
        }
        return most;
    }

    void cut(const Attention& attention, Index written) {
        const std::vector<Index> scores = attention.seen->shape;  // which is cut, too
        for (std::size_t at = attention.begin; at <= attention.end; ++at)
            for (const auto* side : {&trace_.calls[at].in, &trace_.calls[at].out})
                for (const auto& [port, name] : *side)
                    if (TraceTensor* one = tensor(name); one != nullptr && cut_.insert(name).second) {
                        // What is weighed may be as wide as the cache is long.
                        const bool weighed = attention.begin == attention.end
                                                 ? port == "key" || port == "value" || port == "query"
                                                 : at == attention.end && one->shape != scores;
                        cut_axis(*one, attention.keys, written, weighed);
                    }
    }

    static void cut_axis(TraceTensor& of, Index keys, Index written, bool not_the_last) {
        std::size_t axis = of.shape.size() - (not_the_last && !of.shape.empty() ? 1 : 0);
        while (axis > 0 && of.shape[axis - 1] != keys) --axis;
        if (axis-- == 0) return;
        Index inner = 1;
        for (std::size_t i = axis + 1; i < of.shape.size(); ++i) inner *= of.shape[i];
        of.shape[axis] = written;
        Tensor values(unnamed(of.shape));
        const std::span<float> to = values.writable();
        const std::span<const float> from = of.values.values();
        for (std::size_t i = 0; i < to.size(); ++i) {
            const auto block = static_cast<std::size_t>(written * inner);
            to[i] = from[i / block * static_cast<std::size_t>(keys * inner) + i % block];
        }
        of.values = std::move(values);
    }

    Trace& trace_;
    std::map<std::string, std::size_t, std::less<>> places_;
    std::set<std::string> cut_;
};

}  // namespace

void leave_out_unwritten_keys(Trace& trace) {
    if (!trace.calls.empty() && !trace.calls_by_names) Caches(trace).leave_out();
}

}  // namespace decoderscope::trace
