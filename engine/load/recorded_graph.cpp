#include "engine/load/recorded_graph.h"

#include "engine/load/recorded_hints.h"
#include "engine/trace/einsum.h"
#include "engine/trace/recorded_numbers.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <numbers>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace decoderscope::load {

namespace {

using names::RowLayout;
using names::Target;
using trace::Numbers;
using trace::TraceCall;
using trace::TraceTensor;

// Whether one is the other between two numbers, which some of it is beyond.
bool is_clipped(std::span<const double> from, const Numbers& to, double most) {
    double limit = 0.0;
    for (const double x : to) limit = std::max(limit, std::abs(x));
    Numbers clipped(from.begin(), from.end());
    for (double& x : clipped) x = std::clamp(x, -limit, limit);
    return !trace::are_same(from, to, most) && trace::are_same(clipped, to, most);
}

// What was done with a parameter.
struct Use {
    enum class Kind { table, positions, product, gain };
    Kind kind = Kind::product;
    std::size_t at = 0;  // which call
    std::string weight, bias;
    std::string in, out;  // tensors
    std::size_t end = 0;  // the call that gave `out`
    Index rows = 0;       // that a product gives; that come before those of a table that positions read
    RowLayout how = RowLayout::as_stored;
};

// Where in what a product gave an operand of an attention begins.
struct Source {
    std::size_t use = 0;
    std::optional<std::size_t> norm;  // a gain between the two
    Index first = 0, second = 0;      // columns of the first head and of the second; -1: there is no second
};

struct Core {
    std::size_t at = 0, end = 0;  // its first product, or kernel, and its last
    const TraceTensor *q = nullptr, *k = nullptr, *v = nullptr, *z = nullptr;
    Index queries = 0;
};

class GraphReader {
public:
    explicit GraphReader(const trace::Trace& trace) : trace_(trace), apart_(trace::usually_apart(trace.precision())) {
        for (const TraceTensor& tensor : trace.tensors) tensors_.emplace(tensor.name, &tensor);
        for (const TraceTensor& parameter : trace.parameters) parameters_.emplace(parameter.name, &parameter);
    }

    RecordedGraph read() {
        if (trace_.calls.empty() || trace_.parameters.empty()) return {};
        take_first_pass();
        find_uses();
        find_cores();
        if (!find_table() || cores_.empty() || !place_layers() || !place_norms() || !place_head()) return {};
        find_positions();
        if (!find_relative_bias()) return {};
        leave_out_tables();
        for (const auto& [name, parameter] : parameters_) {
            const bool used = std::ranges::any_of(
                uses_, [&, &known = name](const Use& use) { return use.weight == known || use.bias == known; });
            if (by_names_ && !result_.mapping.contains(name)) continue;
            if (used && !result_.mapping.contains(name) && !left_out_.contains(name)) return {};
            if (result_.mapping.try_emplace(name).second && !left_out_.contains(name) &&
                !trace_.hyperparameters.contains("(buffers)." + name))
                result_.unread = name;
        }
        add_hints();
        begin_with_stream();
        return std::move(result_);
    }

private:
    [[nodiscard]] bool are_same(std::span<const double> a, std::span<const double> b) const {
        return trace::are_same(a, b, apart_);
    }
    [[nodiscard]] bool are_parallel(const auto& a, const auto& b) const {
        return trace::are_parallel(a, b, std::max(1e-7, apart_ * apart_ / 40.0));
    }

    // ---- what is there

    [[nodiscard]] const TraceTensor* tensor(const std::string& name) const {
        const auto found = tensors_.find(name);
        return found == tensors_.end() ? nullptr : found->second;
    }
    [[nodiscard]] const TraceTensor* parameter(std::string_view name) const {
        const auto found = parameters_.find(name);
        return found == parameters_.end() ? nullptr : found->second;
    }
    [[nodiscard]] static std::string only(const std::vector<std::pair<std::string, std::string>>& ports) {
        return ports.size() == 1 ? ports.front().second : std::string();
    }
    [[nodiscard]] static bool is_whole_number(const TraceTensor* tensor) {
        return tensor != nullptr && (tensor->dtype.starts_with('I') || tensor->dtype.starts_with('U'));
    }
    // Without axes of one before the last.
    [[nodiscard]] static std::vector<Index> plain_shape(const TraceTensor& of) {
        std::vector<Index> shape = of.shape;
        while (shape.size() > 1 && shape.front() == 1) shape.erase(shape.begin());
        return shape;
    }

    // Calls after the model's second one compute the same once more.
    void take_first_pass() {
        end_ = 1;
        while (end_ < trace_.calls.size() &&
               !(trace_.calls[end_].function.empty() && trace_.calls[end_].module == trace_.calls.front().module))
            ++end_;
        for (const auto& [port, name] : trace_.calls.front().in)
            if (const TraceTensor* given = tensor(name);
                tokens_ == nullptr && is_whole_number(given) && (given->shape.size() == 2 || given->shape.size() == 1))
                tokens_ = given;
    }

    // ---- what was done with parameters

    void find_uses() {
        for (std::size_t at = 0; at < end_; ++at) {
            const TraceCall& call = trace_.calls[at];
            if (call.function.empty())
                add_module(call, at);
            else if (!call.parameters.empty())
                add_function(call, at);
        }
    }

    void add_module(const TraceCall& call, std::size_t at) {
        std::vector<const TraceTensor*> own;
        const std::string prefix = call.module + ".";
        for (auto it = parameters_.lower_bound(prefix); it != parameters_.end() && it->first.starts_with(prefix); ++it)
            if (it->first.find('.', prefix.size()) == std::string::npos) own.push_back(it->second);
        std::string in = only(call.in);
        const std::string out = only(call.out);
        // A table of its own kind may look up another thing than it was given: fairseq's makes positions of tokens.
        for (std::size_t next = at + 1; next < end_ && trace_.calls[next].module == call.module; ++next)
            if (trace_.calls[next].function == "embedding") in = only(trace_.calls[next].in);
        const bool is_one_thing = std::ranges::none_of(trace_.calls, [&](const TraceCall& other) {
            return other.module.starts_with(prefix) || (other.module == call.module && !other.parameters.empty());
        });
        if (own.empty() || own.size() > 2 || in.empty() || out.empty() || !is_one_thing) return;
        const auto is_shift = [&](const TraceTensor& one) {
            const std::string_view last = std::string_view(one.name).substr(prefix.size());
            return last.starts_with('b') || last == "shift" || last == "offset";
        };
        if (own.size() == 2 &&
            (own[0]->shape.size() != own[1]->shape.size() ? own[0]->shape.size() < own[1]->shape.size()
                                                          : is_shift(*own[0])))
            std::swap(own[0], own[1]);
        if (own.size() == 2 && own[1]->shape.size() != 1) return;
        add({.at = at, .weight = own[0]->name, .bias = own.size() > 1 ? own[1]->name : "", .in = in, .out = out}, {});
    }

    void add_function(const TraceCall& call, std::size_t at) {
        std::string weight, bias, in;
        for (const auto& [port, name] : call.parameters) (port == "bias" ? bias : weight) = name;
        for (const auto& [port, name] : call.in)
            if (tensor(name) != nullptr && in.empty()) in = name;
        const std::string out = only(call.out);
        if (in.empty() && call.function == "getitem") return add_rows(weight, out, at);
        if (in.empty() || out.empty()) return;
        const bool part = weight.ends_with("[:]");
        const TraceTensor* of = parameter(part ? weight.substr(0, weight.size() - 3) : weight);
        if (of == nullptr) return;
        if (call.function == "add" && plain_shape(*of).size() == 2 && tensor(in)->shape.size() < 4) {
            uses_.push_back({.kind = Use::Kind::positions,
                             .at = at,
                             .weight = of->name,
                             .bias = {},
                             .in = in,
                             .out = out,
                             .end = at});
        } else if (part) {
            return;
        } else if (call.function == "add") {  // to what the parameter before it gave
            for (auto use = uses_.rbegin(); use != uses_.rend(); ++use)
                if (use->out == in && use->bias.empty() && use->kind != Use::Kind::positions) {
                    use->bias = of->name;
                    use->out = out;
                    use->end = at;
                    return;
                }
            // To what that was added to: x + h @ W + b.
            for (auto use = uses_.rbegin(); use != uses_.rend() && of->shape.size() == 1; ++use)
                if (use->kind == Use::Kind::product) {
                    if (use->bias.empty() && use->rows == of->shape[0] && tensor(use->out)->shape == tensor(in)->shape)
                        use->bias = of->name;
                    return;
                }
        } else {
            const auto equation = call.with.find("equation");
            add({.at = at, .weight = of->name, .bias = bias, .in = in, .out = out},
                equation == call.with.end() ? std::string() : equation->second);
        }
    }

    // Rows that were taken from a table: those of the tokens, or the first ones.
    void add_rows(const std::string& weight, const std::string& taken, std::size_t at) {
        const TraceTensor *table = parameter(weight), *out = tensor(taken);
        if (table == nullptr || out == nullptr || table->shape.size() != 2 || out->shape.size() < 2 ||
            out->shape.back() != table->shape[1] || out->values.size() < 2 * table->shape[1])
            return;
        const auto row_of_table = [&](Index row) { return numbers(*table, row * table->shape[1], table->shape[1]); };
        const auto is = [&](Index row, Index of) {
            return of < table->shape[0] &&
                   are_same(numbers(*out, row * table->shape[1], table->shape[1]), row_of_table(of));
        };
        const auto token = [&](Index i) { return static_cast<Index>(tokens_->values.data()[i]); };
        const bool of_tokens = tokens_ != nullptr && tokens_->values.size() > 1 && is(0, token(0)) && is(1, token(1));
        if (of_tokens || (is(0, 0) && is(1, 1)))
            uses_.push_back({.kind = of_tokens ? Use::Kind::table : Use::Kind::positions,
                             .at = at,
                             .weight = weight,
                             .bias = {},
                             .in = of_tokens ? tokens_->name : std::string(),
                             .out = taken,
                             .end = at});
    }
    [[nodiscard]] static Numbers numbers(const TraceTensor& of, Index first, Index count) {
        return {of.values.data() + first, of.values.data() + first + count};
    }

    // Says what it is by its shapes; what it isn't clear of is left out.
    void add(Use use, const std::string& equation) {
        const TraceTensor *weight = parameter(use.weight), *in = tensor(use.in), *out = tensor(use.out);
        if (in == nullptr || out == nullptr || out->shape.empty() || in->shape.empty()) return;
        const std::vector<Index> shape = plain_shape(*weight);
        use.end = use.at;
        if (is_whole_number(in)) {
            if (shape.size() != 2) return;
            const std::optional<Index> first = in == tokens_ ? std::nullopt : counted_from(*in);
            use.kind = first ? Use::Kind::positions : Use::Kind::table;
            use.rows = first.value_or(0);
        } else if (shape.size() == 1) {
            use.kind = Use::Kind::gain;
            if (in->shape != out->shape || in->shape.back() != shape[0]) return;
        } else if (shape.size() > 2 && !equation.empty() && is_matrix_of_axes(shape, in->shape, out->shape)) {
            use.how = RowLayout::transposed;
            use.rows = out->shape.size() == 3 ? shape.back() : weight->values.size() / shape.front();
        } else if (shape.size() == 3 && !equation.empty()) {
            // [head, d_model, d_head] of what is split into heads, [head, d_head, d_model] of what joins them.
            use.how = RowLayout::matrix_per_head;
            const bool joins = shape[2] == out->shape.back() && in->shape.back() == shape[1] && in->shape.size() == 4;
            const bool splits = shape[1] == in->shape.back() && out->shape.back() == shape[2] && out->shape.size() == 4;
            if (!joins && !splits) return;
            use.rows = joins ? shape[2] : shape[0] * shape[2];
        } else if (shape.size() == 2) {
            const bool straight = shape[1] == in->shape.back() && shape[0] == out->shape.back();
            const bool turned = shape[0] == in->shape.back() && shape[1] == out->shape.back();
            if (!straight && !turned) return;
            use.rows = out->shape.back();
            const bool is_turned = straight && turned ? !gives(*weight, *in, *out, use.bias) : turned;
            use.how = is_turned ? RowLayout::transposed : RowLayout::as_stored;
        } else {
            return;
        }
        uses_.push_back(std::move(use));
    }

    // Whether a weight's first axis is a row's, and its others are the heads' that a product gives; or these that it is
    // given, and the last axis a row's.
    [[nodiscard]] static bool is_matrix_of_axes(std::span<const Index> shape, std::span<const Index> in,
                                                std::span<const Index> out) {
        const auto ends_with = [](std::span<const Index> all, std::span<const Index> end) {
            return all.size() == 2 + end.size() && std::ranges::equal(all.last(end.size()), end);
        };
        return (in.size() == 3 && in.back() == shape.front() && ends_with(out, shape.last(shape.size() - 1))) ||
               (out.size() == 3 && out.back() == shape.back() && ends_with(in, shape.first(shape.size() - 1)));
    }

    // Where numbers begin that go up by one along the last axis: 0 of 0, 1, 2, …, or 2 as in OPT. Padding, which isn't
    // counted, may have the first of them: 1 of 2, 3, 1, 1, as in fairseq.
    [[nodiscard]] static std::optional<Index> counted_from(const TraceTensor& of) {
        const std::span<const float> values = of.values.values();
        const Index length = of.shape.back();
        if (length < 2 || values.empty()) return std::nullopt;
        const auto least = static_cast<Index>(*std::ranges::min_element(values));
        const auto count_up_from = [&](Index first) {
            Index count = 0, most = 0;
            for (Index i = 0; i < of.values.size(); ++i) {
                if (i % length == 0) count = 0;
                const auto value = static_cast<Index>(values[static_cast<std::size_t>(i)]);
                if (value == first + count)
                    most = std::max(most, ++count);
                else if (value != least)
                    return false;
            }
            return most > 1;
        };
        return least >= 0 && (count_up_from(least) || count_up_from(least + 1)) ? std::optional(least) : std::nullopt;
    }

    // Whether a matrix [out, in] gives the first row of one for that of the other.
    [[nodiscard]] bool gives(const TraceTensor& weight, const TraceTensor& in, const TraceTensor& out,
                             const std::string& bias) const {
        const Index rows = weight.shape[0], columns = weight.shape[1];
        const TraceTensor* shift = bias.empty() ? nullptr : parameter(bias);
        Numbers made, given;
        for (Index row = 0; row < rows; ++row) {
            double sum = shift == nullptr ? 0.0 : static_cast<double>(shift->values.data()[row]);
            for (Index column = 0; column < columns; ++column)
                sum += static_cast<double>(weight.values.data()[row * columns + column]) *
                       static_cast<double>(in.values.data()[column]);
            made.push_back(sum);
            given.push_back(static_cast<double>(out.values.data()[row]));
        }
        return are_same(made, given);
    }

    // ---- attention

    [[nodiscard]] const TraceTensor* operand(const TraceCall& call, std::size_t number) const {
        if (call.function == "baddbmm") ++number;  // what it is added to comes first
        return number < call.in.size() ? tensor(call.in[number].second) : nullptr;
    }

    void find_cores() {
        std::size_t scores = end_;
        std::string pattern;  // what the last softmax gave
        for (std::size_t at = 0; at < end_; ++at) {
            const TraceCall& call = trace_.calls[at];
            const TraceTensor* out = tensor(only(call.out));
            if (call.function == "scaled_dot_product_attention" && call.in.size() >= 3 && out != nullptr) {
                cores_.push_back({at, at, operand(call, 0), operand(call, 1), operand(call, 2), out, 0});
                cores_.back().queries = out->shape[out->shape.size() - 2];
            } else if (trace::is_product(call)) {
                if (!weighs(call, scores, pattern)) scores = at;
            } else if (call.function == "softmax") {
                pattern = only(call.out);
            }
        }
        std::erase_if(cores_, [](const Core& core) {
            return core.q == nullptr || core.k == nullptr || core.v == nullptr || core.z == nullptr;
        });
    }

    // Whether a product weighs values by what a softmax, perhaps of a person's own, made of the scores before it.
    bool weighs(const TraceCall& call, std::size_t& scores, const std::string& softmax) {
        if (scores == end_) return false;
        const TraceCall& product = trace_.calls[scores];
        const TraceTensor* made = tensor(only(product.out));
        for (const std::size_t which : {0U, 1U}) {
            const TraceTensor* pattern = operand(call, which);
            if (pattern == nullptr || made == nullptr || pattern == made) continue;
            double sum = 0.0;
            for (Index key = 0; key < pattern->shape.back(); ++key)
                sum += static_cast<double>(pattern->values.data()[key]);
            const bool by_hand = pattern->shape == made->shape && std::abs(sum - 1.0) < 1e-3;
            if (pattern->name != softmax && !by_hand) continue;
            const auto at = static_cast<std::size_t>(&call - trace_.calls.data());
            cores_.push_back({scores, at, operand(product, 0), operand(product, 1), operand(call, 1 - which),
                              tensor(only(call.out)), pattern->shape[pattern->shape.size() - 2]});
            scores = end_;
            return true;
        }
        return false;
    }

    // The numbers of the first position in each head, of [batch, head, pos, column] or an order that heads and
    // positions tell apart; a vector a head.
    [[nodiscard]] std::vector<std::vector<Numbers>> heads_at_first(const TraceTensor& of, Index positions) const {
        std::vector<std::vector<Numbers>> found;
        const std::vector<Index>& shape = of.shape;
        const auto take = [&](Index heads, Index columns, Index of_head, Index of_column) {
            std::vector<Numbers>& one = found.emplace_back();
            for (Index head = 0; head < heads; ++head) {
                Numbers& row = one.emplace_back();
                for (Index column = 0; column < columns; ++column)
                    row.push_back(static_cast<double>(of.values.data()[head * of_head + column * of_column]));
            }
        };
        if (shape.size() == 4 && shape[2] == positions) take(shape[1], shape[3], shape[2] * shape[3], 1);
        if (shape.size() == 4 && shape[1] == positions) take(shape[2], shape[3], shape[3], 1);
        if (shape.size() == 4 && shape[3] == positions) take(shape[1], shape[2], shape[2] * shape[3], shape[3]);
        // Heads in groups that share their keys.
        if (shape.size() == 5 && shape[1] == positions) take(shape[2] * shape[3], shape[4], shape[4], 1);
        if (shape.size() == 5 && shape[3] == positions) take(shape[1] * shape[2], shape[4], shape[3] * shape[4], 1);
        if (shape.size() == 3 && tokens_ != nullptr && tokens_->shape.size() == 1) {  // there is no batch
            if (shape[1] == positions) take(shape[0], shape[2], shape[1] * shape[2], 1);
            if (shape[0] == positions) take(shape[1], shape[2], shape[2], 1);
            if (shape[2] == positions) take(shape[0], shape[1], shape[1] * shape[2], shape[2]);
            return found;
        }
        if (shape.size() == 2) {  // a head by itself
            if (shape[0] == positions) take(1, shape[1], 0, 1);
            if (shape[1] == positions) take(1, shape[0], 0, shape[1]);
            return found;
        }
        // Heads of a batch lie side by side.
        const Index batch = tokens_ != nullptr && tokens_->shape.size() == 2 ? tokens_->shape[0] : 1;
        const Index heads = shape.size() == 3 && shape[0] % batch == 0 ? shape[0] / batch : 1;
        if (shape.size() == 3 && shape[1] == positions) take(heads, shape[2], shape[1] * shape[2], 1);
        if (shape.size() == 3 && shape[2] == positions) take(heads, shape[1], shape[1] * shape[2], shape[2]);
        return found;
    }

    // The first position of what a parameter gave, all heads side by side.
    [[nodiscard]] Numbers first_row(const Use& use) const {
        const TraceTensor& out = *tensor(use.out);
        if (use.how == RowLayout::matrix_per_head && out.shape.size() == 4) {
            Numbers row;
            const auto heads = heads_at_first(out, out.shape[2]);
            for (const Numbers& head : heads.front()) row.insert(row.end(), head.begin(), head.end());
            return row;
        }
        Index width = out.shape.back();
        for (std::size_t axis = 2; axis + 1 < out.shape.size(); ++axis) width *= out.shape[axis];
        Numbers all;
        for (Index i = 0; i < width; ++i) all.push_back(static_cast<double>(out.values.data()[i]));
        return all;
    }

    // What made an attention's operand, before one of these calls.
    [[nodiscard]] std::optional<Source> source_of(const TraceTensor& of, Index positions, std::size_t before,
                                                  std::size_t after) const {
        for (std::size_t number = uses_.size(); number-- > 0;) {
            const Use& use = uses_[number];
            if (use.end >= before || use.at < after || (use.kind != Use::Kind::product && use.kind != Use::Kind::gain))
                continue;
            const Numbers row = first_row(use);
            for (const std::vector<Numbers>& heads : heads_at_first(of, positions)) {
                const std::size_t columns = heads.front().size();
                const auto place = [&](const Numbers& head, std::size_t from) -> Index {
                    for (std::size_t at = from; at + columns <= row.size(); at += columns)
                        if (const auto part = std::span(row).subspan(at, columns);
                            are_parallel(part, head) || is_clipped(part, head, apart_))
                            return static_cast<Index>(at);
                    return -1;
                };
                const Index first = place(heads[0], 0);
                if (first < 0) continue;
                const Index second = heads.size() > 1 ? place(heads[1], static_cast<std::size_t>(first) + columns) : -1;
                if (use.kind == Use::Kind::product) return Source{number, std::nullopt, first, second};
                const TraceTensor* normed = tensor(use.in);
                auto behind = normed == nullptr ? std::nullopt : source_of(*normed, positions, use.at, after);
                if (!behind) continue;
                behind->norm = number;
                return behind;
            }
        }
        return std::nullopt;
    }

    // ---- layers

    void name(const std::string& stored, const Target& target) {
        std::vector<Target>& targets = result_.mapping[stored];
        if (std::ranges::find(targets, target) == targets.end()) targets.push_back(target);
    }
    void name(const Use& use, const std::string& ours, std::optional<Target> as = std::nullopt) {
        Target weight = as.value_or(Target{"", use.how});
        weight.name = ours + ".weight";
        name(use.weight, weight);
        if (use.bias.empty()) return;
        const TraceTensor* bias = parameter(use.bias);
        if (weight.how == RowLayout::transposed ||
            (bias != nullptr && bias->shape.size() == 1 && weight.how == RowLayout::matrix_per_head))
            weight.how = RowLayout::as_stored;
        weight.name = ours + ".bias";
        name(use.bias, weight);
    }

    bool find_table() {
        for (const Use& use : uses_)
            if (use.kind == Use::Kind::table && table_.empty() && tensor(use.in) == tokens_) table_ = use.weight;
        if (!table_.empty()) return true;
        // One that was indexed, which no call tells.
        for (const auto& [name, one] : parameters_) {
            if (one->shape.size() != 2 || tokens_ == nullptr || tokens_->values.size() == 0) continue;
            const Index width = one->shape[1];
            const auto token = static_cast<Index>(tokens_->values.data()[0]);
            if (token < 0 || token >= one->shape[0] || width < 2) continue;
            const Numbers row(one->values.data() + token * width, one->values.data() + (token + 1) * width);
            for (const TraceTensor& tensor : trace_.tensors)
                if (tensor.has_floats() && !tensor.shape.empty() && tensor.shape.back() == width &&
                    tensor.values.size() == tokens_->values.size() * width &&
                    are_parallel(row, Numbers(tensor.values.data(), tensor.values.data() + width))) {
                    table_ = name;
                    return true;
                }
        }
        return only_table_left();
    }

    // If neither its use nor what it gave was recorded: the one matrix that nothing else was done with, or the head's.
    bool only_table_left() {
        Index most = 0;
        for (Index i = 0; tokens_ != nullptr && i < tokens_->values.size(); ++i)
            most = std::max(most, static_cast<Index>(tokens_->values.data()[i]));
        std::set<std::string> left;
        for (const auto& [name, one] : parameters_) {
            const auto use =
                std::ranges::find_if(uses_, [&, &known = name](const Use& of) { return of.weight == known; });
            const bool fits = one->shape.size() == 2 && one->shape[0] > most &&
                              (use == uses_.end() ||
                               (use->kind == Use::Kind::product && use->rows == one->shape[0] &&
                                use->how == RowLayout::as_stored && use->out == only(trace_.calls.front().out)));
            if (fits) left.insert(name);
        }
        if (left.size() == 1) table_ = *left.begin();
        return left.size() == 1;
    }

    // The product that joins an attention's heads: the first that was given what these gathered.
    [[nodiscard]] std::optional<std::size_t> join_of(const Core& core) const {
        for (std::size_t number = 0; number < uses_.size(); ++number) {
            const Use& use = uses_[number];
            if (use.kind != Use::Kind::product || use.at <= core.end) continue;
            const TraceTensor& in = *tensor(use.in);
            Use given = use;
            given.out = use.in;
            const Numbers row = first_row(given);
            for (const std::vector<Numbers>& heads : heads_at_first(*core.z, core.queries)) {
                const std::size_t columns = heads.front().size();
                for (std::size_t at = 0; at + columns <= row.size(); at += columns)
                    if (are_same(std::span(row).subspan(at, columns), heads.front())) return number;
            }
            if (in.values.size() == core.z->values.size()) return std::nullopt;  // it was something else
        }
        return std::nullopt;
    }

    bool place_layers() {
        std::vector<std::pair<std::size_t, std::vector<Core>>> layers;  // by what joins their heads
        for (const Core& core : cores_) {
            const auto join = join_of(core);
            if (!join) return false;
            if (layers.empty() || layers.back().first != *join) layers.emplace_back(*join, std::vector<Core>());
            layers.back().second.push_back(core);
        }
        std::size_t after = 0;
        for (std::size_t l = 0; l < layers.size(); ++l) {
            const std::string layer = "layers." + std::to_string(l);
            const Use& join = uses_[layers[l].first];
            width_ = join.rows;
            Place place{.begin = join.at, .join = layers[l].first};
            if (!place_attention(layer + ".self_attn", layers[l].second, after, place)) return false;
            name(join, layer + ".self_attn.o_proj");
            taken_.insert(place.join);
            places_.push_back(place);
            after = join.end;
        }
        for (std::size_t l = 0; l < places_.size(); ++l) {
            const std::size_t from = places_[l].join;
            const std::size_t end = l + 1 < places_.size() ? places_[l + 1].begin : end_;
            const std::string layer = "layers." + std::to_string(l);
            if (place_feed_forward(layer, from, end, places_[l]) &&
                (places_[l].down || place_feed_forward(layer, l == 0 ? 0 : places_[l - 1].join, end, places_[l])))
                continue;
            // Experts, say: their names tell. What is given the stream first shows which norm is the MLP's.
            by_names_ = true;
            for (std::size_t number = from + 1; number < uses_.size() && uses_[number].at < end; ++number)
                if (uses_[number].kind == Use::Kind::product && !places_[l].up) places_[l].up = number;
        }
        return true;
    }

    struct Place {
        std::size_t begin = 0, join = 0;                  // the call of its first projection; the use that joins heads
        std::optional<std::size_t> query, up, down = {};  // uses
    };

    bool place_attention(const std::string& ours, const std::vector<Core>& cores, std::size_t after, Place& place) {
        const auto query_of = [&](const Core& core) { return source_of(*core.q, core.queries, core.end, after); };
        const auto query = query_of(cores[0]), second = cores.size() > 1 ? query_of(cores[1]) : std::nullopt;
        const bool cut = query && second && query->use == second->use;  // a call a head, of one projection for all
        const bool apart = cores.size() > 1 && !cut;
        for (std::size_t h = 0; h < (cut ? 1 : cores.size()); ++h) {
            const Core& core = cores[h];
            std::vector<std::pair<Source, std::string>> found;
            for (const auto& [of, which] : {std::pair{core.q, "q"}, {core.k, "k"}, {core.v, "v"}}) {
                const auto source = source_of(*of, core.queries, core.end, after);
                if (!source) return false;
                found.emplace_back(*source, which);
                place.begin = std::min(place.begin, uses_[source->use].at);
                taken_.insert(source->use);
                if (cut && which == std::string_view("q")) found.back().first.second = second->first;
                if (which == std::string_view("q")) place.query = source->use;
                if (source->norm) {
                    taken_.insert(*source->norm);
                    name(uses_[*source->norm], ours + "." + which + "_norm");
                }
            }
            if (cut) {
                heads_.insert(static_cast<Index>(cores.size()));
            } else if (!apart) {
                const auto heads = heads_at_first(*core.q, core.queries);
                for (const auto& one : heads)
                    if (one.size() > 1 || heads.size() == 1) heads_.insert(static_cast<Index>(one.size()));
            } else {
                heads_.insert(static_cast<Index>(cores.size()));
            }
            std::ranges::stable_sort(found, {},
                                     [](const auto& one) { return std::pair(one.first.use, one.first.first); });
            for (std::size_t i = 0; i < found.size();) {
                std::size_t next = i + 1;
                while (next < found.size() && found[next].first.use == found[i].first.use) ++next;
                std::string which = found[i].second;
                for (std::size_t k = i + 1; k < next; ++k) which += "," + found[k].second;
                if (next - i > 1) which = "{" + which + "}";
                const Use& use = uses_[found[i].first.use];
                std::optional<Target> as;
                if (apart) as = Target{"", RowLayout::head, static_cast<Index>(h)};
                // Head by head if another part begins before the second head of the first.
                if (next - i > 1 && found[i].first.second > found[i + 1].first.first)
                    as = Target{"", next - i == 3 ? RowLayout::by_group : RowLayout::by_head};
                name(use, ours + "." + which + "_proj", as);
                i = next;
            }
        }
        return true;
    }

    // The products between an attention and the next: one or two that are given the stream, and one that gives it back.
    bool place_feed_forward(const std::string& layer, std::size_t from, std::size_t end, Place& place) {
        std::vector<std::size_t> ups;
        for (std::size_t number = from + 1; number < uses_.size() && uses_[number].at < end; ++number) {
            const Use& use = uses_[number];
            if (use.kind != Use::Kind::product || taken_.contains(number)) continue;
            if (use.out == only(trace_.calls.front().out)) break;  // the head
            if (tensor(use.in)->shape.back() == width_ && (use.rows != width_ || ups.empty()) && ups.size() < 2) {
                ups.push_back(number);
                continue;
            }
            const bool placed = use.rows == width_ &&
                                (ups.empty() ? place_beside_attention(layer, place, use) : place_ups(layer, ups, use));
            if (!placed) return false;
            name(use, layer + ".down_proj");
            taken_.insert(ups.begin(), ups.end());
            taken_.insert(number);
            place.up = ups.empty() ? *place.query : ups.front();
            place.down = number;
            return true;
        }
        return ups.empty();  // attention alone
    }

    // Which of one or two products an activation was computed of, so that, times the other, it is what was given.
    std::optional<std::size_t> gate_of(const std::vector<Numbers>& halves, const Numbers& given) {
        std::optional<std::size_t> gate;
        std::string_view nearest;  // two kinds may be alike
        double least = std::numeric_limits<double>::infinity();
        for (std::size_t one = 0; one < halves.size(); ++one)
            for (const ActivationKind& kind : ops::activations()) {
                Numbers act = activated(kind, halves[one]);
                for (std::size_t i = 0; i < act.size() && halves.size() > 1; ++i) act[i] *= halves[1 - one][i];
                double apart = 0.0;
                for (std::size_t i = 0; i < act.size(); ++i) apart += (act[i] - given[i]) * (act[i] - given[i]);
                if (trace::are_those(act, given, trace_.precision())) apart = 0.0;
                if (!are_same(act, given) || apart >= least) continue;
                least = apart;
                nearest = kind.name;
                gate = one;
            }
        if (gate) activations_.insert(std::string(nearest));
        return gate;
    }

    // The MLP's first products may be the last rows of the matrix that makes queries, keys and values, as in PaLM.
    bool place_beside_attention(const std::string& layer, const Place& place, const Use& down) {
        if (!place.query) return false;
        const Use& all = uses_[*place.query];
        const Index hidden = tensor(down.in)->shape.back();
        const std::string attention = layer + ".self_attn.{q,k,v}_proj";
        const auto made = result_.mapping.find(all.weight);
        if (made == result_.mapping.end() || made->second.size() != 1 || made->second[0].name != attention + ".weight")
            return false;
        for (const Index parts : {2, 1}) {
            std::vector<Numbers> halves;
            for (Index part = parts; part > 0; --part)
                halves.push_back(row_of(all.out, std::max<Index>(all.rows - part * hidden, 0), hidden));
            const auto gate = gate_of(halves, row_of(down.in, 0, hidden));
            if (!gate) continue;
            const std::string ups = parts == 1 ? "up_proj" : *gate == 0 ? "gate_proj,up_proj" : "up_proj,gate_proj";
            const std::string ours = layer + ".{self_attn.q_proj,self_attn.k_proj,self_attn.v_proj," + ups + "}";
            made->second[0].name = ours + ".weight";
            if (!all.bias.empty()) result_.mapping[all.bias] = {Target{ours + ".bias"}};
            return true;
        }
        return false;
    }

    bool place_ups(const std::string& layer, const std::vector<std::size_t>& ups, const Use& down) {
        const Index hidden = tensor(down.in)->shape.back();
        const Numbers given = row_of(down.in, 0, hidden);
        std::vector<Numbers> halves;
        const bool fused = ups.size() == 1 && uses_[ups[0]].rows == 2 * hidden;
        if (fused)
            halves = {row_of(uses_[ups[0]].out, 0, hidden), row_of(uses_[ups[0]].out, hidden, hidden)};
        else
            for (const std::size_t up : ups) halves.push_back(row_of(uses_[up].out, 0, hidden));
        if (std::ranges::any_of(halves, [&](const Numbers& half) { return half.size() != given.size(); })) return false;
        const std::size_t gate = gate_of(halves, given).value_or(0);
        if (halves.size() == 1)
            name(uses_[ups[0]], layer + ".up_proj");
        else if (fused)
            name(uses_[ups[0]], layer + (gate == 0 ? ".{gate,up}_proj" : ".{up,gate}_proj"));
        else
            for (const std::size_t half : {0U, 1U})
                name(uses_[ups[half]], layer + (half == gate ? ".gate_proj" : ".up_proj"));
        return true;
    }

    [[nodiscard]] Numbers row_of(const std::string& name, Index first, Index count) const {
        const TraceTensor* of = tensor(name);
        if (of == nullptr || of->shape.empty() || of->shape.back() < first + count) return {};
        return {of->values.data() + first, of->values.data() + first + count};
    }

    // ---- norms, the head, positions

    // Whether a use was given what a norm gave, perhaps in another shape.
    [[nodiscard]] bool feeds(const Use& norm, std::optional<std::size_t> use) const {
        return use &&
               (uses_[*use].in == norm.out || are_same(row_of(uses_[*use].in, 0, width_), row_of(norm.out, 0, width_)));
    }

    bool place_norms() {
        post_ = (!first_normed() && !bare_norm(places_.front().query)) || goes_on_normed();
        for (std::size_t number = 0; number < uses_.size(); ++number) {
            const Use& use = uses_[number];
            if (use.kind != Use::Kind::gain || taken_.contains(number)) continue;
            if (tensor(use.in)->shape.back() != width_) return false;
            std::size_t l = 0;  // the layer that it stands in, or behind
            while (l + 1 < places_.size() && places_[l + 1].begin < use.at) ++l;
            const Place& place = places_[l];
            const std::string layer = "layers." + std::to_string(l) + ".",
                              next = "layers." + std::to_string(l + 1) + ".";
            const bool last = l + 1 == places_.size();
            const bool joined = use.at > uses_[place.join].at,
                       behind = joined && (!place.down || use.at > uses_[*place.down].at);
            std::string ours;
            const bool of_join = use.in == uses_[place.join].out;
            if (only_multiplies(use))
                ours = layer + (of_join ? "ls1" : "ls2");
            else if (of_join)
                ours = layer + "norm1_post";
            else if (place.down && use.in == uses_[*place.down].out)
                ours = layer + "norm2_post";
            else if (post_)
                ours = !joined                                                       ? "embed_norm"
                       : !behind                                                     ? layer + "norm1"
                       : has_norm(layer + "norm2") || has_norm(layer + "norm2_post") ? "norm"
                                                                                     : layer + "norm2";
            else if (feeds(use, place.query))
                ours = layer + "norm1";
            else if (feeds(use, place.up))
                ours = layer + "norm2";
            else if (!joined && l == 0)
                ours = "embed_norm";
            else if (behind && (last || feeds(use, places_[l + 1].query)))
                ours = last ? "norm" : next + "norm1";
            else if (behind && feeds(use, places_[l + 1].up))
                ours = next + "norm2";
            else
                return false;
            name(use, ours);
            taken_.insert(number);
            if (!only_multiplies(use)) note_kind(use);
        }
        return true;
    }
    // Whether what the first attention adds to is what its norm gave, not what that was given.
    [[nodiscard]] bool goes_on_normed() const {
        const Place& place = places_.front();
        const auto is_norm = [&](const Use& use, std::size_t after) {
            return use.kind == Use::Kind::gain && use.at > after && trace_.calls[use.at].function != "mul" &&
                   tensor(use.in)->shape.back() == width_;
        };
        const auto first = std::ranges::find_if(
            uses_, [&](const Use& use) { return place.query && use.out == uses_[*place.query].in && is_norm(use, 0); });
        const auto second =
            std::ranges::find_if(uses_, [&](const Use& use) { return is_norm(use, uses_[place.join].at); });
        if (first == uses_.end() || second == uses_.end()) return false;
        Numbers sum = row_of(second->in, 0, width_);
        const Numbers added = row_of(uses_[place.join].out, 0, width_);
        for (std::size_t i = 0; i < sum.size() && i < added.size(); ++i) sum[i] -= added[i];
        return are_same(sum, row_of(first->out, 0, width_)) && !are_same(sum, row_of(first->in, 0, width_));
    }
    [[nodiscard]] bool has_norm(const std::string& ours) const {
        return std::ranges::any_of(result_.mapping, [&](const auto& entry) {
            return std::ranges::any_of(entry.second,
                                       [&](const Target& target) { return target.name == ours + ".weight"; });
        });
    }
    // Whether the first attention was given what a norm gave.
    [[nodiscard]] bool first_normed() const {
        return std::ranges::any_of(
            uses_, [&](const Use& use) { return use.kind == Use::Kind::gain && feeds(use, places_.front().query); });
    }
    // Whether what a sublayer gave was multiplied, and not normalised before.
    [[nodiscard]] bool only_multiplies(const Use& use) const {
        const bool of_sublayer = std::ranges::any_of(places_, [&](const Place& place) {
            return use.in == uses_[place.join].out || (place.down && use.in == uses_[*place.down].out);
        });
        Numbers made = row_of(use.in, 0, width_);
        const TraceTensor* gain = parameter(use.weight);
        if (!of_sublayer || !use.bias.empty() || gain->values.size() != width_) return false;
        for (std::size_t i = 0; i < made.size(); ++i) made[i] *= static_cast<double>(gain->values.data()[i]);
        return are_same(made, row_of(use.out, 0, width_));
    }
    // What was multiplied by a gain alone is normalised already: its mean is 0, or it isn't.
    void note_kind(const Use& use) {
        if (trace_.calls[use.at].function != "mul") return;
        const Numbers row = row_of(use.in, 0, width_);
        double sum = 0.0, squares = 0.0;
        for (const double x : row) sum += x, squares += x * x;
        kinds_.insert(sum * sum <= 1e-6 * squares * static_cast<double>(row.size()) ? "layernorm" : "rmsnorm");
    }

    bool place_head() {
        for (std::size_t number = 0; number < uses_.size(); ++number) {
            const Use& use = uses_[number];
            if (use.kind != Use::Kind::product || taken_.contains(number)) continue;
            if (by_names_ && use.rows != parameter(table_)->shape[0]) continue;
            const bool first =
                use.at > uses_[places_.back().join].at && tensor(use.in)->shape.back() == width_ && head_.empty();
            if (!first) {  // another head
                left_out_.insert({use.weight, use.bias});
                continue;
            }
            head_ = use.weight;
            head_use_ = number;
            if (use.weight != table_) {
                name(use, "lm_head");
            } else if (!use.bias.empty()) {
                name(use.bias, Target{"lm_head.bias"});
            }
        }
        name(table_, Target{"embed.weight"});
        return true;
    }

    // Where more positions enter the blocks than there are tokens (registers, prompts that are learned), or rows of
    // another table are added (token types), or positions that no parameter holds and that we don't make, what makes
    // the stream, and what reads it at the end, is left out: the run begins with the stream that was recorded.
    void begin_with_stream() {
        if (tokens_ == nullptr ||
            (tokens_->shape.back() == cores_.front().queries && !has_more_tables_ && !has_own_sinusoids()))
            return;
        result_.begins_with_stream = true;
        for (auto& [stored, targets] : result_.mapping)
            if (std::ranges::any_of(targets, [](const Target& target) {
                    return target.name.starts_with("embed.") || target.name.starts_with("pos_embed.") ||
                           target.name.starts_with("lm_head.");
                }))
                targets.clear();
        std::erase_if(result_.hints,
                      [](const auto& hint) { return hint.first == "tie_word_embeddings" || hint.first == "lm_head"; });
    }
    // Tables beside the tokens' whose rows the stream is made of, too.
    void leave_out_tables() {
        for (const Use& use : uses_)
            if (use.kind == Use::Kind::table && use.weight != table_ && !result_.mapping.contains(use.weight) &&
                plain_shape(*parameter(use.weight)).back() == width_) {
                left_out_.insert(use.weight);
                has_more_tables_ = true;
            }
    }

    // A table that was looked up for each pair of positions, a number per head, or one table per layer. False if
    // neither fits.
    bool find_relative_bias() {
        std::vector<std::string> tables;
        for (const Use& use : uses_) {
            const TraceTensor* pairs = use.kind == Use::Kind::table ? tensor(use.in) : nullptr;
            if (pairs != nullptr && use.weight != table_ && pairs->shape.size() > 1 &&
                pairs->shape.back() == cores_.front().queries &&
                pairs->shape[pairs->shape.size() - 2] == pairs->shape.back())
                if (std::ranges::find(tables, use.weight) == tables.end()) tables.push_back(use.weight);
        }
        if (tables.size() == 1) name(tables[0], Target{"relative_bias.weight"});
        for (std::size_t l = 0; tables.size() > 1 && l < tables.size(); ++l)
            name(tables[l], Target{"layers." + std::to_string(l) + ".relative_bias.weight"});
        return tables.size() < 2 || tables.size() == places_.size();
    }

    void find_positions() {
        for (const Use& use : uses_)
            if (use.kind == Use::Kind::positions && !result_.mapping.contains(use.weight) &&
                plain_shape(*parameter(use.weight)).back() == width_)
                return name(use.weight, Target{"pos_embed.weight",
                                               use.rows > 0 ? RowLayout::rows_from : RowLayout::as_stored, use.rows});
        // Nothing tells where a buffer was added; but the stream begins with it.
        for (const auto& [stored, table] : parameters_) {
            const std::vector<Index> shape = plain_shape(*table);
            if (shape.size() != 2 || shape[1] != width_ || result_.mapping.contains(stored)) continue;
            for (const double scale : {1.0, std::sqrt(static_cast<double>(width_))})
                if (begins_with(*table, scale)) {
                    if (scale != 1.0) result_.hints.emplace_back("scale_embedding", "true");
                    return name(stored, Target{"pos_embed.weight"});
                }
        }
    }
    // Whether a recorded tensor is the tokens' embedding, times a number, with these positions added.
    [[nodiscard]] bool begins_with(const TraceTensor& positions, double scale) const {
        const TraceTensor* table = parameter(table_);
        if (tokens_ == nullptr || tokens_->shape.back() < 2) return false;
        const auto token = static_cast<Index>(tokens_->values.data()[1]);
        if (token < 0 || token >= table->shape[0] || positions.values.size() < 2 * width_) return false;
        Numbers sum;
        for (Index i = 0; i < width_; ++i)
            sum.push_back(scale * static_cast<double>(table->values.data()[token * width_ + i]) +
                          static_cast<double>(positions.values.data()[width_ + i]));
        return std::ranges::any_of(trace_.tensors, [&](const TraceTensor& one) {
            return one.has_floats() && one.shape.size() == 3 && one.shape.back() == width_ &&
                   one.values.size() >= 2 * width_ &&
                   are_same(sum, Numbers(one.values.data() + width_, one.values.data() + 2 * width_));
        });
    }

    // Whether the stream is the tokens' embedding, times a number, and the sines and cosines of angles that go up with
    // the position, by a frequency a pair that falls from 1 in even steps, but aren't ours (Vaswani et al. 2017): sines
    // may come before all cosines, the first position may be another, the last frequency 1/10000 itself, as in fairseq.
    [[nodiscard]] bool has_own_sinusoids() const {
        const TraceTensor* table = parameter(table_);
        if (table == nullptr || table->shape.size() != 2 || table->shape.back() != width_ ||
            tokens_->shape.size() != 2 || tokens_->shape.back() < 4 || width_ < 8 || width_ % 2 != 0 ||
            std::ranges::any_of(result_.mapping, [](const auto& entry) {
                return std::ranges::any_of(entry.second,
                                           [](const Target& target) { return target.name.starts_with("pos_embed."); });
            }))
            return false;
        const Index batch = tokens_->shape[0], length = tokens_->shape[1];
        for (const TraceTensor& stream : trace_.tensors) {
            const std::vector<Index>& shape = stream.shape;
            if (!stream.has_floats() || shape.size() != 3 || shape[2] != width_) continue;
            for (const bool by_position : {false, true})  // [pos, batch, d_model]
                for (const double scale : {1.0, std::sqrt(static_cast<double>(width_))}) {
                    if (shape[by_position ? 1 : 0] != batch || shape[by_position ? 0 : 1] != length) continue;
                    std::vector<Numbers> codes;
                    for (Index at = 0; at < 4; ++at) {
                        const auto token = static_cast<Index>(tokens_->values.data()[at]);
                        if (token < 0 || token >= table->shape[0]) return false;
                        Numbers& code =
                            codes.emplace_back(numbers(stream, at * (by_position ? batch : 1) * width_, width_));
                        for (std::size_t i = 0; i < code.size(); ++i)
                            code[i] -= scale * static_cast<double>(
                                                   table->values.data()[token * width_ + static_cast<Index>(i)]);
                    }
                    if (are_own_sinusoids(codes)) return true;
                }
        }
        return false;
    }
    // As above, the codes of four positions that follow each other.
    [[nodiscard]] bool are_own_sinusoids(const std::vector<Numbers>& codes) const {
        const auto pairs = static_cast<std::size_t>(width_) / 2;
        const double room = std::max(1e-4, 8.0 * apart_);
        for (const bool halves : {true, false}) {
            const auto angle = [&](std::size_t at, std::size_t pair) {
                const Numbers& code = codes[at];
                return halves ? std::atan2(code[pair], code[pair + pairs])
                              : std::atan2(code[2 * pair], code[2 * pair + 1]);
            };
            const auto turned = [&](std::size_t at, std::size_t pair) {  // from the position before
                return std::remainder(angle(at, pair) - angle(at - 1, pair), 2.0 * std::numbers::pi);
            };
            const double step = turned(1, 1);
            bool fits = std::abs(turned(1, 0) - 1.0) < room && step > 0.0 && step < 1.0, ours = !halves;
            for (std::size_t pair = 0; pair < pairs && fits; ++pair) {
                const double first = halves ? codes[0][pair] : codes[0][2 * pair],
                             second = halves ? codes[0][pair + pairs] : codes[0][2 * pair + 1];
                fits = std::abs(first * first + second * second - 1.0) < room;
                for (std::size_t at = 1; at < codes.size() && fits; ++at)
                    fits = std::abs(turned(at, pair) - std::pow(step, static_cast<double>(pair))) < room;
                ours &= std::abs(angle(0, pair)) < room;
            }
            ours &= std::abs(step - std::pow(1e-4, 1.0 / static_cast<double>(pairs))) < room;
            if (fits) return !ours;
        }
        return false;
    }

    // Whether a row's squares are 1 in the mean.
    [[nodiscard]] bool is_unit(const Numbers& row) const {
        double squares = 0.0;
        for (const double x : row) squares += x * x / static_cast<double>(row.size());
        return std::abs(squares - 1.0) < std::max(1e-3, apart_);
    }
    // The kind of norm that made what a product was given, if no parameter was multiplied by it.
    [[nodiscard]] std::optional<std::string> bare_norm(std::optional<std::size_t> use) const {
        const Numbers row = use ? row_of(uses_[*use].in, 0, width_) : Numbers();
        if (row.empty() || !is_unit(row)) return std::nullopt;
        double mean = 0.0;
        for (const double x : row) mean += x / static_cast<double>(row.size());
        return std::abs(mean) < apart_ ? "layernorm" : "rmsnorm";
    }

    void add_hints() {
        const auto only_of = [](const auto& found) {
            return found.size() == 1 ? std::optional(*found.begin()) : std::nullopt;
        };
        if (const auto heads = only_of(heads_)) result_.hints.emplace_back("nhead", std::to_string(*heads));
        if (const auto kind = only_of(kinds_)) result_.hints.emplace_back("norm", *kind);
        if (const auto activation = only_of(activations_)) result_.hints.emplace_back("activation", *activation);
        result_.hints.emplace_back("norm_first",
                                   (first_normed() || bare_norm(places_.front().query)) && !post_ ? "true" : "false");
        if (!first_normed() && bare_norm(places_.front().query)) {
            result_.hints.emplace_back("norm_gain", "false");
            result_.hints.emplace_back("norm", *bare_norm(places_.front().query));
            result_.hints.emplace_back("final_norm", bare_norm(head_use_) ? "true" : "false");
            if (places_.front().up && uses_[*places_.front().query].in == uses_[*places_.front().up].in)
                result_.hints.emplace_back("parallel_residual", "one_norm");
            if (is_unit(heads_at_first(*cores_.front().q, cores_.front().queries).front().front()))
                result_.hints.emplace_back("qk_norm", "true");
        }
        if (const Place& place = places_.front(); !post_ && place.query && place.up) {
            const auto norm_of = [&](std::size_t use) {
                return std::ranges::find_if(
                    uses_, [&](const Use& one) { return one.kind == Use::Kind::gain && one.out == uses_[use].in; });
            };
            const auto first = norm_of(*place.query), second = norm_of(*place.up);
            if (first != uses_.end() && second != uses_.end() && first != second && first->in == second->in)
                result_.hints.emplace_back("parallel_residual", "two_norms");
        }
        if (head_ == table_) result_.hints.emplace_back("tie_word_embeddings", "true");
        if (!head_.empty()) result_.hints.emplace_back("lm_head", "true");
    }

    const trace::Trace& trace_;
    double apart_;
    std::map<std::string, const TraceTensor*, std::less<>> tensors_, parameters_;
    std::size_t end_ = 0;  // of the first pass
    const TraceTensor* tokens_ = nullptr;
    std::vector<Use> uses_;
    std::vector<Core> cores_;
    std::vector<Place> places_;
    std::set<std::size_t> taken_;     // uses that have a name
    std::set<std::string> left_out_;  // parameters that belong to what isn't read
    std::string table_, head_;
    std::optional<std::size_t> head_use_;
    Index width_ = 0;
    bool post_ = false, by_names_ = false, has_more_tables_ = false;
    std::set<Index> heads_;
    std::set<std::string> kinds_, activations_;
    RecordedGraph result_;
};

}  // namespace

RecordedGraph graph_of_trace(const trace::Trace& trace) { return GraphReader(trace).read(); }

names::Mapping with_norms_by_calls(const trace::Trace& trace, names::Mapping mapping) {
    using Place = std::pair<std::string, Index>;  // "layers.0.", and self-attention, cross-attention, MLP or a norm
    constexpr Index kNorm = 3;
    // The place of all parameters that a call has; nothing if they have several.
    const auto place_of = [&](const TraceCall& call) {
        std::set<Place> found;
        const std::string inside = call.parameters.empty() ? call.module + "." : call.parameters.front().second;
        for (auto it = mapping.lower_bound(inside); it != mapping.end() && it->first.starts_with(inside); ++it)
            for (const Target& target : it->second) {
                const std::size_t layer = target.name.find("layers.");
                const auto is = [&](std::string_view part) { return target.name.find(part) != std::string::npos; };
                const Index sublayer = is("self_attn") ? 0 : is("cross_attn") ? 1 : is("norm") ? kNorm : 2;
                if (layer != std::string::npos)
                    found.emplace(target.name.substr(0, target.name.find('.', layer + 7) + 1), sublayer);
            }
        return found.size() == 1 ? std::optional(*found.begin()) : std::nullopt;
    };
    std::map<std::string, std::map<std::string, std::optional<Index>>> feeds;  // by layer: norms, and what reads them
    std::map<std::string, std::set<Index>> sublayers;
    std::vector<std::optional<Place>> places;
    for (const TraceCall& call : trace.calls) places.push_back(place_of(call));
    for (std::size_t at = 0; at < places.size(); ++at) {
        const TraceCall& call = trace.calls[at];
        if (places[at] && places[at]->second != kNorm) sublayers[places[at]->first].insert(places[at]->second);
        const auto norm =
            mapping.find(call.parameters.empty() ? call.module + ".weight" : call.parameters.front().second);
        if (!places[at] || places[at]->second != kNorm || call.out.size() != 1 || norm == mapping.end() ||
            norm->second.empty())
            continue;
        std::optional<Index>& read = feeds[places[at]->first][norm->second[0].name];
        for (std::size_t next = at + 1; next < places.size() && !read; ++next)
            if (places[next] && places[next]->first == places[at]->first &&
                std::ranges::any_of(trace.calls[next].in,
                                    [&](const auto& port) { return port.second == call.out[0].second; }))
                read = places[next]->second;
    }
    std::map<std::string, std::string> renamed;
    for (const auto& [layer, norms] : feeds) {
        const bool before = std::ranges::any_of(norms, [](const auto& one) { return one.second == 0; });
        const std::set<Index>& all = sublayers[layer];
        std::map<std::string, std::string> now;
        std::set<Index> taken;
        for (const auto& [norm, read] : norms) {
            const Index place = read ? std::distance(all.begin(), all.find(*read)) + before : std::ssize(all);
            if (norm.starts_with(layer + "norm") && norm.size() == layer.size() + 12)
                taken.insert(place);  // norm1.weight
            now.emplace(norm.substr(0, norm.rfind('.')), layer + "norm" + std::to_string(place));
        }
        if (taken.size() == all.size() && norms.size() == all.size()) renamed.merge(now);
    }
    for (auto& [stored, targets] : mapping)
        for (Target& target : targets)
            if (const auto norm = renamed.find(target.name.substr(0, target.name.rfind('.'))); norm != renamed.end())
                target.name.replace(0, norm->first.size(), norm->second);
    return mapping;
}

}  // namespace decoderscope::load
