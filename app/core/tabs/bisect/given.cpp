#include "app/core/tabs/bisect/given.h"

#include "app/core/run/labels.h"
#include "app/core/run/open_model.h"
#include "app/core/tabs/bisect/passes.h"
#include "app/core/tabs/bisect/relation.h"
#include "app/core/text/numbers.h"
#include "engine/base/error.h"
#include "engine/load/state_dict.h"
#include "engine/trace/adapters.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

namespace decoderscope::core::bisect {

namespace {

// Theirs under the contract's names; empty if the mapping isn't all of theirs.
Weights weights_of(const trace::Trace& trace, const load::names::Mapping& mapping, const Config& config) {
    load::names::Shapes shapes;
    load::names::Mapping used;
    for (const trace::TraceTensor& parameter : trace.parameters)
        if (const auto known = mapping.find(parameter.name); known != mapping.end() && !known->second.empty()) {
            shapes.emplace(parameter.name, parameter.shape);
            used.insert(*known);
        }
    if (used.empty()) return {};
    try {
        load::StateDict dict = load::map_state_dict(used, shapes);
        load::settle_heads(dict, config.nhead, config.num_key_value_heads);
        load::Assembly assembly(std::move(dict));
        for (const trace::TraceTensor& parameter : trace.parameters)
            if (used.contains(parameter.name)) assembly.add(parameter.name, parameter.values);
        return assembly.take(true);
    } catch (const Error&) {  // which is then seen where it is read
        return {};
    }
}

bool is_same(const Tensor& ours, const Tensor& theirs, Arithmetic type) {
    constexpr double kUlps = 2.0;
    for (std::size_t i = 0; i < ours.values().size(); ++i) {
        const auto a = static_cast<double>(ours.values()[i]), b = static_cast<double>(theirs.values()[i]);
        if (a != b && !(std::abs(a - b) <= kUlps * ulp_at(std::max(std::abs(a), std::abs(b)), type))) return false;
    }
    return true;
}

Sentence what_it_is(const Tensor& ours, const Tensor& theirs, Arithmetic type) {
    if (std::ranges::all_of(theirs.values(), [](float x) { return x == 0.0F; })) return message("all 0 there");
    if (Sentence relation = relation_between(ours, theirs, type); !relation.empty()) return relation;
    const auto [a, b] = std::ranges::mismatch(ours.values(), theirs.values());
    return message("{ours} here and {theirs} there at {cell}",
                   {{"ours", short_number(static_cast<double>(*a))},
                    {"theirs", short_number(static_cast<double>(*b))},
                    {"cell", cell_name("", ours.cell(static_cast<Index>(a - ours.values().begin())))}});
}

Sentence tokens_apart(const Tensor& ours, const Tensor& theirs) {
    if (ours.empty() || theirs.empty()) return {};
    if (shape_text(ours.axes()) != shape_text(theirs.axes()))
        return message("the recorded model was given tokens {theirs}, and this one {ours}",
                       {{"theirs", shape_text(theirs.axes())}, {"ours", shape_text(ours.axes())}});
    const auto [a, b] = std::ranges::mismatch(ours.values(), theirs.values());
    if (a == ours.values().end()) return {};
    return message("the recorded model was given token {theirs} and this one {ours} at {cell}",
                   {{"theirs", static_cast<Index>(*b)},
                    {"ours", static_cast<Index>(*a)},
                    {"cell", cell_name("tokens", ours.cell(static_cast<Index>(a - ours.values().begin())))}});
}

// What the calls of the recorded model itself were given.
std::vector<const trace::TraceCall*> calls_of_model(const trace::Trace& trace) {
    std::vector<const trace::TraceCall*> found;
    for (const trace::TraceCall& call : trace.calls)
        if (calls_model(call, trace)) found.push_back(&call);
    return found;
}

}  // namespace

Sentence adapters_apart(const trace::Trace& ours, const trace::Trace& theirs) {
    for (const auto& [key, scale] : theirs.hyperparameters) {
        const auto own = ours.hyperparameters.find(key);
        if (!key.starts_with(trace::kAdapter) || own == ours.hyperparameters.end() || own->second == scale) continue;
        const std::string module = key.substr(trace::kAdapter.size());
        if (scale == "0") return message("the adapter (LoRA) of {module} is left out there", {{"module", module}});
        return message("the adapter (LoRA) of {module} is scaled by {theirs} there and by {ours} here",
                       {{"module", module}, {"theirs", scale}, {"ours", own->second}});
    }
    return {};
}

std::vector<Sentence> given_apart(const trace::Trace& ours, const trace::Trace& theirs, bool beside_tokens) {
    const auto a = calls_of_model(ours), b = calls_of_model(theirs);
    for (std::size_t call = 0; call < std::min(a.size(), b.size()); ++call)
        for (const auto& [port, name] : a[call]->in) {
            const auto same = std::ranges::find(
                b[call]->in, port, [](const auto& in) -> const auto& { return in.first; });
            const trace::TraceTensor* here = ours.find(name);
            const trace::TraceTensor* there = same == b[call]->in.end() ? nullptr : theirs.find(same->second);
            if (here == nullptr || there == nullptr || here->has_floats()) continue;
            const bool is_same =
                here->shape == there->shape && std::ranges::equal(here->values.values(), there->values.values());
            const auto says = [&, &port = port](const char* word) { return port.find(word) != std::string::npos; };
            if (!is_same && beside_tokens && !says("pos") && !says("mask") && !says("pad")) return {};
            if (here->shape != there->shape)
                return {message("call {number} of the model was given {port} {theirs} there and {ours} here",
                                {{"number", call + 1},
                                 {"port", port},
                                 {"theirs", shape_text(there->shape)},
                                 {"ours", shape_text(here->shape)}})};
            const auto [x, y] = std::ranges::mismatch(here->values.values(), there->values.values());
            if (x == here->values.values().end()) continue;
            return {message(
                "call {number} of the model was given {theirs} there and {ours} here, at {cell}",
                {{"number", call + 1},
                 {"theirs", static_cast<Index>(*y)},
                 {"ours", static_cast<Index>(*x)},
                 {"cell", cell_name(port, here->values.cell(static_cast<Index>(x - here->values.values().begin())))}})};
        }
    return {};
}

namespace {

// Each row of a table less each other.
Tensor differences_of(const Tensor& table, Index width) {
    const Index rows = table.size() / width;
    Tensor all(Axes{{"", rows * rows}, {"", width}});
    for (Index i = 0; i < all.size(); ++i) {
        const Index row = i / width / rows, other = i / width % rows, column = i % width;
        all.writable()[static_cast<std::size_t>(i)] =
            table.data()[row * width + column] - table.data()[other * width + column];
    }
    return all;
}

}  // namespace

Sentence stream_apart(const trace::Trace& ours, const trace::Trace& theirs, const Config& config, Arithmetic type) {
    const Tensor here = inputs_of_trace(ours, config).x, there = inputs_of_trace(theirs, config).x;
    if (here.empty() || shape_text(here.axes()) != shape_text(there.axes()) || is_same(here, there, type)) return {};
    Tensor missing = here;
    double most = 0.0;
    for (Index i = 0; i < here.size(); ++i) {
        missing.writable()[static_cast<std::size_t>(i)] -= there.data()[i];
        most = std::max(most, std::abs(static_cast<double>(here.data()[i])));
    }
    Sentence how = what_it_is(here, there, type);
    constexpr Index kSmall = 64;
    for (const trace::TraceTensor& table : ours.parameters) {
        const Index width = table.shape.empty() ? 0 : table.shape.back();
        if (table.shape.size() < 2 || width != here.axes().back().size) continue;
        if (!rows_of_table(missing, table.values, -1, most, type).empty())
            how = message("{table} is not added there", {{"table", table.name}});
        else if (table.values.size() <= kSmall * width &&
                 !rows_of_table(missing, differences_of(table.values, width), -1, most, type).empty())
            how = message("other rows of {table} are added there", {{"table", table.name}});
    }
    return message("the stream that enters the blocks differs, although both were given the same tokens: {how}",
                   {{"how", how}});
}

std::optional<Sentence> made_of_given_apart(const Inputs& ours, const Inputs& theirs) {
    const Index length = ours.tokens.empty() ? 0 : ours.pos();
    if (length == 0 || ours.tokens.axes() != theirs.tokens.axes()) return std::nullopt;
    const auto position = [&](const Inputs& of, Index i) {
        return of.positions.empty() ? i % length : static_cast<Index>(of.positions.data()[i]);
    };
    const auto is_kept = [&](const Inputs& of, Index i) {
        return of.attention_mask.size() != of.tokens.size() || of.attention_mask.data()[i] != 0.0F;
    };
    for (Index i = 0; i < ours.tokens.size(); ++i) {
        const Index row = i / length, place = i % length;
        if (is_kept(ours, i) != is_kept(theirs, i))
            return message("token {place} of row {row} is padding for one of the two recorded models alone",
                           {{"place", place}, {"row", row}});
        if (is_kept(ours, i) && position(ours, i) != position(theirs, i))
            return message(
                "token {place} of row {row} has position {theirs} there and {ours} here",
                {{"place", place}, {"row", row}, {"theirs", position(theirs, i)}, {"ours", position(ours, i)}});
    }
    return std::nullopt;
}

Sentence returned_apart(const trace::Trace& ours, const trace::Trace& theirs, const Tensor& keep, double tolerance) {
    const auto a = calls_of_model(ours), b = calls_of_model(theirs);
    for (std::size_t call = 0; call < std::min(a.size(), b.size()); ++call)
        for (std::size_t port = 0; port < std::min(a[call]->out.size(), b[call]->out.size()); ++port) {
            const std::string& name = a[call]->out[port].second;
            const trace::TraceTensor *here = ours.find(name), *there = theirs.find(b[call]->out[port].second);
            if (here == nullptr || there == nullptr || !here->has_floats() || here->shape != there->shape) continue;
            double largest = 0.0, apart = 0.0;
            const bool by_token =
                !keep.empty() && here->shape.size() == 3 && keep.size() == here->shape[0] * here->shape[1];
            for (std::size_t i = 0; i < here->values.values().size(); ++i) {
                if (by_token && keep.values()[i / static_cast<std::size_t>(here->shape[2])] == 0.0F) continue;
                const auto x = static_cast<double>(here->values.values()[i]),
                           y = static_cast<double>(there->values.values()[i]);
                largest = std::max(largest, std::abs(x));
                apart = std::max(apart, std::abs(x - y));
            }
            if (std::isfinite(largest) && apart > tolerance * largest)
                return message(
                    "{name}: the two recorded models returned numbers that are up to {apart} apart. All of theirs is "
                    "what is computed here; this model computed something else when it was recorded",
                    {{"name", name}, {"apart", short_number(apart)}});
        }
    return {};
}

std::vector<Sentence> given_apart(const Scenario& scenario, const trace::Trace& trace,
                                  const load::names::Mapping& mapping, Arithmetic type) {
    std::vector<Sentence> found;
    const Config config = scenario.config();
    const Inputs theirs = inputs_of_trace(trace, config);
    if (Sentence tokens = tokens_apart(scenario.inputs.tokens, theirs.tokens); !tokens.empty())
        found.push_back(std::move(tokens));
    std::size_t compared = 0, apart = 0;
    std::string names;
    Sentence first;
    for (const auto& [name, weight] : weights_of(trace, mapping, config)) {
        const auto ours = scenario.weights().find(name);
        if (ours == scenario.weights().end()) continue;
        ++compared;
        const Tensor here = ours->second.with_axes(unnamed(sizes_of(ours->second.axes())));
        const bool fits = sizes_of(here.axes()) == sizes_of(weight.axes());
        if (fits && is_same(here, weight, type)) continue;
        ++apart;
        if (!first.empty()) continue;
        names = name;
        first = fits ? what_it_is(here, weight, type)
                     : message("{theirs} there, {ours} here", {{"theirs", shape_text(sizes_of(weight.axes()))},
                                                               {"ours", shape_text(sizes_of(here.axes()))}});
    }
    if (apart > 0)
        found.push_back(message_n("{count} weight of {all} differs: {name}, {how}",
                                  "{count} weights of {all} differ, the first {name}, {how}", apart,
                                  {{"all", compared}, {"name", names}, {"how", first}}));
    return found;
}

}  // namespace decoderscope::core::bisect
