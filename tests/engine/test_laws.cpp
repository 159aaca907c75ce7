// What holds for every decoder, whatever its numbers: the identities from the lessons, as tests.
#include "engine/decoder/initial_weights.h"
#include "engine/ops/positions.h"
#include "engine/ops/scaled_dot_product.h"
#include "tests/catch.h"
#include "tests/engine/fixtures.h"
#include "tests/engine/messages.h"
#include "tests/engine/same_bits.h"
#include "tests/engine/small_models.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <tuple>

using namespace decoderscope::testing;
using namespace decoderscope::load::names;
using namespace decoderscope::ops;

namespace {

using Row = std::span<const float>;

std::vector<Row> rows_of(const Tensor& tensor) {
    const auto width = static_cast<std::size_t>(tensor.axes().back().size);
    std::vector<Row> rows;
    for (std::size_t start = 0; start < tensor.values().size(); start += width)
        rows.push_back(tensor.values().subspan(start, width));
    return rows;
}

bool all_nan(Row row) {
    return std::ranges::all_of(row, [](float x) { return std::isnan(x); });
}

double mean_of(
    Row row, const std::function<double(double)>& of = [](double x) { return x; }) {
    double sum = 0.0;
    for (const float x : row) sum += of(static_cast<double>(x));
    return sum / static_cast<double>(row.size());
}

// Every fixture without edits: an edit may break a law, which is its purpose.
std::vector<Fixture> unedited_fixtures() {
    std::vector<Fixture> fixtures;
    for (const std::string& name : fixture_names())
        if (Fixture fixture = load_fixture(name); fixture.edits.empty()) fixtures.push_back(std::move(fixture));
    return fixtures;
}

// The tensors of a run whose names have this ending, with the part before it.
std::vector<std::pair<std::string, Tensor>> tensors_ending(const Run& run, const std::string& ending) {
    std::vector<std::pair<std::string, Tensor>> found;
    for (const auto& [name, tensor] : trace_of(run))
        if (name.ends_with(ending)) found.emplace_back(name.substr(0, name.size() - ending.size()), tensor);
    return found;
}

}  // namespace

// ---- attention

TEST_CASE("a row of which nothing is left is NaN to its end, however long the text is") {
    for (const Index length : {5, 40}) {  // short rows are computed several at a time
        INFO(length);
        SmallModel model = small_model({}, {.batch = 1, .pos = length, .src = 4});
        std::vector<float> kept(static_cast<std::size_t>(length), 1.0F);  // the first position is padding
        kept[0] = 0.0F;
        model.inputs.attention_mask = Tensor({{axis::batch, 1}, {axis::pos, length}}, kept);
        const auto run = model.run();
        const std::vector<Row> rows = rows_of(run->value("blocks.0.attn.pattern"));
        for (std::size_t row = 0; row < rows.size(); ++row) {
            INFO(row);
            const bool sees_nothing = row % static_cast<std::size_t>(length) == 0;
            CHECK(all_nan(rows[row]) == sees_nothing);
            CHECK(std::isnan(rows[row].back()) == sees_nothing);
        }
    }
}

TEST_CASE("the weights of a row are positive and sum to 1, with that of the sink if there is one, or all are NaN") {
    std::size_t nan_rows = 0;
    for (const Fixture& fixture : unedited_fixtures()) {
        const auto run = fixture.run();
        for (const char* ending : {"attn.pattern", "probs"}) {
            for (const auto& [at, pattern] : tensors_ending(*run, ending)) {
                INFO(fixture.name << ": " << at << ending);
                const Tensor& sink = run->value(at + "attn.sink");
                const std::vector<Row> rows = rows_of(pattern);
                for (std::size_t r = 0; r < rows.size(); ++r) {
                    const bool nan = all_nan(rows[r]);
                    if (nan) ++nan_rows;
                    const double sunk = sink.empty() ? 0.0 : static_cast<double>(sink.data()[r]);
                    const double sum = mean_of(rows[r]) * static_cast<double>(rows[r].size()) + sunk;
                    const bool fair = *std::ranges::min_element(rows[r]) >= 0.0F && std::abs(sum - 1.0) < 1e-6;
                    if (!nan && !fair) FAIL_CHECK("a row that sums to " << sum);
                }
            }
        }
    }
    CHECK(nan_rows > 0);  // the fixtures have rows where every key is masked
}

TEST_CASE("under -inf a hidden key has no weight at all") {
    std::size_t hidden = 0;
    for (const Fixture& fixture : unedited_fixtures()) {
        if (!std::isinf(fixture.config.mask_value)) continue;
        const auto run = fixture.run();
        for (const auto& [at, pattern] : tensors_ending(*run, "attn.pattern")) {
            INFO(fixture.name << ": " << at);
            const auto weights = rows_of(pattern), masks = rows_of(run->value(at + "attn.mask"));
            for (std::size_t r = 0; r < weights.size(); ++r) {
                if (all_nan(weights[r])) continue;
                for (std::size_t k = 0; k < weights[r].size(); ++k) {
                    if (masks[r][k] != 0.0F) continue;
                    ++hidden;
                    if (weights[r][k] != 0.0F) FAIL_CHECK("weight " << weights[r][k] << " on a hidden key");
                }
            }
        }
    }
    CHECK(hidden > 100);
}

TEST_CASE("the heads' results and the bias are what attention writes into the stream") {
    for (const char* bias : {"true", "false"}) {
        SmallModel model = small_model({{"bias", bias}, {"cross_attention", "true"}, {"num_key_value_heads", "1"}});
        model.asked = {"*"};
        const auto run = model.run();
        for (const auto& [at, out] : tensors_ending(*run, "attn_out")) {
            INFO(at << ", bias " << bias);
            const Tensor& result = run->value(at + "attn.result");
            const std::string o_proj =
                at.ends_with("cross_") ? "layers.0.cross_attn.o_proj.bias" : "layers.0.self_attn.o_proj.bias";
            for (Index i = 0; i < out.size(); ++i) {
                const Cell cell = out.cell(i);
                const Tensor& shift = run->value(o_proj);
                float sum = shift.empty() ? 0.0F : shift.at(Cell{cell[2]});
                for (Index h = 0; h < 2; ++h) sum += result.at(Cell{cell[0], h, cell[1], cell[2]});
                CHECK(out.data()[i] == Approx(sum).margin(1e-6));
            }
        }
    }
}

TEST_CASE(
    "a soft cap keeps the sign and the order, stays within the cap, and leaves small numbers nearly as they are") {
    SmallModel model = small_model({{"attention_soft_cap", "0.125"}});
    const auto run = model.run();
    const auto scores = run->value("blocks.0.attn.attn_scores").values(),
               capped = run->value("blocks.0.attn.capped_scores").values();
    REQUIRE(scores.size() == capped.size());
    float largest = 0.0F;
    for (std::size_t i = 0; i < scores.size(); ++i) {
        largest = std::max(largest, std::abs(scores[i]));
        CHECK(std::signbit(capped[i]) == std::signbit(scores[i]));
        CHECK(std::abs(capped[i]) <= std::min(0.125F, std::abs(scores[i])));
        // tanh x = x − x³/3 + …
        const double x = static_cast<double>(scores[i]) / 0.125;
        CHECK(std::abs(static_cast<double>(capped[i]) / 0.125 - x) <= std::abs(x * x * x) / 3.0 + 1e-6);
        for (std::size_t j = 0; j < i; ++j)
            if (scores[j] < scores[i]) CHECK(capped[j] <= capped[i]);
    }
    CHECK(largest > 0.125F);  // the cap has an effect
    CHECK(small_model().run()->plan().find("blocks.0.attn.capped_scores") == nullptr);
}

TEST_CASE("a parallel block adds both updates to the stream at once, and under one norm has no other") {
    for (const char* kind : {"one_norm", "two_norms"}) {
        const SmallModel model = small_model({{"parallel_residual", kind}, {"norm_first", "true"}});
        const auto run = model.run();
        const Tensor &x = run->value("blocks.0.resid_pre"), &attended = run->value("blocks.0.attn_out"),
                     &transformed = run->value("blocks.0.mlp_out"), &sum = run->value("blocks.0.resid_post");
        for (Index i = 0; i < sum.size(); ++i)
            CHECK(sum.data()[i] == Approx(x.data()[i] + attended.data()[i] + transformed.data()[i]).margin(1e-6));
        CHECK(run->plan().find("blocks.0.resid_mid") == nullptr);
        const bool two = std::string(kind) == "two_norms";
        CHECK((run->plan().find("blocks.0.ln2.normalized") != nullptr) == two);
        CHECK(model.weights.contains("layers.0.norm2.weight") == two);
        // With both updates off, only the stream is left.
        SmallModel off = model;
        for (const char* name : {"layers.0.self_attn.o_proj", "layers.0.down_proj"})
            for (const char* of : {".weight", ".bias"})
                for (float& weight : off.weights.at(std::string(name) + of).writable()) weight = 0.0F;
        const auto silent = off.run();
        CHECK(same_bits(silent->value("blocks.0.resid_post"), silent->value("blocks.0.resid_pre")));
    }
}

TEST_CASE("ALiBi's slopes are the paper's for a power of two, and fill up from twice as many for other numbers") {
    for (const Index heads : {1, 2, 4, 8, 16})
        for (Index head = 0; head < heads; ++head)
            CHECK(alibi_slope(head, heads) ==
                  Approx(std::pow(2.0, -8.0 * static_cast<double>(head + 1) / static_cast<double>(heads))));
    // BLOOM-like: 12 heads have the 8 of 8 heads, and 2^-0.5, 2^-1.5, … of 16.
    const std::vector<double> exponents = {1, 2, 3, 4, 5, 6, 7, 8, 0.5, 1.5, 2.5, 3.5};
    for (Index head = 0; head < 12; ++head)
        CHECK(alibi_slope(head, 12) == Approx(std::pow(2.0, -exponents[static_cast<std::size_t>(head)])));
}

TEST_CASE("ALiBi takes off the same at the same distance, wherever the two positions are") {
    const auto with = small_model({{"alibi", "true"}, {"nhead", "3"}}, {.pos = 6}).run(),
               without = small_model({{"nhead", "3"}}, {.pos = 6}).run();
    const Tensor &a = with->value("blocks.0.attn.attn_scores"), &b = without->value("blocks.0.attn.attn_scores");
    for (Index i = 0; i < a.size(); ++i) {
        const Cell cell = a.cell(i);
        const double taken = static_cast<double>(b.at(cell)) - static_cast<double>(a.at(cell));
        CHECK(taken == Approx(alibi_slope(cell[1], 3) * static_cast<double>(cell[2] - cell[3])).margin(1e-5));
    }
}

TEST_CASE("T5's distances have rows of their own when near, and share them by the logarithm when far") {
    // 32 rows up to 128, one way: 16 near ones, then 16 · 8^(i/16).
    for (Index back = 0; back < 16; ++back) CHECK(relative_bucket(-back, 32, 128, false) == back);
    for (Index back = 16; back < 200; ++back) {
        const double row = 16.0 + 16.0 * std::log(static_cast<double>(back) / 16.0) / std::log(8.0);
        const auto found = static_cast<double>(relative_bucket(-back, 32, 128, false));
        CHECK(found <= row + 1e-4);
        CHECK((found == 31.0 || found > row - 1.0 - 1e-4));
    }
    CHECK(relative_bucket(5, 32, 128, false) == 0);  // what comes later shares the row of the same place
    // Both ways: the same in each half.
    for (Index back = 1; back < 200; ++back) {
        CHECK(relative_bucket(-back, 32, 128, true) == relative_bucket(-back, 16, 128, false));
        CHECK(relative_bucket(back, 32, 128, true) == relative_bucket(-back, 32, 128, true) + 16);
    }
    CHECK(relative_bucket(0, 32, 128, true) == 0);
}

TEST_CASE("a learned bias adds the same at the same distance, wherever the two positions are, in all blocks") {
    const Overrides biased = keys_of(
        "relative_attention_num_buckets=6 relative_attention_max_distance=5 nhead=3 "
        "num_layers=2");
    const auto model = small_model(biased, {.pos = 6});
    const auto run = model.run();
    const Tensor& table = model.weights.at("relative_bias.weight");
    for (const char* block : {"blocks.0", "blocks.1"}) {
        const std::string at = std::string(block) + ".attn.";
        const Tensor &q = run->value(at + "q"), &k = run->value(at + "k"), &scores = run->value(at + "attn_scores");
        for (Index i = 0; i < scores.size(); ++i) {
            const Cell cell = scores.cell(i);
            double product = 0.0;
            for (Index d = 0; d < q.dim(3); ++d)
                product += static_cast<double>(q.at(Cell{cell[0], cell[1], cell[2], d})) *
                           static_cast<double>(k.at(Cell{cell[0], cell[1], cell[3], d}));
            const double added =
                static_cast<double>(scores.at(cell)) - product / std::sqrt(static_cast<double>(q.dim(3)));
            const Index row = relative_bucket(cell[3] - cell[2], 6, 5, false);
            CHECK(added == Approx(static_cast<double>(table.at(Cell{row, cell[1]}))).margin(1e-5));
        }
    }
}

TEST_CASE("a window hides what is too far back, and its mask says so by itself") {
    const auto run = small_model({{"sliding_window", "2"}}, {.pos = 5}).run();
    const Step& mask = *run->plan().find("blocks.0.attn.mask");
    CHECK((*mask.operation.traits().masks & masked_by::window) != 0);
    for (Index q = 0; q < 5; ++q) {
        for (Index k = 0; k < 5; ++k) {
            const Cell cell = {1, 1, q, k};
            INFO(q << ", " << k);
            CHECK(run->value(mask.id).at(cell) == (k <= q && k > q - 2 ? 1.0F : 0.0F));
            const Masks hiding = mask.operation.hidden_by(run->operands_of(mask.id), cell);
            CHECK(((hiding & masked_by::causal) == 0) == (k <= q));
            CHECK(((hiding & masked_by::window) == 0) == (k > q - 2));
        }
    }
    CHECK((*small_model().run()->plan().find("blocks.0.attn.mask")->operation.traits().masks & masked_by::window) == 0);
}

TEST_CASE("a window moves nothing that is nearer, and what is further back reaches a query through a second layer") {
    const SmallModel model =
        small_model({{"sliding_window", "2"}, {"num_layers", "2"}, {"norm_first", "true"}}, {.pos = 5});
    SmallModel changed = model;
    changed.inputs.x.writable()[0] += 1.0F;  // batch row 0, position 0
    const auto a = model.run(), b = changed.run();
    const auto moved = [&](const std::string& name, Index pos) {
        for (Index d = 0; d < 12; ++d)
            if (a->value(name).at(Cell{0, pos, d}) != b->value(name).at(Cell{0, pos, d})) return true;
        return false;
    };
    CHECK(moved("blocks.0.resid_post", 1));
    CHECK_FALSE(moved("blocks.0.resid_post", 2));
    CHECK(moved("blocks.1.resid_post", 2));
    CHECK_FALSE(moved("blocks.1.resid_post", 3));
}

TEST_CASE("turning neighbours is turning halves with the columns reordered, and leaves the scores as they are") {
    // Hugging Face's files of Llama are Llama's own with the rows of q and k reordered within each head.
    const SmallModel halves = small_model({{"positional_encoding", "rope"}});
    SmallModel neighbours = small_model({{"positional_encoding", "rope"}, {"rope_interleaved", "true"}});
    for (const char* name : {"layers.0.self_attn.q_proj.weight", "layers.0.self_attn.k_proj.weight",
                             "layers.0.self_attn.q_proj.bias", "layers.0.self_attn.k_proj.bias"}) {
        const Tensor& from = halves.weights.at(name);
        Tensor to = from;
        const Index width = from.size() / 12, d_head = 6;
        const std::span<float> values = to.writable();
        for (Index row = 0; row < 12; ++row) {
            const Index head = row / d_head, column = row % d_head;
            const Index source = head * d_head + (column % 2 == 0 ? column / 2 : d_head / 2 + column / 2);
            for (Index i = 0; i < width; ++i)
                values[static_cast<std::size_t>(row * width + i)] = from.data()[source * width + i];
        }
        neighbours.weights.at(name) = to;
    }
    const Tensor a = halves.run()->value("blocks.0.attn.attn_scores"),
                 b = neighbours.run()->value("blocks.0.attn.attn_scores");
    for (Index i = 0; i < a.size(); ++i) CHECK(a.data()[i] == Approx(b.data()[i]).margin(1e-6));
    CHECK_FALSE(same_bits(halves.run()->value("blocks.0.attn.q"), neighbours.run()->value("blocks.0.attn.q")));
}

TEST_CASE("columns beyond rotary_dim are not turned") {
    const auto run = small_model({{"positional_encoding", "rope"}, {"rotary_dim", "2"}}).run();
    const Tensor &before = run->value("blocks.0.attn.q_unrotated"), &after = run->value("blocks.0.attn.q");
    for (Index i = 0; i < after.size(); ++i) {
        const Cell cell = after.cell(i);
        if (cell[3] >= 2 || cell[2] == 0) CHECK(after.at(cell) == before.at(cell));
        if (cell[3] < 2 && cell[2] > 0) CHECK(after.at(cell) != before.at(cell));
    }
}

TEST_CASE("under Peri-Norm the stream is the sum of what the second norms let through") {
    const auto peri = small_model({{"norm_placement", "peri"}, {"num_layers", "2"}}).run();
    for (const char* block : {"blocks.0", "blocks.1"}) {
        const std::string at = block;
        for (const auto& [norm, sum, stream] : {std::tuple(".ln1_post", ".resid_mid", ".resid_pre"),
                                                std::tuple(".ln2_post", ".resid_post", ".resid_mid")}) {
            const Tensor &update = peri->value(at + norm + ".normalized"), &x = peri->value(at + stream);
            for (Index i = 0; i < x.size(); ++i)
                CHECK(peri->value(at + sum).data()[i] == x.data()[i] + update.data()[i]);
        }
    }
}

// ---- experts

TEST_CASE("one expert that every position goes to with weight 1 is a dense MLP") {
    const SmallModel dense = small_model({{"gated_mlp", "true"}, {"activation", "silu"}});
    SmallModel mixture =
        small_model({{"gated_mlp", "true"}, {"activation", "silu"}, {"experts", "1"}, {"experts_per_token", "1"}});
    for (const char* part : {"up_proj.weight", "up_proj.bias", "gate_proj.weight", "gate_proj.bias", "down_proj.weight",
                             "down_proj.bias"}) {
        const std::span<const float> from = dense.weights.at(std::string("layers.0.") + part).values();
        std::ranges::copy(from, mixture.weights.at(std::string("layers.0.experts.") + part).writable().begin());
    }
    const Tensor a = dense.run()->value("blocks.0.mlp_out"), b = mixture.run()->value("blocks.0.mlp_out");
    for (Index i = 0; i < a.size(); ++i) CHECK(a.data()[i] == Approx(b.data()[i]).margin(1e-6));
}

TEST_CASE("an expert that no position chose may hold anything, and one that is forced is what a position gets") {
    SmallModel model = small_model({{"experts", "4"}, {"experts_per_token", "1"}});
    const auto before = model.run();
    const Tensor chosen = before->value("blocks.0.mlp.expert");
    const auto position = chosen.cell(0);
    const auto first = static_cast<Index>(chosen.data()[0]), other = (first + 1) % 4;
    const auto spoil = [&](SmallModel& spoilt, Index expert) {
        Tensor& weight = spoilt.weights.at("layers.0.experts.down_proj.weight");
        const auto size = static_cast<std::size_t>(weight.size() / 4);
        for (float& value : weight.writable().subspan(static_cast<std::size_t>(expert) * size, size)) value += 1.0F;
    };
    SmallModel spoilt = model;
    spoil(spoilt, other);
    const auto after = spoilt.run();
    const Tensor &out = before->value("blocks.0.mlp_out"), &now = after->value("blocks.0.mlp_out");
    for (Index i = 0; i < out.size(); ++i) {
        const Cell cell = out.cell(i);
        const bool chose = static_cast<Index>(chosen.at(Cell{cell[0], cell[1], 0})) == other;
        if (!chose) CHECK(out.at(cell) == now.at(cell));
    }
    model.edits = spoilt.edits = {SetCell{"blocks.0.mlp.expert", position, static_cast<float>(other)}};
    const auto forced = model.run(), forced_spoilt = spoilt.run();
    CHECK(forced->value("blocks.0.mlp_out").at(Cell{0, 0, 0}) !=
          forced_spoilt->value("blocks.0.mlp_out").at(Cell{0, 0, 0}));
    CHECK(forced->value("blocks.0.mlp.expert_weight").data()[0] ==
          forced->value("blocks.0.mlp.router_scores").at(Cell{0, 0, other}));
    model.edits = {SetCell{"blocks.0.mlp.expert", position, 4.0F}};
    CHECK(error_of([&] { static_cast<void>(model.run()); }) ==
          "blocks.0.mlp.expert_weight: expert 4, expected a number from 0 to 3");
}

// ---- who can see whom

namespace {

// The first tensor that differs between two runs in a cell selected by `watched`.
std::string first_change(const Run& a, const Run& b,
                         const std::function<bool(const std::string&, const Axes&, const Cell&)>& watched) {
    for (const auto& [name, tensor] : trace_of(a)) {
        const Tensor& other = b.value(name);
        for (Index i = 0; i < tensor.size(); ++i)
            if (tensor.data()[i] != other.data()[i] && watched(name, tensor.axes(), tensor.cell(i))) return name;
    }
    return {};
}

// The index of a cell along the first of these axes that it has.
std::optional<Index> along(const Axes& axes, const Cell& cell, std::initializer_list<std::string_view> names) {
    for (std::size_t i = 0; i < axes.size(); ++i)
        for (const std::string_view name : names)
            if (axes[i].name == name) return cell[i];
    return std::nullopt;
}

// Whether a cell belongs to a position before `pos`. The scores before any mask still cover all keys.
bool is_before(Index pos, const std::string& name, const Axes& axes, const Cell& cell) {
    if (along(axes, cell, {axis::pos, axis::query}).value_or(0) >= pos) return false;
    const bool raw = name.ends_with(".attn_scores") || name.ends_with(".capped_scores");
    return !raw || cell[3] < pos;
}

// A copy of the model whose input differs at these cells of [batch, pos].
SmallModel changed_at(const SmallModel& model, const std::function<bool(Index batch, Index pos)>& where) {
    SmallModel changed = model;
    const bool has_tokens = !model.inputs.tokens.empty();
    Tensor& input = has_tokens ? changed.inputs.tokens : changed.inputs.x;
    const Tensor before = input;
    std::size_t i = 0;
    for (float& value : input.writable()) {
        const Cell cell = before.cell(static_cast<Index>(i++));
        if (where(cell[0], cell[1])) value = has_tokens ? (value == 0.0F ? 1.0F : value - 1.0F) : value + 1.0F;
    }
    return changed;
}

// Which part of the past changes when position `pos` does.
std::string change_of_the_past(const SmallModel& model, Index pos) {
    const auto run = model.run(), changed = changed_at(model, [=](Index, Index p) { return p == pos; }).run();
    REQUIRE_FALSE(same_bits(trace_of(*run).back().second, trace_of(*changed).back().second));
    return first_change(*run, *changed, [=](const std::string& name, const Axes& axes, const Cell& cell) {
        return is_before(pos, name, axes, cell);
    });
}

const std::vector<Overrides>& architectures() {
    static const std::vector<Overrides> list = {
        {},
        {{"norm_first", "true"}, {"num_layers", "3"}, {"final_norm", "true"}},
        {{"num_layers", "2"}, {"vocab_size", "7"}, {"lm_head", "true"}, {"positional_encoding", "rope"}},
        keys_of("vocab_size=7 lm_head=true tie_word_embeddings=true "
                "positional_encoding=sinusoidal"),
        {{"norm", "rmsnorm"}, {"gated_mlp", "true"}, {"activation", "silu"}, {"bias", "false"}, {"norm_first", "true"}},
        {{"dim_feedforward", "0"}, {"num_layers", "2"}, {"mask_value", "-1e9"}},
        {{"parallel_residual", "one_norm"}, {"norm_first", "true"}, {"num_layers", "2"}},
        {{"parallel_residual", "two_norms"}, {"norm_first", "true"}, {"num_layers", "2"}, {"mask_value", "-1e9"}},
        {{"attention_soft_cap", "0.5"}, {"logit_soft_cap", "2"}, {"vocab_size", "7"}, {"lm_head", "true"}},
        {{"norm_placement", "peri"}, {"norm", "rmsnorm"}, {"num_layers", "2"}, {"qk_norm", "true"}},
        keys_of("norm_placement=reordered num_layers=2 qk_norm=true qk_norm_across_heads=true "
                "positional_encoding=rope rotary_dim=4 rope_interleaved=true"),
        keys_of("clip_qkv=0.4 query_scale_beta=0.5 query_scale_positions=2 qk_norm=true "
                "qk_norm_after_rope=true positional_encoding=rope norm=layernorm_plus_one "
                "activation=xielu"),
        {{"experts", "4"}, {"experts_per_token", "2"}, {"router", "sparsemixer"}, {"router_jitter", "0.4"}},
        {{"alibi", "true"}, {"sliding_window", "2"}, {"num_layers", "2"}, {"mask_value", "-1e9"}, {"head_dim", "5"}},
        {{"embedding_norm", "true"}, {"residual_scale", "2"}, {"num_layers", "2"}, {"attention_scale", "0.3"}},
        {{"attention_sinks", "true"}, {"norm_gain", "false"}, {"update_scale", "0.5"}, {"num_layers", "2"}},
        keys_of("kv_lora_rank=5 q_lora_rank=4 qk_rope_head_dim=2 v_head_dim=3 "
                "positional_encoding=rope num_layers=2"),
        keys_of("experts=4 experts_per_token=2 router_normalize=true shared_dim_feedforward=5 "
                "shared_gate=true gated_mlp=true norm_first=true num_layers=2"),
        {{"cross_attention", "true"}, {"num_layers", "2"}, {"num_key_value_heads", "1"}},
        {{"cross_attention", "true"}, {"encoder_layers", "1"}, {"norm_first", "true"}, {"mask_value", "-1e20"}},
    };
    return list;
}

}  // namespace

TEST_CASE("in a causal model the future changes nothing in the past, not by a bit") {
    for (const Overrides& architecture : architectures()) {
        const SmallModel model = small_model(architecture, {.pos = 5});
        INFO(config_to_json(model.config));
        for (Index pos = 1; pos < 5; ++pos) CHECK(change_of_the_past(model, pos) == "");
    }
}

TEST_CASE("in a model that isn't causal it does, from the first pattern on") {
    CHECK(change_of_the_past(small_model({{"causal", "false"}}), 2) == "blocks.0.attn.masked_scores");
}

TEST_CASE("the elements of a batch do not see each other") {
    for (Overrides architecture : architectures()) {
        architecture.emplace_back("causal", "false");
        const SmallModel model = small_model(architecture);
        const auto run = model.run(), changed = changed_at(model, [](Index batch, Index) { return batch == 1; }).run();
        CHECK(first_change(*run, *changed, [](const std::string&, const Axes& axes, const Cell& cell) {
                  return along(axes, cell, {axis::batch}) == 0;
              }) == "");
    }
}

// ---- norms and the residual stream

TEST_CASE("LayerNorm brings each row to mean 0 and variance 1, RMSNorm to mean square 1, before gain and shift") {
    for (const Overrides& architecture : architectures()) {
        const SmallModel model = small_model(architecture);  // initial weights: gain 1, shift 0
        const auto run = model.run();
        for (const auto& [at, normalized] : tensors_ending(*run, ".normalized")) {
            INFO(at);
            const auto rows = rows_of(normalized);
            for (std::size_t r = 0; r < rows.size(); ++r) {
                const auto scale = static_cast<double>(run->value(at + ".scale").data()[r]);
                const double spread = mean_of(rows[r], [](double x) { return x * x; });
                // scale² = spread of the row + eps, so the result falls short of 1 by eps/scale².
                CHECK(spread == Approx(1.0 - model.config.layer_norm_eps / (scale * scale)).epsilon(1e-5));
                if (model.config.norm == NormKind::layernorm) CHECK(mean_of(rows[r]) == Approx(0.0).margin(1e-6));
            }
        }
    }
}

TEST_CASE("under Post-Norm the stream between blocks is normalised, under Pre-Norm it is the sum") {
    for (const char* norm_first : {"false", "true"}) {
        const auto run = small_model({{"norm_first", norm_first}, {"num_layers", "3"}}).run();
        for (const char* layer : {"0", "1"}) {
            const std::string leaving = std::string("blocks.") + layer;
            const std::string entering = "blocks." + std::to_string(layer[0] - '0' + 1) + ".resid_pre";
            const bool pre = norm_first[0] == 't';
            INFO(entering << (pre ? ", Pre-Norm" : ", Post-Norm"));
            CHECK(run->value(entering).shares_values_with(
                run->value(leaving + (pre ? ".resid_post" : ".ln2.normalized"))));
            CHECK_FALSE(same_bits(run->value(leaving + ".resid_post"), run->value(leaving + ".ln2.normalized")));
        }
    }
}

TEST_CASE("a block adds to the stream what its sublayers write, and nothing else") {
    const auto run = small_model({{"norm_first", "true"}, {"cross_attention", "true"}}).run();
    const Tensor& pre = run->value("blocks.0.resid_pre");
    for (Index i = 0; i < pre.size(); ++i) {
        float stream = pre.data()[i];
        for (const char* written : {"blocks.0.attn_out", "blocks.0.cross_attn_out", "blocks.0.mlp_out"})
            stream += run->value(written).data()[i];
        CHECK(run->value("blocks.0.resid_post").data()[i] == stream);
    }
}

// ---- dropout

namespace {

SmallModel with_dropout(const char* p, std::optional<std::uint64_t> seed) {
    SmallModel model =
        small_model({{"dropout", p}, {"dropout_sites", "attention_weights,mlp_post,mlp_out"}}, {.batch = 8, .pos = 12});
    model.dropout_seed = seed;
    return model;
}

}  // namespace

TEST_CASE("a dropout mask is 0 about as often as it should be, and else 1/(1-p)") {
    const auto run = with_dropout("0.25", 1).run();
    const auto masks = tensors_ending(*run, ".dropout_mask");
    CHECK(masks.size() == 3);
    for (const auto& [at, mask] : masks) {
        INFO(at);
        const auto dropped = std::ranges::count(mask.values(), 0.0F),
                   kept = std::ranges::count(mask.values(), 4.0F / 3.0F);
        CHECK(dropped + kept == mask.size());
        CHECK(static_cast<double>(dropped) / static_cast<double>(mask.size()) == Approx(0.25).margin(0.05));
        for (Index i = 0; i < mask.size(); ++i)
            CHECK(run->value(at + ".dropped").data()[i] == run->value(at).data()[i] * mask.data()[i]);
    }
}

TEST_CASE("the same dropout seed drops the same cells, another one others") {
    const auto one = with_dropout("0.25", 1).run();
    CHECK(first_difference(*one, *with_dropout("0.25", 1).run()) == "");
    for (const auto& [at, mask] : tensors_ending(*with_dropout("0.25", 2).run(), ".dropout_mask"))
        CHECK_FALSE(same_bits(mask, one->value(at + ".dropout_mask")));
}

TEST_CASE("without a seed, or with probability 0, nothing is dropped and nothing recorded of it") {
    const auto off = with_dropout("0.25", std::nullopt).run();
    CHECK(tensors_ending(*off, ".dropped").empty());
    CHECK(first_difference(*off, *with_dropout("0", 1).run()) == "");
}

// ---- initial weights

TEST_CASE("initial weights are spread as PyTorch spreads them, and a parameter's depend on its name alone") {
    const Config config = small_config({{"vocab_size", "50"}, {"num_layers", "2"}, {"lm_head", "true"}});
    const Weights weights = initial_weights(config, 3);
    const double bound = 1.0 / std::sqrt(12.0);
    for (const char* name : {"layers.0.self_attn.q_proj.weight", "layers.1.up_proj.bias", "lm_head.weight"}) {
        INFO(name);
        const auto [lowest, highest] = std::ranges::minmax(weights.find(name)->second.values());
        CHECK(static_cast<double>(highest) <= bound);
        CHECK(static_cast<double>(lowest) >= -bound);
        CHECK(static_cast<double>(highest - lowest) > bound);
    }
    const Row embedding = weights.find("embed.weight")->second.values();
    CHECK(mean_of(embedding) == Approx(0.0).margin(0.1));
    CHECK(mean_of(embedding, [](double x) { return x * x; }) == Approx(1.0).margin(0.15));
    CHECK(std::ranges::count(weights.find("layers.0.norm1.weight")->second.values(), 1.0F) == 12);
    CHECK(std::ranges::count(weights.find("layers.0.norm1.bias")->second.values(), 0.0F) == 12);

    const Weights fewer = initial_weights(small_config({{"vocab_size", "50"}}), 3);
    for (const auto& [name, tensor] : fewer) CHECK(same_bits(tensor, weights.find(name)->second));
    CHECK_FALSE(
        same_bits(initial_weights(config, 4).find("embed.weight")->second, weights.find("embed.weight")->second));
}
