#include "engine/load/state_dict.h"

#include "engine/base/error.h"
#include "engine/load/names/modules.h"
#include "engine/load/names/recognise_names.h"
#include "engine/products/linalg.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace decoderscope::load {

namespace {

using Shape = std::vector<Index>;

Index size_of(const Shape& shape) { return std::accumulate(shape.begin(), shape.end(), Index{1}, std::multiplies<>()); }

bool is_bias(std::string_view name) { return name.ends_with(".bias"); }

// One tensor of all experts: its first axis counts even if it is 1.
bool is_stacked(std::string_view name) { return name.find(".experts.") != std::string_view::npos; }

// A stored tensor as a matrix, [rows, columns], or a vector, [rows].
struct Matrix {
    Shape shape;
    bool turned = false;

    [[nodiscard]] bool is_vector() const { return shape.size() < 2; }
    [[nodiscard]] Index rows() const { return shape.empty() ? 1 : turned ? shape[1] : shape[0]; }
    [[nodiscard]] Index columns() const { return is_vector() ? 1 : turned ? shape[0] : shape[1]; }
    [[nodiscard]] Index stride() const { return is_vector() ? 1 : shape[1]; }
    // The shape of the parameter that this many of its rows make.
    [[nodiscard]] Shape of(Index rows) const {
        if (shape.size() > 2) return shape;
        return is_vector() ? shape.empty() ? Shape{} : Shape{rows} : Shape{rows, columns()};
    }
};

// Without the axes of size 1 that don't count.
Matrix squeezed(Shape shape, bool vector) {
    const std::size_t wanted = vector ? 1 : 2;
    for (std::size_t axis = 0; axis + 1 < shape.size() && shape.size() > wanted;)
        if (shape[axis] == 1)
            shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
        else
            ++axis;
    return {std::move(shape)};
}

class Reader {
public:
    Reader(const names::Mapping& mapping, const names::Shapes& stored) : mapping_(mapping), stored_(stored) {}

    StateDict take() {
        for (const auto& [from, targets] : mapping_) {
            const auto found = stored_.find(from);
            if (found == stored_.end())
                throw Error("{tensor}: not in the file, but in the mapping", {{"tensor", from}});
            for (const names::Target& target : targets) add(from, found->second, target);
        }
        for (const auto& [name, heads] : heads_) join_heads(name, heads);
        for (const auto& [name, experts] : experts_) join_experts(name, experts);
        refuse_missing_heads();
        for (const Delayed& delayed : fused_) add_fused(delayed);
        for (const Delayed& delayed : repeated_) add_repeated(delayed);
        cut_positions();
        return std::move(dict_);
    }

private:
    // A head or an expert that has a tensor of its own.
    struct Member {
        std::string from;
        Shape shape;
    };
    using Members = std::map<std::string, std::map<Index, Member>>;  // by parameter, by number
    // What needs other tensors' shapes.
    struct Delayed {
        std::string from;
        Shape shape;
        names::Target target;
    };

    void add(const std::string& from, const Shape& shape, const names::Target& target) {
        switch (target.how) {
            case names::RowLayout::head:
                return add_head(from, shape, target);
            case names::RowLayout::matrix_per_head:
                return add_matrices(from, shape, target.name);
            case names::RowLayout::expert:
                return own_member(experts_, from, shape, target);
            case names::RowLayout::of_experts:
            case names::RowLayout::of_experts_turned:
            case names::RowLayout::of_experts_in_turn:
            case names::RowLayout::of_experts_in_turn_turned:
                return add_experts(from, shape, target);
            case names::RowLayout::halves_swapped:
            case names::RowLayout::halves_in_turn:
                return add_halves(from, shape, target);
            case names::RowLayout::for_every_head:
            case names::RowLayout::repeated:
                repeated_.push_back({from, shape, target});
                return;
            default:
                break;
        }
        if (is_stacked(target.name) && shape.size() == 3 && !is_bias(target.name) &&
            target.how == names::RowLayout::as_stored)
            return add_experts(from, shape, target);
        if (names::names_of(target.name).size() > 1) {
            fused_.push_back({from, shape, target});
            return;
        }
        const Matrix matrix = matrix_of(from, shape, target);
        const Index first = target.how == names::RowLayout::rows_from ? target.number : 0;
        if (first > 0 && matrix.shape.size() > 2)
            throw Error("{from}: shape {shape}, expected a matrix", {{"from", from}, {"shape", shape_text(shape)}});
        if (first >= matrix.rows() && first > 0)
            throw Error("{from}: {rows} rows, expected more than {first}",
                        {{"from", from}, {"rows", matrix.rows()}, {"first", first}});
        add_rows(target.name, from, matrix, first, matrix.rows() - first);
    }

    static Matrix matrix_of(const std::string& from, const Shape& shape, const names::Target& target) {
        Matrix matrix = is_stacked(target.name) ? Matrix{shape} : squeezed(shape, is_bias(target.name));
        matrix.turned = target.how == names::RowLayout::transposed && matrix.shape.size() > 1;
        if (!matrix.turned || matrix.shape.size() == 2) return matrix;
        // [d_model, head, d_head], heads perhaps in groups, of q, k and v; [head, d_head, d_model] of what joins them.
        const bool joins = target.name.find("o_proj") != std::string::npos;
        if (target.name.find("_proj.weight") == std::string::npos || is_stacked(target.name))
            throw Error("{from}: shape {shape}, expected a matrix", {{"from", from}, {"shape", shape_text(shape)}});
        const Index one = joins ? matrix.shape.back() : matrix.shape.front(), other = size_of(matrix.shape) / one;
        matrix.shape = joins ? Shape{other, one} : Shape{one, other};
        return matrix;
    }

    // Rows of a stored tensor that make up a whole parameter.
    void add_rows(const std::string& name, const std::string& from, const Matrix& matrix, Index first, Index rows) {
        own(name, from);
        dict_.shapes.emplace(name, matrix.of(rows));
        const bool many = matrix.shape.size() > 2;  // all experts' matrices, or what is refused later by its shape
        const Index columns = many ? size_of(matrix.shape) / std::max<Index>(rows, 1) : matrix.columns();
        dict_.rows.push_back({from, matrix.turned, 0, many ? columns : matrix.stride(), first, rows, columns, name});
    }

    // ---- several in one

    // How many rows each of these has of a tensor with so many. What reads them tells how wide the queries are (the
    // output projection) and the MLP (the matrix that leads back); keys and values share the rest.
    std::vector<Index> shares(const Delayed& delayed, const std::vector<std::string>& names, const Matrix& matrix) {
        const auto count = static_cast<Index>(names.size());
        const Index rows = matrix.rows();
        const auto columns_of = [&](const std::string& name, const char* part, const char* reader) -> Index {
            const std::size_t at = name.find(part);
            const auto found =
                at == std::string::npos ? dict_.shapes.end() : dict_.shapes.find(name.substr(0, at) + reader);
            return found != dict_.shapes.end() && found->second.size() == 2 ? found->second[1] : 0;
        };
        const std::size_t q = names.front().find("q_proj");
        if (count >= 3 && q != std::string::npos) {
            std::vector<Index> found;
            Index rest = rows;
            for (const std::string& name : names) {
                const Index queries = columns_of(name, "q_proj", "o_proj.weight"),
                            hidden = std::max(columns_of(name, "up_proj", "down_proj.weight"),
                                              columns_of(name, "gate_proj", "down_proj.weight"));
                found.push_back(queries + hidden);
                rest -= found.back();
            }
            const Index others = std::ranges::count(found, 0), queries = found.front();
            if (others == 2 && rest > 0 && rest % 2 == 0 && queries % (rest / 2) == 0) {
                std::ranges::replace(found, 0, rest / 2);
                return found;
            }
            if (queries == 0 && count == 3 && rows % 3 == 0 && (matrix.is_vector() || rows / 3 == matrix.columns()))
                return {rows / 3, rows / 3, rows / 3};
            throw Error("{from}: shape {shape}, expected three projections of the same size, one after the other",
                        {{"from", delayed.from}, {"shape", shape_text(delayed.shape)}});
        }
        // Latent attention's values are as wide as what the output projection reads.
        if (const std::size_t k = names.front().find("k_up_proj"); count == 2 && k != std::string::npos) {
            const auto o = dict_.shapes.find(names.front().substr(0, k) + "o_proj.weight");
            const Index values = o != dict_.shapes.end() && o->second.size() == 2 ? o->second[1] : 0;
            if (values < 1 || values >= rows)
                throw Error("{from}: {rows} rows, expected more than the {columns} columns of the output projection",
                            {{"from", delayed.from}, {"rows", rows}, {"columns", values}});
            return {rows - values, values};
        }
        if (rows % count != 0)
            throw Error("{from}: shape {shape}, expected {count} parts of the same size",
                        {{"from", delayed.from}, {"shape", shape_text(delayed.shape)}, {"count", count}});
        return std::vector<Index>(names.size(), rows / count);
    }

    void add_fused(const Delayed& delayed) {
        const std::vector<std::string> names = names::names_of(delayed.target.name);
        const Matrix matrix = matrix_of(delayed.from, delayed.shape, delayed.target);
        if (matrix.shape.empty() || matrix.shape.size() > 2)
            throw Error("{from}: shape {shape}, expected a matrix or a vector",
                        {{"from", delayed.from}, {"shape", shape_text(delayed.shape)}});
        const std::vector<Index> rows = shares(delayed, names, matrix);
        if (delayed.target.how == names::RowLayout::by_head || delayed.target.how == names::RowLayout::by_group) {
            for (std::size_t i = 0; i < names.size(); ++i) {
                own(names[i], delayed.from);
                dict_.shapes.emplace(names[i], matrix.of(rows[i]));
            }
            dict_.interleaved.push_back(
                {delayed.from, matrix.turned, delayed.target.how, matrix.stride(), matrix.columns(), names, rows});
            return;
        }
        Index first = 0;
        for (std::size_t i = 0; i < names.size(); ++i) {
            add_rows(names[i], delayed.from, matrix, first, rows[i]);
            first += rows[i];
        }
    }

    // ---- heads

    void add_head(const std::string& from, const Shape& shape, const names::Target& target) {
        if (shape.empty()) throw Error("{from}: a single number, expected a head's projection", {{"from", from}});
        own_member(heads_, from, shape, target);
    }

    // Head 0's rows, then head 1's, …. A matrix may be stored [d_model, d_head].
    void join_heads(const std::string& name, const std::map<Index, Member>& heads) {
        const Member& first = heads.begin()->second;
        own(name, first.from);
        Shape shape = first.shape;
        const Index width = this->width();
        const bool turned = shape.size() == 2 && shape[1] != width && shape[0] == width;
        if (turned) std::swap(shape[0], shape[1]);
        const Index rows = std::exchange(shape[0], 0);
        Index expected = 0;
        for (const auto& [number, head] : heads) {
            if (number != expected++)
                throw Error("{from}: head {head} is missing, expected all heads from 0",
                            {{"from", head.from}, {"head", expected - 1}});
            if (head.shape != first.shape)
                throw Error(
                    "{from}: shape {shape}, expected {expected} as head 0 has",
                    {{"from", head.from}, {"shape", shape_text(head.shape)}, {"expected", shape_text(first.shape)}});
            const Index columns = size_of(head.shape) / std::max<Index>(rows, 1);
            dict_.rows.push_back({head.from, turned, 0, turned ? rows : columns, 0, rows, columns, name, shape[0]});
            shape[0] += rows;
        }
        if (name.ends_with("q_proj.weight")) heads_are(expected, rows);
        dict_.shapes.emplace(name, std::move(shape));
    }

    // Keys and values have as many heads, and queries no fewer.
    void refuse_missing_heads() const {
        for (const auto& [key, queries] : heads_) {
            const std::string& name = key;  // clang 14 can't capture a structured binding
            const std::size_t at = name.find("q_proj.");
            if (at == std::string::npos) continue;
            const auto heads_of = [&](const char* part) {
                const auto found = heads_.find(std::string(name).replace(at, 6, part));
                return found != heads_.end() ? found->second.size() : 0;
            };
            const std::size_t keys = heads_of("k_proj"), values = heads_of("v_proj");
            if (keys == 0 || values == 0 || (keys == values && queries.size() >= keys)) continue;
            const bool no_query = queries.size() < std::max(keys, values);
            const std::string missing =
                no_query ? name : std::string(name).replace(at, 6, keys < values ? "k_proj" : "v_proj");
            throw Error("{from}: head {head} is missing, expected all heads from 0",
                        {{"from", missing}, {"head", heads_.find(missing)->second.size()}});
        }
    }

    // ---- experts

    // Expert 0's matrix, then expert 1's, ….
    void join_experts(const std::string& name, const std::map<Index, Member>& experts) {
        const Member& first = experts.begin()->second;
        own(name, first.from);
        const bool bias = is_bias(name);
        if (first.shape.size() != (bias ? 1U : 2U))
            throw Error("{from}: shape {shape}, expected one expert's {what}",
                        {{"from", first.from},
                         {"shape", shape_text(first.shape)},
                         {"what", bias ? Sentence(message("vector")) : Sentence(message("matrix"))}});
        const Index rows = bias ? 1 : first.shape[0], columns = first.shape.back();
        Index expected = 0;
        for (const auto& [number, expert] : experts) {
            if (number != expected++)
                throw Error("{from}: expert {expert} is missing, expected all experts from 0",
                            {{"from", expert.from}, {"expert", expected - 1}});
            if (expert.shape != first.shape)
                throw Error("{from}: shape {shape}, expected {expected} as expert 0 has",
                            {{"from", expert.from},
                             {"shape", shape_text(expert.shape)},
                             {"expected", shape_text(first.shape)}});
            dict_.rows.push_back({expert.from, false, 0, columns, 0, rows, columns, name, number * rows});
        }
        Shape shape = first.shape;
        shape.insert(shape.begin(), expected);
        dict_.shapes.emplace(name, std::move(shape));
    }

    // One tensor of all experts' matrices, [expert, out, in] or turned, or biases, [expert, out]; of one parameter or
    // of several.
    [[nodiscard]] Index width_by_router() const {
        for (const auto& [from, targets] : mapping_)
            for (const names::Target& target : targets)
                if (const auto found = stored_.find(from); target.name.ends_with(".router.weight") &&
                                                           target.how == names::RowLayout::as_stored &&
                                                           found != stored_.end() && found->second.size() == 2)
                    return found->second[1];
        return 0;
    }

    void add_experts(const std::string& from, const Shape& shape, const names::Target& target) {
        const std::vector<std::string> names = names::names_of(target.name);
        const bool bias = is_bias(target.name);
        bool turned = !bias && (target.how == names::RowLayout::of_experts_turned ||
                                target.how == names::RowLayout::of_experts_in_turn_turned);
        // The router tells how wide the stream is, and so which way round they lie, unless they are square.
        if (const Index width = width_by_router(); !bias && width > 0 && shape.size() == 3 && shape[1] != shape[2]) {
            const bool down = names.front().ends_with("down_proj.weight");
            const Index stream = shape[(down ? 1 : 2)], other = shape[(down ? 2 : 1)];
            if (stream != width && other == width) turned = true;
            if (stream == width && other != width) turned = false;
        }
        const bool in_turn = target.how == names::RowLayout::of_experts_in_turn ||
                             target.how == names::RowLayout::of_experts_in_turn_turned;
        if (shape.size() != (bias ? 2U : 3U))
            throw Error("{from}: shape {shape}, expected one tensor of all experts",
                        {{"from", from}, {"shape", shape_text(shape)}});
        const auto count = static_cast<Index>(names.size());
        const Index all = bias ? shape[1] : shape[turned ? 2 : 1], in = bias ? 1 : shape[turned ? 1 : 2];
        if (all % count != 0)
            throw Error("{from}: shape {shape}, expected {count} parts of the same size",
                        {{"from", from}, {"shape", shape_text(shape)}, {"count", count}});
        const Index rows = all / count;
        for (Index part = 0; part < count; ++part) {
            const std::string& name = names[static_cast<std::size_t>(part)];
            own(name, from);
            dict_.shapes.emplace(name, bias ? Shape{shape[0], rows} : Shape{shape[0], rows, in});
            const Index first = in_turn ? part : part * rows, step = in_turn ? count : 1;
            for (Index expert = 0; expert < shape[0]; ++expert) {
                const Index offset = expert * all * in;
                // A bias is one row of the parameter, of which each number is a row here.
                if (bias)
                    dict_.rows.push_back({from, true, offset + first, step, 0, 1, rows, name, expert});
                else
                    dict_.rows.push_back(
                        {from, turned, offset, turned ? all : in, first, rows, in, name, expert * rows, 0, step});
            }
        }
    }

    // Rows whose order depends on the halves of each head. How many heads there are is known later.
    void add_halves(const std::string& from, const Shape& shape, const names::Target& target) {
        const std::string& name = target.name;
        const Matrix matrix = squeezed(shape, is_bias(name));
        if (matrix.shape.empty() || matrix.shape.size() > 2)
            throw Error("{from}: shape {shape}, expected a matrix or a vector",
                        {{"from", from}, {"shape", shape_text(shape)}});
        own(name, from);
        dict_.shapes.emplace(name, matrix.of(matrix.rows()));
        dict_.interleaved.push_back(
            {from, false, target.how, matrix.stride(), matrix.columns(), {name}, {matrix.rows()}});
    }

    // [head, d_model, d_head], [head, d_head, d_model], or biases, [head, d_head].
    void add_matrices(const std::string& from, const Shape& shape, const std::string& name) {
        const bool bias = is_bias(name), output = name.find("o_proj") != std::string::npos;
        if (shape.size() != (bias ? 2U : 3U))
            throw Error("{from}: shape {shape}, expected a {what} per head",
                        {{"from", from},
                         {"shape", shape_text(shape)},
                         {"what", bias ? Sentence(message("vector")) : Sentence(message("matrix"))}});
        if (bias) return add_rows(name, from, {{shape[0] * shape[1]}}, 0, shape[0] * shape[1]);
        if (output) {
            const Matrix whole = {{shape[0] * shape[1], shape[2]}, true};
            return add_rows(name, from, whole, 0, shape[2]);
        }
        own(name, from);
        const Index heads = shape[0], in = shape[1], out = shape[2];
        dict_.shapes.emplace(name, Shape{heads * out, in});
        for (Index h = 0; h < heads; ++h)
            dict_.rows.push_back({from, true, h * in * out, out, 0, out, in, name, h * out});
        if (name.ends_with("q_proj.weight")) heads_are(heads, out);
    }

    // One matrix that is used for each head's own columns, or one number for all.
    void add_repeated(const Delayed& delayed) {
        const Shape& shape = delayed.shape;
        const std::string& name = delayed.target.name;
        const Index width = this->width();
        own(name, delayed.from);
        if (delayed.target.how == names::RowLayout::repeated) {
            if (size_of(shape) != 1)
                throw Error("{from}: shape {shape}, expected one number",
                            {{"from", delayed.from}, {"shape", shape_text(shape)}});
            dict_.shapes.emplace(name, Shape{width});
            dict_.rows.push_back({delayed.from, false, 0, 0, 0, width, 1, name});
            return;
        }
        const bool square = shape.size() == 1 || (shape.size() == 2 && shape[0] == shape[1]);
        if (!square || shape[0] < 1 || width % shape[0] != 0)
            throw Error("{from}: shape {shape}, expected one head's columns along both axes",
                        {{"from", delayed.from}, {"shape", shape_text(shape)}});
        const Index size = shape[0], heads = width / size;
        const bool vector = shape.size() == 1;
        dict_.shapes.emplace(name, vector ? Shape{width} : Shape{width, width});
        for (Index h = 0; h < heads; ++h)
            dict_.rows.push_back({delayed.from, false, 0, vector ? 1 : size, 0, size, vector ? 1 : size, name, h * size,
                                  vector ? 0 : h * size});
        heads_are(heads, size);
    }

    // d_model, known from parameters that have it along a known axis.
    [[nodiscard]] Index width() const {
        for (const char* rows : {"o_proj.weight", "down_proj.weight"})
            for (const auto& [name, shape] : dict_.shapes)
                if (name.ends_with(rows) && shape.size() == 2) return shape[0];
        for (const auto& [name, shape] : dict_.shapes)
            if (name.ends_with("embed.weight") && shape.size() == 2) return shape[1];
        return 1;
    }

    void heads_are(Index heads, Index head_dim) {
        dict_.heads = heads;
        dict_.head_dim = head_dim;
    }

    // ---- the whole

    // Source and target have one longest length: the longer table's other rows are never read.
    void cut_positions() {
        const auto ours = dict_.shapes.find("pos_embed.weight"), source = dict_.shapes.find("encoder.pos_embed.weight");
        if (ours == dict_.shapes.end() || source == dict_.shapes.end()) return;
        if (ours->second.size() != 2 || source->second.size() != 2) return;
        const Index rows = std::min(ours->second[0], source->second[0]);
        ours->second[0] = source->second[0] = rows;
        for (StoredRows& part : dict_.rows)
            if (part.name == ours->first || part.name == source->first) part.rows = rows;
    }

    static void refuse_second(bool added, const std::string& from, const std::string& other) {
        if (!added)
            throw Error("{from}: means the same as {other}, expected one of them", {{"from", from}, {"other", other}});
    }

    void own(const std::string& name, const std::string& from) {
        const auto [at, added] = sources_.emplace(name, from);
        refuse_second(added, from, at->second);
    }

    static void own_member(Members& members, const std::string& from, const Shape& shape, const names::Target& target) {
        const auto [at, added] = members[target.name].emplace(target.number, Member{from, shape});
        refuse_second(added, from, at->second.from);
    }

    const names::Mapping& mapping_;
    const names::Shapes& stored_;
    StateDict dict_;
    std::map<std::string, std::string> sources_;  // which stored tensor a parameter comes from
    Members heads_, experts_;
    std::vector<Delayed> fused_, repeated_;
};

// The rows of a stored tensor by the halves of its heads: first the second half, or one of each in turn.
void settle_halves(const InterleavedRows& fused, Index heads, std::vector<StoredRows>& rows) {
    const bool in_turn = fused.how == names::RowLayout::halves_in_turn;
    const Index half = fused.rows[0] / heads / 2;
    for (Index head = 0; head < heads; ++head)
        for (Index which = 0; which < 2; ++which) {
            const Index first = 2 * head * half + (in_turn ? which : (1 - which) * half);
            rows.push_back({fused.from, fused.turned, 0, fused.stride, first, half, fused.columns, fused.names[0],
                            (2 * head + which) * half, 0, in_turn ? 2 : 1});
        }
}

// How long a row of the parameter is; of experts' matrices, a row of one of them.
Index row_size(const std::vector<Index>& shape) { return shape.size() < 2 ? 1 : std::max<Index>(shape.back(), 1); }

// Copied a square at a time, so that both sides stay in the cache.
void copy_turned(const StoredRows& part, const float* from, float* to, Index to_stride) {
    constexpr Index kSquare = 32;
    for (Index r0 = 0; r0 < part.rows; r0 += kSquare)
        for (Index c0 = 0; c0 < part.columns; c0 += kSquare)
            for (Index r = r0; r < std::min(r0 + kSquare, part.rows); ++r)
                for (Index c = c0; c < std::min(c0 + kSquare, part.columns); ++c)
                    to[r * to_stride + c] = from[c * part.stride + part.first + r * part.step];
}

void copy_straight(const StoredRows& part, const float* from, float* to, Index to_stride) {
    for (Index r = 0; r < part.rows; ++r)
        std::copy_n(from + (part.first + r * part.step) * part.stride, part.columns, to + r * to_stride);
}

}  // namespace

bool is_projection(std::string_view name) { return name.ends_with("_proj.weight") || name == "lm_head.weight"; }

StateDict map_state_dict(const names::Mapping& mapping, const names::Shapes& stored) {
    return Reader(mapping, stored).take();
}

void settle_heads(StateDict& state_dict, Index heads, Index key_value_heads) {
    for (const InterleavedRows& fused : state_dict.interleaved) {
        const bool halves =
            fused.how == names::RowLayout::halves_swapped || fused.how == names::RowLayout::halves_in_turn;
        const bool of_queries = halves && fused.names[0].find("q_proj") != std::string::npos;
        const Index groups = fused.how == names::RowLayout::by_head || of_queries ? heads : key_value_heads;
        Index first = 0;
        for (const Index rows : fused.rows)
            if (groups < 1 || rows % (halves ? 2 * groups : groups) != 0)
                throw Error("{from}: {rows} rows of q, k or v, expected those of {heads} heads",
                            {{"from", fused.from}, {"rows", rows}, {"heads", groups}});
        if (halves) {
            settle_halves(fused, groups, state_dict.rows);
            continue;
        }
        for (Index group = 0; group < groups; ++group)
            for (std::size_t i = 0; i < fused.names.size(); ++i) {
                const Index rows = fused.rows[i] / groups;
                state_dict.rows.push_back({fused.from, fused.turned, 0, fused.stride, first, rows, fused.columns,
                                           fused.names[i], group * rows});
                first += rows;
            }
    }
    state_dict.interleaved.clear();
}

Assembly::Assembly(StateDict state_dict) : state_dict_(std::move(state_dict)) {
    for (const StoredRows& rows : state_dict_.rows) parts_.emplace(rows.from, rows);
    for (const InterleavedRows& rows : state_dict_.interleaved)
        parts_.emplace(rows.from, StoredRows{.from = rows.from});
}

bool Assembly::keeps(const std::string& stored) const {
    const auto [begin, end] = parts_.equal_range(stored);
    return std::any_of(begin, end, [&](const auto& entry) { return is_whole(entry.second); });
}

bool Assembly::is_whole(const StoredRows& part) const {
    const auto found = state_dict_.shapes.find(part.name);
    return found != state_dict_.shapes.end() && !part.turned && part.offset == 0 && part.first == 0 &&
           part.stride == part.columns && part.at == 0 && part.column == 0 && part.step == 1 &&
           part.rows * part.columns == size_of(found->second);
}

void Assembly::add(const std::string& stored, const Tensor& tensor) {
    const auto [begin, end] = parts_.equal_range(stored);
    for (auto entry = begin; entry != end; ++entry) {
        const StoredRows& part = entry->second;
        const std::vector<Index>& shape = state_dict_.shapes.find(part.name)->second;
        if (is_whole(part)) {
            const bool all = tensor.size() == size_of(shape);
            weights_.insert_or_assign(part.name,
                                      all ? tensor.with_axes(unnamed(shape)) : tensor.beginning(unnamed(shape)));
            continue;
        }
        Tensor& to = weights_[part.name];
        if (to.empty()) {
            to = Tensor(unnamed(shape));
            std::ranges::fill(to.writable(), 0.0F);
        }
        const Index stride = row_size(shape);
        float* at = to.writable().data() + part.at * stride + part.column;
        (part.turned ? copy_turned : copy_straight)(part, tensor.data() + part.offset, at, stride);
    }
}

Weights Assembly::take(bool as_they_are) {
    for (const auto& [name, shape] : state_dict_.shapes) {
        const auto [at, added] = weights_.try_emplace(name);
        if (!added) continue;
        at->second = Tensor(unnamed(shape));
        std::ranges::fill(at->second.writable(), 0.0F);
    }
    // An embedding that is the head, too, gives its rows from the form that the head multiplies.
    const bool tied = !weights_.contains("lm_head.weight");
    for (auto& [name, tensor] : weights_)
        if (!as_they_are && (is_projection(name) || (tied && name == "embed.weight")) && !tensor.is_in_file())
            tensor = products::packed_for_products(tensor);
    return std::move(weights_);
}

Weights canonical_weights(const Weights& state_dict) {
    names::Shapes shapes;
    for (const auto& [name, tensor] : state_dict) shapes.emplace(name, sizes_of(tensor.axes()));
    const names::RecognisedNames names = names::recognise_names(shapes, {});
    for (const Question& question : names.questions)
        if (question.required) throw Error("{question}: {why}", {{"question", question.key}, {"why", question.why}});
    Assembly assembly(map_state_dict(names.mapping, shapes));
    for (const auto& [name, tensor] : state_dict) assembly.add(name, tensor);
    return assembly.take();
}

}  // namespace decoderscope::load
