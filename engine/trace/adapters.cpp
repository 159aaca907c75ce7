#include "engine/trace/adapters.h"

#include "engine/tensor/tensor.h"
#include "engine/trace/recorded_numbers.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <set>
#include <utility>

namespace decoderscope::trace {

namespace {

using Parameters = std::map<std::string, const TraceTensor*, std::less<>>;

std::string parent(const std::string& name) {
    const std::size_t point = name.rfind('.');
    return point == std::string::npos ? std::string() : name.substr(0, point);
}

// The rows of a matrix [rows, columns], perhaps stored turned, times a row.
Numbers times(const Tensor& matrix, Index rows, const Numbers& row) {
    const auto columns = static_cast<Index>(row.size());
    const bool turned = matrix.dim(0) != rows;
    Numbers made(static_cast<std::size_t>(rows), 0.0);
    for (Index i = 0; i < rows; ++i)
        for (Index k = 0; k < columns; ++k)
            made[static_cast<std::size_t>(i)] +=
                static_cast<double>(matrix.data()[turned ? k * rows + i : i * columns + k]) *
                row[static_cast<std::size_t>(k)];
    return made;
}

double product(const Numbers& a, const Numbers& b) {
    double sum = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
}

// The only tensor of some ports, of numbers in rows.
const TraceTensor* only(const Trace& trace, const std::vector<std::pair<std::string, std::string>>& ports) {
    const TraceTensor* found = ports.size() == 1 ? trace.find(ports.front().second) : nullptr;
    return found != nullptr && found->has_floats() && found->shape.size() > 1 && found->values.size() > 0 ? found
                                                                                                          : nullptr;
}

// A matrix [out, in], two of a lower rank and perhaps a bias, if a module has nothing else.
std::vector<Adapter> candidates_of(const std::string& module, const Parameters& parameters) {
    const std::string prefix = module + ".";
    std::vector<const TraceTensor*> matrices, vectors;
    for (auto it = parameters.lower_bound(prefix); it != parameters.end() && it->first.starts_with(prefix); ++it)
        (it->second->shape.size() == 2 ? matrices : vectors).push_back(it->second);
    if (matrices.size() != 3 || vectors.size() > 1) return {};
    const auto whole = std::ranges::max_element(matrices, {}, [](const TraceTensor* one) {
        return std::pair(std::ranges::min(one->shape), one->shape[0] * one->shape[1]);
    });
    const Index out = (*whole)->shape[0], in = (*whole)->shape[1], least = std::min(out, in);
    const std::string weight = (*whole)->name;
    matrices.erase(whole);
    const Index rank = std::ranges::min(matrices[0]->shape);
    const auto has = [&](const TraceTensor* one, Index size) {
        return std::ranges::min(one->shape) == rank && std::ranges::max(one->shape) == size;
    };
    if (rank >= least || (!vectors.empty() && vectors[0]->shape != std::vector<Index>{out})) return {};
    std::vector<Adapter> found;
    for (const std::size_t down : {0U, 1U})
        if (has(matrices[down], in) && has(matrices[1 - down], out))
            found.push_back({module, weight, vectors.empty() ? "" : vectors[0]->name, matrices[down]->name,
                             matrices[1 - down]->name, 0.0});
    return found;
}

// Whether the module's call gave this for what it was given, and with which scale.
bool explains(Adapter& adapter, const TraceTensor& in, const TraceTensor& out, const Parameters& parameters,
              double most) {
    const auto of = [&](const std::string& name) -> const Tensor& { return parameters.find(name)->second->values; };
    const Tensor& weight = of(adapter.weight);
    const Index rows = weight.dim(0), columns = weight.dim(1);
    if (in.shape.back() != columns || out.shape.back() != rows) return false;
    const Numbers x(in.values.data(), in.values.data() + columns), y(out.values.data(), out.values.data() + rows);
    Numbers rest = y;
    const Numbers base = times(weight, rows, x);
    for (std::size_t i = 0; i < rest.size(); ++i)
        rest[i] -= base[i] + (adapter.bias.empty() ? 0.0 : static_cast<double>(of(adapter.bias).values()[i]));
    const auto rank = static_cast<Index>(std::min(of(adapter.down).dim(0), of(adapter.down).dim(1)));
    const Numbers added = times(of(adapter.up), rows, times(of(adapter.down), rank, x));
    adapter.scale = product(rest, added) / std::max(product(added, added), 1e-30);
    for (std::size_t i = 0; i < rest.size(); ++i) rest[i] -= adapter.scale * added[i];
    const double simple = std::round(adapter.scale * 1024.0) / 1024.0 + 0.0;  // 0, not −0
    if (std::abs(simple - adapter.scale) <= most * std::max(1.0, std::abs(simple))) adapter.scale = simple;
    return product(rest, rest) <= most * most * product(y, y);
}

}  // namespace

std::vector<Adapter> adapters_of(const Trace& trace) {
    Parameters parameters;
    std::set<std::string> modules;
    for (const TraceTensor& parameter : trace.parameters) {
        parameters.emplace(parameter.name, &parameter);
        std::string module = parent(parameter.name);
        for (int up = 0; up < 3 && !module.empty(); ++up, module = parent(module)) modules.insert(module);
    }
    std::map<std::string, const TraceCall*, std::less<>> calls;  // the first of each module
    for (const TraceCall& call : trace.calls)
        if (call.function.empty()) calls.emplace(call.module, &call);
    std::vector<Adapter> found;
    for (const std::string& module : modules)
        for (Adapter& one : candidates_of(module, parameters)) {
            auto call = calls.find(module);
            if (call == calls.end()) call = calls.find(parent(one.weight));  // the adapter isn't used
            const TraceTensor* in = call == calls.end() ? nullptr : only(trace, call->second->in);
            const TraceTensor* out = call == calls.end() ? nullptr : only(trace, call->second->out);
            if (in == nullptr || out == nullptr ||
                !explains(one, *in, *out, parameters, usually_apart(trace.precision())))
                continue;
            found.push_back(std::move(one));
            break;
        }
    return found;
}

Tensor merged(const Tensor& weight, const Tensor& down, const Tensor& up, double scale) {
    const Index rows = weight.dim(0), columns = weight.dim(1), rank = std::min(down.dim(0), down.dim(1));
    const bool down_turned = down.dim(0) != rank, up_turned = up.dim(0) == rank;
    Tensor made(weight.axes());
    for (Index i = 0; i < rows; ++i)
        for (Index k = 0; k < columns; ++k) {
            double sum = 0.0;
            for (Index r = 0; r < rank; ++r)
                sum += static_cast<double>(up.data()[up_turned ? r * rows + i : i * rank + r]) *
                       static_cast<double>(down.data()[down_turned ? k * rank + r : r * columns + k]);
            made.writable()[static_cast<std::size_t>(i * columns + k)] =
                static_cast<float>(static_cast<double>(weight.data()[i * columns + k]) + scale * sum);
        }
    return made;
}

void merge_adapters(Trace& trace) {
    for (const Adapter& adapter : adapters_of(trace)) {
        const auto of = [&](const std::string& name) -> TraceTensor& {
            return *std::ranges::find(trace.parameters, name, &TraceTensor::name);
        };
        TraceTensor& weight = of(adapter.weight);
        weight.values = merged(weight.values, of(adapter.down).values, of(adapter.up).values, adapter.scale);
        weight.name = adapter.module + ".weight";
        if (!adapter.bias.empty()) of(adapter.bias).name = adapter.module + ".bias";
        std::erase_if(trace.parameters,
                      [&](const TraceTensor& one) { return one.name == adapter.down || one.name == adapter.up; });
        char text[32];
        std::snprintf(text, sizeof text, "%.6g", adapter.scale);
        trace.hyperparameters[std::string(kAdapter) + adapter.module] = text;
        const std::string base = parent(adapter.weight);
        const bool is_called = std::ranges::any_of(
            trace.calls, [&](const TraceCall& call) { return call.function.empty() && call.module == adapter.module; });
        std::set<std::string, std::less<>> within;
        std::erase_if(trace.calls, [&](TraceCall& call) {
            const bool is_own = call.function.empty() && call.module == (is_called ? adapter.module : base);
            if (is_own) call.kind = "Linear", call.module = adapter.module;  // not a message: PyTorch's name
            const bool inner =
                !is_own && (call.module == adapter.module || call.module.starts_with(adapter.module + "."));
            if (inner) within.insert(call.name);
            return inner;
        });
        std::set<std::string_view> read;
        for (const TraceCall& call : trace.calls)
            for (const auto* ports : {&call.in, &call.out})
                for (const auto& [port, name] : *ports) read.insert(name);
        std::erase_if(trace.tensors, [&](const TraceTensor& tensor) {
            const auto side = side_of(tensor.name);
            return side && within.contains(side->call) && !read.contains(tensor.name);
        });
    }
}

}  // namespace decoderscope::trace
