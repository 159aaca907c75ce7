// Formulas that a person writes: steps rewritten, rows added.
#include "engine/formulas/print.h"
#include "engine/load/bundled_models.h"
#include "engine/ops/written_formula.h"
#include "engine/sheet/sheet.h"
#include "tests/catch.h"
#include "tests/engine/largest_difference.h"
#include "tests/engine/messages.h"
#include "tests/engine/same_bits.h"
#include "tests/engine/small_models.h"
#include "tests/sanitized.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>

using namespace decoderscope::testing;

namespace {

const Overrides kTwoLayers = {{"num_layers", "2"}};

std::shared_ptr<const Run> run_with(std::vector<Edit> edits, const Overrides& config = kTwoLayers) {
    SmallModel model = small_model(config);
    model.edits = std::move(edits);
    return model.run();
}

std::string error_with(std::vector<Edit> edits) {
    return error_of([&] { static_cast<void>(run_with(std::move(edits))); });
}

void check_close(const Tensor& a, const Tensor& b) {
    REQUIRE(a.axes().size() == b.axes().size());
    REQUIRE(a.values().size() == b.values().size());
    for (std::size_t i = 0; i < a.values().size(); ++i) {
        CAPTURE(i);
        CHECK(std::abs(static_cast<double>(a.values()[i]) - static_cast<double>(b.values()[i])) < 1e-6);
    }
}

}  // namespace

TEST_CASE("a row is computed for every layer, and adds up as its definition says") {
    const auto run = run_with({AddRow{"kept", "blocks.*.attn", "Σ_k pattern[b, h, q, k] · (q − k)"}});
    for (const std::string layer : {"0", "1"}) {
        const Tensor& pattern = run->value("blocks." + layer + ".attn.pattern");
        const Tensor& row = run->value("blocks." + layer + ".attn.kept");
        REQUIRE(row.rank() == 3);
        CHECK(row.axes()[1].name == "head");
        for (Index h = 0; h < pattern.dim(1); ++h)
            for (Index q = 0; q < pattern.dim(2); ++q) {
                double sum = 0.0;
                for (Index k = 0; k < pattern.dim(3); ++k)
                    sum += static_cast<double>(pattern.at(Cell{0, h, q, k})) * static_cast<double>(q - k);
                CHECK(std::abs(static_cast<double>(row.at(Cell{0, h, q})) - sum) < 1e-6);
            }
    }
}

TEST_CASE("both notations make the same row, and one that is its step's own formula has its numbers") {
    const auto run =
        run_with({AddRow{"indexed", "blocks.*.attn", "indexed[b, h, q, k] = softmax_k(masked_scores[b, h, q, k])"},
                  AddRow{"whole", "blocks.*.attn", "softmax(masked_scores, dim=-1)"},
                  AddRow{"from_rows", "", "blocks.1.attn.indexed - blocks.1.attn.whole"},
                  AddRow{"sorted", "blocks.*.attn", "pattern.sort(-1).values.cumsum(-1)"},
                  AddRow{"without_left", "blocks.*.attn", "cumsum_k(sort_k(pattern[b, h, q, k]))"}});
    CHECK(same_bits(run->value("blocks.1.attn.sorted"), run->value("blocks.1.attn.without_left")));
    check_close(run->value("blocks.1.attn.indexed"), run->value("blocks.1.attn.pattern"));
    CHECK(same_bits(run->value("blocks.1.attn.indexed"), run->value("blocks.1.attn.whole")));
    for (const float difference : run->value("from_rows").values()) CHECK(difference == 0.0F);
}

TEST_CASE("a function along the axis that is then added up, and an array's largest numbers, are read in a row") {
    const auto run = run_with(
        {AddRow{"sum", "", "blocks.1.resid_post.log_softmax(-1).mean(-1)"},
         AddRow{"by_hand", "", "(blocks.1.resid_post - blocks.1.resid_post.logsumexp(-1, keepdim=True)).mean(-1)"},
         AddRow{"range", "blocks.*.attn", "pattern.max(-1) - pattern.min(1).max(1)[:, None]"},
         AddRow{"same", "blocks.*.attn", "pattern.amax(-1) - pattern.amin(1).amax(1)[:, None]"}});
    check_close(run->value("sum"), run->value("by_hand"));
    CHECK(same_bits(run->value("blocks.1.attn.range"), run->value("blocks.1.attn.same")));
}

TEST_CASE("the name of an axis alone is its size, though a tensor has that name, too") {
    // "query" is q's other name, and an axis of the pattern.
    const auto run = run_with(
        {AddRow{"last", "blocks.*.attn",
                "last[b, h, q, k] = pattern[b, h, query - 1, k] * (query - 1) + 0 * pattern[b, h, q, k]"},
         AddRow{"mean", "blocks.*.attn", "mean[b, h] = Σ_{q, k} (k = q - 1 ? pattern[b, h, q, k] : 0) / (query - 1)"}});
    for (const std::string layer : {"0", "1"}) {
        const Tensor &pattern = run->value("blocks." + layer + ".attn.pattern"),
                     &last = run->value("blocks." + layer + ".attn.last"),
                     &mean = run->value("blocks." + layer + ".attn.mean");
        const Index size = pattern.dim(2);
        for (Index h = 0; h < pattern.dim(1); ++h) {
            double sum = 0.0;
            for (Index q = 1; q < size; ++q) sum += static_cast<double>(pattern.at(Cell{0, h, q, q - 1}));
            CHECK(std::abs(static_cast<double>(mean.at(Cell{0, h})) - sum / static_cast<double>(size - 1)) < 1e-6);
            for (Index k = 0; k < size; ++k)
                CHECK(last.at(Cell{0, h, 0, k}) == pattern.at(Cell{0, h, size - 1, k}) * static_cast<float>(size - 1));
        }
    }
    CHECK_THAT(error_with({AddRow{"wrong", "blocks.0", "wrong[b, p] = resid_post[b, p, 0] + resid_pre"}}),
               Catch::Matchers::ContainsSubstring("needs its indices"));
}

TEST_CASE("norms, cosines and comparisons in PyTorch's words are their sums") {
    const auto run = run_with({AddRow{"length", "blocks.*", "resid_post.norm(dim=-1)"},
                               AddRow{"whole", "blocks.*", "torch.norm(resid_post)"},
                               AddRow{"other", "blocks.*", "torch.norm(resid_post, 3, dim=(1, 2), keepdim=True)"},
                               AddRow{"cosine", "blocks.*", "F.cosine_similarity(resid_pre, resid_post, dim=-1)"},
                               AddRow{"of_pairs", "blocks.*.attn", "F.cosine_similarity(pattern[:, 0], pattern[:, 1])"},
                               AddRow{"longer", "", "blocks.1.length.gt(blocks.0.length)"}});
    const auto number = [](float x) { return static_cast<double>(x); };
    for (const std::string layer : {"blocks.0", "blocks.1"}) {
        const Tensor &x = run->value(layer + ".resid_post"), &before = run->value(layer + ".resid_pre");
        const Tensor &length = run->value(layer + ".length"), &cosine = run->value(layer + ".cosine");
        double all = 0.0;
        for (Index b = 0; b < x.dim(0); ++b) {
            double cubes = 0.0;
            for (Index p = 0; p < x.dim(1); ++p) {
                double squares = 0.0, of_before = 0.0, both = 0.0;
                for (Index j = 0; j < x.dim(2); ++j) {
                    const double from = number(before.at(Cell{b, p, j})), to = number(x.at(Cell{b, p, j}));
                    squares += to * to, of_before += from * from, both += from * to;
                    cubes += std::abs(to * to * to);
                }
                all += squares;
                CHECK(std::abs(number(length.at(Cell{b, p})) - std::sqrt(squares)) < 1e-5);
                CHECK(std::abs(number(cosine.at(Cell{b, p})) - both / std::sqrt(squares * of_before)) < 1e-5);
            }
            CHECK(std::abs(number(run->value(layer + ".other").at(Cell{b, 0, 0})) - std::cbrt(cubes)) < 1e-4);
        }
        CHECK(std::abs(number(run->value(layer + ".whole").values()[0]) - std::sqrt(all)) < 1e-4);
        // PyTorch's own default is the axis after the batch.
        const Tensor& pattern = run->value(layer + ".attn.pattern");
        CHECK(run->value(layer + ".attn.of_pairs").axes().back().name == pattern.axes().back().name);
    }
    const Tensor &a = run->value("blocks.0.length"), &b = run->value("blocks.1.length");
    for (std::size_t i = 0; i < a.values().size(); ++i)
        CHECK(run->value("longer").values()[i] == (b.values()[i] > a.values()[i] ? 1.0F : 0.0F));
}

TEST_CASE("a rewritten step has its formula's numbers, and all after it follow") {
    const auto before = run_with({});
    // The same formula in other words: nothing may change by more than rounding.
    const auto same = run_with({RewriteStep{"blocks.*.attn.pattern", "exp(x) / exp(x).sum(-1, keepdim=True)"}});
    check_close(same->value("blocks.1.resid_post"), before->value("blocks.1.resid_post"));
    // With a list's brackets, and as papers call the pattern.
    const auto doubled = run_with({RewriteStep{"blocks.0.attn.z", "blocks[0].attn.pattern @ v + A @ v"}});
    const auto scaled = run_with({ScaleHead{"blocks.0.attn", 0, 2.0F}, ScaleHead{"blocks.0.attn", 1, 2.0F}});
    REQUIRE(before->value("blocks.0.attn.z").dim(1) == 2);
    check_close(doubled->value("blocks.1.resid_post"), scaled->value("blocks.1.resid_post"));
}

TEST_CASE("what is computed on demand is computed if a row or a formula reads it") {
    const auto before = run_with({});
    CHECK(before->value("blocks.0.attn.result").empty());
    const auto row = run_with({AddRow{"sum", "blocks.0.attn", "sum[b, q, d] = Σ_h result[b, h, q, d]"}});
    CHECK(row->value("blocks.1.attn.result").empty());
    const Tensor& result = row->value("blocks.0.attn.result");
    REQUIRE(result.rank() == 4);
    for (Index d = 0; d < result.dim(3); ++d) {
        double sum = 0.0;
        for (Index h = 0; h < result.dim(1); ++h) sum += static_cast<double>(result.at(Cell{0, h, 1, d}));
        CHECK(std::abs(static_cast<double>(row->value("blocks.0.attn.sum").at(Cell{0, 1, d})) - sum) < 1e-6);
    }
    CHECK(same_bits(row->value("blocks.1.resid_post"), before->value("blocks.1.resid_post")));
    // The sum of the heads, written by hand.
    const auto written =
        run_with({RewriteStep{"blocks.*.attn_out", "y[b, q, d] = (Σ_h attn.result[b, h, q, d]) + o_proj.bias[d]"}});
    check_close(written->value("blocks.1.resid_post"), before->value("blocks.1.resid_post"));
}

TEST_CASE("base is the run without the edits, and the run itself where nothing changed") {
    const auto before = run_with({});
    const auto run = run_with({ScaleHead{"blocks.0.attn", 0, 0.0F}, AddRow{"was", "blocks.*.attn", "base.pattern"},
                               AddRow{"moved", "", "blocks.1.resid_post - base.blocks.1.resid_post"}});
    for (const std::string layer : {"0", "1"})
        CHECK(
            same_bits(run->value("blocks." + layer + ".attn.was"), before->value("blocks." + layer + ".attn.pattern")));
    CHECK(run->plan().find("base.blocks.0.attn.pattern") == nullptr);
    CHECK(run->plan().find("base.blocks.1.attn.pattern") != nullptr);
    bool any = false;
    for (const float moved : run->value("moved").values()) any = any || moved != 0.0F;
    CHECK(any);
    // Not even a rewritten step: it is as it was.
    const auto rewritten =
        run_with({RewriteStep{"blocks.0.attn.pattern", "sigmoid(x)"}, AddRow{"was", "blocks.*.attn", "base.pattern"}});
    CHECK(same_bits(rewritten->value("blocks.1.attn.was"), before->value("blocks.1.attn.pattern")));
}

TEST_CASE("exact is the run without rounding, with the same edits, bit for bit") {
    for (const std::string type : {"bfloat16", "float16"}) {
        INFO(type);
        const Overrides narrow = {{"num_layers", "2"}, {"arithmetic", type}, {"norm", "rmsnorm"}};
        const std::vector<Edit> edits = {SetCell{"blocks.0.attn.pattern", {0, 0, 1, 0}, 0.3F},
                                         RewriteStep{"blocks.1.mlp.post", "relu(pre) ** 2"}};
        std::vector<Edit> rows = edits;
        rows.emplace_back(AddRow{"was", "blocks.*", "exact.resid_post"});
        rows.emplace_back(AddRow{"gain", "", "exact.blocks.0.ln1.weight"});
        rows.emplace_back(AddRow{"unit", "", "unit_roundoff"});
        const auto rounded = run_with(rows, narrow);
        const auto exact = run_with(edits, {{"num_layers", "2"}, {"norm", "rmsnorm"}});
        const auto plain = run_with(edits, narrow);
        for (const std::string block : {"blocks.0", "blocks.1"}) {
            CHECK(same_bits(rounded->value(block + ".was"), exact->value(block + ".resid_post")));
            CHECK_FALSE(same_bits(rounded->value(block + ".was"), plain->value(block + ".resid_post")));
            CHECK(same_bits(rounded->value(block + ".resid_post"), plain->value(block + ".resid_post")));
        }
        CHECK(same_bits(rounded->value("gain"), exact->value("layers.0.norm1.weight")));
        CHECK(rounded->value("unit").values()[0] == (type == "bfloat16" ? 0x1p-8F : 0x1p-11F));
    }
    // A run in float32 is its own.
    const auto run = run_with({AddRow{"difference", "", "blocks.1.resid_post - exact.blocks.1.resid_post"}});
    CHECK(run->plan().find("exact.blocks.1.resid_post") == nullptr);
    for (const float difference : run->value("difference").values()) CHECK(difference == 0.0F);
}

TEST_CASE("a weight is found by the end of its name in the part that reads it") {
    const auto run = run_with({AddRow{"sum", "blocks.*.mlp", "down_proj.weight.sum()"}});
    for (const std::string layer : {"0", "1"}) {
        double sum = 0.0;
        for (const float number : run->value("layers." + layer + ".down_proj.weight").values())
            sum += static_cast<double>(number);
        CHECK(std::abs(static_cast<double>(run->value("blocks." + layer + ".mlp.sum").values()[0]) - sum) < 1e-5);
    }
}

TEST_CASE("the weight of a step or a part is its name with .weight, from anywhere, if there is only one") {
    const auto row = [](const std::string& formula, const std::string& of = "") {
        const auto run = run_with({AddRow{"row", of, formula}}, {{"num_layers", "2"}, {"final_norm", "true"}});
        return run->value(of.empty() ? "row" : of + ".row");
    };
    const auto plain = run_with({}, {{"num_layers", "2"}, {"final_norm", "true"}});
    const Tensor& final_norm = plain->value("norm.weight");
    REQUIRE_FALSE(final_norm.empty());
    CHECK(std::ranges::equal(row("ln_final.weight * 1").values(), final_norm.values()));
    CHECK(std::ranges::equal(row("ln_final.normalized.weight * 1").values(), final_norm.values()));
    CHECK(std::ranges::equal(row("blocks.1.attn.q.weight * 1").values(),
                             plain->value("layers.1.self_attn.q_proj.weight").values()));
    CHECK(std::ranges::equal(row("blocks.0.ln1.bias * 1").values(), plain->value("layers.0.norm1.bias").values()));
    CHECK(
        std::ranges::equal(row("ln1.weight * 1", "blocks.1").values(), plain->value("layers.1.norm1.weight").values()));
    CHECK(std::ranges::equal(row("attn.q.weight * 1", "blocks.1").values(),
                             plain->value("layers.1.self_attn.q_proj.weight").values()));
    // By the end of its own name, too.
    for (const std::string from : {"", "blocks.0.attn"}) {
        CHECK(std::ranges::equal(row("blocks.1.attn.q_proj.weight * 1", from).values(),
                                 plain->value("layers.1.self_attn.q_proj.weight").values()));
        CHECK(std::ranges::equal(row("blocks.1.mlp.down_proj.weight * 1", from).values(),
                                 plain->value("layers.1.down_proj.weight").values()));
    }
    // Of several, none is taken for the one that is meant.
    CHECK(error_with({AddRow{"row", "", "blocks.0.attn.weight * 1"}}).find("there is no operand") != std::string::npos);
}

TEST_CASE("of two indices with one name the inner one is meant, as in mathematics") {
    const auto row = [](const std::string& formula) { return run_with({AddRow{"row", "", formula}})->value("row"); };
    const std::string x = "blocks.0.resid_post";
    const Tensor hidden = row("row[b, p, v] = " + x + "[b, p, v] − mean_v " + x + "[b, p, v]"),
                 named = row("row[b, p, v] = " + x + "[b, p, v] − mean_u " + x + "[b, p, u]");
    CHECK(same_bits(hidden, named));
    CHECK(same_bits(row("row[b, p] = Σ_v (" + x + "[b, p, v] − max_v " + x + "[b, p, v])"),
                    row("row[b, p] = Σ_v (" + x + "[b, p, v] − max_u " + x + "[b, p, u])")));
    const auto refused = [](const std::string& formula) { return error_with({AddRow{"row", "", formula}}); };
    CHECK(refused("row[b] = Σ_{v, v} " + x + "[b, v, v]").find("index v stands twice below one sum") !=
          std::string::npos);
    // A sub-result of the outer index can't mean the inner one.
    CHECK(refused("row[b, p, v] = mean_v z where z = " + x + "[b, p, v]").find("two indices are called v") !=
          std::string::npos);
    CHECK(same_bits(row("row[b, p, v] = " + x + "[b, p, v] − mean_u z[u] where z[w] = " + x + "[b, p, w]"), named));
}

TEST_CASE("which places a step's numbers are can be asked of every step, also of a sum that repeats an update") {
    const auto run = run_with({AddRow{"first", "", "argmax_d blocks.1.resid_post[b, p, d]"}});
    std::set<std::string> places;
    for (const Step& step : run->plan().steps())
        if (sheet::places_in_values(run->plan(), step)) places.insert(step.name);
    CHECK(places == std::set<std::string>{"first"});
}

TEST_CASE("a row changes nothing that the model computes") {
    const auto before = run_with({}), with = run_with({AddRow{"row", "blocks.*.attn", "pattern * 2"}});
    for (const auto& [name, tensor] : recorded_tensors(*before)) CHECK(same_bits(tensor, with->value(name)));
}

TEST_CASE("a cell of a row can be set, and a later row reads it") {
    const auto run = run_with({SetCell{"first", {0, 0}, 7.0F}, AddRow{"first", "", "blocks.0.resid_post.mean(-1)"},
                               AddRow{"second", "", "first + 1"}});
    CHECK(run->value("second").at(Cell{0, 0}) == 8.0F);
}

TEST_CASE("a row may be the target of gradients, and gradients may be read by a row") {
    SmallModel model = small_model(kTwoLayers);
    model.edits = {AddRow{"total", "", "blocks.1.resid_post.sum()"},
                   AddRow{"size", "", "(grad.blocks.1.resid_post * grad.blocks.1.resid_post).sum()"}};
    const auto run = execute(decoder::plan_decoder(
        {model.config, &model.weights, model.inputs, model.edits, std::nullopt, nullptr, false, "total[0]"}));
    const Tensor& gradient = run->value("grad.blocks.1.resid_post");
    for (const float g : gradient.values()) CHECK(g == 1.0F);
    CHECK(run->value("size").values()[0] == static_cast<float>(gradient.values().size()));
    CHECK(error_of([&] { static_cast<void>(model.run()); }) ==
          "edit 1: size reads gradients, and this run has none: expected a target, the loss or a cell");
}

TEST_CASE("a row that names a loss gets its steps, with or without the loss's own gradients") {
    const Overrides config = {{"vocab_size", "7"}, {"lm_head", "true"}};
    SmallModel model = small_model(config);
    model.edits = {AddRow{"perplexity", "", "exp(loss_per_token)"}, AddRow{"worst", "", "loss_per_token.max() − loss"}};
    const auto run = model.run();
    const Tensor &logits = run->value("logits"), &each = run->value("loss_per_token");
    REQUIRE(each.size() == 6);
    double sum = 0.0, most = 0.0;
    for (Index batch = 0; batch < 2; ++batch)
        for (Index pos = 0; pos < 2; ++pos) {
            double total = 0.0;
            for (Index token = 0; token < 7; ++token)
                total += std::exp(static_cast<double>(logits.at(Cell{batch, pos, token})));
            const auto next = static_cast<Index>(model.inputs.tokens.at(Cell{batch, pos + 1}));
            const double expected = std::log(total) - static_cast<double>(logits.at(Cell{batch, pos, next}));
            const Cell cell = {batch, pos};
            CHECK(std::abs(static_cast<double>(each.at(cell)) - expected) < 1e-5);
            CHECK(std::abs(static_cast<double>(run->value("perplexity").at(cell)) - std::exp(expected)) < 1e-3);
            sum += expected;
            most = std::max(most, expected);
        }
    CHECK(std::abs(static_cast<double>(run->value("worst").values()[0]) - (most - sum / 4.0)) < 1e-5);

    const auto with_gradients = [&](const std::vector<Edit>& edits) {
        return execute(decoder::plan_decoder(
            {model.config, &model.weights, model.inputs, edits, std::nullopt, nullptr, false, "loss"}));
    };
    const auto both = with_gradients(model.edits), alone = with_gradients({});
    CHECK(same_bits(both->value("grad.logits"), alone->value("grad.logits")));
    CHECK(same_bits(both->value("loss_per_token"), each));
    // A name that only has these letters in it asks for nothing, and a model without logits says what is missing.
    CHECK(run_with({AddRow{"my_loss", "", "blocks.0.resid_post.sum()"}, AddRow{"row", "", "my_loss * 2"}})
              ->value("loss")
              .empty());
    CHECK(error_with({AddRow{"row", "", "loss_per_token * 2"}}) ==
          "edit 0: loss: this model has no logits, expected a language-model head (lm_head)");
}

TEST_CASE("numbers of the configuration whose 0 means what is usual are what is usual") {
    const auto usual = run_with({AddRow{"row", "", "attention_scale ** 2 * head_dim + v_head_dim / d_head"}});
    CHECK(usual->value("row").values()[0] == Approx(2.0));
}

TEST_CASE("a formula typed wrong gets a sentence with its place") {
    const auto of_row = [](const std::string& formula) {
        return error_with({AddRow{"row", "blocks.*.attn", formula}});
    };
    CHECK(of_row("patern.sum(-1)") ==
          "edit 0: blocks.0.attn.row, character 1 of its formula: there is no operand "
          "“patern”; is “pattern” meant?");
    CHECK(of_row("1 + softmaxx(pattern, -1)") ==
          "edit 0: blocks.0.attn.row, character 5 of its formula: there is no "
          "function “softmaxx”; is “softmax” meant?");
    CHECK(of_row("Σ_k pattern[b, h, q]").find("“pattern” is read with 3 indices") != std::string::npos);
    CHECK(of_row("pattern @ v.mT").find("doesn't fit") != std::string::npos);
    CHECK(of_row("Σ_k pattern[b, h, q, k] · zz[q]").find("character 27 of its formula: there is no operand “zz”") !=
          std::string::npos);
    CHECK(of_row("y[b] = nothing.here[b]").find("there is no operand “nothing.here”") != std::string::npos);
    CHECK(of_row("base.patern").find("there is no operand “base.patern”; is “base.pattern” meant?") !=
          std::string::npos);
    CHECK(of_row("blocks.9.resid_post.norm()").find("there is no blocks.9: this model has blocks.0 to blocks.") !=
          std::string::npos);
    CHECK(of_row("attention.sum(-1)").find("there is no operand “attention”; is “pattern” meant?") !=
          std::string::npos);
    CHECK(of_row("argpartition(z)").find("there is no function “argpartition”; is “topk(x, k).indices” meant?") !=
          std::string::npos);
    CHECK(of_row("y[i: key, k: key] = topk(pattern[0, 0, i, k], 2)").find("write it without indices") !=
          std::string::npos);
    CHECK(of_row("y[i] = i + 1").find("write its axis beside it, as in row[…, i: key]") != std::string::npos);
    CHECK(of_row("(pattern").find("“)” is missing at the end") != std::string::npos);
    CHECK(error_with({AddRow{"row", "blocks.7.attn", "pattern"}}) ==
          "edit 0: blocks.7.attn: this model has no such part, expected one such as blocks.0.attn or blocks.*.attn");
    CHECK(error_with({AddRow{"a b", "", "1"}}).find("can't be a row's name") != std::string::npos);
    CHECK(error_with({AddRow{"pattern", "blocks.0.attn", "z"}}) ==
          "edit 0: blocks.0.attn.pattern: there is a tensor of this name already, expected another for the row");
    CHECK(error_with({RewriteStep{"blocks.0.attn.pattern", "z"}}).find("there is no operand “z”") != std::string::npos);
    CHECK(error_with({RewriteStep{"blocks.0.attn.pattern", "x.sum(-1)"}}) ==
          "edit 0: blocks.0.attn.pattern: the formula makes [batch 2, head 2, query 3], and the step is [batch 2, "
          "head 2, query 3, key 3]");
    CHECK(error_with({RewriteStep{"blocks.0.attn.patern", "x"}}).find("this run has no such step") !=
          std::string::npos);
    const auto unedited = run_with({});
    const auto& steps = unedited->plan().steps();
    const auto weight = std::ranges::find(steps, Role::parameter, &Step::role);
    CHECK(error_with({RewriteStep{weight->name, "1"}}).find("has no formula") != std::string::npos);
}

TEST_CASE("a row may count along an axis, each step from the one before") {
    const auto run = run_with({AddRow{"count", "", "count[b, p] = count[b, p − 1] + x[b, p, 0] · 0 + 1 from 0"},
                               AddRow{"plain", "", "x[b, p, 0] + 1"}, AddRow{"same", "", "x[:, :, 0] + 1"}});
    const Tensor& count = run->value("count");
    for (Index p = 0; p < count.dim(1); ++p) CHECK(count.at(Cell{0, p}) == static_cast<float>(p + 1));
    CHECK(same_bits(run->value("plain"), run->value("same")));
}

TEST_CASE("a row is read from one line") {
    CHECK(sheet::row_of("entropy = pattern.sum(-1)") == AddRow{"entropy", "", "pattern.sum(-1)"});
    CHECK(sheet::row_of(" blocks.*.attn.entropy = p == 1") == AddRow{"entropy", "blocks.*.attn", "p == 1"});
    CHECK(sheet::row_of("blocks.*.attn.e[q] = p[q]") == AddRow{"e", "blocks.*.attn", "e[q] = p[q]"});
    CHECK(sheet::row_of("a = e[q] = p[q]") == AddRow{"a", "", "e[q] = p[q]"});
    CHECK(error_of([] { static_cast<void>(sheet::row_of("pattern")); }) ==
          "“pattern” is no row, expected NAME = FORMULA");
}

TEST_CASE("formulas and rows are read as the contract says, and written the same") {
    const auto edits = parse_edits(R"edits([
        {"edit": "formula", "step": "blocks.*.attn.pattern", "formula": "sigmoid(x)"},
        {"edit": "row", "name": "entropy", "of": "blocks.*.attn", "formula": "pattern.sum(-1)"},
        {"edit": "row", "name": "total", "formula": "logits.sum()"},
        {"edit": "row", "name": "sharp", "formula": "logits < 9", "must_hold": true}])edits");
    REQUIRE(edits.size() == 4);
    CHECK(edits[3] == Edit(AddRow{"sharp", "", "logits < 9", true}));
    CHECK(edits[0] == Edit(RewriteStep{"blocks.*.attn.pattern", "sigmoid(x)"}));
    CHECK(edits[1] == Edit(AddRow{"entropy", "blocks.*.attn", "pattern.sum(-1)"}));
    CHECK(edits[2] == Edit(AddRow{"total", "", "logits.sum()"}));
    CHECK(parse_edits(edits_to_json(edits)) == edits);
    // Without it, a row is read and written as before.
    CHECK(edits_to_json({edits[2]}).find("must_hold") == std::string::npos);
    CHECK(describe(edits[2]) != describe(edits[3]));
}

TEST_CASE("a comparison explains both of its sides, down to the cells that they read") {
    const auto run = run_with({AddRow{"sharp", "blocks.*.attn", "pattern.max(-1).values < 0.9"}});
    const Step& row = *run->plan().find("blocks.1.attn.sharp");
    const Explanation explanation = run->explain(row.id, Cell{0, 1, 2});
    REQUIRE(explanation.lines.size() == 2);
    const Line &side = explanation.lines[0], &whole = explanation.lines[1];
    const Tensor& pattern = run->value("blocks.1.attn.pattern");
    double most = 0.0;
    for (Index k = 0; k < 3; ++k) most = std::max(most, static_cast<double>(pattern.at(Cell{0, 1, 2, k})));
    CHECK(side.value == Approx(most));
    REQUIRE(side.terms.at(0).factors.at(0).cell);
    CHECK(static_cast<double>(pattern.at(side.terms[0].factors[0].cell->cell)) == Approx(most));
    CHECK(whole.value == (most < 0.9 ? 1.0 : 0.0));
}

TEST_CASE("comparisons are numbers, in both notations, and pass no gradient") {
    const auto run = run_with({AddRow{"low", "blocks.*.attn", "low[b, h, q, k] = pattern[b, h, q, k] ≤ 0.25"},
                               AddRow{"same", "blocks.*.attn", "pattern <= 0.25"},
                               AddRow{"close", "blocks.*.attn", "abs(pattern.sum(-1) - 1) < 1e-5"},
                               AddRow{"both", "blocks.*.attn", "(pattern >= 0) & (pattern < 0.5)"},
                               AddRow{"all", "", "blocks.0.attn.close.sum()", true}});
    const Tensor &pattern = run->value("blocks.1.attn.pattern"), &low = run->value("blocks.1.attn.low");
    for (std::size_t i = 0; i < pattern.values().size(); ++i) {
        CHECK(low.values()[i] == (pattern.values()[i] <= 0.25F ? 1.0F : 0.0F));
        CHECK(run->value("blocks.1.attn.both").values()[i] == (pattern.values()[i] < 0.5F ? 1.0F : 0.0F));
    }
    CHECK(same_bits(low, run->value("blocks.1.attn.same")));
    for (const float close : run->value("blocks.0.attn.close").values()) CHECK(close == 1.0F);
    CHECK(run->plan().find("all")->operation.traits().must_hold);
    CHECK_FALSE(run->plan().find("blocks.0.attn.close")->operation.traits().must_hold);
    SmallModel model = small_model(kTwoLayers);
    model.edits = {AddRow{"low", "blocks.*.attn", "pattern <= 0.25"}};
    const auto with = execute(decoder::plan_decoder({model.config, &model.weights, model.inputs, model.edits,
                                                     std::nullopt, nullptr, false, "blocks.1.attn.low[0, 0, 0, 0]"}));
    for (const float g : with->value("grad.blocks.0.resid_post").values()) CHECK(g == 0.0F);
}

TEST_CASE("each cell of a row explains itself: the terms of its line add up to it") {
    const auto run = run_with({AddRow{"far", "blocks.*.attn", "Σ_k pattern[b, h, q, k] · (q − k)"}});
    const Ref row = run->plan().find("blocks.1.attn.far");
    REQUIRE(row != nullptr);
    const Cell cell = {0, 1, 2};
    const Explanation explanation = run->explain(row->id, cell);
    double sum = 0.0;
    for (const Term& term : explanation.lines.back().terms) {
        double product = 1.0;
        for (const Factor& factor : term.factors) product *= factor.value;
        sum += product;
    }
    CHECK(std::abs(sum - static_cast<double>(run->value(row->id).at(cell))) < 1e-5);
}

TEST_CASE("a step rewritten by its own formula has its numbers, in every bundled model") {
    for (const load::BundledModel& bundled : looked_at(load::bundled_models(), 3)) {
        CAPTURE(bundled.name);
        const auto model = load::load_model(bundled.name);
        const auto plan_with = [&](const std::vector<Edit>& edits) {
            return decoder::plan_decoder({model->config(), &model->weights, model->example, edits, std::nullopt});
        };
        const auto before = execute(plan_with({}));
        std::size_t written = 0;
        for (const Step& step : before->plan().steps()) {
            const auto by = ops::formula_of(step.operation);
            if (!by || step.role == Role::on_demand) continue;
            CAPTURE(step.name, formulas::text_of(by->written()));
            CHECK(error_of([&] {
                      const auto plan = plan_with({RewriteStep{step.name, formulas::text_of(by->written())}});
                      const auto is_it = [&](const Step& other) { return other.name == step.name; };
                      const NeededSteps needed = needed_steps(*plan, is_it);
                      const auto run = execute(plan, {.previous = before.get(), .needed = &needed});
                      CHECK(largest_difference(run->value(step.name), before->value(step.id)) < 1e-4);
                  }) == "(no error)");
            ++written;
        }
        CHECK(written > 10);
    }
}

TEST_CASE("places that a tensor says go together as PyTorch's index tensors, and a comparison chooses") {
    SmallModel model = small_model({{"vocab_size", "7"}, {"lm_head", "true"}});
    model.edits = {AddRow{"of_target", "", "logits[0, arange(3), tokens[0]]"}, AddRow{"best", "", "logits.argmax(-1)"},
                   AddRow{"of_best", "", "logits[:, arange(3), best[0]]"},
                   AddRow{"mean_loss", "", "loss_per_token[targets >= 0].mean() - loss"},
                   AddRow{"rounded", "", "torch.round(logits * 10)"}};
    const auto run = model.run();
    const Tensor &logits = run->value("logits"), &tokens = model.inputs.tokens;
    REQUIRE(run->value("of_target").rank() == 1);
    REQUIRE(run->value("of_best").rank() == 2);
    for (Index pos = 0; pos < 3; ++pos) {
        const auto token = static_cast<Index>(tokens.at(Cell{0, pos}));
        CHECK(run->value("of_target").at(Cell{pos}) == logits.at(Cell{0, pos, token}));
        const auto best = static_cast<Index>(run->value("best").at(Cell{0, pos}));
        CHECK(run->value("of_best").at(Cell{1, pos}) == logits.at(Cell{1, pos, best}));
    }
    CHECK(std::abs(run->value("mean_loss").values()[0]) < 1e-6F);
    for (std::size_t i = 0; i < logits.values().size(); ++i)
        CHECK(std::abs(run->value("rounded").values()[i] - std::nearbyint(logits.values()[i] * 10.0F)) == 0.0F);
    const auto refused = [&](const std::string& formula) {
        model.edits = {AddRow{"odd", "", formula}};
        return error_of([&] { static_cast<void>(model.run()); });
    };
    check_message(refused("logits[logits > 0] @ logits"), {"as many numbers as the comparison chooses"});
    check_message(refused("odd[b, t] = logits[b, -99, t]"), {"has no place −99", "pos − 1"});
    check_message(refused("odd[b, p] = logits[b, p, [p > 1]]"), {"a comparison is no place"});
    check_message(refused("logits[:, 3]"), {"has no place 3"});
    check_message(refused("logits.mean(1, 2)"), {"“keepdim” is True or False"});
}

TEST_CASE("a weight's name is the one that the row's part reads, and refused where it is two's") {
    const Overrides config = {{"num_layers", "2"}, {"cross_attention", "true"}};
    const auto of = [&](const std::string& part, const std::string& formula) {
        return run_with({AddRow{"one", part, formula}}, config)->value(part + ".one");
    };
    const auto run = run_with({}, config);
    for (const std::string attention : {"self_attn", "cross_attn"}) {
        const std::string part = attention == "self_attn" ? "blocks.1.attn" : "blocks.1.cross_attn";
        for (const std::string weight : {"q_proj.weight", "o_proj.weight"}) {
            const Tensor& own = run->value("layers.1." + attention + "." + weight);
            CHECK(same_bits(of(part, weight + " * 1"), own));
            CHECK(same_bits(of("blocks.1", attention + "." + weight + " * 1"), own));
        }
    }
    check_message(error_of([&] { static_cast<void>(of("blocks.0", "q_proj.weight * 1")); }),
                  {"q_proj.weight", "layers.0.self_attn.q_proj.weight", "layers.0.cross_attn.q_proj.weight"});
    CHECK(same_bits(of("blocks.1", "down_proj.weight * 1"), run->value("layers.1.down_proj.weight")));
}

TEST_CASE("an axis of no places is joined and read as any other") {
    const auto run = run_with({AddRow{"z", "", "zeros(2, 0, 3, 3)"},
                               AddRow{"joined", "", "torch.cat([blocks.0.attn.pattern, z], 1)"},
                               AddRow{"sum", "", "z.sum() + blocks.0.attn.pattern.sum()"}});
    CHECK(run->value("z").values().empty());
    check_close(run->value("joined"), run->value("blocks.0.attn.pattern"));
    check_message(error_with({AddRow{"z", "", "zeros(2, 0, 3, 3)"}, AddRow{"most", "", "z.amax(1)"}}),
                  {"no largest or smallest number"});
}

TEST_CASE("a gradient at NaN is its own operation's, whichever of two with one formula came first") {
    const std::string text = "post[…, m] = relu(pre[…, m])";
    const ops::ByFormula of_book{text, {"pre"}, {}, {}, "relu"}, written{text, {"pre"}};
    for (const bool book_first : {true, false}) {
        const Axes axes = {{axis::d_ff, book_first ? 2 : 3}};  // another size, compiled anew
        Tensor pre(axes), grad(axes);
        std::ranges::fill(pre.writable(), std::numeric_limits<float>::quiet_NaN());
        std::ranges::fill(grad.writable(), 2.0F);
        Operands in;
        in.add(pre);
        const Backward backward{in, pre, grad};
        const auto of = [&](const ops::ByFormula& by) { return by.pull_back(0, backward).values()[0]; };
        float book = 0.0F, own = 0.0F;
        if (book_first) book = of(of_book);
        own = of(written);
        if (!book_first) book = of(of_book);
        CHECK(book == 2.0F);  // torch.nn.ReLU's gradient
        CHECK(own == 0.0F);   // the derivative of max(0, pre): [0 < NaN]
    }
}

TEST_CASE("a row of singular values is as long as its matrix, and explained by its numbers") {
    const auto run = run_with({AddRow{"values", "blocks.0.attn", "torch.linalg.svdvals(pattern)"}});
    const Tensor &values = run->value("blocks.0.attn.values"), &pattern = run->value("blocks.0.attn.pattern");
    for (Index batch = 0; batch < pattern.dim(0); ++batch)
        for (Index head = 0; head < pattern.dim(1); ++head) {
            double of_values = 0.0, of_cells = 0.0;  // both are the matrix's squared length
            for (Index i = 0; i < values.dim(2); ++i)
                of_values += std::pow(static_cast<double>(values.at(Cell{batch, head, i})), 2);
            for (Index query = 0; query < pattern.dim(2); ++query)
                for (Index key = 0; key < pattern.dim(3); ++key)
                    of_cells += std::pow(static_cast<double>(pattern.at(Cell{batch, head, query, key})), 2);
            CHECK(of_values == Approx(of_cells));
            const Explanation said = run->explain(run->plan().find("blocks.0.attn.values")->id, Cell{batch, head, 0});
            CHECK(said.lines.back().value == Approx(static_cast<double>(values.at(Cell{batch, head, 0}))));
        }
}
